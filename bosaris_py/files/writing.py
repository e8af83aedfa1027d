"""Write trials in any of the text formats; write and read the toolkit's own text files.

================  ==========================================================
object            columns of the toolkit's file
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

import contextlib
import gzip
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import AnyArray, FilePath, mark_read_only
from bosaris_py.files import formats, text
from bosaris_py.files.columns import KIND, TARGET, Factor, Table, are_kinds, order_trials
from bosaris_py.files.detection import line_error
from bosaris_py.files.formats import ROLES, Format, find_format
from bosaris_py.files.hdf5 import Arrays, note_of_times
from bosaris_py.files.replacing import replacing

# Lines that are written at once.
LINES_AT_ONCE = 2**16

# What a column between blanks can hold. A file starts with a byte order mark or not; an id that
# does so would lose it.
_WORD = re.compile("(?!\ufeff)[^\\s\0-\x1f\ud800-\udfff]+")

# The role of each column, or None, and its name.
Columns = list[tuple[str | None, str]]
# Gives the texts of some lines of a column.
Writer = Callable[[slice], Iterable[str]]


def write_table(
    path: FilePath, table: Table, format: str, *, number_format: str | None = None
) -> None:
    """Write trials in one of the text formats, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file; compressed if its name ends in ``.gz``.
    table : Table
        The lines. What the format has no place for is not written.
    format : str
        Name of the format, one of ``FORMATS``. Of the layouts of a format the one with most
        columns is written for which the table has everything.
    number_format : str, optional
        How a number is written, for instance ``"%.5f"``. By default with as many digits as are
        needed to read the same number back.

    Warns
    -----
    BosarisWarning
        If the format has no place for labels, scores or columns.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bosaris_py.files.columns import Factor, Table
    >>> from bosaris_py.files.writing import write_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.tsv"
    >>> ids = Factor.from_values(["anna", "bert"]), Factor.from_values(["s1", "s1"])
    >>> write_table(path, Table(*ids, scores=np.array([2.5, -1.0])), "nist")
    >>> print(path.read_text().expandtabs(10), end="")
    modelid   segmentid LLR
    anna      s1        2.5
    bert      s1        -1.0
    """
    chosen, spell = find_format(format), _speller(number_format)
    held = {"model", "segment", "-", *table.columns}
    held |= {"label"} if table.is_target is not None else set()
    held |= {"score"} if table.scores is not None else set()
    # The layout with most columns that the table has; the first says what is needed.
    layouts = [chosen.required] if chosen.header else chosen.variants
    names = next((v for v in reversed(layouts) if held.issuperset(v)), layouts[0])
    if lacking := [name for name in names if name not in held]:
        expected = f"have what {chosen.name} needs ({', '.join(lacking)})"
        raise check.invalid("table", expected, repr(table))
    columns: Columns = [(name if name in ROLES else None, name) for name in names]
    first_line = f"{chosen.first_line}\n" if chosen.first_line else ""
    if chosen.header:
        columns = _header_columns(table, chosen, held)
        words = _words([name for _, name in columns], "columns", chosen.separator)
        first_line = chosen.separator.join(words) + "\n"
    if chosen.same is not None and table.is_target is not None:
        both = [table.models if name == "model" else table.columns[name] for name in chosen.same]
        texts = [column.values() for column in both if isinstance(column, Factor)]
        if ((texts[0] == texts[1]) != table.is_target).any():
            expected = f"have targets exactly where {' and '.join(chosen.same)} are equal"
            raise check.invalid("table", expected, "other labels")
    written = [_texts_of(table, chosen, role, name, spell) for role, name in columns]
    lines = _rows_of(written, len(table), chosen.separator)
    if chosen.last_optional:
        lines = ("".join(f"{line.rstrip()}\n" for line in part.splitlines()) for part in lines)
    _write_parts(path, itertools.chain([first_line], lines))
    has = {role or name for role, name in columns} | ({"label"} if chosen.same else set())
    roles = {"label": table.is_target is not None, "score": table.scores is not None}
    roles["model"] = "segment" in has and table.models.levels.size > 1
    rest = [f"{role}s" for role, is_held in roles.items() if is_held and role not in has]
    warn_of_rest(path, [*rest, *(n for n in table.columns if n not in {*has, "label", KIND})])


def warn_of_rest(path: FilePath, names: Sequence[str]) -> None:
    """Warn of what a file has no place for."""
    text = f"{path}: {check.list_some(names)} left out: .csv has a place for them"
    errors.warn([errors.Note(errors.BosarisWarning, text)] * bool(names))


def write_toolkit(path: FilePath, arrays: Arrays, *, number_format: str | None = None) -> None:
    """Write an object, given by what `read_toolkit` returns, as the toolkit does.

    Ids without trials are not written. Infinite scores are, which the toolkit refuses.
    """
    for name in {"scores", "values"} & arrays.keys():
        if n_nan := np.count_nonzero(np.isnan(arrays[name])):
            raise check.invalid(name, "not hold NaN", f"NaN at {n_nan} places")
    if "values" in arrays:
        spell, ids = _speller(number_format), _words(arrays["ids"], "ids")
        rows = zip(ids, arrays["values"].T.tolist(), strict=True)
        lines = (" ".join([name, *map(spell, row)]) + "\n" for name, row in rows)
        _write_parts(path, itertools.chain([f"{len(arrays['values'])}\n"], lines))
        return
    if "leftids" in arrays:
        models, segments = map(Factor.from_values, (arrays["leftids"], arrays["rightids"]))
    else:
        models = Factor.unchecked(arrays["models"], arrays["modelset"])
        segments = Factor.unchecked(arrays["segments"], arrays["segset"])
    labels, columns = arrays.get("is_target"), {}
    if labels is not None and labels.dtype != np.bool_:
        columns, labels = {"label": Factor.from_values(labels)}, labels == "target"
    table = Table(models, segments, labels, arrays.get("scores"), columns)
    format = "kaldi-scores" if "scores" in arrays else "kaldi-trials"
    write_table(path, table, format, number_format=number_format)


def read_toolkit(
    kind: str, path: FilePath, *, max_bytes: int | None = None, progress: bool = False
) -> tuple[Arrays, list[errors.Note]]:
    """Read the arrays of an object of a kind of `hdf5.KINDS` from the toolkit's text file.

    Models and segments are sorted by character code; ids without any trial are not in the file.
    """
    file = check.as_path(path)
    if kind == "segment_quality":
        return _read_measures(file, max_bytes, progress=progress)
    columns = "model segment" + {"key": " label", "scores": " score"}.get(kind, "")
    if kind == "id_map":
        head = text.read_head(text.file_parts(file, []))
        # SIDEKIT and its relatives write where a segment starts and stops, too.
        columns += " start stop" * (head is not None and len(head.lines[0].split()) == 4)
    labels: dict[str, bool | str | None] = {"target": True, "nontarget": False, "spoof": "spoof"}
    meanings = labels if kind == "key" else None
    # A score may be NaN; what takes it, says so.
    table = text.read_table(
        file, None, columns, meanings, "keep", "nan", max_bytes=max_bytes, progress=progress
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
    contents: AnyArray | None = table.is_target if kind == "key" else table.scores
    if are_kinds(kinds := table.columns.get(KIND)):
        contents = kinds.values()
    if kind != "ndx":
        name, role = ("is_target", "label") if kind == "key" else ("scores", "score")
        none: AnyArray = np.empty(0, np.bool_ if kind == "key" else np.float64)
        arrays[name] = none if contents is None else contents
        order = order_trials(models.codes, segments.codes, models.levels.size)
        text.refuse_conflicts(file, table, order, {role: arrays[name]})
    return arrays, notes


def _read_measures(
    path: Path, max_bytes: int | None, *, progress: bool
) -> tuple[Arrays, list[errors.Note]]:
    """Read a `SegmentQuality` file."""
    notes: list[errors.Note] = []
    parts = text.file_parts(path, notes, progress=progress)
    head = text.read_head(parts) or text.Head(1, [b""], b"")
    digits = head.lines[0].strip()
    if not digits.isdigit() or len(digits) > 4:
        fault = f"the first line must be the number of measures, found {formats.show(digits)}"
        raise line_error(path, head.number, fault)
    names = [f"measure{number}" for number in range(1, 1 + int(digits))]
    columns = [formats.FormatColumn(name, is_number=True) for name in names]
    format = Format("toolkit", (formats.FormatColumn("segment"), *columns))
    plan = formats.plan_of_names(format, ["segment", *names], skips_first_line=True)
    found = text.read_columns(path, head, parts, plan, (), max_bytes=max_bytes)
    ids = found.ids["segment"].values().values()
    rows: AnyArray = np.array([each.values() for each in found.extra.values()], np.float64)
    return {"ids": ids, "values": mark_read_only(rows.reshape(len(names), ids.size))}, notes


# Lines of columns.


def _speller(number_format: str | None) -> Callable[[float], str]:
    """Return the function that turns a score into text.

    None stands for the shortest text that reads back to the same float64; otherwise the ``%``
    operator is used, for instance ``"%f"`` as the toolkit does.
    """
    if number_format is None:
        return float.__repr__
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        # A whole number, such as "%d" makes, has no infinity.
        if abs(float(number_format % 1.5) - 1.5) <= 0.5 and number_format % np.inf:
            return number_format.__mod__
    expected = 'format one number with %, for instance "%f" or "%.9g"'
    raise check.invalid("number_format", expected, repr(number_format))


def _write_parts(path: FilePath, parts: Iterable[str]) -> None:
    """Write a text that comes in parts; compressed, without a time stamp, into a file ``.gz``."""
    with replacing(path) as temporary, temporary.open("wb") as on_disk:
        encoded = (part.encode() for part in parts)
        if check.as_path(path).suffix.lower() == ".gz":
            with gzip.GzipFile(filename="", mode="wb", fileobj=on_disk, mtime=0) as stream:
                stream.writelines(encoded)
        else:
            on_disk.writelines(encoded)


def _rows_of(columns: Sequence[Writer], count: int, separator: str) -> Iterator[str]:
    """Give so many lines, some at a time."""
    for begin in range(0, count, LINES_AT_ONCE):
        part = slice(begin, min(begin + LINES_AT_ONCE, count))
        yield "\n".join(map(separator.join, zip(*(c(part) for c in columns), strict=True))) + "\n"


def _words(texts: Iterable[str], name: str, separator: str = " ") -> list[str]:
    """Return texts as a list, refusing those that a column of a file cannot hold."""
    words = list(map(str, texts))
    if separator == " ":
        bad = [x for x in words if not _WORD.fullmatch(x) or len(x) > text.LONGEST_ID]
    else:
        bad = [x for x in words if {separator, '"'} & {*x} or x.strip() != x or not x.isprintable()]
    if bad:
        expected = "hold words without blanks, separators, quotes and marks; save others as .h5"
        got = f"{len(bad)} others ({check.list_some(map(repr, bad))})"
        raise check.invalid(name, expected, got)
    return words


def _named(names: list[str], codes: AnyArray) -> Writer:
    """Return the function that gives the names of codes."""
    return lambda part: map(names.__getitem__, codes[part].tolist())


def _header_columns(table: Table, format: Format, held: set[str]) -> Columns:
    """Return the columns of a file with a header: those of the format first, then the others."""
    known: Columns = [
        (c.name, c.header[0]) if c.header else (None, c.name)
        for c in format.columns
        if c.name in held
    ]
    roles = [role for role, _ in known]
    taken = {name for role, name in known if role is None} | ({"side"} & {*roles})
    # A factor of labels is written as the labels, if these can say the same.
    if ("label", "label") in known or ("label" in roles and _spelled_labels(table, format)):
        taken.add("label")
    columns = [*known, *((None, name) for name in table.columns if name not in taken)]
    names = [name for _, name in columns]
    if repeated := [*check.repetitions(names), *(name for name in names if not name)]:
        found = f"{check.list_some(map(repr, repeated))} again, or without a name"
        raise check.invalid("columns", "name each column once", found)
    return columns


def _texts_of(
    table: Table, format: Format, role: str | None, name: str, spell: Callable[[float], str]
) -> Writer:
    """Return the function that gives a column as texts."""
    if role == "label":
        own = _spelled_labels(table, format)
        if own is not None:
            return _named(own.levels.tolist(), own.codes)
        # The first set of words, and of a detector of spoofs what is no target.
        target, other, *more = format.vocabularies[0]
        classes = np.asarray(table.is_target).astype(np.intp)
        if are_kinds(kinds := table.columns.get(KIND)):
            is_spoof = kinds.values() == "spoof"
            if is_spoof.any() and not more:
                found = f"{np.count_nonzero(is_spoof)} spoofs"
                expected = f"have no spoofs to be written as {format.name}"
                raise check.invalid("table", expected, found, spoof="drop")
            classes[is_spoof] = 2
        return _named([other, target, *more], classes)
    if role is None and name == "-":
        return lambda part: ["-"] * (part.stop - part.start)
    columns = {"model": table.models, "segment": table.segments, "score": table.scores}
    column = columns.get(str(role), table.columns.get("side" if role else name))
    argument = f"{role}s" if role in columns else f"columns[{name!r}]"
    if isinstance(column, Factor):
        return _named(_words(column.levels, argument, format.separator), column.codes)
    numbers = np.asarray(column, np.float64)
    is_missing = np.isnan(numbers)
    if is_missing.any() and not (format.missing or (format.last_optional and role == "score")):
        found = f"{np.count_nonzero(is_missing)} missing of {numbers.size}"
        raise check.invalid(argument, f"be complete to be written as {format.name}", found)
    texts = (lambda x: spell(x) if x == x else format.missing) if is_missing.any() else spell
    return lambda part: map(texts, numbers[part].tolist())


def _spelled_labels(table: Table, format: Format) -> Factor | None:
    """Return the labels in the words of the table, if the format has these in the same sense."""
    own = table.columns.get("label")
    if not isinstance(own, Factor) or table.is_target is None:
        return None
    for known in format.vocabularies:
        levels = [known.get(level) for level in own.levels.tolist()]
        is_target = np.array([level == TARGET for level in levels], np.bool_)[own.codes]
        if None not in levels and np.array_equal(is_target, table.is_target):
            return own
    return None
