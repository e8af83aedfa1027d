"""Statistics of the error-rates at fixed thresholds: costs and rates."""

import abc
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FloatArray, invalid
from bosaris_py.numerics.dcf import error_rates_at
from bosaris_py.numerics.priors import DecisionCosts, OperatingPoint, PriorLike
from bosaris_py.uncertainty.decisions import as_threshold
from bosaris_py.uncertainty.rate_samplers import (
    IidRateSampler,
    RejectedCounts,
    SetTable,
    count_rejected,
    set_rate_sampler,
)
from bosaris_py.uncertainty.resampling_plans import IidPlan, ResamplingPlan, SetPlan
from bosaris_py.uncertainty.samplers import Sampler
from bosaris_py.uncertainty.speaker_plan import SpeakerPlan
from bosaris_py.uncertainty.speaker_sums import ClassSums, SpeakerSums, UnitTable
from bosaris_py.uncertainty.statistic import (
    Bounds,
    SortedEvaluator,
    Statistic,
    check_prior,
    number,
    to_prior,
)
from bosaris_py.uncertainty.strata import SortedStrata, TrialStrata, Weights, weighted_sum
from bosaris_py.uncertainty.weighted_curve import running_total

__all__ = ["DCF", "ActDCF", "ErrorRates", "ThresholdStatistic"]

Float64Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Error counts of pairs of speakers, at all thresholds, may have this many numbers for each
# trial, or in any case this many in all; beyond, gathering weights is cheaper.
_CELLS_PER_TRIAL = 8
_SMALL_TABLE = 2**20


class ThresholdStatistic(Statistic):
    """A function of the error-rates at one or several fixed thresholds."""

    __slots__ = ()

    @property
    @abc.abstractmethod
    def fa_limits(self) -> Float64Array:
        """Thresholds: a non-target at or above is a false alarm. One-dimensional."""

    @property
    def miss_limits(self) -> Float64Array:
        """Thresholds: a target below is a miss. One-dimensional."""
        return self.fa_limits

    @abc.abstractmethod
    def combine(self, pmiss: Float64Array, pfa: Float64Array) -> Any:
        """Make values from rates: one row for each replicate, one column for each threshold."""

    def __call__(
        self,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        tar_weights: npt.ArrayLike | None = None,
        non_weights: npt.ArrayLike | None = None,
    ) -> Any:
        """Compute the statistic; see `Statistic.__call__`."""
        weights = {"tar_weights": tar_weights, "non_weights": non_weights}
        pmiss, _ = error_rates_at(tar, non, self.miss_limits, **weights)
        _, pfa = error_rates_at(tar, non, self.fa_limits, **weights)
        return number(self.combine(pmiss[None, :], pfa[None, :])[0])

    def count_errors(
        self, tar: FloatArray, non: FloatArray, strata: TrialStrata
    ) -> tuple[IntArray, IntArray]:
        """Count misses and false alarms at each threshold, in each condition.

        Parameters
        ----------
        tar, non : ndarray of float
            Target and non-target scores.
        strata : TrialStrata
            Their conditions.

        Returns
        -------
        misses, false_alarms : (k, n_limits) ndarray of int64
            One row for each condition of the class, one column for each threshold.
        """
        misses = RejectedCounts.from_scores(tar, self.miss_limits, strata.tar).rejected
        correct = RejectedCounts.from_scores(non, self.fa_limits, strata.non)
        return misses, correct.sizes[:, None] - correct.rejected

    def evaluator(self, tar: SortedStrata, non: SortedStrata) -> SortedEvaluator:
        """Prepare for many sets of weights; see `Statistic.evaluator`."""
        return _RateEvaluator(
            _WeightBelow.of(tar, self.miss_limits), _WeightBelow.of(non, self.fa_limits), self
        )

    def sampler(self, tar: FloatArray, non: FloatArray, plan: ResamplingPlan) -> Sampler:
        """Choose the fastest way to draw replicates; see `Statistic.sampler`.

        Trials: binomial draws. Sets: the distribution of the number of errors,
        or draws over the distinct numbers of errors in a set. Sets, trials in
        them, several thresholds: weights.
        """
        miss_limits, fa_limits = self.miss_limits, self.fa_limits
        if isinstance(plan, IidPlan):
            return IidRateSampler(
                RejectedCounts.from_scores(tar, miss_limits, plan.strata.tar),
                RejectedCounts.from_scores(non, fa_limits, plan.strata.non),
                self.combine,
            )
        if isinstance(plan, SetPlan) and not (plan.two_layer and fa_limits.size > 1):
            tar_cells, non_cells = plan.cells
            misses = count_rejected(tar, miss_limits, tar_cells)
            alarms = non_cells.sizes[:, None] - count_rejected(non, fa_limits, non_cells)
            return set_rate_sampler(
                SetTable.from_sums(tar_cells.sizes, misses, plan.strata.tar.shares),
                SetTable.from_sums(non_cells.sizes, alarms, plan.strata.non.shares),
                two_layer=plan.two_layer,
                combine=self.combine,
            )
        return super().sampler(tar, non, plan)

    def speaker_sums(
        self, tar: FloatArray, non: FloatArray, plan: SpeakerPlan
    ) -> SpeakerSums | None:
        """Count the errors of each pair of speakers; see `Statistic.speaker_sums`."""
        tar_groups, non_groups = plan.groups()
        n_groups = sum(groups.index.n_sets for groups in (*tar_groups, *non_groups))
        cells = n_groups * self.fa_limits.size
        if cells > max(_CELLS_PER_TRIAL * (tar.size + non.size), _SMALL_TABLE):
            return None
        misses = [
            UnitTable.from_sums(groups, count_rejected(scores, self.miss_limits, groups.index))
            for groups, scores in zip(tar_groups, plan.strata.tar.split(tar), strict=True)
        ]
        alarms = []
        for groups, scores in zip(non_groups, plan.strata.non.split(non), strict=True):
            correct = count_rejected(scores, self.fa_limits, groups.index)
            alarms.append(UnitTable.from_sums(groups, groups.index.sizes[:, None] - correct))
        return SpeakerSums(
            ClassSums(tuple(misses), plan.strata.tar.shares),
            ClassSums(tuple(alarms), plan.strata.non.shares),
            self.combine,
        )


