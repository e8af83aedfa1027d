"""Draws of the speakers of two sets, and the thresholds that one of them chooses in each draw.

The curves of replicates come from `speaker_curve`, where few scores are weighted. Next to the
threshold of a replicate the scores of both classes are looked at, for the gap that it lies in.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import attrs
import numpy as np

from bosaris_py._arrays import BoolArray, Float64Array, IntArray, StrArray, Weights, mark_read_only
from bosaris_py._validation import invalid
from bosaris_py.evaluation.transfer import ThresholdRule, is_nearer, midpoint
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.rocch import hull_indices
from bosaris_py.trials.sample import ListedSample, ScoredClass
from bosaris_py.trials.speakers import TrialSpeakers, refuse_same_speaker
from bosaris_py.trials.strata import TrialStrata
from bosaris_py.uncertainty import resampling, speaker_curve
from bosaris_py.uncertainty.analytic import ErrorResiduals
from bosaris_py.uncertainty.decisions import rejected
from bosaris_py.uncertainty.statistics.roc_functions import MinDCF

# Replicates whose thresholds lie next to each other, and are judged together.
_ROWS = 50


# Costs that differ by less than this share differ by rounding.
_SAME = 1.0 + 2.0**-40


# ---- The trials of a set, and who takes part in them


@attrs.frozen(eq=False)
class DrawnSet:
    """One set of trials, with the persons who are drawn."""

    sample: ListedSample
    plan: resampling.SpeakerPlan
    names: StrArray

    @classmethod
    def of(cls, sample: ListedSample, who: TrialSpeakers, *, of_segments: bool) -> "DrawnSet":
        """Take a sample with persons; of a countermeasure those of the segments."""
        resampling.refuse_repeated(sample)
        sides = []
        for part in (sample.tar, sample.non):
            assert part.persons is not None
            first, second = part.persons
            assert second is not None
            sides.append((second, second) if of_segments else (first, second))
        (tar, _), (one, other) = sides
        alone = bool(np.array_equal(one, other))
        if not alone:
            refuse_same_speaker(one, other)
        present = np.unique(np.concatenate((tar, one, other)))
        if present.size < 2:
            raise invalid("key", "have at least two speakers with trials", f"{present.size}")
        number = np.zeros(who.n_speakers, dtype=np.min_scalar_type(present.size))
        number[present] = np.arange(present.size)
        units = [mark_read_only(number[persons]) for persons in (tar, one, other)]
        plan = resampling.SpeakerPlan(
            resampling.TrialUnits(units[0], None),
            resampling.TrialUnits(units[1], None if alone else units[2]),
            resampling.PersonWeights(present.size, None),
            sample.strata,
        )
        return cls(sample.arranged(), plan, who.ids[present])

    @property
    def n_speakers(self) -> int:
        """Number of persons who take part in trials."""
        return self.names.size

    def has_trials_of(self, other: "DrawnSet") -> bool:
        """Tell whether the same persons take part in each trial."""
        mine, theirs = (
            (one.names, one.plan.tar.first, one.plan.non.first, one.plan.non.second)
            for one in (self, other)
        )
        pairs = zip(mine, theirs, strict=True)
        return all(
            a is b or (a is not None and b is not None and np.array_equal(a, b)) for a, b in pairs
        )

    def cost_error(self, threshold: float, prices: tuple[float, float]) -> float:
        r"""Return the standard error of a sum of both rates, where a trial has one person.

        By the jackknife: the root of :math:`(K-1)/K \sum_k (a u_k + b v_k)^2`, with the residuals
        :math:`u_k = (M_k - P_{miss} T_k) / (T - T_k)` of speaker k, and likewise :math:`v_k`.
        """
        (tar, non), strata = self.sample.lists, self.sample.strata
        k, influence = self.n_speakers, np.zeros(self.n_speakers)
        sides = (
            (rejected(tar, threshold), strata.tar, self.plan.tar, prices[0]),
            (~rejected(non, threshold), strata.non, self.plan.non, prices[1]),
        )
        for errors, some, units, price in sides:
            residuals = ErrorResiduals(errors, some).residuals
            mass = np.bincount(units.first, some.trial_weights(), minlength=k)
            mass = mass / mass.sum()
            sums = np.bincount(units.first, residuals, minlength=k)
            influence += price * sums / np.maximum(1.0 - mass, 1.0 / k)
        return math.sqrt((1.0 - 1.0 / k) * float(influence @ influence))

    @functools.cached_property
    def trials(self) -> speaker_curve.SpeakerTrials:
        """The trials, prepared for weights of persons."""
        return speaker_curve.SpeakerTrials(self.sample, self.plan)

    @functools.cached_property
    def mirrored(self) -> speaker_curve.SpeakerTrials:
        """The trials with targets and non-targets in each other's place, and scores negated."""
        tar, non = (
            ScoredClass(mark_read_only(-part.scores.astype(np.float64)), part.strata)
            for part in (self.sample.non, self.sample.tar)
        )
        plan = self.plan
        strata = TrialStrata(plan.strata.non, plan.strata.tar)
        swapped = attrs.evolve(plan, tar=plan.non, non=plan.tar, strata=strata)
        return speaker_curve.SpeakerTrials(ListedSample((tar, non)).arranged(), swapped)

    def opened(
        self,
        ends: tuple[float, float],
        rates: tuple[float, float],
        prices: tuple[float, float],
        confidence: float,
    ) -> tuple[float, float]:
        """Move the ends of an interval of a cost by what rates without errors leave open."""
        # What has happened to none of K speakers has at most the chance 1 - tail^(1/K).
        low, high = ends
        value = prices[0] * rates[0] + prices[1] * rates[1]
        tail = 0.5 - 0.5 * confidence
        for rate, price, units in zip(rates, prices, (self.plan.tar, self.plan.non), strict=True):
            persons = units.first if units.second is None else (units.first, units.second)
            chance = -math.expm1(math.log(tail) / np.unique(persons).size) * price
            if rate == 0.0:
                high = value + math.hypot(high - value, chance)
            elif rate == 1.0:
                low = value - math.hypot(low - value, chance)
        return max(low, 0.0), min(high, sum(prices))

    def rates(self, thresholds: Float64Array, weights: Weights) -> Float64Array:
        """Return miss and false-alarm rates at thresholds of each replicate: (n, k, 2)."""
        n, k = thresholds.shape
        found = np.full((n, k, 2), np.nan)
        order = np.argsort(thresholds[:, 0], kind="stable")
        order = order[~np.isnan(thresholds[order]).any(axis=1)]
        for begin in range(0, order.size, _ROWS):
            rows = order[begin : begin + _ROWS]
            limits = thresholds[rows].ravel()
            own = np.arange(limits.size).reshape(-1, k)
            combine = functools.partial(_own_columns, own)
            values = speaker_curve.SpeakerRates.of(self.trials, (limits, limits), combine)
            found[rows] = values(weights[rows], weights[rows])
        return found

    def fixed_rates(self, threshold: float, weights: Weights) -> Float64Array:
        """Return both rates at one threshold: (n, 1, 2)."""
        limit = np.array([threshold])
        values = speaker_curve.SpeakerRates.of(self.trials, (limit, limit), _both)
        return values(weights, weights)

    def minima(self, point: OperatingPoint, weights: Weights) -> Float64Array:
        """Return the least cost of each replicate."""
        found = MinDCF(point).speaker_sums(self.trials)
        return np.asarray(found(weights, weights))


