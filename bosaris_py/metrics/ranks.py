r"""Metrics of the ranks of scores: equal error rate, area, one rate at the other, minimum Cllr.

They do not change if scores are put through a rising map, so they say how well scores tell the
classes apart, and nothing of their calibration.
"""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike, FloatArray, Weighting
from bosaris_py.metrics.metric import AnyMetric, Opening, RatesMetric, Rows, Scale
from bosaris_py.numerics.hull import areas, hull_eers, min_cllrs, steppy_eers
from bosaris_py.numerics.roc import EERDefinition
from bosaris_py.trials.sample import Grid, Sample, ScoredClass

# What rounding leaves of a rate without errors.
_ROUNDING = 1e-12

# Where the hull's EER is lower, at least half of the square lies below the curve.
_SURE_EER = 0.25


def inverted(sample: Sample) -> list[errors.Note]:
    """Note an AUC below 0.5 by 3 standard errors of scores that tell nothing (Mann-Whitney)."""
    n_tar, n_non = sample.tar.effective_size, sample.non.effective_size
    pmiss, pfa = sample.rates_at_all()
    # One point with low rates tells that the EER is low, and so the area large.
    low = pmiss[0].searchsorted(_SURE_EER, side="right") - 1
    if pfa[0, low] <= _SURE_EER or sample.hull.eer <= _SURE_EER:
        return []
    area = float(areas(*sample.rates_at_all(grid="ties"))[0])
    if area >= 0.5 - 3.0 * np.sqrt((n_tar + n_non + 1) / (12.0 * n_tar * n_non)):
        return []
    text = (
        f"The area under the ROC is {area:.3g}, so higher scores speak against targets. "
        "Are targets and non-targets swapped, or the scores distances? Then take -scores."
    )
    return [errors.Note(errors.SuspectScoresWarning, text)]


def cannot_show(one: ScoredClass, which: str, rate: float, at: str = "") -> list[errors.Note]:
    """Note an error-rate so low that less than one trial of the class may err."""
    if not 0.0 < rate * one.size < 1.0:
        return []
    noun = "targets" if which == "pmiss" else "non-targets"
    text = f"{one.size} {noun} cannot show a {which} of {rate:.3g}{at}; the lowest is "
    return [errors.Note(errors.FewErrorsWarning, f"{text}{1 / one.size:.2g}", count=one.size)]


def _only_if_none(price: float, value: float) -> list[Opening]:
    """Return the openings of a metric whose errors count only where there are none."""
    rate = 0.0 if value <= _ROUNDING else np.inf
    return [Opening(price, rate, 0), Opening(price, rate, 1)]


@attrs.frozen
class EER(RatesMetric):
    """Equal error rate.

    Parameters
    ----------
    definition : {"rocch", "interpolated", "step"}, default: "rocch"
        On the ROC's convex hull, on the ROC itself, or the step of it; see `bosaris_py.eer`.

    See Also
    --------
    bosaris_py.eer : The same number as a function.

    Examples
    --------
    >>> EER()([1.0, 3.0], [0.0, 2.0])
    0.25
    """

    definition: EERDefinition = attrs.field(default="rocch", validator=check.one_of(EERDefinition))
    unit: ClassVar[str] = "%"

    @property
    def label(self) -> str:
        """Its name, with the definition."""
        return "EER" if self.definition == "rocch" else f"EER ({self.definition})"

    @property
    def grid(self) -> Grid:  # type: ignore[override]
        """Ties of both classes are edges of their own; each distinct score is a step."""
        grids: dict[EERDefinition, Grid] = {"rocch": "hull", "interpolated": "ties", "step": "all"}
        return grids[self.definition]

    @property
    def bounds(self) -> tuple[float, float]:
        """From perfect scores to useless ones; inverted ones are no better on the hull."""
        return 0.0, 0.5 if self.definition == "rocch" else 1.0

    def of_rates(self, pmiss: FloatArray, pfa: FloatArray) -> FloatArray:
        """Compute the rate of curves."""
        if self.definition != "rocch":
            return steppy_eers(pmiss, pfa, self.definition)
        return hull_eers(pmiss, pfa)[0]

    def openings(self, sample: Sample) -> list[Opening]:
        """Tell what errors of each class cost, and how many there are: half of both."""
        value = self.computed(sample)
        return [Opening(0.5, value, 0), Opening(0.5, value, 1)]

    def doubts(self, sample: Sample) -> list[errors.Note]:
        """Tell of inverted scores."""
        return inverted(sample)


