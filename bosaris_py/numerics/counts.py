"""Sorted scores of one class, and exact counts of scores at and between thresholds.

`SortedScores` counts the scores below a threshold. The functions count unsorted scores between
thresholds in the fastest way: passes over the scores for few thresholds, a search for few scores, a
grid of cells for the rest. Where thresholds are many and this processor sorts fast, they sort
blocks. What a tie means for decisions stands in `roc`.

Counts at and between k thresholds are one array of 2 k + 1 entries. Entry 2 i + 1 is what is tied
with threshold i; the even entries are the gaps.
"""

from __future__ import annotations

import functools
import time
from typing import Any, cast

import attrs
import numpy as np
from numpy.typing import ArrayLike

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
from bosaris_py._validation import (
    as_score_lists,
    as_vector,
    as_weights,
    check_not_empty,
    check_weight_range,
    describe,
    invalid,
    refuse_nan,
)
from bosaris_py.numerics.threads import in_threads, n_threads_for
from bosaris_py.numerics.threshold_grid import GridCounts, ThresholdGrid

# Any sum of whole weights up to here is exact, in float64 as in int64.
_EXACT_SUM = 2.0**53

# Weights are looked at in blocks: most that are not whole show it in the first.
_WHOLE_BLOCK = 2**16

# Scores of one pass over a block: they and the work arrays stay in the cache of one core.
_BLOCK = 2**17

# Up to so many thresholds are counted by passes: each costs a tenth of a grid.
_FEW_THRESHOLDS = 6

# Where blocks are sorted, so many scores for each threshold, which is searched for in each; of
# a stream no more than so many in all, unless thresholds need them.
_SCORES_PER_SEARCH, _FEWEST_PER_SEARCH, _MOST_SORTED = 32, 8, 2**22

# Nanoseconds: a search for a threshold; and what a grid takes for a score, as long as its tables
# are small, and how that grows with their number to the power of 2/3. Threads take longer for a
# grid, as they wait for each other. A probe tells what a sort takes; its time grows with the
# logarithm of the size, and with what leaves the cache.
_SEARCH, _GRID, _GRID_GROWTH, _WAITING = 20.0, 4.0, 0.0006, 1.35
_PROBE, _PROBE_LEVELS, _PROBE_SECONDS = 2**13, 10.0, 1e-3

# With fewer scores for each threshold, counts of each thread take more memory than they save time.
_SCORES_PER_THREAD = 8

# Smaller blocks are never sorted much faster than a grid counts them.
_FEWEST_SORTED = 2**20

# So many thresholds are searched for in a small part of sorted scores, which stays in cache.
_SEARCHED_AT_ONCE = 2**12

# From so many thresholds on, which leave the cache, the scores in their cells are searched for in
# blocks of so many for each, if the probe takes no more nanoseconds. Of fewer scores for each all
# are sorted, if more than this share would be.
_FEWEST_FOR_MET, _SCORES_FOR_MET, _MET_PER_SEARCH, _FAST_SORT = 2**16, 32, 8, 10.0
_MOST_MET = 0.4

# The number of targets at each of some distinct scores; a stride of 0 makes it as many.
_ONE = mark_read_only(np.ones(1, dtype=np.int64))

# Fewer scores than this are searched for: a grid costs its tables.
FEW_SCORES = 2**13

# The scores that a running count expects: its grid is made for so many.
_MANY_SCORES = 2**27


def as_class(
    scores: ArrayLike, weights: Weighting, name: str
) -> tuple[FloatArray, Float64Array | None]:
    """Return the scores of a class, and their weights if any, checked but for NaN."""
    array = as_vector(scores, name)
    check_not_empty(array, name)
    if weights is None:
        return array, None
    checked = as_weights(weights, array.size, f"{name}_weights")
    check_weight_range(checked, f"{name}_weights")
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
        refuse_nan(scores, name)


