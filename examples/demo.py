"""Calibrate, fuse and judge two speaker-verification systems, from score files to figures.

Two small systems scored the utterances of nine speakers
(``examples/japanese_vowels``). Everything is trained on the dev set and judged
on the eval set, whose key is used for judging only.

Run with ``make demo``, or ``python examples/demo.py --output FOLDER``.
"""

import argparse
from pathlib import Path

from bosaris_py import (
    BayesPlot,
    DETPlot,
    Key,
    LinearCalibration,
    LinearFusion,
    Ndx,
    OperatingPoint,
    PAVCalibration,
    Results,
    Scores,
)

DATA = Path(__file__).parent / "japanese_vowels"
SYSTEMS = ("gaussian", "cosine")

# Priors and costs (P_target, C_miss, C_fa): NIST until 2008, rare targets, even odds.
POINTS = (OperatingPoint(0.01, 10, 1), OperatingPoint(0.01, 1, 1), OperatingPoint(0.5, 1, 1))

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

    dev_key = Key.read(DATA / "dev_key.h5")
    eval_ndx = Ndx.read(DATA / "eval_ndx.h5")
    eval_key = Key.read(DATA / "eval_key.h5")
    dev = {name: Scores.read(DATA / f"dev_scores_{name}.h5") for name in SYSTEMS}
    evaluation = {name: Scores.read(DATA / f"eval_scores_{name}.h5") for name in SYSTEMS}

    judged: dict[str, Results] = {}
    for name in SYSTEMS:
        linear = LinearCalibration.fit_scores(dev[name], dev_key, prior=TRAINING_PRIOR)
        pav = PAVCalibration.fit_scores(dev[name], dev_key, score_offset=PAV_OFFSET)
        for kind, scores in (
            ("raw", evaluation[name]),
            ("linear", linear.apply(evaluation[name])),
            ("PAV", pav.apply(evaluation[name])),
        ):
            judged[f"{name}, {kind}"] = Results.from_scores(scores, eval_key)

    fusion = LinearFusion.fit_scores(list(dev.values()), dev_key, prior=TRAINING_PRIOR)
    fused = fusion.apply(list(evaluation.values()), eval_ndx)
    judged["fusion"] = Results.from_scores(fused, eval_key)
    fused_dev = Results.from_scores(fusion.apply(list(dev.values()), dev_key), dev_key)

    print(table(judged))
    print(f"\n{fusion!r}")

    fused.save(output / "fused_eval_scores.h5")
    fused.save(output / "fused_eval_scores.txt")
    fusion.save(output / "fusion.json")
    det, bayes = draw_det(judged), draw_bayes(judged, fused_dev)
    for suffix in ("png", "pdf"):
        det.save(output / f"det.{suffix}")
        bayes.save(output / f"bayes.{suffix}")

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
    lines = [
        first,
        "",
        f"{'':18s}{'EER':>8s}{'PRBEP':>8s}{'minCllr':>9s}{'Cllr':>8s}{names}",
    ]
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


def draw_det(judged: dict[str, Results]) -> DETPlot:
    """Draw the trade-off between misses and false alarms: steps, hull and minimum DCF."""
    plot = DETPlot("old", "Japanese Vowels, eval set")
    for name, colour in (("gaussian, raw", "C0"), ("cosine, raw", "C1"), ("fusion", "C2")):
        results = judged[name]
        plot.set_system_from_results(results, name.removesuffix(", raw"))
        plot.plot_steppy_det(label=f"(EER {100 * results.eer:.1f} %)", color=colour, linewidth=0.8)
        plot.plot_rocch_det(color=colour, linestyle="--", linewidth=0.8)
        plot.plot_mindcf_point(POINTS[0].effective_prior, color=colour, markersize=7)
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


if __name__ == "__main__":
    main()
