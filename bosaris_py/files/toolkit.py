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
from pathlib import Path

import numpy as np

from bosaris_py._arrays import mark_read_only
from bosaris_py._notes import Note
from bosaris_py._validation import FilePath, as_path, invalid
from bosaris_py.files import text, writing
from bosaris_py.files.columns import KIND, Factor, are_kinds, order_trials
from bosaris_py.files.detection import line_error
from bosaris_py.files.formats import Format, FormatColumn, plan_of_names, show
from bosaris_py.files.hdf5 import Arrays, note_of_times

_COLUMNS = {
    "ndx": "model segment",
    "key": "model segment label",
    "scores": "model segment score",
    "id_map": "model segment",
}
_LABELS: dict[str, bool | str | None] = {"target": True, "nontarget": False, "spoof": "spoof"}
# How the lists of ids are called.
_IDS = ("set", "ids")


def read(
    kind: str, path: FilePath, *, max_bytes: int | None = None, progress: bool = False
) -> tuple[Arrays, list[Note]]:
    """Read the arrays of an object of a kind of `hdf5.KINDS` from the toolkit's text file.

    Models and segments are sorted by character code; ids without any trial are not in the file.
    """
    file = as_path(path)
    if kind == "segment_quality":
        return _read_measures(file, max_bytes, progress=progress)
    columns = _COLUMNS[kind]
    if kind == "id_map":
        head = text.read_head(text.file_parts(file, []))
        # SIDEKIT and its relatives write where a segment starts and stops, too.
        columns += " start stop" * (head is not None and len(head.lines[0].split()) == 4)
    # A score may be NaN; what takes it, says so.
    table = text.read_table(
        file,
        columns=columns,
        labels=_LABELS if kind == "key" else None,
        spoof="keep",
        missing="nan",
        max_bytes=max_bytes,
        progress=progress,
    )
    models, segments, notes = table.models, table.segments, [*table.notes]
    if kind == "id_map":
        times = (each.levels.tolist() for each in table.columns.values() if type(each) is Factor)
        # There -1 says that it is not known.
        if {"-1"}.union(*times) > {"-1"}:
            notes.append(note_of_times(file))
        return {"leftids": models.values(), "rightids": segments.values()}, notes
    arrays: Arrays = {"modelset": models.levels, "segset": segments.levels}
    arrays |= {"models": models.codes, "segments": segments.codes}
    order = order_trials(models.codes, segments.codes, models.levels.size)
    kinds, scores = table.columns.get(KIND), table.scores
    if kind == "key":
        arrays["is_target"] = np.empty(0, np.bool_)
    if kind == "scores":
        arrays["scores"] = np.empty(0) if scores is None else scores
        text.refuse_conflicts(file, table, order, {"score": arrays["scores"]})
    if are_kinds(kinds):
        text.refuse_conflicts(file, table, order, {"label": kinds})
        words = kinds.values()
        arrays["is_target"] = words if "spoof" in words else words == "target"
    return arrays, notes


def _read_measures(
    path: Path, max_bytes: int | None, *, progress: bool
) -> tuple[Arrays, list[Note]]:
    """Read a `SegmentQuality` file."""
    notes: list[Note] = []
    parts = text.file_parts(path, notes, progress=progress)
    head = text.read_head(parts) or text.Head(1, [b""], b"")
    digits = head.lines[0].strip()
    if not digits.isdigit() or len(digits) > 4:
        fault = f"the first line must be the number of measures, found {show(digits)}"
        raise line_error(path, head.number, fault)
    names = [f"measure{number}" for number in range(1, 1 + int(digits))]
    columns = (FormatColumn("segment"), *(FormatColumn(name, is_number=True) for name in names))
    format = Format("toolkit", columns)
    plan = plan_of_names(format, ["segment", *names], skips_first_line=True)
    found = text.read_columns(path, head, parts, plan, (), max_bytes=max_bytes)
    ids = found.ids["segment"].values().values()
    rows = [each.values() for each in found.extra.values() if isinstance(each, text.Numbers)]
    return {"ids": ids, "values": mark_read_only(np.reshape(rows, (len(names), ids.size)))}, notes


def write(path: FilePath, arrays: Arrays, *, number_format: str | None = None) -> None:
    """Write an object, given by what `read` returns, as the toolkit does.

    Ids without trials are not written. Infinite scores are, which the toolkit refuses.
    """
    form = writing.formatter(number_format)
    ids = {name: writing.words(x, name) for name, x in arrays.items() if name.endswith(_IDS)}
    for name in {"scores", "values"} & arrays.keys():
        if n_nan := np.count_nonzero(np.isnan(arrays[name])):
            raise invalid(name, "not hold NaN", f"NaN at {n_nan} places")
    if "values" in arrays:
        rows = zip(ids["ids"], arrays["values"].T.tolist(), strict=True)
        lines = (" ".join([name, *map(form, row)]) + "\n" for name, row in rows)
        writing.write_parts(path, itertools.chain([f"{len(arrays['values'])}\n"], lines))
        return
    places = [arrays[name] for name in ("models", "segments") if name in arrays]
    # Pairs of ids are in their order.
    places = places or [np.arange(len(each)) for each in ids.values()]
    columns = [*map(writing.named, ids.values(), places)]
    if "scores" in arrays:
        columns.append(lambda part: map(form, arrays["scores"][part].tolist()))
    labels = arrays.get("is_target")
    if labels is not None and labels.dtype == np.bool_:
        columns.append(writing.named(["nontarget", "target"], labels))
    elif labels is not None:
        columns.append(lambda part: labels[part].tolist())
    writing.write_parts(path, writing.rows_of(columns, places[0].size))
