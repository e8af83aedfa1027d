"""Files that are read, and written again, in parts: the same lines as of the whole."""

import itertools
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from bosaris_py.errors import BosarisError, FileFormatError, InvalidInputError
from bosaris_py.storage import tokens
from bosaris_py.storage.formats import detect_format, read_table, reading, write_table
from bosaris_py.storage.formats.reading import read_parts
from bosaris_py.storage.formats.writing import write_tables

DATA = sorted((Path(__file__).parent / "data").iterdir())
OPTIONS: tuple[dict[str, Any], ...] = ({}, {"spoof": "drop"}, {"spoof": "keep", "side": "join"})

# Formats with and without a header, with labels of several kinds, and with optional scores.
TARGETS = ("csv", "nist", "kaldi-scores", "speechbrain-scores", "asvspoof2019-asv-scores", "bob-4")


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make parts of a few lines, so that these files have several."""
    monkeypatch.setattr(tokens, "_BLOCK_BYTES", 40)
    monkeypatch.setattr(reading, "_LINES_OF_PART", 1)


def as_whole(source: Path, path: Path, name: str, options: dict[str, Any]) -> None:
    write_table(path, read_table(source, **options), name)


def as_parts(source: Path, path: Path, name: str, options: dict[str, Any]) -> None:
    write_tables(path, read_parts(source, **options), name)


def outcome(write: Any, source: Path, path: Path, *arguments: Any) -> bytes | None:
    """Return what is written; None of what cannot be, and then there is no file at all."""
    try:
        write(source, path, *arguments)
    except BosarisError:
        assert list(path.parent.iterdir()) == []
        return None
    written = path.read_bytes()
    path.unlink()
    return written


@pytest.mark.parametrize("source", DATA, ids=lambda path: path.name)
def test_parts_are_written_as_the_whole(source: Path, tmp_path: Path) -> None:
    if source.name == "sdsv_answer.txt":
        pytest.skip("scores alone are no table")
    try:
        own = detect_format(source)
    except FileFormatError:
        own = source.stem.replace("_", "-")
    for name, chosen in zip(dict.fromkeys([own, *TARGETS]), itertools.cycle(OPTIONS), strict=False):
        whole, parted = (
            outcome(write, source, tmp_path / "out", name, {**chosen, "format": own})
            for write in (as_whole, as_parts)
        )
        assert parted == whole, name


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


LINES = [f"m{i} s{i} {i}.5\n" for i in range(20)]


def test_parts_have_all_lines_once(tmp_path: Path) -> None:
    source = written(tmp_path / "a.txt", "".join(LINES))
    tables = list(read_parts(source, "kaldi-scores"))
    assert len(tables) > 5
    assert [name for table in tables for name in table.model_ids()] == [f"m{i}" for i in range(20)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("m s nan", r"a.txt:11: the score is NaN here \(1 line in a part of the file\)"),
        ("m s", r"a.txt:11: expected 3 columns"),
        ("m s x", r"a.txt:11: 'x' is not a number"),
    ],
)
def test_faults_have_the_number_of_their_line(line: str, message: str, tmp_path: Path) -> None:
    source = written(tmp_path / "a.txt", "".join([*LINES[:10], f"{line}\n", *LINES[10:]]))
    tables = read_parts(source, columns="model segment score")
    with pytest.raises(FileFormatError, match=message):
        write_tables(tmp_path / "b.csv", tables, "csv")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_labels_of_all_parts_are_words_of_one_vocabulary(tmp_path: Path) -> None:
    labels = ["target"] * 10 + ["1"] * 10
    lines = (f"m{i} s{i} {label}\n" for i, label in enumerate(labels))
    source = written(tmp_path / "a.txt", "".join(lines))
    with pytest.raises(FileFormatError, match=r"a.txt:11: labels must be target\|nontarget"):
        list(read_parts(source, columns="model segment label"))


def test_what_cannot_be_written_is_told_with_its_place(tmp_path: Path) -> None:
    source = written(tmp_path / "a.txt", "".join([*LINES, "m s\n"]))
    with pytest.raises(InvalidInputError, match=r"got 1 missing of 4, after 17 lines\."):
        write_tables(tmp_path / "b.txt", read_parts(source, "kaldi-scores"), "voxceleb-scores")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.filterwarnings("ignore:.*no trial below the header")
def test_a_header_alone(tmp_path: Path) -> None:
    source = written(tmp_path / "a.tsv", "modelid\tsegmentid\n\n" + "\n" * 200)
    write_tables(tmp_path / "b.csv", read_parts(source), "csv")
    assert (tmp_path / "b.csv").read_text() == "model,segment\n"


def test_the_header_stands_once_where_the_first_trials_are_dropped(tmp_path: Path) -> None:
    lines = (f"m{i} s{i} {'spoof' if i < 9 else 'target'}\n" for i in range(10))
    source = written(tmp_path / "a.txt", "".join(lines))
    write_tables(tmp_path / "b.csv", read_parts(source, spoof="drop"), "csv")
    assert (tmp_path / "b.csv").read_text() == "model,segment,label\nm9,s9,target\n"


def test_memory_does_not_grow_with_the_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "_BLOCK_BYTES", 2**12)
    peaks = []
    for count in (1_000, 4_000):
        source = written(tmp_path / "a.txt", "".join(f"m{i} s{i} {i}.5\n" for i in range(count)))
        tracemalloc.start()
        write_tables(tmp_path / "b.csv", read_parts(source), "csv")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # As a table, 3,000 lines more take more than 200 kB.
    assert peaks[1] < peaks[0] + 2**16
