"""Error bars of bootstrap results, figures of conditions."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import matplotlib as mpl
import numpy as np
from matplotlib import cbook
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter

from bosaris_py._arrays import Float64Array
from bosaris_py._validation import describe, invalid
from bosaris_py.evaluation import ConditionTable, SystemTable
from bosaris_py.evaluation.figure_names import figure_of
from bosaris_py.plots.display import Plot
from bosaris_py.plots.looks import (
    Settings,
    as_name,
    letters,
    make_axes,
    one_at_a_time,
    pale_colour,
    system_look,
    text_colour,
)
from bosaris_py.plots.shown_systems import rows_in_order
from bosaris_py.uncertainty.bootstrap_result import ZTest
from bosaris_py.uncertainty.comparison.paired import PairedBootstrapResult
from bosaris_py.uncertainty.comparison.table import ComparisonTable

# Height of a new figure in inches; its width grows with the number of systems.
_HEIGHT = 4.0
_MARGIN, _WIDTH_PER_SYSTEM, _SMALLEST_WIDTH = 1.5, 0.7, 4.0
_FOREST_WIDTH, _HEIGHT_PER_LINE, _LONGEST_PAIR = 7.0, 0.3, 24

# Longer names would touch their neighbours, so the names are turned.
_LONGEST_LEVEL_NAME = 8

# Length of the strokes at the ends of a bar, in points.
_CAP = 4.0


# An estimate with a confidence interval, such as a BootstrapResult or an Interval.
Estimate: TypeAlias = Any


class _Row(NamedTuple):
    """An estimate of a table of conditions."""

    estimate: float
    low: float
    high: float


@one_at_a_time
def plot_intervals(
    intervals: Mapping[str, Estimate],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    ylabel: str | None = None,
    label: str | None = None,
    offset: float = 0.0,
    **marker_keywords: object,
) -> Plot:
    """Draw estimates of several systems side by side, each with its confidence interval.

    Parameters
    ----------
    intervals : mapping of str to BootstrapResult or Interval
        For each system an object with numbers ``estimate``, ``low`` and ``high``.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default, in a new figure that is not registered with pyplot.
    title : str, optional
        Title of the plot.
    ylabel : str, optional
        What was measured.
    label : str, optional
        Legend entry of these intervals. The legend lies above the Axes.
    offset : float, default: 0
        Shift to the right, in steps from system to system, to draw another method's intervals.
    **marker_keywords
        Matplotlib's line properties, for the markers and, in part, the bars.

    Returns
    -------
    plots.Plot

    Notes
    -----
    Figure 2 of Wu et al., NISTIR 7722, 2010. Systems whose intervals overlap may differ
    significantly on the same trials, see `paired_bootstrap`.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import uncertainty as unc
    >>> rng = np.random.default_rng(0)
    >>> eers = {
    ...     name: unc.bootstrap(rng.normal(d, 1, 200), rng.normal(0, 1, 900), unc.EER(), rng=1)
    ...     for name, d in {"A": 2.0, "B": 2.5, "C": 3.0}.items()
    ... }
    >>> plot = plot_intervals(eers, ylabel="EER")
    >>> [text.get_text() for text in plot.get_xticklabels()]
    ['A', 'B', 'C']
    """
    names, estimates, low, high = _to_arrays(intervals)
    width = max(_SMALLEST_WIDTH, _MARGIN + _WIDTH_PER_SYSTEM * len(names))
    plot = Plot(make_axes(ax, (width, _HEIGHT)), title)
    axes = plot.ax
    if ylabel is not None:
        axes.set_ylabel(ylabel)
    settings: Settings = {"marker": "o", "markersize": 5, "linewidth": 1.4}
    settings |= cbook.normalize_kwargs(marker_keywords, Line2D)
    settings |= {"linestyle": "none", "label": label or "_nolegend_"}
    x = np.arange(len(names)) + offset
    (points,) = axes.plot(x, estimates, **settings)
    plot.artists["estimate"] = [points]
    # Basic intervals need not hold their estimate, so bars are drawn about their own middle.
    axes.errorbar(
        x,
        (low + high) / 2.0,
        (high - low) / 2.0,
        fmt="none",
        capsize=_CAP,
        ecolor=points.get_color(),
        elinewidth=points.get_linewidth(),
        alpha=points.get_alpha(),
        zorder=points.get_zorder() - 0.1,
    )
    turned = max(map(len, names)) > _LONGEST_LEVEL_NAME
    _name_ticks(axes.xaxis, names)
    slant: Settings = {"rotation": 30, "horizontalalignment": "right"} if turned else {}
    for tick_label in axes.get_xticklabels():
        tick_label.set(rotation_mode="anchor", **slant)
    # The limits of the first call hold for later ones with an offset, so they are fixed.
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.grid(visible=True, axis="y", linewidth=0.6, alpha=0.6)
    axes.set_axisbelow(True)
    drawn, labels = axes.get_legend_handles_labels()
    if drawn:
        # With a stroke for the bar, and above the Axes, where no bar is hidden.
        keys = [copy.copy(line) for line in drawn]
        for key in keys:
            key.set(linestyle="-")
        settings = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "frameon": False}
        axes.legend(keys, labels, fontsize=letters("small"), **settings)
        axes.set_title(axes.get_title(), pad=8.0 + 1.25 * mpl.rcParams["font.size"] * len(keys))
    return plot


def _name_ticks(axis: Axis, names: Sequence[str], most: int = 48) -> None:
    """Name ticks at 0, 1, ...; matplotlib's own way catches the warnings of all threads."""
    axis.set_ticks(range(len(names)))
    # Longer ones leave no room for the drawing.
    short = partial(as_name, most=most)
    shown = ("\n".join(map(short, name.split("\n"))) for name in names)
    axis.set_major_formatter(FixedFormatter([*shown]))


