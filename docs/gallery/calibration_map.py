"""Maps of all calibrations.

Maps from scores to LLRs, trained on the same 60 targets and 600 non-targets of the dev set. See
calibrate.
"""

import numpy as np
from matplotlib.figure import Figure

import bosaris_py as bp

dev = bp.load_example("asvspoof2019_la").dev
classes = dev.scores["xvector"].get_tar_non(dev.key)
rng = np.random.default_rng(1)
tar = rng.choice(classes[0], 60, replace=False)
non = rng.choice(classes[1], 600, replace=False)
maps = {
    "linear": bp.LinearCalibration.fit(tar, non),
    "weak ridge": bp.LinearCalibration.fit(tar, non, ridge="weak"),
    "Gaussian": bp.GaussianCalibration.fit(tar, non),
    "PAV": bp.PAVCalibration.fit(tar, non),
    "weak ridge, wide bounds": bp.BoundedCalibration.fit(tar, non),
}
figure = Figure(figsize=(6.0, 4.5), layout="constrained")
axes = figure.subplots()
axes.set(xlabel="score", ylabel="log-likelihood-ratio (natural)")
values = np.linspace(non.min(), tar.max(), 500)
for name, calibration in maps.items():
    axes.plot(values, calibration.apply(values), label=name)
axes.legend()
