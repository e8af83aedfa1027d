"""Fusion: one log-likelihood-ratio from the scores of several systems; any model in a file."""

from bosaris_py._lazy import on_demand

# The stub __init__.pyi lists the same for type checkers.
_NAMES = {
    "linear_fusion": "LinearFusion",
    "models": "read_model",
    "quality_fusion": "QualityFusion quality_systems",
    "sasv": "SASVFusion",
}

_HOMES = {f"{__name__}.{module}": names.split() for module, names in _NAMES.items()}

__all__ = sorted({name for names in _HOMES.values() for name in names})

__getattr__, __dir__ = on_demand(__name__, _HOMES)
