r"""Standard errors of a detection cost at a fixed threshold, without resampling.

The cost :math:`a P_{miss} + b P_{fa}` with :math:`a = P_{target} C_{miss}` and
:math:`b = (1-P_{target}) C_{fa}` is a linear function of two error-rates, so its
variance is known in closed form as soon as one says what is independent:

- trials (`dcf_standard_error`, "upper-bound" and "iid"),
- sets of trials (`dcf_standard_error`, "one-layer" and "two-layer"): what the
  bootstraps of Wu et al. tend to as the number of replications grows,
- speakers, who take part in trials on both sides: see `speaker_errors`.

References
----------
.. [1] J. C. Wu, A. F. Martin, C. S. Greenberg and R. N. Kacker, "The impact of data
   dependence on speaker recognition evaluation", IEEE/ACM Transactions on Audio, Speech,
   and Language Processing 25, 2017, doi:10.1109/TASLP.2016.2614725.
"""

import math
from collections.abc import Mapping
from typing import Any, Literal, Self, get_args

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import (
    as_vector,
    as_weights,
    check_not_empty,
    describe,
    invalid,
    refuse_nan,
)
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.forms import AnyKey, AnyScores
from bosaris_py.trials.id_map import IdMap
from bosaris_py.uncertainty.decisions import (
    ThresholdCost,
    as_threshold,
    check_few_errors,
    prices_of,
    rejected,
)
from bosaris_py.uncertainty.estimates import check_choice
from bosaris_py.uncertainty.scored_trials import ScoredTrials
from bosaris_py.uncertainty.sets import SetIndex
from bosaris_py.uncertainty.speaker_errors import ErrorResiduals, speaker_errors
from bosaris_py.uncertainty.speakers import TrialSpeakers, Unknown
from bosaris_py.uncertainty.strata import Strata, TrialStrata
from bosaris_py.uncertainty.threshold_statistics import ActDCF

__all__ = ["FixedCost", "dcf_standard_error", "dcf_standard_error_scores"]

