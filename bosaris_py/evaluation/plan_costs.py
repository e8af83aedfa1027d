"""Primary costs of evaluations: error-rates averaged over partitions of the trials."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import attrs

from bosaris_py._notes import Note, warn
from bosaris_py._tables import scale_of_costs, text_table
from bosaris_py._validation import invalid
from bosaris_py.errors import UncertainPlanWarning
from bosaris_py.evaluation.partitions import Partitioning, PlanTrials
from bosaris_py.evaluation.plans import PLANS, EvaluationPlan, plan_of_two_classes, refuse_spoofs
from bosaris_py.metrics.costs import not_calibrated
from bosaris_py.metrics.ranks import inverted
from bosaris_py.numerics.priors import DecisionCosts, OperatingPoint
from bosaris_py.trials.conditions import ConditionMembers, Conditions
from bosaris_py.trials.key import Key, as_key
from bosaris_py.trials.sample import Sample
from bosaris_py.trials.scores import Scores, check_scores


def _same(first: float, second: float) -> bool:
    """Compare two numbers; NaN equals NaN."""
    return first == second or (math.isnan(first) and math.isnan(second))


# A rate or cost of a class without trials is NaN; results are equal nevertheless.
_NUMBER = attrs.cmp_using(eq=_same, class_name="Number")
_RATES = attrs.cmp_using(eq=lambda one, two: all(map(_same, one, two)), class_name="Rates")


@attrs.frozen(kw_only=True)
class PointCost:
    """The cost at one operating point.

    Parameters
    ----------
    point : OperatingPoint
        Prior and costs.
    threshold : float
        Bayes threshold, at which the actual cost is taken.
    pmiss, pfa : float
        Error-rates at `threshold`, means over partitions.
    actual, minimum : float
        Cost at `threshold`, and the smallest cost of any threshold.
    min_threshold, min_pmiss, min_pfa : float
        A threshold that has the smallest cost, and its error-rates.
    """

    point: OperatingPoint
    threshold: float
    pmiss: float
    pfa: float
    actual: float
    minimum: float = attrs.field(eq=_NUMBER)
    min_threshold: float
    min_pmiss: float = attrs.field(eq=_NUMBER)
    min_pfa: float = attrs.field(eq=_NUMBER)

    @property
    def beta(self) -> float:
        """Price of a false-alarm rate of one, in units of that of a miss rate of one."""
        return self.point.fa_cost / self.point.miss_cost


@attrs.frozen(kw_only=True)
class PartitionCost:
    """The cost of one partition of the trials, evaluated by itself.

    Parameters
    ----------
    name : str
        What its trials share.
    levels : tuple of (str, str)
        The same, as pairs of factor and value; none for conditions.
    n_tar, n_non : int
        Trials that count in this partition's share of the primary cost.
    n_stand_ins : int
        Non-targets of other partitions by which this one is judged here, because the plan counts
        none of its own.
    tar_weight, non_weight : float
        Its weights in the means of miss and false-alarm rates.
    pmiss, pfa : tuple of float
        Error-rates at the Bayes threshold of each operating point; NaN where there are no trials.
    actual, minimum : float
        Mean cost over the operating points; NaN where a class has no trials.
    """

    name: str
    levels: tuple[tuple[str, str], ...]
    n_tar: int
    n_non: int
    n_stand_ins: int
    tar_weight: float
    non_weight: float
    pmiss: tuple[float, ...] = attrs.field(eq=_RATES)
    pfa: tuple[float, ...] = attrs.field(eq=_RATES)
    actual: float = attrs.field(eq=_NUMBER)
    minimum: float = attrs.field(eq=_NUMBER)


@attrs.frozen(kw_only=True, repr=False)
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
        Where the trials of each partition stand among the scored targets and non-targets.
    """

    plan: EvaluationPlan
    actual: float = attrs.field(eq=_NUMBER)
    minimum: float = attrs.field(eq=_NUMBER)
    eer: float = attrs.field(eq=_NUMBER)
    n_tar: int
    n_non: int
    points: tuple[PointCost, ...] = ()
    partitions: tuple[PartitionCost, ...] = ()
    parts: "tuple[PrimaryCost, ...]" = ()
    pooled: bool = False
    notes: tuple[str, ...] = ()
    members: Sequence[ConditionMembers] = attrs.field(default=(), eq=False)

    @property
    def value(self) -> float:
        """The cost by which the evaluation ranked systems: the actual or the minimum one."""
        return self.actual if self.plan.ranked_by == "actual" else self.minimum

    @property
    def equalised(self) -> bool:
        """Whether error-rates are means over several partitions."""
        return len(self.partitions) > 1 or any(part.equalised for part in self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts, for JSON.

        Returns
        -------
        dict
            The fields of this object, with the name of the plan, and ``operating_points`` in place
            of `points`. None where a number is not defined, and for
            the threshold that accepts or rejects every trial.
        """

        def plain(item: PointCost | PartitionCost, *left_out: str) -> dict[str, Any]:
            kept = attrs.asdict(item, recurse=False, filter=lambda at, _: at.name not in left_out)
            return {name: _or_none(value) for name, value in kept.items()}

        points = [
            {**plain(one, "point"), **attrs.asdict(one.point), "beta": one.beta}
            for one in self.points
        ]
        return {
            "plan": self.plan.name,
            **{name: _or_none(getattr(self, name)) for name in ("actual", "minimum", "eer")},
            "normalized": self.plan.normalize,
            "n_tar": self.n_tar,
            "n_non": self.n_non,
            "operating_points": points,
            "partitions": [
                {**plain(one, "levels", "pmiss", "pfa"), **dict(one.levels)}
                | {name: [*map(_or_none, getattr(one, name))] for name in ("pmiss", "pfa")}
                for one in self.partitions
            ],
            "parts": [part.to_dict() for part in self.parts],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        """Show the plan and both costs."""
        return (
            f"PrimaryCost: {self.plan.name}, "
            f"{'trials pooled, ' if self.pooled else ''}"
            f"actual {self.actual:.4f}, minimum {self.minimum:.4f}"
        )

    def __str__(self) -> str:
        """Return the report: costs by operating point and by partition, and the notes."""
        return "\n".join(_report(self))


def _or_none(value: Any) -> Any:
    """Return None for what JSON has no number for: NaN, and infinite thresholds."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _text(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"


def _report(cost: PrimaryCost) -> list[str]:
    """Return the lines of the printed report."""
    plan = cost.plan
    title = f": {plan.title}" if plan.title else ""
    averaging = f"mean of {len(cost.parts)} data sets" if cost.parts else "trials pooled"
    if len(cost.partitions) > 1:
        averaging = f"equalised over {len(cost.partitions)} partitions"
    lines = [
        f"{plan.name}{title}",
        f"{averaging}; {cost.n_tar} targets, {cost.n_non} non-targets; "
        f"{scale_of_costs(plan.normalize)}",
        "",
    ]
    judged: list[tuple[str, PointCost | PrimaryCost]] = [
        (f"P_target {point.point.p_target:g}, beta {point.beta:.6g}", point)
        for point in cost.points
    ]
    judged += [(part.plan.name, part) for part in cost.parts]
    name = "NOT the primary cost" if cost.pooled else "primary cost"
    judged.append(("no primary cost: overall" if plan.by_condition else name, cost))
    # What systems are ranked by comes first.
    order = sorted(("actual", "minimum"), key=lambda kind: kind != plan.ranked_by)
    lines.append(f"{'':<40}" + "".join(f"{kind:>10}" for kind in order))
    for name, one in judged:
        lines.append(f"{name:<40}" + "".join(f"{_text(getattr(one, kind)):>10}" for kind in order))
    if not math.isnan(cost.eer):
        # Kits of evaluations take the EER of another curve, so it is named.
        name = "EER of the ROC's convex hull, per cent"
        lines.append(f"{name:<50}{100 * cost.eer:>10.2f}")
    if len(cost.partitions) > 1:
        lines += ["", *_table(cost.partitions, order)]
    if cost.notes:
        lines += ["", "notes:", *(f"- {text}" for text in cost.notes)]
    for part in cost.parts:
        lines += ["", *_report(part)]
    return lines


def _table(partitions: tuple[PartitionCost, ...], order: Sequence[str]) -> list[str]:
    """Return the table of partitions, with a column for each factor that they are made of."""
    factors = list(dict.fromkeys(name for row in partitions for name, _ in row.levels))
    # Numbers of non-targets end in a star or a blank.
    rows = [[*(factors or ["partition"]), "targets", "non-targets ", *order]]
    for row in partitions:
        levels = dict(row.levels)
        names = [levels.get(factor, "-") for factor in factors] if factors else [row.name]
        n_non = f"{row.n_stand_ins}*" if row.n_stand_ins else f"{row.n_non} "
        costs = (_text(getattr(row, kind)) for kind in order)
        rows.append([*names, str(row.n_tar), n_non, *costs])
    lines = text_table(rows, left=range(len(rows[0]) - 4))
    if any(row.n_stand_ins for row in partitions):
        lines.append("* non-targets of other partitions stand in for its own, which do not count")
    return lines


def primary_cost(
    scores: Scores,
    key: Key,
    plan: EvaluationPlan | str,
    conditions: Conditions | None = None,
    *,
    only: Mapping[str, str] | None = None,
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
    conditions : Conditions, optional
        What divides the trials instead of the plan's partitions, with their weights. By default the
        columns of the key that the plan names; of a key without columns all trials are one part.
    only : mapping of str to str, optional
        Judge only the trials with these values of factors, the others being equalised as ever, such
        as ``{"gender": "female"}``. Where the plan counts the targets only of a value, the
        non-targets of the other values stand in.

    Returns
    -------
    PrimaryCost
        Actual and minimum cost, overall and by operating point and partition, and notes. ``print``
        it.

    Raises
    ------
    UnknownPlanError
        If there is no plan of this name; it lists the known ones.

    Warns
    -----
    MissingTrialsWarning
        If trials of the key have no score. They are left out.
    UncertainPlanWarning
        If the trials are pooled that the plan divides.

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
    chosen = plan_of_two_classes(plan)
    check_scores(scores)
    cost, doubts = judge_by_plan(scores, as_key(key), chosen, conditions, dict(only or {}))
    warn(doubts)
    return cost


def judge_by_plan(
    scores: Scores,
    key: Key,
    plan: EvaluationPlan,
    conditions: Conditions | None = None,
    only: Mapping[str, str] = MappingProxyType({}),
) -> tuple[PrimaryCost, list[Note]]:
    """Return a primary cost, and what is to be warned of."""
    refuse_spoofs(key, plan)
    labelling = key.columns if conditions is None and len(key.columns) else conditions
    trials = PlanTrials.joined(scores, key, labelling)
    cost, doubts = _judge(plan, trials, only)
    return cost, [*trials.sample.notes, *doubts]


def _judge(
    plan: EvaluationPlan, trials: PlanTrials, only: Mapping[str, str]
) -> tuple[PrimaryCost, list[Note]]:
    """Evaluate the trials by a plan, or by each of its parts."""
    result = functools.partial(PrimaryCost, plan=plan)
    notes = list(_plan_notes(plan))
    if plan.parts:
        trials.check_parts(plan)
        found = [_judge(part, trials, only) for part in plan.parts]
        parts = tuple(part for part, _ in found)
        cost = result(
            actual=_mean(part.actual for part in parts),
            minimum=_mean(part.minimum for part in parts),
            eer=math.nan,
            n_tar=sum(part.n_tar for part in parts),
            n_non=sum(part.n_non for part in parts),
            parts=parts,
            notes=tuple(notes),
        )
        return cost, [note for _, doubts in found for note in doubts]
    if only:
        chosen = ", ".join(f"{name} {level}" for name, level in only.items())
        notes.append(f"NOT the published cost: only trials with {chosen} are judged.")
    cut = trials.partition(plan, only)
    sample, members = trials.sample, cut.members
    points, eer, doubts = _weighted_costs(plan, sample, members)
    if cut.pooled:
        advice = "Give the key columns: key.with_columns(...)."
        doubts.append(Note(UncertainPlanWarning, f"{plan.name}: {cut.notes[-1]}", advice=advice))
    cost = result(
        actual=_mean(cost.actual for cost in points),
        minimum=_mean(cost.minimum for cost in points),
        eer=eer,
        n_tar=sum(item.tar.size for item in members),
        n_non=sum(item.non.size for item in members),
        points=points,
        partitions=tuple(_partition_costs(plan, trials, cut)),
        pooled=cut.pooled,
        notes=(*notes, *cut.notes, *_empty_notes(plan, cut, only), *_absence_notes(members)),
        members=members,
    )
    return cost, doubts


def _weighted_costs(
    plan: EvaluationPlan, sample: Sample, members: Sequence[ConditionMembers]
) -> tuple[tuple[PointCost, ...], float, list[Note]]:
    """Return the costs of weighted partitions, the EER, and what is strange about the scores."""
    for class_name, field in (("target", "tar_weight"), ("non-target", "non_weight")):
        if not any(getattr(item, field) for item in members):
            expected = f"hold at least one {class_name} that counts"
            hint = "Error-rates of a class without trials are not defined."
            raise invalid("key", expected, "none", hint)
    weighted = sample.weighted(members)
    points, eer = _defined_costs(plan, weighted)
    # A minimum means something for scores of any kind.
    doubts = inverted(weighted)
    if plan.ranked_by == "actual":
        doubts += not_calibrated(weighted, plan.operating_points)
    return points, eer, doubts


def _defined_costs(plan: EvaluationPlan, sample: Sample) -> tuple[tuple[PointCost, ...], float]:
    """Return the costs as the plan means them."""
    costs = DecisionCosts.from_prior(plan.operating_points)
    pmiss, pfa = sample.rates(costs.thresholds)
    # One threshold for all partitions: the minimum is that of the weighted ROC (van Leeuwen,
    # equation 12).
    hull = sample.hull
    best = hull.best_vertices(costs)
    columns: dict[str, Any] = {
        "threshold": costs.thresholds,
        "pmiss": pmiss,
        "pfa": pfa,
        "actual": costs.cost(pmiss, pfa, normalize=plan.normalize),
        "minimum": costs.cost(hull.pmiss[best], hull.pfa[best], normalize=plan.normalize),
        "min_threshold": hull.thresholds[best],
        "min_pmiss": hull.pmiss[best],
        "min_pfa": hull.pfa[best],
    }
    points = [
        PointCost(point=point, **_numbers_at(columns, i))
        for i, point in enumerate(plan.operating_points)
    ]
    return tuple(points), hull.eer


def _numbers_at(columns: Mapping[str, Any], i: int) -> dict[str, Any]:
    return {name: float(column[i]) for name, column in columns.items()}


def _partition_costs(
    plan: EvaluationPlan, trials: PlanTrials, cut: Partitioning
) -> Iterator[PartitionCost]:
    """Evaluate each partition by itself."""
    limits = DecisionCosts.from_prior(plan.operating_points).thresholds
    for partition in cut.partitions:
        own = partition.members
        others = own.non if own.non.size else partition.stand_ins
        alone = trials.sample.take(own.tar, others)
        actual = minimum = math.nan
        if not (alone.n_tar and alone.n_non):
            pmiss, pfa = (tuple(rates.tolist()) for rates in alone.rates(limits))
        else:
            points, _ = _defined_costs(plan, alone)
            pmiss, pfa = tuple(cost.pmiss for cost in points), tuple(cost.pfa for cost in points)
            actual = _mean(cost.actual for cost in points)
            minimum = _mean(cost.minimum for cost in points)
        n_own = own.non.size
        yield PartitionCost(
            name=own.name,
            levels=partition.levels,
            n_tar=alone.n_tar,
            n_non=n_own,
            n_stand_ins=alone.n_non - n_own,
            tar_weight=own.tar_weight,
            non_weight=own.non_weight,
            pmiss=pmiss,
            pfa=pfa,
            actual=actual,
            minimum=minimum,
        )


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return math.fsum(listed) / len(listed)


def _plan_notes(plan: EvaluationPlan) -> Iterator[str]:
    """Say what must be known of the plan itself."""
    yield from plan.notes
    if plan.name in PLANS and PLANS[plan.name] != plan:
        yield f"This plan differs from the preset {plan.name}."


def _empty_notes(plan: EvaluationPlan, cut: Partitioning, only: Mapping[str, str]) -> Iterator[str]:
    """Say which partitions that the plan names have no trials at all."""
    # What is missing is known only if the plan names all levels, for both classes.
    listed = [factor for factor in plan.factors if factor.levels and factor.classes == "both"]
    if not cut.by_plan or len(listed) < len(plan.factors):
        return
    choices = [(only[f.name],) if f.name in only else f.levels or () for f in listed]
    present = {tuple(level for _, level in partition.levels) for partition in cut.partitions}
    empty = [
        ", ".join(f"{f.name} {level}" for f, level in zip(listed, levels, strict=True))
        for levels in itertools.product(*choices)
        if levels not in present
    ]
    if empty:
        yield (
            f"{len(empty)} of {len(empty) + len(present)} partitions of the plan have no trial "
            f"that counts, and no part in the means: {_first_two(empty)}."
        )


def _absence_notes(members: Sequence[ConditionMembers]) -> Iterator[str]:
    """Say which partitions have one class only."""
    for field, name, other in (("tar", "targets", "Pfa"), ("non", "non-targets", "Pmiss")):
        lacking = [item.name for item in members if not getattr(item, field).size]
        if lacking:
            yield (
                f"{len(lacking)} of {len(members)} partitions have no {name} that count and "
                f"take part in the mean of {other} only: {_first_two(lacking)}."
            )


def _first_two(names: Sequence[str]) -> str:
    return "; ".join(names[:2]) + ("; ..." if len(names) > 2 else "")
