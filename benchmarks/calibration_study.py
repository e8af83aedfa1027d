"""Compare calibrations trained on few and on many trials of real score sets.

Trains each calibration on a draw of targets and ten times as many non-targets of the development
part of a set and judges it on the evaluation part. Writes the table of the documentation page
"Calibrations compared on real sets" to ``docs/calibration_table.md``. It needs the score sets of
the tests, in ``../shared/data`` or ``--data``. Run it from the root of the tree:

    python -m benchmarks.calibration_study                           as published: 50 draws
    python -m benchmarks.calibration_study --draws 3 --output -      a quick look, on the screen
"""

import argparse
import csv
import gzip
import itertools
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from tqdm import tqdm

import bosaris_py as bp
from bosaris_py.errors import BosarisWarning

ROOT = Path(__file__).resolve().parent.parent
PRIOR = 0.05
SIZES = (20, 50, 100, 500, None)
NON_PER_TAR = 10
RECOMMENDED = "weak, wide"
Classes = tuple[np.ndarray, np.ndarray]


class Shaped:
    """A rising map: a fusion without negative weights of functions of a calibrated score."""

    def __init__(self, functions: Callable[..., np.ndarray], tar: np.ndarray, non: np.ndarray):
        self.line = bp.LinearCalibration.fit(tar, non, ridge="weak")
        lists = [self.line.apply(scores) for scores in (tar, non)]
        self.knots = np.unique(np.quantile(np.concatenate(lists), np.linspace(0.05, 0.95, 6)))
        self.functions = functions
        made = [functions(llrs, self.knots) for llrs in lists]
        self.fusion = bp.LinearFusion.fit(*made, ridge=0.01 / tar.size, nonnegative=True)

    def apply(self, scores: np.ndarray) -> np.ndarray:
        """Map scores."""
        return self.fusion.apply(self.functions(self.line.apply(scores), self.knots))


