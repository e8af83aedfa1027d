"""Two of twelve systems.

Two systems in colour, the others in grey, with names at the curves. See plots.
"""

import numpy as np

import bosaris_py as bp

rng = np.random.default_rng(1)
systems = {}
for strength in np.linspace(1.0, 2.5, 12):
    tar, non = rng.normal(strength, 1, 1000), rng.normal(-strength, 1, 10000)
    systems[f"strength {strength:.2f}"] = (tar, non)
chosen = ["strength 1.55", "strength 2.50"]
figure = bp.plot_det(systems, highlight=chosen).figure
