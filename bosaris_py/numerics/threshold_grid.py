"""Exact counts of unsorted scores at and between thresholds, without a sort.

The range that thresholds and scores share is cut into a grid of equal cells. A score
in a cell without threshold is counted by its cell alone. Only scores in a cell with
thresholds are compared with them; those are few, because thresholds are
mostly not where most scores are.

It is exact because a cell is computed by operations each of which is monotone, also
after rounding, and the same for scores and thresholds: a score in a higher cell
than a threshold is above it, and an equal score lies in the same cell.

What does not suit a grid is counted otherwise: few thresholds by passes, few or
badly spread scores by sorting and searching.

Counts at and between k thresholds are one array of 2 k + 1 entries here: number 2 i
+ 1 is what is tied with threshold i, the even ones are the gaps.
"""

import math
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import Float64Array, FloatArray, IndexArray, Weights, mark_read_only
from bosaris_py.numerics.sorted_scores import SortedScores, round_to_float32

# A block and its work arrays stay in the cache of one core.
_BLOCK = 2**17

# So few thresholds are counted by passes, of which each costs a tenth of a grid.
_FEW_THRESHOLDS = 6

# So few scores are searched for: a grid costs its tables.
_FEW_SCORES = 2**13

# Cells for each threshold, and how many at least; but not so many that their tables
# leave the cache or take more time than the scores, unless there would be too few for
# each threshold. More than the last would take too much memory.
_CELLS_PER_THRESHOLD, _CELLS, _CELLS_IN_CACHE, _SCORES_PER_CELL = 4, 2**17, 2**19, 8

_FEWEST_CELLS_PER_THRESHOLD, _MOST_CELLS = 1, 2**22

# A cell with more thresholds is crowded: its scores are searched for.
_CROWD = 12

# Scores looked at to see where most are and if a grid pays: it does not if more than
# this share are searched for, or so many comparisons are made for each on average.
_SAMPLE, _CROWDED_SHARE, _COMPARISONS = 2**12, 0.05, 3.0

_SMALL_SAMPLE = 2**9

# So many scores are compared together.
_MET_AT_ONCE = 2**15

# Cells are counted in 32 bits.
_MOST_IN_A_CELL = 2**31 - 1

# One in so many scores at each end may lie beyond the grid.
_OUTERMOST = 512

# Integers of the size of a type of scores, and how many bits of a score follow the first.
_INTEGERS: dict[np.dtype[Any], tuple[Any, int]] = {
    np.dtype(np.float64): (np.int64, 52),
    np.dtype(np.float32): (np.int32, 23),
}


def add_counts(
    thresholds: Float64Array, scores: FloatArray, weights: Float64Array | None, counts: Weights
) -> None:
    """Add to `counts`, by the way that suits."""
    if scores.size == 0:
        return
    if thresholds.size <= _FEW_THRESHOLDS and scores.size > thresholds.size:
        _count_by_passes(thresholds, scores, weights, counts)
        return
    grid = ThresholdGrid.over(thresholds, scores)
    if grid is None:
        _count_by_search(thresholds, scores, weights, counts)
        return
    tally = GridCounts(grid, counts)
    tally.add(scores, weights)
    tally.settle()


def _count_by_passes(
    thresholds: Float64Array, scores: FloatArray, weights: Float64Array | None, counts: Weights
) -> None:
    limits = _comparable(thresholds, scores.dtype)
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


def _comparable(thresholds: Float64Array, dtype: Any) -> list[tuple[Any, Any]]:
    """Return each threshold rounded up, and down, to a type of scores."""
    if dtype == np.float64:
        return [(limit, limit) for limit in thresholds]
    upper = round_to_float32(thresholds, towards=np.inf)
    lower = round_to_float32(thresholds, towards=-np.inf)
    return list(zip(upper, lower, strict=True))


