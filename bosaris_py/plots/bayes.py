"""The cost of decisions over a range of priors: of targets, normalized, and of spoofs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from bosaris_py._arrays import Float64Array
from bosaris_py._notes import cautions, hushed, warn_caller
from bosaris_py._validation import NO_SET, describe, invalid
from bosaris_py.errors import PlotRangeWarning
from bosaris_py.evaluation.curves import LARGEST_PLO, BayesCurves
from bosaris_py.evaluation.results import Results
from bosaris_py.metrics.tandem import Lists
from bosaris_py.metrics.third_class import ADCF, ActADCF, sample_of_three
from bosaris_py.numerics.priors import OperatingPoint, PriorLike, SpoofCosts, SpoofCostsLike, logit
from bosaris_py.plots import looks as styles
from bosaris_py.plots.canvas import Canvas, Look, Sheet, check_band, is_outside
from bosaris_py.plots.display import Plot, Text
from bosaris_py.plots.shown_systems import (
    Chosen,
    Looks,
    Systems,
    bands_of,
    log_odds,
    per_cent,
    results_of,
)
from bosaris_py.uncertainty.bands import Band

# Width and height of a new figure in inches.
_SIZE = (7.0, 5.5)

# Default limits: xmin, xmax, ymin, ymax.
AXES = (-10.0, 0.0, 0.0, 1.2)

# Where curves are looked at to choose limits, and the limits where trials are too few to say.
_WIDEST, _NARROWEST = 14.0, 4.0
_HIGHEST = 1.4

# Priors with a tick above the axis, and those given up last.
_SHARES = np.outer(10.0 ** np.arange(-9.0, 0.0), [1.0, 2.0, 5.0]).ravel()[:-1]
_PRIORS = np.concatenate((_SHARES, [0.5], 1.0 - _SHARES[::-1]))
_TEXTS = np.array([f"{100.0 * prior:.8g}" for prior in _PRIORS])
_RANKS = np.array([styles.rank_of(prior) for prior in _PRIORS])

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


def _curve(kind: str, what: str, default: str) -> Callable[..., Axes]:
    """Make a method that draws a curve."""

    def method(self: BayesPlot, style: Text = None, label: Text = None, **keywords: object) -> Axes:
        return self._draw_curve(kind, Look(style, label, keywords))

    method.__name__, method.__qualname__ = f"plot_{kind}", f"BayesPlot.plot_{kind}"
    method.__doc__ = f"""Draw the {what}.

        Parameters
        ----------
        style, label, **keywords
            As in `plot_dcf_curve_act`; by default {default}.

        Returns
        -------
        matplotlib.axes.Axes
        """
    return method


class BayesPlot(Canvas):
    r"""A plot of error-rates over the prior, normalized by what is reached without a detector.

    Each `plot_*` method draws the system that was set last, and returns the Axes. Scores are taken
    as natural-log likelihood-ratios.

    Parameters
    ----------
    axes : (float, float, float, float), default: (-10, 0, 0, 1.2)
        Limits xmin, xmax, ymin, ymax, of the logit of the effective prior and of the normalized
        error-rate. On the Axes of an earlier Bayes plot, that one's limits stay.
    title : str, optional
        Title of the plot.
    ax : matplotlib.axes.Axes, optional
        Where to draw; its limits and labels are set. By default, in a new figure of its own,
        7 x 5.5 inches, which is not registered with pyplot.

    Attributes
    ----------
    ax, artists
        As for `DETPlot`.

    See Also
    --------
    bosaris_py.DETPlot : Error-rates over all thresholds, whatever the calibration.

    Notes
    -----
    The toolkit's ``Norm_DCF_Plot.m``, with its 1001 operating points from xmin to xmax. Theory
    paper (arXiv:1304.2865), section 2.5.4 and figures 1 to 3:

    .. math:: y = \frac{\pi P_{miss}(-x) + (1-\pi) P_{fa}(-x)}{\min(\pi, 1-\pi)},
       \quad x = \mathrm{logit}\,\pi

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> plot = BayesPlot((-6, 4, 0, 1.2), title="Synthetic log-likelihood-ratios")
    >>> plot.set_system(rng.normal(2, 2, 500), rng.normal(-2, 2, 5000), "system A")
    >>> axes = plot.plot_dcf_curve_act(label="act dcf")
    >>> axes = plot.plot_dcf_curve_min("k--", label="min dcf")
    >>> axes = plot.plot_DR30_both()
    >>> axes = plot.plot_operating_point(prior=0.01, label="prior 0.01")
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
        "default_line": {"linestyle": "-", "linewidth": 0.9},
    }
    _curves_of_systems = ("dcf_curve_act", "dcf_curve_min")
    _dr30_labels = ("FA DR30", "Miss DR30")

    def __init__(
        self, axes: Sequence[float] = AXES, title: Text = None, ax: Axes | None = None
    ) -> None:
        self._xlim, self._ylim = _to_limits(axes)
        self._curves_of: Results | None = None
        self._curves: BayesCurves
        # Where errors are fewer than 30, curves are pale.
        self._fades = False
        super().__init__(styles.make_axes(ax, _SIZE), title)
        limits = self._drawn.limits
        if "bayes" not in limits:
            add_priors(self.ax)
            # Quarters have long labels, which touch on a narrow plot.
            self.ax.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10]))
        self._xlim, self._ylim = limits.setdefault("bayes", (self._xlim, self._ylim))
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

    def plot_dcf_curve_act(
        self, style: Text = None, label: Text = None, **keywords: object
    ) -> Axes:
        """Draw the normalized Bayes error-rate: that of decisions at the Bayes threshold.

        1 is what is reached without a detector; above it, decisions mislead.

        Parameters
        ----------
        style, label, **keywords
            As in `DETPlot.plot_steppy_det`.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return self._draw_curve("dcf_curve_act", Look(style, label, keywords))

    plot_dcf_curve_min = _curve(
        "dcf_curve_min", "minimum error-rate: at the best threshold for each prior", "a dashed line"
    )
    plot_miss_rate_act = _curve(
        "miss_rate_act", "misses' part of the normalized Bayes error-rate", "dots and dashes"
    )
    plot_miss_rate_min = _curve(
        "miss_rate_min", "misses' part of the minimum error-rate", "two dots and a dash"
    )
    plot_fa_rate_act = _curve(
        "fa_rate_act", "false alarms' part of the normalized Bayes error-rate", "dots"
    )
    plot_fa_rate_min = _curve(
        "fa_rate_min", "false alarms' part of the minimum error-rate", "wide dots"
    )

    def plot_band(self, band: Band, label: Text = None, **fill_keywords: object) -> Axes:
        """Shade a band around a curve: where the true error-rate may lie.

        Parameters
        ----------
        band : Band
            Made by `bosaris_py.uncertainty.bootstrap_bands` of ``kind="bayes"``.
        label, **fill_keywords
            As in `DETPlot.plot_band`.

        Returns
        -------
        matplotlib.axes.Axes

        Notes
        -----
        As `DETPlot.plot_band`, with an example there; at each prior an interval of the normalized
        actual error-rate.
        """
        check_band(band, "bayes")
        return self._system_band((band.low, band.high), band.x, label, fill_keywords)

    def plot_operating_point(
        self,
        plo: float | OperatingPoint | None = None,
        style: Text = None,
        label: Text = None,
        *,
        prior: float | OperatingPoint | None = None,
        **keywords: object,
    ) -> Axes:
        """Draw a vertical line at an operating point. No system is needed.

        Parameters
        ----------
        plo : float or OperatingPoint, optional
            Prior log-odds, or an operating point. A number between 0 and 1 is refused,
            because it may be meant as a probability.
        style, label
            As in `DETPlot.plot_steppy_det`, with the same warning of a line that is not in view;
            by default magenta dashes, no legend entry.
        prior : float or OperatingPoint, optional
            Prior probability, as in `DETPlot.plot_mindcf_point`; instead of `plo`.
        **keywords
            Matplotlib's line properties.

        Returns
        -------
        matplotlib.axes.Axes
        """
        if prior is None:
            if isinstance(plo, float) and 0.0 < plo < 1.0:
                hint = (
                    f"Write prior={plo:g} for a probability, prior=sigmoid({plo:g}) for log-odds."
                )
                raise invalid("plo", "be prior log-odds beyond 0 to 1", f"{plo:g}", hint)
        elif plo is not None:
            raise invalid("plo", "be left out where there is a `prior`", describe(plo))
        else:
            plo = prior if isinstance(prior, OperatingPoint) else OperatingPoint(prior)
        return self._operating_line(to_plo(plo), Look(style, label, keywords))

    def _operating_line(self, x: float, look: Look) -> Axes:
        if is_outside("Operating point", x, self._xlim, "The line"):
            return self.ax
        return self._line("operating_point", [x, x], self._ylim, look)

    def plot_default_line(self, style: Text = None, label: Text = None, **keywords: object) -> Axes:
        """Draw the horizontal line at 1: what is reached without a detector.

        Parameters
        ----------
        style, label, **keywords
            As in `plot_operating_point`; by default a thin line in the colour of text.

        Returns
        -------
        matplotlib.axes.Axes
        """
        keywords = {"color": styles.text_colour()} | keywords if style is None else keywords
        return self._line("default_line", self._xlim, [1.0, 1.0], Look(style, label, keywords))

    def plot_curves(
        self, mask: npt.ArrayLike, styles: Sequence[str | styles.Settings | None] | None = None
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
        """
        flags = np.asarray(mask)
        if flags.shape != (len(CURVES),) or not np.isin(flags, (0, 1)).all():
            raise invalid("mask", f"be {len(CURVES)} flags, each True or False", describe(mask))
        chosen = [CURVES[index] for index in np.flatnonzero(flags)]
        listed: object = [None] * len(chosen) if styles is None else styles
        if not isinstance(listed, list | tuple) or len(listed) != len(chosen):
            expected = f"hold one style for each of the {len(chosen)} flags that are set"
            raise invalid("styles", expected, describe(styles))
        for (kind, label), style in zip(chosen, listed, strict=True):
            keywords = style if isinstance(style, dict) else {"style": style}
            getattr(self, f"plot_{kind}")(label=label, **keywords)
        return self.ax

    def _draw_curve(self, kind: str, look: Look) -> Axes:
        """Draw the numbers that are named like a kind of curve: of miss_rate_act, act_miss_rate."""
        curves = self.curves
        name, _, which = kind.removeprefix("dcf_curve_").rpartition("_")
        rates = getattr(curves, f"{which}_{name or 'dcf'}")
        if not self._fades or self._is_other:
            return self._system_line(kind, curves.plo, rates, look)
        if (shown := _measured(curves)) is None:
            # No operating point has 30 errors of each kind, so the whole curve is pale.
            return self._system_line(kind, curves.plo, rates, look._replace(pale=True))
        self._system_line(kind, curves.plo, rates, Look(None, "_nolegend_", {}, pale=True))
        return self._system_line(kind, curves.plo[shown], rates[shown], look)

    def _plot_curve(self, label: str = "", **keywords: Any) -> Axes:
        return self.plot_dcf_curve_act(label=label, **keywords)

    def _mark_30_errors(self, kind: str, look: Look) -> Axes:
        """Mark where errors become fewer than 30 on the minimum curve, if that is in view."""
        curves = self.curves
        # Errors of a kind that are at least 30 up to the end of the axis where they are
        # fewest have their mark somewhere beyond it.
        if kind == "DR30_fa":
            index, end, error = curves.dr30_fa_index, 0, "false alarms"
        else:
            index, end, error = curves.dr30_miss_index, curves.plo.size - 1, "misses"
        if index is None or index == end:
            everywhere = "fewer than" if index is None else "at least"
            xmin, xmax = self._xlim
            message = (
                f"At all operating points between {xmin:g} and {xmax:g} there are {everywhere} "
                f"30 {error}: no DR30 point to mark."
            )
            warn_caller(message, PlotRangeWarning)
            return self.ax
        return self._system_line(kind, curves.plo[index], curves.min_dcf[index], look)


