"""Scores and a key that do not belong together: the error says why, and how to mend it."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError, MissingTrialsWarning, TrialMismatchError
from bosaris_py.matlab import Results as ToolkitResults
from tests.forms import as_list

MODELS = [f"spk{number:02}" for number in range(6)]
SEGMENTS = [f"utt{number:03}" for number in range(20)]
RNG = np.random.default_rng(3)
IS_TARGET = RNG.random((6, 20)) < 0.3
KEY = bp.Key(MODELS, SEGMENTS, IS_TARGET, ~IS_TARGET)
SCORES = bp.Scores(RNG.normal(2.0 * IS_TARGET, 1.0), MODELS, SEGMENTS)
FUSION = bp.LinearFusion.fit([[1.0, 2.0, 0.5]], [[0.0, -1.0, 1.5]])

# Each door that takes scores and a key.
DOORS: dict[str, Callable[[Any, Any], object]] = {
    "Results": bp.Results.from_scores,
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


@pytest.mark.parametrize("door", DOORS)
def test_ids_that_do_not_meet(door: str) -> None:
    """Other segments, as matrices and as lists, and other models."""
    files = SCORES.rename(segments=lambda name: f"{name}.wav")
    for scores, key in ((files, KEY), (as_list(files), as_list(KEY))):
        with pytest.raises(TrialMismatchError, match=r"rename\('strip-suffix=\.wav'"):
            DOORS[door](scores, key)
    with pytest.raises(TrialMismatchError, match="such as 'spk00', of the scores such as 'x0'"):
        DOORS[door](SCORES.rename(models=lambda name: f"x{MODELS.index(name)}"), KEY)


@pytest.mark.parametrize("door", sorted(DOORS.keys() - {"fused", "toolkit"}))
def test_scores_and_key_swapped(door: str) -> None:
    with pytest.raises(InvalidInputError, match="Were scores and key swapped"):
        DOORS[door](*((KEY, SCORES) if door != "LinearFusion" else ([KEY], SCORES)))


def test_files(tmp_path: Path) -> None:
    SCORES.rename(models=lambda name: f"x{name}").save(tmp_path / "scores.h5")
    SCORES.save(tmp_path / "good.h5")
    KEY.save(tmp_path / "key.h5")
    for door in (bp.Results.from_files, bp.LinearCalibration.fit_files):
        with pytest.raises(TrialMismatchError, match="models of the key are such as"):
            door(tmp_path / "scores.h5", tmp_path / "key.h5")
    for door in (bp.Results.from_scores, bp.LinearCalibration.fit_scores):
        with pytest.raises(InvalidInputError, match=r"read_scores\(path\)"):
            door(tmp_path / "good.h5", KEY)  # type: ignore[arg-type]
    for scores in (SCORES, tmp_path / "good.h5"):
        found = bp.evaluate({"A": scores}, tmp_path / "key.h5").to_dict()
        assert found == bp.evaluate({"A": SCORES}, KEY).to_dict()


# What tells a data frame of any library.
TABLE = SimpleNamespace(columns=["model", "segment", "A"])
FRAME = bp.from_frame({"model": ["m"], "segment": ["s"], "label": [1], "A": [0.5]})
# Ids as a plain loadmat gives them: cells in a cell array.
LOADED = np.empty((2, 1), dtype=object)
LOADED[:, 0] = [np.array(["m1"]), np.array(["m2"])]


def test_other_mistakes() -> None:
    for call, remedy in (
        (lambda: bp.Results(SCORES, KEY), r"Results\.from_scores\(scores, key\)"),
        (lambda: bp.eer(KEY, SCORES), r"Results\.from_scores\(scores, key\)"),
        (lambda: SCORES.get_tar_non("key.txt"), r"read_key\(path\)"),
        (lambda: bp.Results.from_scores(TABLE, KEY), r"from_frame\(df\)\.scores"),
        (lambda: bp.evaluate(FRAME, FRAME.key), r"data\.scores"),
        (lambda: bp.evaluate(FRAME.scores, FRAME), "`key`"),
        (lambda: bp.Results.from_scores({"A": SCORES}, KEY), "one system of it: A"),
        (lambda: bp.Ndx("ndx.h5", "hdf5"), r"A file: read\(path\)"),
        (lambda: bp.Ndx(LOADED, ["s"]), r"squeeze_me=True"),
        (lambda: bp.Ndx(LOADED.ravel(), ["s"]), r"x\.item\(\)"),
    ):
        with pytest.raises(InvalidInputError, match=remedy):
            call()


# Recordings that are models and segments, as in VoxCeleb
PAIRS = [(a, b) for a in range(8) for b in range(a + 1, 8)]
FIRST, SECOND = ([f"r{pair[side]}" for pair in PAIRS] for side in (0, 1))


@pytest.mark.parametrize("form", [as_list, lambda trials: trials])
def test_trials_in_the_other_order(form: Callable[[Any], Any]) -> None:
    """Models and segments are mostly the same ids, but no trial of the key has a score."""
    key = form(bp.Key.from_trials(FIRST, SECOND, np.arange(28) % 2 == 0))
    scores = bp.Scores.from_trials(SECOND, FIRST, np.arange(28.0))
    said = "28 trials without a score have one in the other order"
    with pytest.raises(TrialMismatchError, match=said):
        bp.Results.from_scores(scores, key)
    # Half of the trials are as in the key.
    ids = FIRST[:14] + SECOND[14:], SECOND[:14] + FIRST[14:]
    half = bp.Scores.from_trials(*ids, np.arange(28.0))
    with pytest.warns(MissingTrialsWarning) as warned:
        assert bp.Results.from_scores(half, key).n_tar == 7
    assert any("14 trials without a score have" in str(item.message) for item in warned)
    # Nor is a trial in the other order of use that has its score for itself: all against all.
    tar, ids, mask = np.eye(8, dtype=bool), list("abcdefgh"), np.ones((8, 8), dtype=bool)
    mask[0, 1] = False
    whole = bp.Scores(np.arange(64.0).reshape(8, 8), ids, ids, mask)
    # Of trials that are missing in either order nothing else is said.
    few = bp.Scores.from_trials(FIRST[:14], SECOND[:14], np.arange(14.0))
    for scores, asked in ((form(whole), form(bp.Key(ids, ids, tar, ~tar))), (few, key)):
        with pytest.warns(MissingTrialsWarning) as warned:
            bp.Results.from_scores(scores, asked)
        assert not [item for item in warned if "other order" in str(item.message)]


@pytest.mark.parametrize(("n_scores", "n_labels"), [(6, 5), (9, 12)])
def test_lines_without_ids(tmp_path: Path, n_scores: int, n_labels: int) -> None:
    """Files of numbers only go together by the number of the line, if both have as many."""
    (tmp_path / "scores.txt").write_text("".join(f"{n}.5\n" for n in range(n_scores)))
    (tmp_path / "labels.txt").write_text("".join(f"{n % 2}\n" for n in range(n_labels)))
    scores = bp.read_scores(tmp_path / "scores.txt", columns="score")
    key = bp.read_key(tmp_path / "labels.txt", columns="label")
    for door in (bp.Results.from_scores, bp.LinearCalibration.fit_scores, bp.evaluate):
        with pytest.raises(TrialMismatchError, match=f"{n_labels} trials .* and {n_scores}"):
            door(scores, key)
    # Other ids that happen to be numbers are ids like others.
    named = bp.Scores([np.arange(20.0)], ["m"], [str(number) for number in range(1, 21)])
    part = bp.Key(["m"], ["1", "2"], [[True, False]], [[False, True]])
    assert bp.Results.from_scores(named, part).n_tar == 1
