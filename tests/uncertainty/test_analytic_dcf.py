import copy
import itertools
import math

import attrs
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from bosaris_py.errors import FewErrorsWarning, InvalidInputError, MissingTrialsWarning
from bosaris_py.numerics import OperatingPoint
from bosaris_py.trials import IdMap, Key, Scores
from bosaris_py.uncertainty.analytic import (
    dcf_standard_error,
    dcf_standard_error_scores,
    speaker_errors,
)
from bosaris_py.uncertainty.decisions import wilson_interval
from bosaris_py.uncertainty.statistics.class_means import DCF, ActDCF
from bosaris_py.uncertainty.statistics.roc_functions import MinDCF
from tests.crossed_trials import CrossedExperiment
from tests.uncertainty.naive_speakers import speaker_covariance

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")


@attrs.frozen
class Cost:
    """The least that a statistic must tell."""

    threshold: float = 0.0
    p_target: float = 0.01
    c_miss: float = 10.0
    c_fa: float = 1.0
    normalize: bool = False


MISSES_ONLY = Cost(p_target=0.5, c_miss=2.0, c_fa=0.0)


def miss_rate_error(errors, method="iid", sets=None, weights=None):
    """The standard error of a miss rate, given which targets are missed."""
    tar = np.where(np.asarray(errors), -1.0, 1.0)
    non_sets = None if sets is None else [0, 1]
    return dcf_standard_error(
        tar,
        [-1.0, -1.0],
        MISSES_ONLY,
        method=method,
        tar_sets=sets,
        non_sets=non_sets,
        tar_weights=weights,
    )


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_iid_is_binomial(errors):
    p, n = np.mean(errors), len(errors)
    # Squares of residuals are summed where the formula multiplies.
    assert miss_rate_error(errors) ** 2 == pytest.approx(p * (1 - p) / n, rel=1e-12, abs=1e-16)
    assert miss_rate_error(errors, "upper-bound") == miss_rate_error(errors)


def test_equation_4_of_wu_without_covariance(rng):
    tar, non = rng.normal(2, 1, 500), rng.normal(-2, 1, 900)
    pmiss, pfa = np.mean(tar < 0.3), np.mean(non >= 0.3)
    a, b = 10 * 0.01, 1 * 0.99
    expected = math.sqrt(a**2 * pmiss * (1 - pmiss) / 500 + b**2 * pfa * (1 - pfa) / 900)
    assert dcf_standard_error(tar, non, Cost(0.3)) == pytest.approx(expected, rel=1e-12)
    normalized = dcf_standard_error(tar, non, Cost(0.3, normalize=True))
    assert normalized == pytest.approx(expected / a, rel=1e-12)


def test_operating_point_stands_for_its_bayes_threshold(rng):
    tar, non = rng.normal(2, 2, 300), rng.normal(-2, 2, 300)
    point = OperatingPoint(0.2, 3, 1)
    same = Cost(point.threshold, 0.2, 3, 1)
    assert dcf_standard_error(tar, non, point) == dcf_standard_error(tar, non, same)


def test_actual_dcf_stands_for_its_operating_point(rng):
    tar, non = rng.normal(2, 2, 300), rng.normal(-2, 2, 300)
    for prior in (0.2, OperatingPoint(0.2, 3, 1)):
        point = prior if isinstance(prior, OperatingPoint) else OperatingPoint(prior)
        plain = dcf_standard_error(tar, non, point)
        assert dcf_standard_error(tar, non, ActDCF(prior)) == plain
        normalized = dcf_standard_error(tar, non, ActDCF(prior, normalize=True))
        least = min(point.miss_cost, point.fa_cost)
        assert normalized == pytest.approx(plain / least, rel=1e-14)
    assert dcf_standard_error(tar, non, DCF(0.5, 0.01, 10, 1)) == dcf_standard_error(
        tar, non, Cost(0.5)
    )


def test_iid_is_the_variance_of_all_resamples():
    errors = np.array([1, 0, 0, 1])
    rates = [np.mean(draw) for draw in itertools.product(errors, repeat=4)]
    assert miss_rate_error(errors == 1) ** 2 == pytest.approx(np.var(rates), rel=1e-13)


