"""Who speaks: maps, dicts, functions and columns for both sides."""

from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError, MissingTrialsWarning
from bosaris_py.trials.speakers import Names, SpeakersLike, TrialSpeakers, speaker_names
from tests.forms import as_list, described

MODELS, SEGMENTS = ["ma", "mb", "mc"], ["sa", "sb", "sc", "sd"]
# Row by row; each model has one target, and (mc, sd) is no trial.
TAR = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], dtype=bool)
NON = ~TAR
NON[2, 3] = False
KEY = bp.Key(MODELS, SEGMENTS, TAR, NON)
ROWS, COLS = KEY.trial_positions()

# Columns of models, of segments, and of trials: one that follows the models, one that does not.
METADATA = described(
    KEY,
    {"row": np.array(["r0", "r1", "r2"])[ROWS], "mixed": np.array(list("abcdefghijk"))},
    {"speaker": np.array(["p", "q", "p"])},
    {"sex": np.array(["f", "m", "f", "m"])},
)

# What a map says of models and of segments; None if nothing.
Said = dict[str, str] | None


def said(given: SpeakersLike, key: bp.Key) -> list[Said]:
    """Return the speakers that are told of models and of segments, by id."""

    def by_id(names: Names | None, ids: list[str]) -> Said:
        if names is None:
            return None
        return {name: who for name, who in zip(ids, names, strict=True) if who is not None}

    return [by_id(n, i.tolist()) for n, i in zip(speaker_names(given, key), key.ids, strict=True)]


OF_MODELS = {"ma": "p", "mb": "q", "mc": "p"}
OF_SEGMENTS = {"sa": "f", "sb": "m", "sc": "f", "sd": "m"}
LAST = {"ma": "a", "mb": "b", "mc": "c"}, {"sa": "a", "sb": "b", "sc": "c", "sd": "d"}


@pytest.mark.parametrize(
    ("given", "of_models", "of_segments"),
    [
        (None, None, None),
        (lambda name: name[-1], *LAST),
        ((lambda name: name[-1], None), LAST[0], None),
        ((None, lambda name: name[-1]), None, LAST[1]),
        # One for both sides counts where it fits; ids that the key lacks are left out.
        ({"ma": "x", "mz": "y"}, {"ma": "x"}, None),
        ({"sd": 3, "ma": np.int64(4)}, {"ma": "4"}, {"sd": "3"}),
        (bp.IdMap(["ma", "mz"], ["x", "y"]), {"ma": "x"}, None),
        ((bp.IdMap(["mb"], ["y"]), {"sa": "z"}), {"mb": "y"}, {"sa": "z"}),
        # A column of models varies within segments, and the other way about.
        ("speaker", OF_MODELS, None),
        ("sex", None, OF_SEGMENTS),
        (("speaker", "sex"), OF_MODELS, OF_SEGMENTS),
        ("row", {"ma": "r0", "mb": "r1", "mc": "r2"}, None),
        (("model", "segment"), {n: n for n in MODELS}, {n: n for n in SEGMENTS}),
    ],
)
def test_maps_of_both_sides(given: Any, of_models: Said, of_segments: Said) -> None:
    assert said(given, METADATA) == [of_models, of_segments]
    # The same for lists of trials.
    assert said(given, as_list(METADATA).with_columns_of(METADATA)) == [of_models, of_segments]


@pytest.mark.parametrize(
    "given",
    [
        *((None, None, None), "mixed", {"x": "y"}, ({"x": "y"}, None), (None, {"x": "y"})),
        *(("sex", None), (None, "speaker"), 3, lambda _: True, lambda _: 1.0, "no such"),
        {"ma": None, "mb": "x"},
    ],
)
def test_maps_that_say_nothing(given: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"^`speakers` must"):
        speaker_names(given, METADATA)


# Numbers of speakers


