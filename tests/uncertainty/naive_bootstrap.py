"""The bootstraps of the papers as plain loops, and closed forms of their standard errors."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np


def plain_replicates(
    tar: np.ndarray,
    non: np.ndarray,
    statistic: Callable[[np.ndarray, np.ndarray], float],
    rng: np.random.Generator,
    n_replicates: int,
    *,
    method: str = "iid",
    tar_sets: np.ndarray | None = None,
    non_sets: np.ndarray | None = None,
) -> np.ndarray:
    """Pick scores, make two lists, compute the statistic anew: algorithms I, II, III."""
    if method == "iid":
        tar_groups, non_groups = [tar], [non]
    else:
        tar_groups = [tar[tar_sets == label] for label in np.unique(tar_sets)]
        non_groups = [non[non_sets == label] for label in np.unique(non_sets)]
    replicates = []
    for _ in range(n_replicates):
        lists = []
        for groups in (tar_groups, non_groups):
            chosen = groups
            if method != "iid":
                chosen = [groups[i] for i in rng.integers(0, len(groups), len(groups))]
            if method != "one-layer":
                chosen = [group[rng.integers(0, group.size, group.size)] for group in chosen]
            lists.append(np.concatenate(chosen))
        replicates.append(statistic(*lists))
    return np.array(replicates)


def naive_min_dcf(tar: np.ndarray, non: np.ndarray, prior: float) -> float:
    """Try every threshold."""
    t, n = np.sort(tar), np.sort(non)
    pmiss = np.searchsorted(t, t) / t.size
    pfa = 1 - np.searchsorted(n, t) / n.size
    return min(float((prior * pmiss + (1 - prior) * pfa).min()), prior, 1 - prior)


def variance_of_mean(values: np.ndarray, sets: np.ndarray | None, method: str) -> float:
    """Variance of the mean of 0-1 values over all possible resamplings; equal sets.

    i.i.d.: n independent picks, each with variance p (1 - p). One-layer: m
    independent picks of a set mean. Two-layer: m independent picks of the mean
    of mu picks within a set; the variance of such a pick is that of the set
    means plus the mean of p_s (1 - p_s) / mu, by the law of total variance.
    """
    p = values.mean()
    if method == "iid":
        return float(p * (1 - p) / values.size)
    groups = [values[sets == label] for label in np.unique(sets)]
    means = np.array([group.mean() for group in groups])
    variance = np.mean((means - p) ** 2)
    if method == "two-layer":
        sizes = np.array([group.size for group in groups])
        variance += np.mean(means * (1 - means) / sizes)
    return float(variance / len(groups))


def scores_with_set_effects(
    rng: np.random.Generator, tar_shape: tuple[int, int], non_shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Scores of sets that differ in their means: tar, non, tar_sets, non_sets."""
    arrays = []
    for mean, (n_sets, size) in ((2.5, tar_shape), (0.0, non_shape)):
        shifts = 0.5 * rng.normal(size=(n_sets, 1))
        arrays.append((mean + shifts + rng.normal(size=(n_sets, size))).ravel())
    labels = [np.repeat(np.arange(n), size) for n, size in (tar_shape, non_shape)]
    # Trials of one set need not stand together.
    orders = [rng.permutation(a.size) for a in arrays]
    tar, non = (a[order] for a, order in zip(arrays, orders, strict=True))
    tar_sets, non_sets = (a[order] for a, order in zip(labels, orders, strict=True))
    return tar, non, tar_sets, non_sets


def with_sets_where_used(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a bootstrap for loops over methods: "iid" refuses labels, the others need them."""

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        if options.get("method", "iid") == "iid":
            options = {k: v for k, v in options.items() if k not in ("tar_sets", "non_sets")}
        return function(*arguments, **options)

    return call
