"""Score histogram: Both classes, and thresholds. See understand/calibration."""

import bosaris_py as bp

(dev, test), name = bp.load_example("asvspoof2019_la"), "xvector"
llrs = bp.LinearCalibration.fit_scores(dev.scores[name], dev.key).apply(test.scores[name])
figure = bp.evaluate(llrs, test.key, prior=[0.05, 0.5]).plot("histogram").figure
