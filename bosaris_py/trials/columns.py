"""What a key knows of its trials, models and segments: columns by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, TypeGuard

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py import _validation as check
from bosaris_py._arrays import AnyArray, Given, StrArray, mark_read_only, read_only
from bosaris_py.errors import InvalidInputError, TrialMismatchError
from bosaris_py.files.columns import Factor, equal_columns
from bosaris_py.trials.trials import Trials

# Categories, or numbers.
Column: TypeAlias = Factor | AnyArray

# One value for each trial, or what a column of models or segments has for each id.
ColumnLike: TypeAlias = Factor | npt.ArrayLike | Sequence[object]
OfSide: TypeAlias = tuple[str, Mapping[str, object] | ColumnLike]

# Columns of the trials, of the models, of the segments.
Table: TypeAlias = Mapping[str, Column]
Tables: TypeAlias = tuple[Table, ...]

SIDES = ("trial", "model", "segment")

NO_TABLES: Tables = ({}, {}, {})

# What is no list of values, or an array already.
_KEPT = str, bytes, Mapping, set, frozenset, np.ndarray


@attrs.frozen(eq=False, repr=False)
class Columns(Mapping[str, Column]):
    """The columns of a key: a mapping of names to one value for each trial.

    Notes
    -----
    Text and truth values are kept as a `Factor`: one or two bytes for each trial, whatever the
    length of the text. Numbers are kept in their type, as read-only arrays, and may be NaN where
    nothing is known. What belongs to a model or a segment is stored once for each of them.
    ``"model"`` and ``"segment"`` are the ids, unless a column is so named.
    """

    _trials: Trials
    tables: Tables

    def __getitem__(self, name: str) -> Column:
        """Return a column with one value for each trial, column by column."""
        for side, table in enumerate(self.tables):
            if name in table:
                places = self._trials.trial_positions()[side - 1] if side else None
                return take_items(table[name], places)
        if name not in SIDES[1:]:
            raise KeyError(f"{name!r} is no column ({', '.join(self) or 'there is none'})")
        side = SIDES.index(name) - 1
        return Factor.unchecked(self._trials.trial_positions()[side], self._trials.ids[side])

    def __iter__(self) -> Iterator[str]:
        """Return the names: columns of trials, of models, of segments."""
        return (name for table in self.tables for name in table)

    def __len__(self) -> int:
        """Return the number of columns."""
        return sum(map(len, self.tables))

    def __repr__(self) -> str:
        """Show the names."""
        sides = zip(SIDES, self.tables, strict=True)
        parts = [f"{', '.join(map(check.safe, table))} by {side}" for side, table in sides if table]
        return f"Columns: {'; '.join(parts) or 'none'}"

    def factor(self, name: str) -> Factor:
        """Return a column of categories with one value for each trial.

        Parameters
        ----------
        name : str
            A column of text, truth values or whole numbers.

        Returns
        -------
        Factor
            Column by column. Whole numbers become their text.

        Raises
        ------
        InvalidInputError
            If there is no such column, or it holds measured quantities.
        """
        column = self.get(name)
        if column is None:
            expected = f"be a column ({', '.join(self) or 'there is none'})"
            hint = "" if len(self) else "Columns come from a key file, or from with_columns."
            raise check.invalid("name", expected, check.describe(name), hint)
        if isinstance(column, Factor):
            return column
        if column.dtype.kind == "f":
            hint = "Add a column of classes, such as 'short' and 'long', by with_columns."
            got = f"{check.describe(column)} in column {name!r}"
            raise check.invalid("name", "name categories", got, hint)
        return Factor.from_values(column)


def take_items(column: Column, positions: AnyArray | slice | None) -> Column:
    """Return the values at some positions; None says all."""
    if positions is None:
        return column
    if isinstance(column, Factor):
        return column.take(positions)
    return mark_read_only(column[positions])


def is_of_side(values: object) -> TypeGuard[tuple[str, object]]:
    """Tell whether a column is one of models or of segments."""
    return type(values) is tuple and len(values) == 2 and str(values[0]) in SIDES[1:]


def as_tables(given: Mapping[str, object], trials: Trials) -> Tables:
    """Return columns as they are given: values of trials, or (side, values by id)."""
    tables: tuple[dict[str, Column], ...] = ({}, {}, {})
    sizes = trials.n_trials, *trials.shape
    for name, values in given.items():
        if not name:
            raise check.invalid("columns", "be named by text", check.describe(name))
        argument, side = f"columns[{name!r}]", 0
        if is_of_side(values):
            side = SIDES.index(values[0])
            values = _in_order(values[1], argument, SIDES[side], trials.ids[side - 1])
        else:
            hint = "Key.from_trials takes columns in the order of the ids that it is given."
            check.refuse_series(values, argument, hint)
        column = as_column(values, argument)
        if len(column) != sizes[side]:
            expected = f"have one value for each of the {sizes[side]} {SIDES[side]}s"
            raise check.invalid(argument, expected, str(len(column)))
        tables[side][name] = column
    return tables


def _in_order(values: Given, name: str, side: str, ids: StrArray) -> Given:
    """Return the values of a mapping, or of a Series with ids as its index, in order of the ids."""
    index = check.row_labels(values)
    if index is None and not isinstance(values, Mapping):
        return values
    found = dict(values if index is None else zip(index, values, strict=True))
    absent = [one for one in ids.tolist() if one not in found]
    if absent:
        if len(absent) == ids.size:
            remedy = f"A dict {{id: value}}, or a Series with ids as its index, gives each {side}"
            check.refuse_series(values, name, f"{remedy} its own.", side)
        got = f"none for {len(absent)} of {ids.size}: {check.list_some(absent)}"
        raise check.invalid(name, f"have a value for each {side}", got)
    if len(found) < len(values):
        got = check.list_some(map(repr, check.repetitions(index)))
        raise check.invalid(name, "have each id once", got)
    return [found[one] for one in ids.tolist()]


def as_column(values: Given, name: str) -> Column:
    """Return a column: numbers as a read-only array, everything else as a factor."""
    _refuse_masked(values, name)
    if hasattr(values, "__iter__") and not isinstance(values, _KEPT):
        # numpy would make text of numbers among texts.
        values = list(values)
        kinds = set(map(type, values))
        if all(issubclass(kind, int | float | np.number) and kind is not bool for kind in kinds):
            values = np.array(values)
    array = np.asarray(values) if isinstance(values, np.ndarray) else np.empty(0, np.object_)
    if array.dtype.kind not in "fiu":
        return as_factor(values, name)
    if array.ndim != 1:
        raise check.invalid(name, "be one-dimensional", check.describe(array))
    if array.dtype.kind == "f":
        # float32 stays as it is. float16 is slow in numpy, and longer types differ between
        # machines.
        short = array.dtype.itemsize <= np.dtype(np.float32).itemsize
        return read_only(array.astype(np.float32 if short else np.float64, copy=False))
    return read_only(array.astype(array.dtype.newbyteorder("="), copy=False))


def as_factor(values: Given, name: str) -> Factor:
    """Return categories as a factor; errors tell which argument held others."""
    if isinstance(values, Factor):
        return values
    _refuse_masked(values, name)
    try:
        # What goes by position has been refused before, with the way that it should take.
        return Factor.from_values(list(values) if check.is_column(values) else values)
    except InvalidInputError as error:
        raise InvalidInputError(f"`{name}` of {error}") from None


def _refuse_masked(values: object, name: str) -> None:
    """Raise if values are hidden by a mask."""
    if np.ma.is_masked(values):
        hint = "Give what is unknown a name, such as 'unknown', or NaN to quantities: .filled()."
        raise check.invalid(name, "have a value for each item", "masked values", hint)


def taken(tables: Tables, places: Sequence[AnyArray | None]) -> Tables:
    """Return columns at other positions of trials, models and segments; None says the same."""
    pairs = zip(tables, places, strict=True)
    return tuple({name: take_items(column, at) for name, column in t.items()} for t, at in pairs)


def equal_tables(first: Tables, second: Tables) -> bool:
    """Compare columns; NaN equals NaN."""
    return all(
        mine.keys() == theirs.keys() and all(equal_columns(mine[n], theirs[n]) for n in mine)
        for mine, theirs in zip(first, second, strict=True)
    )


def merged(parts: Sequence[tuple[Tables, Sequence[AnyArray]]], sizes: Sequence[int]) -> Tables:
    """Return the columns that all objects have, for their union.

    Each part has its columns, and the places of its trials, models and segments in the union.
    """
    found: list[dict[str, Column]] = []
    for side, size in enumerate(sizes):
        listed = [(tables[side], places[side]) for tables, places in parts]
        found.append({})
        for name in [n for n in listed[0][0] if all(n in table for table, _ in listed)]:
            values = np.full(size, None, dtype=object)
            for table, at in listed:
                column, before = table[name], values[at]
                own = np.asarray(column.values() if isinstance(column, Factor) else column, object)
                clash = (before != None) & (before != own)  # noqa: E711
                if clash.any():
                    message = f"The objects to be merged have other values in column {name!r}"
                    raise TrialMismatchError(f"{message} for {clash.sum()} {SIDES[side]}s.")
                values[at] = own
            found[-1][name] = as_column(values.tolist(), name)
    return tuple(found)