EQUAL_SETS = [[1, 0], [1, 1], [0, 0]]


def test_one_layer_is_the_variance_of_all_draws_of_equal_sets():
    rates = [np.mean(draw) for draw in itertools.product(EQUAL_SETS, repeat=3)]
    error = miss_rate_error(np.ravel(EQUAL_SETS) == 1, "one-layer", np.repeat(["a", "b", "c"], 2))
    assert error**2 == pytest.approx(np.var(rates), rel=1e-13)


def test_two_layer_is_the_variance_of_all_draws_of_equal_sets():
    # 27 draws of three sets, and for each 4^3 draws of two trials from each of them.
    rates = [
        np.mean(trials)
        for draw in itertools.product(EQUAL_SETS, repeat=3)
        for trials in itertools.product(*[list(itertools.product(s, repeat=2)) for s in draw])
    ]
    error = miss_rate_error(np.ravel(EQUAL_SETS) == 1, "two-layer", np.repeat([7, 8, 9], 2))
    assert error**2 == pytest.approx(np.var(rates), rel=1e-13)


def replicate_sets(errors, sizes, replications, rng, *, two_layer):
    """Plain bootstrap of a rate over sets: error counts and sizes of drawn sets."""
    drawn = rng.integers(0, sizes.size, (replications, sizes.size))
    wrong = rng.binomial(sizes[drawn], (errors / sizes)[drawn]) if two_layer else errors[drawn]
    return wrong.sum(axis=1) / sizes[drawn].sum(axis=1)


@pytest.mark.parametrize("method", ["one-layer", "two-layer"])
def test_unequal_sets_agree_to_first_order(method, rng):
    sizes = rng.integers(1, 60, 150)
    errors = rng.binomial(sizes, rng.beta(2, 8, 150))
    trials = np.concatenate([np.arange(n) < k for n, k in zip(sizes, errors, strict=True)])
    error = miss_rate_error(trials, method, np.repeat(np.arange(150), sizes))
    rates = replicate_sets(errors, sizes, 20_000, rng, two_layer=method == "two-layer")
    # 0.5 % from 20,000 replications, three times; 1/150 from linearisation.
    assert error == pytest.approx(np.std(rates), rel=0.02)


@pytest.mark.slow
def test_bootstraps_of_wu_with_set_effects(rng):
    """132 target sets of 96 and 130 non-target sets of 244, with rates that vary by set."""
    cost = Cost()
    layout = {"tar": (132, 96, rng.beta(2, 18, 132)), "non": (130, 244, rng.beta(1, 40, 130))}
    scores, labels, counts = {}, {}, {}
    for name, (n_sets, size, rates) in layout.items():
        errors = rng.binomial(size, rates)
        wrong = np.concatenate([np.arange(size) < k for k in errors])
        scores[name] = np.where(wrong == (name == "tar"), -1.0, 1.0)
        labels[name], counts[name] = np.repeat(np.arange(n_sets), size), errors
    closed = {
        method: dcf_standard_error(
            scores["tar"],
            scores["non"],
            cost,
            method=method,
            **({} if method == "iid" else {"tar_sets": labels["tar"], "non_sets": labels["non"]}),
        )
        for method in ("iid", "one-layer", "two-layer")
    }
    assert closed["iid"] < closed["one-layer"] < closed["two-layer"]
    for method, error in closed.items():
        replicates = 0.0
        for name, price in (("tar", 0.1), ("non", 0.99)):
            n_sets, size, _ = layout[name]
            if method == "iid":
                total = n_sets * size
                rates = rng.binomial(total, counts[name].sum() / total, 20_000) / total
            else:
                rates = replicate_sets(
                    counts[name],
                    np.full(n_sets, size),
                    20_000,
                    rng,
                    two_layer=method == "two-layer",
                )
            replicates = replicates + price * rates
        # Sets are of equal size, so the only error is that of 20,000 replications, 0.5 %.
        assert error == pytest.approx(np.std(replicates), rel=0.02)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=2, max_size=40))
