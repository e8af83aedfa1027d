"""The plans of evaluations against the documents, and what plans refuse."""

import pickle

import attrs
import pytest

from bosaris_py import OperatingPoint
from bosaris_py.errors import InvalidInputError, UnknownPlanError
from bosaris_py.evaluation import PLANS, EvaluationPlan, PartitionFactor

CMN2 = {
    "num_enroll_segs": ("1", "3"),
    "phone_num_match": ("Y", "N"),
    "gender": ("male", "female"),
    "source_type": ("pstn", "voip"),
}
MATCHES = {
    "gender": ("male", "female"),
    "source_type_match": ("Y", "N"),
    "language_match": ("Y", "N"),
}
SRE16 = {
    "language": None,
    "gender": None,
    "num_enroll_segs": ("1", "3"),
    "phone_num_match": ("Y", "N"),
}

COSTS = PLANS["ASVspoof5-2"].spoof_costs

# Name, beta of each operating point, factors. Read in the plans of SRE08 and SRE10, the scorer 4.3
# of SRE18, the kit of VoxSRC 2023 and the evaluation package of ASVspoof 5; others as their sources
# say.
TABLE = [
    ("SRE08", [9.9], {}),
    ("SRE10", [999], {}),
    ("SRE12", [99, 999], {"nontarget_speaker": ("known", "unknown")}),
    ("IVECTOR14", [100], {}),
    ("SRE16", [99, 199], SRE16),
    ("SRE18-CMN2", [99, 199], CMN2),
    ("SRE18-VAST", [19], {}),
    ("SRE19-CTS", [99, 199], CMN2),
    ("SRE19-AV", [19], {}),
    ("SRE20-CTS", [19], {}),
    ("SRE21", [99, 19], MATCHES),
    ("SRE24", [99, 19], MATCHES),
    ("VoxSRC", [19], {}),
    ("SdSV", [9.9], {}),
    ("ASVspoof2019-LA", [], {}),
    ("ASVspoof2021-LA", [], {}),
    ("ASVspoof5-1", [10 * 0.05 / 0.95], {}),
    # Figures of three classes, without operating points of two.
    ("ASVspoof5-2", [], {}),
    ("SASV2022", [], {}),
    ("WildSpoof", [], {}),
    ("ESDD", [], {}),
    ("CNSRC", [99], {}),
]


class TestPresets:
    @pytest.mark.parametrize(("name", "betas", "factors"), TABLE)
    def test_agree_with_the_documents(self, name, betas, factors):
        plan = PLANS[name]
        assert plan.betas == pytest.approx(betas, rel=1e-13)
        assert {factor.name: factor.levels for factor in plan.factors} == factors
        assert plan.source
        assert plan.normalize

    def test_table_is_complete(self):
        assert {row[0] for row in TABLE} | {"SRE18"} == set(PLANS)

    def test_sre18_is_the_mean_of_two_data_sets(self):
        parts = PLANS["SRE18"].parts
        assert parts == (PLANS["SRE18-CMN2"], PLANS["SRE18-VAST"])
        assert [part.select for part in parts] == [
            (("data_source", "cmn2"),),
            (("data_source", "vast"),),
        ]

    @pytest.mark.parametrize("name", ["SRE16", "SRE18-CMN2", "SRE19-CTS"])
    def test_same_telephone_counts_targets_only(self, name):
        assert PLANS[name].target_only == {"phone_num_match": ("Y",)}

    def test_sre12_averages_known_and_unknown_nontargets(self):
        (factor,) = PLANS["SRE12"].factors
        assert factor.weights == (0.5, 0.5)
        assert factor.divides("non")
        assert not factor.divides("tar")

    def test_ranking(self):
        by_minimum = {name for name, plan in PLANS.items() if plan.ranked_by == "minimum"}
        assert by_minimum == {"IVECTOR14", "VoxSRC", "SdSV", "CNSRC"} | {
            "ASVspoof2019-LA",
            "ASVspoof2021-LA",
            "ASVspoof5-1",
            "ASVspoof5-2",
            "SASV2022",
            "WildSpoof",
            "ESDD",
        }

    def test_unsure_partitions_say_so(self):
        for name in ("SRE12", "SRE16", "SRE21"):
            assert "Compare the partitions with the source" in str(PLANS[name])
        assert not [plan for plan in PLANS.values() if "memory" in str(plan)]
        assert all(plan.source and plan.date for plan in PLANS.values())
        assert "never published" in str(PLANS["SRE20-CTS"])

    def test_description(self):
        text = str(PLANS["SRE18-CMN2"])
        for part in (
            "SRE18-CMN2",
            "P_target 0.005, C_miss 1, C_fa 1, beta 199",
            "data_source = cmn2",
            "phone_num_match (Y, N); only targets where Y",
            "version 4.3 of SRE18",
        ):
            assert part in text
        assert repr(PLANS["SRE18-CMN2"]) == "EvaluationPlan: SRE18-CMN2"


