r"""How sure a metric is: the jackknife over speakers, for any metric, without random numbers.

Let :math:`\hat\theta` be a metric of all trials, and :math:`\hat\theta_{(k)}` that of the trials
in which speaker k of K speaks on neither side; more than 200 speakers are left out as 200 groups.
With :math:`d_k = \bar\theta_{(\cdot)} - \hat\theta_{(k)}`, the interval is

.. math:: g(\hat\theta) \pm t_\nu \, g'(\hat\theta) \, s, \quad s^2 = \frac{K-1}{K} \sum_k d_k^2,
          \quad \nu = \sqrt{(K - 1) \left((\sum d_k^2)^2 / \sum d_k^4 - 1\right)},

where g is the logit of rates and the logarithm of costs [1]_; on average :math:`s^2` is not too
small [2]_. :math:`\nu` lies between K - 1 and the degrees of freedom of a sum of squares of such
unequal terms [4]_. A difference of two systems on the same trials has g(x) = x and
:math:`\nu = K - 1`.

If r is the rate of errors of a class at the threshold of a metric, c the price of an error, and n
the number of its speakers, or of pairs of speakers who meet, then

.. math:: c \, (1 - a^{1/n}) \, e^{-2 n r}

is added, as a root of a sum of squares, to how far the upper end lies from the value; of an area
the lower end. Of a class without errors it is what Clopper and Pearson [3]_ leave open at level a.
PAV fits the scores of a few speakers too well: ends of minCllr are first moved outwards by 1.5
times the jackknife's estimate of this bias, at most by a third of the way to a bound.

References
----------
.. [1] J. W. Tukey, "Bias and confidence in not quite large samples", Annals of Mathematical
   Statistics 29, 1958.
.. [2] B. Efron and C. Stein, "The jackknife estimate of variance", Annals of Statistics 9, 1981.
.. [3] C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits", Biometrika 26,
   1934.
.. [4] F. E. Satterthwaite, "An approximate distribution of estimates of variance components",
   Biometrics Bulletin 2, 1946.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence

import attrs
import numpy as np
import scipy

from bosaris_py._arrays import AnyArray, Float64Array, FloatArray, IntArray, StrArray
from bosaris_py._notes import Note, warn
from bosaris_py._validation import check_fraction, invalid
from bosaris_py.errors import FewSpeakersWarning
from bosaris_py.metrics.metric import (
    AnyMetric,
    AnySystem,
    CountedRows,
    Losses,
    OneRow,
    Rates,
    RatesMetric,
    Scale,
    SummedClass,
    as_metric,
)
from bosaris_py.trials.conditions import ConditionsLike
from bosaris_py.trials.key import Key
from bosaris_py.trials.sample import Grid, Sample, ScoredClass
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers
from bosaris_py.uncertainty.estimate import Estimate, student_quantile

# So many groups have the standard error of all speakers within a tenth, and numbers of one byte,
# which a stable sort orders in linear time.
MOST_UNITS = 200

# Below, there is no interval.
FEWEST_UNITS = 5

# Below, what the speakers leave open is said.
_FEW_UNITS = 100

# Numbers of a block of rows: it and its work arrays take some 8 MB each.
_BLOCK_CELLS = 2**20

_METHOD = "jackknife over speakers"


@attrs.frozen(eq=False)
class _Units(SummedClass[range]):
    """The trials of a class by unit, a speaker or a group of some: a row is all but one unit."""

    one: ScoredClass
    # Places of sorted trials, unit by unit; a trial of two units stands twice.
    entries: IntArray
    starts: IntArray

    @classmethod
    def from_class(cls, one: ScoredClass, numbers: IntArray, n_units: int) -> "_Units":
        first, second = one.sorted_speakers or (np.empty(0, np.int64), None)
        units, places = numbers[first], np.arange(first.size)
        if second is not None:
            # Who speaks on both sides is left out once; -1 is nobody.
            other = numbers[second]
            both = np.flatnonzero((second >= 0) & (other != units))
            units, places = np.concatenate((units, other[both])), np.concatenate((places, both))
        order = np.argsort(units.astype(np.uint8), kind="stable")
        counts = np.bincount(units, minlength=n_units)
        return cls(one, places[order], np.append(0, np.cumsum(counts)))

    def places_of(self, unit: int) -> IntArray:
        """Return the places of the trials of a unit."""
        return self.entries[self.starts[unit] : self.starts[unit + 1]]

    def sums(
        self, units: range, values: Float64Array | None, place: AnyArray | int, size: int
    ) -> AnyArray:
        """Add up a value by group and place, without each unit: (n_units, n_groups, k)."""
        weights, groups = self.one.sorted_weights, self.one.sorted_groups
        if weights is not None:
            values = weights if values is None else weights * values
        n_groups = self.one.shares.size
        cells = np.broadcast_to(place, self.one.size)
        if groups is not None:
            cells = groups * size + cells
        n = n_groups * size
        whole = np.bincount(cells, values, n)
        edges = self.starts[units.start : units.stop + 1]
        out = self.entries[edges[0] : edges[-1]]
        rows = np.repeat(np.arange(len(units)), np.diff(edges))
        gone = np.bincount(
            rows * n + cells[out], None if values is None else values[out], len(units) * n
        )
        return (whole - gone.reshape(-1, n)).reshape(-1, n_groups, size)


@attrs.frozen(eq=False)
class LeftOut(CountedRows):
    """A sample without each of its units: rows for `AnyMetric.values`."""

    sample: Sample
    tar: _Units
    non: _Units
    n_units: int
    # The share of each unit in the trials.
    shares: Float64Array
    # The name of each speaker; None where units are groups of speakers.
    names: StrArray | None
    units: range
    _known: dict[Grid, Rates] = attrs.field(factory=dict)

    @classmethod
    def from_sample(cls, sample: Sample) -> "LeftOut":
        """Form the units, more than 200 speakers as groups of about as many trials each."""
        sides = [
            side
            for one in (sample.tar, sample.non)
            for side in one.sorted_speakers or ()
            if side is not None
        ]
        if not sides:
            raise invalid("sample", "know the speakers of its trials", "none")
        n = 1 + max(int(side.max(initial=-1)) for side in sides)
        times = sum(np.bincount(side[side >= 0], minlength=n) for side in sides)
        present = np.argsort(-times, kind="stable")[: np.count_nonzero(times)]
        # Deal speakers from most trials to fewest, and back again.
        turn, place = np.divmod(np.arange(present.size), MOST_UNITS)
        numbers = np.zeros(n, dtype=np.int64)
        numbers[present] = np.where(turn % 2, MOST_UNITS - 1 - place, place)
        n_units = min(present.size, MOST_UNITS)
        parts = [np.bincount(numbers[s[s >= 0]], minlength=n_units) / s.size for s in sides]
        shares = np.sum(parts, axis=0) / len(sides)
        alone = present.size == n_units and sample.speaker_ids is not None
        names = sample.speaker_ids[present] if alone and sample.speaker_ids is not None else None
        tar, non = (_Units.from_class(one, numbers, n_units) for one in (sample.tar, sample.non))
        return cls(sample, tar, non, n_units, shares, names, range(n_units))

    def blocks(self, grid: Grid) -> Iterator["LeftOut"]:
        """Yield some units after the other, whose curves fit into memory."""
        n_groups = max(self.sample.tar.shares.size, self.sample.non.shares.size)
        points = self.sample.grid(grid).size
        step = max(1, _BLOCK_CELLS // (points * n_groups))
        for start in range(0, self.n_units, step):
            units = range(start, min(start + step, self.n_units))
            yield attrs.evolve(self, units=units, known={})

    def below(self, tar: IntArray, non: IntArray) -> Rates:
        """Return the mass below thresholds."""
        return self.tar.below(self.units, tar), self.non.below(self.units, non)

    def rates(self, grid: Grid) -> Rates:
        """Return both error-rates at all thresholds of a grid."""
        if grid not in self._known:
            self._known[grid] = super().rates(grid)
        return self._known[grid]

    def means(self, losses: Losses) -> tuple[Float64Array, Float64Array]:
        """Return the mean loss of each class."""
        return self.tar.means(self.units, losses[0]), self.non.means(self.units, losses[1])

    def lists(self) -> Iterator[tuple[FloatArray, ...]]:
        """Yield the scores of each class without each unit."""
        for unit in self.units:
            times = [np.ones(part.one.size, dtype=np.int64) for part in (self.tar, self.non)]
            times[0][self.tar.places_of(unit)] = times[1][self.non.places_of(unit)] = 0
            yield from OneRow(self.sample, (times[0], times[1])).lists()

    @functools.cached_property
    def meetings(self) -> tuple[int, ...]:
        """The numbers of speakers, or of pairs who meet: of targets, of each kind of the others."""
        sample = self.sample
        parts = [sample.tar]
        if sample.kinds is None:
            parts.append(sample.non)
        else:
            parts += [sample.non.part(sample.kinds == kind) for kind in (0, 1)]
        return tuple(part.n_meetings for part in parts)


def values_without(metrics: Sequence[AnyMetric], left: LeftOut) -> list[Float64Array]:
    """Return each metric without each unit; metrics of the same sample share its counts."""
    grids = [metric.grid for metric in metrics if isinstance(metric, RatesMetric)]
    finest: Grid = next((grid for grid in ("all", "ties") if grid in grids), "hull")
    found: list[list[Float64Array]] = [[] for _ in metrics]
    for block in left.blocks(finest):
        for values, metric in zip(found, metrics, strict=True):
            values.append(metric.values(block))
    return [np.concatenate(values) for values in found]


# ---- From the values without each unit to an interval


_SCALES: dict[Scale, tuple[Callable[[float], float], ...]] = {  # g, its derivative and inverse
    "logit": (
        lambda v: scipy.special.logit(v),
        lambda v: 1.0 / (v * (1.0 - v)),
        lambda x: scipy.special.expit(x),
    ),
    "log": (np.log, lambda v: 1.0 / v, np.exp),
    "identity": (lambda v: v, lambda v: 1.0, lambda v: v),
}


@attrs.frozen(eq=False)
class Jackknife:
    """A metric of all trials, and without each unit."""

    value: float
    without: Float64Array
    shares: Float64Array
    scale: Scale = "identity"
    bounds: tuple[float, float] = (-np.inf, np.inf)
    bias: float = 0.0
    # Price, meetings and errors of each class, see the head of the module.
    unseen: tuple[tuple[float, int, float], ...] = ()
    is_difference: bool = False

    @functools.cached_property
    def deviations(self) -> Float64Array:
        """What each unit does to the metric; 0 where a class has no trials without it."""
        return np.nan_to_num(self._mean - self.without)

    @functools.cached_property
    def _mean(self) -> float:
        found = self.without[np.isfinite(self.without)]
        return float(found.mean()) if found.size else np.nan

    @functools.cached_property
    def n_units(self) -> int:
        """The number of units without which the metric is known."""
        return int(np.isfinite(self.without).sum())

    @functools.cached_property
    def standard_error(self) -> float:
        """The square root of s^2."""
        return float(np.sqrt((1.0 - 1.0 / self.n_units) * (self.deviations**2).sum()))

    @functools.cached_property
    def degrees(self) -> float:
        """Degrees of freedom of Student's t."""
        squares, most = self.deviations**2, self.n_units - 1.0
        if self.is_difference or not squares.any():
            return most
        alike = squares.sum() ** 2 / (squares**2).sum()
        return float(np.sqrt(most * max(alike - 1.0, 2.0)))

    def _bound(self, tail: float, sign: int) -> float:
        """Return the lower (sign -1) or upper (1) bound, passed by the truth in `tail` of sets."""
        g, slope, inverse = _SCALES[self.scale]
        (least, most), end = self.bounds, self.value
        if self.scale == "identity" or 0.0 < end < (1.0 if self.scale == "logit" else np.inf):
            if self.bias:
                bias = self.bias * (self.n_units - 1) * (end - self._mean)
                end += sign * float(np.clip(sign * bias, 0.0, min(end, most - end) / 3.0))
            half = student_quantile(self.degrees, tail) * self.standard_error * slope(end)
            end = float(inverse(g(end) + sign * half))
        opened = ((p * np.exp(-2.0 * errors), n) for p, n, errors in self.unseen if n)
        move = sum(price * (1.0 - tail ** (1.0 / n)) for price, n in opened)
        if sign * move > 0:
            end = self.value + sign * float(np.hypot(end - self.value, move))
        return float(np.clip(end, least, most))

    def ends(self, tail: float) -> tuple[float, float]:
        """Return both ends."""
        return self._bound(tail, -1), self._bound(tail, 1)

    def minus(self, other: "Jackknife") -> "Jackknife":
        """Return the difference to another system on the same trials."""
        left_out = self.without - other.without
        return Jackknife(self.value - other.value, left_out, self.shares, is_difference=True)

    def estimate(
        self, confidence: float, names: StrArray | None, notes: Sequence[Note] = ()
    ) -> Estimate:
        """Return the estimate with its interval, or without one below 5 units."""
        deviations = None
        if names is not None:
            deviations = dict(zip(names.tolist(), self.deviations.tolist(), strict=True))
        made = functools.partial(
            Estimate,
            value=self.value,
            confidence=confidence,
            method=_METHOD,
            n_units=self.n_units,
            effective_units=float(1.0 / (self.shares**2).sum()),
            deviations=deviations,
            notes=(*notes, *few_speakers(self.n_units)),
        )
        if self.n_units < FEWEST_UNITS or not np.isfinite(self.value):
            return made(standard_error=None)
        error, fields = self.standard_error, made.keywords
        if self.is_difference:
            return Estimate.from_error(standard_error=error, degrees=self.degrees, **fields)
        # Where no unit changes the value there is no error, but what is unseen leaves ends open.
        return made(
            standard_error=error if self.deviations.any() else None,
            degrees=self.degrees,
            ends=self.ends,
        )


