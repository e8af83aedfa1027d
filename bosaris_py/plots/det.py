"""The DET plot: miss rate over false-alarm rate, both on probit scales."""

from __future__ import annotations

from typing import Any, ClassVar

from matplotlib.axes import Axes
from matplotlib.axis import Axis

from bosaris_py._arrays import Float64Array
from bosaris_py._validation import warn_caller
from bosaris_py.errors import PlotRangeWarning
from bosaris_py.evaluation.curves import hull_points, smallest_measurable_rate, steppy_points
from bosaris_py.numerics.priors import PriorLike
from bosaris_py.plots.canvas import Canvas, Look, Text, check_band, is_outside, make_axes
from bosaris_py.plots.probit_scale import PercentFormatter, ProbitLocator, ProbitScale
from bosaris_py.plots.windows import DETWindow, find_window
from bosaris_py.uncertainty.bands import DETBand

# Width and height of a new figure in inches: with its labels the window is almost square.
_SIZE = (6.0, 6.0)


class DETPlot(Canvas):
    """A plot of detection error trade-off curves.

    Each `plot_*` method draws the system that was set last, and returns the Axes. Its data are
    probabilities, so more can be drawn into it with matplotlib's own methods.

    Parameters
    ----------
    window : str or DETWindow, default: "old"
        What part of the plane to show: "new", "old", "big" or "sre10" as in the toolkit,
        or a `DETWindow`.
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

    Raises
    ------
    InvalidInputError
        If there is no window of that name, or `ax` is not an Axes.

    See Also
    --------
    bosaris_py.BayesPlot : The effect of calibration too, over a range of priors.

    Notes
    -----
    The toolkit's ``Det_Plot.m``. Theory paper [1]_, section 2.6 and figure 4. DET plots [2]_ are
    square, so several in one figure fit best with ``Figure(layout="compressed")``.

    References
    ----------
    .. [1] N. Brummer and E. de Villiers, "The BOSARIS Toolkit: Theory, Algorithms
       and Code for Surviving the New DCF", 2011, arXiv:1304.2865.
    .. [2] A. Martin, G. Doddington, T. Kamm, M. Ordowski and M. Przybocki, "The DET
       curve in assessment of detection task performance", Eurospeech 1997.

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
        "DR30_fa": {"linestyle": "-.", "linewidth": 1.0},
        "DR30_miss": {"linestyle": ":", "linewidth": 1.4},
    }
    _dr30_labels = ("pfa DR30", "pmiss DR30")

    def __init__(
        self, window: str | DETWindow = "old", title: Text = None, ax: Axes | None = None
    ) -> None:
        self.window = window = find_window(window)
        ax = make_axes(ax, _SIZE)
        super().__init__(ax, title)
        # Scales first: setting a scale sets locators, formatters and limits anew.
        ax.set_xscale(ProbitScale())
        ax.set_yscale(ProbitScale())
        ax.set_xlim(*window.pfa_limits)
        ax.set_ylim(*window.pmiss_limits)
        _set_ticks(ax.xaxis, window.xticks, window.xticklabels)
        _set_ticks(ax.yaxis, window.yticks, window.yticklabels)
        ax.set_xlabel("False Alarm probability (in %)")
        ax.set_ylabel("Miss probability (in %)")
        # Equal lengths on both axes: the curve of equal variances falls at 45 degrees.
        ax.set_box_aspect(1.0)
        # Some windows of the toolkit have ticks so close that larger labels would touch.
        ax.tick_params(labelsize="small")

    def plot_steppy_det(self, style: Text = None, label: Text = None, **keywords: Any) -> Axes:
        """Draw the DET curve as it is: one step for each target or group of equal scores.

        Parameters
        ----------
        style : str, optional
            Matplotlib's short format string, such as ``"r--"``. By default a solid line in
            the colour of the system.
        label : str, optional
            Legend entry, which the name of the system precedes; "" gives the name alone.
            By default there is none.
        **keywords
            Matplotlib's line properties.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InvalidInputError
            If no system is set or `style` is not a format string.

        Warns
        -----
        PlotRangeWarning
            If the whole curve lies outside of the window.

        Notes
        -----
        A group of equal scores of both classes is one slanted stroke, because neither ranks
        higher. (The toolkit draws it as if its targets were rejected first.) Curves of many
        vertices are drawn from a subset of them that looks the same, see
        `bosaris_py.evaluation.steppy_points`. Error-rates of 0 and 1 lie past the edge.
        """
        window = self.window
        points = steppy_points(self._system().roc, window.pfa_limits, window.pmiss_limits)
        return self._det_curve("steppy_det", points, Look(style, label, keywords))

    def plot_rocch_det(self, style: Text = None, label: Text = None, **keywords: Any) -> Axes:
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

    def plot_band(self, band: DETBand, label: Text = None, **fill_keywords: Any) -> Axes:
        """Shade a band around the DET curve: where the miss rate of another evaluation may lie.

        Parameters
        ----------
        band : DETBand
            Made by `bosaris_py.uncertainty.DETCurve`.
        label : str, optional
            As in `plot_steppy_det`.
        **fill_keywords
            Matplotlib's properties of filled areas, such as ``alpha`` or ``facecolor``.

        Returns
        -------
        matplotlib.axes.Axes

        Notes
        -----
        Pale and in the colour of the system that was set last, below all lines. It is
        read vertically: at each false-alarm rate, an interval of the miss rate.

        Examples
        --------
        >>> import numpy as np
        >>> from bosaris_py import uncertainty as unc
        >>> rng = np.random.default_rng(0)
        >>> tar, non = rng.normal(3, 1, 500), rng.normal(0, 1, 5000)
        >>> curve = unc.DETCurve()
        >>> band = curve.band(unc.bootstrap(tar, non, curve, replications=200, rng=1))
        >>> plot = DETPlot("old")
        >>> plot.set_system(tar, non, "system A")
        >>> axes = plot.plot_band(band, label="95 %")
        >>> axes = plot.plot_steppy_det(label="DET")
        >>> plot
        DETPlot: 1 lines, 1 band, current system 'system A'
        """
        check_band(band, DETBand, "DETCurve")
        return self._system_band(band, band.pfa, label, fill_keywords)

    def plot_mindcf_point(
        self, prior: PriorLike, style: Text = None, label: Text = None, **keywords: Any
    ) -> Axes:
        """Mark the operating point of minimum DCF.

        Parameters
        ----------
        prior : float or OperatingPoint
            Target probability (unit costs) or operating point.
        style, label, **keywords
            As in `plot_steppy_det`; by default a star.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InvalidInputError
            If `prior` is not in (0, 1) or more than one, or as in `plot_steppy_det`.

        Warns
        -----
        PlotRangeWarning
            If the point lies outside the window, as it does where an error-rate is 0.

        Notes
        -----
        The numbers are those of `Results.min_dcf_threshold`.
        """
        best, window = self._system().min_dcf_threshold(prior), self.window
        artist = "The mindcf point"
        if is_outside("pfa", best.pfa, window.pfa_limits, artist) or is_outside(
            "pmiss", best.pmiss, window.pmiss_limits, artist
        ):
            return self.ax
        return self._system_line("mindcf_point", best.pfa, best.pmiss, Look(style, label, keywords))

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
        """Draw a line at the error-rate that 30 errors of the class's trials make."""
        results, window = self._system(), self.window
        if kind == "DR30_fa":
            what, n_trials, limits = "Pfa DR30", results.n_non, window.pfa_limits
        else:
            what, n_trials, limits = "Pmiss DR30", results.n_tar, window.pmiss_limits
        rate = smallest_measurable_rate(n_trials)
        if is_outside(what, rate, limits, f"{what} line"):
            return self.ax
        ends = (rate, rate)
        x, y = (ends, window.pmiss_limits) if kind == "DR30_fa" else (window.pfa_limits, ends)
        return self._system_line(kind, x, y, look)


def _set_ticks(axis: Axis, ticks: tuple[float, ...] | None, labels: tuple[str, ...] | None) -> None:
    axis.set_major_locator(ProbitLocator(ticks or ()))
    names = dict(zip(ticks, labels, strict=True)) if ticks and labels else {}
    axis.set_major_formatter(PercentFormatter(names))
