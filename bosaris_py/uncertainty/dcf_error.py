r"""Standard errors of a detection cost at a fixed threshold, without resampling.

The cost :math:`a P_{miss} + b P_{fa}` with :math:`a = P_{target} C_{miss}` and
:math:`b = (1-P_{target}) C_{fa}` is a linear function of two error-rates, so its
variance is known in closed form as soon as one says what is independent:

- trials (`dcf_standard_error`, "upper-bound" and "iid"),
- sets of trials (`dcf_standard_error`, "one-layer" and "two-layer"): what the
  bootstraps of Wu et al. tend to as the number of replications grows,
- speakers, who take part in trials on both sides (`speaker_errors`).

References
----------
.. [1] J. C. Wu, A. F. Martin, C. S. Greenberg and R. N. Kacker, "The impact of data
   dependence on speaker recognition evaluation", IEEE/ACM Transactions on Audio, Speech,
   and Language Processing 25, 2017, doi:10.1109/TASLP.2016.2614725.
.. [2] P. M. Aronow, C. Samii and V. A. Assenova, "Cluster-robust variance estimation for
   dyadic data", Political Analysis 23, 2015, doi:10.1093/pan/mpv018.
"""

import functools
import math
from typing import Any, Literal, Self, get_args

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import (
    as_vector,
    as_weights,
    check_not_empty,
    describe,
    frozen,
    invalid,
    refuse_nan,
)
from bosaris_py.trials.id_map import IdMap
from bosaris_py.trials.key import Key
from bosaris_py.trials.scores import Scores
from bosaris_py.uncertainty.decisions import (
    Prices,
    ThresholdCost,
    as_count,
    as_threshold,
    check_few_errors,
    prices_of,
    rejected,
)
from bosaris_py.uncertainty.estimates import Interval, check_choice, normal_interval
from bosaris_py.uncertainty.sets import SetIndex
from bosaris_py.uncertainty.speakers import PairTable, TrialSpeakers, Unknown
from bosaris_py.uncertainty.statistics import ActDCF

__all__ = ["SpeakerErrors", "dcf_standard_error", "dcf_standard_error_scores", "speaker_errors"]

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

    Returns
    -------
    float
        In the unit of the cost.

    Raises
    ------
    InvalidInputError
        If a class is empty, a score is NaN, labels are missing, of the wrong length or of
        fewer than two sets, or `statistic` has no threshold or prices.

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
    tar_residuals, miss_total = _residuals(tar, tar_weights, cost.threshold, "tar", owner)
    non_residuals, alarm_total = _residuals(non, non_weights, cost.threshold, "non", owner)
    tar_index = _set_index(tar_sets, tar_residuals.size, "tar_sets", method, owner)
    non_index = _set_index(non_sets, non_residuals.size, "non_sets", method, owner)
    check_few_errors(miss_total, "miss rate")
    check_few_errors(alarm_total, "false-alarm rate")
    variance = cost.miss**2 * _variance(tar_residuals, tar_index, method)
    variance += cost.alarm**2 * _variance(non_residuals, non_index, method)
    return math.sqrt(variance)


def dcf_standard_error_scores(
    scores: Scores,
    key: Key,
    statistic: ThresholdCost | ActDCF,
    *,
    method: ScoresMethod = "speaker",
    model_speakers: IdMap | None = None,
    segment_speakers: IdMap | None = None,
    unknown: Unknown = "refuse",
) -> float:
    """Compute the standard error of the detection cost of a score matrix.

    Parameters
    ----------
    scores : Scores
        Scores of the system.
    key : Key
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

    Returns
    -------
    float
        In the unit of the cost.

    Raises
    ------
    InvalidInputError
        If a speaker is not known, or as `dcf_standard_error`.

    Warns
    -----
    MissingTrialsWarning
        If trials of the key have no scores; they are left out.
    FewErrorsWarning
        If one of the rates rests on fewer than 30 errors.
    """
    owner = "dcf_standard_error_scores"
    check_choice(method, get_args(ScoresMethod), "method", owner)
    if method == "speaker":
        cost = FixedCost.of(statistic, owner)
        errors = speaker_errors(
            scores,
            key,
            cost.threshold,
            model_speakers=model_speakers,
            segment_speakers=segment_speakers,
            unknown=unknown,
        )
        return errors._cost_error(np.array((cost.miss, cost.alarm)))
    if method not in ("one-layer", "two-layer"):
        return dcf_standard_error(*scores.get_tar_non(key), statistic, method=method)
    aligned = scores.align_with_ndx(key)
    of_models = TrialSpeakers.of_models_only(
        key, model_speakers, unknown=unknown, owner=owner
    ).of_models
    columns: list[npt.NDArray[Any]] = []
    for mask in (key.tar, key.non):
        cols, rows = np.nonzero((mask & aligned.scoremask).T)
        columns += [aligned.scoremat[rows, cols], of_models[rows]]
    return dcf_standard_error(
        columns[0],
        columns[2],
        statistic,
        method=method,
        tar_sets=columns[1],
        non_sets=columns[3],
    )


