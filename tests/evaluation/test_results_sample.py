"""What Results asks of its sample, and any sample that gives it."""

import copy
import functools
import pickle

import numpy as np
import pytest

from bosaris_py import ROC, Results
from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import steppy_points
from bosaris_py.evaluation.curves import BayesCurves
from bosaris_py.trials.sample import ListedSample, Sample

TAR, NON = np.array([1.0, 3.0, 4.0]), np.array([-2.0, 0.0, 2.0])


class OneNumber(Sample):
    """A detector that gives every trial the score 0: all its figures are known."""

    @property
    def n_tar(self) -> int:
        return 2

    @property
    def n_non(self) -> int:
        return 3

    @functools.cached_property
    def roc(self) -> ROC:
        return ROC(np.zeros(1), np.array([2]), np.array([3]), np.array([0, 0]))

    @property
    def cllr(self) -> float:
        return 1.0

    def error_rates(self, thresholds):
        return (thresholds > 0) * 1.0, (thresholds <= 0) * 1.0


def test_results_of_any_sample() -> None:
    results = Results.from_sample(OneNumber())
    assert repr(results).startswith("Results: 2 targets, 3 non-targets, EER 0.5, Cllr 1, minCllr 1")
    assert results.auc == 0.5
    assert float(results.act_dcf(0.2, normalize=True)) == 1.0
    assert results.error_rates_at([-1.0, 1.0])[0].tolist() == [0.0, 1.0]
    assert results.to_dict(0.5)["operating_points"][0]["min_dcf"] == 1.0
    curves = BayesCurves.from_results(results, [-1.0, 1.0])
    assert curves.min_dcf.tolist() == [1.0, 1.0]
    pfa, pmiss = steppy_points(results.roc, (0.001, 0.5), (0.001, 0.5))
    assert (pfa[0], pmiss[-1]) == (1.0, 1.0)


def test_lists_given_as_a_sample_are_the_same() -> None:
    record = Results(TAR, NON).to_dict([0.1, 0.5])
    assert Results.from_sample(ListedSample.from_scores(TAR, NON)).to_dict([0.1, 0.5]) == record


@pytest.mark.parametrize("weights", [None, np.array([0.5, 0.0, 2.0])])
def test_pickled_and_copied_results_say_the_same(weights) -> None:
    results = Results(TAR, NON, non_weights=weights)
    for used in (False, True):
        if used:
            results.to_dict(0.5)
        for twin in (pickle.loads(pickle.dumps(results)), copy.deepcopy(results)):
            assert twin.to_dict([0.1, 0.5]) == results.to_dict([0.1, 0.5])


def test_scores_changed_afterwards_change_nothing() -> None:
    tar, non, weights = TAR.copy(), NON.copy(), np.array([1.0, 2.0, 0.5])
    results = Results(tar, non, non_weights=weights)
    expected = Results(TAR, NON, non_weights=[1.0, 2.0, 0.5]).to_dict(0.3)
    tar[:], non[:], weights[:] = 0.0, 0.0, 7.0
    assert results.to_dict(0.3) == expected


def test_no_sample() -> None:
    with pytest.raises(InvalidInputError, match=r"be a Sample; got \[1.0\]. Results\(tar, non\)"):
        Results.from_sample([1.0])


def test_bad_scores_are_named_by_class() -> None:
    with pytest.raises(InvalidInputError, match="`tar` must hold"):
        ListedSample.from_scores([], NON)
    with pytest.raises(InvalidInputError, match="`non` must not hold NaN"):
        Results(TAR, [np.nan])
