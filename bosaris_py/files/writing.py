"""Write trials in any of the text formats."""

from __future__ import annotations

import gzip
import io
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray
from bosaris_py._validation import (
    FilePath,
    as_ids,
    as_path,
    describe,
    invalid,
    list_some,
    repetitions,
)
from bosaris_py.errors import InvalidInputError
from bosaris_py.files.cells import LONGEST_ID
from bosaris_py.files.columns import Factor
from bosaris_py.files.formats import ROLES, Format, find_format
from bosaris_py.files.labels import TARGET
from bosaris_py.files.replacing import replacing
from bosaris_py.files.text import Table

# Lines that are written at once.
LINES_AT_ONCE = 2**16

# A file starts with a byte order mark or not; an id that does so would lose it.
_UNPRINTABLE = re.compile("[\x00-\x1f]|^\ufeff")
# A number as a format writes it, with blanks to fill a width.
_NUMBER = re.compile(r" *[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)? *")

# Gives the texts of some lines of a column.
Writer = Callable[[slice], Iterable[str]]


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
    with replacing(path) as temporary, temporary.open("wb") as on_disk:
        target: Any = on_disk
        if as_path(path).suffix.lower() == ".gz":
            target = gzip.GzipFile(filename="", mode="wb", fileobj=on_disk, mtime=0)
        try:
            with io.TextIOWrapper(target, encoding="utf-8", newline="\n") as stream:
                stream.writelines(parts)
                stream.flush()
        except UnicodeEncodeError as error:
            raise InvalidInputError(f"{path}: an id cannot be encoded as UTF-8: {error}") from error


def rows_of(columns: Sequence[Writer], count: int, separator: str = " ") -> Iterator[str]:
    """Give so many lines, some at a time."""
    for begin in range(0, count, LINES_AT_ONCE):
        part = slice(begin, min(begin + LINES_AT_ONCE, count))
        yield "\n".join(map(separator.join, zip(*(c(part) for c in columns), strict=True))) + "\n"


def named(names: list[str], codes: AnyArray) -> Writer:
    """Return the function that gives the names of codes."""
    return lambda part: map(names.__getitem__, codes[part].tolist())


def write_table(
    path: FilePath,
    table: Table,
    format: str,
    *,
    columns: Mapping[str, str] | None = None,
    number_format: str | None = None,
) -> None:
    """Write trials in one of the text formats, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file; compressed if its name ends in ``.gz``.
    table : Table
        The lines. What the format has no place for is not written.
    format : str
        Name of the format, one of `formats.FORMATS`. Of the layouts of a format the one with most
        columns is written for which the table has everything.
    columns : mapping of str to str, optional
        For formats with a header, other names than the usual ones, for instance ``{"model":
        "imageid"}``.
    number_format : str, optional
        How a number is written, for instance ``"%.5f"``. By default with as many digits as are
        needed to read the same number back.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bosaris_py.files.columns import Factor
    >>> from bosaris_py.files.text import Table
    >>> from bosaris_py.files.writing import write_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.tsv"
    >>> ids = Factor.from_values(["anna", "bert"]), Factor.from_values(["s1", "s1"])
    >>> write_table(path, Table(*ids, scores=np.array([2.5, -1.0])), "nist")
    >>> print(path.read_text().expandtabs(10), end="")
    modelid   segmentid LLR
    anna      s1        2.5
    bert      s1        -1.0
    """
    chosen, form = find_format(format), formatter(number_format)
    if columns is not None and not (chosen.has_header and columns.keys() <= chosen.header.keys()):
        raise invalid("columns", "rename columns of a header", f"{dict(columns)} for {format}")
    if not isinstance(table, Table):
        raise invalid("table", "be a Table", describe(table))
    held = {"model", "segment", "-", *table.columns}
    held |= {"label"} if table.is_target is not None else set()
    held |= {"score"} if table.scores is not None else set()
    if chosen.has_header:
        least: Sequence[str] = chosen.required
    else:
        variants = chosen.variants
        least = next((v for v in reversed(variants) if held.issuperset(v)), variants[0])
    if lacking := [name for name in least if name not in held]:
        expected = f"have what {chosen.name} needs ({', '.join(lacking)})"
        raise invalid("table", expected, repr(table))
    if chosen.has_header:
        written = _header_columns(table, chosen, held, columns or {})
        names = _fields([name for _, name in written], "columns", chosen.separator)
        first_line = chosen.separator.join(names) + "\n"
    else:
        written = [(name if name in ROLES else None, name) for name in least]
        first_line = f"{chosen.first_line}\n" if chosen.first_line else ""
    _refuse_unlike(table, chosen)
    texts = [_texts_of(table, chosen, role, name, form) for role, name in written]
    lines = rows_of(texts, len(table), chosen.separator)
    if chosen.last_optional:
        lines = ("".join(f"{line.rstrip()}\n" for line in part.splitlines()) for part in lines)
    write_parts(path, itertools.chain([first_line], lines))


