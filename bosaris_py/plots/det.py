"""The DET plot: miss rate over false-alarm rate, both on probit scales, in a window."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

import attrs
import numpy as np
import scipy
from matplotlib import ticker
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.transforms import Bbox

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike, BoolArray, FloatArray
from bosaris_py.evaluation import Results
from bosaris_py.metrics.curves import hull_points, smallest_measurable_rate, steppy_points
from bosaris_py.numerics.priors import DecisionCosts, PriorLike
from bosaris_py.plots import base, looks as styles
from bosaris_py.plots.base import PLAIN, ErrorRatePlot
from bosaris_py.plots.looks import Legend, Looks, Names, Pen, Systems, Text
from bosaris_py.uncertainty.bands import Band

Limits = tuple[float, float]
# A false-alarm rate and a miss rate.
Point = tuple[float, float]

# Width and height of a new figure in inches: with its labels the window is almost square.
_SIZE = (6.0, 6.0)

# Marks by the words of `marks`: kinds of points, and what the legend says.
_MARKS = {
    "eer": ("eer_point", "EER"),
    "dr30": ("dr30", "30 errors"),
    "min": ("mindcf_point", "minimum cost"),
    "act": ("actdcf_point", "actual cost"),
}


# ---- Windows


def _numbers(values: ArrayLike | None) -> tuple[float, ...]:
    return tuple(check.as_vector(() if values is None else values, "window").tolist())


def _texts(labels: Iterable[str] | None) -> tuple[str, ...]:
    return tuple(map(str, check.listed(labels, "xticklabels and yticklabels")))


@attrs.frozen
class DETWindow:
    """The part of the plane that a DET plot shows.

    Parameters
    ----------
    pfa_limits, pmiss_limits : (float, float)
        Lowest and highest false-alarm rate and miss rate shown, strictly between 0 and 1.
    xticks, yticks : sequence of float, optional
        Where the ticks of the false-alarm axis and of the miss axis are: ascending
        probabilities. By default at round numbers.
    xticklabels, yticklabels : sequence of str, optional
        Their labels, one for each tick. By default the ticks in per cent.

    Notes
    -----
    Names and order as in the toolkit's ``make_plot_window_from_values.m``.

    Examples
    --------
    >>> DETWindow((0.01, 0.4), (0.01, 0.4), xticks=[0.01, 0.1, 0.4]).xticks
    (0.01, 0.1, 0.4)
    """

    pfa_limits: Limits = attrs.field(converter=_numbers)
    pmiss_limits: Limits = attrs.field(converter=_numbers)
    xticks: tuple[float, ...] = attrs.field(default=None, converter=_numbers)
    xticklabels: tuple[str, ...] = attrs.field(default=None, converter=_texts)
    yticks: tuple[float, ...] = attrs.field(default=None, converter=_numbers)
    yticklabels: tuple[str, ...] = attrs.field(default=None, converter=_texts)

    def __attrs_post_init__(self) -> None:
        """Check rates and their number: on a probit scale, 0 and 1 are infinitely far away."""
        for name, rates, count in (
            ("pfa_limits", self.pfa_limits, 2),
            ("pmiss_limits", self.pmiss_limits, 2),
            ("xticks", self.xticks, len(self.xticklabels) or len(self.xticks)),
            ("yticks", self.yticks, len(self.yticklabels) or len(self.yticks)),
        ):
            inside = all(0.0 < rate < 1.0 for rate in rates)
            if not inside or len(rates) != count or [*rates] != sorted({*rates}):
                percent = any(1.0 < rate <= 100.0 for rate in rates)
                hint = "Percentages must be divided by 100." if percent else ""
                expected = f"be {count} ascending probabilities within (0, 1)"
                raise check.invalid(name, expected, check.describe(rates), hint)


# Ticks of the toolkit's windows, in Det_Plot.m; labels only where they are not the plain per cent.
_OLD = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4)

_BIG = (5e-6, 5e-5, 5e-4, 0.005, 0.025, 0.1, 0.25, 0.5, 0.72, 0.88, 0.96, 0.99)

_BIG_LABELS = ("5e-4", "5e-3", "0.05", "0.5", "2.5", "10", "25", "50", "72", "88", "96", "99")

WINDOWS: Mapping[str, DETWindow] = MappingProxyType(
    {
        "new": DETWindow(
            (5e-6, 5e-3),
            (0.01, 0.99),
            xticks=(1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3),
            xticklabels=("1e-3", "2e-3", "5e-3", "0.01", "0.02", "0.05", "0.1", "0.2"),
            yticks=(0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98),
        ),
        "old": DETWindow((5e-4, 0.5), (5e-4, 0.5), xticks=_OLD, yticks=_OLD),
        # As in the toolkit, without the first tick along the false alarms.
        "big": DETWindow((5e-6, 0.99), (5e-6, 0.99), _BIG[1:], _BIG_LABELS[1:], _BIG, _BIG_LABELS),
        "sre10": DETWindow(
            (3e-6, 0.5),
            (3e-4, 0.9),
            xticks=(1e-5, 1e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4),
            yticks=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8),
        ),
    }
)

"""The four windows of the MATLAB toolkit: ``old`` for NIST evaluations up to 2008 and for
error-rates of some per cent, ``new`` for very low false-alarm rates (SRE 2010), ``sre10`` between
both, and ``big`` for almost everything."""


def find_window(window: str | DETWindow) -> DETWindow:
    """Return the ready-made window of a name: new, old, big or sre10; a `DETWindow` as it is."""
    if isinstance(window, DETWindow):
        return window
    if window not in [*WINDOWS]:
        known = ", ".join(f"'{name}'" for name in WINDOWS)
        raise check.invalid(
            "window", f"be one of {known}, 'auto', or a DETWindow", check.describe(window)
        )
    return WINDOWS[window]


def window_around(systems: Iterable[Results], points: Iterable[Point] = ()) -> DETWindow:
    """Return a window that shows where the curves of systems can be measured, and some points.

    From a third of the error-rate that shows 30 errors up to where the last curve gets there. Both
    axes have the same limits, so that a slope of -1 means equal variances.
    """
    judged = list(systems)
    eers = [results.eer for results in judged]
    highest = 0.5 if max(eers) < 0.25 else 0.99
    # Of separable scores there is no curve, and any window will do.
    best = min((eer for eer in eers if eer > 0.0), default=0.1)
    sizes = [results.n_non for results in judged], [results.n_tar for results in judged]
    pfa, pmiss = (min(smallest_measurable_rate(max(n)) / 3.0, best / 3.0, 0.1) for n in sizes)
    # Where curves enter at the top and leave at the bottom, and the same for the sides.
    right, top = 3.0 * max(*eers, pfa), 3.0 * max(*eers, pmiss)
    right = min(max(right, *(x.roc.threshold_at(pmiss=pmiss).pfa for x in judged)), highest)
    top = min(max(top, *(x.roc.threshold_at(pfa=pfa).pmiss for x in judged)), highest)
    # No curve is to the left of where the best one enters.
    left = min(x.roc.threshold_at(pmiss=top).pfa for x in judged)
    bottom = min(x.roc.threshold_at(pfa=right).pmiss for x in judged)
    low = min(max(pfa, min(left, best / 3.0)), max(pmiss, min(bottom, best / 3.0)))
    # Rates of 0 and 1 are in no window.
    shown = [rates for rates in points if 0.0 < min(rates) <= max(rates) < 0.98]
    low = min(low, *map(min, shown)) if shown else low
    # A mark has some room of its own.
    high = max(right, top, *(1.3 * rate / (1.0 + 0.3 * rate) for rate in map(max, shown)))
    # The next lower rate of 1, 2, 5, 10, ...
    decade = 10.0 ** math.floor(math.log10(0.98 * low))
    digit = max(digit for digit in (0.9, 1.0, 2.0, 5.0) if digit * decade <= 0.98 * low)
    return DETWindow((digit * decade, high), (digit * decade, high))


# ---- The probit scale

# Where probabilities of 0 and 1 are drawn, and such as 1e-16: outside of any window, so that lines
# to them leave through the edge, yet finite.
_PAST_THE_EDGE = 8.2

# Fewer ticks do not show the scale, more of them touch.
_FEWEST_TICKS, _MOST_TICKS = 3, 10

_DECADES = 10.0 ** -np.arange(1, 10)


def _to_deviates(rates: ArrayLike) -> FloatArray:
    """Map probabilities to standard normal deviates; 0 and 1, and beyond, to finite ends."""
    probabilities = np.clip(np.asarray(rates, dtype=np.float64), 0.0, 1.0)
    return np.clip(scipy.special.ndtri(probabilities), -_PAST_THE_EDGE, _PAST_THE_EDGE)


def _to_rates(deviates: ArrayLike) -> FloatArray:
    return np.asarray(scipy.special.ndtr(np.asarray(deviates, dtype=np.float64)))


class ProbitLocator(ticker.Locator):
    """Ticks at given probabilities, or at round ones if fewer than three of them are in view.

    Parameters
    ----------
    ticks : sequence of float, default: ()
        Preferred ticks, ascending.
    """

    def __init__(self, ticks: Sequence[float] = ()) -> None:
        self.ticks = np.array(ticks, dtype=np.float64)

    def __call__(self) -> list[float]:
        """Return the ticks for the current view, those left out whose labels would touch."""
        axis: Axis = self.axis  # type: ignore[assignment]
        low, high = sorted(axis.get_view_interval())
        ticks, side = self.tick_values(low, high), int(axis is axis.axes.yaxis)
        points = float(axis.get_major_ticks(1)[0].label1.get_fontsize())
        first, *places, last = _to_deviates([low, *ticks, high])
        scale = 72.0 * axis.axes.bbox.size[side] / axis.axes.figure.dpi / (last - first)
        # Digits are 0.64 of their size wide and 0.73 high, a point is half a digit; the windows of
        # the toolkit have ticks that nearly touch.
        texts = axis.get_major_formatter().format_ticks(ticks)
        sizes = [(0.64 * (len(text) - 0.5 * ("." in text)), 0.73)[side] for text in texts]
        room = points * (np.array(sizes) + (0.24 if self.ticks.size else 0.5)) / (2.0 * scale)
        kept: list[int] = []
        # The first to stay are 1, 10 and 50 %, then 0.5 and 5 %, then 2 %.
        digits = [f"{min(tick, 1.0 - tick):.1e}"[:3] for tick in ticks]
        for i in sorted(
            range(len(ticks)), key=lambda i: ["1.0", "5.0", "2.0", digits[i]].index(digits[i])
        ):
            if all(abs(places[i] - places[j]) >= room[i] + room[j] for j in kept):
                kept.append(i)
        return [ticks[i] for i in sorted(kept)]

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        """Return the ticks for a view from `vmin` to `vmax`."""
        if _between(self.ticks, vmin, vmax).size >= min(_FEWEST_TICKS, self.ticks.size) > 0:
            return [*self.ticks.tolist()]
        # Round probabilities p and 1 - p, the more of them the shorter the view is.
        for digits in (np.arange(1.0, 10.0), [1.0, 2.0, 5.0], [1.0]):
            small = np.outer(_DECADES, digits).ravel()
            small = small[small < 0.5]
            ticks = _between(np.sort(np.concatenate((small, [0.5], 1.0 - small))), vmin, vmax)
            if ticks.size <= _MOST_TICKS:
                break
        # A view so short that the scale is almost linear in it.
        if ticks.size < _FEWEST_TICKS:
            ticks = _between(np.asarray(ticker.MaxNLocator(5).tick_values(vmin, vmax)), vmin, vmax)
        return [*ticks.tolist()]


def _between(ticks: FloatArray, low: float, high: float) -> FloatArray:
    # Limits come back from matplotlib through the transform and its inverse.
    margin = 1e-9 * (high - low)
    return ticks[(ticks >= low - margin) & (ticks <= high + margin)]


class PercentFormatter(ticker.Formatter):
    """Labels in per cent, without the sign.

    Parameters
    ----------
    ticks, labels : sequence of float and of str
        Labels of certain ticks, to be written in another way than ``0.0005`` or ``12.5``.
    """

    def __init__(self, ticks: Sequence[float], labels: Sequence[str]) -> None:
        self.labels = dict(zip(ticks, labels, strict=False))

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of a tick at probability `x`."""
        plain = np.format_float_positional(100.0 * x, precision=10, trim="-")
        return self.labels.get(float(x), plain)


