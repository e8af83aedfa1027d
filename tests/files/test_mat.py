import struct
import time
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


def test_struct_with_has_but_without_mask(
    tmp_path: Path, contents: dict[str, Arrays], assert_same: Check
) -> None:
    arrays = contents["quality_measures"]
    fields = as_struct({k: v for k, v in arrays.items() if k != "scoremask"})
    scipy.io.savemat(tmp_path / "a.mat", {"qual": fields})
    assert_same(mat.read("quality_measures", tmp_path / "a.mat"), arrays)


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
def test_round_trip(
    kind: str,
    tmp_path: Path,
    contents: dict[str, Arrays],
    read: Reader,
    write: Writer,
    assert_same: Check,
) -> None:
    write(tmp_path / "a.mat", kind, contents[kind])
    assert_same(read(tmp_path / "a.mat", kind), contents[kind])


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


def test_single_precision_stays(tmp_path: Path, contents: dict[str, Arrays]) -> None:
    arrays = dict(contents["scores"])
    arrays["scoremat"] = arrays["scoremat"].astype(np.float32)
    mat.write("scores", tmp_path / "a.mat", **arrays)
    assert mat.read("scores", tmp_path / "a.mat")["scoremat"].dtype == np.float32


def test_arrays_are_read_only(samples: Path, read: Reader) -> None:
    for name, kind in SAMPLES.items():
        for array in read(samples / name, kind).values():
            with pytest.raises(ValueError, match="read-only"):
                array[...] = array


def test_equal_content_gives_equal_bytes(
    tmp_path: Path, contents: dict[str, Arrays], write: Writer
) -> None:
    for kind in KINDS:
        write(tmp_path / f"{kind}.mat", kind, contents[kind])
    # scipy's own header has the time in seconds.
    time.sleep(1.1)
    for kind in KINDS:
        write(tmp_path / "again.mat", kind, contents[kind])
        again = (tmp_path / "again.mat").read_bytes()
        assert again == (tmp_path / f"{kind}.mat").read_bytes()
        assert again.startswith(b"MATLAB 5.0 MAT-file, written by bosaris_py ")


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1), (1, 3), (3, 1)])
def test_extreme_shapes(
    tmp_path: Path,
    read: Reader,
    write: Writer,
    write_mat73: Callable[..., None],
    assert_same: Check,
    shape: tuple[int, int],
) -> None:
    ids = {
        "modelset": np.array([f"m{i}" for i in range(shape[0])], dtype=np.str_),
        "segset": np.array([f"s{i}" for i in range(shape[1])], dtype=np.str_),
    }
    mask = np.indices(shape).sum(axis=0) % 2 == 0
    for kind, arrays in {
        "scores": {**ids, "scoremat": np.ones(shape), "scoremask": mask},
        "key": {**ids, "tar": mask, "non": ~mask},
        "quality_measures": {
            **ids,
            "modelQ": np.ones((2, shape[0])),
            "segQ": np.ones((2, shape[1])),
            "hasmodel": np.ones(shape[0], dtype=bool),
            "hasseg": np.zeros(shape[1], dtype=bool),
            "scoremask": mask,
        },
    }.items():
        write(tmp_path / "a.mat", kind, arrays)
        assert_same(read(tmp_path / "a.mat", kind), arrays)
        write_mat73(tmp_path / "b.mat", VARIABLES[kind], arrays)
        assert_same(read(tmp_path / "b.mat", kind), arrays)


def test_empty_brackets_of_matlab(tmp_path: Path) -> None:
    # ndx = struct(Ndx()): {} {} [], the last a double matrix of 0 x 0.
    fields = {"modelset": np.empty((0, 0), object), "segset": np.empty((0, 0), object)}
    scipy.io.savemat(tmp_path / "a.mat", {"ndx": {**fields, "trialmask": np.empty((0, 0))}})
    found = mat.read("ndx", tmp_path / "a.mat")
    assert found["modelset"].shape == (0,)
    assert found["trialmask"].shape == (0, 0)


