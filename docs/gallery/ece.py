"""Empirical cross-entropy.

The expected information that is missing after the LLR, over the prior. Above the neutral line the
LLRs do harm. See tutorials/forensic.
"""

import numpy as np

import bosaris_py as bp
from bosaris_py import plots

rng = np.random.default_rng(1)
tar, non = rng.normal(2, 2, 500), rng.normal(-2, 2, 5000)
systems = {"calibrated": bp.Results(tar, non), "overconfident": bp.Results(2 * tar, 2 * non)}
figure = plots.plot_ece(systems).figure
