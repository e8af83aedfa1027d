"""Immutable objects made of named arrays."""

from typing import Any, Self

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import frozen as mark_read_only

__all__ = ["ArrayRecord"]


def _rebuild(cls: "type[ArrayRecord]", arrays: tuple[npt.NDArray[Any], ...]) -> "ArrayRecord":
    """Build an object from arrays that a pickle or a deep copy has just made."""
    return cls._rebuilt(*(mark_read_only(array) for array in arrays))


class ArrayRecord:
    """Base of all attrs classes whose fields are arrays.

    Objects are equal if they are of the same class and their arrays are equal;
    for that they cannot be hashed. Pickling and copying build the new object
    through its constructor, because numpy drops the read-only flag.
    """

    __slots__ = ()

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the fields by name, in the order of the constructor."""
        names = [field.name for field in attrs.fields(type(self))]  # type: ignore[arg-type]
        return {name: getattr(self, name) for name in names}

    @classmethod
    def _rebuilt(cls, *arrays: npt.NDArray[Any]) -> Self:
        """Build an object that existed before; a class may omit its warnings here."""
        return cls(*arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call that builds the object again."""
        return _rebuild, (type(self), tuple(self._arrays().values()))

    def __eq__(self, other: object) -> bool:
        """Compare class and arrays."""
        if not isinstance(other, type(self)) or type(other) is not type(self):
            return NotImplemented
        mine, theirs = self._arrays(), other._arrays()
        return all(_equal(mine[name], theirs[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]


def _equal(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> bool:
    """Compare two arrays by content; NaN equals NaN."""
    if first.shape == second.shape and first.strides == second.strides:
        # What is repeated without being stored is compared once.
        stored = tuple(slice(None) if stride else slice(1) for stride in first.strides)
        first, second = first[stored], second[stored]
    return first is second or np.array_equal(first, second, equal_nan=first.dtype.kind == "f")
