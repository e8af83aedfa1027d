"""Conversion and validation of the fields of all classes of trials."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from attrs import Attribute

from bosaris_py._validation import (
    BoolArray,
    FloatArray,
    StrArray,
    as_mask,
    as_matrix,
    check_shape,
    read_only,
)
from bosaris_py._validation import frozen as mark_read_only

__all__ = [
    "IdList",
    "check_cells",
    "check_models",
    "check_segments",
    "to_mask",
    "to_mask_or_all",
    "to_matrix",
]

IdList = npt.ArrayLike | Sequence[str]


def to_matrix(value: npt.ArrayLike, name: str, owner: str) -> FloatArray:
    """Return values as a read-only matrix; an empty list is a matrix without cells."""
    if isinstance(value, (list, tuple)) and len(value) == 0:
        value = np.empty((0, 0))
    return read_only(as_matrix(value, name, owner))


def to_mask(value: npt.ArrayLike, shape: tuple[int, ...], name: str, owner: str) -> BoolArray:
    """Return a mask as a read-only array; an empty list fits any shape without cells."""
    mask = as_mask(value, name, owner)
    if mask.ndim < len(shape) and mask.size == 0 and 0 in shape:
        mask = mask.reshape(shape)
    return read_only(mask)


def to_mask_or_all(
    value: npt.ArrayLike | None, shape: tuple[int, ...], name: str, owner: str
) -> BoolArray:
    """Return a mask as a read-only array; None says all true."""
    if value is None:
        return mark_read_only(np.ones(shape, dtype=np.bool_))
    return to_mask(value, shape, name, owner)


def check_models(instance: Any, attribute: "Attribute[Any]", _: StrArray) -> None:
    """Raise if a model occurs twice."""
    instance._model_index.check_unique(attribute.name, type(instance).__name__)


def check_segments(instance: Any, attribute: "Attribute[Any]", _: StrArray) -> None:
    """Raise if a segment occurs twice."""
    instance._segment_index.check_unique(attribute.name, type(instance).__name__)


def check_cells(instance: Any, attribute: "Attribute[Any]", matrix: npt.NDArray[Any]) -> None:
    """Raise unless a matrix has one row per model and one column per segment."""
    shape = (instance.modelset.size, instance.segset.size)
    owner = type(instance).__name__
    check_shape(matrix, shape, attribute.name, owner, "(models, segments)")
