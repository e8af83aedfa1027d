"""`max_bytes` bounds what readers take, and the default asks machine, container and process."""

import gzip
import resource
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bosaris_py as bp
from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.storage import memory
from bosaris_py.storage.memory import usable_memory

LINES = 60_000


def write_equal(path: Path) -> None:
    path.write_text("m1 s1 target\n" * LINES)


def write_scores(path: Path) -> None:
    path.write_text("".join(f"m{i % 300} s{i // 300} {0.37 * i:.5f}\n" for i in range(LINES)))


def write_key(path: Path) -> None:
    labels = "target", "nontarget"
    path.write_text("".join(f"m{i % 300} s{i // 300} {labels[i % 2]}\n" for i in range(LINES)))


def write_ndx(path: Path) -> None:
    path.write_text("".join(f"m{i % 300} s{i // 300}\n" for i in range(LINES)))


def write_pairs(path: Path) -> None:
    path.write_text("".join(f"left{i} right{i}\n" for i in range(LINES)))


def write_wide(path: Path) -> None:
    path.write_text("".join(f"m{i} s{i} target\n" for i in range(3000)))


def write_measures(path: Path) -> None:
    path.write_text("3\n" + "".join(f"segment{i} {i}.5 {i}.25 1\n" for i in range(LINES)))


def convert(cls: Any, write: Callable[[Path], None]) -> Callable[[Path], None]:
    """Write text, and save it in the format of the path."""

    def written(path: Path) -> None:
        text = path.with_suffix(".txt")
        write(text)
        cls.read(text).save(path)

    return written


CASES = {
    "Key, equal lines": (bp.Key, ".txt", write_equal),
    "FlatKey, equal lines": (bp.FlatKey, ".txt", write_equal),
    "Key, wide": (bp.Key, ".txt", write_wide),
    "Key": (bp.Key, ".txt", write_key),
    "FlatKey": (bp.FlatKey, ".txt", write_key),
    "Scores": (bp.Scores, ".txt", write_scores),
    "FlatScores": (bp.FlatScores, ".txt", write_scores),
    "Ndx": (bp.Ndx, ".txt", write_ndx),
    "IdMap": (bp.IdMap, ".txt", write_pairs),
    "SegmentQuality": (bp.SegmentQuality, ".txt", write_measures),
    "Scores, HDF5": (bp.Scores, ".h5", convert(bp.Scores, write_scores)),
    "Key, HDF5": (bp.Key, ".h5", convert(bp.Key, write_key)),
    "FlatScores, HDF5": (bp.FlatScores, ".h5", convert(bp.FlatScores, write_scores)),
    "FlatKey, HDF5": (bp.FlatKey, ".h5", convert(bp.FlatKey, write_key)),
    "IdMap, HDF5": (bp.IdMap, ".h5", convert(bp.IdMap, write_pairs)),
    "Scores, MATLAB": (bp.Scores, ".mat", convert(bp.Scores, write_scores)),
    "Key, MATLAB": (bp.Key, ".mat", convert(bp.Key, write_key)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore")
def test_peak_is_at_most_twice_the_least_limit(tmp_path: Path, case: str) -> None:
    cls, suffix, write = CASES[case]
    path = tmp_path / f"a{suffix}"
    write(path)
    # What is imported on the first call does not count.
    cls.read(path)
    tracemalloc.start()
    try:
        cls.read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Half a megabyte goes to what every call takes.
    with pytest.raises(FileFormatError, match="`max_bytes` allows"):
        cls.read(path, max_bytes=(peak - 2**19) // 2)


def test_compressed_text_is_counted_when_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"m1 s1 target\n" * 10**6))
    with pytest.raises(FileFormatError, match="`max_bytes` allows 1 MB"):
        bp.Key.read_txt(path, max_bytes=10**6)


def test_default_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "machine_memory", lambda: 2**40)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    second, first = tmp_path / "memory.max", tmp_path / "memory.limit_in_bytes"
    monkeypatch.setattr(memory, "_CONTAINER_LIMITS", (str(second), str(first)))
    assert usable_memory() == 2**39
    second.write_text("max\n")
    assert usable_memory() == 2**39
    second.write_text(f"{2**30}\n")
    assert usable_memory() == 2**29
    first.write_text(f"{2**28}\n")
    assert usable_memory() == 2**27
    monkeypatch.setattr(resource, "getrlimit", lambda _: (2**26, 2**27))
    assert usable_memory() == 2**25


@pytest.mark.parametrize("suffix", [".txt", ".h5", ".mat"])
def test_longest_id(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    # Four bytes each in UTF-8.
    ids = ["\U0001d538" * 4096, "b"]
    bp.IdMap(ids, ["c", "d"]).save(path)
    assert bp.IdMap.read(path).leftids.tolist() == ids
    with pytest.raises(InvalidInputError, match="4096 characters"):
        bp.IdMap(["a" * 4097, "b"], ["c", "d"]).save(path)
    assert bp.IdMap.read(path).leftids.tolist() == ids


def test_long_id_in_text_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a b\n" + "c" * 20_000 + " d\n")
    with pytest.raises(FileFormatError, match=r"a\.txt:2: an id of .* bytes; 16384 is the most"):
        bp.IdMap.read_txt(path)


def test_first_line_of_measures_is_compared_with_the_others(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("9000\na 1 2\n")
    with pytest.raises(FileFormatError, match="expected 9001 columns"):
        bp.SegmentQuality.read_txt(path)
    path.write_text("\n \n2\n\na 1 2\nb 3 x\n")
    with pytest.raises(FileFormatError, match=r"a\.txt:6: 'x' is not a number"):
        bp.SegmentQuality.read_txt(path)
