"""Linear fusion: weights and an offset that join the scores of several systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Self

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike, FilePath, FloatArray, Given
from bosaris_py.calibration import base
from bosaris_py.numerics.newton import LinearSolution
from bosaris_py.numerics.scoring import TrainingObjective
from bosaris_py.trials import Key, Ndx, Scores
from bosaris_py.trials.conditions import ConditionsLike
from bosaris_py.trials.large import as_paths
from bosaris_py.trials.scores import Systems, assemble, stack_scores, stack_tar_non

SystemFiles = Mapping[str, FilePath] | Sequence[FilePath]

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
        expected = f"name, in its order, the systems of the training ({check.list_some(trained)})"
        raise check.invalid(name, expected, check.list_some(names, 20))
    return list(systems.values())


@attrs.frozen(kw_only=True, repr=False)
class LinearFusion(base.LinearMap, base.RowMap):
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

    _needs_all: ClassVar[bool] = True

    weights: FloatArray = attrs.field(**base.VECTOR)
    offset: float = attrs.field(**base.NUMBER)
    low_scores: FloatArray | None = attrs.field(**base.VECTOR_OR_NONE)
    high_scores: FloatArray | None = attrs.field(**base.VECTOR_OR_NONE)
    system_names: tuple[str, ...] | None = attrs.field(**base.NAMES_OR_NONE)

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
        cls, weights: ArrayLike, offset: float, system_names: Iterable[str] | None = None
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
        record = {**base.NOT_TRAINED, "system_names": system_names}
        return cls(weights=array, offset=offset, **record)

    @classmethod
    def fit_scores(
        cls, systems: Systems, key: Key, *, conditions: ConditionsLike = None, **options: Given
    ) -> Self:
        """Train weights and offset on the scores of the trials in a key.

        Parameters
        ----------
        systems : mapping of str to Scores, or sequence of these
            The scores of each system, for every trial of the key. Names are kept.
        key : Key
            Which trials are targets and which non-targets.
        conditions : str, list of str or Conditions, optional
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
        ConvergenceWarning, FewErrorsWarning
            As for `fit`.
        """
        return cls._trained_on(systems, key, conditions=conditions, **options)._with_warnings()

    @classmethod
    def _trained_on(cls, systems: Systems, key: Key, **options: Given) -> Self:
        """Train as `fit_scores` does, without a warning of the training."""
        classes = stack_tar_non(systems, key)
        fitted = cls._trained(*classes, **base.weighted(options, key))
        return attrs.evolve(fitted, system_names=names_of(systems))

    @classmethod
    def _from_training(
        cls, training: TrainingObjective, solution: LinearSolution, systems: object = None
    ) -> Self:
        n_systems, n_trials = solution.weights.size, training.n_tar + training.n_non
        if n_systems > n_trials:
            text = f"{n_systems} systems are more than the {n_trials} trials of both classes."
            advice = "Are arrays transposed? Of `tar` and `non` rows are systems, columns trials."
            solution.notes.append(errors.Note(errors.SuspectScoresWarning, text, advice=advice))
        # Measures of quality, which tell little of the class, stay below the limit.
        far_below = np.flatnonzero(solution.separation < -_FAR_BELOW) + 1
        if far_below.size and min(training.n_tar, training.n_non) > base.FEWEST:
            text = (
                f"Higher scores of system {' and '.join(map(str, far_below))} speak against "
                "targets. Are targets and non-targets swapped, or the scores distances?"
            )
            solution.notes.append(errors.Note(errors.SuspectScoresWarning, text))
        return cls(
            weights=solution.weights,
            offset=solution.offset,
            low_scores=solution.lowest,
            high_scores=solution.highest,
            system_names=names_of(systems),
            **base.record(training, solution),
        )

    @staticmethod
    def _as_systems(scores: ArrayLike, name: str) -> FloatArray:
        return check.as_matrix(scores, name)

    @staticmethod
    def _as_files(score_files: Given) -> list[FilePath]:
        return as_paths(in_order(score_files, None), "score_files")

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
        SuspectScoresWarning
            If scores of a system lie far outside those of its training: are the systems in order?
        SuspectScoresWarning
            If these are the trials of the training, whose figures are too good; or if `x` is a
            square array of several systems, which may be transposed.
        """
        rows = in_order(x, self.system_names, "x")
        rows = [rows] if isinstance(rows, Scores) else check.as_list(rows)
        if ndx is not None:
            rows = check.listed(rows, "x")
            self._check_systems(len(rows))
            names = self.system_names or [str(n + 1) for n in range(self.n_systems)]
            llrs, notes = self._mapped(stack_scores(dict(zip(names, rows, strict=True)), ndx))
            errors.warn(notes)
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
            notes.append(errors.Note(errors.SuspectScoresWarning, text, advice=remedy))
        errors.warn(notes)
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
        files = as_paths(in_order(score_files, self.system_names, "score_files"), "score_files")
        self._check_systems(len(files), "score_files")
        self._write(files, ndx_file, output_file, progress=progress)

    def _check_systems(self, n_systems: int, name: str = "x") -> None:
        if n_systems != self.n_systems:
            expected = f"hold the scores of {self.n_systems} systems, a row each, as in training"
            raise check.invalid(name, expected, f"{n_systems}")

    def _llrs(self, rows: base.Rows) -> FloatArray:
        return base.weighted_sum(rows, self.weights, self.offset)

    def _met(self) -> list[base.Met]:
        if self.low_scores is None or self.high_scores is None:
            return [base.Met(None, None) for _ in self.weights]
        return list(map(base.Met, self.low_scores.tolist(), self.high_scores.tolist()))

    def _notes_on(self, met: Sequence[base.Met]) -> list[errors.Note]:
        names = self.system_names or [f"system {i}" for i in range(1, self.n_systems + 1)]
        advice = "Are the systems in the order of the training?"
        parts = zip(names, met, self.weights, strict=True)
        far = [note for name, each, w in parts if w for note in each.notes(name, advice)]
        n_trials = self.n_tar + self.n_non
        return far + base.training_trials(all(each.is_all(n_trials) for each in met))

    def __repr__(self) -> str:
        """Show the weights and how good the fusion was on its training scores."""
        weights = check.list_some(f"{weight:.4g}" for weight in self.weights)
        plane = f"weights [{weights}], offset {self.offset:.4g}"
        return f"LinearFusion: {plane}, {self._describe_training()}"