@attrs.frozen
class AUC(RatesMetric):
    """Area under the ROC, the chance that a target outscores a non-target.

    See Also
    --------
    bosaris_py.auc : The same number as a function.

    Examples
    --------
    >>> AUC()([1.0, 3.0], [0.0, 2.0])
    0.75
    """

    label: ClassVar[str] = "AUC"
    grid: ClassVar[Grid] = "ties"

    def of_rates(self, pmiss: FloatArray, pfa: FloatArray) -> FloatArray:
        """Compute the area of curves."""
        return areas(pmiss, pfa)

    def openings(self, sample: Sample) -> list[Opening]:
        """Tell what a class without errors leaves open."""
        return _only_if_none(-1.0, 1.0 - self.computed(sample))


@attrs.frozen
class PRBEP(AnyMetric):
    """Precision-recall break-even point, as a number of errors, on the ROC's convex hull.

    See Also
    --------
    bosaris_py.prbep : The same number as a function.

    Notes
    -----
    Intervals take the numbers of trials as fixed. That of the jackknife is on the scale of
    logarithms, and does not open where errors are few: of no errors it is 0 to 0. Rely then on that
    of `EER`.

    Examples
    --------
    >>> PRBEP()([1.0, 3.0], [0.0, 2.0])
    0.5
    """

    label: ClassVar[str] = "PRBEP"
    scale: ClassVar[Scale] = "log"

    @property
    def bounds(self) -> tuple[float, float]:
        """From no errors to any number of them."""
        return 0.0, np.inf

    def values(self, rows: Rows) -> FloatArray:
        """Compute the number of each row, as of the numbers of trials of the sample."""
        pmiss, pfa = rows.rates("hull")
        n_tar, n_non = (
            one.n_trials if one.weights is None else float(one.weights.sum())
            for one in (rows.sample.tar, rows.sample.non)
        )
        # Equation (29) of the theory paper: the EER of numbers of errors in place of rates.
        total = n_tar + n_non
        return total * hull_eers(pmiss * (n_tar / total), pfa * (n_non / total))[0]

    def doubts(self, sample: Sample) -> list[errors.Note]:
        """Tell of inverted scores."""
        return inverted(sample)


def _rate(value: object) -> float:
    hint = "Percentages must be divided by 100."
    return check.as_number(value, "the rate", "lie in [0, 1)", lambda x: 0.0 <= x < 1.0, hint)


@attrs.frozen
class PmissAt(RatesMetric):
    r"""Miss rate at the threshold that keeps to a false-alarm rate, on the same scores.

    Parameters
    ----------
    pfa : float
        Largest false-alarm rate allowed, in [0, 1).

    Notes
    -----
    :math:`\min\{P_{miss}(t) : P_{fa}(t) \le f\}`; FNMR at FMR of ISO/IEC 19795-1.

    Examples
    --------
    >>> PmissAt(0.25)([1.0, 2.0, 3.0, 4.0], [-1.0, 0.0, 1.5, 2.5])
    0.25
    """

    pfa: float = attrs.field(converter=_rate)
    unit: ClassVar[str] = "%"

    @property
    def label(self) -> str:
        """Its name, with the rate."""
        return f"Pmiss at Pfa {100 * self.pfa:g} %"

    def of_rates(self, pmiss: FloatArray, pfa: FloatArray) -> FloatArray:
        """Compute the rate of curves."""
        at = np.argmax(pfa <= self.pfa * (1.0 + _ROUNDING), axis=1)
        return np.asarray(pmiss[np.arange(len(pmiss)), at])

    def openings(self, sample: Sample) -> list[Opening]:
        """Tell what targets without misses leave open."""
        return _only_if_none(1.0, self.computed(sample))[:1]

    def doubts(self, sample: Sample) -> list[errors.Note]:
        """Tell of a rate that so few non-targets cannot show."""
        return cannot_show(sample.non, "pfa", self.pfa)


