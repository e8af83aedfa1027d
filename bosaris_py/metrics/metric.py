"""What a metric is: a number of two distributions of mass over the scores.

There are three kinds: of the error-rates at all thresholds (`RatesMetric`), of mean losses or of
error-rates at thresholds of its own (`LossMetric`, `ThresholdMetric`), and functions of a user
(`Metric`). Each makes its value for many rows at a time: a row is a whole sample, a replicate, or
what is left without a speaker. So one line of arithmetic serves values, bootstraps and intervals.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import AnyArray, ArrayLike, FloatArray, IntArray, Weighting, Weights
from bosaris_py.numerics.roc import count_below
from bosaris_py.trials import Key, Scores
from bosaris_py.trials.conditions import ConditionsLike
from bosaris_py.trials.sample import Grid, Sample, ScoredClass, Speakers, Times
from bosaris_py.trials.speakers import TrialSpeakers

# The scores of one detector, or of two in tandem.
AnySystem = Scores | Mapping[str, Scores]

Scale = Literal["identity", "logit", "log"]

# Miss rates and false-alarm rates: (n_rows, k) each.
Rates = tuple[FloatArray, FloatArray]

# What each sorted target, and each sorted non-target, loses.
Losses = tuple[FloatArray, FloatArray]


class Opening(NamedTuple):
    """What an unseen error of a class would add to a metric, and the error-rate of the class.

    A rate of inf stands for nothing unseen. `place` is 0 for targets, 1 for non-targets, 2 for
    spoofs.
    """

    price: float
    rate: float
    place: int


class Rows(abc.ABC):
    """Many samples at a time, a row each: one whole sample, replicates, or left-out speakers.

    What no subclass knows a faster way for is made of one row after the other.
    """

    # The sample that they are made of.
    sample: Sample

    @abc.abstractmethod
    def each(self) -> Iterator["OneRow"]:
        """Yield the rows."""

    def rates(self, grid: Grid) -> Rates:
        """Return both error-rates at all thresholds of a grid, (n_rows, k); see `Sample`."""
        return _stacked(row.rates(grid) for row in self.each())

    def rates_at(self, thresholds: FloatArray) -> Rates:
        """Return both error-rates at given thresholds: (n_rows, k)."""
        return _stacked(row.rates_at(thresholds) for row in self.each())

    def means(self, losses: Losses) -> Rates:
        """Return the mean loss of each class: (n_rows,), or (n_rows, k) of several losses."""
        return _stacked(row.means(losses) for row in self.each())

    def lists(self) -> Iterator[tuple[FloatArray, ...]]:
        """Yield the scores of each class, each as often as it counts, row by row."""
        return (scores for row in self.each() for scores in row.lists())


def _stacked(rows: Iterable[Rates]) -> Rates:
    first, second = zip(*rows, strict=True)
    return np.concatenate(first), np.concatenate(second)


@attrs.frozen(eq=False)
class OneRow(Rows):
    """A sample as rows of one."""

    sample: Sample
    times: Times = None

    def each(self) -> Iterator["OneRow"]:
        """Yield the row."""
        yield self

    def rates(self, grid: Grid) -> Rates:
        """Return both error-rates at all thresholds of a grid."""
        return self.sample.rates_at_all(self.times, grid)

    def rates_at(self, thresholds: FloatArray) -> Rates:
        """Return both error-rates at given thresholds."""
        pmiss, pfa = self.sample.rates(thresholds, self.times)
        return pmiss[None], pfa[None]

    def means(self, losses: Losses) -> Rates:
        """Return the mean loss of each class."""
        tar, non = self.sample.mean(losses, self.times)
        return np.array([tar]), np.array([non])

    def lists(self) -> Iterator[tuple[FloatArray, ...]]:
        """Yield the scores of each class."""
        (tar, non), sample = self.times or (None, None), self.sample
        if sample.kinds is None:
            yield repeated(sample.tar, tar), repeated(sample.non, non)
            return
        kinds = sample.kinds[sample.non.order]
        counted = np.ones(sample.non.size, np.int64) if non is None else non
        others = (repeated(sample.non, np.where(kinds == kind, counted, 0)) for kind in (0, 1))
        yield repeated(sample.tar, tar), *others


class CountedRows(Rows):
    """Rows whose rates need no more than the numbers of trials between thresholds."""

    @abc.abstractmethod
    def below(self, tar: IntArray, non: IntArray) -> Rates:
        """Return the mass below thresholds, from -inf to inf, by the numbers of trials below."""

    def rates(self, grid: Grid) -> Rates:
        """Return both error-rates at all thresholds of a grid."""
        pmiss, rejected = self.below(*self.sample.counts_below(grid))
        return pmiss, rejected[:, -1:] - rejected

    def rates_at(self, thresholds: FloatArray) -> Rates:
        """Return both error-rates at given thresholds."""
        limits, at = np.unique(thresholds, return_inverse=True)
        tar, non = (
            np.concatenate(([0], count_below(one.scores, limits), [one.size]))
            for one in (self.sample.tar, self.sample.non)
        )
        pmiss, rejected = self.below(tar, non)
        return pmiss[:, at + 1], rejected[:, -1:] - rejected[:, at + 1]


class SummedClass(abc.ABC):
    """The trials of one class in many rows, which units that are drawn or left out make."""

    one: ScoredClass

    @abc.abstractmethod
    def times(self) -> Iterator[IntArray]:
        """Yield how often each sorted trial counts, row by row."""

    @abc.abstractmethod
    def add_up(self, values: FloatArray | None, cells: IntArray, n_cells: int) -> AnyArray:
        """Add up a value of each sorted trial, by default 1, by its cell: (n_rows, n_cells)."""

    def _sums(self, values: FloatArray | None, place: AnyArray | int, size: int) -> AnyArray:
        """Add up a value, times the weight, by group and place: (n_rows, n_groups, size)."""
        weights, groups = self.one.sorted_weights, self.one.sorted_groups
        if weights is not None:
            values = weights if values is None else weights * values
        cells = np.broadcast_to(place, self.one.size)
        if groups is not None:
            cells = groups.astype(np.int64) * size + cells
        n_groups = self.one.shares.size
        return self.add_up(values, cells, n_groups * size).reshape(-1, n_groups, size)

    def below(self, counts_below: IntArray) -> FloatArray:
        """Return the mass below each threshold, (n_rows, k), by the numbers of trials below."""
        # Between two thresholds lies what is below the second and not below the first.
        size = counts_below.size - 1
        place = np.repeat(np.arange(size), np.diff(counts_below))
        counts = self._sums(None, place, size).cumsum(axis=2)
        with np.errstate(invalid="ignore", divide="ignore"):
            mass = self._mix(counts / counts[:, :, -1:])
        return np.concatenate((np.zeros((len(mass), 1)), mass), axis=1)

    def means(self, losses: FloatArray) -> FloatArray:
        """Return the mean loss of each row; of several losses (k, n), that of each."""
        if losses.ndim > 1:
            return np.stack([self.means(one) for one in losses], axis=1)
        endless = ~np.isfinite(losses)
        sums = self._sums(np.where(endless, 0.0, losses), 0, 1)
        # An infinite loss of a trial that does not count is no loss.
        if endless.any():
            sums = np.where(self._sums(endless.astype(float), 0, 1) > 0, np.inf, sums)
        counts = self._sums(None, 0, 1)
        # Where no trial is left the sum is what rounding left.
        with np.errstate(invalid="ignore", divide="ignore"):
            return self._mix(np.where(counts > 0, sums, np.nan) / counts).ravel()

    def _mix(self, values: FloatArray) -> FloatArray:
        if self.one.shares.size == 1:
            return values[:, 0]
        # A group of share 0 may have no trials.
        held = np.flatnonzero(self.one.shares)
        return np.asarray(np.einsum("g,rgs->rs", self.one.shares[held], values[:, held]))


@attrs.frozen(eq=False)
class SummedRows(CountedRows):
    """Rows of both classes."""

    sample: Sample
    tar: SummedClass
    non: SummedClass

    def below(self, tar: IntArray, non: IntArray) -> Rates:
        """Return the mass below thresholds."""
        return self.tar.below(tar), self.non.below(non)

    def means(self, losses: Losses) -> Rates:
        """Return the mean loss of each class."""
        return self.tar.means(losses[0]), self.non.means(losses[1])

    def each(self) -> Iterator[OneRow]:
        """Yield the rows."""
        pairs = zip(self.tar.times(), self.non.times(), strict=True)
        return (OneRow(self.sample, times) for times in pairs)


def known_speakers(one: ScoredClass) -> Speakers:
    """Return the speakers of both sides of each trial."""
    if one.speakers is None:
        raise check.invalid("sample", "know the speakers of its trials", "none")
    return one.speakers


def speaker_sides(sample: Sample) -> list[IntArray]:
    """Return the numbers of the speakers of all trials, on each side of each class."""
    sides = *known_speakers(sample.tar), *known_speakers(sample.non)
    return [side for side in sides if side is not None]


def repeated(one: ScoredClass, times: Weights | None) -> FloatArray:
    """Return the scores of a class, each as often as it counts."""
    # Conditions whose trials have the same mass, but for rounding, change nothing.
    masses = np.ones(1) if one.groups is None or not one.size else one.masses()
    if one.weights is not None or not np.ptp(masses) <= 1e-12 * masses.max():
        hint = "Built-in metrics know weights and conditions."
        expected = "be one of the package where trials have weights or conditions"
        raise check.invalid("metric", expected, "a function of scores", hint)
    if times is None:
        return one.listed
    numbers = times.astype(np.int64)
    if not np.array_equal(numbers, times):
        raise check.invalid("times", "be whole numbers for a function of scores", "others")
    return np.repeat(one.listed[one.order], numbers, axis=0)


class AnyMetric(abc.ABC):
    """Base of all metrics."""

    __slots__ = ()

    # On which scale its errors are alike: of rates the logit, of costs the logarithm.
    scale: ClassVar[Scale] = "logit"
    # Factor on the jackknife's correction of bias: 0 for none, 1 if it falls as 1 / speakers.
    bias: ClassVar[float] = 0.0
    unit: ClassVar[str] = ""

    @property
    @abc.abstractmethod
    def label(self) -> str:
        """Its name in tables and plots."""

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest value."""
        return 0.0, 1.0

    def detectors(self, system: AnySystem, name: str = "scores") -> dict[str, Scores]:
        """Return the scores of each detector of a system, by what messages call it.

        Parameters
        ----------
        system : Scores, or mapping of two
            The system; of two detectors in tandem ``{"asv": verifier, "cm": countermeasure}``.
        name : str, default: "scores"
            What messages call the system.

        Returns
        -------
        dict of str to Scores
        """
        if isinstance(system, Mapping):
            raise self._wrong_number()
        return {name: system}

    def _wrong_number(self) -> errors.InvalidInputError:
        hint = 'TDCF() and TEER() are metrics of {"asv": verifier, "cm": countermeasure}.'
        return check.invalid("metric", "be of as many detectors as the scores", self.label, hint)

    def joined(
        self, system: AnySystem, key: Key, conditions: ConditionsLike, who: TrialSpeakers | None
    ) -> Sample:
        """Join the scores of a system with a key, with conditions and speakers.

        Parameters
        ----------
        system
            As for `detectors`.
        key, conditions, who
            As for `Sample.from_trials`, whose speakers `who` is.

        Returns
        -------
        Sample
        """
        (scores,) = self.detectors(system).values()
        return Sample.from_trials(scores, key, conditions, who)

    @abc.abstractmethod
    def values(self, rows: Rows) -> FloatArray:
        """Compute the metric of each row.

        Parameters
        ----------
        rows : Rows
            Rows of a sample that `view` returned.

        Returns
        -------
        (n_rows,) ndarray of float64
            NaN where a class has no trials.
        """

    def view(self, sample: Sample) -> Sample:
        """Return the trials that the metric judges, with their shares.

        Parameters
        ----------
        sample : Sample
            Scored trials, perhaps with spoofs.

        Returns
        -------
        Sample
        """
        return sample.bona_fide()

    def value(self, sample: Sample, times: Times = None) -> float:
        """Compute the metric of a sample.

        Parameters
        ----------
        sample : Sample
            The scored trials of a system.
        times : pair of (n_tar,), (n_non,) ndarray, optional
            How often each trial counts, in the order of the sorted scores of ``view(sample)``;
            once by default.

        Returns
        -------
        float
        """
        return self.computed(self.view(sample), times)

    def computed(self, view: Sample, times: Times = None) -> float:
        """Compute the metric of what `view` returned.

        Parameters
        ----------
        view : Sample
            The trials that the metric judges.
        times
            As for `value`.

        Returns
        -------
        float
        """
        return float(self.values(OneRow(view, times))[0])

    def openings(self, sample: Sample) -> list[Opening]:
        """Tell what errors of each class cost, and how many there are, at the metric's thresholds.

        Parameters
        ----------
        sample : Sample
            What `view` returned.

        Returns
        -------
        list of Opening
            None of a class whose errors are counted in full.
        """
        return []

    def notes(self, sample: Sample) -> list[errors.Note]:
        """Tell what is missing from the sample, and what is strange about its scores.

        Parameters
        ----------
        sample : Sample
            What `view` returned.

        Returns
        -------
        list of Note
        """
        return [*sample.notes, *self.doubts(sample)]

    def doubts(self, sample: Sample) -> list[errors.Note]:
        """Tell what is strange about the scores of a view."""
        return []

    def __call__(
        self,
        tar: ArrayLike,
        non: ArrayLike,
        tar_weights: Weighting = None,
        non_weights: Weighting = None,
    ) -> float:
        """Compute the metric of two lists of scores.

        Parameters
        ----------
        tar, non : (n_tar,), (n_non,) array_like of float
            Scores of the two classes; no NaN, +-inf allowed.
        tar_weights, non_weights : array_like of float, optional
            Trial weights, finite and not negative; one each by default.

        Returns
        -------
        float
        """
        return self.judge(Sample.from_scores(tar, non, tar_weights, non_weights))

    def judge(self, sample: Sample) -> float:
        """Compute the metric of a sample, and warn once of strange scores.

        Parameters
        ----------
        sample : Sample
            The scored trials of a system.

        Returns
        -------
        float
        """
        view = self.view(sample)
        errors.warn(self.notes(view))
        return self.computed(view)


