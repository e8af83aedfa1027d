"""Metrics of two lists of scores: EER, PRBEP, AUC, minimum and actual DCF, error-rates.

What depends on the ranks of scores only is asked of the `ROC` and its convex hull; what depends on
given thresholds is counted.
"""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import ArrayLike

import bosaris_py.numerics.counts as counting
from bosaris_py._arrays import Float64Array, FloatArray, Number, Weighting
from bosaris_py._validation import as_list, as_score_lists, as_vector, check_choice, refuse_nan
from bosaris_py.numerics.priors import DecisionCosts, OnePrior, PriorLike
from bosaris_py.numerics.roc import ROC, EERDefinition, check_llrs, hull_of, warn_if_inverted

# A pass for each of so few limits takes less time than a sort.
_FEW_LIMITS = 6


def eer(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    definition: EERDefinition = "rocch",
    tar_weights: Weighting = None,
    non_weights: Weighting = None,
) -> float:
    r"""Compute the equal error rate, by default on the ROC's convex hull.

    The largest Bayes error-rate that any prior can bring about with optimal thresholds; it does not
    depend on calibration.

    Parameters
    ----------
    tar, non : (n_tar,), (n_non,) array_like of float
        Scores of the two classes; no NaN, +-inf allowed.
    definition : {"rocch", "interpolated", "step"}, default: "rocch"
        Which number is meant; see the notes.
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.

    Returns
    -------
    float
        A fraction: 0 for perfect, 0.5 for useless scores; for inverted scores 0.5 on the convex
        hull, and up to 1 by the other definitions.

    Warns
    -----
    SuspectScoresWarning
        If more than 30 trials of each class have an area under the ROC that is below 0.5 by 3
        standard errors of scores that tell nothing.

    See Also
    --------
    bosaris_py.Results : Computes many metrics from one look at the scores.

    Notes
    -----
    Tools define the EER differently (van Leeuwen 2008, footnote 5); for large sets the three
    definitions are close. They stay the same if classes are swapped and scores negated.

    ``"rocch"``
        :math:`\max_\pi \min_\gamma \pi P_{miss}(\gamma) + (1-\pi) P_{fa}(\gamma)`, the point of
        the convex hull with equal rates: theory paper, equation (26); the toolkit's ``eer.m``,
        PYLLR, ROCAnalysis.jl's ``eerch``. Never above the next.
    ``"interpolated"``
        Where straight lines between the points of the steppy ROC meet pmiss = pfa: NIST's scorer of
        SRE18 and later; the VoxSRC kit; ``brentq`` on scikit-learn's ``roc_curve``.
    ``"step"``
        The mean of the two rates at the step of the ROC where they are nearest: the ASVspoof
        challenges. Equal scores of the two classes are one step, whatever their order. Within a run
        of one class every trial (or unit of weight) is a step. Of two steps as near, the one with
        the lower rates.

    The program voxceleb_trainer reports the larger of the two rates at that step. Kaldi's
    ``compute-eer`` takes the miss rate at one place in the sorted targets, which can be a step off.

    Examples
    --------
    >>> eer([1.0, 3.0], [0.0, 2.0])
    0.25
    >>> eer([1.0, 3.0], [0.0, 2.0], definition="interpolated")
    0.5
    """
    check_choice(definition, EERDefinition, "definition")
    if definition == "rocch":
        return hull_of(tar, non, tar_weights, non_weights).eer
    # The other definitions are the same if the classes are swapped, too.
    tar, non = as_list(tar), as_list(non)
    roc = ROC.from_scores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    warn_if_inverted(roc.convex_hull().eer, lambda: roc.auc, np.size(tar), np.size(non))
    return roc.equal_error_rate(definition)


