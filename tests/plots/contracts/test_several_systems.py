"""Plots of several systems in one call: what is drawn, legends, windows, notebooks, print."""

import itertools
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import Results
from bosaris_py.plots import (
    BayesPlot,
    DETPlot,
    DETWindow,
    plot_bayes,
    plot_det,
    plot_forest,
    plot_tippett,
    style,
)
from bosaris_py.plots.looks import system_look
from bosaris_py.uncertainty.bands import bootstrap_bands
from bosaris_py.uncertainty.estimate import Estimate


def _systems(count: int, n_tar: int = 300, n_non: int = 2000) -> dict[str, Results]:
    rng = np.random.default_rng(7)
    non = rng.normal(-2, 2, n_non)
    return {
        f"system {i}": Results(rng.normal(2 + 2 * i / count, 2, n_tar), non) for i in range(count)
    }


def _texts(plot: Any) -> list[str]:
    return [text.get_text() for text in plot.ax.get_legend().get_texts()]


def test_det_of_several_systems() -> None:
    systems = _systems(3)
    plot = plot_det(systems, title="three")
    assert isinstance(plot, DETPlot)
    assert _texts(plot) == [f"{n} (EER {100 * r.eer:.3g} %)" for n, r in systems.items()]
    for results, line, point in zip(
        systems.values(), plot.artists["steppy_det"], plot.artists["eer_point"], strict=True
    ):
        assert np.isin(results.roc.corners().pfa, line.get_xdata()).all()
        assert point.get_xydata().tolist() == [[results.eer, results.eer]]
    # All have the same trials, so each margin is drawn once.
    assert [len(plot.artists[kind]) for kind in ("DR30_fa", "DR30_miss")] == [1, 1]
    assert plot.artists["DR30_fa"][0].get_xdata().tolist() == [30 / 2000, 30 / 2000]
    assert [t.get_text().strip() for t in plot.ax.texts] == [
        "fewer than 30 false alarms",
        "fewer than 30 misses",
    ]


def test_operating_points_on_the_det_curve() -> None:
    (results,) = _systems(1).values()
    plot = plot_det({"A": results}, "big", prior=0.1)
    best, act = (plot.artists[k][0].get_xydata()[0] for k in ("mindcf_point", "actdcf_point"))
    threshold = results.min_dcf_threshold(0.1)
    assert best.tolist() == [threshold.pfa, threshold.pmiss]
    # The Bayes threshold of prior 0.1 is log 9.
    pmiss, pfa = results.error_rates_at(np.log(9.0))
    assert act.tolist() == [pfa, pmiss]
    assert _texts(plot)[1:] == ["minimum cost", "actual cost"]
    with pytest.raises(InvalidInputError, match="be one operating point; got 2 of them"):
        plot.plot_actdcf_point([0.1, 0.2])


def test_bayes_of_several_systems_has_a_legend_by_system_and_by_kind() -> None:
    systems = _systems(4)
    plot = plot_bayes(systems, prior=[0.01])
    assert isinstance(plot, BayesPlot)
    kinds = ["actual", "minimum", "30 false alarms", "30 misses"]
    # 4 systems x 4 kinds would be 16 entries. The line of the prior has its name at its foot.
    assert sorted(_texts(plot)) == sorted([*systems, *kinds])
    assert [text.get_text() for text in plot.ax.texts] == ["1 %"]
    keys = dict(zip(_texts(plot), plot.ax.get_legend().legend_handles, strict=True))
    for number, name in enumerate(systems):
        assert keys[name].get_color() == system_look(number, plot.ax).colour
    assert {keys[kind].get_color() for kind in kinds} == {mpl.rcParams["text.color"]}
    assert keys["minimum"].get_linestyle() == "--"


def test_bayes_curves_are_pale_where_errors_are_few() -> None:
    (results,) = _systems(1).values()
    plot = plot_bayes({"A": results})
    pale, strong = plot.artists["dcf_curve_act"]
    curves = plot.curves
    assert pale.get_alpha() < 0.5
    x = strong.get_xdata()
    assert [x[0], x[-1]] == [curves.plo[curves.dr30_fa_index], curves.plo[curves.dr30_miss_index]]
    # The limits hold both marks, and the curve between them.
    assert plot.ax.get_xlim()[0] < x[0] < x[-1] < plot.ax.get_xlim()[1]
    # A finer grid than the one that the limits are chosen on: some per cent.
    assert plot.ax.get_ylim()[1] == pytest.approx(1.15 * strong.get_ydata().max(), rel=0.05)


