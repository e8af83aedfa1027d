"""Partitions of the scored trials by an evaluation plan, and the quirks of NIST's scorer.

The quirks are for results that must agree with published ones to the last digit; where the quirks
change a number, the default of `primary_cost` is the better one. The behaviour is that of the
scoring software of SRE18, version 4.3; the cores of later kits are the same.

Two things cannot be imitated. The official scorer sorts with an algorithm that is not stable, so
its results for tied scores depend on the order of the rows and on the processor. Here ties keep the
order of partitions and, in each, of the key's trials. And it pairs scores and key by row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import attrs
import numpy as np

from bosaris_py._arrays import (
    BoolArray,
    Float64Array,
    FloatArray,
    IndexArray,
    IntArray,
    mark_read_only,
)
from bosaris_py._validation import describe, invalid, list_some, refuse_nan, warn_caller
from bosaris_py.errors import UncertainPlanWarning
from bosaris_py.evaluation.plans import EvaluationPlan, PartitionFactor
from bosaris_py.evaluation.pooled_scores import ConditionMixture
from bosaris_py.evaluation.streaming import FileGroups, Files
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.storage.factors import Factor
from bosaris_py.trials import ConditionMembers, Conditions, TrialMetadata
from bosaris_py.trials.conditions import shares_of
from bosaris_py.trials.key import AnyKey
from bosaris_py.trials.scores import AnyScores, class_scores, scored_trials

POOLED = "NOT the published cost: without metadata"

# What may divide the trials.
Labelling: TypeAlias = Conditions | TrialMetadata | None

# Pairs of factor and value.
Levels: TypeAlias = tuple[tuple[str, str], ...]

# Values of a column for the targets and for the non-targets, in the order of their scores.
ClassFactors: TypeAlias = tuple[Factor, Factor]

_NONE = mark_read_only(np.zeros(0, dtype=np.intp))

# More are a mistake, such as a column of ids.
_MOST_CELLS = 100_000


@attrs.frozen(eq=False)
class EvaluatedClass:
    """Scores of one class, and their positions in the vector of all trials of the key."""

    # Of files, there are groups of trials in place of trials: the positions are those of groups,
    # and `counts` says how many trials each has.

    scores: FloatArray
    positions: IndexArray
    counts: IntArray | None = None

    def at(self, chosen: BoolArray) -> "EvaluatedClass":
        """Return the trials under a mask."""
        if chosen.all():
            return self
        counts = None if self.counts is None else self.counts[chosen]
        scores = self.scores if self.scores.size == 0 else self.scores[chosen]
        return EvaluatedClass(scores, self.positions[chosen], counts)

    def n_trials(self, chosen: IndexArray | BoolArray | slice = slice(None)) -> int:
        """Count trials, all or some."""
        if self.counts is None:
            return int(self.positions[chosen].size)
        return int(self.counts[chosen].sum())


@attrs.frozen(eq=False)
class Partition:
    """The trials that share a value of each factor, as positions in the scores of both classes."""

    members: ConditionMembers
    levels: Levels = ()
    # Non-targets of other partitions: where a plan counts only targets of a level, a
    # partition of that level is judged on its own with these.
    stand_ins: IndexArray = _NONE


@attrs.frozen(eq=False)
class Partitioning:
    """The partitions that have trials, in the order of the levels, the last factor fastest."""

    tar: EvaluatedClass
    non: EvaluatedClass
    partitions: tuple[Partition, ...]
    # What was left out, with counts.
    notes: tuple[str, ...]
    # Whether these are the partitions that the plan asks for.
    by_plan: bool = False
    groups: FileGroups | None = None

    @property
    def members(self) -> list[ConditionMembers]:
        """The partitions as weighted conditions."""
        return [partition.members for partition in self.partitions]

    def mixture(self, members: Sequence[ConditionMembers]) -> ConditionMixture:
        """Weigh some partitions."""
        if self.groups is None:
            return ConditionMixture(self.tar.scores, self.non.scores, members)
        return self.groups.mixture(
            attrs.evolve(m, tar=self.tar.positions[m.tar], non=self.non.positions[m.non])
            for m in members
        )

    def rates_of_one_class(
        self, tar: IndexArray, non: IndexArray, thresholds: Float64Array
    ) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the error-rates of trials of one class; NaN for the other."""
        if self.groups is None:
            below = [
                np.array([np.count_nonzero(scores < limit) for limit in thresholds])
                for scores in (self.tar.scores[tar], self.non.scores[non])
            ]
        else:
            part = self.groups.union(self.tar.positions[tar], self.non.positions[non])
            below = [part.tar.count_below(thresholds), part.non_below(thresholds)]
        n_tar, n_non = self.tar.n_trials(tar), self.non.n_trials(non)
        undefined = (math.nan,) * thresholds.size
        return (
            tuple((below[0] / n_tar).tolist()) if n_tar else undefined,
            tuple(((n_non - below[1]) / n_non).tolist()) if n_non else undefined,
        )


