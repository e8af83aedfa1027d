r"""Standard errors of the area under the ROC, without resampling.

Two formulas for independent trials: the plug-in variance of the Mann-Whitney
statistic that NISTIR 7722 [1]_ uses, and DeLong's [2]_, which also gives the
covariance of several systems on the same trials. Neither knows that trials
share speakers.

References
----------
.. [1] J. C. Wu, A. F. Martin, C. S. Greenberg and R. N. Kacker, "Measurement
   uncertainties in speaker recognition evaluation", NISTIR 7722, 2010, appendix A.1.
.. [2] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two
   or more correlated receiver operating characteristic curves", Biometrics 44, 1988,
   doi:10.2307/2531595.
.. [3] X. Sun and W. Xu, "Fast implementation of DeLong's algorithm", IEEE Signal Processing
   Letters 21, 2014, doi:10.1109/LSP.2014.2337313.
"""

import functools
import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import (
    FloatArray,
    as_matrix,
    as_vector,
    describe,
    frozen,
    invalid,
    refuse_nan,
    warn_caller,
)
from bosaris_py.errors import FewErrorsWarning, TrialMismatchError
from bosaris_py.numerics.roc import ROC
from bosaris_py.numerics.sorted_scores import SortedScores, sort_classes
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.forms import AnyKey, AnyScores
from bosaris_py.uncertainty.estimates import Alternative, ZTest, check_choice, z_test
from bosaris_py.uncertainty.scored_trials import ScoredTrials
from bosaris_py.uncertainty.strata import TrialStrata

__all__ = ["DeLongResult", "auc_standard_error", "auc_standard_error_scores", "delong"]

Float64Array = npt.NDArray[np.float64]
Ties = Literal["coin", "half"]