@pytest.mark.parametrize(("n_tar", "n_non", "shift"), [(20, 90, 1.0), (90, 20, 1.0), (90, 60, 4.0)])
def test_few_trials_are_marked_everywhere(n_tar: int, n_non: int, shift: float) -> None:
    # 20 trials never have 30 errors; with a shift of 4 the rates of 30 errors are above the window.
    rng = np.random.default_rng(1)
    results = Results(rng.normal(shift, 2, n_tar), rng.normal(-shift, 2, n_non))
    det = plot_det({"A": results, "B": results})
    to_rates = det.ax.transData.inverted()
    fa, miss = (patch.get_extents().transformed(to_rates) for patch in det.ax.patches)
    right, top = det.window.pfa_limits[1], det.window.pmiss_limits[1]
    assert (fa.x1, miss.y1) == pytest.approx((min(30 / n_non, right), min(30 / n_tar, top)))
    assert (fa.y1, miss.x1) == pytest.approx((top, right))
    texts = [text.get_text().strip() for text in det.ax.texts]
    assert texts == ["fewer than 30 false alarms", "fewer than 30 misses"]

    bayes = plot_bayes({"A": results})
    for kind in ("dcf_curve_act", "dcf_curve_min"):
        (line,) = bayes.artists[kind]
        assert line.get_alpha() < 0.5
        assert line.get_xdata().tolist() == bayes.curves.plo.tolist()
    texts = [text.get_text() for text in bayes.ax.get_legend().get_texts()]
    assert texts[:2] == ["A actual", "A minimum"]
    assert texts[-1] == "pale: fewer than 30 errors"


def test_priors_in_per_cent_are_above_the_bayes_plot() -> None:
    plot = BayesPlot((-8, 2, 0, 1.2))
    plot.figure.draw_without_rendering()
    (above,) = plot.ax.child_axes
    texts = [tick.get_text() for tick in above.get_xticklabels()]
    places = above.get_xticks()
    shares = 1.0 / (1.0 + np.exp(-np.asarray(places)))
    assert [float(text) / 100 for text in texts] == pytest.approx(shares)
    assert {"0.1", "1", "10", "50"} <= set(texts)


@pytest.mark.parametrize("inches", [2.5, 3.3, 7.0])
@pytest.mark.parametrize("low", [-14, -13, -7, -3, 2])
def test_labels_of_the_upper_axis_are_apart(inches: float, low: int) -> None:
    for high in range(low + 2, 15, 3):
        with mpl.rc_context({"figure.figsize": (inches, inches), "font.size": 7.0}):
            plot = BayesPlot((low, high, 0, 1.2))
            plot.figure.draw_without_rendering()
        for axes in (plot.ax, *plot.ax.child_axes):
            boxes = [text.get_window_extent() for text in axes.get_xticklabels() if text.get_text()]
            boxes.sort(key=lambda box: box.x0)
            gaps = [b.x0 - a.x1 for a, b in itertools.pairwise(boxes)]
            # A third of a letter of 7 points.
            assert min(gaps, default=9.0) > 0.33 * 7 * plot.figure.dpi / 72


def test_limits_without_an_order() -> None:
    for call in (lambda: BayesPlot({-5, 5, 0, 1}), lambda: DETWindow({0.1, 0.2}, [0.1, 0.2])):
        with pytest.raises(InvalidInputError, match="Braces make a set"):
            call()


def test_bands_by_name() -> None:
    tar, non = np.random.default_rng(1).normal([[2.0]], 1, (1, 200))[0], np.arange(-50, 1) / 10.0
    results = Results(tar, non)
    options = {"replications": 50, "rng": 1}
    bands = [bootstrap_bands((tar, non), kind=kind, **options) for kind in ("det", "bayes")]
    systems = {"A": results, "B": results}
    for plot in (
        plot_det(systems, bands={"B": bands[0]}),
        plot_bayes(systems, bands={"B": bands[1]}),
    ):
        (area,) = plot.artists["band"]
        assert tuple(area.get_facecolor()[0]) == to_rgba(system_look(1, plot.ax).colour, 0.2)


