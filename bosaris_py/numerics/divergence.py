"""Comparing systems on the same trials by the posteriors that their scores stand for.

Neither needs to know which trials are targets, so both serve where there is no key: a
proportion of targets or a divergence that is out of line tells of a system that went
wrong on new data.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import (
    FloatArray,
    as_mask,
    as_matrix,
    check_not_empty,
    describe,
    invalid,
    refuse_nan,
)
from bosaris_py.numerics.priors import OperatingPoint, sigmoid
from bosaris_py.numerics.scoring_rules import resolve_prior

__all__ = ["estimate_target_proportions", "kl_divergence"]

Float64Array: TypeAlias = npt.NDArray[np.float64]

# Cells of the three-way arrays that are made for a block of trials.
_BLOCK_CELLS = 2**18


def estimate_target_proportions(llrs: npt.ArrayLike, prior: float | OperatingPoint) -> Float64Array:
    r"""Estimate from each system's scores which share of the trials are targets.

    Parameters
    ----------
    llrs : (n_systems, n_trials) array_like of float
        Natural-log likelihood-ratios; no NaN, +-inf allowed.
    prior : float or OperatingPoint
        Prior probability of a target with which the posteriors are formed; of an
        operating point the effective prior.

    Returns
    -------
    (n_systems,) ndarray of float64
        Mean posterior probability of a target.

    Raises
    ------
    InvalidInputError
        If `llrs` is not a matrix, empty or holds NaN, or the prior is not in (0, 1).

    Notes
    -----
    :math:`\frac1n \sum_t \sigma(s_t + \mathrm{logit}\,\pi)`. If the scores are calibrated and
    the prior is the true share of targets, that share is what to expect; with another prior
    the result lies between the two. BOSARIS: ``estimate_target_proportions.m``.

    Examples
    --------
    >>> import math
    >>> estimate_target_proportions([[math.log(3.0), -math.log(3.0), 0.0]], 0.5).round(12)
    array([0.5])
    """
    owner = "estimate_target_proportions"
    _, plo = resolve_prior(prior, owner)
    matrix = _as_llrs(llrs, owner)
    return np.array([np.mean(sigmoid(row + plo)) for row in matrix.astype(np.float64, copy=False)])


def kl_divergence(
    llrs: npt.ArrayLike,
    prior: float | OperatingPoint,
    *,
    is_target: npt.ArrayLike | None = None,
) -> Float64Array:
    r"""Measure how far the posteriors of each two systems are apart.

    Parameters
    ----------
    llrs : (n_systems, n_trials) array_like of float
        Natural-log likelihood-ratios of the same trials; no NaN, +-inf allowed.
    prior : float or OperatingPoint
        Prior probability of a target with which the posteriors are formed; of an
        operating point the effective prior.
    is_target : (n_trials,) array_like of bool, optional
        Which trials are targets, if that is known. Both classes are then averaged
        on their own and weighted with the prior.

    Returns
    -------
    (n_systems, n_systems) ndarray of float64
        In row i and column j the mean divergence in nats of the posteriors of
        system j from those of system i: what is lost by believing j if i is right.
        Zero on the diagonal; infinite if j is certain of what i is not.

    Raises
    ------
    InvalidInputError
        If `llrs` is not a matrix, empty or holds NaN, the prior is not in (0, 1), or
        `is_target` does not fit or names one class only.

    Notes
    -----
    With posteriors p of system i and r of system j, the mean of
    :math:`p \log(p / r) + (1-p) \log((1-p) / (1-r))`. Computed from log-odds, so
    that nothing is lost where posteriors are near 0 or 1. BOSARIS:
    ``kldivergence_of_systems.m``.

    Examples
    --------
    Posteriors of 1/2 and 3/4: log(4/3) / 2, and 3/4 log(3/2) + 1/4 log(1/2).

    >>> import math
    >>> kl_divergence([[0.0], [math.log(3.0)]], 0.5).round(6).tolist()
    [[0.0, 0.143841], [0.130812, 0.0]]
    """
    owner = "kl_divergence"
    probability, plo = resolve_prior(prior, owner)
    matrix = _as_llrs(llrs, owner)
    if is_target is None:
        return _mean_divergence(matrix, plo)
    labels = as_mask(is_target, "is_target", owner)
    if labels.shape != matrix.shape[1:]:
        expected = f"have one label for each of the {matrix.shape[1]} trials"
        raise invalid("is_target", owner, expected, f"shape {labels.shape}")
    if labels.all() or not labels.any():
        raise invalid("is_target", owner, "name trials of both classes", describe(labels))
    of_targets = _mean_divergence(matrix[:, labels], plo)
    of_others = _mean_divergence(matrix[:, ~labels], plo)
    weighted: Float64Array = probability * of_targets + (1.0 - probability) * of_others
    return weighted


def _as_llrs(llrs: npt.ArrayLike, owner: str) -> FloatArray:
    matrix = as_matrix(llrs, "llrs", owner)
    check_not_empty(matrix, "llrs", owner)
    refuse_nan(matrix, "llrs", owner)
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
    mean: Float64Array = total / n_trials
    return mean


def _expected_excess(log_odds: Float64Array) -> Float64Array:
    """Return for each two systems p log(p / r), where `log_odds` belong to p and r."""
    # -log of the posteriors.
    surprise = np.logaddexp(0.0, -log_odds)
    p = sigmoid(log_odds)[:, np.newaxis]
    # Infinity less infinity means equal, and stands beside p = 0 only.
    with np.errstate(invalid="ignore"):
        excess = p * (surprise[np.newaxis] - surprise[:, np.newaxis])
    result: Float64Array = np.where(p > 0.0, excess, 0.0)
    return result
