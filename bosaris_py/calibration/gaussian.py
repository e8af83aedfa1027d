r"""Calibrations by Gaussian models of the log-likelihood-ratios: for small sets of trials.

If the log-likelihood-ratios of targets are normal and calibrated they have the law
:math:`N(\sigma^2/2, \sigma^2)`, and those of non-targets :math:`N(-\sigma^2/2, \sigma^2)` [1]_.

References
----------
.. [1] D. A. van Leeuwen and N. Brummer, "The distribution of calibrated likelihood-ratios in
   speaker recognition", Interspeech 2013.
"""

from __future__ import annotations

import math
from typing import Self

import attrs
import numpy as np
import numpy.typing as npt
import scipy

import bosaris_py.calibration.trained as trained
from bosaris_py import _validation as check
from bosaris_py._arrays import Float64Array, FloatArray, Weighting, mark_read_only
from bosaris_py.calibration.linear import LinearCalibration
from bosaris_py.numerics.linear_objective import class_moments, moderate_weights, refuse_non_finite
from bosaris_py.numerics.roc import FEW_TRIALS, warn_of_negative

# The integrand falls like exp(-|x| / 2), so that 1e-20 of it lies beyond; or like the normal law.
_REACH, _DEVIATIONS = 100.0, 40.0

_N_POINTS = 801

# Between these standard deviations Cllr goes from 1 - 1e-13 to 1e-300.
_SMALLEST, _LARGEST = 1e-6, 70.0


def _log_cllr(log_sigma: float) -> float:
    """Return the logarithm of the Cllr, in bits, of calibrated Gaussian log-likelihood-ratios."""
    # Both classes cost the same, E log2(1 + exp(-x)) under the law of targets. That is
    # exp(-sigma^2 / 8) times the mean of exp(x / 2) log2(1 + exp(-x)) under N(0, sigma^2), which
    # keeps its digits however rare the errors. The integrand is analytic and dies out at both
    # ends, where the trapezoidal rule converges exponentially.
    sigma = math.exp(log_sigma)
    reach = min(_REACH, _DEVIATIONS * sigma)
    x = np.linspace(-reach, reach, _N_POINTS)
    density = np.exp(-0.5 * (x / sigma) ** 2) / (sigma * math.sqrt(2.0 * math.pi))
    bits = np.exp(x / 2) * np.logaddexp(0.0, -x) / math.log(2.0)
    return math.log(float(np.sum(density * bits) * (x[1] - x[0]))) - sigma**2 / 8.0


def gaussian_variance(cllr: float) -> float:
    """Return the variance of the calibrated Gaussian log-likelihood-ratios with a Cllr in bits."""
    # In nats squared, to about 12 digits; 0 for a Cllr of 1 or more. This is the root of the exact
    # integral. The fitted formula of Morrison (2024) gives a Cllr that is off by 2 % at a variance
    # of 4, and by 160 % at 64.
    if cllr >= 1.0:
        return 0.0
    wanted = math.log(check.check_fraction(cllr, "cllr"))
    ends = math.log(_SMALLEST), math.log(_LARGEST)
    if wanted >= _log_cllr(ends[0]):
        return 0.0
    found = scipy.optimize.brentq(lambda x: _log_cllr(x) - wanted, *ends, xtol=1e-15, rtol=1e-15)
    return math.exp(2.0 * found)


def gaussian_mixture_cdf(llrs: Float64Array, variance: float) -> Float64Array:
    """Return the share of calibrated Gaussian LLRs up to some, both classes counting the same."""
    sigma = math.sqrt(variance)
    upper, lower = llrs / sigma + sigma / 2, llrs / sigma - sigma / 2
    return np.asarray(0.5 * (scipy.special.ndtr(upper) + scipy.special.ndtr(lower)))


def gaussian_mixture_quantiles(shares: Float64Array, variance: float) -> Float64Array:
    """Return the inverse of `gaussian_mixture_cdf`, for shares between 0 and 1."""
    # Both tails lie within those of the component whose mean is farther out.
    low = math.sqrt(variance) * scipy.special.ndtri(shares) - variance / 2
    high = low + variance
    # Halved until neighbouring numbers are reached.
    for _ in range(64):
        middle = 0.5 * (low + high)
        above = gaussian_mixture_cdf(middle, variance) > shares
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.asarray(0.5 * (low + high))


# Points at which a bi-Gaussian map is kept, if more scores are different.
_MOST_POINTS = 1000


