r"""Costs of decisions: at a threshold (DCF), of Bayes (actual DCF), of the best (minimum DCF).

.. math:: C = \pi C_{miss} P_{miss}(\gamma) + (1 - \pi) C_{fa} P_{fa}(\gamma)

Each cost is one class, which values, intervals, tables and plots ask. The functions of two lists of
scores are twins of the classes. Costs are divided by that of the better decision without a detector
unless ``normalize=False``. Cllr is the cost of log-likelihood-ratios over all priors [1]_.

References
----------
.. [1] N. Brummer and J. du Preez, "Application-independent evaluation of
   speaker detection", Computer Speech and Language 20, 2006,
   doi:10.1016/j.csl.2005.08.001.
"""

from __future__ import annotations

import abc
import math
from typing import ClassVar

import attrs
import numpy as np
import scipy

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike, FloatArray, Weighting
from bosaris_py.metrics import metric as measures
from bosaris_py.metrics.metric import AnyMetric, Opening, Scale, ThresholdMetric
from bosaris_py.metrics.ranks import cannot_show, inverted
from bosaris_py.numerics.hull import min_costs
from bosaris_py.numerics.priors import DecisionCosts, OperatingPoint, PriorLike
from bosaris_py.numerics.scoring import softplus
from bosaris_py.trials.sample import Sample, Times

NOT_CALIBRATED = "not calibrated: see calibrate"

# Of no more trials of a class nothing is said of calibration, and of so many it can be seen.
_FEW_TRIALS, _LOOKED_AT = 30, 1000

# Costs at more operating points are a curve, whose ends no trials can show.
_MOST_POINTS = 10

# What is much of a normalized cost; and a share of scores of which the others are exceptions, such
# as hard decisions that are wrong.
_MUCH, _MOSTLY = 0.1, 0.99

# A prior, an operating point, or several, whose costs are averaged.
Points = tuple[float | OperatingPoint, ...]


def to_points(prior: object) -> Points:
    """Return operating points as a tuple, checked."""
    DecisionCosts.from_prior(prior)  # type: ignore[arg-type]
    listed = (prior,) if np.ndim(prior) == 0 else prior  # type: ignore[arg-type]
    return tuple(p if isinstance(p, OperatingPoint) else float(p) for p in listed)  # type: ignore[attr-defined]


def prices(points: Points, *, normalize: bool) -> list[tuple[float, float, float]]:
    """Return Bayes threshold and both prices of each point, for the mean of their costs."""
    if not points:
        raise check.invalid("prior", "hold an operating point", "none")
    costs = DecisionCosts.from_prior(points)
    scale = (costs.default_cost if normalize else 1.0) * np.float64(len(points))
    columns = costs.thresholds, costs.miss / scale, costs.fa / scale
    return list(zip(*(column.tolist() for column in columns), strict=True))


def point_words(points: Points) -> str:
    """Return operating points as they stand in the names of costs: ``(0.05)``."""
    single = [attrs.astuple(p) if isinstance(p, OperatingPoint) else (p,) for p in points]
    return ", ".join(f"({', '.join(f'{number:g}' for number in one)})" for one in single)


def _threshold(value: object) -> float:
    return check.as_number(value, "threshold", "be a number", lambda x: not math.isnan(x))


@attrs.frozen
class DCF(ThresholdMetric):
    r"""Detection cost at a fixed threshold, the measure of the uncertainty papers.

    Parameters
    ----------
    threshold : float
        Accept iff score >= threshold.
    prior : float or OperatingPoint
        Probability of a target with unit costs, or an operating point: the papers have
        ``OperatingPoint(0.01, 10, 1)``.
    normalize : bool, default: True
        Divide by the cost of the better decision made without a detector.

    Notes
    -----
    :math:`C_{miss} P_{miss}(t) P_{tar} + C_{fa} P_{fa}(t) (1-P_{tar})`, NISTIR 7722 equation (6),
    Wu et al. 2017 equation (3). The papers count integer scores equal to the threshold as errors in
    both classes (equation 2); here a score equal to the threshold is accepted.

    Examples
    --------
    >>> from bosaris_py import OperatingPoint
    >>> cost = DCF(2.0, OperatingPoint(0.01, 10, 1), normalize=False)
    >>> round(cost([1.0, 3.0], [0.0, 2.5]), 6)
    0.545
    """

    threshold: float = attrs.field(converter=_threshold)
    prior: Points = attrs.field(converter=to_points)
    normalize: bool = attrs.field(default=True, converter=check.as_flag)
    scale: ClassVar[Scale] = "log"

    @property
    def label(self) -> str:
        """Its name, with threshold and prior."""
        return f"DCF at {self.threshold:g} {point_words(self.prior)}"

    @property
    def points(self) -> list[tuple[float, float, float]]:
        """The threshold and the prices."""
        given = prices(self.prior, normalize=self.normalize)
        return [(self.threshold, miss, fa) for _, miss, fa in given]

    def doubts(self, sample: Sample) -> list[errors.Note]:
        """Tell of costs that so few trials cannot show."""
        return unseen_costs(sample, self.prior)


