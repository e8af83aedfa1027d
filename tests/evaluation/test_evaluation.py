"""What an evaluation shows: tables in every form, plots, comparisons."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError

POINT = bp.OperatingPoint(0.05, 2, 1)
KINDS = ["det", "bayes", "tippett", "ece", "pav", "reliability", "forest"]

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")


@pytest.fixture(scope="module")
def trials() -> tuple[dict[str, bp.Scores], bp.Key]:
    """Two systems of 40 speakers; each segment has a target trial, which tells who speaks."""
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
    options = {"conditions": bp.Conditions({"odd, any": odd, "even, any": ~odd}), "speakers": str}
    return bp.evaluate(systems, key, prior=(0.1, 0.5), **options)


def test_every_form_has_the_rows(evaluation: bp.Evaluation, tmp_path: Path) -> None:
    """JSON and frames digit by digit, text, Markdown and LaTeX as printed."""
    rows = evaluation.to_dict()
    content = json.loads(evaluation.to_json(tmp_path / "table.json"))
    assert content["table"] == rows
    assert content["eer_definition"] == "rocch"
    pandas = pytest.importorskip("pandas")
    pandas.testing.assert_frame_equal(evaluation.to_frame(), pandas.DataFrame(rows))
    ends = (100 * rows[0][name] for name in ("eer", "eer_low", "eer_high"))
    cell = "{:.2f} [{:.2f}, {:.2f}]".format(*ends)
    for text in (str(evaluation), evaluation.to_markdown(), evaluation.to_latex()):
        assert cell in text
        assert "jackknife over speakers" in text


def test_the_best_system_of_each_figure(trials: Any) -> None:
    """A has the lower error-rates; of the costs of one system nothing is best."""
    systems, key = trials
    found = bp.evaluate(systems, key, prior=0.5)
    row = next(line for line in found.to_latex("C").splitlines() if line.startswith("A &"))
    assert row.count(r"\textbf{") == 5
    assert r"\caption{C}" in found.to_latex("C")
    assert r"\textbf" not in bp.evaluate(systems["A"], key).to_latex()


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_drawn(kind: Any, evaluation: bp.Evaluation) -> None:
    plot = evaluation.plot(kind, title="T")
    assert plot.ax.get_title() == "T"
    plot.figure.draw_without_rendering()


def test_plots_of_one_system(evaluation: bp.Evaluation, trials: Any) -> None:
    assert len(evaluation.plot("tippett", system="A").artists["tar"]) == 1
    evaluation.plot("histogram", system="B")
    labels = evaluation.plot("forest", system="A", figure="cllr").ax.get_yticklabels()
    shown = [label.get_text() for label in labels]
    assert shown == ["odd, any", "even, any", "pooled", "equalised"]
    assert len(evaluation.det(system="A").artists["steppy_det"]) == 4
    for arguments, message in (
        ({"kind": "histogram"}, "`system` must name one, for a"),
        ({"kind": "det", "system": "C"}, "`system` must be one of"),
        ({"kind": "forest", "figure": "x"}, "`figure` must be one of"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            evaluation.plot(**arguments)
    alone = bp.evaluate(*trials)
    with pytest.raises(InvalidInputError, match="left out where evaluate"):
        alone.det(system="A")
    with pytest.raises(InvalidInputError, match="be of figures with intervals"):
        alone.plot("forest")


def test_comparison(trials: Any) -> None:
    """The difference is that of two cells, by `compare_systems`, with speakers or without."""
    systems, key = trials
    speakers = {"speakers": str}
    for given in ({}, speakers):
        found = bp.evaluate(systems, key, prior=POINT, **given)
        a, b = found.to_dict()
        for name, metric in (("eer", None), ("act_dcf(0.05, 2, 1)", unc.ActDCF(POINT))):
            (row,) = found.compare(metric).rows
            assert row.difference.value == pytest.approx(a[name] - b[name], rel=1e-9)
            expected = unc.compare_systems(systems, key, metric or unc.EER(), **speakers).rows[0]
            assert row.p_holm == pytest.approx(expected.p_holm, rel=1e-12)
    with pytest.raises(InvalidInputError, match="at least two in memory"):
        bp.evaluate(systems["A"], key).compare()
