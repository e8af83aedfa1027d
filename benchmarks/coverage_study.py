"""Count how often intervals by speaker cover the truth, and how often equal systems differ.

Each cell is a law of scores with speakers (`speaker_laws`) and a number of speakers; of each, 300
sets of two systems on the same trials are drawn. A nominal 95 % interval of each metric either
covers the true value, that of two million scores, or not; the 5 % test of the difference either
rejects, or not. Seeds are those of the cell, and the results of a cell are kept in
``benchmarks/coverage_results.json``, so that the study can run in slices. The tables of
docs/evidence.md are made of that file. Run it from the root of the tree:

    python -m benchmarks.coverage_study                     what is missing, for 30 minutes at most
    python -m benchmarks.coverage_study --sets 20 --output -     a quick look, on the screen
"""

import argparse
import json
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tqdm import tqdm

from benchmarks.speaker_laws import LAWS, RARE_WOLVES, SpeakerLaw
from benchmarks.timing import into_page
from bosaris_py.metrics.costs import ActDCF, Cllr, MinDCF
from bosaris_py.metrics.ranks import AUC, EER, MinCllr, PmissAt
from bosaris_py.uncertainty.jackknife import jackknife

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "coverage_results.json"

SPEAKERS = 10, 20, 40
PRIORS = 0.1, 0.05, 0.01
METRICS = [
    EER(),
    *(MinDCF(prior) for prior in PRIORS),
    *(ActDCF(prior) for prior in PRIORS),
    Cllr(),
    MinCllr(),
    AUC(),
    PmissAt(0.01),
]
# Of these, lengths are in no mean: an ideal length of nearly nothing tells nothing.
NO_LENGTH = "independent", "rare errors"


def seed_of(law: str, k: int) -> int:
    """Return the seed of a cell, whatever other cells there are."""
    return zlib.crc32(f"{law} {k}".encode())


def cell(law: SpeakerLaw, k: int, n_sets: int) -> dict[str, dict[str, float]]:
    """Simulate the sets of a law with k speakers."""
    rng = np.random.default_rng([seed_of(law.name, k), 0])
    large = law.large(rng, k, 2_000_000)
    truth = np.array([metric.computed(large) for metric in METRICS])
    values, lows, highs, p = (np.empty((n_sets, len(METRICS))) for _ in range(4))
    for i in range(n_sets):
        rng = np.random.default_rng([seed_of(law.name, k), 1 + i])
        first, second = (jackknife(METRICS, s) for s in law.draw(rng, k, 2, shared=0.5))
        for j, ((a, _), (b, _)) in enumerate(zip(first, second, strict=True)):
            values[i, j] = a.value
            lows[i, j], highs[i, j] = a.ends(0.025)
            found = a.minus(b).estimate(0.95, None)
            p[i, j] = 1.0 if found.standard_error is None else found.p_value()
    ideal = 3.92 * values.std(axis=0, ddof=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        length = np.median(highs - lows, axis=0) / ideal
    covered = ((lows <= truth) & (truth <= highs)).mean(axis=0)
    rejected = (p <= 0.05).mean(axis=0)
    columns = zip(covered.tolist(), length.tolist(), rejected.tolist(), strict=True)
    return {
        metric.label: dict(zip(("coverage", "length", "rejected"), numbers, strict=True))
        for metric, numbers in zip(METRICS, columns, strict=True)
    }


Results = dict[str, dict[str, dict[str, float]]]


def tables(results: Results) -> Iterator[str]:
    """Yield the lines of the page's tables."""
    labels = [metric.label for metric in METRICS]
    rule = f"|---|{'---:|' * len(labels)}"
    known = [k for k in SPEAKERS if all(f"{law} {k}" in results for law in LAWS)]

    def of_laws(k: int, label: str, name: str, but: tuple[str, ...] = ()) -> list[float]:
        return [results[f"{law} {k}"][label][name] for law in LAWS if law not in but]

    yield (
        f"Coverage of nominal 95 % intervals in per cent, mean over {len(LAWS)} laws. In brackets "
        "the median length, divided by that of an ideal interval, 3.92 true standard errors. "
        "Lengths are without the laws of independent trials and of rare errors."
    )
    yield ""
    yield f"| speakers | {' | '.join(labels)} |"
    yield rule
    for k in known:
        shares = [100 * np.mean(of_laws(k, n, "coverage")) for n in labels]
        lengths = [np.mean(of_laws(k, n, "length", NO_LENGTH)) for n in labels]
        cells = [f"{a:.1f} ({b:.2f})" for a, b in zip(shares, lengths, strict=True)]
        yield f"| {k} | {' | '.join(cells)} |"
    yield ""
    yield "The least coverage of any law; laws marked * in brackets, if they have less."
    yield ""
    yield f"| speakers | {' | '.join(labels)} |"
    yield rule
    for k in known:
        cells = []
        for n in labels:
            least = [100 * min(of_laws(k, n, "coverage", but)) for but in (RARE_WOLVES, ())]
            cells.append(f"{least[0]:.0f}" + f" ({least[1]:.0f})" * (least[1] < least[0]))
        yield f"| {k} | {' | '.join(cells)} |"
    yield ""
    yield "How often the 5 % test of two equal systems rejects, in per cent, and the worst law."
    yield ""
    yield f"| speakers | {' | '.join(labels)} | worst |"
    yield f"{rule}---:|"
    for k in known:
        rejected = [of_laws(k, n, "rejected") for n in labels]
        cells = [f"{100 * np.mean(each):.1f}" for each in rejected]
        yield f"| {k} | {' | '.join(cells)} | {100 * np.max(rejected):.1f} |"


def main() -> None:
    """Simulate the cells that are missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sets", type=int, default=300, help="data sets of each cell")
    parser.add_argument("--minutes", type=float, default=30.0, help="begin no cell after this")
    parser.add_argument("--output", default=str(RESULTS), help="file of results; - prints")
    given = parser.parse_args()
    path = None if given.output == "-" else Path(given.output)
    results: Results = json.loads(path.read_text()) if path and path.exists() else {}
    end = time.monotonic() + 60.0 * given.minutes
    cells = [
        (law, k) for k in SPEAKERS for law in LAWS.values() if f"{law.name} {k}" not in results
    ]
    for law, k in tqdm(cells):
        if time.monotonic() > end:
            break
        results[f"{law.name} {k}"] = cell(law, k, given.sets)
        if path:
            path.write_text(json.dumps(results, indent=1) + "\n")
    if path is None:
        print("\n".join(tables(results)))
    else:
        into_page("coverage_study", list(tables(results)), RESULTS)


if __name__ == "__main__":
    main()
