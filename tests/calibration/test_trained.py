"""Files of trained maps: their names, and what damage to them does."""

import json
import math
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.calibration import BoundedCalibration, GaussianCalibration
from bosaris_py.calibration.linear import LinearCalibration
from bosaris_py.calibration.pav import PAVCalibration
from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.files import models
from bosaris_py.fusion import read_model
from bosaris_py.fusion.linear_fusion import LinearFusion

TRAINED = {
    "prior": 0.5,
    "objective": "cllr",
    "objective_value": 0.5,
    "ridge": 0.0,
    "n_tar": 3,
    "n_non": 4,
}
MAPS = {
    "linear": LinearCalibration(scale=2.0, offset=-1.0, **TRAINED),
    "ranged": LinearCalibration(scale=2.0, offset=-1.0, low_score=0, high_score=1, **TRAINED),
    "gauss": GaussianCalibration(
        scale=2, offset=0, target_share=0.5, low_score=0, high_score=1, n_tar=3, n_non=4
    ),
    "fusion": LinearFusion(
        weights=[0.5, 1.5], offset=-1.0, low_scores=[0, 5], high_scores=[1, 6], **TRAINED
    ),
    # Two pools; an offset of 0.3 lets their bounds overlap.
    "pav": PAVCalibration(
        score_bounds=[-1.0, 0.0, 0.5, 1.0],
        llr_bounds=[-0.4, 0.2, -0.2, 0.4],
        score_offset=0.3,
        n_tar=3,
        n_non=4,
    ),
}

TEXT = ["-0.4", "0.2", "0.5", "0.9"]
BAD = [
    ("pav", "score_bounds", TEXT, "`score_bounds` .* real numbers; got among others '-0.4'"),
    ("pav", "llr_bounds", TEXT, "`llr_bounds` .* real numbers; got among others '-0.4'"),
    ("pav", "llr_bounds", ["low", 0.0, 0.5, 0.9], "`llr_bounds`.*'low'"),
    ("pav", "llr_bounds", [False, 0.2, 0.3, True], "`llr_bounds`.*False"),
    ("pav", "llr_bounds", [0.0, [0.2], 0.3, 0.4], "`llr_bounds`"),
    ("pav", "llr_bounds", None, "`llr_bounds`.*None"),
    ("pav", "llr_bounds", [0.0, 0.2, 0.3], "as long as `llr_bounds`"),
    ("pav", "llr_bounds", [0.2, 0.4, -0.4, -0.2], "`llr_bounds` must be ascending"),
    ("pav", "llr_bounds", [0.0, -0.2, 0.5, 0.9], "`llr_bounds` must be ascending"),
    (
        "pav",
        "llr_bounds",
        [-math.inf, 0.2, 0.5, 0.9],
        "`llr_bounds` must be a vector of finite numbers",
    ),
    (
        "pav",
        "llr_bounds",
        [0.0, 0.2, 0.5, 10**400],
        "`llr_bounds` must be a vector of finite numbers",
    ),
    (
        "pav",
        "score_bounds",
        [0.0, math.nan, 0.5, 0.9],
        "`score_bounds` must be a vector of finite numbers",
    ),
    ("pav", "score_bounds", [0.0, 0.2, 0.1, 0.9], "`score_bounds` must be ascending"),
    ("pav", "score_offset", -0.1, "`score_offset` .* not be negative; got -0.1"),
    ("pav", "n_tar", True, "`n_tar`"),
    ("linear", "scale", 10**400, "`scale` .* finite number; got inf"),
    ("linear", "scale", -(10**400), "`scale` .* finite number; got -inf"),
    ("linear", "scale", True, "`scale` .* finite number; got True"),
    ("linear", "scale", "2.0", "`scale` .* finite number; got '2.0'"),
    ("linear", "offset", [1.0], r"`offset` .* finite number; got \[1.0\]"),
    ("linear", "offset", None, "`offset` .* finite number; got None"),
    ("linear", "ridge", -1, "`ridge` .* not be negative; got -1.0"),
    ("linear", "prior", "0.5", "`prior` .* finite number"),
    ("linear", "prior", 1.0, "`prior` .* strictly between"),
    ("linear", "objective", 5, "`objective` .* name of a scoring rule; got 5"),
    ("linear", "objective_value", False, "`objective_value`"),
    ("ranged", "low_score", 1.5, "`high_score` must not be below `low_score`, 1.5; got 1"),
    ("ranged", "high_score", math.nan, "`high_score` .* finite number"),
    ("gauss", "high_score", -0.5, "`high_score` must not be below `low_score`, 0; got -0.5"),
    ("gauss", "high_score", None, "`high_score` .* finite number; got None"),
    ("fusion", "high_scores", [1.0, 4.0], "`high_scores` must not be below `low_scores`"),
    ("fusion", "weights", ["0.5", "1.5"], "`weights` .* real numbers"),
    ("fusion", "weights", [True, 1.5], "`weights` .* real numbers"),
    ("fusion", "weights", [10**400, 1.5], "`weights`"),
    ("fusion", "weights", [[0.5], [1.5, 2.0]], "`weights`"),
]