def _count_by_search(
    thresholds: Float64Array, scores: FloatArray, weights: Float64Array | None, counts: Weights
) -> None:
    if weights is None and scores.size >= thresholds.size // 4:
        ordered = SortedScores(mark_read_only(np.sort(scores)))
        below, up_to = ordered.edges(thresholds)
        counts[1::2] += up_to - below
        counts[-1] += scores.size
        counts[:-1:2] += below
        counts[2::2] -= up_to
        return
    order = np.argsort(scores)
    position, tied = positions(thresholds, scores.take(order))
    position *= 2
    position += tied
    np.add.at(counts, position, 1 if weights is None else weights.take(order))


def positions(thresholds: Float64Array, scores: FloatArray) -> tuple[IndexArray, npt.NDArray[Any]]:
    """Return how many thresholds lie below each score, and if one is equal to it."""
    values = scores.astype(np.float64, copy=False)
    position = np.searchsorted(thresholds, values)
    if thresholds.size == 0:
        return position, np.zeros(values.size, dtype=np.bool_)
    return position, thresholds.take(position, mode="clip") == values


class _Searched:
    """Scores that are to be counted by a search, some thousands of them together.

    Parameters
    ----------
    thresholds : (k,) ndarray of float64
        What is searched for them.
    counts : (2 k + 1,) ndarray
        To be added to.
    """

    def __init__(self, thresholds: Float64Array, counts: Weights) -> None:
        self._thresholds, self._counts = thresholds, counts
        self._scores: list[FloatArray] = []
        self._masses: list[Float64Array] = []
        self._size = 0

    def add(self, block: FloatArray, masses: Float64Array | None, chosen: IndexArray) -> None:
        self._scores.append(block.take(chosen))
        if masses is not None:
            self._masses.append(masses.take(chosen))
        self._size += chosen.size
        if self._size > _BLOCK:
            self.count()

    def count(self) -> None:
        if self._size:
            masses = np.concatenate(self._masses) if self._masses else None
            _count_by_search(self._thresholds, np.concatenate(self._scores), masses, self._counts)
        self._scores, self._masses, self._size = [], [], 0


