"""Error-rates over the threshold, and the difference of two systems over the prior."""

from __future__ import annotations

from typing import ClassVar, Unpack

import numpy as np
from matplotlib.axes import Axes

from bosaris_py._arrays import BoolArray
from bosaris_py._validation import describe, invalid
from bosaris_py.numerics.priors import PriorLike
from bosaris_py.plots import looks
from bosaris_py.plots.bayes import add_priors
from bosaris_py.plots.canvas import Look, Sheet
from bosaris_py.plots.display import Plot
from bosaris_py.plots.shown_systems import Chosen, Styling, Systems, log_odds, per_cent, results_of
from bosaris_py.trials.sample import ListedSample
from bosaris_py.uncertainty.bands import ActDCFCurve, MinDCFCurve
from bosaris_py.uncertainty.comparison.paired import PairedBootstrapResult

_SIZE = (6.5, 4.5)
_POINTS = 2001


class _RateSheet(Sheet):
    """Both error-rates of several systems."""

    _curves_of_systems = ("miss", "fa")
    _looks: ClassVar[dict[str, looks.Settings]] = {
        "miss": {"linestyle": "-", "linewidth": 1.5},
        "fa": {"linestyle": "--", "linewidth": 1.5},
        "eer": {"marker": "o", "markersize": 6, "zorder": 3},
        "threshold": {"linestyle": "--", "linewidth": 0.8},
    }
    _has_headroom = True


@looks.one_at_a_time
def plot_error_rates(
    systems: Systems,
    ax: Axes | None = None,
    *,
    prior: PriorLike | None = None,
    title: str | None = None,
    **styling: Unpack[Styling],
) -> Plot:
    """Draw misses and false alarms over the threshold: FNMR and FMR.

    Parameters
    ----------
    systems : mapping of str to Results or (tar, non); or Results
        The systems by their names; scores of any kind, in memory or counted in files.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default, in a new figure.
    prior : float, (k,) array_like of float, OperatingPoint or sequence of them, optional
        Mark the Bayes thresholds at these operating points; scores are then taken as natural-log
        likelihood-ratios.
    title, **styling
        As for `bosaris_py.plot_det`.

    Returns
    -------
    plots.Plot
        Solid: the share of targets below the threshold (FNMR); dashed: the share of non-targets at
        or above it (FMR). Dots are equal error-rates.

    Notes
    -----
    The names are those of ISO/IEC 19795-1 for comparisons of single pairs.

    Examples
    --------
    >>> plot = plot_error_rates({"A": ([1.0, 3.0, 4.0], [-2.0, 0.5, 2.0])})
    >>> [text.get_text() for text in plot.get_legend().get_texts()]
    ['A FNMR (misses)', 'A FMR (false alarms)']
    """
    chosen = Chosen.of(results_of(systems), styling)
    sheet = _RateSheet(looks.make_axes(ax, _SIZE), title)
    sheet.ax.set(xlabel="threshold", ylabel="error-rate (%)")
    ends: list[float] = []
    for _, results in sheet._each_of(chosen):
        limits = results.roc.target_scores
        if isinstance(results.sample, ListedSample):
            # The curve knows the scores of targets only.
            others = results.sample.non.scores
            limits = np.concatenate((limits, others[:_POINTS], [others.min(), others.max()]))
        limits = np.unique(limits[np.isfinite(limits)])
        if not limits.size:
            sheet._say_of_system("all scores are infinite")
            continue
        low, high = float(limits.min()), float(limits.max())
        margin = 0.02 * (high - low) or 1.0
        thresholds = np.linspace(low - margin, high + margin, _POINTS)
        # Where the rates step, too, if that is few places.
        if limits.size <= _POINTS:
            thresholds = np.union1d(thresholds, limits)
        ends += [float(thresholds[0]), float(thresholds[-1])]
        pmiss, pfa = results.error_rates_at(thresholds)
        sheet._draw("miss", thresholds, 100.0 * pmiss, "FNMR (misses)")
        sheet._draw("fa", thresholds, 100.0 * pfa, "FMR (false alarms)")
        at = float(results.eer_threshold)
        if np.isfinite(at):
            sheet._draw("eer", at, 100.0 * results.eer)
        sheet._say_infinite()
    if ends:
        sheet.ax.set_xlim(min(ends), max(ends))
    sheet.ax.set(ylim=(0.0, 101.0), yticks=range(0, 101, 20))
    points = log_odds(prior)
    low, high = sheet.ax.get_xlim()
    shown = [plo for plo in points if low <= -plo <= high]
    for plo in shown:
        look = Look(None, None, {"color": looks.text_colour()})
        sheet._line("threshold", [-plo, -plo], [0.0, 101.0], look)
    for plo in points:
        if plo not in shown:
            sheet._say(f"the threshold of prior {per_cent(plo)}, {-plo:.3g}, is outside")
    sheet._finish(legend=chosen.legend)
    # In the middle no curve is near.
    names = {-plo: per_cent(plo) for plo in shown}
    looks.name_lines(sheet.ax, names, height=0.5)
    return sheet


