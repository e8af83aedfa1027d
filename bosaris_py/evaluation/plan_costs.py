"""Primary costs of evaluations: error-rates averaged over partitions of the trials.

The partitions of a plan are weighted conditions of the sample, so its cost is a metric of that
sample, the mean of `ActDCF` or `MinDCF` over the operating points.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import BoolArray, IntArray, mark_read_only
from bosaris_py._tables import for_json, scale_of_costs, text_table
from bosaris_py.evaluation import plans
from bosaris_py.evaluation.plans import EvaluationPlan
from bosaris_py.metrics.costs import ActDCF, MinDCF, not_calibrated, unseen_costs
from bosaris_py.metrics.ranks import inverted
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.trials import ConditionMembers, Key, Sample, Scores
from bosaris_py.trials.conditions import ConditionsLike, as_conditions, name_of_all, shares_of
from bosaris_py.trials.key import Columns, as_key
from bosaris_py.trials.scores import scored_trials

# The level of each factor that divides the trials of a partition.
_Cell = tuple[tuple[str, str], ...]

# The trials of a partition as a condition of the sample, its levels, and non-targets of other
# partitions: where a plan counts only targets of a level, a partition of that level is judged on
# its own with these.
_Partition = tuple[ConditionMembers, Mapping[str, str], IntArray | None]

_NONE = mark_read_only(np.zeros(0, dtype=np.intp))


class PointCost(NamedTuple):
    """The actual and the minimum cost at one operating point."""

    point: OperatingPoint
    actual: float
    minimum: float


@attrs.frozen(kw_only=True, eq=False)
class PartitionCost:
    """The cost of one partition of the trials, evaluated by itself.

    Parameters
    ----------
    name : str
        What its trials share.
    levels : mapping of str to str
        The same, by factor; none for conditions.
    n_tar, n_non : int
        Trials that count in this partition's share of the primary cost.
    n_stand_ins : int
        Non-targets of other partitions by which this one is judged here, because the plan counts
        none of its own.
    actual, minimum : float
        Mean cost over the operating points; NaN where a class has no trials.

    Examples
    --------
    >>> import numpy as np
    >>> import bosaris_py as bp
    >>> ids, tar = [f"m{i}" for i in range(50)], np.eye(50, dtype=bool)
    >>> scores = bp.Scores(8.0 * tar - 4.0, ids, ids)
    >>> (part,) = bp.primary_cost(scores, bp.Key(ids, ids, tar, ~tar), "VoxSRC").partitions
    >>> part.n_tar, part.n_non
    (50, 2450)
    """

    name: str
    levels: Mapping[str, str]
    n_tar: int
    n_non: int
    n_stand_ins: int
    actual: float
    minimum: float


@attrs.frozen(kw_only=True, repr=False, eq=False)
class PrimaryCost:
    """The published cost of an evaluation, as `primary_cost` returns it.

    Parameters
    ----------
    plan : EvaluationPlan
        Whose cost it is.
    actual, minimum : float
        Mean over the operating points, or over the parts of the plan.
    eer : float
        Equal error rate of the equalised trials, a fraction; NaN for a plan of several parts.
    n_tar, n_non : int
        Trials that count.
    points : tuple of PointCost
        One for each operating point; none for a plan of several parts.
    partitions : tuple of PartitionCost
        One for each partition; none for a plan of several parts.
    parts : tuple of PrimaryCost
        One for each part of the plan.
    pooled : bool
        Whether trials are pooled that the plan divides, so that this is not the published cost.
    notes : tuple of str
        What must be known of this result.
    members : sequence of ConditionMembers
        The trials of each partition, as weighted conditions of the scored trials.

    Examples
    --------
    >>> import numpy as np
    >>> import bosaris_py as bp
    >>> ids, tar = [f"m{i}" for i in range(50)], np.eye(50, dtype=bool)
    >>> scores = bp.Scores(8.0 * tar - 4.0, ids, ids)
    >>> cost = bp.primary_cost(scores, bp.Key(ids, ids, tar, ~tar), "VoxSRC")
    >>> cost.actual, cost.minimum, cost.n_tar
    (0.0, 0.0, 50)
    """

    plan: EvaluationPlan
    actual: float
    minimum: float
    eer: float = math.nan
    n_tar: int
    n_non: int
    points: tuple[PointCost, ...] = ()
    partitions: tuple[PartitionCost, ...] = ()
    parts: tuple[PrimaryCost, ...] = ()
    pooled: bool = False
    notes: tuple[str, ...] = ()
    members: Sequence[ConditionMembers] = ()

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain numbers and texts, for JSON.

        Returns
        -------
        dict
            The fields of this object, with the name of the plan, and ``operating_points`` in place
            of `points`. None where a number is not defined.
        """
        found = attrs.asdict(self, filter=attrs.filters.include(int, float, bool))
        found |= {"plan": self.plan.name, "normalized": self.plan.normalize}
        found["operating_points"] = [
            {**attrs.asdict(point), "beta": beta, "actual": actual, "minimum": minimum}
            for beta, (point, actual, minimum) in zip(self.plan.betas, self.points, strict=False)
        ]
        found["partitions"] = [attrs.asdict(one) | {**one.levels} for one in self.partitions]
        found |= {"parts": [one.to_dict() for one in self.parts], "notes": self.notes}
        return for_json(found)  # type: ignore[return-value]

    def __repr__(self) -> str:
        """Show the plan and both costs."""
        name = f"{self.plan.name}, trials pooled" if self.pooled else self.plan.name
        return f"PrimaryCost: {name}, actual {self.actual:.4f}, minimum {self.minimum:.4f}"

    def __str__(self) -> str:
        """Return the report: costs by operating point and by partition, and the notes."""
        plan, n = self.plan, len(self.partitions)
        averaging = f"mean of {len(self.parts)} data sets" if self.parts else "trials pooled"
        if n > 1:
            averaging = f"{name_of_all([one.weight for one in self.members])} over {n} partitions"
        counts = f"{self.n_tar} targets, {self.n_non} non-targets"
        head = f"{averaging}; {counts}; {scale_of_costs(plan.normalize)}"
        lines = [f"{plan.name}: {plan.title}".removesuffix(": "), head, ""]
        # What systems are ranked by comes first.
        order = sorted(("actual", "minimum"), key=lambda kind: kind != plan.ranked_by)
        judged: list[tuple[str, PointCost | PrimaryCost]] = [
            (f"P_target {one.point.p_target:g}, beta {beta:.6g}", one)
            for one, beta in zip(self.points, plan.betas, strict=False)
        ]
        judged += [(part.plan.name, part) for part in self.parts]
        name = "NOT the primary cost" if self.pooled else "primary cost"
        judged.append(("no primary cost: overall" if plan.by_condition else name, self))
        rows = [["", *order]]
        rows += [[name, *(_text(getattr(one, kind)) for kind in order)] for name, one in judged]
        if not self.parts:
            # Kits of evaluations take the EER of another curve, so it is named.
            rows.append(["EER of the ROC's convex hull, per cent", "", f"{100 * self.eer:.2f}"])
        lines += text_table(rows)
        if n > 1:
            lines += ["", *_table(self.partitions, order)]
        if self.notes:
            lines += ["", "notes:", *(f"- {text}" for text in self.notes)]
        return "\n\n".join(["\n".join(lines), *map(str, self.parts)])


