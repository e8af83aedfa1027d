"""Tell what more speakers, more models and more test segments do to the standard error.

Simulates many crossed data sets of several sizes (see ``tests/crossed_trials.py``) and takes the
standard deviation of their error-rates and costs: the true standard errors, without any
bootstrap. Writes a table of the documentation page "Sample size" to
``docs/planning_table.md``. Run it from the root of the tree, whose tests it uses:

    python -m benchmarks.planning_study                         as published: 1000 data sets
    python -m benchmarks.planning_study --sets 50 --output -    a quick look, on the screen
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tqdm import tqdm

from bosaris_py import OperatingPoint
from bosaris_py.numerics.metrics import error_rates_at
from tests.crossed_trials import CrossedExperiment

ROOT = Path(__file__).resolve().parent.parent
THRESHOLD = 0.0
POINT = OperatingPoint(0.05)
EXPERIMENTS = {
    "one design": CrossedExperiment(),
    "twice the speakers": CrossedExperiment(n_speakers=160),
    "half the speakers": CrossedExperiment(n_speakers=40),
    "twice the models": CrossedExperiment(n_models=4),
    "twice the segments": CrossedExperiment(n_segments=8),
    "four times both": CrossedExperiment(n_models=8, n_segments=16),
}


def spread(experiment: CrossedExperiment, n_sets: int, label: str) -> np.ndarray:
    """Return the standard deviation of miss rate, false-alarm rate and normalized cost."""
    rows = []
    for rng in tqdm(np.random.default_rng(1).spawn(n_sets), desc=label):
        pmiss, pfa = error_rates_at(*experiment.draw(rng).trials(), THRESHOLD)
        cost = (POINT.miss_cost * pmiss + POINT.fa_cost * pfa) / POINT.miss_cost
        rows.append((pmiss, pfa, cost))
    return np.std(rows, axis=0, ddof=1)


def table(n_sets: int) -> Iterator[str]:
    """Compare sizes of the same experiment."""
    accuracy = 100 / np.sqrt(2 * n_sets)
    yield (
        "True standard errors of the miss rate, the false-alarm rate and the normalized cost, "
        f"from {n_sets} simulated data sets of each size, known to {accuracy:.0f} %:"
    )
    yield ""
    yield "| design | speakers | models | segments | trials | SE(pmiss) | SE(pfa) | SE(DCF) |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for name, experiment in EXPERIMENTS.items():
        k, m, s = experiment.n_speakers, experiment.n_models, experiment.n_segments
        pmiss, pfa, cost = spread(experiment, n_sets, name)
        yield (
            f"| {name} | {k} | {m} | {s} | {k * m * k * s:,} | {100 * pmiss:.2f} % | "
            f"{100 * pfa:.3f} % | {cost:.3f} |"
        )


def main() -> None:
    """Run the study and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=1000, help="simulated data sets of each size")
    parser.add_argument("--output", default=str(ROOT / "docs" / "planning_table.md"))
    options = parser.parse_args()
    notice = "<!-- Made by benchmarks/planning_study.py; do not edit. -->\n\n"
    text = notice + "\n".join(table(options.sets)) + "\n"
    if options.output == "-":
        sys.stdout.write(text)
    else:
        Path(options.output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