def test_speakers_of_targets() -> None:
    # Segment sa is the target of ma, and of mb, too.
    tar = np.array([[1, 0], [1, 0], [0, 1]], dtype=bool)
    key, of_models = bp.Key(MODELS, ["sa", "sc"], tar, ~tar), {"ma": "p", "mb": "p", "mc": "r"}
    for of_segments in (None, {"sa": "p", "sc": "r"}):
        found = TrialSpeakers.from_key(key, (of_models, of_segments))
        assert found.ids.tolist() == ["p", "r"]
        assert (found.of_models.tolist(), found.of_segments.tolist()) == ([0, 0, 1], [0, 1])
    others = {"ma": "p", "mb": "q", "mc": "r"}
    for maps in ((others, None), (of_models, {"sa": "p", "sc": "p"}), (None, None)):
        with pytest.raises(InvalidInputError, match="1 target trials"):
            TrialSpeakers.from_key(key, maps)


def test_spoofs_have_the_speaker_of_their_model() -> None:
    """Segments that are spoofs only need no speaker."""
    trials = ["ma", "mb", "ma", "mb"], ["sa", "sb", "sb", "sx"]
    key = bp.Key.from_trials(*trials, ["target", "target", "nontarget", "spoof"])
    found = TrialSpeakers.from_key(key)
    assert found.ids.tolist() == ["ma", "mb", "segments\tsx"]
    assert found.ids[found.of_segments].tolist() == ["ma", "mb", "segments\tsx"]


def test_speakers_of_one_side() -> None:
    found = TrialSpeakers.from_side(KEY, OF_MODELS, "models")
    assert found.ids[found.of_models].tolist() == ["p", "q", "p"]
    assert found.n_speakers == 2 + len(SEGMENTS)
    found = TrialSpeakers.from_side(METADATA, "sex", "segments")
    assert found.ids[found.of_segments].tolist() == ["f", "m", "f", "m"]
    assert found.n_speakers == 2 + len(MODELS)
    assert TrialSpeakers.from_side(KEY, None, "models").n_speakers == len(MODELS) + len(SEGMENTS)
    with pytest.raises(InvalidInputError, match=r"1 \(mc\)"):
        TrialSpeakers.from_side(KEY, {"ma": "p", "mb": "q"}, "models")


def test_recordings_are_no_speakers() -> None:
    # A list of VoxCeleb: b is a model, hence a speaker, and a target of a, hence of speaker a.
    ids = ["anna/1", "anna/2", "anna/3", "bert/1", "bert/2"]
    tar = np.zeros((5, 5), dtype=bool)
    tar[[0, 1, 2, 3, 4], [1, 2, 0, 4, 3]] = True
    non = np.zeros((5, 5), dtype=bool)
    non[0, 3] = True
    key = bp.Key(ids, ids, tar, non)
    make = TrialSpeakers.from_key
    with pytest.raises(InvalidInputError, match=r"5 ids .* anna/1, .* anna/3"):
        make(key)
    assert make(key, lambda name: name[:4]).ids.tolist() == ["anna", "bert"]
    assert make(key, ("model", None)).n_speakers == 5
    # Ids without trials, or with trials on one side only, say nothing.
    one_way = np.zeros((5, 5), dtype=bool)
    one_way[[0, 2], [1, 3]] = True
    found = make(bp.Key(ids, ids, one_way, ~one_way & non))
    assert found.ids[found.of_segments[[1, 3]]].tolist() == ["anna/1", "anna/3"]
    with pytest.raises(InvalidInputError, match=r" 1 \(sd\)"):
        make(KEY)


def test_an_id_of_two_speakers() -> None:
    with pytest.warns(MissingTrialsWarning):
        twice, same = (bp.IdMap(["ma", "mb", "mc", "ma"], ["p", "q", "r", x]) for x in ("s", "p"))
    with pytest.raises(InvalidInputError, match=r" 1 .* \(ma\)"):
        TrialSpeakers.from_key(KEY, (twice, None))
    found = TrialSpeakers.from_side(KEY, (same, None), "models")
    assert found.ids[found.of_models].tolist() == ["p", "q", "r"]
    # An id without trials may have several.
    bare = KEY.take(np.flatnonzero(ROWS != 0))
    assert said((twice, None), bare)[0] == {"ma": "p", "mb": "q", "mc": "r"}
