"""Bounds of LLRs.

One line, trained on 60 targets and 600 non-targets, and the LLRs that each rule of bounds takes
from it. See calibrate.
"""

import numpy as np

import bosaris_py as bp
from bosaris_py import plots

dev = bp.load_example("asvspoof2019_la").dev
tar, non = dev.scores["xvector"].get_tar_non(dev.key)
rng = np.random.default_rng(1)
tar, non = rng.choice(tar, 60, replace=False), rng.choice(non, 600, replace=False)
maps = {"no bounds": bp.LinearCalibration.fit(tar, non, ridge="weak")}
for kind in ("wide", "iv", "elub"):
    maps[kind] = bp.BoundedCalibration.fit(tar, non, bounds=kind, ridge="weak")
looks = {"no bounds": {"color": "0.5", "linestyle": ":"}}
figure = plots.plot_map(maps, (tar, non), looks=looks).figure
