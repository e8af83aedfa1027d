"""Score histogram.

Scores of both classes, with the Bayes threshold at two priors.
See understand/calibration.
"""

import bosaris_py as bp
from bosaris_py import plots

dev, test = bp.load_example("asvspoof2019_la")
calibration = bp.LinearCalibration.fit_scores(
    dev.scores["xvector"], dev.key, prior=0.05, ridge="weak"
)
llrs = calibration.apply(test.scores["xvector"])
results = bp.Results.from_scores(llrs, test.key)
figure = plots.plot_histogram(results, prior=[0.05, 0.5]).figure
