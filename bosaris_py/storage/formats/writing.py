"""Write a `TrialTable` in any of the text formats."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FilePath, describe, invalid, list_some
from bosaris_py.storage.factors import Factor
from bosaris_py.storage.formats.catalogue import (
    LABEL,
    MODEL,
    ROLES,
    SCORE,
    SEGMENT,
    SIDE,
    SKIPPED,
    TrialClass,
    TrialFormat,
    Vocabulary,
    find_format,
)
from bosaris_py.storage.formats.columns import FileColumn
from bosaris_py.storage.text import formatter, words, write_parts
from bosaris_py.storage.trial_table import ExtraColumn, TrialTable

# Lines that are put together before they are written.
_LINES_AT_ONCE = 2**16

# Gives the texts of some lines of a column.
_Texts = Callable[[slice], Iterable[str]]


def write_table(
    path: FilePath,
    table: TrialTable,
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
    table : TrialTable
        The lines. What the format has no place for is not written.
    format : str
        Name of the format, one of ``FORMATS``. Of the layouts of a format the one with
        most columns is written for which the table has everything.
    columns : mapping of str to str, optional
        For formats with a header, other names than the usual ones, for instance
        ``{"model": "imageid"}``.
    number_format : str, optional
        How a number is written, for instance ``"%.5f"``. By default with as many digits
        as are needed to read the same number back.

    Raises
    ------
    InvalidInputError
        If the table lacks what the format needs, an id cannot be written, or scores are
        missing in a format that cannot say so; nothing is written.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bosaris_py import TrialTable
    >>> from bosaris_py.storage.formats import write_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.tsv"
    >>> table = TrialTable.from_trials(["anna", "bert"], ["s1", "s1"], scores=[2.5, -1.0])
    >>> write_table(path, table, "nist")
    >>> print(path.read_text().expandtabs(10), end="")
    modelid   segmentid LLR
    anna      s1        2.5
    bert      s1        -1.0
    """
    if not isinstance(table, TrialTable):
        raise invalid("table", "be a TrialTable", describe(table))
    trial_format = find_format(format)
    if columns is not None and not trial_format.has_header:
        raise invalid("columns", "be given for formats with a header only", format)
    form = formatter(number_format)
    if trial_format.has_header:
        written = _header_columns(table, trial_format, columns)
        names = _as_fields([column.name for column in written], "columns", trial_format)
        first_line = trial_format.separator.join(names) + "\n"
    else:
        written = [
            FileColumn(role if role in (*ROLES, SKIPPED) else None, role)
            for role in _variant(table, trial_format)
        ]
        first_line = f"{trial_format.first_line}\n" if trial_format.first_line else ""
    _check_sameness(table, trial_format)
    texts = [_texts_of(column, table, trial_format, form) for column in written]
    write_parts(path, _lines(first_line, texts, len(table), trial_format))


def _lines(
    first_line: str, texts: Sequence[_Texts], size: int, trial_format: TrialFormat
) -> Iterator[str]:
    """Give the lines in parts."""
    yield first_line
    separator = trial_format.separator
    for begin in range(0, size, _LINES_AT_ONCE):
        part = slice(begin, min(begin + _LINES_AT_ONCE, size))
        rows = zip(*(column(part) for column in texts), strict=True)
        lines = map(separator.join, rows)
        if trial_format.last_optional:
            lines = map(str.rstrip, lines)
        yield "\n".join(lines) + "\n"


def _is_there(role: str, table: TrialTable, trial_format: TrialFormat) -> bool:
    """Tell whether a table has what a column needs."""
    if role == LABEL:
        return table.is_target is not None
    if role == SCORE:
        return table.scores is not None
    return role in (MODEL, SEGMENT, SKIPPED) or role in table.columns


def _variant(table: TrialTable, trial_format: TrialFormat) -> tuple[str, ...]:
    """Return the layout that is written."""
    by_length = sorted(trial_format.variants, key=len)
    fitting = [
        variant
        for variant in by_length
        if all(_is_there(role, table, trial_format) for role in variant)
    ]
    if fitting:
        return fitting[-1]
    lacking = [role for role in by_length[0] if not _is_there(role, table, trial_format)]
    raise _lacking(lacking, table, trial_format)


