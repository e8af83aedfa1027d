"""bosaris_py itself."""

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from peers.jobs import BOOTSTRAP_PRIOR, C_FA, C_MISS, PRIOR, PRIORS, REPLICATIONS, THRESHOLD, job

DISTRIBUTION = "bosaris_py"


@job("rocch", "classes")
def rocch(tar, non):
    hull = bp.ROC.from_scores(tar, non).convex_hull()
    return hull.pmiss, hull.pfa


@job("eer", "classes")
def eer(tar, non):
    return bp.eer(tar, non)


@job("min_dcf", "classes")
def min_dcf(tar, non):
    return bp.min_dcf(tar, non, PRIORS)


@job("min_cllr", "classes")
def min_cllr(tar, non):
    return bp.min_cllr(tar, non)


@job("cllr", "classes")
def cllr(tar, non):
    return bp.cllr(tar, non)


@job("auc", "classes")
def auc(tar, non):
    return bp.auc(tar, non)


@job("auc_se", "classes")
def auc_se(tar, non):
    found = unc.delong(tar, non)
    return found.auc[0], found.standard_errors[0]


@job("delong", "stacks")
def delong(tar, non):
    test = unc.delong(tar[:2], non[:2]).compare()
    return abs(test.z), test.p_value()


def _calibrate(tar, non, prior):
    found = bp.LinearCalibration.fit(tar, non, prior=prior)
    return found.scale, found.offset


def _fuse(tar, non, prior):
    found = bp.LinearFusion.fit(tar, non, prior=prior)
    return *found.weights, found.offset


@job("calibration", "classes")
def calibration(tar, non):
    return _calibrate(tar, non, 0.5)


@job("calibration_001", "classes")
def calibration_001(tar, non):
    return _calibrate(tar, non, 0.01)


@job("fusion", "stacks")
def fusion(tar, non):
    return _fuse(tar, non, 0.5)


@job("fusion_001", "stacks")
def fusion_001(tar, non):
    return _fuse(tar, non, 0.01)


def _bootstrap(tar, non, statistic):
    return unc.bootstrap(tar, non, statistic, replications=REPLICATIONS, rng=1).standard_error


@job("bootstrap_dcf", "classes")
def bootstrap_dcf(tar, non):
    return _bootstrap(tar, non, unc.DCF(THRESHOLD, p_target=PRIOR, c_miss=C_MISS, c_fa=C_FA))


@job("bootstrap_eer", "classes")
def bootstrap_eer(tar, non):
    return _bootstrap(tar, non, unc.EER())


@job("bootstrap_min_dcf", "classes")
def bootstrap_min_dcf(tar, non):
    return _bootstrap(tar, non, unc.MinDCF(BOOTSTRAP_PRIOR))
