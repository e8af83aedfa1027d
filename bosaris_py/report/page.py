"""The page around tables and figures: a template, and texts that are escaped before they enter."""

from __future__ import annotations

import base64
import hashlib
import html
import importlib.metadata
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from string import Template
from typing import Any

import attrs

from bosaris_py._arrays import FloatArray
from bosaris_py._notes import Caution
from bosaris_py._tables import Table, html_name, html_table
from bosaris_py._validation import FilePath, safe
from bosaris_py._version import __version__
from bosaris_py.errors import as_message, printable
from bosaris_py.evaluation import ConditionRow, Results, SystemTable
from bosaris_py.evaluation.figure_names import FIGURES, figure_of
from bosaris_py.files.replacing import digest_of, replacing
from bosaris_py.numerics.priors import OperatingPoint, SpoofCosts
from bosaris_py.report.answer import answer
from bosaris_py.report.cautions import MEANINGS, SystemCautions, of_scores, of_speakers, of_warnings
from bosaris_py.report.drawings import make_figures
from bosaris_py.uncertainty.bands import Band, BandKind
from bosaris_py.uncertainty.compare import ComparisonTable

# Packages on which figures may depend.
_PACKAGES = ("numpy", "scipy", "matplotlib")

# So many cautions of a topic are shown at once.
_MOST_CAUTIONS = 6

_COMPARED = (
    "<p>Differences of the {metrics} (first minus second) with their standard errors. "
    "Both systems have the same speakers, so a difference can be significant although the "
    "intervals of both overlap. Decide by the second p, which is corrected for the number of "
    "pairs.</p>"
)


@attrs.frozen(kw_only=True)
class Report:
    """What a report is made of.

    Parameters
    ----------
    title : str
        Its head.
    facts : mapping of str to str
        What was evaluated, and how.
    files : mapping of str to path
        The files that were evaluated, by their roles.
    cautions : sequence of Caution
        The warnings of the evaluation.
    speakers : mapping of str to int, or None
        Numbers of speakers, by side of the trials; None if trials are in files.
    table : SystemTable
        The figures of each system and condition.
    comparison : ComparisonTable or None
        Differences of the EERs of each pair of systems.
    bands : mapping of str to mapping of str to band
        Bands of each system, by what they are around: det, bayes, tippett, ece and pav.
    results : mapping of str to Results
        What the drawings are made of.
    kinds : mapping of str to mapping of str to ndarray
        The scores of each class by its word, of systems of three classes.
    spoof_costs : SpoofCosts or None
        Costs of three classes.
    points : mapping of str to float or OperatingPoint
        Operating points by what follows the names of costs in the table.
    normalized : bool
        Whether costs are.
    cases : mapping of str to CaseLLR
        Likelihood-ratios of single comparisons, by name.
    authors : sequence of str
        Author and laboratory, which stand below the head.
    """

    title: str
    facts: Mapping[str, str]
    files: Mapping[str, FilePath]
    cautions: Sequence[Caution]
    speakers: Mapping[str, int] | None
    table: SystemTable
    comparison: ComparisonTable | None = None
    bands: Mapping[str, Mapping[BandKind, Band]] = attrs.field(factory=dict)
    results: Mapping[str, Results]
    kinds: Mapping[str, Mapping[str, FloatArray]] = attrs.field(factory=dict)
    spoof_costs: SpoofCosts | None = None
    points: Mapping[str, float | OperatingPoint]
    normalized: bool
    cases: Mapping[str, Any] = attrs.field(factory=dict)
    authors: Sequence[str] = ()


