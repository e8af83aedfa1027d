"""DET and Bayes error-rate plots, error bars and histograms, on normal matplotlib Axes.

Nothing registers with pyplot.
"""

from bosaris_py.plots.bayes import BayesPlot, plot_bayes
from bosaris_py.plots.det import DETPlot, plot_det
from bosaris_py.plots.intervals import plot_intervals, plot_standard_errors
from bosaris_py.plots.looks import style
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
    "plot_bayes",
    "plot_det",
    "plot_intervals",
    "plot_standard_errors",
    "style",
]
