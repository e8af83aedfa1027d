"""Samplers: draw bootstrap replicates of a statistic, each in its fastest exact way.

All draw from the distribution of the plain loop that picks trials and computes the statistic anew.
A sampler is made once, holds only what its draws need, and can be sent to another process.

From weights: scores are sorted, and ties found, once. A replicate of a ROC is one cumulative sum of
weights in each class and condition, read off at the distinct target scores. From sums: what trials
have in common is added up once, by cells between thresholds or by sets. Then the number of trials
does not matter to a replicate. Weights of speakers: see `speaker_curve`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol

import attrs
import numpy as np
import scipy

from bosaris_py._arrays import (
    Float64Array,
    FloatArray,
    IndexArray,
    IntArray,
    Weights,
    mark_read_only,
)
from bosaris_py.trials.strata import SortedStrata, Strata, TrialGroups, slices_of, weighted_sum
from bosaris_py.uncertainty.decisions import rejected
from bosaris_py.uncertainty.resampling import IidPlan, ResamplingPlan, SetPlan
from bosaris_py.uncertainty.speaker_curve import Block, Combine, WeightedCurve

# From the weights of targets and of non-targets, in the order of some sorted scores, to a value.
Evaluator = Callable[[Weights, Weights], float | Float64Array]


# Scores of one class in a system, and the thresholds that apply to them.
ScoredLimits = tuple[FloatArray, Float64Array]


# Picking n scores one by one costs as much as this share of n binomial draws.
_PICKS_PER_BINOMIAL = 8


# Up to this many trials a Fourier transform is quicker than a few hundred replicates.
_LONGEST_TRANSFORM = 2**18


# Steps of the chance, a power of 2 so that a product with it is exact: a look-up in so many takes
# a fifth of a search.
_GUIDE_STEPS = 2**14


class Sampler(Protocol):
    """Draws replicates of one statistic on one set of scores."""

    # Replicates that are drawn from one child of the random generator. Part of
    # what makes results repeatable: not to be adapted to the number of workers.
    block: ClassVar[int]

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""


@attrs.frozen(eq=False)
class WeightedSampler:
    """Any statistic under any plan: draw weights and evaluate them, without a new sort."""

    # The plan draws weights in the order that `evaluate` takes; `shape` is that of a value.

    block: ClassVar[int] = 50

    plan: ResamplingPlan
    evaluate: Evaluator
    shape: tuple[int, ...]

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis; NaN where a condition lost all its weight."""
        replicates = np.full((n_replicates, *self.shape), np.nan)
        for i in range(n_replicates):
            weights = self.plan.draw_weights(rng)
            if self.plan.strata.complete(*weights):
                replicates[i] = self.evaluate(*weights)
        return replicates


# ---- ROCs from weights


@attrs.frozen(eq=False)
class ClassEdges:
    """How many trials of each condition of one class lie before edges on the score axis."""

    # `sizes` and `shares` are the numbers of trials and the weights of the conditions.

    edges: tuple[IntArray, ...]
    sizes: IntArray
    shares: Float64Array

    @classmethod
    def of(cls, edges: Sequence[IntArray], strata: SortedStrata) -> "ClassEdges":
        """Put edges beside the sizes of conditions."""
        sizes = np.array([part.size for part in strata.parts])
        return cls(tuple(map(mark_read_only, edges)), mark_read_only(sizes), strata.shares)

    def before(self, weights: Weights) -> tuple[Weights, float]:
        """Return the weight before each edge, and the total; each condition has its share."""
        running = [running_total(weights[part]) for part in slices_of(self.sizes.tolist())]
        return self._combined(
            [total[edges] for total, edges in zip(running, self.edges, strict=True)],
            [total[-1].item() for total in running],
        )

    def draw(self, rng: np.random.Generator) -> tuple[Weights, float]:
        """Pick as many trials of each condition as it has; return the same of them."""
        sizes = self.sizes.tolist()
        ranks = [_draw_ranks(*pair, rng) for pair in zip(self.edges, sizes, strict=True)]
        return self._combined(ranks, sizes)

    def _combined(
        self, weights: Sequence[Weights], totals: Sequence[float]
    ) -> tuple[Weights, float]:
        if len(weights) == 1:
            return weights[0], totals[0]
        shares = self.shares / totals
        # Each term rises with the edge, and so does a rounded sum in this order; the
        # total is such a sum, too.
        return weighted_sum(weights, shares), float(weighted_sum(totals, shares))


