"""How one file is read: which column holds what, by the format, the header or the caller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import attrs

import bosaris_py.storage.formats.catalogue as catalogue
from bosaris_py._validation import describe, invalid, list_some, repetitions
from bosaris_py.errors import FileFormatError
from bosaris_py.storage.tokens import FirstLine, Layout, line_error, show

Columns = str | Sequence[str] | Mapping[str, str | None] | Mapping[str, int]

# What separates the columns of a file with a header, the likeliest first.
_SEPARATORS = ("\t", ",", ";")


@attrs.frozen
class FileColumn:
    """One column of a file: its role, None for extra columns, and its name."""

    role: str | None
    name: str

    @classmethod
    def of(cls, name: str) -> "FileColumn":
        """Return a column of a file without a header."""
        return cls(name if name in catalogue.ROLES else None, name)


@attrs.frozen
class ReadingPlan:
    """How the lines of one file are read: columns from left to right."""

    format: catalogue.TrialFormat
    columns: tuple[FileColumn, ...]
    # None stands for blanks and tabs.
    separator: str | None
    skips_first_line: bool

    @property
    def layout(self) -> Layout:
        """How the lines are cut."""
        return Layout(
            " ".join(column.role or column.name for column in self.columns),
            len(self.columns),
            self.separator,
            self.format.last_optional and self.separator is None,
        )

    def position(self, role_or_name: str) -> int:
        """Return the position of a column by its role or name."""
        return [column.role or column.name for column in self.columns].index(role_or_name)


def cut_header(line: bytes) -> tuple[str | None, list[str]]:
    """Return the separator of a header, and its names."""
    text = line.decode(errors="replace").strip("\r\n")
    separator = next((mark for mark in _SEPARATORS if mark in text), None)
    # Blanks that only Unicode knows are no separators, but `split` takes them for such.
    names = text.split(separator) or [text]
    return separator, [name.strip().strip('"') if separator else name.strip('"') for name in names]


def format_of_columns(columns: Columns) -> catalogue.TrialFormat:
    """Return the format of a file of which the caller lists the columns."""
    return catalogue.TrialFormat(
        name="columns",
        description="",
        variants=(_as_names(columns),),
        vocabularies=catalogue.VOCABULARIES,
    )


def check_names(names: object, argument: str) -> None:
    """Raise unless these are several texts, which UTF-8 can encode."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise invalid(argument, "be a list of names", describe(names))
    for name in names:
        if not isinstance(name, str):
            raise invalid(argument, "hold text only", describe(name))
        if not name.isascii() and name.encode(errors="ignore").decode() != name:
            raise invalid(argument, "hold text that UTF-8 can encode", describe(name))


def _as_names(columns: Columns) -> tuple[str, ...]:
    """Return columns from left to right, checked."""
    names = columns.replace(",", " ").split() if isinstance(columns, str) else columns
    check_names(names, "columns")
    names = tuple(names)
    repeated = set(repetitions(names)) - {catalogue.SKIPPED}
    if not names or repeated:
        found = f"{sorted(repeated)} more than once" if repeated else "none"
        raise invalid("columns", "name each column once", found)
    return names


def listed(columns: Columns, first: FirstLine | None) -> Columns:
    """Return columns; those of a mapping to positions from left to right."""
    if not isinstance(columns, Mapping):
        return columns
    places = {
        role: at for role, at in columns.items() if at is not None and not isinstance(at, str)
    }
    if not places or first is None:
        return columns
    width = len(cut_header(first.text)[1])
    if len(places) < len(columns) or not {*places.values()} <= {*range(width)}:
        expected = f"map roles to names in the header, or all to positions from 0 to {width - 1}"
        raise invalid("columns", expected, repr(dict(columns)))
    if len({*places.values()}) < len(places):
        raise invalid("columns", "have a position for each role", repr(dict(columns)))
    role_at = {at: role for role, at in places.items()}
    return [role_at.get(at, catalogue.SKIPPED) for at in range(width)]


def make_plan(
    path: Path, trial_format: catalogue.TrialFormat, first: FirstLine, columns: Columns | None
) -> ReadingPlan:
    """Find out which column is which, or say what the file lacks or has too much."""
    if trial_format.has_header:
        return _plan_by_header(path, trial_format, first, columns)
    if isinstance(columns, Mapping):
        hint = "Only files with a header have names to map; give the columns from left to right."
        raise invalid("columns", "be a list of columns", describe(columns), hint)
    first_word = trial_format.first_word
    if first_word and cut_header(first.text)[1][0].lower() != first_word:
        text = f"the first line must begin with {first_word}, found {show(first.text)}"
        raise line_error(path, first.number, text)
    variants = trial_format.variants if columns is None else (_as_names(columns),)
    separator, found = None, len(first.text.split())
    widths = (found, found + 1) if trial_format.last_optional else (found,)
    fitting = [variant for width in widths for variant in variants if len(variant) == width]
    if not fitting:
        # A table without a header, such as spreadsheets write.
        separator, cells = cut_header(first.text)
        fitting = [variant for variant in variants if separator and len(variant) == len(cells)]
    if not fitting:
        layouts = " or ".join(f"{len(variant)} ({' '.join(variant)})" for variant in variants)
        text = f"expected {layouts} columns, found {found}: {show(first.text)}"
        raise line_error(path, first.number, text)
    listed = tuple(map(FileColumn.of, fitting[0]))
    return ReadingPlan(trial_format, listed, separator, bool(first_word))


def _plan_by_header(
    path: Path, trial_format: catalogue.TrialFormat, first: FirstLine, columns: Columns | None
) -> ReadingPlan:
    """Find the columns by the names in the first line."""
    if columns is not None and not isinstance(columns, Mapping):
        hint = 'For instance {"model": "enroll", "score": "llr"}.'
        expected = "map what is needed to names in the header"
        raise invalid("columns", expected, describe(columns), hint)
    given = {} if columns is None else dict(columns)
    unknown = [role for role in given if role not in catalogue.ROLES]
    if unknown:
        expected = f"map only {', '.join(catalogue.ROLES)}; other columns keep their names"
        raise invalid("columns", expected, list_some(unknown))
    separator, names = cut_header(first.text)
    line = first.rest.partition(b"\n")[0]
    if separator and not names[-1] and line and len(cut_header(line)[1]) == len(names) - 1:
        # Hyperion's lists of trials: a separator too many, and no column below it.
        names = names[:-1]
    repeated = repetitions(filter(None, names))
    if repeated:
        text = f"the header names {list_some(repeated)} more than once"
        raise line_error(path, first.number, text)
    in_lower = [name.lower() for name in names]
    roles: dict[int, str] = {}
    for role in catalogue.ROLES:
        name = given.get(role)
        accepted = trial_format.header.get(role, ()) if role not in given else ()
        wanted = accepted if name is None else (str(name),)
        position = next((in_lower.index(w.lower()) for w in wanted if w.lower() in in_lower), None)
        if position is not None and position not in roles:
            roles[position] = role
        elif name is not None or (role in trial_format.required and role not in given):
            what = {catalogue.MODEL: "models", catalogue.SEGMENT: "segments"}.get(role, f"{role}s")
            raise FileFormatError(
                f"{path}: no column {' or '.join(wanted)} for the {what} in the first line; its "
                f"columns are {list_some(names, 20)}"
            )
    # Nobody could ask for a column without a name.
    found = (FileColumn(roles.get(i), name or catalogue.SKIPPED) for i, name in enumerate(names))
    return ReadingPlan(trial_format, tuple(found), separator, skips_first_line=True)
