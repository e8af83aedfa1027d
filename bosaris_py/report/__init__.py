"""The report of an evaluation: one HTML file with tables and pictures, which needs no network.

A template is filled with what is gathered of an evaluation; all texts are escaped. Each figure is
an SVG inside the page, with a sentence that explains it.
"""

import base64
import hashlib
import html
import inspect
import platform
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from importlib import metadata, resources
from os import PathLike
from string import Template
from typing import TYPE_CHECKING, NamedTuple

import attrs

from bosaris_py import __version__, _tables as tables, _validation as check, errors, plots
from bosaris_py._arrays import FilePath
from bosaris_py.evaluation import Results
from bosaris_py.evaluation.case import CaseLLR, rows_of_figures, validation_figures
from bosaris_py.evaluation.rows import FIGURES, POOLED, figure_of
from bosaris_py.files.replacing import digest_of, refuse_inputs, replacing
from bosaris_py.numerics.priors import OperatingPoint, SpoofCosts
from bosaris_py.plots.looks import drawable, for_report, svg
from bosaris_py.trials.sample import Sample, lists_of_kinds
from bosaris_py.trials.speakers import speaker_names
from bosaris_py.uncertainty import ComparisonTable, Estimate
from bosaris_py.uncertainty.bands import Band, BandKind, bands_of_sample

if TYPE_CHECKING:
    from bosaris_py.evaluation.evaluation import Evaluation

Bands = dict[BandKind, Band]
Point = float | OperatingPoint

__all__ = ["write_report"]

# Pairs of more systems fill no page that is read.
_MOST_COMPARED = 6

# Bands of more systems hide each other: then only the system of least Cllr has some. Bands of more
# replicates look the same.
_MOST_BANDS, _MOST_REPLICATES = 2, 500

# So many notes of a kind are shown at once.
_MOST_NOTES = 6

_CAPTION = re.compile(r"<caption[^>]*>(.*?)</caption>", re.DOTALL)

_COMPARED = "<p>A difference can be significant although the intervals of both overlap.</p>"

# Longer names would leave no room for curves.
_LONGEST_NAME = 32

# HTML wants neither the head of an XML file nor its name spaces; comments hold texts.
_VIEW = re.compile(r"<svg[^>]*viewBox=\"([-.\d ]*)\"[^>]*>")
_NEEDLESS = re.compile(r"<!--.*?-->|<(metadata|style).*?</\1>|\bxlink:|(?<=\n)\s+", re.DOTALL)
# A tenth of a point is a fifth of a pixel on a screen; small factors keep their digits.
_DIGITS = re.compile(r"(\d\d\.\d)\d+")
_ID = re.compile(r"(\bid=\"|href=\"#|url\(#)")


