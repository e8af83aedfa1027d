"""DET windows, and the probit scale as a normal matplotlib axis."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import special

from bosaris_py.errors import InvalidInputError
from bosaris_py.plots import DETPlot, DETWindow
from bosaris_py.plots.windows import WINDOWS, PercentFormatter, ProbitLocator, ProbitScale


@pytest.mark.parametrize("name", ["new", "old", "big", "sre10"])
def test_windows_are_the_toolkits(oracle: Path, name: str) -> None:
    recorded = json.loads((oracle / "plots.json").read_text())[f"det_{name}"]["window"]
    window = WINDOWS[name]
    for field in ("pfa_limits", "pmiss_limits", "xticks", "yticks"):
        assert list(getattr(window, field)) == recorded[field]
    # The toolkit pads its labels with blanks.
    plot = DETPlot(window)
    plot.figure.draw_without_rendering()
    for axis, field in ((plot.ax.xaxis, "xticklabels"), (plot.ax.yaxis, "yticklabels")):
        labels = [label.get_text() for label in axis.get_ticklabels()]
        assert labels == [label.strip() for label in recorded[field]]


@pytest.mark.parametrize("window", ["sre08", "OLD", None, ["old"], (0.1, 0.2)])
def test_unknown_window(window: object) -> None:
    with pytest.raises(InvalidInputError, match="`window` must be one of 'new', 'old', 'big'"):
        DETPlot(window)  # type: ignore[arg-type]


@pytest.mark.parametrize("limits", [(0.0, 0.5), (0.5, 0.1), (0.1, 0.1), (0.1, 40), 0.1, None, "ab"])
def test_bad_windows(limits: Any) -> None:
    good = (0.1, 0.2)
    for pair in ((limits, good), (good, limits), (good, (*good, 0.3))):
        with pytest.raises(InvalidInputError, match="_limits` must be two probabilities"):
            DETWindow(*pair)
    for ticks in ((0.1, 1.0), (0.2, 0.1), (1, 2, 5), ["a"]):
        with pytest.raises(InvalidInputError, match="`xticks` must be ascending"):
            DETWindow(good, good, xticks=ticks)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="one label for each tick"):
        DETWindow(good, good, xticks=(0.1,), xticklabels=("1", "2"))


@pytest.fixture
def axes() -> Axes:
    axes = Figure(figsize=(4, 4)).subplots()
    axes.set_xscale(ProbitScale())
    axes.set_yscale(ProbitScale())
    return axes


def _draw(axes: Axes) -> None:
    axes.figure.draw_without_rendering()


def test_transform_is_the_probit_and_its_inverse() -> None:
    transform = ProbitScale().get_transform()
    p = np.array([1e-300, 1e-20, 1e-6, 0.1, 0.5, 0.9])
    deviates = transform.transform(p)
    np.testing.assert_array_equal(deviates, special.ndtri(p))
    # The normal distribution's tail multiplies a rounding of the deviate x by x**2.
    np.testing.assert_allclose(transform.inverted().transform(deviates), p, rtol=1e-12)
    np.testing.assert_array_equal(transform.inverted().inverted().transform(p), deviates)


def test_zero_one_and_beyond_are_drawn_past_any_edge() -> None:
    deviates = ProbitScale().get_transform().transform([-0.5, 0.0, 1e-300, 1.0, 2.0])
    assert np.isfinite(deviates).all()
    assert deviates[0] == deviates[1] < deviates[2] < -37
    assert deviates[3] == deviates[4] > special.ndtri(1 - 1e-16)


@pytest.mark.parametrize("points", [[], [0.3], [0.0, 1.0], [1e-7, 0.2], [np.nan, 0.2]])
def test_autoscale_stays_inside(axes: Axes, points: list[float]) -> None:
    axes.plot(points, points, "o")
    axes.relim()
    axes.autoscale()
    _draw(axes)
    for limits in (axes.get_xlim(), axes.get_ylim()):
        assert 0.0 < limits[0] < limits[1] < 1.0


@pytest.mark.parametrize("limits", [(0.0, 1.0), (-1.0, 0.5), (0.2, 7.0), (-3.0, -2.0), (1.0, 0.0)])
def test_impossible_limits_are_replaced(axes: Axes, limits: tuple[float, float]) -> None:
    axes.set_xlim(*limits)
    _draw(axes)
    low, high = sorted(axes.get_xlim())
    assert 0.0 < low < high < 1.0
    # An inverted axis stays inverted.
    assert (axes.get_xlim()[0] > axes.get_xlim()[1]) == (limits[0] > limits[1])


def test_figures_can_be_pickled(axes: Axes) -> None:
    axes.plot([0.1, 0.2], [0.2, 0.1])
    copy = pickle.loads(pickle.dumps(axes.figure))
    _draw(copy.axes[0])
    assert copy.axes[0].get_xscale() == "probit"


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ((0.01, 0.6), [0.01, 0.02, 0.05, 0.1, 0.2, 0.5]),
        ((0.4, 0.6), [0.4, 0.5, 0.6]),
        ((1e-5, 0.995), [1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99]),
        ((0.8, 0.999), [0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999]),
        ((0.1, 0.12), [0.1, 0.104, 0.108, 0.112, 0.116, 0.12]),
    ],
)
def test_round_ticks_for_any_part_of_the_axis(limits, expected):
    np.testing.assert_allclose(ProbitLocator().tick_values(*limits), expected, rtol=1e-12)


def test_preferred_ticks_are_kept_until_few_are_seen() -> None:
    locator = ProbitLocator([0.001, 0.01, 0.1, 0.4])
    for limits in ((5e-4, 0.5), (0.005, 0.5)):
        assert locator.tick_values(*limits) == [0.001, 0.01, 0.1, 0.4]
    assert locator.tick_values(0.05, 0.2) == pytest.approx([0.05, 0.06, 0.07, 0.08, 0.09, 0.1, 0.2])
    assert ProbitLocator([0.25]).tick_values(0.1, 0.5) == [0.25]


def test_labels_are_per_cent() -> None:
    formatter = PercentFormatter({5e-6: "5e-4"})
    labels = [formatter(p) for p in (5e-6, 1e-3, 0.025, 0.3, 0.995, 1 - 1e-3)]
    assert labels == ["5e-4", "0.1", "2.5", "30", "99.5", "99.9"]