def _draw_ranks(edges: IntArray, n: int, rng: np.random.Generator) -> IntArray:
    """Pick n of n sorted things; return how many picks lie before each edge."""
    if n > _PICKS_PER_BINOMIAL * edges.size:
        cells = np.diff(edges, prepend=0, append=n)
        return rng.multinomial(n, cells / n)[:-1].cumsum()
    return running_total(np.bincount(rng.integers(0, n, size=n), minlength=n))[edges]


def running_total(weights: Weights) -> Weights:
    """Return the total of the first i weights, from none to all of them."""
    total = np.zeros(weights.size + 1, dtype=weights.dtype)
    np.cumsum(weights, out=total[1:])
    return total


@attrs.frozen(eq=False)
class CurveIndex:
    """Where the distinct target scores lie among the sorted scores of both classes."""

    # `tar` has the number of targets below each; `non` the number of non-targets below each, and
    # below or equal to each, in turn.

    target_scores: Float64Array
    tar: ClassEdges
    non: ClassEdges

    @classmethod
    def from_sorted(cls, tar: SortedStrata, non: SortedStrata) -> "CurveIndex":
        """Find the target scores among the targets and the non-targets of each condition."""
        distinct = [part.distinct()[0].astype(np.float64) for part in tar.parts]
        scores = distinct[0] if len(distinct) == 1 else np.unique(np.concatenate(distinct))
        non_edges = [
            np.column_stack((part.count_below(scores), part.count_up_to(scores))).ravel()
            for part in non.parts
        ]
        tar_edges = [part.count_below(scores) for part in tar.parts]
        return cls(
            mark_read_only(scores), ClassEdges.of(tar_edges, tar), ClassEdges.of(non_edges, non)
        )

    def curve(self, tar_weights: Weights, non_weights: Weights) -> WeightedCurve:
        """Return the curve for weights in the order of the sorted scores."""
        return self._curve_of(self.tar.before(tar_weights), self.non.before(non_weights))

    def draw(self, rng: np.random.Generator) -> WeightedCurve:
        """Return the curve of trials that are picked independently."""
        return self._curve_of(self.tar.draw(rng), self.non.draw(rng))

    def _curve_of(self, tar: tuple[Weights, float], non: tuple[Weights, float]) -> WeightedCurve:
        misses, tar_total = tar
        below, up_to = non[0].reshape(-1, 2).T
        return WeightedCurve(self.target_scores, np.append(misses, tar_total), below, up_to, non[1])


@attrs.frozen(eq=False)
class CurveSampler:
    """Any statistic of the ROC, trials picked."""

    # Picks are counted between the target scores only. Where there are many more non-targets than
    # targets, these counts are one multinomial draw, instead of millions of picks.

    block: ClassVar[int] = 50

    index: CurveIndex
    of_curve: Callable[[WeightedCurve], float | Float64Array]

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""
        values = [self.of_curve(self.index.draw(rng)) for _ in range(n_replicates)]
        return np.asarray(values, dtype=np.float64)


# ---- Functions of class means: error-rates at fixed thresholds, and Cllr


# What a transform of probabilities leaves where there should be nothing.
_TRANSFORM_ROUNDING = 2.0**-52


