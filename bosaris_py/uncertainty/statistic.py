"""Statistics that can be resampled, each with its fastest exact way.

Each is called like a function, ``statistic(tar, non)``, and chooses the fastest way to its own
bootstrap replicates, see `Statistic.sampler`. There are functions of class means (error-rates at
fixed thresholds, Cllr), of the ROC, and those that a user gives.
"""

from __future__ import annotations

import abc
import functools
import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import (
    BoolArray,
    Float64Array,
    FloatArray,
    IndexArray,
    IntArray,
    Readable,
    Weights,
    mark_read_only,
)
from bosaris_py._validation import as_number, cautions, describe, invalid, one_of
from bosaris_py.numerics.llr_cost import softplus
from bosaris_py.numerics.priors import DecisionCosts, OperatingPoint, PriorLike
from bosaris_py.numerics.roc import ROC
from bosaris_py.numerics.rocch import SAME_COST, eer_of_hull, eers_of_hulls
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.strata import SetIndex, SortedStrata, TrialGroups, weighted_sum
from bosaris_py.uncertainty import statistic_samplers
from bosaris_py.uncertainty.bootstrap_result import IntervalKind
from bosaris_py.uncertainty.decisions import as_threshold
from bosaris_py.uncertainty.lazy_curve import LazyEER, LazyMinCost
from bosaris_py.uncertainty.resampling import IidPlan, ResamplingPlan, SetPlan, SpeakerPlan
from bosaris_py.uncertainty.speaker_curve import (
    SpeakerCurve,
    SpeakerMeans,
    SpeakerRates,
    SpeakerSampler,
    SpeakerTrials,
    ValuesOfSpeakers,
    WeightedCurve,
    open_cells,
)
from bosaris_py.uncertainty.statistic_samplers import CurveIndex, Evaluator, Sampler

Bounds = tuple[npt.ArrayLike, npt.ArrayLike]

# From weights of the trials of one class to weighted means over them.
Means = Callable[[Weights], Float64Array]

# The targets, or the non-targets.
WhichClass = Literal[0, 1]