class MinCost(measures.RatesMetric):
    """Base of costs at the best threshold for these scores."""

    __slots__ = ()

    @property
    @abc.abstractmethod
    def points(self) -> list[tuple[float, float, float]]:
        """Bayes threshold, price of a miss and price of a false alarm."""

    @property
    def bounds(self) -> tuple[float, float]:
        """From no errors to the better decision without a detector."""
        return 0.0, sum(min(miss, fa) for _, miss, fa in self.points)

    def of_rates(self, pmiss: FloatArray, pfa: FloatArray) -> FloatArray:
        """Compute the cost of curves, of each point at its own threshold."""
        costs = [min_costs(pmiss, pfa, miss, fa) for _, miss, fa in self.points]
        return np.asarray(np.sum(costs, axis=0))

    def doubts(self, sample: Sample) -> list[errors.Note]:
        """Tell of inverted scores."""
        return inverted(sample)


@attrs.frozen
class _CostOfPoints(AnyMetric):
    """Base of actual and minimum DCF at operating points."""

    prior: Points = attrs.field(converter=to_points)
    normalize: bool = attrs.field(default=True, converter=check.as_flag)
    scale: ClassVar[Scale] = "log"
    name: ClassVar[str]

    @property
    def label(self) -> str:
        """Its name, with the prior."""
        return f"{self.name}{point_words(self.prior)}"

    @property
    def points(self) -> list[tuple[float, float, float]]:
        """The Bayes thresholds and the prices."""
        return prices(self.prior, normalize=self.normalize)


@attrs.frozen
class ActDCF(_CostOfPoints, ThresholdMetric):
    """Actual DCF: detection cost of Bayes decisions from log-likelihood-ratios.

    Parameters
    ----------
    prior : float, OperatingPoint or sequence of them
        Target probability (unit costs), or an operating point with its own costs; of several the
        mean cost.
    normalize : bool, default: True
        Divide by the cost of the better decision made without a detector.

    See Also
    --------
    bosaris_py.act_dcf : The same number as a function.

    Examples
    --------
    >>> ActDCF(0.5)([1.0, 3.0], [-1.0, 2.0])
    0.5
    """

    name: ClassVar[str] = "actDCF"

    def doubts(self, sample: Sample) -> list[errors.Note]:
        """Tell of scores that are no log-likelihood-ratios, and of costs that cannot be shown."""
        return [*no_llrs(sample), *unseen_costs(sample, self.prior)]


@attrs.frozen
class MinDCF(_CostOfPoints, MinCost):
    """Minimum DCF: detection cost at the best threshold for these scores.

    Parameters
    ----------
    prior : float, OperatingPoint or sequence of them
        As for `ActDCF`; of several the mean cost, each at its own best threshold.
    normalize : bool, default: True
        Divide by the cost of the better decision made without a detector.

    See Also
    --------
    bosaris_py.min_dcf : The same number as a function.

    Examples
    --------
    >>> MinDCF(0.5)([1.0, 3.0], [0.0, 2.0])
    0.5
    """

    name: ClassVar[str] = "minDCF"

    def openings(self, sample: Sample) -> list[Opening]:
        """Tell what errors cost, and how many there are, at the best threshold of each point."""
        found, (pmiss, pfa) = [], sample.rates_at_all()
        for _, miss, fa in self.points:
            at = int(np.argmin(miss * pmiss[0] + fa * pfa[0]))
            found += [Opening(miss, float(pmiss[0, at]), 0), Opening(fa, float(pfa[0, at]), 1)]
        return found

    def doubts(self, sample: Sample) -> list[errors.Note]:
        """Tell of inverted scores, and of costs that so few trials cannot show."""
        return [*inverted(sample), *unseen_costs(sample, self.prior)]


