"""Scores of several systems as one array, and back: what fusion works on."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import BoolArray, FloatArray, as_vector, describe, invalid
from bosaris_py._validation import frozen as mark_read_only
from bosaris_py.errors import TrialMismatchError
from bosaris_py.trials._frame import insert
from bosaris_py.trials._missing import check_trials
from bosaris_py.trials.key import Key
from bosaris_py.trials.ndx import Ndx
from bosaris_py.trials.scores import Scores

__all__ = ["assemble", "stack_scores", "stack_tar_non"]

Stack = npt.NDArray[np.float64]


def stack_scores(
    systems: Sequence[Scores], ndx: Ndx | Key, *, owner: str = "stack_scores"
) -> Stack:
    """Return the scores of several systems for the same trials.

    Parameters
    ----------
    systems : sequence of Scores
        The systems, each with a score for every trial.
    ndx : Ndx or Key
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
    check_trials(ndx, owner)
    (stack,) = _stacked(systems, ndx, (ndx._trials(),), ("trials",), owner)
    return stack


def stack_tar_non(
    systems: Sequence[Scores], key: Key, *, owner: str = "stack_tar_non"
) -> tuple[Stack, Stack]:
    """Return the target and the non-target scores of several systems.

    Parameters
    ----------
    systems : sequence of Scores
        The systems, each with a score for every trial.
    key : Key
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
    if not isinstance(key, Key):
        raise invalid("key", owner, "be a Key, which says what the targets are", describe(key))
    tar, non = _stacked(systems, key, (key.tar, key.non), ("targets", "non-targets"), owner)
    return tar, non


def assemble(vector: npt.ArrayLike, ndx: Ndx | Key) -> Scores:
    """Put a vector of scores back into a matrix of trials.

    Parameters
    ----------
    vector : (n_trials,) array_like of float
        A score for each trial, in column-major order of `ndx`.
    ndx : Ndx or Key
        The trials.

    Returns
    -------
    Scores
        With the models and segments of `ndx`; 0 under a false mask elsewhere.

    Raises
    ------
    InvalidInputError
        If there is not one score per trial.
    """
    check_trials(ndx, "assemble")
    values = as_vector(vector, "vector", "assemble")
    if values.size != ndx.n_trials:
        expected = f"have one score for each of the {ndx.n_trials} trials"
        raise invalid("vector", "assemble", expected, f"{values.size}")
    mask = mark_read_only(ndx._trials())
    matrix = np.zeros(mask.shape, dtype=values.dtype)
    insert(matrix, mask, values)
    return Scores(mark_read_only(matrix), ndx.modelset, ndx.segset, mask)


def _stacked(
    systems: Sequence[Scores],
    ndx: Ndx | Key,
    masks: Sequence[BoolArray],
    nouns: Sequence[str],
    owner: str,
) -> list[Stack]:
    """Return one stack per mask; refuse systems that lack scores."""
    if isinstance(systems, Scores):
        hint = "Put the Scores of all systems into a list."
        raise invalid("systems", owner, "be a list of Scores", "one Scores", hint)
    listed = list(systems)
    if not listed:
        raise invalid("systems", owner, "hold at least one Scores", "none")
    for item in listed:
        if not isinstance(item, Scores):
            raise invalid("systems", owner, "hold Scores only", describe(item))
    totals = [int(np.count_nonzero(mask)) for mask in masks]
    stacks = [np.empty((len(listed), total)) for total in totals]
    complaints = []
    for number, item in enumerate(listed):
        vectors: list[FloatArray] = item._vectors(item._frame_for(ndx), masks, ndx)
        lacking = [
            f"{total - vector.size} of {total} {noun}"
            for total, vector, noun in zip(totals, vectors, nouns, strict=True)
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
