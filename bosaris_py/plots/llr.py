"""Plots of log-likelihood-ratios: what they are like, what they should be, what they cost.

The numbers are in `bosaris_py.metrics.curves`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.typing import ColorType

from bosaris_py._arrays import ArrayLike
from bosaris_py._validation import check_choice, describe, invalid
from bosaris_py.evaluation import Results
from bosaris_py.metrics import curves
from bosaris_py.numerics.priors import PriorLike, sigmoid
from bosaris_py.plots import base, looks as styles
from bosaris_py.plots.base import Plot
from bosaris_py.plots.det import enough
from bosaris_py.plots.looks import Legend, Looks, Names, Pen, Settings, Systems, Text
from bosaris_py.uncertainty.bands import Band

_SIZE, _SQUARE = (6.0, 4.5), (5.0, 5.0)
_LOG_10 = np.log(10.0)


class _LLRPlot(Plot):
    """Lines of several systems over log-likelihood-ratios; what each kind looks like."""

    _curves_of_systems = ("pav", "pools", "tar", "non", "act", "min")
    _looks: ClassVar = {
        "misleading": {"marker": "o", "markersize": 6, "zorder": 3},
        "min": {"linestyle": "--", "linewidth": 1.2},
        "neutral": {"linestyle": ":", "linewidth": 1.4},
        "identity": {"linewidth": 0.8, "alpha": 0.5},
        "infinite_high": {"marker": "^", "markersize": 7, "clip_on": False, "zorder": 3},
        "infinite_low": {"marker": "v", "markersize": 7, "clip_on": False, "zorder": 3},
    }

    def _class_colour(self, which: int) -> ColorType:
        """Return the colour of targets, 0, or of non-targets, 1."""
        colour: ColorType = styles.system_look(which, self.ax)["color"]
        return colour

    def _class_look(self, which: int) -> Settings:
        """Return what tells the classes of the current system apart: colours, or dashes of many."""
        n_shown = len(self._names) - len(self._chosen.grey)
        if self._is_grey:
            return {}
        if n_shown > len(styles.DASHES):
            return {"linestyle": "--"} if which else {}
        dash = styles.DASHES[self._number % len(styles.DASHES)] if n_shown > 1 else "-"
        own = {"color": self._class_colour(which), "linestyle": dash}
        return own | self._chosen.looks.get(self._name, {})

    def _draw(
        self, kind: str, x: ArrayLike, y: ArrayLike, label: Text = "_", **look: object
    ) -> None:
        """Draw a line of the current system; one without length is a dot."""
        is_dot = kind in self._curves_of_systems and np.unique(x).size == np.unique(y).size == 1
        self._line(kind, x, y, Pen(None, label, {"marker": "o", **look} if is_dot else look))


@base.door
def plot_histogram(
    results: Results | tuple[ArrayLike, ArrayLike],
    ax: Axes | None = None,
    *,
    bins: ArrayLike | None = None,
    prior: PriorLike | None = None,
    title: Text = None,
) -> Plot:
    """Draw histograms of the target and the non-target scores of one system.

    Parameters
    ----------
    results : Results or (tar, non)
        Of scores in memory.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default, in a new figure.
    bins : int or (k + 1,) array_like of float, optional
        As for `ScoreHistogram.from_sample`.
    prior : float, (k,) array_like of float, OperatingPoint or sequence of them, optional
        Mark the Bayes thresholds at these operating points.
    title : str, optional
        Title of the plot.

    Returns
    -------
    plots.Plot
        Shares of each class over the widths of the bins.

    Examples
    --------
    >>> plot = plot_histogram(([1.0, 3.0], [0.0, 0.5, 1.5, 3.0]), bins=3, prior=0.5)
    >>> [text.get_text() for text in plot.ax.get_legend().get_texts()]
    ['2 targets', '4 non-targets', 'threshold at 50 %']
    """
    (judged,) = styles.results_by_name({"": results}).values()
    thresholds, sample = styles.log_odds(prior), judged.sample
    numbers = curves.ScoreHistogram.from_sample(sample, bins)
    plot = _LLRPlot(ax, _SIZE, title, "score", "density")
    parts = (
        (f"{judged.n_tar} targets", numbers.tar, numbers.tar_outside),
        (f"{judged.n_non} non-targets", numbers.non, numbers.non_outside),
    )
    for which, (size, density, outside) in enumerate(parts):
        colour = plot._class_colour(which)
        plot.ax.stairs(density, numbers.edges, fill=True, color=colour, alpha=0.25)
        outline = plot.ax.stairs(density, numbers.edges, color=colour, label=size)
        plot.artists.setdefault("density", []).append(outline)
        for share, side in zip(outside.tolist(), ("below", "above"), strict=True):
            if share > 0.0:
                plot._say(f"{100.0 * share:.3g} % of {size} {side} the bins")
    for plo, dash in zip(thresholds, itertools.cycle((":", "-.", "--", "-"))):
        look: Settings = {"color": styles.text_colour(), "linestyle": dash, "linewidth": 1.0}
        plot.ax.axvline(-plo, label=f"threshold at {styles.per_cent(plo)}", **look)
    plot.ax.set_ylim(bottom=0.0)
    return plot._finish(legend=True)


@base.door
def plot_tippett(
    systems: Systems,
    ax: Axes | None = None,
    *,
    convention: Literal["above", "crossing"] = "above",
    bands: Mapping[str, Band] | None = None,
    title: Text = None,
    looks: Looks = None,
    legend: Legend = True,
    order: Names = None,
    highlight: Names = None,
) -> Plot:
    """Draw the shares of likelihood-ratios beyond each value: a Tippett plot.

    Parameters
    ----------
    systems : mapping of str to Results or (tar, non); or Results
        The systems by their names; scores are taken as natural-log likelihood-ratios.
    ax : matplotlib.axes.Axes, optional
        As for `plot_histogram`.
    convention : {"above", "crossing"}, default: "above"
        Of both classes the share at or above each value; or of non-targets (H2) the share at or
        below, so that the curves cross.
    bands : mapping of str to Band, optional
        Bands by the names of their systems; see `bosaris_py.uncertainty.bootstrap_bands`.
    title : str, optional
        Title of the plot.
    looks, legend, order, highlight
        Looks, legend, order and highlight, as for `bosaris_py.plot_det`.

    Returns
    -------
    plots.Plot
        One colour for targets and one for non-targets; up to four systems differ by dashes, more of
        them by colours. Dots at LR = 1 mark the rates of misleading evidence. Bands end where
        fewer than three trials are left.

    Examples
    --------
    >>> plot = plot_tippett({"A": ([1.0, 3.0, -0.5], [-2.0, 0.5, -1.0])})
    >>> plot.ax.get_xlabel()
    'log10 likelihood-ratio'
    """
    check_choice(convention, ("above", "crossing"), "convention")
    chosen = styles.choose(systems, looks, order, highlight, legend, bands, "tippett")
    plot = _LLRPlot(ax, _SIZE, title, "log10 likelihood-ratio", "share of trials (%)")
    crossing = convention == "crossing"
    for name, results in plot._each_of(chosen):
        curve = curves.TippettCurve.from_sample(results._llrs)
        plot._say_infinite()
        parts = (
            ("tar", "H1: targets", curve.tar_above, curve.misleading_tar, results.n_tar),
            ("non", "H2: non-targets", curve.non_above, 1.0 - curve.misleading_non, results.n_non),
        )
        for which, (kind, label, share, right, size) in enumerate(parts):
            look, flipped = plot._class_look(which), crossing and which == 1
            if name in chosen.bands:
                band = chosen.bands[name]
                value, low, high = (part[which] for part in (band.value, band.low, band.high))
                met, shade = enough(value, low, high, size), look.get("color", plot._colour)
                low, high = (1.0 - high, 1.0 - low) if flipped else (low, high)
                ends = 100.0 * low, 100.0 * high
                plot._band(band.x / _LOG_10, ends, met, facecolor=shade)
            share = curve.non_below if flipped else share
            steps = {"drawstyle": "steps-post" if flipped else "steps-pre"}
            plot._draw(kind, curve.llr / _LOG_10, 100.0 * share, label, **look | steps)
            dot = {key: value for key, value in look.items() if key == "color"}
            plot._draw("misleading", 0.0, 100.0 * (right if flipped else 1.0 - right), **dot)
    plot._line("identity", [0.0, 0.0], [0.0, 100.0], own=False)
    plot.ax.set(ylim=(0.0, 100.0), yticks=range(0, 101, 20))
    return plot._finish(legend)


@base.door
def plot_ece(
    systems: Systems,
    ax: Axes | None = None,
    *,
    bands: Mapping[str, Band] | None = None,
    title: Text = None,
    looks: Looks = None,
    legend: Legend = True,
    order: Names = None,
    highlight: Names = None,
) -> Plot:
    """Draw the empirical cross-entropy over the prior: an ECE plot.

    Parameters
    ----------
    systems, ax, bands, title, looks, legend, order, highlight
        As for `plot_tippett`.

    Returns
    -------
    plots.Plot
        Solid: of the LLRs; dashed: after PAV; dotted: of LLRs that are all zero. Where the solid
        line is above the dotted one, the LLRs mislead.

    Examples
    --------
    >>> plot = plot_ece({"A": ([1.0, 3.0, -0.5], [-2.0, 0.5, -1.0])})
    >>> [text.get_text() for text in plot.ax.get_legend().get_texts()]
    ['A actual', 'A after PAV', 'no LLRs']
    """
    chosen = styles.choose(systems, looks, order, highlight, legend, bands, "ece")
    plot = _LLRPlot(ax, _SIZE, title, "log10 prior odds", "empirical cross-entropy (bits)")
    highest = 1.0
    for name, results in plot._each_of(chosen):
        curve = curves.ECECurve.from_sample(results._llrs)
        x = curve.plo / _LOG_10
        if name in chosen.bands:
            band = chosen.bands[name]
            plot._band(band.x / _LOG_10, (band.low, band.high), np.isfinite(band.high))
        finite = np.isfinite(curve.ece)
        # The legend has no line that is not there.
        plot._draw("act", x, curve.ece, "actual" if finite.any() else "_")
        plot._draw("min", x, curve.min_ece, "after PAV")
        if not finite.all():
            plot._say_infinite(", so that the actual entropy is infinite")
        highest = max(highest, curve.ece[finite].max(initial=0.0))
    plot._line("neutral", x, curve.neutral, Pen(label="no LLRs"), own=False)
    plot.ax.set(xlim=(x[0], x[-1]), ylim=(0.0, min(1.08 * highest, 1.5)))
    return plot._finish(legend)


@base.door
def plot_pav(
    systems: Systems,
    ax: Axes | None = None,
    *,
    title: Text = None,
    looks: Looks = None,
    legend: Legend = True,
    order: Names = None,
    highlight: Names = None,
) -> Plot:
    """Draw LLRs after the PAV algorithm over those before it: a PAV plot.

    Parameters
    ----------
    systems, ax, title, looks, legend, order, highlight
        As for `plot_tippett`.

    Returns
    -------
    plots.Plot
        On the diagonal LLRs are right. Triangles at the frame are pools of one class, whose LLR
        is infinite. The legend has devPAV, see `PAVCurve.dev_pav`. Of one system, strokes at the
        foot are scores of non-targets, and those at the top of targets, in two colours.

    Examples
    --------
    >>> plot = plot_pav({"A": ([1.0, 3.0, 4.0], [-2.0, 0.0, 2.0])})
    >>> plot.ax.get_ylabel()
    'log10 LR after PAV'
    """
    chosen = styles.choose(systems, looks, order, highlight, legend)
    found = {n: curves.PAVCurve.from_sample(each._ranks) for n, each in chosen.results.items()}
    plot = _LLRPlot(ax, _SQUARE, title, "log10 LR of the system", "log10 LR after PAV")
    # Pools of one class, which may reach far, are marks on the frame.
    ends = np.hstack([np.stack((c.lowest, c.highest, c.llr)) for c in found.values()])
    inside = ends[:, np.isfinite(ends).all(axis=0)]
    # If there are no others, what the scores are is all there is to show.
    inside = inside if inside.size else ends[np.isfinite(ends)]
    limit = 1.2 * max(0.1, float(np.abs(inside).max(initial=0.0))) / _LOG_10
    plot.ax.set(xlim=(-limit, limit), ylim=(-limit, limit), box_aspect=1.0)
    alone = len(found) == 1
    stroke: Settings = {"marker": "|", "linestyle": "none", "alpha": 0.7}
    stroke["transform"] = plot.ax.get_xaxis_transform()
    for name, results in plot._each_of(chosen):
        curve, sample = found[name], results.sample
        plot._say_infinite()
        if np.isinf(curve.llr).all():
            plot._say("the classes are apart, so that PAV gives infinite LLRs only")
        # A pool may reach to an infinite score; its stroke leaves the frame.
        x = np.stack((curve.lowest, curve.highest), axis=1).clip(-1e6, 1e6) / _LOG_10
        y = np.repeat(curve.llr, 2) / _LOG_10
        dev = f"(devPAV {curve.dev_pav:.2f})" if np.isfinite(curve.dev_pav) else ""
        finite = np.isfinite(y)
        # One system leaves the colours to the classes.
        ink = {"color": styles.text_colour()} if alone and name not in chosen.looks else {}
        if finite.any():
            plot._draw("pav", x.ravel()[finite], y[finite], dev, **ink)
        # Targets at the top, where their LLRs are to be.
        sides = (
            ("infinite_high", limit, 0.988, sample.tar, "targets"),
            ("infinite_low", -limit, 0.012, sample.non, "non-targets"),
        )
        for which, (kind, end, height, one, noun) in enumerate(sides):
            own: Settings = {"color": plot._class_colour(which)} if alone else {}
            pure = curve.llr == np.copysign(np.inf, end)
            if pure.any():
                label = "_" if finite.any() or which == 1 else ""
                places = x[pure].mean(axis=1).clip(-limit, limit)
                plot._draw(kind, places, np.full(places.size, end), label, **own)
            if alone:
                # No more strokes than this can be told apart.
                places = np.unique(np.round(one.listed / _LOG_10 / limit, 3)) * limit
                places = places[np.abs(places) <= limit]
                plot.ax.plot(places, np.full(places.size, height), **stroke | own)
                plot._key(noun, f"{one.size} {noun}", own)
    plot._line("identity", [-limit, limit], [-limit, limit], own=False)
    return plot._finish(legend)


@base.door
def plot_reliability(
    systems: Systems,
    prior: float = 0.5,
    ax: Axes | None = None,
    *,
    title: Text = None,
    looks: Looks = None,
    legend: Legend = True,
    order: Names = None,
    highlight: Names = None,
) -> Plot:
    """Draw how often targets are met over how often posteriors say: a reliability diagram.

    Parameters
    ----------
    systems
        As for `plot_tippett`.
    prior : float, default: 0.5
        Target prior that turns LLRs into posteriors.
    ax
        As for `plot_tippett`.
    title, looks, legend, order, highlight
        As for `plot_tippett`.

    Returns
    -------
    plots.Plot
        Shares of targets in the pools of PAV: T. Dimitriadis et al., PNAS 118, 2021,
        doi:10.1073/pnas.2016191118.

    Examples
    --------
    >>> plot = plot_reliability({"A": ([1.0, 3.0, -0.5], [-2.0, 0.5, -1.0])}, prior=0.1)
    >>> plot.ax.get_xlabel()
    'posterior at a prior of 10 %'
    """
    chosen = styles.choose(systems, looks, order, highlight, legend)
    plos = styles.log_odds(prior)
    if len(plos) != 1:
        raise invalid("prior", "be one operating point", describe(prior))
    (plo,) = plos
    words = f"posterior at a prior of {styles.per_cent(plo)}", "share of targets"
    plot = _LLRPlot(ax, _SQUARE, title, *words)
    for _, results in plot._each_of(chosen):
        pools = curves.PAVCurve.from_sample(results._ranks)
        x = sigmoid(np.stack((pools.lowest, pools.highest), axis=1).ravel() + plo)
        plot._draw("pools", x, np.repeat(sigmoid(pools.llr + plo), 2), "")
    plot._line("identity", [0.0, 1.0], [0.0, 1.0], own=False)
    plot.ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), box_aspect=1.0)
    return plot._finish(legend)
