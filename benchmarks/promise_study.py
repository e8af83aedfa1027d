"""Count what intervals and tests promise under laws with unequal, rare or few speakers.

Simulates data sets of the laws of `speaker_laws`, and counts how often nominal 95 % intervals
cover the truth and how often 5 % tests reject equal systems. Each cell (law, number of speakers) is
kept in a file as soon as it is done, so that a study that was stopped goes on. Run it from the
root of the tree:

    python -m benchmarks.promise_study --sets 200              what is missing, then the table
    python -m benchmarks.promise_study --table                 the table of what is there
"""

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import attrs
import numpy as np
from tqdm import tqdm

from benchmarks.speaker_laws import LAWS, RARE_WOLVES, SpeakerLaw
from bosaris_py import OperatingPoint
from bosaris_py import uncertainty as unc
from bosaris_py.errors import BosarisWarning
from bosaris_py.evaluation import EvaluationPlan
from bosaris_py.trials import ConditionMembers
from bosaris_py.trials.sample import ListedSample
from bosaris_py.uncertainty.bootstrap_result import z_test
from bosaris_py.uncertainty.influence.losses import losses_of
from bosaris_py.uncertainty.influence.speaker_influence import SpeakerInfluence
from bosaris_py.uncertainty.influence.studentised import Studentised

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "benchmarks" / "results" / "promises.json"
SIZES = 10, 20, 40
PRIOR = 0.1
# Scores of a law whose truth is taken for that of the law.
N_TRUE = 2_000_000

METRICS: dict[str, unc.Statistic] = {
    "EER": unc.EER(),
    "minDCF": unc.MinDCF(PRIOR, normalize=True),
    "actDCF": unc.ActDCF(PRIOR, normalize=True),
    "Cllr": unc.Cllr(),
    "AUC": unc.AUC(),
    "minCllr": unc.MinCllr(),
}
TESTED = "EER", "minDCF", "actDCF", "Cllr", "AUC"

Cell = dict[str, float]

# Laws of two groups of speakers, whose intervals are computed within the groups, too.
IN_STRATA = {
    f"{name} in strata": attrs.evolve(LAWS[name], in_strata=True) for name in ("blocks", "accents")
}

# Primary costs of four partitions of trials, of which the first has five of eight segments of each
# speaker. Targets of the partitions have means that differ, so that the plan's weights matter.
PRIMARY_SIZES = 10, 20, 40, 80
PRIMARY_LAWS = "correlated", "sessions", "restless", "heavy tails"
N_SEGMENTS, PARTITION_OF = 8, np.array([0, 0, 0, 0, 0, 1, 2, 3])
TAR_SHIFTS = np.array([-0.6, -0.2, 0.2, 0.6])
PLAN = EvaluationPlan(name="two points", operating_points=[OperatingPoint(p) for p in (0.2, 0.05)])
PRIMARY = {
    f"{kind}_primary": unc.PrimaryCost(PLAN, minimum=kind == "min").plain for kind in ("act", "min")
}


def rates_of(truth: ListedSample) -> dict[str, unc.Statistic]:
    """Return rates at the threshold at which the law has a false-alarm rate of 1 %."""
    threshold = float(np.quantile(truth.lists[1], 0.99))
    names = "FNMR", "FMR"
    found = {name: getattr(unc, name)(threshold) for name in names if hasattr(unc, name)}
    if hasattr(unc, "FNMRAt"):
        found |= {"FNMR at FMR .01": unc.FNMRAt(0.01)}
    return found


def coverage_cell(law: SpeakerLaw, k: int, n_sets: int, replications: int) -> Cell:
    """Return coverages, misses above and relative lengths of the default intervals."""
    truth = law.large(np.random.default_rng(5), k, N_TRUE)
    metrics = METRICS | rates_of(truth)
    true = {name: float(metric.of_sample(truth)) for name, metric in metrics.items()}
    ends: dict[str, list[tuple[float, float, float]]] = {name: [] for name in metrics}
    for i in tqdm(range(n_sets), desc=f"{law.name}, {k}", disable=not sys.stderr.isatty()):
        [sample] = law.draw(np.random.default_rng([31, k, i]), k)
        weights = np.random.default_rng(i).multinomial(
            sample.pairs.n_speakers,
            np.full(sample.pairs.n_speakers, 1 / sample.pairs.n_speakers),
            size=replications,
        )
        for name, metric in metrics.items():
            # What `bootstrap_scores` does, without the replicates that no end depends on.
            student = Studentised.of(SpeakerInfluence.on(metric, sample), weights)
            ends[name].append((student.influence.estimate, *student.ends(0.95)))
    return _figures(ends, true)


