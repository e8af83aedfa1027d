"""A dark slide.

The plots follow matplotlib's styles. See figures.
"""

from matplotlib import style

import bosaris_py as bp

folder = "examples/japanese_vowels/"
dev_key, key = (bp.Key.read(f"{folder}{part}_key.h5") for part in ("dev", "eval"))
systems = {}
for name in ("gaussian", "cosine"):
    dev, test = (bp.Scores.read(f"{folder}{part}_scores_{name}.h5") for part in ("dev", "eval"))
    calibration = bp.LinearCalibration.fit_scores(dev, dev_key, prior=0.1)
    systems[name] = bp.Results.from_scores(calibration.apply(test), key)
with style.context("dark_background"):
    figure = bp.plot_bayes(systems, title="Calibrated systems").figure
