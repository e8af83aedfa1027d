"""What is compared: tasks, their data, and when two libraries agree.

Nothing here imports a peer, so that this module can be read by any interpreter.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

MODULES = (
    "with_bosaris",
    "with_scipy",
    "with_sklearn",
    "with_llreval",
    "with_lir",
    "with_score_analysis",
    "with_torchmetrics",
    "with_psrcal",
    "with_expected_cost",
    "with_confidence_intervals",
    "with_confidenceinterval",
    "with_mlstatkit",
    "with_pyeer",
    "with_bob",
)
"""Modules of this package, one for each library; the first is what all are compared with."""

SIZES = {
    "large": (10**5, 10**7),
    "medium": (10**4, 10**6),
    "small": (10**3, 10**5),
    "paper": (12672, 31720),
    "tiny": (100, 300),
}
"""Numbers of targets and non-targets: "paper" as in Wu et al. 2016, "tiny" for a first call."""

SHRINKING = ("large", "medium", "small")
"""What is tried in turn until a library finishes in time."""

PRIORS = np.linspace(0.001, 0.999, 1000)
FEW_PRIORS = np.array([0.001, 0.01, 0.1, 0.5, 0.9])

# Of the bootstraps.
REPLICATIONS = 2000
THRESHOLD = 1.5
C_MISS, C_FA, PRIOR = 10.0, 1.0, 0.01
BOOTSTRAP_PRIOR = 0.1


@dataclass(frozen=True)
class Task:
    """Something that several libraries can do.

    `agreement` is how far results may differ from those of bosaris_py, relative to the largest
    of them, unless the job of a library gives another limit and a reason. `required` is how
    many times faster than its fastest peer bosaris_py has to be.
    """

    title: str
    sizes: tuple[str, ...] = SHRINKING
    agreement: float = 1e-9
    required: float | None = None


TASKS = {
    "rocch": Task("ROC convex hull", required=10),
    "eer": Task("Equal error rate", required=10),
    "min_dcf": Task("minDCF at 1000 priors", required=10),
    "min_cllr": Task("minimum Cllr", required=10),
    "cllr": Task("Cllr", required=2),
    "auc": Task("Area under the ROC"),
    "auc_se": Task("AUC with its standard error"),
    # Differences of nearly equal areas: digits cancel.
    "delong": Task("DeLong's test of two systems", agreement=1e-6),
    "calibration": Task("Linear calibration, prior 0.5", required=8),
    "calibration_001": Task("Linear calibration, prior 0.01", required=8),
    "fusion": Task("Fusion of three systems, prior 0.5", required=8),
    "fusion_001": Task("Fusion of three systems, prior 0.01", required=8),
    # 2000 replicates know a standard error to 1.6 %; this is four times that of a difference.
    "bootstrap_dcf": Task("Bootstrap of DCF", ("paper",), agreement=0.09, required=50),
    "bootstrap_eer": Task("Bootstrap of EER", ("paper",), agreement=0.09, required=50),
    "bootstrap_min_dcf": Task("Bootstrap of minDCF", ("paper",), agreement=0.09, required=50),
}


@dataclass(frozen=True)
class Job:
    """How one library does one task."""

    task: str
    takes: str
    agreement: float | None = None
    because: str = ""
    variant: str = ""


def job(task: str, takes: str, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Mark a function as a job. `takes` names what `inputs` prepares for it."""

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        function.jobs = (*getattr(function, "jobs", ()), Job(task, takes, **options))  # type: ignore[attr-defined]
        return function

    return mark


def jobs_of(module: ModuleType) -> dict[str, tuple[Job, Callable[..., Any]]]:
    """Return the jobs of a module by their names."""
    found = {}
    for function in vars(module).values():
        for marked in getattr(function, "jobs", ()):
            name = f"{marked.task}/{marked.variant}" if marked.variant else marked.task
            found[name] = (marked, function)
    return found


def write_data(folder: Path) -> None:
    """Write the scores of every size, of three systems each."""
    for size, (n_tar, n_non) in SIZES.items():
        rng = np.random.default_rng(0)
        common_tar, common_non = rng.normal(size=n_tar), rng.normal(size=n_non)
        tar = 3.0 + 0.6 * common_tar + 0.8 * rng.normal(size=(3, n_tar))
        non = 0.6 * common_non + 0.8 * rng.normal(size=(3, n_non))
        np.save(folder / f"{size}-tar.npy", tar)
        np.save(folder / f"{size}-non.npy", non)


def inputs(folder: Path, size: str, takes: str) -> tuple[np.ndarray, ...]:
    """Return what a job is called with, in the form that its library likes best.

    Making that form is not part of the job, in time or in memory.

    - "classes": target and non-target scores;
    - "stacks": the same of three systems;
    - "pooled": all scores, targets first, and labels 1 and 0;
    - "two pooled": labels and the pooled scores of two systems;
    - "column": pooled scores as a matrix of one column, labels;
    - "columns": pooled scores of three systems as columns, labels;
    - "converted": what the module's own `convert` makes of the pooled scores and labels.
    """
    tar = np.load(folder / f"{size}-tar.npy")
    non = np.load(folder / f"{size}-non.npy")
    if takes == "stacks":
        return tar, non
    if takes == "classes":
        return tar[0].copy(), non[0].copy()
    labels = np.concatenate(
        (np.ones(tar.shape[1], dtype=np.int64), np.zeros(non.shape[1], dtype=np.int64))
    )
    pooled = np.concatenate((tar, non), axis=1)
    if takes == "columns":
        return np.ascontiguousarray(pooled.T), labels
    if takes == "two pooled":
        return labels, pooled[0].copy(), pooled[1].copy()
    first = pooled[0].copy()
    return (first[:, np.newaxis] if takes == "column" else first), labels


def summary(task: str, result: Any) -> list[float]:
    """Turn a result into a few numbers to compare."""
    if task == "rocch":
        pmiss, pfa = (np.asarray(rates, dtype=np.float64) for rates in result)
        costs = np.outer(FEW_PRIORS, pmiss) + np.outer(1.0 - FEW_PRIORS, pfa)
        return costs.min(axis=1).tolist()
    return np.atleast_1d(np.asarray(result, dtype=np.float64)).tolist()
