"""Plots of log-likelihood-ratios: what they are like, what they should be, what they cost.

The numbers are in `bosaris_py.evaluation.calibration_curves`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from bosaris_py._validation import check_choice, describe, invalid
from bosaris_py.evaluation import Results, calibration_curves
from bosaris_py.numerics.priors import PriorLike, sigmoid
from bosaris_py.plots import looks as styles
from bosaris_py.plots.canvas import Sheet
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

_SIZE = (6.0, 4.5)
_SQUARE = (5.0, 5.0)
_LOG_10 = math.log(10.0)

# Up to so many trials of a class are drawn one by one below a histogram.
_RUG = 200

# Systems whose numbers of trials can be told apart; their steps, and the share of the Axes that
# they take.
_MOST_COUNTED = 3
_BINS, _FOOT = 40, 0.14


class _LLRSheet(Sheet):
    """Lines of several systems; what each kind looks like."""

    _curves_of_systems = ("pav", "pools", "reliability", "tar", "non", "act", "min")
    _looks: ClassVar = {
        "tar": {"linestyle": "-", "linewidth": 1.4},
        "non": {"linestyle": "--", "linewidth": 1.4},
        "misleading": {"marker": "o", "markersize": 6, "zorder": 3},
        "act": {"linestyle": "-", "linewidth": 1.6},
        "min": {"linestyle": "--", "linewidth": 1.2},
        "neutral": {"linestyle": ":", "linewidth": 1.4},
        "pav": {"linestyle": "-", "linewidth": 1.4},
        "identity": {"linestyle": "-", "linewidth": 0.8},
        "infinite_high": {"marker": "^", "markersize": 7, "clip_on": False, "zorder": 3},
        "infinite_low": {"marker": "v", "markersize": 7, "clip_on": False, "zorder": 3},
        "pools": {"linestyle": "-", "linewidth": 1.4},
        "reliability": {"linestyle": "-", "linewidth": 1.2, "marker": "o", "markersize": 5},
    }


def _sheet(ax: Axes | None, size: tuple[float, float], title: Text, x: str, y: str) -> _LLRSheet:
    sheet = _LLRSheet(styles.make_axes(ax, size), title)
    sheet.ax.set_xlabel(x)
    sheet.ax.set_ylabel(y)
    # Both axes of a square are of one length.
    sheet._has_headroom = size is not _SQUARE
    return sheet


@styles.one_at_a_time
def plot_histogram(
    results: Results | tuple[npt.ArrayLike, npt.ArrayLike],
    ax: Axes | None = None,
    *,
    bins: npt.ArrayLike | None = None,
    prior: PriorLike | None = None,
    title: str | None = None,
) -> Plot:
    """Draw histograms of the target and the non-target scores of one system.

    Parameters
    ----------
    results : Results or (tar, non)
        Of scores in memory.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default, in a new figure.
    bins : int or (k + 1,) array_like of float, optional
        As for `ScoreHistogram.from_results`.
    prior : float, (k,) array_like of float, OperatingPoint or sequence of them, optional
        Mark the Bayes thresholds at these operating points.
    title : str, optional
        Title of the plot.

    Returns
    -------
    plots.Plot
        Each trial of a class of up to 200 is a stroke below the histogram.

    Examples
    --------
    >>> plot = plot_histogram(([1.0, 3.0], [0.0, 0.5, 1.5, 3.0]), bins=3, prior=0.5)
    >>> [text.get_text() for text in plot.get_legend().get_texts()]
    ['2 targets', '4 non-targets', 'threshold at 50 %']
    """
    if not isinstance(results, (Results, tuple)):
        raise invalid("results", "be Results or (tar, non) of one system", describe(results))
    (judged,) = results_of({"": results}).values()
    sheet = _sheet(ax, _SIZE, title, "score", "density")
    numbers = calibration_curves.ScoreHistogram.from_results(judged, bins)
    groups = ("targets", numbers.tar, numbers.n_tar), ("non-targets", numbers.non, numbers.n_non)
    sample = judged.sample
    for which, (noun, density, size) in enumerate(groups):
        look = styles.system_look(which, sheet.ax)
        label = f"{size} {noun}"
        sheet.ax.stairs(density, numbers.edges, fill=True, color=look.colour, alpha=0.25)
        dash = "-" if which == 0 else "--"
        outline: styles.Settings = {"color": look.colour, "linestyle": dash, "label": label}
        sheet._drawn.lines.append(sheet.ax.stairs(density, numbers.edges, **outline))
        if size <= _RUG and not sample.in_files:
            scores = (sample.non if which else sample.tar).listed
            heights = sheet.ax.get_xaxis_transform()
            ends = (0.0, 0.03) if which == 0 else (0.03, 0.06)
            sheet.ax.vlines(scores, *ends, color=look.colour, linewidth=0.6, transform=heights)
    outside = numbers.tar_outside, numbers.non_outside
    for which, ((noun, _, size), shares) in enumerate(zip(groups, outside, strict=True)):
        look = styles.system_look(which, sheet.ax)
        for side, share in enumerate(shares.tolist()):
            if share > 0.0:
                # An arrow at the frame, on the side where the scores are.
                place: styles.Settings = {"transform": sheet.ax.transAxes, "clip_on": False}
                place |= {"marker": "<>"[side], "linestyle": "none", "color": look.colour}
                sheet.ax.plot([side], [0.06 + 0.06 * which], **place)
                beyond = ("below", "above")[side]
                note = f"arrow: {100.0 * share:.3g} % of {size} {noun} {beyond} the bins"
                sheet._say(note)
    for plo, dash in zip(log_odds(prior), itertools.cycle((":", "-.", "--", "-"))):
        label = f"threshold at {per_cent(plo)}"
        sheet.ax.axvline(
            -plo, color=styles.text_colour(), linewidth=1.0, linestyle=dash, label=label
        )
    sheet.ax.set_ylim(bottom=0.0)
    return sheet._finish()


@styles.one_at_a_time
def plot_tippett(
    systems: Systems,
    ax: Axes | None = None,
    *,
    convention: Literal["above", "crossing"] = "above",
    bands: Mapping[str, Band] | None = None,
    title: str | None = None,
    looks: Looks = None,
    legend: bool | str = True,
    order: str | Sequence[str] | None = None,
    highlight: str | Sequence[str] | None = None,
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
        Dots at LR = 1 mark the rates of misleading evidence.

    Examples
    --------
    >>> plot = plot_tippett({"A": ([1.0, 3.0, -0.5], [-2.0, 0.5, -1.0])})
    >>> plot.get_xlabel()
    'log10 likelihood-ratio'
    """
    check_choice(convention, ("above", "crossing"), "convention")
    chosen = Chosen.of(results_of(systems), looks, legend, order, highlight)
    areas = bands_of(bands, chosen.given, "tippett")
    sheet = _sheet(ax, _SIZE, title, "log10 likelihood-ratio", "share of trials (%)")
    crossing = convention == "crossing"
    for name, results in sheet._each_of(chosen):
        curve = calibration_curves.TippettCurve.from_results(results)
        sheet._say_infinite()
        x = curve.llr / _LOG_10
        non = curve.non_below if crossing else curve.non_above
        if name in areas:
            band = areas[name]
            for which in (0, 1):
                low, high = band.low[which], band.high[which]
                if crossing and which == 1:
                    low, high = 1.0 - high, 1.0 - low
                # Beyond the scores of a class there is no curve.
                met = (band.value[which] > 0.0) & (band.value[which] < 1.0)
                ends = 100.0 * low[met], 100.0 * high[met]
                sheet._system_band(ends, band.x[met] / _LOG_10, None, {})
        sheet._draw("tar", x, 100.0 * curve.tar_above, "H1: targets", drawstyle="steps-pre")
        side = "steps-post" if crossing else "steps-pre"
        sheet._draw("non", x, 100.0 * non, "H2: non-targets", drawstyle=side)
        misleading = (
            1.0 - curve.misleading_tar,
            1.0 - curve.misleading_non if crossing else curve.misleading_non,
        )
        for share in misleading:
            sheet._draw("misleading", 0.0, 100.0 * share)
    sheet._draw_once("identity", [0.0, 0.0], [0.0, 100.0], alpha=0.5)
    sheet.ax.set(ylim=(0.0, 100.0), yticks=range(0, 101, 20))
    return sheet._finish(legend=chosen.legend)


