"""Linear fusion: weights and an offset that join the scores of several systems."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Self, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py import _validation as check
from bosaris_py._arrays import Float64Array, FloatArray, Given
from bosaris_py._notes import Note, warn
from bosaris_py._validation import FilePath
from bosaris_py.calibration import base
from bosaris_py.calibration.large import objective_in_files, write_llrs
from bosaris_py.errors import SuspectScoresWarning
from bosaris_py.numerics.newton import LinearSolution, Ridge, train_linear
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.scoring import TrainingObjective
from bosaris_py.trials import Conditions, Key, Ndx, Scores
from bosaris_py.trials.key import as_key
from bosaris_py.trials.large import as_paths
from bosaris_py.trials.scores import Systems, assemble, stack_scores, stack_tar_non

SystemFiles: TypeAlias = Mapping[str, FilePath] | Sequence[FilePath]

# Normal classes so far apart, one standard deviation of either, have an AUC of 0.76 or 0.24.
_FAR_BELOW = 0.9


def names_of(systems: object) -> tuple[str, ...] | None:
    """Return the names of systems, if they have names."""
    return tuple(map(str, systems)) if isinstance(systems, Mapping) else None


def in_order(systems: Given, trained: tuple[str, ...] | None, name: str = "systems") -> Given:
    """Return systems as a list; refuse names that are not those of the training, in its order."""
    names = names_of(systems)
    if names is None:
        return systems
    if trained is not None and names != trained:
        expected = (
            f"name, in its order, the systems of the training ({check.list_some(trained, 20)})"
        )
        raise check.invalid(name, expected, check.list_some(names, 20))
    return list(systems.values())


def inverted_systems(separation: FloatArray, n_smaller: int) -> list[Note]:
    """Note systems whose targets have far lower scores than the non-targets."""
    # `separation` is in standard deviations, both classes counting the same; measures of quality,
    # which tell little of the class, stay below the limit.
    found = np.flatnonzero(separation < -_FAR_BELOW) + 1
    if not found.size or n_smaller <= base.FEWEST:
        return []
    text = (
        f"Higher scores of system {' and '.join(map(str, found))} speak against targets. Are "
        "targets and non-targets swapped, or the scores distances?"
    )
    return [Note(SuspectScoresWarning, text)]


def _to_names(names: Iterable[object] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(map(str, names))


@attrs.frozen(kw_only=True, repr=False)
class LinearFusion(base.LinearMap):
    r"""A weighted sum of several systems' scores that is a log-likelihood-ratio.

    Make one with `fit`, `fit_scores` or `read`. The systems need not be calibrated.
    Fusing one system is the same as calibrating it.

    Parameters
    ----------
    weights : (n_systems,) ndarray of float64
        Factor of each system's score, read-only. A negative weight is normal where
        one system corrects another.
    offset : float
        What is added, a natural-log likelihood-ratio.
    prior, objective, objective_value, ridge, n_tar, n_non
        The record of the training, as for `LinearCalibration`.
    low_scores, high_scores : (n_systems,) ndarray of float64 or None
        The range of each system's training scores; `apply` warns of scores far outside.
    system_names : tuple of str or None
        What the systems were called, in the order of the weights, if they were given by name.
        `apply` then refuses other names, and another order.
    notes : tuple of Note
        What the training left to note; files do not keep it.

    Notes
    -----
    BOSARIS: ``train_linear_fuser.m``, ``linear_fusion_dev_eval.m``. The toolkit stops early, which
    leaves an error of up to 2e-3 in the weights.

    Examples
    --------
    >>> tar = [[1.0, 2.0, 3.0, -0.5], [0.5, 3.0, -1.0, 2.0]]
    >>> non = [[0.0, -1.0, 2.0, 0.0], [1.0, 0.0, 1.5, -2.0]]
    >>> fusion = LinearFusion.fit(tar, non, ridge=0)
    >>> fusion
    LinearFusion: weights [0.7189, 0.5307], offset -0.9193, cllr 0.7865 at prior 0.5,
    4 targets, 4 non-targets
    >>> fusion.apply([[0.0, 2.0], [0.0, 1.0]]).round(3).tolist()
    [-0.919, 1.049]
    """

    weights: Float64Array = attrs.field(**base.VECTOR)
    offset: float = attrs.field(**base.NUMBER)
    low_scores: Float64Array | None = attrs.field(**base.VECTOR_OR_NONE)
    high_scores: Float64Array | None = attrs.field(**base.VECTOR_OR_NONE)
    system_names: tuple[str, ...] | None = attrs.field(default=None, converter=_to_names)

    def __attrs_post_init__(self) -> None:
        """Refuse anything but one value for each system, and one name for two."""
        for name in ("low_scores", "high_scores", "system_names"):
            values = getattr(self, name)
            if values is not None and len(values) != self.n_systems:
                expected = f"hold {self.n_systems} values, one for each system"
                raise check.invalid(name, expected, f"{len(values)}")
        if again := check.repetitions(self.system_names or ()):
            raise check.invalid("system_names", "be different", check.list_some(again))

    @classmethod
    def from_weights(
        cls, weights: npt.ArrayLike, offset: float, system_names: Iterable[str] | None = None
    ) -> Self:
        """Make the fusion of weights that are known, such as those of another program.

        Parameters
        ----------
        weights : (n_systems,) array_like of float
            Factor of each system's score.
        offset : float
            What is added. The last number of the toolkit's weights, and of FoCal's.
        system_names : sequence of str, optional
            What the systems are called, in the order of the weights.

        Returns
        -------
        LinearFusion
            Without trials: `n_tar` and `n_non` are 0, and so is `objective_value`.

        Examples
        --------
        >>> fusion = LinearFusion.from_weights([2.0, 1.0], -0.5, ["a", "b"])
        >>> fusion.apply({"a": [1.0], "b": [3.0]}).tolist()
        [4.5]
        """
        array = check.as_vector(weights, "weights").astype(np.float64)
        return cls(weights=array, offset=offset, system_names=system_names, **base.NOT_TRAINED)

    @classmethod
    def fit_scores(
        cls, systems: Systems, key: Key, *, conditions: Conditions | None = None, **options: Given
    ) -> Self:
        """Train weights and offset on the scores of the trials in a key.

        Parameters
        ----------
        systems : mapping of str to Scores, or sequence of these
            The scores of each system, for every trial of the key. Names are kept.
        key : Key
            Which trials are targets and which non-targets.
        conditions : Conditions, optional
            As for `LinearCalibration.fit_scores <bosaris_py.LinearCalibration.fit_scores>`.
        **options
            As for `fit`; weights of the key's trials, column by column.

        Returns
        -------
        LinearFusion

        Raises
        ------
        TrialMismatchError
            If a system lacks scores of the key's trials; says how many for each. Fill them, after
            calibration, with ``Scores.set_missing_to_value``.

        Warns
        -----
        SeparableDataWarning, ConvergenceWarning, FewTrainingErrorsWarning
            As for `fit`.
        """
        return cls._trained_on(systems, key, conditions=conditions, **options)._told()

    @classmethod
    def _trained_on(
        cls, systems: Systems, key: Key, conditions: Conditions | None = None, **options: Given
    ) -> Self:
        """Train as `fit_scores` does, without a warning of the training."""
        key = as_key(key)
        classes = stack_tar_non(systems, key)
        fitted = cls._trained(*classes, **base.weighted(options, conditions, key))
        return attrs.evolve(fitted, system_names=names_of(systems))

    @classmethod
    def fit_files(
        cls,
        score_files: SystemFiles,
        key_file: FilePath,
        *,
        prior: float | OperatingPoint = 0.5,
        objective: str = "cllr",
        ridge: Ridge = "weak",
        workers: int = 1,
        executor: Executor | None = None,
        progress: bool = False,
    ) -> "LinearFusion":
        """Train weights and offset on score files of any size.

        The result is that of `fit_scores` but for rounding (1e-12).

        Parameters
        ----------
        score_files : mapping of str to path, or sequence of str or path-like
            HDF5 files of the scores of each system, for every trial of the key. Names are kept.
        key_file, prior, objective, ridge, workers, executor, progress
            As for `LinearCalibration.fit_files <bosaris_py.LinearCalibration.fit_files>`.

        Returns
        -------
        LinearFusion

        Raises
        ------
        TrialMismatchError, FileFormatError
            As for `fit_scores` and `LinearCalibration.fit_files`.

        Warns
        -----
        SeparableDataWarning, ConvergenceWarning
            As for `fit`.

        Notes
        -----
        Memory: the target scores, a sample of up to four million non-targets' scores, and a
        few megabytes for each system and worker.
        """
        training = objective_in_files(
            as_paths(in_order(score_files, None), "score_files"),
            key_file,
            {"workers": workers, "executor": executor, "progress": progress},
            prior=prior,
            objective=objective,
            ridge=ridge,
            all_scored=True,
        )
        fitted = cls._from_training(training, train_linear(training, ridge=ridge))
        return attrs.evolve(fitted, system_names=names_of(score_files))._told()

    @classmethod
    def _from_training(cls, training: TrainingObjective, solution: LinearSolution) -> Self:
        n_systems, n_trials = solution.weights.size, training.n_tar + training.n_non
        if n_systems > n_trials:
            text = f"{n_systems} systems are more than the {n_trials} trials of both classes."
            advice = "Are arrays transposed? Of `tar` and `non` rows are systems, columns trials."
            solution.notes.append(Note(SuspectScoresWarning, text, advice=advice))
        n_smaller = min(training.n_tar, training.n_non)
        solution.notes.extend(inverted_systems(solution.separation, n_smaller))
        return cls(
            weights=solution.weights,
            offset=solution.offset,
            low_scores=solution.lowest,
            high_scores=solution.highest,
            **base.record(training, solution),
        )

    @staticmethod
    def _as_systems(scores: npt.ArrayLike, name: str) -> FloatArray:
        array = check.as_float_array(scores, name)
        if array.ndim == 1 and array.size:
            hint = "For one system use LinearCalibration, or the shape (1, n_trials)."
            raise check.invalid(name, "be (n_systems, n_trials)", "one dimension", hint)
        return check.as_matrix(array, name)

    @property
    def n_systems(self) -> int:
        """Number of systems that are fused."""
        return int(self.weights.size)

    def apply(self, x: Given, ndx: Ndx | Key | None = None) -> Given:
        """Fuse the scores of several systems to log-likelihood-ratios.

        Parameters
        ----------
        x : (n_systems, ...) array_like of float, or sequence of Scores
            Scores of each system, in the order of the training; or a mapping of names to these.
            NaN is refused in arrays; +-inf is allowed unless two systems contradict each other.
        ndx : Ndx or Key, optional
            The trials to fuse; needed for Scores, and for them only.

        Returns
        -------
        ndarray of float64, or Scores
            Natural-log likelihood-ratios: for an array of the shape of each system's
            scores; for Scores with the models, segments and trials.

        Raises
        ------
        TrialMismatchError
            If a system lacks scores of the trials in `ndx`; says how many for each.

        Warns
        -----
        ExtrapolationWarning
            If scores of a system lie far outside those of its training: are the systems in order?
        SuspectScoresWarning
            If these are the trials of the training, whose figures are too good; or if `x` is a
            square array of several systems, which may be transposed.
        """
        rows = in_order(x, self.system_names, "x")
        rows = [rows] if isinstance(rows, Scores) else check.as_list(rows)
        if ndx is not None:
            self._check_systems(len(rows))
            llrs, notes = self._mapped(stack_scores(rows, ndx))
            warn(notes)
            return assemble(llrs, ndx)
        if isinstance(rows, list | tuple) and any(isinstance(row, Scores) for row in rows):
            expected = "be given with Scores, to say which trials are to be fused"
            raise check.invalid("ndx", expected, "None")
        # Trials may be arranged in any shape behind the axis of systems.
        scores = check.as_float_array(rows, "x")
        self._check_systems(scores.shape[0] if scores.ndim else 0)
        matrix = check.as_matrix(scores.reshape(self.n_systems, -1), "x")
        llrs, notes = self._mapped(matrix)
        if rows is scores and scores.shape == (self.n_systems,) * 2 != (1, 1):
            text = f"`x` has as many trials as systems, {self.n_systems}: rows are systems."
            remedy = "Is it transposed? A list of rows, list(x), or a mapping of names is sure."
            notes.append(Note(SuspectScoresWarning, text, advice=remedy))
        warn(notes)
        return llrs.reshape(scores.shape[1:])[()]

    def apply_files(
        self,
        score_files: SystemFiles,
        ndx_file: FilePath,
        output_file: FilePath,
        *,
        progress: bool = False,
    ) -> None:
        """Fuse score files of any size, to the last bit as ``apply``, into another file.

        Parameters
        ----------
        score_files : mapping of str to path, or sequence of str or path-like
            HDF5 files of the scores of each system, by name or in the order of the training.
        ndx_file : str or path-like
            HDF5 file of an `Ndx` or `Key`: the trials to fuse, in whose order they are written.
        output_file, progress
            As for `LinearCalibration.apply_file <bosaris_py.LinearCalibration.apply_file>`.

        Raises
        ------
        TrialMismatchError
            If a system lacks scores of the trials in `ndx_file`; says how many for each.
        FileFormatError, OSError
            As for `LinearCalibration.apply_file`.

        Notes
        -----
        Memory: a few blocks of each system, whatever the size of the files.
        """
        ordered = in_order(score_files, self.system_names, "score_files")
        files = as_paths(ordered, "score_files")
        self._check_systems(len(files), "score_files")
        where = files, check.as_path(ndx_file, "ndx_file"), output_file
        met = self._nothing_met()
        line = functools.partial(base.weighted_sum, weights=self.weights, offset=self.offset)
        write_llrs(*where, line, self.apply, met, needs_all=True, progress=progress)
        warn(self._notes_on(met))

    def _check_systems(self, n_systems: int, name: str = "x") -> None:
        if n_systems != self.n_systems:
            names = f" ({check.list_some(self.system_names, 20)})" if self.system_names else ""
            expected = f"hold the scores of {self.n_systems} systems, as in training{names}"
            hint = "Arrays of several systems are (n_systems, n_trials)." if name == "x" else ""
            raise check.invalid(name, expected, f"{n_systems}", hint)

    def _mapped(self, scores: FloatArray) -> tuple[Float64Array, list[Note]]:
        """Return the log-likelihood-ratios of scores, (n_systems, n), and notes on these."""
        met = self._nothing_met()
        llrs = base.map_rows(scores, self.weights, self.offset, met)
        # No score is NaN here, so that NaN comes from infinite scores of opposite signs.
        contradictions = np.flatnonzero(np.isnan(llrs))
        if contradictions.size:
            found = (
                f"infinite evidence for and against at {contradictions.size} of {llrs.size} "
                f"trials ({check.list_some(contradictions.tolist())})"
            )
            raise check.invalid("x", "not contradict itself", found)
        return llrs, self._notes_on(met)

    def _nothing_met(self) -> list[base.Met]:
        """Return what counts the scores of each system."""
        if self.low_scores is None or self.high_scores is None:
            return [base.Met(None, None) for _ in self.weights]
        return list(map(base.Met, self.low_scores.tolist(), self.high_scores.tolist()))

    def _notes_on(self, met: Sequence[base.Met]) -> list[Note]:
        """Note scores far outside those of the training, or that these are they."""
        advice = "Are the systems in the order of the training?"
        far = [
            note
            for name, one, weight in zip(self._names(), met, self.weights, strict=True)
            for note in one.notes(name, advice)
            if weight
        ]
        n_trials = self.n_tar + self.n_non
        return far + base.training_trials(all(one.is_all(n_trials) for one in met))

    def _names(self) -> Sequence[str]:
        return self.system_names or [f"system {i}" for i in range(1, self.n_systems + 1)]

    def __repr__(self) -> str:
        """Show the weights and how good the fusion was on its training scores."""
        weights = check.list_some(f"{weight:.4g}" for weight in self.weights)
        return (
            f"{type(self).__name__}: weights [{weights}], offset {self.offset:.4g}, "
            f"{self._describe_training()}"
        )
