"""Two panels.

Every plot draws on Axes of your own. See figures.
"""

import numpy as np
from matplotlib.figure import Figure

import bosaris_py as bp

rng = np.random.default_rng(1)
tar, non = rng.normal(2, 2, 500), rng.normal(-2, 2, 5000)
systems = {"calibrated": bp.Results(tar, non), "overconfident": bp.Results(2 * tar, 2 * non)}
figure = Figure(figsize=(9, 4.5), layout="constrained")
left, right = figure.subplots(1, 2)
bp.plot_det(systems, ax=left, title="Discrimination: the same")
bp.plot_bayes(systems, ax=right, title="Calibration: different")
