"""What a reader copes with, and what it refuses."""

import contextlib
import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

import bosaris_py
import bosaris_py.files.text as cells
from bosaris_py.errors import BosarisError, BosarisWarning, FileFormatError, InvalidInputError
from bosaris_py.files.columns import Table
from bosaris_py.files.text import read_table
from bosaris_py.trials import Key

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    path = tmp_path / "a.txt"
    return lambda x: (path.write_bytes(x if isinstance(x, bytes) else x.encode()), path)[1]


def models(table: Table) -> list[str]:
    return table.models.values().tolist()


def segments(table: Table) -> list[str]:
    return table.segments.values().tolist()


KEY = "modelid\tsegmentid\tside\ttargettype\nm1\ts1\ta\ttarget\nm1\ts1\tb\tnontarget\n"


class TestColumns:
    def test_from_left_to_right(self, write: Write) -> None:
        path = write("x target m1 0.5 s1\ny imposter m2 1.5 s1\n")
        columns = "channel label model score segment"
        for given_columns in (columns, columns.replace(" ", ","), columns.split()):
            labels = {"target": True, "imposter": False}
            table = read_table(path, columns=given_columns, labels=labels)
            assert models(table) == ["m1", "m2"]
            assert table.is_target.tolist() == [True, False]
            assert table.scores.tolist() == [0.5, 1.5]
            assert table.columns["channel"].values().tolist() == ["x", "y"]

    def test_by_name(self, write: Write) -> None:
        path = write("a;b;cosine;same\nm1;s1;0.5;yes\n m2 ; s1;1;no\n")
        columns = {"model": "a", "segment": "b", "score": "cosine", "label": "same"}
        table = read_table(path, columns=columns, labels={"yes": True, "no": False})
        assert models(table) == ["m1", "m2"]
        assert table.scores.tolist() == [0.5, 1.0]
        assert not table.columns

    @pytest.mark.parametrize("mark", [" ", ",", "\t"])
    def test_by_position(self, write: Write, mark: str) -> None:
        path = write("s1 x m1 0.5\ns2 y m1 1.5\n".replace(" ", mark))
        table = read_table(path, columns={"model": 2, "segment": 0, "score": 3})
        assert (models(table), segments(table)) == (["m1", "m1"], ["s1", "s2"])
        assert table.scores.tolist() == [0.5, 1.5]
        assert read_table(write("m s1 1\nm s2 2\nm s3 3\n")).scores.tolist() == [1.0, 2.0, 3.0]
        for wrong in ({"model": 4}, {"model": 0, "segment": 0}, {"model": 0, "segment": "a"}):
            with pytest.raises(InvalidInputError, match="columns"):
                read_table(path, columns=wrong)

    def test_names_in_any_case_of_letters_or_none(self, write: Write) -> None:
        assert len(read_table(write(KEY.replace("modelid", "ModelID")))) == 2
        table = read_table(write(",model,segment,sex,\n0,m,s,f,\n1,m,t,f,\n"))
        assert list(table.columns) == ["sex"]

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_csv_without_a_header(self, write: Write, end: str) -> None:
        path = write(f"m1,s1,0.5{end}m1,s2,1.5{end}")
        for options in ({"columns": "model,segment,score"}, {}):
            assert read_table(path, **options).scores.tolist() == [0.5, 1.5]
        table = read_table(write("m1;s1;target\nm1;s2;nontarget\n"))
        assert table.is_target.tolist() == [True, False]


class TestContents:
    def test_suffixes(self, write: Write) -> None:
        path = write("a.wav s target\na x.wav.wav nontarget\né.wav y.wav target\n")
        table = read_table(path, strip_suffix=".wav")
        assert models(table) == ["a", "a", "é"]
        assert segments(table) == ["s", "x.wav", "y"]
        assert table.models.levels.size == 2
        with pytest.raises(FileFormatError, match="nothing is left"):
            read_table(path, strip_suffix="s")

    def test_missing_scores(self, write: Write) -> None:
        path = write("m1 s1 NaN\nm1 s2 0.5\nm1 s3 n/a\nm1 s4\n")
        table = read_table(path, "kaldi-scores", missing=("nan", "N/A"))
        assert np.isnan(table.scores).tolist() == [True, False, True, True]

    def test_spoofs(self, write: Write) -> None:
        path = write("m1 s1 target\nm1 s2 spoof\n\nm1 s3 nontarget\nm1 s4 spoof\n")
        assert segments(read_table(path, spoof="drop")) == ["s1", "s3"]
        counted = read_table(path, spoof="nontarget")
        assert counted.is_target.tolist() == [True, False, False, False]
        words = ["target", "spoof", "nontarget", "spoof"]
        assert {n: c.values().tolist() for n, c in counted.columns.items()} == {"label": words}
        kept = read_table(path, spoof="keep")
        assert kept.columns["kind"].values().tolist() == words

    def test_labels(self, write: Write) -> None:
        path = write("m1 s1 Target\nm1 s2 unsure\nm2 s3 NONTARGET\n")
        labels = {"target": True, "nontarget": False, "unsure": None}
        table = read_table(path, "kaldi-trials", labels=labels)
        assert segments(table) == ["s1", "s3"]
        assert table.is_target.tolist() == [True, False]
        for content in ("m s same\nn s Different\n", "same m s\nsame n s\n"):
            table = read_table(write(content), labels={"same": True, "different": False})
            assert models(table) == ["m", "n"]
            assert table.is_target[0]


