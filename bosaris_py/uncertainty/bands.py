"""Whole curves as statistics, and the bands that a bootstrap puts around them.

`bootstrap` and `bootstrap_scores` take a curve like any other metric. Its method ``band`` makes of
the result an interval for each point, or a band for the whole curve. Plots shade it.
"""

from __future__ import annotations

import abc
import functools
import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt
import scipy

from bosaris_py import _validation as check
from bosaris_py._arrays import (
    BoolArray,
    Float64Array,
    FloatArray,
    IntArray,
    Weights,
    mark_read_only,
)
from bosaris_py.evaluation.curves import LARGEST_PLO
from bosaris_py.numerics.priors import DecisionCosts, sigmoid
from bosaris_py.numerics.roc import ROC
from bosaris_py.numerics.rocch import SAME_COST
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.speaker_pairs import ROUNDING
from bosaris_py.trials.strata import SetIndex, SortedStrata, weighted_sum
from bosaris_py.uncertainty.bootstrap_result import (
    BootstrapResult,
    IntervalKind,
    defined_replicates,
)
from bosaris_py.uncertainty.resampling import ResamplingPlan
from bosaris_py.uncertainty.speaker_curve import (
    SpeakerMeans,
    SpeakerTrials,
    ValuesOfSpeakers,
    WeightedCurve,
)
from bosaris_py.uncertainty.statistics import class_means
from bosaris_py.uncertainty.statistics.roc_functions import CurveStatistic, MinDCF
from bosaris_py.uncertainty.statistics.samplers import Evaluator, Sampler
from bosaris_py.uncertainty.statistics.statistic import Bounds, Means, Statistic, WhichClass

DCFKind: TypeAlias = Literal["act", "min"]


class _Grid(tuple[float, ...]):
    """Points of a curve by default; in the signature that ``help`` shows, their number and ends."""

    def __repr__(self) -> str:
        return f"<{len(self)} from {self[0]:.4g} to {self[-1]:.4g}>"


# Equally spaced on the paper of each plot, over all that its windows show.
_PLO = _Grid(np.linspace(-10.0, 10.0, 401).tolist())

_PFA = _Grid(scipy.special.ndtr(np.linspace(-4.5, 2.5, 351)).tolist())


def _to_grid(values: npt.ArrayLike, name: str) -> tuple[float, ...]:
    grid = check.as_vector(values, name).astype(np.float64)
    if grid.size == 0 or not (np.diff(grid) > 0).all():
        raise check.invalid(name, "be strictly ascending", check.describe(grid))
    return tuple(grid.tolist())


def _to_plo(values: npt.ArrayLike) -> tuple[float, ...]:
    plo = _to_grid(values, "plo")
    if not max(-plo[0], plo[-1]) <= LARGEST_PLO:
        raise check.invalid("plo", f"lie within +-{LARGEST_PLO:g}", f"{plo[0]:g} to {plo[-1]:g}")
    return plo


def _to_pfa(values: npt.ArrayLike) -> tuple[float, ...]:
    pfa = _to_grid(values, "pfa")
    if not (pfa[0] >= 0.0 and pfa[-1] <= 1.0):
        hint = "Percentages must be divided by 100." if 1.0 < pfa[-1] <= 100.0 else ""
        raise check.invalid("pfa", "lie in [0, 1]", f"{pfa[0]:g} to {pfa[-1]:g}", hint)
    return pfa


# From a rate or a cost to the scale on which its errors are alike, and back.
_Scale: TypeAlias = tuple[
    Callable[[Float64Array], Float64Array], Callable[[Float64Array], Float64Array]
]


_PROBIT: _Scale = scipy.special.ndtri, scipy.special.ndtr


def _checked(result: object, shape: tuple[int, ...], form: str) -> BootstrapResult:
    """Return the result of a bootstrap if its values have the shape of a curve."""
    if not isinstance(result, BootstrapResult):
        raise check.invalid("result", "be a BootstrapResult", check.describe(result))
    got = np.shape(result.estimate)
    if got != shape:
        hint = "Bootstrap this very curve: bootstrap(tar, non, curve)."
        raise check.invalid("result", f"be of this curve, {form}", f"values of shape {got}", hint)
    return result


