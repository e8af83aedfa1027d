"""Forged and damaged files: an error or what is in the file; no crash, no byte from elsewhere.

What is wrong with them is what random damage does not find: sizes, lists and filters that
contradict each other.
"""

import os
import pickle
import signal
import struct
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import BosarisError, FileFormatError
from bosaris_py.files import hdf5
from bosaris_py.trials import large

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs fork")

# What free memory is filled with.
MARK = b"\xa5" * 8
GZIP, SHUFFLE, FLETCHER32, LZF = 1, 2, 3, 32000
N = 64
ONES, SHORT = np.ones((N, N)).tobytes(), bytes(8)


def packed(data: bytes, times: int = 1) -> bytes:
    for _ in range(times):
        data = zlib.compress(data, 9)
    return data


def write_file(path, filters, chunks, shape=(N, N), name="scores"):
    """Write scores and a mask, one with these filters and, by place, chunks and filter masks."""
    other, kind = ("score_mask", "f8") if name == "scores" else ("scores", "u1")
    with h5py.File(path, "w") as file:
        file["ID/row_ids"], file["ID/column_ids"] = ([b"%d" % i for i in range(N)] for _ in "mn")
        file[other] = np.ones((N, N), "u1")
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        if shape:
            properties.set_chunk(shape)
        for code in filters:
            properties.set_filter(code, h5py.h5z.FLAG_OPTIONAL, (1,) * (code == GZIP))
        of_kind, space = h5py.h5t.py_create(np.dtype(kind)), h5py.h5s.create_simple((N, N))
        made = h5py.h5d.create(file.id, name.encode(), of_kind, space, properties)
        for place, (data, mask) in chunks.items():
            made.write_direct_chunk(place, data, mask)


# Scores of one chunk: its filters, its bytes, and the mask of those that are left out.
ONE_CHUNK: dict[str, tuple[tuple[int, ...], bytes, int]] = {
    "good, plain": ((), ONES, 0),
    "good, gzip": ((GZIP,), packed(ONES), 0),
    "good, gzip left out": ((GZIP,), ONES, 1),
    "plain, short": ((), SHORT, 0),
    "plain, long": ((), ONES + SHORT, 0),
    "gzip left out, short": ((GZIP,), SHORT, 1),
    "gzip, short": ((GZIP,), packed(SHORT), 0),
    "gzip, long": ((GZIP,), packed(ONES + b"\0"), 0),
    "gzip, cut off": ((GZIP,), packed(ONES)[:-6], 0),
    "gzip, no gzip": ((GZIP,), b"abcdefgh", 0),
    "gzip and shuffle, short": ((SHUFFLE, GZIP), packed(SHORT), 0),
    "shuffle, short": ((SHUFFLE,), SHORT, 0),
    "gzip and Fletcher32, short": ((GZIP, FLETCHER32), packed(SHORT) + bytes(4), 0),
    "Fletcher32, short": ((FLETCHER32,), bytes(12), 0),
    "Fletcher32, wrong": ((FLETCHER32,), ONES + bytes(4), 0),
    "LZF": ((LZF,), SHORT, 0),
    "LZF and gzip": ((LZF, GZIP), packed(SHORT), 0),
}


def shorter_chunk_in_tree(path: Path) -> None:
    """Say in the tree of chunks of a good file that one of them is shorter."""
    rows = np.ones((16, N)).tobytes()
    write_file(path, (), {(16 * i, 0): (rows, 0) for i in range(4)}, (16, N))
    data = bytearray(path.read_bytes())
    place = data.index(struct.pack("<IIQQ", len(rows), 0, 16, 0))
    data[place + 1] = 0x01
    path.write_bytes(data)


def bomb(times: int) -> Callable[[Path], None]:
    """Make a file whose mask unpacks to much; packed when it is written."""

    def write(path: Path) -> None:
        data = packed(bytes(32 << 20), times)
        write_file(path, (GZIP,) * times, {(0, 0): (data, 0)}, name="score_mask")

    return write