class Statistic(metaclass=Readable):
    """Base of the statistics that know a fast way to their bootstrap replicates."""

    __slots__ = ()

    default_interval: ClassVar[IntervalKind] = "percentile"

    # Whether scores are taken for log-likelihood-ratios.
    _takes_llrs: ClassVar[bool] = False

    def __call__(
        self,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        tar_weights: npt.ArrayLike | None = None,
        non_weights: npt.ArrayLike | None = None,
    ) -> Any:
        """Compute the statistic.

        Parameters
        ----------
        tar : (n_tar,) array_like of float
            Target scores; no NaN, +-inf allowed.
        non : (n_non,) array_like of float
            Non-target scores, likewise.
        tar_weights, non_weights : array_like of float, optional
            Trial weights, finite and not negative; one each by default.

        Returns
        -------
        float or ndarray of float64, of shape `shape`
        """
        sample = ListedSample.from_scores(tar, non, tar_weights, non_weights)
        value = self.of_sample(sample)
        if self._takes_llrs:
            sample.warn_unless_llrs()
        return value if np.ndim(value) else float(value)

    @abc.abstractmethod
    def of_sample(self, sample: ListedSample) -> Any:
        """Compute the statistic of a sample.

        Parameters
        ----------
        sample : ListedSample
            Scored trials, alike, weighted or in weighted conditions.

        Returns
        -------
        float or ndarray of float64, of shape `shape`
        """

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value, () for a number."""
        return ()

    @property
    @abc.abstractmethod
    def bounds(self) -> Bounds:
        """Least and greatest value that is possible; intervals are clipped to it."""

    @abc.abstractmethod
    def evaluator(self, tar: SortedStrata, non: SortedStrata) -> Evaluator:
        """Prepare for evaluating many sets of weights on the same scores.

        Parameters
        ----------
        tar, non : SortedStrata
            The scores of both classes, by condition.

        Returns
        -------
        callable
            Called with weights of both classes in the order of the sorted scores, condition by
            condition. Those of each condition are divided by their sum.
        """

    def sampler(self, sample: ListedSample, plan: ResamplingPlan) -> Sampler:
        """Choose the fastest way to draw replicates under a plan.

        Parameters
        ----------
        sample : ListedSample
            The scored trials for which the plan was made.
        plan : ResamplingPlan
            How trials are weighted in each replicate.

        Returns
        -------
        Sampler
        """
        if isinstance(plan, SpeakerPlan):
            values = self.speaker_sums(SpeakerTrials(sample, plan))
            if values is not None:
                return SpeakerSampler(plan.persons, (values,))
        tar, non = sample.tar, sample.non
        if isinstance(plan, IidPlan) and plan.strata.is_single:
            # All trials are alike, so the order of sorting need not be known.
            evaluator = self.evaluator(tar.sorted, non.sorted)
            return statistic_samplers.WeightedSampler(plan, evaluator, self.shape)
        plan = plan.reordered(tar.order, non.order)
        evaluator = self.evaluator(tar.sorted, non.sorted)
        return statistic_samplers.WeightedSampler(plan, evaluator, self.shape)

    def in_order(self, sample: ListedSample) -> Evaluator:
        """Prepare for many sets of weights in the order of the trials, not of sorted scores.

        Parameters
        ----------
        sample : ListedSample
            The scored trials.

        Returns
        -------
        callable
            Called with the weights of both classes.
        """
        orders = sample.tar.order, sample.non.order
        evaluator = self.evaluator(sample.tar.sorted, sample.non.sorted)
        return functools.partial(_in_order, evaluator, *orders)

    def speaker_sums(self, trials: SpeakerTrials) -> ValuesOfSpeakers | None:
        """Prepare for many sets of weights of speakers.

        Parameters
        ----------
        trials : SpeakerTrials
            The scored trials, and who takes part in each.

        Returns
        -------
        callable or None
            Called with the weights of the persons on either side, one row for each replicate;
            returns one value for each row. If None, weights are given to each trial.
        """
        return None


def _in_order(
    evaluate: Evaluator, tar_order: IndexArray, non_order: IndexArray, tar: Weights, non: Weights
) -> Any:
    return evaluate(tar[tar_order], non[non_order])


def _to_prior(prior: Any) -> Any:
    """Keep a prior in a form that is immutable and can be compared."""
    if isinstance(prior, (OperatingPoint, DecisionCosts)) or np.ndim(prior) == 0:
        return prior
    return tuple(p if isinstance(p, OperatingPoint) else float(p) for p in prior)


def _check_prior(instance: object, attribute: Any, value: Any) -> None:
    """Raise unless a value is a prior or several."""
    DecisionCosts.from_prior(value)


@attrs.frozen
class _AtPriors(Statistic):
    """A detection cost at given priors."""

    prior: PriorLike = attrs.field(converter=_to_prior, validator=_check_prior)
    normalize: bool = attrs.field(default=False, kw_only=True)

    @property
    def costs(self) -> DecisionCosts:
        """The prices of the two errors."""
        return DecisionCosts.from_prior(self.prior)

    @property
    def shape(self) -> tuple[int, ...]:
        """One value for each operating point."""
        return self.costs.plo.shape


# ---- Functions of class means


class _MeansStatistic(Statistic):
    """A function of means over the trials of each class."""

    __slots__ = ()

    @abc.abstractmethod
    def combine(self, tar_means: Float64Array, non_means: Float64Array) -> Any:
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
        return statistic_samplers.set_sampler(plan, *sums, self.combine)

    @abc.abstractmethod
    def means_of(self, strata: SortedStrata, which: WhichClass) -> Means:
        """Prepare for means of one class under many weights, given sorted scores by condition."""

    def evaluator(self, tar: SortedStrata, non: SortedStrata) -> Evaluator:
        """Prepare for many sets of weights; see `Statistic.evaluator`."""
        return functools.partial(self._of_weights, self.means_of(tar, 0), self.means_of(non, 1))

    def _of_weights(
        self, tar: Means, non: Means, tar_weights: Weights, non_weights: Weights
    ) -> Any:
        return self.combine(tar(tar_weights)[None, :], non(non_weights)[None, :])[0]


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

    def of_sample(self, sample: ListedSample) -> Any:
        """Make the value from the error-rates."""
        pmiss, pfa = sample.error_rates(self.fa_limits)
        if not np.array_equal(self.miss_limits, self.fa_limits):
            pmiss, _ = sample.error_rates(self.miss_limits)
        return self.combine(pmiss[None, :], pfa[None, :])[0]

    def sums(self, scores: FloatArray, index: TrialGroups, which: WhichClass) -> Weights:
        """Count the errors in each set, at each threshold."""
        if which == 0:
            return statistic_samplers.count_rejected(scores, self.miss_limits, index)
        return index.sizes[:, None] - statistic_samplers.count_rejected(
            scores, self.fa_limits, index
        )

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
            return statistic_samplers.cell_sampler(plan, *limits, self.combine)
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
            below = statistic_samplers.running_total(part)[below_limits]
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

    def combine(self, tar_means: Float64Array, non_means: Float64Array) -> Any:
        """Make costs from error-rates."""
        # NISTIR 7722, equation (6): C_miss P_miss P_tar + C_fa P_fa (1 - P_tar).
        if not self.shape:
            tar_means, non_means = tar_means[:, 0], non_means[:, 0]
        return self.costs.cost(tar_means, non_means, normalize=self.normalize)


def _to_threshold(value: Any) -> float:
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
    normalize: bool = attrs.field(default=False, kw_only=True)

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
class ActDCF(_AtPriors, _ActualCost):
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

    _takes_llrs = True

    @property
    def fa_limits(self) -> Float64Array:
        """The Bayes thresholds."""
        return np.atleast_1d(self.costs.thresholds)


@attrs.frozen
class MeanActDCF(ThresholdStatistic):
    """The mean of actual costs over several operating points, as evaluations publish it."""

    points: tuple[OperatingPoint, ...]
    normalize: bool = attrs.field(default=False, kw_only=True)

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

    def combine(self, tar_means: Float64Array, non_means: Float64Array) -> Any:
        """Make the mean cost from error-rates."""
        return self._together.combine(tar_means, non_means).mean(axis=1)


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
    def fa_limits(self) -> Float64Array:
        """The thresholds."""
        return np.atleast_1d(np.asarray(self.thresholds, dtype=np.float64))

    bounds = 0.0, 1.0

    def combine(self, tar_means: Float64Array, non_means: Float64Array) -> Any:
        """Put the two rates side by side."""
        return np.stack((tar_means, non_means), axis=1).reshape(-1, *self.shape)


class _Rate(ThresholdStatistic):
    """One error-rate at a fixed threshold."""

    __slots__ = ()

    threshold: float

    bounds = 0.0, 1.0

    @property
    def fa_limits(self) -> Float64Array:
        """The threshold, as an array of one."""
        return np.array([self.threshold])

    def combine(self, tar_means: Float64Array, non_means: Float64Array) -> Any:
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

    threshold: float = attrs.field(converter=_to_threshold)


@attrs.frozen
class FMR(_Rate):
    """False match rate, the false-alarm rate at a fixed threshold: of ISO/IEC 19795-1.

    Parameters
    ----------
    threshold : float
        Accept iff score >= threshold.

    See Also
    --------
    ErrorRates : Both rates, at several thresholds.
    FMRAt : At the threshold that keeps to a false non-match rate.

    Examples
    --------
    >>> FMR(2.0)([1.0, 3.0, 4.0, 5.0], [0.0, 2.5])
    0.5
    """

    judged: ClassVar[tuple[WhichClass, ...]] = (1,)

    threshold: float = attrs.field(converter=_to_threshold)


# Cost of a target's and of a non-target's log-likelihood-ratio x: softplus of -x, of x.
_SIGNS = (-1.0, 1.0)


@attrs.frozen
class Cllr(_MeansStatistic):
    """Cllr: the cost of log-likelihood-ratios over all operating points, in bits.

    See Also
    --------
    bosaris_py.cllr : The same number as a function.

    Examples
    --------
    >>> Cllr()([0.0, 0.0], [0.0])
    1.0
    """

    # From perfect scores to arbitrarily misleading ones.
    bounds = 0.0, math.inf

    _takes_llrs = True

    def of_sample(self, sample: ListedSample) -> Any:
        """Return the cost."""
        return sample.cllr

    def combine(self, tar_means: Float64Array, non_means: Float64Array) -> Any:
        """Average the mean costs of the two classes."""
        # Both classes weigh the same, whatever the numbers of their trials.
        return (tar_means[:, 0] + non_means[:, 0]) / 2.0

    def sums(self, scores: FloatArray, index: SetIndex, which: WhichClass) -> Weights:
        """Add up the costs of the trials of each set."""
        sums = np.bincount(index.labels, bits_of(_SIGNS[which], scores), minlength=index.n_sets)
        return np.asarray(sums, dtype=np.float64)[:, None]

    def means_of(self, strata: SortedStrata, which: WhichClass) -> Means:
        """Compute the cost of each score."""
        bits = mark_read_only(bits_of(_SIGNS[which], strata.values))
        return functools.partial(_mean_bits, strata.slices, bits, strata.shares)

    def speaker_sums(self, trials: SpeakerTrials) -> ValuesOfSpeakers:
        """Add up the costs of each pair of speakers."""
        tar, non = trials.sample.lists
        return SpeakerMeans.of(trials, (bits_of(-1.0, tar), bits_of(1.0, non)), self.combine)


def _mean_bits(
    slices: list[slice], bits: Float64Array, shares: Float64Array, weights: Weights
) -> Float64Array:
    # Not by BLAS, whose sums may depend on how many threads it has.
    products = weights * bits
    means = [products[place].sum() / weights[place].sum() for place in slices]
    return np.array([weighted_sum(means, shares)])


def bits_of(sign: float, scores: FloatArray, base: float = 2.0) -> Float64Array:
    """Return log2(1 + e^(sign x)), the cost of log-likelihood-ratios x in bits; or to a base."""
    bits = softplus(scores, sign)
    bits /= math.log(base)
    return bits


# ---- Functions of the ROC


class CurveStatistic(Statistic):
    """A function of the ROC: what depends on ranks alone."""

    __slots__ = ()

    # Tells where points of the ROC that are not known yet can change the value, see `SpeakerCurve`.
    # None: anywhere, and so can ties. `narrows` says that it must be asked again when they are.
    open_cells: ClassVar[Callable[..., BoolArray] | None] = None
    narrows: ClassVar[bool] = False

    def of_curve(self, curve: WeightedCurve) -> Any:
        """Make the value from the weights of one replicate."""
        return self.of_roc(curve.roc())

    def of_sample(self, sample: ListedSample) -> Any:
        """Make the value from the ROC."""
        return self.of_roc(sample.roc)

    @abc.abstractmethod
    def of_roc(self, roc: ROC) -> Any:
        """Make the value from the engine's own object."""

    def evaluator(self, tar: SortedStrata, non: SortedStrata) -> Evaluator:
        """Prepare for many sets of weights; see `Statistic.evaluator`."""
        return functools.partial(self._of_weights, CurveIndex.from_sorted(tar, non))

    def _of_weights(self, index: CurveIndex, tar_weights: Weights, non_weights: Weights) -> Any:
        return self.of_curve(index.curve(tar_weights, non_weights))

    def sampler(self, sample: ListedSample, plan: ResamplingPlan) -> Sampler:
        """Choose the fastest way to draw replicates; see `Statistic.sampler`."""
        if isinstance(plan, IidPlan):
            return self._iid_sampler(CurveIndex.from_sorted(sample.tar.sorted, sample.non.sorted))
        return super().sampler(sample, plan)

    def _iid_sampler(self, index: CurveIndex) -> Sampler:
        return statistic_samplers.CurveSampler(index, self.of_curve)

    def speaker_sums(self, trials: SpeakerTrials) -> ValuesOfSpeakers:
        """Cut the scores into cells; see `Statistic.speaker_sums`."""
        return SpeakerCurve.of(
            trials,
            self.of_curve,
            self.open_cells,
            self.shape,
            narrows=self.narrows,
            ties=self.open_cells is None and not isinstance(self, HullStatistic),
        )


