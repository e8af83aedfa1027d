"""Evaluating detectors: `Results`, plans of evaluations, and tables of figures."""

from bosaris_py.evaluation.plan_costs import PrimaryCost, primary_cost
from bosaris_py.evaluation.plans import PLANS, EvaluationPlan, PartitionFactor
from bosaris_py.evaluation.results import Results, split_by_labels

__all__ = ["PLANS", "EvaluationPlan", "PartitionFactor", "PrimaryCost", "Results"]
__all__ += ["primary_cost", "split_by_labels"]

# What completion offers.
__dir__ = __all__.copy
