"""That all names of the toolkit are there, in the table of the documentation, and in use."""

# ruff: noqa: FBT003 -- flags are positional as in the toolkit

import inspect
import operator
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import bosaris_py
import bosaris_py.matlab as b
from bosaris_py.matlab.classes import METHODS

ROOT = Path(__file__).resolve().parents[3]
VOWELS = ROOT / "examples" / "japanese_vowels"

# The toolkit's public functions and classes, by folder of the toolkit's tree.
PUBLIC = {
    "classes": "Ndx Key Scores Quality Seg_Quality Id_Map Results Logger Det_Plot Norm_DCF_Plot",
    "manip": "seg_qual_to_qual map_mod_names maplookup sprintfmatrix validate KeyValueMap",
    "data": "read_list save_list read_map load_score_files load_qual_files "
    "logprint log_info log_warning log_error",
    "maths": "sigmoid logit probit neglogsigmoid",
    "stats": "effective_prior compute_roc filter_roc pavx rocch rocch2eer eer prbep "
    "area_under_rocch fast_actDCF fast_minDCF fastEval dcf_at_threshold cllr opt_loglr min_cllr "
    "estimate_target_proportions kldivergence_of_systems evalAll rocchdet",
    "calibration": "train_linear_calibration linear_calibrate_scores "
    "linear_calibrate_scores_dev_eval linear_calibrate_scores_from_files "
    "linear_calibrate_scores_dev_eval_from_files pav_calibration pav_calibrate_scores "
    "pav_calibrate_scores_dev_eval",
    "objectives": "make_objective_function_from_name evaluate_objective test_binary_classifier",
    "fusion": "stackScores make_classf_from_key assemble_scr linear_fuser "
    "make_initial_fusion_weights train_linear_fuser train_linear_fusion_function "
    "apply_linear_fusion_function linear_fusion_scores linear_fusion_dev_eval "
    "linear_fusion_scores_from_files linear_fusion_dev_eval_from_files stackQ spliceQ "
    "applyQtrans AWB_sparse qfuser_linear qfuser_backoff train_qfuser "
    "train_quality_fusion_function apply_quality_fusion_function "
    "linear_and_quality_fusion_scores linear_and_quality_fusion_dev_eval "
    "linear_and_quality_fusion_scores_from_files linear_and_quality_fusion_dev_eval_from_files "
    "analyse_dev_lin_fusion analyse_dev_lin_and_qual_fusion analyse_eval_lin_fusion "
    "analyse_eval_lin_and_qual_fusion",
    "plotting": "detplot dcfplot",
}
PAGE = (ROOT / "docs" / "matlab.md").read_text(encoding="utf-8")
NAMES = {name for names in PUBLIC.values() for name in names.split()}

# What the toolkit has beside them, and the table says why it is left out.
LEFT_OUT = (
    "train_binary_classifier trustregion_newton_cg cllr_obj brier_obj boost_obj mce_obj wmlr_obj "
    "sumsquares_penalty train_system read_nistsre16_eval read_sre16 read_crimdev read_crimeval "
    "read_NM_Jesusito binary_mixture_llh demo_main demo_with_files scal_fuser"
)

FILES = "read save read_hdf5 read_mat save_hdf5 save_mat"
TRIALS = f"modelset segset filter merge {FILES} read_txt save_txt"
PLOT = (
    "set_system set_system_from_scores set_system_from_results plot_DR30_fa plot_DR30_miss "
    "plot_DR30_both display_legend save_as_pdf show"
)

# What can be read and called of the toolkit's objects, by class.
MEMBERS = {
    "Ndx": f"trialmask {TRIALS}",
    "Key": f"tar non to_ndx {TRIALS}",
    "Scores": "scoremat scoremask align_with_ndx get_tar_non get_scores set_missing_to_value "
    f"transform {TRIALS}",
    "Quality": "modelQ segQ modelset segset hasmodel hasseg scoremask align_with_ndx filter merge "
    f"{FILES}",
    "Seg_Quality": f"ids values align_with_ids merge {FILES} read_txt save_txt",
    "Id_Map": "leftids rightids map_left_to_right map_right_to_left filter_on_left "
    f"filter_on_right merge {FILES} read_txt save_txt",
    "Results": "tar non numtar numnon Pmiss Pfa eer pb get_act_dcf get_norm_act_dcf get_min_dcf "
    "get_norm_min_dcf get_prbep get_eer num_tar num_non",
    "Logger": "log add_fid add_filename add_stdout add_stderr rm_fid rm_filename rm_stdout "
    "rm_stderr clear validate",
    "Det_Plot": f"{PLOT} plot_steppy_det plot_rocch_det plot_det_from_roc plot_mindcf_point "
    "test_this make_plot_window_from_string make_plot_window_from_values",
    "Norm_DCF_Plot": f"{PLOT} plot_dcf_curve_act plot_dcf_curve_min plot_miss_rate_act "
    "plot_miss_rate_min plot_fa_rate_act plot_fa_rate_min plot_operating_point plot_curves",
}


def test_all_names_and_methods_are_there() -> None:
    assert set(b.__all__) == NAMES | METHODS
    for name in NAMES:
        public = getattr(b, name)
        assert set(dir(public)) >= set(MEMBERS.get(name, "").split())
        text = " ".join((inspect.getdoc(public) or "").split())
        if public.__module__.startswith("bosaris_py.matlab") and name != "KeyValueMap":
            assert re.search(r"Toolkit: .+; native: .+; differs: ", text), name
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = b.no_such_name