class TestText:
    def test_blank_lines_ends_and_marks(self, write: Write) -> None:
        windows = b"\xef\xbb\xbf\r\n" + KEY.replace("\n", "\r\n\r\n").encode()
        for content in (windows, KEY.replace("\t", " \t ").encode(), b"\n" * 3000 + KEY.encode()):
            table = read_table(write(content))
            assert models(table) == ["m1", "m1"]
            assert table.columns["side"].values().tolist() == ["a", "b"]
            assert table.is_target.tolist() == [True, False]

    def test_standard_input(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def given(text: bytes) -> None:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))

        given(b"m s 1.5\nm t 2.5\n")
        assert bosaris_py.read_scores("-").n_trials == 2
        given(b"m s target\n")
        assert Key.read_txt("-").n_tar == 1
        given(b"m s 1.5\nm t x\n")
        with pytest.raises(FileFormatError, match="-:2: 'x'"):
            read_table("-", "kaldi-scores")

    def test_empty_files(self, write: Write) -> None:
        assert len(read_table(write("\n"), "kaldi-trials").notes) == 1
        with pytest.raises(FileFormatError):
            read_table(write(""))
        table = read_table(write("modelid\tsegmentid\tLLR\n"))
        assert (len(table), table.scores.size, len(table.notes)) == (0, 0, 1)

    def test_no_end_of_the_last_line(self, write: Write) -> None:
        path = write("m s target\nm t nontarget")
        (note,) = read_table(path).notes
        assert note.kind is BosarisWarning
        with pytest.warns(BosarisWarning, match="the last line has no end"):
            assert bosaris_py.read_key(path).n_trials == 2

    def test_too_large(self, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        path = write("m s target\n" * 100)
        with pytest.raises(FileFormatError, match="more memory than `max_bytes`"):
            read_table(path, max_bytes=100)
        monkeypatch.setattr(cells, "_LONGEST_LINE", 1000)
        monkeypatch.setattr(cells, "_BLOCK_BYTES", 64)
        monkeypatch.setattr(cells, "_HEAD_BYTES", 64)
        with pytest.raises(FileFormatError, match=r":2: a line of more than 1000"):
            read_table(write("m1 s1\n" + "x" * 2000), "kaldi-trials")


BAD_FILES: list[tuple[str | bytes, str, dict[str, Any]]] = [
    ("model\tsegmentid\tLLR\nm\ts\t1\n", "no column modelid or imageid", {"format": "nist"}),
    ("a,b\nm,s\n", "no column cosine", {"columns": {"model": "a", "segment": "cosine"}}),
    ("modelid\tsegmentid\tsegmentid\nm\ts\tt\n", ":1: the header names segmentid more", {}),
    ("m s\n", r":1: expected 4 \(model segment label score\)", {"format": "speechbrain-scores"}),
    ("m s 1 0.5\nm s 1\n", ":2: expected 4 columns", {"format": "speechbrain-scores"}),
    ('modelid,segmentid,LLR\n"m,s",1,2,3\n', ":2: expected 3 columns", {"format": "hyperion"}),
    ('modelid,segmentid,LLR\nm,s,1\n"m,s,1\n', ":3: expected 3", {"format": "hyperion"}),
    ("modelid\tsegmentid\n\ts\n", ":2: the model is empty", {}),
    ("m s\n", ":1: the first line must begin with model-id", {"format": "sdsv-trials"}),
    ("m s 1\nm1 s1\n1 m2 s2 2\n", r":2: .*found 2", {"columns": "model segment score"}),
    ("a,b,c\nm,s\nn,t,1,2\n", ":2: .*found 2", {"columns": {"model": "a", "segment": "b"}}),
    ("m s target\n\nm t maybe\n", ":3: labels must be .*'maybe'", {"format": "kaldi-trials"}),
    ("m s tgt\nm t imp\n", r":1: .*is it another format", {"format": "kaldi-trials"}),
    ("1 m s\n-1 m t\n", r":2: labels must be 1\|0; found '-1'", {"format": "voxceleb-trials"}),
    ("m s 1\nm t -1\nm u 0\n", r":3: .*found '0'", {"columns": "model segment label"}),
    ("m s 1\nm t x1\n", ":2: 'x1' is not a number", {"format": "kaldi-scores"}),
    ("m s 1\n\nm t nan\n", ":3: the score is nan.*missing='nan'", {"format": "kaldi-scores"}),
    ("m s 1\nm t -\n", ":2: the score is - here", {"format": "kaldi-scores"}),
    ("m s inf\nm t 1e400\n", ":2: '1e400' is out of the range", {"format": "kaldi-scores"}),
    ("model,segment,score\nm,s,\n", ":2: the score is empty here", {}),
    ("model,segment,score\nm,s,1\nm,t,none\n", ":3: .* missing='none'", {}),
    ("model,segment,score\na,b,1\n , ,\t\n,,\nc,d,x\n", ":5: 'x' is not a number", {}),
    ("m1 s1\nm s\xe9\n".encode("latin-1"), r":2: the id 's.' is not in UTF-8", {}),
    (b"m1 s1\nm1\0 s1\n", ":2: the id .* holds a control character", {"format": "kaldi-trials"}),
    (b"m1 s1\n\x1b[0m m1\n", ":2: the id .* holds a control character", {}),
    ("m1 s1\nm1 s\u00a02\n", ":2: the id .* holds a blank", {}),
    ("a b\n\ufeffa c\n", ":2: the id .* holds a control character or a byte order", {}),
    ("m1 s1\n".encode("utf-16"), "UTF-16", {}),
    (b"\x1f\x8b\x08\x00", "gzip .* Octave save with '-v7'", {}),
    (b"\0\0\0\0\3\0\0\0", "MATLAB's format -v4, save a struct with '-v7'", {}),
    ("m s 1\nm1 s1 1\rm2 s2 2\r", "carriage returns alone", {"columns": "model segment score"}),
    ("a b\n" + "a" * 20_000 + " c\n", ":2: an id of 20000 bytes", {}),
    ("m s abc\nm t 1.5\nn s 2.5\n", ":1: 'm s abc' is not like the lines below", {}),
    ("\n\n" + "m s 0.5\n" * 50 + "m2 s2 3 4\nm s 1\n", ":53: 'm2 s2 3 4' is not like", {}),
]


@pytest.mark.filterwarnings("ignore:.*the last line has no end")
@pytest.mark.parametrize(("content", "message", "options"), BAD_FILES)
def test_bad_files(content, message, options, write):
    with pytest.raises(FileFormatError, match=message) as caught:
        read_table(write(content), **options)
    assert "a.txt" in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        *({"format": 3}, {"spoof": "kept"}, {"missing": [3]}),
        *({"columns": columns} for columns in (5, "model model", "", {"gender": "a"})),
        {"columns": {"model": "a"}, "format": "kaldi-trials"},
        {"columns": "model segment", "format": "csv"},
        *({"labels": labels} for labels in (["target"], {"yes": 1.5}, {})),
    ],
)
def test_bad_arguments(options: dict[str, Any], write: Write) -> None:
    with pytest.raises(InvalidInputError):
        read_table(write("m s target\n"), **options)