class RatesMetric(AnyMetric):
    """A metric of the error-rates at all thresholds."""

    __slots__ = ()

    # At which thresholds the rates decide the value.
    grid: ClassVar[Grid] = "hull"

    @abc.abstractmethod
    def of_rates(self, pmiss: FloatArray, pfa: FloatArray) -> FloatArray:
        """Compute the metric of curves.

        Parameters
        ----------
        pmiss, pfa : (n_rows, n_points) ndarray of float64
            Miss rates that rise from 0 to 1, and false-alarm rates that fall from 1 to 0.

        Returns
        -------
        (n_rows,) ndarray of float64
        """

    def values(self, rows: Rows) -> FloatArray:
        """Compute the metric of each row."""
        pmiss, pfa = rows.rates(self.grid)
        lacking = np.isnan(pmiss[:, -1] + pfa[:, -1])
        return np.where(lacking, np.nan, self.of_rates(pmiss, pfa))


class ThresholdMetric(AnyMetric):
    """A sum of error-rates at thresholds of its own, times their prices."""

    __slots__ = ()

    @property
    @abc.abstractmethod
    def points(self) -> list[tuple[float, float, float]]:
        """Threshold, price of a miss and price of a false alarm; the prices have been divided."""

    @property
    def bounds(self) -> tuple[float, float]:
        """From no errors to nothing but errors."""
        return 0.0, sum(miss + fa for _, miss, fa in self.points)

    def values(self, rows: Rows) -> FloatArray:
        """Compute the metric of each row."""
        limits, miss, fa = (np.array(column) for column in zip(*self.points, strict=True))
        pmiss, pfa = rows.rates_at(limits)
        # NISTIR 7722, equation (6): C_miss P_miss P_tar + C_fa P_fa (1 - P_tar).
        return np.asarray((miss * pmiss + fa * pfa).sum(axis=1))

    def openings(self, sample: Sample) -> list[Opening]:
        """Tell what errors of each class cost, and how many there are, at each threshold."""
        found = []
        for limit, miss, fa in self.points:
            pmiss, pfa = sample.rates(limit)
            found += [Opening(miss, float(pmiss), 0), Opening(fa, float(pfa), 1)]
        return [one for one in found if one.price]


