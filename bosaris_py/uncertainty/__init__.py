"""Metrics, and how sure they are: standard errors, confidence intervals, tests and comparisons."""

from bosaris_py.metrics.costs import DCF, ActDCF, Cllr, MinDCF, Pfa, Pmiss
from bosaris_py.metrics.metric import Metric
from bosaris_py.metrics.ranks import AUC, EER, PRBEP, MinCllr, PfaAt, PmissAt
from bosaris_py.metrics.tandem import TDCF, TEER
from bosaris_py.metrics.third_class import ADCF, SASVEER, SPFEER, SVEER, ActADCF
from bosaris_py.uncertainty.analytic import (
    auc_standard_error,
    dcf_standard_error,
    delong,
    normality_test,
)
from bosaris_py.uncertainty.bands import bootstrap_bands
from bosaris_py.uncertainty.bootstrap import bootstrap, bootstrap_scores
from bosaris_py.uncertainty.compare import ComparisonTable, compare_systems
from bosaris_py.uncertainty.estimate import Estimate, quantile
from bosaris_py.uncertainty.jackknife import speaker_interval
from bosaris_py.uncertainty.papers import (
    bootstrap_table,
    equal_size_sets,
    f_test_of_variances,
    standard_error_distribution,
    z_test_of_means,
)
from bosaris_py.uncertainty.proportions import (
    Decisions,
    ErrorCounts,
    dcf_interval,
    dcf_z_test,
    error_rate_interval,
    hter_interval,
    hter_z_test,
    mcnemar_test,
    rule_of_30,
)
from bosaris_py.uncertainty.transfer import transfer

__all__ = ["DCF", "TDCF", "TEER", "ActDCF", "Cllr", "Metric", "MinDCF", "Pfa", "Pmiss"]
__all__ += ["AUC", "EER", "PRBEP", "MinCllr", "PfaAt", "PmissAt"]
__all__ += ["ADCF", "SASVEER", "SPFEER", "SVEER", "ActADCF"]
__all__ += ["ComparisonTable", "Estimate", "compare_systems", "quantile", "speaker_interval"]
__all__ += ["bootstrap", "bootstrap_bands", "bootstrap_scores", "bootstrap_table", "transfer"]
__all__ += ["auc_standard_error", "dcf_standard_error", "delong", "normality_test"]
__all__ += ["equal_size_sets", "standard_error_distribution"]
__all__ += ["dcf_z_test", "f_test_of_variances", "hter_z_test", "mcnemar_test", "z_test_of_means"]
__all__ += ["Decisions", "ErrorCounts", "rule_of_30"]
__all__ += ["dcf_interval", "error_rate_interval", "hter_interval"]

# What completion offers.
__dir__ = __all__.copy
