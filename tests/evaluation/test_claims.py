"""Claims about figures: their grammar, and the table of what was shown."""

import csv
import io
import json

import attrs
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import Claim, claims
from tests.crossed_trials import CrossedExperiment

pytestmark = [
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning"),
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning"),
]
COLUMNS = ["eer", "min_dcf(0.01)", "min_dcf(0.05)", "act_dcf(0.05)", "min_cllr", "cllr"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("eer<=2%", Claim("eer", "<=", 0.02)),
        (" eer <= 0.02 ", Claim("eer", "<=", 0.02)),
        ("cllr<=0.3", Claim("cllr", "<=", 0.3)),
        ("min_dcf(0.05)<=1e-1", Claim("min_dcf(0.05)", "<=", 0.1)),
        ("act_dcf>=0.5", Claim("act_dcf", ">=", 0.5)),
    ],
)
def test_claims_are_read_and_written(text: str, expected: Claim) -> None:
    assert Claim.from_text(text) == expected
    assert Claim.from_text(repr(expected)) == expected


@pytest.mark.parametrize(
    "text", ["", "eer", "eer<=", "eer=2%", "eer<=2%%", "eer<=nan", "eer<=-1%", "eer<=x", "2%>=eer"]
)
def test_what_is_no_claim_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="`claim` must"):
        Claim.from_text(text)


def test_a_rate_is_a_fraction_or_in_per_cent() -> None:
    with pytest.raises(InvalidInputError, match=r"at most 1; got 'eer<=2'. 2 % is eer<=2%"):
        Claim.from_text("eer<=2")
    # A cost may exceed that of deciding without a detector.
    assert Claim.from_text("act_dcf<=2").value == 2.0


def test_a_claim_finds_its_column() -> None:
    assert Claim.from_text("eer<=2%").column(COLUMNS) == "eer"
    assert Claim.from_text("act_dcf<=1").column(COLUMNS) == "act_dcf(0.05)"
    assert Claim.from_text("min_dcf(0.01)<=1").column(COLUMNS) == "min_dcf(0.01)"
    with pytest.raises(InvalidInputError, match="Name the operating point"):
        Claim.from_text("min_dcf<=1").column(COLUMNS)
    with pytest.raises(InvalidInputError, match="Did you mean 'cllr'"):
        Claim.from_text("clllr<=1").column(COLUMNS)


def evaluation(*names: str, replications: int = 200) -> bp.Evaluation:
    data = CrossedExperiment(n_speakers=24, tar_mean=2.5).draw(np.random.default_rng(1))
    shifted = bp.Scores(
        data.scores.scoremat - 0.5 * data.key.tar, data.key.modelset, data.key.segset
    )
    systems = dict(zip(names, (data.scores, shifted), strict=False))
    who = data.model_speakers, data.segment_speakers
    return bp.evaluate(
        systems, data.key, priors=[0.1, 0.5], speakers=who, replications=replications, rng=2
    )


def test_claims_agree_with_the_intervals_of_the_table() -> None:
    found = evaluation("a")
    (record,) = found.records()
    low, high, estimate = (record[name] for name in ("eer_low", "eer_high", "eer"))
    tight, loose = 0.5 * (estimate + high), 1.01 * high
    table = found.claims(f"eer<={tight!r}", f"eer<={loose!r}", f"eer<={0.9 * low!r}", "eer>=0")
    rows = table.rows
    assert [row.estimate for row in rows] == [estimate] * 4
    # What the two-sided interval excludes, a one-sided test of the same level shows.
    assert [row.verdict for row in rows[1:]] == ["shown", "refuted", "shown"]
    # The ends are those of a two-sided interval of 90 %.
    assert estimate < rows[0].end < high
    assert low < rows[3].end < estimate
    for row in rows[:2]:
        assert row.shown == (row.end < row.claim.value)
    assert not table.shown
    assert found.claims(f"eer<={loose!r}").shown


def test_several_systems_take_holms_correction() -> None:
    found = evaluation("a", "b")
    highest = max(record["cllr_high"] for record in found.records())
    table = found.claims(f"cllr<={highest!r}")
    p_values = [row.p_value for row in table.rows]
    expected = [min(2 * min(p_values), 1.0), max(p_values)][
        :: 1 if p_values[0] <= p_values[1] else -1
    ]
    assert [row.p_holm for row in table.rows] == expected
    assert [row.system for row in table.rows] == ["a", "b"]
    assert "Holm's correction" in repr(table)
    assert "Holm's correction" not in repr(evaluation("a").claims("eer<=50%"))


def test_the_table_has_all_forms() -> None:
    table = evaluation("a").claims("eer<=50%", "min_dcf(0.5)<=1")
    records = table.records()
    rows = list(csv.DictReader(io.StringIO(table.to_csv())))
    assert [row["claim"] for row in rows] == ["eer<=0.5", "min_dcf(0.5)<=1"]
    assert float(rows[0]["end"]) == records[0]["end"]
    assert json.loads(table.to_json()) == records
    for text in (repr(table), table.to_markdown(), table.to_latex(), table._repr_html_()):
        assert "one-sided 95" in text
        assert "200 replicates" in text


def test_without_replicates_nothing_is_tested() -> None:
    with pytest.raises(InvalidInputError, match="replications=1000"):
        evaluation("a", replications=0).claims("eer<=2%")


