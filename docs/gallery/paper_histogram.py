"""Distributions of scores (NISTIR 7722, Figure 1).

Non-targets and targets of a system, each as a density. See papers.
"""

import bosaris_py as bp
from bosaris_py import plots

test = bp.load_example("asvspoof2019_la").eval
figure = plots.plot_histogram(bp.Results.from_scores(test.scores["xvector"], test.key)).figure
