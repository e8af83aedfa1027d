"""To which condition each trial belongs, and how conditions are named."""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import (
    BoolArray,
    as_mask,
    describe,
    frozen,
    invalid,
    list_some,
    read_only,
)
from bosaris_py.storage.factors import Factor
from bosaris_py.trials._columns import as_factor
from bosaris_py.trials.forms import AnyKey, AnyNdx
from bosaris_py.trials.ids import IntArray
from bosaris_py.trials.trial_places import trial_places, trials_within

__all__ = [
    "Assignment",
    "Labels",
    "Subsets",
    "as_names",
    "as_subset",
    "product_of",
    "trial_factor",
]

_SEPARATOR = ", "
# So few conditions are looked for one by one; sorting costs as much as twenty looks.
_FEW_LEVELS = 20
# The number of a combination is an int64.
_MOST_CODES = 2**63 - 1


class Assignment(ABC):
    """Which trials of a key each condition has."""

    @property
    @abstractmethod
    def uncovered(self) -> BoolArray | None:
        """The trials that are in no condition; None if there are none."""

    @abstractmethod
    def overlapping(self, numbers: Sequence[int]) -> BoolArray | None:
        """Return the trials that are in several of these conditions; None if there are none."""

    @abstractmethod
    def places(self, chosen: BoolArray | None = None) -> list[IntArray]:
        """Return the places of the trials of each condition among those under a mask, or all."""


@attrs.frozen(eq=False)
class _Masks(Assignment):
    """A mask of the key's trials for each condition."""

    masks: list[BoolArray]

    @property
    def uncovered(self) -> BoolArray | None:
        return _unless_none(~np.logical_or.reduce(self.masks))

    def overlapping(self, numbers: Sequence[int]) -> BoolArray | None:
        once, again = (np.zeros(self.masks[0].size, dtype=np.bool_) for _ in range(2))
        for number in numbers:
            again |= once & self.masks[number]
            once |= self.masks[number]
        return _unless_none(again)

    def places(self, chosen: BoolArray | None = None) -> list[IntArray]:
        parts = self.masks if chosen is None else [mask[chosen] for mask in self.masks]
        return [np.flatnonzero(part) for part in parts]


@attrs.frozen(eq=False)
class _Codes(Assignment):
    """The number of the condition of each trial; `n_levels` for those of none."""

    codes: npt.NDArray[Any]
    n_levels: int
    absent: BoolArray | None

    @property
    def uncovered(self) -> BoolArray | None:
        return self.absent

    def overlapping(self, numbers: Sequence[int]) -> BoolArray | None:
        return None

    def places(self, chosen: BoolArray | None = None) -> list[IntArray]:
        codes = self.codes if chosen is None else self.codes[chosen]
        if self.n_levels <= _FEW_LEVELS:
            return [np.flatnonzero(codes == number) for number in range(self.n_levels)]
        # Numbers of one or two bytes are sorted in linear time.
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=self.n_levels))[: self.n_levels]
        return np.split(order, ends)[: self.n_levels]


def _unless_none(mask: BoolArray) -> BoolArray | None:
    """Return a mask if it holds anything."""
    return mask if mask.any() else None


