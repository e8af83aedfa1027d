"""Calibration: maps from scores to log-likelihood-ratios."""

from bosaris_py.calibration.bounds import BoundedCalibration, LLRBounds, llr_bounds
from bosaris_py.calibration.by_condition import ConditionCalibration
from bosaris_py.calibration.cross_fitting import CrossFit, choose_ridge, cross_fit
from bosaris_py.calibration.gaussian import BiGaussianCalibration, GaussianCalibration
from bosaris_py.calibration.linear import LinearCalibration
from bosaris_py.calibration.pav import PAVCalibration

__all__ = [
    "BiGaussianCalibration",
    "BoundedCalibration",
    "ConditionCalibration",
    "CrossFit",
    "GaussianCalibration",
    "LLRBounds",
    "LinearCalibration",
    "PAVCalibration",
    "choose_ridge",
    "cross_fit",
    "llr_bounds",
]


def __dir__() -> list[str]:
    """List the public names, for completion."""
    return sorted(__all__)
