"""Trials: which are to be scored, their labels, scores and quality measures.

Rows are models, columns are test segments; wherever trials become a vector the model index runs
fastest. All objects are immutable.
"""

from bosaris_py._lazy import public_names

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

# The command takes its readers from the module `inputs`, which completion does not offer.
_HOMES, __all__, __getattr__, _ = public_names(__name__, _NAMES, ["inputs"])


def __dir__() -> list[str]:
    """List the public names, for completion."""
    return __all__
