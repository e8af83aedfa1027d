"""Linear fusion: weights and an offset that join the scores of several systems."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, Self, TypeAlias, overload

import attrs
import numpy as np
import numpy.typing as npt

import bosaris_py.trials.scores as trial_scores
from bosaris_py import _validation as check
from bosaris_py._arrays import Float64Array, FloatArray, mark_read_only
from bosaris_py._notes import warn, warn_caller
from bosaris_py._validation import FilePath
from bosaris_py.calibration.trained import (
    BLOCK,
    NUMBER,
    VECTOR,
    VECTOR_OR_NONE,
    FarScores,
    LinearMap,
    Weights,
    weighted_sum,
    write_llrs,
)
from bosaris_py.errors import ExtrapolationWarning, SuspectScoresWarning
from bosaris_py.metrics.strange import inverted_systems
from bosaris_py.numerics.newton import LinearSolution, Ridge
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.trials import Conditions, Key, Ndx, Scores
from bosaris_py.trials.conditions import class_weights
from bosaris_py.trials.key import as_key
from bosaris_py.trials.large import as_paths
from bosaris_py.trials.scores import Systems

SystemFiles: TypeAlias = Mapping[str, FilePath] | Sequence[FilePath]


def _to_names(names: Iterable[object]) -> tuple[str, ...]:
    return tuple(map(str, names))


def in_order_of_training(systems: object, trained: tuple[str, ...] | None, name: str) -> Any:
    """Return systems that have names as a list in the order of the training; others as they are."""
    if not isinstance(systems, Mapping):
        return systems
    by_name = dict(zip(_to_names(systems), systems.values(), strict=True))
    if trained is None:
        return list(by_name.values())
    if set(by_name) != set(trained):
        expected = f"have the systems of the training ({check.list_some(trained, 20)})"
        raise check.invalid(name, expected, check.list_some(by_name, 20))
    return [by_name[system] for system in trained]


@attrs.frozen(kw_only=True, repr=False)
class LinearFusion(LinearMap):
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
        `apply` then takes them by name, in any order.

    Notes
    -----
    BOSARIS: ``train_linear_fuser.m``, ``linear_fusion_dev_eval.m``. The toolkit stops early, which
    leaves an error of up to 2e-3 in the weights.

    Examples
    --------
    >>> tar = [[1.0, 2.0, 3.0, -0.5], [0.5, 3.0, -1.0, 2.0]]
    >>> non = [[0.0, -1.0, 2.0, 0.0], [1.0, 0.0, 1.5, -2.0]]
    >>> fusion = LinearFusion.fit(tar, non)
    >>> fusion
    LinearFusion: weights [0.7189, 0.5307], offset -0.9193, cllr 0.7865 at prior 0.5,
    4 targets, 4 non-targets
    >>> fusion.apply([[0.0, 2.0], [0.0, 1.0]]).round(3).tolist()
    [-0.919, 1.049]
    """

    weights: Float64Array = attrs.field(**VECTOR)
    offset: float = attrs.field(**NUMBER)
    low_scores: Float64Array | None = attrs.field(**VECTOR_OR_NONE)
    high_scores: Float64Array | None = attrs.field(**VECTOR_OR_NONE)
    system_names: tuple[str, ...] | None = attrs.field(
        default=None, converter=attrs.converters.optional(_to_names)
    )

    @low_scores.validator
    @high_scores.validator
    @system_names.validator
    def _check_size(self, attribute: "attrs.Attribute[Any]", values: Any) -> None:
        """Raise unless there is one value for each system."""
        if values is not None and len(values) != self.n_systems:
            expected = f"hold {self.n_systems} values, one for each system"
            raise check.invalid(attribute.name, expected, f"{len(values)}")
        if attribute.name == "system_names" and (again := check.repetitions(values or ())):
            raise check.invalid("system_names", "be different", check.list_some(again))
        low = self.low_scores if attribute.name == "high_scores" else None
        if low is not None and values is not None and (values < low).any():
            raise check.invalid(
                "high_scores", "not be below `low_scores`", check.describe(values.tolist())
            )

    _needs_all = True

    @classmethod
    def fit_scores(
        cls,
        systems: Systems,
        key: Key,
        *,
        conditions: Conditions | None = None,
        nonnegative: bool = False,
        prior: float | OperatingPoint = 0.5,
        objective: str = "cllr",
        ridge: Ridge = 0.0,
        tar_weights: Weights = None,
        non_weights: Weights = None,
    ) -> "LinearFusion":
        """Train weights and offset on the scores of the trials in a key.

        Parameters
        ----------
        systems : mapping of str to Scores, or sequence of these
            The scores of each system, for every trial of the key. Names are kept.
        key : Key
            Which trials are targets and which non-targets.
        conditions : Conditions, optional
            As for `LinearCalibration.fit_scores <bosaris_py.LinearCalibration.fit_scores>`.
        nonnegative, prior, objective, ridge, tar_weights, non_weights
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
        key = as_key(key)
        classes = trial_scores.stack_tar_non(systems, key)
        tar_masses, non_masses = class_weights(conditions, tar_weights, non_weights, key)
        fitted = cls.fit(
            *classes,
            prior=prior,
            objective=objective,
            ridge=ridge,
            tar_weights=tar_masses,
            non_weights=non_masses,
            nonnegative=nonnegative,
        )
        return fitted._named(systems)

    def _named(self, systems: object) -> "LinearFusion":
        """Return the fusion with the names of its systems, if they have names."""
        return attrs.evolve(self, system_names=systems) if isinstance(systems, Mapping) else self

    @classmethod
    def fit_files(
        cls,
        score_files: SystemFiles,
        key_file: FilePath,
        *,
        prior: float | OperatingPoint = 0.5,
        objective: str = "cllr",
        ridge: Ridge = 0.0,
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
        files = as_paths(in_order_of_training(score_files, None, "score_files"), "score_files")
        where = {"workers": workers, "executor": executor, "progress": progress}
        found = cls._fit_files(
            files, key_file, where, prior=prior, objective=objective, ridge=ridge
        )
        return found._named(score_files)

    @classmethod
    def _from_solution(cls, solution: LinearSolution, **training: Any) -> Self:
        if solution.separation is not None:
            smaller = min(training["n_tar"], training["n_non"])
            warn(inverted_systems(solution.separation, smaller))
        return cls(
            weights=mark_read_only(solution.weights),
            offset=solution.offset,
            low_scores=mark_read_only(solution.lowest),
            high_scores=mark_read_only(solution.highest),
            **training,
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

    @overload
    def apply(self, x: Systems, ndx: Ndx | Key) -> Scores: ...
    @overload
    def apply(self, x: npt.ArrayLike | Mapping[str, npt.ArrayLike]) -> Float64Array: ...
    def apply(self, x: Any, ndx: Ndx | Key | None = None) -> Scores | Float64Array:
        """Fuse the scores of several systems to log-likelihood-ratios.

        Parameters
        ----------
        x : (n_systems, ...) array_like of float, or sequence of Scores
            Scores of each system, in the order of the training; or a mapping of names to these, in
            any order. NaN is refused in arrays; +-inf is allowed unless two systems
            contradict each other.
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
            If `x` is a square array of several systems, which may be transposed.
        """
        x = in_order_of_training(x, self.system_names, "x")
        x = [x] if isinstance(x, Scores) else check.as_list(x)
        if isinstance(x, Sequence) and any(isinstance(item, Scores) for item in x):
            self._check_systems(len(x))
            if ndx is None:
                expected = "be given with Scores, to say which trials are to be fused"
                raise check.invalid("ndx", expected, "None")
            return trial_scores.assemble(self._fuse(trial_scores.stack_scores(x, ndx)), ndx)
        if ndx is not None:
            hint = "Scores come in a list, one for each system."
            raise check.invalid(
                "ndx", "be given with Scores only", f"it with {check.describe(x)}", hint
            )
        # Trials may be arranged in any shape behind the axis of systems.
        scores = check.as_float_array(x, "x")
        if isinstance(x, np.ndarray) and x.shape == (self.n_systems,) * 2 != (1, 1):
            message = f"`x` has as many trials as systems, {self.n_systems}: rows are systems."
            remedy = "Is it transposed? A list of rows, list(x), or a mapping of names is sure."
            warn_caller(f"{message} {remedy}", SuspectScoresWarning)
        self._check_systems(scores.shape[0] if scores.ndim else 0)
        matrix = check.as_matrix(scores.reshape(self.n_systems, -1), "x")
        return self._fuse(matrix).reshape(scores.shape[1:])[()]

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
        ordered = in_order_of_training(score_files, self.system_names, "score_files")
        files = as_paths(ordered, "score_files")
        self._check_systems(len(files), "score_files")
        where = files, check.as_path(ndx_file, "ndx_file"), output_file
        far = self._far_scores()
        line = functools.partial(weighted_sum, weights=self.weights, offset=self.offset)
        apply: Any = self.apply
        write_llrs(*where, line, apply, far, needs_all=True, progress=progress)
        self._warn_of_far(far)

    def _check_systems(self, n_systems: int, name: str = "x") -> None:
        if n_systems != self.n_systems:
            names = f" ({check.list_some(self.system_names, 20)})" if self.system_names else ""
            expected = f"hold the scores of {self.n_systems} systems, as in training{names}"
            hint = "Arrays of several systems are (n_systems, n_trials)." if name == "x" else ""
            raise check.invalid(name, expected, f"{n_systems}", hint)

    def _fuse(self, scores: FloatArray) -> Float64Array:
        llrs = np.empty(scores.shape[1])
        # In blocks that stay in the cache, where a look at the range costs little.
        cuts = range(0, llrs.size, BLOCK)
        ends = np.empty((2, len(cuts), len(scores)))
        for number, begin in enumerate(cuts):
            part = scores[:, begin : begin + BLOCK]
            ends[:, number] = part.min(axis=1), part.max(axis=1)
            llrs[begin : begin + BLOCK] = weighted_sum(list(part), self.weights, self.offset)
        if llrs.size:
            self._check_range(scores, ends[0].min(axis=0), ends[1].max(axis=0))
        # No score is NaN here, so that NaN comes from infinite scores of opposite signs.
        contradictions = np.flatnonzero(np.isnan(llrs))
        if contradictions.size:
            found = (
                f"infinite evidence for and against at {contradictions.size} of {llrs.size} "
                f"trials ({check.list_some(contradictions.tolist())})"
            )
            raise check.invalid("x", "not contradict itself", found)
        return llrs

    def _check_range(self, scores: FloatArray, low: Float64Array, high: Float64Array) -> None:
        """Refuse NaN, and warn of systems whose scores lie far outside those of the training."""
        # The maximum of an array is NaN if anything is.
        for system in np.flatnonzero(np.isnan(high)):
            check.refuse_nan(scores[system], f"x, system {system + 1},")
        far = self._far_scores()
        for found, row, *ends in zip(far, scores, low, high, strict=True):
            found.count(row, (ends[0], ends[1]))
        self._warn_of_far(far)

    def _far_scores(self) -> list[FarScores]:
        """Return what counts the scores of each system that lie far outside its training's."""
        if self.low_scores is None or self.high_scores is None:
            return [FarScores(None, None) for _ in self.weights]
        return list(map(FarScores, self.low_scores, self.high_scores))

    def _warn_of_far(self, found: Sequence[FarScores]) -> None:
        told = "; ".join(
            f"system {number}: {far}"
            for number, (far, weight) in enumerate(zip(found, self.weights, strict=True), start=1)
            if weight and far.n_far
        )
        if told:
            order = f" ({', '.join(self.system_names)})" if self.system_names else ""
            message = f"S{told[1:]}. Are the systems in the order of the training{order}?"
            warn_caller(message, ExtrapolationWarning)

    def _figures(self) -> list[tuple[str, str]]:
        names = self.system_names or [f"system {i}" for i in range(1, len(self.weights) + 1)]
        weights = zip(names, map("{:.4g}".format, self.weights), strict=True)
        return [*weights, ("offset", f"{self.offset:.4g}")]

    def __repr__(self) -> str:
        """Show the weights and how good the fusion was on its training scores."""
        weights = check.list_some(f"{weight:.4g}" for weight in self.weights)
        return (
            f"{type(self).__name__}: weights [{weights}], offset {self.offset:.4g}, "
            f"{self._describe_training()}"
        )
