"""Sorted scores of one class, and counts of scores at and between thresholds.

Counting is a sort and a search. What a tie means for decisions stands in `roc`.

Counts at and between k thresholds are two arrays: k entries for what is tied with a threshold,
k + 1 for the gaps around them.
"""

from __future__ import annotations

import functools
from typing import Literal

import attrs
import numpy as np
from numpy.typing import ArrayLike

from bosaris_py import _validation as check
from bosaris_py._arrays import (
    Float64Array,
    FloatArray,
    IntArray,
    Weighting,
    Weights,
    by_constructor,
    mark_read_only,
    read_only,
    round_to_float32,
)

# Any sum of whole weights up to here is exact, in float64 as in int64.
_EXACT_SUM = 2.0**53

# The number of targets at each of some distinct scores; a stride of 0 makes it as many.
_ONE = mark_read_only(np.ones(1, dtype=np.int64))


def as_class(
    scores: ArrayLike, weights: Weighting, name: str
) -> tuple[FloatArray, Float64Array | None]:
    """Return the scores of a class, and their weights if any, checked but for NaN."""
    array = check.as_vector(scores, name)
    check.check_not_empty(array, name)
    if weights is None:
        return array, None
    checked = check.as_weights(weights, array.size, f"{name}_weights")
    check.check_weight_range(checked, f"{name}_weights")
    return array, checked


def as_trials(
    scores: ArrayLike, weights: Weighting, name: str
) -> tuple[FloatArray, Float64Array | None]:
    """Return the scores of a class, and their weights if any, as checked arrays."""
    array, checked = as_class(scores, weights, name)
    _refuse_nan_quickly(array, name)
    return array, checked


def _refuse_nan_quickly(scores: FloatArray, name: str) -> None:
    # The minimum is NaN if any score is, and costs less than a search for NaN.
    if scores.size and np.isnan(np.minimum.reduce(scores)):
        check.refuse_nan(scores, name)


def are_whole(weights: Float64Array) -> bool:
    """Tell if weights are whole numbers of which any sum is exact."""
    return bool((weights == np.rint(weights)).all()) and float(weights.sum()) < _EXACT_SUM


def running_sum(weights: Weights) -> Weights:
    """Return the sums of the first 1, 2, ... weights, without piling up rounding errors."""
    if weights.dtype == np.int64:
        return weights.cumsum()
    return weights.cumsum(dtype=np.longdouble).astype(np.float64)


@attrs.frozen(eq=False, repr=False)
class SortedScores:
    """The scores of one class in ascending order, with their weights or None."""

    values: FloatArray = attrs.field(converter=read_only)
    weights: Float64Array | None = attrs.field(
        default=None, converter=attrs.converters.optional(read_only)
    )

    __reduce__ = by_constructor

    @classmethod
    def from_scores(
        cls, scores: ArrayLike, weights: Weighting = None, *, name: str
    ) -> "SortedScores":
        """Check and sort the scores of a class; a trial of weight 0 is no trial."""
        array, checked = as_trials(scores, weights, name)
        if checked is None:
            return cls(mark_read_only(np.sort(array)))
        if np.minimum.reduce(checked) == 0:
            counted = checked > 0
            array, checked = array[counted], checked[counted]
        order = np.argsort(array, kind="stable")
        return cls(mark_read_only(array.take(order)), mark_read_only(checked.take(order)))

    def __repr__(self) -> str:
        """Say how many scores there are and where they lie."""
        span = f"{self.values[0]:g} ... {self.values[-1]:g}"
        weight = "" if self.weights is None else f", total weight {self.total:g}"
        return f"SortedScores: {self.values.size} scores, {span}{weight}"

    @property
    def size(self) -> int:
        """Number of trials, those of weight 0 left out."""
        return int(self.values.size)

    @property
    def total(self) -> int | float:
        """Total weight: the number of trials unless they are weighted."""
        total: int | float = self.size if self.weights is None else self._running[-1].item()
        return total

    @functools.cached_property
    def is_whole(self) -> bool:
        """Whether weights are whole numbers, so that sums of them are exact."""
        return self.weights is None or are_whole(self.weights)

    @functools.cached_property
    def _running(self) -> Weights:
        """Weight of the first i scores; int64 if whole. Only where there are weights."""
        assert self.weights is not None
        running = np.append(0.0, running_sum(self.weights))
        return mark_read_only(running.astype(np.int64) if self.is_whole else running)

    @functools.cached_property
    def _remaining(self) -> Weights:
        """Weight of all but the first i scores: summed from the top, so small ones are exact."""
        assert self.weights is not None
        remaining = np.append(running_sum(self.weights[::-1])[::-1], 0.0)
        return mark_read_only(remaining.astype(np.int64) if self.is_whole else remaining)

    def weight_below(self, thresholds: ArrayLike) -> Weights:
        """Return the weight of the scores below each threshold, those rejected."""
        below = self.count_below(thresholds)
        return below if self.weights is None else self._running[below]

    def weight_at_or_above(self, thresholds: ArrayLike) -> Weights:
        """Return the weight of the scores at or above each threshold, those accepted."""
        below = self.count_below(thresholds)
        return self.size - below if self.weights is None else self._remaining[below]

    def count_below(self, thresholds: ArrayLike) -> IntArray:
        """Return the number of scores below each threshold, comparing in float64."""
        return self._count(thresholds, side="left")

    def count_up_to(self, thresholds: ArrayLike) -> IntArray:
        """Return the number of scores below or equal to each threshold."""
        return self._count(thresholds, side="right")

    def _count(self, thresholds: ArrayLike, *, side: Literal["left", "right"]) -> IntArray:
        limits: FloatArray = np.asarray(thresholds, dtype=np.float64)
        if self.values.dtype == np.float32:
            # A search of float32 scores for float64 values would first copy all scores.
            # Rounding each threshold to float32 asks the same question: no float32
            # number lies between the two.
            limits = round_to_float32(limits, towards=np.inf if side == "left" else -np.inf)
        return np.asarray(self.values.searchsorted(limits, side=side))

    def edges(self, thresholds: ArrayLike) -> tuple[IntArray, IntArray]:
        """Return the numbers of scores below, and up to, each of some distinct thresholds."""
        limits: FloatArray = np.asarray(thresholds, dtype=np.float64)
        below = self.count_below(limits)
        up_to = below.copy()
        inside = np.flatnonzero(below < self.size)
        # Few thresholds are scores; only those are searched for twice.
        tied = inside[self.values[below[inside]] == limits[inside]]
        up_to[tied] = self.count_up_to(limits[tied])
        return below, up_to

    def distinct(self) -> tuple[FloatArray, IntArray | None]:
        """Return the distinct scores and how many lie below each; None if all are distinct."""
        new = self.values[1:] != self.values[:-1]
        if new.all():
            return self.values, None
        starts = np.zeros(np.count_nonzero(new) + 1, dtype=np.int64)
        starts[1:] = np.flatnonzero(new)
        starts[1:] += 1
        return self.values[starts], starts

    def weight_from(self, edges: IntArray) -> Weights:
        """Return the weight of the scores from each of some ascending ranks to the next.

        The last sum goes up to the highest score. Each is a sum of its own, not a difference of
        large ones.
        """
        counts = np.empty(edges.size, dtype=np.int64)
        np.subtract(edges[1:], edges[:-1], out=counts[:-1])
        counts[-1:] = self.size - edges[-1:]
        if self.weights is None:
            return counts
        held = counts > 0
        sums = np.zeros(edges.size)
        sums[held] = np.add.reduceat(self.weights, edges[held])
        return sums.astype(np.int64) if self.is_whole else sums


