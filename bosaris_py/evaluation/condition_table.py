"""Tables of the figures of each condition, of the pooled trials, and of equalised conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np

from bosaris_py import _tables
from bosaris_py._notes import Caution, cautions, hushed
from bosaris_py.evaluation.figure_names import figure_of
from bosaris_py.evaluation.results import Results
from bosaris_py.metrics.ranks import EER
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.roc import EERDefinition
from bosaris_py.trials import ConditionMembers
from bosaris_py.trials.sample import Sample

_NOTHING = "-"

RowKind: TypeAlias = Literal["condition", "pooled", "equalised"]

# The ends of some figures of a row, and how these intervals were made, in words.
TableIntervals: TypeAlias = tuple[Mapping[str, tuple[float, float]], str]


def _read_only(values: Mapping[str, object]) -> Mapping[str, Any]:
    return MappingProxyType(dict(values))


@attrs.frozen(kw_only=True)
class ConditionRow:
    """One row of a table: a condition, all trials pooled, or the conditions equalised.

    Parameters
    ----------
    name : str
        The condition, or ``"pooled"`` or ``"equalised"``.
    kind : {"condition", "pooled", "equalised"}
        What the row is about.
    weight : float or None
        Weight of the condition; None for the other kinds.
    n_tar, n_non : int
        Numbers of trials with a score.
    figures : mapping of str to float or None
        ``eer`` (a fraction), ``min_dcf(0.05)`` and ``act_dcf(0.05)`` for each operating
        point, by name, ``min_cllr`` and ``cllr`` (bits). None where a class has no trials.
    intervals : mapping of str to (float, float)
        Lower and upper end for some of the figures.
    normalized : bool or None
        Whether costs are divided by that of the better decision made without a detector; None
        where there are no costs.
    eer_definition : {"rocch", "interpolated", "step"}, default: "rocch"
        Which equal error-rate it is; see `bosaris_py.eer`.
    how : str
        What the intervals are: confidence, method, replicates and kinds; empty without intervals.
    """

    name: str
    kind: RowKind
    weight: float | None
    n_tar: int
    n_non: int
    figures: Mapping[str, float | None] = attrs.field(converter=_read_only)
    intervals: Mapping[str, tuple[float, float]] = attrs.field(converter=_read_only, factory=dict)
    normalized: bool | None = None
    eer_definition: EERDefinition = "rocch"
    how: str = ""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call; the mappings that cannot be changed cannot be pickled."""
        # A MappingProxyType cannot be pickled; the converters make a new one.
        values = attrs.asdict(self, recurse=False)
        values.update(figures=dict(self.figures), intervals=dict(self.intervals))
        return partial(ConditionRow, **values), ()

    def record(self) -> dict[str, Any]:
        """Return the row as plain values.

        Returns
        -------
        dict
            ``condition``, ``kind``, ``weight``, ``n_tar``, ``n_non``, the figures, the ends of
            intervals as ``<figure>_low`` and ``<figure>_high``, ``normalized``,
            ``eer_definition`` and ``intervals``, which says how intervals were made.
        """
        record: dict[str, Any] = {"condition": self.name}
        record |= {name: getattr(self, name) for name in ("kind", "weight", "n_tar", "n_non")}
        for name, value in self.figures.items():
            record[name] = value
            if name in self.intervals:
                record[f"{name}_low"], record[f"{name}_high"] = self.intervals[name]
        told = {"normalized": self.normalized, "eer_definition": self.eer_definition}
        return record | told | {"intervals": self.how or None}

    @property
    def note(self) -> str:
        """What the figures are, in words."""
        return _tables.joined_notes(
            _tables.scale_of_costs(self.normalized),
            _tables.words_of_eer(self.eer_definition),
            self.how,
        )


def _to_rows(rows: Iterable[object]) -> tuple[Any, ...]:
    return tuple(rows)


