"""Maps of scores, the scale of a case, figures of a validation: what is drawn are the numbers."""

import math
from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import Results
from bosaris_py.plots import Plot, plot_case, plot_map, plot_validation

LOG_10 = math.log(10.0)


@pytest.fixture(scope="module")
def lists() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.normal(2, 2, 200), rng.normal(-2, 2, 900)


@pytest.fixture(scope="module")
def trials() -> tuple[bp.Scores, bp.Key]:
    ids, same = [f"speaker{i:02d}" for i in range(40)], np.eye(40, dtype=bool)
    noise = np.random.default_rng(4).normal(size=(40, 40))
    return bp.Scores(2.5 * same + noise, ids, ids), bp.Key(ids, ids, same, ~same)


@pytest.fixture(scope="module")
def case(trials: Any) -> Any:
    words = "same speaker", "others"
    options: Any = {"propositions": words, "reference": "simulated", "replications": 20}
    return bp.case_llr(3.0, *trials, **options)


def _texts(plot: Plot) -> list[str]:
    return [text.get_text() for text in plot.ax.get_legend().get_texts()]


def test_lines_of_maps_are_what_they_return(lists: Any) -> None:
    maps = {
        "line": bp.LinearCalibration.fit(*lists),
        "PAV": bp.PAVCalibration.fit(*lists),
        "bounded": bp.BoundedCalibration.fit(*lists),
    }
    plot = plot_map(maps, lists, order=["bounded"])
    assert _texts(plot) == ["targets", "non-targets", "bounded", "line", "PAV"]
    for name, line in zip(("bounded", "line", "PAV"), plot.artists["map"], strict=True):
        x, y = line.get_xdata(), line.get_ydata()
        expected = maps[name].apply(x)
        finite = np.isfinite(expected)
        np.testing.assert_array_equal(y[finite], expected[finite])
        # Infinite LLRs leave the frame on their side.
        assert (y[expected == np.inf] > plot.ax.get_ylim()[1]).all()
        low, high = min(map(np.min, lists)), max(map(np.max, lists))
        assert x[0] < low < high < x[-1]
    with pytest.raises(InvalidInputError, match="`order` must be a list of names; got 'eer'"):
        plot_map(maps, lists, order="eer")


def test_each_calibration_draws_itself(lists: Any, trials: Any) -> None:
    for kind in (bp.LinearCalibration, bp.PAVCalibration, bp.GaussianCalibration):
        plot = kind.fit(*lists).plot(Results(*lists))
        assert isinstance(plot, Plot)
        assert len(plot.artists["map"]) == 1
    scores, key = trials
    calibration = bp.LinearCalibration.fit_scores(scores, key)
    assert len(calibration.plot(scores, key, title="T").artists["map"]) == 1
    with pytest.raises(InvalidInputError, match="`key` must say which trials are targets"):
        calibration.plot(scores)


def test_folds_are_lines_of_their_own(trials: Any) -> None:
    scores, key = trials
    fitted = bp.cross_fit(bp.LinearCalibration, scores, key, folds=4, rng=1)
    plot = fitted.plot(scores, key)
    assert len(plot.artists["part"]) == len(fitted.folds)
    assert _texts(plot) == ["targets", "non-targets", "without two folds", "all trials"]


@pytest.mark.parametrize("maps", [3, {}, {"A": "map"}, None])
def test_what_are_no_maps(maps: object, lists: Any) -> None:
    with pytest.raises(InvalidInputError, match="`maps` must "):
        plot_map(maps, lists)


def test_a_case_is_drawn_where_its_numbers_are(case: Any, trials: Any) -> None:
    plot = case.plot()
    (mark,) = plot.artists["case"]
    assert mark.get_xdata()[0] == pytest.approx(case.llr / LOG_10)
    assert f"case: log10 LR {case.llr / LOG_10:.2f}" in _texts(plot)
    low, high = (bound / LOG_10 for bound in case.bounds)
    places = [line.get_xdata()[0] for line in plot.ax.lines]
    assert {low, high} <= set(places)
    (area,) = (patch for patch in plot.ax.patches if "interval" in patch.get_label())
    x = area.get_extents().transformed(plot.ax.transData.inverted())
    assert (x.x0, x.x1) == pytest.approx((case.low / LOG_10, case.high / LOG_10))
    # The scale is symmetric and holds all of it.
    left, right = plot.ax.get_xlim()
    assert left == -right
    assert right > max(abs(low), abs(high))
    notes = " ".join(plot._drawn.notes)
    assert notes == "right: same speaker; left: others"
    scores, key = trials
    results = Results.from_scores(case.calibration.apply(scores), key)
    with_reference = plot_case(case, results)
    assert _texts(with_reference)[:2] == ["targets", "non-targets"]


def test_words_of_the_scale_are_those_of_the_guideline(case: Any) -> None:
    scale = case.verbal_scale
    assert [least for least, _ in scale] == [math.log10(2), 1, 2, 3, 4, 6]
    words = {text.get_text() for text in plot_case(case).ax.texts}
    assert {"weak", "moderate"} <= words
    with pytest.raises(InvalidInputError, match="`case` must be what `case_llr` returned; got 3"):
        plot_case(3)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning")
def test_figures_of_a_validation(trials: Any) -> None:
    scores, key = trials
    llrs = bp.LinearCalibration.fit_scores(scores, key).apply(scores)
    validation = bp.validate_scores(llrs, key, replications=20, rng=1)
    plot = validation.plot(title="T")
    names = [text.get_text() for text in plot.ax.get_yticklabels()]
    (points,) = plot.artists["estimate"]
    found = dict(zip(names, points.get_xdata(), strict=True))
    assert found["Cllr"] == validation.cllr
    assert found["minimum Brier score"] == validation.min_brier
    assert plot.ax.get_xlim()[0] <= 0.0
    low, high = validation.intervals["cllr"]
    texts = [text.get_text() for text in plot.ax.texts]
    assert texts[0] == f"{validation.cllr:.3g} [{low:.3g}, {high:.3g}]"
    with pytest.raises(InvalidInputError, match="`validation` must be what `validate` returned"):
        plot_validation("validation")  # type: ignore[arg-type]
