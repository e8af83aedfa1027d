"""Plots of log-likelihood-ratios, forests, maps of conditions: what is drawn, and where."""

import math
from typing import Any

import matplotlib as mpl
import matplotlib.style
import numpy as np
import pytest
from matplotlib.figure import Figure

from bosaris_py import Conditions, Key, Scores, evaluate
from bosaris_py.errors import FewSpeakersWarning, InvalidInputError
from bosaris_py.evaluation import (
    ConditionRow,
    ECECurve,
    PAVCurve,
    ReliabilityCurve,
    Results,
    SystemTable,
    TippettCurve,
)
from bosaris_py.metrics.ranks import EER
from bosaris_py.plots import (
    plot_ece,
    plot_forest,
    plot_histogram,
    plot_pav,
    plot_reliability,
    plot_tippett,
)
from bosaris_py.plots.looks import system_look
from bosaris_py.uncertainty.bands import bootstrap_bands
from bosaris_py.uncertainty.compare import compare_systems
from bosaris_py.uncertainty.estimate import Estimate

LOG_10 = math.log(10)
FUNCTIONS = [plot_ece, plot_pav, plot_reliability, plot_tippett]


@pytest.fixture(scope="module")
def scores() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    return rng.normal(2, 2, 100), rng.normal(-2, 2, 300)


@pytest.fixture(scope="module")
def results(scores: tuple[np.ndarray, np.ndarray]) -> Results:
    return Results(*scores)


def _lines(axes: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in axes.lines}


