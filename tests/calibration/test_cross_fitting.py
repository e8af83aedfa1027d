"""Tests of cross-fitting by speakers."""

import numpy as np
import pytest

from bosaris_py.calibration import LinearCalibration, PAVCalibration, cross_fit
from bosaris_py.errors import InvalidInputError, MissingTrialsWarning
from bosaris_py.fusion import LinearFusion, QualityFusion
from bosaris_py.metrics import cllr
from bosaris_py.trials import Conditions, Key, Scores, SegmentQuality
from tests.crossed_trials import CrossedExperiment

# Folds of few trials: some of those left out are far away.
pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")


def simulated(n_speakers=12, n_models=2, n_segments=3, seed=1):
    """Scores of speakers with models and segments, their key, and the two maps of speakers."""
    rng = np.random.default_rng(seed)
    persons = [np.repeat(np.arange(n_speakers), each) for each in (n_models, n_segments)]
    tar = persons[0][:, None] == persons[1]
    sides = zip("ms", persons, strict=True)
    ids = [[f"{name}{i}" for i in range(side.size)] for name, side in sides]
    scores = Scores(1.5 * tar + rng.normal(size=tar.shape), *ids)
    speakers = tuple(
        {name: f"p{person}" for name, person in zip(*each, strict=True)}
        for each in zip(ids, persons, strict=True)
    )
    return scores, Key(*ids, tar, ~tar), speakers


SCORES, KEY, SPEAKERS = simulated()


def crossed(model, scores=SCORES, key=KEY, **options):
    return cross_fit(model, scores, key, **{"speakers": SPEAKERS, "rng": 3, **options})


def folds_of_sides(fold_of):
    """Return the folds of the models and of the segments."""
    sides = zip(SPEAKERS, KEY.ids, strict=True)
    return [np.array([fold_of[side[i]] for i in ids]) for side, ids in sides]


def naive(model, fold_of, **options):
    """Map trial by trial, training anew on all trials without the folds of its speakers."""
    folds, values = folds_of_sides(fold_of), SCORES.scoremat
    llrs = np.zeros(KEY.shape)
    for p in set(fold_of.values()):
        for q in set(fold_of.values()):
            train = np.outer(*(~np.isin(side, (p, q)) for side in folds))
            fitted = model.fit(values[train & KEY.tar], values[train & KEY.non], **options)
            here = np.outer(folds[0] == p, folds[1] == q)
            llrs[here] = fitted.apply(values[here])
    return llrs


OPTIONS = {"prior": 0.01, "objective": "brier", "ridge": 0.1}


HOW = [(LinearCalibration, 3, {}), (LinearCalibration, "speaker", {}), (PAVCalibration, 5, {})]
HOW += [(PAVCalibration, "speaker", {}), (LinearCalibration, 5, OPTIONS)]


@pytest.mark.parametrize(("model", "folds", "options"), HOW)
def test_llrs_are_those_of_maps_trained_without_the_folds_of_a_trial(model, folds, options):
    fitted = crossed(model, folds=folds, **options)
    expected = naive(model, fitted.fold_of, **options)
    np.testing.assert_allclose(fitted.scores.scoremat, expected, rtol=0, atol=1e-7)
    assert fitted.final == model.fit_scores(SCORES, KEY, **options)


def test_missing_trials_are_left_out_with_a_warning():
    mask = np.ones(SCORES.shape, dtype=bool)
    mask[0, 5] = mask[3, 3] = False
    some = Scores(np.where(mask, SCORES.scoremat, 0), *SCORES.ids, mask)
    weights = 1.0 + np.arange(KEY.n_non - 1), 1.0 + np.arange(KEY.n_tar - 1)
    with pytest.warns(MissingTrialsWarning):
        fitted = crossed(LinearCalibration, some, non_weights=weights[0], tar_weights=weights[1])
    np.testing.assert_array_equal(fitted.scores.scoremask, mask)
    assert fitted.scores.scoremat[~mask].tolist() == [0.0, 0.0]


def test_weights_of_conditions_are_used():
    odd = np.zeros(KEY.shape, dtype=bool)
    odd[1::2] = True
    conditions = Conditions({"odd": odd, "even": ~odd}, weights={"odd": 0.9, "even": 0.1})
    fitted = crossed(LinearCalibration, conditions=conditions)
    assert fitted.final == LinearCalibration.fit_scores(SCORES, KEY, conditions=conditions)
    tar, non = conditions.trial_weights(KEY)
    same = crossed(LinearCalibration, tar_weights=tar, non_weights=non)
    assert same.scores == fitted.scores != crossed(LinearCalibration).scores
    # Without a seed the folds are those of 0, as of the command.
    one, other = (cross_fit(LinearCalibration, SCORES, KEY, speakers=SPEAKERS) for _ in "ab")
    assert one.scores == other.scores == crossed(LinearCalibration, rng=0).scores


def test_fusions_are_cross_fitted():
    other = Scores(SCORES.scoremat**3, *SCORES.ids)
    fitted = crossed(LinearFusion, [SCORES, other])
    pair = next(iter(fitted.folds))
    rows, cols = folds_of_sides(fitted.fold_of)
    here = (rows[:, None] == pair[0]) & (cols == pair[1])
    both = [SCORES.scoremat[here], other.scoremat[here]]
    np.testing.assert_allclose(fitted.scores.scoremat[here], fitted.folds[pair].apply(both))
    scores, key, speakers = simulated(n_speakers=20)
    measures = np.random.default_rng(5).normal(size=(1, key.segset.size))
    options = {"qualities": [SegmentQuality(key.segset, measures)], "ridge": 0.01}
    fitted = crossed(QualityFusion, [scores], key, speakers=speakers, folds=3, **options)
    assert isinstance(fitted.final, QualityFusion)
    assert np.isfinite(fitted.scores.scoremat).all()


@pytest.mark.parametrize("folds", [2, 13, 3.5, True, "speakers", None])
def test_folds_that_cannot_be(folds):
    with pytest.raises(InvalidInputError):
        crossed(LinearCalibration, folds=folds)


@pytest.mark.slow
@pytest.mark.parametrize("n_speakers", [20, 40, 80])
def test_the_cllr_of_cross_fitted_trials_is_that_of_new_speakers(n_speakers):
    """Cross-fitted Cllr within a standard error of the truth; that of the training is lower."""
    figures = []
    experiment = CrossedExperiment(n_speakers=n_speakers)
    new = CrossedExperiment(n_speakers=80).draw_systems(np.random.default_rng(99))[0]
    for seed in range(40):
        data = experiment.draw_systems(np.random.default_rng(seed))[0]
        who = {"speakers": (data.model_speakers, data.segment_speakers), "rng": seed}
        fitted = crossed(LinearCalibration, data.scores, data.key, ridge=0, **who)
        inside = fitted.final.apply(data.scores)
        cross = [cllr(*each.get_tar_non(data.key)) for each in (fitted.scores, inside)]
        figures.append([*cross, cllr(*map(fitted.final.apply, new.scores.get_tar_non(new.key)))])
    cross, inside, truth = np.transpose(figures)
    assert abs(cross.mean() - truth.mean()) < cross.std(ddof=1)
    assert inside.mean() < cross.mean()
