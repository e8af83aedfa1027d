import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from bosaris_py.errors import FileFormatError, InvalidInputError, OldFormatWarning
from bosaris_py.files import hdf5
from bosaris_py.trials import Key, Ndx, read_key

Arrays = dict[str, np.ndarray]
Reader = Callable[..., Arrays]
Writer = Callable[..., None]
Check = Callable[[Arrays, Arrays], None]

KINDS = ("ndx", "key", "scores", "quality_measures", "segment_quality", "id_map")
SAMPLES = {
    "ndx.h5": "ndx",
    "key.h5": "key",
    "key_ids_nullpad.h5": "key",
    "key_ids_vlen.h5": "key",
    "key_ids_row2d.h5": "key",
    "key_ids_col2d.h5": "key",
    "scores.h5": "scores",
    "quality.h5": "quality_measures",
    "seg_quality.h5": "segment_quality",
    "id_map.h5": "id_map",
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


def test_old_key_warns_at_the_line_of_the_caller(
    samples: Path, contents: dict[str, Arrays], assert_same: Check
) -> None:
    with pytest.warns(OldFormatWarning, match="key_oldformat.h5.*two masks") as caught:
        found = hdf5.read("key", samples / "key_oldformat.h5")
    assert_same(found, contents["key"])
    assert caught[0].filename == __file__


def test_single_precision_stays(
    samples: Path, contents: dict[str, Arrays], assert_same: Check
) -> None:
    expected = dict(contents["scores"])
    expected["scoremat"] = expected["scoremat"].astype(np.float32)
    assert_same(hdf5.read("scores", samples / "scores_single.h5"), expected)


def test_quality_without_has_is_all_true(
    samples: Path, contents: dict[str, Arrays], assert_same: Check
) -> None:
    expected = contents["quality_measures"] | {"hasmodel": np.ones(3, dtype=bool)}
    assert_same(hdf5.read("quality_measures", samples / "quality_no_has.h5"), expected)


def test_quality_score_mask_is_honoured(
    tmp_path: Path, contents: dict[str, Arrays], assert_same: Check
) -> None:
    # The toolkit writes /score_mask and ignores it on reading: a deliberate difference.
    arrays = dict(contents["quality_measures"])
    arrays["scoremask"] = np.repeat(arrays["hasmodel"], 4).reshape(3, 4)
    hdf5.write("quality_measures", tmp_path / "q.h5", **arrays)
    assert_same(hdf5.read("quality_measures", tmp_path / "q.h5"), arrays)


def test_arrays_are_read_only(samples: Path, read: Reader) -> None:
    for name, kind in SAMPLES.items():
        for array in read(samples / name, kind).values():
            with pytest.raises(ValueError, match="read-only"):
                array[...] = array


@pytest.mark.parametrize("name", ["core-core_det5_key.h5", "core-core_det5_ndx.h5"])
def test_files_of_nist_sre10(shared_data: Path, name: str, tmp_path: Path) -> None:
    # 580 models, 712 segments, 708 targets, 29665 non-targets: data/sre10_det5_h5/README.md.
    path = shared_data / "sre10_det5_h5" / name
    kind = "key" if "key" in name else "ndx"
    found = hdf5.read(kind, path)
    assert (found["modelset"].size, found["segset"].size) == (580, 712)
    counts = [np.count_nonzero(found[m]) for m in ("tar", "non", "trialmask") if m in found]
    assert counts == ([708, 29665] if kind == "key" else [30373])
    hdf5.write(kind, tmp_path / name, **found)
    again = hdf5.read(kind, tmp_path / name)
    assert all(np.array_equal(again[field], array) for field, array in found.items())


def describe(path: Path) -> dict[str, dict[str, Any]]:
    """Everything that MATLAB, h5dump or h5py can tell about the data sets of a file."""
    found = {}

    def visit(name: str, item: Any) -> None:
        if not isinstance(item, h5py.Dataset):
            return
        kind = item.id.get_type()
        found[name] = {
            "shape": item.shape,
            "class": kind.get_class(),
            "size": kind.get_size(),
            "growth": item.maxshape == item.shape,
            "attributes": list(item.attrs),
            "value": item[()].tolist(),
        }
        if isinstance(kind, h5py.h5t.TypeStringID):
            found[name]["string"] = (kind.is_variable_str(), kind.get_strpad(), kind.get_cset())
        else:
            found[name]["type"] = item.dtype.str

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, kind) for name, kind in SAMPLES.items() if "_ids_" not in name]
    + [("scores_single.h5", "scores")],
)
def test_written_files_are_those_of_the_toolkit(
    name: str, kind: str, samples: Path, tmp_path: Path, read: Reader, write: Writer
) -> None:
    write(tmp_path / name, kind, read(samples / name, kind))
    assert describe(tmp_path / name) == describe(samples / name)


