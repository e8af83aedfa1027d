"""Evaluating detectors: `Results`, and the curves that the plots draw, as plain numbers."""

from bosaris_py.evaluation.calibration_curves import (
    ECECurve,
    PAVCurve,
    ReliabilityCurve,
    ScoreHistogram,
    TippettCurve,
    Validation,
    validate,
)
from bosaris_py.evaluation.condition_table import ConditionRow, SystemTable
from bosaris_py.evaluation.curves import hull_points, steppy_points
from bosaris_py.evaluation.plans.evaluation_plan import (
    EvaluationPlan,
    PartitionFactor,
    PlanCollection,
)
from bosaris_py.evaluation.plans.presets import PLANS
from bosaris_py.evaluation.plans.primary_cost import (
    PartitionCost,
    PointCost,
    PrimaryCost,
    primary_cost,
)
from bosaris_py.evaluation.results import Results, split_by_labels

__all__ = [
    "PLANS",
    "ConditionRow",
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
    "SystemTable",
    "TippettCurve",
    "Validation",
    "hull_points",
    "primary_cost",
    "split_by_labels",
    "steppy_points",
    "validate",
]


def __dir__() -> list[str]:
    """List the public names, for completion."""
    return sorted(__all__)