@styles.one_at_a_time
def plot_ece(
    systems: Systems,
    ax: Axes | None = None,
    *,
    bands: Mapping[str, Band] | None = None,
    title: str | None = None,
    looks: Looks = None,
    legend: bool | str = True,
    order: str | Sequence[str] | None = None,
    highlight: str | Sequence[str] | None = None,
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
    >>> [text.get_text() for text in plot.get_legend().get_texts()]
    ['A actual', 'A after PAV', 'no LLRs']
    """
    words = "log10 prior odds", "empirical cross-entropy (bits)"
    chosen = Chosen.of(results_of(systems), looks, legend, order, highlight)
    areas = bands_of(bands, chosen.given, "ece")
    sheet = _sheet(ax, _SIZE, title, *words)
    highest = 1.0
    for name, results in sheet._each_of(chosen):
        curve = calibration_curves.ECECurve.from_results(results)
        x = curve.plo / _LOG_10
        if name in areas:
            band = areas[name]
            sheet._system_band((band.low, band.high), band.x / _LOG_10, None, {})
        finite = np.isfinite(curve.ece)
        # The legend has no line that is not there.
        sheet._draw("act", x, curve.ece, "actual" if finite.any() else "_nolegend_")
        sheet._draw("min", x, curve.min_ece, "after PAV")
        if not finite.all():
            sheet._say_infinite(", so that the actual entropy is infinite")
        highest = max(highest, curve.ece[finite].max(initial=0.0))
    sheet._draw_once("neutral", x, curve.neutral, "no LLRs")
    sheet.ax.set_xlim(x[0], x[-1])
    sheet.ax.set_ylim(0.0, min(1.08 * highest, 1.5))
    return sheet._finish(legend=chosen.legend)


@styles.one_at_a_time
def plot_pav(
    systems: Systems,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    looks: Looks = None,
    legend: bool | str = True,
    order: str | Sequence[str] | None = None,
    highlight: str | Sequence[str] | None = None,
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
        is infinite. The legend has devPAV, see `PAVCurve.dev_pav`.

    Examples
    --------
    >>> plot = plot_pav({"A": ([1.0, 3.0, 4.0], [-2.0, 0.0, 2.0])})
    >>> plot.get_ylabel()
    'log10 LR after PAV'
    """
    chosen = Chosen.of(results_of(systems), looks, legend, order, highlight)
    sheet = _sheet(ax, _SQUARE, title, "log10 LR of the system", "log10 LR after PAV")
    curves = {
        name: calibration_curves.PAVCurve.from_results(results)
        for name, results in chosen.results.items()
    }
    # Pools of one class, which may reach far, are marks on the frame.
    pools = [np.abs(np.stack((c.lowest, c.highest, c.llr))) for c in curves.values()]
    finite = [part[:, np.isfinite(part).all(axis=0)] for part in pools]
    if not any(part.size for part in finite):
        # Only pools of one class: what the scores are is all there is to show.
        finite = [part[np.isfinite(part)] for part in pools]
    limit = 1.2 * max(0.1, *(float(part.max(initial=0.0)) for part in finite)) / _LOG_10
    for name, _ in sheet._each_of(chosen):
        curve = curves[name]
        sheet._say_infinite()
        if np.isinf(curve.llr).all():
            sheet._say_of_system("the classes are apart, so that PAV gives infinite LLRs only")
        # A pool may reach to an infinite score; its stroke leaves the frame.
        x = np.stack((curve.lowest, curve.highest), axis=1).clip(-1e6, 1e6) / _LOG_10
        y = np.repeat(curve.llr, 2) / _LOG_10
        dev = f"(devPAV {curve.dev_pav:.2f})" if np.isfinite(curve.dev_pav) else ""
        inside = np.repeat(np.isfinite(curve.llr), 2)
        if inside.any():
            sheet._draw("pav", x.ravel()[inside], y[inside], dev)
        for kind, end, pools in (
            ("infinite_low", -limit, curve.llr == -np.inf),
            ("infinite_high", limit, curve.llr == np.inf),
        ):
            if pools.any():
                label = "_nolegend_" if inside.any() or kind != "infinite_high" else ""
                sheet._draw(kind, x[pools].mean(axis=1).clip(-limit, limit), end, label)
    sheet._draw_once("identity", [-limit, limit], [-limit, limit], alpha=0.6)
    settings: styles.Settings = {
        "transform": sheet.ax.transAxes,
        "fontsize": styles.letters("x-small"),
    }
    sheet.ax.text(0.03, 0.6, "LLRs are too low", **settings)
    sheet.ax.text(0.97, 0.4, "LLRs are too high", ha="right", **settings)
    sheet.ax.set(xlim=(-limit, limit), ylim=(-limit, limit), box_aspect=1.0)
    return sheet._finish(legend=chosen.legend)


@styles.one_at_a_time
def plot_reliability(
    systems: Systems,
    prior: float = 0.5,
    ax: Axes | None = None,
    *,
    bins: int | None = None,
    title: str | None = None,
    looks: Looks = None,
    legend: bool | str = True,
    order: str | Sequence[str] | None = None,
    highlight: str | Sequence[str] | None = None,
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
    bins : int, optional
        Number of bins between 0 and 1. By default there are none: pools are those of PAV.
    title, looks, legend, order, highlight
        As for `plot_tippett`.

    Returns
    -------
    plots.Plot
        By default shares of targets in the pools of PAV: T. Dimitriadis et al., PNAS 118, 2021,
        doi:10.1073/pnas.2016191118. Steps at the foot are numbers of trials; of more than three
        systems there are none. With bins there are bars on the diagonal, see `ReliabilityCurve`.

    Examples
    --------
    >>> plot = plot_reliability({"A": ([1.0, 3.0, -0.5], [-2.0, 0.5, -1.0])}, prior=0.1)
    >>> plot.get_xlabel()
    'posterior at a prior of 10 %'
    """
    words = f"posterior at a prior of {100.0 * prior:g} %", "share of targets"
    chosen = Chosen.of(results_of(systems), looks, legend, order, highlight)
    sheet = _sheet(ax, _SQUARE, title, *words)
    n_counted = len(chosen.results) - len(chosen.others)
    for _, results in sheet._each_of(chosen):
        if bins is None:
            _draw_pools(sheet, results, prior, counted=n_counted <= _MOST_COUNTED)
            continue
        curve = calibration_curves.ReliabilityCurve.from_results(results, prior, bins=bins)
        sheet._draw("reliability", curve.predicted, curve.observed, "", linestyle="-")
        middle = (curve.low + curve.high) / 2.0
        bars: styles.Settings = {
            "fmt": "none",
            "ecolor": sheet._look.colour,
            "alpha": 0.45,
            "capsize": 3.0,
        }
        if not sheet._is_other:
            sheet.ax.errorbar(curve.predicted, middle, curve.high - middle, **bars)
    sheet._draw_once("identity", [0.0, 1.0], [0.0, 1.0], alpha=0.6)
    sheet.ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), box_aspect=1.0)
    return sheet._finish(legend=chosen.legend)


def _draw_pools(sheet: _LLRSheet, results: Results, prior: float, *, counted: bool) -> None:
    """Draw the pools of PAV as posteriors, and the numbers of trials."""
    pools = calibration_curves.PAVCurve.from_results(results)
    (plo,) = log_odds(prior)
    x = sigmoid(np.stack((pools.lowest, pools.highest), axis=1).ravel() + plo)
    y = np.repeat(sigmoid(pools.llr + plo), 2)
    sheet._draw("pools", x, y, "")
    if sheet._is_other or not counted:
        return
    curve = calibration_curves.ReliabilityCurve.from_results(results, prior, bins=_BINS)
    edges = np.linspace(0.0, 1.0, _BINS + 1)
    numbers, _ = np.histogram(curve.predicted, edges, weights=curve.n_tar + curve.n_non)
    # Most trials are at the ends: heights are logarithms.
    heights = _FOOT * np.log1p(numbers) / np.log1p(max(numbers.max(), 1))
    colour = sheet._look.colour
    sheet.artists.setdefault("counts", []).append(
        sheet.ax.stairs(heights, edges, color=colour, alpha=0.8, linewidth=0.8)
    )
    sheet._say("Steps at the foot are numbers of trials, on a logarithmic scale.")