Float64Array = npt.NDArray[np.float64]
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
    tar : (n_tar,) array_like of float
        Target scores; no NaN, +-inf allowed.
    non : (n_non,) array_like of float
        Non-target scores; no NaN, +-inf allowed.
    statistic : DCF, ActDCF or OperatingPoint
        Threshold, prior and costs: anything with attributes threshold, p_target, c_miss,
        c_fa and, if it likes, normalize; or an ActDCF at one operating point. The threshold
        of an OperatingPoint, and of an ActDCF, is the Bayes threshold, so scores must then
        be log-likelihood-ratios.
    method : {"upper-bound", "iid", "one-layer", "two-layer"}, default: "upper-bound"
        "upper-bound" is equation (4) of [1]_ without its covariance term; "iid" is the
        limit of the bootstrap of trials, which is the same number. (The paper takes the
        covariance to be negative, hence the name. At a fixed threshold the trials of the
        two classes are drawn independently and it is zero.) "one-layer" and "two-layer"
        are the limits of the bootstraps of sets, and of sets and trials in them.
    tar_sets : (n_tar,) array_like of str or int, optional
        Label of the set that each target trial belongs to, for instance its model
        or speaker; needed by "one-layer" and "two-layer".
    non_sets : (n_non,) array_like of str or int, optional
        Label of the set that each non-target trial belongs to. Sets of the two
        classes are resampled independently, even if labels are the same.
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative: how much each trial counts.
    tar_conditions, non_conditions, condition_weights
        Conditions of the trials and their weights, as for `bootstrap`; not together with
        trial weights.

    Returns
    -------
    float
        In the unit of the cost.

    Raises
    ------
    InvalidInputError
        If a class is empty, a score is NaN, labels are missing, of the wrong length or of
        fewer than two sets, weights are bad, or the statistic has no threshold or prices.

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

    *iid.* Without weights a replicate's number of errors is binomial and
    :math:`V = p (1-p) / n` is exact.

    *one-layer.* A replicate draws m of m sets with replacement. If all sets have n trials,
    its rate is the mean of m independent draws of the set's rates :math:`r_j`, so
    :math:`V = \frac{1}{m} \cdot \frac{1}{m} \sum_j (r_j - p)^2`, which is exact and equal to
    the formula above. If sizes differ, the rate is a ratio of two random sums, and the
    formula is the variance of its linear part (the delta method): first order, with a
    relative error of order 1/m.

    *two-layer.* A drawn set contributes :math:`n_j` draws from its own trials. Given the
    set, the variance of their sum is :math:`\sum z_i^2 - Z_j^2/n_j`
    (:math:`n_j r_j (1-r_j)` without weights), which adds to that of drawing sets. Exact
    for sets of equal size, first order otherwise: the denominator varies only with the
    drawn sets. It is never smaller than that of the one-layer bootstrap, as the paper
    finds by experiment, and V of both has the same leading term.

    With weights all three are first order, because the total weight of a replicate
    varies.

    *Conditions.* With weights :math:`w_\alpha` the rate is :math:`\sum_\alpha w_\alpha p_\alpha`,
    and :math:`z_i = W w_\alpha (e_i - p_\alpha) / n_\alpha` for a trial of condition
    :math:`\alpha`: residuals are taken from the rate of the condition, because a replicate
    divides by its own number of trials there. For *iid* this is

    .. math:: V = \sum_\alpha w_\alpha^2 \frac{p_\alpha (1 - p_\alpha)}{n_\alpha},

    which is exact: as many trials are picked of each condition as it has. A set may be of
    several conditions; for *two-layer* the inner sums are over the trials of each set and
    condition, in which they are picked.

    The estimand with unequal sets is the rate of all trials, sum of errors over
    sum of trials, not the mean of the sets' rates.

    References
    ----------
    .. [1] J. C. Wu, A. F. Martin, C. S. Greenberg and R. N. Kacker, "The impact of data
       dependence on speaker recognition evaluation", IEEE/ACM Transactions on Audio, Speech,
       and Language Processing 25, 2017, equation (4) and algorithms I to III.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py.numerics import OperatingPoint
    >>> tar, non = np.repeat([-1.0, 1.0], [40, 360]), np.repeat([-1.0, 1.0], [950, 50])
    >>> se = dcf_standard_error(tar, non, OperatingPoint(0.5))
    >>> bool(np.isclose(se**2, 0.25 * (0.1 * 0.9 / 400 + 0.05 * 0.95 / 1000)))
    True
    """
    owner = "dcf_standard_error"
    check_choice(method, get_args(Method), "method", owner)
    cost = FixedCost.of(statistic, owner)
    classes = [
        _errors(tar, cost.threshold, "tar", owner),
        _errors(non, cost.threshold, "non", owner),
    ]
    sizes = (classes[0].size, classes[1].size)
    strata = TrialStrata.from_labels(
        tar_conditions, non_conditions, condition_weights, sizes, owner
    )
    variance = 0.0
    for price, errors, sets, weights, part, name in zip(
        (cost.miss, cost.alarm),
        classes,
        (tar_sets, non_sets),
        (tar_weights, non_weights),
        strata,
        ("tar", "non"),
        strict=True,
    ):
        index = _set_index(sets, errors.size, f"{name}_sets", method, owner)
        checked = as_weights(weights, errors.size, f"{name}_weights", owner)
        if checked is not None and tar_conditions is not None:
            expected = "be left out where there are conditions"
            raise invalid(f"{name}_weights", owner, expected, "weights")
        variance += price**2 * _class_variance(errors, checked, part, index, method, name)
    return math.sqrt(variance)


def dcf_standard_error_scores(
    scores: AnyScores,
    key: AnyKey,
    statistic: ThresholdCost | ActDCF,
    *,
    method: ScoresMethod = "speaker",
    model_speakers: IdMap | None = None,
    segment_speakers: IdMap | None = None,
    unknown: Unknown = "refuse",
    conditions: Conditions | None = None,
) -> float:
    """Compute the standard error of the detection cost of a score matrix.

    Parameters
    ----------
    scores : Scores or FlatScores
        Scores of the system.
    key : Key or FlatKey
        Which trials are targets and which non-targets.
    statistic : DCF, ActDCF or OperatingPoint
        Threshold, prior and costs, as for `dcf_standard_error`.
    method : {"speaker", "upper-bound", "iid", "one-layer", "two-layer"}, default: "speaker"
        "speaker" lets speakers be independent, see `speaker_errors`; the others are those
        of `dcf_standard_error`, with the trials of one model's speaker as a set, as in
        the paper of Wu et al.
    model_speakers : IdMap, optional
        From model to speaker. By default each model is a speaker of its own.
    segment_speakers : IdMap, optional
        From test segment to speaker. By default that of the models whose target it
        is. Used by "speaker" only.
    unknown : {"refuse", "own"}, default: "refuse"
        What to do where the speaker is not known: refuse, or take each model or segment
        for a speaker of its own, with a warning.
    conditions : Conditions, optional
        Weights of conditions: the cost is then the condition-weighted one. Trials may be
        in one condition only.

    Returns
    -------
    float
        In the unit of the cost.

    Raises
    ------
    InvalidInputError
        If a speaker is not known, conditions overlap, or as `dcf_standard_error`.
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
    """
    owner = "dcf_standard_error_scores"
    check_choice(method, get_args(ScoresMethod), "method", owner)
    cost = FixedCost.of(statistic, owner)
    if method == "speaker":
        errors = speaker_errors(
            scores,
            key,
            cost.threshold,
            model_speakers=model_speakers,
            segment_speakers=segment_speakers,
            unknown=unknown,
            conditions=conditions,
        )
        return errors.cost_error(cost.miss, cost.alarm)
    trials = ScoredTrials.of(scores, key, conditions, owner)
    tar, non = trials.take(scores, key, owner)
    sets: list[SetIndex | None] = [None, None]
    if method in ("one-layer", "two-layer"):
        of_models = TrialSpeakers.of_models_only(
            key, model_speakers, unknown=unknown, owner=owner
        ).of_models
        sets = [
            _set_index(of_models[rows], rows.size, "key", method, owner)
            for rows in (trials.tar[0], trials.non[0])
        ]
    below = rejected(tar, cost.threshold), rejected(non, cost.threshold)
    variance = cost.miss**2 * _class_variance(
        below[0], None, trials.strata.tar, sets[0], method, "tar"
    )
    variance += cost.alarm**2 * _class_variance(
        ~below[1], None, trials.strata.non, sets[1], method, "non"
    )
    return math.sqrt(variance)


@attrs.frozen
class FixedCost:
    """A detection cost at a fixed threshold, whatever object it came from.

    Parameters
    ----------
    threshold : float
        Accept iff score >= threshold.
    miss : float
        Price of a miss rate of one.
    alarm : float
        Price of a false-alarm rate of one.
    """

    threshold: float
    miss: float
    alarm: float

    @classmethod
    def of(cls, statistic: ThresholdCost | ActDCF, owner: str, name: str = "statistic") -> Self:
        """Read a `statistic` argument."""
        if isinstance(statistic, ActDCF):
            if statistic.shape:
                n_points = math.prod(statistic.shape)
                raise invalid(name, owner, "be of one operating point", f"{n_points}")
            costs = statistic.costs
            scale = float(costs.default_cost) if statistic.normalize else 1.0
            return cls(float(costs.thresholds), float(costs.miss) / scale, float(costs.fa) / scale)
        try:
            value = statistic.threshold
        except AttributeError:
            hint = "Only a cost at a fixed threshold has an analytic standard error; see bootstrap."
            expected = "have a threshold, as DCF and OperatingPoint do"
            raise invalid(name, owner, expected, describe(statistic), hint) from None
        miss, alarm = prices_of(statistic, owner)
        return cls(as_threshold(value, f"{name}.threshold", owner), miss, alarm)


def _errors(
    scores: npt.ArrayLike, threshold: float, name: str, owner: str
) -> npt.NDArray[np.bool_]:
    """Tell which trials of a class are errors."""
    array = as_vector(scores, name, owner)
    check_not_empty(array, name, owner)
    refuse_nan(array, name, owner)
    below = rejected(array, threshold)
    return below if name == "tar" else ~below


def _class_variance(
    errors: npt.NDArray[np.bool_],
    weights: Float64Array | None,
    strata: Strata,
    sets: SetIndex | None,
    method: str,
    name: str,
) -> float:
    """Return the variance of an error-rate; warn if it rests on few errors."""
    if weights is None:
        found = ErrorResiduals.of(errors, strata)
        residuals, n_errors = found.residuals, found.effective_errors
    else:
        shares = weights / weights.sum()
        residuals = shares * (errors - float(shares[errors].sum()))
        n_errors = float(np.count_nonzero(errors))
    check_few_errors(n_errors, "miss rate" if name == "tar" else "false-alarm rate")
    return _variance(residuals, strata, sets, method)


def _set_index(
    labels: npt.ArrayLike | None, size: int, name: str, method: str, owner: str
) -> SetIndex | None:
    """Return the sets of one class; None if sets do not matter."""
    if method in ("one-layer", "two-layer"):
        return SetIndex.from_labels(labels, size, name, owner)
    if labels is not None:
        expected = f'be left out with method="{method}"'
        raise invalid(name, owner, expected, "labels", 'Did you mean method="two-layer"?')
    return None


def _variance(residuals: Float64Array, strata: Strata, sets: SetIndex | None, method: str) -> float:
    """Return the variance of a rate from the residuals w (e - p) / W of its trials."""
    single = float(np.dot(residuals, residuals))
    if sets is None:
        return single
    sums = np.bincount(sets.labels, weights=residuals)
    between = float(np.dot(sums, sums))
    if method == "one-layer":
        return between
    cells = strata.cells(sets)
    sums = np.bincount(cells.labels, weights=residuals, minlength=cells.n_sets)
    return between + single - float(np.dot(sums, sums / np.maximum(cells.sizes, 1)))
