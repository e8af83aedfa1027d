"""Read and write the toolkit's text files.

================  ==========================================================
object            columns
================  ==========================================================
`Ndx`             model, segment
`Key`             model, segment, ``target`` or ``nontarget``
`Scores`          model, segment, score
`IdMap`           left id, right id
`SegmentQuality`  id, measures; the number of measures is in the first line
================  ==========================================================

Blanks and tabs in any number separate columns, blank lines are skipped, lines may end
in CR LF, and a byte order mark is no part of the first id. The encoding is UTF-8.

Reading sorts models and segments by character code, and ids without any trial are not in
the file: an object that was saved as text comes back with its rows and columns in another
order. HDF5 keeps it as it is. The readers of flat forms make nothing as large as models
times segments.

The toolkit differs in three points. It takes every label but ``target`` as a non-target;
here another label is an error. Of a repeated trial it takes the last line; here the lines
must agree. A cell without a line has the score +Inf there, which leaks into merged scores;
here it has score 0 and a false mask.
"""

from __future__ import annotations

import gzip
import io
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypedDict, Unpack

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray, BoolArray, Float64Array, Int32Array, mark_read_only
from bosaris_py._validation import FilePath, as_ids, invalid, list_some, warn_caller
from bosaris_py.errors import BosarisWarning, FileFormatError, InvalidInputError
from bosaris_py.storage._guarded_hdf5 import LONGEST_ID, MemoryBudget, within_memory
from bosaris_py.storage.atomic import atomic_write
from bosaris_py.storage.schema import Arrays, check_fields
from bosaris_py.storage.tokens import (
    Block,
    DecodedIds,
    FirstLine,
    IdColumn,
    Layout,
    LineNumbers,
    cut_blocks,
    is_number,
    line_error,
    read_blocks,
    read_numbers,
    show,
)
from bosaris_py.storage.trial_table import TrialOrder, order_trials

_LAYOUTS = {
    "ndx": "model segment",
    "key": "model segment target|nontarget",
    "scores": "model segment score",
    "id_map": "left right",
}
# Memory of a line: the codes of its ids and its content, here and in the object.
_BYTES_OF_LINE = {"ndx": 24, "key": 26, "scores": 40, "id_map": 16}

_LABELS = {b"target": True, b"nontarget": False}

# Lines that are put together before they are written: about 2 MB.
_LINES_AT_ONCE = 2**16


class ReadLimits(TypedDict, total=False):
    """Keywords of all readers.

    A file that needs more memory than `max_bytes` is refused; None stands for half of what
    machine, container and ulimit give. `progress` shows a progress bar.
    """

    max_bytes: int | None
    progress: bool


# Reading


