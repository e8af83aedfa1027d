r"""Lazy bootstrap replicates: only what decides a minimum, or the errors at a threshold, is drawn.

An i.i.d. replicate of a ROC is a multinomial draw of how often each score was picked. Cut the
distinct target scores into halves, and these again, down to single scores: each cut is a binomial
draw, given how many picks fell to the piece. At the edges of a piece a cost is known. Inside it the
cost is at least that of its corner, (misses at the left edge, false alarms at the right edge). A
piece whose corner cannot beat the best edge is never cut. A replicate takes some hundred binomial
draws, for ten million scores hardly more than for ten thousand, and its distribution is exactly
that of the plain bootstrap. With conditions a cut is a draw for each, and costs are sums of theirs.

The convex-hull EER is the maximum over the prior of the minimum cost (theory paper, equation 26).
Only pieces that can hold the minimum at a prior near this maximum are cut.

At one threshold only the numbers of errors matter. That of trials is binomial; that of sets of
equal size has a law that is known, which one random number draws (benchmarks/suite/uncertainty.py).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ClassVar, NamedTuple, Self, TypeAlias

import attrs
import numpy as np

from bosaris_py._arrays import BoolArray, Float64Array, IntArray, Weights, mark_read_only
from bosaris_py.metrics.costs import MinDCF
from bosaris_py.metrics.metric import AnyMetric, ThresholdMetric
from bosaris_py.metrics.ranks import EER
from bosaris_py.metrics.third_class import ADCF
from bosaris_py.numerics.hull import SAME_COST, diagonal_crossing
from bosaris_py.trials.sample import Sample, ScoredClass
from bosaris_py.uncertainty.draws import Method

# Draws numbers of errors: how many replicates, and the source of the randomness.
_DrawErrors: TypeAlias = Callable[[int, np.random.Generator], IntArray]

# Of more trials in sets, drawing sets takes less time than the law of their errors.
_LONGEST_LAW = 2**18


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
    def from_class(cls, one: ScoredClass, counts_below: IntArray) -> "ClassTree":
        """Arrange the trials between thresholds, which `counts_below` divides when sorted."""
        n_cells = counts_below.size - 1
        n_levels = max(1, int(n_cells - 1).bit_length())
        groups = one.sorted_groups
        held = np.flatnonzero(one.shares)
        # Empty cells on the right fill the last level.
        below = np.zeros((2**n_levels + 1, held.size), dtype=np.int64)
        for column, group in enumerate(held.tolist()):
            own = slice(None) if groups is None else groups == group
            members = np.arange(one.size)[own]
            below[: n_cells + 1, column] = np.searchsorted(members, counts_below)
        below[n_cells:] = below[n_cells]
        shares = []
        for level in range(n_levels, 0, -1):
            edges, middles = below[:: 2**level], below[2 ** (level - 1) :: 2**level]
            inside = np.diff(edges, axis=0)
            share = np.zeros(inside.shape)
            np.divide(middles - edges[:-1], inside, out=share, where=inside > 0)
            shares.append(mark_read_only(share))
        sizes = below[-1]
        return cls(sizes, mark_read_only(one.shares[held] / sizes), tuple(shares))

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
    def from_sample(cls, sample: Sample, *fields: object) -> Self:
        """Arrange the counts between thresholds; `fields` are the others of a subclass."""
        below = sample.counts_below("hull")
        trees = (
            ClassTree.from_class(*pair)
            for pair in zip((sample.tar, sample.non), below, strict=True)
        )
        return cls(*trees, *fields)

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
    """Sum of minima of costs over thresholds, of one ROC; often of one cost."""

    # Of each cost the prices of a miss rate and of a false-alarm rate. A piece is cut if it can
    # hold the minimum of any of them.
    prices: tuple[tuple[float, float], ...]

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""
        totals = self.tar.total, self.non.total
        per_trial = [(miss / totals[0], alarm / totals[1]) for miss, alarm in self.prices]
        least = [np.full(n_replicates, min(prices)) for prices in self.prices]
        pieces = self._whole(n_replicates)
        for level in range(len(self.tar.shares)):
            left, right = self._cut(pieces, level, rng)
            open_halves = [np.zeros(left.replicate.size, dtype=np.bool_) for _ in range(2)]
            for (per_miss, per_fa), best in zip(per_trial, least, strict=True):
                at_cut = per_miss * right.misses + per_fa * left.false_alarms
                np.minimum.at(best, left.replicate, at_cut)
                to_beat = best[left.replicate]
                for half, is_open in zip((left, right), open_halves, strict=True):
                    # The corner of a piece: the least that any point inside can cost.
                    is_open |= per_miss * half.misses + per_fa * half.false_alarms < to_beat
            pieces, other = (
                half.where(half.mixed & is_open)
                for half, is_open in zip((left, right), open_halves, strict=True)
            )
            pieces = pieces.joined(other)
            if pieces.replicate.size == 0:
                break
        return np.asarray(np.sum(least, axis=0))


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
        # A point on pmiss = pfa costs the same at any prior. As an end of before it would hold the
        # value where it is, although other points are cheaper now: the search begins anew.
        both = np.abs([self.low[0] - self.low[1], self.high[0] - self.high[1]])
        flat = np.flatnonzero((both < 1.0 - SAME_COST).any(axis=0))
        replicate = np.concatenate((replicate, flat, flat))
        pmiss = np.concatenate((pmiss, self.low[0, flat], self.high[0, flat]))
        pfa = np.concatenate((pfa, self.low[1, flat], self.high[1, flat]))
        self.low[:, flat], self.high[:, flat] = [[0.0], [1.0]], [[1.0], [0.0]]
        # The search of `hull_eers`, for curves of which different numbers of points are known.
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


@attrs.frozen(eq=False)
class LazyErrors:
    """The cost at one threshold: numbers of errors are drawn, not trials."""

    block: ClassVar[int] = 2**17

    # Of each class the price of its error-rate, its size, and what draws the number of errors.
    classes: tuple[tuple[float, int, _DrawErrors], ...]

    @classmethod
    def from_sample(
        cls, point: tuple[float, float, float], sample: Sample, method: Method
    ) -> Self | None:
        """Find the law of the errors of both classes; None where sets differ in size."""
        limit, *prices = point
        wrong = sample.tar.listed < np.float64(limit), sample.non.listed >= np.float64(limit)
        draws = [
            _error_law(one, errors, method)
            for one, errors in zip((sample.tar, sample.non), wrong, strict=True)
        ]
        found = zip(prices, (sample.tar.size, sample.non.size), draws, strict=True)
        classes = tuple((price, size, draw) for price, size, draw in found if draw is not None)
        return cls(classes) if len(classes) == len(prices) else None

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates."""
        costs = [price * (draw(n_replicates, rng) / n) for price, n, draw in self.classes]
        return np.asarray(costs[0] + costs[1])


