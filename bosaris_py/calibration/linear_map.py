"""Weighted sums of scores: how they are trained, in memory and from files, and computed."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Self

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FilePath, FloatArray
from bosaris_py.calibration.file_objective import FileObjective
from bosaris_py.calibration.trained import TrainedMap
from bosaris_py.numerics.linear_objective import LinearObjective
from bosaris_py.numerics.linear_training import LinearSolution, as_ridge, train_linear
from bosaris_py.numerics.objectives import TrainingObjective

__all__ = ["LinearMap", "weighted_sum"]


@attrs.frozen(kw_only=True, repr=False)
class LinearMap(TrainedMap, ABC):
    """A map to log-likelihood-ratios made of one weight for each system and an offset."""

    @classmethod
    @abstractmethod
    def _from_solution(cls, solution: LinearSolution, **training: Any) -> Self:
        """Build the map of weights that were found, with the record of the training."""

    @classmethod
    def _fit(
        cls, tar: FloatArray, non: FloatArray, *, owner: str, ridge: float, **settings: Any
    ) -> Self:
        """Train on scores in memory; `settings` are those of `TrainingObjective.from_scores`."""
        training = TrainingObjective.from_scores(tar, non, owner=owner, **settings)
        return cls._train(training, owner=owner, ridge=ridge)

    @classmethod
    def _fit_files(
        cls,
        score_files: Sequence[FilePath],
        key_file: FilePath,
        *,
        owner: str,
        ridge: float,
        **settings: Any,
    ) -> Self:
        """Train on files of scores; `settings` are those of `FileObjective.open`."""
        as_ridge(ridge, owner)
        with ExitStack() as stack:
            training = FileObjective.open(
                score_files, key_file, owner=owner, stack=stack, **settings
            )
            return cls._train(training, owner=owner, ridge=ridge)

    @classmethod
    def _train(cls, training: LinearObjective, *, owner: str, ridge: float) -> Self:
        solution = train_linear(training, ridge=ridge, owner=owner)
        return cls._from_solution(
            solution,
            prior=training.prior,
            objective=training.rule.name,
            objective_value=solution.objective_value,
            ridge=solution.ridge,
            n_tar=training.n_tar,
            n_non=training.n_non,
        )


def weighted_sum(
    scores: Sequence[npt.NDArray[Any]], weights: Sequence[float] | npt.ArrayLike, offset: float
) -> npt.NDArray[np.float64]:
    """Return an offset plus the scores of several systems times their weights.

    Parameters
    ----------
    scores : sequence of arrays of float32 or float64, all of one shape
        Scores of each system.
    weights : sequence of float
        One for each. Zero times an infinite score is no evidence, not NaN.
    offset : float
        What is added.

    Returns
    -------
    array of float64, of the shape of each system's scores
        NaN where a score is, or where infinite ones contradict each other. Added up in
        the order of the systems, so that the last bit is always the same.
    """
    llrs = term = None
    with np.errstate(invalid="ignore"):
        for weight, values in zip(np.asarray(weights, dtype=np.float64), scores, strict=True):
            if weight == 0.0:
                continue
            if llrs is None:
                llrs = np.multiply(values, weight, dtype=np.float64)
                llrs += offset
            else:
                term = np.multiply(values, weight, out=term, dtype=np.float64)
                llrs += term
    return np.full(scores[0].shape, offset) if llrs is None else llrs