def _band_of(result: object, size: int, scale: _Scale) -> tuple[Float64Array, dict[str, Any]]:
    """Return what a band takes of the result of a curve of so many points: the values, the rest."""
    result = _checked(result, (size,), f"with {size} values")
    return result.estimate, _made(result, *_pointwise(result, scale, ("percentile", "basic")))


def _made(result: BootstrapResult, low: object, high: object) -> dict[str, Any]:
    """Return what all bands have: their ends, and how the bootstrap was made."""
    ends = {"low": mark_read_only(np.array(low)), "high": mark_read_only(np.array(high))}
    how = {"method": result.method, "interval": result.interval, "confidence": result.confidence}
    return ends | how


# A scale says little where more than this share of replicates show no errors.
_MOST_EXTREME = 0.025


def _on_scale(
    result: BootstrapResult, scale: _Scale
) -> tuple[Float64Array, Float64Array, Float64Array, BoolArray]:
    """Return the curve and its replicates on a scale, their spread, and where that means much."""
    to, _ = scale
    replicates = result.replicates[defined_replicates(result.replicates)]
    values = np.concatenate((np.asarray(result.estimate)[None], replicates))
    # What is 0, or a rate of 1, lies at infinity: half of the least step from there instead.
    step = 0.5 * float(np.min(values, where=values > 0, initial=1.0))
    is_rate = np.asarray(result.bounds[1]).max() <= 1.0
    curves = to(np.clip(values, step, max(1.0 - step, step) if is_rate else np.inf))
    spread = curves[1:].std(axis=0, ddof=1)
    # Where many replicates have no errors, or nothing else, they say little on this scale.
    extreme = (values <= 0.0) | (values >= 1.0 if is_rate else False)
    inside = ~extreme[0] & (extreme[1:].mean(axis=0) < _MOST_EXTREME)
    return curves[0], curves[1:], spread, (spread > ROUNDING * np.abs(curves[0])) & inside


def _pointwise(
    result: BootstrapResult, scale: _Scale, kinds: tuple[IntervalKind, ...] = ("percentile",)
) -> tuple[Float64Array, Float64Array]:
    """Return the ends of intervals: of drawn speakers, Student's on a scale where it means much."""
    # Elsewhere a rate may be as large as one that K speakers show no error of, 1 - 0.025^(1/K).
    low, high = np.asarray(result.low), np.asarray(result.high)
    if math.isinf(result.degrees) or result.interval not in kinds:
        return low, high
    curve, replicates, spread, varies = _on_scale(result, scale)
    if result.interval == "basic":
        # A minimum is optimistic, a replicate as much more so: "basic" mirrors it.
        curve = 2.0 * curve - replicates.mean(axis=0)
    least, most = map(np.asarray, result.bounds)
    whole = np.where(np.isfinite(most), most, 1.0)
    tail = 0.5 - 0.5 * result.confidence
    half = -scipy.special.ndtri(tail) * result.expansion * spread
    rare = (1.0 - tail ** (1.0 / (result.degrees + 1.0))) * whole
    is_high = np.asarray(result.estimate) > 0.5 * whole
    low = np.where(is_high, np.minimum(low, whole - rare), low)
    high = np.where(is_high, high, np.maximum(high, rare))
    ends = (scale[1](curve - half), low), (scale[1](curve + half), high)
    lower, upper = (np.clip(np.where(varies, a, b), least, most) for a, b in ends)
    return lower, upper


@attrs.frozen(eq=False, repr=False, kw_only=True)
class _Band:
    """What the bands of all curves have."""

    low: Float64Array
    high: Float64Array
    method: str
    interval: IntervalKind
    confidence: float

    def _described(self, axes: str, x: Float64Array) -> str:
        form = f"{100 * self.confidence:g} % pointwise {self.interval} band"
        what = f"{form} of {axes} {x[0]:g} ... {x[-1]:g}"
        return f"{type(self).__name__}: {what}; {self.method} bootstrap"


