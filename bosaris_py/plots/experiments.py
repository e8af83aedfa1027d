"""Figures of experiments: replicates of several methods, two standard errors, numbers of trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from bosaris_py._cautions import hushed
from bosaris_py._validation import as_vector, describe, invalid, refuse_nan
from bosaris_py.errors import FewErrorsWarning
from bosaris_py.plots.display import Plot
from bosaris_py.plots.looks import (
    Settings,
    as_name,
    letters,
    make_axes,
    one_at_a_time,
    system_look,
    text_colour,
)
from bosaris_py.uncertainty import decisions
from bosaris_py.uncertainty.bootstrap_result import BootstrapResult

_SIZE = (6.0, 4.0)
_SQUARE = (4.5, 4.5)

_MOST_BINS = 200
_TESTS: tuple[decisions.IntervalMethod, ...] = ("hter", "naive", "class")

# A line takes two points.
_FEWEST_POINTS = 2


@one_at_a_time
def plot_replicates(
    results: Mapping[str, BootstrapResult],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    xlabel: str | None = None,
    bins: int | str = "auto",
    **patch_keywords: object,
) -> Plot:
    """Draw histograms of the replicates of several bootstraps, with the estimates.

    Parameters
    ----------
    results : mapping of str to BootstrapResult
        For each legend entry a bootstrap of one number: several methods of one system, as in the
        paper, or several systems.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default, in a new figure that is not registered with pyplot.
    title, xlabel : str, optional
        Title of the plot, and what was measured.
    bins : int or str, default: "auto"
        Number of bins, or one of numpy's rules; all histograms have the same, so that heights can
        be compared. A rule is that of the narrowest histogram, with at most 200 bins.
    **patch_keywords
        Matplotlib's properties of the bars, such as ``alpha``.

    Returns
    -------
    plots.Plot
        With a legend. A vertical line stands at each estimate.

    Notes
    -----
    Figure 4 of Wu et al., IEEE/ACM TASLP 25, 2017, doi:10.1109/TASLP.2016.2614725. Replicates that
    are not defined are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import uncertainty as unc
    >>> rng = np.random.default_rng(0)
    >>> sets = np.repeat(np.arange(20), 30)
    >>> tar = 3 + 0.5 * np.repeat(rng.normal(size=20), 30) + rng.normal(size=600)
    >>> non = 0.5 * np.repeat(rng.normal(size=20), 30) + rng.normal(size=600)
    >>> cost = unc.DCF(1.5, 0.01, 10, 1)
    >>> layer = unc.bootstrap(tar, non, cost, method="one-layer", tar_sets=sets, non_sets=sets)
    >>> plot = plot_replicates({"iid": unc.bootstrap(tar, non, cost), "one-layer": layer})
    >>> [text.get_text() for text in plot.get_legend().get_texts()]
    ['iid', 'one-layer', 'estimate']
    """
    samples = _samples(results)
    whole = np.concatenate([*samples.values()])
    if not isinstance(bins, int):
        # A rule for all would make one bar of a narrow method beside a wide one.
        narrow = min(np.diff(np.histogram_bin_edges(x, bins)[:2]).item() for x in samples.values())
        bins = int(np.clip(np.ceil(np.ptp(whole) / narrow), 1, _MOST_BINS))
    edges = np.histogram_bin_edges(whole, bins).tolist()
    plot = Plot(make_axes(ax, _SIZE), title)
    axes = plot.ax
    settings: Settings = {"alpha": 0.6, "histtype": "stepfilled"}
    for number, (name, sample) in enumerate(samples.items()):
        look: Settings = {"color": system_look(number, axes).colour} | settings | patch_keywords
        axes.hist(sample, bins=edges, label=as_name(name), **look)
    estimates = dict.fromkeys(float(result.estimate) for result in results.values())
    for number, estimate in enumerate(estimates):
        label = "_nolegend_" if number else "estimate" + "s" * (len(estimates) > 1)
        axes.axvline(estimate, color=text_colour(), linewidth=1.0, linestyle="--", label=label)
    axes.set_xlabel(xlabel or "value of the replicates")
    axes.set_ylabel("number of replicates")
    axes.legend(fontsize=letters("small"))
    return plot


def _samples(results: object) -> dict[str, npt.NDArray[np.float64]]:
    """Return the defined replicates by name."""
    expected = "map names to BootstrapResult"
    if not isinstance(results, Mapping) or not results:
        raise invalid("results", expected, describe(results))
    found = {}
    for name, result in results.items():
        if not isinstance(result, BootstrapResult):
            raise invalid(f"results[{name!r}]", "be a BootstrapResult", describe(result))
        if np.ndim(result.estimate):
            got = f"{np.size(result.estimate)} values"
            raise invalid(f"results[{name!r}]", "be of one number", got)
        found[str(name)] = result.replicates[np.isfinite(result.replicates)]
    return found


@one_at_a_time
def plot_agreement(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    xlabel: str = "analytical standard error",
    ylabel: str = "bootstrap standard error",
) -> Plot:
    """Draw two estimates of the same numbers against each other, with the line that fits best.

    Parameters
    ----------
    first, second : (n,) array_like of float
        Of each system, for instance its standard error by a formula, and by a bootstrap.
    names : sequence of str, optional
        Names of the systems, which stand beside the points.
    ax, title
        As for `plot_replicates`.
    xlabel, ylabel : str
        What `first` and `second` are.

    Returns
    -------
    plots.Plot
        Its legend has slope and intercept of the line by least squares; the diagonal is dotted.

    Notes
    -----
    Figure 4 of NISTIR 7722, where the slope is close to 1 and the intercept close to 0.

    Examples
    --------
    >>> plot = plot_agreement([1.0, 2.0, 4.0], [1.1, 2.1, 4.1])
    >>> plot.get_legend().get_texts()[0].get_text()
    'slope 1, intercept 0.1'
    """
    x, y = as_vector(first, "first"), as_vector(second, "second")
    for values, what in ((x, "first"), (y, "second")):
        refuse_nan(values, what)
    if x.size != y.size or x.size < _FEWEST_POINTS or x.min() == x.max():
        expected = "hold as many numbers as `first`, two different ones at least"
        raise invalid("second", expected, f"{y.size} and {x.size}")
    if names is not None and len(names) != x.size:
        raise invalid("names", f"hold {x.size} names", f"{len(names)}")
    slope, intercept = np.polyfit(x, y, 1)
    plot = Plot(make_axes(ax, _SQUARE), title)
    axes = plot.ax
    colour = system_look(0, axes).colour
    ends = np.array([min(x.min(), y.min()), max(x.max(), y.max())])
    ends += 0.05 * np.ptp(ends) * np.array([-1.0, 1.0])
    axes.plot(ends, ends, color=text_colour(), linewidth=0.8, linestyle=":", label="_nolegend_")
    label = f"slope {slope:.3g}, intercept {intercept:.3g}"
    axes.plot(ends, slope * ends + intercept, color=colour, linewidth=1.2, label=label)
    axes.plot(x, y, linestyle="none", marker="o", markersize=5, color=colour, label="_nolegend_")
    for name, place in zip(names or (), zip(x, y, strict=True), strict=False):
        offset: Settings = {"xytext": (4, -9), "textcoords": "offset points"}
        axes.annotate(as_name(name, most=48), place, fontsize=letters("small"), **offset)
    axes.set(xlim=ends, ylim=ends, xlabel=xlabel, ylabel=ylabel)
    axes.set_aspect("equal")
    axes.grid(visible=True, linewidth=0.6, alpha=0.6)
    axes.legend(fontsize=letters("small"), loc="upper left")
    return plot


@one_at_a_time
def plot_hter_deviations(
    far: float,
    frr: float,
    n_tar: float,
    *,
    ratios: npt.ArrayLike | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Plot:
    """Draw the standard deviation of a HTER over the ratio of non-targets to targets.

    Parameters
    ----------
    far, frr : float
        False-alarm rate (false acceptances) and miss rate (false rejections), fractions.
    n_tar : float
        Number of targets (clients); that of non-targets (impostors) varies.
    ratios : (k,) array_like of float, optional
        Non-targets over targets; by default 60 from 1 to 1000.
    ax, title
        As for `plot_replicates`.

    Returns
    -------
    plots.Plot
        Both axes are logarithmic. The deviation of the HTER falls no further than that of its miss
        rate allows, half of the dashed one; those of the tests *naive* and *class* do.

    Notes
    -----
    Figure 3 of Bengio and Mariéthoz, Odyssey 2004, by their equations 13, 17 and 18; there
    ``far=0.1, frr=0.2, n_tar=100``.

    Examples
    --------
    >>> plot = plot_hter_deviations(0.1, 0.2, 100, ratios=[1, 10, 100])
    >>> [text.get_text() for text in plot.get_legend().get_texts()]
    ['HTER', 'naive', 'class', 'FRR', 'FAR']
    """
    given = np.geomspace(1.0, 1000.0, 60) if ratios is None else ratios
    x = as_vector(given, "ratios").astype(np.float64)
    if not (x.size and np.all((x > 0) & np.isfinite(x))):
        raise invalid("ratios", "be positive", describe(ratios))
    rows = []
    with hushed(FewErrorsWarning):
        for ratio in x.tolist():
            counts = decisions.ErrorCounts.from_rates(frr, n_tar, far, ratio * n_tar)
            found = [
                *(decisions.hter_interval(counts, method=method) for method in _TESTS),
                decisions.error_rate_interval(counts.misses, counts.n_tar),
                decisions.error_rate_interval(counts.false_alarms, counts.n_non),
            ]
            rows.append([one.standard_error for one in found])
    plot = Plot(make_axes(ax, _SIZE), title)
    axes = plot.ax
    labels = "HTER", "naive", "class", "FRR", "FAR"
    for number, (label, y) in enumerate(zip(labels, np.array(rows).T, strict=True)):
        dash = "-" if number < 3 else "--"
        axes.plot(x, y, label=label, color=system_look(number, axes).colour, linestyle=dash)
    axes.set(xscale="log", yscale="log", xlabel="NI / NC, non-targets over targets")
    axes.set_ylabel("standard deviation")
    axes.grid(visible=True, which="both", linewidth=0.4, alpha=0.6)
    axes.legend(fontsize=letters("small"))
    return plot
