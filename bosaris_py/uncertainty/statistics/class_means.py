"""Functions of means over each class: error rates and costs at thresholds, Cllr."""

from __future__ import annotations

import abc
import functools
import math
from typing import Any, ClassVar

import attrs
import numpy as np
import scipy

from bosaris_py._arrays import Float64Array, FloatArray, IntArray, Weights, mark_read_only
from bosaris_py._validation import as_flag, describe, invalid
from bosaris_py.evaluation.figure_names import figure_of
from bosaris_py.numerics.llr_cost import softplus
from bosaris_py.numerics.priors import DecisionCosts, OperatingPoint
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.strata import SetIndex, SortedStrata, TrialGroups, weighted_sum
from bosaris_py.uncertainty.decisions import as_threshold
from bosaris_py.uncertainty.resampling import IidPlan, ResamplingPlan, SetPlan
from bosaris_py.uncertainty.speaker_curve import (
    SpeakerMeans,
    SpeakerRates,
    SpeakerTrials,
    ValuesOfSpeakers,
)
from bosaris_py.uncertainty.statistics import samplers
from bosaris_py.uncertainty.statistics.samplers import Evaluator, Sampler
from bosaris_py.uncertainty.statistics.statistic import (
    AtPriors,
    Bounds,
    Means,
    Statistic,
    WhichClass,
)


class _MeansStatistic(Statistic):
    """A function of means over the trials of each class."""

    __slots__ = ()

    @abc.abstractmethod
    def combine(self, tar_means: Float64Array, non_means: Float64Array) -> Float64Array:
        """Make values from means: one row for each replicate, one column for each mean."""

    @abc.abstractmethod
    def sums(self, scores: FloatArray, index: SetIndex, which: WhichClass) -> Weights:
        """Add up what the means are of over the trials of each set: (n_sets, m)."""

    def sampler(self, sample: ListedSample, plan: ResamplingPlan) -> Sampler:
        """Choose the fastest way to draw replicates; see `Statistic.sampler`."""
        # If whole sets are picked, their sums are all it takes.
        if isinstance(plan, SetPlan) and not plan.two_layer:
            return self._set_sampler(sample, plan)
        return super().sampler(sample, plan)

    def _set_sampler(self, sample: ListedSample, plan: SetPlan) -> Sampler:
        tar, non = sample.lists
        sums = self.sums(tar, plan.cells[0], 0), self.sums(non, plan.cells[1], 1)
        return samplers.set_sampler(plan, *sums, self.combine)

    @abc.abstractmethod
    def means_of(self, strata: SortedStrata, which: WhichClass) -> Means:
        """Prepare for means of one class under many weights, given sorted scores by condition."""

    def evaluator(self, tar: SortedStrata, non: SortedStrata) -> Evaluator:
        """Prepare for many sets of weights; see `Statistic.evaluator`."""
        return functools.partial(self._of_weights, self.means_of(tar, 0), self.means_of(non, 1))

    def _of_weights(
        self, tar: Means, non: Means, tar_weights: Weights, non_weights: Weights
    ) -> float | Float64Array:
        value: float | Float64Array
        value = self.combine(tar(tar_weights)[None, :], non(non_weights)[None, :])[0]
        return value


