"""Estimates with their intervals below each other: where points and bars lie."""

from typing import Any

import numpy as np
import pytest

from bosaris_py.errors import InvalidInputError
from bosaris_py.metrics.ranks import EER
from bosaris_py.plots import plot_forest
from bosaris_py.plots.looks import pale_colour, system_look
from bosaris_py.uncertainty.bootstrap import bootstrap
from bosaris_py.uncertainty.estimate import Estimate


def interval(value: float, low: float, high: float) -> Estimate:
    return Estimate(value=value, standard_error=0.01, ends=lambda _: (low, high))


INTERVALS = {
    "A": interval(0.10, 0.08, 0.13),
    "B": interval(0.20, 0.15, 0.22),
    # A basic interval need not hold its estimate.
    "C": interval(0.30, 0.31, 0.35),
}


def _bars(plot: Any) -> list[list[list[float]]]:
    return [np.asarray(bar).tolist() for bar in plot.ax.collections[0].get_segments()]


def test_points_and_bars_are_estimates_and_intervals() -> None:
    plot = plot_forest(INTERVALS, title="Title", xlabel="cost")
    (points,) = plot.artists["estimate"]
    assert points.get_xydata().tolist() == [[0.1, 0], [0.2, 1], [0.3, 2]]
    found = INTERVALS.values()
    assert _bars(plot) == [[[i.low, y], [i.high, y]] for y, i in enumerate(found)]
    assert [text.get_text() for text in plot.get_yticklabels()] == ["A", "B", "C"]
    assert (plot.get_title(), plot.get_xlabel()) == ("Title", "cost")


def test_bootstrap_results_are_taken(rng: np.random.Generator) -> None:
    tar, non = rng.normal(1, 1, 200), rng.normal(0, 1, 200)
    result = bootstrap(tar, non, EER(), rng=rng, replications=50)
    plot = plot_forest({"A": result})
    assert _bars(plot) == [[[result.low, 0.0], [result.high, 0.0]]]
    assert plot.artists["estimate"][0].get_xdata().tolist() == [result.value]


@pytest.mark.parametrize("rows", [{}, [INTERVALS["A"]], {"A": 0.5}])
def test_bad_intervals(rows: Any) -> None:
    with pytest.raises(InvalidInputError):
        plot_forest(rows)


def test_order_and_highlight_of_a_forest() -> None:
    values = {"A": 0.3, "B": 0.1, "C": 0.2}
    rows = {name: interval(v, v - 0.05, v + 0.05) for name, v in values.items()}
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
