r"""ROCs of weighted trials, and replicates by weights of speakers: many at a time, each exact.

Cut the sorted scores into cells. In a cell let :math:`A_{ij}` be the number of non-targets with a
model of speaker i and a segment of speaker j. Their weight in a replicate is :math:`w^T A w`, for
all replicates one product of matrices. In between no cost is below that of the corner of a cell,
(misses at the left border, false alarms at the right border). So few cells can hold the minimum of
a cost. Only their trials are weighted one by one, for those replicates that need them.

Whole weights and numbers of trials are exact in single precision up to :math:`2^{24}`. Other
weights are cut into two parts, with which products of matrices are exact in double precision. So
no sum depends on how many threads BLAS has.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import (
    AnyArray,
    BoolArray,
    Float64Array,
    FloatArray,
    IndexArray,
    IntArray,
    Weights,
    mark_read_only,
)
from bosaris_py.numerics.roc import ROC
from bosaris_py.numerics.rocch import eer_of_hull, hull_indices
from bosaris_py.trials.sample import ListedSample, ScoredClass
from bosaris_py.trials.strata import slices_of, weighted_sum
from bosaris_py.uncertainty.resampling import PersonWeights, SpeakerPlan, TrialUnits

# A table of pairs of speakers costs as much as weighting one trial for so many of its cells.
_PAIRS_PER_TRIAL = 75

# Below so many trials calls cost more than trials. Tables of so many pairs are small; larger
# ones may have half as many as there are trials.
_FEW_TRIALS, _SMALL_TABLE = 64, 2**18

# Cells that can hold the answer of a replicate, by experience; and bounds of their number.
_OPEN_CELLS, _FEWEST_CELLS, _MOST_CELLS = 9, 4, 256

# Replicates that are completed together, not a power of two, which caches do not like; all of
# them if they need so large a part of the same cells.
_ROWS, _ALIKE = 50, 0.75

# Points of curves that are held in any case, and products of weights, which stay in the cache.
_POINTS, _PRODUCTS_AT_A_TIME = 2**17, 2**17

# Rows of a triangular matrix that are multiplied together.
_STRIPE = 128

# Whole numbers up to here are exact in single precision.
_EXACT = 2.0**24

_NOWHERE = slice(0)

# Weights between edges, (n_gaps, n_replicates) for each condition.
Gaps: TypeAlias = list[Float64Array]

# From miss and false-alarm rates, (n_replicates, n_points), and the numbers of points after which
# further points are hidden, to where these can decide: (n_replicates, n_hidden).
OpenCells: TypeAlias = Callable[[Float64Array, Float64Array, IntArray], BoolArray]


# From the means of one row per replicate in each class to one value per replicate.
Combine = Callable[[Float64Array, Float64Array], float | Float64Array]

# From one row of weights per replicate, of the persons on either side, to one value per replicate.
ValuesOfSpeakers = Callable[[Weights, Weights], Float64Array]

# A number of replicates, and the generator that they are drawn from.
Block = tuple[int, np.random.Generator]

# Weights that are held at a time.
_WEIGHTS_AT_A_TIME = 2**21


class WeightedCurve(NamedTuple):
    """Weights at the k distinct target scores of the data, ascending, of one replicate."""

    # `misses` is the target weight below each and in total; `below` and `up_to` are the non-target
    # weight below each, and below or equal to each.

    target_scores: Float64Array
    misses: Weights
    below: Weights
    up_to: Weights
    non_total: float

    @property
    def tar_total(self) -> float:
        """Total target weight."""
        return self.misses[-1].item()  # type: ignore[no-any-return]

    def points(self) -> tuple[Float64Array, Float64Array]:
        """Return miss and false-alarm rate at each target score, and where all is rejected."""
        pfa = np.empty(self.misses.size)
        np.divide(self.below, -self.non_total, out=pfa[:-1])
        pfa[:-1] += 1.0
        pfa[-1] = 0.0
        return self.misses / self.tar_total, pfa

    def exact_points(self) -> tuple[Float64Array, Float64Array]:
        """Return the same points by differences of weights, exact where these are whole."""
        alarms = np.maximum(np.append(self.non_total - self.below, 0), 0)
        return self.misses / self.tar_total, alarms / self.non_total

    def vertices(self) -> tuple[Float64Array, Float64Array]:
        """Return miss and false-alarm rate at the vertices of the convex hull."""
        total = self.below.dtype.type(self.non_total)
        misses = np.concatenate((self.misses[:1] * 0, self.misses))
        alarms = np.concatenate(([total], total - self.below, [self.below.dtype.type(0)]))
        at = hull_indices(misses, alarms)
        return misses[at] / self.tar_total, alarms[at] / self.non_total

    def min_cost(self, miss_cost: float, fa_cost: float) -> float:
        """Return the least cost of all thresholds."""
        pmiss, pfa = self.points()
        pmiss *= miss_cost
        pfa *= fa_cost
        pmiss += pfa
        # Accepting everything, non-targets below all targets too, costs fa_cost.
        return float(min(pmiss.min(), fa_cost))

    def eer(self) -> float:
        """Return the equal error rate on the convex hull."""
        return eer_of_hull(*self.points())

    def auc(self) -> float:
        """Return the area under the ROC, ties counted half."""
        wins = 0.5 * (self.below + self.up_to)
        wins *= np.diff(self.misses)
        return float(wins.sum()) / (float(self.tar_total) * float(self.non_total))

    def roc(self) -> ROC:
        """Return the engine's own object, for what is asked of its convex hull."""
        between = np.empty(self.below.size + 1, dtype=self.below.dtype)
        between[0] = self.below[0]
        np.subtract(self.below[1:], self.up_to[:-1], out=between[1:-1])
        between[-1] = self.non_total - self.up_to[-1]
        return ROC(
            self.target_scores,
            mark_read_only(np.diff(self.misses)),
            mark_read_only(self.up_to - self.below),
            mark_read_only(between),
        )


