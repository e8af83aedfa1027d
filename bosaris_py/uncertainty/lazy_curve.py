r"""Lazy i.i.d. bootstrap replicates of a ROC: only the part that decides a minimum is drawn.

An i.i.d. replicate of a ROC is a multinomial draw of how often each score was picked. Cut the
distinct target scores into halves, and these again, down to single scores: each cut is a binomial
draw, given how many picks fell to the piece. At the edges of a piece a cost is known. Inside it the
cost is at least that of its corner, (misses at the left edge, false alarms at the right edge). A
piece whose corner cannot beat the best edge is never cut. A replicate takes some hundred binomial
draws, for ten million scores hardly more than for ten thousand, and its distribution is exactly
that of the plain bootstrap. With conditions a cut is a draw for each, and costs are sums of theirs.

The convex-hull EER is the maximum over the prior of the minimum cost (theory paper, equation 26),
so it depends on the scores near one threshold. `EERWindow` picks the trials of a *window* around it
one by one; of a few large cells on either side only the numbers of picks are drawn. Let
:math:`\bar e` be the EER of the points that are known, and :math:`\pi` its prior. If no cell's
corner costs less than :math:`\bar e` at :math:`\pi`, that is the EER of the replicate. Otherwise
these cells are divided, too, until no corner is below: the distribution is exact.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Self

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import BoolArray, Float64Array, IntArray, Weights, mark_read_only
from bosaris_py.numerics.rocch import SAME_COST, diagonal_crossing, eers_of_hulls
from bosaris_py.uncertainty.speaker_curve import open_cells
from bosaris_py.uncertainty.statistic_samplers import ClassEdges, CurveIndex

# Points whose cost on the data is within so many standard errors of the least are in the
# window around the threshold; corners of cells are outside of somewhat fewer.
_IN_WINDOW = 6.5
_IN_CELLS = 4.0

# The prior at which a replicate is decided is another one in each; corners stay clear for
# priors so many standard deviations away, which a few replicates tell.
_IN_PRIORS, _PILOTS = 1.25, 40

# With more trials than this in the window, drawing replicates lazily is quicker.
_MOST_TRIALS = 12_000

# With fewer trials in all, too: a cell is soon needed where scores are few.
_FEWEST_TRIALS = 1_000

# Points that are held for a block of replicates: they stay in the cache, and are too few for
# the memory to be asked of the system anew each time.
_NUMBERS_AT_A_TIME = 2**14


@attrs.frozen(eq=False)
class ClassTree:
    """How the trials of one class divide when the distinct target scores are halved."""

    # For each level of cuts, from the whole down to pairs of neighbouring target scores, `shares`
    # is (n, k): the share of each piece's trials of each condition that lies in its left half.
    # `factors` is the weight of a trial of each condition.

    sizes: IntArray
    factors: Float64Array
    shares: tuple[Float64Array, ...]

    @classmethod
    def from_edges(cls, class_edges: ClassEdges, step: int) -> "ClassTree":
        """Arrange the counts; every `step`-th edge lies below a distinct target score."""
        sizes = class_edges.sizes
        counts = [edges[::step] for edges in class_edges.edges]
        n_cells = counts[0].size + 1
        n_levels = max(1, int(n_cells - 1).bit_length())
        # Empty cells on the right fill the last level.
        below = np.zeros((2**n_levels + 1, sizes.size), dtype=np.int64)
        below[1:n_cells] = np.column_stack(counts)
        below[n_cells:] = sizes
        shares = []
        for level in range(n_levels, 0, -1):
            edges, middles = below[:: 2**level], below[2 ** (level - 1) :: 2**level]
            inside = np.diff(edges, axis=0)
            share = np.zeros(inside.shape)
            np.divide(middles - edges[:-1], inside, out=share, where=inside > 0)
            shares.append(mark_read_only(share))
        return cls(sizes, mark_read_only(class_edges.shares / sizes), tuple(shares))

    @property
    def total(self) -> float:
        """Weight of all trials: their number, or one if conditions are weighted."""
        return float(self.sizes[0]) if self.sizes.size == 1 else 1.0

    def weigh(self, counts: IntArray) -> Weights:
        """Return the weight of so many trials of each condition, row by row."""
        if self.sizes.size == 1:
            return counts[:, 0]
        # Not by BLAS, whose sums may depend on how many threads it has.
        return np.asarray(np.einsum("ij,j->i", counts, self.factors))


class _Pieces(NamedTuple):
    """Pieces of several replicates that are not decided yet; one entry each."""

    replicate: IntArray
    node: IntArray
    # Number of trials of each condition: one row for each piece.
    targets: IntArray
    others: IntArray
    # Weight of targets below the left edge, and of non-targets above the right edge.
    misses: Float64Array
    false_alarms: Float64Array

    def where(self, chosen: BoolArray) -> "_Pieces":
        """Keep some of the pieces."""
        positions = np.flatnonzero(chosen)
        return _Pieces._make(field.take(positions, axis=0) for field in self)

    def joined(self, other: "_Pieces") -> "_Pieces":
        """Append other pieces."""
        return _Pieces._make(map(np.concatenate, zip(self, other, strict=True)))

    @property
    def mixed(self) -> BoolArray:
        """Tell which pieces hold both classes; in others an edge is the best point."""
        return np.asarray(self.targets.any(axis=1) & self.others.any(axis=1))


@attrs.frozen(eq=False)
class LazyCurve:
    """The counts of a ROC, arranged for lazy draws; subclasses say what is drawn."""

    block: ClassVar[int] = 250

    tar: ClassTree
    non: ClassTree

    @classmethod
    def from_index(cls, index: CurveIndex, *prices: float) -> Self:
        """Arrange the counts between target scores; `prices` are the other fields of a subclass."""
        # Between the thresholds at two neighbouring target scores lie the trials at the lower one
        # and the non-targets in the gap above it.
        trees = ClassTree.from_edges(index.tar, 1), ClassTree.from_edges(index.non, 2)
        return cls(*trees, *prices)

    def _whole(self, n_replicates: int) -> _Pieces:
        """One piece for each replicate, which holds everything."""
        zeros = np.zeros(n_replicates, dtype=np.int64)
        targets, others = (np.tile(tree.sizes, (n_replicates, 1)) for tree in (self.tar, self.non))
        nothing = np.zeros(n_replicates)
        return _Pieces(np.arange(n_replicates), zeros, targets, others, nothing, nothing)

    def _cut(
        self, pieces: _Pieces, level: int, rng: np.random.Generator
    ) -> tuple[_Pieces, _Pieces]:
        """Draw how the picks of each piece divide between its two halves."""
        replicate, node, targets, others, misses, alarms = pieces
        left_targets = rng.binomial(targets, self.tar.shares[level].take(node, axis=0))
        left_others = rng.binomial(others, self.non.shares[level].take(node, axis=0))
        right_targets, right_others = targets - left_targets, others - left_others
        left_alarms = alarms + self.non.weigh(right_others)
        right_misses = misses + self.tar.weigh(left_targets)
        return (
            _Pieces(replicate, 2 * node, left_targets, left_others, misses, left_alarms),
            _Pieces(replicate, 2 * node + 1, right_targets, right_others, right_misses, alarms),
        )


@attrs.frozen(eq=False)
class LazyMinCost(LazyCurve):
    """Minimum of a cost over thresholds, given the prices of a miss rate and a false-alarm rate."""

    miss_cost: float
    fa_cost: float

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""
        per_miss, per_fa = self.miss_cost / self.tar.total, self.fa_cost / self.non.total
        best = np.full(n_replicates, min(self.miss_cost, self.fa_cost))
        pieces = self._whole(n_replicates)
        for level in range(len(self.tar.shares)):
            left, right = self._cut(pieces, level, rng)
            at_cut = per_miss * right.misses + per_fa * left.false_alarms
            np.minimum.at(best, left.replicate, at_cut)
            to_beat = best[left.replicate]
            kept = []
            for half in (left, right):
                # The corner of a piece: the least that any point inside can cost.
                corner = per_miss * half.misses + per_fa * half.false_alarms
                kept.append(half.where(half.mixed & (corner < to_beat)))
            pieces = kept[0].joined(kept[1])
            if pieces.replicate.size == 0:
                break
        return best


@attrs.frozen(eq=False)
class LazyEER(LazyCurve):
    """Equal error rate on the convex hull."""

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""
        # At first the points where all is accepted, and all is rejected.
        ends = np.array([[0.0], [1.0]]), np.array([[1.0], [0.0]])
        bracket = _Bracket(*(np.repeat(end, n_replicates, axis=1) for end in ends))
        pieces = self._whole(n_replicates)
        done = pieces.where(np.zeros(n_replicates, dtype=np.bool_))
        n_levels = len(self.tar.shares)
        for level in range(n_levels):
            left, right = self._cut(pieces, level, rng)
            pieces = left.joined(right)
            cuttable = pieces.mixed & (level + 1 < n_levels)
            # Pieces that need no cut stay as points of the curve.
            done = done.joined(pieces.where(~cuttable))
            pieces, done = self._narrow(bracket, pieces.where(cuttable), done)
            if pieces.replicate.size == 0:
                break
        return bracket.meeting()[0]

    # Write g(p) for the minimum cost of a replicate at prior p. The edges drawn so far bound it
    # from above; the maximum `upper` of that bound lies at the bracket's prior and bounds the EER.
    # The corners of the uncut pieces bound g there from below by `floor`. So the maximum of g,
    # which is concave, lies where the upper bound is at least `floor`: between two priors. A piece
    # that costs at least `upper` at both ends of this range costs at least that inside it too,
    # because its cost is linear in p; it decides nothing and is dropped.
    def _narrow(
        self, bracket: "_Bracket", pieces: _Pieces, done: _Pieces
    ) -> tuple[_Pieces, _Pieces]:
        """Update the bracket by the known points; drop what can no longer decide."""
        n_cuttable = pieces.replicate.size
        replicate, _, targets, others, misses, false_alarms = pieces.joined(done)
        # Miss rate left, false-alarm rate right, and the extent in both directions.
        pmiss, pfa = misses / self.tar.total, false_alarms / self.non.total
        width = self.tar.weigh(targets) / self.tar.total
        height = self.non.weigh(others) / self.non.total
        edges = (
            np.concatenate((replicate, replicate)),
            np.concatenate((pmiss, pmiss + width)),
            np.concatenate((pfa + height, pfa)),
        )
        bracket.take_in(*edges)

        upper, prior = bracket.meeting()
        floor = upper.copy()
        corner = pfa + prior[replicate] * (pmiss - pfa)
        np.minimum.at(floor, pieces.replicate, corner[:n_cuttable])
        cheapest = np.full(replicate.size, np.inf)
        for ends in bracket.prior_range(floor, *edges):
            prior = ends[replicate]
            cost = pfa + prior * (pmiss - pfa)
            # A piece that is not cut any more is as cheap as its cheaper edge.
            at_edges = np.minimum((1.0 - prior) * height, prior * width)
            cost[n_cuttable:] += at_edges[n_cuttable:]
            np.minimum(cheapest, cost, out=cheapest)
        kept = cheapest < upper[replicate]
        # Where nothing is left to cut, the maximum is found.
        unfinished = np.zeros(upper.size, dtype=np.bool_)
        unfinished[pieces.replicate[kept[:n_cuttable]]] = True
        kept &= unfinished[replicate]
        return pieces.where(kept[:n_cuttable]), done.where(kept[n_cuttable:])


@attrs.frozen(eq=False)
class _Bracket:
    """For each replicate two points of its curve, either side of pmiss = pfa."""

    # Both are (2, n_replicates): pmiss and pfa of the points with fewer misses than false alarms,
    # and with at least as many. Updated in place.

    low: Float64Array
    high: Float64Array

    def meeting(self) -> tuple[Float64Array, Float64Array]:
        """Return the best bound of the EER so far, and the prior of the line between the points."""
        return diagonal_crossing(self.low, self.high)

    def take_in(self, replicate: IntArray, pmiss: Float64Array, pfa: Float64Array) -> None:
        """Move the bracket to the maximum over priors of the minimum over these points."""
        # Each round puts the point into the bracket that is cheapest at the present prior. The
        # prior moves monotonically along the hull's edges, so this ends.
        rising = pmiss - pfa
        while replicate.size:
            value, prior = self.meeting()
            cost = pfa + prior[replicate] * rising
            cheapest = value.copy()
            np.minimum.at(cheapest, replicate, cost)
            improved = cheapest < value * SAME_COST
            # Of several equally cheap points any one will do.
            hits = np.flatnonzero((cost == cheapest[replicate]) & improved[replicate])
            chosen = np.zeros(value.size, dtype=np.int64)
            chosen[replicate[hits]] = hits
            moved = np.flatnonzero(improved)
            points = chosen[moved]
            below = rising[points] < 0
            for end, side in ((self.low, below), (self.high, ~below)):
                end[0, moved[side]] = pmiss[points[side]]
                end[1, moved[side]] = pfa[points[side]]
            again = improved[replicate]
            replicate = replicate[again]
            pmiss, pfa, rising = pmiss[again], pfa[again], rising[again]

    def prior_range(
        self, floor: Float64Array, replicate: IntArray, pmiss: Float64Array, pfa: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        """Return the lowest and highest prior at which no known point costs less than `floor`."""
        everyone = np.arange(floor.size)
        replicate = np.concatenate((replicate, everyone, everyone))
        pmiss = np.concatenate((pmiss, self.low[0], self.high[0]))
        pfa = np.concatenate((pfa, self.low[1], self.high[1]))
        slope = pmiss - pfa
        with np.errstate(divide="ignore", invalid="ignore"):
            limit = (floor[replicate] - pfa) / slope
        lowest, highest = np.zeros(floor.size), np.ones(floor.size)
        rises, falls = np.flatnonzero(slope > 0), np.flatnonzero(slope < 0)
        np.maximum.at(lowest, replicate[rises], limit[rises])
        np.minimum.at(highest, replicate[falls], limit[falls])
        return lowest, highest


# ---- The window around the EER's threshold

Cells = npt.NDArray[np.unsignedinteger[npt.NBitBase]]


@attrs.frozen(eq=False)
class _ClassWindow:
    """The trials of one class: in the window one by one, elsewhere cell by cell."""

    # `below` counts the trials below each edge of the axis, from none to all; `chances` is the
    # share of the trials in each cell, of which the window has number `number`. For each trial in
    # the window, `pieces` is how many of the window's edges it lies above, which cut it into
    # `n_pieces`.

    below: IntArray
    chances: Float64Array
    number: int
    pieces: Cells
    n_pieces: int

    @classmethod
    def of(cls, below: IntArray, edges: IntArray, number: int) -> Self:
        """Cut at some of the edges; cell `number` is the window."""
        inside = np.diff(below[edges[number] : edges[number + 1] + 1])
        pieces = np.repeat(np.arange(inside.size, dtype=np.min_scalar_type(inside.size)), inside)
        chances = mark_read_only(np.diff(below[edges]) / below[-1])
        return cls(mark_read_only(below), chances, number, mark_read_only(pieces), inside.size)

    @property
    def n_trials(self) -> int:
        """Number of trials of the class."""
        return int(self.below[-1])

    def draw(self, n_replicates: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draw the number of picks in each cell, and in each piece of the window."""
        in_cells = rng.multinomial(self.n_trials, self.chances, size=n_replicates)
        n_picks = in_cells[:, self.number]
        picks = rng.integers(0, max(self.pieces.size, 1), n_picks.sum(), dtype=np.uint32)
        positions = np.repeat(np.arange(n_replicates) * self.n_pieces, n_picks)
        if positions.size:
            positions += self.pieces.take(picks)
        counts = np.bincount(positions, minlength=n_replicates * self.n_pieces)
        return in_cells, counts.reshape(n_replicates, self.n_pieces)

    def below_points(self, in_cells: IntArray, in_pieces: IntArray) -> IntArray:
        """Return the number of picks below each edge: of cells, of the window, of cells."""
        n_points, number = in_cells.shape[1] + self.n_pieces, self.number
        counts = np.zeros((in_cells.shape[0], n_points), np.int64)
        counts[:, 1 : number + 1] = in_cells[:, :number]
        counts[:, number + 1 : number + 1 + self.n_pieces] = in_pieces
        counts[:, number + 1 + self.n_pieces :] = in_cells[:, number + 1 :]
        return np.cumsum(counts, axis=1, out=counts)

    def divide(self, n_picks: int, first: int, last: int, rng: np.random.Generator) -> IntArray:
        """Draw how the picks of a cell divide among its pieces, between two edges."""
        sizes = np.diff(self.below[first : last + 1])
        return rng.multinomial(n_picks, sizes / max(int(sizes.sum()), 1))


