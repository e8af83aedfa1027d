r"""Intervals of a transferred cost without replicates: how far dev leaves its threshold open.

Let dev choose the threshold at which a difference D of its rates has a given value. Of "fmr" and
"fnmr" this is one rate, of "eer" the miss rate less the false-alarm rate. If D has the error
:math:`\delta` at the chosen threshold, all speakers like those of dev would choose one that is
:math:`-\delta / D'` away. To first order a cost C of the test set has the variance

.. math::

    V = V_{test} + (C' / D')^2 \, V_{dev},

with derivatives that are densities of scores. They need not be estimated, as Woodruff (1952) found
for quantiles. At the ends of the interval of D dev has two thresholds, and the test set two costs.
Their distance has :math:`C'/D'` in it. Where C is least near the threshold, only the upper end
moves.

The threshold of the least cost is no such case. There the derivative of the cost of dev is zero, so
noise alone decides among neighbours. Its error falls as the cube root of the number of trials, and
is not normal (Kim and Pollard 1990). It has intervals by replicates only.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bosaris_py._validation import invalid
from bosaris_py.evaluation.transfer import ThresholdRule, moved_threshold
from bosaris_py.trials.sample import Sample
from bosaris_py.uncertainty.bootstrap_result import Interval, student_quantiles
from bosaris_py.uncertainty.influence.losses import FixedCost
from bosaris_py.uncertainty.influence.speaker_influence import METHOD, SpeakerInfluence
from bosaris_py.uncertainty.threshold_transfer.draws import DrawnSet

Pair = tuple[float, float]

# Ends on the logarithmic scale are a factor of at most e to this power away.
_FARTHEST = 700.0


class ErrorsAt(NamedTuple):
    """The errors of a set at one threshold; without speakers, trials are independent."""

    sample: Sample
    drawn: DrawnSet | None
    threshold: float
    # Miss rate and false-alarm rate.
    rates: Pair

    def by_speaker(self, prices: Pair, confidence: float) -> Interval:
        """Return the interval of a sum of both rates by speaker, on the logarithmic scale."""
        assert self.drawn is not None
        value = prices[0] * self.rates[0] + prices[1] * self.rates[1]
        if self.drawn.plan.non.second is not None:
            losses = FixedCost(self.threshold, *prices).losses(value)
            return SpeakerInfluence.of(losses, self.drawn.sample).interval(confidence, METHOD)
        error, t = self.spread(prices, confidence)
        ends = _scaled(value, t * error)
        low, high = self.drawn.opened(ends, self.rates, prices, confidence)
        return Interval(value, low, high, error, confidence, "speakers")

    def spread(self, prices: Pair, confidence: float) -> Pair:
        """Return the standard error of a sum of both rates, and the quantile it is taken times."""
        if self.drawn is None:
            # Bengio and Mariethoz 2004, equation (13): the variance of a rate is p (1 - p) / n.
            counts = self.sample.n_tar, self.sample.n_non
            variances = [
                p * p * r * (1.0 - r) / n
                for p, r, n in zip(prices, self.rates, counts, strict=True)
            ]
            error, degrees = math.sqrt(sum(variances)), math.inf
        elif self.drawn.plan.non.second is None:
            error = self.drawn.cost_error(self.threshold, prices)
            degrees = self.drawn.n_speakers - 1.0
        else:
            losses = FixedCost(self.threshold, *prices).losses(0.0)
            found = SpeakerInfluence.of(losses, self.drawn.sample)
            error, degrees = found.standard_error, found.degrees
        return error, student_quantiles(0.5 - 0.5 * confidence, degrees)[1]


def _scaled(value: float, half: float) -> Pair:
    """Return the ends around a value on the logarithmic scale."""
    spread = min(half / value, _FARTHEST) if value > 0 else 0.0
    return value * math.exp(-spread), value * math.exp(spread)


def thresholds_left_open(
    dev: ErrorsAt, rule: ThresholdRule, confidence: float
) -> tuple[Pair, float]:
    """Return the ends of the interval of a chosen threshold, and the quantile of its errors."""
    if rule.kind == "eer":
        # The miss rate may truly be as much higher than the false-alarm rate, or lower.
        error, t = dev.spread((1.0, -1.0), confidence)
        moved = [moved_threshold(dev.sample, rule, by) for by in (-t * error, t * error)]
        return (moved[0], moved[1]), t
    side = int(rule.kind == "fmr")
    prices = (0.0, 1.0) if side else (1.0, 0.0)
    rate = dev.rates[side]
    error, t = dev.spread(prices, confidence)
    low, high = _scaled(rate, t * error)
    if dev.drawn is not None:
        found = dev.by_speaker(prices, confidence)
        low, high = found.low, found.high
    # If the kept rate was too low by a factor, the rule should have asked for as much less; of no
    # error at all no threshold keeps to the rate for sure.
    limits = [
        rule.rate * rate / high if high > 0 else 0.0,
        rule.rate * rate / low if low > 0 else 1.0,
    ]
    ends = sorted(moved_threshold(dev.sample, rule, min(limit, 1.0)) for limit in limits)
    if rate == 0.0:
        ends[side] = math.inf if side else -math.inf
    return (ends[0], ends[1]), t


def refuse_common_speakers(dev: DrawnSet, test: DrawnSet) -> None:
    """Raise if somebody speaks in both sets, whose errors then go together."""
    common = np.intersect1d(dev.names, test.names)
    if common.size:
        expected = "be given where dev and test have speakers in common"
        hint = "transfer(..., replications=1000) draws these together."
        raise invalid("replications", expected, f"0, with {common.size} such speakers", hint)
