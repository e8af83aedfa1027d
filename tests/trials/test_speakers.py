"""Who speaks: maps, dicts, functions and columns for both sides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import DuplicateIdWarning, InvalidInputError, MissingTrialsWarning
from bosaris_py.trials import speakers
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


def said(found: bp.IdMap | None) -> Said:
    return (
        None
        if found is None
        else dict(zip(found.leftids.tolist(), found.rightids.tolist(), strict=True))
    )


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
        (bp.IdMap(["ma", "mz"], ["x", "y"]), {"ma": "x", "mz": "y"}, None),
        ((bp.IdMap(["mz"], ["y"]), {"sa": "z"}), {"mz": "y"}, {"sa": "z"}),
        # A column of models varies within segments, and the other way about.
        ("speaker", OF_MODELS, None),
        ("sex", None, {"sa": "f", "sb": "m", "sc": "f", "sd": "m"}),
        (("speaker", "sex"), OF_MODELS, OF_SEGMENTS),
        ("row", {"ma": "r0", "mb": "r1", "mc": "r2"}, None),
        (("model", "segment"), {n: n for n in MODELS}, {n: n for n in SEGMENTS}),
        ("model", {n: n for n in MODELS}, None),
        ("segment", None, {n: n for n in SEGMENTS}),
    ],
)
def test_maps_of_both_sides(given: Any, of_models: Said, of_segments: Said) -> None:
    found = speakers.speaker_maps(given, METADATA)
    assert (said(found[0]), said(found[1])) == (of_models, of_segments)
    # The same for lists of trials.
    flat = speakers.speaker_maps(given, as_list(METADATA).with_columns_of(METADATA))
    assert (said(flat[0]), said(flat[1])) == (of_models, of_segments)


def test_models_without_trials_have_no_column() -> None:
    tar, non = TAR.copy(), NON.copy()
    tar[1] = non[1] = False
    tar[:, 1] = non[:, 1] = False
    key = bp.Key(MODELS, SEGMENTS, tar, non)
    assert said(speakers.speaker_maps("speaker", key.with_columns_of(METADATA))[0]) == {
        "ma": "p",
        "mc": "p",
    }
    assert said(speakers.speaker_maps("sex", key.with_columns_of(METADATA))[1]) == {
        "sa": "f",
        "sc": "f",
        "sd": "m",
    }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((None, None, None), "`speakers` must be one value or a pair"),
        ("mixed", "`speakers` must tell the speakers of models or segments; got column 'mixed'"),
        ({"x": "y"}, "`speakers` must tell the speakers of models or segments; got a map without"),
        (({"x": "y"}, None), "must tell the speakers of the models; got a map without any of the"),
        ((None, {"x": "y"}), "must tell the speakers of the segments; got a map without any of"),
        (("sex", None), "must tell the speakers of the models; got column 'sex', which varies"),
        (3, "must be an IdMap, a dict, a function of the id or a column of the key"),
        (lambda _: True, r"give text or a whole number .* other values for 3 ids \(ma, mb, mc\)"),
        (lambda _: 1.0, "give text or a whole number"),
        ({"ma": None, "mb": "x"}, r"other values for 1 ids \(ma\)"),
        ("no such", "no such"),
    ],
)
def test_maps_that_say_nothing(given: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        speakers.speaker_maps(given, METADATA)


def test_columns_need_metadata() -> None:
    assert said(speakers.speaker_maps("model", KEY)[0]) == {n: n for n in MODELS}
    with pytest.raises(InvalidInputError, match="be a column"):
        speakers.speaker_maps("speaker", KEY)


def test_columns_named_like_ids_come_first() -> None:
    named = described(KEY, {}, {"model": np.array(["x", "x", "y"])}, {})
    assert said(speakers.speaker_maps("model", named)[0]) == {"ma": "x", "mb": "x", "mc": "y"}


# Numbers of speakers


def test_numbers_of_speakers() -> None:
    found = speakers.TrialSpeakers.of_key(KEY, (OF_MODELS | {"mb": "p"}, lambda name: name[-1]),
                                          one_person=False)  # fmt: skip
    assert found.ids.tolist() == ["a", "b", "c", "d", "p"]
    assert found.of_models.tolist() == [4, 4, 4]
    assert found.of_segments.tolist() == [0, 1, 2, 3]
    # Without a map of segments the targets of a model are its speaker's.
    with pytest.warns(MissingTrialsWarning, match=r"speakers of 1 segments are not known \(sd\)"):
        found = speakers.TrialSpeakers.of_key(KEY, (OF_MODELS, None), unknown="own")
    assert found.ids.tolist() == ["p", "q", "segments\tsd"]
    assert found.of_models.tolist() == [0, 1, 0]
    assert found.of_segments.tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize("one_person", [False, True])
@pytest.mark.parametrize(
    ("of_models", "of_segments", "fails"),
    [
        # Segment sa is the target of ma, and of mb, too.
        ({"ma": "p", "mb": "q", "mc": "r"}, None, (True, True)),
        ({"ma": "p", "mb": "p", "mc": "r"}, None, (False, False)),
        ({"ma": "p", "mb": "p", "mc": "r"}, {"sa": "p", "sc": "r"}, (False, False)),
        # Both sides are given: they may be different persons.
        ({"ma": "p", "mb": "p", "mc": "r"}, {"sa": "p", "sc": "p"}, (False, True)),
        (None, None, (True, True)),
    ],
)
def test_speakers_of_targets(
    of_models: Said, of_segments: Said, fails: tuple[bool, bool], *, one_person: bool
) -> None:
    tar = np.array([[1, 0], [1, 0], [0, 1]], dtype=bool)
    key = bp.Key(MODELS, ["sa", "sc"], tar, ~tar)
    make = speakers.TrialSpeakers.of_key
    if not fails[one_person]:
        found = make(key, (of_models, of_segments), one_person=one_person)
        assert found.ids.tolist() == sorted({*of_models.values()})  # type: ignore[union-attr]
        return
    hint = "Do the key and the maps belong" if of_models else "Models that share a speaker need"
    with pytest.raises(InvalidInputError, match=f"1 target trials of two speakers.*{hint}"):
        make(key, (of_models, of_segments), one_person=one_person)


def test_unknown_speakers_are_refused() -> None:
    for wrong in ("no", None):
        with pytest.raises(InvalidInputError, match="`unknown` must be"):
            speakers.TrialSpeakers.of_key(KEY, unknown=wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match=r"none for 1 \(mc\).*Give a complete map"):
        speakers.TrialSpeakers.of_models_only(KEY, {"ma": "p", "mb": "q"})
    with pytest.warns(MissingTrialsWarning, match=r"speakers of 1 models are not known \(mc\)"):
        found = speakers.TrialSpeakers.of_models_only(KEY, {"ma": "p", "mb": "q"}, unknown="own")
    assert found.ids[found.of_models].tolist() == ["p", "q", "models\tmc"]


def test_recordings_are_no_speakers() -> None:
    # A list of VoxCeleb: b is a model, hence a speaker, and a target of a, hence of speaker a.
    ids = ["anna/1", "anna/2", "anna/3", "bert/1", "bert/2"]
    tar = np.zeros((5, 5), dtype=bool)
    tar[[0, 1, 2, 3, 4], [1, 2, 0, 4, 3]] = True
    non = np.zeros((5, 5), dtype=bool)
    non[0, 3] = True
    key = bp.Key(ids, ids, tar, non)
    make = speakers.TrialSpeakers.of_key
    got = r"5 ids that are models and segments, such as anna/1, a target of model anna/3\."
    with pytest.raises(InvalidInputError, match=rf"`speakers` .* models are recordings; .* {got}"):
        make(key)
    assert make(key, speakers=lambda name: name[:4]).ids.tolist() == ["anna", "bert"]
    assert make(key, speakers=("model", None)).n_speakers == 5
    # Ids without trials, or with trials on one side only, say nothing.
    one_way = np.zeros((5, 5), dtype=bool)
    one_way[[0, 2], [1, 3]] = True
    found = make(bp.Key(ids, ids, one_way, ~one_way & non))
    assert found.ids[found.of_segments[[1, 3]]].tolist() == ["anna/1", "anna/3"]
    with pytest.raises(InvalidInputError, match=r"none, and 1 are a target of no model \(sd\)"):
        make(KEY)


def test_an_id_of_two_speakers() -> None:
    with pytest.warns(DuplicateIdWarning):
        twice, same = (bp.IdMap(["ma", "mb", "mc", "ma"], ["p", "q", "r", x]) for x in ("s", "p"))
    with pytest.raises(InvalidInputError, match=r"several for 1 ids with trials \(ma: p and s\)"):
        speakers.TrialSpeakers.of_key(KEY, (twice, None))
    found = speakers.TrialSpeakers.of_models_only(KEY, same)
    assert found.ids[found.of_models].tolist() == ["p", "q", "r"]


@pytest.mark.parametrize("shape", [(3, 3), (3, 5), (1000, 1000), (3, 10**6), (10**6, 3)])
@pytest.mark.parametrize("ordered", [False, True])
def test_numbers_of_pairs(shape: tuple[int, int], *, ordered: bool) -> None:
    first, second = np.array([0, 2, 1, 2, 0]), np.array([2, 0, 1, 0, 1])
    numbers, count, listed = speakers.number_pairs(first, second, shape, ordered=ordered)
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    cells = [a * shape[1] + b for a, b in (pairs if ordered else map(sorted, pairs))]
    assert (listed is None) == (shape[0] * shape[1] < 2**16)
    assert (numbers if listed is None else listed[numbers]).tolist() == cells
    assert count == (shape[0] * shape[1] if listed is None else len({*cells}))


# Systems and keys as they are given


def test_conditions_as_they_are_given() -> None:
    conditions = bp.Conditions({"a": TAR})
    assert speakers.as_conditions(None, KEY) is None
    assert speakers.as_conditions(conditions, KEY) is conditions
    by_name = speakers.as_conditions({"a": TAR, "b": NON}, KEY)
    assert by_name is not None
    assert list(by_name.names) == ["a", "b"]
    for given in ("sex", ["sex"], ("sex",)):
        of_column = speakers.as_conditions(given, METADATA)
        assert of_column is not None
        assert len(of_column.names) == 2
    for wrong in ([], [3], 3, np.array(["sex"])):
        with pytest.raises(InvalidInputError, match="`conditions` must name columns in a list"):
            speakers.as_conditions(wrong, METADATA)
