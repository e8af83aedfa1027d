"""APE plot.

Error-rates over the prior, and Cllr as bars: discrimination and calibration loss.
See understand/metrics.
"""

import bosaris_py as bp
from bosaris_py import plots

dev, test = bp.load_example("asvspoof2019_la")
systems = {}
for name, scores in dev.scores.items():
    calibration = bp.LinearCalibration.fit_scores(scores, dev.key, prior=0.05, ridge="weak")
    systems[name] = bp.Results.from_scores(calibration.apply(test.scores[name]), test.key)
figure = plots.plot_ape(systems).figure
