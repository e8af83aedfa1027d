"""Draw the pictures of the pages under `understand/`, from simulated scores with a fixed seed.

Run with ``python benchmarks/draw_understand.py``; ``--output`` names another folder.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from scipy.special import ndtri
from scipy.stats import multivariate_normal

import bosaris_py as bp
from bosaris_py import plots
from bosaris_py.metrics.curves import BayesCurves

BENCHMARKS = Path(__file__).parent
TARGET, NON_TARGET, GREY = "#0072b2", "#d55e00", "0.55"
# Calibrated Gaussian LLRs have the mean +-mu and the variance 2 mu; mu = 2 has an EER of 15.87 %.
MEAN, DEVIATION = 2.0, 2.0
# The same ranking, four meanings: the LLRs and three maps of them.
VERSIONS = {
    "well calibrated": (1.0, 0.0),
    "overconfident": (2.0, 0.0),
    "underconfident": (0.4, 0.0),
    "shifted": (1.0, 2.5),
}


def simulate(n_tar: int = 2_000, n_non: int = 20_000) -> tuple[Any, Any]:
    """Return calibrated LLRs of both classes."""
    rng = np.random.default_rng(2011)
    return rng.normal(MEAN, DEVIATION, n_tar), rng.normal(-MEAN, DEVIATION, n_non)


def histogram(ax: Any, tar: Any, non: Any, bins: Any) -> None:
    """Draw the densities of both classes."""
    ax.hist(
        non,
        bins,
        density=True,
        histtype="stepfilled",
        color=NON_TARGET,
        alpha=0.55,
        label="non-targets",
    )
    ax.hist(
        tar, bins, density=True, histtype="stepfilled", color=TARGET, alpha=0.55, label="targets"
    )
    ax.set_yticks([])


def draw_calibration() -> Figure:
    """Draw one ranking with four calibrations: histogram, PAV and Bayes error-rates."""
    figure = Figure(figsize=(10.5, 7.2), layout="constrained")
    grid = figure.subplots(3, 4)
    tar, non = simulate()
    axis = np.linspace(-8, 8, 200)
    for column, (name, (scale, offset)) in enumerate(VERSIONS.items()):
        top, middle, bottom = grid[:, column]
        a, b = scale * tar + offset, scale * non + offset
        results = bp.Results(a, b)
        cllrs = f"minCllr {results.min_cllr:.2f}, Cllr {results.cllr:.2f}"
        top.set_title(f"{name}\nEER {results.eer:.1%}\n{cllrs}")
        histogram(top, a, b, np.linspace(-16, 16, 60))
        top.axvline(0.0, color=GREY, linewidth=0.8)
        top.set_xlabel("LLR of the system")
        best = bp.PAVCalibration.fit(a, b).apply(axis)
        middle.plot(axis, axis, color=GREY, linestyle="--", label="perfect")
        middle.plot(axis, best, color="black", label="PAV")
        middle.set(xlim=(-8, 8), ylim=(-8, 8), xlabel="LLR of the system")
        plo = np.linspace(-6, 6, 121)
        act, best_cost = (
            getattr(results, rate)(bp.sigmoid(plo)) for rate in ("act_dcf", "min_dcf")
        )
        bottom.fill_between(
            plo, best_cost, act, color=NON_TARGET, alpha=0.35, label="calibration loss"
        )
        bottom.plot(plo, act, color=NON_TARGET, label="actual")
        bottom.plot(plo, best_cost, color="black", label="minimum")
        bottom.axhline(1.0, color=GREY, linestyle="--")
        bottom.set(xlim=(-6, 6), ylim=(0, 2.1), xlabel="prior log-odds")
        # Room for the legend of the first column.
        top.set_ylim(top=1.45 * top.get_ylim()[1])
    grid[0, 0].set_ylabel("density")
    grid[1, 0].set_ylabel("LLR that the data support")
    grid[2, 0].set_ylabel("normalized error-rate")
    for row in grid:
        row[0].legend(loc="upper left", fontsize=8)
    return figure


def draw_map() -> Figure:
    """Draw the map from scores to LLRs: linear and PAV calibration over the histogram."""
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    ax = figure.subplots()
    tar, non = (0.1 * llr + 0.3 for llr in simulate(200, 2_000))
    axis = np.linspace(-0.5, 1.1, 300)
    histogram(ax, tar, non, np.linspace(-0.5, 1.1, 40))
    ax.set(xlabel="score (here: a cosine)", ylabel="density", xlim=(-0.5, 1.1))
    right = ax.twinx()
    right.axhline(0.0, color=GREY, linewidth=0.8)
    right.plot(axis, bp.LinearCalibration.fit(tar, non).apply(axis), color="black", label="linear")
    right.plot(axis, bp.PAVCalibration.fit(tar, non).apply(axis), "k--", label="PAV")
    right.set(ylabel="LLR", ylim=(-8, 8))
    drawn = [*ax.get_legend_handles_labels()[0], *right.get_legend_handles_labels()[0]]
    right.legend(handles=drawn, loc="upper left", ncols=2)
    return figure


def draw_det() -> Figure:
    """Show how to read a DET plot."""
    figure = Figure(figsize=(6.4, 6.4), layout="constrained")
    rng = np.random.default_rng(7)
    plot = bp.DETPlot("old", ax=figure.subplots())
    tar, non = rng.normal(2.0, 2.0, 400), rng.normal(-2.0, 2.0, 4_000)
    better = rng.normal(2.9, 2.4, 400), rng.normal(-2.9, 2.4, 4_000)
    plot.set_system(tar, non, "system A:")
    plot.plot_steppy_det(label="every threshold")
    plot.plot_rocch_det(label="convex hull", linestyle="--", linewidth=1)
    plot.set_system(*better, "system B:")
    plot.plot_steppy_det(label="better, nearer to the corner")
    ax = plot.ax
    low, high = ax.get_xlim()
    # The axes hold rates on a probit scale.
    ax.plot([low, high], [low, high], color=GREY, linewidth=0.8)
    results = bp.Results(tar, non)
    threshold = results.min_dcf_threshold(0.2)
    note = {"arrowprops": {"arrowstyle": "->", "color": "0.3"}, "fontsize": 9}
    at = results.eer
    ax.annotate("EER: both rates\nare equal", (at, at), (0.28, 0.13), **note)
    spot = threshold.pfa, threshold.pmiss
    ax.plot(*spot, "*", markersize=13, color="black")
    ax.annotate("minimum cost at\na prior of 20 %", spot, (0.13, 0.41), **note)
    for rate, draw in ((30 / 4_000, ax.axvspan), (30 / 400, ax.axhspan)):
        draw(low, rate, color=GREY, alpha=0.2, linewidth=0)
    ax.text(0.01, 0.003, "grey: fewer than 30 errors,\nno conclusions here", fontsize=9)
    plot.display_legend(loc="lower right")
    return figure


def draw_bayes() -> Figure:
    """Show how to read a normalized Bayes error-rate plot."""
    figure = Figure(figsize=(7.2, 5.2), layout="constrained")
    ax = figure.subplots()
    tar, non = (1.5 * llr + 1.0 for llr in simulate())
    results = bp.Results(tar, non)
    plo = np.linspace(-8, 6, 281)
    act, best = (getattr(results, rate)(bp.sigmoid(plo)) for rate in ("act_dcf", "min_dcf"))
    curves = BayesCurves.from_sample(results.sample, plo)
    first, last = curves.dr30_fa_index, curves.dr30_miss_index
    sure = slice(first, last + 1)
    ax.fill_between(plo, best, act, color=NON_TARGET, alpha=0.08, linewidth=0)
    shade = {"color": NON_TARGET, "alpha": 0.3, "linewidth": 0}
    ax.fill_between(plo[sure], best[sure], act[sure], label="calibration loss", **shade)
    for rate, colour, name in (
        (act, NON_TARGET, "actual: decisions by Bayes' rule"),
        (best, "black", "minimum: best threshold in hindsight"),
    ):
        ax.plot(plo, rate, color=colour, alpha=0.5, linewidth=1.0)
        ax.plot(plo[sure], rate[sure], color=colour, label=name)
    for index, marker in ((first, ">"), (last, "<")):
        ax.plot(plo[index], best[index], marker, color="black", markersize=8)
    ax.annotate(
        "pale: fewer than\n30 false alarms",
        (plo[first] - 0.6, best[first - 12]),
        (-7.8, 0.5),
        arrowprops={"arrowstyle": "->", "color": "0.3"},
        fontsize=8,
    )
    ax.axhline(1.0, color=GREY, linestyle="--", label="decisions without a detector")
    for name, prior in {"VoxSRC": 0.05, "NIST SRE": 0.01, "equal": 0.5}.items():
        at = bp.logit(prior)
        ax.axvline(at, color=GREY, linewidth=0.7)
        ax.text(at, 0.03, name, rotation=90, ha="right", va="bottom", fontsize=8)
    ax.set(xlim=(-8, 6), ylim=(0, 2.6))
    ax.set(xlabel="effective prior log-odds", ylabel="normalized error-rate")
    top = ax.secondary_xaxis("top")
    priors = np.array([0.001, 0.01, 0.1, 0.5, 0.9, 0.99])
    top.set_xticks(bp.logit(priors), [f"{100 * prior:.3g}" for prior in priors])
    top.set_xlabel("effective prior (%)")
    ax.legend(loc="upper right", fontsize=8)
    return figure


def draw_tippett_cases() -> Figure:
    """Draw Tippett, ECE and PAV plots of three systems with one ranking."""
    figure = Figure(figsize=(9.6, 8.4), layout="constrained")
    grid = figure.subplots(3, 3)
    for column, name in enumerate(("well calibrated", "overconfident", "shifted")):
        scale, offset = VERSIONS[name]
        system = bp.Results(*(scale * llr + offset for llr in simulate()))
        draws = plots.plot_tippett, plots.plot_ece, plots.plot_pav
        for ax, draw, limit in zip(grid[:, column], draws, (5, 2.5, None), strict=True):
            draw(system, ax, title=name if ax is grid[0, column] else None)
            if limit:
                ax.set_xlim(-limit, limit)
            if column:
                ax.set_ylabel("")
            if column and limit:
                ax.get_legend().remove()
    return figure


def draw_threshold() -> Figure:
    """Show that the threshold moves with the prior."""
    figure = Figure(figsize=(6.4, 3.4), layout="constrained")
    ax = figure.subplots()
    histogram(ax, *simulate(), np.linspace(-10, 10, 60))
    height = 1.12 * ax.get_ylim()[1]
    for prior in (0.01, 0.5, 0.99):
        threshold = bp.OperatingPoint(prior).threshold
        ax.axvline(threshold, color="black", linestyle="--", linewidth=1)
        ax.text(threshold + 0.1, height * 0.97, f"prior {prior:g}", va="top", fontsize=9)
    ax.set(xlabel="LLR", ylabel="density", xlim=(-10, 10), ylim=(0, height))
    ax.legend(loc="upper left")
    return figure


def draw_pooled() -> Figure:
    """Show that pooled trials follow the largest condition."""
    figure = Figure(figsize=(6.4, 3.0), layout="constrained")
    ax = figure.subplots()
    shares = {"pooled": (0.9, 0.1), "equalised": (0.5, 0.5)}
    for row, (name, (large, small)) in enumerate(shares.items()):
        for start, width, colour in ((0, large, TARGET), (large, small, NON_TARGET)):
            ax.add_patch(Rectangle((start, -row - 0.3), width, 0.6, color=colour, alpha=0.7))
        ax.text(-0.02, -row, name, ha="right", va="center")
    ax.text(0.45, 0.42, "9,000 trials by telephone", ha="center", color=TARGET)
    ax.text(0.95, 0.42, "1,000 by microphone", ha="center", color=NON_TARGET)
    ax.set(xlim=(-0.25, 1.1), ylim=(-1.6, 0.8), xticks=[], yticks=[])
    ax.text(0.5, -1.55, "share of each condition in the error-rate", ha="center")
    ax.spines[:].set_visible(False)
    return figure


def draw_coverage() -> Figure:
    """Draw how often 95 % intervals cover the truth: the coverage study, 20 speakers."""
    file = BENCHMARKS / "coverage_results.json"
    results = json.loads(file.read_text(encoding="utf-8"))
    laws = [name.removesuffix(" 20") for name in results if name.endswith(" 20")]
    figure = Figure(figsize=(7.2, 5.0), layout="constrained")
    ax = figure.subplots()
    looks = zip(
        ("EER", "minDCF(0.05)", "actDCF(0.05)", "Cllr"),
        (TARGET, "black", NON_TARGET, GREY),
        "oDsv",
        strict=True,
    )
    for metric, colour, marker in looks:
        shares = [100.0 * results[f"{law} 20"][metric]["coverage"] for law in laws]
        ax.plot(shares, laws, marker, label=metric, color=colour, markersize=5, clip_on=False)
    ax.axvline(95.0, color=GREY, linewidth=0.8)
    ax.grid(axis="y", alpha=0.4)
    ax.set(xlim=(70, 100), xlabel="intervals that cover the truth (%), nominal 95 %")
    ax.invert_yaxis()
    figure.legend(loc="outside upper center", ncols=4)
    return figure


def draw_speakers() -> Figure:
    """Draw the standard error of a miss rate over the trials of each speaker: speakers count."""
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    ax = figure.subplots()
    # Scores of a speaker have a common normal part with 30 % of their variance.
    miss, shared = 0.05, 0.3
    limit = ndtri(miss)
    both = multivariate_normal.cdf([limit, limit], cov=[[1.0, shared], [shared, 1.0]])
    trials = np.geomspace(1.0, 1_000.0, 61)
    for speakers, colour in ((10, NON_TARGET), (40, "black"), (160, TARGET)):
        alone, common = miss * (1.0 - miss), float(both) - miss**2
        error = 100.0 * np.sqrt((common + (alone - common) / trials) / speakers)
        ax.loglog(trials, error, color=colour)
        naive = 100.0 * np.sqrt(alone / (speakers * trials))
        ax.loglog(trials, naive, color=colour, linestyle=":")
        ax.text(1_100.0, error[-1], f"{speakers} speakers", color=colour, va="center")
    ax.plot([], [], color=GREY, label="true standard error")
    ax.plot([], [], color=GREY, linestyle=":", label="if trials were independent")
    ax.set_yticks([0.1, 1.0], ["0.1", "1"])
    ax.set_xticks([1, 10, 100, 1_000], ["1", "10", "100", "1000"])
    ax.set(xlim=(1, 6_000), xlabel="target trials of each speaker")
    ax.set_ylabel("standard error of a miss rate\nof 5 %, in percentage points")
    ax.grid(visible=True, alpha=0.4)
    ax.legend(loc="lower left")
    return figure


FIGURES = {
    "calibration": draw_calibration,
    "map": draw_map,
    "det": draw_det,
    "bayes": draw_bayes,
    "tippett_cases": draw_tippett_cases,
    "threshold": draw_threshold,
    "pooled": draw_pooled,
    "coverage": draw_coverage,
    "speakers": draw_speakers,
}


def main() -> None:
    """Draw each picture and save it as SVG."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--output", type=Path, default=BENCHMARKS.parent / "docs" / "images" / "understand"
    )
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    # A fixed salt and no date: the same picture has the same bytes.
    with rc_context({"svg.hashsalt": "bosaris_py", "font.size": 9.0}):
        for name, draw in FIGURES.items():
            figure = draw()
            figure.savefig(output / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
