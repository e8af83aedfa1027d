"""Check the names of groups before the HDF5 library reads them.

The older groups keep names in a local heap. The library walks the list of its free places without
end if this leads back to itself. The format is that of the HDF5 File Format Specification, version
3.0: II.A (superblock), III.D (local heaps), IV.A (object headers). What is wrong raises
`ValueError` or `struct.error`.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO

import attrs

# The library looks for the superblock here and at every power of two from 512.
_SIGNATURE = b"\x89HDF\r\n\x1a\n"

_SHORTEST_SUPERBLOCK = 24

# Types of messages in object headers.
_CONTINUATION, _SYMBOL_TABLE = 0x10, 0x11

# An object header has a few blocks; a chain of more is no score file.
_MOST_BLOCKS = 256

# In place of the position of the next free block: there is none.
_LAST_FREE_BLOCK = 1


@attrs.frozen(eq=False)
class GroupChecks:
    """Checks of the groups of an open file; sizes are those of addresses and of lengths."""

    stream: BinaryIO
    base: int
    address_size: int
    length_size: int
    file_size: int

    @classmethod
    def of_file(cls, stream: BinaryIO) -> "GroupChecks | None":
        """Check the root of a file before it is opened; None if the library will refuse it."""
        size = os.fstat(stream.fileno()).st_size
        base = _find_superblock(stream, size)
        if base is None:
            return None
        stream.seek(base)
        head = stream.read(256)
        if len(head) < _SHORTEST_SUPERBLOCK:
            return None
        version = head[8]
        # II.A: the later superblocks are shorter.
        sizes = head[13:15] if version < 2 else head[9:11]
        # The library has better words for what is no superblock at all.
        if version > 3 or any(each not in (2, 4, 8) for each in sizes):
            return None
        found = cls(stream, base, sizes[0], sizes[1], size)
        if version < 2:
            root = (24 if version == 0 else 28) + 5 * sizes[0]
            (cached,) = struct.unpack_from("<I", head, root + sizes[0])
            header = found._number(head, root, sizes[0])
            if cached == 1:
                heap = found._number(head, root + 2 * sizes[0] + 8, sizes[0])
                found._check_local_heap(heap)
        else:
            header = found._number(head, 12 + 3 * sizes[0], sizes[0])
        found.check(header)
        return found

    def check(self, header: int) -> None:
        """Check the local heap of a group, if it has one, given the address of its header."""
        for kind, message in self._messages(header):
            if kind == _SYMBOL_TABLE:
                self._check_local_heap(self._number(message, self.address_size, self.address_size))

    def _number(self, data: bytes, begin: int, size: int) -> int:
        """Return an unsigned number of the file."""
        if begin + size > len(data):
            raise ValueError("a header that is cut off")
        return int.from_bytes(data[begin : begin + size], "little")

    def _read(self, address: int, size: int) -> bytes:
        """Return bytes at an address."""
        if self.base + address + size > self.file_size:
            raise ValueError(f"{size} bytes at {address} are behind the end of the file")
        self.stream.seek(self.base + address)
        return self.stream.read(size)

    def _messages(self, address: int) -> Iterator[tuple[int, bytes]]:
        """Yield type and data of the messages of an object header, version 1 or 2."""
        head = self._read(address, min(64, self.file_size - self.base - address))
        is_second = head[:4] == b"OHDR"
        flags = 0
        if is_second:
            flags = head[5]
            begin = 6 + 16 * (flags >> 5 & 1) + 4 * (flags >> 4 & 1)
            width = 1 << (flags & 3)
            blocks = [(address + begin + width, self._number(head, begin, width))]
        elif head[:1] == b"\1":
            blocks = [(address + 16, self._number(head, 8, 4))]
        else:
            raise ValueError(f"no object header at {address}")
        for number, (begin, size) in enumerate(blocks):
            if number == _MOST_BLOCKS:
                raise ValueError("an object header of too many blocks")
            data = self._read(begin, size)
            if is_second and number:
                # The signature OCHK, and a checksum behind.
                data = data[4:-4]
            for kind, message in _cut_messages(data, is_second=is_second, flags=flags):
                if kind == _CONTINUATION:
                    where = self._number(message, 0, self.address_size)
                    length = self._number(message, self.address_size, self.length_size)
                    blocks.append((where, length))
                yield kind, message

    def _check_local_heap(self, address: int) -> None:
        """Raise if the list of free places of a local heap is not finite and inside it."""
        width = self.length_size
        head = self._read(address, 8 + 2 * width + self.address_size)
        if head[:4] != b"HEAP":
            raise ValueError(f"no heap of names at {address}")
        size, place, begin = (
            self._number(head, at, length)
            for at, length in ((8, width), (8 + width, width), (8 + 2 * width, self.address_size))
        )
        data = self._read(begin, size)
        seen: set[int] = set()
        while place not in (_LAST_FREE_BLOCK, (1 << 8 * width) - 1):
            if place in seen or place + 2 * width > size:
                raise ValueError("the free places in a heap of names have no end")
            seen.add(place)
            place = self._number(data, place, width)


def _find_superblock(stream: BinaryIO, size: int) -> int | None:
    """Return where the superblock is, None if there is none."""
    place = 0
    while place + len(_SIGNATURE) <= size:
        stream.seek(place)
        if stream.read(len(_SIGNATURE)) == _SIGNATURE:
            return place
        place = max(512, 2 * place)
    return None


def _cut_messages(data: bytes, *, is_second: bool, flags: int) -> Iterator[tuple[int, bytes]]:
    """Yield type and data of the messages in a block of an object header."""
    head = (6 if flags & 4 else 4) if is_second else 8
    position = 0
    while position + head <= len(data):
        if is_second:
            kind, size = struct.unpack_from("<BH", data, position)
        else:
            kind, size = struct.unpack_from("<HH", data, position)
        position += head
        yield kind, data[position : position + size]
        position += size
