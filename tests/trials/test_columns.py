"""Columns of a key: kept with their trials, models and segments, whatever is done with the key."""

import pickle
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest

from bosaris_py import Key, Ndx, evaluate, read_key, read_trials
from bosaris_py.errors import (
    ConditionWarning,
    FileFormatError,
    InvalidInputError,
    TrialMismatchError,
)
from bosaris_py.files.columns import Factor
from bosaris_py.trials import Conditions, Scores
from bosaris_py.trials.columns import as_column
from bosaris_py.trials.conditions import as_conditions
from tests.forms import as_list, as_matrix

MODELS, SEGMENTS = ["b", "a", "b", "a", "a"], ["t", "s", "s", "t", "u"]
LABELS = ["target", "target", "nontarget", "spoof", "nontarget"]
KEY = Key.from_trials(
    MODELS,
    SEGMENTS,
    LABELS,
    {
        "noise": ["n1", "n2", "n3", "n4", "n5"],
        "snr": [1.0, 2.0, 3.0, 4.0, 5.0],
        "sex": ("model", {"a": "f", "b": "m", "c": "x"}),
        "take": ("segment", {"s": 1, "t": 2, "u": 3}),
    },
)


def rows_of(key: Key) -> set[tuple[str, ...]]:
    """Return all that is known of each trial, as text."""
    models, segments = key.trial_positions()
    listed = [key.modelset[models], key.segset[segments], key.labels]
    listed += [key.columns.factor(name).values() for name in ("noise", "sex", "take")]
    return set(zip(*(np.asarray(column).astype(str).tolist() for column in listed), strict=True))


ROWS = {
    ("b", "t", "1", "n1", "m", "2"),
    ("a", "s", "1", "n2", "f", "1"),
    ("b", "s", "-1", "n3", "m", "1"),
    ("a", "t", "-2", "n4", "f", "2"),
    ("a", "u", "-1", "n5", "f", "3"),
}


def test_lines_in_any_order_become_columns_of_trials() -> None:
    assert rows_of(KEY) == ROWS
    assert list(KEY.columns) == ["noise", "snr", "sex", "take"]
    assert (KEY.n_tar, KEY.n_non, KEY.n_spoof) == (2, 2, 1)
    np.testing.assert_array_equal(KEY.columns["snr"], [2, 3, 4, 1, 5])
    assert KEY.columns.factor("model").values().tolist() == ["a", "b", "a", "b", "a"]


@pytest.mark.parametrize("form", [lambda key: key, as_list, as_matrix])
def test_what_is_made_of_a_key_keeps_columns(form) -> None:
    key = form(KEY).with_columns_of(KEY)
    assert key == KEY
    assert rows_of(key.filter(["a"], ["s", "t", "u"], keep=True)) == {
        r for r in ROWS if r[0] == "a"
    }
    assert rows_of(key.bona_fide()) == {r for r in ROWS if r[2] != "-2"}
    assert key.bona_fide().n_spoof == 0
    assert pickle.loads(pickle.dumps(key)) == key
    parts = [key.filter([model], [], keep=False) for model in "ab"]
    merged = parts[0].merge(parts[1])
    assert rows_of(merged) == ROWS
    assert list(parts[0].merge(parts[1].with_columns(more=[1, 2, 3])).columns) == list(KEY.columns)


def test_other_values_cannot_be_merged() -> None:
    other = KEY.with_columns(sex=("model", ["f", "f"]))
    with pytest.raises(TrialMismatchError, match="other values in column 'sex' for 1 models"):
        KEY.merge(other)


@pytest.mark.parametrize("form", [as_list, as_matrix])
def test_files(tmp_path: Path, form) -> None:
    key = form(KEY).with_columns_of(KEY)
    key.save(tmp_path / "key.h5")
    assert Key.read(tmp_path / "key.h5") == read_key(tmp_path / "key.h5") == KEY
    assert read_trials(tmp_path / "key.h5") == KEY.to_ndx()
    with h5py.File(tmp_path / "key.h5") as file:
        # What the toolkit reads.
        assert ("trial_mask" in file) == (form is as_matrix)
        if form is as_matrix:
            np.testing.assert_array_equal(
                file["trial_mask"], KEY.tar.astype(int) - KEY.non - KEY.spoof
            )
    with pytest.raises(FileFormatError, match="expected Ndx; the file holds Key"):
        Ndx.read(tmp_path / "key.h5")
    key.save(tmp_path / "key.csv")
    # Numbers of text are no whole numbers.
    read = {row[:5] for row in rows_of(read_key(tmp_path / "key.csv"))}
    assert read == {row[:5] for row in ROWS}
    key.save(tmp_path / "key.txt")
    assert Key.read(tmp_path / "key.txt").labels.tolist() == KEY.labels.tolist()
    with pytest.raises(InvalidInputError, match="where there are spoofs"):
        key.save(tmp_path / "key.mat")


def test_scores_of_two_classes_leave_spoofs_out() -> None:
    scores = Scores.from_trials(MODELS, SEGMENTS, [1.0, 2.0, 3.0, 4.0, 5.0])
    tar, non = scores.get_tar_non(KEY)
    assert (sorted(tar), sorted(non)) == ([1.0, 2.0], [3.0, 5.0])
    assert scores.get_scores(KEY).size == 5


