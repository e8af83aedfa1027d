"""That all names of the toolkit are there, in the table of the documentation, and in use."""

import builtins
import importlib
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bosaris_py.matlab as b
from bosaris_py.matlab.arguments import METHODS

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
VOWELS = ROOT / "examples" / "japanese_vowels"

# The toolkit's public functions and classes, by folder of the toolkit's tree.
PUBLIC = {
    "classes": "Ndx Key Scores Quality Seg_Quality Id_Map Results Logger Det_Plot Norm_DCF_Plot",
    "manip": "seg_qual_to_qual map_mod_names maplookup sprintfmatrix",
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
    "objectives": "make_objective_function_from_name evaluate_objective test_binary_classifier "
    "train_binary_classifier trustregion_newton_cg cllr_obj brier_obj boost_obj mce_obj wmlr_obj "
    "sumsquares_penalty train_system",
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
    "readers of sites": "read_nistsre16_eval read_sre16 read_crimdev read_crimeval "
    "read_NM_Jesusito",
    "elsewhere": "binary_mixture_llh demo_main demo_with_files scal_fuser",
}
NAMES = [name for names in PUBLIC.values() for name in names.split()]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {name: (DOCS / f"{name}.md").read_text() for name in ("bosaris_map", "migration")}


def rows(page: str) -> list[list[str]]:
    """Return the cells of the rows of all tables that have four columns."""
    lines = [line for line in page.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in cells if len(row) == 4 and row[0] not in ("Toolkit", "---")]


def left_out(page: str) -> str:
    """Return what stands in the first column of the last table."""
    lines = page.split("## Names left out")[1].splitlines()
    return "\n".join(line.split(" | ")[0] for line in lines if line.startswith("| `"))


def test_table_and_module_have_the_same_names(pages: dict[str, str]) -> None:
    listed = [row[1].strip("`") for row in rows(pages["bosaris_map"])]
    assert sorted(listed) == sorted(set(b.__all__) - METHODS)
    assert len(listed) == len(set(listed))
    assert all(all(row) for row in rows(pages["bosaris_map"])), "no cell is empty"


def test_native_names_of_the_table_exist(pages: dict[str, str]) -> None:
    homes = [importlib.import_module(f"bosaris_py{name}") for name in ("", ".evaluation")]
    for row in rows(pages["bosaris_map"]):
        for name in re.findall(r"`([A-Z]\w+(?:\.\w+)?)`", row[2]):
            first, _, rest = name.partition(".")
            owner = next((getattr(home, first) for home in homes if hasattr(home, first)), None)
            assert owner is not None, name
            assert not rest or hasattr(owner, rest), name


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_there_or_left_out_with_a_reason(
    name: str, pages: dict[str, str]
) -> None:
    gone = re.search(rf"\b{name}\b(?!\.)", left_out(pages["bosaris_map"])) is not None
    assert (name in b.__all__) != gone


def test_all_names_resolve_and_say_where_they_come_from() -> None:
    assert set(b.__all__) - METHODS <= set(dir(b))
    assert len(b.__all__) == len(set(b.__all__))
    for name in set(b.__all__) - METHODS:
        public = getattr(b, name)
        text = inspect.getdoc(public)
        assert text, name
        if public.__module__.startswith("bosaris_py.matlab") and name != "KeyValueMap":
            words = " ".join(text.split())
            assert re.search(r"Toolkit: .+; native: .+; differs: ", words), name


# What can be read and called of the toolkit's objects, by class.
MEMBERS = {
    "Ndx": "modelset segset trialmask filter merge read save save_hdf5 save_mat save_txt",
    "Key": "modelset segset tar non filter merge to_ndx read save",
    "Scores": "scoremat scoremask modelset segset align_with_ndx get_tar_non get_scores "
    "set_missing_to_value transform filter merge read save",
    "Quality": "modelQ segQ modelset segset hasmodel hasseg scoremask align_with_ndx filter merge "
    "read save",
    "Seg_Quality": "ids values align_with_ids merge read save",
    "Id_Map": "leftids rightids map_left_to_right map_right_to_left filter_on_left "
    "filter_on_right merge read save",
    "Results": "tar non numtar numnon Pmiss Pfa eer pb get_act_dcf get_norm_act_dcf get_min_dcf "
    "get_norm_min_dcf get_prbep get_eer num_tar num_non",
    "Logger": "log add_fid add_filename add_stdout add_stderr rm_fid rm_filename rm_stdout "
    "rm_stderr clear validate",
    "Det_Plot": "set_system set_system_from_scores plot_steppy_det plot_rocch_det "
    "plot_det_from_roc plot_mindcf_point plot_DR30_fa plot_DR30_miss plot_DR30_both "
    "display_legend save_as_pdf make_plot_window_from_string make_plot_window_from_values",
    "Norm_DCF_Plot": "set_system set_system_from_scores plot_dcf_curve_act plot_dcf_curve_min "
    "plot_miss_rate_act plot_miss_rate_min plot_fa_rate_act plot_fa_rate_min plot_DR30_fa "
    "plot_DR30_miss plot_DR30_both plot_operating_point plot_curves display_legend save_as_pdf",
}


