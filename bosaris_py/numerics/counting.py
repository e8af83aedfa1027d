"""Exact counts of many unsorted scores at and between few thresholds, without a sort.

The range of the thresholds is cut into a grid of equal cells. A score in a cell
without threshold is counted by its cell alone. Only scores in a cell with
thresholds are compared with them; those are few, because thresholds are mostly
not where most scores are.

It is exact because a cell is computed by operations each of which is monotone, also
after rounding, and the same for scores and thresholds: a score in a higher cell
than a threshold is above it, and an equal score lies in the same cell.

What does not suit a grid is counted otherwise: few thresholds by passes, few or
badly spread scores by sorting and searching.
"""

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import (
    FloatArray,
    as_vector,
    as_weights,
    check_not_empty,
    check_weight_range,
    describe,
    frozen,
    invalid,
    refuse_nan,
)
from bosaris_py.numerics.sorted_scores import SortedScores, Weights, round_to_float32

__all__ = ["as_trials", "count_between", "count_checked", "count_sorted"]

Float64Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

# A block and its work arrays stay in the cache of one core.
_BLOCK = 2**16

# So few thresholds are counted by passes, of which each costs a tenth of a grid.
_FEW_THRESHOLDS = 6

# So few scores are searched for: a grid costs its tables.
_FEW_SCORES = 2**13

# About one cell for each threshold, but tables that stay in cache.
_LEAST_CELLS, _MOST_CELLS = 2**14, 2**22

# A cell with more thresholds is crowded: its scores are searched for.
_CROWD = 12

# Scores looked at to see if a grid pays, and the share of them in crowded cells at
# which it does not.
_SAMPLE, _CROWDED_SHARE = 2**12, 0.05

# One in so many thresholds at each end, at least one, is set apart ...
_OUTERMOST = 256
# ... where together they widen the range more than so many times.
_WIDENED = 8.0

# Added to a smaller number, the first leaves its nearest integer in the lowest bits;
# the second takes away the others.
_INTEGER_BITS: dict[np.dtype[Any], tuple[Any, Any]] = {
    np.dtype(np.float64): (np.float64(2.0**52), np.int64(0x4330000000000000)),
    np.dtype(np.float32): (np.float32(2.0**23), np.int32(0x4B000000)),
}

# A sum of whole weights is exact up to here.
_EXACT_SUM = 2.0**53


def as_trials(
    scores: npt.ArrayLike, weights: npt.ArrayLike | None, name: str, owner: str
) -> tuple[FloatArray, Float64Array | None]:
    """Return the scores of a class, and their weights if they have any, as checked arrays."""
    array = as_vector(scores, name, owner)
    check_not_empty(array, name, owner)
    # The minimum is NaN if any score is, and costs less than a search for NaN.
    if np.isnan(array.min()):
        refuse_nan(array, name, owner)
    checked = as_weights(weights, array.size, f"{name}_weights", owner)
    check_weight_range(checked, f"{name}_weights", owner)
    return array, checked


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
    owner = "count_between"
    limits: Float64Array = np.asarray(thresholds, dtype=np.float64)
    if limits.ndim != 1 or not (limits[1:] > limits[:-1]).all() or np.isnan(limits[:1]).any():
        expected = "be one-dimensional and strictly ascending"
        raise invalid("thresholds", owner, expected, describe(limits))
    array = as_vector(scores, "scores", owner)
    if array.size and np.isnan(array.min()):
        refuse_nan(array, "scores", owner)
    return count_checked(limits, array, as_weights(weights, array.size, "weights", owner))


def count_checked(
    thresholds: Float64Array, scores: FloatArray, weights: Float64Array | None
) -> tuple[Weights, Weights]:
    """Do what `count_between` does, with arrays that have been checked, also for NaN."""
    whole = weights is None or _are_whole(weights)
    if scores.size < thresholds.size // 4:
        return _count_sparsely(thresholds, scores, weights, whole=whole)
    # Even entries count gaps, odd ones ties: number 2 i + 1 belongs to threshold i.
    kind = np.int64 if weights is None else np.float64
    counts: Weights = np.zeros(2 * thresholds.size + 1, dtype=kind)
    _count(thresholds, scores, weights, counts)
    if whole:
        counts = counts.astype(np.int64, copy=False)
    counts = frozen(counts)
    return counts[1::2], counts[::2]


def count_sorted(thresholds: Float64Array, scores: SortedScores) -> tuple[Weights, Weights]:
    """Do what `count_between` does, with scores that are sorted already."""
    if scores.size < thresholds.size // 4:
        return _count_sparsely(thresholds, scores.values, scores.weights, whole=scores.is_whole)
    below, up_to = scores.edges(thresholds)
    edges = np.zeros(2 * thresholds.size + 1, dtype=np.int64)
    edges[1::2] = below
    edges[2::2] = up_to
    counts = frozen(scores.weight_from(edges))
    return counts[1::2], counts[::2]


