"""torchmetrics: exact ROC and AUC, in single precision; EER."""

import torch
from torchmetrics.functional.classification import binary_auroc, binary_eer

from peers.jobs import job

DISTRIBUTION = "torchmetrics"
SINGLE = "single precision, after a sigmoid that makes ties"


@job("eer", "converted", agreement=2e-3, because="EER of the steppy curve; single precision")
def eer(scores, labels):
    return float(binary_eer(scores, labels))


@job("auc", "converted", agreement=1e-5, because=SINGLE)
def auc(scores, labels):
    return float(binary_auroc(scores, labels))


def convert(scores, labels):
    """Turn pooled arrays into tensors, before the clock starts."""
    return torch.from_numpy(scores), torch.from_numpy(labels)
