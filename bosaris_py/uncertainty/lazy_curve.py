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

import math
from typing import ClassVar, NamedTuple, Self

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import (
    BoolArray,
    Float64Array,
    Int32Array,
    IntArray,
    Weights,
    mark_read_only,
)
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

# Points that are held for a block of replicates: less than 1.5 MB for each array.
_NUMBERS_AT_A_TIME = 180_000

# A trial is picked so many times with a chance below that of rounding. Numbers that fewer of the
# 2^16 values of bits would stand for are drawn from the rest.
_MOST_PICKS, _FEWEST_OF_BITS = 20, 2**6

# The mean of Poisson numbers is less than 1, so that their sum is below that of the picks by so
# many standard deviations of the difference, and at least this.
_FEWER_PICKS, _LEAST_MEAN = 2.25, 0.1

# Rows of the table of a window's trials: whole rows are added quicker than running totals.
_ROWS = 8


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
        rising, before = pmiss - pfa, np.full(self.low.shape[1], np.inf)
        while replicate.size:
            value, prior = self.meeting()
            cost = pfa + prior[replicate] * rising
            cheapest = value.copy()
            np.minimum.at(cheapest, replicate, cost)
            # Where a value does not fall that is rounding, which would go on for ever.
            improved = (cheapest < value * SAME_COST) & (value < before)
            before = value
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