class ThresholdStatistic(_MeansStatistic):
    """A function of the error-rates at one or several fixed thresholds."""

    __slots__ = ()

    # The classes whose errors it counts.
    judged: ClassVar[tuple[WhichClass, ...]] = (0, 1)

    @property
    @abc.abstractmethod
    def fa_limits(self) -> Float64Array:
        """Thresholds: a non-target at or above is a false alarm. One-dimensional."""

    @property
    def miss_limits(self) -> Float64Array:
        """Thresholds: a target below is a miss. One-dimensional."""
        return self.fa_limits

    def of_sample(self, sample: ListedSample) -> float | Float64Array:
        """Make the value from the error-rates."""
        pmiss, pfa = sample.error_rates(self.fa_limits)
        if not np.array_equal(self.miss_limits, self.fa_limits):
            pmiss, _ = sample.error_rates(self.miss_limits)
        value: float | Float64Array = self.combine(pmiss[None, :], pfa[None, :])[0]
        return value

    def sums(self, scores: FloatArray, index: TrialGroups, which: WhichClass) -> Weights:
        """Count the errors in each set, at each threshold."""
        if which == 0:
            return samplers.count_rejected(scores, self.miss_limits, index)
        return index.sizes[:, None] - samplers.count_rejected(scores, self.fa_limits, index)

    def means_of(self, strata: SortedStrata, which: WhichClass) -> Means:
        """Count the scores below the thresholds: errors are low targets, high non-targets."""
        limits = self.fa_limits if which else self.miss_limits
        counts = [part.count_below(limits) for part in strata.parts]
        parts = list(zip(strata.slices, counts, strict=True))
        return functools.partial(_weighted_rates, which, parts, strata.shares)

    def sampler(self, sample: ListedSample, plan: ResamplingPlan) -> Sampler:
        """Choose the fastest way to draw replicates; see `Statistic.sampler`."""
        # Trials: binomial draws. Sets: the distribution of the number of errors, or draws over the
        # distinct numbers of errors in a set. Sets, trials in them, several thresholds: weights.
        if isinstance(plan, IidPlan):
            tar, non = sample.lists
            limits = [(tar, self.miss_limits)], [(non, self.fa_limits)]
            return samplers.cell_sampler(plan, *limits, self.combine)
        if isinstance(plan, SetPlan) and self.fa_limits.size == 1:
            return self._set_sampler(sample, plan)
        return super().sampler(sample, plan)

    def speaker_sums(self, trials: SpeakerTrials) -> ValuesOfSpeakers:
        """Count the errors of each pair of speakers."""
        return SpeakerRates.of(trials, (self.miss_limits, self.fa_limits), self.combine)


def _weighted_rates(
    which: WhichClass, parts: list[tuple[slice, IntArray]], shares: Float64Array, weights: Weights
) -> Float64Array:
    """Return error-rates of one class: sums of the weights of the lowest scores, or the rest."""
    rates = []
    for place, below_limits in parts:
        part = weights[place]
        total = part.sum()
        if below_limits.size == 1:  # faster; and the same, up to rounding
            below = np.array([part[: below_limits[0]].sum()])
        else:
            below = samplers.running_total(part)[below_limits]
        rates.append((total - below if which else below) / total)
    return np.asarray(weighted_sum(rates, shares))


class _ActualCost(ThresholdStatistic):
    """A detection cost at fixed thresholds, given `costs` and `normalize`."""

    __slots__ = ()

    normalize: bool

    @property
    @abc.abstractmethod
    def costs(self) -> DecisionCosts:
        """The prices of the two errors."""

    @property
    def bounds(self) -> Bounds:
        """From no errors to nothing but errors."""
        costs = self.costs
        ones = np.ones_like(costs.miss)
        return 0.0, costs.cost(ones, ones, normalize=self.normalize)

    def combine(self, tar_means: Float64Array, non_means: Float64Array) -> Float64Array:
        """Make costs from error-rates."""
        # NISTIR 7722, equation (6): C_miss P_miss P_tar + C_fa P_fa (1 - P_tar).
        if not self.shape:
            tar_means, non_means = tar_means[:, 0], non_means[:, 0]
        return self.costs.cost(tar_means, non_means, normalize=self.normalize)


def _to_threshold(value: object) -> float:
    return as_threshold(value, "threshold")


