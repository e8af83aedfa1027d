"""APE plot.

Error-rates over the prior, and Cllr as bars: discrimination and calibration loss.
See understand/metrics.
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
figure = plots.plot_ape(systems).figure