class LossMetric(AnyMetric):
    """The sum of the mean losses of both classes."""

    __slots__ = ()
    scale: ClassVar[Scale] = "log"

    @abc.abstractmethod
    def losses(self, sample: Sample) -> Losses:
        """Compute what each sorted trial loses.

        Parameters
        ----------
        sample : Sample
            What `view` returned.

        Returns
        -------
        tar, non : ndarray of float64
        """

    def values(self, rows: Rows) -> FloatArray:
        """Compute the metric of each row."""
        tar, non = rows.means(self.losses(rows.sample))
        return tar + non


@attrs.frozen
class Metric(AnyMetric):
    """A metric of a user: a function of the scores of each class.

    Parameters
    ----------
    function : callable
        ``function(tar, non)`` returns a number.
    scale : {"identity", "logit", "log"}, default: "identity"
        On which scale its intervals are symmetric: of rates the logit, of costs the logarithm.
    bounds : (float, float), optional
        Least and greatest value; by default any.
    label : str, optional
        Its name; by default that of the function.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import uncertainty as unc
    >>> gap = unc.Metric(lambda tar, non: np.mean(tar) - np.mean(non), label="gap")
    >>> gap([1.0, 3.0], [0.0, 1.0])
    1.5
    """

    function: Callable[..., object]
    scale: Scale = attrs.field(  # type: ignore[misc]
        default="identity", kw_only=True, validator=check.one_of(Scale)
    )
    bounds: tuple[float, float] = attrs.field(default=(-np.inf, np.inf), kw_only=True)
    label: str = attrs.field(kw_only=True)

    @label.default
    def _name(self) -> str:
        return getattr(self.function, "__name__", "metric")

    def values(self, rows: Rows) -> FloatArray:
        """Compute the metric of each row."""
        return np.array([self._number(lists) for lists in rows.lists()])

    def _number(self, lists: Sequence[FloatArray]) -> float:
        if not all(len(one) for one in lists):
            return np.nan
        value = self.function(*lists)
        try:
            return float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise check.invalid("metric", "return a number", check.describe(value)) from None


def as_metric(metric: object) -> AnyMetric:
    """Return a metric of the package, or of a user: ``f(tar, non)``, or a class with `value`."""
    match metric:
        case AnyMetric() if type(metric).value is AnyMetric.value:
            return metric
        case type():
            hint = f"Make one first: {metric.__name__}(...)."
        case _ if callable(value := getattr(metric, "value", None)):
            named = {
                n: getattr(metric, n) for n in ("label", "scale", "bounds") if hasattr(metric, n)
            }
            named = {"label": type(metric).__name__, **named}
            return Metric(lambda tar, non: value(Sample.from_scores(tar, non)), **named)
        case _ if callable(metric):
            return Metric(metric)
        case _:
            hint = "For instance EER(), MinDCF(0.05), or a function f(tar, non)."
    raise check.invalid("metric", "be a metric or a function", check.describe(metric), hint)
