"""Evaluating detectors: `Results`, and the curves that the plots draw, as plain numbers."""

from bosaris_py._lazy import public_names

# The stub __init__.pyi lists the same for type checkers.
_NAMES = {
    "calibration_curves": "ECECurve PAVCurve ReliabilityCurve ScoreHistogram "
    "TippettCurve Validation validate",
    "condition_table": "ConditionRow SystemTable",
    "curves": "hull_points steppy_points",
    "plans.evaluation_plan": "EvaluationPlan PartitionFactor PlanCollection",
    "plans.presets": "PLANS",
    "plans.primary_cost": "PartitionCost PointCost PrimaryCost primary_cost primary_cost_of_files",
    "results": "Results split_by_labels",
    "streaming": "StreamedSample",
    "tandem": "TandemCost TandemEER act_t_dcf t_dcf t_eer tandem_cost",
    "third_class": "a_dcf act_a_dcf sasv_eer spf_eer sv_eer",
}

_HOMES, __all__, __getattr__, __dir__ = public_names(__name__, _NAMES)