@attrs.frozen(eq=False)
class _Lines:
    """The lines of a file: two ids each, and the label or score if the kind has one."""

    models: DecodedIds
    segments: DecodedIds
    model_codes: Int32Array
    segment_codes: Int32Array
    contents: AnyArray
    numbers: LineNumbers
    budget: MemoryBudget

    @classmethod
    def read(
        cls, path: FilePath, kind: str, *, max_bytes: int | None = None, progress: bool = False
    ) -> "_Lines":
        """Read a file of a kind of `_LAYOUTS`."""
        numbers = LineNumbers(Path(path))
        budget = MemoryBudget(Path(path), max_bytes)
        columns = IdColumn(), IdColumn()
        codes: tuple[list[Int32Array], list[Int32Array]] = ([], [])
        labels = IdColumn()
        contents: list[AnyArray] = []
        blocks = read_blocks(path, progress=progress)
        for block in cut_blocks(blocks, Layout(_LAYOUTS[kind]), numbers, budget):
            budget.claim(_BYTES_OF_LINE[kind] * len(block), "the lines")
            for number, column in enumerate(columns):
                codes[number].append(column.encode(block, number).astype(np.int32))
            if kind == "key":
                contents.append(_read_labels(block, labels))
            elif kind == "scores":
                contents.append(read_numbers(block, 2))
        if numbers.count == 0:
            message = f"{path}: there is no line in this file; was it cut off?"
            warn_caller(message, BosarisWarning)
        both = [np.concatenate([np.empty(0, dtype=np.int32), *parts]) for parts in codes]
        models, segments = (DecodedIds.of(columns[i], both[i], numbers, budget) for i in range(2))
        empty: AnyArray = np.empty(0, dtype=np.float64 if kind == "scores" else np.bool_)
        all_contents = np.concatenate([empty, *contents])
        return cls(models, segments, both[0], both[1], all_contents, numbers, budget)

    @property
    def ids(self) -> Arrays:
        """The lists of ids."""
        return {"modelset": self.models.names, "segset": self.segments.names}

    def positions(self) -> Arrays:
        """Return the positions of model and segment of each line."""
        return {
            "models": mark_read_only(self.models.rank[self.model_codes]),
            "segments": mark_read_only(self.segments.rank[self.segment_codes]),
        }

    def cells(self, *, item_size: int) -> tuple[tuple[int, int], npt.NDArray[np.intp]]:
        """Return the shape of a matrix of all pairs, and the flat position of each line in it.

        The matrix is refused if its `item_size` bytes for each cell are too many.
        """
        rows, columns = self.models.names.size, self.segments.names.size
        what = f"a matrix of {rows} models x {columns} segments for {self.model_codes.size} trials"
        self.budget.claim(item_size * rows * columns, what)
        cells = self.models.rank[self.model_codes].astype(np.intp) * columns
        return (rows, columns), cells + self.segments.rank[self.segment_codes]

    def order(self, models: Int32Array, segments: Int32Array) -> TrialOrder:
        """Return the order of the trials; refuse a trial with different contents."""
        order = order_trials(models, segments, self.models.names.size)
        bad = np.flatnonzero(order.conflicts(self.contents))
        if not bad.size:
            return order
        worst = bad[np.argmin(order.repeated[bad])]
        first, second = int(order.first[worst]), int(order.repeated[worst])
        before, here = (_describe(self.contents[line]) for line in (first, second))
        model = self.models.name_of(int(self.model_codes[first]))
        segment = self.segments.name_of(int(self.segment_codes[first]))
        text = f"trial {model} {segment} is {here} here and {before} in line {self.numbers[first]}"
        raise self.numbers.error(second, text)


def _read_labels(block: Block, labels: IdColumn) -> BoolArray:
    """Return which lines of a block are targets."""
    codes = labels.encode(block, 2)
    meanings = [_LABELS.get(label.lower()) for label in labels.ids]
    if None in meanings:
        unknown = [code for code, meaning in enumerate(meanings) if meaning is None]
        row = int(np.argmax(np.isin(codes, unknown)))
        label = block.token(row, 2)
        hint = "; are these scores?" if is_number(label) else ""
        text = f"the label must be target or nontarget, found {show(label)}{hint}"
        raise block.error(row, text)
    return np.array(meanings, dtype=np.bool_)[codes]


def _describe(content: Any) -> str:
    """Return a label or a score as it is written."""
    if isinstance(content, np.bool_):
        return "target" if content else "nontarget"
    return repr(float(content))


@within_memory
def read_ndx(path: FilePath, **limits: Unpack[ReadLimits]) -> Arrays:
    """Read `modelset`, `segset` and `trialmask` of an `Ndx` file."""
    lines = _Lines.read(path, "ndx", **limits)
    shape, cells = lines.cells(item_size=1)
    mask = np.zeros(shape, dtype=np.bool_)
    mask.reshape(-1)[cells] = True
    return {**lines.ids, "trialmask": mark_read_only(mask)}


@within_memory
def read_key(path: FilePath, **limits: Unpack[ReadLimits]) -> Arrays:
    """Read `modelset`, `segset`, `tar` and `non` of a `Key` file."""
    lines = _Lines.read(path, "key", **limits)
    # Two masks, and what they share.
    shape, cells = lines.cells(item_size=3)
    tar, non = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    tar.reshape(-1)[cells[lines.contents]] = True
    non.reshape(-1)[cells[~lines.contents]] = True
    if (tar & non).any():
        lines.order(**lines.positions())
    return {**lines.ids, "tar": mark_read_only(tar), "non": mark_read_only(non)}