# ---- The plot


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
        self, window: str | DETWindow = "old", title: Text = None, ax: Axes | None = None
    ) -> None:
        self._fits = str(window) == "auto"
        shown = find_window("old" if self._fits else window)
        labels = "False alarm probability (in %)", "Miss probability (in %)"
        super().__init__(ax, _SIZE, title, *labels)
        self._seen: list[Results] = []
        # Scales first: setting a scale sets locators, formatters and limits anew.
        self.ax.set_xscale("function", functions=(_to_deviates, _to_rates))
        self.ax.set_yscale("function", functions=(_to_deviates, _to_rates))
        self._show(shown)
        # Equal lengths on both axes: where their limits are equal, the curve of equal variances
        # falls at 45 degrees.
        self.ax.set_box_aspect(1.0)
        # Some windows of the toolkit have ticks so close that larger labels would touch.
        self.ax.tick_params(labelsize=styles.letters("small"))

    def _set_system(self, results: Results, name: str = "") -> None:
        super()._set_system(results, name)
        if self._fits:
            self._seen.append(results)
            self._show(window_around(self._seen))

    def _show(self, window: DETWindow) -> None:
        """Set limits and ticks."""
        self.window = window
        self.ax.set_xlim(*window.pfa_limits)
        self.ax.set_ylim(*window.pmiss_limits)
        self.ax.xaxis.set_major_locator(ProbitLocator(window.xticks))
        self.ax.yaxis.set_major_locator(ProbitLocator(window.yticks))
        self.ax.xaxis.set_major_formatter(PercentFormatter(window.xticks, window.xticklabels))
        self.ax.yaxis.set_major_formatter(PercentFormatter(window.yticks, window.yticklabels))

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
        errors.warn(self._curve(Pen(style, label, look)))
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
        errors.warn(self._out_of_view())
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
        return self._band(band.x, (band.low, band.high), met, label, **look)

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
        errors.warn(self._point("mindcf_point", _best(self._system(), prior), pen))
        return self.ax

    def _curve(self, pen: Pen) -> list[errors.Note]:
        window = self.window
        points = steppy_points(self._system().roc, window.pfa_limits, window.pmiss_limits)
        self._line("steppy_det", *points, pen)
        return self._out_of_view()

    def _out_of_view(self) -> list[errors.Note]:
        """Say if no stroke of the last line crosses the window."""
        path = self.ax.lines[-1].get_path().transformed(self.ax.transScale + self.ax.transLimits)
        if path.intersects_bbox(Bbox.unit(), filled=False):
            return []
        (left, right), (bottom, top) = self.window.pfa_limits, self.window.pmiss_limits
        text = (
            f"The whole curve{f' of {self._name}' if self._name else ''} lies outside of the "
            f"window (pfa {left:g} to {right:g}, pmiss {bottom:g} to {top:g})."
        )
        return [errors.Note(errors.BosarisWarning, text)]

    def _point(self, kind: str, rates: Point, pen: Pen = PLAIN) -> list[errors.Note]:
        """Draw a point, or say that it is not in view."""
        artist, window = f"The {kind.replace('eer', 'EER').replace('_', ' ')}", self.window
        notes = base.outside("pfa", rates[0], window.pfa_limits, artist)
        notes = notes or base.outside("pmiss", rates[1], window.pmiss_limits, artist)
        if not notes:
            self._line(kind, *rates, pen)
        return notes

    def _mark_30_errors(self, kind: str, pen: Pen) -> list[errors.Note]:
        """Mark the error-rate that 30 errors of the class's trials make, across the window."""
        results, window = self._system(), self.window
        if kind == "DR30_fa":
            what, rate, limits = "Pfa", smallest_measurable_rate(results.n_non), window.pfa_limits
            line = (rate, rate), window.pmiss_limits
        else:
            what, rate, limits = (
                "Pmiss",
                smallest_measurable_rate(results.n_tar),
                window.pmiss_limits,
            )
            line = window.pfa_limits, (rate, rate)
        notes = base.outside(f"{what} DR30", rate, limits, f"{what} DR30 line")
        if not notes:
            self._line(kind, *line, pen)
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
        if len(spots) < 2:
            self._say("fewer than 30 trials of a class, so that no rate rests on 30 errors")


