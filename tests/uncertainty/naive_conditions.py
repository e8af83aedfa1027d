"""Condition-weighted metrics and their bootstraps as plain loops over lists of scores."""

from collections.abc import Callable

import numpy as np
from scipy import stats

from bosaris_py.trials import Conditions
from tests.crossed_trials import CrossedTrials

# Scores of each condition of one class.
Lists = list[np.ndarray]


def rates(tar: Lists, non: Lists, shares: list[np.ndarray], threshold: float) -> tuple:
    """Van Leeuwen's equations 3 and 4: averages of the conditions' own rates."""
    pmiss = sum(w * np.mean(part < threshold) for w, part in zip(shares[0], tar, strict=True))
    pfa = sum(w * np.mean(part >= threshold) for w, part in zip(shares[1], non, strict=True))
    return pmiss, pfa


def cost_at(threshold: float, prior: float) -> Callable[..., float]:
    """Make a cost at a fixed threshold with unit costs."""

    def cost(tar: Lists, non: Lists, shares: list[np.ndarray]) -> float:
        pmiss, pfa = rates(tar, non, shares, threshold)
        return prior * pmiss + (1 - prior) * pfa

    return cost


def min_cost(prior: float) -> Callable[..., float]:
    """Make the cost of the best threshold, by trying all."""

    def cost(tar: Lists, non: Lists, shares: list[np.ndarray]) -> float:
        thresholds = np.append(np.unique(np.concatenate((*tar, *non))), np.inf)
        return min(cost_at(t, prior)(tar, non, shares) for t in thresholds)

    return cost


def area(tar: Lists, non: Lists, shares: list[np.ndarray]) -> float:
    """Average the areas of all pairs of conditions, compared score by score."""
    total = 0.0
    for w, targets in zip(shares[0], tar, strict=True):
        for v, others in zip(shares[1], non, strict=True):
            difference = targets[:, None] - others
            total += w * v * np.mean((difference > 0) + 0.5 * (difference == 0))
    return total


def bits(tar: Lists, non: Lists, shares: list[np.ndarray]) -> float:
    """Cllr, as an average of the conditions' mean costs."""
    miss = sum(w * np.mean(np.log2(1 + np.exp(-x))) for w, x in zip(shares[0], tar, strict=True))
    alarm = sum(w * np.mean(np.log2(1 + np.exp(x))) for w, x in zip(shares[1], non, strict=True))
    return 0.5 * (miss + alarm)


def plain_replicates(
    tar: tuple[np.ndarray, np.ndarray, np.ndarray],
    non: tuple[np.ndarray, np.ndarray, np.ndarray],
    shares: list[np.ndarray],
    statistic: Callable[..., float],
    rng: np.random.Generator,
    n_replicates: int,
    method: str,
) -> np.ndarray:
    """Pick scores, make lists, compute the statistic anew; NaN if a condition gets none.

    Each class is (scores, conditions from 0, sets).
    """
    replicates = np.full(n_replicates, np.nan)
    for i in range(n_replicates):
        lists = []
        for scores, labels, sets in (tar, non):
            n_conditions = labels.max() + 1
            if method == "iid":
                picked = [np.flatnonzero(labels == c) for c in range(n_conditions)]
                lists.append([scores[rng.choice(members, members.size)] for members in picked])
                continue
            names = np.unique(sets)
            parts: list[list[np.ndarray]] = [[] for _ in range(n_conditions)]
            for name in rng.choice(names, names.size):
                for c in range(n_conditions):
                    members = np.flatnonzero((sets == name) & (labels == c))
                    if method == "two-layer" and members.size:
                        members = rng.choice(members, members.size)
                    parts[c].append(scores[members])
            lists.append([np.concatenate(part) for part in parts])
        if all(part.size for parts in lists for part in parts):
            replicates[i] = statistic(lists[0], lists[1], shares)
    return replicates


def conditions_by_phone_match(
    data: CrossedTrials, weights: dict[str, float] | None = None
) -> Conditions:
    """Let models and segments with numbers of equal parity be of one phone.

    Each speaker has trials of both conditions.
    """
    models, segments = data.key.trial_positions()
    same = models % 2 == segments % 2
    return Conditions.from_labels(
        data.key, np.where(same, "same", "other"), weights, order="columns"
    )


def same_law(a: np.ndarray, b: np.ndarray) -> bool:
    """Tell whether two samples of replicates look alike: Kolmogorov and Smirnov's test."""
    a, b = (x[np.isfinite(x)].round(12) for x in (a, b))
    return bool(stats.ks_2samp(a, b).pvalue > 1e-3)
