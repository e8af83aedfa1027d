"""The ends of intervals that data without variation leave open."""

from __future__ import annotations

import functools
import math

import numpy as np
import scipy.special

from bosaris_py._arrays import Float64Array
from bosaris_py._validation import check_fraction
from bosaris_py.trials.sample import ListedSample
from bosaris_py.uncertainty.bootstrap_result import OpenEnds
from bosaris_py.uncertainty.resampling import ResamplingPlan, SetPlan, SpeakerPlan
from bosaris_py.uncertainty.statistics.class_means import Brier, Cllr, ThresholdStatistic, bits_of
from bosaris_py.uncertainty.statistics.functions import AnyStatistic, UserFunction
from bosaris_py.uncertainty.statistics.roc_functions import AUC, CurveStatistic, RateAt
from bosaris_py.uncertainty.statistics.statistic import Statistic


def open_ends(
    statistic: AnyStatistic, sample: ListedSample, units: tuple[float, float]
) -> OpenEnds:
    """Return what makes the ends that data without variation leave open."""
    # It keeps no trials, but of a statistic of a user.
    if isinstance(statistic, UserFunction):
        return _anything
    return functools.partial(_open_ends, statistic, *_condensed(statistic, sample), units)


def _anything(confidence: float) -> tuple[float, float]:
    return -math.inf, math.inf


def _open_ends(
    statistic: Statistic,
    scores: tuple[Float64Array, Float64Array],
    weights: tuple[Float64Array, Float64Array],
    units: tuple[float, float],
    confidence: float,
) -> tuple[Float64Array, Float64Array]:
    # What has happened to none of n units has at most the chance 1 - tail^(1/n). So large a share
    # of either class may have any scores: in the best case, and in the worst, infinite ones.
    tail = 0.5 - 0.5 * check_fraction(confidence, "confidence")
    shares = [-math.expm1(math.log(tail) / count) for count in units]
    masses = [np.append((1.0 - a) * w, a) for a, w in zip(shares, weights, strict=True)]
    ends = []
    for far in (math.inf, -math.inf):
        tar, non = (np.append(s, x) for s, x in zip(scores, (far, -far), strict=True))
        # Scores that stand for others are no log-likelihood-ratios: no word of that.
        value = statistic.of_sample(ListedSample.from_scores(tar, non, *masses))
        ends.append(np.asarray(value, dtype=np.float64))
    return np.minimum(*ends), np.maximum(*ends)


def _condensed(
    statistic: Statistic, sample: ListedSample
) -> tuple[tuple[Float64Array, Float64Array], tuple[Float64Array, Float64Array]]:
    """Return a few scores with weights that stand for all, also if others join."""
    scores, weights = sample.lists, sample.trial_weights
    if isinstance(statistic, ThresholdStatistic):
        limits = np.append(-np.inf, np.union1d(statistic.fa_limits, statistic.miss_limits))
        # The greatest limit that a score reaches.
        places = (np.searchsorted(limits, some, side="right") - 1 for some in scores)
        counts = map(np.bincount, places, weights, (limits.size, limits.size))
        tar, non = (count / count.sum() for count in counts)
        return (limits, limits), (tar, non)
    one = np.ones(1)
    if isinstance(statistic, Cllr):
        means = (
            np.average(bits_of(sign, some, math.e), weights=w, keepdims=True)
            for sign, some, w in zip((-1.0, 1.0), scores, weights, strict=True)
        )
        # The score of which the mean is the cost.
        with np.errstate(divide="ignore"):
            tar, non = (mean + np.log(-np.expm1(-mean)) for mean in means)
        return (-tar, non), (one, one)
    if isinstance(statistic, Brier):
        losses = statistic.loss(0, scores[0]), statistic.loss(1, scores[1])
        averages = [np.average(x, weights=w) for x, w in zip(losses, weights, strict=True)]
        # A loss is 2 p^2, of the posterior p of the wrong proposition.
        tar, non = scipy.special.logit(np.sqrt(np.array(averages)[:, None] / 2.0))
        return (-tar, non), (one, one)
    if isinstance(statistic, AUC):
        roc = sample.roc
        return (np.array([1.0, -1.0]), np.zeros(1)), (np.array([roc.auc, 1.0 - roc.auc]), one)
    if not isinstance(statistic, CurveStatistic):
        # Nothing is known of it: each trial stands for itself.
        full = [
            np.full(some.size, 1.0 / some.size) if w is None else w / w.sum()
            for some, w in zip(scores, weights, strict=True)
        ]
        tar, non = (some.astype(np.float64) for some in scores)
        return (tar, non), (full[0], full[1])
    # Rates at a limit need all points of the ROC, others the vertices of its hull.
    hull = sample.roc if isinstance(statistic, RateAt) else sample.hull
    steps = np.arange(hull.pmiss.size - 1.0)
    return (steps, steps), (np.diff(hull.pmiss), -np.diff(hull.pfa))


def units_of(plan: ResamplingPlan) -> tuple[float, float]:
    """Return how many trials, sets or speakers of each class a plan draws."""
    if isinstance(plan, SetPlan):
        return float(plan.tar.n_sets), float(plan.non.n_sets)
    if isinstance(plan, SpeakerPlan):
        tar, non = plan.tar.first, plan.non.first
        if plan.non.second is not None and plan.persons.n_second is None:
            non = np.union1d(non, plan.non.second)
            non = non[non < plan.persons.n_first]
        return float(np.unique(tar).size), float(np.unique(non).size)
    # Of weighted conditions as many trials as would all weigh what the heaviest does.
    tar_factors, non_factors = plan.strata.tar.factors, plan.strata.non.factors
    return 1.0 / float(tar_factors.max()), 1.0 / float(non_factors.max())
