"""Check and unpack what HDF5 files store, where the library believes what a file says.

The library takes the size of a chunk, what a compressed chunk unpacks to, and the list of the
free places in a heap from the file. A wrong size makes it read memory that is no part of the
file; a wrong list makes it take all memory. So these are checked here before it reads them,
and chunks compressed with gzip are unpacked here. What data sets hold has checksums.

The format is that of the HDF5 File Format Specification, version 3.0: II.A (superblock), III.D and
III.E (local and global heaps), IV.A (object headers). What is wrong raises `ValueError`,
`struct.error` or `zlib.error`.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, TypeAlias

import attrs
import h5py
import numpy as np
import numpy.typing as npt

ByteArray: TypeAlias = npt.NDArray[np.uint8]

# Where each chunk begins, in the data set and in the file, and how many there are.
KnownChunks: TypeAlias = tuple[dict[tuple[int, ...], int], int]

_GZIP, _SHUFFLE = h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE
_FLETCHER32 = h5py.h5z.FILTER_FLETCHER32
_FILTERS = {_GZIP: "gzip", _SHUFFLE: "shuffle", _FLETCHER32: "Fletcher32"}

# Fletcher32 puts a checksum of four bytes behind the chunk.
_CHECKSUM_BYTES = 4

# Chunks up to this size are remembered for further reads of parts of them.
_REMEMBERED_BYTES = 2**23

# More is not read at once if chunks follow each other; the system has a limit, too.
_READ_AT_ONCE = 2**22

# Sums of a checksum: a prime, so that stretches that changed places are not summed alike.
_SUMS = 1021
# Blocks with a checksum that are summed in one call: between calls threads wait for each other.
_BLOCKS_AT_ONCE = 16

# Memory of what is kept of each chunk, and for how many chunks it is taken at a time.
_BYTES_OF_CHUNK, _CHUNKS_AT_A_TIME = 200, 1024

# Words of a Fletcher32 checksum that are summed at a time: below 2^32 of them no sum overflows.
_WORDS_AT_A_TIME = 2**20

# The library looks for the superblock here and at every power of two from 512.
_SIGNATURE = b"\x89HDF\r\n\x1a\n"

_SHORTEST_SUPERBLOCK = 24

# Types of messages in object headers.
_CONTINUATION, _SYMBOL_TABLE = 0x10, 0x11

# An object header has a few blocks; a chain of more is no score file.
_MOST_BLOCKS = 256

# In place of the position of the next free block: there is none.
_LAST_FREE_BLOCK = 1

# Sizes in bytes of the header of a global heap and of that of each object in it.
_HEAP_HEADER = 16
_OBJECT_HEADER = 16
_HEAP_STEP = 2**16

# No byte that gzip has packed becomes more (zlib's documentation).
_GZIP_RATIO = 1032

# So much may come out of a chunk that lies about its size, before it is refused.
_UNBOUNDED_BYTES = 2**27


# Chunks


@attrs.define(eq=False)
class StoredChunks:
    """The chunks of a data set, whose sizes have been checked."""

    dataset: Any
    # Extents of a chunk, and bytes of an element as stored.
    shape: tuple[int, ...]
    item_size: int
    filters: tuple[int, ...]
    # Whether chunks are unpacked here, not by the library.
    is_packed: bool
    # Where the chunks begin: in the data set, and in the file.
    begins: dict[tuple[int, ...], int] = attrs.field(factory=dict, init=False)
    count: int = attrs.field(default=0, init=False)
    _remembered: dict[tuple[int, ...], ByteArray] = attrs.field(factory=dict, init=False)
    # What was unpacked last, and from which bytes: a mask that is true everywhere repeats them.
    _last: tuple[tuple[int, bytes], ByteArray] | None = attrs.field(default=None, init=False)

    @classmethod
    def of(cls, dataset: Any, item_size: int, *, of_pointers: bool = False) -> "StoredChunks":
        """Take the chunks of a data set; the library never reads data sets of pointers."""
        properties = dataset.get_create_plist()
        filters = _filters(properties, item_size)
        is_packed = of_pointers or _GZIP in filters
        return cls(dataset, tuple(properties.get_chunk()), item_size, filters, is_packed)

    @property
    def n_bytes(self) -> int:
        """Size of an unpacked chunk."""
        return math.prod(self.shape) * self.item_size

    def check(self, file_size: int, claim: Callable[[int, str], None]) -> None:
        """Raise if a chunk has not the place and size that it must have.

        `claim` takes memory from a budget.
        """
        extents = self.dataset.shape
        most = math.prod(
            -(-extent // step) for extent, step in zip(extents, self.shape, strict=True)
        )
        exact = self._stored_size(0)
        left = file_size
        faults: list[str] = []

        def visit(chunk: Any) -> bool | None:
            nonlocal left
            begin, size = chunk.chunk_offset, chunk.size
            self.count += 1
            left -= size
            wanted = self._stored_size(chunk.filter_mask) if chunk.filter_mask else exact
            if size == 0 or (wanted is not None and size != wanted):
                faults.append(f"the chunk at {begin} has {size} bytes, not {wanted or 'some'}")
            elif left < 0:
                faults.append("the chunks have more bytes than the file")
            elif self.count > most or any(
                place % step or place >= extent
                for place, step, extent in zip(begin, self.shape, extents, strict=True)
            ):
                faults.append(f"the chunk at {begin} has no place in the shape {extents}")
            else:
                if self.count % _CHUNKS_AT_A_TIME == 1:
                    claim(min(most, _CHUNKS_AT_A_TIME) * _BYTES_OF_CHUNK, "the list of chunks")
                self.begins[begin] = chunk.byte_offset
            # Anything but None ends the walk.
            return True if faults else None

        if hasattr(self.dataset, "chunk_iter"):
            self.dataset.chunk_iter(visit)
        else:
            for number in range(self.dataset.get_num_chunks()):
                if visit(self.dataset.get_chunk_info(number)):
                    break
        if faults:
            raise ValueError(faults[0])

    def _stored_size(self, skipped: int) -> int | None:
        """Return the size of a stored chunk, None if gzip decides."""
        applied = self._applied(skipped)
        if _GZIP in applied:
            return None
        return self.n_bytes + _CHECKSUM_BYTES * (_FLETCHER32 in applied)

    def _applied(self, skipped: int) -> list[int]:
        """Return the filters of a chunk; each bit of `skipped` stands for one left out."""
        return [code for bit, code in enumerate(self.filters) if not skipped >> bit & 1]

    def unpack(self, begin: tuple[int, ...]) -> ByteArray:
        """Return a chunk, the bytes of each element along the last axis."""
        stored_as: tuple[int, bytes] = self.dataset.read_direct_chunk(begin)
        if self._last is not None and self._last[0] == stored_as:
            return self._last[1]
        skipped, data = stored_as
        applied = self._applied(skipped)
        planes = False
        while applied:
            code = applied.pop()
            wanted = self.n_bytes + _CHECKSUM_BYTES * (_FLETCHER32 in applied)
            if code == _GZIP:
                data = _inflate(data, wanted)
            elif code == _FLETCHER32:
                data = _without_checksum(data)
            else:
                # Bytes sorted by their place in the element.
                planes = True
                if _FLETCHER32 in applied:
                    raise ValueError("a checksum below the shuffle filter")
        if len(data) != self.n_bytes:
            raise ValueError(f"a chunk of {len(data)} bytes, not {self.n_bytes}")
        stored = np.frombuffer(data, dtype=np.uint8)
        if planes:
            stored = _unshuffled(stored, self.item_size)
        unpacked = stored.reshape(*self.shape, self.item_size)
        self._last = stored_as, unpacked
        return unpacked

    def parts(
        self, begin: tuple[int, ...], extents: tuple[int, ...], *, remember: bool = False
    ) -> Iterator[tuple[tuple[slice, ...], ByteArray, tuple[slice, ...]]]:
        """Yield, for each stored chunk in a range, the place in the range, the chunk, the part.

        The chunk has the bytes of each element along its last axis. `remember` keeps chunks for the
        next range.
        """
        steps = [
            range(first // step * step, first + extent, step)
            for first, extent, step in zip(begin, extents, self.shape, strict=True)
        ]
        before, self._remembered = self._remembered, {}
        room = _REMEMBERED_BYTES if remember else 0
        for place in itertools.product(*steps):
            if place not in self.begins:
                continue
            chunk = before.get(place)
            if chunk is None:
                chunk = self.unpack(place)
            room -= chunk.size
            if room >= 0:
                self._remembered[place] = chunk
            corners = [
                (max(first, at), min(first + extent, at + step))
                for first, extent, at, step in zip(begin, extents, place, self.shape, strict=True)
            ]
            inside = tuple(
                slice(a - first, b - first) for (a, b), first in zip(corners, begin, strict=True)
            )
            part = tuple(slice(a - at, b - at) for (a, b), at in zip(corners, place, strict=True))
            yield inside, chunk, part

    def read_rows(self, file: int, out: npt.NDArray[Any], begin: int) -> None:
        """Read consecutive rows, as stored, from a file descriptor; chunks must be whole rows."""
        step, last = self.shape[0], begin + len(out)
        row_bytes = math.prod(self.shape[1:]) * self.item_size

        def place_of(row: int) -> int:
            start = row // step * step
            return self.begins[(start, *[0] * (out.ndim - 1))] + (row - start) * row_bytes

        while begin < last:
            end, place, size = begin, place_of(begin), 0
            # Chunks that follow each other in the file are read at once.
            while end < last and size < _READ_AT_ONCE and place_of(end) == place + size:
                end = min(last, end // step * step + step)
                size = (end - begin) * row_bytes
            if os.preadv(file, [out[: end - begin].data], place) != size:
                raise ValueError(f"the chunk at {place} is not in the file")
            out, begin = out[end - begin :], end


def _filters(properties: Any, item_size: int) -> tuple[int, ...]:
    """Return the filters of a data set; raise if one of them is not undone here."""
    filters: list[int] = []
    for number in range(properties.get_nfilters()):
        code, _, values, title = properties.get_filter(number)
        if code not in _FILTERS:
            label = title.decode(errors="replace") or "unnamed"
            hint = "write it again with gzip or without compression"
            if not h5py.h5z.filter_avail(code):
                hint = f"which this installation lacks; {hint}"
            else:
                hint = f"which is not read from files of unknown origin; {hint}"
            raise ValueError(f"compressed with filter {code} ({label[:40]!r}), {hint}")
        if code in filters:
            raise ValueError(f"compressed with filter {code} ({_FILTERS[code]}) twice")
        # Without a size the filter is left out of each chunk, as for strings of any length.
        if code == _SHUFFLE and values and values[0] != item_size:
            raise ValueError(f"a shuffle filter for elements of other than {item_size} bytes")
        filters.append(code)
    return tuple(filters)


def _inflate(data: bytes, size: int) -> bytes:
    """Undo gzip; raise if not exactly so many bytes come out."""
    most = _GZIP_RATIO * len(data)
    unpacked, is_whole = b"", False
    # Memory of the right size at once is twice as fast, where little more can come out.
    if most <= max(_UNBOUNDED_BYTES, 4 * size):
        with contextlib.suppress(zlib.error):
            unpacked, is_whole = zlib.decompress(data, bufsize=max(1, min(size, most))), True
    if not is_whole:
        stream = zlib.decompressobj()
        unpacked = stream.decompress(data, size + 1)
        is_whole = stream.eof
    if len(unpacked) != size or not is_whole:
        found = "more" if len(unpacked) > size else f"{len(unpacked)}"
        raise ValueError(f"a chunk that unpacks to {found} bytes, not {size}")
    return unpacked


def _unshuffled(planes: ByteArray, item_size: int) -> ByteArray:
    """Undo the shuffle filter, which puts the first bytes of all elements first, and so on."""
    elements = np.empty((planes.size // item_size, item_size), dtype=np.uint8)
    # A third of the time of a transposition.
    for number, plane in enumerate(planes.reshape(item_size, -1)):
        elements[:, number] = plane
    return elements


def _without_checksum(data: bytes) -> bytes:
    """Take off a Fletcher32 checksum; raise if it is wrong."""
    if len(data) < _CHECKSUM_BYTES:
        raise ValueError("a chunk without its checksum")
    content, stored = data[:-_CHECKSUM_BYTES], data[-_CHECKSUM_BYTES:]
    if int.from_bytes(stored, "little") != fletcher32(content):
        raise ValueError("a chunk with a wrong Fletcher32 checksum")
    return content


def fletcher32(data: bytes) -> int:
    """Return the checksum that HDF5's filter stores.

    J. G. Fletcher, "An arithmetic checksum for serial transmissions", IEEE Trans. Commun. 30, 1982,
    pp. 247-252, with words of two bytes, the more significant first, modulo 65535.
    """
    words = np.frombuffer(data + bytes(len(data) % 2), dtype=">u2").astype(np.uint64)
    # Words weigh as many times as a sum that runs from the first one has them.
    weights = np.arange(words.size, 0, -1, dtype=np.uint64) % np.uint64(65535)
    low, step = int(words.sum()), _WORDS_AT_A_TIME
    pieces = (slice(start, start + step) for start in range(0, words.size, step))
    high = sum(int((words[piece] * weights[piece]).sum()) for piece in pieces)
    # The folded sums of the library are never 0 unless all words are.
    low, high = (total and (total - 1) % 65535 + 1 for total in (low, high))
    return high << 16 | low


# Checksums of what a data set holds, by block of rows


def checksums(array: npt.NDArray[Any], rows: int) -> list[int]:
    """Return for each block of so many rows the CRC-32 of 1021 sums, modulo 2^64.

    A sum is that of every 1021st word of eight bytes; what is behind the last whole 1021 words is
    appended as it is. Each changed word changes a sum, whose place tells of words that moved.
    """
    # A sum takes a tenth of the time of reading.
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    whole = len(array) // rows * rows
    found: list[int] = []
    for start in range(0, whole, _BLOCKS_AT_ONCE * rows):
        part = np.ascontiguousarray(little[start : min(start + _BLOCKS_AT_ONCE * rows, whole)])
        data = part.reshape(len(part) // rows, -1).view(np.uint8)
        n_words = data.shape[1] // 8 // _SUMS * _SUMS
        words = data[:, : 8 * n_words].view("<u8").reshape(len(data), n_words // _SUMS, _SUMS)
        for sums, rest in zip(words.sum(axis=1, dtype="<u8"), data[:, 8 * n_words :], strict=True):
            found.append(zlib.crc32(rest.data, zlib.crc32(sums.data)))
    return found + (checksums(array[whole:], len(array) - whole) if whole < len(array) else [])


# Strings of variable length


def read_global_heap(
    stream: BinaryIO, begin: int, file_size: int, claim: Callable[[int, str], None]
) -> tuple[dict[int, bytes], int]:
    """Read a global heap up to its free space; return its objects by number, and its size.

    A heap of a file with holes can have any size; what was not written is free space.
    """
    stream.seek(begin)
    header = stream.read(_HEAP_HEADER)
    if header[:4] != b"GCOL":
        raise ValueError(f"no heap of strings at {begin}")
    (size,) = struct.unpack_from("<Q", header, 8)
    if not _HEAP_HEADER <= size <= file_size:
        raise ValueError(f"a heap of {size} bytes in a file of {file_size}")
    left = size - _HEAP_HEADER
    data, objects, position = b"", {}, 0
    while True:
        if len(data) < position + _OBJECT_HEADER:
            more = stream.read(min(left, _HEAP_STEP))
            claim(len(more), "a heap of strings")
            left -= len(more)
            data, position = data[position:] + more, 0
            if len(data) < _OBJECT_HEADER:
                break
        number, _, length = struct.unpack_from("<HH4xQ", data, position)
        # Number 0 is the free space at the end.
        if number == 0:
            break
        position += _OBJECT_HEADER
        lacking = position + length - len(data)
        if lacking > left:
            raise ValueError(f"a string of {length} bytes that ends behind its heap")
        if lacking > 0:
            claim(lacking, "a heap of strings")
            data, position = data[position:] + stream.read(lacking), 0
            left -= lacking
        objects[number] = data[position : position + length]
        position += length + (-length % 8)
        if position > len(data):
            left -= len(stream.read(min(left, position - len(data))))
            position = len(data)
    return objects, size


# Names of groups. The older groups keep them in a local heap, and the library walks the list
# of its free places without end if this leads back to itself.


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
