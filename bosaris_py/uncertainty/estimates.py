"""What this layer reports: an estimate with its interval, and the outcome of a z-test."""

import math
from typing import Literal, get_args

import attrs
from scipy import special

from bosaris_py._validation import check_fraction, describe, invalid

__all__ = ["Alternative", "Interval", "ZTest", "check_choice", "normal_interval", "z_test"]

Alternative = Literal["two-sided", "less", "greater"]


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
    """

    estimate: float
    low: float
    high: float
    standard_error: float
    confidence: float
    method: str

    @property
    def width(self) -> float:
        """Length of the interval, high - low."""
        return self.high - self.low

    @property
    def relative_error(self) -> float:
        """Half the width of the normal 95 % interval over the estimate, 1.96 SE / estimate.

        As the tables of Wu et al. 2016 print it, as a fraction; inf for an
        estimate of 0.
        """
        if self.estimate == 0:
            return math.inf
        return 1.96 * self.standard_error / self.estimate

    def __repr__(self) -> str:
        """Put estimate, interval, standard error and method on one line."""
        return (
            f"{self.estimate:.4g} ({100 * self.confidence:g} % interval {self.low:.4g} to "
            f"{self.high:.4g}, standard error {self.standard_error:.2g}; {self.method})"
        )


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
        What counts as extreme: any difference, or one that is less or greater
        than zero.
    method : str
        Which variant of the test it was.
    """

    difference: float
    standard_error: float
    z: float
    p_value: float
    alternative: Alternative
    method: str

    @property
    def confidence(self) -> float:
        """1 - p: the confidence that the systems differ, Bengio and Mariethoz's delta."""
        return 1.0 - self.p_value

    def interval(self, confidence: float = 0.95) -> Interval:
        """Return the normal confidence interval of the difference.

        Parameters
        ----------
        confidence : float, default: 0.95
            Strictly between 0 and 1.

        Returns
        -------
        Interval
        """
        return normal_interval(
            self.difference, self.standard_error, confidence, self.method, "ZTest.interval"
        )

    def __repr__(self) -> str:
        """Put difference, standard error, z and p on one line."""
        return (
            f"difference {self.difference:.4g}, standard error {self.standard_error:.2g}, "
            f"z {self.z:.3g}, p {self.p_value:.3g} ({self.alternative}; {self.method})"
        )


def normal_interval(
    estimate: float, standard_error: float, confidence: float, method: str, owner: str
) -> Interval:
    """Return estimate -+ z SE, with the exact normal quantile; not clipped."""
    half = float(special.ndtri(0.5 + 0.5 * check_fraction(confidence, "confidence", owner)))
    half *= standard_error
    return Interval(
        float(estimate),
        float(estimate - half),
        float(estimate + half),
        float(standard_error),
        float(confidence),
        method,
    )


def z_test(
    difference: float, standard_error: float, alternative: Alternative, method: str, owner: str
) -> ZTest:
    """Compare a difference with its standard error under the normal distribution."""
    check_choice(alternative, get_args(Alternative), "alternative", owner)
    if standard_error > 0:
        z = difference / standard_error
    else:
        z = math.copysign(math.inf, difference) if difference else 0.0
    # The lower tail is used throughout: 1 - ndtr(z) would round small p to zero.
    tail = {"two-sided": -abs(z), "less": z, "greater": -z}[alternative]
    p_value = float(special.ndtr(tail)) * (2.0 if alternative == "two-sided" else 1.0)
    return ZTest(float(difference), float(standard_error), float(z), p_value, alternative, method)


def check_choice(value: object, choices: tuple[str, ...], name: str, owner: str) -> None:
    """Raise unless `value` is one of `choices`."""
    if value not in choices:
        listed = ", ".join(f'"{choice}"' for choice in choices)
        raise invalid(name, owner, f"be one of {listed}", describe(value))
