"""Proper scoring rules as losses on log-odds.

The kernels give a loss and its two derivatives for a whole block at once; the entropies are what
training objectives are divided by.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
from attrs import field, frozen

from bosaris_py._arrays import Float64Array, FloatArray
from bosaris_py._validation import check_fraction, describe, invalid
from bosaris_py.numerics.priors import OperatingPoint

Kernel: TypeAlias = Callable[[Float64Array, Float64Array, Float64Array, Float64Array], None]

# Each factor 1 + t is rounded by 1e-16 or so: little of a logarithm as large as this.
_LEAST_IN_FACTORS = 0.1

# What kernels take: exp() of it is finite, and so is its square root times anything sensible.
# Beyond it losses that use exp() are exactly linear (cllr) or constant (brier).
LARGEST_LOG_ODDS = 700.0


def _cllr(
    log_odds: Float64Array, loss: Float64Array, slope: Float64Array, curvature: Float64Array
) -> None:
    """Fill in log(1+e^z), sigma(z) and sigma(z) sigma(-z)."""
    # One exponential and one logarithm; the arrays serve as work space for each other.
    np.exp(log_odds, out=loss)
    np.add(loss, 1.0, out=curvature)
    np.divide(loss, curvature, out=slope)
    np.divide(slope, curvature, out=curvature)
    np.log1p(loss, out=loss)


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


def _cllr_sum(log_odds: Float64Array, slope: Float64Array, curvature: Float64Array) -> float:
    """Do what `_cllr` does, with the sum of the losses, of which few take a logarithm."""
    exponentials = np.exp(log_odds, out=log_odds)
    np.add(exponentials, 1.0, out=curvature)
    np.divide(exponentials, curvature, out=slope)
    np.divide(slope, curvature, out=curvature)
    return sum_log1p(exponentials)


def _brier(
    log_odds: Float64Array, loss: Float64Array, slope: Float64Array, curvature: Float64Array
) -> None:
    """Fill in q^2/2, q^2 (1-q) and q^2 (1-q) (2-3q), where q = sigma(z)."""
    np.exp(log_odds, out=slope)
    np.add(slope, 1.0, out=curvature)
    np.divide(slope, curvature, out=loss)
    np.square(loss, out=slope)
    np.divide(slope, curvature, out=slope)
    np.multiply(loss, -3.0, out=curvature)
    np.add(curvature, 2.0, out=curvature)
    np.multiply(curvature, slope, out=curvature)
    np.square(loss, out=loss)
    np.multiply(loss, 0.5, out=loss)


def _boost(
    log_odds: Float64Array, loss: Float64Array, slope: Float64Array, curvature: Float64Array
) -> None:
    """Fill in e^(z/2), e^(z/2)/2 and e^(z/2)/4."""
    np.multiply(log_odds, 0.5, out=loss)
    np.exp(loss, out=loss)
    np.multiply(loss, 0.5, out=slope)
    np.multiply(loss, 0.25, out=curvature)


def _cllr_entropy(prior: float) -> float:
    return -prior * math.log(prior) - (1.0 - prior) * math.log1p(-prior)


def _brier_entropy(prior: float) -> float:
    return 0.5 * prior * (1.0 - prior)


def _boost_entropy(prior: float) -> float:
    return 2.0 * math.sqrt(prior * (1.0 - prior))


@frozen
class ScoringRule:
    """A proper scoring rule as a loss on posterior log-odds.

    ``kernel(log_odds, loss, slope, curvature)`` fills the last three arrays with the loss for
    log-odds against the truth and its two derivatives; `loss` may be `log_odds`. Where there is a
    ``summed(log_odds, slope, curvature)``, it returns the sum of the losses in less time. `entropy`
    is the expected loss of a detector that knows only the prior. `slope_at_infinity` is what the
    loss grows by per unit beyond the largest log-odds that kernels take; infinite if any.
    """

    name: str
    kernel: Kernel = field(repr=False)
    entropy: Callable[[float], float] = field(repr=False)
    slope_at_infinity: float
    convex: bool
    summed: Callable[[Float64Array, Float64Array, Float64Array], float] | None = field(
        default=None, repr=False
    )

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
        beyond = None
        if math.isfinite(self.slope_at_infinity) and log_odds.max() > LARGEST_LOG_ODDS:
            beyond = np.maximum(log_odds - LARGEST_LOG_ODDS, 0.0)
            np.minimum(log_odds, LARGEST_LOG_ODDS, out=log_odds)
        if self.summed is not None and beyond is None and weights is None:
            return self.summed(log_odds, slope, curvature)
        self.kernel(log_odds, log_odds, slope, curvature)
        if beyond is not None and self.slope_at_infinity:
            log_odds += self.slope_at_infinity * beyond
        if weights is not None:
            for values in (log_odds, slope, curvature):
                values *= weights
        return float(log_odds.sum())


_RULES = {
    rule.name: rule
    for rule in (
        ScoringRule("cllr", _cllr, _cllr_entropy, 1.0, convex=True, summed=_cllr_sum),
        ScoringRule("brier", _brier, _brier_entropy, slope_at_infinity=0.0, convex=False),
        ScoringRule("boost", _boost, _boost_entropy, slope_at_infinity=math.inf, convex=True),
    )
}

# Names of the known training objectives.
OBJECTIVES: tuple[str, ...] = tuple(_RULES)


def scoring_rule(name: str) -> ScoringRule:
    """Look up a scoring rule by its name in any case; refuse unknown names."""
    rule = _RULES.get(str(name).lower())
    if rule is None:
        known = ", ".join(repr(known) for known in OBJECTIVES)
        raise invalid("objective", f"be one of {known}", describe(name))
    return rule


def resolve_prior(prior: float | OperatingPoint) -> tuple[float, float]:
    """Return the (effective) prior that a `prior` argument means, and its log-odds."""
    if isinstance(prior, OperatingPoint):
        return prior.effective_prior, prior.plo
    number = check_fraction(prior, "prior")
    return number, math.log(number) - math.log1p(-number)


# ---- Cllr, in blocks that stay in the cache of one core

_BLOCK = 2**14


def mean_bits(scores: FloatArray, sign: float) -> float:
    """Return the mean of log2(1 + exp(sign * score)); inf beyond the largest float."""
    return mean_of_nats(sums_of_nats(scores, sign), scores.size)


def mean_of_nats(sums: Iterable[float], n_trials: int) -> float:
    """Return the mean, in bits, of costs that were summed in nats, block by block."""
    try:
        return math.fsum(sums) / math.log(2.0) / n_trials
    except OverflowError:
        return math.inf


def sums_of_nats(scores: FloatArray, sign: float) -> list[float]:
    """Return sums over blocks of log(1 + exp(sign * score))."""
    work, sums = np.empty(min(_BLOCK, scores.size)), []
    for start in range(0, scores.size, _BLOCK):
        block = scores[start : start + _BLOCK]
        with np.errstate(over="ignore"):
            terms = np.multiply(block, sign, out=work[: block.size], dtype=np.float64)
            total = sum_log1p(np.exp(terms, out=terms))
            if not total < math.inf:
                total = float(softplus(block, sign).sum())
        sums.append(total)
    return sums


def softplus(scores: FloatArray, sign: float) -> Float64Array:
    """Return log(1 + exp(sign * score)) for scores of any size."""
    # max(x, 0) + log1p(exp(-|x|)): no exponential overflows, no small term is rounded to zero.
    x = np.multiply(scores, sign, dtype=np.float64)
    costs = np.log1p(np.exp(-np.abs(x)))
    costs += np.maximum(x, 0.0)
    return np.asarray(costs)