def test_root_attributes(tmp_path: Path, contents: dict[str, Arrays], write: Writer) -> None:
    for kind in KINDS:
        write(tmp_path / "a.h5", kind, contents[kind])
        with h5py.File(tmp_path / "a.h5") as file:
            assert file.attrs["format"] == f"bosaris_py.{kind}".encode()
            assert file.attrs["format_version"] == b"1.0"
            assert file.attrs["created_by"].startswith(b"bosaris_py ")
            for name in file.attrs:
                kind_of_text = file.attrs.get_id(name).get_type()
                assert kind_of_text.get_strpad() == h5py.h5t.STR_NULLTERM
                assert not kind_of_text.is_variable_str()


def test_equal_content_gives_equal_bytes(
    tmp_path: Path, contents: dict[str, Arrays], write: Writer, rng: np.random.Generator
) -> None:
    large = {
        "scoremat": rng.standard_normal((70, 3000)),
        "scoremask": rng.random((70, 3000)) < 0.5,
        "modelset": np.array([f"m{i}" for i in range(70)]),
        "segset": np.array([f"é{i}" for i in range(3000)]),
    }
    objects = [*contents.items(), ("scores", large)]
    for number, (kind, arrays) in enumerate(objects):
        write(tmp_path / f"{number}.h5", kind, arrays)
    # HDF5 stamps in seconds.
    time.sleep(1.1)
    for number, (kind, arrays) in enumerate(objects):
        write(tmp_path / "again.h5", kind, {k: np.array(v) for k, v in arrays.items()})
        assert (tmp_path / "again.h5").read_bytes() == (tmp_path / f"{number}.h5").read_bytes()


def test_the_oldest_format_of_the_library_is_written(
    tmp_path: Path, contents: dict[str, Arrays]
) -> None:
    # Byte 8 is the version of the superblock; 0 is what HDF5 1.6 and 1.8 wrote.
    hdf5.write("ndx", tmp_path / "a.h5", **contents["ndx"])
    assert (tmp_path / "a.h5").read_bytes()[8] == 0


def test_non_ascii_ids_are_utf8(tmp_path: Path) -> None:
    ids = ["é", "語語", "a"]
    hdf5.write(
        "id_map", tmp_path / "a.h5", leftids=np.array(ids), rightids=np.array(["1", "2", "3"])
    )
    with h5py.File(tmp_path / "a.h5") as file:
        left, right = (file[name].id.get_type() for name in ("left_ids", "right_ids"))
        # The longest is two characters of three bytes.
        assert (left.get_size(), left.get_cset()) == (7, h5py.h5t.CSET_UTF8)
        assert (right.get_size(), right.get_cset()) == (2, h5py.h5t.CSET_ASCII)
    assert hdf5.read("id_map", tmp_path / "a.h5")["leftids"].tolist() == ids


def make_scores(shape: tuple[int, int], dtype: type = float) -> Arrays:
    """Distinct scores with a checkered mask."""
    models, segments = shape
    return {
        "scoremat": np.arange(models * segments, dtype=dtype).reshape(shape),
        "modelset": np.array([f"m{i}" for i in range(models)], dtype=np.str_),
        "segset": np.array([f"s{i}" for i in range(segments)], dtype=np.str_),
        "scoremask": np.indices(shape).sum(axis=0) % 2 == 0,
    }


@pytest.mark.parametrize(
    ("shape", "dtype", "chunks", "mask_chunks"),
    [
        # One chunk of the full size up to a mebibyte, as the toolkit writes.
        ((3, 4), np.float64, (3, 4), (3, 4)),
        ((256, 512), np.float64, (256, 512), (256, 512)),
        # 2**20 // (8 * 1000) = 131 and 2**20 // (4 * 1000) = 262 rows; 2**20 // 1000 = 1048.
        ((1100, 1000), np.float64, (131, 1000), (1048, 1000)),
        ((1100, 1000), np.float32, (262, 1000), (1048, 1000)),
        # Rows longer than a chunk: 2**20 // 8 columns.
        ((2, 140000), np.float64, (1, 131072), (2, 140000)),
        ((300, 4), np.float64, (300, 4), (300, 4)),
    ],
)
def test_chunks(
    tmp_path: Path,
    assert_same: Check,
    shape: tuple[int, int],
    dtype: type,
    chunks: tuple[int, int],
    mask_chunks: tuple[int, int],
) -> None:
    arrays = make_scores(shape, dtype)
    hdf5.write("scores", tmp_path / "a.h5", **arrays)
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["scores"].chunks == chunks
        assert file["scores"].compression is None
        assert file["score_mask"].chunks == mask_chunks
        assert file["scores"].fletcher32
        assert file["score_mask"].fletcher32
        is_tiny = np.prod(shape) < 4096
        assert file["score_mask"].compression == (None if is_tiny else "gzip")
    assert_same(hdf5.read("scores", tmp_path / "a.h5"), arrays)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1), (1, 3), (3, 1)])
