r"""Lazy bootstrap replicates: only what decides a minimum, or the errors at a threshold, is drawn.

An i.i.d. replicate of a ROC is a multinomial draw of how often each score was picked. Cut the
distinct target scores into halves, and these again, down to single scores: each cut is a binomial
draw, given how many picks fell to the piece. At the edges of a piece a cost is known. Inside it the
cost is at least that of its corner, (misses at the left edge, false alarms at the right edge). A
piece whose corner cannot beat the best edge is never cut. A replicate takes some hundred binomial
draws, for ten million scores hardly more than for ten thousand, and its distribution is exactly
that of the plain bootstrap.

The convex-hull EER is the maximum over the prior of the minimum cost (theory paper, equation 26).
Only pieces that can hold the minimum at a prior near this maximum are cut.

At one threshold only the numbers of errors matter. That of trials is binomial; that of sets of
equal size has a law that is known, which one random number draws (benchmarks/compare_peers.py).
"""

from collections.abc import Callable
from typing import ClassVar, NamedTuple, Self

import attrs
import numpy as np

from bosaris_py._arrays import BoolArray, FloatArray, IntArray
from bosaris_py.metrics.costs import MinCost
from bosaris_py.metrics.metric import AnyMetric, ThresholdMetric
from bosaris_py.metrics.ranks import EER
from bosaris_py.numerics.hull import diagonal_crossing
from bosaris_py.trials.sample import Sample, ScoredClass
from bosaris_py.uncertainty.draws import Method

# Draws numbers of errors: how many replicates, and the source of the randomness.
_DrawErrors = Callable[[int, np.random.Generator], IntArray]

# Of more trials in sets, drawing sets takes less time than the law of their errors.
_LONGEST_LAW = 2**18

# Two costs closer than this are one cost that was rounded in two ways.
_SAME_COST = 1.0 - 2.0**-45


class ClassTree(NamedTuple):
    """How the trials of one class divide when the distinct target scores are halved."""

    size: int
    # For each level of cuts, from the whole down to pairs of neighbouring target scores: the share
    # of each piece's trials that lies in its left half.
    shares: list[FloatArray]

    @classmethod
    def from_counts(cls, counts_below: IntArray) -> "ClassTree":
        """Arrange the trials between thresholds, given the numbers below each."""
        n_cells = counts_below.size - 1
        n_levels = max(1, int(n_cells - 1).bit_length())
        # Empty cells on the right fill the last level.
        below = counts_below[np.minimum(np.arange(2**n_levels + 1), n_cells)]
        shares: list[FloatArray] = []
        for level in range(n_levels, 0, -1):
            edges, middles = below[:: 2**level], below[2 ** (level - 1) :: 2**level]
            shares.append((middles - edges[:-1]) / np.maximum(np.diff(edges), 1))
        return cls(int(below[-1]), shares)


class _Pieces(NamedTuple):
    """Pieces of several replicates that are not decided yet; one entry each."""

    replicate: IntArray
    node: IntArray
    # Number of trials.
    targets: IntArray
    others: IntArray
    # Number of targets below the left edge, and of non-targets above the right edge.
    misses: IntArray
    false_alarms: IntArray

    def where(self, chosen: BoolArray) -> "_Pieces":
        """Keep some of the pieces."""
        places = np.flatnonzero(chosen)
        return _Pieces._make(field[places] for field in self)

    def joined(self, other: "_Pieces") -> "_Pieces":
        """Append other pieces."""
        return _Pieces._make(map(np.concatenate, zip(self, other, strict=True)))

    @property
    def mixed(self) -> BoolArray:
        """Tell which pieces hold both classes; in others an edge is the best point."""
        return np.asarray((self.targets > 0) & (self.others > 0))


