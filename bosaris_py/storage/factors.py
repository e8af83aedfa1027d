"""A column of categories: a small number for each trial, and the text of each number once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import (
    AnyArray,
    Readable,
    StrArray,
    by_constructor,
    mark_read_only,
    read_only,
)
from bosaris_py._validation import as_ids, check_unique, describe, invalid, is_column, list_some

CodeArray = npt.NDArray[np.unsignedinteger]

# Values turned into Python objects at once: bounds the memory of coding a long array.
_VALUES_AT_ONCE = 2**17


@attrs.frozen(init=False, eq=False, repr=False)
class Factor(metaclass=Readable):
    """A column of categories, such as the gender or the microphone of each trial.

    Parameters
    ----------
    codes : (k,) array_like of int
        The category of each item, as a position in `levels`.
    levels : (n,) array_like of str
        The categories, each once; some may occur nowhere.

    Notes
    -----
    Codes are kept in the shortest unsigned type that holds them: one byte per
    item for up to 256 levels. Two factors are equal if they have the same
    values, whatever the order of their levels.

    Examples
    --------
    >>> gender = Factor.from_values(["m", "f", "f", "m"])
    >>> gender
    Factor: 4 values of 2 levels (f, m)
    >>> gender.codes
    array([1, 0, 0, 1], dtype=uint8)
    >>> gender.take([0, 3]).values().tolist()
    ['m', 'm']
    """

    codes: CodeArray
    levels: StrArray

    def __init__(self, codes: npt.ArrayLike, levels: npt.ArrayLike | Sequence[str]) -> None:
        names = as_ids(levels, "levels")
        check_unique(names, "levels")
        dtype = np.min_scalar_type(max(0, names.size - 1))
        hint = "Factor.from_values makes codes of texts."
        self.__attrs_init__(as_positions(codes, "levels", names.size, "codes", dtype, hint), names)

    @classmethod
    def from_values(cls, values: npt.ArrayLike | Sequence[object]) -> "Factor":
        """Make a factor of one value per item.

        Parameters
        ----------
        values : (k,) array_like of str, int or bool
            The category of each item. Whole numbers and truth values become their text, such as
            ``"3"`` and ``"True"``.

        Returns
        -------
        Factor
            With the distinct values as levels, in ascending order.
        """
        no_list = (str, bytes, Mapping, set, frozenset)
        if isinstance(values, no_list) or not hasattr(values, "__iter__"):
            raise invalid("values", "be a list of values", describe(values))
        if is_column(values):
            hint = "Of rows that have the order of what the factor is for, take .to_numpy()."
            found = f"a {type(values).__name__}, whose index a Factor would lose"
            raise invalid("values", "be values without an order of their own", found, hint)
        if not isinstance(values, np.ndarray):
            listed = list(values)  # type: ignore[arg-type]
            # numpy would make text of all values if one of them is text.
            kinds = set(map(type, listed))
            if kinds == {str}:
                return _coded([listed], len(listed))
            if type(None) in kinds:
                hint = "Give what is unknown a name, such as 'unknown'."
                found = f"None for {sum(value is None for value in listed)} of {len(listed)}"
                raise invalid("values", "be a category for each item", found, hint)
            if any(issubclass(kind, (str, bytes)) for kind in kinds) or not kinds:
                values = as_ids(listed, "values")
            else:
                values = np.array(listed)
        if values.dtype.kind == "f":
            hint = "Cut measured quantities into classes that have names."
            raise invalid("values", "be categories", describe(values), hint)
        if values.dtype.kind in "bui" and values.ndim == 1:
            # Python's text of a number, not numpy's, and only once for each.
            distinct, positions = np.unique(values, return_inverse=True)
            texts = [str(value) for value in distinct.tolist()]
            ascending = sorted(texts)
            rank = np.array([ascending.index(text) for text in texts], dtype=np.intp)
            return cls(rank[positions], ascending)
        ids = as_ids(values, "values")
        return _coded(_parts(ids), ids.size)

    def __len__(self) -> int:
        """Return the number of items."""
        return int(self.codes.size)

    def __repr__(self) -> str:
        """Return the counts and the first levels."""
        return f"Factor: {len(self)} values of {self.levels.size} levels ({list_some(self.levels)})"

    def __eq__(self, other: object) -> bool:
        """Compare the values of both."""
        if not isinstance(other, Factor):
            return NotImplemented
        if len(self) != len(other):
            return False
        if np.array_equal(self.levels, other.levels):
            return np.array_equal(self.codes, other.codes)
        union = np.unique(np.concatenate((self.levels, other.levels)))
        mine = np.searchsorted(union, self.levels)
        return np.array_equal(mine[self.codes], np.searchsorted(union, other.levels)[other.codes])

    __hash__ = None  # type: ignore[assignment]
    __reduce__ = by_constructor

    def values(self) -> StrArray:
        """Return the text of each item.

        Returns
        -------
        (k,) ndarray of str
            Four bytes per character: for millions of items prefer `codes`.
        """
        return mark_read_only(self.levels[self.codes])

    def take(self, indices: AnyArray | slice) -> "Factor":
        """Return the factor of other items.

        Parameters
        ----------
        indices : slice, (j,) array_like of int, or (k,) array_like of bool
            Which items, in any order and more than once.

        Returns
        -------
        Factor
            With the same levels, those that occur no more included.
        """
        return Factor(mark_read_only(np.array(self.codes[indices])), self.levels)

    def counts(self) -> npt.NDArray[np.int64]:
        """Count the items of each level.

        Returns
        -------
        (n,) ndarray of int64
            In the order of `levels`.
        """
        return mark_read_only(np.bincount(self.codes, minlength=self.levels.size).astype(np.int64))


def as_positions(
    values: npt.ArrayLike, items: str, size: int, name: str, dtype: npt.DTypeLike, hint: str
) -> AnyArray:
    """Return positions in a list, the argument `items`, as a read-only vector of a type.

    The hint is for those who give texts.
    """
    if isinstance(values, np.ma.MaskedArray):
        raise invalid(name, "be a plain array", "a masked array")
    try:
        array = np.asarray(values)
    except ValueError:
        raise invalid(name, "be one-dimensional", "lists of different lengths") from None
    if array.ndim != 1:
        raise invalid(name, "be one-dimensional", describe(array))
    # Truth values are no positions: they would pick the first two ids.
    if array.size and array.dtype.kind not in "iu":
        shown = hint if array.dtype.kind in "OSTU" else ""
        raise invalid(name, f"be positions in `{items}`, whole numbers", describe(array), shown)
    if array.size and (array.min() < 0 or array.max() >= size):
        bad = np.flatnonzero((array < 0) | (array >= size))
        expected = f"be positions in `{items}`, from 0 to {size - 1}" if size else f"fit `{items}`"
        found = f"{array[bad[0]]} for item {bad[0]} ({bad.size} of {array.size} are out of range)"
        raise invalid(name, expected, found, "" if size else f"`{items}` is empty.")
    return read_only(array) if array.dtype == dtype else mark_read_only(array.astype(dtype))


def _parts(ids: StrArray) -> Iterator[list[str]]:
    """Give ids as lists of bounded length."""
    for start in range(0, ids.size, _VALUES_AT_ONCE):
        yield ids[start : start + _VALUES_AT_ONCE].tolist()


def _coded(parts: Iterable[Sequence[str]], size: int) -> Factor:
    """Return the factor of texts that come in parts; `size` is their number."""
    numbers: dict[str, int] = {}
    codes = np.empty(size, dtype=np.int32)
    end = 0
    for part in parts:
        for text in set(part).difference(numbers):
            numbers[text] = len(numbers)
        codes[end : end + len(part)] = np.fromiter(
            map(numbers.__getitem__, part), dtype=np.int32, count=len(part)
        )
        end += len(part)
    levels = sorted(numbers)
    rank = np.empty(len(levels), dtype=np.min_scalar_type(max(0, len(levels) - 1)))
    rank[[numbers[text] for text in levels]] = np.arange(len(levels))
    return Factor(mark_read_only(rank[codes]), levels)
