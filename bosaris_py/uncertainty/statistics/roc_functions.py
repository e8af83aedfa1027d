"""Functions of the ROC: equal error rate, minimum costs, area, a rate at a rate."""

from __future__ import annotations

import abc
import functools
import math
from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

import attrs
import numpy as np

from bosaris_py._arrays import BoolArray, Float64Array, IntArray, Weights
from bosaris_py._tables import words_of_eer
from bosaris_py._validation import as_flag, as_number, one_of
from bosaris_py.evaluation.figure_names import figure_of
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.roc import ROC, EERDefinition
from bosaris_py.numerics.rocch import SAME_COST, eer_of_hull, eers_of_hulls
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.strata import SortedStrata
from bosaris_py.uncertainty.bootstrap_result import IntervalKind
from bosaris_py.uncertainty.resampling import IidPlan, ResamplingPlan
from bosaris_py.uncertainty.speaker_curve import (
    SpeakerCurve,
    SpeakerTrials,
    ValuesOfSpeakers,
    WeightedCurve,
    open_cells,
)
from bosaris_py.uncertainty.statistics import samplers
from bosaris_py.uncertainty.statistics.lazy_curve import LazyEER, LazyMinCost
from bosaris_py.uncertainty.statistics.samplers import CurveIndex, Evaluator, Sampler
from bosaris_py.uncertainty.statistics.statistic import AtPriors, Bounds, Statistic


class CurveStatistic(Statistic):
    """A function of the ROC: what depends on ranks alone."""

    __slots__ = ()

    # Tells where points of the ROC that are not known yet can change the value, see `SpeakerCurve`.
    # None: anywhere, and so can ties. `narrows` says that it must be asked again when they are.
    open_cells: ClassVar[Callable[..., BoolArray] | None] = None
    narrows: ClassVar[bool] = False

    def of_curve(self, curve: WeightedCurve) -> float | Float64Array:
        """Make the value from the weights of one replicate."""
        return self.of_roc(curve.roc())

    def of_sample(self, sample: ListedSample) -> float | Float64Array:
        """Make the value from the ROC."""
        return self.of_roc(sample.roc)

    @abc.abstractmethod
    def of_roc(self, roc: ROC) -> float | Float64Array:
        """Make the value from the engine's own object."""

    def evaluator(self, tar: SortedStrata, non: SortedStrata) -> Evaluator:
        """Prepare for many sets of weights; see `Statistic.evaluator`."""
        return functools.partial(self._of_weights, CurveIndex.from_sorted(tar, non))

    def _of_weights(
        self, index: CurveIndex, tar_weights: Weights, non_weights: Weights
    ) -> float | Float64Array:
        return self.of_curve(index.curve(tar_weights, non_weights))

    def sampler(self, sample: ListedSample, plan: ResamplingPlan) -> Sampler:
        """Choose the fastest way to draw replicates; see `Statistic.sampler`."""
        if isinstance(plan, IidPlan):
            return self._iid_sampler(CurveIndex.from_sorted(sample.tar.sorted, sample.non.sorted))
        return super().sampler(sample, plan)

    def _iid_sampler(self, index: CurveIndex) -> Sampler:
        return samplers.CurveSampler(index, self.of_curve)

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
class MinDCF(AtPriors, HullStatistic):
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

    _column = "min_dcf"
    default_interval: ClassVar[IntervalKind] = "basic"

    @property
    def bounds(self) -> Bounds:
        """From perfect scores to scores that are of no use."""
        costs = self.costs
        return 0.0, (np.ones_like(costs.plo) if self.normalize else costs.default_cost)

    def of_curve(self, curve: WeightedCurve) -> float | Float64Array:
        """Return the least cost of all thresholds."""
        return super().of_curve(curve) if self.shape else curve.min_cost(*self.prices())

    def of_roc(self, roc: ROC) -> float | Float64Array:
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
        return LazyMinCost.from_index(index, (self.prices(),))


