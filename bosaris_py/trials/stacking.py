"""Scores of several systems as one array, and back: what fusion works on."""

from collections.abc import Mapping, Sequence
from typing import overload

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FloatArray, as_vector, describe, invalid
from bosaris_py._validation import frozen as mark_read_only
from bosaris_py.errors import TrialMismatchError
from bosaris_py.trials._frame import insert
from bosaris_py.trials.flat_key import FlatKey
from bosaris_py.trials.flat_ndx import FlatNdx
from bosaris_py.trials.flat_scores import FlatScores
from bosaris_py.trials.forms import AnyKey, AnyNdx, AnyScores, check_key, check_ndx
from bosaris_py.trials.key import Key
from bosaris_py.trials.ndx import Ndx
from bosaris_py.trials.scores import Scores

__all__ = ["assemble", "stack_scores", "stack_tar_non"]

Stack = npt.NDArray[np.float64]


def stack_scores(
    systems: Sequence[AnyScores], ndx: AnyNdx, *, owner: str = "stack_scores"
) -> Stack:
    """Return the scores of several systems for the same trials.

    Parameters
    ----------
    systems : sequence of Scores or FlatScores
        The systems, each with a score for every trial.
    ndx : Ndx, Key, FlatNdx or FlatKey
        The trials.
    owner : str
        Whom error messages speak of.

    Returns
    -------
    (n_systems, n_trials) array of float64
        The trials in column-major order of `ndx`.

    Raises
    ------
    InvalidInputError
        If there is no system, one is not a Scores, or a score is NaN.
    TrialMismatchError
        If systems lack scores, with the count of each.
    """
    check_ndx(ndx, owner)
    (stack,) = _stacked(systems, ndx, {"trials": ndx.n_trials}, owner)
    return stack


def stack_tar_non(
    systems: Sequence[AnyScores], key: AnyKey, *, owner: str = "stack_tar_non"
) -> tuple[Stack, Stack]:
    """Return the target and the non-target scores of several systems.

    Parameters
    ----------
    systems : sequence of Scores or FlatScores
        The systems, each with a score for every trial.
    key : Key or FlatKey
        The trials and their answers.
    owner : str
        Whom error messages speak of.

    Returns
    -------
    tar : (n_systems, n_tar) array of float64
        Scores of the target trials, in column-major order of the key.
    non : (n_systems, n_non) array of float64
        Scores of the non-target trials.

    Raises
    ------
    InvalidInputError
        If there is no system, one is not a Scores, or a score is NaN.
    TrialMismatchError
        If systems lack scores, with the counts of each.
    """
    check_key(key, owner)
    tar, non = _stacked(systems, key, {"targets": key.n_tar, "non-targets": key.n_non}, owner)
    return tar, non


@overload
def assemble(vector: npt.ArrayLike, ndx: Ndx | Key) -> Scores: ...
@overload
def assemble(vector: npt.ArrayLike, ndx: FlatNdx | FlatKey) -> FlatScores: ...


def assemble(vector: npt.ArrayLike, ndx: AnyNdx) -> AnyScores:
    """Put a vector of scores back into the form of the trials.

    Parameters
    ----------
    vector : (n_trials,) array_like of float
        A score for each trial, in column-major order of `ndx`.
    ndx : Ndx, Key, FlatNdx or FlatKey
        The trials.

    Returns
    -------
    Scores or FlatScores
        With the models and segments of `ndx`: a list if `ndx` is one, else a matrix, 0
        under a false mask elsewhere.

    Raises
    ------
    InvalidInputError
        If there is not one score per trial.
    """
    check_ndx(ndx, "assemble")
    values = as_vector(vector, "vector", "assemble")
    if values.size != ndx.n_trials:
        expected = f"have one score for each of the {ndx.n_trials} trials"
        raise invalid("vector", "assemble", expected, f"{values.size}")
    if isinstance(ndx, FlatNdx | FlatKey):
        return FlatScores(values, ndx.modelset, ndx.segset, ndx.models, ndx.segments)
    mask = mark_read_only(ndx._trials())
    matrix = np.zeros(mask.shape, dtype=values.dtype)
    insert(matrix, mask, values)
    return Scores(mark_read_only(matrix), ndx.modelset, ndx.segset, mask)


def _stacked(
    systems: Sequence[AnyScores] | AnyScores, ndx: AnyNdx, totals: Mapping[str, int], owner: str
) -> list[Stack]:
    """Return one stack per class of trials; refuse systems that lack scores.

    Parameters
    ----------
    systems : sequence of Scores or FlatScores
        The systems.
    ndx : Ndx, Key, FlatNdx or FlatKey
        The trials.
    totals : mapping of str to int
        What the classes are called, and how many trials each has: one class for all
        trials, or targets and non-targets.
    owner : str
        For error messages.
    """
    if isinstance(systems, AnyScores):
        hint = "Put the Scores of all systems into a list."
        found = f"one {type(systems).__name__}"
        raise invalid("systems", owner, "be a list of Scores", found, hint)
    listed = list(systems)
    if not listed:
        raise invalid("systems", owner, "hold at least one Scores", "none")
    for item in listed:
        if not isinstance(item, AnyScores):
            raise invalid("systems", owner, "hold Scores only", describe(item))
    stacks = [np.empty((len(listed), total)) for total in totals.values()]
    complaints = []
    for number, item in enumerate(listed):
        vectors = _vectors(item, ndx, len(stacks))
        lacking = [
            f"{total - vector.size} of {total} {noun}"
            for (noun, total), vector in zip(totals.items(), vectors, strict=True)
            if vector.size < total
        ]
        if lacking:
            complaints.append(f"system {number + 1} lacks {' and '.join(lacking)}")
            continue
        for stack, vector in zip(stacks, vectors, strict=True):
            stack[number] = vector
    if complaints:
        message = (
            f"Every system must have a score for each trial; {'; '.join(complaints)}. "
            f"Fill them with set_missing_to_value, best after calibration, or take these "
            f"trials out of the key."
        )
        raise TrialMismatchError(message)
    return stacks


def _vectors(scores: AnyScores, ndx: AnyNdx, n_classes: int) -> Sequence[FloatArray]:
    """Return the scores of all trials, or those of targets and of non-targets."""
    if isinstance(scores, Scores) and isinstance(ndx, Ndx | Key):
        masks = [ndx._trials()]
        if n_classes > 1 and isinstance(ndx, Key):
            masks = [ndx.tar, ndx.non]
        return scores._vectors(scores._frame_for(ndx), masks, ndx)
    listed = scores._listed(ndx)
    return listed.split(ndx) if n_classes > 1 and isinstance(ndx, AnyKey) else [listed.values]
