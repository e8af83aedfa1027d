"""bob.measure: EER by a compiled search; its hull and minCllr are not implemented any more."""

from bob import measure
from bob.measure.calibration import cllr as bob_cllr, min_cllr as bob_min_cllr

from peers.jobs import job

DISTRIBUTION = "bob.measure"


@job("eer", "classes", agreement=2e-3, because="EER of the steppy curve, not of its hull")
def eer(tar, non):
    return measure.eer(non, tar)


@job("rocch", "classes")
def rocch(tar, non):
    return measure.rocch(non, tar)[::-1]


@job("min_cllr", "classes")
def min_cllr(tar, non):
    return bob_min_cllr(non, tar)


@job("cllr", "classes")
def cllr(tar, non):
    return bob_cllr(non, tar)
