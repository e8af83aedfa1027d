"""Processor time of metrics and training, as ratios to one plain sort, beside older versions.

    python benchmarks/ratios.py
    python benchmarks/ratios.py --against OLD/bin/python OLDER/bin/python --turns 5

Each turn runs all calls once in a fresh process of each Python, one Python after the other, so that
a busy machine disturbs all alike. The least time of all turns counts. Metrics are compared with the
sort of all scores, training with that of the non-targets.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from timing import machine

ROOT = Path(__file__).resolve().parent.parent
PRIORS = np.linspace(0.001, 0.999, 1000)
SIZES = (10**5, 10**6), (10**5, 10**7), (10**6, 10**6), (10**6, 10**5)
# What the ratios are asked to be at most, where the targets are fewer.
LIMITS = {"eer": (2.3, 1.5), "min_dcf": (2.3, 1.5), "min_cllr": (2.3, 1.5), "cllr": (0.35, 0.35)}
LIMITS |= {"line": (2.5, 2.5), "fusion of 3": (6.0, 6.0)}


def calls(n_tar: int, n_non: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what is timed, by name; both sorts first."""
    import bosaris_py as bp

    rng = np.random.default_rng(0)
    tar, non = rng.normal(2.0, 1.5, n_tar), rng.normal(0.0, 1.0, n_non)
    yield "sort", lambda: (np.sort(tar), np.sort(non))
    yield "sort of non-targets", lambda: np.sort(non)
    yield "eer", lambda: bp.eer(tar, non)
    yield "min_dcf", lambda: bp.min_dcf(tar, non, PRIORS)
    yield "min_cllr", lambda: bp.min_cllr(tar, non)
    yield "auc", lambda: bp.auc(tar, non)
    yield "cllr", lambda: bp.cllr(tar, non)
    yield "act_dcf", lambda: bp.act_dcf(tar, non, 0.01)
    # Many errors of both kinds at the prior of training: nothing is warned of.
    yield "line", lambda: bp.LinearCalibration.fit(tar, non, prior=0.01)
    if n_non == 10**7:
        more = [rng.normal(size=(2, n)) for n in (n_tar, n_non)]
        three = [np.vstack((x, x + y[0], y[1])) for x, y in zip((tar, non), more, strict=True)]
        yield "fusion of 3", lambda: bp.LinearFusion.fit(*three, prior=0.01)


def measure() -> dict[str, float]:
    """Return the processor time of each call, after one that warms up."""
    found = {}
    for sizes in SIZES:
        for name, call in calls(*sizes):
            call()
            start = time.process_time()
            call()
            found[f"{name} {sizes[0]:g} {sizes[1]:g}"] = time.process_time() - start
    found["import"] = _seconds_of_import()
    return found


def _seconds_of_import() -> float:
    code = "import time; t = time.process_time(); import bosaris_py; print(time.process_time() - t)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def run(python: str) -> dict[str, float]:
    """Measure in a fresh process of a Python: this checkout, or what is installed there."""
    path = str(ROOT) if python == sys.executable else ""
    environment = {**os.environ, "PYTHONPATH": path}
    command = [python, "-W", "ignore", __file__, "--measure"]
    done = subprocess.run(
        command,
        env=environment,
        cwd=ROOT / "benchmarks",
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout))


def main() -> None:
    """Take turns and print a row for each call."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--against", nargs="*", default=[], help="Pythons with older versions")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure()))
        return
    pythons = [sys.executable, *args.against]
    best: list[dict[str, float]] = [{} for _ in pythons]
    for _ in range(args.turns):
        for least, python in zip(best, pythons, strict=True):
            for name, seconds in run(python).items():
                least[name] = min(seconds, least.get(name, seconds))
    print(machine())
    print(f"{'call, targets, non-targets':32s} seconds  x sort  limit  x older versions")
    for name, seconds in best[0].items():
        call, _, sizes = name.partition(" 1")
        trained = call in {"line", "fusion of 3"}
        sort = best[0].get(f"{'sort of non-targets' if trained else 'sort'} 1{sizes}", np.nan)
        limit = LIMITS.get(call, (np.nan, np.nan))["1e+07" in sizes]
        ratios = "  ".join(f"{seconds / other[name]:.2f}" for other in best[1:])
        shown = f"{limit:5.2f}" if " 100000 1e+0" in name and limit == limit else "     "
        print(f"{name:32s} {seconds:7.3f} {seconds / sort:7.2f}  {shown}  {ratios}")


if __name__ == "__main__":
    main()
