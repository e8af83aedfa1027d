"""The published costs, against sums written out here."""

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest

from bosaris_py import Key, OperatingPoint, Scores, act_dcf, min_dcf
from bosaris_py.errors import BosarisWarning, InvalidInputError, MissingTrialsWarning
from bosaris_py.evaluation import PLANS, EvaluationPlan, PartitionFactor, primary_cost
from tests.forms import as_list, described, labelled

FACTORS = {
    **{"num_enroll_segs": ["1", "3"], "phone_num_match": ["Y", "N"]},
    **{"gender": ["male", "female"], "source_type": ["pstn", "voip"]},
}


class Evaluation:
    """Trials of 8 models and 60 segments: labels, scores, and the values of columns."""

    def __init__(self, seed, *, same_phone_nontargets=False):
        rng, shape = np.random.default_rng(seed), (8, 60)
        row, column = np.indices(shape)
        self.ids = [f"m{i}" for i in range(8)], [f"s{j}" for j in range(60)]
        self.is_trial = rng.random(shape) < 0.9
        self.is_tar = self.is_trial & (rng.random(shape) < 0.4)
        same_phone = rng.random(shape) < 0.5
        if not same_phone_nontargets:
            same_phone &= self.is_tar
        self.columns = {
            "num_enroll_segs": np.array(["1", "3"])[row % 2],
            "phone_num_match": np.where(same_phone, "Y", "N"),
            "gender": np.array(["male", "female"])[row // 2 % 2],
            "source_type": np.array(["pstn", "voip", "voip", "afv"])[column % 4],
            "data_source": np.where(column % 4 == 3, "vast", "cmn2"),
        }
        # Scores about the thresholds log 99 and log 199, worse for some cells; some of them tied.
        loc = np.where(self.is_tar, 6.0, 1.0) + np.where(same_phone, 1.0, 0.0) - row / 2
        self.scoremat = np.round(rng.normal(loc, 2.5), 1)

    @property
    def key(self):
        of_trials = {name: values.T[self.is_trial.T] for name, values in self.columns.items()}
        return described(Key(*self.ids, self.is_tar, self.is_trial & ~self.is_tar), of_trials)

    def arguments(self):
        return Scores(self.scoremat, *self.ids), self.key

    def rows(self, data_source):
        """List the trials of a data set as (is target, score, values of the factors)."""
        own = self.is_trial & (self.columns["data_source"] == data_source)
        values = zip(*(self.columns[name][own].tolist() for name in FACTORS), strict=True)
        return list(zip(self.is_tar[own], self.scoremat[own].tolist(), values, strict=True))


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


@pytest.mark.parametrize("seed", [1, 2])
def test_the_equalised_cost_is_the_formula(seed: int) -> None:
    data = Evaluation(seed, same_phone_nontargets=seed == 2)
    cells = cmn2_cells(data.rows("cmn2"))
    assert all(tar for tar, _ in cells.values())
    assert sum(bool(non) for _, non in cells.values()) == 8
    actual, minimum = naive_cost(list(cells.values()), [0.01, 0.005])
    cost = primary_cost(*data.arguments(), "SRE18-CMN2")
    assert (cost.actual, cost.minimum) == pytest.approx((actual, minimum), rel=1e-12)
    n_trials = np.sum([(len(tar), len(non)) for tar, non in cells.values()], axis=0)
    assert [cost.n_tar, cost.n_non] == n_trials.tolist()
    assert [tuple(p.levels.values()) for p in cost.partitions] == list(cells)
    listed = zip(cost.partitions, cost.members, cells.values(), strict=True)
    for partition, own, (tar, non) in listed:
        same_phone = partition.levels["phone_num_match"] == "Y"
        assert (partition.n_tar, partition.n_non) == (len(tar), len(non))
        assert own.tar_weight == pytest.approx(1 / 16, rel=1e-15)
        assert own.non_weight == pytest.approx(0 if same_phone else 1 / 8, rel=1e-15)
        # Judged alone, a same-phone cell takes the non-targets of its different-phone twin.
        levels = tuple("N" if level == "Y" else level for level in partition.levels.values())
        others = cells[levels][1]
        assert partition.n_stand_ins == (len(others) if same_phone else 0)
        alone = naive_cost([(tar, others)], [0.01, 0.005])
        assert (partition.actual, partition.minimum) == pytest.approx(alone, rel=1e-12)


def test_a_plan_of_parts_is_their_mean() -> None:
    data = Evaluation(5)
    cost = primary_cost(*data.arguments(), "SRE18")
    cmn2 = primary_cost(*data.arguments(), "SRE18-CMN2")
    vast = primary_cost(*data.arguments(), "SRE18-VAST")
    assert cost.actual == (cmn2.actual + vast.actual) / 2
    assert cost.minimum == (cmn2.minimum + vast.minimum) / 2
    assert [part.to_dict() for part in cost.parts] == [cmn2.to_dict(), vast.to_dict()]
    assert math.isnan(cost.eer)
    for said in ("mean of 2 data sets", "equalised over 16 partitions"):
        assert said in str(cost)
    tar, non = ([score for same, score, _ in data.rows("vast") if same == of] for of in (1, 0))
    assert vast.actual == pytest.approx(act_dcf(tar, non, 0.05), rel=1e-13)
    record = json.loads(json.dumps(cost.to_dict(), allow_nan=False))["parts"][0]
    assert record["operating_points"][1]["p_target"] == 0.005
    assert len(record["partitions"]) == 16


def test_trials_without_score_do_not_count() -> None:
    data = Evaluation(8)
    mask = np.random.default_rng(0).random(data.is_trial.shape) < 0.8
    scores = Scores(data.scoremat, *data.ids, mask)
    with pytest.warns(MissingTrialsWarning):
        cost = primary_cost(scores, data.key, "SRE18-CMN2")
    data.is_trial &= mask
    expected = naive_cost(list(cmn2_cells(data.rows("cmn2")).values()), [0.01, 0.005])
    assert (cost.actual, cost.minimum) == pytest.approx(expected, rel=1e-12)


def test_neither_form_nor_order_of_trials_matters() -> None:
    data = Evaluation(9)
    shuffled = Scores(data.scoremat[::-1, ::-1], *(ids[::-1] for ids in data.ids))
    expected = primary_cost(*data.arguments(), "SRE18").to_dict()
    listed = as_list(Scores(data.scoremat, *data.ids))
    key_listed = as_list(data.key).with_columns_of(data.key)
    for scores, key in ((shuffled, data.key), (listed, key_listed)):
        assert primary_cost(scores, key, "SRE18").to_dict() == expected


def lists(tar: Any, non: Any) -> tuple[Scores, Key]:
    """Return scores and key of one model that is in all trials."""
    segments = [f"s{i}" for i in range(len(tar) + len(non))]
    is_tar = np.arange(len(segments)) < len(tar)
    return (Scores([[*tar, *non]], ["m"], segments), Key(["m"], segments, [is_tar], [~is_tar]))


TAR, NON = [-1.0, 2.5, 5.0, 7.0, 8.0], [-6.0, -3.0, 0.0, 2.5, 6.0, 4.0]


@pytest.mark.parametrize("name", ["SRE08", "IVECTOR14", "VoxSRC", "ASVspoof5-1"])
def test_plans_without_partitions_are_the_cost(name: str) -> None:
    for normalize in (True, False):
        plan = PLANS[name].evolve(normalize=normalize)
        cost, given = primary_cost(*lists(TAR, NON), plan), (plan.points, normalize)
        expected = np.mean(act_dcf(TAR, NON, *given)), np.mean(min_dcf(TAR, NON, *given))
        assert (cost.actual, cost.minimum) == pytest.approx(expected, rel=1e-13)


OWN = EvaluationPlan(name="own", points=[0.5])


def test_costs_at_the_operating_points() -> None:
    """Tar 1, 3 against non 0, 2: at prior 0.5 threshold 0 has Pmiss 0, Pfa 1; 1 has Pfa 0.5."""
    cost = primary_cost(*lists([1.0, 3.0], [0.0, 2.0]), OWN.evolve(points=[0.5, 0.2]))
    assert cost.points[0] == (OperatingPoint(0.5), 1.0, 0.5)
    # At prior 0.2 the threshold is log 4: half of the targets and of the non-targets err.
    assert (cost.points[1].actual, cost.points[1].minimum) == pytest.approx((2.5, 0.5))
    assert (cost.actual, cost.minimum) == pytest.approx((1.75, 0.5))
    # What ranks comes first; the hull's corners (1/2, 0), (0, 1/2) meet at 1/4.
    for first, costs in (("actual", "1.0000 0.5000"), ("minimum", "0.5000 1.0000")):
        text = str(primary_cost(*lists([1.0, 3.0], [0.0, 2.0]), OWN.evolve(ranked_by=first)))
        for words in (f"primary cost {costs}", "cent 25.00"):
            assert words in " ".join(text.split())


def test_pooled_trials_are_not_the_published_cost() -> None:
    data = Evaluation(1)
    scores, key = Scores(data.scoremat, *data.ids), data.key
    with pytest.warns(BosarisWarning, match="SRE18-CMN2: NOT the published"):
        cost = primary_cost(scores, Key(*data.ids, key.tar, key.non), "SRE18-CMN2")
    expected = np.mean(act_dcf(*scores.get_tar_non(key), [0.01, 0.005]))
    assert cost.actual == pytest.approx(expected, rel=1e-13)
    assert cost.pooled
    assert "NOT the primary cost" in str(cost)


# ---- Partitions


def test_sre12_weighs_known_and_unknown_nontargets() -> None:
    scores, key = lists([1.0, 6.0, 9.0], [8.0, 0.0, -1.0, 5.0, 7.0])
    known = ["known", "unknown", "unknown", "known", "known"]
    key = described(key, {"nontarget_speaker": ["-", "-", "-", *known]})
    cost = primary_cost(scores, key, "SRE12")
    # Thresholds log 99 = 4.6 and log 999 = 6.9. Of the known non-targets 8, 5, 7 are accepted
    # 3 of 3 and 2 of 3, of the unknown none; of the targets 1 and 2 of 3 are missed.
    expected = (1 / 3 + 99 * 0.5 * 1 + 2 / 3 + 999 * 0.5 * 2 / 3) / 2
    assert cost.actual == pytest.approx(expected, rel=1e-13)
    names = ["all trials", "nontarget_speaker known", "nontarget_speaker unknown"]
    assert [p.name for p in cost.partitions] == names


def divided(columns: Any, n_tar: int, *factors: PartitionFactor) -> Any:
    """Return the cost of trials that columns divide, of which the first ones are targets."""
    n_non = len(next(iter(columns.values()))) - n_tar
    scores, key = lists(np.arange(n_tar) + 0.5, np.arange(n_non) - 2.5)
    return primary_cost(scores, described(key, columns), OWN.evolve(factors=factors))


def test_weights_of_levels() -> None:
    factor = PartitionFactor("a", ["x", "y", "z"], weights=[0.5, 0.25, 0.25])
    columns = {"a": [*"xxyz", *"xyy"], "b": [*"pqpp", *"ppq"]}
    # z has no non-target: 0.5 and 0.25 share its weight there.
    found = [(p.name, p.tar_weight, p.non_weight) for p in divided(columns, 4, factor).members]
    assert found == [("a x", 0.5, 2 / 3), ("a y", 0.25, 1 / 3), ("a z", 0.25, 0.0)]
    # Levels of a factor without weights count alike: of targets x p, x q, y p, z p.
    both = divided(columns, 4, factor, PartitionFactor("b")).members
    names = ["a x, b p", "a x, b q", "a y, b p", "a y, b q", "a z, b p"]
    shares = [0.5 / 1.5, 0.5 / 1.5, 0.25 / 1.5, 0.0, 0.25 / 1.5]
    assert {p.name: p.tar_weight for p in both} == dict(zip(names, shares, strict=True))
    cost = divided(columns, 4, factor)
    assert [one.tar.tolist() for one in cost.members] == [[0, 1], [2], [3]]
    assert [one.non.tolist() for one in cost.members] == [[0], [1, 2], []]
    assert "weighted over 3 partitions" in str(cost)


def test_non_targets_of_other_levels_stand_in() -> None:
    factor = PartitionFactor("a", ["x", "y", "z"], target_only=["x"])
    cost = divided({"a": [*"xyz", *"xzyzy"]}, 3, factor)
    # The first non-target is of level x, and does not count.
    assert [one.non.tolist() for one in cost.members] == [[], [2, 4], [1, 3]]
    assert [one.n_stand_ins for one in cost.partitions] == [4, 0, 0]
    assert cost.n_non == 4
    assert "* non-targets of other partitions stand in" in str(cost)


def test_a_factor_of_one_class_does_not_divide_the_other() -> None:
    factors = PartitionFactor("a", classes="non"), PartitionFactor("b", classes="tar")
    cost = divided({"a": [*"..", *"uv"], "b": [*"pq", *".."]}, 2, *factors)
    # Those of targets come first.
    assert [one.name for one in cost.partitions] == ["b p", "b q", "a u", "a v"]
    assert cost.partitions[0].levels == {"b": "p"}


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")
def test_conditions_take_the_place_of_the_partitions() -> None:
    scores, key = lists([1.0, 6.0, 9.0], [8.0, 0.0, -1.0, 5.0])
    conditions = labelled(key, ["a", "b", "b", "a", "a", "b", "b"], [0.25, 0.75])
    cost = primary_cost(scores, key, "CNSRC", conditions)
    # Threshold log 99 = 4.6: a misses its only target, accepts 1 of 2; b 0 of 2, 1 of 2.
    assert cost.actual == pytest.approx(0.25 + 99 * 0.5, rel=1e-13)
    assert [(p.name, p.tar_weight) for p in cost.members] == [("a", 0.25), ("b", 0.75)]
    # One has one class.
    scores, key = lists([1.0, 6.0, 9.0], [8.0, 0.0])
    cost = primary_cost(scores, key, "SRE18-CMN2", labelled(key, ["a", "b", "b", "b", "b"]))
    assert any("are the conditions given, not those of the plan" in note for note in cost.notes)
    assert math.isnan(cost.partitions[0].actual)
    record: Any = cost.to_dict()
    assert record["partitions"][0]["actual"] is None


def test_partitions_without_trials_are_told() -> None:
    factors = [PartitionFactor("a", ["x", "y", "z"]), PartitionFactor("b", ["1", "2"])]
    columns = {"a": [*"xxz"], "b": [*"112"]}
    notes = "\n".join(divided(columns, 1, *factors).notes)
    assert "4 of 6 partitions of the plan have no trial" in notes
    assert "in the means: a x, b 2, ..." in notes
    # What a plan leaves open is not missing.
    for open_factor in (PartitionFactor("b"), PartitionFactor("a", ["x", "z"], classes="non")):
        assert not any("no trial" in note for note in divided(columns, 1, open_factor).notes)


def test_columns_that_a_key_lacks() -> None:
    scores, key = Evaluation(16).arguments()
    with pytest.raises(InvalidInputError, match="It lacks source_type_match, language_match"):
        primary_cost(scores, key, "SRE24")
    key = Key(*key.ids, key.tar, key.non)
    with pytest.raises(InvalidInputError, match="It lacks data_source"):
        primary_cost(scores, key, "SRE18")
    key = described(key, {"a": ["x"] * key.n_trials})
    notes = primary_cost(scores, key, PLANS["SRE18-VAST"]).notes
    assert "All trials are taken to be of data_source vast." in notes


def test_what_is_refused() -> None:
    scores, key = Evaluation(16).arguments()
    given = {"scores": scores, "key": key, "plan": "SRE18-CMN2"}
    for changes in (
        {"plan": "SRE99"},
        {"plan": PLANS["SRE18-VAST"].evolve(select={"data_source": "mls14"})},
        {"plan": OWN.evolve(factors=[PartitionFactor("gender", ["male"])])},
    ):
        with pytest.raises(InvalidInputError):
            primary_cost(**(given | changes))