def write_report(
    evaluation: "Evaluation",
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
    check.check_mapping(files, "files", "paths", str | PathLike)
    check.check_mapping(cases, "cases", "what `case_llr` returns", CaseLLR)
    refuse_inputs(path, files.values(), "path")
    (comparison, why), bands = _comparison(evaluation), _bands(evaluation)
    compared = _COMPARED + _table(comparison) if comparison else why
    has_conditions = any(not row.is_whole for row in evaluation.rows)
    facts = _facts(evaluation, bands)
    facts |= {"Date": "" if date is None else str(date), "Versions": _versions()}
    sections = {
        "validation": ("Validation", _validation(evaluation) if validate else ""),
        "cases": ("Cases", _cases(cases)),
        "systems": ("Systems", _systems(evaluation, comparison)),
        "notes": ("Notes", _notes(evaluation)),
        "conditions": ("Conditions", _table(evaluation) if has_conditions else ""),
        "comparisons": ("Comparisons", compared),
        "figures": ("Figures", _figures(evaluation, comparison, bands)),
        "summary": ("What was evaluated", _definitions(facts) + _files(files)),
    }
    text = _page(title, (author, laboratory), {n: s for n, s in sections.items() if s[1]})
    with replacing(path) as temporary:
        # Halves of surrogate pairs, which no encoding has, become numbers.
        temporary.write_text(text, encoding="utf-8", errors="xmlcharrefreplace")


def _page(title: str, authors: Iterable[str], sections: Mapping[str, tuple[str, str]]) -> str:
    """Fill in the template."""
    folder = resources.files(__package__)
    page, look, script = (
        (folder / name).read_text("utf-8") for name in ("page.html", "look.css", "sort.js")
    )
    bodies = (
        f'<section id="{name}"><h2>{head}</h2>{body}</section>\n'
        for name, (head, body) in sections.items()
    )
    return Template(page).substitute(
        title=html.escape(check.safe(title, 200)),
        authors="".join(f"<p>{tables.html_name(name)}</p>" for name in authors if name),
        look=look,
        script=script,
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        links="".join(f'<a href="#{name}">{head}</a>' for name, (head, _) in sections.items()),
        sections="".join(bodies),
    )


# ---- What is gathered


def _comparison(evaluation: "Evaluation") -> tuple[ComparisonTable | None, str]:
    """Compare pairs, where there are intervals and few systems; say so if their trials differ."""
    plan, systems = evaluation.plan, evaluation.systems
    several = plan is not None and (plan.detectors == 2 or bool(plan.sets))
    if several or not evaluation.how.intervals or not 1 < len(systems) <= _MOST_COMPARED:
        return None, ""
    try:
        return evaluation.compare(), ""
    except errors.TrialMismatchError as error:
        return None, f"<p>Systems were not compared: {_text(str(error))}</p>"


def _bands(evaluation: "Evaluation") -> dict[str, Bands]:
    """Make bands around the curves of one or two systems, or of the best, if there is a bootstrap.

    They are of the speaker bootstrap of the evaluation.
    """
    how, results = evaluation.how, evaluation.results
    if not how.replications or not results:
        return {}
    best = min(results, key=lambda name: results[name].cllr)
    shaded = [best] if len(results) > _MOST_BANDS else [*results]
    count = min(how.replications, _MOST_REPLICATES)
    drawn = attrs.evolve(how.resampling, replications=count)
    return {name: bands_of_sample(evaluation.samples[name], drawn) for name in shaded}


def _facts(evaluation: "Evaluation", bands: Mapping[str, object]) -> dict[str, str]:
    """Return what was evaluated, and how."""
    how, plan, key = evaluation.how, evaluation.plan, evaluation.key
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
    facts["Equal error-rate"] = tables.words_of_eer(how.eer)
    facts["Costs"] = "normalized" if how.normalize else "not normalized"
    if plan is not None:
        facts["Plan"] = plan.name
        facts["Costs"] = plan.costs_in_words if plan.figures else facts["Costs"]
    facts["Intervals"] = how.intervals or "none"
    count = min(how.replications, _MOST_REPLICATES)
    words = f"{100 * how.confidence:g} % at each point, {count} replicates"
    facts["Bands"] = words if bands else ""
    facts["Calibration"] = how.calibrated
    facts["Seed"] = str(how.seed) if how.replications or how.calibrated else ""
    return facts


def _point(point: Point) -> str:
    one = point if isinstance(point, OperatingPoint) else OperatingPoint(point)
    return f"P(target) {one.p_target:g}, C(miss) {one.c_miss:g}, C(false alarm) {one.c_fa:g}"


def _versions() -> str:
    ours = f"bosaris_py {__version__}, Python {platform.python_version()}"
    packages = ("numpy", "scipy", "matplotlib")
    return ", ".join((ours, *(f"{name} {metadata.version(name)}" for name in packages)))


# ---- Sections


def _validation(evaluation: "Evaluation") -> str:
    """Return the figures of a validation, what misleads first, with intervals if there are any."""
    level, samples = evaluation.how.confidence, evaluation.samples
    found = [validation_figures(one, level) for one in samples.values()]
    lines = []
    for cells in zip(*map(rows_of_figures, found), strict=True):
        shown = (f'{value}<span class="interval"> {ends}</span>' for _, value, ends in cells)
        lines.append(_row("td", html.escape(cells[0][0]), *shown))
    head = _row("th", "figure", *map(tables.html_name, samples))
    # Those of a validation are of the jackknife also where others are of a bootstrap.
    how = attrs.evolve(evaluation.how, replications=0).intervals or "No intervals"
    below = (
        f"{how}. A few misleading trials decide both means "
        "of LRs: read them beside Cllr. What PAV adds has no interval."
    )
    return f'{_wide(tables.html_table(head, lines))}<p class="note">{html.escape(below)}</p>'


def _cases(cases: Mapping[str, CaseLLR]) -> str:
    """Return the statement of each case, and its words of the verbal scale."""
    parts = []
    for name, case in cases.items():
        lines = "<br>".join(map(_text, repr(case).splitlines()))
        words = f"<strong>{html.escape(case.verbal)}</strong> (verbal scale of ENFSI, 2015)"
        parts.append(f"<h3>{tables.html_name(str(name))}</h3><p>{words}</p><p>{lines}</p>")
    return "".join(parts)


def _systems(evaluation: "Evaluation", comparison: ComparisonTable | None) -> str:
    """Return the answer, the figures of all trials, and what they mean."""
    rows = tuple(row for row in evaluation.rows if row.is_whole)
    # What is said of a condition stands below the table of conditions.
    systems = {"", *(row.system for row in rows)}
    notes = [note for note in evaluation.notes if note.about in systems]
    whole = [attrs.evolve(row, condition=None) for row in rows]
    table = attrs.evolve(evaluation, rows=tuple(whole), notes=tuple(notes))
    columns = {name.partition("(")[0] for row in rows for name in row.figures}
    meant = {one.name: one.meaning for name, one in FIGURES.items() if name in columns}
    answer = " ".join(_answer(table, comparison))
    lead = f'<p class="answer"><bdi>{_text(answer)}</bdi></p>' if answer else ""
    return lead + _table(table) + _definitions(meant)


def _answer(table: "Evaluation", comparison: ComparisonTable | None) -> Iterator[str]:
    """Yield which of several systems is best, and from which it differs."""
    lead, figure = table.leading, figure_of(table.leading)
    values = {row.system: row.figures[lead] for row in table.rows}
    known = {name: value for name, value in values.items() if value is not None}
    if len(known) < 2:
        return
    best = min(known, key=known.__getitem__)
    ends = next(row.ends(lead) for row in table.rows if row.system == best)
    shown = f"{figure.text(known[best])}{' %' if figure.is_rate else ''}"
    shown += f" ({figure.text(ends[0])} to {figure.text(ends[1])})" if ends else ""
    yield f"{check.safe(best, 60)} has the lowest {figure.name}: {shown}."
    if comparison is None:
        return
    pairs = [row for row in comparison.rows if best in (row.first, row.second)]
    for differs, words in ((True, "significantly lower than"), (False, "not shown to differ from")):
        found = [row for row in pairs if (row.p_holm <= comparison.level) is differs]
        others = [check.safe(row.second if row.first == best else row.first, 60) for row in found]
        if others:
            level = f"(level {comparison.level:g}, by Holm)"
            yield f"It is {words} that of {', '.join(others)} {level}."


def _notes(evaluation: "Evaluation") -> str:
    """Return what the evaluation says of itself, by kind; many of a kind are folded."""
    kinds: dict[str, dict[str, None]] = {}
    for note in evaluation.notes:
        words = re.sub(r"(?<!^)(?=[A-Z])", " ", note.kind.__name__.removesuffix("Warning"))
        text = errors.as_message(f"{errors.lines_about([note])[0]} {note.advice}".strip())
        kinds.setdefault(words.capitalize(), {})[f"<li>{html.escape(text)}</li>"] = None
    parts = []
    for kind, items in kinds.items():
        is_open = " open" if len(items) <= _MOST_NOTES else ""
        head = f"<summary>{html.escape(kind)} ({len(items)})</summary>"
        parts.append(f"<details{is_open}>{head}<ul>{''.join(items)}</ul></details>")
    return "".join(parts)


def _figures(
    evaluation: "Evaluation", comparison: ComparisonTable | None, bands: Mapping[str, Bands]
) -> str:
    """Draw everything that the scores allow."""
    plan, results, drawings = evaluation.plan, evaluation.results, list[Drawing]()
    if plan is not None and "a_dcf" in plan.figures:
        drawings += three_classes(evaluation.samples, plan.spoof_costs)
    # Without results there are no curves: classes are not pooled, or detectors are two.
    if results:
        drawings += curves(results, [*evaluation.how.prior], bands)
    drawings += forests(evaluation, comparison)
    drawn = "".join(one.html(number) for number, one in enumerate(drawings))
    # A heading beside them in the grid would not be kept with them in print.
    return f'<div class="figures">{drawn}</div>' if drawings else ""


def _files(files: Mapping[str, FilePath]) -> str:
    head, lines = _row("th", "file", "path", "SHA-256"), []
    for role, path in files.items():
        names = map(tables.html_name, (role, str(path)))
        lines.append(_row("td", *names, f"<code>{digest_of(path)}</code>"))
    return _wide(tables.html_table(head, lines)) if files else ""


# ---- Figures


class Drawing(NamedTuple):
    """What a figure is called, what it shows, and what draws it."""

    title: str
    sentence: str
    draw: partial[plots.DETPlot] | partial[plots.BayesPlot] | partial[plots.Plot]

    def html(self, number: int) -> str:
        """Return the figure as an element of a page, in which it has a number."""
        # What lies outside of a window is no news, the table has it: without warnings.
        draw = inspect.unwrap(self.draw.func)
        with for_report():
            plot = draw(*self.draw.args, **self.draw.keywords)
            text = svg(plot.figure)
        _, view, body = _VIEW.split(text)
        body = _DIGITS.sub(r"\1", _NEEDLESS.sub("", body))
        # Ids of several drawings differ.
        body = _ID.sub(rf"\1f{number}-", body)
        return (
            f"<figure><figcaption><h3>{tables.html_name(self.title)}</h3>"
            f"<p>{html.escape(self.sentence)}</p></figcaption>"
            f'<div class="card"><svg viewBox="{view}" role="img" '
            f'aria-label="{html.escape(check.safe(self.title, 200))}">{body}</div></figure>\n'
        )


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return names that a legend can show: short, printable, and no two alike."""
    shown: dict[str, str] = {}
    taken, numbers = set[str](), Counter[str]()
    for name in dict.fromkeys(names):
        # Letters that are not shown need no look.
        text = drawable(name[: 2 * _LONGEST_NAME])
        # Matplotlib leaves labels that begin with an underscore out of legends.
        text = f"'{text}'" if text.startswith("_") else text
        text = text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
        label = text
        while label in taken:
            numbers[text] += 1
            label = f"{text} ({numbers[text] + 1})"
        taken.add(label)
        shown[name] = label
    return shown


def curves(
    results: Mapping[str, Results], points: list[float | OperatingPoint], bands: Mapping[str, Bands]
) -> Iterator[Drawing]:
    """Yield the curves of systems of two classes."""
    shown = short_names(results)
    named = {shown[name]: found for name, found in results.items()}

    def around(kind: BandKind) -> dict[str, Band]:
        return {shown[name]: found[kind] for name, found in bands.items()}

    whose = " and ".join(shown[name] for name in bands)
    shade = f" Shade: where the true curve of {whose} may lie at each point, by resampled speakers."
    shade = shade if bands else ""
    yield Drawing(
        "Detection error trade-off (DET)",
        f"A curve nearer to the lower left corner is better.{shade}",
        partial(plots.plot_det, named, bands=around("det")),
    )
    yield Drawing(
        "Normalized Bayes error-rate",
        "The rate of wrong decisions over the prior, as a share of that without a detector. Solid: "
        f"at the threshold that LLRs imply; dashed: at the best threshold.{shade}",
        partial(plots.plot_bayes, named, prior=points or None, bands=around("bayes")),
    )
    if any(found.sample.in_files for found in results.values()):
        return
    yield Drawing(
        "Tippett plot",
        "The share of targets, and of non-targets, whose likelihood-ratio is at least the value "
        f"below. Targets below LR = 1 and non-targets above it are misleading evidence.{shade}",
        partial(plots.plot_tippett, named, bands=around("tippett")),
    )
    yield Drawing(
        "Empirical cross-entropy (ECE)",
        "What remains unknown of the class, in bits, over the prior. Dashed: after the best "
        f"calibration; dotted: without scores. Above the dotted line, scores mislead.{shade}",
        partial(plots.plot_ece, named, bands=around("ece")),
    )
    yield Drawing(
        "Calibration by the PAV algorithm",
        "On the diagonal calibration is right; devPAV is the mean distance from it. Triangles: "
        "trials of one class only, whose LR after PAV is infinite.",
        partial(plots.plot_pav, named),
    )
    for name, found in results.items() if len(results) == 1 else ():
        sentence = "How often each score occurs. Where both classes overlap, decisions go wrong."
        draw = partial(plots.plot_histogram, found, prior=points or None)
        yield Drawing(f"Scores of {name}", sentence, draw)


def three_classes(samples: Mapping[str, Sample], costs: SpoofCosts | None) -> Iterator[Drawing]:
    """Yield the figures of systems of three classes."""
    shown = short_names(samples)
    lists = {shown[name]: lists_of_kinds(sample) for name, sample in samples.items()}
    for name, found in lists.items():
        by_kind = {
            f"{noun}s": Results(found["target"], found[kind])
            for noun, kind in (("impostor", "nontarget"), ("spoof", "spoof"))
            if kind in found
        }
        sentence = "False alarms fall and misses rise: for zero-effort impostors, and for spoofs."
        draw = partial(plots.plot_det, by_kind)
        yield Drawing(f"Detection error trade-off (DET) of {name}", sentence, draw)
    three = {name: [*found.values()] for name, found in lists.items() if len(found) == 3}
    if costs is not None and three:
        yield Drawing(
            "a-DCF over the prior of spoofs",
            "Costs of all three classes. Solid: at the best threshold; dashed: at the Bayes one.",
            partial(plots.plot_a_dcf, three, costs=costs),
        )


def forests(evaluation: "Evaluation", comparison: ComparisonTable | None) -> Iterator[Drawing]:
    """Yield the leading figure of systems, that of conditions by system, and differences."""
    lead, figure = evaluation.leading, figure_of(evaluation.leading)
    systems = short_names(row.system for row in evaluation.rows)
    draw = partial(plots.plot_forest, percent=figure.is_rate, xlabel=figure.head)
    known: dict[str, dict[str, Estimate]] = {name: {} for name in systems}
    for row in evaluation.rows:
        # Of too few speakers there is no interval.
        if lead in row.estimates and row.estimates[lead].low is not None:
            known[row.system][row.condition or POOLED] = row.estimates[lead]
    whole = {systems[name]: own[POOLED] for name, own in known.items() if POOLED in own}
    sentence = f"Squares are values of {figure.name}, bars their intervals."
    if whole:
        yield Drawing(f"{figure.name} of the systems", sentence, partial(draw, whole))
    for name, own in known.items():
        labels = short_names(own)
        if len(own) > 1:
            rows = {labels[condition]: found for condition, found in own.items()}
            reference = own[POOLED].value if POOLED in own else None
            words = f"{sentence} The dashed line is that of all trials pooled."
            forest = partial(draw, rows, reference=reference)
            yield Drawing(f"{figure.name} by condition: {name}", words, forest)
    if comparison is not None and all(r.difference.low is not None for r in comparison.rows):
        pairs = [
            attrs.evolve(row, first=systems[row.first], second=systems[row.second])
            for row in comparison.rows
        ]
        axis = "difference (%)" if figure.is_rate else "difference"
        yield Drawing(
            f"Differences of {figure.name}s",
            "First system minus second. Where a bar meets the dashed line, chance may explain it.",
            partial(draw, attrs.evolve(comparison, rows=tuple(pairs)), xlabel=axis),
        )


# ---- Elements


def _table(table: tables.Table) -> str:
    """Return a table that scrolls, and below it what it says of itself, which does not."""
    text = table._repr_html_()
    notes = "".join(f'<p class="note">{one}</p>' for one in _CAPTION.findall(text))
    return _wide(_CAPTION.sub("", text)) + notes


def _wide(table: str) -> str:
    return f'<div class="wide">{table}</div>'


def _row(tag: str, *cells: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"


def _text(text: str) -> str:
    return html.escape(errors.printable(text))


def _definitions(meant: Mapping[str, str]) -> str:
    meanings = {tables.html_name(name): _text(text) for name, text in meant.items() if text}
    return (
        f"<dl>{''.join(f'<dt>{name}</dt><dd>{text}</dd>' for name, text in meanings.items())}</dl>"
    )
