"""Estimates with their intervals below each other: where points and bars lie."""

from typing import Any

import numpy as np
import pytest

from bosaris_py.errors import FewSpeakersWarning, InvalidInputError
from bosaris_py.metrics.ranks import EER
from bosaris_py.plots import plot_forest
from bosaris_py.uncertainty.compare import compare_systems
from bosaris_py.uncertainty.estimate import Estimate
from tests.uncertainty.samples import square


def interval(value: float, low: float, high: float) -> Estimate:
    return Estimate(value=value, standard_error=0.01, ends=lambda _: (low, high))


INTERVALS = {
    "A": interval(0.10, 0.08, 0.13),
    # A basic interval need not hold its estimate.
    "B": interval(0.30, 0.31, 0.35),
}


def _bars(plot: Any) -> list[list[list[float]]]:
    return [np.asarray(bar).tolist() for bar in plot.ax.collections[0].get_segments()]


def test_points_and_bars_are_estimates_and_intervals() -> None:
    plot = plot_forest(INTERVALS, title="Title", xlabel="cost", reference=0.2)
    (points,) = plot.artists["estimate"]
    assert points.get_xydata().tolist() == [[0.1, 0], [0.3, 1]]
    assert _bars(plot) == [[[i.low, y], [i.high, y]] for y, i in enumerate(INTERVALS.values())]
    assert [text.get_text() for text in plot.ax.get_yticklabels()] == ["A", "B"]
    assert (plot.ax.get_title(), plot.ax.get_xlabel()) == ("Title", "cost")
    assert [text.get_text() for text in plot.ax.texts] == [
        # Three digits of the lengths of the intervals, 0.0500 and 0.0400; 0.045 is their median.
        "0.1000 [0.0800, 0.1300]",
        "0.3000 [0.3100, 0.3500]",
    ]
    # The first row is on top.
    assert plot.ax.get_ylim()[0] > plot.ax.get_ylim()[1]
    assert plot.ax.lines[-1].get_xdata() == [0.2, 0.2]


def test_bad_intervals() -> None:
    for rows in ({}, [INTERVALS["A"]], {"A": 0.5}):
        with pytest.raises(InvalidInputError):
            plot_forest(rows)


def test_forest_of_differences() -> None:
    (one, key), (other, _) = (square(seed, 10) for seed in (5, 6))
    with pytest.warns(FewSpeakersWarning):
        compared = compare_systems({"A": one, "B": other}, key, EER())
    plot = plot_forest(compared)
    (row,) = compared.rows
    (note,) = (text.get_text() for text in plot.ax.texts)
    assert f"[{row.difference.low:.3f}, {row.difference.high:.3f}]" in note
    assert f"p = {row.p_holm:.2g}" in note
    assert [label.get_text() for label in plot.ax.get_yticklabels()] == ["A \N{MINUS SIGN} B"]
    assert plot.ax.lines[-1].get_xdata() == [0.0, 0.0]
