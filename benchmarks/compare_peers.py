"""Compare bosaris_py with llreval, scikit-learn, scipy and pandas: the same work on the same data.

Each job is done by all in turn, on one core, and the least processor time of the turns counts.
Results must agree with those of bosaris_py to 1e-6; of a training, which others end early, the
objective that was reached must to 1e-4. Where a library lacks a function, the job is the
shortest program that one would write with it. The table goes to docs/evidence.md:

    pip install '.[bench]'
    python benchmarks/compare_peers.py
    python benchmarks/compare_peers.py --non-targets 1e5 --output -
"""

import os

# Before numpy is there.
os.environ.update(
    dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import argparse
import functools
import importlib.metadata
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from llreval.cllr import cllr as llreval_cllr, min_cllr as llreval_min_cllr
from llreval.pav_rocch import PAV, ROCCH
from scipy import optimize, special, stats
from sklearn.isotonic import isotonic_regression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from timing import into_page, machine

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.files.text import read_table
from bosaris_py.numerics.scoring import evaluate_objective

OURS, LIBRARIES = "bosaris_py", ("llreval", "scikit-learn", "scipy", "pandas")
PRIORS = np.linspace(0.001, 0.999, 1000)
PRIOR, LOG_ODDS, LN_2 = 0.01, float(special.logit(0.01)), np.log(2)
TURNS = 3
Jobs = dict[str, Callable[[], object]]


def draw(n_tar: int, n_non: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of three systems that have something in common; an EER of 7 % each."""
    rng = np.random.default_rng(0)
    tar, non = (0.6 * rng.normal(size=n) + 0.8 * rng.normal(size=(3, n)) for n in (n_tar, n_non))
    return 3.0 + tar, non


def hull(ordered: np.ndarray, pav: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, ...]:
    """Return the vertices of the hull, and the counts in its blocks, from isotonic regression."""
    fitted = pav(ordered)
    first = np.flatnonzero(np.append(True, np.diff(fitted) > 0))
    sizes = np.diff(np.append(first, fitted.size))
    tar = np.rint(fitted[first] * sizes)
    non = sizes - tar
    pmiss, pfa = (np.append(0.0, np.cumsum(x)) / x.sum() for x in (tar, non))
    return pmiss, 1.0 - pfa, tar, non


def hull_eer(pmiss: np.ndarray, pfa: np.ndarray, *_: np.ndarray) -> float:
    """Return where the hull crosses the diagonal."""
    place = np.arange(pmiss.size)
    at = optimize.brentq(lambda x: np.interp(x, place, pmiss - pfa), 0, pmiss.size - 1, xtol=1e-12)
    return float(np.interp(at, place, pmiss))


def hull_costs(pmiss: np.ndarray, pfa: np.ndarray, *_: np.ndarray) -> np.ndarray:
    """Return the least Bayes error-rate at many priors."""
    return (np.outer(PRIORS, pmiss) + np.outer(1.0 - PRIORS, pfa)).min(axis=1)


def hull_min_cllr(pmiss: np.ndarray, pfa: np.ndarray, tar: np.ndarray, non: np.ndarray) -> float:
    """Return minimum Cllr."""
    with np.errstate(divide="ignore"):
        llr = np.log(tar / tar.sum()) - np.log(non / non.sum())
    bits = (np.logaddexp(0, -s * llr[n > 0]) @ n[n > 0] / n.sum() for s, n in ((1, tar), (-1, non)))
    return float(sum(bits)) / 2 / LN_2


def train_by_scipy(tar: np.ndarray, non: np.ndarray) -> np.ndarray:
    """Minimise the prior-weighted cross-entropy by L-BFGS-B."""

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        z_tar, z_non = w[:-1] @ tar + w[-1] + LOG_ODDS, w[:-1] @ non + w[-1] + LOG_ODDS
        value = -PRIOR * np.mean(special.log_expit(z_tar))
        value -= (1 - PRIOR) * np.mean(special.log_expit(-z_non))
        down = special.expit(-z_tar) * (-PRIOR / z_tar.size)
        up = special.expit(z_non) * ((1 - PRIOR) / z_non.size)
        return value, np.append(tar @ down + non @ up, down.sum() + up.sum())

    return optimize.minimize(objective, np.zeros(len(tar) + 1), jac=True, method="L-BFGS-B").x


def train_by_sklearn(columns: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Fit a logistic regression with weights of trials for the prior."""
    share = np.where(labels, PRIOR / labels.mean(), (1 - PRIOR) / (1 - labels.mean()))
    model = LogisticRegression(C=np.inf).fit(columns, labels, sample_weight=share)
    return np.append(model.coef_[0], model.intercept_[0] - LOG_ODDS)


def tasks(n_tar: int, n_non: int, folder: Path) -> Iterator[tuple[str, Jobs]]:
    """Yield what is compared, and how each library does it."""
    tars, nons = draw(n_tar, n_non)
    tar, non = tars[0], nons[0]
    scores, labels = np.append(tar, non), np.repeat([1, 0], [n_tar, n_non])

    def of_hull(function: Callable[..., object]) -> Jobs:
        def ordered() -> np.ndarray:
            return labels[np.argsort(scores, kind="stable")].astype(float)

        return {
            "scikit-learn": lambda: function(*hull(ordered(), isotonic_regression)),
            "scipy": lambda: function(
                *hull(ordered(), lambda y: optimize.isotonic_regression(y).x)
            ),
        }

    yield (
        "EER of the hull",
        {
            OURS: lambda: bp.eer(tar, non),
            "llreval": lambda: ROCCH(PAV(scores, labels)).EER(),
            **of_hull(hull_eer),
        },
    )
    yield (
        "minDCF at 1000 priors",
        {
            OURS: lambda: bp.min_dcf(tar, non, PRIORS, normalize=False),
            "llreval": lambda: ROCCH(PAV(scores, labels)).Bayes_error_rate(special.logit(PRIORS)),
            **of_hull(hull_costs),
        },
    )
    yield (
        "minimum Cllr",
        {
            OURS: lambda: bp.min_cllr(tar, non),
            "llreval": lambda: llreval_min_cllr(PAV(scores, labels)),
            **of_hull(hull_min_cllr),
        },
    )
    even, llrs = np.where(labels, 0.5 / n_tar, 0.5 / n_non), 3.0 * scores - 4.5
    up, down = llrs[:n_tar], llrs[n_tar:]
    yield (
        "Cllr",
        {
            OURS: lambda: bp.cllr(up, down),
            "llreval": lambda: llreval_cllr(up, down),
            "scikit-learn": lambda: (
                log_loss(labels, special.expit(llrs), sample_weight=even) / LN_2
            ),
            "scipy": lambda: (
                -(special.log_expit(up).mean() + special.log_expit(-down).mean()) / 2 / LN_2
            ),
        },
    )
    yield (
        "area under the ROC",
        {
            OURS: lambda: bp.auc(tar, non),
            "scikit-learn": lambda: roc_auc_score(labels, scores),
            "scipy": lambda: (
                stats.mannwhitneyu(tar, non, method="asymptotic").statistic / n_tar / n_non
            ),
        },
    )
    column, columns = scores[:, np.newaxis], np.hstack((tars, nons)).T.copy()

    def line() -> tuple[float, ...]:
        found = bp.LinearCalibration.fit(tar, non, prior=PRIOR)
        return found.scale, found.offset

    def fusion() -> tuple[float, ...]:
        found = bp.LinearFusion.fit(tars, nons, prior=PRIOR)
        return *found.weights, found.offset

    yield (
        "calibration, prior 0.01",
        {
            OURS: line,
            "scikit-learn": lambda: train_by_sklearn(column, labels),
            "scipy": lambda: train_by_scipy(tars[:1], nons[:1]),
        },
    )
    yield (
        "fusion of three, prior 0.01",
        {
            OURS: fusion,
            "scikit-learn": lambda: train_by_sklearn(columns, labels),
            "scipy": lambda: train_by_scipy(tars, nons),
        },
    )
    few = {"n_resamples": 500, "batch": 20, "method": "percentile", "rng": 1}
    small = tar[:1000], non[:10_000]
    yield (
        "bootstrap of the false-alarm rate, 500 replicates",
        {
            OURS: lambda: (
                unc.bootstrap(*small, unc.Pfa(1.5), replications=500, rng=1).standard_error
            ),
            "scipy": lambda: (
                stats.bootstrap(
                    (small[1],), lambda x, axis: np.mean(x >= 1.5, axis=axis), **few
                ).standard_error
            ),
        },
    )
    path, n_lines = folder / "scores.txt", min(n_non, 10**6)
    with path.open("w") as stream:
        ids = np.random.default_rng(1).integers(0, [1000, 20_000], (n_lines, 2)).tolist()
        pairs = zip(ids, non.tolist(), strict=False)
        stream.writelines(f"spk{m:05d} utt{s:07d} {x:.5f}\n" for (m, s), x in pairs)
    import pandas as pd

    kinds = {0: "category", 1: "category", 2: "f8"}
    yield (
        f"reading {n_lines:,} lines of text",
        {
            OURS: lambda: read_table(path, "kaldi-scores").scores.mean(),
            "pandas": lambda: pd.read_csv(path, sep=" ", header=None, dtype=kinds)[2].mean(),
        },
    )


def agrees(name: str, ours: object, theirs: object, n_tar: int, n_non: int) -> bool:
    """Say whether two results are equal enough."""
    if name.startswith("bootstrap"):
        return bool(np.isclose(ours, theirs, rtol=0.2))
    if "prior 0.01" in name:
        tar, non = draw(n_tar, n_non)
        reached = []
        for w in map(np.asarray, (ours, theirs)):
            llrs = (w[:-1] @ x[: len(w) - 1] + w[-1] for x in (tar, non))
            reached.append(evaluate_objective(*llrs, prior=PRIOR))
        return bool(np.isclose(*reached, rtol=1e-4))
    return bool(np.allclose(theirs, ours, rtol=1e-6))


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--targets", type=float, default=1e5)
    parser.add_argument("--non-targets", type=float, default=1e6)
    parser.add_argument("--output", default="page", help="- prints")
    options = parser.parse_args()
    sizes = int(options.targets), int(options.non_targets)
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in LIBRARIES)
    lines = [f"{sizes[0]:,} targets and {sizes[1]:,} non-targets. {versions}. {machine()}.", ""]
    lines += [f"| work | here, ms | {' | '.join(LIBRARIES)} |", "|---" + "|---:" * 5 + "|"]
    with tempfile.TemporaryDirectory() as folder:
        for name, jobs in tasks(*sizes, Path(folder)):
            least: dict[str, float] = dict.fromkeys(jobs, np.inf)
            found = {}
            for _ in range(TURNS):
                for library, job in jobs.items():
                    begin = time.process_time()
                    found[library] = job()
                    least[library] = min(least[library], time.process_time() - begin)
            same = functools.partial(agrees, name, found[OURS], n_tar=sizes[0], n_non=sizes[1])
            assert all(same(result) for result in found.values()), (name, found)
            ratios = [f"{least[x] / least[OURS]:.1f}" if x in least else "" for x in LIBRARIES]
            lines.append(f"| {name} | {1e3 * least[OURS]:.1f} | {' | '.join(ratios)} |")
            print(lines[-1], flush=True)
    if options.output != "-":
        into_page("compare_peers", lines)


if __name__ == "__main__":
    main()