@attrs.frozen
class _RateAt(ThresholdMetric):
    """Base of one error-rate at a fixed threshold."""

    threshold: float = attrs.field(converter=_threshold)
    unit: ClassVar[str] = "%"
    # What a miss and a false alarm count.
    counted: ClassVar[tuple[float, float]]

    @property
    def label(self) -> str:
        """Its name, with the threshold."""
        return f"{type(self).__name__} at {self.threshold:g}"

    @property
    def points(self) -> list[tuple[float, float, float]]:
        """The threshold; only errors of one kind count."""
        return [(self.threshold, *self.counted)]


@attrs.frozen
class Pmiss(_RateAt):
    """Miss rate at a fixed threshold: FNMR of ISO/IEC 19795-1.

    Parameters
    ----------
    threshold : float
        Accept iff score >= threshold.

    See Also
    --------
    PmissAt : At the threshold that keeps to a false-alarm rate.

    Examples
    --------
    >>> Pmiss(2.0)([1.0, 3.0, 4.0, 5.0], [0.0, 2.5])
    0.25
    """

    counted: ClassVar[tuple[float, float]] = 1.0, 0.0


@attrs.frozen
class Pfa(_RateAt):
    """False-alarm rate at a fixed threshold: FMR of ISO/IEC 19795-1.

    Parameters
    ----------
    threshold
        As for `Pmiss`.

    See Also
    --------
    PfaAt : At the threshold that keeps to a miss rate.

    Examples
    --------
    >>> Pfa(2.0)([1.0, 3.0, 4.0, 5.0], [0.0, 2.5])
    0.5
    """

    counted: ClassVar[tuple[float, float]] = 0.0, 1.0


@attrs.frozen
class Cllr(measures.LossMetric):
    """Cllr: the cost of log-likelihood-ratios over all operating points, in bits.

    See Also
    --------
    bosaris_py.cllr : The same number as a function.

    Examples
    --------
    >>> Cllr()([0.0, 0.0], [0.0])
    1.0
    """

    label: ClassVar[str] = "Cllr"
    unit: ClassVar[str] = "bits"

    @property
    def bounds(self) -> tuple[float, float]:
        """From perfect scores to arbitrarily misleading ones."""
        return 0.0, math.inf

    def losses(self, sample: Sample) -> measures.Losses:
        """Compute the bits of each sorted trial; both classes weigh the same."""
        # A target of log-likelihood-ratio x costs log2(1 + e^-x) bits, a non-target log2(1 + e^x).
        scale = 2.0 * math.log(2.0)
        tar, non = softplus(sample.tar.scores, -1.0), softplus(sample.non.scores, 1.0)
        return tar / scale, non / scale

    def computed(self, view: Sample, times: Times = None) -> float:
        """Compute the cost of a sample; without a sort where all trials count alike."""
        if times is None and view.tar.is_plain and view.non.is_plain:
            return sum(view.bits) / 2.0
        return super().computed(view, times)

    def openings(self, sample: Sample) -> list[Opening]:
        """Tell what a class costs; an error costs a bit."""
        tar, non = map(float, sample.mean(self.losses(sample)))
        return [Opening(0.5, 2.0 * float(tar), 0), Opening(0.5, 2.0 * float(non), 1)]

    def doubts(self, sample: Sample) -> list[errors.Note]:
        """Tell of scores that are no log-likelihood-ratios."""
        return no_llrs(sample)


@attrs.frozen
class Brier(measures.LossMetric):
    """The Brier score of log-likelihood-ratios at even odds, over that of no detector."""

    label: ClassVar[str] = "Brier"

    @property
    def bounds(self) -> tuple[float, float]:
        """From perfect posteriors to wrong certainties."""
        return 0.0, 4.0

    def losses(self, sample: Sample) -> measures.Losses:
        """Compute twice the squared posterior of the wrong proposition."""
        # At even odds that is 1 / (1 + e^x) of a target. Without a detector it is 1/2, by whose
        # square the mean over both classes is divided.
        tar, non = map(scipy.special.expit, (-sample.tar.scores, sample.non.scores))
        return 2.0 * tar**2, 2.0 * non**2


# ---- What costs cannot tell


def unseen_costs(sample: Sample, prior: PriorLike) -> list[errors.Note]:
    """Note a class of which one error costs more than the better decision without a detector."""
    costs, found = DecisionCosts.from_prior(prior), []
    effective = np.ravel(costs.miss / (costs.miss + costs.fa))
    for one, which, price in ((sample.tar, "pmiss", costs.miss), (sample.non, "pfa", costs.fa)):
        # At this rate a detector costs as much as none.
        rates = np.ravel(costs.default_cost / price)
        if 0 < rates.size <= _MOST_POINTS:
            at = int(rates.argmin())
            where = f" at effective prior {effective[at]:.3g}"
            found += cannot_show(one, which, float(rates[at]), where)
    return found


