"""Drawing, after the sort: one ROC serves metrics and plots alike."""

import io

from bosaris_py import BayesPlot, DETPlot, Results
from suite import _operation


class _Plot(_operation.Operation):
    """A plot of one system whose ROC and hull are known."""

    def setup(self, n_scores):
        super().setup(n_scores)
        self.results = Results(self.tar, self.non)
        _ = self.results.eer, self.results.cllr


class DetCurves(_Plot):
    """Steppy and hull DET curve, drawn and saved as PNG."""

    def call(self):
        plot = DETPlot("big")
        plot.set_system_from_results(self.results)
        plot.plot_steppy_det()
        plot.plot_rocch_det()
        plot.figure.savefig(io.BytesIO(), format="png")


class BayesCurves(_Plot):
    """Six curves and two points of a Bayes plot, drawn and saved as PNG."""

    def call(self):
        plot = BayesPlot((-10, 10, 0, 1.2))
        plot.set_system_from_results(self.results)
        plot.plot_curves([True] * 8)
        plot.figure.savefig(io.BytesIO(), format="png")
