"""Count how often nominal 95 % intervals cover the truth, and 5 % tests reject, with few speakers.

Simulates many data sets whose true costs are known, by 16 laws: few and many speakers, rare
errors, unequal speakers, no speaker effects at all. Writes the tables of the documentation page
"Coverage of the intervals" to ``docs/coverage_table.md``. The formulas are the library's; data
sets are made of numbers of speakers without ids, so that 2000 sets of a law take seconds. Run it
from the root of the tree:

    python -m benchmarks.coverage_study                          as published: 2000 data sets
    python -m benchmarks.coverage_study --sets 100 --output -    a quick look, on the screen
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs
import numpy as np
from scipy import integrate, optimize, special
from tqdm import tqdm

from bosaris_py import uncertainty as unc
from bosaris_py.errors import BosarisWarning
from bosaris_py.trials.sample import ListedSample, ScoredClass
from bosaris_py.trials.speaker_pairs import SpeakerPairs
from bosaris_py.trials.strata import Strata, TrialStrata
from bosaris_py.uncertainty.bootstrap_result import z_test
from bosaris_py.uncertainty.influence.speaker_influence import SpeakerInfluence
from bosaris_py.uncertainty.influence.speakers_needed import speakers_for
from bosaris_py.uncertainty.influence.studentised import Studentised

ROOT = Path(__file__).resolve().parent.parent
PRICE = 19.0
COST = unc.DCF(0.0, 0.05, 1, 1, normalize=True)


@attrs.frozen
class Law:
    """Normal effects on scores, as in ``tests/crossed_trials.py``, and who has how many trials.

    `effects` are the standard deviations of goat, lamb, wolf, pair, model, segment and noise.
    """

    n_speakers: int
    mean: float = 3.0
    effects: tuple[float, ...] = (0.8, 0.6, 0.6, 0.4, 0.4, 0.5, 1.2)
    n_models: int = 2
    n_segments: int = 4
    kind: str = ""

    @property
    def deviations(self) -> tuple[float, float]:
        """Standard deviation of a target score and of a non-target score."""
        goat, lamb, wolf, pair, *common = self.effects
        rest = sum(x * x for x in common)
        return (goat**2 + rest) ** 0.5, (lamb**2 + wolf**2 + pair**2 + rest) ** 0.5

    def rates(self, threshold: float = 0.0) -> tuple[float, float]:
        """Return the true error-rates."""
        of_tar, of_non = self.deviations
        pmiss = special.ndtr((threshold - self.mean) / of_tar)
        if self.kind == "goats":
            pmiss = 0.95 * pmiss + 0.05 * special.ndtr((threshold + 4.0 - self.mean) / of_tar)
        return float(pmiss), float(special.ndtr((-self.mean - threshold) / of_non))

    def layout(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return the speaker of each model and of each segment."""
        k = self.n_speakers
        models, segments = np.full(k, self.n_models), np.full(k, self.n_segments)
        if self.kind == "unequal":
            models, segments = rng.geometric(1 / 3, k), rng.geometric(1 / 6, k)
        if self.kind == "12 enrolled":
            models[12:] = 0
        return np.repeat(np.arange(k), models), np.repeat(np.arange(k), segments)

    def deviate(self, rng: np.random.Generator, of: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Draw how scores differ from the means of their class."""
        goat, lamb, wolf, pair, model, segment, noise = self.effects
        k, (models, segments) = self.n_speakers, of
        met = np.triu(rng.normal(size=(k, k)), 1)
        effects = pair * (met + met.T) + lamb * rng.normal(size=(k, 1)) + wolf * rng.normal(size=k)
        own = goat * rng.normal(size=k)
        if self.kind == "goats":
            own -= 4.0 * (rng.random(k) < 0.05)
        np.fill_diagonal(effects, own)
        scores = effects[np.ix_(models, segments)] + noise * rng.normal(
            size=(models.size, segments.size)
        )
        scores += model * rng.normal(size=(models.size, 1)) + segment * rng.normal(
            size=segments.size
        )
        return scores

    def draw(
        self, rng: np.random.Generator, n_systems: int = 1, shared: float = 0.0
    ) -> tuple[SpeakerPairs, list[tuple[np.ndarray, np.ndarray]]]:
        """Draw who meets whom, and target and non-target scores of some systems."""
        of = self.layout(rng)
        models, segments = of
        rows, cols = np.divmod(np.arange(models.size * segments.size), segments.size)
        one, other = models[rows], segments[cols]
        same, used = one == other, np.ones(rows.size, dtype=bool)
        if self.kind == "same sex":
            used = one % 2 == other % 2
        tar, non = np.flatnonzero(same), np.flatnonzero(~same & used)
        strata = TrialStrata.single(tar.size, non.size)
        pairs = SpeakerPairs.from_numbers(one[tar], one[non], other[non], strata)
        common = self.deviate(rng, of) if shared else 0.0
        systems = []
        for _ in range(n_systems):
            scores = shared**0.5 * common + (1.0 - shared) ** 0.5 * self.deviate(rng, of)
            flat = scores.ravel()
            systems.append((flat[tar] + self.mean, flat[non] - self.mean))
        return pairs, systems


INDEPENDENT = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.3)
WEAK = (0.2, 0.15, 0.15, 0.1, 0.4, 0.5, 1.2)
LAWS = {
    "independent trials, 60": Law(60, 2.5, INDEPENDENT, 1, 1),
    **{f"{k} speakers": Law(k) for k in (10, 20, 30, 40, 80)},
    "many errors, 10": Law(10, 1.5),
    "many errors, 20": Law(20, 1.5),
    "lambs only, 40": Law(40, 3.0, (0.8, 0.8, 0.0, 0.4, 0.0, 0.0, 1.2)),
    "wolves only, 40": Law(40, 3.0, (0.0, 0.0, 0.8, 0.4, 0.0, 0.0, 1.2)),
    "same sex, 20": Law(20, 2.5, kind="same sex"),
    "unequal, 40": Law(40, 2.5, kind="unequal"),
    "goats, 20": Law(20, kind="goats"),
    "12 enrolled, 112": Law(112, 2.5, kind="12 enrolled"),
    "rare errors, 40": Law(40, 4.0, n_models=1, n_segments=2),
    "weak effects, 40": Law(40, 2.0, WEAK, 1, 2),
}
# Of two systems: law, what share of every variance they share, and the shift that power is for.
TEST_LAWS = {
    "independent trials, 60": (LAWS["independent trials, 60"], 0.0, 0.3),
    **{
        f"{k} speakers": (Law(k, 1.5), 0.5, shift)
        for k, shift in ((10, 0.4), (20, 0.25), (30, 0.25), (40, 0.25), (80, 0.15))
    },
    "40 speakers, systems alike": (Law(40, 1.5), 0.9, 0.15),
    "20 speakers, fewer errors": (Law(20, 2.5), 0.5, 0.4),
    "10 speakers, fewer errors": (Law(10, 2.5), 0.5, 0.6),
    "lambs only, 40": (attrs.evolve(LAWS["lambs only, 40"], mean=1.5), 0.5, 0.25),
    "wolves only, 40": (attrs.evolve(LAWS["wolves only, 40"], mean=1.5), 0.5, 0.25),
    "same sex, 20": (LAWS["same sex, 20"], 0.5, 0.4),
    "unequal, 40": (LAWS["unequal, 40"], 0.5, 0.3),
    "goats, 20": (LAWS["goats, 20"], 0.5, 0.5),
    "12 enrolled, 112": (LAWS["12 enrolled, 112"], 0.5, 0.4),
    "rare errors, 40": (LAWS["rare errors, 40"], 0.5, 0.6),
    "rare errors, 20, alike": (Law(20, 4.0, n_models=1, n_segments=2), 0.9, 0.4),
    "weak effects, 40": (LAWS["weak effects, 40"], 0.5, 0.25),
}
METRIC_SHIFTS = {10: 0.6, 20: 0.4, 40: 0.3}


def influence_of(
    statistic: unc.Statistic, pairs: SpeakerPairs, scores: tuple[np.ndarray, np.ndarray]
) -> SpeakerInfluence:
    """Return the influence of speakers on a statistic."""
    classes = (ScoredClass(values, Strata.single(values.size)) for values in scores)
    sample = ListedSample(tuple(classes), pairs=pairs)
    return SpeakerInfluence.on(statistic, sample)


def multinomial(n_speakers: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw weights of speakers, as the bootstrap does."""
    return rng.multinomial(n_speakers, np.full(n_speakers, 1 / n_speakers), size=n).astype(float)


def percentile(found: SpeakerInfluence, weights: np.ndarray) -> tuple[float, float]:
    """Return the percentile interval of a cost, from sums over pairs of speakers."""
    pairs = found.pairs
    k, rates = pairs.n_speakers, []
    table = np.zeros((2, k, k))
    table[:, pairs.first, pairs.second] = found.non.total, pairs.pair_mass
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = (weights @ found.tar.total) / (weights @ pairs.tar_mass)
        errors, mass = (np.einsum("ij,ij->i", weights @ t, weights) for t in table)
        costs = rates + errors / mass
    low, high = np.quantile(costs[np.isfinite(costs)], [0.025, 0.975])
    return float(low), float(high)


Ends = tuple[float, float]


def normal(value: float, error: float) -> Ends:
    """Return value -+ 1.96 error."""
    return value - 1.96 * error, value + 1.96 * error


def each_set(
    law: Law, n_sets: int, label: str, seed: int
) -> Iterator[tuple[int, np.random.Generator]]:
    """Yield the number of each data set of a law, and its generator."""
    for i in tqdm(range(n_sets), desc=label):
        yield i, np.random.default_rng([seed, i])


def with_error(share: float, n: int) -> str:
    """Print a share with its Monte Carlo standard error."""
    return f"{100 * share:.1f} ± {100 * np.sqrt(max(share * (1 - share), 1 / n) / n):.1f}"


class Tally:
    """Counts how often intervals cover the truth, and measures their lengths."""

    def __init__(self, truth: float) -> None:
        self.truth, self.rows, self.estimates = truth, {}, []

    def add(self, method: str, ends: Ends) -> None:
        """Take an interval."""
        self.rows.setdefault(method, []).append(ends)

    def cells(self) -> list[str]:
        """Return coverage, and median length over 3.92 true standard errors, of each method."""
        ideal, n = 3.92 * np.std(self.estimates, ddof=1), len(self.estimates)
        cells = []
        for rows in self.rows.values():
            low, high = np.array(rows).T
            share = float(np.mean((low <= self.truth) & (self.truth <= high)))
            cells.append(f"{with_error(share, n)} ({np.median(high - low) / ideal:.2f})")
        return cells


def intervals_table(n_sets: int, replications: int) -> Iterator[str]:
    """Compare intervals of a cost at a fixed threshold under all laws."""
    names = "trials", "percentile", "formula", "studentised"
    yield (
        "Coverage of nominal 95 % intervals of the cost $P_{miss} + 19 P_{fa}$, in percent ± its "
        f"Monte Carlo standard error, of {n_sets} data sets of each law; in brackets the median "
        "length over that of an ideal interval, 3.92 true standard errors. *Trials*: trials "
        "taken for independent. *Percentile*: speaker bootstrap, the default before version 0.2. "
        "*Formula*: `speaker_errors`, `speaker_interval`. *Studentised*: the default of "
        f"`bootstrap_scores`, {replications} replicates."
    )
    yield ""
    yield f"| law, speakers | {' | '.join(names)} |"
    yield f"|---|{'---:|' * len(names)}"
    for name, law in LAWS.items():
        pmiss, pfa = law.rates()
        tally = Tally(pmiss + PRICE * pfa)
        for _, rng in each_set(law, n_sets, name, 1):
            pairs, [scores] = law.draw(rng)
            found = influence_of(COST, pairs, scores)
            weights = multinomial(pairs.n_speakers, replications, rng)
            tally.estimates.append(found.estimate)
            rates = np.mean(scores[0] < 0), np.mean(scores[1] >= 0)
            variances = (
                (price**2 * p * (1 - p) / s.size)
                for price, p, s in zip((1.0, PRICE), rates, scores, strict=True)
            )
            tally.add("trials", normal(found.estimate, sum(variances) ** 0.5))
            tally.add("percentile", percentile(found, weights))
            formula = found.interval(0.95, "")
            tally.add("formula", (formula.low, formula.high))
            tally.add("studentised", Studentised.of(found, weights).ends(0.95))
        yield f"| {name} | {' | '.join(tally.cells())} |"


def true_metrics(law: Law) -> dict[str, float]:
    """Return the metrics of infinitely many speakers."""

    def cost(threshold: float) -> float:
        pmiss, pfa = law.rates(threshold)
        return pmiss + PRICE * pfa

    def gap(threshold: float) -> float:
        return float(np.subtract(*law.rates(threshold)))

    def bits(deviation: float) -> float:
        def density(x: float) -> float:
            z = (x + law.mean) / deviation
            return float(np.logaddexp(0, x) * np.exp(-z * z / 2) / deviation / np.sqrt(2 * np.pi))

        ends = -law.mean - 12 * deviation, -law.mean + 12 * deviation
        return integrate.quad(density, *ends)[0] / np.log(2)

    bounds = -law.mean, law.mean
    equal = optimize.brentq(gap, *bounds)
    return {
        "EER": law.rates(equal)[0],
        "minDCF": float(optimize.minimize_scalar(cost, bounds=bounds, method="bounded").fun),
        "Cllr": sum(map(bits, law.deviations)) / 2,
        "AUC": float(special.ndtr(2 * law.mean / np.hypot(*law.deviations))),
    }


METRICS = {
    "EER": unc.EER(),
    "minDCF": unc.MinDCF(0.05, normalize=True),
    "Cllr": unc.Cllr(),
    "AUC": unc.AUC(),
}


def metrics_table(n_sets: int, replications: int) -> Iterator[str]:
    """Compare intervals of other metrics."""
    yield (
        f"The same for other metrics, means ± 2.5, {n_sets} data sets (minDCF at a prior of 0.05):"
    )
    yield ""
    yield "| speakers | metric | formula | studentised |"
    yield "|---:|---|---:|---:|"
    for k in (10, 20, 40, 80):
        law, truths = Law(k, 2.5), true_metrics(Law(k, 2.5))
        tallies = {name: Tally(truths[name]) for name in METRICS}
        for _, rng in each_set(law, n_sets, f"metrics, {k}", 2):
            pairs, [scores] = law.draw(rng)
            weights = multinomial(k, replications, rng)
            for name in tallies:
                found = influence_of(METRICS[name], pairs, scores)
                tallies[name].estimates.append(found.estimate)
                formula = found.interval(0.95, "")
                tallies[name].add("formula", (formula.low, formula.high))
                tallies[name].add("studentised", Studentised.of(found, weights).ends(0.95))
        for name, tally in tallies.items():
            yield f"| {k} | {name} | {' | '.join(tally.cells())} |"


Test = Callable[[SpeakerInfluence, np.ndarray, np.random.Generator], float]


def normal_z(found: SpeakerInfluence, weights: np.ndarray, rng: np.random.Generator) -> float:
    """Test as version 0.1 did: no jackknife, no floor, normal law, c = K / (K - 1)."""
    pairs, (u, s) = found.pairs, (found.tar.residual, found.non.residual)
    v, k = pairs.of_speakers(s), pairs.n_speakers
    full, overlap = float(np.sum((u + v) ** 2)), float(s @ s)
    variance = full - overlap if v @ v > overlap and full > overlap else full
    return z_test(found.estimate, (k / (k - 1) * variance) ** 0.5, "two-sided", "").p_value


def formula_test(found: SpeakerInfluence, weights: np.ndarray, rng: np.random.Generator) -> float:
    """Test as `speaker_z_test` does."""
    numbers = found.degrees, found.least_p
    return z_test(found.estimate, found.null_error, "two-sided", "", *numbers).p_value


def bootstrap_test(found: SpeakerInfluence, weights: np.ndarray, rng: np.random.Generator) -> float:
    """Test as `paired_bootstrap` does."""
    return Studentised.of(found, weights, is_difference=True).p_value("two-sided")


TESTS: dict[str, Test] = {
    "normal z": normal_z,
    "`speaker_z_test`": formula_test,
    "`paired_bootstrap`": bootstrap_test,
}


def rejections(
    case: tuple[Law, float, float],
    statistics: list[unc.Statistic],
    options: tuple[int, int, str, int],
) -> np.ndarray:
    """Return shares of p-values below 0.05: (n_statistics, alike or shifted, n_tests)."""
    (law, shared, shift), (n_sets, replications, label, seed) = case, options
    rows = []
    for _, rng in each_set(law, n_sets, label, seed):
        pairs, (a, (tar, non)) = law.draw(rng, 2, shared)
        weights = multinomial(pairs.n_speakers, replications, rng)
        systems = a, (tar, non), (tar + shift, non - shift)
        row = []
        for statistic in statistics:
            first, *others = (influence_of(statistic, pairs, system) for system in systems)
            found = [first.minus(other) for other in others]
            row.append([[test(f, weights, rng) for test in TESTS.values()] for f in found])
        rows.append(row)
    return np.mean(np.array(rows) < 0.05, axis=0)


def tests_table(n_sets: int, replications: int) -> Iterator[str]:
    """Compare tests of two equally good systems, and their power."""
    most = 100 * 0.5 / n_sets**0.5
    yield (
        f"Nominal 5 % tests of {n_sets} data sets of each law, means ± 1.5 unless errors are "
        f"fewer; {replications} replicates. Left: how many reject two equally "
        "good systems, in percent ± Monte Carlo standard error. Right: power, how many reject if "
        f"one is better by a shift of the scores of both classes, in percent ± {most:.1f} at "
        "most. Systems have half of every variance in common, nine tenths where *alike*, and "
        "nothing where trials are independent. The power of a test that rejects too often is no "
        "merit. *Normal z*: `speaker_z_test` of version 0.1."
    )
    yield ""
    names = "normal z", "`speaker_z_test`", "`paired_bootstrap`"
    yield f"| law, speakers | {' | '.join(names)} | shift | {' | '.join(names)} |"
    yield f"|---|{'---:|' * 7}"
    for name, case in TEST_LAWS.items():
        [shares] = rejections(case, [COST], (n_sets, replications, name, 15))
        yield tests_row(name, case[2], shares, n_sets)
    for k, shift in METRIC_SHIFTS.items():
        options = n_sets, replications, f"tests of metrics, {k}", 25
        found = rejections((Law(k, 2.5), 0.5, shift), list(METRICS.values()), options)
        for name, shares in zip(METRICS, found, strict=True):
            yield tests_row(f"{name}, {k} speakers", shift, shares, n_sets)


def tests_row(name: str, shift: float, shares: np.ndarray, n_sets: int) -> str:
    """Lay out one row: type I errors and power."""
    alike = (with_error(float(share), n_sets) for share in shares[0])
    power = (f"{100 * share:.0f}" for share in shares[1])
    return f"| {name} | {' | '.join(alike)} | {shift:g} | {' | '.join(power)} |"


def limits_table(n_sets: int) -> Iterator[str]:
    """Tell how often the upper end lies above a small miss rate."""
    yield (
        "Upper ends of 95 % intervals of a small miss rate, 40 speakers with 16 targets each: how "
        f"often the true rate lies below, of {n_sets} data sets. Without an error the end is "
        "$1 - 0.025^{1/40}$."
    )
    yield ""
    yield "| expected misses | sets without error | true rate below the upper end |"
    yield "|---:|---:|---:|"
    misses_only = unc.DCF(0.0, 0.5, 2, 1e-12)
    for expected in (0.1, 0.3, 1.0, 3.0):
        rate = expected / 640
        law = Law(40, n_models=4)
        law = attrs.evolve(law, mean=-float(special.ndtri(rate)) * law.deviations[0])
        covered = none = 0
        for _, rng in each_set(law, n_sets, f"{expected} misses", 3):
            pairs, [(tar, non)] = law.draw(rng)
            found = influence_of(misses_only, pairs, (tar, non - 1e3))
            none += not (tar < 0).any()
            covered += found.interval(0.95, "").high >= rate
        share = with_error(covered / n_sets, n_sets)
        yield f"| {expected} | {100 * none / n_sets:.0f} % | {share} |"


def planning_table(n_sets: int) -> Iterator[str]:
    """Tell how good plans from a pilot are."""
    large, wanted = Law(160), 0.0
    costs = [
        influence_of(COST, *_single(large, rng)).estimate
        for _, rng in each_set(large, n_sets, "truth of 160", 4)
    ]
    wanted = float(np.std(costs, ddof=1))
    yield (
        f"Plans from a pilot for the standard error that 160 speakers have, {wanted:.3f}: "
        "estimates, and how often the upper end of the 90 % interval, the number that "
        f"`speakers_needed` returns, is at least 160; {n_sets} pilots."
    )
    yield ""
    names = "median estimate | 5 % to 95 % | median upper end | upper end at least 160"
    yield f"| speakers of the pilot | {names} |"
    yield f"|{'---:|' * 5}"
    for k in (10, 20, 40, 80):
        plans = []
        for _, rng in each_set(Law(k), n_sets, f"pilot of {k}", 6):
            found = influence_of(COST, *_single(Law(k), rng))
            plan = speakers_for((found.standard_error / wanted) ** 2, found, 0.9)
            plans.append((plan.estimate, int(plan)))
        estimates, ends = np.array(plans).T
        low, middle, high = np.quantile(estimates, [0.05, 0.5, 0.95])
        share = with_error(float(np.mean(ends >= 160)), n_sets)
        usual = np.median(ends)
        yield f"| {k} | {middle:.0f} | {low:.0f} to {high:.0f} | {usual:.0f} | {share} |"


def _single(law: Law, rng: np.random.Generator) -> tuple[SpeakerPairs, tuple[np.ndarray, ...]]:
    pairs, [scores] = law.draw(rng)
    return pairs, scores


def main() -> None:
    """Run the study and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=2000, help="simulated data sets of each law")
    what = "replicates of an interval; of tests half as many"
    parser.add_argument("--replications", type=int, default=999, help=what)
    parser.add_argument("--output", default=str(ROOT / "docs" / "coverage_table.md"))
    options = parser.parse_args()
    # Some data sets of ten speakers have hardly any errors: part of what is studied.
    warnings.simplefilter("ignore", BosarisWarning)
    began = time.perf_counter()
    sets, replications = options.sets, options.replications
    lines = ["<!-- Made by benchmarks/coverage_study.py; do not edit. -->"]
    for table in (
        intervals_table(sets, replications),
        metrics_table(sets, replications),
        tests_table(sets, replications // 2),
        limits_table(sets),
        planning_table(sets),
    ):
        lines += ["", *table]
        if options.output == "-":
            print("\n".join(lines), flush=True)
            lines = []
        else:
            Path(options.output).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