def test_extreme_shapes(
    tmp_path: Path, assert_same: Check, read: Reader, write: Writer, shape: tuple[int, int]
) -> None:
    scores = make_scores(shape)
    ids = {name: scores[name] for name in ("modelset", "segset")}
    mask = scores["scoremask"]
    for kind, arrays in {
        "scores": scores,
        "ndx": {**ids, "trialmask": mask},
        "key": {**ids, "tar": mask, "non": ~mask},
        "quality_measures": {
            **ids,
            "modelQ": np.ones((2, shape[0])),
            "segQ": np.ones((2, shape[1])),
            "hasmodel": np.ones(shape[0], dtype=bool),
            "hasseg": np.zeros(shape[1], dtype=bool),
            "scoremask": mask,
        },
        "segment_quality": {"ids": ids["modelset"], "values": np.ones((2, shape[0]))},
        "id_map": {"leftids": ids["modelset"], "rightids": ids["modelset"]},
    }.items():
        write(tmp_path / "a.h5", kind, arrays)
        assert_same(read(tmp_path / "a.h5", kind), arrays)


def test_order_of_memory_does_not_matter(tmp_path: Path, assert_same: Check) -> None:
    arrays = make_scores((5, 7))
    fortran = {name: np.asfortranarray(array) for name, array in arrays.items()}
    hdf5.write("scores", tmp_path / "a.h5", **fortran)
    assert_same(hdf5.read("scores", tmp_path / "a.h5"), arrays)


@pytest.fixture
def craft(tmp_path: Path) -> Callable[..., Path]:
    """Write data sets as given, as another program might."""

    def write_file(**datasets: Any) -> Path:
        path = tmp_path / "crafted.h5"
        with h5py.File(path, "w") as file:
            for name, value in datasets.items():
                target = name.replace("__", "/")
                if isinstance(value, dict):
                    file.create_dataset(target, **value)
                else:
                    file[target] = value
        return path

    return write_file


IDS = {"ID__row_ids": np.array([b"m1", b"m2"]), "ID__column_ids": np.array([b"s1", b"s2", b"s3"])}
MASK = np.array([[1, 0, 1], [0, 0, 1]])
LABELS = np.array([[1, 0, -1], [-1, 0, 1]])


@pytest.mark.parametrize("dtype", ["i1", "u1", "?", "i2", ">u4", "i8", "f4", "f8", ">f8"])
def test_masks_of_any_type(craft: Callable[..., Path], dtype: str) -> None:
    path = craft(**IDS, scores=np.ones((2, 3)), score_mask=MASK.astype(dtype))
    found = hdf5.read("scores", path)["scoremask"]
    assert found.dtype == bool
    assert found.tolist() == MASK.tolist()


@pytest.mark.parametrize("dtype", ["i1", "i2", ">i4", "f4", "f8"])
def test_keys_of_any_signed_type(craft: Callable[..., Path], dtype: str) -> None:
    found = hdf5.read("key", craft(**IDS, trial_mask=LABELS.astype(dtype)))
    assert np.array_equal(found["tar"], LABELS == 1)
    assert np.array_equal(found["non"], LABELS == -1)


@pytest.mark.parametrize("dtype", ["i1", "u1", "?", "i4", "f8"])
def test_ndx_of_any_type(craft: Callable[..., Path], dtype: str) -> None:
    found = hdf5.read("ndx", craft(**IDS, trial_mask=MASK.astype(dtype)))
    assert np.array_equal(found["trialmask"], MASK == 1)


@pytest.mark.parametrize(
    ("dtype", "result"),
    [
        ("f2", "f4"),
        ("f4", "f4"),
        (">f4", "f4"),
        ("f8", "f8"),
        (">f8", "f8"),
        ("i2", "f8"),
        ("u8", "f8"),
    ],
)
def test_scores_of_any_real_type(craft: Callable[..., Path], dtype: str, result: str) -> None:
    values = np.arange(6).reshape(2, 3).astype(dtype)
    found = hdf5.read("scores", craft(**IDS, scores=values, score_mask=MASK.astype("u1")))
    assert found["scoremat"].dtype == np.dtype(result)
    assert np.array_equal(found["scoremat"], np.arange(6).reshape(2, 3))


def padded_strings(padding: int, cset: int, encoded: np.ndarray) -> Callable[[Any, str], None]:
    """Make a data set of fixed-length strings with a given padding."""

    def put(file: Any, name: str) -> None:
        kind = h5py.h5t.C_S1.copy()
        kind.set_size(encoded.dtype.itemsize)
        kind.set_strpad(padding)
        kind.set_cset(cset)
        space = h5py.h5s.create_simple(encoded.shape)
        dataset = h5py.h5d.create(file.id, name.encode(), kind, space)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, encoded, mtype=kind)

    return put


