"""DET and Bayes error-rate plots, error bars and histograms, on normal matplotlib Axes.

Nothing registers with pyplot.
"""

from bosaris_py.plots.base import Plot
from bosaris_py.plots.bayes import BayesPlot, plot_a_dcf, plot_bayes
from bosaris_py.plots.det import DETPlot, plot_det
from bosaris_py.plots.forest import plot_forest
from bosaris_py.plots.llr import plot_ece, plot_histogram, plot_pav, plot_reliability, plot_tippett
from bosaris_py.plots.windows import (
    WINDOWS,
    DETWindow,
    PercentFormatter,
    ProbitLocator,
    ProbitScale,
)

__all__ = [
    "WINDOWS",
    "BayesPlot",
    "DETPlot",
    "DETWindow",
    "PercentFormatter",
    "Plot",
    "ProbitLocator",
    "ProbitScale",
    "plot_a_dcf",
    "plot_bayes",
    "plot_det",
    "plot_ece",
    "plot_forest",
    "plot_histogram",
    "plot_pav",
    "plot_reliability",
    "plot_tippett",
]


def __dir__() -> list[str]:
    """List the public names, for completion."""
    return sorted(__all__)
