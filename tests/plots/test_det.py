"""DET plots: windows and ticks, what the toolkit drew, marks, warnings, large curves."""

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import special

from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import Results
from bosaris_py.numerics import OperatingPoint
from bosaris_py.plots import DETPlot, DETWindow, plot_det
from bosaris_py.plots.det import WINDOWS, PercentFormatter, ProbitLocator

Drawing = dict[str, Any]
NAMES = ["new", "old", "big", "sre10"]


@pytest.mark.parametrize("name", NAMES)
def test_windows_are_the_toolkits(drawings: Drawing, name: str) -> None:
    recorded = drawings[f"det_{name}"]["window"]
    window = WINDOWS[name]
    for field in ("pfa_limits", "pmiss_limits", "xticks", "yticks"):
        assert list(getattr(window, field)) == recorded[field]
    # The toolkit pads its labels with blanks.
    plot = DETPlot(window)
    plot.figure.draw_without_rendering()
    for axis, field in ((plot.ax.xaxis, "xticklabels"), (plot.ax.yaxis, "yticklabels")):
        labels = [label.get_text() for label in axis.get_ticklabels()]
        assert labels == [label.strip() for label in recorded[field]]


@pytest.mark.parametrize("limits", [(0.0, 0.5), (0.5, 0.1), (0.1, 0.1), (0.1, 40), 0.1, None, "ab"])
def test_bad_windows(limits: Any) -> None:
    good = (0.1, 0.2)
    for pair in ((limits, good), (good, limits), (good, (*good, 0.3))):
        with pytest.raises(InvalidInputError):
            DETWindow(*pair)


def test_bad_ticks_and_unknown_windows() -> None:
    good = (0.1, 0.2)
    bad = [{"xticks": ticks} for ticks in ((0.1, 1.0), (0.2, 0.1), (1, 2, 5), ["a"])]
    for options in (*bad, {"xticks": (0.1,), "xticklabels": ("1", "2")}):
        with pytest.raises(InvalidInputError):
            DETWindow(good, good, **options)
    for window in ("sre08", "OLD", None, ["old"], good):
        with pytest.raises(InvalidInputError):
            DETPlot(window)


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
    formatter = PercentFormatter([5e-6], ["5e-4"])
    labels = [formatter(p) for p in (5e-6, 1e-3, 0.025, 0.3, 0.995, 1 - 1e-3)]
    assert labels == ["5e-4", "0.1", "2.5", "30", "99.5", "99.9"]


def _probits(values: Any) -> np.ndarray:
    return np.asarray(special.ndtri(np.asarray(values, dtype=float)))


@pytest.mark.parametrize("name", NAMES)
def test_axes_are_the_toolkits(name: str, drawings: Drawing) -> None:
    recorded, ax = drawings[f"det_{name}"]["axes"], DETPlot(name, f"T {name}").ax
    ax.figure.draw_without_rendering()
    # The toolkit's probit loses digits as probabilities become tiny, here 3e-6.
    for axis, limits, key in ((ax.xaxis, ax.get_xlim(), "x"), (ax.yaxis, ax.get_ylim(), "y")):
        np.testing.assert_allclose(_probits(limits), recorded[f"{key}lim"], rtol=0, atol=1e-11)
        ticks = _probits(axis.get_ticklocs())
        np.testing.assert_allclose(ticks, recorded[f"{key}tick"], rtol=0, atol=1e-12)
        # Labels do not touch.
        boxes = [label.get_window_extent() for label in axis.get_ticklabels()]
        spans = sorted((box.min["xy".index(key)], box.max["xy".index(key)]) for box in boxes)
        assert min(after[0] - before[1] for before, after in itertools.pairwise(spans)) > 2
    assert ax.get_xlabel().lower() == recorded["xlabel"].lower()
    assert (ax.get_ylabel(), ax.get_title()) == (recorded["ylabel"], recorded["title"])
    # Octave draws a square box around axes of probits, and a grid.
    assert ax.get_box_aspect() == 1
    assert all(line.get_visible() for line in ax.get_xgridlines() + ax.get_ygridlines())


def test_zooming_out_shows_the_whole_curve_and_zooming_in_finds_ticks(results: Results) -> None:
    plot = DETPlot("new")
    plot.set_system_from_results(results)
    plot.plot_steppy_det()
    for limits in ((1e-6, 0.999), (0.1001, 0.1002)):
        plot.ax.set_xlim(*limits)
        plot.ax.set_ylim(*limits)
        plot.figure.draw_without_rendering()
        low, high = plot.ax.get_xlim()
        shown = [tick for tick in plot.ax.get_xticks() if low <= tick <= high]
        assert len(shown) >= 3
    copy = pickle.loads(pickle.dumps(plot.figure))
    copy.draw_without_rendering()


def test_marks(results: Results) -> None:
    """The EER, and where 30 of 800 false alarms and 30 of 200 misses are left."""
    plot = plot_det({"A": results}, "big")
    # The last line of a kind stands in the legend.
    marks = [line.get_xydata()[0].tolist() for line in plot.artists["dr30"][:2]]
    assert (marks[0][0], marks[1][1]) == (30 / 800, 30 / 200)
    vertices = np.stack((results.roc.pfa, results.roc.pmiss), axis=1).tolist()
    assert all(mark in vertices for mark in marks)
    assert plot.artists["dr30"][0].get_markerfacecolor() == plot.ax.get_facecolor()
    dot, _ = plot.artists["eer_point"]
    assert dot.get_xydata().tolist() == [[results.eer, results.eer]]
    assert "mindcf_point" not in plot.artists
    assert list(plot_det({"A": results}, "big", marks=()).artists) == ["steppy_det"]
    for wrong in ("min", "err"):
        with pytest.raises(InvalidInputError):
            plot_det({"A": results}, marks=(wrong,))
    few = plot_det({"A": (np.arange(25.0) + 10.0, np.arange(40.0))})
    assert "fewer than 30 trials of a class" in few._said[0]


def test_marked_costs_are_in_the_window_that_is_chosen(results: Results) -> None:
    # Almost all trials are targets: the least cost has 361 of 800 false alarms.
    best = results.min_dcf_threshold(0.9)
    assert best.pfa == 361 / 800
    for marks, inside in (((), False), (("min",), True)):
        plot = plot_det({"A": results}, "auto", marks=marks, prior=0.9)
        low, high = plot.window.pfa_limits
        assert (low <= best.pfa <= high) == inside
    assert plot.artists["mindcf_point"][0].get_xydata().tolist() == [[best.pfa, best.pmiss]]
    pmiss, pfa = results.error_rates_at(np.log(4.0))
    plot = plot_det({"A": results}, "big", marks=("act",), prior=OperatingPoint(0.2))
    assert plot.artists["actdcf_point"][0].get_xydata().tolist() == [[pfa, pmiss]]