def not_calibrated(sample: Sample, prior: PriorLike | None = None) -> list[errors.Note]:
    """Note scores of which calibration would take much off Cllr, or off actual costs.

    Much is a quarter of minCllr, or half of a minimum cost, and at least 0.1. Of few trials it is
    more: of rates 3 standard errors and what the rule of three leaves open.
    """
    sizes = sample.tar.effective_size, sample.non.effective_size
    if (n := min(sizes)) <= _FEW_TRIALS:
        return []
    hull, bits = sample.hull, Cllr().computed(sample)
    if math.isinf(bits) and (finite := _mostly_finite(sample)):
        return not_calibrated(finite)
    excess = bits - hull.min_cllr
    found = max(_MUCH + 5.0 / n, hull.min_cllr / 4.0) < excess < math.inf
    if prior is not None:
        costs = DecisionCosts.from_prior(prior)
        rates = sample.rates(costs.thresholds)
        pairs = list(zip(rates, sizes, strict=True))
        bounds = [3.0 * np.sqrt(rate * (1.0 - rate) / size) + 3.0 / size for rate, size in pairs]
        actual, error = (costs.cost(*each, normalize=True) for each in (rates, bounds))
        least = hull.min_dcf(prior)
        found |= bool(np.any(actual - least > np.maximum(error, np.maximum(_MUCH, least / 2.0))))
    return [errors.Note(errors.SuspectScoresWarning, NOT_CALIBRATED)] if found else []


def _mostly_finite(sample: Sample) -> Sample | None:
    """Return the finite scores; None if all are, or less than nearly all of a class."""
    tar, non = (np.isfinite(one.listed) for one in (sample.tar, sample.non))
    return sample.take(tar, non) if _MOSTLY <= min(tar.mean(), non.mean()) < 1.0 else None