def _to_arrays(
    intervals: Mapping[str, Estimate],
) -> tuple[list[str], Float64Array, Float64Array, Float64Array]:
    """Return names, estimates, and both ends of the intervals."""
    expected = "be a mapping from names to results with an interval, such as BootstrapResult"
    rows = []
    for name, result in _items(intervals, "intervals", expected):
        try:
            # Of a paired result, the difference.
            result = getattr(result, "contrast", result)
            row = [np.asarray(getattr(result, part)) for part in ("estimate", "low", "high")]
        except AttributeError:
            raise invalid("intervals", expected, f"{describe(result)} for {name}") from None
        if any(value.ndim for value in row):
            raise invalid("intervals", "hold one number for each system", f"several for {name}")
        rows.append(row)
    estimates, low, high = np.array(rows, dtype=np.float64).T
    return [str(name) for name in intervals], estimates, low, high


def _items(mapping: object, argument: str, expected: str) -> Iterable[tuple[object, Any]]:
    if not isinstance(mapping, Mapping) or not mapping:
        raise invalid(argument, expected, describe(mapping))
    return mapping.items()


@one_at_a_time
def plot_forest(
    rows: Mapping[str, Estimate] | ConditionTable | SystemTable | ComparisonTable,
    figure: str = "eer",
    *,
    ax: Axes | None = None,
    title: str | None = None,
    xlabel: str | None = None,
    reference: float | None = None,
    percent: bool = False,
    order: str | Sequence[str] | None = None,
    highlight: str | Sequence[str] | None = None,
    **marker_keywords: object,
) -> Plot:
    """Draw estimates with their intervals below each other, with the numbers beside them.

    Parameters
    ----------
    rows : mapping of str to BootstrapResult, Interval or PairedBootstrapResult; or a table
        From top to bottom. Of a paired result the difference is drawn, with its p-value. Tables are
        ConditionTable, the table of `evaluate`, and a ComparisonTable.
    figure : str, default: "eer"
        Which figure of a table of conditions or systems, such as ``"cllr"`` or ``"act_dcf"``.
    ax, title
        As for `plot_intervals`.
    xlabel : str, optional
        What was measured; by default `figure` if `rows` are a table.
    reference : float, optional
        Where to draw a vertical line. By default at zero for differences, and at the pooled trials
        of a table of conditions.
    percent : bool, default: False
        Show fractions in per cent; always so for EERs of a table.
    order : "value" or sequence of str, optional
        Ascending, or the names of the rows that come first. By default as they are.
    highlight : str or sequence of str, optional
        Names of the rows in colour; the others are grey.
    **marker_keywords
        Matplotlib's line properties, for the markers of the estimates.

    Returns
    -------
    plots.Plot

    Examples
    --------
    >>> from bosaris_py.uncertainty import Interval
    >>> a, b = Interval(0.1, 0.08, 0.13, 0.01, 0.95, ""), Interval(0.2, 0.18, 0.23, 0.01, 0.95, "")
    >>> rows = {"A": a, "B": b}
    >>> plot = plot_forest(rows, percent=True, xlabel="EER (%)")
    >>> [text.get_text() for text in plot.texts]
    ['10.00 [8.00, 13.00]', '20.00 [18.00, 23.00]']
    """
    notes: dict[str, str] = {}
    if isinstance(rows, ComparisonTable):
        # Pairs of long names would leave no room for the bars.
        between = "\n- " if max(len(a + b) for a, b in rows.pairs) > _LONGEST_PAIR else " - "
        pairs = (first + between + second for first, second in rows.pairs)
        tests = dict(zip(pairs, rows.tests, strict=True))
        notes = {name: f"p = {test.p_value:.2g}" for name, test in tests.items()}
        rows = {
            k: test.interval() if isinstance(test, ZTest) else test for k, test in tests.items()
        }
        reference = 0.0 if reference is None else reference
    if hasattr(rows, "table"):
        raise invalid("rows", "be a table", describe(rows), "Give its table: evaluation.table.")
    if isinstance(rows, ConditionTable | SystemTable):
        rows, notes, pooled = _of_table(rows, figure)
        reference = pooled if reference is None else reference
        percent = percent or figure_of(figure).is_rate
        xlabel = xlabel or figure_of(figure).head
    names, *numbers = _to_arrays(rows)
    paired = {str(k): row for k, row in rows.items() if isinstance(row, PairedBootstrapResult)}
    if paired and reference is None:
        reference = 0.0
    notes |= {name: f"p = {row.p_value:.2g}" for name, row in paired.items()}
    scale = 100.0 if percent else 1.0
    rank, strong = rows_in_order(dict(zip(names, numbers[0], strict=True)), order, highlight)
    names = [names[i] for i in rank]
    estimates, low, high = (scale * values[rank] for values in numbers)
    lines = len(names) * (1 + max(name.count("\n") for name in names))
    plot = Plot(make_axes(ax, (_FOREST_WIDTH, _MARGIN + _HEIGHT_PER_LINE * lines)), title)
    axes = plot.ax
    settings: Settings = {"marker": "s", "markersize": 5, "linewidth": 1.4}
    settings |= {"color": system_look(0, axes).colour}
    settings |= cbook.normalize_kwargs(marker_keywords, Line2D) | {"linestyle": "none"}
    plot.artists["estimate"] = []
    for stands_out in dict.fromkeys(strong):
        y = np.flatnonzero(np.array(strong) == stands_out)
        own = settings if stands_out else settings | {"color": pale_colour(axes)}
        (points,) = axes.plot(estimates[y], y, **own)
        plot.artists["estimate"].append(points)
        # Intervals need not hold their estimate, so bars are drawn on their own.
        colour = points.get_color()
        axes.hlines(y, low[y], high[y], colors=colour, linewidths=points.get_linewidth())
        for ends in (low[y], high[y]):
            axes.plot(ends, y, linestyle="none", marker="|", color=colour, markersize=6)
    if reference is not None:
        axes.axvline(scale * reference, color=text_colour(), linewidth=0.8, linestyle="--")
    # As many decimals as show three digits of the length of half of the intervals, or more.
    lengths = [length for length in high - low if 0 < length < math.inf]
    form = f".{max(0, 2 - math.floor(math.log10(np.median(lengths))))}f" if lengths else ".3g"
    beside = axes.get_yaxis_transform()
    for row, (name, *values) in enumerate(zip(names, estimates, low, high, strict=True)):
        middle, start, end = (format(value, form) for value in values)
        text = middle if start == end else f"{middle} [{start}, {end}]"
        text += f"  {notes[name]}" if name in notes else ""
        place: Settings = {"va": "center", "fontsize": letters("small"), "transform": beside}
        axes.text(1.02, row, text, **place)
    _name_ticks(axes.yaxis, names)
    # The first row on top.
    axes.set(ylim=(len(names) - 0.4, -0.6), xlabel=xlabel or "")
    axes.grid(visible=True, axis="x", linewidth=0.6, alpha=0.6)
    axes.set_axisbelow(True)
    return plot


def _of_table(
    table: ConditionTable | SystemTable, figure: str
) -> tuple[dict[str, Estimate], dict[str, str], float | None]:
    """Return the rows of a table that have a figure, their numbers of targets, the pooled one."""
    named = [item if isinstance(item, tuple) else ("", item) for item in table.rows]
    # A cost without its point in brackets is clear where there is one point.
    at_points = [name for name in named[0][1].figures if name.startswith(f"{figure}(")]
    figure = at_points[0] if len(at_points) == 1 else figure
    if figure not in named[0][1].figures:
        known = ", ".join(named[0][1].figures)
        raise invalid("figure", f"be one of {known}", describe(figure))
    rows: dict[str, Estimate] = {}
    notes, pooled = {}, None
    several = len({row.name for _, row in named}) > 1
    for system, row in named:
        value = row.figures[figure]
        name = ", ".join(filter(None, (system, row.name if several or not system else "")))
        if value is not None:
            low, high = row.intervals.get(figure, (value, value))
            rows[name] = _Row(value, low, high)
            notes[name] = f"({row.n_tar} targets)"
            pooled = value if row.kind == "pooled" and not system else pooled
    return rows, notes, pooled