class HullStatistic(CurveStatistic):
    """A number that the vertices of the ROC's convex hull tell."""

    __slots__ = ()

    @abc.abstractmethod
    def of_vertices(self, pmiss: Float64Array, pfa: Float64Array) -> float:
        """Make the value from the error-rates at the vertices."""


def read_together(statistics: Sequence[HullStatistic], curve: WeightedCurve) -> list[float]:
    """Return several statistics of one curve, whose hull is made once."""
    vertices = curve.vertices()
    return [statistic.of_vertices(*vertices) for statistic in statistics]


@attrs.frozen
class MinDCF(_AtPriors, HullStatistic):
    """Minimum DCF: detection cost at the best threshold for these scores.

    Parameters
    ----------
    prior, normalize
        As for `ActDCF`.

    See Also
    --------
    bosaris_py.min_dcf : The same number as a function.

    Notes
    -----
    A minimum is optimistic: the threshold is chosen on the scores that it is judged on. A replicate
    chooses once more, so a percentile interval lies too low. The default interval is therefore
    ``"basic"``, which mirrors the replicates about the estimate. With 100 targets and 2000
    non-targets at a prior of 0.01, the nominal 95 % percentile interval covers the truth in 73 % of
    simulated experiments, the basic one in 88 %; with ten times the trials 84 and 95 %.

    Examples
    --------
    >>> MinDCF(0.5)([1.0, 3.0], [0.0, 2.0])
    0.25
    """

    default_interval: ClassVar[IntervalKind] = "basic"

    @property
    def bounds(self) -> Bounds:
        """From perfect scores to scores that are of no use."""
        costs = self.costs
        return 0.0, (np.ones_like(costs.plo) if self.normalize else costs.default_cost)

    def of_curve(self, curve: WeightedCurve) -> Any:
        """Return the least cost of all thresholds."""
        return super().of_curve(curve) if self.shape else curve.min_cost(*self.prices())

    def of_roc(self, roc: ROC) -> Any:
        """Return the least cost of all thresholds."""
        return roc.convex_hull().min_dcf(self.prior, normalize=self.normalize)

    def of_vertices(self, pmiss: Float64Array, pfa: Float64Array) -> float:
        """Return the least cost of all vertices."""
        miss, alarm = self._prices
        return float((miss * pmiss + alarm * pfa).min())

    def open_cells(self, pmiss: Float64Array, pfa: Float64Array, starts: IntArray) -> BoolArray:
        """Tell which cells have a corner that costs less than all points."""
        found = np.zeros((pmiss.shape[0], starts.size), dtype=np.bool_)
        for miss, fa in zip(np.ravel(self.costs.miss), np.ravel(self.costs.fa), strict=True):
            misses, alarms = miss * pmiss, fa * pfa
            least = (misses + alarms).min(axis=1)[:, None]
            found |= (misses[:, starts] + alarms[:, starts + 1]) * SAME_COST < least
        return found

    def prices(self) -> tuple[float, float]:
        """Price of a miss rate and of a false-alarm rate of one."""
        return self._prices

    @functools.cached_property
    def _prices(self) -> tuple[float, float]:
        costs = self.costs
        scale = float(costs.default_cost) if self.normalize else 1.0
        return float(costs.miss) / scale, float(costs.fa) / scale

    def _iid_sampler(self, index: CurveIndex) -> Sampler:
        if self.shape:
            return super()._iid_sampler(index)
        return LazyMinCost.from_index(index, *self.prices())


