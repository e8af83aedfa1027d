"""Paired differences.

Each row is the difference of two systems on the same resampled speakers, with its p-value.
See compare.
"""

import bosaris_py as bp
from bosaris_py import plots, uncertainty as unc

dev, test = bp.load_example("asvspoof2019_la")
fusion = bp.LinearFusion.fit_scores(dev.scores, dev.key, prior=0.05, ridge="weak")
a = test.scores["xvector"]
b = fusion.apply(test.scores, test.key)
options = {"speakers": ("model", "speaker"), "replications": 200, "rng": 1}
metrics = {"minCllr": unc.MinCllr(), "EER": unc.EER(), "minimum cost": unc.MinDCF(0.05)}
rows = {
    name: unc.paired_bootstrap(a, b, test, metric, **options) for name, metric in metrics.items()
}
figure = plots.plot_forest(rows, xlabel="xvector minus fusion").figure
