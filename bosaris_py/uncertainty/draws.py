"""Draws of a bootstrap: how often each trial counts in a replicate.

Trials are drawn independently (NISTIR 7722), or sets of trials in one layer or in two (Wu et al.
2016, Algorithms II and III), or speakers, each with all trials on either side. Draws give rows for
`AnyMetric.values`; of two systems both see the same draws.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

import attrs
import numpy as np

from bosaris_py._arrays import AnyArray, Float64Array, FloatArray, IntArray
from bosaris_py._validation import invalid
from bosaris_py.metrics.metric import Losses, OneRow, Rows
from bosaris_py.numerics.roc import running_sum
from bosaris_py.trials.sample import Grid, Sample, ScoredClass
from bosaris_py.uncertainty.cells import Cells, UnitWeights, counts_at

Method: TypeAlias = Literal["iid", "one-layer", "two-layer", "speaker"]

# Below so many trials for each cell, picking trials takes less time than drawing numbers of cells.
_TRIALS_A_CELL = 8


class Draws(abc.ABC):
    """How replicates of one sample, or of the same trials of several systems, are drawn."""

    __slots__ = ()

    @property
    @abc.abstractmethod
    def row_size(self) -> int:
        """How many numbers a row keeps."""

    @abc.abstractmethod
    def rows(self, n_rows: int, rng: np.random.Generator) -> Sequence[Rows]:
        """Draw replicates.

        Parameters
        ----------
        n_rows : int
            How many.
        rng : numpy.random.Generator
            Source of the randomness.

        Returns
        -------
        sequence of Rows
            One for each system, of the same draws.
        """


def picked_units(n_rows: int, n_units: int, rng: np.random.Generator) -> UnitWeights:
    """Pick as many units as there are, with replacement: (n_rows, n_units) numbers of picks."""
    picks = rng.integers(0, n_units, size=(n_rows, n_units))
    picks += n_units * np.arange(n_rows)[:, np.newaxis]
    return np.bincount(picks.ravel(), minlength=picks.size).reshape(n_rows, n_units)


@attrs.frozen(eq=False)
class SpeakerDraws(Draws):
    """Draw speakers: a target counts as often as its speaker, a non-target as both, multiplied."""

    systems: tuple[Cells, ...]
    n_speakers: int

    @classmethod
    def from_systems(cls, samples: Sequence[Sample]) -> "SpeakerDraws":
        """Count the trials of each system by pair of speakers."""
        numbered, n = _numbered(samples)
        return cls(tuple(Cells.from_sample(one, (n, n)) for one in numbered), n)

    @property
    def row_size(self) -> int:
        """The number of pairs of units."""
        return max(cells.n_pairs for cells in self.systems)

    def rows(self, n_rows: int, rng: np.random.Generator) -> Sequence[Rows]:
        """Draw speakers."""
        weights = picked_units(n_rows, self.n_speakers, rng)
        return [cells.rows(weights, weights) for cells in self.systems]


def speakers_present(sample: Sample) -> IntArray:
    """Return the numbers of the speakers who take part in trials, ascending."""
    sides = [s for one in (sample.tar, sample.non) for s in one.speakers or () if s is not None]
    if not sides:
        raise invalid("sample", "know the speakers of its trials", "none")
    listed = np.sort(np.concatenate(sides))
    found = listed[np.append(True, listed[1:] != listed[:-1])]
    return np.asarray(found[found >= 0], dtype=np.int64)


def _numbered(samples: Sequence[Sample]) -> tuple[list[Sample], int]:
    """Give new numbers to the speakers who take part in trials, of all systems alike."""
    present = speakers_present(samples[0])
    number = np.full(int(present[-1]) + 2, -1)
    number[present] = np.arange(present.size)

    def anew(one: ScoredClass) -> ScoredClass:
        first, second = one.speakers or (np.empty(0, np.int64), None)
        other = None if second is None else number[second]
        return attrs.evolve(one, speakers=(number[first], other), order=one.order)

    return [attrs.evolve(s, tar=anew(s.tar), non=anew(s.non)) for s in samples], present.size


@attrs.frozen(eq=False)
class SetDraws(Draws):
    """Draw sets of trials of each class, as many as there are; the first speaker is the set."""

    systems: tuple[Cells, ...]
    n_sets: tuple[int, int]

    @classmethod
    def from_systems(cls, samples: Sequence[Sample]) -> "SetDraws":
        """Count the trials of each system by set."""
        numbered, sizes = _with_sets(samples)
        return cls(tuple(Cells.from_sample(one, sizes) for one in numbered), sizes)

    @property
    def row_size(self) -> int:
        """The number of pairs of units."""
        return max(cells.n_pairs for cells in self.systems)

    def rows(self, n_rows: int, rng: np.random.Generator) -> Sequence[Rows]:
        """Draw sets."""
        # Algorithm II of Wu et al. 2016.
        tar, non = (picked_units(n_rows, n, rng) for n in self.n_sets)
        return [cells.rows(tar, non) for cells in self.systems]


def _with_sets(samples: Sequence[Sample]) -> tuple[list[Sample], tuple[int, int]]:
    """Give the sets of each class new numbers, of all systems alike."""
    sizes, numbers = [], []
    for one in (samples[0].tar, samples[0].non):
        if one.speakers is None:
            raise invalid("sample", "know the set of each trial", "none")
        names, number = np.unique(one.speakers[0], return_inverse=True)
        sizes.append(names.size)
        numbers.append((number, None))

    def anew(sample: Sample) -> Sample:
        tar, non = (
            attrs.evolve(one, speakers=number, order=one.order)
            for one, number in zip((sample.tar, sample.non), numbers, strict=True)
        )
        return attrs.evolve(sample, tar=tar, non=non)

    return [anew(sample) for sample in samples], (sizes[0], sizes[1])


def _sets(one: ScoredClass) -> AnyArray:
    """Return the set of each listed trial."""
    return np.zeros(one.size, np.int64) if one.speakers is None else one.speakers[0]


@attrs.frozen(eq=False)
class IidDraws(Draws):
    """Draw trials, of each condition as many as it has."""

    systems: tuple[Sample, ...]

    @property
    def row_size(self) -> int:
        """Of several systems, the number of trials: how often each is drawn is kept."""
        one = self.systems[0]
        return one.tar.size + one.non.size if len(self.systems) > 1 else 0

    def rows(self, n_rows: int, rng: np.random.Generator) -> Sequence[Rows]:
        """Draw trials."""
        # Algorithm I of Wu et al. 2016, NISTIR 7722, section 2.4.
        if len(self.systems) == 1:
            return [IidRows(self.systems[0], n_rows, rng)]
        first = self.systems[0]
        times = [(_iid_times(first.tar, rng), _iid_times(first.non, rng)) for _ in range(n_rows)]
        return [TimesRows(one, times) for one in self.systems]


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
class IidRows:
    """Replicates that draw trials; each question draws anew, and no more than it needs."""

    sample: Sample
    n_rows: int
    rng: np.random.Generator

    def rates(self, grid: Grid) -> tuple[Float64Array, Float64Array]:
        """Draw both error-rates at all thresholds of a grid."""
        below = self.sample.counts_below(grid)
        pmiss = self._below(self.sample.tar, below[0])
        return pmiss, 1.0 - self._below(self.sample.non, below[1])

    def rates_at(self, thresholds: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Draw both error-rates at given thresholds."""
        (tar, non), at = counts_at(self.sample, thresholds)
        pmiss = self._below(self.sample.tar, tar)[:, 1:-1]
        return pmiss[:, at], 1.0 - self._below(self.sample.non, non)[:, 1:-1][:, at]

    def _below(self, one: ScoredClass, below: IntArray) -> Float64Array:
        """Draw the mass below each threshold: (n_rows, k)."""
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
        drawn = np.empty((self.n_rows, size), dtype=np.int64)
        for row in drawn:
            row[:] = np.bincount(places[self.rng.integers(0, n, n)], minlength=size)
        return drawn

    def _times(self) -> Iterator[tuple[IntArray, IntArray]]:
        for _ in range(self.n_rows):
            yield (
                _iid_times(self.sample.tar, self.rng)[self.sample.tar.order],
                _iid_times(self.sample.non, self.rng)[self.sample.non.order],
            )

    def means(self, losses: Losses) -> tuple[Float64Array, Float64Array]:
        """Draw the mean loss of each class."""
        found = [self.sample.mean(losses, times) for times in self._times()]
        tar, non = zip(*found, strict=True)
        return np.array(tar), np.array(non)

    def lists(self) -> Iterator[tuple[FloatArray, ...]]:
        """Draw the scores of each class."""
        for times in self._times():
            yield from OneRow(self.sample, times).lists()


