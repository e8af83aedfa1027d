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
plot = bp.DETPlot("auto", "x-vector, calibrated")
plot.set_system_from_results(bp.Results.from_scores(llrs, test.key), "xvector")
plot.plot_diagonal()
plot.plot_steppy_det()
plot.plot_rocch_det()
plot.plot_eer_point()
plot.plot_mindcf_point(0.05)
plot.plot_actdcf_point(0.05)
plot.display_legend()
figure = plot.figure
