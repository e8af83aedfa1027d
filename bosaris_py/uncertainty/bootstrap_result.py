"""The result of a bootstrap: estimate, standard error, interval, replicates."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt
import scipy

from bosaris_py import _validation as check
from bosaris_py._arrays import BoolArray, Float64Array, FloatArray, mark_read_only
from bosaris_py._cautions import warn_caller
from bosaris_py._html import card, histogram_drawing
from bosaris_py._tables import Records
from bosaris_py.errors import DegenerateReplicatesWarning, FewErrorsWarning
from bosaris_py.trials.speaker_pairs import ROUNDING

Alternative = Literal["two-sided", "less", "greater"]

# Of smaller tails 1 - 2 tail would be 1.
_LEAST_TAIL = 2.0**-52


@attrs.frozen(repr=False)
class Interval:
    """An estimate, its standard error and a confidence interval.

    Parameters
    ----------
    estimate : float
        What was measured.
    low, high : float
        Ends of the interval.
    standard_error : float
        Standard deviation of the estimate over repetitions of the experiment.
    confidence : float
        Share of repetitions whose interval covers the true value, nominally.
    method : str
        How the interval was made.
    remade : callable, optional
        From a confidence to the same interval with that one, which one-sided ends need.
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    confidence: float
    method: str
    remade: "Callable[[float], Interval] | None" = attrs.field(default=None, eq=False)

    def upper(self, confidence: float = 0.95) -> float:
        r"""Return the one-sided upper end: the true value is below it with this confidence.

        For a claim such as "the FMR is at most 1 %".

        Parameters
        ----------
        confidence : float, default: 0.95
            Above 1/2 and below 1.

        Returns
        -------
        float
            The upper end of the two-sided interval of the confidence :math:`2c - 1`.

        Raises
        ------
        InvalidInputError
            If the interval was put together by hand, and has another confidence.

        Examples
        --------
        >>> from bosaris_py import uncertainty as unc
        >>> interval = unc.error_rate_interval(100, 5000)
        >>> print(f"{interval.high:.4f}, {interval.upper(0.95):.4f}, {interval.lower(0.95):.4f}")
        0.0243, 0.0235, 0.0170
        """
        return self._at(confidence).high

    def lower(self, confidence: float = 0.95) -> float:
        """Return the one-sided lower end: the true value is above it with this confidence.

        Parameters
        ----------
        confidence
            As for `upper`.

        Returns
        -------
        float
            The lower end of the same interval.
        """
        return self._at(confidence).low

    def _at(self, confidence: float) -> "Interval":
        both = two_sided(confidence)
        if abs(both - self.confidence) <= _FUZZ:
            return self
        if self.remade is None:
            expected = f"be {0.5 + 0.5 * self.confidence:g} for an interval of which nothing but "
            raise check.invalid("confidence", f"{expected}its ends is known", f"{confidence:g}")
        return self.remade(both)

    @property
    def width(self) -> float:
        """Length of the interval, high - low."""
        return self.high - self.low

    @property
    def relative_error(self) -> float:
        """1.96 SE / estimate, a fraction; inf for an estimate of 0. See `relative_error`."""
        return 1.96 * self.standard_error / self.estimate if self.estimate else math.inf

    def test(self, value: float, alternative: Alternative = "two-sided") -> "ValueTest":
        """Test if the true value is a stated one, Wu et al. 2017, section IX.

        Parameters
        ----------
        value : float
            What was stated.
        alternative : {"two-sided", "less", "greater"}, default: "two-sided"
            Whether the true value may be any other one, or less, or greater than the stated one.

        Returns
        -------
        ValueTest
            The two-sided p-value is below 1 - confidence if and only if the value lies outside the
            interval. An end that is z standard errors away in a normal interval decides how far
            the value is from the estimate, so that unequal sides keep their own scale.

        Examples
        --------
        >>> from bosaris_py import uncertainty as unc
        >>> unc.error_rate_interval(100, 5000).test(0.03)
        95 % interval of 0.02 lies below 0.03; z -5.05, p 4.32e-06 (two-sided; Wilson)
        """
        return _test_of_ends(self, value, alternative)

    def __repr__(self) -> str:
        """Put estimate, interval, standard error and method on one line."""
        return (
            f"{self.estimate:.4g} ({100 * self.confidence:g} % interval {self.low:.4g} to "
            f"{self.high:.4g}, standard error {self.standard_error:.2g}; {self.method})"
        )


def two_sided(confidence: float) -> float:
    """Return the confidence of the two-sided interval that has a one-sided end."""
    one_sided = check.check_fraction(confidence, "confidence")
    if one_sided <= 0.5:
        hint = "An upper end of 95 % is that of a two-sided interval of 90 %."
        raise check.invalid("confidence", "be above 1/2", f"{one_sided:g}", hint)
    return 2.0 * one_sided - 1.0


