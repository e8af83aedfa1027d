"""Error-rates over the threshold.

Misses (FNMR) and false alarms (FMR) of two calibrated systems, with the Bayes thresholds of two
priors. See understand/det.
"""

import bosaris_py as bp
from bosaris_py import plots

dev, test = bp.load_example("asvspoof2019_la")
systems = {}
for name, scores in dev.scores.items():
    calibration = bp.LinearCalibration.fit_scores(scores, dev.key, prior=0.05, ridge="weak")
    systems[name] = bp.Results.from_scores(calibration.apply(test.scores[name]), test.key)
figure = plots.plot_error_rates(systems, prior=[0.01, 0.5]).figure
