"""Every reader on every file of the corpus: the documented error or a right read, with limits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bosaris_py.errors import FileFormatError
from tests.storage import corpus

ROOT = Path(__file__).resolve().parents[3]

# Files of each of the 17 kinds, and the seed that draws them.
FEW = (3, 1)
MANY = (60, 2)


def read_all(folder: Path, fill: int) -> dict[tuple[str, str], dict[str, str]]:
    """Read the files in a new process, in which free memory is filled with a byte."""
    # One seed for words of Python, another for each process.
    settings = {"MALLOC_PERTURB_": str(fill), "PYTHONHASHSEED": str(fill), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, corpus.__file__, str(folder), str(folder / "key.h5")]
    ran = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | settings
    )
    records = [json.loads(line) for line in ran.stdout.splitlines()]
    assert ran.returncode == 0, (ran.returncode, records[-1:], ran.stderr[-2000:])
    return {(each["file"], each["reader"]): each for each in records if "reader" in each}


@pytest.mark.slow
@pytest.mark.parametrize(
    "drawn", [FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_every_reader_on_every_file(tmp_path: Path, drawn: tuple[int, int]) -> None:
    paths = corpus.corpus(tmp_path, *drawn)
    found = read_all(tmp_path, 1)
    assert len({file for file, _ in found}) == len(paths) == 17 * drawn[0]
    what = {path.name: path.with_suffix(path.suffix + ".what").read_text() for path in paths}
    faults = [(*at, what[at[0]], each["fault"]) for at, each in found.items() if each["fault"]]
    assert faults == []
    # Most are refused, and all good files are read by some readers.
    read = {file for (file, _), each in found.items() if len(each["outcome"]) == 32}
    assert {path.name for path in paths if "-00000" in path.name} <= read
    if drawn is MANY:
        again = read_all(tmp_path, 254)
        assert [at for at in found if found[at] != again[at]] == []


class Raw(FileFormatError):
    """An error whose text is not made printable."""

    def __str__(self) -> str:
        return str(self.args[0])


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (Raw("short"), ""),
        (ValueError("raw"), "ValueError: raw"),
        (Raw("\x1b[2J"), "message '\\x1b[2J'"),
        (Raw("x" * 1001), "message of 1001 characters"),
        (Raw("needs more than this process may take"), "more memory than `max_bytes` allows"),
    ],
)
def test_a_reader_that_is_wrong_is_found(tmp_path: Path, error: Exception, fault: str) -> None:
    def reader(_: Path) -> None:
        raise error

    found = corpus.read_one(tmp_path / "a.h5", "name", reader)["fault"]
    assert (found[: len(fault)], bool(found)) == (fault, bool(fault))
