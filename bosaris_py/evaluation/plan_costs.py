"""Primary costs of evaluations: error-rates averaged over partitions of the trials."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs
import numpy as np

from bosaris_py._arrays import Positions, mark_read_only
from bosaris_py._notes import Note, warn
from bosaris_py._tables import scale_of_costs, text_table
from bosaris_py._validation import invalid, list_some
from bosaris_py.errors import BosarisWarning
from bosaris_py.evaluation import plans
from bosaris_py.evaluation.plans import EvaluationPlan
from bosaris_py.metrics.costs import not_calibrated
from bosaris_py.metrics.ranks import inverted
from bosaris_py.numerics.priors import DecisionCosts, OperatingPoint
from bosaris_py.trials.conditions import ConditionMembers, ConditionsLike, as_conditions, shares_of
from bosaris_py.trials.key import Columns, Key, as_key
from bosaris_py.trials.sample import Sample
from bosaris_py.trials.scores import Scores, check_scores, scored_trials

# The number of a partition's level of each factor from 1 on, 0 where the factor does not divide.
_Cell = tuple[int, ...]

_NONE = mark_read_only(np.zeros(0, dtype=np.intp))


@attrs.frozen(eq=False)
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

    Examples
    --------
    >>> import numpy as np
    >>> import bosaris_py as bp
    >>> ids, tar = [f"m{i}" for i in range(50)], np.eye(50, dtype=bool)
    >>> scores = bp.Scores(8.0 * tar - 4.0, ids, ids)
    >>> (point,) = bp.primary_cost(scores, bp.Key(ids, ids, tar, ~tar), "VoxSRC").points
    >>> point.point.p_target, point.actual
    (0.05, 0.0)
    """

    point: OperatingPoint
    threshold: float
    pmiss: float
    pfa: float
    actual: float
    minimum: float
    min_threshold: float
    min_pmiss: float
    min_pfa: float

    @property
    def beta(self) -> float:
        """Price of a false-alarm rate of one, in units of that of a miss rate of one."""
        return self.point.fa_cost / self.point.miss_cost


@attrs.frozen(kw_only=True, eq=False)
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
    levels: tuple[tuple[str, str], ...]
    n_tar: int
    n_non: int
    n_stand_ins: int
    tar_weight: float
    non_weight: float
    pmiss: tuple[float, ...]
    pfa: tuple[float, ...]
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
        Where the trials of each partition stand among the scored targets and non-targets.

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
    eer: float
    n_tar: int
    n_non: int
    points: tuple[PointCost, ...] = ()
    partitions: tuple[PartitionCost, ...] = ()
    parts: tuple[PrimaryCost, ...] = ()
    pooled: bool = False
    notes: tuple[str, ...] = ()
    members: Sequence[ConditionMembers] = ()

    @property
    def value(self) -> float:
        """The cost by which the evaluation ranked systems: the actual or the minimum one."""
        return self.actual if self.plan.ranked_by == "actual" else self.minimum

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain numbers and texts, for JSON.

        Returns
        -------
        dict
            The fields of this object, with the name of the plan, and ``operating_points`` in place
            of `points`. None where a number is not defined, and for
            the threshold that accepts or rejects every trial.
        """
        found: dict[str, object] = {"plan": self.plan.name, "normalized": self.plan.normalize}
        for name in ("actual", "minimum", "eer", "n_tar", "n_non"):
            found[name] = _plain(getattr(self, name))
        found["operating_points"] = [
            {**_fields(one, "point"), **attrs.asdict(one.point), "beta": one.beta}
            for one in self.points
        ]
        found["partitions"] = [
            {**_fields(one, "levels"), **dict(one.levels)} for one in self.partitions
        ]
        return found | {"parts": [one.to_dict() for one in self.parts], "notes": [*self.notes]}

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


def _plain(value: object) -> object:
    """Return None for what JSON has no number for: NaN, and infinite thresholds."""
    if isinstance(value, tuple):
        return [*map(_plain, value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _fields(item: PointCost | PartitionCost, left_out: str) -> dict[str, object]:
    """Return the fields of a cost but one, as JSON has them."""
    names = [name for name in attrs.fields_dict(type(item)) if name != left_out]
    return {name: _plain(getattr(item, name)) for name in names}


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
        raise invalid("plan", "have a primary cost of two classes", repr(chosen.name), hint)
    check_scores(scores)
    cost, doubts = judge_by_plan(scores, as_key(key), chosen, conditions)
    warn(doubts)
    return cost


def judge_by_plan(
    scores: Scores, key: Key, plan: EvaluationPlan, conditions: ConditionsLike = None
) -> tuple[PrimaryCost, list[Note]]:
    """Return a primary cost, and what is to be warned of."""
    plans.refuse_spoofs(key, plan)
    trials, notes = _Trials.joined(scores, key, conditions)
    cost, doubts = _judge(plan, trials)
    return cost, [*notes, *doubts]


@attrs.frozen(eq=False)
class _Trials:
    """The scored trials of a key, and what divides them: columns of the key, or conditions."""

    sample: Sample
    # Where the targets and the non-targets of the sample stand among the trials of the key.
    places: tuple[Positions, Positions]
    columns: Columns | None
    members: Sequence[ConditionMembers] = ()

    @classmethod
    def joined(
        cls, scores: Scores, key: Key, conditions: ConditionsLike
    ) -> tuple[_Trials, list[Note]]:
        """Join the scores with a key's trials; what is strange about them are notes."""
        sample = Sample.from_trials(scores, key, allow_empty=True)
        scored = scored_trials(scores, key)
        classes = (key.is_target, ~key.is_target)
        places = [np.flatnonzero(one if scored is None else one & scored) for one in classes]
        given = as_conditions(conditions, key)
        if given is None:
            columns = key.columns if len(key.columns) else None
            return cls(sample, (places[0], places[1]), columns), [*sample.notes]
        members, notes = given.noted_members(scores, key)
        return cls(sample, (places[0], places[1]), None, members), [*sample.notes, *notes]