IDS = ["a", "é語", "", "two words ", "😀"]


def test_ids_of_any_text(tmp_path: Path, write_mat73: Callable[..., None]) -> None:
    mat.write("id_map", tmp_path / "a.mat", leftids=np.array(IDS), rightids=np.array(IDS[::-1]))
    assert mat.read("id_map", tmp_path / "a.mat")["leftids"].tolist() == IDS
    write_mat73(tmp_path / "b.mat", "idmap", {"leftids": IDS, "rightids": IDS[::-1]})
    found = mat.read("id_map", tmp_path / "b.mat")
    assert found["leftids"].tolist() == IDS
    assert found["rightids"].tolist() == IDS[::-1]


def test_cells_in_a_row_and_masks_of_numbers(tmp_path: Path) -> None:
    row = np.empty((1, 2), dtype=object)
    row[0] = ["m1", "m2"]
    struct_of_numbers = {"modelset": row, "segset": row.T, "trialmask": np.eye(2)}
    scipy.io.savemat(tmp_path / "a.mat", {"ndx": struct_of_numbers})
    found = mat.read("ndx", tmp_path / "a.mat")
    assert found["segset"].tolist() == found["modelset"].tolist() == ["m1", "m2"]
    assert found["trialmask"].tolist() == [[True, False], [False, True]]


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