def _texts(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


@pytest.mark.parametrize("plot", FUNCTIONS)
def test_axes_given_names_and_colours(plot: Any, results: Results) -> None:
    axes = Figure().subplots()
    # A mapping, or scores as a pair; a single result has no name.
    assert plot({"A": results, "B": results}, ax=axes, title="T").ax is axes
    assert axes.get_title() == "T"
    assert any(text.startswith("A") for text in _texts(axes))
    colours = {line.get_color() for line in axes.lines}
    assert {system_look(0, axes).colour, system_look(1, axes).colour} <= colours
    plot(results).figure.draw_without_rendering()


@pytest.mark.parametrize("plot", FUNCTIONS)
def test_what_are_not_systems(plot: Any) -> None:
    with pytest.raises(InvalidInputError, match="`systems` must be a mapping"):
        plot([1.0])


@pytest.mark.parametrize("plot", FUNCTIONS)
@pytest.mark.parametrize(
    ("tar", "non"),
    [([1.0, 2.0], [-1.0, 0.0]), ([0.0], [0.0]), ([np.inf, 1.0], [-np.inf, 2.0]), ([3.0], [4.0])],
    ids=["separable", "equal", "infinite", "inverted"],
)
def test_extreme_scores_can_be_drawn(plot: Any, tar: list[float], non: list[float]) -> None:
    plot({"A": (tar, non)}).figure.draw_without_rendering()
    plot_histogram((tar, non)).figure.draw_without_rendering()


@pytest.mark.parametrize("plot", FUNCTIONS)
def test_nothing_is_black_on_black(plot: Any, results: Results) -> None:
    with mpl.rc_context(matplotlib.style.library["dark_background"]):
        axes = plot({"A": results})
    black = [line for line in axes.lines if mpl.colors.to_hex(line.get_color()) == "#000000"]
    assert black == []


def test_tippett_lines_are_the_numbers(results: Results) -> None:
    curve = TippettCurve.from_results(results)
    for convention, field in (("above", "non_above"), ("crossing", "non_below")):
        lines = _lines(plot_tippett({"A": results}, convention=convention))  # type: ignore[arg-type]
        tar, non = lines["A H1: targets"], lines["A H2: non-targets"]
        np.testing.assert_allclose(tar.get_xdata(), curve.llr / LOG_10)
        np.testing.assert_allclose(tar.get_ydata(), 100 * curve.tar_above)
        np.testing.assert_allclose(non.get_ydata(), 100 * getattr(curve, field))
        # A share of values from x on changes just above a score, one of values up to x at it.
        assert tar.get_drawstyle() == "steps-pre"
        assert non.get_drawstyle() == ("steps-pre" if convention == "above" else "steps-post")


def test_tippett_marks_misleading_evidence() -> None:
    axes = plot_tippett({"A": ([-1.0, 1.0, 2.0, 3.0], [-2.0, 0.5])})
    dots = [line.get_xydata().tolist() for line in axes.lines if line.get_marker() == "o"]
    assert dots == [[[0.0, 75.0]], [[0.0, 50.0]]]


def test_ece_lines_are_the_numbers(results: Results) -> None:
    curve = ECECurve.from_results(results)
    lines = _lines(plot_ece({"A": results, "B": results}))
    for label, field in (("A actual", "ece"), ("A after PAV", "min_ece"), ("no LLRs", "neutral")):
        np.testing.assert_allclose(lines[label].get_xdata(), curve.plo / LOG_10)
        np.testing.assert_allclose(lines[label].get_ydata(), getattr(curve, field))


def test_pav_line_joins_the_finite_pools_and_marks_the_others(results: Results) -> None:
    curve = PAVCurve.from_results(results)
    axes = plot_pav({"A": results})
    line = _lines(axes)[f"A (devPAV {curve.dev_pav:.2f})"]
    finite = np.isfinite(curve.llr)
    expected = np.stack((curve.lowest[finite], curve.highest[finite]), axis=1).ravel() / LOG_10
    np.testing.assert_allclose(line.get_xdata(), expected)
    np.testing.assert_allclose(line.get_ydata(), np.repeat(curve.llr[finite], 2) / LOG_10)
    limit = axes.get_xlim()[1]
    marks = {line.get_marker(): line.get_ydata()[0] for line in axes.lines}
    assert (marks["^"], marks["v"]) == (limit, -limit)


def test_pools_of_a_reliability_diagram_are_those_of_pav(results: Results) -> None:
    curve = PAVCurve.from_results(results)
    plot = plot_reliability({"A": results}, 0.2)
    (line,) = plot.artists["pools"]
    # Posterior odds are prior odds, here 1/4, times the likelihood-ratio.
    for values, llrs in (
        (line.get_xdata()[::2], curve.lowest),
        (line.get_xdata()[1::2], curve.highest),
        (line.get_ydata()[::2], curve.llr),
    ):
        with np.errstate(over="ignore"):
            odds = np.exp(llrs) / 4.0
        expected = np.where(np.isinf(odds), 1.0, odds / (1.0 + np.where(np.isinf(odds), 0, odds)))
        np.testing.assert_allclose(values, expected, rtol=1e-12)
    # The numbers of trials are those of all trials, on a logarithmic scale.
    sample = results.sample
    llrs = np.concatenate([sample.tar.scores, sample.non.scores])
    numbers, _ = np.histogram(1.0 / (1.0 + 4.0 * np.exp(-llrs)), np.linspace(0, 1, 41))
    heights = plot.artists["counts"][0].get_data().values
    assert heights == pytest.approx(0.14 * np.log1p(numbers) / np.log1p(numbers.max()))


def test_counts_of_many_systems_would_hide_each_other(results: Results) -> None:
    many = dict.fromkeys("ABCD", results)
    assert "counts" not in plot_reliability(many).artists
    assert len(plot_reliability(many, highlight=["A", "B"]).artists["counts"]) == 2


def test_reliability_bars_are_about_the_diagonal(results: Results) -> None:
    curve = ReliabilityCurve.from_results(results, 0.2)
    axes = plot_reliability({"A": results}, 0.2, bins=10)
    (container,) = axes.containers
    bars = [np.asarray(segment) for segment in container[2][0].get_segments()]
    for bar, x, low, high in zip(bars, curve.predicted, curve.low, curve.high, strict=True):
        np.testing.assert_allclose(bar, [[x, low], [x, high]])


def test_bands_have_the_units_of_their_plot(scores: Any, results: Results) -> None:
    options = {"x": [-2.0, 0.0, 2.0], "replications": 50, "rng": 1}
    first = bootstrap_bands(scores, kind="tippett", **options)
    second = bootstrap_bands(scores, kind="ece", **options)
    axes = plot_tippett({"A": results}, bands={"A": first})
    shaded, other = (area.get_paths()[0].vertices for area in axes.collections)
    assert shaded[:, 0].max() == pytest.approx(2 / LOG_10)
    assert shaded[:, 1].max() == pytest.approx(100 * first.high[0].max())
    assert other[:, 1].min() == pytest.approx(100 * first.low[1].min())
    crossing = plot_tippett({"A": results}, convention="crossing", bands={"A": first})
    assert crossing.collections[1].get_paths()[0].vertices[:, 1].max() == pytest.approx(
        100 * (1 - first.low[1].min())
    )
    (area,) = plot_ece({"A": results}, bands={"A": second}).collections
    assert area.get_paths()[0].vertices[:, 1].max() == pytest.approx(second.high.max())


def test_histogram_has_thresholds_and_strokes(results: Results) -> None:
    axes = plot_histogram(results, prior=[0.5, 0.01])
    assert _texts(axes)[:2] == ["100 targets", "300 non-targets"]
    assert [line.get_xdata()[0] for line in axes.lines] == pytest.approx([0.0, math.log(99)])
    # Strokes for the targets only: there are more than 200 non-targets.
    (rug,) = axes.collections
    assert len(rug.get_segments()) == 100


def interval(value: float, low: float, high: float) -> Estimate:
    return Estimate(value=value, standard_error=0.01, ends=lambda _: (low, high))


# ---- Forest and map

ROWS = {"A": interval(0.10, 0.08, 0.13), "B": interval(0.30, 0.31, 0.35)}


def _table(*names: str, interval: bool = False) -> SystemTable:
    rows = []
    for i, name in enumerate([*names, "pooled", "equalised"]):
        kind: Any = name if name in ("pooled", "equalised") else "condition"
        figures = {"eer": None if name == "none" else 0.1 * (i + 1), "cllr": 0.5}
        intervals = {"eer": (0.05, 0.95)} if interval else {}
        rows.append(
            ConditionRow(
                name=name,
                kind=kind,
                weight=None,
                n_tar=10 * (i + 1),
                n_non=9,
                figures=figures,
                intervals=intervals,
            )
        )
    return SystemTable([("", row) for row in rows])


def test_forest_of_intervals() -> None:
    axes = plot_forest(ROWS, xlabel="cost", reference=0.2)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["A", "B"]
    assert [text.get_text() for text in axes.texts] == [
        # Three digits of the lengths of the intervals, 0.0500 and 0.0400; 0.045 is their median.
        "0.1000 [0.0800, 0.1300]",
        "0.3000 [0.3100, 0.3500]",
    ]
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), [0.10, 0.30])
    bars = [segment[:, 0].tolist() for segment in axes.collections[0].get_segments()]
    assert bars == [[0.08, 0.13], [0.31, 0.35]]
    # The first row is on top.
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert axes.lines[-1].get_xdata() == [0.2, 0.2]