@attrs.frozen(eq=False)
class _Partition:
    """The trials that share a value of each factor, as positions in a sample."""

    members: ConditionMembers
    levels: tuple[tuple[str, str], ...] = ()
    # Non-targets of other partitions: where a plan counts only targets of a level, a partition of
    # that level is judged on its own with these.
    stand_ins: Positions = _NONE


def _judge(plan: EvaluationPlan, trials: _Trials) -> tuple[PrimaryCost, list[Note]]:
    """Evaluate the trials by a plan, or by each of its parts."""
    notes = [*plan.notes]
    if plan.name in plans.PLANS and plans.PLANS[plan.name] != plan:
        notes.append(f"This plan differs from the preset {plan.name}.")
    if plan.parts:
        _needed(plan, trials, sorted({name for part in plan.parts for name in part.select}))
        found = [_judge(part, trials) for part in plan.parts]
        parts = tuple(part for part, _ in found)
        cost = PrimaryCost(
            plan=plan,
            actual=_mean(part.actual for part in parts),
            minimum=_mean(part.minimum for part in parts),
            eer=math.nan,
            n_tar=sum(part.n_tar for part in parts),
            n_non=sum(part.n_non for part in parts),
            parts=parts,
            notes=tuple(notes),
        )
        return cost, [note for _, doubts in found for note in doubts]
    partitions, more = _divide(plan, trials) if trials.columns else _take_as_given(plan, trials)
    pooled = bool(plan.factors) and not (trials.columns or trials.members)
    members = [partition.members for partition in partitions]
    for side, noun in (("tar_weight", "target"), ("non_weight", "non-target")):
        if not any(getattr(one, side) for one in members):
            hint = "Error-rates of a class without trials are not defined."
            raise invalid("key", f"hold at least one {noun} that counts", "none", hint)
    weighted = trials.sample.weighted(members)
    points = _point_costs(plan, weighted)
    # A minimum means something for scores of any kind.
    doubts = inverted(weighted)
    if plan.ranked_by == "actual":
        doubts += not_calibrated(weighted, plan.operating_points)
    if pooled:
        advice = "Give the key columns: key.with_columns(...)."
        doubts.append(Note(BosarisWarning, f"{plan.name}: {more[-1]}", advice=advice))
    cost = PrimaryCost(
        plan=plan,
        actual=_mean(point.actual for point in points),
        minimum=_mean(point.minimum for point in points),
        eer=weighted.hull.eer,
        n_tar=sum(one.tar.size for one in members),
        n_non=sum(one.non.size for one in members),
        points=points,
        partitions=tuple(_partition_cost(plan, trials.sample, one) for one in partitions),
        pooled=pooled,
        notes=(*notes, *more, *_lacking(plan, partitions)),
        members=members,
    )
    return cost, doubts


# ---- Partitions


def _take_as_given(plan: EvaluationPlan, trials: _Trials) -> tuple[list[_Partition], list[str]]:
    """Take the conditions that were given for partitions, or all trials for one."""
    notes, names = [], ", ".join(factor.name for factor in plan.factors)
    if plan.select:
        # Nothing tells whether they are.
        chosen = ", ".join(f"{column} {level}" for column, level in plan.select.items())
        notes.append(f"All trials of the key are taken to be of {chosen}.")
    if trials.members:
        note = f"Partitions are the conditions given, not those of the plan ({names})."
        return [_Partition(one) for one in trials.members], [*notes, *([note] if names else [])]
    if names:
        notes.append(
            "NOT the published cost: without columns of the key the trials are pooled, and not "
            f"equalised over {names}."
        )
    tar, non = (np.arange(places.size) for places in trials.places)
    shares = float(tar.size > 0), float(non.size > 0)
    return [_Partition(ConditionMembers("all trials", 1.0, tar, non, *shares))], notes