@attrs.frozen
class DCF(_ActualCost):
    r"""Detection cost at a fixed threshold, the measure of the uncertainty papers.

    Make one with threshold, prior and both costs: the papers have ``DCF(threshold, 0.01, 10, 1)``,
    which was ``DCF(threshold)`` in version 0.2.

    Parameters
    ----------
    threshold : float
        Accept iff score >= threshold.
    p_target : float
        Prior probability of a target, strictly between 0 and 1.
    c_miss : float
        Cost of a miss, positive.
    c_fa : float
        Cost of a false alarm, positive.
    normalize : bool, default: False
        Divide by the cost of the better decision made without a detector.

    Notes
    -----
    :math:`C_{miss} P_{miss}(t) P_{tar} + C_{fa} P_{fa}(t) (1-P_{tar})`, NISTIR 7722 equation (6),
    Wu et al. 2017 equation (3). The papers count integer scores equal to the threshold as errors in
    both classes (equation 2); here a score equal to the threshold is accepted, see
    `standard_error_distribution` for the papers' way.

    Examples
    --------
    >>> round(DCF(2.0, 0.01, 10, 1)([1.0, 3.0], [0.0, 2.5]), 6)
    0.545
    """

    threshold: float = attrs.field(converter=_to_threshold)
    p_target: float
    c_miss: float
    c_fa: float
    normalize: bool = attrs.field(default=False, converter=as_flag, kw_only=True)

    def __attrs_post_init__(self) -> None:
        """Let the operating point check prior and costs."""
        OperatingPoint(self.p_target, self.c_miss, self.c_fa)

    @property
    def costs(self) -> DecisionCosts:
        """The prices of the two errors."""
        return DecisionCosts.from_prior(OperatingPoint(self.p_target, self.c_miss, self.c_fa))

    @property
    def fa_limits(self) -> Float64Array:
        """The threshold, as an array of one."""
        return np.array([self.threshold])


@attrs.frozen
class TwiceCountedDCF(DCF):
    """A DCF for integer scores that counts the threshold as an error in both classes."""

    @property
    def miss_limits(self) -> Float64Array:
        """The next number above the threshold: targets up to the threshold are missed."""
        # Wu et al. 2016, equation (2); NISTIR 7722, equation (5).
        with np.errstate(over="ignore"):
            return np.array([np.nextafter(self.threshold, np.inf)])


def count_twice(statistic: object) -> TwiceCountedDCF:
    """Return a DCF whose threshold counts as an error in both classes."""
    if not isinstance(statistic, DCF):
        expected = "be a DCF if the threshold is counted twice"
        raise invalid("statistic", expected, describe(statistic))
    return TwiceCountedDCF(**attrs.asdict(statistic))


@attrs.frozen
class ActDCF(AtPriors, _ActualCost):
    """Actual DCF: detection cost of Bayes decisions from log-likelihood-ratios.

    Parameters
    ----------
    prior : float, (k,) array_like of float, OperatingPoint or sequence of them
        Target probability (unit costs), or an operating point with its own
        costs; several make the statistic an array.
    normalize : bool, default: False
        Divide by the cost of the better decision made without a detector.

    See Also
    --------
    bosaris_py.act_dcf : The same number as a function.

    Examples
    --------
    >>> ActDCF(0.5)([1.0, 3.0], [-1.0, 2.0])
    0.25
    """

    _column = "act_dcf"
    _takes_llrs = True

    @property
    def fa_limits(self) -> Float64Array:
        """The Bayes thresholds."""
        return np.atleast_1d(self.costs.thresholds)


@attrs.frozen
class MeanActDCF(ThresholdStatistic):
    """The mean of actual costs over several operating points, as evaluations publish it."""

    points: tuple[OperatingPoint, ...]
    normalize: bool = attrs.field(default=False, converter=as_flag, kw_only=True)

    _takes_llrs = True

    @property
    def each(self) -> tuple[ActDCF, ...]:
        """The cost at each point."""
        return tuple(ActDCF(point, normalize=self.normalize) for point in self.points)

    @property
    def _together(self) -> ActDCF:
        return ActDCF(self.points, normalize=self.normalize)

    @property
    def bounds(self) -> Bounds:
        """From no errors to nothing but errors."""
        _, high = self._together.bounds
        return 0.0, float(np.mean(np.asarray(high)))

    @property
    def fa_limits(self) -> Float64Array:
        """The Bayes thresholds."""
        return self._together.fa_limits

    def combine(self, tar_means: Float64Array, non_means: Float64Array) -> Float64Array:
        """Make the mean cost from error-rates."""
        means: Float64Array = self._together.combine(tar_means, non_means).mean(axis=1)
        return means


