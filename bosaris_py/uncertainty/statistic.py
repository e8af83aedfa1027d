"""What a bootstrap resamples: the base of the metrics as small frozen objects.

Each is called like a function, ``statistic(tar, non)``, and knows the fastest
way to its own bootstrap replicates, see `Statistic.sampler`.
"""

import abc
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FloatArray, describe, invalid
from bosaris_py.numerics.priors import DecisionCosts, OperatingPoint
from bosaris_py.uncertainty.bootstrap_result import IntervalKind
from bosaris_py.uncertainty.resampling_plans import IidPlan, ResamplingPlan
from bosaris_py.uncertainty.samplers import Sampler, WeightedSampler
from bosaris_py.uncertainty.speaker_plan import SpeakerPlan
from bosaris_py.uncertainty.speaker_sums import SpeakerSums, SpeakerSumsSampler
from bosaris_py.uncertainty.strata import SortedStrata, Weights

__all__ = [
    "Bounds",
    "SortedEvaluator",
    "Statistic",
    "check_prior",
    "check_statistic",
    "number",
    "sort_both",
    "to_prior",
]

Bounds = tuple[npt.ArrayLike, npt.ArrayLike]


class SortedEvaluator(abc.ABC):
    """A statistic prepared for one set of sorted scores, to be evaluated at many weights."""

    __slots__ = ()

    @abc.abstractmethod
    def __call__(self, tar_weights: Weights, non_weights: Weights) -> Any:
        """Return the statistic for weights in the order of the sorted scores."""


class Statistic(abc.ABC):
    """Base of the statistics that know a fast way to their bootstrap replicates."""

    __slots__ = ()

    default_interval: ClassVar[IntervalKind] = "percentile"

    @abc.abstractmethod
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

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value, () for a number."""
        return ()

    @property
    @abc.abstractmethod
    def bounds(self) -> Bounds:
        """Least and greatest value that is possible; intervals are clipped to it."""

    @abc.abstractmethod
    def evaluator(self, tar: SortedStrata, non: SortedStrata) -> SortedEvaluator:
        """Prepare for evaluating many sets of weights on the same scores.

        Parameters
        ----------
        tar, non : SortedStrata
            The scores of both classes, by condition.

        Returns
        -------
        SortedEvaluator
            Called with weights in the order of the sorted scores, condition by condition.
            Those of each condition are divided by their sum.
        """

    def sampler(self, tar: FloatArray, non: FloatArray, plan: ResamplingPlan) -> Sampler:
        """Choose the fastest way to draw replicates under a plan.

        Parameters
        ----------
        tar, non : ndarray of float32 or float64
            Scores without NaN, in the order for which the plan was made.
        plan : ResamplingPlan
            How trials are weighted in each replicate.

        Returns
        -------
        Sampler
        """
        sums = self.speaker_sums(tar, non, plan) if isinstance(plan, SpeakerPlan) else None
        if isinstance(plan, SpeakerPlan) and sums is not None:
            return SpeakerSumsSampler(plan.persons, (sums,))
        if isinstance(plan, IidPlan) and plan.strata.is_single:
            # All trials are alike, so the order of sorting need not be known.
            evaluator = self.evaluator(*sort_both(tar, non, plan))
            return WeightedSampler(plan, evaluator, self.shape)
        tar_sorted, tar_order = plan.strata.tar.arranged(tar)
        non_sorted, non_order = plan.strata.non.arranged(non)
        evaluator = self.evaluator(tar_sorted, non_sorted)
        return WeightedSampler(plan.reordered(tar_order, non_order), evaluator, self.shape)

    def speaker_sums(
        self, tar: FloatArray, non: FloatArray, plan: SpeakerPlan
    ) -> SpeakerSums | None:
        """Add up, for each pair of speakers, what the statistic is made of.

        Parameters
        ----------
        tar, non : ndarray of float32 or float64
            Scores without NaN, in the order for which the plan was made.
        plan : SpeakerPlan
            Who takes part in each trial.

        Returns
        -------
        SpeakerSums or None
            None if the statistic is not made of sums over trials, or if the sums
            take more memory than the scores: weights are then given to each trial.
        """
        return None


def number(value: Any) -> Any:
    """Return a numpy number as a float, an array as it is."""
    return value if np.ndim(value) else float(value)


def sort_both(
    tar: FloatArray, non: FloatArray, plan: ResamplingPlan
) -> tuple[SortedStrata, SortedStrata]:
    """Sort the scores of both classes by the conditions of a plan."""
    return plan.strata.tar.sorted(tar), plan.strata.non.sorted(non)


def to_prior(prior: Any) -> Any:
    """Keep a prior in a form that is immutable and can be compared."""
    if isinstance(prior, (OperatingPoint, DecisionCosts)) or np.ndim(prior) == 0:
        return prior
    return tuple(p if isinstance(p, OperatingPoint) else float(p) for p in prior)


def check_prior(instance: object, attribute: Any, value: Any) -> None:
    """Raise, naming the class of the instance, unless a value is a prior or several."""
    DecisionCosts.from_prior(value, type(instance).__name__)


def check_statistic(statistic: object, owner: str) -> None:
    """Raise unless `statistic` can be called, guessing at a forgotten pair of brackets."""
    if isinstance(statistic, type):
        hint = f"Make one first: {statistic.__name__}(...)."
        raise invalid("statistic", owner, "be a statistic, not a class", statistic.__name__, hint)
    if not callable(statistic):
        hint = "For instance EER(), or a function f(tar, non, tar_weights, non_weights)."
        raise invalid("statistic", owner, "be callable", describe(statistic), hint)
