"""The DET plot: miss rate over false-alarm rate, both on probit scales."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis

from bosaris_py._arrays import BoolArray, Float64Array
from bosaris_py._notes import Note, warn
from bosaris_py._validation import describe, invalid
from bosaris_py.errors import BosarisWarning
from bosaris_py.evaluation import Results
from bosaris_py.metrics.curves import hull_points, smallest_measurable_rate, steppy_points
from bosaris_py.numerics.priors import DecisionCosts, PriorLike
from bosaris_py.plots import base, looks as styles, windows
from bosaris_py.plots.base import PLAIN, ErrorRatePlot
from bosaris_py.plots.looks import Legend, Looks, Names, Pen, Systems, Text
from bosaris_py.uncertainty.bands import Band

# Width and height of a new figure in inches: with its labels the window is almost square.
_SIZE = (6.0, 6.0)

# Marks by the words of `marks`: kinds of points, and what the legend says.
_MARKS = {
    "eer": ("eer_point", "EER"),
    "dr30": ("dr30", "30 errors"),
    "min": ("mindcf_point", "minimum cost"),
    "act": ("actdcf_point", "actual cost"),
}


class DETPlot(ErrorRatePlot):
    """A plot of detection error trade-off curves.

    Each `plot_*` method draws the system that was set last, and returns the Axes. Its data are
    probabilities.

    Parameters
    ----------
    window : str or DETWindow, default: "old"
        What part of the plane to show: "new", "old", "big" or "sre10" as in the toolkit, "auto"
        for one that fits all systems set so far, with equal axes, or a `DETWindow`.
    title : str, optional
        Title of the plot.
    ax : matplotlib.axes.Axes, optional
        Where to draw; its scales, limits, ticks and labels are set. By default, in a new
        figure of its own, 6 x 6 inches, which is not registered with pyplot.

    Attributes
    ----------
    ax : matplotlib.axes.Axes
        The one given, or the new one.
    window : DETWindow
        What is shown.
    artists : dict of str to list of Artist
        Lines (Line2D) and bands (PolyCollection) drawn so far, in order, by kind: the name of
        a method without ``plot_``, such as ``"steppy_det"``.

    See Also
    --------
    bosaris_py.BayesPlot : The effect of calibration too, over a range of priors.

    Notes
    -----
    The toolkit's ``Det_Plot.m``. Theory paper (arXiv:1304.2865), section 2.6 and figure 4. DET
    plots [1]_ are square: for several in one figure use ``Figure(layout="compressed")``.

    References
    ----------
    .. [1] A. Martin et al., "The DET curve in assessment of detection task performance",
       Eurospeech 1997.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> plot = DETPlot("old", title="Synthetic scores")
    >>> plot.set_system(rng.normal(3, 1, 500), rng.normal(0, 1, 5000), "system A")
    >>> axes = plot.plot_steppy_det(label="DET")
    >>> axes = plot.plot_mindcf_point(0.1, "k*", label="minDCF(0.1)")
    >>> axes = plot.plot_DR30_both()
    >>> axes = plot.display_legend()
    >>> plot
    DETPlot: 4 lines of 1 system
    """

    _word = "DETPlot"
    # The lines of one system share its colour; their strokes tell them apart.
    _looks: ClassVar = {
        "steppy_det": {"linewidth": 1.5},
        "rocch_det": {"linestyle": "--", "linewidth": 1.2},
        "mindcf_point": {"marker": "*", "markersize": 11, "zorder": 3},
        "actdcf_point": {"marker": "*", "markersize": 11, "zorder": 3, "markerfacecolor": "none"},
        "eer_point": {"marker": "o", "markersize": 6, "zorder": 3},
        "dr30": {"marker": "o", "markersize": 4.5, "zorder": 2.5, "markerfacecolor": "none"},
        "DR30_fa": {"linestyle": "-.", "linewidth": 1.0},
        "DR30_miss": {"linestyle": ":", "linewidth": 1.0},
    }
    _curves_of_systems = ("steppy_det", "rocch_det")
    _dr30_labels = ("pfa DR30", "pmiss DR30")

    def __init__(
        self, window: str | windows.DETWindow = "old", title: Text = None, ax: Axes | None = None
    ) -> None:
        self._fits = str(window) == "auto"
        shown = windows.find_window("old" if self._fits else window)
        super().__init__(ax, _SIZE, title)
        self._seen: list[Results] = []
        # Scales first: setting a scale sets locators, formatters and limits anew.
        self.ax.set_xscale(windows.ProbitScale())
        self.ax.set_yscale(windows.ProbitScale())
        self._show(shown)
        self.ax.set_xlabel("False alarm probability (in %)")
        self.ax.set_ylabel("Miss probability (in %)")
        # Equal lengths on both axes: where their limits are equal, the curve of equal variances
        # falls at 45 degrees.
        self.ax.set_box_aspect(1.0)
        # Some windows of the toolkit have ticks so close that larger labels would touch.
        self.ax.tick_params(labelsize=styles.letters("small"))

    def _set_system(self, results: Results, name: str = "") -> None:
        super()._set_system(results, name)
        if self._fits:
            self._seen.append(results)
            self._show(windows.window_around(self._seen))

    def _show(self, window: windows.DETWindow) -> None:
        """Set limits and ticks."""
        self.window = window
        self.ax.set_xlim(*window.pfa_limits)
        self.ax.set_ylim(*window.pmiss_limits)
        _set_ticks(self.ax.xaxis, window.xticks, window.xticklabels)
        _set_ticks(self.ax.yaxis, window.yticks, window.yticklabels)

    def plot_steppy_det(self, style: Text = None, label: Text = None, **look: object) -> Axes:
        """Draw the DET curve as it is: one step for each target or group of equal scores.

        Parameters
        ----------
        style : str, optional
            Matplotlib's short format string, such as ``"r--"``. By default a solid line in
            the colour of the system.
        label : str, optional
            Legend entry, which the name of the system precedes; "" gives the name alone, and
            "_nolegend_" none. By default the name alone, for the first curve of a system.
        **look
            Matplotlib's line properties; others are refused.

        Returns
        -------
        matplotlib.axes.Axes

        Warns
        -----
        BosarisWarning
            If the whole curve lies outside of the window.

        Notes
        -----
        A group of equal scores of both classes is one slanted stroke. (The toolkit draws it as if
        its targets were rejected first.) Many vertices are thinned to what looks the same.
        Error-rates of 0 and 1 lie past the edge.
        """
        warn(self._curve(Pen(style, label, look)))
        return self.ax

    def plot_rocch_det(self, style: Text = None, label: Text = None, **look: object) -> Axes:
        """Draw the DET curve of the ROC's convex hull, on which EER and minimum DCFs lie.

        Parameters
        ----------
        style, label, **look
            As in `plot_steppy_det`, with the same warning; by default a dashed line.

        Returns
        -------
        matplotlib.axes.Axes

        Notes
        -----
        Straight edges of the hull are curved here.
        """
        window, pen = self.window, Pen(style, label, look)
        points = hull_points(self._system().rocch, window.pfa_limits, window.pmiss_limits)
        self._line("rocch_det", *points, pen)
        warn(self._out_of_view(points))
        return self.ax

    def plot_band(self, band: Band, label: Text = None, **look: object) -> Axes:
        """Shade a band around the DET curve: where the true miss rate may lie.

        Parameters
        ----------
        band : Band
            Made by `bosaris_py.uncertainty.bootstrap_bands` of ``kind="det"``.
        label : str, optional
            As in `plot_steppy_det`; by default none.
        **look
            Matplotlib's properties of filled areas, such as ``alpha`` or ``facecolor``.

        Returns
        -------
        matplotlib.axes.Axes

        Notes
        -----
        Pale, in the system's colour. At each false-alarm rate, an interval of the miss rate. It
        ends where fewer than three errors are left: there replicates say nothing, and the rule of
        three takes over.

        Examples
        --------
        >>> import numpy as np
        >>> from bosaris_py import uncertainty as unc
        >>> rng = np.random.default_rng(0)
        >>> tar, non = rng.normal(3, 1, 500), rng.normal(0, 1, 5000)
        >>> band = unc.bootstrap_bands((tar, non), kind="det", replications=200, rng=1)
        >>> plot = DETPlot("old")
        >>> plot.set_system(tar, non, "system A")
        >>> axes = plot.plot_band(band, label="95 %")
        >>> axes = plot.plot_steppy_det(label="DET")
        >>> plot
        DETPlot: 1 line, 1 band of 1 system
        """
        styles.check_band(band, "det")
        results = self._system()
        met = enough(band.value, band.low, band.high, results.n_tar)
        met &= band.x * results.n_non >= 3.0
        return self._band((band.low, band.high), band.x, met, label, look)

    def plot_mindcf_point(
        self, prior: PriorLike, style: Text = None, label: Text = None, **look: object
    ) -> Axes:
        """Mark the operating point of minimum DCF.

        Parameters
        ----------
        prior : float or OperatingPoint
            Target probability (unit costs) or operating point.
        style, label, **look
            As in `plot_steppy_det`, with the same warning; by default a star.

        Returns
        -------
        matplotlib.axes.Axes

        Notes
        -----
        The numbers are those of `Results.min_dcf_threshold`. A point lies outside of every window
        where an error-rate is 0.
        """
        pen = Pen(style, label, look)
        warn(self._point("mindcf_point", _best(self._system(), prior), pen))
        return self.ax

    def _curve(self, pen: Pen) -> list[Note]:
        window = self.window
        points = steppy_points(self._system().roc, window.pfa_limits, window.pmiss_limits)
        self._line("steppy_det", *points, pen)
        return self._out_of_view(points)

    def _out_of_view(self, points: tuple[Float64Array, Float64Array]) -> list[Note]:
        """Say if no stroke of a curve of (pfa, pmiss) crosses the window."""
        pfa, pmiss = points
        (left, right), (bottom, top) = self.window.pfa_limits, self.window.pmiss_limits
        # Both rates are monotonic along the curve, so each stroke lies within the
        # rectangle of its ends; pfa falls from point to point, pmiss rises.
        sideways = (pfa[1:] <= right) & (pfa[:-1] >= left)
        upwards = (pmiss[:-1] <= top) & (pmiss[1:] >= bottom)
        if (sideways & upwards).any():
            return []
        text = (
            f"The whole curve{f' of {self._name}' if self._name else ''} lies outside of the "
            f"window (pfa {left:g} to {right:g}, pmiss {bottom:g} to {top:g})."
        )
        return [Note(BosarisWarning, text)]

    def _point(self, kind: str, rates: windows.Point, pen: Pen = PLAIN) -> list[Note]:
        """Draw a point, or say that it is not in view."""
        artist = f"The {kind.replace('eer', 'EER').replace('_', ' ')}"
        notes = base.outside("pfa", rates[0], self.window.pfa_limits, artist) or base.outside(
            "pmiss", rates[1], self.window.pmiss_limits, artist
        )
        if not notes:
            self._line(kind, *rates, pen)
        return notes

    def _mark_30_errors(self, kind: str, pen: Pen) -> list[Note]:
        """Mark the error-rate that 30 errors of the class's trials make, across the window."""
        results, window = self._system(), self.window
        if kind == "DR30_fa":
            what, error, n_trials, limits = "Pfa", "false alarms", results.n_non, window.pfa_limits
        else:
            what, error, n_trials, limits = "Pmiss", "misses", results.n_tar, window.pmiss_limits
        rate = smallest_measurable_rate(n_trials)
        if rate > 1.0:
            text = f"{n_trials} trials cannot have 30 {error}. "
            text += f"The {what} DR30 line will not be plotted."
            return [Note(BosarisWarning, text)]
        notes = base.outside(f"{what} DR30", rate, limits, f"{what} DR30 line")
        if not notes:
            ends = (rate, rate)
            across = (ends, window.pmiss_limits), (window.pfa_limits, ends)
            self._line(kind, *across[kind != "DR30_fa"], pen)
        return notes

    def _hollow_marks(self) -> None:
        """Mark on the curve where fewer than 30 errors of either kind are left."""
        results = self._system()
        pfa, pmiss = (smallest_measurable_rate(n) for n in (results.n_non, results.n_tar))
        spots = [results.roc.threshold_at(pfa=pfa)] if pfa < 1.0 else []
        spots += [results.roc.threshold_at(pmiss=pmiss)] if pmiss < 1.0 else []
        for spot in spots:
            # Marks that are not in view are no news.
            self._point("dr30", (spot.pfa, spot.pmiss))
        if max(pfa, pmiss) >= 1.0:
            self._say("fewer than 30 trials of a class, so that no rate rests on 30 errors")


