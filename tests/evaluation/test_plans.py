"""The plans of evaluations against the documents, and what plans refuse."""

import pickle
from pathlib import Path
from typing import Any

import pytest

from bosaris_py import OperatingPoint
from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.evaluation import PLANS, EvaluationPlan, PartitionFactor

GENDER = ("male", "female")
ENROLLED = {"num_enroll_segs": ("1", "3"), "phone_num_match": ("Y", "N")}
CMN2 = {**ENROLLED, "gender": GENDER, "source_type": ("pstn", "voip")}
MATCHES = {"gender": GENDER, "source_type_match": ("Y", "N"), "language_match": ("Y", "N")}
SRE16 = {"language": None, "gender": None, **ENROLLED}
COSTS = PLANS["ASVspoof5-2"].spoof_costs
FIRST = PLANS["SRE08"]

# Betas of the operating points, read in the plans of SRE08 and SRE10, the scorer 4.3 of SRE18, the
# kit of VoxSRC 2023 and the evaluation package of ASVspoof 5; others as their sources say.
BETAS = """
SRE08 9.9; SRE10 999; SRE12 99 999; IVECTOR14 100; SRE16 99 199; SRE18-CMN2 99 199; SRE18-VAST 19;
SRE19-CTS 99 199; SRE19-AV 19; SRE20-CTS 19; SRE21 99 19; SRE24 99 19; VoxSRC 19; SdSV 9.9;
ASVspoof2019-LA; ASVspoof2021-LA; ASVspoof5-1 0.5263157894736842; ASVspoof5-2; SASV2022; WildSpoof;
ESDD; CNSRC 99
"""
TABLE = [row.split() for row in BETAS.split(";")]
FACTORS: dict[str, dict[str, Any]] = {
    "SRE12": {"nontarget_speaker": ("known", "unknown")},
    **{"SRE16": SRE16, "SRE18-CMN2": CMN2, "SRE19-CTS": CMN2, "SRE21": MATCHES, "SRE24": MATCHES},
}
BY_MINIMUM = {"IVECTOR14", "VoxSRC", "SdSV", "CNSRC", "ASVspoof2019-LA", "ASVspoof2021-LA"}
BY_MINIMUM |= {"ASVspoof5-1", "ASVspoof5-2", "SASV2022", "WildSpoof", "ESDD"}


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row[0])
def test_presets_agree_with_the_documents(row: list[str]) -> None:
    plan = PLANS[row[0]]
    assert plan.betas == pytest.approx([*map(float, row[1:])], rel=1e-13)
    assert {factor.name: factor.levels for factor in plan.factors} == FACTORS.get(plan.name, {})
    assert plan.normalize
    assert plan.ranked_by == ("minimum" if plan.name in BY_MINIMUM else "actual")


def test_parts_levels_and_weights_of_presets() -> None:
    assert {row[0] for row in TABLE} | {"SRE18"} == set(PLANS)
    assert all(plan.date and f"{plan.source} ({plan.date})" in str(plan) for plan in PLANS.values())
    assert PLANS["SRE18"].parts == (PLANS["SRE18-CMN2"], PLANS["SRE18-VAST"])
    sets = [part.select for part in PLANS["SRE18"].parts]
    assert sets == [{"data_source": "cmn2"}, {"data_source": "vast"}]
    for name in ("SRE16", "SRE18-CMN2", "SRE19-CTS"):
        found = {f.name: f.target_only for f in PLANS[name].factors if f.target_only}
        assert found == {"phone_num_match": ("Y",)}
    (factor,) = PLANS["SRE12"].factors
    assert (factor.weights, factor.classes) == ((0.5, 0.5), "non")


def test_names_and_plans_are_values() -> None:
    """Case and punctuation of a name do not matter."""
    for name in ("sre18-cmn2", "SRE18_CMN2", "Sre18 CMN2"):
        assert PLANS[name] is PLANS["SRE18-CMN2"]
    for other in ("SRE99", "", 18):
        with pytest.raises(InvalidInputError, match=r"SRE08, SRE10, .*, CNSRC\.$"):
            _ = PLANS[other]
    plan = PLANS["SRE18"]
    assert hash(pickle.loads(pickle.dumps(plan))) == hash(plan)
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert repr(plan) == "EvaluationPlan: SRE18"
    tandem = EvaluationPlan(name="own", figures=["t_eer", "cm_eer"])
    assert (tandem.detectors, tandem.figures) == (2, ("t_eer", "cm_eer"))


KINDS = "points, parts, figures"


@pytest.mark.parametrize(
    ("cls", "arguments", "named"),
    [
        (EvaluationPlan, {}, KINDS),
        (EvaluationPlan, {"points": [0.1], "parts": [FIRST]}, KINDS),
        (EvaluationPlan, {"figures": ["sv_eer"], "points": [0.1]}, KINDS),
        (EvaluationPlan, {"parts": [FIRST], "factors": ["a"]}, "factors"),
        (EvaluationPlan, {"points": [0.1], "spoof_costs": COSTS}, "spoof_costs"),
        (EvaluationPlan, {"figures": ["a_dcf"]}, "spoof_costs"),
        (EvaluationPlan, {"figures": ["sv_eer"], "factors": ["a"]}, "factors"),
        *((EvaluationPlan, {"figures": x}, "figures") for x in (["eer"], ["t_eer", "sv_eer"])),
        *((EvaluationPlan, {"points": x}, at) for x, at in (([1.5], "p_target"), (3, "points"))),
        *((EvaluationPlan, {"parts": 3}, "parts"), (EvaluationPlan, {"select": "a"}, "select")),
        (EvaluationPlan, {"points": [0.1], "ranked_by": "best"}, "ranked_by"),
        (PartitionFactor, {"levels": "YN"}, "levels, figures, attacks and notes"),
        (PartitionFactor, {"levels": ["Y", "N"], "target_only": ["y"]}, "target_only"),
        (PartitionFactor, {"classes": "all"}, "classes"),
        (PartitionFactor, {"levels": ["a", "b"], "weights": [0.5, 0.6]}, "weights"),
    ],
)
def test_what_is_refused(cls: Any, arguments: Any, named: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        cls(**{"name": "own", **arguments})
    assert caught.value.argument == named


def test_a_plan_in_words() -> None:
    factors = [PartitionFactor("a", ["x", "y"], weights=[0.25, 0.75]), PartitionFactor("b")]
    lines = str(EvaluationPlan(name="own", points=[0.01], factors=factors)).splitlines()
    # (1 - 0.01) / 0.01 = 99.
    assert "  operating point    P_target 0.01, C_miss 1, C_fa 1, beta 99" in lines
    assert "  partitions by      a (x, y); weights 0.25, 0.75" in lines
    assert "data_source = cmn2" in str(PLANS["SRE18-CMN2"])


def test_a_plan_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(
        'name = "own"\npoints = [0.1, {p_target = 0.2, c_miss = 10.0}]\n'
        '[[factors]]\nname = "gender"\nlevels = ["f", "m"]\n'
    )
    points = [0.1, OperatingPoint(0.2, 10.0)]
    factors = [PartitionFactor("gender", ["f", "m"])]
    expected = EvaluationPlan(name="own", points=points, factors=factors)
    assert EvaluationPlan.read(path) == expected
    for text in ("name = ", 'name = "a"', 'name = "a"\ncost = 3'):
        path.write_text(text)
        with pytest.raises(FileFormatError):
            EvaluationPlan.read(path)