@attrs.frozen(eq=False)
class MeansSampler:
    """A function `combine` of means over the trials of each class, for instance error-rates."""

    block: ClassVar[int] = 500

    tar: "CellCounts | SetSums | ErrorTotal"
    non: "CellCounts | SetSums | ErrorTotal"
    combine: Combine

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""
        tar_means = self.tar.draw_means(n_replicates, rng)
        return np.asarray(self.combine(tar_means, self.non.draw_means(n_replicates, rng)))

    def draw_blocks(self, blocks: Sequence[Block]) -> Float64Array:
        """Draw several blocks one after the other, and make the values of all at once."""
        if isinstance(self.tar, ErrorTotal) and isinstance(self.non, ErrorTotal):
            uniform = [(rng.random(size), rng.random(size)) for size, rng in blocks]
            tar, non = (np.concatenate(part) for part in zip(*uniform, strict=True))
            return np.asarray(self.combine(self.tar.means_at(tar), self.non.means_at(non)))
        means = [
            (self.tar.draw_means(size, rng), self.non.draw_means(size, rng)) for size, rng in blocks
        ]
        return np.asarray(self.combine(*map(np.concatenate, zip(*means, strict=True))))


def count_rejected(scores: FloatArray, limits: Float64Array, index: TrialGroups) -> IntArray:
    """Count the scores below each limit, in each set: (n_sets, n_limits)."""
    if limits.size == 1:
        below = rejected(scores, limits[0])
        if index.labels is None:
            return np.array([[np.count_nonzero(below)]], dtype=np.int64)
        return np.bincount(index.labels[below], minlength=index.n_sets)[:, None]
    order, cells = _cells(scores, limits)
    if index.labels is not None:
        cells = cells + index.labels.astype(np.int64, copy=False) * (limits.size + 1)
    counts = np.bincount(cells, minlength=index.n_sets * (limits.size + 1))
    return _below_limits(counts.reshape(index.n_sets, limits.size + 1), order)


def _cells(scores: FloatArray, limits: Float64Array) -> tuple[IndexArray, IndexArray]:
    """Return the order of the limits, and at how many of them each score is accepted."""
    order = np.argsort(limits, kind="stable")
    # Accept iff score >= limit; float32 scores are compared in float64.
    scores = scores.astype(np.float64, copy=False)
    return order, np.searchsorted(limits[order], scores, side="right")


def _below_limits(cells: IntArray, order: IndexArray) -> IntArray:
    """Add up numbers of trials in the cells, row by row, to those below each limit."""
    below = np.empty((cells.shape[0], order.size), dtype=np.int64)
    below[:, order] = cells[:, :-1].cumsum(axis=1)
    return below


