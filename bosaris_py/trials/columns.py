"""What a key knows of its trials, models and segments: columns by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py import _validation as check
from bosaris_py._arrays import AnyArray, StrArray, mark_read_only, read_only
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
Tables: TypeAlias = tuple[Table, Table, Table]

SIDES = ("trial", "model", "segment")

NO_TABLES: Tables = ({}, {}, {})


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
        if name in SIDES[1:]:
            side = SIDES.index(name) - 1
            ids = self._trials.ids[side]
            return Factor.of_distinct(self._trials.trial_positions()[side], ids)
        expected = f"be a column ({', '.join(self) or 'there is none'})"
        hint = "Columns come from a key file that has them, or from key.with_columns(...)."
        error = check.invalid("name", expected, check.describe(name), "" if len(self) else hint)
        # A mapping must say so in this way.
        raise KeyError(str(error)) from error

    def __iter__(self) -> Iterator[str]:
        """Return the names: columns of trials, of models, of segments."""
        return (name for table in self.tables for name in table)

    def __len__(self) -> int:
        """Return the number of columns."""
        return sum(map(len, self.tables))

    def __repr__(self) -> str:
        """Show the names."""
        parts = [
            f"{', '.join(map(check.safe, table))} by {side}"
            for side, table in zip(SIDES, self.tables, strict=True)
            if table
        ]
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
        try:
            column = self[name]
        except KeyError as error:
            raise error.__cause__ or error from None
        if isinstance(column, Factor):
            return column
        if column.dtype.kind == "f":
            hint = "Add a column of classes, such as 'short' and 'long', by with_columns."
            got = f"{check.describe(column)} in column {name!r}"
            raise check.invalid("name", "name categories", got, hint)
        return Factor.from_values(column)

    def by_id(self, name: str) -> dict[str, object]:
        """Return the value of each model or segment.

        Parameters
        ----------
        name : str
            A column of models or of segments.

        Returns
        -------
        dict
            By id, in the order of the key.
        """
        for table, ids in zip(self.tables[1:], self._trials.ids, strict=True):
            if name in table:
                column = table[name]
                values = column.values() if isinstance(column, Factor) else column
                return dict(zip(ids.tolist(), values.tolist(), strict=True))
        raise check.invalid("name", "be a column of models or segments", repr(name))


def take_items(column: Column, positions: AnyArray | None) -> Column:
    """Return the values at some positions; None says all."""
    if positions is None:
        return column
    if isinstance(column, Factor):
        return column.take(positions)
    return mark_read_only(column[positions])


def as_tables(given: Mapping[str, Any], trials: Trials) -> Tables:
    """Return columns as they are given: values of trials, or (side, values by id)."""
    tables: tuple[dict[str, Column], ...] = ({}, {}, {})
    sizes = trials.n_trials, trials.modelset.size, trials.segset.size
    for name, values in given.items():
        if not name:
            raise check.invalid("columns", "be named by text", check.describe(name))
        argument, side = f"columns[{name!r}]", 0
        if is_of_side(values):
            side, values = SIDES.index(values[0]), values[1]
            values = _of_ids(values, argument, SIDES[side], trials.ids[side - 1])
        else:
            hint = "Key.from_trials takes columns in the order of the ids that it is given."
            check.refuse_series(values, argument, hint)
        column = as_column(values, argument)
        if len(column) != sizes[side]:
            expected = f"have one value for each of the {sizes[side]} {SIDES[side]}s"
            raise check.invalid(argument, expected, str(len(column)))
        tables[side][name] = column
    return tables[0], tables[1], tables[2]


def is_of_side(values: object) -> bool:
    """Tell whether a column is one of models or of segments."""
    if not isinstance(values, tuple) or len(values) != 2:
        return False
    return isinstance(values[0], str) and values[0] in SIDES[1:]


def _of_ids(values: Any, name: str, side: str, ids: StrArray) -> Any:
    """Return a value for each id, of a mapping or of a Series with ids as its index."""
    is_mapping, index = isinstance(values, Mapping), check.row_labels(values)
    if not is_mapping and index is None:
        return values
    pairs = () if index is None else zip(index, values, strict=True)
    found = dict(values if is_mapping else pairs)
    if not (is_mapping or any(one in found for one in ids.tolist())):
        remedy = f"A dict {{id: value}}, or a Series with the ids as its index, gives each {side} "
        check.refuse_series(values, name, f"{remedy}its own.", side)
    absent = [one for one in ids.tolist() if one not in found]
    if absent:
        found_in = f"none for {len(absent)} of {ids.size}: {check.list_some(absent)}"
        raise check.invalid(name, f"have a value for each {side}", found_in)
    if len(found) < len(values):
        again = check.list_some(map(repr, check.repetitions(index)))
        raise check.invalid(name, "have each id once", again)
    # Not `get`: of a mapping, None may be a value.
    return [found[one] for one in ids.tolist()]


def unmasked(values: object, name: str) -> Any:
    """Return values as they are, a numpy masked array as a plain one; raise if any is masked."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if np.ma.is_masked(values):
        hint = "Give what is unknown a name, such as 'unknown', or NaN to quantities: .filled()."
        found = f"{np.count_nonzero(np.ma.getmaskarray(values))} masked values"
        raise check.invalid(name, "have a value for each item", found, hint)
    return np.asarray(values)


