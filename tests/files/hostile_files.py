"""Small files that are made to crash a reader, to leak memory into it, or to take it all.

Each maker writes one file; equal names give equal bytes. What is wrong with them is what random
damage does not find: sizes, lists and filters that contradict each other.
"""

import struct
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np

N = 64
ROWS = np.array([b"m%d" % i for i in range(N)])
COLUMNS = np.array([b"s%d" % i for i in range(N)])

GZIP, SHUFFLE, FLETCHER32, LZF = 1, 2, 3, 32000

# What `bomb` unpacks to, for each filter once more.
_BOMB = 32 << 20


def packed(data: bytes, times: int = 1) -> bytes:
    for _ in range(times):
        data = zlib.compress(data, 9)
    return data


def new_file(path: Path) -> Any:
    """Open a new file of scores in which `scores` and the mask are still missing."""
    file = h5py.File(path, "w")
    file["ID/row_ids"], file["ID/column_ids"] = ROWS, COLUMNS
    return file


def put_chunked(file, name, kind, filters, chunks, chunk=(N, N)):
    """Put a data set with these filters and, by place, these stored chunks and filter masks."""
    space = h5py.h5s.create_simple((N, N))
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk(chunk)
    properties.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    for code in filters:
        if code == GZIP:
            properties.set_deflate(1)
        elif code == SHUFFLE:
            properties.set_shuffle()
        elif code == FLETCHER32:
            properties.set_fletcher32()
        else:
            properties.set_filter(code, h5py.h5z.FLAG_OPTIONAL)
    made = h5py.h5d.create(
        file.id, name.encode(), h5py.h5t.py_create(np.dtype(kind)), space, properties
    )
    for place, (data, mask) in chunks.items():
        made.write_direct_chunk(place, data, mask)


def scores_of(filters, data, *, mask=0, kind="f8", chunk=(N, N)):
    """Make a file whose scores are one chunk of these bytes."""

    def write(path: Path) -> None:
        with new_file(path) as file:
            put_chunked(file, "scores", kind, filters, {(0, 0): (data, mask)}, chunk)
            file["score_mask"] = np.ones((N, N), "u1")

    return write


def mask_of(filters: tuple[int, ...], data: bytes) -> Callable[[Path], None]:
    """Make a file whose mask is one chunk of these bytes."""

    def write(path: Path) -> None:
        with new_file(path) as file:
            file["scores"] = np.ones((N, N))
            put_chunked(file, "score_mask", "u1", filters, {(0, 0): (data, 0)})

    return write


@cache
def _packed_once() -> bytes:
    return packed(bytes(_BOMB))


def bomb(times: int) -> Callable[[Path], None]:
    """Make a file whose mask unpacks to much; packed when it is written."""

    def write(path: Path) -> None:
        mask_of((GZIP,) * times, packed(_packed_once(), times - 1))(path)

    return write


def never_written(path: Path) -> None:
    """Leave all scores unwritten, and say that they are not to be filled."""
    with new_file(path) as file:
        put_chunked(file, "scores", "f8", (), {}, (16, 16))
        file["score_mask"] = np.ones((N, N), "u1")


def never_written_at_once(path: Path) -> None:
    """The same without chunks."""
    with new_file(path) as file:
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        space = h5py.h5s.create_simple((N, N))
        h5py.h5d.create(file.id, b"scores", h5py.h5t.IEEE_F64LE, space, properties)
        file["score_mask"] = np.ones((N, N), "u1")


def half_written(path: Path) -> None:
    """Write every other compressed chunk."""
    with new_file(path) as file:
        ones = packed(np.ones((16, 16)).tobytes())
        chunks = {(16 * i, 16 * j): (ones, 0) for i in range(4) for j in range(4) if (i + j) % 2}
        put_chunked(file, "scores", "f8", (GZIP,), chunks, (16, 16))
        file["score_mask"] = np.ones((N, N), "u1")


def shorter_chunk_in_tree(path: Path) -> None:
    """Say in the tree of chunks of a good file that one of them is shorter."""
    with h5py.File(path, "w") as file:
        file["ID/row_ids"], file["ID/column_ids"] = ROWS, COLUMNS
        file.create_dataset("scores", data=np.ones((N, N)), chunks=(16, N))
        file["score_mask"] = np.ones((N, N), "u1")
    data = bytearray(path.read_bytes())
    size = struct.pack("<II", 16 * N * 8, 0)
    place = data.index(size + struct.pack("<QQ", 16, 0))
    data[place + 1] = 0x01
    path.write_bytes(data)


_ONES = np.ones((N, N)).tobytes()
_SHORT = bytes(8)


def hdf5_files() -> dict[str, Callable[[Path], None]]:
    """Return the makers of HDF5 files by name; those called ``good`` can be read."""
    files: dict[str, Callable[[Path], None]] = {
        "good, plain": scores_of((), _ONES),
        "good, gzip": scores_of((GZIP,), packed(_ONES)),
        "good, gzip left out": scores_of((GZIP,), _ONES, mask=1),
        "plain, short": scores_of((), _SHORT),
        "plain, long": scores_of((), _ONES + _SHORT),
        "gzip left out, short": scores_of((GZIP,), _SHORT, mask=1),
        "gzip, short": scores_of((GZIP,), packed(_SHORT)),
        "gzip, one byte short": scores_of((GZIP,), packed(_ONES[:-1])),
        "gzip, long": scores_of((GZIP,), packed(_ONES + b"\0")),
        "gzip, cut off": scores_of((GZIP,), packed(_ONES)[:-6]),
        "gzip, no gzip": scores_of((GZIP,), b"abcdefgh"),
        "gzip and shuffle, short": scores_of((SHUFFLE, GZIP), packed(_SHORT)),
        "shuffle, short": scores_of((SHUFFLE,), _SHORT),
        "gzip and Fletcher32, short": scores_of((GZIP, FLETCHER32), packed(_SHORT) + bytes(4)),
        "Fletcher32, short": scores_of((FLETCHER32,), bytes(12)),
        "Fletcher32, wrong": scores_of((FLETCHER32,), _ONES + bytes(4)),
        "LZF": scores_of((LZF,), _SHORT),
        "LZF and gzip": scores_of((LZF, GZIP), packed(_SHORT)),
        "bomb": bomb(1),
        "bomb, twice": bomb(2),
        "bomb, three times": bomb(3),
        "zeros, never written": never_written,
        "zeros, never written at once": never_written_at_once,
        "zeros, half written": half_written,
        "one byte of the tree": shorter_chunk_in_tree,
    }
    return files