@pytest.mark.parametrize("plot", [plot_det, plot_bayes])
def test_systems_as_pairs_or_alone(plot: Any) -> None:
    (results,) = _systems(1).values()
    rng = np.random.default_rng(7)
    non = rng.normal(-2, 2, 2000)
    pair = rng.normal(2, 2, 300), non
    axes = Figure().subplots()
    drawn = [plot(results), plot({"A": pair}, ax=axes)]
    assert drawn[1].ax is axes
    kind = "steppy_det" if plot is plot_det else "dcf_curve_act"
    one, other = (d.artists[kind][0].get_xydata() for d in drawn)
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("plot", [plot_det, plot_bayes])
@pytest.mark.parametrize("systems", [{}, None, [1.0], {"A": [1.0, 2.0]}, {"A": 3}])
def test_what_are_not_systems(plot: Any, systems: object) -> None:
    message = "`systems` must be a mapping from names to Results or to (tar, non); got"
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        plot(systems)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")
@pytest.mark.parametrize(
    ("shift", "n_tar", "n_non"),
    [(0.1, 100, 100), (1, 50, 1000), (3, 1000, 100_000), (5, 1000, 100_000), (-1, 100, 100)],
)
def test_automatic_window_holds_the_curve(shift: float, n_tar: int, n_non: int) -> None:
    rng = np.random.default_rng(2)
    results = Results(rng.normal(shift, 1, n_tar), rng.normal(0, 1, n_non))
    window = plot_det({"A": results}).window
    # The EER is in view, and on the scale of the plot not in a corner.
    for low, high in (window.pfa_limits, window.pmiss_limits):
        assert low < results.eer < high
    line = np.asarray(plot_det({"A": results}).artists["steppy_det"][0].get_xydata())
    (left, right), (bottom, top) = window.pfa_limits, window.pmiss_limits
    inside = (line[:, 0] > left) & (line[:, 0] < right) & (line[:, 1] > bottom) & (line[:, 1] < top)
    assert inside.sum() > 0.1 * results.roc.corners().pfa.size


@pytest.mark.parametrize(("d", "spread", "n_tar", "n_non"), [(2, 0.6, 300, 50_000), (1, 2, 50, 50)])
def test_automatic_window_has_equal_axes(d: float, spread: float, n_tar: int, n_non: int) -> None:
    rng = np.random.default_rng(2)
    plot = plot_det({"A": (rng.normal(d, spread, n_tar), rng.normal(0, 1, n_non))})
    assert plot.window.pfa_limits == plot.window.pmiss_limits
    assert plot.ax.get_xlim() == plot.ax.get_ylim() == plot.window.pfa_limits
    # So the line of equal error-rates goes from corner to corner.
    plot.figure.draw_without_rendering()
    box = plot.ax.get_window_extent()
    (left, bottom), (right, top) = (
        plot.ax.transData.transform((rate, rate)) for rate in plot.window.pfa_limits
    )
    assert (left, bottom, right, top) == pytest.approx((box.x0, box.y0, box.x1, box.y1))


def test_automatic_window_grows_with_the_systems() -> None:
    rng = np.random.default_rng(2)
    plot = DETPlot("auto")
    limits = []
    for shift in (4, 1):
        plot.set_system(rng.normal(shift, 1, 500), rng.normal(0, 1, 5000), f"{shift}")
        plot.plot_steppy_det()
        limits.append(plot.window.pmiss_limits)
    assert limits[0][1] < limits[1][1]
    assert plot.ax.get_ylim() == limits[1]


def test_separable_scores_can_be_drawn() -> None:
    with pytest.warns(Warning, match="lies outside of the window"):
        plot_det({"A": ([1.0, 2.0], [-1.0, 0.0])}).figure.draw_without_rendering()


