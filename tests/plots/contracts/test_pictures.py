"""Pictures measured: ticks that do not touch, room for the curves, contrast, looks apart."""

import itertools
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import matplotlib.style
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from bosaris_py.evaluation import Results
from bosaris_py.plots import (
    plot_bayes,
    plot_det,
    plot_ece,
    plot_histogram,
    plot_pav,
    plot_reliability,
    plot_tippett,
)

THEMES: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": dict(matplotlib.style.library["dark_background"]),
    "own colours on dark": {
        key: value
        for key, value in matplotlib.style.library["dark_background"].items()
        if key != "axes.prop_cycle"
    },
    "grey": {"figure.facecolor": "0.9", "axes.facecolor": "0.9", "savefig.facecolor": "0.9"},
}
FEW = [(1, 6.0, "light"), (12, 3.3, "dark"), (24, 2.5, "grey"), (6, 2.5, "own colours on dark")]
ALL = list(itertools.product((1, 2, 6, 12, 24), (2.5, 3.3, 6.0), THEMES))


def draw(kind: str, count: int, inches: float, theme: str) -> Any:
    """Draw so many systems with all marks."""
    rng = np.random.default_rng(3)
    non = rng.normal(-2, 1.5, 4000)
    systems = {
        f"system {i}": Results(rng.normal(1.5 + 2 * i / count, 1.5, 400), non) for i in range(count)
    }
    size = {"figure.figsize": (inches, inches)} | ({} if inches == 6.0 else {"font.size": 7.0})
    with mpl.rc_context(THEMES[theme] | size):
        if kind == "det":
            plot: Any = plot_det(systems, "big", prior=0.1)
            plot.plot_rocch_det()
        else:
            plot = plot_bayes(systems, prior=0.1)
        plot.figure.draw_without_rendering()
    return plot


def luminance(colour: Any) -> float:
    """Relative luminance, WCAG 2.1."""
    channels = np.asarray(to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: Any, other: Any) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _tick_labels(ax: Axes) -> Iterator[list[Text]]:
    axes = [ax, *ax.child_axes]
    for one in axes:
        yield [label for label in one.get_xticklabels() if label.get_text()]
    yield [label for label in ax.get_yticklabels() if label.get_text()]


def check_axes(ax: Axes) -> None:
    """Measure ticks, room and contrast of texts."""
    for labels in _tick_labels(ax):
        assert len(labels) >= 2
        boxes = [label.get_window_extent() for label in labels]
        for one, other in itertools.combinations(boxes, 2):
            assert not one.overlaps(other)
    # The legend may lie beside the figure, but the axes keep their room within it.
    figure, box = ax.figure.bbox, ax.get_window_extent()
    assert min(box.width / figure.width, box.height / figure.height) >= 0.55
    for text in (ax.xaxis.label, ax.yaxis.label, *itertools.chain(*_tick_labels(ax))):
        assert contrast(text.get_color(), ax.get_facecolor()) >= 3.0
    check_legend(ax)


def check_legend(ax: Axes) -> None:
    """A legend covers no vertex and no marker of a curve; thin lines of reference it may."""
    box = ax.get_legend().get_window_extent()
    for line in ax.lines:
        if line.get_alpha() is None and len(line.get_xdata()) != 2:
            drawn = line.get_transform().transform(line.get_path().vertices)
            assert not box.count_contains(drawn[np.isfinite(drawn).all(axis=1)]), line


def check(plot: Any) -> None:
    """Measure a picture."""
    check_axes(plot.ax)
    background = plot.ax.get_facecolor()
    curves = [
        line
        for kind, lines in plot.artists.items()
        if kind in ("steppy_det", "rocch_det", "dcf_curve_act", "dcf_curve_min")
        for line in lines
        if line.get_alpha() is None
    ]
    for line in curves:
        assert contrast(line.get_color(), background) >= 3.0
    looks = {
        (str(c.get_color()), str(c._unscaled_dash_pattern), c.get_marker(), c.get_linewidth())
        for c in curves
    }
    assert len(looks) == len(curves)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.PlotRangeWarning")
@pytest.mark.parametrize("kind", ["det", "bayes"])
@pytest.mark.parametrize(("count", "inches", "theme"), ALL)
def test_all_pictures(kind: str, count: int, inches: float, theme: str) -> None:
    check(draw(kind, count, inches, theme))


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.PlotRangeWarning")
@pytest.mark.parametrize("kind", ["det", "bayes"])
@pytest.mark.parametrize(("count", "inches", "theme"), FEW)
def test_some_pictures(kind: str, count: int, inches: float, theme: str) -> None:
    check(draw(kind, count, inches, theme))


LLR_PLOTS = [plot_ece, plot_pav, plot_reliability, plot_tippett]


@pytest.mark.parametrize("plot", LLR_PLOTS)
@pytest.mark.parametrize(("count", "inches", "theme"), FEW)
def test_pictures_of_llrs(plot: Any, count: int, inches: float, theme: str) -> None:
    rng = np.random.default_rng(3)
    non = rng.normal(-2, 2, 400)
    systems = {
        f"system {i}": Results(rng.normal(2 - i / 30, 2, 100), non) for i in range(min(count, 12))
    }
    size = {"figure.figsize": (inches, inches)} | ({} if inches == 6.0 else {"font.size": 7.0})
    with mpl.rc_context(THEMES[theme] | size):
        for axes in (plot(systems), plot_histogram(systems["system 0"], prior=0.1)):
            axes.figure.draw_without_rendering()
            check_axes(axes)
            for line in axes.lines:
                if line.get_alpha() is None and line.get_linestyle() != "None":
                    assert contrast(line.get_color(), axes.get_facecolor()) >= 3.0