@attrs.frozen(eq=False)
class _WeightBelow:
    """The share of weight below fixed thresholds, in one class."""

    places: tuple[slice, ...]
    counts: tuple[IntArray, ...]
    shares: Float64Array

    @classmethod
    def of(cls, strata: SortedStrata, limits: Float64Array) -> "_WeightBelow":
        """Count the scores below the thresholds."""
        counts = tuple(part.count_below(limits) for part in strata.parts)
        return cls(tuple(strata.slices), counts, strata.shares)

    def rejected(self, weights: Weights) -> Float64Array:
        """Return the share of weight below each threshold."""
        return self._rates(weights, accepted=False)

    def accepted(self, weights: Weights) -> Float64Array:
        """Return the share of weight at or above each threshold."""
        return self._rates(weights, accepted=True)

    def _rates(self, weights: Weights, *, accepted: bool) -> Float64Array:
        rates = []
        for place, counts in zip(self.places, self.counts, strict=True):
            part = weights[place]
            total, below = part.sum(), _weight_of_first(part, counts)
            rates.append((total - below if accepted else below) / total)
        return np.asarray(weighted_sum(rates, self.shares))


@attrs.frozen(eq=False)
class _RateEvaluator(SortedEvaluator):
    """Error-rates from weights: sums of the lowest scores' weights."""

    tar: _WeightBelow
    non: _WeightBelow
    statistic: ThresholdStatistic

    def __call__(self, tar_weights: Weights, non_weights: Weights) -> Any:
        """Return the statistic for weights in the order of the sorted scores."""
        pmiss, pfa = self.tar.rejected(tar_weights), self.non.accepted(non_weights)
        return self.statistic.combine(pmiss[None, :], pfa[None, :])[0]


def _weight_of_first(weights: Weights, counts: IntArray) -> Weights:
    if counts.size == 1:
        return np.array([weights[: counts[0]].sum()])
    return running_total(weights)[counts]


def _to_threshold(value: Any) -> float:
    return as_threshold(value, "threshold", "DCF")