def few_speakers(n: int) -> list[Note]:
    """Note what few speakers leave open."""
    if n < FEWEST_UNITS:
        return [Note(FewSpeakersWarning, f"{n} speakers: too few for an interval.", count=n)]
    if n < _FEW_UNITS:
        # A kind of speakers as common as this is in none of n with a chance of 5 %.
        share = 100.0 * (1.0 - 0.05 ** (1.0 / n))
        text = (
            f"{n} speakers: a kind of speaker as common as {share:.0f} % may be missing from these "
            "trials."
        )
        return [Note(FewSpeakersWarning, text, count=n)]
    return []


def jackknife(metrics: Sequence[AnyMetric], sample: Sample) -> list[tuple[Jackknife, LeftOut]]:
    """Leave out each unit of a sample, for several metrics.

    Parameters
    ----------
    metrics : sequence of AnyMetric
        Those that see the same view of the sample share its counts.
    sample : Sample
        Scored trials with their speakers.

    Returns
    -------
    list of (Jackknife, LeftOut)
        One for each metric.
    """
    found: dict[int, tuple[Jackknife, LeftOut]] = {}
    views = [metric.view(sample) for metric in metrics]
    known: dict[int, LeftOut] = {}
    for view, group in itertools.groupby(range(len(metrics)), key=views.__getitem__):
        numbers = list(group)
        left = known.setdefault(id(view), LeftOut.from_sample(view))
        without = values_without([metrics[i] for i in numbers], left)
        for i, values in zip(numbers, without, strict=True):
            found[i] = _without_values(metrics[i], left, values), left
    return [found[i] for i in range(len(metrics))]


