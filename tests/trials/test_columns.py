"""Columns of a key: kept with their trials, models and segments, whatever is done with the key."""

import pickle
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest

from bosaris_py import Key, Ndx, evaluate, read_key, read_trials
from bosaris_py.errors import (
    FileFormatError,
    InvalidInputError,
    MissingTrialsWarning,
    TrialMismatchError,
)
from bosaris_py.files.columns import Factor
from bosaris_py.trials import Scores
from bosaris_py.trials.conditions import as_conditions
from bosaris_py.trials.key import as_column
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
    assert repr(KEY).endswith("2 targets, 2 non-targets, 1 spoofs")
    found = [(row["target"], row["spoof"]) for _, row in KEY.to_frame().iterrows()]
    assert sorted(found) == [(False, False)] * 2 + [(False, True)] + [(True, False)] * 2
    assert "spoof" not in KEY.bona_fide().to_frame()
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
    with pytest.raises(TrialMismatchError, match="'sex' for 1 models"):
        KEY.merge(other)
    # Each trial, model and segment must have a value.
    some = KEY.filter(["a"], ["s", "t"], keep=True).to_ndx()
    bare = Key.from_trials(["a", "a"], ["s", "t"], [True, False])
    assert bare.to_ndx() == some
    for name, column in (
        ("noise", ["x", "y"]),
        ("sex", ("model", ["f"])),
        ("take", ("segment", [1, 2])),
    ):
        with pytest.raises(TrialMismatchError):
            KEY.with_columns_of(bare.with_columns(**{name: column}))


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
    with pytest.raises(FileFormatError):
        Ndx.read(tmp_path / "key.h5")
    key.save(tmp_path / "key.csv")
    # Numbers of text are no whole numbers.
    read = {row[:5] for row in rows_of(read_key(tmp_path / "key.csv"))}
    assert read == {row[:5] for row in ROWS}
    key.save(tmp_path / "key.txt")
    assert Key.read(tmp_path / "key.txt").labels.tolist() == KEY.labels.tolist()
    with pytest.raises(InvalidInputError):
        key.save(tmp_path / "key.mat")


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")
def test_columns_that_divide_one_class_meet_the_whole_other() -> None:
    attacks = ["-", "-", "A1", "A2", "A2"]
    key = Key.from_trials(MODELS, SEGMENTS, [True, True, False, False, False], {"attack": attacks})
    conditions = as_conditions("attack", key)
    assert [note.kind for note in conditions.notes] == [MissingTrialsWarning]
    assert conditions.counts(key) == {"A1": (2, 1), "A2": (2, 2)}
    scores = Scores.from_trials(MODELS, SEGMENTS, [4.0, 1.0, 0.0, 2.0, 5.0])
    with pytest.warns(MissingTrialsWarning):
        found = evaluate(scores, key, conditions=["attack"], prior=0.5)
    assert "A2" in str(found)


@pytest.mark.parametrize(
    "call",
    [
        lambda: KEY.columns.factor("x"),
        lambda: KEY.columns.factor("snr"),
        lambda: KEY.with_columns(**{"": [1, 2, 3, 4, 5]}),
        lambda: KEY.with_columns(x=[1, 2]),
        lambda: KEY.with_columns(x=("model", [1, 2, 3])),
        lambda: KEY.with_columns(x=["a", None, "b", "c", "d"]),
        lambda: Key.from_trials(["a", "a"], ["s", "s"], [True, True], {"x": ["1", "2"]}),
        lambda: Key.from_trials(["a"], ["s"], ["maybe"]),
        *(
            lambda ages=ages: KEY.with_columns(age=("model", ages))
            for ages in ({"a": 1}, {"x": 1}, {}, pd.Series([1, 2, 3], index=["a", "b", "a"]))
        ),
    ],
)
def test_bad_columns(call) -> None:
    with pytest.raises(InvalidInputError):
        call()


@pytest.mark.parametrize("form", [lambda by_id: by_id, pd.Series])
def test_columns_of_ids_go_by_id(form) -> None:
    key = KEY.with_columns(age=("model", form({"c": 9, "b": 3, "a": 2})))
    assert key.columns["age"].tolist() == [2, 3, 2, 3, 2]


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
    column = as_column(given, "x", 2)
    assert (column.dtype, column.tolist()) == (np.dtype(kind), [1, 2])
    assert column.dtype.isnative
    assert not column.flags.writeable


@pytest.mark.parametrize(
    "given", [[True, False], np.array([True, False]), np.array(["b", "a"])], ids=str
)
def test_all_else_is_text(given) -> None:
    column = as_column(given, "x", 2)
    assert sorted(column.levels) == sorted(map(str, given))
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


def test_equal_keys_have_equal_columns() -> None:
    plain = KEY.with_columns(quality=[1.0, np.nan, 2.0, 3.0, 4.0])
    assert plain == KEY.with_columns(quality=[1.0, np.nan, 2.0, 3.0, 4.0])
    for other in ([1.0, 0.0, 2.0, 3.0, 4.0], [1.0, np.nan, 2.0, 3.0, 5.0], list("abcde")):
        assert plain != KEY.with_columns(quality=other)
    assert plain != KEY
    assert plain != KEY.with_columns(other=[1.0, np.nan, 2.0, 3.0, 4.0])
