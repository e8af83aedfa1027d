"""Samplers: draw replicates of a statistic.

All draw from the same distribution as the plain loop that picks trials, makes
two lists of scores and computes the statistic anew. A sampler is made once,
holds only what its draws need, and can be sent to another process.

What trials have in common is added up once; a replicate then draws how many errors there
are, or how often each set of trials was picked. See `samplers` for the other ways.

All trials of two speakers have the same weight, so their errors, or costs, and
their number are added once. A replicate is then a quadratic form in the weights of
the speakers, however many trials there are, and exactly the same number as a sum
over all trials.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import attrs
import numpy as np
import numpy.typing as npt
from scipy import fft, special

from bosaris_py._arrays import Float64Array, FloatArray, IntArray, Weights, mark_read_only
from bosaris_py._validation import describe, invalid
from bosaris_py.uncertainty.decisions import rejected
from bosaris_py.uncertainty.replicates import ClassEdges, CurveIndex, LazyCurve, WeightedCurve
from bosaris_py.uncertainty.resampling import PersonWeights, ResamplingPlan, UnitGroups
from bosaris_py.uncertainty.strata import SetIndex, Strata, weighted_sum

# Picking n scores one by one costs as much as this share of n binomial draws.
_PICKS_PER_BINOMIAL = 8


class Sampler(Protocol):
    """Draws replicates of one statistic on one set of scores."""

    # Replicates that are drawn from one child of the random generator. Part of
    # what makes results repeatable: not to be adapted to the number of workers.
    block: ClassVar[int]

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""


@attrs.frozen(eq=False)
class LazyMinCostSampler:
    """Minimum of a detection cost, trials picked.

    Parameters
    ----------
    curve : LazyCurve
        The counts of the ROC.
    miss_cost, fa_cost : float
        Price of a miss rate and of a false-alarm rate of one.
    """

    block: ClassVar[int] = 250

    curve: LazyCurve
    miss_cost: float
    fa_cost: float

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""
        return self.curve.draw_min_costs(n_replicates, self.miss_cost, self.fa_cost, rng)


@attrs.frozen(eq=False)
class LazyEERSampler:
    """Equal error rate on the convex hull, trials picked.

    Parameters
    ----------
    curve : LazyCurve
        The counts of the ROC.
    """

    block: ClassVar[int] = 250

    curve: LazyCurve

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""
        return self.curve.draw_eers(n_replicates, rng)


@attrs.frozen(eq=False)
class CurveSampler:
    """Any statistic of the ROC, trials picked.

    Picks are counted between the target scores only. Where there are many more
    non-targets than targets, these counts are drawn at once, as a multinomial,
    instead of picking millions of scores.

    Parameters
    ----------
    index : CurveIndex
        Where the target scores lie.
    of_curve : callable
        Makes the statistic from a `WeightedCurve`.
    """

    block: ClassVar[int] = 50

    index: CurveIndex
    of_curve: Callable[[WeightedCurve], Any]

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""
        index = self.index
        replicates = []
        for _ in range(n_replicates):
            tar, non = _draw_edges(index.tar, rng), _draw_edges(index.non, rng)
            replicates.append(self.of_curve(index.curve_of(tar, non)))
        return np.asarray(replicates, dtype=np.float64)


def _draw_edges(class_edges: ClassEdges, rng: np.random.Generator) -> tuple[Weights, float]:
    """Pick trials of each condition; return the weight before each edge, and the total."""
    sizes = class_edges.sizes.tolist()
    ranks = [
        _draw_ranks(edges, size, rng) for edges, size in zip(class_edges.edges, sizes, strict=True)
    ]
    return class_edges.combined(ranks, sizes)


def _draw_ranks(edges: IntArray, n: int, rng: np.random.Generator) -> IntArray:
    """Pick n of n sorted things; return how many picks lie before each edge."""
    if n > _PICKS_PER_BINOMIAL * edges.size:
        cells = np.diff(edges, prepend=0, append=n)
        return rng.multinomial(n, cells / n)[:-1].cumsum()
    picks = np.bincount(rng.integers(0, n, size=n), minlength=n)
    before = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(picks, out=before[1:])
    return before[edges]


@attrs.frozen(eq=False)
class WeightedSampler:
    """Any statistic under any plan: draw weights, gather, sum; never a new sort.

    Parameters
    ----------
    plan : ResamplingPlan
        Draws weights in the order of the sorted scores.
    evaluate : callable
        Makes the statistic from the weights of targets and of non-targets.
    shape : tuple of int
        Shape of the statistic, () for a number.
    """

    block: ClassVar[int] = 50

    plan: ResamplingPlan
    evaluate: Callable[[Weights, Weights], Any]
    shape: tuple[int, ...]

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis; NaN where a condition lost all its weight."""
        replicates = np.full((n_replicates, *self.shape), np.nan)
        for i in range(n_replicates):
            weights = self.plan.draw_weights(rng)
            if self.plan.strata.complete(*weights):
                replicates[i] = self.evaluate(*weights)
        return replicates


