"""Tippett plot.

Shares of target and non-target trials with at least each LLR. Rates of misleading evidence are
read at zero. See understand/tippett.
"""

import bosaris_py as bp
from bosaris_py import plots

folder = "examples/japanese_vowels/"
dev_key, key = (bp.Key.read(f"{folder}{part}_key.h5") for part in ("dev", "eval"))
systems = {}
for name in ("gaussian", "cosine"):
    dev, test = (bp.Scores.read(f"{folder}{part}_scores_{name}.h5") for part in ("dev", "eval"))
    calibration = bp.LinearCalibration.fit_scores(dev, dev_key, prior=0.1)
    systems[name] = bp.Results.from_scores(calibration.apply(test), key)
figure = plots.plot_tippett(systems).figure
