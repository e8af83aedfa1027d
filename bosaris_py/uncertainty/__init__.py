"""Standard errors, confidence intervals, tests and comparisons."""

from bosaris_py._lazy import public_names

# The stub __init__.pyi lists the same for type checkers.
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
    "resampling": "Resampling",
    "tandem_statistics": "CountermeasureEER TDCF TEER TandemStatistic bootstrap_tandem",
    "spoof_statistics": "ADCF SASVEER SPFEER SVEER ActADCF",
    "threshold_transfer.result": "Transfer",
    "threshold_transfer.two_sets": "transfer",
    "bosaris_py.trials.speakers": "Speakers TrialSpeakers",
}

_HOMES, __all__, __getattr__, __dir__ = public_names(__name__, _NAMES)
