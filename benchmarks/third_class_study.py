"""Count how often intervals of metrics of three classes cover the truth.

Speakers who are good impostors are easily imitated, too: both effects are correlated. Spoofs come
from three attacks of fixed strength. A countermeasure judges the segment alone, so that all trials
of a segment share its score. The truth is the metric of all speakers of the law. Each cell of the
table is kept in a file, and not computed again. Run it from the root of the tree:

    python -m benchmarks.third_class_study                       500 sets of each size
    python -m benchmarks.third_class_study --sets 50 --cells 20  a quick look
    python -m benchmarks.third_class_study --maximum             the largest cell of a cross table
"""

import argparse
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import attrs
import numpy as np
from scipy import optimize, special

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import BosarisWarning
from bosaris_py.evaluation.tandem import TandemPrices
from bosaris_py.numerics.priors import SPOOF_COSTS

STORE = Path(tempfile.gettempdir()) / "bosaris_third_class_study.json"
SIZES, REPLICATIONS = (20, 40, 80), 399
COSTS = SPOOF_COSTS["ASVspoof5"]
# Mean scores of targets, of impostors, and of the spoofs of each attack: verifier, countermeasure.
ASV, CM = (3.0, -3.0, (-2.0, 0.0, 1.5)), (2.5, 2.5, (-3.0, -2.5, -1.5))
N_MODELS, N_SEGMENTS, N_SPOOFS = 2, 4, 6
# Standard deviations of the effects of the verifier, and those of the countermeasure.
GOAT, LAMB, WOLF, SPOOFED, MODEL, SEGMENT, NOISE = 0.8, 0.6, 0.6, 0.7, 0.4, 0.5, 1.2
VOICE, CM_SEGMENT = 0.7, 1.3
# Correlation of the effects of a speaker as impostor's victim and as victim of spoofs.
CORRELATION = 0.8
SINGLE = {
    "a-DCF": unc.ADCF(COSTS),
    "actual a-DCF": unc.ActADCF(COSTS),
    "SV-EER": unc.SVEER(),
    "SPF-EER": unc.SPFEER(),
    "SASV-EER": unc.SASVEER(),
}
TANDEM = {"t-DCF": unc.TDCF(COSTS), "actual t-DCF": unc.TDCF(COSTS, actual=True)}
TANDEM["t-EER"] = unc.TEER()


@attrs.frozen
class Trials:
    """One set: the key with its kinds, a verifier and a countermeasure."""

    key: tuple[bp.FlatKey, bp.TrialMetadata]
    asv: bp.FlatScores
    cm: bp.FlatScores


def speaker(name: str) -> str:
    """Return the speaker of a model or of a segment; of a spoof the one whose voice is claimed."""
    return name.split("-")[0]


def draw(k: int, rng: np.random.Generator) -> Trials:
    """Draw all bona fide pairs of models and segments, and spoofs of each model's speaker."""
    who = np.arange(k)
    lamb = rng.normal(size=k)
    victim = CORRELATION * lamb + (1.0 - CORRELATION**2) ** 0.5 * rng.normal(size=k)
    goat, wolf, voice = rng.normal(size=(3, k))
    of_model = MODEL * rng.normal(size=(k, N_MODELS))
    models = [(s, i) for s in who for i in range(N_MODELS)]
    names, segments, kinds, attacks, asv, cm = [], [], [], [], [], []
    for s in who:
        for j in range(N_SEGMENTS + N_SPOOFS):
            spoof = j >= N_SEGMENTS
            attack = (j - N_SEGMENTS) % 3
            own, counter = SEGMENT * rng.normal(), VOICE * voice[s] + CM_SEGMENT * rng.normal()
            for m, i in models:
                if spoof and m != s:
                    continue
                names.append(f"{m}-{i}")
                segments.append(f"{s}-{j}")
                kinds.append("spoof" if spoof else "target" if m == s else "nontarget")
                attacks.append(f"A{attack}" if spoof else "-")
                mean = ASV[2][attack] if spoof else ASV[0] if m == s else ASV[1]
                effect = SPOOFED * victim[s] if spoof else GOAT * goat[s] if m == s else None
                if effect is None:
                    effect = LAMB * lamb[m] + WOLF * wolf[s]
                asv.append(mean + effect + of_model[m, i] + own + NOISE * rng.normal())
                cm.append((CM[2][attack] if spoof else CM[0]) + counter)
    columns = {"kind": np.array(kinds), "attack": np.array(attacks)}
    columns["codec"] = np.full(len(kinds), "wav")
    key = bp.FlatKey.from_trials(names, segments, columns["kind"] == "target")
    metadata = bp.TrialMetadata.from_trials(names, segments, columns, key)
    found = (bp.FlatScores.from_trials(names, segments, np.array(x)) for x in (asv, cm))
    return Trials((key, metadata), *found)


def below(threshold: float, means: tuple[float, ...], deviation: float) -> float:
    """Return the chance of a score below a threshold, the mean over attacks."""
    return float(np.mean(special.ndtr((threshold - np.array(means)) / deviation)))


REST = MODEL**2 + SEGMENT**2 + NOISE**2
DEVIATIONS = ((GOAT**2 + REST) ** 0.5, (LAMB**2 + WOLF**2 + REST) ** 0.5)
DEVIATIONS += ((SPOOFED**2 + REST) ** 0.5,)
OF_CM = (VOICE**2 + CM_SEGMENT**2) ** 0.5


