"""Error-rates over the threshold.

Misses and false alarms of two calibrated systems. See understand/det.
"""

import numpy as np
from matplotlib.figure import Figure

import bosaris_py as bp

dev, test = bp.load_example("asvspoof2019_la")
figure = Figure(figsize=(6.5, 4.5), layout="constrained")
axes = figure.subplots()
axes.set(xlabel="threshold (log-likelihood-ratio)", ylabel="error-rate (%)")
thresholds = np.linspace(-10, 10, 501)
for name, scores in dev.scores.items():
    calibration = bp.LinearCalibration.fit_scores(scores, dev.key, prior=0.05, ridge="weak")
    results = bp.Results.from_scores(calibration.apply(test.scores[name]), test.key)
    pmiss, pfa = results.error_rates_at(thresholds)
    axes.plot(thresholds, 100 * pmiss, label=f"{name}, misses")
    axes.plot(thresholds, 100 * pfa, "--", label=f"{name}, false alarms")
axes.legend()