def test_columns_that_divide_one_class_meet_the_whole_other() -> None:
    attacks = ["-", "-", "A1", "A2", "A2"]
    key = Key.from_trials(MODELS, SEGMENTS, [True, True, False, False, False], {"attack": attacks})
    with pytest.warns(ConditionWarning, match="each row has all targets"):
        conditions = as_conditions("attack", key)
    assert conditions.counts(key) == {"A1": (2, 1), "A2": (2, 2)}
    scores = Scores.from_trials(MODELS, SEGMENTS, [4.0, 1.0, 0.0, 2.0, 5.0])
    with pytest.warns(ConditionWarning):
        found = evaluate(scores, key, conditions=["attack"], prior=0.5)
    assert "A2" in str(found)


def test_columns_are_crossed() -> None:
    key = KEY.bona_fide()
    assert as_conditions(["sex", "take"], key).names == ("f, 1", "f, 3", "m, 1", "m, 2")
    assert isinstance(as_conditions({"all": key}, key), Conditions)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: KEY.columns.factor("x"), "be a column .noise, snr, sex, take.; got 'x'"),
        (lambda: KEY.columns.factor("snr"), "name categories; got .* in column 'snr'"),
        (lambda: KEY.with_columns(x=[1, 2]), "for each of the 5 trials; got 2"),
        (lambda: KEY.with_columns(x=("model", {"a": 1})), "none for 1 of 2: b"),
        (lambda: KEY.with_columns(x=("model", [1, 2, 3])), "for each of the 2 models; got 3"),
        (lambda: KEY.with_columns(x=["a", None, "b", "c", "d"]), "a category for each item"),
        (
            lambda: Key.from_trials(["a", "a"], ["s", "s"], [True, True], {"x": ["1", "2"]}),
            "another value in 1 lines of column 'x'",
        ),
        (
            lambda: Key.from_trials(["a"], ["s"], ["maybe"]),
            "target, nontarget and spoof; got 'maybe'",
        ),
    ],
)
def test_bad_columns(call, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_a_factor_is_kept() -> None:
    column = Factor.from_values(list("xyxyx"))
    assert KEY.with_columns(x=column).columns["x"] is column
    with pytest.raises(KeyError):
        KEY.columns["nothing"]
    assert "nothing" not in KEY.columns


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        # float16 is slow, and longer types differ between machines; bytes are put in order.
        (np.array([1, 2], np.float16), np.float32),
        (np.array([1, 2], np.float32), np.float32),
        (np.array([1, 2], ">f8"), np.float64),
        (np.array([1, 2], np.longdouble), np.float64),
        (np.array([1, 2], np.uint8), np.uint8),
        (np.array([1, 2], ">i4"), np.int32),
        ([1, 2], np.int64),
        ((1, 2.0), np.float64),
        ([np.float32(1), 2], np.float64),
    ],
)
def test_numbers_keep_their_type(given, kind: type) -> None:
    column = as_column(given, "x")
    assert (column.dtype, column.tolist()) == (np.dtype(kind), [1, 2])
    assert column.dtype.isnative
    assert not column.flags.writeable


@pytest.mark.parametrize(
    ("given", "levels"),
    [
        ([True, False], ["False", "True"]),
        (np.array([True, False]), ["False", "True"]),
        (np.array(["b", "a"]), ["a", "b"]),
    ],
)
def test_all_else_is_text(given, levels: list[str]) -> None:
    column = as_column(given, "x")
    assert isinstance(column, Factor)
    assert sorted(column.levels) == levels
    assert column.values().tolist() == [str(value) for value in given]


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros((2, 2)),
        np.ma.array([1.0, 2.0], mask=[False, True]),
        {"a": 1},
        "ab",
        # numpy would make text of the number.
        ["b", 2.5],
        pd.Series([1, 2], index=["p", "q"]),
    ],
)
def test_what_is_no_column_is_refused(bad) -> None:
    key = KEY.filter(["b"], ["t", "s"], keep=True)
    assert key.n_trials == 2
    with pytest.raises(InvalidInputError):
        key.with_columns(x=bad)


@pytest.mark.parametrize("form", [lambda by_id: by_id, pd.Series])
def test_columns_of_ids_go_by_id(form) -> None:
    key = KEY.with_columns(age=("model", form({"c": 9, "b": 3, "a": 2})))
    assert key.columns["age"].tolist() == [2, 3, 2, 3, 2]
    for by_id in ({"a": 1}, {"x": 1}, {}):
        with pytest.raises(InvalidInputError):
            KEY.with_columns(age=("model", form(by_id)))
    with pytest.raises(InvalidInputError):
        KEY.with_columns(age=("model", pd.Series([1, 2, 3], index=["a", "b", "a"])))
    with pytest.raises(KeyError):
        KEY.columns["x"]


def test_columns_show_their_names_by_side() -> None:
    assert repr(KEY.columns) == "Columns: noise, snr by trial; sex by model; take by segment"
    assert repr(Key.from_trials(["a"], ["s"], [True]).columns) == "Columns: none"
    assert (len(KEY.columns), len(Key.from_trials(["a"], ["s"], [True]).columns)) == (4, 0)


def test_equal_keys_have_equal_columns() -> None:
    plain = KEY.with_columns(quality=[1.0, np.nan, 2.0, 3.0, 4.0])
    assert plain == KEY.with_columns(quality=[1.0, np.nan, 2.0, 3.0, 4.0])
    for other in ([1.0, 0.0, 2.0, 3.0, 4.0], [1.0, np.nan, 2.0, 3.0, 5.0], list("abcde")):
        assert plain != KEY.with_columns(quality=other)
    assert plain != KEY
    assert plain != KEY.with_columns(other=[1.0, np.nan, 2.0, 3.0, 4.0])
