"""Which column of a file is which, by position or by the names in its first line."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from bosaris_py._validation import describe, invalid, list_some
from bosaris_py.errors import FileFormatError
from bosaris_py.storage._tokens import line_error, show
from bosaris_py.storage.formats.trial_format import (
    MODEL,
    ROLES,
    SEGMENT,
    SKIPPED,
    VOCABULARIES,
    TrialFormat,
)

__all__ = ["Columns", "FileColumn", "FirstLine", "Plan", "make_plan", "told_format"]

Columns = str | Sequence[str] | Mapping[str, str | None]

# What separates the columns of a file with a header, the likeliest first.
_SEPARATORS = ("\t", ",", ";")


@attrs.frozen
class FileColumn:
    """One column of a file.

    Parameters
    ----------
    role : str or None
        One of the roles, or None for an extra column.
    name : str
        Its name; ``"-"`` if it is not read.
    """

    role: str | None
    name: str


@attrs.frozen
class Plan:
    """How the lines of one file are read.

    Parameters
    ----------
    format : TrialFormat
        The format.
    columns : tuple of FileColumn
        From left to right.
    separator : str or None
        Between them; None stands for blanks and tabs.
    skips_first_line : bool
        The first line that is not blank is no trial.
    """

    format: TrialFormat
    columns: tuple[FileColumn, ...]
    separator: str | None
    skips_first_line: bool

    @property
    def layout(self) -> str:
        """The columns in words."""
        return " ".join(column.role or column.name for column in self.columns)

    def place(self, role: str) -> int | None:
        """Return the position of the column with a role."""
        roles = [column.role for column in self.columns]
        return roles.index(role) if role in roles else None

    def place_of_name(self, name: str) -> int:
        """Return the position of a column by its role or name."""
        return [column.role or column.name for column in self.columns].index(name)


@attrs.frozen
class FirstLine:
    """The first line of a file that is not blank.

    Parameters
    ----------
    number : int
        Number of the line.
    text : bytes
        Its content.
    """

    number: int
    text: bytes

    @classmethod
    def of(cls, data: bytes, line: int) -> "FirstLine | None":
        """Find it in some lines, of which the first has the number `line`."""
        n_blank = len(data) - len(data.lstrip())
        if n_blank == len(data):
            return None
        begin = data.rfind(b"\n", 0, n_blank) + 1
        return cls(line + data.count(b"\n", 0, begin), data[begin:].split(b"\n", 1)[0])

    def rest_of(self, line: int, data: bytes) -> tuple[int, bytes]:
        """Return what follows in the lines in which this one was found."""
        end = data.index(self.text) + len(self.text) + 1
        return self.number + 1, data[end:]

    def cut(self) -> tuple[str | None, tuple[str, ...]]:
        """Return the separator of a header, and its names."""
        text = self.text.decode(errors="replace").strip("\r\n")
        for separator in _SEPARATORS:
            if separator in text:
                names = (name.strip() for name in text.split(separator))
                return separator, tuple(name.strip('"') for name in names)
        # Blanks that only Unicode knows are no separators, but `split` takes them for such.
        return None, tuple(name.strip('"') for name in text.split()) or (text,)


def told_format(columns: Columns) -> TrialFormat:
    """Return the format of a file of which only the columns are told."""
    return TrialFormat(
        name="columns",
        description="",
        variants=(_as_names(columns),),
        vocabularies=VOCABULARIES,
    )


def make_plan(
    path: Path, trial_format: TrialFormat, first: FirstLine, columns: Columns | None
) -> Plan:
    """Find out which column is which.

    Parameters
    ----------
    path : Path
        The file, for error messages.
    trial_format : TrialFormat
        The format of the file.
    first : FirstLine
        Its first line.
    columns : str, sequence or mapping, optional
        What the caller says of the columns.

    Returns
    -------
    Plan
        How to read the file.

    Raises
    ------
    FileFormatError
        If the file lacks columns, or has more than the format.
    InvalidInputError
        If `columns` does not fit the format.
    """
    if trial_format.has_header:
        return _plan_by_header(path, trial_format, first, columns)
    if isinstance(columns, Mapping):
        hint = "Only files with a header have names to map; give the columns from left to right."
        raise invalid("columns", "read_table", "be a list of columns", describe(columns), hint)
    _, words = first.cut()
    if trial_format.first_word and words[0].lower() != trial_format.first_word:
        text = f"the first line must begin with {trial_format.first_word}, found {show(first.text)}"
        raise line_error(path, first.number, text)
    variants = trial_format.variants if columns is None else (_as_names(columns),)
    found = len(first.text.split())
    fitting = [variant for variant in variants if len(variant) == found]
    if trial_format.last_optional and not fitting:
        fitting = [variant for variant in variants if len(variant) == found + 1]
    if not fitting:
        layouts = " or ".join(f"{len(variant)} ({' '.join(variant)})" for variant in variants)
        text = f"expected {layouts} columns, found {found}: {show(first.text)}"
        raise line_error(path, first.number, text)
    return Plan(
        trial_format,
        tuple(FileColumn(name if name in ROLES else None, name) for name in fitting[0]),
        None,
        bool(trial_format.first_word),
    )


def _as_names(columns: Columns) -> tuple[str, ...]:
    """Return columns from left to right, checked."""
    names = tuple(columns.split()) if isinstance(columns, str) else tuple(columns)
    repeated = {name for name in names if name != SKIPPED and names.count(name) > 1}
    if not names or repeated:
        found = f"{sorted(repeated)} more than once" if repeated else "none"
        raise invalid("columns", "read_table", "name each column once", found)
    return names


def _plan_by_header(
    path: Path, trial_format: TrialFormat, first: FirstLine, columns: Columns | None
) -> Plan:
    """Find the columns by the names in the first line."""
    if columns is not None and not isinstance(columns, Mapping):
        hint = 'For instance {"model": "enroll", "score": "llr"}.'
        expected = "map what is needed to names in the header"
        raise invalid("columns", "read_table", expected, describe(columns), hint)
    told = {} if columns is None else dict(columns)
    strangers = [role for role in told if role not in ROLES]
    if strangers:
        expected = f"map only {', '.join(ROLES)}; other columns keep their names"
        raise invalid("columns", "read_table", expected, list_some(strangers))
    separator, names = first.cut()
    repeated = [name for place, name in enumerate(names) if name and name in names[:place]]
    if repeated:
        text = f"the header names {list_some(repeated)} more than once"
        raise line_error(path, first.number, text)
    in_lower = [name.lower() for name in names]
    roles: dict[int, str] = {}
    for role in ROLES:
        if role in told:
            name = told[role]
            wanted: tuple[str, ...] = () if name is None else (name,)
        else:
            wanted = trial_format.header.get(role, ())
        place = next((in_lower.index(w.lower()) for w in wanted if w.lower() in in_lower), None)
        if place is not None and place not in roles:
            roles[place] = role
        elif told.get(role) is not None or (role in trial_format.required and role not in told):
            raise _missing_column(path, role, wanted, names)
    return Plan(
        trial_format,
        # Nobody could ask for a column without a name.
        tuple(FileColumn(roles.get(place), name or SKIPPED) for place, name in enumerate(names)),
        separator,
        skips_first_line=True,
    )


def _missing_column(
    path: Path, role: str, wanted: Sequence[str], names: Sequence[str]
) -> FileFormatError:
    """Return the error for a header without a needed column."""
    what = {MODEL: "models", SEGMENT: "segments"}.get(role, f"{role}s")
    message = (
        f"{path}: no column {' or '.join(wanted)} for the {what} in the first line; its columns "
        f"are {list_some(names, 20)}"
    )
    return FileFormatError(message)
