"""Files of any format, recognised by their content."""

import os
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from bosaris_py import IdMap, Key, Ndx, Scores, SegmentQuality
from bosaris_py.errors import FileFormatError
from bosaris_py.files.text import Table
from bosaris_py.trials import are_large, read_any, read_key, read_scores, read_trials
from tests.forms import as_list

MODELS, SEGMENTS = ["m1", "m2"], ["s1", "s2", "s3"]
TAR = np.array([[True, False, False], [False, True, False]])
KEY = Key(MODELS, SEGMENTS, TAR, ~TAR)
SCORES = Scores(np.arange(6.0).reshape(2, 3) / 3, MODELS, SEGMENTS)
OBJECTS = {
    "ndx": KEY.to_ndx(),
    "key": KEY,
    "scores": SCORES,
    "flat ndx": as_list(KEY.to_ndx()),
    "flat key": as_list(KEY),
    "flat scores": as_list(SCORES),
    "quality": SegmentQuality(SEGMENTS, [[1.0, 2.0, 3.0]]),
    "map": IdMap(MODELS, ["anna", "bert"]),
}


@pytest.mark.parametrize("name", OBJECTS)
@pytest.mark.parametrize("form", ["hdf5", "mat"])
def test_content_tells_the_class_whatever_the_name(tmp_path: Path, name: str, form: str) -> None:
    found = OBJECTS[name]
    path = tmp_path / "file.dat"
    getattr(found, f"save_{form}")(path)
    read = read_any(path)
    assert type(read) is type(found)
    assert read == found


def test_text_becomes_a_table(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text("m1 s1 target\nm1 s2 nontarget\n", encoding="utf-8")
    found = read_any(path)
    assert isinstance(found, Table)
    assert read_key(path).n_trials == read_trials(path).n_trials == len(found) == 2


@pytest.mark.parametrize("suffix", [".h5", ".mat", ".txt"])
def test_key_scores_and_trials_of_any_format(tmp_path: Path, suffix: str) -> None:
    for name, found in (("key", KEY), ("scores", SCORES), ("ndx", KEY.to_ndx())):
        found.save(tmp_path / f"{name}{suffix}")
    assert read_key(tmp_path / f"key{suffix}") == KEY
    assert read_scores(tmp_path / f"scores{suffix}") == SCORES
    assert read_trials(tmp_path / f"ndx{suffix}") == KEY.to_ndx()


@pytest.mark.parametrize(
    ("read", "name", "message"),
    [
        (read_key, "scores", "expected a Key; the file holds Scores: 2 models"),
        (read_scores, "key", "expected Scores; the file holds Key: 2 models"),
        (read_trials, "scores", "expected an Ndx or Key; the file holds Scores"),
        (read_scores, "map", "expected Scores; the file holds IdMap"),
    ],
)
def test_other_content(tmp_path: Path, read: object, name: str, message: str) -> None:
    OBJECTS[name].save(tmp_path / "file.h5")
    with pytest.raises(FileFormatError, match=message):
        read(tmp_path / "file.h5")


def test_damaged_and_foreign_files(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(FileFormatError, match="damaged"):
        read_any(path)
    path.write_bytes(b"MATLAB 5.0 MAT-file".ljust(200))
    with pytest.raises(FileFormatError, match="no MATLAB file of version 5"):
        read_any(path)
    import h5py

    with h5py.File(path, "w") as file:
        file["weights"] = [1.0]
    with pytest.raises(FileFormatError, match=r"none of ndx, key, .*; the file holds weights"):
        read_any(path)
    with pytest.raises(FileNotFoundError):
        read_any(tmp_path / "b")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_pipes_lose_nothing(tmp_path: Path) -> None:
    """Such as ``<(zcat key.gz)`` in a shell: what was looked at cannot be read again."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("m1 s1 target\nm1 s2 nontarget\n",))
    writer.start()
    key = read_key(path)
    writer.join()
    assert key == Key.from_trials(["m1", "m1"], ["s1", "s2"], [True, False])


def test_masks_of_other_tools(tmp_path: Path) -> None:
    """The toolkit writes an Ndx and a Key with the same data sets but for their types."""
    import h5py

    for name, found in (("ndx", KEY.to_ndx()), ("key", KEY)):
        path = tmp_path / name
        found.save_hdf5(path)
        with h5py.File(path, "a") as file:
            for attribute in list(file.attrs):
                del file.attrs[attribute]
            file.pop("file_format", None)
        assert isinstance(read_any(path), Key if name == "key" else Ndx)


def test_large_are_hdf5_files_above_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "scores.h5"
    SCORES.save(path)
    size = path.stat().st_size
    assert are_large([path], max_bytes=3 * size - 1)
    assert not are_large([path], max_bytes=3 * size)
    assert not are_large([path])
    shutil.copy(path, tmp_path / "copy.h5")
    assert are_large([path, tmp_path / "copy.h5"], max_bytes=3 * size)
    SCORES.save(tmp_path / "scores.txt")
    assert not are_large([path, tmp_path / "scores.txt"], max_bytes=0)
