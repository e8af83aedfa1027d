"""Paired differences.

Each row is the difference of two systems on the same speakers, with its p-value.
See compare.
"""

import bosaris_py as bp
from bosaris_py import plots, uncertainty as unc

dev, test = bp.load_example("asvspoof2019_la")
fusion = bp.LinearFusion.fit_scores(dev.scores, dev.key, prior=0.05, ridge="weak")
a = test.scores["xvector"]
b = fusion.apply(test.scores, test.key)
metrics = {"minCllr": unc.MinCllr(), "EER": unc.EER(), "minimum cost": unc.MinDCF(0.05)}
systems = {"xvector": a, "fusion": b}
rows = {}
for name, metric in metrics.items():
    compared = unc.compare_systems(systems, test.key, metric, speakers=("model", "speaker"))
    rows[name] = compared.rows[0].difference
figure = plots.plot_forest(rows, xlabel="xvector minus fusion").figure
