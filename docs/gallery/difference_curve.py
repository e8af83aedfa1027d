"""Difference of two systems over the prior.

How much more the actual decisions of one system cost, with an interval by speaker at each prior.
The curve is thick where 0 is outside. See compare.
"""

import numpy as np

import bosaris_py as bp
from bosaris_py import plots
from bosaris_py import uncertainty as unc

dev, test = bp.load_example("asvspoof2019_la")
llrs = {}
for name, scores in dev.scores.items():
    calibration = bp.LinearCalibration.fit_scores(scores, dev.key, prior=0.05, ridge="weak")
    llrs[name] = calibration.apply(test.scores[name])
curve = unc.ActDCFCurve(np.linspace(-6, 2, 41))
options = {"speakers": ("model", "speaker"), "replications": 200, "rng": 1}
found = unc.paired_bootstrap(llrs["xvector"], llrs["ecapa"], test, curve, **options)
names = ("xvector", "ecapa")
figure = plots.plot_difference(found, curve, names=names, prior=[0.01, 0.05]).figure
