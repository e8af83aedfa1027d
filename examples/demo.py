"""Calibrate, fuse and judge two speaker-verification systems, from score files to figures.

Two small systems scored the utterances of nine speakers
(``examples/japanese_vowels``). Everything is trained on the dev set and judged
on the eval set, whose key is used for judging only. How sure the figures are, a
bootstrap over speakers tells: with nine of them, not very.

Run with ``make demo``, or ``python examples/demo.py --output FOLDER``.
"""

import argparse
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.plots import plot_intervals

DATA = Path(__file__).parent / "japanese_vowels"
SYSTEMS = ("gaussian", "cosine")

# Prior and costs (P_target, C_miss, C_fa) of NIST until 2008; beside it, even odds.
POINT = bp.OperatingPoint(0.01, 10, 1)

# Calibration and fusion are trained for the middle of the range where errors abound.
TRAINING_PRIOR = 0.1

# A small PAV offset keeps the order of scores within a pool.
PAV_OFFSET = 1e-6


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("demo_output"))
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)

    dev_key = bp.Key.read(DATA / "dev_key.h5")
    eval_ndx = bp.Ndx.read(DATA / "eval_ndx.h5")
    eval_key = bp.Key.read(DATA / "eval_key.h5")
    dev = {name: bp.Scores.read(DATA / f"dev_scores_{name}.h5") for name in SYSTEMS}
    raw = {name: bp.Scores.read(DATA / f"eval_scores_{name}.h5") for name in SYSTEMS}

    systems: dict[str, bp.Scores] = {}
    for name in SYSTEMS:
        linear = bp.LinearCalibration.fit_scores(dev[name], dev_key, prior=TRAINING_PRIOR)
        pav = bp.PAVCalibration.fit_scores(dev[name], dev_key, score_offset=PAV_OFFSET)
        systems[f"{name}, raw"] = raw[name]
        systems[f"{name}, linear"] = linear.apply(raw[name])
        systems[f"{name}, PAV"] = pav.apply(raw[name])
    fusion = bp.LinearFusion.fit_scores(list(dev.values()), dev_key, prior=TRAINING_PRIOR)
    fused = systems["fusion"] = fusion.apply(list(raw.values()), eval_ndx)
    fused_dev = bp.Results.from_scores(fusion.apply(list(dev.values()), dev_key), dev_key)

    evaluation = bp.evaluate(systems, eval_key, priors=[POINT, 0.5])
    print(f"{evaluation}\n\n{fusion!r}\n")

    # The same seed: all systems and figures on the same resampled speakers.
    speakers = [bp.IdMap.read(DATA / f"{side}_speakers.h5") for side in ("model", "segment")]
    chosen = {name: systems[name] for name in ("gaussian, linear", "cosine, linear", "fusion")}
    sure = bp.evaluate(
        chosen, eval_key, priors=POINT, speakers=tuple(speakers), replications=1000, rng=1
    )
    print(f"{sure}\n\nDifferences in EER:\n{sure.compare()}")

    options: dict[str, Any] = dict(
        zip(("model_speakers", "segment_speakers"), speakers, strict=True)
    )
    options |= {"replications": 1000, "rng": 1}
    curve, cost = unc.DETCurve(), unc.ActDCF(POINT, normalize=True)
    band = curve.band(unc.bootstrap_scores(fused, eval_key, curve, **options))
    by_speaker, by_trial = (
        {
            name: unc.bootstrap_scores(scores, eval_key, cost, method=method, **options)
            for name, scores in chosen.items()
        }
        for method in ("speaker", "iid")
    )

    fused.save(output / "fused_eval_scores.h5")
    fused.save(output / "fused_eval_scores.txt")
    fusion.save(output / "fusion.json")
    evaluation.to_csv(output / "systems.csv")
    det, bayes = draw_det(evaluation, band), draw_bayes(evaluation, fused_dev)
    intervals = draw_intervals(by_speaker, by_trial)
    for suffix in ("png", "pdf"):
        det.save(output / f"det.{suffix}")
        bayes.save(output / f"bayes.{suffix}")
        intervals.figure.savefig(output / f"intervals.{suffix}", dpi=200)

    print(f"\nWritten to {output.resolve()}:")
    for path in sorted(output.iterdir()):
        print(f"  {path.name:24s} {path.stat().st_size / 1000:8.1f} kB")


def draw_det(evaluation: bp.Evaluation, band: unc.DETBand) -> bp.DETPlot:
    """Draw the trade-off between misses and false alarms: steps, hull and minimum DCF."""
    plot = bp.DETPlot("old", "Japanese Vowels, eval set")
    for name, colour in (("gaussian, raw", "C0"), ("cosine, raw", "C1"), ("fusion", "C2")):
        results = evaluation.results[name]
        plot.set_system_from_results(results, name.removesuffix(", raw"))
        plot.plot_steppy_det(label=f"(EER {100 * results.eer:.1f} %)", color=colour, linewidth=0.8)
        plot.plot_rocch_det(color=colour, linestyle="--", linewidth=0.8)
        plot.plot_mindcf_point(POINT.effective_prior, color=colour, markersize=7)
    plot.plot_band(band, label="95 % band by speaker", color="C2")
    plot.plot_DR30_both()
    plot.display_legend()
    return plot


def draw_bayes(evaluation: bp.Evaluation, fused_dev: bp.Results) -> bp.BayesPlot:
    """Draw the normalized Bayes error-rate over all operating points."""
    plot = bp.BayesPlot((-7, 4, 0, 1.4), "Japanese Vowels, eval set unless said otherwise")
    for name, colour in (("gaussian", "C0"), ("cosine", "C1")):
        plot.set_system_from_results(evaluation.results[f"{name}, raw"], name)
        plot.plot_dcf_curve_act(label="raw", color=colour, linestyle=":")
        plot.set_system_from_results(evaluation.results[f"{name}, linear"], name)
        plot.plot_dcf_curve_act(label="calibrated", color=colour)
    plot.set_system_from_results(fused_dev, "fusion")
    plot.plot_dcf_curve_act(label="on dev", color="C2", linestyle="--")
    plot.set_system_from_results(evaluation.results["fusion"], "fusion")
    plot.plot_dcf_curve_act(label="actual", color="C2", linewidth=2)
    plot.plot_dcf_curve_min(label="minimum", color="black", linewidth=1)
    plot.plot_DR30_both()
    plot.plot_operating_point(POINT.plo, label="(0.01, 10, 1)", color="grey", linestyle="--")
    plot.display_legend()
    return plot


def draw_intervals(
    by_speaker: dict[str, unc.BootstrapResult], by_trial: dict[str, unc.BootstrapResult]
) -> Axes:
    """Draw the actual costs, with intervals that heed the speakers and with others that do not."""
    axes = plot_intervals(
        by_speaker,
        label="speakers resampled",
        offset=-0.08,
        ylabel="act DCF (0.01, 10, 1)",
        title="95 % intervals",
    )
    plot_intervals(by_trial, ax=axes, label="trials resampled", offset=0.08, color="0.6")
    axes.set_ylim(bottom=0.0)
    return axes


if __name__ == "__main__":
    main()