def test_the_table_has_the_same_names() -> None:
    table, gone = PAGE.split("## Names\n")[1].split("## Names left out")
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`(\w+)`", " ".join(row[0] for row in rows))) == sorted(NAMES)
    assert [name for name in LEFT_OUT.split() if not re.search(rf"\b{name}\b", gone)] == []
    for name in re.findall(r"`(\w+(?:\.\w+)?)`", " ".join(row[1] for row in rows)):
        assert name in {"logging", "objective"} or operator.attrgetter(name)(bosaris_py), name


# Parameters by kind: where the toolkit's orders differ from each other.
ORDERS = {
    "linear_calibrate_scores": "scr key obj_func niters prior addzeros",
    "pav_calibrate_scores": "scr key prior score_offset addzeros",
    "train_linear_calibration": "tar non prior obj_func niters quiet",
    "train_linear_fuser": "scores classf prior cstepHessian quiet niters obj_func",
    "train_linear_fusion_function": "key scores_obj_array prior obj_func niters cstepHessian quiet",
    "linear_fusion_scores": "key scores_obj_array prior niters obj_func cstepHessian quiet",
    "train_qfuser": "scores scrQ key quiet w0 cstepHessian niters obj_func prior",
    "train_quality_fusion_function": "key scores_obj_array quality_obj_array Qtrans wlin prior "
    "obj_func niters cstepHessian quiet",
    "dcf_at_threshold": "tar non prior thresholds normalize",
    "qfuser_backoff": "w scores scrQ ndx backoff",
}


@pytest.mark.parametrize("name", ORDERS)
def test_orders_of_arguments(name: str) -> None:
    assert [*inspect.signature(getattr(b, name)).parameters] == ORDERS[name].split()
    if hasattr(b, from_files := f"{name}_from_files"):
        found = [*inspect.signature(getattr(b, from_files)).parameters]
        assert found[-4:] == ORDERS[name].split()[-4:]


def test_methods_may_be_called_as_functions() -> None:
    methods = {member for members in MEMBERS.values() for member in members.split()}
    assert methods >= METHODS
    results = b.Results([1.0, 3.0], [0.0, 2.0])
    assert b.get_norm_min_dcf(results, 0.5) == results.get_norm_min_dcf(0.5)
    plot = b.Det_Plot("old")
    b.set_system(plot, [1.0, 3.0, 4.0], [0.0, 2.0, -1.0], "a")
    b.plot_steppy_det(plot, "b", "steps")
    assert len(plot.ax.lines) == 1


RNG = np.random.default_rng(2011)
TAR, NON = RNG.normal(1.0, 1.0, 12), RNG.normal(0.0, 1.0, 30)
PLO = np.array([-2.0, 0.0, 1.0])


@pytest.mark.parametrize("shape", [(-1, 1), (1, -1)])
@pytest.mark.parametrize("name", ["eer", "cllr", "rocch", "opt_loglr", "fast_minDCF", "fastEval"])
def test_rows_and_columns_are_vectors(name: str, shape: tuple[int, int]) -> None:
    vectors = [TAR, NON, *{"fast_minDCF": [PLO], "fastEval": [b.sigmoid(PLO)]}.get(name, [])]
    expected = getattr(b, name)(*vectors)
    found = getattr(b, name)(*(vector.reshape(shape) for vector in vectors))
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for one, other in pairs:
        np.testing.assert_array_equal(one, other)
    trained = b.train_linear_calibration(*(v.reshape(shape) for v in (TAR, NON)), 0.5, [], 9, True)
    w = b.train_linear_calibration(TAR, NON, 0.5, [], 1.0, True)[2]
    np.testing.assert_array_equal(trained[2], w)
    labels = np.repeat([1, -1], [12, 30]).reshape(shape)
    fused = b.train_linear_fuser(np.append(TAR, NON)[None], labels, 0.5, False, True, 100, [])[2]
    np.testing.assert_allclose(fused, w, rtol=1e-9)


def script(language: str) -> list[str]:
    """Return the lines of a script of the page."""
    (block,) = re.findall(rf"```{{code-block}} {language}\n(.*?)\n +```", PAGE, re.DOTALL)
    lines = [line.removeprefix("    ") for line in block.splitlines()]
    return [line for line in lines if line != ":linenos:"]


def test_the_port_has_the_same_lines() -> None:
    assert len(script("python")) > 30
    for original, port in zip(script("matlab"), script("python"), strict=True):
        # Each line calls what its original calls, but for output.
        called = {name for name in b.__all__ if re.search(rf"\b{name}\b", original)}
        assert called == {name for name in b.__all__ if re.search(rf"\b{name}\b", port)}, port


@pytest.mark.slow
def test_the_port_runs(tmp_path, monkeypatch, capsys):
    for path in VOWELS.glob("*.h5"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    exec("\n".join(script("python")), {})
    said = capsys.readouterr().out
    # As the README of the data has it.
    assert float(re.findall(r"EER (.*)%", said)[0]) == pytest.approx(8.1, abs=0.05)
    actual, least = (float(number) for number in re.findall(r"DCF (.*), at best (.*)", said)[0])
    assert 0.3 < least <= actual < 0.6
    assert b.Scores.read("fused.h5").n_trials == 33_300
    for drawn in ("det.pdf", "dcf.pdf"):
        assert Path(drawn).read_bytes().startswith(b"%PDF")
