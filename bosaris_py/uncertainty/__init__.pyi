from bosaris_py.trials.speakers import Speakers as Speakers
from bosaris_py.trials.speakers import TrialSpeakers as TrialSpeakers
from bosaris_py.uncertainty.analytic import DeLongResult as DeLongResult
from bosaris_py.uncertainty.analytic import SpeakerErrors as SpeakerErrors
from bosaris_py.uncertainty.analytic import auc_standard_error as auc_standard_error
from bosaris_py.uncertainty.analytic import auc_standard_error_scores as auc_standard_error_scores
from bosaris_py.uncertainty.analytic import dcf_standard_error as dcf_standard_error
from bosaris_py.uncertainty.analytic import dcf_standard_error_scores as dcf_standard_error_scores
from bosaris_py.uncertainty.analytic import delong as delong
from bosaris_py.uncertainty.analytic import speaker_errors as speaker_errors
from bosaris_py.uncertainty.analytic import speaker_interval as speaker_interval
from bosaris_py.uncertainty.bands import ECE as ECE
from bosaris_py.uncertainty.bands import ActDCFCurve as ActDCFCurve
from bosaris_py.uncertainty.bands import DCFBand as DCFBand
from bosaris_py.uncertainty.bands import DETBand as DETBand
from bosaris_py.uncertainty.bands import DETCurve as DETCurve
from bosaris_py.uncertainty.bands import ECEBand as ECEBand
from bosaris_py.uncertainty.bands import MinDCFCurve as MinDCFCurve
from bosaris_py.uncertainty.bands import Tippett as Tippett
from bosaris_py.uncertainty.bands import TippettBand as TippettBand
from bosaris_py.uncertainty.bootstrap_result import BootstrapResult as BootstrapResult
from bosaris_py.uncertainty.bootstrap_result import Interval as Interval
from bosaris_py.uncertainty.bootstrap_result import NormalityTest as NormalityTest
from bosaris_py.uncertainty.bootstrap_result import ValueTest as ValueTest
from bosaris_py.uncertainty.bootstrap_result import ZTest as ZTest
from bosaris_py.uncertainty.bootstrap_result import normality_test as normality_test
from bosaris_py.uncertainty.bootstrap_result import quantile as quantile
from bosaris_py.uncertainty.bootstrap_result import relative_error as relative_error
from bosaris_py.uncertainty.bootstrapping import bootstrap as bootstrap
from bosaris_py.uncertainty.bootstrapping import (
    bootstrap_condition_table as bootstrap_condition_table,
)
from bosaris_py.uncertainty.bootstrapping import bootstrap_scores as bootstrap_scores
from bosaris_py.uncertainty.comparison.all_pairs import compare_systems as compare_systems
from bosaris_py.uncertainty.comparison.mcnemar import McNemarTest as McNemarTest
from bosaris_py.uncertainty.comparison.mcnemar import mcnemar_test as mcnemar_test
from bosaris_py.uncertainty.comparison.paired import PairedBootstrapResult as PairedBootstrapResult
from bosaris_py.uncertainty.comparison.paired import paired_bootstrap as paired_bootstrap
from bosaris_py.uncertainty.comparison.speaker_z_test import SpeakerZTest as SpeakerZTest
from bosaris_py.uncertainty.comparison.speaker_z_test import speaker_z_test as speaker_z_test
from bosaris_py.uncertainty.comparison.table import ComparisonTable as ComparisonTable
from bosaris_py.uncertainty.decisions import Decisions as Decisions
from bosaris_py.uncertainty.decisions import Disagreements as Disagreements
from bosaris_py.uncertainty.decisions import ErrorCounts as ErrorCounts
from bosaris_py.uncertainty.decisions import dcf_interval as dcf_interval
from bosaris_py.uncertainty.decisions import dcf_z_test as dcf_z_test
from bosaris_py.uncertainty.decisions import error_rate_interval as error_rate_interval
from bosaris_py.uncertainty.decisions import hter_interval as hter_interval
from bosaris_py.uncertainty.decisions import hter_z_test as hter_z_test
from bosaris_py.uncertainty.decisions import jeffreys_interval as jeffreys_interval
from bosaris_py.uncertainty.decisions import rule_of_30 as rule_of_30
from bosaris_py.uncertainty.decisions import wilson_interval as wilson_interval
from bosaris_py.uncertainty.influence.speakers_needed import SpeakersNeeded as SpeakersNeeded
from bosaris_py.uncertainty.papers.standard_errors import EqualSizeSets as EqualSizeSets
from bosaris_py.uncertainty.papers.standard_errors import FTest as FTest
from bosaris_py.uncertainty.papers.standard_errors import (
    StandardErrorDistribution as StandardErrorDistribution,
)
from bosaris_py.uncertainty.papers.standard_errors import equal_size_sets as equal_size_sets
from bosaris_py.uncertainty.papers.standard_errors import f_test_of_variances as f_test_of_variances
from bosaris_py.uncertainty.papers.standard_errors import (
    standard_error_distribution as standard_error_distribution,
)
from bosaris_py.uncertainty.papers.standard_errors import z_test_of_means as z_test_of_means
from bosaris_py.uncertainty.papers.tables import BootstrapRow as BootstrapRow
from bosaris_py.uncertainty.papers.tables import BootstrapTable as BootstrapTable
from bosaris_py.uncertainty.papers.tables import PrintedTable as PrintedTable
from bosaris_py.uncertainty.papers.tables import bootstrap_table as bootstrap_table
from bosaris_py.uncertainty.plan_statistics import PrimaryCost as PrimaryCost
from bosaris_py.uncertainty.resampling import Resampling as Resampling
from bosaris_py.uncertainty.spoof_statistics import ADCF as ADCF
from bosaris_py.uncertainty.spoof_statistics import SASVEER as SASVEER
from bosaris_py.uncertainty.spoof_statistics import SPFEER as SPFEER
from bosaris_py.uncertainty.spoof_statistics import SVEER as SVEER
from bosaris_py.uncertainty.spoof_statistics import ActADCF as ActADCF
from bosaris_py.uncertainty.statistics.class_means import DCF as DCF
from bosaris_py.uncertainty.statistics.class_means import FMR as FMR
from bosaris_py.uncertainty.statistics.class_means import FNMR as FNMR
from bosaris_py.uncertainty.statistics.class_means import ActDCF as ActDCF
from bosaris_py.uncertainty.statistics.class_means import Cllr as Cllr
from bosaris_py.uncertainty.statistics.class_means import ErrorRates as ErrorRates
from bosaris_py.uncertainty.statistics.roc_functions import AUC as AUC
from bosaris_py.uncertainty.statistics.roc_functions import EER as EER
from bosaris_py.uncertainty.statistics.roc_functions import FMRAt as FMRAt
from bosaris_py.uncertainty.statistics.roc_functions import FNMRAt as FNMRAt
from bosaris_py.uncertainty.statistics.roc_functions import MinCllr as MinCllr
from bosaris_py.uncertainty.statistics.roc_functions import MinDCF as MinDCF
from bosaris_py.uncertainty.statistics.roc_functions import SteppyEER as SteppyEER
from bosaris_py.uncertainty.statistics.statistic import Statistic as Statistic
from bosaris_py.uncertainty.tandem_statistics import TDCF as TDCF
from bosaris_py.uncertainty.tandem_statistics import TEER as TEER
from bosaris_py.uncertainty.tandem_statistics import CountermeasureEER as CountermeasureEER
from bosaris_py.uncertainty.tandem_statistics import TandemStatistic as TandemStatistic
from bosaris_py.uncertainty.tandem_statistics import bootstrap_tandem as bootstrap_tandem
from bosaris_py.uncertainty.threshold_transfer.result import Transfer as Transfer
from bosaris_py.uncertainty.threshold_transfer.two_sets import transfer as transfer
