"""psrcal: affine calibration by L-BFGS on log-likelihoods, at any prior, in torch."""

import numpy as np
import torch
from psrcal.calibration import AffineCalLogLoss

from peers.jobs import job

DISTRIBUTION = "psrcal"
EARLY = "stops early; compared is the objective that it reached"


def _train(likelihoods, labels, prior):
    model = AffineCalLogLoss(likelihoods, labels, prior=[1.0 - prior, prior])
    model.train(quiet=True)
    bias = model.bias.detach().numpy()
    return float(model.temp), float(bias[1] - bias[0])


@job("calibration", "converted", agreement=1e-4, because=EARLY)
def calibration(likelihoods, labels):
    return _train(likelihoods, labels, 0.5)


@job("calibration_001", "converted", agreement=1e-4, because=EARLY)
def calibration_001(likelihoods, labels):
    return _train(likelihoods, labels, 0.01)


def convert(scores, labels):
    """Turn pooled log-likelihood-ratios into log-likelihoods of both classes."""
    columns = np.stack((np.zeros_like(scores), scores), axis=1)
    return torch.from_numpy(columns), torch.from_numpy(labels)
