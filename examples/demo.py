"""Calibrate, fuse and evaluate two speaker verifiers on real speech, from scores to figures.

Two verifiers scored the trials of ASVspoof 2019. Calibration and fusion are trained on the dev set
and evaluated on the eval set, which has other speakers. Intervals and tests are by speaker.

Run with ``make demo``, or ``python examples/demo.py --output FOLDER``.
"""

import argparse
import textwrap
import warnings
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.plots import plot_forest

# Maps are trained and costs are computed at this prior; a miss costs as much as a false alarm.
PRIOR = 0.05

# At this prior the dev set has 16 false alarms; a ridge takes the place of those it lacks.
TRAIN = {"prior": PRIOR}

# A model has the name of its speaker; the column is the speaker of the test segment.
SPEAKERS = "model", "speaker"

METRICS = {"eer": "EER", "min_cllr": "minCllr", "cllr": "Cllr"}

TITLE = "ASVspoof 2019, eval"


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("demo_output"))
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluate(output)
    print_notes(caught)


def evaluate(output: Path) -> None:
    """Print all figures, and write plots and files into a folder."""
    dev, test = bp.load_example("asvspoof2019_la")
    print(f"{test.key}\n")
    calibrated = {}
    for name, scores in dev.scores.items():
        calibration = bp.LinearCalibration.fit_scores(scores, dev.key, **TRAIN)
        calibrated[name] = calibration.apply(test.scores[name])
    fusion = bp.LinearFusion.fit_scores(dev.scores, dev.key, **TRAIN)
    systems = {**calibrated, "fusion": fusion.apply(test.scores, test.key)}
    everything = {"xvector, raw": test.scores["xvector"], **systems}
    evaluation = bp.evaluate(everything, test.key, prior=PRIOR)
    print(f"{textwrap.fill(repr(fusion), 100)}\n\n{evaluation}\n")

    sure = bp.evaluate(systems, test.key, prior=PRIOR, speakers=SPEAKERS)
    print("95 % intervals, by speaker:")
    for row in sure.to_dict():
        found = (
            f"{label} {row[metric]:.4f} [{row[f'{metric}_low']:.4f}, {row[f'{metric}_high']:.4f}]"
            for metric, label in METRICS.items()
        )
        print(f"{row['system']:8s}", "   ".join(found))
    differences = sure.compare()
    print("\nDifferences in EER:")
    for line in repr(differences).splitlines():
        print(textwrap.fill(line, 110))

    results = evaluation.results
    band = unc.bootstrap_bands(
        systems["fusion"], test.key, speakers=SPEAKERS, replications=1000, rng=1
    )
    drawn = {name: results[name] for name in systems}
    det = bp.plot_det(drawn, prior=PRIOR, bands={"fusion": band}, title=TITLE)
    drawn = {name: results[name] for name in ("xvector, raw", "xvector", "fusion")}
    bayes = bp.plot_bayes(drawn, axes=(-7, 3, 0, 0.6), prior=PRIOR, title=TITLE)
    forest = plot_forest(
        differences, percent=True, xlabel="difference (points)", title="EER: 95 % intervals"
    )
    for suffix in ("png", "pdf"):
        det.save(output / f"det.{suffix}")
        bayes.save(output / f"bayes.{suffix}")
        forest.save(output / f"differences.{suffix}")

    systems["fusion"].save(output / "fused_eval_scores.h5")
    systems["fusion"].save(output / "fused_eval_scores.txt")
    fusion.save(output / "fusion.json")
    evaluation.to_csv(output / "systems.csv")
    names = ", ".join(path.name for path in sorted(output.iterdir()))
    print(f"\nWritten to {output.resolve()}:")
    print(textwrap.fill(names, 98, initial_indent="  ", subsequent_indent="  "))


def print_notes(caught: Sequence[warnings.WarningMessage]) -> None:
    """Print the first warning of each kind as a paragraph, with the number of the others."""
    kinds = defaultdict(list)
    for warning in caught:
        kinds[warning.category].append(str(warning.message))
    for first, *others in kinds.values():
        more = f" ({len(others)} more of this kind.)" if others else ""
        print("\n" + textwrap.fill(f"Note: {first}{more}", 100))


if __name__ == "__main__":
    main()
