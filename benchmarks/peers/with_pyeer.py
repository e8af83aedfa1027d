"""pyeer: EER and a report of everything, from lists."""

from pyeer.eer_stats import calculate_roc, get_eer_values

from peers.jobs import job

DISTRIBUTION = "pyeer"


@job("eer", "classes", agreement=2e-3, because="EER of the steppy curve, not of its hull")
def eer(tar, non):
    _, pfa, pmiss = calculate_roc(tar, non)
    return get_eer_values(pfa, pmiss)[3]