def no_llrs(sample: Sample) -> list[errors.Note]:
    """Look at some scores, whether they are inverted or not calibrated."""
    steps = (slice(None, None, one.size // _LOOKED_AT + 1) for one in (sample.tar, sample.non))
    some = sample.take(*steps)
    return inverted(some) or not_calibrated(some)


# ---- The same as functions of two lists of scores


def min_dcf(
    tar: ArrayLike,
    non: ArrayLike,
    prior: PriorLike,
    normalize: bool = True,  # noqa: FBT001, FBT002 -- positional as in the toolkit
    tar_weights: Weighting = None,
    non_weights: Weighting = None,
) -> float | FloatArray:
    r"""Compute the minimum detection cost over all thresholds.

    What the cost would be if the scores were perfectly calibrated at these operating points. One
    look at the scores serves any number of priors.

    Parameters
    ----------
    tar, non : (n_tar,), (n_non,) array_like of float
        Scores of the two classes; no NaN, +-inf allowed.
    prior : float, (k,) array_like of float, OperatingPoint or sequence of them
        Target probabilities (unit costs, the Bayes error-rate of the theory paper), or operating
        points with their own costs (NIST's C_det).
    normalize : bool, default: True
        Divide by the cost of the better decision made without a detector, min(p C_miss, (1 - p)
        C_fa).
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.

    Returns
    -------
    float or (k,) ndarray of float64
        :math:`\min_\gamma \pi C_{miss} P_{miss}(\gamma) + (1-\pi) C_{fa} P_{fa}(\gamma)`.
        0 for perfect scores; for useless scores the cost without a detector,
        1 if normalized, which is never exceeded.

    Warns
    -----
    SuspectScoresWarning
        As for `eer`.
    FewErrorsWarning
        If one error of a class costs more than the better decision without a detector; not of more
        than 10 operating points, which are a curve.

    See Also
    --------
    bosaris_py.Results.min_dcf_threshold : The threshold that goes with it.

    Notes
    -----
    Minimised over the vertices of the ROC's convex hull, theory paper,
    equation (25); the toolkit's ``fast_minDCF.m``, which takes prior log-odds.

    Examples
    --------
    >>> float(min_dcf([1.0, 3.0], [0.0, 2.0], 0.5, normalize=False))
    0.25
    """
    sample = Sample.from_scores(tar, non, tar_weights, non_weights)
    costs: float | FloatArray = sample.hull.min_dcf(prior, normalize=normalize)
    errors.warn([*inverted(sample), *unseen_costs(sample, prior)])
    return costs


def act_dcf(
    tar: ArrayLike,
    non: ArrayLike,
    prior: PriorLike,
    normalize: bool = True,  # noqa: FBT001, FBT002 -- positional as in the toolkit
    tar_weights: Weighting = None,
    non_weights: Weighting = None,
) -> float | FloatArray:
    r"""Compute the detection cost of Bayes decisions: the actual DCF.

    Scores are taken as log-likelihood-ratios and compared with the Bayes threshold of each
    operating point, so that bad calibration costs.

    Parameters
    ----------
    tar, non : (n_tar,), (n_non,) array_like of float
        Natural-log likelihood-ratios of the two classes; no NaN, +-inf allowed.
    prior, normalize, tar_weights, non_weights
        As for `min_dcf`; priors in any order, repeats allowed.

    Returns
    -------
    float or (k,) ndarray of float64
        :math:`\pi C_{miss} P_{miss}(\eta) + (1-\pi) C_{fa} P_{fa}(\eta)` at
        :math:`\eta = \log(C_{fa}/C_{miss}) - \mathrm{logit}\,\pi`. 0 for
        perfect scores; normalized, 1 for a detector that says nothing, and
        more for a misleading one.

    Warns
    -----
    SuspectScoresWarning
        If higher scores speak against targets, or if calibration would take much off Cllr, as a
        look at 1,000 trials of a class tells.
    FewErrorsWarning
        As for `min_dcf`.

    Notes
    -----
    Theory paper, equations (11) and (13); the toolkit's ``fast_actDCF.m``,
    which takes ascending prior log-odds and miscounts repeated ones.

    Examples
    --------
    >>> float(act_dcf([1.0, 3.0], [-1.0, 2.0], 0.5, normalize=False))
    0.25
    """
    costs = DecisionCosts.from_prior(prior)
    sample = Sample.from_scores(tar, non, tar_weights, non_weights)
    rates = sample.rates(costs.thresholds)
    errors.warn([*no_llrs(sample), *unseen_costs(sample, prior)])
    return costs.cost(*rates, normalize=normalize)


def error_rates_at(
    tar: ArrayLike,
    non: ArrayLike,
    thresholds: ArrayLike,
    *,
    tar_weights: Weighting = None,
    non_weights: Weighting = None,
) -> tuple[float | FloatArray, float | FloatArray]:
    """Compute the miss and false-alarm rates at given thresholds.

    Parameters
    ----------
    tar, non : (n_tar,), (n_non,) array_like of float
        Scores of the two classes; no NaN, +-inf allowed.
    thresholds : float or array_like of float
        Accept iff score >= threshold; in any order, repeats allowed. Compared in float64 also if
        the scores are float32.
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.

    Returns
    -------
    pmiss, pfa : float or ndarray of float64, like `thresholds`
        Share of targets below, and of non-targets at or above the threshold.

    Examples
    --------
    >>> pmiss, pfa = error_rates_at([1.0, 3.0], [0.0, 2.0], [1.0, 2.5])
    >>> pmiss.tolist(), pfa.tolist()
    ([0.0, 0.5], [0.5, 0.0])
    """
    limits = check.as_float_array(thresholds, "thresholds").astype(np.float64, copy=False)
    check.refuse_nan(np.atleast_1d(limits), "thresholds")
    pmiss, pfa = Sample.from_scores(tar, non, tar_weights, non_weights).rates(limits)
    return pmiss[()], pfa[()]


def cllr(
    tar: ArrayLike, non: ArrayLike, *, tar_weights: Weighting = None, non_weights: Weighting = None
) -> float:
    """Compute Cllr, the cost of log-likelihood-ratios over all operating points.

    Parameters
    ----------
    tar, non : (n_tar,), (n_non,) array_like of float
        Natural-log likelihood-ratios of the two classes; no NaN, +-inf allowed.
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.

    Returns
    -------
    float
        Bits: 0 for perfect scores, 1 for a detector that always says 0, more for a misleading one,
        inf for an infinite score on the wrong side and where a sum of costs exceeds the largest
        float.

    Warns
    -----
    SuspectScoresWarning
        As for `act_dcf`.

    Notes
    -----
    Theory paper, section 2.5.3. Stable for scores of any size: log(1 + exp)
    neither overflows nor rounds small terms to zero. O(T + N) time, no memory
    to speak of.

    Examples
    --------
    >>> cllr([0.0, 0.0], [0.0])
    1.0
    """
    return Cllr()(tar, non, tar_weights, non_weights)
