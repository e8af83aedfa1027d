"""What DET and Bayes plots share: choosing systems, styles, labels, conditions."""

from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb, to_rgba

from bosaris_py import Conditions, Key, Results, Scores
from bosaris_py.errors import BosarisWarning, InvalidInputError, MissingTrialsWarning
from bosaris_py.plots import BayesPlot, DETPlot
from bosaris_py.plots.looks import Pen, spread, system_look
from bosaris_py.uncertainty.bands import bootstrap_bands
from tests.plots.looked_at import legend_texts

PLOTS = [DETPlot, BayesPlot]
RATES = [f"{k}_{w}" for k in ("dcf_curve", "miss_rate", "fa_rate") for w in ("act", "min")]
ALL_CURVES = [(DETPlot, kind) for kind in ("steppy_det", "rocch_det", "DR30_fa", "DR30_miss")]
ALL_CURVES += [(BayesPlot, kind) for kind in (*RATES, "DR30_fa", "DR30_miss")]
each_plot = pytest.mark.parametrize("kind", PLOTS, ids=lambda kind: kind.__name__)


def make(kind: type, results: Results, **keywords: Any) -> Any:
    plot = kind(**keywords)
    plot.set_system_from_results(results, "sys")
    return plot


@pytest.mark.parametrize(("kind", "name"), ALL_CURVES)
def test_styles_labels_and_line_keywords(kind: type, name: str, results: Results) -> None:
    with pytest.raises(InvalidInputError):
        getattr(kind(), f"plot_{name}")()
    plot = make(kind, results)
    draw = getattr(plot, f"plot_{name}")
    for wrong in ("my system", "--r-", ["r"], 3):
        with pytest.raises(ValueError, match=r"format string|`style` must be"):
            draw(wrong)
    for unknown in ({"colour": "red"}, {"LineWidth": 2}, {"label": 3}):
        with pytest.raises(InvalidInputError, match=next(iter(unknown))):
            draw(**unknown)
    assert plot.artists == {}
    assert not plot.ax.lines
    draw("r--", "first", lw=3)
    draw(style="k", label="second")
    draw(label="third", color="tab:green", alpha=0.5)
    draw("--", "", zorder=9)
    draw()
    own, lines = system_look(0, plot.ax)["color"], plot.artists[name]
    labels = ["sys first", "sys second", "sys third", "sys", "_nolegend_"]
    assert [line.get_label() for line in lines] == labels
    assert [*map(to_rgb, (x.get_color() for x in lines))] == [
        *map(to_rgb, ("red", "black", "tab:green", own, own))
    ]
    assert (lines[0].get_linewidth(), lines[2].get_alpha(), lines[3].get_zorder()) == (3, 0.5, 9)
    assert lines[0].get_linestyle() == "--" or (kind, name[:4]) == (BayesPlot, "DR30")


@pytest.mark.parametrize(("name", "marker"), [("DR30_fa", ">"), ("DR30_miss", "<")])
def test_points_are_markers_whatever_the_style(name: str, marker: str, results: Results) -> None:
    plot = make(BayesPlot, results, axes=(-8, 2, 0, 1.2))
    for keywords in ({}, {"style": "r"}, {"style": "k*"}, {"marker": "d"}):
        getattr(plot, f"plot_{name}")(**keywords)
    found = [(line.get_linestyle(), line.get_marker()) for line in plot.artists[name]]
    assert found == [("None", each) for each in (marker, marker, "*", "d")]


@each_plot
def test_three_ways_to_set_a_system_draw_the_same(kind: type) -> None:
    plot, (tar, non) = kind(), SCORES.get_tar_non(KEY)
    for set_system, given in (
        (plot.set_system, (tar, non)),
        (plot.set_system_from_scores, (SCORES, KEY)),
        (plot.set_system_from_results, (Results(tar, non),)),
    ):
        set_system(*given, "A")
        plot._curve(Pen(label="curve"))
    for line in plot.ax.lines:
        np.testing.assert_array_equal(line.get_xydata(), plot.ax.lines[0].get_xydata())
        assert line.get_label() == "A curve"


@each_plot
def test_bad_systems_change_nothing(kind: type) -> None:
    plot = kind()
    plot.set_system([1.0, 2.0], [0.0, 1.5], "good")
    before = plot._system()
    for scores in (([], [1.0]), ([1.0], [np.nan])):
        with pytest.raises(InvalidInputError):
            plot.set_system(*scores, "bad")
    with pytest.raises(InvalidInputError):
        plot.set_system([1.0], [0.0], "_a")
    assert plot._system() is before
    assert repr(plot) == f"{kind.__name__}: 0 lines of 1 system"


@each_plot
def test_a_name_keeps_its_colour(kind: type) -> None:
    plot = kind()
    for name in ("a", "b", "a", "", "", "b", "c"):
        plot.set_system([1.0, 2.0], [0.0, 1.5], name)
        plot._curve(Pen(label=""))
    colours = [line.get_color() for line in plot.ax.lines]
    assert colours == [system_look(n, plot.ax)["color"] for n in (0, 1, 0, 2, 3, 1, 4)]
    assert [line.get_label() for line in plot.ax.lines][:4] == ["a", "b", "a", "_nolegend_"]


