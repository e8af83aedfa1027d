"""Ways to draw bootstrap replicates of a statistic, from the fastest to the general one.

All draw from the same distribution as the plain loop that picks trials, makes
two lists of scores and computes the statistic anew. A sampler is made once,
holds only what its draws need, and can be sent to another process.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FloatArray, describe, invalid
from bosaris_py.uncertainty.lazy_curve import LazyCurve
from bosaris_py.uncertainty.resampling_plans import ResamplingPlan
from bosaris_py.uncertainty.weighted_curve import ClassEdges, CurveIndex, WeightedCurve

__all__ = [
    "CallableSampler",
    "CurveSampler",
    "LazyEERSampler",
    "LazyMinCostSampler",
    "Sampler",
    "WeightedSampler",
    "call_function",
]

Float64Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Weights = npt.NDArray[np.int64] | npt.NDArray[np.float64]

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
    owner: str = "bootstrap",
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
        raise invalid("statistic", owner, expected, describe(returned))
    if shape is not None and value.shape != shape:
        expected = f"return a value of the same shape for all replicates, {shape} as on the data"
        raise invalid("statistic", owner, expected, f"{value.shape}")
    return value.astype(np.float64)