class TestFormat5:
    """Files put together byte by byte, as MathWorks describes the format."""

    def element(self, kind: int, data: bytes, order: str = "<") -> bytes:
        if 0 < len(data) <= 4:
            return struct.pack(f"{order}I", len(data) << 16 | kind) + data.ljust(4, b"\0")
        return struct.pack(f"{order}II", kind, len(data)) + data + bytes(-len(data) % 8)

    def matrix(
        self,
        kind: int,
        extents: tuple[int, ...],
        contents: bytes,
        name: str = "",
        order: str = "<",
        flags: int = 0,
    ) -> bytes:
        return self.element(
            14,
            self.element(6, struct.pack(f"{order}II", kind | flags, 0), order)
            + self.element(5, struct.pack(f"{order}{len(extents)}i", *extents), order)
            + self.element(1, name.encode(), order)
            + contents,
            order,
        )

    def cells(self, names: list[str], order: str = "<", kind: int = 16) -> bytes:
        codec = {16: "utf-8", 4: f"utf-16-{'le' if order == '<' else 'be'}", 2: "latin-1"}[kind]
        return self.matrix(
            1,
            (len(names), 1),
            b"".join(
                self.matrix(
                    4, (1, len(name)), self.element(kind, name.encode(codec), order), order=order
                )
                for name in names
            ),
            order=order,
        )

    def struct(
        self, name: str, fields: dict[str, bytes], order: str = "<", extents: Any = (1, 1)
    ) -> bytes:
        width = 32
        names = b"".join(field.encode().ljust(width, b"\0") for field in fields)
        contents = (
            self.element(5, struct.pack(f"{order}i", width), order)
            + self.element(1, names, order)
            + b"".join(fields.values())
        )
        return self.matrix(2, extents, contents, name, order)

    def file(self, path: Path, *variables: bytes, order: str = "<") -> Path:
        mark = b"\x00\x01IM" if order == "<" else b"\x01\x00MI"
        path.write_bytes(b"MATLAB 5.0 MAT-file".ljust(124) + mark + b"".join(variables))
        return path

    def scores(self, scoremat: bytes, order: str = "<") -> bytes:
        mask = self.matrix(9, (2, 3), self.element(2, bytes([1, 0, 1, 1, 0, 1])), flags=0x200)
        if order == ">":
            mask = self.matrix(
                9, (2, 3), self.element(2, bytes([1, 0, 1, 1, 0, 1]), ">"), order=">", flags=0x200
            )
        fields = {
            "modelset": self.cells(["m1", "m2"], order),
            "segset": self.cells(["s1", "s2", "s3"], order),
            "scoremat": scoremat,
            "scoremask": mask,
        }
        return self.struct("scr", fields, order)

    @pytest.mark.parametrize(
        ("number_type", "dtype"), [(1, "i1"), (2, "u1"), (3, "i2"), (4, "u2"), (5, "i4"), (9, "f8")]
    )
    @pytest.mark.parametrize("order", ["<", ">"])
    def test_doubles_stored_shorter(
        self, tmp_path: Path, number_type: int, dtype: str, order: str
    ) -> None:
        # MATLAB does that with matrices of whole numbers. Column-major.
        numbers = np.arange(6).astype(order + dtype).tobytes()
        matrix = self.matrix(6, (2, 3), self.element(number_type, numbers, order), order=order)
        path = self.file(tmp_path / "a.mat", self.scores(matrix, order), order=order)
        found = mat.read("scores", path)
        assert found["scoremat"].dtype == np.float64
        assert found["scoremat"].tolist() == [[0, 2, 4], [1, 3, 5]]
        assert found["scoremask"].tolist() == [[True, True, False], [False, True, True]]
        assert found["segset"].tolist() == ["s1", "s2", "s3"]

    def test_among_other_variables_and_compressed(self, tmp_path: Path) -> None:
        numbers = self.element(9, np.arange(6.0).tobytes())
        scores = self.scores(self.matrix(6, (2, 3), numbers))
        packed = zlib.compress(scores)
        other = self.matrix(6, (1, 1), self.element(9, np.ones(1).tobytes()), "x")
        path = self.file(
            tmp_path / "a.mat",
            other,
            # A compressed element is not padded.
            struct.pack("<II", 15, len(packed)) + packed,
            other,
        )
        assert mat.read("scores", path)["scoremat"].tolist() == [[0, 2, 4], [1, 3, 5]]

    @pytest.mark.parametrize("kind", [16, 4])
    @pytest.mark.parametrize("order", ["<", ">"])
    def test_characters_stored_in_any_way(self, tmp_path: Path, kind: int, order: str) -> None:
        names = ["é", "abcdefg"]
        cells = self.cells(names, order, kind)
        fields = {"leftids": cells, "rightids": cells}
        path = self.file(tmp_path / "a.mat", self.struct("idmap", fields, order), order=order)
        assert mat.read("id_map", path)["leftids"].tolist() == names

    def test_field_that_was_never_set(self, tmp_path: Path) -> None:
        nothing = self.element(14, b"")
        fields = {"modelset": nothing, "segset": nothing, "trialmask": nothing}
        found = mat.read("ndx", self.file(tmp_path / "a.mat", self.struct("ndx", fields)))
        assert found["modelset"].size == found["trialmask"].size == 0

    def test_refusals(self, tmp_path: Path) -> None:
        path = tmp_path / "a.mat"
        six = self.element(9, np.arange(6.0).tobytes())
        text = self.matrix(4, (1, 1), self.element(16, b"x"))
        for field in (
            self.matrix(6, (2, 3), six + six, flags=0x800),
            text,
            self.matrix(6, (1, 2, 3), six),
            self.matrix(6, (2, 4), six),
            self.matrix(6, (3, 2), six),
        ):
            self.file(path, self.scores(field))
            with pytest.raises(FileFormatError, match=r"a\.mat"):
                mat.read("scores", path)
        good = self.matrix(6, (2, 3), six)
        two_rows = self.matrix(4, (2, 1), self.element(16, b"ab"))
        bad_text = self.matrix(4, (1, 2), self.element(16, b"\xff\xff"))
        latin = self.matrix(4, (1, 1), self.element(2, b"\xe9"))
        bad_cells = (self.matrix(1, (1, 1), each) for each in (good, two_rows, bad_text, latin))
        for cells in (text, good, *bad_cells):
            self.file(path, self.struct("idmap", {"leftids": cells, "rightids": cells}))
            with pytest.raises(FileFormatError, match=r"a\.mat"):
                mat.read("id_map", path)
        fields = {"leftids": self.cells(["a"]), "rightids": self.cells(["a", "b"])}
        for variable in (
            self.matrix(3, (1, 1), six, "idmap"),
            self.matrix(6, (2, 3), six, "idmap"),
            self.struct("idmap", {}, extents=(1, 2)),
            self.struct("idmap", fields),
            self.struct("idmap", {"leftids": self.cells(["a"])}),
            self.matrix(6, (2, 3), six, "x"),
            b"",
        ):
            self.file(path, variable)
            with pytest.raises(FileFormatError, match=r"a\.mat"):
                mat.read("id_map", path)


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