def open_cells(
    pmiss: Float64Array,
    pfa: Float64Array,
    starts: IntArray,
    eers: Float64Array,
    priors: Float64Array,
) -> BoolArray:
    """Tell which cells may hold a point cheaper than the known ones: (n_curves, n_cells)."""
    # Cells begin at the points `starts`; `eers` are the least costs of the points at `priors`.
    corner_pmiss, corner_pfa = pmiss[:, starts], pfa[:, starts + 1]
    costs = corner_pfa + priors[:, None] * (corner_pmiss - corner_pfa)
    # Where a cell holds one class only, an edge is its best point.
    mixed = (pmiss[:, starts + 1] > corner_pmiss) & (pfa[:, starts] > corner_pfa)
    return np.asarray(mixed & (costs < eers[:, None]))


class _SpeakerWeights(NamedTuple):
    """Weights of the persons on either side: (n_persons, n_replicates) each."""

    first: FloatArray
    second: FloatArray

    @property
    def whole(self) -> bool:
        """Whether all are whole numbers."""
        return self.first.dtype == np.float32

    @classmethod
    def of(cls, first: Weights, second: Weights) -> "_SpeakerWeights":
        """Turn rows of weights into columns; whole weights are held in single precision."""
        dtype = np.float32 if np.issubdtype(first.dtype, np.integer) else np.float64
        columns: FloatArray = first.T.astype(dtype, order="C")
        others: FloatArray = columns if second is first else second.T.astype(dtype, order="C")
        return cls(columns, others)

    def take(self, chosen: IndexArray) -> "_SpeakerWeights":
        """Keep some replicates."""
        return _SpeakerWeights(*(side.take(chosen, axis=1) for side in self))

    def exact(self, n_trials: float) -> "_SpeakerWeights":
        """Return weights in which sums over so many trials are exact, if they are whole."""
        if not self.whole:
            return self
        greatest = float(self.first.max(initial=0)) * float(self.second.max(initial=0))
        if greatest * n_trials < _EXACT:
            return self
        return _SpeakerWeights(*(side.astype(np.float64) for side in self))


