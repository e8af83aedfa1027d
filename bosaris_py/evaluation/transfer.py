r"""A threshold that one set of trials chooses, and what it costs on another set.

A rule chooses a threshold among the scores of the development set. Between two neighbouring scores
all thresholds decide alike, so the rule leaves a gap open; the threshold is its midpoint. The test
set is evaluated at that threshold. What this costs more than the best threshold of the test set is
the *regret*.

Samples are asked for nothing but error-rates and their ROC, so scores may lie in memory or in
files, with weighted conditions or without.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import attrs
import numpy as np

from bosaris_py._arrays import BoolArray, Float64Array
from bosaris_py._validation import describe, invalid
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.trials.sample import ListedSample, Sample

# Where among the thresholds of a gap of scores, which all decide alike, one of them is.
_End = Literal["first", "inside", "last"]

RuleKind = Literal["eer", "min-cost", "fmr", "fnmr", "bayes"]

_RULES = "'eer', 'min-cost', 'fmr=RATE', 'fnmr=RATE' or 'bayes'"

# Thresholds that are tried together: an edge among all numbers takes five rounds.
_TRIED = 2**14

# Error-rates that differ by less differ by rounding.
ROUNDING = 2.0**-40

# The numbers of -inf and of inf among the floats in ascending order.
_ENDS = -0x7FF0_0000_0000_0000, 0x7FF0_0000_0000_0000


@attrs.frozen
class ThresholdRule:
    """How a development set chooses a threshold; made by `parse`."""

    kind: RuleKind
    # The error-rate that must not be exceeded, of "fmr" and "fnmr".
    rate: float = math.nan

    @classmethod
    def parse(cls, text: object) -> "ThresholdRule":
        """Read a rule as users write it."""
        if isinstance(text, ThresholdRule):
            return text
        name, sign, number = str(text).partition("=") if isinstance(text, str) else ("", "", "")
        if name in ("eer", "min-cost", "bayes") and not sign:
            return cls(name)  # type: ignore[arg-type]
        if name not in ("fmr", "fnmr") or not sign:
            raise invalid("rule", f"be {_RULES}", describe(text), 'For instance rule="fmr=0.001".')
        try:
            rate = float(number)
        except ValueError:
            rate = math.nan
        if not 0.0 < rate < 1.0:
            hint = "0.1 % is written as 0.001."
            raise invalid("rule", f"have a rate between 0 and 1 behind {name}=", repr(text), hint)
        return cls(name, rate)  # type: ignore[arg-type]

    @property
    def limit(self) -> float:
        """The rate that must not be exceeded, but for rounding."""
        return self.rate + ROUNDING

    def __str__(self) -> str:
        """Write the rule as users do."""
        return self.kind if math.isnan(self.rate) else f"{self.kind}={self.rate:g}"

    def check_support(self, sample: Sample) -> None:
        """Raise if the trials are too few to show the rate."""
        if math.isnan(self.rate):
            return
        n_trials = sample.n_non if self.kind == "fmr" else sample.n_tar
        noun = "non-targets" if self.kind == "fmr" else "targets"
        if self.rate * n_trials < 1.0 - 1e-9:
            least = 1.0 / n_trials
            # Rounded upwards, so that it can be asked for.
            digits = 2 - math.floor(math.log10(least))
            shown = f"{math.ceil(least * 10**digits) / 10**digits:.3g}"
            expected = f"be a rate that the {n_trials} {noun} of `dev` can show, at least {shown}"
            hint = f"Ask for {self.kind}={shown} or more, or take more trials."
            raise invalid("rule", expected, str(self), hint)


@attrs.frozen
class ChosenThreshold:
    """A threshold that a development set chose, and what leaves it open.

    Parameters
    ----------
    value : float
        Accept iff score >= value; -inf accepts all, inf rejects all.
    low, high : float
        The scores between which it lies: all thresholds above `low` and up to `high` decide the
        development set alike.
    frr, far : float
        Miss rate and false-alarm rate on the development set.
    rule : str
        What chose it.
    """

    value: float
    low: float
    high: float
    frr: float
    far: float
    rule: str

    @property
    def is_midpoint(self) -> bool:
        """Whether the threshold is the midpoint of a gap of scores."""
        return self.low < self.value < self.high


def midpoint(low: float, high: float) -> float:
    """Return the threshold in the gap above one score and up to the next."""
    # Without a score above there is nothing to accept, without one below nothing to reject.
    if not (math.isfinite(low) and math.isfinite(high)):
        return high if math.isinf(high) else low
    middle = 0.5 * low + 0.5 * high
    return middle if low < middle <= high else high


def choose_threshold(sample: Sample, rule: ThresholdRule, point: OperatingPoint) -> ChosenThreshold:
    """Choose the threshold of a development set."""
    if rule.kind == "bayes":
        value = point.threshold
        frr, far = rates_at(sample, value)
        return ChosenThreshold(value, value, value, frr, far, str(rule))
    rule.check_support(sample)
    if isinstance(sample, ListedSample):
        # Thresholds are counted among sorted scores.
        sample.arranged()
    if rule.kind == "min-cost":
        return _in_gap(sample, rule, _number(sample.hull.min_dcf_threshold(point)), "inside")
    at, end = _place(sample, rule, 0.0 if rule.kind == "eer" else rule.rate)
    if rule.kind == "eer" and at > _ENDS[0]:
        before, here = (rates_at(sample, _float(number)) for number in (at - 1, at))
        if is_nearer(before, here):
            at, end = at - 1, "last"
    return _in_gap(sample, rule, at, end)


def moved_threshold(sample: Sample, rule: ThresholdRule, by: float) -> float:
    """Return what a rule would choose if it kept to another rate, of "fmr" and "fnmr".

    Of "eer" it is the threshold at which the miss rate is higher by so much.
    """
    return _in_gap(sample, rule, *_place(sample, rule, by)).value


def _place(sample: Sample, rule: ThresholdRule, by: float) -> tuple[int, _End]:
    """Return the number of a threshold that keeps to a rate, or has such a difference of rates.

    Beside it stands at which end of a gap of scores it is.
    """
    if rule.kind == "fmr":
        return _first(sample, lambda _, pfa: pfa <= by + ROUNDING, *_ENDS), "first"
    if rule.kind == "fnmr":
        return _first(sample, lambda pmiss, _: pmiss > by + ROUNDING, *_ENDS) - 1, "last"
    return _first(sample, lambda pmiss, pfa: pmiss - pfa >= by, *_ENDS), "first"


def _in_gap(sample: Sample, rule: ThresholdRule, at: int, end: _End) -> ChosenThreshold:
    """Return the midpoint of the gap of scores that the float of some number lies in."""
    frr, far = rates_at(sample, _float(at))

    def differs(pmiss: Float64Array, pfa: Float64Array) -> BoolArray:
        return np.asarray((pmiss != frr) | (pfa != far))

    first = last = at
    if end != "first":
        first = _first(sample, lambda *rates: ~differs(*rates), _ENDS[0], at)
    if end != "last":
        last = _first(sample, differs, at, _ENDS[1]) - 1
    # Below the first such threshold lies a score, unless none is lower.
    low, high = _float(max(first - 1, _ENDS[0])), _float(last)
    if first > _ENDS[0] and math.isinf(low):
        # A score of -inf is rejected by all other thresholds.
        low = high
    return ChosenThreshold(midpoint(low, high), low, high, frr, far, str(rule))


def is_nearer(rates: tuple[float, float], others: tuple[float, float]) -> bool:
    """Tell whether two rates are nearer to each other than others; where alike, if lower."""
    gap, other = abs(rates[0] - rates[1]), abs(others[0] - others[1])
    return sum(rates) < sum(others) if abs(gap - other) <= ROUNDING else gap < other


def rates_at(sample: Sample, threshold: float) -> tuple[float, float]:
    """Return miss rate and false-alarm rate at one threshold."""
    pmiss, pfa = sample.error_rates(np.array([threshold]))
    return float(pmiss[0]), float(pfa[0])


def _first(
    sample: Sample, reached: Callable[[Float64Array, Float64Array], BoolArray], low: int, high: int
) -> int:
    """Return the number of the first float in a range where the error-rates are as asked.

    They are so from there on. If nowhere, it is the number after the range.
    """
    # Rates at target scores are known without another look at the scores.
    inner = np.asarray(sample.roc.target_scores, dtype=np.float64)
    inner = inner[(inner > _floats(low)) & (inner < _floats(high))]
    known = reached(*sample.error_rates(inner)) if inner.size else np.zeros(0, dtype=np.bool_)
    place = int(np.argmax(known)) if known.any() else inner.size
    if place:
        low = _number(inner[place - 1]) + 1
    high = _number(inner[place]) if place < inner.size else high + 1
    while low < high:
        step = -(-(high - low) // _TRIED)
        numbers = np.arange(low, high, step, dtype=np.int64)
        found = np.flatnonzero(reached(*sample.error_rates(_floats(numbers))))
        if not found.size:
            low = int(numbers[-1]) + 1
            continue
        high = int(numbers[found[0]])
        low = int(numbers[found[0] - 1]) + 1 if found[0] else high
    return high


def _number(value: float) -> int:
    """Return the position of a float among all, 0 for zero: they ascend with it."""
    bits = int(np.array(float(value) + 0.0).view(np.int64))
    return bits if bits >= 0 else int(np.iinfo(np.int64).min) - bits


def _floats(numbers: object) -> Any:
    """Return the floats at some positions."""
    at = np.asarray(numbers, dtype=np.int64)
    return np.where(at < 0, np.iinfo(np.int64).min - at, at).view(np.float64)[()]


def _float(number: int) -> float:
    return float(_floats(number))
