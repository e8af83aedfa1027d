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
line = bp.LinearCalibration.fit(tar, non, ridge="weak")
values = np.linspace(min(non.min(), tar.min()), max(non.max(), tar.max()), 400)
llrs = line.apply(values)
figure = Figure(figsize=(6, 4.5), layout="constrained")
axes = figure.subplots()
axes.plot(values, llrs, "k:", label="no bounds")
names = {"wide": "wide", "iv": "IV", "elub": "ELUB"}
for number, (kind, name) in enumerate(names.items()):
    bounds = bp.llr_bounds(line.apply(tar), line.apply(non), kind)
    label = f"{name}: {bounds.low:.2f} to {bounds.high:.2f}"
    axes.plot(values, np.clip(llrs, bounds.low, bounds.high), f"C{number}", label=label)
axes.set(xlabel="score", ylabel="LLR")
axes.grid(alpha=0.3)
axes.legend(loc="upper left")