@attrs.frozen(kw_only=True, repr=False)
class GaussianCalibration(trained.SavedMap, trained.LineMap, trained.TrialMap):
    r"""The affine map of constrained maximum likelihood (CMLG), of moments only.

    Both classes are taken for normal with one variance, which makes the log-likelihood-ratio
    affine. No iteration, no trouble with separable classes; from 20 trials on. It trusts the
    normal law: where scores have long tails `LinearCalibration` is better.

    Parameters
    ----------
    scale, offset : float
        ``llr = scale * score + offset``.
    target_share : float
        Weight of the targets' variance.
    low_score, high_score : float
        The range of the training scores.
    n_tar, n_non : int
        Number of training trials with a weight above zero.
    of_llrs : bool or None, default: None
        Whether the map was trained on scores that a map had made; None if that is not known.

    Notes
    -----
    With means :math:`m` and variances :math:`v` of the classes [1]_, eqs. 7 to 9:

    .. math::

        v = \alpha v_T + (1 - \alpha) v_N, \quad a = \frac{m_T - m_N}{v}, \quad
        b = -a \frac{m_T + m_N}{2}.

    References
    ----------
    .. [1] D. A. van Leeuwen and N. Brummer, "The distribution of calibrated likelihood-ratios in
       speaker recognition", Interspeech 2013.

    Examples
    --------
    >>> GaussianCalibration.fit([2.0, 4.0], [-2.0, 0.0])
    GaussianCalibration: llr = 4 * score - 4, 2 targets, 2 non-targets
    """

    scale: float = attrs.field(**trained.NUMBER)
    offset: float = attrs.field(**trained.NUMBER)
    target_share: float = attrs.field(**trained.NUMBER)
    low_score: float = attrs.field(**trained.NUMBER)
    high_score: float = attrs.field(**trained.HIGH)
    n_tar: int = attrs.field(**trained.COUNT)
    n_non: int = attrs.field(**trained.COUNT)

    @classmethod
    def fit(
        cls,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        *,
        target_share: float = 0.5,
        tar_weights: Weighting = None,
        non_weights: Weighting = None,
    ) -> Self:
        """Train the map.

        Parameters
        ----------
        tar, non : (n_tar,), (n_non,) array_like of float
            Target and non-target scores, finite.
        target_share : float, default: 0.5
            Weight of the targets' variance, between 0 and 1.
        tar_weights, non_weights : array_like of float, optional
            Trial weights; only their proportions within a class matter.

        Returns
        -------
        GaussianCalibration

        Warns
        -----
        SuspectScoresWarning
            If the scale is negative: labels swapped, or distances for scores?
        """
        share = check.check_fraction(target_share, "target_share")
        (tar, tar_used), (non, non_used) = _classes(tar, non, tar_weights, non_weights)
        targets, others = class_moments(tar[None], tar_used), class_moments(non[None], non_used)
        variance = float(share * targets.scatter[0, 0] + (1 - share) * others.scatter[0, 0])
        if not variance > 0.0:
            raise check.invalid("tar", "vary, or `non`", "scores that are equal within each class")
        scale = float(targets.mean[0] - others.mean[0]) / variance
        # Three standard errors of the difference of the means, in units of the deviation.
        chance = 3.0 * math.sqrt(1.0 / tar.size + 1.0 / non.size)
        if scale * math.sqrt(variance) < -chance and min(tar.size, non.size) > FEW_TRIALS:
            warn_of_negative(scale)
        return cls(
            scale=scale,
            offset=-scale * float(targets.mean[0] + others.mean[0]) / 2,
            target_share=share,
            low_score=float(min(targets.lowest[0], others.lowest[0])),
            high_score=float(max(targets.highest[0], others.highest[0])),
            n_tar=tar.size,
            n_non=non.size,
        )

    def __repr__(self) -> str:
        """Show the map."""
        counts = f"{self.n_tar} targets, {self.n_non} non-targets"
        return f"GaussianCalibration: {self._line()}, {counts}"


