"""Sorted scores of one class, and exact counts of scores at and between thresholds.

`SortedScores` counts the scores below a threshold. The functions count unsorted scores between
thresholds: by a grid of cells, or by sorting blocks where scores are few, or lie where a grid does
not pay. What a tie means for decisions stands in `roc`.

Counts at and between k thresholds are one array of 2 k + 1 entries. Entry 2 i + 1 is what is tied
with threshold i; the even entries are the gaps.
"""

from __future__ import annotations

import functools
import math
from typing import Literal

import attrs
import numpy as np
from numpy.typing import ArrayLike

from bosaris_py import _validation as check
from bosaris_py._arrays import (
    BoolArray,
    Float64Array,
    FloatArray,
    IndexArray,
    IntArray,
    Weighting,
    Weights,
    by_constructor,
    mark_read_only,
    read_only,
    round_to_float32,
)
from bosaris_py.numerics.threads import in_threads, n_threads_for
from bosaris_py.numerics.threshold_grid import BLOCK, GridCounts, ThresholdGrid

# Any sum of whole weights up to here is exact, in float64 as in int64.
_EXACT_SUM = 2.0**53

# With fewer scores for each threshold, counts of each thread take more time than they save (the row
# of 5 / 5 million in ``benchmarks/bench_numerics.py``), and memory.
_SCORES_PER_THREAD = 8

# The number of targets at each of some distinct scores; a stride of 0 makes it as many.
_ONE = mark_read_only(np.ones(1, dtype=np.int64))

# As few scores are sorted: a grid costs its tables (``benchmarks/overhead.py`` of b4de7a22).
FEW_SCORES = 2**13


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
    for start in range(0, weights.size, BLOCK):
        block = weights[start : start + BLOCK]
        if not (block == np.rint(block)).all():
            return False
    return float(weights.sum()) < _EXACT_SUM


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


def as_thresholds(thresholds: ArrayLike) -> Float64Array:
    """Return thresholds as an array; raise unless they ascend."""
    limits: Float64Array = np.asarray(thresholds, dtype=np.float64)
    if limits.ndim != 1 or not (limits[1:] > limits[:-1]).all() or np.isnan(limits[:1]).any():
        raise check.invalid(
            "thresholds", "be one-dimensional and strictly ascending", check.describe(limits)
        )
    return limits


def count_between(
    thresholds: ArrayLike, scores: ArrayLike, weights: Weighting = None
) -> tuple[Weights, Weights]:
    """Return the number or weight of scores at each of k ascending thresholds and in the gaps.

    O(n + k) time unless scores or thresholds are spread very unevenly, then that of a sort.
    Fractional weights are summed gap by gap, so that the rounding of large sums does not reach
    small ones. Whole weights give int64.
    """
    limits = as_thresholds(thresholds)
    array = check.as_vector(scores, "scores")
    _refuse_nan_quickly(array, "scores")
    return count_checked(limits, array, check.as_weights(weights, array.size, "weights"))


def count_checked(
    thresholds: Float64Array, scores: FloatArray, weights: Float64Array | None
) -> tuple[Weights, Weights]:
    """Do what `count_between` does, with arrays that have been checked, also for NaN."""
    whole = weights is None or are_whole(weights)
    if scores.size < thresholds.size // 4:
        return _count_sparsely(thresholds, scores, weights, whole=whole)
    if weights is None and scores.size <= FEW_SCORES:
        return count_sorted(thresholds, SortedScores(mark_read_only(np.sort(scores))))
    kind = np.int64 if weights is None else np.float64
    counts: Weights = np.zeros(2 * thresholds.size + 1, dtype=kind)
    _add_counts(thresholds, scores, weights, counts)
    if whole:
        counts = counts.astype(np.int64, copy=False)
    elif weights is not None:
        # The largest gap has nearly all of the rounding, trial by trial, of the sums.
        counts[np.argmax(counts)] += np.float64(weights.sum() - counts.sum(dtype=np.longdouble))
    counts = mark_read_only(counts)
    return counts[1::2], counts[::2]


def n_below(scores: FloatArray, limit: Float64Array) -> int:
    """Count the scores, which are no NaN, below a single limit."""
    reached = _in_type_of(scores.dtype, limit)
    blocks = (scores[start : start + BLOCK] for start in range(0, scores.size, BLOCK))
    return sum(int(np.count_nonzero(block < reached)) for block in blocks)


def count_sorted(thresholds: Float64Array, scores: SortedScores) -> tuple[Weights, Weights]:
    """Do what `count_between` does, with scores that are sorted already."""
    if scores.size < thresholds.size // 4:
        return _count_sparsely(thresholds, scores.values, scores.weights, whole=scores.is_whole)
    below, up_to = scores.edges(thresholds)
    if scores.weights is None:
        between = np.append(below, scores.size)
        between[1:] -= up_to
        return mark_read_only(up_to - below), mark_read_only(between)
    edges = np.zeros(2 * thresholds.size + 1, dtype=np.int64)
    edges[1::2], edges[2::2] = below, up_to
    counts = mark_read_only(scores.weight_from(edges))
    return counts[1::2], counts[::2]


