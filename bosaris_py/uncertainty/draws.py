"""Draws of a bootstrap: how often each trial counts in a replicate.

Trials are drawn independently (NISTIR 7722), or sets of trials in one layer or in two (Wu et al.
2016, Algorithms II and III), or speakers, each with all trials on either side. Draws give rows for
`AnyMetric.values`; of two systems both see the same draws.

A replicate draws how often each speaker is picked. A trial of speakers i and j then counts as often
as i was picked, times j. So all trials of a cell (gap between thresholds, pair of speakers) count
alike, and the curve of a replicate is a product of a sparse table of counts with weights of pairs,
and a cumulated sum.
"""

import abc
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Literal

import attrs
import numpy as np
import scipy

from bosaris_py._arrays import AnyArray, FloatArray, IntArray
from bosaris_py._validation import invalid
from bosaris_py.metrics import metric as measures
from bosaris_py.metrics.metric import CountedRows, OneRow, Rates, Rows
from bosaris_py.numerics.roc import running_sum
from bosaris_py.trials.sample import Sample, ScoredClass

Method = Literal["iid", "one-layer", "two-layer", "speaker"]

# How often each listed target, and each listed non-target, counts.
ListedTimes = tuple[IntArray, IntArray]

# Below so many trials for each cell, picking trials takes less time than drawing numbers of cells.
_TRIALS_A_CELL = 8


def picked_units(n_rows: int, n_units: int, rng: np.random.Generator) -> IntArray:
    """Pick as many units as there are, with replacement: (n_rows, n_units) numbers of picks."""
    picks = rng.integers(0, n_units, size=(n_rows, n_units))
    picks += n_units * np.arange(n_rows)[:, np.newaxis]
    return np.bincount(picks.ravel(), minlength=picks.size).reshape(n_rows, n_units)


# ---- Draws of units


@attrs.frozen(eq=False)
class ClassCells(measures.SummedClass):
    """The trials of one class by pair of units, of sets by one unit."""

    one: ScoredClass
    # The pair of each sorted trial, and the two units of each pair; n_units stands for nobody.
    pairs: IntArray
    first: IntArray
    second: IntArray
    # How often each unit is picked: (n_rows, n_units).
    picks: IntArray

    @classmethod
    def from_class(cls, one: ScoredClass, n_units: int, *, targets: bool) -> "ClassCells":
        """Find the pairs; a target has one speaker, whose weight is not squared."""
        first, other = one.sorted_speakers or measures.known_speakers(one)
        if other is None or targets:
            other = np.full(first.size, -1)
        if count := np.count_nonzero(first == other):
            expected = "have different speakers on both sides of non-targets"
            raise invalid("key", expected, f"{count} of the same speaker")
        second = np.where(other < 0, n_units, other)
        low, high = np.minimum(first, second), np.maximum(first, second)
        codes, pairs = np.unique(low * np.int64(n_units + 1) + high, return_inverse=True)
        once = np.ones((1, n_units), np.int64)
        return cls(one, pairs, *np.divmod(codes, n_units + 1), once)

    @property
    def _weights(self) -> IntArray:
        """How often the trials of each pair count: (n_rows, n_pairs)."""
        # Nobody has the weight one.
        padded = np.pad(self.picks, ((0, 0), (0, 1)), constant_values=1)
        return np.asarray(padded[:, self.first] * padded[:, self.second])

    def times(self) -> Iterator[IntArray]:
        """Yield how often each sorted trial counts."""
        return (row[self.pairs] for row in self._weights)

    def add_up(self, values: FloatArray | None, cells: IntArray, n_cells: int) -> AnyArray:
        """Add up a value of each trial by cell."""
        amounts = np.ones(self.pairs.size) if values is None else values
        shape = n_cells, self.first.size
        table = scipy.sparse.csr_array((amounts, (cells, self.pairs)), shape=shape)
        return np.asarray((table @ self._weights.T.astype(np.float64)).T)


@attrs.frozen(eq=False)
class CellRows(measures.SummedRows):
    """Replicates that draw units: rows for `AnyMetric.values`."""

    tar: ClassCells
    non: ClassCells

    @classmethod
    def from_sample(cls, sample: Sample, n_tar: int, n_non: int) -> "CellRows":
        """Count the trials by unit; a row in which each unit is picked once."""
        tar = ClassCells.from_class(sample.tar, n_tar, targets=True)
        return cls(sample, tar, ClassCells.from_class(sample.non, n_non, targets=False))

    def drawn(self, tar: IntArray, non: IntArray) -> "CellRows":
        """Return replicates, given how often each unit of either class is picked."""
        one, other = attrs.evolve(self.tar, picks=tar), attrs.evolve(self.non, picks=non)
        return CellRows(self.sample, one, other)