def _header_columns(
    table: Table, format: Format, held: set[str], renamed: Mapping[str, str]
) -> list[tuple[str | None, str]]:
    """Return the columns of a file with a header: those of the format first, then the others."""
    known: list[tuple[str | None, str]] = []
    left = list(table.columns)
    for column in format.columns:
        if column.name not in held:
            continue
        if column.header:
            known.append((column.name, renamed.get(column.name, column.header[0])))
        else:
            known.append((None, column.name))
        if column.name in left and (not column.header or column.name == "side"):
            left.remove(column.name)
    # A factor of labels is written as the labels, if these can say the same.
    label = dict(known).get("label")
    is_same = label == "label" or _spelled_labels(table, format) is not None
    if "label" in left and label is not None and is_same:
        left.remove("label")
    written = [*known, *((None, name) for name in left)]
    names = [name for _, name in written]
    if repeated := [*repetitions(names), *(name for name in names if not name)]:
        found = f"{list_some(map(repr, repeated))} again, or without a name"
        raise invalid("columns", "name each column once", found)
    lower = [name.lower() for name in names]
    for role, accepted in format.header.items():
        at = next((lower.index(n.lower()) for n in accepted if n.lower() in lower), None)
        is_renamed = any(r == role and name not in accepted for r, name in written)
        if at is not None and written[at][0] != role and not is_renamed:
            expected = f"have no extra column that is read as the {role}"
            raise invalid("table", expected, repr(names[at]))
    return written


def _refuse_unlike(table: Table, format: Format) -> None:
    """Raise if the format shows targets by equal columns, and the labels contradict."""
    if format.same is None or table.is_target is None:
        return
    both = [table.models if name == "model" else table.columns[name] for name in format.same]
    texts = [column.values() for column in both if isinstance(column, Factor)]
    wrong = np.flatnonzero((texts[0] == texts[1]) != table.is_target)
    if wrong.size:
        found = f"{wrong.size} lines where they are not (first line {int(wrong[0]) + 1})"
        expected = f"have targets exactly where {' and '.join(format.same)} are equal"
        raise invalid("table", expected, found)


def _fields(texts: npt.ArrayLike | Sequence[str], name: str, separator: str) -> list[str]:
    """Return texts as a list, refusing those that a format cannot hold."""
    if separator == " ":
        return words(texts, name)
    listed: list[str] = np.asarray(texts, dtype=np.str_).tolist()
    forbidden = {separator, '"', "\n", "\r"}
    bad = [
        text
        for text in listed
        if not forbidden.isdisjoint(text) or text.strip() != text or not text.isprintable()
    ]
    if bad:
        found = f"{len(bad)} others ({list_some(map(repr, bad))})"
        raise invalid(name, "hold texts without separators, quotes and outer blanks", found)
    return listed


def _texts_of(
    table: Table, format: Format, role: str | None, name: str, form: Callable[[float], str]
) -> Writer:
    """Return the function that gives a column as texts."""
    mark = format.separator
    if role == "model":
        return named(_fields(table.models.levels, "models", mark), table.models.codes)
    if role == "segment":
        return named(_fields(table.segments.levels, "segments", mark), table.segments.codes)
    if role == "label":
        return _labels_of(table, format)
    if role is None and name == "-":
        return lambda part: ["-"] * (part.stop - part.start)
    column: Any = table.scores if role == "score" else table.columns["side" if role else name]
    argument = "scores" if role == "score" else f"columns[{name!r}]"
    if isinstance(column, Factor):
        return named(_fields(column.levels, argument, mark), column.codes)
    is_missing = np.isnan(column)
    if is_missing.any() and not (format.missing or (format.last_optional and role == "score")):
        found = f"{np.count_nonzero(is_missing)} missing of {column.size}"
        raise invalid(argument, f"be complete to be written as {format.name}", found)

    def texts(part: slice) -> Iterable[str]:
        numbers = map(form, column[part].astype(np.float64).tolist())
        flags = is_missing[part].tolist()
        return [format.missing if no else text for no, text in zip(flags, numbers, strict=True)]

    return texts


def _labels_of(table: Table, format: Format) -> Writer:
    """Return the function that gives the labels."""
    own = _spelled_labels(table, format)
    if own is not None:
        return named(own.levels.tolist(), own.codes)
    # The first set of words, and of a detector of spoofs what is no target.
    target, other = list(format.vocabularies[0])[:2]
    assert table.is_target is not None, "the layout would not have been chosen"
    return named([other, target], table.is_target)


def _spelled_labels(table: Table, format: Format) -> Factor | None:
    """Return the labels in the words of the table, if the format has these in the same sense."""
    own = table.columns.get("label")
    if not isinstance(own, Factor) or table.is_target is None:
        return None
    for words in format.vocabularies:
        if set(own.levels.tolist()) <= set(words):
            meanings = np.array([words[level] == TARGET for level in own.levels.tolist()], np.bool_)
            if np.array_equal(meanings[own.codes], table.is_target):
                return own
    return None