@attrs.frozen(eq=False)
class LazyCurve:
    """The counts of a ROC, arranged for lazy draws; subclasses say what is drawn."""

    block: ClassVar[int] = 250

    tar: ClassTree
    non: ClassTree

    @classmethod
    def from_sample(cls, sample: Sample, *fields: object) -> Self:
        """Arrange the counts between thresholds; `fields` are the others of a subclass."""
        return cls(*map(ClassTree.from_counts, sample.counts_below("hull")), *fields)

    def _whole(self, n: int) -> _Pieces:
        """One piece for each of n replicates, which holds everything."""
        zeros = np.zeros(n, np.int64)
        sizes = np.full(n, self.tar.size), np.full(n, self.non.size)
        return _Pieces(np.arange(n), zeros, *sizes, zeros, zeros)

    def _cut(self, pieces: _Pieces, level: int, rng: np.random.Generator) -> list[_Pieces]:
        """Draw how the picks of each piece divide between its left and its right half."""
        replicate, node, targets, others, misses, alarms = pieces
        tar = rng.binomial(targets, self.tar.shares[level][node])
        non = rng.binomial(others, self.non.shares[level][node])
        rest = targets - tar, others - non
        left = _Pieces(replicate, 2 * node, tar, non, misses, alarms + rest[1])
        return [left, _Pieces(replicate, 2 * node + 1, *rest, misses + tar, alarms)]


@attrs.frozen(eq=False)
class LazyMinCost(LazyCurve):
    """Sum of minima of costs over thresholds, of one ROC; often of one cost."""

    # Of each cost the prices of a miss rate and of a false-alarm rate. A piece is cut if it can
    # hold the minimum of any of them.
    prices: list[tuple[float, float]]

    def draw(self, n_replicates: int, rng: np.random.Generator) -> FloatArray:
        """Draw replicates, along the first axis."""
        least = [np.full(n_replicates, min(prices)) for prices in self.prices]
        pieces = self._whole(n_replicates)
        for level in range(len(self.tar.shares)):
            left, right = halves = self._cut(pieces, level, rng)
            is_open = np.zeros((2, left.replicate.size), dtype=np.bool_)
            for (miss, fa), best in zip(self.prices, least, strict=True):
                per_miss, per_fa = miss / self.tar.size, fa / self.non.size
                at_cut = per_miss * right.misses + per_fa * left.false_alarms
                np.minimum.at(best, left.replicate, at_cut)
                # The corner of a piece: the least that any point inside can cost.
                corners = [per_miss * half.misses + per_fa * half.false_alarms for half in halves]
                is_open |= corners < best[left.replicate]
            left, right = (h.where(h.mixed & kept) for h, kept in zip(halves, is_open, strict=True))
            pieces = left.joined(right)
            if not pieces.replicate.size:
                break
        return np.asarray(np.sum(least, axis=0))


@attrs.frozen(eq=False)
class LazyEER(LazyCurve):
    """Equal error rate on the convex hull."""

    def draw(self, n_replicates: int, rng: np.random.Generator) -> FloatArray:
        """Draw replicates, along the first axis."""
        # At first the points where all is accepted, and all is rejected.
        ends = np.array([[0.0], [1.0]]), np.array([[1.0], [0.0]])
        bracket = _Bracket(*(np.repeat(end, n_replicates, axis=1) for end in ends))
        known = self._whole(n_replicates)
        for level in reversed(range(len(self.tar.shares))):
            uncut = known.mixed
            left, right = self._cut(known.where(uncut), -1 - level, rng)
            halves = left.joined(right)
            # Pieces that need no cut stay as points of the curve.
            is_open = halves.mixed & (level > 0)
            points = known.where(~uncut).joined(halves.where(~is_open))
            known = halves.where(is_open).joined(points)
            known = known.where(self._decide(bracket, known, known.mixed & (level > 0)))
            if not known.mixed.any():
                break
        return bracket.meeting()[0]

    # Write g(p) for the minimum cost of a replicate at prior p. The edges drawn so far bound it
    # from above; the maximum `upper` of that bound lies at the bracket's prior and bounds the EER.
    # The corners of the uncut pieces bound g there from below by `floor`. So the maximum of g,
    # which is concave, lies where the upper bound is at least `floor`: between two priors. A piece
    # that costs at least `upper` at both ends of this range costs at least that inside it too,
    # because its cost is linear in p; it decides nothing and is dropped.
    def _decide(self, bracket: "_Bracket", known: _Pieces, is_open: BoolArray) -> BoolArray:
        """Update the bracket by the known points; tell which pieces can still decide."""
        replicate, _, targets, others, misses, false_alarms = known
        # Miss rate left, false-alarm rate right, and the extent in both directions.
        pmiss, pfa = misses / self.tar.size, false_alarms / self.non.size
        width, height = targets / self.tar.size, others / self.non.size
        edges = np.hstack(((pmiss, pfa + height), (pmiss + width, pfa)))
        twice = np.tile(replicate, 2)
        bracket.take_in(twice, edges)

        upper, prior = bracket.meeting()
        floor = upper.copy()
        corner = pfa + prior[replicate] * (pmiss - pfa)
        np.minimum.at(floor, replicate[is_open], corner[is_open])
        costs = []
        for ends in bracket.prior_range(floor, twice, edges):
            prior = ends[replicate]
            # A piece that is not cut any more is as cheap as its cheaper edge.
            at_edges = np.where(is_open, 0.0, np.minimum((1.0 - prior) * height, prior * width))
            costs.append(pfa + prior * (pmiss - pfa) + at_edges)
        kept = np.minimum(*costs) < upper[replicate]
        # Where nothing is left to cut, the maximum is found.
        return kept & (np.bincount(replicate, kept & is_open, upper.size)[replicate] > 0)