def weighted_members(
    cells: Iterable[tuple[str, float, IndexArray, IndexArray]],
) -> list[ConditionMembers]:
    """Share the weights out in each class; a cell is name, weight, targets, non-targets."""
    listed = list(cells)
    _, weights, tar, non = zip(*listed, strict=True) if listed else ((), (), (), ())
    shares = zip(shares_of(weights, tar), shares_of(weights, non), strict=True)
    return [ConditionMembers(*c, *own) for c, own in zip(listed, shares, strict=True)]


@attrs.frozen(eq=False)
class EvaluatedTrials:
    """The scores of both classes, and metadata or conditions that divide them."""

    tar: EvaluatedClass
    non: EvaluatedClass
    metadata: TrialMetadata | None = None
    members: tuple[ConditionMembers, ...] | None = None
    groups: FileGroups | None = None

    @classmethod
    def of_files(
        cls,
        score_file: Files,
        key_file: Files,
        plan: EvaluationPlan,
        labelling: object,
        **options: Any,
    ) -> "EvaluatedTrials":
        """Count the groups of a key's trials that a plan, or conditions, may tell apart."""
        parts = plan.parts or (plan,)
        options["priors"] = [point for part in parts for point in part.operating_points]
        if not isinstance(labelling, TrialMetadata):
            _check_labelling(labelling)
            given = labelling if isinstance(labelling, Conditions) else None
            groups = FileGroups.read(score_file, key_file, given, **options)
            members = None if given is None else groups.members(given)
            metadata = None
        else:
            for part in parts:
                _check_columns(part, labelling, [factor.name for factor in part.factors])
            asked = [name for part in parts for name, _ in part.select]
            asked += [factor.name for part in parts for factor in part.factors]
            columns = [name for name in dict.fromkeys(asked) if name in labelling.names]
            groups = FileGroups.read(score_file, key_file, labelling, columns, **options)
            members, metadata = None, groups.metadata()
        of_class = []
        for counts in np.array([(part.n_tar, part.n_non) for part in groups.parts]).T:
            held = np.flatnonzero(counts)
            of_class.append(EvaluatedClass(np.empty(0), held, counts[held]))
        if members is not None:
            # Of all groups, to those that have trials of the class.
            members = tuple(
                attrs.evolve(
                    m,
                    tar=np.searchsorted(of_class[0].positions, m.tar),
                    non=np.searchsorted(of_class[1].positions, m.non),
                )
                for m in members
            )
        return cls(of_class[0], of_class[1], metadata, members, groups)

    @classmethod
    def of(cls, scores: AnyScores, key: AnyKey, labelling: object) -> "EvaluatedTrials":
        """Collect the scores of a key's trials."""
        _check_labelling(labelling)
        tar, non = class_scores(scores, key)
        refuse_nan(tar, "scores of targets")
        refuse_nan(non, "scores of non-targets")
        # Positions in the key: columns of metadata have a value for each of its trials.
        labels, scored = key.trial_labels(), scored_trials(scores, key)
        is_tar: BoolArray = labels if scored is None else labels & scored
        is_non: BoolArray = ~labels if scored is None else ~labels & scored
        return cls(
            EvaluatedClass(tar, np.flatnonzero(is_tar)),
            EvaluatedClass(non, np.flatnonzero(is_non)),
            labelling.for_trials(key) if isinstance(labelling, TrialMetadata) else None,
            labelling.scored_members(scores, key) if isinstance(labelling, Conditions) else None,
        )

    def check_parts(self, plan: EvaluationPlan) -> None:
        """Raise unless the trials of the parts of a plan can be told apart."""
        columns = sorted({column for part in plan.parts for column, _ in part.select})
        if self.metadata is None:
            expected = f"be TrialMetadata for {plan.name}, whose data sets are told apart by "
            hint = f"Or judge one data set: {', '.join(part.name for part in plan.parts)}."
            got = "Conditions" if self.members is not None else "None"
            raise invalid("conditions", expected + list_some(columns), got, hint)
        _check_columns(plan, self.metadata, columns)

    def partition(
        self, plan: EvaluationPlan, only: Mapping[str, str], *, drop_unknown: bool
    ) -> Partitioning:
        """Divide the trials that a plan without parts is about."""
        # Values that the plan does not name raise, or their trials are left out. `only` chooses one
        # value of some factors.
        if self.metadata is None:
            if only:
                hint = "A single condition's key is conditions.select(key, name)."
                raise invalid("only", "be None without TrialMetadata", describe(only), hint)
            return self._without_metadata(plan)
        _check_columns(plan, self.metadata, [factor.name for factor in plan.factors])
        _check_only(plan, self.metadata, only)
        tar, non, notes = self._selected(plan, self.metadata)
        columns = {}
        for factor in plan.factors:
            column = self.metadata.factor(factor.name)
            columns[factor.name] = column.take(tar.positions), column.take(non.positions)
        targets = _Cells("tar", tar)
        others = _Cells("non", non)
        for number, cells in enumerate((targets, others)):
            for factor in plan.factors:
                if factor.divides(cells.class_name):
                    column = columns[factor.name][number]
                    cells.divide(factor, column, only.get(factor.name), drop_unknown=drop_unknown)
        partitions = _combined(plan.factors, columns, targets.trials(), others.trials())
        if not partitions:
            raise invalid("key", "hold trials that count", "none")
        notes += targets.notes + others.notes
        return Partitioning(tar, non, partitions, tuple(notes), bool(plan.factors), self.groups)

    def _without_metadata(self, plan: EvaluationPlan) -> Partitioning:
        """Take the conditions that were given for partitions, or all trials for one."""
        notes = []
        if plan.select:
            # Nothing tells whether they are.
            chosen = ", ".join(f"{column} {level}" for column, level in plan.select)
            notes.append(f"All trials of the key are taken to be of {chosen}.")
        names = ", ".join(factor.name for factor in plan.factors)
        note = f"Partitions are the conditions given, not those of the plan ({names})."
        members: Iterable[ConditionMembers] | None = self.members
        if members is None:
            tar, non = (mark_read_only(np.arange(c.positions.size)) for c in (self.tar, self.non))
            members = weighted_members([("all trials", 1.0, tar, non)])
            note = f"{POOLED} the trials are pooled, and not equalised over {names}."
            if names:
                hint = "Give metadata, such as read_key returns with a key."
                warn_caller(f"{plan.name}: {note} {hint}", UncertainPlanWarning)
        notes += [note] if names else []
        cut = tuple(map(Partition, members))
        return Partitioning(self.tar, self.non, cut, tuple(notes), groups=self.groups)

    def _selected(
        self, plan: EvaluationPlan, metadata: TrialMetadata
    ) -> tuple[EvaluatedClass, EvaluatedClass, list[str]]:
        """Return the trials of the plan's data set."""
        tar, non, notes = self.tar, self.non, []
        for name, level in plan.select:
            if name not in metadata.names:
                notes.append(f"No column {name}: all trials are taken to be of {name} {level}.")
                continue
            column = metadata.factor(name)
            found = column.levels.tolist()
            if level not in found:
                expected = f"hold trials of {plan.name}, whose {name} is {level!r}"
                raise invalid("conditions", expected, list_some(map(repr, found)))
            code = found.index(level)
            tar = tar.at(column.take(tar.positions).codes == code)
            non = non.at(column.take(non.positions).codes == code)
        return tar, non, notes


