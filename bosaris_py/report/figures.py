"""The figures of a report, as SVG inside HTML, each with a sentence that explains it."""

from __future__ import annotations

import html
import inspect
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import attrs

from bosaris_py import plots
from bosaris_py._tables import html_name
from bosaris_py._validation import safe
from bosaris_py.evaluation import Results
from bosaris_py.evaluation.rows import POOLED, figure_of
from bosaris_py.files.columns import NON_TARGET_KINDS
from bosaris_py.numerics.priors import OperatingPoint, SpoofCosts
from bosaris_py.plots.looks import drawable, for_report, svg
from bosaris_py.trials.sample import Sample, lists_of_kinds
from bosaris_py.uncertainty.bands import Band, BandKind
from bosaris_py.uncertainty.compare import ComparisonTable

if TYPE_CHECKING:
    from bosaris_py.evaluation.evaluation import Evaluation

# Longer names would leave no room for curves.
_LONGEST_NAME = 32

# HTML wants neither the head of an XML file nor its name spaces; comments hold texts.
_VIEW = re.compile(r"<svg[^>]*viewBox=\"([-.\d ]*)\"[^>]*>")
_NEEDLESS = re.compile(r"<!--.*?-->|<(metadata|style).*?</\1>|\bxlink:|(?<=\n)\s+", re.DOTALL)
# A tenth of a point is a fifth of a pixel on a screen; small factors keep their digits.
_DIGITS = re.compile(r"(\d\d\.\d)\d+")
_ID = re.compile(r"(\bid=\"|href=\"#|url\(#)")


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
        (view,) = _VIEW.finditer(text)
        body = _DIGITS.sub(r"\1", _NEEDLESS.sub("", text[view.end() :]))
        # Ids of several drawings differ.
        body = _ID.sub(rf"\1f{number}-", body)
        return (
            f"<figure><figcaption><h3>{html_name(self.title)}</h3>"
            f"<p>{html.escape(self.sentence)}</p></figcaption>"
            f'<div class="card"><svg viewBox="{view[1]}" role="img" '
            f'aria-label="{html.escape(safe(self.title, 200))}">{body}</div></figure>\n'
        )


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return names that a legend can show: short, printable, and no two alike."""
    shown: dict[str, str] = {}
    numbers: Counter[str] = Counter()
    for name in names:
        # Letters that are not shown need no look.
        text = drawable(name[: 2 * _LONGEST_NAME])
        # Matplotlib leaves labels that begin with an underscore out of legends.
        text = f"'{text}'" if text.startswith("_") else text
        text = text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
        numbers[text] += 1
        # What is printable has no blank that does not break, so no two are alike.
        shown[name] = text if numbers[text] == 1 else f"{text}\u00a0({numbers[text]})"
    return shown


def curves(
    results: Mapping[str, Results],
    points: list[float | OperatingPoint],
    bands: Mapping[str, Mapping[BandKind, Band]],
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
        "As the threshold rises, false alarms fall and misses rise; a curve nearer to the lower "
        f"left corner is better.{shade}",
        partial(plots.plot_det, named, bands=around("det")),
    )
    yield Drawing(
        "Normalized Bayes error-rate",
        "The rate of wrong decisions over the prior, as a share of that without a detector. Solid: "
        "at the threshold that log-likelihood-ratios imply; dashed: at the best threshold. The gap "
        f"is what calibration loses.{shade}",
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
        "What remains unknown of the class, in bits, over the prior. Solid: with the scores as "
        "they are; dashed: after the best calibration; dotted: without scores. Above the dotted "
        f"line, scores mislead.{shade}",
        partial(plots.plot_ece, named, bands=around("ece")),
    )
    yield Drawing(
        "Calibration by the PAV algorithm",
        "The log-likelihood-ratio that a score should have had, over the one that it has. On the "
        "diagonal calibration is right; devPAV is the mean distance from it.",
        partial(plots.plot_pav, named),
    )
    for name, found in results.items() if len(results) == 1 else ():
        yield Drawing(
            f"Scores of {name}",
            "How often each score occurs among targets and among non-targets. Where both overlap, "
            "decisions go wrong.",
            partial(plots.plot_histogram, found, prior=points or None),
        )


def three_classes(samples: Mapping[str, Sample], costs: SpoofCosts | None) -> Iterator[Drawing]:
    """Yield the figures of systems of three classes."""
    shown = short_names(samples)
    lists = {shown[name]: lists_of_kinds(sample) for name, sample in samples.items()}
    for name, found in lists.items():
        by_kind = {
            f"{kind.noun.split()[-1]}s": Results(found["target"], found[kind.word])
            for kind in NON_TARGET_KINDS
            if kind.word in found
        }
        yield Drawing(
            f"Detection error trade-off (DET) of {name}",
            "As the threshold rises, false alarms fall and misses rise: for zero-effort impostors, "
            "and for spoofs.",
            partial(plots.plot_det, by_kind),
        )
    three = {name: [*found.values()] for name, found in lists.items() if len(found) == 3}
    if costs is not None and three:
        yield Drawing(
            "a-DCF over the prior of spoofs",
            "The cost of decisions on all three classes, over the prior of spoofs. Solid: at the "
            "best threshold; dashed: at the Bayes threshold.",
            partial(plots.plot_a_dcf, three, costs=costs),
        )


def forests(evaluation: Evaluation, comparison: ComparisonTable | None) -> Iterator[Drawing]:
    """Yield the leading figure of systems, that of conditions by system, and differences."""
    lead = evaluation.leading
    figure = figure_of(lead)
    systems = short_names(row.system for row in evaluation.rows)
    draw = partial(plots.plot_forest, percent=figure.is_rate, xlabel=figure.head)
    # Of too few speakers there is no interval.
    known = [
        r for r in evaluation.rows if lead in r.estimates and r.estimates[lead].low is not None
    ]
    whole = {systems[r.system]: r.estimates[lead] for r in known if r.condition in (None, POOLED)}
    sentence = f"Squares are values of {figure.name}, bars their intervals."
    if whole:
        yield Drawing(f"{figure.name} of the systems", sentence, partial(draw, whole))
    for name in systems:
        own = {row.condition: row.estimates[lead] for row in known if row.system == name}
        labels = short_names(condition for condition in own if condition)
        if len(own) > 1:
            rows = {labels[condition]: found for condition, found in own.items() if condition}
            reference = own[POOLED].value if POOLED in own else None
            words = f"{sentence} The dashed line is that of all trials pooled."
            forest = partial(draw, rows, reference=reference)
            yield Drawing(f"{figure.name} by condition: {name}", words, forest)
    if comparison is not None and all(r.difference.low is not None for r in comparison.rows):
        pairs = tuple(
            attrs.evolve(row, first=systems[row.first], second=systems[row.second])
            for row in comparison.rows
        )
        axis = "difference (%)" if figure.is_rate else "difference"
        yield Drawing(
            f"Differences of {figure.name}s",
            "Squares are first system minus second, bars their intervals. Where an interval meets "
            "the dashed line, chance may explain the difference.",
            partial(draw, attrs.evolve(comparison, rows=pairs), xlabel=axis),
        )
