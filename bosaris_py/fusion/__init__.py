"""Fusion: one log-likelihood-ratio from the scores of several systems; any model in a file."""

from bosaris_py._lazy import public_names

# The stub __init__.pyi lists the same for type checkers.
_NAMES = {
    "linear_fusion": "LinearFusion",
    "models": "read_model",
    "quality_fusion": "QualityFusion quality_systems",
    "sasv": "SASVFusion",
}

_HOMES, __all__, __getattr__, __dir__ = public_names(__name__, _NAMES)
