"""Standard errors, confidence intervals, tests and comparisons."""

from typing import TYPE_CHECKING

from bosaris_py._lazy import lazy_names

# Names by the module that has them; type checkers see the same below.
_NAMES = {
    "analytic": "DeLongResult SpeakerErrors auc_standard_error auc_standard_error_scores "
    "dcf_standard_error dcf_standard_error_scores delong speaker_errors speaker_interval",
    "bands": "ActDCFCurve DCFBand DETBand DETCurve ECE ECEBand MinDCFCurve Tippett TippettBand",
    "bootstrapping": "bootstrap bootstrap_scores",
    "bootstrap_result": "BootstrapResult Interval NormalityTest ValueTest ZTest normality_test "
    "quantile relative_error",
    "comparison.mcnemar": "McNemarTest mcnemar_test",
    "comparison.paired": "PairedBootstrapResult paired_bootstrap",
    "comparison.speaker_z_test": "SpeakerZTest speaker_z_test",
    "comparison.all_pairs": "compare_systems",
    "comparison.table": "ComparisonTable",
    "decisions": "Decisions Disagreements ErrorCounts dcf_interval dcf_z_test error_rate_interval "
    "hter_interval hter_z_test jeffreys_interval rule_of_30 wilson_interval",
    "influence.speakers_needed": "SpeakersNeeded",
    "statistics.statistic": "Statistic",
    "statistics.class_means": "DCF FMR FNMR ActDCF Cllr ErrorRates",
    "statistics.roc_functions": "AUC EER FMRAt FNMRAt MinCllr MinDCF SteppyEER",
    "papers.standard_errors": "EqualSizeSets FTest StandardErrorDistribution "
    "equal_size_sets f_test_of_variances standard_error_distribution z_test_of_means",
    "papers.tables": "BootstrapRow BootstrapTable PrintedTable bootstrap_table",
    "plan_statistics": "PrimaryCost",
    "tandem_statistics": "CountermeasureEER TDCF TEER TandemStatistic bootstrap_tandem",
    "spoof_statistics": "ADCF SASVEER SPFEER SVEER ActADCF",
    "threshold_transfer.result": "Transfer",
    "threshold_transfer.two_sets": "transfer",
    "bosaris_py.trials.speakers": "Speakers TrialSpeakers",
}

__all__, __getattr__, __dir__ = lazy_names(__name__, _NAMES)

if TYPE_CHECKING:
    from bosaris_py.trials.speakers import Speakers as Speakers, TrialSpeakers as TrialSpeakers
    from bosaris_py.uncertainty.analytic import (
        DeLongResult as DeLongResult,
        SpeakerErrors as SpeakerErrors,
        auc_standard_error as auc_standard_error,
        auc_standard_error_scores as auc_standard_error_scores,
        dcf_standard_error as dcf_standard_error,
        dcf_standard_error_scores as dcf_standard_error_scores,
        delong as delong,
        speaker_errors as speaker_errors,
        speaker_interval as speaker_interval,
    )
    from bosaris_py.uncertainty.bands import (
        ECE as ECE,
        ActDCFCurve as ActDCFCurve,
        DCFBand as DCFBand,
        DETBand as DETBand,
        DETCurve as DETCurve,
        ECEBand as ECEBand,
        MinDCFCurve as MinDCFCurve,
        Tippett as Tippett,
        TippettBand as TippettBand,
    )
    from bosaris_py.uncertainty.bootstrap_result import (
        BootstrapResult as BootstrapResult,
        Interval as Interval,
        NormalityTest as NormalityTest,
        ValueTest as ValueTest,
        ZTest as ZTest,
        normality_test as normality_test,
        quantile as quantile,
        relative_error as relative_error,
    )
    from bosaris_py.uncertainty.bootstrapping import (
        bootstrap as bootstrap,
        bootstrap_scores as bootstrap_scores,
    )
    from bosaris_py.uncertainty.comparison.all_pairs import compare_systems as compare_systems
    from bosaris_py.uncertainty.comparison.mcnemar import (
        McNemarTest as McNemarTest,
        mcnemar_test as mcnemar_test,
    )
    from bosaris_py.uncertainty.comparison.paired import (
        PairedBootstrapResult as PairedBootstrapResult,
        paired_bootstrap as paired_bootstrap,
    )
    from bosaris_py.uncertainty.comparison.speaker_z_test import (
        SpeakerZTest as SpeakerZTest,
        speaker_z_test as speaker_z_test,
    )
    from bosaris_py.uncertainty.comparison.table import ComparisonTable as ComparisonTable
    from bosaris_py.uncertainty.decisions import (
        Decisions as Decisions,
        Disagreements as Disagreements,
        ErrorCounts as ErrorCounts,
        dcf_interval as dcf_interval,
        dcf_z_test as dcf_z_test,
        error_rate_interval as error_rate_interval,
        hter_interval as hter_interval,
        hter_z_test as hter_z_test,
        jeffreys_interval as jeffreys_interval,
        rule_of_30 as rule_of_30,
        wilson_interval as wilson_interval,
    )
    from bosaris_py.uncertainty.influence.speakers_needed import SpeakersNeeded as SpeakersNeeded
    from bosaris_py.uncertainty.papers.standard_errors import (
        EqualSizeSets as EqualSizeSets,
        FTest as FTest,
        StandardErrorDistribution as StandardErrorDistribution,
        equal_size_sets as equal_size_sets,
        f_test_of_variances as f_test_of_variances,
        standard_error_distribution as standard_error_distribution,
        z_test_of_means as z_test_of_means,
    )
    from bosaris_py.uncertainty.papers.tables import (
        BootstrapRow as BootstrapRow,
        BootstrapTable as BootstrapTable,
        PrintedTable as PrintedTable,
        bootstrap_table as bootstrap_table,
    )
    from bosaris_py.uncertainty.plan_statistics import PrimaryCost as PrimaryCost
    from bosaris_py.uncertainty.spoof_statistics import (
        ADCF as ADCF,
        SASVEER as SASVEER,
        SPFEER as SPFEER,
        SVEER as SVEER,
        ActADCF as ActADCF,
    )
    from bosaris_py.uncertainty.statistics.class_means import (
        DCF as DCF,
        FMR as FMR,
        FNMR as FNMR,
        ActDCF as ActDCF,
        Cllr as Cllr,
        ErrorRates as ErrorRates,
    )
    from bosaris_py.uncertainty.statistics.roc_functions import (
        AUC as AUC,
        EER as EER,
        FMRAt as FMRAt,
        FNMRAt as FNMRAt,
        MinCllr as MinCllr,
        MinDCF as MinDCF,
        SteppyEER as SteppyEER,
    )
    from bosaris_py.uncertainty.statistics.statistic import Statistic as Statistic
    from bosaris_py.uncertainty.tandem_statistics import (
        TDCF as TDCF,
        TEER as TEER,
        CountermeasureEER as CountermeasureEER,
        TandemStatistic as TandemStatistic,
        bootstrap_tandem as bootstrap_tandem,
    )
    from bosaris_py.uncertainty.threshold_transfer.result import Transfer as Transfer
    from bosaris_py.uncertainty.threshold_transfer.two_sets import transfer as transfer
