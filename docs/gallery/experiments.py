"""Replicates of bootstraps: Trials vary too little. See understand/confidence."""

from matplotlib import pyplot as plt

import bosaris_py as bp

figure, axes = plt.subplots(subplot_kw={"xlabel": "EER (%)", "ylabel": "density"})
test = bp.load_example("asvspoof2019_la").eval
data, who = (test.scores["xvector"], test.key, bp.uncertainty.EER()), ("model", "speaker")
for method in ("iid", "one-layer", "speaker"):
    found = bp.bootstrap_scores(*data, method=method, speakers=who, rng=1)
    axes.hist(100 * found.replicates, 30, density=True, alpha=0.6, label=method)
axes.legend()
