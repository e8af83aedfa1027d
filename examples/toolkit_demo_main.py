"""The toolkit's demo_main: plots of synthetic scores, and a fusion of two synthetic systems.

Written with the toolkit's own names, which `bosaris_py.matlab` provides. The three plots are

- ``nber.png``: what miscalibration does to Bayes error-rates, figure 1 of the theory paper;
- ``det.png``: steppy DET curve, its convex hull, and the points of minimum DCF on it, as in
  figure 4;
- ``det_fusion.png``: two systems and their fusion.

Run with ``python examples/toolkit_demo_main.py --output FOLDER``.
"""

# ruff: noqa: FBT003 -- flags are positional as in the toolkit

import argparse
from pathlib import Path

import numpy as np

import bosaris_py.matlab as b

Scores = np.ndarray

# Scores of the toolkit's demos are normal: mean and standard deviation of each class.
TARGETS = ((5.0, 2.0), (3.0, 1.0))
NON_TARGETS = ((0.0, 1.0), (0.0, 1.0))
N_TRAIN = (10_000, 10_000)
N_TEST = (5_000, 15_000)


def true_llr(x: Scores) -> Scores:
    """Return the log-likelihood-ratio of targets from N(3, 2^2) against others from N(0, 1)."""
    return -0.5 * (x - 3.0) ** 2 / 4.0 + 0.5 * x**2 - np.log(2.0)


def demo_plot_nber(rng: np.random.Generator) -> b.Norm_DCF_Plot:
    """Draw the normalized Bayes error-rate of calibrated and of miscalibrated scores."""
    tar = true_llr(2.0 * rng.standard_normal(10_000) + 3.0)
    non = true_llr(rng.standard_normal(100_000))
    plot = b.Norm_DCF_Plot([-10, 10, 0.2, 1.4], "Miscalibrated log-likelihood-ratios")
    for legend, style, change in (
        ("logLR = 0 (default)", "k", lambda llr: 0.0 * llr),
        ("true logLR", "g", lambda llr: llr),
        ("2 x logLR", "b", lambda llr: 2.0 * llr),
        ("0.5 x logLR", "r", lambda llr: 0.5 * llr),
        ("logLR + 2", "m", lambda llr: llr + 2.0),
        ("logLR - 2", "m--", lambda llr: llr - 2.0),
    ):
        plot.set_system(change(tar), change(non))
        plot.plot_dcf_curve_act([style, "LineWidth", 2], legend)
    plot.set_system(tar, non)
    plot.plot_dcf_curve_min(["k--", "LineWidth", 2], "optimal thresholds")
    plot.plot_DR30_fa(["r>", "MarkerSize", 10], "30 false alarms")
    plot.plot_DR30_miss(["g<", "MarkerSize", 10], "30 misses")
    plot.display_legend()
    return plot


def demo_plot_det(rng: np.random.Generator) -> b.Det_Plot:
    """Draw the DET curve of few trials in steps and its hull, where the minimum DCFs lie."""
    tar, non = rng.normal(2.0, 1.0, 40), rng.normal(0.0, 1.0, 400)
    plot = b.Det_Plot(b.Det_Plot.make_plot_window_from_string("old"), "Steps and convex hull")
    plot.set_system(tar, non)
    plot.plot_steppy_det(["b", "LineWidth", 2], "steppy DET")
    plot.plot_rocch_det(["r--", "LineWidth", 2], f"ROCCH-DET, EER {100 * b.eer(tar, non):.1f} %")
    for prior, style in ((0.3, "ks"), (0.5, "ko"), (0.7, "k*")):
        mindcf, _, _ = plot.plot_mindcf_point(prior, style, f"minimum DCF at Ptar = {prior}")
        print(f"  minimum DCF at Ptar = {prior}: {mindcf:.3f} (normalized)")
    # Where it crosses the hull is the EER.
    plot.ax.plot([0.001, 0.5], [0.001, 0.5], "k:", label="Pmiss = Pfa")
    # The EER is the largest minimum error-rate that any prior can bring about.
    priors = np.linspace(0.01, 0.99, 99)
    largest = max(b.Results(tar, non).get_min_dcf(priors))
    print(f"  largest minimum error-rate {largest:.4f}, ROCCH-EER {b.eer(tar, non):.4f}")
    plot.display_legend()
    return plot


def simulate(rng: np.random.Generator, n_tar: int, n_non: int) -> Scores:
    """Return scores of both systems, targets first: (2, n_tar + n_non)."""
    return np.array(
        [
            np.concatenate((rng.normal(*of_tar, n_tar), rng.normal(*of_non, n_non)))
            for of_tar, of_non in zip(TARGETS, NON_TARGETS, strict=True)
        ]
    )


def demo_fusion(train: Scores, test: Scores, prior: float) -> Scores:
    """Train a fusion, and return the fused test scores."""
    classf = np.repeat([1.0, -1.0], N_TRAIN)
    objective = b.make_objective_function_from_name("cllr")
    fuse, nxe, w = b.train_linear_fuser(train, classf, prior, True, True, 100, objective)
    print(f"  weights {w[0]:.3f} and {w[1]:.3f}, offset {w[2]:.3f}, objective {nxe:.4f}")
    return fuse(test)


def demo_plot_det_for_fusion(systems: dict[str, Scores], prior: float) -> b.Det_Plot:
    """Draw the DET curves of the systems and of their fusion."""
    plot = b.Det_Plot("old", "Two systems and their fusion")
    for (name, scores), colour in zip(systems.items(), "brg", strict=True):
        plot.set_system(scores[: N_TEST[0]], scores[N_TEST[0] :], name)
        plot.plot_steppy_det([colour, "LineWidth", 1.5], "steps")
        plot.plot_rocch_det([f"{colour}--"])
        plot.plot_mindcf_point(prior, f"{colour}*", "minimum DCF")
    plot.plot_DR30_both("k-.", "k:")
    plot.display_legend()
    return plot


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("demo_output"))
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(2011)

    print("Normalized Bayes error-rate plot")
    demo_plot_nber(rng).save_as_pdf(output / "nber.png")
    print("DET plot")
    demo_plot_det(rng).save_as_pdf(output / "det.png")

    prior = b.effective_prior(0.04, 10, 1)
    print(f"Fusion at an effective prior of {prior:.3f}")
    train, test = simulate(rng, *N_TRAIN), simulate(rng, *N_TEST)
    fused = demo_fusion(train, test, prior)
    systems = {"system 1": test[0], "system 2": test[1], "fusion": fused}
    demo_plot_det_for_fusion(systems, prior).save_as_pdf(output / "det_fusion.png")

    print(f"{'':10s}  act. DCF   min. DCF   PRBEP      EER")
    for name, scores in systems.items():
        tar, non = scores[: N_TEST[0]], scores[N_TEST[0] :]
        actdcf, mindcf, prbep, eer = b.fastEval(tar, non, prior)
        figures = f"{100 * actdcf:7.2f} %  {100 * mindcf:7.2f} %  {prbep:6.1f}"
        print(f"{name:10s} {figures}  {100 * eer:6.3f} %")
    print(f"Plots are in {output.resolve()}")


if __name__ == "__main__":
    main()