def auc_standard_error(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    *,
    ties: Ties = "coin",
    tar_weights: npt.ArrayLike | None = None,
    non_weights: npt.ArrayLike | None = None,
    tar_conditions: npt.ArrayLike | None = None,
    non_conditions: npt.ArrayLike | None = None,
    condition_weights: Mapping[Any, float] | None = None,
) -> float:
    r"""Compute the standard error of the area under the ROC, for independent trials.

    Parameters
    ----------
    tar : (n_tar,) array_like of float
        Target scores; no NaN, +-inf allowed.
    non : (n_non,) array_like of float
        Non-target scores; no NaN, +-inf allowed.
    ties : {"coin", "half"}, default: "coin"
        "coin" is equation (14) of [1]_: the variance as if a coin decided which of
        two equal scores ranks higher. "half" is the variance of the area itself,
        in which equal scores count half: what the bootstrap tends to as the number of
        replications grows. The first is never smaller; they agree without ties
        between classes.
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative: how much each trial counts in the
        area. They are not numbers of repetitions; only their ratios matter.
    tar_conditions, non_conditions, condition_weights
        Conditions of the trials and their weights, as for `bootstrap`; not together with
        trial weights.

    Returns
    -------
    float
        In [0, 0.5]; 0 if one class lies above the other altogether.

    Raises
    ------
    InvalidInputError
        If a class is empty, a score is NaN, a weight is bad, labels of conditions are
        missing or of the wrong number, or `ties` is unknown.

    Warns
    -----
    FewErrorsWarning
        If the result is 0, because all pairs of a target and a non-target compare
        alike: then it is no measure of uncertainty.

    See Also
    --------
    auc_standard_error_scores : The same for scores and a key.
    delong : Nearly the same number, with the covariance of several systems.
    bosaris_py.auc : The area itself.

    Notes
    -----
    For :math:`T` targets, :math:`N` non-targets and the area :math:`A`,

    .. math::

        SE^2 = \frac{A(1-A) + (T-1)(B_{TTN} - A^2) + (N-1)(B_{NNT} - A^2)}{T N},

    with :math:`B_{TTN}` the chance that two targets, drawn with replacement, both
    outscore one non-target and :math:`B_{NNT}` the chance that one target outscores
    two non-targets, equations (12) to (14) of [1]_. For ``ties="half"`` the
    same with the mean of products of the kernel 0, 1/2, 1 in their place.

    With trial weights the numbers of trials are replaced by
    :math:`(\sum w)^2 / \sum w^2`, which is right if weights have nothing to do with scores.

    Weights of conditions have: each condition keeps its share and its number of trials,
    whatever it has for scores. The area is then the mean of those of all pairs of a
    condition :math:`\alpha` of targets and :math:`\beta` of non-targets,
    :math:`A = \sum_{\alpha\beta} w_\alpha w_\beta A_{\alpha\beta}`, and its variance

    .. math::

        SE^2 = \sum_\alpha \frac{w_\alpha^2}{T_\alpha} V_{\alpha\cdot}
             + \sum_\beta \frac{w_\beta^2}{N_\beta} V_{\cdot\beta}
             + \sum_{\alpha\beta} \frac{w_\alpha^2 w_\beta^2}{T_\alpha N_\beta} R_{\alpha\beta},

    with :math:`V_{\alpha\cdot} = B_{NNT} - A^2` of the targets of condition :math:`\alpha`
    against all non-targets, these with the weights of their conditions,
    :math:`V_{\cdot\beta} = B_{TTN} - A^2` likewise, and
    :math:`R_{\alpha\beta} = A(1-A) - (B_{TTN} - A^2) - (B_{NNT} - A^2)` within the pair of
    conditions. With one condition this is equation (14).

    O(T log T + N log N) time, two sorts; the sums run over the distinct target
    scores only. With k conditions, k + 2 times as many.

    References
    ----------
    .. [1] J. C. Wu, A. F. Martin, C. S. Greenberg and R. N. Kacker, "Measurement
       uncertainties in speaker recognition evaluation", NISTIR 7722, 2010, equations (10)
       to (14).

    Examples
    --------
    >>> round(auc_standard_error([1.0, 3.0], [0.0, 2.0]) ** 2, 6)
    0.078125
    """
    owner = "auc_standard_error"
    check_choice(ties, get_args(Ties), "ties", owner)
    if tar_conditions is None and non_conditions is None and condition_weights is None:
        sorted_tar, sorted_non = sort_classes(tar, non, tar_weights, non_weights, owner)
        return _root(_variance(sorted_tar, sorted_non, ties), owner)
    for weights, name in ((tar_weights, "tar_weights"), (non_weights, "non_weights")):
        if weights is not None:
            expected = "be left out where there are conditions"
            raise invalid(name, owner, expected, "weights")
    tar_scores, non_scores = as_vector(tar, "tar", owner), as_vector(non, "non", owner)
    sizes = (tar_scores.size, non_scores.size)
    strata = TrialStrata.from_labels(
        tar_conditions, non_conditions, condition_weights, sizes, owner
    )
    return _root(_variance_of_strata(tar_scores, non_scores, strata, ties, owner), owner)


def auc_standard_error_scores(
    scores: AnyScores,
    key: AnyKey,
    *,
    ties: Ties = "coin",
    conditions: Conditions | None = None,
) -> float:
    """Compute the standard error of the area under the ROC of the scores of a key's trials.

    Parameters
    ----------
    scores : Scores or FlatScores
        Scores of the system.
    key : Key or FlatKey
        Which trials are targets and which non-targets.
    ties : {"coin", "half"}, default: "coin"
        What a tie does, as for `auc_standard_error`.
    conditions : Conditions, optional
        Weights of conditions: the area is then the condition-weighted one. Trials may be
        in one condition only.

    Returns
    -------
    float
        In [0, 0.5]; 0 if one class lies above the other altogether.

    Raises
    ------
    InvalidInputError
        If a class has no scores, a score is NaN, conditions overlap, or `ties` is unknown.
    TrialMismatchError
        If a trial is in no condition, unless they allow that, or a condition has no
        trial with a score.

    Warns
    -----
    MissingTrialsWarning
        If trials of the key have no scores; they are left out.
    FewErrorsWarning
        If the result is 0.
    ConditionWarning
        If conditions have trials of one class only.

    See Also
    --------
    auc_standard_error : The formula.
    bootstrap_scores : With `AUC` and the speakers of the trials, which this takes for independent.
    """
    owner = "auc_standard_error_scores"
    check_choice(ties, get_args(Ties), "ties", owner)
    trials = ScoredTrials.of(scores, key, conditions, owner)
    tar, non = trials.take(scores, key, owner)
    return _root(_variance_of_strata(tar, non, trials.strata, ties, owner), owner)


