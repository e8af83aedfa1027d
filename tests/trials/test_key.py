"""Ndx and Key, against sets and dictionaries; columns, kept whatever is done with a key."""

import itertools
import pickle
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from bosaris_py import Key, Ndx, errors, evaluate, read_key, read_trials
from bosaris_py.trials import IdMap, Scores
from bosaris_py.trials.conditions import as_conditions
from bosaris_py.trials.key import as_column
from tests.forms import as_list, as_matrix, contents
from tests.strategies import keys


def test_all_trials_by_default() -> None:
    assert Ndx(["a", "b"], ["s"]).trialmask.tolist() == [[True], [True]]
    for empty in (Ndx([], []), Ndx([], [], []), Ndx([], ["s"])):
        assert empty.n_trials == 0
    mask = np.array([[True, False]])
    ndx = Ndx(["a"], ["s", "t"], mask)
    assert ndx == Ndx(np.array(["a"], dtype="U9"), ("s", "t"), mask.tolist())
    for other in (Ndx(["a"], ["t", "s"], mask), Ndx(["a"], ["s", "t"]), "ndx"):
        assert ndx != other


@given(keys())
def test_counts(key: Key) -> None:
    labels = list(contents(key).values())
    assert (key.n_tar, key.n_non, key.n_trials) == (sum(labels), labels.count(False), len(labels))


def test_pairs_of_recordings_once() -> None:
    recordings = ["a1", "a2", "b1", "b2", "c1", "c2"]
    of = {name: name[0] for name in recordings}
    key = Key.from_speakers(recordings, [*of.values()])
    pairs = itertools.combinations(recordings, 2)
    assert contents(key) == {(one, other): of[one] == of[other] for one, other in pairs}
    people = IdMap(list(of), list(of.values()))
    numbers = pd.Series([*map(ord, of.values())], dtype=object)
    for speakers in (of, lambda name: name[0], people.map_left_to_right(recordings), numbers):
        assert Key.from_speakers(recordings, speakers) == key
    for bad in (["a", "b"], [*"aabbc", None], [*"aabbc", np.nan]):
        with pytest.raises(errors.InvalidInputError):
            Key.from_speakers(recordings, bad)


def test_labels_in_words_and_truth_values() -> None:
    listed = ["a", "b", "c"], ["s", "s", "s"]
    words = Key.from_trials(*listed, ["target", "spoof", "nontarget"])
    assert words.labels.tolist() == [1, -2, -1]
    assert words.counts() == (1, 1)
    assert words.counts(np.array([True, True, False])) == (1, 0)
    none = np.zeros((1, 0), bool)
    two = Key.from_trials(["a", "c"], ["s", "s"], [True, False])
    assert words.bona_fide() == two.merge(Key(["b"], [], none, none))


MODELS, SEGMENTS = ["b", "a", "b", "a", "a"], ["t", "s", "s", "t", "u"]
COLUMNS = {
    "noise": ["n1", "n2", "n3", "n4", "n5"],
    "snr": [1.0, 2.0, 3.0, 4.0, 5.0],
    "sex": ("model", {"a": "f", "b": "m", "c": "x"}),
    "take": ("segment", {"s": 1, "t": 2, "u": 3}),
}
LABELS = ["target", "target", "nontarget", "spoof", "nontarget"]
KEY = Key.from_trials(MODELS, SEGMENTS, LABELS, COLUMNS)


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
    assert "nothing" not in KEY.columns


@pytest.mark.parametrize("form", [as_list, as_matrix])
def test_what_is_made_of_a_key_keeps_columns(form) -> None:
    key = form(KEY).with_columns_of(KEY)
    assert key == KEY
    some = key.filter(["a"], ["s", "t", "u"], keep=True)
    assert rows_of(some) == {row for row in ROWS if row[0] == "a"}
    assert rows_of(key.bona_fide()) == {row for row in ROWS if row[2] != "-2"}
    assert pickle.loads(pickle.dumps(key)) == key
    parts = [key.filter([model], [], keep=False) for model in "ab"]
    assert rows_of(parts[0].merge(parts[1])) == ROWS
    assert list(parts[0].merge(parts[1].with_columns(more=[1, 2, 3])).columns) == list(KEY.columns)


def test_other_values_cannot_be_merged() -> None:
    with pytest.raises(errors.TrialMismatchError, match="'sex' for 1 models"):
        KEY.merge(KEY.with_columns(sex=("model", ["f", "f"])))
    # Each trial, model and segment must have a value.
    bare = Key.from_trials(["a", "a"], ["s", "t"], [True, False])
    for column in (["x", "y"], ("model", ["f"]), ("segment", [1, 2])):
        with pytest.raises(errors.TrialMismatchError):
            KEY.with_columns_of(bare.with_columns(x=column))


