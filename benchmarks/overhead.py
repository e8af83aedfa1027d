"""What a call costs beyond the work: every operation on 1000 scores, in microseconds.

Sums over 1000 scores take a microsecond or two; whatever a call takes beyond that is checking
arguments, making objects, and numpy's own time for each of its calls. Times are the
processor's, the shortest of several runs.

    python benchmarks/overhead.py                  all, at 1000 scores, into docs/overhead_table.md
    python benchmarks/overhead.py --output -       the same on the screen
    python benchmarks/overhead.py --scores 10000
    python benchmarks/overhead.py --profile eer    where the time of one of them goes
"""

import argparse
import cProfile
import pstats
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from timing import machine, seconds

import bosaris_py as bp
from bosaris_py import uncertainty as unc

DOCS = Path(__file__).resolve().parent.parent / "docs"
PRIOR = 0.01
POINT = bp.OperatingPoint(0.01, c_miss=10.0)
# Calls per timing, so that the clock's own time does not count.
CALLS = 20


def operations(n_scores: int) -> dict[str, Callable[[], object]]:
    """Return every operation on given data, by its name."""
    rng = np.random.default_rng(0)
    n_tar = n_scores // 10
    tar, non = rng.normal(3.0, 1.0, n_tar), rng.normal(0.0, 1.0, n_scores - n_tar)
    weights = {"tar_weights": np.ones(tar.size), "non_weights": np.ones(non.size)}
    tar3, non3 = (x + rng.normal(0.0, 0.5, (3, x.size)) for x in (tar, non))
    results, roc = bp.Results(tar, non), bp.ROC.from_scores(tar, non)
    hull = roc.convex_hull()
    calibration, fusion = bp.LinearCalibration.fit(tar, non), bp.LinearFusion.fit(tar3, non3)
    pav = bp.PAVCalibration.fit(tar, non)
    side = int(np.sqrt(n_scores))
    models, segments = [f"m{i}" for i in range(side)], [f"s{j}" for j in range(side)]
    is_target = np.eye(side, dtype=bool)
    key = bp.Key(models, segments, is_target, ~is_target)
    scores = bp.Scores(rng.normal(size=(side, side)) + 3.0 * is_target, models, segments)
    shuffled = bp.Ndx(models[::-1], segments[::-1])
    flat_key, flat_scores = key.to_flat(), scores.to_flat()
    priors = np.linspace(0.001, 0.999, 1000)
    counts = unc.ErrorCounts(
        misses=int(np.sum(tar < 1.5)),
        n_tar=tar.size,
        false_alarms=int(np.sum(non >= 1.5)),
        n_non=non.size,
    )
    return {
        "eer": lambda: bp.eer(tar, non),
        "eer, weighted": lambda: bp.eer(tar, non, **weights),
        "min_dcf": lambda: bp.min_dcf(tar, non, PRIOR),
        "min_dcf, operating point": lambda: bp.min_dcf(tar, non, POINT, normalize=True),
        "min_dcf, 1000 priors": lambda: bp.min_dcf(tar, non, priors),
        "act_dcf": lambda: bp.act_dcf(tar, non, PRIOR),
        "act_dcf, 1000 priors": lambda: bp.act_dcf(tar, non, priors),
        "cllr": lambda: bp.cllr(tar, non),
        "cllr, weighted": lambda: bp.cllr(tar, non, **weights),
        "min_cllr": lambda: bp.min_cllr(tar, non),
        "auc": lambda: bp.auc(tar, non),
        "prbep": lambda: bp.prbep(tar, non),
        "optimal_llrs": lambda: bp.optimal_llrs(tar, non),
        "error_rates_at": lambda: bp.error_rates_at(tar, non, 1.5),
        "ROC.from_scores": lambda: bp.ROC.from_scores(tar, non),
        "ROC.at_target_scores": lambda: bp.ROC.at_target_scores(roc.target_scores, tar, non),
        "ROC.convex_hull": lambda: bp.ROC.from_scores(tar, non).convex_hull(),
        "ROC.threshold_at": lambda: roc.threshold_at(pfa=0.01),
        "ROCCH.min_dcf_threshold": lambda: hull.min_dcf_threshold(PRIOR),
        "Results": lambda: bp.Results(tar, non),
        "Results.to_dict": lambda: bp.Results(tar, non).to_dict(PRIOR),
        "Results.error_rates_at": lambda: results.error_rates_at(1.5),
        "LinearCalibration.fit": lambda: bp.LinearCalibration.fit(tar, non),
        "LinearCalibration.apply": lambda: calibration.apply(non),
        "PAVCalibration.fit": lambda: bp.PAVCalibration.fit(tar, non),
        "PAVCalibration.apply": lambda: pav.apply(non),
        "LinearFusion.fit, 3 systems": lambda: bp.LinearFusion.fit(tar3, non3),
        "LinearFusion.apply, 3 systems": lambda: fusion.apply(non3),
        "Key": lambda: bp.Key(models, segments, is_target, ~is_target),
        "Scores": lambda: bp.Scores(scores.scoremat, models, segments),
        "Scores.get_tar_non": lambda: scores.get_tar_non(key),
        "Scores.align_with_ndx": lambda: scores.align_with_ndx(shuffled),
        "Scores.transform": lambda: scores.transform(np.negative),
        "Results.from_scores": lambda: bp.Results.from_scores(scores, key),
        "FlatScores.get_tar_non": lambda: flat_scores.get_tar_non(flat_key),
        "Results.from_scores, flat": lambda: bp.Results.from_scores(flat_scores, flat_key),
        "auc_standard_error": lambda: unc.auc_standard_error(tar, non),
        "delong, 3 systems": lambda: unc.delong(tar3, non3),
        "hter_interval": lambda: unc.hter_interval(counts),
        "wilson_interval": lambda: unc.wilson_interval(counts.misses, counts.n_tar),
        "bootstrap of DCF": lambda: unc.bootstrap(tar, non, unc.DCF(1.5, 0.01, 10, 1), rng=1),
        "bootstrap of minDCF": lambda: unc.bootstrap(tar, non, unc.MinDCF(0.1), rng=1),
        "bootstrap of EER": lambda: unc.bootstrap(tar, non, unc.EER(), rng=1),
    }


def measure(call: Callable[[], object]) -> float:
    """Return the microseconds of a call."""
    calls = CALLS if seconds(call, 3) < 0.01 else 1

    def many() -> None:
        for _ in range(calls):
            call()

    return 1e6 * seconds(many, 15, time.process_time) / calls


def profile(call: Callable[[], object]) -> None:
    """Print where the time of a call goes."""
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(1000):
        call()
    profiler.disable()
    pstats.Stats(profiler).sort_stats("tottime").print_stats(25)


def main() -> None:
    """Write the table, or print one profile."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scores", type=int, default=1000)
    parser.add_argument("--profile", default="", help="name of one operation")
    parser.add_argument("--output", default=str(DOCS / "overhead_table.md"))
    options = parser.parse_args()
    # A thousand scores have few errors; nobody needs to be told here.
    warnings.simplefilter("ignore")
    calls = operations(options.scores)
    if options.profile:
        profile(calls[options.profile])
        return
    lines = [
        "<!-- Made by benchmarks/overhead.py; do not edit. -->",
        "",
        f"| a call on {options.scores:,} scores | microseconds |",
        "|---|---:|",
    ]
    lines += [f"| {name} | {measure(call):,.0f} |" for name, call in calls.items()]
    lines += ["", machine() + "."]
    text = "\n".join(lines) + "\n"
    if options.output == "-":
        print(text)
    else:
        Path(options.output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
