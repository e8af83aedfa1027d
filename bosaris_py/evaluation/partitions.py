"""Partitions of the scored trials by an evaluation plan: cells of the factors that it names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import attrs
import numpy as np

from bosaris_py._arrays import BoolArray, IndexArray, IntArray, mark_read_only
from bosaris_py._validation import describe, invalid, list_some
from bosaris_py.evaluation.plans import EvaluationPlan, PartitionFactor
from bosaris_py.files.columns import Factor
from bosaris_py.trials.columns import Columns
from bosaris_py.trials.conditions import ConditionMembers, Conditions, shares_of
from bosaris_py.trials.key import Key
from bosaris_py.trials.sample import Sample
from bosaris_py.trials.scores import Scores, scored_trials

# What may divide the trials.
Labelling: TypeAlias = Conditions | Columns | None

# Pairs of factor and value.
Levels: TypeAlias = tuple[tuple[str, str], ...]

_NONE = mark_read_only(np.zeros(0, dtype=np.intp))

# More are a mistake, such as a column of ids.
_MOST_CELLS = 100_000


@attrs.frozen(eq=False)
class Partition:
    """The trials that share a value of each factor, as positions in a sample."""

    members: ConditionMembers
    levels: Levels = ()
    # Non-targets of other partitions: where a plan counts only targets of a level, a
    # partition of that level is judged on its own with these.
    stand_ins: IndexArray = _NONE


@attrs.frozen(eq=False)
class Partitioning:
    """The partitions that have trials, in the order of the levels, the last factor fastest."""

    partitions: tuple[Partition, ...]
    # What was left out, with counts.
    notes: tuple[str, ...]
    # Whether these are the partitions that the plan asks for.
    by_plan: bool = False
    # Whether trials are pooled that the plan divides.
    pooled: bool = False

    @property
    def members(self) -> list[ConditionMembers]:
        """The partitions as weighted conditions."""
        return [partition.members for partition in self.partitions]


@attrs.frozen(eq=False)
class PlanTrials:
    """The sample of a key's trials, and columns or conditions that divide it."""

    sample: Sample
    # Where the positions of targets and of non-targets stand in the columns.
    places: tuple[IndexArray, IndexArray]
    columns: Columns | None = None
    members: tuple[ConditionMembers, ...] | None = None

    @classmethod
    def joined(cls, scores: Scores, key: Key, labelling: object) -> "PlanTrials":
        """Join the scores with a key's trials."""
        given = _checked_labelling(labelling)
        sample = Sample.from_trials(scores, key, allow_empty=True)
        labels, scored = key.is_target, scored_trials(scores, key)
        is_tar: BoolArray = labels if scored is None else labels & scored
        is_non: BoolArray = ~labels if scored is None else ~labels & scored
        places = np.flatnonzero(is_tar), np.flatnonzero(is_non)
        if not isinstance(given, Conditions):
            return cls(sample, places, given)
        members, notes = given.noted_members(scores, key)
        return cls(attrs.evolve(sample, notes=(*sample.notes, *notes)), places, None, members)

    @property
    def counts(self) -> tuple[IntArray, IntArray]:
        """One for each listed trial of both classes."""
        tar, non = (np.ones(one.size, np.int64) for one in (self.sample.tar, self.sample.non))
        return tar, non

    def check_parts(self, plan: EvaluationPlan) -> None:
        """Raise unless the trials of the parts of a plan can be told apart."""
        columns = sorted({column for part in plan.parts for column, _ in part.select})
        if self.columns is None:
            expected = f"be left out with {plan.name}, whose data sets a key tells apart by "
            hint = f"Or judge one data set: {', '.join(part.name for part in plan.parts)}."
            got = "Conditions" if self.members is not None else "None"
            raise invalid("conditions", expected + list_some(columns), got, hint)
        _check_columns(plan, self.columns, columns)

    def partition(self, plan: EvaluationPlan, only: Mapping[str, str]) -> Partitioning:
        """Divide the trials that a plan without parts is about."""
        # Values that the plan does not name raise, or their trials are left out. `only` chooses one
        # value of some factors.
        if self.columns is None:
            if only:
                hint = "A single condition's key is conditions.select(key, name)."
                raise invalid("only", "be None without columns of the key", describe(only), hint)
            return self._without_columns(plan)
        _check_columns(plan, self.columns, [factor.name for factor in plan.factors])
        _check_only(plan, self.columns, only)
        kept, notes = self._selected(plan, self.columns)
        columns = {factor.name: self.columns.factor(factor.name) for factor in plan.factors}
        sides = []
        for name, counts, places, mask in zip(
            ("tar", "non"), self.counts, self.places, kept, strict=True
        ):
            cells = _Cells(name, counts, mask)
            for factor in plan.factors:
                if factor.divides(name):
                    column = columns[factor.name].take(places)
                    cells.divide(factor, column, only.get(factor.name))
            sides.append(cells)
        partitions = _combined(plan.factors, columns, *(cells.positions() for cells in sides))
        if not partitions:
            raise invalid("key", "hold trials that count", "none")
        notes += [note for cells in sides for note in cells.notes]
        return Partitioning(partitions, tuple(notes), bool(plan.factors))

    def _without_columns(self, plan: EvaluationPlan) -> Partitioning:
        """Take the conditions that were given for partitions, or all trials for one."""
        notes = []
        if plan.select:
            # Nothing tells whether they are.
            chosen = ", ".join(f"{column} {level}" for column, level in plan.select)
            notes.append(f"All trials of the key are taken to be of {chosen}.")
        names = ", ".join(factor.name for factor in plan.factors)
        note = f"Partitions are the conditions given, not those of the plan ({names})."
        members: Iterable[ConditionMembers] | None = self.members
        pooled = members is None and bool(names)
        if members is None:
            tar, non = (mark_read_only(np.flatnonzero(n)) for n in self.counts)
            members = _weighted_members([("all trials", 1.0, tar, non)])
            note = (
                "NOT the published cost: without columns of the key the trials are pooled, and not "
                f"equalised over {names}."
            )
        notes += [note] if names else []
        return Partitioning(tuple(map(Partition, members)), tuple(notes), pooled=pooled)

    def _selected(self, plan: EvaluationPlan, known: Columns) -> tuple[list[BoolArray], list[str]]:
        """Tell which positions have trials of the plan's data set."""
        kept, notes = [counts > 0 for counts in self.counts], []
        for name, level in plan.select:
            if name not in known:
                notes.append(f"No column {name}: all trials are taken to be of {name} {level}.")
                continue
            column = known.factor(name)
            found = column.levels.tolist()
            if level not in found:
                expected = f"hold trials of {plan.name}, whose {name} is {level!r}"
                raise invalid("conditions", expected, list_some(map(repr, found)))
            is_level = column.codes == found.index(level)
            for mask, places in zip(kept, self.places, strict=True):
                mask &= is_level[places]
        return kept, notes