def test_laws_of_the_set_methods(trials):
    errors, sets = (list(column) for column in zip(*trials, strict=True))
    if len(set(sets)) < 2:
        return
    one, two = (miss_rate_error(errors, m, sets) for m in ("one-layer", "two-layer"))
    assert 0 <= one <= two * (1 + 1e-12)
    # Each trial its own set: nothing but single trials.
    alone = list(range(len(errors)))
    iid = miss_rate_error(errors)
    for method in ("one-layer", "two-layer"):
        assert miss_rate_error(errors, method, alone) == pytest.approx(iid, rel=1e-12, abs=1e-15)
    # Names of sets do not matter.
    assert miss_rate_error(errors, "two-layer", [f"set {s}" for s in sets]) == two


@pytest.mark.slow
def test_weights(rng):
    errors, sets = rng.random(400) < 0.2, rng.integers(0, 25, 400)
    weights = rng.random(400) + 0.1
    for method, labels in (("iid", None), ("one-layer", sets), ("two-layer", sets)):
        error = miss_rate_error(errors, method, labels, weights)
        scaled = miss_rate_error(errors, method, labels, 8 * weights)
        assert scaled == pytest.approx(error, rel=1e-12)
        equal = miss_rate_error(errors, method, labels, np.full(400, 3.0))
        assert equal == pytest.approx(miss_rate_error(errors, method, labels), rel=1e-12)
    picks = rng.multinomial(400, np.full(400, 1 / 400), 20_000)
    rates = picks @ (weights * errors) / (picks @ weights)
    # First order in 1/400, and 0.5 % from 20,000 replications, three times.
    assert miss_rate_error(errors, weights=weights) == pytest.approx(np.std(rates), rel=0.02)


# ---------------------------------------------------------------------- speakers


def naive_covariance(trials):
    """Covariance of pmiss and pfa, trial by trial.

    `trials` lists (is_target, error, set of speakers).
    """
    size = {c: sum(t[0] == c for t in trials) for c in (True, False)}
    rate = {c: sum(t[1] for t in trials if t[0] == c) / size[c] for c in (True, False)}
    parts = [((e - rate[c]) / size[c], 1.0 / size[c], c, s) for c, e, s in trials]
    return speaker_covariance(parts)


def sparse_trials(rng, n_speakers=8):
    """A sparse trial list: some speakers have models only, some segments only."""
    model_speaker = np.repeat(np.arange(n_speakers - 1), 2)
    segment_speaker = np.concatenate((np.arange(1, n_speakers), rng.integers(1, n_speakers, 12)))
    models = [f"m{i}" for i in range(model_speaker.size)]
    segments = [f"s{i}" for i in range(segment_speaker.size)]
    same = model_speaker[:, np.newaxis] == segment_speaker
    used = rng.random(same.shape) < 0.7
    key = Key(models, segments, same & used, ~same & used)
    # Speaker effects, so that the variance estimate is safely positive.
    effect = rng.normal(0, 1, n_speakers)
    scores = np.where(same, 0.5, -0.5) + effect[model_speaker][:, np.newaxis]
    scores = scores + effect[segment_speaker] + 0.5 * rng.normal(size=same.shape)
    names = np.array([f"spk{i}" for i in range(n_speakers)])
    maps = IdMap(models, names[model_speaker]), IdMap(segments, names[segment_speaker])
    return Scores(scores, models, segments), key, *maps


def list_trials(scores, key, model_map, segment_map, threshold):
    speakers = (
        model_map.map_left_to_right(key.modelset),
        segment_map.map_left_to_right(key.segset),
    )
    trials = []
    for i, j in itertools.product(range(key.modelset.size), range(key.segset.size)):
        if key.tar[i, j] or key.non[i, j]:
            accepted = scores.scoremat[i, j] >= threshold
            is_target = bool(key.tar[i, j])
            pair = {speakers[0][i], speakers[1][j]}
            trials.append((is_target, accepted != is_target, pair))
    return trials


