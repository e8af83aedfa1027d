"""Partitions of trials by a plan: which trials they hold, their weights, and what is refused."""

from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import EvaluationPlan, PartitionFactor
from bosaris_py.evaluation.partitions import Partitioning, PlanTrials
from tests.forms import described, labelled


def key_of(n_tar: int, n_non: int) -> bp.Key:
    is_tar = np.arange(n_tar + n_non)[None, :] < n_tar
    return bp.Key(["m"], [f"s{i:05}" for i in range(n_tar + n_non)], is_tar, ~is_tar)


def divided(
    key: bp.Key,
    columns: dict[str, list[str]],
    *factors: PartitionFactor,
    only: dict[str, str] | None = None,
) -> Partitioning:
    scores = bp.Scores(np.arange(key.n_trials)[None, :] + 0.5, ["m"], key.segset)
    trials = PlanTrials.joined(scores, key, described(key, columns).columns)
    plan = EvaluationPlan(name="own", operating_points=[0.5], factors=factors)
    return trials.partition(plan, only or {})


def test_positions_of_a_partition_ascend() -> None:
    rng = np.random.default_rng(2125)
    labels = rng.integers(0, 5, 3000).astype(str)
    cut = divided(key_of(2000, 1000), {"a": labels.tolist()}, PartitionFactor("a"))
    for level, partition in zip("01234", cut.partitions, strict=True):
        assert partition.members.name == f"a {level}"
        # Scores are in the order of the trials, so positions are their numbers.
        assert partition.members.tar.tolist() == np.flatnonzero(labels[:2000] == level).tolist()
        assert partition.members.non.tolist() == np.flatnonzero(labels[2000:] == level).tolist()


def test_weights_of_levels() -> None:
    factor = PartitionFactor("a", ["x", "y", "z"], weights=[0.5, 0.25, 0.25])
    columns = {"a": [*"xxyz", *"xyy"], "b": [*"pqpp", *"ppq"]}
    alone = divided(key_of(4, 3), columns, factor)
    # z has no non-target: 0.5 and 0.25 share its weight there.
    found = [(p.members.name, p.members.tar_weight, p.members.non_weight) for p in alone.partitions]
    assert found == [("a x", 0.5, 2 / 3), ("a y", 0.25, 1 / 3), ("a z", 0.25, 0.0)]
    # Levels of a factor without weights count alike: of targets x p, x q, y p, z p.
    both = divided(key_of(4, 3), columns, factor, PartitionFactor("b"))
    weights = {p.members.name: p.members.tar_weight for p in both.partitions}
    total = 0.5 + 0.5 + 0.25 + 0.25
    assert weights == {
        "a x, b p": 0.5 / total,
        "a x, b q": 0.5 / total,
        "a y, b p": 0.25 / total,
        "a y, b q": 0.0,
        "a z, b p": 0.25 / total,
    }


def test_non_targets_of_other_levels_stand_in() -> None:
    factor = PartitionFactor("a", ["x", "y", "z"], target_only=["x"])
    cut = divided(key_of(3, 5), {"a": [*"xyz", *"xzyzy"]}, factor)
    found = {p.members.name: (p.members.non.tolist(), p.stand_ins.tolist()) for p in cut.partitions}
    # The first non-target is of level x, and does not count.
    assert found == {"a x": ([], [1, 2, 3, 4]), "a y": ([2, 4], []), "a z": ([1, 3], [])}
    assert cut.notes == (
        "1 non-targets do not count: their a is x, where the plan counts targets only.",
    )
    (alone,) = divided(key_of(3, 5), {"a": [*"xyz", *"xzyzy"]}, factor, only={"a": "x"}).partitions
    assert alone.members.tar.tolist() == [0]
    assert (alone.members.non.tolist(), alone.stand_ins.tolist()) == ([1, 2, 3, 4], [])
    (other,) = divided(key_of(3, 5), {"a": [*"xyz", *"xzyzy"]}, factor, only={"a": "y"}).partitions
    assert (other.members.tar.tolist(), other.members.non.tolist()) == ([1], [2, 4])


