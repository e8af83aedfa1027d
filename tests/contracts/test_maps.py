"""One contract for every map: it is trained, applied, saved, read, and refuses what it must."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError
from tests.forms import as_list

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")

RNG = np.random.default_rng(4)
SAME = np.arange(40)[:, None] == np.arange(120) % 40
IDS = [f"m{i:02}" for i in range(40)], [f"s{i:03}" for i in range(120)]
LABELS = np.where(SAME, "target", np.where(np.arange(120) % 5 == 0, "spoof", "nontarget"))
ROWS, COLUMNS = np.indices(SAME.shape).reshape(2, -1)
SPOOFED = bp.Key.from_trials(
    np.array(IDS[0])[ROWS], np.array(IDS[1])[COLUMNS], LABELS[ROWS, COLUMNS].tolist()
)
KEY = SPOOFED.bona_fide()
A, B = (bp.Scores(RNG.normal(3.0 * SAME, 1.5), *IDS) for _ in "ab")
SYSTEMS = {"a": A, "b": B}
MEASURES = bp.QualityMeasures(*IDS, RNG.uniform(1, 5, (1, 40)), RNG.uniform(1, 5, (1, 120)))


# How a map is trained on a key, and applied to trials.
Case = tuple[Callable[[bp.Key], Any], Callable[[Any, bp.Key], bp.Scores]]


def line(model: Any) -> Case:
    return partial(model.fit_scores, A), lambda made, key: made.apply(A.align_with_ndx(key))


LINES = [*(bp.LinearCalibration, bp.PAVCalibration, bp.GaussianCalibration, bp.BoundedCalibration)]
MAPS: dict[str, Case] = {model.__name__: line(model) for model in LINES} | {
    "LinearFusion": (
        lambda key: bp.LinearFusion.fit_scores(SYSTEMS, key),
        lambda made, key: made.apply(SYSTEMS, key),
    ),
    "QualityFusion": (
        lambda key: bp.QualityFusion.fit_scores(SYSTEMS, [MEASURES], key),
        lambda made, key: made.apply(SYSTEMS, [MEASURES], key),
    ),
    "SASVFusion": (
        lambda _: bp.SASVFusion.fit(SPOOFED, asv=A, cm=B),
        lambda made, key: made.apply(asv=A, cm=B, ndx=key),
    ),
}


def test_every_map_is_here() -> None:
    public = [getattr(bp, name) for name in bp.__all__]
    maps = {one.__name__ for one in public if isinstance(one, type) and hasattr(one, "apply")}
    assert maps == set(MAPS)


@pytest.mark.parametrize("name", MAPS)
def test_a_map(name: str, tmp_path: Path) -> None:
    train, apply = MAPS[name]
    model = train(KEY)
    llrs = apply(model, KEY)
    # The same from a list of trials; finite, of the trials of the key, and of use.
    assert apply(train(as_list(KEY)), KEY) == llrs
    assert np.isfinite(llrs.get_scores(KEY)).all()
    assert bp.cllr(*llrs.get_tar_non(KEY)) < 0.8
    # A file gives it back to the last bit, by its own name and by that of any model.
    model.save(tmp_path / "model.json")
    for read in (type(model).read, bp.read_model):
        found = read(tmp_path / "model.json")
        assert type(found) is type(model)
        assert apply(found, KEY) == llrs
    assert json.loads((tmp_path / "model.json").read_text())["kind"] == name
    # Of other classes it is none; nor is it without what it was trained to be.
    for other in {getattr(bp, each) for each in MAPS} - {type(model)}:
        with pytest.raises(bp.errors.FileFormatError):
            other.read(tmp_path / "model.json")
    assert repr(model).startswith(name)
    with pytest.raises((attrs.exceptions.FrozenInstanceError, AttributeError)):
        model.n_tar = 3


@pytest.mark.parametrize("model", LINES, ids=lambda model: model.__name__)
def test_what_cannot_be_trained_on_is_refused(model: Any) -> None:
    tar, non = A.get_tar_non(KEY)
    for bad in ([], [np.nan, 1.0], [[1.0]], ["x"]):
        for argument, classes in (("tar", (bad, non)), ("non", (tar, bad))):
            with pytest.raises(InvalidInputError, match=f"`{argument}`"):
                model.fit(*classes)
    applied = model.fit(tar, non).apply([-np.inf, 0.0, np.inf])
    assert (np.diff(applied) >= 0).all()
    with pytest.raises(InvalidInputError, match="NaN"):
        model.fit(tar, non).apply([np.nan])