def test_a_second_plot_on_the_same_axes_goes_on() -> None:
    axes = Figure().subplots()
    systems = _systems(3)
    first = DETPlot("new", ax=axes)
    second = DETPlot(ax=axes)
    assert second.window is first.window
    for plot, name in ((first, "system 0"), (second, "system 1"), (second, "system 0")):
        plot.set_system_from_results(systems[name], name)
        plot.plot_steppy_det()
    colours = [line.get_color() for line in axes.lines]
    assert colours == [system_look(i, axes).colour for i in (0, 1, 0)]
    # A name is in the legend once.
    second.display_legend()
    assert _texts(second) == ["system 0", "system 1"]


def test_24_systems_look_different() -> None:
    axes = Figure().subplots()
    looks = [system_look(number, axes) for number in range(24)]
    assert len({(a.colour, str(a.dash), a.marker.get("marker")) for a in looks}) == 24
    # In black and white too, and with dashes that show the kind of curve.
    assert len({(str(a.dash), a.marker.get("marker")) for a in looks}) == 24
    assert len({(a.colour, a.marker.get("marker")) for a in looks}) == 24


def test_a_colour_cycle_of_the_user_is_kept() -> None:
    with mpl.rc_context({"axes.prop_cycle": mpl.cycler(color=["red", "lime"])}):
        axes = Figure().subplots()
        assert [system_look(i, axes).colour for i in range(3)] == ["red", "lime", "red"]


@pytest.mark.slow
def test_long_legends_take_no_room_from_the_axes(tmp_path: Path) -> None:
    plot = plot_det(_systems(12))
    plot.figure.draw_without_rendering()
    assert not plot.ax.get_legend().get_in_layout()
    assert min(plot.ax.get_position().size) > 0.75
    # Files are wider than the figure, because the legend lies beside it.
    plot.save(tmp_path / "a.png", dpi=50)
    plot.figure.savefig(tmp_path / "b.png", dpi=50)
    for name in ("a.png", "b.png"):
        header = (tmp_path / name).read_bytes()[16:24]
        assert int.from_bytes(header[:4]) > 350


def test_notebooks_show_plots_and_axes() -> None:
    interval = Estimate.from_error(0.10, 0.01)
    plot = plot_det(_systems(1))
    for shown in (
        plot,
        plot.figure,
        plot.ax,
        plot_bayes(_systems(1)),
        plot_forest({"A": interval}),
    ):
        assert shown._repr_png_().startswith(b"\x89PNG")


@pytest.mark.slow
def test_show_needs_pyplot_only_outside_of_notebooks() -> None:
    code = """
import sys, matplotlib, warnings
matplotlib.use("agg")
from bosaris_py import plot_det
plot = plot_det({"A": ([1.0, 2.0, 3.0], [-1.0, 0.0, 1.5])})
plot._repr_png_()
assert "matplotlib.pyplot" not in sys.modules
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    plot.show()
import matplotlib.pyplot as plt
assert plt.gcf() is plot.figure
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=120)


def test_paper_style() -> None:
    with style("paper"):
        det, bayes = plot_det(_systems(2)), plot_bayes(_systems(2))
    assert det.figure.get_size_inches().tolist() == [3.3, 3.3]
    assert bayes.figure.get_size_inches()[0] == 3.3
    assert det.ax.xaxis.label.get_fontsize() == 7.0
    assert DETPlot().figure.get_size_inches().tolist() == [6.0, 6.0]
    with pytest.raises(InvalidInputError, match="`name` must be one of 'paper'; got 'p'"):
        style("p")


@pytest.mark.slow
def test_pdf_has_no_type_3_fonts(tmp_path: Path) -> None:
    plot_det(_systems(1)).save(tmp_path / "a.pdf")
    content = (tmp_path / "a.pdf").read_bytes()
    assert b"/Type3" not in content
    assert b"/CIDFontType2" in content


def test_axes_and_figures_of_plots_have_no_type_3_fonts_either(tmp_path: Path) -> None:
    before = mpl.rcParams["pdf.fonttype"]
    axes = plot_tippett(_systems(1))
    axes.figure.savefig(tmp_path / "own.pdf")
    assert mpl.rcParams["pdf.fonttype"] == before
    figure = Figure()
    plot_tippett(_systems(1), ax=figure.subplots())
    with style("paper"):
        figure.savefig(tmp_path / "user.pdf")
    for name in ("own", "user"):
        assert b"/Type3" not in (tmp_path / f"{name}.pdf").read_bytes()
