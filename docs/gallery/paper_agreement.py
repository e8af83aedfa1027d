"""Standard errors by formula and by bootstrap (NISTIR 7722, Figure 4).

The standard error of the area under the ROC of twelve systems, with the line that fits best.
See papers.
"""

import numpy as np

from bosaris_py import plots
from bosaris_py import uncertainty as unc

rng = np.random.default_rng(1)
pairs = []
for distance in np.linspace(1.0, 3.5, 12):
    tar, non = rng.normal(distance, 1, 400), rng.normal(0, 1, 1600)
    drawn = unc.bootstrap(tar, non, unc.AUC(), replications=1000, rng=rng)
    pairs.append((unc.auc_standard_error(tar, non), drawn.standard_error))
figure = plots.plot_agreement(*zip(*pairs, strict=True)).figure