@attrs.frozen(eq=False, repr=False)
class DCFBand(_Band):
    """A band around a curve of normalized Bayes error-rates.

    Made by `ActDCFCurve.band` and `MinDCFCurve.band`; drawn by `BayesPlot.plot_band`.

    Parameters
    ----------
    kind : {"act", "min"}
        Actual or minimum error-rate.
    plo : (k,) ndarray of float64
        Prior log-odds, ascending.
    dcf : (k,) ndarray of float64
        The normalized error-rate of the data at each.
    low, high : (k,) ndarray of float64
        Ends of its confidence interval.
    method, interval, confidence
        As in `BootstrapResult`.
    """

    kind: DCFKind
    plo: Float64Array
    dcf: Float64Array

    def __repr__(self) -> str:
        """Say what the band is of, and how it was made."""
        return self._described(f"{self.kind} DCF, plo", self.plo)


@attrs.frozen(eq=False, repr=False)
class DETBand(_Band):
    """A band around a DET curve: an interval of the miss rate at each false-alarm rate.

    Made by `DETCurve.band`; drawn by `DETPlot.plot_band`.

    Parameters
    ----------
    pfa : (k,) ndarray of float64
        Allowed false-alarm rates, ascending.
    pmiss : (k,) ndarray of float64
        Miss rate of the data at each.
    low, high, method, interval, confidence
        As in `DCFBand`.
    """

    pfa: Float64Array
    pmiss: Float64Array

    def __repr__(self) -> str:
        """Say what the band is of, and how it was made."""
        return self._described("pmiss, pfa", self.pfa)


