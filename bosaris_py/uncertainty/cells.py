"""Trials counted by gap between thresholds and by pair of speakers, or by set.

A replicate draws how often each speaker is picked. A trial of speakers i and j then counts as often
as i was picked, times j. So all trials of a cell (gap, pair) count alike, and the curve of a
replicate is a product of a sparse table of counts with weights of pairs, and a cumulated sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import scipy

from bosaris_py._arrays import AnyArray, Float64Array, FloatArray, IndexArray, IntArray
from bosaris_py._validation import invalid
from bosaris_py.metrics.metric import Losses, OneRow
from bosaris_py.numerics.roc import count_below
from bosaris_py.trials.sample import Grid, Sample, ScoredClass

# How often each speaker, or each set, is picked: (n_rows, n_units).
UnitWeights = IntArray


def counts_at(
    sample: Sample, thresholds: Float64Array
) -> tuple[tuple[IntArray, IntArray], IndexArray]:
    """Count the trials below -inf, each distinct threshold and inf; and say where each stands."""
    limits, at = np.unique(thresholds, return_inverse=True)
    tar, non = (
        np.concatenate(([0], count_below(one.scores, limits), [one.size]))
        for one in (sample.tar, sample.non)
    )
    return (tar, non), at


@attrs.frozen(eq=False)
class ClassCells:
    """The trials of one class by pair of units, of sets by one unit."""

    one: ScoredClass
    # The pair of each sorted trial, and the two units of each pair; n_units stands for nobody.
    pairs: IntArray
    first: IntArray
    second: IntArray

    @classmethod
    def from_class(cls, one: ScoredClass, n_units: int, *, targets: bool) -> "ClassCells":
        """Find the pairs; a target has one speaker, whose weight is not squared."""
        if one.sorted_speakers is None:
            raise invalid("sample", "know the speakers of its trials", "none")
        first, other = one.sorted_speakers
        if other is None or targets:
            second = np.full(first.size, n_units)
        else:
            if (first == other).any():
                expected = "have different speakers on both sides of non-targets"
                count = int(np.count_nonzero(first == other))
                raise invalid("key", expected, f"{count} of the same speaker")
            second = np.where(other < 0, n_units, other)
        low, high = np.minimum(first, second), np.maximum(first, second)
        codes, pairs = np.unique(low * np.int64(n_units + 1) + high, return_inverse=True)
        return cls(one, pairs, *np.divmod(codes, n_units + 1))

    def weights(self, units: UnitWeights) -> IntArray:
        """Return the weight of each pair: (n_rows, n_pairs)."""
        # Nobody has the weight one.
        padded = np.concatenate((units, np.ones((len(units), 1), units.dtype)), axis=1)
        weights: IntArray = padded[:, self.first] * padded[:, self.second]
        return weights

    def times(self, units: UnitWeights, row: int) -> IntArray:
        """Return how often each sorted trial counts in a row."""
        times: IntArray = self.weights(units[row : row + 1])[0, self.pairs]
        return times

    def _table(self, place: AnyArray, size: int, values: Float64Array | None) -> Any:
        """Add up a value of each trial by place and pair: (n_groups size, n_pairs), sparse."""
        groups, weights = self.one.sorted_groups, self.one.sorted_weights
        rows = place if groups is None else groups.astype(np.int64) * size + place
        amounts = np.ones(self.pairs.size) if values is None else values
        if weights is not None:
            amounts = amounts * weights
        shape = size * self.one.shares.size, self.first.size
        table = scipy.sparse.csr_array((amounts, (rows, self.pairs)), shape=shape)
        table.sum_duplicates()
        return table

    def below(self, units: UnitWeights, counts_below: IntArray) -> Float64Array:
        """Return the mass below each threshold: (n_rows, size + 1)."""
        size = counts_below.size - 1
        table = self._table(np.repeat(np.arange(size), np.diff(counts_below)), size, None)
        held = (table @ self.weights(units).T.astype(np.float64)).T
        counts = held.reshape(len(units), -1, size).cumsum(axis=2)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = counts / counts[:, :, -1:]
        mass = shares[:, 0] if shares.shape[1] == 1 else self._mix(shares)
        return np.concatenate((np.zeros((len(units), 1)), mass), axis=1)

    def means(self, units: UnitWeights, losses: Float64Array) -> Float64Array:
        """Return the mean loss of each row; of several losses (k, n), that of each."""
        if losses.ndim > 1:
            return np.stack([self.means(units, one) for one in losses], axis=1)
        weights, place = self.weights(units).T.astype(np.float64), np.zeros(self.pairs.size, int)
        # An infinite loss of a trial that does not count is no loss.
        finite = np.where(np.isfinite(losses), losses, 0.0)
        sums = self._table(place, 1, finite) @ weights
        if finite is not losses and not np.isfinite(losses).all():
            endless = self._table(place, 1, (~np.isfinite(losses)).astype(float)) @ weights
            sums = np.where(endless > 0, np.inf, sums)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums / (self._table(place, 1, None) @ weights)
        return self._mix(means.T[:, :, np.newaxis])[:, 0]

    def _mix(self, values: Float64Array) -> Float64Array:
        held = np.flatnonzero(self.one.shares)
        return np.asarray(np.einsum("g,rgs->rs", self.one.shares[held], values[:, held]))


@attrs.frozen(eq=False)
class Cells:
    """Both classes of a sample by pair of speakers, or by set."""

    sample: Sample
    tar: ClassCells
    non: ClassCells

    @classmethod
    def from_sample(cls, sample: Sample, n_units: tuple[int, int]) -> "Cells":
        """Count the trials; the numbers of units of both classes are the same for speakers."""
        tar = ClassCells.from_class(sample.tar, n_units[0], targets=True)
        return cls(sample, tar, ClassCells.from_class(sample.non, n_units[1], targets=False))

    @property
    def n_pairs(self) -> int:
        """The number of pairs of units in both classes."""
        return self.tar.first.size + self.non.first.size

    def rows(self, tar: UnitWeights, non: UnitWeights) -> "CellRows":
        """Return the rows of some replicates."""
        return CellRows(self, tar, non)


@attrs.frozen(eq=False)
class CellRows:
    """Replicates that draw units: rows for `AnyMetric.values`."""

    cells: Cells
    tar: UnitWeights
    non: UnitWeights

    @property
    def sample(self) -> Sample:
        """The sample that they are made of."""
        return self.cells.sample

    def rates(self, grid: Grid) -> tuple[Float64Array, Float64Array]:
        """Return both error-rates at all thresholds of a grid."""
        below = self.sample.counts_below(grid)
        pmiss = self.cells.tar.below(self.tar, below[0])
        return pmiss, 1.0 - self.cells.non.below(self.non, below[1])

    def rates_at(self, thresholds: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return both error-rates at given thresholds."""
        (tar, non), at = counts_at(self.sample, thresholds)
        pmiss = self.cells.tar.below(self.tar, tar)[:, 1:-1]
        return pmiss[:, at], 1.0 - self.cells.non.below(self.non, non)[:, 1:-1][:, at]

    def means(self, losses: Losses) -> tuple[Float64Array, Float64Array]:
        """Return the mean loss of each class."""
        tar, non = self.cells.tar, self.cells.non
        return tar.means(self.tar, losses[0]), non.means(self.non, losses[1])

    def lists(self) -> Iterator[tuple[FloatArray, ...]]:
        """Yield the scores of each class, each as often as it counts."""
        for row in range(len(self.tar)):
            times = self.cells.tar.times(self.tar, row), self.cells.non.times(self.non, row)
            yield from OneRow(self.sample, times).lists()
