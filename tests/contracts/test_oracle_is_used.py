"""That no recorded output of the toolkit lies idle: each file is read by a test that is run.

Below stands which test function reads which file. That it does is seen in its module.
"""

import ast
import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ORACLE, NAMED = TESTS / "reference" / "oracle", "samples / name"
HDF5, TOOLKIT = "files/test_hdf5.py", "files/test_writing.py"
CALIBRATION, STATS = "matlab/test_calibration.py", "matlab/test_stats.py"
# Module and function, and the words by which it reads the file where these are not its name.
# A pattern stands for files that are read by a function with a parameter for each.
READERS: dict[str, tuple[str, ...]] = {
    r"stats_\w+\.npz": (STATS, "test_scalars", 'f"stats_{request.param}.npz"'),
    r"pavcal_\w+\.npz": (CALIBRATION, "test_pav_calibration", 'f"{name}.npz"'),
    r"calibration_linear\.json": (CALIBRATION, "test_train_linear_calibration"),
    r"fusion_linear\.npz": ("matlab/test_fusion.py", "test_train_linear_fuser"),
    r"fusion_helpers\.npz": ("matlab/test_fusion.py", "test_recorded_helpers"),
    r"fusion_quality\.npz": ("matlab/test_fusion_quality.py", "test_dev_and_eval"),
    r"classes\.json": ("trials/contracts/test_oracle_classes.py", "test_like_the_toolkit"),
    r"edge_cases\.json": ("matlab/contracts/test_edge_cases.py", "test_like_the_toolkit"),
    r"plots\.json": ("matlab/test_drawing.py", "test_Det_Plot"),
    r"text_io\.json": (TOOLKIT, "test_text_is_read_like_the_toolkit_does"),
    r"samples/contents\.json": (HDF5, "test_samples"),
    r"samples/key_oldformat\.h5": (HDF5, "test_a_key_of_two_masks_warns_at_the_line_of_the_caller"),
    r"samples/(?!key_old)\w+\.h5": (HDF5, "test_samples", NAMED),
    r"samples/\w+\.mat": (HDF5, "test_samples", NAMED),
    r"samples/\w+\.txt": (TOOLKIT, "test_samples", NAMED),
}
PATHS = [path for path in ORACLE.rglob("*") if path.is_file() and path.name != "README.md"]
FILES = sorted(path.relative_to(ORACLE).as_posix() for path in PATHS)

# Cases of classes.json that are not about the native classes alone: their tests.
VENEER = "matlab/test_classes.py"
IN_THE_VENEER = {
    "Results(scr,key)": "test_Results_of_scores_and_key",
    "effective_prior": "test_effective_prior",
    "maths": "test_maths",
    "map_mod_names": "test_map_mod_names",
    "Id_Map row-vector cells are NOT valid": "test_lists_of_ids_are_neither_rows_nor_columns",
}


@cache
def may_be_skipped(module: str, function: str) -> bool:
    """Tell whether a mark of the test or of its module could leave it out."""
    body = ast.parse((TESTS / module).read_text()).body
    (test,) = [each for each in body if getattr(each, "name", "") == function]
    marks = [*test.decorator_list, *(each for each in body if isinstance(each, ast.Assign))]
    return any(re.search(r"\b(skip|skipif|xfail)\(", ast.unparse(mark)) for mark in marks)


def test_each_file_is_read() -> None:
    for name in FILES:
        # A new file needs a test, and an entry above.
        ((module, function, *words),) = [READERS[p] for p in READERS if re.fullmatch(p, name)]
        assert not may_be_skipped(module, function), name
        places = [TESTS / module, (TESTS / module).with_name("conftest.py")]
        (said,) = words or [f'"{Path(name).name}"']
        assert any(path.exists() and said in path.read_text() for path in places), name
    for pattern in READERS:
        assert any(re.fullmatch(pattern, name) for name in FILES), pattern
    left = (TESTS / "trials" / "contracts" / "test_oracle_classes.py").read_text()
    taken_up = (TESTS / VENEER).read_text()
    for case, function in IN_THE_VENEER.items():
        assert f'"{case}"' in left
        assert f'CASES["{case}"]' in taken_up
        assert not may_be_skipped(VENEER, function)
