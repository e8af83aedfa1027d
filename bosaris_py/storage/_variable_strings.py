"""Strings of variable length in HDF5 files, read without the HDF5 library.

Such a string lies in a *global heap*, a block of the file in which objects follow each
other; the data set holds the address of the block and the number of the object. When a
bit of that is wrong, the library can allocate gigabytes or never come back. The format is
simple (HDF5 File Format Specification, III.E and IV.A.2.d), so the few lines here read it
with all bounds checked.
"""

import math
import struct
import zlib
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from bosaris_py.storage._limits import MemoryBudget

__all__ = ["read_variable_strings"]

_HEAP_HEADER = 16
_OBJECT_HEADER = 16


def read_variable_strings(
    dataset: Any, path: Path, userblock: int, budget: MemoryBudget
) -> npt.NDArray[np.bytes_]:
    """Read a data set of strings of variable length.

    Parameters
    ----------
    dataset : h5py.h5d.DatasetID
        The data set, of a string type of variable length.
    path : Path
        The file that holds it.
    userblock : int
        Bytes before the HDF5 part of the file, from which addresses count.
    budget : MemoryBudget
        What the strings may take.

    Returns
    -------
    (n,) ndarray of bytes
        The strings in C order, each up to its first NUL.

    Raises
    ------
    ValueError, struct.error, zlib.error
        If the file is damaged.
    """
    count = math.prod(dataset.shape)
    if count == 0:
        return np.empty(0, dtype="S1")
    address_size, _ = h5py.h5i.get_file_id(dataset).get_create_plist().get_sizes()
    elements = _read_elements(dataset, path, 8 + address_size)
    # Length, address of the heap, number of the object.
    lengths = elements[:, :4].copy().view("<u4").ravel()
    addresses = elements[:, 4:-4].copy().view(f"<u{address_size}").ravel()
    numbers = elements[:, -4:].copy().view("<u4").ravel()
    width = int(lengths.max())
    file_size = path.stat().st_size
    if width > file_size:
        message = f"a string of {width} bytes in a file of {file_size}"
        raise ValueError(message)
    # As bytes, and four bytes for each character.
    budget.claim(5 * count * max(1, width), "an array of ids")
    strings = []
    heaps: dict[int, dict[int, bytes]] = {}
    unread = 2 * file_size
    with path.open("rb") as stream:
        for length, address, number in zip(
            lengths.tolist(), addresses.tolist(), numbers.tolist(), strict=True
        ):
            if length == 0:
                strings.append(b"")
                continue
            if address not in heaps:
                heaps[address], size = _read_heap(stream, userblock + address, file_size)
                unread -= size
                if unread < 0:
                    message = "heaps that overlap"
                    raise ValueError(message)
            text = heaps[address].get(number, b"")
            if len(text) < length:
                message = f"no string of {length} bytes where one should be"
                raise ValueError(message)
            strings.append(text[:length].partition(b"\0")[0])
    return np.array(strings, dtype=f"S{max(1, width)}")


def _read_elements(dataset: Any, path: Path, size: int) -> npt.NDArray[np.uint8]:
    """Return the stored elements, each a row of `size` bytes."""
    shape = tuple(dataset.shape)
    elements = np.zeros((*shape, size), dtype=np.uint8)
    layout = dataset.get_create_plist().get_layout()
    if layout == h5py.h5d.CHUNKED:
        _read_chunks(dataset, elements)
    elif layout == h5py.h5d.CONTIGUOUS:
        begin = dataset.get_offset()
        # Without an address nothing was ever written: empty strings.
        if begin is not None:
            with path.open("rb") as stream:
                stream.seek(begin)
                stored = stream.read(elements.size)
            elements = np.frombuffer(stored, dtype=np.uint8).reshape(elements.shape)
    else:
        message = "strings of variable length inside the header"
        raise ValueError(message)
    return elements.reshape(-1, size)


def _read_chunks(dataset: Any, elements: npt.NDArray[np.uint8]) -> None:
    """Set the elements that are stored in chunks; the others stay zero."""
    properties = dataset.get_create_plist()
    chunk_shape = (*properties.get_chunk(), elements.shape[-1])
    filters = [properties.get_filter(number)[0] for number in range(properties.get_nfilters())]
    for number in range(dataset.get_num_chunks()):
        begin = dataset.get_chunk_info(number).chunk_offset
        skipped, data = dataset.read_direct_chunk(begin)
        applied = [code for place, code in enumerate(filters) if not skipped >> place & 1]
        for code in reversed(applied):
            if code != h5py.h5z.FILTER_DEFLATE:
                message = f"strings of variable length compressed with filter {code}"
                raise ValueError(message)
            data = zlib.decompressobj().decompress(data, math.prod(chunk_shape))
        stored = np.frombuffer(data, dtype=np.uint8).reshape(chunk_shape)
        # The last extent of a chunk is that of the bytes of an element.
        place = tuple(
            slice(start, start + extent)
            for start, extent in zip(begin, chunk_shape[:-1], strict=True)
        )
        target = elements[place]
        target[...] = stored[tuple(slice(extent) for extent in target.shape)]


def _read_heap(stream: Any, begin: int, file_size: int) -> tuple[dict[int, bytes], int]:
    """Read a global heap; return its objects by number, and its size."""
    stream.seek(begin)
    header = stream.read(_HEAP_HEADER)
    if header[:4] != b"GCOL":
        message = f"no heap of strings at {begin}"
        raise ValueError(message)
    (size,) = struct.unpack_from("<Q", header, 8)
    if not _HEAP_HEADER <= size <= file_size:
        message = f"a heap of {size} bytes in a file of {file_size}"
        raise ValueError(message)
    data = stream.read(size - _HEAP_HEADER)
    objects = {}
    place = 0
    while place + _OBJECT_HEADER <= len(data):
        number, _, length = struct.unpack_from("<HH4xQ", data, place)
        # Number 0 is the free space at the end.
        if number == 0:
            break
        place += _OBJECT_HEADER
        objects[number] = data[place : place + length]
        place += length + (-length % 8)
    return objects, size
