"""Bootstraps against plain numpy loops that pick scores and compute the metric anew.

Each ratio is the time of the loop, measured on some replicates and scaled to
2000, over the time of a whole call of `bootstrap` with 2000 replicates.
"""

import time
from collections.abc import Callable

import numpy as np
from timing import gaussian_scores, report, seconds

from bosaris_py import uncertainty as unc

REPLICATIONS = 2000
PRIOR = 0.1
THRESHOLD = 1.5
# Sets and sizes of Wu et al. 2016.
TAR_SETS, NON_SETS = (132, 96), (130, 244)


def pick(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Pick as many scores as there are, with replacement."""
    return scores[rng.integers(0, scores.size, scores.size)]


def pick_in_sets(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Pick sets (rows), and scores within each set."""
    n_sets, size = scores.shape
    rows = rng.integers(0, n_sets, n_sets)
    return scores[rows[:, None], rng.integers(0, size, scores.shape)]


def dcf(tar: np.ndarray, non: np.ndarray) -> float:
    """Compute the detection cost at the threshold."""
    return 0.1 * np.mean(tar < THRESHOLD) + 0.99 * np.mean(non >= THRESHOLD)


def rates(tar: np.ndarray, non: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Error-rates at each target score."""
    tar, non = np.sort(tar), np.sort(non)
    return np.arange(tar.size) / tar.size, 1 - np.searchsorted(non, tar) / non.size


def min_dcf(tar: np.ndarray, non: np.ndarray) -> float:
    """Least cost of all thresholds."""
    pmiss, pfa = rates(tar, non)
    return min(float((PRIOR * pmiss + (1 - PRIOR) * pfa).min()), PRIOR)


def steppy_eer(tar: np.ndarray, non: np.ndarray) -> float:
    """Where the steppy ROC comes closest to the diagonal: less work than the hull takes."""
    pmiss, pfa = rates(tar, non)
    best = np.argmin(np.abs(pmiss - pfa))
    return float(pmiss[best] + pfa[best]) / 2


def loop_time(
    tar: np.ndarray,
    non: np.ndarray,
    metric: Callable[[np.ndarray, np.ndarray], float],
    n_replicates: int,
    picker: Callable[[np.ndarray, np.random.Generator], np.ndarray] = pick,
) -> float:
    """Return the seconds that 2000 replicates of a plain loop would take."""
    rng = np.random.default_rng(1)
    start = time.perf_counter()
    for _ in range(n_replicates):
        metric(picker(tar, rng), picker(non, rng))
    return (time.perf_counter() - start) / n_replicates * REPLICATIONS


def compare(name: str, loop: float, call: Callable[[], object], repeats: int = 3) -> None:
    """Print how many times faster a call is than a loop."""
    elapsed = seconds(call, repeats)
    per_replicate = elapsed / REPLICATIONS * 1e6
    report(name, loop / elapsed, "faster than the loop", f"{per_replicate:.1f} us a replicate")


def papers_size() -> None:
    """Compare at 12672 targets and 31720 non-targets."""
    rng = np.random.default_rng(0)
    tar = rng.normal(3.0, 1.0, TAR_SETS) + 0.5 * rng.normal(size=(TAR_SETS[0], 1))
    non = rng.normal(0.0, 1.0, NON_SETS) + 0.5 * rng.normal(size=(NON_SETS[0], 1))
    t, n = tar.ravel(), non.ravel()
    sets = {
        "tar_sets": np.repeat(np.arange(TAR_SETS[0]), TAR_SETS[1]),
        "non_sets": np.repeat(np.arange(NON_SETS[0]), NON_SETS[1]),
    }
    size = f"{t.size} / {n.size}"
    loop = loop_time(t, n, dcf, 200)
    compare(f"iid DCF, {size}", loop, lambda: unc.bootstrap(t, n, unc.DCF(THRESHOLD)))
    loop = loop_time(tar, non, dcf, 200, pick_in_sets)
    compare(
        f"two-layer DCF, {size}",
        loop,
        lambda: unc.bootstrap(t, n, unc.DCF(THRESHOLD), method="two-layer", **sets),
    )
    loop = loop_time(t, n, min_dcf, 200)
    compare(f"iid minDCF, {size}", loop, lambda: unc.bootstrap(t, n, unc.MinDCF(PRIOR)))
    loop = loop_time(t, n, steppy_eer, 200)
    compare(f"iid EER, {size}", loop, lambda: unc.bootstrap(t, n, unc.EER()))
    start = time.perf_counter()
    runs = unc.standard_error_distribution(
        t, n, unc.DCF(THRESHOLD), method="two-layer", rng=2, **sets
    )
    elapsed = time.perf_counter() - start
    print(f"standard_error_distribution, two-layer DCF, 500 x 2000: {elapsed:.1f} s; {runs}")


def large_size() -> None:
    """Compare at 10^5 targets and 10^7 non-targets."""
    tar, non = gaussian_scores(10**5, 10**7)
    for name, metric, statistic in (
        ("iid minDCF, 10^5 / 10^7", min_dcf, unc.MinDCF(PRIOR)),
        ("iid EER, 10^5 / 10^7", steppy_eer, unc.EER()),
    ):
        loop = loop_time(tar, non, metric, 3)
        compare(name, loop, lambda s=statistic: unc.bootstrap(tar, non, s), repeats=1)


def main() -> None:
    """Print the ratios."""
    papers_size()
    large_size()


if __name__ == "__main__":
    main()
