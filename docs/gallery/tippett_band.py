"""Tippett plot with bands, crossing.

The other convention: the share of non-target trials with at most each LLR. The bands are by
speaker. See tutorials/forensic.
"""

import numpy as np

import bosaris_py as bp
from bosaris_py import plots, uncertainty as unc

dev, test = bp.load_example("asvspoof2019_la")
calibration = bp.LinearCalibration.fit_scores(
    dev.scores["xvector"], dev.key, prior=0.05, ridge="weak"
)
llrs = calibration.apply(test.scores["xvector"])
speakers = ("model", "speaker")
curve = unc.Tippett(np.linspace(-30, 30, 121))
found = unc.bootstrap_scores(llrs, test, curve, speakers=speakers, replications=200, rng=1)
systems, bands = {"xvector": bp.Results.from_scores(llrs, test.key)}, {"xvector": curve.band(found)}
figure = plots.plot_tippett(systems, convention="crossing", bands=bands).figure
