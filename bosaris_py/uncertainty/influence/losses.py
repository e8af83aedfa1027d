"""Metrics as sums of a loss of each trial: exact for costs, to first order for minima."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Self, TypeGuard

import attrs
import numpy as np

from bosaris_py._arrays import Float64Array, FloatArray, IntArray
from bosaris_py._validation import describe, invalid
from bosaris_py.numerics.roc import ROC
from bosaris_py.numerics.rocch import ROCCH
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.speaker_pairs import ROUNDING
from bosaris_py.uncertainty.decisions import ThresholdCost, as_threshold, prices_of, rejected
from bosaris_py.uncertainty.statistics.class_means import (
    DCF,
    FMR,
    FNMR,
    ActDCF,
    Cllr,
    LossStatistic,
    MeanActDCF,
    TwiceCountedDCF,
    bits_of,
)
from bosaris_py.uncertainty.statistics.roc_functions import (
    AUC,
    EER,
    FMRAt,
    FNMRAt,
    MeanMinDCF,
    MinCllr,
    MinDCF,
    RateAt,
    SteppyEER,
)
from bosaris_py.uncertainty.statistics.statistic import Statistic, WhichClass

# Scores whose losses are made together: they stay in the cache.
_SCORES_AT_A_TIME = 2**14


# Cells of a grid for each edge of a step function, and at least and at most so many in all.
_CELLS_PER_EDGE, _FEWEST_CELLS, _MOST_CELLS = 8, 2**12, 2**18


# Among more edges in one cell a score is searched for.
_MOST_PER_CELL = 8


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
    *(DCF, TwiceCountedDCF, ActDCF, MinDCF, MeanActDCF, MeanMinDCF),
    *(EER, AUC, LossStatistic, MinCllr, FNMR, FMR, FNMRAt, FMRAt),
)


# Metrics without a fixed threshold; all others in `LINEAR` are costs at one.
NOT_FIXED = MinDCF, MeanMinDCF, EER, AUC, LossStatistic, MinCllr, RateAt


def has_losses(statistic: object) -> TypeGuard[Statistic]:
    """Tell whether the losses of a metric are known: not of a class that a user derives from it."""
    return type(statistic) in LINEAR or isinstance(statistic, LossStatistic)


def losses_of(statistic: object, sample: ListedSample, name: str = "statistic") -> Losses:
    """Return the losses of scores at the optimum of a metric."""
    if isinstance(statistic, (MeanActDCF, MeanMinDCF)):
        return _mean_of([losses_of(one, sample, name) for one in statistic.each])
    if isinstance(statistic, SteppyEER):
        # Hull and steps meet in large samples, so that their rates vary alike to first order.
        of_hull = losses_of(EER(), sample, name)
        value = float(statistic.of_sample(sample))
        return of_hull._replace(estimate=value, bounds=(0.0, 1.0))
    if isinstance(statistic, Cllr):
        if not math.isfinite(sample.cllr):
            raise invalid(name, "be finite on the data", f"{sample.cllr}")
        of_tar, of_non = (functools.partial(bits_of, sign, base=4.0) for sign in (-1.0, 1.0))
        return Losses(of_tar, of_non, sample.cllr, (0.0, 0.0))
    if isinstance(statistic, LossStatistic):
        of_tar, of_non = (functools.partial(statistic.loss, which) for which in (0, 1))
        return Losses(of_tar, of_non, statistic.of_sample(sample), (0.0, 0.0), statistic.bounds)
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
        return other.of_points(*self.curve)

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
