"""PAV plot and reliability diagram with bands.

What calibration should have been, with bands by speaker: few speakers say little of high and low
scores. See plots.
"""

from matplotlib.figure import Figure

import bosaris_py as bp
from bosaris_py import plots
from bosaris_py import uncertainty as unc

dev, test = bp.load_example("asvspoof2019_la")
calibration = bp.LinearCalibration.fit_scores(
    dev.scores["xvector"], dev.key, prior=0.05, ridge="weak"
)
llrs = calibration.apply(test.scores["xvector"])
speakers = ("model", "speaker")
curves = [unc.PAVMap(), unc.Reliability(prior=0.5)]
found = unc.bootstrap_scores(llrs, test, curves, speakers=speakers, replications=200, rng=1)
bands = [curve.band(result) for curve, result in zip(curves, found, strict=True)]
systems = {"xvector": bp.Results.from_scores(llrs, test.key)}
figure = Figure(figsize=(9.0, 4.5), layout="constrained")
left, right = figure.subplots(1, 2)
plots.plot_pav(systems, left, bands={"xvector": bands[0]})
plots.plot_reliability(systems, 0.5, right, bands={"xvector": bands[1]})
