"""Exact counts of many unsorted scores at and between thresholds, without a sort.

The range that thresholds and scores share is cut into a grid of equal cells. A score in a cell
without threshold is counted by its cell alone. Only scores in a cell with thresholds are compared
with them; those are few, because thresholds are mostly not where most scores are.

The counts are exact, because the operations that compute a cell are monotone, also after rounding,
and the same for scores and thresholds. So a score in a higher cell than a threshold is above it,
and an equal score lies in the same cell.

Beside a constant stands the row of ``benchmarks/bench_numerics.py`` that gets worse by more than a
tenth without it.
"""

from __future__ import annotations

import math

import attrs
import numpy as np

from bosaris_py._arrays import (
    BoolArray,
    Float64Array,
    FloatArray,
    Int32Array,
    IntArray,
    Number,
    Positions,
    Weights,
)

# Scores of one pass: they and their work arrays stay in the cache (10^3 targets).
BLOCK = 2**17

# Scores between additions to the table of cells, which take a time of their own (10^6 targets).
_PART = 2**20

# Scores compared with thresholds at once: the work arrays stay in the cache (--hard: all equal).
_COMPARED_AT_ONCE = 2**15

# Cells for each threshold, so that most hold none; at least (10^3 targets) and at most (10^6) so
# many in all; and scores for each cell, so that the table costs little beside them (10^4 / 10^5).
_CELLS_PER_THRESHOLD, _FEWEST_CELLS, _MOST_CELLS, _SCORES_PER_CELL = 4, 2**17, 2**19, 8

# A sample shows where most scores are, and if the grid pays: not if the thresholds of its cell are
# halved more often for each score on average (--hard: exp(10 x), clusters).
_SAMPLE, _MOST_HALVINGS = 2**12, 2.0

# One score in so many at each end may be an outlier, beyond the grid (--hard: outliers).
_OUTERMOST = 2**9

# Integers of the size of a type of scores, and how many bits of a score follow the first.
_INTEGERS: dict[np.dtype[np.floating], tuple[type[np.signedinteger], int]] = {
    np.dtype(np.float64): (np.int64, 52),
    np.dtype(np.float32): (np.int32, 23),
}


@attrs.frozen(eq=False)
class Cells:
    """Equal cells over a range, for scores of one type.

    The width of a cell is a power of two. `shift`, so large that what is left of the sum are whole
    cells, is added to a score, clipped to `low` and `high`. The number of the cell then stands in
    the lowest bits, above `bits_of_first`.
    """

    low: np.floating
    high: np.floating
    shift: np.floating
    bits_of_first: np.signedinteger
    n: int
    width: float

    @classmethod
    def between(
        cls, low: Number, high: Number, wanted: int, dtype: np.dtype[np.floating]
    ) -> "Cells | None":
        """Cut a range into at most a few more cells than wanted; None if it cannot be cut."""
        integer, n_bits = _INTEGERS[dtype]
        least, most = float(low), float(high)
        farthest = max(abs(least), abs(most))
        half_range = most / 2.0 - least / 2.0
        if not (half_range > 0.0 and farthest < np.inf):
            return None
        # Cells so wide that they are not more than wanted, and that neither their number
        # nor the number that is added to scores has more bits than the type.
        width = max(
            math.frexp(half_range / wanted)[1] + 1,
            math.frexp(farthest)[1] + 1 - n_bits,
            np.finfo(dtype).minexp - n_bits,
        )
        if width + n_bits >= np.finfo(dtype).maxexp - 1:
            return None
        first = math.floor(math.ldexp(least, -width)) - 1
        last = math.ceil(math.ldexp(most, -width)) + 1
        beginning = 2**n_bits
        exact = (math.ldexp(n, width) for n in (first, last, beginning - first, beginning))
        lowest, highest, shift, origin = (dtype.type(number) for number in exact)
        size, unit = last - first + 1, math.ldexp(1.0, width)
        return cls(lowest, highest, shift, origin.view(integer), size, unit)

    def numbers(self, scores: FloatArray, work: FloatArray) -> Positions:
        """Return the cell of each score, in the memory of `work`; all operations are monotone."""
        np.clip(scores, self.low, self.high, out=work)
        work += self.shift
        cells = work.view(self.bits_of_first.dtype)
        cells -= self.bits_of_first
        return cells