def sort_classes(
    tar: ArrayLike, non: ArrayLike, tar_weights: Weighting, non_weights: Weighting
) -> tuple[SortedScores, SortedScores]:
    """Sort targets and non-targets, each on its own."""
    tar, non = check.as_score_lists(tar, non, tar_weights, non_weights)
    return (
        SortedScores.from_scores(tar, tar_weights, name="tar"),
        SortedScores.from_scores(non, non_weights, name="non"),
    )


def distinct_scores(tar: SortedScores) -> tuple[Float64Array, Weights]:
    """Return the distinct scores in float64 and the weight at each."""
    values, below = tar.distinct()
    scores = mark_read_only(values.astype(np.float64, copy=False))
    if below is not None:
        return scores, mark_read_only(tar.weight_from(below))
    if tar.weights is not None:
        return scores, mark_read_only(tar.weights.astype(np.int64)) if tar.is_whole else tar.weights
    # One number serves all scores.
    return scores, np.ndarray(scores.shape, np.int64, _ONE, strides=(0,))


def count_between(
    thresholds: Float64Array, scores: FloatArray, weights: Float64Array | None = None
) -> tuple[Weights, Weights]:
    """Return the number or weight of scores at each of k ascending thresholds and in the gaps.

    Scores are without NaN and in any order. Fractional weights are summed gap by gap, so that the
    rounding of large sums does not reach small ones. Whole weights give int64.
    """
    if weights is None:
        ordered = SortedScores(mark_read_only(np.sort(scores)))
    else:
        order = np.argsort(scores, kind="stable")
        ordered = SortedScores(*map(mark_read_only, (scores.take(order), weights.take(order))))
    return count_sorted(thresholds, ordered)


def count_sorted(thresholds: Float64Array, scores: SortedScores) -> tuple[Weights, Weights]:
    """Do what `count_between` does, with scores that are sorted already."""
    below, up_to = scores.edges(thresholds)
    if scores.weights is None:
        between = np.append(below, scores.size)
        between[1:] -= up_to
        return mark_read_only(up_to - below), mark_read_only(between)
    edges = np.zeros(2 * thresholds.size + 1, dtype=np.int64)
    edges[1::2], edges[2::2] = below, up_to
    counts = mark_read_only(scores.weight_from(edges))
    return counts[1::2], counts[::2]


def n_below(scores: FloatArray, limit: float) -> int:
    """Count the scores, which are no NaN, below a single limit."""
    if scores.dtype == np.float32:
        limit = float(round_to_float32(np.array(limit), towards=np.inf))
    return int(np.count_nonzero(scores < limit))


class RunningCounts:
    """Counts the scores at and between ascending thresholds, block by block."""

    def __init__(self, thresholds: Float64Array) -> None:
        self._thresholds = thresholds
        self._at = np.zeros(thresholds.size, dtype=np.int64)
        self._between = np.zeros(thresholds.size + 1, dtype=np.int64)

    def add(self, scores: FloatArray) -> None:
        """Count some more scores, without NaN; float32 is compared in float64."""
        at, between = count_between(self._thresholds, scores)
        self._at += at
        self._between += between

    def result(self) -> tuple[IntArray, IntArray]:
        """Return the counts of all scores so far at, and between, the thresholds."""
        return mark_read_only(self._at.copy()), mark_read_only(self._between.copy())
