"""Calibration by a Gaussian model of the scores: for small sets of trials."""

from __future__ import annotations

import math
from typing import Self

import attrs
import numpy.typing as npt

from bosaris_py import _validation as check
from bosaris_py._arrays import Float64Array, FloatArray, Weighting
from bosaris_py.calibration.base import COUNT, FEWEST, NUMBER, few_trials
from bosaris_py.calibration.linear import Line, negative_scale
from bosaris_py.numerics.scoring import class_moments, moderate_weights, refuse_non_finite


@attrs.frozen(kw_only=True, repr=False)
class GaussianCalibration(Line):
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
    notes : tuple of Note
        What the training left to note; files do not keep it.

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

        Warns
        -----
        SuspectScoresWarning
            If the scale is negative: labels swapped, or distances for scores?
        """
        return cls._trained(tar, non, target_share, tar_weights, non_weights)._told()

    @classmethod
    def _trained(
        cls,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        target_share: float = 0.5,
        tar_weights: Weighting = None,
        non_weights: Weighting = None,
    ) -> Self:
        share = check.check_fraction(target_share, "target_share")
        (tar, tar_used), (non, non_used) = _classes(tar, non, tar_weights, non_weights)
        targets, others = class_moments(tar[None], tar_used), class_moments(non[None], non_used)
        variance = float(share * targets.scatter[0, 0] + (1 - share) * others.scatter[0, 0])
        if not variance > 0.0:
            raise check.invalid("tar", "vary, or `non`", "scores that are equal within each class")
        scale = float(targets.mean[0] - others.mean[0]) / variance
        # Three standard errors of the difference of the means, in units of the deviation.
        chance = 3.0 * math.sqrt(1.0 / tar.size + 1.0 / non.size)
        notes = few_trials(tar.size, non.size)
        if scale * math.sqrt(variance) < -chance and min(tar.size, non.size) > FEWEST:
            notes.append(negative_scale(scale))
        return cls(
            scale=scale,
            offset=-scale * float(targets.mean[0] + others.mean[0]) / 2,
            target_share=share,
            low_score=float(min(targets.lowest[0], others.lowest[0])),
            high_score=float(max(targets.highest[0], others.highest[0])),
            n_tar=tar.size,
            n_non=non.size,
            notes=tuple(notes),
        )

    def __repr__(self) -> str:
        """Show the map."""
        counts = f"{self.n_tar} targets, {self.n_non} non-targets"
        return f"GaussianCalibration: {self._line()}, {counts}"


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
        checked = moderate_weights(check.as_weights(weights, scores.size, f"{name}_weights"))
        if checked is not None:
            scores, checked = scores[checked > 0], checked[checked > 0]
        classes.append((scores, checked))
    return classes
