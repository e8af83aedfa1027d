"""Linear calibration: scale and offset that turn scores into log-likelihood-ratios."""

from __future__ import annotations

import functools
from concurrent.futures import Executor
from typing import Any, Self

import attrs
import numpy.typing as npt

from bosaris_py._arrays import FloatArray
from bosaris_py._notes import warn
from bosaris_py._validation import FilePath, as_path, as_vector
from bosaris_py.calibration.trained import (
    HIGH_OR_NONE,
    NUMBER,
    NUMBER_OR_NONE,
    FarScores,
    LinearMap,
    LineMap,
    Weights,
    fit_on_trials,
    weighted_sum,
    write_llrs,
)
from bosaris_py.metrics.strange import negative_scale
from bosaris_py.numerics.newton import LinearSolution, Ridge
from bosaris_py.numerics.objective import TrainingObjective
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.trials import Conditions, Ndx
from bosaris_py.trials.key import Key
from bosaris_py.trials.scores import Scores

# A scale of the wrong sign that gains less than this is rounding noise on scores
# that tell nothing.
_REAL_GAIN = 1e-12


@attrs.frozen(kw_only=True, repr=False)
class LinearCalibration(LinearMap, LineMap):
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

    Notes
    -----
    BOSARIS: ``train_linear_calibration.m``. The toolkit stops when the objective
    promises to fall by less than 1.5e-8, which leaves an error of up to 6e-4 in the
    scale; here the gradient vanishes to machine precision.

    Examples
    --------
    >>> calibration = LinearCalibration.fit([1.0, 2.0, 3.0], [0.0, -1.0, 1.5])
    >>> calibration
    LinearCalibration: llr = 1.977 * score - 2.299, cllr 0.543 at prior 0.5,
    3 targets, 3 non-targets
    >>> calibration.apply([0.0, 2.0]).round(3).tolist()
    [-2.299, 1.656]
    """

    scale: float = attrs.field(**NUMBER)
    offset: float = attrs.field(**NUMBER)
    low_score: float | None = attrs.field(**NUMBER_OR_NONE)
    high_score: float | None = attrs.field(**HIGH_OR_NONE)

    _needs_all = False

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
        nothing: dict[str, Any] = {"objective_value": 0.0, "ridge": 0.0, "n_tar": 0, "n_non": 0}
        return cls(scale=scale, offset=offset, prior=0.5, objective="cllr", **nothing)

    @classmethod
    def fit_scores(
        cls,
        scores: Scores,
        key: Key,
        *,
        conditions: Conditions | None = None,
        prior: float | OperatingPoint = 0.5,
        objective: str = "cllr",
        ridge: Ridge = 0.0,
        tar_weights: Weights = None,
        non_weights: Weights = None,
    ) -> Self:
        """Train scale and offset on the scores of the trials in a key.

        Parameters
        ----------
        scores : Scores
            Scores of at least some of the key's trials.
        key : Key
            Which trials are targets and which non-targets; also in a pair of `read_key`, or what
            `from_frame` returns.
        conditions : Conditions, optional
            Train with the weights of these conditions, instead of in proportion to
            their numbers of trials; not together with weights of trials.
        prior, objective, ridge, tar_weights, non_weights
            As for `fit`; weights of the scored trials, column by column of the key.

        Returns
        -------
        LinearCalibration

        Warns
        -----
        MissingTrialsWarning
            If the key holds trials without score; they are left out.
        SeparableDataWarning, ConvergenceWarning, SuspectScoresWarning, FewTrainingErrorsWarning
            As for `fit`.
        """
        fitted: Self = fit_on_trials(
            cls,
            scores,
            key,
            conditions,
            prior=prior,
            objective=objective,
            ridge=ridge,
            tar_weights=tar_weights,
            non_weights=non_weights,
        )
        return fitted

    @classmethod
    def fit_files(
        cls,
        score_file: FilePath,
        key_file: FilePath,
        *,
        prior: float | OperatingPoint = 0.5,
        objective: str = "cllr",
        ridge: Ridge = 0.0,
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
        >>> LinearCalibration.fit_files(folder / "scores.h5", folder / "key.h5")
        LinearCalibration: llr = 1.977 * score - 2.299, cllr 0.543 at prior 0.5,
        3 targets, 3 non-targets
        """
        files = [as_path(score_file, "score_file")]
        where = {"workers": workers, "executor": executor, "progress": progress}
        options: dict[str, Any] = {"prior": prior, "objective": objective, "ridge": ridge}
        return cls._fit_files(files, key_file, where, **options)

    @classmethod
    def _train(cls, training: TrainingObjective, ridge: Ridge) -> Self:
        # Not an error: whoever calibrates distances may want it.
        trained = super()._train(training, ridge)
        if trained.scale < 0.0 and trained.objective_value < 1.0 - _REAL_GAIN:
            warn([negative_scale(trained.scale)])
        return trained

    @classmethod
    def _from_solution(cls, solution: LinearSolution, **training: Any) -> Self:
        return cls(
            scale=float(solution.weights[0]),
            offset=solution.offset,
            low_score=float(solution.lowest[0]),
            high_score=float(solution.highest[0]),
            **training,
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
        files = [as_path(score_file, "score_file")]
        far = FarScores(self.low_score, self.high_score)
        line = functools.partial(weighted_sum, weights=[self.scale], offset=self.offset)
        where = files, ndx_file, output_file
        write_llrs(*where, line, self._apply_listed, [far], needs_all=False, progress=progress)
        self._warn_of_far(far)

    def _apply_listed(self, systems: list[Scores], ndx: Key | Ndx | None) -> Scores:
        return self.apply(systems[0] if ndx is None else systems[0].align_with_ndx(ndx))

    def __repr__(self) -> str:
        """Show the map and how good it was on its training scores."""
        return f"{type(self).__name__}: {self._line()}, {self._describe_training()}"
