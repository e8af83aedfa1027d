"""Forged and damaged files: an error or what is in the file; no crash, no byte from elsewhere."""

import os
import pickle
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import BosarisError, FileFormatError
from bosaris_py.files import hdf5, hdf5_writing
from bosaris_py.trials import large
from tests.files import hostile_files

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs fork")

Arrays = dict[str, np.ndarray]

# What free memory is filled with.
MARK = b"\xa5" * 8

FILES = hostile_files.hdf5_files()


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
            assert (found == np.ones((64, 64))).all()
        elif name.startswith("zeros"):
            # Zero where nothing was written, one elsewhere.
            assert np.isin(found, [0, 1]).all()
        else:
            assert isinstance(found, FileFormatError), found
            assert "/score" in str(found)


@pytest.mark.parametrize("packed", [{"compression": "gzip"}, {"compression": "lzf"}])
def test_forged_files_of_version_73(tmp_path, write_mat73, packed):
    path, ids = tmp_path / "a.mat", [f"m{i}" for i in range(64)]
    mask, scores = np.ones((64, 64), dtype=bool), np.ones((64, 64))
    fields = {"scoremat": scores, "modelset": ids, "segset": ids, "scoremask": mask}
    write_mat73(path, "scr", fields)
    header = path.read_bytes()[:512]
    with h5py.File(path, "r+") as file:
        del file["scr/scoremat"]
        made = file.create_dataset("scr/scoremat", (64, 64), "f8", chunks=(64, 64), **packed)
        made.attrs["MATLAB_class"] = np.bytes_("double")
        made.id.write_direct_chunk((0, 0), hostile_files.packed(bytes(8)))
    with path.open("rb+") as stream:
        stream.write(header)
    found = in_child(lambda: bp.Scores.read(path))
    assert isinstance(found, FileFormatError), found


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"shuffle": True},
        {"fletcher32": True},
        {"compression": "gzip"},
        {"compression": "gzip", "shuffle": True, "fletcher32": True},
        {"compression": "lzf"},
        {"compression": "lzf", "shuffle": True, "fletcher32": True},
    ],
)
@pytest.mark.parametrize("kind", ["f8", ">f4", "i2", "u1"])
@pytest.mark.parametrize("chunks", [(64, 64), (7, 64), (13, 5)])
def test_chunks_of_others_are_read(tmp_path, options, kind, chunks):
    path = tmp_path / "a.h5"
    # Random bytes do not shrink: the library then stores a chunk without gzip.
    rng = np.random.default_rng(5)
    expected = np.where(rng.random((64, 64)) < 0.3, rng.integers(0, 120, (64, 64)), 7).astype(kind)
    with hostile_files.new_file(path) as file:
        file.create_dataset("scores", data=expected, chunks=chunks, **options)
        file.create_dataset("score_mask", data=np.ones((64, 64), "u1"), chunks=chunks, **options)
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
        hdf5_writing.write("scores", each, **contents["scores"])
    with h5py.File(path, "r+") as file:
        file["group"] = h5py.ExternalLink("other.h5", "/")
        del file["scores"]
        file["scores"] = LINKS[link](file, other)
    with pytest.raises(FileFormatError):
        hdf5.read("scores", path)


def test_links_within_a_file_are_followed(tmp_path: Path, contents: dict[str, Arrays]) -> None:
    path = tmp_path / "a.h5"
    hdf5_writing.write("scores", path, **contents["scores"])
    with h5py.File(path, "r+") as file:
        file.move("ID", "names/ids")
        file["ID"] = h5py.SoftLink("./names/ids")
        file.move("scores", "names/values")
        file["names/again"] = h5py.SoftLink("values")
        file["scores"] = h5py.SoftLink("/names/again")
    found = hdf5.read("scores", path)[0]
    assert all(np.array_equal(found[name], array) for name, array in contents["scores"].items())


KIND_OF = {"key": "key", "scores": "scores", "quality": "quality_measures", "id": "id_map"}


@pytest.mark.parametrize(
    "count", [100, pytest.param(3000, marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_every_changed_byte_of_what_is_written_is_noticed_or_harmless(tmp_path, contents, count):
    path = tmp_path / "a.h5"
    rng = np.random.default_rng(count)
    originals = {}
    for kind in KIND_OF.values():
        hdf5_writing.write(kind, path, **contents[kind])
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
                found = hdf5.read(kind, path)[0]
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