def test_forest_of_conditions() -> None:
    axes = plot_forest(_table("x", "none", interval=True))
    assert [text.get_text() for text in axes.texts] == [
        "10.0 [5.0, 95.0]  (10 targets)",
        "30.0 [5.0, 95.0]  (30 targets)",
        "40.0 [5.0, 95.0]  (40 targets)",
    ]
    # The line is at the pooled trials.
    assert axes.lines[-1].get_xdata() == pytest.approx([30.0, 30.0])
    assert axes.get_xlabel() == "EER (%)"
    assert plot_forest(_table("x"), "cllr").texts[0].get_text() == "0.5  (10 targets)"


def test_forest_of_an_evaluation() -> None:
    rng = np.random.default_rng(5)
    tar = np.arange(40) % 10 == np.arange(10)[:, None]
    names = [f"m{i}" for i in range(10)], [f"s{j}" for j in range(40)]
    key = Key(*names, tar, ~tar)
    systems = {name: Scores(rng.normal(2 * tar, 1), *names) for name in ("A", "B")}
    late = np.tile(np.arange(40) >= 20, (10, 1))
    parts = Conditions({"x": ~late, "y": late})
    one, several = evaluate(systems, key), evaluate(systems, key, conditions=parts)
    axes = plot_forest(one.table)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["A", "B"]
    expected = [100 * one.results[name].eer for name in "AB"]
    np.testing.assert_allclose(axes.lines[0].get_xdata(), expected)
    labels = [label.get_text() for label in plot_forest(several.table).get_yticklabels()]
    assert labels[:2] == ["A, x", "A, y"]
    with pytest.warns(FewSpeakersWarning):
        compared = compare_systems(
            systems, key, EER(), speakers=lambda name: str(int(name[1:]) % 10)
        )
    axes = plot_forest(compared)
    (row,) = compared.rows
    (note,) = (text.get_text() for text in axes.texts)
    assert f"[{row.difference.low:.3f}, {row.difference.high:.3f}]" in note
    assert f"p = {row.p_holm:.2g}" in note
    assert [label.get_text() for label in axes.get_yticklabels()] == ["A - B"]
    assert axes.lines[-1].get_xdata() == [0.0, 0.0]
