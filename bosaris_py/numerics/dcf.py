"""Error-rates and detection cost at fixed thresholds: what decisions really cost."""

from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FloatArray, refuse_nan
from bosaris_py.numerics.counting import as_trials, count_checked
from bosaris_py.numerics.priors import DecisionCosts, PriorLike
from bosaris_py.numerics.sorted_scores import SortedScores, Weights, running_sum

__all__ = ["act_dcf", "error_rates_at", "share_above", "share_below", "sorted_error_rates"]

Float64Array = npt.NDArray[np.float64]


def sorted_error_rates(
    tar: SortedScores, non: SortedScores, thresholds: npt.ArrayLike
) -> tuple[Float64Array, Float64Array]:
    """Return the miss and false-alarm rates of sorted classes at each threshold."""
    pmiss: Float64Array = tar.weight_below(thresholds) / tar.total
    pfa: Float64Array = non.weight_at_or_above(thresholds) / non.weight_at_or_above(-np.inf)
    return pmiss, pfa


def share_below(
    scores: FloatArray, weights: Float64Array | None, limits: Float64Array
) -> Float64Array:
    """Return the share of scores below each limit; scores are checked, in any order."""
    masses, place = _masses(scores, weights, limits)
    # Summed from the end where it is zero, so that small shares are not differences.
    sums = running_sum(masses)
    return np.asarray((sums / sums[-1])[place])


def share_above(
    scores: FloatArray, weights: Float64Array | None, limits: Float64Array
) -> Float64Array:
    """Return the share of scores at or above each limit; scores are checked, in any order."""
    masses, place = _masses(scores, weights, limits)
    sums = running_sum(masses[::-1])[::-1]
    return np.asarray((sums / sums[0])[1:][place])


def _masses(
    scores: FloatArray, weights: Float64Array | None, limits: Float64Array
) -> tuple[Weights, npt.NDArray[np.intp]]:
    """Return the weight below the first limit and from each to the next, and where each is."""
    if limits.size == 1:
        distinct, place = limits.reshape(1), np.zeros(limits.shape, dtype=np.intp)
    else:
        distinct, inverse = np.unique(limits, return_inverse=True)
        place = inverse.reshape(limits.shape)
    at, between = count_checked(distinct, scores, weights)
    masses = between.copy()
    masses[1:] += at
    return masses, place


def error_rates_at(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    thresholds: npt.ArrayLike,
    *,
    tar_weights: npt.ArrayLike | None = None,
    non_weights: npt.ArrayLike | None = None,
) -> tuple[Any, Any]:
    """Compute the miss and false-alarm rates at given thresholds.

    Parameters
    ----------
    tar : (n_tar,) array_like of float
        Target scores; no NaN, +-inf allowed.
    non : (n_non,) array_like of float
        Non-target scores; no NaN, +-inf allowed.
    thresholds : float or array_like of float
        Accept iff score >= threshold; in any order, repeats allowed. Compared
        in float64 also if the scores are float32.
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.

    Returns
    -------
    pmiss, pfa : float or ndarray of float64, like `thresholds`
        Share of targets below, and of non-targets at or above the threshold.

    Raises
    ------
    InvalidInputError
        If a class is empty, a score or threshold is NaN, or a weight is bad.

    Examples
    --------
    >>> pmiss, pfa = error_rates_at([1.0, 3.0], [0.0, 2.0], [1.0, 2.5])
    >>> pmiss.tolist(), pfa.tolist()
    ([0.0, 0.5], [0.5, 0.0])
    """
    owner = "error_rates_at"
    limits = np.asarray(thresholds, dtype=np.float64)
    refuse_nan(np.atleast_1d(limits), "thresholds", owner)
    pmiss = share_below(*as_trials(tar, tar_weights, "tar", owner), limits)
    pfa = share_above(*as_trials(non, non_weights, "non", owner), limits)
    return pmiss[()], pfa[()]


def act_dcf(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    prior: PriorLike,
    normalize: bool = False,  # noqa: FBT001, FBT002 -- positional as in the toolkit
    *,
    tar_weights: npt.ArrayLike | None = None,
    non_weights: npt.ArrayLike | None = None,
) -> Any:
    r"""Compute the detection cost of Bayes decisions: the actual DCF.

    Scores are taken as log-likelihood-ratios and compared with the Bayes
    threshold of each operating point, so that bad calibration costs.

    Parameters
    ----------
    tar : (n_tar,) array_like of float
        Target scores, natural-log likelihood-ratios; no NaN, +-inf allowed.
    non : (n_non,) array_like of float
        Non-target scores, likewise.
    prior : float, (k,) array_like of float, OperatingPoint or sequence of them
        Target probabilities (unit costs, the Bayes error-rate of the theory
        paper), or operating points with their own costs (NIST's C_det). Any
        order, repeats allowed.
    normalize : bool, default: False
        Divide by the cost of the better decision made without a detector,
        min(p C_miss, (1 - p) C_fa).
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.

    Returns
    -------
    float or (k,) ndarray of float64
        :math:`\pi C_{miss} P_{miss}(\eta) + (1-\pi) C_{fa} P_{fa}(\eta)` at
        :math:`\eta = \log(C_{fa}/C_{miss}) - \mathrm{logit}\,\pi`. 0 for
        perfect scores; normalized, 1 for a detector that says nothing, and
        more for a misleading one.

    Raises
    ------
    InvalidInputError
        If a class is empty, a score is NaN, a weight is bad, or a prior is not
        in (0, 1).

    Notes
    -----
    Theory paper, equations (13) and (17); the toolkit's ``fast_actDCF.m``,
    which takes ascending prior log-odds and miscounts repeated ones.

    Examples
    --------
    >>> float(act_dcf([1.0, 3.0], [-1.0, 2.0], 0.5))
    0.25
    """
    costs = DecisionCosts.from_prior(prior, "act_dcf")
    limits = costs.thresholds
    pmiss = share_below(*as_trials(tar, tar_weights, "tar", "act_dcf"), limits)
    pfa = share_above(*as_trials(non, non_weights, "non", "act_dcf"), limits)
    return costs.cost(pmiss, pfa, normalize=normalize)
