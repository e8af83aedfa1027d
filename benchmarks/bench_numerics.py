"""Metrics of 10^5 target and 10^7 non-target scores, against one plain sort of the latter.

python benchmarks/bench_numerics.py              ratios, times, and memory
python benchmarks/bench_numerics.py --hard       ROCs of scores that suit no grid
python benchmarks/bench_numerics.py --two        with and without a fast sort; docs/sort_table.md
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from timing import gaussian_scores, machine, peak_bytes, report, seconds, vector_extensions

import bosaris_py
from bosaris_py import ROC, Results

PRIORS = np.linspace(0.001, 0.999, 1000)
Scores = tuple[np.ndarray, np.ndarray]


def hull_eer_min_dcf(tar: np.ndarray, non: np.ndarray) -> object:
    """Compute ROC, hull, EER, and minDCF at 1000 priors."""
    hull = ROC.from_scores(tar, non).convex_hull()
    return hull.eer, hull.min_dcf(PRIORS)


def everything(tar: np.ndarray, non: np.ndarray) -> object:
    """Compute all metrics of Results, costs at 1000 priors included."""
    results = Results(tar, non)
    return results.to_dict(), results.act_dcf(PRIORS), results.min_dcf(PRIORS)


def usual() -> None:
    """Print ratios, times and memory for the usual shapes of data."""
    tar, non = gaussian_scores(10**5, 10**7)
    for dtype in (np.float64, np.float32):
        t, n = tar.astype(dtype), non.astype(dtype)
        kind = np.dtype(dtype).name
        sort = seconds(lambda n=n: np.sort(n))
        print(f"np.sort of 10^7 {kind}: {sort:.3f} s")
        for name, function in (
            ("ROC + hull + EER + minDCF at 1000 priors", hull_eer_min_dcf),
            ("min_cllr", bosaris_py.min_cllr),
            ("cllr", bosaris_py.cllr),
            ("act_dcf at one prior", lambda t, n: bosaris_py.act_dcf(t, n, 0.01)),
            ("act_dcf at 1000 priors", lambda t, n: bosaris_py.act_dcf(t, n, PRIORS)),
            ("Results: all metrics, both DCFs at 1000 priors", everything),
        ):
            elapsed = seconds(lambda f=function, t=t, n=n: f(t, n))
            memory = peak_bytes(lambda f=function, t=t, n=n: f(t, n)) / (t.nbytes + n.nbytes)
            remark = f"{1e3 * elapsed:.0f} ms, peak memory {memory:.2f} x input"
            report(f"{name}, {kind}", elapsed / sort, "np.sort(non)", remark)
    for n_tar, n_non in ((5 * 10**6, 5 * 10**6), (10**7, 10**5)):
        t, n = gaussian_scores(n_tar, n_non)
        sort = seconds(lambda t=t, n=n: (np.sort(t), np.sort(n)), 3)
        for name, function in (("ROC to minDCF", hull_eer_min_dcf), ("eer", bosaris_py.eer)):
            elapsed = seconds(lambda f=function, t=t, n=n: f(t, n), 3)
            memory = peak_bytes(lambda f=function, t=t, n=n: f(t, n)) / (t.nbytes + n.nbytes)
            remark = f"peak memory {memory:.2f} x input"
            report(f"{name}, {n_tar:g} / {n_non:g}", elapsed / sort, "both np.sort", remark)


def hard_scores() -> dict[str, Scores]:
    """Return scores with heavy tails, outliers, ties, or clusters."""
    rng = np.random.default_rng(0)
    tar, non = gaussian_scores(10**5, 10**7)
    far_tar, far_non = tar.copy(), non.copy()
    far_tar[:2] = far_non[:2] = [-1e300, 1e300]
    half, half_tar = non.size // 2, tar.size // 2
    cluster = np.append(1e-9 * non[:half], 1e3 * non[half:])
    cluster_tar = np.append(1e-9 * tar[:half_tar], 1e3 * tar[half_tar:])
    return {
        "normal": (tar, non),
        "an outlier at 1e300 on each side": (far_tar, far_non),
        "Cauchy": (3.0 + rng.standard_cauchy(tar.size), rng.standard_cauchy(non.size)),
        "exp(10 x)": (np.exp(10.0 * tar), np.exp(10.0 * non)),
        "half within 1e-9, half within 1e3": (cluster_tar, cluster),
        "rounded to 0.01": (tar.round(2), non.round(2)),
        "non-targets all equal": (tar, np.full(non.size, 2.0)),
        "classes alike": (tar - 3.0, non),
        "classes far apart": (tar + 100.0, non),
    }


def hard() -> None:
    """Print what the ROC of scores that suit no grid takes, against a sort of normal ones."""
    table = hard_scores()
    sort = seconds(lambda: np.sort(table["normal"][1]), 3)
    for name, (tar, non) in table.items():
        elapsed = seconds(lambda t=tar, n=non: hull_eer_min_dcf(t, n), 3)
        report(f"ROC to minDCF, {name}", elapsed / sort, "np.sort(normal non)")


def ratios() -> dict[str, float]:
    """Return times as multiples of a sort of all scores, each of its type."""
    found = {}
    for n_tar, power in ((10**4, 4), (10**5, 5), (10**6, 6)):
        scores = gaussian_scores(n_tar, 10**7)
        for dtype in (np.float64, np.float32):
            t, n = (array.astype(dtype) for array in scores)
            sort = seconds(lambda t=t, n=n: (np.sort(t), np.sort(n)), 5)
            ways = {
                f"ROC, hull, EER, minDCF at 1000 priors; $10^{power}$ targets": hull_eer_min_dcf
            }
            if n_tar == 10**5:
                ways["Cllr"] = bosaris_py.cllr
                ways["linear calibration"] = bosaris_py.LinearCalibration.fit
            for name, function in ways.items():
                elapsed = seconds(lambda f=function, t=t, n=n: f(t, n), 5)
                found[f"{name}, {np.dtype(dtype).name}"] = elapsed / sort
    return found


def two_machines() -> None:
    """Write the ratios of this machine, and of the same one without a fast sort."""
    found = []
    for disabled in ("", " ".join(vector_extensions())):
        environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": disabled}
        command = [sys.executable, __file__, "--ratios"]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        found.append(json.loads(done.stdout))
    (first, fast), (second, slow) = found
    lines = [
        "<!-- Made by benchmarks/bench_numerics.py; do not edit. -->",
        "",
        "| $10^7$ non-targets, against a sort of all scores | fast sort | plain sort |",
        "|---|---:|---:|",
        *(f"| {name} | {ratio:.2f} | {slow[name]:.2f} |" for name, ratio in fast.items()),
        "",
        f"Fast: {first}.",
        "",
        f"Plain: {second}.",
    ]
    page = Path(__file__).resolve().parent.parent / "docs" / "sort_table.md"
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Print one table or the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hard", action="store_true")
    parser.add_argument("--two", action="store_true")
    parser.add_argument("--ratios", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.two:
        two_machines()
        return
    if options.ratios:
        print(json.dumps([machine(), ratios()]))
        return
    print(machine())
    if options.hard:
        hard()
    else:
        usual()


if __name__ == "__main__":
    main()
