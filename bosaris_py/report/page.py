"""The page of a report: what is gathered of an evaluation, a template, texts that are escaped."""

from __future__ import annotations

import base64
import hashlib
import html
import importlib.metadata
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from itertools import chain
from string import Template
from typing import TYPE_CHECKING

import attrs

from bosaris_py._notes import lines_about
from bosaris_py._tables import Table, html_name, html_table, words_of_eer
from bosaris_py._validation import FilePath, safe
from bosaris_py._version import __version__
from bosaris_py.errors import as_message, printable
from bosaris_py.evaluation.case import CaseLLR, rows_of_figures, validation_figures
from bosaris_py.evaluation.rows import FIGURES, figure_of
from bosaris_py.files.replacing import digest_of, refuse_inputs, replacing
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.report.figures import Drawing, curves, forests, three_classes
from bosaris_py.trials.speakers import speaker_names
from bosaris_py.uncertainty.bands import Band, BandKind, bands_of_sample
from bosaris_py.uncertainty.compare import ComparisonTable

if TYPE_CHECKING:
    from bosaris_py.evaluation.evaluation import Evaluation

# Packages on which figures may depend.
_PACKAGES = ("numpy", "scipy", "matplotlib")

# Pairs of more systems fill no page that is read.
_MOST_COMPARED = 6

# Bands of more systems hide each other: then only the system of least Cllr has some. Bands of more
# replicates look the same.
_MOST_BANDS, _MOST_REPLICATES = 2, 500

# So many notes of a kind are shown at once.
_MOST_NOTES = 6

_CAPTION = re.compile(r"<caption[^>]*>(.*?)</caption>", re.DOTALL)

_COMPARED = (
    "<p>Both systems of a pair have the same speakers, so a difference can be significant although "
    "the intervals of both overlap. The last p is corrected for the number of pairs.</p>"
)


def write_report(
    evaluation: Evaluation,
    path: FilePath,
    *,
    title: str,
    author: str,
    laboratory: str,
    date: object,
    files: Mapping[str, FilePath],
    cases: Mapping[str, CaseLLR],
    validate: bool,
) -> None:
    """Write the report of an evaluation into one HTML file, which is replaced when it is complete.

    Parameters
    ----------
    evaluation : Evaluation
        What was evaluated.
    path, title, author, laboratory, date, files, cases, validate
        As for `Evaluation.report`. The same input gives the same file, byte for byte.
    """
    refuse_inputs(path, files.values(), "path")
    comparison, bands = _comparison(evaluation), _bands(evaluation)
    has_conditions = any(not row.is_whole for row in evaluation.rows)
    facts = _facts(evaluation, bands)
    facts |= {"Date": "" if date is None else str(date), "Versions": _versions()}
    sections = {
        "validation": ("Validation", _validation(evaluation) if validate else ""),
        "cases": ("Cases", _cases(cases)),
        "systems": ("Systems", _systems(evaluation, comparison)),
        "notes": ("Notes", _notes(evaluation)),
        "conditions": ("Conditions", _table(evaluation) if has_conditions else ""),
        "comparisons": ("Comparisons", _COMPARED + _table(comparison) if comparison else ""),
        "figures": ("Figures", _figures(evaluation, comparison, bands)),
        "summary": ("What was evaluated", _definitions(facts) + _files(files)),
    }
    text = _page(title, (author, laboratory), {n: s for n, s in sections.items() if s[1]})
    with replacing(path) as temporary:
        # Halves of surrogate pairs, which no encoding has, become numbers.
        temporary.write_text(text, encoding="utf-8", errors="xmlcharrefreplace")


def _page(title: str, authors: Iterable[str], sections: Mapping[str, tuple[str, str]]) -> str:
    """Fill in the template."""
    parts = {
        name.partition(".")[0]: (resources.files(__package__) / name).read_text(encoding="utf-8")
        for name in ("page.html", "look.css", "sort.js")
    }
    digest = base64.b64encode(hashlib.sha256(parts["sort"].encode()).digest()).decode()
    return Template(parts["page"]).substitute(
        title=html.escape(safe(title, 200)),
        authors="".join(f"<p>{html_name(name)}</p>" for name in authors if name),
        look=parts["look"],
        script=parts["sort"],
        digest=digest,
        links="".join(f'<a href="#{name}">{head}</a>' for name, (head, _) in sections.items()),
        sections="".join(
            f'<section id="{name}"><h2>{head}</h2>{body}</section>\n'
            for name, (head, body) in sections.items()
        ),
    )


# ---- What is gathered


def _comparison(evaluation: Evaluation) -> ComparisonTable | None:
    """Compare pairs, where there are intervals and few systems on the same trials."""
    plan, systems = evaluation.plan, evaluation.systems
    several = plan is not None and (plan.detectors == 2 or bool(plan.sets))
    if several or not evaluation.how.intervals or not 1 < len(systems) <= _MOST_COMPARED:
        return None
    return evaluation.compare()