@attrs.frozen(eq=False)
class _Bracket:
    """For each replicate two points of its curve, either side of pmiss = pfa."""

    # Both are (2, n_replicates): pmiss and pfa of the points with fewer misses than false alarms,
    # and with at least as many. Updated in place.

    low: FloatArray
    high: FloatArray

    def meeting(self) -> tuple[FloatArray, FloatArray]:
        """Return the best bound of the EER so far, and the prior of the line between the points."""
        return diagonal_crossing(self.low, self.high)

    def take_in(self, replicate: IntArray, points: FloatArray) -> None:
        """Move the bracket to the maximum over priors of the minimum over these points."""
        # A point on pmiss = pfa costs the same at any prior. As an end of before it would hold the
        # value where it is, although other points are cheaper now: the search begins anew.
        both = np.abs([self.low[0] - self.low[1], self.high[0] - self.high[1]])
        flat = np.flatnonzero((both < 1.0 - _SAME_COST).any(axis=0))
        replicate = np.concatenate((replicate, flat, flat))
        points = np.hstack((points, self.low[:, flat], self.high[:, flat]))
        self.low[:, flat], self.high[:, flat] = [[0.0], [1.0]], [[1.0], [0.0]]
        # The search of `hull_eers`, for curves of which different numbers of points are known.
        before, chosen = np.full(self.low.shape[1], np.inf), np.zeros(self.low.shape[1], np.int64)
        while replicate.size:
            rising = points[0] - points[1]
            value, prior = self.meeting()
            cost = points[1] + prior[replicate] * rising
            cheapest = value.copy()
            np.minimum.at(cheapest, replicate, cost)
            # Where a value does not fall that is rounding, which would go on for ever.
            improved = (cheapest < value * _SAME_COST) & (value < before)
            before = value
            # Of several equally cheap points any one will do.
            again = np.flatnonzero(improved[replicate])
            hits = again[cost[again] == cheapest[replicate[again]]]
            chosen[replicate[hits]] = hits
            hits = hits[chosen[replicate[hits]] == hits]
            below = rising[hits] < 0
            for end, side in ((self.low, hits[below]), (self.high, hits[~below])):
                end[:, replicate[side]] = points[:, side]
            replicate, points = replicate[again], points.take(again, axis=1)

    def prior_range(
        self, floor: FloatArray, replicate: IntArray, points: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and highest prior at which no known point costs less than `floor`."""
        everyone = np.arange(floor.size)
        replicate = np.concatenate((replicate, everyone, everyone))
        pmiss, pfa = np.hstack((points, self.low, self.high))
        slope = pmiss - pfa
        with np.errstate(divide="ignore", invalid="ignore"):
            limit = (floor[replicate] - pfa) / slope
        lowest, highest = np.zeros(floor.size), np.ones(floor.size)
        np.maximum.at(lowest, replicate, np.where(slope > 0, limit, 0.0))
        np.minimum.at(highest, replicate, np.where(slope < 0, limit, 1.0))
        return lowest, highest


@attrs.frozen(eq=False)
class LazyErrors:
    """The cost at one threshold: numbers of errors are drawn, not trials."""

    block: ClassVar[int] = 2**17

    # Of each class the price of an error, and what draws the number of errors.
    classes: list[tuple[float, int, _DrawErrors]]

    def draw(self, n_replicates: int, rng: np.random.Generator) -> FloatArray:
        """Draw replicates."""
        costs = [price * (draw(n_replicates, rng) / n) for price, n, draw in self.classes]
        return np.asarray(costs[0] + costs[1])


def _error_law(one: ScoredClass, wrong: BoolArray, method: Method) -> _DrawErrors | None:
    """Return what draws the number of errors of a class, given which trials are wrong."""
    n = one.size
    if one.speakers is None or method == "iid":
        return lambda size, rng: rng.binomial(n, wrong.mean(), size=size)
    sets = np.unique(one.speakers[0], return_inverse=True)[1]
    sizes = np.bincount(sets)
    if np.ptp(sizes) or n > _LONGEST_LAW:
        return None
    # The characteristic function of the errors of one picked set: of a known number of them in
    # one layer, of a binomial number in two. All sets together have its power.
    size = n // sizes.size
    errors, alike = np.unique(np.bincount(sets, wrong), return_counts=True)
    turn = np.exp(-2j * np.pi * np.arange(n // 2 + 1) / (n + 1))
    transform = np.zeros(turn.size, dtype=np.complex128)
    for number, share in zip(errors.tolist(), (alike / sizes.size).tolist(), strict=True):
        within = (1.0 + number / size * (turn - 1.0)) ** size
        transform += share * (turn**number if method == "one-layer" else within)
    law = np.maximum(np.fft.irfft(transform**sizes.size, n + 1), 0.0).cumsum()
    law /= law[-1]
    return lambda size, rng: np.searchsorted(law, rng.random(size), side="right")


def _lazy_errors(
    point: tuple[float, float, float], sample: Sample, method: Method
) -> LazyErrors | None:
    """Find the law of the errors at one threshold; None where sets differ in size."""
    (limit, *prices), classes = point, (sample.tar, sample.non)
    wrong = classes[0].listed < np.float64(limit), classes[1].listed >= np.float64(limit)
    laws = [_error_law(*pair, method) for pair in zip(classes, wrong, strict=True)]
    found = zip(prices, classes, laws, strict=True)
    known = [(price, one.size, draw) for price, one, draw in found if draw is not None]
    return LazyErrors(known) if len(known) == 2 else None


# The methods that compute a metric.
_COMPUTING = "value", "computed", "values", "of_rates"


def lazy_draws(
    metric: AnyMetric, sample: Sample, method: Method = "iid"
) -> LazyMinCost | LazyEER | LazyErrors | None:
    """Return the lazy draws of a metric that has some; of trials with masses there are none."""
    if not (sample.tar.is_plain and sample.non.is_plain):
        return None
    known = (cls for cls in (ThresholdMetric, MinCost, EER) if isinstance(metric, cls))
    base, own = next(known, None), type(metric)
    # A class of the user's own may compute something else.
    if any(getattr(own, name, None) is not getattr(base, name, None) for name in _COMPUTING):
        return None
    match metric:
        case ThresholdMetric(points=[point]) if method != "speaker":
            return _lazy_errors(point, sample, method)
        case MinCost() if method == "iid":
            return LazyMinCost.from_sample(sample, [(miss, fa) for _, miss, fa in metric.points])
        case EER(definition="rocch") if method == "iid":
            return LazyEER.from_sample(sample)
    return None
