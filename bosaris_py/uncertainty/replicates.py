r"""Bootstrap replicates of a ROC: from weights, and drawn lazily.

Sorting and the search for ties happen once. A replicate is then one cumulative
sum of the weights in each class, read off at the distinct target scores; or one for
each condition, added up with the weights of the conditions.

An i.i.d. replicate of a ROC is a multinomial draw of how often each score was
picked. Cut the distinct target scores into two halves, and both halves again,
down to single scores: a multinomial draw is then a binomial draw at each cut,
given how many picks fell to the piece that is cut. The minimum of a cost does
not ask for all of these draws. At the edges of a piece the cost is known; inside
it the cost is at least

    (misses at the left edge, false alarms at the right edge),

so a piece whose bound cannot beat the best edge is never cut. A replicate takes
some hundred binomial draws, for ten million scores hardly more than for ten
thousand, and its distribution is exactly that of the plain bootstrap.

The convex-hull EER is the maximum over the prior of that minimum, a concave
function of the prior, and is found on the same lazily drawn replicate.

Where conditions are weighted, a piece holds the trials of each condition, and a cut
is a binomial draw for each. Costs and bounds are sums over conditions.

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

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import BoolArray, Float64Array, IntArray, Weights, mark_read_only
from bosaris_py.numerics.counts import SortedScores
from bosaris_py.numerics.roc import ROC
from bosaris_py.uncertainty.strata import SortedStrata, slices_of, weighted_sum

# Two costs closer than this are one cost that was rounded in two ways.
_ROUNDING = 2.0**-45


class WeightedCurve(NamedTuple):
    """Weights at the distinct target scores of one replicate.

    Parameters
    ----------
    target_scores : (k,) ndarray of float64
        The distinct target scores of the data, ascending.
    misses : (k + 1,) ndarray
        Target weight below each of them, and the total.
    below, up_to : (k,) ndarray
        Non-target weight below each, and below or equal to each.
    non_total : int or float
        Total non-target weight.
    """

    target_scores: Float64Array
    misses: Weights
    below: Weights
    up_to: Weights
    non_total: float

    @property
    def tar_total(self) -> float:
        """Total target weight."""
        return self.misses[-1].item()  # type: ignore[no-any-return]

    def points(self) -> tuple[Float64Array, Float64Array]:
        """Return miss and false-alarm rate at each target score, and where all is rejected."""
        pfa = np.empty(self.misses.size)
        np.divide(self.below, -self.non_total, out=pfa[:-1])
        pfa[:-1] += 1.0
        pfa[-1] = 0.0
        return self.misses / self.tar_total, pfa

    def min_cost(self, miss_cost: float, fa_cost: float) -> float:
        """Return the least cost of all thresholds."""
        pmiss, pfa = self.points()
        pmiss *= miss_cost
        pfa *= fa_cost
        pmiss += pfa
        # Accepting everything, non-targets below all targets too, costs fa_cost.
        return float(min(pmiss.min(), fa_cost))

    def eer(self) -> float:
        """Return the equal error rate on the convex hull."""
        return eer_of_points(*self.points())

    def auc(self) -> float:
        """Return the area under the ROC, ties counted half."""
        wins = 0.5 * (self.below + self.up_to)
        wins *= np.diff(self.misses)
        return float(wins.sum()) / (float(self.tar_total) * float(self.non_total))

    def roc(self) -> ROC:
        """Return the engine's own object, for what is asked of its convex hull."""
        between = np.empty(self.below.size + 1, dtype=self.below.dtype)
        between[0] = self.below[0]
        np.subtract(self.below[1:], self.up_to[:-1], out=between[1:-1])
        between[-1] = self.non_total - self.up_to[-1]
        return ROC(
            self.target_scores,
            mark_read_only(np.diff(self.misses)),
            mark_read_only(self.up_to - self.below),
            mark_read_only(between),
        )