def _bands(evaluation: Evaluation) -> dict[str, dict[BandKind, Band]]:
    """Make bands around the curves of one or two systems, or of the best, if there is a bootstrap.

    They are of the speaker bootstrap of the evaluation.
    """
    how, results = evaluation.how, evaluation.results
    if not how.replications or not results:
        return {}
    shaded = sorted(results, key=lambda name: results[name].cllr)
    shaded = shaded[:1] if len(shaded) > _MOST_BANDS else [*results]
    replications = min(how.replications, _MOST_REPLICATES)
    drawn = attrs.evolve(how.resampling, replications=replications)
    return {name: bands_of_sample(evaluation.samples[name], drawn) for name in shaded}


def _facts(evaluation: Evaluation, bands: Mapping[str, object]) -> dict[str, str]:
    """Return what was evaluated, and how."""
    how, plan = evaluation.how, evaluation.plan
    key, percent = evaluation.key, f"{100 * how.confidence:g} %"
    facts = {"Systems": str(len(evaluation.systems) or len(evaluation.results))}
    if key is not None:
        spoofs = f", {key.n_spoof} spoofs" if key.n_spoof else ""
        facts["Trials"] = f"{key.n_tar} targets, {key.n_non} non-targets{spoofs}"
        models, segments = (ids.size for ids in key.ids)
        facts["Models and segments"] = f"{models} models, {segments} segments"
        sides = zip(speaker_names(evaluation.speakers, key), ("models", "segments"), strict=True)
        known = [(len({*n} - {None}), side) for n, side in sides if n is not None]
        counts = ", ".join(f"{count} of the {side}" for count, side in known)
        facts["Speakers"] = counts or "not given; each model counts as one speaker"
    facts["Operating points"] = "; ".join(map(_point, how.prior))
    facts["Equal error-rate"] = words_of_eer(how.eer)
    facts["Costs"] = "normalized" if how.normalize else "not normalized"
    if plan is not None:
        facts["Plan"] = plan.name
        facts["Costs"] = plan.costs_in_words if plan.figures else facts["Costs"]
    if evaluation.conditions is not None:
        facts["Conditions"] = str(len(evaluation.conditions.names))
    facts["Intervals"] = how.intervals or "none"
    replicates = f"{min(how.replications, _MOST_REPLICATES)} replicates"
    facts["Bands"] = f"{percent} at each point, {replicates}" if bands else ""
    facts["Calibration"] = how.calibrated
    facts["Seed"] = str(how.seed) if how.replications or how.calibrated else ""
    return facts


def _point(point: float | OperatingPoint) -> str:
    one = point if isinstance(point, OperatingPoint) else OperatingPoint(point)
    return f"P(target) {one.p_target:g}, C(miss) {one.c_miss:g}, C(false alarm) {one.c_fa:g}"


def _versions() -> str:
    versions = {"bosaris_py": __version__, "Python": platform.python_version()}
    versions |= {name: importlib.metadata.version(name) for name in _PACKAGES}
    return ", ".join(f"{name} {number}" for name, number in versions.items())


# ---- Sections


def _validation(evaluation: Evaluation) -> str:
    """Return the figures of a validation, what misleads first, with intervals if there are any."""
    level, samples = evaluation.how.confidence, evaluation.samples
    columns = [rows_of_figures(validation_figures(one, level)) for one in samples.values()]
    lines = []
    for cells in zip(*columns, strict=True):
        shown = (f'{value}<span class="interval"> {ends}</span>' for _, value, ends in cells)
        lines.append(_row("td", (html.escape(cells[0][0]), *shown)))
    head = _row("th", ("figure", *map(html_name, samples)))
    below = (
        f"{evaluation.how.intervals or 'No intervals'}. Mean 1/LR of targets and mean LR of "
        "non-targets are 1 in expectation if likelihood-ratios are calibrated. A few misleading "
        "trials decide both: read them beside Cllr. What PAV adds has no interval."
    )
    return f'{_wide(html_table(head, lines))}<p class="note">{html.escape(below)}</p>'


def _cases(cases: Mapping[str, CaseLLR]) -> str:
    """Return the statement of each case, and its words of the verbal scale."""
    parts = []
    for name, case in cases.items():
        lines = "<br>".join(html.escape(printable(line)) for line in repr(case).splitlines())
        words = f"<strong>{html.escape(case.verbal)}</strong> (verbal scale of ENFSI, 2015)"
        parts.append(f"<h3>{html_name(str(name))}</h3><p>{words}</p><p>{lines}</p>")
    return "".join(parts)


