"""The scored trials of an evaluation, with what divides them."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import attrs
import numpy as np

from bosaris_py._validation import BoolArray, describe, invalid, list_some, refuse_nan
from bosaris_py.evaluation._partitions import (
    EvaluatedClass,
    Partition,
    Partitioning,
    partitions_by_factors,
)
from bosaris_py.evaluation.plans import EvaluationPlan
from bosaris_py.storage.factors import Factor
from bosaris_py.trials import ConditionMembers, Conditions, TrialMetadata
from bosaris_py.trials.forms import AnyKey, AnyScores
from bosaris_py.trials.trial_places import scored_trials

__all__ = ["EvaluatedTrials", "Labelling"]

_OWNER = "primary_cost"

# What may divide the trials.
Labelling: TypeAlias = Conditions | TrialMetadata | None


@attrs.frozen(eq=False, kw_only=True)
class EvaluatedTrials:
    """The scores of both classes, and metadata or conditions that divide them.

    Parameters
    ----------
    tar, non : EvaluatedClass
        The trials.
    metadata : TrialMetadata or None
        Columns for the trials of the key.
    members : tuple of ConditionMembers or None
        Conditions, with positions in `tar` and `non`.
    """

    tar: EvaluatedClass
    non: EvaluatedClass
    metadata: TrialMetadata | None = None
    members: tuple[ConditionMembers, ...] | None = None

    @classmethod
    def of(cls, scores: AnyScores, key: AnyKey, conditions: object) -> "EvaluatedTrials":
        """Collect the scores of a key's trials."""
        if conditions is not None and not isinstance(conditions, (Conditions, TrialMetadata)):
            hint = "A column of labels: Conditions.from_labels(key, labels)."
            expected = "be TrialMetadata, Conditions or None"
            raise invalid("conditions", _OWNER, expected, describe(conditions), hint)
        tar, non = scores.get_tar_non(key)
        refuse_nan(tar, "scores of targets", _OWNER)
        refuse_nan(non, "scores of non-targets", _OWNER)
        labels, scored = key.trial_labels(), scored_trials(scores, key)
        is_tar: BoolArray = labels if scored is None else labels & scored
        is_non: BoolArray = ~labels if scored is None else ~labels & scored
        trials = cls(
            tar=EvaluatedClass(tar, np.flatnonzero(is_tar)),
            non=EvaluatedClass(non, np.flatnonzero(is_non)),
        )
        if isinstance(conditions, Conditions):
            return attrs.evolve(trials, members=conditions.scored_members(scores, key))
        if isinstance(conditions, TrialMetadata):
            return attrs.evolve(trials, metadata=conditions.for_trials(key))
        return trials

    def check_parts(self, plan: EvaluationPlan) -> None:
        """Raise unless the trials of the parts of a plan can be told apart."""
        columns = sorted({column for part in plan.parts for column, _ in part.select})
        if self.metadata is None:
            expected = f"be TrialMetadata for {plan.name}, whose data sets are told apart by "
            hint = f"Or judge one data set: {', '.join(part.name for part in plan.parts)}."
            got = "Conditions" if self.members is not None else "None"
            raise invalid("conditions", _OWNER, expected + list_some(columns), got, hint)
        self._check_columns(plan, columns)

    def partition(
        self, plan: EvaluationPlan, only: Mapping[str, str], *, drop_unknown: bool
    ) -> Partitioning:
        """Cut the trials that a plan is about into its partitions.

        Parameters
        ----------
        plan : EvaluationPlan
            A plan without parts.
        only : mapping of str to str
            Factors of which one value only is looked at.
        drop_unknown : bool
            Leave out trials with values that the plan does not name.

        Returns
        -------
        Partitioning
        """
        if self.metadata is None:
            return self._without_metadata(plan, only)
        names = [factor.name for factor in plan.factors]
        self._check_columns(plan, names)
        self._check_only(plan, only)
        chosen, notes = self._selected(plan)
        columns = {name: chosen._column(name) for name in names}
        cut = partitions_by_factors(
            plan, chosen.tar, chosen.non, columns, only, drop_unknown=drop_unknown
        )
        if not cut.partitions:
            raise invalid("key", _OWNER, "hold trials that count", "none")
        return attrs.evolve(cut, notes=(*notes, *cut.notes))

    def _without_metadata(self, plan: EvaluationPlan, only: Mapping[str, str]) -> Partitioning:
        if only:
            hint = "A single condition's key is conditions.select(key, name)."
            raise invalid("only", _OWNER, "be None without TrialMetadata", describe(only), hint)
        notes = []
        if plan.select:
            chosen = ", ".join(f"{column} {level}" for column, level in plan.select)
            notes.append(f"All trials of the key are taken to be of {chosen}.")
        names = ", ".join(factor.name for factor in plan.factors)
        if self.members is None:
            if names:
                notes.append(
                    f"NOT the published cost: without metadata the trials are pooled, and not "
                    f"equalised over {names}."
                )
            everything = Partition(
                name="all trials",
                tar=np.arange(self.tar.scores.size),
                non=np.arange(self.non.scores.size),
            )
            partitions: tuple[Partition, ...] = (everything,)
            return self._partitioning(partitions, notes)
        if names:
            notes.append(f"Partitions are the conditions given, not those of the plan ({names}).")
        partitions = tuple(
            Partition(name=item.name, weight=item.weight, tar=item.tar, non=item.non)
            for item in self.members
        )
        return self._partitioning(partitions, notes)

    def _partitioning(
        self, partitions: tuple[Partition, ...], notes: Sequence[str]
    ) -> Partitioning:
        return Partitioning(tar=self.tar, non=self.non, partitions=partitions, notes=tuple(notes))

    def _check_columns(self, plan: EvaluationPlan, names: list[str]) -> None:
        assert self.metadata is not None
        lacking = [name for name in names if name not in self.metadata.names]
        if lacking:
            expected = f"have the columns by which {plan.name} divides trials ({', '.join(names)})"
            found = list_some(self.metadata.names, 20) or "no column"
            hint = f"It lacks {', '.join(lacking)}; plan.evolve(factors=...) takes other columns."
            raise invalid("conditions", _OWNER, expected, found, hint)

    def _check_only(self, plan: EvaluationPlan, only: Mapping[str, str]) -> None:
        assert self.metadata is not None
        factors = {factor.name: factor for factor in plan.factors}
        for name, level in only.items():
            if name not in factors:
                expected = (
                    f"name factors of {plan.name} ({list_some(factors, 20) or 'it has none'})"
                )
                raise invalid("only", _OWNER, expected, repr(name))
            levels = factors[name].levels or self.metadata.factor(name).levels.tolist()
            if level not in levels:
                expected = f"take a value of {name} that exists ({list_some(levels, 20)})"
                raise invalid("only", _OWNER, expected, describe(level))

    def _selected(self, plan: EvaluationPlan) -> tuple["EvaluatedTrials", list[str]]:
        """Return the trials of the plan's data set."""
        assert self.metadata is not None
        trials, notes = self, []
        for name, level in plan.select:
            if name not in self.metadata.names:
                notes.append(f"No column {name}: all trials are taken to be of {name} {level}.")
                continue
            found = self.metadata.factor(name).levels.tolist()
            if level not in found:
                expected = f"hold trials of {plan.name}, whose {name} is {level!r}"
                raise invalid("conditions", _OWNER, expected, list_some(map(repr, found)))
            tar, non = trials._column(name)
            in_tar, in_non = (part.codes == found.index(level) for part in (tar, non))
            trials = attrs.evolve(trials, tar=trials.tar.at(in_tar), non=trials.non.at(in_non))
        return trials, notes

    def _column(self, name: str) -> tuple[Factor, Factor]:
        """Return a column's values for targets and for non-targets, with the same levels."""
        assert self.metadata is not None
        column = self.metadata.factor(name)
        return column.take(self.tar.places), column.take(self.non.places)
