"""An estimate: what was measured, and how sure that is. Every interval of the package is one."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Literal

import attrs
import numpy as np
import scipy

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import Answer, ArrayLike, FloatArray, Given, mark_read_only

Alternative = Literal["two-sided", "less", "greater"]
IntervalKind = Literal["percentile", "normal"]

# From the chance that the truth lies beyond one end to both ends.
Ends = Callable[[float], tuple[float, float]]

# From a stated value to the chances of an estimate at most, and at least, as large as this one.
Tails = Callable[[float], tuple[float, float]]

# Of smaller tails 1 - 2 tail would be 1.
_LEAST_TAIL = 2.0**-52


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Estimate:
    """A value, its standard error and its confidence interval.

    What does not apply is None: below 5 speakers there is no interval, for instance.

    Parameters
    ----------
    value : float
        What was measured.
    standard_error : float or None
        Standard deviation of the value over repetitions of the experiment.
    confidence : float
        Share of repetitions whose interval covers the true value, nominally.
    method : str
        How the interval was made.
    degrees : float, optional
        Degrees of freedom of Student's t; inf for the normal law.
    n_units : int, optional
        Number of speakers, or of groups of some, or of sets, that were left out or drawn.
    effective_units : float, optional
        So many speakers with equal shares in the trials have the same sum of squared shares. It
        describes the trials; no interval depends on it.
    correlation : float, optional
        Of a difference, that of the values of both systems over replicates.
    replicates : (n,) ndarray of float64, optional
        The values of all replicates.
    deviations : dict of str to float, optional
        What each speaker does to the value: the mean of the values without one speaker, minus the
        value without this one.
    notes : tuple of Note
        What is to be said of it.
    ends : callable, optional
        Both ends, from the chance that the truth lies beyond one; without it there is no interval.
    tails : callable, optional
        The chances of an estimate at most, and at least, as large, from a stated value; without it
        p-values invert the interval.

    Examples
    --------
    >>> from bosaris_py import uncertainty as unc
    >>> found = unc.error_rate_interval(100, 5000)
    >>> print(f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}]")
    0.0200 [0.0165, 0.0243]
    >>> print(f"{found.upper(0.95):.4f}, p {found.p_value(0.03):.1e}")
    0.0235, p 3.4e-05
    """

    value: float
    standard_error: float | None
    confidence: float = 0.95
    method: str = ""
    degrees: float | None = None
    n_units: int | None = None
    effective_units: float | None = None
    correlation: float | None = None
    replicates: FloatArray | None = None
    deviations: Mapping[str, float] | None = None
    notes: tuple[errors.Note, ...] = ()
    _ends: Ends | None = None
    _tails: Tails | None = None

    @classmethod
    def from_error(
        cls,
        value: float,
        standard_error: float,
        *,
        degrees: float = math.inf,
        bounds: tuple[float, float] = (-math.inf, math.inf),
        **fields: Given,
    ) -> "Estimate":
        """Make the symmetric interval of a standard error, by Student's t or the normal law.

        Parameters
        ----------
        value, standard_error : float
            What was measured, and its standard deviation.
        degrees : float, optional
            Degrees of freedom; inf for the normal law.
        bounds : (float, float), optional
            Least and greatest value, to which ends are clipped.
        **fields
            Other fields.

        Returns
        -------
        Estimate
        """
        law = functools.partial(_student_ends, value, standard_error, degrees, bounds)
        tails = functools.partial(student_tails, value, standard_error, degrees)
        fields |= {"degrees": degrees, "ends": law, "tails": tails}
        return cls(value=float(value), standard_error=float(standard_error), **fields)

    @classmethod
    def from_replicates(
        cls,
        value: float,
        replicates: FloatArray,
        *,
        interval: str,
        bounds: tuple[float, float] = (-math.inf, math.inf),
        **fields: Given,
    ) -> "Estimate":
        """Make the interval of bootstrap replicates; those that are not finite are left out.

        Parameters
        ----------
        value : float
            What was measured.
        replicates : (n,) ndarray of float64
            Values of replicates.
        interval : {"percentile", "normal"}
            Quantiles of the replicates, or value -+ z standard errors.
        bounds : (float, float), optional
            Least and greatest value, to which ends are clipped.
        **fields
            Other fields.

        Returns
        -------
        Estimate
        """
        check.check_choice(interval, IntervalKind, "interval")
        defined = replicates[np.isfinite(replicates)]
        error = float(np.std(defined, ddof=1)) if defined.size > 1 else math.nan
        fields["replicates"] = mark_read_only(replicates)
        if interval == "normal":
            return cls.from_error(value, error, bounds=bounds, **fields)
        law = functools.partial(_percentile_ends, np.sort(defined))
        return cls(value=float(value), standard_error=error, ends=law, **fields)

    def __repr__(self) -> str:
        """Put value, interval, standard error and method on one line."""
        if self._ends is None:
            return f"{self.value:.4g} (no interval; {self.method})"
        low, high = self.interval(self.confidence)
        error = "" if self.standard_error is None else f", standard error {self.standard_error:.2g}"
        return (
            f"{self.value:.4g} ({100 * self.confidence:g} % interval {low:.4g} to "
            f"{high:.4g}{error}; {self.method})"
        )

    @property
    def low(self) -> float | None:
        """Lower end of the interval."""
        return None if self._ends is None else self.interval(self.confidence)[0]

    @property
    def high(self) -> float | None:
        """Upper end of the interval."""
        return None if self._ends is None else self.interval(self.confidence)[1]

    @property
    def width(self) -> float | None:
        """Length of the interval."""
        if self._ends is None:
            return None
        low, high = self.interval(self.confidence)
        return high - low

    @property
    def z(self) -> float:
        """Value over standard error; 0 if both are 0."""
        error = self.standard_error or 0.0
        if error > 0:
            return self.value / error
        return math.copysign(math.inf, self.value) if self.value else 0.0

    @property
    def relative_error(self) -> float:
        """1.96 SE / value, a fraction; inf for a value of 0. Wu et al. 2017, Table I."""
        if not self.value or self.standard_error is None:
            return math.inf
        return 1.96 * self.standard_error / abs(self.value)

    def _known_ends(self) -> Ends:
        if self._ends is None:
            raise check.invalid("estimate", "have an interval", f"none ({self.method})")
        return self._ends

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the interval of another confidence.

        Parameters
        ----------
        confidence : float, default: 0.95
            Strictly between 0 and 1.

        Returns
        -------
        low, high : float
        """
        level = check.check_fraction(confidence, "confidence")
        return self._known_ends()(0.5 - 0.5 * level)

    def upper(self, confidence: float = 0.95) -> float:
        r"""Return the one-sided upper bound: the true value is below it with this confidence.

        For a claim such as "the false-alarm rate is at most 1 %".

        Parameters
        ----------
        confidence : float, default: 0.95
            Above 1/2 and below 1.

        Returns
        -------
        float
            The upper end of the two-sided interval of the confidence :math:`2c - 1`.
        """
        return self._known_ends()(1.0 - _one_sided(confidence))[1]

    def lower(self, confidence: float = 0.95) -> float:
        """Return the one-sided lower bound: the true value is above it with this confidence.

        Parameters
        ----------
        confidence
            As for `upper`.

        Returns
        -------
        float
        """
        return self._known_ends()(1.0 - _one_sided(confidence))[0]

    def p_value(self, against: float = 0.0, alternative: Alternative = "two-sided") -> float:
        """Test if the true value is a stated one, by inversion of the interval.

        Parameters
        ----------
        against : float, default: 0
            What was stated; of a difference 0: both systems are alike.
        alternative : {"two-sided", "less", "greater"}
            Whether the true value may be any other one, or one that is less or greater.

        Returns
        -------
        float
            A two-sided p-value is below 1 - confidence if and only if the stated value lies outside
            the interval. Of B replicates it is never below 2 / B.

        Notes
        -----
        Wu et al. 2017, section IX, for the normal law.
        """
        check.check_choice(alternative, Alternative, "alternative")
        value = check.as_number(against, "against", "be finite", math.isfinite)
        least, most = (self._tails or self._inverted)(value)
        both = min(1.0, 2.0 * min(least, most))
        return {"two-sided": both, "less": least, "greater": most}[alternative]

    def _inverted(self, value: float) -> tuple[float, float]:
        """Return the tails at which the upper, and the lower, end passes a value."""
        ends = self._known_ends()
        least = _LEAST_TAIL if self.replicates is None else 1.0 / max(self.replicates.size, 2)

        def tail_of(passed: Callable[[float], bool]) -> float:
            if passed(least):
                return least
            low, high = least, 0.5 - _LEAST_TAIL
            if not passed(high):
                return 0.5
            while high - low > 1e-10 * low:
                middle = math.sqrt(low * high)
                low, high = (low, middle) if passed(middle) else (middle, high)
            return high

        below = tail_of(lambda tail: ends(tail)[1] < value)
        above = tail_of(lambda tail: ends(tail)[0] > value)
        # At least half of the law lies on that side of the value where the estimate is.
        return (below if below < 0.5 else 1.0 - above, above if above < 0.5 else 1.0 - below)

    def speakers_needed(self, difference: float) -> int:
        r"""Return how many speakers make an interval reach so far to each side.

        Parameters
        ----------
        difference : float
            Half the length of the interval that is wanted, such as the difference to be shown.

        Returns
        -------
        int
            :math:`K (h / d)^2` for K units with an interval of half length h, rounded up: variances
            fall as the number of speakers rises.
        """
        wanted = check.as_number(difference, "difference", "be positive", lambda x: x > 0)
        if self.n_units is None or not self.standard_error:
            expected = "have speakers, and a standard error above 0"
            raise check.invalid("estimate", expected, f"none ({self.method})")
        half = -scipy.special.ndtri(0.5 - 0.5 * self.confidence) * self.standard_error
        return math.ceil(self.n_units * (half / wanted) ** 2)


