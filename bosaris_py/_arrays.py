"""Types of arguments, read-only arrays, and the base class of immutable records of arrays."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, Self

import attrs
import numpy as np
import numpy.typing as npt

# What a caller gave, before a check has looked at it.
Given = Any
# A float where one number is asked for, an array where many are.
Answer = Any
FilePath = str | os.PathLike[str]
Rng = np.random.Generator | int | None
ArrayLike = npt.ArrayLike
AnyArray = npt.NDArray[Any]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.floating]
IntArray = npt.NDArray[np.integer]
StrArray = npt.NDArray[np.str_]
# One number: what is computed of it is a float, of arrays an array.
Number = float | np.floating | np.integer
# Weights of trials as an argument; None if each trial weighs one.
Weighting = ArrayLike | None
# Sums of weights: int64 where all trials weigh whole numbers, else float64.
Weights = AnyArray


def mark_read_only(array: AnyArray) -> AnyArray:
    """Make a fresh array, to which nothing else refers, read-only for good."""
    # What is returned is a view: unlike the owner of the memory, it cannot be made writeable again.
    array.setflags(write=False)
    return array.view()


def read_only(array: AnyArray) -> AnyArray:
    """Return `array` if nothing can write to its memory, else a read-only copy."""
    # A read-only array that owns its memory is copied too, because its holder can make it writeable
    # again; so is a view of a writeable array.
    base: object = array.base
    trusted = base is not None and not array.flags.writeable
    while trusted and base is not None:
        trusted = isinstance(base, np.ndarray) and not base.flags.writeable
        base = base.base if isinstance(base, np.ndarray) else None
    return array if trusted else mark_read_only(array.copy(order="K"))


def by_constructor(value: Given) -> tuple[object, ...]:
    """Return what ``__reduce__`` must, to pickle an attrs object as a call of its class."""
    # numpy drops the read-only flag of arrays that are pickled or copied; the constructor sets it
    # again.
    given = [field for field in attrs.fields(type(value)) if field.init]
    fields = {field.alias: getattr(value, field.name) for field in given}
    cls: Callable[..., object] = type(value)
    return functools.partial(cls, **fields), ()


class ArrayRecord:
    """Base of attrs classes whose fields are arrays."""

    # Objects are equal if they are of the same class and their arrays are equal; for that they
    # cannot be hashed. Pickling and copying build the new object again, because numpy drops the
    # read-only flag, which the converters of the fields set.

    __slots__ = ()

    def _fields(self) -> dict[str, Given]:
        """Return the fields by the names of `_made`."""
        fields = attrs.fields(type(self))  # type: ignore[arg-type]
        return {field.alias: getattr(self, field.name) for field in fields if field.init}

    @classmethod
    def _made(cls, *fields: Given, **named: Given) -> Self:
        """Build an object of its fields, past a constructor that converts arguments or warns."""
        made = cls.__new__(cls)
        made.__attrs_init__(*fields, **named)  # type: ignore[attr-defined]
        return made

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as a call that builds the object again."""
        return functools.partial(self._made, **self._fields()), ()

    def __eq__(self, other: object) -> bool:
        """Compare class and arrays; NaN equals NaN."""
        if not isinstance(other, ArrayRecord) or type(other) is not type(self):
            return NotImplemented
        both = zip(self._fields().values(), other._fields().values(), strict=True)
        # An array may be None, which is no number.
        return all(np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f") for a, b in both)

    __hash__ = None  # type: ignore[assignment]


def round_to_float32(limits: FloatArray, *, towards: float) -> FloatArray:
    """Return float32 limits such that no float32 number lies between them and the given ones."""
    # Beyond the largest float32 both steps end at infinity, as they should.
    with np.errstate(over="ignore"):
        rounded = np.asarray(limits.astype(np.float32))
        overshot = rounded < limits if towards > 0 else rounded > limits
        return np.where(overshot, np.nextafter(rounded, np.float32(towards)), rounded)
