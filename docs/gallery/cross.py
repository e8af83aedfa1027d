"""Map of attacks and genders.

The minimum a-DCF of each attack against women and men; a star marks few errors.
See spoofing.
"""

import numpy as np

import bosaris_py as bp
from bosaris_py import plots

trials = bp.load_example("asvspoof2019_la").eval.trials
ids, labels = (trials.model_ids(), trials.segment_ids()), trials.columns["label"].values()
key = bp.FlatKey.from_trials(*ids, labels == "target")
columns = {"kind": labels, **{name: trials.columns[name] for name in ("attack", "gender")}}
metadata = bp.TrialMetadata.from_trials(*ids, columns, key)
asv, cm = (np.asarray(trials.columns[name], dtype=float) for name in ("ecapa", "aasist"))
fused = -np.logaddexp(np.log(0.5) - (27.25 * asv - 12.34), np.log(0.5) - cm)
scores = bp.FlatScores.from_trials(*ids, fused)
found = bp.evaluate({"fused": scores}, (key, metadata), plan="ASVspoof5-2")
figure = plots.plot_cross(found.cross("attack", "gender")).figure