def prbep(
    tar: ArrayLike, non: ArrayLike, *, tar_weights: Weighting = None, non_weights: Weighting = None
) -> float:
    """Compute the precision-recall break-even point, as a number of errors.

    The point on the ROC's convex hull with as many misses as false alarms. If it is below about 30,
    error-rates near this point rest on few errors.

    Parameters
    ----------
    tar, non, tar_weights, non_weights : array_like of float
        Scores and trial weights, as for `eer`.

    Returns
    -------
    float
        Number of misses (= number of false alarms), from 0 upwards; in general not whole. With
        weights, a sum of weights.

    Notes
    -----
    Theory paper, section 2.6.4, equation (29); the toolkit's ``prbep.m``. Not
    comparable between data sets of different size.

    Examples
    --------
    >>> prbep([1.0, 3.0], [0.0, 2.0])
    0.5
    """
    return hull_of(tar, non, tar_weights, non_weights).prbep


def auc(
    tar: ArrayLike, non: ArrayLike, *, tar_weights: Weighting = None, non_weights: Weighting = None
) -> float:
    """Compute the area under the ROC, the chance that a target outscores a non-target.

    Parameters
    ----------
    tar, non, tar_weights, non_weights : array_like of float
        Scores and trial weights, as for `eer`.

    Returns
    -------
    float
        1 for perfect, 0.5 for useless, 0 for perfectly inverted scores.

    Notes
    -----
    The Mann-Whitney statistic, pairs of equal scores counted half: the
    trapezoidal area of NISTIR 7722. The toolkit's ``area_under_rocch.m`` is
    the area below pfa over pmiss of the *convex hull*, 0 for perfect scores.

    Examples
    --------
    >>> auc([1.0, 3.0], [0.0, 2.0])
    0.75
    """
    # The chance is the same if the classes are swapped and the scores negated.
    return ROC.from_scores(tar, non, tar_weights=tar_weights, non_weights=non_weights).auc


@overload
def min_dcf(  # type: ignore[overload-overlap]
    tar: ArrayLike,
    non: ArrayLike,
    prior: OnePrior,
    normalize: bool = ...,  # noqa: FBT001 -- positional as in the toolkit
    tar_weights: Weighting = None,
    non_weights: Weighting = None,
) -> float: ...
@overload
def min_dcf(
    tar: ArrayLike,
    non: ArrayLike,
    prior: PriorLike,
    normalize: bool = ...,  # noqa: FBT001 -- positional as in the toolkit
    tar_weights: Weighting = None,
    non_weights: Weighting = None,
) -> Float64Array: ...
def min_dcf(
    tar: ArrayLike,
    non: ArrayLike,
    prior: PriorLike,
    normalize: bool = False,  # noqa: FBT001, FBT002 -- positional as in the toolkit
    tar_weights: Weighting = None,
    non_weights: Weighting = None,
) -> float | Float64Array:
    r"""Compute the minimum detection cost over all thresholds.

    What the cost would be if the scores were perfectly calibrated at these operating points. One
    look at the scores serves any number of priors.

    Parameters
    ----------
    tar, non : (n_tar,), (n_non,) array_like of float
        Scores of the two classes; no NaN, +-inf allowed.
    prior : float, (k,) array_like of float, OperatingPoint or sequence of them
        Target probabilities (unit costs, the Bayes error-rate of the theory paper), or operating
        points with their own costs (NIST's C_det).
    normalize : bool, default: False
        Divide by the cost of the better decision made without a detector, min(p C_miss, (1 - p)
        C_fa).
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.

    Returns
    -------
    float or (k,) ndarray of float64
        :math:`\min_\gamma \pi C_{miss} P_{miss}(\gamma) + (1-\pi) C_{fa} P_{fa}(\gamma)`.
        0 for perfect scores; for useless scores the cost without a detector,
        1 if normalized, which is never exceeded.

    Warns
    -----
    SuspectScoresWarning
        As for `eer`.

    See Also
    --------
    bosaris_py.Results.min_dcf_threshold : The threshold that goes with it.

    Notes
    -----
    Minimised over the vertices of the ROC's convex hull, theory paper,
    equation (25); the toolkit's ``fast_minDCF.m``, which takes prior log-odds.

    Examples
    --------
    >>> float(min_dcf([1.0, 3.0], [0.0, 2.0], 0.5))
    0.25
    """
    return hull_of(tar, non, tar_weights, non_weights).min_dcf(prior, normalize=normalize)