@attrs.frozen(repr=False)
class ValueTest:
    """The test of one system against a stated value.

    Parameters
    ----------
    value : float
        What was stated.
    estimate : float
        What was measured.
    z : float
        Estimate minus value, over the standard error; 0 if both are zero.
    p_value : float
        Chance of an estimate at least as far away if the true value is the stated one.
    lies : {"below", "contains", "above"}
        Whether the two-sided interval lies below the value, contains it, or lies above it.
    alternative : {"two-sided", "less", "greater"}
        What the true value may be instead: any other one, or one that is less or greater.
    confidence : float
        Nominal coverage of the interval.
    method : str
        How the interval was made.
    """

    value: float
    estimate: float
    z: float
    p_value: float
    lies: Literal["below", "contains", "above"]
    alternative: Alternative
    confidence: float
    method: str

    def __repr__(self) -> str:
        """Say where the interval lies, with z and p."""
        verb = "contains" if self.lies == "contains" else f"lies {self.lies}"
        return (
            f"{100 * self.confidence:g} % interval of {self.estimate:.4g} {verb} {self.value:.4g}; "
            f"z {self.z:.3g}, p {self.p_value:.3g} ({self.alternative}; {self.method})"
        )


def _value_test(
    found: "Interval | BootstrapResult",
    value: float,
    tails: tuple[float, float],
    alternative: Alternative,
    method: str,
) -> ValueTest:
    """Make the test of the chances that the true value is at least, and at most, the stated one."""
    check.check_choice(alternative, Alternative, "alternative")
    estimate, error = float(found.estimate), float(found.standard_error)
    difference = estimate - value
    z = difference / error if error > 0 else math.copysign(math.inf, difference)
    less, greater = tails
    p_value = {"two-sided": min(1.0, 2.0 * min(tails)), "less": less, "greater": greater}
    lies: Literal["below", "contains", "above"] = "contains"
    if not found.low <= value <= found.high:
        lies = "below" if found.high < value else "above"
    z = z if difference else 0.0
    return ValueTest(
        value, estimate, z, p_value[alternative], lies, alternative, found.confidence, method
    )


def _test_of_ends(interval: Interval, value: float, alternative: Alternative) -> ValueTest:
    """Test a stated value by an interval of which nothing but the ends is known."""
    value = check.as_number(value, "value", "be finite", math.isfinite)
    half = value - interval.estimate
    side = interval.high - interval.estimate if half > 0 else interval.estimate - interval.low
    quantile = scipy.special.ndtri(0.5 + 0.5 * interval.confidence)
    z = 0.0
    if half:
        # Both sides of a value that nothing moves are infinitely far.
        distance = math.inf if side <= 0 else quantile * abs(half) / side
        z = math.copysign(distance, half)
    tails = float(scipy.special.ndtr(-z)), float(scipy.special.ndtr(z))
    return _value_test(interval, value, tails, alternative, interval.method)


# Rates that might differ from 0 or 1, as (price, number of trials).
LeftOpen: TypeAlias = tuple[tuple[float, float], ...]


def unseen_part(rates: LeftOpen, tail: float) -> float:
    """Return what rates without errors leave open: each at most 1 - tail^(1/n), times its price."""
    return sum(-price * math.expm1(math.log(tail) / total) for price, total in rates)


@attrs.frozen(repr=False)
class ZTest:
    """The outcome of a z-test of the difference of two systems.

    Parameters
    ----------
    difference : float
        First system minus second; negative where the first has the lower cost.
    standard_error : float
        Standard deviation of the difference if the systems are alike.
    z : float
        Difference over standard error; 0 if both are zero.
    p_value : float
        Chance of a difference at least as extreme if the systems are alike.
    alternative : {"two-sided", "less", "greater"}
        What counts as extreme: any difference, or one that is less or greater than zero.
    method : str
        Which variant of the test it was.
    degrees : float
        Degrees of freedom of Student's t; inf for the normal distribution.
    least_p : float
        The least two-sided p-value that so little data allow.
    left_open : tuple of two tuples of (float, float)
        Where neither system varies, the greatest decreases and increases of the difference by each
        rate, with its number of trials.
    """

    difference: float
    standard_error: float
    z: float
    p_value: float
    alternative: Alternative
    method: str
    degrees: float = math.inf
    least_p: float = 0.0
    left_open: tuple[LeftOpen, LeftOpen] = ((), ())

    @property
    def confidence(self) -> float:
        """1 - p: the confidence that the systems differ, Bengio and Mariethoz's delta."""
        return 1.0 - self.p_value

    def interval(self, confidence: float = 0.95) -> Interval:
        """Return the confidence interval of the difference: what the test would not reject.

        Parameters
        ----------
        confidence : float, default: 0.95
            Strictly between 0 and 1.

        Returns
        -------
        Interval
            Holds 0 if and only if the two-sided p-value is at least 1 - confidence. Of decisions
            that do not vary, as long as their numbers leave open, see `hter_z_test`.
        """
        level = check.check_fraction(confidence, "confidence")
        tail = 0.5 - 0.5 * level
        _, quantile = student_quantiles(tail, self.degrees)
        low, high = (self.difference + sign * quantile * self.standard_error for sign in (-1, 1))
        below, above = (unseen_part(rates, tail) for rates in self.left_open)
        low, high = low - below, high + above
        if self.least_p >= 1.0 - level:
            low, high = min(low, 0.0), max(high, 0.0)
        numbers = self.difference, low, high, self.standard_error, level
        return Interval(*numbers, self.method, self.interval)

    def __repr__(self) -> str:
        """Put difference, standard error, z and p on one line."""
        name = "z" if math.isinf(self.degrees) else f"t({round(self.degrees, 1):g})"
        return (
            f"difference {self.difference:.4g}, standard error {self.standard_error:.2g}, "
            f"{name} {self.z:.3g}, p {self.p_value:.3g} ({self.alternative}; {self.method})"
        )


