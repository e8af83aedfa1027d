"""Normalized Bayes error-rate plot.

The cost of Bayes decisions at every prior, and the minimum. The gap is the calibration loss.
See understand/bayes.
"""

import bosaris_py as bp

dev, test = bp.load_example("asvspoof2019_la")
systems = {}
for name, scores in dev.scores.items():
    calibration = bp.LinearCalibration.fit_scores(scores, dev.key, prior=0.05, ridge="weak")
    systems[name] = bp.Results.from_scores(calibration.apply(test.scores[name]), test.key)
figure = bp.plot_bayes(systems, axes=(-7, 3, 0, 0.6), prior=[0.01, 0.5]).figure