@each_plot
def test_legends(kind: type, results: Results) -> None:
    plot = make(kind, results)
    plot._curve(Pen(label="_nolegend_"))
    with pytest.warns(BosarisWarning, match="there is no legend"):
        plot.display_legend()
    assert plot.ax.get_legend() is None
    plot._curve(Pen(label="curve"))
    plot.ax.plot([0.1], [0.1], "o", label="my point")
    plot.display_legend(loc="lower left", title="Systems")
    assert legend_texts(plot) == ["sys curve", "my point"]
    assert plot.ax.get_legend().get_title().get_text() == "Systems"


def test_texts_are_spread_as_little_as_it_takes() -> None:
    assert spread([], []) == []
    np.testing.assert_allclose(spread([0.2, 0.5], [0.1] * 2), [0.2, 0.5])
    np.testing.assert_allclose(spread([0.5, 0.5, 0.5], [0.1] * 3), [0.5, 0.6, 0.7])
    np.testing.assert_allclose(spread([0.95, 1.0], [0.1] * 2), [0.9, 1.0])
    # Half of the size of each of two lies between their middles.
    np.testing.assert_allclose(spread([0.5, 0.5], [0.1, 0.3]), [0.5, 0.7])


@each_plot
def test_bands(kind: type, rng: np.random.Generator) -> None:
    scores = rng.normal(2, 2, 200), rng.normal(-2, 2, 500)
    band, other = (
        bootstrap_bands(scores, kind=each, replications=50, rng=1)
        for each in (("det", "bayes") if kind is DETPlot else ("bayes", "det"))
    )
    plot = make(kind, Results(*scores))
    for wrong, options in ((other, {}), (None, {}), (band, {"colour": "red"})):
        with pytest.raises(InvalidInputError):
            plot.plot_band(wrong, **options)
    plot.plot_band(band, label="95 %")
    plot.plot_band(band, facecolor="red", alpha=0.5)
    first, second = plot.artists["band"]
    assert tuple(first.get_facecolor()[0]) == to_rgba(system_look(0, plot.ax)["color"], 0.2)
    assert tuple(second.get_facecolor()[0]) == to_rgba("red", 0.5)
    assert (first.get_label(), second.get_label()) == ("sys 95 %", "_nolegend_")
    assert repr(plot) == f"{kind.__name__}: 0 lines, 2 bands of 1 system"


IDS = [f"m{i}" for i in range(20)], [f"s{j}" for j in range(100)]
IS_TAR = np.arange(100) % 20 == np.arange(20)[:, None]
RARE = np.tile(np.arange(100) >= 80, (20, 1))
KEY = Key(*IDS, IS_TAR, ~IS_TAR)
SCORES = Scores(np.random.default_rng(1).normal(2.0 * IS_TAR, 1.0), *IDS)
CONDITIONS = Conditions({"common": ~RARE, "rare": RARE}, {"common": 0.25, "rare": 0.75})


def test_det_of_conditions() -> None:
    plot = DETPlot("big")
    with pytest.raises(InvalidInputError):
        plot.plot_conditions(SCORES, KEY, None)
    assert plot.plot_conditions(SCORES, KEY, CONDITIONS, "system", ls=":") is plot.ax
    expected = {
        "common": Results.from_scores(SCORES, CONDITIONS.select(KEY, "common")),
        "rare": Results.from_scores(SCORES, CONDITIONS.select(KEY, "rare")),
        "system pooled": Results.from_scores(SCORES, KEY),
        "system weighted": Results.from_scores(SCORES, KEY, CONDITIONS),
    }
    for line, (label, results) in zip(plot.artists["steppy_det"], expected.items(), strict=True):
        # Curves this small are drawn with all their corners.
        corners = results.roc.corners()
        assert np.isin(corners.pfa, line.get_xdata()).all()
        assert np.isin(corners.pmiss, line.get_ydata()).all()
        assert (line.get_label(), line.get_linestyle()) == (label, ":")


def test_bayes_of_conditions() -> None:
    plot, again = (BayesPlot((-4.0, 4.0, 0.0, 1.5)) for _ in range(2))
    plot.plot_conditions(SCORES, KEY, CONDITIONS)
    lines = (line.get_ydata() for line in plot.artists["dcf_curve_act"])
    common, rare, pooled, weighted = lines
    # The error-rates of conditions are averaged with their weights, and costs are linear
    # in them; 1e-12 is room for rounding.
    assert weighted == pytest.approx(0.25 * common + 0.75 * rare, abs=1e-12)
    # 80 of the 100 segments are of the common condition, with as many trials each.
    assert pooled == pytest.approx(0.8 * common + 0.2 * rare, abs=1e-12)
    again.set_system_from_scores(SCORES, KEY, "system", conditions=CONDITIONS)
    assert again.curves.act_dcf == pytest.approx(weighted, abs=1e-12)


def test_odd_conditions() -> None:
    half = np.tile(np.arange(100) < 50, (20, 1))
    parts = {"both": half, "others": ~IS_TAR & ~half}
    plot = DETPlot("big")
    with pytest.warns(BosarisWarning):
        plot.plot_conditions(SCORES, KEY, Conditions(parts, uncovered="ignore"))
    labels = [line.get_label() for line in plot.artists["steppy_det"]]
    assert labels == ["both", "pooled", "equalised"]
    partial = SCORES.filter(IDS[0], IDS[1][:90], keep=True)
    with pytest.warns(MissingTrialsWarning, match="10 of 100 targets missing"):
        plot.plot_conditions(partial, KEY, Conditions({"all": RARE | ~RARE}))