def _error_law(one: ScoredClass, wrong: BoolArray, method: Method) -> _DrawErrors | None:
    """Return what draws the number of errors of a class, given which trials are wrong."""
    if one.speakers is None or method == "iid":
        return functools.partial(_draw_binomial, one.size, float(wrong.mean()))
    sets = np.unique(one.speakers[0], return_inverse=True)[1]
    sizes, errors = np.bincount(sets), np.bincount(sets, wrong)
    size = int(sizes[0])
    if (sizes != size).any() or one.size > _LONGEST_LAW:
        return None
    # The characteristic function of the errors of one picked set: of a known number of them in
    # one layer, of a binomial number in two. All sets together have its power.
    errors, alike = np.unique(errors, return_counts=True)
    turn = np.exp(-2j * np.pi * np.arange(one.size // 2 + 1) / (one.size + 1))
    transform = np.zeros(turn.size, dtype=np.complex128)
    for number, count in zip(errors.tolist(), alike.tolist(), strict=True):
        within = 1.0 + number / size * (turn - 1.0)
        transform += count / sizes.size * (turn**number if method == "one-layer" else within**size)
    chances = np.fft.irfft(transform**sizes.size, one.size + 1)
    law = np.maximum(chances, 0.0).cumsum()
    return functools.partial(_draw_by_law, law / law[-1])


def _draw_binomial(n: int, chance: float, n_replicates: int, rng: np.random.Generator) -> IntArray:
    return rng.binomial(n, chance, size=n_replicates)


def _draw_by_law(law: Float64Array, n_replicates: int, rng: np.random.Generator) -> IntArray:
    return np.searchsorted(law, rng.random(n_replicates), side="right")


def lazy_draws(
    metric: AnyMetric, sample: Sample, method: Method = "iid"
) -> LazyMinCost | LazyEER | LazyErrors | None:
    """Return the lazy draws of a metric that has some; trials with weights have none."""
    plain = sample.tar.is_plain and sample.non.is_plain
    if isinstance(metric, ThresholdMetric) and plain and method != "speaker":
        points = metric.points
        return LazyErrors.from_sample(points[0], sample, method) if len(points) == 1 else None
    if method != "iid" or sample.tar.weights is not None or sample.non.weights is not None:
        return None
    if isinstance(metric, (MinDCF, ADCF)):
        prices = tuple((miss, fa) for _, miss, fa in metric.points)
        return LazyMinCost.from_sample(sample, prices)
    if isinstance(metric, EER) and metric.definition == "rocch":
        return LazyEER.from_sample(sample)
    return None
