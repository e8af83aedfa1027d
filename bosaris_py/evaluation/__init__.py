"""Evaluating detectors: `Results`, plans of evaluations, and tables of figures."""

from bosaris_py.evaluation.plan_costs import PartitionCost, PointCost, PrimaryCost, primary_cost
from bosaris_py.evaluation.plans import PLANS, EvaluationPlan, PartitionFactor, PlanCollection
from bosaris_py.evaluation.results import Results, split_by_labels

__all__ = [
    "PLANS",
    "EvaluationPlan",
    "PartitionCost",
    "PartitionFactor",
    "PlanCollection",
    "PointCost",
    "PrimaryCost",
    "Results",
    "primary_cost",
    "split_by_labels",
]


def __dir__() -> list[str]:
    """List the public names, for completion."""
    return sorted(__all__)