def _own_columns(own: IntArray, tar: Float64Array, non: Float64Array) -> Float64Array:
    both = (np.take_along_axis(rates, own, axis=1) for rates in (tar, non))
    return np.stack(tuple(both), axis=-1)


def _both(tar: Float64Array, non: Float64Array) -> Float64Array:
    return np.stack((tar, non), axis=-1)


def draw_weights(
    dev: DrawnSet, test: DrawnSet, replications: int, seed: int
) -> tuple[IntArray, IntArray]:
    """Draw weights of the persons of both sets; who is in both has one weight."""
    names, places = np.unique(np.concatenate((dev.names, test.names)), return_inverse=True)
    of_dev, of_test = np.split(places, [dev.n_speakers])
    kind = np.zeros(names.size, dtype=np.int64)
    kind[of_dev] += 1
    kind[of_test] += 2
    groups = [np.flatnonzero(kind == number) for number in (1, 2, 3)]
    # Who is drawn alone would always have the weight 1.
    for number, group in enumerate(groups):
        if group.size == 1:
            largest = max(range(3), key=lambda i: groups[i].size)
            groups[largest] = np.append(groups[largest], group)
            groups[number] = group[:0]
    weights = np.ones((replications, names.size), dtype=np.int64)
    for group, rng in zip(groups, np.random.default_rng(seed).spawn(3), strict=True):
        if group.size:
            law = resampling.PersonWeights(group.size, None)
            weights[:, group] = law.draw(replications, rng)[0]
    return weights[:, of_dev], weights[:, of_test]