HALF = {(16 * i, 16 * j): (packed(ONES[:2048]), 0) for i in range(4) for j in range(i % 2, 4, 2)}
FILES: dict[str, Callable[[Path], None]] = {
    **{
        name: lambda path, f=filters, d=data, m=mask: write_file(path, f, {(0, 0): (d, m)})
        for name, (filters, data, mask) in ONE_CHUNK.items()
    },
    **{f"bomb, {times}": bomb(times) for times in (1, 2, 3)},
    "zeros, never written": lambda path: write_file(path, (), {}, (16, 16)),
    "zeros, never written at once": lambda path: write_file(path, (), {}, ()),
    "zeros, half written": lambda path: write_file(path, (GZIP,), HALF, (16, 16)),
    "one byte of the tree": shorter_chunk_in_tree,
}


def in_child(call: Callable[[], Any]) -> Any:
    """Return what a call gives or raises in a process of its own, which may crash or hang."""
    receiver, sender = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(600)
        try:
            found = call()
        except BaseException as error:
            found = error if isinstance(error, BosarisError) else RuntimeError(repr(error))
        with os.fdopen(sender, "wb") as stream:
            pickle.dump(found, stream)
        os._exit(0)
    os.close(sender)
    with os.fdopen(receiver, "rb") as stream:
        answer = stream.read()
    assert os.waitpid(pid, 0)[1] == 0
    return pickle.loads(answer)


