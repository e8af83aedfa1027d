"""Metrics, and how sure they are: standard errors, confidence intervals, tests and comparisons."""

from typing import TYPE_CHECKING

from bosaris_py._lazy import lazy_names

# A module hides a function of the same name if it is imported after this package.
from bosaris_py.uncertainty.bootstrap import bootstrap as bootstrap
from bosaris_py.uncertainty.transfer import transfer as transfer

# Names by the module that has them; type checkers see the same below.
_NAMES = {
    "analytic": "auc_standard_error dcf_standard_error delong normality_test",
    "bands": "bootstrap_bands",
    "bootstrap": "bootstrap bootstrap_scores",
    "compare": "ComparisonTable compare_systems",
    "estimate": "Estimate quantile",
    "jackknife": "speaker_interval",
    "papers": "bootstrap_table equal_size_sets f_test_of_variances standard_error_distribution "
    "z_test_of_means",
    "proportions": "Decisions ErrorCounts dcf_interval dcf_z_test error_rate_interval "
    "hter_interval hter_z_test mcnemar_test rule_of_30",
    "transfer": "transfer",
    "bosaris_py.metrics.costs": "DCF ActDCF Cllr MinDCF Pfa Pmiss",
    "bosaris_py.metrics.metric": "Metric",
    "bosaris_py.metrics.ranks": "AUC EER PRBEP MinCllr PfaAt PmissAt",
    "bosaris_py.metrics.tandem": "TDCF TEER",
    "bosaris_py.metrics.third_class": "ADCF SASVEER SPFEER SVEER ActADCF",
}

__all__, __getattr__, __dir__ = lazy_names(__name__, _NAMES)

if TYPE_CHECKING:
    from bosaris_py.metrics.costs import (
        DCF as DCF,
        ActDCF as ActDCF,
        Cllr as Cllr,
        MinDCF as MinDCF,
        Pfa as Pfa,
        Pmiss as Pmiss,
    )
    from bosaris_py.metrics.metric import Metric as Metric
    from bosaris_py.metrics.ranks import (
        AUC as AUC,
        EER as EER,
        PRBEP as PRBEP,
        MinCllr as MinCllr,
        PfaAt as PfaAt,
        PmissAt as PmissAt,
    )
    from bosaris_py.metrics.tandem import TDCF as TDCF, TEER as TEER
    from bosaris_py.metrics.third_class import (
        ADCF as ADCF,
        SASVEER as SASVEER,
        SPFEER as SPFEER,
        SVEER as SVEER,
        ActADCF as ActADCF,
    )
    from bosaris_py.uncertainty.analytic import (
        auc_standard_error as auc_standard_error,
        dcf_standard_error as dcf_standard_error,
        delong as delong,
        normality_test as normality_test,
    )
    from bosaris_py.uncertainty.bands import bootstrap_bands as bootstrap_bands
    from bosaris_py.uncertainty.bootstrap import bootstrap_scores as bootstrap_scores
    from bosaris_py.uncertainty.compare import (
        ComparisonTable as ComparisonTable,
        compare_systems as compare_systems,
    )
    from bosaris_py.uncertainty.estimate import Estimate as Estimate, quantile as quantile
    from bosaris_py.uncertainty.jackknife import speaker_interval as speaker_interval
    from bosaris_py.uncertainty.papers import (
        bootstrap_table as bootstrap_table,
        equal_size_sets as equal_size_sets,
        f_test_of_variances as f_test_of_variances,
        standard_error_distribution as standard_error_distribution,
        z_test_of_means as z_test_of_means,
    )
    from bosaris_py.uncertainty.proportions import (
        Decisions as Decisions,
        ErrorCounts as ErrorCounts,
        dcf_interval as dcf_interval,
        dcf_z_test as dcf_z_test,
        error_rate_interval as error_rate_interval,
        hter_interval as hter_interval,
        hter_z_test as hter_z_test,
        mcnemar_test as mcnemar_test,
        rule_of_30 as rule_of_30,
    )
