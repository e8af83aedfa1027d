"""Show what cross-fitting and calibration by quality are worth, where the truth is known.

Writes the tables of the documentation page "Choose a calibration" to
``docs/cross_fitting_table.md``. The last table needs the score sets of the tests, in
``../shared/data`` or ``--data``. Run it from the root of the tree:

    python -m benchmarks.cross_fitting_study                         as published
    python -m benchmarks.cross_fitting_study --draws 3 --output -    a quick look, on the screen
"""

import argparse
import csv
import gzip
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import bosaris_py as bp
from bosaris_py.errors import BosarisWarning
from tests.crossed_trials import CrossedExperiment, mismatched

ROOT = Path(__file__).resolve().parent.parent


def true_cllr(calibration: bp.LinearCalibration, law: CrossedExperiment) -> float:
    """Return Cllr of a line on all speakers of a law, whose scores are normal."""
    common = law.model**2 + law.segment**2 + law.noise**2
    spreads = law.goat**2, law.lamb**2 + law.wolf**2 + law.pair**2
    x = np.linspace(-12, 12, 4001)
    weights = np.exp(-0.5 * x**2) / np.exp(-0.5 * x**2).sum()
    bits = 0.0
    means = zip((law.tar_mean, law.non_mean), spreads, (-1, 1), strict=True)
    for mean, spread, sign in means:
        llrs = calibration.scale * (mean + np.sqrt(common + spread) * x) + calibration.offset
        bits += 0.5 * float(weights @ np.logaddexp(0.0, sign * llrs)) / np.log(2.0)
    return bits


def by_speakers(n_draws: int) -> Iterator[str]:
    """Compare Cllr in training and cross-fitted with the truth."""
    yield (
        f"Cllr of a line on simulated trials that share speakers: means of {n_draws} data sets. "
        "The truth is that of the final map on all speakers. The standard error is that of one set."
    )
    yield ""
    yield "| speakers | truth | cross-fitted | off by | in training | off by | standard error |"
    yield "|---:|" + "---:|" * 6
    for n_speakers in (20, 40, 80):
        law, rows = CrossedExperiment(n_speakers=n_speakers), []
        for seed in range(n_draws):
            data = law.draw(np.random.default_rng(seed))
            speakers = data.model_speakers, data.segment_speakers
            fitted = bp.cross_fit(
                bp.LinearCalibration, data.scores, data.key, speakers=speakers, rng=seed
            )
            cross = bp.cllr(*fitted.scores.get_tar_non(data.key))
            rows.append((true_cllr(fitted.final, law), cross, fitted.final.objective_value))
        truth, cross, inside = np.mean(rows, axis=0)
        error = np.std(rows, axis=0, ddof=1)[1]
        yield (
            f"| {n_speakers} | {truth:.4f} | {cross:.4f} | {cross - truth:+.4f} | {inside:.4f} | "
            f"{inside - truth:+.4f} | {error:.4f} |"
        )


def by_duration(n_draws: int) -> Iterator[str]:
    """Compare a plain line with one whose offset and scale depend on the duration."""
    yield (
        f"Loss of calibration (Cllr less that of the true map) in {n_draws} simulations: median, "
        "and the worst ratio of both maps."
    )
    yield ""
    yield "| duration | plain | by duration | ratio | worst ratio |"
    yield "|---|---:|---:|---:|---:|"
    reaches = (("matters, unseen ones", True, {"low": 1.0, "high": 1.3}),
               ("matters, like the training", True, {}))  # fmt: skip
    for name, effect, reach in (*reaches, ("does not matter: Cllr itself", False, {})):
        rows = []
        for seed in range(n_draws):
            maps, systems = [], []
            for start, ends in ((seed, {}), (100 + seed, reach)):
                scores, key, quality = mismatched(start, effect=effect, n=80, **ends)
                named = {"duration": (None, quality)}
                systems.append((scores, bp.quality_systems(scores, named, key, scale=named), key))
                if not maps:
                    maps = [
                        bp.LinearCalibration.fit_scores(scores, key),
                        bp.LinearFusion.fit_scores(systems[0][1], key),
                    ]
            scores, measured, key = systems[1]
            used = quality.values[0] if effect else 0.5
            true = bp.Scores((scores.scoremat - 2.0 * used) * (0.5 + 2.0 * used), *scores.ids)
            llrs = maps[0].apply(scores), maps[1].apply(measured, key), true
            bits = [bp.cllr(*item.get_tar_non(key)) for item in llrs]
            rows.append(bits[:2] if not effect else [value - bits[2] for value in bits[:2]])
        plain, mapped = np.median(rows, axis=0)
        worst = max(after / before for before, after in rows)
        yield f"| {name} | {plain:.4f} | {mapped:.4f} | {mapped / plain:.3f} | {worst:.3f} |"