def are_whole(weights: Float64Array) -> bool:
    """Tell if weights are whole numbers of which any sum is exact."""
    for start in range(0, weights.size, _WHOLE_BLOCK):
        block = weights[start : start + _WHOLE_BLOCK]
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
        return self.size if self.weights is None else cast("int | float", self._running[-1].item())

    @functools.cached_property
    def is_whole(self) -> bool:
        """Whether weights are whole numbers, so that sums of them are exact."""
        return self.weights is None or are_whole(self.weights)

    @functools.cached_property
    def _running(self) -> Weights:
        """Weight of the first i scores; int64 if whole. Only where there are weights."""
        running = np.append(0.0, running_sum(cast("Float64Array", self.weights)))
        return mark_read_only(running.astype(np.int64) if self.is_whole else running)

    @functools.cached_property
    def _remaining(self) -> Weights:
        """Weight of all but the first i scores: summed from the top, so small ones are exact."""
        remaining = np.append(running_sum(cast("Float64Array", self.weights)[::-1])[::-1], 0.0)
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

    def _count(self, thresholds: ArrayLike, *, side: Any) -> IntArray:
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
    tar, non = as_score_lists(tar, non, tar_weights, non_weights)
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
        raise invalid("thresholds", "be one-dimensional and strictly ascending", describe(limits))
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
    array = as_vector(scores, "scores")
    _refuse_nan_quickly(array, "scores")
    return count_checked(limits, array, as_weights(weights, array.size, "weights"))


def count_checked(
    thresholds: Float64Array, scores: FloatArray, weights: Float64Array | None
) -> tuple[Weights, Weights]:
    """Do what `count_between` does, with arrays that have been checked, also for NaN."""
    whole = weights is None or are_whole(weights)
    if scores.size < thresholds.size // 4:
        return _count_sparsely(thresholds, scores, weights, whole=whole)
    if whole and thresholds.size and scores.size <= FEW_SCORES:
        return _count_few(thresholds, scores, weights)
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


def count_below(scores: FloatArray, limit: Float64Array) -> int:
    """Count the scores, which are no NaN, below a single limit."""
    reached = _in_type_of(scores.dtype, limit)
    blocks = (scores[start : start + _BLOCK] for start in range(0, scores.size, _BLOCK))
    return sum(int(np.count_nonzero(block < reached)) for block in blocks)


def _count_few(
    thresholds: Float64Array, scores: FloatArray, weights: Float64Array | None
) -> tuple[Weights, Weights]:
    """Count so few scores, with whole weights, that calls of numpy take most of the time."""
    if weights is not None:
        entries, tied = _positions(thresholds, scores)
        entries *= 2
        entries += tied
        sums = np.bincount(entries, weights, 2 * thresholds.size + 1)
        counts = mark_read_only(sums.astype(np.int64))
        return counts[1::2], counts[::2]
    ordered = scores.copy()
    ordered.sort()
    limits = _in_type_of(scores.dtype, thresholds)
    below = ordered.searchsorted(limits)
    # No score lies between a threshold and its neighbours in the type of the scores.
    if scores.dtype == np.float32:
        limits = round_to_float32(thresholds, towards=-np.inf)
    up_to = ordered.searchsorted(limits, side="right")
    between = np.empty(thresholds.size + 1, dtype=np.int64)
    between[:-1] = below
    between[-1] = scores.size
    between[1:] -= up_to
    return mark_read_only(up_to - below), mark_read_only(between)


def count_sorted(thresholds: Float64Array, scores: SortedScores) -> tuple[Weights, Weights]:
    """Do what `count_between` does, with scores that are sorted already."""
    if scores.size < thresholds.size // 4:
        return _count_sparsely(thresholds, scores.values, scores.weights, whole=scores.is_whole)
    below, up_to = scores.edges(thresholds)
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
        _add_part(thresholds, scores[part], None, own, is_alone=False)
        return own

    # Whole numbers: the sum is the same whatever the parts are.
    for own in in_threads(count, scores.size):
        counts += own


def _add_part(
    thresholds: Float64Array,
    scores: FloatArray,
    weights: Float64Array | None,
    counts: Weights,
    *,
    is_alone: bool = True,
) -> None:
    """Do what `_add_counts` does, in one thread."""
    if scores.size == 0:
        return
    if thresholds.size <= _FEW_THRESHOLDS and scores.size > thresholds.size:
        _count_by_passes(thresholds, scores, weights, counts)
        return
    k, n = thresholds.size, scores.size
    waiting = 1.0 if is_alone else _WAITING
    is_sorted = weights is None and _sorting_pays(k, scores.dtype, _block_size(k, n), waiting)
    grid = None if is_sorted else _make_grid(thresholds, scores, n)
    is_searched = weights is None and _searching_pays(k, scores.dtype)
    if grid is not None and is_searched and n < _SCORES_FOR_MET * k:
        grid = None if grid.share_met(scores) > _MOST_MET else grid
    if grid is None:
        _count_by_search(thresholds, scores, weights, counts)
        return
    blocks = _blocks_of_met(thresholds, scores.dtype, counts) if is_searched else None
    tally = GridCounts(grid, counts, _count_by_search, blocks, n_alone=n if is_alone else 0)
    tally.add(scores, weights)
    tally.flush()


