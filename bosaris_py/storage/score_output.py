"""Score files written a few rows at a time: for matrices larger than memory."""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import as_ids, invalid
from bosaris_py.storage._hdf5_output import new_mask, new_numbers, put_ids, write_hdf5
from bosaris_py.storage._types import PathLike

__all__ = ["ScoredRows", "write_score_rows"]

ScoredRows: TypeAlias = tuple[slice, npt.NDArray[np.floating[Any]], npt.NDArray[np.bool_]]
"""Which rows these are, their scores, and where these are valid."""


def write_score_rows(
    path: PathLike,
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