# ---- The thresholds of replicates


@attrs.frozen(eq=False)
class _PooledTrials:
    """The scores of both classes in ascending order, with the persons of each trial."""

    scores: Float64Array
    first: IntArray
    second: IntArray
    # The condition of each non-target, -1 of targets.
    condition: IntArray

    @classmethod
    def of(cls, drawn: DrawnSet) -> "_PooledTrials":
        """Sort the trials of a set."""
        lists, units, strata = drawn.sample.lists, drawn.plan, drawn.sample.strata.non
        scores = np.concatenate([part.astype(np.float64) for part in lists])
        first = np.concatenate((units.tar.first, units.non.first)).astype(np.int64)
        other = units.non.first if units.non.second is None else units.non.second
        second = np.concatenate((units.tar.first, other)).astype(np.int64)
        labels = np.zeros(lists[1].size, np.int64) if strata.labels is None else strata.labels
        condition = np.concatenate((np.full(lists[0].size, -1), labels))
        order = np.argsort(scores, kind="stable")
        return cls(scores[order], first[order], second[order], condition[order])

    def threshold(self, at: float, weights: IntArray) -> float:
        """Return the midpoint of the gap that a threshold lies in, of the trials that count."""
        place = int(np.searchsorted(self.scores, at, side="left"))
        below = self._nearest(weights, place - 1, -1)
        above = self._nearest(weights, place, 1)
        if below is None:
            return -math.inf
        if above is None:
            return math.inf
        # A score of -inf is rejected by all other thresholds.
        return above if below == -math.inf else midpoint(below, above)

    def _nearest(self, weights: IntArray, place: int, step: int) -> float | None:
        size = 16
        while 0 <= place < self.scores.size:
            end = place + step * size
            some = slice(place, None if end < 0 else end, step)
            counts = np.flatnonzero((weights[self.first[some]] * weights[self.second[some]]) > 0)
            if counts.size:
                return float(self.scores[some][counts[0]])
            place, size = end, 4 * size
        return None

    def nearest_rates(
        self, crossing: Float64Array, weights: IntArray, factors: Float64Array
    ) -> float:
        """Return where miss and false-alarm rate are nearest, given the targets on both sides."""
        # The last target score at which the miss rate is lower, both rates there; the next target
        # score, both rates there. In between the miss rate is the latter.
        low, low_miss, low_alarm, high, miss, alarm = crossing.tolist()
        begin = int(np.searchsorted(self.scores, low, side="right"))
        end = int(np.searchsorted(self.scores, high, side="left"))
        trials = np.flatnonzero(self.condition[begin:end] >= 0) + begin
        # A threshold just above the lower target, or just above one of these non-targets.
        scores = np.append(low, self.scores[trials])
        first, second = self.first[trials], self.second[trials]
        of_persons = weights[first] * np.where(first == second, 1, weights[second])
        parts = of_persons * factors[self.condition[trials]]
        above = alarm + np.append(np.cumsum(parts[::-1])[::-1], 0.0)
        # Of equal scores the last counts.
        last = np.append(scores[1:] != scores[:-1], True)
        scores, above = scores[last], above[last]
        crossed = np.flatnonzero(miss >= above)
        place = int(crossed[0]) if crossed.size else scores.size - 1
        before = (miss, float(above[place - 1])) if place else (low_miss, low_alarm)
        if is_nearer(before, (miss, float(above[place]))):
            place -= 1
        return low if place < 0 else math.nextafter(scores[place], math.inf)


class _Chooser(NamedTuple):
    """How a rule finds thresholds on the curve of a replicate."""

    of_curve: Callable[[speaker_curve.WeightedCurve], Float64Array]
    open_cells: speaker_curve.OpenCells | None
    shape: tuple[int, ...]