@overload
def act_dcf(  # type: ignore[overload-overlap]
    tar: ArrayLike,
    non: ArrayLike,
    prior: OnePrior,
    normalize: bool = ...,  # noqa: FBT001 -- positional as in the toolkit
    tar_weights: Weighting = None,
    non_weights: Weighting = None,
) -> float: ...
@overload
def act_dcf(
    tar: ArrayLike,
    non: ArrayLike,
    prior: PriorLike,
    normalize: bool = ...,  # noqa: FBT001 -- positional as in the toolkit
    tar_weights: Weighting = None,
    non_weights: Weighting = None,
) -> Float64Array: ...
def act_dcf(
    tar: ArrayLike,
    non: ArrayLike,
    prior: PriorLike,
    normalize: bool = False,  # noqa: FBT001, FBT002 -- positional as in the toolkit
    tar_weights: Weighting = None,
    non_weights: Weighting = None,
) -> float | Float64Array:
    r"""Compute the detection cost of Bayes decisions: the actual DCF.

    Scores are taken as log-likelihood-ratios and compared with the Bayes threshold of each
    operating point, so that bad calibration costs.

    Parameters
    ----------
    tar, non : (n_tar,), (n_non,) array_like of float
        Natural-log likelihood-ratios of the two classes; no NaN, +-inf allowed.
    prior, normalize, tar_weights, non_weights
        As for `min_dcf`; priors in any order, repeats allowed.

    Returns
    -------
    float or (k,) ndarray of float64
        :math:`\pi C_{miss} P_{miss}(\eta) + (1-\pi) C_{fa} P_{fa}(\eta)` at
        :math:`\eta = \log(C_{fa}/C_{miss}) - \mathrm{logit}\,\pi`. 0 for
        perfect scores; normalized, 1 for a detector that says nothing, and
        more for a misleading one.

    Warns
    -----
    SuspectScoresWarning
        If scores of more than 30 trials of each class lie from -1 to 1, or have one sign, but some
        threshold has fewer errors at prior 0.5 than such log-likelihood-ratios, 26.9 % or 50 %, by
        3 standard errors; if Cllr is above 1 and twice minCllr; or if the AUC is below 0.5.

    Notes
    -----
    Theory paper, equations (11) and (13); the toolkit's ``fast_actDCF.m``,
    which takes ascending prior log-odds and miscounts repeated ones.

    Examples
    --------
    >>> float(act_dcf([1.0, 3.0], [-1.0, 2.0], 0.5))
    0.25
    """
    costs = DecisionCosts.from_prior(prior)
    given = as_list(tar_weights), as_list(non_weights)
    tar, non = as_score_lists(tar, non, *given)
    rates = _rates_at(tar, non, costs.thresholds, *given)
    check_llrs(tar, non, *given)
    return costs.cost(*rates, normalize=normalize)


@overload
def error_rates_at(
    tar: ArrayLike,
    non: ArrayLike,
    thresholds: Number,
    *,
    tar_weights: Weighting = None,
    non_weights: Weighting = None,
) -> tuple[float, float]: ...
@overload
def error_rates_at(
    tar: ArrayLike,
    non: ArrayLike,
    thresholds: ArrayLike,
    *,
    tar_weights: Weighting = None,
    non_weights: Weighting = None,
) -> tuple[Float64Array, Float64Array]: ...
def error_rates_at(
    tar: ArrayLike,
    non: ArrayLike,
    thresholds: ArrayLike,
    *,
    tar_weights: Weighting = None,
    non_weights: Weighting = None,
) -> tuple[float, float] | tuple[Float64Array, Float64Array]:
    """Compute the miss and false-alarm rates at given thresholds.

    Parameters
    ----------
    tar, non : (n_tar,), (n_non,) array_like of float
        Scores of the two classes; no NaN, +-inf allowed.
    thresholds : float or array_like of float
        Accept iff score >= threshold; in any order, repeats allowed. Compared in float64 also if
        the scores are float32.
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.

    Returns
    -------
    pmiss, pfa : float or ndarray of float64, like `thresholds`
        Share of targets below, and of non-targets at or above the threshold.

    Examples
    --------
    >>> pmiss, pfa = error_rates_at([1.0, 3.0], [0.0, 2.0], [1.0, 2.5])
    >>> pmiss.tolist(), pfa.tolist()
    ([0.0, 0.5], [0.5, 0.0])
    """
    limits = np.asarray(thresholds, dtype=np.float64)
    refuse_nan(np.atleast_1d(limits), "thresholds")
    pmiss, pfa = _rates_at(tar, non, limits, tar_weights, non_weights)
    return pmiss[()], pfa[()]


