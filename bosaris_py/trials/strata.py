r"""Trials grouped by set or by weighted condition: one grouping for all that counts trials.

Where conditions are weighted, an error-rate is

.. math::

    P = \sum_\alpha w_\alpha \frac{e_\alpha}{n_\alpha},

with :math:`e_\alpha` errors in :math:`n_\alpha` trials of condition :math:`\alpha` (van Leeuwen
2008, equations 3 and 4). Weight and number of trials of a condition are matters of design, so
trials are resampled within their condition. Where sets or speakers are picked, :math:`w_\alpha` is
divided by the replicate's number of trials of the condition: the same metric of other trials.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import (
    AnyArray,
    Float64Array,
    FloatArray,
    IndexArray,
    IntArray,
    Positions,
    Weights,
    by_constructor,
    mark_read_only,
    read_only,
)
from bosaris_py._validation import describe, invalid, is_missing, list_some
from bosaris_py.numerics.counts import SortedScores

# What the decimals of weights such as 0.3333333333 may leave of a sum of one.
_SUM_TOLERANCE = 1e-6

FEWEST_SETS = 2


def checked_weights(
    weights: object, names: Sequence[object], argument: str = "weights", *, positive: bool = False
) -> Float64Array:
    """Return one weight for each name, with the sum one; None says equal weights."""
    if weights is None:
        return mark_read_only(np.full(len(names), 1.0 / len(names)))
    try:
        values = np.array(weights, dtype=np.float64)
        # Text and truth values would pass, too.
        if np.asarray(weights).dtype.kind in "bSU":
            raise TypeError
    except (TypeError, ValueError):
        raise invalid(argument, "be numbers", describe(weights)) from None
    if values.shape != (len(names),):
        expected = f"be one for each of the {len(names)} conditions"
        raise invalid(argument, expected, describe(values))
    fits = np.isfinite(values) & ((values > 0) if positive else (values >= 0))
    if not fits.all():
        bad = int(np.argmin(fits))
        expected = "be finite and positive" if positive else "be finite and not negative"
        raise invalid(argument, expected, f"{values[bad]:g} for {names[bad]!r}")
    # fsum is exact, so that the order of the conditions does not matter.
    total = math.fsum(values)
    if abs(total - 1.0) > _SUM_TOLERANCE:
        hint = "Divide them by their sum if only proportions matter." if total > 0 else ""
        raise invalid(argument, "sum to one", f"the sum {total:g}", hint)
    # Exactly one, not 0.9999999999 because of decimals.
    return mark_read_only(values / total)


def shares_of(weights: Sequence[float], parts: Sequence[Positions]) -> list[float]:
    """Divide the weights of the conditions that have trials by their sum."""
    # Equations 3 and 4 sum over the conditions with trials of the class. Divided by the sum of
    # their weights these sum to one again; NIST does the same for partitions without targets.
    present = [weight if part.size else 0.0 for weight, part in zip(weights, parts, strict=True)]
    total = math.fsum(present)
    return [weight / total if total else 0.0 for weight in present]


def weighted_sum(terms: Sequence[object], shares: Float64Array) -> Any:
    """Add up terms with a weight each; a single one, which weighs one, stays as it is."""
    if len(terms) == 1:
        return terms[0]
    total = shares[0] * terms[0]
    for term, share in zip(terms[1:], shares[1:], strict=True):
        total = total + share * term
    return total


def slices_of(sizes: Sequence[int]) -> list[slice]:
    """Return where parts of these sizes stand that follow one another."""
    ends = list(itertools.accumulate(sizes))
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]


def draw_picks(n: int, rng: np.random.Generator) -> IntArray:
    """Pick n times with replacement from n things; return how often each was picked."""
    return np.bincount(rng.integers(0, n, size=n), minlength=n)


# ---- Groups of trials


@attrs.frozen(eq=False, repr=False)
class TrialGroups:
    """Which group each trial of one class belongs to."""

    # `labels` numbers the group of each trial from 0, None if there is one group only; `sizes` is
    # the number of trials in each group.

    labels: AnyArray | None = attrs.field(converter=attrs.converters.optional(read_only))
    sizes: IntArray = attrs.field(converter=read_only)

    __reduce__ = by_constructor

    def __repr__(self) -> str:
        """Say how many groups there are and how large."""
        smallest, largest = int(self.sizes.min()), int(self.sizes.max())
        return f"{type(self).__name__}: {self.n_sets} of {smallest} to {largest} trials"

    @property
    def n_sets(self) -> int:
        """Number of groups."""
        return int(self.sizes.size)

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return int(self.sizes.sum())

    def reordered(self, order: IndexArray) -> Self:
        """Take the trials in another order."""
        if self.labels is None:
            return self
        return attrs.evolve(self, labels=mark_read_only(self.labels[order]))

    @functools.cached_property
    def order(self) -> IndexArray:
        """Positions of the trials, group by group."""
        labels = np.zeros(self.n_trials, np.uint8) if self.labels is None else self.labels
        return np.argsort(labels, kind="stable")


@attrs.frozen(eq=False, repr=False)
class SetIndex(TrialGroups):
    """Which set each trial of one class belongs to."""

    labels: AnyArray = attrs.field(converter=read_only)
    sizes: IntArray = attrs.field(converter=read_only)

    @classmethod
    def from_labels(cls, labels: npt.ArrayLike | None, n_trials: int, name: str) -> "SetIndex":
        """Give each set a number; there must be two sets or more, and a label for each trial."""
        if labels is None:
            hint = 'Give the label of each trial\'s set, or use method="iid".'
            raise invalid(name, "be given when sets are resampled", "None", hint)
        array = group_labels(labels, name, n_trials)
        _, numbers, sizes = np.unique(array, return_inverse=True, return_counts=True)
        if sizes.size < FEWEST_SETS:
            expected = f"name at least {FEWEST_SETS} sets"
            raise invalid(name, expected, f"{sizes.size}", "One set shows no variation.")
        return SetIndex(*(mark_read_only(a.astype(np.int64)) for a in (numbers, sizes)))


def group_labels(labels: npt.ArrayLike, name: str, n_trials: int | None = None) -> AnyArray:
    """Return labels that can be sorted; equal ones, and no others, stay equal."""
    if not isinstance(labels, np.ndarray):
        # numpy would make the text "1" of the number 1, and "None" of a missing label.
        labels = np.array(labels, dtype=object)
    expected = "be a one-dimensional list of labels, text or whole numbers"
    unfit = invalid(name, expected, describe(labels))
    if labels.ndim != 1 or labels.dtype.kind not in "iuUSTObf":
        raise unfit
    plain = labels.dtype.kind in "iuUSb"
    listed = [] if plain else labels.tolist()
    missing = [i for i, label in enumerate(listed) if is_missing(label)]
    if missing:
        found = (
            f"none (None or NaN) for {len(missing)} of {labels.size} trials "
            f"(positions {list_some(missing)})"
        )
        hint = "Leave these trials out, or give each a set of its own."
        raise invalid(name, "tell the set of each trial", found, hint)
    if n_trials is not None and labels.size != n_trials:
        expected = f"have one label for each of the {n_trials} trials"
        raise invalid(name, expected, f"{labels.size} labels")
    if plain:
        return labels
    kinds = {type(label) for label in listed}
    if any(issubclass(kind, (float, np.floating)) for kind in kinds):
        raise unfit
    # In order where there is one, so that a list and an array give the same replicates.
    if all(issubclass(kind, str) for kind in kinds):
        return np.array(listed, dtype=np.str_)
    is_flag = [issubclass(kind, (bool, np.bool_)) for kind in kinds]
    if all(is_flag):
        return np.array(listed, dtype=np.bool_)
    if all(issubclass(kind, (int, np.integer)) for kind in kinds) and not any(is_flag):
        return np.array(listed)
    # Of several types or any other: numbers, different ones for 1 and True.
    numbers: dict[object, int] = {}
    pairs = [(isinstance(label, (bool, np.bool_)), label) for label in listed]
    try:
        return np.array([numbers.setdefault(pair, len(numbers)) for pair in pairs])
    except TypeError:
        raise unfit from None


# ---- Weighted conditions


class SortedStrata(NamedTuple):
    """The scores of one class, condition by condition, each sorted; `shares` as in `Strata`."""

    parts: tuple[SortedScores, ...]
    shares: Float64Array

    @property
    def slices(self) -> list[slice]:
        """Where the weights of each condition stand, if they are ordered like the parts."""
        return slices_of([part.size for part in self.parts])

    @property
    def values(self) -> FloatArray:
        """All scores, condition by condition."""
        if len(self.parts) == 1:
            return self.parts[0].values
        return np.concatenate([part.values for part in self.parts])


@attrs.frozen(eq=False, repr=False)
class Strata(TrialGroups):
    """Which condition each trial of one class belongs to, and the weight of each in the class."""

    # Conditions without trials of the class are left out; `shares` sum to one.

    shares: Float64Array = attrs.field(converter=read_only)

    @classmethod
    def single(cls, n_trials: int) -> Self:
        """All trials alike: no conditions."""
        return cls(None, mark_read_only(np.array([n_trials])), mark_read_only(np.ones(1)))

    @classmethod
    def from_codes(cls, codes: AnyArray, weights: Float64Array) -> Self:
        """Group trials by the number of their condition, given the weight of each condition."""
        # Conditions that have no trials of this class are left out; the others share the weight.
        counts = np.bincount(codes, minlength=weights.size)
        present = np.flatnonzero(counts)
        if present.size == 1:
            return cls.single(codes.size)
        numbers = np.zeros(weights.size, dtype=np.min_scalar_type(present.size - 1))
        numbers[present] = np.arange(present.size)
        shares = weights[present] / weights[present].sum()
        return cls(*map(mark_read_only, (numbers[codes], counts[present], shares)))

    @property
    def factors(self) -> Float64Array:
        """Weight of a single trial of each condition."""
        # The beta of van Leeuwen 2008, equation (12): w_alpha / n_alpha.
        return np.asarray(self.shares / self.sizes)

    @functools.cached_property
    def _in_order(self) -> bool:
        """Whether trials stand condition by condition."""
        return self.labels is None or not bool(np.any(self.labels[1:] < self.labels[:-1]))

    def members(self) -> list[IndexArray]:
        """Return the positions of the trials of each condition, ascending."""
        return np.split(self.order, np.cumsum(self.sizes)[:-1])

    def split(self, values: AnyArray) -> list[AnyArray]:
        """Return the values of the trials of each condition."""
        return [values] if self.labels is None else [values[part] for part in self.members()]

    def ordered(self, order: IndexArray) -> IndexArray:
        """Put an order of the trials condition by condition; within each it stays."""
        if self.labels is None:
            return order
        return np.asarray(order[np.argsort(self.labels[order], kind="stable")])

    def trial_weights(self) -> Float64Array | None:
        """Return what each trial weighs, of one in all; None if there is one condition."""
        return None if self.labels is None else self.factors[self.labels]

    def totals(self, weights: AnyArray) -> Float64Array:
        """Add up a number for each trial within conditions: (k,)."""
        if self.labels is None:
            return np.array([weights.sum()], dtype=np.float64)
        totals = np.bincount(self.labels, weights=weights, minlength=self.n_sets)
        return np.asarray(totals, dtype=np.float64)

    def mean(self, values: AnyArray) -> float:
        """Return the condition-weighted mean of a number for each trial."""
        return float(np.dot(self.shares, self.totals(values) / self.sizes))

    def complete(self, weights: Weights) -> bool:
        """Tell if each condition has kept some weight."""
        if self.labels is None:
            return bool(weights.any())
        if self._in_order:
            return all(weights[part].any() for part in slices_of(self.sizes.tolist()))
        return bool(self.totals(weights).all())

    def weigh(self, weights: Weights) -> Weights:
        """Give each condition its share of one; with one condition weights stay as they are."""
        if self.labels is None:
            return weights
        # The same in a replicate, where the condition has another number of trials.
        return np.asarray((self.shares / self.totals(weights))[self.labels] * weights)

    def draw_picks(self, rng: np.random.Generator) -> IntArray:
        """Pick as many trials of each condition as it has; return how often each was picked."""
        if self.labels is None:
            return draw_picks(int(self.sizes[0]), rng)
        picks = np.concatenate([draw_picks(size, rng) for size in self.sizes.tolist()])
        if self._in_order:
            return picks
        placed = np.empty_like(picks)
        placed[self.order] = picks
        return placed

    def cells(self, sets: SetIndex) -> SetIndex:
        """Return the trials of each set and condition: cell (s, c) has the number s k + c."""
        # Cells may be empty.
        if self.labels is None:
            return sets
        labels = sets.labels * self.n_sets + self.labels
        sizes = np.bincount(labels, minlength=sets.n_sets * self.n_sets)
        return SetIndex(mark_read_only(labels), mark_read_only(sizes))


class TrialStrata(NamedTuple):
    """The conditions of the trials of both classes."""

    tar: Strata
    non: Strata

    @classmethod
    def single(cls, n_tar: int, n_non: int) -> "TrialStrata":
        """No conditions."""
        return cls(Strata.single(n_tar), Strata.single(n_non))

    @classmethod
    def from_labels(
        cls,
        tar_labels: npt.ArrayLike | None,
        non_labels: npt.ArrayLike | None,
        weights: Mapping[Any, float] | None,
        sizes: tuple[int, int],
    ) -> "TrialStrata":
        """Make strata of the arguments `tar_conditions`, `non_conditions`, `condition_weights`."""
        if tar_labels is None and non_labels is None:
            if weights is not None:
                hint = "Give the condition of each trial in `tar_conditions` and `non_conditions`."
                expected = "be left out where there are no conditions"
                raise invalid("condition_weights", expected, describe(weights), hint)
            return cls.single(*sizes)
        arrays = []
        given = tar_labels, non_labels
        names = ("tar_conditions", "non_conditions")
        for labels, name, size in zip(given, names, sizes, strict=True):
            if labels is None:
                hint = "Conditions weight both classes; give the label of each trial."
                raise invalid(name, "be given like the other one", "None", hint)
            arrays.append(group_labels(labels, name, size))
        as_given = all(array is labels for array, labels in zip(arrays, given, strict=True))
        if as_given or {array.dtype.kind for array in arrays} in ({"b"}, {"U"}):
            joined = np.concatenate(arrays)
        else:
            # Numbers may stand for labels of several types, and must be the same in both classes.
            listed = [np.array(labels, dtype=object).tolist() for labels in given]
            joined = group_labels([*listed[0], *listed[1]], names[0])
        levels, codes = np.unique(joined, return_inverse=True)
        shares = _condition_weights(weights, levels)
        split = np.split(codes, [sizes[0]])
        return cls(*(Strata.from_codes(part, shares) for part in split))

    @property
    def shares(self) -> tuple[Float64Array, Float64Array]:
        """Weights of the conditions in each class."""
        return self.tar.shares, self.non.shares

    @property
    def is_single(self) -> bool:
        """Whether there is but one condition in either class."""
        return self.tar.labels is None and self.non.labels is None

    def trial_weights(self) -> tuple[Float64Array | None, Float64Array | None]:
        """Return what each trial weighs in each class; None where there is one condition."""
        return self.tar.trial_weights(), self.non.trial_weights()

    def reordered(self, tar_order: IndexArray, non_order: IndexArray) -> "TrialStrata":
        """Take the trials in another order."""
        return TrialStrata(self.tar.reordered(tar_order), self.non.reordered(non_order))

    def complete(self, tar_weights: Weights, non_weights: Weights) -> bool:
        """Tell if each condition of each class has kept some weight."""
        return self.tar.complete(tar_weights) and self.non.complete(non_weights)

    def weigh(
        self, tar_weights: Weights, non_weights: Weights
    ) -> tuple[Float64Array, Float64Array]:
        """Return float64 weights in which each condition has its share, see `Strata.weigh`."""
        tar, non = self.tar.weigh(tar_weights), self.non.weigh(non_weights)
        return tar.astype(np.float64, copy=False), non.astype(np.float64, copy=False)


def _condition_weights(weights: object, levels: AnyArray) -> Float64Array:
    """Return the weight of each label."""
    names, name = levels.tolist(), "condition_weights"
    if weights is None:
        return checked_weights(None, names)
    if not isinstance(weights, Mapping):
        expected = "map the label of each condition to its weight"
        raise invalid(name, expected, describe(weights), "For instance {'f': 0.5, 'm': 0.5}")
    missing = [label for label in names if label not in weights]
    unused = [label for label in weights if label not in names]
    for labels, found in ((missing, "none for {}"), (unused, "conditions without trials: {}")):
        if labels:
            expected = "name the conditions of the trials and no others"
            raise invalid(name, expected, found.format(list_some(labels)))
    return checked_weights([weights[label] for label in names], names, name, positive=True)
