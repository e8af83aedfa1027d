from bosaris_py.matlab.analysis import (
    analyse_dev_lin_and_qual_fusion as analyse_dev_lin_and_qual_fusion,
)
from bosaris_py.matlab.analysis import analyse_dev_lin_fusion as analyse_dev_lin_fusion
from bosaris_py.matlab.analysis import (
    analyse_eval_lin_and_qual_fusion as analyse_eval_lin_and_qual_fusion,
)
from bosaris_py.matlab.analysis import analyse_eval_lin_fusion as analyse_eval_lin_fusion
from bosaris_py.matlab.analysis import evalAll as evalAll
from bosaris_py.matlab.analysis import kldivergence_of_systems as kldivergence_of_systems
from bosaris_py.matlab.arguments import cllr as cllr
from bosaris_py.matlab.arguments import eer as eer
from bosaris_py.matlab.arguments import prbep as prbep
from bosaris_py.matlab.calibration import evaluate_objective as evaluate_objective
from bosaris_py.matlab.calibration import linear_calibrate_scores as linear_calibrate_scores
from bosaris_py.matlab.calibration import (
    linear_calibrate_scores_dev_eval as linear_calibrate_scores_dev_eval,
)
from bosaris_py.matlab.calibration import (
    linear_calibrate_scores_dev_eval_from_files as linear_calibrate_scores_dev_eval_from_files,
)
from bosaris_py.matlab.calibration import (
    linear_calibrate_scores_from_files as linear_calibrate_scores_from_files,
)
from bosaris_py.matlab.calibration import (
    make_objective_function_from_name as make_objective_function_from_name,
)
from bosaris_py.matlab.calibration import pav_calibrate_scores as pav_calibrate_scores
from bosaris_py.matlab.calibration import (
    pav_calibrate_scores_dev_eval as pav_calibrate_scores_dev_eval,
)
from bosaris_py.matlab.calibration import pav_calibration as pav_calibration
from bosaris_py.matlab.calibration import test_binary_classifier as test_binary_classifier
from bosaris_py.matlab.calibration import train_linear_calibration as train_linear_calibration
from bosaris_py.matlab.classes import Id_Map as Id_Map
from bosaris_py.matlab.classes import Quality as Quality
from bosaris_py.matlab.classes import Results as Results
from bosaris_py.matlab.classes import Seg_Quality as Seg_Quality
from bosaris_py.matlab.classes import seg_qual_to_qual as seg_qual_to_qual
from bosaris_py.matlab.classes import validate as validate
from bosaris_py.matlab.drawing import Det_Plot as Det_Plot
from bosaris_py.matlab.drawing import Norm_DCF_Plot as Norm_DCF_Plot
from bosaris_py.matlab.drawing import dcfplot as dcfplot
from bosaris_py.matlab.drawing import detplot as detplot
from bosaris_py.matlab.fusion import AWB_sparse as AWB_sparse
from bosaris_py.matlab.fusion import apply_linear_fusion_function as apply_linear_fusion_function
from bosaris_py.matlab.fusion import apply_quality_fusion_function as apply_quality_fusion_function
from bosaris_py.matlab.fusion import applyQtrans as applyQtrans
from bosaris_py.matlab.fusion import assemble_scr as assemble_scr
from bosaris_py.matlab.fusion import (
    linear_and_quality_fusion_dev_eval as linear_and_quality_fusion_dev_eval,
)
from bosaris_py.matlab.fusion import (
    linear_and_quality_fusion_dev_eval_from_files as linear_and_quality_fusion_dev_eval_from_files,
)
from bosaris_py.matlab.fusion import (
    linear_and_quality_fusion_scores as linear_and_quality_fusion_scores,
)
from bosaris_py.matlab.fusion import (
    linear_and_quality_fusion_scores_from_files as linear_and_quality_fusion_scores_from_files,
)
from bosaris_py.matlab.fusion import linear_fuser as linear_fuser
from bosaris_py.matlab.fusion import linear_fusion_dev_eval as linear_fusion_dev_eval
from bosaris_py.matlab.fusion import (
    linear_fusion_dev_eval_from_files as linear_fusion_dev_eval_from_files,
)
from bosaris_py.matlab.fusion import linear_fusion_scores as linear_fusion_scores
from bosaris_py.matlab.fusion import (
    linear_fusion_scores_from_files as linear_fusion_scores_from_files,
)
from bosaris_py.matlab.fusion import load_qual_files as load_qual_files
from bosaris_py.matlab.fusion import load_score_files as load_score_files
from bosaris_py.matlab.fusion import make_classf_from_key as make_classf_from_key
from bosaris_py.matlab.fusion import make_initial_fusion_weights as make_initial_fusion_weights
from bosaris_py.matlab.fusion import qfuser_backoff as qfuser_backoff
from bosaris_py.matlab.fusion import qfuser_linear as qfuser_linear
from bosaris_py.matlab.fusion import spliceQ as spliceQ
from bosaris_py.matlab.fusion import stackQ as stackQ
from bosaris_py.matlab.fusion import stackScores as stackScores
from bosaris_py.matlab.fusion import train_linear_fuser as train_linear_fuser
from bosaris_py.matlab.fusion import train_linear_fusion_function as train_linear_fusion_function
from bosaris_py.matlab.fusion import train_qfuser as train_qfuser
from bosaris_py.matlab.fusion import train_quality_fusion_function as train_quality_fusion_function
from bosaris_py.matlab.lists import KeyValueMap as KeyValueMap
from bosaris_py.matlab.lists import map_mod_names as map_mod_names
from bosaris_py.matlab.lists import maplookup as maplookup
from bosaris_py.matlab.lists import read_list as read_list
from bosaris_py.matlab.lists import read_map as read_map
from bosaris_py.matlab.lists import save_list as save_list
from bosaris_py.matlab.lists import sprintfmatrix as sprintfmatrix
from bosaris_py.matlab.logger import Logger as Logger
from bosaris_py.matlab.logger import log_error as log_error
from bosaris_py.matlab.logger import log_info as log_info
from bosaris_py.matlab.logger import log_warning as log_warning
from bosaris_py.matlab.logger import logprint as logprint
from bosaris_py.matlab.stats import area_under_rocch as area_under_rocch
from bosaris_py.matlab.stats import compute_roc as compute_roc
from bosaris_py.matlab.stats import dcf_at_threshold as dcf_at_threshold
from bosaris_py.matlab.stats import fast_actDCF as fast_actDCF
from bosaris_py.matlab.stats import fast_minDCF as fast_minDCF
from bosaris_py.matlab.stats import fastEval as fastEval
from bosaris_py.matlab.stats import filter_roc as filter_roc
from bosaris_py.matlab.stats import min_cllr as min_cllr
from bosaris_py.matlab.stats import neglogsigmoid as neglogsigmoid
from bosaris_py.matlab.stats import opt_loglr as opt_loglr
from bosaris_py.matlab.stats import pavx as pavx
from bosaris_py.matlab.stats import rocch as rocch
from bosaris_py.matlab.stats import rocch2eer as rocch2eer
from bosaris_py.matlab.stats import rocchdet as rocchdet
from bosaris_py.numerics import effective_prior as effective_prior
from bosaris_py.numerics import logit as logit
from bosaris_py.numerics import probit as probit
from bosaris_py.numerics import sigmoid as sigmoid
from bosaris_py.numerics.llr_cost import estimate_target_proportions as estimate_target_proportions
from bosaris_py.trials import Key as Key
from bosaris_py.trials import Ndx as Ndx
from bosaris_py.trials import Scores as Scores
