"""Trials by speaker and by pair of speakers, and sums over the trials of each."""

from __future__ import annotations

import functools
from typing import NamedTuple, Self

import attrs
import numpy as np

from bosaris_py._arrays import (
    AnyArray,
    BoolArray,
    Float64Array,
    IntArray,
    Positions,
    StrArray,
    Weighting,
)
from bosaris_py._validation import invalid
from bosaris_py.trials.speakers import number_pairs, refuse_same_speaker
from bosaris_py.trials.strata import Strata, TrialStrata

# Differences of sums that are smaller than this share of these are rounding.
ROUNDING = 2.0**-44


def sum_by_label(labels: IntArray, values: Weighting, size: int) -> Float64Array:
    """Add up values by their label, below `size`."""
    return np.asarray(np.bincount(labels, values, minlength=size), dtype=np.float64)


class GroupSums(NamedTuple):
    """Sums over the trials of each speaker, or pair: of residuals, and of the loss itself."""

    residual: Float64Array
    total: Float64Array

    @classmethod
    def of(cls, total: Float64Array, expected: Float64Array, part: float) -> Self:
        """Take what is expected from what is; `part` of it counts for the class."""
        residual = total - expected
        # Equal shares of losses that are all alike differ by rounding.
        residual[np.abs(residual) <= ROUNDING * np.abs(expected)] = 0.0
        return cls(residual, residual + part * expected)


class _Cells(NamedTuple):
    """The cell of each trial of one class: its speaker, or the two speakers in order."""

    labels: IntArray
    size: int
    strata: Strata

    def mass(self) -> Float64Array:
        """Return the share of the trials, by weight, in each cell."""
        weights = self.strata.trial_weights()
        mass = sum_by_label(self.labels, weights, self.size)
        return mass if weights is not None else mass / self.labels.size

    def sums(self, values: Float64Array, mass: Float64Array, part: float) -> GroupSums:
        """Add up a loss of each trial in each cell."""
        strata, weights = self.strata, self.strata.trial_weights()
        if weights is None:
            total = sum_by_label(self.labels, values, self.size) / self.labels.size
            return GroupSums.of(total, float(total.sum()) * mass, part)
        means = (strata.totals(values) / strata.sizes)[strata.labels]
        total = sum_by_label(self.labels, weights * values, self.size)
        return GroupSums.of(total, sum_by_label(self.labels, weights * means, self.size), part)


@attrs.frozen(eq=False)
class SpeakerPairs:
    """Who takes part in which trials: speakers numbered without gaps, and pairs of them."""

    # `pairs` says to which of the pairs (first, second) a cell that is `occupied` belongs. A mass
    # is the share of the trials of a class, by weight: `masses` by cell, `pair_mass` by pair.

    cells: tuple[_Cells, _Cells] | None
    n_trials: tuple[int, int]
    masses: tuple[Float64Array, Float64Array]
    present: IntArray
    occupied: IntArray
    pairs: IntArray
    first: IntArray
    second: IntArray
    pair_mass: Float64Array
    # The names of the speakers, where they have any.
    ids: StrArray | None = None

    @classmethod
    def from_numbers(
        cls, tar: Positions, one: Positions, other: Positions, strata: TrialStrata
    ) -> Self:
        """Group trials by the numbers of the one or two speakers of each."""
        refuse_same_speaker(one, other)
        size = width = 1 + max(int(numbers.max()) for numbers in (tar, one, other))
        alone = other < 0
        if alone.any():
            # Trials of one person are pairs with a number that is no speaker's.
            other, width = np.where(alone, size, other), size + 1
        cells, n_cells, listed = number_pairs(one, other, (size, width), ordered=True)
        both = _Cells(np.asarray(tar), size, strata.tar), _Cells(cells, n_cells, strata.non)
        of_targets, mass = both[0].mass(), both[1].mass()
        occupied = np.flatnonzero(mass)
        one, other = np.divmod(occupied if listed is None else listed[occupied], width)
        # In cells (i, j) and (j, i) the same two speakers meet.
        codes = np.minimum(one, other) * width + np.maximum(one, other)
        found, pairs = np.unique(codes, return_inverse=True)
        first, second = np.divmod(found, width)
        taking_part = np.append(of_targets > 0, False)
        taking_part[first] = taking_part[second] = True
        # Behind all speakers.
        taking_part[size] = False
        present = np.flatnonzero(taking_part)
        if present.size < 2:
            raise invalid("key", "have at least two speakers with trials", f"{present.size}")
        number = np.cumsum(taking_part) - 1
        number[size] = present.size
        return cls(
            cells=both,
            n_trials=(tar.size, cells.size),
            masses=(of_targets, mass),
            present=present,
            occupied=occupied,
            pairs=pairs,
            first=number[first],
            second=number[second],
            pair_mass=sum_by_label(pairs, mass[occupied], found.size),
        )

    @functools.cached_property
    def summary(self) -> "SpeakerPairs":
        """The same without lists or masks of trials: what results keep."""
        none = np.empty(0, dtype=np.int64)
        of_targets = self.masses[0], np.empty(0)
        return attrs.evolve(self, cells=None, masses=of_targets, occupied=none, pairs=none)

    @property
    def n_speakers(self) -> int:
        """Number of speakers who take part in trials."""
        return self.present.size

    def of_speakers(self, values: Float64Array) -> Float64Array:
        """Add up a number for each pair by speaker; each pair counts for both of them."""
        k = self.n_speakers
        second = sum_by_label(self.second, values, k)[:k]
        return sum_by_label(self.first, values, k) + second

    @functools.cached_property
    def are_two(self) -> BoolArray:
        """Tell which pairs are of two speakers; the others are trials of one person."""
        return self.second < self.n_speakers

    @property
    def has_single(self) -> bool:
        """Whether there are trials of one person among the non-targets."""
        return not bool(self.are_two.all())

    @functools.cached_property
    def tar_mass(self) -> Float64Array:
        """Share of the target trials of each speaker."""
        return self.masses[0][self.present]

    @functools.cached_property
    def reach(self) -> Float64Array:
        """Share of the non-target trials in which each speaker takes part: of sum two."""
        return self.of_speakers(self.pair_mass)

    @functools.cached_property
    def leverages(self) -> tuple[Float64Array, Float64Array]:
        """How much an estimate without a speaker magnifies what the speaker's trials did."""
        # 1 / (1 - share of the trials): T / (T - T_k). One speaker who has all cannot be left out.
        least = 1.0 / self.n_speakers
        tar, non = (1.0 / np.maximum(1.0 - m, least) for m in (self.tar_mass, self.reach))
        return tar, non

    @property
    def n_by_class(self) -> tuple[int, int]:
        """Number of speakers with target trials, and with non-target trials."""
        return int(np.count_nonzero(self.tar_mass)), int(np.count_nonzero(self.reach))

    def sums(self, tar: AnyArray, non: AnyArray, part: float) -> tuple[GroupSums, GroupSums]:
        """Add up a loss of each trial by speaker, and by pair of speakers."""
        if self.cells is None:
            raise TypeError("a summary has no trials")
        of_tar = self.cells[0].sums(tar, self.masses[0], part)
        of_non = self.cells[1].sums(non, self.masses[1], part)
        size = self.pair_mass.size
        return (
            GroupSums(*(values[self.present] for values in of_tar)),
            GroupSums(
                *(sum_by_label(self.pairs, values[self.occupied], size) for values in of_non)
            ),
        )