def _root(variance: float, owner: str) -> float:
    if variance == 0:
        _warn_all_alike(owner)
    return math.sqrt(variance)


def _variance(tar: SortedScores, non: SortedScores, ties: Ties) -> float:
    """Return the variance of the area, NISTIR 7722 eq. 14."""
    pairs = _Pairs.of(tar, non, ties)
    n_tar, n_non = _effective_size(tar), _effective_size(non)
    total = pairs.square - pairs.area**2
    total += (n_tar - 1.0) * pairs.spread_of_non + (n_non - 1.0) * pairs.spread_of_tar
    return max(total, 0.0) / (n_tar * n_non)


def _variance_of_strata(
    tar: FloatArray, non: FloatArray, strata: TrialStrata, ties: Ties, owner: str
) -> float:
    """Return the variance of the condition-weighted area."""
    all_tar, all_non = sort_classes(tar, non, *strata.trial_weights(), owner)
    if strata.is_single:
        return _variance(all_tar, all_non, ties)
    tar_parts, tar_shares = strata.tar.sorted(tar)
    non_parts, non_shares = strata.non.sorted(non)
    tar_mass = tar_shares**2 / [part.size for part in tar_parts]
    non_mass = non_shares**2 / [part.size for part in non_parts]
    total = 0.0
    for part, mass in zip(tar_parts, tar_mass, strict=True):
        total += mass * _Pairs.of(part, all_non, ties).spread_of_tar
        for other, other_mass in zip(non_parts, non_mass, strict=True):
            total += mass * other_mass * _Pairs.of(part, other, ties).rest
    for part, mass in zip(non_parts, non_mass, strict=True):
        total += mass * _Pairs.of(all_tar, part, ties).spread_of_non
    return max(float(total), 0.0)


class _Pairs(NamedTuple):
    """What pairs of a target and a non-target have in common.

    Parameters
    ----------
    area : float
        The area under the ROC.
    square : float
        The mean square of one comparison: of 0 and 1 it is the area.
    spread_of_tar, spread_of_non : float
        How much the share of the other class that it is right of varies over the class.
    """

    area: float
    square: float
    spread_of_tar: float
    spread_of_non: float

    @property
    def rest(self) -> float:
        """What varies from pair to pair."""
        return self.square - self.area**2 - self.spread_of_tar - self.spread_of_non

    @classmethod
    def of(cls, tar: SortedScores, non: SortedScores, ties: Ties) -> "_Pairs":
        """Count all pairs of two classes."""
        return cls(*_pair_moments(ROC.from_sorted(tar, non), ties))


