"""The published costs, against sums written out here."""

import itertools
import json
import math
import pickle

import attrs
import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import Conditions, Key, OperatingPoint, Scores, act_dcf, min_dcf
from bosaris_py.errors import (
    ConditionWarning,
    InvalidInputError,
    MissingTrialsWarning,
    UncertainPlanWarning,
)
from bosaris_py.evaluation import PLANS, EvaluationPlan, PartitionFactor, primary_cost
from bosaris_py.trials.conditions import as_conditions
from tests.forms import as_list, described, labelled

FACTORS = {
    "num_enroll_segs": ["1", "3"],
    "phone_num_match": ["Y", "N"],
    "gender": ["male", "female"],
    "source_type": ["pstn", "voip"],
}


class Evaluation:
    """A list of trials in plain Python: label, score and the values of all columns."""

    def __init__(self, seed, *, n_models=8, n_segments=60, same_phone_nontargets=False):
        rng = np.random.default_rng(seed)
        self.models = [f"m{i}" for i in range(n_models)]
        self.segments = [f"s{j}" for j in range(n_segments)]
        self.model_columns = {
            "num_enroll_segs": [FACTORS["num_enroll_segs"][i % 2] for i in range(n_models)],
            "gender": [FACTORS["gender"][i // 2 % 2] for i in range(n_models)],
        }
        kinds = [("cmn2", "pstn"), ("cmn2", "voip"), ("cmn2", "voip"), ("vast", "afv")]
        chosen = [kinds[j % 4] for j in range(n_segments)]
        self.segment_columns = {
            "data_source": [source for source, _ in chosen],
            "source_type": [kind for _, kind in chosen],
        }
        shape = (n_models, n_segments)
        self.is_trial = rng.random(shape) < 0.9
        self.is_tar = self.is_trial & (rng.random(shape) < 0.4)
        self.is_non = self.is_trial & ~self.is_tar
        same_phone = rng.random(shape) < 0.5
        if not same_phone_nontargets:
            same_phone &= self.is_tar
        self.same_phone = np.where(same_phone, "Y", "N")
        # Scores about the thresholds log 99 and log 199, worse for some cells; some of them tied.
        loc = np.where(self.is_tar, 6.0, 1.0) + np.where(same_phone, 1.0, 0.0)
        loc -= np.arange(n_models)[:, None] / 2
        self.scoremat = np.round(rng.normal(loc, 2.5), 1)

    @property
    def key(self):
        in_order = self.is_trial.T.nonzero()
        return described(
            Key(self.models, self.segments, self.is_tar, self.is_non),
            trial_columns={"phone_num_match": self.same_phone.T[in_order]},
            model_columns=self.model_columns,
            segment_columns=self.segment_columns,
        )

    @property
    def scores(self):
        return Scores(self.scoremat, self.models, self.segments)

    def rows(self, data_source):
        """List the trials of a data set as (is target, score, values of the factors)."""
        rows = []
        for i, j in itertools.product(range(len(self.models)), range(len(self.segments))):
            if self.is_trial[i, j] and self.segment_columns["data_source"][j] == data_source:
                values = (
                    self.model_columns["num_enroll_segs"][i],
                    str(self.same_phone[i, j]),
                    self.model_columns["gender"][i],
                    self.segment_columns["source_type"][j],
                )
                rows.append((bool(self.is_tar[i, j]), float(self.scoremat[i, j]), values))
        return rows

    def arguments(self):
        return self.scores, self.key


def cmn2_cells(rows):
    """Cut the trials into the 16 cells; non-targets from the same telephone do not count."""
    cells = {values: ([], []) for values in itertools.product(*FACTORS.values())}
    for is_tar, score, values in rows:
        if is_tar:
            cells[values][0].append(score)
        elif values[1] == "N":
            cells[values][1].append(score)
    return cells


def mean_rates(cells, threshold):
    """Average the error-rates over the cells that have the class, each class by itself."""
    pmiss = [sum(s < threshold for s in tar) / len(tar) for tar, _ in cells if tar]
    pfa = [sum(s >= threshold for s in non) / len(non) for _, non in cells if non]
    return sum(pmiss) / len(pmiss), sum(pfa) / len(pfa)


def naive_cost(cells, priors):
    """Return actual and minimum primary cost from the definition."""
    actual = minimum = 0.0
    thresholds = {s for tar, non in cells for s in (*tar, *non)} | {math.inf}
    for prior in priors:
        beta = (1 - prior) / prior
        pmiss, pfa = mean_rates(cells, math.log(beta))
        actual += pmiss + beta * pfa
        rates = [mean_rates(cells, threshold) for threshold in thresholds]
        minimum += min(pmiss + beta * pfa for pmiss, pfa in rates)
    return actual / len(priors), minimum / len(priors)


class TestSRE18:
    """The acceptance test of the equalised cost, by an independent computation."""

    @pytest.mark.parametrize("same_phone_nontargets", [False, True])
    @pytest.mark.parametrize("seed", [1, 2])
    def test_cmn2_is_the_formula(self, seed, same_phone_nontargets):
        data = Evaluation(seed, same_phone_nontargets=same_phone_nontargets)
        cells = cmn2_cells(data.rows("cmn2"))
        assert all(tar for tar, _ in cells.values())
        assert sum(bool(non) for _, non in cells.values()) == 8
        actual, minimum = naive_cost(list(cells.values()), [0.01, 0.005])

        cost = primary_cost(*data.arguments(), "SRE18-CMN2")
        assert cost.actual == pytest.approx(actual, rel=1e-12)
        assert cost.minimum == pytest.approx(minimum, rel=1e-12)
        assert len(cost.partitions) == 16
        assert cost.n_tar == sum(len(tar) for tar, _ in cells.values())
        assert cost.n_non == sum(len(non) for _, non in cells.values())

    def test_partitions(self):
        data = Evaluation(3)
        cells = cmn2_cells(data.rows("cmn2"))
        cost = primary_cost(*data.arguments(), "SRE18-CMN2")
        assert [tuple(level for _, level in p.levels) for p in cost.partitions] == list(cells)
        for partition, (tar, non) in zip(cost.partitions, cells.values(), strict=True):
            same_phone = dict(partition.levels)["phone_num_match"] == "Y"
            assert (partition.n_tar, partition.n_non) == (len(tar), len(non))
            assert partition.tar_weight == pytest.approx(1 / 16, rel=1e-15)
            assert partition.non_weight == pytest.approx(0 if same_phone else 1 / 8, rel=1e-15)
            # Judged alone, a same-phone cell takes the non-targets of its different-phone twin.
            levels = tuple("N" if level == "Y" else level for _, level in partition.levels)
            others = cells[levels][1]
            assert partition.n_stand_ins == (len(others) if same_phone else 0)
            actual, minimum = naive_cost([(tar, others)], [0.01, 0.005])
            assert partition.actual == pytest.approx(actual, rel=1e-12)
            assert partition.minimum == pytest.approx(minimum, rel=1e-12)

    def test_vast_is_pooled(self):
        data = Evaluation(4)
        rows = data.rows("vast")
        tar = [score for is_tar, score, _ in rows if is_tar]
        non = [score for is_tar, score, _ in rows if not is_tar]
        cost = primary_cost(*data.arguments(), "SRE18-VAST")
        assert cost.actual == pytest.approx(act_dcf(tar, non, 0.05, normalize=True), rel=1e-13)
        assert cost.minimum == pytest.approx(min_dcf(tar, non, 0.05, normalize=True), rel=1e-13)

    def test_overall_is_the_mean_of_both(self):
        data = Evaluation(5)
        cost = primary_cost(*data.arguments(), "SRE18")
        cmn2 = primary_cost(*data.arguments(), "SRE18-CMN2")
        vast = primary_cost(*data.arguments(), "SRE18-VAST")
        assert cost.actual == (cmn2.actual + vast.actual) / 2
        assert cost.minimum == (cmn2.minimum + vast.minimum) / 2
        assert cost.parts == (cmn2, vast)
        assert math.isnan(cost.eer)
        assert cost.value == cost.actual

    @pytest.mark.parametrize(
        ("factor", "level"),
        [("gender", "female"), ("phone_num_match", "N"), ("source_type", "pstn")],
    )
    def test_one_value_only(self, factor, level):
        data = Evaluation(6)
        place = list(FACTORS).index(factor)
        cells = cmn2_cells(data.rows("cmn2"))
        kept = [cell for values, cell in cells.items() if values[place] == level]
        cost = primary_cost(*data.arguments(), "SRE18-CMN2", only={factor: level})
        assert cost.actual == pytest.approx(naive_cost(kept, [0.01, 0.005])[0], rel=1e-12)
        assert cost.minimum == pytest.approx(naive_cost(kept, [0.01, 0.005])[1], rel=1e-12)
        assert any(f"only trials with {factor} {level}" in note for note in cost.notes)

    def test_same_telephone_only_takes_the_other_nontargets(self):
        data = Evaluation(7, same_phone_nontargets=True)
        cells = cmn2_cells(data.rows("cmn2"))
        kept = [
            (tar, cells[(values[0], "N", *values[2:])][1])
            for values, (tar, _) in cells.items()
            if values[1] == "Y"
        ]
        cost = primary_cost(*data.arguments(), "SRE18-CMN2", only={"phone_num_match": "Y"})
        assert len(cost.partitions) == 8
        assert cost.actual == pytest.approx(naive_cost(kept, [0.01, 0.005])[0], rel=1e-12)
        assert cost.minimum == pytest.approx(naive_cost(kept, [0.01, 0.005])[1], rel=1e-12)

    def test_trials_without_score_do_not_count(self):
        data = Evaluation(8)
        mask = np.random.default_rng(0).random(data.is_trial.shape) < 0.8
        scores = Scores(data.scoremat, data.models, data.segments, mask)
        with pytest.warns(MissingTrialsWarning):
            cost = primary_cost(scores, data.key, "SRE18-CMN2")
        data.is_trial &= mask
        cells = cmn2_cells(data.rows("cmn2"))
        actual, minimum = naive_cost(list(cells.values()), [0.01, 0.005])
        assert cost.actual == pytest.approx(actual, rel=1e-12)
        assert cost.minimum == pytest.approx(minimum, rel=1e-12)

    def test_order_of_ids_does_not_matter(self):
        data = Evaluation(9)
        order, places = np.random.default_rng(1).permutation(8), np.arange(60)[::-1]
        shuffled = Scores(
            data.scoremat[order][:, places],
            np.array(data.models)[order],
            np.array(data.segments)[places],
        )
        expected = primary_cost(*data.arguments(), "SRE18")
        assert primary_cost(shuffled, data.key, "SRE18") == expected

    def test_flat_forms_give_the_same(self):
        data = Evaluation(18)
        expected = primary_cost(*data.arguments(), "SRE18")
        key, scores = as_list(data.key), as_list(data.scores)
        key = key.with_columns_of(data.key)
        assert primary_cost(scores, key, "SRE18") == expected
        assert primary_cost(data.scores, key, "SRE18") == expected


def lists(tar, non):
    """Return scores and key of one model that is in all trials."""
    segments = [f"s{i}" for i in range(len(tar) + len(non))]
    is_tar = np.arange(len(segments)) < len(tar)
    return (Scores([[*tar, *non]], ["m"], segments), Key(["m"], segments, [is_tar], [~is_tar]))


class TestPooledPlans:
    """Plans without partitions are the plain normalized cost."""

    tar, non = [-1.0, 2.5, 5.0, 7.0, 8.0], [-6.0, -3.0, 0.0, 2.5, 6.0, 4.0]

    @pytest.mark.parametrize(
        ("name", "points"),
        [
            ("SRE08", [OperatingPoint(0.01, 10, 1)]),
            ("SRE10", [0.001]),
            ("IVECTOR14", [1 / 101]),
            ("VoxSRC", [0.05]),
            ("SdSV", [OperatingPoint(0.01, 10, 1)]),
            ("CNSRC", [0.01]),
            ("SRE20-CTS", [0.05]),
        ],
    )
    def test_cost_is_the_normalized_dcf(self, name, points):
        cost = primary_cost(*lists(self.tar, self.non), name)
        actual = np.mean(act_dcf(self.tar, self.non, points, normalize=True))
        minimum = np.mean(min_dcf(self.tar, self.non, points, normalize=True))
        assert cost.actual == pytest.approx(actual, rel=1e-13)
        assert cost.minimum == pytest.approx(minimum, rel=1e-13)
        assert cost.value == (cost.minimum if PLANS[name].ranked_by == "minimum" else cost.actual)

    def test_asvspoof5_by_hand(self):
        """C_miss 1, C_fa 10, prior of spoofs 0.05; accepting everything costs 0.5, the divisor."""
        tar, non = np.array(self.tar), np.array(self.non)
        costs = [
            (0.95 * np.mean(tar < at) + 10 * 0.05 * np.mean(non >= at)) / min(0.95, 0.5)
            for at in [*tar, *non, np.inf]
        ]
        cost = primary_cost(*lists(self.tar, self.non), "ASVspoof5-1")
        assert cost.value == pytest.approx(min(costs), rel=1e-13)

    def test_not_normalized(self):
        plan = PLANS["SRE08"].evolve(normalize=False)
        cost = primary_cost(*lists(self.tar, self.non), plan)
        point = OperatingPoint(0.01, 10, 1)
        assert cost.actual == act_dcf(self.tar, self.non, point, normalize=False)
        assert any("differs from the preset SRE08" in note for note in cost.notes)

    def test_costs_at_the_operating_points(self):
        """Tar 1, 3 against non 0, 2, at prior 0.5: threshold 0, Pmiss 0, Pfa 1."""
        plan = EvaluationPlan(name="own", operating_points=[0.5])
        (point,) = primary_cost(*lists([1.0, 3.0], [0.0, 2.0]), plan).points
        assert (point.threshold, point.pmiss, point.pfa, point.actual) == (0.0, 0.0, 1.0, 1.0)
        assert (point.min_threshold, point.min_pmiss, point.min_pfa) == (1.0, 0.0, 0.5)
        assert (point.minimum, point.beta) == (0.5, 1.0)

    def test_equalisation_left_out_is_told(self):
        data = Evaluation(1)
        with pytest.warns(UncertainPlanWarning, match="SRE18-CMN2: NOT the published"):
            cost = primary_cost(
                data.scores, Key(*data.key.ids, data.is_tar, data.is_non), "SRE18-CMN2"
            )
        tar, non = data.scores.get_tar_non(data.key)
        expected = np.mean(act_dcf(tar, non, [0.01, 0.005], normalize=True))
        assert cost.actual == pytest.approx(expected, rel=1e-13)
        assert not cost.equalised
        assert any("NOT the published cost" in note for note in cost.notes)
        assert "trials pooled" in str(cost)
        assert "NOT the primary cost" in str(cost)
        assert "trials pooled, actual" in repr(cost)
        assert (cost.pooled, attrs.evolve(cost, notes=()).pooled) == (True, True)
        assert not attrs.evolve(cost, pooled=False, notes=("NOT the published cost",)).pooled


class TestOtherPartitions:
    def test_sre12_weighs_known_and_unknown_nontargets(self):
        scores, key = lists([1.0, 6.0, 9.0], [8.0, 0.0, -1.0, 5.0, 7.0])
        known = ["known", "unknown", "unknown", "known", "known"]
        key = described(key, {"nontarget_speaker": ["-", "-", "-", *known]})
        cost = primary_cost(scores, key, "SRE12")
        # Thresholds log 99 = 4.6 and log 999 = 6.9. Of the known non-targets 8, 5, 7 are accepted
        # 3 of 3 and 2 of 3, of the unknown none; of the targets 1 and 2 of 3 are missed.
        expected = (1 / 3 + 99 * 0.5 * 1 + 2 / 3 + 999 * 0.5 * 2 / 3) / 2
        assert cost.actual == pytest.approx(expected, rel=1e-13)
        assert [p.name for p in cost.partitions] == [
            "all trials",
            "nontarget_speaker known",
            "nontarget_speaker unknown",
        ]

    def test_conditions_take_the_place_of_the_partitions(self):
        scores, key = lists([1.0, 6.0, 9.0], [8.0, 0.0, -1.0, 5.0])
        labels = ["a", "b", "b", "a", "a", "b", "b"]
        conditions = labelled(key, labels, [0.25, 0.75])
        cost = primary_cost(scores, key, "CNSRC", conditions)
        # Threshold log 99 = 4.6: a misses its only target, accepts 1 of 2; b 0 of 2, 1 of 2.
        assert cost.actual == pytest.approx(0.25 + 99 * 0.5, rel=1e-13)
        assert [(p.name, p.tar_weight) for p in cost.partitions] == [("a", 0.25), ("b", 0.75)]

    def test_conditions_of_one_class(self):
        scores, key = lists([1.0, 6.0, 9.0], [8.0, 0.0])
        conditions = labelled(key, ["a", "b", "b", "b", "b"])
        with pytest.warns(ConditionWarning):
            cost = primary_cost(scores, key, "SRE18-CMN2", conditions)
        assert any("are the conditions given, not those of the plan" in n for n in cost.notes)
        assert any(
            "1 of 2 partitions have no non-targets that count and take part in the mean of Pmiss"
            in note
            for note in cost.notes
        )
        assert math.isnan(cost.partitions[0].actual)
        assert cost.partitions[0].pmiss == (1.0, 1.0)
        assert math.isnan(cost.partitions[0].pfa[0])
        assert cost.to_dict()["partitions"][0]["actual"] is None

    def test_equal_conditions_are_the_plans_partitions(self):
        """What the plan cuts by metadata is what conditions of the same columns cut."""
        data = Evaluation(10)
        plan = EvaluationPlan(name="own", operating_points=[0.1], factors=["gender", "source_type"])
        by_plan = primary_cost(*data.arguments(), plan)
        conditions = as_conditions(["gender", "source_type"], data.key)
        by_conditions = primary_cost(*data.arguments(), plan, conditions)
        assert by_plan.actual == pytest.approx(by_conditions.actual, rel=1e-14)
        assert by_plan.minimum == pytest.approx(by_conditions.minimum, rel=1e-14)
        assert by_plan.eer == pytest.approx(by_conditions.eer, rel=1e-14)

    def test_uncertain_partitions_are_told(self):
        data = Evaluation(11)
        key = data.key.with_columns(language=("segment", ["ceb", "cmn"] * 30))
        cost = primary_cost(data.scores, key, "SRE16")
        assert any("Compare the partitions with the source" in note for note in cost.notes)
        assert len(cost.partitions) == 16

    @given(st.integers(0, 2**32 - 1))
    def test_minimum_is_not_above_actual(self, seed):
        data = Evaluation(seed, n_segments=12)
        plan = PLANS["SRE18-CMN2"].evolve(factors=["gender", PLANS["SRE18-CMN2"].factors[1]])
        cost = primary_cost(*data.arguments(), plan)
        assert cost.minimum <= cost.actual * (1 + 1e-12)
        assert cost.minimum <= 1 + 1e-12
        for point in cost.points:
            assert point.minimum == pytest.approx(
                point.min_pmiss + point.beta * point.min_pfa, rel=1e-12
            )


class TestReport:
    data = Evaluation(15)

    @pytest.fixture
    def cost(self):
        return primary_cost(*self.data.arguments(), "SRE18")

    def test_text(self, cost):
        text = str(cost)
        for part in (
            "SRE18: NIST SRE 2018, mean over both data sets",
            "mean of 2 data sets",
            "equalised over 16 partitions",
            "P_target 0.005, beta 199",
            f"primary cost{cost.actual:>38.4f}{cost.minimum:>10.4f}",
            "num_enroll_segs  phone_num_match  gender  source_type  targets  non-targets",
            "1                Y                male    pstn",
            "* non-targets of other partitions stand in",
        ):
            assert part in text
        assert repr(cost) == (
            f"PrimaryCost: SRE18, actual {cost.actual:.4f}, minimum {cost.minimum:.4f}"
        )

    def test_what_ranks_comes_first(self):
        """Tar 1, 3 against non 0, 2, at prior 0.5: threshold 0 costs 1, and the best 0.5."""
        trials = lists([1.0, 3.0], [0.0, 2.0])
        for first, numbers in (("actual", (1.0, 0.5)), ("minimum", (0.5, 1.0))):
            plan = EvaluationPlan(name="own", operating_points=[0.5], ranked_by=first)
            text = str(primary_cost(*trials, plan))
            second = "minimum" if first == "actual" else "actual"
            assert f"\n{first:>50}{second:>10}\n" in text
            assert f"\nprimary cost{numbers[0]:>38.4f}{numbers[1]:>10.4f}\n" in text
            # A plan of one's own is as sure as its owner.
            assert "How sure the plan is" not in text

    def test_the_eer_is_in_per_cent_below_the_last_column(self):
        """Tar 1, 3 against non 0, 2: the hull's corners (1/2, 0), (0, 1/2) meet at 1/4."""
        plan = EvaluationPlan(name="own", operating_points=[0.5])
        text = str(primary_cost(*lists([1.0, 3.0], [0.0, 2.0]), plan))
        name = "EER of the ROC's convex hull, per cent"
        assert f"\n{name:<50}{25:>10.2f}" in text

    def test_costs_without_an_eer_are_equal(self):
        cost = primary_cost(
            *lists([1.0], [0.0]), EvaluationPlan(name="own", operating_points=[0.5])
        )
        without = attrs.evolve(cost, eer=math.nan)
        assert without == attrs.evolve(cost, eer=float("nan"))
        assert without != cost
        assert cost != without

    @pytest.mark.filterwarnings("ignore::bosaris_py.errors.ConditionWarning")
    def test_own_non_targets_have_no_star_and_three_lacking_classes_are_cut(self):
        scores, key = lists([1.0, 3.0, 2.0], [0.0])
        plan = EvaluationPlan(name="own", operating_points=[0.5])
        conditions = labelled(key, [*"abca"])
        found = primary_cost(scores, key, plan, conditions)
        assert "*" not in str(found)
        (note,) = [text for text in found.notes if "have no non-targets" in text]
        assert note == (
            "2 of 3 partitions have no non-targets that count and take part in the mean of Pmiss "
            "only: b; c."
        )
        scores, key = lists([1.0, 3.0, 2.0, 4.0], [0.0])
        conditions = labelled(key, [*"abcda"])
        (note,) = [
            text
            for text in primary_cost(scores, key, plan, conditions).notes
            if "have no non-targets" in text
        ]
        assert note.endswith("only: b; c; ....")

    def test_one_partition_has_no_table(self):
        scores, key = lists([1.0, 3.0], [0.0, 2.0])
        plan = EvaluationPlan(name="own", operating_points=[0.5])
        for labels, counts in (["aaaa", 0], ["abab", 2]):
            conditions = labelled(key, [*labels])
            text = str(primary_cost(scores, key, plan, conditions))
            assert text.count(" targets  non-targets ") == (counts > 0)
            assert (f"equalised over {counts} partitions" in text) == (counts > 0)

    def test_json(self, cost):
        text = json.dumps(cost.to_dict(), allow_nan=False)
        record = json.loads(text)
        assert record["parts"][0]["operating_points"][1]["p_target"] == 0.005
        assert len(record["parts"][0]["partitions"]) == 16

    def test_json_of_a_threshold_that_rejects_all(self):
        """The target has the lowest score, so that nothing is better than to reject."""
        scores = Scores([[0.0, 1.0, 2.0]], ["m"], ["s1", "s2", "s3"])
        key = Key(["m"], scores.segset, [[True, False, False]], [[False, True, True]])
        record = primary_cost(scores, key, "VoxSRC").to_dict()
        json.dumps(record, allow_nan=False)
        point = record["operating_points"][0]
        assert (point["min_threshold"], point["min_pmiss"], point["min_pfa"]) == (None, 1.0, 0.0)

    def test_pickle(self, cost):
        assert pickle.loads(pickle.dumps(cost)).parts == cost.parts


class TestBadInput:
    data = Evaluation(16)

    def test_unknown_plan(self):
        with pytest.raises(KeyError, match="known are SRE08"):
            primary_cost(*self.data.arguments(), "SRE99")

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"plan": 3}, "name of a plan or an EvaluationPlan"),
            ({"scores": [[1.0]]}, "`scores`"),
            ({"key": [[True]]}, "`key`"),
            ({"conditions": ["a", "b"]}, r"Conditions or None.*with_columns"),
            ({"only": {"gender": "both"}}, "a value of gender that exists .male, female."),
            ({"only": {"sex": "male"}}, "factors of SRE18-CMN2 .num_enroll_segs, phone_num_match"),
        ],
    )
    def test_arguments(self, changes, message):
        arguments = {
            "scores": self.data.scores,
            "key": self.data.key,
            "plan": "SRE18-CMN2",
            **changes,
        }
        with pytest.raises(InvalidInputError, match=message):
            primary_cost(**arguments)

    def test_lacking_columns_name_those_found(self):
        with pytest.raises(InvalidInputError, match="got phone_num_match, num_enroll_segs") as info:
            primary_cost(*self.data.arguments(), "SRE24")
        assert "It lacks source_type_match, language_match" in str(info.value)

    def test_no_trials_of_the_data_set(self):
        plan = PLANS["SRE18-VAST"].evolve(select={"data_source": "mls14"})
        with pytest.raises(InvalidInputError, match=r"data_source is 'mls14'; got 'cmn2', 'vast'"):
            primary_cost(*self.data.arguments(), plan)

    def test_partitions_without_trials_are_told(self):
        plan = EvaluationPlan(
            name="own",
            operating_points=[0.5],
            factors=[PartitionFactor("a", ["x", "y", "z"]), PartitionFactor("b", ["1", "2"])],
        )
        key = Key(["m"], ["s1", "s2", "s3"], [[True, False, False]], [[False, True, True]])
        scores = Scores([[2.0, 1.0, 0.0]], ["m"], key.segset)
        known = described(key, {"a": ["x", "x", "z"], "b": ["1", "1", "2"]})
        notes = "\n".join(primary_cost(scores, known, plan).notes)
        assert "4 of 6 partitions of the plan have no trial" in notes
        assert "in the means: a x, b 2; a y, b 1; ..." in notes
        notes = "\n".join(primary_cost(scores, known, plan, only={"a": "x"}).notes)
        assert "1 of 2 partitions of the plan have no trial" in notes
        own = Conditions({"all": np.ones((1, 3), bool)})
        assert not any("no trial" in n for n in primary_cost(scores, key, plan, own).notes)
        with pytest.warns(UncertainPlanWarning, match="not equalised over a, b. Give the key"):
            notes = primary_cost(scores, key, plan).notes
        assert not any("no trial" in note for note in notes)

    @pytest.mark.parametrize(
        "factors",
        [
            [PartitionFactor("a", ["x", "y"]), PartitionFactor("b")],
            [PartitionFactor("a", ["x", "y"], classes="non")],
        ],
        ids=["values that the plan does not name", "a factor of one class"],
    )
    def test_what_a_plan_leaves_open_is_not_missing(self, factors):
        plan = EvaluationPlan(name="own", operating_points=[0.5], factors=factors)
        scores, key = lists([2.0], [1.0, 0.0])
        key = described(key, {"a": ["x", "x", "x"], "b": ["1", "1", "1"]})
        assert not any("no trial" in n for n in primary_cost(scores, key, plan).notes)

    def test_missing_data_source_is_told(self):
        key = Key(*self.data.key.ids, self.data.key.tar, self.data.key.non)
        key = described(key, {"a": ["x"] * key.n_trials})
        cost = primary_cost(self.data.scores, key, PLANS["SRE18-VAST"])
        assert (
            "No column data_source: all trials are taken to be of data_source vast." in cost.notes
        )

    def test_a_column_of_ids_is_no_factor(self):
        key = self.data.key
        ids = [f"t{i}" for i in range(key.n_trials)]
        key = described(key, {"a": ids, "b": ids, "c": ids})
        plan = EvaluationPlan(name="own", operating_points=[0.5], factors=["a", "b", "c"])
        with pytest.raises(InvalidInputError, match="is it a factor"):
            primary_cost(self.data.scores, key, plan)

    def test_nan(self):
        scores, key = lists([1.0, np.nan], [0.0])
        with pytest.raises(InvalidInputError, match="NaN"):
            primary_cost(scores, key, "VoxSRC")
