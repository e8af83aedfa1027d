"""Twelve systems in one column.

3.3 inches wide, with letters of 7 points. Each curve has its name at its end. See figures.
"""

import numpy as np
from matplotlib import rc_context

import bosaris_py as bp

rng = np.random.default_rng(1)
systems = {}
for strength in np.linspace(1.0, 2.5, 12):
    tar, non = rng.normal(strength, 1, 1000), rng.normal(-strength, 1, 10000)
    systems[f"strength {strength:.2f}"] = (tar, non)
with rc_context({"figure.figsize": (3.3, 3.3), "font.size": 7.0}):
    figure = bp.plot_det(systems).figure
