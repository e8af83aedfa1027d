"""Estimates with their intervals below each other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter

from bosaris_py._validation import as_number, describe, invalid, list_some
from bosaris_py.plots import base, looks
from bosaris_py.uncertainty import ComparisonTable, Estimate

# Inches of a new figure; its height grows with the number of lines.
_WIDTH, _MARGIN, _HEIGHT_PER_LINE = 7.0, 1.2, 0.3
_LONGEST_PAIR = 24


@base.door
def plot_forest(
    rows: Mapping[str, Estimate] | ComparisonTable,
    *,
    ax: Axes | None = None,
    title: str | None = None,
    xlabel: str | None = None,
    reference: float | None = None,
    percent: bool = False,
) -> base.Plot:
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
    drawn = dict[str, tuple[Estimate, str]]()
    if isinstance(rows, ComparisonTable):
        reference = 0.0 if reference is None else reference
        # Pairs of long names would leave no room for the bars.
        longest = max(len(row.first + row.second) for row in rows.rows)
        minus = "\n\N{MINUS SIGN} " if longest > _LONGEST_PAIR else " \N{MINUS SIGN} "
        for row in rows.rows:
            drawn[row.first + minus + row.second] = row.difference, f"p = {row.p_holm:.2g}"
    elif isinstance(rows, Mapping):
        drawn = {str(name): (one, "") for name, one in rows.items()}
    without = [name for name, (one, _) in drawn.items() if getattr(one, "low", None) is None]
    if without or not drawn:
        expected = "be a table, or a mapping from names to estimates with an interval"
        got = f"none for {list_some(without)}" if without else describe(rows)
        raise invalid("rows", expected, got)
    lines = len(drawn) * (1 + max(name.count("\n") for name in drawn))
    plot = base.Plot(ax, (_WIDTH, _MARGIN + _HEIGHT_PER_LINE * lines), title, xlabel or "")
    axes, scale, y = plot.ax, 100.0 if percent else 1.0, np.arange(len(drawn))
    ends = [(one.value, one.low, one.high) for one, _ in drawn.values()]
    values, low, high = scale * np.array(ends, dtype=np.float64).T
    look: looks.Settings = {"color": looks.system_look(0, axes)["color"], "linestyle": "none"}
    plot.artists["estimate"] = [*axes.plot(values, y, marker="s", markersize=5, **look)]
    # Intervals need not hold their estimate, so bars are drawn on their own.
    axes.hlines(y, low, high, colors=look["color"], linewidths=1.4)
    for end in (low, high):
        axes.plot(end, y, marker="|", markersize=6, **look)
    if reference is not None:
        reference = as_number(reference, "reference", "be finite", np.isfinite)
        ink = looks.text_colour()
        axes.axvline(scale * reference, color=ink, linewidth=0.8, linestyle="--")
    # As many decimals as show three digits of the length of half of the intervals, or more.
    lengths = [length for length in high - low if 0 < length < np.inf]
    form = f".{max(0, 2 - int(np.floor(np.log10(np.median(lengths)))))}f" if lengths else ".3g"
    place: looks.Settings = {"va": "center", "fontsize": looks.letters("small")}
    place["transform"] = axes.get_yaxis_transform()
    for at, (name, *numbers) in enumerate(zip(drawn, values, low, high, strict=True)):
        middle, start, end = (format(number, form) for number in numbers)
        text = middle if start == end else f"{middle} [{start}, {end}]"
        axes.text(1.02, at, f"{text}  {drawn[name][1]}".strip(), **place)
    axes.yaxis.set_ticks(y)
    # Longer names leave no room for the drawing.
    texts = ("\n".join(looks.as_name(part, most=48) for part in name.split("\n")) for name in drawn)
    # matplotlib's own way to name ticks catches the warnings of all threads.
    axes.yaxis.set_major_formatter(FixedFormatter([*texts]))
    # The first row on top.
    axes.set_ylim(len(drawn) - 0.4, -0.6)
    axes.yaxis.grid(visible=False)
    return plot
