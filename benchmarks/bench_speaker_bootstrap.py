"""Speaker bootstraps of five million trials of 500 speakers, against a plain weighted numpy loop.

    python benchmarks/bench_speaker_bootstrap.py            as published: 2000 replicates
    python benchmarks/bench_speaker_bootstrap.py --few      40 speakers, 40,000 trials

The loop has the trials sorted already. For each replicate it multiplies the weights of the two
speakers of each trial, adds them up, and reads the error-rates at the target scores. A few of its
replicates are timed, and compared with the library's. Times are the processor's, on one core; those
of the library are of a whole call, sorts included. Memory is the peak beyond scores and key.
"""

import os

# Before numpy is there: products of matrices on one core.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import functools
import time
from collections.abc import Callable

import numpy as np
from timing import machine, peak_bytes, report, seconds

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.numerics.hull import hull_eers

PRIOR = 0.01
SEED = 2

# Miss and false-alarm rate at the target scores, ascending, and where all is rejected.
Rates = tuple[np.ndarray, np.ndarray]


class Trials:
    """All models and segments of some speakers; two systems that have much in common."""

    def __init__(self, n_speakers: int, n_models: int, n_segments: int) -> None:
        rng = np.random.default_rng(0)
        of_models, of_segments = (
            np.repeat(np.arange(n_speakers), n) for n in (n_models, n_segments)
        )
        ids = [
            [f"{kind}{i:05d}" for i in range(speakers.size)]
            for kind, speakers in (("model", of_models), ("segment", of_segments))
        ]
        same = of_models[:, None] == of_segments
        habits = 0.4 * rng.normal(size=n_speakers)
        matrix = rng.normal(3.0 * same) + habits[of_models, None] + habits[of_segments]
        self.systems = [
            bp.Scores(matrix + noise * rng.normal(size=same.shape), *ids) for noise in (0.0, 0.7)
        ]
        self.n_speakers, self.key = n_speakers, bp.Key(*ids, same, ~same)
        self.speakers = tuple(
            dict(zip(names, [f"{number:05d}" for number in speakers], strict=True))
            for names, speakers in zip(ids, (of_models, of_segments), strict=True)
        )
        both = np.broadcast_arrays(of_models[:, None], of_segments)
        (tar_speakers, _), speakers = ([side.T[mask.T] for side in both] for mask in (same, ~same))
        self.loops = []
        for scores in self.systems:
            tar, non = scores.get_tar_non(self.key)
            tar_order, non_order = np.argsort(tar), np.argsort(non)
            below = np.searchsorted(non, tar[tar_order], sorter=non_order)
            first, second = (side[non_order] for side in speakers)
            arrays = tar_speakers[tar_order], first, second, below
            self.loops.append(functools.partial(rates, *arrays))

    def weights(self, n_replicates: int) -> list[np.ndarray]:
        """Return the weights of speakers in the first replicates, as the library draws them."""
        size = n_replicates, self.n_speakers
        picks = np.random.default_rng(SEED).integers(0, self.n_speakers, size)
        counts = [np.bincount(pick, minlength=self.n_speakers) for pick in picks]
        return [count.astype(np.float64) for count in counts]


def rates(
    targets: np.ndarray, first: np.ndarray, second: np.ndarray, below: np.ndarray, w: np.ndarray
) -> Rates:
    """Weight each trial, and read the rates at the target scores."""
    misses = np.append(0.0, np.cumsum(w[targets]))
    rejected = np.append(0.0, np.cumsum(w[first] * w[second]))
    return misses / misses[-1], np.append((rejected[-1] - rejected[below]) / rejected[-1], 0.0)


def min_dcf(pmiss: np.ndarray, pfa: np.ndarray) -> float:
    """Try all thresholds."""
    return min(float((PRIOR * pmiss + (1 - PRIOR) * pfa).min()), PRIOR)


def eer(pmiss: np.ndarray, pfa: np.ndarray) -> float:
    """Return the EER of the hull."""
    return float(hull_eers(pmiss[np.newaxis], pfa[np.newaxis])[0][0])


METRICS: dict[str, tuple[object, Callable[..., float], int]] = {
    "EER": (unc.EER(), eer, 1),
    "minDCF": (unc.MinDCF(PRIOR, normalize=False), min_dcf, 1),
    "difference of two EERs": (unc.EER(), eer, 2),
}


def compare(trials: Trials, name: str, replications: int, n_loop: int) -> None:
    """Time the loop and the library, compare replicates, and take the peak of memory."""
    metric, of_rates, n_systems = METRICS[name]
    loops, key = trials.loops[:n_systems], trials.key
    some = trials.weights(n_loop)
    values = np.array([[of_rates(*loop(w)) for loop in loops] for w in some])
    expected = values[:, 0] - values[:, 1] if n_systems > 1 else values[:, 0]
    in_loop = seconds(
        lambda: [of_rates(*loop(w)) for w in some for loop in loops], 2, time.process_time
    )
    options = {"speakers": trials.speakers, "replications": replications, "rng": SEED}
    if n_systems > 1:
        options["against"] = trials.systems[1]
    call = functools.partial(unc.bootstrap_scores, trials.systems[0], key, metric, **options)
    found = call().replicates[:n_loop]
    elapsed = seconds(call, 1, time.process_time)
    memory = peak_bytes(functools.partial(call, replications=500)) / (8 * n_systems * key.n_trials)
    ratio = (in_loop / n_loop) / (elapsed / replications)
    error = np.abs(found - expected).max()
    remark = (
        f"{1e3 * elapsed / replications:.3f} ms a replicate, loop {1e3 * in_loop / n_loop:.3f} ms, "
        f"greatest deviation {error:.0e}, peak memory {memory:.1f} x scores"
    )
    report(name, ratio, "faster than the loop", remark)


def main() -> None:
    """Compare all, or some."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--few", action="store_true", help="40 speakers, 40,000 trials")
    parser.add_argument("--replications", type=int, default=2000)
    parser.add_argument("--loop", type=int, default=20, help="replicates of the loop")
    parser.add_argument("--only", default="", help="some metrics, by a part of their name")
    options = parser.parse_args()
    trials = Trials(*((40, 5, 5) if options.few else (500, 2, 10)))
    print(
        f"{trials.n_speakers} speakers, {trials.key.n_trials:,} trials, "
        f"{options.replications} replicates.\n{machine()}."
    )
    for name in METRICS:
        if options.only in name:
            compare(trials, name, options.replications, options.loop)


if __name__ == "__main__":
    main()