def _check_labelling(labelling: object) -> None:
    """Raise unless trials may be divided by an object."""
    if labelling is not None and not isinstance(labelling, (Conditions, TrialMetadata)):
        hint = "A column of labels: Conditions.from_labels(key, labels)."
        expected = "be TrialMetadata, Conditions or None"
        raise invalid("conditions", expected, describe(labelling), hint)


def _check_columns(plan: EvaluationPlan, metadata: TrialMetadata, names: list[str]) -> None:
    """Raise unless the metadata have the columns that a plan needs."""
    lacking = [name for name in names if name not in metadata.names]
    if lacking:
        expected = f"have the columns by which {plan.name} divides trials ({', '.join(names)})"
        found = list_some(metadata.names, 20) or "no column"
        hint = f"It lacks {', '.join(lacking)}; plan.evolve(factors=...) takes other columns."
        raise invalid("conditions", expected, found, hint)


def _check_only(plan: EvaluationPlan, metadata: TrialMetadata, only: Mapping[str, str]) -> None:
    """Raise unless `only` names factors of the plan and values of them."""
    factors = {factor.name: factor for factor in plan.factors}
    for name, level in only.items():
        if name not in factors:
            expected = f"name factors of {plan.name} ({list_some(factors, 20) or 'it has none'})"
            raise invalid("only", expected, repr(name))
        levels = factors[name].levels or metadata.factor(name).levels.tolist()
        if level not in levels:
            expected = f"take a value of {name} that exists ({list_some(levels, 20)})"
            raise invalid("only", expected, describe(level))


