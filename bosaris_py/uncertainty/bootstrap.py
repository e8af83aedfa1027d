"""The two-sample bootstraps of the papers, for any statistic."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from bosaris_py._execution import whole_number
from bosaris_py._validation import (
    FloatArray,
    as_vector,
    check_fraction,
    check_not_empty,
    invalid,
    refuse_nan,
    warn_caller,
)
from bosaris_py.errors import FewErrorsWarning
from bosaris_py.evaluation.rule_of_30 import FEWEST_ERRORS
from bosaris_py.uncertainty.bootstrap_result import BootstrapResult, IntervalKind, check_interval
from bosaris_py.uncertainty.estimates import check_choice
from bosaris_py.uncertainty.resampling_plans import IidPlan, ResamplingPlan, SetPlan
from bosaris_py.uncertainty.running import Rng, as_generator, draw_replicates
from bosaris_py.uncertainty.samplers import CallableSampler, Sampler, call_function
from bosaris_py.uncertainty.sets import SetIndex
from bosaris_py.uncertainty.statistic import Statistic, check_statistic
from bosaris_py.uncertainty.strata import TrialStrata, effective_errors
from bosaris_py.uncertainty.threshold_statistics import ThresholdStatistic

__all__ = [
    "Method",
    "StatisticLike",
    "as_scores",
    "bootstrap",
    "estimate_of",
    "make_plan",
    "make_sampler",
    "traits_of",
    "warn_of_few_errors",
]

Method: TypeAlias = Literal["iid", "one-layer", "two-layer"]
StatisticLike: TypeAlias = Statistic | Callable[..., Any]

_FEWEST_REPLICATIONS = 2


def bootstrap(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    statistic: StatisticLike,
    *,
    method: Method = "iid",
    tar_sets: npt.ArrayLike | None = None,
    non_sets: npt.ArrayLike | None = None,
    tar_conditions: npt.ArrayLike | None = None,
    non_conditions: npt.ArrayLike | None = None,
    condition_weights: Mapping[Any, float] | None = None,
    replications: int = 2000,
    confidence: float = 0.95,
    interval: IntervalKind | None = None,
    rng: Rng = None,
    workers: int = 1,
    progress: bool = False,
) -> BootstrapResult:
    r"""Estimate the standard error and a confidence interval of a metric by resampling.

    Targets and non-targets are resampled independently of each other, as in the
    papers. If trials share speakers, ``"iid"`` gives much too small errors,
    and the other two methods too small ones, because a speaker occurs on both
    sides of trials.

    Parameters
    ----------
    tar : (n_tar,) array_like of float
        Target scores; no NaN, +-inf allowed.
    non : (n_non,) array_like of float
        Non-target scores, likewise.
    statistic : Statistic or callable
        `DCF`, `ActDCF`, `MinDCF`, `EER`, `AUC`, `Cllr`, `MinCllr` or
        `ErrorRates`, or any function ``f(tar, non, tar_weights, non_weights)``
        that returns a number or an array. A function gets the scores in the
        order given here and weights, whole numbers unless there are conditions, and
        is called once for each replicate: the slow way.
    method : {"iid", "one-layer", "two-layer"}
        ``"iid"``: pick trials. ``"one-layer"``: pick sets of trials.
        ``"two-layer"``: pick sets, and trials within each set picked.
    tar_sets, non_sets : array_like of str or int, optional
        Label of each trial's set, for instance the speaker of its model;
        required by the other two methods, refused by ``"iid"``. Whole numbers and
        texts are different labels; none may be missing.
    tar_conditions, non_conditions : array_like of str or int, optional
        Label of each trial's condition, for both classes or for none. The metric is
        then the condition-weighted one, see Notes.
    condition_weights : mapping from label to float, optional
        Weight of each condition; positive, and of sum one. Equal ones by default. In a
        class that lacks a condition, the weights of the others are scaled up.
    replications : int, default: 2000
        Number of replicates B, at least 2. Standard errors need a few hundred,
        the ends of a 95 % interval 2000.
    confidence : float, default: 0.95
        Nominal coverage of the interval, strictly between 0 and 1.
    interval : {"percentile", "basic", "normal"}, optional
        Kind of interval. By default ``"basic"`` for `MinDCF`, `EER` and
        `MinCllr`, whose percentile intervals lie too low, see `MinDCF`;
        ``"percentile"``, as in the papers, for all others.
    rng : Generator, int or None
        Source of randomness. The same seed gives the same replicates, however
        many workers there are. Draws are made from children that a Generator
        spawns: its own position stays, and another call with it gives new
        replicates.
    workers : int, default: 1
        Number of processes. A script that uses several must protect its main
        part by ``if __name__ == "__main__":``.
    progress : bool, default: False
        Show a progress bar.

    Returns
    -------
    BootstrapResult
        Estimate, standard error, interval and all replicates.

    Raises
    ------
    InvalidInputError
        If a class is empty, a score is NaN, labels are missing, of the wrong
        length, not wanted, or name fewer than two sets, if weights of conditions are
        bad, if the statistic is no number or not finite on the data, or an option is out
        of range.

    Warns
    -----
    FewErrorsWarning
        If a rate of a `DCF`, `ActDCF` or `ErrorRates` rests on fewer than 30 errors,
        or all replicates are alike, so that a standard error of 0 means nothing.
    DegenerateReplicatesWarning
        If the statistic is not defined on some replicates; for instance because sets
        that were picked have no trials of a condition.

    See Also
    --------
    standard_error_distribution : Repeats this 500 times, as Wu et al. do.
    equal_size_sets : The papers' sets of equal size.

    Notes
    -----
    Algorithms I, II and III of [2]_; the first is the algorithm of [1]_,
    section 2.4. The standard error is the unbiased standard deviation of the
    replicates, quantiles are Hyndman and Fan's definition 2.

    Sets of unequal size are resampled as they are: as many sets are picked as
    there are, each brings its own number of trials, and a rate is all errors
    over all trials of the replicate. This ratio of sums estimates the rate in
    all trials, in which large sets count more; the mean of the sets' own rates
    is another quantity. The papers first drop trials until all sets are equally
    large, and then both are the same, see `equal_size_sets`.

    *Conditions.* A condition :math:`\alpha` of weight :math:`w_\alpha` with
    :math:`n_\alpha` trials of a class gives each of them the weight
    :math:`w_\alpha / n_\alpha`, equation (12) of [3]_, so that error-rates are
    :math:`P = \sum_\alpha w_\alpha P_\alpha`. How many trials a condition has is a
    matter of design. ``"iid"`` therefore picks :math:`n_\alpha` trials within each
    condition, and the variance of an error-rate is
    :math:`\sum_\alpha w_\alpha^2 P_\alpha (1-P_\alpha) / n_\alpha`. A set may be of several
    conditions; ``"two-layer"`` picks trials of a set within their condition. A replicate
    in which condition :math:`\alpha` has :math:`n_\alpha^*` trials weights each by
    :math:`w_\alpha / n_\alpha^*`: the same metric of other trials. Without trials of a
    condition it is degenerate.

    No method here makes scores lists and sorts them. Errors at a fixed threshold
    are drawn as binomial numbers; a minimum DCF or an EER draws only the part of
    a replicate that decides it; all else gathers weights on scores sorted once.
    The replicates have exactly the distribution of the plain loop's.

    References
    ----------
    .. [1] J. C. Wu, A. F. Martin, C. S. Greenberg and R. N. Kacker,
       "Measurement uncertainties in speaker recognition evaluation", NISTIR
       7722, 2010.
    .. [2] J. C. Wu, A. F. Martin, C. S. Greenberg and R. N. Kacker, "The impact
       of data dependence on speaker recognition evaluation", IEEE/ACM TASLP 25,
       2017, doi:10.1109/TASLP.2016.2614725.
    .. [3] D. A. van Leeuwen, "A note on performance metrics for speaker recognition
       using multiple conditions in an evaluation", 2008.

    Examples
    --------
    >>> from bosaris_py import uncertainty as unc
    >>> rng = np.random.default_rng(1)
    >>> tar, non = rng.normal(3, 1, 1000), rng.normal(0, 1, 9000)
    >>> result = unc.bootstrap(tar, non, unc.DCF(threshold=2.0), rng=2)
    >>> exact = np.sqrt(0.1**2 * 0.159 * 0.841 / 1000 + 0.99**2 * 0.023 * 0.977 / 9000)
    >>> bool(abs(result.standard_error / exact - 1) < 0.1)
    True
    """
    owner = "bootstrap"
    tar_scores, non_scores = as_scores(tar, "tar", owner), as_scores(non, "non", owner)
    check_statistic(statistic, owner)
    strata = TrialStrata.from_labels(
        tar_conditions,
        non_conditions,
        condition_weights,
        (tar_scores.size, non_scores.size),
        owner,
    )
    plan = make_plan(strata, method, tar_sets, non_sets, owner)
    n_replicates = whole_number(replications, _FEWEST_REPLICATIONS, "replications", owner)
    n_workers = whole_number(workers, 1, "workers", owner)
    check_fraction(confidence, "confidence", owner)
    default_interval, bounds = traits_of(statistic)
    kind = default_interval if interval is None else interval
    check_interval(kind, owner)
    generator = as_generator(rng, owner)
    estimate = estimate_of(statistic, tar_scores, non_scores, strata, owner)
    told = warn_of_few_errors((statistic,), ((tar_scores, non_scores),), strata)
    sampler = make_sampler(statistic, tar_scores, non_scores, plan, np.shape(estimate))
    replicates = draw_replicates(
        sampler, n_replicates, generator, workers=n_workers, progress=progress
    )
    return BootstrapResult.from_replicates(
        estimate,
        replicates,
        method=method,
        interval=kind,
        confidence=float(confidence),
        bounds=bounds,
        owner=owner,
        told=told,
    )


def as_scores(scores: npt.ArrayLike, name: str, owner: str) -> FloatArray:
    """Return the scores of one class, checked."""
    array = as_vector(scores, name, owner)
    check_not_empty(array, name, owner)
    refuse_nan(array, name, owner)
    return array


def make_plan(
    strata: TrialStrata,
    method: Method,
    tar_sets: npt.ArrayLike | None,
    non_sets: npt.ArrayLike | None,
    owner: str,
) -> ResamplingPlan:
    """Make the plan for a method, after checking the labels it needs."""
    check_choice(method, get_args(Method), "method", owner)
    if method == "iid":
        for labels, name in ((tar_sets, "tar_sets"), (non_sets, "non_sets")):
            if labels is not None:
                hint = 'Did you mean method="one-layer" or "two-layer"?'
                raise invalid(name, owner, 'be left out with method="iid"', "labels", hint)
        return IidPlan(strata)
    return SetPlan(
        SetIndex.from_labels(tar_sets, strata.tar.n_trials, "tar_sets", owner),
        SetIndex.from_labels(non_sets, strata.non.n_trials, "non_sets", owner),
        strata,
        two_layer=method == "two-layer",
    )


def estimate_of(
    statistic: StatisticLike, tar: FloatArray, non: FloatArray, strata: TrialStrata, owner: str
) -> Any:
    """Compute the statistic of the data; it must be finite to have a spread."""
    weights = strata.trial_weights()
    if isinstance(statistic, Statistic):
        value = np.asarray(statistic(tar, non, *weights), dtype=np.float64)
    else:
        given = (
            np.ones(scores.size) if weight is None else weight
            for scores, weight in zip((tar, non), weights, strict=True)
        )
        value = call_function(statistic, tar, non, *given, owner=owner)
    if not np.isfinite(value).all():
        hint = "A standard error of it is not defined."
        raise invalid("statistic", owner, "be finite on the data", f"{value}", hint)
    return float(value) if value.ndim == 0 else value


def warn_of_few_errors(
    statistics: Sequence[StatisticLike],
    scores: Sequence[tuple[FloatArray, FloatArray]],
    strata: TrialStrata,
) -> bool:
    """Warn once if rates at fixed thresholds rest on few errors; return whether they do.

    Parameters
    ----------
    statistics : sequence of Statistic or callable
        One for each system. Only costs and rates at fixed thresholds count errors.
    scores : sequence of pairs of ndarray
        Target and non-target scores of each system.
    strata : TrialStrata
        The conditions of the trials. Rates are weighted, and their errors counted as
        `effective_errors` does.
    """
    found: dict[str, list[float]] = {"miss rate": [], "false-alarm rate": []}
    for statistic, (tar, non) in zip(statistics, scores, strict=True):
        if isinstance(statistic, ThresholdStatistic):
            misses, alarms = statistic.count_errors(tar, non, strata)
            found["miss rate"] += effective_errors(misses, strata.tar.factors).tolist()
            found["false-alarm rate"] += effective_errors(alarms, strata.non.factors).tolist()
    parts = []
    for rate, counts in found.items():
        few = [count for count in counts if count < FEWEST_ERRORS]
        if few and len(counts) == 1:
            parts.append(f"the {rate} rests on {few[0]:.3g} errors")
        elif few:
            least = f"from {min(few):.3g}"
            parts.append(f"{len(few)} of {len(counts)} {rate}s rest on few errors, {least}")
    if parts:
        text = " and ".join(parts)
        message = (
            f"{text[0].upper()}{text[1:]}. With fewer than {FEWEST_ERRORS} errors a standard "
            "error is itself uncertain, and one of 0 says nothing."
        )
        warn_caller(message, FewErrorsWarning)
    return bool(parts)


def make_sampler(
    statistic: StatisticLike,
    tar: FloatArray,
    non: FloatArray,
    plan: ResamplingPlan,
    shape: tuple[int, ...],
) -> Sampler:
    """Choose the fastest way to draw replicates of a statistic under a plan."""
    if isinstance(statistic, Statistic):
        return statistic.sampler(tar, non, plan)
    return CallableSampler(tar, non, plan, statistic, shape)


def traits_of(
    statistic: StatisticLike,
) -> tuple[IntervalKind, tuple[npt.ArrayLike, npt.ArrayLike]]:
    """Return the default kind of interval and the bounds of a statistic."""
    if isinstance(statistic, Statistic):
        return statistic.default_interval, statistic.bounds
    return "percentile", (-np.inf, np.inf)
