"""DET plot with a band.

A bootstrap by speaker: where the curve may lie for other speakers. Nine speakers give a wide band.
See uncertainty.
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
curve = unc.DETCurve(np.geomspace(0.001, 0.5, 25))
found = unc.bootstrap_scores(llrs, key, curve, **speakers, replications=200, rng=1)
systems = {"cosine": bp.Results.from_scores(llrs, key)}
figure = bp.plot_det(systems, bands={"cosine": curve.band(found)}).figure