@pytest.mark.parametrize("seed", range(6))
def test_speaker_errors_against_all_pairs_of_trials(seed):
    rng = np.random.default_rng(seed)
    scores, key, models, segments = sparse_trials(rng)
    errors = speaker_errors(scores, key, 0.1, speakers=(models, segments))
    trials = list_trials(scores, key, models, segments, 0.1)
    expected = naive_covariance(trials)
    assert errors.method == "speaker pairs"
    np.testing.assert_allclose(errors.covariance, expected, rtol=1e-11, atol=1e-16)
    spreads = errors.pmiss_standard_error, errors.pfa_standard_error
    np.testing.assert_allclose(spreads, np.sqrt(np.diag(expected)), rtol=1e-11)
    assert errors.n_speakers == 8
    assert errors.pmiss == np.mean([t[1] for t in trials if t[0]])
    assert errors.pfa == np.mean([t[1] for t in trials if not t[0]])
    a, b = 0.1, 0.99
    total = a**2 * expected[0, 0] + b**2 * expected[1, 1] + 2 * a * b * expected[0, 1]
    assert errors.dcf_standard_error(Cost()) == pytest.approx(math.sqrt(total), rel=1e-11)


def test_order_of_models_and_segments_does_not_matter(rng):
    scores, key, models, segments = sparse_trials(rng)
    rows, cols = rng.permutation(key.modelset.size), rng.permutation(key.segset.size)
    shuffled = Key(
        key.modelset[rows],
        key.segset[cols],
        key.tar[np.ix_(rows, cols)],
        key.non[np.ix_(rows, cols)],
    )
    kwargs = {"speakers": (models, segments)}
    one, other = (speaker_errors(scores, k, 0.0, **kwargs) for k in (key, shuffled))
    # Sums over speakers in the same order, of sums over trials in another.
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-12)


def test_segments_take_the_speaker_of_their_targets(rng):
    data = CrossedExperiment(n_speakers=10).draw(rng)
    given_both = speaker_errors(
        data.scores, data.key, 0.0, speakers=(data.model_speakers, data.segment_speakers)
    )
    given_one = speaker_errors(data.scores, data.key, 0.0, speakers=(data.model_speakers, None))
    assert np.array_equal(given_both.covariance, given_one.covariance)
    assert given_both.n_speakers == 10


def test_unknown_speakers(rng):
    scores, key, models, segments = sparse_trials(rng)
    partial = segments.filter_on_left(["s3", "s4"], keep=False)
    kwargs = {"speakers": (models, partial)}
    with pytest.raises(InvalidInputError, match=r"`speakers` .* none for 2 \(s3, s4\)"):
        speaker_errors(scores, key, 0.0, **kwargs)
    free = Key(key.modelset, key.segset, np.zeros_like(key.tar), key.non)
    tar = key.tar.copy()
    tar[:, 3:5] = False
    key = Key(key.modelset, key.segset, tar, free.non)
    with pytest.warns(MissingTrialsWarning, match="The speakers of 2 segments are not known"):
        errors = speaker_errors(scores, key, 0.0, unknown="own", **kwargs)
    assert errors.n_speakers == 10


def test_unknown_speakers_without_trials_are_no_trouble(rng):
    scores, key, models, segments = sparse_trials(rng)
    tar, non = key.tar.copy(), key.non.copy()
    tar[:, 3] = non[:, 3] = False
    without = Key(key.modelset, key.segset, tar, non)
    partial = segments.filter_on_left(["s3"], keep=False)
    errors = speaker_errors(scores, without, 0.0, speakers=(models, partial))
    full = speaker_errors(scores, without, 0.0, speakers=(models, segments))
    np.testing.assert_allclose(errors.covariance, full.covariance, rtol=1e-14)


def test_missing_scores_are_left_out_with_a_warning(rng):
    scores, key, models, segments = sparse_trials(rng)
    mask = np.ones(scores.scoremat.shape, dtype=bool)
    row, col = np.argwhere(key.non)[0]
    mask[row, col] = False
    kwargs = {"speakers": (models, segments)}
    with pytest.warns(MissingTrialsWarning, match="non-targets missing"):
        errors = speaker_errors(
            Scores(scores.scoremat, scores.modelset, scores.segset, mask), key, 0.0, **kwargs
        )
    non = key.non.copy()
    non[row, col] = False
    smaller = Key(key.modelset, key.segset, key.tar, non)
    expected = speaker_errors(scores, smaller, 0.0, **kwargs)
    assert np.array_equal(errors.covariance, expected.covariance)


IDS = (list("abcd"), list("wxyz"))