def normal_interval(
    estimate: float, standard_error: float, confidence: float, method: str
) -> Interval:
    """Return estimate -+ z SE, with the exact normal quantile; not clipped."""
    quantile = float(
        scipy.special.ndtri(0.5 + 0.5 * check.check_fraction(confidence, "confidence"))
    )
    half = quantile * standard_error
    return Interval(
        estimate=float(estimate),
        low=float(estimate - half),
        high=float(estimate + half),
        standard_error=float(standard_error),
        confidence=float(confidence),
        method=method,
        remade=functools.partial(normal_interval, estimate, standard_error, method=method),
    )


def student_quantiles(
    tail: float, degrees: float, students: Float64Array | None = None
) -> tuple[float, float]:
    """Return the lower and the upper quantile of Student's t, of its law or of ascending draws."""
    rank = 0 if students is None else int(tail * (students.size + 1) * (1.0 + _FUZZ))
    if students is not None and rank:
        return float(students[rank - 1]), float(students[-rank])
    end = scipy.special.ndtri(tail) if math.isinf(degrees) else scipy.special.stdtrit(degrees, tail)
    return float(end), -float(end)


def z_test(
    difference: float,
    standard_error: float,
    alternative: Alternative,
    method: str,
    degrees: float = math.inf,
    least_p: float = 0.0,
    left_open: tuple[LeftOpen, LeftOpen] = ((), ()),
) -> ZTest:
    """Compare a difference with its standard error, by the normal law or Student's t."""
    check.check_choice(alternative, Alternative, "alternative")
    if standard_error > 0:
        z = difference / standard_error
    else:
        z = math.copysign(math.inf, difference) if difference else 0.0
    p_value = float(normal_p_value(z, alternative, degrees))
    # One side of a symmetric test has half of its least p-value.
    least = least_p if alternative == "two-sided" else 0.5 * least_p
    return ZTest(
        difference=float(difference),
        standard_error=float(standard_error),
        z=float(z),
        p_value=max(p_value, least),
        alternative=alternative,
        method=method,
        degrees=degrees,
        least_p=least_p,
        left_open=left_open,
    )


def normal_p_value(
    z: npt.ArrayLike, alternative: Alternative, degrees: float = math.inf
) -> FloatArray:
    """Return the chance of a z at least as extreme, z being standard normal, or Student's t."""
    # The lower tail is used throughout: 1 - ndtr(z) would round small p to zero.
    tail = {"two-sided": -np.abs(z), "less": np.asarray(z), "greater": np.negative(z)}[alternative]
    below = scipy.special.ndtr(tail) if math.isinf(degrees) else scipy.special.stdtr(degrees, tail)
    return below * (2.0 if alternative == "two-sided" else 1.0)


# How far a probability that was computed, such as (1 - 0.95) / 2, may lie from the one meant.
_FUZZ = 4 * np.finfo(np.float64).eps


def quantile(values: npt.ArrayLike, probability: npt.ArrayLike) -> Any:
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
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim == 0:
        raise check.invalid("values", "be a list of numbers", check.describe(values))
    check.check_not_empty(sample, "values")
    check.refuse_nan(sample, "quantile")
    p = np.asarray(probability, dtype=np.float64)
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


# Royston's approximation of the p-value holds for these sample sizes.
_FEWEST, _MOST = 3, 5000


