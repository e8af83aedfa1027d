"""Ten million trials over 10^5 models and 10^5 segments as lists: files, alignment, metrics.

    python benchmarks/bench_flat.py          10^7 trials
    python benchmarks/bench_flat.py 1e6

As a matrix these trials would have 10^10 cells. Each part runs in a fresh process and tells its
peak memory, the interpreter's and numpy's own 0.1 GiB included. The times of reading are those of
the clock; the others are those of the processor, beside a sort of the scores in the same process.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from timing import machine, report, seconds

import bosaris_py as bp

N_MODELS = N_SEGMENTS = 10**5


def ids() -> tuple[list[str], list[str]]:
    """Return the ids of models and segments."""
    models = [f"speaker-{number:06d}" for number in range(N_MODELS)]
    return models, [f"utt-{number:08d}.wav" for number in range(N_SEGMENTS)]


def make(n_trials: int) -> tuple[bp.FlatScores, bp.FlatKey]:
    """Return trials scattered by a rule, each once; one in a hundred is a target."""
    lines = np.arange(n_trials)
    models = lines * 7 % N_MODELS
    segments = (lines // N_MODELS * 7919 + lines * 31) % N_SEGMENTS
    rng = np.random.default_rng(0)
    is_target = rng.random(n_trials) < 0.01
    values = rng.normal(size=n_trials) + 3.0 * is_target
    trials = (*ids(), models, segments)
    return bp.FlatScores(values, *trials), bp.FlatKey(*trials, is_target)


def evaluate(scores: bp.FlatScores, key: bp.FlatKey) -> str:
    """Align scores and compute what a report shows."""
    results = bp.Results.from_scores(scores, key)
    costs = [results.act_dcf(prior) + results.min_dcf(prior) for prior in (0.5, 0.01, 0.001)]
    return f"{results!r} {costs}"


def compare(name: str, scores: bp.FlatScores, key: bp.FlatKey) -> None:
    """Time the steps of an evaluation against the sort of the scores."""
    clock = time.perf_counter
    sort = seconds(lambda: np.sort(scores.scores), repeats=3, clock=clock)
    steps: dict[str, Callable[[], object]] = {
        "align_with_ndx": lambda: scores.align_with_ndx(key),
        "get_tar_non": lambda: scores.get_tar_non(key),
        "aligned and evaluated": lambda: evaluate(scores, key),
    }
    for step, call in steps.items():
        elapsed = seconds(call, repeats=3, clock=clock)
        report(f"{step}, {name}", elapsed / sort, "numpy.sort", f"{elapsed:.2f} s")


def write(folder: Path, n_trials: int) -> None:
    """Write scores and key in both formats."""
    scores, key = make(n_trials)
    for extension in ("txt", "h5"):
        for name, thing in (("scores", scores), ("key", key)):
            path = folder / f"{name}.{extension}"
            elapsed = seconds(lambda path=path, thing=thing: thing.save(path), repeats=1)
            print(f"write {path.name}: {elapsed:.1f} s, {path.stat().st_size / 1e6:.0f} MB")


def read(folder: Path, read_pair: Callable[[Path], tuple[bp.FlatScores, bp.FlatKey]]) -> None:
    """Read scores and key, align and evaluate them."""
    start = time.perf_counter()
    scores, key = read_pair(folder)
    middle = time.perf_counter()
    evaluate(scores, key)
    end = time.perf_counter()
    print(f"read {middle - start:.1f} s, aligned and evaluated {end - middle:.2f} s")


def text_pair(folder: Path) -> tuple[bp.FlatScores, bp.FlatKey]:
    """Read text files, of formats that are found out."""
    key, _ = bp.read_key(folder / "key.txt")
    return bp.read_scores(folder / "scores.txt"), key


def hdf5_pair(folder: Path) -> tuple[bp.FlatScores, bp.FlatKey]:
    """Read HDF5 files."""
    return bp.FlatScores.read(folder / "scores.h5"), bp.FlatKey.read(folder / "key.h5")


def same_order(_: Path, n_trials: int) -> None:
    """Scores of exactly the trials of the key."""
    compare("same trials", *make(n_trials))


def more_scores(_: Path, n_trials: int) -> None:
    """Scores of more trials than the key has."""
    scores, key = make(n_trials)
    kept = np.random.default_rng(1).random(n_trials) < 0.9
    trials = (values[kept] for values in (key.models, key.segments, key.is_target))
    compare("more scores", scores, bp.FlatKey(key.modelset, key.segset, *trials))


def other_order(_: Path, n_trials: int) -> None:
    """Scores whose ids come in another order than those of the key."""
    scores, key = make(n_trials)
    rng = np.random.default_rng(1)
    rows, cols = rng.permutation(N_MODELS), rng.permutation(N_SEGMENTS)
    positions = np.argsort(rows)[key.models], np.argsort(cols)[key.segments]
    shuffled = bp.FlatKey(key.modelset[rows], key.segset[cols], *positions, key.is_target)
    compare("other order of ids", scores, shuffled)


PARTS: dict[str, Callable[[Path, int], None]] = {
    "write": write,
    "text": lambda folder, _: read(folder, text_pair),
    "hdf5": lambda folder, _: read(folder, hdf5_pair),
    "same": same_order,
    "more": more_scores,
    "other": other_order,
}


def main() -> None:
    """Run all parts, or in a process started for it a single one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trials", type=float, nargs="?", default=1e7)
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        PARTS[options.part](options.folder, int(options.trials))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"part {options.part!r}: peak memory {peak:.2f} GiB", flush=True)
        return
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for part in PARTS:
            arguments = [str(options.trials), "--part", part, "--folder", folder]
            subprocess.run([sys.executable, __file__, *arguments], check=True)


if __name__ == "__main__":
    main()