@attrs.frozen
class PfaAt(RatesMetric):
    """False-alarm rate at the threshold that keeps to a miss rate, on the same scores.

    Parameters
    ----------
    pmiss : float
        Largest miss rate allowed, in [0, 1).

    Examples
    --------
    >>> PfaAt(0.25)([1.0, 2.0, 3.0, 4.0], [-1.0, 0.0, 1.5, 2.5])
    0.25
    """

    pmiss: float = attrs.field(converter=_rate)
    unit: ClassVar[str] = "%"

    @property
    def label(self) -> str:
        """Its name, with the rate."""
        return f"Pfa at Pmiss {100 * self.pmiss:g} %"

    def of_rates(self, pmiss: FloatArray, pfa: FloatArray) -> FloatArray:
        """Compute the rate of curves."""
        allowed = pmiss <= self.pmiss * (1.0 + _ROUNDING)
        at = np.maximum(allowed.sum(axis=1) - 1, 0)
        return np.asarray(pfa[np.arange(len(pfa)), at])

    def openings(self, sample: Sample) -> list[Opening]:
        """Tell what non-targets without false alarms leave open."""
        return _only_if_none(1.0, self.computed(sample))[1:]

    def doubts(self, sample: Sample) -> list[errors.Note]:
        """Tell of a rate that so few targets cannot show."""
        return cannot_show(sample.tar, "pmiss", self.pmiss)


@attrs.frozen
class MinCllr(RatesMetric):
    """Cllr after optimal recalibration, in bits.

    See Also
    --------
    bosaris_py.min_cllr : The same number as a function.

    Examples
    --------
    >>> MinCllr()([1.0, 2.0], [-1.0, 0.0])
    0.0
    """

    label: ClassVar[str] = "minCllr"
    unit: ClassVar[str] = "bits"
    scale: ClassVar[Scale] = "log"
    # The bias of pools falls as the number of speakers to the power of -2/3.
    bias: ClassVar[float] = 1.5

    def of_rates(self, pmiss: FloatArray, pfa: FloatArray) -> FloatArray:
        """Compute the cost of curves."""
        return min_cllrs(pmiss, pfa)

    def openings(self, sample: Sample) -> list[Opening]:
        """Tell what errors of each class cost: their bits."""
        value = self.computed(sample)
        return [Opening(1.0, value, 0), Opening(1.0, value, 1)]

    def doubts(self, sample: Sample) -> list[errors.Note]:
        """Tell of inverted scores."""
        return inverted(sample)


# ---- The same as functions of two lists of scores


def eer(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    definition: EERDefinition = "rocch",
    tar_weights: Weighting = None,
    non_weights: Weighting = None,
) -> float:
    r"""Compute the equal error rate, by default on the ROC's convex hull.

    The largest Bayes error-rate that any prior can bring about with optimal thresholds; it does not
    depend on calibration.

    Parameters
    ----------
    tar, non : (n_tar,), (n_non,) array_like of float
        Scores of the two classes; no NaN, +-inf allowed.
    definition : {"rocch", "interpolated", "step"}, default: "rocch"
        Which number is meant; see the notes.
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.

    Returns
    -------
    float
        A fraction: 0 for perfect, 0.5 for useless scores; for inverted scores 0.5 on the convex
        hull, and up to 1 by the other definitions.

    Warns
    -----
    SuspectScoresWarning
        If the area under the ROC is below 0.5 by 3 standard errors of scores that tell nothing.

    See Also
    --------
    bosaris_py.Results : Computes many metrics from one look at the scores.

    Notes
    -----
    Tools define the EER differently (van Leeuwen 2008, footnote 5); for large sets the three
    definitions are close. They stay the same if classes are swapped and scores negated.

    ``"rocch"``
        :math:`\max_\pi \min_\gamma \pi P_{miss}(\gamma) + (1-\pi) P_{fa}(\gamma)`, the point of
        the convex hull with equal rates: theory paper, equation (26); the toolkit's ``eer.m``,
        PYLLR, ROCAnalysis.jl's ``eerch``. Never above the next.
    ``"interpolated"``
        Where straight lines between the points of the steppy ROC meet pmiss = pfa: NIST's scorer of
        SRE18 and later; the VoxSRC kit; ``brentq`` on scikit-learn's ``roc_curve``.
    ``"step"``
        The mean of the two rates at the step of the ROC where they are nearest: the ASVspoof
        challenges. Equal scores of the two classes are one step, whatever their order. Within a run
        of one class every distinct score is a step. Of two steps as near, the one with
        the lower rates.

    The program voxceleb_trainer reports the larger of the two rates at that step. Kaldi's
    ``compute-eer`` takes the miss rate at one place in the sorted targets, which can be a step off.

    Examples
    --------
    >>> eer([1.0, 3.0], [0.0, 2.0])
    0.25
    >>> eer([1.0, 3.0], [0.0, 2.0], definition="interpolated")
    0.5
    """
    return EER(definition)(tar, non, tar_weights, non_weights)


