"""HDF5: the toolkit's samples and layout, files of relatives, and what is refused."""

import os
import re
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from bosaris_py.errors import BosarisWarning, FileFormatError, InvalidInputError
from bosaris_py.files import hdf5
from bosaris_py.trials import IdMap, Key, Ndx, read_key

Arrays = dict[str, np.ndarray]
Craft = Callable[..., Path]

KEYS = ("key.h5", "key_ids_nullpad.h5", "key_ids_vlen.h5", "key_ids_row2d.h5", "key_ids_col2d.h5")
SAMPLES = {
    **dict.fromkeys(KEYS, "key"),
    **{"ndx.h5": "ndx", "scores.h5": "scores", "quality.h5": "quality_measures"},
    **{"seg_quality.h5": "segment_quality", "id_map.h5": "id_map"},
}
MAT_SAMPLES = {f"{name[:-3]}.mat": kind for name, kind in SAMPLES.items() if "_ids_" not in name}
IDS = {"ID__row_ids": np.array([b"m1", b"m2"]), "ID__column_ids": np.array([b"s1", b"s2", b"s3"])}
MASK = np.array([[1, 0, 1], [0, 0, 1]])
LABELS = np.array([[1, 0, -1], [-1, 0, 1]])


@pytest.fixture
def craft(tmp_path: Path) -> Craft:
    """Write data sets as given, as another program might."""

    def write_file(**datasets: Any) -> Path:
        path = tmp_path / "crafted.h5"
        with h5py.File(path, "w") as file:
            for name, value in datasets.items():
                options = value if isinstance(value, dict) else {"data": value}
                file.create_dataset(name.replace("__", "/"), **options)
        return path

    return write_file


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(SAMPLES | MAT_SAMPLES).items(),
        ("scores_single.h5", "scores"),
        ("quality_no_has.h5", "quality_measures"),
        # The struct of an early release.
        ("quality_oldstruct.mat", "quality_measures"),
    ],
)
def test_samples(name, kind, samples, contents, read, assert_same):
    expected = dict(contents[kind])
    if "single" in name:
        expected["scoremat"] = expected["scoremat"].astype(np.float32)
    if "no_has" in name or "oldstruct" in name:
        expected["hasmodel"] = np.ones(3, dtype=bool)
    assert_same(read(samples / name, kind), expected)


def test_a_key_of_two_masks_warns_at_the_line_of_the_caller(samples: Path) -> None:
    with pytest.warns(BosarisWarning, match=r"key_oldformat.h5.*two masks") as caught:
        Key.read(samples / "key_oldformat.h5")
    assert caught[0].filename == __file__


@pytest.mark.parametrize("name", ["core-core_det5_key.h5", "core-core_det5_ndx.h5"])
def test_files_of_nist_sre10(shared_data, name, tmp_path, assert_same):
    # 580 models, 712 segments, 708 targets, 29665 non-targets: data/sre10_det5_h5/README.md.
    kind = "key" if "key" in name else "ndx"
    found = hdf5.read(kind, shared_data / "sre10_det5_h5" / name)[0]
    assert (found["modelset"].size, found["segset"].size) == (580, 712)
    marks = found["labels" if kind == "key" else "trialmask"]
    assert (np.count_nonzero(marks == 1), np.count_nonzero(marks == -1)) == (
        (708, 29665) if kind == "key" else (30373, 0)
    )
    hdf5.write(kind, tmp_path / name, **found)
    assert_same(hdf5.read(kind, tmp_path / name)[0], found)


def describe(path: Path) -> dict[str, dict[str, Any]]:
    """Everything that MATLAB, h5dump or h5py can tell about the data sets of a file."""
    found = {}

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            kind = item.id.get_type()
            is_text = isinstance(kind, h5py.h5t.TypeStringID)
            found[name] = {
                "shape": item.shape,
                "class": (kind.get_class(), kind.get_size()),
                "growth": item.maxshape == item.shape,
                "attributes": list(item.attrs),
                "value": item[()].tolist(),
                "type": (kind.is_variable_str(), kind.get_strpad(), kind.get_cset())
                if is_text
                else item.dtype.str,
            }

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