@attrs.frozen(eq=False)
class ClassEdges:
    """How many trials of each condition of one class lie before edges on the score axis.

    Parameters
    ----------
    edges : tuple of (m,) ndarray of int64
        For each condition, the number of its trials before each edge.
    sizes : (k,) ndarray of int64
        Number of trials of each condition.
    shares : (k,) ndarray of float64
        Weight of each condition in the class.
    """

    edges: tuple[IntArray, ...]
    sizes: IntArray
    shares: Float64Array

    def before(self, weights: Weights) -> tuple[Weights, float]:
        """Return the weight before each edge, and the total.

        With several conditions, the weights of each are divided by their sum.
        """
        parts = slices_of(self.sizes.tolist())
        running = [running_total(weights[part]) for part in parts]
        return self.combined(
            [total[edges] for total, edges in zip(running, self.edges, strict=True)],
            [total[-1].item() for total in running],
        )

    def combined(
        self, weights: Sequence[Weights], totals: Sequence[float]
    ) -> tuple[Weights, float]:
        """Add up the weights that each condition has before the edges, and their totals."""
        if len(weights) == 1:
            return weights[0], totals[0]
        shares = self.shares / totals
        # Each term rises with the edge, and so does a rounded sum in this order; the
        # total is such a sum, too.
        return weighted_sum(weights, shares), float(weighted_sum(totals, shares))


@attrs.frozen(eq=False)
class CurveIndex:
    """Where the distinct target scores lie among the sorted scores of both classes.

    Parameters
    ----------
    target_scores : (k,) ndarray of float64
        The distinct target scores, ascending.
    tar : ClassEdges
        Number of targets below each.
    non : ClassEdges
        Number of non-targets below each, and below or equal to each, in turn: 2 k edges.
    """

    target_scores: Float64Array
    tar: ClassEdges
    non: ClassEdges

    @classmethod
    def from_sorted(cls, tar: SortedStrata, non: SortedStrata) -> "CurveIndex":
        """Find the target scores among the targets and the non-targets of each condition."""
        target_scores = _distinct(tar.parts)
        non_edges = (
            np.column_stack((part.count_below(target_scores), part.count_up_to(target_scores)))
            for part in non.parts
        )
        return cls(
            mark_read_only(target_scores),
            _class_edges([part.count_below(target_scores) for part in tar.parts], tar),
            _class_edges([edges.ravel() for edges in non_edges], non),
        )

    def curve(self, tar_weights: Weights, non_weights: Weights) -> WeightedCurve:
        """Return the curve for weights in the order of the sorted scores."""
        return self.curve_of(self.tar.before(tar_weights), self.non.before(non_weights))

    def curve_of(self, tar: tuple[Weights, float], non: tuple[Weights, float]) -> WeightedCurve:
        """Return the curve for weights before the edges of each class, and their totals."""
        misses, tar_total = tar
        below, up_to = non[0].reshape(-1, 2).T
        return WeightedCurve(self.target_scores, np.append(misses, tar_total), below, up_to, non[1])


def _distinct(parts: tuple[SortedScores, ...]) -> Float64Array:
    scores = [part.distinct()[0].astype(np.float64) for part in parts]
    return scores[0] if len(scores) == 1 else np.unique(np.concatenate(scores))


def _class_edges(edges: list[IntArray], strata: SortedStrata) -> ClassEdges:
    sizes = np.array([part.size for part in strata.parts])
    return ClassEdges(tuple(map(mark_read_only, edges)), mark_read_only(sizes), strata.shares)


def running_total(weights: Weights) -> Weights:
    """Return the total of the first i weights, from none to all of them."""
    total = np.zeros(weights.size + 1, dtype=weights.dtype)
    np.cumsum(weights, out=total[1:])
    return total


def eer_of_points(pmiss: Float64Array, pfa: Float64Array) -> float:
    """Return where the lower left hull of these points meets pmiss = pfa.

    Two points either side of the diagonal, at first the two useless decisions,
    define a prior at which they cost the same. The point that is cheapest at
    this prior replaces one of them, until none is cheaper: a handful of passes
    over the points, and no hull.
    """
    low, high = (0.0, 1.0), (1.0, 0.0)
    rising = pmiss - pfa
    while True:
        slope = low[0] - low[1]
        prior = (low[1] - high[1]) / (high[0] - high[1] - slope)
        value = low[1] + prior * slope
        cost = rising * prior
        cost += pfa
        best = int(np.argmin(cost))
        if not cost[best] < value * (1.0 - _ROUNDING):
            return value
        point = (float(pmiss[best]), float(pfa[best]))
        if point[0] < point[1]:
            low = point
        else:
            high = point