@attrs.frozen(eq=False)
class TimesRows:
    """Replicates of which it is known how often each listed trial counts."""

    sample: Sample
    times: Iterable[tuple[IntArray, IntArray]]

    def _rows(self) -> Iterator[OneRow]:
        for tar, non in self.times:
            yield OneRow(self.sample, (tar[self.sample.tar.order], non[self.sample.non.order]))

    def rates(self, grid: Grid) -> tuple[Float64Array, Float64Array]:
        """Return both error-rates at all thresholds of a grid."""
        pmiss, pfa = zip(*(row.rates(grid) for row in self._rows()), strict=True)
        return np.concatenate(pmiss), np.concatenate(pfa)

    def rates_at(self, thresholds: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return both error-rates at given thresholds."""
        pmiss, pfa = zip(*(row.rates_at(thresholds) for row in self._rows()), strict=True)
        return np.concatenate(pmiss), np.concatenate(pfa)

    def means(self, losses: Losses) -> tuple[Float64Array, Float64Array]:
        """Return the mean loss of each class."""
        tar, non = zip(*(row.means(losses) for row in self._rows()), strict=True)
        return np.concatenate(tar), np.concatenate(non)

    def lists(self) -> Iterator[tuple[FloatArray, ...]]:
        """Yield the scores of each class."""
        for row in self._rows():
            yield from row.lists()


@attrs.frozen(eq=False)
class TwoLayerDraws(Draws):
    """Draw sets, and as many trials within each set that was picked as it has."""

    systems: tuple[Sample, ...]

    @classmethod
    def from_systems(cls, samples: Sequence[Sample]) -> "TwoLayerDraws":
        """Give the sets of each class new numbers."""
        return cls(tuple(_with_sets(samples)[0]))

    @property
    def row_size(self) -> int:
        """Of several systems, the number of trials: how often each is drawn is kept."""
        one = self.systems[0]
        return one.tar.size + one.non.size if len(self.systems) > 1 else 0

    def rows(self, n_rows: int, rng: np.random.Generator) -> Sequence[Rows]:
        """Draw sets and trials within."""
        # Algorithm III of Wu et al. 2016; sets may be of any size.
        if len(self.systems) == 1:
            return [TwoLayerRows(self.systems[0], n_rows, rng)]
        times = [_two_layer_times(self.systems[0], rng) for _ in range(n_rows)]
        return [TimesRows(one, times) for one in self.systems]


def _two_layer_times(sample: Sample, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    tar, non = (_two_layer_of_class(one, rng) for one in (sample.tar, sample.non))
    return tar, non


def _two_layer_of_class(one: ScoredClass, rng: np.random.Generator) -> IntArray:
    """Draw how often each listed trial counts, within its set and condition."""
    sets = _sets(one).astype(np.int64)
    n_sets, n_groups = 1 + int(sets.max()), one.shares.size
    cells = sets if one.groups is None else sets * n_groups + one.groups
    sizes = np.bincount(cells, minlength=n_sets * n_groups)
    order, starts = np.argsort(cells, kind="stable"), np.cumsum(sizes) - sizes
    picks = np.repeat(picked_units(1, n_sets, rng)[0], n_groups) * sizes
    # A set that was picked twice has its trials drawn anew each time.
    within = rng.integers(0, np.repeat(sizes, picks)) + np.repeat(starts, picks)
    return np.bincount(order[within], minlength=one.size)


@attrs.frozen(eq=False)
class TwoLayerRows:
    """Replicates that draw sets and trials within; at one threshold numbers of errors are drawn."""

    sample: Sample
    n_rows: int
    rng: np.random.Generator

    def _drawn(self) -> TimesRows:
        times = (_two_layer_times(self.sample, self.rng) for _ in range(self.n_rows))
        return TimesRows(self.sample, times)

    def rates(self, grid: Grid) -> tuple[Float64Array, Float64Array]:
        """Draw both error-rates at all thresholds of a grid."""
        return self._drawn().rates(grid)

    def rates_at(self, thresholds: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Draw both error-rates at given thresholds."""
        plain = self.sample.tar.is_plain and self.sample.non.is_plain
        if thresholds.size > 1 or not plain:
            return self._drawn().rates_at(thresholds)
        limit = float(thresholds[0])
        tar, non = self.sample.tar, self.sample.non
        return self._share(tar, tar.listed < limit), self._share(non, non.listed >= limit)

    def _share(self, one: ScoredClass, errors: AnyArray) -> Float64Array:
        """Draw the share of errors: binomial in each set, given how often it was picked."""
        # Sets of one size with as many errors are alike: how many of them are picked is drawn.
        sets = _sets(one)
        kinds = np.stack((np.bincount(sets), np.bincount(sets, errors)))
        (sizes, wrong), alike = np.unique(kinds, axis=1, return_counts=True)
        n_sets = alike.sum()
        trials = self.rng.multinomial(n_sets, alike / n_sets, size=self.n_rows) * sizes.astype(int)
        drawn = self.rng.binomial(trials, wrong / sizes).sum(axis=1)
        return np.asarray(drawn / trials.sum(axis=1))[:, np.newaxis]

    def means(self, losses: Losses) -> tuple[Float64Array, Float64Array]:
        """Draw the mean loss of each class."""
        return self._drawn().means(losses)

    def lists(self) -> Iterator[tuple[FloatArray, ...]]:
        """Draw the scores of each class."""
        return self._drawn().lists()
