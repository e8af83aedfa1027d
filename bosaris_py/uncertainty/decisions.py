"""Decisions and errors counted from them: what the analytic tests start from.

Accept iff score >= threshold, compared in float64, as everywhere.
"""

import math
from typing import Protocol

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import (
    BoolArray,
    FloatArray,
    as_mask,
    as_vector,
    check_not_empty,
    describe,
    invalid,
    read_only,
    refuse_nan,
    warn_caller,
)
from bosaris_py.errors import FewErrorsWarning, TrialMismatchError
from bosaris_py.evaluation.rule_of_30 import FEWEST_ERRORS
from bosaris_py.trials.forms import AnyKey, AnyScores

__all__ = [
    "Decisions",
    "Disagreements",
    "ErrorCounts",
    "Prices",
    "ThresholdCost",
    "as_count",
    "as_threshold",
    "check_few_errors",
    "disagreements_of",
    "prices_of",
    "rejected",
]


class Prices(Protocol):
    """A prior and two costs, such as an `OperatingPoint` or a `DCF` statistic."""

    @property
    def p_target(self) -> float:
        """Prior probability of a target."""

    @property
    def c_miss(self) -> float:
        """Cost of a miss."""

    @property
    def c_fa(self) -> float:
        """Cost of a false alarm."""


class ThresholdCost(Prices, Protocol):
    """A prior, two costs and a threshold: a `DCF` statistic or an `OperatingPoint`."""

    @property
    def threshold(self) -> float:
        """Accept iff score >= threshold."""


def rejected(scores: FloatArray, threshold: float) -> BoolArray:
    """Tell which scores lie below the threshold; float32 scores are compared in float64."""
    return np.asarray(scores < np.float64(threshold))


def as_threshold(value: float, name: str, owner: str) -> float:
    """Return a threshold as a float; +-inf is legal, NaN is not."""
    try:
        threshold = float(value)
    except (TypeError, ValueError):
        raise invalid(name, owner, "be a number", describe(value)) from None
    if math.isnan(threshold):
        raise invalid(name, owner, "be a number", "NaN")
    return threshold


def as_count(value: float, name: str, owner: str) -> float:
    """Return a count as a float; fractions are legal, as printed rates yield them."""
    try:
        count = float(value)
    except (TypeError, ValueError):
        raise invalid(name, owner, "be a number", describe(value)) from None
    if not (math.isfinite(count) and count >= 0):
        raise invalid(name, owner, "be finite and not negative", describe(value))
    return count


def prices_of(cost: Prices, owner: str, *, normalize: bool | None = None) -> tuple[float, float]:
    """Return the price of a miss rate and of a false-alarm rate of one."""
    try:
        miss = float(cost.p_target) * float(cost.c_miss)
        alarm = (1.0 - float(cost.p_target)) * float(cost.c_fa)
    except AttributeError:
        expected = "have attributes p_target, c_miss and c_fa"
        hint = "OperatingPoint(p_target, c_miss, c_fa) has."
        raise invalid("cost", owner, expected, describe(cost), hint) from None
    if normalize is None:
        normalize = bool(getattr(cost, "normalize", False))
    scale = min(miss, alarm) if normalize else 1.0
    return miss / scale, alarm / scale


def check_few_errors(errors: float, what: str) -> None:
    """Warn if a rate rests on fewer than 30 errors."""
    if errors < FEWEST_ERRORS:
        message = (
            f"The {what} rests on {errors:g} errors. With fewer than {FEWEST_ERRORS} errors a "
            "standard error is itself uncertain, and a normal interval too."
        )
        warn_caller(message, FewErrorsWarning)