@attrs.frozen
class DCF(ThresholdStatistic):
    r"""Detection cost at a fixed threshold, the measure of the uncertainty papers.

    Parameters
    ----------
    threshold : float
        Accept iff score >= threshold.
    p_target : float, default: 0.01
        Prior probability of a target, strictly between 0 and 1.
    c_miss : float, default: 10
        Cost of a miss, positive.
    c_fa : float, default: 1
        Cost of a false alarm, positive.
    normalize : bool, default: False
        Divide by the cost of the better decision made without a detector.

    Raises
    ------
    InvalidInputError
        If the threshold is NaN, or a prior or cost is out of range.

    Notes
    -----
    :math:`C_{miss} P_{miss}(t) P_{tar} + C_{fa} P_{fa}(t) (1-P_{tar})`, NISTIR
    7722 equation (6), Wu et al. 2016 equation (3). The papers count integer
    scores equal to the threshold as errors in both classes (equation 2); here a
    score equal to the threshold is accepted, see `standard_error_distribution`
    for the papers' way.

    Replicates cost next to nothing: two binomial draws for the i.i.d. bootstrap;
    for the others two draws from the distribution of the number of errors if
    sets are equally large, else draws over the distinct numbers of errors in a
    set.

    Examples
    --------
    >>> round(DCF(2.0)([1.0, 3.0], [0.0, 2.5]), 6)
    0.545
    """

    threshold: float = attrs.field(converter=_to_threshold)
    p_target: float = 0.01
    c_miss: float = 10.0
    c_fa: float = 1.0
    normalize: bool = attrs.field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        """Let the operating point check prior and costs."""
        OperatingPoint(self.p_target, self.c_miss, self.c_fa)

    @property
    def costs(self) -> DecisionCosts:
        """The prices of the two errors."""
        point = OperatingPoint(self.p_target, self.c_miss, self.c_fa)
        return DecisionCosts.from_prior(point, "DCF")

    @property
    def fa_limits(self) -> Float64Array:
        """The threshold, as an array of one."""
        return np.array([self.threshold])

    @property
    def bounds(self) -> Bounds:
        """From no errors to nothing but errors."""
        return _cost_bounds(self.costs, normalize=self.normalize)

    def combine(self, pmiss: Float64Array, pfa: Float64Array) -> Any:
        """Make costs from error-rates."""
        return self.costs.cost(pmiss[:, 0], pfa[:, 0], normalize=self.normalize)


def _cost_bounds(costs: DecisionCosts, *, normalize: bool) -> Bounds:
    ones = np.ones_like(costs.miss)
    return 0.0, costs.cost(ones, ones, normalize=normalize)


@attrs.frozen
class ActDCF(ThresholdStatistic):
    """Actual DCF: detection cost of Bayes decisions from log-likelihood-ratios.

    Parameters
    ----------
    prior : float, (k,) array_like of float, OperatingPoint or sequence of them
        Target probability (unit costs), or an operating point with its own
        costs; several make the statistic an array.
    normalize : bool, default: False
        Divide by the cost of the better decision made without a detector.

    Raises
    ------
    InvalidInputError
        If a prior is not in (0, 1).

    See Also
    --------
    bosaris_py.act_dcf : The same number as a function.

    Examples
    --------
    >>> ActDCF(0.5)([1.0, 3.0], [-1.0, 2.0])
    0.25
    """

    prior: PriorLike = attrs.field(converter=to_prior, validator=check_prior)
    normalize: bool = attrs.field(default=False, kw_only=True)

    @property
    def costs(self) -> DecisionCosts:
        """The prices of the two errors."""
        return DecisionCosts.from_prior(self.prior, "ActDCF")

    @property
    def shape(self) -> tuple[int, ...]:
        """One value for each operating point."""
        return self.costs.plo.shape

    @property
    def fa_limits(self) -> Float64Array:
        """The Bayes thresholds."""
        return np.atleast_1d(self.costs.thresholds)

    @property
    def bounds(self) -> Bounds:
        """From no errors to nothing but errors."""
        return _cost_bounds(self.costs, normalize=self.normalize)

    def combine(self, pmiss: Float64Array, pfa: Float64Array) -> Any:
        """Make costs from error-rates."""
        if not self.shape:
            pmiss, pfa = pmiss[:, 0], pfa[:, 0]
        return self.costs.cost(pmiss, pfa, normalize=self.normalize)


def _to_thresholds(thresholds: Any) -> float | tuple[float, ...]:
    if np.ndim(thresholds) == 0:
        return as_threshold(thresholds, "thresholds", "ErrorRates")
    values = tuple(as_threshold(t, "thresholds", "ErrorRates") for t in thresholds)
    if not values:
        raise invalid("thresholds", "ErrorRates", "hold at least one threshold", "none")
    return values


@attrs.frozen
class ErrorRates(ThresholdStatistic):
    """Miss and false-alarm rate at fixed thresholds, for error bars on a DET plot.

    Parameters
    ----------
    thresholds : float or (k,) array_like of float
        Accept iff score >= threshold.

    Raises
    ------
    InvalidInputError
        If a threshold is NaN or there is none.

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

    @property
    def bounds(self) -> Bounds:
        """Rates lie between 0 and 1."""
        return 0.0, 1.0

    def combine(self, pmiss: Float64Array, pfa: Float64Array) -> Any:
        """Put the two rates side by side."""
        return np.stack((pmiss, pfa), axis=1).reshape(-1, *self.shape)
