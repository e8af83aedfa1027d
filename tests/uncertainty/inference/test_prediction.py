"""Prediction intervals by their formula; runs against a t-test of values computed by hand."""

import itertools
import math

import attrs
import numpy as np
import pytest
from scipy import stats

from bosaris_py import Key, Scores
from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError, TrialMismatchError
from tests.crossed_trials import CrossedExperiment

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")


@pytest.fixture(scope="module")
def drawn():
    experiment = CrossedExperiment(n_speakers=30, tar_mean=1.5, non_mean=-1.5)
    return experiment.draw_systems(np.random.default_rng(4), n_systems=5, shared=0.8)


@pytest.fixture(scope="module")
def how(drawn):
    return {"speakers": (drawn[0].model_speakers, drawn[0].segment_speakers)}


@pytest.mark.parametrize("n_speakers", [None, 2, 10, 1000])
@pytest.mark.parametrize("statistic", [unc.EER(), unc.Cllr(), unc.AUC()])
def test_prediction_is_the_formula(drawn, how, statistic, n_speakers):
    one = drawn[0]
    known = one.scores, one.key, statistic
    plain = unc.speaker_interval(*known, **how)
    found = unc.prediction_interval(*known, n_speakers=n_speakers, **how)
    factor = math.sqrt(1.0 + 30 / (n_speakers or 30))
    area = isinstance(statistic, unc.AUC)
    loss = 1.0 - plain.estimate if area else plain.estimate
    # All speakers have equally many trials: 29 degrees.
    half = stats.t(29).ppf(0.975) * plain.standard_error * factor / loss
    ends = [loss * math.exp(-half), min(loss * math.exp(half), 1.0 if area else math.inf)]
    ends = [1.0 - ends[1], 1.0 - ends[0]] if area else ends
    if isinstance(statistic, unc.EER):
        ends[1] = min(ends[1], 0.5)
    assert (found.low, found.high) == pytest.approx(tuple(ends), rel=1e-9)
    assert found.estimate == plain.estimate
    assert found.standard_error == pytest.approx(plain.standard_error * factor)


def test_prediction_of_very_many_speakers_is_the_confidence_interval(drawn, how):
    known = drawn[0].scores, drawn[0].key, unc.Cllr()
    plain, found = (
        unc.speaker_interval(*known, **how),
        unc.prediction_interval(*known, n_speakers=10**9, **how),
    )
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), rel=1e-6)
    assert found.upper(0.975) == found.high


@pytest.mark.parametrize("there", [2, 20, 37])
def test_other_speakers_may_err_where_none_did(there):
    """Of j speakers who err, all are among the others with a hypergeometric chance."""
    here = 20
    names, same = [f"s{i}" for i in range(here)], np.eye(here, dtype=bool)
    scores, key = Scores(np.where(same, 3.0, -3.0), names, names), Key(names, names, same, ~same)
    found = unc.prediction_interval(scores, key, unc.FNMR(0.0), n_speakers=there)
    most = max(
        j for j in range(there + 1) if stats.hypergeom(here + there, there, j).pmf(j) > 0.025
    )
    # No less than the confidence interval, of very many others.
    assert found.high == pytest.approx(max(most / there, 1 - 0.025 ** (1 / here)), rel=1e-12)
    assert found.upper(0.975) == found.high
    assert unc.prediction_interval(scores, key, unc.FNMR(0.0), n_speakers=10**9).high < found.high


def test_scores_that_are_all_alike_predict_no_point():
    names, same = [f"s{i}" for i in range(20)], np.eye(20, dtype=bool)
    scores, key = Scores(np.where(same, 3.0, -3.0), names, names), Key(names, names, same, ~same)
    found = unc.prediction_interval(scores, key, unc.Cllr(), n_speakers=2)
    # One of two others may be on the right side without any loss, or lose without limit.
    assert found.low == pytest.approx(found.estimate / 2, rel=1e-12)
    assert found.high == math.inf
    assert found.upper(0.9) == math.inf


@pytest.mark.parametrize("bad", [1, 2.5, math.nan, -3])
def test_prediction_refuses_no_number_of_speakers(drawn, how, bad):
    with pytest.raises(InvalidInputError, match="`n_speakers`"):
        unc.prediction_interval(drawn[0].scores, drawn[0].key, unc.EER(), n_speakers=bad, **how)


def _runs(drawn, *counts):
    scores = iter(one.scores for one in drawn)
    return {name: [next(scores) for _ in range(n)] for name, n in zip("ab", counts, strict=True)}


