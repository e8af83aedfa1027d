"""A dark slide.

The plots follow matplotlib's styles. See figures.
"""

from matplotlib import style

import bosaris_py as bp

dev, test = bp.load_example("asvspoof2019_la")
systems = {}
for name, scores in dev.scores.items():
    calibration = bp.LinearCalibration.fit_scores(scores, dev.key, prior=0.05, ridge="weak")
    systems[name] = bp.Results.from_scores(calibration.apply(test.scores[name]), test.key)
with style.context("dark_background"):
    figure = bp.plot_bayes(systems, axes=(-7, 3, 0, 0.6), title="Calibrated systems").figure
