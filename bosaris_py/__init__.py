"""Calibrate, fuse and judge binary detectors whose scores are log-likelihood-ratios.

Scores of trials, each a model (row) against a test segment (column), are kept
in matrices with a mask. `Key` says which trials are targets; `Results` judges;
`LinearCalibration`, `PAVCalibration`, `LinearFusion` and `QualityFusion` turn scores
into log-likelihood-ratios; `DETPlot` and `BayesPlot` draw.
"""

from typing import TYPE_CHECKING, Any

from bosaris_py._version import __version__
from bosaris_py.calibration import LinearCalibration, PAVCalibration
from bosaris_py.evaluation import (
    PLANS,
    EvaluationPlan,
    PartitionFactor,
    PrimaryCost,
    Results,
    SystemComparison,
    SystemDivergence,
    primary_cost,
    primary_cost_of_files,
)
from bosaris_py.fusion import LinearFusion, QualityFusion
from bosaris_py.numerics import (
    ROC,
    ROCCH,
    OperatingPoint,
    Threshold,
    act_dcf,
    auc,
    cllr,
    eer,
    effective_prior,
    error_rates_at,
    logit,
    min_cllr,
    min_dcf,
    optimal_llrs,
    prbep,
    probit,
    sigmoid,
)
from bosaris_py.storage import Factor
from bosaris_py.storage.formats import TrialTable
from bosaris_py.trials import (
    Conditions,
    FlatKey,
    FlatNdx,
    FlatScores,
    IdMap,
    Key,
    Ndx,
    QualityMeasures,
    Scores,
    SegmentQuality,
    TrialMetadata,
    compare_trials,
    read_key,
    read_scores,
    read_trials,
    to_table,
)

if TYPE_CHECKING:
    from bosaris_py.plots import BayesPlot, DETPlot, DETWindow

__all__ = [
    "PLANS",
    "ROC",
    "ROCCH",
    "BayesPlot",
    "Conditions",
    "DETPlot",
    "DETWindow",
    "EvaluationPlan",
    "Factor",
    "FlatKey",
    "FlatNdx",
    "FlatScores",
    "IdMap",
    "Key",
    "LinearCalibration",
    "LinearFusion",
    "Ndx",
    "OperatingPoint",
    "PAVCalibration",
    "PartitionFactor",
    "PrimaryCost",
    "QualityFusion",
    "QualityMeasures",
    "Results",
    "Scores",
    "SegmentQuality",
    "SystemComparison",
    "SystemDivergence",
    "Threshold",
    "TrialMetadata",
    "TrialTable",
    "__version__",
    "act_dcf",
    "auc",
    "cllr",
    "compare_trials",
    "eer",
    "effective_prior",
    "error_rates_at",
    "logit",
    "min_cllr",
    "min_dcf",
    "optimal_llrs",
    "prbep",
    "primary_cost",
    "primary_cost_of_files",
    "probit",
    "read_key",
    "read_scores",
    "read_trials",
    "sigmoid",
    "to_table",
]

_PLOTS = ("BayesPlot", "DETPlot", "DETWindow")


def __getattr__(name: str) -> Any:
    """Import the plots when one is first asked for: matplotlib takes its time."""
    if name in _PLOTS:
        from bosaris_py import plots

        return getattr(plots, name)
    message = f"module 'bosaris_py' has no attribute '{name}'"
    raise AttributeError(message)


def __dir__() -> list[str]:
    """List the public names, those that are imported late included."""
    return sorted(__all__)
