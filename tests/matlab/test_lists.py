"""The toolkit's lists and maps of names, and its way to print a matrix."""

from pathlib import Path

import numpy as np
import pytest

import bosaris_py.matlab as b
from bosaris_py.errors import BosarisWarning, FileFormatError, InvalidInputError


def test_lists(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    b.save_list(path, ["b", "a", "ü"])
    assert path.read_bytes() == "b\na\nü\n".encode()
    assert b.read_list(path) == ["b", "a", "ü"]
    path.write_bytes(b"  x\r\n\n\ty z")
    with pytest.warns(BosarisWarning, match="the last line has no end"):
        assert b.read_list(path) == ["x", "y", "z"]
    b.save_list(path, [])
    assert b.read_list(path) == []
    for broken in (["a b"], [""], ["a\n"]):
        with pytest.raises(InvalidInputError, match="names without white space"):
            b.save_list(path, broken)


def test_maps(tmp_path: Path) -> None:
    path = tmp_path / "map.txt"
    path.write_text("a 1\nb\t2\n")
    table = b.read_map(path)
    assert table.keySet.tolist() == ["a", "b"]
    assert table.values.tolist() == ["1", "2"]
    assert b.maplookup(table, ["b", "a", "b"]).tolist() == ["2", "1", "2"]
    path.write_text("a 1\nb\n")
    with pytest.raises(FileFormatError, match=r"map\.txt"):
        b.read_map(path)


def test_maplookup() -> None:
    table = b.KeyValueMap(["a", "b", "a"], [1.5, 2.5, 3.5])
    # The last of equal keys counts, as the toolkit means it.
    values, is_present = b.maplookup(table, ["a", "c", "b"], nargout=2)
    assert values.tolist() == [3.5, 2.5]
    assert is_present.tolist() == [True, False, True]
    with pytest.raises(InvalidInputError, match="1 of keys not in map: c"):
        b.maplookup(table, ["a", "c"])
    for wrong in (
        lambda: b.maplookup(table, [1, 2]),
        lambda: b.maplookup(table, ["a"], nargout=3),
        lambda: b.KeyValueMap(["a", "b"], [1]),
        lambda: b.maplookup([("a", "b")], ["a"]),
    ):
        with pytest.raises(InvalidInputError):
            wrong()
    assert b.maplookup(b.Id_Map(["x"], ["y"]), ["x"]).tolist() == ["y"]
    assert b.maplookup({"keySet": ["x"], "values": [7]}, ["x"]).tolist() == [7]


@pytest.mark.parametrize(
    ("matrix", "text"),
    [
        # Widths by the rule that gives the toolkit's only recorded table.
        ([[1, 10], [100, 5]], "  1   10\n100    5\n"),
        # As octave-cli 7.3 writes them.
        ([[-1, 2]], "-1  2\n"),
        ([[0.5]], "0.5\n"),
        ([[0.0]], "0\n"),
        ([0.25, 12.5], "0.25         12.5\n"),
        ([[np.nan, 1.0]], "NaN    1\n"),
        ([[np.inf, 1.5], [2.0, 3.0]], "Inf         1.5\n  2           3\n"),
        ([[-np.inf]], "-Inf\n"),
    ],
)
def test_sprintfmatrix(matrix: list[list[float]], text: str) -> None:
    assert b.sprintfmatrix(matrix) == text


def test_sprintfmatrix_needs_a_name_for_each_row() -> None:
    assert b.sprintfmatrix([[1], [2]], ["a", "bc"]) == "a: 1\nbc: 2\n"
    with pytest.raises(InvalidInputError, match="one name for each of the 2 rows"):
        b.sprintfmatrix([[1], [2]], ["a"])