@attrs.frozen(repr=False)
class ErrorCounts:
    """How many errors of each kind a system made, of how many trials.

    Parameters
    ----------
    misses : float
        Number of targets that were rejected.
    n_tar : float
        Number of target trials, at least 1.
    false_alarms : float
        Number of non-targets that were accepted.
    n_non : float
        Number of non-target trials, at least 1.

    Raises
    ------
    InvalidInputError
        If a count is negative or not finite, a class is empty, or there are more
        errors than trials.

    Notes
    -----
    Counts need not be whole, so that rates printed in a paper can be put in; see
    `from_rates`. They know nothing of conditions: `speaker_errors` weighs them, and
    `Conditions.select` gives the key of a single one.

    Examples
    --------
    >>> errors = ErrorCounts(misses=10, n_tar=400, false_alarms=1288, n_non=112000)
    >>> errors.pmiss, errors.pfa
    (0.025, 0.0115)
    >>> round(errors.hter, 5)
    0.01825
    """

    misses: float
    n_tar: float
    false_alarms: float
    n_non: float

    def __attrs_post_init__(self) -> None:
        """Raise if a count is none, a class is empty, or errors exceed trials."""
        for attribute in attrs.fields(ErrorCounts):
            as_count(getattr(self, attribute.name), attribute.name, "ErrorCounts")
        pairs = (
            ("misses", self.misses, "n_tar", self.n_tar),
            ("false_alarms", self.false_alarms, "n_non", self.n_non),
        )
        for name, errors, total_name, total in pairs:
            if total < 1:
                raise invalid(total_name, "ErrorCounts", "be at least 1", f"{total:g}")
            if errors > total:
                hint = "The order is misses, n_tar, false_alarms, n_non."
                expected = f"not exceed `{total_name}`, {total:g}"
                raise invalid(name, "ErrorCounts", expected, f"{errors:g}", hint)

    @classmethod
    def from_rates(cls, pmiss: float, n_tar: float, pfa: float, n_non: float) -> "ErrorCounts":
        """Make counts from error-rates, as they are printed in papers.

        Parameters
        ----------
        pmiss : float
            Miss rate, a fraction in [0, 1].
        n_tar : float
            Number of target trials.
        pfa : float
            False-alarm rate, a fraction in [0, 1].
        n_non : float
            Number of non-target trials.

        Returns
        -------
        ErrorCounts
            With counts that need not be whole.

        Raises
        ------
        InvalidInputError
            If a rate is not in [0, 1], or a class is empty.
        """
        for name, rate in (("pmiss", pmiss), ("pfa", pfa)):
            if not 0.0 <= as_threshold(rate, name, "ErrorCounts.from_rates") <= 1.0:
                hint = "Percentages must be divided by 100."
                raise invalid(name, "ErrorCounts.from_rates", "lie in [0, 1]", describe(rate), hint)
        return cls(pmiss * n_tar, n_tar, pfa * n_non, n_non)

    @classmethod
    def at_threshold(
        cls, tar: npt.ArrayLike, non: npt.ArrayLike, threshold: float
    ) -> "ErrorCounts":
        """Count the errors of two lists of scores at a threshold.

        Parameters
        ----------
        tar, non : (n,) array_like of float
            Target and non-target scores; no NaN, +-inf allowed.
        threshold : float
            Accept iff score >= threshold.

        Returns
        -------
        ErrorCounts
        """
        return Decisions.at_threshold(tar, non, threshold).counts

    @classmethod
    def from_scores(cls, scores: AnyScores, key: AnyKey, threshold: float) -> "ErrorCounts":
        """Count the errors of a score matrix at a threshold.

        Parameters
        ----------
        scores : Scores or FlatScores
            Scores of the system.
        key : Key or FlatKey
            Which trials are targets and which non-targets.
        threshold : float
            Accept iff score >= threshold.

        Returns
        -------
        ErrorCounts

        Warns
        -----
        MissingTrialsWarning
            If trials of the key have no scores; they are left out.
        """
        return cls.at_threshold(*scores.get_tar_non(key, any_order=True), threshold)

    @property
    def pmiss(self) -> float:
        """Miss rate, the false rejection rate FRR of the paper."""
        return self.misses / self.n_tar

    @property
    def pfa(self) -> float:
        """False-alarm rate, the false acceptance rate FAR of the paper."""
        return self.false_alarms / self.n_non

    @property
    def hter(self) -> float:
        """Half total error rate, (pmiss + pfa) / 2."""
        return 0.5 * (self.pmiss + self.pfa)

    @property
    def error_rate(self) -> float:
        """Share of all trials that were decided wrongly, CLASS in the paper."""
        return (self.misses + self.false_alarms) / self.n_trials

    @property
    def n_trials(self) -> float:
        """Number of trials of both classes."""
        return self.n_tar + self.n_non

    def __repr__(self) -> str:
        """Show both fractions."""
        return (
            f"ErrorCounts: {self.misses:g} of {self.n_tar:g} targets missed, "
            f"{self.false_alarms:g} of {self.n_non:g} non-targets accepted"
        )