@attrs.frozen(eq=False)
class CallableSampler:
    """A user's function under any plan: the slow path.

    Parameters
    ----------
    tar, non : ndarray
        Scores in the user's order.
    plan : ResamplingPlan
        Draws weights in that order.
    function : callable
        Called as ``function(tar, non, tar_weights, non_weights)``.
    shape : tuple of int
        Shape of what it returns.
    """

    block: ClassVar[int] = 50

    tar: FloatArray
    non: FloatArray
    plan: ResamplingPlan
    function: Callable[[FloatArray, FloatArray, Float64Array, Float64Array], Any]
    shape: tuple[int, ...]

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis; NaN where a condition lost all its weight."""
        weighted = WeightedSampler(self.plan, self._evaluate, self.shape)
        return weighted.draw(n_replicates, rng)

    def _evaluate(self, tar_weights: Weights, non_weights: Weights) -> Any:
        weights = self.plan.strata.weigh(tar_weights, non_weights)
        return call_function(self.function, self.tar, self.non, *weights, shape=self.shape)


def call_function(
    function: Callable[..., Any],
    tar: FloatArray,
    non: FloatArray,
    tar_weights: Float64Array,
    non_weights: Float64Array,
    *,
    shape: tuple[int, ...] | None = None,
) -> Float64Array:
    """Return what a user's function makes of scores and weights, checked.

    The function cannot change the scores, which other replicates need. `shape` is
    that of its value on the data.
    """
    scores = []
    for values in (tar, non):
        view = values.view()
        view.setflags(write=False)
        scores.append(view)
    returned = function(*scores, tar_weights, non_weights)
    try:
        value = np.asarray(returned)
    except ValueError:  # rows of different lengths
        value = np.array(None)
    if value.dtype.kind not in "fiub" or not value.size:
        expected = "return a number or an array of numbers"
        raise invalid("statistic", expected, describe(returned))
    if shape is not None and value.shape != shape:
        expected = f"return a value of the same shape for all replicates, {shape} as on the data"
        raise invalid("statistic", expected, f"{value.shape}")
    return value.astype(np.float64)


# From the means of one row per replicate in each class to one value per replicate.
Combine = Callable[[Float64Array, Float64Array], Any]

# Up to this many trials a Fourier transform is quicker than a few hundred replicates.
_LONGEST_TRANSFORM = 2**18

# What a transform of probabilities leaves where there should be nothing.
_ROUNDING = 2.0**-52


def count_rejected(
    scores: FloatArray, limits: Float64Array, index: SetIndex | None = None
) -> IntArray:
    """Count the scores below each limit, in each set: (n_sets, n_limits), or one row."""
    n_sets = 1 if index is None else index.n_sets
    if limits.size == 1:
        below = rejected(scores, limits[0])
        if index is None:
            return np.array([[np.count_nonzero(below)]], dtype=np.int64)
        return np.bincount(index.labels[below], minlength=n_sets)[:, None]
    order = np.argsort(limits, kind="stable")
    # A score is rejected at the limits above it, all but the first `cell` ones.
    cell = np.searchsorted(limits[order], scores.astype(np.float64, copy=False), side="right")
    if index is not None:
        cell = cell + index.labels * (limits.size + 1)
    counts = np.bincount(cell, minlength=n_sets * (limits.size + 1))
    counts = counts.reshape(n_sets, limits.size + 1)[:, :-1].cumsum(axis=1)
    counts[:, order] = counts.copy()
    return counts


@attrs.frozen(eq=False)
class RejectedCounts:
    """How many trials of each condition of one class lie below fixed thresholds.

    Parameters
    ----------
    rejected : (k, n_limits) ndarray of int64
        Number of trials of each condition below each threshold.
    sizes : (k,) ndarray of int64
        Number of trials of each condition.
    shares : (k,) ndarray of float64
        Weight of each condition in the class.
    """

    rejected: IntArray
    sizes: IntArray
    shares: Float64Array

    @classmethod
    def from_scores(
        cls, scores: FloatArray, limits: Float64Array, strata: Strata
    ) -> "RejectedCounts":
        """Count the trials of each condition."""
        index = None
        if strata.labels is not None:
            index = SetIndex(strata.labels.astype(np.int64), strata.sizes)
        counts = count_rejected(scores, limits, index)
        return cls(mark_read_only(counts), strata.sizes, strata.shares)

    def draw_rates(
        self, n_replicates: int, rng: np.random.Generator, *, accepted: bool
    ) -> Float64Array:
        """Draw the rate of rejected, or accepted, trials: (n_replicates, n_limits)."""
        rates = []
        for counts, size in zip(self.rejected, self.sizes.tolist(), strict=True):
            drawn = _draw_rejected(counts, size, n_replicates, rng)
            rates.append((size - drawn if accepted else drawn) / size)
        return np.asarray(weighted_sum(rates, self.shares))


@attrs.frozen(eq=False)
class IidRateSampler:
    """Error-rates at fixed thresholds, trials picked: binomial draws, however many trials.

    With several thresholds, a multinomial draw over the cells between them; with
    several conditions, a draw for each.

    Parameters
    ----------
    tar, non : RejectedCounts
        Number of trials below each threshold.
    combine : callable
        Makes the statistic from miss and false-alarm rates.
    """

    block: ClassVar[int] = 500

    tar: RejectedCounts
    non: RejectedCounts
    combine: Combine

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""
        pmiss = self.tar.draw_rates(n_replicates, rng, accepted=False)
        pfa = self.non.draw_rates(n_replicates, rng, accepted=True)
        return np.asarray(self.combine(pmiss, pfa))


def _draw_rejected(
    counts: IntArray, n_trials: int, n_replicates: int, rng: np.random.Generator
) -> IntArray:
    if counts.size == 1:
        drawn = rng.binomial(n_trials, counts[0] / n_trials, size=n_replicates)
        return drawn[:, None]
    order = np.argsort(counts, kind="stable")
    cells = np.diff(counts[order], prepend=0, append=n_trials)
    rows = rng.multinomial(n_trials, cells / n_trials, size=n_replicates)[:, :-1].cumsum(axis=1)
    result = np.empty_like(rows)
    result[:, order] = rows
    return result


@attrs.frozen(eq=False)
class SetTable:
    """What each set of one class adds to a mean; sets that add the same are one row.

    Parameters
    ----------
    multiplicities : (n_rows,) ndarray of int64
        Number of sets that each row stands for.
    sizes : (n_rows, k) ndarray of int64
        Number of trials of each condition in each of these sets.
    sums : (n_rows, k, m) ndarray of int64 or float64
        Sums of m quantities over the trials of each condition of the set.
    shares : (k,) ndarray of float64
        Weight of each condition in the class.
    """

    multiplicities: IntArray
    sizes: IntArray
    sums: Weights
    shares: Float64Array

    @classmethod
    def from_sums(cls, sizes: IntArray, sums: Weights, shares: Float64Array) -> "SetTable":
        """Merge the sets that are alike.

        Parameters
        ----------
        sizes : (n_sets * k,) ndarray of int64
            Number of trials of each condition of each set, see `Strata.cells`.
        sums : (n_sets * k, m) ndarray of int64 or float64
            Sums over these trials.
        shares : (k,) ndarray of float64
            Weight of each condition in the class.
        """
        k = shares.size
        by_set = sizes.reshape(-1, k)
        rows = np.column_stack((by_set, sums.reshape(by_set.shape[0], -1)))
        distinct, multiplicities = np.unique(rows, axis=0, return_counts=True)
        return cls(
            mark_read_only(multiplicities),
            mark_read_only(distinct[:, :k].astype(np.int64)),
            mark_read_only(np.ascontiguousarray(distinct[:, k:]).reshape(distinct.shape[0], k, -1)),
            shares,
        )

    @property
    def n_sets(self) -> int:
        """Number of sets."""
        return int(self.multiplicities.sum())

    def draw_picks(self, n_replicates: int, rng: np.random.Generator) -> IntArray:
        """Pick n_sets sets with replacement; return how often each row: (n_replicates, n_rows)."""
        chances = self.multiplicities / self.n_sets
        return rng.multinomial(self.n_sets, chances, size=n_replicates)

    def means(self, sums: Weights, sizes: IntArray) -> Float64Array:
        """Divide sums by numbers of trials, both (n_replicates, k, ...), and add up conditions.

        NaN where a condition has no trials.
        """
        with np.errstate(invalid="ignore"):
            rates = sums / sizes[:, :, None]
        return np.asarray(weighted_sum(list(rates.swapaxes(0, 1)), self.shares))


@attrs.frozen(eq=False)
class ErrorTotal:
    """The distribution of the number of errors in a replicate of sets of equal size.

    Parameters
    ----------
    distribution : (n_totals,) ndarray of float64
        Chance of at most `first`, `first` + 1, ... errors; the last is 1.
    first : int
        Least number of errors that is possible.
    n_trials : int
        Number of trials in every replicate.
    """

    distribution: Float64Array
    first: int
    n_trials: int

    @classmethod
    def from_table(cls, table: SetTable, *, two_layer: bool) -> "ErrorTotal":
        """Convolve the distribution of one pick with itself, once for each set."""
        size = int(table.sizes[0, 0])
        errors = table.sums[:, 0, 0].astype(np.int64)
        chances = table.multiplicities / table.n_sets
        if two_layer:
            # A pick is a set, by its share, and a binomial number of errors in it.
            below = special.bdtr(np.arange(size + 1), size, (errors / size)[:, None])
            one_pick = chances @ np.diff(below, prepend=0.0, axis=1)
        else:
            one_pick = np.zeros(size + 1)
            np.add.at(one_pick, errors, chances)
        n_trials = size * table.n_sets
        length = fft.next_fast_len(n_trials + 1, real=True)
        totals = fft.irfft(fft.rfft(one_pick, length) ** table.n_sets, length)[: n_trials + 1]
        # What is left of impossible totals is rounding.
        totals[totals < _ROUNDING] = 0.0
        possible = np.flatnonzero(totals)
        distribution = np.cumsum(totals[possible[0] : possible[-1] + 1])
        distribution /= distribution[-1]
        return cls(mark_read_only(distribution), int(possible[0]), n_trials)

    def draw_rates(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw error-rates: (n_replicates, 1)."""
        drawn = np.searchsorted(self.distribution, rng.random(n_replicates), side="right")
        return np.asarray((drawn + self.first) / self.n_trials)[:, None]


