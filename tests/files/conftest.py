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
    tar, non = mask("tar"), mask("non")
    return {
        "ndx": {**ids, "trialmask": tar | non},
        "key": {**ids, "tar": tar, "non": non},
        "scores": {**ids, "scoremat": np.array(raw["scoremat"]), "scoremask": mask("scoremask")},
        "quality_measures": {
            **ids,
            "modelQ": np.array(raw["modelQ"]),
            "segQ": np.array(raw["segQ"]),
            "hasmodel": mask("hasmodel"),
            "hasseg": mask("hasseg"),
            "scoremask": np.ones((3, 4), dtype=bool),
        },
        "segment_quality": {
            "ids": np.array(raw["seg_quality"]["ids"]),
            "values": np.array(raw["seg_quality"]["values"], dtype=float),
        },
        "id_map": {name: np.array(raw["id_map"][name]) for name in ("leftids", "rightids")},
    }


def as_masks(arrays: Arrays) -> Arrays:
    """Give a key masks in place of labels."""
    if "labels" in arrays:
        labels = arrays.pop("labels")
        arrays |= {"tar": labels == 1, "non": labels == -1}
    return arrays


@pytest.fixture(scope="session")
def read() -> Callable[..., Arrays]:
    """Read a file of a kind with the module for its extension."""

    def read_file(path: Path, kind: str, **options: Any) -> Arrays:
        if path.suffix == ".mat":
            return mat.read(kind, path, **options)
        return as_masks(hdf5.read(kind, path, **options)[0])

    return read_file


@pytest.fixture(scope="session")
def write() -> Callable[..., None]:
    """Write a file of a kind with the module for its extension."""

    def write_file(path: Path, kind: str, arrays: Arrays, **options: Any) -> None:
        if path.suffix == ".mat":
            mat.write(kind, path, **arrays, **options)
            return
        arrays = {**arrays}
        if kind == "key":
            arrays["labels"] = arrays.pop("tar").view(np.int8) - arrays.pop("non").view(np.int8)
        hdf5.write(kind, path, **arrays, **options)

    return write_file


@pytest.fixture(scope="session")
def assert_same() -> Callable[[Arrays, Arrays], None]:
    """Check that two sets of arrays are equal to the bit, types and all."""

    def check(found: Arrays, expected: Arrays) -> None:
        assert set(found) == set(expected)
        for name, array in expected.items():
            assert found[name].shape == array.shape, name
            assert found[name].dtype.kind == array.dtype.kind, name
            if array.dtype.kind == "f":
                assert found[name].dtype == array.dtype, name
                # NaN and the sign of zero count.
                unsigned = f"u{array.dtype.itemsize}"
                np.testing.assert_array_equal(
                    np.ascontiguousarray(found[name]).view(unsigned),
                    np.ascontiguousarray(array).view(unsigned),
                )
            else:
                np.testing.assert_array_equal(found[name], array)

    return check


@pytest.fixture(scope="session")
def write_mat73() -> Callable[..., None]:
    """Write a file as MATLAB's ``save -v7.3`` does, as far as it concerns the reader.

    The layout is the one that MATLAB documents by its files: a header of 512 bytes, then
    HDF5; extents reversed; characters as uint16; a cell array as references to data sets
    in ``#refs#``; a logical matrix as uint8 with MATLAB_int_decode; an empty array as its
    extents with MATLAB_empty.
    """

    def put(place: Any, name: str, value: Any, refs: Any) -> Any:
        if isinstance(value, list):
            if not value:
                return empty(place, name, (0, 0), "cell")
            items = [put(refs, f"{name}{number}", item, refs) for number, item in enumerate(value)]
            data = np.array([item.ref for item in items], dtype=h5py.ref_dtype)[np.newaxis]
            return tag(place.create_dataset(name, data=data), "cell")
        if isinstance(value, str):
            if not value:
                return empty(place, name, (0, 0), "char")
            units = np.frombuffer(value.encode("utf-16-le"), dtype="<u2")[:, np.newaxis]
            made = tag(place.create_dataset(name, data=units), "char")
            made.attrs["MATLAB_int_decode"] = np.int32(2)
            return made
        array = np.atleast_2d(value)
        if array.dtype == bool:
            made = tag(place.create_dataset(name, data=array.T.astype(np.uint8)), "logical")
            made.attrs["MATLAB_int_decode"] = np.int32(1)
            return made
        kind = "single" if array.dtype == np.float32 else "double"
        if array.size == 0:
            return empty(place, name, array.shape, kind)
        return tag(place.create_dataset(name, data=array.T), kind)

    def tag(made: Any, kind: str) -> Any:
        made.attrs["MATLAB_class"] = np.bytes_(kind)
        return made

    def empty(place: Any, name: str, extents: tuple[int, ...], kind: str) -> Any:
        made = tag(place.create_dataset(name, data=np.array(extents, dtype=np.uint64)), kind)
        made.attrs["MATLAB_empty"] = np.uint8(1)
        return made

    def write_file(path: Path, variable: str, fields: dict[str, Any]) -> None:
        with h5py.File(path, "w", userblock_size=512) as file:
            refs = file.create_group("#refs#")
            struct = tag(file.create_group(variable), "struct")
            for name, value in fields.items():
                plain = value.tolist() if getattr(value, "dtype", None) is not None else value
                is_ids = getattr(value, "dtype", np.dtype(float)).kind == "U"
                put(struct, name, plain if is_ids or isinstance(value, list) else value, refs)
        header = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM"
        with path.open("rb+") as stream:
            stream.write(header)

    return write_file
