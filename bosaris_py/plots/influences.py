"""Half-normal plot of the influences of speakers: who stands out, by name."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from bosaris_py._execution import whole_number
from bosaris_py._validation import describe, invalid
from bosaris_py.plots import looks
from bosaris_py.plots.display import Plot
from bosaris_py.uncertainty.influence.by_speaker import InfluenceTable
from bosaris_py.uncertainty.influence.speaker_influence import SpeakerInfluence

_SIZE = (6.0, 4.5)

# What each sign is called, of a metric and of a difference.
_LABELS = {
    "targets": ("raises it by targets (goat)", "raises it by targets"),
    "non-targets": ("raises it by non-targets (lamb, wolf)", "raises it by non-targets"),
    "": ("lowers it", "lowers it"),
}


@looks.one_at_a_time
def plot_influences(
    influences: InfluenceTable | SpeakerInfluence,
    *,
    ax: Axes | None = None,
    n_named: int = 5,
    confidence: float = 0.95,
    title: str | None = None,
) -> Plot:
    """Draw how much each speaker changes a metric, against what one normal law would have.

    Parameters
    ----------
    influences : InfluenceTable or SpeakerInfluence
        What `speaker_influences` returned, or ``speaker_z_test(...).contrast``.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default, in a new figure that is not registered with pyplot.
    n_named : int, default: 5
        So many speakers are named, those of the greatest influence.
    confidence : float, default: 0.95
        Of the band, for each speaker alone.
    title : str, optional
        Title of the plot.

    Returns
    -------
    plots.Plot
        Speakers who are all alike lie along the line, whose slope is that of their median. A
        speaker above the band makes more of the metric, and of its variance, than chance explains.

    Notes
    -----
    A. C. Atkinson, Biometrika 68, 1981, doi:10.1093/biomet/68.1.13; here with the law of ordered
    numbers in place of simulated bands. See `speaker_influences`.

    Examples
    --------
    >>> import bosaris_py as bp
    >>> from bosaris_py import uncertainty as unc
    >>> test = bp.load_example("asvspoof2019_la").eval
    >>> who = unc.speaker_influences(
    ...     test.scores["xvector"], test, unc.EER(), speakers=("model", "speaker"))
    >>> [text.get_text() for text in plot_influences(who, n_named=2).texts]
    ['LA_0004', 'LA_0067']
    """
    given: object = influences
    found = InfluenceTable.of(given) if isinstance(given, SpeakerInfluence) else given
    if not isinstance(found, InfluenceTable):
        raise invalid("influences", "be what `speaker_influences` returned", describe(influences))
    n_named = whole_number(n_named, 0, "n_named")
    low, high = found.band(confidence)
    plot = Plot(looks.make_axes(ax, _SIZE), title)
    axes, x, sizes = plot.ax, found.quantiles, np.abs(found.influences)
    grey = looks.text_colour()
    if found.scale > 0:
        axes.fill_between(x, low, high, color=grey, alpha=0.12, linewidth=0.0)
        ends = np.array([0.0, x[0]])
        axes.plot(ends, found.scale * ends, color=grey, linewidth=0.8, linestyle="--")
    kinds = np.array([found.kind(number) for number in range(sizes.size)])
    for number, (kind, labels) in enumerate(_LABELS.items()):
        own = kinds == kind
        if not own.any():
            continue
        look = looks.system_look(number, axes)
        marks = {"marker": "o^s"[number], "markersize": 5.0, "linestyle": "none"}
        label = labels[int(found.is_difference)]
        (points,) = axes.plot(
            x[own], sizes[own], color=look.colour, label=label, alpha=0.85, **looks.scaled(marks)
        )
        plot.artists.setdefault("speaker", []).append(points)
    axes.set_xlim(0.0, 1.12 * x[0])
    axes.set_ylim(0.0, 1.12 * max(float(sizes.max()), np.finfo(np.float64).tiny))
    axes.set_xlabel("quantile of the half-normal law")
    what = "difference" if found.is_difference else "metric"
    axes.set_ylabel(f"change of the {what} without the speaker")
    axes.grid(visible=True, linewidth=0.6, alpha=0.6)
    axes.legend(fontsize=looks.letters("small"), loc="upper left")
    named = {i: str(found.speakers[i]) for i in range(min(n_named, sizes.size))}
    looks.name_points(axes, np.stack((x, sizes), axis=1), named)
    return plot
