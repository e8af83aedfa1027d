"""confidenceinterval (another package than confidence_intervals): AUC with DeLong's interval."""

from confidenceinterval.auc import roc_auc_score

from peers.jobs import job

DISTRIBUTION = "confidenceinterval"
WIDTH = 1.959964


@job("auc_se", "pooled", agreement=1e-5, because="AUC in single precision")
def auc_se(scores, labels):
    auc, (low, high) = roc_auc_score(labels, scores)
    return auc, (high - low) / 2.0 / WIDTH