def _block_size(n_thresholds: int, n_scores: int) -> int:
    """Return how many scores are sorted at once: many for each threshold."""
    return min(n_scores, max(_BLOCK, _SCORES_PER_SEARCH * n_thresholds))


def _sorting_pays(n_thresholds: int, dtype: np.dtype[Any], size: int, waiting: float = 1.0) -> bool:
    """Tell whether blocks of so many scores are sorted faster than a grid counts them."""
    if size < _FEWEST_SORTED:
        return False
    of_sort = _sort_time(dtype) * np.log2(size) / _PROBE_LEVELS
    grid = _GRID + _GRID_GROWTH * n_thresholds ** (2 / 3)
    return bool(of_sort + _SEARCH * n_thresholds / size < waiting * grid)


def _searching_pays(n_thresholds: int, dtype: np.dtype[Any]) -> bool:
    """Tell whether searches in sorted scores are faster than comparisons in the cells of a grid."""
    return n_thresholds >= _FEWEST_FOR_MET and _sort_time(dtype) <= _FAST_SORT


@functools.cache
def _sort_time(dtype: np.dtype[Any]) -> float:
    """Return the nanoseconds for each of some scores that are sorted, on this processor."""
    scores = np.random.default_rng(0).random(_PROBE).astype(dtype)
    times: list[float] = []
    # The first ones, and those that other threads or programs disturb, take several times as long.
    while len(times) < 3 or sum(times) < _PROBE_SECONDS:
        start = time.perf_counter()
        np.sort(scores)
        times.append(time.perf_counter() - start)
    return 1e9 * min(times) / _PROBE


def _blocks_of_met(
    thresholds: Float64Array, dtype: np.dtype[Any], counts: Weights
) -> _SortedBlocks:
    """Return what counts, by searches, the scores in cells of a grid with thresholds."""
    return _SortedBlocks(thresholds, dtype, _MET_PER_SEARCH * thresholds.size, counts)


def _make_grid(thresholds: Float64Array, scores: FloatArray, n_scores: int) -> ThresholdGrid | None:
    """Return a grid for so many scores like these; None if it would not pay."""
    if scores.size < FEW_SCORES or n_scores < thresholds.size:
        return None
    limits = _in_type_of(scores.dtype, thresholds)
    return ThresholdGrid.over(thresholds, limits, scores, n_scores)


def _in_type_of(dtype: np.dtype[Any], thresholds: Float64Array) -> FloatArray:
    """Return what scores of a type reach iff they reach the thresholds."""
    return round_to_float32(thresholds, towards=np.inf) if dtype == np.float32 else thresholds


def _count_by_passes(
    thresholds: Float64Array, scores: FloatArray, weights: Float64Array | None, counts: Weights
) -> None:
    limits: list[tuple[Any, Any]] = [(limit, limit) for limit in thresholds]
    if scores.dtype != np.float64:
        upper = round_to_float32(thresholds, towards=np.inf)
        limits = list(zip(upper, round_to_float32(thresholds, towards=-np.inf), strict=True))
    for start in range(0, scores.size, _BLOCK):
        block = scores[start : start + _BLOCK]
        if weights is None:
            # Sums of counts, with a sign each, are exact.
            counts[-1] += block.size
            for i, (reached, passed) in enumerate(limits):
                below = np.count_nonzero(block < reached)
                tied = np.count_nonzero(block <= passed) - below
                counts[2 * i] += below
                counts[2 * i + 1] += tied
                counts[2 * i + 2] -= below + tied
            continue
        entries = np.zeros(block.size, dtype=np.uint8)
        for reached, passed in limits:
            entries += block >= reached
            entries += block > passed
        counts += np.bincount(entries, weights[start : start + _BLOCK], minlength=counts.size)


def _count_by_search(
    thresholds: Float64Array, scores: FloatArray, weights: Float64Array | None, counts: Weights
) -> None:
    if weights is None and scores.size >= thresholds.size // 4:
        size = _block_size(thresholds.size, scores.size)
        tally = _SortedBlocks(thresholds, scores.dtype, size, counts)
        tally.add(scores)
        tally.flush()
        return
    order = np.argsort(scores)
    position, tied = _positions(thresholds, scores.take(order))
    position *= 2
    position += tied
    np.add.at(counts, position, 1 if weights is None else weights.take(order))