@attrs.frozen
class MeanMinDCF(HullStatistic):
    """The mean of minimum costs over several operating points, each at its own threshold."""

    points: tuple[OperatingPoint, ...]
    normalize: bool = attrs.field(default=False, kw_only=True)

    default_interval: ClassVar[IntervalKind] = "basic"

    @functools.cached_property
    def each(self) -> tuple[MinDCF, ...]:
        """The cost at each point."""
        return tuple(MinDCF(point, normalize=self.normalize) for point in self.points)

    @property
    def bounds(self) -> Bounds:
        """From perfect scores to scores that are of no use."""
        _, high = MinDCF(self.points, normalize=self.normalize).bounds
        return 0.0, float(np.mean(np.asarray(high)))

    def of_curve(self, curve: WeightedCurve) -> Any:
        """Return the mean of the least costs."""
        return math.fsum(one.of_curve(curve) for one in self.each) / len(self.each)

    def of_roc(self, roc: ROC) -> Any:
        """Return the mean of the least costs."""
        return math.fsum(one.of_roc(roc) for one in self.each) / len(self.each)

    def of_vertices(self, pmiss: Float64Array, pfa: Float64Array) -> float:
        """Return the mean of the least costs of all vertices."""
        return math.fsum(one.of_vertices(pmiss, pfa) for one in self.each) / len(self.each)

    def open_cells(self, pmiss: Float64Array, pfa: Float64Array, starts: IntArray) -> BoolArray:
        """Tell which cells may change the least cost of some point."""
        return functools.reduce(
            np.logical_or, (one.open_cells(pmiss, pfa, starts) for one in self.each)
        )