@attrs.frozen
class NormalityTest:
    """The outcome of Shapiro and Wilk's test.

    Parameters
    ----------
    w : float
        The statistic W, at most 1; smaller means less normal.
    p_value : float
        Chance of a W at most as large if the sample is normal.
    """

    w: float
    p_value: float


def normality_test(sample: npt.ArrayLike) -> NormalityTest:
    """Test if a sample looks normal, by Shapiro and Wilk's test.

    Parameters
    ----------
    sample : (n,) array_like of float
        3 to 5000 values, not all equal; no NaN.

    Returns
    -------
    NormalityTest
        With W and the p-value; a small one speaks against normality.

    Notes
    -----
    NISTIR 7722, section 3; Wu et al. 2017, sections VIII-A and VIII-B. A fixed-threshold DCF takes
    few distinct values where there are few errors, and the test then finds steps, not skewness.

    Examples
    --------
    >>> import numpy as np
    >>> sample = np.random.default_rng(0).normal(size=2000)
    >>> normality_test(sample).p_value > 0.05
    True
    """
    values = check.as_vector(sample, "sample")
    check.refuse_nan(values, "normality_test")
    if not _FEWEST <= values.size <= _MOST:
        expected = f"hold {_FEWEST} to {_MOST} values"
        hint = "The p-value of Shapiro and Wilk's test is not known for other sizes."
        raise check.invalid("sample", expected, f"{values.size}", hint)
    if values.min() == values.max():
        raise check.invalid("sample", "not be constant", f"only {values[0]:g}")
    # Importing scipy.stats takes longer than most bootstraps.
    w, p_value = scipy.stats.shapiro(values)
    return NormalityTest(float(w), float(p_value))


IntervalKind: TypeAlias = Literal["percentile", "basic", "ratio", "normal", "student"]


# An `influence.Studentised`, which needs this module.
Student: TypeAlias = Any

OpenEnds: TypeAlias = Callable[[float], tuple[float, float] | tuple[Float64Array, Float64Array]]

# A standard deviation takes two.
_FEWEST_REPLICATES = 2

# Intervals whose ends are quantiles of the replicates.
_OF_QUANTILES = ("percentile", "basic", "ratio")