@within_memory
def read_scores(path: FilePath, **limits: Unpack[ReadLimits]) -> Arrays:
    """Read `scoremat`, `modelset`, `segset` and `scoremask` of a `Scores` file."""
    lines = _Lines.read(path, "scores", **limits)
    shape, cells = lines.cells(item_size=9)
    scores, mask = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
    scores.reshape(-1)[cells] = lines.contents
    mask.reshape(-1)[cells] = True
    if np.count_nonzero(mask) < cells.size:
        lines.order(**lines.positions())
    return {**lines.ids, "scoremat": mark_read_only(scores), "scoremask": mark_read_only(mask)}


@within_memory
def read_id_map(path: FilePath, **limits: Unpack[ReadLimits]) -> Arrays:
    """Read `leftids` and `rightids` of an `IdMap` file, in the order of the file."""
    pairs = _Lines.read(path, "id_map", **limits)
    return {
        "leftids": pairs.models.in_order(pairs.model_codes),
        "rightids": pairs.segments.in_order(pairs.segment_codes),
    }


@within_memory
def read_flat_ndx(path: FilePath, **limits: Unpack[ReadLimits]) -> Arrays:
    """Read `modelset`, `segset`, and `models` and `segments` line by line, of an `Ndx` file."""
    lines = _Lines.read(path, "ndx", **limits)
    return {**lines.ids, **lines.positions()}


@within_memory
def read_flat_key(path: FilePath, **limits: Unpack[ReadLimits]) -> Arrays:
    """Read a `Key` file: like `read_flat_ndx`, with `is_target`."""
    return _read_flat(_Lines.read(path, "key", **limits), "is_target")


@within_memory
def read_flat_scores(path: FilePath, **limits: Unpack[ReadLimits]) -> Arrays:
    """Read a `Scores` file: like `read_flat_ndx`, with `scores`."""
    return _read_flat(_Lines.read(path, "scores", **limits), "scores")


def _read_flat(lines: _Lines, name: str) -> Arrays:
    """Return positions and contents in column-major order."""
    columns = {**lines.positions(), name: lines.contents}
    found = lines.order(columns["models"], columns["segments"])
    # Repeated lines are left for the object that will warn of them.
    if found.order is not None and not found.repeated.size:
        columns = {name: column[found.order] for name, column in columns.items()}
    return {**lines.ids, **{name: mark_read_only(column) for name, column in columns.items()}}


@within_memory
def read_segment_quality(path: FilePath, **limits: Unpack[ReadLimits]) -> Arrays:
    """Read `ids` (n,) and `values` (q, n) of a `SegmentQuality` file, in the order of the file."""
    blocks = read_blocks(path, progress=limits.get("progress", False))
    head = FirstLine.of(blocks)
    if head is None:
        message = f"{path}: empty; the first line must be the number of measures"
        raise FileFormatError(message)
    digits = head.text.strip()
    if not digits.isdigit() or len(digits) > 9:
        text = f"the first line must be the number of measures, found {show(head.text)}"
        raise line_error(Path(path), head.number, text)
    count = int(digits)
    names = " ".join(["id", *(f"measure{1 + row}" for row in range(min(count, 3)))])
    layout = Layout(f"{names} ..." if count > 3 else names, 1 + count)
    numbers = LineNumbers(Path(path))
    column = IdColumn()
    codes = [np.empty(0, dtype=np.intp)]
    parts: list[Float64Array] = [np.empty((count, 0))]
    budget = MemoryBudget(Path(path), limits.get("max_bytes"))
    lines = itertools.chain([(head.number + 1, head.rest)], blocks)
    for block in cut_blocks(lines, layout, numbers, budget):
        # What the first line says is believed only if the others say so too.
        if len(block):
            codes.append(column.encode(block, 0))
            budget.claim(16 * count * len(block), "the matrix of measures")
            measures = read_numbers(block, slice(1, None))
            parts.append(measures.reshape(len(block), count).T)
    all_codes = np.concatenate(codes)
    ids = DecodedIds.of(column, all_codes, numbers, budget)
    if len(column) < all_codes.size:
        _, first = np.unique(all_codes, return_index=True)
        again = int(np.setdiff1d(np.arange(all_codes.size), first)[0])
        name, before = column.ids[all_codes[again]], numbers[int(first[all_codes[again]])]
        raise numbers.error(again, f"the id {show(name)} was already in line {before}")
    values = mark_read_only(np.concatenate(parts, axis=1))
    return {"ids": ids.in_order(all_codes), "values": values}


