"""Calibration: maps from scores to log-likelihood-ratios."""

from bosaris_py._lazy import on_demand

# The stub __init__.pyi lists the same for type checkers.
_NAMES = {
    "bounds": "BoundedCalibration LLRBounds llr_bounds",
    "by_condition": "ConditionCalibration",
    "cross_fitting": "CrossFit choose_ridge cross_fit",
    "gaussian": "BiGaussianCalibration GaussianCalibration",
    "linear": "LinearCalibration",
    "pav": "PAVCalibration",
}

_HOMES = {f"{__name__}.{module}": names.split() for module, names in _NAMES.items()}

__all__ = sorted({name for names in _HOMES.values() for name in names})

__getattr__, __dir__ = on_demand(__name__, _HOMES)
