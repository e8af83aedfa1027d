"""Plots of an evaluation by their kinds."""

from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError

KINDS = ["det", "bayes", "tippett", "ece", "pav", "reliability", "forest"]


@pytest.fixture(scope="module")
def trials() -> Any:
    ids, same = [f"speaker{i:02d}" for i in range(40)], np.eye(40, dtype=bool)
    noise = np.random.default_rng(4).normal(size=(2, 40, 40))
    systems = {
        name: bp.Scores(4.0 * same - 2.0 + strength * part, ids, ids)
        for name, part, strength in zip("AB", noise, (1.0, 2.0), strict=True)
    }
    return systems, bp.Key(ids, ids, same, ~same)


@pytest.fixture(scope="module")
def evaluation(trials: Any) -> bp.Evaluation:
    systems, key = trials
    odd = np.tile(np.arange(40) % 2 == 1, (40, 1))
    by_side = {"odd, any": odd, "even, any": ~odd}
    return bp.evaluate(systems, key, prior=(0.1, 0.5), conditions=bp.Conditions(by_side))


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_drawn(kind: str, evaluation: bp.Evaluation) -> None:
    plot = evaluation.plot(kind, title="T")
    assert plot.ax.get_title() == "T"
    plot.figure.draw_without_rendering()


def test_operating_points_are_those_of_the_evaluation(evaluation: bp.Evaluation) -> None:
    det = evaluation.plot("det")
    threshold = evaluation.results["B"].min_dcf_threshold(0.1)
    # The last one has no point; it stands in the legend.
    *_, spot, _ = det.artists["mindcf_point"]
    assert spot.get_xydata().tolist() == [[threshold.pfa, threshold.pmiss]]
    places = [line.get_xdata()[0] for line in evaluation.plot("bayes").artists["operating_point"]]
    np.testing.assert_allclose(places, [np.log(1 / 9), 0.0], atol=1e-15)
    assert "mindcf_point" not in evaluation.plot("det", prior=None).artists


def test_plots_of_one_system(evaluation: bp.Evaluation) -> None:
    assert len(evaluation.plot("tippett", system="A").artists["tar"]) == 1
    texts = [t.get_text() for t in evaluation.plot("histogram", system="B").ax.texts]
    assert isinstance(texts, list)
    names = [t.get_text() for t in evaluation.plot("forest", system="A").ax.get_yticklabels()]
    assert not any("B" in name for name in names)
    curves = evaluation.plot("det", system="A").artists["steppy_det"]
    assert len(curves) == 4
    with pytest.raises(InvalidInputError, match="`system` must name one, for a"):
        evaluation.plot("histogram")
