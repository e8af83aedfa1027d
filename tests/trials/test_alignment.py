"""Ids in other lists, against a dictionary; matrices cell by cell; ids that do not meet."""

import argparse
import re
import shlex
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bosaris_py as bp
from bosaris_py.cli.options import in_options
from bosaris_py.errors import InvalidInputError, MissingTrialsWarning, TrialMismatchError
from bosaris_py.trials import alignment as align
from bosaris_py.trials.alignment import Frame
from tests.strategies import names

LISTS = st.lists(names(), max_size=8)


def array(ids: list[str]) -> np.ndarray:
    return np.array(ids, dtype=np.str_)


@given(own=LISTS, wanted=LISTS)
def test_ids_are_found_at_their_last_place(own: list[str], wanted: list[str]) -> None:
    table = {name: place for place, name in enumerate(own)}
    expected = [table.get(name, -1) for name in wanted]
    assert align.places_of(array(wanted), array(own)).tolist() == expected
    frame = align.frame_of((array(wanted), array(own)), (array(own), array(own)))
    assert frame.cols is None
    assert (frame.rows is None) == (own == wanted)
    # A prefix must not match: numpy pads strings to a common width.
    known, asked = array(["model_1", "model_10"]), array(["model_10", "model", "model_100"])
    assert align.places_of(asked, known).tolist() == [1, -1, -1]
    assert align.inverse(np.array([2, -1, 0]), 4).tolist() == [2, -1, 0, -1]


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, Frame]:
    """A source with cells of 0, and a frame."""
    shape = draw(st.tuples(st.integers(0, 7), st.integers(0, 7)))
    numbers = np.arange(shape[0] * shape[1]) % 5
    values = np.array(numbers.reshape(shape), order=draw(st.sampled_from("CF")))
    places = (
        st.none() | st.lists(st.integers(-1, n - 1), max_size=8).map(lambda p: np.array(p, int))
        for n in shape
    )
    rows, cols = map(draw, places)
    sizes = (n if at is None else at.size for at, n in zip((rows, cols), shape, strict=True))
    return values, Frame(rows, cols, tuple(sizes))


def naive_take(source: np.ndarray, frame: Frame) -> np.ndarray:
    """Cell by cell; what the source lacks is 0."""
    out = np.zeros(frame.shape, dtype=source.dtype)
    for i, j in np.ndindex(*frame.shape):
        row = i if frame.rows is None else frame.rows[i]
        col = j if frame.cols is None else frame.cols[j]
        if row >= 0 and col >= 0:
            out[i, j] = source[row, col]
    return out


@given(cases())
def test_a_frame_moves_every_cell(case: tuple[np.ndarray, Frame]) -> None:
    values, frame = case
    for source in (values, values > 1):
        taken = frame.take(source)
        np.testing.assert_array_equal(taken, naive_take(source, frame), strict=True)
        assert not frame.is_identity or taken is source
    valid, found = naive_take(np.ones(values.shape, bool), frame), frame.take_valid(None)
    assert valid.all() if found is None else np.array_equal(found, valid)
    assert np.array_equal(frame.take_valid(values > 1), naive_take(values > 1, frame))


@pytest.mark.parametrize("tile", [3, 128])
@given(case=cases())
def test_vectors_come_column_by_column_and_go_back(tile: int, case) -> None:
    values, _ = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(align, "_TILE", tile)
        for mask in (None, values > 1, np.asfortranarray(values > 1)):
            everywhere = np.ones(values.shape, bool) if mask is None else mask
            cells = [(i, j) for j in range(values.shape[1]) for i in range(values.shape[0])]
            vector = align.by_columns(values, mask)
            assert vector.tolist() == [values[at] for at in cells if everywhere[at]]
            whole = np.where(everywhere, values, 0)
            for at in (mask, np.flatnonzero(everywhere.T)):
                np.testing.assert_array_equal(align.from_columns(vector, at, values.shape), whole)


