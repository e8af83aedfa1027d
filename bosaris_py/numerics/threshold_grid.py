"""Exact counts of unsorted scores at and between thresholds, without a sort.

The range that thresholds and scores share is cut into a grid of equal cells. A score
in a cell without threshold is counted by its cell alone. Only scores in a cell with
thresholds are compared with them; those are few, because thresholds are mostly
not where most scores are.

It is exact because a cell is computed by operations each of which is monotone, also
after rounding, and the same for scores and thresholds: a score in a higher cell
than a threshold is above it, and an equal score lies in the same cell.

What does not suit a grid is counted otherwise: few thresholds by passes, few or
badly spread scores by sorting and searching.

Counts at and between k thresholds are one array of 2 k + 1 entries here: number 2 i
+ 1 is what is tied with threshold i, the even ones are the gaps.
"""

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FloatArray, frozen
from bosaris_py.numerics.sorted_scores import SortedScores, Weights, round_to_float32

__all__ = ["ThresholdGrid", "add_counts", "positions"]

Float64Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

# A block and its work arrays stay in the cache of one core.
_BLOCK = 2**17

# So few thresholds are counted by passes, of which each costs a tenth of a grid.
_FEW_THRESHOLDS = 6

# So few scores are searched for: a grid costs its tables.
_FEW_SCORES = 2**13

# Cells for each threshold, and how many at least, if scores are many; tables of the
# second size stay in cache. More than the third would take more memory than time.
_CELLS_PER_THRESHOLD, _CELLS, _MOST_CELLS = 2, 2**17, 2**22
_SCORES_PER_CELL = 8

# A cell with more thresholds is crowded: its scores are searched for.
_CROWD = 12

# Scores looked at to see where most are and if a grid pays: it does not if more than
# this share are searched for, or so many comparisons are made for each on average.
_SAMPLE, _CROWDED_SHARE, _COMPARISONS = 2**12, 0.05, 3.0

# One in so many scores at each end may lie beyond the grid.
_OUTERMOST = 512