def enough(value: Float64Array, low: Float64Array, high: Float64Array, n_trials: int) -> BoolArray:
    """Tell where a band of rates has three errors and three hits, and its replicates have some."""
    met: BoolArray = (n_trials * np.minimum(value, 1.0 - value) >= 3.0) & (low > 0) & (high < 1)
    return met


def _best(results: Results, prior: PriorLike) -> windows.Point:
    """Return the false-alarm rate and the miss rate of the least cost."""
    best = results.min_dcf_threshold(prior)
    return best.pfa, best.pmiss


def _actual(results: Results, prior: PriorLike) -> windows.Point:
    """Return the false-alarm rate and the miss rate at the Bayes threshold."""
    thresholds = DecisionCosts.from_prior(prior).thresholds
    if np.size(thresholds) != 1:
        raise invalid("prior", "be one operating point", f"{np.size(thresholds)} of them")
    pmiss, pfa = results.error_rates_at(np.ravel(thresholds)[0])
    return pfa, pmiss


@base.door
def plot_det(
    systems: Systems,
    window: str | windows.DETWindow = "auto",
    ax: Axes | None = None,
    *,
    title: Text = None,
    marks: Sequence[str] = ("eer", "dr30"),
    prior: PriorLike | None = None,
    bands: Mapping[str, Band] | None = None,
    looks: Looks = None,
    legend: Legend = True,
    order: Names = None,
    highlight: Names = None,
) -> DETPlot:
    """Draw the DET curves of several systems in one call.

    Each has its name and its EER at the end of its curve.

    Parameters
    ----------
    systems : mapping of str to Results or (tar, non); or Results
        The systems by their names.
    window : str or DETWindow, default: "auto"
        As for `DETPlot`.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default, in a new figure.
    title : str, optional
        Title of the plot.
    marks : sequence of str, default: ("eer", "dr30")
        What is marked on each curve. "eer": a dot at the EER. "dr30": a small hollow circle
        where fewer than 30 false alarms, or misses, are left. "min", "act": stars, filled and
        open, at minimum and actual cost; scores are then taken as natural-log likelihood-ratios.
    prior : float or OperatingPoint, optional
        Operating point of the marks "min" and "act", which need it; others do not.
    bands : mapping of str to Band, optional
        Bands by the names of their systems; see `bosaris_py.uncertainty.bootstrap_bands`.
    looks, legend, order, highlight
        ``looks``: by name of a system, properties of matplotlib's lines (color, linestyle,
        linewidth, marker, markersize, alpha, zorder). ``legend``: True for names at the ends of
        curves, False, or "below" the plot. ``order``: "eer", "cllr", "min_cllr" (best
        first) or the names that come first; colours stay. ``highlight``: names of the systems in
        colour; all others are grey.

    Returns
    -------
    DETPlot
        A notebook shows it; more can be drawn into it.

    Warns
    -----
    BosarisWarning
        For curves and marks that lie outside of the window.

    Notes
    -----
    Scores without an error have no curve. A note below the plot names the highest rates that this
    allows with 95 % confidence, 1 - 0.05^(1/n) for n independent trials.

    Theory paper (arXiv:1304.2865), section 2.1.1, asks for marks of 30 errors.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> non = rng.normal(0, 1, 5000)
    >>> plot = plot_det({"A": (rng.normal(2, 1, 500), non), "B": (rng.normal(3, 1, 500), non)})
    >>> {kind: len(lines) for kind, lines in plot.artists.items()}
    {'steppy_det': 2, 'eer_point': 3, 'dr30': 4}
    """
    chosen = styles.choose(systems, looks, order, highlight, legend, bands, "det")
    if not {*marks} <= {*_MARKS}:
        raise invalid("marks", f"be some of {', '.join(map(repr, _MARKS))}", describe(marks))
    costs: dict[str, dict[str, windows.Point]] = {name: {} for name in chosen.results}
    for mark, find in (("min", _best), ("act", _actual)):
        if mark in marks:
            if prior is None:
                raise invalid("prior", f"be given for the mark {mark!r}", "None")
            for name, results in chosen.results.items():
                costs[name][_MARKS[mark][0]] = find(results, prior)
    if str(window) == "auto":
        spots = [spot for points in costs.values() for spot in points.values()]
        window = windows.window_around(chosen.results.values(), spots)
    plot = DETPlot(window, title, ax)
    for name, results in plot._each_of(chosen):
        if name in chosen.bands:
            plot.plot_band(chosen.bands[name])
        eer = f"EER {100.0 * results.eer:.3g} %"
        if results.eer > 0.0:
            plot.notes += plot._curve(Pen(label=f"({eer})" if name else eer))
        else:
            plot._curve(Pen(label="_nolegend_"))
            plot._say_no_error()
        if "eer" in marks and results.eer > 0.0:
            plot.notes += plot._point("eer_point", (results.eer, results.eer))
        if "dr30" in marks:
            plot._hollow_marks()
        for kind, spot in costs[name].items():
            plot.notes += plot._point(kind, spot)
    for kind, text in _MARKS.values():
        if kind in plot.artists:
            plot._key(kind, text)
    return plot._finish(legend)


def _set_ticks(axis: Axis, ticks: Sequence[float] | None, labels: Sequence[str] | None) -> None:
    axis.set_major_locator(windows.ProbitLocator(ticks or ()))
    names = dict(zip(ticks, labels, strict=True)) if ticks and labels else {}
    axis.set_major_formatter(windows.PercentFormatter(names))
