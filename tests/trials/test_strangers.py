"""Ids that do not meet: what is proposed makes them equal, in Python and in the command alike."""

import re
import shlex
from collections.abc import Callable

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import TrialMismatchError
from bosaris_py.trials.strangers import parse_changes

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
]


def disjoint(of_key: Change, of_scores: Change) -> tuple[bp.Scores, bp.Key, TrialMismatchError]:
    key = bp.Key([*map(of_key, IDS[:20])], [*map(of_key, IDS[20:])], SAME, ~SAME)
    ids = [*map(of_scores, IDS[:20])], [*map(of_scores, IDS[20:])]
    scores = bp.Scores(np.where(SAME, 1.0, 0.0), *ids)
    with pytest.raises(TrialMismatchError) as caught:
        bp.Results.from_scores(scores, key)
    return scores, key, caught.value


@pytest.mark.parametrize(("of_key", "of_scores", "change"), DIFFER, ids=[row[2] for row in DIFFER])
def test_the_call_and_the_option_make_ids_equal(of_key, of_scores, change):
    scores, key, error = disjoint(of_key, of_scores)
    assert shlex.split(error.option) == ["--ids", change]
    names = {"scores": scores, "key": key}
    exec(re.search(r"Write (f = .*)\.$", str(error))[1], names)
    renamed = names["scores"], names["key"]
    assert bp.Results.from_scores(*renamed).eer == 0.0
    in_command = parse_changes(change)
    for found, old in zip(renamed, (scores, key), strict=True):
        assert found == old.rename(in_command, in_command)


def test_ids_of_which_few_meet() -> None:
    """One trial in ten has a score; all have one as soon as the folder is off."""
    ids = [name if number % 10 == 0 else f"wav/{name}" for number, name in enumerate(IDS)]
    key = bp.Key(IDS[:20], IDS[20:], SAME, ~SAME)
    scores = bp.Scores(np.where(SAME, 1.0, 0.0), ids[:20], ids[20:])
    with pytest.raises(TrialMismatchError, match="more than half") as caught:
        bp.evaluate({"a": scores}, key)
    assert caught.value.option == "--ids strip-prefix=wav/"
    assert "removeprefix('wav/')" in str(caught.value)


def test_nothing_is_proposed_that_makes_one_id_of_two() -> None:
    _, _, error = disjoint(lambda x: f"a/{x[:1]}.{x}", lambda x: f"{x[:1]}.{hash(x)}")
    assert (error.call, error.option) == ("", "")
    assert "a/i.id0/vid0/00000" in str(error)


def test_changes_are_those_of_sed() -> None:
    for text, old, new in (
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
    ):
        assert parse_changes(text)(old) == new, text
    for wrong in ("", "s/a/b", "s//b/", "strip-prefix", "strip-suffix=", "upper", "sab"):
        with pytest.raises(ValueError, match="expected basename"):
            parse_changes(wrong)


def test_lines_without_ids_are_of_as_many_lines() -> None:
    lines = bp.Scores([[1.0, 2.0, 3.0]], ["all"], ["1", "2", "3"])
    for segments, told in ((["1", "2"], "as many lines"), (["a", "b", "c"], "read_answers")):
        is_tar = np.arange(len(segments))[None] == 0
        model = "all" if segments[0] == "1" else "m"
        with pytest.raises(TrialMismatchError, match=told):
            bp.Results.from_scores(lines, bp.Key([model], segments, is_tar, ~is_tar))


def test_names_of_clips_that_recur_in_many_recordings() -> None:
    """As in VoxCeleb: 4,000 utterances, of which the last word takes a hundred values only."""
    ids = [f"id{i % 40}/video{i // 100}/{i % 100:05}" for i in range(4000)]
    is_target = np.arange(2000) % 2 == 0
    key = bp.Key.from_trials(ids[:2000], ids[2000:], is_target)
    wav = [f"{name}.wav" for name in ids]
    scores = bp.Scores.from_trials(wav[:2000], wav[2000:], is_target.astype(float))
    with pytest.raises(TrialMismatchError) as caught:
        bp.Results.from_scores(scores, key)
    assert caught.value.option == "--ids strip-suffix=.wav"
