"""Fusion: one log-likelihood-ratio from the scores of several systems."""

from bosaris_py.fusion.linear import LinearFusion
from bosaris_py.fusion.models import read_model
from bosaris_py.fusion.pair_quality import quality_systems
from bosaris_py.fusion.quality import QualityFusion

__all__ = ["LinearFusion", "QualityFusion", "quality_systems", "read_model"]
