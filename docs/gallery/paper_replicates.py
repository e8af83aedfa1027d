"""Replicates by three methods (Wu et al., Figure 4).

Histograms of 2,000 replicates of the cost by each method. Those of trials lie closest. See papers.
"""

import numpy as np

from bosaris_py import plots
from bosaris_py import uncertainty as unc

rng = np.random.default_rng(1)
tar_sets, non_sets = np.repeat(np.arange(132), 96), np.repeat(np.arange(130), 244)
tar = 3.5 + 0.5 * rng.normal(size=132)[tar_sets] + rng.normal(size=tar_sets.size)
non = 0.5 * rng.normal(size=130)[non_sets] + rng.normal(size=non_sets.size)
cost = unc.DCF(2.0, p_target=0.01, c_miss=10, c_fa=1)
drawn = {}
for method in ("iid", "one-layer", "two-layer"):
    sets = {} if method == "iid" else {"tar_sets": tar_sets, "non_sets": non_sets}
    drawn[method] = unc.bootstrap(tar, non, cost, method=method, rng=1, **sets)
figure = plots.plot_replicates(drawn, xlabel="detection cost").figure
