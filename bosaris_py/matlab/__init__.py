"""The MATLAB BOSARIS Toolkit's own names, argument orders, return orders and defaults.

For scripts that are ported line by line: each name here is a few lines on top of the rest of the
package, which new code better uses itself. Docstrings say which file of the toolkit a name stands
for, what is behind it here, and what differs. Where the toolkit has a defect, what is here is
right, and the docstring says so.

What differs everywhere: vectors have one dimension, and an array of one row or column is taken for
one. Cells and arrays of objects are lists. Objects cannot be changed once they are made, and are
checked then, so ``validate`` has nothing to do. Warnings about data are Python warnings, the rest
is logged by the logger ``bosaris_py``. Training goes on to the exact optimum, whatever number of
iterations is given.
"""

from typing import Any

from bosaris_py._lazy import on_demand
from bosaris_py.matlab.arguments import METHODS, as_function, of_several

# Names by the module that has them.
_NAMES = {
    "bosaris_py.matlab.analysis": """
        analyse_dev_lin_and_qual_fusion analyse_dev_lin_fusion analyse_eval_lin_and_qual_fusion
        analyse_eval_lin_fusion evalAll kldivergence_of_systems
    """,
    "bosaris_py.matlab.calibration": """
        evaluate_objective linear_calibrate_scores linear_calibrate_scores_dev_eval
        linear_calibrate_scores_dev_eval_from_files linear_calibrate_scores_from_files
        make_objective_function_from_name pav_calibrate_scores pav_calibrate_scores_dev_eval
        pav_calibration test_binary_classifier train_linear_calibration
    """,
    "bosaris_py.matlab.classes": """
        Id_Map Quality Results Seg_Quality seg_qual_to_qual validate
    """,
    "bosaris_py.matlab.drawing": "Det_Plot Norm_DCF_Plot dcfplot detplot",
    "bosaris_py.matlab.fusion": """
        AWB_sparse applyQtrans apply_linear_fusion_function apply_quality_fusion_function
        assemble_scr linear_and_quality_fusion_dev_eval
        linear_and_quality_fusion_dev_eval_from_files linear_and_quality_fusion_scores
        linear_and_quality_fusion_scores_from_files linear_fuser linear_fusion_dev_eval
        linear_fusion_dev_eval_from_files linear_fusion_scores
        linear_fusion_scores_from_files load_qual_files load_score_files
        make_classf_from_key make_initial_fusion_weights qfuser_backoff qfuser_linear
        spliceQ stackQ stackScores train_linear_fuser train_linear_fusion_function
        train_qfuser train_quality_fusion_function
    """,
    "bosaris_py.matlab.lists": """
        KeyValueMap map_mod_names maplookup read_list read_map save_list sprintfmatrix
    """,
    "bosaris_py.matlab.logger": """
        Logger log_error log_info log_warning logprint
    """,
    "bosaris_py.matlab.stats": """
                area_under_rocch
        compute_roc dcf_at_threshold fast_actDCF fast_minDCF fastEval filter_roc
        min_cllr neglogsigmoid opt_loglr pavx rocch rocch2eer
        rocchdet
    """,
    "bosaris_py.matlab.arguments": "cllr eer prbep",
    "bosaris_py.numerics": "effective_prior logit probit sigmoid",
    "bosaris_py.numerics.llr_cost": "estimate_target_proportions",
    "bosaris_py.trials": "Key Ndx Scores",
}
_HOMES = {home: names.split() for home, names in _NAMES.items()}

__all__ = sorted({name for names in _HOMES.values() for name in names} | METHODS)

_named, __dir__ = on_demand(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    if name in METHODS:
        return as_function(name)
    value = _named(name)
    if getattr(value, "__annotations__", {}).get("return", "").startswith("tuple["):
        value = globals()[name] = of_several(value)
    return value
