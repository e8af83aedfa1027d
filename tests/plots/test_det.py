"""DET plots: what the toolkit drew, windows, warnings, large curves."""

import itertools
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy import special

from bosaris_py.errors import BosarisWarning, InvalidInputError, PlotRangeWarning
from bosaris_py.evaluation import Results
from bosaris_py.numerics import OperatingPoint
from bosaris_py.plots import WINDOWS, DETPlot, DETWindow, plot_det

Drawing = dict[str, Any]
NAMES = ["new", "old", "big", "sre10"]


def _probits(values: Any) -> np.ndarray:
    return np.asarray(special.ndtri(np.asarray(values, dtype=float)))


def _recorded(values: Any, like: np.ndarray) -> np.ndarray:
    """Coordinates of the record, which has null for both infinities."""
    numbers = np.array([np.nan if v is None else v for v in np.atleast_1d(values)], dtype=float)
    return np.where(np.isnan(numbers) & np.isinf(like), like, numbers)


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
    assert all(warning.category is PlotRangeWarning for warning in caught)
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
    assert ax.get_xlabel() == recorded["xlabel"]
    assert ax.get_ylabel() == recorded["ylabel"]
    assert ax.get_title() == recorded["title"]
    # Octave draws a square box around axes of probits, and a grid.
    assert ax.get_box_aspect() == 1
    assert all(line.get_visible() for line in ax.get_xgridlines() + ax.get_ygridlines())


@pytest.mark.parametrize(("det", "name"), [(n, n) for n in NAMES], indirect=["det"])
def test_lines_are_the_toolkits(
    det: tuple[DETPlot, list[str]], name: str, drawings: Drawing, results: Results
) -> None:
    recorded = drawings[f"det_{name}"]["lines"]
    lines: list[Line2D] = list(det[0].ax.lines)
    assert len(lines) == len(recorded)
    for line, expected in zip(lines, recorded, strict=True):
        # Matplotlib's g is a darker green, its c a darker cyan.
        assert to_rgb(line.get_color()) == pytest.approx(expected["color"], abs=0.5)
        assert line.get_linestyle().lower() == expected["linestyle"]
        assert line.get_marker().lower() == expected["marker"]
    for line, expected in zip(lines[:-1], recorded[:-1], strict=True):
        x, y = _probits(line.get_xdata()), _probits(line.get_ydata())
        np.testing.assert_allclose(x, _recorded(expected["x"], x), rtol=0, atol=1e-11)
        np.testing.assert_allclose(y, _recorded(expected["y"], y), rtol=0, atol=1e-11)
    # The convex hull is sampled in another way, see tests/evaluation/test_curves_det.py; here
    # that the toolkit's points lie on the hull in the rates.
    hull = results.rocch
    x, y = (special.ndtr(recorded[-1][key]) for key in "xy")
    exact = np.interp(x, hull.pfa[::-1], hull.pmiss[::-1])
    np.testing.assert_allclose(y, exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("det", "name"), [(n, n) for n in NAMES], indirect=["det"])
def test_legend_and_warnings_are_the_toolkits(
    det: tuple[DETPlot, list[str]], name: str, drawings: Drawing
) -> None:
    plot, messages = det
    recorded = drawings[f"det_{name}"]
    texts = [text.get_text() for text in plot.ax.get_legend().get_texts()]
    # Its last label was a blank.
    assert texts == [text.strip() for text in recorded["legend"]]
    log = [line.removeprefix("Warning: ") for line in recorded["log"].splitlines() if line]
    assert messages == log


@pytest.mark.parametrize(
    ("window", "what", "rate"),
    [(((0.2, 0.3), (0.2, 0.3)), "pfa", 0.0525), (((0.05, 0.3), (0.2, 0.3)), "pmiss", 0.13)],
)
def test_one_warning_for_a_point_outside(
    window: tuple[tuple[float, float], tuple[float, float]],
    what: str,
    rate: float,
    results: Results,
) -> None:
    plot = DETPlot(DETWindow(*window))
    plot.set_system_from_results(results)
    with pytest.warns(PlotRangeWarning) as caught:
        plot.plot_mindcf_point(0.5, label="no entry")
    assert [str(warning.message) for warning in caught] == [
        f"{what} of {rate:f} is not between 0.200000 and 0.300000. "
        "The mindcf point will not be plotted."
    ]
    assert plot.artists == {}