def _divide(plan: EvaluationPlan, trials: _Trials) -> tuple[list[_Partition], list[str]]:
    """Divide the trials that a plan without parts is about; values it does not name raise."""
    columns = _needed(plan, trials, [factor.name for factor in plan.factors])
    notes: list[str] = []
    levels = [
        factor.levels or sorted(columns.factor(factor.name).levels.tolist())
        for factor in plan.factors
    ]
    tar, non = (
        _cells(plan, columns, levels, name, places, notes)
        for name, places in zip(("tar", "non"), trials.places, strict=True)
    )
    cells = sorted({*tar, *non})
    if not cells:
        raise invalid("key", "hold trials that count", "none")
    # Levels without weights count alike.
    given = [factor.weights for factor in plan.factors]
    weights = [
        math.prod(w[n - 1] for w, n in zip(given, cell, strict=True) if w and n) for cell in cells
    ]
    targets, others = ([side.get(cell, _NONE) for cell in cells] for side in (tar, non))
    shares = shares_of(weights, targets), shares_of(weights, others)
    partitions = []
    for cell, *own in zip(cells, weights, targets, others, *shares, strict=True):
        named = zip(plan.factors, levels, cell, strict=True)
        pairs = tuple((factor.name, of[n - 1]) for factor, of, n in named if n)
        name = ", ".join(f"{factor} {level}" for factor, level in pairs) or "all trials"
        members = ConditionMembers(name, *own)
        partitions.append(_Partition(members, pairs, _stand_ins(plan, pairs, cell, non)))
    return partitions, notes


def _needed(plan: EvaluationPlan, trials: _Trials, names: Iterable[str]) -> Columns:
    """Return the columns of a key; raise unless it has those that a plan needs."""
    known = trials.columns
    lacking = [name for name in names if known is None or name not in known]
    if lacking or known is None:
        expected = f"have the columns by which {plan.name} divides trials ({list_some(names, 20)})"
        found = list_some(known or (), 20) or "no column"
        hint = f"It lacks {', '.join(lacking)}; plan.evolve(factors=...) takes other columns."
        raise invalid("key", expected, found, hint)
    return known


def _cells(
    plan: EvaluationPlan,
    columns: Columns,
    levels: Sequence[Sequence[str]],
    side: str,
    places: Positions,
    notes: list[str],
) -> dict[_Cell, Positions]:
    """Return the positions of the trials of one class in each cell that has any."""
    noun = "targets" if side == "tar" else "non-targets"
    kept = np.ones(places.size, dtype=bool)
    for name, level in plan.select.items():
        if name in columns:
            kept &= columns.factor(name).values()[places] == level
        elif side == "tar":
            notes.append(f"No column {name}: all trials are taken to be of {name} {level}.")
    numbers = np.zeros(places.size, dtype=np.int64)
    for factor, of in zip(plan.factors, levels, strict=True):
        # The number of a cell in a mixed radix, the last factor running fastest.
        numbers *= len(of) + 1
        if factor.classes not in ("both", side):
            continue
        column = columns.factor(factor.name).take(places)
        rank = {level: n for n, level in enumerate(of, start=1)}
        codes = np.array([rank.get(v, 0) for v in column.levels.tolist()], np.int64)[column.codes]
        if (unknown := kept & (codes == 0)).any():
            values = column.levels[np.unique(column.codes[unknown])].tolist()
            expected = f"be one of {', '.join(of)} in column `{factor.name}`"
            hint = "Give the plan other levels with evolve(factors=...), or None for all found."
            got = f"{list_some(map(repr, values))} for {np.count_nonzero(unknown)} {noun}"
            raise invalid("conditions", expected, got, hint)
        barred = kept & np.isin(codes, [rank.get(level, 0) for level in factor.target_only])
        if side == "non" and barred.any():
            kept &= ~barred
            notes.append(
                f"{np.count_nonzero(barred)} non-targets do not count: their {factor.name} is "
                f"{' or '.join(factor.target_only)}, where the plan counts targets only."
            )
        numbers += codes
    sizes = [len(of) + 1 for of in levels]
    positions = np.flatnonzero(kept)
    # A short type is sorted by its digits, in one or two passes.
    own = numbers[positions].astype(np.min_scalar_type(math.prod(sizes)))
    order = np.argsort(own, kind="stable")
    found, starts = np.unique(own[order], return_index=True)
    parts = np.split(positions[order], starts[1:])
    digits = np.unravel_index(found.astype(np.int64), sizes) if sizes else ()
    cells = zip(*(digit.tolist() for digit in digits), strict=True) if sizes else [()]
    return dict(zip(cells, parts, strict=False)) if positions.size else {}


