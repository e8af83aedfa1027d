"""Ids of scores and key that do not meet: the error says why, and how to mend it."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import DisjointIdsError, InvalidInputError
from bosaris_py.matlab import Results as ToolkitResults
from tests.forms import as_list

MODELS = [f"spk{number:02}" for number in range(6)]
SEGMENTS = [f"utt{number:03}" for number in range(20)]
RNG = np.random.default_rng(3)
IS_TARGET = RNG.random((6, 20)) < 0.3
KEY = bp.Key(MODELS, SEGMENTS, IS_TARGET, ~IS_TARGET)
MATRIX = RNG.normal(2.0 * IS_TARGET, 1.0)
FUSION = bp.LinearFusion.fit([[1.0, 2.0, 0.5]], [[0.0, -1.0, 1.5]])

JUDGES: dict[str, Callable[[bp.Scores, bp.Key], object]] = {
    "Results": bp.Results.from_scores,
    "flat": lambda scores, key: bp.Results.from_scores(as_list(scores), as_list(key)),
    "conditions": lambda scores, key: bp.Results.from_scores(
        scores, key, bp.Conditions({"all": key})
    ),
    "primary_cost": lambda scores, key: bp.primary_cost(scores, key, "VoxSRC"),
    "LinearCalibration": bp.LinearCalibration.fit_scores,
    "PAVCalibration": bp.PAVCalibration.fit_scores,
    "LinearFusion": lambda scores, key: bp.LinearFusion.fit_scores([scores], key),
    "fused": lambda scores, key: FUSION.apply([scores], key),
    "bootstrap": lambda scores, key: unc.bootstrap_scores(
        scores, key, unc.EER(), method="iid", replications=100, rng=1
    ),
    "Decisions": lambda scores, key: unc.Decisions.from_scores(scores, key, 0.0),
    "plot": lambda scores, key: bp.DETPlot().set_system_from_scores(scores, key),
    "toolkit": ToolkitResults,
}


def renamed(models: object = str, segments: object = str) -> bp.Scores:
    return bp.Scores(MATRIX, [models(m) for m in MODELS], [segments(s) for s in SEGMENTS])


STRANGE = {
    "suffix": (
        renamed(segments=lambda s: f"{s}.wav"),
        r"the scores end with '\.wav', such as 'utt000\.wav'\. Use strip_suffix='\.wav'",
    ),
    "others": (
        renamed(models=lambda m: f"x{MODELS.index(m)}"),
        "models of the key are such as 'spk00', of the scores such as 'x0'",
    ),
}


@pytest.mark.parametrize(("scores", "message"), STRANGE.values(), ids=STRANGE)
def test_ids_that_do_not_meet(scores: bp.Scores, message: str) -> None:
    with pytest.raises(
        DisjointIdsError, match=f"that have scores; got none: its ids are others.*{message}"
    ):
        bp.Results.from_scores(scores, KEY)


@pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)
def test_every_judge_says_why(judge: Callable[[bp.Scores, bp.Key], object]) -> None:
    with pytest.raises(DisjointIdsError, match=r"Use strip_suffix='\.wav'"):
        judge(STRANGE["suffix"][0], KEY)


def test_files(tmp_path: Path) -> None:
    STRANGE["others"][0].save(tmp_path / "scores.h5")
    KEY.save(tmp_path / "key.h5")
    for judge in (bp.Results.from_files, bp.LinearCalibration.fit_files):
        with pytest.raises(DisjointIdsError, match="models of the key are such as"):
            judge(tmp_path / "scores.h5", tmp_path / "key.h5")


def test_a_few_common_ids_are_enough() -> None:
    few = bp.Scores(MATRIX[:2, :9], MODELS[:2], SEGMENTS[:9])
    with pytest.warns(bp.errors.MissingTrialsWarning):
        assert bp.Results.from_scores(few, KEY).n_tar == np.count_nonzero(IS_TARGET[:2, :9])


SCORES = renamed()


@pytest.mark.parametrize(
    "call",
    [
        bp.Results.from_scores,
        bp.LinearCalibration.fit_scores,
        bp.PAVCalibration.fit_scores,
        lambda first, second: bp.LinearFusion.fit_scores(first, [second]),
        lambda first, second: bp.primary_cost(first, second, "VoxSRC"),
        lambda first, second: unc.bootstrap_scores(first, second, unc.EER()),
        lambda first, second: unc.Decisions.from_scores(first, second, 0.0),
        lambda first, second: bp.DETPlot().set_system_from_scores(first, second),
    ],
)
def test_scores_and_key_swapped(call: Callable[[object, object], object]) -> None:
    with pytest.raises(InvalidInputError, match="Were scores and key swapped"):
        call(KEY, SCORES)


FRAME = bp.from_frame({"model": ["m"], "segment": ["s"], "label": [1], "A": [0.5]})
# What tells a data frame of any library.
TABLE = SimpleNamespace(columns=["model", "segment", "A"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bp.Results(SCORES, KEY), r"belong into Results\.from_scores\(scores, key\)"),
        (lambda: bp.eer(KEY, SCORES), r"belong into Results\.from_scores\(scores, key\)"),
        (lambda: SCORES.get_tar_non(SCORES), "`key` .* swapped"),
        (lambda: bp.Results.from_scores(SCORES, TABLE), r"from_frame\(df\)\.key"),
        (lambda: bp.Results.from_scores(TABLE, KEY), r"from_frame\(df\)\.scores"),
        (lambda: bp.Results.from_scores({"A": SCORES}, KEY), r"Give one system of it: A\."),
        (lambda: bp.Scores([1.0, 2.0], ["m"], ["s", "t"]), r"A single row is \[scoremat\]"),
    ],
)
def test_other_mistakes(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        call()


# Recordings that are models and segments, as in VoxCeleb
PAIRS = [(a, b) for a in range(8) for b in range(a + 1, 8)]
FIRST, SECOND = ([f"r{pair[side]}" for pair in PAIRS] for side in (0, 1))
PAIR_KEY = bp.Key.from_trials(FIRST, SECOND, np.arange(28) % 2 == 0)


@pytest.mark.parametrize("flat", [False, True])
def test_trials_in_the_other_order(*, flat: bool) -> None:
    """Models and segments are mostly the same ids, but no trial of the key has a score."""
    key = as_list(PAIR_KEY) if flat else PAIR_KEY
    kind = bp.Scores
    scores = kind.from_trials(SECOND, FIRST, np.arange(28.0))
    message = r"got none. 28 trials without a score have one in the other order, \(segment, model\)"
    with (
        pytest.warns(bp.errors.MissingTrialsWarning, match="reduced|missing"),
        pytest.raises(DisjointIdsError, match=message),
    ):
        bp.Results.from_scores(scores, key)
    with pytest.raises(bp.errors.TrialMismatchError, match="28 trials without a score have one"):
        bp.LinearFusion.fit_scores([scores], key)
    # Half of the trials are as in the key.
    first = FIRST[:14] + SECOND[14:], SECOND[:14] + FIRST[14:]
    half = kind.from_trials(*first, np.arange(28.0))
    with pytest.warns(bp.errors.MissingTrialsWarning) as warned:
        assert bp.Results.from_scores(half, key).n_tar == 7
    assert "14 trials without a score have one in the other order" in str(warned[-1].message)
    # Nor is a trial in the other order of use that has its score for itself: all against all.
    tar = np.eye(8, dtype=bool)
    whole = bp.Key(list("abcdefgh"), list("abcdefgh"), tar, ~tar)
    mask = np.ones((8, 8), dtype=bool)
    mask[0, 1] = False
    scores = bp.Scores(np.arange(64.0).reshape(8, 8), list("abcdefgh"), list("abcdefgh"), mask)
    given, asked = (as_list(scores), as_list(whole)) if flat else (scores, whole)
    with pytest.warns(bp.errors.MissingTrialsWarning) as warned:
        bp.Results.from_scores(given, asked)
    assert [str(each.message) for each in warned] == ["1 of 56 non-targets missing."]
    # Of trials that are missing in either order nothing else is said.
    few = kind.from_trials(FIRST[:14], SECOND[:14], np.arange(14.0))
    with pytest.warns(bp.errors.MissingTrialsWarning) as warned:
        bp.Results.from_scores(few, key)
    assert not [item for item in warned if "other order" in str(item.message)]


@pytest.mark.parametrize(("n_scores", "n_labels"), [(6, 5), (5, 6), (12, 9), (9, 12)])
def test_lines_without_ids(tmp_path: Path, n_scores: int, n_labels: int) -> None:
    """Files of numbers only go together by the number of the line, if both have as many."""
    (tmp_path / "scores.txt").write_text("".join(f"{n}.5\n" for n in range(n_scores)))
    (tmp_path / "labels.txt").write_text("".join(f"{n % 2}\n" for n in range(n_labels)))
    scores = bp.read_scores(tmp_path / "scores.txt", columns="score")
    key = bp.read_key(tmp_path / "labels.txt", columns="label")
    message = f"as many lines as the scores, .* got {n_labels} lines of the key, and {n_scores} of"
    for judge in (bp.Results.from_scores, bp.LinearCalibration.fit_scores, bp.evaluate):
        with pytest.raises(DisjointIdsError, match=message):
            judge(scores, key)
    least = min(n_scores, n_labels)
    lines = [f"{number:0{len(str(least))}}" for number in range(1, least + 1)]
    whole = bp.Key(["all"], lines, [np.arange(least) % 2 == 1], [np.arange(least) % 2 == 0])
    equal = bp.Scores([np.arange(least) + 0.5], ["all"], lines)
    assert bp.Results.from_scores(equal, whole).n_tar == least // 2
    # Other ids that happen to be numbers are ids like others.
    named = bp.Scores([np.arange(20.0)], ["m"], [str(number) for number in range(1, 21)])
    part = bp.Key(["m"], ["1", "2"], [[True, False]], [[False, True]])
    assert bp.Results.from_scores(named, part).n_tar == 1
