"""Count what the answers to questions of users promise: ranks, margins, predictions, alarms.

Simulates data sets of the laws of `speaker_laws`. Each cell (question, law, number of speakers) is
kept in a file as soon as it is done, so that a study that was stopped goes on. Run it from the root
of the tree:

    python -m benchmarks.questions_study --sets 200 --kinds pairs ranks
    python -m benchmarks.questions_study --table
"""

import argparse
import itertools
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs
import numpy as np

from benchmarks.coverage_study import formula_test, multinomial
from benchmarks.speaker_laws import LAWS, SpeakerLaw
from bosaris_py import uncertainty as unc
from bosaris_py.errors import BosarisWarning
from bosaris_py.trials.sample import ListedSample
from bosaris_py.uncertainty.bootstrap_result import z_test
from bosaris_py.uncertainty.comparison.all_pairs import compare_samples
from bosaris_py.uncertainty.comparison.speaker_z_test import z_test_of_samples
from bosaris_py.uncertainty.inference.components import components_of
from bosaris_py.uncertainty.inference.equivalence import Question, equivalence_of
from bosaris_py.uncertainty.inference.prediction import (
    compare_influences,
    predicted,
    spread_of_runs,
)
from bosaris_py.uncertainty.influence.losses import losses_of
from bosaris_py.uncertainty.influence.speaker_influence import SpeakerInfluence
from bosaris_py.uncertainty.influence.studentised import Studentised
from bosaris_py.uncertainty.resampling import Resampling

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "benchmarks" / "results" / "questions.json"
METRICS: dict[str, unc.Statistic] = {
    "EER": unc.EER(),
    "Cllr": unc.Cllr(),
    "minDCF": unc.MinDCF(0.1, normalize=True),
}
LEVEL = 0.05
# Scores of a law whose truth is taken for that of the law.
N_TRUE = 1_000_000

Cell = dict[str, float]


def shifted(samples: list[ListedSample], shifts: list[float]) -> list[ListedSample]:
    """Lower the targets of each system, so that their true ranks are those of the shifts."""
    found: list[ListedSample] = []
    for sample, shift in zip(samples, shifts, strict=True):
        tar, *others = sample.classes
        # A class has an order of its scores, which a shift keeps.
        moved = attrs.evolve(
            sample, classes=(attrs.evolve(tar, scores=tar.scores - shift), *others)
        )
        found.append(moved.sharing_pairs(found[0]) if found else moved)
    return found


def _compare(samples: list[ListedSample], metric: unc.Statistic) -> unc.ComparisonTable:
    named = {f"{i}": sample for i, sample in enumerate(samples)}
    return compare_samples(named, metric, Resampling("speaker"), 1)


def pairs_cell(law: SpeakerLaw, k: int, n_sets: int) -> Cell:
    """Return family errors among five equal systems, and what is found among unequal ones."""
    counts = dict.fromkeys(
        (f"{m}: {w}" for m in METRICS for w in ("error", "Holm error", "found", "Holm found")), 0.0
    )
    for i in range(n_sets):
        equal = law.draw(np.random.default_rng([41, k, i]), k, n_systems=5, shared=0.5)
        unequal = shifted(equal, [0.0, 0.3, 0.6, 0.9, 1.2])
        for name, metric in METRICS.items():
            for samples, end in ((equal, "error"), (unequal, "found")):
                table = _compare(samples, metric)
                for label, corrected in (("", table.corrected), ("Holm ", table.holm)):
                    n_found = int(corrected.significant.sum())
                    counts[f"{name}: {label}{end}"] += n_found if end == "found" else n_found > 0
    return {name: count / n_sets for name, count in counts.items()}


def ranks_cell(law: SpeakerLaw, k: int, n_sets: int) -> Cell:
    """Return how often the rank intervals of eight systems hold all ranks; and their lengths."""
    counts = dict.fromkeys((f"{m}: {w}" for m in METRICS for w in ("hold", "length", "best")), 0.0)
    for i in range(n_sets):
        samples = law.draw(np.random.default_rng([42, k, i]), k, n_systems=8, shared=0.5)
        samples = shifted(samples, [0.2 * j for j in range(8)])
        for name, metric in METRICS.items():
            found = _compare(samples, metric).rank_intervals()
            low, high = np.array(found.low), np.array(found.high)
            ranks = np.arange(1, 9)
            counts[f"{name}: hold"] += bool(np.all((low <= ranks) & (ranks <= high)))
            counts[f"{name}: length"] += float(np.mean(high - low + 1))
            counts[f"{name}: best"] += len(found.best)
    return {name: count / n_sets for name, count in counts.items()}


