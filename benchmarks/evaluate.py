"""One call of `evaluate` with five figures and their intervals, beside its parts.

    python benchmarks/evaluate.py            three sizes, 1,000 replicates

Prints the processor time on one core of `evaluate` with 1,000 replicates by speaker, its ratio to
five bootstraps of one figure each, and to the table without intervals.
"""

import os

# Before numpy is there: products of matrices on one core.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import time
import warnings

import numpy as np
from timing import machine, seconds

import bosaris_py as bp
from bosaris_py import uncertainty as unc

# Speakers, models of each, segments of each: 16,000, 108,000 and 400,000 trials.
SIZES = ((40, 2, 5), (60, 3, 10), (100, 4, 10))
PRIOR = 0.05
STATISTICS = (unc.Cllr(), unc.MinCllr(), unc.EER(), unc.ActDCF(PRIOR), unc.MinDCF(PRIOR))


def crossed(n_speakers: int, n_models: int, n_segments: int) -> tuple[bp.Scores, bp.Key, dict]:
    """Return scores of all models and segments of some speakers, and who speaks in each."""
    rng = np.random.default_rng(0)
    models, segments = (np.repeat(np.arange(n_speakers), n) for n in (n_models, n_segments))
    same = models[:, None] == segments
    habits = 0.4 * rng.normal(size=n_speakers)
    llrs = 4.0 * same - 2.0 + rng.normal(size=same.shape)
    llrs += habits[models, None] + habits[segments]
    names = [
        [f"{side}{i}" for i in range(of.size)] for side, of in (("m", models), ("s", segments))
    ]
    persons = dict(
        zip((*names[0], *names[1]), map(int, np.concatenate((models, segments))), strict=True)
    )
    return bp.Scores(llrs, *names), bp.Key(*names, same, ~same), persons


def main() -> None:
    """Time each size."""
    print(machine())
    warnings.simplefilter("ignore")
    for size in SIZES:
        scores, key, persons = crossed(*size)
        options = {"speakers": persons, "replications": 1000, "rng": 1}
        table = seconds(
            lambda k=key, s=scores: bp.evaluate({"A": s}, k, priors=PRIOR), clock=time.process_time
        )
        whole = seconds(
            lambda k=key, s=scores, o=options: bp.evaluate({"A": s}, k, priors=PRIOR, **o),
            clock=time.process_time,
        )
        parts = seconds(
            lambda k=key, s=scores, o=options: [
                unc.bootstrap_scores(s, k, each, **o) for each in STATISTICS
            ],
            clock=time.process_time,
        )
        print(
            f"{key.n_trials:>8} trials, {size[0]:>3} speakers: {whole:.3f} s, {whole / parts:.2f} "
            f"of five bootstraps, {whole / table:.0f} times the table alone"
        )


if __name__ == "__main__":
    main()
