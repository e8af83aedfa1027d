"""Keys and scores in the forms that `evaluate` takes, at the doors that take Scores and a Key."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError
from tests.forms import labelled

DRAWN = np.random.default_rng(3).normal(size=24).round(3)
FRAME = {
    "model": [f"m{i % 4}" for i in range(24)],
    "segment": [f"s{i // 4}" for i in range(24)],
    "label": ["target" if i % 3 == 0 else "nontarget" for i in range(24)],
    "score": DRAWN.tolist(),
}
FOUND = bp.from_frame(FRAME)
SCORES = FOUND.scores["score"]
HALVES = labelled(FOUND.key, np.arange(FOUND.key.n_trials) % 2)
LENGTHS = {name: float(len(name) + i) for i, name in enumerate(sorted({*FRAME["segment"]}))}
MEASURES = {"length": (None, LENGTHS)}
Door = Callable[[Any, Any], Any]
DOORS: dict[str, Door] = {
    "LinearCalibration": lambda scores, key: bp.LinearCalibration.fit_scores(scores, key),
    "PAVCalibration": lambda scores, key: bp.PAVCalibration.fit_scores(scores, key),
    "LinearFusion": lambda scores, key: bp.LinearFusion.fit_scores([scores], key),
    "Results": lambda scores, key: bp.Results.from_scores(scores, key).cllr,
    "conditions": lambda scores, key: bp.evaluate(scores, key, conditions=HALVES).records(),
    "primary_cost": lambda scores, key: bp.primary_cost(scores, key, "VoxSRC").actual,
    "Decisions": lambda scores, key: unc.Decisions.from_scores(scores, key, 0.0).counts,
    "evaluate": lambda scores, key: bp.evaluate({"A": scores}, key).records(),
}
# Methods of the trials themselves take no file.
METHODS: dict[str, Door] = {
    "get_tar_non": lambda scores, key: [side.tolist() for side in scores.get_tar_non(key)],
    "counts": lambda scores, key: HALVES.counts(key),
}


@pytest.mark.parametrize("door", ["evaluate", "conditions"])
def test_a_key_may_be_a_file(door: str, tmp_path: Path) -> None:
    FOUND.key.save(tmp_path / "key.h5")
    assert DOORS[door](SCORES, tmp_path / "key.h5") == DOORS[door](SCORES, FOUND.key)


@pytest.mark.parametrize("door", METHODS)
def test_paths_are_refused_with_the_remedy(door: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape("read_key(path)")):
        METHODS[door](SCORES, "key.txt")


@pytest.mark.parametrize("door", ["LinearCalibration", "PAVCalibration", "LinearFusion", "Results"])
def test_files_of_scores_are_refused_with_the_remedy(door: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape("read_scores(path)")):
        DOORS[door]("scores.txt", FOUND.key)


def test_systems_of_quality() -> None:
    expected = bp.quality_systems(SCORES, MEASURES, FOUND.key, scale=["length"])
    assert bp.quality_systems(SCORES, MEASURES, FOUND.key, scale="length") == expected
    with pytest.raises(InvalidInputError, match=r"drop_duplicates\(column\)"):
        bp.SegmentQuality(["a", "a"], [1.0, 2.0])