def _text(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"


def _table(partitions: tuple[PartitionCost, ...], order: Sequence[str]) -> list[str]:
    """Return the table of partitions, with a column for each factor that they are made of."""
    factors = [*dict.fromkeys(name for row in partitions for name in row.levels)]
    # Numbers of non-targets end in a star or a blank.
    rows = [[*(factors or ["partition"]), "targets", "non-targets ", *order]]
    for row in partitions:
        names = [row.levels.get(factor, "-") for factor in factors] or [row.name]
        n_non = f"{row.n_stand_ins}*" if row.n_stand_ins else f"{row.n_non} "
        rows.append([*names, f"{row.n_tar}", n_non, *(_text(getattr(row, one)) for one in order)])
    lines = text_table(rows, left=range(len(rows[0]) - 4))
    if any(row.n_stand_ins for row in partitions):
        lines.append("* non-targets of other partitions stand in for its own, which do not count")
    return lines


def primary_cost(
    scores: Scores, key: Key, plan: EvaluationPlan | str, conditions: ConditionsLike = None
) -> PrimaryCost:
    r"""Compute the cost that an evaluation publishes.

    Parameters
    ----------
    scores : Scores
        Natural-log likelihood-ratios of the key's trials.
    key : Key
        Which trials are targets and which non-targets.
    plan : EvaluationPlan or str
        The plan, or the name of one in `PLANS`.
    conditions : Conditions, mapping, or name or names of columns, optional
        What divides the trials instead of the plan's partitions, with their weights. By default the
        columns of the key that the plan names; of a key without columns all trials are one part.

    Returns
    -------
    PrimaryCost
        Actual and minimum cost, overall and by operating point and partition, and notes. ``print``
        it.

    Raises
    ------
    InvalidInputError
        If there is no plan of this name; it lists the known ones.

    Warns
    -----
    MissingTrialsWarning
        If trials of the key have no score. They are left out.
    BosarisWarning
        If the trials are pooled that the plan divides.
    FewErrorsWarning, SuspectScoresWarning
        As for `min_dcf` and `act_dcf`.

    Notes
    -----
    Error-rates are means over the partitions that have the class, separately
    for misses and false alarms; at each operating point

    .. math::
        C = \sum_k w_k P_{miss,k} + \beta \sum_k w_k P_{fa,k}.

    The actual cost is that at the Bayes threshold :math:`\log\beta`. For the minimum, one ROC in
    which each trial of partition k weighs :math:`w_k / N_k` ([1]_, equation 12) is minimised
    separately for each operating point. Both are then averaged over operating points.

    References
    ----------
    .. [1] D. A. van Leeuwen, "A note on performance metrics for Speaker
       Recognition using multiple conditions in an evaluation", 2008.

    Examples
    --------
    >>> from bosaris_py import Key, Scores
    >>> from bosaris_py.evaluation import primary_cost
    >>> key = Key(["anna", "bert"], ["s1", "s2"], [[True, False], [False, True]],
    ...           [[False, True], [True, False]])
    >>> scores = Scores([[4.0, -3.0], [-5.0, 2.0]], key.modelset, key.segset)
    >>> primary_cost(scores, key, "VoxSRC")
    PrimaryCost: VoxSRC, actual 0.5000, minimum 0.0000
    """
    chosen = plans.find_plan(plan)
    if chosen.figures:
        hint = f"evaluate(..., plan={chosen.name!r}) gives its figures."
        raise check.invalid("plan", "have a primary cost of two classes", repr(chosen.name), hint)
    cost, doubts = judge_by_plan(scores, as_key(key), chosen, conditions)
    errors.warn(doubts)
    return cost


def judge_by_plan(
    scores: Scores, key: Key, plan: EvaluationPlan, conditions: ConditionsLike = None
) -> tuple[PrimaryCost, list[errors.Note]]:
    """Return a primary cost, and what is to be warned of."""
    plans.refuse_spoofs(key, plan)
    sample = Sample.from_trials(scores, key, allow_empty=True)
    scored = scored_trials(scores, key)
    classes = (key.is_target, ~key.is_target)
    places = [np.flatnonzero(one if scored is None else one & scored) for one in classes]
    given = as_conditions(conditions, key)
    members, notes = ((), []) if given is None else given.noted_members(scores, key)
    columns = key.columns if given is None and key.columns else None
    cost, doubts = _judge(plan, _Trials(sample, places, columns, members))
    return cost, [*sample.notes, *notes, *doubts]


@attrs.frozen(eq=False)
class _Trials:
    """The scored trials of a key, and what divides them: columns of the key, or conditions."""

    sample: Sample
    # Where the targets and the non-targets of the sample stand among the trials of the key.
    places: Sequence[IntArray]
    columns: Columns | None
    members: Sequence[ConditionMembers] = ()


def _judge(plan: EvaluationPlan, trials: _Trials) -> tuple[PrimaryCost, list[errors.Note]]:
    """Evaluate the trials by a plan, or by each of its parts."""
    notes = [*plan.notes]
    if plan.name in plans.PLANS and plans.PLANS[plan.name] != plan:
        notes.append(f"This plan differs from the preset {plan.name}.")
    for column, level in plan.select.items():
        if column not in (trials.columns or ()):
            # Nothing tells whether they are.
            notes.append(f"All trials are taken to be of {column} {level}.")
    if plan.parts:
        _needed(plan, trials, sorted({name for part in plan.parts for name in part.select}))
        found = [_judge(part, trials) for part in plan.parts]
        parts = tuple(part for part, _ in found)
        cost = PrimaryCost(
            plan=plan,
            actual=float(np.mean([part.actual for part in parts])),
            minimum=float(np.mean([part.minimum for part in parts])),
            n_tar=sum(part.n_tar for part in parts),
            n_non=sum(part.n_non for part in parts),
            parts=parts,
            notes=tuple(notes),
        )
        return cost, [note for _, doubts in found for note in doubts]
    partitions, more = _divide(plan, trials) if trials.columns else _take_as_given(plan, trials)
    pooled = bool(plan.factors) and not (trials.columns or trials.members)
    members = [one for one, _, _ in partitions]
    # One threshold for all partitions: the minimum is that of the weighted ROC (van Leeuwen,
    # equation 12).
    weighted = trials.sample.weighted(members)
    # A minimum means something for scores of any kind.
    doubts = inverted(weighted)
    if plan.ranked_by == "actual":
        doubts += not_calibrated(weighted, plan.points)
    doubts += unseen_costs(weighted, plan.points)
    if pooled:
        advice = "Give the key columns: key.with_columns(...)."
        doubts.append(errors.Note(errors.BosarisWarning, f"{plan.name}: {more[-1]}", advice=advice))
    actual, minimum = _costs(plan, weighted)
    cost = PrimaryCost(
        plan=plan,
        actual=actual,
        minimum=minimum,
        eer=weighted.hull.eer,
        n_tar=sum(one.tar.size for one in members),
        n_non=sum(one.non.size for one in members),
        points=tuple(PointCost(point, *_costs(plan, weighted, [point])) for point in plan.points),
        partitions=tuple(_partition_cost(plan, trials.sample, *one) for one in partitions),
        pooled=pooled,
        notes=(*notes, *more),
        members=members,
    )
    return cost, doubts


def _costs(
    plan: EvaluationPlan, sample: Sample, points: Sequence[OperatingPoint] = ()
) -> tuple[float, float]:
    """Return the actual and the minimum cost of a sample, by default at all points of the plan."""
    given = points or plan.points, plan.normalize
    return ActDCF(*given).computed(sample), MinDCF(*given).computed(sample)


def _partition_cost(
    plan: EvaluationPlan,
    sample: Sample,
    own: ConditionMembers,
    levels: Mapping[str, str],
    others: IntArray | None,
) -> PartitionCost:
    """Evaluate one partition by itself."""
    actual, minimum = _costs(plan, sample.take(own.tar, own.non if others is None else others))
    return PartitionCost(
        name=own.name,
        levels=levels,
        n_tar=own.tar.size,
        n_non=own.non.size,
        n_stand_ins=0 if others is None else others.size,
        actual=actual,
        minimum=minimum,
    )


# ---- Partitions


def _take_as_given(plan: EvaluationPlan, trials: _Trials) -> tuple[Sequence[_Partition], list[str]]:
    """Take the conditions that were given for partitions, or all trials for one."""
    names = ", ".join(factor.name for factor in plan.factors)
    if trials.members:
        note = f"Partitions are the conditions given, not those of the plan ({names})."
        return [(one, {}, None) for one in trials.members], [note] if names else []
    note = "NOT the published cost: without columns of the key the trials are pooled, and not "
    tar, non = (np.arange(places.size) for places in trials.places)
    whole = ConditionMembers("all trials", 1.0, tar, non, float(len(tar) > 0), float(len(non) > 0))
    return [(whole, {}, None)], [f"{note}equalised over {names}."] if names else []


def _divide(plan: EvaluationPlan, trials: _Trials) -> tuple[Sequence[_Partition], list[str]]:
    """Divide the trials that a plan without parts is about; values it does not name raise."""
    columns = _needed(plan, trials, [factor.name for factor in plan.factors])
    notes: list[str] = []
    tar, non = (
        _counted(plan, columns, side, places, notes)
        for side, places in zip(("tar", "non"), trials.places, strict=True)
    )
    # Factors may divide one class only, whose cells then are not those of the other.
    parts = [{cell: one.among(cell) for cell in one.cells()} for one in (tar, non)]
    cells = [*dict.fromkeys([*parts[0], *parts[1]])]
    targets, others = ([part.get(cell, _NONE) for cell in cells] for part in parts)
    # Levels without weights count alike.
    given = {
        (factor.name, level): weight
        for factor in plan.factors
        for level, weight in zip(factor.levels or (), factor.weights or (), strict=False)
    }
    weights = [math.prod(given.get(pair, 1.0) for pair in cell) for cell in cells]
    columns_of = targets, others, shares_of(weights, targets), shares_of(weights, others)
    barred = {(factor.name, level) for factor in plan.factors for level in factor.target_only}
    partitions, empty = [], []
    for cell, weight, own_tar, own_non, *shares in zip(cells, weights, *columns_of, strict=True):
        name = ", ".join(map(" ".join, cell)) or "all trials"
        if not own_tar.size and not own_non.size:
            empty.append(name)
            continue
        members = ConditionMembers(name, weight, own_tar, own_non, *shares)
        # Those that agree in all factors but the ones of which only targets count.
        rest = [pair for pair in cell if pair not in barred]
        stand_ins = non.among(rest) if len(rest) < len(cell) else None
        partitions.append((members, dict(cell), stand_ins))
    # What is missing is known only if a plan names all levels, for both classes.
    if empty and all(factor.levels and factor.classes == "both" for factor in plan.factors):
        text = f"{len(empty)} of {len(cells)} partitions of the plan have no trial that counts"
        notes.append(f"{text}, and no part in the means: {check.list_some(empty, 1)}.")
    return partitions, notes


def _needed(plan: EvaluationPlan, trials: _Trials, names: Iterable[str]) -> Columns:
    """Return the columns of a key; raise unless it has those that a plan needs."""
    known = trials.columns
    lacking = [name for name in names if known is None or name not in known]
    if lacking or known is None:
        expected = (
            f"have the columns by which {plan.name} divides trials ({check.list_some(names, 20)})"
        )
        found = check.list_some(known or (), 20) or "no column"
        hint = f"It lacks {', '.join(lacking)}; plan.evolve(factors=...) takes other columns."
        raise check.invalid("key", expected, found, hint)
    return known


@attrs.frozen(eq=False)
class _Counted:
    """The trials of one class: those that a plan counts, and those of each level of a factor."""

    kept: BoolArray
    where: dict[str, dict[str, BoolArray]]

    def cells(self) -> Iterator[_Cell]:
        """Return each combination of levels of the factors that divide the class."""
        pairs = ([(name, level) for level in of] for name, of in self.where.items())
        return itertools.product(*pairs)

    def among(self, cell: Sequence[tuple[str, str]]) -> IntArray:
        """Return the places of the trials that count and have these levels."""
        masks = [self.where[name][level] for name, level in cell]
        return np.flatnonzero(np.logical_and.reduce([self.kept, *masks]))


def _counted(
    plan: EvaluationPlan, columns: Columns, side: str, places: IntArray, notes: list[str]
) -> _Counted:
    """Find the trials of a class that a plan counts; values that it does not name raise."""
    kept = np.ones(places.size, dtype=bool)
    for name, level in plan.select.items():
        if name in columns:
            kept &= columns.factor(name).values()[places] == level
    where = {}
    for factor in plan.factors:
        if factor.classes not in ("both", side):
            continue
        column = columns.factor(factor.name).take(places)
        levels = factor.levels or sorted(column.levels.tolist())
        where[factor.name] = own = {of: (column.levels == of)[column.codes] for of in levels}
        if (unknown := kept & ~np.logical_or.reduce([*own.values()])).any():
            values = column.levels[np.unique(column.codes[unknown])].tolist()
            expected = f"be one of {', '.join(levels)} in column `{factor.name}`"
            hint = "Give the plan other levels with evolve(factors=...), or None for all found."
            raise check.invalid("conditions", expected, check.list_some(map(repr, values)), hint)
        barred = kept & np.isin(column.levels, factor.target_only)[column.codes]
        if side == "non" and barred.any():
            kept &= ~barred
            notes.append(
                f"{np.count_nonzero(barred)} non-targets do not count: their {factor.name} is "
                f"{' or '.join(factor.target_only)}, where the plan counts targets only."
            )
    return _Counted(kept, where)
