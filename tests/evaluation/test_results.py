"""Results: one sort must say the same as every single function."""

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given

import bosaris_py
from bosaris_py import Key, Results, Scores
from bosaris_py.errors import FewErrorsWarning, InvalidInputError, MissingTrialsWarning
from tests.score_strategies import finite_scores, priors, score_lists

TAR, NON = np.array([1.0, 3.0, 4.0]), np.array([-2.0, 0.0, 2.0])


@given(score_lists(finite_scores), score_lists(finite_scores), priors)
def test_same_numbers_through_every_entry(tar: np.ndarray, non: np.ndarray, prior: float) -> None:
    results = Results(tar, non)
    for name in ("eer", "prbep", "auc", "cllr", "min_cllr"):
        expected = getattr(bosaris_py, name)(tar, non)
        assert getattr(results, name) == pytest.approx(expected, rel=1e-14, abs=1e-15)
    for normalize in (False, True):
        for name in ("act_dcf", "min_dcf"):
            function = getattr(bosaris_py, name)
            assert getattr(results, name)(prior, normalize) == function(tar, non, prior, normalize)
    assert results.n_tar == tar.size
    assert results.n_non == non.size


def _matrices() -> tuple[Scores, Key]:
    models, segments = ["m1", "m2"], ["s1", "s2", "s3"]
    tar = np.array([[True, False, False], [False, True, False]])
    non = np.array([[False, True, False], [True, False, True]])
    scores = Scores(np.array([[2.0, -1.0, 9.0], [0.5, 0.0, -3.0]]), models, segments)
    return scores, Key(models, segments, tar, non)


def test_from_scores_takes_the_trials_of_the_key() -> None:
    scores, key = _matrices()
    results = Results.from_scores(scores, key)
    assert results.sample.tar.scores.tolist() == [0.0, 2.0]
    assert results.sample.non.scores.tolist() == [-3.0, -1.0, 0.5]


def test_missing_trials_are_counted_and_left_out() -> None:
    scores, key = _matrices()
    part = scores.filter(["m1"], ["s1", "s2", "s3"], keep=True)
    with pytest.warns(MissingTrialsWarning) as caught:
        results = Results.from_scores(part, key)
    (message,) = (str(warning.message) for warning in caught)
    assert message.endswith("1 of 2 targets missing; 2 of 3 non-targets missing")
    assert (results.n_tar, results.n_non) == (1, 1)


def test_plain_records() -> None:
    results = Results(TAR, NON)
    record = results.to_dict()
    assert json.loads(json.dumps(record)) == record
    assert record["n_tar"] == 3
    assert record["eer_threshold"] == results.eer_threshold


def test_summary_line() -> None:
    assert repr(Results([1.0], [0.0])) == (
        "Results: 1 targets, 1 non-targets, EER 0, Cllr 0.726, minCllr 0"
    )


def test_trials_without_weight_are_no_trials() -> None:
    weighted = Results([1.0, 2.0, 3.0], [0.0, 0.5], tar_weights=[0.0, 2.0, 1.0])
    assert weighted.n_tar == 2
    assert weighted.to_dict() == Results([2.0, 2.0, 3.0], [0.0, 0.5]).to_dict() | {"n_tar": 2}


@pytest.mark.parametrize("weights", [None, np.array([0.5, 0.0, 2.0])])
def test_pickled_and_copied_results_say_the_same(weights) -> None:
    results = Results(TAR, NON, non_weights=weights)
    for used in (False, True):
        if used:
            results.to_dict()
        for twin in (pickle.loads(pickle.dumps(results)), copy.deepcopy(results)):
            assert twin.to_dict() == results.to_dict()
    assert Results.from_sample(results.sample).to_dict() == results.to_dict()


def test_scores_changed_afterwards_change_nothing() -> None:
    tar, non, weights = TAR.copy(), NON.copy(), np.array([1.0, 2.0, 0.5])
    results = Results(tar, non, non_weights=weights)
    expected = Results(TAR, NON, non_weights=[1.0, 2.0, 0.5]).to_dict()
    tar[:], non[:], weights[:] = 0.0, 0.0, 7.0
    assert results.to_dict() == expected


def test_thresholds_at_several_rates() -> None:
    """Targets 1 to 4, non-targets 0 to 3: a quarter of the latter is one, the highest."""
    results = Results([1.0, 2.0, 3.0, 4.0], [0.0, 1.5, 2.5, -1.0])
    first, second = results.threshold_at(pfa=[0.25, 0.5])
    assert (first, first.pmiss, first.pfa) == (2.0, 0.25, 0.25)
    assert (second, second.pmiss, second.pfa) == (1.0, 0.0, 0.5)
    assert results.threshold_at(pmiss=np.array([0.25]))[0] == 2.0
    with pytest.warns(FewErrorsWarning, match="4 non-targets cannot show a pfa of 0.001; the lo"):
        assert results.threshold_at(pfa=0.001) == 3.0
    for prior in (0.01, [0.1, 0.01]):
        for cost in (results.act_dcf, results.min_dcf):
            with pytest.warns(
                FewErrorsWarning, match=r"4 non-targets .* pfa of 0.0101 at effective prior"
            ):
                cost(prior)
    with pytest.raises(InvalidInputError, match="per cent"):
        results.threshold_at(pfa=[5.0])
    for limits in ({}, {"pfa": 0.5, "pmiss": 0.5}):
        with pytest.raises(InvalidInputError, match="exactly one of them"):
            results.threshold_at(**limits)
