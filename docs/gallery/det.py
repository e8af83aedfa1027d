"""DET plot of two systems.

Misses against false alarms at every threshold. The stars are minimum costs at a prior of 5 %.
See understand/det.
"""

import bosaris_py as bp

folder = "examples/japanese_vowels/"
dev_key, key = (bp.Key.read(f"{folder}{part}_key.h5") for part in ("dev", "eval"))
systems = {}
for name in ("gaussian", "cosine"):
    dev, test = (bp.Scores.read(f"{folder}{part}_scores_{name}.h5") for part in ("dev", "eval"))
    calibration = bp.LinearCalibration.fit_scores(dev, dev_key, prior=0.1)
    systems[name] = bp.Results.from_scores(calibration.apply(test), key)
figure = bp.plot_det(systems, prior=0.05).figure