def prbep(
    tar: ArrayLike, non: ArrayLike, *, tar_weights: Weighting = None, non_weights: Weighting = None
) -> float:
    """Compute the precision-recall break-even point, as a number of errors.

    The point on the ROC's convex hull with as many misses as false alarms. If it is below about 30,
    error-rates near this point rest on few errors.

    Parameters
    ----------
    tar, non, tar_weights, non_weights : array_like of float
        Scores and trial weights, as for `eer`.

    Returns
    -------
    float
        Number of misses (= number of false alarms), from 0 upwards; in general not whole. With
        weights, a sum of weights.

    Notes
    -----
    Theory paper, section 2.6.4, equation (29); the toolkit's ``prbep.m``. Not
    comparable between data sets of different size.

    Examples
    --------
    >>> prbep([1.0, 3.0], [0.0, 2.0])
    0.5
    """
    return PRBEP()(tar, non, tar_weights, non_weights)


def auc(
    tar: ArrayLike, non: ArrayLike, *, tar_weights: Weighting = None, non_weights: Weighting = None
) -> float:
    """Compute the area under the ROC, the chance that a target outscores a non-target.

    Parameters
    ----------
    tar, non, tar_weights, non_weights : array_like of float
        Scores and trial weights, as for `eer`.

    Returns
    -------
    float
        1 for perfect, 0.5 for useless, 0 for perfectly inverted scores.

    Notes
    -----
    The Mann-Whitney statistic, pairs of equal scores counted half: the
    trapezoidal area of NISTIR 7722. The toolkit's ``area_under_rocch.m`` is
    the area below pfa over pmiss of the *convex hull*, 0 for perfect scores.

    Examples
    --------
    >>> auc([1.0, 3.0], [0.0, 2.0])
    0.75
    """
    return AUC()(tar, non, tar_weights, non_weights)


def min_cllr(
    tar: ArrayLike, non: ArrayLike, *, tar_weights: Weighting = None, non_weights: Weighting = None
) -> float:
    """Compute the Cllr that is left after optimal recalibration.

    The scores are replaced by the log-likelihood-ratios of the pool-adjacent-violators algorithm,
    the best that any rising map can do on these trials. What remains is lost discrimination; `cllr`
    minus this is lost calibration.

    Parameters
    ----------
    tar, non, tar_weights, non_weights : array_like of float
        Scores and trial weights, as for `cllr`; calibrated or not.

    Returns
    -------
    float
        Bits, from 0 (classes separated) to 1 (useless); never above `cllr`.

    Warns
    -----
    SuspectScoresWarning
        As for `eer`.

    Notes
    -----
    The toolkit's ``min_cllr.m`` adds 1e-6 times the relative rank to each
    score, which shifts its result by about 1e-7; this one does not.

    Examples
    --------
    >>> min_cllr([1.0, 2.0], [-1.0, 0.0])
    0.0
    """
    return MinCllr()(tar, non, tar_weights, non_weights)


def optimal_llrs(
    tar: ArrayLike, non: ArrayLike, *, tar_weights: Weighting = None, non_weights: Weighting = None
) -> tuple[FloatArray, FloatArray]:
    """Replace each score by its optimal log-likelihood-ratio.

    Parameters
    ----------
    tar, non, tar_weights, non_weights : array_like of float
        Scores and trial weights, as for `eer`.

    Returns
    -------
    tar_llrs : (n_tar,) ndarray of float64
        Natural-log likelihood-ratios in the order of `tar`; inf above the highest non-target.
    non_llrs : (n_non,) ndarray of float64
        Likewise for `non`; -inf below the lowest target.

    Notes
    -----
    The posterior of each pool, minus the prior log-odds of the training
    trials. The toolkit's ``opt_loglr.m`` with option ``'raw'``, without the
    1e-6 per rank that it adds to keep the map invertible.

    Examples
    --------
    >>> tar_llrs, non_llrs = optimal_llrs([1.0, 3.0], [0.0, 2.0])
    >>> tar_llrs.tolist(), non_llrs.tolist()
    ([0.0, inf], [-inf, 0.0])
    """
    tar, non = check.as_score_lists(tar, non, tar_weights, non_weights)
    hull = Sample.from_scores(tar, non, tar_weights, non_weights).hull
    return hull.llr_of(tar), hull.llr_of(non)
