"""Text files as the toolkit writes them: one trial in a line, columns between blanks.

====================  ===========================================
object                columns
====================  ===========================================
`Ndx`                 model, segment
`Key`                 model, segment, ``target`` or ``nontarget``
`Scores`              model, segment, score
`SegmentQuality`      id and its measures, below a line with the
                      number of measures
`IdMap`               left id, right id
====================  ===========================================

Lines are written in column-major order: the model changes fastest. Reading sorts
models and segments by character code, and ids without any trial are not in the file,
so an object that was saved as text comes back with its rows and columns in another
order; save as HDF5 to keep it as it is.

Blanks and tabs in any number separate columns, blank lines are skipped, lines may end
in CR LF, and a byte order mark is no part of the first id. The encoding is UTF-8.

What is read differs from the toolkit on purpose: every error names file and line; a
label must be ``target`` or ``nontarget`` in any case of letters (the toolkit takes
everything else as a non-target); a trial may be repeated only with the same content
(the toolkit takes the last); a cell without a line has score 0 and a false mask (the
toolkit: +Inf, which leaks into merged scores).
"""

from collections.abc import Iterable, Iterator
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import (
    FilePath,
    frozen,
    invalid,
    list_some,
)
from bosaris_py.storage._checked_matrices import MatrixChecks
from bosaris_py.storage._quality_text import read_segment_quality, write_segment_quality
from bosaris_py.storage._text_output import formatter, words, write_parts
from bosaris_py.storage._trial_lines import read_labelled_lines, read_lines, read_scored_lines
from bosaris_py.storage._types import Arrays

__all__ = [
    "read_id_map",
    "read_key",
    "read_ndx",
    "read_scores",
    "read_segment_quality",
    "write_id_map",
    "write_key",
    "write_ndx",
    "write_scores",
    "write_segment_quality",
]

# Lines that are put together before they are written.
_LINES_AT_ONCE = 2**16


def read_ndx(path: FilePath, *, max_bytes: int | None = None, progress: bool = False) -> Arrays:
    """Read the trial list of an `Ndx` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Refuse a file whose arrays need more memory; None stands for the memory of
        the machine. A list of many models with one trial each needs a matrix of as
        many rows and columns.
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    dict
        `modelset` (m,) and `segset` (n,) of str, sorted; `trialmask` (m, n) of bool;
        all read-only.

    Raises
    ------
    FileFormatError
        If a line has not two columns, an id is not in UTF-8, or the matrix is too
        large.
    FileNotFoundError
        If there is no such file.
    """
    trials = read_lines(path, "model segment", max_bytes, progress=progress)
    cells = trials.cells(item_size=1)
    mask = np.zeros(trials.shape, dtype=np.bool_)
    mask.reshape(-1)[cells] = True
    return {
        "modelset": trials.models.names,
        "segset": trials.segments.names,
        "trialmask": frozen(mask),
    }


def read_key(path: FilePath, *, max_bytes: int | None = None, progress: bool = False) -> Arrays:
    """Read the target and non-target trials of a `Key` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory of the arrays, as for `read_ndx`.
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    dict
        `modelset` (m,) and `segset` (n,) of str, sorted; `tar` and `non` (m, n) of
        bool; all read-only.

    Raises
    ------
    FileFormatError
        If a line has not three columns, a label is neither ``target`` nor
        ``nontarget``, a trial has both labels, an id is not in UTF-8, or the matrix is
        too large.
    FileNotFoundError
        If there is no such file.
    """
    trials, is_target = read_labelled_lines(path, max_bytes, progress=progress)
    cells = trials.cells(item_size=2)
    tar, non = np.zeros((2, *trials.shape), dtype=np.bool_)
    tar.reshape(-1)[cells[is_target]] = True
    non.reshape(-1)[cells[~is_target]] = True
    in_both = tar & non
    if in_both.any():
        names = np.where(is_target, "target", "nontarget")
        raise trials.conflict(cells, in_both.reshape(-1)[cells], names)
    return {
        "modelset": trials.models.names,
        "segset": trials.segments.names,
        "tar": frozen(tar.copy()),
        "non": frozen(non.copy()),
    }


