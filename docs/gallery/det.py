"""DET plot of two systems.

Misses against false alarms at every threshold. Dots are equal error-rates; beyond the
hollow circles fewer than 30 errors are left.
See understand/det.
"""

import bosaris_py as bp

dev, test = bp.load_example("asvspoof2019_la")
systems = {}
for name, scores in dev.scores.items():
    calibration = bp.LinearCalibration.fit_scores(scores, dev.key, prior=0.05, ridge="weak")
    systems[name] = bp.Results.from_scores(calibration.apply(test.scores[name]), test.key)
figure = bp.plot_det(systems).figure
