"""Judging detectors: `Results`, and the curves that the plots draw, as plain numbers."""

from bosaris_py.evaluation.bayes_curves import BayesCurves
from bosaris_py.evaluation.condition_mixture import ConditionMixture
from bosaris_py.evaluation.det_curves import hull_points, steppy_points
from bosaris_py.evaluation.evidence import Evidence, ScoreLists
from bosaris_py.evaluation.fusion_analysis import SystemComparison, SystemDivergence
from bosaris_py.evaluation.plan_presets import PLANS
from bosaris_py.evaluation.plans import EvaluationPlan, PartitionFactor, PlanCollection
from bosaris_py.evaluation.results import Results

__all__ = [
    "PLANS",
    "BayesCurves",
    "ConditionMixture",
    "EvaluationPlan",
    "Evidence",
    "PartitionFactor",
    "PlanCollection",
    "Results",
    "ScoreLists",
    "SystemComparison",
    "SystemDivergence",
    "hull_points",
    "steppy_points",
]
