"""Ndx and Key: construction, filtering, merging; against sets and dictionaries."""

import numpy as np
import pytest
from hypothesis import given

from bosaris_py.errors import InvalidInputError
from bosaris_py.trials import IdMap, Key, Ndx
from tests.strategies import keys


def test_all_trials_by_default() -> None:
    assert Ndx(["a", "b"], ["s"]).trialmask.tolist() == [[True], [True]]
    for empty in (Ndx([], []), Ndx([], [], []), Ndx([], ["s"])):
        assert empty.n_trials == 0
    assert Ndx([], ["s"]).trialmask.shape == (0, 1)


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
    assert (key.n_tar, key.n_non, key.n_trials) == (sum(labels), labels.count(False), len(labels))
    assert repr(key).endswith(f"segments, {key.n_tar} targets, {key.n_non} non-targets")
    assert key.to_ndx() == Ndx(key.modelset, key.segset, key.tar | key.non)


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
    for bad in (["a", "b"], [*"aabbc", None], [*"aabbc", np.nan]):
        with pytest.raises(InvalidInputError):
            Key.from_speakers(RECORDINGS, bad)


def test_labels_in_words_and_truth_values() -> None:
    listed = ["a", "b", "c"], ["s", "s", "s"]
    words = Key.from_trials(*listed, ["target", "spoof", "nontarget"])
    assert words.labels.tolist() == [1, -2, -1]
    assert words.counts() == (1, 1)
    assert words.counts(np.array([True, True, False])) == (1, 0)
    assert words.bona_fide() == Key.from_trials(["a", "c"], ["s", "s"], [True, False]).merge(
        Key(["b"], [], np.zeros((1, 0), bool), np.zeros((1, 0), bool))
    )
    for call in (
        *(
            lambda labels=labels: Key.from_trials(*listed, labels)
            for labels in (["target", "spoof", "x"], [1, 0, 0], [True, False])
        ),
        lambda: Key.from_trials(["a", "a"], ["s", "s"], [True, False]),
        lambda: Key(["a"], ["s"], [[True]], [[True]]),
        lambda: Key(["m"], ["a"], None, [[True]]),
        lambda: Key(["m"], ["a"], [[True]], None),
    ):
        with pytest.raises(InvalidInputError):
            call()
