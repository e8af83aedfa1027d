"""What a reader copes with, and what it refuses."""

import csv
import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bosaris_py.errors import BosarisWarning, FileFormatError, InvalidInputError
from bosaris_py.storage import tokens
from bosaris_py.storage.formats import TrialTable, read_table

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(content: str, name: str = "a.txt") -> Path:
        path = tmp_path / name
        path.write_text(content)
        return path

    return write_file


KEY = "modelid\tsegmentid\tside\ttargettype\nm1\ts1\ta\ttarget\nm1\ts1\tb\tnontarget\n"


class TestOptions:
    def test_columns_from_left_to_right(self, write: Write) -> None:
        path = write("x target m1 0.5 s1\ny imposter m2 1.5 s1\n")
        table = read_table(
            path,
            columns="channel label model score segment",
            labels={"target": True, "imposter": False},
        )
        expected = TrialTable.from_trials(["m1", "m2"], ["s1", "s1"], is_target=[True, False])
        assert table.model_ids().tolist() == expected.model_ids().tolist()
        assert table.is_target is not None
        assert table.is_target.tolist() == [True, False]
        assert table.scores is not None
        assert table.scores.tolist() == [0.5, 1.5]
        assert list(table.columns) == ["channel"]

    def test_columns_by_name(self, write: Write) -> None:
        path = write("a;b;cosine;same\nm1;s1;0.5;yes\n m2 ; s1;1;no\n")
        columns = {"model": "a", "segment": "b", "score": "cosine", "label": "same"}
        table = read_table(path, columns=columns, labels={"yes": True, "no": False})
        assert table.model_ids().tolist() == ["m1", "m2"]
        assert table.scores is not None
        assert table.scores.tolist() == [0.5, 1.0]
        assert not table.columns

    @pytest.mark.parametrize("mark", [" ", ",", "\t"])
    def test_columns_by_position(self, write: Write, mark: str) -> None:
        path = write(mark.join(["s1", "x", "m1", "0.5"]) + "\n")
        table = read_table(path, columns={"model": 2, "segment": 0, "score": 3})
        assert (table.model_ids().tolist(), table.segment_ids().tolist()) == (["m1"], ["s1"])
        assert table.scores is not None
        assert table.scores.tolist() == [0.5]
        assert not table.columns

    @pytest.mark.parametrize(
        "columns",
        [{"model": 4, "segment": 0}, {"model": -1}, {"model": 0, "score": "x"}, {"model": 1.5}],
    )
    def test_bad_positions(self, write: Write, columns: Any) -> None:
        with pytest.raises(InvalidInputError, match="all to positions from 0 to 3"):
            read_table(write("s1 x m1 0.5\n"), columns=columns)
        with pytest.raises(InvalidInputError, match="a position for each role"):
            read_table(write("s1 x m1 0.5\n"), columns={"model": 0, "segment": 0})

    def test_table_without_ids(self, write: Write) -> None:
        # The file of a fusion tool.
        path = write("asv_score,cm_score,sasv_label\n0.5,1.25,1\n-0.5,2.5,0\n")
        columns = {"model": None, "segment": None, "score": "asv_score", "label": "sasv_label"}
        table = read_table(path, columns=columns, numbers=["cm_score"])
        tar, non = table.get_tar_non()
        assert (tar.tolist(), non.tolist()) == ([0.5], [-0.5])
        measures = table.columns["cm_score"]
        assert isinstance(measures, np.ndarray)
        assert measures.tolist() == [1.25, 2.5]

    def test_skipped_and_chosen_columns(self, write: Write) -> None:
        path = write("m1 s1 x y\nm1 s2 x z\n")
        assert not read_table(path, columns="model segment - -").columns
        table = read_table(path, columns="model segment first second", extra=["second"])
        assert list(table.columns) == ["second"]

    def test_sides(self, write: Write) -> None:
        path = write(KEY)
        as_column = read_table(path)
        assert as_column.segment_ids().tolist() == ["s1", "s1"]
        assert list(as_column.columns) == ["side"]
        joined = read_table(path, side="join")
        assert joined.segment_ids().tolist() == ["s1:a", "s1:b"]
        assert not joined.columns
        assert not read_table(path, side="ignore").columns

    def test_joined_ids_are_in_their_own_order(self, write: Write) -> None:
        # "s" comes before "s/1", but "s:a" behind "s/1:a".
        path = write("modelid\tsegmentid\tside\nm\ts/1\ta\nm\ts\ta\n")
        table = read_table(path, side="join")
        assert table.segset.tolist() == ["s/1:a", "s:a"]
        assert table.segment_ids().tolist() == ["s/1:a", "s:a"]

    def test_suffixes(self, write: Write) -> None:
        path = write("a.wav s.sph target\na x.wav.wav nontarget\n\u00e9.wav y.wav target\n")
        table = read_table(path, strip_suffix=(".wav", ".sph"))
        assert table.model_ids().tolist() == ["a", "a", "\u00e9"]
        assert table.segment_ids().tolist() == ["s", "x.wav", "y"]
        assert table.modelset.size == 2

    @pytest.mark.parametrize("long", [False, True])
    def test_suffixes_of_ascii_ids(self, write: Write, *, long: bool) -> None:
        # Ids above 128 bytes take another way.
        stem = "x" * 300 if long else "x"
        table = read_table(write(f"{stem}.wav s\n{stem} s\nab.wavs s\n"), strip_suffix=".wav")
        assert table.model_ids().tolist() == [stem, stem, "ab.wavs"]

    def test_missing_scores(self, write: Write) -> None:
        path = write("m1 s1 NaN\nm1 s2 0.5\nm1 s3 n/a\nm1 s4\n")
        table = read_table(path, "kaldi-scores", missing=("nan", "N/A"))
        assert table.scores is not None
        assert np.isnan(table.scores).tolist() == [True, False, True, True]

    def test_spoofs(self, write: Write) -> None:
        path = write("m1 s1 target\nm1 s2 spoof\nm1 s3 nontarget\n")
        with pytest.raises(FileFormatError, match=r":2: the trial is a spoof \(1 line in all\)"):
            read_table(path)
        assert read_table(path, spoof="drop").segment_ids().tolist() == ["s1", "s3"]
        counted = read_table(path, spoof="nontarget")
        assert counted.is_target is not None
        assert counted.is_target.tolist() == [True, False, False]
        assert list(counted.columns) == ["label"]

    def test_lines_with_some_labels_left_out(self, write: Write) -> None:
        path = write("m1 s1 target\nm1 s2 unsure\nm2 s3 nontarget\n")
        labels = {"target": True, "nontarget": False, "unsure": None}
        table = read_table(path, "kaldi-trials", labels=labels)
        assert table.segset.tolist() == ["s1", "s3"]

    def test_labels_in_any_case_of_letters(self, write: Write) -> None:
        table = read_table(write("m1 s1 Target\nm1 s2 NONTARGET\n"), "kaldi-trials")
        assert table.is_target is not None
        assert table.is_target.tolist() == [True, False]