def read_scores(path: FilePath, *, max_bytes: int | None = None, progress: bool = False) -> Arrays:
    """Read the score matrix of a `Scores` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory of the arrays, as for `read_ndx`.
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    dict
        `scoremat` (m, n) of float64, 0 where there is no score; `modelset` (m,) and
        `segset` (n,) of str, sorted; `scoremask` (m, n) of bool; all read-only.

    Raises
    ------
    FileFormatError
        If a line has not three columns, a score is no number, a trial has two
        different scores, an id is not in UTF-8, or the matrix is too large.
    FileNotFoundError
        If there is no such file.

    Notes
    -----
    ``nan`` and ``inf`` are read as such. The time goes with the size of the file:
    about as long as `numpy.loadtxt` takes to cut the same lines into bytes and floats.
    """
    trials, values = read_scored_lines(path, max_bytes, progress=progress)
    cells = trials.cells(item_size=9)
    scores = np.zeros(trials.shape)
    mask = np.zeros(trials.shape, dtype=np.bool_)
    scores.reshape(-1)[cells] = values
    mask.reshape(-1)[cells] = True
    if np.count_nonzero(mask) < values.size:
        kept = scores.reshape(-1)[cells]
        differs = (kept != values) & ~(np.isnan(kept) & np.isnan(values))
        if differs.any():
            in_conflict = np.zeros(mask.size, dtype=np.bool_)
            in_conflict[cells[differs]] = True
            raise trials.conflict(cells, in_conflict[cells], values)
    return {
        "scoremat": frozen(scores),
        "modelset": trials.models.names,
        "segset": trials.segments.names,
        "scoremask": frozen(mask),
    }


def read_id_map(path: FilePath, *, max_bytes: int | None = None, progress: bool = False) -> Arrays:
    """Read the pairs of an `IdMap` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory of the arrays, as for `read_ndx`.
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    dict
        `leftids` and `rightids` (n,) of str, in the order of the file; both read-only.

    Raises
    ------
    FileFormatError
        If a line has not two columns, or an id is not in UTF-8.
    FileNotFoundError
        If there is no such file.
    """
    pairs = read_lines(path, "left right", max_bytes, progress=progress)
    return {
        "leftids": pairs.models.in_order(pairs.model_codes),
        "rightids": pairs.segments.in_order(pairs.segment_codes),
    }


def write_ndx(
    path: FilePath,
    *,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    trialmask: npt.ArrayLike,
) -> None:
    """Write an `Ndx` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    modelset : (m,) array_like of str
        Ids of the models (rows).
    segset : (n,) array_like of str
        Ids of the segments (columns).
    trialmask : (m, n) array_like of bool
        Which of all pairs are trials. Ids without trials are not written.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, or an id is empty or holds blanks.
    OSError
        If the file cannot be written.
    """
    lines = _Lines.of("Ndx", modelset, segset)
    mask = lines.checks.mask(trialmask, "trialmask")
    write_parts(
        path,
        (
            "".join([f"{model} {segment}\n" for model, segment, _ in trials])
            for trials in lines.blocks(mask)
        ),
    )


def write_key(
    path: FilePath,
    *,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
) -> None:
    """Write a `Key` file, replacing an existing file in one step.

    All targets come first, then all non-targets, as the toolkit writes them.

    Parameters
    ----------
    path : str or path-like
        The file.
    modelset : (m,) array_like of str
        Ids of the models (rows).
    segset : (n,) array_like of str
        Ids of the segments (columns).
    tar, non : (m, n) array_like of bool
        Target and non-target trials, disjoint. Ids without trials are not written.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, a trial is in both masks, or an id is empty or holds
        blanks.
    OSError
        If the file cannot be written.
    """
    lines = _Lines.of("Key", modelset, segset)
    targets, nontargets = lines.checks.classes(tar, non)

    def blocks() -> Iterator[str]:
        for mask, label in ((targets, "target"), (nontargets, "nontarget")):
            for trials in lines.blocks(mask):
                yield "".join([f"{model} {segment} {label}\n" for model, segment, _ in trials])

    write_parts(path, blocks())