@attrs.frozen
class EER(HullStatistic):
    """Equal error rate on the ROC's convex hull.

    See Also
    --------
    bosaris_py.eer : The same number as a function.

    Notes
    -----
    Optimistic as `MinDCF` is, of which it is the maximum over all priors; the default interval is
    ``"basic"`` for the same reason.

    Examples
    --------
    >>> EER()([1.0, 3.0], [0.0, 2.0])
    0.25
    """

    default_interval: ClassVar[IntervalKind] = "basic"
    narrows: ClassVar[bool] = True

    # From perfect scores to scores that are of no use; the hull is never worse.
    bounds = 0.0, 0.5

    def of_curve(self, curve: WeightedCurve) -> Any:
        """Return the equal error rate."""
        return curve.eer()

    def of_vertices(self, pmiss: Float64Array, pfa: Float64Array) -> float:
        """Return the equal error rate."""
        return eer_of_hull(pmiss, pfa)

    def of_roc(self, roc: ROC) -> Any:
        """Return the equal error rate."""
        return roc.convex_hull().eer

    def open_cells(self, pmiss: Float64Array, pfa: Float64Array, starts: IntArray) -> BoolArray:
        """Tell which cells may hold a point that costs less than all at the prior of these."""
        with np.errstate(invalid="ignore"):
            eers, priors = eers_of_hulls(pmiss, pfa)
        return open_cells(pmiss, pfa, starts, eers, priors) | np.isnan(eers)[:, None]

    def _iid_sampler(self, index: CurveIndex) -> Sampler:
        return LazyEER.from_index(index)


