"""Count how often intervals of transferred costs cover the truth, and paired tests reject.

Each data set has a dev set and a test set of other speakers, by the correlated law of
``tests/crossed_trials.py``. The truth is the cost at the threshold that the rule chooses among all
speakers of the law. A second system shares half of all variances with the first, and has the same
law, so a paired test should reject in 5 % of the sets. Writes ``docs/transfer_table.md``. Each cell
of the table is kept in a file, and not computed again. Run it from the root of the tree:

    python -m benchmarks.transfer_study                          as published: 500 sets
    python -m benchmarks.transfer_study --sets 50 --output -     a quick look, on the screen
    python -m benchmarks.transfer_study --cells 20               these numbers of speakers only
    python -m benchmarks.transfer_study --formula                docs/transfer_formula_table.md
"""

import argparse
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path

import attrs
import numpy as np
from scipy import optimize, special

from bosaris_py import Key, Scores
from bosaris_py import uncertainty as unc
from bosaris_py.errors import BosarisWarning

ROOT = Path(__file__).resolve().parent.parent
STORE = Path(tempfile.gettempdir()) / "bosaris_transfer_study.json"
REPLICATIONS = 500
SIZES = 20, 40, 80
RULES = "min-cost", "eer"
# Mean score of the targets, and how much higher all scores of the test set are. The second law
# makes many errors; by the third, dev is unlike test, so that thresholds have a price.
LAWS = (3.0, 0.0), (1.5, 0.0), (3.0, 1.0)
SHARED = 0.5
INTERVALS = {
    "both sets": ("both", "corrected"),
    "both sets, percentile": ("both", "percentile"),
    "test alone": ("test", "corrected"),
    "test alone, formula": ("test", "speakers"),
}
RULES_OF_FORMULA = "eer", "fmr=0.01", "fnmr=0.02", "bayes"