def _count_sparsely(
    thresholds: Float64Array, scores: FloatArray, weights: Float64Array | None, *, whole: bool
) -> tuple[Weights, Weights]:
    """Count few scores at many thresholds; where no score is tied, in one array."""
    order = np.argsort(scores, kind="stable")
    position, tied = _positions(thresholds, scores[order])
    masses = np.ones(scores.size, dtype=np.int64) if weights is None else weights[order]
    if whole:
        masses = masses.astype(np.int64, copy=False)
    between = np.zeros(thresholds.size + 1, dtype=masses.dtype)
    np.add.at(between, position[~tied], masses[~tied])
    at = np.zeros(thresholds.size if tied.any() else 1, dtype=masses.dtype)
    np.add.at(at, position[tied], masses[tied])
    return np.broadcast_to(mark_read_only(at), thresholds.shape), mark_read_only(between)


def _add_counts(
    thresholds: Float64Array, scores: FloatArray, weights: Float64Array | None, counts: Weights
) -> None:
    """Add scores to `counts`, by the way that takes least time."""
    # Each thread has counts of its own, so scores must be many for each threshold.
    is_few = scores.size < _SCORES_PER_THREAD * thresholds.size
    if is_few or weights is not None or n_threads_for(scores.size) == 1:
        _add_part(thresholds, scores, weights, counts)
        return

    def count(part: slice) -> Weights:
        own = np.zeros_like(counts)
        _add_part(thresholds, scores[part], None, own)
        return own

    # Whole numbers: the sum is the same whatever the parts are.
    for own in in_threads(count, scores.size):
        counts += own


def _add_part(
    thresholds: Float64Array, scores: FloatArray, weights: Float64Array | None, counts: Weights
) -> None:
    """Do what `_add_counts` does, in one thread."""
    grid = _make_grid(thresholds, scores, scores.size)
    if grid is None:
        _count_by_sort(thresholds, scores, weights, counts)
        return
    tally = GridCounts(grid, counts)
    tally.add(scores, weights)
    tally.flush()


def _make_grid(
    thresholds: Float64Array, scores: FloatArray, n_scores: float
) -> ThresholdGrid | None:
    """Return a grid for so many scores like these; None if it would not pay."""
    if scores.size < FEW_SCORES or n_scores < thresholds.size:
        return None
    return ThresholdGrid.over(thresholds, _in_type_of(scores.dtype, thresholds), scores, n_scores)


def _in_type_of(dtype: np.dtype[np.generic], thresholds: Float64Array) -> FloatArray:
    """Return what scores of a type reach iff they reach the thresholds."""
    return round_to_float32(thresholds, towards=np.inf) if dtype == np.float32 else thresholds


def _count_by_sort(
    thresholds: Float64Array, scores: FloatArray, weights: Float64Array | None, counts: Weights
) -> None:
    """Sort blocks of scores, and search for the thresholds in each; or the scores, if weighted."""
    if weights is None:
        # At least one score for each threshold, all of which are searched for in each block.
        step = max(BLOCK, thresholds.size)
        for start in range(0, scores.size, step):
            block = SortedScores(mark_read_only(np.sort(scores[start : start + step])))
            at, between = count_sorted(thresholds, block)
            counts[1::2] += at
            counts[::2] += between
        return
    order = np.argsort(scores)
    position, tied = _positions(thresholds, scores.take(order))
    position *= 2
    position += tied
    np.add.at(counts, position, weights.take(order))


def _positions(thresholds: Float64Array, scores: FloatArray) -> tuple[IndexArray, BoolArray]:
    """Return how many thresholds lie below each score, and if one is equal to it."""
    values = scores.astype(np.float64, copy=False)
    position = np.searchsorted(thresholds, values)
    if thresholds.size == 0:
        return position, np.zeros(values.size, dtype=np.bool_)
    return position, thresholds.take(position, mode="clip") == values


class RunningCounts:
    """Counts the scores at and between ascending thresholds, however they are cut into blocks."""

    def __init__(self, thresholds: ArrayLike) -> None:
        self._thresholds = as_thresholds(thresholds)
        self._counts: Weights = np.zeros(2 * self._thresholds.size + 1, dtype=np.int64)
        # A grid for each type of scores, kept until a block comes for which it does not pay.
        self._tallies: dict[np.dtype[np.generic], GridCounts] = {}

    def add(self, scores: FloatArray) -> None:
        """Count some more scores, without NaN; float32 is compared in float64."""
        if scores.size == 0:
            return
        tally = self._tallies.pop(scores.dtype, None)
        if tally is not None and not tally.grid.pays_for(scores):
            tally.flush()
            tally = None
        if tally is None:
            # More will come: a grid for any number of scores.
            grid = _make_grid(self._thresholds, scores, math.inf)
            if grid is None:
                _add_counts(self._thresholds, scores, None, self._counts)
                return
            tally = GridCounts(grid, self._counts)
        tally.add(scores)
        self._tallies[scores.dtype] = tally

    def result(self) -> tuple[IntArray, IntArray]:
        """Return the counts of all scores so far at, and between, the thresholds."""
        for tally in self._tallies.values():
            tally.flush()
        counts = mark_read_only(self._counts.copy())
        return counts[1::2], counts[::2]
