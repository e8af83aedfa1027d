"""Calibration: maps from scores to log-likelihood-ratios."""

from bosaris_py.calibration.cross_fitting import CrossFit, cross_fit
from bosaris_py.calibration.linear import LinearCalibration
from bosaris_py.calibration.pav import PAVCalibration

__all__ = ["CrossFit", "LinearCalibration", "PAVCalibration", "cross_fit"]
