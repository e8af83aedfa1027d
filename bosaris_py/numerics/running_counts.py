"""Exact counts at and between thresholds of scores that arrive block by block."""

from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FloatArray, frozen
from bosaris_py.numerics.counting import as_thresholds
from bosaris_py.numerics.sorted_scores import Weights
from bosaris_py.numerics.threshold_grid import GridCounts, ThresholdGrid, add_counts

__all__ = ["RunningCounts"]

Counts = npt.NDArray[np.int64]

# More scores are taken to follow: a grid is laid for so many.
_MANY_SCORES = 2**27


class RunningCounts:
    """Counts the scores at and between thresholds, one block of scores after the other.

    Parameters
    ----------
    thresholds : (k,) array_like of float
        Strictly ascending; +-inf allowed.

    Raises
    ------
    InvalidInputError
        If the thresholds do not ascend or hold NaN.

    Notes
    -----
    The result does not depend on how the scores are cut into blocks. Memory O(k) and
    some megabytes. The grid of `count_between` is made for the first block that is
    large enough, and kept until a block comes for which it does not pay.

    Examples
    --------
    >>> counts = RunningCounts([1.0, 2.0])
    >>> counts.add(np.array([0.0, 1.5, 2.0]))
    >>> counts.add(np.array([2.0, 1.25], dtype=np.float32))
    >>> at, between = counts.result()
    >>> at.tolist(), between.tolist()
    ([0, 2], [1, 2, 0])
    """

    def __init__(self, thresholds: npt.ArrayLike) -> None:
        self._thresholds = as_thresholds(thresholds, "RunningCounts")
        self._counts: Weights = np.zeros(2 * self._thresholds.size + 1, dtype=np.int64)
        self._tallies: dict[np.dtype[Any], tuple[ThresholdGrid, GridCounts]] = {}

    def add(self, scores: FloatArray) -> None:
        """Count some more scores.

        Parameters
        ----------
        scores : (n,) ndarray of float32 or float64
            Scores in any order, without NaN; +-inf allowed. float32 is compared in
            float64.
        """
        if scores.size == 0:
            return
        held = self._tallies.get(scores.dtype)
        if held is not None and not held[0].suits(scores):
            self._tallies.pop(scores.dtype)[1].settle()
            held = None
        if held is None:
            grid = ThresholdGrid.over(self._thresholds, scores, _MANY_SCORES)
            if grid is None:
                add_counts(self._thresholds, scores, None, self._counts)
                return
            held = self._tallies[scores.dtype] = grid, GridCounts(grid, self._counts)
        held[1].add(scores)

    def result(self) -> tuple[Counts, Counts]:
        """Return the counts of all scores so far.

        Returns
        -------
        at : (k,) ndarray of int64
            Number of scores equal to each threshold.
        between : (k + 1,) ndarray of int64
            Numbers strictly below the first, in each gap, above the last.
        """
        for _, tally in self._tallies.values():
            tally.settle()
        counts = frozen(self._counts.copy())
        return counts[1::2], counts[::2]
