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

Blanks and tabs in any number separate columns, blank lines are skipped, lines may end in CR LF, and
a byte order mark is no part of the first id. The encoding is UTF-8.

Reading sorts models and segments by character code, and ids without any trial are not in the file.
HDF5 keeps an object as it is. The readers of flat forms make nothing as large as models times
segments.

The toolkit differs in three points. It takes every label but ``target`` as a non-target; here
another label is an error. Of a repeated trial it takes the last line; here the lines must agree. A
cell without a line has the score +Inf there, which leaks into merged scores; here it has score 0
and a false mask.
"""

from __future__ import annotations

import gzip
import io
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

import bosaris_py.storage.tokens as tokens
from bosaris_py._arrays import AnyArray, BoolArray, Float64Array, Int32Array, mark_read_only
from bosaris_py._cautions import warn_caller
from bosaris_py._validation import FilePath, as_ids, as_path, invalid, list_some
from bosaris_py.errors import BosarisWarning, FileFormatError, InvalidInputError
from bosaris_py.storage.atomic import atomic_write
from bosaris_py.storage.ids import LONGEST_ID
from bosaris_py.storage.memory import MemoryBudget, within_memory
from bosaris_py.storage.schema import FIELDS, KINDS, Arrays, check_fields
from bosaris_py.storage.trial_table import TrialOrder, order_trials

_LAYOUTS = {
    "ndx": "model segment",
    "key": "model segment target|nontarget",
    "scores": "model segment score",
    "id_map": "left right",
}
# Memory of a line: the codes of its ids and its content, here and in the object.
_BYTES_OF_LINE = {"ndx": 24, "key": 26, "scores": 40, "id_map": 16}

# A number as a format writes it, with blanks to fill a width.
_NUMBER = re.compile(r" *[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)? *")

_LABELS = {b"target": True, b"nontarget": False}

# Lines that are put together before they are written: about 2 MB.
_LINES_AT_ONCE = 2**16


# Reading


@attrs.frozen(eq=False)
class _Lines:
    """The lines of a file: two ids each, and the label or score if the kind has one."""

    models: tokens.DecodedIds
    segments: tokens.DecodedIds
    model_codes: Int32Array
    segment_codes: Int32Array
    contents: AnyArray
    numbers: tokens.LineNumbers
    budget: MemoryBudget

    @classmethod
    def read(cls, path: FilePath, kind: str, max_bytes: int | None, *, progress: bool) -> "_Lines":
        """Read a file of a kind of `_LAYOUTS`."""
        numbers = tokens.LineNumbers(as_path(path))
        budget = MemoryBudget(as_path(path), max_bytes)
        columns = tokens.IdColumn(), tokens.IdColumn()
        codes: tuple[list[Int32Array], list[Int32Array]] = ([], [])
        labels = tokens.IdColumn()
        contents: list[AnyArray] = []
        blocks: Iterable[tuple[int, bytes]] = tokens.read_blocks(path, budget, progress=progress)
        layout = tokens.Layout(_LAYOUTS[kind])
        if kind == "id_map" and (head := tokens.FirstLine.of(blocks, as_path(path))) is not None:
            # SIDEKIT and its relatives write where a segment starts and stops, too.
            if len(head.text.split()) == 4:
                layout = tokens.Layout(f"{_LAYOUTS[kind]} start stop")
                text = "start and stop of the segments are left out: an IdMap has pairs of ids."
                warn_caller(f"{path}: {text}", BosarisWarning)
            blocks = itertools.chain([(head.number, head.text + b"\n" + head.rest)], blocks)
        for block in tokens.cut_blocks(blocks, layout, numbers):
            budget.claim(_BYTES_OF_LINE[kind] * len(block), "the lines")
            for number, column in enumerate(columns):
                codes[number].append(column.encode(block, number).astype(np.int32))
            if kind == "key":
                contents.append(_read_labels(block, labels))
            elif kind == "scores":
                contents.append(tokens.read_numbers(block, 2))
        if numbers.count == 0:
            warn_caller(f"{path}: there is no line in this file; was it cut off?", BosarisWarning)
        both = [np.concatenate([np.empty(0, dtype=np.int32), *parts]) for parts in codes]
        models, segments = (
            tokens.DecodedIds.of(columns[i], both[i], numbers, budget) for i in range(2)
        )
        empty: AnyArray = np.empty(0, dtype=np.float64 if kind == "scores" else np.bool_)
        all_contents = np.concatenate([empty, *contents])
        return cls(models, segments, both[0], both[1], all_contents, numbers, budget)

    def positions(self) -> Arrays:
        """Return the positions of model and segment of each line."""
        models, segments = self.models.rank[self.model_codes], self.segments.rank
        return {"models": models, "segments": segments[self.segment_codes]}

    def _cells(self, item_size: int) -> tuple[tuple[int, int], npt.NDArray[np.intp]]:
        """Return the shape of a matrix of all pairs, and the flat position of each line in it.

        The matrix is refused if its `item_size` bytes for each cell are too many.
        """
        rows, columns = self.models.names.size, self.segments.names.size
        what = f"a matrix of {rows} models x {columns} segments for {self.model_codes.size} trials"
        self.budget.claim(item_size * rows * columns, what)
        cells = self.models.rank[self.model_codes].astype(np.intp) * columns
        return (rows, columns), cells + self.segments.rank[self.segment_codes]

    def _order(self, models: Int32Array, segments: Int32Array) -> TrialOrder:
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

    def in_matrices(self, kind: str) -> Arrays:
        """Return the matrices of an `Ndx`, `Key` or `Scores`."""
        shape, cells = self._cells(1 if kind == "ndx" else 1 + self.contents.itemsize)
        mask = np.zeros(shape, dtype=np.bool_)
        mask.reshape(-1)[cells] = True
        if kind == "ndx":
            return {"trialmask": mask}
        if np.count_nonzero(mask) < cells.size:
            self._order(**self.positions())
        matrix = np.zeros(shape, dtype=self.contents.dtype)
        matrix.reshape(-1)[cells] = self.contents
        if kind == "scores":
            return {"scoremat": matrix, "scoremask": mask}
        # What is a trial and no target.
        return {"tar": matrix, "non": np.logical_xor(mask, matrix, out=mask)}

    def in_list(self, kind: str) -> Arrays:
        """Return positions, and contents in column-major order."""
        columns = self.positions()
        if kind == "flat_ndx":
            return columns
        order = self._order(**columns)
        columns[KINDS[kind].fields[-1]] = self.contents
        # Repeated lines are left for the object that will warn of them.
        if order.order is None or order.repeated.size:
            return columns
        return {name: column[order.order] for name, column in columns.items()}


def _read_labels(block: tokens.Block, labels: tokens.IdColumn) -> BoolArray:
    """Return which lines of a block are targets."""
    codes = labels.encode(block, 2)
    meanings = [_LABELS.get(label.lower()) for label in labels.ids]
    if None in meanings:
        unknown = [code for code, meaning in enumerate(meanings) if meaning is None]
        row = int(np.argmax(np.isin(codes, unknown)))
        label = block.token(row, 2)
        hint = "; are these scores?" if tokens.is_number(label) else ""
        raise block.error(
            row, f"the label must be target or nontarget, found {tokens.show(label)}{hint}"
        )
    return np.array(meanings, dtype=np.bool_)[codes]


def _describe(content: np.bool_ | float) -> str:
    """Return a label or a score as it is written."""
    if isinstance(content, np.bool_):
        return "target" if content else "nontarget"
    return repr(float(content))


def read(
    kind: str, path: FilePath, *, max_bytes: int | None = None, progress: bool = False
) -> Arrays:
    """Read the arrays of an object of a kind of `schema.KINDS`, in the order of the file."""
    with within_memory(path):
        if kind == "segment_quality":
            return _read_measures(path, max_bytes, progress=progress)
        lines = _Lines.read(path, kind.removeprefix("flat_"), max_bytes, progress=progress)
        models, segments = lines.models, lines.segments
        if kind == "id_map":
            left, right = models.in_order(lines.model_codes), segments.in_order(lines.segment_codes)
            return {"leftids": left, "rightids": right}
        arrays = lines.in_list(kind) if kind.startswith("flat_") else lines.in_matrices(kind)
        arrays = {name: mark_read_only(array) for name, array in arrays.items()}
        return {"modelset": models.names, "segset": segments.names, **arrays}


def _read_measures(path: FilePath, max_bytes: int | None, *, progress: bool) -> Arrays:
    """Read a `SegmentQuality` file."""
    budget = MemoryBudget(as_path(path), max_bytes)
    blocks = tokens.read_blocks(path, budget, progress=progress)
    head = tokens.FirstLine.of(blocks, as_path(path))
    if head is None:
        raise FileFormatError(f"{path}: empty; the first line must be the number of measures")
    digits = head.text.strip()
    if not digits.isdigit() or len(digits) > 9:
        text = f"the first line must be the number of measures, found {tokens.show(head.text)}"
        raise tokens.line_error(as_path(path), head.number, text)
    count = int(digits)
    names = " ".join(["id", *(f"measure{1 + row}" for row in range(min(count, 3)))])
    layout = tokens.Layout(f"{names} ..." if count > 3 else names, 1 + count)
    numbers = tokens.LineNumbers(as_path(path))
    column = tokens.IdColumn()
    codes = [np.empty(0, dtype=np.intp)]
    parts: list[Float64Array] = [np.empty((count, 0))]
    lines = itertools.chain([(head.number + 1, head.rest)], blocks)
    for block in tokens.cut_blocks(lines, layout, numbers):
        # What the first line says is believed only if the others say so too.
        if len(block):
            codes.append(column.encode(block, 0))
            budget.claim(16 * count * len(block), "the matrix of measures")
            measures = tokens.read_numbers(block, slice(1, None))
            parts.append(measures.reshape(len(block), count).T)
    all_codes = np.concatenate(codes)
    ids = tokens.DecodedIds.of(column, all_codes, numbers, budget)
    if len(column) < all_codes.size:
        _, first = np.unique(all_codes, return_index=True)
        again = int(np.setdiff1d(np.arange(all_codes.size), first)[0])
        name = column.ids[all_codes[again]]
        before = numbers[int(first[all_codes[again]])]
        raise numbers.error(again, f"the id {tokens.show(name)} was already in line {before}")
    return {"ids": ids.in_order(all_codes), "values": mark_read_only(np.concatenate(parts, axis=1))}


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

    None stands for the shortest text that reads back to the same float64; otherwise the ``%``
    operator is used, for instance ``"%f"`` as the toolkit does.
    """
    if number_format is None:
        return float.__repr__
    try:
        sample: Any = number_format % 1.5
        # What comes out is a number that readers take for the same: float() takes more.
        is_word = isinstance(sample, str) and abs(float(sample) - 1.5) <= 0.5
        is_word = is_word and _NUMBER.fullmatch(sample) is not None
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

    A file whose name ends in ``.gz`` is compressed, without a time stamp: the same text gives the
    same bytes.
    """
    compressed = as_path(path).suffix.lower() == ".gz"
    with atomic_write(path) as temporary, temporary.open("wb") as on_disk:
        target: Any = on_disk
        if compressed:
            target = gzip.GzipFile(filename="", mode="wb", fileobj=on_disk, mtime=0)
        try:
            with io.TextIOWrapper(target, encoding="utf-8", newline="\n") as stream:
                stream.writelines(parts)
                stream.flush()
        except UnicodeEncodeError as error:
            raise InvalidInputError(f"{path}: an id cannot be encoded as UTF-8: {error}") from error


def row_slices(count: int) -> Iterator[slice]:
    """Cut so many lines into parts that are written at once."""
    for begin in range(0, count, _LINES_AT_ONCE):
        yield slice(begin, min(begin + _LINES_AT_ONCE, count))


# Positions of models and segments, and labels or scores, of some trials.
_Trials = tuple[AnyArray, AnyArray, AnyArray | None]


def _in_matrix(mask: BoolArray, contents: AnyArray | None = None) -> Iterator[_Trials]:
    """Give the trials of a matrix in column-major order, some columns at a time."""
    step = max(1, _LINES_AT_ONCE // max(1, mask.shape[0]))
    for begin in range(0, mask.shape[1], step):
        part = np.ascontiguousarray(mask[:, begin : begin + step].T)
        segments, models = np.nonzero(part)
        values = None if contents is None else contents[:, begin : begin + step].T[part]
        yield models, segments + begin, values


def _trials_of(kind: str, arrays: Arrays, ids: Sequence[list[str]]) -> Iterable[_Trials]:
    """Give the trials of an object; refuse scores that are NaN, and trials of both labels."""
    if kind == "ndx":
        return _in_matrix(arrays["trialmask"])
    if kind == "key":
        tar, non = arrays["tar"], arrays["non"]
        if (tar & non).any():
            raise InvalidInputError("`tar` and `non` must be disjoint; some trials are in both")
        # All targets, then all non-targets, as the toolkit does.
        return itertools.chain(_in_matrix(tar, tar), _in_matrix(non, tar))
    if kind == "scores":
        scores, mask = arrays["scoremat"], arrays["scoremask"]
        columns, rows = np.nonzero((np.isnan(scores) & mask).T)
        if rows.size:
            first = zip(rows[:6].tolist(), columns[:6].tolist(), strict=True)
            pairs = list_some(f"({ids[0][row]}, {ids[1][column]})" for row, column in first)
            found = f"NaN for {rows.size} of {np.count_nonzero(mask)} trials: {pairs}"
            raise invalid("scoremat", "not hold NaN where the mask is true", found)
        return _in_matrix(mask, scores)
    models, segments = arrays["models"], arrays["segments"]
    contents: Any = None if kind == "flat_ndx" else arrays[KINDS[kind].fields[-1]]
    if kind == "flat_scores" and (bad := np.flatnonzero(np.isnan(contents))).size:
        found = f"NaN for {bad.size} of {contents.size} trials, the first at {bad[0]}"
        raise invalid("scores", "not hold NaN", found)
    return (
        (models[part], segments[part], None if contents is None else contents[part])
        for part in row_slices(models.size)
    )


_label = {True: "target", False: "nontarget"}.__getitem__


def _lines_of(
    parts: Iterable[_Trials], ids: Sequence[list[str]], form: Callable[[float], str]
) -> Iterator[str]:
    """Give the lines of trials; scores are turned into text by `form`."""
    for models, segments, contents in parts:
        columns = [map(ids[0].__getitem__, models.tolist())]
        columns.append(map(ids[1].__getitem__, segments.tolist()))
        if contents is not None:
            columns.append(map(_label if contents.dtype == np.bool_ else form, contents.tolist()))
        if models.size:
            yield "\n".join(map(" ".join, zip(*columns, strict=True))) + "\n"


def write(
    kind: str, path: FilePath, *, number_format: str | None = None, **arrays: AnyArray
) -> None:
    """Write an object, given by what `read` returns, replacing an existing file in one step.

    Ids without trials are not written. Infinite scores are, which the toolkit refuses.
    """
    check_fields(kind, arrays)
    fields, form = KINDS[kind].fields, formatter(number_format)
    ids = [words(arrays[name], name) for name in fields if FIELDS[name].content == "ids"]
    texts: Iterable[str]
    if kind == "id_map":
        texts = (f"{left} {right}\n" for left, right in zip(*ids, strict=True))
    elif kind == "segment_quality":
        values = arrays["values"]
        if np.isnan(values).any():
            found = f"NaN at {np.count_nonzero(np.isnan(values))} of {values.size} positions"
            raise invalid("values", "not hold NaN", found)
        rows = zip(ids[0], values.T.astype(np.float64), strict=True)
        lines = (" ".join([name, *map(form, row.tolist())]) + "\n" for name, row in rows)
        texts = itertools.chain([f"{len(values)}\n"], lines)
    else:
        texts = _lines_of(_trials_of(kind, arrays, ids), ids, form)
    write_parts(path, texts)
