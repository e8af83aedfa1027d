"""Metrics of one detector."""

import numpy as np

import bosaris_py as bp
from suite import _operation

PRIORS = np.linspace(0.001, 0.999, 1000)


class RocHull(_operation.OfClasses):
    """ROC and its convex hull."""

    def call(self):
        return bp.ROC.from_scores(self.tar, self.non).convex_hull()


class HullEerMinDcf(_operation.OfClasses):
    """ROC, hull, EER, and minDCF at 1000 priors."""

    def call(self):
        hull = bp.ROC.from_scores(self.tar, self.non).convex_hull()
        return hull.eer, hull.min_dcf(PRIORS)


class EqualErrorRate(_operation.OfClasses):
    """EER alone."""

    def call(self):
        return bp.eer(self.tar, self.non)


class MinDcf(_operation.OfClasses):
    """minDCF at 1000 priors."""

    def call(self):
        return bp.min_dcf(self.tar, self.non, PRIORS)


class ActDcf(_operation.OfClasses):
    """Actual DCF at 1000 priors."""

    def call(self):
        return bp.act_dcf(self.tar, self.non, PRIORS)


class ActDcfOnce(_operation.OfClasses):
    """Actual DCF at one prior."""

    def call(self):
        return bp.act_dcf(self.tar, self.non, 0.01)


class Cllr(_operation.OfClasses):
    """Cllr."""

    def call(self):
        return bp.cllr(self.tar, self.non)


class MinCllr(_operation.OfClasses):
    """Minimum Cllr."""

    def call(self):
        return bp.min_cllr(self.tar, self.non)


class AreaUnderRoc(_operation.OfClasses):
    """Area under the ROC."""

    def call(self):
        return bp.auc(self.tar, self.non)


class Pav(_operation.OfClasses):
    """Optimal log-likelihood-ratios of all trials."""

    def call(self):
        return bp.optimal_llrs(self.tar, self.non)


class AllMetrics(_operation.OfClasses):
    """All metrics of `Results`, with both costs at 1000 priors."""

    def call(self):
        results = bp.Results(self.tar, self.non)
        return results.to_dict(), results.act_dcf(PRIORS), results.min_dcf(PRIORS)


class EvenClasses(_operation.Operation):
    """ROC, hull, EER and minDCF where there are as many targets as non-targets."""

    plain_name = "numpy.sort of both"

    def setup(self, n_scores):
        rng = np.random.default_rng(0)
        self.tar = rng.normal(3.0, 1.0, n_scores // 2)
        self.non = rng.normal(0.0, 1.0, n_scores // 2)

    def call(self):
        hull = bp.ROC.from_scores(self.tar, self.non).convex_hull()
        return hull.eer, hull.min_dcf(PRIORS)

    def plain(self):
        return np.sort(self.tar), np.sort(self.non)
