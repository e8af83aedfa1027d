"""Checks of stored bytes, at the edges of what they refuse."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.storage import _stored_bytes, hdf5, hdf5_reading, rows, tokens, trial_table
from bosaris_py.storage._stored_bytes import GroupChecks, StoredChunks
from bosaris_py.storage.formats import catalogue
from bosaris_py.storage.hdf5_reading import check_mask_values, open_guarded, refuse_unstorable
from tests.storage import hostile_files

# Types of messages that the root of a new file has: link info, group info, symbol table.
LINK_INFO, GROUP_INFO, SYMBOL_TABLE = 2, 10, 17


def checks_of(data: bytes, *, width: int = 8) -> GroupChecks:
    """Return checks of bytes that are no whole file."""
    return GroupChecks(io.BytesIO(data), 0, width, width, len(data))


def property_list(*, sizes: int | None = None, block: int = 0) -> Any:
    """Return how a file is created: size of addresses, and bytes before it."""
    made = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    if sizes:
        made.set_sizes(sizes, sizes)
    if block:
        made.set_userblock(block)
    return made


VERSIONS = {
    "0": ("earliest", {}),
    "0, short addresses": ("earliest", {"sizes": 4}),
    "0, shorter addresses": ("earliest", {"sizes": 2}),
    "0, behind other bytes": ("earliest", {"block": 1024}),
    "2": ("v108", {}),
    "2, short addresses": ("v108", {"sizes": 4}),
    "3": ("v110", {}),
    "3, behind other bytes": ("v110", {"block": 512}),
}
_LIBRARY = {
    "earliest": (h5py.h5f.LIBVER_EARLIEST, h5py.h5f.LIBVER_V18),
    "v108": (h5py.h5f.LIBVER_V18, h5py.h5f.LIBVER_V18),
    "v110": (h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110),
}


def create(path: Path, version: str) -> None:
    """Write scores into a file of a version of the superblock."""
    library, options = VERSIONS[version]
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_libver_bounds(*_LIBRARY[library])
    made = h5py.h5f.create(
        bytes(path), h5py.h5f.ACC_EXCL, fcpl=property_list(**options), fapl=access
    )
    with h5py.File(made) as file:
        file["ID/row_ids"], file["ID/column_ids"] = [b"m1", b"m2"], [b"s1", b"s2", b"s3"]
        file["scores"], file["score_mask"] = np.arange(6.0).reshape(2, 3), np.ones((2, 3), "u1")


@pytest.mark.parametrize("version", VERSIONS)
def test_versions_of_the_superblock(tmp_path: Path, version: str) -> None:
    path = tmp_path / "a.h5"
    create(path, version)
    options = VERSIONS[version][1]
    with path.open("rb") as stream:
        found = GroupChecks.of_file(stream)
        assert found is not None
        sizes = (found.address_size, found.length_size, found.base)
        assert sizes == (options.get("sizes", 8), options.get("sizes", 8), options.get("block", 0))
        stream.seek(found.base + 8)
        assert stream.read(1)[0] == int(version[0])
    np.testing.assert_array_equal(bp.Scores.read(path).scoremat, np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize("version", ["0", "0, short addresses"])
def test_endless_names_in_the_root(tmp_path: Path, version: str) -> None:
    """The superblock says where the names of the root are: looked at before its header."""
    path = tmp_path / "a.h5"
    create(path, version)
    width = VERSIONS[version][1].get("sizes", 8)
    data = bytearray(path.read_bytes())
    heap = data.index(b"HEAP")
    free = int.from_bytes(data[heap + 8 + width : heap + 8 + 2 * width], "little")
    begin = int.from_bytes(data[heap + 8 + 2 * width : heap + 8 + 3 * width], "little")
    data[begin + free : begin + free + width] = free.to_bytes(width, "little")
    path.write_bytes(data)
    with path.open("rb") as stream, pytest.raises(ValueError, match="have no end"):
        GroupChecks.of_file(stream)
    # The same with the header alone.
    seen = GroupChecks.check
    calls: list[int] = []
    with path.open("rb") as stream, pytest.MonkeyPatch.context() as patch:
        patch.setattr(GroupChecks, "check", lambda self, header: calls.append(header))
        with pytest.raises(ValueError, match="have no end"):
            GroupChecks.of_file(stream)
        assert calls == []
        patch.setattr(GroupChecks, "_check_local_heap", lambda *_: None)
        found = GroupChecks.of_file(stream)
    assert found is not None
    with path.open("rb") as stream, pytest.raises(ValueError, match="have no end"):
        seen(GroupChecks(stream, 0, width, width, len(data)), calls[0])


def test_version_1_of_the_superblock(tmp_path: Path) -> None:
    """Four bytes longer than version 0; h5py cannot write one. II.A of the specification."""
    names, path = heap(16, (16, 16)), tmp_path / "a.h5"
    for cached, header, address in ((1, 8 * 40, 200), (0, 400, 9999)):
        root = struct.pack("<QQI4xQQ", 0, header, cached, 0, address)
        head = b"\x89HDF\r\n\x1a\n" + bytes([1, 0, 0, 0, 0, 8, 8, 0]) + bytes(12) + bytes(32)
        message = struct.pack("<HHB3xQQ", SYMBOL_TABLE, 16, 0, 0, 200)
        group = b"\1\0\1\0" + bytes(4) + struct.pack("<I4x", len(message)) + message
        data = ((head + root).ljust(200, b"\xff") + names).ljust(400, b"\xff") + group
        assert len(head) == 60
        path.write_bytes(data)
        # The first looks where the superblock says, the second where the header says.
        with path.open("rb") as stream, pytest.raises(ValueError, match="have no end"):
            GroupChecks.of_file(stream)


def group_header(path: Path, **options: Any) -> tuple[GroupChecks, list[tuple[int, bytes]]]:
    """Write a group of the later format; return its checks and messages."""
    with h5py.File(path, "w", libver="v110") as file:
        made = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
        if "phase" in options:
            made.set_attr_phase_change(*options["phase"])
        group = h5py.Group(h5py.h5g.create(file.id, b"g", gcpl=made))
        for number in range(options.get("links", 0)):
            group[f"{number}" * options.get("length", 1)] = h5py.Empty("f4")
        address = h5py.h5o.get_info(group.id).addr
    data = path.read_bytes()
    checks = checks_of(data)
    return checks, list(checks._messages(address))


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ({}, 0),
        ({"phase": (4, 2)}, 16),
        ({"links": 4, "length": 100}, 0),
        ({"phase": (4, 2), "links": 4, "length": 100}, 16),
    ],
)
def test_messages_of_later_groups(tmp_path: Path, options: dict[str, Any], flags: int) -> None:
    checks, messages = group_header(tmp_path / "a.h5", **options)
    data = checks.stream.getvalue()  # type: ignore[attr-defined]
    header = data.index(b"OHDR", data.index(b"OHDR") + 1)
    assert data[header + 5] & 0b110011 in (flags, flags | 32)
    kinds = [kind for kind, _ in messages]
    assert kinds[:2] == [LINK_INFO, GROUP_INFO]
    # Messages of links have number 6; the rest is free space or a further block.
    assert kinds.count(6) == options.get("links", 0)
    assert set(kinds) <= {0, LINK_INFO, 6, GROUP_INFO, 16}
    names = sorted(
        message[-8 - options.get("length", 1) :][:1] for kind, message in messages if kind == 6
    )
    assert names == [b"%d" % number for number in range(options.get("links", 0))]


def test_a_header_with_times_goes_on_behind_them() -> None:
    """Flag 32: four times of four bytes each; IV.A.1.b of the specification."""
    for flags, extra in ((0, 0), (16, 4), (32, 16), (48, 20), (49, 20)):
        width = 1 << (flags & 3)
        message = struct.pack("<BHB", GROUP_INFO, 2, 0) + b"ab"
        head = b"OHDR\2" + bytes([flags]) + b"\xff" * extra + len(message).to_bytes(width, "little")
        found = list(checks_of(head + message + bytes(64))._messages(0))
        assert found == [(GROUP_INFO, b"ab")]
    # Flag 4: the order of creation is behind the size of each message.
    message = struct.pack("<BHBH", GROUP_INFO, 2, 0, 7) + b"ab"
    head = b"OHDR\2\4" + bytes([len(message)])
    assert list(checks_of(head + message)._messages(0)) == [(GROUP_INFO, b"ab")]


def test_headers_in_several_blocks() -> None:
    """The later blocks have a signature and a checksum, the earlier ones have not."""
    inner = struct.pack("<BHB", GROUP_INFO, 1, 0) + b"x"
    later = b"OCHK" + inner + b"sums"
    first = struct.pack("<BHBQQ", 16, 16, 0, 100, len(later))
    data = (b"OHDR\2\0" + bytes([len(first)]) + first).ljust(100, b"\xff") + later
    found = list(checks_of(data)._messages(0))
    assert found[1:] == [(GROUP_INFO, b"x")]
    # Version 1; the last message ends the block and has no data.
    inner = struct.pack("<HHB3x", SYMBOL_TABLE, 4, 0) + b"addr" + struct.pack("<HHB3x", 0, 0, 0)
    first = struct.pack("<HHB3xQQ", 16, 16, 0, 100, len(inner))
    data = (b"\1\0\1\0" + bytes(4) + struct.pack("<I4x", len(first)) + first).ljust(100, b"\xff")
    found = list(checks_of(data + inner)._messages(0))
    assert found[1:] == [(SYMBOL_TABLE, b"addr"), (0, b"")]
    for wrong, message in ((b"\2" + data[1:], "no object header"), (data, "behind the end")):
        with pytest.raises(ValueError, match=message):
            list(checks_of(wrong)._messages(0))


def test_a_chain_of_too_many_blocks() -> None:
    again = struct.pack("<HHB3xQQ", 16, 16, 0, 16, 24)
    data = b"\1\0\1\0" + bytes(4) + struct.pack("<I4x", 24) + again
    with pytest.raises(ValueError, match="too many blocks"):
        list(checks_of(data)._messages(0))


def heap(free: int, *places: tuple[int, int], size: int = 64, width: int = 8) -> bytes:
    """Return a local heap at 0 whose list of free places begins with `free`."""

    def number(value: int) -> bytes:
        return value.to_bytes(width, "little")

    head = b"HEAP\0\0\0\0" + number(size) + number(free) + number(8 + 3 * width)
    content = bytearray(size)
    for place, following in places:
        content[place : place + 2 * width] = number(following) + number(16)
    return head + bytes(content)


@pytest.mark.parametrize("width", [2, 4, 8])
@pytest.mark.parametrize("free", [1, -1])
def test_free_places_of_names(width: int, free: int) -> None:
    most = 256**width
    for data in (
        heap(free % most, width=width),
        heap(16, (16, 32), (32, free % most), width=width),
        # The last place ends with the heap.
        heap(64 - 2 * width, (64 - 2 * width, free % most), width=width),
        heap(0, (0, free % most), width=width),
    ):
        checks_of(data, width=width)._check_local_heap(0)
    for data in (
        heap(16, (16, 16), width=width),
        heap(16, (16, 32), (32, 16), width=width),
        heap(64 - 2 * width + 1, width=width),
        heap((free - 1 if free == -1 else 2) % most, (2, 2), width=width),
    ):
        with pytest.raises(ValueError, match="have no end"):
            checks_of(data, width=width)._check_local_heap(0)
    with pytest.raises(ValueError, match="no heap of names"):
        checks_of(b"HEAD" + heap(1, width=width)[4:], width=width)._check_local_heap(0)
    with pytest.raises(ValueError, match="behind the end"):
        checks_of(heap(1, width=width)[:-1], width=width)._check_local_heap(0)


def test_numbers_that_are_cut_off() -> None:
    checks = checks_of(b"")
    assert checks._number(b"\1\2\3", 1, 2) == 0x0302
    with pytest.raises(ValueError, match="cut off"):
        checks._number(b"\1\2\3", 1, 3)


@pytest.mark.parametrize("size", [1, 1000, 10**5])
def test_gzip_without_its_end(size: int) -> None:
    """All bytes come out, but nothing says that they are right."""
    data = bytes(range(256)) * (size // 256 + 1)
    packed = zlib.compress(data[:size])
    assert _stored_bytes._inflate(packed, size) == data[:size]
    for cut in range(1, 5):
        with pytest.raises(ValueError, match="unpacks to"):
            _stored_bytes._inflate(packed[:-cut], size)
    with pytest.raises(ValueError, match="unpacks to more"):
        _stored_bytes._inflate(packed, size - 1)
    with pytest.raises(ValueError, match=f"unpacks to {size} bytes, not {size + 1}"):
        _stored_bytes._inflate(packed, size + 1)


def test_fletcher32_of_more_words_than_its_modulus(tmp_path: Path) -> None:
    data = np.random.default_rng(3).integers(0, 256, 2 * 70_001, dtype="u1")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        made = file.create_dataset("a", data=data, chunks=data.shape, fletcher32=True)
        _, stored = made.id.read_direct_chunk((0,))
    assert int.from_bytes(stored[-4:], "little") == _stored_bytes.fletcher32(stored[:-4])


def test_chunks_and_the_budget(tmp_path: Path) -> None:
    """The chunks may have exactly the bytes of the file; memory is taken for 1024 at a time."""
    path, claims = tmp_path / "a.h5", []
    with h5py.File(path, "w") as file:
        made = file.create_dataset("a", data=np.zeros((2500, 2)), chunks=(1, 2))
        chunks = StoredChunks.of(made.id, 8)
        chunks.check(2500 * 16, lambda count, what: claims.append((count, what)))
        with pytest.raises(ValueError, match="more bytes than the file"):
            StoredChunks.of(made.id, 8).check(2500 * 16 - 1, lambda *_: None)
    assert [what for _, what in claims] == ["the list of chunks"] * 3
    assert {count for count, _ in claims} == {1024 * 200}
    assert chunks.count == len(chunks.begins) == 2500


def test_rows_from_the_midst_of_a_chunk(tmp_path: Path) -> None:
    expected = np.arange(10.0 * 3).reshape(10, 3)
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("a", data=expected, chunks=(4, 3))
        file.create_dataset("b", data=expected[:, 0], chunks=(4,))
    for name, wanted in (("a", expected), ("b", expected[:, 0])):
        with h5py.File(path) as file, path.open("rb") as stream:
            chunks = StoredChunks.of(file[name].id, 8)
            chunks.check(path.stat().st_size, lambda *_: None)
            for begin, end in ((0, 10), (1, 3), (2, 7), (5, 6), (3, 10), (9, 10)):
                out = np.zeros((end - begin, *wanted.shape[1:]))
                chunks.read_rows(stream.fileno(), out, begin)
                np.testing.assert_array_equal(out, wanted[begin:end])


@pytest.mark.parametrize("options", [{}, {"compression": "gzip"}])
def test_parts_of_blocks_with_checksums(tmp_path: Path, options: dict[str, Any]) -> None:
    """Blocks, and parts of the first and last, are what was stored; a wrong byte is noticed."""
    expected = np.random.default_rng(2).integers(0, 2, (23, 3), dtype="u1")
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        made = file.create_dataset("score_mask", data=expected, chunks=(5, 3), **options)
        hdf5._put_checksums(made.id, 5, _stored_bytes.checksums(expected, 5))
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
    refuse_unstorable(np.array(["a"], dtype=f"U{hdf5_reading.LONGEST_ID + 1}"), "ids")
    refuse_unstorable(np.array(["a" * hdf5_reading.LONGEST_ID]), "ids")
    with pytest.raises(InvalidInputError, match="longer than"):
        refuse_unstorable(np.array(["a" * (hdf5_reading.LONGEST_ID + 1)]), "ids")


def test_rows_of_a_block_of_a_checksum() -> None:
    """Of a chunk, or of so many that there are not too many checksums."""

    class Made:
        dtype = np.dtype("f8")

        def __init__(self, shape: tuple[int, ...], chunks: tuple[int, ...] | None) -> None:
            self.shape, self.chunks = shape, chunks

    most = hdf5._MOST_CHECKSUMS
    for shape, chunks, expected in (
        ((10, 2), (4, 2), 4),
        ((4 * most, 2), (4, 2), 4),
        ((4 * most + 1, 2), (4, 2), 8),
        ((9 * most, 10**9), (4, 10**9), 12),
        ((10, 2), None, hdf5._CHUNK_BYTES // 16),
        ((10, 10**9), None, 1),
    ):
        assert hdf5._block_rows(Made(shape, chunks)) == expected


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


def test_columns_of_which_one_is_absent() -> None:
    column = np.array([True, False])
    assert trial_table.equal_columns(None, None)
    assert not trial_table.equal_columns(None, column)
    assert not trial_table.equal_columns(column, None)
    assert trial_table.equal_columns(column, column.copy())
    assert not trial_table.equal_columns(column, ~column)
    missing = np.array([1.0, np.nan])
    assert trial_table.equal_columns(missing, missing.copy())


@pytest.mark.parametrize("line", [",,", " , ,\t", "  "])
def test_lines_of_empty_fields_are_left_out(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"model,segment,score\na,b,1\n{line}\nc,d,x\n")
    # The line is still counted.
    with pytest.raises(FileFormatError, match=r"a\.csv:4: "):
        bp.read_scores(path, format="csv")
    path.write_text(f"model,segment,score\na,b,1\n{line}\nc,d,2\n")
    found = bp.read_scores(path, format="csv")
    assert isinstance(found, bp.Scores)
    assert sorted(found.scoremat[found.scoremask].tolist()) == [1, 2]


def test_many_ids_that_come_in_any_order() -> None:
    """The table of ids grows and grows; each id keeps the code that it had."""
    rng = np.random.default_rng(6)
    names = [b"id%d" % number for number in rng.integers(0, 30_000, 60_000)]
    column, numbers, codes = tokens.IdColumn(), tokens.LineNumbers(Path("a.txt")), []
    for begin in range(0, len(names), 7_001):
        data = b"".join(name + b"\n" for name in names[begin : begin + 7_001])
        block = tokens.cut_lines(data, 1 + begin, tokens.Layout("id"), numbers)
        codes += column.encode(block, 0).tolist()
    assert [column.ids[code] for code in codes] == names
    assert len(column.ids) == len(set(names))


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


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([True, False], [True, False]),
        ([1, 0], [True, False]),
        ([1, -1], [True, False]),
        ([0.0, 1.0], [False, True]),
        ([1, 1], [True, True]),
        (["target", "nontarget"], [True, False]),
    ],
)
def test_labels(labels: list[Any], expected: list[bool]) -> None:
    assert catalogue.as_labels(labels, "labels").tolist() == expected


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[True], [False]], "one-dimensional"),
        ([1, 0, -1], "numbers from -1 to 1"),
        ([0, 2], "numbers from 0 to 2. Say which means a target: labels == 2."),
        ([1.0, np.nan], "NaN at position 1"),
        ([1, 0.5], "numbers from 0.5 to 1"),
    ],
)
def test_labels_that_are_none(labels: list[Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        catalogue.as_labels(labels, "labels")


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