def test_a_variance_is_never_negative():
    # Speakers meet in a ring, with an error at every other meeting: each speaker has as many as
    # expected, and subtracting the overlap of pairs leaves less than nothing.
    non = np.roll(np.eye(4, dtype=bool), 1, axis=1)
    key = Key(list("abcd"), list("wxyz"), np.eye(4, dtype=bool), non)
    accepted = np.eye(4, dtype=bool) | (non & (np.arange(4) % 2 == 0))
    errors = speaker_errors(Scores(np.where(accepted, 1.0, -1.0), *IDS), key, 0.0)
    # Independent pairs are the least: four meetings, residuals +-1/2 of four trials each, of which
    # the jackknife leaves two, and c = 3/4.
    assert errors.covariance[1, 1] == pytest.approx(0.75 * 4 * (0.5 / 4 * 2) ** 2, rel=1e-12)
    assert (np.linalg.eigvalsh(errors.covariance) >= -1e-16).all()


def test_effective_numbers_reproduce_the_variance(rng):
    data = CrossedExperiment(n_speakers=20).draw(rng)
    errors = speaker_errors(data.scores, data.key, 0.0, speakers=(data.model_speakers, None))
    assert errors.effective_n_non < errors.n_non / 5
    interval = wilson_interval(
        errors.false_alarms, errors.n_non, effective_trials=errors.effective_n_non
    )
    assert interval.standard_error == pytest.approx(errors.pfa_standard_error, rel=1e-12)
    for effective, p, variance in zip(
        (errors.effective_n_tar, errors.effective_n_non),
        (errors.pmiss, errors.pfa),
        np.diag(errors.covariance),
        strict=True,
    ):
        assert effective == pytest.approx(p * (1 - p) / variance, rel=1e-12)
    normal = errors.dcf_interval(Cost(), confidence=0.9)
    assert normal.low > 0
    assert normal.estimate == pytest.approx(0.1 * errors.pmiss + 0.99 * errors.pfa, rel=1e-14)
    assert normal.standard_error == pytest.approx(errors.dcf_standard_error(Cost()), rel=1e-12)


def test_scores_at_the_threshold_are_accepted():
    """One of three non-targets is accepted for its tie, one of two targets rejected."""
    names = ["a", "b", "c", "d", "e"]
    tar = np.array([[True, True, False, False, False]])
    key = Key(["m"], names, tar, ~tar)
    scores = Scores([[0.0, -1.0, 0.0, -1.0, -2.0]], ["m"], names)
    error = dcf_standard_error_scores(scores, key, Cost(), method="iid")
    # 0.1 times the miss rate and 0.99 times the false-alarm rate.
    assert error**2 == pytest.approx(0.01 / 4 / 2 + 0.99**2 * 2 / 9 / 3, rel=1e-12)
    split = [0.0, -1.0], [0.0, -1.0, -2.0]
    assert dcf_standard_error(*split, Cost()) == pytest.approx(error, rel=1e-15)


def test_design_effect_without_errors():
    """Nothing varies: the speakers have no effect."""
    names = ["a", "b", "c"]
    tar = np.eye(3, dtype=bool)
    key = Key(names, names, tar, ~tar)
    scores = Scores(np.where(tar, 5.0, -5.0), names, names)
    with pytest.warns(FewErrorsWarning) as caught:
        errors = speaker_errors(scores, key, 0.0)
    messages = [str(each.message) for each in caught]
    for what in ("miss rate", "false-alarm rate"):
        assert sum(message.startswith(f"The {what} rests on 0 errors") for message in messages) == 1
    assert (errors.pmiss, errors.pfa) == (0, 0)


def test_planning_from_a_pilot_experiment(rng):
    data = CrossedExperiment(n_speakers=20).draw(rng)
    errors = speaker_errors(data.scores, data.key, 0.0, speakers=(data.model_speakers, None))
    cost = Cost()
    error = errors.dcf_standard_error(cost)
    # Four times the speakers for half the error, up to rounding upwards; nu s^2 over quantiles of
    # chi-square of nu degrees, from the shares of speakers in the variance.
    pilot = errors.influence.priced(0.1, 0.99, errors.dcf(cost))
    shares = (pilot.influences[0] + pilot.influences[1]) ** 2
    nu = shares.sum() ** 2 / (shares**2).sum() - 1
    assert 2 < nu < 19
    for needed, times in (
        (errors.speakers_needed(cost, error / 2), 80),
        (errors.speakers_needed(cost, 2 * error), 5),
    ):
        assert needed.estimate in (times, times + 1)
        assert needed == math.ceil(times * nu / stats.chi2.ppf(0.05, nu))
        assert needed.low == math.ceil(times * nu / stats.chi2.ppf(0.95, nu))
    assert copy.copy(needed).low == needed.low
    with pytest.raises(InvalidInputError, match=r"`standard_error` must be positive"):
        errors.speakers_needed(cost, 0)


