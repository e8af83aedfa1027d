"""Calibration and fusion as estimators of scikit-learn, and metrics as its scorers.

Importing this module needs scikit-learn 1.6 or later; nothing else in the package does. Here rows
are trials and columns are systems, as everywhere in scikit-learn; targets are those of the
greater label.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Self

import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import AnyArray, ArrayLike, FloatArray
from bosaris_py.calibration import LinearCalibration
from bosaris_py.calibration.base import Options
from bosaris_py.files.columns import as_labels
from bosaris_py.fusion import LinearFusion
from bosaris_py.metrics import cllr, eer, min_dcf
from bosaris_py.numerics.newton import Ridge
from bosaris_py.numerics.priors import OperatingPoint, sigmoid
from bosaris_py.numerics.scoring import resolve_prior

try:
    from sklearn import base
    from sklearn.metrics import make_scorer
    from sklearn.utils import Tags, multiclass, validation
except ImportError as error:
    raise ImportError("bosaris_py.sklearn needs scikit-learn 1.6 or later") from error

Prior = float | OperatingPoint

__all__ = ["LLRCalibrator", "ScoreFusion", "cllr_scorer", "eer_scorer", "min_dcf_scorer"]


class _LinearEstimator(
    base.ClassNamePrefixFeaturesOutMixin,
    base.TransformerMixin,
    base.ClassifierMixin,
    base.BaseEstimator,
):
    """What calibration and fusion have in common as estimators."""

    # The class of the map that is trained.
    _map: ClassVar[type[LinearCalibration | LinearFusion]]

    def __init__(
        self, *, prior: Prior = 0.5, objective: str = "cllr", ridge: Ridge = "weak"
    ) -> None:
        self.prior, self.objective, self.ridge = prior, objective, ridge

    def __sklearn_tags__(self) -> Tags:
        """Say that there are two classes, and that the scores of a calibrator are a vector."""
        tags: Tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        if self._map is LinearCalibration:
            tags.input_tags.one_d_array, tags.input_tags.two_d_array = True, False
        return tags

    def fit(self, X: ArrayLike, y: object, sample_weight: object = None) -> Self:
        """Train the map.

        Parameters
        ----------
        X : (n_trials, n_systems) array_like of float
            Scores, finite; of a calibrator a single column or a vector.
        y : (n_trials,) array_like
            Labels of two classes; the greater one is that of targets.
        sample_weight : (n_trials,) array_like of float, optional
            Weights of the trials, not negative; one of 2 counts as two trials.

        Returns
        -------
        object of this class
            The estimator itself.

        Raises
        ------
        ValueError
            If labels are not of two classes, or as for `bosaris_py.LinearCalibration.fit`.

        Warns
        -----
        ConvergenceWarning, BosarisWarning
            As for `bosaris_py.LinearCalibration.fit`.
        """
        scores, labels = validation.validate_data(self, self._columns(X), y)
        multiclass.check_classification_targets(labels)
        if (kind := multiclass.type_of_target(labels)) != "binary":
            text = f"Only binary classification is supported. The type of the target is {kind}."
            raise ValueError(text)
        self.classes_ = np.unique(labels)
        if self.classes_.size < 2:
            raise check.invalid("y", "hold two classes", f"one class, {self.classes_[0]!r}")
        _refuse_lesser_targets(self.classes_, "y")
        is_target = labels == self.classes_[1]
        options: Options = {"prior": self.prior, "objective": self.objective, "ridge": self.ridge}
        if sample_weight is not None:
            how: Options = {"dtype": np.float64, "ensure_non_negative": True}
            weights = validation._check_sample_weight(sample_weight, scores, **how)
            if not (weights[is_target].any() and weights[~is_target].any()):
                raise check.invalid(
                    "sample_weight", "leave trials of each class", "zeros for a class"
                )
            options |= {"tar_weights": weights[is_target], "non_weights": weights[~is_target]}
        systems = self._by_system(scores)
        self.model_ = self._map.fit(systems[..., is_target], systems[..., ~is_target], **options)
        self._n_features_out = 1
        return self

    def _columns(self, X: ArrayLike) -> ArrayLike:
        """Return scores as columns; of a calibrator a vector is one."""
        if self._map is LinearCalibration and np.ndim(X) == 2 and np.shape(X)[1] != 1:
            hint = "ScoreFusion joins the scores of several systems."
            raise check.invalid("X", "have one column of scores", str(np.shape(X)), hint)
        is_vector = self._map is LinearCalibration and np.ndim(X) == 1
        return np.reshape(X, (-1, 1)) if is_vector else X

    def _by_system(self, scores: FloatArray) -> FloatArray:
        return scores[:, 0] if self._map is LinearCalibration else scores.T

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Turn scores into log-likelihood-ratios.

        Parameters
        ----------
        X
            As for `fit`.

        Returns
        -------
        (n_trials,) ndarray of float64
            Natural-log likelihood-ratios, whatever the prior.
        """
        validation.check_is_fitted(self)
        scores = validation.validate_data(self, self._columns(X), reset=False)
        # Pipelines apply a map to its own trials: nothing is noted of that.
        return self.model_._mapped(self._by_system(scores))[0]

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return the log-likelihood-ratios as a column, for the next step of a pipeline.

        Parameters
        ----------
        X
            As for `fit`.

        Returns
        -------
        (n_trials, 1) ndarray of float64
        """
        return self.decision_function(X)[:, np.newaxis]

    def predict_proba(self, X: ArrayLike, prior: Prior | None = None) -> FloatArray:
        """Return the posterior probabilities of both classes.

        Parameters
        ----------
        X
            As for `fit`.
        prior : float or OperatingPoint, optional
            Probability of a target before the score is seen; by default that of the training.

        Returns
        -------
        (n_trials, 2) ndarray of float64
            In the order of ``classes_``: sigmoid(-l) and sigmoid(l), l being the
            log-likelihood-ratio plus the logit of the prior.
        """
        _, plo = resolve_prior(self.prior if prior is None else prior)
        odds = self.decision_function(X) + plo
        return np.column_stack((sigmoid(-odds), sigmoid(odds)))

    def predict(self, X: ArrayLike, prior: Prior | None = None) -> AnyArray:
        """Decide by Bayes' rule: accept if the posterior probability is at least one half.

        Parameters
        ----------
        X, prior
            As for `predict_proba`.

        Returns
        -------
        (n_trials,) ndarray
            Labels of ``classes_``.
        """
        _, plo = resolve_prior(self.prior if prior is None else prior)
        accepted = self.decision_function(X) >= -plo
        return np.asarray(self.classes_[accepted.astype(np.intp)])


class LLRCalibrator(_LinearEstimator):
    """Linear calibration of one system's scores, as an estimator of scikit-learn.

    Parameters
    ----------
    prior : float or OperatingPoint, default: 0.5
        Prior at which the log-likelihood-ratios shall serve best, and of the posteriors.
    objective : {"cllr", "brier", "boost"}, default: "cllr"
        The proper scoring rule to minimise.
    ridge : float or "weak", default: "weak"
        Strength of a ridge penalty, see `bosaris_py.LinearCalibration.fit`.

    Attributes
    ----------
    model_ : LinearCalibration
        The trained map, which can be saved.
    classes_ : (2,) ndarray
        Labels of non-targets and of targets.

    Examples
    --------
    >>> scores, labels = [1.0, 2.0, 3.0, 0.0, -1.0, 1.5], [1, 1, 1, 0, 0, 0]
    >>> calibrator = LLRCalibrator(ridge=0).fit(scores, labels)
    >>> calibrator.decision_function([0.0, 2.0]).round(3).tolist()
    [-2.299, 1.656]
    >>> calibrator.predict_proba([2.0], prior=0.01).round(4).tolist()
    [[0.9498, 0.0502]]
    """

    _map = LinearCalibration


class ScoreFusion(_LinearEstimator):
    """Linear fusion of the scores of several systems, as an estimator of scikit-learn.

    Parameters
    ----------
    prior, objective, ridge
        As for `LLRCalibrator`.

    Attributes
    ----------
    model_ : LinearFusion
        The trained map, which can be saved.
    classes_ : (2,) ndarray
        Labels of non-targets and of targets.

    Examples
    --------
    >>> scores = [[1.0, 0.5], [2.0, 3.0], [3.0, -1.0], [-0.5, 2.0],
    ...           [0.0, 1.0], [-1.0, 0.0], [2.0, 1.5], [0.0, -2.0]]
    >>> fusion = ScoreFusion(prior=0.1, ridge=0).fit(scores, ["same"] * 4 + ["other"] * 4)
    >>> fusion.predict([[-1.5, 0.0], [3.5, 3.5]]).tolist()
    ['other', 'same']
    """

    _map = LinearFusion


def _refuse_lesser_targets(classes: AnyArray, name: str) -> None:
    """Refuse words such as genuine and impostor, the greater of which means no target."""
    try:
        is_target = as_labels(classes, name)
    except errors.InvalidInputError:
        return
    if is_target[0]:
        lesser, greater = classes.tolist()
        expected = "have targets with the greater label, as in scikit-learn"
        hint = f"Give {name} == {lesser!r}."
        raise check.invalid(name, expected, f"{lesser!r} before {greater!r}", hint)


def _classes(y_true: object, y_score: object) -> tuple[AnyArray, AnyArray]:
    """Return the scores of targets and of non-targets."""
    labels, scores = np.asarray(y_true), np.asarray(y_score)
    validation.check_consistent_length(labels, scores)
    found = np.unique(labels)
    if found.size != 2:
        raise check.invalid("y_true", "hold labels of two classes", check.describe(found.tolist()))
    _refuse_lesser_targets(found, "y_true")
    return scores[labels == found[1]], scores[labels == found[0]]


def _eer(y_true: object, y_score: object) -> float:
    return float(eer(*_classes(y_true, y_score)))


def _min_dcf(y_true: object, y_score: object, *, prior: Prior, normalize: bool) -> float:
    return float(min_dcf(*_classes(y_true, y_score), prior, normalize=normalize))


def _cllr(y_true: object, y_score: object) -> float:
    return float(cllr(*_classes(y_true, y_score)))


# Ranking is all that counts, so posteriors will do where there is nothing else.
_RANKING = ("decision_function", "predict_proba")

eer_scorer = make_scorer(_eer, response_method=_RANKING, greater_is_better=False)
cllr_scorer = make_scorer(_cllr, response_method="decision_function", greater_is_better=False)


def min_dcf_scorer(prior: Prior, *, normalize: bool = True) -> Callable[..., float]:
    """Make a scorer of the minimum detection cost.

    Parameters
    ----------
    prior : float or OperatingPoint
        The operating point.
    normalize : bool, default: True
        Divide by the cost of the better decision made without a detector.

    Returns
    -------
    callable
        A scorer: ``scorer(estimator, X, y)`` is the negated cost, because greater is
        better for scikit-learn.

    Examples
    --------
    >>> scorer = min_dcf_scorer(0.5)
    >>> scores, labels = [1.0, 3.0, 4.0, -2.0, 0.0, 2.0], [1, 1, 1, 0, 0, 0]
    >>> calibrator = LLRCalibrator(ridge=0).fit(scores, labels)
    >>> round(scorer(calibrator, scores, labels), 4)
    -0.3333
    """
    how = {"response_method": _RANKING, "greater_is_better": False}
    scorer: Callable[..., float] = make_scorer(_min_dcf, prior=prior, normalize=normalize, **how)
    return scorer