@attrs.frozen(eq=False)
class _Poisson:
    """Draws Poisson numbers of some mean, from 16 random bits each."""

    # The law is a mixture of one whose chances are whole multiples of 2^-16, which comparisons of
    # bits with `cuts` draw, and of what that leaves, with the distribution `rest`.

    cuts: npt.NDArray[np.uint16]
    rest: Float64Array

    @classmethod
    def of(cls, mean: float) -> Self:
        """Divide the law of a mean below 1 into the two."""
        chances = np.exp(-mean) * np.cumprod(np.append(1.0, mean / np.arange(1, _MOST_PICKS)))
        parts = np.floor(2.0**16 * chances)
        parts[parts < _FEWEST_OF_BITS] = 0.0
        cuts = np.cumsum(parts[parts > 0]).astype(np.uint16)
        rest = np.cumsum(chances - parts / 2.0**16)
        return cls(mark_read_only(cuts), mark_read_only(rest / rest[-1]))

    def draw(self, n: int, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
        """Draw n numbers."""
        bits = rng.integers(0, 2**64, -(-n // 4), np.uint64).view(np.uint16)[:n]
        drawn: npt.NDArray[np.uint8] = (bits >= self.cuts[0]).view(np.uint8)
        for cut in self.cuts[1:]:
            drawn += (bits >= cut).view(np.uint8)  # adds without a cast
        others = np.flatnonzero(drawn == self.cuts.size)
        drawn[others] = np.searchsorted(self.rest, rng.random(others.size), "right")
        return drawn


@attrs.frozen(eq=False)
class _ClassWindow:
    """The trials of one class: in the window one by one, elsewhere cell by cell."""

    # `below` counts the trials below each edge of the axis, from none to all; `chances` is the
    # share of the trials in each cell, of which the window has number `number`. Trial i of the
    # window, from 1, stands in row i % _ROWS, column i // _ROWS of a table: `places` are those of
    # all trials, `columns` and `ends` the column, and place, of the last below each upper edge.

    number: int
    poisson: _Poisson
    below: IntArray
    chances: Float64Array
    places: IntArray
    columns: IntArray
    ends: IntArray

    @classmethod
    def of(cls, below: IntArray, edges: IntArray, number: int) -> Self:
        """Cut at some of the edges; cell `number` is the window."""
        first, last = edges[number : number + 2].tolist()
        inside = below[first + 1 : last + 1] - below[first]
        n_trials = int(inside[-1])
        chances = np.diff(below[edges]) / below[-1]
        columns, rows = np.divmod(np.arange(n_trials + 1), _ROWS)
        places = rows * (n_trials // _ROWS + 1) + columns
        arrays = below, chances, places[1:], columns[inside], places[inside]
        mean = 1.0 - _FEWER_PICKS * math.sqrt(2.0 / max(n_trials, 1))
        return cls(number, _Poisson.of(max(mean, _LEAST_MEAN)), *map(mark_read_only, arrays))

    @property
    def n_trials(self) -> int:
        """Number of trials of the class."""
        return int(self.below[-1])

    def draw(self, n_replicates: int, rng: np.random.Generator) -> tuple[IntArray, Int32Array]:
        """Draw the number of picks in each cell, and below each upper edge inside the window."""
        in_cells = rng.multinomial(self.n_trials, self.chances, size=n_replicates)
        # Poisson numbers are picks, given their sum; what these lack is picked one by one.
        shape = n_replicates, _ROWS, self.places.size // _ROWS + 1
        picked = self.poisson.draw(math.prod(shape), rng).reshape(shape)
        picked[:, 0, 0] = picked[:, self.places.size % _ROWS + 1 :, -1] = 0
        in_columns = picked.sum(axis=1, dtype=np.uint8)
        missing = in_cells[:, self.number] - in_columns.sum(axis=1, dtype=np.int64)
        over = np.flatnonzero(missing < 0)
        picked[over], missing[over] = 0, in_cells[over, self.number]
        more = rng.integers(0, max(self.places.size, 1), missing.sum(), dtype=np.uint32)
        starts = np.repeat(np.arange(n_replicates) * math.prod(shape[1:]), missing)
        if more.size:
            np.add.at(picked.reshape(-1), starts + self.places[more], np.uint8(1))
        for row in range(1, _ROWS):
            picked[:, row] += picked[:, row - 1]
        before: Int32Array = np.empty((n_replicates, shape[2] + 1), dtype=np.int32)
        before[:, 0] = in_cells[:, : self.number].sum(axis=1)
        before[:, 1:] = picked[:, -1]
        below = np.cumsum(before, axis=1, out=before).take(self.columns, axis=1)
        below += picked.reshape(n_replicates, -1).take(self.ends, axis=1)
        return in_cells, below

    def below_points(self, in_cells: IntArray, in_window: Int32Array) -> Float64Array:
        """Return the share of picks below each edge: of cells, of the window, of cells."""
        left, size = self.number + 1, in_window.shape[1]
        below = in_cells.cumsum(axis=1)
        shares = np.empty((in_cells.shape[0], in_cells.shape[1] + size))
        shares[:, 0] = 0.0
        for columns, counts in (
            (slice(1, left), below[:, : left - 1]),
            (slice(left, left + size), in_window),
            (slice(left + size, None), below[:, left:]),
        ):
            np.divide(counts, self.n_trials, out=shares[:, columns])
        return shares

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
        # glibc keeps freed memory up to the size of an array that was freed before; asking the
        # system for pages each time takes as long as the draws.
        np.empty(3 * _NUMBERS_AT_A_TIME)
        numbers = n_replicates * (self.edges.size + self.tar.ends.size)
        ends = np.linspace(0, n_replicates, -(-numbers // _NUMBERS_AT_A_TIME) + 1).astype(int)
        return np.concatenate([self._draw_block(size, rng) for size in np.diff(ends).tolist()])

    def _draw_block(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        tar, non = self.tar.draw(n_replicates, rng), self.non.draw(n_replicates, rng)
        pmiss, pfa = self._points(tar, non)
        eers, priors = eers_of_hulls(pmiss, pfa)
        left = np.arange(self.tar.number)
        right = np.arange(left.size + self.tar.ends.size, pmiss.shape[1] - 1)
        opened = open_cells(pmiss, pfa, np.concatenate((left, right)), eers, priors)
        for i in np.flatnonzero(opened.any(axis=1)).tolist():
            cells = []
            for in_cells, in_window in (tar, non):
                parts = [np.array([count]) for count in in_cells[i].tolist()]
                parts[self.tar.number] = np.diff(
                    in_window[i], prepend=in_cells[i, : self.tar.number].sum()
                )
                cells.append(parts)
            eers[i] = self._complete(cells[0], cells[1], rng)
        return eers

    def _points(
        self, tar: tuple[IntArray, Int32Array], non: tuple[IntArray, Int32Array]
    ) -> tuple[Float64Array, Float64Array]:
        """Return miss and false-alarm rates at the known points of each replicate."""
        pmiss, rejected = self.tar.below_points(*tar), self.non.below_points(*non)
        return pmiss, np.subtract(1.0, rejected, out=rejected)

    def _complete(
        self, tar: list[IntArray], non: list[IntArray], rng: np.random.Generator
    ) -> float:
        """Divide the cells of one replicate until none can hold the point that decides."""
        # For each class, the number of picks in the pieces of each cell, in cells that are not
        # divided a single number; changed in place.
        whole = np.ones(len(tar), dtype=np.bool_)
        whole[self.tar.number] = False
        while True:
            pmiss, rejected = (
                np.append(0, np.cumsum(np.concatenate(parts)))[None, :] / part.n_trials
                for part, parts in ((self.tar, tar), (self.non, non))
            )
            pfa = 1.0 - rejected
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
