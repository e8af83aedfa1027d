"""Score files written a part at a time: for matrices and lists larger than memory."""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FilePath, as_ids, invalid
from bosaris_py.storage._hdf5_output import (
    new_mask,
    new_numbers,
    new_vector,
    put_ids,
    write_hdf5,
)
from bosaris_py.storage.flat_blocks import STRETCH

__all__ = ["ScoredList", "ScoredRows", "write_score_list", "write_score_rows"]

ScoredRows: TypeAlias = tuple[slice, npt.NDArray[np.floating[Any]], npt.NDArray[np.bool_]]
"""Which rows these are, their scores, and where these are valid."""

ScoredList: TypeAlias = tuple[
    npt.NDArray[np.signedinteger[Any]],
    npt.NDArray[np.signedinteger[Any]],
    npt.NDArray[np.floating[Any]],
]
"""Positions of the models and of the segments of trials, and their scores."""


def write_score_rows(
    path: FilePath,
    parts: Iterable[ScoredRows],
    *,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    dtype: npt.DTypeLike = np.float64,
) -> None:
    """Write a `Scores` file from blocks of rows, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file. It appears when all parts have been written; whatever goes wrong before
        leaves what was there.
    parts : iterable of (slice, (r, n) array of float, (r, n) array of bool)
        Blocks of consecutive rows from the first to the last: where they belong, the
        scores, and which of these are valid. The arrays are not needed any more when the next
        part is asked for. Iteration is done in another thread.
    modelset : (m,) array_like of str
        Ids of the models (rows).
    segset : (n,) array_like of str
        Ids of the segments (columns).
    dtype : float32 or float64, default: float64
        Type of the scores in the file.

    Raises
    ------
    InvalidInputError
        If the parts are not all rows in their order, or an id holds a NUL character.
    OSError
        If the file cannot be written.

    Notes
    -----
    What the iteration raises passes through.
    """
    models, segments = as_ids(modelset, "modelset", "Scores"), as_ids(segset, "segset", "Scores")
    shape = (models.size, segments.size)

    def fill(root: Any) -> None:
        scores = new_numbers(root, "scores", shape, dtype)
        valid = new_mask(root, "score_mask", shape, np.uint8)
        done = 0
        for rows, values, mask in parts:
            if rows.start != done or rows.stop > models.size:
                expected = f"go on with row {done} of {models.size}"
                raise invalid("parts", "write_score_rows", expected, f"{rows}")
            scores[rows] = values
            valid[rows] = mask.view(np.uint8)
            done = rows.stop
        if done != models.size:
            expected = f"be all {models.size} rows"
            raise invalid("parts", "write_score_rows", expected, f"{done}")
        put_ids(root, models, segments)

    write_hdf5(path, "scores", fill)


def write_score_list(
    path: FilePath,
    parts: Iterable[ScoredList],
    *,
    most: int,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    dtype: npt.DTypeLike = np.float64,
) -> None:
    """Write a `FlatScores` file from stretches of it, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file. It appears when all parts have been written; whatever goes wrong before
        leaves what was there.
    parts : iterable of ((k,) array of int, (k,) array of int, (k,) array of float)
        Models, segments and scores of trials, by segment, then by model. Iteration is done
        in another thread.
    most : int
        How many trials there are, at most.
    modelset : (m,) array_like of str
        Ids of the models.
    segset : (n,) array_like of str
        Ids of the segments.
    dtype : float32 or float64, default: float64
        Type of the scores in the file.

    Raises
    ------
    InvalidInputError
        If an id holds a NUL character.
    OSError
        If the file cannot be written.

    Notes
    -----
    What the iteration raises passes through.
    """
    owner = "FlatScores"
    models, segments = as_ids(modelset, "modelset", owner), as_ids(segset, "segset", owner)
    is_large = max(models.size, segments.size) > np.iinfo(np.int32).max
    position = np.int64 if is_large else np.int32

    def fill(root: Any) -> None:
        put_ids(root, models, segments)
        columns = [
            new_vector(root, "trials/models", most, position, chunk=STRETCH, compressed=True),
            new_vector(root, "trials/segments", most, position, chunk=STRETCH, compressed=True),
            new_vector(root, "trials/scores", most, dtype, chunk=STRETCH, compressed=False),
        ]
        done = 0
        for part in parts:
            stop = done + part[-1].size
            for column, values in zip(columns, part, strict=True):
                column[done:stop] = values
            done = stop
        for column in columns:
            if done < most:
                column.resize((done,))

    write_hdf5(path, "flat_scores", fill)
