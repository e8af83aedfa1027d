"""The jackknife over speakers, for metrics without a formula."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bosaris_py._arrays import AnyArray, Float64Array
from bosaris_py.trials.sample import ListedSample
from bosaris_py.uncertainty.resampling import SpeakerPlan
from bosaris_py.uncertainty.speaker_curve import SpeakerTrials
from bosaris_py.uncertainty.statistics.statistic import Statistic

# Groups of speakers that a jackknife leaves out at most.
_MOST_GROUPS = 500


# What a bias in proportion to n^(-2/3) is, over what the jackknife takes for one of n^(-1).
_ISOTONIC = 1.5


# Errors at the equal error rate, below which pools tell as little as classes that are apart.
FEW_FOR_POOLS = 3.0


class Jackknife(NamedTuple):
    r"""What a metric becomes without each speaker, or each of many groups of speakers.

    With the metric :math:`\hat\theta_{(k)}` without group k of G, and their mean
    :math:`\bar\theta`, the variance is :math:`\frac{G-1}{G} \sum (\hat\theta_{(k)} -
    \bar\theta)^2`. A bias in proportion to :math:`n^{-2/3}`, as that of an isotonic fit, is
    :math:`-\frac{3}{2} (G-1) (\hat\theta - \bar\theta)`.
    """

    deviations: Float64Array
    correction: float

    @classmethod
    def of(cls, statistic: Statistic, sample: ListedSample) -> "Jackknife":
        """Leave out the speakers of a sample."""
        plan = SpeakerPlan.of(sample, pigeonhole=False)
        sums = statistic.speaker_sums(SpeakerTrials(sample, plan))
        assert sums is not None
        k = plan.persons.n_first
        # Left in is what stands in place of a second person, the last columns.
        stay = (0, 0), (0, plan.persons.shape[0] - k)

        def values(weights: AnyArray) -> Float64Array:
            padded = np.pad(weights, stay, constant_values=1)
            return sums(padded, padded)

        n_groups = min(k, _MOST_GROUPS)
        whole = float(np.asarray(statistic.of_sample(sample)))
        left = (np.arange(k) % n_groups != np.arange(n_groups)[:, None]).astype(np.int64)
        return cls._of_values(values(left), whole)

    @classmethod
    def _of_values(cls, found: Float64Array, whole: float) -> "Jackknife":
        """Take what a metric becomes without each group of speakers, and what it is."""
        known = np.isfinite(found)
        if not known.any():
            return cls(np.zeros(found.size), 0.0)
        mean = float(found[known].mean())
        # Without the only speaker of a class there is no value.
        deviations = np.where(known, found - mean, 0.0)
        return cls(deviations, _ISOTONIC * (np.count_nonzero(known) - 1) * (whole - mean))

    def minus(self, other: "Jackknife") -> "Jackknife":
        """Return that of the difference to another system."""
        gap = self.correction - other.correction
        return Jackknife(self.deviations - other.deviations, gap)

    @property
    def variance(self) -> float:
        """The variance of the metric."""
        return float(self.deviations @ self.deviations) * (1.0 - 1.0 / self.deviations.size)
