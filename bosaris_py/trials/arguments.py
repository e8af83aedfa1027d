"""Arguments of trials and scores: checks, filters, and the words where something is missing."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import AnyArray, BoolArray, FloatArray, Positions, StrArray, mark_read_only
from bosaris_py._notes import warn_caller
from bosaris_py.trials.alignment import IdIndex, IdList, Ids

logger = logging.getLogger(__name__)

Item = TypeVar("Item")


# Messages


def name_trials(models: AnyArray, segments: AnyArray, ids: Ids) -> str:
    """Return the count and the first few of some trials, for a message."""
    shown = zip(ids[0][models[:6]], ids[1][segments[:6]], strict=True)
    pairs = [f"({model}, {segment})" for model, segment in shown]
    return f"{models.size} {'trial' if models.size == 1 else 'trials'}: {check.list_some(pairs)}"


def misuse(value: object) -> str:
    """Return the likely mistake where something stands in the place of scores or of a key."""
    if isinstance(value, str | os.PathLike):
        return "Read the file: read_key(path), read_trials(path) or read_scores(path)."
    if isinstance(value, Mapping):
        return f"Give one system of it: {check.list_some(value)}."
    if hasattr(value, "columns") and not hasattr(value, "modelset"):
        return "Of a data frame take from_frame(df).key and from_frame(df).scores."
    is_other = isinstance(value, list) or hasattr(value, "modelset")
    return "Were scores and key swapped?" if is_other else ""


def warn_missing(
    shape: Sequence[int], n_ids: Sequence[int], wanted: Sequence[int], found: Sequence[int]
) -> None:
    """Warn, in the toolkit's words, about models, segments and trials that are missing."""
    # `shape` and `n_ids` are the numbers of models and segments that are wanted and found, `wanted`
    # and `found` those of trials or, of a key, of targets and of non-targets.
    texts = [
        f"{noun} reduced from {n} to {has}"
        for noun, n, has in zip(("models", "test segments"), shape, n_ids, strict=True)
        if has < n
    ]
    nouns = (
        ("trials missing",) if len(wanted) == 1 else ("targets missing.", "non-targets missing.")
    )
    sides = zip(wanted, found, nouns, strict=True)
    for text in texts + [f"{n - has} of {n} {noun}" for n, has, noun in sides if has < n]:
        warn_caller(text, errors.MissingTrialsWarning)


def refuse_gaps(faults: Sequence[str]) -> None:
    """Raise if systems lack scores, which is said of each that does."""
    if faults:
        raise errors.TrialMismatchError(
            f"Every system must have a score for each trial; {'; '.join(faults)}. Fill them with "
            "set_missing_to_value, best after calibration, or take these trials out of the key."
        )


# Arguments


def instance_of(classes: tuple[type[Item], ...], value: object, name: str, expected: str) -> Item:
    """Return an object of some classes; raise, and name the likely mistake, if it is another."""
    if isinstance(value, classes):
        return value
    raise check.invalid(name, expected, check.describe(value), misuse(value))


def all_of_class(cls: type[Item], *objects: Item) -> list[Item]:
    """Return objects that are to be merged, all of which must be of the same class."""
    return [instance_of((cls,), each, "objects", f"all be {cls.__name__}") for each in objects]


def as_list_of(classes: tuple[type[Item], ...], values: object, name: str) -> list[Item]:
    """Return objects of some classes that are to be stacked, or a single one; refuse none."""
    # The order counts, in training and in application, and that of a mapping is hardly seen.
    listed = [values]
    if isinstance(values, Iterable) and not isinstance(values, str | Mapping):
        listed = list(values)
    kinds = " or ".join(cls.__name__ for cls in classes)
    if not listed:
        raise check.invalid(name, f"hold at least one {kinds}", "none")
    return [instance_of(classes, item, name, f"hold {kinds} only") for item in listed]


def both_ids(modelset: IdList, segset: IdList) -> Ids:
    """Return the ids of models and segments as arrays; each must be there once."""
    models, segments = check.as_ids(modelset, "modelset"), check.as_ids(segset, "segset")
    IdIndex(models).check_unique("modelset")
    IdIndex(segments).check_unique("segset")
    return models, segments


def to_matrix(value: npt.ArrayLike, name: str, ids: Ids | None = None) -> FloatArray:
    """Return values as a matrix; an empty list is a matrix without cells."""
    if np.shape(value) == (0,):
        value = np.empty((0, 0) if ids is None else [each.size for each in ids])
    matrix = check.as_matrix(value, name)
    if ids is not None:
        _check_sides(value, matrix, ids, name)
    return matrix


def to_mask(value: npt.ArrayLike, ids: Ids, name: str) -> BoolArray:
    """Return a mask as an array; an empty list fits any shape without cells."""
    mask, shape = check.as_mask(value, name), tuple(each.size for each in ids)
    if mask.ndim < 2 and mask.size == 0 and 0 in shape:
        mask = mask.reshape(shape)
    _check_sides(value, mask, ids, name)
    return mask


def as_cells(mask: npt.ArrayLike | None, ids: Ids, name: str) -> BoolArray | None:
    """Return which cells are trials, read-only; None for all."""
    found = None if mask is None else to_mask(mask, ids, name)
    return None if found is None or found.all() else found


def _check_sides(value: npt.ArrayLike, matrix: AnyArray, ids: Ids, name: str) -> None:
    check.check_shape(matrix, (ids[0].size, ids[1].size), name, "(models, segments)")
    check.check_frame(value, name, *zip(("modelset", "segset"), ids, strict=True))


# Filters


def kept(
    index: IdIndex, names: IdList, argument: str, noun: str, *, keep: bool
) -> Positions | None:
    """Return the positions that a filter leaves, None for all; log how many go."""
    # Unknown ids are ignored, as in the toolkit.
    left = index.which_in(check.as_ids(names, argument)) == check.as_flag(keep, "keep")
    if left.all():
        return None
    places = np.flatnonzero(left)
    logger.info("Number of %s reduced from %d to %d.", noun, left.size, places.size)
    return places


def take_ids(ids: StrArray, positions: Positions | None) -> StrArray:
    """Return the ids at some positions; None says all."""
    return ids if positions is None else mark_read_only(ids[positions])
