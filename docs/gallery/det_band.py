"""DET plot with a band.

A bootstrap by speaker: where the curve may lie for other speakers. Here these are 67.
See uncertainty.
"""

import bosaris_py as bp
from bosaris_py import uncertainty as unc

dev, test = bp.load_example("asvspoof2019_la")
calibration = bp.LinearCalibration.fit_scores(
    dev.scores["xvector"], dev.key, prior=0.05, ridge="weak"
)
llrs = calibration.apply(test.scores["xvector"])
drawn = {"speakers": ("model", "speaker"), "replications": 200, "rng": 1}
band = unc.bootstrap_bands(llrs, test.key, kind="det", **drawn)
systems = {"xvector": bp.Results.from_scores(llrs, test.key)}
figure = bp.plot_det(systems, bands={"xvector": band}).figure
