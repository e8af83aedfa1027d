"""llreval, the packaged form of PYLLR."""

from llreval import cllr as llreval_cllr
from llreval.pav_rocch import PAV, ROCCH

from peers import by_hand
from peers.jobs import PRIORS, job

DISTRIBUTION = "llreval"


@job("rocch", "pooled")
def rocch(scores, labels):
    return ROCCH(PAV(scores, labels)).Pmiss_Pfa()


@job("eer", "pooled", agreement=1e-8, because="found by a minimisation with a tolerance")
def eer(scores, labels):
    return ROCCH(PAV(scores, labels)).EER()


@job("min_dcf", "pooled")
def min_dcf(scores, labels):
    return ROCCH(PAV(scores, labels)).Bayes_error_rate(by_hand.log_odds(PRIORS))


@job("min_cllr", "pooled")
def min_cllr(scores, labels):
    return llreval_cllr.min_cllr(PAV(scores, labels))


@job("cllr", "classes")
def cllr(tar, non):
    return llreval_cllr.cllr(tar, non)


@job("auc", "pooled", agreement=0.01, because="one minus the area under the hull of errors")
def auc(scores, labels):
    return 1.0 - ROCCH(PAV(scores, labels)).AUC()
