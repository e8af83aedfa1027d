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

from bosaris_py import (
    BayesPlot,
    DETPlot,
    IdMap,
    Key,
    LinearCalibration,
    LinearFusion,
    Ndx,
    OperatingPoint,
    PAVCalibration,
    Results,
    Scores,
)
from bosaris_py import uncertainty as unc
from bosaris_py.plots import plot_intervals

DATA = Path(__file__).parent / "japanese_vowels"
SYSTEMS = ("gaussian", "cosine")

# Priors and costs (P_target, C_miss, C_fa): NIST until 2008, rare targets, even odds.
POINTS = (OperatingPoint(0.01, 10, 1), OperatingPoint(0.01, 1, 1), OperatingPoint(0.5, 1, 1))

# Calibration and fusion are trained for the middle of the range where errors abound.
TRAINING_PRIOR = 0.1

# A small PAV offset keeps the order of scores within a pool.
PAV_OFFSET = 1e-6

# The figures that get intervals; costs at the first operating point.
FIGURES: dict[str, unc.Statistic] = {
    "EER": unc.EER(),
    "minCllr": unc.MinCllr(),
    "Cllr": unc.Cllr(),
    "min DCF": unc.MinDCF(POINTS[0], normalize=True),
    "act DCF": unc.ActDCF(POINTS[0], normalize=True),
}
Intervals = dict[str, dict[str, unc.BootstrapResult]]


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("demo_output"))
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)

    dev_key = Key.read(DATA / "dev_key.h5")
    eval_ndx = Ndx.read(DATA / "eval_ndx.h5")
    eval_key = Key.read(DATA / "eval_key.h5")
    dev = {name: Scores.read(DATA / f"dev_scores_{name}.h5") for name in SYSTEMS}
    evaluation = {name: Scores.read(DATA / f"eval_scores_{name}.h5") for name in SYSTEMS}

    judged: dict[str, Results] = {}
    calibrated: dict[str, Scores] = {}
    for name in SYSTEMS:
        linear = LinearCalibration.fit_scores(dev[name], dev_key, prior=TRAINING_PRIOR)
        pav = PAVCalibration.fit_scores(dev[name], dev_key, score_offset=PAV_OFFSET)
        calibrated[name] = linear.apply(evaluation[name])
        for kind, scores in (
            ("raw", evaluation[name]),
            ("linear", calibrated[name]),
            ("PAV", pav.apply(evaluation[name])),
        ):
            judged[f"{name}, {kind}"] = Results.from_scores(scores, eval_key)

    fusion = LinearFusion.fit_scores(list(dev.values()), dev_key, prior=TRAINING_PRIOR)
    fused = fusion.apply(list(evaluation.values()), eval_ndx)
    judged["fusion"] = Results.from_scores(fused, eval_key)
    fused_dev = Results.from_scores(fusion.apply(list(dev.values()), dev_key), dev_key)

    print(table(judged))
    print(f"\n{fusion!r}")

    # The same seed: all systems and figures on the same resampled speakers.
    options: dict[str, Any] = {
        "model_speakers": IdMap.read(DATA / "model_speakers.h5"),
        "segment_speakers": IdMap.read(DATA / "segment_speakers.h5"),
        "replications": 1000,
        "rng": 1,
    }
    linear_and_fused = {f"{name}, linear": scores for name, scores in calibrated.items()}
    linear_and_fused["fusion"] = fused
    by_speaker = resample(linear_and_fused, eval_key, options)
    by_trial = resample(linear_and_fused, eval_key, options | {"method": "iid"})
    better = min(calibrated, key=lambda name: judged[f"{name}, linear"].eer)
    compared = {
        figure: unc.paired_bootstrap(fused, calibrated[better], eval_key, statistic, **options)
        for figure, statistic in FIGURES.items()
    }
    print("\n" + interval_table(by_speaker, by_trial))
    print("\n" + comparison_table(compared, f"{better}, linear"))

    curve = unc.DETCurve()
    band = curve.band(unc.bootstrap_scores(fused, eval_key, curve, **options))

    fused.save(output / "fused_eval_scores.h5")
    fused.save(output / "fused_eval_scores.txt")
    fusion.save(output / "fusion.json")
    det, bayes = draw_det(judged, band), draw_bayes(judged, fused_dev)
    intervals = draw_intervals(by_speaker, by_trial)
    for suffix in ("png", "pdf"):
        det.save(output / f"det.{suffix}")
        bayes.save(output / f"bayes.{suffix}")
        intervals.figure.savefig(output / f"intervals.{suffix}", dpi=200)

    print(f"\nWritten to {output.resolve()}:")
    for path in sorted(output.iterdir()):
        print(f"  {path.name:24s} {path.stat().st_size / 1000:8.1f} kB")


def table(judged: dict[str, Results]) -> str:
    """Return a table with a line for each system; costs are normalized."""
    any_results = next(iter(judged.values()))
    first = (
        f"Eval set: {any_results.n_tar} target and {any_results.n_non} non-target trials. "
        "min | act: normalized detection cost\n"
        "at (P_target, C_miss, C_fa); 1 is the cost of deciding without a detector."
    )
    names = "".join(f"  ({p.p_target:g}, {p.c_miss:g}, {p.c_fa:g})".rjust(17) for p in POINTS)
    lines = [first, "", f"{'':18s}{'EER':>8s}{'PRBEP':>8s}{'minCllr':>9s}{'Cllr':>8s}{names}"]
    for name, results in judged.items():
        costs = "".join(
            f"{results.min_dcf(p, normalize=True):.3f} | "
            f"{results.act_dcf(p, normalize=True):6.3f}".rjust(17)
            for p in POINTS
        )
        lines.append(
            f"{name:18s}{100 * results.eer:7.2f}%{results.prbep:8.1f}"
            f"{results.min_cllr:9.4f}{results.cllr:8.4f}{costs}"
        )
    return "\n".join(lines)


