"""scipy: isotonic regression, L-BFGS-B, the Mann-Whitney statistic, the bootstrap; rest by hand."""

import numpy as np
from scipy import optimize, special, stats

from peers import by_hand
from peers.jobs import BOOTSTRAP_PRIOR, C_FA, C_MISS, PRIOR, REPLICATIONS, THRESHOLD, job

DISTRIBUTION = "scipy"
STEPPY = "EER of the steppy curve, not of its hull"
EARLY = "stops early; compared is the objective that it reached"


def _blocks(scores, labels):
    """Return how many targets and non-targets lie in each block of the PAV solution."""
    # Stable, and targets come first: at equal scores they enter before non-targets.
    ordered = labels[np.argsort(scores, kind="stable")].astype(np.float64)
    found = optimize.isotonic_regression(ordered)
    sizes = np.diff(found.blocks)
    tar = np.rint(found.x[found.blocks[:-1]] * sizes)
    return tar, sizes - tar


@job("rocch", "pooled")
def rocch(scores, labels):
    return by_hand.hull(*_blocks(scores, labels))


@job("eer", "pooled")
def eer(scores, labels):
    return by_hand.eer(*by_hand.hull(*_blocks(scores, labels)))


@job("min_dcf", "pooled")
def min_dcf(scores, labels):
    return by_hand.min_dcf(*by_hand.hull(*_blocks(scores, labels)))


@job("min_cllr", "pooled")
def min_cllr(scores, labels):
    return by_hand.min_cllr(*_blocks(scores, labels))


@job("cllr", "classes")
def cllr(tar, non):
    bits = np.mean(special.log_expit(tar)) + np.mean(special.log_expit(-non))
    return -bits / 2.0 / np.log(2.0)


@job("auc", "classes")
def auc(tar, non):
    found = stats.mannwhitneyu(tar, non, method="asymptotic")
    return found.statistic / tar.size / non.size


def _train(tar, non, prior):
    """Minimise the prior-weighted cross-entropy by L-BFGS-B, in whole-array expressions."""
    plo = by_hand.log_odds(prior)
    n_systems = len(tar)

    def objective(coefficients):
        weights, offset = coefficients[:-1], coefficients[-1] + plo
        z_tar, z_non = weights @ tar + offset, weights @ non + offset
        value = -prior * np.mean(special.log_expit(z_tar))
        value -= (1.0 - prior) * np.mean(special.log_expit(-z_non))
        slope_tar = special.expit(-z_tar) * (-prior / z_tar.size)
        slope_non = special.expit(z_non) * ((1.0 - prior) / z_non.size)
        slope = tar @ slope_tar + non @ slope_non
        return value, np.append(slope, slope_tar.sum() + slope_non.sum())

    return optimize.minimize(objective, np.zeros(n_systems + 1), jac=True, method="L-BFGS-B").x


@job("calibration", "classes", agreement=1e-4, because=EARLY)
def calibration(tar, non):
    return _train(tar[np.newaxis], non[np.newaxis], 0.5)


@job("calibration_001", "classes", agreement=1e-4, because=EARLY)
def calibration_001(tar, non):
    return _train(tar[np.newaxis], non[np.newaxis], 0.01)


@job("fusion", "stacks", agreement=1e-4, because=EARLY)
def fusion(tar, non):
    return _train(tar, non, 0.5)


@job("fusion_001", "stacks", agreement=1e-4, because=EARLY)
def fusion_001(tar, non):
    return _train(tar, non, 0.01)


def _bootstrap(tar, non, statistic, vectorized):
    return stats.bootstrap(
        (tar, non),
        statistic,
        n_resamples=REPLICATIONS,
        batch=20,
        vectorized=vectorized,
        method="percentile",
        rng=1,
    ).standard_error


@job("bootstrap_dcf", "classes")
def bootstrap_dcf(tar, non):
    def dcf(tar, non, axis):
        pmiss, pfa = np.mean(tar < THRESHOLD, axis=axis), np.mean(non >= THRESHOLD, axis=axis)
        return PRIOR * C_MISS * pmiss + (1.0 - PRIOR) * C_FA * pfa

    return _bootstrap(tar, non, dcf, vectorized=True)


@job("bootstrap_eer", "classes", because=STEPPY)
def bootstrap_eer(tar, non):
    return _bootstrap(tar, non, by_hand.steppy_eer, vectorized=False)


@job("bootstrap_min_dcf", "classes")
def bootstrap_min_dcf(tar, non):
    return _bootstrap(
        tar, non, lambda tar, non: by_hand.least_cost(tar, non, BOOTSTRAP_PRIOR), vectorized=False
    )