def _pair_moments(roc: ROC, ties: Ties) -> tuple[float, float, float, float]:
    """Return area, mean square, and the two spreads: NISTIR 7722 eqs. 10 to 13."""
    p_tar = roc.tar_at / roc.tar_total
    p_tied = roc.non_at / roc.non_total
    p_between = roc.non_between / roc.non_total
    # Eq. 10 and 11: targets above, and non-targets below, each distinct target score.
    tar_from = np.cumsum(p_tar[::-1])[::-1]
    tar_above = tar_from - p_tar
    non_below = np.cumsum(p_between[:-1])
    non_below[1:] += np.cumsum(p_tied)[:-1]

    # Three equal scores: each is the lowest (highest) in a third of the random orders;
    # with half points for a tie the product of two is a quarter.
    both_tied = 1.0 / 3.0 if ties == "coin" else 0.25
    # Eq. 12. Between two target scores the share of targets above is constant.
    b_ttn = float(np.dot(p_between[:-1], tar_from**2))
    b_ttn += float(np.dot(p_tied, tar_above**2 + tar_above * p_tar + both_tied * p_tar**2))
    # Eq. 13.
    b_nnt = float(np.dot(p_tar, non_below**2 + non_below * p_tied + both_tied * p_tied**2))
    area = roc.auc
    square = area if ties == "coin" else area - 0.25 * float(np.dot(p_tar, p_tied))
    return area, square, b_nnt - area**2, b_ttn - area**2


def _effective_size(scores: SortedScores) -> float:
    weights = scores.weights
    if weights is None:
        return float(scores.size)
    return float(weights.sum()) ** 2 / float(np.dot(weights, weights))


def _warn_all_alike(owner: str) -> None:
    message = (
        f"All pairs of a target and a non-target compare alike, so {owner} returns 0. That is a "
        "property of the formula, not a measure of how certain the area under the ROC is."
    )
    warn_caller(message, FewErrorsWarning)


@attrs.frozen(eq=False, repr=False)
class DeLongResult:
    """Areas under the ROC of systems on the same trials, with their covariance.

    Made by `delong`. Arrays are read-only.

    Parameters
    ----------
    auc : (k,) ndarray of float64
        Area under the ROC of each system.
    covariance : (k, k) ndarray of float64
        Estimated covariance of these areas over repetitions of the experiment.
    n_tar, n_non : int
        Number of target and of non-target trials.
    """

    auc: Float64Array
    covariance: Float64Array
    n_tar: int
    n_non: int

    @functools.cached_property
    def standard_errors(self) -> Float64Array:
        """Standard error of the area of each system: (k,)."""
        return frozen(np.sqrt(np.diag(self.covariance)))

    def compare(
        self, first: int = 0, second: int = 1, *, alternative: Alternative = "two-sided"
    ) -> ZTest:
        """Test if the areas of two of the systems differ.

        Parameters
        ----------
        first, second : int
            Which systems, by position; by default the first two.
        alternative : {"two-sided", "less", "greater"}, default: "two-sided"
            Whether any difference counts, or only a first area that is smaller
            ("less") or larger ("greater"). Larger areas are better.

        Returns
        -------
        ZTest
            With the difference of areas, first - second.

        Raises
        ------
        InvalidInputError
            If there are no such systems, or `alternative` is unknown.
        """
        owner = "DeLongResult.compare"
        size = self.auc.size
        for name, index in (("first", first), ("second", second)):
            if not (-size <= index < size):
                expected = f"be the position of one of {size} systems"
                raise invalid(name, owner, expected, describe(index))
        contrast = np.zeros(size)
        contrast[first] += 1.0
        contrast[second] -= 1.0
        variance = max(float(contrast @ self.covariance @ contrast), 0.0)
        difference = float(self.auc[first] - self.auc[second])
        return z_test(difference, math.sqrt(variance), alternative, "DeLong", owner)

    def __repr__(self) -> str:
        """Show each area with its standard error."""
        areas = ", ".join(
            f"{area:.4f} +- {error:.2g}"
            for area, error in zip(self.auc, self.standard_errors, strict=True)
        )
        return f"DeLongResult: AUC {areas} ({self.n_tar} targets, {self.n_non} non-targets)"


