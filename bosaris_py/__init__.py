"""Turn detector scores into calibrated log-likelihood-ratios, fuse systems, and evaluate them.

Scores of trials, each a model (row) against a test segment (column), are kept
in matrices with a mask. `Key` says which trials are targets; `Results` evaluates;
`LinearCalibration`, `PAVCalibration`, `LinearFusion` and `QualityFusion` turn scores
into log-likelihood-ratios; `DETPlot` and `BayesPlot` draw.
"""

from bosaris_py._lazy import on_demand
from bosaris_py._version import __version__ as __version__

# Names by the module that has them; the stub __init__.pyi lists the same for type checkers.
_NAMES = {
    "bosaris_py._case": "CaseLLR case_llr validate_scores",
    "bosaris_py._evaluate": "evaluate evaluate_files",
    "bosaris_py._evaluation": "Evaluation",
    "bosaris_py.calibration": """
        BoundedCalibration CrossFit
        GaussianCalibration LLRBounds LinearCalibration PAVCalibration
        cross_fit llr_bounds
    """,
    "bosaris_py.evaluation": """
        EvaluationPlan PLANS PartitionFactor PrimaryCost Results TandemCost TandemEER
        Validation a_dcf act_a_dcf act_t_dcf primary_cost primary_cost_of_files sasv_eer
        spf_eer split_by_labels sv_eer t_dcf t_eer tandem_cost validate
    """,
    "bosaris_py.examples": "ExamplePart load_example",
    "bosaris_py.frames": "TrialFrame from_frame",
    "bosaris_py.fusion": "LinearFusion QualityFusion SASVFusion quality_systems read_model",
    "bosaris_py.numerics": """
        OperatingPoint ROC ROCCH SpoofCosts Threshold act_dcf auc cllr eer effective_prior
        error_rates_at logit min_cllr min_dcf norm_act_dcf norm_min_dcf optimal_llrs
        posterior prbep probit sigmoid
    """,
    "bosaris_py.plots": """
        BayesPlot DETPlot DETWindow plot_a_dcf plot_bayes plot_det plot_ece plot_forest
        plot_histogram plot_pav plot_reliability plot_tippett
    """,
    "bosaris_py.storage": "Factor",
    "bosaris_py.trials": """
        Conditions FlatKey FlatNdx FlatScores IdMap Key Ndx QualityMeasures Scores
        SegmentQuality TrialMetadata compare_trials read_key read_scores read_trials
    """,
    "bosaris_py.uncertainty": "Transfer bootstrap_scores compare_systems speaker_interval transfer",
}

_MODULES = """
    calibration errors evaluation files fusion matlab numerics plots sklearn storage trials
    uncertainty
"""

_HOMES = {home: names.split() for home, names in _NAMES.items()}

__all__ = sorted({name for names in _HOMES.values() for name in names} | {"__version__"})

__getattr__, __dir__ = on_demand(__name__, _HOMES, _MODULES.split())
