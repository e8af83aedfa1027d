"""Histograms of the standard errors that repeated bootstraps find."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from bosaris_py._validation import describe, invalid
from bosaris_py.plots.canvas import make_axes
from bosaris_py.uncertainty.distribution import StandardErrorDistribution

__all__ = ["plot_standard_errors"]

_SIZE = (7.0, 4.0)


def plot_standard_errors(
    distributions: Mapping[str, StandardErrorDistribution],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    bins: int | str = "auto",
    **patch_keywords: Any,
) -> Axes:
    """Draw histograms of standard errors, one for each method of resampling, and their means.

    Parameters
    ----------
    distributions : mapping of str to StandardErrorDistribution
        For each legend entry what `standard_error_distribution` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default, in a new figure of its own, which is not registered with
        pyplot.
    title : str, optional
        Title of the plot.
    bins : int or str, default: "auto"
        Number of bins of each histogram, or one of numpy's rules. Every histogram has its
        own bins, between its own smallest and largest standard error.
    **patch_keywords
        Matplotlib's properties of the bars, such as ``alpha``.

    Returns
    -------
    matplotlib.axes.Axes
        With a legend.

    Raises
    ------
    InvalidInputError
        If there is no distribution, one is something else, or `ax` is not an Axes.

    Notes
    -----
    Figure 3 of [1]_: the black circles are the means. What to look at is the gap between
    methods. A histogram's own width is only the noise of resampling with a limited number
    of replicates, and says nothing about the data.

    References
    ----------
    .. [1] J. C. Wu, A. F. Martin, C. S. Greenberg and R. N. Kacker, "The impact of data
       dependence on speaker recognition evaluation", IEEE/ACM TASLP 25, 2017,
       doi:10.1109/TASLP.2016.2614725.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import uncertainty as unc
    >>> rng = np.random.default_rng(0)
    >>> sets = np.repeat(np.arange(20), 30)
    >>> tar = 3 + 0.5 * np.repeat(rng.normal(size=20), 30) + rng.normal(size=600)
    >>> non = 0.5 * np.repeat(rng.normal(size=20), 30) + rng.normal(size=600)
    >>> runs = {
    ...     method: unc.standard_error_distribution(
    ...         tar, non, unc.DCF(1.5), method=method, tar_sets=sets, non_sets=sets, runs=50, rng=1
    ...     )
    ...     for method in ("one-layer", "two-layer")
    ... }
    >>> axes = plot_standard_errors(runs)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['one-layer', 'two-layer', 'means']
    """
    owner = "plot_standard_errors"
    _check(distributions, owner)
    axes = make_axes(ax, owner, _SIZE)
    if title is not None:
        axes.set_title(title)
    settings: dict[str, Any] = {"alpha": 0.6, "histtype": "stepfilled"}
    for name, runs in distributions.items():
        axes.hist(runs.standard_errors, bins=bins, label=name, **(settings | patch_keywords))
    axes.plot(
        [runs.mean for runs in distributions.values()],
        [0.0] * len(distributions),
        linestyle="none",
        marker="o",
        markersize=6,
        color="black",
        clip_on=False,
        zorder=3,
        label="means",
    )
    axes.set_xlabel("standard error")
    axes.set_ylabel("number of runs")
    axes.set_ylim(bottom=0.0)
    axes.legend(fontsize="small")
    return axes


def _check(distributions: object, owner: str) -> None:
    expected = "be a mapping from names to StandardErrorDistribution"
    if not isinstance(distributions, Mapping) or not distributions:
        raise invalid("distributions", owner, expected, describe(distributions))
    for name, runs in distributions.items():
        if not isinstance(runs, StandardErrorDistribution):
            raise invalid("distributions", owner, expected, f"{describe(runs)} for {name}")
