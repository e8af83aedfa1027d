"""By speaker and by trial.

Intervals that take trials for independent are far too short. See understand/confidence.
"""

import bosaris_py as bp
from bosaris_py import plots, uncertainty as unc

folder = "examples/japanese_vowels/"
key = bp.Key.read(folder + "eval_key.h5")
rows = {}
sides = ("model_speakers", "segment_speakers")
speakers = tuple(bp.IdMap.read(f"{folder}{side}.h5") for side in sides)
for name in ("gaussian", "cosine"):
    scores = bp.Scores.read(f"{folder}eval_scores_{name}.h5")
    rows[f"{name}, by speaker"] = unc.speaker_interval(
        scores, key, unc.MinCllr(), speakers=speakers
    )
    rows[f"{name}, by trial"] = unc.bootstrap_scores(
        scores, key, unc.MinCllr(), method="iid", replications=200, rng=1
    )
figure = plots.plot_forest(rows, xlabel="minCllr").figure
