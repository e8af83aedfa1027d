r"""Bootstrap replicates of the EER from the part of the ROC where it is decided.

The EER of the convex hull is the greatest minimum cost of all priors, so it depends on
the scores near one threshold. The axis of scores is cut into a *window* around that
threshold and a few large cells on either side. An i.i.d. replicate is a multinomial
draw of how many trials of each class fall into the window and the cells; the trials in the
window are then picked one by one.

Let :math:`\bar e` be the EER of the points that are known, and :math:`\pi` the prior at
which it is the minimum cost. No point inside a cell costs less than its corner (misses at
the left edge, false alarms at the right edge). If at :math:`\pi` no corner costs less than
:math:`\bar e`, then :math:`\bar e` is the EER of the replicate. Otherwise the trials of
these cells are divided, too, until no corner is below. So replicates have exactly the
distribution of the plain bootstrap, wherever the window lies; where it lies well, hardly
one in a hundred needs its cells.
"""

from typing import Any, ClassVar, Self

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import frozen
from bosaris_py.uncertainty.weighted_curve import CurveIndex

__all__ = ["EERWindow", "eers_of_points"]

Float64Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Cells = npt.NDArray[np.unsignedinteger[npt.NBitBase]]

# Two costs closer than this are one cost that was rounded in two ways.
_ROUNDING = 2.0**-45

# Points whose cost on the data is within so many standard errors of the least are in the
# window; corners of cells are outside of somewhat fewer.
_IN_WINDOW = 6.5
_IN_CELLS = 5.0

# The prior at which a replicate is decided is another one in each; corners stay clear for
# priors so many standard deviations away, which a few replicates tell.
_IN_PRIORS, _PILOTS = 1.25, 40

# With more trials than this in the window, drawing replicates lazily is quicker.
_MOST_TRIALS = 5_000

# With fewer trials in all, too: a cell is soon needed where scores are few.
_FEWEST_TRIALS = 1_000

# Points that are held for a block of replicates: they stay in the cache, and are too few for
# the memory to be asked of the system anew each time.
_NUMBERS_AT_A_TIME = 2**14

# How far from the diagonal the search for the EER begins, in points.
_HALF_CHORD = 32