@attrs.frozen(eq=False)
class ClassTree:
    """How the trials of one class divide when the distinct target scores are halved.

    Parameters
    ----------
    sizes : (k,) ndarray of int64
        Number of trials of each condition.
    factors : (k,) ndarray of float64
        Weight of a trial of each condition; not used if there is one condition.
    shares : tuple of (n, k) ndarray of float64
        For each level of cuts, from the whole down to pairs of neighbouring target
        scores: the share of each piece's trials of each condition that lies in its left
        half.
    """

    sizes: IntArray
    factors: Float64Array
    shares: tuple[Float64Array, ...]

    @classmethod
    def from_edges(cls, class_edges: ClassEdges, step: int) -> "ClassTree":
        """Arrange the counts; every `step`-th edge lies below a distinct target score."""
        sizes = class_edges.sizes
        counts = [
            np.diff(edges[::step], prepend=0, append=size)
            for edges, size in zip(class_edges.edges, sizes.tolist(), strict=True)
        ]
        return cls(
            sizes, mark_read_only(class_edges.shares / sizes), _shares(np.column_stack(counts))
        )

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

    def rate(self, weights: Weights) -> Float64Array:
        """Return weights as shares of the total."""
        return np.asarray(weights / self.total)


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

    @classmethod
    def whole(cls, n_replicates: int, tar: ClassTree, non: ClassTree) -> "_Pieces":
        """One piece for each replicate, which holds everything."""
        zeros = np.zeros(n_replicates, dtype=np.int64)
        targets, others = (np.tile(tree.sizes, (n_replicates, 1)) for tree in (tar, non))
        nothing = np.zeros(n_replicates)
        return cls(np.arange(n_replicates), zeros, targets, others, nothing, nothing)

    def where(self, chosen: BoolArray) -> "_Pieces":
        """Keep some of the pieces."""
        positions = np.flatnonzero(chosen)
        return _Pieces._make(field.take(positions, axis=0) for field in self)

    def joined(self, *others: "_Pieces") -> "_Pieces":
        """Append other pieces."""
        return _Pieces(*map(np.concatenate, zip(self, *others, strict=True)))

    def cut(
        self, tar: ClassTree, non: ClassTree, level: int, rng: np.random.Generator
    ) -> tuple["_Pieces", "_Pieces"]:
        """Draw how the picks of each piece divide between its two halves."""
        left_targets = rng.binomial(self.targets, tar.shares[level].take(self.node, axis=0))
        left_others = rng.binomial(self.others, non.shares[level].take(self.node, axis=0))
        right_others = self.others - left_others
        left = _Pieces(
            self.replicate,
            2 * self.node,
            left_targets,
            left_others,
            self.misses,
            self.false_alarms + non.weigh(right_others),
        )
        right = _Pieces(
            self.replicate,
            2 * self.node + 1,
            self.targets - left_targets,
            right_others,
            self.misses + tar.weigh(left_targets),
            self.false_alarms,
        )
        return left, right

    @property
    def mixed(self) -> BoolArray:
        """Tell which pieces hold both classes; in others an edge is the best point."""
        return np.asarray(self.targets.any(axis=1) & self.others.any(axis=1))