@pytest.mark.parametrize("name", [*MAT_SAMPLES, "scores_single.mat"])
def test_written_files_are_those_of_the_toolkit(name, samples, tmp_path, read, write):
    name, kind = name.replace(".mat", ".h5"), MAT_SAMPLES.get(name, "scores")
    path = tmp_path / name
    write(path, kind, read(samples / name, kind))
    assert describe(path) == describe(samples / name)
    # The version of the superblock: 0 is what HDF5 1.6 and 1.8 wrote.
    assert path.read_bytes()[8] == 0
    with h5py.File(path) as file:
        assert file.attrs["format"] == f"bosaris_py.{kind}".encode()
        assert file.attrs["format_version"] == b"1.0"
        assert file.attrs["created_by"].startswith(b"bosaris_py ")
    again = tmp_path / "again.h5"
    write(again, kind, {k: np.asfortranarray(v) for k, v in read(path, kind).items()})
    assert again.read_bytes() == path.read_bytes()


def test_non_ascii_ids_are_utf8(tmp_path: Path) -> None:
    ids, path = ["é", "語語", "a"], tmp_path / "a.h5"
    hdf5.write("id_map", path, leftids=np.array(ids), rightids=np.array(list("123")))
    with h5py.File(path) as file:
        kinds = [file[name].id.get_type() for name in ("left_ids", "right_ids")]
    # The longest is two characters of three bytes.
    found = [(kind.get_size(), kind.get_cset()) for kind in kinds]
    assert found == [(7, h5py.h5t.CSET_UTF8), (2, h5py.h5t.CSET_ASCII)]
    assert hdf5.read("id_map", path)[0]["leftids"].tolist() == ids


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
        # 2**20 // (4 * 1000) = 262 rows; 2**20 // 1000 = 1048.
        ((1100, 1000), np.float32, (262, 1000), (1048, 1000)),
        # Rows longer than a chunk: 2**20 // 8 columns.
        ((2, 140000), np.float64, (1, 131072), (2, 140000)),
    ],
)
def test_chunks(tmp_path, assert_same, shape, dtype, chunks, mask_chunks):
    arrays = make_scores(shape, dtype)
    hdf5.write("scores", tmp_path / "a.h5", **arrays)
    with h5py.File(tmp_path / "a.h5") as file:
        scores, mask = file["scores"], file["score_mask"]
        assert (scores.chunks, mask.chunks) == (chunks, mask_chunks)
        assert (scores.compression, scores.fletcher32, mask.fletcher32) == (None, True, True)
        assert mask.compression == (None if np.prod(shape) < 4096 else "gzip")
    assert_same(hdf5.read("scores", tmp_path / "a.h5")[0], arrays)


@pytest.mark.parametrize("dtype", ["i1", "u1", "?", "i2", ">u4", "i8", "f2", ">f4", "f8", ">f8"])
def test_numbers_of_any_type(craft: Craft, dtype: str) -> None:
    mask, scores = MASK.astype(dtype), np.arange(6).reshape(2, 3)
    stored = {"scores": scores.astype("f4" if dtype == "?" else dtype), "score_mask": mask}
    found = hdf5.read("scores", craft(**IDS, **stored))[0]
    assert found["scoremask"].dtype == bool
    assert found["scoremask"].tolist() == MASK.tolist()
    assert found["scoremat"].dtype == ("f4" if dtype in ("f2", ">f4", "?") else "f8")
    assert np.array_equal(found["scoremat"], scores)
    assert np.array_equal(hdf5.read("ndx", craft(**IDS, trial_mask=mask))[0]["trialmask"], MASK)
    path = craft(**IDS, trial_mask=LABELS.astype(dtype))
    if dtype in ("u1", "?", ">u4"):
        with pytest.raises(FileFormatError):
            hdf5.read("key", path)
    else:
        assert np.array_equal(hdf5.read("key", path)[0]["labels"], LABELS)


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
def test_padding_of_strings(tmp_path, padding, stored, expected):
    encoded, path = np.array(stored, dtype="S4"), tmp_path / "a.h5"
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(4)
    kind.set_strpad(padding)
    with h5py.File(path, "w") as file:
        for name in (b"left_ids", b"right_ids"):
            made = h5py.h5d.create(file.id, name, kind, h5py.h5s.create_simple(encoded.shape))
            made.write(h5py.h5s.ALL, h5py.h5s.ALL, encoded, mtype=kind)
    assert hdf5.read("id_map", path)[0]["leftids"].tolist() == expected


@pytest.mark.parametrize("shape", [(100,), (1, 100), (100, 1)])
@pytest.mark.parametrize("options", [{}, {"chunks": True, "compression": "gzip"}])
def test_variable_strings(craft, shape, options):
    names = [f"{'x語'[number % 2] * (number % 50)}{number or ''}" for number in range(100)]
    text = {"data": np.array(names, dtype=object).reshape(shape), "dtype": h5py.string_dtype()}
    unwritten = {"shape": (100,), "dtype": h5py.string_dtype()}
    found = hdf5.read("id_map", craft(left_ids=text | options, right_ids=unwritten | options))[0]
    assert found["leftids"].tolist() == names
    assert found["rightids"].tolist() == [""] * 100


