"""Seven plots.

Two systems in seven plots: the LLRs of one are twice too large, so that its curves of costs and
calibration differ and its DET does not. See plots.
"""

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

import bosaris_py as bp
from bosaris_py import plots

rng = np.random.default_rng(1)
tar, non = rng.normal(2, 2, 500), rng.normal(-2, 2, 5000)
systems = {"calibrated": bp.Results(tar, non), "overconfident": bp.Results(2 * tar, 2 * non)}
with rc_context({"font.size": 8.0}):
    figure = Figure(figsize=(12.0, 10.5), layout="constrained")
    grid = figure.subplots(3, 3).ravel()
    bp.plot_det(systems, ax=grid[0], title="DET")
    bp.plot_bayes(systems, ax=grid[1], title="Bayes").display_legend(loc="upper right")
    plots.plot_histogram(systems["calibrated"], grid[2], prior=0.1, title="Histogram")
    plots.plot_tippett(systems, grid[3], title="Tippett")
    plots.plot_pav(systems, grid[4], title="PAV")
    plots.plot_ece(systems, grid[5], title="ECE")
    plots.plot_reliability(systems, 0.5, grid[6], title="Reliability")
    for empty in grid[7:]:
        empty.remove()