def _to_limits(axes: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    expected = "be four numbers: xmin < xmax, ymin < ymax"
    if isinstance(axes, set | frozenset):
        raise invalid("axes", expected, describe(axes), NO_SET)
    try:
        xmin, xmax, ymin, ymax = (float(value) for value in axes)
    except (TypeError, ValueError):
        hint = "To draw on an Axes of yours write ax=..." if isinstance(axes, Axes) else ""
        raise invalid("axes", expected, describe(axes), hint) from None
    if not (-LARGEST_PLO <= xmin < xmax <= LARGEST_PLO and -np.inf < ymin < ymax < np.inf):
        hint = f"xmin and xmax must lie within +-{LARGEST_PLO:g}."
        raise invalid("axes", expected, describe(axes), hint)
    return (xmin, xmax), (ymin, ymax)


def to_plo(value: Any) -> float:
    """Return prior log-odds, also of an operating point."""
    if isinstance(value, OperatingPoint):
        return value.plo
    try:
        plo = float(value)
    except (TypeError, ValueError):
        plo = math.nan
    if math.isnan(plo):
        raise invalid("plo", "be prior log-odds or an OperatingPoint", describe(value))
    return plo


class _PriorLocator(FixedLocator):
    """Ticks at some priors, as many as have room."""

    def __call__(self) -> Any:
        axis: Any = self.axis
        low, high = sorted(axis.get_view_interval())
        ticks = np.asarray(super().__call__())
        shown = (ticks >= low) & (ticks <= high)
        kept = styles.thin_out(ticks[shown], _TEXTS[shown], _RANKS[shown], axis, gap=0.6)
        # All texts are equally high, so what room they need is known from the outer ones.
        texts = [tick.label2 for tick in axis.get_major_ticks(kept.size)]
        for text in texts:
            text.set_in_layout(text in (texts[0], texts[-1]))
        return kept


def add_priors(ax: Axes) -> None:
    """Write the priors in per cent above the Axes."""
    above = ax.secondary_xaxis("top")
    # It has no ticks, but would be laid out.
    above.yaxis.set_visible(False)
    ticks = logit(_PRIORS)
    above.xaxis.set_major_locator(_PriorLocator(ticks.tolist()))
    texts = dict(zip(ticks.tolist(), _TEXTS.tolist(), strict=True))
    above.xaxis.set_major_formatter(FuncFormatter(lambda plo, _: texts.get(plo, "")))
    above.set_xlabel("effective prior (%)", fontsize=styles.letters("small"))
    above.tick_params(labelsize=styles.letters("small"))


def _measured(curves: BayesCurves) -> slice | None:
    """Return the operating points with 30 errors of each kind, None if there are no two of them."""
    first, last = curves.dr30_fa_index, curves.dr30_miss_index
    return None if first is None or last is None or first >= last else slice(first, last + 1)


def _limits_of(
    systems: Sequence[Results], marked: Sequence[float]
) -> tuple[float, float, float, float]:
    """Return limits that show where curves can be measured, and marked operating points."""
    plo = np.linspace(-_WIDEST, _WIDEST, 561)
    ends, highest = [-1.0, 1.0, *marked], 0.02
    for curve in (BayesCurves.from_results(results, plo) for results in systems):
        low, high = np.searchsorted(plo, (-_NARROWEST, _NARROWEST))
        shown = _measured(curve) or slice(low, high + 1)
        ends += plo[shown][[0, -1]].tolist()
        highest = max(highest, curve.act_dcf[shown].max())
    xmin, xmax = math.floor(min(ends) - 0.5), math.ceil(max(ends) + 0.5)
    return xmin, xmax, 0.0, min(1.15 * highest, _HIGHEST)


@styles.one_at_a_time
def plot_bayes(
    systems: Systems,
    ax: Axes | None = None,
    *,
    axes: Sequence[float] | None = None,
    title: str | None = None,
    prior: PriorLike | None = None,
    bands: Mapping[str, Band] | None = None,
    looks: Looks = None,
    legend: bool | str = True,
    order: str | Sequence[str] | None = None,
    highlight: str | Sequence[str] | None = None,
) -> BayesPlot:
    """Draw the normalized actual and minimum costs of several systems in one call.

    The gap between both curves of a system is its loss of calibration. Triangles mark the priors
    beyond which there are fewer than 30 errors; there, which may be everywhere, curves are pale.

    Parameters
    ----------
    systems, ax
        As for `plot_det`; scores are taken as natural-log likelihood-ratios.
    axes : (float, float, float, float), optional
        Limits as for `BayesPlot`. By default, where the curves can be measured.
    title : str, optional
        Title of the plot.
    prior : float, (k,) array_like of float, OperatingPoint or sequence of them, optional
        Mark these operating points, with their priors at the foot of the lines.
    bands : mapping of str to Band, optional
        Bands by the names of their systems; see `bosaris_py.uncertainty.bootstrap_bands`.
    looks, legend, order, highlight
        Looks, legend, order and highlight, as for `bosaris_py.plot_det`.

    Returns
    -------
    BayesPlot
        A notebook shows it; more can be drawn into it.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> tar, non = rng.normal(2, 2, 500), rng.normal(-2, 2, 5000)
    >>> plot_bayes({"calibrated": (tar, non), "too strong": (2 * tar, 2 * non)}, prior=0.01)
    BayesPlot: 14 lines, current system 'too strong'
    """
    chosen = Chosen.of(results_of(systems), looks, legend, order, highlight)
    judged = chosen.results
    areas = bands_of(bands, judged, "bayes")
    marked = log_odds(prior)
    limits = _limits_of(list(judged.values()), marked) if axes is None else axes
    plot = BayesPlot(limits, title, ax)
    plot._choose(chosen)
    plot.ax.set_xlabel("effective prior log-odds")
    plot._fades, plot._has_headroom = True, axes is None
    if plot._ylim[1] > 1.0:
        plot.plot_default_line()
    neutral = {"color": styles.text_colour(), "linewidth": 0.8}
    for plo in marked:
        plot._operating_line(plo, Look(None, None, neutral))
    all_pale = False
    for name, results in judged.items():
        plot.set_system_from_results(results, name)
        if name in areas:
            plot.plot_band(areas[name])
        if not results.eer:
            plot._say_no_error()
        plot.plot_dcf_curve_act(label="actual")
        plot.plot_dcf_curve_min(label="minimum", linewidth=0.9)
        # Where there is no mark, all errors in view are few or many.
        with hushed(PlotRangeWarning):
            plot.plot_DR30_fa(label="30 false alarms")
            plot.plot_DR30_miss(label="30 misses")
        all_pale |= not plot._is_other and _measured(plot.curves) is None
    if all_pale:
        faint = {"color": styles.text_colour(), "linewidth": 0.8, "alpha": 0.45}
        plot._line("pale", [], [], Look(None, "pale: fewer than 30 errors", faint))
    plot._name_others()
    plot._finish(legend=chosen.legend)
    shown = [plo for plo in marked if plot._xlim[0] <= plo <= plot._xlim[1]]
    styles.name_lines(plot.ax, {plo: per_cent(plo) for plo in shown})
    return plot


_SPOOFS_SIZE = (6.0, 4.5)

# From one spoof in a thousand trials to as many as all others.
_SPOOF_PRIORS = np.geomspace(0.001, 0.5, 41)


class _PriorSheet(Sheet):
    """Costs of several systems over the prior of spoofs."""

    _curves_of_systems = ("act", "min")
    _looks: ClassVar[dict[str, styles.Settings]] = {
        "act": {"linestyle": "--", "linewidth": 1.4},
        "min": {"linestyle": "-", "linewidth": 1.6},
        "prior": {"linestyle": ":", "linewidth": 0.9},
    }
    _has_headroom = True


def _at(costs: SpoofCosts, prior: float) -> SpoofCosts:
    """Return costs with another prior of spoofs, and the others in their proportion."""
    rest = (1.0 - prior) / (costs.p_target + costs.p_nontarget)
    target = costs.p_target * rest
    return attrs.evolve(costs, p_target=target, p_nontarget=1.0 - prior - target, p_spoof=prior)


@cautions()
@styles.one_at_a_time
def plot_a_dcf(
    systems: Mapping[str, Lists],
    ax: Axes | None = None,
    *,
    costs: SpoofCostsLike = "ASVspoof5",
    priors: npt.ArrayLike | None = None,
    actual: bool = True,
    title: str | None = None,
    looks: Looks = None,
    legend: bool | str = True,
    order: str | Sequence[str] | None = None,
    highlight: str | Sequence[str] | None = None,
) -> Plot:
    """Draw the architecture-agnostic detection cost over the prior of spoofs.

    Parameters
    ----------
    systems : mapping of str to (tar, non, spoof)
        Scores of the three classes, by the name of the system.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default, in a new figure.
    costs : SpoofCosts or str, default: "ASVspoof5"
        Costs, and the proportion of targets and zero-effort impostors. Its own prior of spoofs is
        marked.
    priors : (k,) array_like of float, optional
        Priors of spoofs, rising, between 0 and 1; by default 41 from 0.001 to 0.5.
    actual : bool, default: True
        Draw the cost of Bayes decisions, too, dashed: of scores as log-likelihood-ratios.
    title, looks, legend, order, highlight
        As for `bosaris_py.plot_det`.

    Returns
    -------
    plots.Plot
        Costs are normalized, so that 1 is that of the better decision without a detector.

    Raises
    ------
    InvalidInputError
        If a system has not three lists of scores, or priors do not rise between 0 and 1.

    Notes
    -----
    Log-likelihood-ratios of targets against a mixture hold for its share of spoofs only. The
    dashed line says what another prior costs if only the threshold follows it.

    Examples
    --------
    >>> plot = plot_a_dcf({"A": ([1.0, 3.0, 4.0], [-2.0, 0.5], [-1.0, 2.0])}, priors=[0.01, 0.1])
    >>> plot.get_xlabel()
    'prior of spoofs'
    """
    given, lists = SpoofCosts.named(costs), _three(systems)
    shown = _SPOOF_PRIORS if priors is None else np.asarray(priors, dtype=np.float64)
    inside = shown.ndim == 1 and shown.size > 1 and shown[0] > 0 and shown[-1] < 1
    if not (inside and (np.diff(shown) > 0).all()):
        raise invalid("priors", "be two or more, rising, between 0 and 1", describe(priors))
    points = [_at(given, prior) for prior in shown.tolist()]
    pooled = {name: Results(tar, np.concatenate(rest)) for name, (tar, *rest) in lists.items()}
    chosen = Chosen.of(pooled, looks, legend, order, highlight)
    sheet = _PriorSheet(styles.make_axes(ax, _SPOOFS_SIZE), title)
    highest = 0.0
    for name, _ in sheet._each_of(chosen):
        sample = sample_of_three(*lists[name])
        kinds: dict[str, tuple[type[ADCF] | type[ActADCF], str]]
        kinds = {"min": (ADCF, "minimum" if actual else "")}
        if actual:
            kinds["act"] = ActADCF, "actual"
        for kind, (metric, label) in kinds.items():
            values = [metric(point).judge(sample) for point in points]
            sheet._draw(kind, shown, values, label)
            highest = max(highest, *values)
    top = min(max(1.08 * highest, 0.05), 1.5)
    sheet.ax.set(
        xscale="log",
        xlabel="prior of spoofs",
        ylabel="normalized a-DCF",
        xlim=(shown[0], shown[-1]),
        ylim=(0.0, top),
    )
    sheet.ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g} %"))
    marked = shown[0] <= given.p_spoof <= shown[-1]
    if marked:
        look = Look(None, None, {"color": styles.text_colour()})
        sheet._line("prior", [given.p_spoof, given.p_spoof], [0.0, top], look)
    sheet._finish(legend=chosen.legend)
    if marked:
        styles.name_lines(sheet.ax, {given.p_spoof: f"{100 * given.p_spoof:g} %"})
    return sheet


def _three(systems: Mapping[str, Lists]) -> dict[str, list[Float64Array]]:
    """Return the lists of each system as arrays."""
    found: object = systems
    if not (isinstance(found, Mapping) and found):
        raise invalid("systems", "map names to (tar, non, spoof)", describe(systems))
    named = {}
    for name, lists in systems.items():
        if not isinstance(lists, list | tuple) or len(lists) != 3:
            raise invalid(f"systems[{name!r}]", "be three lists of scores", describe(lists))
        named[str(name)] = [np.asarray(part, dtype=np.float64) for part in lists]
    return named