def asvspoof(data: Path) -> Iterator[str]:
    """Compare the ways to use the score of a countermeasure as a measure of the segment."""
    yield (
        "Evaluation part of ASVspoof 2019, trained on the development part; Cllr / normalized "
        "actual DCF at a prior of 0.05. The measure is the score of a countermeasure."
    )
    yield ""
    yield "| systems | without | `QualityFusion` | offset | offset and scale |"
    yield "|---|---:|---:|---:|---:|"
    parts = {}
    for part in ("dev", "eval"):
        with gzip.open(data / "asvspoof2019_la" / f"bonafide_{part}.csv.gz", "rt") as file:
            rows = list(csv.DictReader(file))
        ids = [row["model"] for row in rows], [row["segment"] for row in rows]
        key = bp.FlatKey.from_trials(*ids, [row["label"] == "target" for row in rows])
        scores = {
            name: bp.FlatScores.from_trials(*ids, [float(row[f"asv_{name}"]) for row in rows])
            for name in ("xvector", "ecapa")
        }
        measures = {row["segment"]: float(row["cm_aasist"]) for row in rows}
        quality = bp.SegmentQuality(list(measures), [list(measures.values())])
        parts[part] = key, scores, quality
    for names in (("xvector",), ("ecapa",), ("xvector", "ecapa")):
        cells = []
        for method in ("without", "fusion", "offset", "scale"):
            results = []
            fitted = None
            for key, scores, quality in parts.values():
                used, more = [scores[name] for name in names], ()
                if method == "fusion":
                    more = ([quality],)
                elif method != "without":
                    named = {"cm": (None, quality)}
                    wanted = named if method == "scale" else ()
                    made = [bp.quality_systems(item, named, key, scale=wanted) for item in used]
                    # The measure itself is there once.
                    used = made[0] + [item for system in made[1:] for item in system[::2]]
                kind = bp.QualityFusion if more else bp.LinearFusion
                fitted = fitted or kind.fit_scores(used, *more, key)
                results = fitted.apply(used, *more, key).get_tar_non(key)
            cost = bp.act_dcf(*results, 0.05, normalize=True)
            cells.append(f"{bp.cllr(*results):.4f} / {cost:.3f}")
        yield f"| {' and '.join(names)} | " + " | ".join(cells) + " |"


def main() -> None:
    """Run the simulations and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=100, help="data sets of each size")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--output", default=str(ROOT / "docs" / "cross_fitting_table.md"))
    options = parser.parse_args()
    notice = "<!-- Made by benchmarks/cross_fitting_study.py; do not edit. -->"
    with warnings.catch_warnings():
        # Folds of few speakers leave scores out that are far outside.
        warnings.simplefilter("ignore", BosarisWarning)
        tables = (
            by_speakers(options.draws),
            ("<!-- quality -->",),
            by_duration(10),
            asvspoof(options.data),
        )
        text = "\n\n".join((notice, *("\n".join(lines) for lines in tables))) + "\n"
    if options.output == "-":
        sys.stdout.write(text)
    else:
        Path(options.output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
