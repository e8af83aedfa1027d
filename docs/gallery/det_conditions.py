"""DET plot of conditions.

One curve for each condition, one for all trials pooled, one equalised. See conditions.
"""

import bosaris_py as bp

dev, test = bp.load_example("asvspoof2019_la")
calibration = bp.LinearCalibration.fit_scores(
    dev.scores["xvector"], dev.key, prior=0.05, ridge="weak"
)
llrs = calibration.apply(test.scores["xvector"])
plot = bp.DETPlot("auto", "x-vector, by gender")
plot.plot_conditions(llrs, test.key, "gender")
plot.label_curves()
figure = plot.figure
