"""The deviation of a HTER (Bengio and Mariéthoz, Figure 3).

Standard deviations over the ratio of non-targets to targets, for rates of 10 and 20 % and 100
targets. See papers.
"""

from bosaris_py import plots

figure = plots.plot_hter_deviations(far=0.1, frr=0.2, n_tar=100).figure
