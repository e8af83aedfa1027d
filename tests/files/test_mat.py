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
from bosaris_py.files import hdf5, mat
from bosaris_py.trials import Key, Ndx, Scores
from bosaris_py.trials.read import read_any, read_key

KINDS = ("ndx", "key", "scores", "quality_measures", "segment_quality", "id_map")
NAMES = ("ndx", "key", "scores", "quality", "seg_quality", "id_map")


@pytest.mark.parametrize(("kind", "name"), [*zip(KINDS, NAMES, strict=True)])
def test_types_are_those_of_matlab(kind, name, tmp_path, contents, samples, write):
    """Another reader sees the same struct in our file and in the toolkit's."""
    write(tmp_path / "a.mat", kind, contents[kind])
    ours, toolkit = (
        scipy.io.loadmat(path, mat_dtype=True)[hdf5.KINDS[kind].variable]
        for path in (tmp_path / "a.mat", samples / f"{name}.mat")
    )
    assert ours.shape == toolkit.shape == (1, 1)
    assert set(ours.dtype.names) == set(toolkit.dtype.names)
    for field in ours.dtype.names:
        mine, theirs = ours[field][0, 0], toolkit[field][0, 0]
        # Logical matrices are bool here, double ones float64, cells object.
        assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype), field
        if mine.dtype == object:
            mine, theirs = ([cell.tolist() for cell in each.ravel()] for each in (mine, theirs))
        np.testing.assert_equal(mine, theirs)


IDS = ["a", "é語", "", "two words ", "😀"]


def test_ids_of_any_text(tmp_path: Path, write_mat73: Callable[..., None]) -> None:
    mat.write("id_map", tmp_path / "a.mat", leftids=np.array(IDS), rightids=np.array(IDS[::-1]))
    write_mat73(tmp_path / "b.mat", "idmap", {"leftids": IDS, "rightids": IDS[::-1]})
    for name in ("a.mat", "b.mat"):
        found = mat.read("id_map", tmp_path / name)
        assert (found["leftids"].tolist(), found["rightids"].tolist()) == (IDS, IDS[::-1])


@pytest.mark.parametrize("kind", KINDS)
def test_version_73(kind, tmp_path, contents, write_mat73, read, assert_same):
    write_mat73(tmp_path / "a.mat", hdf5.KINDS[kind].variable, contents[kind])
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
    *({"scoremat": np.ones(shape)} for shape in ((1, 2, 3), (2, 4), (3, 2))),
    *({"scoremat": x} for x in (np.ones((2, 3)) * 1j, "text", SCORES["modelset"], {"a": 1.0})),
    {"scoremask": SCORES["scoremat"]},
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


CASES = Path(__file__).parents[1] / "reference" / "cases" / "matlab"


@pytest.mark.parametrize("packed", [True, False])
def test_sparse_masks_of_octave_are_refused(tmp_path: Path, *, packed: bool) -> None:
    """Octave 7.3 marks them as full; 0.3 read fewer trials in silence. -v6 does not compress."""
    for path in sorted((CASES / "octave_sparse").iterdir()):
        cls = {"ndx": Ndx, "key": Key, "scr": Scores}[path.name[:3]]
        if not packed:
            data = path.read_bytes()
            path = tmp_path / path.name
            path.write_bytes(data[:128] + zlib.decompress(data[136:]))
        for read in (cls.read, read_any):
            with pytest.raises(FileFormatError, match=r"save full"):
                read(path)


def test_sparse_matrices_of_matlab(tmp_path: Path, write_mat73: Callable[..., None]) -> None:
    path, scores = tmp_path / "a.mat", np.array([[0, 1.5, 0], [2.5, 0, -3]])
    scipy.io.savemat(path, {"scr": {**SCORES, "scoremat": scipy.sparse.csc_array(scores)}})
    assert np.array_equal(mat.read("scores", path)["scoremat"], scores)
    with pytest.raises(FileFormatError, match="max_bytes"):
        mat.read("scores", path, max_bytes=40)
    # A row that the matrix does not have would be written outside of it.
    data = path.read_bytes()
    rows = np.array([1, 0, 1], "<i4").tobytes()
    assert data.count(rows) == 1
    path.write_bytes(data.replace(rows, np.array([1, 0, 9**9], "<i4").tobytes()))
    with pytest.raises(FileFormatError, match=r"a\.mat"):
        mat.read("scores", path)
    write_mat73(path, "ndx", {"modelset": ["m1", "m2"], "segset": ["s1", "s2", "s3"]})
    parts = {"data": np.ones(2, "u1"), "ir": np.array([1, 0], "u8"), "jc": np.array([0, 1, 1, 2])}

    with h5py.File(path, "r+") as file:
        for name, part in parts.items():
            file[f"ndx/trialmask/{name}"] = part
        file["ndx/trialmask"].attrs["MATLAB_sparse"] = np.uint64(2)
    assert mat.read("ndx", path)["trialmask"].tolist() == [[0, 0, 1], [1, 0, 0]]


