import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse

from bosaris_py.errors import FileFormatError
from bosaris_py.files import mat
from bosaris_py.trials import Key, Ndx, Scores
from bosaris_py.trials.read import read_any

Arrays = dict[str, np.ndarray]
Reader = Callable[..., Arrays]
Writer = Callable[..., None]
Check = Callable[[Arrays, Arrays], None]

KINDS = ("ndx", "key", "scores", "quality_measures", "segment_quality", "id_map")
VARIABLES = {
    "ndx": "ndx",
    "key": "key",
    "scores": "scr",
    "quality_measures": "qual",
    "segment_quality": "qual",
    "id_map": "idmap",
}
SAMPLES = {
    "ndx.mat": "ndx",
    "key.mat": "key",
    "scores.mat": "scores",
    "quality.mat": "quality_measures",
    "seg_quality.mat": "segment_quality",
    "id_map.mat": "id_map",
}


@pytest.mark.parametrize(("name", "kind"), SAMPLES.items())
def test_samples(
    name: str,
    kind: str,
    samples: Path,
    contents: dict[str, Arrays],
    read: Reader,
    assert_same: Check,
) -> None:
    assert_same(read(samples / name, kind), contents[kind])


def test_struct_of_an_early_release(
    samples: Path, contents: dict[str, Arrays], assert_same: Check
) -> None:
    expected = contents["quality_measures"] | {"hasmodel": np.ones(3, dtype=bool)}
    assert_same(mat.read("quality_measures", samples / "quality_oldstruct.mat"), expected)


def as_struct(arrays: Arrays) -> dict[str, Any]:
    """The fields as MATLAB has them: ids as cell columns."""
    fields: dict[str, Any] = {}
    for name, array in arrays.items():
        fields[name] = array
        if array.dtype.kind == "U":
            fields[name] = np.empty((array.size, 1), dtype=object)
            fields[name][:, 0] = array
    return fields


@pytest.mark.parametrize("kind", KINDS)
def test_types_are_those_of_matlab(
    kind: str, tmp_path: Path, contents: dict[str, Arrays], samples: Path, write: Writer
) -> None:
    """Another reader sees the same struct in our file and in the toolkit's."""
    name = next(name for name, of in SAMPLES.items() if of == kind)
    write(tmp_path / "a.mat", kind, contents[kind])
    ours, toolkit = (
        scipy.io.loadmat(path, mat_dtype=True)[VARIABLES[kind]]
        for path in (tmp_path / "a.mat", samples / name)
    )
    assert ours.shape == toolkit.shape == (1, 1)
    assert set(ours.dtype.names) == set(toolkit.dtype.names)
    for field in ours.dtype.names:
        mine, theirs = ours[field][0, 0], toolkit[field][0, 0]
        # Logical matrices are bool here, double ones float64, cells object.
        assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype), field
        if mine.dtype == object:
            assert [cell.tolist() for cell in mine.ravel()] == [
                cell.tolist() for cell in theirs.ravel()
            ]
        else:
            assert np.array_equal(mine, theirs)


IDS = ["a", "é語", "", "two words ", "😀"]


def test_ids_of_any_text(tmp_path: Path, write_mat73: Callable[..., None]) -> None:
    mat.write("id_map", tmp_path / "a.mat", leftids=np.array(IDS), rightids=np.array(IDS[::-1]))
    assert mat.read("id_map", tmp_path / "a.mat")["leftids"].tolist() == IDS
    write_mat73(tmp_path / "b.mat", "idmap", {"leftids": IDS, "rightids": IDS[::-1]})
    found = mat.read("id_map", tmp_path / "b.mat")
    assert found["leftids"].tolist() == IDS
    assert found["rightids"].tolist() == IDS[::-1]


@pytest.mark.parametrize("kind", KINDS)
def test_version_73(
    kind: str,
    tmp_path: Path,
    contents: dict[str, Arrays],
    write_mat73: Callable[..., None],
    read: Reader,
    assert_same: Check,
) -> None:
    write_mat73(tmp_path / "a.mat", VARIABLES[kind], contents[kind])
    assert_same(read(tmp_path / "a.mat", kind), contents[kind])


SCORES = {
    "modelset": np.array([["m1"], ["m2"]], object),
    "segset": np.array([["s1"], ["s2"], ["s3"]], object),
    "scoremat": np.arange(6.0).reshape(2, 3),
    "scoremask": np.array([[True, False, True], [True, True, False]]),
}
TWO = np.zeros((1, 2), [("leftids", object), ("rightids", object)])
# What is wrong in a file: a variable, or a field of `scr`.
WRONG: list[dict[str, Any]] = [
    {"scoremat": SCORES["scoremat"] * 1j},
    {"scoremat": "text"},
    {"scoremat": SCORES["modelset"]},
    {"scoremat": np.ones((1, 2, 3))},
    {"scoremat": np.ones((2, 4))},
    {"scoremat": np.ones((3, 2))},
    {"scoremat": {"a": 1.0}},
    {"scoremat": scipy.sparse.csc_array(np.ones((2, 3)))},
    {"scoremask": SCORES["scoremat"]},
    {"modelset": "m1"},
    {"modelset": np.array([[1.0], [2.0]], object)},
    {"modelset": np.array([[np.array(["ab", "cd"])], ["m2"]], object)},
    {"modelset": np.array([["m1", "m2"], ["m3", "m4"]], object)},
    {"modelset": SCORES["segset"]},
    {"segset": None},
]