class TestText:
    def test_blank_lines_ends_and_marks(self, tmp_path: Path) -> None:
        path = tmp_path / "key.tsv"
        path.write_bytes(b"\xef\xbb\xbf\r\n" + KEY.replace("\n", "\r\n\r\n").encode())
        expected = tmp_path / "plain.tsv"
        expected.write_text(KEY)
        assert read_table(path) == read_table(expected)

    def test_compressed(self, tmp_path: Path) -> None:
        path = tmp_path / "key.tsv.GZ"
        path.write_bytes(gzip.compress(KEY.encode()))
        assert len(read_table(path)) == 2
        path.write_bytes(gzip.compress(KEY.encode() * 100)[:-9])
        with pytest.raises(FileFormatError, match="no complete gzip file"):
            read_table(path)

    def test_names_of_the_header_in_any_case_of_letters(self, write: Write) -> None:
        assert len(read_table(write(KEY.replace("modelid", "ModelID")))) == 2

    def test_blocks_of_any_size(self, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        rows = [f"m{i % 7}\ts{i}\t{'ab'[i % 2]}\t{i / 8}" for i in range(100)]
        path = write("\n\n" + "\n".join(["modelid\tsegmentid\tside\tLLR", *rows]) + "\n")
        whole = read_table(path)
        for size in (1, 16, 300):
            monkeypatch.setattr(tokens, "_BLOCK_BYTES", size)
            assert read_table(path) == whole

    def test_quotes_around_fields(self, write: Write) -> None:
        path = write('"enroll","test","label"\n"m 1","s1",1\nm2,"s1","0"\n')
        assert read_table(path).model_ids().tolist() == ["m 1", "m2"]

    def test_empty_file(self, write: Write) -> None:
        with pytest.warns(BosarisWarning, match="no line"):
            assert len(read_table(write("\n"), "kaldi-trials")) == 0
        with pytest.raises(FileFormatError, match="cannot be found out"):
            read_table(write(""))

    def test_header_alone(self, write: Write) -> None:
        with pytest.warns(BosarisWarning, match="no trial below the header"):
            table = read_table(write("modelid\tsegmentid\tLLR\n"))
        assert len(table) == 0
        assert table.scores is not None

    @given(
        rows=st.lists(
            st.tuples(
                st.text("ab\u00e9/ ", min_size=1).filter(lambda text: text.strip() == text),
                st.text("xy.-", min_size=1),
                st.floats(allow_nan=False),
            ),
            min_size=1,
        ),
        separator=st.sampled_from(",;\t"),
    )
    def test_like_the_csv_module(
        self,
        rows: list[tuple[str, str, float]],
        separator: str,
        tmp_path_factory: pytest.TempPathFactory,
    ) -> None:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=separator, quoting=csv.QUOTE_ALL)
        writer.writerows([("model", "segment", "score"), *rows])
        path = tmp_path_factory.mktemp("csv") / "a.csv"
        path.write_text(text.getvalue(), newline="")
        table = read_table(path, "csv")
        assert table.model_ids().tolist() == [row[0] for row in rows]
        assert table.segment_ids().tolist() == [row[1] for row in rows]
        assert table.scores is not None
        assert table.scores.tolist() == [row[2] for row in rows]


