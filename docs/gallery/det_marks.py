"""Marks on a DET plot.

EER, actual and minimum cost of one calibrated system: the way from the open to the filled star
is the calibration loss. See understand/det.
"""

import bosaris_py as bp

folder = "examples/japanese_vowels/"
key = bp.Key.read(folder + "eval_key.h5")
dev, test = (bp.Scores.read(f"{folder}{part}_scores_cosine.h5") for part in ("dev", "eval"))
calibration = bp.LinearCalibration.fit_scores(dev, bp.Key.read(folder + "dev_key.h5"), prior=0.1)
llrs = calibration.apply(test)
plot = bp.DETPlot("auto", "Cosine, calibrated")
plot.set_system_from_results(bp.Results.from_scores(llrs, key), "cosine")
plot.plot_diagonal()
plot.plot_steppy_det()
plot.plot_rocch_det()
plot.plot_eer_point()
plot.plot_mindcf_point(0.1)
plot.plot_actdcf_point(0.1)
plot.display_legend()
figure = plot.figure
