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
pytestmark = [
    pytest.mark.octave,
    pytest.mark.skipif(OCTAVE is None, reason="GNU Octave is not installed"),
]

MODELS, SEGMENTS = ["m_1", "m_22"], ["s1", "segment_2", "s3"]
TAR = np.array([[True, False, False], [False, False, True]])
NON = np.array([[False, True, False], [True, False, False]])
VALUES = np.array([[0.1, -1e-300, 3.5], [1e6, -2.25, 0.0]])

OBJECTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "ndx": (Ndx(MODELS, SEGMENTS, TAR | NON), {"trialmask": TAR | NON}),
    "key": (Key(MODELS, SEGMENTS, TAR, NON), {"tar": TAR, "non": NON}),
    "scr": (
        Scores(VALUES, MODELS, SEGMENTS, TAR | NON),
        {"scoremat": VALUES, "scoremask": TAR | NON},
    ),
    "qual": (
        QualityMeasures(
            MODELS,
            SEGMENTS,
            VALUES[:, :2],
            VALUES,
            np.array([True, False]),
            np.ones(3, dtype=bool),
        ),
        {"modelQ": VALUES[:, :2], "segQ": VALUES, "hasmodel": [True, False], "hasseg": [True] * 3},
    ),
    "idmap": (IdMap(MODELS, ["anna", "bert"]), {"leftids": MODELS, "rightids": ["anna", "bert"]}),
}


def _octave(script: str, folder: Path) -> str:
    command = [str(OCTAVE), "--quiet", "--no-init-file", "--eval", script]
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.mark.parametrize("variable", OBJECTS)
def test_octave_reads_what_we_write(tmp_path: Path, variable: str) -> None:
    item, fields = OBJECTS[variable]
    item.save(tmp_path / "a.mat")
    # struct() would spread a cell array over many structs; {x} keeps it whole.
    script = (
        f"x = load('a.mat'); x = x.{variable}; "
        "types = structfun(@class, x, 'UniformOutput', false); "
        "sizes = structfun(@size, x, 'UniformOutput', false); "
        "printf('%s', jsonencode(struct('x', {x}, 'types', types, 'sizes', sizes)));"
    )
    seen = json.loads(_octave(script, tmp_path))
    for name, expected in fields.items():
        value = np.asarray(seen["x"][name])
        np.testing.assert_array_equal(value, np.asarray(expected).reshape(value.shape))
        kind = np.asarray(expected).dtype.kind
        assert seen["types"][name] == {"b": "logical", "f": "double", "U": "cell"}[kind]
    for name, ids in (("modelset", MODELS), ("segset", SEGMENTS)):
        if name in seen["x"]:
            assert seen["x"][name] == ids
            assert seen["types"][name] == "cell"
            # validate() of the toolkit's Id_Map wants columns; all of ours are.
            assert seen["sizes"][name] == [len(ids), 1]


def test_octave_reads_segment_qualities(tmp_path: Path) -> None:
    SegmentQuality(SEGMENTS, VALUES).save(tmp_path / "a.mat")
    seen = json.loads(_octave("x = load('a.mat'); printf('%s', jsonencode(x.qual));", tmp_path))
    assert seen["ids"] == SEGMENTS
    np.testing.assert_array_equal(seen["values"], VALUES)


@pytest.mark.parametrize("option", ["-v6", "-v7"])
def test_we_read_what_octave_writes(tmp_path: Path, option: str) -> None:
    cells = "{'m_1'; 'm_22'}", "{'s1'; 'segment_2'; 's3'}"
    script = (
        f"key = struct('modelset', {{{cells[0]}}}, 'segset', {{{cells[1]}}}, "
        "'tar', logical([1 0 0; 0 0 1]), 'non', logical([0 1 0; 1 0 0])); "
        f"save {option} key.mat key"
    )
    _octave(script, tmp_path)
    assert Key.read(tmp_path / "key.mat") == OBJECTS["key"][0]
