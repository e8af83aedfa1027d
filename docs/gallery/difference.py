"""Paired differences.

Each row is the difference of two systems on the same resampled speakers, with its p-value.
See compare.
"""

import bosaris_py as bp
from bosaris_py import plots
from bosaris_py import uncertainty as unc

folder = "examples/japanese_vowels/"
key = bp.Key.read(folder + "eval_key.h5")
a, b = (bp.Scores.read(f"{folder}eval_scores_{name}.h5") for name in ("gaussian", "cosine"))
speakers = {
    "model_speakers": bp.IdMap.read(folder + "model_speakers.h5"),
    "segment_speakers": bp.IdMap.read(folder + "segment_speakers.h5"),
}
metrics = {"minCllr": unc.MinCllr(), "EER": unc.EER(), "minimum cost": unc.MinDCF(0.05)}
rows = {
    name: unc.paired_bootstrap(a, b, key, metric, **speakers, replications=200, rng=1)
    for name, metric in metrics.items()
}
figure = plots.plot_forest(rows, xlabel="gaussian minus cosine").figure
