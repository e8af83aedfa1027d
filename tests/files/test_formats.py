"""One small file of each format, written by hand: what is read, and that it is written back."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.files.columns import Factor, Table
from bosaris_py.files.formats import FORMATS
from bosaris_py.files.text import detect_format, read_table
from bosaris_py.files.writing import write_table

DATA = Path(__file__).parent / "data"
PAGE = Path(__file__).parents[2] / "docs" / "fileformat.md"


def contents(table: Table) -> dict[str, Any]:
    """What a table holds, for comparison."""
    columns = {"model": table.models, "segment": table.segments, "score": table.scores}
    held = {**columns, "target": table.is_target, **{f"- {n}": c for n, c in table.columns.items()}}
    return {
        name: [str(v) for v in (c.values() if isinstance(c, Factor) else c).tolist()]
        for name, c in held.items()
        if c is not None
    }


def cases() -> Iterator[tuple[str, str, str, Table]]:
    """Name of each file, its format, the format that is found, and what it holds, line by line."""
    for line in (DATA / "contents.txt").read_text().splitlines()[1:]:
        file, format, found, models, segments, labels, scores, *others = line.split(" | ")
        columns: dict[str, Any] = {}
        for name, _, cells in (each.partition(": ") for each in others):
            numbers = np.array(cells.split(), float) if name.endswith("#") else None
            made = Factor.from_values(cells.split()) if numbers is None else numbers
            columns[name.removesuffix("#")] = made
        table = Table(
            Factor.from_values(models.split()),
            Factor.from_values(segments.split()),
            None if labels == "-" else np.array([label == "T" for label in labels]),
            None if scores == "-" else np.array(scores.split(), float),
            columns,
        )
        yield file, format, found, table


CASES = list(cases())


@pytest.mark.parametrize(("file", "format", "found", "table"), CASES)
def test_read_found_and_written(file, format, found, table, tmp_path):
    assert contents(read_table(DATA / file, format, spoof="nontarget")) == contents(table)
    assert detect_format(DATA / file) == found
    for suffix in ("", ".gz"):
        path = tmp_path / f"{file}{suffix}"
        write_table(path, table, format)
        assert contents(read_table(path, format, spoof="nontarget")) == contents(table)
    if file not in ("table.csv", "bob_2.txt", "plain.txt"):
        # These have other names in the header, a digit more, or fewer columns than are written.
        assert (tmp_path / file).read_bytes() == (DATA / file).read_bytes()


def test_every_format_has_a_file() -> None:
    assert {format for _, format, _, _ in CASES} == set(FORMATS)
    assert all(f"| `{name}` |" in PAGE.read_text() for name in FORMATS)


def test_visual_trials_name_models_by_image() -> None:
    table = read_table(DATA / "nist_visual.tsv")
    assert table.models.values().tolist() == ["9001_demo_face.jpg", "9002_demo_face.jpg"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        # Ids may be whole numbers; the scores are the column with decimals.
        ("1001 2034 3.5\n1002 2034 -1\n", "kaldi-scores"),
        ("3.5 1001 2034\n-1 1002 2034\n", "voxceleb-scores"),
        ("1 a b\n0 a c\n", "voxceleb-trials"),
        ("a b 1\na c 0\n", "cnceleb-trials"),
        # Not every first line with these words is a header.
        ("target model segment\nother model segment\n", None),
        ("model segment\n", "csv"),
        ("\n" * 2000 + "m s target\n", "kaldi-trials"),
        ("model;segment;score\nm;s;1.5\n", "csv"),
        ("enroll\ttest\tlabel\nm\ts\t1\n", "csv"),
        ("enroll test score\nm s 1.5\n", "csv"),
        ("model segment target\nm s target\n", "csv"),
        (",model,segment,score\n0,m,s,1.5\n", "csv"),
        ("-1 0.5\n+1 1.5\n", "bob-2"),
        ("\u00a0\nm s target\n", None),
        ("\x1c\nm s target\n", None),
        # The more of a header is understood, the better.
        ("spk\tfilename\tcm-label\tasv-label\na\tb\tbonafide\ttarget\n", "asvspoof5-sasv-key"),
    ],
)
def test_look_alikes(content: str, expected: str | None, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(content)
    if expected is None:
        with pytest.raises(FileFormatError):
            detect_format(path)
    else:
        assert detect_format(path) == expected


def test_what_is_no_format(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("7 8 9\n")
    with pytest.raises(FileFormatError, match=r"use columns=.model,segment,score. or"):
        detect_format(path)
    # The line from which on no format fits.
    path.write_text("m s target\n" * 99 + "n t tarhget\n" + "m t imp\n")
    with pytest.raises(FileFormatError, match="'tarhget' in column 3 is not like"):
        detect_format(path)
    with pytest.raises(InvalidInputError, match="one of nist"):
        read_table(path, "sre")


def test_whole_numbers_below_unknown_names_may_be_ids(tmp_path: Path) -> None:
    """Lines of two files in different orders belong together by these ids alone."""
    path = tmp_path / "a.csv"
    for text, told in (
        ("a,b,score\n101,201,2.5\n101,202,-1.5\n", "columns='model=a,segment=b,score=score'"),
        ("idx,label\n7,target\n3,nontarget\n5,nontarget\n", "columns='segment=idx,label=label'"),
    ):
        path.write_text(text)
        with pytest.raises(FileFormatError, match=re.escape(told)):
            read_table(path)
    path.write_text("case,score\n1,2.5\n2,-1.5\n3,0.5\n")
    assert len(read_table(path)) == 3
    path.write_text("clip,split,score,label\nc,dev,2.5,1\nb,dev,-1.5,0\na,dev,0.5,0\nd,dev,1.5,1\n")
    assert read_table(path).segments.values().tolist() == ["c", "b", "a", "d"]
