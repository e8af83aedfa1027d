"""DET plots: what the toolkit drew, windows, warnings, large curves."""

import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.lines import Line2D
from scipy import special

from bosaris_py.errors import BosarisWarning, InvalidInputError
from bosaris_py.evaluation import Results
from bosaris_py.numerics import OperatingPoint
from bosaris_py.plots import WINDOWS, DETPlot, DETWindow, plot_det

Drawing = dict[str, Any]
NAMES = ["new", "old", "big", "sre10"]


def _probits(values: Any) -> np.ndarray:
    return np.asarray(special.ndtri(np.asarray(values, dtype=float)))


def _draw_as_the_toolkit_did(name: str, results: Results) -> DETPlot:
    plot = DETPlot(name, f"T {name}")
    plot.set_system_from_results(results, "sys")
    plot.plot_DR30_fa("c--", "30 FA")
    plot.plot_DR30_miss("k--", "30 miss")
    plot.plot_mindcf_point(0.5, "b*", "mindcf")
    plot.plot_mindcf_point(0.001, "r*", "not drawn")
    plot.plot_DR30_both("r", "g")
    plot.plot_steppy_det("b", "steppy")
    plot.plot_rocch_det("r", "")
    plot.display_legend()
    return plot


@pytest.fixture
def det(request: pytest.FixtureRequest, results: Results) -> tuple[DETPlot, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plot = _draw_as_the_toolkit_did(request.param, results)
    assert all(warning.category is BosarisWarning for warning in caught)
    # They point at the line of the script that called for the drawing.
    assert all(warning.filename == __file__ for warning in caught)
    return plot, [str(warning.message) for warning in caught]


@pytest.mark.parametrize(("det", "name"), [(n, n) for n in NAMES], indirect=["det"])
def test_axes_are_the_toolkits(
    det: tuple[DETPlot, list[str]], name: str, drawings: Drawing
) -> None:
    recorded, ax = drawings[f"det_{name}"]["axes"], det[0].ax
    for limits, key in ((ax.get_xlim(), "xlim"), (ax.get_ylim(), "ylim")):
        # The toolkit's probit loses digits as probabilities become tiny, here 3e-6.
        np.testing.assert_allclose(_probits(limits), recorded[key], rtol=0, atol=1e-11)
    for ticks, key in ((ax.get_xticks(), "xtick"), (ax.get_yticks(), "ytick")):
        np.testing.assert_allclose(_probits(ticks), recorded[key], rtol=0, atol=1e-12)
    assert ax.get_xlabel().lower() == recorded["xlabel"].lower()
    assert ax.get_ylabel() == recorded["ylabel"]
    assert ax.get_title() == recorded["title"]
    # Octave draws a square box around axes of probits, and a grid.
    assert ax.get_box_aspect() == 1
    assert all(line.get_visible() for line in ax.get_xgridlines() + ax.get_ygridlines())


def test_operating_points_with_costs(results: Results) -> None:
    plot = DETPlot("big")
    plot.set_system_from_results(results)
    point = OperatingPoint(0.05, 19, 1)
    plot.plot_mindcf_point(point)
    best = results.min_dcf_threshold(point)
    assert plot.artists["mindcf_point"][0].get_xydata().tolist() == [[best.pfa, best.pmiss]]
    assert plot.artists["mindcf_point"][0].get_marker() == "*"


@pytest.mark.parametrize(("prior", "message"), [(1.5, "(0, 1|0 and 1)"), ([0.1, 0.2], "2 of them")])
def test_bad_priors(prior: Any, message: str, results: Results) -> None:
    plot = DETPlot()
    plot.set_system_from_results(results)
    with pytest.raises(InvalidInputError, match=message):
        plot.plot_mindcf_point(prior)


def test_few_trials_have_no_rule_of_30() -> None:
    plot = DETPlot("big")
    plot.set_system(np.arange(5.0), np.arange(20.0))
    with pytest.warns(BosarisWarning) as caught:
        plot.plot_DR30_both()
    assert [str(warning.message)[:22] for warning in caught] == [
        "20 trials cannot have ",
        "5 trials cannot have 3",
    ]
    with pytest.warns(BosarisWarning, match="there is no legend"):
        assert plot.display_legend().get_legend() is None


def _is_seen(line: Line2D, window: DETWindow) -> bool:
    """Whether a densely sampled curve has a point in the window."""
    parts = [np.linspace(a, b, 2001) for a, b in itertools.pairwise(line.get_xydata())]
    pfa, pmiss = np.concatenate(parts).T
    (left, right), (bottom, top) = window.pfa_limits, window.pmiss_limits
    return bool(np.any((pfa >= left) & (pfa <= right) & (pmiss >= bottom) & (pmiss <= top)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tar", "non"),
    [
        ([1.0, 2.0], [-1.0, 0.0]),
        ([-1.0, 0.0], [1.0, 2.0]),
        ([0.0], [0.0]),
        ([np.inf, 1.0], [-np.inf, 1.0, 2.0]),
        ([0.5], [0.0, 0.2, 1.0]),
    ],
    ids=["separated", "inverted", "equal", "infinite", "one target"],
)
def test_extreme_systems_can_be_drawn(tar: list[float], non: list[float], tmp_path: Path) -> None:
    for name in NAMES:
        plot = DETPlot(name)
        plot.set_system(tar, non, "extreme")
        with warnings.catch_warnings(record=True, category=BosarisWarning) as caught:
            warnings.simplefilter("always")
            plot.plot_steppy_det(label="steppy")
            plot.plot_rocch_det(label="hull")
        unseen = [line for line in plot.ax.lines if not _is_seen(line, WINDOWS[name])]
        assert len(caught) == len(unseen)
        assert all("whole curve of extreme lies outside" in str(w.message) for w in caught)
        plot.display_legend()
        plot.save(tmp_path / "plot.png", dpi=50)
        plot.save(tmp_path / "plot.pdf")
        for line in plot.ax.lines:
            ends = line.get_xydata()[[0, -1]]
            assert ends.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_zooming_out_shows_the_whole_curve_and_zooming_in_finds_ticks(results: Results) -> None:
    plot = DETPlot("new")
    plot.set_system_from_results(results)
    plot.plot_steppy_det()
    for limits in ((1e-6, 0.999), (0.1, 0.2), (0.1001, 0.1002), (0.0, 1.0)):
        plot.ax.set_xlim(*limits)
        plot.ax.set_ylim(*limits)
        plot.figure.draw_without_rendering()
        low, high = plot.ax.get_xlim()
        shown = [tick for tick in plot.ax.get_xticks() if low <= tick <= high]
        assert len(shown) >= 3
    plot.ax.autoscale()
    plot.figure.draw_without_rendering()


@pytest.mark.parametrize("name", NAMES)
def test_labels_do_not_touch(name: str) -> None:
    plot = DETPlot(name)
    plot.figure.set_dpi(100)
    plot.figure.draw_without_rendering()
    for axis, side in ((plot.ax.xaxis, 0), (plot.ax.yaxis, 1)):
        boxes = [label.get_window_extent() for label in axis.get_ticklabels()]
        spans = sorted((box.min[side], box.max[side]) for box in boxes)
        gaps = [after[0] - before[1] for before, after in itertools.pairwise(spans)]
        assert min(gaps) > 2


@pytest.mark.slow
def test_many_scores_are_drawn_into_small_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    results = Results(rng.normal(1, 1, 10**5), rng.normal(0, 1, 10**6))
    assert results.roc.pfa.size > 10**5
    plot = DETPlot("sre10")
    plot.set_system_from_results(results, "many")
    plot.plot_steppy_det()
    plot.plot_rocch_det()
    plot.save(tmp_path / "plot.pdf")
    assert (tmp_path / "plot.pdf").stat().st_size < 100_000
    drawn = plot.artists["steppy_det"][0].get_xydata()
    vertices = set(zip(results.roc.pfa.tolist(), results.roc.pmiss.tolist(), strict=True))
    assert {tuple(point) for point in drawn.tolist()} <= vertices


def test_weighted_trials_are_repeated_trials() -> None:
    tar, non = np.array([0.5, 1.0, 2.0]), np.array([-1.0, 0.0, 0.7, 1.5])
    weights = np.array([3, 1, 2, 1])
    weighted, repeated = DETPlot(), DETPlot()
    weighted.set_system_from_results(Results(tar, non, non_weights=weights))
    repeated.set_system(tar, np.repeat(non, weights))
    for plot in (weighted, repeated):
        plot.plot_steppy_det()
        plot.plot_rocch_det()
    for one, other in zip(weighted.ax.lines, repeated.ax.lines, strict=True):
        np.testing.assert_array_equal(one.get_xydata(), other.get_xydata())


def test_marks(results: Results) -> None:
    """The EER, and where 30 of 800 false alarms and 30 of 200 misses are left."""
    plot = plot_det({"A": results}, "big")
    # The last line of a kind stands in the legend.
    first, second, _ = plot.artists["dr30"]
    (pfa, _), (_, pmiss) = first.get_xydata()[0], second.get_xydata()[0]
    assert (pfa, pmiss) == (30 / 800, 30 / 200)
    vertices = np.stack((results.roc.pfa, results.roc.pmiss), axis=1).tolist()
    for mark in (first, second):
        assert mark.get_xydata()[0].tolist() in vertices
        assert mark.get_markerfacecolor() == plot.ax.get_facecolor()
    dot, _ = plot.artists["eer_point"]
    assert dot.get_xydata().tolist() == [[results.eer, results.eer]]
    assert "mindcf_point" not in plot.artists
    assert list(plot_det({"A": results}, "big", marks=()).artists) == ["steppy_det"]
    with pytest.raises(InvalidInputError, match="`prior` must be given for the mark 'min'"):
        plot_det({"A": results}, marks=("min",))
    with pytest.raises(InvalidInputError, match="`marks` must be some of 'eer'"):
        plot_det({"A": results}, marks=("err",))


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
    plot = plot_det({"A": results}, "big", marks=("act",), prior=0.2)
    assert plot.artists["actdcf_point"][0].get_xydata().tolist() == [[pfa, pmiss]]


def test_few_trials_have_a_note() -> None:
    plot = plot_det({"A": (np.arange(25.0) + 10.0, np.arange(40.0))})
    assert "fewer than 30 trials of a class" in plot._notes[0]