@attrs.frozen(eq=False)
class ThresholdGrid:
    """Cells over a range of thresholds, for scores of one type.

    The first and the last cell also hold the scores beyond. `first` is the number of thresholds
    below each cell, and in all; `occupied` says which cells hold any.
    """

    thresholds: Float64Array
    cells: Cells
    first: Int32Array
    occupied: BoolArray

    @classmethod
    def over(
        cls, thresholds: Float64Array, limits: FloatArray, scores: FloatArray, n_scores: float
    ) -> "ThresholdGrid | None":
        """Make a grid for so many scores; None if it would not pay for scores like these.

        `limits` are the thresholds in the type of the scores, rounded up.
        """
        wanted = min(max(_CELLS_PER_THRESHOLD * thresholds.size, _FEWEST_CELLS), _MOST_CELLS)
        wanted = max(1, int(min(wanted, n_scores // _SCORES_PER_CELL)))
        shared = _shared_range(limits, np.sort(_sample(scores)))
        cells = Cells.between(*shared, wanted, scores.dtype)
        if cells is None:
            return None
        held = np.bincount(cells.numbers(limits, np.empty_like(limits)), minlength=cells.n)
        first = np.zeros(cells.n + 1, dtype=np.int32)
        np.cumsum(held, out=first[1:])
        grid = cls(thresholds, cells, first, held > 0)
        return grid if grid.pays_for(scores) else None

    def pays_for(self, scores: FloatArray) -> bool:
        """Tell from a few of the scores if they take few comparisons on average."""
        sample = _sample(scores)
        cells = self.cells.numbers(sample, np.empty_like(sample))
        met = self.first.take(cells + 1) - self.first.take(cells)
        return bool(np.log2(1.0 + met).mean() <= _MOST_HALVINGS)

    def entries(self, scores: FloatArray) -> IntArray:
        """Return the entry in the counts of each score, all of which lie in occupied cells."""
        values = scores.astype(np.float64, copy=False)
        cells = self.cells.numbers(scores, np.empty_like(scores))
        below: IntArray = self.first.take(cells).astype(np.int64)
        limits = self.thresholds.take(below)
        above = values > limits
        entries = 2 * below
        entries += above
        entries += values >= limits
        # Above the first threshold of its cell a score may be above others of the cell.
        below += 1
        ends = self.first.take(cells + 1)
        more = np.flatnonzero(above & (below < ends))
        if more.size:
            entries[more] = self._halved(values.take(more), below.take(more), ends.take(more))
        return entries

    def _halved(self, values: Float64Array, low: IntArray, high: Int32Array) -> IntArray:
        """Return the entry of each score, below which lie from `low` to `high` thresholds."""
        below, some = low.copy(), np.arange(values.size)
        while some.size:
            middles = (low + high) >> 1
            above = values.take(some) > self.thresholds.take(middles)
            low, high = np.where(above, middles + 1, low), np.where(above, high, middles)
            below[some] = low
            undecided = np.flatnonzero(low < high)
            some, low, high = some.take(undecided), low.take(undecided), high.take(undecided)
        is_tied = self.thresholds.take(below, mode="clip") == values
        return np.asarray(2 * below + is_tied)


def _sample(scores: FloatArray) -> FloatArray:
    return scores[:: max(1, scores.size // _SAMPLE)]


class GridCounts:
    """Counts by the cells of a grid, complete after `flush`."""

    def __init__(self, grid: ThresholdGrid, counts: Weights) -> None:
        self.grid, self._counts = grid, counts
        self._per_cell: Weights = np.zeros(grid.cells.n, counts.dtype)

    def add(self, scores: FloatArray, weights: Float64Array | None = None) -> None:
        """Count some more scores of the grid's type, without NaN; weights for float64 counts."""
        grid, size = self.grid, min(_PART, scores.size)
        held, numbers = np.empty(size, np.bool_), np.empty(size, np.intp)
        # Numbers that are as long as scores need no place of their own.
        is_long = scores.dtype.itemsize == numbers.itemsize
        work = numbers.view(scores.dtype) if is_long else np.empty(min(BLOCK, size), scores.dtype)
        for begin in range(0, scores.size, _PART):
            part = scores[begin : begin + _PART]
            masses = None if weights is None else weights[begin : begin + _PART]
            for start in range(0, part.size, BLOCK):
                block = slice(start, min(start + BLOCK, part.size))
                area = work[block] if is_long else work[: block.stop - start]
                numbers[block] = grid.cells.numbers(part[block], area)
                # Any mode but the default saves a check; no cell lies beyond the table.
                grid.occupied.take(numbers[block], out=held[block], mode="wrap")
            found = np.flatnonzero(held[: part.size])
            for start in range(0, found.size, _COMPARED_AT_ONCE):
                met = found[start : start + _COMPARED_AT_ONCE]
                ones = 1 if masses is None else masses.take(met)
                np.add.at(self._counts, grid.entries(part.take(met)), ones)
            cells = numbers[: part.size]
            self._per_cell += np.bincount(cells, masses, minlength=self._per_cell.size)

    def flush(self) -> None:
        """Add the counts of cells to those of the gaps in which they lie."""
        grid, per_cell = self.grid, self._per_cell
        # What was compared is counted already.
        per_cell[grid.occupied] = 0
        starts = np.flatnonzero(grid.occupied)
        self._counts[0] += per_cell[: starts[0]].sum()
        self._counts[2 * grid.first[starts + 1]] += np.add.reduceat(per_cell, starts)
        per_cell[:] = 0


def _shared_range(limits: FloatArray, sample: FloatArray) -> tuple[Number, Number]:
    """Return the range of finite thresholds, cut to where most of a sorted sample lies.

    Of two that share no range, that of the thresholds; NaN if there is none.
    """
    start = int(np.searchsorted(limits, -np.inf, side="right"))
    stop = int(np.searchsorted(limits, np.inf, side="left"))
    if start >= stop:
        return np.nan, np.nan
    lowest, highest = limits[start], limits[stop - 1]
    spare = sample.size // _OUTERMOST
    low, high = max(lowest, sample[spare]), min(highest, sample[-1 - spare])
    return (low, high) if low < high else (lowest, highest)