class _Cells:
    """The trials of one class, divided by one factor after the other."""

    def __init__(self, class_name: str, trials: EvaluatedClass) -> None:
        n_trials = trials.positions.size
        self.class_name = class_name
        self._count = trials.n_trials
        self.notes: list[str] = []
        self._what = "targets" if class_name == "tar" else "non-targets"
        self._codes = np.zeros(n_trials, dtype=np.int32)
        self._kept: BoolArray = np.ones(n_trials, dtype=np.bool_)
        self._cells: list[Levels] = [()]

    def divide(
        self, factor: PartitionFactor, column: Factor, only: str | None, *, drop_unknown: bool
    ) -> None:
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

        unknown = self._leave_out(codes < 0)
        if unknown.any():
            values = column.levels[np.unique(column.codes[unknown])].tolist()
            count = f"{self._count(unknown)} {self._what}"
            if not drop_unknown:
                expected = f"be one of {', '.join(factor.levels or ())} in column `{factor.name}`"
                hint = "Give the plan other levels with evolve(factors=...), or None for all found."
                got = f"{list_some(map(repr, values))} for {count}"
                raise invalid("conditions", expected, got, hint)
            self.notes.append(
                f"{count} are left out: their {factor.name} is {list_some(values)}, which the "
                "plan does not name."
            )
        barred = factor.target_only if self.class_name == "non" else ()
        if barred:
            excluded = self._leave_out(
                np.isin(codes, [levels.index(level) for level in barred if level in levels])
            )
            if excluded.any():
                self.notes.append(
                    f"{self._count(excluded)} non-targets do not count: their {factor.name} "
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

    def trials(self) -> dict[Levels, IndexArray]:
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
    columns: Mapping[str, ClassFactors],
    targets: Mapping[Levels, IndexArray],
    others: Mapping[Levels, IndexArray],
) -> tuple[Partition, ...]:
    """Join the cells of both classes, in the order of the factors' levels."""
    order, weights = {}, {}
    for factor in factors:
        # Levels without weights count alike.
        levelled = zip(factor.levels or (), factor.weights or (), strict=False)
        weights.update({(factor.name, level): weight for level, weight in levelled})
        found = sorted({v for column in columns[factor.name] for v in column.levels.tolist()})
        order[factor.name] = found if factor.levels is None else list(factor.levels)

    def rank(levels: Levels) -> list[int]:
        # A factor that divides one class only is missing from the cells of the other.
        chosen = dict(levels)
        return [order[name].index(chosen[name]) if name in chosen else -1 for name in order]

    cells = sorted(dict.fromkeys((*targets, *others)), key=rank)
    members = weighted_members(
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
    """Return the non-targets by which a partition of targets only is judged on its own."""
    barred = {(factor.name, level) for factor in factors for level in factor.target_only}
    # Those that agree in all factors but the barred ones.
    fixed = [pair for pair in levels if pair not in barred]
    if len(fixed) == len(levels) or levels in others:
        return _NONE
    parts = [part for cell, part in others.items() if set(fixed) <= set(cell)]
    return mark_read_only(np.sort(np.concatenate(parts))) if parts else _NONE


QUIRKS = (
    "The minimum does not consider accepting every trial, so it can exceed 1 where beta < 1.",
    "Tied scores are not one step of the curve, so the minimum depends on their order; here "
    "that of the partitions and of the key (the official one is that of an unstable sort).",
    "Trial weights of the minimum are rounded to single precision.",
    "The EER is interpolated on the steps of the curve, not on its convex hull.",
    "A class without trials counts as error-rate 0 in the actual cost.",
    "Trials with a value that the plan does not name are left out.",
)

DIFFERENCES = (
    "Accepting every trial is among the decisions that the minimum considers.",
    "Tied scores are one step of the curve: the minimum does not depend on the order of trials.",
    "Weights of partitions are in double precision.",
    "The EER is that of the ROC's convex hull.",
    "A class without any trial is an error, not a rate of 0.",
    "Trials with a value that the plan does not name are an error, not left out.",
    "Scores and answers are matched by the ids of the trials, not by row.",
)


@attrs.frozen(eq=False)
class Cell:
    """The scores of one partition, in the order of the key's trials."""

    scores: FloatArray
    is_tar: BoolArray
    n_tar: int
    n_non: int

    @classmethod
    def of(cls, tar: EvaluatedClass, non: EvaluatedClass, members: ConditionMembers) -> "Cell":
        """Merge the two classes of a partition."""
        positions = np.concatenate((tar.positions[members.tar], non.positions[members.non]))
        scores = np.concatenate((tar.scores[members.tar], non.scores[members.non]))
        # The order of the key's trials, which decides ties later.
        order = np.argsort(positions, kind="stable")
        n_tar, n_non = members.tar.size, members.non.size
        return cls(scores[order], order < n_tar, n_tar, n_non)


class Curve(NamedTuple):
    """Rates when the trials up to each score are rejected, in ascending order of scores."""

    scores: FloatArray
    pmiss: Float64Array
    pfa: Float64Array


def actual_rates(cells: Sequence[Cell], point: OperatingPoint) -> tuple[float, float]:
    """Return the means over partitions of the miss and of the false-alarm rate."""
    accepted = [cell.scores >= np.log(point.fa_cost / point.miss_cost) for cell in cells]
    pairs = list(zip(cells, accepted, strict=True))
    pmiss = [np.mean(~yes[cell.is_tar]) for cell, yes in pairs if cell.n_tar]
    pfa = [np.mean(yes[~cell.is_tar]) for cell, yes in pairs if cell.n_non]
    # Quirk: a class that no partition has gets rate 0.
    return float(np.mean(pmiss or [0.0])), float(np.mean(pfa or [0.0]))


def curve(cells: Sequence[Cell]) -> Curve:
    """Return the weighted error-rates after each trial."""
    n_tar, n_non = max(cell.n_tar for cell in cells), max(cell.n_non for cell in cells)
    scores = np.concatenate([cell.scores for cell in cells])
    is_tar = np.concatenate([cell.is_tar for cell in cells])
    # Quirk: weights in single precision, the largest count of any partition over the own one.
    counts = [(cell.is_tar, max(cell.n_tar, 1), max(cell.n_non, 1)) for cell in cells]
    weights = np.concatenate([np.where(is_, n_tar / t, n_non / n) for is_, t, n in counts])
    weights = weights.astype(np.float32).astype(np.float64)
    # Quirk: a point for each trial, also within ties; none before the first trial.
    order = np.argsort(scores, kind="stable")
    is_tar, weights = is_tar[order], weights[order]
    tar_weights, non_weights = weights * is_tar, weights * ~is_tar
    with np.errstate(invalid="ignore"):
        pmiss = np.cumsum(tar_weights) / np.sum(tar_weights)
        pfa = 1.0 - np.cumsum(non_weights) / np.sum(non_weights)
    return Curve(scores[order], pmiss, pfa)


def eer(rates: Curve) -> float:
    """Interpolate the equal error rate where the difference of the rates changes sign."""
    _, pmiss, pfa = rates
    difference = pmiss - pfa
    above, below = np.flatnonzero(difference >= 0), np.flatnonzero(difference < 0)
    # The official scorer fails here: at the first point misses are at least as frequent
    # as false alarms already, or a class has no trials.
    if not (above.size and below.size):
        return float("nan")
    i, j = above[0], below[-1]
    # Straight lines between the last point with fewer misses and the first with more.
    share = difference[i] / (pfa[j] - pfa[i] - (pmiss[j] - pmiss[i]))
    return float(pmiss[i] + share * (pmiss[j] - pmiss[i]))