@attrs.frozen(eq=False)
class _WeightedTrials:
    """The persons of the trials of one condition of one class, in the order of scores."""

    # `edges` is the number of trials below each limit, ascending. Between edges with more than
    # `most` trials their pairs are counted. If sides are `folded` no first number is greater.
    # Weights are multiplied by `values`, if there are any.

    first: AnyArray
    second: AnyArray | None
    shape: tuple[int, int]
    folded: bool
    edges: IntArray
    most: float
    values: Float64Array | None = None

    @classmethod
    def of(cls, edges: IntArray, units: TrialUnits, persons: PersonWeights) -> "_WeightedTrials":
        """Take the persons of trials, in order, and the number of trials below each limit."""
        first, second = units.first, units.second
        shape, folded = (persons.shape[0], 1), False
        if second is not None:
            shape, folded = persons.shape, not persons.n_second
            if folded:
                first, second = np.minimum(first, second), np.maximum(first, second)
        n_pairs = math.prod(shape)
        fits = n_pairs <= max(first.size / 2, _SMALL_TABLE)
        most = max(n_pairs / _PAIRS_PER_TRIAL, _FEW_TRIALS) if fits else math.inf
        edges = mark_read_only(np.concatenate(([0], edges, [first.size])))
        return cls(first, second, shape, folded, edges, most)

    def between(self, starts: IntArray, stops: IntArray, weights: _SpeakerWeights) -> Float64Array:
        """Return the weight of the trials of each gap: (n_gaps, n_replicates)."""
        sizes = stops - starts
        sums = np.zeros((sizes.size, weights.first.shape[1]))
        many = sizes > self.most
        for gap in np.flatnonzero(many).tolist():
            sums[gap] = self._by_pairs(slice(starts[gap], stops[gap]), weights)
        gaps = np.flatnonzero(~many & (sizes > 0))
        sizes, stops = sizes[gaps], stops[gaps]
        # The trials of all these gaps in a row, some at a time.
        ends = np.cumsum(sizes)
        step = max(1, _PRODUCTS_AT_A_TIME // sums.shape[1])
        used = weights.exact(step if self.values is None else math.inf)
        for begin in range(0, int(ends[-1]) if gaps.size else 0, step):
            end = min(begin + step, int(ends[-1]))
            low, high = np.searchsorted(ends, (begin, end - 1), side="right")
            some = slice(low, high + 1)
            lengths = np.minimum(ends[some], end) - np.maximum(ends[some] - sizes[some], begin)
            trials = np.arange(begin, end) + np.repeat(stops[some] - ends[some], lengths)
            products = used.first.take(self.first[trials], axis=0)
            if self.second is not None:
                products *= used.second.take(self.second[trials], axis=0)
            if self.values is not None:
                products *= self.values[trials][:, None]
            sums[gaps[some]] += np.add.reduceat(products, np.cumsum(lengths) - lengths, axis=0)
        return sums

    def _by_pairs(self, trials: slice, weights: _SpeakerWeights) -> Float64Array:
        """Count the trials of each pair, and weight the pairs."""
        n_pairs, n_trials = math.prod(self.shape), trials.stop - trials.start
        step = max(4 * n_pairs, _PRODUCTS_AT_A_TIME)
        counts = np.zeros(1, dtype=np.int64)
        for begin in range(trials.start, trials.stop, step):
            some = slice(begin, min(begin + step, trials.stop))
            numbers = self.first[some].astype(np.int64)
            if self.second is not None:
                numbers *= self.shape[1]
                numbers += self.second[some]
            values = None if self.values is None else self.values[some]
            counts = counts + np.bincount(numbers, values, minlength=n_pairs)
        counts = counts.reshape(self.shape)
        # What a sum in single precision must hold: all trials, or those of one first speaker.
        most = n_trials if self.second is None else counts.sum(axis=1).max()
        used = weights.exact(most if self.values is None else math.inf)
        table: FloatArray = counts.astype(used.first.dtype)
        if self.second is None:
            return np.asarray(self._product(table.T, used.first)[0], np.float64)
        products = self._product(table, used.second)
        products *= used.first
        return np.asarray(products.sum(axis=0, dtype=np.float64), dtype=np.float64)

    def _product(self, table: FloatArray, weights: FloatArray) -> FloatArray:
        if self.values is not None:
            # Not by BLAS, whose sums may depend on how many threads it has.
            return np.asarray(np.einsum("ij,jk->ik", table, weights))
        return _exact_product(table, weights, upper=self.folded and table.shape[0] > 1)


def _exact_product(counts: FloatArray, weights: FloatArray, *, upper: bool) -> FloatArray:
    """Multiply matrices such that the last bit does not depend on the order of summation."""
    if weights.dtype == np.float32:
        return _product(counts, weights, upper=upper)
    high, low = _cut(weights, 22)
    low, _ = _cut(low, 52)
    return _product(counts, high, upper=upper) + _product(counts, low, upper=upper)


def _product(counts: FloatArray, weights: FloatArray, *, upper: bool) -> FloatArray:
    """Multiply matrices; of `upper` counts there are none left of the diagonal."""
    step = _STRIPE if upper else counts.shape[0]
    starts = range(0, counts.shape[0], step)
    return np.concatenate([counts[i : i + step, i:] @ weights[i:] for i in starts])


def _cut(weights: FloatArray, bits: int) -> tuple[FloatArray, FloatArray]:
    """Round to so many binary places; return the rest, too."""
    rounded = np.ldexp(np.rint(np.ldexp(weights, bits)), -bits)
    return rounded, weights - rounded


@attrs.frozen(eq=False)
class _WeightedClass:
    """The trials of one class by condition, and the weight of each condition."""

    parts: tuple[_WeightedTrials, ...]
    shares: Float64Array

    @property
    def n_edges(self) -> int:
        """Number of edges, both ends included."""
        return self.parts[0].edges.size

    def between(
        self,
        edges: IntArray,
        weights: _SpeakerWeights,
        places: IntArray | slice = _NOWHERE,
        known: Gaps | None = None,
    ) -> Gaps:
        """Return the weight in gaps between some edges, condition by condition."""
        # Of the gaps at `places` it is known.
        gaps, fresh = [], np.ones(edges.size - 1, dtype=np.bool_)
        fresh[places] = False
        for number, part in enumerate(self.parts):
            at = part.edges[edges]
            weight = np.empty((fresh.size, weights.first.shape[1]))
            weight[fresh] = part.between(at[:-1][fresh], at[1:][fresh], weights)
            if known is not None:
                weight[places] = known[number]
            gaps.append(weight)
        return gaps

    def below(self, gaps: Gaps, *, whole: bool = False) -> tuple[Weights, BoolArray]:
        """Add up gaps: (n_replicates, n_gaps); and tell which replicates have all conditions."""
        # Each condition has its share of one; of a single one weights stay as they are.
        below = [part.T.copy(order="C") for part in gaps]
        for part in below:
            np.cumsum(part, axis=1, out=part)
        totals = [part[:, -1:].copy() for part in below]
        complete = np.all(totals, axis=0)[:, 0]
        if len(below) == 1:
            return below[0].astype(np.int64) if whole else below[0], complete
        for part, total in zip(below, totals, strict=True):
            part /= np.where(total, total, 1.0)
        return np.asarray(weighted_sum(below, self.shares)), complete


@attrs.frozen(eq=False)
class SpeakerTrials:
    """The trials of a sample and the persons of a plan, brought together once for all metrics."""

    sample: ListedSample
    plan: SpeakerPlan

    def between(
        self, which: Literal[0, 1], limits: AnyArray | None, *, ties: bool = False
    ) -> "_WeightedClass":
        """Return a class with its edges at limits, or in the order of the trials without any.

        With `ties`, the number of trials up to each limit stands behind the number below it.
        """
        of_class, units = self._sides[which]
        strata = of_class.strata
        if limits is None:
            members = [units] if strata.labels is None else map(units.reordered, strata.members())
            edges = [np.empty(0, dtype=np.int64)] * strata.n_sets
        else:
            places = slices_of(strata.sizes.tolist())
            members = [self._ordered[which].part(place) for place in places]
            edges = [part.count_below(limits) for part in of_class.sorted.parts]
            if ties:
                up_to = [part.count_up_to(limits) for part in of_class.sorted.parts]
                edges = [np.column_stack(both).ravel() for both in zip(edges, up_to, strict=True)]
        parts = (
            _WeightedTrials.of(edge, part, self.plan.persons)
            for edge, part in zip(edges, members, strict=True)
        )
        return _WeightedClass(tuple(parts), strata.shares)

    @property
    def _sides(self) -> tuple[tuple[ScoredClass, TrialUnits], tuple[ScoredClass, TrialUnits]]:
        return (self.sample.tar, self.plan.tar), (self.sample.non, self.plan.non)

    @functools.cached_property
    def _ordered(self) -> tuple[TrialUnits, TrialUnits]:
        """The persons of the trials in the order of the scores."""
        tar, non = (units.reordered(of_class.order) for of_class, units in self._sides)
        return tar, non

    @functools.cached_property
    def counts(self) -> tuple["_WeightedClass", "_WeightedClass"]:
        """Both classes, in the order of the trials."""
        return self.between(0, None), self.between(1, None)

    def totals(self, which: Literal[0, 1], first: Weights, second: Weights) -> Float64Array:
        """Return the weight of each condition of a class in replicates: (n_conditions, n)."""
        weights = _SpeakerWeights.of(first, second)
        return np.concatenate(self.counts[which].between(np.arange(2), weights))

    @functools.cached_property
    def limits(self) -> AnyArray:
        """The distinct target scores."""
        parts = [part.distinct()[0] for part in self.sample.tar.sorted.parts]
        return parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))

    @functools.cached_property
    def at_targets(self) -> tuple["_WeightedClass", "_WeightedClass"]:
        """Both classes with edges at the target scores."""
        return self.between(0, self.limits), self.between(1, self.limits)

    @functools.cached_property
    def tied(self) -> "_WeightedClass":
        """The non-targets with edges below and above each target score."""
        return self.between(1, self.limits, ties=True)


