"""Error bars of several systems: where points and bars lie."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from bosaris_py.errors import InvalidInputError
from bosaris_py.plots import plot_forest, plot_intervals
from bosaris_py.plots.looks import pale_colour, system_look
from bosaris_py.uncertainty.bootstrap_result import Interval
from bosaris_py.uncertainty.bootstrapping import bootstrap
from bosaris_py.uncertainty.statistics.class_means import ActDCF
from bosaris_py.uncertainty.statistics.roc_functions import EER

INTERVALS = {
    "A": Interval(0.10, 0.08, 0.13, 0.01, 0.95, "normal"),
    "B": Interval(0.20, 0.15, 0.22, 0.02, 0.95, "normal"),
    # A basic interval need not hold its estimate.
    "C": Interval(0.30, 0.31, 0.35, 0.01, 0.95, "basic"),
}


def _bars(axes: Any, index: int = 0) -> list[np.ndarray]:
    """Return the ends of the bars that were drawn by the call of this number."""
    (_, _, (bars,)) = axes.containers[index]
    return [np.asarray(segment) for segment in bars.get_segments()]


def test_points_and_bars_are_estimates_and_intervals() -> None:
    axes = plot_intervals(INTERVALS, title="Title", ylabel="cost")
    points = axes.lines[0]
    np.testing.assert_array_equal(points.get_xdata(), [0, 1, 2])
    np.testing.assert_array_equal(points.get_ydata(), [0.10, 0.20, 0.30])
    assert points.get_linestyle() == "None"
    for place, (bar, interval) in enumerate(zip(_bars(axes), INTERVALS.values(), strict=True)):
        np.testing.assert_array_equal(bar[:, 0], [place, place])
        # Middle minus and plus half a length: two roundings.
        np.testing.assert_allclose(bar[:, 1], [interval.low, interval.high], rtol=1e-15)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["A", "B", "C"]
    np.testing.assert_array_equal(axes.get_xticks(), [0, 1, 2])
    assert (axes.get_title(), axes.get_ylabel()) == ("Title", "cost")


def test_bars_have_the_colour_of_the_points() -> None:
    axes = plot_intervals(INTERVALS, c="red", marker="s", linewidth=3)
    (_, _, (bars,)) = axes.containers[0]
    assert tuple(bars.get_color()[0]) == to_rgba("red")
    assert bars.get_linewidth() == [3]
    assert (axes.lines[0].get_color(), axes.lines[0].get_marker()) == ("red", "s")


def test_two_methods_side_by_side() -> None:
    axes = Figure().subplots()
    assert plot_intervals(INTERVALS, ax=axes, label="iid", offset=-0.1).ax is axes
    assert plot_intervals(INTERVALS, ax=axes, label="speaker", offset=0.1).ax is axes
    first, second = (bars[0, 0] for bars in (_bars(axes, 0)[1], _bars(axes, 1)[1]))
    assert (first, second) == (0.9, 1.1)
    handles, labels = axes.get_legend_handles_labels()
    assert labels == ["iid", "speaker"]
    assert [to_rgba(handle.get_color()) for handle in handles] == [to_rgba("C0"), to_rgba("C1")]
    assert axes.get_xlim() == (-0.6, 2.6)


def test_without_a_label_there_is_no_legend_entry() -> None:
    assert plot_intervals(INTERVALS).get_legend_handles_labels() == ([], [])


def test_bootstrap_results_are_taken(rng: np.random.Generator) -> None:
    result = bootstrap(rng.normal(2, 1, 50), rng.normal(0, 1, 50), EER(), rng=rng, replications=50)
    axes = plot_intervals({"A": result})
    np.testing.assert_allclose(_bars(axes)[0][:, 1], [result.low, result.high], rtol=1e-15)
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [result.estimate])


@pytest.mark.parametrize(
    ("names", "rotation"), [(["short", "names"], 0), (["short", "a longer name"], 30)]
)
def test_long_names_are_turned(names: list[str], rotation: int) -> None:
    axes = plot_intervals(dict.fromkeys(names, INTERVALS["A"]))
    assert {text.get_rotation() for text in axes.get_xticklabels()} == {rotation}


@pytest.mark.parametrize("n_systems", [1, 3, 12, 30])
@pytest.mark.parametrize("name", ["sys {}", "a system with a long name {}"])
def test_names_do_not_touch_and_nothing_is_cut_off(n_systems: int, name: str) -> None:
    axes = plot_intervals({name.format(i): INTERVALS["A"] for i in range(n_systems)}, ylabel="EER")
    axes.figure.draw_without_rendering()
    labels = axes.get_xticklabels()
    if labels[0].get_rotation() == 0:
        boxes = [label.get_window_extent() for label in labels]
        assert all(a.x1 < b.x0 for a, b in pairwise(boxes))
    whole = axes.figure.get_tightbbox()
    width, height = axes.figure.get_size_inches()
    assert 0 <= whole.x0 <= whole.x1 <= width
    assert 0 <= whole.y0 <= whole.y1 <= height


def _several() -> Any:
    return bootstrap([1.0, 2.0], [0.0, 1.5], ActDCF([0.1, 0.5]), replications=20, rng=1)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (dict, "must be a mapping from names to results with an interval"),
        (lambda: [INTERVALS["A"]], "must be a mapping from names to results with an interval"),
        (lambda: {"A": 0.5}, "such as BootstrapResult; got 0.5 for A."),
        (lambda: {"A": _several()}, "must hold one number for each system; got several for A."),
    ],
)
def test_bad_intervals(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(message)) as caught:
        plot_intervals(make())
    assert "`intervals`" in str(caught.value)


def test_what_is_not_an_axes() -> None:
    with pytest.raises(InvalidInputError, match="`ax` must be a matplotlib Axes"):
        plot_intervals(INTERVALS, ax=Figure())  # type: ignore[arg-type]


def test_order_and_highlight_of_a_forest() -> None:
    values = {"A": 0.3, "B": 0.1, "C": 0.2}
    rows = {name: Interval(v, v - 0.05, v + 0.05, 0.01, 0.95, "") for name, v in values.items()}
    plot = plot_forest(rows, order="value", highlight="C")
    assert [label.get_text() for label in plot.ax.get_yticklabels()] == ["B", "C", "A"]
    assert [text.get_text().split()[0] for text in plot.ax.texts] == ["0.100", "0.200", "0.300"]
    found = {tuple(line.get_ydata()): line for line in plot.artists["estimate"]}
    assert found[1,].get_xdata().tolist() == [0.2]
    assert found[0, 2].get_xdata().tolist() == [0.1, 0.3]
    assert found[1,].get_color() == system_look(0, plot.ax).colour
    assert found[0, 2].get_color() == pale_colour(plot.ax)
    first = plot_forest(rows, order=["C"])
    assert [label.get_text() for label in first.ax.get_yticklabels()] == ["C", "A", "B"]
    for options, message in (
        ({"order": "eer"}, "`order` must be 'value' or a list of names; got 'eer'"),
        ({"highlight": "D"}, "`highlight` must name systems of the plot"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            plot_forest(rows, **options)  # type: ignore[arg-type]