_SAME = {"labels": {"same": True, "different": False}}

BAD_FILES: list[tuple[str, str, dict[str, Any]]] = [
    # A column that is needed is not there.
    (
        "model\tsegmentid\tLLR\nm\ts\t1\n",
        r"no column modelid or imageid for the models.* are model, segmentid, LLR",
        {"format": "nist"},
    ),
    ("a,b\nm,s\n", "no column cosine", {"columns": {"model": "a", "segment": "cosine"}}),
    ("modelid\tsegmentid\tsegmentid\nm\ts\tt\n", ":1: the header names segmentid more", {}),
    ("m s\n", r":1: expected 4 \(model segment label score\)", {"format": "speechbrain-scores"}),
    ("m s 1 0.5\nm s 1\n", ":2: expected 4 columns", {"format": "speechbrain-scores"}),
    ("modelid,segmentid,LLR\nm,s\n", ":2: expected 3 columns", {"format": "hyperion"}),
    ('modelid,segmentid,LLR\n"m,s",1,2,3\n', "separator inside quotes", {"format": "hyperion"}),
    ('modelid,segmentid,LLR\nm"1,s,1\n', ":2: has a quote inside", {"format": "hyperion"}),
    ("modelid\tsegmentid\n\ts\n", ":2: the model is empty", {}),
    ("m s\n", ":1: the first line must begin with model-id", {"format": "sdsv-trials"}),
    # Labels.
    (
        "m s target\nm t maybe\nm u maybe\nm v perhaps\n",
        r":2: .*found 'maybe' \(2 lines, first 2\), 'perhaps' \(1 line, first 4\)",
        {"format": "kaldi-trials"},
    ),
    ("m s tgt\nm t imp\n", r"look like tgt\|imp: is it another", {"format": "kaldi-trials"}),
    ("m s 0.5\nm t 1.5\n", "Are these scores", {"format": "kaldi-trials"}),
    ("1 m s\n-1 m t\n", r":2: labels must be 1\|0; found '-1'", {"format": "voxceleb-trials"}),
    (
        "".join(f"m s{i} {i}\n" for i in range(100)),
        r"found '0' .*, \.\.\.",
        {"format": "kaldi-trials"},
    ),
    (
        # So many that looking at each of them for each of them would never end.
        "".join(f"m s word{i}\n" for i in range(100_000)),
        r"found 'word0' .*, \.\.\.",
        {"format": "kaldi-trials"},
    ),
    ("m s same\nm t other\n", ":2: .*found 'other'", {"format": "kaldi-trials", **_SAME}),
    ("\u00a0\nm s\n", ":1: the first line must begin with", {"format": "sdsv-trials"}),
    # Nothing may be left of an id.
    (
        "m.wav s\nn.wav .wav\n",
        ":2: nothing is left of the segment '.wav'",
        {"strip_suffix": ".wav"},
    ),
    # Numbers.
    ("m s 1\nm t x1\n", ":2: 'x1' is not a number", {"format": "kaldi-scores"}),
    ("m s 1\nm t nan\n", ":2: the score is NaN.*Use missing='nan'", {"format": "kaldi-scores"}),
    ("m s 1\nm t -\n", ":2: '-' is not a number", {"format": "kaldi-scores"}),
    # An empty cell of a number is one only where `missing` names it.
    ("model,segment,score,length\nm,s,1,\n", ":2: '' is not a number", {"numbers": ["length"]}),
    ("m s 1,5\n", "decimal point", {"format": "kaldi-scores"}),
    # What could be several formats, or none.
    ("7 8 9\n", "could be kaldi-scores, voxceleb-scores", {}),
    ("one two three four five six\n", "no format fits", {}),
    ("\nm s 1.5\nm t x1\n", ":3: 'm t x1' is not like the lines before it. Tell the columns", {}),
    ("m s target\n" * 99 + "n t tarhget\n" + "m t imp\n", ":100: 'n t tarhget' is not like", {}),
]


@pytest.mark.parametrize(("content", "message", "options"), BAD_FILES)
def test_bad_files(content: str, message: str, options: dict[str, Any], write: Write) -> None:
    with pytest.raises(FileFormatError, match=message):
        read_table(write(content), **options)