# Added to a smaller number, the first leaves its nearest integer in the lowest bits;
# the second takes away the others.
_INTEGER_BITS: dict[np.dtype[Any], tuple[Any, Any]] = {
    np.dtype(np.float64): (np.float64(2.0**52), np.int64(0x4330000000000000)),
    np.dtype(np.float32): (np.float32(2.0**23), np.int32(0x4B000000)),
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
    per_cell = grid.no_counts(counts.dtype)
    grid.tally(scores, weights, per_cell, counts)
    grid.settle(per_cell, counts)


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
        ordered = SortedScores(frozen(np.sort(scores)))
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


def positions(thresholds: Float64Array, scores: FloatArray) -> tuple[Indices, npt.NDArray[Any]]:
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

    def add(self, block: FloatArray, masses: Float64Array | None, chosen: Indices) -> None:
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

    Cell 0 is all that lies below the grid, and the last one all above it.

    Parameters
    ----------
    thresholds : (k,) ndarray of float64
        All thresholds, also those beyond the grid.
    low, scale : floating
        A score's place in the grid is (score - low) * scale, in the type of scores.
    n_cells : int
        Number of cells within the grid.
    cell_of : (k + 1,) ndarray of intp
        Cell of each threshold, then one that does not exist.
    occupied : (n_cells + 3,) ndarray of bool
        Whether a cell holds a threshold.
    first : (n_cells + 4,) ndarray of int32
        Number of thresholds in lower cells.
    crowded : (n_cells + 3,) ndarray of bool, or None
        Whether a cell holds too many of them; None if none does.
    """

    thresholds: Float64Array
    low: Any
    scale: Any
    n_cells: int
    cell_of: Indices
    occupied: npt.NDArray[np.bool_]
    first: npt.NDArray[np.int32]
    crowded: npt.NDArray[np.bool_] | None

    @classmethod
    def over(cls, thresholds: Float64Array, scores: FloatArray) -> "ThresholdGrid | None":
        """Lay a grid over thresholds, or return None if it would not pay for these scores."""
        if scores.size < max(_FEW_SCORES, thresholds.size):
            return None
        places: FloatArray = thresholds
        if scores.dtype == np.float32:
            # A float32 score reaches a threshold iff it reaches this.
            places = round_to_float32(thresholds, towards=np.inf)
        sample = np.sort(scores[:: max(1, scores.size // _SAMPLE)])
        low, high = _shared_range(places, sample)
        wanted = max(
            _CELLS_PER_THRESHOLD * thresholds.size, min(_CELLS, scores.size // _SCORES_PER_CELL)
        )
        n_cells = 2 ** (min(wanted, _MOST_CELLS) - 1).bit_length()
        with np.errstate(all="ignore"):
            scale = scores.dtype.type(n_cells / (np.float64(high) - np.float64(low)))
            highest = (high - low) * scale
        if not (0.0 < scale < np.inf and np.isfinite(highest)):
            return None
        cell_of = _cells(places, low, scale, n_cells, np.empty_like(places)).astype(np.intp)
        held = np.bincount(cell_of, minlength=n_cells + 3)
        crowded = held > _CROWD
        first = np.zeros(n_cells + 4, dtype=np.int32)
        np.cumsum(held, out=first[1:])
        grid = cls(
            thresholds,
            low,
            scale,
            n_cells,
            np.append(cell_of, -1),
            held > 0,
            first,
            crowded if crowded.any() else None,
        )
        return grid if grid._pays_for(sample) else None

    def suits(self, scores: FloatArray) -> bool:
        """Tell from a sample if the grid pays for some more scores, which may lie elsewhere."""
        return scores.size < _FEW_SCORES or self._pays_for(
            scores[:: max(1, scores.size // _SAMPLE)]
        )

    def _pays_for(self, sample: FloatArray) -> bool:
        cells = _cells(sample, self.low, self.scale, self.n_cells, np.empty_like(sample))
        met = self.first.take(cells + 1) - self.first.take(cells)
        searched = met > _CROWD
        few = np.count_nonzero(searched) <= _CROWDED_SHARE * sample.size
        return bool(few and met[~searched].sum() <= _COMPARISONS * sample.size)

    def no_counts(self, dtype: npt.DTypeLike) -> Weights:
        """Return zeros for all cells."""
        return np.zeros(self.n_cells + 3, dtype=dtype)

    def tally(
        self,
        scores: FloatArray,
        weights: Float64Array | None,
        per_cell: Weights,
        counts: Weights,
    ) -> None:
        """Add scores to the counts of cells, and to those of thresholds where cells do not tell.

        Parameters
        ----------
        scores : (n,) ndarray
            Scores of the grid's type, without NaN.
        weights : (n,) ndarray of float64, or None
            Weight of each; one each if None.
        per_cell : (n_cells + 3,) ndarray
            Counts of cells, to be settled in the end.
        counts : (2 k + 1,) ndarray
            Counts at and between all thresholds.
        """
        work = np.empty(min(_BLOCK, scores.size), dtype=scores.dtype)
        searched = _Searched(self.thresholds, counts)
        for begin in range(0, scores.size, _BLOCK):
            block = scores[begin : begin + _BLOCK]
            masses = None if weights is None else weights[begin : begin + _BLOCK]
            cells = _cells(block, self.low, self.scale, self.n_cells, work[: block.size])
            cells = cells.astype(np.intp, copy=False)
            np.add.at(per_cell, cells, 1 if masses is None else masses)
            chosen = np.flatnonzero(self.occupied.take(cells))
            if self.crowded is not None:
                crowd = self.crowded.take(cells.take(chosen))
                searched.add(block, masses, chosen[crowd])
                chosen = chosen[~crowd]
            values = block.take(chosen).astype(np.float64, copy=False)
            held_by = cells.take(chosen)
            entries = self._entries(values, held_by, self.first.take(held_by).astype(np.intp))
            np.add.at(counts, entries, 1 if masses is None else masses.take(chosen))
        searched.count()

    def settle(self, per_cell: Weights, counts: Weights) -> None:
        """Add the counts of cells to those of the gaps in which they lie."""
        # What was compared or searched for is counted already.
        per_cell[self.occupied] = 0
        starts = np.flatnonzero(self.occupied)
        counts[0] += per_cell[: starts[0]].sum()
        counts[2 * self.first[starts + 1]] += np.add.reduceat(per_cell, starts)

    def _entries(self, values: Float64Array, cells: Indices, nearest: Indices) -> Indices:
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
            entries[ahead] = self._entries(
                values.take(ahead), cells.take(ahead), following.take(again)
            )
        return entries


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


def _cells(places: FloatArray, low: Any, scale: Any, n_cells: int, work: FloatArray) -> Any:
    """Return the cell of each place, in the memory of `work`; all operations are monotone."""
    bits, others = _INTEGER_BITS[places.dtype]
    with np.errstate(over="ignore", invalid="ignore"):
        np.subtract(places, low, out=work)
        np.multiply(work, scale, out=work)
    np.clip(work, -1.0, n_cells + 1.0, out=work)
    work += bits + places.dtype.type(1.0)
    cells = work.view(others.dtype)
    cells -= others
    return cells