@pytest.mark.parametrize("name", MEMBERS)
def test_properties_and_methods_of_classes_are_the_toolkits(name: str) -> None:
    there = set(dir(getattr(b, name)))
    assert there >= set(MEMBERS[name].split())


def test_methods_may_be_called_as_functions() -> None:
    methods = {member for members in MEMBERS.values() for member in members.split()}
    assert methods >= METHODS
    assert not set(dir(builtins)) & METHODS
    results = b.Results([1.0, 3.0], [0.0, 2.0])
    assert b.get_norm_min_dcf(results, 0.5) == results.get_norm_min_dcf(0.5)
    plot = b.Det_Plot("old")
    b.set_system(plot, [1.0, 3.0], [0.0, 2.0], "a")
    b.plot_steppy_det(plot, "b", "steps")
    assert len(plot.ax.lines) == 1


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = b.no_such_name


@pytest.mark.slow
def test_numbers_need_no_matplotlib() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import bosaris_py.matlab as b\n"
        "print(b.eer([1.0, 2.0], [-1.0, 0.0]), len(b.__all__))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split() == ["0.0", str(len(b.__all__))]


def test_the_table_of_functions_with_several_results(pages: dict[str, str]) -> None:
    several: dict[str, set[str]] = {}
    methods = {
        f"{cls}.{name}": getattr(getattr(b, cls), name, None)
        for cls in MEMBERS
        for name in MEMBERS[cls].split()
    }
    functions = {name: getattr(b, name) for name in set(b.__all__) - METHODS}
    for name, function in {**functions, **methods}.items():
        wanted = getattr(function, "__annotations__", {}).get("return", "")
        if isinstance(wanted, str) and wanted.startswith("tuple["):
            # Parts of the tuple itself, not of the types in it.
            parts = re.sub(r"\[[^\[\]]*\]", "", re.sub(r"\[[^\[\]]*\]", "", wanted[6:-1]))
            number = {2: "two", 3: "three", 4: "four", 5: "five"}[parts.count(",") + 1]
            several.setdefault(number, set()).add(name.split(".")[-1])
    several["two"].add("maplookup")
    table = pages["migration"].split("| returns | functions |")[1].split("##")[0]
    for number, names in several.items():
        (row,) = re.findall(rf"^\| {number} \| (.*) \|$", table, re.MULTILINE)
        assert {name.split("(")[0] for name in re.findall(r"`([^`]+)`", row)} == names


def scripts(page: str) -> dict[str, list[str]]:
    """Return the lines of the two scripts of the page, by language."""
    found = {}
    for language in ("matlab", "python"):
        (block,) = re.findall(rf"```{{code-block}} {language}\n(.*?)\n +```", page, re.DOTALL)
        lines = [line.removeprefix("    ") for line in block.splitlines()]
        found[language] = [line for line in lines if line != ":linenos:"]
    return found


def test_the_port_has_the_same_lines(pages: dict[str, str]) -> None:
    found = scripts(pages["migration"])
    assert len(found["matlab"]) == len(found["python"]) > 30
    for original, port in zip(found["matlab"], found["python"], strict=True):
        # Each line calls what its original calls, but for output.
        called = {name for name in b.__all__ if re.search(rf"\b{name}\b", original)}
        assert called == {name for name in b.__all__ if re.search(rf"\b{name}\b", port)}, port


@pytest.mark.slow
def test_the_port_runs(
    pages: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for path in VOWELS.glob("*.h5"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    exec("\n".join(scripts(pages["migration"])["python"]), {})
    said = capsys.readouterr().out
    # As the README of the data has it.
    assert float(re.findall(r"EER (.*)%", said)[0]) == pytest.approx(8.1, abs=0.05)
    actual, least = (float(number) for number in re.findall(r"DCF (.*), at best (.*)", said)[0])
    assert 0.3 < least <= actual < 0.6
    assert b.Scores.read("fused.h5").n_trials == 33_300
    for drawn in ("det.pdf", "dcf.pdf"):
        assert Path(drawn).read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("name", [name for name in b.__all__ if name.endswith("_from_files")])
def test_a_function_of_files_names_its_options(name: str) -> None:
    kinds = {found.kind for found in inspect.signature(getattr(b, name)).parameters.values()}
    assert kinds == {inspect.Parameter.POSITIONAL_OR_KEYWORD}
    options = list(inspect.signature(getattr(b, name)).parameters)[-4:]
    assert options == list(inspect.signature(getattr(b, name[:-11])).parameters)[-4:]
