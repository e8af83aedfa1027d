"""Tippett plot with bands, crossing.

The other convention: the share of non-target trials with at most each LLR. The bands are by
speaker. See tutorials/forensic.
"""

import bosaris_py as bp
from bosaris_py import plots, uncertainty as unc

dev, test = bp.load_example("asvspoof2019_la")
calibration = bp.LinearCalibration.fit_scores(
    dev.scores["xvector"], dev.key, prior=0.05, ridge="weak"
)
llrs = calibration.apply(test.scores["xvector"])
drawn = {"speakers": ("model", "speaker"), "replications": 200, "rng": 1}
band = unc.bootstrap_bands(llrs, test.key, kind="tippett", **drawn)
systems = {"xvector": bp.Results.from_scores(llrs, test.key)}
figure = plots.plot_tippett(systems, convention="crossing", bands={"xvector": band}).figure
