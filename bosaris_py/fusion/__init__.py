"""Fusion: one log-likelihood-ratio from the scores of several systems."""

from bosaris_py.fusion.linear import LinearFusion
from bosaris_py.fusion.quality import QualityFusion

__all__ = ["LinearFusion", "QualityFusion"]
