"""Intervals and p-values from replicates of Student's t."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, TypeAlias

import attrs
import numpy as np

from bosaris_py._arrays import Float64Array
from bosaris_py._validation import check_fraction
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.speaker_pairs import ROUNDING
from bosaris_py.uncertainty.bootstrap_result import Alternative, normal_p_value, student_quantiles
from bosaris_py.uncertainty.influence.losses import has_losses
from bosaris_py.uncertainty.influence.speaker_influence import (
    FEWEST_DRAWS,
    METHOD,
    SpeakerInfluence,
)
from bosaris_py.uncertainty.resampling import SpeakerPlan
from bosaris_py.uncertainty.statistics.statistic import Statistic

# A replicate of few speakers repeats some of them, so that its t is too long: quantiles of drawn t
# of a difference are limited to this multiple of those of Student's t.
_LARGEST_OF_DIFFERENCES = 1.02


@attrs.frozen(eq=False)
class Studentised:
    """The studentised bootstrap of a metric or difference: one inversion for interval and p."""

    # `draws` are Student's t of replicates, ascending; of a difference without their signs. None
    # where there are none: then Student's t has its law.

    influence: SpeakerInfluence
    draws: Float64Array | None
    is_difference: bool
    # Of a rate while another one is kept: those of both rates.
    of_rates: "tuple[Studentised, Studentised] | None" = None

    @classmethod
    def of(
        cls, influence: SpeakerInfluence, weights: Float64Array, *, is_difference: bool = False
    ) -> Self:
        """Draw Student's t of replicates, one for each row of weights of the speakers."""
        draws = influence.students(weights, log=not is_difference)
        if draws is not None and is_difference:
            draws = np.sort(np.abs(draws))
        # Of two speakers only one replicate has trials of both classes.
        if draws is not None and (draws.size == 0 or draws[0] == draws[-1]):
            draws = None
        of_rates = None
        if influence.of_rates is not None and not is_difference:
            own, other = (cls.of(each, weights) for each in influence.of_rates)
            of_rates = own, other
        return cls(influence, draws, is_difference, of_rates)

    @property
    def least_p(self) -> float:
        """The least p-value of flips of signs."""
        return self.influence.least_p

    def minus(self, other: "Studentised") -> "Studentised":
        """Return that of the difference, by the law of Student's t."""
        return Studentised(self.influence.minus(other.influence), None, is_difference=True)

    @property
    def null_error(self) -> float:
        """Standard error of a difference, not 0 unless the difference is."""
        return self.influence.null_error

    def ends(self, confidence: float) -> tuple[float, float]:
        """Return the ends of the interval: what a test would not reject."""
        influence = self.influence
        if self.of_rates is not None:
            own, other = (each.ends(confidence) for each in self.of_rates)
            return influence.kept_ends(own, other)
        if not self.is_difference:
            interval = influence.interval(confidence, METHOD, self.draws)
            return interval.low, interval.high
        tail = 1.0 - check_fraction(confidence, "confidence")
        draws, rank = self.draws, None
        if draws is not None and draws.size >= FEWEST_DRAWS:
            rank = int(tail * (draws.size + 1) * (1.0 + ROUNDING))
            # The p-value of this rank must be below, which of 1 - 0.9 it may not be.
            rank -= rank / (draws.size + 1) >= tail
        quantile = student_quantiles(0.5 * tail, influence.degrees)[1]
        if draws is not None and rank:
            quantile = min(float(draws[-rank]), _LARGEST_OF_DIFFERENCES * quantile)
        half, value = quantile * influence.null_error, influence.difference
        low, high = value - half, value + half
        # Of so few speakers, or draws, no p-value is as small.
        if influence.least_p >= tail or rank == 0:
            low, high = min(low, 0.0), max(high, 0.0)
        return low, high

    def p_value(self, alternative: Alternative) -> float:
        """Return the p-value of a difference; a one-sided one has the same law on both sides."""
        influence = self.influence
        value, error = influence.difference, influence.null_error
        if value == 0:
            return 1.0 if alternative == "two-sided" else 0.5
        z = abs(value) / error
        if self.draws is None or self.draws.size < FEWEST_DRAWS:
            both = float(normal_p_value(z, "two-sided", influence.degrees))
        else:
            n_beyond = self.draws.size - int(np.searchsorted(self.draws, z, side="left"))
            both = (1 + n_beyond) / (1 + self.draws.size)
            limit = float(
                normal_p_value(z / _LARGEST_OF_DIFFERENCES, "two-sided", influence.degrees)
            )
            both = max(min(both, limit), 1 / (1 + self.draws.size))
        both = max(both, influence.least_p)
        if alternative == "two-sided":
            return both
        return 0.5 * both if (alternative == "less") == (value < 0) else 1.0 - 0.5 * both