class TestLookup:
    @pytest.mark.parametrize("name", ["SRE18-CMN2", "sre18-cmn2", "SRE18_CMN2", "Sre18 CMN2"])
    def test_case_and_punctuation_do_not_matter(self, name):
        assert PLANS[name] is PLANS["SRE18-CMN2"]
        assert name in PLANS

    @pytest.mark.parametrize("name", ["SRE99", "", 18])
    def test_unknown_name_lists_the_known(self, name):
        with pytest.raises(UnknownPlanError, match=r"known are SRE08, SRE10, .*, CNSRC\.$"):
            _ = PLANS[name]
        assert name not in PLANS

    def test_error_is_that_of_a_mapping_and_of_a_bad_value(self):
        assert issubclass(UnknownPlanError, KeyError)
        assert issubclass(UnknownPlanError, InvalidInputError)
        assert PLANS.get("SRE99") is None

    def test_is_a_mapping(self):
        assert len(PLANS) == len(list(PLANS)) == 23
        assert repr(PLANS).startswith("PlanCollection: SRE08, SRE10")


class TestPlan:
    plan = EvaluationPlan(name="own", operating_points=[0.1], factors=["gender"])

    def test_numbers_and_names_are_taken_for_points_and_factors(self):
        assert self.plan.operating_points == (OperatingPoint(0.1),)
        assert self.plan.factors == (PartitionFactor("gender"),)

    def test_frozen_hashable_and_pickled(self):
        plan = PLANS["SRE18"]
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            plan.name = "other"  # type: ignore[misc]
        assert hash(pickle.loads(pickle.dumps(plan))) == hash(plan)
        assert pickle.loads(pickle.dumps(plan)) == plan

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({}, "operating_points or parts.*exactly one.*neither"),
            ({"operating_points": [0.1], "parts": [PLANS["SRE08"]]}, "exactly one.*both"),
            ({"parts": [PLANS["SRE08"]], "factors": ["a"]}, "beside `parts`"),
            ({"parts": [PLANS["SRE08"]], "select": {"a": "x"}}, "beside `parts`"),
            ({"operating_points": [0.1], "spoof_costs": COSTS}, "`spoof_costs` must be left out"),
            ({"operating_points": [0.1], "sets": "a"}, "`sets` must be left out without"),
            ({"figures": ["a_dcf"]}, "`spoof_costs` must be given, for a_dcf"),
            ({"figures": ["sv_eer"], "operating_points": [0.1]}, "stand without points"),
            ({"figures": ["sv_eer"], "parts": [PLANS["SRE08"]]}, "stand without points"),
            ({"figures": ["sv_eer"], "factors": ["a"]}, "stand without points"),
            ({"figures": ["sv_eer"], "select": {"a": "x"}}, "stand without points"),
            ({"figures": ["t_eer", "sv_eer"]}, "left out beside figures of two .*got sv_eer"),
            ({"figures": ["t_eer"], "sets": "set"}, "left out beside figures of two .*got set"),
            ({"figures": ["cm_eer", "sv_eer"]}, "have cm_eer alone"),
            ({"operating_points": [0.1], "notes": 3}, "must be several texts; got 3"),
            ({"parts": ["SRE08"]}, "must be evaluation plans"),
            ({"operating_points": [1.5]}, "strictly between 0 and 1"),
            ({"operating_points": "0.1"}, "operating points or target probabilities"),
            ({"operating_points": [0.1], "factors": "gender"}, "list of PartitionFactor"),
            ({"operating_points": [0.1], "factors": ["a", "a"]}, "name each column once"),
            ({"operating_points": [0.1], "select": {"a": 1}}, "mapping from a column"),
            ({"operating_points": [0.1], "ranked_by": "best"}, '"actual", "minimum"'),
            ({"operating_points": [0.1], "notes": [1]}, "must hold texts"),
            ({"operating_points": [0.1], "name": ""}, "`name`.*be a text"),
        ],
    )
    def test_bad_plans(self, arguments, message):
        with pytest.raises(InvalidInputError, match=message):
            EvaluationPlan(**{"name": "own", **arguments})

    def test_a_tandem_may_have_the_eer_of_its_countermeasure(self):
        plan = EvaluationPlan(name="own", figures=["t_eer", "cm_eer"])
        assert (plan.detectors, plan.figures) == (2, ("t_eer", "cm_eer"))


