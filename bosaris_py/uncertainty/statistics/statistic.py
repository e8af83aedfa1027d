"""Statistics that can be resampled, each with its fastest exact way.

Each is called like a function, ``statistic(tar, non)``, and chooses the fastest way to its own
bootstrap replicates, see `Statistic.sampler`. There are functions of class means (error-rates at
fixed thresholds, Cllr), of the ROC, and those that a user gives.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import Float64Array, IndexArray, Weights
from bosaris_py._validation import as_flag
from bosaris_py.evaluation.figure_names import figure_of
from bosaris_py.evaluation.results import named_points
from bosaris_py.numerics.priors import DecisionCosts, OperatingPoint, PriorLike
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.strata import SortedStrata
from bosaris_py.uncertainty.bootstrap_result import IntervalKind
from bosaris_py.uncertainty.resampling import IidPlan, ResamplingPlan, SpeakerPlan
from bosaris_py.uncertainty.speaker_curve import SpeakerSampler, SpeakerTrials, ValuesOfSpeakers
from bosaris_py.uncertainty.statistics import samplers
from bosaris_py.uncertainty.statistics.samplers import Evaluator, Sampler

Bounds = tuple[npt.ArrayLike, npt.ArrayLike]


# From weights of the trials of one class to weighted means over them.
Means = Callable[[Weights], Float64Array]


# The targets, or the non-targets.
WhichClass = Literal[0, 1]


class Statistic(abc.ABC):
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
    def of_sample(self, sample: ListedSample) -> float | Float64Array:
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
    def words(self) -> str:
        """What it is called below tables; if empty, what it is printed as."""
        return ""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value, () for a number."""
        return ()

    @property
    def numbers(self) -> "tuple[Statistic, ...]":
        """The statistics of one number that its array is made of, in their order.

        None if it is a curve, whose points vary together.
        """
        return () if self.shape else (self,)

    def _chosen_thresholds(self, sample: ListedSample) -> Float64Array | None:
        """Return the thresholds whose error-rates make the value, if they are known."""
        # A standard error rests on the errors of both kinds there.
        return None

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
            return samplers.WeightedSampler(plan, evaluator, self.shape)
        plan = plan.reordered(tar.order, non.order)
        evaluator = self.evaluator(tar.sorted, non.sorted)
        return samplers.WeightedSampler(plan, evaluator, self.shape)

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
) -> float | Float64Array:
    return evaluate(tar[tar_order], non[non_order])


def _to_prior(prior: Any) -> Any:
    """Keep a prior in a form that is immutable and can be compared."""
    if isinstance(prior, (OperatingPoint, DecisionCosts)) or np.ndim(prior) == 0:
        return prior
    return tuple(p if isinstance(p, OperatingPoint) else float(p) for p in prior)


def _check_prior(instance: object, attribute: object, value: PriorLike) -> None:
    """Raise unless a value is a prior or several."""
    DecisionCosts.from_prior(value)


@attrs.frozen
class AtPriors(Statistic):
    """A detection cost at given priors."""

    prior: PriorLike = attrs.field(converter=_to_prior, validator=_check_prior)
    normalize: bool = attrs.field(default=False, converter=as_flag, kw_only=True)

    # The column of tables that has it.
    _column: ClassVar[str]

    @property
    def words(self) -> str:
        """Its name in tables, with its operating points."""
        # Prices alone have no name, as those of three classes.
        priced = isinstance(self.prior, DecisionCosts)
        points = "" if priced else ", ".join(named_points(self.prior))
        return figure_of(self._column + points).name

    @property
    def costs(self) -> DecisionCosts:
        """The prices of the two errors."""
        return DecisionCosts.from_prior(self.prior)

    @property
    def shape(self) -> tuple[int, ...]:
        """One value for each operating point."""
        return self.costs.plo.shape

    @property
    def numbers(self) -> tuple[Statistic, ...]:
        """The cost at each operating point."""
        if isinstance(self.prior, tuple):
            return tuple(attrs.evolve(self, prior=point) for point in self.prior)
        return super().numbers
