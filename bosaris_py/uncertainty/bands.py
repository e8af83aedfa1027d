r"""Bands around curves: at each point an interval, made of the replicates of a bootstrap.

A curve is a function of rows, as a metric is: of the error-rates at all thresholds (DET), at some
(Bayes error-rate, Tippett), or of mean losses (ECE). A band says where the true value of one point
may lie. It says nothing of the whole curve, which leaves its band somewhere far more often [1]_.

References
----------
.. [1] S. A. Macskassy and F. Provost, "Confidence bands for ROC curves", ROCAI 2004.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, get_args

import attrs
import numpy as np
import scipy

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike, FloatArray, Rng, read_only
from bosaris_py.metrics.curves import LARGEST_PLO, ascending
from bosaris_py.metrics.metric import Losses, OneRow, Rows
from bosaris_py.numerics.priors import DecisionCosts, sigmoid
from bosaris_py.numerics.scoring import softplus
from bosaris_py.trials import Key, Sample, Scores
from bosaris_py.trials.conditions import ConditionsLike
from bosaris_py.trials.speakers import SpeakersLike
from bosaris_py.uncertainty.bootstrap import Resampling, degenerate, drawn_lists
from bosaris_py.uncertainty.draws import Method
from bosaris_py.uncertainty.estimate import quantile

BandKind = Literal["det", "bayes", "tippett", "ece"]

# A rate that was computed may lie so far above one that it equals.
_ROUNDING = 1e-12


@attrs.frozen(eq=False, repr=False)
class Band:
    """A curve, and an interval of each of its points; made by `bootstrap_bands`.

    Parameters
    ----------
    kind : {"det", "bayes", "tippett", "ece"}
        The curve.
    x : (k,) ndarray of float64
        False-alarm rates ("det"), prior log-odds ("bayes", "ece"), or natural-log
        likelihood-ratios ("tippett"); ascending.
    value, low, high : (k,) or (2, k) ndarray of float64
        The miss rate; the normalized Bayes error-rate; the shares of targets, and of non-targets,
        at or above each likelihood-ratio (two rows); the cross-entropy in bits. Then the ends of
        the interval of each.
    method : str
        What was drawn.
    confidence : float
        Of the interval of each point.
    """

    kind: BandKind
    x: FloatArray = attrs.field(converter=read_only)
    value: FloatArray = attrs.field(converter=read_only)
    low: FloatArray = attrs.field(converter=read_only)
    high: FloatArray = attrs.field(converter=read_only)
    method: str
    confidence: float

    def __repr__(self) -> str:
        """Say what the band is of, and how it was made."""
        points = f"{self.x.size} points from {self.x[0]:.3g} to {self.x[-1]:.3g}"
        how = f"{100 * self.confidence:g} % at each, {self.method} bootstrap"
        return f"Band: {self.kind}, {points}; {how}"


# ---- Curves, as functions of rows and of x


def _det(rows: Rows, x: FloatArray) -> FloatArray:
    """Return the least miss rates that keep to each false-alarm rate."""
    # The first threshold whose false-alarm rate is allowed; along a row these rates fall.
    pmiss, pfa = rows.rates("hull")
    limits = -x * (1.0 + _ROUNDING)
    at = [np.searchsorted(-row, limits) for row in pfa]
    return np.take_along_axis(pmiss, np.array(at), axis=1)


def _bayes(rows: Rows, x: FloatArray) -> FloatArray:
    """Return the normalized error-rates of Bayes decisions: theory paper, equation (19)."""
    costs = DecisionCosts.from_plo(x)
    return costs.cost(*rows.rates_at(costs.thresholds), normalize=True)


def _tippett(rows: Rows, x: FloatArray) -> FloatArray:
    """Return the shares of targets, then those of non-targets, at or above each value."""
    pmiss, pfa = rows.rates_at(x)
    return np.concatenate((1.0 - pmiss, pfa), axis=1)


def _ece(rows: Rows, x: FloatArray) -> FloatArray:
    """Return the cross-entropy of posteriors in bits."""
    prior = np.asarray(sigmoid(x))
    tar, non = rows.means(_bits(rows.sample, x))
    return prior * tar + (1.0 - prior) * non


def _bits(sample: Sample, plo: FloatArray) -> Losses:
    """Return what each sorted trial costs at each prior: (k, n)."""
    tar, non = (one.scores + plo[:, np.newaxis] for one in (sample.tar, sample.non))
    return softplus(tar, -1.0) / math.log(2.0), softplus(non, 1.0) / math.log(2.0)


# Where each curve is computed by default: equally spaced on its plot, over all that is shown.
_CURVES: dict[
    BandKind, tuple[Callable[[Rows, FloatArray], FloatArray], Callable[[], FloatArray]]
] = {
    "det": (_det, lambda: scipy.special.ndtr(np.linspace(-4.5, 2.5, 351))),
    "bayes": (_bayes, lambda: np.linspace(-10.0, 10.0, 401)),
    "tippett": (_tippett, lambda: np.linspace(-6.0, 6.0, 241) * math.log(10.0)),
    "ece": (_ece, lambda: np.linspace(-2.5, 2.5, 51) * math.log(10.0)),
}


def _to_x(values: ArrayLike | None, kind: BandKind) -> FloatArray:
    if values is None:
        return _CURVES[kind][1]()
    limits = {"det": (0.0, 1.0), "tippett": (-np.inf, np.inf)}
    return ascending(values, "x", *limits.get(kind, (-LARGEST_PLO, LARGEST_PLO)))


def bands_of_sample(
    sample: Sample,
    how: Resampling,
    kinds: Sequence[BandKind] = get_args(BandKind),
    x: ArrayLike | None = None,
) -> dict[BandKind, Band]:
    """Make the bands of several curves of a sample, from the same draws."""
    view = sample.bona_fide()
    places = {kind: _to_x(x, kind) for kind in kinds}

    def all_curves(rows: Rows) -> FloatArray:
        curves = [_CURVES[kind][0](rows, at) for kind, at in places.items()]
        return np.concatenate(curves, axis=1)

    values = all_curves(OneRow(view))
    (replicates,) = how.values_of_draws(all_curves, [view])
    errors.warn(degenerate([replicates.sum(axis=1)]))
    known = replicates[~np.isnan(replicates).any(axis=1)]
    tail = 0.5 - 0.5 * how.confidence
    # Value, low and high end of all curves: (3, n).
    lines = np.concatenate((values, quantile(known, [tail, 1.0 - tail])))
    found, start = {}, 0
    for kind, at in places.items():
        shape = (3, 2, at.size) if kind == "tippett" else (3, at.size)
        part = lines[:, start : start + math.prod(shape[1:])]
        start += part.shape[1]
        value, low, high = part.reshape(shape)
        found[kind] = Band(kind, at, value, low, high, how.method, how.confidence)
    return found


def bootstrap_bands(
    scores: Scores | tuple[ArrayLike, ArrayLike],
    key: Key | None = None,
    *,
    kind: BandKind = "det",
    x: ArrayLike | None = None,
    method: Method | None = None,
    speakers: SpeakersLike = None,
    conditions: ConditionsLike = None,
    replications: int = 2000,
    confidence: float = 0.95,
    rng: Rng = None,
    progress: bool = False,
) -> Band:
    """Bootstrap a curve, and make an interval of each of its points.

    Parameters
    ----------
    scores : Scores, or pair of array_like of float
        Scores of the system; without a key, those of targets and of non-targets.
    key : Key, optional
        Which trials are targets and which non-targets.
    kind : {"det", "bayes", "tippett", "ece"}
        The curve: miss rate over false-alarm rate; normalized error-rate of Bayes decisions over
        the prior; shares of trials at or above each likelihood-ratio; empirical cross-entropy.
    x : (k,) array_like of float, optional
        Where: see `Band`. By default, all that plots show.
    method : {"speaker", "iid", "one-layer", "two-layer"}, optional
        As for `bootstrap_scores`; by default ``"speaker"`` with a key, and ``"iid"`` without.
    speakers, conditions
        As for `bootstrap_scores`.
    replications, confidence, rng, progress
        As for `bootstrap`. Ends are quantiles of the replicates of each point.

    Returns
    -------
    Band
        For ``bands=`` of `plot_det`, `plot_bayes`, `plot_tippett` and `plot_ece`.

    Warns
    -----
    FewErrorsWarning, FewSpeakersWarning
        If replicates lost a class, or if fewer than 100 speakers are drawn.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> tar, non = rng.normal(3, 1, 400), rng.normal(0, 1, 4000)
    >>> band = bootstrap_bands((tar, non), kind="det", x=[0.01, 0.05], rng=2)
    >>> band
    Band: det, 2 points from 0.01 to 0.05; 95 % at each, iid bootstrap
    >>> bool((band.low < band.value).all() and (band.value < band.high).all())
    True
    """
    check.check_choice(kind, get_args(BandKind), "kind")
    drawn: Method = method or ("iid" if key is None else "speaker")
    how = Resampling(drawn, replications, "percentile", confidence, rng, progress)
    match scores:
        case Scores() if key is not None:
            who = how.speakers(key, speakers)
            sample = Sample.from_trials(scores, key, conditions, who)
        case (tar, non) if key is None and drawn == "iid":
            sample = drawn_lists(tar, non, drawn, None, None)
        case _:
            expected = 'be Scores with a key, or two lists of scores with method="iid"'
            raise check.invalid("scores", expected, check.describe(scores))
    errors.warn([*sample.notes, *how.few_speakers(sample)])
    return bands_of_sample(sample, how, [kind], x)[kind]