@attrs.frozen
class SteppyEER(CurveStatistic):
    """Equal error rate on the ROC itself, as other tools define it; see `bosaris_py.eer`.

    Parameters
    ----------
    definition : {"interpolated", "step"}
        On the steppy ROC by linear interpolation, or its step at which the rates are nearest.

    Notes
    -----
    There is no formula of its standard error, so its intervals are by percentiles.

    Examples
    --------
    >>> SteppyEER("interpolated")([1.0, 3.0], [0.0, 2.0])
    0.5
    """

    definition: Literal["interpolated", "step"] = attrs.field(
        validator=one_of(Literal["interpolated", "step"])
    )

    # Inverted scores have up to 1.
    bounds = 0.0, 1.0

    def of_roc(self, roc: ROC) -> Any:
        """Return the equal error rate."""
        return roc.equal_error_rate(self.definition)


@attrs.frozen
class AUC(CurveStatistic):
    """Area under the ROC, the chance that a target outscores a non-target.

    See Also
    --------
    bosaris_py.auc : The same number as a function.

    Examples
    --------
    >>> AUC()([1.0, 3.0], [0.0, 2.0])
    0.75
    """

    # From inverted to perfect scores.
    bounds = 0.0, 1.0

    def of_curve(self, curve: WeightedCurve) -> Any:
        """Return the area."""
        return curve.auc()

    def of_roc(self, roc: ROC) -> Any:
        """Return the area."""
        return roc.auc


def _to_rate(value: Any) -> float:
    return as_number(value, "rate", "lie in [0, 1)", lambda x: 0.0 <= x < 1.0)


class RateAt(CurveStatistic):
    """One error-rate at the threshold that keeps the other one to `limit`."""

    __slots__ = ()

    bounds = 0.0, 1.0

    @property
    @abc.abstractmethod
    def limit(self) -> float:
        """The rate that is kept."""

    @abc.abstractmethod
    def _point(self, pmiss: Float64Array, pfa: Float64Array) -> int:
        """Return the point of a ROC at which the other rate is least."""

    @abc.abstractmethod
    def _of_point(self, pmiss: float, pfa: float) -> float:
        """Return the rate at a point of a ROC."""

    def of_curve(self, curve: WeightedCurve) -> Any:
        """Return the rate."""
        # At or above each target score; of whole numbers, an exact difference.
        alarms = np.append(curve.non_total - curve.below, 0)
        pmiss = curve.misses / curve.tar_total
        pfa = np.maximum(alarms, 0) / curve.non_total
        at = self._point(pmiss, pfa)
        return self._of_point(float(pmiss[at]), float(pfa[at]))

    def of_roc(self, roc: ROC) -> Any:
        """Return the rate."""
        at = self._point(roc.pmiss, roc.pfa)
        return self._of_point(float(roc.pmiss[at]), float(roc.pfa[at]))


