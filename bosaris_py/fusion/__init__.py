"""Fusion: one log-likelihood-ratio from the scores of several systems; any model in a file."""

from bosaris_py.fusion.linear_fusion import LinearFusion
from bosaris_py.fusion.models import read_model
from bosaris_py.fusion.quality_fusion import QualityFusion, quality_systems
from bosaris_py.fusion.sasv import SASVFusion

__all__ = ["LinearFusion", "QualityFusion", "SASVFusion", "quality_systems", "read_model"]


def __dir__() -> list[str]:
    """List the public names, for completion."""
    return sorted(__all__)
