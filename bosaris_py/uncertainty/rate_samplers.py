"""Ways to draw replicates of error-rates and other means, without weights of trials.

What trials have in common is added up once; a replicate then draws how many errors there
are, or how often each set of trials was picked. See `samplers` for the other ways.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt
from scipy import fft, special

from bosaris_py._validation import FloatArray, frozen
from bosaris_py.uncertainty.decisions import rejected
from bosaris_py.uncertainty.sets import SetIndex
from bosaris_py.uncertainty.strata import Strata, weighted_sum

__all__ = [
    "ErrorTotal",
    "ErrorTotalSampler",
    "IidRateSampler",
    "OneLayerSampler",
    "RejectedCounts",
    "SetTable",
    "TwoLayerRateSampler",
    "count_rejected",
    "set_rate_sampler",
]

Float64Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Weights = npt.NDArray[np.int64] | npt.NDArray[np.float64]
# From the means of one row per replicate in each class to one value per replicate.
Combine = Callable[[Float64Array, Float64Array], Any]

# Up to this many trials a Fourier transform is quicker than a few hundred replicates.
_LONGEST_TRANSFORM = 2**18

# What a transform of probabilities leaves where there should be nothing.
_ROUNDING = 2.0**-52


def count_rejected(
    scores: FloatArray, limits: Float64Array, index: SetIndex | None = None
) -> IntArray:
    """Count the scores below each limit, in each set: (n_sets, n_limits), or one row."""
    n_sets = 1 if index is None else index.n_sets
    if limits.size == 1:
        below = rejected(scores, limits[0])
        if index is None:
            return np.array([[np.count_nonzero(below)]], dtype=np.int64)
        return np.bincount(index.labels[below], minlength=n_sets)[:, None]
    order = np.argsort(limits, kind="stable")
    # A score is rejected at the limits above it, all but the first `cell` ones.
    cell = np.searchsorted(limits[order], scores.astype(np.float64, copy=False), side="right")
    if index is not None:
        cell = cell + index.labels * (limits.size + 1)
    counts = np.bincount(cell, minlength=n_sets * (limits.size + 1))
    counts = counts.reshape(n_sets, limits.size + 1)[:, :-1].cumsum(axis=1)
    counts[:, order] = counts.copy()
    return counts


@attrs.frozen(eq=False)
class RejectedCounts:
    """How many trials of each condition of one class lie below fixed thresholds.

    Parameters
    ----------
    rejected : (k, n_limits) ndarray of int64
        Number of trials of each condition below each threshold.
    sizes : (k,) ndarray of int64
        Number of trials of each condition.
    shares : (k,) ndarray of float64
        Weight of each condition in the class.
    """

    rejected: IntArray
    sizes: IntArray
    shares: Float64Array

    @classmethod
    def from_scores(
        cls, scores: FloatArray, limits: Float64Array, strata: Strata
    ) -> "RejectedCounts":
        """Count the trials of each condition."""
        index = None
        if strata.labels is not None:
            index = SetIndex(strata.labels.astype(np.int64), strata.sizes)
        counts = count_rejected(scores, limits, index)
        return cls(frozen(counts), strata.sizes, strata.shares)

    def draw_rates(
        self, n_replicates: int, rng: np.random.Generator, *, accepted: bool
    ) -> Float64Array:
        """Draw the rate of rejected, or accepted, trials: (n_replicates, n_limits)."""
        rates = []
        for counts, size in zip(self.rejected, self.sizes.tolist(), strict=True):
            drawn = _draw_rejected(counts, size, n_replicates, rng)
            rates.append((size - drawn if accepted else drawn) / size)
        return np.asarray(weighted_sum(rates, self.shares))


@attrs.frozen(eq=False)
class IidRateSampler:
    """Error-rates at fixed thresholds, trials picked: binomial draws, however many trials.

    With several thresholds, a multinomial draw over the cells between them; with
    several conditions, a draw for each.

    Parameters
    ----------
    tar, non : RejectedCounts
        Number of trials below each threshold.
    combine : callable
        Makes the statistic from miss and false-alarm rates.
    """

    block: ClassVar[int] = 500

    tar: RejectedCounts
    non: RejectedCounts
    combine: Combine

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""
        pmiss = self.tar.draw_rates(n_replicates, rng, accepted=False)
        pfa = self.non.draw_rates(n_replicates, rng, accepted=True)
        return np.asarray(self.combine(pmiss, pfa))


def _draw_rejected(
    counts: IntArray, n_trials: int, n_replicates: int, rng: np.random.Generator
) -> IntArray:
    if counts.size == 1:
        drawn = rng.binomial(n_trials, counts[0] / n_trials, size=n_replicates)
        return drawn[:, None]
    order = np.argsort(counts, kind="stable")
    cells = np.diff(counts[order], prepend=0, append=n_trials)
    rows = rng.multinomial(n_trials, cells / n_trials, size=n_replicates)[:, :-1].cumsum(axis=1)
    result = np.empty_like(rows)
    result[:, order] = rows
    return result


@attrs.frozen(eq=False)
class SetTable:
    """What each set of one class adds to a mean; sets that add the same are one row.

    Parameters
    ----------
    multiplicities : (n_rows,) ndarray of int64
        Number of sets that each row stands for.
    sizes : (n_rows, k) ndarray of int64
        Number of trials of each condition in each of these sets.
    sums : (n_rows, k, m) ndarray of int64 or float64
        Sums of m quantities over the trials of each condition of the set.
    shares : (k,) ndarray of float64
        Weight of each condition in the class.
    """

    multiplicities: IntArray
    sizes: IntArray
    sums: Weights
    shares: Float64Array

    @classmethod
    def from_sums(cls, sizes: IntArray, sums: Weights, shares: Float64Array) -> "SetTable":
        """Merge the sets that are alike.

        Parameters
        ----------
        sizes : (n_sets * k,) ndarray of int64
            Number of trials of each condition of each set, see `Strata.cells`.
        sums : (n_sets * k, m) ndarray of int64 or float64
            Sums over these trials.
        shares : (k,) ndarray of float64
            Weight of each condition in the class.
        """
        k = shares.size
        by_set = sizes.reshape(-1, k)
        rows = np.column_stack((by_set, sums.reshape(by_set.shape[0], -1)))
        distinct, multiplicities = np.unique(rows, axis=0, return_counts=True)
        return cls(
            frozen(multiplicities),
            frozen(distinct[:, :k].astype(np.int64)),
            frozen(np.ascontiguousarray(distinct[:, k:]).reshape(distinct.shape[0], k, -1)),
            shares,
        )

    @property
    def n_sets(self) -> int:
        """Number of sets."""
        return int(self.multiplicities.sum())

    def draw_picks(self, n_replicates: int, rng: np.random.Generator) -> IntArray:
        """Pick n_sets sets with replacement; return how often each row: (n_replicates, n_rows)."""
        chances = self.multiplicities / self.n_sets
        return rng.multinomial(self.n_sets, chances, size=n_replicates)

    def means(self, sums: Weights, sizes: IntArray) -> Float64Array:
        """Divide sums by numbers of trials, both (n_replicates, k, ...), and add up conditions.

        NaN where a condition has no trials.
        """
        with np.errstate(invalid="ignore"):
            rates = sums / sizes[:, :, None]
        return np.asarray(weighted_sum(list(rates.swapaxes(0, 1)), self.shares))


@attrs.frozen(eq=False)
class ErrorTotal:
    """The distribution of the number of errors in a replicate of sets of equal size.

    Parameters
    ----------
    distribution : (n_totals,) ndarray of float64
        Chance of at most `first`, `first` + 1, ... errors; the last is 1.
    first : int
        Least number of errors that is possible.
    n_trials : int
        Number of trials in every replicate.
    """

    distribution: Float64Array
    first: int
    n_trials: int

    @classmethod
    def from_table(cls, table: SetTable, *, two_layer: bool) -> "ErrorTotal":
        """Convolve the distribution of one pick with itself, once for each set."""
        size = int(table.sizes[0, 0])
        errors = table.sums[:, 0, 0].astype(np.int64)
        chances = table.multiplicities / table.n_sets
        if two_layer:
            # A pick is a set, by its share, and a binomial number of errors in it.
            below = special.bdtr(np.arange(size + 1), size, (errors / size)[:, None])
            one_pick = chances @ np.diff(below, prepend=0.0, axis=1)
        else:
            one_pick = np.zeros(size + 1)
            np.add.at(one_pick, errors, chances)
        n_trials = size * table.n_sets
        length = fft.next_fast_len(n_trials + 1, real=True)
        totals = fft.irfft(fft.rfft(one_pick, length) ** table.n_sets, length)[: n_trials + 1]
        # What is left of impossible totals is rounding.
        totals[totals < _ROUNDING] = 0.0
        possible = np.flatnonzero(totals)
        distribution = np.cumsum(totals[possible[0] : possible[-1] + 1])
        distribution /= distribution[-1]
        return cls(frozen(distribution), int(possible[0]), n_trials)

    def draw_rates(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw error-rates: (n_replicates, 1)."""
        drawn = np.searchsorted(self.distribution, rng.random(n_replicates), side="right")
        return np.asarray((drawn + self.first) / self.n_trials)[:, None]


