r"""Intervals and tests of proportions: error-rates, half total error rates (HTER) and costs.

Trials are taken to be independent, so errors of the two classes are independent binomial numbers,
and a weighted sum of both rates is about normal [1]_:

.. math:: a P_{miss} + b P_{fa}, \quad
          \sigma^2 = a^2 \frac{P_{miss} (1 - P_{miss})}{T} + b^2 \frac{P_{fa} (1 - P_{fa})}{N}

for T targets and N non-targets. The HTER has a = b = 1/2, a detection cost (DCF) its prices. Where
trials share speakers, see `speaker_interval` and `compare_systems`.

A rate of 0 or 1 has no variance. Its n trials leave open that it is up to :math:`1 - t^{1/n}`
higher or lower, at the tail t: what Clopper and Pearson's interval says.

References
----------
.. [1] S. Bengio and J. Mariethoz, "A statistical significance test for person authentication",
   Odyssey 2004.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import attrs
import numpy as np
import scipy

from bosaris_py import _validation as check
from bosaris_py._arrays import ArrayLike, BoolArray, by_constructor, read_only
from bosaris_py.errors import FewErrorsWarning, Note, SuspectScoresWarning, TrialMismatchError, warn
from bosaris_py.metrics.costs import prices, to_points
from bosaris_py.numerics.priors import PriorLike
from bosaris_py.numerics.roc import FEWEST_ERRORS
from bosaris_py.trials import Conditions, Sample, Scores
from bosaris_py.trials.key import Key, as_key
from bosaris_py.uncertainty.estimate import Estimate, student_quantile, student_tails

# A number of targets and one of non-targets; a miss rate and a false-alarm rate; their prices.
Pair = tuple[float, float]

# What a test or an interval is of.
Errors: TypeAlias = "ErrorCounts | Decisions"

RateMethod = Literal["wilson", "normal"]
IntervalMethod = Literal["hter", "naive", "class"]
DCFTest = Literal["independent", "dependent", "stricter"]
TestMethod = Literal["independent", "dependent", "stricter", "naive", "class"]
McNemarMethod = Literal["exact", "mid-p", "chi2", "corrected"]
Classes = Literal["both", "tar", "non"]

_ADVICE = (
    f"With fewer than {FEWEST_ERRORS} errors a standard error is itself uncertain, and a normal "
    "interval too."
)
_HALVES = (0.5, 0.5)

# ---- Counts and decisions


@attrs.frozen
class ErrorCounts:
    """How many errors of each kind a system made, of how many trials.

    Parameters
    ----------
    misses : float
        Number of targets that were rejected.
    n_tar : float
        Number of targets, at least 1.
    false_alarms : float
        Number of non-targets that were accepted.
    n_non : float
        Number of non-targets, at least 1.

    Warns
    -----
    SuspectScoresWarning
        If both numbers of errors look like rates; see `from_rates`.

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
        """Raise if a class is empty, or errors exceed trials."""
        for wrong, total in (("misses", "n_tar"), ("false_alarms", "n_non")):
            n = check.as_number(getattr(self, total), total, "be 1 or more", _is_many)
            if check.as_nonnegative(number := getattr(self, wrong), wrong) > n:
                raise check.invalid(wrong, f"be at most `{total}`, {n:g}", f"{number:g}")
        if 0.0 < max(self.misses, self.false_alarms) < 1.0:
            text = f"{self.misses:g} misses and {self.false_alarms:g} false alarms look like rates."
            warn([Note(SuspectScoresWarning, text, advice="ErrorCounts.from_rates takes rates.")])

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
        hint = "Percentages must be divided by 100."
        for name, rate in (("pmiss", pmiss), ("pfa", pfa)):
            check.as_number(rate, name, "lie in [0, 1]", lambda x: 0.0 <= x <= 1.0, hint)
        for name, n in (("n_tar", n_tar), ("n_non", n_non)):
            check.as_number(n, name, "be 1 or more", _is_many)
        return cls(pmiss * n_tar, n_tar, pfa * n_non, n_non)

    @classmethod
    def at_threshold(cls, tar: ArrayLike, non: ArrayLike, threshold: float) -> "ErrorCounts":
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

    @property
    def rates(self) -> Pair:
        """Miss rate and false-alarm rate, equation (1): FRR and FAR in the paper."""
        return self.misses / self.n_tar, self.false_alarms / self.n_non

    @property
    def sizes(self) -> Pair:
        """Number of targets and of non-targets."""
        return self.n_tar, self.n_non

    @property
    def n_trials(self) -> float:
        """Number of trials of both classes."""
        return self.n_tar + self.n_non

    @property
    def pmiss(self) -> float:
        """Miss rate."""
        return self.rates[0]

    @property
    def pfa(self) -> float:
        """False-alarm rate."""
        return self.rates[1]

    @property
    def hter(self) -> float:
        """Half total error rate, equation (3): (pmiss + pfa) / 2."""
        return 0.5 * (self.pmiss + self.pfa)


