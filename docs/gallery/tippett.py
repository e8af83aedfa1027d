"""Tippett plot.

Shares of target and non-target trials with at least each LLR. Rates of misleading evidence are
read at zero. See understand/tippett.
"""

import bosaris_py as bp
from bosaris_py import plots

dev, test = bp.load_example("asvspoof2019_la")
systems = {}
for name, scores in dev.scores.items():
    calibration = bp.LinearCalibration.fit_scores(scores, dev.key, prior=0.05, ridge="weak")
    systems[name] = bp.Results.from_scores(calibration.apply(test.scores[name]), test.key)
figure = plots.plot_tippett(systems).figure
