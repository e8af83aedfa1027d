"""The toolkit's own text files.

================  ==========================================================
object            columns
================  ==========================================================
`Ndx`             model, segment
`Key`             model, segment, ``target`` or ``nontarget``
`Scores`          model, segment, score
`IdMap`           left id, right id
`SegmentQuality`  id, measures; the number of measures is in the first line
================  ==========================================================

The toolkit differs in three points. It takes every label but ``target`` as a non-target; here
another label is an error. Of a repeated trial it takes the last line; here the lines must agree. A
cell without a line has the score +Inf there, which leaks into merged scores; here it has score 0
and a false mask.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from bosaris_py._arrays import AnyArray, mark_read_only
from bosaris_py._notes import warn_caller
from bosaris_py._validation import FilePath, as_path, invalid, list_some
from bosaris_py.errors import BosarisWarning, FileFormatError
from bosaris_py.files.cells import file_parts, line_error
from bosaris_py.files.columns import Factor, order_trials
from bosaris_py.files.formats import Format, FormatColumn, show
from bosaris_py.files.labels import KIND, NONTARGET, SPOOF, TARGET
from bosaris_py.files.layout import FIELDS, KINDS, Arrays
from bosaris_py.files.text import Head, Plan, Table, read_columns
from bosaris_py.files.writing import Writer, formatter, named, rows_of, words, write_parts

_LABEL = {True: "target", False: "nontarget"}
_KEY_WORDS = ({"target": TARGET, "nontarget": NONTARGET, "spoof": SPOOF},)
_LAYOUTS = {
    "ndx": "model segment",
    "key": "model segment label",
    "scores": "model segment score",
    "id_map": "left right",
}


def read(
    kind: str, path: FilePath, *, max_bytes: int | None = None, progress: bool = False
) -> Arrays:
    """Read the arrays of an object of a kind of `layout.KINDS` from the toolkit's text file.

    Models and segments are sorted by character code; ids without any trial are not in the file.
    """
    file = as_path(path)
    parts = file_parts(file, progress=progress)
    head = Head.of(parts, file)
    if kind == "segment_quality":
        return _read_measures(file, head, parts, max_bytes)
    layout = _LAYOUTS[kind]
    if head is None:
        warn_caller(f"{file}: there is no line in this file; was it cut off?", BosarisWarning)
        head = Head(1, [b""], b"")
    elif kind == "id_map" and len(head.lines[0].split()) == 4:
        # SIDEKIT and its relatives write where a segment starts and stops, too.
        text = "start and stop of the segments are left out: an IdMap has pairs of ids."
        warn_caller(f"{file}: {text}", BosarisWarning)
        layout += " - -"
    named = tuple(map(FormatColumn, layout.split()))
    plan = Plan.of_names(Format("toolkit", layout, named), layout.split())
    # A score may be NaN; what takes it, says so.
    found = read_columns(file, head, parts, plan, _KEY_WORDS, ["nan"], max_bytes=max_bytes)
    if kind == "id_map":
        sides = (found.extra[side].factor() for side in ("left", "right"))
        return dict(zip(("leftids", "rightids"), (side.values() for side in sides), strict=True))
    table = found.table("keep")
    ids = {"modelset": table.models.levels, "segset": table.segments.levels}
    contents: AnyArray | None = table.is_target if "label" in layout else table.scores
    _refuse_conflicts(file, table, contents)
    kinds = table.columns.get(KIND)
    if isinstance(kinds, Factor):
        # Labels of three kinds, in words.
        contents = kinds.values()
    arrays: Arrays = {"models": table.models.codes, "segments": table.segments.codes}
    if contents is not None:
        arrays[KINDS[f"flat_{kind}"].fields[-1]] = contents
    return {**ids, **{name: mark_read_only(array) for name, array in arrays.items()}}


def _refuse_conflicts(path: Path, table: Table, contents: AnyArray | None) -> None:
    """Raise if a trial is listed again with another label or score."""
    if contents is None:
        return
    models, segments = table.models, table.segments
    order = order_trials(models.codes, segments.codes, models.levels.size)
    bad = np.flatnonzero(order.conflicts(contents))
    if bad.size:
        worst = bad[np.argmin(order.repeated[bad])]
        first, second = int(order.first[worst]), int(order.repeated[worst])
        texts = [
            _LABEL[bool(value)] if contents.dtype == np.bool_ else repr(float(value))
            for value in contents[[first, second]]
        ]
        name = models.levels[models.codes[first]], segments.levels[segments.codes[first]]
        before = f"{texts[0]} in line {table.line_number(first)}"
        text = f"trial {name[0]} {name[1]} is {texts[1]} here and {before}"
        raise line_error(path, table.line_number(second), text)


def _read_measures(
    path: Path, head: Head | None, parts: Iterable[tuple[int, bytes]], max_bytes: int | None
) -> Arrays:
    """Read a `SegmentQuality` file."""
    if head is None:
        raise FileFormatError(f"{path}: empty; the first line must be the number of measures")
    digits = head.lines[0].strip()
    if not digits.isdigit() or len(digits) > 4:
        text = f"the first line must be the number of measures, found {show(digits)}"
        raise line_error(path, head.number, text)
    # What the first line says is believed only if the others say so too.
    width = len(head.lines[1].split()) if len(head.lines) > 1 else 1 + int(digits)
    count = int(digits)
    if width != 1 + count:
        text = f"expected {1 + count} columns (id and measures), found {width}"
        raise line_error(path, head.number + 1, f"{text}: {show(head.lines[1])}")
    names = ["id", *(f"measure{number}" for number in range(1, 1 + count))]
    columns = (FormatColumn("id"), *(FormatColumn(name, is_number=True) for name in names[1:]))
    plan = Plan.of_names(Format("toolkit", "", columns), names, skips_first_line=True)
    found = read_columns(path, head, parts, plan, (), max_bytes=max_bytes)
    ids = found.extra["id"].factor()
    _, first = np.unique(ids.codes, return_index=True)
    if first.size < len(ids):
        again = int(np.setdiff1d(np.arange(len(ids)), first)[0])
        lines = Table(ids, ids, lines=found.lines)
        before = lines.line_number(int(np.argmax(ids.codes == ids.codes[again])))
        text = f"the id {ids.levels[ids.codes[again]]!r} was already in line {before}"
        raise line_error(path, lines.line_number(again), text)
    values = [found.extra[name].values() for name in names[1:]]
    matrix = np.array(values).reshape(count, len(ids))
    return {"ids": ids.values(), "values": mark_read_only(matrix)}


def write(kind: str, path: FilePath, arrays: Arrays, *, number_format: str | None = None) -> None:
    """Write an object, given by what `read` returns, replacing an existing file in one step.

    Ids without trials are not written. Infinite scores are, which the toolkit refuses.
    """
    form = formatter(number_format)
    fields = KINDS[kind].fields
    ids = [words(arrays[name], name) for name in fields if FIELDS[name].content == "ids"]
    texts: Iterable[str]
    name = next((name for name in fields if FIELDS[name].content == "numbers"), None)
    if name is not None:
        is_nan = np.isnan(arrays[name])
        if is_nan.any():
            places = [f"({', '.join(map(str, at))})" for at in np.argwhere(is_nan)[:6].tolist()]
            found = f"NaN at {np.count_nonzero(is_nan)} places: {list_some(places)}"
            raise invalid(name, "not hold NaN", found)
    if kind == "id_map":
        texts = (f"{left} {right}\n" for left, right in zip(*ids, strict=True))
    elif kind == "segment_quality":
        values = arrays["values"]
        rows = zip(ids[0], values.T.astype(np.float64), strict=True)
        lines = (" ".join([name, *map(form, row.tolist())]) + "\n" for name, row in rows)
        texts = itertools.chain([f"{len(values)}\n"], lines)
    else:
        sides = [named(ids[0], arrays["models"]), named(ids[1], arrays["segments"])]
        if kind != "flat_ndx":
            sides.append(_contents(arrays[fields[-1]], form))
        texts = rows_of(sides, arrays["models"].size)
    write_parts(path, texts)


def _contents(contents: AnyArray, form: Callable[[float], str]) -> Writer:
    """Return the function that gives labels or scores as texts."""
    spell: Any = _LABEL.__getitem__ if contents.dtype == np.bool_ else form
    if contents.dtype.kind == "U":
        spell = str
    return lambda part: map(spell, contents[part].tolist())