def _systems(evaluation: Evaluation, comparison: ComparisonTable | None) -> str:
    """Return the answer, the figures of all trials, and what they mean."""
    rows = tuple(row for row in evaluation.rows if row.is_whole)
    # What is said of a condition stands below the table of conditions.
    systems = {"", *(row.system for row in rows)}
    notes = [note for note in evaluation.notes if {*note.about.split(", ")} <= systems]
    whole = [attrs.evolve(row, condition=None) for row in rows]
    table = attrs.evolve(evaluation, rows=tuple(whole), notes=tuple(notes))
    columns = {name.partition("(")[0] for row in rows for name in row.figures}
    meant = {one.name: one.meaning for name, one in FIGURES.items() if name in columns}
    answer = " ".join(_answer(table, comparison))
    told = f'<p class="answer"><bdi>{html.escape(printable(answer))}</bdi></p>' if answer else ""
    return told + _table(table) + _definitions(meant)


def _answer(table: Evaluation, comparison: ComparisonTable | None) -> Iterator[str]:
    """Yield which of several systems is best, and from which it differs."""
    lead, figure = table.leading, figure_of(table.leading)
    rows = {row.system: row for row in table.rows}
    values = {name: row.figures[lead] for name, row in rows.items()}
    known = {name: value for name, value in values.items() if value is not None}
    if len(known) < 2:
        return
    best = min(known, key=known.__getitem__)
    unit = " %" if figure.is_rate else ""
    ends = rows[best].ends(lead)
    interval = f" ({figure.text(ends[0])} to {figure.text(ends[1])})" if ends else ""
    shown = f"{figure.text(known[best])}{unit}{interval}"
    yield f"{safe(best, 60)} has the lowest {figure.name}: {shown}."
    pairs = [
        row for row in (comparison.rows if comparison else ()) if best in (row.first, row.second)
    ]
    for differs, words in ((True, "significantly lower than"), (False, "not shown to differ from")):
        level = comparison.level if comparison else 0.0
        others = [
            safe(row.second if row.first == best else row.first, 60)
            for row in pairs
            if (row.p_holm <= level) is differs
        ]
        if others:
            yield f"It is {words} that of {', '.join(others)} (level {level:g}, by Holm)."


def _notes(evaluation: Evaluation) -> str:
    """Return what the evaluation says of itself, by kind; many of a kind are folded."""
    kinds: dict[str, dict[str, None]] = {}
    for note in evaluation.notes:
        words = re.sub(r"(?<!^)(?=[A-Z])", " ", note.kind.__name__.removesuffix("Warning"))
        text = as_message(f"{lines_about([note])[0]} {note.advice}".strip())
        kinds.setdefault(words.capitalize(), {})[f"<li>{html.escape(text)}</li>"] = None
    parts = []
    for kind, items in kinds.items():
        is_open = " open" if len(items) <= _MOST_NOTES else ""
        head = f"<summary>{html.escape(kind)} ({len(items)})</summary>"
        parts.append(f"<details{is_open}>{head}<ul>{''.join(items)}</ul></details>")
    return "".join(parts)


def _figures(
    evaluation: Evaluation,
    comparison: ComparisonTable | None,
    bands: Mapping[str, Mapping[BandKind, Band]],
) -> str:
    """Draw everything that the scores allow."""
    plan, how, results = evaluation.plan, evaluation.how, evaluation.results
    drawings: list[Iterable[Drawing]] = [forests(evaluation, comparison)]
    # Without results there are no curves: classes are not pooled, or detectors are two.
    if results:
        drawings.insert(0, curves(results, [*how.prior], bands))
    if plan is not None and "a_dcf" in plan.figures:
        drawings.insert(0, three_classes(evaluation.samples, plan.spoof_costs))
    drawn = [one.html(number) for number, one in enumerate(chain(*drawings))]
    # A heading beside them in the grid would not be kept with them in print.
    return f'<div class="figures">{"".join(drawn)}</div>' if drawn else ""


def _files(files: Mapping[str, FilePath]) -> str:
    lines = (
        _row("td", (html_name(role), html_name(str(path)), f"<code>{digest_of(path)}</code>"))
        for role, path in files.items()
    )
    return _wide(html_table(_row("th", ("file", "path", "SHA-256")), lines)) if files else ""


# ---- Elements


def _table(table: Table) -> str:
    """Return a table that scrolls, and below it what it says of itself, which does not."""
    text = table._repr_html_()
    notes = "".join(f'<p class="note">{one}</p>' for one in _CAPTION.findall(text))
    return _wide(_CAPTION.sub("", text)) + notes


def _wide(table: str) -> str:
    return f'<div class="wide">{table}</div>'


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"


def _definitions(meant: Mapping[str, str]) -> str:
    parts = (
        f"<dt>{html_name(name)}</dt><dd>{html.escape(printable(text))}</dd>"
        for name, text in meant.items()
        if text
    )
    return f"<dl>{''.join(parts)}</dl>"
