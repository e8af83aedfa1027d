"""Which trials of a key each condition has: by lists, by masks, by labels."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from bosaris_py._arrays import AnyArray, BoolArray, Positions, by_constructor, read_only
from bosaris_py._validation import invalid
from bosaris_py.files.columns import Factor
from bosaris_py.trials.scores import trials_within
from bosaris_py.trials.trials import Trials

# So few conditions are looked for one by one; sorting costs as much as twenty looks.
_FEW_LEVELS = 20


@attrs.frozen(eq=False)
class _Masks:
    """A mask of the key's trials for each condition."""

    masks: list[BoolArray]

    @property
    def uncovered(self) -> BoolArray:
        """The trials that are in no condition."""
        return np.asarray(~np.logical_or.reduce(self.masks))

    def overlapping(self, numbers: Sequence[int]) -> BoolArray:
        """Return the trials that are in several of these conditions."""
        # A mask for "at least once" and one for "again" serve any number of conditions.
        once, again = (np.zeros(self.masks[0].size, dtype=np.bool_) for _ in range(2))
        for number in numbers:
            again |= once & self.masks[number]
            once |= self.masks[number]
        return again

    def positions(self, chosen: BoolArray | None = None) -> list[Positions]:
        """Return where the trials of each condition stand among those under a mask, or all."""
        parts = self.masks if chosen is None else [mask[chosen] for mask in self.masks]
        return [np.flatnonzero(part) for part in parts]


@attrs.frozen(eq=False)
class Codes:
    """The number of the condition of each trial; `n_levels` for those of none."""

    codes: AnyArray
    n_levels: int
    uncovered: BoolArray | None

    def overlapping(self, numbers: Sequence[int]) -> None:
        """Return None: each trial has one condition at most."""

    def positions(self, chosen: BoolArray | None = None) -> list[Positions]:
        """Return where the trials of each condition stand among those under a mask, or all."""
        codes = self.codes if chosen is None else self.codes[chosen]
        if self.n_levels <= _FEW_LEVELS:
            return [np.flatnonzero(codes == number) for number in range(self.n_levels)]
        # Numbers of one or two bytes are sorted in linear time.
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=self.n_levels))[: self.n_levels]
        return np.split(order, ends)[: self.n_levels]


def _read_only_masks(subsets: tuple[Trials | BoolArray, ...]) -> tuple[Trials | BoolArray, ...]:
    """Return subsets whose masks are read-only."""
    return tuple(read_only(item) if isinstance(item, np.ndarray) else item for item in subsets)


@attrs.frozen(eq=False)
class Subsets:
    """Conditions as lists of trials or masks."""

    subsets: tuple[Trials | BoolArray, ...] = attrs.field(converter=_read_only_masks)

    __reduce__ = by_constructor

    def assign(self, key: Trials) -> _Masks:
        """Find the trials of each condition among those of a key."""
        return _Masks([_mask_of(subset, key) for subset in self.subsets])


def _mask_of(subset: Trials | BoolArray, key: Trials) -> BoolArray:
    """Tell for each trial of the key whether it is in a subset."""
    # Objects with ids fit any key; a mask fits keys of its shape only.
    if not isinstance(subset, np.ndarray):
        return trials_within(subset, key)
    if subset.shape == (key.n_trials,):
        return subset
    if subset.shape == key.shape:
        return np.asarray(subset[key.trial_positions()])
    expected = f"have the shape {key.shape} of the key, or one value for each of its trials"
    hint = "Did you swap models and segments?" if subset.shape == key.shape[::-1] else ""
    raise invalid("subsets", expected, f"shape {subset.shape} and {key.n_trials} trials", hint)


@attrs.frozen(eq=False)
class Labels:
    """Conditions as one label for each trial of a list."""

    trials: Trials
    factor: Factor

    def assign(self, key: Trials) -> Codes:
        """Find the trials of each condition among those of a key."""
        n_levels, codes = self.factor.levels.size, self.factor.codes
        positions = self.trials.locate(key)
        if positions is None:
            return Codes(codes, n_levels, None)
        absent = positions < 0
        # Position -1 reads some label: there is at least one trial.
        codes = codes[positions].astype(np.min_scalar_type(n_levels), copy=False)
        if not absent.any():
            return Codes(codes, n_levels, None)
        codes[absent] = n_levels
        return Codes(codes, n_levels, absent)
