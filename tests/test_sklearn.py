"""Estimators and scorers of scikit-learn: its own checks, and the same numbers as the library."""

import doctest
import importlib
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True, scope="module")
def _late() -> None:
    """Import scikit-learn when a test runs: it takes seconds, also where other tests are meant."""
    pytest.importorskip("sklearn")
    global GridSearchCV, LogisticRegression, SkipTestWarning
    global check_estimator, clone, cross_val_predict, cross_val_score, make_pipeline
    global LLRCalibrator, ScoreFusion, cllr_scorer, eer_scorer, min_dcf_scorer
    from sklearn.base import clone
    from sklearn.exceptions import SkipTestWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
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
        check_estimator(LLRCalibrator())


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


def test_fusion_of_one_system_is_its_calibration(trials) -> None:
    scores, labels = trials[0][:, :1], trials[1]
    one, other = (cls().fit(scores, labels) for cls in (LLRCalibrator, ScoreFusion))
    np.testing.assert_allclose(one.decision_function(scores), other.decision_function(scores))


def test_posteriors_and_decisions_at_any_prior(trials) -> None:
    """Bayes: the odds of the posterior are those of the prior times the likelihood-ratio."""
    scores, labels = trials
    words = np.where(labels == 1, "same", "other")
    fusion = ScoreFusion(prior=0.2).fit(scores, words)
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


def test_a_score_at_the_threshold_is_accepted(trials, monkeypatch: pytest.MonkeyPatch) -> None:
    calibrator = LLRCalibrator().fit(trials[0][:, :1], trials[1])
    llrs = np.array([0.0, -0.0, -5e-324])
    monkeypatch.setattr(LLRCalibrator, "decision_function", lambda *_: llrs)
    assert calibrator.predict(trials[0][:3, :1], prior=0.5).tolist() == [1, 1, 0]


def test_scorers_are_the_negated_metrics(trials) -> None:
    scores, labels = trials
    fusion = ScoreFusion().fit(scores, labels)
    llrs = fusion.decision_function(scores)
    tar, non = llrs[labels == 1], llrs[labels == 0]
    assert eer_scorer(fusion, scores, labels) == -bp.eer(tar, non)
    assert cllr_scorer(fusion, scores, labels) == -bp.cllr(tar, non)
    point = bp.OperatingPoint(0.01, 10, 1)
    for normalize in (True, False):
        found = min_dcf_scorer(point, normalize=normalize)(fusion, scores, labels)
        assert found == -bp.min_dcf(tar, non, point, normalize=normalize)


def test_scorers_take_other_estimators(trials) -> None:
    """Classifiers of scikit-learn, by decision function or by posterior."""
    from sklearn.naive_bayes import GaussianNB

    scores, labels = trials
    for estimator in (LogisticRegression(), GaussianNB()):
        found = cross_val_score(estimator, scores, labels, scoring=eer_scorer)
        assert (found > -0.5).all()
        assert (found < 0).all()


def test_cross_validation_pipelines_and_grids(trials) -> None:
    scores, labels = trials
    held_out = cross_val_predict(ScoreFusion(), scores, labels, method="decision_function")
    assert bp.cllr(held_out[labels == 1], held_out[labels == 0]) < 0.7
    pipeline = make_pipeline(ScoreFusion(), LLRCalibrator(prior=0.1)).fit(scores, labels)
    assert pipeline.predict_proba(scores).shape == (400, 2)
    grid = GridSearchCV(ScoreFusion(), {"ridge": [0.0, 0.1]}, scoring=min_dcf_scorer(0.05))
    assert grid.fit(scores, labels).best_score_ < 0
    model = LLRCalibrator(prior=bp.OperatingPoint(0.1), ridge=0.5)
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, y: LLRCalibrator().fit(x, y), "one column of scores; got .400, 2.. ScoreFus"),
        (lambda x, y: ScoreFusion().fit(x, y * 0), "hold two classes; got one class"),
        (lambda x, y: ScoreFusion().fit(x, np.arange(400) % 3), "Only binary classification"),
        (lambda x, y: ScoreFusion().fit(x, x[:, 0]), "Unknown label type"),
        (lambda x, y: ScoreFusion(prior=1.0).fit(x, y), "`prior` must lie strictly between"),
        (lambda x, y: ScoreFusion(objective="auc").fit(x, y), "`objective`"),
        (lambda x, y: ScoreFusion().fit(np.where(x > 2, np.nan, x), y), "contains NaN"),
        (lambda x, y: ScoreFusion().fit(x, y).predict_proba(x, prior=0), "`prior` must lie"),
        (lambda x, y: ScoreFusion().fit(x, y).predict(x[:, :1]), "expecting 2 features"),
        (
            lambda x, y: eer_scorer(ScoreFusion().fit(x, y), x[y == 1], y[y == 1]),
            "`y_true` must hold labels of two classes",
        ),
        # The greater word would be the target.
        (
            lambda x, y: ScoreFusion().fit(x, np.where(y == 1, "genuine", "impostor")),
            r"got 'genuine' before 'impostor'. Give y == 'genuine'",
        ),
        (
            lambda x, y: min_dcf_scorer(0.05)(
                LogisticRegression().fit(x, y), x, np.where(y == 1, "bonafide", "spoof")
            ),
            "Give y_true == 'bonafide'",
        ),
    ],
)
def test_bad_input(trials, call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(*trials)


def test_examples() -> None:
    """Those of the docstrings: pytest would import the module to look for them."""
    assert doctest.testmod(bp.sklearn, raise_on_error=True).attempted > 0


@pytest.mark.slow
def test_without_scikit_learn_the_error_says_so() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import bosaris_py\n"
        "try: bosaris_py.sklearn\n"
        "except ImportError as error: print(error)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("bosaris_py.sklearn needs scikit-learn 1.6 or later")


@pytest.mark.parametrize("prior", [5, 0.0, [0.1, 0.2], "a"])
def test_bad_priors_of_a_scorer(prior):
    with pytest.raises(InvalidInputError, match="`prior` must"):
        min_dcf_scorer(prior)


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
        LLRCalibrator().fit(scores, labels, sample_weight=-weights)


def test_the_contract_holds_for_the_first_column() -> None:
    """All checks, those of weights too, on an estimator of a matrix that takes one column of it."""

    class FirstColumn(LLRCalibrator):
        @staticmethod
        def _columns(X):
            return X

        @staticmethod
        def _of_systems(scores):
            return scores[:, 0]

        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.input_tags.one_d_array = False
            tags.input_tags.two_d_array = True
            # One column does not tell all.
            tags.classifier_tags.poor_score = True
            return tags

    # It is pickled by its name.
    FirstColumn.__qualname__ = "FirstColumn"
    globals()["FirstColumn"] = FirstColumn
    # The checks train on whatever they find, separable data too.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(FirstColumn(ridge=0.1))


def test_scorers_want_a_score_for_each_label() -> None:
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        eer_scorer._score_func([0, 1], [0.1])


def test_without_scikit_learn_the_import_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.utils.validation", None)
    monkeypatch.delitem(sys.modules, "bosaris_py.sklearn")
    with pytest.raises(
        ImportError, match=r"needs scikit-learn 1\.6 or later, which is not installed"
    ):
        importlib.import_module("bosaris_py.sklearn")