def resample(systems: dict[str, Scores], key: Key, options: dict[str, Any]) -> Intervals:
    """Bootstrap all figures of all systems."""
    return {
        name: {
            figure: unc.bootstrap_scores(scores, key, statistic, **options)
            for figure, statistic in FIGURES.items()
        }
        for name, scores in systems.items()
    }


def span(figure: str, low: float, high: float) -> str:
    """Return the two ends of an interval; an EER in per cent."""
    return (
        f"{100 * low:.1f} .. {100 * high:.1f}%" if figure == "EER" else f"{low:.2f} .. {high:.2f}"
    )


def interval_table(by_speaker: Intervals, by_trial: Intervals) -> str:
    """Return a table of intervals; for the last system also of those that ignore speakers."""
    last = list(by_speaker)[-1]
    rows = by_speaker | {f"{last}, by trial": by_trial[last]}
    lines = [
        "How sure are we? 95 % intervals, had other speakers been recorded; nine are few. The\n"
        'last line, "by trial", takes all trials for independent, which they are not.',
        "",
        f"{'':18s}" + "".join(f"{figure:>17s}" for figure in FIGURES),
    ]
    for name, results in rows.items():
        cells = [span(figure, result.low, result.high) for figure, result in results.items()]
        lines.append(f"{name:18s}" + "".join(f"{cell:>17s}" for cell in cells))
    return "\n".join(lines)


def comparison_table(compared: dict[str, unc.PairedBootstrapResult], other: str) -> str:
    """Return a table of the differences between the fusion and another system."""
    lines = [
        f"Fusion minus ({other}), both on the same resampled speakers; p: chance of such a\n"
        "difference between systems that are equally good.",
        "",
        f"{'':18s}{'difference':>17s}{'95 % interval':>17s}{'p':>17s}",
    ]
    for figure, result in compared.items():
        scale, unit = (100.0, "%") if figure == "EER" else (1.0, "")
        lines.append(
            f"{figure:18s}{f'{scale * result.difference:.2f}{unit}':>17s}"
            f"{span(figure, result.low, result.high):>17s}{result.p_value:17.2f}"
        )
    return "\n".join(lines)


def draw_det(judged: dict[str, Results], band: unc.DETBand) -> DETPlot:
    """Draw the trade-off between misses and false alarms: steps, hull and minimum DCF."""
    plot = DETPlot("old", "Japanese Vowels, eval set")
    for name, colour in (("gaussian, raw", "C0"), ("cosine, raw", "C1"), ("fusion", "C2")):
        results = judged[name]
        plot.set_system_from_results(results, name.removesuffix(", raw"))
        plot.plot_steppy_det(label=f"(EER {100 * results.eer:.1f} %)", color=colour, linewidth=0.8)
        plot.plot_rocch_det(color=colour, linestyle="--", linewidth=0.8)
        plot.plot_mindcf_point(POINTS[0].effective_prior, color=colour, markersize=7)
    plot.plot_band(band, label="95 % band by speaker", color="C2")
    plot.plot_DR30_both()
    plot.display_legend()
    return plot


def draw_bayes(judged: dict[str, Results], fused_dev: Results) -> BayesPlot:
    """Draw the normalized Bayes error-rate over all operating points."""
    plot = BayesPlot((-7, 4, 0, 1.4), "Japanese Vowels, eval set unless said otherwise")
    for name, colour in (("gaussian", "C0"), ("cosine", "C1")):
        plot.set_system_from_results(judged[f"{name}, raw"], name)
        plot.plot_dcf_curve_act(label="raw", color=colour, linestyle=":")
        plot.set_system_from_results(judged[f"{name}, linear"], name)
        plot.plot_dcf_curve_act(label="calibrated", color=colour)
    plot.set_system_from_results(fused_dev, "fusion")
    plot.plot_dcf_curve_act(label="on dev", color="C2", linestyle="--")
    plot.set_system_from_results(judged["fusion"], "fusion")
    plot.plot_dcf_curve_act(label="actual", color="C2", linewidth=2)
    plot.plot_dcf_curve_min(label="minimum", color="black", linewidth=1)
    plot.plot_DR30_both()
    plot.plot_operating_point(POINTS[0].plo, label="(0.01, 10, 1)", color="grey", linestyle="--")
    plot.display_legend()
    return plot


def draw_intervals(by_speaker: Intervals, by_trial: Intervals) -> Axes:
    """Draw the actual costs, with intervals that heed the speakers and with others that do not."""
    figure = "act DCF"
    axes = plot_intervals(
        {name: results[figure] for name, results in by_speaker.items()},
        label="speakers resampled",
        offset=-0.08,
        ylabel=f"{figure} (0.01, 10, 1)",
        title="95 % intervals",
    )
    plot_intervals(
        {name: results[figure] for name, results in by_trial.items()},
        ax=axes,
        label="trials resampled",
        offset=0.08,
        color="0.6",
    )
    axes.set_ylim(bottom=0.0)
    axes.legend(loc="lower left")
    return axes


if __name__ == "__main__":
    main()