def test_ids_occur_once_and_matrices_have_their_shape() -> None:
    assert bp.Scores([], [], ["s"]).shape == (0, 1)
    assert bp.Ndx(["m"], [], []).cells is None
    ids = ["a", "b"], ["s", "t", "u"]
    for bad in ([], [[True, True]], [True] * 6, np.ones((3, 2), bool)):
        for call in (lambda x: bp.Ndx(*ids, x), lambda x: bp.Scores(np.array(x, float), *ids)):
            with pytest.raises(InvalidInputError):
                call(bad)
    for twice in ((["a", "a"], ["s"]), (["a"], ["s", "s"])):
        with pytest.raises(InvalidInputError):
            bp.Ndx(*twice)
    mask = np.ones((2, 3), dtype=bool)
    assert bp.Ndx(*ids).cells is bp.Ndx(*ids, mask).cells is None
    mask[1, 2] = False
    assert bp.Ndx(*ids, mask).cells.tolist() == mask.tolist()


# Ids that do not meet

Change = Callable[[str], str]
IDS = [f"id{i % 7}/vid{i % 3}/{i:05}" for i in range(40)]
SAME = np.eye(20, dtype=bool)

# What makes the ids of the key and of the scores, and the change that is proposed.
DIFFER: list[tuple[Change, Change, str]] = [
    (lambda x: x, lambda x: f"{x}.wav", "strip-suffix=.wav"),
    (lambda x: f"/vox/{x}.wav", lambda x: x, "strip-prefix=/vox/,strip-suffix=.wav"),
    (lambda x: x[-5:], lambda x: x, "basename"),
    (lambda x: f"{x[-5:]}.wav", lambda x: f"{x}.flac", "basename,strip-suffix"),
    (lambda x: x, lambda x: x.replace("/", "-"), "s|/|-|g"),
    (lambda x: x.replace("/", "_"), lambda x: f"{x}.wav", "s|_|/|g,strip-suffix"),
    (lambda x: f"spk-{x}", lambda x: f"{x}.wav", "strip-suffix,strip-prefix=spk-"),
    (lambda x: f"enrol_{x}", lambda x: f"test_{x}", "strip-prefix=enrol_,strip-prefix=test_"),
    (lambda x: x.replace("/", "."), lambda x: x.replace("/", "|"), r"s/\./|/g"),
    (lambda x: x.replace("/", "\\"), lambda x: f"c:/{x}", "basename"),
    (lambda x: f"b'{x}'", lambda x: x, "strip-prefix=b',strip-suffix='"),
    (lambda x: f"u{x[-5:]}", lambda x: f"u{int(x[-5:])}", r"s/(?<!\d)0+(?=\d)//g"),
]


def disjoint(of_key: Change, of_scores: Change) -> tuple[bp.Scores, bp.Key, TrialMismatchError]:
    key = bp.Key(IDS[:20], IDS[20:], SAME, ~SAME).rename(of_key, of_key)
    scores = bp.Scores(SAME.astype(float), IDS[:20], IDS[20:]).rename(of_scores, of_scores)
    with pytest.raises(TrialMismatchError) as caught:
        bp.Results.from_scores(scores, key)
    return scores, key, caught.value


@pytest.mark.parametrize(("of_key", "of_scores", "change"), DIFFER, ids=[row[2] for row in DIFFER])
def test_the_call_and_the_option_make_ids_equal(of_key, of_scores, change) -> None:
    scores, key, error = disjoint(of_key, of_scores)
    told = in_options(str(error), argparse.Namespace())
    assert shlex.split(told.partition(" Use ")[2].removesuffix(".")) == ["--ids", change]
    names = {"scores": scores, "key": key}
    exec(re.search(r"Write (.*)\.$", str(error))[1], names)
    assert bp.Results.from_scores(names["scores"], names["key"]).eer == 0.0


