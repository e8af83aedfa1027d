"""The ROC of sorted scores whose weights change from replicate to replicate.

Sorting and the search for ties happen once. A replicate is then one cumulative
sum of the weights in each class, read off at the distinct target scores; or one for
each condition, added up with the weights of the conditions.
"""

from collections.abc import Sequence
from typing import NamedTuple

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import frozen
from bosaris_py.numerics.roc import ROC
from bosaris_py.numerics.sorted_scores import SortedScores
from bosaris_py.uncertainty.strata import SortedStrata, slices_of, weighted_sum

__all__ = ["ClassEdges", "CurveIndex", "WeightedCurve", "eer_of_points", "running_total"]

Float64Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Weights = npt.NDArray[np.int64] | npt.NDArray[np.float64]

# Two costs closer than this are one cost that was rounded in two ways.
_ROUNDING = 2.0**-45


class WeightedCurve(NamedTuple):
    """Weights at the distinct target scores of one replicate.

    Parameters
    ----------
    target_scores : (k,) ndarray of float64
        The distinct target scores of the data, ascending.
    misses : (k + 1,) ndarray
        Target weight below each of them, and the total.
    below, up_to : (k,) ndarray
        Non-target weight below each, and below or equal to each.
    non_total : int or float
        Total non-target weight.
    """

    target_scores: Float64Array
    misses: Weights
    below: Weights
    up_to: Weights
    non_total: float

    @property
    def tar_total(self) -> float:
        """Total target weight."""
        return self.misses[-1].item()  # type: ignore[no-any-return]

    def points(self) -> tuple[Float64Array, Float64Array]:
        """Return miss and false-alarm rate at each target score, and where all is rejected."""
        pfa = np.empty(self.misses.size)
        np.divide(self.below, -self.non_total, out=pfa[:-1])
        pfa[:-1] += 1.0
        pfa[-1] = 0.0
        return self.misses / self.tar_total, pfa

    def min_cost(self, miss_cost: float, fa_cost: float) -> float:
        """Return the least cost of all thresholds."""
        pmiss, pfa = self.points()
        pmiss *= miss_cost
        pfa *= fa_cost
        pmiss += pfa
        # Accepting everything, non-targets below all targets too, costs fa_cost.
        return float(min(pmiss.min(), fa_cost))

    def eer(self) -> float:
        """Return the equal error rate on the convex hull."""
        return eer_of_points(*self.points())

    def auc(self) -> float:
        """Return the area under the ROC, ties counted half."""
        wins = 0.5 * (self.below + self.up_to)
        wins *= np.diff(self.misses)
        return float(wins.sum()) / (float(self.tar_total) * float(self.non_total))

    def roc(self) -> ROC:
        """Return the engine's own object, for what is asked of its convex hull."""
        between = np.empty(self.below.size + 1, dtype=self.below.dtype)
        between[0] = self.below[0]
        np.subtract(self.below[1:], self.up_to[:-1], out=between[1:-1])
        between[-1] = self.non_total - self.up_to[-1]
        return ROC(
            self.target_scores,
            frozen(np.diff(self.misses)),
            frozen(self.up_to - self.below),
            frozen(between),
        )


@attrs.frozen(eq=False)
class ClassEdges:
    """How many trials of each condition of one class lie before edges on the score axis.

    Parameters
    ----------
    edges : tuple of (m,) ndarray of int64
        For each condition, the number of its trials before each edge.
    sizes : (k,) ndarray of int64
        Number of trials of each condition.
    shares : (k,) ndarray of float64
        Weight of each condition in the class.
    """

    edges: tuple[IntArray, ...]
    sizes: IntArray
    shares: Float64Array

    def before(self, weights: Weights) -> tuple[Weights, float]:
        """Return the weight before each edge, and the total.

        With several conditions, the weights of each are divided by their sum.
        """
        parts = slices_of(self.sizes.tolist())
        running = [running_total(weights[part]) for part in parts]
        return self.combined(
            [total[edges] for total, edges in zip(running, self.edges, strict=True)],
            [total[-1].item() for total in running],
        )

    def combined(
        self, weights: Sequence[Weights], totals: Sequence[float]
    ) -> tuple[Weights, float]:
        """Add up the weights that each condition has before the edges, and their totals."""
        if len(weights) == 1:
            return weights[0], totals[0]
        shares = self.shares / totals
        # Each term rises with the edge, and so does a rounded sum in this order; the
        # total is such a sum, too.
        return weighted_sum(weights, shares), float(weighted_sum(totals, shares))


