"""Non-parametric calibration by the pool-adjacent-violators algorithm."""

from __future__ import annotations

from typing import Self

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike, FloatArray, Given, Weighting
from bosaris_py.calibration import base
from bosaris_py.numerics.hull import pav_bins
from bosaris_py.numerics.roc import as_class
from bosaris_py.numerics.scoring import refuse_non_finite
from bosaris_py.trials.sample import Sample

# Where the toolkit puts its two dummy trials: below and above any score of a usual system.
_DUMMY_SCORE = 1e6


@attrs.frozen(kw_only=True, repr=False)
class PAVCalibration(base.ScoreMap):
    """A rising map from scores to log-likelihood-ratios, optimal on its training trials.

    Make one with `fit`, `fit_scores` or `read`. On data like the training data it removes any
    monotone miscalibration; it needs more trials than `LinearCalibration` to be safe on new data.

    Parameters
    ----------
    score_bounds : (2 m,) ndarray of float64
        Lowest and highest training score of each of the m pools, ascending.
    llr_bounds : (2 m,) ndarray of float64
        Log-likelihood-ratio at each bound.
    score_offset : float
        Half the rise of the map within a pool.
    n_tar, n_non : int
        Number of training trials of a weight above zero, without the two dummy trials.
    notes : tuple of Note
        What the training left to note; files do not keep it.

    Notes
    -----
    BOSARIS: ``pav_calibration.m``. One target is added below all scores and one non-target above
    them, so every log-likelihood-ratio is finite, from -log(T + 1) to log(N + 1). The map passes
    through ``llr - score_offset`` at the lowest and ``llr + score_offset`` at the highest score of
    each pool and is linear in between. With an offset of zero different scores of a pool become
    equal; a small offset keeps their order. An offset of more than half the distance of two
    neighbouring pools makes the map fall between them.

    The dummies lie at -1e6 and 1e6, or at the outermost training scores. Scores beyond them get the
    value of the outermost bound, where the toolkit raises an error.

    Examples
    --------
    >>> calibration = PAVCalibration.fit([1.0, 3.0, 4.0], [-2.0, 0.0, 2.0])
    >>> calibration.apply([-2.0, 0.5, 4.0]).round(4).tolist()
    [-0.6931, -0.3466, 0.6931]
    """

    score_bounds: FloatArray = attrs.field(**base.VECTOR)
    llr_bounds: FloatArray = attrs.field(**base.VECTOR)
    score_offset: float = attrs.field(**base.NOT_NEGATIVE)
    n_tar: int = attrs.field(**base.COUNT)
    n_non: int = attrs.field(**base.COUNT)

    def __attrs_post_init__(self) -> None:
        """Refuse bounds that do not describe a rising map."""
        scores, llrs = self.score_bounds, self.llr_bounds
        if scores.size % 2 or scores.size != llrs.size or np.any(np.diff(scores) < 0):
            expected = "hold two ascending numbers for each pool, as `llr_bounds` does"
            raise check.invalid("score_bounds", expected, check.describe(scores))
        # With an offset the bounds of neighbouring pools may overlap; their middles rise.
        lower, upper = llrs[0::2], llrs[1::2]
        middles = lower + (upper - lower) / 2
        rounding = 4 * np.finfo(np.float64).eps * float(np.abs(llrs).max())
        if np.any(upper < lower) or np.any(np.diff(middles) < -rounding):
            raise check.invalid("llr_bounds", "be ascending", check.describe(llrs))

    @classmethod
    def fit(
        cls,
        tar: ArrayLike,
        non: ArrayLike,
        *,
        score_offset: float = 0.0,
        tar_weights: Weighting = None,
        non_weights: Weighting = None,
    ) -> Self:
        """Train the map.

        Parameters
        ----------
        tar, non : (n_tar,), (n_non,) array_like of float
            Target and non-target scores, finite.
        score_offset : float, default: 0.0
            Half the rise of the map within a pool, not negative; the toolkit's ``small_val``.
        tar_weights, non_weights : array_like of float, optional
            Trial weights, finite and not negative: how many trials each stands
            for. The dummy trials weigh one each.

        Returns
        -------
        PAVCalibration

        Warns
        -----
        SuspectScoresWarning
            If more than 30 trials of each class make one pool: scores tell nothing; or if the
            offset makes the map fall between pools.
        """
        weights: base.Options = {"tar_weights": tar_weights, "non_weights": non_weights}
        return cls._trained(tar, non, score_offset, **weights)._with_warnings()

    @classmethod
    def _trained(cls, tar: Given, non: Given, score_offset: float = 0.0, **weights: Given) -> Self:
        score_offset = check.as_nonnegative(score_offset, "score_offset")
        pair = zip(("tar", "non"), check.as_score_lists(tar, non, **weights), strict=True)
        classes = [as_class(each, weights.get(f"{name}_weights"), name) for name, each in pair]
        (targets, _), (others, _) = classes
        refuse_non_finite(targets[np.newaxis], others[np.newaxis])
        # The dummies keep the outermost pools from being pure, whose llrs would be infinite.
        outermost = max(_DUMMY_SCORE, float(np.abs(targets).max()), float(np.abs(others).max()))
        masses = (None if mass is None else np.append(mass, 1.0) for _, mass in classes)
        dummies = np.append(targets, -outermost), np.append(others, outermost)
        sample = Sample.from_scores(*dummies, *masses)
        lowest, highest, llrs = pav_bins(sample.hull, sample.tar.scores, sample.non.scores)
        n_tar, n_non = targets.size, others.size
        notes = base.few_trials(n_tar, n_non)
        if llrs.size == 1 and min(n_tar, n_non) > base.FEWEST:
            text = (
                "The map has one pool, so that all scores become one: higher ones do not speak for "
                "targets. Are targets and non-targets swapped, or the scores distances?"
            )
            notes.append(errors.Note(errors.SuspectScoresWarning, text))
        if falls := int(np.count_nonzero(np.diff(llrs) < 2.0 * score_offset)):
            text = (
                f"The map falls between {falls} of its {llrs.size} pools: `score_offset` is "
                "more than half their distance. A small one, such as 1e-6, keeps the order."
            )
            notes.append(errors.Note(errors.SuspectScoresWarning, text))
        return cls(
            score_bounds=np.column_stack((lowest, highest)).ravel(),
            llr_bounds=np.column_stack((llrs - score_offset, llrs + score_offset)).ravel(),
            score_offset=score_offset,
            n_tar=n_tar,
            n_non=n_non,
            notes=tuple(notes),
        )

    def _mapped(self, scores: FloatArray) -> base.Mapped:
        check.refuse_nan(scores, "x")
        llrs = np.interp(scores, self.score_bounds, self.llr_bounds)
        # So many scores as in training, among them all ends of pools?
        inner = np.abs(self.score_bounds) < np.abs(self.score_bounds).max()
        same_size = scores.size == self.n_tar + self.n_non
        is_known = same_size and np.isin(self.score_bounds[inner], scores).all()
        return llrs, base.training_trials(is_known)

    def __repr__(self) -> str:
        """Say how many pools there are and how far they reach."""
        reach = f"llr {self.llr_bounds[0]:.4g} ... {self.llr_bounds[-1]:.4g}"
        trials = f"{self.n_tar} targets and {self.n_non} non-targets"
        return f"PAVCalibration: {self.score_bounds.size // 2} pools, {reach}, trained on {trials}"