@attrs.frozen(eq=False)
class SetDraws:
    """Draw sets of trials of each class, as many as there are; the first speaker is the set."""

    systems: list[CellRows]
    n_units: tuple[int, int]

    @classmethod
    def from_systems(cls, samples: Sequence[Sample]) -> "SetDraws":
        """Count the trials of each system by set."""
        numbered, sizes = _with_sets(samples)
        return cls([CellRows.from_sample(one, *sizes) for one in numbered], sizes)

    @property
    def row_size(self) -> int:
        """How many numbers a row keeps: one of each pair of units."""
        return max(cells.tar.first.size + cells.non.first.size for cells in self.systems)

    def rows(self, n_rows: int, rng: np.random.Generator) -> list[CellRows]:
        """Draw replicates; each system has the same draws."""
        # Algorithm II of Wu et al. 2016.
        tar, non = (picked_units(n_rows, n, rng) for n in self.n_units)
        return [cells.drawn(tar, non) for cells in self.systems]


@attrs.frozen(eq=False)
class SpeakerDraws(SetDraws):
    """Draw speakers: a target counts as often as its speaker, a non-target as both, multiplied."""

    # The numbers of the speakers who take part in trials.
    present: IntArray

    @classmethod
    def from_systems(cls, samples: Sequence[Sample]) -> "SpeakerDraws":
        """Count the trials of each system by pair of speakers."""
        present = speakers_present(samples[0])
        sizes = (int(present[-1]) + 1,) * 2
        return cls([CellRows.from_sample(one, *sizes) for one in samples], sizes, present)

    def rows(self, n_rows: int, rng: np.random.Generator) -> list[CellRows]:
        """Draw replicates; both classes have the same speakers."""
        weights = np.zeros((n_rows, self.n_units[0]), dtype=np.int64)
        weights[:, self.present] = picked_units(n_rows, self.present.size, rng)
        return [cells.drawn(weights, weights) for cells in self.systems]


def speakers_present(sample: Sample) -> IntArray:
    """Return the numbers of the speakers who take part in trials, ascending."""
    sides = np.concatenate(measures.speaker_sides(sample))
    return np.flatnonzero(np.bincount(sides[sides >= 0]))


def _with_sets(samples: Sequence[Sample]) -> tuple[list[Sample], tuple[int, int]]:
    """Give the sets of each class new numbers, of all systems alike."""
    (n_tar, tar), (n_non, non) = map(_numbered_sets, (samples[0].tar, samples[0].non))
    found = []
    for x in samples:
        of_tar = attrs.evolve(x.tar, speakers=(tar, None), order=x.tar.order)
        of_non = attrs.evolve(x.non, speakers=(non, None), order=x.non.order)
        found.append(attrs.evolve(x, tar=of_tar, non=of_non))
    return found, (n_tar, n_non)


def _numbered_sets(one: ScoredClass) -> tuple[int, IntArray]:
    names, numbers = np.unique(measures.known_speakers(one)[0], return_inverse=True)
    return names.size, numbers


# ---- Draws of trials


class _DrawnRows(Rows):
    """Replicates whose trials are drawn one by one, where nothing faster is known."""

    @abc.abstractmethod
    def times(self) -> Iterable[ListedTimes]:
        """Return how often each listed trial counts, row by row."""

    def each(self) -> Iterator[OneRow]:
        """Yield the rows."""
        for tar, non in self.times():
            yield OneRow(self.sample, (tar[self.sample.tar.order], non[self.sample.non.order]))


@attrs.frozen(eq=False)
class TimesRows(_DrawnRows):
    """Replicates of which it is known how often each listed trial counts."""

    sample: Sample
    known: list[ListedTimes]

    def times(self) -> Iterable[ListedTimes]:
        """Return what is known."""
        return self.known


@attrs.frozen(eq=False)
class IidRows(CountedRows, _DrawnRows):
    """Replicates that draw trials; each question draws anew, and no more than it needs."""

    sample: Sample
    n_rows: int
    rng: np.random.Generator

    def times(self) -> Iterator[ListedTimes]:
        """Draw how often each listed trial counts."""
        # Algorithm I of Wu et al. 2016, NISTIR 7722, section 2.4.
        for _ in range(self.n_rows):
            yield _iid_times(self.sample.tar, self.rng), _iid_times(self.sample.non, self.rng)

    def below(self, tar: IntArray, non: IntArray) -> Rates:
        """Draw the mass below thresholds."""
        return self._below(self.sample.tar, tar), self._below(self.sample.non, non)

    def _below(self, one: ScoredClass, below: IntArray) -> FloatArray:
        groups = one.sorted_groups
        total = np.zeros((self.n_rows, below.size))
        for group in np.flatnonzero(one.shares).tolist():
            own = below if groups is None else running_sum(groups == group)[below]
            drawn = self._cells(np.diff(own))
            total[:, 1:] += one.shares[group] * (drawn.cumsum(axis=1) / own[-1])
        return total

    def _cells(self, counts: IntArray) -> IntArray:
        """Draw how many trials lie in each cell, as many as there are."""
        n, size = int(counts.sum()), counts.size
        if n > _TRIALS_A_CELL * size:
            return self.rng.multinomial(n, counts / n, size=self.n_rows)
        places = np.repeat(np.arange(size), counts)
        picks = (places[self.rng.integers(0, n, n)] for _ in range(self.n_rows))
        return np.array([np.bincount(row, minlength=size) for row in picks])