def _lacking(roles: Sequence[str], table: TrialTable, trial_format: TrialFormat) -> Exception:
    expected = f"have what {trial_format.name} needs ({', '.join(roles)})"
    return invalid("table", expected, repr(table))


def _header_columns(
    table: TrialTable, trial_format: TrialFormat, columns: Mapping[str, str] | None
) -> list[FileColumn]:
    """Return the columns of a file with a header: what is known first, then the others."""
    told = {} if columns is None else columns
    strangers = [role for role in told if role not in trial_format.header]
    if strangers:
        expected = f"rename {', '.join(trial_format.header)}"
        raise invalid("columns", expected, list_some(strangers))
    known = {
        role: told.get(role, trial_format.header[role][0])
        for role in ROLES
        if role in trial_format.header and _is_there(role, table, trial_format)
    }
    lacking = [role for role in trial_format.required if role not in known]
    if lacking:
        raise _lacking(lacking, table, trial_format)
    others = [name for name in table.columns if not _is_known(name, table, trial_format, known)]
    written = [
        *(FileColumn(role, name) for role, name in known.items()),
        *(FileColumn(None, name) for name in others),
    ]
    places = {what: place for place, what in enumerate(trial_format.order)}

    def place(column: FileColumn) -> int:
        what = column.name if column.role is None else column.role
        is_other = column.role is None and what in ROLES
        return len(places) if is_other else places.get(what, len(places))

    written.sort(key=place)
    _check_names(written, trial_format)
    return written


def _is_known(
    name: str, table: TrialTable, trial_format: TrialFormat, known: Mapping[str, str]
) -> bool:
    """Tell whether an extra column is written as the labels or sides that a format has."""
    if name == SIDE:
        return SIDE in known
    if name != LABEL or LABEL not in known:
        return False
    own = table.columns[LABEL]
    return known[LABEL] == LABEL or _vocabulary_of(own, trial_format, table.is_target) is not None


def _check_names(written: Sequence[FileColumn], trial_format: TrialFormat) -> None:
    """Raise unless a reader will find the columns again by their names."""
    names = [column.name for column in written]
    repeated = [name for place, name in enumerate(names) if name in names[:place] or not name]
    if repeated:
        found = f"{list_some(map(repr, repeated))} again, or without a name"
        raise invalid("columns", "name each column once", found)
    in_lower = [name.lower() for name in names]
    for role, accepted in trial_format.header.items():
        found_at = [in_lower.index(name.lower()) for name in accepted if name.lower() in in_lower]
        is_told = any(column.role == role and column.name not in accepted for column in written)
        if found_at and written[found_at[0]].role != role and not is_told:
            expected = f"have no extra column that is read as the {role}"
            raise invalid("table", expected, repr(names[found_at[0]]))


def _as_fields(
    texts: npt.ArrayLike | Sequence[str], name: str, trial_format: TrialFormat
) -> list[str]:
    """Return texts as a list, refusing those that the format cannot hold."""
    if trial_format.separator == " ":
        return words(texts, name)
    listed: list[str] = np.asarray(texts, dtype=np.str_).tolist()
    forbidden = (trial_format.separator, '"', "\n", "\r")
    bad = [
        text
        for text in listed
        if any(mark in text for mark in forbidden) or text.strip() != text or not text.isprintable()
    ]
    if bad:
        found = f"{len(bad)} others ({list_some(map(repr, bad))})"
        expected = "hold texts without separators, quotes and outer blanks"
        raise invalid(name, expected, found)
    return listed


def _texts_of(
    written: FileColumn, table: TrialTable, trial_format: TrialFormat, form: Callable[[float], str]
) -> _Texts:
    """Return the function that gives a column as texts."""
    role = written.role
    if role == MODEL:
        return _named(_as_fields(table.modelset, "modelset", trial_format), table.models)
    if role == SEGMENT:
        return _named(_as_fields(table.segset, "segset", trial_format), table.segments)
    if role == SKIPPED:
        return lambda part: [trial_format.skipped_text] * (part.stop - part.start)
    if role == LABEL:
        return _labels(table, trial_format)
    if role == SCORE:
        assert table.scores is not None, "the layout would not have been chosen"
        return _numbers(table.scores, "scores", trial_format, form)
    name = written.name if role is None else role
    column: ExtraColumn = table.columns[name]
    if isinstance(column, Factor):
        return _named(_as_fields(column.levels, f"columns[{name!r}]", trial_format), column.codes)
    return _numbers(column, f"columns[{name!r}]", trial_format, form)


