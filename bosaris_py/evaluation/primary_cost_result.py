"""What `primary_cost` returns: the cost of an evaluation, its parts, and a report."""

import math
from typing import Any

import attrs

from bosaris_py.evaluation.plans import EvaluationPlan
from bosaris_py.numerics.priors import OperatingPoint

__all__ = ["PartitionCost", "PointCost", "PrimaryCost"]


def _same(first: float, second: float) -> bool:
    """Compare two numbers; not defined equals not defined."""
    return first == second or (math.isnan(first) and math.isnan(second))


_NUMBER = attrs.cmp_using(eq=_same, class_name="Number")


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
    actual : float
        Actual cost.
    minimum : float
        Smallest cost of any threshold.
    min_threshold : float
        A threshold that has it.
    min_pmiss, min_pfa : float
        Error-rates at `min_threshold`.
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
    """The cost of one partition of the trials, judged by itself.

    Parameters
    ----------
    name : str
        What its trials share.
    levels : tuple of (str, str)
        The same, as pairs of factor and value; none for conditions.
    n_tar, n_non : int
        Trials that count in this partition's share of the primary cost.
    n_stand_ins : int
        Non-targets of other partitions by which this one is judged here, because
        the plan counts none of its own.
    tar_weight, non_weight : float
        Its weights in the means of miss and false-alarm rates.
    pmiss, pfa : tuple of float
        Error-rates at the Bayes threshold of each operating point; NaN where
        there are no trials.
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
    pmiss: tuple[float, ...]
    pfa: tuple[float, ...]
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
        Equal error rate of the equalised trials, a fraction; NaN for a plan of
        several parts.
    n_tar, n_non : int
        Trials that count.
    points : tuple of PointCost
        One for each operating point; none for a plan of several parts.
    partitions : tuple of PartitionCost
        One for each partition; none for a plan of several parts.
    parts : tuple of PrimaryCost
        One for each part of the plan.
    compatibility : str or None
        Whose quirks are imitated.
    notes : tuple of str
        What must be known of this result.
    differences : tuple of str
        Where the computation differs from that of the official scorer, or which
        of its quirks are imitated.
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
    compatibility: str | None = None
    notes: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """The cost by which the evaluation ranked systems: the actual or the minimum one."""
        return self.actual if self.plan.ranked_by == "actual" else self.minimum

    @property
    def equalised(self) -> bool:
        """Whether error-rates are means over several partitions."""
        return len(self.partitions) > 1 or any(part.equalised for part in self.parts)

    def records(self) -> list[dict[str, Any]]:
        """Return the table of partitions as plain numbers, the overall cost last.

        Returns
        -------
        list of dict
            ``plan``, ``partition``, a column for each factor, ``n_tar``,
            ``n_non``, ``n_stand_ins``, ``tar_weight``, ``non_weight``,
            ``actual``, ``minimum``, and for each operating point, numbered from
            1, ``pmiss_1``, ``pfa_1`` and so on. None where a number is not
            defined.
        """
        rows = [row for part in self.parts for row in part.records()]
        rows.extend(self._record(partition) for partition in self.partitions)
        overall: dict[str, Any] = {
            "plan": self.plan.name,
            "partition": "overall",
            "n_tar": self.n_tar,
            "n_non": self.n_non,
            "n_stand_ins": 0,
            "tar_weight": 1.0,
            "non_weight": 1.0,
            "actual": _or_none(self.actual),
            "minimum": _or_none(self.minimum),
        }
        for number, cost in enumerate(self.points, start=1):
            overall[f"pmiss_{number}"] = cost.pmiss
            overall[f"pfa_{number}"] = cost.pfa
        rows.append(overall)
        columns = list(dict.fromkeys(name for row in rows for name in row))
        return [{name: row.get(name) for name in columns} for row in rows]

    def _record(self, partition: PartitionCost) -> dict[str, Any]:
        row: dict[str, Any] = {"plan": self.plan.name, "partition": partition.name}
        row.update(partition.levels)
        for name in ("n_tar", "n_non", "n_stand_ins", "tar_weight", "non_weight"):
            row[name] = getattr(partition, name)
        row["actual"], row["minimum"] = _or_none(partition.actual), _or_none(partition.minimum)
        for number, (pmiss, pfa) in enumerate(
            zip(partition.pmiss, partition.pfa, strict=True), start=1
        ):
            row[f"pmiss_{number}"], row[f"pfa_{number}"] = _or_none(pmiss), _or_none(pfa)
        return row

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts, for JSON.

        Returns
        -------
        dict
            ``plan``, ``fingerprint``, ``compatibility``, ``actual``,
            ``minimum``, ``eer``, ``n_tar``, ``n_non``, ``operating_points``,
            ``partitions``, ``parts``, ``notes``, ``differences``. None where a
            number is not defined, and for the threshold that accepts or rejects
            every trial: its error-rates say which.
        """
        points = []
        for cost in self.points:
            row = attrs.asdict(cost, filter=lambda field, value: field.name != "point")
            row.update(attrs.asdict(cost.point), beta=cost.beta)
            points.append({name: _or_none(value) for name, value in row.items()})
        return {
            "plan": self.plan.name,
            "fingerprint": self.plan.fingerprint,
            "compatibility": self.compatibility,
            "actual": _or_none(self.actual),
            "minimum": _or_none(self.minimum),
            "eer": _or_none(self.eer),
            "n_tar": self.n_tar,
            "n_non": self.n_non,
            "operating_points": points,
            "partitions": [self._record(partition) for partition in self.partitions],
            "parts": [part.to_dict() for part in self.parts],
            "notes": list(self.notes),
            "differences": list(self.differences),
        }

    def __repr__(self) -> str:
        """Show plan, fingerprint and both costs."""
        mode = f", as {self.compatibility}" if self.compatibility else ""
        return (
            f"PrimaryCost: {self.plan.name} ({self.plan.fingerprint}{mode}), "
            f"actual {self.actual:.4f}, minimum {self.minimum:.4f}"
        )

    def __str__(self) -> str:
        """Return the report: costs by operating point and by partition, and the notes."""
        return "\n".join(_report(self))


