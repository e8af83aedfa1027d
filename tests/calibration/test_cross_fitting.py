"""Tests of cross-fitting by speakers."""

import numpy as np
import pytest

from bosaris_py.calibration import LinearCalibration, PAVCalibration, cross_fit
from bosaris_py.errors import MissingTrialsWarning
from bosaris_py.fusion import LinearFusion, QualityFusion
from bosaris_py.metrics import cllr
from bosaris_py.trials import Conditions, Key, Scores, SegmentQuality
from tests.crossed_trials import CrossedExperiment

# Folds of few trials: some of those left out are far away.
pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")


def simulated(n_speakers=12, n_models=2, n_segments=3, seed=1):
    """Scores of speakers with models and segments, their key, and the two maps of speakers."""
    rng = np.random.default_rng(seed)
    of_models = np.repeat(np.arange(n_speakers), n_models)
    of_segments = np.repeat(np.arange(n_speakers), n_segments)
    tar = of_models[:, None] == of_segments
    models = [f"m{i}" for i in range(of_models.size)]
    segments = [f"s{i}" for i in range(of_segments.size)]
    scores = Scores(1.5 * tar + rng.normal(size=tar.shape), models, segments)
    speakers = (
        {m: f"p{p}" for m, p in zip(models, of_models, strict=True)},
        {s: f"p{p}" for s, p in zip(segments, of_segments, strict=True)},
    )
    return scores, Key(models, segments, tar, ~tar), speakers


def naive(model, scores, key, speakers, fold_of, **options):
    """Map trial by trial, training anew on all trials without the folds of its speakers."""
    folds = [
        np.array([fold_of[side[i]] for i in ids])
        for side, ids in zip(speakers, key.ids, strict=True)
    ]
    llrs = np.zeros(key.tar.shape)
    for p in set(fold_of.values()):
        for q in set(fold_of.values()):
            rows, cols = (~np.isin(side, (p, q)) for side in folds)
            train = np.outer(rows, cols)
            fitted = model.fit(scores.scoremat[train & key.tar], scores.scoremat[train & key.non],
                               **options)  # fmt: skip
            here = np.outer(folds[0] == p, folds[1] == q)
            llrs[here] = fitted.apply(scores.scoremat[here])
    return llrs


@pytest.mark.parametrize("model", [LinearCalibration, PAVCalibration])
@pytest.mark.parametrize("folds", [3, 5, "speaker"])
def test_llrs_are_those_of_maps_trained_without_the_folds_of_a_trial(model, folds):
    scores, key, speakers = simulated()
    fitted = cross_fit(model, scores, key, folds=folds, speakers=speakers, rng=3)
    expected = naive(model, scores, key, speakers, fitted.fold_of)
    np.testing.assert_allclose(fitted.scores.scoremat, expected, rtol=0, atol=1e-9)
    assert fitted.final == model.fit_scores(scores, key)


def test_options_reach_every_fit():
    scores, key, speakers = simulated()
    options = {"prior": 0.01, "objective": "brier", "ridge": 0.1}
    fitted = cross_fit(LinearCalibration, scores, key, speakers=speakers, rng=3, **options)
    expected = naive(LinearCalibration, scores, key, speakers, fitted.fold_of, **options)
    np.testing.assert_allclose(fitted.scores.scoremat, expected, rtol=0, atol=1e-7)
    assert {fold.ridge for fold in fitted.folds.values()} == {0.1}


def test_missing_trials_are_left_out_with_a_warning():
    scores, key, speakers = simulated()
    mask = np.ones(scores.shape, dtype=bool)
    mask[0, 5] = mask[3, 3] = False
    some = Scores(np.where(mask, scores.scoremat, 0), *scores.ids, mask)
    with pytest.warns(MissingTrialsWarning):
        fitted = cross_fit(LinearCalibration, some, key, speakers=speakers, rng=1, ridge=0)
    np.testing.assert_array_equal(fitted.scores.scoremask, mask)
    assert fitted.scores.scoremat[~mask].tolist() == [0.0, 0.0]


def test_weights_of_conditions_are_used():
    scores, key, speakers = simulated()
    odd = np.zeros(key.tar.shape, dtype=bool)
    odd[1::2] = True
    conditions = Conditions({"odd": odd, "even": ~odd}, weights={"odd": 0.9, "even": 0.1})
    fitted = cross_fit(
        LinearCalibration, scores, key, speakers=speakers, rng=1, conditions=conditions, ridge=0
    )
    assert fitted.final == LinearCalibration.fit_scores(scores, key, conditions=conditions, ridge=0)
    tar, non = conditions.trial_weights(key)
    same = cross_fit(
        LinearCalibration,
        scores,
        key,
        speakers=speakers,
        rng=1,
        tar_weights=tar,
        non_weights=non,
        ridge=0,
    )
    assert same.scores == fitted.scores


def test_fusions_are_cross_fitted():
    scores, key, speakers = simulated()
    other = Scores(scores.scoremat**3, *scores.ids)
    fitted = cross_fit(LinearFusion, [scores, other], key, speakers=speakers, rng=1, ridge=0)
    pair = next(iter(fitted.folds))
    rows, cols = (
        np.array([fitted.fold_of[side[i]] for i in ids])
        for side, ids in zip(speakers, key.ids, strict=True)
    )
    here = (rows[:, None] == pair[0]) & (cols == pair[1])
    both = [scores.scoremat[here], other.scoremat[here]]
    np.testing.assert_allclose(fitted.scores.scoremat[here], fitted.folds[pair].apply(both))


def test_quality_fusions_are_cross_fitted():
    scores, key, speakers = simulated(n_speakers=20)
    rng = np.random.default_rng(5)
    quality = SegmentQuality(key.segset, rng.normal(size=(1, key.segset.size)))
    fitted = cross_fit(
        QualityFusion, [scores], key, speakers=speakers, rng=1, folds=3, qualities=[quality],
        ridge=0.01,
    )  # fmt: skip
    assert isinstance(fitted.final, QualityFusion)
    assert np.isfinite(fitted.scores.scoremat).all()


@pytest.mark.slow
@pytest.mark.parametrize("n_speakers", [20, 40, 80])
def test_the_cllr_of_cross_fitted_trials_is_that_of_new_speakers(n_speakers):
    """Cross-fitted Cllr within a standard error of the truth; that of the training is lower."""
    cross, inside, truth = [], [], []
    experiment = CrossedExperiment(n_speakers=n_speakers)
    new = CrossedExperiment(n_speakers=80).draw(np.random.default_rng(99))
    for seed in range(40):
        data = experiment.draw(np.random.default_rng(seed))
        speakers = data.model_speakers, data.segment_speakers
        fitted = cross_fit(
            LinearCalibration, data.scores, data.key, speakers=speakers, rng=seed, ridge=0
        )
        cross.append(cllr(*fitted.scores.get_tar_non(data.key)))
        inside.append(cllr(*fitted.final.apply(data.scores).get_tar_non(data.key)))
        truth.append(cllr(*map(fitted.final.apply, new.trials())))
    error = np.std(cross, ddof=1)
    assert abs(np.mean(cross) - np.mean(truth)) < error
    assert np.mean(inside) < np.mean(cross)


SCORES, KEY, SPEAKERS = simulated()