def _to_thresholds(thresholds: Any) -> float | tuple[float, ...]:
    if np.ndim(thresholds) == 0:
        return as_threshold(thresholds, "thresholds")
    values = tuple(as_threshold(t, "thresholds") for t in thresholds)
    if not values:
        raise invalid("thresholds", "hold at least one threshold", "none")
    return values


@attrs.frozen
class ErrorRates(ThresholdStatistic):
    """Miss and false-alarm rate at fixed thresholds, for error bars on a DET plot.

    Parameters
    ----------
    thresholds : float or (k,) array_like of float
        Accept iff score >= threshold.

    Notes
    -----
    The value is an array: the miss rate, then the false-alarm rate; two rows of
    k for several thresholds.

    Examples
    --------
    >>> ErrorRates(2.0)([1.0, 3.0, 4.0, 5.0], [0.0, 2.5]).tolist()
    [0.25, 0.5]
    """

    thresholds: float | tuple[float, ...] = attrs.field(converter=_to_thresholds)

    @property
    def shape(self) -> tuple[int, ...]:
        """Two rates for each threshold."""
        return (2, *np.shape(self.thresholds))

    @property
    def numbers(self) -> tuple[Statistic, ...]:
        """The miss rate at each threshold, then the false-alarm rate at each."""
        thresholds = self.fa_limits.tolist()
        return (*map(FNMR, thresholds), *map(FMR, thresholds))

    @property
    def fa_limits(self) -> Float64Array:
        """The thresholds."""
        return np.atleast_1d(np.asarray(self.thresholds, dtype=np.float64))

    bounds = 0.0, 1.0

    def combine(self, tar_means: Float64Array, non_means: Float64Array) -> Float64Array:
        """Put the two rates side by side."""
        return np.stack((tar_means, non_means), axis=1).reshape(-1, *self.shape)


@attrs.frozen
class _Rate(ThresholdStatistic):
    """One error-rate at a fixed threshold."""

    threshold: float = attrs.field(converter=_to_threshold)

    bounds = 0.0, 1.0

    @property
    def fa_limits(self) -> Float64Array:
        """The threshold, as an array of one."""
        return np.array([self.threshold])

    def combine(self, tar_means: Float64Array, non_means: Float64Array) -> Float64Array:
        """Return the rate of the class."""
        return (tar_means, non_means)[self.judged[0]][:, 0]


@attrs.frozen
class FNMR(_Rate):
    """False non-match rate, the miss rate at a fixed threshold: of ISO/IEC 19795-1.

    Parameters
    ----------
    threshold : float
        Accept iff score >= threshold.

    See Also
    --------
    ErrorRates : Both rates, at several thresholds.
    FNMRAt : At the threshold that keeps to a false match rate.

    Examples
    --------
    >>> FNMR(2.0)([1.0, 3.0, 4.0, 5.0], [0.0, 2.5])
    0.25
    """

    judged: ClassVar[tuple[WhichClass, ...]] = (0,)


@attrs.frozen
class FMR(_Rate):
    """False match rate, the false-alarm rate at a fixed threshold: of ISO/IEC 19795-1.

    Parameters
    ----------
    threshold
        As for `FNMR`.

    See Also
    --------
    FMRAt : At the threshold that keeps to a false non-match rate.

    Examples
    --------
    >>> FMR(2.0)([1.0, 3.0, 4.0, 5.0], [0.0, 2.5])
    0.5
    """

    judged: ClassVar[tuple[WhichClass, ...]] = (1,)