def _checked_labelling(labelling: object) -> Labelling:
    """Return what may divide trials; raise if it is anything else."""
    if labelling is None or isinstance(labelling, (Conditions, Columns)):
        return labelling
    hint = "A column of labels: key.with_columns(name=labels)."
    expected = "be Conditions or None"
    raise invalid("conditions", expected, describe(labelling), hint)


def _check_columns(plan: EvaluationPlan, known: Columns, names: list[str]) -> None:
    """Raise unless the key has the columns that a plan needs."""
    lacking = [name for name in names if name not in known]
    if lacking:
        expected = f"have the columns by which {plan.name} divides trials ({', '.join(names)})"
        found = list_some(known, 20) or "no column"
        hint = f"It lacks {', '.join(lacking)}; plan.evolve(factors=...) takes other columns."
        raise invalid("key", expected, found, hint)


def _check_only(plan: EvaluationPlan, known: Columns, only: Mapping[str, str]) -> None:
    """Raise unless `only` names factors of the plan and values of them."""
    factors = {factor.name: factor for factor in plan.factors}
    for name, level in only.items():
        if name not in factors:
            expected = f"name factors of {plan.name} ({list_some(factors, 20) or 'it has none'})"
            raise invalid("only", expected, repr(name))
        levels = factors[name].levels or known.factor(name).levels.tolist()
        if level not in levels:
            expected = f"take a value of {name} that exists ({list_some(levels, 20)})"
            raise invalid("only", expected, describe(level))


