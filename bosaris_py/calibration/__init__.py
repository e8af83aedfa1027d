"""Calibration: maps from scores to log-likelihood-ratios."""

from bosaris_py.calibration.bounds import BoundedCalibration, LLRBounds, llr_bounds
from bosaris_py.calibration.cross_fitting import CrossFit, cross_fit
from bosaris_py.calibration.linear import GaussianCalibration, LinearCalibration
from bosaris_py.calibration.pav import PAVCalibration

__all__ = [
    "BoundedCalibration",
    "CrossFit",
    "GaussianCalibration",
    "LLRBounds",
    "LinearCalibration",
    "PAVCalibration",
    "cross_fit",
    "llr_bounds",
]


__dir__ = __all__.copy
