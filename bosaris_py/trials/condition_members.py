"""What each condition weighs, and where its trials stand."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import (
    BoolArray,
    by_constructor,
    describe,
    frozen,
    invalid,
    list_some,
    read_only,
)
from bosaris_py.trials.ids import IntArray

__all__ = [
    "ConditionMembers",
    "WeightsLike",
    "any_of",
    "as_condition_weights",
    "shares_of",
    "spread",
]

Float64Array = npt.NDArray[np.float64]
WeightsLike: TypeAlias = Mapping[str, float] | Sequence[float] | npt.NDArray[np.floating[Any]]

# What the decimals of weights such as 0.3333333333 may leave.
_SUM_TOLERANCE = 1e-6


@attrs.frozen(eq=False)
class ConditionMembers:
    """Where the trials of one condition stand in the vectors of target and non-target scores.

    Parameters
    ----------
    name : str
        The condition.
    weight : float
        Its weight, as given.
    tar, non : (n,) array of int
        Ascending positions in the two vectors.
    tar_weight, non_weight : float
        Its share in the miss rate and in the false-alarm rate: its weight,
        divided by the weights of all conditions that have trials of the class;
        0 if it has none itself.
    """

    name: str
    weight: float
    tar: IntArray = attrs.field(converter=read_only)
    non: IntArray = attrs.field(converter=read_only)
    tar_weight: float
    non_weight: float

    __reduce__ = by_constructor


def any_of(parts: Iterable[IntArray], size: int) -> slice | BoolArray:
    """Return an index of the positions that some part holds, among `size` of them.

    Parameters
    ----------
    parts : iterable of (n,) ndarray of int
        The positions, for instance the targets of each condition.
    size : int
        Number of all positions.

    Returns
    -------
    slice or (size,) ndarray of bool
        A slice if all are held, so that indexing makes no copy.
    """
    held = np.zeros(size, dtype=np.bool_)
    for part in parts:
        held[part] = True
    return slice(None) if held.all() else held


def spread(
    members: Sequence[ConditionMembers], n_tar: int, n_non: int
) -> tuple[Float64Array, Float64Array]:
    """Give each trial its condition's share, divided among the trials of the condition."""
    result = []
    for size, parts in (
        (n_tar, [(item.tar, item.tar_weight) for item in members]),
        (n_non, [(item.non, item.non_weight) for item in members]),
    ):
        weights = np.zeros(size)
        for places, share in parts:
            if places.size:
                weights[places] += share / places.size
        weights *= np.count_nonzero(weights)
        result.append(frozen(weights))
    return result[0], result[1]


def shares_of(weights: Sequence[float], parts: Sequence[IntArray]) -> list[float]:
    """Divide the weights of the conditions that have trials by their sum."""
    present = [weight if part.size else 0.0 for weight, part in zip(weights, parts, strict=True)]
    total = math.fsum(present)
    return [weight / total if total else 0.0 for weight in present]


def as_condition_weights(weights: WeightsLike | None, names: tuple[str, ...]) -> Float64Array:
    """Return one weight for each name, not negative and with sum one."""
    if weights is None:
        return frozen(np.full(len(names), 1.0 / len(names)))
    if isinstance(weights, Mapping):
        known = frozenset(names)
        unknown = [name for name in weights if name not in known]
        if unknown:
            expected = f"name conditions that exist ({list_some(names, 20)})"
            raise invalid("weights", "Conditions", expected, list_some(map(repr, unknown)))
        missing = [name for name in names if name not in weights]
        if missing:
            hint = "The weight 0 drops a condition."
            found = f"none for {list_some(map(repr, missing))}"
            raise invalid("weights", "Conditions", "name every condition", found, hint)
        weights = [weights[name] for name in names]
    try:
        values = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise invalid("weights", "Conditions", "be numbers", describe(weights)) from None
    if values.shape != (len(names),):
        expected = f"be one for each of the {len(names)} conditions"
        raise invalid("weights", "Conditions", expected, describe(values))
    if not (np.isfinite(values) & (values >= 0)).all():
        bad = names[int(np.argmin(np.isfinite(values) & (values >= 0)))]
        found = f"{values[names.index(bad)]:g} for {bad!r}"
        raise invalid("weights", "Conditions", "be finite and not negative", found)
    total = math.fsum(values)
    if abs(total - 1.0) > _SUM_TOLERANCE:
        hint = "Divide them by their sum if only proportions matter." if total > 0 else ""
        raise invalid("weights", "Conditions", "sum to one", f"the sum {total:g}", hint)
    return frozen(values / total)
