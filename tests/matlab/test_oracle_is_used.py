"""That no recorded output of the toolkit lies idle: each file is read by a test."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
ORACLE = TESTS / "reference" / "oracle"

# Which test reads a file, and the words by which it does. A pattern stands for files that
# are read in a loop over all there are.
READERS = {
    r"stats_\w+\.npz": ("matlab/test_statistics.py", 'FOLDER.glob("stats_*.npz")'),
    r"pavcal_\w+\.npz": ("matlab/test_calibration.py", 'FOLDER.glob("pavcal_*.npz")'),
    r"calibration_linear\.json": ("matlab/test_calibration.py", '"calibration_linear.json"'),
    r"fusion_linear\.npz": ("matlab/test_fusion.py", '"fusion_linear.npz"'),
    r"fusion_helpers\.npz": ("matlab/test_fusion.py", '"fusion_helpers.npz"'),
    r"fusion_quality\.npz": ("matlab/conftest.py", '"fusion_quality.npz"'),
    r"classes\.json": ("trials/test_oracle_classes.py", '"classes.json"'),
    r"edge_cases\.json": ("matlab/test_edge_cases.py", '"edge_cases.json"'),
    r"plots\.json": ("matlab/test_plots.py", '"plots.json"'),
    r"text_io\.json": ("storage/test_text.py", '"text_io.json"'),
    r"samples/contents\.json": ("storage/conftest.py", '"contents.json"'),
    r"samples/\w+\.h5": ("storage/test_hdf5.py", None),
    r"samples/\w+\.mat": ("storage/test_mat.py", None),
    r"samples/\w+\.txt": ("storage/test_text.py", None),
}
FILES = sorted(
    path.relative_to(ORACLE).as_posix()
    for path in ORACLE.rglob("*")
    if path.is_file() and path.name != "README.md"
)

# Cases of classes.json that are not about the native classes alone.
IN_THE_VENEER = ("Results(scr,key)", "effective_prior", "maths", "map_mod_names")


@pytest.mark.parametrize("name", FILES)
def test_is_read(name: str) -> None:
    readers = [READERS[pattern] for pattern in READERS if re.fullmatch(pattern, name)]
    assert len(readers) == 1, "a new file needs a test, and an entry above"
    ((reader, words),) = readers
    # Samples are read by their names.
    wanted = f'"{Path(name).name}"' if words is None else words
    assert wanted in (TESTS / reader).read_text()


def test_no_reader_is_without_files() -> None:
    for pattern in READERS:
        assert any(re.fullmatch(pattern, name) for name in FILES), pattern


def test_cases_left_to_the_toolkits_names_are_taken_up_there() -> None:
    left = (TESTS / "trials" / "test_oracle_classes.py").read_text()
    taken = (TESTS / "matlab" / "test_classes.py").read_text()
    for case in IN_THE_VENEER:
        assert f'"{case}"' in left
        assert f'CASES["{case}"]' in taken
