"""Calibration by a line: linear, trained by optimisation, and Gaussian, of moments only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike, FilePath, FloatArray, Given, Weighting
from bosaris_py.calibration import base
from bosaris_py.numerics import scoring as losses
from bosaris_py.numerics.newton import LinearSolution

# A scale of the wrong sign that gains less than this is rounding noise on scores
# that tell nothing.
_REAL_GAIN = 1e-12


@attrs.frozen(kw_only=True, repr=False, slots=False)
class Line(base.ScoreMap, base.RowMap):
    """A line, which goes on beyond the scores of the training."""

    scale: float = attrs.field(**base.NUMBER)
    offset: float = attrs.field(**base.NUMBER)
    low_score: float | None = attrs.field(**base.NUMBER_OR_NONE)
    high_score: float | None = attrs.field(**base.NUMBER_OR_NONE)
    n_tar: int = attrs.field(**base.COUNT)
    n_non: int = attrs.field(**base.COUNT)

    def _mapped(self, scores: FloatArray) -> base.Mapped:
        return base.RowMap._mapped(self, scores[np.newaxis])

    def _llrs(self, rows: base.Rows) -> FloatArray:
        return base.weighted_sum(rows, [self.scale], self.offset)

    def _met(self) -> list[base.Met]:
        return [base.Met(self.low_score, self.high_score)]

    def _notes_on(self, met: Sequence[base.Met]) -> list[errors.Note]:
        advice = "There the map is a line that no trial supports; BoundedCalibration limits it."
        is_known = met[0].is_all(self.n_tar + self.n_non)
        return met[0].notes(advice=advice) + base.training_trials(is_known)

    def _line(self) -> str:
        """Return the equation of the line."""
        sign = "-" if self.offset < 0 else "+"
        return f"llr = {self.scale:.4g} * score {sign} {abs(self.offset):.4g}"


def negative_scale(scale: float) -> errors.Note:
    """Note a map that was trained to fall as the scores rise."""
    text = f"The scale is negative ({scale:.4g}), so higher scores speak against targets. "
    question = "Are targets and non-targets swapped, or the scores distances?"
    return errors.Note(errors.SuspectScoresWarning, text + question)


@attrs.frozen(kw_only=True, repr=False)
class LinearCalibration(base.LinearMap, Line):
    r"""An affine map from scores to log-likelihood-ratios, ``scale * score + offset``.

    Make one with `fit`, `fit_scores` or `read`. A few hundred trials train its two parameters well.
    With a positive scale EER and minimum DCF stay as they are.

    Parameters
    ----------
    scale : float
        Factor, log-likelihood-ratio per unit of score. Negative if higher scores
        speak against a target.
    offset : float
        What is added, a natural-log likelihood-ratio.
    prior : float
        Effective prior at which the map was optimised.
    objective : str
        The proper scoring rule that was minimised: cllr, brier or boost.
    objective_value : float
        The normalised objective on the training scores: 0 for a perfect detector,
        1 for one that knows only the prior. The ridge penalty is not included.
    ridge : float
        The ridge on the scale; of separable training scores the 1/n that `fit` documents.
    n_tar, n_non : int
        Number of training trials with a weight above zero.
    low_score, high_score : float or None
        The range of the training scores; `apply` warns of scores far outside. None in
        files of version 0.1.
    notes : tuple of Note
        What the training left to note; files do not keep it.

    Notes
    -----
    BOSARIS: ``train_linear_calibration.m``. The toolkit stops when the objective
    promises to fall by less than 1.5e-8, which leaves an error of up to 6e-4 in the
    scale; here the gradient vanishes to machine precision.

    Examples
    --------
    >>> calibration = LinearCalibration.fit([1.0, 2.0, 3.0], [0.0, -1.0, 1.5], ridge=0)
    >>> calibration
    LinearCalibration: llr = 1.977 * score - 2.299, cllr 0.543 at prior 0.5,
    3 targets, 3 non-targets
    >>> calibration.apply([0.0, 2.0]).round(3).tolist()
    [-2.299, 1.656]
    """

    _needs_all: ClassVar[bool] = False

    @classmethod
    def from_line(cls, scale: float, offset: float) -> Self:
        """Make the map of a line that is known, such as one of a paper or of another program.

        Parameters
        ----------
        scale, offset : float
            ``llr = scale * score + offset``, in natural logarithms.

        Returns
        -------
        LinearCalibration
            Without trials: `n_tar` and `n_non` are 0, and so is `objective_value`.

        Examples
        --------
        >>> LinearCalibration.from_line(2.0, 1.0)
        LinearCalibration: llr = 2 * score + 1, given, not trained
        >>> LinearCalibration.from_line(2.0, 1.0).apply([0.5]).tolist()
        [2.0]
        """
        return cls(scale=scale, offset=offset, **base.NOT_TRAINED)

    @classmethod
    def _from_training(
        cls, training: losses.TrainingObjective, solution: LinearSolution, systems: object = None
    ) -> Self:
        (scale,) = solution.weights.tolist()
        # Not an error: whoever calibrates distances may want it.
        if scale < 0.0 and solution.objective_value < 1.0 - _REAL_GAIN:
            solution.notes.append(negative_scale(scale))
        return cls(
            scale=scale,
            offset=solution.offset,
            low_score=solution.lowest[0],
            high_score=solution.highest[0],
            **base.record(training, solution),
        )

    @staticmethod
    def _as_systems(scores: ArrayLike, name: str) -> FloatArray:
        return check.as_vector(scores, name)

    @staticmethod
    def _as_files(score_files: Given) -> list[FilePath]:
        return [check.as_path(score_files, "score_files")]

    def apply_file(
        self,
        score_file: FilePath,
        output_file: FilePath,
        *,
        ndx_file: FilePath | None = None,
        progress: bool = False,
    ) -> None:
        """Turn the scores of a file of any size into those that ``apply`` gives, in another file.

        Parameters
        ----------
        score_file : str or path-like
            HDF5 file of a `Scores`.
        output_file : str or path-like
            The HDF5 file to write, of a `Scores` of float64: read it with `Scores.read`. It
            appears, or replaces an older one, when it is complete.
        ndx_file : str or path-like, optional
            HDF5 file of an `Ndx` or `Key`: write its trials, in the order of its models and
            segments, as ``apply`` to ``Scores.align_with_ndx`` does. By default all scores,
            as they are arranged.
        progress : bool, default: False
            Show a progress bar.

        Raises
        ------
        FileFormatError
            If a file is damaged, foreign, or changes while it is read.
        OSError
            If the output cannot be written.

        Warns
        -----
        MissingTrialsWarning
            If trials of `ndx_file` have no score, with counts.
        SuspectScoresWarning
            If scores lie far outside those of the training.
        SuspectScoresWarning
            If a map made the scores in the file, and `fit_files` or `fit_scores` trained this map
            on others.

        Notes
        -----
        Memory: a few blocks, whatever the size of the files.
        """
        files = [check.as_path(score_file, "score_file")]
        self._write(files, ndx_file, output_file, needs_all=False, progress=progress)

    def __repr__(self) -> str:
        """Show the map and how good it was on its training scores."""
        return f"{type(self).__name__}: {self._line()}, {self._describe_training()}"


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

    target_share: float = attrs.field(**base.NUMBER)

    @classmethod
    def fit(
        cls,
        tar: ArrayLike,
        non: ArrayLike,
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
        weights: base.Options = {"tar_weights": tar_weights, "non_weights": non_weights}
        return cls._trained(tar, non, target_share, **weights)._with_warnings()

    @classmethod
    def _trained(cls, tar: Given, non: Given, target_share: float = 0.5, **weights: Given) -> Self:
        share = check.check_fraction(target_share, "target_share")
        check.check_class_rows(tar, non, **weights)
        both = check.as_vector(tar, "tar"), check.as_vector(non, "non")
        training = losses.TrainingObjective.from_scores(*both, **weights)
        losses.refuse_non_finite(training.tar.scores, training.non.scores)
        targets, others = training.tar.moments(), training.non.moments()
        variance = float(share * targets.scatter[0, 0] + (1 - share) * others.scatter[0, 0])
        if not variance > 0.0:
            raise check.invalid("tar", "vary, or `non`", "scores that are equal within each class")
        n_tar, n_non = training.n_tar, training.n_non
        scale = float(targets.mean[0] - others.mean[0]) / variance
        # Three standard errors of the difference of the means, in units of the deviation.
        chance = 3.0 * np.sqrt(1.0 / n_tar + 1.0 / n_non)
        notes = base.few_trials(n_tar, n_non)
        if scale * np.sqrt(variance) < -chance and min(n_tar, n_non) > base.FEWEST:
            notes.append(negative_scale(scale))
        return cls(
            scale=scale,
            offset=-scale * float(targets.mean[0] + others.mean[0]) / 2,
            target_share=share,
            low_score=float(min(targets.lowest[0], others.lowest[0])),
            high_score=float(max(targets.highest[0], others.highest[0])),
            n_tar=n_tar,
            n_non=n_non,
            notes=tuple(notes),
        )

    def __repr__(self) -> str:
        """Show the map."""
        counts = f"{self.n_tar} targets, {self.n_non} non-targets"
        return f"GaussianCalibration: {self._line()}, {counts}"
