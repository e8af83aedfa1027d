"""Plots of log-likelihood-ratios: what is drawn, and where."""

import math
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex

from bosaris_py.evaluation import Results
from bosaris_py.metrics.curves import ECECurve, PAVCurve, TippettCurve
from bosaris_py.plots import plot_ece, plot_histogram, plot_pav, plot_reliability, plot_tippett
from bosaris_py.plots.looks import system_look
from tests.plots.looked_at import legend_texts

LOG_10 = math.log(10)


@pytest.fixture(scope="module")
def scores() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    return rng.normal(2, 2, 100), rng.normal(-2, 2, 300)


@pytest.fixture(scope="module")
def results(scores: tuple[np.ndarray, np.ndarray]) -> Results:
    return Results(*scores)


def _lines(plot: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in plot.ax.lines}


def test_tippett_lines_are_the_numbers(results: Results) -> None:
    curve = TippettCurve.from_sample(results.sample)
    for convention, field in (("above", "non_above"), ("crossing", "non_below")):
        lines = _lines(plot_tippett({"A": results}, convention=convention))
        tar, non = lines["A H1: targets"], lines["A H2: non-targets"]
        np.testing.assert_allclose(tar.get_xdata(), curve.llr / LOG_10)
        np.testing.assert_allclose(tar.get_ydata(), 100 * curve.tar_above)
        np.testing.assert_allclose(non.get_ydata(), 100 * getattr(curve, field))
        # A share of values from x on changes just above a score, one of values up to x at it.
        assert tar.get_drawstyle() == "steps-pre"
        assert non.get_drawstyle() == ("steps-pre" if convention == "above" else "steps-post")


def test_tippett_marks_misleading_evidence() -> None:
    plot = plot_tippett({"A": ([-1.0, 1.0, 2.0, 3.0], [-2.0, 0.5])})
    dots = [line.get_xydata().tolist() for line in plot.ax.lines if line.get_marker() == "o"]
    assert dots == [[[0.0, 75.0]], [[0.0, 50.0]]]


def test_ece_lines_are_the_numbers(results: Results) -> None:
    curve = ECECurve.from_sample(results.sample)
    lines = _lines(plot_ece({"A": results, "B": results}))
    for label, field in (("A actual", "ece"), ("A after PAV", "min_ece"), ("no LLRs", "neutral")):
        np.testing.assert_allclose(lines[label].get_xdata(), curve.plo / LOG_10)
        np.testing.assert_allclose(lines[label].get_ydata(), getattr(curve, field))


def test_pav_line_joins_the_finite_pools_and_marks_the_others(results: Results) -> None:
    curve = PAVCurve.from_sample(results.sample)
    plot = plot_pav({"A": results})
    line = _lines(plot)[f"A (devPAV {curve.dev_pav:.2f})"]
    finite = np.isfinite(curve.llr)
    expected = np.stack((curve.lowest[finite], curve.highest[finite]), axis=1).ravel() / LOG_10
    np.testing.assert_allclose(line.get_xdata(), expected)
    np.testing.assert_allclose(line.get_ydata(), np.repeat(curve.llr[finite], 2) / LOG_10)
    limit = plot.ax.get_xlim()[1]
    (high,), (low,) = plot.artists["infinite_high"], plot.artists["infinite_low"]
    assert (high.get_ydata()[0], low.get_ydata()[0]) == (limit, -limit)


def test_pools_of_a_reliability_diagram_are_those_of_pav(results: Results) -> None:
    curve = PAVCurve.from_sample(results.sample)
    (line,) = plot_reliability({"A": results}, 0.2).artists["pools"]
    # Posterior odds are prior odds, here 1/4, times the likelihood-ratio.
    ends = (line.get_xdata()[::2], curve.lowest), (line.get_xdata()[1::2], curve.highest)
    for values, llrs in (*ends, (line.get_ydata()[::2], curve.llr)):
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(values, 1.0 / (1.0 + 4.0 * np.exp(-llrs)), rtol=1e-12)


def test_histogram_has_thresholds(results: Results) -> None:
    plot = plot_histogram(results, prior=[0.5, 0.01])
    assert legend_texts(plot)[:2] == ["100 targets", "300 non-targets"]
    first, second = plot.ax.lines
    assert [first.get_xdata()[0], second.get_xdata()[0]] == pytest.approx([0.0, math.log(99)])
    (said,) = plot_histogram(([-math.inf, 1.0, 2.0, 3.0], [0.0, 1.0]))._said
    assert "25 % of 4 targets below the bins" in said


def test_classes_have_two_colours(results: Results) -> None:
    tar, non = (to_hex(system_look(i, plot_pav(results).ax)["color"]) for i in (0, 1))
    several = plot_tippett({"A": results, "B": results})
    for kind, colour in (("tar", tar), ("non", non)):
        first, second = several.artists[kind]
        assert to_hex(first.get_color()) == to_hex(second.get_color()) == colour
        assert (first.get_linestyle(), second.get_linestyle() == "-") == ("-", False)
    # Of many systems each has its colour, and non-targets are dashed.
    many = plot_tippett(dict.fromkeys("ABCDE", results))
    assert len({to_hex(line.get_color()) for line in many.artists["tar"]}) == 5
    plot = plot_pav({"A": results})
    for kind, colour in (("infinite_high", tar), ("targets", tar), ("non-targets", non)):
        assert to_hex(plot.artists[kind][0].get_color()) == colour
    assert legend_texts(plot)[1:] == ["100 targets", "300 non-targets"]
    outlines = [to_hex(one.get_edgecolor()) for one in plot_histogram(results).artists["density"]]
    assert outlines == [tar, non]
