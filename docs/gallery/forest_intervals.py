"""Intervals of several metrics.

Bootstrap intervals by speaker, one below the other. See intervals.
"""

import bosaris_py as bp
from bosaris_py import plots
from bosaris_py import uncertainty as unc

folder = "examples/japanese_vowels/"
key = bp.Key.read(folder + "eval_key.h5")
dev, test = (bp.Scores.read(f"{folder}{part}_scores_cosine.h5") for part in ("dev", "eval"))
calibration = bp.LinearCalibration.fit_scores(dev, bp.Key.read(folder + "dev_key.h5"), prior=0.1)
llrs = calibration.apply(test)
speakers = {
    "model_speakers": bp.IdMap.read(folder + "model_speakers.h5"),
    "segment_speakers": bp.IdMap.read(folder + "segment_speakers.h5"),
}
metrics = {"Cllr": unc.Cllr(), "minCllr": unc.MinCllr(), "EER": unc.EER()}
rows = {
    name: unc.bootstrap_scores(llrs, key, metric, **speakers, replications=200, rng=1)
    for name, metric in metrics.items()
}
figure = plots.plot_forest(rows, xlabel="value and 95 % interval").figure
