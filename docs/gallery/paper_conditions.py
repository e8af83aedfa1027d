"""Conditions pooled and weighted (van Leeuwen, Figure 2).

One DET curve for each sex, one for all trials pooled, and one with equal weights of both sexes.
See papers.
"""

import bosaris_py as bp

test = bp.load_example("asvspoof2019_la").eval
plot = bp.DETPlot("auto", "by sex of the speaker")
plot.plot_conditions(test.scores["ecapa"], test.key, "gender")
plot.display_legend()
figure = plot.figure