def _stand_ins(
    plan: EvaluationPlan,
    pairs: Sequence[tuple[str, str]],
    cell: _Cell,
    others: Mapping[_Cell, Positions],
) -> Positions:
    """Return the non-targets by which a partition of targets only is evaluated on its own."""
    barred = {(factor.name, level) for factor in plan.factors for level in factor.target_only}
    if cell in others or not barred.intersection(pairs):
        return _NONE
    # Those that agree in all factors but the barred ones.
    levels = dict(pairs)
    fixed = [
        i
        for i, factor in enumerate(plan.factors)
        if cell[i] and (factor.name, levels[factor.name]) not in barred
    ]
    parts = [part for key, part in others.items() if all(key[i] == cell[i] for i in fixed)]
    return np.sort(np.concatenate(parts)) if parts else _NONE


# ---- Costs


def _point_costs(plan: EvaluationPlan, sample: Sample) -> tuple[PointCost, ...]:
    """Return the costs as the plan means them."""
    costs = DecisionCosts.from_prior(plan.operating_points)
    pmiss, pfa = sample.rates(costs.thresholds)
    # One threshold for all partitions: the minimum is that of the weighted ROC (van Leeuwen,
    # equation 12).
    hull = sample.hull
    best = hull.best_vertices(costs)
    columns = (
        costs.thresholds,
        pmiss,
        pfa,
        costs.cost(pmiss, pfa, normalize=plan.normalize),
        costs.cost(hull.pmiss[best], hull.pfa[best], normalize=plan.normalize),
        hull.thresholds[best],
        hull.pmiss[best],
        hull.pfa[best],
    )
    rows = zip(plan.operating_points, *(column.tolist() for column in columns), strict=True)
    return tuple(PointCost(*row) for row in rows)


def _partition_cost(plan: EvaluationPlan, sample: Sample, partition: _Partition) -> PartitionCost:
    """Evaluate one partition by itself."""
    own = partition.members
    alone = sample.take(own.tar, own.non if own.non.size else partition.stand_ins)
    points: tuple[PointCost, ...] = ()
    if alone.n_tar and alone.n_non:
        points = _point_costs(plan, alone)
    limits = DecisionCosts.from_prior(plan.operating_points).thresholds
    pmiss, pfa = (tuple(rates.tolist()) for rates in alone.rates(limits))
    return PartitionCost(
        name=own.name,
        levels=partition.levels,
        n_tar=alone.n_tar,
        n_non=own.non.size,
        n_stand_ins=alone.n_non - own.non.size,
        tar_weight=own.tar_weight,
        non_weight=own.non_weight,
        pmiss=pmiss,
        pfa=pfa,
        actual=_mean(point.actual for point in points),
        minimum=_mean(point.minimum for point in points),
    )


def _mean(values: Iterable[float]) -> float:
    """Return the mean, NaN of nothing."""
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else math.nan


def _lacking(plan: EvaluationPlan, partitions: Sequence[_Partition]) -> Iterator[str]:
    """Say which partitions have no trials at all, or trials of one class only."""
    # What is missing is known only if a plan names all levels, for both classes.
    listed = [
        factor.levels for factor in plan.factors if factor.levels and factor.classes == "both"
    ]
    present = {tuple(level for _, level in one.levels) for one in partitions}
    if len(listed) == len(plan.factors) and present != {()}:
        names = [factor.name for factor in plan.factors]
        empty = [
            ", ".join(map(" ".join, zip(names, levels, strict=True)))
            for levels in itertools.product(*listed)
            if levels not in present
        ]
        if empty:
            yield (
                f"{len(empty)} of {len(empty) + len(present)} partitions of the plan have no trial "
                f"that counts, and no part in the means: {_first_two(empty)}."
            )
    for side, noun, rate in (("tar", "targets", "Pfa"), ("non", "non-targets", "Pmiss")):
        names = [one.members.name for one in partitions if not getattr(one.members, side).size]
        if names:
            yield (
                f"{len(names)} of {len(partitions)} partitions have no {noun} that count and take "
                f"part in the mean of {rate} only: {_first_two(names)}."
            )


def _first_two(names: Sequence[str]) -> str:
    return "; ".join(names[:2]) + ("; ..." if len(names) > 2 else "")
