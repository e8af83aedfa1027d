"""Trials: which are to be scored, their labels, scores and quality measures.

Rows are models, columns are test segments; wherever trials become a vector the model index runs
fastest. All objects are immutable.
"""

from bosaris_py._lazy import on_demand

# The stub __init__.pyi lists the same for type checkers.
_NAMES = {
    "conditions": "ConditionMembers Conditions",
    "inputs": "are_large read_any read_key read_scores read_trials",
    "id_map": "IdMap",
    "key": "FlatKey FlatNdx Key Ndx",
    "metadata": "TrialComparison TrialMetadata compare_trials to_table",
    "quality": "QualityMeasures SegmentQuality",
    "scores": "FlatScores Scores scores_of_segments",
}

_HOMES = {f"{__name__}.{module}": names.split() for module, names in _NAMES.items()}

__all__ = sorted({name for names in _HOMES.values() for name in names})

# The command takes its readers from the module `inputs`, which completion does not offer.
__getattr__, _ = on_demand(__name__, _HOMES, ["inputs"])


def __dir__() -> list[str]:
    """List the public names, for completion."""
    return __all__