@attrs.frozen(eq=False)
class ErrorTotalSampler:
    """Error-rates at one threshold, sets of equal size picked, and trials in them or not.

    The number of errors in a replicate is a sum of independent numbers, one for
    each pick of a set, so its distribution can be written down: a convolution,
    computed once by the fast Fourier transform. A replicate is then one random
    number for each class.

    Parameters
    ----------
    tar, non : ErrorTotal
        Distributions of the number of misses and of false alarms.
    combine : callable
        Makes the statistic from miss and false-alarm rates.
    """

    block: ClassVar[int] = 500

    tar: ErrorTotal
    non: ErrorTotal
    combine: Combine

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""
        pmiss = self.tar.draw_rates(n_replicates, rng)
        return np.asarray(self.combine(pmiss, self.non.draw_rates(n_replicates, rng)))


@attrs.frozen(eq=False)
class OneLayerSampler:
    """Means over trials, whole sets picked: picks times sums.

    Parameters
    ----------
    tar, non : SetTable
        Sums over the trials of each set.
    combine : callable
        Makes the statistic from the means over both classes.
    """

    block: ClassVar[int] = 500

    tar: SetTable
    non: SetTable
    combine: Combine

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""
        means = (self._means(table, n_replicates, rng) for table in (self.tar, self.non))
        return np.asarray(self.combine(*means))

    @staticmethod
    def _means(table: SetTable, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        picks = table.draw_picks(n_replicates, rng)
        # Not by BLAS, whose sums may depend on how many threads it has.
        sums = np.einsum("ij,jkm->ikm", picks, table.sums)
        return table.means(sums, picks @ table.sizes)


@attrs.frozen(eq=False)
class TwoLayerRateSampler:
    """Error-rates at one threshold, sets picked and trials in them.

    Only the number of errors of a set matters, and sets with as many errors
    among as many trials are alike: a multinomial draw over the distinct counts,
    then one binomial draw for each, and for each condition of the set.

    Parameters
    ----------
    tar, non : SetTable
        Number of errors in each set, one column.
    combine : callable
        Makes the statistic from miss and false-alarm rates.
    """

    block: ClassVar[int] = 500

    tar: SetTable
    non: SetTable
    combine: Combine

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""
        rates = (self._rates(table, n_replicates, rng) for table in (self.tar, self.non))
        return np.asarray(self.combine(*rates))

    @staticmethod
    def _rates(table: SetTable, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        trials = table.draw_picks(n_replicates, rng)[:, :, None] * table.sizes
        rates = table.sums[:, :, 0] / np.maximum(table.sizes, 1)
        errors = rng.binomial(trials, rates).sum(axis=1)
        return table.means(errors[:, :, None], trials.sum(axis=1))


def set_rate_sampler(
    tar: SetTable, non: SetTable, *, two_layer: bool, combine: Combine
) -> "ErrorTotalSampler | OneLayerSampler | TwoLayerRateSampler":
    """Choose the fastest way to resample sets for error-rates at fixed thresholds.

    Two layers take a single threshold: one column of errors in each table.
    """
    if tar.sums.shape[2] == 1 and all(_can_transform(table) for table in (tar, non)):
        return ErrorTotalSampler(
            ErrorTotal.from_table(tar, two_layer=two_layer),
            ErrorTotal.from_table(non, two_layer=two_layer),
            combine,
        )
    kind = TwoLayerRateSampler if two_layer else OneLayerSampler
    return kind(tar, non, combine)


def _can_transform(table: SetTable) -> bool:
    size = int(table.sizes[0, 0])
    alike = table.shares.size == 1 and bool(np.all(table.sizes == size))
    return alike and size * table.n_sets <= _LONGEST_TRANSFORM


# Products of two weights that are held at a time: 32 MB.
_PRODUCTS_AT_A_TIME = 2**22


@attrs.frozen(eq=False)
class UnitTable:
    """Sums over the trials of each person or pair of persons, for one class.

    Parameters
    ----------
    shape : tuple of int
        Number of persons, (k,) or (k, l).
    first, second : (n_groups,) ndarray of int or None
        Persons of each group if only those who meet are listed; else groups are
        the cells of a table of this shape, row by row.
    sums : (m + 1, n_groups) ndarray of float64
        Sums of m quantities over the trials of each group; the number of trials last.
    exact : bool
        Whether the sums are whole numbers.
    """

    shape: tuple[int, ...]
    first: npt.NDArray[np.int64] | None
    second: npt.NDArray[np.int64] | None
    sums: Float64Array
    exact: bool

    @classmethod
    def from_sums(cls, groups: UnitGroups, sums: Weights) -> "UnitTable":
        """Put the number of trials beside the sums: (n_groups, m)."""
        rows = np.vstack((sums.T, groups.index.sizes)).astype(np.float64)
        exact = bool(np.issubdtype(sums.dtype, np.integer))
        return cls(groups.shape, groups.first, groups.second, mark_read_only(rows), exact)

    def means(self, first: Weights, second: Weights) -> Float64Array:
        """Return weighted means over the trials: (n_replicates, m); NaN if no weight is left."""
        totals = self._totals(first, second)
        with np.errstate(invalid="ignore"):
            return np.asarray(totals[:, :-1] / totals[:, -1:])

    def _totals(self, first: Weights, second: Weights) -> Float64Array:
        exact = self.exact and bool(np.issubdtype(first.dtype, np.integer))
        left = first.astype(np.float64, copy=False)
        if len(self.shape) == 1:
            return _product(left, self.sums.T, exact=exact)
        right = second.astype(np.float64, copy=False)
        if self.first is None or self.second is None:
            totals = np.empty((left.shape[0], self.sums.shape[0]))
            for column, sums in enumerate(self.sums):
                of_second = _product(left, sums.reshape(self.shape), exact=exact)
                of_second *= right
                totals[:, column] = of_second.sum(axis=1)
            return totals
        step = max(1, _PRODUCTS_AT_A_TIME // self.first.size)
        parts = [
            _product(
                left[i : i + step, self.first] * right[i : i + step, self.second],
                self.sums.T,
                exact=exact,
            )
            for i in range(0, left.shape[0], step)
        ]
        return np.concatenate(parts)


def _product(left: Float64Array, right: Float64Array, *, exact: bool) -> Float64Array:
    """Multiply matrices; the last bit must not depend on how many threads BLAS has."""
    if exact:
        return np.asarray(left @ right)
    return np.asarray(np.einsum("ij,jk->ik", left, right))


@attrs.frozen(eq=False)
class ClassSums:
    """Sums over the trials of one class, condition by condition.

    Parameters
    ----------
    tables : tuple of UnitTable
        Sums over the trials of each condition.
    shares : (k,) ndarray of float64
        Weight of each condition in the class.
    """

    tables: tuple[UnitTable, ...]
    shares: Float64Array

    def means(self, first: Weights, second: Weights) -> Float64Array:
        """Return weighted means: (n_replicates, m); NaN if a condition lost all its weight."""
        means = [table.means(first, second) for table in self.tables]
        return np.asarray(weighted_sum(means, self.shares))


@attrs.frozen(eq=False)
class SpeakerSums:
    """A statistic that is a function of weighted means over the trials of each class.

    Parameters
    ----------
    tar, non : ClassSums
        Sums over the trials of each class.
    combine : callable
        Makes the statistic from the means.
    """

    tar: ClassSums
    non: ClassSums
    combine: Combine

    def __call__(self, first: Weights, second: Weights) -> Float64Array:
        """Return one value for each row of weights; NaN where a class lost all its weight."""
        tar, non = self.tar.means(first, second), self.non.means(first, second)
        values = np.asarray(self.combine(tar, non), dtype=np.float64)
        values[np.isnan(tar[:, 0]) | np.isnan(non[:, 0])] = np.nan
        return values


@attrs.frozen(eq=False)
class SpeakerSumsSampler:
    """Statistics made of sums, speakers weighted.

    Parameters
    ----------
    persons : PersonWeights
        Draws the weights of the speakers.
    systems : tuple of SpeakerSums
        One system, or several on the same trials.
    """

    block: ClassVar[int] = 50

    persons: PersonWeights
    systems: tuple[SpeakerSums, ...]

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates along the first axis; several systems along the second."""
        first, second = self.persons.draw(n_replicates, rng)
        values = [sums(first, second) for sums in self.systems]
        return values[0] if len(values) == 1 else np.stack(values, axis=1)
