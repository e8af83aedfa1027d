"""Many systems, a panel for each.

Twelve systems, best first. In each panel one of them is in colour and all others are grey.
See plots.
"""

import numpy as np

from bosaris_py import plots

rng = np.random.default_rng(1)
systems = {}
for strength in np.linspace(1.0, 2.5, 12):
    tar, non = rng.normal(strength, 1, 1000), rng.normal(-strength, 1, 10000)
    systems[f"strength {strength:.2f}"] = (tar, non)
figure = plots.plot_grid(systems, "det", order="eer", columns=4).figure