@attrs.frozen
class FNMRAt(RateAt):
    r"""False non-match rate at the threshold that keeps to a false match rate, on the same scores.

    Parameters
    ----------
    fmr : float
        The false match rate that is allowed, in [0, 1).

    See Also
    --------
    DETCurve : At several rates.

    Notes
    -----
    The least miss rate of all thresholds whose false-alarm rate is at most `fmr`. The threshold is
    that of the sample, and varies with it: to first order the rate varies as
    :math:`P_{miss} + \lambda P_{fa}` at this threshold, with the slope :math:`\lambda` of the
    ROC's convex hull. This gives the standard error and tests.

    An interval by speaker is put together from those of both rates at the threshold, whose
    distances add up as standard errors do [1]_. Where the kept rate may be higher by a factor than
    it looks, the miss rate is read at a limit that is as much lower. With few errors of either
    class there is a warning. Without a false alarm at the threshold the upper end is 1.

    References
    ----------
    .. [1] G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a
       general approach", Statistics in Medicine 27, 2008, doi:10.1002/sim.3095.

    Examples
    --------
    >>> FNMRAt(0.5)([1.0, 3.0], [0.0, 2.0])
    0.0
    >>> FNMRAt(0.01)([1.0, 3.0], [0.0, 2.0])
    0.5
    """

    fmr: float = attrs.field(converter=_to_rate)

    @property
    def limit(self) -> float:
        """The false match rate that is allowed."""
        return self.fmr

    def _point(self, pmiss: Float64Array, pfa: Float64Array) -> int:
        """Return the first point that the false-alarm rate allows."""
        return pfa.size - int(np.searchsorted(pfa[::-1], self.fmr, side="right"))

    def _of_point(self, pmiss: float, pfa: float) -> float:
        """Return the miss rate."""
        return pmiss

    def open_cells(self, pmiss: Float64Array, pfa: Float64Array, starts: IntArray) -> BoolArray:
        """Tell inside which cells the false-alarm rate is first allowed."""
        low, high = pfa[:, starts + 1] * SAME_COST, pfa[:, starts] / SAME_COST
        return np.asarray((low <= self.fmr) & (self.fmr < high))


@attrs.frozen
class FMRAt(RateAt):
    """False match rate at the threshold that keeps to a false non-match rate, on the same scores.

    Parameters
    ----------
    fnmr : float
        The false non-match rate that is allowed, in [0, 1).

    See Also
    --------
    FNMRAt : The other way round; says how the rate varies.

    Examples
    --------
    >>> FMRAt(0.5)([1.0, 3.0], [0.0, 2.0])
    0.0
    >>> FMRAt(0.01)([1.0, 3.0], [0.0, 2.0])
    0.5
    """

    fnmr: float = attrs.field(converter=_to_rate)

    @property
    def limit(self) -> float:
        """The false non-match rate that is allowed."""
        return self.fnmr

    def _point(self, pmiss: Float64Array, pfa: Float64Array) -> int:
        """Return the last point that the miss rate allows."""
        return int(np.searchsorted(pmiss, self.fnmr, side="right")) - 1

    def _of_point(self, pmiss: float, pfa: float) -> float:
        """Return the false-alarm rate."""
        return pfa

    def open_cells(self, pmiss: Float64Array, pfa: Float64Array, starts: IntArray) -> BoolArray:
        """Tell inside which cells the miss rate is last allowed."""
        low, high = pmiss[:, starts] * SAME_COST, pmiss[:, starts + 1] / SAME_COST
        return np.asarray((low <= self.fnmr) & (self.fnmr < high))


@attrs.frozen
class MinCllr(HullStatistic):
    """Cllr after optimal recalibration, in bits.

    See Also
    --------
    bosaris_py.min_cllr : The same number as a function.

    Notes
    -----
    Optimistic as `MinDCF` is, of which it is an average over all priors; the default interval is
    ``"basic"`` for the same reason. With 100 targets and 1000 non-targets, the nominal 95 %
    percentile interval covers the truth in 55 % of 300 simulated experiments, the basic one 82 %.

    By speaker its error is that of the jackknife [1]_: its pools are fitted to the scores, which a
    formula at fixed pools does not count. Its bias falls as :math:`n^{-2/3}`, the rate of an
    isotonic fit [2]_. So it is three halves of the jackknife's, of :math:`n^{-1}`. The interval is
    that of the value without bias, or that at fixed pools where an end of this lies beyond. The
    estimate is not corrected. With fewer than 3 errors at the equal error rate the upper end leaves
    open what K speakers do not show. A few hundred evaluations are made, one for each speaker or
    group of speakers.

    References
    ----------
    .. [1] B. Efron and C. Stein, "The jackknife estimate of variance", Annals of Statistics 9,
       1981, doi:10.1214/aos/1176345462.
    .. [2] C.-H. Zhang, "Risk bounds in isotonic regression", Annals of Statistics 30, 2002,
       doi:10.1214/aos/1021379864.

    Examples
    --------
    >>> MinCllr()([1.0, 2.0], [-1.0, 0.0])
    0.0
    """

    default_interval: ClassVar[IntervalKind] = "basic"

    # From separated classes to scores that are of no use.
    bounds = 0.0, 1.0

    def of_curve(self, curve: WeightedCurve) -> Any:
        """Return the cost that is left."""
        return self.of_vertices(*curve.vertices())

    def of_vertices(self, pmiss: Float64Array, pfa: Float64Array) -> float:
        """Return the cost that is left."""
        # Theory paper, equation (18), edge by edge; an edge of one class costs nothing.
        tar, non = pmiss[1:] - pmiss[:-1], pfa[:-1] - pfa[1:]
        both = (tar > 0) & (non > 0)
        tar, non = tar[both], non[both]
        ratio = tar / non
        bits = tar * np.log1p(1.0 / ratio) + non * np.log1p(ratio)
        return float(bits.sum() / math.log(4.0))

    def of_roc(self, roc: ROC) -> Any:
        """Return the cost that is left."""
        return roc.convex_hull().min_cllr


