"""Statistics of the ROC: what depends on the ranks of scores alone."""

import abc
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FloatArray
from bosaris_py.numerics.priors import DecisionCosts, PriorLike
from bosaris_py.numerics.roc import ROC
from bosaris_py.uncertainty.bootstrap_result import IntervalKind
from bosaris_py.uncertainty.eer_window import EERWindow
from bosaris_py.uncertainty.lazy_curve import LazyCurve
from bosaris_py.uncertainty.resampling_plans import IidPlan, ResamplingPlan
from bosaris_py.uncertainty.samplers import (
    CurveSampler,
    LazyEERSampler,
    LazyMinCostSampler,
    Sampler,
)
from bosaris_py.uncertainty.statistic import (
    Bounds,
    SortedEvaluator,
    Statistic,
    check_prior,
    number,
    sort_both,
    to_prior,
)
from bosaris_py.uncertainty.strata import SortedStrata, Weights
from bosaris_py.uncertainty.weighted_curve import CurveIndex, WeightedCurve

__all__ = ["AUC", "EER", "CurveStatistic", "MinCllr", "MinDCF"]


class CurveStatistic(Statistic):
    """A function of the ROC: what depends on ranks alone."""

    __slots__ = ()

    @abc.abstractmethod
    def of_curve(self, curve: WeightedCurve) -> Any:
        """Make the value from the weights of one replicate."""

    def __call__(
        self,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        tar_weights: npt.ArrayLike | None = None,
        non_weights: npt.ArrayLike | None = None,
    ) -> Any:
        """Compute the statistic; see `Statistic.__call__`."""
        roc = ROC.from_scores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
        return number(self.of_roc(roc))

    @abc.abstractmethod
    def of_roc(self, roc: ROC) -> Any:
        """Make the value from the engine's own object."""

    def evaluator(self, tar: SortedStrata, non: SortedStrata) -> SortedEvaluator:
        """Prepare for many sets of weights; see `Statistic.evaluator`."""
        return _CurveEvaluator(CurveIndex.from_sorted(tar, non), self)

    def sampler(self, tar: FloatArray, non: FloatArray, plan: ResamplingPlan) -> Sampler:
        """Choose the fastest way to draw replicates; see `Statistic.sampler`."""
        if isinstance(plan, IidPlan):
            return self._iid_sampler(CurveIndex.from_sorted(*sort_both(tar, non, plan)))
        return super().sampler(tar, non, plan)

    def _iid_sampler(self, index: CurveIndex) -> Sampler:
        return CurveSampler(index, self.of_curve)


@attrs.frozen(eq=False)
class _CurveEvaluator(SortedEvaluator):
    """A statistic of the ROC from weights: cumulative sums, read at the target scores."""

    index: CurveIndex
    statistic: CurveStatistic

    def __call__(self, tar_weights: Weights, non_weights: Weights) -> Any:
        """Return the statistic for weights in the order of the sorted scores."""
        return self.statistic.of_curve(self.index.curve(tar_weights, non_weights))


