"""Write a `TrialTable` in any of the text formats."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray, FloatArray
from bosaris_py._validation import FilePath, describe, invalid, list_some, repetitions
from bosaris_py.errors import InvalidInputError
from bosaris_py.storage.factors import Factor
from bosaris_py.storage.formats import catalogue
from bosaris_py.storage.formats.reading_plan import FileColumn
from bosaris_py.storage.text import formatter, row_slices, words, write_parts
from bosaris_py.storage.trial_table import TrialTable

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
        Name of the format, one of ``FORMATS``. Of the layouts of a format the one with most columns
        is written for which the table has everything.
    columns : mapping of str to str, optional
        For formats with a header, other names than the usual ones, for instance ``{"model":
        "imageid"}``.
    number_format : str, optional
        How a number is written, for instance ``"%.5f"``. By default with as many digits as are
        needed to read the same number back.

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
    write_tables(path, [table], format, columns=columns, number_format=number_format)


def write_tables(
    path: FilePath,
    tables: Iterable[TrialTable],
    format: str,
    *,
    columns: Mapping[str, str] | None = None,
    number_format: str | None = None,
) -> None:
    """Write parts of a list of trials, such as `read_parts` gives, as `write_table` does."""
    trial_format = catalogue.find_format(format)
    if columns is not None and not trial_format.has_header:
        raise invalid("columns", "be given for formats with a header only", format)
    form = formatter(number_format)

    def parts() -> Iterator[str]:
        count = 0
        for number, table in enumerate(tables):
            try:
                first_line, lines = _lines_of(_Writer(table, trial_format, form), columns or {})
            except InvalidInputError as error:
                error.got += f", after {count} lines" if number else ""
                raise
            if number == 0:
                yield first_line
            yield from lines
            count += len(table)

    # What is wrong with the first part is told before there is a file.
    texts = parts()
    write_parts(path, itertools.chain([next(texts)], texts))


def _lines_of(writer: "_Writer", columns: Mapping[str, str]) -> tuple[str, Iterator[str]]:
    """Return the first line of a table in its format, and the lines of its trials."""
    trial_format = writer.format
    if trial_format.has_header:
        written = writer.header_columns(columns)
        names = writer.as_fields([column.name for column in written], "columns")
        first_line = trial_format.separator.join(names) + "\n"
    else:
        written = [FileColumn.of(name) for name in writer.variant()]
        first_line = f"{trial_format.first_line}\n" if trial_format.first_line else ""
    writer.check_sameness()
    texts = [writer.texts_of(column) for column in written]

    def parts() -> Iterator[str]:
        for part in row_slices(len(writer.table)):
            rows = zip(*(column(part) for column in texts), strict=True)
            lines = map(trial_format.separator.join, rows)
            if trial_format.last_optional:
                lines = map(str.rstrip, lines)
            yield "\n".join(lines) + "\n"

    return first_line, parts()


@attrs.frozen
class _Writer:
    """A table and the format in which it is written."""

    table: TrialTable
    format: catalogue.TrialFormat
    form: Callable[[float], str]

    # Which columns are written

    def has(self, role: str) -> bool:
        """Tell whether the table has what a column needs."""
        if role == catalogue.LABEL:
            return self.table.is_target is not None
        if role == catalogue.SCORE:
            return self.table.scores is not None
        return (
            role in (catalogue.MODEL, catalogue.SEGMENT, catalogue.SKIPPED)
            or role in self.table.columns
        )

    def refuse_lacking(self, roles: Iterable[str]) -> None:
        """Raise unless the table has what these columns need."""
        lacking = [role for role in roles if not self.has(role)]
        if lacking:
            expected = f"have what {self.format.name} needs ({', '.join(lacking)})"
            raise invalid("table", expected, repr(self.table))

    def variant(self) -> tuple[str, ...]:
        """Return the longest layout of a format without header for which everything is there."""
        by_length = sorted(self.format.variants, key=len)
        fitting = [variant for variant in by_length if all(map(self.has, variant))]
        if not fitting:
            self.refuse_lacking(by_length[0])
        return fitting[-1]

    def header_columns(self, renamed: Mapping[str, str]) -> list[FileColumn]:
        """Return the columns of a file with a header: what is known first, then the others."""
        header, extra = self.format.header, self.table.columns
        unknown = [role for role in renamed if role not in header]
        if unknown:
            raise invalid("columns", f"rename {', '.join(header)}", list_some(unknown))
        self.refuse_lacking(self.format.required)
        known = {
            role: renamed.get(role, header[role][0])
            for role in catalogue.ROLES
            if role in header and self.has(role)
        }
        # A factor of labels is written as the labels, if these can say the same.
        is_label = catalogue.LABEL in known and catalogue.LABEL in extra
        if is_label and known[catalogue.LABEL] != catalogue.LABEL:
            is_label = self.vocabulary_of_labels() is not None
        skipped = {catalogue.SIDE} & known.keys() | ({catalogue.LABEL} if is_label else set())
        written = [
            *(FileColumn(role, name) for role, name in known.items()),
            *(FileColumn(None, name) for name in extra if name not in skipped),
        ]
        # An extra column that is called like a role has no place in the order.
        order = [
            FileColumn(name if name in known else None, known.get(name, name))
            for name in self.format.order
            if name in known or name not in catalogue.ROLES
        ]
        written.sort(key=lambda column: order.index(column) if column in order else len(order))
        self.check_names(written)
        return written

    def check_names(self, written: Sequence[FileColumn]) -> None:
        """Raise unless a reader will find the columns again by their names."""
        names = [column.name for column in written]
        repeated = [*repetitions(names), *(name for name in names if not name)]
        if repeated:
            found = f"{list_some(map(repr, repeated))} again, or without a name"
            raise invalid("columns", "name each column once", found)
        in_lower = [name.lower() for name in names]
        for role, accepted in self.format.header.items():
            found_at = [in_lower.index(n.lower()) for n in accepted if n.lower() in in_lower]
            is_renamed = any(c.role == role and c.name not in accepted for c in written)
            if found_at and written[found_at[0]].role != role and not is_renamed:
                expected = f"have no extra column that is read as the {role}"
                raise invalid("table", expected, repr(names[found_at[0]]))

    def check_sameness(self) -> None:
        """Raise if the format shows targets by equal columns, and the labels contradict."""
        table, names = self.table, self.format.is_target_if_same
        if not names or table.is_target is None:
            return
        models = Factor(table.models, table.modelset)
        claimed, real = (
            models if name == catalogue.MODEL else table.columns[name] for name in names
        )
        if not isinstance(real, Factor) or not isinstance(claimed, Factor):
            return
        union = np.unique(np.concatenate((real.levels, claimed.levels)))
        codes = [np.searchsorted(union, item.levels)[item.codes] for item in (claimed, real)]
        wrong = np.flatnonzero((codes[0] == codes[1]) != table.is_target)
        if wrong.size:
            both = " and ".join(names)
            found = f"{wrong.size} lines where they are not (first line {int(wrong[0]) + 1})"
            raise invalid("table", f"have targets exactly where {both} are equal", found)

    # The texts of a column

    def as_fields(self, texts: npt.ArrayLike | Sequence[str], name: str) -> list[str]:
        """Return texts as a list, refusing those that the format cannot hold."""
        if self.format.separator == " ":
            return words(texts, name)
        listed: list[str] = np.asarray(texts, dtype=np.str_).tolist()
        forbidden = {self.format.separator, '"', "\n", "\r"}
        bad = [
            text
            for text in listed
            if not forbidden.isdisjoint(text) or text.strip() != text or not text.isprintable()
        ]
        if bad:
            found = f"{len(bad)} others ({list_some(map(repr, bad))})"
            raise invalid(name, "hold texts without separators, quotes and outer blanks", found)
        return listed

    def texts_of(self, column: FileColumn) -> _Texts:
        """Return the function that gives a column as texts."""
        table, role = self.table, column.role
        if role == catalogue.MODEL:
            return _named(self.as_fields(table.modelset, "modelset"), table.models)
        if role == catalogue.SEGMENT:
            return _named(self.as_fields(table.segset, "segset"), table.segments)
        if role == catalogue.LABEL:
            return self.labels()
        if role == catalogue.SCORE:
            assert table.scores is not None, "the layout would not have been chosen"
            return self.numbers(table.scores, "scores")
        name = column.name if role is None else role
        if name == catalogue.SKIPPED:
            return lambda part: [catalogue.SKIPPED] * (part.stop - part.start)
        values, argument = table.columns[name], f"columns[{name!r}]"
        if isinstance(values, Factor):
            return _named(self.as_fields(values.levels, argument), values.codes)
        return self.numbers(values, argument)

    def numbers(self, values: FloatArray, name: str) -> _Texts:
        """Return the function that gives numbers as texts."""
        is_missing = np.isnan(values)
        absent = next(iter(self.format.missing), "")
        can_be_missing = bool(absent) or (self.format.last_optional and name == "scores")
        if is_missing.any() and not can_be_missing:
            found = f"{np.count_nonzero(is_missing)} missing of {values.size}"
            raise invalid(name, f"be complete to be written as {self.format.name}", found)

        def texts(part: slice) -> Iterable[str]:
            numbers = map(self.form, values[part].astype(np.float64).tolist())
            if not is_missing[part].any():
                return numbers
            flags = is_missing[part].tolist()
            return [absent if flag else text for flag, text in zip(flags, numbers, strict=True)]

        return texts

    def labels(self) -> _Texts:
        """Return the function that gives the labels."""
        own, is_target = self.table.columns.get(catalogue.LABEL), self.table.is_target
        assert is_target is not None, "the layout would not have been chosen"
        if isinstance(own, Factor) and self.vocabulary_of_labels() is not None:
            return _named(own.levels.tolist(), own.codes)
        usual = self.format.vocabularies[0]
        has_nontarget = catalogue.TrialClass.NONTARGET in usual.classes.values()
        other = catalogue.TrialClass.NONTARGET if has_nontarget else catalogue.TrialClass.SPOOF
        return _named(
            [usual.word_for(other), usual.word_for(catalogue.TrialClass.TARGET)], is_target
        )

    def vocabulary_of_labels(self) -> catalogue.Vocabulary | None:
        """Return the words of the format that are those of the table, and mean the same."""
        own, is_target = self.table.columns.get(catalogue.LABEL), self.table.is_target
        if not isinstance(own, Factor) or is_target is None:
            return None
        levels = own.levels.tolist()
        for item in self.format.vocabularies:
            if set(levels) <= set(item.classes):
                meanings = np.array(
                    [item.classes[word] == catalogue.TrialClass.TARGET for word in levels]
                )
                if np.array_equal(meanings.astype(np.bool_)[own.codes], is_target):
                    return item
        return None


def _named(names: list[str], codes: AnyArray) -> _Texts:
    """Return the function that gives the names of codes."""
    return lambda part: map(names.__getitem__, codes[part].tolist())
