r"""Cllr [1]_, and two measures of posteriors that need no key.

.. math::

    C_{llr} = \frac12 \Big( \frac1T \sum_{tar} \log_2(1+e^{-s})
                          + \frac1N \sum_{non} \log_2(1+e^{s}) \Big)

The estimated proportion of targets and the divergence of systems do not need to know which trials
are targets. A value that is out of line shows a system that went wrong on new data.

References
----------
.. [1] N. Brummer and J. du Preez, "Application-independent evaluation of
   speaker detection", Computer Speech and Language 20, 2006,
   doi:10.1016/j.csl.2005.08.001.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from bosaris_py import _validation as check
from bosaris_py._arrays import Float64Array, FloatArray, Weighting
from bosaris_py.numerics.counts import as_class
from bosaris_py.numerics.priors import OperatingPoint, sigmoid
from bosaris_py.numerics.roc import check_llrs, hull_of
from bosaris_py.numerics.scoring import log_products, resolve_prior

# A block and its work arrays stay in the cache of one core.
_BLOCK = 2**14

# Costs are summed by factors of 1 + exp(score) if they are larger on average. Each of these
# and each product is rounded, which changes a cost by 2e-16 and their sum by 2e-14 of it.
_LEAST_BY_FACTORS = 0.01

_LOG_2 = math.log(2.0)

# Cells of the three-way arrays that are made for a block of trials.
_BLOCK_CELLS = 2**18


def cllr(
    tar: ArrayLike, non: ArrayLike, *, tar_weights: Weighting = None, non_weights: Weighting = None
) -> float:
    """Compute Cllr, the cost of log-likelihood-ratios over all operating points.

    Parameters
    ----------
    tar, non : (n_tar,), (n_non,) array_like of float
        Natural-log likelihood-ratios of the two classes; no NaN, +-inf allowed.
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.

    Returns
    -------
    float
        Bits: 0 for perfect scores, 1 for a detector that always says 0, more for a misleading one,
        inf for an infinite score on the wrong side and where a sum of costs exceeds the largest
        float.

    Warns
    -----
    SuspectScoresWarning
        As for `act_dcf`.

    Notes
    -----
    Theory paper, section 2.5.3. Stable for scores of any size: log(1 + exp)
    neither overflows nor rounds small terms to zero. O(T + N) time, no memory
    to speak of.

    Examples
    --------
    >>> cllr([0.0, 0.0], [0.0])
    1.0
    """
    tar_weights, non_weights = check.as_list(tar_weights), check.as_list(non_weights)
    tar, non = check.as_score_lists(tar, non, tar_weights, non_weights)
    total = cllr_of_any(tar, non, tar_weights, non_weights)
    check_llrs(tar, non, tar_weights, non_weights, total)
    return total


def cllr_of_any(
    tar: FloatArray, non: FloatArray, tar_weights: Weighting, non_weights: Weighting
) -> float:
    """Compute Cllr without a warning of scores that are no log-likelihood-ratios."""
    total = 0.0
    for scores, weights, sign, name in (
        (tar, tar_weights, -1.0, "tar"),
        (non, non_weights, 1.0, "non"),
    ):
        array, checked = as_class(scores, weights, name)
        bits = mean_bits(array, checked, sign=sign)
        # NaN costs spread to the sum, unless they weigh nothing, so no pass need look for them.
        if math.isnan(bits) or checked is not None:
            check.refuse_nan(array, name)
        total += bits
    return total / 2.0


def min_cllr(
    tar: ArrayLike, non: ArrayLike, *, tar_weights: Weighting = None, non_weights: Weighting = None
) -> float:
    """Compute the Cllr that is left after optimal recalibration.

    The scores are replaced by the log-likelihood-ratios of the pool-adjacent-violators algorithm,
    the best that any rising map can do on these trials. What remains is lost discrimination; `cllr`
    minus this is lost calibration.

    Parameters
    ----------
    tar, non, tar_weights, non_weights : array_like of float
        Scores and trial weights, as for `cllr`; calibrated or not.

    Returns
    -------
    float
        Bits, from 0 (classes separated) to 1 (useless); never above `cllr`.

    Warns
    -----
    SuspectScoresWarning
        As for `eer`.

    Notes
    -----
    The toolkit's ``min_cllr.m`` adds 1e-6 times the relative rank to each
    score, which shifts its result by about 1e-7; this one does not.

    Examples
    --------
    >>> min_cllr([1.0, 2.0], [-1.0, 0.0])
    0.0
    """
    return hull_of(tar, non, tar_weights, non_weights).min_cllr


def mean_bits(scores: FloatArray, weights: Float64Array | None, *, sign: float) -> float:
    """Return the weighted mean of log2(1 + exp(sign * score)), blockwise in float64."""
    if weights is None:
        return sum_in_bits(sums_of_nats(scores, sign=sign)) / scores.size
    sums = []
    for start in range(0, scores.size, _BLOCK):
        costs = softplus(scores[start : start + _BLOCK], sign)
        masses = weights[start : start + _BLOCK]
        # An infinite cost of a trial that does not count is no cost.
        costs[masses == 0.0] = 0.0
        with np.errstate(over="ignore"):
            sums.append(float(np.dot(costs, masses)))
    return sum_in_bits(sums) / float(weights.sum())


def sums_of_nats(scores: FloatArray, *, sign: float) -> list[float]:
    """Return sums over blocks of log(1 + exp(sign * score)), to be added by `sum_in_bits`."""
    work, sums = np.empty(min(_BLOCK, scores.size)), []
    for start in range(0, scores.size, _BLOCK):
        block = scores[start : start + _BLOCK]
        with np.errstate(over="ignore"):
            factors = np.multiply(block, sign, out=work[: block.size], dtype=np.float64)
            np.exp(factors, out=factors)
            factors += 1.0
            total = float(log_products(factors).sum())
        # Small costs are lost beside the 1; a product that overflows is not finite.
        if not _LEAST_BY_FACTORS * block.size <= total < math.inf:
            with np.errstate(over="ignore"):
                total = float(softplus(block, sign).sum())
        sums.append(total)
    return sums


def sum_in_bits(nats: Iterable[float]) -> float:
    """Return the sum of costs, in bits; inf beyond the largest float."""
    try:
        return math.fsum(nats) / _LOG_2
    except OverflowError:
        return math.inf


def softplus(scores: FloatArray, sign: float) -> Float64Array:
    """Return log(1 + exp(sign * score)) for scores of any size."""
    # max(x, 0) + log1p(exp(-|x|)): no exponential overflows, no small term is rounded to zero.
    x = np.multiply(scores, sign, dtype=np.float64)
    costs = np.log1p(np.exp(-np.abs(x)))
    costs += np.maximum(x, 0.0)
    return np.asarray(costs)


def estimate_target_proportions(llrs: ArrayLike, prior: float | OperatingPoint) -> Float64Array:
    """Return the mean posterior of a target of each system; `llrs` is (n_systems, n_trials).

    If scores are calibrated and the prior is the true share of targets, that share is what to
    expect. BOSARIS: ``estimate_target_proportions.m``.
    """
    _, plo = resolve_prior(prior)
    matrix = _as_llrs(llrs)
    return np.array([np.mean(sigmoid(row + plo)) for row in matrix.astype(np.float64, copy=False)])


def kl_divergence(
    llrs: ArrayLike, prior: float | OperatingPoint, *, is_target: Weighting = None
) -> Float64Array:
    r"""Return the mean divergence in nats of the posteriors of each two systems.

    Row i, column j: of system j from system i, the mean of :math:`p \log(p / r) + (1-p) \log((1-p)
    / (1-r))`, computed from log-odds; infinite if j is certain of what i is not. With `is_target`
    each class is averaged on its own and weighted with the prior. BOSARIS:
    ``kldivergence_of_systems.m``.
    """
    probability, plo = resolve_prior(prior)
    matrix = _as_llrs(llrs)
    if is_target is None:
        return _mean_divergence(matrix, plo)
    labels = check.as_mask(is_target, "is_target")
    if labels.shape != matrix.shape[1:]:
        expected = f"have one label for each of the {matrix.shape[1]} trials"
        raise check.invalid("is_target", expected, f"shape {labels.shape}")
    if labels.all() or not labels.any():
        raise check.invalid("is_target", "name trials of both classes", check.describe(labels))
    of_targets = _mean_divergence(matrix[:, labels], plo)
    of_others = _mean_divergence(matrix[:, ~labels], plo)
    return np.asarray(probability * of_targets + (1.0 - probability) * of_others)


def _as_llrs(llrs: ArrayLike) -> FloatArray:
    matrix = check.as_matrix(llrs, "llrs")
    check.check_not_empty(matrix, "llrs")
    check.refuse_nan(matrix, "llrs")
    return matrix


def _mean_divergence(llrs: FloatArray, plo: float) -> Float64Array:
    """Return the mean over trials for each two systems, in blocks of trials."""
    n_systems, n_trials = llrs.shape
    total = np.zeros((n_systems, n_systems))
    step = max(1, _BLOCK_CELLS // n_systems**2)
    for start in range(0, n_trials, step):
        log_odds = llrs[:, start : start + step] + np.float64(plo)
        # Systems of the rows, systems of the columns, trials.
        both = _expected_excess(log_odds) + _expected_excess(-log_odds)
        # Rounding can leave a divergence just below zero.
        total += np.maximum(both, 0.0).sum(axis=2)
    return np.asarray(total / n_trials)


def _expected_excess(log_odds: Float64Array) -> Float64Array:
    """Return for each two systems p log(p / r), where `log_odds` belong to p and r."""
    # -log of the posteriors.
    surprise = np.logaddexp(0.0, -log_odds)
    p = sigmoid(log_odds)[:, np.newaxis]
    # Infinity less infinity means equal, and stands beside p = 0 only.
    with np.errstate(invalid="ignore"):
        excess = p * (surprise[np.newaxis] - surprise[:, np.newaxis])
    return np.asarray(np.where(p > 0.0, excess, 0.0))