@attrs.frozen(eq=False)
class LazyCurve:
    """A ROC's counts, arranged for lazy draws of i.i.d. bootstrap replicates.

    Parameters
    ----------
    tar, non : ClassTree
        The counts of each class.
    """

    tar: ClassTree
    non: ClassTree

    @classmethod
    def from_index(cls, index: CurveIndex) -> "LazyCurve":
        """Arrange the counts between target scores.

        Between the thresholds at two neighbouring target scores lie the trials at the
        lower one and the non-targets in the gap above it.
        """
        return cls(ClassTree.from_edges(index.tar, 1), ClassTree.from_edges(index.non, 2))

    def draw_min_costs(
        self, n_replicates: int, miss_cost: float, fa_cost: float, rng: np.random.Generator
    ) -> Float64Array:
        """Draw replicates of the minimum over thresholds of a cost of the error-rates.

        Parameters
        ----------
        n_replicates : int
            How many to draw.
        miss_cost, fa_cost : float
            Price of a miss rate and of a false-alarm rate of one.
        rng : Generator
            Source of randomness.

        Returns
        -------
        (n_replicates,) ndarray of float64
        """
        per_miss, per_fa = miss_cost / self.tar.total, fa_cost / self.non.total
        best = np.full(n_replicates, min(miss_cost, fa_cost))
        pieces = _Pieces.whole(n_replicates, self.tar, self.non)
        for level in range(len(self.tar.shares)):
            left, right = pieces.cut(self.tar, self.non, level, rng)
            np.minimum.at(
                best, left.replicate, per_miss * right.misses + per_fa * left.false_alarms
            )
            to_beat = best[left.replicate]
            kept = [
                half.where(
                    half.mixed & (per_miss * half.misses + per_fa * half.false_alarms < to_beat)
                )
                for half in (left, right)
            ]
            pieces = kept[0].joined(kept[1])
            if pieces.replicate.size == 0:
                break
        return best

    def draw_eers(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        r"""Draw replicates of the EER on the ROC's convex hull.

        Parameters
        ----------
        n_replicates : int
            How many to draw.
        rng : Generator
            Source of randomness.

        Returns
        -------
        (n_replicates,) ndarray of float64

        Notes
        -----
        Write :math:`g(\pi)` for the minimum cost of a replicate at prior
        :math:`\pi`. The edges drawn so far bound it from above by
        :math:`\bar g`, whose maximum :math:`\bar e = \bar g(\pi^*)` bounds the
        EER; the corners of the uncut pieces bound it at :math:`\pi^*` from
        below by :math:`\underline e`. The maximum of :math:`g` lies where
        :math:`\bar g \ge \underline e`, an interval of priors. A piece that
        costs at least :math:`\bar e` at both ends of the interval costs at
        least that inside it too, so it decides nothing and is dropped.
        """
        bracket = _Bracket.start(n_replicates)
        pieces = _Pieces.whole(n_replicates, self.tar, self.non)
        done = pieces.where(np.zeros(n_replicates, dtype=np.bool_))
        n_levels = len(self.tar.shares)
        for level in range(n_levels):
            left, right = pieces.cut(self.tar, self.non, level, rng)
            pieces = left.joined(right)
            cuttable = pieces.mixed & (level + 1 < n_levels)
            # Pieces that need no cut stay as points of the curve.
            done = done.joined(pieces.where(~cuttable))
            pieces = pieces.where(cuttable)
            pieces, done = self._narrow(bracket, pieces, done)
            if pieces.replicate.size == 0:
                break
        return bracket.value

    def _narrow(
        self, bracket: "_Bracket", pieces: _Pieces, done: _Pieces
    ) -> tuple[_Pieces, _Pieces]:
        """Update the bracket by the known points; drop what can no longer decide."""
        replicate = np.concatenate((pieces.replicate, done.replicate))
        pmiss, pfa, width, height = self._rates(pieces, done)
        edge_replicate = np.concatenate((replicate, replicate))
        edge_pmiss = np.concatenate((pmiss, pmiss + width))
        edge_pfa = np.concatenate((pfa + height, pfa))
        bracket.take_in(edge_replicate, edge_pmiss, edge_pfa)

        n_cuttable = pieces.replicate.size
        upper = bracket.value
        prior = bracket.prior[pieces.replicate]
        floor = upper.copy()
        corner = pfa[:n_cuttable] + prior * (pmiss[:n_cuttable] - pfa[:n_cuttable])
        np.minimum.at(floor, pieces.replicate, corner)

        lowest, highest = bracket.prior_range(floor, edge_replicate, edge_pmiss, edge_pfa)
        n_pieces = replicate.size
        cheapest = np.full(n_pieces, np.inf)
        for ends in (lowest, highest):
            prior = ends[replicate]
            cost = pfa + prior * (pmiss - pfa)
            # A piece that is not cut any more is as cheap as its cheaper edge.
            cost[n_cuttable:] += np.minimum(
                ((1.0 - prior) * height)[n_cuttable:], (prior * width)[n_cuttable:]
            )
            np.minimum(cheapest, cost, out=cheapest)
        kept = cheapest < upper[replicate]
        # Where nothing is left to cut, the maximum is found.
        unfinished = np.zeros(upper.size, dtype=np.bool_)
        unfinished[pieces.replicate[kept[:n_cuttable]]] = True
        kept &= unfinished[replicate]
        return pieces.where(kept[:n_cuttable]), done.where(kept[n_cuttable:])

    def _rates(
        self, pieces: _Pieces, done: _Pieces
    ) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array]:
        """Return miss rate left, false-alarm rate right, and the extent in both directions."""
        return (
            self.tar.rate(np.concatenate((pieces.misses, done.misses))),
            self.non.rate(np.concatenate((pieces.false_alarms, done.false_alarms))),
            self.tar.rate(self.tar.weigh(np.concatenate((pieces.targets, done.targets)))),
            self.non.rate(self.non.weigh(np.concatenate((pieces.others, done.others)))),
        )


