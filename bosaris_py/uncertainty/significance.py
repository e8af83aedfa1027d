r"""Intervals and z-tests of the HTER and the DCF from error counts.

The tests of Bengio and Mariethoz [1]_: error counts of the two classes are
independent binomial numbers, so a weighted sum of the two rates is
approximately normal, with a variance that follows from the counts. Their
assumption is that *trials* are independent; where trials share speakers, see
the speaker-level methods of this package.

Sums are written for any DCF, :math:`a P_{miss} + b P_{fa}` with
:math:`a = P_{target} C_{miss}` and :math:`b = (1-P_{target}) C_{fa}`; the HTER has
:math:`a = b = 1/2`.

References
----------
.. [1] S. Bengio and J. Mariethoz, "A statistical significance test for person
   authentication", Odyssey 2004.
"""

import math
from typing import Literal, get_args

from bosaris_py._validation import describe, invalid
from bosaris_py.uncertainty.decisions import (
    Decisions,
    Disagreements,
    ErrorCounts,
    Prices,
    check_few_errors,
    disagreements_of,
    prices_of,
)
from bosaris_py.uncertainty.estimates import (
    Alternative,
    Interval,
    ZTest,
    check_choice,
    normal_interval,
    z_test,
)

__all__ = ["dcf_interval", "dcf_z_test", "hter_interval", "hter_z_test"]

IntervalMethod = Literal["hter", "naive", "class"]
DCFTestMethod = Literal["independent", "dependent", "stricter"]
TestMethod = Literal["independent", "dependent", "stricter", "naive", "class"]

_HALVES = (0.5, 0.5)