@attrs.frozen
class DETCurve(CurveStatistic):
    r"""The DET curve as a statistic: the miss rate at given false-alarm rates.

    Parameters
    ----------
    pfa : (k,) array_like of float, optional
        Allowed false-alarm rates, strictly ascending, in [0, 1]. By default 351
        from 3.4e-6 to 0.994, equally spaced on a DET plot: all that its windows show.

    Notes
    -----
    The value is an array: for each rate the least miss rate of all thresholds that keep it, as
    `ROC.threshold_at` finds it, anew in every replicate: vertical averaging [1]_. A bootstrap warns
    of few errors at rates that a user names; of all that plots show some always have few.

    A band is an interval of each point: it says where the true miss rate of one false-alarm rate
    may lie. It says nothing of the whole curve. Of speakers it is Student's, on the probit scale.
    Where replicates show no misses, the rate may be as large as K speakers leave open,
    :math:`1 - (\alpha/2)^{1/K}`.

    References
    ----------
    .. [1] S. A. Macskassy and F. Provost, "Confidence bands for ROC curves", ROCAI 2004.

    Examples
    --------
    >>> DETCurve([0.0, 0.5, 1.0])([1.0, 3.0], [0.0, 2.0]).tolist()
    [0.5, 0.0, 0.0]

    A band, from trials that are independent:

    >>> from bosaris_py.uncertainty import bootstrap
    >>> rng = np.random.default_rng(1)
    >>> tar, non = rng.normal(3, 1, 400), rng.normal(0, 1, 4000)
    >>> curve = DETCurve([0.01, 0.05])
    >>> band = curve.band(bootstrap(tar, non, curve, rng=2))
    >>> band
    DETBand: 95 % pointwise percentile band of pmiss, pfa 0.01 ... 0.05; iid bootstrap
    >>> for values in (band.pmiss, band.low, band.high):
    ...     print([f"{100 * value:.1f} %" for value in values])
    ['27.8 %', '8.2 %']
    ['20.8 %', '5.2 %']
    ['33.8 %', '11.0 %']
    """

    pfa: tuple[float, ...] = attrs.field(default=_PFA, converter=_to_pfa)

    @property
    def shape(self) -> tuple[int, ...]:
        """One miss rate for each false-alarm rate."""
        return (len(self.pfa),)

    bounds = 0.0, 1.0

    def of_curve(self, curve: WeightedCurve) -> Float64Array:
        """Return the miss rates."""
        return self._least_misses(*curve.exact_points())

    def of_roc(self, roc: ROC) -> Float64Array:
        """Return the miss rates."""
        return self._least_misses(roc.pmiss, roc.pfa)

    def open_cells(self, pmiss: Float64Array, pfa: Float64Array, starts: IntArray) -> BoolArray:
        """Tell inside which cells a false-alarm rate is first allowed."""
        low, high = pfa[:, starts + 1] * SAME_COST, pfa[:, starts] / SAME_COST
        return np.asarray(np.searchsorted(self.pfa, low) < np.searchsorted(self.pfa, high))

    def _chosen_thresholds(self, sample: ListedSample) -> Float64Array | None:
        """Return the thresholds; None of all the rates that plots show."""
        roc = sample.roc
        return None if self.pfa == _PFA else roc.thresholds[self._first_allowed(roc.pfa)]

    def _first_allowed(self, pfa: Float64Array) -> IntArray:
        """Return the first point of a ROC that each false-alarm rate allows."""
        return np.asarray(pfa.size - np.searchsorted(pfa[::-1], self.pfa, side="right"))

    def _least_misses(self, pmiss: Float64Array, pfa: Float64Array) -> Float64Array:
        """Return the miss rate of the first point that each false-alarm rate allows."""
        return np.asarray(pmiss[self._first_allowed(pfa)])

    def band(self, result: BootstrapResult) -> DETBand:
        """Make a band of the curve's bootstrap.

        Parameters
        ----------
        result : BootstrapResult
            What `bootstrap` or `bootstrap_scores` found for this curve.

        Returns
        -------
        DETBand
        """
        pfa = mark_read_only(np.array(self.pfa))
        pmiss, made = _band_of(result, pfa.size, _PROBIT)
        # A DET curve falls. Of few replicates a lower end may lie above an upper one before it.
        high = np.fmin.accumulate(np.append(1.0, made["high"]))[1:]
        low = np.fmin(made["low"], high)
        made |= {"low": mark_read_only(low), "high": mark_read_only(high)}
        return DETBand(pfa, pmiss, **made)


class _Curve(Statistic):
    """A curve that another statistic computes."""

    __slots__ = ()

    @property
    @abc.abstractmethod
    def _computed(self) -> Statistic:
        """The other statistic."""

    def of_sample(self, sample: ListedSample) -> float | Float64Array:
        """Compute the curve."""
        return self._computed.of_sample(sample)

    def evaluator(self, tar: SortedStrata, non: SortedStrata) -> Evaluator:
        """Prepare for many weights; see `Statistic.evaluator`."""
        return self._computed.evaluator(tar, non)

    def sampler(self, sample: ListedSample, plan: ResamplingPlan) -> Sampler:
        """Choose the fastest way to draw replicates; see `Statistic.sampler`."""
        return self._computed.sampler(sample, plan)

    def speaker_sums(self, trials: SpeakerTrials) -> ValuesOfSpeakers | None:
        """Prepare for many sets of weights of speakers; see `Statistic.speaker_sums`."""
        return self._computed.speaker_sums(trials)