def _is_many(number: float) -> bool:
    return 1.0 <= number < math.inf


def _as_array(values: ArrayLike) -> BoolArray:
    return read_only(np.asarray(values))


def _check_decisions(_: object, field: "attrs.Attribute[BoolArray]", values: BoolArray) -> None:
    if values.dtype != np.bool_ or values.ndim != 1 or not values.size:
        expected = "be a list of truth values, not empty"
        raise check.invalid(field.name, expected, check.describe(values))


@attrs.frozen(eq=False, repr=False)
class Decisions:
    r"""What a system decided on each trial; those of two systems on the same trials are paired.

    Parameters
    ----------
    tar_accepted : (n_tar,) array_like of bool
        Whether each target was accepted.
    non_accepted : (n_non,) array_like of bool
        Whether each non-target was accepted, wrongly.
    weighted_rates : (float, float), optional
        Miss rate and false-alarm rate where conditions have weights; see `from_scores`.

    Examples
    --------
    >>> decisions = Decisions.at_threshold([1.0, 3.0], [0.0, 2.0], threshold=1.5)
    >>> decisions.counts
    ErrorCounts(misses=1, n_tar=2, false_alarms=1, n_non=2)
    >>> decisions.cost(0.5)
    1.0
    """

    tar_accepted: BoolArray = attrs.field(converter=_as_array, validator=_check_decisions)
    non_accepted: BoolArray = attrs.field(converter=_as_array, validator=_check_decisions)
    weighted_rates: Pair | None = attrs.field(default=None, kw_only=True)

    __reduce__ = by_constructor

    @classmethod
    def at_threshold(cls, tar: ArrayLike, non: ArrayLike, threshold: float) -> "Decisions":
        """Decide two lists of scores.

        Parameters
        ----------
        tar, non : (n,) array_like of float
            Scores of the two classes; no NaN, +-inf allowed.
        threshold : float
            Accept iff score >= threshold.

        Returns
        -------
        Decisions
        """
        return cls._decided(Sample.from_scores(tar, non), threshold)

    @classmethod
    def from_scores(
        cls, scores: Scores, key: Key, threshold: float, *, conditions: Conditions | None = None
    ) -> "Decisions":
        r"""Decide all trials of a key, column by column.

        Hard decisions, as submitted, are scores of 0 and 1: their threshold is 0.5.

        Parameters
        ----------
        scores : Scores
            Scores of the system, one for every trial of the key.
        key : Key
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
            If a trial of the key has no score: decisions of two systems that lack different trials
            would be paired wrongly.

        Notes
        -----
        With conditions, :math:`P_{miss} = \sum_\alpha w_\alpha N^\alpha_{tar}(F) /
        N^\alpha_{tar}` and :math:`P_{fa}` likewise: van Leeuwen 2008, equations (3) to (6). As
        masses of trials they are equation (19).
        """
        key = as_key(key).bona_fide()
        sample, n_trials = Sample.from_trials(scores, key), key.n_trials
        missing = n_trials - sample.tar.size - sample.non.size
        if missing:
            raise TrialMismatchError(
                f"`scores` must have a score for every trial of the key; {missing} of {n_trials} "
                "have none. Filter the key, or decide what a missing score means with "
                "scores.set_missing_to_value."
            )
        found = cls._decided(sample, threshold)
        if conditions is None:
            return found
        weighted = Sample.from_trials(scores, key, conditions)
        if weighted.tar.size + weighted.non.size > n_trials:
            raise check.invalid("conditions", "not overlap", "trials in several conditions")
        warn(weighted.notes)
        pmiss, pfa = weighted.rates(threshold)
        return attrs.evolve(found, weighted_rates=(float(pmiss), float(pfa)))

    @classmethod
    def _decided(cls, sample: Sample, threshold: float) -> "Decisions":
        limit = check.as_number(threshold, "threshold", "not be NaN", lambda x: not math.isnan(x))
        # numpy would round a Python float to the type of float32 scores.
        return cls(*(one.listed >= np.float64(limit) for one in (sample.tar, sample.non)))

    @property
    def counts(self) -> ErrorCounts:
        """The number of errors of each kind; trials count one each."""
        misses, alarms = (int(np.count_nonzero(wrong)) for wrong in self.errors)
        return ErrorCounts(misses, self.tar_accepted.size, alarms, self.non_accepted.size)

    @property
    def errors(self) -> tuple[BoolArray, BoolArray]:
        """Which targets were missed, and which non-targets accepted."""
        return ~self.tar_accepted, self.non_accepted

    @property
    def pmiss(self) -> float:
        """Miss rate, the conditions weighted."""
        return (self.weighted_rates or self.counts.rates)[0]

    @property
    def pfa(self) -> float:
        """False-alarm rate, the conditions weighted."""
        return (self.weighted_rates or self.counts.rates)[1]

    def cost(self, prior: PriorLike, *, normalize: bool = True) -> float:
        """Return the detection cost of the decisions, the conditions weighted.

        Parameters
        ----------
        prior : float, OperatingPoint or sequence of them
            Probability of a target with unit costs, or an operating point; of several the mean
            cost.
        normalize : bool, default: True
            Divide by the cost of the better decision made without a detector.

        Returns
        -------
        float
            Van Leeuwen 2008, equation (20).
        """
        miss, alarm = _prices(prior, normalize=normalize)
        return miss * self.pmiss + alarm * self.pfa

    def __repr__(self) -> str:
        """Show the number of trials and errors."""
        return f"Decisions on {self.counts.n_trials:g} trials; {self.counts}"