def test_a_claim_of_a_least_value_is_refuted_from_below() -> None:
    least, most = Claim("auc", ">=", 0.9), Claim("eer", "<=", 0.1)
    row = claims.ClaimRow("a", least, 0.5, 0.6, 0.99, 0.99, shown=False, lies="below")
    assert row.verdict == "refuted"
    assert attrs.evolve(row, lies="above").verdict == "open"
    assert attrs.evolve(row, claim=most, lies="above").verdict == "refuted"
    assert attrs.evolve(row, claim=most, lies="below").verdict == "open"


def test_text_is_left_and_numbers_are_right_in_the_table() -> None:
    claim = Claim("eer", "<=", 0.1)
    row = claims.ClaimRow("a system", claim, 0.05, 0.06, 0.01, 0.01, shown=True, lies="below")
    other = claims.ClaimRow("b", claim, 0.5, 0.6, 1.0, 1.0, shown=False, lies="above")
    head, first, second, *_ = repr(claims.ClaimTable((row, other), 0.95, "")).splitlines()
    assert second.startswith("b         eer<=")
    assert head.index("verdict") == first.index("shown") == second.index("refuted")
    assert first.rindex("0.0500") + len("0.0500") == head.index("estimate") + len("estimate")


def test_criteria_are_judged_by_the_estimate_or_by_the_end() -> None:
    """A limit between both passes by the estimate and fails by the one-sided end of the claim."""
    found = evaluation("a", "b")
    (row, other) = found.claims("cllr<=1").rows
    middle = 0.5 * (row.estimate + row.end)
    text = f"cllr<={middle!r}"
    by_estimate = found.criteria(text, judged_by="estimate").rows
    by_end = found.criteria(text).rows
    assert [one.system for one in by_estimate] == [one.system for one in by_end] == ["a", "b"]
    assert [one.estimate for one in by_end] == [row.estimate, other.estimate]
    assert [one.end for one in by_end] == [row.end, other.end]
    assert by_estimate[0].passed
    assert not by_end[0].passed
    assert [one["end"] for one in found.criteria(text).records()] == [row.end, other.end]
    without = found.criteria(text, judged_by="estimate").records()
    assert [one["end"] for one in without] == [None, None]
    lower = found.claims("cllr>=0.1").rows[0].end
    assert found.criteria(f"cllr>={0.999 * lower!r}").rows[0].passed
    assert not found.criteria(f"cllr>={1.001 * lower!r}").rows[0].passed


def test_the_matrix_says_what_decides_and_what_a_metric_characterises() -> None:
    found = evaluation("a")
    (figures,) = [row.figures for _, row in found.table.rows]
    table = found.criteria("eer<=2.5%", "min_dcf(0.1)>=0", "act_dcf(0.5)<=99", judged_by="estimate")
    head, *lines = table._texts()
    assert head == ["system", "characteristic", "criterion", "estimate", "result"]
    eer = figures["eer"]
    power, accuracy = "discriminating power", "accuracy"
    assert lines == [
        ["a", power, "eer <= 2.5 %", f"{100 * eer:.2f} %", "pass" if eer <= 0.025 else "fail"],
        ["a", power, "min_dcf(0.1) >= 0", f"{figures['min_dcf(0.1)']:.4f}", "pass"],
        ["a", accuracy, "act_dcf(0.5) <= 99", f"{figures['act_dcf(0.5)']:.4f}", "pass"],
    ]
    assert table.passed == (eer <= 0.025)
    said = "judged by the estimate, whatever its interval; costs are normalized"
    assert repr(table).endswith(f"({said}; EER of the ROC's convex hull)")
    assert "judged by the one-sided 95 % end" in repr(found.criteria("cllr<=1"))
    assert table.records()[0]["criterion"] == "eer<=0.025"


def test_notes_have_the_confidence_in_per_cent_and_text_is_left() -> None:
    found = evaluation("a system", "b")
    said = repr(found.claims("cllr<=1")).replace("\n", " ")
    assert "the one-sided 95 % end is within the claim" in said
    assert "Holm's correction for the systems, level 0.05" in said
    for how in ("end", "estimate"):
        head, first, second, *_ = repr(found.criteria("cllr<=1", judged_by=how)).splitlines()
        for name, text in (("characteristic", "accuracy"), ("criterion", "cllr <= 1")):
            assert head.index(name) == first.index(text) == second.index(text), (how, name)
        assert head.index("result") == first.index("pass") == second.index("pass"), how


def test_what_has_no_value_meets_no_criterion() -> None:
    for text in ("eer<=1", "eer>=0"):
        assert not claims.CriterionRow("a", Claim.from_text(text), float("nan")).passed


def test_criteria_that_cannot_be_judged() -> None:
    found = evaluation("a", replications=0)
    assert found.criteria("cllr<=99").judged_by == "estimate"
    with pytest.raises(InvalidInputError, match="`judged_by` must be"):
        found.criteria("cllr<=99", judged_by="end")
    with pytest.raises(InvalidInputError, match="at least one criterion"):
        found.criteria()
    with pytest.raises(InvalidInputError, match="Did you mean 'cllr'"):
        found.criteria("clllr<=1")