def beta(llrs: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Return the logarithms of beta calibration (Kull, Silva Filho and Flach, 2017)."""
    return np.stack((-np.logaddexp(0.0, -llrs), np.logaddexp(0.0, llrs)))


def spline(llrs: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Return ramps between knots: a rising line that bends at each."""
    edges = np.concatenate(([-np.inf], knots, [np.inf]))
    inner = [np.clip(llrs, *ends) - knots[0] for ends in itertools.pairwise(edges)]
    return np.stack(inner)


class Kernel:
    """Log-ratio of kernel densities with Silverman's widths, constant beyond the scores."""

    def __init__(self, tar: np.ndarray, non: np.ndarray):
        self.grid = np.linspace(*np.quantile(np.concatenate((tar, non)), (0, 1)), 500)
        self.llrs = self.density(tar) - self.density(non)

    def density(self, scores: np.ndarray) -> np.ndarray:
        """Return the log density on the grid, from at most 3000 scores."""
        kept = scores[:: 1 + scores.size // 3000]
        quartiles = np.quantile(kept, (0.25, 0.75))
        width = 0.9 * min(kept.std(), np.diff(quartiles)[0] / 1.34 or np.inf) * kept.size**-0.2
        exponents = -0.5 * ((self.grid[:, None] - kept) / width) ** 2
        return np.logaddexp.reduce(exponents, axis=1) - np.log(width * kept.size)

    def apply(self, scores: np.ndarray) -> np.ndarray:
        """Map scores."""
        return np.interp(scores, self.grid, self.llrs)


METHODS: dict[str, Callable[..., object]] = {
    "linear": bp.LinearCalibration.fit,
    "scale only": lambda *x: bp.LinearCalibration.fit(*x, offset=0.0),
    "weak": lambda *x: bp.LinearCalibration.fit(*x, ridge="weak"),
    RECOMMENDED: bp.BoundedCalibration.fit,
    "Gaussian": bp.GaussianCalibration.fit,
    "PAV": bp.PAVCalibration.fit,
    "ELUB": lambda *x: bp.BoundedCalibration.fit(*x, ridge=0.0, bounds="elub"),
    "IV": lambda *x: bp.BoundedCalibration.fit(*x, ridge=0.0, bounds="iv"),
    "beta": lambda *x: Shaped(beta, *x),
    "spline": lambda *x: Shaped(spline, *x),
    "KDE": Kernel,
}


def columns(
    path: Path, score: str, keep: Callable[[dict[str, str]], bool] = lambda row: True
) -> Classes:
    """Return target and non-target scores of a table."""
    with gzip.open(path, "rt") as file:
        rows = [row for row in csv.DictReader(file) if keep(row)]
    values = np.array([float(row[score]) for row in rows])
    labels = np.array([(row.get("label") or row["target"]) in ("target", "1") for row in rows])
    return values[labels], values[~labels]


def halves(classes: Classes) -> tuple[Classes, Classes]:
    """Divide trials whose speakers are not known at random."""
    rng = np.random.default_rng(1)
    parts = [np.array_split(rng.permutation(scores), 2) for scores in classes]
    return (parts[0][0], parts[1][0]), (parts[0][1], parts[1][1])


def sets(data: Path) -> Iterator[tuple[str, Classes, Classes]]:
    """Yield the name, the development and the evaluation part of each set."""
    folder = data / "asvspoof2019_la"
    for name in ("asv_xvector", "asv_ecapa"):
        parts = (columns(folder / f"bonafide_{part}.csv.gz", name) for part in ("dev", "eval"))
        yield f"ASVspoof 2019, {name[4:]}", *parts
    file = data / "evalita2009_ru" / "trials.csv.gz"
    first = [
        columns(file, "score", lambda row, a=a: (row["model"] < "M") is a) for a in (True, False)
    ]
    yield "EVALITA 2009, other models", *first
    yield (
        "VoxSRC 2023, halves",
        *halves(columns(data / "voxsrc2023_val" / "voxsrc2023_val.csv.gz", "score")),
    )
    with np.load(data / "spkverif_luferrer" / "spkr_verif.npz") as arrays:
        parts = []
        for part in ("trn", "tst"):
            scores = (arrays[f"{part}_logpost"] @ [-1.0, 1.0]).astype(np.float64)
            labels = arrays[f"{part}_target"] == 1
            parts.append((scores[labels], scores[~labels]))
    yield "FVCAUS, same conditions", *halves(parts[0])
    yield "FVCAUS, other conditions", *parts


def judged(train: Classes, test: Classes) -> np.ndarray:
    """Return Cllr and normalized actual DCF of each method, (n_methods, 2)."""
    rows = []
    for fit in METHODS.values():
        calibration = fit(*train)
        tar, non = map(calibration.apply, test)
        cost = bp.act_dcf(tar, non, PRIOR, normalize=True)
        rows.append((bp.cllr(tar, non), cost))
    return np.array(rows)


def table(data: Path, n_draws: int) -> Iterator[str]:
    """Write a row for each set and number of targets."""
    yield (
        f"Mean Cllr / normalized actual DCF at a prior of {PRIOR} on the evaluation part, of "
        f"{n_draws} draws of so many targets and {NON_PER_TAR} times as many non-targets; the best "
        "Cllr, and those within 2 % of it, in bold. Weak is a line with the weak ridge; wide, ELUB "
        "and IV are bounds. Beta calibration, splines and kernel densities (KDE) are not in the "
        "package, but here for comparison. The last column has by how much the Cllr of the "
        f"recommended map ({RECOMMENDED}) exceeds the best."
    )
    yield ""
    yield "| set | targets | " + " | ".join(METHODS) + " | recommended |"
    yield "|---|---:|" + "---:|" * (len(METHODS) + 1)
    for name, train, test in sets(data):
        for size in SIZES:
            n = train[0].size if size is None else min(size, train[0].size)
            found = []
            generators = np.random.default_rng(7).spawn(1 if size is None else n_draws)
            for rng in tqdm(generators, desc=f"{name}, {n}"):
                counts = (n, train[1].size if size is None else min(NON_PER_TAR * n, train[1].size))
                drawn = [
                    rng.choice(x, k, replace=False) for x, k in zip(train, counts, strict=True)
                ]
                found.append(judged((drawn[0], drawn[1]), test))
            bits, costs = np.mean(found, axis=0).T
            good = bits <= 1.02 * bits.min()
            cells = [
                f"**{b:.4f}** / {c:.3f}" if g else f"{b:.4f} / {c:.3f}"
                for b, c, g in zip(bits, costs, good, strict=True)
            ]
            chosen = list(METHODS).index(RECOMMENDED)
            cells.append(f"{bits[chosen] / bits.min() - 1:.1%}")
            yield f"| {name} | {'all, ' if size is None else ''}{n} | " + " | ".join(cells) + " |"


def main() -> None:
    """Run the study and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=50, help="draws of each number of targets")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--output", default=str(ROOT / "docs" / "calibration_table.md"))
    options = parser.parse_args()
    notice = "<!-- Made by benchmarks/calibration_study.py; do not edit. -->\n\n"
    with warnings.catch_warnings():
        # Few trials are often separable, and scores far outside those of the training.
        warnings.simplefilter("ignore", BosarisWarning)
        text = notice + "\n".join(table(options.data, options.draws)) + "\n"
    if options.output == "-":
        sys.stdout.write(text)
    else:
        Path(options.output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