def enough(value: FloatArray, low: FloatArray, high: FloatArray, n_trials: int) -> BoolArray:
    """Tell where a band of rates has three errors and three hits, and its replicates have some."""
    met: BoolArray = (n_trials * np.minimum(value, 1.0 - value) >= 3.0) & (low > 0) & (high < 1)
    return met


def _best(results: Results, prior: PriorLike) -> Point:
    """Return the false-alarm rate and the miss rate of the least cost."""
    best = results.min_dcf_threshold(prior)
    return best.pfa, best.pmiss


def _actual(results: Results, prior: PriorLike) -> Point:
    """Return the false-alarm rate and the miss rate at the Bayes threshold."""
    (threshold,) = np.ravel(DecisionCosts.from_prior(prior).thresholds)
    pmiss, pfa = results.error_rates_at(threshold)
    return pfa, pmiss


@base.door
def plot_det(
    systems: Systems,
    window: str | DETWindow = "auto",
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
    marks = check.listed(marks, "marks")
    if not all(mark in _MARKS for mark in marks):
        raise check.invalid(
            "marks", f"be some of {', '.join(map(repr, _MARKS))}", check.describe(marks)
        )
    finders = {"min": _best, "act": _actual}
    asked, point = [mark for mark in finders if mark in marks], 0.5 if prior is None else prior
    if asked and prior is None:
        raise check.invalid("prior", f"be given for the mark {asked[0]!r}", "None")
    costs = {
        name: [(_MARKS[mark][0], finders[mark](results, point)) for mark in asked]
        for name, results in chosen.results.items()
    }
    if str(window) == "auto":
        spots = [spot for points in costs.values() for _, spot in points]
        window = window_around(chosen.results.values(), spots)
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
        for kind, spot in costs[name]:
            plot.notes += plot._point(kind, spot)
    for kind, text in _MARKS.values():
        if kind in plot.artists:
            plot._key(kind, text)
    return plot._finish(legend)
