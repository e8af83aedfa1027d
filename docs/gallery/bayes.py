"""Bayes error-rate plot: Cost before and after calibration. See understand/priors."""

import bosaris_py as bp

(dev, test), name = bp.load_example("asvspoof2019_la"), "xvector"
llrs = bp.LinearCalibration.fit_scores(dev.scores[name], dev.key).apply(test.scores[name])
found = bp.evaluate({"raw": test.scores[name], "calibrated": llrs}, test.key)
figure = found.plot("bayes", axes=(-7, 3, 0, 0.8)).figure
