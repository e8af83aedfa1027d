"""Error-rates and detection cost at fixed thresholds: what decisions really cost."""

from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import (
    FloatArray,
    as_vector,
    as_weights,
    check_not_empty,
    check_weight_range,
    refuse_nan,
)
from bosaris_py.numerics.priors import DecisionCosts, PriorLike
from bosaris_py.numerics.sorted_scores import SortedScores

__all__ = ["act_dcf", "error_rates", "error_rates_at"]

Float64Array = npt.NDArray[np.float64]

# A pass that counts one threshold costs about a fifteenth of a sort.
_PASSES_PER_SORT = 8


def error_rates(
    tar: SortedScores, non: SortedScores, thresholds: npt.ArrayLike
) -> tuple[Float64Array, Float64Array]:
    """Return the miss and false-alarm rates of sorted classes at each threshold."""
    pmiss: Float64Array = tar.weight_below(thresholds) / tar.total
    pfa: Float64Array = (non.total - non.weight_below(thresholds)) / non.total
    return pmiss, pfa


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
    pmiss = _rate_below(tar, tar_weights, limits, "tar", owner)
    pfa = _rate_above(non, non_weights, limits, "non", owner)
    return pmiss[()], pfa[()]


def _rate_below(
    scores: npt.ArrayLike,
    weights: npt.ArrayLike | None,
    limits: Float64Array,
    name: str,
    owner: str,
) -> Float64Array:
    rejected, total = _weight_below(scores, weights, limits, name, owner)
    return rejected / total


def _rate_above(
    scores: npt.ArrayLike,
    weights: npt.ArrayLike | None,
    limits: Float64Array,
    name: str,
    owner: str,
) -> Float64Array:
    rejected, total = _weight_below(scores, weights, limits, name, owner)
    return (total - rejected) / total


def _weight_below(
    scores: npt.ArrayLike,
    weights: npt.ArrayLike | None,
    limits: Float64Array,
    name: str,
    owner: str,
) -> tuple[npt.NDArray[Any], float]:
    """Weigh the scores below each limit: by passes over them if few, else by sorting."""
    if limits.size > _PASSES_PER_SORT:
        ordered = SortedScores.from_scores(scores, weights, name=name, owner=owner)
        return ordered.weight_below(limits), ordered.total
    array = as_vector(scores, name, owner)
    check_not_empty(array, name, owner)
    # The minimum is NaN if any score is, and costs less than a search for NaN.
    if np.isnan(array.min()):
        refuse_nan(array, name, owner)
    checked = as_weights(weights, array.size, f"{name}_weights", owner)
    check_weight_range(checked, f"{name}_weights", owner)
    below = [_weigh(array, checked, limit) for limit in limits.flat]
    total = array.size if checked is None else float(checked.sum())
    return np.array(below).reshape(limits.shape), total


def _weigh(array: FloatArray, weights: Float64Array | None, limit: np.float64) -> float:
    below = array < limit
    return float(np.count_nonzero(below) if weights is None else weights[below].sum())


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
    pmiss = _rate_below(tar, tar_weights, limits, "tar", "act_dcf")
    pfa = _rate_above(non, non_weights, limits, "non", "act_dcf")
    return costs.cost(pmiss, pfa, normalize=normalize)
