r"""The influence of each speaker on a metric: standard errors in closed form, for any metric.

To first order every metric is a sum over the trials of both classes of a *loss* of each trial,

.. math::

    \theta \approx \sum_{i \in tar} f_i \ell_i + \sum_{j \in non} f_j \ell_j,

with the weight :math:`f = w_\alpha / n_\alpha` of a trial of its condition. Costs at a fixed
threshold and Cllr are such sums. Minimum DCF, EER and minimum Cllr are minima of such sums. By the
envelope theorem their derivative in the weights of trials is that of the sum at the optimum, held
fixed. The area above the ROC has the placements of DeLong et al. `SpeakerInfluence` has the sums.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import attrs
import numpy as np
from scipy import special

from bosaris_py._arrays import Float64Array, FloatArray, IntArray, mark_read_only
from bosaris_py._validation import check_fraction, describe, invalid, warn_caller
from bosaris_py.errors import FewSpeakersWarning
from bosaris_py.numerics.roc import ROC
from bosaris_py.numerics.rocch import ROCCH
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.speaker_pairs import ROUNDING, GroupSums, SpeakerPairs
from bosaris_py.uncertainty.bootstrap_result import (
    Alternative,
    Interval,
    OpenEnds,
    normal_p_value,
    student_quantiles,
)
from bosaris_py.uncertainty.decisions import ThresholdCost, as_threshold, prices_of, rejected
from bosaris_py.uncertainty.resampling import ResamplingPlan, SetPlan, SpeakerPlan
from bosaris_py.uncertainty.speaker_curve import SpeakerTrials
from bosaris_py.uncertainty.statistic import (
    AUC,
    DCF,
    EER,
    FMR,
    FNMR,
    ActDCF,
    AnyStatistic,
    Cllr,
    FMRAt,
    FNMRAt,
    MeanActDCF,
    MeanMinDCF,
    MinCllr,
    MinDCF,
    RateAt,
    Statistic,
    ThresholdStatistic,
    UserFunction,
    WhichClass,
    bits_of,
)

# Scores whose losses are made together: they stay in the cache.
_SCORES_AT_A_TIME = 2**14

# Cells of a grid for each edge of a step function, and at least and at most so many in all.
_CELLS_PER_EDGE, _FEWEST_CELLS, _MOST_CELLS = 8, 2**12, 2**18

# Among more edges in one cell a score is searched for.
_MOST_PER_CELL = 8

# Pairs of more speakers than this are not put into a square table.
_LARGEST_TABLE = 2**11

# Groups of speakers that a jackknife leaves out at most.
_MOST_GROUPS = 500

# What a bias in proportion to n^(-2/3) is, over what the jackknife takes for one of n^(-1).
_ISOTONIC = 1.5

# Errors at the equal error rate, below which pools tell as little as classes that are apart.
_FEW_FOR_POOLS = 3.0

# Weights of speakers that are multiplied at a time.
_WEIGHTS_AT_A_TIME = 2**16


@attrs.frozen
class FixedCost:
    """A detection cost at a fixed threshold, with the prices of a miss and a false-alarm rate."""

    threshold: float
    miss: float
    alarm: float

    @classmethod
    def of(cls, statistic: object, name: str = "statistic") -> Self:
        """Read a `statistic` argument."""
        if isinstance(statistic, (FNMR, FMR)):
            miss, alarm = (float(which in statistic.judged) for which in (0, 1))
            return cls(statistic.threshold, miss, alarm)
        if isinstance(statistic, ActDCF):
            costs = statistic.costs
            if statistic.shape:
                raise invalid(name, "be of one operating point", f"{costs.plo.size}")
            scale = float(costs.default_cost) if statistic.normalize else 1.0
            return cls(float(costs.thresholds), float(costs.miss) / scale, float(costs.fa) / scale)
        try:
            value = statistic.threshold  # type: ignore[attr-defined]
        except AttributeError:
            hint = "Only a cost at a fixed threshold has an analytic standard error; see bootstrap."
            expected = "have a threshold, as DCF and OperatingPoint do"
            raise invalid(name, expected, describe(statistic), hint) from None
        miss, alarm = prices_of(statistic)  # type: ignore[arg-type]
        return cls(as_threshold(value, f"{name}.threshold"), miss, alarm)

    def losses(self, value: float) -> "Losses":
        """Return the losses of scores, given the cost of all."""
        edges, prices = np.array([self.threshold]), (self.miss, self.alarm)
        misses, alarms = np.array([self.miss, 0.0]), np.array([0.0, self.alarm])
        bounds = 0.0, self.miss + self.alarm
        return Losses(Steps(edges, misses), Steps(edges, alarms), value, prices, bounds)


# The loss of each of some scores.
Loss = Callable[[FloatArray], Float64Array]


class Losses(NamedTuple):
    """What a trial of either class with some score adds to a metric, and the metric."""

    # `part` is the share of the metric that the mean loss of one class counts for: a half where
    # either is the whole. `loss` is the metric as a cost: 1 - AUC. `most` is the greatest mean loss
    # that a class without any loss may come to have.

    tar: Loss
    non: Loss
    estimate: float
    most: tuple[float, float]
    bounds: tuple[float, float] = (0.0, math.inf)
    part: float = 1.0
    kept: "KeptRate | None" = None

    def of(self, which: WhichClass, sample: ListedSample) -> Float64Array:
        """Return the losses of the trials of one class, made some at a time to save memory."""
        loss, given = (self.tar, self.non)[which], sample.lists[which]
        values = np.empty(given.size)
        for start in range(0, given.size, _SCORES_AT_A_TIME):
            some = slice(start, start + _SCORES_AT_A_TIME)
            values[some] = loss(given[some])
        return values

    @property
    def loss(self) -> float:
        """The metric as a cost."""
        return 1.0 - self.estimate if self.part < 1.0 else self.estimate


# A metric with losses: what `losses_of` takes.
LinearStatistic = Statistic | ThresholdCost

LINEAR = (
    *(DCF, ActDCF, MinDCF, MeanActDCF, MeanMinDCF),
    *(EER, AUC, Cllr, MinCllr, FNMR, FMR, FNMRAt, FMRAt),
)

# Metrics without a fixed threshold; all others in `LINEAR` are costs at one.
NOT_FIXED = MinDCF, MeanMinDCF, EER, AUC, Cllr, MinCllr, RateAt


def losses_of(statistic: object, sample: ListedSample, name: str = "statistic") -> Losses:
    """Return the losses of scores at the optimum of a metric."""
    if isinstance(statistic, (MeanActDCF, MeanMinDCF)):
        return _mean_of([losses_of(one, sample, name) for one in statistic.each])
    if isinstance(statistic, Cllr):
        if not math.isfinite(sample.cllr):
            raise invalid(name, "be finite on the data", f"{sample.cllr}")
        of_tar, of_non = (functools.partial(bits_of, sign, base=4.0) for sign in (-1.0, 1.0))
        return Losses(of_tar, of_non, sample.cllr, (0.0, 0.0))
    if not isinstance(statistic, (MinDCF, EER, MinCllr, AUC, RateAt)):
        cost, (tar, non), strata = FixedCost.of(statistic, name), sample.lists, sample.strata
        pmiss = strata.tar.mean(rejected(tar, cost.threshold))
        pfa = strata.non.mean(~rejected(non, cost.threshold))
        return cost.losses(cost.miss * pmiss + cost.alarm * pfa)
    roc = sample.roc
    if isinstance(statistic, AUC):
        return Losses(*_placements(roc), roc.auc, (1.0, 0.0), (0.0, 1.0), part=0.5)
    if isinstance(statistic, RateAt):
        return _losses_at(statistic, roc)
    if statistic.shape:
        raise invalid(name, "be of one operating point", f"{statistic.shape[0]}")
    hull = roc.convex_hull()
    most = float(np.asarray(statistic.bounds[1]))
    edges, value = hull.thresholds[1:-1], hull.min_cllr
    levels = _edge_bits(hull)
    if not isinstance(statistic, MinCllr):
        edges, levels, value = _deciding_vertices(statistic, hull)
    open_end = (most, 0.0) if value == 0 else (0.0, 0.0)
    return Losses(Steps(edges, levels[0]), Steps(edges, levels[1]), value, open_end, (0.0, most))


def _mean_of(parts: Sequence[Losses]) -> Losses:
    """Return the losses of the mean of several costs of one sample."""

    def mean(losses: Sequence[Loss], scores: FloatArray) -> Float64Array:
        values: Float64Array = np.mean([loss(scores) for loss in losses], axis=0)
        return values

    tar, non = (
        functools.partial(mean, losses)
        for losses in ([part.tar for part in parts], [part.non for part in parts])
    )
    value = math.fsum(part.estimate for part in parts) / len(parts)
    most, bounds = (
        (math.fsum(one) / len(parts), math.fsum(other) / len(parts))
        for one, other in (
            zip(*(part.most for part in parts), strict=True),
            zip(*(part.bounds for part in parts), strict=True),
        )
    )
    return Losses(tar, non, value, most, bounds)


def _deciding_vertices(
    statistic: MinDCF | EER, hull: ROCCH
) -> tuple[Float64Array, tuple[Float64Array, Float64Array], float]:
    """Return the thresholds of the one or two vertices that decide a minimum, losses, value."""
    if isinstance(statistic, MinDCF):
        best = int(hull.best_vertices(statistic.costs))
        miss, alarm = statistic.prices()
        vertices, shares = [best], np.ones(1)
        value = miss * float(hull.pmiss[best]) + alarm * float(hull.pfa[best])
    else:
        # The edge from j - 1 to j meets the diagonal; its slope is the prior of greatest cost.
        gap = hull.pmiss - hull.pfa
        j = int(np.argmax(gap >= 0))
        rise = float(gap[j] - gap[j - 1])
        vertices, shares = [j - 1, j], np.array([gap[j], -gap[j - 1]]) / rise
        miss = float(hull.pfa[j - 1] - hull.pfa[j]) / rise
        alarm, value = 1.0 - miss, hull.eer
    # Below a threshold targets are misses, at and above it non-targets are false alarms.
    accepted = np.append(0.0, np.cumsum(shares))
    accepted[-1] = 1.0
    return hull.thresholds[vertices], (miss * (1.0 - accepted), alarm * accepted), value


def _losses_at(statistic: RateAt, roc: ROC) -> Losses:
    """Return the losses of one rate at a threshold that keeps the other one."""
    # d Pmiss = (variation at the threshold) + slope d Pfa, and the other way round.
    at = statistic._point(roc.pmiss, roc.pfa)
    threshold, value = roc.thresholds[at], statistic.of_roc(roc)
    hull = roc.convex_hull()
    falls, rises = hull.pfa[:-1] - hull.pfa[1:], hull.pmiss[1:] - hull.pmiss[:-1]
    if isinstance(statistic, FNMRAt):
        place = np.flatnonzero((hull.pfa[1:] <= statistic.limit) & (falls > 0))[0]
        miss, alarm = 1.0, float(rises[place] / falls[place])
    else:
        place = np.flatnonzero((hull.pmiss[:-1] <= statistic.limit) & (rises > 0))[-1]
        miss, alarm = float(falls[place] / rises[place]), 1.0
    edges = np.array([threshold])
    of_tar, of_non = Steps(edges, np.array([miss, 0.0])), Steps(edges, np.array([0.0, alarm]))
    rates = float(roc.pmiss[at]), float(roc.pfa[at])
    kept = KeptRate(statistic, float(threshold), rates, (roc.pmiss, roc.pfa))
    # A class without errors at the threshold tells no more of it than its number of speakers.
    return Losses(of_tar, of_non, value, (1.0, 1.0), (0.0, 1.0), kept=kept)


class KeptRate(NamedTuple):
    """A point of a ROC at which one rate is read while the other one is kept."""

    statistic: RateAt
    threshold: float
    rates: tuple[float, float]
    curve: tuple[Float64Array, Float64Array]

    @property
    def is_miss(self) -> bool:
        """Whether the rate that is read is the miss rate."""
        return isinstance(self.statistic, FNMRAt)

    def read(self, limit: float) -> float:
        """Return the rate where the other one is kept to another limit."""
        kept = min(max(limit, 0.0), 1.0 - ROUNDING)
        other: RateAt = FNMRAt(kept) if self.is_miss else FMRAt(kept)
        at = other._point(*self.curve)
        return other._of_point(*(float(rates[at]) for rates in self.curve))

    def ends(
        self, own: tuple[float, float], other: tuple[float, float], correlation: float
    ) -> tuple[float, float]:
        """Put the intervals of both rates at the threshold together."""
        # Zou and Donner, Statistics in Medicine 27, 2008: the distances of the ends add up as
        # standard errors do. If the kept rate was too low by a factor, its limit is by as much.
        value, rate = self.rates if self.is_miss else self.rates[::-1]
        limit = self.statistic.limit
        near = self.read(rate * limit / other[0] if other[0] > 0 else 1.0)
        # Without one error of the kept rate no threshold keeps to it for sure.
        far = self.read(rate * limit / other[1]) if rate > 0 else 1.0
        ends = []
        for sign, end, moved in ((-1.0, own[0], near), (1.0, own[1], far)):
            a, b = abs(end - value), max(sign * (moved - value), 0.0)
            ends.append(value + sign * math.sqrt(max(a * a + b * b + 2.0 * correlation * a * b, 0)))
        return max(ends[0], 0.0), min(ends[1], 1.0)


def _edge_bits(hull: ROCCH) -> tuple[Float64Array, Float64Array]:
    """Return half the cost in bits of a target and of a non-target on each edge of the hull."""
    # No target lies on an edge of llr -inf, no non-target on one of inf.
    bits = (np.logaddexp(0.0, sign * hull.llr) / math.log(4.0) for sign in (-1.0, 1.0))
    tar, non = (np.where(np.isfinite(b), b, 0.0) for b in bits)
    return tar, non


def _placements(roc: ROC) -> tuple["Steps", "Steps"]:
    """Return the share of non-targets above a target, and of targets below a non-target."""
    at, between = roc.non_at / roc.non_total, roc.non_between / roc.non_total
    above = np.append(np.cumsum((at + between[1:])[::-1])[::-1], 0.0)
    below = np.append(0.0, np.cumsum(roc.tar_at) / roc.tar_total)
    # Equal scores count half. Targets are nowhere but at the edges.
    at_targets = above[:-1] - 0.5 * at
    middle = 0.5 * (below[1:] + below[:-1]) if at.any() else None
    edges = roc.target_scores
    return Steps(edges, np.append(0.0, at_targets)), Steps(edges, below, middle)


@attrs.frozen(eq=False)
class Steps:
    """A step function of scores, with one level more than edges: at an edge the upper level."""

    # `at` is the value at each edge, if it is neither of the two levels.

    edges: Float64Array
    levels: Float64Array
    at: Float64Array | None = None

    def __call__(self, scores: FloatArray) -> Float64Array:
        """Return the value at each score."""
        if self.edges.size <= 2:
            # Sums of the rises: the last bit of seeded results is that of earlier versions.
            sums = np.cumsum(np.append(self.levels[0], np.diff(self.levels)))
            values = np.full(scores.shape, sums[0])
            for edge, level in zip(self.edges, sums[1:], strict=True):
                values = np.where(scores >= edge, level, values)
            return values
        if self.at is not None:
            position = np.searchsorted(self.edges, scores, side="right")
            values = self.levels[position]
            tied = self.edges[position - 1] == scores
            values[tied] = self.at[position[tied] - 1]
            return values
        if self._grid is None:
            return self.levels[np.searchsorted(self.edges, scores, side="right")]
        levels, first, edges, most = self._grid
        cells = self._cells(scores, levels.size - 1)
        values = levels.take(cells)
        # Only in a cell with edges a score must be compared with them.
        unsure = np.flatnonzero(np.isnan(values))
        some = scores[unsure]
        if most > _MOST_PER_CELL:
            position = np.searchsorted(self.edges, some, side="right")
        else:
            position = first[cells[unsure]]
            for _ in range(most):
                position += some >= edges[position]
        values[unsure] = self.levels[position]
        return values

    def _cells(self, scores: FloatArray, last: int) -> IntArray:
        """Return the cell of each score, by operations that do not fall, rounded or not."""
        low = self.edges[0]
        with np.errstate(over="ignore"):
            cells: Float64Array = scores - low
            cells *= last / (self.edges[-1] - low)
        np.clip(cells, 0.0, last, out=cells)
        return cells.astype(np.int64)

    @functools.cached_property
    def _grid(self) -> tuple[Float64Array, IntArray, Float64Array, int] | None:
        """The level in each cell, NaN if edges lie in it, and how many lie below; edges; most."""
        size = min(max(_CELLS_PER_EDGE * self.edges.size, _FEWEST_CELLS), _MOST_CELLS)
        with np.errstate(all="ignore"):
            width = (self.edges[-1] - self.edges[0]) / size
            if not (np.isfinite(width) and np.isfinite(1.0 / width)):
                return None
        counts = np.bincount(self._cells(self.edges, size), minlength=size + 1)
        first = np.cumsum(counts) - counts
        # After the last edge NaN: no score is at or above it.
        edges = np.append(self.edges, np.nan)
        return np.where(counts, np.nan, self.levels[first]), first, edges, int(counts.max())


def open_ends(
    statistic: AnyStatistic, sample: ListedSample, units: tuple[float, float]
) -> OpenEnds:
    """Return what makes the ends that data without variation leave open; it keeps no trials."""
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
) -> tuple[Any, Any]:
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
    if isinstance(statistic, AUC):
        roc = sample.roc
        return (np.array([1.0, -1.0]), np.zeros(1)), (np.array([roc.auc, 1.0 - roc.auc]), one)
    # Rates at a limit need all points of the ROC, others the vertices of its hull.
    hull = sample.roc if isinstance(statistic, RateAt) else sample.hull
    steps = np.arange(hull.pmiss.size - 1.0)
    return (steps, steps), (np.diff(hull.pmiss), -np.diff(hull.pfa))


METHOD = "speaker pairs"

# Fewest speakers on whom a metric should rest, for an interval and for a test.
FEWEST_FOR_INTERVAL, FEWEST_FOR_TEST = 20, 30


def check_few_speakers(effective: Mapping[str, float], fewest: int) -> bool:
    """Warn if figures, by name, rest on few speakers; return whether one does."""
    few = {name: count for name, count in effective.items() if count < fewest}
    if few:
        names, verb = ", ".join(few), "rests" if len(few) == 1 else "rest"
        ends = [f"{min(end(few.values()), fewest - 1):.2g}" for end in (min, max)]
        warn_caller(
            f"The {names} {verb} on {' to '.join(dict.fromkeys(ends))} effective speakers.",
            FewSpeakersWarning,
            f"With fewer than {fewest} a standard error is itself uncertain: intervals may be too "
            "short, p-values too small.",
            figures=few,
            count=min(few.values()),
        )
    return bool(few)


# A speaker who makes more than this share of a variance decides it.
_MOST_OF_ONE = 0.5


def check_influences(influences: "Mapping[str, SpeakerInfluence]", fewest: int) -> bool:
    """Warn if figures, by name, rest on few speakers or on one; return whether one does."""
    effective = {name: found.effective_speakers for name, found in influences.items()}
    few = check_few_speakers(effective, fewest)
    shares = {name: found.largest_share for name, found in influences.items()}
    of_one = {name: share for name, share in shares.items() if share > _MOST_OF_ONE}
    if of_one:
        percent = " to ".join(
            dict.fromkeys(f"{100 * end(of_one.values()):.0f}" for end in (min, max))
        )
        warn_caller(
            f"One speaker makes {percent} % of the variance of the {', '.join(of_one)}.",
            FewSpeakersWarning,
            "An interval says little of speakers like this one: look at the trials they are in.",
            figures=of_one,
        )
    return few or bool(of_one)


# With fewer draws of Student's t its own law is the better one.
_FEWEST_DRAWS = 100

# Quantiles of drawn t are limited to this multiple of the quantile of Student's t.
_LARGEST_T = 1.5


@attrs.frozen(eq=False)
class SpeakerInfluence:
    """The influence of speakers on a metric of one system, or on a difference of two."""

    # `estimate` is the metric as a loss, see `Losses`, and `scale` the larger one if it is a
    # difference; `unseen` is the greatest mean loss of each class in which no trial lost anything,
    # `certain` that of each class in which all did.

    pairs: SpeakerPairs
    tar: GroupSums
    non: GroupSums
    estimate: float
    scale: float
    unseen: Float64Array
    certain: Float64Array
    bounds: tuple[float, float]
    is_area: bool
    kept: KeptRate | None = None
    jackknife: "Jackknife | None" = None
    # The influences on the rate that is read, and on the one that is kept, at the threshold.
    of_rates: "tuple[SpeakerInfluence, SpeakerInfluence] | None" = None

    @classmethod
    def of(cls, losses: Losses, sample: ListedSample) -> Self:
        """Add up the losses of a metric."""
        pairs = sample.pairs
        tar, non = pairs.sums(losses.of(0, sample), losses.of(1, sample), losses.part)
        means = np.array([tar.total.sum(), non.total.sum()])
        most = np.array(losses.most)
        unseen, certain = (
            np.where(np.abs(means - share * most) <= ROUNDING * most, most, 0.0)
            for share in (0.0, losses.part)
        )
        value, is_area = losses.loss, losses.part < 1.0
        ends = unseen, certain, losses.bounds
        of_rates, kept = None, losses.kept
        if kept is not None:
            found = []
            for miss, alarm in ((1.0, 0.0), (0.0, 1.0)):
                rate = FixedCost(kept.threshold, miss, alarm).losses(kept.rates[int(alarm)])
                found.append(cls.of(rate, sample))
            of_rates = (found[0], found[1]) if kept.is_miss else (found[1], found[0])
        numbers = value, abs(value), *ends, is_area, kept
        return cls(pairs.summary, tar, non, *numbers, of_rates=of_rates)

    @classmethod
    def on(cls, statistic: object, sample: ListedSample, name: str = "statistic") -> Self:
        """Return the influence on a metric; on minimum Cllr by the jackknife."""
        found = cls.of(losses_of(statistic, sample, name), sample)
        if not isinstance(statistic, MinCllr):
            return found
        # Its pools are fitted to the scores: held fixed, they tell too little of how it varies.
        rates = sample.hull.eer * sample.n_tar, sample.hull.eer * sample.n_non
        unseen = found.unseen
        if min(rates) < _FEW_FOR_POOLS:
            unseen = np.array([found.bounds[1], 0.0])
        return attrs.evolve(found, jackknife=Jackknife.of(statistic, sample), unseen=unseen)

    def minus(self, other: "SpeakerInfluence") -> "SpeakerInfluence":
        """Return the influence on the difference to another system on the same trials."""
        tar, non = (
            GroupSums(*(a - b for a, b in zip(mine, its, strict=True)))
            for mine, its in ((self.tar, other.tar), (self.non, other.non))
        )
        scale, difference = max(self.scale, other.scale), self.estimate - other.estimate
        if abs(difference) <= ROUNDING * scale:
            difference = 0.0
        width, nothing = self.bounds[1] - other.bounds[0], np.zeros(2)
        return attrs.evolve(
            self,
            tar=tar,
            non=non,
            estimate=difference,
            scale=scale,
            unseen=nothing,
            certain=nothing,
            bounds=(-width, width),
            kept=None,
            of_rates=None,
            jackknife=self.jackknife and other.jackknife and self.jackknife.minus(other.jackknife),
        )

    def priced(self, miss: float, alarm: float, estimate: float) -> "SpeakerInfluence":
        """Return the influence if losses of targets and of non-targets cost more or less."""
        prices = np.array((miss, alarm))
        return attrs.evolve(
            self,
            tar=GroupSums(*(miss * values for values in self.tar)),
            non=GroupSums(*(alarm * values for values in self.non)),
            estimate=estimate,
            scale=estimate,
            unseen=prices * self.unseen,
            certain=prices * self.certain,
            bounds=(0.0, miss + alarm),
        )

    @classmethod
    def mean_of(cls, systems: "Sequence[SpeakerInfluence]") -> "SpeakerInfluence":
        """Return the influence on the mean of a metric over systems on the same trials."""
        whole = systems[0]
        jackknives = [each.jackknife for each in systems if each.jackknife is not None]
        jackknife = None
        if jackknives:
            deviations = np.mean([each.deviations for each in jackknives], axis=0)
            jackknife = Jackknife(deviations, math.fsum(j.correction for j in jackknives))
            jackknife = jackknife._replace(correction=jackknife.correction / len(jackknives))
        tar, non = (
            GroupSums(*(np.mean(values, axis=0) for values in zip(*sums, strict=True)))
            for sums in ([each.tar for each in systems], [each.non for each in systems])
        )
        mean = math.fsum(each.estimate for each in systems) / len(systems)
        scale = max(each.scale for each in systems)
        nothing = np.zeros(2)
        return attrs.evolve(
            whole,
            tar=tar,
            non=non,
            estimate=mean,
            scale=scale,
            unseen=nothing,
            certain=nothing,
            kept=None,
            of_rates=None,
            jackknife=jackknife,
        )

    def multiplied(self, factor: float) -> "SpeakerInfluence":
        """Return the same with all influences, and the jackknife's, times a factor."""
        of_rates = None
        if self.of_rates is not None:
            own, other = (each.multiplied(factor) for each in self.of_rates)
            of_rates = own, other
        return attrs.evolve(
            self,
            tar=GroupSums(*(factor * values for values in self.tar)),
            non=GroupSums(*(factor * values for values in self.non)),
            jackknife=self.jackknife
            and Jackknife(factor * self.jackknife.deviations, self.jackknife.correction),
            of_rates=of_rates,
        )

    @property
    def influences(self) -> tuple[Float64Array, Float64Array]:
        """What each speaker's targets, and non-targets, do to the metric, by the jackknife."""
        of_tar, of_non = self.pairs.leverages
        tar, non = self.tar.residual, self.pairs.of_speakers(self.non.residual)
        if self.pairs.by_stratum is not None:
            tar, non = map(self.pairs.by_stratum.centred, (tar, non))
        return tar * of_tar, non * of_non

    @property
    def largest_share(self) -> float:
        """The share of the speaker with most of the variance in the sum of squared influences."""
        squares = np.add(*self.influences) ** 2
        total = float(squares.sum())
        return float(squares.max()) / total if total > 0 else 0.0

    @property
    def degrees_of_variance(self) -> float:
        """Degrees of a chi-square law as uncertain as the variance, at least 2."""
        squares = np.add(*self.influences) ** 2
        fourth = float(squares @ squares)
        return max(float(squares.sum()) ** 2 / fourth - 1.0, 2.0) if fourth > 0 else 2.0

    @functools.cached_property
    def covariance(self) -> Float64Array:
        r"""Covariance of the two parts of the metric, of targets and of non-targets: (2, 2).

        With the jackknife's residuals :math:`u_k` of the targets of speaker k, :math:`s_{kj}` of
        the pairs of speakers and :math:`v_k = \sum_j s_{kj}`,

        .. math::

            V_{tar} = c \sum_k u_k^2, \quad
            V_{non} = c \max\Big(\sum_k v_k^2 - \sum_{k<j} s_{kj}^2, \sum_{k<j} s_{kj}^2\Big), \quad
            C = c \sum_k u_k v_k,

        with :math:`c = (K-1)/K` and :math:`C^2 \le V_{tar} V_{non}`; see `speaker_errors`. With
        strata of speakers, :math:`u_k` and :math:`v_k` are differences to the mean of the stratum.
        From :math:`s_{kj}` the pair's share of the mean of its two strata is subtracted. Each
        stratum has its own c.
        """
        pairs, (u, v) = self.pairs, self.influences
        _, of_non = pairs.leverages
        both = pairs.are_two
        leverages = of_non[pairs.first[both]] * of_non[pairs.second[both]]
        residual, correction = self.non.residual, 1.0 - 1.0 / pairs.n_speakers
        if pairs.by_stratum is not None:
            residual = pairs.by_stratum.centred_pairs(residual, pairs.pair_mass)
            # Each speaker has the correction of its stratum.
            roots, correction = np.sqrt(pairs.by_stratum.corrections), 1.0
            u, v = u * roots, v * roots
            leverages = leverages * roots[pairs.first[both]] * roots[pairs.second[both]]
        s = residual[both] * np.sqrt(leverages)
        of_pairs = float(s @ s)
        var_tar, var_non = float(u @ u), max(float(v @ v) - of_pairs, of_pairs)
        limit = math.sqrt(var_tar * var_non)
        shared = min(max(float(u @ v), -limit), limit)
        found = correction * np.array([[var_tar, shared], [shared, var_non]])
        if self.jackknife is not None and found.sum() > 0:
            # What the formula says of the two classes, with the jackknife's variance of the sum.
            found *= self.jackknife.variance / found.sum()
        return mark_read_only(found)

    @functools.cached_property
    def standard_error(self) -> float:
        """Standard error of the metric; 0 if it differs from 0 by rounding only."""
        error = math.sqrt(max(float(self.covariance.sum()), 0.0))
        return error if error > ROUNDING * self.scale else 0.0

    @functools.cached_property
    def contributions(self) -> Float64Array:
        """What each speaker contributes to the metric; of its sum."""
        return self._shares(self.non.total)

    def _shares(self, of_pairs: Float64Array) -> Float64Array:
        pairs = self.pairs
        shares = self.tar.total + 0.5 * pairs.of_speakers(of_pairs)
        if pairs.has_single:
            alone = np.where(pairs.are_two, 0.0, 0.5 * of_pairs)
            shares = shares + pairs.of_speakers(alone)
        return np.where(np.abs(shares) > ROUNDING * self.scale, shares, 0.0)

    @property
    def effective_speakers(self) -> float:
        """How many speakers who contribute alike would be as many: (sum |psi|)^2 / sum psi^2."""
        size = np.abs(self.contributions)
        squares = float(size @ size)
        return float(size.sum()) ** 2 / squares if squares > 0 else 0.0

    @property
    def null_error(self) -> float:
        """Standard error of a difference; if all speakers are alike, over flips of their signs."""
        if self.standard_error > 0 or self.estimate == 0:
            return self.standard_error
        return math.sqrt(float(self.contributions @ self.contributions))

    @property
    def least_p(self) -> float:
        """The least p-value of flips of signs: 2^(1 - K) for the K speakers who contribute."""
        return min(1.0, 2.0 ** (1 - int(np.count_nonzero(self.contributions))))

    @property
    def swaps(self) -> Float64Array:
        """What changes its sign if two systems are swapped for a speaker; of its sum."""
        return self._shares(self.non.total + self.non.residual)

    @property
    def difference(self) -> float:
        """The difference in the unit of the metric: an area is 1 minus its loss."""
        return 0.0 - self.estimate if self.is_area else self.estimate

    @functools.cached_property
    def degrees(self) -> float:
        r"""Degrees of freedom of Student's t: speakers less one, as many as their shares leave.

        Speaker k takes part in the share :math:`m_k` of the targets and :math:`n_k` of the
        non-targets, of sum one and two. With the variances of both parts of the metric,

        .. math::

            \frac{1}{\nu + 1} = \frac{V_{tar} \sum_k m_k^2 + V_{non} \sum_k n_k^2 / 4}
                                   {V_{tar} + V_{non}},

        which is :math:`1 / K` where all K speakers have as many trials; at least 1. Of strata, one
        is lost for the mean of each.
        """
        pairs = self.pairs
        variances = np.diag(self.covariance)
        if not variances.any():
            variances = np.ones(2)
        mass, reach = pairs.tar_mass, 0.5 * pairs.reach
        shares = np.array([mass @ mass, reach @ reach])
        effective = float(variances.sum() / (variances @ shares))
        means = 1 if pairs.by_stratum is None else pairs.by_stratum.sizes.size
        # Equal shares differ from 1 / K by rounding.
        if effective >= pairs.n_speakers * (1.0 - ROUNDING):
            return float(max(pairs.n_speakers - means, 1))
        return max(effective - means, 1.0)

    def interval(
        self, confidence: float, method: str, students: Float64Array | None = None
    ) -> Interval:
        """Return the confidence interval of the metric, by Student's t on the logarithmic scale."""
        # The ends are \hat\theta e^{\pm t\, SE / \hat\theta}, with the t of `degrees` or the
        # quantiles of `students`, at most half as large again. A class of trials without loss, or
        # with the greatest, adds what its number of speakers leaves open: 1 - (\alpha/2)^{1/K} of
        # the greatest.
        tail = 0.5 - 0.5 * check_fraction(confidence, "confidence")
        value, error = self.estimate, self.standard_error
        remade = functools.partial(self.interval, method=method, students=students)
        if self.of_rates is not None:
            own, other = (each.interval(confidence, method) for each in self.of_rates)
            low, high = self.kept_ends((own.low, own.high), (other.low, other.high))
            return Interval(value, low, high, error, float(confidence), method, remade)
        if self.jackknife is not None:
            # That of the value without bias, and the one at fixed pools, which few errors widen.
            plain = attrs.evolve(self, jackknife=None).interval(confidence, method)
            value = max(value + self.jackknife.correction, ROUNDING)
            half = min(student_quantiles(tail, self.degrees)[1] * error / value, 700.0)
            low = min(plain.low, value * math.exp(-half))
            high = min(max(plain.high, value * math.exp(half)), self.bounds[1])
            return attrs.evolve(plain, low=low, high=high, standard_error=error, remade=remade)
        ratio = error / value if value > 0 else 0.0
        # Of few speakers one replicate may hold hardly any errors, with a t without measure.
        limit = -_LARGEST_T * student_quantiles(tail, self.degrees)[0]
        ends = np.clip(student_quantiles(tail, self.degrees, students), -limit, limit).tolist()
        low, high = (value * math.exp(min(max(-t * ratio, -700.0), 700.0)) for t in ends[::-1])
        # What has happened to none of n speakers has at most this chance: 1 - tail^(1/n).
        chances = -np.expm1(math.log(tail) / np.maximum(self.pairs.n_by_class, 1))
        low = value - math.hypot(value - low, float(self.certain @ chances))
        high = value + math.hypot(high - value, float(self.unseen @ chances))
        if self.is_area:
            value, low, high = 1.0 - value, 1.0 - high, 1.0 - low
        low, high = max(low, self.bounds[0]), min(high, self.bounds[1])
        return Interval(value, low, high, error, float(confidence), method, remade)

    def kept_ends(
        self, own: tuple[float, float], other: tuple[float, float]
    ) -> tuple[float, float]:
        """Return the ends for a rate while another one is kept, of those of both rates."""
        assert self.kept is not None
        (var_tar, shared), (_, var_non) = self.covariance
        size = math.sqrt(var_tar * var_non)
        return self.kept.ends(own, other, shared / size if size > 0 else 0.0)

    def students(self, weights: Float64Array, *, log: bool) -> Float64Array | None:
        """Return Student's t of replicates by weights of speakers, ascending; None: of no use."""
        # The metric is taken as the sum of its losses at the optimum of the data, and copies of a
        # speaker count as speakers. Of too many speakers, or without variation, that is of no use.
        # Strata have the law of Student's t, of which their intervals were as long as they should.
        k, has_none = self.pairs.n_speakers, self.standard_error == 0
        if k > _LARGEST_TABLE or has_none or self.jackknife or self.pairs.by_stratum:
            return None
        residual, mass = self._tables(self.non.residual), self._tables(self.pairs.pair_mass)
        step = max(1, _WEIGHTS_AT_A_TIME // k)
        blocks = [weights[i : i + step] for i in range(0, len(weights), step)]
        with np.errstate(all="ignore"):
            ratios = np.concatenate([self._students(w, residual, mass, log=log) for w in blocks])
        return np.sort(ratios[np.isfinite(ratios) | np.isneginf(ratios)])

    def _tables(self, values: Float64Array) -> Float64Array:
        k = self.pairs.n_speakers + self.pairs.has_single
        table = np.zeros((k, k))
        table[self.pairs.first, self.pairs.second] = values
        return table + table.T

    def _students(
        self, w: Float64Array, residual: Float64Array, mass: Float64Array, *, log: bool
    ) -> Float64Array:
        """Return the t of one block of replicates, by products of matrices."""
        # The weight of trials of one person is that of a pair with another, which is one.
        everyone = w.astype(np.float64, copy=False)
        k = self.pairs.n_speakers
        w = everyone[:, :k]
        tar_total = w @ self.pairs.tar_mass
        w_mass, w_residual = everyone @ mass, everyone @ residual
        # Sums over pairs are half of those over the symmetric table.
        non_total = np.einsum("ij,ij->i", w_mass, everyone) / 2.0
        shift_tar = (w @ self.tar.residual) / tar_total
        shift_non = np.einsum("ij,ij->i", w_residual, everyone) / (2.0 * non_total)
        w_mass, w_residual = w_mass[:, :k], w_residual[:, :k]
        residual, mass = residual[:k, :k], mass[:k, :k]
        u = self.tar.residual - shift_tar[:, None] * self.pairs.tar_mass
        u /= np.maximum(tar_total[:, None] - self.pairs.tar_mass, tar_total[:, None] / k)
        room = np.maximum(non_total[:, None] - w_mass, non_total[:, None] / k)
        v = (w_residual - shift_non[:, None] * w_mass) / room
        # s_kj^2 with the leverages of both, in three products of (residual - shift mass)^2.
        g = w / room
        squares, cross, masses = (
            np.einsum("ij,ij->i", g @ table, g) / 2.0
            for table in (residual * residual, residual * mass, mass * mass)
        )
        of_pairs = squares - 2.0 * shift_non * cross + shift_non**2 * masses
        var_tar, var_non = (np.einsum("ij,ij,ij->i", w, x, x) for x in (u, v))
        var_non = np.maximum(var_non - of_pairs, of_pairs)
        limit = np.sqrt(var_tar * var_non)
        shared = np.clip(np.einsum("ij,ij,ij->i", w, u, v), -limit, limit)
        error = np.sqrt((1.0 - 1.0 / k) * (var_tar + 2.0 * shared + var_non))
        moved = shift_tar + shift_non
        # Squares that cancel leave the root of the rounding.
        error[error <= math.sqrt(ROUNDING) * self.scale] = np.nan
        if not log:
            return np.asarray(moved / error)
        # Each of the two sums of an area is the whole: it grows as the square of their mean.
        whole = self.estimate * (2.0 if self.is_area else 1.0)
        value = whole + moved
        ratios = np.log(value / whole) * value / error
        # Without any loss log 0 lies below all others: its t has no end.
        ratios[value <= ROUNDING * whole] = -np.inf
        return np.asarray(ratios)


class Jackknife(NamedTuple):
    r"""What a metric becomes without each speaker, or each of many groups of speakers.

    With the metric :math:`\hat\theta_{(k)}` without group k of G, and their mean
    :math:`\bar\theta`, the variance is :math:`\frac{G-1}{G} \sum (\hat\theta_{(k)} -
    \bar\theta)^2`. A bias in proportion to :math:`n^{-2/3}`, as that of an isotonic fit, is
    :math:`-\frac{3}{2} (G-1) (\hat\theta - \bar\theta)`.
    """

    deviations: Float64Array
    correction: float

    @classmethod
    def of(cls, statistic: Statistic, sample: ListedSample) -> "Jackknife":
        """Leave out the speakers of a sample."""
        plan = SpeakerPlan.of(sample, "multinomial", pigeonhole=False)
        values = statistic.speaker_sums(SpeakerTrials(sample, plan))
        assert values is not None
        k, strata = plan.persons.n_first, plan.persons.strata
        n_groups = min(k, _MOST_GROUPS)
        whole = float(np.asarray(statistic.of_sample(sample)))
        if strata is None:
            left = (np.arange(k) % n_groups != np.arange(n_groups)[:, None]).astype(np.int64)
            return cls._of_values(values(left, left), whole)
        parts: list[Jackknife] = []
        for members in (np.flatnonzero(strata == h) for h in range(strata.max() + 1)):
            # The others of its stratum count for whom is left out.
            size = max(2, members.size * n_groups // k)
            out = np.arange(members.size) % size == np.arange(size)[:, None]
            others = np.ones((size, k))
            others[:, members] = ~out * (members.size / (members.size - out.sum(axis=1)))[:, None]
            parts.append(cls._of_values(values(others, others), whole))
        # With the factor of all, the squares have that of their stratum.
        n = sum(part.deviations.size for part in parts)
        factors = [(1.0 - 1.0 / part.deviations.size) / (1.0 - 1.0 / n) for part in parts]
        scaled = [p.deviations * math.sqrt(f) for p, f in zip(parts, factors, strict=True)]
        return cls(np.concatenate(scaled), math.fsum(part.correction for part in parts))

    @classmethod
    def _of_values(cls, found: Float64Array, whole: float) -> "Jackknife":
        """Take what a metric becomes without each group of speakers, and what it is."""
        known = np.isfinite(found)
        if not known.any():
            return cls(np.zeros(found.size), 0.0)
        mean = float(found[known].mean())
        # Without the only speaker of a class there is no value.
        deviations = np.where(known, found - mean, 0.0)
        return cls(deviations, _ISOTONIC * (np.count_nonzero(known) - 1) * (whole - mean))

    def minus(self, other: "Jackknife") -> "Jackknife":
        """Return that of the difference to another system."""
        gap = self.correction - other.correction
        return Jackknife(self.deviations - other.deviations, gap)

    @property
    def variance(self) -> float:
        """The variance of the metric."""
        return float(self.deviations @ self.deviations) * (1.0 - 1.0 / self.deviations.size)


@attrs.frozen(eq=False)
class Studentised:
    """The studentised bootstrap of a metric or difference: one inversion for interval and p."""

    # `draws` are Student's t of replicates, ascending; of a difference without their signs. None
    # where there are none: then Student's t has its law.

    influence: SpeakerInfluence
    draws: Float64Array | None
    is_difference: bool
    # Of a rate while another one is kept: those of both rates.
    of_rates: "tuple[Studentised, Studentised] | None" = None

    @classmethod
    def of(
        cls, influence: SpeakerInfluence, weights: Float64Array, *, is_difference: bool = False
    ) -> Self:
        """Draw Student's t of replicates, one for each row of weights of the speakers."""
        draws = influence.students(weights, log=not is_difference)
        if draws is not None and is_difference:
            draws = np.sort(np.abs(draws))
        # Of two speakers only one replicate has trials of both classes.
        if draws is not None and (draws.size == 0 or draws[0] == draws[-1]):
            draws = None
        of_rates = None
        if influence.of_rates is not None and not is_difference:
            own, other = (cls.of(each, weights) for each in influence.of_rates)
            of_rates = own, other
        return cls(influence, draws, is_difference, of_rates)

    def minus(self, other: "Studentised") -> "Studentised":
        """Return that of the difference, by the law of Student's t."""
        return Studentised(self.influence.minus(other.influence), None, is_difference=True)

    @property
    def null_error(self) -> float:
        """Standard error of a difference, not 0 unless the difference is."""
        return self.influence.null_error

    def ends(self, confidence: float) -> tuple[float, float]:
        """Return the ends of the interval: what a test would not reject."""
        influence = self.influence
        if self.of_rates is not None:
            own, other = (each.ends(confidence) for each in self.of_rates)
            return influence.kept_ends(own, other)
        if not self.is_difference:
            interval = influence.interval(confidence, METHOD, self.draws)
            return interval.low, interval.high
        tail = 1.0 - check_fraction(confidence, "confidence")
        draws, rank = self.draws, None
        if draws is not None and draws.size >= _FEWEST_DRAWS:
            rank = int(tail * (draws.size + 1) * (1.0 + ROUNDING))
            # The p-value of this rank must be below, which of 1 - 0.9 it may not be.
            rank -= rank / (draws.size + 1) >= tail
        if draws is not None and rank:
            quantile = float(draws[-rank])
        else:
            quantile = student_quantiles(0.5 * tail, influence.degrees)[1]
        half, value = quantile * influence.null_error, influence.difference
        low, high = value - half, value + half
        # Of so few speakers, or draws, no p-value is as small.
        if influence.least_p > tail or rank == 0:
            low, high = min(low, 0.0), max(high, 0.0)
        return low, high

    def p_value(self, alternative: Alternative) -> float:
        """Return the p-value of a difference; a one-sided one has the same law on both sides."""
        influence = self.influence
        value, error = influence.difference, influence.null_error
        if value == 0:
            return 1.0 if alternative == "two-sided" else 0.5
        z = abs(value) / error
        if self.draws is None or self.draws.size < _FEWEST_DRAWS:
            both = float(normal_p_value(z, "two-sided", influence.degrees))
        else:
            n_beyond = self.draws.size - int(np.searchsorted(self.draws, z, side="left"))
            both = (1 + n_beyond) / (1 + self.draws.size)
        both = max(both, influence.least_p)
        if alternative == "two-sided":
            return both
        return 0.5 * both if (alternative == "less") == (value < 0) else 1.0 - 0.5 * both


def influences_of(
    systems: Sequence[tuple[object, ListedSample]], plan: object
) -> list[SpeakerInfluence | None] | None:
    """Return the influence of drawn speakers on statistics, None without a formula."""
    # In a pigeonhole bootstrap the two sides are different persons.
    if not isinstance(plan, SpeakerPlan) or plan.persons.n_second is not None:
        return None
    found = [
        SpeakerInfluence.on(statistic, sample)
        if isinstance(statistic, LINEAR) and not statistic.shape
        else None
        for statistic, sample in systems
    ]
    return found if any(found) else None


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


class SpeakersNeeded(int):
    r"""A number of speakers to record, with the uncertainty that it takes from a pilot.

    It is a whole number, the upper end of an interval by the chi-square law of a variance, with
    :math:`(\sum_k \psi_k^2)^2 / \sum_k \psi_k^4 - 1` degrees for influences :math:`\psi_k`: few
    speakers make most of it. In simulations with normal effects of speakers nine in ten upper ends
    of 90 % intervals sufficed, with heavy tails as few as four in ten.

    Parameters
    ----------
    high : int
        Upper end of the interval.
    estimate, low : int
        What the pilot says, and the lower end.
    n_trials : int
        Number of trials if each speaker has as many models and segments as in the pilot, and all
        meet: targets in proportion to the speakers, non-targets to their square.
    confidence : float
        Of the interval.
    """

    estimate: int
    low: int
    n_trials: int
    confidence: float

    def __new__(
        cls, high: int, estimate: int, low: int, n_trials: int, confidence: float
    ) -> "SpeakersNeeded":
        """Make the number and attach the others."""
        number = super().__new__(cls, high)
        number.estimate, number.low = estimate, low
        number.n_trials, number.confidence = n_trials, confidence
        return number

    def __getnewargs__(self) -> tuple[int, int, int, int, float]:  # type: ignore[override]
        """Keep the others when pickled or copied."""
        return int(self), self.estimate, self.low, self.n_trials, self.confidence

    def __repr__(self) -> str:
        """Show the number, and what it was made of."""
        percent = f"{100 * self.confidence:g} % interval {self.low} to {int(self)}"
        return f"{int(self)} speakers (estimate {self.estimate}, {percent}; {self.n_trials} trials)"


def speakers_for(ratio: float, pilot: SpeakerInfluence, confidence: float) -> SpeakersNeeded:
    """Return how many speakers leave a variance `ratio` times smaller than that of a pilot."""
    pairs, k = pilot.pairs, pilot.pairs.n_speakers
    if not ratio > 0:
        hint = "Nothing varies among its speakers, so it does not tell how many are needed."
        raise invalid("pilot", "have a standard error above 0", "0", hint)
    tail = 0.5 - 0.5 * check_fraction(confidence, "confidence")
    # nu s^2 / sigma^2 is about chi-square of nu degrees, so sigma^2 has this interval.
    degrees = pilot.degrees_of_variance
    factors = degrees / special.chdtri(degrees, np.array([tail, 1.0 - tail]))
    low, estimate, high = (math.ceil(k * ratio * f) for f in (factors[0], 1.0, factors[1]))
    n_tar, n_non = pairs.n_trials
    n_trials = math.ceil(n_tar * high / k) + math.ceil(n_non * (high / k) ** 2)
    return SpeakersNeeded(high, estimate, low, n_trials, confidence)