@given(
    rows=st.lists(
        st.tuples(
            st.text("ab\u00e9/ ,;", min_size=1).filter(lambda text: text.strip() == text),
            st.text("xy.-", min_size=1),
            st.floats(allow_nan=False),
        ),
        min_size=1,
    ),
    separator=st.sampled_from(",;\t"),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_like_the_csv_module(rows, separator, quoting, tmp_path_factory):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, quoting=quoting)
    writer.writerows([("model", "segment", "score"), *rows])
    path = tmp_path_factory.getbasetemp() / "quoted.csv"
    path.write_text(text.getvalue(), newline="")
    table = read_table(path, "csv")
    assert models(table) == [row[0] for row in rows]
    assert segments(table) == [row[1] for row in rows]
    assert table.scores.tolist() == [row[2] for row in rows]


WORDS = st.text(st.sampled_from("ab1_-é語/."), min_size=1, max_size=12) | st.just("seg" * 100)
BLANKS = st.text(st.sampled_from(" \t\r\v"), min_size=1, max_size=3)
LINE = st.tuples(st.just("") | BLANKS, WORDS, BLANKS, WORDS, st.just("") | BLANKS).map("".join)


@pytest.mark.filterwarnings("ignore:.*the last line has no end")
@pytest.mark.filterwarnings("ignore:.*there is no line")
@given(lines=st.lists(LINE | st.just(""), max_size=12), block=st.sampled_from([8, 50, 2**21]))
def test_like_a_naive_reader(lines, block, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "naive.txt"
    path.write_bytes("\n".join(lines).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "_BLOCK_BYTES", block)
        patch.setattr(cells, "_HEAD_BYTES", block)
        table = read_table(path, columns="model segment")
    pairs = [line.split() for line in lines if line.split()]
    assert [list(pair) for pair in zip(models(table), segments(table), strict=True)] == pairs
    assert table.models.levels.tolist() == sorted({pair[0] for pair in pairs})
    assert not pairs or table.lines.tolist() == [
        at for at, line in enumerate(lines, 1) if line.split()
    ]


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
@example(content=b'"')
@given(content=st.binary(max_size=60) | st.text(' \t\n,;"ms01.-nae', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(content, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(content)
    for how in ({}, {"format": "csv"}, {"columns": "model segment score"}, {"format": "bob-4"}):
        with contextlib.suppress(BosarisError):
            read_table(path, **how)
