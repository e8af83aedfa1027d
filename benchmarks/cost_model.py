"""Predict time, memory and traffic for 10^6 to 10^11 trials, and check what can be checked here.

Measures a few constants of the machine on sets of 10^7 scores and on a file of 10^7 trials,
puts them into the formulas of ``docs/cost_model.md``, and compares the predictions with
runs up to 10^9 trials. Writes the tables of that page to ``docs/cost_table.md``.

    python benchmarks/cost_model.py                   as published: 6 GB of disk, 5 of memory
    python benchmarks/cost_model.py --largest 1e8     quicker; the row of 10^9 stays open

Times are the processor's; files are in the system's page cache.
"""

import argparse
import functools
import gc
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import timing
from suite._operation import gaussian_scores
from timing import peak_bytes, seconds

import bosaris_py as bp
from bosaris_py.numerics.linear_objective import TrainingObjective, class_moments
from bosaris_py.trials import passes

DOCS = Path(__file__).resolve().parent.parent / "docs"
PRIORS = np.linspace(0.001, 0.999, 1000)
BASE = 10**7
THRESHOLDS = (10**3, 10**4, 10**5, 10**6)
# No evaluation has more targets than that.
MOST_TARGETS = 10**6
# Passes over the full set that training makes: two or three.
PASSES = 3
# What is kept between the passes over files, and a few blocks.
KEPT, BLOCKS = 128e6, 50e6
# Bytes for each target: from files (targets, thresholds, both counts, the ROC and its
# rates), and in memory; and the work arrays of a count in memory.
PER_TARGET, KEPT_IN_MEMORY, WORK = 80.0, 72.0, 4e6
# Bytes of a score in a file, of a trial's place in its mask, and in the key.
SCORE, MASK, LABEL = 4, 1, 1


@dataclass(frozen=True)
class Machine:
    """Constants of a machine, in nanoseconds per score, target or trial."""

    count: tuple[float, ...]
    target: float
    cllr: float
    moments: float
    training_pass: float
    moments_3: float
    training_pass_3: float
    subset: float
    subset_3: float
    read_scores: float
    read_mask: float
    sort: float
    bandwidth: float

    def count_at(self, n_tar: float) -> float:
        """Interpolate what counting a score takes at so many thresholds."""
        return float(np.interp(np.log10(n_tar), np.log10(THRESHOLDS), self.count))

    def rank(self, n_tar: float, n_non: float) -> float:
        """Seconds for ROC, hull, EER and minDCF in memory."""
        return 1e-9 * (self.target * n_tar + self.count_at(n_tar) * n_non)

    def calibration(self, n_scores: float) -> float:
        """Seconds to train a linear calibration in memory."""
        return self.subset + 1e-9 * (self.moments + PASSES * self.training_pass) * n_scores

    def fusion(self, n_scores: float) -> float:
        """Seconds to train a fusion of three systems in memory."""
        return self.subset_3 + 1e-9 * (self.moments_3 + PASSES * self.training_pass_3) * n_scores

    def files(self, n_tar: float, n_non: float) -> float:
        """Seconds for all metrics from files on one core."""
        return self.rank(n_tar, n_non) + 1e-9 * self.blocks() * (n_tar + n_non)

    def blocks(self) -> float:
        """Nanoseconds for a trial of files, but for counting: reading, and Cllr."""
        return 2.0 * (self.read_scores + self.read_mask) + self.cllr


def bytes_read(n_trials: float) -> float:
    """Bytes read from files: scores twice, masks and keys once."""
    return (2.0 * SCORE + MASK + LABEL) * n_trials


def hull_eer_min_dcf(tar: np.ndarray, non: np.ndarray) -> object:
    """Compute what rank-based evaluations ask for."""
    hull = bp.ROC.from_scores(tar, non).convex_hull()
    return hull.eer, hull.min_dcf(PRIORS)


def cpu(function: Callable[[], object], repeats: int = 5) -> float:
    """Return the shortest processor time of a call."""
    return seconds(function, repeats, time.process_time)


