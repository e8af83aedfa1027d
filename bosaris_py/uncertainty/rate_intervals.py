"""Confidence intervals of a single error-rate, and rules of thumb for planning.

References
----------
.. [1] L. D. Brown, T. T. Cai and A. DasGupta, "Interval estimation for a binomial
   proportion", Statistical Science 16, 2001, doi:10.1214/ss/1009213286.
.. [2] R. Fogliato, P. Patil and P. Perona, "Confidence intervals for error rates in 1:1
   matching tasks", International Journal of Computer Vision, 2024, arXiv:2306.01198.
.. [3] ISO/IEC 19795-1:2021, "Biometric performance testing and reporting", rules of 3
   and of 30.
.. [4] G. R. Doddington, M. A. Przybocki, A. F. Martin and D. A. Reynolds, "The NIST
   speaker recognition evaluation - Overview, methodology, systems, results, perspective",
   Speech Communication 31, 2000, doi:10.1016/S0167-6393(99)00080-1.
"""

import math
from typing import Literal, get_args

from scipy import special

from bosaris_py._validation import check_fraction, describe, invalid
from bosaris_py.evaluation.rule_of_30 import FEWEST_ERRORS
from bosaris_py.uncertainty.decisions import as_count, check_few_errors
from bosaris_py.uncertainty.estimates import Interval, check_choice, normal_interval

__all__ = [
    "error_rate_interval",
    "jeffreys_interval",
    "rule_of_3",
    "rule_of_30",
    "trials_needed",
    "wilson_interval",
]

Method = Literal["normal", "jeffreys", "wilson"]


