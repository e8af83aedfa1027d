"""Standard errors by three methods (Wu et al., Figure 3).

Histograms of 500 standard errors by each method, on sets of the sizes that the paper has.
See papers.
"""

import numpy as np

from bosaris_py import plots
from bosaris_py import uncertainty as unc

rng = np.random.default_rng(1)
tar_sets, non_sets = np.repeat(np.arange(132), 96), np.repeat(np.arange(130), 244)
tar = 3.5 + 0.5 * rng.normal(size=132)[tar_sets] + rng.normal(size=tar_sets.size)
non = 0.5 * rng.normal(size=130)[non_sets] + rng.normal(size=non_sets.size)
cost = unc.DCF(2.0, p_target=0.01, c_miss=10, c_fa=1)
runs = {}
for method in ("iid", "one-layer", "two-layer"):
    sets = {} if method == "iid" else {"tar_sets": tar_sets, "non_sets": non_sets}
    runs[method] = unc.standard_error_distribution(tar, non, cost, method=method, rng=1, **sets)
figure = plots.plot_standard_errors(runs, bins=20).figure