@pytest.mark.parametrize("statistic", [unc.Cllr(), unc.EER(), unc.AUC()])
def test_runs_by_hand(drawn, how, statistic):
    key, runs = drawn[0].key, _runs(drawn, 3, 2)
    found = unc.compare_runs(runs, key, statistic, **how)
    values = [
        np.array([unc.speaker_interval(s, key, statistic, **how).estimate for s in each])
        for each in runs.values()
    ]
    assert found.difference == pytest.approx(values[0].mean() - values[1].mean())
    for mine, its in zip(values, found.values, strict=True):
        assert its == pytest.approx(mine)
    # Differences of pairs of runs tell what speakers explain: sum of squares / R of all pairs.
    squares = sum(((v - v.mean()) ** 2).sum() for v in values)
    explained = sum(
        unc.speaker_z_test(*pair, key, statistic, **how).contrast.standard_error ** 2 / len(each)
        for each in runs.values()
        for pair in itertools.combinations(each, 2)
    )
    assert found.run_variance == pytest.approx((squares - explained) / 3, rel=1e-9)
    # An unbiased variance may be below 0, of which the test takes none.
    added = max(found.run_variance, 0.0) * (1 / 3 + 1 / 2)
    assert found.standard_error**2 == pytest.approx(found.speaker_variance + added)
    if added:
        total = found.standard_error**4
        degrees = total / (found.speaker_variance**2 / 29 + added**2 / 3)
        assert found.degrees == pytest.approx(degrees)
    p_value = 2 * stats.t(found.degrees).sf(abs(found.z))
    assert found.p_value == pytest.approx(max(p_value, found.least_p), rel=1e-9)


def test_three_runs_leave_one_degree(drawn, how):
    found = unc.compare_runs(_runs(drawn, 2, 1), drawn[0].key, unc.Cllr(), **how)
    pair = [unc.speaker_interval(d.scores, d.key, unc.Cllr(), **how).estimate for d in drawn[:2]]
    both = unc.speaker_z_test(drawn[0].scores, drawn[1].scores, drawn[0].key, unc.Cllr(), **how)
    # Squares about the mean of two are half of that of their difference.
    expected = 0.5 * ((pair[0] - pair[1]) ** 2 - both.contrast.standard_error**2)
    assert found.run_variance == pytest.approx(expected, rel=1e-9)


def test_runs_that_are_alike_are_one_run(drawn, how):
    a, b, key = drawn[0].scores, drawn[1].scores, drawn[0].key
    plain = unc.speaker_z_test(a, b, key, unc.Cllr(), **how)
    found = unc.compare_runs({"a": [a, a], "b": [b, b, b]}, key, unc.Cllr(), **how)
    assert found.run_variance == 0.0
    assert found.difference == pytest.approx(plain.difference)
    assert found.standard_error == pytest.approx(plain.standard_error)
    assert found.degrees == plain.degrees


def test_speakers_alike_leave_runs_only():
    # Each speaker has the same scores; runs shift all targets, so Cllr differs by the run only.
    names, same = [f"s{i}" for i in range(20)], np.eye(20, dtype=bool)
    key = Key(names, names, same, ~same)
    shifts = {"a": [0.0, 0.2, 0.4], "b": [1.0, 1.1, 1.5]}
    runs = {
        name: [Scores(np.where(same, 2.0 + x, -2.0), names, names) for x in each]
        for name, each in shifts.items()
    }
    found = unc.compare_runs(runs, key, unc.Cllr())
    t = stats.ttest_ind(found.values[0], found.values[1])
    assert found.z == pytest.approx(t.statistic)
    assert found.degrees == pytest.approx(4.0)
    assert found.p_value == pytest.approx(max(t.pvalue, found.least_p))


def test_a_run_apart_from_the_others_is_not_significant(drawn, how):
    # One lucky run of three: the runs say so.
    key, scores = drawn[0].key, drawn[0].scores
    lucky = attrs.evolve(scores, scoremat=scores.scoremat + 1.0 * key.tar)
    alone = unc.speaker_z_test(lucky, drawn[1].scores, key, unc.EER(), **how)
    assert alone.p_value < 0.01
    runs = {"a": [lucky, drawn[2].scores, drawn[3].scores], "b": [drawn[1].scores, drawn[4].scores]}
    assert unc.compare_runs(runs, key, unc.EER(), **how).p_value > 0.05


@pytest.mark.parametrize(
    ("counts", "message"), [((1, 1), "three runs or more"), ((5, 0), "be a list of runs")]
)
def test_too_few_runs(drawn, how, counts, message):
    with pytest.raises(InvalidInputError, match=message):
        unc.compare_runs(_runs(drawn, *counts), drawn[0].key, unc.EER(), **how)


def test_other_shapes_are_refused(drawn, how):
    one = drawn[0]
    for systems in ([one.scores], {"a": [one.scores] * 3}, {"a": one.scores, "b": one.scores}):
        with pytest.raises(InvalidInputError, match="`systems"):
            unc.compare_runs(systems, one.key, unc.EER(), **how)
    missing = attrs.evolve(one.scores, scoremask=np.zeros_like(one.scores.scoremask))
    with pytest.raises(TrialMismatchError):
        unc.compare_runs({"a": [one.scores] * 2, "b": [missing]}, one.key, unc.EER(), **how)