def _prices(prior: PriorLike, *, normalize: bool) -> Pair:
    """Return the price of a miss rate and of a false-alarm rate of 1."""
    points = prices(to_points(prior), normalize=check.as_flag(normalize))
    return sum(miss for _, miss, _ in points), sum(alarm for _, _, alarm in points)


def _as_counts(errors: object, name: str) -> ErrorCounts:
    match errors:
        case ErrorCounts():
            return errors
        case Decisions(weighted_rates=None):
            return errors.counts
    expected = "be ErrorCounts, or Decisions of trials that all count the same"
    raise check.invalid(name, expected, check.describe(errors))


# ---- The normal law, and what decisions without variation leave open


@attrs.frozen
class NormalLaw:
    """A number with a normal error, and what decisions without any variation leave open."""

    value: float
    variance: float
    # The price and the number of trials of the rates that may be lower, and that may be higher.
    low: Sequence[Pair] = ()
    high: Sequence[Pair] = ()
    # The least two-sided p-value of a difference of 0.
    least_p: float = 0.0

    def ends(self, tail: float) -> tuple[float, float]:
        """Return both ends, each passed by the truth in `tail` of experiments."""
        half = student_quantile(math.inf, tail) * math.sqrt(self.variance)
        # Each rate without errors is at most 1 - tail^(1/n).
        below, above = (
            sum(-price * math.expm1(math.log(tail) / n) for price, n in rates)
            for rates in (self.low, self.high)
        )
        low, high = self.value - math.hypot(half, below), self.value + math.hypot(half, above)
        return (min(low, 0.0), max(high, 0.0)) if 2.0 * tail <= self.least_p else (low, high)

    def tails(self, against: float) -> tuple[float, float]:
        """Return the chances of a number at most, and at least, as large if the truth is known."""
        tails = student_tails(self.value, math.sqrt(self.variance), math.inf, against)
        is_between = min(0.0, self.value) <= against <= max(0.0, self.value)
        least = 0.5 * self.least_p if is_between else 0.0
        return max(tails[0], least), max(tails[1], least)

    def estimate(
        self, method: str, notes: Sequence[Note] = (), confidence: float = 0.95
    ) -> Estimate:
        """Return the estimate; where ends are open, p-values invert the interval."""
        level, error = check.check_fraction(confidence, "confidence"), math.sqrt(self.variance)
        found = Estimate.from_error(
            self.value, error, confidence=level, method=method, notes=tuple(notes)
        )
        tails = None if self.low or self.high else self.tails
        return attrs.evolve(found, ends=self.ends, tails=tails)


