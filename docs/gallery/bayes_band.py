"""Bayes plot with a band.

The band of the actual cost by speaker. See uncertainty.
"""

import numpy as np

import bosaris_py as bp
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
curve = unc.ActDCFCurve(np.linspace(-6, 2, 33))
found = unc.bootstrap_scores(llrs, key, curve, **speakers, replications=200, rng=1)
systems = {"cosine": bp.Results.from_scores(llrs, key)}
figure = bp.plot_bayes(systems, bands={"cosine": curve.band(found)}).figure