@attrs.frozen(eq=False)
class SpeakerMeans:
    """A function `combine` of the means of a value of each trial over both classes."""

    counts: tuple[_WeightedClass, ...]
    sums: tuple[_WeightedClass, ...]
    combine: Combine

    @classmethod
    def of(
        cls, trials: SpeakerTrials, values: tuple[Float64Array, Float64Array], combine: Combine
    ) -> "SpeakerMeans":
        """Put the values of each condition beside its trials."""
        sums = []
        for side, strata, some in zip(trials.counts, trials.plan.strata, values, strict=True):
            pairs = zip(side.parts, strata.split(some), strict=True)
            parts = tuple(attrs.evolve(part, values=given) for part, given in pairs)
            sums.append(attrs.evolve(side, parts=parts))
        return cls(trials.counts, (sums[0], sums[1]), combine)

    def __call__(self, first: Weights, second: Weights) -> Float64Array:
        """Return one value for each row of weights; NaN where a condition lost all its weight."""
        weights, ends, means = _SpeakerWeights.of(first, second), np.arange(2), []
        for counts, sums in zip(self.counts, self.sums, strict=True):
            totals = zip(sums.between(ends, weights), counts.between(ends, weights), strict=True)
            with np.errstate(invalid="ignore"):
                ratios = [total[0] / n[0] for total, n in totals]
            means.append(np.asarray(weighted_sum(ratios, counts.shares))[:, None])
        return np.asarray(self.combine(*means), dtype=np.float64)