@attrs.frozen(eq=False)
class CellCounts:
    """Trials of one class between the fixed thresholds of one system, or of two; trials picked."""

    # Which thresholds accept a trial is all that matters, so a replicate is a multinomial draw over
    # cells; of one threshold, a binomial draw. `cells` is (k, ...): conditions, then an axis for
    # each system, its cells in ascending order; `orders` sorts the thresholds of each system.
    # Errors are accepted trials, or rejected ones.

    cells: IntArray
    orders: tuple[IndexArray, ...]
    sizes: IntArray
    shares: Float64Array
    accepted: bool

    @classmethod
    def of(cls, systems: Sequence[ScoredLimits], strata: Strata, *, accepted: bool) -> "CellCounts":
        """Count the trials of each condition, given scores and thresholds of each system."""
        if len(systems) == 1:
            scores, limits = systems[0]
            order = np.argsort(limits, kind="stable")
            below = count_rejected(scores, limits, strata)[:, order]
            cells = np.hstack((below, strata.sizes[:, None]))
            cells[:, 1:] -= below
            return cls(mark_read_only(cells), (order,), strata.sizes, strata.shares, accepted)
        shape = strata.n_sets, *(limits.size + 1 for _, limits in systems)
        numbers, orders = np.zeros(strata.n_trials, dtype=np.int64), []
        if strata.labels is not None:
            numbers += strata.labels
        for scores, limits in systems:
            order, cell = _cells(scores, limits)
            orders.append(order)
            numbers = numbers * (limits.size + 1) + cell
        cells = np.bincount(numbers, minlength=int(np.prod(shape))).reshape(shape)
        return cls(mark_read_only(cells), tuple(orders), strata.sizes, strata.shares, accepted)

    def draw_means(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw the error-rates of all systems side by side."""
        rates = []
        for cells, size in zip(self.cells, self.sizes.tolist(), strict=True):
            below = self._draw_below(cells, size, n_replicates, rng)
            rates.append((size - below if self.accepted else below) / size)
        return np.asarray(weighted_sum(rates, self.shares))

    def _draw_below(
        self, cells: IntArray, size: int, n_replicates: int, rng: np.random.Generator
    ) -> IntArray:
        """Draw how many picks lie below each threshold, of all systems side by side."""
        if cells.size == 2:  # the same numbers as a multinomial, in half the time
            return rng.binomial(size, cells[0] / size, size=n_replicates)[:, None]
        if cells.ndim == 1:
            picks = rng.multinomial(size, cells / size, size=n_replicates)
            return _below_limits(picks, self.orders[0])
        # Of the cells of two systems most are empty.
        held = np.flatnonzero(cells)
        picks = np.zeros((n_replicates, cells.size), dtype=np.int64)
        picks[:, held] = rng.multinomial(size, cells.ravel()[held] / size, size=n_replicates)
        picks = picks.reshape(n_replicates, *cells.shape)
        of_systems = picks.sum(axis=2), picks.sum(axis=1)
        return np.hstack(list(map(_below_limits, of_systems, self.orders)))


@attrs.frozen(eq=False)
class SetSums:
    """What each set of one class adds to means; sets picked, and trials in them or not."""

    # Sets that add the same are one row: `multiplicities` sets with `sizes` (n_rows, k) trials of
    # each condition and `sums` (n_rows, k, m) of m quantities over them. With `two_layer` the one
    # quantity is a number of errors, so the trials of a set are a binomial draw.

    multiplicities: IntArray
    sizes: IntArray
    sums: Weights
    shares: Float64Array
    two_layer: bool

    @classmethod
    def of(
        cls, sizes: IntArray, sums: Weights, shares: Float64Array, *, two_layer: bool = False
    ) -> "SetSums":
        """Merge sets that are alike; `sizes` (n_sets k,) and `sums` (n_sets k, m) by `cells`."""
        k = shares.size
        by_set = sizes.reshape(-1, k)
        rows = np.column_stack((by_set, sums.reshape(by_set.shape[0], -1)))
        distinct, multiplicities = np.unique(rows, axis=0, return_counts=True)
        return cls(
            mark_read_only(multiplicities),
            mark_read_only(distinct[:, :k].astype(np.int64)),
            mark_read_only(np.ascontiguousarray(distinct[:, k:]).reshape(distinct.shape[0], k, -1)),
            shares,
            two_layer,
        )

    @property
    def n_sets(self) -> int:
        """Number of sets."""
        return int(self.multiplicities.sum())

    @property
    def can_transform(self) -> bool:
        """Whether `ErrorTotal` takes it: one threshold, sets of equal size, not too many trials."""
        size = int(self.sizes[0, 0])
        alike = self.shares.size == 1 and bool(np.all(self.sizes == size))
        counts = self.sums.shape[2] == 1 and self.sums.dtype.kind == "i"
        return alike and counts and size * self.n_sets <= _LONGEST_TRANSFORM

    def draw_means(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw means; NaN where a condition has no trials."""
        chances = self.multiplicities / self.n_sets
        picks = rng.multinomial(self.n_sets, chances, size=n_replicates)
        if self.two_layer:
            trials = picks[:, :, None] * self.sizes
            rates = self.sums[:, :, 0] / np.maximum(self.sizes, 1)
            sums = rng.binomial(trials, rates).sum(axis=1)[:, :, None]
            sizes = trials.sum(axis=1)
        else:
            # Not by BLAS, whose sums may depend on how many threads it has.
            sums = np.einsum("ij,jkm->ikm", picks, self.sums)
            sizes = picks @ self.sizes
        with np.errstate(invalid="ignore"):
            means = sums / sizes[:, :, None]
        return np.asarray(weighted_sum(list(means.swapaxes(0, 1)), self.shares))


@attrs.frozen(eq=False)
class ErrorTotal:
    """The number of errors in a replicate of sets of equal size, whose law is written down."""

    # It is a sum of independent numbers, one for each pick of a set: a convolution, computed once
    # by the fast Fourier transform. A replicate is then one random number. `distribution` is the
    # chance of at most `first`, `first` + 1, ... errors among `n_trials`; its last value is 1.
    # Of each of many equal steps of chance, `guide` has the place of its numbers in the
    # distribution; -1 where they have several, and are searched for.

    distribution: Float64Array
    guide: IntArray
    first: int
    n_trials: int

    @classmethod
    def of(cls, sets: SetSums) -> "ErrorTotal":
        """Convolve the distribution of one pick with itself, once for each set."""
        size = int(sets.sizes[0, 0])
        errors = sets.sums[:, 0, 0].astype(np.int64)
        chances = sets.multiplicities / sets.n_sets
        if sets.two_layer:
            # A pick is a set, by its share, and a binomial number of errors in it.
            below = scipy.special.bdtr(np.arange(size + 1), size, (errors / size)[:, None])
            one_pick = chances @ np.diff(below, prepend=0.0, axis=1)
        else:
            one_pick = np.zeros(size + 1)
            np.add.at(one_pick, errors, chances)
        n_trials = size * sets.n_sets
        length = scipy.fft.next_fast_len(n_trials + 1, real=True)
        totals = scipy.fft.irfft(scipy.fft.rfft(one_pick, length) ** sets.n_sets, length)[
            : n_trials + 1
        ]
        totals[totals < _TRANSFORM_ROUNDING] = 0.0
        possible = np.flatnonzero(totals)
        distribution = np.cumsum(totals[possible[0] : possible[-1] + 1])
        distribution /= distribution[-1]
        steps = np.arange(_GUIDE_STEPS + 1) / _GUIDE_STEPS
        guide = np.searchsorted(distribution, steps[:-1], side="right").astype(np.int32)
        guide[guide != np.searchsorted(distribution, steps[1:], side="left")] = -1
        shared = mark_read_only(distribution), mark_read_only(guide)
        return cls(*shared, int(possible[0]), n_trials)

    def draw_means(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw error-rates, by inverting the distribution function."""
        return self.means_at(rng.random(n_replicates))

    def means_at(self, uniform: Float64Array) -> Float64Array:
        """Return the error-rates at random numbers, equally likely between 0 and 1."""
        drawn = self.guide[(uniform * _GUIDE_STEPS).astype(np.int32)]
        searched = np.flatnonzero(drawn < 0)
        drawn[searched] = np.searchsorted(self.distribution, uniform[searched], side="right")
        return np.asarray((drawn + self.first) / self.n_trials)[:, None]


def cell_sampler(
    plan: IidPlan, tar: Sequence[ScoredLimits], non: Sequence[ScoredLimits], combine: Combine
) -> MeansSampler:
    """Resample trials, given scores of each class and thresholds, of one system or two."""
    return MeansSampler(
        CellCounts.of(tar, plan.strata.tar, accepted=False),
        CellCounts.of(non, plan.strata.non, accepted=True),
        combine,
    )


def set_sampler(plan: SetPlan, tar: Weights, non: Weights, combine: Combine) -> MeansSampler:
    """Resample sets the faster way, given the sums over the trials of each cell of the plan."""
    tar_sums, non_sums = (
        SetSums.of(cells.sizes, sums, shares, two_layer=plan.two_layer)
        for cells, sums, shares in zip(plan.cells, (tar, non), plan.strata.shares, strict=True)
    )
    if tar_sums.can_transform and non_sums.can_transform:
        return MeansSampler(ErrorTotal.of(tar_sums), ErrorTotal.of(non_sums), combine)
    return MeansSampler(tar_sums, non_sums, combine)
