"""Convex hull and steps (theory paper, Figure 4).

Two small systems: the steppy DET and that of the hull. The EER of the hull is the greatest minimum
DCF over all priors. See papers.
"""

import numpy as np

import bosaris_py as bp

rng = np.random.default_rng(1)
plot, priors = bp.DETPlot("old"), np.linspace(0.01, 0.99, 981)
for distance in (1.5, 3.0):
    results = bp.Results(rng.normal(distance, 1, 60), rng.normal(0, 1, 300))
    greatest = results.min_dcf(priors).max()
    plot.set_system_from_results(results, f"EER {results.eer:.2%}, max minDCF {greatest:.2%}")
    plot.plot_steppy_det(linestyle=":")
    plot.plot_rocch_det()
plot.display_legend()
figure = plot.figure