@attrs.frozen
class MinDCF(CurveStatistic):
    """Minimum DCF: detection cost at the best threshold for these scores.

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
    bosaris_py.min_dcf : The same number as a function.

    Notes
    -----
    A minimum is optimistic: the threshold is chosen on the scores that it is
    judged on. A replicate chooses once more and is more optimistic still, so a
    percentile interval lies too low. The default interval is therefore
    ``"basic"``, which mirrors the replicates about the estimate and corrects
    for as much optimism as they show. With 100 targets and 2000 non-targets at
    a prior of 0.01, a nominal 95 % percentile interval covers the truth in
    73 % of simulated experiments, the basic one in 88 %; with ten times the
    trials 84 and 95 %. Where it matters, prefer the actual cost.

    The i.i.d. bootstrap draws replicates lazily: see `LazyCurve`.

    Examples
    --------
    >>> MinDCF(0.5)([1.0, 3.0], [0.0, 2.0])
    0.25
    """

    default_interval: ClassVar[IntervalKind] = "basic"

    prior: PriorLike = attrs.field(converter=to_prior, validator=check_prior)
    normalize: bool = attrs.field(default=False, kw_only=True)

    @property
    def costs(self) -> DecisionCosts:
        """The prices of the two errors."""
        return DecisionCosts.from_prior(self.prior, "MinDCF")

    @property
    def shape(self) -> tuple[int, ...]:
        """One value for each operating point."""
        return self.costs.plo.shape

    @property
    def bounds(self) -> Bounds:
        """From perfect scores to scores that are of no use."""
        costs = self.costs
        return 0.0, (np.ones_like(costs.plo) if self.normalize else costs.default_cost)

    def of_curve(self, curve: WeightedCurve) -> Any:
        """Return the least cost of all thresholds."""
        if self.shape:
            return self.of_roc(curve.roc())
        return curve.min_cost(*self._prices())

    def of_roc(self, roc: ROC) -> Any:
        """Return the least cost of all thresholds."""
        return roc.convex_hull().min_dcf(self.prior, normalize=self.normalize)

    def _prices(self) -> tuple[float, float]:
        costs = self.costs
        scale = float(costs.default_cost) if self.normalize else 1.0
        return float(costs.miss) / scale, float(costs.fa) / scale

    def _iid_sampler(self, index: CurveIndex) -> Sampler:
        if self.shape:
            return super()._iid_sampler(index)
        return LazyMinCostSampler(LazyCurve.from_index(index), *self._prices())


@attrs.frozen
class EER(CurveStatistic):
    """Equal error rate on the ROC's convex hull.

    See Also
    --------
    bosaris_py.eer : The same number as a function.

    Notes
    -----
    Optimistic as `MinDCF` is, of which it is the maximum over all priors; the
    default interval is ``"basic"`` for the same reason. The i.i.d. bootstrap
    draws the part of a replicate that decides, see `EERWindow` and `LazyCurve`.

    Examples
    --------
    >>> EER()([1.0, 3.0], [0.0, 2.0])
    0.25
    """

    default_interval: ClassVar[IntervalKind] = "basic"

    @property
    def bounds(self) -> Bounds:
        """From perfect scores to scores that are of no use; the hull is never worse."""
        return 0.0, 0.5

    def of_curve(self, curve: WeightedCurve) -> Any:
        """Return the equal error rate."""
        return curve.eer()

    def of_roc(self, roc: ROC) -> Any:
        """Return the equal error rate."""
        return roc.convex_hull().eer

    def _iid_sampler(self, index: CurveIndex) -> Sampler:
        return EERWindow.from_index(index) or LazyEERSampler(LazyCurve.from_index(index))


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

    @property
    def bounds(self) -> Bounds:
        """From inverted to perfect scores."""
        return 0.0, 1.0

    def of_curve(self, curve: WeightedCurve) -> Any:
        """Return the area."""
        return curve.auc()

    def of_roc(self, roc: ROC) -> Any:
        """Return the area."""
        return roc.auc


@attrs.frozen
class MinCllr(CurveStatistic):
    """Cllr after optimal recalibration, in bits.

    See Also
    --------
    bosaris_py.min_cllr : The same number as a function.

    Notes
    -----
    Optimistic as `MinDCF` is, of which it is an average over all priors; the
    default interval is ``"basic"`` for the same reason. With 100 targets and
    1000 non-targets, normal with means 2 apart, the nominal 95 % percentile
    interval covers the truth in 55 % of 300 simulated experiments, the basic one
    in 82 %.

    Examples
    --------
    >>> MinCllr()([1.0, 2.0], [-1.0, 0.0])
    0.0
    """

    default_interval: ClassVar[IntervalKind] = "basic"

    @property
    def bounds(self) -> Bounds:
        """From separated classes to scores that are of no use."""
        return 0.0, 1.0

    def of_curve(self, curve: WeightedCurve) -> Any:
        """Return the cost that is left."""
        return self.of_roc(curve.roc())

    def of_roc(self, roc: ROC) -> Any:
        """Return the cost that is left."""
        return roc.convex_hull().min_cllr
