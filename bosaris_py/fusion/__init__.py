"""Fusion: one log-likelihood-ratio from the scores of several systems."""

from bosaris_py.fusion.linear import LinearFusion

__all__ = ["LinearFusion"]
