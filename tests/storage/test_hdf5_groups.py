"""Checks of the names in groups, at the edges of what they refuse."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.storage.hdf5.groups import GroupChecks

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
