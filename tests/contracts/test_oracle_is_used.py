"""That no recorded output of the toolkit lies idle: each file is read by a test that is run.

Below stands which test function reads which file. That the function is collected is asked of pytest
itself; that it reads the file is seen in its source and in that of what it uses: fixtures,
helpers and constants of its module, and fixtures of the conftest.py beside and above it.
"""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

TESTS = Path(__file__).resolve().parents[1]
ORACLE = TESTS / "reference" / "oracle"


class Reader(NamedTuple):
    """A test function, the words by which it reads a file, and its parameter for that file.

    In `words` and `parameter` {name} stands for the file's name, {stem} for that without its
    suffix, {set} for what follows the first underscore of the stem.
    """

    module: str
    function: str
    words: str
    parameter: str = ""


# A pattern stands for files that are read by a function with a parameter for each.
READERS = {
    r"stats_\w+\.npz": Reader(
        "matlab/test_stats.py", "test_scalars", 'f"stats_{{request.param}}.npz"', "{set}"
    ),
    r"pavcal_\w+\.npz": Reader(
        "matlab/test_calibration.py", "test_pav_calibration", 'f"{{name}}.npz"', "{stem}"
    ),
    r"calibration_linear\.json": Reader(
        "matlab/test_calibration.py", "test_train_linear_calibration", '"{name}"'
    ),
    r"fusion_linear\.npz": Reader("matlab/test_fusion.py", "test_train_linear_fuser", '"{name}"'),
    r"fusion_helpers\.npz": Reader("matlab/test_fusion.py", "test_recorded_helpers", '"{name}"'),
    r"fusion_quality\.npz": Reader(
        "matlab/test_fusion_quality.py", "test_dev_and_eval", '"{name}"'
    ),
    r"classes\.json": Reader(
        "trials/contracts/test_oracle_classes.py", "test_like_the_toolkit", '"{name}"'
    ),
    r"edge_cases\.json": Reader(
        "matlab/contracts/test_edge_cases.py", "test_like_the_toolkit", '"{name}"'
    ),
    r"plots\.json": Reader("matlab/test_drawing.py", "test_Det_Plot", '"{name}"'),
    r"text_io\.json": Reader(
        "files/test_toolkit.py", "test_text_is_read_like_the_toolkit_does", '"{name}"'
    ),
    r"samples/contents\.json": Reader("files/test_hdf5.py", "test_samples", '"{name}"'),
    r"samples/key_oldformat\.h5": Reader(
        "files/test_hdf5.py", "test_old_key_warns_at_the_line_of_the_caller", '"{name}"'
    ),
    r"samples/scores_single\.h5": Reader(
        "files/test_hdf5.py", "test_single_precision_stays", '"{name}"'
    ),
    r"samples/quality_no_has\.h5": Reader(
        "files/test_hdf5.py", "test_quality_without_has_is_all_true", '"{name}"'
    ),
    r"samples/(?!key_old|scores_single|quality_no)\w+\.h5": Reader(
        "files/test_hdf5.py", "test_samples", "samples / name", "{name}"
    ),
    r"samples/quality_oldstruct\.mat": Reader(
        "files/test_mat.py", "test_struct_of_an_early_release", '"{name}"'
    ),
    r"samples/(?!quality_old)\w+\.mat": Reader(
        "files/test_mat.py", "test_samples", "samples / name", "{name}"
    ),
    r"samples/\w+\.txt": Reader(
        "files/test_toolkit.py", "test_samples", "samples / name", "{name}"
    ),
}
FILES = sorted(
    path.relative_to(ORACLE).as_posix()
    for path in ORACLE.rglob("*")
    if path.is_file() and path.name != "README.md"
)

# Cases of classes.json that are not about the native classes alone: their tests.
IN_THE_VENEER = {
    "Results(scr,key)": "test_Results_of_scores_and_key",
    "effective_prior": "test_effective_prior",
    "maths": "test_maths",
    "map_mod_names": "test_map_mod_names",
    "Id_Map row-vector cells are NOT valid": "test_lists_of_ids_are_neither_rows_nor_columns",
}