def _figures(ends: dict[str, list[tuple[float, float, float]]], true: dict[str, float]) -> Cell:
    """Count, given estimates with their intervals and the truths."""
    cell: Cell = {}
    for name, rows in ends.items():
        value, low, high = np.array(rows).T
        cell[f"{name}: covered"] = float(np.mean((low <= true[name]) & (true[name] <= high)))
        cell[f"{name}: above"] = float(np.mean(high < true[name]))
        ideal = 3.92 * float(np.std(value, ddof=1))
        cell[f"{name}: length"] = float(np.median(high - low)) / ideal if ideal else 0.0
    return cell


def primary_cell(law: SpeakerLaw, k: int, n_sets: int, replications: int) -> Cell:
    """Return the figures of `coverage_cell` of primary costs, equalised and pooled."""
    law = attrs.evolve(law, n_segments=N_SEGMENTS)
    tar, non = law.large(np.random.default_rng(5), k, N_TRUE).lists
    true: dict[str, float] = {}
    for way, parts in (("equalised", np.arange(4)), ("pooled", PARTITION_OF)):
        shifts = np.resize(TAR_SHIFTS[parts], tar.size)
        truth = ListedSample.from_scores(tar + shifts, non)
        true |= {f"{name}, {way}": float(m.of_sample(truth)) for name, m in PRIMARY.items()}
    ends: dict[str, list[tuple[float, float, float]]] = {name: [] for name in true}
    for i in tqdm(range(n_sets), desc=f"{law.name}, {k}", disable=not sys.stderr.isatty()):
        [drawn] = law.draw(np.random.default_rng([33, k, i]), k)
        # Trials come model by model: every eighth is of the same segment of its speaker.
        labels = [np.resize(PARTITION_OF, scores.size) for scores in drawn.lists]
        classes = (
            attrs.evolve(drawn.tar, scores=drawn.lists[0] + TAR_SHIFTS[labels[0]]),
            drawn.non,
        )
        pooled = attrs.evolve(drawn, classes=classes)
        members = [
            ConditionMembers(str(a), 0.25, *(np.flatnonzero(x == a) for x in labels), 0.25, 0.25)
            for a in range(4)
        ]
        weights = np.random.default_rng(i).multinomial(k, np.full(k, 1 / k), size=replications)
        for way, sample in (("equalised", pooled.weighted(members)), ("pooled", pooled)):
            for name, metric in PRIMARY.items():
                student = Studentised.of(SpeakerInfluence.on(metric, sample), weights)
                row = student.influence.estimate, *student.ends(0.95)
                ends[f"{name}, {way}"].append(row)
    return _figures(ends, true)


def tests_cell(law: SpeakerLaw, k: int, n_sets: int) -> Cell:
    """Return how often tests by formula reject: one pair of systems, and any pair of five."""
    single = {name: 0 for name in TESTED}
    family = dict(single)
    for i in tqdm(range(n_sets), desc=f"tests, {law.name}, {k}", disable=not sys.stderr.isatty()):
        samples = law.draw(np.random.default_rng([32, k, i]), k, n_systems=5, shared=0.5)
        for name in TESTED:
            found = [
                SpeakerInfluence.of(losses_of(METRICS[name], sample), sample) for sample in samples
            ]
            p_values = []
            for a in range(5):
                for b in range(a):
                    contrast = found[a].minus(found[b])
                    numbers = contrast.degrees, contrast.least_p
                    test = z_test(
                        contrast.difference, contrast.null_error, "two-sided", "", *numbers
                    )
                    p_values.append(test.p_value)
            single[name] += p_values[0] < 0.05
            family[name] += bool(unc.holm_correction(p_values).significant.any())
    return {f"{name}: rejects": single[name] / n_sets for name in TESTED} | {
        f"{name}: Holm": family[name] / n_sets for name in TESTED
    }


