"""Replicates of the costs of two systems at fixed thresholds, without weights of trials.

At fixed thresholds a trial is one of a few kinds: each system rejects it or not, at
each of its thresholds. A replicate of independent trials is a multinomial draw of how often
each kind was picked; one of sets of trials adds up the errors of both systems in each
set once. Neither takes longer for more trials.
"""

from typing import Any, ClassVar, Self

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FloatArray, frozen
from bosaris_py.uncertainty.rate_samplers import OneLayerSampler, SetTable, count_rejected
from bosaris_py.uncertainty.resampling_plans import IidPlan, ResamplingPlan, SetPlan
from bosaris_py.uncertainty.samplers import Sampler
from bosaris_py.uncertainty.strata import Strata, weighted_sum
from bosaris_py.uncertainty.threshold_statistics import ThresholdStatistic

__all__ = ["JointErrors", "JointRateSampler", "paired_rate_sampler"]

Float64Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Pair = tuple[FloatArray, FloatArray]

# With more kinds of trials than this, giving weights to trials is hardly slower.
_MOST_KINDS = 2**12


@attrs.frozen(eq=False)
class JointErrors:
    """How many trials of one class are of each kind: which system errs at which threshold.

    Parameters
    ----------
    counts : (k, n_kinds) ndarray of int64
        Number of trials of each condition and kind.
    errors : (n_kinds, m) ndarray of int64
        1 where a trial of this kind is an error; a column for each threshold of the
        first system, then for each of the second.
    shares : (k,) ndarray of float64
        Weight of each condition in the class.
    """

    counts: IntArray
    errors: IntArray
    shares: Float64Array

    @classmethod
    def of(
        cls,
        scores: Pair,
        limits: tuple[Float64Array, Float64Array],
        strata: Strata,
        *,
        accepted: bool,
    ) -> Self:
        """Sort the trials of one class by kind.

        Parameters
        ----------
        scores : pair of (n,) ndarray of float
            Scores of both systems.
        limits : pair of ndarray of float64
            Their thresholds.
        strata : Strata
            The conditions of the trials.
        accepted : bool
            Whether an accepted trial is an error, else a rejected one.
        """
        n_cells = [values.size + 1 for values in limits]
        kinds = np.zeros(strata.n_trials, dtype=np.int64)
        columns = []
        for values, own, size in zip(scores, limits, n_cells, strict=True):
            order = np.argsort(own, kind="stable")
            kinds *= size
            # Accepted at this many thresholds, the lowest ones.
            kinds += np.searchsorted(
                own[order], values.astype(np.float64, copy=False), side="right"
            )
            errs = np.empty((size, own.size), dtype=np.int64)
            errs[:, order] = (np.arange(own.size) < np.arange(size)[:, None]) == accepted
            columns.append(errs)
        if strata.labels is not None:
            kinds += strata.labels.astype(np.int64) * (n_cells[0] * n_cells[1])
        n_kinds = n_cells[0] * n_cells[1]
        counts = np.bincount(kinds, minlength=strata.n_strata * n_kinds)
        errors = np.hstack(
            (np.repeat(columns[0], n_cells[1], axis=0), np.tile(columns[1], (n_cells[0], 1)))
        )
        return cls(frozen(counts.reshape(-1, n_kinds)), frozen(errors), strata.shares)

    def draw_rates(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw error-rates: (n_replicates, m)."""
        rates = []
        for counts in self.counts:
            kinds = np.flatnonzero(counts)
            size = int(counts.sum())
            picks = rng.multinomial(size, counts[kinds] / size, size=n_replicates)
            rates.append(np.einsum("ij,jm->im", picks, self.errors[kinds]) / size)
        return np.asarray(weighted_sum(rates, self.shares))


@attrs.frozen(eq=False)
class _BothCosts:
    """Makes the values of both systems from error-rates side by side."""

    first: ThresholdStatistic
    second: ThresholdStatistic

    def __call__(self, pmiss: Float64Array, pfa: Float64Array) -> Any:
        """Return one row for each replicate, one column for each system."""
        n_miss, n_fa = self.first.miss_limits.size, self.first.fa_limits.size
        return np.stack(
            (
                self.first.combine(pmiss[:, :n_miss], pfa[:, :n_fa]),
                self.second.combine(pmiss[:, n_miss:], pfa[:, n_fa:]),
            ),
            axis=1,
        )


@attrs.frozen(eq=False)
class JointRateSampler:
    """Statistics of the error-rates of two systems, trials picked.

    Parameters
    ----------
    tar, non : JointErrors
        Number of trials of each kind.
    combine : _BothCosts
        Makes the statistics from miss and false-alarm rates.
    """

    block: ClassVar[int] = 500

    tar: JointErrors
    non: JointErrors
    combine: _BothCosts

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates along the first axis, systems along the second."""
        pmiss = self.tar.draw_rates(n_replicates, rng)
        return np.asarray(self.combine(pmiss, self.non.draw_rates(n_replicates, rng)))


def paired_rate_sampler(
    statistics: tuple[ThresholdStatistic, ThresholdStatistic],
    tar: Pair,
    non: Pair,
    plan: ResamplingPlan,
) -> Sampler | None:
    """Make a sampler of two systems at fixed thresholds.

    Parameters
    ----------
    statistics : pair of ThresholdStatistic
        One for each system.
    tar, non : pair of (n,) ndarray of float
        Scores of both systems, in the order for which the plan was made.
    plan : ResamplingPlan
        How trials are drawn.

    Returns
    -------
    Sampler or None
        None if the plan is another one, or there are many thresholds.
    """
    first, second = statistics
    miss_limits = first.miss_limits, second.miss_limits
    fa_limits = first.fa_limits, second.fa_limits
    combine = _BothCosts(first, second)
    if isinstance(plan, IidPlan):
        if (fa_limits[0].size + 1) * (fa_limits[1].size + 1) > _MOST_KINDS:
            return None
        return JointRateSampler(
            JointErrors.of(tar, miss_limits, plan.strata.tar, accepted=False),
            JointErrors.of(non, fa_limits, plan.strata.non, accepted=True),
            combine,
        )
    if isinstance(plan, SetPlan) and not plan.two_layer:
        of_tar, of_non = plan.cells
        misses = [count_rejected(*pair, of_tar) for pair in zip(tar, miss_limits, strict=True)]
        correct = [count_rejected(*pair, of_non) for pair in zip(non, fa_limits, strict=True)]
        alarms = of_non.sizes[:, None] - np.hstack(correct)
        return OneLayerSampler(
            SetTable.from_sums(of_tar.sizes, np.hstack(misses), plan.strata.tar.shares),
            SetTable.from_sums(of_non.sizes, alarms, plan.strata.non.shares),
            combine,
        )
    return None