@looks.one_at_a_time
def plot_difference(
    difference: PairedBootstrapResult,
    curve: ActDCFCurve | MinDCFCurve,
    ax: Axes | None = None,
    *,
    names: tuple[str, str] = ("first", "second"),
    prior: PriorLike | None = None,
    title: str | None = None,
) -> Plot:
    """Draw how much more one system costs than another over the prior, with a band.

    Parameters
    ----------
    difference : PairedBootstrapResult
        Of `curve`, made by `paired_bootstrap`.
    curve : uncertainty.ActDCFCurve or uncertainty.MinDCFCurve
        What was compared.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default, in a new figure.
    names : (str, str), default: ("first", "second")
        Names of the systems.
    prior : float, (k,) array_like of float, OperatingPoint or sequence of them, optional
        Mark these operating points.
    title : str, optional
        Title of the plot.

    Returns
    -------
    plots.Plot
        Above 0 the first system costs more. The band is an interval at each prior; the curve is
        thick where it leaves 0 out.

    Notes
    -----
    The intervals hold at one prior that was chosen beforehand. Over many priors one of them leaves
    0 out more often than its confidence says.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import Key, Scores
    >>> from bosaris_py import uncertainty as unc
    >>> rng, ids = np.random.default_rng(1), [f"s{i}" for i in range(30)]
    >>> same = np.eye(30, dtype=bool)
    >>> a, b = (Scores(3 * same + rng.normal(size=(30, 30)), ids, ids) for _ in range(2))
    >>> curve = unc.ActDCFCurve()
    >>> key = Key(ids, ids, same, ~same)
    >>> found = unc.paired_bootstrap(a, b, key, curve, method="iid", replications=50, rng=1)
    >>> plot_difference(found, curve, names=("A", "B")).get_ylabel()
    'normalized actual cost: A minus B'
    """
    given: tuple[object, object] = curve, difference
    if not isinstance(given[0], ActDCFCurve | MinDCFCurve):
        raise invalid("curve", "be an ActDCFCurve or a MinDCFCurve", describe(curve))
    if not isinstance(given[1], PairedBootstrapResult):
        hint = "paired_bootstrap(a, b, key, curve) makes one."
        raise invalid("difference", "be a PairedBootstrapResult", describe(difference), hint)
    plo = np.asarray(curve.plo, dtype=np.float64)
    values, low, high = (
        np.asarray(part, dtype=np.float64)
        for part in (difference.difference, difference.low, difference.high)
    )
    if values.shape != plo.shape:
        expected = f"be of this curve, with {plo.size} values"
        raise invalid("difference", expected, f"values of shape {values.shape}")
    plot = Plot(looks.make_axes(ax, _SIZE), title)
    axes, look = plot.ax, looks.system_look(0, plot.ax)
    add_priors(axes)
    axes.grid(visible=True, linewidth=0.6, alpha=0.6)
    axes.axhline(0.0, color=looks.text_colour(), linewidth=0.9)
    percent = f"{100.0 * difference.contrast.confidence:g} % interval at each prior"
    band = axes.fill_between(
        plo, low, high, color=look.colour, alpha=0.2, linewidth=0.0, label=percent
    )
    (line,) = axes.plot(plo, values, color=look.colour, linewidth=1.0)
    sure: BoolArray = (low > 0.0) | (high < 0.0)
    plot.artists = {"band": [band], "difference": [line]}
    if sure.any():
        (thick,) = axes.plot(
            plo,
            np.where(sure, values, np.nan),
            color=look.colour,
            linewidth=2.6,
            label="0 is outside of the interval",
        )
        plot.artists["difference"].append(thick)
    which = "actual" if isinstance(curve, ActDCFCurve) else "minimum"
    axes.set_xlim(plo[0], plo[-1])
    axes.set_xlabel("effective prior log-odds")
    axes.set_ylabel(
        f"normalized {which} cost: {looks.as_name(names[0])} minus {looks.as_name(names[1])}"
    )
    points = log_odds(prior)
    shown = [point for point in points if plo[0] <= point <= plo[-1]]
    for point in shown:
        axes.axvline(point, color=looks.text_colour(), linewidth=0.8, linestyle="--")
    plot._finish()
    looks.name_lines(axes, {point: per_cent(point) for point in shown})
    return plot
