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
_BOMB = 200 << 20


def packed(data: bytes, times: int = 1) -> bytes:
    for _ in range(times):
        data = zlib.compress(data, 9)
    return data


def new_file(path: Path) -> Any:
    """Open a new file of scores in which `scores` and the mask are still missing."""
    file = h5py.File(path, "w")
    file["ID/row_ids"], file["ID/column_ids"] = ROWS, COLUMNS
    return file


def put_chunked(
    file: Any,
    name: str,
    kind: str,
    filters: tuple[int, ...],
    chunks: dict[tuple[int, int], tuple[bytes, int]],
    chunk: tuple[int, int] = (N, N),
) -> None:
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


def scores_of(
    filters: tuple[int, ...],
    data: bytes,
    *,
    mask: int = 0,
    kind: str = "f8",
    chunk: tuple[int, int] = (N, N),
) -> Callable[[Path], None]:
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
    """Make a file whose mask unpacks to much; packed when it is written, which takes a second."""

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


def endless_names(group: str) -> Callable[[Path], None]:
    """Let the list of free places in the names of a group lead back to itself."""

    def write(path: Path) -> None:
        with h5py.File(path, "w", libver=("earliest", "v108")) as file:
            file["ID/row_ids"], file["ID/column_ids"] = ROWS, COLUMNS
            file["scores"], file["score_mask"] = np.ones((N, N)), np.ones((N, N), "u1")
        data = bytearray(path.read_bytes())
        heaps = [i for i in range(0, len(data), 8) if data[i : i + 4] == b"HEAP"]
        heap = heaps[0 if group == "/" else 1]
        free, begin = struct.unpack_from("<QQ", data, heap + 16)
        struct.pack_into("<Q", data, begin + free, free)
        path.write_bytes(data)

    return write


def sparse_heap(path: Path) -> None:
    """Say that the heap of strings is 3 GB, in a file that is that long and empty."""
    with h5py.File(path, "w") as file:
        file.create_dataset("left_ids", data=["a", "b"], dtype=h5py.string_dtype())
        file.create_dataset("right_ids", data=["c", "d"], dtype=h5py.string_dtype())
    data = bytearray(path.read_bytes())
    heap = data.index(b"GCOL")
    struct.pack_into("<Q", data, heap + 8, 3 << 30)
    # The end of the file in the superblock, and the free space at the end of the heap.
    struct.pack_into("<Q", data, 40, 4 << 30)
    path.write_bytes(data)
    with path.open("rb+") as stream:
        stream.truncate(4 << 30)


def long_ids(path: Path) -> None:
    """Name one model in a megabyte."""
    with h5py.File(path, "w") as file:
        file["left_ids"] = np.array([b"a" * 10**6, b"b"])
        file["right_ids"] = np.array([b"c", b"d"])


def long_id_of_any_length(path: Path) -> None:
    """The same as a string of variable length."""
    with h5py.File(path, "w") as file:
        file.create_dataset("left_ids", data=["a" * 10**6, "b"], dtype=h5py.string_dtype())
        file["right_ids"] = np.array([b"c", b"d"])


def text(data: bytes) -> Callable[[Path], None]:
    """Make a text file."""

    def write(path: Path) -> None:
        path.write_bytes(data)

    return write


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
        "endless names": endless_names("/"),
        "endless names in a group": endless_names("/ID"),
        "sparse heap": sparse_heap,
        "long ids": long_ids,
        "long id of any length": long_id_of_any_length,
    }
    return files


def text_files() -> dict[str, Callable[[Path], None]]:
    """Return the makers of text files by name."""
    return {
        "measures without end": text(b"1000000\n"),
        "more measures than columns": text(b"30000000\na 1 2\n"),
        "many blank lines": text(b"\n" * 10**6 + b"2\na 1 2\n"),
        "many measures": text(b"160000\na" + b" 1" * 160_000 + b"\n"),
        "long id": text(b"a" * 10**6 + b" b\nc d\n"),
    }