class _Cells:
    """The trials of one class, divided by one factor after the other."""

    def __init__(self, class_name: str, counts: IntArray, kept: BoolArray) -> None:
        self.class_name = class_name
        # Number of trials at each position, and whether these still count.
        self._counts, self._kept = counts, kept
        self.notes: list[str] = []
        self._what = "targets" if class_name == "tar" else "non-targets"
        self._codes = np.zeros(counts.size, dtype=np.int32)
        self._cells: list[Levels] = [()]

    def divide(self, factor: PartitionFactor, column: Factor, only: str | None) -> None:
        """Divide each cell by the values of one more column, or take those of `only`."""
        found = column.levels.tolist()
        levels = found if factor.levels is None else list(factor.levels)
        if len(self._cells) * len(levels) > _MOST_CELLS:
            expected = f"have at most {_MOST_CELLS} combinations of values"
            hint = f"Column `{factor.name}` has {len(levels)} values: is it a factor?"
            raise invalid("plan", expected, "more", hint)
        # -1 marks values that the plan does not name.
        codes = np.array([levels.index(v) if v in levels else -1 for v in found], dtype=np.int32)
        codes = codes[column.codes] if found else np.zeros(0, dtype=np.int32)

        unknown = self._kept & (codes < 0)
        if unknown.any():
            values = column.levels[np.unique(column.codes[unknown])].tolist()
            expected = f"be one of {', '.join(factor.levels or ())} in column `{factor.name}`"
            hint = "Give the plan other levels with evolve(factors=...), or None for all found."
            got = f"{list_some(map(repr, values))} for {self._counts[unknown].sum()} {self._what}"
            raise invalid("conditions", expected, got, hint)
        barred = factor.target_only if self.class_name == "non" else ()
        if barred:
            excluded = self._leave_out(
                np.isin(codes, [levels.index(level) for level in barred if level in levels])
            )
            if excluded.any():
                self.notes.append(
                    f"{self._counts[excluded].sum()} non-targets do not count: their {factor.name} "
                    f"is {' or '.join(barred)}, where the plan counts targets only."
                )
        if only is not None and only in barred:
            # Where the level is judged by itself, the non-targets of the others stand in.
            codes = np.full_like(codes, levels.index(only))
        elif only is not None:
            self._kept &= codes == levels.index(only)
        # The number of a cell in a mixed radix, the last factor running fastest.
        self._codes = self._codes * len(levels) + codes
        self._cells = [(*cell, (factor.name, level)) for cell in self._cells for level in levels]

    def _leave_out(self, trials: BoolArray) -> BoolArray:
        """Drop trials; return those that were not dropped before."""
        dropped: BoolArray = self._kept & trials
        if dropped.any():
            self._kept &= ~trials
        return dropped

    def positions(self) -> dict[Levels, IndexArray]:
        """Return the positions of the trials of each cell that has any."""
        positions = np.flatnonzero(self._kept)
        codes = self._codes if positions.size == self._kept.size else self._codes[positions]
        counts = np.bincount(codes, minlength=len(self._cells))
        # A short type is sorted by its digits, in one or two passes.
        narrow = codes.astype(np.min_scalar_type(len(self._cells)))
        # Parts of a read-only array are kept by ConditionMembers without a copy.
        order = mark_read_only(positions[np.argsort(narrow, kind="stable")])
        parts = np.split(order, np.cumsum(counts)[:-1])
        cells = zip(self._cells, parts, strict=True)
        return {cell: part for cell, part in cells if part.size}


def _combined(
    factors: Sequence[PartitionFactor],
    columns: Mapping[str, Factor],
    targets: Mapping[Levels, IndexArray],
    others: Mapping[Levels, IndexArray],
) -> tuple[Partition, ...]:
    """Join the cells of both classes, in the order of the factors' levels."""
    order, weights = {}, {}
    for factor in factors:
        # Levels without weights count alike.
        levelled = zip(factor.levels or (), factor.weights or (), strict=False)
        weights.update({(factor.name, level): weight for level, weight in levelled})
        found = sorted(columns[factor.name].levels.tolist())
        order[factor.name] = found if factor.levels is None else list(factor.levels)

    def rank(levels: Levels) -> list[int]:
        # A factor that divides one class only is missing from the cells of the other.
        chosen = dict(levels)
        return [order[name].index(chosen[name]) if name in chosen else -1 for name in order]

    cells = sorted(dict.fromkeys((*targets, *others)), key=rank)
    members = _weighted_members(
        (
            ", ".join(f"{factor} {level}" for factor, level in levels) or "all trials",
            math.prod((weights.get(pair, 1.0) for pair in levels), start=1.0),
            targets.get(levels, _NONE),
            others.get(levels, _NONE),
        )
        for levels in cells
    )
    return tuple(
        Partition(member, levels, _stand_ins(factors, levels, others))
        for member, levels in zip(members, cells, strict=True)
    )


def _stand_ins(
    factors: Sequence[PartitionFactor], levels: Levels, others: Mapping[Levels, IndexArray]
) -> IndexArray:
    """Return the non-targets by which a partition of targets only is evaluated on its own."""
    barred = {(factor.name, level) for factor in factors for level in factor.target_only}
    # Those that agree in all factors but the barred ones.
    fixed = [pair for pair in levels if pair not in barred]
    if len(fixed) == len(levels) or levels in others:
        return _NONE
    parts = [part for cell, part in others.items() if set(fixed) <= set(cell)]
    return mark_read_only(np.sort(np.concatenate(parts))) if parts else _NONE


def _weighted_members(
    cells: Iterable[tuple[str, float, IndexArray, IndexArray]],
) -> list[ConditionMembers]:
    """Share the weights out in each class; a cell is name, weight, targets, non-targets."""
    listed = list(cells)
    _, weights, tar, non = zip(*listed, strict=True) if listed else ((), (), (), ())
    shares = zip(shares_of(weights, tar), shares_of(weights, non), strict=True)
    return [ConditionMembers(*c, *own) for c, own in zip(listed, shares, strict=True)]
