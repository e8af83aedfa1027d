"""MLstatkit: DeLong's test of the AUCs of two systems."""

from MLstatkit import Delong_test

from peers.jobs import job

DISTRIBUTION = "MLstatkit"


@job("delong", "two pooled")
def delong(labels, first, second):
    z, p_value = Delong_test(labels, first, second, return_ci=False, return_auc=False)
    return abs(z), p_value