class TestFactor:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"name": 3}, "`name` must be a text"),
            ({"levels": "YN"}, "several texts.*'YN'"),
            ({"levels": [1, 3]}, "'1', not 1"),
            ({"levels": []}, "each level once"),
            ({"levels": ["Y", "Y"]}, "each level once"),
            ({"levels": ["Y", "N"], "target_only": ["y"]}, "among the levels"),
            ({"target_only": ["Y"], "classes": "non"}, "'both'"),
            ({"classes": "all"}, '"both", "tar", "non"'),
            ({"weights": [0.5, 0.5]}, "each of the 0 conditions"),
            ({"levels": ["a", "b"], "weights": [0.5]}, "each of the 2 conditions"),
            ({"levels": ["a", "b"], "weights": [0.5, 0.6]}, "sum to one"),
            ({"levels": ["a", "b"], "weights": [-0.5, 1.5]}, "not negative"),
            ({"levels": ["a", "b"], "weights": ["x", 1]}, "be numbers"),
        ],
    )
    def test_bad_factors(self, arguments, message):
        with pytest.raises(InvalidInputError, match=message):
            PartitionFactor(**{"name": "phone", **arguments})


def test_a_factor_names_its_options() -> None:
    with pytest.raises(TypeError, match="positional"):
        PartitionFactor("gender", ["m", "f"], ["m"])  # type: ignore[misc]


def test_one_operating_point_needs_no_list() -> None:
    point = OperatingPoint(0.05, 10, 1)
    for given, expected in ((0.05, OperatingPoint(0.05)), (point, point)):
        plan = EvaluationPlan(name="own", operating_points=given)
        assert plan.operating_points == (expected,)


def test_a_plan_in_words() -> None:
    factors = [PartitionFactor("a", ["x", "y"], weights=[0.25, 0.75]), PartitionFactor("b")]
    plan = EvaluationPlan(name="own", operating_points=[0.01], factors=factors)
    lines = str(plan).splitlines()
    assert lines[0] == "own"
    # (1 - 0.01) / 0.01 = 99.
    assert "  operating point    P_target 0.01, C_miss 1, C_fa 1, beta 99" in lines
    assert "  partitions by      a (x, y); weights 0.25, 0.75" in lines
    assert "  partitions by      b (all values found)" in lines
    assert not any("trials are pooled" in line for line in lines)
    pooled = str(plan.evolve(factors=(), title="Mine")).splitlines()
    assert pooled[0] == "own: Mine"
    assert "  partitions         none: trials are pooled" in pooled
    # The partitions of a mean are those of its parts.
    assert "mean over          SRE18-CMN2, SRE18-VAST" in str(PLANS["SRE18"])
    assert "trials are pooled" not in str(PLANS["SRE18"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eer": "best"}, "`eer` must be one of"),
        ({"tandem_form": "new"}, "`tandem_form` must be one of"),
        ({"figures": ["min_a_dcf"]}, "`figures` must be one of"),
    ],
)
def test_a_definition_that_is_not_known(change: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        PLANS["ASVspoof5-2"].evolve(**change)


def test_figures_may_be_a_list_and_costs_may_be_absent() -> None:
    plan = PLANS["ASVspoof5-2"]
    assert plan.evolve(figures=list(plan.figures)) == plan
    assert PLANS["SASV2022"].spoof_costs is None


def test_words_name_the_definition_of_equal_error_rates() -> None:
    plan = PLANS["ASVspoof5-2"]
    assert "  equal error-rates  step" in str(plan).splitlines()
    assert "equal error-rates" not in str(plan.evolve(eer=None))


def test_a_factor_shows_what_is_not_at_its_default() -> None:
    assert repr(PartitionFactor("a")) == "PartitionFactor(name='a')"
    assert repr(PartitionFactor("a", ["x"])) == "PartitionFactor(name='a', levels=('x',))"