def per_trial(function: Callable[[], object], n_trials: int, repeats: int = 5) -> float:
    """Return nanoseconds of processor time per trial."""
    return 1e9 * cpu(function, repeats) / n_trials


def measure_machine(file: Path) -> Machine:
    """Measure the constants; `file` holds scores and key of about 10^7 trials."""
    rng = np.random.default_rng(1)
    tar, non = gaussian_scores(BASE)
    many = rng.normal(3.0, 1.0, MOST_TARGETS)
    target = 1e9 * cpu(lambda: hull_eer_min_dcf(many, non[:1000])) / many.size
    count = tuple(
        (1e9 * cpu(lambda k=k: hull_eer_min_dcf(many[:k], non)) - target * k) / non.size
        for k in THRESHOLDS
    )
    tar_3, non_3 = gaussian_scores(BASE, 3)
    objective = TrainingObjective.from_scores(tar, non)
    objective_3 = TrainingObjective.from_scores(tar_3, non_3)
    n_subset = 2**17
    with h5py.File(file) as opened:
        n_cells = opened["scores"].size
    return Machine(
        count=count,
        target=target,
        cllr=per_trial(lambda: bp.cllr(tar, non), BASE),
        moments=per_trial(lambda: class_moments(non[np.newaxis]), non.size),
        training_pass=per_trial(lambda: objective.evaluate(np.array([1.0, 0.0])), BASE),
        moments_3=per_trial(lambda: class_moments(non_3), non_3.shape[1]),
        training_pass_3=per_trial(lambda: objective_3.evaluate(np.ones(4)), BASE),
        subset=cpu(lambda: bp.LinearCalibration.fit(tar, non[:n_subset])),
        subset_3=cpu(lambda: bp.LinearFusion.fit(tar_3, non_3[:, :n_subset])),
        read_scores=per_trial(lambda: read(file, "scores"), n_cells),
        read_mask=per_trial(lambda: read(file, "trial_mask"), n_cells),
        sort=1e9 * cpu(lambda: np.sort(non), 3) / non.size / np.log2(non.size),
        bandwidth=1e-9 * non.nbytes / cpu(non.max, 10),
    )