@attrs.frozen(eq=False)
class _Bracket:
    """For each replicate two points of its curve, either side of pmiss = pfa.

    The line between them meets the diagonal at `value`, the best bound of the
    EER so far, and is the iso-cost line of `prior`. Arrays are updated in
    place.
    """

    # Points with fewer misses than false alarms, and with at least as many.
    low_pmiss: Float64Array
    low_pfa: Float64Array
    high_pmiss: Float64Array
    high_pfa: Float64Array

    @classmethod
    def start(cls, n_replicates: int) -> "_Bracket":
        """Begin with accepting and rejecting everything."""
        zeros, ones = np.zeros(n_replicates), np.ones(n_replicates)
        return cls(zeros.copy(), ones.copy(), ones, zeros)

    @property
    def prior(self) -> Float64Array:
        """Prior at which the two points cost the same."""
        low = self.low_pmiss - self.low_pfa
        high = self.high_pmiss - self.high_pfa
        return (self.low_pfa - self.high_pfa) / (high - low)

    @property
    def value(self) -> Float64Array:
        """What they cost there: the height at which their line meets the diagonal."""
        return self.low_pfa + self.prior * (self.low_pmiss - self.low_pfa)

    def take_in(self, replicate: IntArray, pmiss: Float64Array, pfa: Float64Array) -> None:
        """Move the bracket to the maximum over priors of the minimum over these points.

        Each round asks which point is cheapest at the prior of the present
        bracket, and puts it into the bracket. The prior moves monotonically
        along the hull's edges, so this ends.
        """
        rising = pmiss - pfa
        while replicate.size:
            value = self.value
            cost = pfa + self.prior[replicate] * rising
            cheapest = value.copy()
            np.minimum.at(cheapest, replicate, cost)
            improved = cheapest < value * (1.0 - _ROUNDING)
            # Of several equally cheap points any one will do.
            hits = np.flatnonzero((cost == cheapest[replicate]) & improved[replicate])
            chosen = np.zeros(value.size, dtype=np.int64)
            chosen[replicate[hits]] = hits
            for ends, below in (
                ((self.low_pmiss, self.low_pfa), True),
                ((self.high_pmiss, self.high_pfa), False),
            ):
                moved = np.flatnonzero(improved)
                moved = moved[(rising[chosen[moved]] < 0) == below]
                ends[0][moved] = pmiss[chosen[moved]]
                ends[1][moved] = pfa[chosen[moved]]
            again = improved[replicate]
            replicate = replicate[again]
            pmiss, pfa, rising = pmiss[again], pfa[again], rising[again]

    def prior_range(
        self, floor: Float64Array, replicate: IntArray, pmiss: Float64Array, pfa: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        """Return the lowest and highest prior at which no known point costs less than `floor`."""
        everyone = np.arange(floor.size)
        replicate = np.concatenate((replicate, everyone, everyone))
        pmiss = np.concatenate((pmiss, self.low_pmiss, self.high_pmiss))
        pfa = np.concatenate((pfa, self.low_pfa, self.high_pfa))
        slope = pmiss - pfa
        with np.errstate(divide="ignore", invalid="ignore"):
            limit = (floor[replicate] - pfa) / slope
        lowest, highest = np.zeros(floor.size), np.ones(floor.size)
        rises, falls = np.flatnonzero(slope > 0), np.flatnonzero(slope < 0)
        np.maximum.at(lowest, replicate[rises], limit[rises])
        np.minimum.at(highest, replicate[falls], limit[falls])
        return lowest, highest


def _shares(counts: IntArray) -> tuple[Float64Array, ...]:
    """Return the share of the left half in each piece, level by level from the top."""
    n_cells, n_columns = counts.shape
    n_levels = max(1, int(n_cells - 1).bit_length())
    below = np.zeros((2**n_levels + 1, n_columns), dtype=np.int64)
    np.cumsum(counts, axis=0, out=below[1 : n_cells + 1])
    below[n_cells + 1 :] = below[n_cells]
    shares = []
    for level in range(n_levels, 0, -1):
        edges, middles = below[:: 2**level], below[2 ** (level - 1) :: 2**level]
        inside = np.diff(edges, axis=0)
        share = np.zeros(inside.shape)
        np.divide(middles - edges[:-1], inside, out=share, where=inside > 0)
        shares.append(mark_read_only(share))
    return tuple(shares)


Cells = npt.NDArray[np.unsignedinteger[npt.NBitBase]]

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
        return cls(
            mark_read_only(below),
            mark_read_only(chances),
            number,
            mark_read_only(pieces),
            inside.size,
        )

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
        return cls(mark_read_only(edges), tar, non)

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