def test_limits_belong_to_the_window(results: Results) -> None:
    # 30 / 800 and 30 / 200 exactly at the corner.
    plot = DETPlot(DETWindow((0.0375, 0.5), (0.1, 0.15)))
    plot.set_system_from_results(results)
    plot.plot_DR30_both()
    assert len(plot.ax.lines) == 2


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
    with pytest.warns(PlotRangeWarning) as caught:
        plot.plot_DR30_both()
    assert [str(warning.message)[:22] for warning in caught] == [
        "20 trials cannot have ",
        "5 trials cannot have 3",
    ]
    with pytest.warns(BosarisWarning, match="there is no legend"):
        assert plot.display_legend().get_legend() is None


def test_as_many_trials_as_the_rule_asks_for_have_a_line_out_of_view() -> None:
    """Of 30 trials 30 errors are all of them: the rate is 1, outside of every window."""
    plot = DETPlot("big")
    plot.set_system(np.arange(30.0), np.arange(31.0))
    with pytest.warns(PlotRangeWarning) as caught:
        plot.plot_DR30_miss()
    (warned,) = caught
    assert "Pmiss DR30 line" in str(warned.message)
    assert "cannot have" not in str(warned.message)


def test_lines_of_the_rule_of_30_are_thinner_than_curves(results: Results) -> None:
    plot = plot_det({"A": results}, "old")
    ((curve,), (rule,)) = plot.artists["steppy_det"], plot.artists["DR30_miss"]
    assert rule.get_linewidth() < curve.get_linewidth()


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
        with warnings.catch_warnings(record=True, category=PlotRangeWarning) as caught:
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


def test_users_points_lie_where_rates_say(results: Results) -> None:
    plot = DETPlot("old")
    plot.set_system_from_results(results)
    plot.plot_steppy_det()
    plot.ax.plot([0.0, 1.0], [0.5, 0.0], "o")
    plot.ax.plot(results.roc.pfa, results.roc.pmiss, "k.")
    plot.ax.annotate("EER", (results.eer, results.eer))
    plot.figure.draw_without_rendering()
    # The middle of the axes in probits: half way from probit(0.0005) to probit(0.5) = 0.
    middle = special.ndtr(special.ndtri(5e-4) / 2)
    shown = plot.ax.transData.transform((middle, middle))
    np.testing.assert_allclose(
        plot.ax.transAxes.inverted().transform(shown), [0.5, 0.5], rtol=0, atol=1e-9
    )


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


def test_two_plots_on_one_axes(results: Results) -> None:
    axes = Figure().subplots()
    first, second = DETPlot("old", ax=axes), DETPlot("old", ax=axes)
    for plot in (first, second):
        plot.set_system_from_results(results, "A")
        plot.plot_steppy_det()
    assert len(axes.lines) == 2
    assert len(first.artists["steppy_det"]) == 1


def test_own_windows_have_their_ticks_or_round_ones() -> None:
    ticks = DETPlot(DETWindow((0.01, 0.6), (0.01, 0.6), [0.02, 0.3], ["two", "thirty"])).ax
    ticks.figure.draw_without_rendering()
    assert ticks.get_xticks().tolist() == [0.02, 0.3]
    assert [label.get_text() for label in ticks.get_xticklabels()] == ["two", "thirty"]
    assert ticks.get_yticks().tolist() == pytest.approx([0.01, 0.02, 0.05, 0.1, 0.2, 0.5])


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


def test_windows_can_be_given_as_objects() -> None:
    assert DETPlot(WINDOWS["big"]).window is DETPlot("big").window
    assert re.match("DETPlot", repr(DETPlot()))


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


def test_the_diagonal_takes_a_style() -> None:
    plot = DETPlot()
    plot.plot_diagonal("r--")
    plot.plot_diagonal()
    styled, plain = plot.artists["diagonal"]
    assert (to_rgb(styled.get_color()), styled.get_linestyle()) == ((1.0, 0.0, 0.0), "--")
    assert to_rgb(plain.get_color()) == to_rgb(plot.ax.title.get_color())
    assert plain.get_xdata().tolist() == [1e-9, 1.0 - 1e-9]


