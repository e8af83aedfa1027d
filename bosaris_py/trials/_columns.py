"""Columns of trial metadata: categories as factors, everything measured as arrays."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import describe, frozen, invalid, read_only
from bosaris_py.errors import InvalidInputError
from bosaris_py.storage.factors import Factor

__all__ = [
    "Column",
    "Columns",
    "ColumnsLike",
    "as_columns",
    "as_factor",
    "equal_columns",
    "take",
    "take_all",
]

Column: TypeAlias = Factor | npt.NDArray[Any]
Columns: TypeAlias = Mapping[str, Column]
ColumnsLike: TypeAlias = Mapping[str, Factor | npt.ArrayLike]


def as_columns(columns: ColumnsLike, kind: str, size: int) -> Columns:
    """Return checked columns of one kind under a mapping that cannot be changed."""
    listed: object = columns
    if not isinstance(listed, Mapping):
        found = describe(listed)
        raise invalid(f"{kind}_columns", "TrialMetadata", "map names to columns", found)
    checked = {}
    for name, values in listed.items():
        if not isinstance(name, str) or not name:
            raise invalid(f"{kind}_columns", "TrialMetadata", "be named by text", describe(name))
        column = _as_column(values, f"{kind}_columns[{name!r}]")
        if len(column) != size:
            expected = f"have one value for each of the {size} {kind}s"
            raise invalid(f"{kind}_columns[{name!r}]", "TrialMetadata", expected, str(len(column)))
        checked[name] = column
    return MappingProxyType(checked)


def _as_column(values: Any, name: str) -> Column:
    """Return a column: numbers as a read-only array, everything else as a factor."""
    if isinstance(values, Factor):
        return values
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
        raise invalid(name, "TrialMetadata", "be a list of values", describe(values))
    values = _unmasked(values, name, "TrialMetadata")
    array = values if isinstance(values, np.ndarray) else _as_array(values)
    if array.ndim != 1:
        raise invalid(name, "TrialMetadata", "be one-dimensional", describe(array))
    if array.dtype.kind == "f":
        short = array.dtype.itemsize <= np.dtype(np.float32).itemsize
        return read_only(array.astype(np.float32 if short else np.float64, copy=False))
    if array.dtype.kind in "iu":
        return read_only(array.astype(array.dtype.newbyteorder("="), copy=False))
    return as_factor(values, name, "TrialMetadata")


def as_factor(values: Any, name: str, owner: str) -> Factor:
    """Return categories as a factor; errors tell which argument held others."""
    if isinstance(values, Factor):
        return values
    values = _unmasked(values, name, owner)
    try:
        return Factor.from_values(values)
    except InvalidInputError as error:
        message = f"`{name}` of {owner}: {error}"
        raise InvalidInputError(message) from None


def _unmasked(values: Any, name: str, owner: str) -> Any:
    """Return values as they are, a numpy masked array as a plain one; raise if any is masked."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if np.ma.is_masked(values):
        hint = "Give what is unknown a name, such as 'unknown', or NaN to quantities: .filled()."
        found = f"{np.count_nonzero(np.ma.getmaskarray(values))} masked values"
        raise invalid(name, owner, "have a value for each item", found, hint)
    return np.asarray(values)


def _as_array(values: Any) -> npt.NDArray[Any]:
    """Return numbers as an array, and anything else as an array of objects."""
    listed = list(values)
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in listed):
        return np.array(listed)
    return np.array([None, *listed], dtype=object)[1:]


def take(column: Column, positions: npt.NDArray[Any]) -> Column:
    """Return the values at some positions."""
    if isinstance(column, Factor):
        return column.take(positions)
    return frozen(column[positions])


def take_all(table: Columns, positions: npt.NDArray[Any]) -> Columns:
    """Return the values of several columns at some positions."""
    return {name: take(column, positions) for name, column in table.items()}


def equal_columns(first: Column, second: Column) -> bool:
    """Compare two columns by content; NaN equals NaN."""
    if isinstance(first, Factor) or isinstance(second, Factor):
        return first is second or (
            isinstance(first, Factor) and isinstance(second, Factor) and first == second
        )
    is_float = first.dtype.kind == "f" and second.dtype.kind == "f"
    return np.array_equal(first, second, equal_nan=is_float)
