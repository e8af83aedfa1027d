"""DET and Bayes error-rate plots on normal matplotlib Axes; nothing registers with pyplot."""

from bosaris_py.plots.bayes import BayesPlot
from bosaris_py.plots.det import DETPlot
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
]