def hter_interval(
    errors: ErrorCounts | Decisions,
    *,
    confidence: float = 0.95,
    method: IntervalMethod = "hter",
) -> Interval:
    r"""Compute the confidence interval of a half total error rate.

    Parameters
    ----------
    errors : ErrorCounts or Decisions
        Errors of the system: ``ErrorCounts(misses, n_tar, false_alarms, n_non)``,
        ``ErrorCounts.from_scores(scores, key, threshold)`` or others.
    confidence : float, default: 0.95
        Strictly between 0 and 1.
    method : {"hter", "naive", "class"}, default: "hter"
        "hter" is equation (13) of [1]_. The others are there to show what goes
        wrong with them: "naive" takes the HTER for the error-rate of all trials,
        equation (18); "class" is the interval of the classification error, a
        quantity that the larger class dominates, equation (17). Both are usually
        far too narrow.

    Returns
    -------
    Interval
        Centred at the HTER ("class": at the classification error), a fraction;
        symmetric, not clipped to [0, 1].

    Raises
    ------
    InvalidInputError
        If `errors` holds no counts, or `confidence` is not in (0, 1).

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
       authentication", Odyssey 2004, equations (13), (17) and (18).

    Examples
    --------
    >>> errors = ErrorCounts(misses=559, n_tar=5825, false_alarms=7565, n_non=57748)
    >>> hter_interval(errors)
    0.1135 (95 % interval 0.1095 to 0.1175, standard error 0.0021; hter)
    """
    owner = "hter_interval"
    check_choice(method, get_args(IntervalMethod), "method", owner)
    counts = _counts_of(errors, "errors", owner)
    _check_few(counts)
    if method == "hter":
        centre, variance = counts.hter, _variance(counts, _HALVES)
    else:
        centre, variance = _as_one_rate(counts, method)
    return normal_interval(centre, math.sqrt(variance), confidence, method, owner)


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
    errors : ErrorCounts or Decisions
        Errors of the system, as for `hter_interval`.
    cost : OperatingPoint or DCF
        Prior and costs; anything with attributes p_target, c_miss and c_fa.
    confidence : float, default: 0.95
        Strictly between 0 and 1.
    normalize : bool, optional
        Divide by the cost of the better decision made without a detector. By
        default what `cost` says, if it has such an attribute, else False.

    Returns
    -------
    Interval
        Centred at the DCF; symmetric, not clipped.

    Raises
    ------
    InvalidInputError
        If `errors` holds no counts, `cost` has no prices, or `confidence` is not
        in (0, 1).

    Warns
    -----
    FewErrorsWarning
        If one of the rates rests on fewer than 30 errors.

    Notes
    -----
    Equation (14) of [1]_ for any prior and costs:

    .. math::

        \sigma^2 = a^2 \frac{P_{miss}(1-P_{miss})}{T} + b^2 \frac{P_{fa}(1-P_{fa})}{N}

    References
    ----------
    .. [1] S. Bengio and J. Mariethoz, "A statistical significance test for person
       authentication", Odyssey 2004, equation (14).

    Examples
    --------
    >>> from bosaris_py.numerics import OperatingPoint
    >>> errors = ErrorCounts(misses=559, n_tar=5825, false_alarms=7565, n_non=57748)
    >>> dcf_interval(errors, OperatingPoint(p_target=0.01, c_miss=10, c_fa=1))
    0.1393 (95 % interval 0.1365 to 0.1421, standard error 0.0014; dcf)
    """
    owner = "dcf_interval"
    counts = _counts_of(errors, "errors", owner)
    prices = prices_of(cost, owner, normalize=normalize)
    _check_few(counts)
    spread = math.sqrt(_variance(counts, prices))
    return normal_interval(_cost(counts, prices), spread, confidence, "dcf", owner)


def hter_z_test(
    a: ErrorCounts | Decisions | Disagreements,
    b: ErrorCounts | Decisions | None = None,
    *,
    method: TestMethod = "independent",
    alternative: Alternative = "two-sided",
) -> ZTest:
    r"""Test if the half total error rates of two systems differ.

    Parameters
    ----------
    a, b : ErrorCounts or Decisions
        Errors of the two systems. The dependent test needs to know on which
        trials they disagree: two `Decisions` on the same trials, or
        `Disagreements` as `a` alone.
    method : {"independent", "dependent", "stricter", "naive", "class"}
        "independent" (the default) is equation (15) of [1]_, "dependent" (16).
        "stricter" is whichever of the two has the larger standard error, as the
        paper recommends for systems tested on the same trials. "naive" takes the
        HTER for the error-rate of all trials (18), "class" compares
        classification errors (17): they are there for comparison and report
        differences that do not exist.
    alternative : {"two-sided", "less", "greater"}, default: "two-sided"
        Whether any difference counts, or only a first system that is better
        ("less") or worse ("greater").

    Returns
    -------
    ZTest
        With the difference a - b; its attribute `confidence`, 1 - p, is the
        paper's delta.

    Raises
    ------
    InvalidInputError
        If counts are given where decisions are needed, or a choice is unknown.
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

    Figure 2 of the paper leaves out the factor 1/2 of the difference, which would
    double z; its tables 3 and 6 agree with the formula above. The dependent
    variance is small where the systems are alike, then it is too optimistic
    according to the paper.

    References
    ----------
    .. [1] S. Bengio and J. Mariethoz, "A statistical significance test for person
       authentication", Odyssey 2004, equations (15) to (18).

    Examples
    --------
    >>> c = ErrorCounts.from_rates(pmiss=0.096, n_tar=5825, pfa=0.131, n_non=57748)
    >>> d = ErrorCounts.from_rates(pmiss=0.078, n_tar=5825, pfa=0.158, n_non=57748)
    >>> hter_z_test(c, d)
    difference -0.0045, standard error 0.0028, z -1.6, p 0.109 (two-sided; independent)
    """
    owner = "hter_z_test"
    check_choice(method, get_args(TestMethod), "method", owner)
    if method in ("naive", "class"):
        first, second = _counts_of(a, "a", owner), _counts_of(b, "b", owner)
        for counts in (first, second):
            _check_few(counts)
        (rate_a, variance_a), (rate_b, variance_b) = (
            _as_one_rate(counts, method) for counts in (first, second)
        )
        spread = math.sqrt(variance_a + variance_b)
        return z_test(rate_a - rate_b, spread, alternative, method, owner)
    return _cost_z_test(a, b, _HALVES, method, alternative, owner)


def dcf_z_test(
    a: ErrorCounts | Decisions | Disagreements,
    b: ErrorCounts | Decisions | None,
    cost: Prices,
    *,
    method: DCFTestMethod = "independent",
    alternative: Alternative = "two-sided",
    normalize: bool | None = None,
) -> ZTest:
    """Test if the detection costs of two systems differ.

    `hter_z_test` for any prior and costs.

    Parameters
    ----------
    a, b : ErrorCounts or Decisions
        Errors of the two systems; `Decisions` on the same trials for the
        dependent test, or `Disagreements` as `a` and None as `b`.
    cost : OperatingPoint or DCF
        Prior and costs; anything with attributes p_target, c_miss and c_fa.
    method : {"independent", "dependent", "stricter"}, default: "independent"
        As for `hter_z_test`.
    alternative : {"two-sided", "less", "greater"}, default: "two-sided"
        Whether any difference counts, or only a first system that is better
        ("less") or worse ("greater").
    normalize : bool, optional
        Divide by the cost of the better decision made without a detector. By
        default what `cost` says, if it has such an attribute, else False.

    Returns
    -------
    ZTest
        With the difference a - b.

    Raises
    ------
    InvalidInputError
        If counts are given where decisions are needed, or a choice is unknown.
    TrialMismatchError
        If decisions are not on equally many trials.

    Warns
    -----
    FewErrorsWarning
        If one of the rates, or the disagreement in one class, rests on fewer than
        30 errors.

    References
    ----------
    .. [1] S. Bengio and J. Mariethoz, "A statistical significance test for person
       authentication", Odyssey 2004, equations (15) and (16), extended as its
       footnote 4 says.
    """
    owner = "dcf_z_test"
    check_choice(method, get_args(DCFTestMethod), "method", owner)
    prices = prices_of(cost, owner, normalize=normalize)
    return _cost_z_test(a, b, prices, method, alternative, owner)


def _cost_z_test(
    a: ErrorCounts | Decisions | Disagreements,
    b: ErrorCounts | Decisions | None,
    prices: tuple[float, float],
    method: str,
    alternative: Alternative,
    owner: str,
) -> ZTest:
    if method == "independent":
        first, second = _counts_of(a, "a", owner), _counts_of(b, "b", owner)
        for counts in (first, second):
            _check_few(counts)
        # [1] eq. 15; unlike there, the systems may have been tested on other trials.
        spread = math.sqrt(_variance(first, prices) + _variance(second, prices))
        difference = _cost(first, prices) - _cost(second, prices)
        return z_test(difference, spread, alternative, method, owner)
    if method == "stricter":
        tests = [
            _cost_z_test(a, b, prices, each, alternative, owner)
            for each in ("independent", "dependent")
        ]
        return max(tests, key=lambda test: test.standard_error)
    pair = disagreements_of(a, b)
    check_few_errors(pair.missed_by_a + pair.missed_by_b, "difference of the miss rates")
    check_few_errors(pair.accepted_by_a + pair.accepted_by_b, "difference of the false-alarm rates")
    per_miss, per_alarm = prices[0] / pair.n_tar, prices[1] / pair.n_non
    difference = per_miss * (pair.missed_by_a - pair.missed_by_b)
    difference += per_alarm * (pair.accepted_by_a - pair.accepted_by_b)
    # [1] eq. 16.
    variance = per_miss**2 * (pair.missed_by_a + pair.missed_by_b)
    variance += per_alarm**2 * (pair.accepted_by_a + pair.accepted_by_b)
    return z_test(difference, math.sqrt(variance), alternative, method, owner)


def _counts_of(errors: object, name: str, owner: str) -> ErrorCounts:
    if isinstance(errors, ErrorCounts):
        return errors
    if isinstance(errors, Decisions):
        return errors.counts
    hint = "See ErrorCounts.at_threshold, ErrorCounts.from_rates and Decisions."
    raise invalid(name, owner, "be ErrorCounts or Decisions", describe(errors), hint)


def _check_few(counts: ErrorCounts) -> None:
    check_few_errors(counts.misses, "miss rate")
    check_few_errors(counts.false_alarms, "false-alarm rate")


def _cost(counts: ErrorCounts, prices: tuple[float, float]) -> float:
    return prices[0] * counts.pmiss + prices[1] * counts.pfa


def _variance(counts: ErrorCounts, prices: tuple[float, float]) -> float:
    """Return the variance of a weighted sum of the rates, [1] eqs. 13 and 14."""
    miss = prices[0] ** 2 * counts.pmiss * (1.0 - counts.pmiss) / counts.n_tar
    return miss + prices[1] ** 2 * counts.pfa * (1.0 - counts.pfa) / counts.n_non


def _as_one_rate(counts: ErrorCounts, method: str) -> tuple[float, float]:
    """Return estimate and variance of [1] eq. 17 (class) or eq. 18 (naive)."""
    rate = counts.error_rate if method == "class" else counts.hter
    return rate, rate * (1.0 - rate) / counts.n_trials
