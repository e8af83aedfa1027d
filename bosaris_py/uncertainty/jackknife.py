r"""How sure a metric is: the jackknife over speakers, for any metric, without random numbers.

Let :math:`\hat\theta` be a metric of all trials, and :math:`\hat\theta_{(k)}` that of the trials
in which speaker k of K speaks on neither side; more than 200 speakers are left out as 200 groups.
With :math:`d_k = \bar\theta_{(\cdot)} - \hat\theta_{(k)}`, the interval is

.. math:: g(\hat\theta) \pm t_\nu \, g'(\hat\theta) \, s, \quad s^2 = \frac{K-1}{K} \sum_k d_k^2,
          \quad \nu = \sqrt{(K - 1) \max\left((\sum d_k^2)^2 / \sum d_k^4 - 1, 2\right)},

where g is the logit of rates and the logarithm of costs [1]_; on average :math:`s^2` is not too
small [2]_. :math:`\nu` lies between K - 1 and the degrees of freedom of a sum of squares of such
unequal terms [4]_, or 2 if these are fewer. A difference of two systems on the same trials has
g(x) = x and :math:`\nu = K - 1`.

If r is the rate of errors of a class at the threshold of a metric, c the price of an error, and n
the number of its speakers, or of pairs of speakers who meet, then

.. math:: c \, (1 - a^{1/n}) \, e^{-2 n r}

is added, as a root of a sum of squares, to how far the upper end lies from the value; of an area
the lower end; a is the chance beyond the end, and classes add up. Of a class without errors it is
what Clopper and Pearson [3]_ leave open.
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
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

import attrs
import numpy as np
import scipy

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import AnyArray, FloatArray, IntArray, StrArray
from bosaris_py.metrics import metric as measures
from bosaris_py.metrics.metric import AnyMetric, Rates, RatesMetric, SummedClass, SummedRows
from bosaris_py.trials.conditions import ConditionsLike
from bosaris_py.trials.key import Key
from bosaris_py.trials.sample import Grid, Sample, ScoredClass
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers
from bosaris_py.uncertainty.estimate import Estimate, student_quantile, student_tails

# So many groups have the standard error of all speakers within a tenth, and numbers of one byte,
# which a stable sort orders in linear time.
MOST_UNITS = 200

# Below, there is no interval.
FEWEST_UNITS = 5

# Below, what the speakers leave open is said.
_FEW_UNITS = 100

# Numbers of a block of rows: it and its work arrays take some 8 MB each.
_BLOCK_CELLS = 2**20


@attrs.frozen(eq=False)
class _Units(SummedClass):
    """The trials of a class by unit, a speaker or a group of some: a row is all but one unit."""

    one: ScoredClass
    # Places of sorted trials, unit by unit; a trial of two units stands twice.
    places: IntArray
    starts: IntArray
    # Which units are left out.
    units: range

    @classmethod
    def from_class(cls, one: ScoredClass, numbers: IntArray, n_units: int) -> "_Units":
        first, second = one.sorted_speakers or measures.known_speakers(one)
        units, places = numbers[first], np.arange(first.size)
        if second is not None:
            # Who speaks on both sides is left out once; -1 is nobody.
            other = numbers[second]
            both = np.flatnonzero((second >= 0) & (other != units))
            units, places = np.concatenate((units, other[both])), np.concatenate((places, both))
        order = np.argsort(units.astype(np.uint8), kind="stable")
        counts = np.bincount(units, minlength=n_units)
        return cls(one, places[order], np.append(0, np.cumsum(counts)), range(n_units))

    def times(self) -> Iterator[IntArray]:
        """Yield 0 for the trials of a unit, and 1 for the others."""
        for unit in self.units:
            times = np.ones(self.one.size, dtype=np.int64)
            times[self.places[self.starts[unit] : self.starts[unit + 1]]] = 0
            yield times

    def add_up(self, values: FloatArray | None, cells: IntArray, n_cells: int) -> AnyArray:
        """Add up a value by cell, without each unit: all trials minus those of the unit."""
        edges = self.starts[self.units.start : self.units.stop + 1]
        out = self.places[edges[0] : edges[-1]]
        rows, n_rows = np.repeat(np.arange(edges.size - 1), np.diff(edges)), len(self.units)
        of_out = None if values is None else values[out]
        left_out = np.bincount(rows * n_cells + cells[out], of_out, n_rows * n_cells)
        return np.bincount(cells, values, n_cells) - left_out.reshape(-1, n_cells)


@attrs.frozen(eq=False)
class LeftOut(SummedRows):
    """A sample without each of its units: rows for `AnyMetric.values`."""

    tar: _Units
    non: _Units
    # The share of each speaker in the trials.
    shares: FloatArray
    # The name of each speaker; None where units are groups of speakers.
    names: StrArray | None
    _known: dict[Grid, Rates] = attrs.field(factory=dict)

    @classmethod
    def from_sample(cls, sample: Sample) -> "LeftOut":
        """Form the units, more than 200 speakers as groups of about as many trials each."""
        sides = measures.speaker_sides(sample)
        n = 1 + max(int(side.max(initial=-1)) for side in sides)
        # -1 is nobody.
        counts = [np.bincount(side[side >= 0], minlength=n) for side in sides]
        times = np.sum(counts, axis=0)
        present = np.argsort(-times, kind="stable")[: np.count_nonzero(times)]
        # Deal speakers from most trials to fewest, and back again.
        turn, place = np.divmod(np.arange(present.size), MOST_UNITS)
        numbers = np.zeros(n, dtype=np.int64)
        numbers[present] = np.where(turn % 2, MOST_UNITS - 1 - place, place)
        n_units = min(present.size, MOST_UNITS)
        shares = np.sum([n / s.size for n, s in zip(counts, sides, strict=True)], axis=0)[present]
        alone, ids = present.size == n_units, sample.speaker_ids
        names = ids[present] if alone and ids is not None else None
        tar, non = (_Units.from_class(one, numbers, n_units) for one in (sample.tar, sample.non))
        return cls(sample, tar, non, shares / shares.sum(), names)

    @property
    def n_units(self) -> int:
        """The number of units."""
        return self.tar.starts.size - 1

    def blocks(self, grid: Grid) -> Iterator["LeftOut"]:
        """Yield some units after the other, whose curves fit into memory."""
        n_groups = max(self.sample.tar.shares.size, self.sample.non.shares.size)
        step = max(1, _BLOCK_CELLS // (self.sample.grid(grid).size * n_groups))
        for start in range(0, self.n_units, step):
            units = range(start, min(start + step, self.n_units))
            tar, non = (attrs.evolve(part, units=units) for part in (self.tar, self.non))
            yield attrs.evolve(self, tar=tar, non=non, known={})

    def rates(self, grid: Grid) -> Rates:
        """Return both error-rates at all thresholds of a grid."""
        if grid not in self._known:
            self._known[grid] = super().rates(grid)
        return self._known[grid]

    @functools.cached_property
    def meetings(self) -> tuple[int, ...]:
        """The numbers of speakers, or of pairs who meet: of targets, of each kind of the others."""
        tar, non, kinds = self.sample.tar, self.sample.non, self.sample.kinds
        others = [non] if kinds is None else [non.part(kinds == kind) for kind in (0, 1)]
        return tuple(part.n_meetings for part in (tar, *others))


# ---- From the values without each unit to an interval


# g, its derivative and its inverse.
_SCALES: dict[measures.Scale, tuple[Callable[[float], float], ...]] = {
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
    without: FloatArray
    shares: FloatArray
    scale: measures.Scale = "identity"
    bounds: tuple[float, float] = (-np.inf, np.inf)
    bias: float = 0.0
    # Price, meetings and errors of each class, see the head of the module.
    unseen: tuple[tuple[float, int, float], ...] = ()
    is_difference: bool = False
    method: ClassVar[str] = "jackknife over speakers"

    @functools.cached_property
    def deviations(self) -> FloatArray:
        """What each unit does to the metric; 0 where a class has no trials without it."""
        return np.where(np.isfinite(self.without), self._mean - self.without, 0.0)

    @functools.cached_property
    def _mean(self) -> float:
        found = self.without[np.isfinite(self.without)]
        return float(found.mean()) if found.size else np.nan

    @functools.cached_property
    def n_units(self) -> int:
        """The number of units without which the metric is known."""
        return int(np.isfinite(self.without).sum())

    @property
    def fewest(self) -> int:
        """The number of units that decides whether there is an interval."""
        return self.n_units

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
        opened = ((p * np.exp(-2.0 * wrong), n) for p, n, wrong in self.unseen if n)
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
        self, confidence: float, names: StrArray | None, notes: Sequence[errors.Note] = ()
    ) -> Estimate:
        """Return the estimate with its interval, or without one below 5 units."""
        effects = self.deviations.tolist()
        found = Estimate(
            value=self.value,
            standard_error=None,
            confidence=confidence,
            method=self.method,
            n_units=self.n_units,
            effective_units=float(1.0 / (self.shares**2).sum()),
            deviations=None if names is None else dict(zip(names.tolist(), effects, strict=True)),
            notes=(*notes, *few_speakers(self.fewest)),
        )
        # The threshold of a `Transfer` may be inf, which is at no distance from another one.
        is_endless = np.isinf(self.without).any() or not np.isfinite(self.value)
        if self.fewest < FEWEST_UNITS or is_endless:
            return found
        # Where no unit changes the value there is no error, but what is unseen leaves ends open.
        error, tails = self.standard_error or None, None
        if self.is_difference:
            error = self.standard_error
            tails = functools.partial(student_tails, self.value, error, self.degrees)
        return attrs.evolve(
            found, standard_error=error, degrees=self.degrees, ends=self.ends, tails=tails
        )


def few_speakers(n: int) -> list[errors.Note]:
    """Note what few speakers leave open."""
    if n >= _FEW_UNITS:
        return []
    text = f"fewer than {FEWEST_UNITS} speakers can be left out, so there is no interval."
    if n >= FEWEST_UNITS:
        # A kind of speakers as common as this is in none of n with a chance of 5 %.
        share = 100.0 * (1.0 - 0.05 ** (1.0 / n))
        text = f"{n} speakers: a kind of speaker as common as {share:.0f} % "
        text += "may be missing from these trials."
    return [errors.Note(errors.FewSpeakersWarning, text, count=n)]


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
    for view in {id(one): one for one in views}.values():
        left = LeftOut.from_sample(view)
        alike = {i: metric for i, metric in enumerate(metrics) if views[i] is view}
        grids = [one.grid for one in alike.values() if isinstance(one, RatesMetric)]
        # Only the size of blocks depends on it: each metric takes its own grid.
        finest: Grid = next((grid for grid in ("all", "ties") if grid in grids), "hull")
        blocks = [[one.values(block) for one in alike.values()] for block in left.blocks(finest)]
        for i, *values in zip(alike, *blocks, strict=True):
            found[i] = _jackknifed(metrics[i], left, np.concatenate(values)), left
    return [found[i] for i in range(len(metrics))]


def _jackknifed(metric: AnyMetric, left: LeftOut, without: FloatArray) -> Jackknife:
    unseen = []
    for price, rate, place in metric.openings(left.sample):
        n = left.meetings[min(place, len(left.meetings) - 1)]
        unseen.append((price, n, n * rate))
    value, fields = metric.computed(left.sample), (metric.scale, metric.bounds, metric.bias)
    return Jackknife(value, without, left.shares, *fields, tuple(unseen))


def speaker_interval(
    scores: measures.AnySystem,
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
    chosen = measures.as_metric(metric)
    level = check.check_fraction(confidence, "confidence")
    who = TrialSpeakers.from_key(key, speakers)
    sample = chosen.joined(scores, key, conditions, who)
    ((found, left),) = jackknife([chosen], sample)
    estimate = found.estimate(level, left.names, chosen.notes(left.sample))
    errors.warn(estimate.notes)
    return estimate
