"""DET and Bayes error-rate plots, error bars and histograms, on normal matplotlib Axes.

Nothing registers with pyplot.
"""

from bosaris_py.plots.bayes import BayesPlot
from bosaris_py.plots.det import DETPlot
from bosaris_py.plots.intervals import plot_intervals, plot_standard_errors
from bosaris_py.plots.probit_scale import PercentFormatter, ProbitLocator, ProbitScale
from bosaris_py.plots.windows import WINDOWS, DETWindow

__all__ = [
    "WINDOWS",
    "BayesPlot",
    "DETPlot",
    "DETWindow",
    "PercentFormatter",
    "ProbitLocator",
    "ProbitScale",
    "plot_intervals",
    "plot_standard_errors",
]
