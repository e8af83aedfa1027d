"""A flipped bit in a saved file is an error, or changes nothing that is read."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import FileFormatError
from bosaris_py.storage import hdf5, rows
from bosaris_py.storage.hdf5.checksums import checksums

MODELS, SEGMENTS = [f"m{i:02}" for i in range(40)], [f"s{i:02}" for i in range(60)]
SHAPE = (40, 60)


def objects() -> dict[str, Any]:
    """One object of each class that has an HDF5 format."""
    rng = np.random.default_rng(5)
    tar = rng.random(SHAPE) < 0.2
    key = bp.Key(MODELS, SEGMENTS, tar, ~tar & (rng.random(SHAPE) < 0.7))
    scores = bp.Scores(
        rng.standard_normal(SHAPE), MODELS, SEGMENTS, scoremask=rng.random(SHAPE) < 0.7
    )
    noise = rng.choice(["quiet", "loud"], np.count_nonzero(key.tar | key.non))
    return {
        "Scores": scores,
        "Scores, float32": bp.Scores(scores.scoremat.astype("f4"), MODELS, SEGMENTS),
        "FlatScores": scores.to_flat(),
        "Key": key,
        "FlatKey": key.to_flat(),
        "Ndx": key.to_ndx(),
        "FlatNdx": key.to_ndx().to_flat(),
        "IdMap": bp.IdMap(MODELS, SEGMENTS[:40]),
        "SegmentQuality": bp.SegmentQuality(SEGMENTS, rng.random((2, 60))),
        "QualityMeasures": bp.QualityMeasures(
            MODELS, SEGMENTS, rng.random((2, 40)), rng.random((2, 60)),
            rng.random(40) < 0.8, rng.random(60) < 0.8,
        ),
        "TrialMetadata": bp.TrialMetadata(
            key, {"noise": noise}, {"age": rng.integers(20, 60, 40)}, {"snr": rng.random(60)}
        ),
    }  # fmt: skip


OBJECTS = objects()


def content(path: Path, like: object) -> list[Any]:
    """Everything that a file says, as lists."""
    if isinstance(like, bp.TrialMetadata):
        arrays = hdf5.read_metadata(path)
        for kind, columns in arrays.pop("columns").items():
            for name, column in columns.items():
                parts = (
                    (column,) if isinstance(column, np.ndarray) else (column.codes, column.levels)
                )
                arrays |= {f"{kind} {name} {i}": part for i, part in enumerate(parts)}
        # The class checks more: that the form fits the labels.
        type(like).read(path)
    else:
        arrays = type(like).read(path)._arrays()
    return [(name, np.asarray(a).dtype.str, np.asarray(a).tolist()) for name, a in arrays.items()]


@pytest.mark.parametrize(
    ("name", "count"),
    [pytest.param("Scores", 500, marks=pytest.mark.slow)]
    + [(name, 50) for name in OBJECTS]
    + [pytest.param(name, 3000, marks=pytest.mark.slow) for name in OBJECTS],
)
def test_flips_are_errors_or_change_nothing(tmp_path: Path, name: str, count: int) -> None:
    path, original = tmp_path / "a.h5", OBJECTS[name]
    original.save(path)
    data, expected = path.read_bytes(), content(path, original)
    rng, refused = np.random.default_rng(count), 0
    for place, bit in zip(
        rng.integers(len(data), size=count), rng.integers(8, size=count), strict=True
    ):
        changed = bytearray(data)
        changed[place] ^= 1 << bit
        path.write_bytes(changed)
        try:
            assert content(path, original) == expected, (place, bit)
        except FileFormatError:
            refused += 1
    assert refused > count / 10


def flip(path: Path, name: str) -> None:
    """Flip the lowest bit of the third element of a data set, where it is stored."""
    with h5py.File(path, "r+") as file:
        found = file[name][()]
        found.view(np.uint8).reshape(-1)[2 * found.itemsize] ^= 1
        file[name][...] = found


@pytest.mark.parametrize("name", ["scores", "score_mask", "ID/row_ids", "ID/column_ids"])
def test_each_data_set_is_verified(tmp_path: Path, name: str) -> None:
    path, key = tmp_path / "a.h5", tmp_path / "key.h5"
    scores = OBJECTS["Scores"]
    scores.save(path)
    OBJECTS["Key"].save(key)
    flip(path, name)
    message = re.escape(f"data set `/{name}` is damaged: the checksum of rows 0 to ")
    calls: list[Callable[[], Any]] = [
        lambda: bp.Scores.read(path),
        lambda: bp.Results.from_files(path, key),
        lambda: bp.trials.inputs.read_any(path),
    ]
    for call in calls:
        with pytest.raises(FileFormatError, match=message):
            call()
    # Without the attribute, as other programs write files, it is read.
    with h5py.File(path, "r+") as file:
        del file[name].attrs["checksums"]
    assert bp.Scores.read(path).scoremat.shape == SHAPE


def test_blocks_that_are_read_in_part(tmp_path: Path) -> None:
    # 26 rows of float32 are a chunk of a megabyte, which has one checksum.
    path, n_columns = tmp_path / "a.h5", 10_000
    ids = [f"m{i:03}" for i in range(90)]
    mat = np.random.default_rng(1).standard_normal((90, n_columns)).astype("f4")
    segments = [f"s{i}" for i in range(n_columns)]
    bp.Scores(mat, ids, segments).save(path)
    some = np.array([80, 3, 25, 26, 4, 79, 52])
    blocks = [slice(0, 26), slice(3, 7), slice(20, 90), slice(0, 90), slice(51, 53), slice(89, 90)]

    def read_all() -> None:
        file, _, _ = rows.describe(path, "scores")
        with rows.RowReader(file) as reader:
            for block in blocks:
                np.testing.assert_array_equal(reader.read_scores(block), mat[block])
            np.testing.assert_array_equal(reader.read_scores(some), mat[some])
            reader.verify()

    read_all()
    with h5py.File(path, "r+") as file:
        file["scores"][30, 5] += 1
    file, _, _ = rows.describe(path, "scores")
    with rows.RowReader(file) as reader:
        # The other blocks are as they were.
        np.testing.assert_array_equal(reader.read_scores(slice(0, 26)), mat[:26])
        np.testing.assert_array_equal(reader.read_scores(slice(52, 90)), mat[52:])
        for block in (slice(0, 27), slice(51, 53), np.array([3, 40]), slice(0, 90)):
            with pytest.raises(FileFormatError, match="checksum of rows 26 to 51 is wrong"):
                reader.read_scores(block)
        with pytest.raises(FileFormatError, match="checksum of rows 26 to 51"):
            reader.verify()
    with pytest.raises(FileFormatError, match="checksum of rows 26 to 51"):
        read_all()


def test_a_lost_data_set_is_not_taken_as_all_true(tmp_path: Path) -> None:
    # Files of others may lack it; one of this package has lost it.
    path = tmp_path / "a.h5"
    OBJECTS["QualityMeasures"].save(path)
    with h5py.File(path, "r+") as file:
        file.move("score_mask", "score_masc")
    with pytest.raises(FileFormatError, match="`/score_mask` is missing"):
        bp.QualityMeasures.read(path)
    with h5py.File(path, "r+") as file:
        del file.attrs["format"]
    found = bp.QualityMeasures.read(path)
    np.testing.assert_array_equal(found.scoremask, np.outer(found.hasmodel, found.hasseg))


def test_checksum_is_a_crc_of_sums() -> None:
    rng = np.random.default_rng(2)
    for size in (0, 1, 8 * 1021 - 1, 8 * 1021, 5 * 8 * 1021 + 77):
        data = rng.integers(0, 256, size, dtype=np.uint8)
        # The same in Python's whole numbers.
        words = [int.from_bytes(data[i : i + 8].tobytes(), "little") for i in range(0, size, 8)]
        whole = size // (8 * 1021) * 1021
        sums = [sum(words[i:whole:1021]) % 2**64 for i in range(1021)]
        told = b"".join(each.to_bytes(8, "little") for each in sums)
        wanted = zlib.crc32(told + data[8 * whole :].tobytes())
        assert checksums(data, max(1, size)) == ([wanted] if size else [])


def test_checksum_tells_of_each_flip_and_of_blocks_that_changed_places() -> None:
    data = np.random.default_rng(3).integers(0, 256, 2**16, dtype=np.uint8)
    expected = checksums(data, data.size)
    for bit in range(0, 8 * data.size, 977):
        changed = data.copy()
        changed[bit // 8] ^= 1 << bit % 8
        assert checksums(changed, data.size) != expected
    for size in (8, 512, 4096, 8192):
        changed = data.copy()
        changed[:size], changed[4 * size : 5 * size] = data[4 * size : 5 * size], data[:size]
        assert checksums(changed, data.size) != expected
    swapped, native = data.astype(">i2"), data.astype("<i2")
    assert checksums(swapped, data.size) == checksums(native, data.size) != expected
    # Blocks that are summed together have the checksums that they have by themselves.
    for step in (777, 1000, 9000, 30_000):
        apart = [data[start : start + step] for start in range(0, data.size, step)]
        assert checksums(data, step) == [checksums(block, step)[0] for block in apart]


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(0, "u4"), np.zeros(2, "u4"), np.array([40], "u4"), np.array([40, 1, 2], "u4"),
        np.array([39, 1], "u4"), np.array([40, 1], "u8"), np.array([[40, 1]], "u4"), "text",
        np.zeros(2**13, "u4"),
    ],
)  # fmt: skip
def test_checksums_of_another_shape_are_damage(tmp_path: Path, values: Any) -> None:
    path = tmp_path / "a.h5"
    OBJECTS["Scores"].save(path)
    with h5py.File(path, "r+") as file:
        file["scores"].attrs["checksums"] = values
    with pytest.raises(FileFormatError, match="`/scores` is damaged: its checksums are not"):
        bp.Scores.read(path)


def test_a_file_that_other_programs_pack_again_is_verified(tmp_path: Path) -> None:
    # As h5repack does it: other chunks, compressed, with the attributes of the data sets.
    path, again = tmp_path / "a.h5", tmp_path / "b.h5"
    OBJECTS["Scores"].save(path)
    with h5py.File(path) as old, h5py.File(again, "w") as new:
        for name in ("scores", "score_mask", "ID/row_ids", "ID/column_ids"):
            options = {"chunks": (7, 9), "compression": "gzip"} if "ID" not in name else {}
            made = new.create_dataset(name, data=old[name][()], **options)
            made.attrs.create("checksums", old[name].attrs["checksums"])
    np.testing.assert_array_equal(bp.Scores.read(again).scoremat, OBJECTS["Scores"].scoremat)
    flip(again, "scores")
    with pytest.raises(FileFormatError, match="rows 0 to 39"):
        bp.Scores.read(again)


@pytest.mark.parametrize("n_trials", [0, 1, 7, 100])
def test_lists_and_matrices_written_in_parts(tmp_path: Path, n_trials: int) -> None:
    # The attribute is that of a file written at once.
    rng = np.random.default_rng(4)
    segset = [f"s{i:03}" for i in range(100)]
    values, places = rng.standard_normal(n_trials), np.arange(n_trials)
    flat = bp.FlatScores(values, ["m"], segset, 0 * places, places)
    flat.save(tmp_path / "a.h5")
    cuts = [0, n_trials // 3, n_trials // 2, n_trials]
    parts = [(flat.models[a:b], flat.segments[a:b], flat.scores[a:b]) for a, b in pairwise(cuts)]
    ids = {"modelset": flat.modelset, "segset": flat.segset}
    rows.write_score_list(tmp_path / "b.h5", parts, most=n_trials + 50, **ids)
    matrix = OBJECTS["Scores"]
    rows.write_score_rows(
        tmp_path / "c.h5",
        [(slice(a, a + 8), matrix.scoremat[a : a + 8], matrix.scoremask[a : a + 8])
         for a in range(0, 40, 8)],
        modelset=matrix.modelset, segset=matrix.segset,
    )  # fmt: skip
    matrix.save(tmp_path / "d.h5")
    assert bp.FlatScores.read(tmp_path / "b.h5") == bp.FlatScores.read(tmp_path / "a.h5")
    with h5py.File(tmp_path / "c.h5") as first, h5py.File(tmp_path / "d.h5") as second:
        for name in ("scores", "score_mask"):
            a, b = (file[name].attrs["checksums"].tolist() for file in (first, second))
            assert a == b
    with h5py.File(tmp_path / "a.h5") as first, h5py.File(tmp_path / "b.h5") as second:
        for name in ("models", "segments", "scores"):
            (a, b) = (dict(file["trials"][name].attrs) for file in (first, second))
            assert set(a) == set(b)
            if n_trials:
                # Chunks are of the size that was foreseen.
                assert a["checksums"][1:].tolist() == b["checksums"][1:].tolist()


def test_many_blocks_have_few_checksums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # An attribute has room for 16,000: beyond that a checksum is of several chunks.
    monkeypatch.setattr("bosaris_py.storage.hdf5.writing._CHUNK_BYTES", 60 * 8 * 2)
    monkeypatch.setattr("bosaris_py.storage.hdf5.checksums._MOST_CHECKSUMS", 7)
    path, key = tmp_path / "a.h5", tmp_path / "key.h5"
    OBJECTS["Scores"].save(path)
    OBJECTS["Key"].save(key)
    with h5py.File(path) as file:
        assert file["scores"].chunks == (2, 60)
        # 20 chunks of two rows, three of them for each checksum.
        assert file["scores"].attrs["checksums"][0] == 6
        assert file["scores"].attrs["checksums"].size == 1 + 7
    assert bp.Scores.read(path) == OBJECTS["Scores"]
    with pytest.warns(bp.errors.MissingTrialsWarning):
        found = bp.Results.from_files(path, key)
    with pytest.warns(bp.errors.MissingTrialsWarning):
        assert found.eer == bp.Results(*OBJECTS["Scores"].get_tar_non(OBJECTS["Key"])).eer


@pytest.mark.parametrize("n_rows", [3, 20, 21])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_matrices_are_written_as_by_the_library(
    tmp_path: Path, n_rows: int, order: Any, dtype: str
) -> None:
    """Whole chunks of rows go past its cache: the data set is as if they had not."""
    path, n_columns = tmp_path / "a.h5", 2**17 // 10
    values = np.arange(n_rows * n_columns, dtype=dtype).reshape(n_rows, n_columns)
    ids = [f"m{i:03d}" for i in range(n_rows)], [f"s{j:06d}" for j in range(n_columns)]
    bp.Scores(np.asarray(values, order=order), *ids).save(path)
    assert np.array_equal(bp.Scores.read(path).scoremat, values)
    with (
        h5py.File(path) as file,
        h5py.File(tmp_path / "b.h5", "w", libver=("earliest", "v108")) as b,
    ):
        made = b.create_dataset("x", data=values, chunks=file["scores"].chunks)
        assert file["scores"].chunks[0] in (n_rows, 10, 20)
        assert file["scores"].id.get_num_chunks() == made.id.get_num_chunks()
        assert file["scores"].id.get_storage_size() == made.id.get_storage_size()
