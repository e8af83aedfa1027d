"""The cost of decisions over a range of priors: of targets, normalized, and of spoofs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import attrs
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, MaxNLocator

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike
from bosaris_py.evaluation.results import Results
from bosaris_py.metrics.curves import LARGEST_PLO, BayesCurves, smallest_measurable_rate
from bosaris_py.metrics.tandem import Lists
from bosaris_py.metrics.third_class import ADCF, ActADCF, sample_of_three
from bosaris_py.numerics.priors import OperatingPoint, PriorLike, SpoofCosts, SpoofCostsLike, logit
from bosaris_py.plots import base, looks as styles
from bosaris_py.plots.base import PLAIN, ErrorRatePlot, Plot
from bosaris_py.plots.looks import Legend, Looks, Names, Pen, Settings, Systems, Text
from bosaris_py.uncertainty.bands import Band

# Width and height of a new figure in inches.
_SIZE, _SPOOFS_SIZE = (7.0, 5.5), (6.0, 4.5)

# Default limits: xmin, xmax, ymin, ymax.
AXES = (-10.0, 0.0, 0.0, 1.2)

# Where curves are looked at to choose limits, and the limits where trials are too few to say.
_WIDEST, _NARROWEST = 14.0, 4.0
_HIGHEST = 1.4

# Priors with a tick above the axis.
_PRIORS = np.concatenate(
    (10.0 ** np.arange(-9.0, 0.0), [0.5], 1.0 - 10.0 ** np.arange(-1.0, -6.0, -1.0))
)

# As many operating points between xmin and xmax as the toolkit's Norm_DCF_Plot.m.
_GRID_POINTS = 1001

# The toolkit's order of the eight flags of plot_curves, with its legend texts. Curves of one system
# share its colour; their strokes tell them apart, dots and dashes in points. Triangles point to the
# priors at which there are enough errors.
CURVES: dict[str, tuple[str, Settings]] = {
    "miss_rate_min": ("min miss rate", {"linestyle": (0, (3, 2, 1, 2, 1, 2)), "linewidth": 1.0}),
    "fa_rate_min": ("min FA rate", {"linestyle": (0, (1, 3)), "linewidth": 1.0}),
    "dcf_curve_min": ("min dcf", {"linestyle": "--", "linewidth": 1.2}),
    "miss_rate_act": ("act miss rate", {"linestyle": "-.", "linewidth": 1.2}),
    "fa_rate_act": ("act FA rate", {"linestyle": ":", "linewidth": 1.2}),
    "dcf_curve_act": ("act dcf", {}),
    "DR30_miss": ("Miss DR30", {"marker": "<", "markersize": 9, "zorder": 3}),
    "DR30_fa": ("FA DR30", {"marker": ">", "markersize": 9, "zorder": 3}),
}


class BayesPlot(ErrorRatePlot):
    r"""A plot of error-rates over the prior, normalized by what is reached without a detector.

    Each `plot_*` method draws the system that was set last, and returns the Axes. Scores are taken
    as natural-log likelihood-ratios.

    Parameters
    ----------
    axes : (float, float, float, float), default: (-10, 0, 0, 1.2)
        Limits xmin, xmax, ymin, ymax, of the logit of the effective prior and of the normalized
        error-rate.
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
    BayesPlot: 5 lines of 1 system
    """

    _word = "BayesPlot"
    _looks: ClassVar = {
        **{kind: look for kind, (_, look) in CURVES.items()},
        "dr30": {"marker": "o", "markersize": 4.5, "zorder": 2.5, "markerfacecolor": "none"},
        "operating_point": {"linestyle": "--", "linewidth": 0.9},
    }
    _curves_of_systems = ("dcf_curve_act", "dcf_curve_min")
    _dr30_labels = ("FA DR30", "Miss DR30")

    def __init__(
        self, axes: Sequence[float] = AXES, title: Text = None, ax: Axes | None = None
    ) -> None:
        limits = check.as_vector(axes, "axes").tolist()
        wide = len(limits) == 4 and -LARGEST_PLO <= limits[0] < limits[1] <= LARGEST_PLO
        if not (wide and -math.inf < limits[2] < limits[3] < math.inf):
            expected = f"be xmin < xmax, within +-{LARGEST_PLO:g}, and ymin < ymax"
            raise check.invalid("axes", expected, check.describe(axes))
        self._xlim, self._ylim = (limits[0], limits[1]), (limits[2], limits[3])
        self._known: tuple[Results, BayesCurves] | None = None
        super().__init__(ax, _SIZE, title, r"logit $P_{tar}$", "normalized DCF")
        _add_priors(self.ax, self._xlim)
        # Quarters have long labels, which touch on a narrow plot.
        self.ax.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10]))
        self.ax.set(xlim=self._xlim, ylim=self._ylim)

    @property
    def curves(self) -> BayesCurves:
        """The numbers of the current system's curves."""
        results = self._system()
        # Six curves and two marks are drawn from one computation.
        if self._known is None or self._known[0] is not results:
            grid = np.linspace(*self._xlim, _GRID_POINTS)
            self._known = results, BayesCurves.from_sample(results._llrs, grid)
        return self._known[1]

    def plot_dcf_curve_act(self, style: Text = None, label: Text = None, **look: object) -> Axes:
        """Draw the normalized Bayes error-rate: that of decisions at the Bayes threshold.

        1 is what is reached without a detector; above it, decisions mislead.

        Parameters
        ----------
        style, label, **look
            As in `DETPlot.plot_steppy_det`.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return self._draw("dcf_curve_act", Pen(style, label, look))

    def plot_dcf_curve_min(self, style: Text = None, label: Text = None, **look: object) -> Axes:
        """Draw the minimum error-rate: at the best threshold for each prior.

        Parameters
        ----------
        style, label, **look
            As in `plot_dcf_curve_act`; by default a dashed line.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return self._draw("dcf_curve_min", Pen(style, label, look))

    def plot_miss_rate_act(self, style: Text = None, label: Text = None, **look: object) -> Axes:
        """Draw the misses' part of the normalized Bayes error-rate.

        Parameters
        ----------
        style, label, **look
            As in `plot_dcf_curve_act`; by default dots and dashes.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return self._draw("miss_rate_act", Pen(style, label, look))

    def plot_miss_rate_min(self, style: Text = None, label: Text = None, **look: object) -> Axes:
        """Draw the misses' part of the minimum error-rate.

        Parameters
        ----------
        style, label, **look
            As in `plot_dcf_curve_act`; by default two dots and a dash.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return self._draw("miss_rate_min", Pen(style, label, look))

    def plot_fa_rate_act(self, style: Text = None, label: Text = None, **look: object) -> Axes:
        """Draw the false alarms' part of the normalized Bayes error-rate.

        Parameters
        ----------
        style, label, **look
            As in `plot_dcf_curve_act`; by default dots.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return self._draw("fa_rate_act", Pen(style, label, look))

    def plot_fa_rate_min(self, style: Text = None, label: Text = None, **look: object) -> Axes:
        """Draw the false alarms' part of the minimum error-rate.

        Parameters
        ----------
        style, label, **look
            As in `plot_dcf_curve_act`; by default wide dots.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return self._draw("fa_rate_min", Pen(style, label, look))

    def plot_band(self, band: Band, label: Text = None, **look: object) -> Axes:
        """Shade a band around a curve: where the true error-rate may lie.

        Parameters
        ----------
        band : Band
            Made by `bosaris_py.uncertainty.bootstrap_bands` of ``kind="bayes"``.
        label, **look
            As in `DETPlot.plot_band`.

        Returns
        -------
        matplotlib.axes.Axes

        Notes
        -----
        As `DETPlot.plot_band`, with an example there; at each prior an interval of the normalized
        actual error-rate.
        """
        styles.check_band(band, "bayes")
        results = self._system()
        pmiss, pfa = results.error_rates_at(-band.x)
        met = (results.n_tar * pmiss + results.n_non * pfa >= 3.0) & (band.low > 0.0)
        return self._band(band.x, (band.low, band.high), met, label, **look)

    def plot_operating_point(
        self,
        plo: float | OperatingPoint | None = None,
        style: Text = None,
        label: Text = None,
        *,
        prior: float | OperatingPoint | None = None,
        **look: object,
    ) -> Axes:
        """Draw a vertical line at an operating point. No system is needed.

        Parameters
        ----------
        plo : float or OperatingPoint, optional
            Prior log-odds, or an operating point. A number between 0 and 1 is refused,
            because it may be meant as a probability.
        style, label
            As in `DETPlot.plot_steppy_det`, with the same warning of a line that is not in view;
            by default dashes in the colour of text, no legend entry.
        prior : float or OperatingPoint, optional
            Prior probability, as in `DETPlot.plot_mindcf_point`; instead of `plo`.
        **look
            Matplotlib's line properties.

        Returns
        -------
        matplotlib.axes.Axes
        """
        pen, prior = Pen(style, label, look), plo if isinstance(plo, OperatingPoint) else prior
        if prior is None:
            x = check.as_number(plo, "plo", "be prior log-odds", lambda x: not math.isnan(x))
            if 0.0 < x < 1.0:
                hint = f"Write prior={x:g} for a probability, prior=sigmoid({x:g}) for log-odds."
                raise check.invalid("plo", "be prior log-odds beyond 0 to 1", f"{x:g}", hint)
        else:
            (x,) = styles.log_odds(prior)
        notes = base.outside("Operating point", x, self._xlim, "The line")
        if not notes:
            self._line("operating_point", [x, x], self._ylim, pen, own=False)
        errors.warn(notes)
        return self.ax

    def plot_curves(
        self, mask: ArrayLike, styles: Sequence[str | Mapping[str, object] | None] | None = None
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
            raise check.invalid(
                "mask", f"be {len(CURVES)} flags, each True or False", check.describe(mask)
            )
        chosen = [kind for kind, flag in zip(CURVES, flags, strict=True) if flag]
        given = [None] * len(chosen) if styles is None else [*styles]
        if isinstance(styles, str) or len(given) != len(chosen):
            expected = f"hold one style for each of the {len(chosen)} flags that are set"
            raise check.invalid("styles", expected, check.describe(styles))
        # All are checked before the first is drawn.
        pens, notes = [], []
        for kind, style in zip(chosen, given, strict=True):
            look: Settings = {**style} if isinstance(style, Mapping) else {"style": style}
            pens.append(Pen(look.pop("style", None), CURVES[kind][0], look))
        for kind, pen in zip(chosen, pens, strict=True):
            if kind.startswith("DR30"):
                notes += self._mark_30_errors(kind, pen)
            else:
                self._draw(kind, pen)
        errors.warn(notes)
        return self.ax

    def _draw(self, kind: str, pen: Pen = PLAIN) -> Axes:
        """Draw a curve of the current system."""
        curves = self.curves
        rates = {"dcf_curve_act": curves.act_dcf, "dcf_curve_min": curves.min_dcf, **curves.parts}
        return self._line(kind, curves.plo, rates[kind], pen)

    def _curve(self, pen: Pen) -> list[errors.Note]:
        self._draw("dcf_curve_act", pen)
        return []

    def _mark_30_errors(self, kind: str, pen: Pen) -> list[errors.Note]:
        """Mark where errors become fewer than 30 on the minimum curve, if that is in view."""
        curves, (xmin, xmax) = self.curves, self._xlim
        # Errors of a kind that are at least 30 up to the end of the axis where they are
        # fewest have their mark somewhere beyond it.
        if kind == "DR30_fa":
            index, end, error = curves.dr30_fa_index, 0, "false alarms"
        else:
            index, end, error = curves.dr30_miss_index, curves.plo.size - 1, "misses"
        if index is not None and index != end:
            self._line(kind, curves.plo[index], curves.min_dcf[index], pen)
            return []
        few = "fewer than" if index is None else "at least"
        text = f"From {xmin:g} to {xmax:g} there are {few} 30 {error}: no DR30 point to mark."
        return [errors.Note(errors.BosarisWarning, text)]

    def _hollow_marks(self) -> None:
        """Mark on both curves where fewer than 30 errors of either kind are left."""
        curves = self.curves
        least = [smallest_measurable_rate(n) for n in (curves.n_tar, curves.n_non)]
        for dcf, pmiss, pfa in (
            (curves.act_dcf, curves.act_pmiss, curves.act_pfa),
            (curves.min_dcf, curves.min_pmiss, curves.min_pfa),
        ):
            # Along the axis false alarms become more and misses fewer.
            misses, alarms = np.flatnonzero(pmiss >= least[0]), np.flatnonzero(pfa >= least[1])
            for spot in (*alarms[:1], *misses[-1:]):
                if 0 < spot < dcf.size - 1 and dcf[spot] <= self._ylim[1]:
                    self._line("dr30", curves.plo[spot], dcf[spot])
        if _measured(curves) is None:
            self._say("fewer than 30 errors of a kind at every prior")


def _add_priors(ax: Axes, limits: tuple[float, float]) -> None:
    """Write the priors in per cent above the Axes."""
    above = ax.secondary_xaxis("top")
    # It has no ticks, but would be laid out.
    above.yaxis.set_visible(False)
    shown = _PRIORS[(logit(_PRIORS) >= limits[0]) & (logit(_PRIORS) <= limits[1])]
    shown = shown[:: 1 + shown.size // 10]
    above.xaxis.set_major_locator(FixedLocator(logit(shown)))
    above.xaxis.set_major_formatter(FixedFormatter([f"{100.0 * prior:.8g}" for prior in shown]))
    above.set_xlabel("effective prior (%)", fontsize=styles.letters("small"))
    above.tick_params(labelsize=styles.letters("small"))


def _measured(curves: BayesCurves) -> slice | None:
    """Return the operating points with 30 errors of each kind, None if there are no two of them."""
    first, last = curves.dr30_fa_index, curves.dr30_miss_index
    return None if first is None or last is None or first >= last else slice(first, last + 1)


def _limits_of(systems: Iterable[Results], marked: list[float]) -> list[float]:
    """Return limits that show where curves can be measured, and marked operating points."""
    plo = np.unique([*np.linspace(-_WIDEST, _WIDEST, 561), *marked])
    ends, highest = [-1.0, 1.0, *marked], 0.02
    for curve in (BayesCurves.from_sample(results._llrs, plo) for results in systems):
        low, high = np.searchsorted(plo, (-_NARROWEST, _NARROWEST))
        shown = _measured(curve) or slice(low, high + 1)
        ends += plo[shown][[0, -1]].tolist()
        at_marks = curve.act_dcf[np.searchsorted(plo, marked)]
        highest = max(highest, *curve.act_dcf[shown], *at_marks)
    xmin, xmax = math.floor(min(ends) - 0.5), math.ceil(max(ends) + 0.5)
    return [xmin, xmax, 0.0, min(1.15 * highest, _HIGHEST)]


@base.door
def plot_bayes(
    systems: Systems,
    ax: Axes | None = None,
    *,
    axes: Sequence[float] | None = None,
    title: Text = None,
    marks: Sequence[str] = ("dr30",),
    prior: PriorLike | None = None,
    bands: Mapping[str, Band] | None = None,
    looks: Looks = None,
    legend: Legend = True,
    order: Names = None,
    highlight: Names = None,
) -> BayesPlot:
    """Draw the normalized actual and minimum costs of several systems in one call.

    The gap between both curves of a system is its loss of calibration.

    Parameters
    ----------
    systems, ax
        As for `plot_det`; scores are taken as natural-log likelihood-ratios.
    axes : (float, float, float, float), optional
        Limits as for `BayesPlot`. By default, where the curves can be measured.
    title : str, optional
        Title of the plot.
    marks : sequence of str, default: ("dr30",)
        "dr30": small hollow circles on the curves, where fewer than 30 errors of a kind are left.
    prior : float, (k,) array_like of float, OperatingPoint or sequence of them, optional
        Mark these operating points, with their priors at the head of the lines.
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
    >>> plot = plot_bayes({"A": (tar, non), "too strong": (2 * tar, 2 * non)}, prior=0.01)
    >>> plot
    BayesPlot: 15 lines of 2 systems
    """
    chosen = styles.choose(systems, looks, order, highlight, legend, bands, "bayes")
    marks = check.listed(marks, "marks")
    if any(mark != "dr30" for mark in marks):
        raise check.invalid("marks", "be ('dr30',) or empty", check.describe(marks))
    marked = styles.log_odds(prior)
    limits = _limits_of(chosen.results.values(), marked) if axes is None else axes
    plot = BayesPlot(limits, title, ax)
    plot.ax.set_xlabel("effective prior log-odds")
    if plot._ylim[1] > 1.0:
        plot.ax.axhline(1.0, color=styles.text_colour(), linewidth=0.8)
    for plo in marked:
        if plot._xlim[0] <= plo <= plot._xlim[1]:
            plot._line("operating_point", [plo, plo], plot._ylim, own=False)
            _name_line(plot.ax, plo, styles.per_cent(plo))
    for name, results in plot._each_of(chosen):
        if name in chosen.bands:
            plot.plot_band(chosen.bands[name])
        if not results.eer:
            plot._say_no_error()
        plot._draw("dcf_curve_act")
        plot._draw("dcf_curve_min")
        if "dr30" in marks:
            plot._hollow_marks()
    plot._key("actual", "actual")
    plot._key("minimum", "minimum", plot._looks["dcf_curve_min"])
    if "dr30" in plot.artists:
        plot._key("dr30", "30 errors")
    return plot._finish(legend)


def _name_line(ax: Axes, x: float, name: str) -> None:
    """Write a name at the head of an upright line: good systems have their curves at its foot."""
    place: Settings = {"xycoords": ax.get_xaxis_transform(), "textcoords": "offset points"}
    ax.annotate(name, (x, 1.0), (2.0, -3.0), va="top", fontsize=styles.letters("x-small"), **place)


# From one spoof in a thousand trials to as many as all others.
_SPOOF_PRIORS = np.geomspace(0.001, 0.5, 41)


class _SpoofPlot(Plot):
    """Costs of several systems over the prior of spoofs."""

    _curves_of_systems = ("min", "act")
    _looks: ClassVar = {
        "act": {"linestyle": "--", "linewidth": 1.2},
        "prior": {"linestyle": ":", "linewidth": 0.9},
    }
    _named_at_ends = True


def _at(costs: SpoofCosts, prior: float) -> SpoofCosts:
    """Return costs with another prior of spoofs, and the others in their proportion."""
    rest = (1.0 - prior) / (costs.p_target + costs.p_nontarget)
    target = costs.p_target * rest
    return attrs.evolve(costs, p_target=target, p_nontarget=1.0 - prior - target, p_spoof=prior)


@base.door
def plot_a_dcf(
    systems: Mapping[str, Lists],
    ax: Axes | None = None,
    *,
    costs: SpoofCostsLike = "ASVspoof5",
    priors: ArrayLike | None = None,
    actual: bool = True,
    title: Text = None,
    looks: Looks = None,
    legend: Legend = True,
    order: Names = None,
    highlight: Names = None,
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

    Warns
    -----
    SuspectScoresWarning
        If scores cannot be log-likelihood-ratios, and the actual cost is drawn.

    Notes
    -----
    Log-likelihood-ratios of targets against a mixture hold for its share of spoofs only. The
    dashed line says what another prior costs if only the threshold follows it.

    Examples
    --------
    >>> plot = plot_a_dcf({"A": ([1.0, 3.0, 4.0], [-2.0, 0.5], [-1.0, 2.0])}, priors=[0.01, 0.1])
    >>> plot.ax.get_xlabel()
    'prior of spoofs (%)'
    """
    given = SpoofCosts.named(costs)
    check.check_mapping(systems, "systems", "(tar, non, spoof)")
    lists = {
        str(name): [check.as_vector(one, "systems") for one in check.listed(three, "systems")]
        for name, three in systems.items()
    }
    if any(len(found) != 3 for found in lists.values()):
        raise check.invalid("systems", "map names to (tar, non, spoof)", check.describe(systems))
    shown = _SPOOF_PRIORS if priors is None else check.as_vector(priors, "priors")
    if not shown.size or not (np.diff([0.0, *shown, 1.0]) > 0.0).all():
        raise check.invalid("priors", "rise between 0 and 1", check.describe(priors))
    points = [_at(given, prior) for prior in shown.tolist()]
    pooled = {name: Results(tar, np.concatenate(rest)) for name, (tar, *rest) in lists.items()}
    chosen = styles.choose(pooled, looks, order, highlight, legend)
    plot = _SpoofPlot(ax, _SPOOFS_SIZE, title, "prior of spoofs (%)", "normalized a-DCF")
    highest = 0.05
    for name, _ in plot._each_of(chosen):
        sample = sample_of_three(*lists[name])
        curves = {"min": [ADCF(point).value(sample) for point in points]}
        if actual:
            curves["act"] = [ActADCF(point).value(sample) for point in points]
            metric = ActADCF(given)
            notes = metric.notes(metric.view(sample))
            plot.notes += [attrs.evolve(note, about=name) for note in notes]
        for kind, values in curves.items():
            plot._line(kind, shown, values)
            highest = max(highest, *values)
    top = min(1.08 * highest, 1.5)
    plot.ax.set(xscale="log", xlim=(shown[0], shown[-1]), ylim=(0.0, top))
    plot.ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g}"))
    if shown[0] <= given.p_spoof <= shown[-1]:
        plot._line("prior", [given.p_spoof, given.p_spoof], [0.0, top], own=False)
        _name_line(plot.ax, given.p_spoof, f"{100 * given.p_spoof:g} %")
    plot._key("minimum", "minimum")
    if actual:
        plot._key("actual", "actual", plot._looks["act"])
    return plot._finish(legend)