def _least_costs(prices: Float64Array) -> _Chooser:
    """Return what finds the target scores at which costs are least: (k,) of prices (k, 2)."""

    def of_curve(curve: speaker_curve.WeightedCurve) -> Float64Array:
        pmiss, pfa = curve.points()
        at = np.arange(pmiss.size)
        if len(prices) > 1:
            at = hull_indices(pmiss, pfa)
        costs = prices[:, :1] * pmiss[at] + prices[:, 1:] * pfa[at]
        # Of costs that differ by rounding, that with the fewest misses.
        best = np.argmax(costs <= costs.min(axis=1, keepdims=True) * _SAME, axis=1)
        return np.asarray(np.append(curve.target_scores, np.inf)[at[best]])

    def open_cells(pmiss: Float64Array, pfa: Float64Array, starts: IntArray) -> BoolArray:
        found = np.zeros((pmiss.shape[0], starts.size), dtype=np.bool_)
        for miss, alarm in prices:
            misses, alarms = miss * pmiss, alarm * pfa
            least = (misses + alarms).min(axis=1)[:, None]
            found |= misses[:, starts] + alarms[:, starts + 1] <= least * _SAME
        return found

    return _Chooser(of_curve, open_cells, (len(prices),))


def _within(limit: float) -> _Chooser:
    """Return what finds the highest target score below which a share of the targets lies."""

    def of_curve(curve: speaker_curve.WeightedCurve) -> Float64Array:
        pmiss, _ = curve.points()
        place = int(np.searchsorted(pmiss, limit, side="right")) - 1
        return curve.target_scores[place : place + 1]

    def open_cells(pmiss: Float64Array, _: Float64Array, starts: IntArray) -> BoolArray:
        return (pmiss[:, starts] <= limit) & (pmiss[:, starts + 1] > limit)

    return _Chooser(of_curve, open_cells, (1,))


def _crossing() -> _Chooser:
    """Return what finds the two target scores between which the error-rates cross."""

    def of_curve(curve: speaker_curve.WeightedCurve) -> Float64Array:
        pmiss, pfa = curve.points()
        limits = np.append(curve.target_scores, np.inf)
        place = int(np.argmax(pmiss >= pfa))
        before = (-np.inf, 0.0, 1.0)
        if place:
            before = limits[place - 1], pmiss[place - 1], pfa[place - 1]
        return np.array([*before, limits[place], pmiss[place], pfa[place]])

    def open_cells(pmiss: Float64Array, pfa: Float64Array, starts: IntArray) -> BoolArray:
        crossed = pmiss >= pfa
        return ~crossed[:, starts] & crossed[:, starts + 1]

    return _Chooser(of_curve, open_cells, (6,))


def draw_thresholds(
    drawn: DrawnSet, rule: ThresholdRule, prices: Float64Array, weights: IntArray
) -> Float64Array:
    """Return the thresholds that replicates of a set choose: (n, k); NaN where a class is lost."""
    trials, pooled = drawn.trials, _PooledTrials.of(drawn)
    if rule.kind == "fmr":
        chooser, trials = _within(rule.limit), drawn.mirrored
    elif rule.kind == "fnmr":
        chooser = _within(rule.limit)
    else:
        chooser = _crossing() if rule.kind == "eer" else _least_costs(prices)
    curve = speaker_curve.SpeakerCurve.of(trials, *chooser, narrows=False, ties=False)
    found = curve(weights, weights)
    totals = _factors(drawn, weights) if rule.kind == "eer" else np.empty((len(found), 0))
    chosen = np.full((len(found), 1 if rule.kind == "eer" else found.shape[1]), np.nan)
    for row in np.flatnonzero(~np.isnan(found).any(axis=1)).tolist():
        at = found[row]
        if rule.kind == "fmr":
            # The lowest score that must be rejected.
            at = [math.nextafter(-value, math.inf) for value in at]
        elif rule.kind == "eer":
            at = [pooled.nearest_rates(at, weights[row], totals[row])]
        chosen[row] = [pooled.threshold(value, weights[row]) for value in at]
    return chosen


def _factors(drawn: DrawnSet, weights: IntArray) -> Float64Array:
    """Return what a non-target of each condition adds to the false-alarm rate: (n, conditions)."""
    totals = drawn.trials.totals(1, weights, weights)
    shares = drawn.sample.strata.non.shares[:, None]
    return (shares / np.where(totals > 0, totals, 1.0)).T