@attrs.frozen
class _DCFCurve(_Curve):
    """A normalized Bayes error-rate over a range of priors."""

    kind: ClassVar[DCFKind]
    _cost: ClassVar[type[class_means.ActDCF] | type[MinDCF]]

    plo: tuple[float, ...] = attrs.field(default=_PLO, converter=_to_plo)

    @property
    def _computed(self) -> Statistic:
        """The same as a statistic of costs."""
        return self._cost(DecisionCosts.from_plo(self.plo), normalize=True)

    @property
    def shape(self) -> tuple[int, ...]:
        """One error-rate for each prior."""
        return (len(self.plo),)

    @property
    def bounds(self) -> Bounds:
        """From no errors to nothing but errors, or for a minimum to useless scores."""
        return self._computed.bounds

    def band(self, result: BootstrapResult) -> DCFBand:
        """Make a band of the curve's bootstrap; see `DETCurve.band`.

        Parameters
        ----------
        result
            As for `DETCurve.band`, on the logarithmic scale.

        Returns
        -------
        DCFBand
        """
        plo = mark_read_only(np.array(self.plo))
        dcf, made = _band_of(result, plo.size, (np.log, np.exp))
        return DCFBand(self.kind, plo, dcf, **made)


@attrs.frozen
class ActDCFCurve(_DCFCurve):
    r"""The normalized Bayes error-rate over a range of priors, as a statistic.

    Parameters
    ----------
    plo : (k,) array_like of float, optional
        Prior log-odds, strictly ascending, within +-700. By default 401 from -10 to 10.

    See Also
    --------
    ActDCF : A single prior, or a few.

    Notes
    -----
    Theory paper (arXiv:1304.2865), section 2.5.4: the curve of `BayesPlot.plot_dcf_curve_act`.
    Scores are taken as natural-log likelihood-ratios. For the kinds of band see `DETCurve`.

    Examples
    --------
    >>> ActDCFCurve([-1.5, 0.0, 1.5])([1.0, 3.0, 4.0], [-2.0, 0.0, 2.0]).round(4).tolist()
    [1.8272, 0.6667, 0.6667]

    >>> from bosaris_py.uncertainty import bootstrap
    >>> rng = np.random.default_rng(1)
    >>> tar, non = rng.normal(2, 2, 400), rng.normal(-2, 2, 4000)
    >>> curve = ActDCFCurve(np.linspace(-2, 0, 21))
    >>> curve.band(bootstrap(tar, non, curve, rng=2))
    DCFBand: 95 % pointwise percentile band of act DCF, plo -2 ... 0; iid bootstrap
    """

    kind: ClassVar[DCFKind] = "act"
    _cost = class_means.ActDCF

    def _chosen_thresholds(self, sample: ListedSample) -> Float64Array | None:
        """Return Bayes' thresholds; None of all the priors that plots show."""
        return None if self.plo == _PLO else -np.array(self.plo)


@attrs.frozen
class MinDCFCurve(_DCFCurve):
    r"""The normalized minimum error-rate over a range of priors, as a statistic.

    Parameters
    ----------
    plo : (k,) array_like of float, optional
        Prior log-odds, as for `ActDCFCurve`.

    See Also
    --------
    MinDCF : A single prior, or a few; says why the interval is ``"basic"``.

    Notes
    -----
    The curve of `BayesPlot.plot_dcf_curve_min`; kinds of band as for `DETCurve`. A basic interval
    mirrors the replicates about the estimate. Where these are all on one side, so is the band of
    trials. A pointwise band of speakers lies about the estimate without the bias of the replicates.

    Examples
    --------
    >>> MinDCFCurve([-1.5, 0.0, 1.5])([1.0, 3.0, 4.0], [-2.0, 0.0, 2.0]).round(4).tolist()
    [0.3333, 0.3333, 0.3333]
    """

    default_interval: ClassVar[IntervalKind] = "basic"
    kind: ClassVar[DCFKind] = "min"
    _cost = MinDCF

    def _chosen_thresholds(self, sample: ListedSample) -> Float64Array | None:
        """Return the best thresholds; None of all the priors that plots show."""
        best = sample.roc.convex_hull().best_vertices(DecisionCosts.from_plo(self.plo))
        return None if self.plo == _PLO else sample.roc.convex_hull().thresholds[best]


# Natural log of likelihood-ratios from 10^-6 to 10^6, and of prior odds from 10^-2.5 to 10^2.5.
_LLR = _Grid((np.linspace(-6.0, 6.0, 241) * math.log(10.0)).tolist())
_ODDS = _Grid((np.linspace(-2.5, 2.5, 51) * math.log(10.0)).tolist())


