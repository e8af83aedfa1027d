"""Score histogram.

Scores of both classes, with the Bayes threshold at two priors.
See understand/calibration.
"""

import bosaris_py as bp
from bosaris_py import plots

folder = "examples/japanese_vowels/"
key = bp.Key.read(folder + "eval_key.h5")
dev, test = (bp.Scores.read(f"{folder}{part}_scores_cosine.h5") for part in ("dev", "eval"))
calibration = bp.LinearCalibration.fit_scores(dev, bp.Key.read(folder + "dev_key.h5"), prior=0.1)
llrs = calibration.apply(test)
results = bp.Results.from_scores(llrs, key)
figure = plots.plot_histogram(results, prior=[0.05, 0.5]).figure
