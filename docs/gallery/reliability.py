"""Reliability diagram: How often trials are targets. See understand/calibration."""

import bosaris_py as bp

dev, test = bp.load_example("asvspoof2019_la")
line = bp.LinearCalibration.fit_scores(dev.scores["ecapa"], dev.key)
scores = {"x-vector, raw": test.scores["xvector"], "ecapa": line.apply(test.scores["ecapa"])}
figure = bp.evaluate(scores, test.key).plot("reliability").figure