def write_report(path: FilePath, report: Report) -> None:
    """Write a report into one HTML file, which is replaced when it is complete.

    Parameters
    ----------
    path : str or path-like
        The file.
    report : Report
        Its content. The same content gives the same file, byte for byte.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    with replacing(path) as temporary:
        text = _page(report)
        # Halves of surrogate pairs, which no encoding has, become numbers.
        temporary.write_text(text, encoding="utf-8", errors="xmlcharrefreplace")


def _page(report: Report) -> str:
    texts = {
        name.partition(".")[0]: (resources.files(__package__) / name).read_text(encoding="utf-8")
        for name in ("page.html", "look.css", "sort.js")
    }
    digest = base64.b64encode(hashlib.sha256(texts["sort"].encode()).digest()).decode()
    rows = report.table.rows
    of_all = [(name, row) for name, row in rows if row.kind == "pooled"]
    # What is warned of a condition has no sign among all trials, and so no footnote there.
    whole = {None, *(row.name for _, row in of_all)}
    heard = [one for one in report.table.cautions if dict(one.about).get("condition") in whole]
    pooled = SystemTable(of_all, cautions=heard)
    versions = {"bosaris_py": __version__, "Python": platform.python_version()}
    versions |= {name: importlib.metadata.version(name) for name in _PACKAGES}
    made_by = ", ".join(f"{name} {number}" for name, number in versions.items())
    sections = {
        "answer": ("Result", _answer(report)),
        "cautions": ("Reasons for caution", _cautions(report)),
        "cases": ("Cases", _cases(report.cases)),
        "systems": ("Systems", _table(pooled) + _metrics(report)),
        "conditions": ("Conditions", _conditions(report) if len(pooled.rows) < len(rows) else ""),
        "comparisons": (
            "Comparisons",
            "" if report.comparison is None else _compared(report.comparison),
        ),
        "figures": ("Figures", _figures(report)),
        "summary": (
            "What was evaluated",
            _definitions([*report.facts.items(), ("Versions", made_by)]) + _files(report.files),
        ),
        "warnings": ("Warnings in full", _warnings(report)),
    }
    sections = {name: section for name, section in sections.items() if section[1]}
    return Template(texts["page"]).substitute(
        title=html.escape(safe(report.title, 200)),
        authors="".join(f"<p>{html_name(name)}</p>" for name in report.authors),
        look=texts["look"],
        script=texts["sort"],
        digest=digest,
        links="".join(f'<a href="#{name}">{head}</a>' for name, (head, _) in sections.items()),
        sections="".join(
            f'<section id="{name}"><h2>{head}</h2>{body}</section>\n'
            for name, (head, body) in sections.items()
        ),
    )


def _compared(comparison: ComparisonTable) -> str:
    """Return the tests of all pairs."""
    return _COMPARED.format(metrics=f"{html.escape(comparison.metric)}s") + _table(comparison)


def _figures(report: Report) -> str:
    points = list(report.points.values())
    options: dict[str, Any] = {"bands": report.bands, "comparison": report.comparison}
    options |= {"kinds": report.kinds, "spoof_costs": report.spoof_costs}
    drawn = "".join(make_figures(report.results, report.table, points, **options))
    # A heading beside them in the grid would not be kept with them in print.
    return drawn and f'<div class="figures">{drawn}</div>'


def _cases(cases: Mapping[str, Any]) -> str:
    """Return the statement of each case, and its words of the verbal scale."""
    parts = []
    for name, case in cases.items():
        lines = "<br>".join(html.escape(printable(line)) for line in repr(case).splitlines())
        words = f"<strong>{html.escape(case.verbal)}</strong> (verbal scale of ENFSI, 2015)"
        parts.append(f"<h3>{html_name(str(name))}</h3><p>{words}</p><p>{lines}</p>")
    return "".join(parts)


def _definitions(pairs: Iterable[tuple[str, str]]) -> str:
    parts = (
        f"<dt>{html_name(name)}</dt><dd>{html.escape(printable(text))}</dd>" for name, text in pairs
    )
    return f"<dl>{''.join(parts)}</dl>"


def _files(files: Mapping[str, FilePath]) -> str:
    if not files:
        return ""
    head = "<tr><th>file</th><th>path</th><th>SHA-256</th></tr>"
    lines = (
        f"<tr><td>{html_name(role)}</td><td>{html_name(str(file))}</td>"
        f"<td><code>{digest_of(file)}</code></td></tr>"
        for role, file in files.items()
    )
    return f'<div class="wide">{html_table(head, lines)}</div>'


def _answer(report: Report) -> str:
    found = report.table, report.comparison, report.cautions
    sentences = answer(*found)
    # The direction of a name stays within its sentence.
    items = "".join(f"<li><bdi>{html.escape(printable(text))}</bdi></li>" for text in sentences)
    return items and f'<ol class="answer">{items}</ol>'


def _cautions(report: Report) -> str:
    """Return a table of what speaks against the metrics of each system, each flag explained."""
    found: dict[str, SystemCautions] = {}
    for name in dict.fromkeys(name for name, _ in report.table.rows):
        rows = [row for system, row in report.table.rows if system == name]
        parts = name, report.results.get(name), rows, report.points, report.cautions
        found[name] = SystemCautions.of(*parts)
    general = [] if report.speakers is None else [text for _, text in of_speakers(report.speakers)]
    about_none = [one for one in report.cautions if dict(one.about).get("system") not in found]
    topics = {topic for row in found.values() for topic in row.topics}
    others = {topic for topic, _ in of_warnings(about_none)}
    told = "".join(f"<p>{html.escape(text)}</p>" for text in general)
    if not topics | others and not told:
        return "<p>Nothing was found that speaks against these figures.</p>"
    counted = [f"{what}{point}" for point in report.points for what in ("misses ", "false alarms ")]
    heads = ("system", "effective speakers", *counted, "flags")
    head = "".join(f"<th>{html.escape(text.strip())}</th>" for text in heads)
    lines = []
    for name, row in found.items():
        counts = (f"{count:.0f}" for pair in row.errors for count in pair)
        cells = (html_name(name), row.speakers, *counts, ", ".join(row.topics) or "none")
        lines.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    table = f'<div class="wide">{html_table(f"<tr>{head}</tr>", lines)}</div>'
    meant = _definitions((topic, MEANINGS[topic]) for topic in MEANINGS if topic in topics | others)
    full = '<p><a href="#warnings">Warnings in full</a></p>' if topics | others else ""
    return f'<div class="cautions">{table}{told}{meant}{full}</div>'


def _warnings(report: Report) -> str:
    known = [] if report.speakers is None else of_speakers(report.speakers)
    found = [(topic, [text]) for topic, text in known]
    for name, results in report.results.items():
        rows = [row for system, row in report.table.rows if system == name]
        own = of_scores(results, rows, report.points)
        found += [(topic, [f"{name}: {text}"]) for topic, text in own]
    found += of_warnings(report.cautions)
    topics: dict[str, dict[str, None]] = {}
    for topic, lines in found:
        topics.setdefault(topic, {})[_caution(lines)] = None
    parts = []
    for topic, items in topics.items():
        shown, more = list(items)[:_MOST_CAUTIONS], list(items)[_MOST_CAUTIONS:]
        head = f"<details><summary>{len(more)} more</summary><ul>{''.join(more)}</ul></details>"
        parts.append(
            f"<h3>{html.escape(topic)}</h3><ul>{''.join(shown)}</ul>{head if more else ''}"
        )
    return "".join(parts)


def _caution(lines: list[str]) -> str:
    """Return an item of a list, in which what is found in many conditions is folded."""
    # One name of 10^5 letters is as bad as a message of them.
    shown = [html.escape(as_message(line)) for line in lines]
    if len(shown) <= _MOST_CAUTIONS:
        return f"<li>{' '.join(shown)}</li>"
    more = "".join(f"<li>{line}</li>" for line in shown[1:])
    head = f"<details><summary>{len(shown) - 1} more</summary><ul>{more}</ul></details>"
    return f"<li>{shown[0]}{head}</li>"


def _table(table: Table) -> str:
    return f'<div class="wide">{table._repr_html_()}</div>'


# The higher an EER is, the stronger is the colour of its cell, in so many steps.
_SHADES = 5


def _conditions(report: Report) -> str:
    """Return the EER of each condition and system, coloured, and the table of all metrics."""
    systems = list(dict.fromkeys(name for name, _ in report.table.rows))
    of_condition: dict[str, dict[str, ConditionRow]] = {}
    for system, row in report.table.rows:
        of_condition.setdefault(f"{row.kind} {row.name}", {})[system] = row
    lead = report.table.leading
    eers = [row.figures[lead] for _, row in report.table.rows]
    highest = max((value for value in eers if value), default=0.0)
    lines = []
    for rows in of_condition.values():
        row = next(iter(rows.values()))
        counts = f"<td>{row.n_tar}</td><td>{row.n_non}</td>"
        cells = "".join(_shaded(rows.get(system), highest, lead) for system in systems)
        lines.append(f"<tr><td>{html_name(row.name)}</td>{counts}{cells}</tr>")
    heads = ("condition", "targets", "non-targets", *systems)
    head = "".join(f"<th>{html_name(text)}</th>" for text in heads)
    percent = f"{figure_of(lead).head} of each system; the stronger the colour, the higher it is"
    pivoted = f'<div class="wide pivoted">{html_table(f"<tr>{head}</tr>", lines, percent)}</div>'
    return (
        f"{pivoted}<details><summary>All metrics by condition</summary>{_table(report.table)}"
        "</details>"
    )


def _shaded(row: ConditionRow | None, highest: float, lead: str) -> str:
    """Return a cell with the leading figure of a row, its interval and its shade."""
    value = None if row is None else row.figures[lead]
    if row is None or value is None:
        return "<td>-</td>"
    shade = math.ceil(_SHADES * value / highest) if highest else 0
    figure = figure_of(lead)
    text = figure.text(value)
    if lead in row.intervals:
        low, high = map(figure.text, row.intervals[lead])
        text += f'<span class="interval"> [{low}, {high}]</span>'
    return f'<td class="shade{shade}">{text}</td>'


def _metrics(report: Report) -> str:
    """Explain the columns that the table has."""
    columns = {name.partition("(")[0] for _, row in report.table.rows for name in row.figures}
    found = [(one.name, one.meaning) for name, one in FIGURES.items() if name in columns]
    scale = "Divided by that of the better decision made without a detector, which costs 1."
    return _definitions([*found, ("Costs", scale if report.normalized else "Not normalized.")])
