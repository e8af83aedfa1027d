"""What users of general libraries write themselves: the hull and its metrics from PAV blocks."""

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from peers.jobs import PRIORS


def hull(tar_in_block: np.ndarray, non_in_block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices of the convex hull, from the counts in PAV blocks."""
    pmiss = np.append(0.0, np.cumsum(tar_in_block)) / tar_in_block.sum()
    pfa = 1.0 - np.append(0.0, np.cumsum(non_in_block)) / non_in_block.sum()
    return pmiss, pfa


def eer(pmiss: np.ndarray, pfa: np.ndarray) -> float:
    """Return where the hull crosses the diagonal."""
    position = np.arange(pmiss.size)
    crossing = brentq(
        lambda at: np.interp(at, position, pmiss) - np.interp(at, position, pfa),
        0.0,
        pmiss.size - 1.0,
        xtol=1e-12,
    )
    return float(np.interp(crossing, position, pmiss))


def min_dcf(pmiss: np.ndarray, pfa: np.ndarray) -> np.ndarray:
    """Return the least Bayes error-rate at 1000 priors."""
    return (np.outer(PRIORS, pmiss) + np.outer(1.0 - PRIORS, pfa)).min(axis=1)


def min_cllr(tar_in_block: np.ndarray, non_in_block: np.ndarray) -> float:
    """Return minCllr from the counts in PAV blocks."""
    n_tar, n_non = tar_in_block.sum(), non_in_block.sum()
    with np.errstate(divide="ignore"):
        llr = np.log(tar_in_block / n_tar) - np.log(non_in_block / n_non)
    tar, non = tar_in_block > 0, non_in_block > 0
    bits_tar = np.logaddexp(0.0, -llr[tar]) @ tar_in_block[tar] / n_tar
    bits_non = np.logaddexp(0.0, llr[non]) @ non_in_block[non] / n_non
    return float(bits_tar + bits_non) / 2.0 / np.log(2.0)


def class_weights(labels: np.ndarray, prior: float) -> np.ndarray:
    """Return trial weights that give the targets the share `prior`, with mean one."""
    n_tar = np.count_nonzero(labels)
    n_non = labels.size - n_tar
    return np.where(labels == 1, prior * labels.size / n_tar, (1.0 - prior) * labels.size / n_non)


def log_odds(prior: float | np.ndarray) -> Any:
    """Return the logit of a prior, or of many."""
    return np.log(prior) - np.log1p(-prior)


def rates(tar: np.ndarray, non: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both error-rates at every target score and above all of them."""
    tar, non = np.sort(tar), np.sort(non)
    pmiss = np.arange(tar.size + 1) / tar.size
    pfa = np.append(1.0 - np.searchsorted(non, tar) / non.size, 0.0)
    return pmiss, pfa


def steppy_eer(tar: np.ndarray, non: np.ndarray) -> float:
    """Return the mean of both rates where they are closest."""
    pmiss, pfa = rates(tar, non)
    best = np.argmin(np.abs(pmiss - pfa))
    return float(pmiss[best] + pfa[best]) / 2.0


def least_cost(tar: np.ndarray, non: np.ndarray, prior: float) -> float:
    """Return the least Bayes error-rate at one prior."""
    pmiss, pfa = rates(tar, non)
    return min(float((prior * pmiss + (1.0 - prior) * pfa).min()), 1.0 - prior)


def posterior(scores: np.ndarray) -> np.ndarray:
    """Return target probabilities of log-likelihood-ratios at even prior."""
    return expit(scores)