def read(file: Path, name: str) -> None:
    """Read a data set by blocks of rows, with nothing but h5py."""
    with h5py.File(file) as opened:
        rows = max(1, 2**20 // opened[name].shape[1])
        for start in range(0, opened[name].shape[0], rows):
            _ = opened[name][start : start + rows]


def write_files(folder: Path, n_trials: int) -> tuple[Path, Path]:
    """Write single-precision scores and a key with as many targets as there may be."""
    n_segments = min(50_000, n_trials // 100)
    n_models = n_trials // n_segments
    models = [f"model-{i:07d}" for i in range(n_models)]
    segments = [f"segment-{j:07d}" for j in range(n_segments)]
    share = targets_of(n_trials) / n_trials
    rng = np.random.default_rng(0)
    is_target = np.zeros((n_models, n_segments), dtype=bool)
    for row in is_target:
        row[rng.integers(0, n_segments, max(1, round(share * n_segments)))] = True
    scoremat = np.empty(is_target.shape, dtype=np.float32)
    for row, targets in zip(scoremat, is_target, strict=True):
        row[:] = rng.standard_normal(n_segments, dtype=np.float32)
        row[targets] += 3.0
    score_file, key_file = folder / f"scores-{n_trials}.h5", folder / f"key-{n_trials}.h5"
    bp.Scores(scoremat, models, segments).save(score_file)
    bp.Key(models, segments, is_target, ~is_target).save(key_file)
    return score_file, key_file


def targets_of(n_trials: float) -> float:
    """Assume one target in a hundred trials, up to a million."""
    return min(n_trials / 100, MOST_TARGETS)


def constants_table(machine: Machine) -> Iterator[str]:
    """Write the constants, also as shares of a plain sort, which vary less between machines."""
    sort = machine.sort * np.log2(BASE)
    yield "| constant | a score, target or trial | here | of a sort |"
    yield "|---|---|---:|---:|"
    rows = [
        (f"$c({k:,})$", f"count a score among {k:,} targets", value)
        for k, value in zip(THRESHOLDS, machine.count, strict=True)
    ]
    rows += [
        ("$h$", "a target: sort, ROC, hull, EER, minDCF", machine.target),
        ("$l$", "Cllr of a score", machine.cllr),
        ("$m_1$", "moments of a score, before training", machine.moments),
        ("$p_1$", "a training pass, a score of one system", machine.training_pass),
        ("$m_3$", "moments of the scores of three systems", machine.moments_3),
        ("$p_3$", "a training pass, the scores of three systems", machine.training_pass_3),
        ("$r_s$", "read a single-precision score, h5py, from the page cache", machine.read_scores),
        ("$r_m$", "read a trial of a mask or key, likewise", machine.read_mask),
        ("", "`numpy.sort` of $10^7$ scores", sort),
    ]
    for symbol, what, value in rows:
        yield f"| {symbol} | {what} | {value:.2f} ns | {value / sort:.3f} |"
    yield f"| $s_1$ | training on the subset, one system | {duration(machine.subset)} | |"
    yield f"| $s_3$ | training on the subset, three systems | {duration(machine.subset_3)} | |"
    yield f"| | memory, read by one core | {machine.bandwidth:.0f} GB/s | |"


def memory_table(machine: Machine) -> Iterator[str]:
    """Write the predictions for scores in memory, from 10^6 to 10^11."""
    yield (
        "| trials | targets | scores | ROC, hull, EER, minDCF | Cllr | calibration | "
        "fusion of 3 | beyond the scores |"
    )
    yield f"|{'---:|' * 8}"
    for exponent in range(6, 12):
        n = 10.0**exponent
        n_tar = targets_of(n)
        times = (
            machine.rank(n_tar, n),
            1e-9 * machine.cllr * n,
            machine.calibration(n),
            machine.fusion(n),
        )
        cells = " | ".join(duration(value) for value in times)
        beyond = size(KEPT_IN_MEMORY * n_tar + WORK)
        yield f"| {power(n)} | {n_tar:,.0f} | {size(8 * n)} | {cells} | {beyond} |"


def files_table(machine: Machine) -> Iterator[str]:
    """Write the predictions for files, on one core."""
    yield "| trials | file of scores | one core | memory | bytes read |"
    yield f"|{'---:|' * 5}"
    for exponent in range(6, 12):
        n = 10.0**exponent
        n_tar = targets_of(n)
        cells = (
            size(SCORE * n),
            duration(machine.files(n_tar, n)),
            size(streaming_memory(n_tar, n)),
            size(bytes_read(n)),
        )
        yield f"| {power(n)} | {' | '.join(cells)} |"


def streaming_memory(n_tar: float, n_trials: float) -> float:
    """Bytes that streaming takes: targets, thresholds, both counts, the ROC and its rates."""
    return PER_TARGET * n_tar + min(KEPT, n_trials / 8.0) + BLOCKS


def check_memory(machine: Machine, sizes: list[int]) -> Iterator[str]:
    """Compare predictions for scores in memory with runs."""
    for n in sizes:
        tar, non = gaussian_scores(n)
        repeats = 3 if n > BASE else 7
        operations = {
            "ROC, hull, EER, minDCF": (
                functools.partial(hull_eer_min_dcf, tar, non),
                machine.rank(tar.size, non.size),
            ),
            "Cllr": (functools.partial(bp.cllr, tar, non), 1e-9 * machine.cllr * n),
            "linear calibration": (
                functools.partial(bp.LinearCalibration.fit, tar, non, prior=0.1),
                machine.calibration(n),
            ),
        }
        for name, (call, predicted) in operations.items():
            yield compare(name, n, predicted, cpu(call, repeats))
        beyond = peak_bytes(functools.partial(hull_eer_min_dcf, tar, non))
        yield compare_memory("beyond the scores", n, KEPT_IN_MEMORY * tar.size + WORK, beyond)
        del tar, non, operations, call
        gc.collect()
        tar_3, non_3 = gaussian_scores(n, 3)
        call = functools.partial(bp.LinearFusion.fit, tar_3, non_3, prior=0.1)
        yield compare("fusion of three", n, machine.fusion(n), cpu(call, 2))
        del tar_3, non_3, call
        gc.collect()


def check_files(machine: Machine, folder: Path, sizes: list[int]) -> Iterator[str]:
    """Compare predictions for files with runs."""
    for n in sizes:
        score_file, key_file = write_files(folder, n)
        gc.collect()

        def judge(score_file: Path = score_file, key_file: Path = key_file) -> object:
            results = bp.Results.from_files(score_file, key_file, priors=PRIORS)
            return results.eer, results.min_dcf(PRIORS), results.act_dcf(PRIORS), results.cllr

        elapsed = cpu(judge, 3 if n <= 10**8 else 2)
        yield compare("all metrics from files", n, machine.files(targets_of(n), n), elapsed)
        yield compare_memory("from files", n, streaming_memory(targets_of(n), n), peak_bytes(judge))
        score_file.unlink()
        key_file.unlink()
    for n in {10**8, 10**9} - set(sizes):
        predicted = duration(machine.files(targets_of(n), n))
        yield f"| all metrics from files | {power(n)} | {predicted} | | |"


def compare(name: str, n_trials: int, predicted: float, measured: float) -> str:
    """Write one line of the check."""
    return (
        f"| {name} | {power(n_trials)} | {duration(predicted)} | "
        f"{duration(measured)} | {measured / predicted:.2f} |"
    )


def compare_memory(name: str, n_trials: int, predicted: float, measured: float) -> str:
    """Write one line of the check, about memory."""
    return (
        f"| memory, {name} | {power(n_trials)} | {size(predicted)} | "
        f"{size(measured)} | {measured / predicted:.2f} |"
    )


def power(value: float) -> str:
    """Write a power of ten."""
    return f"$10^{{{round(np.log10(value))}}}$"


def duration(value: float) -> str:
    """Write seconds in a unit that suits."""
    return scaled(value, (("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3)))


def size(value: float) -> str:
    """Write bytes in a unit that suits."""
    return scaled(value, (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)))


def scaled(value: float, units: tuple[tuple[str, float], ...]) -> str:
    """Write a quantity with two digits in the largest unit of which it is one, or in the last."""
    unit, length = next((unit for unit in units if value >= unit[1]), units[-1])
    number = value / length
    return f"{number:.0f} {unit}" if number >= 9.95 else f"{number:.1f} {unit}"


def main() -> None:
    """Measure, predict, check, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=float, default=1e9, help="trials of the largest file")
    parser.add_argument("--folder", help="where files of that size have room")
    parser.add_argument("--output", default=str(DOCS / "cost_table.md"))
    options = parser.parse_args()
    # The model is one of a single core.
    passes.n_threads = lambda: 1
    os.environ["OMP_NUM_THREADS"] = "1"
    last = round(np.log10(options.largest))
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        score_file, key_file = write_files(folder, BASE)
        both = folder / "both.h5"
        with h5py.File(both, "w") as merged:
            for path in (score_file, key_file):
                with h5py.File(path) as source:
                    for data_set in ("scores", "score_mask", "trial_mask"):
                        if data_set in source:
                            source.copy(data_set, merged)
        machine = measure_machine(both)
        both.unlink()
        lines = [
            "<!-- Made by benchmarks/cost_model.py; do not edit. -->",
            "",
            "### Constants",
            "",
            *constants_table(machine),
            "",
            f"{timing.machine()}. From files, one thread.",
            "",
            "### Predictions",
            "",
            "In memory, on one core, double precision:",
            "",
            *memory_table(machine),
            "",
            "From files, all metrics:",
            "",
            *files_table(machine),
            "",
            "### Checked",
            "",
            "| work | trials | predicted | measured | measured / predicted |",
            "|---|---:|---:|---:|---:|",
            *check_memory(machine, [10**k for k in range(6, min(last, 8) + 1)]),
            *check_files(machine, folder, [10**k for k in range(7, last + 1)]),
        ]
    text = "\n".join(lines) + "\n"
    if options.output == "-":
        print(text)
    else:
        Path(options.output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