@attrs.frozen(eq=False)
class SpeakerRates:
    """A function `combine` of the error-rates at fixed thresholds."""

    # `places` are the positions of the thresholds of each class in ascending order.

    tar: _WeightedClass
    non: _WeightedClass
    places: tuple[IndexArray, IndexArray]
    combine: Combine

    @classmethod
    def of(
        cls, trials: SpeakerTrials, limits: tuple[Float64Array, Float64Array], combine: Combine
    ) -> "SpeakerRates":
        """Find the thresholds among the scores of both classes."""
        (tar_limits, tar_places), (non_limits, non_places) = (
            np.unique(values, return_inverse=True) for values in limits
        )
        tar, non = trials.between(0, tar_limits), trials.between(1, non_limits)
        return cls(tar, non, (tar_places, non_places), combine)

    def __call__(self, first: Weights, second: Weights) -> Float64Array:
        """Return one value for each row of weights; NaN where a condition lost all its weight."""
        weights = _SpeakerWeights.of(first, second)
        rates, kept = [], np.ones(first.shape[0], dtype=np.bool_)
        for side, places in zip((self.tar, self.non), self.places, strict=True):
            below, complete = side.below(side.between(np.arange(side.n_edges), weights))
            kept &= complete
            total = np.where(complete, below[:, -1], 1.0)[:, None]
            errors = below[:, places]
            rates.append((total - errors if side is self.non else errors) / total)
        values = np.asarray(self.combine(*rates), dtype=np.float64)
        values[~kept] = np.nan
        return values


