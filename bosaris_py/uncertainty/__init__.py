"""How sure are we: standard errors, confidence intervals, tests and comparisons."""

from bosaris_py.uncertainty.auc_error import (
    DeLongResult,
    auc_standard_error,
    auc_standard_error_scores,
    delong,
)
from bosaris_py.uncertainty.bands import (
    ActDCFCurve,
    DCFBand,
    DETBand,
    DETCurve,
    MinDCFCurve,
)
from bosaris_py.uncertainty.bootstrap import bootstrap
from bosaris_py.uncertainty.bootstrap_result import BootstrapResult, relative_error
from bosaris_py.uncertainty.cllr_statistic import Cllr
from bosaris_py.uncertainty.comparison_tests import (
    ComparisonTable,
    HolmResult,
    McNemarTest,
    holm_correction,
    mcnemar_test,
)
from bosaris_py.uncertainty.condition_intervals import bootstrap_condition_table
from bosaris_py.uncertainty.curve_statistics import AUC, EER, MinCllr, MinDCF
from bosaris_py.uncertainty.dcf_error import (
    dcf_standard_error,
    dcf_standard_error_scores,
)
from bosaris_py.uncertainty.decisions import Decisions, Disagreements, ErrorCounts
from bosaris_py.uncertainty.distribution import (
    FTest,
    StandardErrorDistribution,
    f_test_of_variances,
    relative_deviation,
    standard_error_distribution,
    z_test_of_means,
)
from bosaris_py.uncertainty.estimates import Interval, ZTest
from bosaris_py.uncertainty.matrix_bootstrap import bootstrap_scores
from bosaris_py.uncertainty.normality import NormalityTest, normality_test
from bosaris_py.uncertainty.paired import PairedBootstrapResult, paired_bootstrap
from bosaris_py.uncertainty.quantiles import quantile
from bosaris_py.uncertainty.rate_intervals import (
    error_rate_interval,
    jeffreys_interval,
    rule_of_3,
    rule_of_30,
    trials_needed,
    wilson_interval,
)
from bosaris_py.uncertainty.sets import EqualSizeSets, equal_size_sets
from bosaris_py.uncertainty.significance import (
    dcf_interval,
    dcf_z_test,
    hter_interval,
    hter_z_test,
)
from bosaris_py.uncertainty.speaker_errors import SpeakerErrors, speaker_errors
from bosaris_py.uncertainty.speaker_tests import (
    PermutationTest,
    speaker_permutation_test,
    speaker_permutation_test_scores,
    speaker_z_test,
)
from bosaris_py.uncertainty.speakers import TrialSpeakers
from bosaris_py.uncertainty.statistic import Statistic
from bosaris_py.uncertainty.threshold_statistics import DCF, ActDCF, ErrorRates

__all__ = [
    "AUC",
    "DCF",
    "EER",
    "ActDCF",
    "ActDCFCurve",
    "BootstrapResult",
    "Cllr",
    "ComparisonTable",
    "DCFBand",
    "DETBand",
    "DETCurve",
    "DeLongResult",
    "Decisions",
    "Disagreements",
    "EqualSizeSets",
    "ErrorCounts",
    "ErrorRates",
    "FTest",
    "HolmResult",
    "Interval",
    "McNemarTest",
    "MinCllr",
    "MinDCF",
    "MinDCFCurve",
    "NormalityTest",
    "PairedBootstrapResult",
    "PermutationTest",
    "SpeakerErrors",
    "StandardErrorDistribution",
    "Statistic",
    "TrialSpeakers",
    "ZTest",
    "auc_standard_error",
    "auc_standard_error_scores",
    "bootstrap",
    "bootstrap_condition_table",
    "bootstrap_scores",
    "dcf_interval",
    "dcf_standard_error",
    "dcf_standard_error_scores",
    "dcf_z_test",
    "delong",
    "equal_size_sets",
    "error_rate_interval",
    "f_test_of_variances",
    "holm_correction",
    "hter_interval",
    "hter_z_test",
    "jeffreys_interval",
    "mcnemar_test",
    "normality_test",
    "paired_bootstrap",
    "quantile",
    "relative_deviation",
    "relative_error",
    "rule_of_3",
    "rule_of_30",
    "speaker_errors",
    "speaker_permutation_test",
    "speaker_permutation_test_scores",
    "speaker_z_test",
    "standard_error_distribution",
    "trials_needed",
    "wilson_interval",
    "z_test_of_means",
]
