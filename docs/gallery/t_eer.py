"""Tandem equal error rate over the verifier's threshold.

Misses and false alarms of a verifier behind a countermeasure are equal along each curve, for three
shares of spoofs; where the curves meet is the concurrent t-EER. See spoofing.
"""

import numpy as np

import bosaris_py as bp
from bosaris_py import plots

trials = bp.load_example("asvspoof2019_la").eval.trials
labels = trials.columns["label"].values()
kinds = "target", "nontarget", "spoof"
asv, cm = (
    [np.asarray(trials.columns[name], dtype=float)[labels == kind] for kind in kinds]
    for name in ("ecapa", "aasist")
)
figure = plots.plot_t_eer(asv=asv, cm=cm).figure
