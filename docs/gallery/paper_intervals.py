"""Estimates with intervals (NISTIR 7722, Figure 2).

Costs of eleven systems in ascending order, with 95 % intervals of 2,000 replicates of trials.
See papers.
"""

import numpy as np

import bosaris_py as bp
from bosaris_py import plots, uncertainty as unc

rng = np.random.default_rng(1)
point = bp.OperatingPoint(0.01, c_miss=10, c_fa=1)
non, cost = rng.normal(0, 1, 80_000), unc.DCF(2.0, point, normalize=False)
found = {
    name: unc.bootstrap(rng.normal(distance, 1, 20_000), non, cost, rng=1)
    for name, distance in zip("ABCDEFGHIJK", np.linspace(4.5, 1.5, 11), strict=True)
}
figure = plots.plot_forest(found, xlabel="detection cost").figure
