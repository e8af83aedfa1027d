"""confidence_intervals: percentiles of any metric over resampled trials."""

import numpy as np
from confidence_intervals import evaluate_with_conf_int

from peers import by_hand
from peers.jobs import BOOTSTRAP_PRIOR, C_FA, C_MISS, PRIOR, REPLICATIONS, THRESHOLD, job

DISTRIBUTION = "confidence-intervals"
# Half the width of a 95 % interval, in standard errors.
WIDTH = 1.959964
POOLED = "resamples both classes pooled; half the width of its interval over 1.96"


def _bootstrap(scores, labels, metric):
    def of_trials(labels, scores):
        return metric(scores[labels == 1], scores[labels == 0])

    _, (low, high) = evaluate_with_conf_int(
        scores, of_trials, labels, num_bootstraps=REPLICATIONS, alpha=5
    )
    return (high - low) / 2.0 / WIDTH


@job("bootstrap_dcf", "pooled", because=POOLED, agreement=0.12)
def bootstrap_dcf(scores, labels):
    def dcf(tar, non):
        pmiss, pfa = np.mean(tar < THRESHOLD), np.mean(non >= THRESHOLD)
        return PRIOR * C_MISS * pmiss + (1.0 - PRIOR) * C_FA * pfa

    return _bootstrap(scores, labels, dcf)


@job("bootstrap_eer", "pooled", because=f"steppy EER; {POOLED}", agreement=0.12)
def bootstrap_eer(scores, labels):
    return _bootstrap(scores, labels, by_hand.steppy_eer)


@job("bootstrap_min_dcf", "pooled", because=POOLED, agreement=0.12)
def bootstrap_min_dcf(scores, labels):
    return _bootstrap(
        scores, labels, lambda tar, non: by_hand.least_cost(tar, non, BOOTSTRAP_PRIOR)
    )