def error_rate_interval(
    errors: float,
    trials: float,
    *,
    confidence: float = 0.95,
    method: Method = "normal",
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
    method : {"normal", "jeffreys", "wilson"}, default: "normal"
        "normal" is that of Bengio and Mariethoz, equation (12): rate -+ z SE,
        symmetric and not clipped. With few errors one of the others is better,
        see `jeffreys_interval` and `wilson_interval`.
    effective_trials : float, optional
        Number of independent trials that would measure the rate as well as the
        dependent ones do; by default `trials`.

    Returns
    -------
    Interval
        With the standard error :math:`\sqrt{p(1-p)/n}`, a fraction like the rate.

    Raises
    ------
    InvalidInputError
        If there are no trials, more errors than trials, or `confidence` is not
        in (0, 1).

    Warns
    -----
    FewErrorsWarning
        If the rate rests on fewer than 30 errors.

    References
    ----------
    .. [1] S. Bengio and J. Mariethoz, "A statistical significance test for person
       authentication", Odyssey 2004, equation (12).

    Examples
    --------
    >>> error_rate_interval(100, 1000)
    0.1 (95 % interval 0.08141 to 0.1186, standard error 0.0095; normal)
    """
    owner = "error_rate_interval"
    check_choice(method, get_args(Method), "method", owner)
    if method == "jeffreys":
        return jeffreys_interval(
            errors, trials, confidence=confidence, effective_trials=effective_trials
        )
    if method == "wilson":
        return wilson_interval(
            errors, trials, confidence=confidence, effective_trials=effective_trials
        )
    rate, n = _rate_and_size(errors, trials, effective_trials, owner)
    check_few_errors(errors, "error-rate")
    return normal_interval(rate, _standard_error(rate, n), confidence, method, owner)


def jeffreys_interval(
    errors: float,
    trials: float,
    *,
    confidence: float = 0.95,
    effective_trials: float | None = None,
) -> Interval:
    r"""Compute Jeffreys' interval of an error-rate: good also for very few errors.

    Parameters
    ----------
    errors : float
        Number of errors.
    trials : float
        Number of trials that could have been errors.
    confidence : float, default: 0.95
        Strictly between 0 and 1.
    effective_trials : float, optional
        Number of independent trials that would measure the rate as well as the
        dependent ones do [2]_; by default `trials`.

    Returns
    -------
    Interval
        Within [0, 1]; the lower end is 0 if there are no errors, the upper end 1
        if there are only errors [1]_.

    Raises
    ------
    InvalidInputError
        If there are no trials, more errors than trials, or `confidence` is not
        in (0, 1).

    Warns
    -----
    FewErrorsWarning
        If the rate rests on fewer than 30 errors: the interval is valid, but wide.

    Notes
    -----
    The equal-tailed quantiles of :math:`\mathrm{Beta}(k+\frac12, n-k+\frac12)`, with
    :math:`k` errors in :math:`n` trials.

    References
    ----------
    .. [1] L. D. Brown, T. T. Cai and A. DasGupta, "Interval estimation for a binomial
       proportion", Statistical Science 16, 2001, doi:10.1214/ss/1009213286.
    .. [2] R. Fogliato, P. Patil and P. Perona, "Confidence intervals for error rates in
       1:1 matching tasks", 2024, arXiv:2306.01198.

    Examples
    --------
    >>> jeffreys_interval(40, 1000)
    0.04 (95 % interval 0.02915 to 0.0535, standard error 0.0062; Jeffreys)
    """
    owner = "jeffreys_interval"
    rate, n = _rate_and_size(errors, trials, effective_trials, owner)
    tail = 0.5 - 0.5 * check_fraction(confidence, "confidence", owner)
    check_few_errors(errors, "error-rate")
    k = rate * n
    low = 0.0 if rate == 0 else float(special.betaincinv(k + 0.5, n - k + 0.5, tail))
    high = 1.0 if rate == 1 else float(special.betainccinv(k + 0.5, n - k + 0.5, tail))
    return Interval(rate, low, high, _standard_error(rate, n), float(confidence), "Jeffreys")


def wilson_interval(
    errors: float,
    trials: float,
    *,
    confidence: float = 0.95,
    effective_trials: float | None = None,
) -> Interval:
    r"""Compute Wilson's interval of an error-rate: the rates that a z-test would not reject.

    Parameters
    ----------
    errors : float
        Number of errors.
    trials : float
        Number of trials that could have been errors.
    confidence : float, default: 0.95
        Strictly between 0 and 1.
    effective_trials : float, optional
        Number of independent trials that would measure the rate as well as the
        dependent ones do [2]_; by default `trials`.

    Returns
    -------
    Interval
        Within [0, 1].

    Raises
    ------
    InvalidInputError
        If there are no trials, more errors than trials, or `confidence` is not
        in (0, 1).

    Warns
    -----
    FewErrorsWarning
        If the rate rests on fewer than 30 errors: the interval is valid, but wide.

    Notes
    -----
    The solutions :math:`p` of :math:`(\hat p - p)^2 = z^2 p (1-p) / n` [1]_.

    References
    ----------
    .. [1] L. D. Brown, T. T. Cai and A. DasGupta, "Interval estimation for a binomial
       proportion", Statistical Science 16, 2001, doi:10.1214/ss/1009213286.
    .. [2] R. Fogliato, P. Patil and P. Perona, "Confidence intervals for error rates in
       1:1 matching tasks", 2024, arXiv:2306.01198.

    Examples
    --------
    >>> wilson_interval(40, 1600)
    0.025 (95 % interval 0.01841 to 0.03386, standard error 0.0039; Wilson)
    """
    owner = "wilson_interval"
    rate, n = _rate_and_size(errors, trials, effective_trials, owner)
    z = float(special.ndtri(0.5 + 0.5 * check_fraction(confidence, "confidence", owner)))
    check_few_errors(errors, "error-rate")
    shrunk = 1.0 + z * z / n
    centre = (rate + z * z / (2.0 * n)) / shrunk
    half = z / shrunk * math.sqrt(rate * (1.0 - rate) / n + (z / (2.0 * n)) ** 2)
    # At the ends the exact solution is the end itself, which rounding may miss.
    low = 0.0 if rate == 0 else centre - half
    high = 1.0 if rate == 1 else centre + half
    return Interval(rate, low, high, _standard_error(rate, n), float(confidence), "Wilson")


def rule_of_30(trials: float) -> float:
    """Return the smallest error-rate that so many trials can measure: that of 30 errors.

    With 30 errors, the true rate is within 30 % of the observed one with 90 %
    confidence, if trials are independent.

    Parameters
    ----------
    trials : float
        Number of trials that can be this error: targets for misses, non-targets
        for false alarms.

    Returns
    -------
    float
        30 / trials; above 1 if there are fewer than 30 trials.

    Raises
    ------
    InvalidInputError
        If there are no trials.

    See Also
    --------
    trials_needed : The same rule the other way round, for any accuracy.

    References
    ----------
    .. [1] G. R. Doddington, M. A. Przybocki, A. F. Martin and D. A. Reynolds, "The NIST
       speaker recognition evaluation - Overview, methodology, systems, results,
       perspective", Speech Communication 31, 2000, doi:10.1016/S0167-6393(99)00080-1.

    Examples
    --------
    >>> rule_of_30(3000)
    0.01
    """
    return FEWEST_ERRORS / _as_size(trials, "trials", "rule_of_30")


def rule_of_3(trials: float) -> float:
    """Return the 95 % upper limit of an error-rate if no error was seen.

    Parameters
    ----------
    trials : float
        Number of independent trials, all without error.

    Returns
    -------
    float
        3 / trials, at most 1. Slightly above the exact limit,
        1 - 0.05 ** (1 / trials).

    Raises
    ------
    InvalidInputError
        If there are no trials.

    References
    ----------
    .. [1] ISO/IEC 19795-1:2021, "Biometric performance testing and reporting".

    Examples
    --------
    >>> rule_of_3(300)
    0.01
    """
    return min(1.0, 3.0 / _as_size(trials, "trials", "rule_of_3"))


def trials_needed(rate: float, *, relative_error: float = 0.3, confidence: float = 0.9) -> int:
    r"""Return how many independent trials measure an error-rate so accurately.

    The defaults are those of the rule of 30. Dependent trials, those that share
    speakers, must be more.

    Parameters
    ----------
    rate : float
        The error-rate that is expected, strictly between 0 and 1.
    relative_error : float, default: 0.3
        Half the width of the normal interval, as a fraction of the rate.
    confidence : float, default: 0.9
        Strictly between 0 and 1.

    Returns
    -------
    int
        :math:`\lceil z^2 (1-p) / (p\, d^2) \rceil`.

    Raises
    ------
    InvalidInputError
        If `rate` or `confidence` is not in (0, 1), or `relative_error` is not
        positive.

    Examples
    --------
    About 30 errors, as the rule says:

    >>> trials_needed(0.01)
    2977
    """
    owner = "trials_needed"
    p = check_fraction(rate, "rate", owner)
    z = float(special.ndtri(0.5 + 0.5 * check_fraction(confidence, "confidence", owner)))
    accuracy = as_count(relative_error, "relative_error", owner)
    if accuracy == 0:
        raise invalid("relative_error", owner, "be positive", describe(relative_error))
    return math.ceil(z * z * (1.0 - p) / (p * accuracy * accuracy))


def _as_size(trials: float, name: str, owner: str) -> float:
    size = as_count(trials, name, owner)
    if size == 0:
        raise invalid(name, owner, "be positive", describe(trials))
    return size


def _rate_and_size(
    errors: float, trials: float, effective_trials: float | None, owner: str
) -> tuple[float, float]:
    """Return the error-rate and the number of trials that its variance is based on."""
    size = _as_size(trials, "trials", owner)
    wrong = as_count(errors, "errors", owner)
    if wrong > size:
        hint = "The order is errors, trials."
        raise invalid("errors", owner, f"not exceed `trials`, {size:g}", f"{wrong:g}", hint)
    if effective_trials is not None:
        return wrong / size, _as_size(effective_trials, "effective_trials", owner)
    return wrong / size, size


def _standard_error(rate: float, n: float) -> float:
    return math.sqrt(rate * (1.0 - rate) / n)