@attrs.frozen(eq=False)
class CurveIndex:
    """Where the distinct target scores lie among the sorted scores of both classes.

    Parameters
    ----------
    target_scores : (k,) ndarray of float64
        The distinct target scores, ascending.
    tar : ClassEdges
        Number of targets below each.
    non : ClassEdges
        Number of non-targets below each, and below or equal to each, in turn: 2 k edges.
    """

    target_scores: Float64Array
    tar: ClassEdges
    non: ClassEdges

    @classmethod
    def from_sorted(cls, tar: SortedStrata, non: SortedStrata) -> "CurveIndex":
        """Find the target scores among the targets and the non-targets of each condition."""
        target_scores = _distinct(tar.parts)
        non_edges = (
            np.column_stack((part.count_below(target_scores), part.count_up_to(target_scores)))
            for part in non.parts
        )
        return cls(
            frozen(target_scores),
            _class_edges([part.count_below(target_scores) for part in tar.parts], tar),
            _class_edges([edges.ravel() for edges in non_edges], non),
        )

    def curve(self, tar_weights: Weights, non_weights: Weights) -> WeightedCurve:
        """Return the curve for weights in the order of the sorted scores."""
        return self.curve_of(self.tar.before(tar_weights), self.non.before(non_weights))

    def curve_of(self, tar: tuple[Weights, float], non: tuple[Weights, float]) -> WeightedCurve:
        """Return the curve for weights before the edges of each class, and their totals."""
        misses, tar_total = tar
        below, up_to = non[0].reshape(-1, 2).T
        return WeightedCurve(self.target_scores, np.append(misses, tar_total), below, up_to, non[1])


def _distinct(parts: tuple[SortedScores, ...]) -> Float64Array:
    scores = [part.distinct()[0].astype(np.float64) for part in parts]
    return scores[0] if len(scores) == 1 else np.unique(np.concatenate(scores))


def _class_edges(edges: list[IntArray], strata: SortedStrata) -> ClassEdges:
    sizes = np.array([part.size for part in strata.parts])
    return ClassEdges(tuple(map(frozen, edges)), frozen(sizes), strata.shares)


def running_total(weights: Weights) -> Weights:
    """Return the total of the first i weights, from none to all of them."""
    total = np.zeros(weights.size + 1, dtype=weights.dtype)
    np.cumsum(weights, out=total[1:])
    return total  # type: ignore[return-value]


def eer_of_points(pmiss: Float64Array, pfa: Float64Array) -> float:
    """Return where the lower left hull of these points meets pmiss = pfa.

    Two points either side of the diagonal, at first the two useless decisions,
    define a prior at which they cost the same. The point that is cheapest at
    this prior replaces one of them, until none is cheaper: a handful of passes
    over the points, and no hull.
    """
    low, high = (0.0, 1.0), (1.0, 0.0)
    rising = pmiss - pfa
    while True:
        slope = low[0] - low[1]
        prior = (low[1] - high[1]) / (high[0] - high[1] - slope)
        value = low[1] + prior * slope
        cost = rising * prior
        cost += pfa
        best = int(np.argmin(cost))
        if not cost[best] < value * (1.0 - _ROUNDING):
            return value
        point = (float(pmiss[best]), float(pfa[best]))
        if point[0] < point[1]:
            low = point
        else:
            high = point