def rates(threshold: float) -> tuple[float, float, float]:
    """Return the true rates of the verifier: misses, and both kinds of false alarms."""
    miss, non = (below(threshold, (ASV[i],), DEVIATIONS[i]) for i in range(2))
    return miss, 1.0 - non, 1.0 - below(threshold, ASV[2], DEVIATIONS[2])


def cm_rates(threshold: float) -> tuple[float, float]:
    """Return the true rates of the countermeasure: misses and false alarms."""
    return below(threshold, CM[:1], OF_CM), 1.0 - below(threshold, CM[2], OF_CM)


def least(function: Callable[[float], float]) -> float:
    """Return the minimum over thresholds."""
    at = optimize.minimize_scalar(function, bounds=(-8.0, 8.0), method="bounded")
    return float(at.fun)


def crossing(first: Callable[[float], float], second: Callable[[float], float]) -> float:
    """Return where a rate that rises with the threshold equals one that falls."""
    return float(optimize.brentq(lambda t: first(t) - second(t), -9.0, 9.0))


def truths(n_non: int, n_spoof: int) -> dict[str, float]:
    """Return the true value of each metric where classes are pooled by their numbers."""

    def cost(t: float) -> float:
        miss, non, spoof = rates(t)
        return COSTS.miss_price * miss + COSTS.fa_price * non + COSTS.spoof_price * spoof

    worst = min(COSTS.miss_price, COSTS.fa_price + COSTS.spoof_price)
    bayes = float(np.log((COSTS.fa_price + COSTS.spoof_price) / COSTS.miss_price))
    found = {"a-DCF": least(cost) / worst, "actual a-DCF": cost(bayes) / worst}
    for name, part in (("SV-EER", (1.0, 0.0)), ("SPF-EER", (0.0, 1.0)), ("SASV-EER", None)):
        share = part or (n_non, n_spoof)
        at = crossing(
            lambda t: rates(t)[0], lambda t, share=share: np.average(rates(t)[1:], weights=share)
        )
        found[name] = rates(at)[0]
    point = rates(crossing(lambda t: rates(t)[0], lambda t: rates(t)[1]))
    prices = TandemPrices.of(COSTS, *point)

    def tandem(t: float) -> float:
        miss, alarm = cm_rates(t)
        return prices.fixed + prices.miss * miss + prices.alarm * alarm

    scale = prices.default("revised")
    found["t-DCF"] = least(tandem) / scale
    found["actual t-DCF"] = tandem(np.log(prices.alarm / prices.miss)) / scale
    return found | {"t-EER": tandem_eer()}


def tandem_eer() -> float:
    """Return the rate at the pair of thresholds where all three rates of the tandem are equal."""

    def three(at: np.ndarray) -> tuple[float, float, float]:
        (miss, non, spoof), (lost, passed) = rates(at[0]), cm_rates(at[1])
        return 1.0 - (1.0 - miss) * (1.0 - lost), non * (1.0 - lost), spoof * passed

    at = optimize.fsolve(lambda at: np.subtract(three(at)[0], three(at)[1:]), [0.5, 0.0])
    return three(at)[0]


def cell(k: int, n_sets: int, seed: int) -> dict[str, float]:
    """Simulate the sets of one number of speakers."""
    true = truths(k * N_MODELS * (k - 1) * N_SEGMENTS, k * N_MODELS * N_SPOOFS)
    started, rows, values = time.process_time(), [], []
    for rng in np.random.default_rng([seed, k]).spawn(n_sets):
        found, options = draw(k, rng), {"speakers": speaker, "replications": REPLICATIONS}
        options["rng"] = int(rng.integers(2**31))
        ends = {
            name: unc.bootstrap_scores(found.asv, found.key, statistic, **options)
            for name, statistic in SINGLE.items()
        }
        both = {"asv": found.asv, "cm": found.cm}
        for name, statistic in TANDEM.items():
            ends[name] = unc.bootstrap_tandem(found.key, statistic, **both, **options)
        rows.append([[e.low <= true[n] <= e.high, e.high - e.low] for n, e in ends.items()])
        values.append([float(e.estimate) for e in ends.values()])
    means, spread = np.mean(np.array(rows, dtype=float), axis=0), np.std(values, axis=0)
    cells = {"sets": n_sets, "seconds": time.process_time() - started}
    for (name, value), (cover, width), sd in zip(true.items(), means, spread, strict=True):
        cells |= {name: cover, f"{name}, length": width / (3.92 * sd), f"{name}, truth": value}
    cells |= {f"{n}, mean": m for n, m in zip(true, np.mean(values, axis=0), strict=True)}
    return cells


def main() -> None:
    """Simulate, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=500)
    parser.add_argument("--seed", type=int, default=29)
    parser.add_argument("--cells", type=int, nargs="*", default=SIZES)
    parser.add_argument("--store", default=str(STORE))
    given = parser.parse_args()
    warnings.simplefilter("ignore", BosarisWarning)
    store = Path(given.store)
    known = json.loads(store.read_text()) if store.exists() else {}
    for size in given.cells:
        name = f"{size}"
        if known.get(name, {}).get("sets", 0) < given.sets:
            known[name] = cell(size, given.sets, given.seed)
            store.write_text(json.dumps(known, indent=1))
        sys.stdout.write(f"{name}: {json.dumps(known[name])}\n")


if __name__ == "__main__":
    main()