@attrs.frozen(eq=False)
class SpeakerCurve:
    """A function `of_curve` of the ROC, whose value has `shape`."""

    # Points of the ROC are the distinct target scores, `limits`, and one more where all is
    # rejected; `cells` are the points at borders of cells. From the miss and false-alarm rates
    # there, (n_replicates, n_borders), `open_cells` tells which cells can hold points that decide;
    # None if all points do. With `ties` non-targets equal to a target are told from those above.

    tar: _WeightedClass
    non: _WeightedClass
    limits: Float64Array
    cells: IntArray
    most_points: int
    of_curve: Callable[[WeightedCurve], npt.ArrayLike]
    open_cells: OpenCells | None
    narrows: bool
    ties: bool
    shape: tuple[int, ...]

    @classmethod
    def of(
        cls,
        trials: SpeakerTrials,
        of_curve: Callable[[WeightedCurve], npt.ArrayLike],
        open_cells: OpenCells | None,
        shape: tuple[int, ...],
        *,
        narrows: bool,
        ties: bool,
    ) -> "SpeakerCurve":
        """Cut the scores into cells of equal costs."""
        limits, (tar, non) = trials.limits, trials.at_targets
        if ties:
            non = trials.tied
        cells = np.array([0, limits.size])
        if open_cells is not None:
            # What it takes to complete a cell, up to each point; and to know one more border.
            costs = [np.minimum(np.diff(part.edges), part.most) for part in tar.parts + non.parts]
            cost = np.sum(costs, axis=0)[:-1].cumsum()
            border = sum(part.most for part in non.parts)
            n_cells = int(min(math.sqrt(_OPEN_CELLS * cost[-1] / border), _MOST_CELLS))
            if n_cells >= _FEWEST_CELLS:
                inner = np.searchsorted(cost, np.linspace(0, cost[-1], n_cells + 1)[1:-1])
                # What nearly every replicate needs is counted for all of them together.
                crowds = [np.diff(part.edges[1:]) > part.most for part in non.parts if shape]
                after = np.flatnonzero(np.any(crowds, axis=0))
                cells = np.unique(np.concatenate((cells, inner, after, after + 1)))
        n_trials = sum(scores.size for scores in trials.sample.lists)
        most_points = max(n_trials // 4, _POINTS)
        if shape:  # replicates that are curves take memory, too
            most_points //= 2
        arrays = mark_read_only(limits.astype(np.float64)), mark_read_only(cells)
        return cls(tar, non, *arrays, most_points, of_curve, open_cells, narrows, ties, shape)

    def __call__(self, first: Weights, second: Weights) -> Float64Array:
        """Return one value for each row of weights; NaN where a condition lost all its weight."""
        weights, n_replicates = _SpeakerWeights.of(first, second), first.shape[0]
        values = np.full((n_replicates, *self.shape), np.nan)
        needed = np.ones((n_replicates, self.cells.size - 1), dtype=np.bool_)
        known = None
        if self.open_cells is not None:
            edges = np.append(0, self.cells + 1)
            known = self.tar.between(edges, weights), self.non.between(edges, weights)
            below = self.tar.below(known[0])[0], self.non.below(known[1])[0]
            needed[:] = False
            needed[:, np.diff(self.cells) > 1] = self._opened(*below, self.cells)
        # In this order neighbours need about the same cells.
        middles = needed @ np.arange(needed.shape[1]) / np.maximum(needed.sum(axis=1), 1)
        order = np.argsort(middles, kind="stable")
        alike = needed.mean() > _ALIKE * needed.any(axis=0).mean()
        n_rows = n_replicates if alike else _ROWS
        for begin in range(0, n_replicates, n_rows):
            rows = order[begin : begin + n_rows]
            points = self._points(np.any(needed[rows], axis=0))
            step = max(1, self.most_points // points.size)
            for start in range(0, rows.size, step):
                some = rows[start : start + step]
                self._complete(values, some, points, weights.take(some), known)
        return values

    def _opened(self, misses: Weights, rejected: Weights, points: IntArray) -> BoolArray:
        """Tell which hidden points can decide, given the weights below the others."""
        assert self.open_cells is not None
        pmiss, pfa = (part / np.where(part[:, -1:], part[:, -1:], 1) for part in (misses, rejected))
        np.subtract(1.0, pfa, out=pfa)
        return self.open_cells(pmiss, pfa, np.flatnonzero(np.diff(points) > 1))

    def _points(self, needed: BoolArray) -> IntArray:
        """Return the points at all borders, and inside the cells that are needed."""
        inside = np.repeat(needed, np.diff(self.cells))
        inside[self.cells[:-1]] = True
        return np.append(np.flatnonzero(inside), self.cells[-1])

    def _complete(
        self,
        values: Float64Array,
        rows: IndexArray,
        points: IntArray,
        weights: _SpeakerWeights,
        known: tuple[Gaps, Gaps] | None,
    ) -> None:
        """Make the values of some replicates, unless they lost a condition."""
        # Between neighbouring borders the weight is known.
        places = np.searchsorted(points, self.cells)
        alone = np.diff(places, prepend=-1) == 1
        sums = []
        for which, side in enumerate((self.tar, self.non)):
            if known is None:
                gaps = side.between(np.arange(side.n_edges), weights)
            else:
                borders = [part[alone][:, rows] for part in known[which]]
                gaps = side.between(np.append(0, points + 1), weights, places[alone], borders)
            sums.append(side.below(gaps, whole=weights.whole))
            del gaps
        (misses, kept), (below, complete) = sums
        kept &= complete
        if self.narrows:
            starts = np.flatnonzero(np.diff(points) > 1)
            opened = self._opened(misses, below, points) & kept[:, None]
            more = np.flatnonzero(opened.any(axis=1))
            if more.size:
                needed = np.diff(places) > 1
                needed[np.searchsorted(self.cells, points[starts[opened.any(axis=0)]])] = True
                some = self._points(needed), weights.take(more)
                self._complete(values, rows[more], *some, known)
                kept[more] = False
        totals, up_to = below[:, -1].tolist(), below[:, :-1]
        below, up_to = (below[:, :-1:2], below[:, 1::2]) if self.ties else (up_to, up_to)
        limits = self.limits[points[:-1]]
        for i in np.flatnonzero(kept).tolist():
            curve = WeightedCurve(limits, misses[i], below[i], up_to[i], totals[i])
            values[rows[i]] = self.of_curve(curve)


@attrs.frozen(eq=False)
class SpeakerSampler:
    """Statistics of one system, or of several on the same trials, under weights of speakers."""

    # Each of `systems` makes one value, or array, of each row of weights; those of several stand in
    # one row. It is the number that a sum over all trials gives.

    block: ClassVar[int] = 50

    persons: PersonWeights
    systems: tuple[ValuesOfSpeakers, ...]
    # The order in which the values of all systems are returned; None keeps it.
    columns: IndexArray | None = None

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates along the first axis."""
        return self.draw_blocks([(n_replicates, rng)])

    def draw_blocks(self, blocks: Sequence[Block]) -> Float64Array:
        """Draw several blocks one after the other, and make the values of all at once."""
        most = max(1, _WEIGHTS_AT_A_TIME // sum(self.persons.shape))
        if sum(size for size, _ in blocks) <= most:
            return self._values([self.persons.draw(*block) for block in blocks])
        parts = [
            self._values([self.persons.draw(min(most, size - begin), rng)])
            for size, rng in blocks
            for begin in range(0, size, most)
        ]
        return np.concatenate(parts)

    def _values(self, drawn: list[tuple[Weights, Weights]]) -> Float64Array:
        first = np.concatenate([pair[0] for pair in drawn])
        one_side = self.persons.n_second is None
        second = first if one_side else np.concatenate([pair[1] for pair in drawn])
        values = [system(first, second) for system in self.systems]
        if len(values) == 1:
            return values[0]
        rows = np.concatenate([value.reshape(first.shape[0], -1) for value in values], axis=1)
        return rows if self.columns is None else rows[:, self.columns]
