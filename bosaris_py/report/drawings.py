"""The figures of a report, as SVG inside HTML, each with a sentence that explains it."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import attrs

from bosaris_py import plots
from bosaris_py._arrays import FloatArray
from bosaris_py._notes import hushed
from bosaris_py._tables import html_name
from bosaris_py._validation import safe
from bosaris_py.errors import PlotRangeWarning
from bosaris_py.evaluation import Results, SystemTable
from bosaris_py.evaluation.figure_names import figure_of
from bosaris_py.files.labels import NON_TARGET_KINDS
from bosaris_py.numerics.priors import OperatingPoint, SpoofCosts
from bosaris_py.plots.looks import drawable, for_report, svg
from bosaris_py.uncertainty.bands import Band, BandKind
from bosaris_py.uncertainty.compare import ComparisonTable

# Longer names would leave no room for curves.
_LONGEST_NAME = 32

# HTML wants neither the head of an XML file nor its name spaces; comments hold texts.
_VIEW = re.compile(r"<svg[^>]*viewBox=\"([-.\d ]*)\"[^>]*>")
_NEEDLESS = re.compile(r"<!--.*?-->|<(metadata|style).*?</\1>|\bxlink:|(?<=\n)\s+", re.DOTALL)
# Hundredths of a point are finer than any screen; small factors keep their digits.
_DIGITS = re.compile(r"(\d\d\.\d\d)\d+|(?<=\d) \n(?=L)")
# Letters of the font that comes with matplotlib are the same in all drawings.
_ID = re.compile(r"(\bid=\"|href=\"#|url\(#)(?!DV)")
_LETTER = re.compile(r"<path id=\"(DejaVu[^\"]*)\"[^>]*/>")
# Groups are referred to by nothing.
_GROUP = re.compile(r"(?<=<g) id=\"[^\"]*\"")
_EMPTY = re.compile(r"<defs>\s*</defs>|\s*\n\s*(?=<)|(?<=;) |(?<=[a-z]:) (?=[#\d])")
# Marks have the strokes of their definitions.
_MARK = re.compile(r"(?<=<use href=\"#)(f\d+-m[^>]*?) style=\"([^\"]*)\"")
_STROKE = re.compile(r"stroke[a-z-]*:[^;]*(?:;|$)")
_MOVED = re.compile(r"transform=\"translate\(([\d.]+) 0\)\"/>")
_LONE = re.compile(r"<g>(<(?:use|path)[^>]*/>)</g>")
_LINES = re.compile(r"(?<=\bd=\")[-MLz\d.\s]+(?=\")")
_LONG_PATH = 100
# Lines of grids, of which there are hundreds, have their look from the page.
_GRID = (
    'style="fill: none;stroke:#b0b0b0;stroke-opacity:0.6;stroke-width:0.6;stroke-linecap: square"'
)
_STEP = re.compile(r"([ML])\s*(-?[\d.]+)\s+(-?[\d.]+)|z")


def _relative(found: re.Match[str]) -> str:
    """Return a path of lines whose points are told from the one before, to hundredths or tenths."""
    # A tenth of a point is a fifth of a pixel on a screen.
    unit = 10 if found[0].count("L") > _LONG_PATH else 100
    parts: list[str] = []
    at = start = (0, 0)
    lines = False
    for step in _STEP.finditer(found[0]):
        if step[1] is None:
            parts.append("z")
            at, lines = start, False
            continue
        # Whole units do not drift.
        x, y = (round(unit * float(number)) for number in step.group(2, 3))
        moved = step[1] == "M"
        if unit == 10 and not moved and (x, y) == at:
            continue
        numbers = (x, y) if moved else (x - at[0], y - at[1])
        if moved:
            start = x, y
        at = x, y
        pair = " ".join(f"{number / unit:g}" for number in numbers)
        parts.append(f"{'M' if moved else ' ' if lines else 'l'}{pair}")
        lines = not moved
    # A nought before a point, and a blank before a sign, say nothing.
    return re.sub(r"(?<![\d.])0(?=\.)", "", "".join(parts)).replace(" -", "-")


def _mark(found: re.Match[str]) -> str:
    style = _STROKE.sub("", found[2])
    return f'{found[1]} style="{style}"' if style else found[1]


def _small(svg_text: str, known: set[str]) -> str:
    """Return a drawing without what HTML does not need, or what one before has told."""

    def letter(found: re.Match[str]) -> str:
        new = found[1] not in known
        known.add(found[1])
        return found[0] if new else ""

    body = _GROUP.sub("", _DIGITS.sub(r"\1", _NEEDLESS.sub("", svg_text)))
    body = _EMPTY.sub("", _EMPTY.sub("", _LETTER.sub(letter, body)))
    body = body.replace(_GRID, 'class="grid"')
    # A group of one, in a group of one.
    body = _MOVED.sub(r'x="\1"/>', body)
    body = _LONE.sub(r"\1", _LONE.sub(r"\1", body))
    return _LINES.sub(_relative, body.replace('"DejaVuSans-', '"DV').replace("#DejaVuSans-", "#DV"))


def _short(names: Iterable[str]) -> list[str]:
    """Return names that a legend can show: short, printable, and no two alike."""
    shown: list[str] = []
    numbers: Counter[str] = Counter()
    for name in names:
        # Letters that are not shown need no look.
        text = drawable(name[: 2 * _LONGEST_NAME])
        # Matplotlib leaves labels that begin with an underscore out of legends.
        text = f"'{text}'" if text.startswith("_") else text
        text = text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
        # What is printable has no blank that does not break, so no two are alike.
        number = numbers[text]
        numbers[text] += 1
        shown.append(f"{text}\u00a0({number + 1})" if number else text)
    return shown


class _Drawing(NamedTuple):
    """What a figure is called, what draws it, and what it shows."""

    title: str
    draw: Callable[[], plots.Plot]
    sentence: str


def make_figures(
    results: Mapping[str, Results],
    table: SystemTable,
    points: Sequence[float | OperatingPoint],
    *,
    bands: Mapping[str, Mapping[BandKind, Band]],
    comparison: ComparisonTable | None,
    kinds: Mapping[str, Mapping[str, FloatArray]],
    spoof_costs: SpoofCosts | None,
) -> Iterator[str]:
    """Draw everything that the scores allow, each as an element of HTML."""
    systems = list(dict.fromkeys(name for name, _ in table.rows))
    shown = dict(zip(systems, _short(systems), strict=True))
    of_systems = {shown[name]: found for name, found in bands.items()}
    # Without results there are no curves: classes are not pooled, or detectors are two.
    drawings = [*_drawings(results, shown, points, of_systems)] if results else []
    if kinds:
        drawings += _of_kinds({shown[name]: lists for name, lists in kinds.items()}, spoof_costs)
    drawings += _forests(shown, table)
    if comparison is not None:
        drawings.append(_differences(shown, comparison, table.leading))
    letters: set[str] = set()
    for number, (title, draw, sentence) in enumerate(drawings):
        with for_report(), hushed(PlotRangeWarning):
            text = svg(draw().figure)
        (view,) = _VIEW.finditer(text)
        body = _small(text[view.end() :], letters)
        # Ids of several drawings differ.
        body = _MARK.sub(_mark, _ID.sub(rf"\1f{number}-", body))
        name = html.escape(safe(title, 200))
        yield (
            f"<figure><figcaption><h3>{html_name(title)}</h3>"
            f"<p>{html.escape(sentence)}</p>"
            f'</figcaption><div class="card"><svg viewBox="{view[1]}" role="img" '
            f'aria-label="{name}">{body}'
            "</div></figure>\n"
        )


def _differences(shown: Mapping[str, str], comparison: ComparisonTable, lead: str) -> _Drawing:
    title, percent = figure_of(lead).name, figure_of(lead).is_rate
    rows = tuple(
        attrs.evolve(row, first=shown[row.first], second=shown[row.second])
        for row in comparison.rows
    )
    return _Drawing(
        f"Differences of {title}s",
        lambda: plots.plot_forest(
            attrs.evolve(comparison, rows=rows),
            percent=percent,
            xlabel="difference (%)" if percent else "difference",
        ),
        f"Squares are differences of the {title}, first system minus second, bars their intervals. "
        "Left of the dashed line the first system is better. An interval on the line means that "
        "chance may explain the difference.",
    )


def _drawings(
    results: Mapping[str, Results],
    shown: Mapping[str, str],
    points: Sequence[float | OperatingPoint],
    bands: Mapping[str, Mapping[BandKind, Band]],
) -> Iterator[_Drawing]:
    def around(kind: BandKind) -> dict[str, Band]:
        return {name: found[kind] for name, found in bands.items()}

    whose = " and ".join(bands)
    shade = f" Shade: where the true curve of {whose} may lie at each point, by resampled speakers."
    shade = shade if bands else ""
    named = {shown[name]: found for name, found in results.items()}
    first = points[0] if points else None
    stars = "Filled stars are the least cost at the first operating point, open ones the actual. "
    yield _Drawing(
        "Detection error trade-off (DET)",
        lambda: plots.plot_det(named, prior=first, bands=around("det")),
        "As the threshold rises, false alarms fall and misses rise; a curve nearer to the lower "
        f"left corner is better. Dots are equal error-rates. {stars if points else ''}"
        f"In the grey margins a rate rests on fewer than 30 errors.{shade}",
    )
    yield _Drawing(
        "Normalized Bayes error-rate",
        lambda: plots.plot_bayes(named, prior=list(points) or None, bands=around("bayes")),
        "The rate of wrong decisions over the prior, as a share of that without a detector. Solid: "
        "at the threshold that log-likelihood-ratios imply; dashed: at the best threshold. The gap "
        f"is what calibration loses. Vertical lines are the operating points.{shade}",
    )
    if any(found.sample.in_files for found in results.values()):
        return
    yield _Drawing(
        "Tippett plot",
        lambda: plots.plot_tippett(named, bands=around("tippett")),
        "The share of trials whose likelihood-ratio is at least the value below. Solid: targets; "
        "dashed: non-targets. At LR = 1, dots show targets that are supported and non-targets that "
        f"mislead.{shade}",
    )
    yield _Drawing(
        "Empirical cross-entropy (ECE)",
        lambda: plots.plot_ece(named, bands=around("ece")),
        "What remains unknown of the class, in bits, over the prior. Solid: with the scores as "
        "they are; dashed: after the best calibration; dotted: without scores. Above the dotted "
        f"line, scores mislead.{shade}",
    )
    yield _Drawing(
        "Calibration by the PAV algorithm",
        lambda: plots.plot_pav(named),
        "The log-likelihood-ratio that a score should have had, over the one that it has. On the "
        "diagonal calibration is right. Triangles are scores of one class only. devPAV is the mean "
        f"distance from the diagonal.{shade}",
    )
    for name, found in results.items():
        yield _Drawing(
            f"Scores of {name}",
            partial(plots.plot_histogram, found, prior=list(points) or None),
            "How often each score occurs among targets and among non-targets. Where both overlap, "
            "decisions go wrong. Upright lines are the Bayes thresholds.",
        )


def _of_kinds(
    named: Mapping[str, Mapping[str, FloatArray]], costs: SpoofCosts | None
) -> Iterator[_Drawing]:
    """Yield the figures of systems of three classes."""
    for name, lists in named.items():
        by_kind = {
            f"{kind.noun.split()[-1]}s": Results(lists["target"], lists[kind.word])
            for kind in NON_TARGET_KINDS
            if kind.word in lists
        }
        yield _Drawing(
            f"Detection error trade-off (DET) of {name}",
            partial(plots.plot_det, by_kind),
            "As the threshold rises, false alarms fall and misses rise: for zero-effort impostors, "
            "and for spoofs. Dots are equal error-rates. In the grey margins a rate rests on fewer "
            "than 30 errors.",
        )
    three = {name: [*lists.values()] for name, lists in named.items() if len(lists) == 3}
    if costs is not None and three:
        yield _Drawing(
            "a-DCF over the prior of spoofs",
            lambda: plots.plot_a_dcf(three, costs=costs),
            "The cost of decisions on all three classes, over the prior of spoofs. Solid: at the "
            "best threshold; dashed: at the Bayes threshold. The vertical line is the prior of the "
            "plan.",
        )


def _forests(shown: Mapping[str, str], table: SystemTable) -> Iterator[_Drawing]:
    """Yield the leading figure of systems with intervals, then that of conditions by system."""
    lead, title = table.leading, figure_of(table.leading).name
    what = "equal error-rates" if lead == "eer" else f"values of {title}"
    sentence = f"Squares are {what}, bars their intervals. "
    pooled = [(shown[name], row) for name, row in table.rows if row.kind == "pooled"]
    if any(lead in row.intervals for _, row in pooled):
        of_all = SystemTable(pooled)
        draw = partial(plots.plot_forest, of_all, lead)
        yield _Drawing(f"{title} of the systems", draw, sentence)
    for name in shown:
        own = [row for system, row in table.rows if system == name]
        rows = [
            attrs.evolve(row, name=label)
            for row, label in zip(own, _short(row.name for row in own), strict=True)
        ]
        if len(rows) > 1 and any(row.figures[lead] is not None for row in rows):
            yield _Drawing(
                f"{title} by condition: {name}",
                partial(plots.plot_forest, SystemTable([("", row) for row in rows]), lead),
                f"{sentence}The dashed line is that of all trials pooled.",
            )