QUESTIONS: tuple[Question, ...] = ("equivalent", "not worse")

# Targets of one system are lower by these: a margin that few sets can show, and one that most can.
_MARGINS = {"margin": 0.3, "wide margin": 1.2}


def margin_cell(law: SpeakerLaw, k: int, n_sets: int) -> Cell:
    """Return how often systems that differ by the margin are shown to be equivalent, not worse."""
    counts: dict[str, float] = {}
    truth = law.large(np.random.default_rng(5), k, N_TRUE)
    for (margin, shift), (name, metric) in itertools.product(_MARGINS.items(), METRICS.items()):
        worse = shifted([truth], [shift])[0]
        first, second = (float(metric.of_sample(sample)) for sample in (worse, truth))
        sizes = {margin: first - second, f"relative {margin}": first / second - 1.0}
        for i in range(n_sets):
            samples = law.draw(np.random.default_rng([43, k, i]), k, n_systems=2, shared=0.9)
            second_sample, first_sample = shifted(samples[::-1], [0.0, shift])
            test = z_test_of_samples((first_sample, second_sample), (metric, None), "two-sided")
            for (kind, size), question in itertools.product(sizes.items(), QUESTIONS):
                relative = kind.startswith("relative")
                found = equivalence_of(test, size, question, LEVEL, relative=relative)
                label = f"{name}: {question}, {kind}"
                counts[label] = counts.get(label, 0.0) + found.shown
    return {label: count / n_sets for label, count in counts.items()}


def next_cell(law: SpeakerLaw, k: int, n_sets: int) -> Cell:
    """Return how often predictions and confidence intervals hold the metric of a second set."""
    counts = dict.fromkeys((f"{m}: {w}" for m in METRICS for w in ("prediction", "plain")), 0.0)
    for i in range(n_sets):
        here, there = (law.draw(np.random.default_rng([44, k, i, j]), k)[0] for j in range(2))
        for name, metric in METRICS.items():
            influence, value = SpeakerInfluence.on(metric, here), float(metric.of_sample(there))
            for kind, interval in (
                ("prediction", predicted(influence, None, 0.95)),
                ("plain", influence.interval(0.95, "")),
            ):
                counts[f"{name}: {kind}"] += interval.low <= value <= interval.high
    return {name: count / n_sets for name, count in counts.items()}


def runs_cell(law: SpeakerLaw, k: int, n_sets: int) -> Cell:
    """Return how often equal methods of three runs differ; runs have a deviation of 5 %."""
    names = "three runs", "one run", "run variance"
    counts = dict.fromkeys((f"{m}: {w}" for m in METRICS for w in names), 0.0)
    truth = law.large(np.random.default_rng(5), k, N_TRUE)
    near = shifted([truth], [0.1])[0]
    for name, metric in METRICS.items():
        value, other = (float(metric.of_sample(sample)) for sample in (truth, near))
        # The shift of the targets that moves the metric by a twentieth.
        size = 0.1 * 0.05 * value / (other - value)
        for i in range(n_sets):
            rng = np.random.default_rng([45, k, i])
            samples = law.draw(rng, k, n_systems=6, shared=0.9)
            samples = shifted(samples, (size * rng.normal(size=6)).tolist())
            found = [SpeakerInfluence.on(metric, sample) for sample in samples]
            test = compare_influences(found[:3], found[3:], "two-sided")
            contrast = found[0].minus(found[3])
            one = z_test(
                contrast.difference, contrast.null_error, "two-sided", "", contrast.degrees
            )
            counts[f"{name}: three runs"] += test.p_value < LEVEL
            counts[f"{name}: one run"] += one.p_value < LEVEL
            # Over that of the law.
            counts[f"{name}: run variance"] += test.run_variance / (0.05 * value) ** 2
    return {name: count / n_sets for name, count in counts.items()}


