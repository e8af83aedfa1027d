"""Checks of stored bytes, at the edges of what they refuse."""

from __future__ import annotations

import os
import struct
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.storage import rows
from bosaris_py.storage.hdf5 import checksums, chunks
from bosaris_py.storage.hdf5.chunks import StoredChunks
from bosaris_py.storage.hdf5.guarded import check_mask_values, open_guarded
from bosaris_py.storage.ids import LONGEST_ID, refuse_unstorable
from tests.storage import hostile_files


@pytest.mark.parametrize("harmless", [0, 10**9])
@pytest.mark.parametrize("size", [1, 1000, 10**5])
def test_gzip_without_its_end(size: int, harmless: int) -> None:
    """All bytes come out, but nothing says that they are right."""
    data = bytes(range(256)) * (size // 256 + 1)
    packed = zlib.compress(data[:size])
    assert chunks._inflate(packed, size, harmless) == data[:size]
    for cut in range(1, 5):
        with pytest.raises(ValueError, match="unpacks to"):
            chunks._inflate(packed[:-cut], size, harmless)
    with pytest.raises(ValueError, match="unpacks to more"):
        chunks._inflate(packed, size - 1, harmless)
    with pytest.raises(ValueError, match=f"unpacks to {size} bytes, not {size + 1}"):
        chunks._inflate(packed, size + 1, harmless)


@pytest.mark.parametrize("max_bytes", [None, 10**7])
def test_no_more_comes_out_than_is_harmless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, max_bytes: int | None
) -> None:
    """A limit of one's own holds also for a chunk that lies about its size."""
    at_once: list[int] = []

    def decompress(data: bytes, *, bufsize: int) -> bytes:
        at_once.append(bufsize)
        return unpack(data, bufsize=bufsize)

    unpack = zlib.decompress
    monkeypatch.setattr(zlib, "decompress", decompress)
    tar = np.eye(300, dtype=bool)
    ids = [f"m{i}" for i in range(300)]
    bp.Key(ids, ids, tar, ~tar).save(tmp_path / "a.h5")
    bp.Key.read(tmp_path / "a.h5", max_bytes=max_bytes)
    # A byte for each trial.
    assert at_once == ([300 * 300] if max_bytes is None else [])


# Blocks of checksums that begin in chunks, and ranges that begin in blocks.
@pytest.mark.parametrize("step", [7, 65, 100])
@pytest.mark.parametrize("rows", [slice(0, 300), slice(3, 20), slice(64, 131), slice(299, 300)])
def test_rows_straight_from_the_file(tmp_path: Path, step: int, rows: slice) -> None:
    models, segments = [f"m{i}" for i in range(300)], [f"s{j}" for j in range(2000)]
    wanted = np.random.default_rng(1).random((300, 2000))
    bp.Scores(wanted, models, segments).save(tmp_path / "a.h5")
    with open_guarded(tmp_path / "a.h5") as source:
        found = source.data_set("scores", "numbers")
        assert len(found.checksums) > 2
        found.checksums = (step, *checksums.checksums(wanted, step))
        out = np.empty((rows.stop - rows.start, 2000))
        found.read_into(out, (rows.start, 0))
        assert (found._plain_file is None) == (not hasattr(os, "preadv"))
    assert np.array_equal(out, wanted[rows])


@pytest.mark.skipif(not hasattr(os, "preadv"), reason="rows are read by the library")
def test_a_chunk_that_ends_behind_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bp.Scores(np.zeros((2, 3)), ["a", "b"], ["x", "y", "z"]).save(tmp_path / "a.h5")
    monkeypatch.setattr(os, "preadv", lambda *_: 47)
    with pytest.raises(FileFormatError, match=r"`/scores` is damaged: the chunk at .* not in"):
        bp.Scores.read(tmp_path / "a.h5")


def test_fletcher32_of_more_words_than_its_modulus(tmp_path: Path) -> None:
    data = np.random.default_rng(3).integers(0, 256, 2 * 70_001, dtype="u1")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        made = file.create_dataset("a", data=data, chunks=data.shape, fletcher32=True)
        _, stored = made.id.read_direct_chunk((0,))
    assert int.from_bytes(stored[-4:], "little") == chunks.fletcher32(stored[:-4])


