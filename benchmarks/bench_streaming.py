"""Judge a score file of a billion trials, and compare with the time of only reading it.

Writes a score matrix of 20000 x 50000 trials in single precision, about 10^5 of them
targets, and its key into a temporary folder; reads both data sets with nothing but h5py;
then computes EER, minDCF and actDCF at 1000 priors, Cllr, minCllr and both plots with
`Results.from_files`, each in a process of its own, so that peak memory is known.

    python benchmarks/bench_streaming.py                    as published: 4.1 GB of disk
    python benchmarks/bench_streaming.py --calibrate        train a linear calibration, too

Counts of all ways must be identical. Times are the clock's, and
the processor's; files are in the cache of the
operating system if memory allows.
"""

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
from timing import machine

import bosaris_py as bp

N_TARGETS = 10**5
PRIORS = np.linspace(0.001, 0.999, 1000)
ROWS = 5


def write_files(folder: Path, n_models: int, n_segments: int) -> tuple[Path, Path]:
    """Write scores and key block by block, in the layout and chunks of `Scores.save`."""
    paths = folder / "scores.h5", folder / "key.h5"
    models = [f"model-{i:06d}" for i in range(n_models)]
    segments = [f"segment-{j:06d}" for j in range(n_segments)]
    rng = np.random.default_rng(0)
    share = N_TARGETS / 1e9
    # Ids and all small things are the package's own; the matrices are put in afterwards.
    bp.Scores(np.zeros((1, 1)), models[:1], segments[:1]).save(paths[0])
    bp.Key(models[:1], segments[:1], np.eye(1) > 0, np.eye(1) < 0).save(paths[1])
    with h5py.File(paths[0], "r+") as scores, h5py.File(paths[1], "r+") as key:
        shape, chunk = (n_models, n_segments), max(1, 2**18 // n_segments)
        mask_chunk = (max(1, min(n_models, 2**20 // n_segments)), n_segments)
        gzip = {"compression": "gzip", "compression_opts": 1, "chunks": mask_chunk}
        for file, names in ((scores, ("scores", "score_mask")), (key, ("trial_mask",))):
            for name in (*names, "ID/row_ids", "ID/column_ids"):
                del file[name]
            file["ID/row_ids"] = np.array(models, "S")
            file["ID/column_ids"] = np.array(segments, "S")
        matrix = scores.create_dataset("scores", shape, "f4", chunks=(chunk, n_segments))
        valid = scores.create_dataset("score_mask", shape, "u1", **gzip)
        labels = key.create_dataset("trial_mask", shape, "i1", **gzip)
        step = mask_chunk[0]
        for start in range(0, n_models, step):
            size = (min(step, n_models - start), n_segments)
            is_target = rng.random(size, dtype=np.float32) < share
            block = rng.standard_normal(size, dtype=np.float32)
            block *= 2.0
            block += np.where(is_target, np.float32(3), np.float32(-4))
            matrix[start : start + step] = block
            valid[start : start + step] = 1
            labels[start : start + step] = np.where(is_target, 1, -1)
    return paths


def read(paths: list[str], *, with_mask: bool) -> None:
    """Read the data sets by blocks of rows, with nothing but h5py."""
    for path, names in zip(paths, (("scores", "score_mask"), ("trial_mask",)), strict=True):
        with h5py.File(path) as file:
            for name in names:
                if name == "score_mask" and not with_mask:
                    continue
                data = file[name]
                rows = max(1, 2**20 // data.shape[1])
                for start in range(0, data.shape[0], rows):
                    _ = data[start : start + rows]


def judge(paths: list[str], *, workers: int) -> str:
    """Compute everything; return a digest of all counts."""
    results = bp.Results.from_files(*paths, prior=PRIORS, workers=workers)
    numbers = results.eer, results.cllr, results.min_cllr
    results.min_dcf(PRIORS)
    results.act_dcf(PRIORS)
    det, bayes = bp.DETPlot("new"), bp.BayesPlot()
    for plot in (det, bayes):
        plot.set_system_from_results(results, "system")
    det.plot_rocch_det()
    det.plot_steppy_det()
    bayes.plot_dcf_curve_act()
    bayes.plot_dcf_curve_min()
    for plot in (det, bayes):
        plot.figure.canvas.draw()
    roc = results.roc
    digest = hashlib.sha256(repr(numbers).encode())
    for array in (roc.thresholds, roc.misses, roc.false_alarms):
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def calibrate(paths: list[str], *, workers: int) -> str:
    """Train a linear calibration; return all its digits."""
    calibration = bp.LinearCalibration.fit_files(*paths, workers=workers)
    return f"{calibration.scale!r} {calibration.offset!r} {calibration.objective_value!r}"


def measured(call: Callable[[], object]) -> dict[str, object]:
    """Return clock and processor time of this process, its peak memory, and the value."""
    start, cpu = time.perf_counter(), time.process_time()
    value = call()
    return {
        "clock": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "value": value,
    }


def in_process(*arguments: str) -> dict[str, object]:
    """Run one of the ways in a fresh process."""
    command = [sys.executable, __file__, "--only", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def run_one(way: str, paths: list[str]) -> None:
    """Do one thing in this process and print what it took, without the import of Matplotlib."""
    if way.endswith("one processor"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if way.startswith(("one", "two")):
        # Not at the top of the file, which worker processes import.
        _ = bp.DETPlot
    ways: dict[str, Callable[[], object]] = {
        "read": lambda: read(paths, with_mask=True),
        "read without mask": lambda: read(paths, with_mask=False),
        "one processor": lambda: judge(paths, workers=1),
        "one thread": lambda: judge(paths, workers=1),
        "two threads": lambda: judge(paths, workers=2),
        "calibration, one thread": lambda: calibrate(paths, workers=1),
        "calibration, two threads": lambda: calibrate(paths, workers=2),
    }
    print(json.dumps(measured(ways[way])))


def main() -> None:
    """Write the files, measure all ways, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=float, default=1e9, help="cells of the matrix")
    parser.add_argument("--calibrate", action="store_true", help="train a calibration, too")
    parser.add_argument("--repeats", type=int, default=2, help="runs; the fastest counts")
    parser.add_argument("--folder", help="where files of that size have room")
    parser.add_argument("--only", nargs=3, metavar=("WAY", "SCORES", "KEY"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        run_one(options.only[0], options.only[1:])
        return
    n_segments = 50_000
    n_models = max(ROWS, round(options.trials / n_segments))
    ways = ["read", "read without mask", "one processor", "one thread", "two threads"]
    ways += ["calibration, one thread", "calibration, two threads"] * options.calibrate
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        paths = [str(path) for path in write_files(Path(name), n_models, n_segments)]
        best: dict[str, dict[str, object]] = {}
        for _ in range(options.repeats):
            for way in ways:
                found = in_process(way, *paths)
                print(f"{way}: {found['clock']:.2f} s", file=sys.stderr, flush=True)
                if way not in best or found["clock"] < best[way]["clock"]:
                    best[way] = found
    print(f"{machine()}.\n{n_models} x {n_segments} trials")
    print(f"{'':24s} {'clock':>9s} {'x read':>7s} {'cpu':>9s} {'x read':>7s} {'peak':>9s}")
    base = best["read"]
    for way, found in best.items():
        clock, cpu = (f"{found[x]:7.2f} s {found[x] / base[x]:7.2f}" for x in ("clock", "cpu"))
        print(f"{way:24s} {clock} {cpu} {found['peak'] / 2**20:5.0f} MiB")
    trained = {found["value"] for way, found in best.items() if way.startswith("calibration")}
    counts = {found["value"] for way, found in best.items() if not way.startswith("read")}
    counts -= trained
    for what, values in (("counts", counts), ("calibrations", trained)):
        if len(values) > 1:
            sys.exit(f"{what} differ: {values}")
    print("identical counts and figures everywhere")


if __name__ == "__main__":
    main()
