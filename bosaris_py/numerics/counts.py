"""Exact counts of the scores of one class at and between given scores."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import (
    Float64Array,
    FloatArray,
    IntArray,
    Weights,
    mark_read_only,
    read_only,
)
from bosaris_py._validation import (
    as_vector,
    as_weights,
    check_not_empty,
    check_weight_range,
    describe,
    invalid,
    refuse_nan,
)
from bosaris_py.numerics.sorted_scores import SortedScores, are_whole
from bosaris_py.numerics.threshold_grid import GridCounts, ThresholdGrid, add_counts, positions


def as_trials(
    scores: npt.ArrayLike, weights: npt.ArrayLike | None, name: str
) -> tuple[FloatArray, Float64Array | None]:
    """Return the scores of a class, and their weights if they have any, as checked arrays."""
    array = as_vector(scores, name)
    check_not_empty(array, name)
    # The minimum is NaN if any score is, and costs less than a search for NaN.
    if np.isnan(array.min()):
        refuse_nan(array, name)
    checked = as_weights(weights, array.size, f"{name}_weights")
    check_weight_range(checked, f"{name}_weights")
    return array, checked


def as_thresholds(thresholds: npt.ArrayLike) -> Float64Array:
    """Return thresholds as an array; raise unless they ascend."""
    limits: Float64Array = np.asarray(thresholds, dtype=np.float64)
    if limits.ndim != 1 or not (limits[1:] > limits[:-1]).all() or np.isnan(limits[:1]).any():
        expected = "be one-dimensional and strictly ascending"
        raise invalid("thresholds", expected, describe(limits))
    return limits


def count_between(
    thresholds: npt.ArrayLike, scores: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> tuple[Weights, Weights]:
    """Count the scores equal to each threshold, and in the gaps around them.

    Parameters
    ----------
    thresholds : (k,) array_like of float
        Strictly ascending; +-inf allowed.
    scores : (n,) array_like of float
        Scores in any order, n may be 0; no NaN, +-inf allowed. float32 is
        compared in float64.
    weights : (n,) array_like of float, optional
        Weight of each score, finite and not negative; one each by default.

    Returns
    -------
    at : (k,) ndarray of int64 or float64
        Number or weight of the scores equal to each threshold.
    between : (k + 1,) ndarray of int64 or float64
        The same strictly between thresholds: below the first, in each gap, above
        the last. Both are int64 if weights are whole.

    Raises
    ------
    InvalidInputError
        If the thresholds do not ascend, a score is NaN, or a weight is bad.

    Notes
    -----
    O(n + k) time unless scores or thresholds are spread very unevenly, then that of
    a sort; O(k) memory. Fractional weights are summed gap by gap, so that the
    rounding of large sums does not reach small ones.

    Examples
    --------
    >>> at, between = count_between([1.0, 2.0], [0.0, 1.5, 2.0, 2.0, 1.25])
    >>> at.tolist(), between.tolist()
    ([0, 2], [1, 2, 0])
    """
    limits = as_thresholds(thresholds)
    array = as_vector(scores, "scores")
    if array.size and np.isnan(array.min()):
        refuse_nan(array, "scores")
    return count_checked(limits, array, as_weights(weights, array.size, "weights"))


def count_checked(
    thresholds: Float64Array, scores: FloatArray, weights: Float64Array | None
) -> tuple[Weights, Weights]:
    """Do what `count_between` does, with arrays that have been checked, also for NaN."""
    whole = weights is None or are_whole(weights)
    if scores.size < thresholds.size // 4:
        return _count_sparsely(thresholds, scores, weights, whole=whole)
    kind = np.int64 if weights is None else np.float64
    counts: Weights = np.zeros(2 * thresholds.size + 1, dtype=kind)
    add_counts(thresholds, scores, weights, counts)
    if whole:
        counts = counts.astype(np.int64, copy=False)
    elif weights is not None:
        # The largest gap has nearly all of the rounding, trial by trial, of the sums.
        counts[np.argmax(counts)] += np.float64(weights.sum() - counts.sum(dtype=np.longdouble))
    counts = mark_read_only(counts)
    return counts[1::2], counts[::2]


def count_sorted(thresholds: Float64Array, scores: SortedScores) -> tuple[Weights, Weights]:
    """Do what `count_between` does, with scores that are sorted already."""
    if scores.size < thresholds.size // 4:
        return _count_sparsely(thresholds, scores.values, scores.weights, whole=scores.is_whole)
    below, up_to = scores.edges(thresholds)
    edges = np.zeros(2 * thresholds.size + 1, dtype=np.int64)
    edges[1::2] = below
    edges[2::2] = up_to
    counts = mark_read_only(scores.weight_from(edges))
    return counts[1::2], counts[::2]


def _count_sparsely(
    thresholds: Float64Array, scores: FloatArray, weights: Float64Array | None, *, whole: bool
) -> tuple[Weights, Weights]:
    """Count few scores at many thresholds; where no score is tied, in one array."""
    order = np.argsort(scores, kind="stable")
    position, tied = positions(thresholds, scores[order])
    masses = np.ones(scores.size, dtype=np.int64) if weights is None else weights[order]
    if whole:
        masses = masses.astype(np.int64, copy=False)
    between = np.zeros(thresholds.size + 1, dtype=masses.dtype)
    np.add.at(between, position[~tied], masses[~tied])
    if not tied.any():
        nothing = mark_read_only(np.zeros(1, dtype=masses.dtype))
        return np.broadcast_to(nothing, thresholds.shape), mark_read_only(between)
    at = np.zeros(thresholds.size, dtype=masses.dtype)
    np.add.at(at, position[tied], masses[tied])
    return mark_read_only(at), mark_read_only(between)


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
        self._thresholds = as_thresholds(thresholds)
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

    def result(self) -> tuple[IntArray, IntArray]:
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
        counts = mark_read_only(self._counts.copy())
        return counts[1::2], counts[::2]


def distinct_scores(tar: SortedScores) -> tuple[Float64Array, Weights]:
    """Return the distinct scores in float64 and the weight at each."""
    values, below = tar.distinct()
    scores: Float64Array = values.astype(np.float64, copy=False)
    if below is not None:
        return mark_read_only(scores), mark_read_only(tar.weight_from(below))
    if tar.weights is not None:
        whole = tar.is_whole
        return read_only(scores), mark_read_only(
            tar.weights.astype(np.int64)
        ) if whole else tar.weights
    one = mark_read_only(np.ones(1, dtype=np.int64))
    return read_only(scores), np.broadcast_to(one, scores.shape)


def count_part(
    target_scores: Float64Array, scores: npt.ArrayLike, weights: npt.ArrayLike | None, name: str
) -> tuple[Weights, Weights]:
    """Count a part of the trials at and between target scores; it may be empty."""
    if _has_trials(scores, weights):
        return count_checked(target_scores, *as_trials(scores, weights, name))
    nothing = mark_read_only(np.zeros(1, dtype=np.int64))
    between = np.broadcast_to(nothing, target_scores.size + 1)
    return np.broadcast_to(nothing, target_scores.shape), between


def _has_trials(scores: npt.ArrayLike, weights: npt.ArrayLike | None) -> bool:
    """Whether a part has trials; those without weight do not count."""
    return np.size(scores) > 0 and (weights is None or bool(np.any(weights)))


def as_factor(value: float, name: str) -> int | float:
    """Return a factor of weights, an int where it is whole; raise unless it is one."""
    try:
        factor = float(value)
    except (TypeError, ValueError):
        factor = math.nan
    if not (math.isfinite(factor) and factor >= 0.0):
        raise invalid(name, "be finite and not negative", describe(value))
    return int(factor) if factor.is_integer() else factor


def scaled(weights: Weights, factor: int | float) -> Weights:
    """Return weights times a factor, still whole if both are."""
    if factor == 1:
        return weights
    # Sums of whole weights stay exact up to 2**53, in float64 as well as in int64.
    if isinstance(factor, int) and weights.dtype == np.int64 and weights.sum() * factor > 2**53:
        factor = float(factor)
    return mark_read_only(weights * factor)
