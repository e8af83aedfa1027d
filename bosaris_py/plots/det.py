"""The DET plot: miss rate over false-alarm rate, both on probit scales."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.text import Text as MarginText

from bosaris_py._arrays import Float64Array
from bosaris_py._notes import hushed, warn_caller
from bosaris_py._validation import invalid
from bosaris_py.errors import PlotRangeWarning
from bosaris_py.evaluation import Results
from bosaris_py.evaluation.curves import hull_points, smallest_measurable_rate, steppy_points
from bosaris_py.numerics.priors import DecisionCosts, PriorLike
from bosaris_py.plots import windows
from bosaris_py.plots.canvas import Canvas, Look, check_band, highest_rates, is_outside
from bosaris_py.plots.display import Text
from bosaris_py.plots.looks import Settings, covers, letters, make_axes, one_at_a_time, text_colour
from bosaris_py.plots.shown_systems import Chosen, Looks, Systems, bands_of, results_of
from bosaris_py.uncertainty.bands import Band

# Width and height of a new figure in inches: with its labels the window is almost square.
_SIZE = (6.0, 6.0)


class DETPlot(Canvas):
    """A plot of detection error trade-off curves.

    Each `plot_*` method draws the system that was set last, and returns the Axes. Its data are
    probabilities.

    Parameters
    ----------
    window : str or DETWindow, default: "old"
        What part of the plane to show: "new", "old", "big" or "sre10" as in the toolkit, "auto"
        for one that fits all systems set so far, with equal axes, or a `DETWindow`. On the Axes of
        an earlier DET plot, that one's window stays.
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
    DETPlot: 4 lines, current system 'system A'
    """

    # The lines of one system share its colour; their strokes tell them apart.
    _looks: ClassVar = {
        "steppy_det": {"linestyle": "-", "linewidth": 1.2},
        "rocch_det": {"linestyle": "--", "linewidth": 1.2},
        "mindcf_point": {"marker": "*", "markersize": 11, "zorder": 3},
        "actdcf_point": {"marker": "*", "markersize": 11, "zorder": 3, "markerfacecolor": "none"},
        "eer_point": {"marker": "o", "markersize": 6, "zorder": 3},
        "separable_point": {"marker": "s", "markersize": 6, "zorder": 3},
        "diagonal": {"linestyle": "-", "linewidth": 0.6, "alpha": 0.5},
        "DR30_fa": {"linestyle": "-.", "linewidth": 1.2},
        "DR30_miss": {"linestyle": ":", "linewidth": 1.2},
    }
    _curves_of_systems = ("steppy_det", "rocch_det")
    _dr30_labels = ("pfa DR30", "pmiss DR30")

    def __init__(
        self, window: str | windows.DETWindow = "old", title: Text = None, ax: Axes | None = None
    ) -> None:
        ax = make_axes(ax, _SIZE)
        super().__init__(ax, title)
        is_auto = isinstance(window, str) and window == "auto"
        self._seen: list[Results] | None = [] if is_auto else None
        self._points: list[windows.Point] = []
        self._margins: list[tuple[MarginText, bool]] = []
        # What is said below the axis of texts that found no room.
        self._without_room: set[str] = set()
        chosen = windows.WINDOWS["old"] if is_auto else windows.find_window(window)
        # Scales first: setting a scale sets locators, formatters and limits anew.
        ax.set_xscale(windows.ProbitScale())
        ax.set_yscale(windows.ProbitScale())
        self._show(self._drawn.limits.get("det", chosen))
        ax.set_xlabel("False Alarm probability (in %)")
        ax.set_ylabel("Miss probability (in %)")
        # Equal lengths on both axes: where their limits are equal, the curve of equal variances
        # falls at 45 degrees.
        ax.set_box_aspect(1.0)
        # Some windows of the toolkit have ticks so close that larger labels would touch.
        ax.tick_params(labelsize=letters("small"))

    def _chosen(self, results: Results) -> None:
        if self._seen is not None:
            self._seen.append(results)
            self._show(windows.window_of(self._seen, self._points))

    def _show(self, window: windows.DETWindow) -> None:
        """Set limits and ticks."""
        self.window = self._drawn.limits["det"] = window
        self.ax.set_xlim(*window.pfa_limits)
        self.ax.set_ylim(*window.pmiss_limits)
        _set_ticks(self.ax.xaxis, window.xticks, window.xticklabels)
        _set_ticks(self.ax.yaxis, window.yticks, window.yticklabels)

    def plot_steppy_det(self, style: Text = None, label: Text = None, **keywords: object) -> Axes:
        """Draw the DET curve as it is: one step for each target or group of equal scores.

        Parameters
        ----------
        style : str, optional
            Matplotlib's short format string, such as ``"r--"``. By default a solid line in
            the colour of the system.
        label : str, optional
            Legend entry, which the name of the system precedes; "" gives the name alone, and
            "_nolegend_" none. By default the name alone, for the first curve of a system.
        **keywords
            Matplotlib's line properties.

        Returns
        -------
        matplotlib.axes.Axes

        Warns
        -----
        PlotRangeWarning
            If the whole curve lies outside of the window.

        Notes
        -----
        A group of equal scores of both classes is one slanted stroke. (The toolkit draws it as if
        its targets were rejected first.) Many vertices are thinned to what looks the same, see
        `bosaris_py.evaluation.steppy_points`. Error-rates of 0 and 1 lie past the edge.
        """
        window = self.window
        points = steppy_points(self._system().roc, window.pfa_limits, window.pmiss_limits)
        return self._det_curve("steppy_det", points, Look(style, label, keywords))

    def plot_rocch_det(self, style: Text = None, label: Text = None, **keywords: object) -> Axes:
        """Draw the DET curve of the ROC's convex hull, on which EER and minimum DCFs lie.

        Parameters
        ----------
        style, label, **keywords
            As in `plot_steppy_det`, with the same warning; by default a dashed line.

        Returns
        -------
        matplotlib.axes.Axes

        Notes
        -----
        Straight edges of the hull are curved here, see `bosaris_py.evaluation.hull_points`.
        """
        window = self.window
        points = hull_points(self._system().rocch, window.pfa_limits, window.pmiss_limits)
        return self._det_curve("rocch_det", points, Look(style, label, keywords))

    def plot_band(self, band: Band, label: Text = None, **fill_keywords: object) -> Axes:
        """Shade a band around the DET curve: where the true miss rate may lie.

        Parameters
        ----------
        band : Band
            Made by `bosaris_py.uncertainty.bootstrap_bands` of ``kind="det"``.
        label : str, optional
            As in `plot_steppy_det`.
        **fill_keywords
            Matplotlib's properties of filled areas, such as ``alpha`` or ``facecolor``.

        Returns
        -------
        matplotlib.axes.Axes

        Notes
        -----
        Pale, in the system's colour. At each false-alarm rate, an interval of the miss rate.

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
        DETPlot: 1 lines, 1 band, current system 'system A'
        """
        check_band(band, "det")
        return self._system_band((band.low, band.high), band.x, label, fill_keywords)

    def plot_mindcf_point(
        self, prior: PriorLike, style: Text = None, label: Text = None, **keywords: object
    ) -> Axes:
        """Mark the operating point of minimum DCF.

        Parameters
        ----------
        prior : float or OperatingPoint
            Target probability (unit costs) or operating point.
        style, label, **keywords
            As in `plot_steppy_det`, with the same warning; by default a star.

        Returns
        -------
        matplotlib.axes.Axes

        Notes
        -----
        The numbers are those of `Results.min_dcf_threshold`. A point lies outside of every window
        where an error-rate is 0.
        """
        best, look = _best(self._system(), prior), Look(style, label, keywords)
        return self._point("mindcf_point", "The mindcf point", *best, look)

    def plot_actdcf_point(
        self, prior: PriorLike, style: Text = None, label: Text = None, **keywords: object
    ) -> Axes:
        """Mark the operating point of Bayes decisions: of the actual DCF.

        How far it lies from `plot_mindcf_point` along the curve shows the loss of calibration.

        Parameters
        ----------
        prior, style, label, **keywords
            As in `plot_mindcf_point`, errors and warnings included; by default an open star.

        Returns
        -------
        matplotlib.axes.Axes

        Notes
        -----
        Scores are taken as natural-log likelihood-ratios. The point has the error-rates of
        `Results.error_rates_at` at the threshold ``-logit(prior)``.
        """
        actual, look = _actual(self._system(), prior), Look(style, label, keywords)
        return self._point("actdcf_point", "The actdcf point", *actual, look)

    def plot_eer_point(self, style: Text = None, label: Text = None, **keywords: object) -> Axes:
        """Mark where both error-rates are the EER, on the convex hull.

        Parameters
        ----------
        style, label, **keywords
            As in `plot_mindcf_point`, errors and warnings included; by default a dot.

        Returns
        -------
        matplotlib.axes.Axes
        """
        eer = self._system().eer
        return self._point("eer_point", "The EER point", eer, eer, Look(style, label, keywords))

    def plot_diagonal(self, style: Text = None, label: Text = None, **keywords: object) -> Axes:
        """Draw the line on which both error-rates are equal. No system is needed.

        Parameters
        ----------
        style, label, **keywords
            As in `plot_mindcf_point`; by default thin, in the colour of text.

        Returns
        -------
        matplotlib.axes.Axes
        """
        # Straight in the window and beyond it, in case somebody zooms out.
        ends = [1e-9, 1.0 - 1e-9]
        keywords = {"color": text_colour()} | keywords if style is None else keywords
        return self._line("diagonal", ends, ends, Look(style, label, keywords))

    def _point(self, kind: str, artist: str, pfa: float, pmiss: float, look: Look) -> Axes:
        """Draw a point, or warn that it is not in view."""
        window = self.window
        if is_outside("pfa", pfa, window.pfa_limits, artist) or is_outside(
            "pmiss", pmiss, window.pmiss_limits, artist
        ):
            return self.ax
        return self._system_line(kind, pfa, pmiss, look)

    def _mark_separable(self) -> None:
        """Mark the highest rates that the absence of errors allows, and say what they are."""
        pfa, pmiss = highest_rates(self._system())
        look = Look(None, "(no error)", {})
        self._point("separable_point", "The marker of no error", pfa, pmiss, look)
        self._say_no_error(" The square is there.")

    def _plot_curve(self, label: str = "", **keywords: Any) -> Axes:
        return self.plot_steppy_det(label=label, **keywords)

    def _det_curve(self, kind: str, points: tuple[Float64Array, Float64Array], look: Look) -> Axes:
        """Draw a curve of (pfa, pmiss); warn if no stroke of it crosses the window."""
        pfa, pmiss = points
        left, right = self.window.pfa_limits
        bottom, top = self.window.pmiss_limits
        # Both rates are monotonic along the curve, so each stroke lies within the
        # rectangle of its ends; pfa falls from point to point, pmiss rises.
        crosses_sideways = (pfa[1:] <= right) & (pfa[:-1] >= left)
        crosses_upwards = (pmiss[:-1] <= top) & (pmiss[1:] >= bottom)
        if not (crosses_sideways & crosses_upwards).any():
            message = (
                f"The whole curve{f' of {self._name}' if self._name else ''} lies outside of the "
                f"window (pfa {left:g} to {right:g}, pmiss {bottom:g} to {top:g})."
            )
            warn_caller(message, PlotRangeWarning)
        return self._system_line(kind, pfa, pmiss, look)

    def _mark_30_errors(self, kind: str, look: Look) -> Axes:
        """Mark the error-rates that fewer than 30 errors of the class's trials make."""
        results, window = self._system(), self.window
        upright = kind == "DR30_fa"
        axis: Axis
        if upright:
            what, error, n_trials = "Pfa DR30", "false alarms", results.n_non
            limits, others, axis = window.pfa_limits, window.pmiss_limits, self.ax.xaxis
        else:
            what, error, n_trials = "Pmiss DR30", "misses", results.n_tar
            limits, others, axis = window.pmiss_limits, window.pfa_limits, self.ax.yaxis
        rate = smallest_measurable_rate(n_trials)
        if rate > 1.0:
            message = (
                f"{n_trials} trials cannot have 30 {error}. The {what} line will not be plotted."
            )
            warn_caller(message, PlotRangeWarning)
        in_view = rate <= 1.0 and not is_outside(what, rate, limits, f"{what} line")
        ends = (rate, rate)
        x, y = (ends, others) if upright else (others, ends)
        # It belongs to the trials, so that systems with as many of them share one.
        if look.style is None and "color" not in look.keywords:
            # Above the window every rate in view is of fewer errors: the margin is all of it.
            margin = min(rate, limits[1])
            rates = self._drawn.rates.setdefault(kind, set())
            if margin in rates or margin < limits[0]:
                return self.ax
            rates.add(margin)
            self._shade(axis, margin, f"fewer than 30 {error}")
            neutral = {"color": text_colour(), "linewidth": 0.8, "linestyle": "-", "alpha": 0.6}
            # The margin says what it is.
            look = Look(None, None, neutral | look.keywords)
            return self._line(kind, x, y, look) if in_view else self.ax
        return self._system_line(kind, x, y, look) if in_view else self.ax

    def _shade(self, axis: Axis, rate: float, text: str) -> None:
        """Shade rates below a limit, and write into the margin what it is."""
        ax, upright = self.ax, axis is self.ax.xaxis
        span = ax.axvspan if upright else ax.axhspan
        span(0.0, rate, facecolor=text_colour(), alpha=0.07, linewidth=0.0, zorder=0.5)
        settings: Settings = {"fontsize": letters("xx-small"), "alpha": 0.8, "clip_on": True}
        _, height = ax.transAxes.inverted().transform(ax.transData.transform((rate, rate)))
        if upright:
            settings |= {"rotation": 90, "va": "bottom", "ha": "right", "rotation_mode": "default"}
            # Along the line: below the diagonal, or from it upwards if it is too near.
            y = 0.02 if height > 0.42 else max(height, 0.0) + 0.04
            settings["transform"] = ax.get_xaxis_transform()
            written = ax.text(rate, y, f"{text} ", **settings)
        else:
            settings |= {"va": "top", "ha": "left"}
            # At the left no curve is near; below, the margin of false alarms has its text there.
            x = 0.01 if height > 0.42 else 0.3
            settings["transform"] = ax.get_yaxis_transform()
            written = ax.text(x, rate, text, zorder=1.5, **settings)
        self._margins.append((written, upright))

    def _free_margins(self) -> None:
        """Move the texts of the margins to where they cover nothing, or say it below the axis."""
        ax = self.ax
        legend = ax.get_legend()
        obstacles = [] if legend is None else [legend.get_window_extent()]
        for text, upright in self._margins:
            at = (text.get_position()[1 if upright else 0], *np.arange(0.01, 0.9, 0.04))
            for share in at:
                (text.set_y if upright else text.set_x)(share)
                box = text.get_window_extent()
                frame = ax.get_window_extent()
                inside = frame.x0 <= box.x0 and box.x1 <= frame.x1
                inside = inside and frame.y0 <= box.y0 and box.y1 <= frame.y1
                lines = [*self._drawn.lines, *self.artists.get("diagonal", ())]
                # Several Axes of a figure may still move a little.
                wide = box.padded(0.01 * frame.width)
                if inside and not box.count_overlaps(obstacles) and not covers(wide, lines):
                    obstacles.append(box)
                    break
            else:
                text.set_visible(False)
                said = f"grey: {text.get_text().strip()}"
                self._without_room.add(said)
                self._say(said)


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


