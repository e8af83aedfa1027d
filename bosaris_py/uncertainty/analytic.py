r"""Closed-form standard errors of AUC, DCF and error-rates.

The cost :math:`a P_{miss} + b P_{fa}` with :math:`a = P_{target} C_{miss}` and
:math:`b = (1-P_{target}) C_{fa}` is linear in two error-rates. Its variance is known as soon as one
says what is independent: trials, sets of trials (`dcf_standard_error`) or speakers, who take part
in trials on both sides (`speaker_errors`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import attrs
import numpy as np
import numpy.typing as npt

import bosaris_py.uncertainty.decisions as decisions
from bosaris_py import _validation as check
from bosaris_py._arrays import BoolArray, Float64Array, FloatArray, mark_read_only
from bosaris_py._cautions import warn_caller
from bosaris_py.errors import FewErrorsWarning, TrialMismatchError
from bosaris_py.numerics.counts import SortedScores, sort_classes
from bosaris_py.numerics.roc import ROC
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.inputs import KeyLike
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores
from bosaris_py.trials.speakers import Speakers, SpeakersLike, Unknown
from bosaris_py.trials.strata import SetIndex, Strata
from bosaris_py.uncertainty import resampling
from bosaris_py.uncertainty.bootstrap_result import Alternative, Interval, OpenEnds, ZTest, z_test
from bosaris_py.uncertainty.decisions import Prices, ThresholdCost
from bosaris_py.uncertainty.influence.losses import FixedCost, LinearStatistic
from bosaris_py.uncertainty.influence.open_ends import open_ends
from bosaris_py.uncertainty.influence.speaker_influence import (
    FEWEST_FOR_INTERVAL,
    METHOD,
    SpeakerInfluence,
    check_influences,
)
from bosaris_py.uncertainty.influence.speakers_needed import SpeakersNeeded, speakers_for
from bosaris_py.uncertainty.plan_statistics import ViewedStatistic, view_of
from bosaris_py.uncertainty.statistics.class_means import ActDCF
from bosaris_py.uncertainty.statistics.functions import AnyStatistic, warn_unless_fit
from bosaris_py.uncertainty.statistics.statistic import Statistic

# The area under the ROC, NISTIR 7722.

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
    tar, non : (n,) array_like of float
        Target and non-target scores; no NaN, +-inf allowed.
    ties : {"coin", "half"}, default: "coin"
        "coin" is equation (14) of [1]_: as if a coin decided which of two equal scores ranks
        higher. "half" is the variance of the area itself, in which equal scores count half, the
        limit of the bootstrap. The first is never smaller; without ties they agree.
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; only their ratios matter.
    tar_conditions, non_conditions, condition_weights
        Conditions of the trials and their weights, as for `bootstrap`; not together with
        trial weights.

    Returns
    -------
    float
        In [0, 0.5]; 0 if one class lies above the other altogether.

    Warns
    -----
    FewErrorsWarning
        If the result is 0: all pairs compare alike, which is no measure of uncertainty.

    See Also
    --------
    delong : Nearly the same number, with the covariance of several systems.

    Notes
    -----
    For :math:`T` targets, :math:`N` non-targets and the area :math:`A`,

    .. math::

        SE^2 = \frac{A(1-A) + (T-1)(B_{TTN} - A^2) + (N-1)(B_{NNT} - A^2)}{T N},

    :math:`B_{TTN}` is the chance that two targets, drawn with replacement, outscore a non-target.
    :math:`B_{NNT}` is the chance that a target outscores two non-targets, equations (12) to (14) of
    [1]_; for ``ties="half"`` mean products of the kernel 0, 1/2, 1. With trial weights the numbers
    of trials are :math:`(\sum w)^2 / \sum w^2`: right if weights do not depend on scores.

    With weights of conditions, :math:`\alpha` of targets and :math:`\beta` of non-targets,
    :math:`A = \sum_{\alpha\beta} w_\alpha w_\beta A_{\alpha\beta}` has the variance

    .. math::

        SE^2 = \sum_\alpha \frac{w_\alpha^2}{T_\alpha} V_{\alpha\cdot}
             + \sum_\beta \frac{w_\beta^2}{N_\beta} V_{\cdot\beta}
             + \sum_{\alpha\beta} \frac{w_\alpha^2 w_\beta^2}{T_\alpha N_\beta} R_{\alpha\beta},

    with :math:`V_{\alpha\cdot} = B_{NNT} - A^2` of the targets of condition :math:`\alpha`
    against all non-targets, :math:`V_{\cdot\beta} = B_{TTN} - A^2` likewise, and
    :math:`R_{\alpha\beta} = A(1-A) - (B_{TTN} - A^2) - (B_{NNT} - A^2)` within the pair.

    O(T log T + N log N) time, two sorts; with k conditions, k + 2 times as many.

    References
    ----------
    .. [1] J. C. Wu et al., "Measurement uncertainties in speaker recognition evaluation", NISTIR
       7722, 2010, equations (10) to (14).

    Examples
    --------
    >>> round(auc_standard_error([1.0, 3.0], [0.0, 2.0]) ** 2, 6)
    0.078125
    """
    check.check_choice(ties, Ties, "ties")
    labels = tar_conditions, non_conditions
    if all(one is None for one in (*labels, condition_weights)):
        return _root(_variance(*sort_classes(tar, non, tar_weights, non_weights), ties))
    _refuse_weights(tar_weights, non_weights)
    sample = resampling.sample_of_lists(tar, non, labels, condition_weights)
    return _root(_variance_of_strata(sample, ties))


