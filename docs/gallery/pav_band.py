"""PAV plot and reliability diagram with bands.

What calibration should have been, with bands by speaker: nine speakers say little of high and low
scores. See plots.
"""

from matplotlib.figure import Figure

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
curves = [unc.PAVMap(), unc.Reliability(prior=0.5)]
found = unc.bootstrap_scores(llrs, key, curves, **speakers, replications=200, rng=1)
bands = [curve.band(result) for curve, result in zip(curves, found, strict=True)]
systems = {"cosine": bp.Results.from_scores(llrs, key)}
figure = Figure(figsize=(9.0, 4.5), layout="constrained")
left, right = figure.subplots(1, 2)
plots.plot_pav(systems, left, bands={"cosine": bands[0]})
plots.plot_reliability(systems, 0.5, right, bands={"cosine": bands[1]})