@one_at_a_time
def plot_det(
    systems: Systems,
    window: str | windows.DETWindow = "auto",
    ax: Axes | None = None,
    *,
    title: str | None = None,
    prior: PriorLike | None = None,
    bands: Mapping[str, Band] | None = None,
    looks: Looks = None,
    legend: bool | str = True,
    order: str | Sequence[str] | None = None,
    highlight: str | Sequence[str] | None = None,
) -> DETPlot:
    """Draw the DET curves of several systems in one call.

    Each with its EER, the diagonal of equal error-rates, and the margins of fewer than 30 errors.

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
    prior : float or OperatingPoint, optional
        Mark the points of minimum (star) and actual cost (open star) there. Scores are taken as
        natural-log likelihood-ratios.
    bands : mapping of str to Band, optional
        Bands by the names of their systems; see `bosaris_py.uncertainty.bootstrap_bands`.
    looks, legend, order, highlight
        ``looks``: by name of a system, properties of matplotlib's lines (color, linestyle,
        linewidth, marker, markersize, alpha, zorder). ``legend``: True, False, "beside", "below",
        or "direct" for names at the curves. ``order``: "eer", "cllr", "min_cllr" (best first) or
        the names that come first; colours stay. ``highlight``: names of the systems in colour; all
        others are grey.

    Returns
    -------
    DETPlot
        A notebook shows it; more can be drawn into it.

    Warns
    -----
    PlotRangeWarning
        For what lies outside of the window.

    Notes
    -----
    Scores without an error have no curve. A square marks the highest rates that this allows with
    95 % confidence, 1 - 0.05^(1/n) for n independent trials, and a note below the plot says so.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> non = rng.normal(0, 1, 5000)
    >>> plot_det({"A": (rng.normal(2, 1, 500), non), "B": (rng.normal(3, 1, 500), non)})
    DETPlot: 7 lines, current system 'B'
    """
    chosen = Chosen.of(results_of(systems), looks, legend, order, highlight)
    judged = chosen.results
    areas = bands_of(bands, judged, "det")
    plot = DETPlot(window, title, ax)
    plot._choose(chosen)
    if plot._seen is not None:
        plot._seen += judged.values()
        plot._points += [highest_rates(r) for r in judged.values() if not r.eer]
        if prior is not None:
            plot._points += [find(r, prior) for r in judged.values() for find in (_best, _actual)]
    plot.plot_diagonal()
    for name, results in judged.items():
        plot.set_system_from_results(results, name)
        # A window that was asked for may be outside of a margin.
        with hushed(PlotRangeWarning):
            plot.plot_DR30_both()
        if name in areas:
            plot.plot_band(areas[name])
        if results.eer > 0.0:
            plot.plot_steppy_det(label=f"(EER {100.0 * results.eer:.3g} %)")
            plot.plot_eer_point()
        else:
            plot.plot_steppy_det(label="_nolegend_")
            plot._mark_separable()
        if prior is not None:
            plot.plot_mindcf_point(prior)
            plot.plot_actdcf_point(prior)
    for kind, text in (("mindcf_point", "minimum cost"), ("actdcf_point", "actual cost")):
        if kind in plot.artists:
            plot._line(kind, [], [], Look(None, text, {"color": text_colour()}))
    plot._name_others()
    plot._finish(legend=chosen.legend)
    plot._free_margins()
    return plot


def _set_ticks(axis: Axis, ticks: tuple[float, ...] | None, labels: tuple[str, ...] | None) -> None:
    axis.set_major_locator(windows.ProbitLocator(ticks or ()))
    names = dict(zip(ticks, labels, strict=True)) if ticks and labels else {}
    axis.set_major_formatter(windows.PercentFormatter(names))
