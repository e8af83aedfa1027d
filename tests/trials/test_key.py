"""Key: construction, filtering, merging."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from bosaris_py.errors import InvalidInputError, TrialMismatchError
from bosaris_py.trials import IdMap, Key, Ndx
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


# Two recordings of each of three speakers.
RECORDINGS = ["a1", "a2", "b1", "b2", "c1", "c2"]


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