def _to_decisions(values: npt.ArrayLike, name: str) -> BoolArray:
    decisions = as_mask(values, name, "Decisions")
    if decisions.ndim != 1:
        raise invalid(name, "Decisions", "be one-dimensional", describe(decisions))
    check_not_empty(decisions, name, "Decisions")
    return read_only(decisions)


@attrs.frozen(init=False, eq=False, repr=False)
class Decisions:
    """What a system decided on each trial; two systems on the same trials can be paired.

    Parameters
    ----------
    tar_accepted : (n_tar,) array_like of bool
        For each target trial, whether it was accepted.
    non_accepted : (n_non,) array_like of bool
        For each non-target trial, whether it was accepted, wrongly.

    Raises
    ------
    InvalidInputError
        If an array is empty, not boolean or not one-dimensional.

    Examples
    --------
    >>> decisions = Decisions.at_threshold([1.0, 3.0], [0.0, 2.0], threshold=1.5)
    >>> decisions.counts
    ErrorCounts: 1 of 2 targets missed, 1 of 2 non-targets accepted
    """

    tar_accepted: BoolArray
    non_accepted: BoolArray

    def __init__(self, tar_accepted: npt.ArrayLike, non_accepted: npt.ArrayLike) -> None:
        self.__attrs_init__(
            _to_decisions(tar_accepted, "tar_accepted"),
            _to_decisions(non_accepted, "non_accepted"),
        )

    @classmethod
    def at_threshold(cls, tar: npt.ArrayLike, non: npt.ArrayLike, threshold: float) -> "Decisions":
        """Decide two lists of scores.

        Parameters
        ----------
        tar, non : (n,) array_like of float
            Target and non-target scores; no NaN, +-inf allowed.
        threshold : float
            Accept iff score >= threshold.

        Returns
        -------
        Decisions

        Raises
        ------
        InvalidInputError
            If a class is empty, or a score or the threshold is NaN.
        """
        owner = "Decisions.at_threshold"
        limit = as_threshold(threshold, "threshold", owner)
        accepted = []
        for scores, name in ((tar, "tar"), (non, "non")):
            array = as_vector(scores, name, owner)
            check_not_empty(array, name, owner)
            refuse_nan(array, name, owner)
            accepted.append(~rejected(array, limit))
        return cls(*accepted)

    @classmethod
    def from_scores(cls, scores: AnyScores, key: AnyKey, threshold: float) -> "Decisions":
        """Decide all trials of a key, column by column.

        Parameters
        ----------
        scores : Scores or FlatScores
            Scores of the system, one for every trial of `key`.
        key : Key or FlatKey
            Which trials are targets and which non-targets.
        threshold : float
            Accept iff score >= threshold.

        Returns
        -------
        Decisions
            Those of two systems, made with the same key, are paired.

        Raises
        ------
        TrialMismatchError
            If a trial of the key has no score: decisions of two systems that
            lack different trials would be paired wrongly.
        """
        tar, non = scores.get_tar_non(key)
        missing = key.n_trials - tar.size - non.size
        if missing:
            message = (
                f"`scores` of Decisions.from_scores must have a score for every trial of `key`; "
                f"{missing} of {key.n_trials} have none. Filter the key, or decide what a "
                "missing score means with scores.set_missing_to_value."
            )
            raise TrialMismatchError(message)
        return cls.at_threshold(tar, non, threshold)

    @property
    def counts(self) -> ErrorCounts:
        """The number of errors of each kind."""
        return ErrorCounts(
            int(np.count_nonzero(~self.tar_accepted)),
            self.tar_accepted.size,
            int(np.count_nonzero(self.non_accepted)),
            self.non_accepted.size,
        )

    def __repr__(self) -> str:
        """Show the number of trials and errors."""
        return f"Decisions on {self.counts.n_trials:g} trials; {self.counts}"


