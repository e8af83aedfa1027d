"""MAT files as GNU Octave sees them, and its own files as we see them."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bosaris_py import IdMap, Key, Ndx, QualityMeasures, Scores, SegmentQuality

OCTAVE = shutil.which("octave-cli") or shutil.which("octave")
absent = pytest.mark.skipif(OCTAVE is None, reason="GNU Octave is not installed")
pytestmark = [pytest.mark.octave, absent]

MODELS, SEGMENTS = ["m_1", "m_22"], ["s1", "segment_2", "s3"]
TAR = np.array([[True, False, False], [False, False, True]])
NON = np.array([[False, True, False], [True, False, False]])
VALUES = np.array([[0.1, -1e-300, 3.5], [1e6, -2.25, 0.0]])

HASMODEL, HASSEG = np.array([True, False]), np.array([True, True, False])

IDS, SINGLE = {"modelset": MODELS, "segset": SEGMENTS}, VALUES.astype(np.float32)
MASK, HAS = TAR | NON, {"hasmodel": HASMODEL, "hasseg": HASSEG}
MEASURES = {"modelQ": VALUES[:, :2], "segQ": VALUES, **HAS}
SCORED, USABLE = {**IDS, "scoremask": MASK}, {"scoremask": np.outer(HASMODEL, HASSEG)}
SPEAKERS = ["anna", "bert"]

# What each is called in the file, and its fields as MATLAB has them.
OBJECTS: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "Ndx": (Ndx(*IDS.values(), MASK), "ndx", {**IDS, "trialmask": MASK}),
    "Key": (Key(*IDS.values(), TAR, NON), "key", {**IDS, "tar": TAR, "non": NON}),
    "Scores": (Scores(VALUES, *IDS.values(), MASK), "scr", {"scoremat": VALUES, **SCORED}),
    "single": (Scores(SINGLE, *IDS.values(), MASK), "scr", {"scoremat": SINGLE, **SCORED}),
    "Quality": (QualityMeasures(*IDS.values(), **MEASURES), "qual", {**IDS, **MEASURES, **USABLE}),
    "Seg_Quality": (SegmentQuality(SEGMENTS, VALUES), "qual", {"ids": SEGMENTS, "values": VALUES}),
    "Id_Map": (IdMap(MODELS, SPEAKERS), "idmap", {"leftids": MODELS, "rightids": SPEAKERS}),
}
CLASSES = {"b": "logical", "U": "cell", "d": "double", "f": "single"}


def _shape(value: Any) -> list[int]:
    """Return the shape in MATLAB: ids are columns, what else is a vector is a row."""
    if isinstance(value, list):
        return [len(value), 1]
    return list(np.atleast_2d(value).shape)


def _class(value: Any) -> str:
    array = np.asarray(value)
    return CLASSES["U" if array.dtype.kind == "U" else array.dtype.char.replace("?", "b")]


def _octave(script: str, folder: Path) -> str:
    command = [str(OCTAVE), "--quiet", "--no-init-file", "--eval", script]
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.mark.parametrize("kind", OBJECTS)
def test_octave_reads_what_we_write(tmp_path: Path, kind: str) -> None:
    item, variable, fields = OBJECTS[kind]
    item.save(tmp_path / "a.mat")
    # struct() would spread a cell array over many structs; {x} keeps it whole.
    script = (
        f"x = load('a.mat'); x = x.{variable}; "
        "types = structfun(@class, x, 'UniformOutput', false); "
        "sizes = structfun(@size, x, 'UniformOutput', false); "
        "printf('%s', jsonencode(struct('x', {x}, 'types', types, 'sizes', sizes)));"
    )
    seen = json.loads(_octave(script, tmp_path))
    assert set(seen["x"]) == set(fields)
    for name, expected in fields.items():
        assert seen["sizes"][name] == _shape(expected), name
        assert seen["types"][name] == _class(expected), name
        if isinstance(expected, list):
            assert seen["x"][name] == expected
        else:
            value = np.asarray(seen["x"][name], dtype=expected.dtype)
            np.testing.assert_array_equal(value.reshape(expected.shape), expected, err_msg=name)


def _literal(value: Any) -> str:
    """Write a value as a MATLAB expression, with all digits."""
    if isinstance(value, list):
        return "{{" + "; ".join(f"'{item}'" for item in value) + "}}"
    rows = ("; ").join(" ".join(f"{float(v)!r}" for v in row) for row in np.atleast_2d(value))
    return f"{_class(value)}([{rows}])"


@pytest.mark.parametrize("option", ["-v6", "-v7"])
@pytest.mark.parametrize("kind", OBJECTS)
def test_we_read_what_octave_writes(tmp_path: Path, kind: str, option: str) -> None:
    item, variable, fields = OBJECTS[kind]
    listed = ", ".join(f"'{name}', {_literal(value)}" for name, value in fields.items())
    _octave(f"{variable} = struct({listed}); save {option} a.mat {variable}", tmp_path)
    found = type(item).read(tmp_path / "a.mat")
    assert found == item
    if isinstance(item, Scores):
        assert found.scoremat.dtype == item.scoremat.dtype
    if isinstance(item, QualityMeasures):
        np.testing.assert_array_equal(found.scoremask, fields["scoremask"])