@attrs.frozen(eq=False)
class EERWindow:
    """A window of the ROC for drawing i.i.d. replicates of the EER on the convex hull."""

    # `edges` says where the axis is cut, as numbers of edges: all is accepted, the distinct target
    # scores, all is rejected.

    block: ClassVar[int] = 250

    edges: IntArray
    tar: _ClassWindow
    non: _ClassWindow

    @classmethod
    def from_index(cls, index: CurveIndex) -> Self | None:
        """Place the window; None where drawing lazily is the better way."""
        # That is where conditions are weighted, the classes are separated, there are few trials, or
        # the window would hold very many.
        if len(index.tar.edges) > 1 or len(index.non.edges) > 1:
            return None
        sizes = int(index.tar.sizes[0]), int(index.non.sizes[0])
        if sum(sizes) < _FEWEST_TRIALS:
            return None
        inner = index.tar.edges[0], index.non.edges[0][::2]
        below = [np.r_[0, counts, size] for counts, size in zip(inner, sizes, strict=True)]
        pmiss, pfa = below[0] / sizes[0], 1.0 - below[1] / sizes[1]
        values, priors = eers_of_hulls(pmiss[None, :], pfa[None, :])
        eer, prior = float(values[0]), float(priors[0])
        if not (eer > 0 and 0 < prior < 1):
            return None
        # How far costs of a replicate are from those of the data is only estimated: nothing but
        # time depends on it. `slack` is the excess cost of each point, `spread` its standard error.
        slack = pfa + prior * (pmiss - pfa) - eer
        variances = prior**2 * np.abs(pmiss - eer) / sizes[0]
        spread = np.sqrt(variances + (1 - prior) ** 2 * np.abs(pfa - eer) / sizes[1])
        close = np.flatnonzero(slack <= _IN_WINDOW * spread)
        first, last = max(int(close[0]) - 1, 0), min(int(close[-1]) + 1, pmiss.size - 1)
        if sum(counts[last] - counts[first] for counts in below) > _MOST_TRIALS:
            return None

        def cut(tilt: float) -> tuple[IntArray, int]:
            room = slack - tilt * np.abs(pmiss - pfa) - _IN_CELLS * spread
            return _cell_edges(pmiss, pfa, prior, np.maximum(room, 0.0), (first, last))

        # These replicates are thrown away: whatever they are, only time depends on them.
        pilot, rng = cls._at(below, *cut(0.0)), np.random.default_rng(0)
        drawn = pilot.tar.draw(_PILOTS, rng), pilot.non.draw(_PILOTS, rng)
        tilt = _IN_PRIORS * float(np.std(eers_of_hulls(*pilot._points(*drawn))[1]))
        return cls._at(below, *cut(tilt))

    @classmethod
    def _at(cls, below: list[IntArray], edges: IntArray, number: int) -> Self:
        tar, non = (_ClassWindow.of(counts, edges, number) for counts in below)
        return cls(mark_read_only(edges), tar, non)

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""
        step = max(1, _NUMBERS_AT_A_TIME // (self.edges.size + self.tar.n_pieces))
        sizes = [min(step, n_replicates - start) for start in range(0, n_replicates, step)]
        return np.concatenate([self._draw_block(size, rng) for size in sizes])

    def _draw_block(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        tar, non = self.tar.draw(n_replicates, rng), self.non.draw(n_replicates, rng)
        pmiss, pfa = self._points(tar, non)
        eers, priors = eers_of_hulls(pmiss, pfa)
        left = np.arange(self.tar.number)
        right = np.arange(left.size + self.tar.n_pieces, pmiss.shape[1] - 1)
        opened = open_cells(pmiss, pfa, np.concatenate((left, right)), eers, priors)
        for i in np.flatnonzero(opened.any(axis=1)).tolist():
            cells = []
            for in_cells, in_pieces in (tar, non):
                parts = [np.array([count]) for count in in_cells[i].tolist()]
                parts[self.tar.number] = in_pieces[i]
                cells.append(parts)
            eers[i] = self._complete(cells[0], cells[1], rng)
        return eers

    def _points(
        self, tar: tuple[IntArray, IntArray], non: tuple[IntArray, IntArray]
    ) -> tuple[Float64Array, Float64Array]:
        """Return miss and false-alarm rates at the known points of each replicate."""
        return self._rates(self.tar.below_points(*tar), self.non.below_points(*non))

    def _rates(self, misses: IntArray, rejected: IntArray) -> tuple[Float64Array, Float64Array]:
        """Divide numbers of picks below edges by those of all picks."""
        pmiss, pfa = misses / self.tar.n_trials, rejected / -self.non.n_trials
        pfa += 1.0
        return pmiss, pfa

    def _complete(
        self, tar: list[IntArray], non: list[IntArray], rng: np.random.Generator
    ) -> float:
        """Divide the cells of one replicate until none can hold the point that decides."""
        # For each class, the number of picks in the pieces of each cell, in cells that are not
        # divided a single number; changed in place.
        whole = np.ones(len(tar), dtype=np.bool_)
        whole[self.tar.number] = False
        while True:
            below = (
                np.append(0, np.cumsum(np.concatenate(parts)))[None, :] for parts in (tar, non)
            )
            pmiss, pfa = self._rates(*below)
            eers, priors = eers_of_hulls(pmiss, pfa)
            starts = np.cumsum([0, *(part.size for part in tar[:-1])])
            divided = np.flatnonzero(whole)
            divided = divided[open_cells(pmiss, pfa, starts[divided], eers, priors)[0]]
            if not divided.size:
                return float(eers[0])
            for number in divided.tolist():
                first, last = self.edges[number : number + 2].tolist()
                for part, counts in ((self.tar, tar), (self.non, non)):
                    counts[number] = part.divide(int(counts[number][0]), first, last, rng)
            # A cell of a single piece has no points inside.
            whole[divided] = False


def _cell_edges(
    pmiss: Float64Array,
    pfa: Float64Array,
    prior: float,
    room: Float64Array,
    window: tuple[int, int],
) -> tuple[IntArray, int]:
    """Return the edges of the window and of the cells, and the number of the window."""
    # Each cell reaches as far as its corner stays clear of the least cost, by `room`.
    left, right = [window[0]], [window[1]]
    while left[-1] > 0:
        here = left[-1]
        reach = np.searchsorted(pmiss, pmiss[here] - room[here] / prior)
        left.append(min(int(reach), here - 1))
    while right[-1] < pmiss.size - 1:
        here = right[-1]
        lowest = pfa[here] - room[here] / (1 - prior)
        reach = np.searchsorted(-pfa, -lowest, side="right") - 1
        right.append(max(int(reach), here + 1))
    return np.array(left[::-1] + right), len(left) - 1