@attrs.frozen(eq=False)
class Subsets:
    """Conditions as lists of trials or masks."""

    subsets: tuple[Any, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call that marks masks as read-only again."""
        return _restored_subsets, (self.subsets,)

    def assign(self, key: AnyKey) -> Assignment:
        """Find the trials of each condition among those of a key."""
        return _Masks([self._mask(subset, key) for subset in self.subsets])

    def _mask(self, subset: Any, key: AnyKey) -> BoolArray:
        """Tell for each trial of the key whether it is in a subset."""
        if not isinstance(subset, np.ndarray):
            return trials_within(subset, key)
        shape = (key.modelset.size, key.segset.size)
        if subset.shape == (key.n_trials,):
            return subset
        if subset.shape == shape:
            return np.asarray(subset[key.trial_positions()])
        expected = f"have the shape {shape} of the key, or one value for each of its trials"
        hint = "Did you swap models and segments?" if subset.shape == shape[::-1] else ""
        found = f"shape {subset.shape} and {key.n_trials} trials"
        raise invalid("subsets", "Conditions", expected, found, hint)


@attrs.frozen(eq=False)
class Labels:
    """Conditions as one label for each trial of a list."""

    trials: AnyNdx
    factor: Factor

    def assign(self, key: AnyKey) -> Assignment:
        """Find the trials of each condition among those of a key."""
        places = trial_places(self.trials, key)
        n_levels = self.factor.levels.size
        codes = self.factor.codes
        uncovered = None
        if places is not None:
            absent = places < 0
            # The level of nowhere is -1 as well: there is at least one trial.
            codes = codes[places].astype(np.min_scalar_type(n_levels), copy=False)
            if absent.any():
                codes[absent] = n_levels
                uncovered = absent
        return _Codes(codes, n_levels, uncovered)


def _restored_subsets(subsets: tuple[Any, ...]) -> Subsets:
    """Build a definition from what a pickle has just made."""
    return Subsets(
        tuple(frozen(item) if isinstance(item, np.ndarray) else item for item in subsets)
    )


def as_names(names: Any) -> tuple[str, ...]:
    """Return names of conditions, each once and at least one."""
    listed = tuple(names)
    if not listed:
        raise invalid("subsets", "Conditions", "name at least one condition", "none")
    for name in listed:
        if not isinstance(name, str):
            raise invalid("subsets", "Conditions", "name conditions with text", describe(name))
    repeated = sorted(name for name, count in Counter(listed).items() if count > 1)
    if repeated:
        hint = f"Values of factors must not hold {_SEPARATOR!r}."
        raise invalid("names", "Conditions", "be different", list_some(repeated), hint)
    return listed


def as_subset(name: str, subset: Any) -> Any:
    """Return the trials or the mask of one condition."""
    if isinstance(subset, AnyNdx):
        return subset
    if isinstance(subset, (str, Mapping)):
        raise invalid(f"subsets[{name!r}]", "Conditions", "be trials or a mask", describe(subset))
    mask = as_mask(subset, f"subsets[{name!r}]", "Conditions")
    if mask.ndim not in (1, 2):
        expected = "have one dimension (trials) or two (models, segments)"
        raise invalid(f"subsets[{name!r}]", "Conditions", expected, describe(mask))
    return read_only(mask)


def trial_factor(name: str, values: Any, trials: AnyNdx) -> Factor:
    """Return one value per trial as a factor."""
    factor = as_factor(values, name, "Conditions")
    if len(factor) != trials.n_trials:
        expected = f"have one value for each of the {trials.n_trials} trials"
        raise invalid(name, "Conditions", expected, f"{len(factor)}")
    return factor


def product_of(factors: Sequence[Factor]) -> Factor:
    """Return the combinations of several factors that occur."""
    if len(factors) > 2 and math.prod(f.levels.size for f in factors) > _MOST_CODES:
        # Those that occur among the first factors are not more than there are trials.
        return product_of((product_of(factors[:-1]), factors[-1]))
    codes = factors[0].codes.astype(np.int64)
    n_codes = factors[0].levels.size
    for factor in factors[1:]:
        codes *= factor.levels.size
        codes += factor.codes
        n_codes *= factor.levels.size
    if n_codes <= max(2**16, codes.size):
        occurs = np.flatnonzero(np.bincount(codes, minlength=n_codes))
        table = np.zeros(n_codes, dtype=np.min_scalar_type(max(1, occurs.size)))
        table[occurs] = np.arange(occurs.size)
        places = table[codes]
    else:
        occurs, places = np.unique(codes, return_inverse=True)
    columns = []
    for factor in reversed(factors):
        occurs, level = np.divmod(occurs, max(1, factor.levels.size))
        columns.append(factor.levels[level].tolist())
    names = [_SEPARATOR.join(texts) for texts in zip(*reversed(columns), strict=True)]
    return Factor(frozen(places), as_names(names))