def _one_sided(confidence: float) -> float:
    level = check.check_fraction(confidence, "confidence")
    if level <= 0.5:
        hint = "An upper end of 95 % is that of a two-sided interval of 90 %."
        raise check.invalid("confidence", "be above 1/2", f"{level:g}", hint)
    return level


def student_quantile(degrees: float, tail: float) -> float:
    """Return the upper quantile of Student's t; of inf degrees that of the normal law."""
    return -float(scipy.special.stdtrit(degrees, tail))


def _student_ends(
    value: float, error: float, degrees: float, bounds: tuple[float, float], tail: float
) -> tuple[float, float]:
    half = student_quantile(degrees, tail) * error
    low, high = np.clip([value - half, value + half], *bounds).tolist()
    return low, high


def student_tails(
    value: float, error: float, degrees: float, against: float
) -> tuple[float, float]:
    """Return the chances of an estimate at most, and at least, as large if the truth is known."""
    gap = value - against
    # What rounding leaves of a difference of 0.
    if abs(gap) <= 1e-12 * abs(value):
        gap = 0.0
    away = gap / error if error > 0 else math.copysign(math.inf, gap) if gap else 0.0
    # The lower tail is used throughout: 1 - ndtr(z) would round small p to zero.
    lower, upper = scipy.special.stdtr(degrees, [away, -away]).tolist()
    return lower, upper


