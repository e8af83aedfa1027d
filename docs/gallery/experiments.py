"""Replicates of bootstraps: Trials vary too little. See understand/confidence."""

from matplotlib import pyplot as plt

import bosaris_py as bp

test, figure = bp.load_example("asvspoof2019_la").eval, plt.figure()
data, who = (test.scores["xvector"], test.key, bp.uncertainty.EER()), ("model", "speaker")
for method in ("iid", "one-layer", "speaker"):
    found = bp.bootstrap_scores(*data, method=method, speakers=who, rng=1)
    plt.hist(100 * found.replicates, 30, density=True, alpha=0.6, label=method)
figure.legend(title="EER (%)")
