"""Calibration: maps from scores to log-likelihood-ratios."""

from bosaris_py.calibration.linear import LinearCalibration
from bosaris_py.calibration.pav import PAVCalibration

__all__ = ["LinearCalibration", "PAVCalibration"]
