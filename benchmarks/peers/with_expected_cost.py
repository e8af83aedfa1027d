"""expected_cost: minimum cost, one prior a call."""

import numpy as np
from expected_cost import ec

from peers.jobs import PRIORS, job

DISTRIBUTION = "expected_cost"


@job("min_dcf", "converted", agreement=1e-5, because="rates in single precision")
def min_dcf(log_posteriors, labels):
    return [
        ec.average_cost_for_optimal_decisions(
            labels, log_posteriors, ec.CostMatrix([[0, 1], [1, 0]]), np.array([1.0 - prior, prior])
        )
        for prior in PRIORS
    ]


def convert(scores, labels):
    """Turn pooled log-likelihood-ratios into log-posteriors at even prior."""
    return np.stack((-np.logaddexp(0, scores), -np.logaddexp(0, -scores)), axis=1), labels
