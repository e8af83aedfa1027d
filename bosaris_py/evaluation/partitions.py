"""Divide trials into the cells of an evaluation plan."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import BoolArray, FloatArray, IndexArray, mark_read_only
from bosaris_py._validation import describe, invalid, list_some, refuse_nan
from bosaris_py.evaluation.plans import EvaluationPlan, PartitionFactor
from bosaris_py.storage.factors import Factor
from bosaris_py.trials import ConditionMembers, Conditions, TrialMetadata
from bosaris_py.trials.key import AnyKey
from bosaris_py.trials.scores import AnyScores, scored_trials

Levels = tuple[tuple[str, str], ...]

# More are a mistake, such as a column of ids.
_MOST_CELLS = 100_000

# Values of a column for the targets and for the non-targets, in the order of their scores.
ClassFactors = tuple[Factor, Factor]


@attrs.frozen(eq=False)
class EvaluatedClass:
    """The scored trials of one class.

    Parameters
    ----------
    scores : (k,) ndarray of float
        Their scores, none NaN.
    places : (k,) ndarray of int
        Where each stands in the vector of all trials of the key; ascending.
    """

    scores: FloatArray
    places: IndexArray

    def at(self, chosen: BoolArray) -> "EvaluatedClass":
        """Return the trials under a mask."""
        if chosen.all():
            return self
        return EvaluatedClass(self.scores[chosen], self.places[chosen])


@attrs.frozen(eq=False, kw_only=True)
class Partition:
    """The trials that share a value of each factor.

    Parameters
    ----------
    name : str
        What they share, in words.
    levels : tuple of (str, str)
        The same as pairs of factor and value.
    weight : float
        Weight in the means over partitions, up to a factor.
    tar, non : (k,) ndarray of int
        Ascending positions, in the two classes, of the trials that count in this
        partition; either may be empty.
    stand_ins : (k,) ndarray of int
        Positions of non-targets of other partitions, by which this one is judged
        where it has none of its own by rule.
    """

    name: str
    levels: Levels = ()
    weight: float = 1.0
    tar: IndexArray
    non: IndexArray
    stand_ins: IndexArray = attrs.field(factory=lambda: np.zeros(0, dtype=np.intp))


@attrs.frozen(eq=False, kw_only=True)
class Partitioning:
    """All partitions that have trials, and what was left out.

    Parameters
    ----------
    tar, non : EvaluatedClass
        The trials.
    partitions : tuple of Partition
        In the order of the factors' levels, the last factor running fastest.
    notes : tuple of str
        What was left out, with counts.
    by_plan : bool, default: False
        Whether they are those that the plan asks for.
    """

    tar: EvaluatedClass
    non: EvaluatedClass
    partitions: tuple[Partition, ...]
    notes: tuple[str, ...] = ()
    by_plan: bool = False


def partitions_by_factors(
    plan: EvaluationPlan,
    tar: EvaluatedClass,
    non: EvaluatedClass,
    columns: Mapping[str, ClassFactors],
    only: Mapping[str, str],
    *,
    drop_unknown: bool,
) -> Partitioning:
    """Cut the trials by all factors of a plan.

    Parameters
    ----------
    plan : EvaluationPlan
        Names the factors.
    tar, non : EvaluatedClass
        All trials of the data set.
    columns : mapping
        The values of each factor for targets and non-targets.
    only : mapping of str to str
        Factors of which one value only is looked at.
    drop_unknown : bool
        Leave out trials with values that the plan does not name, instead of
        raising.

    Returns
    -------
    Partitioning

    Raises
    ------
    InvalidInputError
        If a trial has a value that the plan does not name.
    """
    notes: list[str] = []
    sides: list[dict[Levels, IndexArray]] = []
    for class_name, trials in (("tar", tar), ("non", non)):
        cutter = _Cutter(class_name, trials.scores.size, only, drop_unknown=drop_unknown)
        for factor in plan.factors:
            if factor.divides(class_name):
                cutter.cut(factor, columns[factor.name][class_name == "non"])
        sides.append(cutter.cells())
        notes.extend(cutter.notes)
    targets, others = sides
    nothing = np.zeros(0, dtype=np.intp)
    partitions = [
        Partition(
            name=", ".join(f"{factor} {level}" for factor, level in levels) or "all trials",
            levels=levels,
            weight=_weight(plan.factors, levels),
            tar=targets.get(levels, nothing),
            non=others.get(levels, nothing),
            stand_ins=_stand_ins(plan.factors, levels, others, nothing),
        )
        for levels in dict.fromkeys((*targets, *others))
    ]
    ordered = sorted(partitions, key=lambda p: _rank(plan.factors, columns, p.levels))
    return Partitioning(
        tar=tar, non=non, partitions=tuple(ordered), notes=tuple(notes), by_plan=bool(plan.factors)
    )


class _Cutter:
    """Cuts the trials of one class by one factor after the other."""

    def __init__(
        self, class_name: str, n_trials: int, only: Mapping[str, str], *, drop_unknown: bool
    ) -> None:
        self._class_name = class_name
        self._only = only
        self._drop_unknown = drop_unknown
        self._codes: npt.NDArray[np.int32] = np.zeros(n_trials, dtype=np.int32)
        self._kept: BoolArray = np.ones(n_trials, dtype=np.bool_)
        self._cells: list[Levels] = [()]
        self.notes: list[str] = []

    def cut(self, factor: PartitionFactor, column: Factor) -> None:
        """Divide each cell by the values of one more column."""
        found = column.levels.tolist()
        n_levels = len(found if factor.levels is None else factor.levels)
        if len(self._cells) * n_levels > _MOST_CELLS:
            expected = f"have at most {_MOST_CELLS} combinations of values"
            hint = f"Column `{factor.name}` has {n_levels} values: is it a factor?"
            raise invalid("plan", expected, "more", hint)
        levels = found if factor.levels is None else list(factor.levels)
        place = np.array([levels.index(v) if v in levels else -1 for v in found], dtype=np.int32)
        positions = place[column.codes] if found else np.zeros(0, dtype=np.int32)
        self._handle_unknown(factor, column, positions < 0)
        if self._class_name == "non" and factor.target_only:
            self._leave_out_target_only(factor, levels, positions)
        chosen = self._only.get(factor.name)
        if chosen is not None and not (self._class_name == "non" and chosen in factor.target_only):
            self._kept &= positions == levels.index(chosen)
        elif chosen is not None:
            # Where the level is judged by itself, the non-targets of the others stand in.
            positions = np.full_like(positions, levels.index(chosen))
        self._codes = self._codes * len(levels) + positions
        self._cells = [(*cell, (factor.name, level)) for cell in self._cells for level in levels]

    def _handle_unknown(self, factor: PartitionFactor, column: Factor, unknown: BoolArray) -> None:
        unknown &= self._kept
        count = int(np.count_nonzero(unknown))
        if not count:
            return
        values = column.levels[np.unique(column.codes[unknown])].tolist()
        what = "targets" if self._class_name == "tar" else "non-targets"
        if not self._drop_unknown:
            expected = f"be one of {', '.join(factor.levels or ())} in column `{factor.name}`"
            hint = "Give the plan other levels with evolve(factors=...), or None for all found."
            got = f"{list_some(map(repr, values))} for {count} {what}"
            raise invalid("conditions", expected, got, hint)
        self._kept &= ~unknown
        self.notes.append(
            f"{count} {what} are left out: their {factor.name} is {list_some(values)}, which the "
            "plan does not name."
        )

    def _leave_out_target_only(
        self, factor: PartitionFactor, levels: Sequence[str], positions: npt.NDArray[np.int32]
    ) -> None:
        barred = [levels.index(level) for level in factor.target_only if level in levels]
        excluded = self._kept & np.isin(positions, barred)
        count = int(np.count_nonzero(excluded))
        if count:
            self._kept &= ~excluded
            named = " or ".join(factor.target_only)
            self.notes.append(
                f"{count} non-targets do not count: their {factor.name} is {named}, where the plan "
                "counts targets only."
            )

    def cells(self) -> dict[Levels, IndexArray]:
        """Return the positions of the trials of each cell that has any."""
        positions = np.flatnonzero(self._kept)
        codes = self._codes if positions.size == self._kept.size else self._codes[positions]
        counts = np.bincount(codes, minlength=len(self._cells))
        # A short type is sorted by its digits, in one or two passes.
        narrow = codes.astype(np.min_scalar_type(len(self._cells)))
        order = positions[np.argsort(narrow, kind="stable")]
        parts = np.split(order, np.cumsum(counts)[:-1])
        return {
            cell: mark_read_only(part)
            for cell, part in zip(self._cells, parts, strict=True)
            if part.size
        }


def _weight(factors: Sequence[PartitionFactor], levels: Levels) -> float:
    weight = 1.0
    chosen = dict(levels)
    for factor in factors:
        if factor.weights is not None and factor.levels is not None and factor.name in chosen:
            weight *= factor.weights[factor.levels.index(chosen[factor.name])]
    return weight


def _stand_ins(
    factors: Sequence[PartitionFactor],
    levels: Levels,
    others: Mapping[Levels, IndexArray],
    nothing: IndexArray,
) -> IndexArray:
    """Return the non-targets by which a partition of targets only is judged on its own."""
    barred = {factor.name: factor.target_only for factor in factors if factor.target_only}
    free = [name for name, level in levels if level in barred.get(name, ())]
    if not free or levels in others:
        return nothing
    fixed = [pair for pair in levels if pair[0] not in free]
    parts = [part for cell, part in others.items() if set(fixed) <= set(cell)]
    return mark_read_only(np.sort(np.concatenate(parts))) if parts else nothing


def _rank(
    factors: Sequence[PartitionFactor], columns: Mapping[str, ClassFactors], levels: Levels
) -> list[int]:
    """Return what sorts partitions: the place of each value among those of its factor."""
    chosen = dict(levels)
    rank = []
    for factor in factors:
        found = sorted({v for column in columns[factor.name] for v in column.levels.tolist()})
        order = found if factor.levels is None else list(factor.levels)
        rank.append(order.index(chosen[factor.name]) if factor.name in chosen else -1)
    return rank


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
            raise invalid("conditions", expected, describe(conditions), hint)
        tar, non = scores.get_tar_non(key)
        refuse_nan(tar, "scores of targets")
        refuse_nan(non, "scores of non-targets")
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
            raise invalid("conditions", expected + list_some(columns), got, hint)
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
            raise invalid("key", "hold trials that count", "none")
        return attrs.evolve(cut, notes=(*notes, *cut.notes))

    def _without_metadata(self, plan: EvaluationPlan, only: Mapping[str, str]) -> Partitioning:
        if only:
            hint = "A single condition's key is conditions.select(key, name)."
            raise invalid("only", "be None without TrialMetadata", describe(only), hint)
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
            raise invalid("conditions", expected, found, hint)

    def _check_only(self, plan: EvaluationPlan, only: Mapping[str, str]) -> None:
        assert self.metadata is not None
        factors = {factor.name: factor for factor in plan.factors}
        for name, level in only.items():
            if name not in factors:
                expected = (
                    f"name factors of {plan.name} ({list_some(factors, 20) or 'it has none'})"
                )
                raise invalid("only", expected, repr(name))
            levels = factors[name].levels or self.metadata.factor(name).levels.tolist()
            if level not in levels:
                expected = f"take a value of {name} that exists ({list_some(levels, 20)})"
                raise invalid("only", expected, describe(level))

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
                raise invalid("conditions", expected, list_some(map(repr, found)))
            tar, non = trials._column(name)
            in_tar, in_non = (part.codes == found.index(level) for part in (tar, non))
            trials = attrs.evolve(trials, tar=trials.tar.at(in_tar), non=trials.non.at(in_non))
        return trials, notes

    def _column(self, name: str) -> tuple[Factor, Factor]:
        """Return a column's values for targets and for non-targets, with the same levels."""
        assert self.metadata is not None
        column = self.metadata.factor(name)
        return column.take(self.tar.places), column.take(self.non.places)