def study(
    kinds: list[str], n_sets: int, replications: int, laws: list[str], sizes: list[int]
) -> Iterator[tuple[str, Cell]]:
    """Yield the cells that are not kept yet, or of fewer sets; small ones first."""
    kept = {label for label, cell in load().items() if cell["sets"] >= n_sets}
    sets = {"sets": float(n_sets)}
    if "primary" in kinds:
        for k in (k for k in PRIMARY_SIZES if k in sizes):
            for name in (name for name in PRIMARY_LAWS if name in laws):
                if (label := f"primary {name}, {k}") not in kept:
                    yield label, primary_cell(LAWS[name], k, n_sets, replications) | sets
    known = {name: law for name, law in (LAWS | IN_STRATA).items() if name in laws}
    for k in (k for k in SIZES if k in sizes):
        for name, law in known.items():
            for kind in (kind for kind in kinds if kind != "primary"):
                label = f"{kind} {name}, {k}"
                if label in kept or (kind == "tests" and law.in_strata):
                    continue
                if kind == "covers":
                    yield label, coverage_cell(law, k, n_sets, replications) | sets
                else:
                    yield label, tests_cell(law, k, n_sets) | sets


def load() -> dict[str, Cell]:
    """Return the cells that are kept."""
    if not KEPT.exists():
        return {}
    cells: dict[str, Cell] = json.loads(KEPT.read_text(encoding="utf-8"))
    return cells


def table(cells: dict[str, Cell]) -> Iterator[str]:
    """Lay out all cells."""
    yield from coverage_table(cells)
    yield ""
    yield from tests_table(cells)
    if any(label.startswith("primary") for label in cells):
        yield ""
        yield from primary_table(cells)


def _sets(cells: dict[str, Cell], kind: str) -> str:
    counts = {int(c["sets"]) for label, c in cells.items() if label.startswith(kind)}
    return " to ".join(str(n) for n in dict.fromkeys((min(counts), max(counts))))


def _errors(cells: dict[str, Cell], kind: str) -> str:
    """Say the Monte Carlo error of a share near 95 and near 80 %, of the smallest cells."""
    least = min(c["sets"] for label, c in cells.items() if label.startswith(kind))
    near = (f"{100 * np.sqrt(p * (1 - p) / least):.1f}" for p in (0.95, 0.8))
    return "{} near 95 and of {} near 80".format(*near)


def _largest(cells: dict[str, Cell], kind: str) -> str:
    """Name the cells that have more data sets than the others."""
    counts = {label: c["sets"] for label, c in cells.items() if label.startswith(kind)}
    found = [label for label, n in counts.items() if n == max(counts.values())]
    if len(found) == len(counts):
        return ""
    cells_of = ", ".join(label.removeprefix(f"{kind} ").replace(", ", " ") for label in found)
    return f" Cells of {max(counts.values()):.0f} sets: {cells_of}."


def _row(
    cells: dict[str, Cell], kind: str, law: str, figure: str, sizes: tuple[int, ...] = SIZES
) -> str:
    found = [cells.get(f"{kind} {law}, {k}", {}).get(figure) for k in sizes]
    return " / ".join("-" if x is None else f"{100 * x:.0f}" for x in found)


def _mean(cells: dict[str, Cell], kind: str, figure: str, most: float) -> str:
    means = []
    for k in SIZES:
        found = [cells.get(f"{kind} {law}, {k}", {}).get(figure) for law in LAWS]
        known = [min(x, most) for x in found if x is not None]
        means.append(f"{100 * np.mean(known):.1f}" if known else "-")
    return " / ".join(means)


def coverage_table(cells: dict[str, Cell]) -> Iterator[str]:
    """Lay out how often intervals cover the truth."""
    names = list(
        dict.fromkeys(
            figure.split(":")[0]
            for label, cell in cells.items()
            for figure in cell
            if label.startswith("covers") and figure.endswith("covered")
        )
    )
    yield (
        "How often the default intervals of `bootstrap_scores` cover the truth, nominally 95 %, in "
        f"percent, at 10 / 20 / 40 speakers. There are {_sets(cells, 'covers')} data sets in each "
        f"cell, so an error of {_errors(cells, 'covers')} or less, and 399 replicates."
        f"{_largest(cells, 'covers')} FNMR and FMR are rates at the threshold of a true FMR of "
        "1 %. Laws with rare speakers stand late. The last row is the mean of the smaller of "
        "coverage and 95 %, without the rows of strata: there `strata=` names the groups of "
        "speakers of the law."
    )
    yield ""
    yield f"| law | {' | '.join(names)} |"
    yield f"|---|{'---:|' * len(names)}"
    laws = [*sorted(LAWS, key=lambda law: law in RARE_WOLVES), *IN_STRATA]
    for law in laws:
        row = (_row(cells, "covers", law, f"{name}: covered") for name in names)
        yield f"| {law} | {' | '.join(row)} |"
    means = (_mean(cells, "covers", f"{name}: covered", 0.95) for name in names)
    yield f"| mean | {' | '.join(means)} |"
    yield ""
    yield "Median length of the same intervals, in percent of an ideal one, 3.92 standard errors:"
    yield ""
    yield f"| law | {' | '.join(names)} |"
    yield f"|---|{'---:|' * len(names)}"
    for law in laws:
        row = (_row(cells, "covers", law, f"{name}: length") for name in names)
        yield f"| {law} | {' | '.join(row)} |"