# ---- Functions of a user


@attrs.frozen(eq=False)
class UserFunction:
    """A function ``f(tar, non, tar_weights, non_weights)``, resampled as a `Statistic` is."""

    # It is called once for each replicate: the slow way. `shape` is that of its value on the data,
    # and must be that of all others, once it is known.

    default_interval: ClassVar[IntervalKind] = "percentile"
    bounds: ClassVar[Bounds] = (-math.inf, math.inf)

    function: Callable[..., Any]
    shape: tuple[int, ...] | None = None

    def __call__(
        self,
        tar: FloatArray,
        non: FloatArray,
        tar_weights: Float64Array | None,
        non_weights: Float64Array | None,
    ) -> Float64Array:
        """Return what the function makes of scores and weights, checked."""
        # The function cannot change the scores, which other replicates need.
        views = [tar.view(), non.view()]
        for view in views:
            view.setflags(write=False)
        weights = (
            np.ones(scores.size) if given is None else given
            for scores, given in zip(views, (tar_weights, non_weights), strict=True)
        )
        returned = self.function(*views, *weights)
        try:
            value = np.asarray(returned)
        except ValueError:  # rows of different lengths
            value = np.array(None)
        if value.dtype.kind not in "fiub" or not value.size:
            raise invalid("statistic", "return a number or an array of numbers", describe(returned))
        if self.shape is not None and value.shape != self.shape:
            shape = f"{self.shape} as on the data"
            expected = f"return a value of the same shape for all replicates, {shape}"
            raise invalid("statistic", expected, f"{value.shape}")
        return value.astype(np.float64)

    def of_sample(self, sample: ListedSample) -> Float64Array:
        """Return what the function makes of the trials."""
        return self(*sample.lists, *sample.trial_weights)

    def in_order(self, sample: ListedSample) -> Evaluator:
        """Prepare for many sets of weights in the order of the trials."""
        return functools.partial(self._of_weights, sample)

    def _of_weights(self, sample: ListedSample, *weights: Weights) -> Any:
        return self(*sample.lists, *sample.strata.weigh(*weights))

    def sampler(self, sample: ListedSample, plan: ResamplingPlan) -> Sampler:
        """Draw weights of the trials, and call the function with them."""
        return statistic_samplers.WeightedSampler(plan, self.in_order(sample), self.shape or ())


StatisticLike: TypeAlias = Statistic | OperatingPoint | Callable[..., Any]

AnyStatistic: TypeAlias = Statistic | UserFunction


def warn_unless_fit(statistics: Iterable[object], sample: ListedSample, name: str = "") -> None:
    """Warn once of scores that a metric takes for log-likelihood-ratios, and that cannot be."""
    if any(isinstance(s, OperatingPoint) or getattr(s, "_takes_llrs", False) for s in statistics):
        with cautions(**{"system": name} if name else {}):
            sample.warn_unless_llrs()


def as_statistic(statistic: object) -> AnyStatistic:
    """Return what can be resampled; raise with a guess at a forgotten pair of brackets."""
    if isinstance(statistic, type):
        hint = f"Make one first: {statistic.__name__}(...)."
        raise invalid("statistic", "be a statistic, not a class", statistic.__name__, hint)
    if isinstance(statistic, OperatingPoint):
        return ActDCF(statistic)
    if not callable(statistic):
        hint = "For instance EER(), or a function f(tar, non, tar_weights, non_weights)."
        raise invalid("statistic", "be callable", describe(statistic), hint)
    if isinstance(statistic, Statistic):
        return statistic
    try:
        inspect.signature(statistic).bind(*range(4))
    except TypeError:
        expected = "be a function f(tar, non, tar_weights, non_weights)"
        name = getattr(statistic, "__name__", describe(statistic))
        hint = "The metrics of this package are statistics, too: EER(), MinDCF(0.01), Cllr()."
        raise invalid("statistic", expected, f"{name}, which takes others", hint) from None
    except ValueError:  # a function of C that does not tell
        pass
    return UserFunction(statistic)