def test_no_other_thread_is_in_the_library_while_a_chunk_is_read() -> None:
    """With h5py 3.11, whose own call takes no lock, two threads ended the process."""
    free = []

    def try_lock() -> None:
        if h5py._objects.phil.acquire(blocking=False):
            free.append(True)
            h5py._objects.phil.release()

    class Dataset:
        def read_direct_chunk(self, _: tuple[int, ...]) -> tuple[int, bytes]:
            other = threading.Thread(target=try_lock)
            other.start()
            other.join()
            return 0, zlib.compress(bytes(4))

    stored = StoredChunks(Dataset(), (4,), 1, (h5py.h5z.FILTER_DEFLATE,), is_packed=True)
    assert stored.unpack((0,)).ravel().tolist() == [0] * 4
    assert free == []


def test_chunks_and_the_budget(tmp_path: Path) -> None:
    """The chunks may have exactly the bytes of the file; memory is taken for 1024 at a time."""
    path, claims = tmp_path / "a.h5", []
    with h5py.File(path, "w") as file:
        made = file.create_dataset("a", data=np.zeros((2500, 2)), chunks=(1, 2))
        stored = StoredChunks.of(made.id, 8)
        stored.check(2500 * 16, lambda count, what: claims.append((count, what)))
        with pytest.raises(ValueError, match="more bytes than the file"):
            StoredChunks.of(made.id, 8).check(2500 * 16 - 1, lambda *_: None)
    assert [what for _, what in claims] == ["the list of chunks"] * 3
    assert {count for count, _ in claims} == {1024 * 200}
    assert stored.count == len(stored.begins) == 2500


@pytest.mark.parametrize("options", [{}, {"compression": "gzip"}])
def test_parts_of_blocks_with_checksums(tmp_path: Path, options: dict[str, Any]) -> None:
    """Blocks, and parts of the first and last, are what was stored; a wrong byte is noticed."""
    expected = np.random.default_rng(2).integers(0, 2, (23, 3), dtype="u1")
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        made = file.create_dataset("score_mask", data=expected, chunks=(5, 3), **options)
        checksums.put_checksums(made.id, 5, checksums.checksums(expected, 5))
    for first in range(23):
        for last in range(first + 1, 24):
            with open_guarded(path) as source:
                found = source.data_set("score_mask", "mask")
                out = np.zeros((last - first, 3), dtype="u1")
                found.read_into(out, (first, 0))
            np.testing.assert_array_equal(out, expected[first:last])
    with h5py.File(path, "r+") as file:
        file["score_mask"][12, 1] ^= 1
    with open_guarded(path) as source:
        found = source.data_set("score_mask", "mask")
        found.read_into(np.zeros((10, 3), dtype="u1"), (0, 0))
        for first, last in ((0, 23), (10, 15), (14, 16), (3, 11)):
            with pytest.raises(FileFormatError, match="checksum of rows 10 to 14 is wrong"):
                found.read_into(np.zeros((last - first, 3), dtype="u1"), (first, 0))


def test_fewer_bytes_than_the_shape_needs(tmp_path: Path) -> None:
    """The size in the layout message of a data set without chunks, changed."""
    path = tmp_path / "a.h5"
    n = hostile_files.N
    with hostile_files.new_file(path) as file:
        file["scores"], file["score_mask"] = np.ones((n, n)), np.ones((n, n), "u1")
        address = file["scores"].id.get_offset()
    data = bytearray(path.read_bytes())
    place = data.index(struct.pack("<QQ", address, 8 * n * n)) + 8
    for size in (8 * n * n - 8, 8):
        data[place : place + 8] = size.to_bytes(8, "little")
        path.write_bytes(data)
        with pytest.raises(FileFormatError, match="damaged"):
            bp.Scores.read(path)


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u4", "i8", "f4", "f8", "?"])
def test_masks_of_all_types(kind: str) -> None:
    for values in ([[0, 0, 0]], [[1, 1, 1]], [[1, 0, 1]]):
        for signed in (False, True):
            stored = np.array(values).astype(kind)
            found = check_mask_values(stored.copy(), "here", signed=signed)
            assert found.dtype == (np.int8 if signed else np.bool_)
            np.testing.assert_array_equal(found, values)
    if kind not in ("u1", "u4", "?"):
        found = check_mask_values(np.array([[1, -1, 0]]).astype(kind), "here", signed=True)
        np.testing.assert_array_equal(found, [[1, -1, 0]])
        for wrong in (-1, 2, -2):
            signed = wrong != -1
            with pytest.raises(FileFormatError, match=r"here must hold only .*first at \(0, 1\)"):
                check_mask_values(np.array([[1, wrong, 0]]).astype(kind), "here", signed=signed)