def _or_none(value: float) -> float | None:
    """Return None for what JSON has no number for: NaN, and infinite thresholds."""
    return value if math.isfinite(value) else None


def _report(cost: PrimaryCost) -> list[str]:
    """Return the lines of the printed report."""
    plan = cost.plan
    title = f": {plan.title}" if plan.title else ""
    lines = [
        f"{plan.name}{title}",
        f"plan {plan.fingerprint}; {_averaging(cost)}; {cost.n_tar} targets, "
        f"{cost.n_non} non-targets",
        "",
        f"{'':<40}{'actual':>10}{'minimum':>10}",
    ]
    for point in cost.points:
        costs = f"P_target {point.point.p_target:g}, beta {point.beta:.6g}"
        lines.append(f"{costs:<40}{point.actual:>10.4f}{point.minimum:>10.4f}")
    for part in cost.parts:
        lines.append(f"{part.plan.name:<40}{part.actual:>10.4f}{part.minimum:>10.4f}")
    lines.append(f"{'primary cost':<40}{cost.actual:>10.4f}{cost.minimum:>10.4f}")
    if not math.isnan(cost.eer):
        lines.append(f"{'EER, per cent':<40}{'':>10}{100 * cost.eer:>10.2f}")
    if len(cost.partitions) > 1:
        lines += ["", *_table(cost.partitions)]
    for heading, texts in (("notes", cost.notes), (_heading(cost), cost.differences)):
        if texts:
            lines += ["", f"{heading}:", *(f"- {text}" for text in texts)]
    for part in cost.parts:
        lines += ["", *_report(attrs.evolve(part, differences=()))]
    return lines


def _averaging(cost: PrimaryCost) -> str:
    if cost.parts:
        return f"mean of {len(cost.parts)} data sets"
    if cost.equalised:
        return f"equalised over {len(cost.partitions)} partitions"
    return "trials pooled"


def _heading(cost: PrimaryCost) -> str:
    if cost.compatibility:
        return "as the official scorer, which means"
    return "other than the official scorer"


def _table(partitions: "tuple[PartitionCost, ...]") -> list[str]:
    """Return the table of partitions, with a column for each factor that they are made of."""
    factors = list(dict.fromkeys(name for row in partitions for name, _ in row.levels))
    rows = [[*(factors or ["partition"]), "targets", "non-targets", "actual", "minimum"]]
    for row in partitions:
        levels = dict(row.levels)
        names = [levels.get(factor, "-") for factor in factors] if factors else [row.name]
        n_non = f"{row.n_stand_ins}*" if row.n_stand_ins else f"{row.n_non} "
        rows.append([*names, str(row.n_tar), n_non, _shown(row.actual), _shown(row.minimum)])
    rows[0][-3] += " "
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    n_names = len(rows[0]) - 4
    lines = [
        "  ".join(
            text.ljust(width) if place < n_names else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    if any(row.n_stand_ins for row in partitions):
        lines.append("* non-targets of other partitions stand in for its own, which do not count")
    return lines


def _shown(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"