@attrs.frozen(kw_only=True, repr=False)
class BiGaussianCalibration(trained.SavedMap, trained.TrialMap):
    r"""A rising map that gives all trials together the law of calibrated Gaussian LLRs.

    The amount of information is taken from the Cllr of a linear calibration, the form from the
    ranks of the scores. So scores may be far from normal. It takes 50 trials or more, and is
    constant beyond the training scores.

    Parameters
    ----------
    scores, llrs : (m,) ndarray of float64
        Points of the map, at most 1000, ascending; lines lie between them.
    cllr : float
        Cllr of the linear calibration, bits.
    variance : float
        Variance of each class's log-likelihood-ratios, which have means of plus and minus one
        half of it; 0 if the scores carry no information.
    n_tar, n_non, of_llrs
        As in `GaussianCalibration`.

    Notes
    -----
    Of the n trials of a class each has the weight 1 / (2 (n + 1)) in the empirical distribution of
    all scores. A score is mapped to the quantile of that share, in the mixture of both normal
    laws [1]_. The variance solves the exact integral of Cllr, where the published formula is a
    fit.

    References
    ----------
    .. [1] G. S. Morrison, "Bi-Gaussianized calibration of likelihood ratios", Law, Probability
       and Risk 23(1), 2024, doi:10.1093/lpr/mgae004.

    Examples
    --------
    >>> BiGaussianCalibration.fit([1.0, 2.0, 3.0], [0.0, -1.0, 1.5])
    BiGaussianCalibration: variance 3.653, llr -3.144 ... 1.943, 3 targets, 3 non-targets
    """

    scores: Float64Array = attrs.field(**trained.VECTOR)
    llrs: Float64Array = attrs.field(**trained.VECTOR)
    cllr: float = attrs.field(**trained.NOT_NEGATIVE)
    variance: float = attrs.field(**trained.NOT_NEGATIVE)
    n_tar: int = attrs.field(**trained.COUNT)
    n_non: int = attrs.field(**trained.COUNT)

    def __attrs_post_init__(self) -> None:
        """Refuse points that do not describe a rising map."""
        if self.scores.size != self.llrs.size:
            raise check.invalid("scores", "be as long as `llrs`", f"{self.scores.size}")
        for name, points in (("scores", self.scores), ("llrs", self.llrs)):
            if not np.all(np.diff(points) >= 0):
                raise check.invalid(name, "be ascending", check.describe(points))

    @classmethod
    def fit(
        cls,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        *,
        tar_weights: Weighting = None,
        non_weights: Weighting = None,
    ) -> Self:
        """Train the map.

        Parameters
        ----------
        tar, non, tar_weights, non_weights
            As for `GaussianCalibration.fit`.

        Returns
        -------
        BiGaussianCalibration

        Warns
        -----
        SeparableDataWarning, ConvergenceWarning, BosarisWarning
            As for `LinearCalibration.fit`.
        """
        # All are looked at twice.
        tar, non, tar_weights, non_weights = map(
            check.as_list, (tar, non, tar_weights, non_weights)
        )
        linear = LinearCalibration.fit(tar, non, tar_weights=tar_weights, non_weights=non_weights)
        classes = _classes(tar, non, tar_weights, non_weights)
        pooled = np.concatenate([scores for scores, _ in classes])
        # Weights of one each, but for trial weights, over twice the number of trials plus one.
        shares = np.concatenate(
            [
                (np.ones(scores.size) if used is None else used * (scores.size / used.sum()))
                / (2 * (scores.size + 1))
                for scores, used in classes
            ]
        )
        points, numbers = np.unique(pooled, return_inverse=True)
        below: Float64Array = np.cumsum(np.bincount(numbers, shares), dtype=np.float64)
        # A rising map has no use for what falling scores tell.
        cllr = linear.objective_value if linear.scale > 0.0 else 1.0
        variance = gaussian_variance(cllr)
        if points.size > _MOST_POINTS:
            # Evenly spaced in what the map gives, of which some are in the same place.
            ends = gaussian_mixture_quantiles(below[[0, -1]], variance or 1.0)
            even = gaussian_mixture_cdf(
                np.linspace(ends[0], ends[1], _MOST_POINTS), variance or 1.0
            )
            kept = np.unique(np.minimum(np.searchsorted(below, even), points.size - 1))
            points, below = points[kept], below[kept]
        llrs = gaussian_mixture_quantiles(below, variance) if variance else np.zeros(points.size)
        return cls(
            scores=mark_read_only(points.astype(np.float64)),
            llrs=mark_read_only(llrs),
            cllr=cllr,
            variance=variance,
            n_tar=linear.n_tar,
            n_non=linear.n_non,
        )

    def _llrs(self, scores: FloatArray) -> Float64Array:
        return np.interp(scores, self.scores, self.llrs)

    def __repr__(self) -> str:
        """Show the variance and how far the map reaches."""
        return (
            f"BiGaussianCalibration: variance {self.variance:.4g}, llr {self.llrs[0]:.4g} ... "
            f"{self.llrs[-1]:.4g}, {self.n_tar} targets, {self.n_non} non-targets"
        )


def _classes(
    tar: npt.ArrayLike, non: npt.ArrayLike, tar_weights: Weighting, non_weights: Weighting
) -> list[tuple[FloatArray, Float64Array | None]]:
    """Return scores and weights of both classes, checked, without trials of weight zero."""
    classes = []
    both = check.as_score_lists(tar, non, tar_weights, non_weights)
    refuse_non_finite(*(scores[None] for scores in both))
    given = zip(("tar", "non"), both, (tar_weights, non_weights), strict=True)
    for name, scores, weights in given:
        check.check_not_empty(scores, name)
        checked = check.as_weights(weights, scores.size, f"{name}_weights")
        if checked is not None:
            checked = moderate_weights(checked)
            scores, checked = scores[checked > 0], checked[checked > 0]
        classes.append((scores, checked))
    return classes
