"""Estimators and scorers of scikit-learn: its own checks, and the same numbers as the library."""

import doctest

import numpy as np
import pytest

import bosaris_py as bp


@pytest.fixture(autouse=True, scope="module")
def _late() -> None:
    """Import scikit-learn when a test runs: it takes seconds, also where other tests are meant."""
    pytest.importorskip("sklearn")
    global GridSearchCV, SkipTestWarning, check_estimator, clone, cross_val_predict, make_pipeline
    global LLRCalibrator, ScoreFusion, cllr_scorer, eer_scorer, min_dcf_scorer
    from sklearn.base import clone
    from sklearn.exceptions import SkipTestWarning
    from sklearn.model_selection import GridSearchCV, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.utils.estimator_checks import check_estimator

    from bosaris_py.sklearn import (
        LLRCalibrator,
        ScoreFusion,
        cllr_scorer,
        eer_scorer,
        min_dcf_scorer,
    )


@pytest.fixture
def trials(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Scores of two systems (trials, systems), and labels."""
    labels = rng.random(400) < 0.25
    return rng.normal(2.0 * labels[:, None], [1.0, 2.0], (400, 2)), labels.astype(int)


# The checks train on whatever they find, separable data too.
@pytest.mark.filterwarnings("ignore")
def test_contract_of_estimators() -> None:
    # Weights are checked on separable data, which have no optimum without a ridge.
    check_estimator(ScoreFusion(ridge=0.1))


def test_contract_of_the_calibrator() -> None:
    """Of vectors, as of IsotonicRegression, scikit-learn checks the tags only.

    What both estimators have in common is checked above.
    """
    with pytest.warns(SkipTestWarning, match="one_d_array=True"):
        check_estimator(LLRCalibrator(ridge=0))


@pytest.mark.parametrize("options", [{}, {"prior": bp.OperatingPoint(0.01, 10, 1), "ridge": 0.1}])
def test_calibrator_is_the_calibration(trials, options: dict[str, object]) -> None:
    scores, labels = trials[0][:, 0], trials[1]
    expected = bp.LinearCalibration.fit(scores[labels == 1], scores[labels == 0], **options)
    for shaped in (scores, scores[:, None], scores.tolist()):
        calibrator = LLRCalibrator(**options).fit(shaped, labels)
        assert calibrator.model_ == expected
        llrs = expected.apply(scores)
        np.testing.assert_array_equal(calibrator.decision_function(shaped), llrs)
        np.testing.assert_array_equal(calibrator.transform(shaped), llrs[:, None])


def test_fusion_is_the_fusion(trials) -> None:
    scores, labels = trials
    expected = bp.LinearFusion.fit(
        scores[labels == 1].T, scores[labels == 0].T, prior=0.05, objective="brier", ridge=0.1
    )
    fusion = ScoreFusion(prior=0.05, objective="brier", ridge=0.1).fit(scores, labels)
    assert fusion.model_ == expected
    np.testing.assert_array_equal(fusion.decision_function(scores), expected.apply(scores.T))
    assert fusion.get_feature_names_out().tolist() == ["scorefusion0"]


def test_posteriors_and_decisions_at_any_prior(trials) -> None:
    """Bayes: the odds of the posterior are those of the prior times the likelihood-ratio."""
    scores, labels = trials
    words = np.where(labels == 1, "same", "other")
    fusion = ScoreFusion(prior=0.2, ridge=0).fit(scores, words)
    for prior in (None, 0.01, bp.OperatingPoint(0.01, 10, 1)):
        chosen = 0.2 if prior is None else prior
        p = chosen.effective_prior if isinstance(chosen, bp.OperatingPoint) else chosen
        odds = np.exp(fusion.decision_function(scores)) * p / (1 - p)
        posterior = fusion.predict_proba(scores, prior=prior)
        np.testing.assert_allclose(posterior[:, 1], odds / (1 + odds), rtol=1e-12)
        np.testing.assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-15)
        decided = fusion.predict(scores, prior=prior)
        np.testing.assert_array_equal(decided == "same", odds >= 1)
    assert fusion.classes_.tolist() == ["other", "same"]


def test_scorers_are_the_negated_metrics(trials) -> None:
    scores, labels = trials
    fusion = ScoreFusion(ridge=0).fit(scores, labels)
    llrs = fusion.decision_function(scores)
    tar, non = llrs[labels == 1], llrs[labels == 0]
    assert eer_scorer(fusion, scores, labels) == -bp.eer(tar, non)
    assert cllr_scorer(fusion, scores, labels) == -bp.cllr(tar, non)
    point = bp.OperatingPoint(0.01, 10, 1)
    for normalize in (True, False):
        found = min_dcf_scorer(point, normalize=normalize)(fusion, scores, labels)
        assert found == -bp.min_dcf(tar, non, point, normalize=normalize)


def test_cross_validation_pipelines_and_grids(trials) -> None:
    scores, labels = trials
    held_out = cross_val_predict(ScoreFusion(ridge=0), scores, labels, method="decision_function")
    assert bp.cllr(held_out[labels == 1], held_out[labels == 0]) < 0.7
    pipeline = make_pipeline(ScoreFusion(ridge=0), LLRCalibrator(prior=0.1, ridge=0)).fit(
        scores, labels
    )
    assert pipeline.predict_proba(scores).shape == (400, 2)
    grid = GridSearchCV(ScoreFusion(ridge=0), {"ridge": [0.0, 0.1]}, scoring=min_dcf_scorer(0.05))
    assert grid.fit(scores, labels).best_score_ < 0
    model = LLRCalibrator(prior=bp.OperatingPoint(0.1), ridge=0.5)
    assert clone(model).get_params() == model.get_params()


def test_examples() -> None:
    """Those of the docstrings: pytest would import the module to look for them."""
    assert doctest.testmod(bp.sklearn, raise_on_error=True).attempted > 0


def test_weights_count_trials(trials) -> None:
    """A trial of weight 2 is two trials, one of weight 0 none."""
    scores, labels = trials[0][:40, 0], trials[1][:40]
    weights = np.arange(40) % 3
    repeated = np.repeat(np.arange(40), weights)
    weighted = LLRCalibrator(ridge=0.1).fit(scores, labels, sample_weight=weights).model_
    expected = LLRCalibrator(ridge=0.1).fit(scores[repeated], labels[repeated]).model_
    assert weighted.scale == pytest.approx(expected.scale, rel=1e-9)
    assert weighted.offset == pytest.approx(expected.offset, rel=1e-9)
    tar, non = ((scores[labels == i], weights[labels == i]) for i in (1, 0))
    direct = bp.LinearCalibration.fit(
        tar[0], non[0], ridge=0.1, tar_weights=tar[1], non_weights=non[1]
    )
    assert weighted == direct
    with pytest.raises(ValueError, match="Negative values in data"):
        LLRCalibrator(ridge=0).fit(scores, labels, sample_weight=-weights)
