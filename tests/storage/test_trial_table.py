"""The table between files and objects."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from bosaris_py.errors import FileFormatError, InvalidInputError, TrialMismatchError
from bosaris_py.storage.factors import Factor
from bosaris_py.storage.formats import TrialTable, read_answers


@pytest.fixture
def table() -> TrialTable:
    return TrialTable.from_trials(
        ["m2", "m1", "m2"],
        ["s1", "s1", "s2"],
        is_target=[True, False, False],
        scores=[1.0, float("nan"), -1.0],
        columns={"gender": Factor.from_values(["f", "m", "f"]), "duration": [1.5, 2.5, 3.5]},
    )


def test_lines_keep_their_order(table: TrialTable) -> None:
    assert table.modelset.tolist() == ["m1", "m2"]
    assert table.model_ids().tolist() == ["m2", "m1", "m2"]
    assert len(table) == 3
    assert "3 lines, 2 models x 2 segments, 1 targets, 2 non-targets, 2 scores" in repr(table)


def test_lines_without_score_are_of_no_class(table: TrialTable) -> None:
    tar, non = table.get_tar_non()
    assert (tar.tolist(), non.tolist()) == ([1.0], [-1.0])


def test_taking_lines_drops_ids_that_are_left(table: TrialTable) -> None:
    taken = table.take([2, 0])
    assert taken.modelset.tolist() == ["m2"]
    assert taken.segment_ids().tolist() == ["s2", "s1"]
    assert taken == table.take([False, False, True]).take([0, 0]).take([0]) or len(taken) == 2
    duration = taken.columns["duration"]
    assert isinstance(duration, np.ndarray)
    assert duration.tolist() == [3.5, 1.5]


def test_equal_whatever_the_order_of_ids(table: TrialTable) -> None:
    other = TrialTable(
        ["m2", "m1"],
        [0, 1, 0],
        ["s2", "s1"],
        [1, 1, 0],
        table.is_target,
        table.scores,
        table.columns,
    )
    assert other == table
    assert table != table.take([0, 1])
    assert table != "table"


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda item: pickle.loads(pickle.dumps(item))])
def test_copies_stay_read_only(table: TrialTable, clone: Any) -> None:
    again = clone(table)
    assert again == table
    for array in (again.models, again.segments, again.is_target, again.scores):
        assert not array.flags.writeable
    with pytest.raises(AttributeError):
        again.scores = None


BAD: list[tuple[str, tuple[Any, ...]]] = [
    ("`modelset` .* each id once", (["m", "m"], [0], ["s"], [0])),
    ("`models` .* positions in `modelset`, from 0 to 0; got 1", (["m"], [1], ["s"], [0])),
    ("`models` .* positions in `modelset`, from 0 to 0; got -1", (["m"], [-1], ["s"], [0])),
    ("`models` .*from_trials takes ids", (["m"], ["m"], ["s"], [0])),
    ("`segments` .* have 1 items", (["m"], [0], ["s"], [0, 0])),
    ("`is_target` .* have 1 items", (["m"], [0], ["s"], [0], [True, False])),
    ("`is_target` must be boolean", (["m"], [0], ["s"], [0], [1])),
    ("`scores` .* have 1 items", (["m"], [0], ["s"], [0], None, [1.0, 2.0])),
    (r"`columns\['x'\]` .* have 1 items", (["m"], [0], ["s"], [0], None, None, {"x": [1.0, 2.0]})),
]


@pytest.mark.parametrize(("message", "arguments"), BAD)
def test_bad_arguments(message: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(InvalidInputError, match=message):
        TrialTable(*arguments)


def test_classes_need_labels_and_scores() -> None:
    with pytest.raises(InvalidInputError, match="no labels"):
        TrialTable.from_trials(["m"], ["s"]).get_tar_non()


def test_answers_are_counted(table: TrialTable, tmp_path: Any) -> None:
    path = tmp_path / "answer.txt"
    path.write_text("1\n2\n")
    with pytest.raises(TrialMismatchError, match="2 scores for a list of 3 trials"):
        read_answers(path, table)
    path.write_text("1\nnan\n3\n")
    with pytest.raises(FileFormatError, match=":2: the score is NaN"):
        read_answers(path, table)
    with pytest.raises(InvalidInputError, match="be a TrialTable"):
        read_answers(path, ["m"])  # type: ignore[arg-type]