@attrs.frozen(repr=False)
class SystemTable(_tables.AnnotatedTable):
    """Figures of several systems, each with one row or with one for each condition.

    `evaluate` makes one; it prints as a table.

    Parameters
    ----------
    rows : sequence of (str, ConditionRow)
        Name of the system and its figures. Where there are no conditions, the only row of
        a system is of kind ``"pooled"``.
    cautions : sequence of Caution, optional
        What was warned of. Figures that it concerns have a sign, which a footnote explains.
    """

    rows: tuple[tuple[str, ConditionRow], ...] = attrs.field(converter=_to_rows)
    cautions: tuple[Caution, ...] = attrs.field(default=(), converter=_to_rows, kw_only=True)

    @property
    def leading(self) -> str:
        """The figure by which systems are compared: the EER, or the first one of a plan."""
        figures = dict.fromkeys(name for _, row in self.rows for name in row.figures)
        return "eer" if "eer" in figures else next(iter(figures), "eer")

    @property
    def _heads(self) -> tuple[str, ...]:
        single = all(row.kind == "pooled" for _, row in self.rows)
        return ("system",) if single else ("system", "condition")

    @property
    def _left(self) -> tuple[int, ...]:
        return tuple(range(len(self._heads)))

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as dicts.

        Returns
        -------
        list of dict
            ``system``, then what `ConditionRow.record` returns; without conditions there
            is no ``condition``, ``kind`` or ``weight``.
        """
        records = [{"system": name, **row.record()} for name, row in self.rows]
        if len(self._heads) == 1:
            for record in records:
                del record["condition"], record["kind"], record["weight"]
        return records

    def __repr__(self) -> str:
        """Return the table as text, and what its figures and its signs are."""
        return "\n".join((self.body, *self._below))

    @property
    def body(self) -> str:
        """The table alone, a rule between systems that have several rows."""
        names = [name for name, _ in self.rows]
        first = {name: i for i, name in reversed(list(enumerate(names, start=1)))}
        starts = sorted(first.values())
        return self._laid_out(starts if len(self._heads) > 1 else starts[:1])

    @property
    def facts(self) -> str:
        """What the figures are, in words."""
        _, row = self.rows[0]
        counts = f"{row.n_tar} targets, {row.n_non} non-targets" if self.same_trials else ""
        return _tables.joined_notes(counts, row.note)

    @property
    def same_trials(self) -> bool:
        """Whether all rows are of equally many trials, whose number is then not printed."""
        return len(self._heads) == 1 and len({(row.n_tar, row.n_non) for _, row in self.rows}) == 1

    def _plain_texts(self) -> list[list[str]]:
        return _printed(self.rows, self._heads, counts=not self.same_trials)

    def _concerned(self, caution: Caution, heads: Sequence[str]) -> Iterable[tuple[int, int]]:
        return _cells_of(caution, self.rows, heads, len(self._heads) - 1)

    def _best(self) -> set[tuple[int, int]]:
        """Return the cells of the lowest metrics among all trials of each system."""
        pooled = [(i, row) for i, (_, row) in enumerate(self.rows) if row.kind == "pooled"]
        names = list(dict.fromkeys(name for _, row in self.rows for name in row.figures))
        # Metrics are the last columns.
        first = len(self._texts()[0]) - len(names)
        found = set()
        for column, name in enumerate(names, start=first) if len(pooled) > 1 else ():
            values = {i: row.figures.get(name) for i, row in pooled}
            known = {i: value for i, value in values.items() if value is not None}
            found |= {(i, column) for i, value in known.items() if value == min(known.values())}
        return found


def _printed(
    rows: Sequence[tuple[str, ConditionRow]], heads: tuple[str, ...], *, counts: bool = True
) -> list[list[str]]:
    """Return the cells of a table; columns that `heads` name come first."""
    names = list(dict.fromkeys(name for _, row in rows for name in row.figures))
    weighted = ("weight",) if "condition" in heads else ()
    titles = (figure_of(name).head for name in names)
    counted = ("targets", "non-targets") if counts else ()
    heads = *heads, *weighted, *counted
    lines = [[*heads, *titles]]
    for system, row in rows:
        weight = _NOTHING if row.weight is None else f"{row.weight:.4g}"
        cells = {"system": system, "condition": row.name, "weight": weight}
        cells |= {"targets": str(row.n_tar), "non-targets": str(row.n_non)}
        lines.append([*(cells[head] for head in heads), *(_cell(row, name) for name in names)])
    return lines


def _cells_of(
    caution: Caution,
    rows: Sequence[tuple[str, ConditionRow]],
    heads: Sequence[str],
    of_condition: int = 0,
) -> Iterator[tuple[int, int]]:
    """Yield the cells that a caution concerns; `of_condition` is the column of conditions."""
    names = list(dict.fromkeys(name for _, row in rows for name in row.figures))
    # Metrics are the last columns; what is about none of them stands beside the name.
    columns = {name: i for i, name in enumerate(names, start=len(heads) - len(names))}
    about = dict(caution.about)
    own = [columns[name] for name in caution.figures if name in columns]
    for number, (system, row) in enumerate(rows):
        here = about.get("system", system) == system
        if here and about.get("condition", row.name) == row.name:
            yield from ((number, at) for at in own or [of_condition * ("condition" in about)])


def _cell(row: ConditionRow, name: str) -> str:
    """Return a figure, and its interval if there is one, as text."""
    value = row.figures.get(name)
    if value is None:
        return _NOTHING
    figure = figure_of(name)
    text = figure.text(value)
    if name in row.intervals:
        low, high = map(figure.text, row.intervals[name])
        return _tables.WithInterval(text, f"[{low}, {high}]")
    return text


def rows_of_sample(
    sample: Sample,
    members: Sequence[ConditionMembers],
    points: Mapping[str, float | OperatingPoint],
    *,
    normalize: bool,
    eer: EERDefinition = "rocch",
    intervals: Callable[[Any, str], TableIntervals] | None = None,
) -> list[ConditionRow]:
    """Evaluate members, all of them pooled, and all of them weighted.

    The *pooled* row counts all trials alike, so that large conditions decide. The *equalised* row
    averages error-rates with the weights of the conditions, see `bosaris_py.Conditions`. Minimum
    Cllr, EER and minimum cost of both take one calibration and one threshold for all conditions,
    so they can be larger than that of each condition.
    """
    # `intervals` makes those of the figures of a row from its sample, given its name.
    rows = []
    with cautions():
        # What has been said of all trials is not said of each condition.
        said: list[type[Warning]] = []
        for name, kind, weight, part in _parts(sample, members):
            results = Results.from_sample(part) if part.n_tar and part.n_non else None
            about = {} if kind == "pooled" else {"condition": name}
            with hushed(*said), cautions(**about) as heard:
                figures = table_figures(results, points, normalize=normalize, eer=eer)
            common: dict[str, Any] = {"kind": kind, "weight": weight, "figures": figures}
            common["eer_definition"] = eer
            common["normalized"] = normalize if points else None
            if intervals is not None and results is not None:
                common["intervals"], common["how"] = intervals(part, name)
            rows.append(ConditionRow(name=name, n_tar=part.n_tar, n_non=part.n_non, **common))
            if kind == "pooled":
                said = [caution.category for caution in heard]
    return [*rows[1:-1], rows[0], rows[-1]]


def pooled(sample: Sample, members: Sequence[ConditionMembers]) -> Sample:
    """Return the trials of some conditions, all alike."""
    tar = np.unique(np.concatenate([item.tar for item in members]))
    non = np.unique(np.concatenate([item.non for item in members]))
    return sample.take(tar, non)


def _parts(
    sample: Sample, members: Sequence[ConditionMembers]
) -> Iterator[tuple[str, RowKind, float | None, Sample]]:
    """Yield all trials of conditions pooled, each condition alone, and all weighted."""
    whole = pooled(sample, members)
    yield "pooled", "pooled", None, whole
    for item in members:
        yield item.name, "condition", item.weight, sample.take(item.tar, item.non)
    is_whole = whole.n_tar and whole.n_non
    yield "equalised", "equalised", None, sample.weighted(members) if is_whole else whole


def table_figures(
    results: Results | None,
    points: Mapping[str, float | OperatingPoint],
    *,
    normalize: bool,
    eer: EERDefinition = "rocch",
) -> dict[str, float | None]:
    """Return the figures of one row, each None where a class is empty and there are no results."""
    costs = [(name, suffix) for name in ("min_dcf", "act_dcf") for suffix in points]
    names = ["eer", *(name + suffix for name, suffix in costs), "min_cllr", "cllr"]
    if results is None:
        return dict.fromkeys(names)
    figures: dict[str, float | None] = dict.fromkeys(names)
    # In this order warnings come; the hull's own EER warns of inverted scores.
    figures["cllr"], figures["min_cllr"] = results.cllr, results.min_cllr
    figures["eer"] = results.eer if eer == "rocch" else EER(eer).computed(results.sample)
    for name, suffix in costs:
        figures[name + suffix] = float(getattr(results, name)(points[suffix], normalize=normalize))
    return figures
