"""Cllr as a statistic: a mean cost over the trials of each class."""

import math
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py import numerics
from bosaris_py._validation import FloatArray, frozen
from bosaris_py.uncertainty.rate_samplers import OneLayerSampler, SetTable
from bosaris_py.uncertainty.resampling_plans import ResamplingPlan, SetPlan
from bosaris_py.uncertainty.samplers import Sampler
from bosaris_py.uncertainty.sets import SetIndex
from bosaris_py.uncertainty.speaker_plan import SpeakerPlan
from bosaris_py.uncertainty.speaker_sums import ClassSums, SpeakerSums, UnitTable
from bosaris_py.uncertainty.statistic import Bounds, SortedEvaluator, Statistic
from bosaris_py.uncertainty.strata import SortedStrata, Weights, weighted_sum

__all__ = ["Cllr"]

Float64Array = npt.NDArray[np.float64]

# Cost of a target's and a non-target's log-likelihood-ratio x: softplus of -x, of x.
_SIGNS = (-1.0, 1.0)


@attrs.frozen
class Cllr(Statistic):
    """Cllr: the cost of log-likelihood-ratios over all operating points, in bits.

    See Also
    --------
    bosaris_py.cllr : The same number as a function.

    Examples
    --------
    >>> Cllr()([0.0, 0.0], [0.0])
    1.0
    """

    @property
    def bounds(self) -> Bounds:
        """From perfect scores to arbitrarily misleading ones."""
        return 0.0, math.inf

    def __call__(
        self,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        tar_weights: npt.ArrayLike | None = None,
        non_weights: npt.ArrayLike | None = None,
    ) -> Any:
        """Compute the statistic; see `Statistic.__call__`."""
        return numerics.cllr(tar, non, tar_weights=tar_weights, non_weights=non_weights)

    def combine(self, tar_bits: Float64Array, non_bits: Float64Array) -> Any:
        """Average the mean costs of the two classes: one row for each replicate."""
        return (tar_bits[:, 0] + non_bits[:, 0]) / 2.0

    def evaluator(self, tar: SortedStrata, non: SortedStrata) -> SortedEvaluator:
        """Prepare for many sets of weights; see `Statistic.evaluator`."""
        return _CllrEvaluator(_MeanBits.of(tar, -1.0), _MeanBits.of(non, 1.0))

    def sampler(self, tar: FloatArray, non: FloatArray, plan: ResamplingPlan) -> Sampler:
        """Choose the fastest way to draw replicates; see `Statistic.sampler`.

        A sum over trials: if whole sets are picked, their sums are all it takes.
        """
        if isinstance(plan, SetPlan) and not plan.two_layer:
            tar_table, non_table = (
                SetTable.from_sums(cells.sizes, _bit_sums(scores, sign, cells), strata.shares)
                for scores, sign, cells, strata in zip(
                    (tar, non), _SIGNS, plan.cells, plan.strata, strict=True
                )
            )
            return OneLayerSampler(tar_table, non_table, self.combine)
        return super().sampler(tar, non, plan)

    def speaker_sums(
        self, tar: FloatArray, non: FloatArray, plan: SpeakerPlan
    ) -> SpeakerSums | None:
        """Add the costs of each pair of speakers; see `Statistic.speaker_sums`."""
        classes = [
            ClassSums(
                tuple(
                    UnitTable.from_sums(part, _bit_sums(values, sign, part.index))
                    for part, values in zip(groups, strata.split(scores), strict=True)
                ),
                strata.shares,
            )
            for scores, sign, groups, strata in zip(
                (tar, non), _SIGNS, plan.groups(), plan.strata, strict=True
            )
        ]
        return SpeakerSums(classes[0], classes[1], self.combine)


def _bit_sums(scores: FloatArray, sign: float, index: SetIndex) -> Float64Array:
    """Add up the costs of the trials of each set: (n_sets, 1)."""
    sums = np.bincount(index.labels, _bits(scores, sign), minlength=index.n_sets)
    return np.asarray(sums, dtype=np.float64)[:, None]


@attrs.frozen(eq=False)
class _MeanBits:
    """The mean cost of one class, from weights."""

    places: tuple[slice, ...]
    bits: Float64Array
    shares: Float64Array

    @classmethod
    def of(cls, strata: SortedStrata, sign: float) -> "_MeanBits":
        """Compute the cost of each score."""
        return cls(tuple(strata.slices), frozen(_bits(strata.values, sign)), strata.shares)

    def __call__(self, weights: Weights) -> Any:
        """Return the mean for weights in the order of the sorted scores."""
        # Not by BLAS, whose sums may depend on how many threads it has.
        products = weights * self.bits
        means = [products[place].sum() / weights[place].sum() for place in self.places]
        return weighted_sum(means, self.shares)


@attrs.frozen(eq=False)
class _CllrEvaluator(SortedEvaluator):
    """Cllr from weights: weighted means of the cost of each score."""

    tar: _MeanBits
    non: _MeanBits

    def __call__(self, tar_weights: Weights, non_weights: Weights) -> Any:
        """Return the statistic for weights in the order of the sorted scores."""
        return 0.5 * (self.tar(tar_weights) + self.non(non_weights))


def _bits(scores: FloatArray, sign: float) -> Float64Array:
    costs = np.logaddexp(0.0, sign * scores.astype(np.float64, copy=False))
    costs /= math.log(2.0)
    return costs