@attrs.frozen(eq=False)
class _ClassWindow:
    """The trials of one class: in the window one by one, elsewhere cell by cell.

    Parameters
    ----------
    below : (n_edges,) ndarray of int64
        Number of trials below each edge of the axis, from none to all.
    chances : (n_cells,) ndarray of float64
        Share of the trials in each cell; the window is one of them.
    number : int
        The number of the window among the cells.
    pieces : (n,) ndarray of unsigned int
        For each trial in the window, how many of the window's edges it lies above.
    n_pieces : int
        Number of pieces of the window.
    """

    below: IntArray
    chances: Float64Array
    number: int
    pieces: Cells
    n_pieces: int

    @classmethod
    def of(cls, below: IntArray, edges: IntArray, number: int) -> Self:
        """Cut at some of the edges; cell `number` is the window."""
        first, last = edges[number], edges[number + 1]
        inside = np.diff(below[first : last + 1])
        kind = np.min_scalar_type(inside.size)
        pieces = np.repeat(np.arange(inside.size, dtype=kind), inside)
        chances = np.diff(below[edges]) / below[-1]
        return cls(frozen(below), frozen(chances), number, frozen(pieces), inside.size)

    @property
    def n_trials(self) -> int:
        """Number of trials of the class."""
        return int(self.below[-1])

    def draw(self, n_replicates: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draw the number of picks in each cell, and in each piece of the window."""
        in_cells = rng.multinomial(self.n_trials, self.chances, size=n_replicates)
        n_picks = in_cells[:, self.number]
        picks = rng.integers(0, max(self.pieces.size, 1), n_picks.sum(), dtype=np.uint32)
        places = np.repeat(np.arange(n_replicates) * self.n_pieces, n_picks)
        if places.size:
            places += self.pieces.take(picks)
        counts = np.bincount(places, minlength=n_replicates * self.n_pieces)
        return in_cells, counts.reshape(n_replicates, self.n_pieces)

    def below_points(self, in_cells: IntArray, in_pieces: IntArray) -> IntArray:
        """Return the number of picks below each edge: of cells, of the window, of cells."""
        n_left = self.number
        n_right = in_cells.shape[1] - n_left - 1
        counts = np.zeros((in_cells.shape[0], n_left + self.n_pieces + n_right + 1), np.int64)
        counts[:, 1 : n_left + 1] = in_cells[:, :n_left]
        counts[:, n_left + 1 : n_left + 1 + self.n_pieces] = in_pieces
        counts[:, n_left + 1 + self.n_pieces :] = in_cells[:, n_left + 1 :]
        return np.cumsum(counts, axis=1, out=counts)

    def divide(self, n_picks: int, first: int, last: int, rng: np.random.Generator) -> IntArray:
        """Draw how the picks of a cell divide among its pieces, between two edges."""
        sizes = np.diff(self.below[first : last + 1])
        return rng.multinomial(n_picks, sizes / max(int(sizes.sum()), 1))


@attrs.frozen(eq=False)
class EERWindow:
    """A window of the ROC for drawing i.i.d. bootstrap replicates of the EER.

    Parameters
    ----------
    edges : (n_cells + 1,) ndarray of int64
        Where the axis is cut, as numbers of edges: all is accepted, the distinct target
        scores, all is rejected.
    tar, non : _ClassWindow
        The trials of each class.
    """

    block: ClassVar[int] = 250

    edges: IntArray
    tar: _ClassWindow
    non: _ClassWindow

    @classmethod
    def from_index(cls, index: CurveIndex) -> Self | None:
        """Place the window; None where drawing lazily is the better way.

        That is where conditions are weighted, the classes are separated, there are few
        trials, or the window would hold very many.
        """
        if len(index.tar.edges) > 1 or len(index.non.edges) > 1:
            return None
        if index.tar.sizes[0] + index.non.sizes[0] < _FEWEST_TRIALS:
            return None
        below = [
            np.concatenate(([0], counts, [size]))
            for counts, size in (
                (index.tar.edges[0], int(index.tar.sizes[0])),
                (index.non.edges[0][::2], int(index.non.sizes[0])),
            )
        ]
        pmiss, pfa = below[0] / below[0][-1], 1.0 - below[1] / below[1][-1]
        values, priors = eers_of_points(pmiss[None, :], pfa[None, :])
        if not (values[0] > 0 and 0 < priors[0] < 1):
            return None
        point = float(values[0]), float(priors[0])
        edges, number = _cut(pmiss, pfa, *point, below, tilt=0.0)
        first, last = edges[number], edges[number + 1]
        if sum(counts[last] - counts[first] for counts in below) > _MOST_TRIALS:
            return None
        window = cls._at(below, edges, number)
        tilt = _IN_PRIORS * window._spread_of_priors()
        return cls._at(below, *_cut(pmiss, pfa, *point, below, tilt=tilt))

    @classmethod
    def _at(cls, below: list[IntArray], edges: IntArray, number: int) -> Self:
        tar, non = (_ClassWindow.of(counts, edges, number) for counts in below)
        return cls(frozen(edges), tar, non)

    def _spread_of_priors(self) -> float:
        """Return by how much the priors that decide some replicates differ."""
        # These replicates are thrown away: whatever they are, only time depends on them.
        rng = np.random.default_rng(0)
        tar, non = self.tar.draw(_PILOTS, rng), self.non.draw(_PILOTS, rng)
        _, priors = eers_of_points(
            *self._rates(self.tar.below_points(*tar), self.non.below_points(*non))
        )
        return float(np.std(priors))

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates of the EER on the convex hull.

        Parameters
        ----------
        n_replicates : int
            How many to draw.
        rng : Generator
            Source of randomness.

        Returns
        -------
        (n_replicates,) ndarray of float64
        """
        n_points = self.edges.size + self.tar.n_pieces
        step = max(1, _NUMBERS_AT_A_TIME // n_points)
        parts = [
            self._draw_block(min(step, n_replicates - start), rng)
            for start in range(0, n_replicates, step)
        ]
        return np.concatenate(parts)

    def _draw_block(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        tar, non = self.tar.draw(n_replicates, rng), self.non.draw(n_replicates, rng)
        pmiss, pfa = self._rates(self.tar.below_points(*tar), self.non.below_points(*non))
        eers, priors = eers_of_points(pmiss, pfa)
        left = np.arange(self.tar.number)
        right = np.arange(left.size + self.tar.n_pieces, pmiss.shape[1] - 1)
        open_cells = _open_cells(pmiss, pfa, np.concatenate((left, right)), eers, priors)
        for i in np.flatnonzero(open_cells.any(axis=1)).tolist():
            cells = [
                [np.array([count]) for count in in_cells[i].tolist()]
                for in_cells in (tar[0], non[0])
            ]
            for parts, (_, in_pieces) in zip(cells, (tar, non), strict=True):
                parts[self.tar.number] = in_pieces[i]
            eers[i] = self._complete(cells[0], cells[1], rng)
        return eers

    def _rates(self, rejected_tar: IntArray, rejected_non: IntArray) -> tuple[Any, Any]:
        """Make miss and false-alarm rates of numbers of picks below edges."""
        pmiss, pfa = rejected_tar / self.tar.n_trials, rejected_non / -self.non.n_trials
        pfa += 1.0
        return pmiss, pfa

    def _complete(
        self, tar: list[IntArray], non: list[IntArray], rng: np.random.Generator
    ) -> float:
        """Divide the cells of one replicate until none can hold the point that decides.

        Parameters
        ----------
        tar, non : list of ndarray of int64
            Number of picks of each class in the pieces of each cell; of cells that are not
            divided, a single number. Changed in place.
        """
        whole = np.ones(len(tar), dtype=np.bool_)
        whole[self.tar.number] = False
        while True:
            below = (np.append(0, np.cumsum(np.concatenate(parts))) for parts in (tar, non))
            pmiss, pfa = (rates[None, :] for rates in self._rates(*below))
            eers, priors = eers_of_points(pmiss, pfa)
            starts = np.cumsum([0, *(part.size for part in tar[:-1])])
            divided = np.flatnonzero(whole)
            divided = divided[_open_cells(pmiss, pfa, starts[divided], eers, priors)[0]]
            if not divided.size:
                return float(eers[0])
            for number in divided.tolist():
                first, last = self.edges[number : number + 2].tolist()
                for part, counts in ((self.tar, tar), (self.non, non)):
                    counts[number] = part.divide(int(counts[number][0]), first, last, rng)
            # A cell of a single piece has no points inside.
            whole[divided] = False


def _open_cells(
    pmiss: Float64Array,
    pfa: Float64Array,
    starts: IntArray,
    eers: Float64Array,
    priors: Float64Array,
) -> npt.NDArray[np.bool_]:
    """Tell which cells may hold a point that costs less than the known ones.

    Parameters
    ----------
    pmiss, pfa : (n_curves, n_points) ndarray of float64
        The known points.
    starts : (n_cells,) ndarray of int64
        Numbers of the points at the left edges of cells.
    eers, priors : (n_curves,) ndarray of float64
        The least costs of these points, and the priors at which they are greatest.

    Returns
    -------
    (n_curves, n_cells) ndarray of bool
    """
    corner_pmiss, corner_pfa = pmiss[:, starts], pfa[:, starts + 1]
    costs = corner_pfa + priors[:, None] * (corner_pmiss - corner_pfa)
    # Where a cell holds one class only, an edge is its best point.
    mixed = (pmiss[:, starts + 1] > corner_pmiss) & (pfa[:, starts] > corner_pfa)
    return np.asarray(mixed & (costs < eers[:, None]))


def _cut(
    pmiss: Float64Array,
    pfa: Float64Array,
    eer: float,
    prior: float,
    below: list[IntArray],
    *,
    tilt: float,
) -> tuple[IntArray, int]:
    """Return the edges of the window and of the cells, and the number of the window.

    How far costs of a replicate are from those of the data, and its prior from theirs
    (`tilt`), is only estimated: nothing but time depends on it.
    """
    sizes = below[0][-1], below[1][-1]
    slack = pfa + prior * (pmiss - pfa) - eer
    spread = np.sqrt(
        prior**2 * np.abs(pmiss - eer) / sizes[0] + (1 - prior) ** 2 * np.abs(pfa - eer) / sizes[1]
    )
    close = np.flatnonzero(slack <= _IN_WINDOW * spread)
    first, last = max(int(close[0]) - 1, 0), min(int(close[-1]) + 1, pmiss.size - 1)
    # Each cell reaches as far as its corner stays clear of the least cost.
    room = np.maximum(slack - tilt * np.abs(pmiss - pfa) - _IN_CELLS * spread, 0.0)
    left = [first]
    while left[-1] > 0:
        here = left[-1]
        reach = np.searchsorted(pmiss, pmiss[here] - room[here] / prior)
        left.append(min(int(reach), here - 1))
    right = [last]
    while right[-1] < pmiss.size - 1:
        here = right[-1]
        lowest = pfa[here] - room[here] / (1 - prior)
        reach = np.searchsorted(-pfa, -lowest, side="right") - 1
        right.append(max(int(reach), here + 1))
    return np.array(left[::-1] + right), len(left) - 1


def eers_of_points(pmiss: Float64Array, pfa: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return where the lower left hulls of the points of several curves meet pmiss = pfa.

    The search of `eer_of_points` for many curves at a time.

    Parameters
    ----------
    pmiss, pfa : (n_curves, n_points) ndarray of float64
        The points of each curve.

    Returns
    -------
    eers, priors : (n_curves,) ndarray of float64
        The EER, and the prior at which it is the least cost of all points.
    """
    rising = pmiss - pfa
    # Begin with the chord between two points at some distance either side of the diagonal.
    rows = np.arange(pmiss.shape[0])
    crossing = (rising >= 0).argmax(axis=1)
    first = np.maximum(crossing - _HALF_CHORD, 0)
    last = np.minimum(crossing + _HALF_CHORD, pmiss.shape[1] - 1)
    # Both ends of the chord: (pmiss, pfa), columns.
    low = np.stack((pmiss[rows, first], pfa[rows, first]))
    high = np.stack((pmiss[rows, last], pfa[rows, last]))
    active, some = rows, (pmiss, pfa, rising)
    while active.size:
        values, priors = _meeting(low[:, active], high[:, active])
        cost = some[2] * priors[:, None]
        cost += some[1]
        best = cost.argmin(axis=1)
        better = cost[rows[: active.size], best] < values * (1.0 - _ROUNDING)
        if not better.all():
            active, best = active[better], best[better]
            some = pmiss[active], pfa[active], rising[active]
        points = np.stack([rates[rows[: active.size], best] for rates in some[:2]])
        below = points[0] < points[1]
        low[:, active[below]] = points[:, below]
        high[:, active[~below]] = points[:, ~below]
    return _meeting(low, high)


def _meeting(low: Float64Array, high: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the height at which lines between points meet the diagonal, and their priors."""
    slope = low[0] - low[1]
    priors = (low[1] - high[1]) / (high[0] - high[1] - slope)
    return low[1] + priors * slope, priors
