"""Ndx and Key: construction, filtering, merging; against sets and dictionaries."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from bosaris_py.errors import InvalidInputError, TrialMismatchError
from bosaris_py.trials import IdMap, Key, Ndx
from tests.strategies import id_lists, keys, names, ndxs


def trials_of(ndx: Ndx) -> set[tuple[str, str]]:
    """The trials as pairs of ids, by plain loops."""
    return {
        (model, segment)
        for i, model in enumerate(ndx.modelset.tolist())
        for j, segment in enumerate(ndx.segset.tolist())
        if ndx.trialmask[i, j]
    }


def test_all_trials_by_default() -> None:
    assert Ndx(["a", "b"], ["s"]).trialmask.tolist() == [[True], [True]]


def test_empty_ndx() -> None:
    for empty in (Ndx([], []), Ndx([], [], []), Ndx([], ["s"])):
        assert empty.n_trials == 0
    assert Ndx([], ["s"]).trialmask.shape == (0, 1)


@given(st.lists(st.tuples(names(), names()), max_size=10))
def test_ndx_from_trials(pairs: list[tuple[str, str]]) -> None:
    ndx = Ndx.from_trials([m for m, _ in pairs], [s for _, s in pairs])
    assert trials_of(ndx) == set(pairs)
    assert ndx.modelset.tolist() == sorted({m for m, _ in pairs})
    assert ndx.segset.tolist() == sorted({s for _, s in pairs})


@given(ndxs(), id_lists(), id_lists(), st.booleans())
def test_filter_of_an_ndx(ndx: Ndx, models: list[str], segments: list[str], keep: bool) -> None:  # noqa: FBT001
    filtered = ndx.filter(models, segments, keep)
    expected = {
        (m, s) for m, s in trials_of(ndx) if (m in models) == keep and (s in segments) == keep
    }
    assert trials_of(filtered) == expected
    assert filtered.modelset.tolist() == [m for m in ndx.modelset if (m in models) == keep]
    assert filtered.segset.tolist() == [s for s in ndx.segset if (s in segments) == keep]


@given(ndxs(), id_lists())
def test_what_is_kept_and_what_is_not_make_the_whole(ndx: Ndx, models: list[str]) -> None:
    kept = ndx.filter(models, ndx.segset, keep=True)
    rest = ndx.filter(models, [], keep=False)
    assert kept.modelset.size + rest.modelset.size == ndx.modelset.size
    assert Ndx.merge(kept, rest) == Ndx.merge(ndx)


@given(ndxs(), ndxs(), ndxs())
def test_merge_of_ndxs(a: Ndx, b: Ndx, c: Ndx) -> None:
    merged = Ndx.merge(a, b, c)
    assert trials_of(merged) == trials_of(a) | trials_of(b) | trials_of(c)
    assert merged == Ndx.merge(c, a, b)
    assert merged == Ndx.merge(Ndx.merge(a, b), c) == a.merge(b.merge(c))
    assert merged.modelset.tolist() == sorted({*a.modelset, *b.modelset, *c.modelset})


def test_equality_of_ndxs_is_of_content() -> None:
    mask = np.array([[True, False]])
    ndx = Ndx(["a"], ["s", "t"], mask)
    assert ndx == Ndx(np.array(["a"], dtype="U9"), ("s", "t"), mask.tolist())
    assert ndx != Ndx(["a"], ["t", "s"], mask)
    assert ndx != Ndx(["a"], ["s", "t"])
    assert ndx != "ndx"


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
        with pytest.raises(TrialMismatchError, match=f" {clashes} trial"):
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
    with pytest.raises(InvalidInputError):
        Key.from_speakers(RECORDINGS, ["a", "b"])


def test_labels_in_words_and_truth_values() -> None:
    listed = ["a", "b", "c"], ["s", "s", "s"]
    words = Key.from_trials(*listed, ["target", "spoof", "nontarget"])
    assert words.labels.tolist() == [1, -2, -1]
    assert words.counts() == (1, 1)
    assert words.counts(np.array([True, True, False])) == (1, 0)
    assert words.bona_fide() == Key.from_trials(["a", "c"], ["s", "s"], [True, False]).merge(
        Key(["b"], [], np.zeros((1, 0), bool), np.zeros((1, 0), bool))
    )
    for labels in (["target", "spoof", "x"], [1, 0, 0], [True, False]):
        with pytest.raises(InvalidInputError):
            Key.from_trials(*listed, labels)
    with pytest.raises(InvalidInputError):
        Key.from_trials(["a", "a"], ["s", "s"], [True, False])
    with pytest.raises(InvalidInputError):
        Key(["a"], ["s"], [[True]], [[True]])


def test_masks_and_vectors_that_are_missing_or_short_are_refused() -> None:
    key = Key(["m"], ["a", "b"], [[True, False]], [[False, True]])
    for call in (
        lambda: key.counts(np.array([True])),
        lambda: Key(["m"], ["a"], None, [[True]]),  # type: ignore[arg-type]
        lambda: Key(["m"], ["a"], [[True]], None),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidInputError):
            call()
