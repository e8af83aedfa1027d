"""Every reader refuses hostile files by the documented error, in bounded time and memory."""

import contextlib
import os
import pickle
import resource
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import BosarisError
from bosaris_py.storage.hdf5.chunks import StoredChunks, fletcher32
from tests.storage import hostile_files

HDF5_FILES = hostile_files.hdf5_files()
TEXT_FILES = hostile_files.text_files()

# Beyond what the process has, in bytes, and seconds of the processor.
MOST_MEMORY = 2**29
MOST_SECONDS = 5

MARK = b"password=hunter2"

CLASSES = (
    bp.Scores, bp.Key, bp.Ndx, bp.FlatScores, bp.FlatKey, bp.FlatNdx, bp.IdMap,
    bp.SegmentQuality, bp.QualityMeasures,
)  # fmt: skip


def in_child(call: Callable[[], Any]) -> Any:
    """Return the result of a call in a child with limits, or the error that it raises."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(receiving)
            # Also a child that waits for a lock of its parent's threads ends.
            signal.alarm(300)
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + MOST_MEMORY,) * 2)
            now = resource.getrusage(resource.RUSAGE_SELF)
            seconds = int(now.ru_utime + now.ru_stime) + MOST_SECONDS
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            warnings.simplefilter("ignore")
            try:
                found = call()
            except BaseException as error:
                found = error
            # Other tests may have left little room for recursion, which pickling needs.
            sys.setrecursionlimit(10_000)
            try:
                answer = pickle.dumps(found)
            except BaseException as error:
                answer = pickle.dumps(RuntimeError(f"{type(found)} is not sent: {error!r}"))
            with os.fdopen(sending, "wb") as stream:
                stream.write(answer)
        finally:
            os._exit(0)
    os.close(sending)
    with os.fdopen(receiving, "rb") as stream:
        answer = stream.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, f"the child ended with status {status}"
    return pickle.loads(answer)


def evaluate(scores: Any, key: Any) -> tuple[float, float]:
    """Return two figures of an evaluation, of objects or of files."""
    if isinstance(scores, Path):
        results = bp.Results.from_files(scores, key)
    else:
        results = bp.Results(*scores.get_tar_non(key))
    return results.eer, results.cllr


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key for the scores of the hostile files: half targets, half non-targets."""
    path = tmp_path_factory.mktemp("key") / "key.h5"
    rows, columns = (ids.astype(np.str_) for ids in (hostile_files.ROWS, hostile_files.COLUMNS))
    tar = np.indices((rows.size, columns.size)).sum(axis=0) % 2 == 0
    bp.Key(rows, columns, tar, ~tar).save(path)
    return path


@pytest.mark.parametrize("name", HDF5_FILES)
def test_hdf5_files(tmp_path: Path, key: Path, name: str) -> None:
    path = tmp_path / "a.h5"
    HDF5_FILES[name](path)
    for limit in (None, 10**6):
        found = in_child(lambda limit=limit: bp.Scores.read(path, max_bytes=limit).scoremat)
        if name.startswith(("good", "zeros")):
            expected = np.ones(found.shape) if name.startswith("good") else None
            if expected is None:
                # Zero where nothing was written, one elsewhere.
                assert np.isin(found, [0, 1]).all()
            else:
                np.testing.assert_array_equal(found, expected)
        else:
            assert isinstance(found, BosarisError), found
    assert in_child(lambda: undocumented(path, "read", max_bytes=10**7)) == []
    # An evaluation says the same as the object.
    first = in_child(lambda: evaluate(bp.Scores.read(path), bp.Key.read(key)))
    second = in_child(lambda: evaluate(path, key))
    if isinstance(first, BosarisError):
        assert isinstance(second, BosarisError), second
    else:
        assert first == pytest.approx(second, abs=1e-12)


def undocumented(path: Path, method: str, **options: Any) -> list[str]:
    """Return what readers of all classes raise besides the documented errors."""
    faults = []
    for each in CLASSES:
        if hasattr(each, method):
            try:
                getattr(each, method)(path, **options)
            except BosarisError:
                continue
            except Exception as error:
                faults.append(f"{each.__name__}: {error!r}"[:200])
    return faults


@pytest.mark.parametrize("name", TEXT_FILES)
def test_text_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.txt"
    TEXT_FILES[name](path)
    assert in_child(lambda: undocumented(path, "read_txt")) == []


