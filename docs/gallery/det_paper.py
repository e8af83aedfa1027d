"""Twelve systems in one column: 3.3 inches, two in colour. See howto/plots."""

import numpy as np
from matplotlib import rc_context

import bosaris_py as bp

draw, means = np.random.default_rng(1).normal, 1 + 0.15 * np.arange(12)
systems = {f"system {n}": (draw(m, 1, 1000), draw(-m, 1, 10000)) for n, m in enumerate(means)}
with rc_context({"figure.figsize": (3.3, 3.3), "font.size": 7.0}):
    figure = bp.plot_det(systems, marks=(), highlight=["system 4", "system 11"]).figure
