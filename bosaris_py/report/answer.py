"""The answer of a report in three sentences, which are made from its numbers alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bosaris_py import errors
from bosaris_py._notes import Caution
from bosaris_py._validation import safe
from bosaris_py.evaluation import ConditionRow, SystemTable
from bosaris_py.evaluation.figure_names import figure_of
from bosaris_py.uncertainty.compare import ComparisonTable

# A longer name would hide what is said of it.
_LONGEST_NAME, _MOST_NAMES = 60, 6

_UNITS = {"rate": " %", "bits": " bits", "cost": ""}


def answer(
    table: SystemTable, comparison: ComparisonTable | None, cautions: Sequence[Caution]
) -> Iterator[str]:
    """Yield which system is best, which differences are significant, and how sure that is."""
    pooled = {name: row for name, row in table.rows if row.kind == "pooled"}
    lead = table.leading
    values = {name: row.figures[lead] for name, row in pooled.items()}
    known = {name: value for name, value in values.items() if value is not None}
    if not known:
        return
    best = min(known, key=known.__getitem__)
    yield _best(best, known, pooled, lead)
    yield _significant(best, known, comparison, figure_of(lead).name)
    yield _sure(pooled, cautions)


def _name(name: str) -> str:
    return safe(name, _LONGEST_NAME)


def _listed(names: Sequence[str]) -> str:
    shown = [_name(name) for name in names[:_MOST_NAMES]]
    if len(names) > _MOST_NAMES:
        shown.append(f"{len(names) - _MOST_NAMES} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _told(row: ConditionRow, figure: str) -> str:
    """Return a metric with its unit and interval."""
    known, value = figure_of(figure), row.figures[figure]
    assert value is not None
    text = f"{known.text(value)}{_UNITS[known.unit]}"
    if figure in row.intervals:
        low, high = map(known.text, row.intervals[figure])
        text += f" ({low} to {high})"
    return text


def _best(
    best: str, values: Mapping[str, float], pooled: Mapping[str, ConditionRow], lead: str
) -> str:
    row = pooled[best]
    if len(values) == 1:
        others = ["cllr"] if "cllr" in row.figures else [n for n in row.figures if n != lead]
        found = [
            f"{figure_of(figure).with_article} of {_told(row, figure)}"
            for figure in (lead, *others[:1])
        ]
        return f"{_name(best)} has {' and '.join(found)}."
    ties = [name for name, value in values.items() if value == values[best]]
    verb = "has" if len(ties) == 1 else "have"
    text = f"{_listed(ties)} {verb} the lowest {figure_of(lead).name}: {_told(row, lead)}"
    if "cllr" not in row.figures:
        return f"{text}."
    costs = {
        name: row.figures["cllr"] for name, row in pooled.items() if row.figures["cllr"] is not None
    }
    least = min(costs, key=costs.__getitem__)
    if costs[least] == costs[best]:
        return f"{text}; and the lowest Cllr: {_told(row, 'cllr')}."
    return f"{text}; {_name(least)} has the lowest Cllr: {_told(pooled[least], 'cllr')}."


def _significant(
    best: str, values: Mapping[str, float], comparison: ComparisonTable | None, title: str
) -> str:
    if len(values) == 1:
        return "There is one system, so that no difference was tested."
    if comparison is None:
        return "Differences between systems were not tested."
    records = comparison.records()
    level = f"level {comparison.level:g}, corrected for {len(records)} pair"
    level += "s" if len(records) > 1 else ""
    own = [record for record in records if best in (record["first"], record["second"])]
    found: dict[bool, list[str]] = {True: [], False: []}
    for record in own:
        other = record["second"] if record["first"] == best else record["first"]
        found[bool(record["significant"])].append(other)
    others = sum(record["significant"] for record in records if record not in own)
    parts = []
    if found[True]:
        parts.append(
            f"The {title} of {_name(best)} is significantly lower than that of "
            f"{_listed(found[True])}"
        )
    if found[False]:
        few = _listed(found[False])
        begin = "it was" if parts else f"The {title} of {_name(best)} was"
        parts.append(f"{begin} not shown to differ from {few}")
    among = f"; of the other pairs {others} of {len(records) - len(own)} differ"
    return f"{'; '.join(parts)}{among if len(own) < len(records) else ''} ({level})."


def _sure(pooled: Mapping[str, ConditionRow], cautions: Sequence[Caution]) -> str:
    if not any(row.intervals for row in pooled.values()):
        return (
            "How sure these numbers are is not known: there are no intervals, which take speakers "
            "and replicates of a bootstrap."
        )
    how = next(row.how for row in pooled.values() if row.intervals)
    counts = [found for found in map(few_speakers, cautions) if found is not None]
    if not counts:
        return f"Figures have intervals ({how})."
    share = 100.0 * (1.0 - 0.05 ** (1.0 / min(counts)))
    return (
        f"Figures rest on {min(counts):g} speakers: a kind of speaker as common as {share:.0f} % "
        f"may be missing from these trials ({how})."
    )


def few_speakers(caution: Caution) -> float | None:
    """Return how many speakers the trials of a system have, if a warning says so."""
    about = dict(caution.about)
    if not issubclass(caution.category, errors.FewSpeakersWarning) or "pair" in about:
        return None
    return caution.count if about.get("condition", "pooled") == "pooled" else None
