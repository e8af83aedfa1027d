"""How many speakers to record, from the influences of a pilot."""

from __future__ import annotations

import math

import numpy as np
import scipy

from bosaris_py._validation import check_fraction, invalid
from bosaris_py.uncertainty.influence.speaker_influence import SpeakerInfluence


class SpeakersNeeded(int):
    r"""A number of speakers to record, with the uncertainty that it takes from a pilot.

    It is a whole number, the upper end of an interval by the chi-square law of a variance, with
    :math:`(\sum_k \psi_k^2)^2 / \sum_k \psi_k^4 - 1` degrees for influences :math:`\psi_k`: few
    speakers make most of it. In simulations with normal effects of speakers nine in ten upper ends
    of 90 % intervals sufficed, with heavy tails as few as four in ten.

    Parameters
    ----------
    high : int
        Upper end of the interval.
    estimate, low : int
        What the pilot says, and the lower end.
    n_trials : int
        Number of trials if each speaker has as many models and segments as in the pilot, and all
        meet: targets in proportion to the speakers, non-targets to their square.
    confidence : float
        Of the interval.
    """

    estimate: int
    low: int
    n_trials: int
    confidence: float

    def __new__(
        cls, high: int, estimate: int, low: int, n_trials: int, confidence: float
    ) -> "SpeakersNeeded":
        """Make the number and attach the others."""
        number = super().__new__(cls, high)
        number.estimate, number.low = estimate, low
        number.n_trials, number.confidence = n_trials, confidence
        return number

    def __getnewargs__(self) -> tuple[int, int, int, int, float]:  # type: ignore[override]
        """Keep the others when pickled or copied."""
        return int(self), self.estimate, self.low, self.n_trials, self.confidence

    def __repr__(self) -> str:
        """Show the number, and what it was made of."""
        percent = f"{100 * self.confidence:g} % interval {self.low} to {int(self)}"
        return f"{int(self)} speakers (estimate {self.estimate}, {percent}; {self.n_trials} trials)"


def speakers_for(ratio: float, pilot: SpeakerInfluence, confidence: float) -> SpeakersNeeded:
    """Return how many speakers leave a variance `ratio` times smaller than that of a pilot."""
    pairs, k = pilot.pairs, pilot.pairs.n_speakers
    if not ratio > 0:
        hint = "Nothing varies among its speakers, so it does not tell how many are needed."
        raise invalid("pilot", "have a standard error above 0", "0", hint)
    tail = 0.5 - 0.5 * check_fraction(confidence, "confidence")
    # nu s^2 / sigma^2 is about chi-square of nu degrees, so sigma^2 has this interval.
    degrees = pilot.degrees_of_variance
    factors = degrees / scipy.special.chdtri(degrees, np.array([tail, 1.0 - tail]))
    low, estimate, high = (math.ceil(k * ratio * f) for f in (factors[0], 1.0, factors[1]))
    n_tar, n_non = pairs.n_trials
    n_trials = math.ceil(n_tar * high / k) + math.ceil(n_non * (high / k) ** 2)
    return SpeakersNeeded(high, estimate, low, n_trials, confidence)
