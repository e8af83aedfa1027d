"""Functions of a user, and what may stand for a statistic."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, TypeAlias

import attrs
import numpy as np

from bosaris_py._arrays import Float64Array, FloatArray, Weights
from bosaris_py._cautions import cautions
from bosaris_py._validation import describe, invalid
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.trials.sample import ListedSample
from bosaris_py.uncertainty.bootstrap_result import IntervalKind
from bosaris_py.uncertainty.resampling import ResamplingPlan
from bosaris_py.uncertainty.statistics import samplers
from bosaris_py.uncertainty.statistics.class_means import ActDCF
from bosaris_py.uncertainty.statistics.samplers import Evaluator, Sampler
from bosaris_py.uncertainty.statistics.statistic import Bounds, Statistic


@attrs.frozen(eq=False)
class UserFunction:
    """A function ``f(tar, non, tar_weights, non_weights)``, resampled as a `Statistic` is."""

    # It is called once for each replicate: the slow way. `shape` is that of its value on the data,
    # and must be that of all others, once it is known.

    default_interval: ClassVar[IntervalKind] = "percentile"
    bounds: ClassVar[Bounds] = (-math.inf, math.inf)

    function: Callable[..., object]
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

    def of_sample(self, sample: ListedSample) -> float | Float64Array:
        """Return what the function makes of the trials."""
        return self(*sample.lists, *sample.trial_weights)

    def in_order(self, sample: ListedSample) -> Evaluator:
        """Prepare for many sets of weights in the order of the trials."""
        return functools.partial(self._of_weights, sample)

    def _of_weights(self, sample: ListedSample, *weights: Weights) -> Float64Array:
        return self(*sample.lists, *sample.strata.weigh(*weights))

    def sampler(self, sample: ListedSample, plan: ResamplingPlan) -> Sampler:
        """Draw weights of the trials, and call the function with them."""
        return samplers.WeightedSampler(plan, self.in_order(sample), self.shape or ())


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
    if isinstance(statistic, (Statistic, UserFunction)):
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
