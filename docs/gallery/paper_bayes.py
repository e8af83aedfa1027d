"""True and miscalibrated likelihood-ratios (theory paper, Figure 1).

Targets are normal with mean 3 and standard deviation 2, non-targets with 0 and 1. The true
log-likelihood-ratio is compared with shifted and scaled ones. See papers.
"""

import numpy as np

import bosaris_py as bp

rng = np.random.default_rng(1)
scores = rng.normal(3, 2, 5000), rng.normal(0, 1, 50_000)
true = [0.5 * x**2 - 0.125 * (x - 3) ** 2 - np.log(2) for x in scores]
systems = {
    "true": bp.Results(*true),
    "plus 1": bp.Results(*(x + 1 for x in true)),
    "minus 1": bp.Results(*(x - 1 for x in true)),
    "times 2": bp.Results(*(2 * x for x in true)),
    "times 0.5": bp.Results(*(0.5 * x for x in true)),
}
figure = bp.plot_bayes(systems, axes=(-7, 5, 0, 1.4)).figure
