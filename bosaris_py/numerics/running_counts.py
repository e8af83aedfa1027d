"""Exact counts at and between thresholds of scores that arrive block by block.

The range of the thresholds is cut into equal cells. Most cells hold no threshold, and
all that is asked of their scores is how many there are. Scores in the other cells are
set aside, and when there are enough of them they are sorted and the thresholds looked
up in them. That is exact because a cell is computed by operations each of which is
monotone, also after rounding, and the same for scores and thresholds: a score in a
higher cell than a threshold is above it, and an equal score lies in the same cell.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FloatArray, describe, frozen, invalid
from bosaris_py.numerics.sorted_scores import SortedScores, round_to_float32

__all__ = ["RunningCounts"]

Float64Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

# A block and its work arrays stay in the cache of one core.
_BLOCK = 2**16

# So few thresholds are compared with all scores, each in a tenth of the time that the
# cells take.
_FEW_THRESHOLDS = 6

# Numbers of cells to choose from, with the time that a score takes: up to the third
# the tables fit into the cache.
_CELLS = {2**13: 3.4, 2**15: 3.4, 2**17: 3.4, 2**19: 3.7, 2**20: 4.4}
# What it takes more if it must be set aside.
_TIME_ASIDE = 40.0
# Scores that are looked at for this choice.
_SAMPLE = 2**10

# Scores set aside until they are sorted: several for each threshold, as each is looked
# up then, within limits.
_ASIDE_PER_THRESHOLD = 4
_LEAST_ASIDE, _MOST_ASIDE = 2**16, 2**22

# Of the thresholds at each end, one in so many may be an outlier: one that is so many
# times further from the others than those are spread.
_OUTLIERS, _WIDENED = 256, 8.0

# Added to a smaller number, the first leaves its nearest integer in the lowest bits;
# the second takes away the others.
_INTEGER_BITS: dict[np.dtype[Any], tuple[Any, Any]] = {
    np.dtype(np.float64): (np.float64(2.0**52), np.int64(0x4330000000000000)),
    np.dtype(np.float32): (np.float32(2.0**23), np.int32(0x4B000000)),
}


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
    some megabytes.

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
        limits: Float64Array = np.asarray(thresholds, dtype=np.float64)
        if limits.ndim != 1 or not (limits[1:] > limits[:-1]).all() or np.isnan(limits[:1]).any():
            expected = "be one-dimensional and strictly ascending"
            raise invalid("thresholds", "RunningCounts", expected, describe(limits))
        start = int(np.searchsorted(limits, -np.inf, side="right"))
        stop = int(np.searchsorted(limits, np.inf, side="left"))
        self._infinite = [limits[i] for i in (0, -1) if limits.size and np.isinf(limits[i])]
        self._finite = limits[start:stop]
        self._at_infinite = dict.fromkeys(self._infinite, 0)
        self._counters: dict[np.dtype[Any], _FewCounts | _CellCounts] = {}

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
        for limit in self._infinite:
            self._at_infinite[limit] += int(np.count_nonzero(scores == limit))
        counter = self._counters.get(scores.dtype)
        if counter is None:
            counter = _counter(self._finite, scores)
            self._counters[scores.dtype] = counter
        counter.add(scores)

    def result(self) -> tuple[Counts, Counts]:
        """Return the counts of all scores so far.

        Returns
        -------
        at : (k,) ndarray of int64
            Number of scores equal to each threshold.
        between : (k + 1,) ndarray of int64
            Numbers strictly below the first, in each gap, above the last.
        """
        at = np.zeros(self._finite.size, dtype=np.int64)
        between = np.zeros(self._finite.size + 1, dtype=np.int64)
        for counter in self._counters.values():
            counter.put_into(at, between)
        for limit in self._infinite:
            count = self._at_infinite[limit]
            # Nothing is beyond infinity.
            if limit < 0:
                between[0] -= count
                at, between = np.append(count, at), np.append(0, between)
            else:
                between[-1] -= count
                at, between = np.append(at, count), np.append(between, 0)
        return frozen(at), frozen(between)


def _counter(thresholds: Float64Array, scores: FloatArray) -> "_FewCounts | _CellCounts":
    """Return a counter for scores of the type, and with the spread, of the first ones."""
    if thresholds.size <= _FEW_THRESHOLDS:
        return _FewCounts(thresholds, scores.dtype)
    return _CellCounts(thresholds, scores)


def _as_places(thresholds: Float64Array, dtype: np.dtype[Any], towards: float) -> FloatArray:
    """Return thresholds as numbers of the type of scores, rounded up or down."""
    return round_to_float32(thresholds, towards=towards) if dtype == np.float32 else thresholds


class _FewCounts:
    """Compares all scores with each of few finite thresholds.

    Parameters
    ----------
    thresholds : (k,) ndarray of float64
        The thresholds.
    dtype : dtype
        Of the scores.
    """

    def __init__(self, thresholds: Float64Array, dtype: np.dtype[Any]) -> None:
        # A score reaches a threshold iff it reaches the next number of its type.
        self._reached = _as_places(thresholds, dtype, np.inf)
        self._passed = _as_places(thresholds, dtype, -np.inf)
        self._below = np.zeros(thresholds.size, dtype=np.int64)
        self._up_to = np.zeros(thresholds.size, dtype=np.int64)
        self._size = 0

    def add(self, scores: FloatArray) -> None:
        """Count some more scores."""
        self._size += scores.size
        for start in range(0, scores.size, _BLOCK):
            block = scores[start : start + _BLOCK]
            for i, (reached, passed) in enumerate(zip(self._reached, self._passed, strict=True)):
                self._below[i] += np.count_nonzero(block < reached)
                self._up_to[i] += np.count_nonzero(block <= passed)

    def put_into(self, at: Counts, between: Counts) -> None:
        """Add all counts to those of the thresholds and of the gaps."""
        at += self._up_to - self._below
        between += np.append(self._below, self._size) - np.append(0, self._up_to)


class _CellCounts:
    """Counts scores cell by cell, and sets those aside that share one with a threshold.

    Parameters
    ----------
    thresholds : (k,) ndarray of float64
        Finite thresholds, at least two.
    scores : ndarray of float32 or float64
        The first scores, which all others shall resemble.
    """

    def __init__(self, thresholds: Float64Array, scores: FloatArray) -> None:
        self._thresholds = thresholds
        # A score is below a threshold iff it is below the next number of its type.
        places = _as_places(thresholds, scores.dtype, np.inf)
        self._n_low, n_high = _outliers(thresholds)
        span = places[self._n_low], places[thresholds.size - 1 - n_high]
        sample = scores[:: max(1, scores.size // _SAMPLE)].astype(np.float64)
        self._grid = _Grid(places, span, _best_number(thresholds, span, sample))
        # Cell 0 holds all that is below the grid, mostly most of the scores. Where there
        # are thresholds below the grid too, these scores have a counter of their own.
        self._low: RunningCounts | None = None
        if self._n_low and self._grid.is_good:
            self._low = RunningCounts(thresholds[: self._n_low])
            self._grid.occupied[0] = False
        self._per_cell = np.zeros(self._grid.occupied.size, dtype=np.int32)
        self._counted = np.zeros(self._grid.occupied.size, dtype=np.int64)
        self._n_counted = 0
        self._aside: list[FloatArray] = []
        self._n_aside = 0
        most = _ASIDE_PER_THRESHOLD * thresholds.size
        self._room = min(max(most, _LEAST_ASIDE), _MOST_ASIDE)
        self._below = np.zeros(thresholds.size, dtype=np.int64)
        self._up_to = np.zeros(thresholds.size, dtype=np.int64)
        self._n_sorted = 0

    def add(self, scores: FloatArray) -> None:
        """Count some more scores."""
        grid = self._grid
        size = min(_BLOCK, scores.size)
        work, indices = np.empty(size, dtype=scores.dtype), np.empty(size, dtype=np.intp)
        one = np.int32(1)
        for start in range(0, scores.size, _BLOCK):
            block = scores[start : start + _BLOCK]
            cells = grid.cells(block, work[: block.size], indices[: block.size])
            np.add.at(self._per_cell, cells, one)
            aside = block.take(np.flatnonzero(grid.occupied.take(cells)))
            self._aside.append(aside)
            self._n_aside += aside.size
            if self._low is not None:
                self._low.add(block[cells == 0])
            self._n_counted += block.size
            if self._n_counted > np.iinfo(np.int32).max - _BLOCK:
                self._fold_cells()
            if self._n_aside > self._room:
                self._sort_aside()

    def _fold_cells(self) -> None:
        """Move counts of cells to where there is room for larger ones."""
        self._counted += self._per_cell
        self._per_cell[:] = 0
        self._n_counted = 0

    def _sort_aside(self) -> None:
        """Count the scores that were set aside."""
        if self._n_aside == 0:
            return
        ordered = np.concatenate(self._aside)
        self._aside, self._n_aside = [], 0
        ordered.sort()
        below, up_to = SortedScores(frozen(ordered)).edges(self._thresholds)
        self._below += below
        self._up_to += up_to
        self._n_sorted += ordered.size

    def put_into(self, at: Counts, between: Counts) -> None:
        """Add all counts to those of the thresholds and of the gaps."""
        self._fold_cells()
        self._sort_aside()
        at += self._up_to - self._below
        between += np.append(self._below, self._n_sorted) - np.append(0, self._up_to)
        # Scores in cells without threshold belong to the gap above all lower cells.
        per_cell = self._counted.copy()
        per_cell[self._grid.occupied] = 0
        if self._low is not None:
            low_at, low_between = self._low.result()
            at[: self._n_low] += low_at
            between[: self._n_low + 1] += low_between
            per_cell[0] = 0
        np.add.at(between, self._grid.gap_of, per_cell)


class _Grid:
    """Equal cells over a range of thresholds; the first and the last hold what is beyond.

    Parameters
    ----------
    places : (k,) ndarray of float32 or float64
        The thresholds as numbers of the type of the scores, ascending.
    span : pair of float
        The first and the last that the cells are for.
    n_cells : int
        Number of cells between these.
    """

    def __init__(self, places: FloatArray, span: tuple[Any, Any], n_cells: int) -> None:
        self._low, high = span
        self._n_cells = n_cells
        with np.errstate(all="ignore"):
            width = np.float64(high) - np.float64(self._low)
            self._scale = places.dtype.type(n_cells / width)
            highest = (high - self._low) * self._scale
        # Else the numbers are too close or too far apart, and all share one cell.
        self.is_good = bool(0.0 < self._scale < np.inf and np.isfinite(highest))
        cells = self.cells(places, np.empty_like(places), np.empty(places.size, dtype=np.intp))
        held = np.bincount(cells, minlength=n_cells + 3)
        self.occupied = held > 0
        # Number of thresholds in all lower cells: the gap of a cell without threshold.
        self.gap_of = np.cumsum(held) - held

    def cells(
        self, scores: FloatArray, work: FloatArray, indices: npt.NDArray[np.intp]
    ) -> npt.NDArray[np.intp]:
        """Compute the cell of each score into `indices`, by monotone operations alone."""
        if not self.is_good:
            indices[:] = 0
            return indices
        bits, others = _INTEGER_BITS[work.dtype]
        with np.errstate(over="ignore"):
            np.subtract(scores, self._low, out=work)
            np.multiply(work, self._scale, out=work)
        np.clip(work, -1.0, self._n_cells + 1.0, out=work)
        work += bits + work.dtype.type(1.0)
        numbers: npt.NDArray[Any] = work.view(others.dtype)
        numbers -= others
        indices[:] = numbers
        return indices


def _outliers(thresholds: Float64Array) -> tuple[int, int]:
    """Return how many of the lowest and highest thresholds would make cells too wide."""
    n = thresholds.size
    few = max(1, n // _OUTLIERS)
    first, last = thresholds[few], thresholds[n - 1 - few]
    with np.errstate(over="ignore"):
        width = _WIDENED * (last - first)
        n_low = int(np.searchsorted(thresholds, first - width, side="left"))
        n_high = n - int(np.searchsorted(thresholds, last + width, side="right"))
    return n_low, n_high


def _best_number(thresholds: Float64Array, span: tuple[Any, Any], sample: Float64Array) -> int:
    """Return the number of cells with which scores like a sample are counted fastest."""
    after = np.searchsorted(thresholds, sample)
    above = thresholds.take(after, mode="clip") - sample
    below = sample - thresholds.take(after - 1, mode="clip")
    with np.errstate(invalid="ignore"):
        distance = np.minimum(np.abs(above), np.abs(below))
    width = float(span[1]) - float(span[0])

    def time(n_cells: int) -> float:
        # A score shares its cell with a threshold about if it is half a cell away.
        aside = np.count_nonzero(distance < 0.5 * width / n_cells) / sample.size
        return _CELLS[n_cells] + _TIME_ASIDE * aside

    return min(_CELLS, key=time)
