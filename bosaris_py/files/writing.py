"""Write trials in any of the text formats."""

from __future__ import annotations

import gzip
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray
from bosaris_py._validation import FilePath, as_ids, as_path, invalid, list_some, repetitions
from bosaris_py.errors import InvalidInputError
from bosaris_py.files.columns import TARGET, Factor, Table
from bosaris_py.files.formats import ROLES, Format, find_format
from bosaris_py.files.replacing import replacing
from bosaris_py.files.text import LONGEST_ID

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
        # What comes out is a number that readers take for the same: float() takes more.
        text = number_format % 1.5
        good = abs(float(text) - 1.5) <= 0.5 and _NUMBER.fullmatch(text) is not None
        # A whole number, such as "%d" makes, has no infinity.
        number_format % math.inf
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        expected = 'format one number with %, for instance "%f" or "%.9g"'
        raise invalid("number_format", expected, repr(number_format))
    return number_format.__mod__


def write_parts(path: FilePath, parts: Iterable[str]) -> None:
    """Write a text that comes in parts and put the file in place.

    A file whose name ends in ``.gz`` is compressed, without a time stamp: the same text gives the
    same bytes.
    """
    is_packed = as_path(path).suffix.lower() == ".gz"
    with replacing(path) as temporary, temporary.open("wb") as on_disk:
        try:
            if is_packed:
                with gzip.GzipFile(filename="", mode="wb", fileobj=on_disk, mtime=0) as stream:
                    stream.writelines(part.encode() for part in parts)
            else:
                on_disk.writelines(part.encode() for part in parts)
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

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bosaris_py.files.columns import Factor, Table
    >>> from bosaris_py.files.text import LONGEST_ID
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
    held = {"model", "segment", "-", *table.columns}
    held |= {"label"} if table.is_target is not None else set()
    held |= {"score"} if table.scores is not None else set()
    # The layout with most columns that the table has; the first says what is needed.
    layouts = [chosen.required] if chosen.header else chosen.variants
    least = next((v for v in reversed(layouts) if held.issuperset(v)), layouts[0])
    if lacking := [name for name in least if name not in held]:
        expected = f"have what {chosen.name} needs ({', '.join(lacking)})"
        raise invalid("table", expected, repr(table))
    written: list[tuple[str | None, str]]
    written = [(name if name in ROLES else None, name) for name in least]
    first_line = f"{chosen.first_line}\n" if chosen.first_line else ""
    if chosen.header:
        written = _header_columns(table, chosen, held)
        names = _fields([name for _, name in written], "columns", chosen.separator)
        first_line = chosen.separator.join(names) + "\n"
    if chosen.same is not None and table.is_target is not None:
        both = [table.models if name == "model" else table.columns[name] for name in chosen.same]
        texts = [column.values() for column in both if isinstance(column, Factor)]
        if ((texts[0] == texts[1]) != table.is_target).any():
            expected = f"have targets exactly where {' and '.join(chosen.same)} are equal"
            raise invalid("table", expected, "other labels")
    columns = [_texts_of(table, chosen, role, name, form) for role, name in written]
    lines = rows_of(columns, len(table), chosen.separator)
    if chosen.last_optional:
        lines = ("".join(f"{line.rstrip()}\n" for line in part.splitlines()) for part in lines)
    write_parts(path, itertools.chain([first_line], lines))


def _header_columns(table: Table, format: Format, held: set[str]) -> list[tuple[str | None, str]]:
    """Return the columns of a file with a header: those of the format first, then the others."""
    known: list[tuple[str | None, str]] = [
        (c.name, c.header[0]) if c.header else (None, c.name)
        for c in format.columns
        if c.name in held
    ]
    roles = [role for role, _ in known]
    taken = {name for role, name in known if role is None} | ({"side"} & {*roles})
    # A factor of labels is written as the labels, if these can say the same.
    is_same = ("label", "label") in known or _spelled_labels(table, format) is not None
    taken |= {"label"} if "label" in roles and is_same else set()
    others = [name for name in table.columns if name not in taken]
    names = [*(name for _, name in known), *others]
    if repeated := [*repetitions(names), *(name for name in names if not name)]:
        found = f"{list_some(map(repr, repeated))} again, or without a name"
        raise invalid("columns", "name each column once", found)
    for role, accepted in format.header.items():
        taken_for = [n for n in others if n.lower() in map(str.lower, accepted)]
        if taken_for and role not in roles:
            expected = f"have no extra column that is read as the {role}"
            raise invalid("table", expected, repr(taken_for[0]))
    return [*known, *((None, name) for name in others)]


def _fields(texts: Iterable[str], name: str, separator: str) -> list[str]:
    """Return texts as a list, refusing those that a format cannot hold."""
    listed = list(map(str, texts))
    if separator == " ":
        return words(listed, name)
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
    if role == "label":
        own = _spelled_labels(table, format)
        if own is not None:
            return named(own.levels.tolist(), own.codes)
        # The first set of words, and of a detector of spoofs what is no target.
        target, other = list(format.vocabularies[0])[:2]
        return named([other, target], np.asarray(table.is_target))
    if role is None and name == "-":
        return lambda part: ["-"] * (part.stop - part.start)
    columns = {"model": table.models, "segment": table.segments, "score": table.scores}
    column = columns.get(str(role), table.columns.get("side" if role else name))
    argument = f"{role}s" if role in columns else f"columns[{name!r}]"
    if isinstance(column, Factor):
        return named(_fields(column.levels, argument, format.separator), column.codes)
    numbers = np.asarray(column, np.float64)
    is_missing = np.isnan(numbers)
    if is_missing.any() and not (format.missing or (format.last_optional and role == "score")):
        found = f"{np.count_nonzero(is_missing)} missing of {numbers.size}"
        raise invalid(argument, f"be complete to be written as {format.name}", found)
    spell = (lambda x: form(x) if x == x else format.missing) if is_missing.any() else form
    return lambda part: map(spell, numbers[part].tolist())


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