def test_ids_that_are_no_cell_array_and_what_to_type(tmp_path: Path) -> None:
    for path in sorted((CASES / "id_types").iterdir()):
        cls = Ndx if path.stem.startswith("numbers") else Key
        with pytest.raises(FileFormatError, match=r"(key|ndx)\.modelset = cellstr"):
            cls.read(path)
    path = tmp_path / "a.mat"
    for modelset in ("m1", [1.0, 2.0], np.array([[1.0], [2.0]], object), {"a": 1}):
        scipy.io.savemat(path, {"scr": {**SCORES, "modelset": modelset}})
        with pytest.raises(FileFormatError, match=r"scr\.modelset = cellstr"):
            mat.read("scores", path)


def test_formats_of_octave_are_named(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.mat", "w") as file:
        # What the option -hdf5 writes.
        file["key/type"], file["key/value"] = np.bytes_("scalar struct"), 1
        file["key"].attrs["OCTAVE_NEW_FORMAT"] = np.uint8(1)
    for path in (*(CASES / "octave_save").iterdir(), tmp_path / "a.mat"):
        for read in (Key.read, read_key):
            with pytest.raises(FileFormatError, match=r"Octave.*-v7"):
                read(path)


@pytest.mark.parametrize("name", ["a.h5", "a.mat"])
@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"m1 s1 0.5\n" * 20, b"\x1f\x8b\x08" + bytes(100)),
        *(b"\x89HDF\r\n\x1a\n" + bytes(200), b"MATLAB 5.0 MAT-file"),
        b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x05IM",
        b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(600),
        b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM\x0e",
    ],
)
def test_foreign_files(tmp_path: Path, read: Any, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FileFormatError, match=name):
        read(tmp_path / name, "scores")


@pytest.mark.parametrize("name", ["a.h5", "a.mat", "7.3"])
@pytest.mark.parametrize("other", KINDS)
def test_every_kind_refuses_every_other(name, other, tmp_path, contents, read, write, write_mat73):
    path = tmp_path / name
    if name == "7.3":
        path = tmp_path / "a.mat"
        write_mat73(path, hdf5.KINDS[other].variable, contents[other])
    else:
        write(path, other, contents[other])
    for kind in {*KINDS} - {other}:
        with pytest.raises(FileFormatError, match=r"a\.(h5|mat)"):
            read(path, kind)
    assert (mat if path.suffix == ".mat" else hdf5).kind_of(path) == other


def put_reference(to: str) -> Callable[[Any], Any]:
    """Let an element of a cell array refer to something else."""

    def change(file: Any) -> None:
        file["column"] = np.array([[97, 98], [99, 100]], dtype="u2")
        file["column"].attrs["MATLAB_class"] = np.bytes_("char")
        file["scr/modelset"][0, 1] = file[to].ref if to else h5py.Reference()

    return change


def lead_out(file: Any) -> None:
    del file["scr/modelset"]
    file["scr/modelset"] = h5py.ExternalLink("o.mat", "/x")


# What is done to a file of version 7.3.
FAULTS_73: dict[str, Callable[[Any], Any]] = {
    "object": lambda file: file["scr"].attrs.update(MATLAB_class=np.bytes_("Scores")),
    "sparse without parts": lambda file: file["scr/scoremat"].attrs.update(MATLAB_sparse=3),
    "empty with content": lambda file: file["scr/scoremat"].attrs.update(MATLAB_empty=1),
    "elsewhere": lead_out,
    **{to or "nothing": put_reference(to) for to in ("", "scr/scoremat", "scr", "column")},
}


@pytest.mark.parametrize("fault", FAULTS_73)
def test_refusals_of_version_73(tmp_path, contents, write_mat73, fault):
    path = tmp_path / "a.mat"
    write_mat73(path, "scr", contents["scores"])
    with h5py.File(path, "r+") as file:
        FAULTS_73[fault](file)
    with pytest.raises(FileFormatError, match=r"a\.mat"):
        mat.read("scores", path)