@attrs.frozen
class Law:
    """Normal effects on scores: each speaker has 2 models and 4 segments, and all meet."""

    n_speakers: int
    mean: float
    # Standard deviations.
    goat: float = 0.8
    lamb: float = 0.6
    wolf: float = 0.6
    pair: float = 0.4
    model: float = 0.4
    segment: float = 0.5
    noise: float = 1.2

    def rates(self, threshold: float) -> tuple[float, float]:
        """Return the true error-rates."""
        rest = self.model**2 + self.segment**2 + self.noise**2
        of_tar = (self.goat**2 + rest) ** 0.5
        of_non = (self.lamb**2 + self.wolf**2 + self.pair**2 + rest) ** 0.5
        return (
            float(special.ndtr((threshold - self.mean) / of_tar)),
            float(special.ndtr((-self.mean - threshold) / of_non)),
        )

    def layout(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the speaker of each model and of each segment."""
        who = np.arange(self.n_speakers)
        return np.repeat(who, 2), np.repeat(who, 4)

    def deviate(self, rng: np.random.Generator) -> np.ndarray:
        """Draw how scores differ from the means of their class."""
        k, (models, segments) = self.n_speakers, self.layout()
        met = np.triu(rng.normal(size=(k, k)), 1)
        effects = self.pair * (met + met.T) + self.lamb * rng.normal(size=(k, 1))
        effects += self.wolf * rng.normal(size=k)
        np.fill_diagonal(effects, self.goat * rng.normal(size=k))
        scores = effects[np.ix_(models, segments)]
        scores += self.noise * rng.normal(size=scores.shape)
        scores += self.model * rng.normal(size=(models.size, 1))
        return scores + self.segment * rng.normal(size=segments.size)


def speaker(name: str) -> str:
    """Return the speaker of a model or segment."""
    return name.split("-")[0]


def draw(law: Law, rng: np.random.Generator, part: str, shift: float) -> list[tuple[Scores, Key]]:
    """Draw one set of trials, and the scores of two systems."""
    models, segments = law.layout()
    common = law.deviate(rng)
    ids = [[f"{part}{who}-{i}" for i, who in enumerate(side)] for side in (models, segments)]
    same = models[:, None] == segments
    key = Key(*ids, same, ~same)
    found = []
    for _ in range(2):
        own = law.deviate(rng)
        values = np.sqrt(SHARED) * common + np.sqrt(1.0 - SHARED) * own
        values += np.where(same, law.mean, -law.mean) + shift
        found.append((Scores(values, *ids), key))
    return found


def chosen(law: Law, rule: str) -> float:
    """Return the threshold that a rule chooses among all speakers of a law."""
    name, _, rate = rule.partition("=")
    if name == "min-cost":
        return float(
            optimize.minimize_scalar(
                lambda t: sum(law.rates(t)), bounds=(-9.0, 9.0), method="bounded"
            ).x
        )
    distances = {
        "eer": lambda t: np.subtract(*law.rates(t)),
        "fmr": lambda t: law.rates(t)[1] - float(rate),
        "fnmr": lambda t: law.rates(t)[0] - float(rate),
    }
    return 0.0 if name == "bayes" else float(optimize.brentq(distances[name], -9.0, 9.0))


def truth(law: Law, rule: str, shift: float) -> float:
    """Return the HTER at the threshold that a rule chooses among all speakers of a law."""
    return sum(law.rates(chosen(law, rule) - shift)) / 2


def formula_cell(
    n_speakers: int, mean: float, shift: float, rule: str, n_sets: int, seed: int
) -> dict[str, float]:
    """Simulate one row of the table of closed forms."""
    law, rows, started = Law(n_speakers, mean), [], time.process_time()
    value, costs = truth(law, rule, shift), []
    for child in np.random.default_rng([seed, n_speakers, int(10 * mean)]).spawn(n_sets):
        (dev, _), (test, _) = draw(law, child, "dev", 0.0), draw(law, child, "test", shift)
        found = unc.transfer(dev=dev, test=test, rule=rule, speakers=speaker)
        costs.append(found.hter)
        row = []
        for drawn in ("both", "test"):
            interval = found.interval("hter", drawn=drawn)
            row += [interval.low <= value <= interval.high, interval.width]
        rows.append(row)
    both, length, alone, length_alone = np.mean(np.array(rows, dtype=float), axis=0).tolist()
    oracle = 3.92 * float(np.std(costs))
    return {
        "sets": n_sets,
        "truth": value,
        "both sets": both,
        "length of both": length / oracle,
        "test alone": alone,
        "length of test": length_alone / oracle,
        "seconds": time.process_time() - started,
    }


def cell(
    n_speakers: int, mean: float, shift: float, rule: str, n_sets: int, seed: int
) -> dict[str, float]:
    """Simulate the data sets of one row of the table."""
    law, rows, started = Law(n_speakers, mean), [], time.process_time()
    value, costs = truth(law, rule, shift), []
    seeds = [seed, n_speakers, int(10 * mean), *([int(10 * shift)] if shift else [])]
    for child in np.random.default_rng(seeds).spawn(n_sets):
        dev, test = draw(law, child, "dev", 0.0), draw(law, child, "test", shift)
        options = {"rule": rule, "speakers": speaker, "replications": REPLICATIONS}
        options["rng"] = int(child.integers(2**31))
        a, b = (unc.transfer(dev=dev[i], test=test[i], **options) for i in range(2))
        row = []
        for drawn, method in INTERVALS.values():
            interval = a.interval("hter", drawn=drawn, method=method)
            row += [interval.low <= value <= interval.high, interval.width]
        for figure in ("hter", "regret"):
            row.append(a.compare(b, figure).p_value < 0.05)
        rows.append(row)
        costs.append(a.hter)
    means = np.mean(np.array(rows, dtype=float), axis=0)
    oracle = 3.92 * float(np.std(costs))
    found = {"sets": n_sets, "truth": value, "mean": float(np.mean(costs))}
    for place, name in enumerate(INTERVALS):
        found[name], found[f"{name}, length"] = means[2 * place], means[2 * place + 1] / oracle
    found["HTERs"], found["regrets"] = means[-2:].tolist()
    found["seconds"] = time.process_time() - started
    return found


def table(cells: dict[str, dict[str, float]]) -> str:
    """Return the table in Markdown."""
    head = ["speakers a side", "EER of the law", "test shifted by", "rule", "sets", *INTERVALS]
    head += ["length of both", "test of HTERs", "of regrets"]
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join(['--:'] * len(head))} |"]
    for name, found in cells.items():
        size, mean, shift, rule = name.split(" ")
        error = truth(Law(int(size), float(mean)), "eer", 0.0)
        shares = [f"{100 * found[column]:.1f}" for column in INTERVALS]
        tests = [f"{100 * found[column]:.1f}" for column in ("HTERs", "regrets")]
        length = f"{found['both sets, length']:.2f}"
        parts = [
            size,
            f"{100 * error:.1f} %",
            shift,
            rule,
            f"{found['sets']}",
            *shares,
            length,
            *tests,
        ]
        lines.append(f"| {' | '.join(parts)} |")
    return "\n".join(lines) + "\n"


def formula_table(cells: dict[str, dict[str, float]]) -> str:
    """Return the table of closed forms in Markdown."""
    figures = "both sets", "test alone", "length of both", "length of test"
    head = ["speakers a side", "EER of the law", "test shifted by", "rule", "sets", *figures]
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join(['--:'] * len(head))} |"]
    for name, found in cells.items():
        size, mean, shift, rule = name.split(" ")
        error = truth(Law(int(size), float(mean)), "eer", 0.0)
        parts = [size, f"{100 * error:.1f} %", shift, rule, f"{found['sets']:.0f}"]
        parts += [f"{100 * found[figure]:.1f}" for figure in figures[:2]]
        parts += [f"{found[figure]:.2f}" for figure in figures[2:]]
        lines.append(f"| {' | '.join(parts)} |")
    return "\n".join(lines) + "\n"


def _place(size: str, mean: str, shift: str, _: str) -> tuple[float, float, int]:
    return float(shift), -float(mean), int(size)


def main() -> None:
    """Simulate, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=500)
    parser.add_argument("--seed", type=int, default=28)
    parser.add_argument("--cells", type=int, nargs="*", default=SIZES)
    parser.add_argument("--laws", type=int, nargs="*", default=range(len(LAWS)))
    parser.add_argument("--formula", action="store_true", help="closed forms only")
    parser.add_argument("--output", help="- is the screen")
    parser.add_argument("--store")
    given = parser.parse_args()
    warnings.simplefilter("ignore", BosarisWarning)
    made, rules, lay_out = cell, RULES, table
    store, output = STORE, ROOT / "docs" / "transfer_table.md"
    if given.formula:
        made, rules, lay_out = formula_cell, RULES_OF_FORMULA, formula_table
        store = STORE.with_stem("bosaris_transfer_formula_study")
        output = ROOT / "docs" / "transfer_formula_table.md"
    store = Path(given.store or store)
    known = json.loads(store.read_text()) if store.exists() else {}
    for mean, shift in (LAWS[number] for number in given.laws):
        for size in given.cells:
            for rule in rules:
                name = f"{size} {mean:g} {shift:g} {rule}"
                if known.get(name, {}).get("sets", 0) >= given.sets:
                    continue
                known[name] = made(size, mean, shift, rule, given.sets, given.seed)
                store.write_text(json.dumps(known, indent=1))
                sys.stderr.write(f"{name}: {known[name]}\n")
    # By law, then by the number of speakers.
    names = sorted(known, key=lambda name: _place(*name.split(" ")))
    text = lay_out({name: known[name] for name in names})
    if given.output == "-":
        sys.stdout.write(text)
    else:
        Path(given.output or output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
