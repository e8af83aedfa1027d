"""Linear calibration: scale and offset that turn scores into log-likelihood-ratios."""

from __future__ import annotations

import functools
from concurrent.futures import Executor
from typing import Self

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import Float64Array, FloatArray
from bosaris_py._notes import Note, warn
from bosaris_py._validation import FilePath, as_path, as_vector
from bosaris_py.calibration import base
from bosaris_py.calibration.large import objective_in_files, write_llrs
from bosaris_py.errors import SuspectScoresWarning
from bosaris_py.numerics.newton import LinearSolution, Ridge, train_linear
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.scoring import TrainingObjective
from bosaris_py.trials import Ndx
from bosaris_py.trials.key import Key
from bosaris_py.trials.scores import Scores

# A scale of the wrong sign that gains less than this is rounding noise on scores
# that tell nothing.
_REAL_GAIN = 1e-12


class Line(base.ScoreMap):
    """A line, which goes on beyond the scores of the training."""

    __slots__ = ()

    scale: float
    offset: float
    low_score: float | None
    high_score: float | None
    n_tar: int
    n_non: int

    def _mapped(self, scores: FloatArray) -> tuple[Float64Array, list[Note]]:
        met = base.Met(self.low_score, self.high_score)
        llrs = base.map_rows(scores[np.newaxis], np.array([self.scale]), self.offset, [met])
        return llrs, self._notes_on(met)

    def _notes_on(self, met: base.Met) -> list[Note]:
        """Note scores far outside those of the training, or that these are they."""
        advice = "There the map is a line that no trial supports; BoundedCalibration limits it."
        return met.notes(advice=advice) + base.training_trials(met.is_all(self.n_tar + self.n_non))

    def _line(self) -> str:
        """Return the equation of the line."""
        sign = "-" if self.offset < 0 else "+"
        return f"llr = {self.scale:.4g} * score {sign} {abs(self.offset):.4g}"


def negative_scale(scale: float) -> Note:
    """Note a map that was trained to fall as the scores rise."""
    text = f"The scale is negative ({scale:.4g}), so higher scores speak against targets. "
    question = "Are targets and non-targets swapped, or the scores distances?"
    return Note(SuspectScoresWarning, text + question)


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

    scale: float = attrs.field(**base.NUMBER)
    offset: float = attrs.field(**base.NUMBER)
    low_score: float | None = attrs.field(**base.NUMBER_OR_NONE)
    high_score: float | None = attrs.field(**base.NUMBER_OR_NONE)

    @classmethod
    def from_line(cls, scale: float, offset: float) -> "LinearCalibration":
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
    def fit_files(
        cls,
        score_file: FilePath,
        key_file: FilePath,
        *,
        prior: float | OperatingPoint = 0.5,
        objective: str = "cllr",
        ridge: Ridge = "weak",
        workers: int = 1,
        executor: Executor | None = None,
        progress: bool = False,
    ) -> "LinearCalibration":
        """Train scale and offset on a score file of any size.

        The result is that of `fit_scores` but for rounding (1e-12), and does not depend on
        threads or workers at all.

        Parameters
        ----------
        score_file : str or path-like
            HDF5 file of the scores of at least some of the key's trials.
        key_file : str or path-like
            HDF5 file of the key. Ids may come in any order; rows in the same order are read faster.
        prior, objective, ridge
            As for `fit`.
        workers : int, default: 1
            Number of threads.
        executor : concurrent.futures.Executor, optional
            What reads blocks in their place: processes, or ``client.get_executor()`` of a Dask
            cluster whose machines see the files under the same names.
        progress : bool, default: False
            Show a progress bar for each pass.

        Returns
        -------
        LinearCalibration

        Raises
        ------
        FileFormatError
            If a file is damaged, foreign, or changes while it is read.

        Warns
        -----
        MissingTrialsWarning
            If the key holds trials without score; they are left out.
        SeparableDataWarning, ConvergenceWarning, SuspectScoresWarning
            As for `fit`.

        Notes
        -----
        Memory: the target scores, a sample of up to four million non-target scores, and a few
        megabytes for each worker. One pass over the files collects these. Usually two more evaluate
        the objective, none if the sample holds all non-targets, six with "brier". Worker processes
        are worth it from some 10^8 trials on.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from bosaris_py import Key, LinearCalibration, Scores
        >>> folder = Path(tempfile.mkdtemp())
        >>> scores = Scores([[1.0, 0.0, -1.0], [1.5, 2.0, 3.0]], ["a", "b"], ["x", "y", "z"])
        >>> tar = [[True, False, False], [False, True, True]]
        >>> non = [[False, True, True], [True, False, False]]
        >>> scores.save(folder / "scores.h5")
        >>> Key(["a", "b"], ["x", "y", "z"], tar, non).save(folder / "key.h5")
        >>> LinearCalibration.fit_files(folder / "scores.h5", folder / "key.h5", ridge=0)
        LinearCalibration: llr = 1.977 * score - 2.299, cllr 0.543 at prior 0.5,
        3 targets, 3 non-targets
        """
        training = objective_in_files(
            [as_path(score_file, "score_file")],
            key_file,
            {"workers": workers, "executor": executor, "progress": progress},
            prior=prior,
            objective=objective,
            ridge=ridge,
            all_scored=False,
        )
        return cls._from_training(training, train_linear(training, ridge=ridge))._told()

    @classmethod
    def _from_training(cls, training: TrainingObjective, solution: LinearSolution) -> Self:
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
    def _as_systems(scores: npt.ArrayLike, name: str) -> FloatArray:
        return as_vector(scores, name)

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
        ExtrapolationWarning
            If scores lie far outside those of the training.
        SuspectScoresWarning
            If a map made the scores in the file, and `fit_files` or `fit_scores` trained this map
            on others.

        Notes
        -----
        Memory: a few blocks, whatever the size of the files.
        """
        met = base.Met(self.low_score, self.high_score)
        line = functools.partial(
            base.weighted_sum, weights=np.array([self.scale]), offset=self.offset
        )
        where = [as_path(score_file, "score_file")], ndx_file, output_file
        write_llrs(*where, line, self._apply_listed, [met], needs_all=False, progress=progress)
        warn(self._notes_on(met))

    def _apply_listed(self, systems: list[Scores], ndx: Key | Ndx | None) -> Scores:
        scores = systems[0] if ndx is None else systems[0].align_with_ndx(ndx)
        result: Scores = self.apply(scores)
        return result

    def __repr__(self) -> str:
        """Show the map and how good it was on its training scores."""
        return f"{type(self).__name__}: {self._line()}, {self._describe_training()}"
