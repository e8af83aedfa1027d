"""Tests of cross-fitting by speakers."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bosaris_py import Results, evaluate
from bosaris_py.calibration import GaussianCalibration, LinearCalibration, PAVCalibration, cross_fit
from bosaris_py.errors import (
    ConvergenceWarning,
    InvalidInputError,
    MissingTrialsWarning,
    SeparableDataWarning,
    SuspectScoresWarning,
)
from bosaris_py.fusion import LinearFusion, QualityFusion
from bosaris_py.metrics import cllr
from bosaris_py.trials import Conditions, Key, Scores, SegmentQuality
from tests.crossed_trials import CrossedExperiment
from tests.forms import as_list, described

# Folds of few trials: some of those left out are far away.
pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.ExtrapolationWarning")


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


class Recorder:
    """A model that keeps the scores it was trained on."""

    def __init__(self, *classes):
        self.seen = set(np.concatenate(classes).tolist())

    @classmethod
    def fit(cls, tar, non):
        return cls(tar, non)

    @classmethod
    def fit_scores(cls, scores, key):
        return cls(*scores.get_tar_non(key))

    def apply(self, x):
        return np.zeros(len(x))


@settings(max_examples=2 * settings.default.max_examples)
@given(st.data())
def test_no_fold_shares_a_speaker(data):
    """Each trial's number is its score, so that a map tells which trials it has seen."""
    n = data.draw(st.integers(9, 12), label="speakers")
    owners = [
        np.r_[np.arange(n), data.draw(st.lists(st.integers(0, n - 1), max_size=6))].astype(int)
        for _ in range(2)
    ]
    names = [
        [f"{side}{i}" for i in range(own.size)] for side, own in zip("ms", owners, strict=True)
    ]
    tar = np.equal.outer(*owners)
    mask = np.ones(tar.shape, dtype=bool)
    for cell in data.draw(st.lists(st.integers(0, tar.size - 1), max_size=5), label="left out"):
        mask.flat[cell] = tar.flat[cell]
    key = Key(*names, tar, ~tar & mask)
    number = np.arange(tar.size, dtype=float).reshape(tar.shape)
    speakers = tuple(
        {i: f"p{p}" for i, p in zip(*side, strict=True)} for side in zip(names, owners, strict=True)
    )
    folds = data.draw(st.sampled_from([3, 4, 5, "speaker"]), label="folds")
    form = data.draw(st.sampled_from([lambda k: k, as_list]), label="form")
    fitted = cross_fit(
        Recorder, Scores(number, *names), form(key), folds=folds, speakers=speakers, rng=n
    )
    fold_of = [np.array([fitted.fold_of[f"p{p}"] for p in own]) for own in owners]
    for (p, q), fold in fitted.folds.items():
        here = np.isin(fold_of[0], (p, q))[:, None] | np.isin(fold_of[1], (p, q))
        assert fold.seen == set(number[(tar | key.non) & ~here].tolist())
    persons = {owner for owner in fitted.fold_of}
    assert persons == {f"p{p}" for p in range(n)}


def test_a_list_gives_the_same_as_a_matrix_and_keeps_its_form():
    scores, key, speakers = simulated()
    dense = cross_fit(LinearCalibration, scores, key, speakers=speakers, rng=1)
    flat = cross_fit(LinearCalibration, as_list(scores), as_list(key), speakers=speakers, rng=1)
    assert isinstance(flat.scores, Scores)
    # Sums run in another order.
    np.testing.assert_allclose(flat.scores.values, dense.scores.values, rtol=1e-11)
    mixed = cross_fit(LinearCalibration, as_list(scores), key, speakers=speakers, rng=1)
    assert mixed.scores == flat.scores


def test_missing_trials_are_left_out_with_a_warning():
    scores, key, speakers = simulated()
    mask = np.ones(scores.shape, dtype=bool)
    mask[0, 5] = mask[3, 3] = False
    some = Scores(np.where(mask, scores.scoremat, 0), *scores.ids, mask)
    with pytest.warns(MissingTrialsWarning):
        fitted = cross_fit(LinearCalibration, some, key, speakers=speakers, rng=1)
    np.testing.assert_array_equal(fitted.scores.scoremask, mask)
    assert fitted.scores.scoremat[~mask].tolist() == [0.0, 0.0]


