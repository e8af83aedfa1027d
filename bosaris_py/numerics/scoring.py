"""Proper scoring rules as losses on log-odds.

The kernels give a loss and its two derivatives for a whole block at once; the entropies are what
training objectives are divided by.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from attrs import field, frozen

from bosaris_py import _validation as check
from bosaris_py._arrays import Float64Array, FloatArray
from bosaris_py.numerics.priors import OperatingPoint

# Fills in the slopes and curvatures of a loss, and puts into the place of the log-odds the losses
# or, if these are logarithms, what they are the log1p of.
Kernel: TypeAlias = Callable[[Float64Array, Float64Array, Float64Array], object]

# Each factor 1 + t is rounded by 1e-16 or so: little of a logarithm as large as this.
_LEAST_IN_FACTORS = 0.1

# What kernels take: exp() of it is finite, and so is its square root times anything sensible.
# Beyond it losses that use exp() are exactly linear (cllr) or constant (brier).
LARGEST_LOG_ODDS = 700.0


def _cllr(log_odds: Float64Array, slope: Float64Array, curvature: Float64Array) -> None:
    """Fill in e^z, sigma(z) and sigma(z) sigma(-z)."""
    # The arrays serve as work space for each other.
    np.exp(log_odds, out=log_odds)
    np.add(log_odds, 1.0, out=curvature)
    np.divide(log_odds, curvature, out=slope)
    np.divide(slope, curvature, out=curvature)


def _brier(log_odds: Float64Array, slope: Float64Array, curvature: Float64Array) -> None:
    """Fill in q^2/2, q^2 (1-q) and q^2 (1-q) (2-3q), where q = sigma(z)."""
    np.exp(log_odds, out=slope)
    np.add(slope, 1.0, out=curvature)
    np.divide(slope, curvature, out=log_odds)
    np.square(log_odds, out=slope)
    np.divide(slope, curvature, out=slope)
    np.multiply(log_odds, -3.0, out=curvature)
    np.add(curvature, 2.0, out=curvature)
    np.multiply(curvature, slope, out=curvature)
    np.square(log_odds, out=log_odds)
    np.multiply(log_odds, 0.5, out=log_odds)


def _boost(log_odds: Float64Array, slope: Float64Array, curvature: Float64Array) -> None:
    """Fill in e^(z/2), e^(z/2)/2 and e^(z/2)/4."""
    np.exp(0.5 * log_odds, out=log_odds)
    np.multiply(log_odds, 0.5, out=slope)
    np.multiply(log_odds, 0.25, out=curvature)


def sum_log1p(terms: Float64Array) -> float:
    """Return the sum of log(1 + t) over terms t >= 0, with a logarithm for 16 of them."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if float(terms.sum()) >= _LEAST_IN_FACTORS * terms.size:
            factors = terms + 1.0
            whole = factors.size - factors.size % 16
            products = np.multiply.reduce(factors[:whole].reshape(16, -1), axis=0)
            total = float(np.log(products).sum() + np.log(factors[whole:]).sum())
        else:
            # (1 + a) (1 + b) = 1 + (a + b + ab): of small terms nothing is lost beside the 1.
            products, total = terms, 0.0
            for _ in range(4):
                half = products.size // 2
                first, second = products[:half], products[half : 2 * half]
                total += float(np.log1p(products[2 * half :]).sum())
                products = first * second
                products += first
                products += second
            total += float(np.log1p(products).sum())
        # A product can overflow where no term does.
        return total if total < math.inf else float(np.log1p(terms).sum())


@frozen
class ScoringRule:
    """A proper scoring rule as a loss on posterior log-odds against the truth.

    `entropy` is the expected loss of a detector that knows only the prior. `growth` is what the
    loss grows by per unit beyond the largest log-odds that the kernel takes: 0, 1, or infinite if
    it takes any.
    """

    name: str
    kernel: Kernel = field(repr=False)
    entropy: Callable[[float], float] = field(repr=False)
    growth: float
    convex: bool = True
    is_logarithm: bool = False

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by name."""
        return scoring_rule, (self.name,)

    def sum(
        self,
        log_odds: Float64Array,
        slope: Float64Array,
        curvature: Float64Array,
        weights: Float64Array | None = None,
    ) -> float:
        """Return the sum of the losses, and fill in slopes and curvatures, times the weights.

        The log-odds, of any size, are overwritten.
        """
        beyond = np.zeros(1)
        if self.growth < math.inf and log_odds.max() > LARGEST_LOG_ODDS:
            if self.growth:
                beyond = np.maximum(log_odds - LARGEST_LOG_ODDS, 0.0)
            np.minimum(log_odds, LARGEST_LOG_ODDS, out=log_odds)
        self.kernel(log_odds, slope, curvature)
        if weights is None:
            total = sum_log1p(log_odds) if self.is_logarithm else float(log_odds.sum())
            return total + float(beyond.sum())
        slope *= weights
        curvature *= weights
        losses = np.log1p(log_odds, out=log_odds) if self.is_logarithm else log_odds
        losses += beyond
        return float(weights @ losses)


_RULES = {
    rule.name: rule
    for rule in (
        ScoringRule(
            "cllr",
            _cllr,
            lambda p: -p * math.log(p) - (1.0 - p) * math.log1p(-p),
            growth=1.0,
            is_logarithm=True,
        ),
        ScoringRule("brier", _brier, lambda p: 0.5 * p * (1.0 - p), growth=0.0, convex=False),
        ScoringRule("boost", _boost, lambda p: 2.0 * math.sqrt(p * (1.0 - p)), growth=math.inf),
    )
}

# Names of the known training objectives.
OBJECTIVES: tuple[str, ...] = tuple(_RULES)


def scoring_rule(name: str) -> ScoringRule:
    """Look up a scoring rule by its name in any case; refuse unknown names."""
    rule = _RULES.get(str(name).lower())
    if rule is None:
        raise check.invalid("objective", f"be one of {OBJECTIVES}", check.describe(name))
    return rule


def resolve_prior(prior: float | OperatingPoint) -> tuple[float, float]:
    """Return the (effective) prior that a `prior` argument means, and its log-odds."""
    point = prior if isinstance(prior, OperatingPoint) else OperatingPoint(prior)
    return point.effective_prior, point.plo


# ---- Cllr, in blocks that stay in the cache of one core

_BLOCK = 2**14


def mean_bits(scores: FloatArray, sign: float) -> float:
    """Return the mean of log2(1 + exp(sign * score)); inf beyond the largest float."""
    return sum_of_nats(scores, sign) / math.log(2.0) / scores.size


def sum_of_nats(scores: FloatArray, sign: float) -> float:
    """Return the sum of log(1 + exp(sign * score))."""
    work, total = np.empty(min(_BLOCK, scores.size)), 0.0
    for start in range(0, scores.size, _BLOCK):
        block = scores[start : start + _BLOCK]
        with np.errstate(over="ignore"):
            terms = np.multiply(block, sign, out=work[: block.size], dtype=np.float64)
            own = sum_log1p(np.exp(terms, out=terms))
            total += own if own < math.inf else float(softplus(block, sign).sum())
    return total


def softplus(scores: FloatArray, sign: float) -> Float64Array:
    """Return log(1 + exp(sign * score)) for scores of any size."""
    # max(x, 0) + log1p(exp(-|x|)): no exponential overflows, no small term is rounded to zero.
    x = np.multiply(scores, sign, dtype=np.float64)
    costs = np.log1p(np.exp(-np.abs(x)))
    costs += np.maximum(x, 0.0)
    return np.asarray(costs)