class LossStatistic(_MeansStatistic):
    """The sum of the mean losses of both classes; `loss` and `bounds` say all of it."""

    __slots__ = ()

    @abc.abstractmethod
    def loss(self, which: WhichClass, scores: FloatArray) -> Float64Array:
        """Return what trials of one class lose."""

    @property
    @abc.abstractmethod
    def bounds(self) -> tuple[float, float]:
        """Least and greatest value."""

    def of_sample(self, sample: ListedSample) -> Any:
        """Add up the mean losses of the two classes."""
        (tar, non), (of_tar, of_non) = sample.lists, sample.trial_weights
        losses = self.loss(0, tar), self.loss(1, non)
        return float(np.average(losses[0], weights=of_tar) + np.average(losses[1], weights=of_non))

    def combine(self, tar_means: Float64Array, non_means: Float64Array) -> Float64Array:
        """Add up the mean losses of the two classes."""
        return tar_means[:, 0] + non_means[:, 0]

    def sums(self, scores: FloatArray, index: SetIndex, which: WhichClass) -> Weights:
        """Add up the losses of the trials of each set."""
        sums = np.bincount(index.labels, self.loss(which, scores), minlength=index.n_sets)
        return np.asarray(sums, dtype=np.float64)[:, None]

    def means_of(self, strata: SortedStrata, which: WhichClass) -> Means:
        """Compute the loss of each score."""
        losses = mark_read_only(self.loss(which, strata.values))
        return functools.partial(_mean_loss, strata.slices, losses, strata.shares)

    def speaker_sums(self, trials: SpeakerTrials) -> ValuesOfSpeakers:
        """Add up the losses of each pair of speakers."""
        tar, non = trials.sample.lists
        return SpeakerMeans.of(trials, (self.loss(0, tar), self.loss(1, non)), self.combine)


# Brummer and du Preez 2006: a target of log-likelihood-ratio x costs log2(1 + e^-x) bits, a
# non-target log2(1 + e^x).
_SIGNS = (-1.0, 1.0)


@attrs.frozen
class Cllr(LossStatistic):
    """Cllr: the cost of log-likelihood-ratios over all operating points, in bits.

    See Also
    --------
    bosaris_py.cllr : The same number as a function.

    Examples
    --------
    >>> Cllr()([0.0, 0.0], [0.0])
    1.0
    """

    words = figure_of("cllr").name

    # From perfect scores to arbitrarily misleading ones.
    bounds = 0.0, math.inf

    _takes_llrs = True

    def of_sample(self, sample: ListedSample) -> float | Float64Array:
        """Return the cost."""
        return sample.cllr

    def combine(self, tar_means: Float64Array, non_means: Float64Array) -> Float64Array:
        """Average the mean costs of the two classes."""
        # Both classes weigh the same, whatever the numbers of their trials.
        return (tar_means[:, 0] + non_means[:, 0]) / 2.0

    def loss(self, which: WhichClass, scores: FloatArray) -> Float64Array:
        """Return the cost in bits."""
        return bits_of(_SIGNS[which], scores)


@attrs.frozen
class Brier(LossStatistic):
    """The Brier score of log-likelihood-ratios at even odds, over that of no detector."""

    bounds = 0.0, 4.0

    _takes_llrs = True

    def loss(self, which: WhichClass, scores: FloatArray) -> Float64Array:
        """Return twice the squared posterior of the wrong proposition."""
        # At even odds that is 1 / (1 + e^x) of a target. Without a detector it is 1/2, by whose
        # square the mean over both classes is divided.
        return np.asarray(2.0 * scipy.special.expit(_SIGNS[which] * scores) ** 2)


def _mean_loss(
    slices: list[slice], losses: Float64Array, shares: Float64Array, weights: Weights
) -> Float64Array:
    # Not by BLAS, whose sums may depend on how many threads it has.
    products = weights * losses
    means = [products[place].sum() / weights[place].sum() for place in slices]
    return np.array([weighted_sum(means, shares)])


def bits_of(sign: float, scores: FloatArray, base: float = 2.0) -> Float64Array:
    """Return log2(1 + e^(sign x)), the cost of log-likelihood-ratios x in bits; or to a base."""
    bits = softplus(scores, sign)
    bits /= math.log(base)
    return bits