@pytest.mark.parametrize("name", FILES)
def test_forged_hdf5_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.h5"
    FILES[name](path)

    def read() -> np.ndarray:
        # Free blocks of many sizes that hold the mark.
        blocks = [bytearray(MARK * (2**n // 8)) for n in (6, 9, 12, 15) for _ in range(50)]
        del blocks
        return bp.Scores.read(path).scoremat

    def read_rows() -> np.ndarray:
        file, _ = large._open(path, "scores")
        with ExitStack() as stack:
            return file.opened(stack)(slice(0, file.shape[0]))[0]

    for call in (read, read_rows):
        found = in_child(call)
        if name.startswith("good"):
            assert (found == np.ones((N, N))).all()
        elif name.startswith("zeros"):
            # Zero where nothing was written, one elsewhere.
            assert np.isin(found, [0, 1]).all()
        else:
            assert isinstance(found, FileFormatError), found


def test_a_forged_file_of_version_73(tmp_path, write_mat73):
    path, ids = tmp_path / "a.mat", [f"m{i}" for i in range(N)]
    fields = {"scoremat": np.ones((N, N)), "modelset": ids, "segset": ids}
    write_mat73(path, "scr", {**fields, "scoremask": np.ones((N, N), dtype=bool)})
    header = path.read_bytes()[:512]
    with h5py.File(path, "r+") as file:
        del file["scr/scoremat"]
        made = file.create_dataset("scr/scoremat", (N, N), "f8", chunks=(N, N), compression=1)
        made.attrs["MATLAB_class"] = np.bytes_("double")
        made.id.write_direct_chunk((0, 0), packed(SHORT))
    with path.open("rb+") as stream:
        stream.write(header)
    found = in_child(lambda: bp.Scores.read(path))
    assert isinstance(found, FileFormatError), found


@pytest.mark.parametrize("packing", [None, "gzip", "lzf"])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("fletcher32", [False, True])
@pytest.mark.parametrize("kind", ["f8", ">f4", "i2"])
@pytest.mark.parametrize("chunks", [(7, 64), (13, 5)])
def test_chunks_of_others_are_read(tmp_path, packing, shuffle, fletcher32, kind, chunks):
    path = tmp_path / "a.h5"
    options = {"compression": packing, "shuffle": shuffle, "fletcher32": fletcher32}
    # Random bytes do not shrink: the library then stores a chunk without gzip.
    rng = np.random.default_rng(5)
    expected = np.where(rng.random((N, N)) < 0.3, rng.integers(0, 120, (N, N)), 7).astype(kind)
    write_file(path, (), {})
    with h5py.File(path, "r+") as file:
        del file["scores"], file["score_mask"]
        file.create_dataset("scores", data=expected, chunks=chunks, **options)
        file.create_dataset("score_mask", data=np.ones((N, N), "u1"), chunks=chunks, **options)
    np.testing.assert_array_equal(bp.Scores.read(path).scoremat, expected)


def virtual(other: Path) -> Any:
    layout = h5py.VirtualLayout((3, 4), "f8")
    layout[...] = h5py.VirtualSource(str(other), "scores", (3, 4))
    return layout


# What is put in place of the scores, given the file and another one.
LINKS: dict[str, Callable[[Any, Path], Any]] = {
    # A link in the file to a group whose scores are elsewhere.
    "soft": lambda file, _: h5py.SoftLink("/group/scores"),
    "circle": lambda file, _: h5py.SoftLink("/scores"),
    "dangling": lambda file, _: h5py.SoftLink("nowhere"),
    "external": lambda file, other: h5py.ExternalLink(other.name, "/scores"),
    "virtual": lambda file, other: file.create_virtual_dataset("made", virtual(other)),
    "raw": lambda file, other: file.create_dataset(
        "made", (3, 4), "f8", external=[(str(other), 0, 96)]
    ),
}


@pytest.mark.parametrize("link", LINKS)
def test_nothing_leads_out_of_a_file(tmp_path, contents, link):
    path, other = tmp_path / "a.h5", tmp_path / "other.h5"
    for each in (path, other):
        hdf5.write("scores", each, **contents["scores"])
    with h5py.File(path, "r+") as file:
        file["group"] = h5py.ExternalLink("other.h5", "/")
        del file["scores"]
        file["scores"] = LINKS[link](file, other)
    with pytest.raises(FileFormatError):
        hdf5.read("scores", path)


def test_links_within_a_file_are_followed(tmp_path, contents, assert_same):
    path = tmp_path / "a.h5"
    hdf5.write("scores", path, **contents["scores"])
    with h5py.File(path, "r+") as file:
        file.move("ID", "names/ids")
        file["ID"] = h5py.SoftLink("./names/ids")
        file.move("scores", "names/values")
        file["names/again"] = h5py.SoftLink("values")
        file["scores"] = h5py.SoftLink("/names/again")
    assert_same(hdf5.read("scores", path)[0], contents["scores"])


@pytest.mark.parametrize(
    "count", [100, pytest.param(3000, marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_every_changed_byte_of_what_is_written_is_noticed_or_harmless(
    tmp_path, contents, read, write, count
):
    path = tmp_path / "a.h5"
    rng = np.random.default_rng(count)
    originals = {}
    for kind in ("key", "scores", "quality_measures", "id_map"):
        write(path, kind, contents[kind])
        originals[kind] = path.read_bytes()

    def read_all() -> int:
        refused = 0
        for _ in range(count):
            kind = list(originals)[rng.integers(len(originals))]
            changed = bytearray(originals[kind])
            if rng.random() < 0.2:
                del changed[rng.integers(len(changed)) :]
            else:
                changed[rng.integers(len(changed))] ^= 1 << int(rng.integers(8))
            path.write_bytes(changed)
            try:
                found = read(path, kind)
            except FileFormatError:
                refused += 1
                continue
            for name, array in contents[kind].items():
                # Where a chunk is lost there is NaN, which no class takes. The checksum of
                # zeros is zero, so that an address that leads into empty space is not noticed.
                is_lost = array.dtype.kind == "f" and np.isnan(found[name]).any()
                is_empty = not np.any(found[name] != np.zeros(1, array.dtype))
                assert is_lost or is_empty or np.array_equal(found[name], array), (kind, name)
        return refused

    refused = in_child(read_all)
    assert isinstance(refused, int), refused
    assert refused > 0.2 * count
