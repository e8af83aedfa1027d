"""Twelve systems in one column: 3.3 inches, two in colour. See howto/plots."""

import numpy as np
from matplotlib import rc_context

import bosaris_py as bp

rng, trials = np.random.default_rng(1), np.repeat([1, -1], [1000, 10000])
scores = {f"system {n}": rng.normal(trials * (1 + 0.15 * n)) for n in range(12)}
systems = {name: (each[trials > 0], each[trials < 0]) for name, each in scores.items()}
with rc_context({"figure.figsize": (3.3, 3.3), "font.size": 7.0}):
    figure = bp.plot_det(systems, marks=(), highlight=["system 4", "system 11"]).figure