def _are_whole(weights: Float64Array) -> bool:
    return bool((weights == np.rint(weights)).all()) and float(weights.sum()) < _EXACT_SUM


def _count(
    thresholds: Float64Array, scores: FloatArray, weights: Float64Array | None, counts: Weights
) -> None:
    """Add to `counts`, by the way that suits."""
    if scores.size == 0:
        return
    if thresholds.size <= _FEW_THRESHOLDS and scores.size > thresholds.size:
        _count_by_passes(thresholds, scores, weights, counts)
        return
    if scores.size > max(_FEW_SCORES, thresholds.size):
        grid = _Grid.over(thresholds, scores)
        if grid is not None and grid.suits(scores):
            grid.count(scores, weights, counts)
            return
    _count_by_search(thresholds, scores, weights, counts)


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
    position, tied = _positions(thresholds, scores)
    position *= 2
    position += tied
    np.add.at(counts, position, 1 if weights is None else weights)


def _positions(thresholds: Float64Array, scores: FloatArray) -> tuple[Indices, npt.NDArray[Any]]:
    """Return how many thresholds lie below each score, and if one is equal to it."""
    values = scores.astype(np.float64, copy=False)
    position = np.searchsorted(thresholds, values)
    if thresholds.size == 0:
        return position, np.zeros(values.size, dtype=np.bool_)
    return position, thresholds.take(position, mode="clip") == values


def _count_sparsely(
    thresholds: Float64Array,
    scores: FloatArray,
    weights: Float64Array | None,
    *,
    whole: bool,
) -> tuple[Weights, Weights]:
    """Count few scores at many thresholds; where no score is tied, in one array."""
    order = np.argsort(scores, kind="stable")
    position, tied = _positions(thresholds, scores[order])
    masses = np.ones(scores.size, dtype=np.int64) if weights is None else weights[order]
    if whole:
        masses = masses.astype(np.int64, copy=False)
    between = np.zeros(thresholds.size + 1, dtype=masses.dtype)
    np.add.at(between, position[~tied], masses[~tied])
    if not tied.any():
        nothing = frozen(np.zeros(1, dtype=masses.dtype))
        return np.broadcast_to(nothing, thresholds.shape), frozen(between)
    at = np.zeros(thresholds.size, dtype=masses.dtype)
    np.add.at(at, position[tied], masses[tied])
    return frozen(at), frozen(between)


