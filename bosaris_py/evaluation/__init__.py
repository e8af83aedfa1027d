"""Judging detectors: `Results`, the summary of one system on one set of trials."""

from bosaris_py.evaluation.results import Results

__all__ = ["Results"]
