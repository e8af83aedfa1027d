"""Trials counted by gap between thresholds and by pair of speakers, or by set.

A replicate draws how often each speaker is picked. A trial of speakers i and j then counts as often
as i was picked, times j. So all trials of a cell (gap, pair) count alike, and the curve of a
replicate is a product of a sparse table of counts with weights of pairs, and a cumulated sum.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np
import scipy

from bosaris_py._arrays import AnyArray, Float64Array, FloatArray, IntArray
from bosaris_py._validation import invalid
from bosaris_py.metrics.metric import CountedRows, Losses, OneRow, Rates, SummedClass
from bosaris_py.trials.sample import Sample, ScoredClass

# How often each speaker, or each set, is picked: (n_rows, n_units).
UnitWeights = IntArray


@attrs.frozen(eq=False)
class ClassCells(SummedClass[UnitWeights]):
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

    def sums(
        self, units: UnitWeights, values: Float64Array | None, place: AnyArray | int, size: int
    ) -> Float64Array:
        """Add up a value of each trial by group and place: (n_rows, n_groups, size)."""
        groups, weights = self.one.sorted_groups, self.one.sorted_weights
        rows = np.broadcast_to(place, self.one.size)
        if groups is not None:
            rows = groups.astype(np.int64) * size + rows
        amounts = np.ones(self.pairs.size) if values is None else values
        if weights is not None:
            amounts = amounts * weights
        shape = size * self.one.shares.size, self.first.size
        table = scipy.sparse.csr_array((amounts, (rows, self.pairs)), shape=shape)
        table.sum_duplicates()
        held = (table @ self.weights(units).T.astype(np.float64)).T
        return np.asarray(held.reshape(len(units), -1, size))


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