def as_factor(values: Any, name: str) -> Factor:
    """Return categories as a factor; errors tell which argument held others."""
    if isinstance(values, Factor):
        return values
    # What goes by position has been refused before, with the way that it should take.
    values = list(values) if check.is_column(values) else unmasked(values, name)
    try:
        return Factor.from_values(values)
    except InvalidInputError as error:
        raise InvalidInputError(f"`{name}` of {error}") from None


def as_column(values: object, name: str) -> Column:
    """Return a column: numbers as a read-only array, everything else as a factor."""
    if isinstance(values, Factor):
        return values
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
        raise check.invalid(name, "be a list of values", check.describe(values))
    values = unmasked(values, name)
    array = values if isinstance(values, np.ndarray) else _as_array(values)
    if array.ndim != 1:
        raise check.invalid(name, "be one-dimensional", check.describe(array))
    if array.dtype.kind == "f":
        # float32 stays as it is. float16 is slow in numpy, and longer types differ between
        # machines.
        short = array.dtype.itemsize <= np.dtype(np.float32).itemsize
        return read_only(array.astype(np.float32 if short else np.float64, copy=False))
    if array.dtype.kind in "iu":
        return read_only(array.astype(array.dtype.newbyteorder("="), copy=False))
    return as_factor(values, name)


def _as_array(values: Any) -> AnyArray:
    """Return numbers as an array, and anything else as an array of objects."""
    listed = list(values)
    numbers = int, float, np.integer, np.floating
    if all(isinstance(value, numbers) and not isinstance(value, bool) for value in listed):
        return np.array(listed)
    # With None in front, numpy keeps the objects and does not make text of numbers among them.
    return np.array([None, *listed], dtype=object)[1:]


def taken(tables: Tables, places: Sequence[AnyArray | None]) -> Tables:
    """Return columns at other positions of trials, models and segments; None says the same."""
    found = [
        {name: take_items(column, at) for name, column in table.items()}
        for table, at in zip(tables, places, strict=True)
    ]
    return found[0], found[1], found[2]


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
        tables = [tables[side] for tables, _ in parts]
        found.append({})
        for name in [name for name in tables[0] if all(name in table for table in tables)]:
            values = np.full(size, None, dtype=object)
            for table, (_, places) in zip(tables, parts, strict=True):
                column, at = table[name], places[side]
                own = column.values() if isinstance(column, Factor) else column
                before = values[at]
                clash = [
                    a is not None and a != b for a, b in zip(before, own.tolist(), strict=True)
                ]
                if any(clash):
                    message = f"The objects to be merged have other values in column {name!r}"
                    raise TrialMismatchError(f"{message} for {sum(clash)} {SIDES[side]}s.")
                values[at] = own.tolist()
            found[-1][name] = as_column(values.tolist(), name)
    return found[0], found[1], found[2]
