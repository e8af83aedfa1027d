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
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from bosaris_py._arrays import mark_read_only
from bosaris_py._notes import Note
from bosaris_py._validation import FilePath, as_path, invalid, list_some
from bosaris_py.files.cells import Head, Numbers, file_parts, line_error, read_head
from bosaris_py.files.columns import NONTARGET, SPOOF, TARGET, factor_of_kinds, order_trials
from bosaris_py.files.formats import Format, FormatColumn, show
from bosaris_py.files.hdf5 import Arrays, note_of_times
from bosaris_py.files.text import (
    format_of_names,
    no_line,
    plan_of_names,
    read_columns,
    refuse_conflicts,
)
from bosaris_py.files.writing import Writer, formatter, named, rows_of, words, write_parts

_LAYOUTS = {
    "ndx": "model segment",
    "key": "model segment label",
    "scores": "model segment score",
    "id_map": "model segment",
}
_KEY_WORDS = (dict(zip(("target", "nontarget", "spoof"), (TARGET, NONTARGET, SPOOF), strict=True)),)
# How the lists of ids are called.
_IDS = ("set", "ids")


def read(
    kind: str, path: FilePath, *, max_bytes: int | None = None, progress: bool = False
) -> tuple[Arrays, list[Note]]:
    """Read the arrays of an object of a kind of `layout.KINDS` from the toolkit's text file.

    Models and segments are sorted by character code; ids without any trial are not in the file.
    """
    file, notes = as_path(path), list[Note]()
    parts = file_parts(file, notes, progress=progress)
    head = read_head(parts)
    if kind == "segment_quality":
        return _read_measures(file, head, parts, max_bytes), notes
    names = _LAYOUTS[kind].split()
    if head is None:
        notes.append(no_line(file))
        head = Head(1, [b""], b"")
    if kind == "id_map" and len(head.lines[0].split()) == 4:
        # SIDEKIT and its relatives write where a segment starts and stops, too.
        notes.append(note_of_times(file))
        names += ["-", "-"]
    plan = plan_of_names(format_of_names(names), names)
    # A score may be NaN; what takes it, says so.
    found = read_columns(file, head, parts, plan, _KEY_WORDS, ["nan"], max_bytes=max_bytes)
    if kind == "id_map":
        sides = zip(("leftids", "rightids"), ("model", "segment"), strict=True)
        return {name: found.ids[side].values().values() for name, side in sides}, notes
    table = found.table("keep")
    models, segments = table.models, table.segments
    order = order_trials(models.codes, segments.codes, models.levels.size)
    arrays: Arrays = {"modelset": models.levels, "segset": segments.levels}
    arrays |= {"models": models.codes, "segments": segments.codes}
    if found.classes is not None and table.is_target is not None:
        # Labels of three kinds, in words.
        kinds = factor_of_kinds(found.classes)
        refuse_conflicts(file, table, order, {"label": kinds})
        is_spoof = found.classes == SPOOF
        arrays["is_target"] = kinds.values() if is_spoof.any() else table.is_target
    if table.scores is not None:
        refuse_conflicts(file, table, order, {"score": table.scores})
        arrays["scores"] = table.scores
    return arrays, notes


def _read_measures(
    path: Path, head: Head | None, parts: Iterable[tuple[int, bytes]], max_bytes: int | None
) -> Arrays:
    """Read a `SegmentQuality` file."""
    head = head or Head(1, [b""], b"")
    digits = head.lines[0].strip()
    if not digits.isdigit() or len(digits) > 4:
        text = f"the first line must be the number of measures, found {show(digits)}"
        raise line_error(path, head.number, text)
    # What the first line says is believed only if the others say so too.
    count = int(digits)
    first = head.lines[1] if len(head.lines) > 1 else None
    if first is not None and len(first.split()) != 1 + count:
        text = f"expected {1 + count} columns (id and measures), found {len(first.split())}"
        raise line_error(path, head.number + 1, f"{text}: {show(first)}")
    names = [f"measure{number}" for number in range(1, 1 + count)]
    columns = (FormatColumn("segment"), *(FormatColumn(name, is_number=True) for name in names))
    plan = plan_of_names(Format("toolkit", columns), ["segment", *names], skips_first_line=True)
    found = read_columns(path, head, parts, plan, (), max_bytes=max_bytes)
    ids = found.ids["segment"].values()
    _, first_at = np.unique(ids.codes, return_index=True)
    if again := [*np.setdiff1d(np.arange(len(ids)), first_at)[:1].tolist()]:
        before = found.lines[np.argmax(ids.codes == ids.codes[again[0]])]
        text = f"the id {ids.levels[ids.codes[again[0]]]!r} was already in line {before}"
        raise line_error(path, int(found.lines[again[0]]), text)
    rows = [each.values() for each in found.extra.values() if isinstance(each, Numbers)]
    values = np.array(rows).reshape(count, len(ids))
    return {"ids": ids.values(), "values": mark_read_only(values)}


def write(path: FilePath, arrays: Arrays, *, number_format: str | None = None) -> None:
    """Write an object, given by what `read` returns, as the toolkit does.

    Ids without trials are not written. Infinite scores are, which the toolkit refuses.
    """
    form, spelled = formatter(number_format), {True: "target", False: "nontarget"}
    ids = {name: words(array, name) for name, array in arrays.items() if name.endswith(_IDS)}
    for name in {"scores", "values"} & arrays.keys():
        is_nan = np.isnan(arrays[name])
        if is_nan.any():
            places = [f"({', '.join(map(str, at))})" for at in np.argwhere(is_nan)[:6].tolist()]
            found = f"NaN at {np.count_nonzero(is_nan)} places: {list_some(places)}"
            raise invalid(name, "not hold NaN", found)
    texts: Iterable[str]
    if "leftids" in ids:
        texts = (f"{left} {right}\n" for left, right in zip(*ids.values(), strict=True))
    elif "values" in arrays:
        values = arrays["values"]
        rows = zip(ids["ids"], values.T.astype(np.float64), strict=True)
        lines = (" ".join([name, *map(form, row.tolist())]) + "\n" for name, row in rows)
        texts = itertools.chain([f"{len(values)}\n"], lines)
    else:
        sides = (("modelset", "models"), ("segset", "segments"))
        columns: list[Writer] = [named(ids[side], arrays[name]) for side, name in sides]
        if "scores" in arrays:
            columns.append(lambda part: map(form, arrays["scores"][part].tolist()))
        if "is_target" in arrays:
            columns.append(
                lambda part: [spelled.get(x, x) for x in arrays["is_target"][part].tolist()]
            )
        texts = rows_of(columns, arrays["models"].size)
    write_parts(path, texts)