def test_what_is_no_trial_has_a_score_of_zero():
    scores, key, speakers = simulated()
    asked = np.ones(scores.shape, dtype=bool)
    asked[0, 5] = asked[3, 3] = False
    some = Key(*key.ids, key.tar & asked, key.non & asked)
    fitted = cross_fit(LinearCalibration, scores, some, speakers=speakers, rng=1)
    np.testing.assert_array_equal(fitted.scores.scoremask, asked)
    assert fitted.scores.scoremat[~asked].tolist() == [0.0, 0.0]


def test_weights_of_conditions_are_used():
    scores, key, speakers = simulated()
    odd = np.zeros(key.tar.shape, dtype=bool)
    odd[1::2] = True
    conditions = Conditions({"odd": odd, "even": ~odd}, weights={"odd": 0.9, "even": 0.1})
    fitted = cross_fit(
        LinearCalibration, scores, key, speakers=speakers, rng=1, conditions=conditions
    )
    assert fitted.final == LinearCalibration.fit_scores(scores, key, conditions=conditions)
    tar, non = conditions.trial_weights(key)
    same = cross_fit(
        LinearCalibration, scores, key, speakers=speakers, rng=1, tar_weights=tar, non_weights=non
    )
    assert same.scores == fitted.scores


def test_fusions_are_cross_fitted():
    scores, key, speakers = simulated()
    other = Scores(scores.scoremat**3, *scores.ids)
    fitted = cross_fit(LinearFusion, [scores, other], key, speakers=speakers, rng=1)
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


def test_a_column_of_the_metadata_tells_the_speakers():
    scores, key, speakers = simulated()
    columns = {"speaker": [speakers[0][model] for model in key.modelset]}
    metadata = described(key, model_columns=columns)
    named = cross_fit(LinearCalibration, scores, metadata, speakers=("speaker", speakers[1]), rng=1)
    assert (
        named.scores == cross_fit(LinearCalibration, scores, key, speakers=speakers, rng=1).scores
    )


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
        fitted = cross_fit(LinearCalibration, data.scores, data.key, speakers=speakers, rng=seed)
        cross.append(cllr(*fitted.scores.get_tar_non(data.key)))
        inside.append(cllr(*fitted.final.apply(data.scores).get_tar_non(data.key)))
        truth.append(cllr(*map(fitted.final.apply, new.trials())))
    error = np.std(cross, ddof=1)
    assert abs(np.mean(cross) - np.mean(truth)) < error
    assert np.mean(inside) < np.mean(cross)


SCORES, KEY, SPEAKERS = simulated()
FEW = Key(*KEY.ids, KEY.tar & (np.arange(24) < 4)[:, None], KEY.non)
NO_TARGETS = Key(*KEY.ids, np.zeros_like(KEY.tar), KEY.non)
ALONE = tuple(dict.fromkeys(side, "p") for side in SPEAKERS)
INFINITE = Scores(np.where(KEY.tar, np.inf, SCORES.scoremat), *KEY.ids)
EQUAL = Scores(np.full(KEY.tar.shape, 3.0), *KEY.ids)
APART = Scores(SCORES.scoremat + 50.0 * KEY.tar, *KEY.ids)
ONE = Key(["m0"], KEY.segset, KEY.tar[:1], KEY.non[:1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"folds": 2}, "`folds` must lie between 3 and the number of speakers, 12; got 2"),
        ({"folds": 13}, "between 3 and the number of speakers, 12; got 13"),
        ({"folds": True}, "`folds` must be a whole number"),
        ({"folds": "trial"}, "`folds` must be a whole number"),
        ({"model": LinearCalibration.fit}, "`model` must be a class"),
        ({"model": LinearCalibration.fit([1.0, 3, 2], [0.0, 1.5, 0.5])}, "`model` must be a class"),
        ({"key": NO_TARGETS}, "`tar` must hold at least one score; got none"),
        ({"key": FEW}, "leave both classes trials to train on; got no targets without"),
        (
            {"speakers": ALONE},
            "the number of speakers, 1; got 5. A non-target trial has speakers of",
        ),
        ({"scores": INFINITE}, "trained on finite scores; 72 of 72 scores of `tar` are infinite"),
        ({"scores": INFINITE, "model": PAVCalibration}, "`tar` must be finite; got 72 infinite"),
        ({"scores": EQUAL, "model": GaussianCalibration}, "`tar` must vary, or `non`; got scores"),
        ({"key": ONE}, "leave both classes trials to train on; got no .* folds 0 and"),
        ({"speakers": ({"m0": "p0"}, SPEAKERS[1])}, "tell the speaker of all models"),
        ({"tar_weights": [1.0]}, "have one weight for each"),
        ({"rng": "x"}, "`rng` must be a Generator"),
        ({"folds": np.arange(3)}, "`folds` must be a whole number"),
        ({"qualities": []}, "`qualities` must be left out with LinearCalibration"),
    ],
)
def test_bad_input(arguments, message):
    given_arguments = {
        "model": LinearCalibration, "scores": SCORES, "key": KEY, "speakers": SPEAKERS, "rng": 1,
        **arguments,
    }  # fmt: skip
    with pytest.raises(InvalidInputError, match=message):
        cross_fit(**given_arguments)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")