@pytest.mark.parametrize(
    ("padding", "stored", "expected"),
    [
        (h5py.h5t.STR_NULLPAD, [b"ab\0\0", b"abcd"], ["ab", "abcd"]),
        (h5py.h5t.STR_SPACEPAD, [b"ab  ", b"abcd"], ["ab", "abcd"]),
        # A C program that does not clear its buffer leaves rubbish behind the end.
        (h5py.h5t.STR_NULLTERM, [b"ab\0x", b"abc\0", b"\0xyz"], ["ab", "abc", ""]),
        (h5py.h5t.STR_NULLTERM, [b" a\0\0", b"b \0\0"], [" a", "b "]),
        # UTF-8 in a type that says ASCII: what numpy's encode and h5py make together.
        (h5py.h5t.STR_NULLPAD, ["é".encode(), b"abcd"], ["é", "abcd"]),
    ],
)
def test_padding_of_strings(
    tmp_path: Path, padding: int, stored: list[bytes], expected: list[str]
) -> None:
    path = tmp_path / "a.h5"
    put = padded_strings(padding, h5py.h5t.CSET_ASCII, np.array(stored, dtype="S4"))
    with h5py.File(path, "w") as file:
        put(file, "left_ids")
        put(file, "right_ids")
    assert hdf5.read("id_map", path)["leftids"].tolist() == expected


@pytest.mark.parametrize("shape", [(3,), (1, 3), (3, 1)])
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_variable_strings(tmp_path: Path, shape: tuple[int, ...], encoding: str) -> None:
    names = ["a", "", "long name" if encoding == "ascii" else "長い名前"]
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        data = np.array(names, dtype=object).reshape(shape)
        for name in ("left_ids", "right_ids"):
            file.create_dataset(name, data=data, dtype=h5py.string_dtype(encoding))
    assert hdf5.read("id_map", path)["leftids"].tolist() == names


@pytest.mark.parametrize("shape", [(100,), (1, 100), (100, 1)])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"chunks": True},
        {"chunks": True, "compression": "gzip", "shuffle": True},
        {"maxshape": True, "compression": "gzip"},
    ],
)
def test_storage_of_variable_strings(
    tmp_path: Path, shape: tuple[int, ...], options: dict[str, Any]
) -> None:
    names = [f"id{'x' * (number % 50)}{number}" for number in range(100)]
    if "chunks" in options:
        # Does not divide the shape.
        options = options | {"chunks": tuple(min(extent, 7) for extent in shape)}
    if "maxshape" in options:
        options = options | {"maxshape": tuple(None for _ in shape)}
    path = tmp_path / "a.h5"
    for block in (0, 512):
        with h5py.File(path, "w", userblock_size=block) as file:
            for name in ("left_ids", "right_ids"):
                data = np.array(names, dtype=object).reshape(shape)
                file.create_dataset(name, data=data, dtype=h5py.string_dtype(), **options)
        assert hdf5.read("id_map", path)["rightids"].tolist() == names


def test_variable_strings_never_written_are_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("left_ids", (3,), dtype=h5py.string_dtype())
        chunked = file.create_dataset("right_ids", (3,), h5py.string_dtype(), chunks=(2,))
        chunked[2] = "c"
    found = hdf5.read("id_map", path)
    assert found["leftids"].tolist() == ["", "", ""]
    assert found["rightids"].tolist() == ["", "", "c"]


@pytest.mark.parametrize(("models", "segments"), [(1, 3), (3, 1)])
def test_one_row_or_column_as_a_vector(
    craft: Callable[..., Path], models: int, segments: int
) -> None:
    ids = {
        "ID__row_ids": np.array([b"m1", b"m2", b"m3"][:models]),
        "ID__column_ids": np.array([b"s1", b"s2", b"s3"][:segments]),
    }
    key = hdf5.read("key", craft(**ids, trial_mask=np.array([1, 0, -1], dtype="i1")))
    assert key["tar"].shape == (models, segments)
    assert key["tar"].ravel().tolist() == [True, False, False]
    scores = hdf5.read(
        "scores", craft(**ids, scores=np.arange(3.0), score_mask=np.array([1, 0, 1], dtype="u1"))
    )
    assert scores["scoremat"].shape == scores["scoremask"].shape == (models, segments)


@pytest.mark.parametrize("shape", [(2,), (1, 2), (2, 1)])
def test_has_row_as_vector_row_or_column(
    craft: Callable[..., Path], shape: tuple[int, ...]
) -> None:
    path = craft(
        **IDS,
        modelQ=np.ones((2, 2)),
        segQ=np.ones((2, 3)),
        score_mask=MASK.astype("u1"),
        ID__has_row=np.array([1, 0], dtype="u1").reshape(shape),
        ID__has_column=np.array([[1, 1, 0]], dtype="u1"),
    )
    found = hdf5.read("quality_measures", path)
    assert found["hasmodel"].tolist() == [True, False]
    assert found["hasseg"].tolist() == [True, True, False]


