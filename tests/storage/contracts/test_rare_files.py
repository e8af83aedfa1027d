"""Files of other programs that are seldom met: what is refused, and what is read all the same."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import FileFormatError, InvalidInputError, OldFormatWarning
from bosaris_py.storage import hdf5, mat, rows
from bosaris_py.storage.hdf5 import chunks
from bosaris_py.storage.hdf5.strings import read_global_heap

MODELS, SEGMENTS = ["m1", "m2"], ["s1", "s2", "s3"]
LONG = "x" * 16385

# One character more than files of MATLAB may have.
LONG_NAME = "x" * 4097


def write_hdf5(path: Path, arrays: dict[str, Any]) -> Path:
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file[name] = array
    return path


def score_arrays() -> dict[str, Any]:
    return {
        "ID/row_ids": np.array(["m1", "m2"], "S2"),
        "ID/column_ids": np.array(["s1", "s2", "s3"], "S2"),
        "scores": np.arange(6.0).reshape(2, 3),
        "score_mask": np.ones((2, 3), "u1"),
    }


def replaced(name: str, data: Any, **attributes: Any) -> Callable[[Any], None]:
    def change(file: Any) -> None:
        del file[f"scr/{name}"]
        file[f"scr/{name}"] = data
        file[f"scr/{name}"].attrs.update(attributes)

    return change


def square_of_ids(file: Any) -> None:
    references = file["scr/modelset"][()]
    del file["scr/modelset"]
    file["scr/modelset"] = np.repeat(references, 2, axis=0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            replaced("scoremat", np.ones((3, 2), np.longdouble)),
            "`scr.scoremat` must hold real numbers; it is of type float",
            marks=pytest.mark.skipif(np.finfo(np.longdouble).bits == 64, reason="no longer type"),
        ),
        (square_of_ids, r"`/scr/modelset` must be a list of ids; it has shape \(2, 2\)"),
        (
            replaced("scoremat", np.array([0, 2, 3], "u8"), MATLAB_empty=1),
            "`/scr/scoremat` is empty and has more than two extents",
        ),
        (
            replaced("scoremat", np.array([2, 3], "u8"), MATLAB_empty=1),
            r"`/scr/scoremat` is marked as empty but has extents \(2, 3\)",
        ),
        (
            replaced("scoremat", np.ones((2, 3))),
            r"has shape \(3, 2\); the ids ask for \(2, 3\). Models and segments look swapped",
        ),
        (replaced("scoremat", np.ones((3, 3))), r"has shape \(3, 3\); the ids ask for \(2, 3\)$"),
    ],
)
def test_version_73_of_matlab(
    tmp_path: Path, write_mat73: Callable[..., None], change: Callable[[Any], None], message: str
) -> None:
    path = tmp_path / "a.mat"
    fields = {"scoremat": np.ones((2, 3)), "scoremask": np.ones((2, 3), bool)}
    write_mat73(path, "scr", {"modelset": MODELS, "segset": SEGMENTS, **fields})
    assert mat.read("scores", path)["scoremat"].tolist() == np.ones((2, 3)).tolist()
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(FileFormatError, match=message):
        mat.read("scores", path)


def test_whole_numbers_of_matlab_are_float64(
    tmp_path: Path, write_mat73: Callable[..., None]
) -> None:
    path = tmp_path / "a.mat"
    fields = {"scoremat": np.ones((2, 3)), "scoremask": np.ones((2, 3), bool)}
    write_mat73(path, "scr", {"modelset": MODELS, "segset": SEGMENTS, **fields})
    with h5py.File(path, "r+") as file:
        replaced("scoremat", np.arange(6, dtype="i2").reshape(3, 2))(file)
    found = mat.read("scores", path)["scoremat"]
    assert (found.dtype, found.tolist()) == (np.float64, [[0, 2, 4], [1, 3, 5]])


@pytest.mark.parametrize("model", [LONG_NAME[1:], LONG_NAME])
def test_long_ids_of_matlab(tmp_path: Path, write_mat73: Callable[..., None], model: str) -> None:
    path = tmp_path / "a.mat"
    write_mat73(path, "idmap", {"leftids": [model], "rightids": ["s"]})
    if model != LONG_NAME:
        assert mat.read("id_map", path)["leftids"].tolist() == [model]
        return
    with pytest.raises(FileFormatError, match="an id of more than 4096 characters"):
        mat.read("id_map", path)


# Blocks of rows


@pytest.mark.parametrize("n_models", [1, 4])
def test_blocks_of_a_vector(tmp_path: Path, n_models: int) -> None:
    # One row or one column, as a vector, in chunks of which the last was never written.
    n_segments = 4 // n_models
    labels = np.array([1, 0, -1, 0], "i1")
    arrays = {
        "ID/row_ids": np.array([f"m{i}" for i in range(n_models)], "S2"),
        "ID/column_ids": np.array([f"s{i}" for i in range(n_segments)], "S2"),
    }
    path = write_hdf5(tmp_path / "a.h5", arrays)
    with h5py.File(path, "r+") as file:
        made = file.create_dataset("trial_mask", (4,), "i1", chunks=(3,))
        made[:3] = labels[:3]
    described, _, _ = rows.describe(path, "key")
    assert described.shape == (n_models, n_segments)
    with rows.RowReader(described) as reader:
        # The buffers hold what was read before.
        for start, stop in ((0, n_models), (n_models - 1, n_models), (0, 1)):
            found = reader.read_labels(slice(start, stop))
            expected = labels.reshape(n_models, n_segments)[start:stop]
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("kind", "arrays", "message"),
    [
        (
            "ndx",
            {"trial_mask": np.array([[1, 0, -1], [1, 0, 0]], "i1")},
            "`/trial_mask` holds -1: this is a Key",
        ),
        (
            "key",
            {"target_mask": np.eye(2, 3), "nontarget_mask": np.ones((2, 3), "u1")},
            "shares trials with",
        ),
    ],
)
def test_blocks_of_labels_that_are_none(
    tmp_path: Path, kind: str, arrays: dict[str, Any], message: str
) -> None:
    ids = {name: array for name, array in score_arrays().items() if name.startswith("ID")}
    path = write_hdf5(tmp_path / "a.h5", ids | arrays)
    old = pytest.warns(OldFormatWarning) if kind == "key" else contextlib.nullcontext()
    with old:
        described, _, _ = rows.describe(path, kind)
    with rows.RowReader(described) as reader, pytest.raises(FileFormatError, match=message):
        reader.read_labels(slice(0, 2))


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([slice(0, 1), slice(0, 1)], "`parts` must go on with row 1 of 2"),
        ([slice(0, 3)], "`parts` must go on with row 0 of 2"),
        ([slice(0, 1)], "`parts` must be all 2 rows; got 1\\."),
    ],
)
def test_parts_that_are_not_all_rows(tmp_path: Path, blocks: list[slice], message: str) -> None:
    path, ids = tmp_path / "a.h5", {"modelset": np.array(MODELS), "segset": np.array(SEGMENTS)}
    parts = (
        (b, np.ones((b.stop - b.start, 3)), np.ones((b.stop - b.start, 3), bool)) for b in blocks
    )
    with pytest.raises(InvalidInputError, match=message):
        rows.write_score_rows(path, parts, **ids)
    assert list(tmp_path.iterdir()) == []


# HDF5


@pytest.mark.parametrize(
    ("encoded", "message"),
    [(b"", None), (LONG[1:].encode(), None), (4 * LONG.encode(), "an id of [0-9]+ bytes")],
)
def test_strings_of_variable_length(tmp_path: Path, encoded: bytes, message: str | None) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        for name in ("left_ids", "right_ids"):
            ids = [encoded.decode()] if encoded else []
            file.create_dataset(name, data=ids, dtype=h5py.string_dtype(), shape=(len(ids),))
    if message is None:
        expected = [encoded.decode()] if encoded else []
        assert hdf5.read("id_map", path, max_bytes=10**9)["leftids"].tolist() == expected
        return
    with pytest.raises(FileFormatError, match=message):
        hdf5.read("id_map", path, max_bytes=10**9)


def test_strings_inside_the_header(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_layout(h5py.h5d.COMPACT)
    with h5py.File(path, "w") as file:
        for name in (b"left_ids", b"right_ids"):
            kind, space = (
                h5py.h5t.py_create(h5py.string_dtype(), logical=True),
                h5py.h5s.create_simple((1,)),
            )
            h5py.h5d.create(file.id, name, kind, space, properties)
    with pytest.raises(FileFormatError, match="strings of variable length inside the header"):
        hdf5.read("id_map", path)


def test_what_lies_below_a_data_set_is_absent(tmp_path: Path) -> None:
    # `ID` is no group: what is looked for in it is missing, and nothing breaks.
    arrays = {"ID": np.ones(3), "scores": np.ones((2, 3))}
    path = write_hdf5(tmp_path / "a.h5", arrays)
    with pytest.raises(FileFormatError, match="is missing"):
        hdf5.read("scores", path)


def test_kind_of_a_file_that_does_not_say(tmp_path: Path) -> None:
    path = write_hdf5(tmp_path / "a.h5", score_arrays())
    assert hdf5.kind_of(path) == "scores"
    assert isinstance(bp.trials.inputs.read_any(path), bp.Scores)


def test_metadata_without_columns_of_trials(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    tar = np.eye(2, 3, dtype=bool)
    bp.TrialMetadata(bp.Key(MODELS, SEGMENTS, tar, ~tar)).save(path)
    with h5py.File(path, "r+") as file:
        del file["columns/trial/names"]
    # What is left is a list of trials.
    with pytest.raises(FileFormatError, match="expected TrialMetadata; the file holds FlatKey"):
        bp.TrialMetadata.read(path)


def test_a_heap_with_a_string_longer_than_a_step() -> None:
    # Version 1: sign, version, size of the whole; each object has 16 bytes of header.
    text = bytes(range(256)) * 1024
    objects = b"".join(
        number.to_bytes(2, "little") + bytes(6) + len(data).to_bytes(8, "little")
        + data + bytes(-len(data) % 8)
        for number, data in ((1, text), (2, b"ab"), (3, text[:5]))
    )  # fmt: skip
    size = 16 + len(objects) + 16
    heap = b"GCOL\1\0\0\0" + size.to_bytes(8, "little") + objects + bytes(16)
    claims: list[int] = []

    def claim(n_bytes: int, _: str) -> None:
        claims.append(n_bytes)

    found, read = read_global_heap(io.BytesIO(heap), 0, len(heap), claim)
    assert found == {1: text, 2: b"ab", 3: text[:5]}
    assert read == size
    assert len(text) < sum(claims) <= size


@pytest.mark.parametrize("n_bytes", [0, 3])
def test_a_chunk_shorter_than_its_checksum(n_bytes: int) -> None:
    with pytest.raises(ValueError, match="a chunk without its checksum"):
        chunks._without_checksum(bytes(n_bytes))