@pytest.mark.parametrize(
    "name", [name for name in HDF5_FILES if not name.startswith(("good", "bomb", "sparse"))]
)
def test_no_byte_from_outside_the_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.h5"
    HDF5_FILES[name](path)

    def read() -> int:
        hits = 0
        for _ in range(3):
            # Free blocks of many sizes that hold the mark.
            blocks = [bytearray(MARK * (size // len(MARK))) for size in (64, 2**9, 2**12, 2**15)]
            blocks += [bytearray(MARK * (2**15 // len(MARK))) for _ in range(200)]
            del blocks
            with contextlib.suppress(BosarisError):
                hits += bp.Scores.read(path).scoremat.tobytes().count(MARK)
        return hits

    assert in_child(read) == 0


@pytest.mark.parametrize("name", ["gzip, short", "gzip and shuffle, short", "LZF"])
def test_matlab_files_of_version_73(
    tmp_path: Path, write_mat73: Callable[..., None], name: str
) -> None:
    path = tmp_path / "a.mat"
    filters = {"LZF": {"compression": "lzf"}}.get(
        name, {"compression": "gzip", "shuffle": "shuffle" in name}
    )
    ids = [f"m{i}" for i in range(64)]
    write_mat73(
        path,
        "scr",
        {
            "scoremat": np.ones((64, 64)),
            "modelset": ids,
            "segset": ids,
            "scoremask": np.ones((64, 64), dtype=bool),
        },
    )
    header = path.read_bytes()[:512]
    with h5py.File(path, "r+") as file:
        del file["scr/scoremat"]
        made = file.create_dataset("scr/scoremat", (64, 64), "f8", chunks=(64, 64), **filters)
        made.attrs["MATLAB_class"] = np.bytes_("double")
        made.id.write_direct_chunk((0, 0), hostile_files.packed(bytes(8)))
    with path.open("rb+") as stream:
        stream.write(header)
    found = in_child(lambda: bp.Scores.read(path))
    assert isinstance(found, BosarisError), found
    assert "scr/scoremat" in str(found)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"shuffle": True},
        {"fletcher32": True},
        {"compression": "gzip"},
        {"compression": "gzip", "shuffle": True},
        {"compression": "gzip", "shuffle": True, "fletcher32": True},
        {"compression": "gzip", "fletcher32": True},
    ],
)
@pytest.mark.parametrize("kind", ["f8", ">f4", "f2", "i2", ">i8", "u1", "i4"])
@pytest.mark.parametrize("chunks", [(64, 64), (7, 64), (13, 5)])
def test_chunks_that_are_unpacked_here_are_those_of_the_library(
    tmp_path: Path, key: Path, options: dict[str, Any], kind: str, chunks: tuple[int, int]
) -> None:
    path = tmp_path / "a.h5"
    expected = np.random.default_rng(5).integers(0, 120, (64, 64)).astype(kind)
    with hostile_files.new_file(path) as file:
        file.create_dataset("scores", data=expected, chunks=chunks, **options)
        file.create_dataset("score_mask", data=np.ones((64, 64), "u1"), chunks=chunks, **options)
    np.testing.assert_array_equal(bp.Scores.read(path).scoremat, expected)
    found = evaluate(bp.Scores.read(path), bp.Key.read(key))
    assert evaluate(path, key) == pytest.approx(found, abs=1e-12)


def test_fill_value_of_chunks_that_were_never_written(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    for options in ({}, {"compression": "gzip"}):
        with hostile_files.new_file(path) as file:
            made = file.create_dataset(
                "scores", (64, 64), "f4", chunks=(16, 64), fillvalue=-2.5, **options
            )
            made[:16] = 1
            file["score_mask"] = np.ones((64, 64), "u1")
        scores = bp.Scores.read(path).scoremat
        assert (scores[:16] == 1).all()
        assert (scores[16:] == -2.5).all()


@pytest.mark.parametrize("size", [0, 1, 2, 7, 720, 721, 10_000])
@pytest.mark.parametrize("fill", [0, 255, None])
def test_checksum_is_that_of_the_library(tmp_path: Path, size: int, fill: int | None) -> None:
    data = np.full(max(size, 1), fill or 0, dtype="u1")
    if fill is None:
        data = np.random.default_rng(size).integers(0, 256, data.size, dtype="u1")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        made = file.create_dataset("a", data=data, chunks=data.shape, fletcher32=True)
        _, stored = made.id.read_direct_chunk((0,))
    assert int.from_bytes(stored[-4:], "little") == fletcher32(stored[:-4])


class OldDataset:
    """A data set as h5py gives it with a library that cannot iterate over chunks."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __getattr__(self, name: str) -> Any:
        if name == "chunk_iter":
            raise AttributeError(name)
        return getattr(self.dataset, name)


@pytest.mark.parametrize("name", ["good, plain", "good, gzip", "plain, short", "LZF"])
def test_libraries_that_cannot_iterate_over_chunks(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.h5"
    HDF5_FILES[name](path)
    with h5py.File(path) as file:
        dataset, size = OldDataset(file["scores"].id), path.stat().st_size
        if name.startswith("good"):
            found = StoredChunks.of(dataset, 8)
            found.check(size, lambda *_: None)
            assert (found.count, found.shape) == (1, (64, 64))
        else:
            with pytest.raises(ValueError, match=r"chunk at|filter 32000"):
                StoredChunks.of(dataset, 8).check(size, lambda *_: None)


def test_more_chunks_than_the_file_has_bytes(tmp_path: Path) -> None:
    # Chunks that lie on each other would make a small file take any time and memory.
    path = tmp_path / "a.h5"
    with hostile_files.new_file(path) as file:
        file.create_dataset("scores", data=np.ones((64, 64)), chunks=(16, 64))
        dataset = file["scores"].id
        with pytest.raises(ValueError, match="more bytes than the file"):
            StoredChunks.of(dataset, 8).check(16 * 64 * 8 * 4 - 1, lambda *_: None)
