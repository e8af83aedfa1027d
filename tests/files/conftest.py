"""Fixtures of the tests of files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from bosaris_py.files import hdf5, mat

Arrays = dict[str, np.ndarray]


@pytest.fixture(scope="session")
def samples(oracle: Path) -> Path:
    """Folder with small files of one content in every format."""
    return oracle / "samples"


@pytest.fixture(scope="session")
def contents(samples: Path) -> dict[str, Arrays]:
    """What the sample files hold, by kind, as the readers return it."""
    raw = json.loads((samples / "contents.json").read_text())

    def mask(name: str) -> np.ndarray:
        return np.array(raw[name], dtype=bool)

    ids = {name: np.array(raw[name]) for name in ("modelset", "segset")}
    tar, non, segments = mask("tar"), mask("non"), raw["seg_quality"]
    values = np.array(segments["values"], dtype=float)
    return {
        "ndx": {**ids, "trialmask": tar | non},
        "key": {**ids, "tar": tar, "non": non},
        "scores": {**ids, "scoremat": np.array(raw["scoremat"]), "scoremask": mask("scoremask")},
        "quality_measures": {
            **{**ids, "scoremask": np.ones((3, 4), dtype=bool)},
            **{name: np.array(raw[name]) for name in ("modelQ", "segQ")},
            **{name: mask(name) for name in ("hasmodel", "hasseg")},
        },
        "segment_quality": {"ids": np.array(segments["ids"]), "values": values},
        "id_map": {name: np.array(raw["id_map"][name]) for name in ("leftids", "rightids")},
    }


@pytest.fixture(scope="session")
def read() -> Callable[..., Arrays]:
    """Read a file of a kind with the module for its extension; a key as masks."""

    def read_file(path: Path, kind: str) -> Arrays:
        if path.suffix == ".mat":
            return mat.read(kind, path)
        arrays = hdf5.read(kind, path)[0]
        if "labels" in arrays:
            labels = arrays.pop("labels")
            arrays |= {"tar": labels == 1, "non": labels == -1}
        return arrays

    return read_file


@pytest.fixture(scope="session")
def write() -> Callable[..., None]:
    """Write a file of a kind with the module for its extension."""

    def write_file(path: Path, kind: str, arrays: Arrays) -> None:
        if path.suffix == ".mat":
            mat.write(kind, path, **arrays)
            return
        if kind == "key":
            labels = arrays["tar"].view(np.int8) - arrays["non"].view(np.int8)
            arrays = {name: arrays[name] for name in hdf5.IDS} | {"labels": labels}
        hdf5.write(kind, path, **arrays)

    return write_file


@pytest.fixture(scope="session")
def assert_same() -> Callable[[Arrays, Arrays], None]:
    """Check that two sets of arrays are equal to the bit: types, NaN, the sign of zero."""

    def check(found: Arrays, expected: Arrays) -> None:
        assert set(found) == set(expected)
        for name, array in expected.items():
            assert found[name].shape == array.shape, name
            assert found[name].dtype.kind == array.dtype.kind, name
            if array.dtype.kind == "f":
                assert found[name].dtype == array.dtype, name
                assert found[name].tobytes() == array.tobytes(), name
            else:
                np.testing.assert_array_equal(found[name], array)

    return check


@pytest.fixture(scope="session")
def write_mat73() -> Callable[..., None]:
    """Write a file as MATLAB's ``save -v7.3`` does, as far as it concerns the reader.

    The layout is the one that MATLAB documents by its files: a header of 512 bytes, then
    HDF5; extents reversed; characters as uint16; a cell array as references to data sets
    in ``#refs#``; a logical matrix as uint8; an empty array as its extents with MATLAB_empty.
    """

    def put(file: Any, name: str, value: Any) -> Any:
        if isinstance(value, list):
            items = [put(file, f"#refs#/{name}{i}", item) for i, item in enumerate(value)]
            data = np.array([[item.ref for item in items]] if items else (), dtype=h5py.ref_dtype)
            kind = "cell"
        elif isinstance(value, str):
            kind = "char"
            data = np.frombuffer(value.encode("utf-16-le"), dtype="<u2")[:, np.newaxis]
        else:
            data = np.atleast_2d(value).T
            kind = {"?": "logical", "f": "single"}.get(data.dtype.char, "double")
            data = data.view(np.uint8) if kind == "logical" else data
        is_empty = not data.size
        shape = data.T.shape if data.ndim == 2 else (0, 0)
        made = file.create_dataset(name, data=np.array(shape, np.uint64) if is_empty else data)
        made.attrs["MATLAB_class"] = np.bytes_(kind)
        if is_empty:
            made.attrs["MATLAB_empty"] = np.uint8(1)
        return made

    def write_file(path: Path, variable: str, fields: dict[str, Any]) -> None:
        with h5py.File(path, "w", userblock_size=512) as file:
            file.create_group(variable).attrs["MATLAB_class"] = np.bytes_("struct")
            for name, value in fields.items():
                is_ids = getattr(value, "dtype", np.dtype(float)).kind == "U"
                put(file, f"{variable}/{name}", value.tolist() if is_ids else value)
        header = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM"
        with path.open("rb+") as stream:
            stream.write(header)

    return write_file