# Writing

# A file starts with a byte order mark or not; an id that does so would lose it.
_UNPRINTABLE = re.compile("[\x00-\x1f]|^\ufeff")


def words(ids: npt.ArrayLike, name: str) -> list[str]:
    """Return ids as a list, refusing those that a column of text cannot hold."""
    names: list[str] = as_ids(ids, name).tolist()
    longest = max(map(len, names), default=0)
    if longest > LONGEST_ID:
        raise invalid(name, f"hold ids of at most {LONGEST_ID} characters", str(longest))
    bad = [text for text in names if text.split() != [text] or _UNPRINTABLE.search(text)]
    if bad:
        found = f"{len(bad)} others ({list_some(map(repr, bad))})"
        hint = "Blanks separate the columns of a text file; save as .h5 instead."
        raise invalid(name, "hold words without blanks", found, hint)
    return names


def formatter(number_format: str | None) -> Callable[[float], str]:
    """Return the function that turns a score into text.

    None stands for the shortest text that reads back to the same float64; otherwise the
    ``%`` operator is used, for instance ``"%f"`` as the toolkit does.
    """
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


def row_slices(count: int) -> Iterator[slice]:
    """Cut so many lines into parts that are written at once."""
    for begin in range(0, count, _LINES_AT_ONCE):
        yield slice(begin, min(begin + _LINES_AT_ONCE, count))


# Positions of models and segments, and labels or scores, of some trials.
_Trials = tuple[AnyArray, AnyArray, AnyArray | None]


def _write_trials(
    path: FilePath,
    ids: tuple[list[str], list[str]],
    parts: Iterable[_Trials],
    form: Callable[[Any], str] = str,
) -> None:
    """Write the lines of trials; contents are turned into text by `form`."""

    def texts() -> Iterator[str]:
        for models, segments, contents in parts:
            columns = [
                map(ids[0].__getitem__, models.tolist()),
                map(ids[1].__getitem__, segments.tolist()),
            ]
            if contents is not None:
                columns.append(map(form, contents.tolist()))
            if models.size:
                yield "\n".join(map(" ".join, zip(*columns, strict=True))) + "\n"

    write_parts(path, texts())


_label = {True: "target", False: "nontarget"}.__getitem__