def test_the_error_shrinks_with_the_root_of_the_number_of_speakers():
    rng = np.random.default_rng(3)
    errors = {}
    for n_speakers in (20, 80):
        variances = []
        for _ in range(40):
            data = CrossedExperiment(n_speakers=n_speakers).draw(rng)
            result = speaker_errors(
                data.scores, data.key, 0.0, speakers=(data.model_speakers, None)
            )
            variances.append(result.dcf_standard_error(Cost()) ** 2)
        errors[n_speakers] = np.sqrt(np.mean(variances))
    # A mean of 40 variances that scatter by 50 % each: 4 % in the error, three times.
    assert errors[20] / errors[80] == pytest.approx(2.0, rel=0.12)


def test_methods_of_the_score_matrix(rng):
    data = CrossedExperiment(n_speakers=12).draw(rng)
    maps = {"speakers": (data.model_speakers, data.segment_speakers)}
    tar, non = data.trials()
    tar_sets, non_sets = data.model_sets()
    cost = Cost()
    for method in ("iid", "upper-bound"):
        error = dcf_standard_error_scores(data.scores, data.key, cost, method=method, **maps)
        assert error == dcf_standard_error(tar, non, cost, method=method)
    for method in ("one-layer", "two-layer"):
        error = dcf_standard_error_scores(data.scores, data.key, cost, method=method, **maps)
        expected = dcf_standard_error(
            tar, non, cost, method=method, tar_sets=tar_sets, non_sets=non_sets
        )
        assert error == pytest.approx(expected, rel=1e-13)
    error = dcf_standard_error_scores(data.scores, data.key, cost, **maps)
    assert error == speaker_errors(data.scores, data.key, 0.0, **maps).dcf_standard_error(cost)


@pytest.mark.slow
def test_coverage_on_crossed_trials():
    """Only when both sides of a trial are taken into account do intervals cover the truth."""
    experiment, cost = CrossedExperiment(), Cost(0.0, 0.05, 1, 1, normalize=True)
    pmiss, pfa = experiment.error_rates(0.0)
    truth = pmiss + 0.95 / 0.05 * pfa
    rng = np.random.default_rng(1)
    covered = {"speaker": 0, "iid": 0}
    n_sets = 200
    for _ in range(n_sets):
        data = experiment.draw(rng)
        errors = speaker_errors(data.scores, data.key, 0.0, speakers=(data.model_speakers, None))
        estimate = errors.dcf(cost)
        iid = dcf_standard_error(*data.trials(), cost)
        for method, error in (("speaker", errors.dcf_standard_error(cost)), ("iid", iid)):
            covered[method] += abs(estimate - truth) < 1.96 * error
    # 300 sets gave 94 % and 28 %; two standard deviations of 200 sets are 3 and 6 %.
    assert 0.89 < covered["speaker"] / n_sets < 0.98
    assert covered["iid"] / n_sets < 0.4


def test_simulated_error_rates_are_as_announced(rng):
    experiment = CrossedExperiment(n_speakers=400, n_models=1, n_segments=1)
    pmiss, pfa = experiment.error_rates(-1.0)
    data = experiment.draw(rng)
    errors = speaker_errors(data.scores, data.key, -1.0)
    # Four standard errors.
    assert abs(errors.pmiss - pmiss) < 4 * math.sqrt(pmiss / 400)
    assert abs(errors.pfa - pfa) < 4 * errors.pfa_standard_error


@pytest.mark.filterwarnings("default")
def test_few_errors_are_pointed_out():
    with pytest.warns(FewErrorsWarning, match="rests on 0 errors"):
        assert dcf_standard_error([1.0], [-1.0], Cost()) == 0


