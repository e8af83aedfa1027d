"""Normalized Bayes error-rate plot.

The cost of Bayes decisions at every prior, and the minimum. The gap is the calibration loss.
See understand/bayes.
"""

import bosaris_py as bp

folder = "examples/japanese_vowels/"
dev_key, key = (bp.Key.read(f"{folder}{part}_key.h5") for part in ("dev", "eval"))
systems = {}
for name in ("gaussian", "cosine"):
    dev, test = (bp.Scores.read(f"{folder}{part}_scores_{name}.h5") for part in ("dev", "eval"))
    calibration = bp.LinearCalibration.fit_scores(dev, dev_key, prior=0.1)
    systems[name] = bp.Results.from_scores(calibration.apply(test), key)
figure = bp.plot_bayes(systems, prior=[0.01, 0.5]).figure