def test_equal_keys_have_equal_columns() -> None:
    values = [1.0, np.nan, 2.0, 3.0, 4.0]
    plain = KEY.with_columns(quality=values)
    assert plain == KEY.with_columns(quality=values)
    for other in ([1.0, 0.0, 2.0, 3.0, 4.0], list("abcde")):
        assert plain != KEY.with_columns(quality=other)
    assert KEY != plain != KEY.with_columns(other=values)


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
            seen = KEY.tar.astype(int) - KEY.non - KEY.spoof
            np.testing.assert_array_equal(file["trial_mask"], seen)
    with pytest.raises(errors.FileFormatError):
        Ndx.read(tmp_path / "key.h5")
    key.save(tmp_path / "key.csv")
    # Numbers of text are no whole numbers.
    assert {row[:5] for row in rows_of(read_key(tmp_path / "key.csv"))} == {r[:5] for r in ROWS}
    key.save(tmp_path / "key.txt")
    assert Key.read(tmp_path / "key.txt").labels.tolist() == KEY.labels.tolist()
    with pytest.raises(errors.InvalidInputError):
        key.save(tmp_path / "key.mat")


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")
def test_columns_that_divide_one_class_meet_the_whole_other() -> None:
    attacks = ["-", "-", "A1", "A2", "A2"]
    key = Key.from_trials(MODELS, SEGMENTS, [True, True, False, False, False], {"attack": attacks})
    conditions = as_conditions("attack", key)
    assert [note.kind for note in conditions.notes] == [errors.MissingTrialsWarning]
    assert conditions.counts(key) == {"A1": (2, 1), "A2": (2, 2)}
    scores = Scores.from_trials(MODELS, SEGMENTS, [4.0, 1.0, 0.0, 2.0, 5.0])
    with pytest.warns(errors.MissingTrialsWarning):
        assert "A2" in str(evaluate(scores, key, conditions=["attack"], prior=0.5))


TWO = KEY.filter(["b"], ["t", "s"], keep=True)
AGES = ({"a": 1}, {"x": 1}, {}, pd.Series([1, 2, 3], index=["a", "b", "a"]), [1, 2, 3])
# Of two trials; numpy would make text of the number 2.5.
VALUES = [[1, 2, 3], ["a", None], np.zeros((2, 2)), {"a": 1}, "ab", ["b", 2.5]]
VALUES += [np.ma.array([1.0, 2.0], mask=[False, True]), pd.Series([1, 2], index=["p", "q"])]
REFUSED = [
    *((Key.from_trials, [*"ab"], [*"ss"], x) for x in (["target", "x"], [1, 0], [True])),
    (Key.from_trials, [*"aa"], [*"ss"], [True, False]),
    (Key.from_trials, [*"aa"], [*"ss"], [True, True], {"x": ["1", "2"]}),
    *((Key, ["a"], ["s"], *x) for x in ([[[True]]] * 2, [None, [[True]]], [[[True]], None])),
    *((KEY.columns.factor, name) for name in ("x", "snr")),
    (lambda: KEY.with_columns(**{"": [1, 2, 3, 4, 5]}),),
    *((lambda ages: KEY.with_columns(age=("model", ages)), ages) for ages in AGES),
    *((lambda values: TWO.with_columns(x=values), values) for values in VALUES),
]


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case) -> None:
    with pytest.raises(errors.InvalidInputError):
        case[0](*case[1:])


def test_columns_of_ids_go_by_id() -> None:
    for form in (dict, pd.Series):
        key = KEY.with_columns(age=("model", form({"c": 9, "b": 3, "a": 2})))
        assert key.columns["age"].tolist() == [2, 3, 2, 3, 2]
        with pytest.raises(errors.InvalidInputError, match="none for 1 of 2: b"):
            KEY.with_columns(age=("model", form({"a": 2})))


def test_numbers_keep_their_type_and_all_else_is_text() -> None:
    # float16 is slow, and longer types differ between machines; bytes are put in order.
    kept = {"f2": "f4", "g": "f8", ">i4": "i4"}
    arrays = [(np.array([1, 2], stored), dtype) for stored, dtype in kept.items()]
    for values, dtype in (*arrays, ([1, 2], "i8"), ([np.float32(1), 2], "f8")):
        column = as_column(values, "x", 2)
        assert (column.dtype, column.tolist()) == (np.dtype(dtype), [1, 2])
        assert not column.flags.writeable
    for values in ([True, False], np.array([True, False]), np.array(["b", "a"])):
        column = as_column(values, "x", 2)
        assert column.values().tolist() == [str(value) for value in values]
        assert as_column(column, "x", 2) is column
