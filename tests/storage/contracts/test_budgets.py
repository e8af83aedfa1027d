"""`max_bytes` bounds what any door takes for any text, and a text that changes is noticed."""

import gzip
import os
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bosaris_py as bp
from bosaris_py.errors import BosarisError, BosarisWarning, FileFormatError
from bosaris_py.storage import formats, text, tokens

MAX_BYTES = 4_000_000
# Bytes of a file: more than the budget may make of it, whatever the door.
SIZE = 3_000_000


def repeated(part: str, end: str = "\n") -> bytes:
    return (part * (SIZE // len(part)) + end).encode()


def numbered(line: str) -> bytes:
    return "".join(line.format(i) for i in range(SIZE // len(line))).encode()


CORPUS: dict[str, Callable[[], bytes]] = {
    "short words in one line": lambda: repeated("a "),
    "numbers in one line": lambda: repeated("1 "),
    "commas in one line": lambda: repeated("a,"),
    "tabs in one line": lambda: repeated("\t"),
    "one word": lambda: repeated("a"),
    "blanks": lambda: repeated(" "),
    "blank lines": lambda: repeated("\n"),
    "short lines": lambda: repeated("a b 1\n"),
    "wide lines": lambda: repeated("a " * 500 + "\n"),
    "wide header": lambda: ",".join(f"c{i}" for i in range(9000)).encode() + b"\n" + repeated(","),
    "lines that end odd": lambda: repeated("1 a b\n", "1 a\n"),
    "distinct trials": lambda: numbered("m{0} s{0} 1\n"),
    "distinct labels": lambda: numbered("m s {0}x\n"),
    "long ids": lambda: numbered("m" * 2000 + "{0} s 1\n"),
    "header and rows": lambda: b"model,segment,score\n" + numbered("m{0},s{0},0.5\n"),
    "measures": lambda: b"1\n" + numbered("id{0} 2.5\n"),
    "many measures": lambda: b"100000000\n" + repeated("1 "),
}
DOORS: dict[str, Callable[..., Any]] = {
    "read_scores": bp.read_scores,
    "read_key": bp.read_key,
    "read_trials": bp.read_trials,
    "read_any": bp.trials.read_any,
    "csv": lambda path, **options: formats.read_table(path, "csv", **options),
    "columns": lambda path, **options: formats.read_table(path, columns="model - -", **options),
    **{kind: lambda path, kind=kind, **options: text.read(kind, path, **options) for kind in
       ("scores", "key", "flat_ndx", "id_map", "segment_quality")},
}  # fmt: skip


def peak(call: Callable[[], Any]) -> int:
    """Return the most memory that a call takes, whether it succeeds or is refused."""
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BosarisWarning)
            call()
    except BosarisError:
        pass
    finally:
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return most


@pytest.mark.slow
@pytest.mark.parametrize("file", ["a.txt", "a.txt.gz"])
@pytest.mark.parametrize("name", CORPUS)
def test_no_door_takes_more_than_the_budget(tmp_path: Path, name: str, file: str) -> None:
    path, content = tmp_path / file, CORPUS[name]()
    path.write_bytes(gzip.compress(content, 1) if file.endswith("gz") else content)
    del content
    # What is asked for is a budget of arrays; with parsing, at most two and a half times as much.
    taken = {
        door: peak(lambda read=read: read(path, max_bytes=MAX_BYTES))
        for door, read in DOORS.items()
    }
    assert {door: most for door, most in taken.items() if most > 2.5 * MAX_BYTES} == {}


@pytest.mark.parametrize("separator", [" ", ","])
def test_one_line_of_short_words_is_refused_at_once(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(f"a{separator}" * 100_000 + "\n")
    with pytest.raises(FileFormatError, match=r"a\.txt:1: a first line of .* 10000 columns"):
        bp.read_scores(path)
    # 200,000 bytes, and not 200 for each of 100,000 words.
    assert peak(lambda: bp.read_scores(path)) < 6_000_000


def test_a_long_line_counts_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a" * 4_000_000 + b"\n")
    with pytest.raises(FileFormatError, match="a part of the text needs"):
        bp.read_scores(path, max_bytes=1_000_000)


LINES = b"m1 s1 0.50\nm1 s2 1.50\n" * 2


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_bytes(b"m1 s1 7.50\nm1 s2 8.50\n" * 2),
        lambda path: os.truncate(path, 22),
        lambda path: path.write_bytes(LINES + LINES),
    ],
    ids=["overwritten", "cut", "longer"],
)
def test_a_text_that_changes_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], Any]
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(LINES)
    os.utime(path, (0, 0))
    # A block is two lines.
    monkeypatch.setattr(tokens, "_BLOCK_BYTES", 22)
    blocks = tokens.read_blocks(path)
    next(blocks)
    change(path)
    with pytest.raises(FileFormatError, match=r"a\.txt: changed .*while it was being read"):
        list(blocks)


def test_a_text_that_is_replaced_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(LINES)
    monkeypatch.setattr(tokens, "_BLOCK_BYTES", 22)
    blocks = tokens.read_blocks(path)
    found = [next(blocks)[1]]
    (tmp_path / "new").write_bytes(b"m3 s3 2.00\n")
    (tmp_path / "new").replace(path)
    # The open file is the old one, whole.
    assert b"".join([*found, *(data for _, data in blocks)]) == LINES


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_a_last_line_without_its_end_is_warned_of(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    content = b"m1 s1 0.5\nm1 s2 1.25"
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.warns(BosarisWarning, match=f"{name}: the last line has no end") as caught:
        scores = bp.read_scores(path)
    assert len(caught) == 1
    assert scores.scoremat.tolist() == [[0.5, 1.25]]