def primary_table(cells: dict[str, Cell]) -> Iterator[str]:
    """Lay out how often intervals of primary costs cover the truth."""
    names = [f"{name}, {way}" for way in ("equalised", "pooled") for name in PRIMARY]
    yield (
        "Primary costs of a plan with two operating points (priors .2 and .05), of four partitions "
        "of the trials with five, one, one and one of eight segments of each speaker, equalised "
        f"and pooled, at {' / '.join(map(str, PRIMARY_SIZES))} speakers: how often the default "
        "intervals cover the truth, nominally 95 %, and how often the truth lies above them, in "
        "percent; and their median length in percent of an ideal one. "
        f"There are {_sets(cells, 'primary')} data sets in each cell. `test(value)` at the truth "
        "rejects, at 5 %, exactly where the interval does not cover it."
    )
    for figure, heading in (("covered", "covers"), ("above", "truth above"), ("length", "length")):
        yield ""
        yield f"| {heading} | {' | '.join(names)} |"
        yield f"|---|{'---:|' * len(names)}"
        for law in PRIMARY_LAWS:
            found = (_row(cells, "primary", law, f"{n}: {figure}", PRIMARY_SIZES) for n in names)
            yield f"| {law} | {' | '.join(found)} |"


def tests_table(cells: dict[str, Cell]) -> Iterator[str]:
    """Lay out how often tests reject systems that are equally good."""
    yield (
        "How often `speaker_z_test` rejects two equal systems at 5 %, and how often "
        "`compare_systems` with Holm's correction finds a difference among five, in percent, at "
        f"10 / 20 / 40 speakers; {_sets(cells, 'tests')} data sets in each cell, half of every "
        f"variance in common.{_largest(cells, 'tests')}"
    )
    yield ""
    heads = [f"{name}{suffix}" for suffix in (", z", ", Holm") for name in TESTED]
    yield f"| law | {' | '.join(heads)} |"
    yield f"|---|{'---:|' * len(heads)}"
    figures = [f"{name}: {what}" for what in ("rejects", "Holm") for name in TESTED]
    for law in sorted(LAWS, key=lambda law: law in RARE_WOLVES):
        row = (_row(cells, "tests", law, figure) for figure in figures)
        yield f"| {law} | {' | '.join(row)} |"
    yield f"| mean | {' | '.join(_mean(cells, 'tests', figure, 1.0) for figure in figures)} |"


def main() -> None:
    """Run the study, or print its tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=500, help="data sets of each cell")
    parser.add_argument("--replications", type=int, default=399, help="of an interval")
    parser.add_argument("--minutes", type=float, default=np.inf, help="begin no cell after these")
    parser.add_argument(
        "--kinds", nargs="+", default=["covers", "tests", "primary"], help="of cells"
    )
    laws = [*LAWS, *IN_STRATA]
    parser.add_argument("--laws", nargs="+", default=laws, choices=laws, help="of cells")
    parser.add_argument(
        "--sizes", nargs="+", type=int, default=list(PRIMARY_SIZES), help="of cells"
    )
    parser.add_argument("--table", action="store_true", help="compute nothing")
    options = parser.parse_args()
    # Some data sets have hardly any errors: part of what is studied.
    warnings.simplefilter("ignore", BosarisWarning)
    began = time.perf_counter()
    if not options.table:
        KEPT.parent.mkdir(exist_ok=True)
        asked = options.kinds, options.sets, options.replications, options.laws, options.sizes
        for label, cell in study(*asked):
            # Another study may have added cells.
            text = json.dumps(load() | {label: cell}, indent=1, sort_keys=True)
            KEPT.write_text(text + "\n", encoding="utf-8")
            if time.perf_counter() - began > 60 * options.minutes:
                break
    output = ROOT / "docs" / "coverage_laws_table.md"
    lines = ["<!-- Made by benchmarks/promise_study.py; do not edit. -->", "", *table(load())]
    output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