def test_ids_in_an_array_for_longer_ones() -> None:
    refuse_unstorable(np.array(["a"], dtype=f"U{LONGEST_ID + 1}"), "ids")
    refuse_unstorable(np.array(["a" * LONGEST_ID]), "ids")
    with pytest.raises(InvalidInputError, match="longer than"):
        refuse_unstorable(np.array(["a" * (LONGEST_ID + 1)]), "ids")


def test_rows_of_a_block_of_a_checksum() -> None:
    """Of a chunk, or of so many that there are not too many checksums."""

    class Made:
        dtype = np.dtype("f8")

        def __init__(self, shape: tuple[int, ...], chunks: tuple[int, ...] | None) -> None:
            self.shape, self.chunks = shape, chunks

    most = checksums._MOST_CHECKSUMS
    for shape, step, expected in (
        ((10, 2), (4, 2), 4),
        ((4 * most, 2), (4, 2), 4),
        ((4 * most + 1, 2), (4, 2), 8),
        ((9 * most, 10**9), (4, 10**9), 12),
        ((10, 2), None, checksums._BLOCK_BYTES // 16),
        ((10, 10**9), None, 1),
    ):
        assert checksums.block_rows(Made(shape, step)) == expected


def test_buffers_of_rows_are_used_by_turns(tmp_path: Path) -> None:
    """Rows can be used while the next ones are read."""
    expected = np.arange(40.0).reshape(8, 5)
    models, segments = [f"m{i}" for i in range(8)], [f"s{i}" for i in range(5)]
    bp.Scores(expected, models, segments).save(tmp_path / "a.h5")
    file, _, _ = rows.describe(tmp_path / "a.h5", "scores")
    assert isinstance(file, rows.MatrixFile)
    with rows.RowReader(file) as reader:
        first = reader.read_scores(slice(0, 2))
        second = reader.read_scores(np.array([5, 2]))
        np.testing.assert_array_equal(first, expected[:2])
        np.testing.assert_array_equal(second, expected[[5, 2]])
        third = reader.read_scores(slice(6, 8))
        np.testing.assert_array_equal(second, expected[[5, 2]])
        np.testing.assert_array_equal(third, expected[6:])
        assert np.shares_memory(first, third)
        assert not np.shares_memory(second, third)


def test_rows_that_are_written_have_ids_of_both_kinds(tmp_path: Path) -> None:
    expected = bp.Scores(np.arange(6.0).reshape(3, 2), ["a", "b", "c"], ["s", "t"])
    parts = [
        (part, expected.scoremat[part], expected.scoremask[part])
        for part in (slice(0, 2), slice(2, 3))
    ]
    path = tmp_path / "a.h5"
    rows.write_score_rows(path, parts, modelset=expected.modelset, segset=expected.segset)
    assert bp.Scores.read(path) == expected


@pytest.mark.parametrize("kind", ["i2", "u1", "f4", "f8"])
def test_columns_of_metadata_keep_whole_numbers(tmp_path: Path, kind: str) -> None:
    key = bp.Key(["m", "n"], ["s"], [[True], [False]], [[False], [True]])
    values = np.array([3, 250 if kind == "u1" else 2], dtype=kind)
    metadata = bp.TrialMetadata(key, {"count": values})
    metadata.save(tmp_path / "a.h5")
    found = bp.TrialMetadata.read(tmp_path / "a.h5")
    assert found == metadata
    np.testing.assert_array_equal(found.column("count"), values)
    assert np.asarray(found.column("count")).dtype == np.asarray(metadata.column("count")).dtype


@pytest.mark.parametrize(
    ("tag", "kind"), [("double", "u2"), ("char", "u1"), ("char", "u4"), ("double", "u4")]
)
def test_cells_of_matlab_7_3_that_hold_no_characters(
    tmp_path: Path, write_mat73: Callable[..., None], tag: str, kind: str
) -> None:
    path, ids = tmp_path / "a.mat", ["ab", "cd"]
    write_mat73(path, "idmap", {"leftids": ids, "rightids": ids})
    header = path.read_bytes()[:512]
    with h5py.File(path, "r+") as file:
        cells = file["idmap/leftids"]
        made = file["#refs#"].create_dataset("other", data=np.array([[97], [98]], dtype=kind))
        made.attrs["MATLAB_class"] = np.bytes_(tag)
        references = cells[...]
        references[0, 0] = made.ref
        cells[...] = references
    with path.open("rb+") as stream:
        stream.write(header)
    with pytest.raises(FileFormatError, match="must hold characters"):
        bp.IdMap.read(path)


FILES = {
    name: make
    for name, make in hostile_files.hdf5_files().items()
    if not name.startswith(("bomb", "sparse"))
}


@pytest.mark.parametrize("name", FILES)
def test_hostile_files_in_this_process(tmp_path: Path, name: str) -> None:
    """`test_hostile_files` reads them in children with limits; here their errors are compared."""
    path = tmp_path / "a.h5"
    FILES[name](path)
    reader = bp.IdMap.read if name.startswith("long id") else bp.Scores.read
    if name.startswith(("good", "zeros")):
        with open_guarded(path) as source:
            for content, place in (("numbers", "scores"), ("mask", "score_mask")):
                found = source.data_set(place, content)
                found.check_chunks()
                found.verify()
                assert found.read().shape == (64, 64)
        return
    with pytest.raises(FileFormatError) as caught:
        reader(path)
    wanted = {
        "plain": "chunk at", "one byte": "chunk at", "gzip left": "chunk at", "gzip,": "chunk that",
        "gzip and shuffle": "chunk that", "shuffle": "chunk at", "Fletcher32,": "damaged",
        "gzip and Fletcher32": "Fletcher32", "LZF": "filter 32000", "endless": "no end",
        "long id": "16384 is the most",
    }  # fmt: skip
    (message,) = (text for start, text in wanted.items() if name.startswith(start))
    caught.match(message if name != "gzip, no gzip" else "damaged")


def test_chunks_that_have_no_place(tmp_path: Path) -> None:
    """Chunks behind the extents, which a data set that was made smaller never keeps."""

    class Moved:
        """A data set whose chunks say that they are somewhere else."""

        def __init__(self, dataset: Any, begin: tuple[int, ...]) -> None:
            self.dataset, self.begin = dataset, begin

        def __getattr__(self, name: str) -> Any:
            if name == "chunk_iter":
                return lambda visit: self.dataset.chunk_iter(
                    lambda chunk: visit(chunk._replace(chunk_offset=self.begin))
                )
            return getattr(self.dataset, name)

    with h5py.File(tmp_path / "a.h5", "w") as file:
        made = file.create_dataset("a", data=np.zeros((4, 4)), chunks=(2, 4))
        for begin in ((4, 0), (1, 0), (0, 4), (2, 3)):
            with pytest.raises(ValueError, match="has no place in the shape"):
                StoredChunks.of(Moved(made.id, begin), 8).check(10**6, lambda *_: None)
        # More chunks than there are places.
        made = file.create_dataset("b", data=np.zeros((4, 4)), chunks=(2, 4))

        class Fewer(Moved):
            shape = (2, 4)

        with pytest.raises(ValueError, match="has no place in the shape"):
            StoredChunks.of(Fewer(made.id, (0, 0)), 8).check(10**6, lambda *_: None)


def test_groups_inside_groups_in_this_process(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        group = file.id
        for _ in range(40):
            group = h5py.h5g.create(group, b"g")
    with pytest.raises(FileFormatError, match="more than 32 groups"):
        bp.Scores.read(tmp_path / "a.h5")


@pytest.mark.parametrize("longest", [10**6, 20_000])
def test_long_ids_of_any_length(tmp_path: Path, longest: int) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        kind = h5py.string_dtype()
        file.create_dataset("left_ids", data=["a" * longest, "b"], dtype=kind)
        file.create_dataset("right_ids", data=["c", "d"], dtype=kind)
    with pytest.raises(FileFormatError, match="16384 is the most"):
        bp.IdMap.read(tmp_path / "a.h5")


def test_kind_of_matrix_or_list(tmp_path: Path) -> None:
    key = bp.Key(["m", "n"], ["s"], [[True], [False]], [[False], [True]])
    for number, (trials, kind) in enumerate(
        [
            (key, "key"),
            (key.to_ndx(), "ndx"),
            (key.to_flat(), "flat_key"),
            (key.to_flat().to_ndx(), "flat_ndx"),
        ]
    ):
        path = tmp_path / f"{number}.h5"
        trials.save(path)
        assert rows.describe(path, "key", "ndx")[0].kind == kind
    # Of another program: labels may be -1, or there are two masks.
    for masks, kind in (
        ({"trial_mask": np.array([[1], [-1]], "i1")}, "key"),
        ({"trial_mask": np.array([[1], [0]], "u1")}, "ndx"),
    ):
        with h5py.File(tmp_path / "other.h5", "w") as file:
            file["ID/row_ids"], file["ID/column_ids"] = [b"m", b"n"], [b"s"]
            for name, values in masks.items():
                file[name] = values
        assert rows.describe(tmp_path / "other.h5", "key", "ndx")[0].kind == kind
