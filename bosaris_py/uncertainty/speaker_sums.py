"""Replicates of the speaker bootstrap for statistics that are made of sums over trials.

All trials of two speakers have the same weight, so their errors, or costs, and
their number are added once. A replicate is then a quadratic form in the weights of
the speakers, however many trials there are, and exactly the same number as a sum
over all trials.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import frozen
from bosaris_py.uncertainty.speaker_plan import PersonWeights, UnitGroups
from bosaris_py.uncertainty.strata import Weights, weighted_sum

__all__ = ["ClassSums", "SpeakerSums", "SpeakerSumsSampler", "UnitTable"]

Float64Array = npt.NDArray[np.float64]
# From the means of one row per replicate in each class to one value per replicate.
Combine = Callable[[Float64Array, Float64Array], Any]

# Products of two weights that are held at a time: 32 MB.
_PRODUCTS_AT_A_TIME = 2**22


@attrs.frozen(eq=False)
class UnitTable:
    """Sums over the trials of each person or pair of persons, for one class.

    Parameters
    ----------
    shape : tuple of int
        Number of persons, (k,) or (k, l).
    first, second : (n_groups,) ndarray of int or None
        Persons of each group if only those who meet are listed; else groups are
        the cells of a table of this shape, row by row.
    sums : (m + 1, n_groups) ndarray of float64
        Sums of m quantities over the trials of each group; the number of trials last.
    exact : bool
        Whether the sums are whole numbers.
    """

    shape: tuple[int, ...]
    first: npt.NDArray[np.int64] | None
    second: npt.NDArray[np.int64] | None
    sums: Float64Array
    exact: bool

    @classmethod
    def from_sums(cls, groups: UnitGroups, sums: Weights) -> "UnitTable":
        """Put the number of trials beside the sums: (n_groups, m)."""
        rows = np.vstack((sums.T, groups.index.sizes)).astype(np.float64)
        exact = bool(np.issubdtype(sums.dtype, np.integer))
        return cls(groups.shape, groups.first, groups.second, frozen(rows), exact)

    def means(self, first: Weights, second: Weights) -> Float64Array:
        """Return weighted means over the trials: (n_replicates, m); NaN if no weight is left."""
        totals = self._totals(first, second)
        with np.errstate(invalid="ignore"):
            return np.asarray(totals[:, :-1] / totals[:, -1:])

    def _totals(self, first: Weights, second: Weights) -> Float64Array:
        exact = self.exact and bool(np.issubdtype(first.dtype, np.integer))
        left = first.astype(np.float64, copy=False)
        if len(self.shape) == 1:
            return _product(left, self.sums.T, exact=exact)
        right = second.astype(np.float64, copy=False)
        if self.first is None or self.second is None:
            totals = np.empty((left.shape[0], self.sums.shape[0]))
            for column, sums in enumerate(self.sums):
                of_second = _product(left, sums.reshape(self.shape), exact=exact)
                of_second *= right
                totals[:, column] = of_second.sum(axis=1)
            return totals
        step = max(1, _PRODUCTS_AT_A_TIME // self.first.size)
        parts = [
            _product(
                left[i : i + step, self.first] * right[i : i + step, self.second],
                self.sums.T,
                exact=exact,
            )
            for i in range(0, left.shape[0], step)
        ]
        return np.concatenate(parts)


def _product(left: Float64Array, right: Float64Array, *, exact: bool) -> Float64Array:
    """Multiply matrices; the last bit must not depend on how many threads BLAS has."""
    if exact:
        return np.asarray(left @ right)
    return np.asarray(np.einsum("ij,jk->ik", left, right))


@attrs.frozen(eq=False)
class ClassSums:
    """Sums over the trials of one class, condition by condition.

    Parameters
    ----------
    tables : tuple of UnitTable
        Sums over the trials of each condition.
    shares : (k,) ndarray of float64
        Weight of each condition in the class.
    """

    tables: tuple[UnitTable, ...]
    shares: Float64Array

    def means(self, first: Weights, second: Weights) -> Float64Array:
        """Return weighted means: (n_replicates, m); NaN if a condition lost all its weight."""
        means = [table.means(first, second) for table in self.tables]
        return np.asarray(weighted_sum(means, self.shares))


@attrs.frozen(eq=False)
class SpeakerSums:
    """A statistic that is a function of weighted means over the trials of each class.

    Parameters
    ----------
    tar, non : ClassSums
        Sums over the trials of each class.
    combine : callable
        Makes the statistic from the means.
    """

    tar: ClassSums
    non: ClassSums
    combine: Combine

    def __call__(self, first: Weights, second: Weights) -> Float64Array:
        """Return one value for each row of weights; NaN where a class lost all its weight."""
        tar, non = self.tar.means(first, second), self.non.means(first, second)
        values = np.asarray(self.combine(tar, non), dtype=np.float64)
        values[np.isnan(tar[:, 0]) | np.isnan(non[:, 0])] = np.nan
        return values


@attrs.frozen(eq=False)
class SpeakerSumsSampler:
    """Statistics made of sums, speakers weighted.

    Parameters
    ----------
    persons : PersonWeights
        Draws the weights of the speakers.
    systems : tuple of SpeakerSums
        One system, or several on the same trials.
    """

    block: ClassVar[int] = 50

    persons: PersonWeights
    systems: tuple[SpeakerSums, ...]

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates along the first axis; several systems along the second."""
        first, second = self.persons.draw(n_replicates, rng)
        values = [sums(first, second) for sums in self.systems]
        return values[0] if len(values) == 1 else np.stack(values, axis=1)