@pytest.mark.parametrize("shape", [(1, 3), (3, 1)])
def test_one_row_column_or_measure_as_a_vector(craft: Craft, shape: tuple[int, int]) -> None:
    names = np.array([b"1", b"2", b"3"])
    ids = {"ID__row_ids": names[: shape[0]], "ID__column_ids": names[: shape[1]]}
    key = hdf5.read("key", craft(**ids, trial_mask=np.array([1, 0, -1], dtype="i1")))[0]
    assert key["labels"].tolist() == np.reshape([1, 0, -1], shape).tolist()
    mask = np.array([1, 0, 1], dtype="u1")
    scores = hdf5.read("scores", craft(**ids, scores=np.arange(3.0), score_mask=mask))[0]
    assert scores["scoremat"].shape == scores["scoremask"].shape == shape
    found = hdf5.read("quality_measures", craft(**IDS, modelQ=[0.0, 1.0], segQ=[0.0, 1.0, 2.0]))[0]
    assert (found["modelQ"].tolist(), found["segQ"].tolist()) == ([[0.0, 1.0]], [[0.0, 1.0, 2.0]])
    assert found["scoremask"].all()


def test_sidekit_layout(craft: Craft) -> None:
    # As sidekit/bosaris/{ndx,key,scores,idmap}.py write it.
    def grown(values: Any, kind: str | None = None) -> dict[str, Any]:
        data = np.array(values, kind)
        return {"data": data, "maxshape": (None,) * data.ndim, "fletcher32": True}

    ids = {"modelset": grown([b"m1", b"m2"]), "segset": grown([b"s1", b"s2", b"s3"])}
    key = hdf5.read("key", craft(**ids, trial_mask=grown(LABELS, "i1")))[0]
    assert key["modelset"].tolist() == ["m1", "m2"]
    assert np.array_equal(key["labels"], LABELS)
    mask = grown(MASK, "i1")
    assert np.array_equal(hdf5.read("ndx", craft(**ids, trial_mask=mask))[0]["trialmask"], MASK)
    for segset in ("segset", "segest"):
        names = {"modelset": ids["modelset"], segset: ids["segset"]}
        scores = hdf5.read("scores", craft(**names, score_mask=mask, scores=grown(LABELS / 3)))[0]
        assert scores["segset"].tolist() == ["s1", "s2", "s3"]
        assert np.array_equal(scores["scoremat"], LABELS / 3)
        assert np.array_equal(scores["scoremask"], MASK)
    names = {"leftids": ids["modelset"], "rightids": ids["modelset"]}
    unknown = grown([-1, -1], "i4")
    assert IdMap.read(craft(**names, start=unknown, stop=unknown)).rightids.tolist() == ["m1", "m2"]
    with pytest.warns(BosarisWarning, match="start and stop of the segments are left out"):
        IdMap.read(craft(**names, start=unknown, stop=grown([-1, 7], "i4")))
    # A. Nautsch's pybosaris/quality.py keeps modelQ as (models, measures).
    measures = {"modelQ": np.array([[1.0, 2.0], [3.0, 4.0]]), "segQ": np.arange(6.0).reshape(3, 2)}
    has = {"hasmodel": np.array([1, 0], "i1"), "hasseg": np.array([1, 1, 1], "i1")}
    found = hdf5.read("quality_measures", craft(**ids, **measures, **has, score_mask=mask))[0]
    assert found["modelQ"].tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert found["segQ"].tolist() == [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]


@pytest.mark.parametrize(
    ("models", "segments", "scores"),
    [
        # PyBOSARIS; luferrer/DCA-PLDA's dca_plda/scores.py.
        ("model_names", "test_names", "score_mat"),
        ("enroll_ids", "test_ids", "scores"),
        ("train_ids", "test_ids", "scores"),
    ],
)
def test_layouts_of_relatives(craft: Craft, models: str, segments: str, scores: str) -> None:
    ids = {models: IDS["ID__row_ids"], segments: IDS["ID__column_ids"]}
    found, (note,) = hdf5.read("key", craft(**ids, tar_mask=LABELS == 1, non_mask=LABELS == -1))
    assert note.kind is BosarisWarning
    assert np.array_equal(found["non"], LABELS == -1)
    path = craft(**ids, **{scores: LABELS / 3})
    found, (note,) = hdf5.read("scores", path)
    assert note.kind is BosarisWarning
    assert found["scoremask"].all()
    assert np.array_equal(found["scoremat"], LABELS / 3)
    assert hdf5.kind_of(path) == "scores"
    ndx = hdf5.read("ndx", craft(**ids, trial_mask=MASK == 1))[0]
    assert np.array_equal(ndx["trialmask"], MASK)
    path = craft(**ids, trial_mask=LABELS.astype("i1"))
    assert hdf5.kind_of(path) == "key"
    found = hdf5.read("key", path)[0]
    assert found["modelset"].tolist() == ["m1", "m2"]
    assert np.array_equal(found["labels"], LABELS)
    with pytest.raises(FileFormatError):
        hdf5.read("key", craft(**{models: ids[models]}, trial_mask=LABELS.astype("i1")))