@attrs.frozen(eq=False)
class _Grid:
    """Equal cells over the range of some thresholds, for scores of one type.

    Cell 0 lies below the first threshold of the grid and the last one above its last.

    Parameters
    ----------
    thresholds : (k,) ndarray of float64
        All thresholds, those set apart too.
    apart : tuple of int
        Index of the first threshold in the grid, and of the first after it.
    low, scale : floating
        A score's place in the grid is (score - low) * scale, in the type of scores.
    n_cells : int
        Number of cells between the first and the last threshold.
    cell_of : (m + 1,) ndarray of intp
        Cell of each threshold in the grid, then one that does not exist.
    occupied : (n_cells + 3,) ndarray of bool
        Whether a cell holds a threshold.
    first : (n_cells + 3,) ndarray of int32
        Index among the grid's thresholds of the first one in or after a cell.
    crowded : (n_cells + 3,) ndarray of bool, or None
        Whether a cell holds too many of them; None if none does.
    """

    thresholds: Float64Array
    apart: tuple[int, int]
    low: Any
    scale: Any
    n_cells: int
    cell_of: Indices
    occupied: npt.NDArray[np.bool_]
    first: npt.NDArray[np.int32]
    crowded: npt.NDArray[np.bool_] | None

    @property
    def inside(self) -> Float64Array:
        """The thresholds in the grid."""
        return self.thresholds[slice(*self.apart)]

    @classmethod
    def over(cls, thresholds: Float64Array, scores: FloatArray) -> "_Grid | None":
        """Lay a grid over thresholds, or return None if none can be."""
        start, stop = _bulk(thresholds)
        inside = thresholds[start:stop]
        places: FloatArray = inside
        if scores.dtype == np.float32:
            # A float32 score reaches a threshold iff it reaches this.
            places = round_to_float32(inside, towards=np.inf)
        if places.size < 2 or not np.isfinite(places[-1]):
            return None
        wanted = min(max(thresholds.size, _LEAST_CELLS), _MOST_CELLS)
        n_cells = 2 ** (wanted - 1).bit_length()
        low = places[0]
        with np.errstate(all="ignore"):
            scale = scores.dtype.type(n_cells / (np.float64(places[-1]) - np.float64(low)))
            highest = (places[-1] - low) * scale
        if not (0.0 < scale < np.inf and np.isfinite(highest)):
            return None
        cells = np.empty_like(places)
        cell_of = _cells(places, low, scale, n_cells, cells).astype(np.intp)
        held = np.bincount(cell_of, minlength=n_cells + 3)
        crowded = held > _CROWD
        first = np.cumsum(held)
        first -= held
        return cls(
            thresholds,
            (start, stop),
            low,
            scale,
            n_cells,
            np.append(cell_of, -1),
            held > 0,
            first.astype(np.int32),
            crowded if crowded.any() else None,
        )

    def suits(self, scores: FloatArray) -> bool:
        """Tell from a sample of the scores if few enough lie in crowded cells."""
        if self.crowded is None:
            return True
        sample = scores[:: max(1, scores.size // _SAMPLE)]
        cells = _cells(sample, self.low, self.scale, self.n_cells, np.empty_like(sample))
        return bool(np.mean(self.crowded.take(cells)) <= _CROWDED_SHARE)

    def count(self, scores: FloatArray, weights: Float64Array | None, counts: Weights) -> None:
        """Add to the counts of all thresholds."""
        start, stop = self.apart
        own_counts = counts[2 * start : 2 * stop + 1]
        per_cell = np.zeros(self.n_cells + 3, dtype=counts.dtype)
        work = np.empty(min(_BLOCK, scores.size), dtype=scores.dtype)
        for begin in range(0, scores.size, _BLOCK):
            block = scores[begin : begin + _BLOCK]
            masses = None if weights is None else weights[begin : begin + _BLOCK]
            if stop - start < self.thresholds.size:
                block, masses = self._count_apart(block, masses, counts)
            cells = _cells(block, self.low, self.scale, self.n_cells, work[: block.size])
            cells = cells.astype(np.intp, copy=False)
            np.add.at(per_cell, cells, 1 if masses is None else masses)
            self._compare(block, masses, cells, own_counts)
        # What was compared is counted already.
        per_cell[self.occupied] = 0
        starts = np.flatnonzero(self.occupied)
        own_counts[0] += per_cell[: starts[0]].sum()
        own_counts[2 * self.first[starts + 1]] += np.add.reduceat(per_cell, starts)

    def _count_apart(
        self, block: FloatArray, masses: Float64Array | None, counts: Weights
    ) -> tuple[FloatArray, Float64Array | None]:
        """Count the scores beyond the grid, where thresholds are set apart; return the others."""
        start, stop = self.apart
        inside = np.ones(block.size, dtype=np.bool_)
        ((reached, _), (_, passed)) = _comparable(self.thresholds[[start, stop - 1]], block.dtype)
        if start:
            low = block < reached
            inside &= ~low
            some = None if masses is None else masses[low]
            _count(self.thresholds[:start], block[low], some, counts[: 2 * start + 1])
        if stop < self.thresholds.size:
            high = block > passed
            inside &= ~high
            some = None if masses is None else masses[high]
            _count(self.thresholds[stop:], block[high], some, counts[2 * stop :])
        return block[inside], None if masses is None else masses[inside]

    def _compare(
        self, block: FloatArray, masses: Float64Array | None, cells: Indices, counts: Weights
    ) -> None:
        """Count the scores in cells that hold thresholds."""
        chosen = np.flatnonzero(self.occupied.take(cells))
        if self.crowded is not None:
            crowd = self.crowded.take(cells.take(chosen))
            searched, chosen = chosen[crowd], chosen[~crowd]
            some = None if masses is None else masses.take(searched)
            _count_by_search(self.inside, block.take(searched), some, counts)
        values = block.take(chosen).astype(np.float64, copy=False)
        held_by = cells.take(chosen)
        entries = self._entries(values, held_by, self.first.take(held_by).astype(np.intp))
        np.add.at(counts, entries, 1 if masses is None else masses.take(chosen))

    def _entries(self, values: Float64Array, cells: Indices, nearest: Indices) -> Indices:
        """Return the entry of each score in the counts, none of them below a threshold before.

        `nearest` is the first threshold that was not compared yet.
        """
        limits = self.inside.take(nearest)
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


def _bulk(thresholds: Float64Array) -> tuple[int, int]:
    """Return where the thresholds begin and end that one grid should cover.

    Left out are infinite ones, and outliers that would make the cells too wide.
    """
    start = int(np.searchsorted(thresholds, -np.inf, side="right"))
    stop = int(np.searchsorted(thresholds, np.inf, side="left"))
    spare = max(1, (stop - start) // _OUTERMOST)
    first, last = start + spare, stop - spare - 1
    if last <= first:
        return start, stop
    with np.errstate(over="ignore"):
        width = _WIDENED * (thresholds[last] - thresholds[first])
        if thresholds[first] - thresholds[start] > width:
            start = first
        if thresholds[stop - 1] - thresholds[last] > width:
            stop = last + 1
    return start, stop


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
