"""The normalized Bayes error-rate plot: the cost of decisions over a range of priors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from bosaris_py._arrays import Float64Array
from bosaris_py._validation import describe, invalid, warn_caller
from bosaris_py.errors import PlotRangeWarning
from bosaris_py.evaluation import Results
from bosaris_py.evaluation.curves import LARGEST_PLO, BayesCurves
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.plots.canvas import Canvas, Look, Text, check_band, is_outside, make_axes
from bosaris_py.uncertainty.bands import DCFBand

# Width and height of a new figure in inches.
_SIZE = (7.0, 5.5)

# Default limits: xmin, xmax, ymin, ymax.
AXES = (-10.0, 0.0, 0.0, 1.2)

# As many operating points between xmin and xmax as the toolkit's Norm_DCF_Plot.m.
_GRID_POINTS = 1001

# The toolkit's order of the eight flags of plot_curves, with its legend texts.
CURVES = (
    ("miss_rate_min", "min miss rate"),
    ("fa_rate_min", "min FA rate"),
    ("dcf_curve_min", "min dcf"),
    ("miss_rate_act", "act miss rate"),
    ("fa_rate_act", "act FA rate"),
    ("dcf_curve_act", "act dcf"),
    ("DR30_miss", "Miss DR30"),
    ("DR30_fa", "FA DR30"),
)


class BayesPlot(Canvas):
    r"""A plot of error-rates over the prior, normalized by what is reached without a detector.

    It shows how good decisions are that follow from the scores, and at which priors calibration
    is lost. Each `plot_*` method draws the system that was set last, and returns the Axes. Scores
    are taken as natural-log likelihood-ratios.

    Parameters
    ----------
    axes : (float, float, float, float), default: (-10, 0, 0, 1.2)
        Limits xmin, xmax, ymin, ymax. The horizontal axis is the logit of the target prior
        (costs absorbed into it), the vertical one the normalized error-rate.
    title : str, optional
        Title of the plot.
    ax : matplotlib.axes.Axes, optional
        Where to draw; its limits and labels are set. By default, in a new figure of its own,
        7 x 5.5 inches, which is not registered with pyplot.

    Attributes
    ----------
    ax : matplotlib.axes.Axes
        The one given, or the new one.
    artists : dict of str to list of Artist
        Lines (Line2D) and bands (PolyCollection) drawn so far, in order, by kind: the name of
        a method without ``plot_``, such as ``"dcf_curve_act"``.

    Raises
    ------
    InvalidInputError
        If `axes` are not four ascending pairs of numbers, the horizontal ones within
        +-700, or `ax` is not an Axes.

    See Also
    --------
    bosaris_py.DETPlot : Error-rates over all thresholds, whatever the calibration.

    Notes
    -----
    The toolkit's ``Norm_DCF_Plot.m``, with its 1001 operating points from xmin to xmax; the
    numbers are in `bosaris_py.evaluation.curves.BayesCurves`. Theory paper [1]_, section
    2.5.4 and figures 1 to 3:

    .. math:: y = \frac{\pi P_{miss}(-x) + (1-\pi) P_{fa}(-x)}{\min(\pi, 1-\pi)},
       \quad x = \mathrm{logit}\,\pi

    References
    ----------
    .. [1] N. Brummer and E. de Villiers, "The BOSARIS Toolkit: Theory, Algorithms
       and Code for Surviving the New DCF", 2011, arXiv:1304.2865.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> plot = BayesPlot((-6, 4, 0, 1.2), title="Synthetic log-likelihood-ratios")
    >>> plot.set_system(rng.normal(2, 2, 500), rng.normal(-2, 2, 5000), "system A")
    >>> axes = plot.plot_dcf_curve_act(label="act dcf")
    >>> axes = plot.plot_dcf_curve_min("k--", label="min dcf")
    >>> axes = plot.plot_DR30_both()
    >>> axes = plot.plot_operating_point(-4.6, label="prior 0.01")
    >>> axes = plot.display_legend()
    >>> plot
    BayesPlot: 5 lines, current system 'system A'
    """

    # Curves of one system share its colour; these tell them apart. Dots and dashes in points.
    _looks: ClassVar = {
        "dcf_curve_act": {"linestyle": "-", "linewidth": 1.6},
        "dcf_curve_min": {"linestyle": "--", "linewidth": 1.6},
        "miss_rate_act": {"linestyle": "-.", "linewidth": 1.2},
        "miss_rate_min": {"linestyle": (0, (3, 2, 1, 2, 1, 2)), "linewidth": 1.0},
        "fa_rate_act": {"linestyle": ":", "linewidth": 1.2},
        "fa_rate_min": {"linestyle": (0, (1, 3)), "linewidth": 1.0},
        # Triangles that point to the priors at which there are enough errors.
        "DR30_fa": {"marker": ">", "markersize": 9, "zorder": 3},
        "DR30_miss": {"marker": "<", "markersize": 9, "zorder": 3},
        "operating_point": {"color": "m", "linestyle": "--", "linewidth": 1.2},
        "default_line": {"color": "k", "linestyle": "-", "linewidth": 0.9},
    }
    _dr30_labels = ("FA DR30", "Miss DR30")

    def __init__(
        self, axes: Sequence[float] = AXES, title: Text = None, ax: Axes | None = None
    ) -> None:
        self._xlim, self._ylim = _to_limits(axes)
        self._curves_of: Results | None = None
        self._curves: BayesCurves
        super().__init__(make_axes(ax, _SIZE), title)
        self.ax.set_xlim(*self._xlim)
        self.ax.set_ylim(*self._ylim)
        self.ax.set_xlabel(r"logit $P_{tar}$")
        self.ax.set_ylabel("normalized DCF")

    @property
    def curves(self) -> BayesCurves:
        """The numbers of the current system's curves."""
        results = self._system()
        # Six curves and two marks are drawn from one computation.
        if self._curves_of is not results:
            self._curves = BayesCurves.from_results(results, np.linspace(*self._xlim, _GRID_POINTS))
            self._curves_of = results
        return self._curves

    def plot_dcf_curve_act(self, style: Text = None, label: Text = None, **keywords: Any) -> Axes:
        """Draw the normalized Bayes error-rate: that of decisions at the Bayes threshold.

        1 is what is reached without a detector; above it, decisions mislead.

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
        """
        return self._draw_curve("dcf_curve_act", self.curves.act_dcf, Look(style, label, keywords))

    def plot_dcf_curve_min(self, style: Text = None, label: Text = None, **keywords: Any) -> Axes:
        """Draw the normalized minimum error-rate: that of the best threshold for each prior.

        What the scores could reach if they were perfectly calibrated.

        Parameters
        ----------
        style, label, **keywords
            As in `plot_dcf_curve_act`; by default a dashed line.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return self._draw_curve("dcf_curve_min", self.curves.min_dcf, Look(style, label, keywords))

    def plot_miss_rate_act(self, style: Text = None, label: Text = None, **keywords: Any) -> Axes:
        """Draw the misses' part of the normalized Bayes error-rate.

        With that of the false alarms it adds up to `plot_dcf_curve_act`.

        Parameters
        ----------
        style, label, **keywords
            As in `plot_dcf_curve_act`; by default dots and dashes.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return self._draw_curve(
            "miss_rate_act", self.curves.act_miss_rate, Look(style, label, keywords)
        )

    def plot_miss_rate_min(self, style: Text = None, label: Text = None, **keywords: Any) -> Axes:
        """Draw the misses' part of the normalized minimum error-rate.

        Parameters
        ----------
        style, label, **keywords
            As in `plot_dcf_curve_act`; by default two dots and a dash.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return self._draw_curve(
            "miss_rate_min", self.curves.min_miss_rate, Look(style, label, keywords)
        )

    def plot_fa_rate_act(self, style: Text = None, label: Text = None, **keywords: Any) -> Axes:
        """Draw the false alarms' part of the normalized Bayes error-rate.

        Parameters
        ----------
        style, label, **keywords
            As in `plot_dcf_curve_act`; by default dots.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return self._draw_curve(
            "fa_rate_act", self.curves.act_fa_rate, Look(style, label, keywords)
        )

    def plot_fa_rate_min(self, style: Text = None, label: Text = None, **keywords: Any) -> Axes:
        """Draw the false alarms' part of the normalized minimum error-rate.

        Parameters
        ----------
        style, label, **keywords
            As in `plot_dcf_curve_act`; by default wide dots.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return self._draw_curve(
            "fa_rate_min", self.curves.min_fa_rate, Look(style, label, keywords)
        )

    def plot_band(self, band: DCFBand, label: Text = None, **fill_keywords: Any) -> Axes:
        """Shade a band around a curve: where the error-rate of another evaluation may lie.

        Parameters
        ----------
        band : DCFBand
            Made by `bosaris_py.uncertainty.ActDCFCurve` or `MinDCFCurve`.
        label : str, optional
            As in `plot_dcf_curve_act`.
        **fill_keywords
            Matplotlib's properties of filled areas, such as ``alpha`` or ``facecolor``.

        Returns
        -------
        matplotlib.axes.Axes

        Notes
        -----
        As `DETPlot.plot_band`, with an example there; at each prior an interval of the
        normalized error-rate. The band of a minimum is paler still, and hatched, so that
        both bands of a system can be told apart.
        """
        check_band(band, DCFBand, "ActDCFCurve")
        if band.kind == "min":
            # The bands of both curves of a system have its colour.
            fill_keywords = {"alpha": 0.1, "hatch": "////"} | fill_keywords
        return self._system_band(band, band.plo, label, fill_keywords)

    def plot_operating_point(
        self, plo: float | OperatingPoint, style: Text = None, label: Text = None, **keywords: Any
    ) -> Axes:
        """Draw a vertical line at an operating point. No system is needed.

        Parameters
        ----------
        plo : float or OperatingPoint
            Prior log-odds (not the prior itself: see `bosaris_py.logit`), or an operating
            point.
        style : str, optional
            Matplotlib's short format string. By default magenta dashes.
        label : str, optional
            Legend entry, without the name of a system. By default there is none.
        **keywords
            Matplotlib's line properties.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InvalidInputError
            If `plo` is not a number or `style` is not a format string.

        Warns
        -----
        PlotRangeWarning
            If it lies outside of the horizontal axis; it is not drawn.
        """
        x = _to_plo(plo)
        if is_outside("Operating point", x, self._xlim, "The line"):
            return self.ax
        return self._line("operating_point", [x, x], self._ylim, Look(style, label, keywords))

    def plot_default_line(self, style: Text = None, label: Text = None, **keywords: Any) -> Axes:
        """Draw the horizontal line at 1: what is reached without a detector.

        Parameters
        ----------
        style, label, **keywords
            As in `plot_operating_point`; by default a thin black line.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return self._line("default_line", self._xlim, [1.0, 1.0], Look(style, label, keywords))

    def plot_curves(
        self, mask: npt.ArrayLike, styles: Sequence[str | dict[str, Any] | None] | None = None
    ) -> Axes:
        """Draw any of the six curves and the two points at once, with legend entries.

        Parameters
        ----------
        mask : (8,) array_like of bool or of 0 and 1
            Which ones: min miss rate, min FA rate, min dcf, act miss rate, act FA rate, act
            dcf, Miss DR30, FA DR30. These words are the legend entries.
        styles : sequence of str, dict or None, optional
            For each one that is drawn a format string, a dict of matplotlib's line
            properties, or None for the default.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InvalidInputError
            If no system is set, `mask` is not eight flags, or there is not one style for each
            flag that is set.
        """
        flags = np.asarray(mask)
        if flags.shape != (len(CURVES),) or not np.isin(flags, (0, 1)).all():
            expected = f"be {len(CURVES)} flags, each True or False"
            raise invalid("mask", expected, describe(mask))
        chosen = [CURVES[index] for index in np.flatnonzero(flags)]
        listed: object = [None] * len(chosen) if styles is None else styles
        if not isinstance(listed, list | tuple) or len(listed) != len(chosen):
            expected = f"hold one style for each of the {len(chosen)} flags that are set"
            raise invalid("styles", expected, describe(styles))
        for (kind, label), style in zip(chosen, listed, strict=True):
            keywords = style if isinstance(style, dict) else {"style": style}
            getattr(self, f"plot_{kind}")(label=label, **keywords)
        return self.ax

    def _draw_curve(self, kind: str, rates: Float64Array, look: Look) -> Axes:
        return self._system_line(kind, self.curves.plo, rates, look)

    def _plot_curve(self, label: str = "", **keywords: Any) -> Axes:
        return self.plot_dcf_curve_act(label=label, **keywords)

    def _mark_30_errors(self, kind: str, look: Look) -> Axes:
        """Mark where errors become fewer than 30 on the minimum curve, if that is in view."""
        curves = self.curves
        # Errors of a kind that are no fewer than 30 up to the end of the axis where they are
        # fewest have their mark somewhere beyond it.
        if kind == "DR30_fa":
            index, end, error = curves.dr30_fa_index, 0, "false alarms"
        else:
            index, end, error = curves.dr30_miss_index, curves.plo.size - 1, "misses"
        if index is None or index == end:
            everywhere = "fewer" if index is None else "no fewer"
            xmin, xmax = self._xlim
            message = (
                f"At all operating points between {xmin:g} and {xmax:g} there are {everywhere} "
                f"than 30 {error}. The DR30 point will not be plotted."
            )
            warn_caller(message, PlotRangeWarning)
            return self.ax
        return self._system_line(kind, curves.plo[index], curves.min_dcf[index], look)


def _to_limits(axes: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    expected = "be four numbers: xmin < xmax, ymin < ymax"
    try:
        xmin, xmax, ymin, ymax = (float(value) for value in axes)
    except (TypeError, ValueError):
        hint = "To draw on an Axes of yours write ax=..." if isinstance(axes, Axes) else ""
        raise invalid("axes", expected, describe(axes), hint) from None
    if not (-LARGEST_PLO <= xmin < xmax <= LARGEST_PLO and -np.inf < ymin < ymax < np.inf):
        hint = f"xmin and xmax must lie within +-{LARGEST_PLO:g}."
        raise invalid("axes", expected, describe(axes), hint)
    return (xmin, xmax), (ymin, ymax)


def _to_plo(value: Any) -> float:
    if isinstance(value, OperatingPoint):
        return value.plo
    try:
        plo = float(value)
    except (TypeError, ValueError):
        plo = math.nan
    if math.isnan(plo):
        raise invalid("plo", "be prior log-odds or an OperatingPoint", describe(value))
    return plo
