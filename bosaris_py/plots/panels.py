"""Small multiples: a panel for each system, and plots by the names of their kinds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from bosaris_py._validation import check_choice, describe, invalid
from bosaris_py.plots import calibration
from bosaris_py.plots.bayes import plot_bayes
from bosaris_py.plots.det import plot_det
from bosaris_py.plots.display import Picture, Plot
from bosaris_py.plots.looks import Settings, letters, new_figure, one_at_a_time
from bosaris_py.plots.shown_systems import Chosen, Systems, results_of

KINDS: Mapping[str, Callable[..., Plot]] = MappingProxyType(
    {
        "det": plot_det,
        "bayes": plot_bayes,
        "tippett": calibration.plot_tippett,
        "ece": calibration.plot_ece,
        "pav": calibration.plot_pav,
        "reliability": calibration.plot_reliability,
    }
)

"""Plots of several systems by the names of their kinds, as `plot_grid` takes them."""

# Width and height of a panel, in inches, and the size of its letters.
_PANEL, _LETTERS = (2.5, 2.5), 7.0
_MOST_COLUMNS = 6


class PlotGrid(Picture):
    """Panels of one figure; made by `plot_grid`.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The whole figure.
    plots : mapping of str to Plot
        The plot of each system.

    Attributes
    ----------
    plots : dict of str to Plot
        The plot of each system.

    Examples
    --------
    >>> systems = {"A": ([1.0, 3.0, -0.5], [-2.0, 0.5]), "B": ([1.0, 2.0], [0.0, 1.5])}
    >>> grid = plot_grid(systems, "ece")
    >>> [*grid.plots]
    ['A', 'B']
    """

    def __init__(self, figure: Figure, plots: Mapping[str, Plot]) -> None:
        super().__init__(figure)
        self.plots = dict(plots)

    def __repr__(self) -> str:
        """Say how many panels there are."""
        return f"PlotGrid: {len(self.plots)} panels"


@one_at_a_time
def plot_grid(
    systems: Systems,
    kind: str = "det",
    *,
    columns: int | None = None,
    title: str | None = None,
    order: str | Sequence[str] | None = None,
    **options: Any,
) -> PlotGrid:
    """Draw a panel for each system, in which all others are grey.

    Of a dozen systems and more, one plot of all shows little.

    Parameters
    ----------
    systems : mapping of str to Results or (tar, non)
        The systems by their names.
    kind : str, default: "det"
        "det", "bayes", "tippett", "ece", "pav", "reliability", or
        "histogram", whose panels have the scores of one system only.
    columns : int, optional
        Panels side by side. By default about as many as below each other, at most 6.
    title : str, optional
        Title of the figure.
    order : str or sequence of str, optional
        As for `bosaris_py.plot_det`.
    **options
        Those of the plot, such as ``prior=0.05``.

    Returns
    -------
    plots.PlotGrid
        With ``save`` and ``show``; `plots` has the plot of each system. All have the same limits.

    Examples
    --------
    >>> systems = {"A": ([1.0, 3.0, -0.5], [-2.0, 0.5]), "B": ([1.0, 2.0, 3.0], [-2.0, 1.5])}
    >>> plot_grid(systems, "tippett", order="eer")
    PlotGrid: 2 panels
    """
    check_choice(kind, (*KINDS, "histogram"), "kind")
    chosen = Chosen.of(results_of(systems), {"order": order})
    refused = [name for name in ("highlight", "legend", "ax") if name in options]
    if refused:
        raise invalid(refused[0], "be left out of a grid of panels", describe(options[refused[0]]))
    count = len(chosen.results)
    columns = columns or min(math.ceil(math.sqrt(count)), _MOST_COLUMNS)
    rows = math.ceil(count / columns)
    width = _PANEL[0] * columns
    if list(mpl.rcParams["figure.figsize"]) != list(mpl.rcParamsDefault["figure.figsize"]):
        width = mpl.rcParams["figure.figsize"][0]
    size = width, width / columns * _PANEL[1] / _PANEL[0] * rows
    with mpl.rc_context({"font.size": min(_LETTERS, mpl.rcParams["font.size"])}):
        figure = new_figure(size)
        grid = figure.subplots(rows, columns, squeeze=False)
        plots: dict[str, Plot] = {}
        for number, (name, results) in enumerate(chosen.results.items()):
            ax = grid.flat[number]
            if kind == "histogram":
                plots[name] = calibration.plot_histogram(results, ax, title=name, **options)
                if number:
                    ax.get_legend().remove()
            else:
                draw = KINDS[kind]
                own: Settings = {"highlight": [name], "legend": False, **options}
                plots[name] = draw(systems, ax=ax, title=name, **own)
            # Labels stand at the outer panels only.
            if number % columns:
                ax.set_ylabel("")
            if number + columns < count:
                ax.set_xlabel("")
        for ax in grid.flat[count:]:
            ax.set_visible(False)
        if kind == "det":
            # One note for all panels, which are too small for the texts of their margins.
            for plot in plots.values():
                plot._hide_margins()
            figure.supxlabel("grey: fewer than 30 errors", fontsize=letters("x-small"))
        if kind == "histogram":
            limits = [plot.ax.get_xlim() for plot in plots.values()]
            for plot in plots.values():
                plot.ax.set_xlim(min(low for low, _ in limits), max(high for _, high in limits))
        if title is not None:
            figure.suptitle(title)
    return PlotGrid(figure, plots)
