"""How sure are we: standard errors, confidence intervals, tests and comparisons."""

from bosaris_py.uncertainty.bootstrap import bootstrap
from bosaris_py.uncertainty.bootstrap_result import BootstrapResult, relative_error
from bosaris_py.uncertainty.distribution import (
    FTest,
    StandardErrorDistribution,
    f_test_of_variances,
    relative_deviation,
    standard_error_distribution,
    z_test_of_means,
)
from bosaris_py.uncertainty.normality import NormalityTest, normality_test
from bosaris_py.uncertainty.quantiles import quantile
from bosaris_py.uncertainty.sets import EqualSizeSets, equal_size_sets
from bosaris_py.uncertainty.statistics import (
    AUC,
    DCF,
    EER,
    ActDCF,
    Cllr,
    ErrorRates,
    MinCllr,
    MinDCF,
    Statistic,
)

__all__ = [
    "AUC",
    "DCF",
    "EER",
    "ActDCF",
    "BootstrapResult",
    "Cllr",
    "EqualSizeSets",
    "ErrorRates",
    "FTest",
    "MinCllr",
    "MinDCF",
    "NormalityTest",
    "StandardErrorDistribution",
    "Statistic",
    "bootstrap",
    "equal_size_sets",
    "f_test_of_variances",
    "normality_test",
    "quantile",
    "relative_deviation",
    "relative_error",
    "standard_error_distribution",
    "z_test_of_means",
]