def test_one_measure_as_a_vector(craft: Callable[..., Path]) -> None:
    found = hdf5.read("quality_measures", craft(**IDS, modelQ=np.arange(2.0), segQ=np.arange(3.0)))
    assert found["modelQ"].tolist() == [[0.0, 1.0]]
    assert found["segQ"].tolist() == [[0.0, 1.0, 2.0]]
    assert found["scoremask"].all()


SIDEKIT = {"compression": "gzip", "fletcher32": True}


def test_sidekit_layout(craft: Callable[..., Path]) -> None:
    # As sidekit/bosaris/{ndx,key,scores,idmap}.py write it.
    ids = {
        "modelset": {"data": np.array([b"m1", b"m2"]), "maxshape": (None,), **SIDEKIT},
        "segset": {"data": np.array([b"s1", b"s2", b"s3"]), "maxshape": (None,), **SIDEKIT},
    }
    growing = {"maxshape": (None, None), **SIDEKIT}
    key = hdf5.read("key", craft(**ids, trial_mask={"data": LABELS.astype("i1"), **growing}))
    assert key["modelset"].tolist() == ["m1", "m2"]
    assert np.array_equal(key["tar"], LABELS == 1)
    ndx = hdf5.read("ndx", craft(**ids, trial_mask={"data": MASK.astype("i1"), **growing}))
    assert np.array_equal(ndx["trialmask"], MASK == 1)
    stored = {
        "score_mask": {"data": MASK.astype("i1"), **growing},
        "scores": {"data": LABELS / 3, **growing},
    }
    scores = hdf5.read("scores", craft(**ids, **stored))
    assert np.array_equal(scores["scoremat"], LABELS / 3)
    assert np.array_equal(scores["scoremask"], MASK == 1)
    misspelt = hdf5.read("scores", craft(modelset=ids["modelset"], segest=ids["segset"], **stored))
    assert misspelt["segset"].tolist() == ["s1", "s2", "s3"]
    frames = {"data": np.array([-1, -1], dtype="i4"), "maxshape": (None,), **SIDEKIT}
    names = ids["modelset"]
    id_map = hdf5.read("id_map", craft(leftids=names, rightids=names, start=frames, stop=frames))
    assert id_map["leftids"].tolist() == id_map["rightids"].tolist() == ["m1", "m2"]


def test_flat_quality_layout_has_measures_in_columns(craft: Callable[..., Path]) -> None:
    # A. Nautsch's pybosaris/quality.py keeps modelQ as (models, measures).
    found = hdf5.read(
        "quality_measures",
        craft(
            modelset=IDS["ID__row_ids"],
            segset=IDS["ID__column_ids"],
            score_mask=MASK.astype("i1"),
            hasmodel=np.array([1, 0], dtype="i1"),
            hasseg=np.array([1, 1, 1], dtype="i1"),
            modelQ=np.array([[1.0, 2.0], [3.0, 4.0]]),
            segQ=np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        ),
    )
    assert found["modelQ"].tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert found["segQ"].tolist() == [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]
    assert found["hasmodel"].tolist() == [True, False]
    assert np.array_equal(found["scoremask"], MASK == 1)


def test_pybosaris_layout(craft: Callable[..., Path]) -> None:
    # As wa3dbk/PyBOSARIS's io/hdf5_io.py writes it.
    ids = {"model_names": IDS["ID__row_ids"], "test_names": IDS["ID__column_ids"]}
    # The two masks are the own layout of that program, but warn all the same.
    with pytest.warns(OldFormatWarning, match="two masks"):
        found = hdf5.read("key", craft(**ids, tar_mask=LABELS == 1, non_mask=LABELS == -1))
    assert np.array_equal(found["non"], LABELS == -1)
    with pytest.warns(OldFormatWarning, match="which scores are valid"):
        scores = hdf5.read("scores", craft(**ids, score_mat=LABELS / 3))
    assert scores["scoremask"].all()
    assert np.array_equal(scores["scoremat"], LABELS / 3)
    assert hdf5.read("ndx", craft(**ids, trial_mask=MASK == 1))["trialmask"].tolist() == (
        (MASK == 1).tolist()
    )