@pytest.mark.parametrize("change", WRONG)
def test_refusals(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "a.mat"
    fields = {name: value for name, value in {**SCORES, **change}.items() if value is not None}
    scipy.io.savemat(path, {"scr": fields, "other": 1.0})
    with pytest.raises(FileFormatError, match=r"a\.mat"):
        mat.read("scores", path)


@pytest.mark.parametrize("variables", [{"idmap": np.ones((2, 3))}, {"idmap": TWO}, {"x": 1.0}, {}])
def test_no_struct(tmp_path: Path, variables: dict[str, Any]) -> None:
    scipy.io.savemat(tmp_path / "a.mat", variables)
    with pytest.raises(FileFormatError, match=r"a\.mat"):
        mat.read("id_map", tmp_path / "a.mat")


def test_truncated_files(tmp_path: Path) -> None:
    path = tmp_path / "a.mat"
    for packed in (False, True):
        scipy.io.savemat(path, {"scr": SCORES}, do_compression=packed)
        data = path.read_bytes()
        assert mat.read("scores", path)["segset"].tolist() == ["s1", "s2", "s3"]
        for size in range(0, len(data) - 8, 37):
            path.write_bytes(data[:size])
            with pytest.raises(FileFormatError, match=r"a\.mat"):
                mat.read("scores", path)


SPARSE = {
    "ndx_sp_full2x4_v7.mat": Ndx,
    "ndx_sp_full1x4_v7.mat": Ndx,
    "ndx_sp_full3x4_v7.mat": Ndx,
    "ndx_sp_part2x4_v7.mat": Ndx,
    "scr_spmask_v7.mat": Scores,
    "key_sptar_v7.mat": Key,
}


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(("name", "cls"), SPARSE.items())
def test_sparse_masks_of_octave_are_refused(
    name: str, cls: Any, tmp_path: Path, *, packed: bool
) -> None:
    """Octave 7.3 marks them as full; 0.3 read fewer trials in silence. -v6 does not compress."""
    path = Path(__file__).parent / "octave_sparse" / name
    if not packed:
        data = path.read_bytes()
        path = tmp_path / name
        path.write_bytes(data[:128] + zlib.decompress(data[136:]))
    for read in (cls.read, read_any):
        with pytest.raises(FileFormatError, match=r"save full\(x\)"):
            read(path)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"m1 s1 0.5\n" * 20,
        b"MATLAB 5.0 MAT-file",
        b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x05IM",
        b"\x89HDF\r\n\x1a\n" + bytes(200),
        b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(600),
        b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM\x0e",
        b"# Created by Octave 7.3.0",
        b"Octave-1-L" + bytes(200),
    ],
)
def test_foreign_files(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.mat"
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=r"a\.mat"):
        mat.read("scores", path)


@pytest.mark.parametrize("version", ["5", "7.3"])
def test_every_kind_refuses_every_other(
    version: str,
    tmp_path: Path,
    contents: dict[str, Arrays],
    read: Reader,
    write: Writer,
    write_mat73: Callable[..., None],
) -> None:
    path = tmp_path / "a.mat"
    for other in KINDS:
        if version == "5":
            write(path, other, contents[other])
        else:
            write_mat73(path, VARIABLES[other], contents[other])
        for kind in KINDS:
            if kind == other:
                continue
            with pytest.raises(FileFormatError, match=r"a\.mat"):
                read(path, kind)
        assert mat.kind_of(path) == other


def change_73(path: Path, change: Callable[[Any], None]) -> Path:
    """Change the HDF5 part of a file of version 7.3."""
    with h5py.File(path, "r+") as file:
        change(file)
    return path


def as_object(file: Any) -> None:
    file["scr"].attrs["MATLAB_class"] = np.bytes_("Scores")


def as_sparse(file: Any) -> None:
    del file["scr/scoremat"]
    file.create_group("scr/scoremat").attrs["MATLAB_sparse"] = 3


def without_target(file: Any) -> None:
    file["scr/modelset"][0, 1] = h5py.Reference()


def to_numbers(file: Any) -> None:
    file["scr/modelset"][0, 1] = file["scr/scoremat"].ref


def to_group(file: Any) -> None:
    file["scr/modelset"][0, 1] = file["scr"].ref


def to_column(file: Any) -> None:
    file["#refs#/column"] = np.array([[97, 98], [99, 100]], dtype="u2")
    file["#refs#/column"].attrs["MATLAB_class"] = np.bytes_("char")
    file["scr/modelset"][0, 1] = file["#refs#/column"].ref


def external(file: Any) -> None:
    del file["scr"]
    file["scr"] = h5py.ExternalLink("other.mat", "/scr")


def false_empty(file: Any) -> None:
    file["scr/scoremat"].attrs["MATLAB_empty"] = 1


@pytest.mark.parametrize(
    "change",
    [
        *(as_object, as_sparse, without_target, to_numbers, to_group),
        *(to_column, external, false_empty),
    ],
)
def test_refusals_of_version_73(
    tmp_path: Path,
    contents: dict[str, Arrays],
    write_mat73: Callable[..., None],
    change: Callable[[Any], None],
) -> None:
    path = tmp_path / "a.mat"
    write_mat73(path, "scr", contents["scores"])
    change_73(path, change)
    with pytest.raises(FileFormatError, match=r"a\.mat"):
        mat.read("scores", path)