@attrs.frozen
class MeanMinDCF(HullStatistic):
    """The mean of minimum costs over several operating points, each at its own threshold."""

    points: tuple[OperatingPoint, ...]
    normalize: bool = attrs.field(default=False, converter=as_flag, kw_only=True)

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

    def of_curve(self, curve: WeightedCurve) -> float:
        """Return the mean of the least costs."""
        return math.fsum(one.of_curve(curve) for one in self.each) / len(self.each)

    def of_roc(self, roc: ROC) -> float:
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

    def _iid_sampler(self, index: CurveIndex) -> Sampler:
        return LazyMinCost.from_index(index, tuple(one.prices() for one in self.each))


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

    words = words_of_eer("rocch")
    default_interval: ClassVar[IntervalKind] = "basic"
    narrows: ClassVar[bool] = True

    # From perfect scores to scores that are of no use; the hull is never worse.
    bounds = 0.0, 0.5

    def of_curve(self, curve: WeightedCurve) -> float:
        """Return the equal error rate."""
        return curve.eer()

    def of_vertices(self, pmiss: Float64Array, pfa: Float64Array) -> float:
        """Return the equal error rate."""
        return eer_of_hull(pmiss, pfa)

    def of_roc(self, roc: ROC) -> float:
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
    Intervals of a bootstrap are by percentiles. `speaker_interval` has the standard error of `EER`,
    which both have to first order, around this value.

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

    @property
    def words(self) -> str:
        """Which equal error rate it is."""
        return words_of_eer(self.definition)

    def of_roc(self, roc: ROC) -> float:
        """Return the equal error rate."""
        return roc.equal_error_rate(self.definition)


def statistic_of_eer(definition: EERDefinition) -> "EER | SteppyEER":
    """Return the statistic of an equal error rate of some definition.

    Parameters
    ----------
    definition : {"rocch", "interpolated", "step"}
        See `bosaris_py.eer`.

    Returns
    -------
    Statistic
    """
    return EER() if definition == "rocch" else SteppyEER(definition)


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

    words = "AUC"

    # From inverted to perfect scores.
    bounds = 0.0, 1.0

    def of_curve(self, curve: WeightedCurve) -> float:
        """Return the area."""
        return curve.auc()

    def of_roc(self, roc: ROC) -> float:
        """Return the area."""
        return roc.auc


def _to_rate(value: object) -> float:
    return as_number(value, "rate", "lie in [0, 1)", lambda x: 0.0 <= x < 1.0)


class RateAt(CurveStatistic):
    """One error-rate at the threshold that keeps the other one to `limit`."""

    __slots__ = ()

    bounds = 0.0, 1.0

    # Which rate is the value: of targets, or of non-targets.
    rated: ClassVar[Literal[0, 1]]

    @property
    @abc.abstractmethod
    def limit(self) -> float:
        """The rate that is kept."""

    @abc.abstractmethod
    def _point(self, pmiss: Float64Array, pfa: Float64Array) -> int:
        """Return the point of a ROC at which the other rate is least."""

    def of_curve(self, curve: WeightedCurve) -> float:
        """Return the rate."""
        return self.of_points(*curve.exact_points())

    def of_roc(self, roc: ROC) -> float:
        """Return the rate."""
        return self.of_points(roc.pmiss, roc.pfa)

    def of_points(self, pmiss: Float64Array, pfa: Float64Array) -> float:
        """Return the rate, given the points of a ROC."""
        return float((pmiss, pfa)[self.rated][self._point(pmiss, pfa)])

    def _chosen_thresholds(self, sample: ListedSample) -> Float64Array:
        """Return the threshold; see `Statistic._chosen_thresholds`."""
        roc = sample.roc
        return roc.thresholds[[self._point(roc.pmiss, roc.pfa)]]

    def open_cells(self, pmiss: Float64Array, pfa: Float64Array, starts: IntArray) -> BoolArray:
        """Tell inside which cells the rate that is kept reaches its limit."""
        kept, low, high = (pmiss, starts, starts + 1) if self.rated else (pfa, starts + 1, starts)
        limit = self.limit
        return np.asarray((kept[:, low] * SAME_COST <= limit) & (limit < kept[:, high] / SAME_COST))


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

    rated: ClassVar[Literal[0, 1]] = 0

    @property
    def limit(self) -> float:
        """The false match rate that is allowed."""
        return self.fmr

    def _point(self, pmiss: Float64Array, pfa: Float64Array) -> int:
        """Return the first point that the false-alarm rate allows."""
        return pfa.size - int(np.searchsorted(pfa[::-1], self.fmr, side="right"))


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

    rated: ClassVar[Literal[0, 1]] = 1

    @property
    def limit(self) -> float:
        """The false non-match rate that is allowed."""
        return self.fnmr

    def _point(self, pmiss: Float64Array, pfa: Float64Array) -> int:
        """Return the last point that the miss rate allows."""
        return int(np.searchsorted(pmiss, self.fnmr, side="right")) - 1


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

    words = figure_of("min_cllr").name
    default_interval: ClassVar[IntervalKind] = "basic"

    # From separated classes to scores that are of no use.
    bounds = 0.0, 1.0

    def of_curve(self, curve: WeightedCurve) -> float:
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

    def of_roc(self, roc: ROC) -> float:
        """Return the cost that is left."""
        return roc.convex_hull().min_cllr