@attrs.frozen(eq=False)
class ErrorTotalSampler:
    """Error-rates at one threshold, sets of equal size picked, and trials in them or not.

    The number of errors in a replicate is a sum of independent numbers, one for
    each pick of a set, so its distribution can be written down: a convolution,
    computed once by the fast Fourier transform. A replicate is then one random
    number for each class.

    Parameters
    ----------
    tar, non : ErrorTotal
        Distributions of the number of misses and of false alarms.
    combine : callable
        Makes the statistic from miss and false-alarm rates.
    """

    block: ClassVar[int] = 500

    tar: ErrorTotal
    non: ErrorTotal
    combine: Combine

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""
        pmiss = self.tar.draw_rates(n_replicates, rng)
        return np.asarray(self.combine(pmiss, self.non.draw_rates(n_replicates, rng)))


@attrs.frozen(eq=False)
class OneLayerSampler:
    """Means over trials, whole sets picked: picks times sums.

    Parameters
    ----------
    tar, non : SetTable
        Sums over the trials of each set.
    combine : callable
        Makes the statistic from the means over both classes.
    """

    block: ClassVar[int] = 500

    tar: SetTable
    non: SetTable
    combine: Combine

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""
        means = (self._means(table, n_replicates, rng) for table in (self.tar, self.non))
        return np.asarray(self.combine(*means))

    @staticmethod
    def _means(table: SetTable, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        picks = table.draw_picks(n_replicates, rng)
        # Not by BLAS, whose sums may depend on how many threads it has.
        sums = np.einsum("ij,jkm->ikm", picks, table.sums)
        return table.means(sums, picks @ table.sizes)


@attrs.frozen(eq=False)
class TwoLayerRateSampler:
    """Error-rates at one threshold, sets picked and trials in them.

    Only the number of errors of a set matters, and sets with as many errors
    among as many trials are alike: a multinomial draw over the distinct counts,
    then one binomial draw for each, and for each condition of the set.

    Parameters
    ----------
    tar, non : SetTable
        Number of errors in each set, one column.
    combine : callable
        Makes the statistic from miss and false-alarm rates.
    """

    block: ClassVar[int] = 500

    tar: SetTable
    non: SetTable
    combine: Combine

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates, along the first axis."""
        rates = (self._rates(table, n_replicates, rng) for table in (self.tar, self.non))
        return np.asarray(self.combine(*rates))

    @staticmethod
    def _rates(table: SetTable, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        trials = table.draw_picks(n_replicates, rng)[:, :, None] * table.sizes
        rates = table.sums[:, :, 0] / np.maximum(table.sizes, 1)
        errors = rng.binomial(trials, rates).sum(axis=1)
        return table.means(errors[:, :, None], trials.sum(axis=1))


def set_rate_sampler(
    tar: SetTable, non: SetTable, *, two_layer: bool, combine: Combine
) -> "ErrorTotalSampler | OneLayerSampler | TwoLayerRateSampler":
    """Choose the fastest way to resample sets for error-rates at fixed thresholds.

    Two layers take a single threshold: one column of errors in each table.
    """
    if tar.sums.shape[2] == 1 and all(_can_transform(table) for table in (tar, non)):
        return ErrorTotalSampler(
            ErrorTotal.from_table(tar, two_layer=two_layer),
            ErrorTotal.from_table(non, two_layer=two_layer),
            combine,
        )
    kind = TwoLayerRateSampler if two_layer else OneLayerSampler
    return kind(tar, non, combine)


def _can_transform(table: SetTable) -> bool:
    size = int(table.sizes[0, 0])
    alike = table.shares.size == 1 and bool(np.all(table.sizes == size))
    return alike and size * table.n_sets <= _LONGEST_TRANSFORM
