"""Plots of conditions, and of their weighted curves."""

import numpy as np
import pytest

from bosaris_py import BayesPlot, Conditions, DETPlot, Key, Results, Scores
from bosaris_py.errors import ConditionWarning, InvalidInputError, MissingTrialsWarning

MODELS = [f"m{i}" for i in range(20)]
SEGMENTS = [f"s{j}" for j in range(100)]


@pytest.fixture
def key() -> Key:
    tar = np.zeros((20, 100), dtype=bool)
    tar[np.arange(100) % 20, np.arange(100)] = True
    return Key(MODELS, SEGMENTS, tar, ~tar)


@pytest.fixture
def scores(key: Key) -> Scores:
    return Scores(np.random.default_rng(1).normal(2.0 * key.tar, 1.0), MODELS, SEGMENTS)


@pytest.fixture
def conditions() -> Conditions:
    rare = np.zeros((20, 100), dtype=bool)
    rare[:, 80:] = True
    return Conditions({"common": ~rare, "rare": rare}, {"common": 0.25, "rare": 0.75})


def test_det_shows_each_condition_pooled_and_weighted(scores, key, conditions) -> None:
    plot = DETPlot("big")
    ax = plot.plot_conditions(scores, key, conditions, "system")
    plot.display_legend()
    lines = plot.artists["steppy_det"]
    labels = [line.get_label() for line in lines]
    assert labels == ["common", "rare", "system pooled", "system equalised"]
    expected = [
        Results.from_scores(scores, conditions.select(key, "common")),
        Results.from_scores(scores, conditions.select(key, "rare")),
        Results.from_scores(scores, key),
        Results.from_scores(scores, key, conditions),
    ]
    for line, results in zip(lines, expected, strict=True):
        # Curves this small are drawn with all their corners.
        corners = results.roc.corners()
        assert np.isin(corners.pfa, line.get_xdata()).all()
        assert np.isin(corners.pmiss, line.get_ydata()).all()
    assert ax is plot.ax


def test_bayes_shows_each_condition_pooled_and_weighted(scores, key, conditions) -> None:
    plot = BayesPlot((-4.0, 4.0, 0.0, 1.5))
    plot.plot_conditions(scores, key, conditions)
    lines = plot.artists["dcf_curve_act"]
    common, rare, pooled, weighted = (np.asarray(line.get_ydata()) for line in lines)
    # The error-rates of conditions are averaged with their weights, and costs are linear
    # in them; 1e-12 is room for rounding.
    assert weighted == pytest.approx(0.25 * common + 0.75 * rare, abs=1e-12)
    # 80 of the 100 segments are of the common condition, with as many trials each.
    assert pooled == pytest.approx(0.8 * common + 0.2 * rare, abs=1e-12)
    assert np.array_equal(plot.curves.act_dcf, weighted)


def test_set_system_from_scores_with_conditions(scores, key, conditions) -> None:
    plot = BayesPlot((-4.0, 4.0, 0.0, 1.5))
    plot.set_system_from_scores(scores, key, "system", conditions=conditions)
    expected = Results.from_scores(scores, key, conditions)
    prior = 1.0 / (1.0 + np.exp(-plot.curves.plo[200]))
    assert plot.curves.min_dcf[200] == pytest.approx(expected.min_dcf(prior, normalize=True))


def test_condition_without_targets_has_no_curve_but_takes_part(scores, key) -> None:
    parts = {"both": np.zeros((20, 100), dtype=bool), "others": key.non.copy()}
    parts["both"][:, :50] = True
    parts["others"][:, :50] = False
    conditions = Conditions(parts, uncovered="ignore")
    plot = DETPlot("big")
    with pytest.warns(ConditionWarning):
        plot.plot_conditions(scores, key, conditions)
    labels = [line.get_label() for line in plot.artists["steppy_det"]]
    assert labels == ["both", "pooled", "equalised"]


def test_missing_scores_are_told_once(scores, key, conditions) -> None:
    partial = scores.filter(MODELS, SEGMENTS[:90], keep=True)
    with pytest.warns(MissingTrialsWarning) as caught:
        DETPlot("big").plot_conditions(partial, key, conditions)
    messages = [str(warning.message) for warning in caught]
    assert messages == sorted(set(messages), key=messages.index)
    assert "10 of 100 targets missing." in messages


def test_other_objects_are_refused(scores, key) -> None:
    with pytest.raises(InvalidInputError, match=r"`conditions`"):
        DETPlot().plot_conditions(scores, key, None)


def test_dropped_and_uncovered_trials_are_not_pooled(scores, key, conditions) -> None:
    plot = BayesPlot((-4.0, 4.0, 0.0, 1.5))
    only = conditions.with_weights({"common": 1.0, "rare": 0.0})
    plot.plot_conditions(scores, key, only)
    common, pooled, equalised = (line.get_ydata() for line in plot.artists["dcf_curve_act"])
    assert np.array_equal(pooled, common)
    assert equalised == pytest.approx(common, abs=1e-12)


def test_no_two_of_many_conditions_look_alike(scores, key) -> None:
    by_ten = np.tile(np.arange(100) // 4, (20, 1))
    conditions = Conditions({f"c{i:02}": by_ten == i for i in range(25)})
    plot = DETPlot("big")
    plot.plot_conditions(scores, key, conditions)
    plot.display_legend()
    lines = plot.artists["steppy_det"]
    # The public get_linestyle tells dashes from solid lines only.
    looks = {(line.get_color(), str(line._unscaled_dash_pattern)) for line in lines}
    assert len(lines) == len(looks) == 27
    legend = plot.ax.get_legend()
    assert len(legend.get_texts()) == 27
    # It lies beside the Axes, and is no higher than the figure.
    plot.figure.draw_without_rendering()
    box = legend.get_window_extent()
    assert box.x0 >= plot.ax.get_window_extent().x1
    assert box.height <= plot.figure.bbox.height


def test_line_properties_by_short_names(scores, key, conditions) -> None:
    plot = DETPlot("big")
    plot.plot_conditions(scores, key, conditions, lw=0.5, ls=":")
    for line in plot.artists["steppy_det"]:
        assert (line.get_linewidth(), line.get_linestyle()) == (0.5, ":")