def _named(names: list[str], codes: npt.NDArray[Any]) -> _Texts:
    return lambda part: map(names.__getitem__, codes[part].tolist())


def _numbers(
    values: npt.NDArray[Any], name: str, trial_format: TrialFormat, form: Callable[[float], str]
) -> _Texts:
    """Return the function that gives numbers as texts."""
    is_missing = np.isnan(values)
    absent = trial_format.missing[0] if trial_format.missing else ""
    can_be_missing = bool(trial_format.missing) or (trial_format.last_optional and name == "scores")
    if is_missing.any() and not can_be_missing:
        found = f"{np.count_nonzero(is_missing)} missing of {values.size}"
        raise invalid(name, f"be complete to be written as {trial_format.name}", found)

    def texts(part: slice) -> Iterable[str]:
        numbers = map(form, values[part].astype(np.float64).tolist())
        if not is_missing[part].any():
            return numbers
        flags = is_missing[part].tolist()
        return [absent if flag else text for flag, text in zip(flags, numbers, strict=True)]

    return texts


def _labels(table: TrialTable, trial_format: TrialFormat) -> _Texts:
    """Return the function that gives the labels."""
    assert table.is_target is not None, "the layout would not have been chosen"
    own = table.columns.get(LABEL)
    if isinstance(own, Factor) and _vocabulary_of(own, trial_format, table.is_target):
        return _named(own.levels.tolist(), own.codes)
    chosen = trial_format.vocabularies[0]
    both = [chosen.word_for(TrialClass.NONTARGET), chosen.word_for(TrialClass.TARGET)]
    if TrialClass.NONTARGET not in chosen.classes.values():
        both[0] = chosen.word_for(TrialClass.SPOOF)
    return _named(both, table.is_target)


def _vocabulary_of(
    own: ExtraColumn | None, trial_format: TrialFormat, is_target: npt.NDArray[np.bool_] | None
) -> Vocabulary | None:
    """Return the words of a format that are those of a table, and mean the same."""
    if not isinstance(own, Factor) or is_target is None:
        return None
    fitting = (item for item in trial_format.vocabularies if _agrees(own, item, is_target))
    return next(fitting, None)


def _agrees(own: Factor, vocabulary: Vocabulary, is_target: npt.NDArray[np.bool_]) -> bool:
    """Tell whether the words of a table are those of a format, and mean the same."""
    if not set(own.levels.tolist()) <= set(vocabulary.classes):
        return False
    of_level = [vocabulary.classes[word] == TrialClass.TARGET for word in own.levels.tolist()]
    return bool(np.array_equal(np.array(of_level, dtype=np.bool_)[own.codes], is_target))


def _check_sameness(table: TrialTable, trial_format: TrialFormat) -> None:
    """Raise if the format tells targets by equal columns, and the table tells otherwise."""
    if not trial_format.is_target_if_same or table.is_target is None:
        return
    real = table.columns[trial_format.is_target_if_same[1]]
    claimed = (
        Factor(table.models, table.modelset)
        if trial_format.is_target_if_same[0] == MODEL
        else table.columns[trial_format.is_target_if_same[0]]
    )
    if not isinstance(real, Factor) or not isinstance(claimed, Factor):
        return
    union = np.unique(np.concatenate((real.levels, claimed.levels)))
    same = (
        np.searchsorted(union, claimed.levels)[claimed.codes]
        == np.searchsorted(union, real.levels)[real.codes]
    )
    wrong = np.flatnonzero(same != table.is_target)
    if wrong.size:
        names = " and ".join(trial_format.is_target_if_same)
        found = f"{wrong.size} lines where they are not (first line {int(wrong[0]) + 1})"
        raise invalid("table", f"have targets exactly where {names} are equal", found)
