r"""Error counts of decisions; intervals and tests of error-rates, half total error rates and DCFs.

The intervals and tests of Bengio and Mariethoz, Odyssey 2004: error counts of the two classes are
independent binomial numbers, so a weighted sum :math:`a P_{miss} + b P_{fa}` is
approximately normal. Any DCF is such a sum, with :math:`a = P_{target} C_{miss}` and
:math:`b = (1-P_{target}) C_{fa}`; the HTER has :math:`a = b = 1/2`. *Trials* are taken to be
independent; where they share speakers, see `speaker_errors` and `speaker_z_test`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any, Literal, Protocol

import attrs
import numpy as np
import numpy.typing as npt
import scipy

from bosaris_py import _validation as check
from bosaris_py._arrays import BoolArray, FloatArray, mark_read_only, read_only
from bosaris_py._cautions import warn_caller
from bosaris_py.errors import FewErrorsWarning, SuspectScoresWarning, TrialMismatchError
from bosaris_py.numerics.roc import FEWEST_ERRORS
from bosaris_py.trials.alignment import IdList
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.inputs import KeyLike, split_key
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores, FlatScores, class_scores
from bosaris_py.trials.strata import TrialStrata
from bosaris_py.uncertainty.bootstrap_result import (
    Alternative,
    Interval,
    LeftOpen,
    ZTest,
    normal_interval,
    unseen_part,
    z_test,
)


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


def prices_of(cost: Prices, *, normalize: bool | None = None) -> tuple[float, float]:
    """Return a and b: the price of a miss rate and of a false-alarm rate of one."""
    try:
        miss = float(cost.p_target) * float(cost.c_miss)
        alarm = (1.0 - float(cost.p_target)) * float(cost.c_fa)
    except AttributeError:
        expected = "have attributes p_target, c_miss and c_fa"
        hint = "OperatingPoint(p_target, c_miss, c_fa) has."
        raise check.invalid("cost", expected, check.describe(cost), hint) from None
    if normalize is None:
        normalize = bool(getattr(cost, "normalize", False))
    # The better of rejecting all trials, at the price of a miss, and of accepting all.
    scale = min(miss, alarm) if check.as_flag(normalize) else 1.0
    return miss / scale, alarm / scale


def rejected(scores: FloatArray, threshold: float) -> BoolArray:
    """Tell which scores lie below the threshold; float32 scores are compared in float64."""
    # numpy would round a Python float to the type of float32 scores.
    return np.asarray(scores < np.float64(threshold))


def as_threshold(value: object, name: str) -> float:
    """Return a threshold as a float; +-inf is legal, NaN is not."""
    threshold = check.as_number(value, name, "be a number", lambda _: True)
    if math.isnan(threshold):
        raise check.invalid(name, "be a number", "NaN")
    return threshold


def as_positive(value: float, name: str) -> float:
    """Return a positive number as a float."""
    size = check.as_nonnegative(value, name)
    if size == 0:
        raise check.invalid(name, "be positive", check.describe(value))
    return size


def _as_count(value: float, name: str) -> float:
    """Return a positive number of trials, which is at least 1; weights may make it no whole one."""
    size = as_positive(value, name)
    if size < 1:
        hint = "Is this a rate? Errors are the rate times the trials."
        raise check.invalid(name, f"be a number of {name}", check.describe(value), hint)
    return size


def check_few_errors(errors: float, what: str) -> None:
    """Warn if a rate rests on fewer than 30 errors."""
    # The rule of 30 of Doddington et al., see `rule_of_30`.
    if errors < FEWEST_ERRORS:
        advice = (
            f"With fewer than {FEWEST_ERRORS} errors a standard error is itself uncertain, and a "
            "normal interval too."
        )
        finding = f"The {what} rests on {errors:g} errors."
        warn_caller(finding, FewErrorsWarning, advice, [what], errors)


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

    Notes
    -----
    Counts need not be whole, see `from_rates`. `speaker_errors` weighs conditions.

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
        counts = {
            name: check.as_nonnegative(value, name) for name, value in attrs.asdict(self).items()
        }
        for name, total_name in (("misses", "n_tar"), ("false_alarms", "n_non")):
            errors, total = counts[name], counts[total_name]
            if total < 1:
                raise check.invalid(total_name, "be at least 1", f"{total:g}")
            if errors > total:
                hint = "The order is misses, n_tar, false_alarms, n_non."
                raise check.invalid(
                    name, f"not exceed `{total_name}`, {total:g}", f"{errors:g}", hint
                )
        both = counts["misses"], counts["false_alarms"]
        if 0.0 < max(both) < 1.0:
            # Weighted trials may have fractions of errors, but hardly fewer than one of both kinds.
            finding = f"{both[0]:g} misses and {both[1]:g} false alarms look like rates."
            warn_caller(finding, SuspectScoresWarning, "ErrorCounts.from_rates takes rates.")

    @classmethod
    def from_rates(cls, pmiss: float, n_tar: float, pfa: float, n_non: float) -> "ErrorCounts":
        """Make counts from error-rates, as they are printed in papers.

        Parameters
        ----------
        pmiss, n_tar, pfa, n_non : float
            Rates, fractions in [0, 1], each followed by the number of trials.

        Returns
        -------
        ErrorCounts
            With counts that need not be whole.
        """
        for name, rate in (("pmiss", pmiss), ("pfa", pfa)):
            if not 0.0 <= as_threshold(rate, name) <= 1.0:
                hint = "Percentages must be divided by 100."
                raise check.invalid(name, "lie in [0, 1]", check.describe(rate), hint)
        return cls(pmiss * n_tar, n_tar, pfa * n_non, n_non)

    @classmethod
    def at_threshold(
        cls, tar: npt.ArrayLike, non: npt.ArrayLike, threshold: float
    ) -> "ErrorCounts":
        """Count the errors of two lists of scores.

        Parameters
        ----------
        tar, non, threshold
            As for `Decisions.at_threshold`.

        Returns
        -------
        ErrorCounts
        """
        return Decisions.at_threshold(tar, non, threshold).counts

    @classmethod
    def from_scores(cls, scores: AnyScores, key: KeyLike, threshold: float) -> "ErrorCounts":
        """Count the errors of a system on the trials of a key.

        Parameters
        ----------
        scores, key, threshold
            As for `Decisions.from_scores`, but trials may lack scores.

        Returns
        -------
        ErrorCounts

        Warns
        -----
        MissingTrialsWarning
            If trials of the key have no scores; they are left out.
        """
        key, _ = split_key(key)
        return cls.at_threshold(*class_scores(scores, key, any_order=True), threshold)

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
    decisions = check.as_mask(values, name)
    if decisions.ndim != 1:
        raise check.invalid(name, "be one-dimensional", check.describe(decisions))
    check.check_not_empty(decisions, name)
    return read_only(decisions)


@attrs.frozen(init=False, eq=False, repr=False)
class Decisions:
    r"""What a system decided on each trial; two systems on the same trials can be paired.

    Parameters
    ----------
    tar_accepted : (n_tar,) array_like of bool
        For each target trial, whether it was accepted.
    non_accepted : (n_non,) array_like of bool
        For each non-target trial, whether it was accepted, wrongly.
    tar_conditions, non_conditions, condition_weights
        Conditions of the trials, as for `bootstrap`; error-rates and costs are then weighted.

    Notes
    -----
    With conditions, :math:`P_{miss} = \sum_\alpha w_\alpha N^\alpha_{tar}(F) / N^\alpha_{tar}`
    and :math:`P_{FA} = \sum_\alpha w_\alpha N^\alpha_{non}(T) / N^\alpha_{non}`: van Leeuwen 2008,
    equations (3) to (6); as weights of trials they are equation (19).

    Examples
    --------
    >>> decisions = Decisions.at_threshold([1.0, 3.0], [0.0, 2.0], threshold=1.5)
    >>> decisions.counts
    ErrorCounts: 1 of 2 targets missed, 1 of 2 non-targets accepted
    """

    tar_accepted: BoolArray
    non_accepted: BoolArray
    _strata: TrialStrata

    def __init__(
        self,
        tar_accepted: npt.ArrayLike,
        non_accepted: npt.ArrayLike,
        *,
        tar_conditions: npt.ArrayLike | None = None,
        non_conditions: npt.ArrayLike | None = None,
        condition_weights: Mapping[Any, float] | None = None,
    ) -> None:
        tar = _to_decisions(tar_accepted, "tar_accepted")
        non = _to_decisions(non_accepted, "non_accepted")
        groups = tar_conditions, non_conditions, condition_weights
        self.__attrs_init__(tar, non, TrialStrata.from_labels(*groups, (tar.size, non.size)))

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
        """
        limit = as_threshold(threshold, "threshold")
        return cls(
            *(~rejected(scores, limit) for scores in ListedSample.from_scores(tar, non).lists)
        )

    @classmethod
    def from_trials(
        cls,
        models: IdList,
        segments: IdList,
        accepted: npt.ArrayLike,
        key: KeyLike,
        *,
        conditions: Conditions | None = None,
    ) -> "Decisions":
        """Take the decisions that a system has made on the trials of a key.

        Parameters
        ----------
        models, segments : (k,) array_like of str
            Model and test segment of each trial.
        accepted : (k,) array_like of bool
            Whether the system accepted it.
        key : Key or FlatKey, or pair (key, metadata)
            Which trials are targets and which non-targets; each needs a decision.
        conditions : Conditions, optional
            Weights of conditions; each trial is of one.

        Returns
        -------
        Decisions

        Raises
        ------
        TrialMismatchError
            If a trial of the key has no decision, or none of the conditions.

        See Also
        --------
        bosaris_py.read_scores : Its option ``decision`` reads a column of decisions.

        Examples
        --------
        >>> import bosaris_py as bp
        >>> same = [[True, False], [False, True]]
        >>> key = bp.Key(["a", "b"], ["s", "t"], tar=same, non=same[::-1])
        >>> accepted = [True, False, True, False]
        >>> found = Decisions.from_trials(["a", "a", "b", "b"], ["s", "t", "s", "t"], accepted, key)
        >>> found.pmiss, found.pfa, found.cost(bp.OperatingPoint(0.5))
        (0.5, 0.5, 0.5)
        """
        decided = check.as_mask(accepted, "accepted").astype(np.float64)
        scores = FlatScores.from_trials(models, segments, decided)
        return cls.from_scores(scores, key, 0.5, conditions=conditions)

    @classmethod
    def from_scores(
        cls,
        scores: AnyScores,
        key: KeyLike,
        threshold: float,
        *,
        conditions: Conditions | None = None,
    ) -> "Decisions":
        """Decide all trials of a key, column by column.

        Parameters
        ----------
        scores : Scores or FlatScores
            Scores of the system, one for every trial of `key`.
        key : Key or FlatKey, or pair (key, metadata)
            Which trials are targets and which non-targets.
        threshold : float
            Accept iff score >= threshold.
        conditions : Conditions, optional
            Weights of conditions, for error-rates and costs; each trial is of one.

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
        key, _ = split_key(key)
        tar, non = class_scores(scores, key)
        missing = key.n_trials - tar.size - non.size
        if missing:
            raise TrialMismatchError(
                f"`scores` must have a score for every trial of the key; "
                f"{missing} of {key.n_trials} have none. Filter the key, or decide what a "
                "missing score means with scores.set_missing_to_value."
            )
        if conditions is None:
            return cls.at_threshold(tar, non, threshold)
        sample = ListedSample.of(scores, key, conditions)
        if sample.tar.is_repeated or sample.non.is_repeated:
            raise check.invalid("conditions", "not overlap", "trials in several conditions")
        found, limit = cls.__new__(cls), as_threshold(threshold, "threshold")
        accepted = [mark_read_only(~rejected(part, limit)) for part in sample.lists]
        found.__attrs_init__(accepted[0], accepted[1], sample.strata)
        return found

    @property
    def is_weighted(self) -> bool:
        """Whether conditions have weights."""
        return not self._strata.is_single

    @property
    def pmiss(self) -> float:
        """Miss rate, the conditions weighted."""
        return self._strata.tar.mean(~self.tar_accepted)

    @property
    def pfa(self) -> float:
        """False-alarm rate, the conditions weighted."""
        return self._strata.non.mean(self.non_accepted)

    def cost(self, cost: Prices, *, normalize: bool | None = None) -> float:
        """Return the detection cost of the decisions, the conditions weighted.

        Parameters
        ----------
        cost : OperatingPoint or DCF
            Prior and costs; a threshold plays no part.
        normalize : bool, optional
            Divide by the cost of the better decision made without a detector; by default what
            `cost` says, if anything.

        Returns
        -------
        float
            C_det of van Leeuwen 2008, equation (20).
        """
        miss, alarm = prices_of(cost, normalize=normalize)
        return miss * self.pmiss + alarm * self.pfa

    @property
    def counts(self) -> ErrorCounts:
        """The number of errors of each kind."""
        # Python integers: numpy's would change how results are printed.
        misses, n_tar = int(np.count_nonzero(~self.tar_accepted)), self.tar_accepted.size
        false_alarms, n_non = int(np.count_nonzero(self.non_accepted)), self.non_accepted.size
        return ErrorCounts(misses, n_tar, false_alarms, n_non)

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
        for name, value in attrs.asdict(self).items():
            check.as_nonnegative(value, name)
        for name, total, parts in (
            ("n_tar", self.n_tar, self.missed_by_a + self.missed_by_b),
            ("n_non", self.n_non, self.accepted_by_a + self.accepted_by_b),
        ):
            if total < max(1, parts):
                expected = "be at least 1 and at least the number of disagreements"
                raise check.invalid(name, expected, f"{total:g}")

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
        TrialMismatchError
            If they are not on equally many trials of each class.
        """
        pair: tuple[tuple[str, object], ...] = (("a", a), ("b", b))
        for name, value in pair:
            if not isinstance(value, Decisions):
                hint = "Counts of errors do not tell on which trials systems disagree."
                raise check.invalid(name, "be Decisions", check.describe(value), hint)
        sizes = [(d.tar_accepted.size, d.non_accepted.size) for d in (a, b)]
        if sizes[0] != sizes[1]:
            message = (
                "`a` and `b` must be decisions on the same trials; "
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


# Intervals of one error-rate.

Method = Literal["wilson", "normal", "jeffreys", "clopper-pearson"]


def error_rate_interval(
    errors: float,
    trials: float,
    *,
    confidence: float = 0.95,
    method: Method = "wilson",
    effective_trials: float | None = None,
) -> Interval:
    r"""Compute a confidence interval of a miss rate or a false-alarm rate.

    Parameters
    ----------
    errors : float
        Number of errors.
    trials : float
        Number of trials that could have been errors.
    confidence : float, default: 0.95
        Strictly between 0 and 1.
    method : {"wilson", "normal", "jeffreys", "clopper-pearson"}, default: "wilson"
        "normal" is equation (12) of [1]_: rate -+ z SE, not clipped; too short with fewer than
        30 errors. The others lie within [0, 1] and are good for few errors, too [2]_: where one
        error or more is expected 95 % intervals of "wilson" cover 91 % and more, those of
        "jeffreys" 88 %. Of rates so small that most experiments show no error, "wilson" covers 84 %
        at the least; "clopper-pearson" always covers at least as often as it says.
    effective_trials : float, optional
        Number of independent trials that would measure the rate as well as the
        dependent ones do [3]_; by default `trials`.

    Returns
    -------
    Interval
        With the standard error :math:`\sqrt{p(1-p)/n}`, a fraction like the rate.

    Warns
    -----
    FewErrorsWarning
        If the rate rests on fewer than 30 errors.

    See Also
    --------
    jeffreys_interval, wilson_interval : The formulas of the other methods.

    References
    ----------
    .. [1] S. Bengio and J. Mariethoz, "A statistical significance test for person
       authentication", Odyssey 2004.
    .. [2] L. D. Brown, T. T. Cai and A. DasGupta, "Interval estimation for a binomial
       proportion", Statistical Science 16, 2001, doi:10.1214/ss/1009213286.
    .. [3] R. Fogliato, P. Patil and P. Perona, "Confidence intervals for error rates in 1:1
       matching tasks", International Journal of Computer Vision, 2024, arXiv:2306.01198.

    Examples
    --------
    >>> error_rate_interval(100, 1000)
    0.1 (95 % interval 0.08291 to 0.1202, standard error 0.0095; Wilson)
    >>> error_rate_interval(100, 1000, method="normal")
    0.1 (95 % interval 0.08141 to 0.1186, standard error 0.0095; normal)
    """
    check.check_choice(method, Method, "method")
    size = _as_count(trials, "trials")
    wrong = check.as_nonnegative(errors, "errors") and _as_count(errors, "errors")
    if wrong > size:
        hint = "The order is errors, trials."
        raise check.invalid("errors", f"not exceed `trials`, {size:g}", f"{wrong:g}", hint)
    rate = wrong / size
    n = size if effective_trials is None else as_positive(effective_trials, "effective_trials")
    level = check.check_fraction(confidence, "confidence")
    check_few_errors(wrong, "error-rate")
    return _rate_interval(rate, n, method, level)


def _rate_interval(rate: float, n: float, method: Method, level: float) -> Interval:
    """Return the interval of a rate of n trials, see `error_rate_interval`."""
    spread = math.sqrt(rate * (1.0 - rate) / n)
    if method == "normal":
        # Bengio and Mariethoz, equation 12.
        return normal_interval(rate, spread, level, method)
    if method != "wilson":
        # Equal-tailed quantiles of Beta(k + 1/2, n - k + 1/2) for k errors; of Clopper and Pearson
        # Beta(k, n - k + 1) and Beta(k + 1, n - k). The effective number of trials takes the
        # place of n, so k is in proportion to it.
        k = rate * n
        shift = 0.5 * (method == "clopper-pearson")
        tail = 0.5 - 0.5 * level
        below = max(k + 0.5 - shift, 0.0), n - k + 0.5 + shift
        above = k + 0.5 + shift, max(n - k + 0.5 - shift, 0.0)
        low = float(scipy.special.betaincinv(*below, tail)) if below[0] else 0.0
        high = float(scipy.special.betainccinv(*above, tail)) if above[1] else 1.0
    else:
        # The solutions p of (rate - p)^2 = z^2 p (1 - p) / n.
        z = float(scipy.special.ndtri(0.5 + 0.5 * level))
        shrunk = 1.0 + z * z / n
        centre = (rate + z * z / (2.0 * n)) / shrunk
        half = z / shrunk * math.sqrt(rate * (1.0 - rate) / n + (z / (2.0 * n)) ** 2)
        low, high = centre - half, centre + half
    # Without errors, or with errors only, the end is exact by definition (Jeffreys) or
    # missed by rounding only (Wilson).
    low, high = 0.0 if rate == 0 else low, 1.0 if rate == 1 else high
    remade = functools.partial(_rate_interval, rate, n, method)
    return Interval(rate, low, high, spread, level, method.title(), remade)


def jeffreys_interval(
    errors: float, trials: float, *, confidence: float = 0.95, effective_trials: float | None = None
) -> Interval:
    r"""Compute Jeffreys' interval of an error-rate: good also for very few errors.

    Parameters
    ----------
    errors, trials, confidence, effective_trials
        As for `error_rate_interval`, which has references, errors and warnings.

    Returns
    -------
    Interval
        Within [0, 1]; the lower end is 0 if there are no errors, the upper end 1
        if there are only errors.

    Notes
    -----
    The equal-tailed quantiles of :math:`\mathrm{Beta}(k+\frac12, n-k+\frac12)`, with
    :math:`k` errors in :math:`n` trials. With few errors the 95 % interval covers less in places:
    90.4 % where 2.5 errors are expected, 89.8 % where 0.11 are; of 100 trials 88.0 %.

    Examples
    --------
    >>> jeffreys_interval(40, 1000)
    0.04 (95 % interval 0.02915 to 0.0535, standard error 0.0062; Jeffreys)
    """
    return error_rate_interval(
        errors, trials, confidence=confidence, method="jeffreys", effective_trials=effective_trials
    )


def wilson_interval(
    errors: float, trials: float, *, confidence: float = 0.95, effective_trials: float | None = None
) -> Interval:
    r"""Compute Wilson's interval of an error-rate: the rates that a z-test would not reject.

    Parameters
    ----------
    errors, trials, confidence, effective_trials
        As for `error_rate_interval`, which has references, errors and warnings.

    Returns
    -------
    Interval
        Within [0, 1].

    Notes
    -----
    The solutions :math:`p` of :math:`(\hat p - p)^2 = z^2 p (1-p) / n`.

    Examples
    --------
    >>> wilson_interval(40, 1600)
    0.025 (95 % interval 0.01841 to 0.03386, standard error 0.0039; Wilson)
    """
    return error_rate_interval(
        errors, trials, confidence=confidence, method="wilson", effective_trials=effective_trials
    )


def rule_of_30(trials: float) -> float:
    """Return the smallest error-rate that so many trials can measure: that of 30 errors.

    With 90 % confidence the true rate is then within 30 % of the observed one, of independent
    trials: Doddington et al., Speech Communication 31, 2000, doi:10.1016/S0167-6393(99)00080-1.

    Parameters
    ----------
    trials : float
        Number of trials that can be this error, positive: targets, or non-targets.

    Returns
    -------
    float
        30 / trials; above 1 if there are fewer than 30 trials.

    Examples
    --------
    >>> rule_of_30(3000)
    0.01
    """
    return FEWEST_ERRORS / _as_count(trials, "trials")


# Intervals and tests of weighted sums of both error-rates.

IntervalMethod = Literal["hter", "naive", "class"]
DCFTestMethod = Literal["independent", "dependent", "stricter"]
TestMethod = Literal["independent", "dependent", "stricter", "naive", "class"]

_HALVES = (0.5, 0.5)


def hter_interval(
    errors: ErrorCounts | Decisions, *, confidence: float = 0.95, method: IntervalMethod = "hter"
) -> Interval:
    r"""Compute the confidence interval of a half total error rate.

    Parameters
    ----------
    errors : ErrorCounts or Decisions
        Errors of the system, such as ``ErrorCounts.from_scores(scores, key, threshold)``.
    confidence : float, default: 0.95
        Strictly between 0 and 1.
    method : {"hter", "naive", "class"}, default: "hter"
        "hter" is equation (13) of [1]_. "naive" (18) takes the HTER for the error-rate of all
        trials, "class" (17) is the interval of the classification error: often far too narrow.

    Returns
    -------
    Interval
        Centred at the HTER ("class": at the classification error), a fraction;
        symmetric, not clipped to [0, 1].

    Warns
    -----
    FewErrorsWarning
        If one of the rates rests on fewer than 30 errors.

    Notes
    -----
    .. math::

        \sigma^2 = \frac{P_{fa}(1-P_{fa})}{4 N} + \frac{P_{miss}(1-P_{miss})}{4 T}

    for :math:`T` targets and :math:`N` non-targets. The normal quantile is exact
    where the paper rounds it to 1.645, 1.960 or 2.576.

    References
    ----------
    .. [1] S. Bengio and J. Mariethoz, "A statistical significance test for person
       authentication", Odyssey 2004.

    Examples
    --------
    >>> errors = ErrorCounts(misses=559, n_tar=5825, false_alarms=7565, n_non=57748)
    >>> hter_interval(errors)
    0.1135 (95 % interval 0.1095 to 0.1175, standard error 0.0021; hter)
    """
    check.check_choice(method, IntervalMethod, "method")
    counts = _counts_of(errors, "errors")
    centre, variance = _estimate(counts, _HALVES, method)
    interval = normal_interval(centre, math.sqrt(variance), confidence, method)
    return _opened(interval, counts, _HALVES) if method == "hter" else interval


def dcf_interval(
    errors: ErrorCounts | Decisions,
    cost: Prices,
    *,
    confidence: float = 0.95,
    normalize: bool | None = None,
) -> Interval:
    r"""Compute the confidence interval of a detection cost.

    Parameters
    ----------
    errors
        As for `hter_interval`.
    cost : OperatingPoint or DCF
        Prior and costs; anything with attributes p_target, c_miss and c_fa.
    confidence : float, default: 0.95
        Strictly between 0 and 1.
    normalize : bool, optional
        Divide by the cost of the better decision made without a detector. By default what `cost`
        says, if it has such an attribute, else False.

    Returns
    -------
    Interval
        Centred at the DCF; symmetric, not clipped. Errors and warnings are those of
        `hter_interval`.

    Notes
    -----
    Equation (14) of Bengio and Mariethoz for any prior and costs:

    .. math::

        \sigma^2 = a^2 \frac{P_{miss}(1-P_{miss})}{T} + b^2 \frac{P_{fa}(1-P_{fa})}{N}

    Examples
    --------
    >>> from bosaris_py.numerics import OperatingPoint
    >>> errors = ErrorCounts(misses=559, n_tar=5825, false_alarms=7565, n_non=57748)
    >>> dcf_interval(errors, OperatingPoint(p_target=0.01, c_miss=10, c_fa=1))
    0.1393 (95 % interval 0.1365 to 0.1421, standard error 0.0014; dcf)
    """
    prices = prices_of(cost, normalize=normalize)
    counts = _counts_of(errors, "errors")
    centre, variance = _estimate(counts, prices, "dcf")
    return _opened(normal_interval(centre, math.sqrt(variance), confidence, "dcf"), counts, prices)


def _opened(interval: Interval, counts: ErrorCounts, prices: tuple[float, float]) -> Interval:
    """Widen an interval by what no errors, or nothing but errors, leave open."""
    tail = 0.5 - 0.5 * interval.confidence
    low, high = (unseen_part(rates, tail) for rates in _left_open(counts, prices))
    below = math.hypot(interval.estimate - interval.low, low)
    above = math.hypot(interval.high - interval.estimate, high)
    ends = interval.estimate - below, interval.estimate + above
    remade = functools.partial(_opened_at, interval, counts, prices)
    return attrs.evolve(interval, low=ends[0], high=ends[1], remade=remade)


def _opened_at(
    interval: Interval, counts: ErrorCounts, prices: tuple[float, float], confidence: float
) -> Interval:
    """Widen the same interval with another confidence."""
    assert interval.remade is not None
    return _opened(interval.remade(confidence), counts, prices)


def _left_open(counts: ErrorCounts, prices: tuple[float, float]) -> tuple[LeftOpen, LeftOpen]:
    """Return the rates that may be lower, being 1, and those that may be higher, being 0."""
    pairs = (counts.misses, counts.n_tar), (counts.false_alarms, counts.n_non)
    rates = [(price, *pair) for price, pair in zip(prices, pairs, strict=True)]
    low, high = (tuple((p, n) for p, k, n in rates if k == n * ends) for ends in (1, 0))
    return low, high


def hter_z_test(
    a: ErrorCounts | Decisions | Disagreements,
    b: ErrorCounts | Decisions | None = None,
    *,
    method: TestMethod | None = None,
    alternative: Alternative = "two-sided",
) -> ZTest:
    r"""Test if the half total error rates of two systems differ.

    Parameters
    ----------
    a, b : ErrorCounts or Decisions
        Errors of the two systems. The dependent test needs two `Decisions` on the same trials,
        or `Disagreements` as `a` alone.
    method : {"independent", "dependent", "stricter", "naive", "class"}, optional
        "independent" is equation (15) of the paper, "dependent" (16). By default "dependent" where
        it is known on which trials systems disagree, "independent" for counts of errors.
        "stricter" is whichever of the two has the larger standard error, as the paper
        recommends. "naive" (18) and "class" (17), see `hter_interval`, are there for
        comparison and report differences that do not exist.
    alternative : {"two-sided", "less", "greater"}, default: "two-sided"
        Whether any difference counts, or only a first system that is better ("less") or worse
        ("greater").

    Returns
    -------
    ZTest
        With the difference a - b; its `confidence`, 1 - p, is the paper's delta. Where nothing
        varies, p is 1 and `interval` counts each rate without errors, or without disagreements, of
        n trials with :math:`1 - (\alpha/2)^{1/n}`; not with "naive" and "class".

    Raises
    ------
    TrialMismatchError
        If decisions are not on equally many trials.

    Warns
    -----
    FewErrorsWarning
        If one of the rates rests on fewer than 30 errors; in the dependent test,
        if systems disagree on fewer than 30 trials of a class.

    Notes
    -----
    With :math:`n_A` targets that only A misses and :math:`m_A` non-targets that
    only A accepts, in the dependent case

    .. math::

        \mathrm{HTER}_A - \mathrm{HTER}_B = \frac{n_A - n_B}{2T} + \frac{m_A - m_B}{2N},
        \qquad \sigma^2 = \frac{n_A + n_B}{4T^2} + \frac{m_A + m_B}{4N^2}.

    Figure 2 of Bengio and Mariethoz, see `hter_interval`, leaves out the factor 1/2, which would
    double z. Their tables 3 and 6 agree with the formula above.

    Examples
    --------
    >>> c = ErrorCounts.from_rates(pmiss=0.096, n_tar=5825, pfa=0.131, n_non=57748)
    >>> d = ErrorCounts.from_rates(pmiss=0.078, n_tar=5825, pfa=0.158, n_non=57748)
    >>> hter_z_test(c, d)
    difference -0.0045, standard error 0.0028, z -1.6, p 0.109 (two-sided; independent)
    """
    chosen = _chosen_method(a, b) if method is None else method
    check.check_choice(chosen, TestMethod, "method")
    return _z_test(a, b, _HALVES, chosen, alternative)


def dcf_z_test(
    a: ErrorCounts | Decisions | Disagreements,
    b: ErrorCounts | Decisions | None,
    cost: Prices,
    *,
    method: DCFTestMethod | None = None,
    alternative: Alternative = "two-sided",
    normalize: bool | None = None,
) -> ZTest:
    """Test if the detection costs of two systems differ: `hter_z_test` for any prior and costs.

    Parameters
    ----------
    a, b : ErrorCounts or Decisions
        Errors of the two systems, as for `hter_z_test`; `Disagreements` as `a` and None as `b`.
    cost : OperatingPoint or DCF
        Prior and costs, as for `dcf_interval`.
    method, alternative
        As for `hter_z_test`, without "naive" and "class".
    normalize
        As for `dcf_interval`.

    Returns
    -------
    ZTest
        With the difference a - b. Errors and warnings are those of `hter_z_test`.

    Notes
    -----
    Equations (15) and (16) of Bengio and Mariethoz, extended as their footnote 4 says.

    Examples
    --------
    >>> c = ErrorCounts.from_rates(pmiss=0.096, n_tar=5825, pfa=0.131, n_non=57748)
    >>> d = ErrorCounts.from_rates(pmiss=0.078, n_tar=5825, pfa=0.158, n_non=57748)
    >>> from bosaris_py import OperatingPoint
    >>> dcf_z_test(c, d, OperatingPoint(0.2, 1, 1))
    difference -0.018, standard error 0.002, z -9.2, p 3.49e-20 (two-sided; independent)
    """
    chosen = _chosen_method(a, b) if method is None else method
    check.check_choice(chosen, DCFTestMethod, "method")
    return _z_test(a, b, prices_of(cost, normalize=normalize), chosen, alternative)


def _chosen_method(a: object, b: object) -> Literal["dependent", "independent"]:
    """Return the test that makes the most of what is given."""
    paired = isinstance(a, Disagreements) or (isinstance(a, Decisions) and isinstance(b, Decisions))
    return "dependent" if paired else "independent"


def _counts_of(errors: object, name: str) -> ErrorCounts:
    if isinstance(errors, Decisions) and errors.is_weighted:
        hint = "bootstrap_scores(..., conditions=) has intervals of weighted costs."
        raise check.invalid(
            name, "be of trials that all count the same", "weights of conditions", hint
        )
    counts = errors.counts if isinstance(errors, Decisions) else errors
    if not isinstance(counts, ErrorCounts):
        hint = "See ErrorCounts.at_threshold, ErrorCounts.from_rates and Decisions."
        raise check.invalid(name, "be ErrorCounts or Decisions", check.describe(errors), hint)
    return counts


def _estimate(counts: ErrorCounts, prices: tuple[float, float], method: str) -> tuple[float, float]:
    """Return a weighted sum of the rates, or a rate of all trials, and its variance."""
    check_few_errors(counts.misses, "miss rate")
    check_few_errors(counts.false_alarms, "false-alarm rate")
    if method in ("naive", "class"):
        # [1] equation 17 (class), 18 (naive).
        rate = counts.error_rate if method == "class" else counts.hter
        return rate, rate * (1.0 - rate) / counts.n_trials
    # [1] equations 13 (HTER) and 14 (DCF).
    a, b = prices
    variance = a**2 * counts.pmiss * (1.0 - counts.pmiss) / counts.n_tar
    variance += b**2 * counts.pfa * (1.0 - counts.pfa) / counts.n_non
    return a * counts.pmiss + b * counts.pfa, variance


def _z_test(
    a: object, b: object, prices: tuple[float, float], method: str, alternative: Alternative
) -> ZTest:
    if method == "stricter":
        methods = ("independent", "dependent")
        tests = [_z_test(a, b, prices, each, alternative) for each in methods]
        return max(tests, key=lambda test: test.standard_error)
    if method == "dependent":
        pair = disagreements_of(a, b)
        misses = pair.missed_by_a + pair.missed_by_b
        alarms = pair.accepted_by_a + pair.accepted_by_b
        check_few_errors(misses, "difference of the miss rates")
        check_few_errors(alarms, "difference of the false-alarm rates")
        per_miss, per_alarm = prices[0] / pair.n_tar, prices[1] / pair.n_non
        difference = per_miss * (pair.missed_by_a - pair.missed_by_b)
        difference += per_alarm * (pair.accepted_by_a - pair.accepted_by_b)
        # [1] equation 16.
        variance = per_miss**2 * misses + per_alarm**2 * alarms
        # No less than if the sign of each disagreement is flipped.
        least_p = min(1.0, 2.0 ** (1.0 - min(misses + alarms, 1000.0)))
        rates: LeftOpen = ((prices[0], pair.n_tar), (prices[1], pair.n_non))
        left_open = rates, rates
    else:
        pair_of_counts = _counts_of(a, "a"), _counts_of(b, "b")
        (rate_a, variance_a), (rate_b, variance_b) = (
            _estimate(counts, prices, method) for counts in pair_of_counts
        )
        # [1] equation 15; unlike there, the systems may have been tested on other trials.
        difference, variance = rate_a - rate_b, variance_a + variance_b
        least_p = 0.0
        (low_a, high_a), (low_b, high_b) = (_left_open(each, prices) for each in pair_of_counts)
        left_open = low_a + high_b, high_a + low_b
        if variance == 0 and difference != 0:
            # No errors against nothing but errors: the variance if both systems are alike.
            counts_a, counts_b = pair_of_counts
            sums = (
                x + y for x, y in zip(attrs.astuple(counts_a), attrs.astuple(counts_b), strict=True)
            )
            _, pooled = _estimate(ErrorCounts(*sums), prices, method)
            # p (1 - p) (1 / n1 + 1 / n2), from p (1 - p) / (n1 + n2).
            variance = pooled * (counts_a.n_trials + counts_b.n_trials) ** 2
            variance /= counts_a.n_trials * counts_b.n_trials
    # A spread of some decisions says enough, and so does the p-value that the interval inverts.
    if variance > 0 or method in ("naive", "class"):
        left_open = (), ()
    error = math.sqrt(variance)
    return z_test(difference, error, alternative, method, least_p=least_p, left_open=left_open)
