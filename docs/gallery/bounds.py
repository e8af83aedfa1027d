"""Bounds of LLRs.

One line, trained on 60 targets and 600 non-targets, and the LLRs that each rule of bounds takes
from it. See calibrate.
"""

import numpy as np
from matplotlib.figure import Figure

import bosaris_py as bp

dev = bp.load_example("asvspoof2019_la").dev
tar, non = dev.scores["xvector"].get_tar_non(dev.key)
rng = np.random.default_rng(1)
tar, non = rng.choice(tar, 60, replace=False), rng.choice(non, 600, replace=False)
maps = {"no bounds": bp.LinearCalibration.fit(tar, non, ridge="weak")}
for kind in ("wide", "iv", "elub"):
    maps[kind] = bp.BoundedCalibration.fit(tar, non, bounds=kind, ridge="weak")
figure = Figure(figsize=(6.0, 4.5), layout="constrained")
axes = figure.subplots()
axes.set(xlabel="score", ylabel="log-likelihood-ratio (natural)")
values = np.linspace(non.min(), tar.max(), 500)
for name, line in maps.items():
    axes.plot(values, line.apply(values), ":" if name == "no bounds" else "-", label=name)
axes.legend()