@attrs.frozen(eq=False)
class Influences:
    """The influences of speakers on each number of an array."""

    each: tuple[SpeakerInfluence, ...]
    shape: tuple[int, ...]

    @property
    def is_area(self) -> bool:
        """Whether the numbers are areas; no array has any."""
        return False

    def minus(self, other: "Influences") -> "Influences":
        """Return those on the differences to another system on the same trials."""
        pairs = zip(self.each, other.each, strict=True)
        return Influences(tuple(one.minus(its) for one, its in pairs), self.shape)


@attrs.frozen(eq=False)
class StudentisedNumbers:
    """The studentised bootstraps of the numbers of an array, each as if it were alone."""

    each: tuple[Studentised, ...]
    shape: tuple[int, ...]

    @property
    def influence(self) -> SpeakerInfluence:
        """The influence on the number with the fewest effective speakers; of none without any."""
        influences = [one.influence for one in self.each]
        some = [found for found in influences if found.effective_speakers > 0]
        return min(some or influences, key=lambda found: found.effective_speakers)

    @property
    def least_p(self) -> float:
        """The largest of the least p-values."""
        return max(one.least_p for one in self.each)

    @property
    def null_error(self) -> Float64Array:
        """Standard error of each difference, not 0 unless the difference is."""
        return self._array([one.null_error for one in self.each])

    def minus(self, other: "StudentisedNumbers") -> "StudentisedNumbers":
        """Return those of the differences, by the law of Student's t."""
        pairs = zip(self.each, other.each, strict=True)
        return StudentisedNumbers(tuple(one.minus(its) for one, its in pairs), self.shape)

    def ends(self, confidence: float) -> tuple[Float64Array, Float64Array]:
        """Return the ends of the intervals."""
        low, high = zip(*(one.ends(confidence) for one in self.each), strict=True)
        return self._array(low), self._array(high)

    def p_value(self, alternative: Alternative) -> Float64Array:
        """Return the p-value of each difference."""
        return self._array([one.p_value(alternative) for one in self.each])

    def _array(self, values: Sequence[float]) -> Float64Array:
        return np.array(values, dtype=np.float64).reshape(self.shape)


# Student's t of one number, or of each of several.
Students: TypeAlias = Studentised | StudentisedNumbers


def students_of(
    found: SpeakerInfluence | Influences, weights: Float64Array, *, is_difference: bool = False
) -> Students:
    """Draw Student's t of replicates, one for each row of weights of the speakers."""
    if isinstance(found, SpeakerInfluence):
        return Studentised.of(found, weights, is_difference=is_difference)
    each = (Studentised.of(one, weights, is_difference=is_difference) for one in found.each)
    return StudentisedNumbers(tuple(each), found.shape)


# Formulas of more numbers take longer than their replicates.
_MOST_NUMBERS = 100


def influences_of(
    systems: Sequence[tuple[object, ListedSample]], plan: object
) -> list[SpeakerInfluence | Influences | None] | None:
    """Return the influence of drawn speakers on statistics, None without a formula."""
    # In a pigeonhole bootstrap the two sides are different persons.
    if not isinstance(plan, SpeakerPlan) or plan.persons.n_second is not None:
        return None
    found = [_influence_of(statistic, sample) for statistic, sample in systems]
    return found if any(found) else None


def _influence_of(statistic: object, sample: ListedSample) -> SpeakerInfluence | Influences | None:
    if not isinstance(statistic, Statistic) or not statistic.shape:
        return SpeakerInfluence.on(statistic, sample) if has_losses(statistic) else None
    numbers = statistic.numbers
    if not 0 < len(numbers) <= _MOST_NUMBERS:
        return None
    each = tuple(SpeakerInfluence.on(number, sample) for number in numbers)
    return Influences(each, statistic.shape)
