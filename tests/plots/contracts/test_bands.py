"""Bands in DET and Bayes plots: what is shaded, how, and where it ends."""

from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure

from bosaris_py.errors import InvalidInputError
from bosaris_py.plots import BayesPlot, DETPlot
from bosaris_py.plots.looks import system_look
from bosaris_py.uncertainty.bands import Band, bootstrap_bands

Scores = tuple[np.ndarray, np.ndarray]
PLOTS = [DETPlot, BayesPlot]
each_plot = pytest.mark.parametrize("kind", PLOTS, ids=lambda kind: kind.__name__)


@pytest.fixture(scope="module")
def scores() -> Scores:
    rng = np.random.default_rng(3)
    return rng.normal(2, 2, 200), rng.normal(-2, 2, 500)


@pytest.fixture(scope="module")
def bands(scores: Scores) -> dict[type, Band]:
    options = {"replications": 100, "rng": 1}
    return {
        DETPlot: bootstrap_bands(scores, kind="det", **options),
        BayesPlot: bootstrap_bands(scores, kind="bayes", **options),
    }


@pytest.fixture
def plot(kind: type, scores: Scores) -> Any:
    plot = kind()
    plot.set_system(*scores, "sys")
    return plot


@each_plot
def test_band_fills_between_both_ends(kind: type, plot: Any, bands: dict[type, Band]) -> None:
    band = bands[kind]
    assert plot.plot_band(band) is plot.ax
    (area,) = plot.artists["band"]
    assert isinstance(area, PolyCollection)
    assert list(plot.ax.collections) == [area]
    (path,) = area.get_paths()
    corners = {(x, y) for x, y in path.vertices.tolist()}
    x = band.x
    assert {*zip(x, band.low, strict=True), *zip(x, band.high, strict=True)} == corners


@each_plot
def test_band_has_the_colour_and_name_of_its_system(
    kind: type, plot: Any, bands: dict[type, Band], scores: Scores
) -> None:
    plot.plot_band(bands[kind], label="95 %")
    plot.set_system(*scores, "other")
    plot.plot_band(bands[kind], label="")
    plot.plot_band(bands[kind])
    colours = [tuple(area.get_facecolor()[0]) for area in plot.artists["band"]]
    assert colours == [to_rgba(system_look(i, plot.ax).colour, 0.2) for i in (0, 1, 1)]
    plot.display_legend()
    texts = [text.get_text() for text in plot.ax.get_legend().get_texts()]
    assert texts == ["sys 95 %", "other"]


@each_plot
def test_band_takes_matplotlib_keywords(kind: type, plot: Any, bands: dict[type, Band]) -> None:
    plot.plot_band(bands[kind], facecolor="red", alpha=0.5, hatch="//")
    plot.plot_band(bands[kind], color="green", lw=2)
    first, second = plot.artists["band"]
    assert tuple(first.get_facecolor()[0]) == to_rgba("red", 0.5)
    assert first.get_hatch() == "//"
    assert tuple(second.get_facecolor()[0][:3]) == to_rgb("green")
    assert second.get_linewidth() == [2]


@each_plot
def test_band_lies_below_the_lines_and_has_no_edge(
    kind: type, plot: Any, bands: dict[type, Band]
) -> None:
    plot.plot_band(bands[kind])
    curve = plot.plot_steppy_det if kind is DETPlot else plot.plot_dcf_curve_act
    curve()
    (area,) = plot.artists["band"]
    assert area.get_zorder() < plot.ax.lines[0].get_zorder()
    assert area.get_linewidth() == [0]


@each_plot
def test_band_leaves_the_limits_and_is_cut_at_the_axes(
    kind: type, plot: Any, bands: dict[type, Band]
) -> None:
    limits = plot.ax.get_xlim(), plot.ax.get_ylim()
    plot.plot_band(bands[kind], facecolor="red", alpha=1.0)
    (area,) = plot.artists["band"]
    low, high = bands[kind].x[[0, -1]]
    assert low < limits[0][0] or high > limits[0][1]
    assert (plot.ax.get_xlim(), plot.ax.get_ylim()) == limits
    assert area.get_clip_on()
    # No red dot lies outside of the axes.
    canvas = FigureCanvasAgg(plot.figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[::-1, :, :3].astype(int)
    red = (pixels[..., 0] > 200) & (pixels[..., 1] < 50) & (pixels[..., 2] < 50)
    rows, columns = np.nonzero(red)
    assert rows.size > 1000
    box = plot.ax.get_window_extent()
    assert box.x0 - 1 <= columns.min() <= columns.max() <= box.x1 + 1
    assert box.y0 - 1 <= rows.min() <= rows.max() <= box.y1 + 1


@each_plot
def test_the_axes_given_are_the_axes_used(
    kind: type, bands: dict[type, Band], scores: Scores
) -> None:
    axes = Figure().subplots(1, 2)[1]
    plot = kind(ax=axes)
    plot.set_system(*scores)
    assert plot.plot_band(bands[kind]) is axes


@each_plot
def test_band_needs_a_system(kind: type, bands: dict[type, Band]) -> None:
    with pytest.raises(InvalidInputError, match="This plot has no system to draw"):
        kind().plot_band(bands[kind])


@each_plot
def test_what_is_not_its_band(kind: type, plot: Any, bands: dict[type, Band]) -> None:
    (other,) = [bands[k] for k in PLOTS if k is not kind]
    for wrong in (other, None):
        with pytest.raises(InvalidInputError):
            plot.plot_band(wrong)
    assert len(plot.ax.collections) == 0


@each_plot
def test_repr_counts_bands_apart(kind: type, plot: Any, bands: dict[type, Band]) -> None:
    plot.plot_band(bands[kind])
    assert repr(plot) == f"{kind.__name__}: 0 lines, 1 band, current system 'sys'"
    plot.plot_band(bands[kind])
    assert repr(plot) == f"{kind.__name__}: 0 lines, 2 bands, current system 'sys'"


@pytest.mark.slow
def test_band_without_errors_can_be_drawn() -> None:
    """Miss rates of exactly zero lie past the edge of a DET plot."""
    tar, non = np.arange(10.0) + 100, np.arange(10.0)
    band = bootstrap_bands((tar, non), kind="det", replications=20, rng=1)
    assert band.low.max() == 0.0
    plot = DETPlot("big")
    plot.set_system(tar, non)
    plot.plot_band(band)
    FigureCanvasAgg(plot.figure).draw()
