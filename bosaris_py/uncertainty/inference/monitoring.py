"""Watching a rate of a system in use: e-values, and confidence sequences that hold at any time."""

from __future__ import annotations

import math

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import Float64Array, Readable, mark_read_only
from bosaris_py._validation import as_vector, check_fraction, describe, invalid, refuse_nan
from bosaris_py.errors import TrialMismatchError

# Cells of rates: the ends of a confidence sequence are rounded outwards to a thousandth.
_CELLS = 1000

# No bet is more than this share of the largest that cannot lose all.
_MOST = 0.5


@attrs.frozen(eq=False, repr=False)
class Monitor(metaclass=Readable):
    r"""The losses of new speakers as they came, and what they say at each time; see `monitor`.

    Parameters
    ----------
    losses : (t,) ndarray of float64
        The loss of each speaker, in the order of arrival. Read-only.
    speakers : tuple of str
        Who came, in the same order.
    baseline : float
        The rate that may not be exceeded.
    level : float
        The chance that there ever is a false alarm.
    e_values : (t,) ndarray of float64
        The evidence against the baseline after each speaker.
    low, high : (t,) ndarray of float64
        Ends of the confidence sequence of the rate after each speaker.
    """

    losses: Float64Array
    speakers: tuple[str, ...]
    baseline: float
    level: float
    e_values: Float64Array
    low: Float64Array
    high: Float64Array

    @property
    def alarm_at(self) -> int | None:
        """After how many speakers the rate is surely above the baseline; None if it is not."""
        above = np.flatnonzero(self.e_values >= 1.0 / self.level)
        return int(above[0]) + 1 if above.size else None

    def add(self, speakers: npt.ArrayLike, losses: npt.ArrayLike) -> Monitor:
        """Return the monitor with more speakers.

        Parameters
        ----------
        speakers : (n,) array_like of str
            New speakers, in the order of arrival.
        losses : (n,) array_like of float
            The loss of each, in [0, 1].

        Returns
        -------
        Monitor

        Raises
        ------
        InvalidInputError
            If a speaker came before, or a loss is not in [0, 1].
        """
        more = as_vector(losses, "losses").astype(np.float64)
        return monitor(
            [*self.speakers, *np.asarray(speakers).astype(str).tolist()],
            np.concatenate([self.losses, more]),
            baseline=self.baseline,
            level=self.level,
        )

    def __repr__(self) -> str:
        """Say what is known now."""
        n = self.losses.size
        percent = f"{100 * (1 - self.level):g} % confidence sequence"
        alarm = "no alarm" if self.alarm_at is None else f"alarm after {self.alarm_at}"
        return (
            f"Monitor: {n} speakers, rate {self.losses.mean():.4g} ({percent} {self.low[-1]:.4g} "
            f"to {self.high[-1]:.4g}), baseline {self.baseline:g}, e-value "
            f"{self.e_values[-1]:.3g}: {alarm}"
        )


