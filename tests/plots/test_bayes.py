"""Bayes error-rate plots: what the toolkit drew, points, lines and plot_curves."""

from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb

import bosaris_py as bp
from bosaris_py.errors import BosarisWarning, InvalidInputError
from bosaris_py.evaluation import Results
from bosaris_py.metrics.curves import BayesCurves
from bosaris_py.numerics import OperatingPoint, logit
from bosaris_py.plots import BayesPlot, DETPlot, plot_a_dcf, plot_bayes
from bosaris_py.plots.looks import system_look

Drawing = dict[str, Any]
AXES = (-8, 2, 0, 1.2)


@pytest.fixture
def plot(results: Results) -> BayesPlot:
    plot = BayesPlot(AXES, "norm title")
    plot.set_system_from_results(results, "sys")
    return plot


def test_axes_are_the_toolkits(plot: BayesPlot, drawings: Drawing) -> None:
    recorded, ax = drawings["norm_dcf"]["axes"], plot.ax
    assert [*ax.get_xlim(), *ax.get_ylim()] == recorded["xlim"] + recorded["ylim"]
    assert ax.get_xlabel() == recorded["xlabel"].replace("P_{tar}", "$P_{tar}$")
    assert (ax.get_ylabel(), ax.get_title()) == (recorded["ylabel"], recorded["title"])


def test_curves_are_those_of_the_numbers(plot: BayesPlot, results: Results) -> None:
    expected = BayesCurves.from_sample(results.sample, np.linspace(-8, 2, 1001))
    rates = {"dcf_curve_act": expected.act_dcf, "dcf_curve_min": expected.min_dcf}
    for kind, rate in (rates | expected.parts).items():
        getattr(plot, f"plot_{kind}")()
        data = plot.artists[kind][0].get_xydata()
        np.testing.assert_array_equal(data, np.stack((expected.plo, rate), 1))
    assert plot.curves.n_tar == 200


def test_points_of_the_rule_of_30_lie_on_the_minimum_curve(plot: BayesPlot) -> None:
    plot.plot_DR30_both()
    curves = plot.curves
    for kind, index in (("DR30_fa", curves.dr30_fa_index), ("DR30_miss", curves.dr30_miss_index)):
        assert index is not None
        point = plot.artists[kind][0].get_xydata().tolist()
        assert point == [[curves.plo[index], curves.min_dcf[index]]]
    assert [line.get_label() for line in plot.ax.lines] == ["sys FA DR30", "sys Miss DR30"]


def test_no_points_with_few_trials() -> None:
    for plot in (DETPlot(), BayesPlot()):
        plot.set_system([1.0, 2.0], [0.0, 1.5], "few")
        with pytest.warns(BosarisWarning) as both:
            plot.plot_DR30_both("r*", "g*")
        # They point at the line of the script that called for the drawing.
        assert [warning.filename for warning in both] == [__file__] * 2
        assert plot.artists == {}
    with pytest.warns(BosarisWarning) as curves:
        plot.plot_curves([0, 0, 0, 0, 0, 0, 1, 1], ["k*", "ko"])
    assert (len(curves), plot.artists) == (1, {})


def test_no_mark_where_errors_abound_up_to_the_edge(rng: np.random.Generator) -> None:
    """Thousands of misses at plo = 0: the toolkit would mark 30 misses at this edge."""
    plot = BayesPlot((-3.0, 0.0, 0.0, 1.2))
    plot.set_system(rng.normal(1, 1, 20_000), rng.normal(-1, 1, 20_000), "large")
    with pytest.warns(BosarisWarning, match="at least 30") as caught:
        plot.plot_DR30_both()
    assert len(caught) == 2
    assert plot.artists == {}


def test_operating_points_need_no_system() -> None:
    plot, point = BayesPlot(), OperatingPoint(0.01, 10, 1)
    plot.plot_operating_point(point, label="old DCF")
    plot.plot_operating_point(logit(0.001), "k:")
    plot.plot_operating_point(-10)
    plot.plot_operating_point(prior=point)
    lines = [line.get_xydata().tolist() for line in plot.artists["operating_point"]]
    expected = [point.plo, -6.906754778648554, -10.0, point.plo]
    assert lines == [[[pytest.approx(x), 0.0], [pytest.approx(x), 1.2]] for x in expected]
    # Without the name of a system: it is the same for all.
    plot.set_system([1.0], [0.0], "sys")
    plot.plot_operating_point(-1, label="point")
    labels = [line.get_label() for line in plot.artists["operating_point"]]
    assert labels[::4] == ["old DCF", "point"]