@attrs.frozen(eq=False)
class ThresholdGrid:
    """Equal cells over a range of thresholds, for scores of one type.

    The width of a cell is a power of two. A number so large is added to a score that
    what is left of it are whole cells; they stand in the lowest bits of the sum.

    Parameters
    ----------
    thresholds : (k,) ndarray of float64
        All thresholds, also those beyond the grid.
    low, high : floating
        Scores beyond are counted as these, whose cells are the first and the last.
    shift : floating
        What is added to a score.
    bits_of_first : int32 or int64
        The bits of the sum for the first cell, number 0.
    cell_of : (k + 1,) ndarray of intp
        Cell of each threshold, then one that does not exist.
    occupied : (n_cells,) ndarray of bool
        Whether a cell holds a threshold.
    first : (n_cells + 1,) ndarray of int32
        Number of thresholds in lower cells.
    crowded : (n_cells,) ndarray of bool, or None
        Whether a cell holds too many of them; None if none does.
    """

    thresholds: Float64Array
    low: Any
    high: Any
    shift: Any
    bits_of_first: Any
    cell_of: IndexArray
    occupied: npt.NDArray[np.bool_]
    first: npt.NDArray[np.int32]
    crowded: npt.NDArray[np.bool_] | None

    @classmethod
    def over(
        cls, thresholds: Float64Array, scores: FloatArray, n_scores: int | None = None
    ) -> "ThresholdGrid | None":
        """Lay a grid over thresholds, or return None if it would not pay for these scores.

        Parameters
        ----------
        thresholds : (k,) ndarray of float64
            Strictly ascending.
        scores : (n,) ndarray of float32 or float64
            Scores of the type and the range of those that will be counted.
        n_scores : int, optional
            How many these may be; `n` by default.
        """
        n_scores = scores.size if n_scores is None else n_scores
        if scores.size < _FEW_SCORES or n_scores < thresholds.size:
            return None
        places: FloatArray = thresholds
        if scores.dtype == np.float32:
            # A float32 score reaches a threshold iff it reaches this.
            places = round_to_float32(thresholds, towards=np.inf)
        sample = np.sort(scores[:: max(1, scores.size // _SAMPLE)])
        wanted = max(_CELLS_PER_THRESHOLD * thresholds.size, _CELLS)
        wanted = min(wanted, _CELLS_IN_CACHE, n_scores // _SCORES_PER_CELL)
        wanted = max(wanted, _FEWEST_CELLS_PER_THRESHOLD * thresholds.size, 1)
        laid = _lay(*_shared_range(places, sample), min(wanted, _MOST_CELLS), scores.dtype)
        if laid is None:
            return None
        low, high, shift, bits_of_first, n_cells = laid
        cell_of = _cells(places, low, high, shift, bits_of_first, np.empty_like(places))
        cell_of = cell_of.astype(np.intp)
        held = np.bincount(cell_of, minlength=n_cells)
        crowded = held > _CROWD
        first = np.zeros(n_cells + 1, dtype=np.int32)
        np.cumsum(held, out=first[1:])
        grid = cls(
            thresholds,
            low,
            high,
            shift,
            bits_of_first,
            np.append(cell_of, -1),
            held > 0,
            first,
            crowded if crowded.any() else None,
        )
        return grid if grid._pays_for(sample) else None

    def suits(self, scores: FloatArray) -> bool:
        """Tell from a few if the grid pays for some more scores, which may lie elsewhere."""
        few = scores[:: max(1, scores.size // _SMALL_SAMPLE)]
        # What paid by the larger sample is not to be given up by the chances of the smaller.
        return scores.size < _FEW_SCORES or self._pays_for(few, slack=2.0)

    def _pays_for(self, sample: FloatArray, slack: float = 1.0) -> bool:
        cells = self.cells(sample, np.empty_like(sample))
        met = self.first.take(cells + 1) - self.first.take(cells)
        searched = met > _CROWD
        few = np.count_nonzero(searched) <= slack * _CROWDED_SHARE * sample.size
        return bool(few and met[~searched].sum() <= slack * _COMPARISONS * sample.size)

    def cells(self, scores: FloatArray, work: FloatArray) -> Any:
        """Return the cell of each score, in the memory of `work`."""
        return _cells(scores, self.low, self.high, self.shift, self.bits_of_first, work)

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


class GridCounts:
    """Counts of scores by the cells of a grid, and by comparison where cells do not tell.

    Parameters
    ----------
    grid : ThresholdGrid
        The cells.
    counts : (2 k + 1,) ndarray of int64 or float64
        Counts at and between all thresholds. They are added to sooner or later; all
        is in them after `settle`.
    """

    def __init__(self, grid: ThresholdGrid, counts: Weights) -> None:
        self._grid, self._counts = grid, counts
        # A small table stays in cache; no more is added to it than it can hold.
        dtype = np.dtype(np.int32) if counts.dtype == np.int64 else counts.dtype
        self._per_cell: Weights = np.zeros(grid.occupied.size, dtype=dtype)
        self._room = _MOST_IN_A_CELL
        self._met: list[tuple[FloatArray, IndexArray, Float64Array | None]] = []
        self._n_met = 0
        self._searched = _Searched(grid.thresholds, counts)

    def add(self, scores: FloatArray, weights: Float64Array | None = None) -> None:
        """Count some more scores.

        Parameters
        ----------
        scores : (n,) ndarray
            Scores of the grid's type, without NaN.
        weights : (n,) ndarray of float64, optional
            Weight of each; one each by default. For counts of float64.
        """
        size = min(_BLOCK, scores.size)
        work, indices = np.empty(size, dtype=scores.dtype), np.empty(size, dtype=np.intp)
        held = np.empty(size, dtype=np.bool_)
        one = self._per_cell.dtype.type(1)
        for begin in range(0, scores.size, _BLOCK):
            block = scores[begin : begin + _BLOCK]
            masses = None if weights is None else weights[begin : begin + _BLOCK]
            if self._room < block.size:
                self._settle_cells()
            self._room -= block.size
            cells = self._grid.cells(block, work[: block.size])
            if cells.dtype != np.intp:
                indices[: block.size] = cells
                cells = indices[: block.size]
            np.add.at(self._per_cell, cells, one if masses is None else masses)
            # Any mode but the default saves a check; no cell lies beyond the table.
            self._grid.occupied.take(cells, out=held[: block.size], mode="wrap")
            chosen = np.flatnonzero(held[: block.size])
            if chosen.size:
                met = None if masses is None else masses.take(chosen)
                self._met.append((block.take(chosen), cells.take(chosen), met))
                self._n_met += chosen.size
                if self._n_met > _MET_AT_ONCE:
                    self._compare()

    def settle(self) -> None:
        """Add to the counts whatever is not yet in them."""
        self._compare()
        self._searched.count()
        self._settle_cells()

    def _compare(self) -> None:
        """Compare the scores in cells that hold thresholds with these."""
        if not self._met:
            return
        parts = tuple(zip(*self._met, strict=True))
        values, cells = np.concatenate(parts[0]), np.concatenate(parts[1])
        masses = None if parts[2][0] is None else np.concatenate(parts[2])
        self._met, self._n_met = [], 0
        # Parts so small that their many work arrays stay in cache, and with the process.
        for start in range(0, values.size, _MET_AT_ONCE):
            part = slice(start, start + _MET_AT_ONCE)
            self._compare_part(values[part], cells[part], None if masses is None else masses[part])

    def _compare_part(
        self, values: FloatArray, cells: IndexArray, masses: Float64Array | None
    ) -> None:
        grid = self._grid
        if grid.crowded is not None:
            crowd = grid.crowded.take(cells)
            if crowd.any():
                self._searched.add(values, masses, np.flatnonzero(crowd))
                values, cells = values[~crowd], cells[~crowd]
                masses = None if masses is None else masses[~crowd]
        nearest = grid.first.take(cells).astype(np.intp)
        entries = grid.entries(values.astype(np.float64, copy=False), cells, nearest)
        np.add.at(self._counts, entries, 1 if masses is None else masses)

    def _settle_cells(self) -> None:
        """Add the counts of cells to those of the gaps in which they lie."""
        grid, per_cell, dtype = self._grid, self._per_cell, self._counts.dtype
        # What was compared or searched for is counted already.
        per_cell[grid.occupied] = 0
        starts = np.flatnonzero(grid.occupied)
        self._counts[0] += per_cell[: starts[0]].sum(dtype=dtype)
        gaps = np.add.reduceat(per_cell, starts, dtype=dtype)
        self._counts[2 * grid.first[starts + 1]] += gaps
        per_cell[:] = 0
        self._room = _MOST_IN_A_CELL


def _shared_range(places: FloatArray, sample: FloatArray) -> tuple[Any, Any]:
    """Return the range of finite thresholds, cut to where most of a sorted sample lies.

    Of two that share no range, that of the thresholds; NaN if there is none.
    """
    start = int(np.searchsorted(places, -np.inf, side="right"))
    stop = int(np.searchsorted(places, np.inf, side="left"))
    if start >= stop:
        return np.nan, np.nan
    lowest, highest = places[start], places[stop - 1]
    spare = sample.size // _OUTERMOST
    low, high = max(lowest, sample[spare]), min(highest, sample[-1 - spare])
    return (low, high) if low < high else (lowest, highest)


def _lay(
    low: Any, high: Any, wanted: int, dtype: np.dtype[Any]
) -> tuple[Any, Any, Any, Any, int] | None:
    """Return how to compute cells, and their number, at most a few more than wanted.

    None if scores of this type cannot be cut so.
    """
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
    exact = [math.ldexp(number, width) for number in (first, last, beginning - first, beginning)]
    lowest, highest, shift, origin = (dtype.type(number) for number in exact)
    return lowest, highest, shift, origin.view(integer), last - first + 1


def _cells(
    places: FloatArray, low: Any, high: Any, shift: Any, bits_of_first: Any, work: FloatArray
) -> Any:
    """Return the cell of each place, in the memory of `work`; all operations are monotone."""
    np.clip(places, low, high, out=work)
    work += shift
    cells = work.view(bits_of_first.dtype)
    cells -= bits_of_first
    return cells