@pytest.mark.parametrize("models", ["enroll_ids", "train_ids"])
def test_dca_plda_layout(craft: Callable[..., Path], models: str) -> None:
    # As luferrer/DCA-PLDA's dca_plda/scores.py writes and reads it.
    ids = {models: IDS["ID__row_ids"], "test_ids": IDS["ID__column_ids"]}
    path = craft(**ids, trial_mask=LABELS.astype("i1"))
    assert hdf5.kind_of(path) == "key"
    found = hdf5.read("key", path)
    assert found["modelset"].tolist() == [name.decode() for name in IDS["ID__row_ids"]]
    assert found["segset"].tolist() == [name.decode() for name in IDS["ID__column_ids"]]
    assert np.array_equal(found["tar"], LABELS == 1)
    assert np.array_equal(found["non"], LABELS == -1)
    path = craft(**ids, scores=LABELS / 3)
    assert hdf5.kind_of(path) == "scores"
    with pytest.warns(OldFormatWarning, match="which scores are valid"):
        scores = hdf5.read("scores", path)
    assert scores["scoremask"].all()
    assert np.array_equal(scores["scoremat"], LABELS / 3)
    with pytest.raises(FileFormatError):
        hdf5.read("key", craft(**{models: ids[models]}, trial_mask=LABELS.astype("i1")))


# Wrong content: how it is read, and what the file holds.
WRONG: list[tuple[str, dict[str, Any]]] = [
    ("key", IDS),
    ("scores", {}),
    ("scores", {**IDS, "scores": np.ones((2, 3))}),
    ("scores", {"scores": np.ones((2, 3))}),
    ("scores", {"ID__row_ids": IDS["ID__row_ids"], "scores": np.ones((2, 3))}),
    ("scores", {**IDS, "trial_mask": LABELS}),
    ("ndx", {**IDS, "file_format": [b"2.0"], "trial_mask": LABELS}),
    ("ndx", {**IDS, "file_format": [b"2.0"], "trial_mask": MASK}),
    ("ndx", {**IDS, "trial_mask": LABELS.astype("i1")}),
    ("key", {**IDS, "trial_mask": MASK.astype("u1")}),
    ("key", {**IDS, "trial_mask": MASK == 1}),
    ("id_map", {"left_ids": [b"a"]}),
    ("id_map", {"left_ids": [b"a"], "right_ids": [b"a", b"b"]}),
    ("segment_quality", {"left_ids": [b"a"], "right_ids": [b"a"]}),
    ("scores", {**IDS, "scores": np.ones((3, 2)), "score_mask": MASK.T}),
    ("scores", {**IDS, "scores": np.ones((2, 3)), "score_mask": np.ones((2, 2))}),
    ("scores", {**IDS, "scores": np.ones((2, 3, 1)), "score_mask": MASK}),
    ("key", {**IDS, "trial_mask": np.ones(6, dtype="i1")}),
    ("key", {**IDS, "trial_mask": np.zeros((2, 0), dtype="i1")}),
    ("key", {**IDS, "target_mask": MASK, "nontarget_mask": MASK.T}),
    ("segment_quality", {"ids": [b"a", b"b", b"c"], "values": np.ones((3, 2))}),
    ("quality_measures", {**IDS, "modelQ": np.ones((2, 2)), "segQ": np.ones((1, 3))}),
    (
        "quality_measures",
        {**IDS, "modelQ": np.ones((2, 2)), "segQ": np.ones((2, 3)), "ID__has_row": np.ones(3)},
    ),
    ("scores", {**IDS, "scores": np.ones((2, 3)), "score_mask": MASK * 7}),
    ("scores", {**IDS, "scores": np.ones((2, 3)), "score_mask": MASK.astype("u1") * 200}),
    ("scores", {**IDS, "scores": np.ones((2, 3)), "score_mask": LABELS.astype("i1")}),
    ("scores", {**IDS, "scores": np.ones((2, 3)), "score_mask": np.full((2, 3), np.nan)}),
    # Hyperion marks spoofing attacks so; the toolkit would count them as non-targets.
    ("key", {**IDS, "trial_mask": (LABELS * 2).astype("i1")}),
    ("key", {**IDS, "trial_mask": LABELS * 0.7}),
    ("scores", {**IDS, "scores": MASK == 1, "score_mask": MASK}),
    ("scores", {**IDS, "scores": np.ones((2, 3), "c16"), "score_mask": MASK}),
    ("scores", {**IDS, "scores": np.ones((2, 3), np.longdouble), "score_mask": MASK}),
    ("id_map", {"left_ids": np.array([[b"a", b"b"], [b"c", b"d"]]), "right_ids": [b"a"]}),
    ("id_map", {"left_ids": np.array([b"\xff\xfe"]), "right_ids": [b"a"]}),
    ("id_map", {"left_ids": np.arange(2), "right_ids": [b"a", b"b"]}),
]