def auc_standard_error_scores(
    scores: AnyScores, key: KeyLike, *, ties: Ties = "coin", conditions: Conditions | None = None
) -> float:
    """Compute the standard error of the area under the ROC of the scores of a key's trials.

    Parameters
    ----------
    scores, key
        As for `speaker_errors`, errors and warnings included.
    ties, conditions
        As for `auc_standard_error`, and for `speaker_errors`.

    Returns
    -------
    float
        As for `auc_standard_error`, with its warning.

    See Also
    --------
    bootstrap_scores : With `AUC` and the speakers of the trials, which this takes for independent.
    """
    check.check_choice(ties, Ties, "ties")
    sample = resampling.Resampling("iid").sample(scores, key, Speakers(), conditions)
    return _root(_variance_of_strata(sample, ties))


def _refuse_weights(tar_weights: object, non_weights: object) -> None:
    """Raise if trials have weights beside those of their conditions."""
    for weights, name in ((tar_weights, "tar_weights"), (non_weights, "non_weights")):
        if weights is not None:
            raise check.invalid(name, "be left out where there are conditions", "weights")


def _root(variance: float) -> float:
    if variance == 0:
        _warn_all_alike()
    return math.sqrt(variance)


def _warn_all_alike() -> None:
    warn_caller(
        "All pairs of a target and a non-target compare alike, so the standard error is 0.",
        FewErrorsWarning,
        "This is a property of the formula, and does not measure how certain the area is.",
        ["auc"],
    )


class _Pairs(NamedTuple):
    """Moments of the comparison of a target with a non-target."""

    area: float
    # Mean square of one comparison: of 0 and 1 it is the area.
    square: float
    # B_NNT - A^2 and B_TTN - A^2: variance over one class of the share of the other that
    # a trial compares rightly with.
    spread_of_tar: float
    spread_of_non: float

    @property
    def rest(self) -> float:
        """What varies from pair to pair."""
        return self.square - self.area**2 - self.spread_of_tar - self.spread_of_non


def _pairs(tar: SortedScores, non: SortedScores, ties: Ties) -> _Pairs:
    """Compare all pairs of two classes."""
    roc = ROC.from_sorted(tar, non)
    # Shares of the targets at each distinct target score, and of the non-targets at it and
    # between it and the one before: the sums need no loop over non-targets.
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
    return _Pairs(area, square, b_nnt - area**2, b_ttn - area**2)


def _variance(tar: SortedScores, non: SortedScores, ties: Ties) -> float:
    """Return the variance of the area."""
    pairs = _pairs(tar, non, ties)
    n_tar, n_non = _effective_size(tar), _effective_size(non)
    # Eq. 14. Rounding may leave a negative sum where all pairs compare alike.
    total = pairs.square - pairs.area**2
    total += (n_tar - 1.0) * pairs.spread_of_non + (n_non - 1.0) * pairs.spread_of_tar
    return max(total, 0.0) / (n_tar * n_non)


def _effective_size(scores: SortedScores) -> float:
    # As many trials of equal weight have a mean of the same variance.
    weights = scores.weights
    if weights is None:
        return float(scores.size)
    return float(weights.sum()) ** 2 / float(np.dot(weights, weights))


def _variance_of_strata(sample: ListedSample, ties: Ties) -> float:
    """Return the variance of the condition-weighted area."""
    if sample.strata.is_single:
        return _variance(sample.tar.values, sample.non.values, ties)
    all_tar, all_non = sort_classes(*sample.lists, *sample.trial_weights)
    tar_parts, tar_shares = sample.tar.sorted
    non_parts, non_shares = sample.non.sorted
    # w_alpha^2 / T_alpha and w_beta^2 / N_beta. The first and the last sum below are over
    # V_alpha. and V_.beta of the docstring, the middle one over R_alphabeta.
    tar_mass = tar_shares**2 / [part.size for part in tar_parts]
    non_mass = non_shares**2 / [part.size for part in non_parts]
    total = 0.0
    for part, mass in zip(tar_parts, tar_mass, strict=True):
        total += mass * _pairs(part, all_non, ties).spread_of_tar
        for other, other_mass in zip(non_parts, non_mass, strict=True):
            total += mass * other_mass * _pairs(part, other, ties).rest
    for part, mass in zip(non_parts, non_mass, strict=True):
        total += mass * _pairs(all_tar, part, ties).spread_of_non
    return max(float(total), 0.0)


