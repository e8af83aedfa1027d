"""Standard errors of repeated bootstraps.

How much a standard error varies between repetitions of the bootstrap. See uncertainty.
"""

import numpy as np

from bosaris_py import plots
from bosaris_py import uncertainty as unc

rng = np.random.default_rng(1)
tar, non = rng.normal(2, 2, 200), rng.normal(-2, 2, 1000)
rows = {
    f"{count} replicates": unc.standard_error_distribution(
        tar, non, unc.AUC(), runs=60, replications=count, rng=1
    )
    for count in (50, 200)
}
figure = plots.plot_standard_errors(rows).figure
