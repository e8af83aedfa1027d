"""DET, Bayes, Tippett, ECE, PAV and other plots, on normal matplotlib Axes.

Nothing registers with pyplot.
"""

from bosaris_py.plots.base import Plot as Plot
from bosaris_py.plots.bayes import BayesPlot, plot_a_dcf, plot_bayes
from bosaris_py.plots.det import DETPlot, DETWindow, plot_det
from bosaris_py.plots.forest import plot_forest
from bosaris_py.plots.llr import plot_ece, plot_histogram, plot_pav, plot_reliability, plot_tippett

__all__ = ["BayesPlot", "DETPlot", "DETWindow", "plot_a_dcf", "plot_bayes", "plot_det"]
__all__ += ["plot_ece", "plot_forest", "plot_histogram", "plot_pav", "plot_reliability"]
__all__ += ["plot_tippett"]

# What completion offers.
__dir__ = __all__.copy
