"""Evaluating detectors: `Results`, and the curves that the plots draw, as plain numbers."""

from bosaris_py.evaluation.calibration_curves import (
    ConsistencyBand,
    ECECurve,
    PAVCurve,
    ReliabilityCurve,
    ScoreHistogram,
    SpeakerZoo,
    TippettCurve,
    Validation,
    validate,
)
from bosaris_py.evaluation.claims import Claim, ClaimRow, ClaimTable, CriterionRow, CriterionTable
from bosaris_py.evaluation.condition_table import (
    ConditionRow,
    ConditionTable,
    SystemTable,
    condition_table,
)
from bosaris_py.evaluation.curves import BayesCurves, hull_points, steppy_points
from bosaris_py.evaluation.decomposition import DecomposedFigure, Decomposition, decompose
from bosaris_py.evaluation.fusion_analysis import SystemComparison, SystemDivergence
from bosaris_py.evaluation.plan_presets import PLANS
from bosaris_py.evaluation.plans import EvaluationPlan, PartitionFactor, PlanCollection
from bosaris_py.evaluation.primary_cost import (
    PartitionCost,
    PointCost,
    PrimaryCost,
    primary_cost,
    primary_cost_of_files,
)
from bosaris_py.evaluation.results import Results, split_by_labels
from bosaris_py.evaluation.streaming import StreamedSample
from bosaris_py.evaluation.tandem import (
    TandemCost,
    TandemCounts,
    TandemCurve,
    TandemEER,
    act_t_dcf,
    t_dcf,
    t_eer,
    t_eer_curve,
    tandem_cost,
    tandem_counts,
)
from bosaris_py.evaluation.third_class import (
    a_dcf,
    act_a_dcf,
    min_sasv_cllr,
    sasv_cllr,
    sasv_eer,
    spf_eer,
    sv_eer,
)

__all__ = [
    "PLANS",
    "BayesCurves",
    "Claim",
    "ClaimRow",
    "ClaimTable",
    "ConditionRow",
    "ConditionTable",
    "ConsistencyBand",
    "CriterionRow",
    "CriterionTable",
    "DecomposedFigure",
    "Decomposition",
    "ECECurve",
    "EvaluationPlan",
    "PAVCurve",
    "PartitionCost",
    "PartitionFactor",
    "PlanCollection",
    "PointCost",
    "PrimaryCost",
    "ReliabilityCurve",
    "Results",
    "ScoreHistogram",
    "SpeakerZoo",
    "StreamedSample",
    "SystemComparison",
    "SystemDivergence",
    "SystemTable",
    "TandemCost",
    "TandemCounts",
    "TandemCurve",
    "TandemEER",
    "TippettCurve",
    "Validation",
    "a_dcf",
    "act_a_dcf",
    "act_t_dcf",
    "condition_table",
    "decompose",
    "hull_points",
    "min_sasv_cllr",
    "primary_cost",
    "primary_cost_of_files",
    "sasv_cllr",
    "sasv_eer",
    "spf_eer",
    "split_by_labels",
    "steppy_points",
    "sv_eer",
    "t_dcf",
    "t_eer",
    "t_eer_curve",
    "tandem_cost",
    "tandem_counts",
    "validate",
]


def __dir__() -> list[str]:
    """List the public names, for completion."""
    return sorted(__all__)
