"""What a bootstrap found: replicates, their spread, and intervals made from them."""

import math
from typing import Any, Literal, TypeAlias, get_args

import attrs
import numpy as np
import numpy.typing as npt
from scipy import special

from bosaris_py._validation import check_fraction, frozen, invalid, warn_caller
from bosaris_py.errors import DegenerateReplicatesWarning, FewErrorsWarning
from bosaris_py.uncertainty.estimates import check_choice
from bosaris_py.uncertainty.normality import NormalityTest, normality_test
from bosaris_py.uncertainty.quantiles import quantile

__all__ = ["BootstrapResult", "IntervalKind", "check_interval", "relative_error"]

Float64Array = npt.NDArray[np.float64]
IntervalKind: TypeAlias = Literal["percentile", "basic", "normal"]

# A standard deviation takes two.
_FEWEST_REPLICATES = 2

# Equal values of a statistic may differ by this share of them, from sums in another order.
_ROUNDING = 2.0**-44


def relative_error(standard_error: npt.ArrayLike, estimate: npt.ArrayLike) -> Any:
    """Compute half the width of a normal 95 % interval over the estimate.

    Parameters
    ----------
    standard_error : float or array_like of float
        Standard error of the estimate.
    estimate : float or array_like of float
        The estimate.

    Returns
    -------
    float or ndarray of float64
        1.96 SE / estimate, a fraction; inf or NaN where the estimate is 0.

    Notes
    -----
    The relative error that tables I to III of Wu et al. 2016 print, in percent.

    Examples
    --------
    System EL in their table I, i.i.d. bootstrap, printed as 6.15 %:

    >>> round(100 * relative_error(0.000696, 0.022199), 2)
    6.15
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = 1.96 * np.asarray(standard_error, dtype=np.float64) / np.asarray(estimate)
    return float(ratio) if ratio.ndim == 0 else ratio


def check_interval(interval: object, owner: str) -> None:
    """Raise unless `interval` names a kind of interval."""
    check_choice(interval, get_args(IntervalKind), "interval", owner)


@attrs.frozen(eq=False, repr=False)
class BootstrapResult:
    """A statistic with the spread of its bootstrap replicates.

    Numbers are floats; for a statistic whose value is an array they are arrays
    of the same shape.

    Parameters
    ----------
    estimate : float or ndarray of float64
        The statistic of the data themselves.
    standard_error : float or ndarray of float64
        Standard deviation of the replicates, with B - 1 in the denominator; 0 if they
        differ by rounding only.
    low, high : float or ndarray of float64
        Ends of the confidence interval.
    replicates : (B,) or (B, ...) ndarray of float64
        All replicates in the order drawn; NaN where the statistic is not
        defined.
    method : str
        How trials were resampled.
    interval : {"percentile", "basic", "normal"}
        How the interval was made, see `interval_of`.
    confidence : float
        Its nominal coverage.
    n_degenerate : int
        Number of replicates on which the statistic is not defined; they are
        left out of standard error and interval.
    bounds : tuple of two floats or arrays
        Least and greatest possible value; intervals are clipped to it.
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

    @classmethod
    def from_replicates(
        cls,
        estimate: Any,
        replicates: Float64Array,
        *,
        method: str,
        interval: IntervalKind,
        confidence: float,
        bounds: tuple[npt.ArrayLike, npt.ArrayLike],
        owner: str,
        quiet: bool = False,
        told: bool = False,
        magnitude: Any = 0.0,
    ) -> "BootstrapResult":
        """Summarise replicates; warn about those that are not defined.

        Parameters
        ----------
        estimate : float or ndarray of float64
            The statistic of the data.
        replicates : (B, ...) ndarray of float64
            NaN or infinite where the statistic is not defined.
        method, interval, confidence, bounds
            As in `BootstrapResult`.
        owner : str
            The public function that asks, for messages.
        quiet : bool, default: False
            Leave out the warnings, where the caller has given them.
        told : bool, default: False
            Whether the caller has warned of few errors.
        magnitude : float or ndarray, default: 0
            Size of the numbers whose difference the replicates are: what is small
            beside it is rounding.

        Returns
        -------
        BootstrapResult

        Raises
        ------
        InvalidInputError
            If the statistic is defined on fewer than two replicates.

        Warns
        -----
        DegenerateReplicatesWarning
            If there are replicates on which it is not defined.
        FewErrorsWarning
            If the statistic is a number, and all replicates are alike.
        """
        defined = np.isfinite(replicates.reshape(replicates.shape[0], -1)).all(axis=1)
        n_degenerate = int(np.count_nonzero(~defined))
        total = defined.size
        if total - n_degenerate < _FEWEST_REPLICATES:
            expected = f"be defined on at least {_FEWEST_REPLICATES} replicates"
            got = f"{total - n_degenerate} of {total}"
            hint = "The others lost a class, or the statistic returned NaN or infinity."
            raise invalid("statistic", owner, expected, got, hint)
        spread = _spread(replicates[defined], magnitude)
        alike = not np.any(spread)
        if n_degenerate and not quiet:
            message = (
                f"{n_degenerate} of {total} bootstrap replicates are degenerate: they lost a "
                "class, or the statistic returned NaN or infinity. Standard error and interval "
                "leave them out, and may be too small."
            )
            if alike:
                message += (
                    " All others are alike, so the standard error is 0: that does not mean that "
                    "the estimate is certain, but that there are too few speakers or sets."
                )
            warn_caller(message, DegenerateReplicatesWarning)
        elif alike and not np.ndim(spread) and not quiet and not told:
            message = (
                f"All {total} bootstrap replicates are alike, so the standard error is 0: that "
                "does not mean that the estimate is certain, but that the data show no variation."
            )
            warn_caller(message, FewErrorsWarning)
        unfinished = cls(
            estimate, spread, estimate, estimate, frozen(replicates), method, interval,
            confidence, n_degenerate, bounds,
        )  # fmt: skip
        low, high = unfinished.interval_of(interval, confidence)
        return attrs.evolve(unfinished, low=low, high=high)

    def __repr__(self) -> str:
        """Put estimate, standard error and interval on one line."""
        tail = f", {self.n_degenerate} degenerate" if self.n_degenerate else ""
        how = f"{self.method} bootstrap, {self.replicates.shape[0]} replicates{tail}"
        percent = f"{100 * self.confidence:g} % {self.interval} interval"
        if np.ndim(self.estimate):
            return f"BootstrapResult: {np.size(self.estimate)} values, {percent}s; {how}"
        return (
            f"BootstrapResult: {self.estimate:.4g}, standard error {self.standard_error:.2g}, "
            f"{percent} {self.low:.4g} to {self.high:.4g}; {how}"
        )

    @property
    def _defined(self) -> Float64Array:
        if not self.n_degenerate:
            return self.replicates
        flat = self.replicates.reshape(self.replicates.shape[0], -1)
        return self.replicates[np.isfinite(flat).all(axis=1)]

    @property
    def relative_error(self) -> Any:
        """1.96 SE / estimate, as the tables of Wu et al. 2016 print it; a fraction."""
        return relative_error(self.standard_error, self.estimate)

    @property
    def bias(self) -> Any:
        """Mean of the replicates minus the estimate; negative for minimum costs."""
        return _plain(self._defined.mean(axis=0) - self.estimate)

    @property
    def monte_carlo_error(self) -> Any:
        r"""How much `standard_error` would vary from run to run, from these replicates.

        With B replicates of standard deviation s and fourth central moment
        :math:`m_4`, :math:`\sqrt{(m_4 - s^4 (B-3)/(B-1)) / B} / (2 s)`; about
        :math:`s / \sqrt{2B}` for normal replicates. `standard_error_distribution`
        measures it by repeating the bootstrap.
        """
        sample = self._defined
        n = sample.shape[0]
        variance = sample.var(axis=0, ddof=1)
        fourth = np.mean((sample - sample.mean(axis=0)) ** 4, axis=0)
        of_variance = np.maximum(fourth - variance**2 * (n - 3) / (n - 1), 0.0) / n
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.sqrt(of_variance) / (2.0 * np.sqrt(variance))
        return _plain(np.where(np.asarray(self.standard_error) > 0, error, 0.0))

    def interval_of(self, kind: IntervalKind, confidence: float | None = None) -> tuple[Any, Any]:
        r"""Make another interval from the same replicates.

        Parameters
        ----------
        kind : {"percentile", "basic", "normal"}
            ``"percentile"``: the quantiles :math:`q_{\alpha/2}` and
            :math:`q_{1-\alpha/2}` of the replicates, as in the papers.
            ``"basic"``: :math:`2\hat\theta - q_{1-\alpha/2}` and
            :math:`2\hat\theta - q_{\alpha/2}`. ``"normal"``:
            :math:`\hat\theta \pm z_{1-\alpha/2}` standard errors.
        confidence : float, optional
            Nominal coverage, strictly between 0 and 1; that of the result by
            default.

        Returns
        -------
        low, high : float or ndarray of float64
            Clipped to the values that the statistic can take, so that no
            interval of a rate leaves [0, 1].

        Raises
        ------
        InvalidInputError
            If the kind is unknown or `confidence` is not in (0, 1).

        Notes
        -----
        Quantiles are Hyndman and Fan's definition 2, see `quantile`.
        """
        owner = "BootstrapResult.interval_of"
        check_interval(kind, owner)
        level = self.confidence if confidence is None else confidence
        level = check_fraction(level, "confidence", owner)
        estimate = self.estimate
        if kind == "normal":
            half = special.ndtri((1.0 + level) / 2.0) * np.asarray(self.standard_error)
            low, high = estimate - half, estimate + half
        else:
            low, high = quantile(self._defined, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
            if kind == "basic":
                low, high = 2.0 * estimate - high, 2.0 * estimate - low
        return _plain(np.clip(low, *self.bounds)), _plain(np.clip(high, *self.bounds))

    def normality_test(self) -> NormalityTest:
        """Test with Shapiro and Wilk's test if the replicates look normal.

        Returns
        -------
        NormalityTest

        Raises
        ------
        InvalidInputError
            If the statistic is an array, or there are more than 5000
            replicates, for which the test's p-value is not known.

        See Also
        --------
        bosaris_py.uncertainty.normality_test : The test itself.
        """
        return normality_test(self._defined)


def _spread(sample: Float64Array, magnitude: Any) -> Any:
    """Return the standard deviation along the first axis; 0 where only rounding varies."""
    size = np.maximum(np.abs(sample).max(axis=0), magnitude)
    varies = np.ptp(sample, axis=0) > _ROUNDING * size
    return _plain(np.where(varies, sample.std(axis=0, ddof=1), 0.0))


def _plain(value: Any) -> Any:
    """Return a 0-d array as a float."""
    array = np.asarray(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else frozen(array)