def delong(tar: npt.ArrayLike, non: npt.ArrayLike) -> DeLongResult:
    r"""Compute areas under the ROC and their covariance by DeLong's method.

    Parameters
    ----------
    tar : (k, n_tar) or (n_tar,) array_like of float
        Target scores of k systems on the same trials, one row per system; at least two
        trials, no NaN, +-inf allowed.
    non : (k, n_non) or (n_non,) array_like of float
        Non-target scores, likewise.

    Returns
    -------
    DeLongResult

    Raises
    ------
    InvalidInputError
        If a class has fewer than two trials, or a score is NaN.
    TrialMismatchError
        If `tar` and `non` are not of equally many systems.

    Warns
    -----
    FewErrorsWarning
        If the variance of a system is 0, because all its pairs of a target and a
        non-target compare alike: then it is no measure of uncertainty.

    See Also
    --------
    auc_standard_error : The plug-in formula of NISTIR 7722.

    Notes
    -----
    Each target has a placement, the share of non-targets that it outscores, ties
    counted half; each non-target likewise. The covariance of the areas is that of
    the targets' placements, divided by n_tar, plus that of the non-targets',
    divided by n_non; both unbiased [1]_. Placements come from one sort per class
    and system and a binary search, as in [2]_: O(k n log n) time.

    Trials count one each: placements have no covariance formula here for weighted
    conditions, for which `paired_bootstrap` of `AUC` compares two systems.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under
       two or more correlated receiver operating characteristic curves", Biometrics 44,
       1988, doi:10.2307/2531595.
    .. [2] X. Sun and W. Xu, "Fast implementation of DeLong's algorithm", IEEE Signal
       Processing Letters 21, 2014, doi:10.1109/LSP.2014.2337313.

    Examples
    --------
    >>> result = delong([[1.0, 3.0], [1.5, 3.0]], [[0.0, 2.0], [4.0, 0.5]])
    >>> result.auc.tolist()
    [0.75, 0.5]
    >>> result.compare()
    difference 0.25, standard error 0.79, z 0.316, p 0.752 (two-sided; DeLong)
    """
    owner = "delong"
    tar_rows, non_rows = _as_rows(tar, "tar", owner), _as_rows(non, "non", owner)
    if len(tar_rows) != len(non_rows):
        message = (
            f"`tar` and `non` of delong must hold one row of scores per system; "
            f"got {len(tar_rows)} and {len(non_rows)} rows."
        )
        raise TrialMismatchError(message)
    tar_placements = np.empty(tar_rows.shape)
    non_placements = np.empty(non_rows.shape)
    for row, (tar_row, non_row) in enumerate(zip(tar_rows, non_rows, strict=True)):
        sorted_tar, sorted_non = sort_classes(tar_row, non_row, None, None, owner)
        tar_placements[row] = _share_below(sorted_non, tar_row)
        non_placements[row] = 1.0 - _share_below(sorted_tar, non_row)
    auc = tar_placements.mean(axis=1)
    covariance = _covariance_of_mean(tar_placements) + _covariance_of_mean(non_placements)
    if not np.diag(covariance).all():
        _warn_all_alike(owner)
    n_tar, n_non = tar_placements[0].size, non_placements[0].size
    return DeLongResult(frozen(auc), frozen(covariance), n_tar, n_non)


def _as_rows(scores: npt.ArrayLike, name: str, owner: str) -> FloatArray:
    if np.ndim(scores) == 1:
        rows = as_vector(scores, name, owner)[np.newaxis, :]
    else:
        rows = as_matrix(scores, name, owner)
    if rows.shape[0] < 1 or rows.shape[1] < 2:
        expected = "hold at least two trials of at least one system"
        raise invalid(name, owner, expected, describe(rows))
    refuse_nan(rows.ravel(), name, owner)
    return rows


def _share_below(others: SortedScores, scores: FloatArray) -> Float64Array:
    """Return the share of `others` below each score, equal ones counted half."""
    count = others.count_below(scores) + others.count_up_to(scores)
    return np.asarray(count / (2.0 * others.size))


def _covariance_of_mean(values: Float64Array) -> Float64Array:
    """Return the covariance of the row means, (k, k)."""
    n = values.shape[1]
    centred = values - values.mean(axis=1, keepdims=True)
    return np.asarray(centred @ centred.T / (n * (n - 1.0)))
