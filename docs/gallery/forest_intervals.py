"""Intervals of several metrics.

Intervals by speaker, one below the other. See intervals.
"""

import bosaris_py as bp
from bosaris_py import plots, uncertainty as unc

dev, test = bp.load_example("asvspoof2019_la")
calibration = bp.LinearCalibration.fit_scores(
    dev.scores["xvector"], dev.key, prior=0.05, ridge="weak"
)
llrs = calibration.apply(test.scores["xvector"])
speakers = ("model", "speaker")
metrics = {"Cllr": unc.Cllr(), "minCllr": unc.MinCllr(), "EER": unc.EER()}
rows = {
    name: unc.speaker_interval(llrs, test.key, metric, speakers=speakers)
    for name, metric in metrics.items()
}
figure = plots.plot_forest(rows, xlabel="value and 95 % interval").figure
