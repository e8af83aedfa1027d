"""Exact counts of many unsorted scores at and between thresholds, without a sort.

The range that thresholds and scores share is cut into a grid of equal cells. A score in a cell
without threshold is counted by its cell alone. Only scores in a cell with thresholds are compared
with them; those are few, because thresholds are mostly not where most scores are.

The counts are exact, because the operations that compute a cell are monotone, also after rounding,
and the same for scores and thresholds. So a score in a higher cell than a threshold is above it,
and an equal score lies in the same cell.

Whether a grid is tried at all is decided in `counts`, which also searches for the scores of crowded
cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from bosaris_py._arrays import BoolArray, Float64Array, FloatArray, IndexArray, Int32Array, Weights

# With smaller blocks threads wait for each other between numpy's calls: each takes microseconds.
# One thread alone is faster with blocks that stay in the cache of a core.
_BLOCK, _BLOCK_ALONE = 2**19, 2**17

# Four cells for each threshold leave most cells empty; not fewer than 2**17, which costs
# little. But tables of more than 2**19 cells leave the cache, and tables need as much time
# as 8 scores a cell. There is at least one cell for two thresholds, unless that takes more
# memory than 2**22 cells do.
_CELLS_PER_THRESHOLD, _CELLS, _CELLS_IN_CACHE, _SCORES_PER_CELL = 4, 2**17, 2**19, 8

_FEWEST_CELLS_PER_THRESHOLD, _MOST_CELLS = 0.5, 2**22

# A cell with more thresholds is crowded: a search for its scores is quicker than comparisons.
_CROWD = 12

# A sample of so many scores shows where most are and if a grid pays. It does not if more than
# this share is searched for, or if each score needs so many comparisons on average.
_SAMPLE, _CROWDED_SHARE, _COMPARISONS = 2**12, 0.05, 3.0

# Later blocks are judged by a smaller sample, with this much tolerance: what paid by the
# larger one is not given up by chance.
_SMALL_SAMPLE, _TOLERANCE = 2**9, 2.0

# Scores that are compared together: their many work arrays stay in cache, and with the process.
_COMPARED_AT_ONCE = 2**15

# A table of cells is made for four times as many scores as it has cells, so that it costs little
# beside these, if it is not too large; numpy fills it without holding up other threads.
_SCORES_PER_TABLE_CELL, _MOST_PER_TABLE = 4, 2**22

# One in so many scores at each end may lie beyond the grid.
_OUTERMOST = 512

# Integers of the size of a type of scores, and how many bits of a score follow the first.
_INTEGERS: dict[np.dtype[Any], tuple[Any, int]] = {
    np.dtype(np.float64): (np.int64, 52),
    np.dtype(np.float32): (np.int32, 23),
}

# Adds scores, with weights or None, to the counts at and between thresholds.
Search = Callable[[Float64Array, FloatArray, "Float64Array | None", Weights], None]


@attrs.frozen(eq=False)
class Cells:
    """Equal cells over a range, for scores of one type.

    The width of a cell is a power of two. `shift`, so large that what is left of the sum are whole
    cells, is added to a score, clipped to `low` and `high`. The number of the cell then stands in
    the lowest bits, above `bits_of_first`.
    """

    low: Any
    high: Any
    shift: Any
    bits_of_first: Any
    n: int
    width: float

    @classmethod
    def between(cls, low: Any, high: Any, wanted: int, dtype: np.dtype[Any]) -> "Cells | None":
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

    def numbers(self, scores: FloatArray, work: FloatArray) -> Any:
        """Return the cell of each score, in the memory of `work`; all operations are monotone."""
        np.clip(scores, self.low, self.high, out=work)
        work += self.shift
        cells = work.view(self.bits_of_first.dtype)
        cells -= self.bits_of_first
        return cells


@attrs.frozen(eq=False)
class ThresholdGrid:
    """Cells over a range of thresholds, for scores of one type.

    The first and the last cell also hold the scores beyond. `cell_of` is the cell of each
    threshold, then one that does not exist; `occupied` says whether a cell holds a threshold,
    `first` how many are in lower cells, and `crowded` whether a cell holds too many (None: no cell
    does).
    """

    thresholds: Float64Array
    cells: Cells
    cell_of: IndexArray
    occupied: BoolArray
    first: Int32Array
    crowded: BoolArray | None

    @classmethod
    def over(
        cls, thresholds: Float64Array, limits: FloatArray, scores: FloatArray, n_scores: int
    ) -> "ThresholdGrid | None":
        """Make a grid, or return None if it would not pay for so many scores like these.

        `limits` are the thresholds in the type of the scores, rounded up.
        """
        sample = np.sort(scores[:: max(1, scores.size // _SAMPLE)])
        wanted = max(_CELLS_PER_THRESHOLD * thresholds.size, _CELLS)
        wanted = min(wanted, _CELLS_IN_CACHE, n_scores // _SCORES_PER_CELL)
        wanted = max(wanted, int(_FEWEST_CELLS_PER_THRESHOLD * thresholds.size), 1)
        shared = _shared_range(limits, sample)
        cells = Cells.between(*shared, min(wanted, _MOST_CELLS), scores.dtype)
        if cells is None:
            return None
        cell_of = cells.numbers(limits, np.empty_like(limits)).astype(np.intp)
        held = np.bincount(cell_of, minlength=cells.n)
        crowded = held > _CROWD
        first = np.zeros(cells.n + 1, dtype=np.int32)
        np.cumsum(held, out=first[1:])
        known = crowded if crowded.any() else None
        grid = cls(thresholds, cells, np.append(cell_of, -1), held > 0, first, known)
        return grid if grid._pays_for(sample) else None

    def still_pays(self, scores: FloatArray) -> bool:
        """Tell from a few if the grid pays for some more scores, which may lie elsewhere."""
        return self._pays_for(scores[:: max(1, scores.size // _SMALL_SAMPLE)], _TOLERANCE)

    def share_met(self, scores: FloatArray) -> float:
        """Return the share of the scores, shown by a few, that lie in cells with thresholds."""
        sample = scores[:: max(1, scores.size // _SAMPLE)]
        cells = self.cells.numbers(sample, np.empty_like(sample))
        return float(np.count_nonzero(self.occupied.take(cells)) / sample.size)

    def _pays_for(self, sample: FloatArray, tolerance: float = 1.0) -> bool:
        cells = self.cells.numbers(sample, np.empty_like(sample))
        met = self.first.take(cells + 1) - self.first.take(cells)
        searched = met > _CROWD
        few = np.count_nonzero(searched) <= tolerance * _CROWDED_SHARE * sample.size
        return bool(few and met[~searched].sum() <= tolerance * _COMPARISONS * sample.size)

    def entries(self, values: Float64Array, cells: IndexArray, nearest: IndexArray) -> IndexArray:
        """Return the entry of each score in the counts, none of them below a threshold before.

        `nearest` is the first threshold that was not compared yet.
        """
        limits = self.thresholds.take(nearest)
        above = values > limits
        entries = 2 * nearest
        entries += above
        entries += values >= limits
        ahead = np.flatnonzero(above)
        following = nearest.take(ahead)
        following += 1
        # Only where the next threshold lies in the same cell there is more to ask.
        again = np.flatnonzero(self.cell_of.take(following) == cells.take(ahead))
        if again.size:
            ahead = ahead.take(again)
            entries[ahead] = self.entries(
                values.take(ahead), cells.take(ahead), following.take(again)
            )
        return entries


class _Queue:
    """Arrays in columns that are collected until they are worth a pass."""

    def __init__(self) -> None:
        self._parts: list[tuple[Any, ...]] = []
        self.size = 0

    def put(self, *columns: Any) -> None:
        """Add a part to each column; one without weights is None in all parts."""
        self._parts.append(columns)
        self.size += columns[0].size

    def take(self) -> tuple[Any, ...]:
        """Return the columns, and forget them."""
        parts = tuple(zip(*self._parts, strict=True))
        self._parts, self.size = [], 0
        return tuple(None if part[0] is None else np.concatenate(part) for part in parts)


class GridCounts:
    """Counts by the cells of a grid, complete after `flush`; `search` counts in crowded cells.

    `blocks` counts the scores in cells with thresholds where a search for many is faster than
    comparisons. `n_alone` is how many scores there are in all where no other thread counts
    meanwhile, else 0.
    """

    def __init__(
        self,
        grid: ThresholdGrid,
        counts: Weights,
        search: Search,
        blocks: Any = None,
        *,
        n_alone: int = 0,
    ) -> None:
        self.grid, self._counts, self._search = grid, counts, search
        self._alone = n_alone > 0
        # A small table stays in cache.
        is_short = counts.dtype == np.int64 and 0 < n_alone < 2**31
        self._per_cell: Any = np.zeros(grid.cells.n, np.int32 if is_short else counts.dtype)
        # Scores and weights in cells with thresholds, and those in crowded cells.
        self._met, self._crowd = _Queue(), _Queue()
        self._blocks = blocks
        # Kept, because memory from the system is slow, and one thread waits for another there.
        self._work: tuple[Any, ...] = ()

    def add(self, scores: FloatArray, weights: Float64Array | None = None) -> None:
        """Count some more scores of the grid's type, without NaN; weights for float64 counts."""
        n_cells, dtype = self.grid.cells.n, scores.dtype
        step = min(max(_SCORES_PER_TABLE_CELL * n_cells, _BLOCK), _MOST_PER_TABLE, scores.size)
        length = _BLOCK
        if self._alone:
            step = length = min(_BLOCK_ALONE, scores.size)
        if not self._work or self._work[0].size < step:
            # Cells that are as long as scores need no place of their own.
            size = min(length, step)
            place = np.empty(0 if dtype.itemsize == np.intp().itemsize else size, dtype)
            self._work = np.empty(step, np.intp), place, np.empty(size, np.bool_)
        indices, work, held = self._work
        for begin in range(0, scores.size, step):
            part = scores[begin : begin + step]
            masses = None if weights is None else weights[begin : begin + step]
            for start in range(0, part.size, length):
                block = part[start : start + length]
                cells = indices[start : start + block.size]
                area = work if work.size else cells.view(dtype)
                found = self.grid.cells.numbers(block, area[: block.size])
                if area is work:
                    cells[:] = found
                # Any mode but the default saves a check; no cell lies beyond the table.
                self.grid.occupied.take(cells, out=held[: block.size], mode="wrap")
                chosen = np.flatnonzero(held[: block.size])
                if chosen.size:
                    met = None if masses is None else masses[start:].take(chosen)
                    if met is None and self._blocks is not None:
                        self._blocks.add(block.take(chosen))
                        continue
                    self._met.put(block.take(chosen), met)
                    if self._met.size > _COMPARED_AT_ONCE:
                        self._compare()
            if self._alone:
                one = self._per_cell.dtype.type(1) if masses is None else masses
                np.add.at(self._per_cell, indices[: part.size], one)
            else:
                self._per_cell += np.bincount(indices[: part.size], masses, minlength=n_cells)

    def flush(self) -> None:
        """Add to the counts whatever is not yet in them."""
        self._work = ()
        if self._blocks is not None:
            self._blocks.flush()
        self._compare()
        self._search_crowd()
        self._flush_cells()

    def _compare(self) -> None:
        """Compare the scores in cells that hold thresholds with these."""
        if not self._met.size:
            return
        values, masses = self._met.take()
        for start in range(0, values.size, _COMPARED_AT_ONCE):
            part = slice(start, start + _COMPARED_AT_ONCE)
            self._compare_part(values[part], None if masses is None else masses[part])

    def _compare_part(self, values: FloatArray, masses: Float64Array | None) -> None:
        grid = self.grid
        cells: IndexArray = grid.cells.numbers(values, np.empty_like(values)).astype(np.intp)
        if grid.crowded is not None:
            crowd = grid.crowded.take(cells)
            if crowd.any():
                self._crowd.put(values[crowd], None if masses is None else masses[crowd])
                if self._crowd.size > _BLOCK:
                    self._search_crowd()
                values, cells = values[~crowd], cells[~crowd]
                masses = None if masses is None else masses[~crowd]
        nearest = grid.first.take(cells).astype(np.intp)
        entries = grid.entries(values.astype(np.float64, copy=False), cells, nearest)
        np.add.at(self._counts, entries, 1 if masses is None else masses)

    def _search_crowd(self) -> None:
        if self._crowd.size:
            scores, masses = self._crowd.take()
            self._search(self.grid.thresholds, scores, masses, self._counts)

    def _flush_cells(self) -> None:
        """Add the counts of cells to those of the gaps in which they lie."""
        grid, per_cell, dtype = self.grid, self._per_cell, self._counts.dtype
        # What was compared or searched for is counted already.
        per_cell[grid.occupied] = 0
        starts = np.flatnonzero(grid.occupied)
        self._counts[0] += per_cell[: starts[0]].sum(dtype=dtype)
        gaps = np.add.reduceat(per_cell, starts, dtype=dtype)
        self._counts[2 * grid.first[starts + 1]] += gaps
        per_cell[:] = 0


def _shared_range(limits: FloatArray, sample: FloatArray) -> tuple[Any, Any]:
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