def test_sparse_masks_of_others_are_refused(tmp_path: Path) -> None:
    fields = {"modelset": np.array([["m"]], object), "segset": np.array([["s"]], object)}
    fields["trialmask"] = scipy.sparse.csc_array(np.ones((1, 1)))
    scipy.io.savemat(tmp_path / "a.mat", {"ndx": fields})
    with pytest.raises(FileFormatError, match=r"full\(x\)"):
        mat.read("ndx", tmp_path / "a.mat")


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


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        mat.read("scores", tmp_path / "none.mat")
    assert not isinstance(caught.value, FileFormatError)


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


def as_opaque(file: Any) -> None:
    del file["scr"]
    file["scr"] = np.ones((1, 6), dtype="u4")
    file["scr"].attrs["MATLAB_class"] = np.bytes_("Scores")
    file["scr"].attrs["MATLAB_object_decode"] = np.int32(3)


def as_matrix(file: Any) -> None:
    del file["scr"]
    file["scr"] = np.ones((1, 6))
    file["scr"].attrs["MATLAB_class"] = np.bytes_("double")


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


def to_region(file: Any) -> None:
    del file["scr/modelset"]
    data = np.array([[file["scr/scoremat"].regionref[:]] * 3], dtype=h5py.regionref_dtype)
    file.create_dataset("scr/modelset", data=data, dtype=h5py.regionref_dtype)


def linked(file: Any) -> None:
    file.move("scr/scoremat", "elsewhere")
    file["scr/scoremat"] = h5py.SoftLink("/elsewhere")


def external(file: Any) -> None:
    del file["scr"]
    file["scr"] = h5py.ExternalLink("other.mat", "/scr")


def cube(file: Any) -> None:
    del file["scr/scoremat"]
    file["scr/scoremat"] = np.ones(12)


def false_empty(file: Any) -> None:
    file["scr/scoremat"].attrs["MATLAB_empty"] = 1


def complex_numbers(file: Any) -> None:
    del file["scr/scoremat"]
    file["scr/scoremat"] = np.ones((4, 3), dtype=[("real", "f8"), ("imag", "f8")])


@pytest.mark.parametrize(
    "change",
    [
        *(as_object, as_opaque, as_matrix, as_sparse, without_target, to_numbers, to_group),
        *(to_column, to_region, linked, external, cube, false_empty, complex_numbers),
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


def test_limit_of_the_caller_in_version_73(
    tmp_path: Path, contents: dict[str, Arrays], write_mat73: Callable[..., None]
) -> None:
    write_mat73(tmp_path / "a.mat", "scr", contents["scores"])
    with pytest.raises(FileFormatError, match="max_bytes"):
        mat.read("scores", tmp_path / "a.mat", max_bytes=500)


def test_fault_while_writing_leaves_the_old_file(
    tmp_path: Path, contents: dict[str, Arrays], monkeypatch: pytest.MonkeyPatch, assert_same: Check
) -> None:
    path = tmp_path / "a.mat"
    mat.write("scores", path, **contents["scores"])

    def fail(name: str, *_: object, **__: object) -> None:
        Path(name).write_bytes(b"half")
        message = "No space left on device"
        raise OSError(message)

    monkeypatch.setattr(scipy.io, "savemat", fail)
    with pytest.raises(OSError, match="No space left"):
        mat.write("scores", path, **contents["scores"])
    assert list(tmp_path.iterdir()) == [path]
    assert_same(mat.read("scores", path), contents["scores"])
