"""Count how often nominal 95 % intervals cover the truth if trials share speakers.

Simulates many crossed data sets (see ``tests/crossed_trials.py``), whose true costs are known,
and counts the intervals that contain them. Writes the tables of the documentation page "How sure
are we?" to ``docs/coverage_table.md``. Run it from the root of the tree, whose tests it uses:

    python -m benchmarks.coverage_study                         as published: 300 data sets
    python -m benchmarks.coverage_study --sets 30 --output -    a quick look, on the screen
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy import optimize
from tqdm import tqdm

from bosaris_py import Key, Scores
from bosaris_py import uncertainty as unc
from bosaris_py.errors import DegenerateReplicatesWarning, FewErrorsWarning
from tests.crossed_trials import CrossedExperiment, CrossedTrials

ROOT = Path(__file__).resolve().parent.parent
THRESHOLD, PRIOR = 0.0, 0.05
COST = unc.DCF(THRESHOLD, PRIOR, 1, 1, normalize=True)
SPEAKERS = (10, 20, 40, 80)

# What one data set yields for one method: estimate, standard error, low and high end.
Answer = tuple[float, float, float, float]
Method = Callable[[CrossedTrials, np.random.Generator, int], Answer]


def by_bootstrap(statistic: unc.Statistic = COST, **options: object) -> Method:
    """Make a method of `bootstrap_scores` with some options."""

    def method(data: CrossedTrials, rng: np.random.Generator, replications: int) -> Answer:
        result = unc.bootstrap_scores(
            data.scores,
            data.key,
            statistic,
            model_speakers=data.model_speakers,
            segment_speakers=data.segment_speakers,
            replications=replications,
            rng=rng,
            **options,
        )
        return result.estimate, result.standard_error, result.low, result.high

    return method


def by_formula(data: CrossedTrials, rng: np.random.Generator, replications: int) -> Answer:
    """Take the speaker-pair robust standard error, without resampling."""
    errors = unc.speaker_errors(
        data.scores,
        data.key,
        THRESHOLD,
        model_speakers=data.model_speakers,
        segment_speakers=data.segment_speakers,
    )
    interval = errors.dcf_interval(COST)
    return interval.estimate, interval.standard_error, interval.low, interval.high


METHODS: dict[str, Method] = {
    '`"iid"`': by_bootstrap(method="iid"),
    '`"one-layer"`': by_bootstrap(method="one-layer"),
    '`"two-layer"`': by_bootstrap(method="two-layer"),
    '`"speaker"`': by_bootstrap(),
    '`"speaker"`, exponential weights': by_bootstrap(weights="exponential"),
    '`"speaker"`, double or nothing': by_bootstrap(weights="double-or-nothing"),
    '`"speaker"`, `pigeonhole=True`': by_bootstrap(pigeonhole=True),
    "formula, `speaker_errors`": by_formula,
}
KINDS: dict[str, Method] = {
    "percentile": by_bootstrap(interval="percentile"),
    "basic": by_bootstrap(interval="basic"),
    "normal": by_bootstrap(interval="normal"),
    "formula": by_formula,
}
MINIMA: dict[str, unc.Statistic] = {"minDCF": unc.MinDCF(PRIOR, normalize=True), "EER": unc.EER()}


def true_values(experiment: CrossedExperiment) -> dict[str, float]:
    """Return the costs of infinitely many speakers."""

    def cost(threshold: float) -> float:
        pmiss, pfa = experiment.error_rates(threshold)
        return pmiss + (1 - PRIOR) / PRIOR * pfa

    def gap(threshold: float) -> float:
        pmiss, pfa = experiment.error_rates(threshold)
        return pmiss - pfa

    equal = optimize.brentq(gap, experiment.non_mean, experiment.tar_mean)
    least = optimize.minimize_scalar(
        cost, bounds=(experiment.non_mean, experiment.tar_mean), method="bounded"
    )
    return {
        "DCF": cost(THRESHOLD),
        "minDCF": float(least.fun),
        "EER": experiment.error_rates(equal)[0],
    }


def run(
    experiment: CrossedExperiment, methods: dict[str, Method], n_sets: int, replications: int
) -> dict[str, np.ndarray]:
    """Apply methods to the same simulated data sets: (n_sets, 4) answers of each."""
    answers: dict[str, list[Answer]] = {name: [] for name in methods}
    label = f"{experiment.n_speakers} speakers"
    for rng in tqdm(np.random.default_rng(1).spawn(n_sets), desc=label):
        data = experiment.draw(rng)
        for (name, method), child in zip(methods.items(), rng.spawn(len(methods)), strict=True):
            answers[name].append(method(data, child, replications))
    return {name: np.array(rows) for name, rows in answers.items()}


def coverage(rows: np.ndarray, truth: float) -> float:
    """Return the share of intervals that contain the truth."""
    return float(np.mean((rows[:, 2] <= truth) & (truth <= rows[:, 3])))


def main_table(n_sets: int, replications: int) -> Iterator[str]:
    """Compare all methods on the experiment of the documentation."""
    experiment = CrossedExperiment()
    truth = true_values(experiment)["DCF"]
    answers = run(experiment, METHODS, n_sets, replications)
    spread = float(next(iter(answers.values()))[:, 0].std(ddof=1))
    error = np.sqrt(0.95 * 0.05 / n_sets)
    yield (
        f"{n_sets} simulated data sets of {experiment.n_speakers} speakers with "
        f"{experiment.n_models} models and {experiment.n_segments} test segments each; "
        f"{replications} replicates, percentile intervals (formula: normal). True normalized cost "
        f"{truth:.3f}; its estimates have a standard deviation of {spread:.3f}. The share of data "
        f"sets has a standard error of {100 * error:.1f} % where it is 95 %."
    )
    yield ""
    yield "| method | mean standard error | over the true one | coverage of nominal 95 % |"
    yield "|---|---:|---:|---:|"
    for name, rows in answers.items():
        mean = rows[:, 1].mean()
        covered = 100 * coverage(rows, truth)
        yield f"| {name} | {mean:.3f} | {mean / spread:.2f} | {covered:.0f} % |"


def speakers_table(n_sets: int, replications: int) -> Iterator[str]:
    """Tell how many speakers it takes."""
    yield (
        'Coverage of nominal 95 % intervals with `method="speaker"`, and of the formula, for fewer '
        "speakers of the same kind:"
    )
    yield ""
    yield f"| speakers | {' | '.join(KINDS)} | true standard error |"
    yield f"|---:|{'---:|' * (len(KINDS) + 1)}"
    for n_speakers in SPEAKERS:
        experiment = CrossedExperiment(n_speakers=n_speakers)
        truth = true_values(experiment)["DCF"]
        answers = run(experiment, KINDS, n_sets, replications)
        cells = [f"{100 * coverage(rows, truth):.0f} %" for rows in answers.values()]
        spread = float(next(iter(answers.values()))[:, 0].std(ddof=1))
        yield f"| {n_speakers} | {' | '.join(cells)} | {spread:.3f} |"


def weak_table(n_sets: int, replications: int) -> Iterator[str]:
    """Compare bootstrap and formula where speakers have no effect and pairs one trial."""
    n_speakers, rng = 40, np.random.default_rng(1)
    names, same = [f"speaker{i}" for i in range(n_speakers)], np.eye(n_speakers, dtype=bool)
    key = Key(names, names, same, ~same)
    cost = unc.DCF(0.5, PRIOR, 1, 1, normalize=True)
    rows = []
    for generator in tqdm(rng.spawn(n_sets), desc="no speaker effects"):
        a, b = (
            Scores(generator.normal(size=same.shape) + 3.0 * same, names, names) for _ in range(2)
        )
        paired = unc.paired_bootstrap(a, b, key, cost, replications=replications, rng=generator)
        rows.append(
            (
                (paired.first.estimate, paired.difference),
                (paired.first.standard_error, paired.standard_error),
                (
                    unc.dcf_standard_error_scores(a, key, cost),
                    unc.speaker_z_test(a, b, key, cost).standard_error,
                ),
            )
        )
    values = np.array(rows)
    spread = values[:, 0].std(axis=0, ddof=1)
    _, boot, formula = values.mean(axis=0)
    yield (
        f"Weak speaker effects: {n_sets} data sets of {n_speakers} speakers with one model and one "
        "segment each, whose scores are independent, so that speakers have no effect at all; "
        f"{replications} replicates. Mean standard errors:"
    )
    yield ""
    yield '| | true | `method="speaker"` | over the true one | formula | over the true one |'
    yield "|---|---:|---:|---:|---:|---:|"
    for i, name in enumerate(("cost of one system", "difference of two")):
        yield (
            f"| {name} | {spread[i]:.3f} | {boot[i]:.3f} | {boot[i] / spread[i]:.2f} | "
            f"{formula[i]:.3f} | {formula[i] / spread[i]:.2f} |"
        )


def minima_table(n_sets: int, replications: int) -> Iterator[str]:
    """Tell what kind of interval suits metrics that choose their own threshold."""
    experiment = CrossedExperiment()
    truths = true_values(experiment)
    kinds = ("percentile", "basic", "normal")
    methods = {
        f"{name} {kind}": by_bootstrap(statistic, interval=kind)
        for name, statistic in MINIMA.items()
        for kind in kinds
    }
    answers = run(experiment, methods, n_sets, replications)
    yield (
        'Metrics that choose their threshold on the scores they judge, `method="speaker"`, '
        f"{experiment.n_speakers} speakers, {replications} replicates:"
    )
    yield ""
    yield f"| metric | truth | mean estimate | {' | '.join(kinds)} |"
    yield f"|---|---:|---:|{'---:|' * len(kinds)}"
    for name in MINIMA:
        cells = [f"{100 * coverage(answers[f'{name} {k}'], truths[name]):.0f} %" for k in kinds]
        mean = answers[f"{name} {kinds[0]}"][:, 0].mean()
        yield f"| {name} | {truths[name]:.4f} | {mean:.4f} | {' | '.join(cells)} |"


def main() -> None:
    """Run the study and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=300, help="simulated data sets")
    parser.add_argument("--replications", type=int, default=2000, help="replicates of each")
    parser.add_argument("--output", default=str(ROOT / "docs" / "coverage_table.md"))
    options = parser.parse_args()
    # Some data sets of ten speakers have hardly any errors: part of what is studied.
    warnings.simplefilter("ignore", FewErrorsWarning)
    warnings.simplefilter("ignore", DegenerateReplicatesWarning)
    began = time.perf_counter()
    lines = ["<!-- Made by benchmarks/coverage_study.py; do not edit. -->", ""]
    lines += [*main_table(options.sets, options.replications), ""]
    lines += [*speakers_table(options.sets, options.replications), ""]
    lines += [*weak_table(options.sets, options.replications // 4), ""]
    lines += [*minima_table(options.sets, options.replications // 4)]
    text = "\n".join(lines) + "\n"
    if options.output == "-":
        print(text)
    else:
        Path(options.output).write_text(text, encoding="utf-8")
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
