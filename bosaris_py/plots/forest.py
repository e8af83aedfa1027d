"""Estimates with their intervals below each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter

from bosaris_py._validation import describe, invalid
from bosaris_py.plots import looks
from bosaris_py.plots.base import Plot
from bosaris_py.plots.systems import Names, check_names, in_order
from bosaris_py.uncertainty.compare import ComparisonTable
from bosaris_py.uncertainty.estimate import Estimate

# Inches of a new figure; its height grows with the number of lines.
_WIDTH, _MARGIN, _HEIGHT_PER_LINE = 7.0, 1.2, 0.3
_LONGEST_PAIR = 24


class _Row(NamedTuple):
    """An estimate, and what is said beside it."""

    value: float
    low: float
    high: float
    note: str = ""


@looks.one_at_a_time
def plot_forest(
    rows: Mapping[str, Estimate] | ComparisonTable,
    *,
    ax: Axes | None = None,
    title: str | None = None,
    xlabel: str | None = None,
    reference: float | None = None,
    percent: bool = False,
    order: Names = None,
    highlight: Names = None,
    **marker_keywords: object,
) -> Plot:
    """Draw estimates with their intervals below each other, with the numbers beside them.

    Parameters
    ----------
    rows : mapping of str to Estimate, or ComparisonTable
        From top to bottom; of a ComparisonTable the differences, with corrected p-values.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default, in a new figure that is not registered with pyplot.
    title : str, optional
        Title of the plot.
    xlabel : str, optional
        What was measured.
    reference : float, optional
        Where to draw a vertical line. By default at zero for differences.
    percent : bool, default: False
        Show fractions in per cent.
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
    >>> [text.get_text() for text in plot.ax.texts]
    ['10.00 [8.29, 12.02]', '20.00 [17.64, 22.59]']
    """
    wanted = looks.checked(marker_keywords, Line2D)
    match rows:
        case ComparisonTable():
            drawn = _differences(rows)
            reference = 0.0 if reference is None else reference
        case _:
            drawn = _estimates(rows)
    given = [*drawn]
    names = in_order(given, order, {"value": lambda name: drawn[name].value})
    strong = check_names(highlight, given, "highlight") or given
    lines = len(names) * (1 + max(name.count("\n") for name in names))
    plot = Plot(ax, (_WIDTH, _MARGIN + _HEIGHT_PER_LINE * lines), title)
    axes, scale = plot.ax, 100.0 if percent else 1.0
    shown = [drawn[name] for name in names]
    estimates, low, high = scale * np.array([row[:3] for row in shown], dtype=np.float64).T
    settings: looks.Settings = {"marker": "s", "markersize": 5, "linewidth": 1.4}
    settings |= {"color": looks.system_look(0, axes)["color"]} | wanted | {"linestyle": "none"}
    for stands_out in (False, True):
        y = np.flatnonzero([(name in strong) == stands_out for name in names])
        if not y.size:
            continue
        own = settings if stands_out else settings | {"color": looks.pale_colour(axes)}
        (points,) = axes.plot(estimates[y], y, **own)
        plot.artists.setdefault("estimate", []).append(points)
        # Intervals need not hold their estimate, so bars are drawn on their own.
        colour = points.get_color()
        axes.hlines(y, low[y], high[y], colors=colour, linewidths=points.get_linewidth())
        for ends in (low[y], high[y]):
            axes.plot(ends, y, linestyle="none", marker="|", color=colour, markersize=6)
    if reference is not None:
        ink = looks.text_colour()
        axes.axvline(scale * reference, color=ink, linewidth=0.8, linestyle="--")
    # As many decimals as show three digits of the length of half of the intervals, or more.
    lengths = [length for length in high - low if 0 < length < math.inf]
    form = f".{max(0, 2 - math.floor(math.log10(np.median(lengths))))}f" if lengths else ".3g"
    place: looks.Settings = {"va": "center", "fontsize": looks.letters("small")}
    place["transform"] = axes.get_yaxis_transform()
    for place_of, (row, *values) in enumerate(zip(shown, estimates, low, high, strict=True)):
        middle, start, end = (format(value, form) for value in values)
        text = middle if start == end else f"{middle} [{start}, {end}]"
        axes.text(1.02, place_of, f"{text}  {row.note}".strip(), **place)
    axes.yaxis.set_ticks(range(len(names)))
    # Longer names leave no room for the drawing.
    texts = ("\n".join(looks.as_name(part, most=48) for part in name.split("\n")) for name in names)
    # matplotlib's own way to name ticks catches the warnings of all threads.
    axes.yaxis.set_major_formatter(FixedFormatter([*texts]))
    # The first row on top.
    axes.set(ylim=(len(names) - 0.4, -0.6), xlabel=xlabel or "")
    axes.yaxis.grid(visible=False)
    return plot


def _estimates(rows: Mapping[str, Estimate]) -> dict[str, _Row]:
    expected = "be a table, or a mapping from names to estimates with an interval"
    if not (hasattr(rows, "items") and rows):
        raise invalid("rows", expected, describe(rows))
    found = {}
    for name, one in rows.items():
        low, high = getattr(one, "low", None), getattr(one, "high", None)
        if low is None or high is None:
            raise invalid("rows", expected, f"{describe(one)} for {name}")
        found[str(name)] = _Row(one.value, low, high)
    return found


def _differences(table: ComparisonTable) -> dict[str, _Row]:
    """Return the differences of a table, with their corrected p-values."""
    # Pairs of long names would leave no room for the bars.
    longest = max(len(row.first + row.second) for row in table.rows)
    minus = "\n\N{MINUS SIGN} " if longest > _LONGEST_PAIR else " \N{MINUS SIGN} "
    drawn = _estimates({row.first + minus + row.second: row.difference for row in table.rows})
    notes = (f"p = {row.p_holm:.2g}" for row in table.rows)
    return {n: row._replace(note=note) for (n, row), note in zip(drawn.items(), notes, strict=True)}
