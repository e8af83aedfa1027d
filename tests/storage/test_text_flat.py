"""Text files of lists of trials: the files of matrices, without making a matrix."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from bosaris_py.errors import (
    BosarisWarning,
    DuplicateTrialWarning,
    FileFormatError,
    InvalidInputError,
)
from bosaris_py.trials import FlatKey, FlatNdx, FlatScores, Key, Ndx, Scores
from tests.strategies import keys, ndxs, scores

DENSE_OF = {FlatNdx: Ndx, FlatKey: Key, FlatScores: Scores}

pytestmark = [
    # A file of no trials is read with a warning, which is another test's business.
    pytest.mark.filterwarnings("ignore:.*there is no line"),
    # Models and segments may share names here.
    pytest.mark.filterwarnings("ignore:.*in both orders"),
]

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(content: str) -> Path:
        path = tmp_path / "a.txt"
        path.write_text(content)
        return path

    return write_file


@given(dense=ndxs() | keys() | scores())
def test_both_forms_write_and_read_the_same(
    dense: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    flat = dense.to_flat()
    dense.save(folder / "dense.txt")
    flat.save(folder / "flat.txt")
    # A key's matrix is written targets first, a list in the order of its trials.
    lines = [sorted((folder / f"{form}.txt").read_text().split("\n")) for form in ("dense", "flat")]
    assert lines[0] == lines[1]
    again = type(flat).read(folder / "flat.txt")
    for form in ("dense", "flat"):
        assert type(flat).read(folder / f"{form}.txt") == again
        assert type(dense).read(folder / f"{form}.txt") == again.to_dense()
    # Ids without trials are lost, and ids are sorted; the trials are the same.
    assert again.to_dense().filter(flat.modelset, flat.segset, keep=True) == again.to_dense()
    again.save(folder / "again.txt")
    assert type(flat).read(folder / "again.txt") == again


def test_lines_in_order_of_the_trials(tmp_path: Path) -> None:
    key = FlatKey(["m1", "m2"], ["s1", "s2"], [0, 1, 0], [1, 0, 0], [True, False, True])
    key.save(tmp_path / "key.txt")
    assert (tmp_path / "key.txt").read_text() == "m1 s1 target\nm2 s1 nontarget\nm1 s2 target\n"


def test_numbers(tmp_path: Path) -> None:
    values = FlatScores([0.1, -np.inf, 1e-30], ["m"], ["a", "b", "c"], [0, 0, 0], [0, 1, 2])
    path = tmp_path / "scores.txt"
    values.save(path)
    assert path.read_text() == "m a 0.1\nm b -inf\nm c 1e-30\n"
    assert FlatScores.read(path) == values
    values.save(path, number_format="%.2f")
    assert path.read_text() == "m a 0.10\nm b -inf\nm c 0.00\n"


REFUSED: list[tuple[type, str, str]] = [
    # The last line was cut off.
    (FlatNdx, "m1 s1\nm2\n", ":2: expected 2 columns"),
    (FlatKey, "m1 s1 target\nm2 s1\n", ":2: expected 3 columns"),
    (FlatKey, "m1 s1 target\nm2 s1 nontar", ":2: the label must be target or nontarget"),
    (FlatScores, "m1 s1 0.5\nm2 s1", ":2: expected 3 columns"),
    (FlatScores, "m1 s1 0.5\nm2 s1 -", ":2: '-' is not a number"),
    # Files of another kind.
    (FlatNdx, "m1 s1 target\n", ":1: expected 2 columns"),
    (FlatKey, "m1 s1 0.5\n", ":1: the label must be .* are these scores"),
    (FlatScores, "m1 s1 target\n", ":1: 'target' is not a number"),
    # Lines that contradict each other.
    (
        FlatKey,
        "m1 s1 target\nm2 s1 target\nm1 s1 nontarget\n",
        ":3: trial m1 s1 is nontarget here and target in line 1",
    ),
    (
        FlatScores,
        "m2 s1 0.5\nm1 s1 0.5\nm1 s1 0.25\n",
        ":3: trial m1 s1 is 0.25 here and 0.5 in line 2",
    ),
]


@pytest.mark.parametrize(("cls", "content", "message"), REFUSED)
def test_bad_files_are_refused(cls: Any, content: str, message: str, write: Write) -> None:
    path = write(content)
    with pytest.raises(FileFormatError, match=message):
        cls.read(path)
    # The form with a matrix says the same.
    with pytest.raises(FileFormatError, match=message):
        DENSE_OF[cls].read(path)


@pytest.mark.parametrize(
    ("cls", "line"),
    [(FlatNdx, "m1 s1"), (FlatKey, "m1 s1 target"), (FlatScores, "m1 s1 0.5")],
    ids=str,
)
def test_lines_again_are_left_out(cls: Any, line: str, write: Write) -> None:
    with pytest.warns(DuplicateTrialWarning, match=r"1 trial: \(m1, s1\)"):
        assert cls.read(write(f"{line}\n{line}\n")) == cls.read(write(f"{line}\n"))


@pytest.mark.filterwarnings("default:.*in both orders")
def test_both_orders_are_noticed(write: Write) -> None:
    path = write("a b target\nb a target\nb b target\n")
    with pytest.warns(DuplicateTrialWarning, match=r"1 pair .* both orders.*\(a, b\)"):
        FlatKey.read(path)


@pytest.mark.filterwarnings("default:.*there is no line")
def test_empty_file(write: Write) -> None:
    with pytest.warns(BosarisWarning, match="there is no line"):
        assert FlatKey.read(write("")).n_trials == 0


@pytest.mark.parametrize("name", ["", "m 1", "m\n1"])
def test_ids_that_text_cannot_hold(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with pytest.raises(InvalidInputError, match="`modelset`"):
        FlatNdx([name], ["s"], [0], [0]).save(path)
    with pytest.raises(InvalidInputError, match="NaN for 1 of 2 trials, the first at 1"):
        FlatScores([1.0, np.nan], ["m"], ["s", "t"], [0, 0], [0, 1]).save(path)
    with pytest.raises(InvalidInputError, match="number_format"):
        FlatScores([1.0], ["m"], ["s"], [0], [0]).save(path, number_format="%d %d")
    assert not path.exists()


def test_no_matlab_format(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no MATLAB format; its dense form has one"):
        FlatNdx(["m"], ["s"], [0], [0]).save(tmp_path / "a.mat")


def test_ids_by_the_hundred_thousand_need_no_matrix(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(f"m{i} s{i} {i}.5\n" for i in range(100_000)))
    found = FlatScores.read(path, max_bytes=100_000_000)
    assert (found.modelset.size, found.segset.size, found.n_scores) == (100_000,) * 3
    with pytest.raises(FileFormatError, match="100000 models x 100000 segments"):
        Scores.read(path)