def _iid_times(one: ScoredClass, rng: np.random.Generator) -> IntArray:
    """Draw how often each listed trial counts."""
    if one.groups is None:
        return np.bincount(rng.integers(0, one.size, one.size), minlength=one.size)
    times = np.zeros(one.size, dtype=np.int64)
    for group in np.unique(one.groups):
        members = np.flatnonzero(one.groups == group)
        picks = rng.integers(0, members.size, members.size)
        times[members] = np.bincount(picks, minlength=members.size)
    return times


@attrs.frozen(eq=False)
class TwoLayerRows(_DrawnRows):
    """Replicates that draw sets and trials within; at one threshold numbers of errors are drawn."""

    sample: Sample
    n_rows: int
    rng: np.random.Generator

    def times(self) -> Iterator[ListedTimes]:
        """Draw how often each listed trial counts, within its set and condition."""
        # Algorithm III of Wu et al. 2016; sets may be of any size.
        for _ in range(self.n_rows):
            yield self._times(self.sample.tar), self._times(self.sample.non)

    def _times(self, one: ScoredClass) -> IntArray:
        sets = measures.known_speakers(one)[0].astype(np.int64)
        n_sets, n_groups = 1 + int(sets.max()), one.shares.size
        cells = sets if one.groups is None else sets * n_groups + one.groups
        sizes = np.bincount(cells, minlength=n_sets * n_groups)
        order, starts = np.argsort(cells, kind="stable"), np.cumsum(sizes) - sizes
        picks = np.repeat(picked_units(1, n_sets, self.rng)[0], n_groups) * sizes
        # A set that was picked twice has its trials drawn anew each time.
        within = self.rng.integers(0, np.repeat(sizes, picks)) + np.repeat(starts, picks)
        return np.bincount(order[within], minlength=one.size)

    def rates_at(self, thresholds: FloatArray) -> Rates:
        """Draw both error-rates at given thresholds."""
        tar, non = self.sample.tar, self.sample.non
        if thresholds.size > 1 or not (tar.is_plain and non.is_plain):
            return super().rates_at(thresholds)
        limit = float(thresholds[0])
        return self._share(tar, tar.listed < limit), self._share(non, non.listed >= limit)

    def _share(self, one: ScoredClass, errors: AnyArray) -> FloatArray:
        """Draw the share of errors: binomial in each set, given how often it was picked."""
        # Sets of one size with as many errors are alike: how many of them are picked is drawn.
        sets = measures.known_speakers(one)[0]
        kinds = np.stack((np.bincount(sets), np.bincount(sets, errors)))
        (sizes, wrong), alike = np.unique(kinds, axis=1, return_counts=True)
        n_sets = alike.sum()
        trials = self.rng.multinomial(n_sets, alike / n_sets, size=self.n_rows) * sizes.astype(int)
        drawn = self.rng.binomial(trials, wrong / sizes).sum(axis=1)
        return np.asarray(drawn / trials.sum(axis=1))[:, np.newaxis]


@attrs.frozen(eq=False)
class IidDraws:
    """Draw trials, of each condition as many as it has."""

    systems: Sequence[Sample]
    drawn: ClassVar[type[IidRows | TwoLayerRows]] = IidRows

    @property
    def row_size(self) -> int:
        """Of several systems, the number of trials: how often each is drawn is kept."""
        one = self.systems[0]
        return one.tar.size + one.non.size if len(self.systems) > 1 else 0

    def rows(self, n_rows: int, rng: np.random.Generator) -> Sequence[Rows]:
        """Draw replicates; each system has the same draws."""
        rows = self.drawn(self.systems[0], n_rows, rng)
        if len(self.systems) == 1:
            return [rows]
        times = list(rows.times())
        return [TimesRows(one, times) for one in self.systems]


class TwoLayerDraws(IidDraws):
    """Draw sets, and as many trials within each set that was picked as it has."""

    drawn = TwoLayerRows

    @classmethod
    def from_systems(cls, samples: Sequence[Sample]) -> "TwoLayerDraws":
        """Give the sets of each class new numbers."""
        return cls(_with_sets(samples)[0])


def draw_from(method: Method, systems: Sequence[Sample]) -> SetDraws | IidDraws:
    """Return the draws of one system, or of several on the same trials."""
    if method == "iid":
        return IidDraws(systems)
    if method == "speaker":
        return SpeakerDraws.from_systems(systems)
    of_sets = SetDraws if method == "one-layer" else TwoLayerDraws
    return of_sets.from_systems(systems)
