"""Metrics that depend on ranks alone: one number from two lists of scores."""

from typing import Any

import numpy.typing as npt

from bosaris_py.numerics.eer_definitions import EERDefinition, check_eer_definition
from bosaris_py.numerics.priors import PriorLike
from bosaris_py.numerics.smaller_class import hull_of, roc_of

__all__ = ["auc", "eer", "min_dcf", "prbep"]


def eer(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    *,
    tar_weights: npt.ArrayLike | None = None,
    non_weights: npt.ArrayLike | None = None,
    definition: EERDefinition = "rocch",
) -> float:
    r"""Compute the equal error rate, by default on the ROC's convex hull.

    The largest Bayes error-rate that any prior can bring about with optimal
    thresholds; it does not depend on calibration.

    Parameters
    ----------
    tar : (n_tar,) array_like of float
        Target scores; no NaN, +-inf allowed.
    non : (n_non,) array_like of float
        Non-target scores; no NaN, +-inf allowed.
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.
    definition : {"rocch", "interpolated", "step"}, default: "rocch"
        Which number is meant; see the notes.

    Returns
    -------
    float
        A fraction: 0 for perfect, 0.5 for useless scores; for inverted scores
        0.5 on the convex hull, and up to 1 by the other definitions.

    Raises
    ------
    InvalidInputError
        If a class is empty, a score is NaN, a weight is bad, or there is no such
        definition.

    See Also
    --------
    bosaris_py.Results : Computes many metrics from one look at the scores.

    Notes
    -----
    Where two tools disagree on the EER, they often mean different things (van
    Leeuwen 2008, footnote 5); for large sets the three are close.

    ``"rocch"``
        :math:`\max_\pi \min_\gamma \pi P_{miss}(\gamma) + (1-\pi) P_{fa}(\gamma)`,
        the point of the convex hull where the two rates are equal: theory paper,
        equation (26); the toolkit's ``eer.m``, PYLLR, ROCAnalysis.jl's ``eerch``.
        Never above the next.
    ``"interpolated"``
        Where straight lines between the points of the steppy ROC meet pmiss =
        pfa: NIST's scorer of SRE18 and later, and those who solve ``1 - x =
        tpr(x)`` with scikit-learn's ``roc_curve`` and scipy's ``brentq``.
    ``"step"``
        The mean of the two rates at the step of the ROC where they are nearest:
        the ASVspoof challenges. Equal scores of the two classes are one step
        here, whatever their order in the file; within a run of one class every
        trial is a step, every unit of weight if weights are whole. Fractional
        weights divide a run as finely as one likes. Of two steps as near, the
        one with the lower rates.

    The VoxSRC kit and voxceleb_trainer report the larger of the two rates at
    that step, where ``"step"`` has their mean; the smallest larger rate of all
    thresholds goes with `Results.eer_threshold`. Kaldi's ``compute-eer`` takes
    the miss rate at one place in the sorted targets, which can be a step off.

    All three are the same if the classes are swapped and the scores negated.

    Examples
    --------
    >>> eer([1.0, 3.0], [0.0, 2.0])
    0.25
    >>> eer([1.0, 3.0], [0.0, 2.0], definition="interpolated")
    0.5
    """
    check_eer_definition(definition, "eer")
    if definition == "rocch":
        return hull_of(tar, non, tar_weights, non_weights, "eer").eer
    # The other definitions are the same if the classes are swapped, too.
    return roc_of(tar, non, tar_weights, non_weights, "eer")[0].equal_error_rate(definition)


def prbep(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    *,
    tar_weights: npt.ArrayLike | None = None,
    non_weights: npt.ArrayLike | None = None,
) -> float:
    """Compute the precision-recall break-even point, as a number of errors.

    The point on the ROC's convex hull with as many misses as false alarms. If
    it is below about 30, error-rates near this point rest on few errors.

    Parameters
    ----------
    tar : (n_tar,) array_like of float
        Target scores; no NaN, +-inf allowed.
    non : (n_non,) array_like of float
        Non-target scores; no NaN, +-inf allowed.
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.

    Returns
    -------
    float
        Number of misses (= number of false alarms), from 0 upwards; in general
        not whole. With weights, a sum of weights.

    Raises
    ------
    InvalidInputError
        If a class is empty, a score is NaN, or a weight is bad.

    Notes
    -----
    Theory paper, section 2.6.4, equation (29); the toolkit's ``prbep.m``. Not
    comparable between data sets of different size.

    Examples
    --------
    >>> prbep([1.0, 3.0], [0.0, 2.0])
    0.5
    """
    return hull_of(tar, non, tar_weights, non_weights, "prbep").prbep


def auc(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    *,
    tar_weights: npt.ArrayLike | None = None,
    non_weights: npt.ArrayLike | None = None,
) -> float:
    """Compute the area under the ROC, the chance that a target outscores a non-target.

    Parameters
    ----------
    tar : (n_tar,) array_like of float
        Target scores; no NaN, +-inf allowed.
    non : (n_non,) array_like of float
        Non-target scores; no NaN, +-inf allowed.
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.

    Returns
    -------
    float
        1 for perfect, 0.5 for useless, 0 for perfectly inverted scores.

    Raises
    ------
    InvalidInputError
        If a class is empty, a score is NaN, or a weight is bad.

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
    return roc_of(tar, non, tar_weights, non_weights, "auc")[0].auc


def min_dcf(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    prior: PriorLike,
    normalize: bool = False,  # noqa: FBT001, FBT002 -- positional as in the toolkit
    *,
    tar_weights: npt.ArrayLike | None = None,
    non_weights: npt.ArrayLike | None = None,
) -> Any:
    r"""Compute the minimum detection cost over all thresholds.

    What the cost would be if the scores were perfectly calibrated at these
    operating points. One look at the scores serves any number of priors.

    Parameters
    ----------
    tar : (n_tar,) array_like of float
        Target scores; no NaN, +-inf allowed.
    non : (n_non,) array_like of float
        Non-target scores; no NaN, +-inf allowed.
    prior : float, (k,) array_like of float, OperatingPoint or sequence of them
        Target probabilities (unit costs), or operating points with their own
        costs.
    normalize : bool, default: False
        Divide by the cost of the better decision made without a detector,
        min(p C_miss, (1 - p) C_fa).
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.

    Returns
    -------
    float or (k,) ndarray of float64
        :math:`\min_\gamma \pi C_{miss} P_{miss}(\gamma) + (1-\pi) C_{fa} P_{fa}(\gamma)`.
        0 for perfect scores; for useless scores the cost without a detector,
        1 if normalized, which is never exceeded.

    Raises
    ------
    InvalidInputError
        If a class is empty, a score is NaN, a weight is bad, or a prior is not
        in (0, 1).

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
    hull = hull_of(tar, non, tar_weights, non_weights, "min_dcf")
    return hull.min_dcf(prior, normalize=normalize)
