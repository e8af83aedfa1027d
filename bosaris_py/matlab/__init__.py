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

from typing import TYPE_CHECKING, Any

from bosaris_py._lazy import lazy_names
from bosaris_py.matlab.arguments import METHODS, as_function, of_several

# Names by the module that has them.
_NAMES = {
    "bosaris_py.matlab.analysis": """
        analyse_dev_lin_and_qual_fusion analyse_dev_lin_fusion analyse_eval_lin_and_qual_fusion
        analyse_eval_lin_fusion estimate_target_proportions evalAll kldivergence_of_systems
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
    "bosaris_py.trials": "Key Ndx Scores",
}

_named_here, _named, __dir__ = lazy_names(__name__, _NAMES)

__all__ = sorted({*_named_here, *METHODS})


def __getattr__(name: str) -> Any:
    if name in METHODS:
        return as_function(name)
    value = _named(name)
    if getattr(value, "__annotations__", {}).get("return", "").startswith("tuple["):
        value = globals()[name] = of_several(value)
    return value


if TYPE_CHECKING:
    from bosaris_py.matlab.analysis import (
        analyse_dev_lin_and_qual_fusion as analyse_dev_lin_and_qual_fusion,
        analyse_dev_lin_fusion as analyse_dev_lin_fusion,
        analyse_eval_lin_and_qual_fusion as analyse_eval_lin_and_qual_fusion,
        analyse_eval_lin_fusion as analyse_eval_lin_fusion,
        estimate_target_proportions as estimate_target_proportions,
        evalAll as evalAll,
        kldivergence_of_systems as kldivergence_of_systems,
    )
    from bosaris_py.matlab.arguments import cllr as cllr, eer as eer, prbep as prbep
    from bosaris_py.matlab.calibration import (
        evaluate_objective as evaluate_objective,
        linear_calibrate_scores as linear_calibrate_scores,
        linear_calibrate_scores_dev_eval as linear_calibrate_scores_dev_eval,
        linear_calibrate_scores_dev_eval_from_files as linear_calibrate_scores_dev_eval_from_files,
        linear_calibrate_scores_from_files as linear_calibrate_scores_from_files,
        make_objective_function_from_name as make_objective_function_from_name,
        pav_calibrate_scores as pav_calibrate_scores,
        pav_calibrate_scores_dev_eval as pav_calibrate_scores_dev_eval,
        pav_calibration as pav_calibration,
        test_binary_classifier as test_binary_classifier,
        train_linear_calibration as train_linear_calibration,
    )
    from bosaris_py.matlab.classes import (
        Id_Map as Id_Map,
        Quality as Quality,
        Results as Results,
        Seg_Quality as Seg_Quality,
        seg_qual_to_qual as seg_qual_to_qual,
        validate as validate,
    )
    from bosaris_py.matlab.drawing import (
        Det_Plot as Det_Plot,
        Norm_DCF_Plot as Norm_DCF_Plot,
        dcfplot as dcfplot,
        detplot as detplot,
    )
    from bosaris_py.matlab.fusion import (
        AWB_sparse as AWB_sparse,
        apply_linear_fusion_function as apply_linear_fusion_function,
        apply_quality_fusion_function as apply_quality_fusion_function,
        applyQtrans as applyQtrans,
        assemble_scr as assemble_scr,
        linear_and_quality_fusion_dev_eval as linear_and_quality_fusion_dev_eval,
        linear_and_quality_fusion_dev_eval_from_files as linear_and_quality_fusion_dev_eval_from_files,  # noqa: E501
        linear_and_quality_fusion_scores as linear_and_quality_fusion_scores,
        linear_and_quality_fusion_scores_from_files as linear_and_quality_fusion_scores_from_files,
        linear_fuser as linear_fuser,
        linear_fusion_dev_eval as linear_fusion_dev_eval,
        linear_fusion_dev_eval_from_files as linear_fusion_dev_eval_from_files,
        linear_fusion_scores as linear_fusion_scores,
        linear_fusion_scores_from_files as linear_fusion_scores_from_files,
        load_qual_files as load_qual_files,
        load_score_files as load_score_files,
        make_classf_from_key as make_classf_from_key,
        make_initial_fusion_weights as make_initial_fusion_weights,
        qfuser_backoff as qfuser_backoff,
        qfuser_linear as qfuser_linear,
        spliceQ as spliceQ,
        stackQ as stackQ,
        stackScores as stackScores,
        train_linear_fuser as train_linear_fuser,
        train_linear_fusion_function as train_linear_fusion_function,
        train_qfuser as train_qfuser,
        train_quality_fusion_function as train_quality_fusion_function,
    )
    from bosaris_py.matlab.lists import (
        KeyValueMap as KeyValueMap,
        map_mod_names as map_mod_names,
        maplookup as maplookup,
        read_list as read_list,
        read_map as read_map,
        save_list as save_list,
        sprintfmatrix as sprintfmatrix,
    )
    from bosaris_py.matlab.logger import (
        Logger as Logger,
        log_error as log_error,
        log_info as log_info,
        log_warning as log_warning,
        logprint as logprint,
    )
    from bosaris_py.matlab.stats import (
        area_under_rocch as area_under_rocch,
        compute_roc as compute_roc,
        dcf_at_threshold as dcf_at_threshold,
        fast_actDCF as fast_actDCF,
        fast_minDCF as fast_minDCF,
        fastEval as fastEval,
        filter_roc as filter_roc,
        min_cllr as min_cllr,
        neglogsigmoid as neglogsigmoid,
        opt_loglr as opt_loglr,
        pavx as pavx,
        rocch as rocch,
        rocch2eer as rocch2eer,
        rocchdet as rocchdet,
    )
    from bosaris_py.numerics import (
        effective_prior as effective_prior,
        logit as logit,
        probit as probit,
        sigmoid as sigmoid,
    )
    from bosaris_py.trials import Key as Key, Ndx as Ndx, Scores as Scores