ONES = np.ones((2, 3))
# Wrong content: how it is read, and what the file holds.
WRONG: list[tuple[str, dict[str, Any]]] = [
    ("scores", {}),
    ("scores", {"ID__row_ids": IDS["ID__row_ids"], "scores": ONES}),
    ("id_map", {"left_ids": [b"a"]}),
    ("segment_quality", {"left_ids": [b"a"], "right_ids": [b"a"]}),
    ("segment_quality", {"ids": [b"a", b"b", b"c"], "values": np.ones((3, 2))}),
    *(
        ("id_map", {"left_ids": left, "right_ids": [b"a"]})
        for left in ([b"a", b"b"], [[b"a", b"b"], [b"c", b"d"]], [b"\xff\xfe"], [1])
    ),
    *(
        (kind, {**IDS, **datasets})
        for kind, datasets in (
            ("key", {}),
            ("scores", {"trial_mask": LABELS}),
            ("ndx", {"file_format": [b"2.0"], "trial_mask": MASK}),
            ("ndx", {"trial_mask": LABELS.astype("i1")}),
            ("scores", {"scores": ONES.T, "score_mask": MASK.T}),
            ("scores", {"scores": ONES, "score_mask": np.ones((2, 2))}),
            ("scores", {"scores": np.ones((2, 3, 1)), "score_mask": MASK}),
            ("key", {"trial_mask": np.ones(6, dtype="i1")}),
            ("key", {"trial_mask": np.zeros((2, 0), dtype="i1")}),
            ("key", {"target_mask": MASK, "nontarget_mask": MASK.T}),
            ("quality_measures", {"modelQ": np.ones((2, 2)), "segQ": np.ones((1, 3))}),
            ("quality_measures", {"modelQ": ONES[:, :2], "segQ": ONES, "ID__has_row": [1] * 3}),
            ("scores", {"scores": ONES, "score_mask": MASK * 7}),
            ("scores", {"scores": ONES, "score_mask": LABELS.astype("i1")}),
            ("scores", {"scores": ONES, "score_mask": np.full((2, 3), np.nan)}),
            # Hyperion marks spoofing attacks so; the toolkit would count them as non-targets.
            ("key", {"trial_mask": (LABELS * 2).astype("i1")}),
            ("key", {"trial_mask": LABELS * 0.7}),
            ("scores", {"scores": MASK == 1, "score_mask": MASK}),
            ("scores", {"scores": ONES.astype("c16"), "score_mask": MASK}),
        )
    ),
]


@pytest.mark.parametrize(("kind", "datasets"), WRONG)
def test_wrong_content(craft: Craft, kind: str, datasets: dict[str, Any]) -> None:
    path = craft(**datasets)
    with pytest.raises(FileFormatError, match=re.escape(str(path))):
        hdf5.read(kind, path)


def test_versions_and_foreign_attributes(tmp_path, contents, assert_same):
    path = tmp_path / "a.h5"
    hdf5.write("ndx", path, **contents["ndx"])
    other, long = np.bytes_("of another program"), "a string of variable length"
    for name, value in (
        *(("format_version", np.bytes_("1.9")), ("comment", "hello")),
        *(("format", other), ("format", np.arange(3)), ("format", long)),
    ):
        with h5py.File(path, "r+") as file:
            file.attrs[name] = value
        assert_same(hdf5.read("ndx", path)[0], contents["ndx"])
    for version in ("2.0", "new"):
        with h5py.File(path, "r+") as file:
            file.attrs["format"] = np.bytes_("bosaris_py.ndx")
            file.attrs["format_version"] = np.bytes_(version)
        with pytest.raises(FileFormatError, match="format_version"):
            hdf5.read("ndx", path)


