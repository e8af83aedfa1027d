"""Arguments of trials and scores: checks, filters, and the words where something is missing."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

import bosaris_py.trials.alignment as align
from bosaris_py import _validation as check, errors
from bosaris_py._arrays import AnyArray, BoolArray, FloatArray, Positions, StrArray, mark_read_only
from bosaris_py._cautions import warn_caller
from bosaris_py.trials.alignment import IdIndex, IdList

logger = logging.getLogger(__name__)

Merged = TypeVar("Merged")

# The words of the toolkit, so that users of its scripts see what they know.
_MISSING = (
    "models reduced from {wanted} to {found}",
    "test segments reduced from {wanted} to {found}",
    "{missing} of {wanted} trials missing",
)
_MISSING_OF_KEY = (
    *_MISSING[:2],
    "{missing} of {wanted} targets missing.",
    "{missing} of {wanted} non-targets missing.",
)


# Messages


def name_trials(models: AnyArray, segments: AnyArray, ids: align.Ids) -> str:
    """Return the count and the first few of some trials, for a message."""
    shown = zip(ids[0][models[:6]], ids[1][segments[:6]], strict=True)
    pairs = [f"({model}, {segment})" for model, segment in shown]
    return f"{models.size} {'trial' if models.size == 1 else 'trials'}: {check.list_some(pairs)}"


def warn_missing(
    shape: Sequence[int], n_ids: Sequence[int], wanted: Sequence[int], found: Sequence[int]
) -> None:
    """Warn, in the toolkit's words, about models, segments and trials that are missing."""
    # `shape` and `n_ids` are the numbers of models and segments that are wanted and found, `wanted`
    # and `found` those of trials or, of a key, of targets and of non-targets.
    messages = _MISSING if len(wanted) == 1 else _MISSING_OF_KEY
    for message, n_wanted, n_found in zip(
        messages, (*shape, *wanted), (*n_ids, *found), strict=True
    ):
        if n_found < n_wanted:
            text = message.format(wanted=n_wanted, found=n_found, missing=n_wanted - n_found)
            warn_caller(text, errors.MissingTrialsWarning)


def all_of_class(cls: type[Merged], *objects: Merged) -> tuple[Merged, ...]:
    """Return objects that are to be merged, all of which must be of the same class."""
    for item in objects:
        if not isinstance(item, cls):
            hint = "Write merge(*objects)." if isinstance(item, list | tuple) else ""
            raise check.invalid("objects", f"all be {cls.__name__}", check.describe(item), hint)
    return objects


def as_list_of(
    classes: tuple[type[Merged], ...], values: Any, name: str, what: str, all_of: str
) -> list[Merged]:
    """Return objects of some classes that are to be stacked, or a single one; refuse none."""
    if isinstance(values, Mapping):
        # The order counts, in training and in application, and that of a mapping is hardly seen.
        hint = f"Put the {all_of} into a list, in the order of the training."
        raise check.invalid(name, f"be a list of {what}", f"one {type(values).__name__}", hint)
    is_one = isinstance(values, (str, os.PathLike)) or not isinstance(values, Iterable)
    listed: list[Merged] = [values] if is_one else list(values)
    if not listed:
        raise check.invalid(name, f"hold at least one {what}", "none")
    for item in listed:
        if not isinstance(item, classes):
            is_path = isinstance(item, str | os.PathLike)
            hint = "Read the files: read_scores(path)." if is_path else ""
            raise check.invalid(name, f"hold {what} only", check.describe(item), hint)
    return listed


# Arguments of constructors


def both_ids(modelset: IdList, segset: IdList) -> align.Ids:
    """Return the ids of models and segments as arrays."""
    return check.as_ids(modelset, "modelset"), check.as_ids(segset, "segset")


def to_matrix(value: npt.ArrayLike, name: str, ids: align.Ids | None = None) -> FloatArray:
    """Return values as a matrix; an empty list is a matrix without cells."""
    if isinstance(value, (list, tuple)) and len(value) == 0:
        value = np.empty((0, 0) if ids is None else [each.size for each in ids])
    matrix = check.as_matrix(value, name)
    if ids is not None:
        _check_sides(value, matrix, ids, name)
    return matrix


def to_mask(value: npt.ArrayLike, ids: align.Ids, name: str) -> BoolArray:
    """Return a mask as an array; an empty list fits any shape without cells."""
    mask, shape = check.as_mask(value, name), tuple(each.size for each in ids)
    if mask.ndim < 2 and mask.size == 0 and 0 in shape:
        mask = mask.reshape(shape)
    _check_sides(value, mask, ids, name)
    return mask


def _check_sides(value: npt.ArrayLike, matrix: AnyArray, ids: align.Ids, name: str) -> None:
    check.check_shape(matrix, (ids[0].size, ids[1].size), name, "(models, segments)")
    check.check_frame(value, name, *zip(("modelset", "segset"), ids, strict=True))


def as_cells(mask: BoolArray) -> BoolArray | None:
    """Return a mask as cells: None if all are trials."""
    return None if mask.all() else mask


# Filters


def log_reduced(what: str, before: int, after: int) -> None:
    """Log that a filter has removed something, in the toolkit's words."""
    if after < before:
        logger.info("Number of %s reduced from %d to %d.", what, before, after)


def kept(index: IdIndex, names: IdList, argument: str, *, keep: bool) -> Positions | None:
    """Return the positions that a filter leaves; None says all."""
    listed = check.as_ids(names, argument)
    # Unknown ids are ignored, as in the toolkit.
    present = index.which_in(listed)
    if not check.as_flag(keep, "keep"):
        present = ~present
    return None if present.all() else np.flatnonzero(present)


def take_ids(ids: StrArray, positions: Positions | None) -> StrArray:
    """Return the ids at some positions; None says all."""
    return ids if positions is None else mark_read_only(ids[positions])
