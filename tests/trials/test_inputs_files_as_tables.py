"""Keys, scores and metadata from text files, in either form."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import (
    DuplicateTrialWarning,
    FileFormatError,
    InvalidInputError,
    MissingTrialsWarning,
)
from bosaris_py.files.writing import write_table
from bosaris_py.trials import (
    Key,
    Ndx,
    Scores,
    compare_trials,
    read_key,
    read_scores,
    read_trials,
    to_table,
)
from tests.forms import as_list

Write = Callable[[str], Path]

NIST_KEY = """modelid\tsegmentid\tside\ttargettype\tgender
m2\ts1\ta\ttarget\tf
m1\ts2\ta\tnontarget\tm
m1\ts1\tb\ttarget\tm
"""
SCORES = "m2 s1 3.5\nm1 s2 -1.0\nm1 s1 0.5\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(content: str) -> Path:
        path = tmp_path / "a.txt"
        path.write_text(content)
        return path

    return write_file


def test_key_and_metadata_in_one_order(write: Write) -> None:
    key = read_key(write(NIST_KEY))
    # Column by column: (m1, s1), (m2, s1), (m1, s2).
    assert key.is_target.tolist() == [True, True, False]
    assert key.columns.factor("gender").values().tolist() == ["m", "f", "m"]
    assert key.columns.factor("side").values().tolist() == ["b", "a", "a"]
    tar, non = read_scores(write(SCORES)).get_tar_non(key)
    assert (tar.tolist(), non.tolist()) == ([0.5, 3.5], [-1.0])


def test_trials_without_answers(write: Write) -> None:
    ndx = read_trials(write(NIST_KEY))
    assert isinstance(ndx, Ndx)
    assert ndx.segset.tolist() == ["s1", "s2"]


def test_lines_repeated_with_the_same_content(write: Write) -> None:
    with pytest.warns(DuplicateTrialWarning, match=r"left out: 1 trial: \(m1, s1\)"):
        key = read_key(write(NIST_KEY + "m1\ts1\tb\ttarget\tm\n"))
    assert key.n_trials == 3
    with pytest.warns(DuplicateTrialWarning):
        scores = read_scores(write(SCORES + "m1 s2 -1\n"))
    assert not compare_trials(scores, key).problems


BAD: list[tuple[Callable[..., Any], str, str]] = [
    (read_key, NIST_KEY + "m1\ts1\tb\tnontarget\tm\n", "with another label"),
    (read_key, NIST_KEY + "m1\ts1\ta\ttarget\tm\n", "with another side"),
    (read_trials, NIST_KEY + "m1\ts1\tb\ttarget\tf\n", "with another gender"),
    (read_scores, SCORES + "m1 s1 0.25\n", r"with another score: 1 trial: \(m1, s1\)"),
    (read_key, SCORES, "has no labels, so it is no key"),
    (read_scores, "1 a b\n0 a c\n", "has no scores; is it a key.* as in score=NAME. Use `columns`"),
]


@pytest.mark.parametrize(("read", "content", "message"), BAD)
def test_bad_files(read: Callable[..., Any], content: str, message: str, write: Write) -> None:
    with pytest.raises(FileFormatError, match=message):
        read(write(content))


def test_lines_without_score(write: Write) -> None:
    path = write("m1 s1 1.5\nm2 s1\n")
    with pytest.warns(MissingTrialsWarning, match="1 of 2 lines"):
        scores = read_scores(path)
    assert scores.modelset.tolist() == ["m1"]


def test_scores_beside_labels(write: Write) -> None:
    path = write("m1 s1 1.5 target\nm1 s2 -0.5 nontarget\n")
    tar, non = read_scores(path).get_tar_non(read_key(path))
    assert (tar.tolist(), non.tolist()) == ([1.5], [-0.5])
    spoofed = write("m1 s1 1.5 target\nm1 s2 -0.5 spoof\n")
    assert isinstance(read_scores(spoofed), Scores)


@given(
    cells=st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans(), st.floats(-9, 9)),
        min_size=1,
        unique_by=lambda cell: cell[:2],
    ),
    format=st.sampled_from(["wespeaker-scores", "speechbrain-scores", "hyperion"]),
)
def test_written_and_read_back(
    cells: list[tuple[int, int, bool, float]], format: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    models = [f"m{cell[0]}" for cell in cells]
    # Segments of other names: no pair is listed in both orders.
    segments = [f"s{cell[1]}" for cell in cells]
    key = Key.from_trials(models, segments, [cell[2] for cell in cells])
    scores = Scores.from_trials(models, segments, [cell[3] for cell in cells])
    path = tmp_path_factory.mktemp("table") / "a.txt"
    write_table(path, to_table(key, scores=scores), format)
    assert read_key(path, format=format) == key
    assert read_scores(path, format=format) == scores


def test_table_with_metadata_and_gaps() -> None:
    key = Key(["m"], ["s", "t"], [[True, False]], [[False, True]])
    key = key.with_columns(duration=("segment", [1.5, 3.0]))
    scores = Scores([[2.0, 0.0]], ["m"], ["s", "t"], [[True, False]])
    with pytest.warns(MissingTrialsWarning):
        table = to_table(key, scores=scores)
    np.testing.assert_array_equal(table.scores, [2.0, np.nan])
    duration = table.columns["duration"]
    assert isinstance(duration, np.ndarray)
    assert duration.tolist() == [1.5, 3.0]
    assert len(to_table(scores=scores)) == 1
    with pytest.raises(InvalidInputError, match="`ndx` must be"):
        to_table()


class TestComparison:
    def test_counts_and_examples(self) -> None:
        key = Key.from_trials(["m1", "m1", "m2"], ["s1", "s2", "s1"], [True, True, False])
        scores = Scores.from_trials(["m1", "m3"], ["s1", "s1"], [1.0, 2.0])
        for some_key in (key, as_list(key)):
            for some_scores in (scores, as_list(scores)):
                found = compare_trials(some_scores, some_key)
                assert found.n_common == 1
                assert (found.n_tar_missing, found.n_non_missing) == (1, 1)
                assert found.missing == (("m2", "s1"), ("m1", "s2"))
                assert (found.n_unknown, found.unknown) == (1, (("m3", "s1"),))
                assert "2 have none (1 targets, 1 non-targets): (m2, s1), (m1, s2)." in str(found)

    def test_either_side_alone_may_have_more(self) -> None:
        all_trials = (["m1", "m1", "m2"], ["s1", "s2", "s1"])
        key = Key.from_trials(*all_trials, [True, True, False])
        fewer = Key.from_trials(["m1", "m1"], ["s1", "s2"], [True, True])
        scores = Scores.from_trials(*all_trials, [1.0, 2.0, 3.0])
        found = compare_trials(scores, fewer)
        assert (found.n_missing, found.n_unknown) == (0, 1)
        found = compare_trials(scores.filter(["m1"], ["s1", "s2"], keep=True), key)
        assert (found.n_missing, found.n_unknown) == (1, 0)

    def test_equal(self) -> None:
        key = Key.from_trials(["m1"], ["s1"], [True])
        found = compare_trials(Scores([[1.0]], ["m1"], ["s1"]), key)
        assert not found.problems
        assert str(found) == "1 trials of the key have a score."

    def test_arguments(self) -> None:
        key = Key.from_trials(["m1"], ["s1"], [True])
        with pytest.raises(InvalidInputError, match="`scores`"):
            compare_trials(key, key)  # type: ignore[arg-type]
