"""By speaker and by trial.

Intervals that take trials for independent are far too short. See understand/confidence.
"""

import bosaris_py as bp
from bosaris_py import plots
from bosaris_py import uncertainty as unc

folder = "examples/japanese_vowels/"
key = bp.Key.read(folder + "eval_key.h5")
by_speaker, by_trial = {}, {}
speakers = {
    "model_speakers": bp.IdMap.read(folder + "model_speakers.h5"),
    "segment_speakers": bp.IdMap.read(folder + "segment_speakers.h5"),
}
options = {"replications": 200, "rng": 1}
for name in ("gaussian", "cosine"):
    scores = bp.Scores.read(f"{folder}eval_scores_{name}.h5")
    by_speaker[name] = unc.bootstrap_scores(scores, key, unc.MinCllr(), **speakers, **options)
    by_trial[name] = unc.bootstrap_scores(scores, key, unc.MinCllr(), method="iid", **options)
axes = plots.plot_intervals(by_speaker, label="by speaker", ylabel="minCllr")
plots.plot_intervals(by_trial, ax=axes, label="by trial", offset=0.15)
figure = axes.figure
