"""The sample: one sort of each class, conditions and kinds as weighted means, parts of a sample."""

from unittest import mock

import numpy as np
import pytest
from bosaris_py.trials.strata import Strata
from hypothesis import given, strategies as st

from bosaris_py import Conditions, Key, Scores, uncertainty as unc
from bosaris_py.errors import InvalidInputError
from bosaris_py.trials import sample as module
from bosaris_py.trials.sample import ListedSample, ScoredClass
from tests.score_strategies import score_lists, tied_scores

LIMITS = np.array([-1.0, 0.0, 0.5, 2.0])

scores_of_a_class = score_lists(tied_scores, max_size=30)
ways = st.sampled_from(["counted", "ordered"])


def rates_by_mask(
    tar: np.ndarray, non: np.ndarray, limits: np.ndarray = LIMITS
) -> tuple[list[float], list[float]]:
    return [np.mean(tar < t) for t in limits], [np.mean(non >= t) for t in limits]


def joined(seed: int = 1) -> tuple[Scores, Key, Conditions]:
    rng, ids = np.random.default_rng(seed), [f"m{i:02}" for i in range(14)]
    tar = np.eye(14, dtype=bool)
    scores = Scores((2.0 * tar + rng.normal(size=(14, 14))).round(1), ids, ids)
    rows = np.repeat(np.arange(14)[:, None] < 5, 14, axis=1)
    return scores, Key(ids, ids, tar, ~tar), Conditions({"a": rows, "b": ~rows}, [0.3, 0.7])


@given(scores_of_a_class, scores_of_a_class, ways)
def test_figures_do_not_depend_on_what_is_sorted(
    tar: np.ndarray, non: np.ndarray, way: str
) -> None:
    sample = ListedSample.from_scores(tar, non)
    if way == "ordered":
        sample.arranged()
    pmiss, pfa = sample.error_rates(LIMITS)
    assert (pmiss.tolist(), pfa.tolist()) == rates_by_mask(tar, non)
    plain = ListedSample.from_scores(tar, non)
    assert sample.roc.pmiss.tolist() == plain.roc.pmiss.tolist()
    assert sample.roc.pfa.tolist() == plain.roc.pfa.tolist()
    assert sample.cllr == plain.cllr


@pytest.mark.parametrize("way", ["counted", "ordered"])
def test_conditions_are_means_of_their_rates(way: str) -> None:
    """Van Leeuwen 2008, equations 3 and 4, by masks."""
    scores, key, conditions = joined()
    base = ListedSample.of(scores, key)
    if way == "ordered":
        base.arranged()
    sample = base.weighted(conditions.scored_members(scores, key))
    expected = np.zeros((2, LIMITS.size))
    for rows, weight in ((slice(0, 5), 0.3), (slice(5, 14), 0.7)):
        values = scores.scoremat[rows]
        rates = rates_by_mask(values[key.tar[rows]], values[key.non[rows]])
        expected += weight * np.array(rates)
    assert np.array(sample.error_rates(LIMITS)) == pytest.approx(expected, rel=1e-15)
    # The ROC at a target score is the same mean.
    at = sample.roc.target_scores[3]
    point = sample.error_rates(np.array([at]))
    found = sample.roc.threshold_at(pmiss=float(point[0][0]))
    assert found.pfa <= point[1][0] + 1e-15


def test_parts_are_not_sorted_again() -> None:
    scores, key, conditions = joined()
    base = ListedSample.of(scores, key).arranged()
    members = conditions.scored_members(scores, key)
    with mock.patch.object(module.np, "sort") as sort:
        parts = {name: part for name, _, _, part in base.rows(members)}
        for part in parts.values():
            for side in (part.tar, part.non):
                assert all((np.diff(p.values) >= 0).all() for p in side.sorted.parts)
                assert np.array_equal(side.scores[side.order], side.sorted.values)
    sort.assert_not_called()
    assert list(parts) == ["pooled", "a", "b", "equalised"]
    assert parts["a"].n_tar + parts["b"].n_tar == parts["pooled"].n_tar == key.n_tar


def test_a_trial_of_two_conditions_counts_in_both_and_cannot_be_resampled() -> None:
    scores, key, _ = joined()
    everything = np.ones((14, 14), dtype=bool)
    first = np.repeat(np.arange(14)[:, None] < 5, 14, axis=1)
    conditions = Conditions({"all": everything, "first": first}, [0.5, 0.5], overlap="allow")
    sample = ListedSample.of(scores, key, conditions)
    assert (sample.n_tar, sample.tar.scores.size, sample.tar.is_repeated) == (14, 19, True)
    of_all = rates_by_mask(scores.scoremat[key.tar], scores.scoremat[key.non])
    of_first = rates_by_mask(scores.scoremat[:5][key.tar[:5]], scores.scoremat[:5][key.non[:5]])
    expected = (np.array(of_all) + np.array(of_first)) / 2
    assert np.array(sample.error_rates(LIMITS)) == pytest.approx(expected, rel=1e-15)
    with pytest.raises(InvalidInputError, match="not overlap"):
        unc.bootstrap_scores(scores, key, unc.EER(), conditions=conditions, method="iid")


def test_kinds_of_non_targets_have_fixed_shares() -> None:
    """Zero-effort and spoofed trials: a false-alarm rate of .8 and .2 of theirs."""
    tar, zero, spoof = np.array([1.0, 2.0]), np.array([-1.0, 0.0, 0.5, 1.5]), np.array([0.0, 3.0])
    classes = [
        ScoredClass(tar, Strata.single(2), None, (np.array([0, 1]), np.array([0, 1]))),
        ScoredClass(zero, Strata.single(4), None, (np.array([0, 0, 1, 1]), np.array([1, 2, 0, 2]))),
        # A spoofed trial has one person.
        ScoredClass(spoof, Strata.single(2), None, (np.array([0, 1]), None)),
    ]
    sample = ListedSample(tuple(classes), (0.8, 0.2))
    assert (sample.n_tar, sample.n_non) == (2, 6)
    _, pfa = sample.error_rates(np.array([0.5, 1.0]))
    # 2 and 1 of 4 zero-effort trials, 1 of 2 spoofed ones.
    assert pfa == pytest.approx([0.8 * 2 / 4 + 0.2 / 2, 0.8 / 4 + 0.2 / 2], rel=1e-15)
    assert sample.roc.pfa[0] == 1.0
    # minDCF at prior .5: the threshold 1 misses nothing.
    assert unc.MinDCF(0.5).of_sample(sample) == pytest.approx(0.5 * 0.3, rel=1e-15)
    first, second = sample.non.persons
    assert first.tolist() == [0, 0, 1, 1, 0, 1]
    assert second.tolist() == [1, 2, 0, 2, -1, -1]
