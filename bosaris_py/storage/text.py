"""Read and write the toolkit's text files.

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

What the columns are and how they are read is told in `bosaris_py.storage.text`. Here
nothing as large as models times segments is made, and lines are written in the order of the
trials, by segment, then by model; of a key, too, targets and non-targets mixed.
"""

import gzip
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import mark_read_only
from bosaris_py._validation import (
    FilePath,
    as_ids,
    as_mask,
    as_matrix,
    as_vector,
    check_shape,
    invalid,
    list_some,
    warn_caller,
)
from bosaris_py.errors import BosarisWarning, FileFormatError, InvalidInputError
from bosaris_py.storage._guarded_hdf5 import MemoryBudget
from bosaris_py.storage.atomic import atomic_write
from bosaris_py.storage.schema import Arrays, MatrixChecks
from bosaris_py.storage.tokens import (
    Block,
    DecodedIds,
    IdColumn,
    LineNumbers,
    cut_into_columns,
    line_error,
    read_blocks,
    read_numbers,
    show,
)
from bosaris_py.storage.trial_table import order_trials

_LABELS = {b"target": True, b"nontarget": False}


@attrs.frozen(eq=False)
class TrialLines:
    """The two id columns of a file."""

    models: DecodedIds
    segments: DecodedIds
    model_codes: npt.NDArray[np.int32]
    segment_codes: npt.NDArray[np.int32]
    numbers: LineNumbers
    budget: MemoryBudget

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of models and segments."""
        return self.models.names.size, self.segments.names.size

    def cells(self, *, item_size: int) -> npt.NDArray[np.intp]:
        """Return the place of each record in a matrix of this shape, in C order.

        The matrix is refused if its `item_size` bytes per cell are too many.
        """
        rows, columns = self.shape
        what = f"a matrix of {rows} models x {columns} segments for {self.model_codes.size} trials"
        self.budget.claim(item_size * rows * columns, what)
        return self.models.rank[self.model_codes] * columns + self.segments.rank[self.segment_codes]

    def conflict(
        self,
        cells: npt.NDArray[np.intp],
        in_conflict: npt.NDArray[np.bool_],
        contents: npt.NDArray[Any],
    ) -> FileFormatError:
        """Return the error for a trial that occurs with different contents.

        Parameters
        ----------
        cells : (records,) ndarray of int
            The cell of each record.
        in_conflict : (records,) ndarray of bool
            Which records belong to cells with a conflict.
        contents : (records,) ndarray
            What the records say about their trials.
        """
        first = int(np.argmax(in_conflict))
        same_trial = np.flatnonzero(cells == cells[first])
        second = int(same_trial[contents[same_trial] != contents[first]][0])
        return self.disagreement(first, second, contents[first], contents[second])

    def disagreement(
        self, first: int, second: int, before: object, here: object
    ) -> FileFormatError:
        """Return the error for a trial that two records tell different things about."""
        model = self.models.name_of(int(self.model_codes[first]))
        segment = self.segments.name_of(int(self.segment_codes[first]))
        text = f"trial {model} {segment} is {here} here and {before} in line {self.numbers[first]}"
        return self.numbers.error(second, text)


def read_lines(
    path: FilePath,
    layout: str,
    max_bytes: int | None,
    keep: Callable[[Block, LineNumbers, int], None] | None = None,
    *,
    progress: bool,
) -> TrialLines:
    """Read a file of two ids a line; `keep` takes the third column of each block."""
    file_path = Path(path)
    numbers = LineNumbers(file_path)
    columns = (IdColumn(), IdColumn())
    codes: tuple[list[npt.NDArray[np.int32]], ...] = ([], [])
    records = 0
    for line, data in read_blocks(file_path, progress=progress):
        block = cut_into_columns(data, line, len(layout.split()), layout, numbers)
        for number, column in enumerate(columns):
            codes[number].append(column.encode(block, number).astype(np.int32))
        if keep is not None:
            keep(block, numbers, records)
        records += block.starts.shape[0]
    if records == 0:
        message = f"{file_path}: there is no line in this file; was it cut off?"
        warn_caller(message, BosarisWarning)
    budget = MemoryBudget(file_path, max_bytes)
    both = [np.concatenate(part) if part else np.empty(0, dtype=np.int32) for part in codes]
    ids = [
        DecodedIds.of(column, column_codes, numbers, budget)
        for column, column_codes in zip(columns, both, strict=True)
    ]
    return TrialLines(ids[0], ids[1], both[0], both[1], numbers, budget)


def read_labelled_lines(
    path: FilePath, max_bytes: int | None, *, progress: bool
) -> tuple[TrialLines, npt.NDArray[np.bool_]]:
    """Read a file of trials with labels; return the trials and which lines are targets."""
    labels = IdColumn()
    codes: list[npt.NDArray[Any]] = []

    def keep_labels(block: Block, numbers: LineNumbers, first: int) -> None:
        known = len(labels.ids)
        new_codes = labels.encode(block, 2)
        codes.append(new_codes.astype(np.int16))
        strangers = [
            code
            for code in range(known, len(labels.ids))
            if labels.ids[code].lower() not in _LABELS
        ]
        if strangers:
            # Codes are given by the length of a label first, not line by line.
            row = int(np.argmax(np.isin(new_codes, strangers)))
            label = labels.ids[new_codes[row]]
            hint = "; are these scores?" if _is_number(label) else ""
            text = f"the label must be target or nontarget, found {show(label)}{hint}"
            raise numbers.error(first + row, text)

    layout = "model segment target|nontarget"
    trials = read_lines(path, layout, max_bytes, keep_labels, progress=progress)
    is_target_label = np.array([_LABELS[label.lower()] for label in labels.ids], dtype=np.bool_)
    is_target = is_target_label[np.concatenate(codes)] if codes else is_target_label
    return trials, is_target


def read_scored_lines(
    path: FilePath, max_bytes: int | None, *, progress: bool
) -> tuple[TrialLines, npt.NDArray[np.float64]]:
    """Read a file of trials with scores; return the trials and the scores."""
    parts: list[npt.NDArray[np.float64]] = []

    def keep_scores(block: Block, numbers: LineNumbers, first: int) -> None:
        parts.append(read_numbers(block, 2, numbers, first))

    layout = "model segment score"
    trials = read_lines(path, layout, max_bytes, keep_scores, progress=progress)
    values = np.concatenate(parts) if parts else np.empty(0)
    return trials, values


def _is_number(token: bytes) -> bool:
    """Tell whether a token looks like a score."""
    try:
        float(token)
    except ValueError:
        return False
    return True


# A file starts with a byte order mark or not; an id that does so would lose it.
_UNPRINTABLE = re.compile("[\x00-\x1f]|^\ufeff")


def words(ids: npt.ArrayLike, name: str) -> list[str]:
    """Return ids as a list, refusing those that a column of text cannot hold."""
    array = as_ids(ids, name)
    names: list[str] = array.tolist()
    bad = [text for text in names if text.split() != [text] or _UNPRINTABLE.search(text)]
    if bad:
        found = f"{len(bad)} others ({list_some(map(repr, bad))})"
        hint = "Blanks separate the columns of a text file; save as .h5 instead."
        raise invalid(name, "hold words without blanks", found, hint)
    return names


def formatter(number_format: str | None) -> Callable[[float], str]:
    """Return the function that turns a score into text."""
    if number_format is None:
        return float.__repr__
    try:
        sample: Any = number_format % 1.5
        is_word = isinstance(sample, str) and math.isfinite(float(sample))
        # A whole number, such as "%d" makes, has no infinity.
        number_format % math.inf
    except (TypeError, ValueError, OverflowError):
        is_word = False
    if not is_word:
        expected = 'format one number with %, for instance "%f" or "%.9g"'
        raise invalid("number_format", expected, repr(number_format))
    return number_format.__mod__


def write_parts(path: FilePath, parts: Iterable[str]) -> None:
    """Write a text that comes in parts and put the file in place.

    A file whose name ends in ``.gz`` is compressed, without a time stamp: the same text
    gives the same bytes.
    """
    compressed = Path(path).suffix.lower() == ".gz"
    with atomic_write(path) as temporary, temporary.open("wb") as on_disk:
        target: Any = on_disk
        if compressed:
            target = gzip.GzipFile(filename="", mode="wb", fileobj=on_disk, mtime=0)
        try:
            with io.TextIOWrapper(target, encoding="utf-8", newline="\n") as stream:
                stream.writelines(parts)
                stream.flush()
        except UnicodeEncodeError as error:
            message = f"{path}: an id cannot be encoded as UTF-8: {error}"
            raise InvalidInputError(message) from error


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
        "trialmask": mark_read_only(mask),
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
        "tar": mark_read_only(tar.copy()),
        "non": mark_read_only(non.copy()),
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
        "scoremat": mark_read_only(scores),
        "modelset": trials.models.names,
        "segset": trials.segments.names,
        "scoremask": mark_read_only(mask),
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
    path: FilePath, *, modelset: npt.ArrayLike, segset: npt.ArrayLike, trialmask: npt.ArrayLike
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
    lines = _Lines.of(modelset, segset)
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
    lines = _Lines.of(modelset, segset)
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
    lines = _Lines.of(modelset, segset)
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
        raise invalid("scoremat", "not hold NaN where the mask is true", found)
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
    left, right = words(leftids, "leftids"), words(rightids, "rightids")
    if len(left) != len(right):
        raise invalid("rightids", f"have {len(left)} ids like `leftids`", str(len(right)))
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
    def of(cls, modelset: npt.ArrayLike, segset: npt.ArrayLike) -> "_Lines":
        """Check the ids of an object."""
        checks = MatrixChecks.of(modelset, segset)
        models = words(checks.models, "modelset")
        return cls(checks, models, words(checks.segments, "segset"))

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
    lines = _lines((modelset, segset), (models, segments), None, None)
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
    labels = as_mask(is_target, "is_target")
    lines = _lines((modelset, segset), (models, segments), labels, _label)
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
    values = as_vector(scores, "scores")
    bad = np.flatnonzero(np.isnan(values))
    if bad.size:
        found = f"NaN for {bad.size} of {values.size} trials, the first at {bad[0]}"
        raise invalid("scores", "not hold NaN", found)
    form = formatter(number_format)
    lines = _lines((modelset, segset), (models, segments), values, form)
    write_parts(path, lines)


def _columns(trials: TrialLines) -> Arrays:
    """Return ids and positions, line by line."""
    return {
        "modelset": trials.models.names,
        "segset": trials.segments.names,
        "models": mark_read_only(trials.models.rank[trials.model_codes]),
        "segments": mark_read_only(trials.segments.rank[trials.segment_codes]),
    }


def _with_contents(
    trials: TrialLines, name: str, contents: npt.NDArray[Any], describe: Callable[[Any], object]
) -> Arrays:
    """Return ids, positions and contents in order; refuse a trial with different contents."""
    arrays = {**_columns(trials), name: mark_read_only(contents)}
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
            arrays[column] = mark_read_only(arrays[column][order.order])
    return arrays


def _label(is_target: Any) -> str:
    return "target" if is_target else "nontarget"


def _lines(
    ids: tuple[npt.ArrayLike, npt.ArrayLike],
    positions: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    contents: npt.NDArray[Any] | None,
    form: Callable[[Any], str] | None,
) -> Iterator[str]:
    """Give the lines of all trials, many at a time; check the ids before the first."""
    models, segments = words(ids[0], "modelset"), words(ids[1], "segset")

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


def read_segment_quality(
    path: FilePath, *, max_bytes: int | None = None, progress: bool = False
) -> Arrays:
    """Read the quality measures of segments of a `SegmentQuality` file.

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
        `ids` (n,) of str and `values` (q, n) of float64, in the order of the file; both
        read-only.

    Raises
    ------
    FileFormatError
        If the first line is not the number of measures, a line has another number of
        columns, a measure is no number, an id is repeated or not in UTF-8, or the
        matrix is too large.
    FileNotFoundError
        If there is no such file.
    """
    file_path = Path(path)
    numbers = LineNumbers(file_path)
    column = IdColumn()
    codes: list[npt.NDArray[Any]] = []
    parts: list[npt.NDArray[np.float64]] = []
    count: int | None = None
    records = 0
    budget = MemoryBudget(file_path, max_bytes)
    for line, data in read_blocks(file_path, progress=progress):
        if count is None:
            count, used, data = _cut_first_line(file_path, line, data)
            line += used
            if count is None:
                continue
        layout = " ".join(["id", *(f"measure{number + 1}" for number in range(min(count, 3)))])
        layout += " ..." if count > 3 else ""
        block = cut_into_columns(data, line, 1 + count, layout, numbers)
        codes.append(column.encode(block, 0))
        measures = [read_numbers(block, 1 + row, numbers, records) for row in range(count)]
        records += codes[-1].size
        budget.claim(16 * count * codes[-1].size, "the matrix of measures")
        parts.append(np.array(measures).reshape(count, codes[-1].size))
    if count is None:
        message = f"{file_path}: empty; the first line must be the number of measures"
        raise FileFormatError(message)
    all_codes = np.concatenate(codes) if codes else np.empty(0, dtype=np.intp)
    ids = DecodedIds.of(column, all_codes, numbers, budget)
    if len(column.ids) < all_codes.size:
        _, first = np.unique(all_codes, return_index=True)
        again = int(np.setdiff1d(np.arange(all_codes.size), first)[0])
        before = int(first[all_codes[again]])
        text = f"the id {show(column.ids[all_codes[again]])} was already in line {numbers[before]}"
        raise numbers.error(again, text)
    values = np.concatenate(parts, axis=1) if parts else np.empty((count, 0))
    return {"ids": ids.in_order(all_codes), "values": mark_read_only(values)}


def write_segment_quality(
    path: FilePath, *, ids: npt.ArrayLike, values: npt.ArrayLike, number_format: str | None = None
) -> None:
    """Write a `SegmentQuality` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    ids : (n,) array_like of str
        Ids of the segments.
    values : (q, n) array_like of float
        Their quality measures.
    number_format : str or None, optional
        How a measure becomes text, in the way of the ``%`` operator. None stands for the
        shortest text that reads back to the same float64.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, an id is empty or holds blanks, a measure is NaN, or
        `number_format` does not format one number.
    OSError
        If the file cannot be written.
    """
    names = words(ids, "ids")
    measures = as_matrix(values, "values")
    check_shape(measures, (measures.shape[0], len(names)), "values", "like `ids`")
    if np.isnan(measures).any():
        found = f"NaN at {np.count_nonzero(np.isnan(measures))} of {measures.size} positions"
        raise invalid("values", "not hold NaN", found)
    form = formatter(number_format)

    def lines() -> Iterator[str]:
        yield f"{measures.shape[0]}\n"
        for name, column in zip(names, measures.T.astype(np.float64), strict=True):
            yield " ".join([name, *map(form, column.tolist())]) + "\n"

    write_parts(path, lines())


def _cut_first_line(path: Path, line: int, data: bytes) -> tuple[int | None, int, bytes]:
    """Take the number of measures off the first line that is not blank.

    Returns that number (None if all lines are blank), the number of lines taken, and
    the rest.
    """
    used = 0
    while data:
        first, _, data = data.partition(b"\n")
        used += 1
        if not first.strip():
            continue
        if not first.strip().isdigit() or len(first.strip()) > 9:
            text = f"the first line must be the number of measures, found {show(first)}"
            raise line_error(path, line + used - 1, text)
        return int(first), used, data
    return None, used, data
