"""Drawing time and file size of plots of 10^7 scores.

Sorting comes first and is not counted: one sort serves metrics and plots
alike. The first steppy curve includes listing the vertices of the ROC.
"""

import tempfile
from pathlib import Path

from timing import gaussian_scores, seconds

from bosaris_py.evaluation import Results
from bosaris_py.plots import BayesPlot, DETPlot


def measure(n_tar: int, n_non: int) -> None:
    """Print the figures of one pair of score sets."""
    results = Results(*gaussian_scores(n_tar, n_non))
    hull_first = seconds(lambda: results.rocch, repeats=1)
    print(f"{n_tar:,} targets, {n_non:,} non-targets")
    print(f"  from sorted scores to ROC and hull: {hull_first:.3f} s")
    det, bayes = DETPlot("big"), BayesPlot((-10, 10, 0, 1.2))
    det.set_system_from_results(results)
    first = seconds(det.plot_steppy_det, repeats=1)
    again = seconds(det.plot_steppy_det, repeats=1)
    n_drawn = det.artists["steppy_det"][0].get_xdata().size
    print(f"  steppy DET: {first:.3f} s at first, {again:.3f} s again", end="; ")
    print(f"{n_drawn:,} of {results.roc.pfa.size:,} vertices drawn")
    print(f"  ROCCH DET: {seconds(det.plot_rocch_det, repeats=1):.3f} s")
    curves = seconds(lambda: bayes.set_system_from_results(results), repeats=1)
    curves += seconds(lambda: bayes.plot_curves([True] * 8), repeats=1)
    print(f"  Bayes plot, six curves and two points: {curves:.3f} s")
    with tempfile.TemporaryDirectory() as folder:
        for plot in (det, bayes):
            for extension in ("png", "pdf", "svg"):
                path = Path(folder, f"{type(plot).__name__}.{extension}")
                taken = seconds(lambda plot=plot, path=path: plot.save(path), repeats=2)
                print(f"  {path.name}: {taken:.3f} s, {path.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    measure(10**5, 10**7)
    measure(5 * 10**6, 5 * 10**6)
