"""Turn detector scores into calibrated log-likelihood-ratios, fuse systems, and evaluate them.

Scores of trials, each a model (row) against a test segment (column), are kept
in matrices with a mask. `Key` says which trials are targets; `Results` evaluates;
`LinearCalibration`, `PAVCalibration`, `LinearFusion` and `QualityFusion` turn scores
into log-likelihood-ratios; `DETPlot` and `BayesPlot` draw.
"""

import importlib
import sys
from typing import TYPE_CHECKING

__version__ = "0.4.0.dev0"

# Names by the module that has them; type checkers see the same below.
_NAMES = {
    "bosaris_py.evaluation.evaluate": "evaluate",
    "bosaris_py.evaluation.evaluation": "Evaluation",
    "bosaris_py.calibration": """
        BoundedCalibration CrossFit
        GaussianCalibration LLRBounds LinearCalibration PAVCalibration
        cross_fit llr_bounds
    """,
    "bosaris_py.evaluation": """
        EvaluationPlan PLANS PartitionFactor PrimaryCost Results primary_cost split_by_labels
    """,
    "bosaris_py.evaluation.case": "CaseLLR Validation case_llr validate",
    "bosaris_py.examples": "ExamplePart load_example",
    "bosaris_py.files.columns": "Factor",
    "bosaris_py.fusion": "LinearFusion QualityFusion SASVFusion quality_systems read_model",
    "bosaris_py.metrics": """
        a_dcf act_a_dcf act_dcf auc cllr eer error_rates_at min_cllr min_dcf optimal_llrs prbep
        sasv_eer spf_eer sv_eer t_dcf t_eer
    """,
    "bosaris_py.numerics": """
        OperatingPoint ROC ROCCH SpoofCosts Threshold effective_prior logit posterior probit
        sigmoid
    """,
    "bosaris_py.plots": """
        BayesPlot DETPlot DETWindow plot_a_dcf plot_bayes plot_det plot_ece plot_forest
        plot_histogram plot_pav plot_reliability plot_tippett
    """,
    "bosaris_py.trials": """
        Conditions IdMap Key Ndx QualityMeasures Sample Scores SegmentQuality
        from_frame read_key read_scores read_trials
    """,
    "bosaris_py.uncertainty": "bootstrap_scores compare_systems speaker_interval",
}

_MODULES = """
    calibration errors evaluation files fusion matlab metrics numerics plots sklearn
    trials uncertainty
"""

_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = [*sorted(_HOMES), "__version__"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a name when it is first used (PEP 562)."""
        if name in _HOMES:
            globals()[name] = value = getattr(importlib.import_module(_HOMES[name]), name)
            return value
        if name in _MODULES.split():
            return importlib.import_module(f"{__name__}.{name}")
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=sys.modules[__name__])

    def __dir__() -> list[str]:
        """List the public names, for completion."""
        return sorted({*__all__, *_MODULES.split()})


if TYPE_CHECKING:
    from bosaris_py import (
        calibration as calibration,
        errors as errors,
        evaluation as evaluation,
        files as files,
        fusion as fusion,
        matlab as matlab,
        metrics as metrics,
        numerics as numerics,
        plots as plots,
        sklearn as sklearn,
        trials as trials,
        uncertainty as uncertainty,
    )
    from bosaris_py.calibration import *
    from bosaris_py.evaluation import *
    from bosaris_py.evaluation.case import *
    from bosaris_py.evaluation.evaluate import evaluate as evaluate
    from bosaris_py.evaluation.evaluation import Evaluation as Evaluation
    from bosaris_py.examples import ExamplePart as ExamplePart, load_example as load_example
    from bosaris_py.files.columns import Factor as Factor
    from bosaris_py.fusion import *
    from bosaris_py.metrics import *
    from bosaris_py.numerics import *
    from bosaris_py.plots import *
    from bosaris_py.trials import *
    from bosaris_py.uncertainty import (
        bootstrap_scores as bootstrap_scores,
        compare_systems as compare_systems,
        speaker_interval as speaker_interval,
    )