TWO = ([1.0, -1.0], [1.0, -1.0])
AMBIGUOUS = Key(["a", "b", "c"], ["x"], [[True], [True], [False]], [[False], [False], [True]])
ONE_TARGET = Key(["a", "b"], ["x", "y"], [[True, False], [False] * 2], [[False, True], [True] * 2])
NO_TARGETS = Key(["a", "b"], ["x", "y"], np.zeros((2, 2), bool), np.ones((2, 2), bool))
SAME = Key(["a", "b"], ["x", "y"], [[True, True], [False, False]], [[False, False], [True, True]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dcf_standard_error([], [1.0], Cost()), "`tar` must hold"),
        (lambda: dcf_standard_error([math.nan], [1.0], Cost()), "`tar` .* not hold NaN"),
        (lambda: dcf_standard_error(*TWO, Cost(math.nan)), "`statistic.threshold` .* got NaN"),
        (lambda: dcf_standard_error(*TWO, 0.5), "`statistic` must have a threshold"),
        (lambda: dcf_standard_error(*TWO, MinDCF(0.5)), "`statistic` must have a threshold"),
        (lambda: dcf_standard_error(*TWO, ActDCF([0.1, 0.5])), "be of one operating point; got 2"),
        (lambda: dcf_standard_error(*TWO, Cost(), method="speaker"), '"upper-bound", "iid"'),
        (lambda: dcf_standard_error(*TWO, Cost(), method="one-layer"), "`tar_sets` .* got None"),
        (lambda: dcf_standard_error(*TWO, Cost(), tar_sets=[1, 2]), "`tar_sets` must be left out"),
        (
            lambda: dcf_standard_error(
                *TWO, Cost(), method="two-layer", tar_sets=[1], non_sets=[1, 2]
            ),
            "`tar_sets` .* one label for each of the 2",
        ),
        (
            lambda: dcf_standard_error(
                *TWO, Cost(), method="two-layer", tar_sets=[1, 2], non_sets=[2, 2]
            ),
            "`non_sets` .* at least 2 sets",
        ),
        (
            lambda: speaker_errors(Scores(np.ones((3, 1)), ["a", "b", "c"], ["x"]), AMBIGUOUS, 0.0),
            r"got 1 target trials of two speakers, for instance model a \(a\) and segment x \(b\)",
        ),
        (
            lambda: speaker_errors(Scores(np.eye(2), ["a", "b"], ["x", "y"]), ONE_TARGET, 0.0),
            r"`speakers` .* none, and 1 are a target of no model \(y\)",
        ),
        (
            lambda: speaker_errors(
                Scores(np.eye(2), ["a", "b"], ["x", "y"]),
                NO_TARGETS,
                0.0,
                speakers=(None, IdMap(["x", "y"], ["p", "q"])),
            ),
            "must have targets with scores; got none",
        ),
        (lambda: speaker_errors(np.eye(2), SAME, 0.0), "`scores` must be Scores"),
        (
            lambda: dcf_standard_error_scores(
                Scores(np.eye(2), ["a", "b"], ["x", "y"]), SAME, Cost(), method="speakers"
            ),
            '`method` must be one of "speaker", "upper-bound", "iid"',
        ),
        (
            lambda: speaker_errors(
                Scores(np.eye(2), ["a", "b"], ["x", "y"]), SAME, 0.0, speakers=(["b", "b"], None)
            ),
            "`speakers` must be an IdMap, a dict, a function of the id or a column",
        ),
        (
            lambda: speaker_errors(
                Scores(np.eye(2), ["a", "b"], ["x", "y"]),
                SAME,
                0.0,
                speakers=(IdMap(["a", "b"], ["p", "p"]), None),
            ),
            "two speakers in each non-target trial; got 2 with the same speaker",
        ),
        (
            lambda: speaker_errors(
                Scores(np.eye(2), ["a", "b"], ["x", "y"]),
                SAME,
                0.0,
                speakers=(None, IdMap(["x", "y"], ["p", "q"])),
            ),
            r"one speaker in each target trial; got 2 .* model a \(a\) and segment x \(p\)",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()