def _percentile_ends(ordered: FloatArray, tail: float) -> tuple[float, float]:
    if not ordered.size:
        return math.nan, math.nan
    low, high = quantile(ordered, [tail, 1.0 - tail]).tolist()
    return low, high


# How far a probability that was computed, such as (1 - 0.95) / 2, may lie from the one meant.
_FUZZ = 4 * np.finfo(np.float64).eps


def quantile(values: ArrayLike, probability: ArrayLike) -> Answer:
    r"""Compute quantiles by inverting the distribution function, averaging at its steps.

    Parameters
    ----------
    values : (n,) or (n, ...) array_like of float
        The sample, along the first axis; no NaN.
    probability : float or (k,) array_like of float
        Probabilities in [0, 1].

    Returns
    -------
    float or ndarray of float64
        With the sample in ascending order :math:`x_{(1)} \le \dots \le x_{(n)}`: the mean of
        :math:`x_{(np)}` and :math:`x_{(np+1)}` where :math:`np` is a whole number, else
        :math:`x_{(\lceil np \rceil)}`; the smallest value at 0, the largest at 1. Axes: those of
        `probability`, then those of `values` without the first.

    Notes
    -----
    Definition 2 of [1]_, which NISTIR 7722 and Wu et al. use for their confidence intervals.
    numpy's ``averaged_inverted_cdf`` takes some whole numbers for fractions: 100 times 0.29 is
    28.999999999999996. Here a product counts as whole if rounding alone could make it so.

    References
    ----------
    .. [1] R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", The American
       Statistician 50, 1996, doi:10.2307/2684934.

    Examples
    --------
    >>> quantile(range(1, 101), 0.29)
    29.5
    >>> quantile([1.0, 2.0, 3.0], [0.0, 0.5, 1.0]).tolist()
    [1.0, 2.0, 3.0]
    """
    sample = np.atleast_1d(check.as_float_array(values, "values").astype(np.float64, copy=False))
    check.check_not_empty(sample, "values")
    check.refuse_nan(sample, "values")
    p = check.as_float_array(probability, "probability").astype(np.float64, copy=False)
    if not np.all((p >= 0) & (p <= 1)):
        hint = "Percentages must be divided by 100."
        raise check.invalid("probability", "lie in [0, 1]", check.describe(probability), hint)
    ordered = np.sort(sample, axis=0)
    size = ordered.shape[0]
    product = size * p
    nearest = np.rint(product)
    whole = np.abs(product - nearest) <= size * _FUZZ
    lower = np.where(whole, nearest, np.ceil(product)).astype(np.int64)
    upper = np.where(whole, lower + 1, lower)
    low = ordered[np.clip(lower, 1, size) - 1]
    high = ordered[np.clip(upper, 1, size) - 1]
    # Equal neighbours are returned as they are, infinite ones too.
    middle = np.where(low == high, low, 0.5 * low + 0.5 * high)
    return float(middle) if middle.ndim == 0 else middle
