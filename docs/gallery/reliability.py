"""Reliability diagram.

How often a trial is a target, against the posterior probability that the LLR gives. The steps at
the foot are numbers of trials. See understand/calibration.
"""

import bosaris_py as bp
from bosaris_py import plots

dev, test = bp.load_example("asvspoof2019_la")
systems = {}
for name, scores in dev.scores.items():
    calibration = bp.LinearCalibration.fit_scores(scores, dev.key, prior=0.05, ridge="weak")
    systems[name] = bp.Results.from_scores(calibration.apply(test.scores[name]), test.key)
figure = plots.plot_reliability(systems, 0.1).figure
