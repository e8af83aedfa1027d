"""Linear and PAV calibration.

Two maps from scores to LLRs, trained on the same dev set. See understand/calibration.
"""

import numpy as np
from matplotlib.figure import Figure

import bosaris_py as bp

folder = "examples/japanese_vowels/"
key = bp.Key.read(folder + "dev_key.h5")
scores = bp.Scores.read(folder + "dev_scores_cosine.h5")
values = np.linspace(-0.9, 0.95, 400)
figure = Figure(figsize=(6, 4.5), layout="constrained")
axes = figure.subplots()
for name in ("LinearCalibration", "PAVCalibration"):
    calibration = getattr(bp, name).fit_scores(scores, key)
    axes.plot(values, calibration.apply(values), label=name)
axes.set(xlabel="cosine score", ylabel="LLR", ylim=(-8, 8))
axes.grid(alpha=0.3)
axes.legend()
