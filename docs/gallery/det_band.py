"""DET plot with a band.

A bootstrap by speaker: where the curve may lie for other speakers. Here these are 67.
See uncertainty.
"""

import numpy as np

import bosaris_py as bp
from bosaris_py import uncertainty as unc

dev, test = bp.load_example("asvspoof2019_la")
calibration = bp.LinearCalibration.fit_scores(
    dev.scores["xvector"], dev.key, prior=0.05, ridge="weak"
)
llrs = calibration.apply(test.scores["xvector"])
speakers = ("model", "speaker")
curve = unc.DETCurve(np.geomspace(0.001, 0.5, 25))
found = unc.bootstrap_scores(llrs, test, curve, speakers=speakers, replications=200, rng=1)
systems = {"xvector": bp.Results.from_scores(llrs, test.key)}
figure = bp.plot_det(systems, bands={"xvector": curve.band(found)}).figure
