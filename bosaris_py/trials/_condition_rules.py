"""Conditions meet a key: what is allowed, and which trials each of them has there."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import (
    BoolArray,
    describe,
    frozen,
    invalid,
    list_some,
    warn_caller,
)
from bosaris_py.errors import ConditionWarning, TrialMismatchError
from bosaris_py.trials._condition_subsets import Assignment, Labels, Subsets
from bosaris_py.trials._places import describe_trials
from bosaris_py.trials.condition_members import ConditionMembers, shares_of
from bosaris_py.trials.forms import AnyKey
from bosaris_py.trials.ids import IntArray

__all__ = ["Lacking", "Overlap", "Rules", "Uncovered"]

Overlap: TypeAlias = Literal["error", "allow"]
Uncovered: TypeAlias = Literal["error", "ignore"]
Lacking: TypeAlias = Literal["warn", "ignore", "error"]

# The trials of one condition: name, weight, places among all trials of the key.
_Part: TypeAlias = tuple[str, float, IntArray]

_CLASSES = ("targets", "non-targets")


def _one_of(choices: tuple[str, ...]) -> Any:
    """Return an attrs validator of an option of Conditions."""

    def check(_: object, attribute: "attrs.Attribute[str]", value: object) -> None:
        if value not in choices:
            expected = f"be one of {', '.join(map(repr, choices))}"
            raise invalid(attribute.name, "Conditions", expected, describe(value))

    return check


@attrs.frozen
class Rules:
    """What is done about trials that conditions divide badly; the options of `Conditions`."""

    overlap: str = attrs.field(validator=_one_of(get_args(Overlap)))
    uncovered: str = attrs.field(validator=_one_of(get_args(Uncovered)))
    lacking: str = attrs.field(validator=_one_of(get_args(Lacking)))

    def members(
        self,
        key: AnyKey,
        subsets: Subsets | Labels,
        names: Sequence[str],
        weights: npt.NDArray[np.float64],
        scored: BoolArray | None = None,
    ) -> tuple[ConditionMembers, ...]:
        """Find the trials of all conditions of positive weight among those of a key.

        Parameters
        ----------
        key : Key or FlatKey
            Which trials are targets and which non-targets.
        subsets : Subsets or Labels
            What the conditions are.
        names : sequence of str
            Their names.
        weights : (k,) ndarray of float64
            Their weights.
        scored : (n_trials,) ndarray of bool, optional
            Only these trials of the key count.

        Returns
        -------
        tuple of ConditionMembers

        Raises
        ------
        TrialMismatchError
            If a condition has no trial, or a rule is broken.
        """
        assigned = subsets.assign(key)
        parts = [
            (name, weight, places)
            for name, weight, places in zip(names, weights.tolist(), assigned.places, strict=True)
            if weight > 0
        ]
        empty = [name for name, _, places in parts if places.size == 0]
        if empty:
            verb = "has" if len(empty) == 1 else "have"
            message = (
                f"{len(empty)} of {len(names)} conditions {verb} no trial of the key "
                f"({list_some(empty)}). The weight 0 leaves a condition out."
            )
            raise TrialMismatchError(message)
        # One label for each trial cannot overlap.
        if self.overlap == "error" and isinstance(subsets, Subsets):
            _refuse_overlap(key, parts)
        if self.uncovered == "error":
            _refuse_uncovered(key, assigned)
        labels = key.trial_labels()
        if scored is not None:
            parts, labels = _only_scored(parts, scored), labels[scored]
        split = _by_class(parts, labels)
        self._report_lacking(parts, split)
        shares = [
            shares_of([weight for _, weight, _ in parts], [classes[number] for classes in split])
            for number in range(2)
        ]
        return tuple(
            ConditionMembers(name, weight, frozen(tar), frozen(non), tar_weight, non_weight)
            for (name, weight, _), (tar, non), tar_weight, non_weight in zip(
                parts, split, *shares, strict=True
            )
        )

    def _report_lacking(
        self, parts: Sequence[_Part], split: Sequence[tuple[IntArray, IntArray]]
    ) -> None:
        """Say which conditions have trials of one class only."""
        if self.lacking == "ignore":
            return
        clauses = []
        for number, (noun, rate) in enumerate(zip(_CLASSES, ("false-alarm", "miss"), strict=True)):
            names = [
                name
                for (name, _, _), classes in zip(parts, split, strict=True)
                if classes[number].size == 0
            ]
            if names:
                one = len(names) == 1
                have, count = ("condition has", "counts") if one else ("conditions have", "count")
                clauses.append(
                    f"{len(names)} {have} no {noun} and {count} for the {rate} rate only "
                    f"({list_some(names)})"
                )
        if not clauses:
            return
        message = "; ".join(clauses)
        if self.lacking == "error":
            raise TrialMismatchError(message)
        warn_caller(message, ConditionWarning)


def _refuse_overlap(key: AnyKey, parts: Sequence[_Part]) -> None:
    """Raise if a trial is in several conditions."""
    n_conditions = np.zeros(key.n_trials, dtype=np.int32)
    for _, _, places in parts:
        n_conditions[places] += 1
    several = n_conditions > 1
    if several.any():
        what = describe_trials(key, several)
        message = (
            f"A trial must not belong to several conditions, as do {what}. "
            f"Say overlap='allow' to count them in each."
        )
        raise TrialMismatchError(message)


def _refuse_uncovered(key: AnyKey, assigned: Assignment) -> None:
    """Raise if a trial is in no condition."""
    if assigned.uncovered is not None:
        what = describe_trials(key, assigned.uncovered)
        message = (
            f"Each trial of the key must belong to a condition; to none belong {what}. "
            f"Say uncovered='ignore' to leave them out."
        )
        raise TrialMismatchError(message)


def _only_scored(parts: Sequence[_Part], scored: BoolArray) -> list[_Part]:
    """Leave out trials without score; places are then those among the others."""
    rank = np.cumsum(scored) - 1
    kept = [(name, weight, rank[places[scored[places]]]) for name, weight, places in parts]
    unscored = [name for name, _, places in kept if places.size == 0]
    if unscored:
        message = f"No trial of these conditions has a score: {list_some(unscored)}."
        raise TrialMismatchError(message)
    return kept


def _by_class(parts: Sequence[_Part], labels: BoolArray) -> list[tuple[IntArray, IntArray]]:
    """Turn places among all trials into places among the targets and the non-targets."""
    n_tar_up_to = np.cumsum(labels)
    split = []
    for _, _, places in parts:
        is_target = labels[places]
        tar, non = places[is_target], places[~is_target]
        split.append((n_tar_up_to[tar] - 1, non - n_tar_up_to[non]))
    return split