def change(item: Any, name: str, value: Any) -> dict[str, Any]:
    """The fields of a map with one of them replaced."""
    return attrs.asdict(item) | {name: value}


@pytest.mark.parametrize(("kind", "name", "value", "message"), BAD)
def test_bad_fields_are_refused_by_the_constructor(
    kind: str, name: str, value: Any, message: str
) -> None:
    item = MAPS[kind]
    with pytest.raises(InvalidInputError, match=message):
        type(item)(**change(item, name, value))


@pytest.mark.parametrize(("kind", "name", "value", "message"), BAD)
def test_damaged_files_are_named(
    tmp_path: Path, kind: str, name: str, value: Any, message: str
) -> None:
    item, path = MAPS[kind], tmp_path / "damaged.json"
    models.write(path, {"kind": type(item).__name__, **change(item, name, value)})
    where = re.escape(f"{path}: damaged parameters of a {type(item).__name__}: ")
    with pytest.raises(FileFormatError, match=f"{where}.*{message}"):
        type(item).read(path)


def test_odd_number_of_bounds() -> None:
    with pytest.raises(InvalidInputError, match="two numbers for each pool; got 3"):
        PAVCalibration(
            score_bounds=[0.0, 1.0, 2.0],
            llr_bounds=[0.0, 1.0, 2.0],
            score_offset=0,
            n_tar=1,
            n_non=1,
        )


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("name", ["a.json", "a.JSON", "a.b.Json"])
def test_names_of_files(tmp_path: Path, kind: str, name: str) -> None:
    MAPS[kind].save(tmp_path / name)
    assert type(MAPS[kind]).read(tmp_path / name) == MAPS[kind]


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("name", ["scores.h5", "a.json.txt", "a", ".json"])
def test_other_names_are_refused_before_anything_is_written(
    tmp_path: Path, kind: str, name: str
) -> None:
    path = tmp_path / name
    path.write_text("old")
    with pytest.raises(InvalidInputError, match=r"`path` must end in \.json; got"):
        MAPS[kind].save(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_renamed_file_is_read(tmp_path: Path) -> None:
    MAPS["linear"].save(tmp_path / "a.json")
    renamed = (tmp_path / "a.json").rename(tmp_path / "a.cal")
    assert LinearCalibration.read(renamed) == MAPS["linear"]


def test_a_note_of_version_0_3_is_overlooked(tmp_path: Path) -> None:
    """Whether the training scores came from a map: beside the parameters, or in a map's map."""
    bounded = BoundedCalibration(map=MAPS["linear"], low=-1.0, high=2.0)
    for name, trained in (("line", MAPS["linear"]), ("bounded", bounded)):
        path = tmp_path / f"{name}.json"
        trained.save(path)
        content = json.loads(path.read_text(encoding="utf-8"))
        content.setdefault("training_scores", {})["of_llrs"] = False
        if name == "bounded":
            content["parameters"]["map"]["of_llrs"] = False
        path.write_text(json.dumps(content), encoding="utf-8")
        assert read_model(path) == trained


def test_version_0_1_can_read_what_is_written(tmp_path: Path) -> None:
    # Its reader passes all entries of "parameters" to a constructor with these arguments.
    known = {"scale", "offset", *TRAINED}
    fit = LinearCalibration.fit([1.0, 2.0, -0.5], [-1.0, 0.5, 0.0])
    fit.save(tmp_path / "map.json")
    content = json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))
    assert set(content["parameters"]) == known
    assert content["training_scores"] == {"low_score": -1.0, "high_score": 2.0}
    assert LinearCalibration.read(tmp_path / "map.json") == fit


LAWS = [
    (LinearCalibration, {}),
    (LinearCalibration, {"ridge": "weak"}),
    (LinearCalibration, {"objective": "boost", "prior": 0.1}),
    (PAVCalibration, {}),
    (GaussianCalibration, {}),
    *(
        (BoundedCalibration, {"calibration": inner, "bounds": bounds})
        for inner in (LinearCalibration, PAVCalibration, GaussianCalibration)
        for bounds in ("elub", "iv", "wide")
    ),
]


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
@given(st.sampled_from(LAWS), st.integers(0, 2**32 - 1), st.integers(-120, 120))
def test_laws_of_every_map(which: tuple[Any, dict[str, Any]], seed: int, power: int) -> None:
    """Neither the order nor the unit of scores matters, and files keep every bit."""
    model, options = which
    rng = np.random.default_rng(seed)
    tar, non = rng.normal(1.0, 1.0, 25), rng.normal(-1.0, 1.3, 40)
    fitted, unit = model.fit(tar, non, **options), 10.0**power
    other = model.fit(unit * rng.permutation(tar), unit * rng.permutation(non), **options)
    points = np.linspace(-2.0, 2.0, 21)
    np.testing.assert_allclose(other.apply(unit * points), fitted.apply(points), atol=1e-9)
    with TemporaryDirectory() as folder:
        other.save(Path(folder) / "map.json")
        again = read_model(Path(folder) / "map.json")
    assert again == other
    np.testing.assert_array_equal(again.apply(unit * points), other.apply(unit * points))