def true_parts(law: SpeakerLaw, k: int, metric: unc.Statistic, n_draws: int) -> np.ndarray:
    """Return the parts of the variance that speakers, pairs and trials make, by simulation."""
    losses = losses_of(metric, law.large(np.random.default_rng(5), k, N_TRUE))
    _, _, _, pair, model, segment, noise = law.deviations
    n_models, n_segments = law.n_models, law.n_segments
    sums = []
    for seed in range(n_draws // 10_000):
        rng, n = np.random.default_rng([46, seed]), 10_000
        # One speaker, and two others with whom the first meets.
        found = law.effects(rng, 3 * n)
        goat, lamb, wolf = (e.reshape(n, 3, 1, 1) for e in (found.goat, found.lamb, found.wolf))
        models = model * rng.normal(size=(n, 3, n_models, 1))
        segments = segment * rng.normal(size=(n, 3, 1, n_segments))

        def scored(one: int, other: int, effect: np.ndarray) -> np.ndarray:
            errors = noise * rng.normal(size=(n, n_models, n_segments))  # noqa: B023
            return (effect + models[:, one] + segments[:, other] + errors).reshape(n, -1)  # noqa: B023

        tar = losses.tar(law.means[0] + scored(0, 0, goat[:, 0]))
        met = []
        for other in (1, 2):
            common = law.means[1] + pair * rng.normal(size=(n, 1, 1))
            forth = scored(0, other, common + lamb[:, 0] + wolf[:, other])
            back = scored(other, 0, common + lamb[:, other] + wolf[:, 0])
            met.append(losses.non(np.concatenate((forth, back), axis=1)))
        means = [part.mean(axis=1) for part in (tar, *met)]
        within = [part.var(axis=1, ddof=1).mean() / part.shape[1] for part in (tar, met[0])]
        sums.append((np.cov(means), within))
    moments = np.mean([moment for moment, _ in sums], axis=0)
    of_tar, of_non = np.mean([within for _, within in sums], axis=0)
    # What both pairs of the first speaker have in common is the speaker's.
    own = moments[1, 2]
    both = 0.5 * (moments[0, 1] + moments[0, 2])
    n_pairs = k * (k - 1) / 2
    speakers = (moments[0, 0] - of_tar + 4.0 * both + 4.0 * own) / k
    rest = 0.5 * (moments[1, 1] + moments[2, 2]) - 2.0 * own - of_non
    return np.array([speakers, rest / n_pairs, of_tar / k + of_non / n_pairs])


def true_runs(law: SpeakerLaw, k: int, metric: unc.Statistic, size: float) -> float:
    """Return what the variance of runs does to the mean of the metric over sets."""
    # Gauss and Hermite: the moments of a normal shift at seven points.
    points, weights = np.polynomial.hermite_e.hermegauss(7)
    values = np.zeros(points.size)
    for i in range(200):
        [one] = law.draw(np.random.default_rng([47, k, i]), k)
        moved = shifted([one] * points.size, (size * points).tolist())
        values += [float(metric.of_sample(sample)) for sample in moved]
    weights = weights / weights.sum()
    return float(weights @ (values / 200 - weights @ values / 200) ** 2)


def components_cell(law: SpeakerLaw, k: int, n_sets: int) -> Cell:
    """Return the mean components of variance over the true ones; runs deviate by 5 %."""
    cell: Cell = {}
    truth = law.large(np.random.default_rng(5), k, N_TRUE)
    near = shifted([truth], [0.1])[0]
    for name, metric in METRICS.items():
        value, other = (float(metric.of_sample(sample)) for sample in (truth, near))
        size, rows, values = 0.1 * 0.05 * value / (other - value), [], []
        for i in range(n_sets):
            rng = np.random.default_rng([48, k, i])
            samples = law.draw(rng, k, n_systems=3, shared=0.9)
            samples = shifted(samples, (size * rng.normal(size=3)).tolist())
            losses = losses_of(metric, samples[0])
            parts = components_of(samples[0].pairs, *(losses.of(c, samples[0]) for c in (0, 1)))
            found = [SpeakerInfluence.on(metric, sample) for sample in samples]
            squares, explained = spread_of_runs(found)
            rows.append([*parts, (squares - explained) / 2])
            values.append(found[0].estimate)
        parts = np.array(rows)
        true = np.append(true_parts(law, k, metric, 400_000), true_runs(law, k, metric, size))
        error = parts.std(axis=0, ddof=1) / n_sets**0.5
        for j, source in enumerate(("speakers", "pairs", "trials", "runs")):
            cell[f"{name}: {source}"] = float(parts[:, j].mean() / true[j])
            cell[f"{name}: {source}, error"] = float(error[j] / true[j])
            cell[f"{name}: {source}, share"] = float(true[j] / true.sum())
        # One run varies by all four.
        sums = parts.sum(axis=1).mean() / np.var(values, ddof=1)
        cell[f"{name}: all"] = float(sums)
    return cell


def power_cell(law: SpeakerLaw, k: int, n_sets: int) -> Cell:
    """Return how often tests reject two equal systems, and find a shift of the targets."""
    # The last one: without the limit that quantiles of drawn t have.
    tests = "z-test", "bootstrap", "no limit"
    metrics = METRICS | {"AUC": unc.AUC()}
    counts = {f"{m}: {t}, {w}": 0.0 for m in metrics for t in tests for w in ("level", "power")}
    shift = {10: 2.2, 20: 1.6, 40: 1.1}[k]
    for i in range(n_sets):
        rng = np.random.default_rng([49, k, i])
        a, b = law.draw(rng, k, n_systems=2, shared=0.5)
        # As many speakers as take part are drawn, as often as in the coverage study.
        weights = multinomial(a.pairs.n_speakers, 499, rng)
        for name, metric in metrics.items():
            first = SpeakerInfluence.on(metric, a)
            for what, other in (("level", b), ("power", shifted([b], [shift])[0])):
                contrast = first.minus(SpeakerInfluence.on(metric, other))
                tested = Studentised.of(contrast, weights, is_difference=True)
                drawn = p_value = tested.p_value("two-sided")
                if tested.draws is not None:
                    z = abs(contrast.difference) / tested.null_error
                    drawn = (1 + np.count_nonzero(tested.draws >= z)) / (1 + tested.draws.size)
                found = [formula_test(contrast, weights, rng), p_value]
                found.append(max(drawn, contrast.least_p))
                for test, p_value in zip(tests, found, strict=True):
                    counts[f"{name}: {test}, {what}"] += p_value < LEVEL
    return {name: count / n_sets for name, count in counts.items()}


KINDS: dict[
    str, tuple[Callable[[SpeakerLaw, int, int], Cell], tuple[str, ...], tuple[int, ...]]
] = {
    "pairs": (pairs_cell, ("correlated", "Zipf"), (20, 40)),
    "ranks": (ranks_cell, ("correlated", "Zipf"), (20, 40)),
    "margin": (margin_cell, ("correlated",), (20, 40)),
    "next": (next_cell, ("correlated", "Zipf", "heavy tails"), (20, 40)),
    "runs": (runs_cell, ("correlated",), (40,)),
    "power": (
        power_cell,
        ("correlated", "accents", "bimodal", "skewed", "Zipf", "rare errors"),
        (10, 20, 40),
    ),
    "components": (components_cell, ("correlated",), (20, 40)),
}


def study(kinds: list[str], n_sets: int) -> Iterator[tuple[str, Cell]]:
    """Yield the cells that are not kept yet."""
    kept = load()
    for kind in kinds:
        compute, laws, sizes = KINDS[kind]
        for k, name in itertools.product(sizes, laws):
            label = f"{kind} {name}, {k}"
            if label not in kept:
                yield label, compute(LAWS[name], k, n_sets) | {"sets": float(n_sets)}


def load() -> dict[str, Cell]:
    """Return the cells that are kept."""
    if not KEPT.exists():
        return {}
    cells: dict[str, Cell] = json.loads(KEPT.read_text(encoding="utf-8"))
    return cells


def table(cells: dict[str, Cell]) -> Iterator[str]:
    """Lay out all cells, figure by figure."""
    for label, cell in cells.items():
        for name, value in cell.items():
            yield f"{label:28} {name:28} {value:9.4g}"


def main() -> None:
    """Run the study, or print its cells."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=500, help="data sets of each cell")
    parser.add_argument("--minutes", type=float, default=np.inf, help="begin no cell after these")
    parser.add_argument("--kinds", nargs="+", default=[*KINDS], choices=[*KINDS], help="of cells")
    parser.add_argument("--table", action="store_true", help="compute nothing")
    options = parser.parse_args()
    # Few speakers and few errors are part of what is studied.
    warnings.simplefilter("ignore", BosarisWarning)
    began = time.perf_counter()
    if not options.table:
        KEPT.parent.mkdir(exist_ok=True)
        for label, cell in study(options.kinds, options.sets):
            text = json.dumps(load() | {label: cell}, indent=1, sort_keys=True)
            KEPT.write_text(text + "\n", encoding="utf-8")
            if time.perf_counter() - began > 60 * options.minutes:
                break
    print("\n".join(table(load())))


if __name__ == "__main__":
    main()