@attrs.frozen(eq=False)
class TippettBand(_Band):
    """Bands around both curves of a Tippett plot; made by `Tippett.band`.

    Parameters
    ----------
    llr : (k,) ndarray of float64
        Natural-log likelihood-ratios, ascending.
    low, high : (2, k) ndarray of float64
        Ends of the intervals of the shares at or above: of targets, and of non-targets.
    method, interval, confidence
        As in `DCFBand`.
    """

    llr: Float64Array

    def of(self, convention: str) -> tuple[tuple[Float64Array, Float64Array], ...]:
        """Return the ends for targets and for non-targets in a convention of `plot_tippett`.

        Parameters
        ----------
        convention : {"above", "crossing"}
            As for `plot_tippett`.

        Returns
        -------
        pair of pairs of (k,) ndarray of float64
        """
        check.check_choice(convention, ("above", "crossing"), "convention")
        tar, non = zip(self.low, self.high, strict=True)
        return (tar, non) if convention == "above" else (tar, (1.0 - non[1], 1.0 - non[0]))


def _to_llr(values: npt.ArrayLike) -> tuple[float, ...]:
    return _to_grid(values, "thresholds")


@attrs.frozen
class Tippett(_Curve):
    """Both curves of a Tippett plot as a statistic: error-rates at many likelihood-ratios.

    Parameters
    ----------
    thresholds : (k,) array_like of float, optional
        Natural-log likelihood-ratios, strictly ascending. By default 241, log10 LR from -6 to 6.

    Notes
    -----
    The value is that of `ErrorRates`. The share of targets at or above an LLR is one minus the
    miss rate, that of non-targets the false-alarm rate. The band of speakers is Student's interval
    on the probit scale; where replicates have no errors, the result's.

    Examples
    --------
    >>> from bosaris_py.uncertainty import bootstrap
    >>> rng = np.random.default_rng(1)
    >>> tar, non = rng.normal(2, 2, 400), rng.normal(-2, 2, 4000)
    >>> curve = Tippett([-1.0, 0.0, 1.0])
    >>> curve.band(bootstrap(tar, non, curve, rng=2)).low.shape
    (2, 3)
    """

    thresholds: tuple[float, ...] = attrs.field(default=_LLR, converter=_to_llr)

    @property
    def _computed(self) -> class_means.ErrorRates:
        return class_means.ErrorRates(self.thresholds)

    bounds = 0.0, 1.0

    @property
    def shape(self) -> tuple[int, ...]:
        """A miss rate and a false-alarm rate for each LLR."""
        return (2, len(self.thresholds))

    def band(self, result: BootstrapResult) -> TippettBand:
        """Make a band of the curves' bootstrap; see `DETCurve.band`.

        Parameters
        ----------
        result
            As for `DETCurve.band`.

        Returns
        -------
        TippettBand
        """
        result = _checked(result, self.shape, f"of shape {self.shape}")
        low, high = _pointwise(result, _PROBIT)
        low, high = np.stack((1.0 - high[0], low[1])), np.stack((1.0 - low[0], high[1]))
        # Shares fall, so wider ends at one side hold at the other.
        low = np.minimum.accumulate(low, axis=1)
        high = np.maximum.accumulate(high[:, ::-1], axis=1)[:, ::-1]
        at = mark_read_only(np.array(self.thresholds))
        return TippettBand(at, **_made(result, low, high))


@attrs.frozen(eq=False)
class ECEBand(_Band):
    """A band around an ECE curve; made by `ECE.band`.

    Parameters
    ----------
    plo : (k,) ndarray of float64
        Prior log-odds, ascending.
    ece, low, high : (k,) ndarray of float64
        Empirical cross-entropy at each, in bits, and the ends of its interval.
    method, interval, confidence
        As in `DCFBand`.
    """

    plo: Float64Array
    ece: Float64Array


