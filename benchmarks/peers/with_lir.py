"""lir: forensic likelihood ratios, base 10; calibration at prior 0.5 only."""

import numpy as np
from lir.algorithms.logistic_regression import LogitCalibrator
from lir.data.models import LLRData
from lir.metrics import cllr as lir_cllr, cllr_min

from peers.jobs import job

DISTRIBUTION = "lir"
RIDGE = "with scikit-learn's default ridge; compared is the objective that it reached"


@job("cllr", "converted")
def cllr(llrs, labels):
    return lir_cllr(LLRData(features=llrs, labels=labels))


@job("min_cllr", "converted")
def min_cllr(llrs, labels):
    return cllr_min(LLRData(features=llrs, labels=labels))


@job("calibration", "column", agreement=1e-4, because=RIDGE)
def calibration(column, labels):
    found = LogitCalibrator().fit(column, labels)._logit
    return np.append(found.coef_[0], found.intercept_[0])


def convert(scores, labels):
    """Turn pooled log-likelihood-ratios into base 10."""
    return scores / np.log(10.0), labels
