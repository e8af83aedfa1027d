"""Key: construction, filtering, merging."""

import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from bosaris_py import from_frame, read_key
from bosaris_py.errors import DuplicateTrialWarning, InvalidInputError, TrialMismatchError
from bosaris_py.trials import FlatKey, IdMap, Key, Ndx
from tests.strategies import id_lists, keys, names


def labels_of(key: Key) -> dict[tuple[str, str], bool]:
    """Whether each trial is a target, by plain loops."""
    return {
        (model, segment): bool(key.tar[i, j])
        for i, model in enumerate(key.modelset.tolist())
        for j, segment in enumerate(key.segset.tolist())
        if key.tar[i, j] or key.non[i, j]
    }


@given(keys())
def test_counts(key: Key) -> None:
    labels = list(labels_of(key).values())
    assert (key.n_tar, key.n_non) == (labels.count(True), labels.count(False))
    assert key.n_trials == len(labels)
    assert repr(key).endswith(f"segments, {key.n_tar} targets, {key.n_non} non-targets")


@given(keys())
def test_to_ndx(key: Key) -> None:
    assert key.to_ndx() == Ndx(key.modelset, key.segset, key.tar | key.non)


@given(st.dictionaries(st.tuples(names(), names()), st.booleans(), max_size=10), st.data())
def test_from_trials(labels: dict[tuple[str, str], bool], data: st.DataObject) -> None:
    again = data.draw(st.lists(st.sampled_from(sorted(labels)))) if labels else []
    listed = [*labels, *again]
    key = Key.from_trials(
        [m for m, _ in listed],
        [s for _, s in listed],
        np.array([labels[trial] for trial in listed], dtype=bool),
    )
    assert labels_of(key) == labels


@given(keys(), id_lists(), id_lists(), st.booleans())
def test_filter_is_that_of_the_trials(
    key: Key,
    models: list[str],
    segments: list[str],
    keep: bool,  # noqa: FBT001
) -> None:
    filtered = key.filter(models, segments, keep)
    assert filtered.to_ndx() == key.to_ndx().filter(models, segments, keep)
    labels = labels_of(key)
    assert all(labels[trial] == label for trial, label in labels_of(filtered).items())


@given(keys(), keys())
def test_merge(a: Key, b: Key) -> None:
    first, second = labels_of(a), labels_of(b)
    shared = first.keys() & second.keys()
    if all(first[trial] == second[trial] for trial in shared):
        merged = Key.merge(a, b)
        assert labels_of(merged) == first | second
        assert merged == b.merge(a)
    else:
        clashes = sum(first[trial] != second[trial] for trial in shared)
        with pytest.raises(TrialMismatchError, match=f"a target: {clashes} trial"):
            Key.merge(a, b)


@given(keys(min_size=1), st.data())
def test_parts_of_a_key_merge_to_the_key(key: Key, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(key.segset.tolist()), unique=True))
    assume(len(chosen) < key.segset.size)
    kept = key.filter(key.modelset, chosen, keep=True)
    rest = key.filter([], chosen, keep=False)
    assert Key.merge(rest, kept) == Key.merge(key)


# Two recordings of each of three speakers: all with all, and each with itself.
RECORDINGS = ["a1", "a2", "b1", "b2", "c1", "c2"]
SAME = np.kron(np.eye(3), np.ones((2, 2))).astype(bool)
# 6 recordings with themselves, of 12 targets; 15 pairs of two, each in both orders.
ITSELF = r"^6 of 12 targets compare a recording with itself; 6 trials: \(a1, a1\), .*from_speakers"
TWICE = r"; 15 pairs of recordings are two trials, in both orders"


def all_with_all() -> Key:
    with pytest.warns(DuplicateTrialWarning):
        return Key(RECORDINGS, RECORDINGS, SAME, ~SAME)


def test_recordings_with_themselves_are_warned_of() -> None:
    with pytest.warns(DuplicateTrialWarning, match=ITSELF) as caught:
        key = Key(RECORDINGS, RECORDINGS, SAME, ~SAME)
    assert len(caught) == 1
    assert TWICE in str(caught[0].message)
    columns = key.to_frame().reset_index()
    frame = {name: columns[name].astype(str).tolist() for name in ("model", "segment")}
    labels = key.trial_labels()
    with pytest.warns(DuplicateTrialWarning, match=ITSELF):
        Key.from_trials(*frame.values(), labels)
    with pytest.warns(DuplicateTrialWarning, match=ITSELF) as caught:
        FlatKey(*key.ids, *key.trial_positions(), labels)
    assert len(caught) == 1
    with pytest.warns(DuplicateTrialWarning, match=ITSELF) as caught:
        from_frame({**frame, "label": labels, "score": np.arange(36.0)})
    assert len(caught) == 1


@pytest.mark.parametrize("form", ["flat", "dense"])
@pytest.mark.parametrize("ending", ["h5", "mat", "txt"])
def test_readers_warn_of_recordings_with_themselves(tmp_path: Path, form: str, ending: str) -> None:
    key = all_with_all() if ending == "mat" or form == "dense" else all_with_all().to_flat()
    path = tmp_path / f"key.{ending}"
    key.save(path)
    for read in (type(key).read, read_key):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            read(path)
        assert len([one for one in caught if re.search(ITSELF, str(one.message))]) == 1


def test_what_is_made_of_a_key_does_not_warn_again() -> None:
    key = all_with_all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert key.filter(["a1", "a2"], RECORDINGS, keep=True).n_trials == 12
        assert key.to_flat().to_dense() == key.merge(key) == pickle.loads(pickle.dumps(key)) == key


def test_ids_that_are_equal_by_chance_are_no_recordings() -> None:
    """Numbers of models and of segments; and persons, with each as model and as segment."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tar = np.array([[True, False, True], [False, False, False]])
        Key(["0", "1"], ["0", "1", "2"], tar, ~tar)
        Key(["0", "1"], ["0", "1"], np.eye(2, dtype=bool), ~np.eye(2, dtype=bool))
        Key(["m"], ["s"], [[True]], [[False]])
        FlatKey(["m"], ["s"], [0], [0], [True])


def test_pairs_of_recordings_once() -> None:
    key = Key.from_speakers(RECORDINGS, [name[0] for name in RECORDINGS])
    assert (key.n_tar, key.n_non) == (3, 12)
    assert labels_of(key) == {
        (one, other): one[0] == other[0]
        for i, one in enumerate(RECORDINGS)
        for other in RECORDINGS[i + 1 :]
    }
    of = {name: name[0] for name in RECORDINGS}
    people = IdMap(list(of), list(of.values()))
    for speakers in (of, lambda name: name[0], people.map_left_to_right(RECORDINGS)):
        assert Key.from_speakers(RECORDINGS, speakers) == key
    with pytest.raises(InvalidInputError, match="speaker of each of 6 recordings; got 2"):
        Key.from_speakers(RECORDINGS, ["a", "b"])
