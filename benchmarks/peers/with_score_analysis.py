"""score-analysis: sorts each class on its own; EER by bisection."""

from score_analysis import BootstrapConfig, Scores

from peers.jobs import C_FA, C_MISS, PRIOR, REPLICATIONS, THRESHOLD, job

DISTRIBUTION = "score-analysis"
STEPPY = "EER of the interpolated steppy curve, not of its hull"


@job("eer", "classes", agreement=2e-3, because=STEPPY)
def eer(tar, non):
    return Scores(pos=tar, neg=non).eer()[1]


@job("auc", "classes")
def auc(tar, non):
    return Scores(pos=tar, neg=non).auc()


def _bootstrap(tar, non, metric):
    config = BootstrapConfig(nb_samples=REPLICATIONS, stratified_sampling="by_label")
    return Scores(pos=tar, neg=non).bootstrap_metric(metric, config=config).std(ddof=1)


@job("bootstrap_dcf", "classes")
def bootstrap_dcf(tar, non):
    def dcf(sample):
        pmiss, pfa = sample.fnr(THRESHOLD), sample.fpr(THRESHOLD)
        return PRIOR * C_MISS * pmiss + (1.0 - PRIOR) * C_FA * pfa

    return _bootstrap(tar, non, dcf)


@job("bootstrap_eer", "classes", because=STEPPY)
def bootstrap_eer(tar, non):
    return _bootstrap(tar, non, lambda sample: sample.eer()[1])
