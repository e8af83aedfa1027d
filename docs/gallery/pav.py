"""PAV plot.

LLRs before and after PAV. Calibrated LLRs follow the diagonal; overconfident ones are flatter.
See understand/calibration.
"""

import numpy as np

import bosaris_py as bp
from bosaris_py import plots

rng = np.random.default_rng(1)
tar, non = rng.normal(2, 2, 500), rng.normal(-2, 2, 5000)
systems = {"calibrated": bp.Results(tar, non), "overconfident": bp.Results(2 * tar, 2 * non)}
figure = plots.plot_pav(systems).figure
