"""Text files of the flat forms: the same files as those of the forms with matrices.

What the columns are and how they are read is told in `bosaris_py.storage.text`. Here
nothing as large as models times segments is made, and lines are written in the order of the
trials, by segment, then by model; of a key, too, targets and non-targets mixed.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FilePath, as_mask, as_vector, frozen, invalid
from bosaris_py.storage._text_output import formatter, words, write_parts
from bosaris_py.storage._trial_lines import (
    TrialLines,
    read_labelled_lines,
    read_lines,
    read_scored_lines,
)
from bosaris_py.storage._types import Arrays
from bosaris_py.storage.trial_order import order_trials

__all__ = [
    "read_flat_key",
    "read_flat_ndx",
    "read_flat_scores",
    "write_flat_key",
    "write_flat_ndx",
    "write_flat_scores",
]

# Lines that are put together before they are written.
_LINES_AT_ONCE = 2**16


def read_flat_ndx(
    path: FilePath, *, max_bytes: int | None = None, progress: bool = False
) -> Arrays:
    """Read the trial list of an `Ndx` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Refuse a file whose arrays need more memory; None stands for the memory of
        the machine.
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    dict
        `modelset` (m,) and `segset` (n,) of str, sorted; `models` and `segments` (k,) of
        int32, line by line; all read-only.

    Raises
    ------
    FileFormatError
        If a line has not two columns, or an id is not in UTF-8.
    FileNotFoundError
        If there is no such file.
    """
    return _columns(read_lines(path, "model segment", max_bytes, progress=progress))


def read_flat_key(
    path: FilePath, *, max_bytes: int | None = None, progress: bool = False
) -> Arrays:
    """Read the trials and labels of a `Key` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory of the arrays, as for `read_flat_ndx`.
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    dict
        As from `read_flat_ndx`, and `is_target` (k,) of bool.

    Raises
    ------
    FileFormatError
        If a line has not three columns, a label is neither ``target`` nor
        ``nontarget``, a trial has both labels, or an id is not in UTF-8.
    FileNotFoundError
        If there is no such file.
    """
    trials, is_target = read_labelled_lines(path, max_bytes, progress=progress)
    return _with_contents(trials, "is_target", is_target, _label)


def read_flat_scores(
    path: FilePath, *, max_bytes: int | None = None, progress: bool = False
) -> Arrays:
    """Read the trials and scores of a `Scores` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory of the arrays, as for `read_flat_ndx`.
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    dict
        As from `read_flat_ndx`, and `scores` (k,) of float64.

    Raises
    ------
    FileFormatError
        If a line has not three columns, a score is no number, a trial has two
        different scores, or an id is not in UTF-8.
    FileNotFoundError
        If there is no such file.
    """
    trials, scores = read_scored_lines(path, max_bytes, progress=progress)
    return _with_contents(trials, "scores", scores, float)


def write_flat_ndx(
    path: FilePath,
    *,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    models: npt.NDArray[Any],
    segments: npt.NDArray[Any],
) -> None:
    """Write an `Ndx` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    modelset : (m,) array_like of str
        Ids of the models. Those without trials are not written.
    segset : (n,) array_like of str
        Ids of the segments.
    models, segments : (k,) ndarray of int
        The trials: positions in the lists of ids.

    Raises
    ------
    InvalidInputError
        If an id is empty or holds blanks.
    OSError
        If the file cannot be written.
    """
    lines = _lines("FlatNdx", (modelset, segset), (models, segments), None, None)
    write_parts(path, lines)


def write_flat_key(
    path: FilePath,
    *,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    models: npt.NDArray[Any],
    segments: npt.NDArray[Any],
    is_target: npt.ArrayLike,
) -> None:
    """Write a `Key` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    modelset : (m,) array_like of str
        Ids of the models. Those without trials are not written.
    segset : (n,) array_like of str
        Ids of the segments.
    models, segments : (k,) ndarray of int
        The trials: positions in the lists of ids.
    is_target : (k,) array_like of bool
        True for targets.

    Raises
    ------
    InvalidInputError
        If an id is empty or holds blanks.
    OSError
        If the file cannot be written.
    """
    labels = as_mask(is_target, "is_target", "FlatKey")
    lines = _lines("FlatKey", (modelset, segset), (models, segments), labels, _label)
    write_parts(path, lines)


def write_flat_scores(
    path: FilePath,
    *,
    scores: npt.ArrayLike,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    models: npt.NDArray[Any],
    segments: npt.NDArray[Any],
    number_format: str | None = None,
) -> None:
    """Write a `Scores` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    scores : (k,) array_like of float
        The score of each trial. Infinite ones are written as ``inf`` and ``-inf``.
    modelset : (m,) array_like of str
        Ids of the models. Those without trials are not written.
    segset : (n,) array_like of str
        Ids of the segments.
    models, segments : (k,) ndarray of int
        The trials: positions in the lists of ids.
    number_format : str or None, optional
        How a score becomes text, in the way of the ``%`` operator. None stands for the
        shortest text that reads back to the same float64.

    Raises
    ------
    InvalidInputError
        If an id is empty or holds blanks, a score is NaN, or `number_format` does not format
        one number.
    OSError
        If the file cannot be written.
    """
    values = as_vector(scores, "scores", "FlatScores")
    bad = np.flatnonzero(np.isnan(values))
    if bad.size:
        found = f"NaN for {bad.size} of {values.size} trials, the first at {bad[0]}"
        raise invalid("scores", "FlatScores", "not hold NaN", found)
    form = formatter(number_format)
    lines = _lines("FlatScores", (modelset, segset), (models, segments), values, form)
    write_parts(path, lines)


def _columns(trials: TrialLines) -> Arrays:
    """Return ids and positions, line by line."""
    return {
        "modelset": trials.models.names,
        "segset": trials.segments.names,
        "models": frozen(trials.models.rank[trials.model_codes]),
        "segments": frozen(trials.segments.rank[trials.segment_codes]),
    }


def _with_contents(
    trials: TrialLines,
    name: str,
    contents: npt.NDArray[Any],
    describe: Callable[[Any], object],
) -> Arrays:
    """Return ids, positions and contents in order; refuse a trial with different contents."""
    arrays = {**_columns(trials), name: frozen(contents)}
    order = order_trials(arrays["models"], arrays["segments"], trials.models.names.size)
    bad = np.flatnonzero(order.conflicts(contents))
    if bad.size:
        worst = bad[np.argmin(order.repeated[bad])]
        first, second = int(order.first[worst]), int(order.repeated[worst])
        raise trials.disagreement(
            first, second, describe(contents[first]), describe(contents[second])
        )
    if order.order is not None and not order.repeated.size:
        # Repeated lines are left for the object that will warn of them.
        for column in ("models", "segments", name):
            arrays[column] = frozen(arrays[column][order.order])
    return arrays


def _label(is_target: Any) -> str:
    return "target" if is_target else "nontarget"


def _lines(
    owner: str,
    ids: tuple[npt.ArrayLike, npt.ArrayLike],
    positions: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    contents: npt.NDArray[Any] | None,
    form: Callable[[Any], str] | None,
) -> Iterator[str]:
    """Give the lines of all trials, many at a time; check the ids before the first."""
    models, segments = words(ids[0], "modelset", owner), words(ids[1], "segset", owner)

    def parts() -> Iterator[str]:
        for begin in range(0, positions[0].size, _LINES_AT_ONCE):
            part = slice(begin, begin + _LINES_AT_ONCE)
            columns = [
                map(models.__getitem__, positions[0][part].tolist()),
                map(segments.__getitem__, positions[1][part].tolist()),
            ]
            if contents is not None and form is not None:
                columns.append(map(form, contents[part].tolist()))
            yield "\n".join(map(" ".join, zip(*columns, strict=True))) + "\n"

    return parts()