def notes_of_few(errors: Mapping[str, float]) -> list[Note]:
    """Note rates that rest on fewer than 30 errors, the rule of 30."""
    rare = {f"The {x} rests on {n:.3g} errors.": n for x, n in errors.items() if n < FEWEST_ERRORS}
    return [Note(FewErrorsWarning, text, count=n, advice=_ADVICE) for text, n in rare.items()]


def _notes(counts: ErrorCounts) -> list[Note]:
    return notes_of_few({"miss rate": counts.misses, "false-alarm rate": counts.false_alarms})


def _warned(found: Estimate) -> Estimate:
    warn(found.notes)
    return found


# ---- Intervals


def error_rate_interval(
    errors: float, trials: float, *, confidence: float = 0.95, method: RateMethod = "wilson"
) -> Estimate:
    r"""Compute a confidence interval of a miss rate or a false-alarm rate.

    Parameters
    ----------
    errors : float
        Number of errors: 0, or from 1 to `trials`.
    trials : float
        Number of trials that could have been errors.
    confidence : float, default: 0.95
        Strictly between 0 and 1.
    method : {"wilson", "normal"}, default: "wilson"
        "normal" has the variance of equation (12) of [1]_ and is not clipped; too short with fewer
        than 30 errors. "wilson" is good for few errors, too [2]_: where one error or more is
        expected, 95 % intervals cover 91 % and more, and 84 % at the least.

    Returns
    -------
    Estimate
        With the standard error :math:`\sqrt{p(1-p)/n}`, a fraction like the rate.

    Warns
    -----
    FewErrorsWarning
        If the rate rests on fewer than 30 errors.

    Notes
    -----
    The ends of Wilson's interval are the solutions :math:`p` of
    :math:`(\hat p - p)^2 = z^2 p (1-p) / n`: the rates that a z-test would not reject.

    References
    ----------
    .. [1] S. Bengio and J. Mariethoz, "A statistical significance test for person
       authentication", Odyssey 2004.
    .. [2] L. D. Brown, T. T. Cai and A. DasGupta, "Interval estimation for a binomial
       proportion", Statistical Science 16, 2001, doi:10.1214/ss/1009213286.

    Examples
    --------
    >>> error_rate_interval(100, 1000)
    0.1 (95 % interval 0.08291 to 0.1202, standard error 0.0095; Wilson)
    >>> error_rate_interval(100, 1000, method="normal")
    0.1 (95 % interval 0.08141 to 0.1186, standard error 0.0095; normal)
    """
    check.check_choice(method, RateMethod, "method")
    n = check.as_number(trials, "trials", "be a number of trials, 1 or more", _is_many)
    allowed = f"be 0, or a number of errors from 1 to `trials`, {n:g}"
    wrong = check.as_number(errors, "errors", allowed, lambda x: x == 0.0 or 1.0 <= x <= n)
    rate, notes = wrong / n, notes_of_few({"error-rate": wrong})
    found = NormalLaw(rate, rate * (1.0 - rate) / n).estimate("normal", notes, confidence)
    if method == "wilson":
        ends = functools.partial(_wilson_ends, rate, n)
        tails = functools.partial(_wilson_tails, rate, n)
        found = attrs.evolve(found, method="Wilson", ends=ends, tails=tails)
    return _warned(found)