@pytest.mark.parametrize("ids", [["a", "b\0c", "d"], ["a", "b", "\ud800"]])
def test_ids_that_no_file_can_hold(tmp_path, contents, write, ids):
    for name in ("a.h5", "a.mat"):
        with pytest.raises(InvalidInputError):
            write(tmp_path / name, "scores", contents["scores"] | {"modelset": np.array(ids)})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dtype", ["i1", "i4", "f8"])
def test_trials_that_are_read_as_a_key_are_warned_of(craft: Craft, dtype: str) -> None:
    """The toolkit's Ndx has the data set of its Key, and nothing that tells them apart."""
    path = craft(**IDS, trial_mask=MASK.astype(dtype))
    for read in (Key.read, read_key):
        with pytest.warns(BosarisWarning, match=r"crafted\.h5: all trials are targets"):
            read(path)
    assert Ndx.read(path).n_trials == 3
    labels = np.where(MASK, 1, 0).astype(np.int8)
    assert Key.read(craft(**IDS, trial_mask=labels, file_format=np.array([b"2.0"]))).n_tar == 3
    assert Key.read(craft(**IDS, trial_mask=LABELS.astype(dtype))).n_non == 2


def make_list(n_trials: int) -> dict[str, Arrays]:
    """Lists of trials of each kind."""
    models, segments = np.divmod(np.arange(n_trials, dtype=np.int32), 7)
    ids = {
        "modelset": np.array([f"m{i}" for i in range(n_trials // 7 + 1)]),
        "segset": np.array([f"s{i}" for i in range(7)]),
    }
    trials = {**ids, "models": models, "segments": segments}
    scores = np.arange(n_trials, dtype=np.float32) / 4
    return {
        "flat_ndx": trials,
        "flat_key": {**trials, "is_target": models % 2 == 0},
        "flat_scores": {**trials, "scores": scores},
    }


@pytest.mark.parametrize("n_trials", [0, 1, 100, 200_000])
def test_lists_of_trials(tmp_path, assert_same, n_trials):
    for kind, arrays in make_list(n_trials).items():
        hdf5.write(kind, tmp_path / "a.h5", **arrays)
        assert hdf5.kind_of(tmp_path / "a.h5") == kind
        for each in (kind, kind.removeprefix("flat_")):
            assert_same(hdf5.read(each, tmp_path / "a.h5")[0], arrays)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("trials/models", lambda x: x.astype(float)),
        ("trials/models", lambda x: x[:-1]),
        ("trials/is_target", lambda x: x * 2),
        ("ID/row_ids", None),
        ("trials/segments", None),
        ("columns/trial/0/values", lambda x: x[:-1]),
        ("columns/trial/1/codes", lambda x: x + 1),
        ("columns/trial/1/levels", None),
        ("columns/model/names", lambda x: np.repeat(x, 2)),
    ],
)
def test_wrong_lists(tmp_path: Path, name: str, change: Callable[[Any], Any] | None) -> None:
    trials, columns = make_list(100)["flat_key"], make_columns(100)
    hdf5.write("trial_metadata", tmp_path / "a.h5", columns=columns, **trials)
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        stored = file[name][()]
        del file[name]
        if change is not None:
            file[name] = change(stored)
    with pytest.raises(FileFormatError):
        Key.read(tmp_path / "a.h5")


def make_columns(n_trials: int) -> dict[str, Any]:
    """Columns of such a list."""
    codes = np.arange(n_trials) % 2
    return {
        "trial": {"noise/level": np.arange(n_trials) / 2, "é": (codes, np.array(["no", "yes"]))},
        "model": {"age": np.arange(n_trials // 7 + 1)},
        "segment": {},
    }


def test_trials_and_their_columns(tmp_path: Path) -> None:
    trials, columns, path = make_list(5000)["flat_key"], make_columns(5000), tmp_path / "a.h5"
    hdf5.write("trial_metadata", path, columns=columns, **trials)
    found = hdf5.read("key", path)[0]
    assert np.array_equal(found["is_target"], trials["is_target"])
    tables = {side: list(table) for side, table in found["columns"].items()}
    assert tables == {side: list(table) for side, table in columns.items()}
    np.testing.assert_equal(found["columns"], columns)
    assert found["columns"]["model"]["age"].dtype == np.int64
    assert hdf5.kind_of(path) == "flat_key"
    hdf5.write("flat_key", path, **trials)
    assert "columns" not in hdf5.read("key", path)[0]


def test_more_than_memory_allows(craft: Craft) -> None:
    # A kilobyte that claims to hold terabytes.
    claim = {"shape": (10**12,), "dtype": "S8", "chunks": (10**6,)}
    with pytest.raises(FileFormatError, match="memory"):
        hdf5.read("id_map", craft(left_ids=[b"a"], right_ids=claim))


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
