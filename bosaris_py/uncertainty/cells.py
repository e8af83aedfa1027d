"""Trials counted by gap between thresholds and by pair of speakers, or by set.

A replicate draws how often each speaker is picked. A trial of speakers i and j then counts as often
as i was picked, times j. So all trials of a cell (gap, pair) count alike, and the curve of a
replicate is a product of a sparse table of counts with weights of pairs, and a cumulated sum.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator

import attrs
import numpy as np
import scipy

from bosaris_py._arrays import AnyArray, Float64Array, FloatArray, IntArray
from bosaris_py._validation import invalid
from bosaris_py.metrics.metric import Losses, OneRow, Rates
from bosaris_py.numerics.roc import count_below
from bosaris_py.trials.sample import Grid, Sample, ScoredClass

# How often each speaker, or each set, is picked: (n_rows, n_units).
UnitWeights = IntArray


class CountedRows(abc.ABC):
    """Rows whose rates need no more than the numbers of trials between thresholds."""

    sample: Sample

    @abc.abstractmethod
    def below(self, tar: IntArray, non: IntArray) -> Rates:
        """Return the mass below thresholds, from -inf to inf, by the numbers of trials below."""

    def rates(self, grid: Grid) -> Rates:
        """Return both error-rates at all thresholds of a grid."""
        pmiss, rejected = self.below(*self.sample.counts_below(grid))
        return pmiss, 1.0 - rejected

    def rates_at(self, thresholds: Float64Array) -> Rates:
        """Return both error-rates at given thresholds."""
        limits, at = np.unique(thresholds, return_inverse=True)
        tar, non = (
            np.concatenate(([0], count_below(one.scores, limits), [one.size]))
            for one in (self.sample.tar, self.sample.non)
        )
        pmiss, rejected = self.below(tar, non)
        return pmiss[:, at + 1], 1.0 - rejected[:, at + 1]


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
            other = np.full(first.size, -1)
        if count := np.count_nonzero(first == other):
            expected = "have different speakers on both sides of non-targets"
            raise invalid("key", expected, f"{count} of the same speaker")
        second = np.where(other < 0, n_units, other)
        low, high = np.minimum(first, second), np.maximum(first, second)
        codes, pairs = np.unique(low * np.int64(n_units + 1) + high, return_inverse=True)
        return cls(one, pairs, *np.divmod(codes, n_units + 1))

    def weights(self, units: UnitWeights) -> IntArray:
        """Return the weight of each pair: (n_rows, n_pairs)."""
        # Nobody has the weight one.
        padded = np.concatenate((units, np.ones((len(units), 1), units.dtype)), axis=1)
        return np.asarray(padded[:, self.first] * padded[:, self.second])

    def times(self, picks: IntArray) -> IntArray:
        """Return how often each sorted trial counts in a row."""
        return np.asarray(self.weights(picks[np.newaxis])[0, self.pairs])

    def _sums(
        self, units: UnitWeights, place: AnyArray, size: int, values: Float64Array | None = None
    ) -> Float64Array:
        """Add up a value of each trial by group and place: (n_rows, n_groups, size)."""
        groups, weights = self.one.sorted_groups, self.one.sorted_weights
        rows = place if groups is None else groups.astype(np.int64) * size + place
        amounts = np.ones(self.pairs.size) if values is None else values
        if weights is not None:
            amounts = amounts * weights
        shape = size * self.one.shares.size, self.first.size
        table = scipy.sparse.csr_array((amounts, (rows, self.pairs)), shape=shape)
        table.sum_duplicates()
        held = (table @ self.weights(units).T.astype(np.float64)).T
        return np.asarray(held.reshape(len(units), -1, size))

    def below(self, units: UnitWeights, counts_below: IntArray) -> Float64Array:
        """Return the mass below each threshold: (n_rows, size + 1)."""
        size = counts_below.size - 1
        place = np.repeat(np.arange(size), np.diff(counts_below))
        counts = self._sums(units, place, size).cumsum(axis=2)
        with np.errstate(invalid="ignore", divide="ignore"):
            mass = self._mix(counts / counts[:, :, -1:])
        return np.concatenate((np.zeros((len(units), 1)), mass), axis=1)

    def means(self, units: UnitWeights, losses: Float64Array) -> Float64Array:
        """Return the mean loss of each row; of several losses (k, n), that of each."""
        if losses.ndim > 1:
            return np.stack([self.means(units, one) for one in losses], axis=1)
        place, endless = np.zeros(self.pairs.size, int), ~np.isfinite(losses)
        sums = self._sums(units, place, 1, np.where(endless, 0.0, losses))
        # An infinite loss of a trial that does not count is no loss.
        if endless.any():
            sums = np.where(self._sums(units, place, 1, endless.astype(float)) > 0, np.inf, sums)
        with np.errstate(invalid="ignore", divide="ignore"):
            return self._mix(sums / self._sums(units, place, 1))[:, 0]

    def _mix(self, values: Float64Array) -> Float64Array:
        if values.shape[1] == 1:
            return values[:, 0]
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

    def rows(self, tar: UnitWeights, non: UnitWeights) -> "CellRows":
        """Return the rows of some replicates."""
        return CellRows(self.sample, self, tar, non)


@attrs.frozen(eq=False)
class CellRows(CountedRows):
    """Replicates that draw units: rows for `AnyMetric.values`."""

    sample: Sample
    cells: Cells
    tar: UnitWeights
    non: UnitWeights

    def below(self, tar: IntArray, non: IntArray) -> Rates:
        """Return the mass below thresholds."""
        return self.cells.tar.below(self.tar, tar), self.cells.non.below(self.non, non)

    def means(self, losses: Losses) -> Rates:
        """Return the mean loss of each class."""
        tar, non = self.cells.tar, self.cells.non
        return tar.means(self.tar, losses[0]), non.means(self.non, losses[1])

    def lists(self) -> Iterator[tuple[FloatArray, ...]]:
        """Yield the scores of each class, each as often as it counts."""
        for tar, non in zip(self.tar, self.non, strict=True):
            times = self.cells.tar.times(tar), self.cells.non.times(non)
            yield from OneRow(self.sample, times).lists()
