"""scikit-learn: isotonic regression, DET curve, log-loss, logistic regression; rest by hand."""

import numpy as np
from sklearn.isotonic import isotonic_regression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import det_curve, log_loss, roc_auc_score

from peers import by_hand
from peers.jobs import job

DISTRIBUTION = "scikit-learn"
EARLY = "stops early; compared is the objective that it reached"


def _blocks(scores, labels):
    ordered = labels[np.argsort(scores, kind="stable")].astype(np.float64)
    _, first, sizes = np.unique(
        fitted := isotonic_regression(ordered), return_index=True, return_counts=True
    )
    tar = np.rint(fitted[first] * sizes)
    return tar, sizes - tar


@job("rocch", "pooled")
def rocch(scores, labels):
    return by_hand.hull(*_blocks(scores, labels))


@job("eer", "pooled", variant="PAV")
def eer_of_hull(scores, labels):
    return by_hand.eer(*by_hand.hull(*_blocks(scores, labels)))


@job(
    "eer",
    "pooled",
    agreement=2e-3,
    because="EER of the steppy curve, not of its hull",
    variant="det_curve",
)
def eer(scores, labels):
    pfa, pmiss, _ = det_curve(labels, scores)
    best = np.argmin(np.abs(pmiss - pfa))
    return (pmiss[best] + pfa[best]) / 2.0


@job("min_dcf", "pooled")
def min_dcf(scores, labels):
    return by_hand.min_dcf(*by_hand.hull(*_blocks(scores, labels)))


@job("min_cllr", "pooled")
def min_cllr(scores, labels):
    return by_hand.min_cllr(*_blocks(scores, labels))


@job("cllr", "pooled")
def cllr(scores, labels):
    weights = by_hand.class_weights(labels, 0.5)
    return log_loss(labels, by_hand.posterior(scores), sample_weight=weights) / np.log(2.0)


@job("auc", "pooled")
def auc(scores, labels):
    return roc_auc_score(labels, scores)


def _train(columns, labels, prior, solver):
    model = LogisticRegression(C=np.inf, solver=solver)
    model.fit(columns, labels, sample_weight=by_hand.class_weights(labels, prior))
    return *model.coef_[0], model.intercept_[0] - by_hand.log_odds(prior)


@job("calibration", "column", agreement=1e-4, because=EARLY, variant="lbfgs")
def calibration(column, labels):
    return _train(column, labels, 0.5, "lbfgs")


@job("calibration_001", "column", agreement=1e-4, because=EARLY, variant="lbfgs")
def calibration_001(column, labels):
    return _train(column, labels, 0.01, "lbfgs")


@job("calibration", "column", agreement=1e-4, because=EARLY, variant="newton-cholesky")
def calibration_newton(column, labels):
    return _train(column, labels, 0.5, "newton-cholesky")


@job("calibration_001", "column", agreement=1e-4, because=EARLY, variant="newton-cholesky")
def calibration_001_newton(column, labels):
    return _train(column, labels, 0.01, "newton-cholesky")


@job("fusion", "columns", agreement=1e-4, because=EARLY, variant="lbfgs")
def fusion(columns, labels):
    return _train(columns, labels, 0.5, "lbfgs")


@job("fusion_001", "columns", agreement=1e-4, because=EARLY, variant="lbfgs")
def fusion_001(columns, labels):
    return _train(columns, labels, 0.01, "lbfgs")


@job("fusion", "columns", agreement=1e-4, because=EARLY, variant="newton-cholesky")
def fusion_newton(columns, labels):
    return _train(columns, labels, 0.5, "newton-cholesky")


@job("fusion_001", "columns", agreement=1e-4, because=EARLY, variant="newton-cholesky")
def fusion_001_newton(columns, labels):
    return _train(columns, labels, 0.01, "newton-cholesky")