@cache
def definitions(path: Path) -> dict[str, list[ast.stmt]]:
    """Return the statements of a module that define each of its names."""
    found: dict[str, list[ast.stmt]] = {}
    for statement in ast.parse(path.read_text()).body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            names = {statement.name}
        else:
            names = {
                node.id
                for node in ast.walk(statement)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
        for name in names:
            found.setdefault(name, []).append(statement)
    return found


def used_source(module: str, function: str) -> str:
    """Return the source of a test function and of all that it uses, fixtures included."""
    path = TESTS / module
    places = [path, *(folder / "conftest.py" for folder in path.parents if folder >= TESTS)]
    places = [place for place in places if place.is_file() and place.is_relative_to(TESTS)]
    seen: set[str] = set()
    waiting, sources = [function], []
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        statements = next((definitions(p)[name] for p in places if name in definitions(p)), [])
        for statement in statements:
            sources.append(ast.unparse(statement))
            for node in ast.walk(statement):
                if isinstance(node, ast.Name):
                    waiting.append(node.id)
                elif isinstance(node, ast.arg):
                    waiting.append(node.arg)
    # ast writes single quotes.
    return "\n".join(sources).replace("'", '"')


@pytest.fixture(scope="module")
def collected() -> set[str]:
    """Return what pytest would run of the readers' modules, without skipping any."""
    modules = sorted({reader.module for reader in READERS.values()} | {"matlab/test_classes.py"})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    command += ["-n0", "--assert=plain", *(f"tests/{module}" for module in modules)]
    done = subprocess.run(
        command, cwd=TESTS.parent, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return {line.removeprefix("tests/") for line in done.stdout.splitlines() if "::" in line}


def is_run(module: str, function: str, parameter: str, collected: set[str]) -> bool:
    """Tell whether a test is collected, with the parameter if there is one, and not skipped."""
    for statement in definitions(TESTS / module).get(function, []):
        marks = getattr(statement, "decorator_list", [])
        if any(re.search(r"skip|xfail", ast.unparse(mark)) for mark in marks):
            return False
    for statement in definitions(TESTS / module).get("pytestmark", []):
        if re.search(r"skip|xfail", ast.unparse(statement)):
            return False
    start = rf"{re.escape(module)}::{re.escape(function)}"
    ends = rf"\[{re.escape(parameter)}(-.*)?\]" if parameter else r"(\[.*\])?"
    return any(re.fullmatch(start + ends, name) for name in collected)


@pytest.mark.parametrize("name", FILES)
def test_is_read(name: str, collected: set[str]) -> None:
    readers = [READERS[pattern] for pattern in READERS if re.fullmatch(pattern, name)]
    assert len(readers) == 1, "a new file needs a test, and an entry above"
    ((module, function, words, parameter),) = readers
    stem = Path(name).stem
    parts = {"name": Path(name).name, "stem": stem, "set": stem.partition("_")[2]}
    assert is_run(module, function, parameter.format(**parts), collected)
    assert words.format(**parts) in used_source(module, function)


def test_no_reader_is_without_files() -> None:
    for pattern in READERS:
        assert any(re.fullmatch(pattern, name) for name in FILES), pattern


def test_cases_left_to_the_toolkits_names_are_taken_up_there(collected: set[str]) -> None:
    left = (TESTS / "trials" / "contracts" / "test_oracle_classes.py").read_text()
    module = "matlab/test_classes.py"
    for case, function in IN_THE_VENEER.items():
        assert f'"{case}"' in left
        assert is_run(module, function, "", collected)
        assert f'CASES["{case}"]' in used_source(module, function)


def test_a_test_that_is_not_run_is_noticed(collected: set[str]) -> None:
    """What a name that pytest passes over, a lost parameter or a lost read would look like."""
    module = "matlab/test_stats.py"
    assert is_run(module, "test_scalars", "gauss", collected)
    assert not is_run(module, "test_scalars", "other", collected)
    assert not is_run(module, "no_test_scalars", "gauss", collected)
    # A helper is not a test, even one that exists.
    assert not is_run(module, "close", "", collected)
    assert not is_run("files/test_mat_octave.py", "test_octave_reads_what_we_write", "", collected)
    assert 'f"stats_{request.param}.npz"' not in used_source(module, "test_refused")
