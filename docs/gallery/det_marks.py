"""Marks on a DET plot.

EER, actual and minimum cost of one calibrated system: the way from the open to the filled star
is the calibration loss. See understand/det.
"""

import bosaris_py as bp

dev, test = bp.load_example("asvspoof2019_la")
calibration = bp.LinearCalibration.fit_scores(
    dev.scores["xvector"], dev.key, prior=0.05, ridge="weak"
)
llrs = calibration.apply(test.scores["xvector"])
systems = {"xvector": bp.Results.from_scores(llrs, test.key)}
plot = bp.plot_det(systems, marks=("eer", "dr30", "min", "act"), prior=0.05)
figure = plot.figure