def relative_error(standard_error: npt.ArrayLike, estimate: npt.ArrayLike) -> Any:
    """Compute half the width of a normal 95 % interval over the estimate.

    Parameters
    ----------
    standard_error, estimate : float or array_like of float
        The estimate and its standard error.

    Returns
    -------
    float or ndarray of float64
        1.96 SE / estimate, a fraction; inf or NaN where the estimate is 0.

    Notes
    -----
    The relative error that tables I to III of Wu et al. 2017 print, in percent.

    Examples
    --------
    System EL in their table I, i.i.d. bootstrap, printed as 6.15 %:

    >>> round(100 * relative_error(0.000696, 0.022199), 2)
    6.15
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = 1.96 * np.asarray(standard_error, dtype=np.float64) / np.asarray(estimate)
    return float(ratio) if ratio.ndim == 0 else ratio


@attrs.frozen(eq=False, repr=False)
class BootstrapResult(Records):
    """A statistic with the spread of its bootstrap replicates.

    Numbers are floats; for a statistic whose value is an array they are arrays of the same shape.

    Parameters
    ----------
    estimate : float or ndarray of float64
        The statistic of the data themselves.
    standard_error : float or ndarray of float64
        Unbiased standard deviation of the replicates; 0 if they differ by rounding only.
    low, high : float or ndarray of float64
        Ends of the confidence interval.
    replicates : (B,) or (B, ...) ndarray of float64
        All replicates in the order drawn; NaN where the statistic is not defined.
    method : str
        How trials were resampled.
    interval : {"percentile", "basic", "ratio", "normal", "student"}
        How the interval was made, see `interval_of`.
    confidence : float
        Its nominal coverage.
    n_degenerate : int
        Number of replicates on which the statistic is not defined; they are left out of standard
        error and interval.
    bounds : tuple of two floats or arrays
        Least and greatest possible value; intervals are clipped to it.
    student : Studentised, optional
        What a studentised interval takes, where speakers were resampled.
    is_difference : bool
        Whether it is of two systems. If all replicates are alike, but not 0, they say nothing: the
        interval is all that is possible.
    degrees : float
        Number of speakers less one, where speakers were drawn; else inf.
    open_ends : callable, optional
        From a confidence to the ends of the interval where no replicate differs.
    """

    estimate: Any
    standard_error: Any
    low: Any
    high: Any
    replicates: Float64Array
    method: str
    interval: IntervalKind
    confidence: float
    n_degenerate: int
    bounds: tuple[npt.ArrayLike, npt.ArrayLike] = (-math.inf, math.inf)
    student: Student | None = None
    is_difference: bool = False
    degrees: float = math.inf
    open_ends: OpenEnds | None = None

    @classmethod
    def from_replicates(
        cls,
        estimate: object,
        replicates: Float64Array,
        *,
        method: str,
        interval: IntervalKind,
        confidence: float,
        bounds: tuple[npt.ArrayLike, npt.ArrayLike],
        student: Student | None = None,
        degrees: float = math.inf,
        open_ends: OpenEnds | None = None,
    ) -> "BootstrapResult":
        """Summarise the replicates of one system.

        Parameters
        ----------
        estimate, replicates, method, interval, confidence, bounds, student, degrees, open_ends
            As in `BootstrapResult`.

        Returns
        -------
        BootstrapResult
        """
        found = cls(
            estimate=estimate,
            standard_error=math.nan,
            low=math.nan,
            high=math.nan,
            replicates=replicates,
            method=method,
            interval=interval,
            confidence=confidence,
            n_degenerate=0,
            bounds=bounds,
            student=student,
            degrees=degrees,
            open_ends=open_ends,
        )
        return found._summarised(0.0)

    def minus(self, other: "BootstrapResult", student: Student | None = None) -> "BootstrapResult":
        """Summarise the differences to another system's replicates of the same trials.

        Parameters
        ----------
        other : BootstrapResult
            Made with the same options.
        student : Studentised, optional
            That of the difference; by default with the law of Student's t.

        Returns
        -------
        BootstrapResult
        """
        (low, high), (other_low, other_high) = self.bounds, other.bounds
        if student is None and self.student is not None and other.student is not None:
            student = self.student.minus(other.student)
        magnitude = np.maximum(np.abs(self.estimate), np.abs(other.estimate))
        # Systems that are alike differ by rounding.
        gaps = np.subtract(self.estimate, other.estimate), self.replicates - other.replicates
        estimate, replicates = (
            np.where(np.abs(values) <= ROUNDING * magnitude, 0.0, values) for values in gaps
        )
        difference = attrs.evolve(
            self,
            estimate=as_plain(estimate),
            replicates=replicates,
            bounds=(np.subtract(low, other_high), np.subtract(high, other_low)),
            student=student,
            is_difference=True,
            open_ends=None,
        )
        return difference._summarised(magnitude)

    def _summarised(self, magnitude: npt.ArrayLike) -> "BootstrapResult":
        """Compute spread and interval; what is tiny beside `magnitude` varies by rounding only."""
        replicates = self.replicates
        defined = defined_replicates(replicates)
        total, n_defined = defined.size, int(np.count_nonzero(defined))
        if n_defined < _FEWEST_REPLICATES:
            expected = f"be defined on at least {_FEWEST_REPLICATES} replicates"
            hint = "The others lost a class, or the statistic returned NaN or infinity."
            raise check.invalid("statistic", expected, f"{n_defined} of {total}", hint)
        sample = replicates if n_defined == total else replicates[defined]
        size = np.maximum(np.maximum(sample.max(axis=0), -sample.min(axis=0)), magnitude)
        varies = np.ptp(sample, axis=0) > ROUNDING * size
        # A difference that is the same in all replicates is not certain.
        least = self.student.null_error if self.is_difference and self.student else 0.0
        with np.errstate(over="ignore"):
            errors = np.where(varies, sample.std(axis=0, ddof=1), least)
        result = attrs.evolve(
            self,
            standard_error=as_plain(errors),
            replicates=mark_read_only(replicates),
            n_degenerate=total - n_defined,
        )
        low, high = result.interval_of(self.interval, self.confidence)
        # Where all varies, results keep no trials.
        if np.all((errors > 0) & (np.asarray(low) < high)):
            result = attrs.evolve(result, open_ends=None)
        return attrs.evolve(result, low=low, high=high)

    def _repr_html_(self) -> str:
        """Show the replicates of a number, with its interval."""
        drawing = ""
        if not np.ndim(self.estimate):
            ends = (self.estimate, self.low, self.high)
            drawing = histogram_drawing(self.replicates, *map(float, ends))
        return card(repr(self), drawing)

    def __repr__(self) -> str:
        """Put estimate, standard error and interval on one line."""
        tail = f", {self.n_degenerate} degenerate" if self.n_degenerate else ""
        how = f"{self.method} bootstrap, {self.replicates.shape[0]} replicates{tail}"
        percent = f"{100 * self.confidence:g} % {self.interval} interval"
        n = self.replicates.shape[0]
        if self.interval in _OF_QUANTILES and n < round(2.0 / (1.0 - self.confidence)) - 1:
            # Quantiles further out than the ends of so few replicates.
            percent = f"{self.interval} interval of the extreme ones of {n} replicates"
        if np.ndim(self.estimate):
            return f"BootstrapResult: {np.size(self.estimate)} values, {percent}s; {how}"
        return (
            f"BootstrapResult: {self.estimate:.4g}, standard error {self.standard_error:.2g}, "
            f"{percent} {self.low:.4g} to {self.high:.4g}; {how}"
        )

    def records(self) -> list[dict[str, Any]]:
        """Return estimate, standard error and interval; a row for each value of an array.

        Returns
        -------
        list of dict
            ``estimate``, ``standard_error``, ``low``, ``high``, then how they were made.
        """
        names = ("estimate", "standard_error", "low", "high")
        values = zip(*(np.ravel(getattr(self, name)).tolist() for name in names), strict=True)
        how = {name: getattr(self, name) for name in ("method", "interval", "confidence")}
        how |= {"replications": self.replicates.shape[0], "n_degenerate": self.n_degenerate}
        return [dict(zip(names, row, strict=True)) | how for row in values]

    @property
    def _defined(self) -> Float64Array:
        if not self.n_degenerate:
            return self.replicates
        return self.replicates[defined_replicates(self.replicates)]

    def upper(self, confidence: float = 0.95) -> Any:
        """Return the one-sided upper end of each value, see `Interval.upper`.

        Parameters
        ----------
        confidence
            As for `Interval.upper`.

        Returns
        -------
        float or ndarray of float64
            The upper end of the interval of the same kind with the confidence 2 c - 1.
        """
        return as_plain(self.interval_of(self.interval, two_sided(confidence))[1])

    def lower(self, confidence: float = 0.95) -> Any:
        """Return the one-sided lower end of each value, see `Interval.lower`.

        Parameters
        ----------
        confidence
            As for `upper`.

        Returns
        -------
        float or ndarray of float64
            The lower end of the same interval.
        """
        return as_plain(self.interval_of(self.interval, two_sided(confidence))[0])

    @property
    def relative_error(self) -> Any:
        """1.96 SE / estimate, as the tables of Wu et al. 2017 print it; a fraction."""
        return relative_error(self.standard_error, self.estimate)

    @property
    def bias(self) -> Any:
        """Mean of the replicates minus the estimate; negative for minimum costs."""
        return as_plain(self._defined.mean(axis=0) - self.estimate)

    @property
    def expansion(self) -> float:
        r"""How much too small quantiles of replicates are with few speakers.

        :math:`\sqrt{K/(K-1)}\, t / z` for the quantiles of Student's t of K - 1 degrees and of the
        normal law at the confidence of the result; 1 without speakers.
        """
        tail = 0.5 - 0.5 * self.confidence
        (t, _), (z, _) = (student_quantiles(tail, d) for d in (self.degrees, math.inf))
        return math.sqrt(1.0 + 1.0 / self.degrees) * t / z

    @property
    def least_p(self) -> float:
        """The least two-sided p-value of K speakers who contribute, by flips of signs: 2^(1-K)."""
        return float(self.student.least_p if self.student else 2.0**-self.degrees)

    def interval_of(self, kind: IntervalKind, confidence: float | None = None) -> tuple[Any, Any]:
        r"""Make another interval from the same replicates.

        Parameters
        ----------
        kind : {"percentile", "basic", "ratio", "normal", "student"}
            ``"percentile"``: the quantiles :math:`q_{\alpha/2}` and :math:`q_{1-\alpha/2}` of the
            replicates, as in the papers. ``"basic"``: :math:`2\hat\theta - q_{1-\alpha/2}` and
            :math:`2\hat\theta - q_{\alpha/2}`. ``"ratio"``, not of differences: the same on a
            logarithmic scale, :math:`\hat\theta^2 / q_{1-\alpha/2}` and
            :math:`\hat\theta^2 / q_{\alpha/2}`, of an estimate of 0 the quantiles. ``"normal"``:
            :math:`\hat\theta \pm z_{1-\alpha/2}` standard errors. ``"student"``, of speakers only:
            :math:`\hat\theta\, e^{-t\, SE/\hat\theta}` with the standard error of
            `speaker_interval` and quantiles t of
            :math:`\log(\theta^*/\hat\theta)\, \theta^* / SE^*` over replicates, at most 1.5 times
            those of Student's t with the degrees of `speaker_interval`; a replicate without any
            loss counts as :math:`-\infty`. Of a difference :math:`\hat\theta \pm t\, SE` with
            quantiles of :math:`|\theta^* - \hat\theta| / SE^*`.
        confidence : float, optional
            Nominal coverage, strictly between 0 and 1; that of the result by default.

        Returns
        -------
        low, high : float or ndarray of float64
            Clipped to the values that the statistic can take. Where no replicate differs, what the
            number n of trials, sets or speakers of each class leaves open: of a share
            :math:`1 - (\alpha/2)^{1/n}` of them the scores might have been any.

        Notes
        -----
        Quantiles are Hyndman and Fan's definition 2, see `quantile`.
        """
        check.check_choice(kind, IntervalKind, "interval")
        level = self.confidence if confidence is None else confidence
        level = check.check_fraction(level, "confidence")
        estimate = self.estimate
        low: Any
        high: Any
        if kind == "student":
            if self.student is None:
                hint = "Only built-in metrics have one, no curves, and only if speakers are drawn."
                raise check.invalid(
                    "interval", "be percentile, basic or normal here", "student", hint
                )
            low, high = self.student.ends(level)
        elif kind == "normal":
            half = scipy.special.ndtri((1.0 + level) / 2.0) * np.asarray(self.standard_error)
            low, high = estimate - half, estimate + half
        else:
            low, high = quantile(self._defined, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
            if kind == "basic":
                low, high = 2.0 * estimate - high, 2.0 * estimate - low
            elif kind == "ratio":
                low, high = self._mirrored_ratios(low, high)
        if self.is_difference and kind != "student":
            nothing = (np.asarray(self.standard_error) == 0) & (np.asarray(estimate) != 0)
            low, high = np.where(nothing, -np.inf, low), np.where(nothing, np.inf, high)
            # Of B replicates no p-value is below 2 / B, whatever their quantiles are.
            few = 0.0 if kind == "normal" else 2.0 / self._defined.shape[0]
            if max(self.least_p, few) >= 1.0 - level:
                low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
        if self.open_ends is not None:
            none = np.equal(low, high) if kind == "student" else np.equal(self.standard_error, 0)
            if none.any():
                least, most = self.open_ends(level)
                low = np.where(none, np.minimum(least, estimate), low)
                high = np.where(none, np.maximum(most, estimate), high)
        return as_plain(np.clip(low, *self.bounds)), as_plain(np.clip(high, *self.bounds))

    def _mirrored_ratios(self, low: Any, high: Any) -> tuple[Float64Array, Float64Array]:
        """Mirror quantiles about the estimate on a logarithmic scale."""
        if self.is_difference:
            raise check.invalid(
                "interval", "be of one system", "ratio", "Differences take basic ones."
            )
        estimate = np.asarray(self.estimate)
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = estimate**2 / np.array((high, low))
        # There is no logarithm of 0.
        plain = np.minimum(low, estimate), np.maximum(high, estimate)
        return np.where(estimate > 0, ends[0], plain[0]), np.where(estimate > 0, ends[1], plain[1])

    def p_value(self, alternative: Alternative) -> Any:
        """Test if the true value is 0, by the inversion of the interval of this result.

        Parameters
        ----------
        alternative : {"two-sided", "less", "greater"}
            Whether any value counts, or only one below or above 0.

        Returns
        -------
        float or ndarray of float64
            A two-sided p-value is below 1 - confidence if and only if 0 lies outside the interval
            of `interval_of`. Of replicates not below 1 / B, of K speakers not below 2^(1-K).
        """
        check.check_choice(alternative, Alternative, "alternative")
        if self.interval == "student" and self.student is not None:
            return self.student.p_value(alternative)
        estimate, spread = np.asarray(self.estimate), np.asarray(self.standard_error)
        if self.interval == "normal":
            with np.errstate(divide="ignore", invalid="ignore"):
                z = np.where(spread > 0, estimate / spread, 0.0)
            p_value = normal_p_value(z, alternative)
        else:
            # What percentile intervals ask of 0, basic ones ask of twice the estimate.
            sample = (
                self._defined if self.interval == "percentile" else 2.0 * estimate - self._defined
            )
            below, above = _tail(sample), _tail(-sample)
            both = np.minimum(2.0 * np.minimum(below, above), 1.0)
            p_value = {"two-sided": both, "less": above, "greater": below}[alternative]
        # A z of 40 has a p-value that a float cannot hold; none is 0.
        least = max(self.least_p, np.finfo(np.float64).tiny)
        p_value = np.maximum(p_value, least if alternative == "two-sided" else 0.5 * least)
        # Where nothing varies, replicates do not tell chance from habit.
        nothing = 1.0 if alternative == "two-sided" else 0.5
        return as_plain(np.where(spread > 0, p_value, nothing))

    def test(self, value: float, alternative: Alternative = "two-sided") -> ValueTest:
        r"""Test if the true value is a stated one, by the inversion of the interval of this result.

        Parameters
        ----------
        value, alternative
            As for `Interval.test`.

        Returns
        -------
        ValueTest
            The two-sided p-value is below 1 - confidence if and only if the value lies outside the
            interval. Of B replicates no p-value of percentile and basic intervals is below 2 / B.

        Raises
        ------
        InvalidInputError
            If the statistic has several numbers.

        Notes
        -----
        Wu et al. 2017, section IX, compare :math:`(\hat\theta - \theta_0)/SE` with the normal
        law, as ``interval="normal"`` does. Here the p-value is that of the interval that is
        printed: twice the least tail at which an end of `interval_of` passes the value.

        Examples
        --------
        >>> import numpy as np
        >>> from bosaris_py import uncertainty as unc
        >>> rng = np.random.default_rng(1)
        >>> result = unc.bootstrap(2 + rng.normal(size=500), rng.normal(size=500), unc.EER(), rng=1)
        >>> result.test(0.25).lies, result.test(0.16).lies
        ('below', 'contains')
        """
        value = check.as_number(value, "value", "be finite", math.isfinite)
        if np.ndim(self.estimate):
            hint = "Test its numbers one by one, as statistics of their own."
            raise check.invalid("statistic", "have one number", f"{np.size(self.estimate)}", hint)
        below, above = self._tail_of(value, 1), self._tail_of(value, 0)
        # At least half of the law lies on that side of the value where the estimate is.
        less = below if below < 0.5 else 1.0 - above
        greater = above if above < 0.5 else 1.0 - below
        return _value_test(self, value, (less, greater), alternative, self.method)

    def _tail_of(self, value: float, end: int) -> float:
        """Return the least tail at which an end of the interval has passed a value, at most 1/2."""

        def passed(tail: float) -> bool:
            ends = self.interval_of(self.interval, 1.0 - 2.0 * tail)
            return bool(ends[0] > value if end == 0 else ends[1] < value)

        least = _LEAST_TAIL
        if self.interval in {"percentile", "basic", "ratio"}:
            least = max(least, 1.0 / self._defined.shape[0])
        # The interval of this result says on which side of its own tail the answer is.
        own = 0.5 - 0.5 * self.confidence
        # What lies outside has a smaller p-value, however few replicates there are.
        outside, most = passed(own), own * (1.0 - 1e-9)
        least = min(least, most)
        low, high = (least, own) if outside else (own, 0.5 - _LEAST_TAIL)
        if not passed(high):
            return 0.5
        if low < own and passed(low):
            return least
        while high - low > 1e-9 * low:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if passed(middle) else (middle, high)
        return min(high, most) if outside else high

    def normality_test(self) -> NormalityTest:
        """Test if the replicates look normal; see `bosaris_py.uncertainty.normality_test`.

        Returns
        -------
        NormalityTest
        """
        return normality_test(self._defined)


def _tail(sample: Float64Array) -> Float64Array:
    """Return the chance at which the quantile of `quantile` crosses 0; at least 1 / n."""
    size = sample.shape[0]
    low = sample <= 0
    n_low = np.count_nonzero(low, axis=0)
    # At n p = n_low the quantile is the mean of its two neighbours.
    last = np.where(low, sample, -np.inf).max(axis=0)
    following = np.where(low, np.inf, sample).min(axis=0)
    with np.errstate(invalid="ignore"):
        step = np.where(last + following > 0, -0.5, 0.5) * 1e-12
    return np.asarray(np.maximum(n_low + step, 1.0) / size)


def defined_replicates(replicates: Float64Array) -> BoolArray:
    """Tell on which replicates the statistic is finite."""
    return np.asarray(np.isfinite(replicates.reshape(replicates.shape[0], -1)).all(axis=1))


def warn_of_degenerate(result: BootstrapResult) -> bool:
    """Warn if the statistic is not defined on some replicates; return whether it is so."""
    if result.n_degenerate:
        finding = (
            f"{result.n_degenerate} of {result.replicates.shape[0]} bootstrap replicates are "
            "degenerate: they lost a class, or the statistic returned NaN or infinity."
        )
        if not np.any(result.standard_error):
            finding += (
                " All others are alike, so the standard error is 0: there are too few speakers or "
                "sets, and the estimate is not certain."
            )
        advice = "Standard error and interval leave them out, and may be too small."
        warn_caller(finding, DegenerateReplicatesWarning, advice, count=result.n_degenerate)
    return result.n_degenerate > 0


def warn_of_no_variation(result: BootstrapResult) -> None:
    """Warn if the statistic is a number, and the same on all replicates."""
    if np.ndim(result.standard_error) == 0 and result.standard_error == 0:
        warn_caller(
            f"All {result.replicates.shape[0]} bootstrap replicates are alike, so the standard "
            "error is 0: that does not mean that the estimate is certain, but that the data show "
            "no variation.",
            FewErrorsWarning,
            "The interval is what the number of trials, sets or speakers leaves open.",
        )


def as_plain(value: object) -> float | Float64Array:
    """Return a 0-d array as a float, others read-only."""
    array = np.asarray(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else mark_read_only(array)