@attrs.frozen(eq=False, repr=False)
class SpeakerErrors:
    """Error-rates at a threshold with the covariance that shared speakers cause.

    Made by `speaker_errors`.

    Parameters
    ----------
    misses, n_tar : int
        Number of misses and of targets.
    false_alarms, n_non : int
        Number of false alarms and of non-targets.
    n_speakers : int
        Number of speakers who take part in trials.
    covariance : (2, 2) ndarray of float64
        Covariance of the miss rate and the false-alarm rate, in this order. Read-only.
    method : str
        How it was estimated.
    """

    misses: int
    n_tar: int
    false_alarms: int
    n_non: int
    n_speakers: int
    covariance: Float64Array
    method: str

    @property
    def pmiss(self) -> float:
        """Miss rate."""
        return self.misses / self.n_tar

    @property
    def pfa(self) -> float:
        """False-alarm rate."""
        return self.false_alarms / self.n_non

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

        p (1 - p) / variance, for `wilson_interval` and `jeffreys_interval`; the
        number of targets where the variance is 0.
        """
        return _effective(self.pmiss, self.covariance[0, 0], self.n_tar)

    @property
    def effective_n_non(self) -> float:
        """Number of independent non-targets that would measure the false-alarm rate as well."""
        return _effective(self.pfa, self.covariance[1, 1], self.n_non)

    def dcf(self, cost: Prices, *, normalize: bool | None = None) -> float:
        """Return the detection cost at these error-rates.

        Parameters
        ----------
        cost : DCF or OperatingPoint
            Prior and costs; a threshold is ignored.
        normalize : bool, optional
            As for `dcf_standard_error`.

        Returns
        -------
        float
        """
        miss, alarm = prices_of(cost, "SpeakerErrors.dcf", normalize=normalize)
        return miss * self.pmiss + alarm * self.pfa

    def dcf_standard_error(self, cost: Prices, *, normalize: bool | None = None) -> float:
        """Return the standard error of the detection cost.

        Parameters
        ----------
        cost : DCF or OperatingPoint
            Prior and costs; a threshold is ignored.
        normalize : bool, optional
            Divide by the cost of the better decision made without a detector. By
            default what `cost` says, if it has such an attribute, else False.

        Returns
        -------
        float
        """
        owner = "SpeakerErrors.dcf_standard_error"
        return self._cost_error(np.array(prices_of(cost, owner, normalize=normalize)))

    def _cost_error(self, prices: Float64Array) -> float:
        """Return the standard error of the cost with these prices of the two rates."""
        return math.sqrt(max(float(prices @ self.covariance @ prices), 0.0))

    def dcf_interval(
        self, cost: Prices, *, confidence: float = 0.95, normalize: bool | None = None
    ) -> Interval:
        """Return the normal confidence interval of the detection cost.

        Parameters
        ----------
        cost : DCF or OperatingPoint
            Prior and costs; a threshold is ignored.
        confidence : float, default: 0.95
            Strictly between 0 and 1.
        normalize : bool, optional
            As for `dcf_standard_error`.

        Returns
        -------
        Interval
        """
        return normal_interval(
            self.dcf(cost, normalize=normalize),
            self.dcf_standard_error(cost, normalize=normalize),
            confidence,
            self.method,
            "SpeakerErrors.dcf_interval",
        )

    def design_effect(self, cost: Prices) -> float:
        """Return how many times larger the variance of the cost is than with independent trials.

        Parameters
        ----------
        cost : DCF or OperatingPoint
            Prior and costs; a threshold is ignored.

        Returns
        -------
        float
            Variance over that of as many independent trials; inf if the latter is 0
            and the former not.
        """
        miss, alarm = prices_of(cost, "SpeakerErrors.design_effect", normalize=False)
        single = miss**2 * self.pmiss * (1.0 - self.pmiss) / self.n_tar
        single += alarm**2 * self.pfa * (1.0 - self.pfa) / self.n_non
        variance = self.dcf_standard_error(cost, normalize=False) ** 2
        if single == 0:
            return math.inf if variance > 0 else 1.0
        return variance / single

    def speakers_needed(
        self, cost: Prices, standard_error: float, *, normalize: bool | None = None
    ) -> int:
        """Return how many speakers would bring the standard error of the cost down to a value.

        For an experiment like this one, with as many models and segments per speaker. The
        variance is taken to be in inverse proportion to the number of speakers; the part
        of single pairs of speakers shrinks faster, so the number is on the safe side.
        More models or segments of the same speakers do not replace other speakers.

        Parameters
        ----------
        cost : DCF or OperatingPoint
            Prior and costs; a threshold is ignored.
        standard_error : float
            The standard error that is wanted, positive.
        normalize : bool, optional
            As for `dcf_standard_error`; holds for `standard_error` too.

        Returns
        -------
        int
        """
        owner = "SpeakerErrors.speakers_needed"
        wanted = as_count(standard_error, "standard_error", owner)
        if wanted == 0:
            raise invalid("standard_error", owner, "be positive", describe(standard_error))
        ratio = self.dcf_standard_error(cost, normalize=normalize) / wanted
        return math.ceil(self.n_speakers * ratio**2)

    def __repr__(self) -> str:
        """Show both rates with their standard errors."""
        return (
            f"SpeakerErrors: pmiss {self.pmiss:.4g} +- {self.pmiss_standard_error:.2g}, pfa "
            f"{self.pfa:.4g} +- {self.pfa_standard_error:.2g} ({self.n_speakers} speakers)"
        )


def speaker_errors(
    scores: Scores,
    key: Key,
    threshold: float,
    *,
    model_speakers: IdMap | None = None,
    segment_speakers: IdMap | None = None,
    unknown: Unknown = "refuse",
) -> SpeakerErrors:
    r"""Measure error-rates, with standard errors that hold when speakers recur.

    Trials are independent only if they have no speaker in common, neither as model
    nor in the test segment. The result gives the standard error of both rates and of any
    detection cost, the analytic counterpart of the speaker bootstrap.

    Parameters
    ----------
    scores : Scores
        Scores of the system.
    key : Key
        Which trials are targets and which non-targets.
    threshold : float
        Accept iff score >= threshold.
    model_speakers : IdMap, optional
        From model to speaker. By default each model is a speaker of its own.
    segment_speakers : IdMap, optional
        From test segment to speaker. By default that of the models whose target it is.
    unknown : {"refuse", "own"}, default: "refuse"
        What to do where the speaker is not known: refuse, or take each model or segment
        for a speaker of its own, with a warning.

    Returns
    -------
    SpeakerErrors

    Raises
    ------
    InvalidInputError
        If a class is empty, there are fewer than two speakers, a speaker is not known, or
        the speakers contradict the key.

    Warns
    -----
    MissingTrialsWarning
        If trials of the key have no scores; they are left out.
    FewErrorsWarning
        If one of the rates rests on fewer than 30 errors.

    Notes
    -----
    The dyadic cluster-robust variance [1]_. With :math:`M_k` misses in :math:`T_k` target
    trials of speaker k, and :math:`F_{kj}` false alarms in :math:`N_{kj}` non-target trials
    of the unordered pair {k, j} of speakers, let

    .. math::

        u_k = \frac{M_k - P_{miss} T_k}{\sum T}, \quad
        s_{kj} = \frac{F_{kj} - P_{fa} N_{kj}}{\sum N}, \quad
        v_k = \sum_{j \ne k} s_{kj},

    .. math::

        \mathrm{Var}\, P_{miss} = c \sum_k u_k^2, \quad
        \mathrm{Var}\, P_{fa} = c \Big( \sum_k v_k^2 - \sum_{k<j} s_{kj}^2 \Big), \quad
        \mathrm{Cov} = c \sum_k u_k v_k,

    where :math:`c = K/(K-1)` for K speakers. The subtracted sum corrects for each pair being
    in the sums of both its speakers. Where the correction would leave no valid covariance
    matrix it is left out, which makes the error larger; `method` then says so. The rates
    are ratios, so this is first order in 1/K. Speakers who appear on one side only are
    covered by the same sums.

    In 300 simulated data sets of 80 speakers the nominal 95 % normal interval of the cost
    covered the truth 92 % of the time; the bootstrap's of independent trials 26 %, of sets
    by enrolled speaker 79 % (one-layer) and 81 % (two-layer), by
    ``benchmarks/coverage_study.py``. Unlike the speaker bootstrap it is accurate where
    speakers' effects are weak, too.

    Time and memory in proportion to the score matrix.

    References
    ----------
    .. [1] P. M. Aronow, C. Samii and V. A. Assenova, "Cluster-robust variance estimation for
       dyadic data", Political Analysis 23, 2015, doi:10.1093/pan/mpv018.
    """
    owner = "speaker_errors"
    limit = as_threshold(threshold, "threshold", owner)
    if not isinstance(scores, Scores):
        raise invalid("scores", owner, "be Scores", describe(scores))
    speakers = TrialSpeakers.of_key(
        key, model_speakers, segment_speakers, unknown=unknown, owner=owner
    )
    aligned = scores.align_with_ndx(key)
    tar, non = key.tar & aligned.scoremask, key.non & aligned.scoremask
    below = rejected(aligned.scoremat, limit)
    misses, targets = speakers.sum_targets(below & tar), speakers.sum_targets(tar)
    alarms, others = speakers.sum_pairs(non & ~below), speakers.sum_pairs(non)
    for name, total in (("targets", targets.sum()), ("non-targets", others.total)):
        if total == 0:
            expected = f"have {name} with scores"
            raise invalid("key", owner, expected, "none")
    refuse_same_speaker(others, owner)
    check_few_errors(misses.sum(), "miss rate")
    check_few_errors(alarms.total, "false-alarm rate")
    n_speakers = int(np.count_nonzero((targets > 0) | (others.by_speaker() > 0)))
    pmiss, pfa = misses.sum() / targets.sum(), alarms.total / others.total
    covariance, method = dyadic_covariance(
        (misses - pmiss * targets) / targets.sum(),
        attrs.evolve(others, table=(alarms.table - pfa * others.table) / others.total),
        n_speakers,
        owner,
    )
    return SpeakerErrors(
        int(misses.sum()),
        int(targets.sum()),
        int(alarms.total),
        int(others.total),
        n_speakers,
        frozen(covariance),
        method,
    )


def dyadic_covariance(
    miss_shares: Float64Array, alarm_shares: PairTable, n_speakers: int, owner: str
) -> tuple[Float64Array, str]:
    """Return the covariance of two means from each speaker's and each pair's share in them."""
    if n_speakers < 2:
        raise invalid("key", owner, "have at least two speakers with trials", f"{n_speakers}")
    correction = n_speakers / (n_speakers - 1.0)
    shares = np.stack((miss_shares, alarm_shares.by_speaker()))
    covariance = correction * (shares @ shares.T)
    corrected = covariance.copy()
    corrected[1, 1] -= correction * alarm_shares.sum_of_squares()
    if corrected[1, 1] >= 0 and np.linalg.det(corrected) >= 0:
        return corrected, "speaker pairs"
    return covariance, "speaker pairs, overlap not subtracted"


def refuse_same_speaker(others: PairTable, owner: str) -> None:
    """Raise if non-target trials have the same speaker on both sides."""
    same = others.of_same_speaker().sum()
    if same:
        found = f"{same:g} with the same speaker on both sides"
        hint = "Is the map of speakers right?"
        raise invalid("key", owner, "have two speakers in each non-target trial", found, hint)


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


def _residuals(
    scores: npt.ArrayLike, weights: npt.ArrayLike | None, threshold: float, name: str, owner: str
) -> tuple[Float64Array, float]:
    """Return w (e - p) / W of each trial, which sum to zero, and the number of errors."""
    array = as_vector(scores, name, owner)
    check_not_empty(array, name, owner)
    refuse_nan(array, name, owner)
    checked = as_weights(weights, array.size, f"{name}_weights", owner)
    below = rejected(array, threshold)
    errors = below if name == "tar" else ~below
    if checked is None:
        rate = np.count_nonzero(errors) / array.size
        residuals = (errors - rate) / array.size
    else:
        shares = checked / checked.sum()
        residuals = shares * (errors - float(shares[errors].sum()))
    return np.asarray(residuals), float(np.count_nonzero(errors))


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


def _variance(residuals: Float64Array, sets: SetIndex | None, method: str) -> float:
    """Return the variance of a rate from the residuals w (e - p) / W of its trials."""
    single = float(np.dot(residuals, residuals))
    if sets is None:
        return single
    sums = np.bincount(sets.labels, weights=residuals)
    between = float(np.dot(sums, sums))
    if method == "one-layer":
        return between
    return between + single - float(np.dot(sums, sums / sets.sizes))


def _effective(rate: float, variance: float, n_trials: int) -> float:
    return rate * (1.0 - rate) / variance if variance > 0 else float(n_trials)