BAD_ARGUMENTS: list[tuple[str, dict[str, Any]]] = [
    ("`format` must be one of nist, .*got 'sre'", {"format": "sre"}),
    ("`format` must be a name", {"format": 3}),
    ('`spoof` must be one of "error"', {"spoof": "kept"}),
    ('`side` must be one of "column"', {"side": "both"}),
    ("`strip_suffix` must not be empty", {"strip_suffix": ""}),
    ("`missing` must have at most 8", {"missing": "not available"}),
    ("`extra` must be a list", {"extra": "gender"}),
    ("`extra` must name extra columns.*gendre", {"extra": ["gendre"]}),
    ("`numbers` must name extra columns", {"numbers": ["duration"]}),
    ("`columns` must name each column once", {"columns": "model model"}),
    ("`columns` must name each column once", {"columns": ""}),
    ("`columns` must be a list", {"columns": {"model": "a"}, "format": "kaldi-trials"}),
    ("`columns` must map", {"columns": "model segment", "format": "csv"}),
    ("`columns` must map only", {"columns": {"gender": "a"}}),
    ("`labels` must be a mapping", {"labels": ["target"]}),
    ("`labels` must map each word", {"labels": {"yes": 1.5}}),
    ("`labels` must map words", {"labels": {}}),
]


@pytest.mark.parametrize(("message", "options"), BAD_ARGUMENTS)
def test_bad_arguments(message: str, options: dict[str, Any], write: Write) -> None:
    with pytest.raises(InvalidInputError, match=message):
        read_table(write("m s target\n"), **options)


def test_too_large(write: Write) -> None:
    path = write("m s target\n" * 100)
    with pytest.raises(FileFormatError, match="`max_bytes` allows"):
        read_table(path, max_bytes=100)


def test_lines_of_blanks_take_no_time(write: Write) -> None:
    # Going back over them from each of them would take an hour.
    assert len(read_table(write(" " * 2**20 + "\r\n\t\nm s target\n"))) == 1


@pytest.mark.parametrize(
    ("content", "models"), [("m s same\nn s Different\n", "mn"), ("same m s\nsame n s\n", "mn")]
)
def test_format_is_found_by_labels_that_are_told(content: str, models: str, write: Write) -> None:
    table = read_table(write(content), **_SAME)
    assert table.model_ids().tolist() == list(models)
    assert table.is_target is not None
    assert table.is_target[0]


def test_columns_without_a_name_are_not_read(write: Write) -> None:
    table = read_table(write(",model,segment,sex,\n0,m,s,f,\n1,m,t,f,\n"))
    assert list(table.columns) == ["sex"]
    assert len(table) == 2


class TestTablesOfAnyOrigin:
    """Spreadsheets without a header, other names of columns, a separator too many."""

    def test_csv_without_a_header(self, write: Write) -> None:
        path = write("m1,s1,0.5\nm1,s2,1.5\n")
        for columns in (
            "model,segment,score",
            "model segment score",
            ["model", "segment", "score"],
        ):
            table = read_table(path, columns=columns)
            assert table.segset.tolist() == ["s1", "s2"]
            assert table.scores.tolist() == [0.5, 1.5]
        assert read_table(path).scores.tolist() == [0.5, 1.5]
        labels = read_table(write("m1;s1;target\nm1;s2;nontarget\n"))
        assert labels.is_target.tolist() == [True, False]
        for unlike in ("who,what,value\nm1,s1,0.5\n", '"m1","s1",0.5\n'):
            with pytest.raises(FileFormatError, match="of 3 columns between commas, such as"):
                read_table(write(unlike))
        with pytest.raises(FileFormatError, match=r"expected 2 \(model segment\) columns, found 1"):
            read_table(path, columns="model segment")

    @pytest.mark.parametrize(
        ("model", "segment"),
        [
            *(("utt1", "utt2"), ("enrol_id", "test_id"), ("enroll", "trial")),
            *(("enrollment_id", "test_file"), ("enrol_wav", "trial_segment")),
        ],
    )
    def test_names_of_columns(self, write: Write, model: str, segment: str) -> None:
        table = read_table(write(f"{model},{segment},score\nm1,s1,0.5\n"))
        assert (table.modelset.tolist(), table.segset.tolist()) == (["m1"], ["s1"])

    def test_header_with_a_separator_too_many(self, write: Write) -> None:
        """As Hyperion writes lists of trials; where the lines have it too, it is a column."""
        for content in (
            "modelid,segmentid,\nm1,s1\nm1,s2\n",
            "modelid,segmentid,\nm1,s1,x\nm1,s2,y\n",
        ):
            assert read_table(write(content)).segset.tolist() == ["s1", "s2"]
