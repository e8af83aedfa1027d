"""Checksums of what a data set of this package holds, one for each block of rows.

An attribute of the data set has the rows (first extent) of a block, then the checksums.
"""

from __future__ import annotations

import math
import zlib

import h5py
import numpy as np

from bosaris_py._arrays import AnyArray

_NAME = b"checksums"

# An attribute takes less than 64 kB.
_MOST_CHECKSUMS = 16_000

# Sums of a checksum: a prime, so that stretches that changed places are not summed alike.
_SUMS = 1021

# Rows of about this size have one checksum where there are no chunks.
_BLOCK_BYTES = 2**20


def checksums(array: AnyArray, rows: int) -> list[int]:
    """Return for each block of so many rows the CRC-32 of 1021 sums, modulo 2^64.

    A sum is that of every 1021st word of eight bytes; what is behind the last whole 1021 words is
    appended as it is. Each changed word changes a sum, whose place shows words that moved.
    """
    # A sum takes a tenth of the time of reading.
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    found = []
    for start in range(0, len(array), rows):
        data = np.ascontiguousarray(little[start : start + rows]).reshape(-1).view(np.uint8)
        end = data.size // 8 // _SUMS * _SUMS * 8
        sums = data[:end].view("<u8").reshape(-1, _SUMS).sum(axis=0, dtype="<u8")
        found.append(zlib.crc32(data[end:].data, zlib.crc32(sums.data)))
    return found


def block_rows(dataset: h5py.Dataset) -> int:
    """Return the rows of a data set that have one checksum: those of a chunk, or of several."""
    shape = dataset.shape
    row_bytes = max(1, math.prod(shape[1:]) * dataset.dtype.itemsize)
    rows = dataset.chunks[0] if dataset.chunks else max(1, _BLOCK_BYTES // row_bytes)
    return int(rows * max(1, -(-shape[0] // (rows * _MOST_CHECKSUMS))))


def put_checksums(dataset: h5py.h5d.DatasetID, rows: int, values: list[int]) -> None:
    """Put the checksums of the blocks of so many rows, unless there are no elements."""
    if math.prod(dataset.shape):
        content = np.array([rows, *values], dtype="<u4")
        space = h5py.h5s.create_simple(content.shape)
        h5py.h5a.create(dataset, _NAME, h5py.h5t.STD_U32LE, space).write(content)


def read_checksums(dataset: object, n_rows: int, most: float) -> tuple[int, ...]:
    """Return the rows of a block and the checksum of each; nothing if there are none.

    Those of another number of rows, or of blocks of more than `most` rows, raise `ValueError`.
    """
    if not h5py.h5a.exists(dataset, _NAME):
        return ()
    attribute = h5py.h5a.open(dataset, _NAME)
    extents = attribute.shape
    size = extents[0] if len(extents) == 1 else 0
    if attribute.get_type() == h5py.h5t.STD_U32LE and 1 < size <= 1 + _MOST_CHECKSUMS:
        values = np.empty(extents, dtype="<u4")
        attribute.read(values)
        rows, *rest = values.tolist()
        if 0 < rows <= most and len(rest) == -(-n_rows // rows):
            return rows, *rest
    raise ValueError("its checksums are not those of its shape")