def _rates_at(
    tar: ArrayLike,
    non: ArrayLike,
    limits: Float64Array,
    tar_weights: Weighting = None,
    non_weights: Weighting = None,
) -> tuple[Float64Array, Float64Array]:
    tar, non = as_score_lists(tar, non, tar_weights, non_weights)
    pmiss = share_below(*counting.as_trials(tar, tar_weights, "tar"), limits)
    return pmiss, share_above(*counting.as_trials(non, non_weights, "non"), limits)


def share_below(
    scores: FloatArray, weights: Float64Array | None, limits: Float64Array
) -> Float64Array:
    """Return the share of scores below each limit; scores are checked, in any order."""
    if weights is None and limits.size <= _FEW_LIMITS:
        below = [counting.n_below(scores, limit) for limit in limits.ravel().tolist()]
        return np.reshape(below, limits.shape) / scores.size
    ordered = counting.SortedScores.from_scores(scores, weights, name="scores")
    return np.asarray(ordered.weight_below(limits) / ordered.total)


def share_above(
    scores: FloatArray, weights: Float64Array | None, limits: Float64Array
) -> Float64Array:
    """Return the share of scores at or above each limit; scores are checked, in any order."""
    if weights is None and limits.size <= _FEW_LIMITS:
        above = [scores.size - counting.n_below(scores, limit) for limit in limits.ravel().tolist()]
        return np.reshape(above, limits.shape) / scores.size
    ordered = counting.SortedScores.from_scores(scores, weights, name="scores")
    # The total is summed from the top, as the weights are.
    return np.asarray(ordered.weight_at_or_above(limits) / ordered.weight_at_or_above(-np.inf))


def sorted_error_rates(
    tar: counting.SortedScores, non: counting.SortedScores, thresholds: ArrayLike
) -> tuple[Float64Array, Float64Array]:
    """Return the miss and false-alarm rates of sorted classes at each threshold."""
    pmiss: Float64Array = tar.weight_below(thresholds) / tar.total
    pfa: Float64Array = non.weight_at_or_above(thresholds) / non.weight_at_or_above(-np.inf)
    return pmiss, pfa


def optimal_llrs(
    tar: ArrayLike, non: ArrayLike, *, tar_weights: Weighting = None, non_weights: Weighting = None
) -> tuple[Float64Array, Float64Array]:
    """Replace each score by its optimal log-likelihood-ratio.

    Parameters
    ----------
    tar, non, tar_weights, non_weights : array_like of float
        Scores and trial weights, as for `eer`.

    Returns
    -------
    tar_llrs : (n_tar,) ndarray of float64
        Natural-log likelihood-ratios in the order of `tar`; inf above the highest non-target.
    non_llrs : (n_non,) ndarray of float64
        Likewise for `non`; -inf below the lowest target.

    Notes
    -----
    The posterior of each pool, minus the prior log-odds of the training
    trials. The toolkit's ``opt_loglr.m`` with option ``'raw'``, without the
    1e-6 per rank that it adds to keep the map invertible.

    Examples
    --------
    >>> tar_llrs, non_llrs = optimal_llrs([1.0, 3.0], [0.0, 2.0])
    >>> tar_llrs.tolist(), non_llrs.tolist()
    ([0.0, inf], [-inf, 0.0])
    """
    tar, non = as_list(tar), as_list(non)
    hull = hull_of(tar, non, tar_weights, non_weights, warn=False)
    return hull.llr_of(as_vector(tar, "tar")), hull.llr_of(as_vector(non, "non"))
