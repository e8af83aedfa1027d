"""Twelve systems in one column.

The style for print is 3.3 inches wide with letters of 7 points. Systems differ by colour, dashes
and markers. See figures.
"""

import numpy as np

import bosaris_py as bp
from bosaris_py import plots

rng = np.random.default_rng(1)
systems = {}
for strength in np.linspace(1.0, 2.5, 12):
    tar, non = rng.normal(strength, 1, 1000), rng.normal(-strength, 1, 10000)
    systems[f"strength {strength:.2f}"] = (tar, non)
with plots.style("paper"):
    figure = bp.plot_det(systems).figure