def _in_matrix(mask: BoolArray, contents: AnyArray | None = None) -> Iterator[_Trials]:
    """Give the trials of a matrix in column-major order, some columns at a time."""
    step = max(1, _LINES_AT_ONCE // max(1, mask.shape[0]))
    for begin in range(0, mask.shape[1], step):
        part = np.ascontiguousarray(mask[:, begin : begin + step].T)
        segments, models = np.nonzero(part)
        values = None if contents is None else contents[:, begin : begin + step].T[part]
        yield models, segments + begin, values


def _checked(kind: str, arrays: Arrays) -> tuple[list[str], list[str]]:
    """Check the arrays of an object; return its ids as words."""
    check_fields(kind, arrays)
    return words(arrays["modelset"], "modelset"), words(arrays["segset"], "segset")


def write_ndx(path: FilePath, **arrays: AnyArray) -> None:
    """Write what `read_ndx` returns. Ids without trials are not written, here and below."""
    ids = _checked("ndx", arrays)
    _write_trials(path, ids, _in_matrix(arrays["trialmask"]))


def write_key(path: FilePath, **arrays: AnyArray) -> None:
    """Write what `read_key` returns: all targets, then all non-targets, as the toolkit does."""
    ids = _checked("key", arrays)
    tar, non = arrays["tar"], arrays["non"]
    if (tar & non).any():
        raise InvalidInputError("`tar` and `non` must be disjoint; some trials are in both")
    _write_trials(path, ids, itertools.chain(_in_matrix(tar, tar), _in_matrix(non, tar)), _label)


def write_scores(path: FilePath, *, number_format: str | None = None, **arrays: AnyArray) -> None:
    """Write what `read_scores` returns. Infinite scores are written, which the toolkit refuses."""
    ids = _checked("scores", arrays)
    scores, mask = arrays["scoremat"], arrays["scoremask"]
    is_nan = np.isnan(scores) & mask
    if is_nan.any():
        columns, rows = np.nonzero(is_nan.T)
        pairs = list_some(
            f"({ids[0][row]}, {ids[1][column]})"
            for row, column in zip(rows[:6].tolist(), columns[:6].tolist(), strict=True)
        )
        found = f"NaN for {rows.size} of {np.count_nonzero(mask)} trials: {pairs}"
        raise invalid("scoremat", "not hold NaN where the mask is true", found)
    _write_trials(path, ids, _in_matrix(mask, scores), formatter(number_format))


def write_id_map(path: FilePath, **arrays: AnyArray) -> None:
    """Write what `read_id_map` returns."""
    check_fields("id_map", arrays)
    left, right = (words(arrays[name], name) for name in ("leftids", "rightids"))
    write_parts(path, (f"{a} {b}\n" for a, b in zip(left, right, strict=True)))


def write_flat_ndx(path: FilePath, **arrays: AnyArray) -> None:
    """Write what `read_flat_ndx` returns, in the order of the trials."""
    _write_flat(path, _checked("flat_ndx", arrays), arrays)


def write_flat_key(path: FilePath, **arrays: AnyArray) -> None:
    """Write what `read_flat_key` returns, in the order of the trials."""
    _write_flat(path, _checked("flat_key", arrays), arrays, "is_target", _label)


def write_flat_scores(
    path: FilePath, *, number_format: str | None = None, **arrays: AnyArray
) -> None:
    """Write what `read_flat_scores` returns, in the order of the trials."""
    ids = _checked("flat_scores", arrays)
    bad = np.flatnonzero(np.isnan(arrays["scores"]))
    if bad.size:
        found = f"NaN for {bad.size} of {arrays['scores'].size} trials, the first at {bad[0]}"
        raise invalid("scores", "not hold NaN", found)
    _write_flat(path, ids, arrays, "scores", formatter(number_format))


def _write_flat(
    path: FilePath,
    ids: tuple[list[str], list[str]],
    arrays: Arrays,
    name: str = "",
    form: Callable[[Any], str] = str,
) -> None:
    """Write a list of trials with the array of this name, if any."""
    m, s, c = arrays["models"], arrays["segments"], arrays.get(name)
    slices = row_slices(m.size)
    parts = ((m[part], s[part], None if c is None else c[part]) for part in slices)
    _write_trials(path, ids, parts, form)


def write_segment_quality(
    path: FilePath, *, number_format: str | None = None, **arrays: AnyArray
) -> None:
    """Write what `read_segment_quality` returns."""
    check_fields("segment_quality", arrays)
    names, measures = words(arrays["ids"], "ids"), arrays["values"]
    if np.isnan(measures).any():
        found = f"NaN at {np.count_nonzero(np.isnan(measures))} of {measures.size} positions"
        raise invalid("values", "not hold NaN", found)
    form = formatter(number_format)
    rows = zip(names, measures.T.astype(np.float64), strict=True)
    lines = (" ".join([name, *map(form, row.tolist())]) + "\n" for name, row in rows)
    write_parts(path, itertools.chain([f"{measures.shape[0]}\n"], lines))
