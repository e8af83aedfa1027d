"""DET plot of the three error rates.

One score for all trials: targets against zero-effort impostors (SV), against spoofs (SPF), and
against both as the protocol mixes them (SASV). See spoofing.
"""

import numpy as np

import bosaris_py as bp

trials = bp.load_example("asvspoof2019_la").eval.trials
labels = trials.columns["label"].values()
asv, cm = (np.asarray(trials.columns[name], dtype=float) for name in ("ecapa", "aasist"))
fused = -np.logaddexp(np.log(0.5) - (27.25 * asv - 12.34), np.log(0.5) - cm)
tar, non, spoof = (fused[labels == kind] for kind in ("target", "nontarget", "spoof"))
rates = {"SV": non, "SPF": spoof, "SASV": np.concatenate([non, spoof])}
figure = bp.plot_det({name: (tar, rejected) for name, rejected in rates.items()}).figure
