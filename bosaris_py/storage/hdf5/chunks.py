"""Check and unpack the chunks of an HDF5 data set.

The library takes the size of a chunk, and what a compressed chunk unpacks to, from the file. A
wrong size makes it read memory that is no part of the file. So sizes are checked here before it
reads chunks, and chunks compressed with gzip are unpacked here. What is wrong raises `ValueError`
or `zlib.error`.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import zlib
from collections.abc import Callable, Iterator
from typing import TypeAlias

import attrs
import h5py
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray

ByteArray: TypeAlias = npt.NDArray[np.uint8]

_GZIP, _SHUFFLE = h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE
_FLETCHER32 = h5py.h5z.FILTER_FLETCHER32
_FILTERS = {_GZIP: "gzip", _SHUFFLE: "shuffle", _FLETCHER32: "Fletcher32"}

# Fletcher32 puts a checksum of four bytes behind the chunk.
_CHECKSUM_BYTES = 4

# No byte that gzip has packed becomes more (zlib's documentation).
_GZIP_RATIO = 1032

# Memory of what is kept of each chunk, and for how many chunks it is taken at a time.
_BYTES_OF_CHUNK, _CHUNKS_AT_A_TIME = 200, 1024


@attrs.define(eq=False)
class StoredChunks:
    """The chunks of a data set, whose sizes have been checked."""

    dataset: h5py.h5d.DatasetID
    # Extents of a chunk, and bytes of an element as stored.
    shape: tuple[int, ...]
    item_size: int
    filters: tuple[int, ...]
    # Whether chunks are unpacked here, not by the library.
    is_packed: bool
    # Bytes that may come out of a chunk that lies about its size, before it is refused.
    harmless: int = 0
    # Where the chunks begin: in the data set, and in the file.
    begins: dict[tuple[int, ...], int] = attrs.field(factory=dict, init=False)
    count: int = attrs.field(default=0, init=False)
    # What was unpacked last, and from which bytes: a mask that is true everywhere repeats them.
    _last: tuple[tuple[int, bytes], ByteArray] | None = attrs.field(default=None, init=False)

    @classmethod
    def of(
        cls, dataset: h5py.h5d.DatasetID, item_size: int, *, of_pointers: bool = False
    ) -> "StoredChunks":
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

        def visit(chunk: h5py.h5d.StoreInfo) -> bool | None:
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
        # The library is not safe in threads, and h5py 3.11 takes no lock for single chunks.
        with h5py._objects.phil:
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
                data = _inflate(data, wanted, self.harmless)
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
        self, begin: tuple[int, ...], extents: tuple[int, ...]
    ) -> Iterator[tuple[tuple[slice, ...], ByteArray, tuple[slice, ...]]]:
        """Yield, for each stored chunk in a range, the place in the range, the chunk, the part.

        The chunk has the bytes of each element along its last axis.
        """
        steps = [
            range(first // step * step, first + extent, step)
            for first, extent, step in zip(begin, extents, self.shape, strict=True)
        ]
        for place in itertools.product(*steps):
            if place not in self.begins:
                continue
            corners = [
                (max(first, at), min(first + extent, at + step))
                for first, extent, at, step in zip(begin, extents, place, self.shape, strict=True)
            ]
            inside = tuple(
                slice(a - first, b - first) for (a, b), first in zip(corners, begin, strict=True)
            )
            part = tuple(slice(a - at, b - at) for (a, b), at in zip(corners, place, strict=True))
            yield inside, self.unpack(place), part

    def read_rows(self, file: int, out: AnyArray, begin: int) -> None:
        """Read rows, as stored, from an open file; chunks must be whole rows without filters."""
        step, last = self.shape[0], begin + len(out)
        for start in range(begin // step * step, last, step):
            low, high = max(begin, start), min(last, start + step)
            rows = out[low - begin : high - begin]
            place = self.begins[(start, *[0] * (out.ndim - 1))]
            place += (low - start) * (self.n_bytes // step)
            if os.preadv(file, [rows.data], place) != rows.nbytes:
                raise ValueError(f"the chunk at {place} is not in the file")


def _filters(properties: h5py.h5p.PropDCID, item_size: int) -> tuple[int, ...]:
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


def _inflate(data: bytes, size: int, harmless: int) -> bytes:
    """Undo gzip; raise if not exactly so many bytes come out."""
    unpacked, is_whole = b"", False
    # Memory of the right size at once saves a copy.
    if _GZIP_RATIO * len(data) <= harmless:
        with contextlib.suppress(zlib.error):
            unpacked, is_whole = zlib.decompress(data, bufsize=max(1, size)), True
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
    # A chunk has less than 2^32 bytes, so no sum overflows.
    low, high = int(words.sum()), int(words @ weights)
    # The folded sums of the library are never 0 unless all words are.
    low, high = (total and (total - 1) % 65535 + 1 for total in (low, high))
    return high << 16 | low
