"""The MATLAB BOSARIS Toolkit's own names, argument orders, return orders and defaults.

For scripts that are ported line by line: each name here is a few lines on top of the rest of
the package, which new code better uses itself. Docstrings say which file of the toolkit a name
stands for, what is behind it here, and what differs. Where the toolkit has a defect, what is here
is right, and the docstring says so.

What differs everywhere: vectors have one dimension, neither rows nor columns; cells and arrays of
objects are lists; objects cannot be changed once they are made, and are checked then, so
``validate`` has nothing to do; warnings about data are Python warnings, the rest is logged by the
logger ``bosaris_py``; training goes on to the exact optimum, whatever number of iterations is
given.
"""

from typing import TYPE_CHECKING, Any

from bosaris_py.matlab.arguments import neglogsigmoid
from bosaris_py.matlab.calibration import (
    evaluate_objective,
    linear_calibrate_scores,
    linear_calibrate_scores_dev_eval,
    linear_calibrate_scores_dev_eval_from_files,
    linear_calibrate_scores_from_files,
    make_objective_function_from_name,
    pav_calibrate_scores,
    pav_calibrate_scores_dev_eval,
    pav_calibration,
    test_binary_classifier,
    train_linear_calibration,
)
from bosaris_py.matlab.classes import (
    Id_Map,
    Quality,
    Results,
    Seg_Quality,
    seg_qual_to_qual,
    validate,
)
from bosaris_py.matlab.fusion import (
    AWB_sparse,
    apply_linear_fusion_function,
    apply_quality_fusion_function,
    applyQtrans,
    assemble_scr,
    linear_and_quality_fusion_dev_eval,
    linear_and_quality_fusion_dev_eval_from_files,
    linear_and_quality_fusion_scores,
    linear_and_quality_fusion_scores_from_files,
    linear_fuser,
    linear_fusion_dev_eval,
    linear_fusion_dev_eval_from_files,
    linear_fusion_scores,
    linear_fusion_scores_from_files,
    load_qual_files,
    load_score_files,
    make_classf_from_key,
    make_initial_fusion_weights,
    qfuser_backoff,
    qfuser_linear,
    spliceQ,
    stackQ,
    stackScores,
    train_linear_fuser,
    train_linear_fusion_function,
    train_qfuser,
    train_quality_fusion_function,
)
from bosaris_py.matlab.lists import (
    KeyValueMap,
    map_mod_names,
    maplookup,
    read_list,
    read_map,
    save_list,
    sprintfmatrix,
)
from bosaris_py.matlab.logger import Logger, log_error, log_info, log_warning, logprint
from bosaris_py.matlab.stats import (
    analyse_dev_lin_and_qual_fusion,
    analyse_dev_lin_fusion,
    analyse_eval_lin_and_qual_fusion,
    analyse_eval_lin_fusion,
    area_under_rocch,
    compute_roc,
    dcf_at_threshold,
    evalAll,
    fast_actDCF,
    fast_minDCF,
    fastEval,
    filter_roc,
    kldivergence_of_systems,
    min_cllr,
    opt_loglr,
    pavx,
    rocch,
    rocch2eer,
    rocchdet,
)
from bosaris_py.numerics import cllr, eer, effective_prior, logit, prbep, probit, sigmoid
from bosaris_py.numerics.cllr import estimate_target_proportions
from bosaris_py.trials import Key, Ndx, Scores

if TYPE_CHECKING:
    from bosaris_py.matlab.drawing import Det_Plot, Norm_DCF_Plot, dcfplot, detplot

__all__ = [
    "AWB_sparse",
    "Det_Plot",
    "Id_Map",
    "Key",
    "KeyValueMap",
    "Logger",
    "Ndx",
    "Norm_DCF_Plot",
    "Quality",
    "Results",
    "Scores",
    "Seg_Quality",
    "analyse_dev_lin_and_qual_fusion",
    "analyse_dev_lin_fusion",
    "analyse_eval_lin_and_qual_fusion",
    "analyse_eval_lin_fusion",
    "applyQtrans",
    "apply_linear_fusion_function",
    "apply_quality_fusion_function",
    "area_under_rocch",
    "assemble_scr",
    "cllr",
    "compute_roc",
    "dcf_at_threshold",
    "dcfplot",
    "detplot",
    "eer",
    "effective_prior",
    "estimate_target_proportions",
    "evalAll",
    "evaluate_objective",
    "fastEval",
    "fast_actDCF",
    "fast_minDCF",
    "filter_roc",
    "kldivergence_of_systems",
    "linear_and_quality_fusion_dev_eval",
    "linear_and_quality_fusion_dev_eval_from_files",
    "linear_and_quality_fusion_scores",
    "linear_and_quality_fusion_scores_from_files",
    "linear_calibrate_scores",
    "linear_calibrate_scores_dev_eval",
    "linear_calibrate_scores_dev_eval_from_files",
    "linear_calibrate_scores_from_files",
    "linear_fuser",
    "linear_fusion_dev_eval",
    "linear_fusion_dev_eval_from_files",
    "linear_fusion_scores",
    "linear_fusion_scores_from_files",
    "load_qual_files",
    "load_score_files",
    "log_error",
    "log_info",
    "log_warning",
    "logit",
    "logprint",
    "make_classf_from_key",
    "make_initial_fusion_weights",
    "make_objective_function_from_name",
    "map_mod_names",
    "maplookup",
    "min_cllr",
    "neglogsigmoid",
    "opt_loglr",
    "pav_calibrate_scores",
    "pav_calibrate_scores_dev_eval",
    "pav_calibration",
    "pavx",
    "prbep",
    "probit",
    "qfuser_backoff",
    "qfuser_linear",
    "read_list",
    "read_map",
    "rocch",
    "rocch2eer",
    "rocchdet",
    "save_list",
    "seg_qual_to_qual",
    "sigmoid",
    "spliceQ",
    "sprintfmatrix",
    "stackQ",
    "stackScores",
    "test_binary_classifier",
    "train_linear_calibration",
    "train_linear_fuser",
    "train_linear_fusion_function",
    "train_qfuser",
    "train_quality_fusion_function",
    "validate",
]

_PLOTS = ("Det_Plot", "Norm_DCF_Plot", "dcfplot", "detplot")


def __getattr__(name: str) -> Any:
    """Import the plots when one is first asked for: matplotlib takes its time."""
    if name in _PLOTS:
        from bosaris_py.matlab import drawing

        return getattr(drawing, name)
    message = f"module 'bosaris_py.matlab' has no attribute '{name}'"
    raise AttributeError(message)


def __dir__() -> list[str]:
    """List the public names, those that are imported late included."""
    return sorted(__all__)