def test_plot_curves_takes_styles_and_properties(plot: BayesPlot) -> None:
    styles = [{"style": "r", "linewidth": 4}, {"color": "tab:blue", "ls": ":"}, None]
    plot.plot_curves(np.array([1, 0, 1, 0, 1, 0, 0, 0]), styles)
    first, second, third = plot.ax.lines
    assert (to_rgb(first.get_color()), first.get_linewidth()) == ((1, 0, 0), 4)
    assert (second.get_color(), second.get_linestyle()) == ("tab:blue", ":")
    assert third.get_color() == system_look(0, plot.ax)["color"]


def test_bad_input(plot: BayesPlot) -> None:
    masks = ([1] * 7, [[1] * 8], [2] + [0] * 7, ["yes"] * 8)
    styles = (([1, 1, 0, 0, 0, 0, 0, 0], styles) for styles in (["r"], "rgbcmyk*"))
    for bad in (*((mask,) for mask in masks), *styles):
        with pytest.raises(InvalidInputError):
            plot.plot_curves(*bad)
    for plo in ("here", None, [1, 2], np.nan, 0.001, 0.999):
        with pytest.raises(InvalidInputError, match="`plo` must"):
            plot.plot_operating_point(plo)
    assert len(plot.ax.lines) == 0
    for axes in ((0, -10, 0, 1), (-1, 0, 1, 0), (-10, 0), (-1, 0, 0, np.inf), "abcd", None):
        with pytest.raises(InvalidInputError, match="`axes`"):
            BayesPlot(axes)


def test_limits_show_where_curves_can_be_measured(gauss, results):
    # Counted: from -1.05 to -1, in steps of 0.05, both errors of the least cost are at least 30.
    tar, non = gauss
    measured, thresholds = [], [*np.unique(np.concatenate((tar, non))), np.inf]
    errors = np.array([((tar < t).sum(), (non >= t).sum()) for t in thresholds])
    for plo in np.arange(-2.0, 0.0, 0.05):
        prior = 1.0 / (1.0 + np.exp(-plo))
        costs = errors @ (prior / tar.size, (1.0 - prior) / non.size)
        measured += [plo] * int(errors[costs.argmin()].min() >= 30)
    assert measured == pytest.approx([-1.05, -1.0])
    # Half a unit beyond -1.05 and 1, which is always shown, to whole numbers.
    plot = plot_bayes({"A": results})
    act = BayesCurves.from_sample(results.sample, np.array([-1.05, -1.0])).act_dcf
    assert plot.ax.get_xlim() == (-2.0, 2.0)
    assert plot.ax.get_ylim() == (0.0, pytest.approx(1.15 * act.max()))
    ax = plot_bayes({"A": results}, prior=0.01).ax  # logit(0.01) - 0.5 = -5.095, and a line
    assert (ax.get_xlim(), ax.texts[0].xy[1]) == ((-6.0, 2.0), 1.0)  # its name above low curves


@pytest.fixture(scope="module")
def lists():
    rng = np.random.default_rng(1)
    return [rng.normal(mean, 2, 60) for mean in (3, -3, -1)]


def test_costs_are_those_of_each_prior(lists):
    priors = [0.01, 0.05, 0.2]
    plot = plot_a_dcf({"A": lists}, priors=priors, costs="ASVspoof5")
    assert plot.ax.get_ylabel() == "normalized a-DCF"
    for number, prior in enumerate(priors):
        # The kit's proportion of targets and impostors is kept.
        costs = bp.SpoofCosts((1 - prior) * 0.99, (1 - prior) * 0.01, prior, 1.0, 10.0, 10.0)
        for kind, function in (("min", bp.a_dcf), ("act", bp.act_a_dcf)):
            (line,) = plot.artists[kind]
            # Priors are products of roundings.
            expected = function(*lists, costs)
            assert line.get_ydata()[number] == pytest.approx(expected, rel=1e-12)
    (marked,) = plot.artists["prior"]
    assert set(marked.get_xdata()) == {0.05}


def test_only_minima_where_scores_are_no_llrs(lists):
    far = [part * 50 for part in lists]
    with pytest.warns(bp.errors.SuspectScoresWarning):
        plot_a_dcf({"A": far}, priors=[0.1, 0.2, 0.3])
    plot = plot_a_dcf({"A": far}, actual=False, priors=[0.1, 0.2])
    # Outside of what is shown there is no mark.
    assert not {"act", "prior"} & plot.artists.keys()
    for systems, priors in (({}, None), ({"A": [1.0]}, None), ({"A": lists}, [0.0, 0.1])):
        with pytest.raises(InvalidInputError, match=r"`(systems|priors)"):
            plot_a_dcf(systems, priors=priors)