@pytest.mark.parametrize(("kind", "datasets"), WRONG)
def test_wrong_content(craft: Callable[..., Path], kind: str, datasets: dict[str, Any]) -> None:
    path = craft(**datasets)
    with pytest.raises(FileFormatError, match=re.escape(str(path))):
        hdf5.read(kind, path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_every_kind_refuses_every_other(
    kind: str, other: str, tmp_path: Path, contents: dict[str, Arrays], read: Reader, write: Writer
) -> None:
    if kind == other:
        return
    path = tmp_path / "a.h5"
    write(path, other, contents[other])
    with pytest.raises(FileFormatError):
        read(path, kind)
    assert hdf5.kind_of(path) == other
    with h5py.File(path, "r+") as file:
        del file.attrs["format"]
    assert hdf5.kind_of(path) == other
    with pytest.raises(FileFormatError):
        read(path, kind)


@pytest.mark.parametrize("version", ["2.0", "new"])
def test_newer_format(tmp_path: Path, contents: dict[str, Arrays], version: str) -> None:
    hdf5.write("ndx", tmp_path / "a.h5", **contents["ndx"])
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file.attrs["format_version"] = np.bytes_(version)
    with pytest.raises(FileFormatError, match="format_version"):
        hdf5.read("ndx", tmp_path / "a.h5")


def test_newer_minor_version_and_foreign_attributes_are_read(
    tmp_path: Path, contents: dict[str, Arrays], assert_same: Check
) -> None:
    hdf5.write("ndx", tmp_path / "a.h5", **contents["ndx"])
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file.attrs["format_version"] = np.bytes_("1.9")
        file.attrs["comment"] = "hello"
        file["more/data"] = np.arange(3)
    assert_same(hdf5.read("ndx", tmp_path / "a.h5"), contents["ndx"])
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file.attrs["format"] = np.bytes_("of another program")
    assert_same(hdf5.read("ndx", tmp_path / "a.h5"), contents["ndx"])
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file.attrs["format"] = np.arange(3)
    assert_same(hdf5.read("ndx", tmp_path / "a.h5"), contents["ndx"])
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file.attrs["format"] = "a string of variable length"
    assert_same(hdf5.read("ndx", tmp_path / "a.h5"), contents["ndx"])


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
@pytest.mark.parametrize("is_flushed", [True, False])
def test_a_file_open_elsewhere_is_not_called_damaged(tmp_path: Path, *, is_flushed: bool) -> None:
    path = tmp_path / "a.h5"
    program = (
        "import h5py, sys\n"
        "with h5py.File(sys.argv[1], 'w', locking=True) as file:\n"
        "    file['scores'] = [[1.0]]\n"
        f"    {'file.flush()' if is_flushed else 'pass'}\n"
        "    print(flush=True)\n"
        "    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program, str(path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        writer.stdout.readline()
        with pytest.raises(FileFormatError, match="open elsewhere for writing"):
            hdf5.read("scores", path)
        writer.stdin.close()


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        hdf5.read("scores", tmp_path / "none.h5")
    assert not isinstance(caught.value, FileFormatError)
    with pytest.raises(IsADirectoryError):
        hdf5.read("scores", tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"m1 s1 0.5\n",
        b"\x89HDF\r\n\x1a\n" + bytes(50),
        b"MATLAB 5.0 MAT-file" + bytes(200),
        b"\x1f\x8b\x08" + bytes(100),
    ],
)
def test_foreign_files(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.h5"
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=r"a\.h5"):
        hdf5.read("scores", path)


@pytest.mark.parametrize("ids", [["a", "b\0c", "d"], ["a", "b", "\ud800"]])
def test_ids_that_no_file_can_hold(
    tmp_path: Path, contents: dict[str, Arrays], write: Writer, ids: list[str]
) -> None:
    for name in ("a.h5", "a.mat"):
        with pytest.raises(InvalidInputError):
            write(tmp_path / name, "scores", contents["scores"] | {"modelset": np.array(ids)})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("fault", [OSError("No space left on device"), KeyboardInterrupt()])
def test_fault_while_writing_leaves_the_old_file(
    tmp_path: Path,
    contents: dict[str, Arrays],
    monkeypatch: pytest.MonkeyPatch,
    assert_same: Check,
    fault: BaseException,
) -> None:
    path = tmp_path / "a.h5"
    hdf5.write("scores", path, **contents["scores"])

    def fail(root: object, name: str, array: np.ndarray) -> None:
        # The scores are written by then.
        if name == "ID/row_ids":
            raise fault
        put(root, name, array)

    put = hdf5.put
    monkeypatch.setattr(hdf5, "put", fail)
    changed = contents["scores"] | {"scoremat": np.zeros((3, 4))}
    with pytest.raises(type(fault)):
        hdf5.write("scores", path, **changed)
    assert list(tmp_path.iterdir()) == [path]
    assert_same(hdf5.read("scores", path), contents["scores"])


@pytest.mark.parametrize("dtype", ["i1", "i4", "f8"])
def test_trials_that_are_read_as_a_key_are_warned_of(
    craft: Callable[..., Path], dtype: str
) -> None:
    """The toolkit's Ndx has the data set of its Key, and nothing that tells them apart."""
    path = craft(**IDS, trial_mask=MASK.astype(dtype))
    message = r"crafted\.h5: all trials are targets"
    for read in (Key.read, read_key):
        with pytest.warns(OldFormatWarning, match=message):
            read(path)
    assert Ndx.read(path).n_trials == 3
    labels = np.where(MASK, 1, 0).astype(np.int8)
    told = craft(**IDS, trial_mask=labels, file_format=np.array([b"2.0"]))
    assert Key.read(told).n_tar == 3
    assert Key.read(craft(**IDS, trial_mask=LABELS.astype(dtype))).n_non == 2


def make_list(n_trials: int) -> dict[str, Arrays]:
    """Lists of trials of each kind."""
    models, segments = np.divmod(np.arange(n_trials, dtype=np.int32), 7)
    ids = {
        "modelset": np.array([f"m{i}" for i in range(n_trials // 7 + 1)]),
        "segset": np.array([f"s{i}" for i in range(7)]),
    }
    trials = {**ids, "models": models, "segments": segments}
    scores = np.arange(n_trials) / 4
    return {
        "flat_ndx": trials,
        "flat_key": {**trials, "is_target": models % 2 == 0},
        "flat_scores": {**trials, "scores": scores.astype(np.float32)},
    }


@pytest.mark.parametrize("n_trials", [0, 1, 100, 300_000])
def test_lists_of_trials(tmp_path: Path, assert_same: Check, n_trials: int) -> None:
    for kind, arrays in make_list(n_trials).items():
        hdf5.write(kind, tmp_path / "a.h5", **arrays)
        assert_same(hdf5.read(kind, tmp_path / "a.h5"), arrays)
        assert hdf5.kind_of(tmp_path / "a.h5") == kind
        assert_same(hdf5.read(kind.removeprefix("flat_"), tmp_path / "a.h5"), arrays)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("trials/models", lambda x: x.astype(float)),
        ("trials/models", lambda x: x[:-1]),
        ("trials/models", lambda x: x[:, np.newaxis]),
        ("trials/is_target", lambda x: x * 2),
        ("ID/row_ids", lambda x: None),
        ("trials/segments", lambda x: None),
    ],
)
def test_wrong_lists(tmp_path: Path, name: str, change: Callable[[Any], Any]) -> None:
    hdf5.write("flat_key", tmp_path / "a.h5", **make_list(100)["flat_key"])
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        changed = change(file[name][()])
        del file[name]
        if changed is not None:
            file[name] = changed
    with pytest.raises(FileFormatError):
        hdf5.read("flat_key", tmp_path / "a.h5")


def test_trials_and_their_columns(tmp_path: Path) -> None:
    trials = make_list(5000)["flat_key"]
    columns = {
        "trial": {
            "noise/level": np.arange(5000.0),
            "é": (np.arange(5000) % 2, np.array(["no", "yes"])),
        },
        "model": {"age": np.arange(trials["modelset"].size)},
        "segment": {},
    }
    hdf5.write_metadata(tmp_path / "a.h5", form="Key", columns=columns, **trials)
    found = hdf5.read_metadata(tmp_path / "a.h5")
    assert found["form"] == "Key"
    assert np.array_equal(found["is_target"], trials["is_target"])
    assert {kind: list(table) for kind, table in found["columns"].items()} == {
        kind: list(table) for kind, table in columns.items()
    }
    assert np.array_equal(found["columns"]["trial"]["noise/level"], np.arange(5000.0))
    codes, levels = found["columns"]["trial"]["é"]
    assert levels[codes].tolist() == ["no", "yes"] * 2500
    assert found["columns"]["model"]["age"].dtype == np.int64
    assert hdf5.kind_of(tmp_path / "a.h5") == "trial_metadata"
    hdf5.write("flat_key", tmp_path / "b.h5", **trials)
    with pytest.raises(FileFormatError):
        hdf5.read_metadata(tmp_path / "b.h5")


def test_more_than_memory_allows(tmp_path: Path) -> None:
    hdf5.write("scores", tmp_path / "a.h5", **make_scores((100, 100)))
    with pytest.raises(FileFormatError, match="memory"):
        hdf5.read("scores", tmp_path / "a.h5", max_bytes=80_000)
    hdf5.read("scores", tmp_path / "a.h5", max_bytes=200_000)
    # A kilobyte that claims to hold terabytes.
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["left_ids"] = [b"a"]
        file.create_dataset("right_ids", (10**12,), "S8", chunks=(10**6,))
    with pytest.raises(FileFormatError, match="memory"):
        hdf5.read("id_map", tmp_path / "b.h5")


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
@pytest.mark.parametrize("limit", [1000, 70_000, 900_000])
def test_full_disk_is_an_error_and_leaves_the_old_file(tmp_path: Path, limit: int) -> None:
    """The library itself ends the process when it cannot write."""
    path = tmp_path / "a.h5"
    path.write_bytes(b"old")
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            hdf5.write("scores", path, **make_scores((300, 400)))
        except OSError as error:
            code = 0 if error.filename == str(path) else 2
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