def monitor(
    speakers: npt.ArrayLike,
    losses: npt.ArrayLike,
    *,
    baseline: float,
    level: float = 0.05,
    enrolled: npt.ArrayLike = (),
) -> Monitor:
    r"""Watch the error-rate of a system in use, speaker by speaker, with an alarm at any time.

    There is no planned end: look after each speaker, stop or go on. The chance that there ever is
    an alarm while the rate is at most the baseline is at most `level`.

    Parameters
    ----------
    speakers : (t,) array_like of str
        New speakers in the order of arrival, each once.
    losses : (t,) array_like of float
        One loss for each, in [0, 1]: the share of the speaker's trials against the enrolled
        speakers that are false alarms, at a threshold that was fixed before.
    baseline : float
        The rate that may not be exceeded, strictly between 0 and 1. It is given, such as by an
        agreement. The estimate of an evaluation is uncertain itself: give its `Interval.upper`.
    level : float, default: 0.05
        The chance that there ever is a false alarm.
    enrolled : array_like of str, optional
        The speakers whom the new ones are scored against. No new speaker may be one of them.

    Returns
    -------
    Monitor
        E-values, a confidence sequence and the alarm.

    Raises
    ------
    InvalidInputError
        If a loss is not in [0, 1], or a speaker comes twice or is enrolled.
    TrialMismatchError
        If there is not one loss for each speaker.

    See Also
    --------
    speaker_interval : The interval of one evaluation of a planned size.

    Notes
    -----
    The new speakers are independent draws, and the enrolled set stays as it is: what is watched is
    the rate against that set. Do not enrol new speakers and score later ones against them. Their
    losses would depend on each other, and the e-values would not be valid.

    With losses :math:`X_t` and a baseline m the e-value is the capital of a bettor,

    .. math::

        E_t = \prod_{i \le t} \big(1 + \lambda_i (X_i - m)\big), \quad
        0 \le \lambda_i \le \frac{1}{2m},

    whose bets depend on the past only. If :math:`E[X_t] \le m`, its mean is at most one, and it
    ever reaches :math:`1 / level` with a chance of at most the level (Ville). The bet is
    :math:`(\hat\mu - m) / (\hat\sigma^2 + (\hat\mu - m)^2)` within its limits, with mean and
    variance of the losses so far. Half of the first capital always bets
    :math:`1 / (m + 4 m / (1 - m))`. The confidence sequence holds the rates against which neither
    of two bettors, for a greater and for a smaller rate, has reached :math:`2 / level`: I.
    Waudby-Smith and A. Ramdas, Journal of the Royal Statistical Society B 86, 2024. It needs no
    normal law: it is an honest interval of bounded losses with few errors, and a long one.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> names = [f"caller{i}" for i in range(300)]
    >>> good, bad = (rng.binomial(20, p, 300) / 20 for p in (0.05, 0.1))
    >>> monitor(names, good, baseline=0.05).alarm_at is None
    True
    >>> monitor(names, bad, baseline=0.05).alarm_at < 150
    True
    """
    values = as_vector(losses, "losses").astype(np.float64)
    refuse_nan(values, "losses")
    names = [str(name) for name in np.asarray(speakers).ravel().tolist()]
    if len(names) != values.size:
        raise TrialMismatchError(
            f"`losses` must have one loss for each speaker; got {values.size} losses of "
            f"{len(names)} speakers."
        )
    if not names:
        raise invalid("speakers", "hold at least one speaker", "none")
    bad = (values < 0) | (values > 1)
    if bad.any():
        hint = "A loss is the share of a speaker's trials that are errors."
        raise invalid("losses", "lie in [0, 1]", f"{values[bad][0]:g}", hint)
    seen = {str(name) for name in np.asarray(enrolled).ravel().tolist()}
    known = seen.copy()
    for name in names:
        if name in known:
            hint = (
                "The enrolled set is fixed: who came is not enrolled while the system is watched."
                if name in seen
                else "Average all trials of a speaker into one loss."
            )
            expected = "be new, each once and none of `enrolled`"
            raise invalid("speakers", expected, describe(name), hint)
        known.add(name)
    alpha, rate = check_fraction(level, "level"), check_fraction(baseline, "baseline")
    e_values = np.exp(np.clip(_capital(values, np.array([rate]))[:, 0], None, 700.0))
    low, high = _sequence(values, alpha)
    arrays = (mark_read_only(x) for x in (e_values, low, high))
    return Monitor(mark_read_only(values.copy()), tuple(names), rate, alpha, *arrays)


def _capital(losses: Float64Array, rates: Float64Array) -> Float64Array:
    """Return the logarithm of the capital after each loss of bets on more than each rate."""
    # What was seen before each loss, with one loss at the rate, of a coin's variance, before all.
    n = np.arange(losses.size, dtype=np.float64)
    before = np.append(0.0, np.cumsum(losses)[:-1])
    squares = np.append(0.0, np.cumsum(losses**2)[:-1])
    centre = (before[:, None] + rates) / (n[:, None] + 1.0)
    spread = squares[:, None] - 2 * centre * before[:, None] + n[:, None] * centre**2
    variance = (np.maximum(spread, 0.0) + rates * (1 - rates)) / (n[:, None] + 1.0)
    gap = centre - rates
    most = _MOST / rates
    bet = np.clip(gap / (variance + gap**2), 0.0, most)
    adaptive = np.cumsum(np.log1p(bet * (losses[:, None] - rates)), axis=0)
    steady = np.minimum(1.0 / (rates + 4.0 * rates / (1.0 - rates)), most)
    fixed = np.cumsum(np.log1p(steady * (losses[:, None] - rates)), axis=0)
    return np.asarray(np.logaddexp(adaptive, fixed) - math.log(2.0))


def _sequence(losses: Float64Array, level: float) -> tuple[Float64Array, Float64Array]:
    """Return the ends of the confidence sequence, each the tightest so far."""
    # The upper edge of each cell: with it all smaller rates are refuted.
    rates = np.arange(1, _CELLS) / _CELLS
    limit = math.log(2.0 / level)
    ends = []
    # A rate of losses below some rate is one of their complements above the complement.
    for values in (losses, 1.0 - losses):
        refuted = np.logical_or.accumulate(_capital(values, rates) >= limit, axis=0)
        # The number of rates, from the least one on, that are all refuted.
        first = np.where(refuted.all(axis=1), _CELLS - 1, np.argmin(refuted, axis=1))
        ends.append(np.maximum.accumulate(first / _CELLS))
    return ends[0], np.maximum(1.0 - ends[1], ends[0])
