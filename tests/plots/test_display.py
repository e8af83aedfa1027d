"""What every plot is: its Axes, files of a given width, letters that can be read, legends."""

import copy
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import Results
from bosaris_py.plots import (
    Plot,
    plot_bayes,
    plot_det,
    plot_ece,
    plot_forest,
    plot_histogram,
    plot_pav,
    plot_reliability,
    plot_tippett,
    style,
)
from bosaris_py.uncertainty.estimate import Estimate


def interval(value: float, low: float, high: float) -> Estimate:
    return Estimate(value=value, standard_error=0.01, ends=lambda _: (low, high))


SEVERAL: list[Callable[..., Any]] = [
    plot_det,
    plot_bayes,
    plot_tippett,
    plot_ece,
    plot_pav,
    plot_reliability,
]
INTERVALS = {f"system {i}": interval(0.1, 0.08, 0.13) for i in range(4)}


def some(count: int, name: str = "system", n_tar: int = 200) -> dict[str, Results]:
    rng = np.random.default_rng(5)
    non = rng.normal(-2, 2, 1000)
    return {f"{name} {i}": Results(rng.normal(2 + i / count, 2, n_tar), non) for i in range(count)}


def everything(count: int) -> Iterator[Plot]:
    for draw in SEVERAL:
        yield draw(some(count))
    yield plot_histogram(some(1)["system 0"], prior=0.1)
    yield plot_forest(INTERVALS)


def _texts(figure: Figure) -> list[Text]:
    found = figure.findobj(Text)
    return [text for text in found if text.get_visible() and text.get_text().strip()]


@pytest.mark.slow
@pytest.mark.parametrize("draw", SEVERAL)
@pytest.mark.parametrize("name", ["system", "the system with the longest of all names, number"])
def test_a_column_of_a_paper_keeps_its_width(draw: Any, name: str, tmp_path: Path) -> None:
    with style("paper"):
        plot = draw(some(12, name))
    plot.save(tmp_path / "a.pdf")
    # Saved after the block too, by the figure's own method.
    plot.figure.savefig(tmp_path / "b.pdf")
    for path in (tmp_path / "a.pdf", tmp_path / "b.pdf"):
        box = re.findall(rb"MediaBox \[ ?0 0 ([\d.]+) ([\d.]+)", path.read_bytes())
        # 3.3 inches of 72 points.
        assert float(box[0][0]) == pytest.approx(237.6)
    figure, legend = plot.figure, plot.ax.get_legend()
    box = legend.get_window_extent()
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
    assert figure.bbox.y0 <= box.y0
    # The legend takes no room of the Axes, and covers none of its labels.
    assert box.y1 <= plot.ax.get_tightbbox().y0 + 1e-6


@pytest.mark.slow
def test_letters_of_a_paper_can_be_read() -> None:
    with style("paper"):
        for plot in everything(12):
            plot.figure.draw_without_rendering()
            assert min(text.get_fontsize() for text in _texts(plot.figure)) >= 6.0


@pytest.mark.parametrize("draw", SEVERAL)
@pytest.mark.parametrize("count", [1, 3, 12, 24])
def test_rows_of_a_legend(draw: Any, count: int) -> None:
    systems = some(count)
    # One of them never has 30 errors of a kind, so that its Bayes curves are pale throughout.
    rng = np.random.default_rng(1)
    systems["few"] = Results(rng.normal(2, 2, 20), rng.normal(-2, 2, 25))
    legend = draw(systems).ax.get_legend()
    assert len(legend.get_texts()) <= len(systems) + 8


def test_a_legend_below_is_not_drawn_twice() -> None:
    plot = plot_bayes(some(3), legend="below")
    sizes = [plot.figure.get_size_inches().tolist()]
    plot.display_legend(title="Systems")
    plot._add_legend("below", {})
    sizes.append(plot.figure.get_size_inches().tolist())
    assert sizes[0] == pytest.approx(sizes[1])
    assert sizes[0][1] > 5.5
    # On a figure of the user the legend takes room of the Axes.
    figure = Figure(figsize=(5, 5), layout="constrained")
    plot_bayes(some(3), figure.subplots(), legend="below")
    assert figure.get_size_inches().tolist() == [5, 5]


@pytest.mark.slow
def test_a_plot_answers_for_its_axes() -> None:
    for plot in everything(2):
        assert isinstance(plot, Plot)
        assert plot.get_xlim() == plot.ax.get_xlim()
        plot.set_title("T")
        assert plot.ax.get_title() == "T"
        with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
            plot.nonsense  # noqa: B018
        with pytest.raises(AttributeError, match="no attribute '_nonsense'"):
            plot._nonsense  # noqa: B018
        assert not hasattr(copy.copy(plot), "_repr_html_")


def test_a_plot_is_taken_where_an_axes_is() -> None:
    plot = plot_tippett(some(1))
    again = plot_tippett({"B": some(1)["system 0"]}, ax=plot)
    assert again.ax is plot.ax
    assert repr(again) == "Plot: 5 lines of 2 systems"


@pytest.mark.slow
def test_pictures_of_a_notebook() -> None:
    plot = plot_forest(INTERVALS)
    assert plot._repr_png_().startswith(b"\x89PNG")
    assert plot._repr_svg_().rstrip().endswith("</svg>")
    # A legend beside the plot stays there.
    plot = plot_det(some(12))
    beside = plot.ax.get_legend()
    plot._repr_svg_()
    assert plot.ax.get_legend() is beside


@pytest.mark.parametrize("draw", [plot_bayes, plot_forest, plot_histogram])
def test_each_plot_saves_itself(draw: Any, tmp_path: Path) -> None:
    argument = {plot_forest: INTERVALS, plot_histogram: some(1)["system 0"]}.get(draw, some(2))
    plot = draw(argument)
    plot.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<?xml")
    with pytest.raises(InvalidInputError, match=r"`path` must end in one of \.pdf, \.png, \.svg, "):
        plot.save(tmp_path / "a.txt")


@pytest.mark.slow
def test_curves_are_named_instead_of_a_legend() -> None:
    for draw in SEVERAL:
        plot = draw(some(2), legend="direct")
        assert plot.ax.get_legend() is None
        texts = [text.get_text() for text in plot.ax.texts]
        assert sum(text.startswith("system") for text in texts) == 2


def test_names_at_curves_do_not_touch() -> None:
    plot = plot_det(some(3), legend="direct")
    plot.figure.draw_without_rendering()
    boxes = [t.get_window_extent() for t in plot.ax.texts if t.get_text().startswith("system")]
    boxes = [box for box in boxes if box.x0 > 0]
    boxes.sort(key=lambda box: box.y0)
    assert len(boxes) == 3
    # Texts are about as high as their letters; lines are 1.2 letters apart.
    centres = [text.xyann[1] for text in plot.ax.texts if hasattr(text, "xyann")]
    height = plot.ax.get_window_extent().height
    size = plot.figure.dpi / 72 * 10 / 1.2
    assert np.diff(sorted(centres)).min() * height >= 1.19 * size


@pytest.mark.slow
def test_settings_are_those_of_before() -> None:
    # Asking for the backend would make matplotlib choose one.
    names = [name for name in mpl.rcParams if name != "backend"]
    before = {name: mpl.rcParams[name] for name in names}
    for plot in everything(2):
        plot._repr_svg_()
    assert {name: mpl.rcParams[name] for name in names} == before
