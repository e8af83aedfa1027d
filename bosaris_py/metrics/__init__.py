"""Metrics: each a number of two distributions of mass over the scores, one class a metric."""

from bosaris_py.metrics.costs import act_dcf, cllr, error_rates_at, min_dcf
from bosaris_py.metrics.ranks import auc, eer, min_cllr, optimal_llrs, prbep
from bosaris_py.metrics.tandem import t_dcf, t_eer
from bosaris_py.metrics.third_class import a_dcf, act_a_dcf, sasv_eer, spf_eer, sv_eer

__all__ = ["a_dcf", "act_a_dcf", "act_dcf", "auc", "cllr", "eer", "error_rates_at", "min_cllr"]
__all__ += ["min_dcf", "optimal_llrs", "prbep", "sasv_eer", "spf_eer", "sv_eer", "t_dcf", "t_eer"]

# What completion offers.
__dir__ = __all__.copy
