"""Calibrations by Gaussian models of the log-likelihood-ratios: for small sets of trials."""

from __future__ import annotations

import math
from typing import Self

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import Float64Array, FloatArray, Weighting, mark_read_only
from bosaris_py._validation import (
    as_score_lists,
    as_weights,
    check_fraction,
    check_not_empty,
    describe,
    invalid,
)
from bosaris_py.calibration.linear import LinearCalibration
from bosaris_py.calibration.trained import COUNT, NOT_NEGATIVE, NUMBER, VECTOR, SavedMap, TrialMap
from bosaris_py.numerics.gaussian_llrs import (
    gaussian_mixture_cdf,
    gaussian_mixture_quantiles,
    gaussian_variance,
)
from bosaris_py.numerics.linear_objective import class_moments, refuse_non_finite
from bosaris_py.numerics.plausibility import FEW_TRIALS, warn_of_negative

# Points at which a bi-Gaussian map is kept, if more scores are different.
_MOST_POINTS = 1000


@attrs.frozen(kw_only=True, repr=False)
class GaussianCalibration(SavedMap, TrialMap):
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

    scale: float = attrs.field(**NUMBER)
    offset: float = attrs.field(**NUMBER)
    target_share: float = attrs.field(**NUMBER)
    low_score: float = attrs.field(**NUMBER)
    high_score: float = attrs.field(**NUMBER)
    n_tar: int = attrs.field(**COUNT)
    n_non: int = attrs.field(**COUNT)

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

        Raises
        ------
        InvalidInputError
            If a class is empty, a score is not finite, a weight is bad, or no score differs
            from the mean of its class.

        Warns
        -----
        SuspectScoresWarning
            If the scale is negative: labels swapped, or distances for scores?
        """
        share = check_fraction(target_share, "target_share")
        (tar, tar_used), (non, non_used) = _classes(tar, non, tar_weights, non_weights)
        targets, others = class_moments(tar[None], tar_used), class_moments(non[None], non_used)
        variance = float(share * targets.scatter[0, 0] + (1 - share) * others.scatter[0, 0])
        if not variance > 0.0:
            raise invalid("tar", "vary, or `non`", "scores that are equal within each class")
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

    def _range(self) -> tuple[float, float]:
        return self.low_score, self.high_score

    def _llrs(self, scores: FloatArray) -> Float64Array:
        return np.asarray(np.multiply(scores, self.scale, dtype=np.float64) + self.offset)

    def __repr__(self) -> str:
        """Show the map."""
        sign = "-" if self.offset < 0 else "+"
        return (
            f"GaussianCalibration: llr = {self.scale:.4g} * score {sign} {abs(self.offset):.4g}, "
            f"{self.n_tar} targets, {self.n_non} non-targets"
        )


@attrs.frozen(kw_only=True, repr=False)
class BiGaussianCalibration(SavedMap, TrialMap):
    r"""A rising map that gives all trials together the law of calibrated Gaussian LLRs.

    The amount of information is taken from the Cllr of a linear calibration, the form from the
    ranks of the scores; so it is not misled by scores that are far from normal. From 50 trials
    on. Beyond the training scores it is constant.

    Parameters
    ----------
    scores, llrs : (m,) ndarray of float64
        Points of the map, at most 1000, ascending; lines lie between them.
    cllr : float
        Cllr of the linear calibration, bits.
    variance : float
        Variance of each class's log-likelihood-ratios, which have means of plus and minus one
        half of it; 0 if the scores carry no information.
    n_tar, n_non : int
        Number of training trials with a weight above zero.

    Notes
    -----
    Of the n trials of a class each has the weight 1 / (2 (n + 1)) in the empirical distribution of
    all scores. A score is mapped to the quantile of that share, in the mixture of both normal
    laws [1]_. The variance solves the exact integral (`numerics.gaussian_variance`), where the
    published formula is a fit.

    References
    ----------
    .. [1] G. S. Morrison, "Bi-Gaussianized calibration of likelihood ratios", Law, Probability
       and Risk 23(1), 2024, doi:10.1093/lpr/mgae004.

    Examples
    --------
    >>> BiGaussianCalibration.fit([1.0, 2.0, 3.0], [0.0, -1.0, 1.5])
    BiGaussianCalibration: variance 3.653, llr -3.144 ... 1.943, 3 targets, 3 non-targets
    """

    scores: Float64Array = attrs.field(**VECTOR)
    llrs: Float64Array = attrs.field(**VECTOR)
    cllr: float = attrs.field(**NOT_NEGATIVE)
    variance: float = attrs.field(**NOT_NEGATIVE)
    n_tar: int = attrs.field(**COUNT)
    n_non: int = attrs.field(**COUNT)

    def __attrs_post_init__(self) -> None:
        """Refuse points that do not describe a rising map."""
        if self.scores.size != self.llrs.size:
            raise invalid("scores", "be as long as `llrs`", f"{self.scores.size}")
        for name, points in (("scores", self.scores), ("llrs", self.llrs)):
            if not np.all(np.diff(points) >= 0):
                raise invalid(name, "be ascending", describe(points))

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
        tar, non : (n_tar,), (n_non,) array_like of float
            Target and non-target scores, finite.
        tar_weights, non_weights : array_like of float, optional
            Trial weights; only their proportions within a class matter.

        Returns
        -------
        BiGaussianCalibration

        Raises
        ------
        InvalidInputError
            If a class is empty, a score is not finite, or a weight is bad.

        Warns
        -----
        SeparableDataWarning, ConvergenceWarning, BosarisWarning
            As for `LinearCalibration.fit`.
        """
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
    both = as_score_lists(tar, non)
    refuse_non_finite(*(scores[None] for scores in both))
    given = zip(("tar", "non"), both, (tar_weights, non_weights), strict=True)
    for name, scores, weights in given:
        check_not_empty(scores, name)
        checked = as_weights(weights, scores.size, f"{name}_weights")
        if checked is not None:
            scores, checked = scores[checked > 0], checked[checked > 0]
        classes.append((scores, checked))
    return classes
