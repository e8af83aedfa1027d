"""Conditions meet a key: what is allowed, and which trials each of them has there."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

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
from bosaris_py.trials._condition_subsets import Labels, Subsets
from bosaris_py.trials.condition_members import ConditionMembers, shares_of
from bosaris_py.trials.forms import AnyKey
from bosaris_py.trials.ids import IntArray
from bosaris_py.trials.trial_places import describe_trials

__all__ = ["Lacking", "Overlap", "Rules", "Uncovered"]

Overlap: TypeAlias = Literal["error", "allow"]
Uncovered: TypeAlias = Literal["error", "ignore"]
Lacking: TypeAlias = Literal["warn", "ignore", "error"]


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
        counted = [number for number, weight in enumerate(weights.tolist()) if weight > 0]
        labels = key.trial_labels()
        among_tar = assigned.places(labels if scored is None else labels & scored)
        among_non = assigned.places(~labels if scored is None else scored & ~labels)
        parts = [
            _Part(names[number], float(weights[number]), among_tar[number], among_non[number])
            for number in counted
        ]
        if any(part.is_empty for part in parts):
            everywhere = assigned.places()
            _refuse_empty(parts, [everywhere[number].size for number in counted], len(names))
        if self.overlap == "error":
            _refuse_overlap(key, assigned.overlapping(counted))
        if self.uncovered == "error":
            _refuse_uncovered(key, assigned.uncovered)
        self._report_lacking(parts)
        tar_shares = shares_of([part.weight for part in parts], [part.tar for part in parts])
        non_shares = shares_of([part.weight for part in parts], [part.non for part in parts])
        return tuple(
            ConditionMembers(
                part.name, part.weight, frozen(part.tar), frozen(part.non), tar_share, non_share
            )
            for part, tar_share, non_share in zip(parts, tar_shares, non_shares, strict=True)
        )

    def _report_lacking(self, parts: Sequence["_Part"]) -> None:
        """Say which conditions have trials of one class only."""
        if self.lacking == "ignore":
            return
        no_tar = [part.name for part in parts if not part.tar.size]
        no_non = [part.name for part in parts if not part.non.size]
        clauses = []
        for names, noun, rate in (
            (no_tar, "targets", "false-alarm"),
            (no_non, "non-targets", "miss"),
        ):
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


class _Part(NamedTuple):
    """One condition: its trials as positions in the vectors of both classes."""

    name: str
    weight: float
    tar: IntArray
    non: IntArray

    @property
    def is_empty(self) -> bool:
        return not (self.tar.size or self.non.size)


def _refuse_empty(parts: Sequence[_Part], sizes: Sequence[int], n_conditions: int) -> None:
    """Raise for conditions without trials; `sizes` counts those without score, too."""
    empty = [part.name for part, size in zip(parts, sizes, strict=True) if not size]
    if not empty:
        unscored = list_some(part.name for part in parts if part.is_empty)
        message = f"No trial of these conditions has a score: {unscored}."
        raise TrialMismatchError(message)
    verb = "has" if len(empty) == 1 else "have"
    message = (
        f"{len(empty)} of {n_conditions} conditions {verb} no trial of the key "
        f"({list_some(empty)}). The weight 0 leaves a condition out."
    )
    raise TrialMismatchError(message)


def _refuse_overlap(key: AnyKey, trials: BoolArray | None) -> None:
    """Raise if trials are in several conditions."""
    if trials is not None:
        message = (
            f"A trial must not belong to several conditions, as do {describe_trials(key, trials)}. "
            f"Say overlap='allow' to count them in each."
        )
        raise TrialMismatchError(message)


def _refuse_uncovered(key: AnyKey, trials: BoolArray | None) -> None:
    """Raise if trials are in no condition."""
    if trials is not None:
        message = (
            f"Each trial of the key must belong to a condition; to none belong "
            f"{describe_trials(key, trials)}. Say uncovered='ignore' to leave them out."
        )
        raise TrialMismatchError(message)
