"""Weighted sums of scores, which all linear maps are."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["weighted_sum"]


def weighted_sum(
    scores: Sequence[npt.NDArray[Any]], weights: Sequence[float] | npt.ArrayLike, offset: float
) -> npt.NDArray[np.float64]:
    """Return an offset plus the scores of several systems times their weights.

    Parameters
    ----------
    scores : sequence of arrays of float32 or float64, all of one shape
        Scores of each system.
    weights : sequence of float
        One for each. Zero times an infinite score is no evidence, not NaN.
    offset : float
        What is added.

    Returns
    -------
    array of float64, of the shape of each system's scores
        NaN where a score is, or where infinite ones contradict each other. Added up in
        the order of the systems, so that the last bit is always the same.
    """
    llrs = term = None
    with np.errstate(invalid="ignore"):
        for weight, values in zip(np.asarray(weights, dtype=np.float64), scores, strict=True):
            if weight == 0.0:
                continue
            if llrs is None:
                llrs = np.multiply(values, weight, dtype=np.float64)
                llrs += offset
            else:
                term = np.multiply(values, weight, out=term, dtype=np.float64)
                llrs += term
    return np.full(scores[0].shape, offset) if llrs is None else llrs
