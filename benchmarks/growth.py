"""How time grows with the number of scores, from 10^4 to 10^8.

Writes a table of nanoseconds per score to ``docs/growth_table.md`` and a log-log figure to
``docs/images/growth.png``, for a fixed number of targets and for one target in a hundred scores.
Times are the clock's, the best of several.

    python benchmarks/growth.py                    as published; needs 8 GB of memory
    python benchmarks/growth.py --largest 1e7 --output -
"""

import argparse
import functools
import io
import itertools
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image
from timing import gaussian_scores, machine, seconds

import bosaris_py as bp

DOCS = Path(__file__).resolve().parent.parent / "docs"
PRIORS = np.linspace(0.001, 0.999, 1000)
# Numbers of targets among so many scores.
FIXED = "$10^4$ targets, or a tenth of the scores"
SHARE = "one target in a hundred scores"
TARGETS: dict[str, Callable[[int], int]] = {
    FIXED: lambda size: min(10**4, size // 10),
    SHARE: lambda size: size // 100,
}
# Between these sizes time per score must hardly grow.
FROM, TO = 10**6, 10**8
LIMIT = 1.6
COLOURS = ("0.6", "#0072b2", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#e69f00")


def hull_eer_min_dcf(tar: np.ndarray, non: np.ndarray) -> object:
    """Compute what rank-based evaluations ask for."""
    hull = bp.ROC.from_scores(tar, non).convex_hull()
    return hull.eer, hull.min_dcf(PRIORS)


OPERATIONS: dict[str, Callable[[np.ndarray, np.ndarray], object]] = {
    "numpy.sort(non)": lambda tar, non: np.sort(non),
    "ROC, hull, EER, minDCF at 1000 priors": hull_eer_min_dcf,
    "minimum Cllr": bp.min_cllr,
    "Cllr": bp.cllr,
    "area under the ROC": bp.auc,
    "linear calibration": lambda tar, non: bp.LinearCalibration.fit(tar, non, prior=0.01),
    "Results, all metrics": lambda tar, non: bp.Results(tar, non).to_dict(0.01),
}


Times = dict[str, list[float]]


def measure(sizes: list[int], rounds: int) -> dict[str, Times]:
    """Return the best time of every operation at every size, for both numbers of targets.

    All sizes are run in turn, several times over: a machine that is busy for a while
    then slows down all of them.
    """
    best = {case: {name: [np.inf] * len(sizes) for name in OPERATIONS} for case in TARGETS}
    for _ in range(rounds):
        for (case, n_tar), (i, size) in itertools.product(TARGETS.items(), enumerate(sizes)):
            tar, non = gaussian_scores(n_tar(size), size - n_tar(size))
            # Twice at least: a system may take long to find memory that nobody used before.
            repeats = int(np.clip(10**7 // size, 2, 20))
            for name, operation in OPERATIONS.items():
                call = functools.partial(operation, tar, non)
                elapsed = seconds(call, repeats)
                best[case][name][i] = min(best[case][name][i], elapsed)
            del tar, non, call
    return best


def table(sizes: list[int], case: str, best: Times) -> Iterator[str]:
    """Write nanoseconds per score, and how much they grow between any two sizes."""
    yield f"Nanoseconds per score, {case}:"
    yield ""
    powers = " | ".join(f"$10^{round(np.log10(size))}$" for size in sizes)
    yield f"| operation | {powers} | growth from $10^6$ on |"
    yield f"|---|{'---:|' * (len(sizes) + 1)}"
    for name, times in best.items():
        rates = [1e9 * elapsed / size for elapsed, size in zip(times, sizes, strict=True)]
        flat = [rate for rate, size in zip(rates, sizes, strict=True) if FROM <= size <= TO]
        growth = max((max(flat[i:]) / rate for i, rate in enumerate(flat)), default=math.nan)
        grown = f"{growth:.2f}" if flat else ""
        # A goal of operations of this library.
        mark = f" (goal: {LIMIT})" if "numpy" not in name and growth > LIMIT else ""
        yield f"| {name} | {' | '.join(f'{rate:.1f}' for rate in rates)} | {grown}{mark} |"
    yield ""


def draw(sizes: list[int], best: dict[str, Times], path: Path) -> None:
    """Draw all operations over the number of scores, with a line of constant time per score."""
    figure = Figure(figsize=(7.0, 4.8), layout="constrained")
    axes = figure.subplots()
    for name, colour in zip(OPERATIONS, COLOURS, strict=True):
        axes.loglog(sizes, best[FIXED][name], "o-", label=name, color=colour, markersize=3)
        axes.loglog(sizes, best[SHARE][name], "--", color=colour, linewidth=1)
    ends = np.array([sizes[0], sizes[-1]], dtype=np.float64)
    axes.loglog(ends, ends * 1e-8, "k:", label="10 ns per score", linewidth=1)
    axes.set_xlabel("scores")
    axes.set_ylabel("seconds")
    axes.grid(visible=True, alpha=0.3)
    axes.legend(frameon=False, fontsize="small")
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=90)
    # A palette takes a third of the room.
    Image.open(drawn).quantize(64).save(path, optimize=True)


def main() -> None:
    """Measure, and write table and figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=float, default=1e8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", default=str(DOCS / "growth_table.md"))
    options = parser.parse_args()
    sizes = [10**k for k in range(4, round(np.log10(options.largest)) + 1)]
    best = measure(sizes, options.rounds)
    lines = ["<!-- Made by benchmarks/growth.py; do not edit. -->", ""]
    for case in TARGETS:
        lines += table(sizes, case, best[case])
    lines.append(f"{machine()}. Double precision.")
    text = "\n".join(lines) + "\n"
    if options.output == "-":
        print(text)
        return
    Path(options.output).write_text(text, encoding="utf-8")
    draw(sizes, best, DOCS / "images" / "growth.png")


if __name__ == "__main__":
    main()
