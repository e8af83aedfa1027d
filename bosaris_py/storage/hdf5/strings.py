"""Read strings of variable length from an HDF5 file.

Such a string lies in a *global heap*, a block of the file in which objects follow each other. The
data set holds the address of the block and the number of the object. When a bit of that is wrong,
the library can allocate gigabytes or never come back. The format is simple, so it is read here with
all bounds checked: HDF5 File Format Specification, version 3.0, III.E (global heap) and IV.A.2.d
(datatype). What is wrong raises `ValueError` or `struct.error`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np

from bosaris_py._arrays import AnyArray
from bosaris_py.storage.ids import LONGEST_STORED_ID, BytesArray

# Bytes of the header of a heap, and of each object in it.
_HEADER = 16


def read_heap_strings(
    elements: AnyArray, path: Path, base: int, address_size: int, claim: Callable[[int, str], None]
) -> BytesArray:
    """Return the strings to which stored elements lead, each up to its first NUL.

    `elements` are rows of bytes; addresses count from `base`, the bytes before the HDF5 part.
    """
    element = np.dtype([("length", "<u4"), ("heap", f"<u{address_size}"), ("object", "<u4")])
    elements = elements.view(element).ravel()
    width, file_size = int(elements["length"].max(initial=0)), path.stat().st_size
    if width > file_size:
        raise ValueError(f"a string of {width} bytes in a file of {file_size}")
    if width > LONGEST_STORED_ID:
        raise ValueError(f"an id of {width} bytes; {LONGEST_STORED_ID} is the most")
    # As bytes, and four bytes for each character.
    claim(5 * elements.size * max(1, width), "an array of ids")
    strings = []
    heaps: dict[int, dict[int, bytes]] = {}
    # Heaps that overlap could make a short file take any time; each byte may be read twice.
    unread = 2 * file_size
    with path.open("rb") as stream:
        for length, address, number in elements.tolist():
            if length == 0:
                strings.append(b"")
                continue
            if address not in heaps:
                heaps[address], size = read_global_heap(stream, base + address, file_size, claim)
                unread -= size
                if unread < 0:
                    raise ValueError("heaps that overlap")
            text = heaps[address].get(number, b"")
            if len(text) < length:
                raise ValueError(f"no string of {length} bytes where one should be")
            strings.append(text[:length].partition(b"\0")[0])
    return np.array(strings, dtype=f"S{max(1, width)}")


def read_global_heap(
    stream: BinaryIO, begin: int, file_size: int, claim: Callable[[int, str], None]
) -> tuple[dict[int, bytes], int]:
    """Read a global heap up to its free space; return its objects by number, and its size.

    A heap of a file with holes can have any size; what was not written is free space.
    """
    stream.seek(begin)
    header = stream.read(_HEADER)
    if header[:4] != b"GCOL":
        raise ValueError(f"no heap of strings at {begin}")
    (size,) = struct.unpack_from("<Q", header, 8)
    if not _HEADER <= size <= file_size:
        raise ValueError(f"a heap of {size} bytes in a file of {file_size}")
    objects, left = {}, size - _HEADER
    while len(head := stream.read(min(left, _HEADER))) == _HEADER:
        number, _, length = struct.unpack("<HH4xQ", head)
        # Number 0 is the free space at the end.
        if number == 0:
            break
        left -= _HEADER
        if length > left:
            raise ValueError(f"a string of {length} bytes that ends behind its heap")
        claim(length, "a heap of strings")
        objects[number] = stream.read(length)
        left -= length + len(stream.read(min(left - length, -length % 8)))
    return objects, size
