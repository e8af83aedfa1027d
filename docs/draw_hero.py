"""Draw the picture at the top of README and landing page: four panels, light and dark.

Run with ``python docs/draw_hero.py``; ``--output`` names another folder. Everything is drawn by the
functions that users call, from the scores that come with the package.
"""

import argparse
import io
import warnings
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure
from run_pages import dark

import bosaris_py as bp
from bosaris_py import plots, uncertainty as unc

DOCS = Path(__file__).parent


def draw() -> Figure:
    """Return DET with a band, costs before and after calibration, differences, Tippett."""
    dev, test = bp.load_example("asvspoof2019_la")
    who = {"speakers": ("model", "speaker"), "replications": 300, "rng": 1}
    train = bp.LinearCalibration.fit_scores
    llrs = {s: train(dev.scores[s], dev.key, prior=0.05).apply(test.scores[s]) for s in dev.scores}
    fusion = bp.LinearFusion.fit_scores(dev.scores, dev.key, prior=0.05)
    llrs["fusion"] = fusion.apply(test.scores, test.key)
    results = {name: bp.Results.from_scores(each, test.key) for name, each in llrs.items()}
    with rc_context({"font.size": 9.0, "axes.titlesize": 10.0}):
        figure = Figure(figsize=(10.5, 7.2), layout="constrained")
        panels = figure.subplots(2, 2, width_ratios=(1, 1.25)).ravel()
        band = unc.bootstrap_bands(llrs["fusion"], test.key, kind="det", **who)
        bp.plot_det(results, ax=panels[0], bands={"fusion": band}, title="Discrimination")
        raw = bp.Results.from_scores(test.scores["xvector"], test.key)
        before = {"scores": raw, "LLRs": results["xvector"]}
        axes = (-7, 3, 0, 1.0)
        bp.plot_bayes(before, ax=panels[1], axes=axes, title="Cost before and after calibration")
        compared = unc.compare_systems(llrs, test.key, unc.EER(), speakers=who["speakers"])
        title = "Differences of EERs, by speaker"
        plots.plot_forest(compared, ax=panels[3], percent=True, xlabel="points", title=title)
        # Last, when the others have taken their room: its legend looks for a free place.
        plots.plot_tippett(
            {"fusion": results["fusion"]}, ax=panels[2], title="Strength of evidence"
        )
    return figure


def main() -> None:
    """Draw and save both pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=DOCS / "images")
    output = parser.parse_args().output
    buffer = io.StringIO()
    with warnings.catch_warnings(), rc_context({"svg.hashsalt": "bosaris_py"}):
        warnings.simplefilter("ignore", bp.errors.BosarisWarning)
        draw().savefig(buffer, format="svg", metadata={"Date": None})
    light = buffer.getvalue()
    (output / "hero.svg").write_text(light, encoding="utf-8")
    (output / "hero_dark.svg").write_text(dark(light), encoding="utf-8")


if __name__ == "__main__":
    main()