def write_scores(
    path: FilePath,
    *,
    scoremat: npt.ArrayLike,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    scoremask: npt.ArrayLike,
    number_format: str | None = None,
) -> None:
    """Write a `Scores` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    scoremat : (m, n) array_like of float
        The scores. Infinite ones are written as ``inf`` and ``-inf`` (the toolkit
        refuses them).
    modelset : (m,) array_like of str
        Ids of the models (rows).
    segset : (n,) array_like of str
        Ids of the segments (columns).
    scoremask : (m, n) array_like of bool
        Which scores are valid; the others are not written, nor are ids without any.
    number_format : str or None, optional
        How a score becomes text, in the way of the ``%`` operator. None stands for the
        shortest text that reads back to the same float64; ``"%f"`` is the toolkit's
        way, with six digits behind the point.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, an id is empty or holds blanks, a valid score is NaN, or
        `number_format` does not format one number.
    OSError
        If the file cannot be written.

    Notes
    -----
    A float32 score is written with all the digits of the float64 of the same value, so
    that reading gives that value and comparisons with it come out the same.
    """
    lines = _Lines.of("Scores", modelset, segset)
    scores = lines.checks.scores(scoremat, "scoremat")
    mask = lines.checks.mask(scoremask, "scoremask")
    is_nan = np.isnan(scores) & mask
    if is_nan.any():
        columns, rows = np.nonzero(is_nan.T)
        pairs = list_some(
            f"({lines.models[row]}, {lines.segments[column]})"
            for row, column in zip(rows[:6].tolist(), columns[:6].tolist(), strict=True)
        )
        found = f"NaN for {rows.size} of {np.count_nonzero(mask)} trials: {pairs}"
        raise invalid("scoremat", "Scores", "not hold NaN where the mask is true", found)
    form = formatter(number_format)
    write_parts(
        path,
        (
            "".join([f"{model} {segment} {form(score)}\n" for model, segment, score in trials])
            for trials in lines.blocks(mask, scores)
        ),
    )


def write_id_map(path: FilePath, *, leftids: npt.ArrayLike, rightids: npt.ArrayLike) -> None:
    """Write an `IdMap` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    leftids, rightids : (n,) array_like of str
        The pairs.

    Raises
    ------
    InvalidInputError
        If lengths differ, or an id is empty or holds blanks.
    OSError
        If the file cannot be written.
    """
    left, right = words(leftids, "leftids", "IdMap"), words(rightids, "rightids", "IdMap")
    if len(left) != len(right):
        raise invalid("rightids", "IdMap", f"have {len(left)} ids like `leftids`", str(len(right)))
    write_parts(path, (f"{a} {b}\n" for a, b in zip(left, right, strict=True)))


@attrs.frozen(eq=False)
class _Lines:
    """The trials of an object that shall become lines.

    Parameters
    ----------
    checks : MatrixChecks
        The ids, and checks of what belongs to them.
    models, segments : list of str
        The same ids as words.
    """

    checks: MatrixChecks
    models: list[str]
    segments: list[str]

    @classmethod
    def of(cls, owner: str, modelset: npt.ArrayLike, segset: npt.ArrayLike) -> "_Lines":
        """Check the ids of an object."""
        checks = MatrixChecks.of(owner, modelset, segset)
        models = words(checks.models, "modelset", owner)
        return cls(checks, models, words(checks.segments, "segset", owner))

    def blocks(
        self, mask: npt.NDArray[np.bool_], scores: npt.NDArray[Any] | None = None
    ) -> Iterator[Iterable[tuple[str, str, float]]]:
        """Give model, segment and score of all trials, some columns at a time."""
        rows, columns = len(self.models), len(self.segments)
        step = max(1, _LINES_AT_ONCE // max(1, rows))
        for begin in range(0, columns, step):
            part = np.ascontiguousarray(mask[:, begin : begin + step].T)
            segment_numbers, model_numbers = np.nonzero(part)
            values: Iterable[float] = segment_numbers.tolist()
            if scores is not None:
                values = scores[:, begin : begin + step].T[part].astype(np.float64).tolist()
            yield zip(
                map(self.models.__getitem__, model_numbers.tolist()),
                map(self.segments.__getitem__, (segment_numbers + begin).tolist()),
                values,
                strict=True,
            )
