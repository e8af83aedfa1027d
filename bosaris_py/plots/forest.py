"""Estimates with their intervals below each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib import cbook
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter

from bosaris_py._arrays import Float64Array
from bosaris_py._validation import describe, invalid
from bosaris_py.evaluation import SystemTable
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
from bosaris_py.uncertainty.compare import ComparisonTable
from bosaris_py.uncertainty.estimate import Estimate

# Inches of a new figure; its height grows with the number of lines.
_WIDTH, _MARGIN, _HEIGHT_PER_LINE = 7.0, 1.5, 0.3
_LONGEST_PAIR = 24


class _Row(NamedTuple):
    """An estimate of a table of conditions."""

    value: float
    low: float
    high: float


def _to_arrays(intervals: object) -> tuple[list[str], Float64Array, Float64Array, Float64Array]:
    """Return the names, values and ends of estimates."""
    expected = "be a mapping from names to estimates with an interval"
    if not isinstance(intervals, Mapping) or not intervals:
        raise invalid("rows", expected, describe(intervals))
    rows = []
    for name, found in intervals.items():
        row = [getattr(found, part, None) for part in ("value", "low", "high")]
        if None in row:
            raise invalid("rows", expected, f"{describe(found)} for {name}")
        rows.append(row)
    values, low, high = np.array(rows, dtype=np.float64).T
    return [str(name) for name in intervals], values, low, high


@one_at_a_time
def plot_forest(
    rows: Mapping[str, Estimate] | SystemTable | ComparisonTable,
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
    rows : mapping of str to Estimate; or a table
        From top to bottom. Tables are the table of `evaluate` and a ComparisonTable, of which the
        differences are drawn, with their p-values.
    figure : str, default: "eer"
        Which figure of a table of conditions or systems, such as ``"cllr"`` or ``"act_dcf"``.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default, in a new figure that is not registered with pyplot.
    title : str, optional
        Title of the plot.
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
    >>> from bosaris_py.uncertainty import error_rate_interval
    >>> rows = {"A": error_rate_interval(100, 1000), "B": error_rate_interval(200, 1000)}
    >>> plot = plot_forest(rows, percent=True, xlabel="misses (%)")
    >>> [text.get_text() for text in plot.texts]
    ['10.00 [8.29, 12.02]', '20.00 [17.64, 22.59]']
    """
    notes: dict[str, str] = {}
    drawn: object = rows
    if isinstance(rows, ComparisonTable):
        # Pairs of long names would leave no room for the bars.
        longest = max(len(row.first + row.second) for row in rows.rows)
        between = "\n- " if longest > _LONGEST_PAIR else " - "
        found = {row.first + between + row.second: row for row in rows.rows}
        notes = {name: f"p = {row.p_holm:.2g}" for name, row in found.items()}
        drawn = {name: row.difference for name, row in found.items()}
        reference = 0.0 if reference is None else reference
    if hasattr(rows, "table"):
        raise invalid("rows", "be a table", describe(rows), "Give its table: evaluation.table.")
    if isinstance(rows, SystemTable):
        drawn, notes, pooled = _of_table(rows, figure)
        reference = pooled if reference is None else reference
        percent = percent or figure_of(figure).is_rate
        xlabel = xlabel or figure_of(figure).head
    names, *numbers = _to_arrays(drawn)
    scale = 100.0 if percent else 1.0
    rank, strong = rows_in_order(dict(zip(names, numbers[0], strict=True)), order, highlight)
    names = [names[i] for i in rank]
    estimates, low, high = (scale * values[rank] for values in numbers)
    lines = len(names) * (1 + max(name.count("\n") for name in names))
    plot = Plot(make_axes(ax, (_WIDTH, _MARGIN + _HEIGHT_PER_LINE * lines)), title)
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
    axes.yaxis.set_ticks(range(len(names)))
    # Longer names leave no room for the drawing.
    shown = ("\n".join(as_name(part, most=48) for part in name.split("\n")) for name in names)
    # matplotlib's own way to name ticks catches the warnings of all threads.
    axes.yaxis.set_major_formatter(FixedFormatter([*shown]))
    # The first row on top.
    axes.set(ylim=(len(names) - 0.4, -0.6), xlabel=xlabel or "")
    axes.grid(visible=True, axis="x", linewidth=0.6, alpha=0.6)
    axes.set_axisbelow(True)
    return plot


def _of_table(
    table: SystemTable, figure: str
) -> tuple[dict[str, _Row], dict[str, str], float | None]:
    """Return the rows of a table that have a figure, their numbers of targets, the pooled one."""
    named = table.rows
    # A cost without its point in brackets is clear where there is one point.
    at_points = [name for name in named[0][1].figures if name.startswith(f"{figure}(")]
    figure = at_points[0] if len(at_points) == 1 else figure
    if figure not in named[0][1].figures:
        known = ", ".join(named[0][1].figures)
        raise invalid("figure", f"be one of {known}", describe(figure))
    rows: dict[str, _Row] = {}
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
