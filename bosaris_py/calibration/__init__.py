"""Calibration: maps from scores to log-likelihood-ratios."""

from bosaris_py._lazy import public_names

# The stub __init__.pyi lists the same for type checkers.
_NAMES = {
    "bounds": "BoundedCalibration LLRBounds llr_bounds",
    "cross_fitting": "CrossFit cross_fit",
    "gaussian": "GaussianCalibration",
    "linear": "LinearCalibration",
    "pav": "PAVCalibration",
}

_HOMES, __all__, __getattr__, __dir__ = public_names(__name__, _NAMES)