def test_ids_of_which_few_meet() -> None:
    """One trial in ten has a score; all have one as soon as the folder is off."""
    ids = [name if number % 10 == 0 else f"wav/{name}" for number, name in enumerate(IDS)]
    key = bp.Key(IDS[:20], IDS[20:], SAME, ~SAME)
    scores = bp.Scores(np.where(SAME, 1.0, 0.0), ids[:20], ids[20:])
    with pytest.raises(TrialMismatchError, match=r"rename\('strip-prefix=wav/'"):
        bp.evaluate({"a": scores}, key)
    # Half of the segments meet, then all.
    ids = [*IDS[:20], *(f"{name}{'.wav' * (number % 2)}" for number, name in enumerate(IDS[20:]))]
    with pytest.warns(MissingTrialsWarning, match=r"More trials meet .*'strip-suffix=.wav'"):
        bp.evaluate({"a": bp.Scores(scores.scoremat, ids[:20], ids[20:])}, key)
    # Nothing is proposed that makes one id of two.
    assert not disjoint(lambda x: f"a/{x[:1]}.{x}", lambda x: f"{x[:1]}.{hash(x)}")[2].call


def test_models_and_segments_that_have_changed_places() -> None:
    key = bp.Key(IDS[20:], IDS[:20], SAME.T, ~SAME.T)
    with pytest.raises(TrialMismatchError, match="have changed places") as caught:
        bp.Results.from_scores(bp.Scores(np.where(SAME, 1.0, 0.0), IDS[:20], IDS[20:]), key)
    assert caught.value.option.startswith("--key-columns")
    # Scores without ids may be in the order of a list, if that is as long.
    for size, option, got in (
        (400, "--scores-in-order", "others"),
        (3, "", "400 trials.* 3 scores"),
    ):
        lines = [f"line-{n:0{len(str(size))}}" for n in range(1, size + 1)]
        with pytest.raises(TrialMismatchError, match=got) as caught:
            bp.Results.from_scores(bp.Scores(np.ones((1, size)), ["all"], lines), key)
        assert caught.value.option == option


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("s/a/b/", "aa", "ba"),
        ("s/a/b/g", "aa", "bb"),
        ("s|/|-|g", "a/b/c", "a-b-c"),
        (r"s/\//-/", "a/b/c", "a-b/c"),
        (r"s/(.)-(.)/\2-\1/", "x-y", "y-x"),
        ("s/,/./", "1,5", "1.5"),
        ("s/x//,basename", "x/y", "y"),
        ("strip-suffix", "a.b/c", "a.b/c"),
        ("strip-suffix", ".hidden", ".hidden"),
        ("basename,strip-suffix", r"a\b\c.tar.gz", "c.tar"),
    ],
)
def test_changes_are_those_of_sed(text: str, old: str, new: str) -> None:
    assert align.parse_changes(text)(old) == new
    assert bp.Ndx([old], ["s"]).rename(models=text).modelset.tolist() == [new]


def test_no_change() -> None:
    for wrong in ("", "s/a/b", "s//b/", "strip-prefix", "strip-suffix=", "upper", "sab"):
        with pytest.raises(InvalidInputError, match="expected basename"):
            align.parse_changes(wrong)


def test_names_of_clips_that_recur_in_many_recordings() -> None:
    """As in VoxCeleb: 4,000 utterances, of which the last word takes a hundred values only."""
    ids = [f"id{i % 40}/video{i // 100}/{i % 100:05}" for i in range(4000)]
    key = bp.Key.from_trials(ids[:2000], ids[2000:], np.arange(2000) % 2 == 0)
    scores = bp.Scores.from_trials(ids[:2000], ids[2000:], np.ones(2000))
    renamed = scores.rename(*2 * [lambda name: f"{name}.wav"])
    with pytest.raises(TrialMismatchError, match=r"rename\('strip-suffix=.wav', "):
        bp.Results.from_scores(renamed, key)