@attrs.frozen
class Disagreements:
    """On how many trials two systems disagree, by class and by which of them errs.

    Parameters
    ----------
    missed_by_a, missed_by_b : float
        Number of targets that only the first, or only the second system rejects.
    n_tar : float
        Number of target trials.
    accepted_by_a, accepted_by_b : float
        Number of non-targets that only the first, or only the second accepts.
    n_non : float
        Number of non-target trials.
    """

    missed_by_a: float
    missed_by_b: float
    n_tar: float
    accepted_by_a: float
    accepted_by_b: float
    n_non: float

    def __attrs_post_init__(self) -> None:
        """Raise if a class is empty or has fewer trials than disagreements."""
        owner = "Disagreements"
        for attribute in attrs.fields(Disagreements):
            as_count(getattr(self, attribute.name), attribute.name, owner)
        for name, total, parts in (
            ("n_tar", self.n_tar, self.missed_by_a + self.missed_by_b),
            ("n_non", self.n_non, self.accepted_by_a + self.accepted_by_b),
        ):
            if total < max(1, parts):
                expected = "be at least 1 and at least the number of disagreements"
                raise invalid(name, owner, expected, f"{total:g}")

    @classmethod
    def between(cls, a: Decisions, b: Decisions) -> "Disagreements":
        """Count the disagreements of two systems on the same trials.

        Parameters
        ----------
        a, b : Decisions
            Decisions on the same trials, in the same order.

        Returns
        -------
        Disagreements

        Raises
        ------
        InvalidInputError
            If one is not a `Decisions`.
        TrialMismatchError
            If they are not on equally many trials of each class.
        """
        pair: tuple[tuple[str, object], ...] = (("a", a), ("b", b))
        for name, value in pair:
            if not isinstance(value, Decisions):
                hint = "Counts of errors do not tell on which trials systems disagree."
                expected = "be Decisions"
                raise invalid(name, "a paired test", expected, describe(value), hint)
        sizes = [(d.tar_accepted.size, d.non_accepted.size) for d in (a, b)]
        if sizes[0] != sizes[1]:
            message = (
                "`a` and `b` of a paired test must be decisions on the same trials; "
                "got {} targets and {} non-targets against {} and {}."
            ).format(*sizes[0], *sizes[1])
            raise TrialMismatchError(message)
        return cls(
            int(np.count_nonzero(~a.tar_accepted & b.tar_accepted)),
            int(np.count_nonzero(a.tar_accepted & ~b.tar_accepted)),
            a.tar_accepted.size,
            int(np.count_nonzero(a.non_accepted & ~b.non_accepted)),
            int(np.count_nonzero(~a.non_accepted & b.non_accepted)),
            a.non_accepted.size,
        )


def disagreements_of(a: object, b: object) -> Disagreements:
    """Return disagreements that are given as such, or count those of two `Decisions`."""
    if isinstance(a, Disagreements) and b is None:
        return a
    return Disagreements.between(a, b)  # type: ignore[arg-type]