def _positions(thresholds: Float64Array, scores: FloatArray) -> tuple[IndexArray, BoolArray]:
    """Return how many thresholds lie below each score, and if one is equal to it."""
    values = scores.astype(np.float64, copy=False)
    position = np.searchsorted(thresholds, values)
    if thresholds.size == 0:
        return position, np.zeros(values.size, dtype=np.bool_)
    return position, thresholds.take(position, mode="clip") == values


class _SortedBlocks:
    """Counts of scores by a sort of each block, in which all thresholds are searched for."""

    def __init__(
        self, thresholds: Float64Array, dtype: np.dtype[Any], size: int, counts: Weights
    ) -> None:
        self._thresholds, self._counts, self._n = thresholds, counts, 0
        self._limits = _in_type_of(dtype, thresholds)
        self._block: FloatArray = np.empty(size, dtype=dtype)

    def add(self, scores: FloatArray) -> None:
        """Count some more scores, without NaN."""
        while scores.size:
            part = scores[: self._block.size - self._n]
            self._block[self._n : self._n + part.size] = part
            self._n += part.size
            scores = scores[part.size :]
            if self._n == self._block.size:
                self.flush()

    def flush(self) -> None:
        """Add to the counts whatever is not yet in them."""
        block = self._block[: self._n]
        if not block.size:
            return
        block.sort()
        # Some thresholds at once, and the scores where they lie, stay in cache.
        starts = range(0, self._limits.size, _SEARCHED_AT_ONCE)
        ends = block.searchsorted(self._limits[_SEARCHED_AT_ONCE::_SEARCHED_AT_ONCE]).tolist()
        last = 0
        for at, begin, end in zip(starts, [0, *ends], [*ends, block.size], strict=False):
            counts, limits = self._counts[2 * at :], self._limits[at : at + _SEARCHED_AT_ONCE]
            around = block[begin:end]
            below = around.searchsorted(limits) + begin
            counts[: 2 * below.size : 2] += np.diff(below, prepend=last)
            last = below[-1]
            # Few thresholds are scores; only those are searched for twice.
            nearest = block.take(below, mode="clip")
            tied = np.flatnonzero(nearest == self._thresholds[at : at + _SEARCHED_AT_ONCE])
            if tied.size:
                many = around.searchsorted(limits[tied], side="right") + begin - below[tied]
                counts[2 * tied + 1] += many
                counts[2 * tied + 2] -= many
        self._counts[-1] += block.size - last
        self._n = 0


class RunningCounts:
    """Counts the scores at and between ascending thresholds, however they are cut into blocks."""

    def __init__(self, thresholds: ArrayLike) -> None:
        self._thresholds = as_thresholds(thresholds)
        self._counts: Weights = np.zeros(2 * self._thresholds.size + 1, dtype=np.int64)
        # One way for each type of scores. A grid is made for the first block that is large
        # enough, and kept until a block comes for which it does not pay.
        self._tallies: dict[np.dtype[Any], GridCounts | _SortedBlocks] = {}

    def add(self, scores: FloatArray) -> None:
        """Count some more scores, without NaN; float32 is compared in float64."""
        if scores.size == 0:
            return
        k, dtype = self._thresholds.size, scores.dtype
        tally = self._tallies.get(dtype)
        is_judged = isinstance(tally, GridCounts) and scores.size >= FEW_SCORES
        if is_judged and not cast("GridCounts", tally).grid.still_pays(scores):
            self._tallies.pop(dtype).flush()
            tally = None
        if tally is None:
            size = _block_size(k, max(_MOST_SORTED, _FEWEST_PER_SEARCH * k))
            size = max(size, _FEWEST_SORTED)
            if _sorting_pays(k, dtype, size, _WAITING):
                tally = _SortedBlocks(self._thresholds, dtype, size, self._counts)
            elif (grid := _make_grid(self._thresholds, scores, _MANY_SCORES)) is not None:
                met = self._thresholds, dtype, self._counts
                blocks = _blocks_of_met(*met) if _searching_pays(k, dtype) else None
                tally = GridCounts(grid, self._counts, _count_by_search, blocks)
            else:
                _add_counts(self._thresholds, scores, None, self._counts)
                return
            self._tallies[dtype] = tally
        tally.add(scores)

    def result(self) -> tuple[IntArray, IntArray]:
        """Return the counts of all scores so far at, and between, the thresholds."""
        for tally in self._tallies.values():
            tally.flush()
        counts = mark_read_only(self._counts.copy())
        return counts[1::2], counts[::2]