def _without_values(metric: AnyMetric, left: LeftOut, without: Float64Array) -> Jackknife:
    unseen = []
    for price, rate, place in metric.openings(left.sample):
        n = left.meetings[min(place, len(left.meetings) - 1)]
        unseen.append((price, n, n * rate))
    value = metric.computed(left.sample)
    return Jackknife(
        value, without, left.shares, metric.scale, metric.bounds, metric.bias, tuple(unseen)
    )


def speaker_interval(
    scores: AnySystem,
    key: Key,
    metric: object,
    *,
    speakers: SpeakersLike = None,
    conditions: ConditionsLike = None,
    confidence: float = 0.95,
) -> Estimate:
    """Return a metric and its confidence interval, by the jackknife over speakers.

    Parameters
    ----------
    scores : Scores, or mapping of two
        Scores of the system; of two detectors in tandem ``{"asv": verifier, "cm":
        countermeasure}``.
    key, metric, speakers, conditions
        As for `compare_systems`.
    confidence : float, default: 0.95
        Strictly between 0 and 1.

    Returns
    -------
    Estimate
        Without random numbers: the same data give the same interval.

    Raises
    ------
    TrialMismatchError
        If trials are in no condition, or no ids of scores and key meet.

    Warns
    -----
    FewSpeakersWarning
        If there are fewer than 100 speakers; below 5 there is no interval.
    SuspectScoresWarning
        As for the metric.

    See Also
    --------
    bootstrap_scores : Resampling, as the papers define it.

    Notes
    -----
    See :doc:`/understand/confidence` for what such an interval says, and :doc:`/evidence` for how
    often it covers the truth.

    Examples
    --------
    >>> import numpy as np
    >>> import bosaris_py as bp
    >>> ids, same = [f"speaker {i}" for i in range(120)], np.eye(120, dtype=bool)
    >>> values = 3.0 * same + np.random.default_rng(1).normal(size=same.shape)
    >>> scores, key = bp.Scores(values, ids, ids), bp.Key(ids, ids, same, ~same)
    >>> found = bp.speaker_interval(scores, key, bp.uncertainty.EER())
    >>> print(f"{found.value:.1%}, {found.low:.1%} to {found.high:.1%}")
    6.5%, 4.9% to 8.6%
    """
    chosen = as_metric(metric)
    level = check_fraction(confidence, "confidence")
    who = TrialSpeakers.from_key(key, speakers)
    sample = chosen.joined(scores, key, conditions, who)
    ((found, left),) = jackknife([chosen], sample)
    estimate = found.estimate(level, left.names, chosen.notes(left.sample))
    warn(estimate.notes)
    return estimate