@pytest.mark.parametrize("model", [True, PAVCalibration])
def test_evaluate_judges_cross_fitted_scores(model):
    scores, key, speakers = simulated()
    table = evaluate({"A": scores}, key, speakers=speakers, rng=4, cross_fit=model)
    used = LinearCalibration if model is True else model
    fitted = cross_fit(used, scores, key, speakers=speakers, rng=4)
    assert table.results["A"].cllr == Results.from_scores(fitted.scores, key).cllr
    assert f"cross-fitted: {used.__name__}" in repr(table)


@pytest.mark.parametrize(
    ("model", "scores", "category", "message"),
    [
        (LinearCalibration, EQUAL, ConvergenceWarning, "carry no information; the weight is set"),
        (PAVCalibration, EQUAL, SuspectScoresWarning, "one pool, so that all scores become one"),
        (LinearCalibration, APART, SeparableDataWarning, "choose a ridge"),
    ],
)
def test_what_is_answered_but_not_to_be_trusted(model, scores, category, message):
    """Each fold that is no better says so, by name; the LLRs stay within what is known."""
    with pytest.warns(category, match=message) as caught:
        fitted = cross_fit(model, scores, KEY, speakers=SPEAKERS, rng=1)
    assert any("without the speakers of folds" in str(item.message) for item in caught)
    assert np.abs(fitted.scores.scoremat).max() <= np.log(KEY.n_non)


def test_weights_of_a_cross_fitted_quality_fusion_stay_with_their_trials():
    """With a quality that says nothing, the maps are those of `LinearFusion`."""
    scores, key, speakers = simulated()
    rng = np.random.default_rng(5)
    weights = {"tar_weights": rng.random(key.n_tar), "non_weights": rng.random(key.n_non)}
    how = {"speakers": speakers, "rng": 1, "folds": 3, **weights}
    quality = SegmentQuality([*key.modelset, *key.segset], np.ones((1, sum(map(len, key.ids)))))
    plain = cross_fit(LinearFusion, [scores], key, **how)
    fused = cross_fit(QualityFusion, [scores], key, qualities=[quality], **how)
    np.testing.assert_allclose(fused.scores.scoremat, plain.scores.scoremat, atol=1e-9)


def test_weights_of_one_class_leave_the_other_as_it_is():
    scores, key, speakers = simulated()
    options = {"speakers": speakers, "rng": 1}
    tar, non = (np.ones(mask.sum()) for mask in (key.tar, key.non))
    tar[::3] = 2.0
    one = cross_fit(LinearCalibration, scores, key, tar_weights=tar, **options)
    both = cross_fit(LinearCalibration, scores, key, tar_weights=tar, non_weights=non, **options)
    np.testing.assert_array_equal(one.scores.scoremat, both.scores.scoremat)