def test_a_factor_of_one_class_does_not_divide_the_other() -> None:
    factors = PartitionFactor("a", classes="non"), PartitionFactor("b", classes="tar")
    columns = {"a": [*"..", *"uv"], "b": [*"pq", *".."]}
    cut = divided(key_of(2, 2), columns, *factors)
    names = [partition.members.name for partition in cut.partitions]
    # In the order of the levels of a, then of b; where one is missing it comes first.
    assert names == ["b p", "b q", "a u", "a v"]
    assert cut.partitions[0].levels == (("b", "p"),)


def test_unknown_values() -> None:
    columns = {"a": [*"xuv", *"yu"]}
    with pytest.raises(InvalidInputError, match="got 'u', 'v' for 2 targets"):
        divided(key_of(3, 2), columns, PartitionFactor("a", ["x", "y"]))


@pytest.mark.parametrize(
    ("columns", "only", "message"),
    [
        ({}, {}, r"have the columns by which own divides trials \(a\); got no column\. It lacks a"),
        ({"b": [*"xy"]}, {}, r"got b\. It lacks a"),
        ({"a": [*"xy"]}, {"b": "x"}, r"name factors of own \(a\); got 'b'"),
        ({"a": [*"xy"]}, {"a": "z"}, r"take a value of a that exists \(x, y\); got 'z'"),
    ],
)
def test_what_is_refused(columns: Any, only: Any, message: str) -> None:
    factor = PartitionFactor("a", ["x", "y"])
    with pytest.raises(InvalidInputError, match=message):
        divided(key_of(1, 1), columns, factor, only=only)


def test_a_plan_without_factors_has_no_value_to_take() -> None:
    with pytest.raises(InvalidInputError, match=r"name factors of own \(it has none\); got 'b'"):
        divided(key_of(1, 1), {"a": [*"xy"]}, only={"b": "x"})


@pytest.mark.parametrize("conditions", [False, True])
def test_parts_are_told_apart_by_metadata_only(*, conditions: bool) -> None:
    key = key_of(2, 2)
    scores = bp.Scores([[1.0, 2.0, 0.0, -1.0]], ["m"], key.segset)
    labels = labelled(key, [*"abab"]) if conditions else None
    got = "Conditions" if conditions else "None"
    message = (
        f"tells apart by data_source; got {got}. Or judge one data set: SRE18-CMN2, SRE18-VAST"
    )
    with pytest.raises(InvalidInputError, match=message):
        bp.primary_cost(scores, key, "SRE18", labels)


def sizes_of(trials: PlanTrials, plan: EvaluationPlan) -> dict[str, tuple[int, int]]:
    """Count the targets and non-targets of each partition."""
    members = [p.members for p in trials.partition(plan, {}).partitions]
    return {m.name: (m.tar.size, m.non.size) for m in members}


def test_trials_of_parts_and_of_conditions() -> None:
    key = key_of(3, 4)
    scores = bp.Scores(np.arange(7.0)[None, :], ["m"], key.segset)
    columns = described(key, {"a": [*"xyyxxyu"], "set": [*"1111112"]}).columns
    one = EvaluationPlan(name="one", operating_points=[0.5], factors=["a"], select={"set": "1"})
    two = one.evolve(name="two", select={"set": "2"})
    # Of set 1 are xyy among the targets and xxy among the others; u is of set 2.
    trials = PlanTrials.joined(scores, key, columns)
    assert sizes_of(trials, one) == {"a x": (1, 2), "a y": (2, 1)}
    (alone,) = trials.partition(two, {}).partitions
    # A group without targets is no part of them.
    assert (alone.members.tar.size, alone.members.tar_weight) == (0, 0.0)
    assert sizes_of(PlanTrials.joined(scores, key, None), one) == {"all trials": (3, 4)}
    assert PlanTrials.joined(scores, key, None).partition(one, {}).pooled
    labels = labelled(key, [*"aababab"])
    assert sizes_of(PlanTrials.joined(scores, key, labels), one) == {"a": (2, 2), "b": (1, 2)}


def test_one_of_all_values_that_are_found() -> None:
    columns = {"a": [*"xy", *"xy"]}
    (found,) = divided(key_of(2, 2), columns, PartitionFactor("a"), only={"a": "y"}).partitions
    assert (found.members.tar.tolist(), found.members.non.tolist()) == ([1], [1])