# The areas of several systems, DeLong et al.


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
        return mark_read_only(np.sqrt(np.diag(self.covariance)))

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
        """
        size = self.auc.size
        for name, index in (("first", first), ("second", second)):
            if not (-size <= index < size):
                raise check.invalid(
                    name, f"be the position of one of {size} systems", check.describe(index)
                )
        # The variance of a linear function c'A of the areas is c'Sc for their covariance S.
        contrast = np.zeros(size)
        contrast[first] += 1.0
        contrast[second] -= 1.0
        variance = max(float(contrast @ self.covariance @ contrast), 0.0)
        difference = float(self.auc[first] - self.auc[second])
        # Areas without variance, of separated classes, say nothing about their difference.
        least_p = 0.0 if variance > 0 else 1.0
        return z_test(difference, math.sqrt(variance), alternative, "DeLong", least_p=least_p)

    def __repr__(self) -> str:
        """Show each area with its standard error."""
        pairs = zip(self.auc, self.standard_errors, strict=True)
        areas = ", ".join(f"{area:.4f} +- {error:.2g}" for area, error in pairs)
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
    TrialMismatchError
        If `tar` and `non` are not of equally many systems.

    Warns
    -----
    FewErrorsWarning
        If the variance of a system is 0, as for `auc_standard_error`.

    See Also
    --------
    auc_standard_error : The plug-in formula of NISTIR 7722.

    Notes
    -----
    Each target has a placement, the share of non-targets that it outscores, ties counted half;
    each non-target likewise. The covariance of the areas is that of the targets' placements,
    divided by n_tar, plus that of the non-targets', divided by n_non; both unbiased [1]_. O(k n log
    n) time [2]_. Trials count one each; `paired_bootstrap` of `AUC` weighs conditions.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or
       more correlated ROC curves", Biometrics 44, 1988, doi:10.2307/2531595.
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
    tar_rows, non_rows = _as_rows(tar, "tar"), _as_rows(non, "non")
    if len(tar_rows) != len(non_rows):
        raise TrialMismatchError(
            f"`tar` and `non` must hold one row of scores per system; "
            f"got {len(tar_rows)} and {len(non_rows)} rows."
        )
    tar_placements = np.empty(tar_rows.shape)
    non_placements = np.empty(non_rows.shape)
    for row, (tar_row, non_row) in enumerate(zip(tar_rows, non_rows, strict=True)):
        sorted_tar, sorted_non = sort_classes(tar_row, non_row, None, None)
        tar_placements[row] = _share_below(sorted_non, tar_row)
        non_placements[row] = 1.0 - _share_below(sorted_tar, non_row)
    auc = tar_placements.mean(axis=1)
    # The variance of a placement within each class, over the number of trials of the class.
    covariance = _covariance_of_mean(tar_placements) + _covariance_of_mean(non_placements)
    if not np.diag(covariance).all():
        _warn_all_alike()
    n_tar, n_non = tar_placements[0].size, non_placements[0].size
    return DeLongResult(mark_read_only(auc), mark_read_only(covariance), n_tar, n_non)


def _as_rows(scores: npt.ArrayLike, name: str) -> FloatArray:
    """Return the scores of one class, a row for each system."""
    array = check.as_float_array(scores, name)
    rows = array[np.newaxis, :] if array.ndim == 1 else check.as_matrix(array, name)
    if rows.shape[0] < 1 or rows.shape[1] < 2:
        raise check.invalid(
            name, "hold at least two trials of at least one system", check.describe(rows)
        )
    check.refuse_nan(rows.ravel(), name)
    return rows


def _share_below(others: SortedScores, scores: FloatArray) -> Float64Array:
    """Return the share of `others` below each score, equal ones counted half."""
    count = others.count_below(scores) + others.count_up_to(scores)
    return np.asarray(count / (2.0 * others.size))


def _covariance_of_mean(values: Float64Array) -> Float64Array:
    """Return the covariance of the row means, (k, k)."""
    # n - 1 makes the variance of a value unbiased; n more is for the mean.
    n = values.shape[1]
    centred = values - values.mean(axis=1, keepdims=True)
    return np.asarray(centred @ centred.T / (n * (n - 1.0)))


# Costs at a fixed threshold where trials or sets of them are independent, Wu et al.

Method = Literal["upper-bound", "iid", "one-layer", "two-layer"]
ScoresMethod = Literal["speaker", "upper-bound", "iid", "one-layer", "two-layer"]


def dcf_standard_error(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    statistic: ThresholdCost | ActDCF,
    *,
    method: Method = "upper-bound",
    tar_sets: npt.ArrayLike | None = None,
    non_sets: npt.ArrayLike | None = None,
    tar_weights: npt.ArrayLike | None = None,
    non_weights: npt.ArrayLike | None = None,
    tar_conditions: npt.ArrayLike | None = None,
    non_conditions: npt.ArrayLike | None = None,
    condition_weights: Mapping[Any, float] | None = None,
) -> float:
    r"""Compute the standard error of a detection cost at a fixed threshold.

    Parameters
    ----------
    tar, non : (n,) array_like of float
        Target and non-target scores; no NaN, +-inf allowed.
    statistic : DCF, ActDCF or OperatingPoint
        Threshold, prior and costs: anything with attributes threshold, p_target, c_miss,
        c_fa and perhaps normalize; or an ActDCF at one operating point. That of an
        OperatingPoint and of an ActDCF is the Bayes threshold, for log-likelihood-ratios.
    method : {"upper-bound", "iid", "one-layer", "two-layer"}, default: "upper-bound"
        "upper-bound" is equation (4) of [1]_ without its covariance term, which is zero at a fixed
        threshold. "iid" is the limit of the bootstrap of trials, the same number; "one-layer" and
        "two-layer" are those of the bootstraps of sets, and of sets and trials in them.
    tar_sets, non_sets : (n,) array_like of str or int, optional
        Label of the set of each trial, for instance its model, for "one-layer" and "two-layer".
        Sets of the two classes are resampled independently, even if labels are the same.
    tar_weights, non_weights, tar_conditions, non_conditions, condition_weights
        As for `auc_standard_error`.

    Returns
    -------
    float
        In the unit of the cost.

    Warns
    -----
    FewErrorsWarning
        If one of the rates rests on fewer than 30 errors.

    See Also
    --------
    speaker_errors : For trials that share speakers on both sides.

    Notes
    -----
    :math:`SE^2 = a^2 V_{miss} + b^2 V_{fa}`. For one class, let :math:`e_i` be 1 for an error
    and else 0, :math:`p` the error-rate, :math:`w_i` the weight (1 by default),
    :math:`z_i = w_i (e_i - p)`, :math:`W = \sum_i w_i`, and :math:`Z_j, n_j` the sum of
    :math:`z_i` over set :math:`j` and its number of trials. Then

    .. math::

        W^2 V = \begin{cases}
            \sum_i z_i^2 & \text{iid} \\
            \sum_j Z_j^2 & \text{one-layer} \\
            \sum_j \left( Z_j^2 + \sum_{i \in j} z_i^2 - Z_j^2 / n_j \right) & \text{two-layer}
        \end{cases}

    Without weights *iid* is exact, :math:`V = p (1-p) / n`. For sets of equal size *one-layer* is
    exact; of unequal ones the relative error is of order 1/m for m sets. What *two-layer* adds is
    the variance of :math:`n_j` draws from the trials of a drawn set. With weights all three are
    first order. The estimand is the rate of all trials, not the mean of the sets' rates.

    With weights of conditions :math:`z_i = W w_\alpha (e_i - p_\alpha) / n_\alpha` for a trial of
    condition :math:`\alpha`. For *iid*
    :math:`V = \sum_\alpha w_\alpha^2 p_\alpha (1 - p_\alpha) / n_\alpha` is exact. For
    *two-layer* the inner sums are over the trials of each set and condition.

    References
    ----------
    .. [1] J. C. Wu et al., "The impact of data dependence on speaker recognition evaluation",
       IEEE/ACM TASLP 25, 2017, equation (4), doi:10.1109/TASLP.2016.2614725.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py.numerics import OperatingPoint
    >>> tar, non = np.repeat([-1.0, 1.0], [40, 360]), np.repeat([-1.0, 1.0], [950, 50])
    >>> se = dcf_standard_error(tar, non, OperatingPoint(0.5))
    >>> bool(np.isclose(se**2, 0.25 * (0.1 * 0.9 / 400 + 0.05 * 0.95 / 1000)))
    True
    """
    check.check_choice(method, Method, "method")
    cost = FixedCost.of(statistic)
    columns = {"tar_sets": tar_sets, "non_sets": non_sets}
    columns |= {"tar_weights": tar_weights, "non_weights": non_weights}
    labels = tar_conditions, non_conditions
    sample = resampling.sample_of_lists(tar, non, labels, condition_weights, **columns)
    errors = _errors_of(cost, sample)
    tar_index = _set_index(tar_sets, sample.n_tar, "tar_sets", method)
    non_index = _set_index(non_sets, sample.n_non, "non_sets", method)
    if tar_conditions is not None:
        _refuse_weights(tar_weights, non_weights)
    checked = (
        check.as_weights(tar_weights, sample.n_tar, "tar_weights"),
        check.as_weights(non_weights, sample.n_non, "non_weights"),
    )
    return cost_error(cost, errors, sample.strata, (tar_index, non_index), method, checked)


def dcf_standard_error_scores(
    scores: AnyScores,
    key: KeyLike,
    statistic: ThresholdCost | ActDCF,
    *,
    method: ScoresMethod = "speaker",
    speakers: SpeakersLike = None,
    unknown: Unknown = "refuse",
    conditions: Conditions | None = None,
) -> float:
    """Compute the standard error of the detection cost of the scores of a key's trials.

    Parameters
    ----------
    scores, key
        As for `speaker_errors`, errors and warnings included.
    statistic : DCF, ActDCF or OperatingPoint
        Threshold, prior and costs, as for `dcf_standard_error`.
    method : {"speaker", "upper-bound", "iid", "one-layer", "two-layer"}, default: "speaker"
        "speaker" lets speakers be independent, see `speaker_errors`; the others are those
        of `dcf_standard_error`, with the trials of one model's speaker as a set.
    speakers, unknown, conditions
        As for `speaker_errors`; those of segments are used by "speaker" only.

    Returns
    -------
    float
        In the unit of the cost.
    """
    check.check_choice(method, ScoresMethod, "method")
    cost, who = FixedCost.of(statistic), Speakers(speakers, unknown)
    if method == "speaker":
        sample = resampling.Resampling("speaker").sample(scores, key, who, conditions)
        return errors_by_speaker(sample, cost.threshold).cost_error(cost.miss, cost.alarm)
    how = resampling.Resampling("iid" if method == "upper-bound" else method)
    sample = how.sample(scores, key, who, conditions)
    plan = how.plan(sample)
    sets = (plan.tar, plan.non) if isinstance(plan, resampling.SetPlan) else (None, None)
    return cost_error(cost, _errors_of(cost, sample), sample.strata, sets, method)


def _errors_of(cost: FixedCost, sample: ListedSample) -> tuple[BoolArray, BoolArray]:
    """Return which targets are missed, and which non-targets accepted."""
    tar, non = sample.lists
    return decisions.rejected(tar, cost.threshold), ~decisions.rejected(non, cost.threshold)


def _set_index(labels: npt.ArrayLike | None, size: int, name: str, method: str) -> SetIndex | None:
    """Return the sets of one class; None if sets do not matter."""
    if method in ("one-layer", "two-layer"):
        return SetIndex.from_labels(labels, size, name)
    if labels is not None:
        expected = f'be left out with method="{method}"'
        raise check.invalid(name, expected, "labels", 'Sets take method="two-layer".')
    return None


def cost_error(
    cost: FixedCost,
    errors: tuple[BoolArray, BoolArray],
    strata: tuple[Strata, Strata],
    sets: tuple[SetIndex | None, SetIndex | None],
    method: str,
    weights: tuple[Float64Array | None, Float64Array | None] = (None, None),
) -> float:
    """Return the standard error of a cost, given which trials of each class are errors."""
    # Trials of the two classes are drawn independently, so the variances add up.
    variance = 0.0
    rates = zip(errors, strata, sets, weights, strict=True)
    for price, what, (wrong, part, index, trial_weights) in zip(
        (cost.miss, cost.alarm), ("miss rate", "false-alarm rate"), rates, strict=True
    ):
        if trial_weights is None:
            found = ErrorResiduals(wrong, part)
            residuals, n_errors = found.residuals, found.effective_errors
        else:
            shares = trial_weights / trial_weights.sum()
            # The linear part of a ratio of two random sums, errors over weights.
            residuals = shares * (wrong - float(shares[wrong].sum()))
            n_errors = float(np.count_nonzero(wrong))
        decisions.check_few_errors(n_errors, what)
        variance += price**2 * _rate_variance(residuals, part, index, method)
    return math.sqrt(variance)


def _rate_variance(
    residuals: Float64Array, strata: Strata, sets: SetIndex | None, method: str
) -> float:
    """Return the variance of a rate from the residuals z_i / W of its trials."""
    # The three cases of the docstring; for "upper-bound", equation (4) of Wu et al.
    single = float(np.dot(residuals, residuals))
    if sets is None:
        return single
    sums = np.bincount(sets.labels, weights=residuals)
    between = float(np.dot(sums, sums))
    if method == "one-layer":
        return between
    # Trials are picked within their set and condition, so the last term, which takes out
    # what sets explain, is a sum over these cells; some may be empty.
    cells = strata.cells(sets)
    sums = np.bincount(cells.labels, weights=residuals, minlength=cells.n_sets)
    return between + single - float(np.dot(sums, sums / np.maximum(cells.sizes, 1)))


# Where speakers are independent, Aronow et al.


@attrs.frozen(eq=False, repr=False)
class SpeakerErrors:
    """Error-rates at a threshold with the covariance that shared speakers cause.

    Made by `speaker_errors`.

    Parameters
    ----------
    pmiss, pfa : float
        Miss and false-alarm rate; condition-weighted if conditions were given.
    misses, n_tar : int
        Number of misses and of targets.
    false_alarms, n_non : int
        Number of false alarms and of non-targets.
    n_speakers : int
        Number of speakers who take part in trials.
    covariance : (2, 2) ndarray of float64
        Covariance of the miss rate and the false-alarm rate, in this order. Read-only.
    trial_variances : tuple of two floats
        Variance that each rate would have if all trials were independent.
    method : str
        How it was estimated.
    influence : SpeakerInfluence
        The influence of each speaker on the sum of both rates.
    """

    pmiss: float
    pfa: float
    misses: int
    n_tar: int
    false_alarms: int
    n_non: int
    n_speakers: int
    covariance: Float64Array
    trial_variances: tuple[float, float]
    method: str
    influence: SpeakerInfluence

    @functools.cached_property
    def pmiss_standard_error(self) -> float:
        """Standard error of the miss rate."""
        return math.sqrt(self.covariance[0, 0])

    @functools.cached_property
    def pfa_standard_error(self) -> float:
        """Standard error of the false-alarm rate."""
        return math.sqrt(self.covariance[1, 1])

    @property
    def effective_n_tar(self) -> float:
        """Number of independent targets that would measure the miss rate as well.

        p (1 - p) / variance, for `error_rate_interval`; the number of speakers who have
        targets where the variance is 0.
        """
        n_speakers, _ = self.influence.pairs.n_by_class
        return _effective(self.pmiss, self.covariance[0, 0], n_speakers)

    @property
    def effective_n_non(self) -> float:
        """Number of independent non-targets that would measure the false-alarm rate as well."""
        _, n_speakers = self.influence.pairs.n_by_class
        return _effective(self.pfa, self.covariance[1, 1], n_speakers)

    def dcf(self, cost: Prices, *, normalize: bool | None = None) -> float:
        """Return the detection cost at these error-rates.

        Parameters
        ----------
        cost : DCF or OperatingPoint
            Prior and costs; a threshold is ignored.
        normalize : bool, optional
            As for `bosaris_py.uncertainty.dcf_interval`.

        Returns
        -------
        float
        """
        miss, alarm = decisions.prices_of(cost, normalize=normalize)
        return miss * self.pmiss + alarm * self.pfa

    def dcf_standard_error(self, cost: Prices, *, normalize: bool | None = None) -> float:
        """Return the standard error of the detection cost.

        Parameters
        ----------
        cost, normalize
            As for `dcf`.

        Returns
        -------
        float
        """
        return self.cost_error(*decisions.prices_of(cost, normalize=normalize))

    def cost_error(self, miss: float, alarm: float) -> float:
        """Return the standard error of ``miss * pmiss + alarm * pfa``.

        Parameters
        ----------
        miss, alarm : float
            Price of a miss rate and of a false-alarm rate of one.

        Returns
        -------
        float
        """
        prices = np.array((miss, alarm))
        return math.sqrt(max(float(prices @ self.covariance @ prices), 0.0))

    def dcf_interval(
        self, cost: Prices, *, confidence: float = 0.95, normalize: bool | None = None
    ) -> Interval:
        """Return the confidence interval of the detection cost.

        By Student's t on the logarithmic scale, see `speaker_interval`. Where a class has no
        errors, the number of speakers limits its rate.

        Parameters
        ----------
        cost
            As for `dcf`.
        confidence : float, default: 0.95
            Strictly between 0 and 1.
        normalize
            As for `dcf`.

        Returns
        -------
        Interval
        """
        prices = decisions.prices_of(cost, normalize=normalize)
        value = self.dcf(cost, normalize=normalize)
        return self.influence.priced(*prices, value).interval(confidence, self.method)

    def speakers_needed(
        self,
        cost: Prices,
        standard_error: float,
        *,
        normalize: bool | None = None,
        confidence: float = 0.9,
    ) -> SpeakersNeeded:
        """Return how many speakers would bring the standard error of the cost down to a value.

        With as many models and segments per speaker as here. The variance falls in proportion to
        the number of speakers. That of a pilot is uncertain, see `SpeakersNeeded`.

        Parameters
        ----------
        cost
            As for `dcf`.
        standard_error : float
            The standard error that is wanted, positive.
        normalize
            As for `dcf`; holds for `standard_error` too.
        confidence : float, default: 0.9
            Of the interval, strictly between 0 and 1.

        Returns
        -------
        SpeakersNeeded
            The upper end, with the estimate and the lower end.
        """
        wanted = decisions.as_positive(standard_error, "standard_error")
        prices = decisions.prices_of(cost, normalize=normalize)
        ratio = self.cost_error(*prices) / wanted
        pilot = self.influence.priced(*prices, self.dcf(cost, normalize=normalize))
        return speakers_for(ratio**2, pilot, confidence)

    def __repr__(self) -> str:
        """Show both rates with their standard errors."""
        return (
            f"SpeakerErrors: pmiss {self.pmiss:.4g} +- {self.pmiss_standard_error:.2g}, pfa "
            f"{self.pfa:.4g} +- {self.pfa_standard_error:.2g} ({self.n_speakers} speakers)"
        )


def _effective(rate: float, variance: float, n_speakers: int) -> float:
    return rate * (1.0 - rate) / variance if variance > 0 else float(n_speakers)


def speaker_errors(
    scores: AnyScores,
    key: KeyLike,
    threshold: float,
    *,
    speakers: SpeakersLike = None,
    unknown: Unknown = "refuse",
    conditions: Conditions | None = None,
) -> SpeakerErrors:
    r"""Measure error-rates, with standard errors that hold when speakers recur.

    Trials are independent only if they have no speaker in common, on either side.

    Parameters
    ----------
    scores : Scores or FlatScores
        Scores of the system.
    key : Key or FlatKey, or pair (key, metadata)
        Which trials are targets and which non-targets.
    threshold : float
        Accept iff score >= threshold.
    speakers : IdMap, dict, callable, str, or pair of these, optional
        The speakers of models and segments, as for `evaluate`; a column is of the metadata
        in the pair (key, metadata). By default each model is a speaker of its own, and a segment
        is of the speaker of the models whose target it is.
    unknown : {"refuse", "own"}, default: "refuse"
        What to do where the speaker is not known: refuse, or take each model or segment
        for a speaker of its own, with a warning.
    conditions : Conditions, optional
        Weights of conditions: rates and costs are then the condition-weighted ones. Trials
        may be in one condition only.

    Returns
    -------
    SpeakerErrors

    Raises
    ------
    TrialMismatchError
        If a trial is in no condition, unless they allow that, or a condition has no
        trial with a score.

    Warns
    -----
    MissingTrialsWarning
        If trials of the key have no scores; they are left out.
    FewErrorsWarning
        If one of the rates rests on fewer than 30 errors.
    ConditionWarning
        If conditions have trials of one class only.

    Notes
    -----
    The dyadic cluster-robust variance [1]_, with the scaling of the jackknife [2]_. With
    :math:`M_k` misses in :math:`T_k` target trials of speaker k, :math:`F_{kj}` false alarms in
    :math:`N_{kj}` non-target trials of the unordered pair {k, j} of speakers, and
    :math:`N_k = \sum_j N_{kj}`, let

    .. math::

        u_k = \frac{M_k - P_{miss} T_k}{T - T_k}, \quad
        s_{kj} = \frac{F_{kj} - P_{fa} N_{kj}}{\sqrt{(N - N_k)(N - N_j)}}, \quad
        v_k = \sum_{j \ne k} \frac{F_{kj} - P_{fa} N_{kj}}{N - N_k},

    .. math::

        V_{miss} = c \sum_k u_k^2, \quad
        V_{fa} = c \max\Big(\sum_k v_k^2 - \sum_{k<j} s_{kj}^2, \sum_{k<j} s_{kj}^2\Big), \quad
        \mathrm{Cov} = c \sum_k u_k v_k,

    where :math:`c = (K-1)/K` for K speakers, and the covariance is no larger than the variances
    allow. Each pair is in the sums of both its speakers and is subtracted once; the variance is at
    least that of independent pairs. With conditions, a trial of condition :math:`\alpha` adds
    :math:`w_\alpha (e_i - P_\alpha) / n_\alpha`, where :math:`e_i` is 1 for an error and else 0.

    References
    ----------
    .. [1] P. M. Aronow, C. Samii and V. A. Assenova, "Cluster-robust variance estimation for
       dyadic data", Political Analysis 23, 2015, doi:10.1093/pan/mpv018.
    .. [2] J. G. MacKinnon, M. O. Nielsen and M. D. Webb, "Fast and reliable jackknife and
       bootstrap methods for cluster-robust inference", Journal of Applied Econometrics 38, 2023,
       doi:10.1002/jae.2969.
    """
    limit = decisions.as_threshold(threshold, "threshold")
    resampling.check_system(scores, "scores")
    who = Speakers(speakers, unknown)
    sample = resampling.Resampling("speaker").sample(scores, key, who, conditions)
    return errors_by_speaker(sample, limit)


def errors_by_speaker(sample: ListedSample, limit: float) -> SpeakerErrors:
    """Measure the error-rates of a sample, see `speaker_errors`."""
    (tar, non), strata = sample.lists, sample.strata
    miss = ErrorResiduals(decisions.rejected(tar, limit), strata.tar)
    alarm = ErrorResiduals(~decisions.rejected(non, limit), strata.non)
    losses = FixedCost(limit, 1.0, 1.0).losses(miss.rate + alarm.rate)
    influence = SpeakerInfluence.of(losses, sample)
    for found, what, part in (
        (miss, "miss rate", influence.priced(1.0, 0.0, miss.rate)),
        (alarm, "false-alarm rate", influence.priced(0.0, 1.0, alarm.rate)),
    ):
        decisions.check_few_errors(found.effective_errors, what)
        check_influences({what: part}, FEWEST_FOR_INTERVAL)
    counts = miss.n_errors, tar.size, alarm.n_errors, non.size, sample.pairs.n_speakers
    variances = miss.variance, alarm.variance
    return SpeakerErrors(
        miss.rate, alarm.rate, *counts, influence.covariance, variances, METHOD, influence
    )


def speaker_interval(
    scores: AnyScores,
    key: KeyLike,
    statistic: LinearStatistic | ViewedStatistic,
    *,
    speakers: SpeakersLike = None,
    unknown: Unknown = "refuse",
    conditions: Conditions | None = None,
    confidence: float = 0.95,
) -> Interval:
    r"""Return the standard error and an interval of any metric, in closed form, by speaker.

    Parameters
    ----------
    scores, key
        As for `speaker_errors`, errors and warnings of trials and conditions included.
    statistic : Statistic or OperatingPoint
        `DCF`, `ActDCF`, `MinDCF`, `EER`, `AUC`, `Cllr` or `MinCllr`, of one operating point; or
        anything with a threshold and prices, as for `dcf_standard_error`.
    speakers, unknown, conditions
        As for `speaker_errors`.
    confidence : float, default: 0.95
        Strictly between 0 and 1.

    Returns
    -------
    Interval

    Warns
    -----
    FewSpeakersWarning
        If the metric rests on fewer than 20 effective speakers.

    See Also
    --------
    bootstrap_scores : The same by resampling, with a studentised interval.
    speaker_z_test : The difference of two systems.

    Notes
    -----
    The standard error is that of `speaker_errors`, with the loss of each trial in place of its
    error. For a minimum (DCF, EER, Cllr) that is the loss at the optimal threshold or map; for the
    area above the ROC it is the placement of the trial. The ends are
    :math:`\hat\theta e^{\pm t\, SE/\hat\theta}`, with Student's t of :math:`\nu` degrees; of the
    AUC those of 1 - AUC. Where a class has no loss, the upper end counts with
    :math:`1 - (\alpha/2)^{1/K}` of the greatest, for the K speakers of its trials. Matrices and
    lists of trials may differ in the last digits.

    Speaker k takes part in the share :math:`m_k` of the targets and :math:`n_k` of the non-targets,
    of sum one and two. With the variances of both parts of the metric,

    .. math::

        \frac{1}{\nu + 1} = \frac{V_{tar} \sum_k m_k^2 + V_{non} \sum_k n_k^2 / 4}
                               {V_{tar} + V_{non}}.

    Where K speakers have equally many trials, :math:`\nu = K - 1`. Else it is less, and at least 1.

    Examples
    --------
    >>> from bosaris_py import Key, Scores
    >>> from bosaris_py.uncertainty import EER
    >>> speakers, same = [f"speaker{i}" for i in range(60)], np.eye(60, dtype=bool)
    >>> rng = np.random.default_rng(1)
    >>> habits = rng.normal(size=(60, 1))
    >>> llrs = 2.0 * same + habits + habits.T + rng.normal(size=(60, 60))
    >>> scores, key = Scores(llrs, speakers, speakers), Key(speakers, speakers, same, ~same)
    >>> speaker_interval(scores, key, EER())
    0.2342 (95 % interval 0.1935 to 0.2836, standard error 0.022; speaker pairs)
    """
    who, how = Speakers(speakers, unknown), resampling.Resampling("speaker")
    plain: LinearStatistic | AnyStatistic
    if isinstance(statistic, ViewedStatistic):
        if conditions is not None:
            expected = "be left out where kinds or a plan weigh"
            raise check.invalid("conditions", expected, "Conditions")
        # There is no formula of several data sets; that of one is asked for before any work.
        _ = statistic.plain
        sample, plain = view_of(statistic, scores, key, who, how)
    else:
        sample = how.sample(scores, key, who, conditions)
        plain = statistic
    influence = SpeakerInfluence.on(plain, sample)
    warn_unless_fit([plain], sample)
    check_influences({"metric": influence}, FEWEST_FOR_INTERVAL)
    interval = influence.interval(confidence, METHOD)
    if interval.low == interval.high and isinstance(plain, Statistic):
        ends = open_ends(plain, sample, sample.pairs.n_by_class)
        return _left_open(ends, interval, interval.confidence)
    return interval


def _left_open(ends: OpenEnds, interval: Interval, confidence: float) -> Interval:
    """Return the interval that data without variation leave open."""
    low, high = map(float, ends(confidence))
    remade = functools.partial(_left_open, ends, interval)
    return attrs.evolve(interval, low=low, high=high, confidence=confidence, remade=remade)


@attrs.frozen(eq=False)
class ErrorResiduals:
    """An error-rate of weighted conditions, and the residual of each trial."""

    errors: BoolArray
    strata: Strata

    @functools.cached_property
    def counts(self) -> Float64Array:
        """Number of errors of each condition."""
        return self.strata.totals(self.errors)

    @property
    def n_errors(self) -> int:
        """Number of errors."""
        return int(self.counts.sum())

    @property
    def rate(self) -> float:
        """The error-rate."""
        return float(np.dot(self.strata.shares, self.counts / self.strata.sizes))

    @property
    def effective_errors(self) -> float:
        """How many errors of equal weight would leave the rate as uncertain."""
        return float(resampling.effective_errors(self.counts, self.strata.factors))

    @property
    def residuals(self) -> Float64Array:
        """The residuals f_i (e_i - P_alpha), which sum to zero in each condition."""
        rates = self.counts / self.strata.sizes
        if self.strata.labels is None:
            return np.asarray((self.errors - rates[0]) / self.errors.size)
        return self.strata.factors[self.strata.labels] * (self.errors - rates[self.strata.labels])

    @property
    def variance(self) -> float:
        """Variance of the rate if trials are independent: sum of w^2 p (1 - p) / n."""
        rates = self.counts / self.strata.sizes
        return float(np.sum(self.strata.shares * self.strata.factors * rates * (1.0 - rates)))
