"""Bayes plot with a band.

The band of the actual cost by speaker. See uncertainty.
"""

import bosaris_py as bp
from bosaris_py import uncertainty as unc

dev, test = bp.load_example("asvspoof2019_la")
calibration = bp.LinearCalibration.fit_scores(
    dev.scores["xvector"], dev.key, prior=0.05, ridge="weak"
)
llrs = calibration.apply(test.scores["xvector"])
drawn = {"speakers": ("model", "speaker"), "replications": 200, "rng": 1}
band = unc.bootstrap_bands(llrs, test.key, kind="bayes", **drawn)
systems = {"xvector": bp.Results.from_scores(llrs, test.key)}
figure = bp.plot_bayes(systems, bands={"xvector": band}).figure