@pytest.mark.parametrize(("name", "of"), [("", ""), ("A", " of A")])
def test_a_curve_out_of_view_is_named_if_it_has_a_name(name: str, of: str) -> None:
    plot = DETPlot(DETWindow((0.4, 0.5), (0.4, 0.5)))
    plot.set_system(np.arange(3.0) + 0.5, np.arange(4.0) - 2.0, name)
    with pytest.warns(PlotRangeWarning) as caught:
        plot.plot_steppy_det()
    said = f"The whole curve{of} lies outside of the window (pfa 0.4 to 0.5, pmiss 0.4 to 0.5)."
    assert [str(warning.message) for warning in caught] == [said]


def test_a_marked_prior_is_in_the_window_that_is_chosen(results: Results) -> None:
    # Almost all trials are targets: the least cost has 361 of 800 false alarms.
    assert results.min_dcf_threshold(0.9).pfa == 361 / 800
    for prior, inside in ((None, False), (0.9, True)):
        with warnings.catch_warnings():
            # Actual costs, of scores that are no log-likelihood-ratios, are far off.
            warnings.simplefilter("ignore", PlotRangeWarning)
            low, high = plot_det({"A": results}, "auto", prior=prior).window.pfa_limits
        assert (low <= 361 / 800 <= high) == inside


def _margins(plot: DETPlot) -> list[tuple[float, float, float, bool]]:
    return [
        (*text.get_position(), text.get_rotation(), text.get_visible()) for text, _ in plot._margins
    ]


def test_margins_name_what_they_are_where_there_is_room(results: Results) -> None:
    # 30 of 800 false alarms and 30 of 200 misses: rates of 0.0375 and 0.15.
    plot = DETPlot("old")
    plot.set_system_from_results(results)
    plot.plot_DR30_both()
    # In shares of the Axes (probits from that of 0.0005 to 0) the diagonal is at 0.46 and 0.68.
    assert _margins(plot) == [(0.0375, 0.02, 90.0, True), (0.01, 0.15, 0.0, True)]
    low = DETPlot(DETWindow((0.02, 0.5), (0.02, 0.5)))
    low.set_system_from_results(results)
    low.plot_DR30_both()
    # Here the diagonal meets the line at (-1.7805 + 2.0537) / 2.0537 = 0.1330: beside it, above.
    (x, y, _, _), (beside, _, _, _) = _margins(low)
    assert (x, y) == (0.0375, pytest.approx(0.1330 + 0.04, abs=1e-4))
    # (-1.0364 + 2.0537) / 2.0537 = 0.495 is far enough from the corner.
    assert beside == 0.01


@pytest.mark.parametrize("legend", [True, False])
def test_texts_of_margins_cover_nothing(*, legend: bool, results: Results) -> None:
    plot = plot_det({"A": results}, DETWindow((0.005, 0.6), (0.005, 0.6)), legend=legend)
    plot.figure.draw_without_rendering()
    frame, shown = plot.ax.get_window_extent(), [t for t, _ in plot._margins if t.get_visible()]
    assert len(shown) == 2
    boxes = [text.get_window_extent() for text in shown]
    if legend:
        boxes.append(plot.ax.get_legend().get_window_extent())
    assert (plot.ax.get_legend() is not None) == legend
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    for box in boxes:
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1
        assert frame.y0 <= box.y0 < box.y1 <= frame.y1
        for line in plot.artists["steppy_det"] + plot.artists["diagonal"]:
            drawn = line.get_path().transformed(line.get_transform())
            assert not drawn.intersects_bbox(box, filled=False)


def test_what_finds_no_room_in_a_margin_is_said_below(results: Results) -> None:
    # Of false alarms the margin is from 0.037 to 0.0375: too thin for letters.
    plot = plot_det({"A": results}, DETWindow((0.037, 0.3), (0.09, 0.3)))
    assert [text.get_visible() for text, _ in plot._margins] == [False, True]
    assert plot._drawn.notes == ["grey: fewer than 30 false alarms"]
    assert "grey: fewer than 30 false alarms" in [text.get_text() for text in plot.ax.texts]