def _wilson_ends(rate: float, n: float, tail: float) -> tuple[float, float]:
    z = student_quantile(math.inf, tail)
    shrunk = 1.0 + z * z / n
    centre = (rate + z * z / (2.0 * n)) / shrunk
    half = z / shrunk * math.sqrt(rate * (1.0 - rate) / n + (z / (2.0 * n)) ** 2)
    # Without errors, or with nothing else, rounding alone would miss these ends.
    return 0.0 if rate == 0.0 else centre - half, 1.0 if rate == 1.0 else centre + half


def _wilson_tails(rate: float, n: float, against: float) -> tuple[float, float]:
    """Return the chances of a rate at most, and at least, as large if the true one is stated."""
    error = math.sqrt(max(against * (1.0 - against), 0.0) / n)
    gap = rate - against
    z = gap / error if error > 0.0 else math.copysign(math.inf, gap) if gap else 0.0
    return float(scipy.special.ndtr(z)), float(scipy.special.ndtr(-z))


def hter_interval(
    errors: Errors, *, confidence: float = 0.95, method: IntervalMethod = "hter"
) -> Estimate:
    """Compute the confidence interval of a half total error rate.

    Parameters
    ----------
    errors : ErrorCounts or Decisions
        Errors of the system, such as ``ErrorCounts.at_threshold(tar, non, threshold)``.
    confidence : float, default: 0.95
        Strictly between 0 and 1.
    method : {"hter", "naive", "class"}, default: "hter"
        "hter" is equation (13) of [1]_. "naive" (18) takes the HTER for the error-rate of all
        trials, "class" (17) is the interval of the classification error: often far too narrow.

    Returns
    -------
    Estimate
        Of the HTER ("class": of the classification error), a fraction; symmetric, not clipped. The
        normal quantile is exact where the paper rounds it to 1.645, 1.960 or 2.576. With "hter",
        rates of 0 and 1 widen the interval by what their trials leave open.

    Warns
    -----
    FewErrorsWarning
        If one of the rates rests on fewer than 30 errors.

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
    return _interval(_as_counts(errors, "errors"), _HALVES, confidence, method)


def dcf_interval(
    errors: Errors, prior: PriorLike, *, confidence: float = 0.95, normalize: bool = True
) -> Estimate:
    """Compute the confidence interval of a detection cost.

    Parameters
    ----------
    errors
        As for `hter_interval`.
    prior : float, OperatingPoint or sequence of them
        Probability of a target with unit costs, or an operating point; of several the mean cost.
    confidence : float, default: 0.95
        Strictly between 0 and 1.
    normalize : bool, default: True
        Divide by the cost of the better decision made without a detector.

    Returns
    -------
    Estimate
        Equation (14) of Bengio and Mariethoz for any prior and costs; errors and warnings are
        those of `hter_interval`.

    Examples
    --------
    >>> from bosaris_py.numerics import OperatingPoint
    >>> errors = ErrorCounts(misses=559, n_tar=5825, false_alarms=7565, n_non=57748)
    >>> dcf_interval(errors, OperatingPoint(p_target=0.01, c_miss=10, c_fa=1), normalize=False)
    0.1393 (95 % interval 0.1365 to 0.1421, standard error 0.0014; dcf)
    """
    prices = _prices(prior, normalize=normalize)
    return _interval(_as_counts(errors, "errors"), prices, confidence, "dcf")


def _interval(counts: ErrorCounts, prices: Pair, confidence: float, method: str) -> Estimate:
    return _warned(_law(counts, prices, method).estimate(method, _notes(counts), confidence))


def _law(counts: ErrorCounts, prices: Pair, method: str) -> NormalLaw:
    """Return the law of a weighted sum of both rates, or of a rate of all trials."""
    if method in ("naive", "class"):
        # Equations (18) and (17).
        n = counts.n_trials
        rate = counts.hter if method == "naive" else (counts.misses + counts.false_alarms) / n
        return NormalLaw(rate, rate * (1.0 - rate) / n)
    parts = list(zip(prices, counts.rates, counts.sizes, strict=True))
    # Equation (13), and (14) for other prices.
    value = sum(a * p for a, p, _ in parts)
    variance = sum(a**2 * p * (1.0 - p) / n for a, p, n in parts)
    low, high = ([(a, n) for a, p, n in parts if p == end] for end in (1.0, 0.0))
    return NormalLaw(value, variance, low, high)


# ---- Tests of two systems


def hter_z_test(a: Errors, b: Errors, *, method: TestMethod | None = None) -> Estimate:
    r"""Test if the half total error rates of two systems differ.

    Parameters
    ----------
    a, b : ErrorCounts or Decisions
        Errors of the two systems.
    method : {"independent", "dependent", "stricter", "naive", "class"}, optional
        "independent" is equation (15) of the paper, of any two sets of trials. "dependent" (16)
        needs two `Decisions` on the same trials and is the default for these. "stricter" is
        whichever of the two has the larger standard error, as section 6.3 recommends. "naive" (18)
        and "class" (17), see `hter_interval`, report differences that do not exist.

    Returns
    -------
    Estimate
        Of the difference a - b: ``.z``, ``.p_value()``, ``.interval()``. The paper's confidence
        delta is ``1 - p_value()``, and one-sided tests are ``p_value(alternative="less")``.

    Raises
    ------
    TrialMismatchError
        If paired decisions are not on equally many trials.

    Warns
    -----
    FewErrorsWarning
        If one of the rates rests on fewer than 30 errors; in the dependent test, if systems
        disagree on fewer than 30 trials of a class.

    Notes
    -----
    With :math:`n_A` targets that only A misses and :math:`m_A` non-targets that only A accepts, in
    the dependent case

    .. math::

        \mathrm{HTER}_A - \mathrm{HTER}_B = \frac{n_A - n_B}{2T} + \frac{m_A - m_B}{2N},
        \qquad \sigma^2 = \frac{n_A + n_B}{4T^2} + \frac{m_A + m_B}{4N^2}.

    Figure 2 of Bengio and Mariethoz, see `hter_interval`, leaves out the factor 1/2, which would
    double z; their tables 3 and 6 agree with the formula above. Of k disagreements all are of one
    sign by chance with probability :math:`2^{1-k}`, so that p is never less. Where systems do not
    differ at all, the interval is what their trials leave open.

    Examples
    --------
    >>> c = ErrorCounts.from_rates(pmiss=0.096, n_tar=5825, pfa=0.131, n_non=57748)
    >>> d = ErrorCounts.from_rates(pmiss=0.078, n_tar=5825, pfa=0.158, n_non=57748)
    >>> found = hter_z_test(c, d)
    >>> found
    -0.0045 (95 % interval -0.01 to 0.001002, standard error 0.0028; independent)
    >>> print(f"z {found.z:.2f}, p {found.p_value():.3f}")
    z -1.60, p 0.109
    """
    return _z_test(a, b, _HALVES, method, TestMethod)


def dcf_z_test(
    a: Errors, b: Errors, prior: PriorLike, *, method: DCFTest | None = None, normalize: bool = True
) -> Estimate:
    """Test if the detection costs of two systems differ: `hter_z_test` for any prior and costs.

    Parameters
    ----------
    a, b : ErrorCounts or Decisions
        Errors of the two systems.
    prior
        As for `dcf_interval`.
    method : {"independent", "dependent", "stricter"}, optional
        As for `hter_z_test`.
    normalize : bool, default: True
        Divide by the cost of the better decision made without a detector.

    Returns
    -------
    Estimate
        Of the difference a - b: equations (15) and (16) of Bengio and Mariethoz, extended as their
        footnote 4 says. Errors and warnings are those of `hter_z_test`.

    Examples
    --------
    >>> from bosaris_py import OperatingPoint
    >>> c = ErrorCounts.from_rates(pmiss=0.096, n_tar=5825, pfa=0.131, n_non=57748)
    >>> d = ErrorCounts.from_rates(pmiss=0.078, n_tar=5825, pfa=0.158, n_non=57748)
    >>> dcf_z_test(c, d, OperatingPoint(0.2, 1, 1), normalize=False)
    -0.018 (95 % interval -0.02183 to -0.01417, standard error 0.002; independent)
    """
    return _z_test(a, b, _prices(prior, normalize=normalize), method, DCFTest)


def _z_test(a: Errors, b: Errors, prices: Pair, method: str | None, methods: object) -> Estimate:
    counts = _as_counts(a, "a"), _as_counts(b, "b")
    chosen = method or ("dependent" if {type(a), type(b)} == {Decisions} else "independent")
    check.check_choice(chosen, methods, "method")
    tests = ("independent", "dependent") if chosen == "stricter" else (chosen,)
    found = [
        _dependent(a, b, prices) if one == "dependent" else _independent(*counts, prices, one)
        for one in tests
    ]
    return _warned(max(found, key=lambda test: test.standard_error or 0.0))


def _independent(a: ErrorCounts, b: ErrorCounts, prices: Pair, method: str) -> Estimate:
    """Equation (15); unlike there, the systems may have been tested on other trials."""
    one, other = (_law(x, prices, method) for x in (a, b))
    difference, variance = one.value - other.value, one.variance + other.variance
    low, high = (*one.low, *other.high), (*one.high, *other.low)
    if variance == 0.0 and difference != 0.0:
        # No errors against nothing but errors: the variance p (1 - p) (1 / n_a + 1 / n_b) of
        # systems that are alike.
        sums = (x + y for x, y in zip(attrs.astuple(a), attrs.astuple(b), strict=True))
        pooled = _law(ErrorCounts(*sums), prices, method).variance
        variance = pooled * (a.n_trials + b.n_trials) ** 2 / (a.n_trials * b.n_trials)
    # Some variation is taken for all of it.
    if variance > 0.0:
        low = high = ()
    law = NormalLaw(difference, variance, low, high)
    return law.estimate(method, [*_notes(a), *_notes(b)])


def _dependent(a: Errors, b: Errors, prices: Pair) -> Estimate:
    """Equation (16): only trials on which one of the two errs alone."""
    counts, sizes = _disagreements(a, b)
    parts = [(p / n, x, y) for p, n, (x, y) in zip(prices, sizes, counts, strict=True)]
    difference = sum(each * (x - y) for each, x, y in parts)
    variance = sum(each**2 * (x + y) for each, x, y in parts)
    unseen = [] if variance > 0.0 else list(zip(prices, sizes, strict=True))
    one, other = map(sum, counts)
    few = {"difference of the miss rates": one, "difference of the false-alarm rates": other}
    # No less than if the sign of each disagreement is flipped.
    least_p = 2.0 ** (1 - min(max(one + other, 1), 1000))
    law = NormalLaw(difference, variance, unseen, unseen, least_p)
    return law.estimate("dependent", notes_of_few(few))


def _disagreements(a: object, b: object) -> tuple[list[tuple[int, int]], Pair]:
    """Count, in each class, the trials on which only a, and only b, errs; and all trials."""
    match a, b:
        case Decisions(counts=one), Decisions(counts=other):
            if one.sizes != other.sizes:
                sizes = f"{one.sizes} and {other.sizes} targets and non-targets"
                raise TrialMismatchError(f"`a` and `b` must be on the same trials; got {sizes}.")
            classes = zip(a.errors, b.errors, strict=True)
            return [(int((x & ~y).sum()), int((y & ~x).sum())) for x, y in classes], one.sizes
    hint = "Counts of errors do not tell on which trials systems disagree."
    raise check.invalid("a and b", "be Decisions on the same trials", "others", hint)


@attrs.frozen
class McNemarTest:
    """The outcome of McNemar's test; made by `mcnemar_test`.

    Parameters
    ----------
    only_a_errs, only_b_errs : int
        Number of trials on which only the first, or only the second system errs.
    p_value : float
        Chance of so uneven a division, or a more uneven one, if systems are alike.
    method : str
        Which variant of the test it was.
    """

    only_a_errs: int
    only_b_errs: int
    p_value: float
    method: str


def mcnemar_test(
    a: Decisions, b: Decisions, *, classes: Classes = "both", method: McNemarMethod = "exact"
) -> McNemarTest:
    r"""Test if two systems err equally often on the trials where they disagree.

    Parameters
    ----------
    a, b : Decisions
        Decisions of the two systems on the same trials.
    classes : {"both", "tar", "non"}, default: "both"
        Which trials to use. "both" compares the error-rates of all trials, which the larger class
        dominates; for a detection cost see `dcf_z_test`.
    method : {"exact", "mid-p", "chi2", "corrected"}, default: "exact"
        "exact" is the two-sided binomial test, which is conservative; "mid-p" counts half of the
        observed division's probability [2]_; "chi2" and "corrected" are McNemar's approximation
        [1]_ without and with continuity correction. "chi2" is equations (9) and (10) of [3]_.

    Returns
    -------
    McNemarTest

    Raises
    ------
    TrialMismatchError
        If decisions are not on equally many trials.

    Notes
    -----
    If the systems are alike, the number of trials on which only the first errs is binomial with
    probability 1/2, given the number on which one of them errs. The test takes trials for
    independent; if they share speakers it reports differences that do not exist.

    References
    ----------
    .. [1] Q. McNemar, "Note on the sampling error of the difference between correlated
       proportions or percentages", Psychometrika 12, 1947, doi:10.1007/BF02295996.
    .. [2] M. W. Fagerland, S. Lydersen and P. Laake, "The McNemar test for binary matched-pairs
       data", BMC Medical Research Methodology 13, 2013, doi:10.1186/1471-2288-13-91.
    .. [3] S. Bengio and J. Mariethoz, "A statistical significance test for person
       authentication", Odyssey 2004.

    Examples
    --------
    >>> import numpy as np
    >>> trials = np.arange(400)
    >>> a, b = trials > 0, (trials == 0) | (trials > 5)
    >>> test = mcnemar_test(Decisions(a, [False]), Decisions(b, [False]))
    >>> test.only_a_errs, test.only_b_errs, round(test.p_value, 3)
    (1, 5, 0.219)
    """
    check.check_choice(classes, Classes, "classes")
    check.check_choice(method, McNemarMethod, "method")
    tar, non = _disagreements(a, b)[0]
    used = {"tar": [tar], "non": [non], "both": [tar, non]}[classes]
    only_a, only_b = map(sum, zip(*used, strict=True))
    return McNemarTest(only_a, only_b, _mcnemar_p(only_a, only_b, method), method)


def _mcnemar_p(only_a: int, only_b: int, method: McNemarMethod) -> float:
    n, fewer = only_a + only_b, min(only_a, only_b)
    if n == 0:
        return 1.0
    if method in ("chi2", "corrected"):
        gap = abs(only_a - only_b) - (1.0 if method == "corrected" else 0.0)
        # The upper tail of chi-square with one degree of freedom.
        return float(scipy.special.erfc(math.sqrt(0.5 * max(gap, 0.0) ** 2 / n)))
    # The binomial law with probability 1/2 is symmetric: twice the lower tail. "mid-p" leaves out
    # half of the observed division, on both sides.
    up_to = float(scipy.special.bdtr(fewer, n, 0.5))
    below = float(scipy.special.bdtr(fewer - 1, n, 0.5)) if fewer else 0.0
    return min(up_to + (below if method == "mid-p" else up_to), 1.0)


def rule_of_30(trials_or_rate: float) -> float:
    """Return the error-rate that so many trials can measure, or how many measure a rate.

    With 30 errors the true rate is within 30 % of the observed one with 90 % confidence, if trials
    are independent: Doddington et al., Speech Communication 31, 2000,
    doi:10.1016/S0167-6393(99)00080-1.

    Parameters
    ----------
    trials_or_rate : float
        Number of trials that can be this error, targets or non-targets; or a rate below 1.

    Returns
    -------
    float
        30 / trials, which is above 1 if there are fewer than 30; or 30 / rate.

    Examples
    --------
    >>> rule_of_30(3000), rule_of_30(0.01)
    (0.01, 3000.0)
    """
    allowed = "be a number of trials, or a rate above 0"
    return FEWEST_ERRORS / check.as_number(
        trials_or_rate, "trials_or_rate", allowed, lambda x: 0.0 < x < math.inf
    )