@attrs.frozen
class ECE(class_means.Cllr):
    """Empirical cross-entropy over a range of priors, as a statistic.

    Parameters
    ----------
    plo : (k,) array_like of float, optional
        Prior log-odds, strictly ascending, within +-700. By default 51, log10 odds from -2.5 to
        2.5.

    See Also
    --------
    bosaris_py.evaluation.ECECurve : The curve, with the formula.

    Examples
    --------
    >>> ECE([-1.0, 0.0])([1.0, 3.0], [-2.0, 2.0]).round(4).tolist()
    [0.8773, 0.9434]
    """

    plo: tuple[float, ...] = attrs.field(default=_ODDS, converter=_to_plo)

    @property
    def shape(self) -> tuple[int, ...]:
        """One cross-entropy for each prior."""
        return (len(self.plo),)

    def of_sample(self, sample: ListedSample) -> Float64Array:
        """Average the costs of each class."""
        tar, non = (
            np.average(_costs(scores, self.plo, which), axis=1, weights=weights)
            for which, (scores, weights) in enumerate(
                zip(sample.lists, sample.trial_weights, strict=True)
            )
        )
        value: Float64Array = self.combine(tar[None, :], non[None, :])[0]
        return value

    def combine(self, tar_means: Float64Array, non_means: Float64Array) -> Float64Array:
        """Weight the mean costs of both classes by the priors."""
        prior = np.asarray(sigmoid(np.array(self.plo)))
        return prior * tar_means + (1.0 - prior) * non_means

    def sums(self, scores: FloatArray, index: SetIndex, which: WhichClass) -> Weights:
        """Add up the costs of the trials of each set; see `Cllr.sums`."""
        rows = _costs(scores, self.plo, which)
        sums = [np.bincount(index.labels, row, minlength=index.n_sets) for row in rows]
        return np.stack(sums, axis=1)

    def means_of(self, strata: SortedStrata, which: WhichClass) -> Means:
        """Compute the costs of each score; see `Cllr.means_of`."""
        costs = mark_read_only(_costs(strata.values, self.plo, which))
        return functools.partial(_mean_costs, strata.slices, costs, strata.shares)

    def speaker_sums(self, trials: SpeakerTrials) -> ValuesOfSpeakers:
        """Add up the costs of each pair of speakers, at each prior."""
        tar, non = trials.sample.lists
        costs = zip(_costs(tar, self.plo, 0), _costs(non, self.plo, 1), strict=True)
        parts = [
            SpeakerMeans.of(trials, rows, ECE((plo,)).combine)
            for plo, rows in zip(self.plo, costs, strict=True)
        ]
        return functools.partial(_side_by_side, parts)

    def band(self, result: BootstrapResult) -> ECEBand:
        """Make a band of the curve's bootstrap; see `DETCurve.band`.

        Parameters
        ----------
        result
            As for `DETCurve.band`, on the logarithmic scale.

        Returns
        -------
        ECEBand
        """
        plo = mark_read_only(np.array(self.plo))
        ece, made = _band_of(result, plo.size, (np.log, np.exp))
        return ECEBand(plo, ece, **made)


def _side_by_side(parts: list[SpeakerMeans], first: Weights, second: Weights) -> Float64Array:
    return np.concatenate([part(first, second) for part in parts], axis=1)


def _costs(scores: FloatArray, plo: tuple[float, ...], which: int) -> Float64Array:
    """Return the cost of each score at each prior, in bits: (k, n)."""
    shifted = scores.astype(np.float64) + np.array(plo)[:, None]
    return np.asarray(np.logaddexp(0.0, shifted if which else -shifted) / math.log(2.0))


def _mean_costs(
    slices: list[slice], costs: Float64Array, shares: Float64Array, weights: Weights
) -> Float64Array:
    means = [(costs[:, at] * weights[at]).sum(axis=1) / weights[at].sum() for at in slices]
    return np.asarray(weighted_sum(means, shares))
