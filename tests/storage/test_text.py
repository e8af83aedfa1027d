import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosaris_py.errors import BosarisWarning, FileFormatError, InvalidInputError
from bosaris_py.storage import text, tokens

Arrays = dict[str, np.ndarray]
Reader = Callable[..., Arrays]
Writer = Callable[..., None]
Check = Callable[[Arrays, Arrays], None]

SAMPLES = {
    "ndx.txt": "ndx",
    "key.txt": "key",
    "scores.txt": "scores",
    "seg_quality.txt": "segment_quality",
    "id_map.txt": "id_map",
}
KIND_OF_CLASS = {
    "Ndx": "ndx",
    "Key": "key",
    "Scores": "scores",
    "Seg_Quality": "segment_quality",
    "Id_Map": "id_map",
}
NAMES_OF_MASKS = ("trialmask", "tar", "non", "scoremask")


def arrays_of(**values: Any) -> Arrays:
    return {name: np.asarray(value) for name, value in values.items()}


def toolkit_case(kind: str, part: str, oracle: Path) -> list[dict[str, Any]]:
    """The cases of text_io.json for one class."""
    cases = json.loads((oracle / "text_io.json").read_text())[part]
    return [case for case in cases if KIND_OF_CLASS.get(case["class"]) == kind]


def to_arrays(obj: dict[str, Any]) -> Arrays:
    """An object of text_io.json; a 1 x n or n x 1 matrix is a flat list there."""
    arrays: Arrays = {}
    for name, value in obj.items():
        if name.endswith(("set", "ids")):
            arrays[name] = np.array(value, dtype=np.str_)
            continue
        matrix = np.array(value, dtype=float)
        arrays[name] = matrix > 0 if name in NAMES_OF_MASKS else matrix
    rows = arrays.get("modelset")
    for name, array in arrays.items():
        if rows is not None and array.dtype.kind != "U":
            arrays[name] = array.reshape(rows.size, arrays["segset"].size)
    return arrays


@pytest.mark.parametrize("kind", SAMPLES.values())
def test_written_text_is_that_of_the_toolkit(
    kind: str, oracle: Path, tmp_path: Path, write: Writer
) -> None:
    cases = toolkit_case(kind, "written", oracle)
    assert cases
    for case in cases:
        options = {"number_format": "%f"} if kind in ("scores", "segment_quality") else {}
        write(tmp_path / "a.txt", kind, to_arrays(case["obj"]), **options)
        assert (tmp_path / "a.txt").read_bytes() == case["text"].encode()


@pytest.mark.filterwarnings("ignore:.*the last line has no end")
@pytest.mark.parametrize("kind", SAMPLES.values())
def test_text_is_read_like_the_toolkit_does(
    kind: str, oracle: Path, tmp_path: Path, read: Reader, assert_same: Check
) -> None:
    path = tmp_path / "a.txt"
    cases = toolkit_case(kind, "read", oracle)
    assert cases
    for case in cases:
        path.write_bytes(case["text"].encode())
        if "imposter" in case["text"]:
            # Documented difference: the toolkit takes any other label as non-target.
            with pytest.raises(FileFormatError, match=r"a\.txt:4: the label must be target or"):
                read(path, kind)
            path.write_text(case["text"].replace("imposter", "nontarget"))
        elif "m1 s1 target\nm1 s1 nontarget" in case["text"] or "m1 s1 2" in case["text"]:
            # Documented difference: the toolkit takes the last of repeated trials.
            with pytest.raises(FileFormatError, match=r"a\.txt:2: trial m1 s1 is "):
                read(path, kind)
            continue
        expected = to_arrays(case["obj"])
        if kind == "scores":
            # Documented difference: the toolkit fills with +Inf.
            expected["scoremat"] = np.where(expected["scoremask"], expected["scoremat"], 0.0)
        if kind == "segment_quality":
            expected["values"] = expected["values"].reshape(-1, expected["ids"].size)
        assert_same(read(path, kind), expected)


@pytest.mark.parametrize(("name", "kind"), SAMPLES.items())
def test_samples(
    name: str,
    kind: str,
    samples: Path,
    contents: dict[str, Arrays],
    read: Reader,
    write: Writer,
    tmp_path: Path,
) -> None:
    found = read(samples / name, kind)
    original = contents[kind]
    if kind in ("id_map", "segment_quality"):
        expected = original
    else:
        # Sorted, as the toolkit reads it.
        rows, columns = (np.argsort(original[n]) for n in ("modelset", "segset"))
        expected = {
            name: array[np.ix_(rows, columns)] if array.ndim == 2 else array
            for name, array in original.items()
        }
        expected |= {"modelset": original["modelset"][rows], "segset": original["segset"][columns]}
    for field, array in found.items():
        assert not array.flags.writeable
        if array.dtype.kind == "f":
            mask = found.get("scoremask", np.True_)
            # Six decimals in the file.
            np.testing.assert_allclose(array[..., :], np.where(mask, expected[field], 0), atol=5e-7)
        else:
            assert np.array_equal(array, expected[field])
    # The original, not what was read, has the order of the lines.
    options = {"number_format": "%f"} if kind in ("scores", "segment_quality") else {}
    write(tmp_path / name, kind, original, **options)
    assert (tmp_path / name).read_bytes() == (samples / name).read_bytes()


def test_cells_without_a_line_are_zero_and_false(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("m1 s1 5\nm2 s2 6\n")
    found = text.read("scores", tmp_path / "a.txt")
    assert found["scoremat"].tolist() == [[5, 0], [0, 6]]
    assert found["scoremask"].tolist() == [[True, False], [False, True]]


@pytest.mark.filterwarnings("ignore:.*the last line has no end")
@pytest.mark.parametrize(
    "content",
    [
        "m1 s1 1.5\nm2 s2 -2\n",
        "m1\ts1\t1.5\r\nm2\ts2\t-2\r\n",
        "\n\n  m1   s1 1.5   \n \t \nm2 s2 -2",
        "\ufeffm1 s1 +1.5e0\nm2 s2 -2.\n\n\n",
        "m1 s1 1.5\n\x0b\x0cm2 s2 -2\n",
    ],
)
def test_blanks_tabs_line_ends_and_byte_order_mark(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.txt").write_bytes(content.encode())
    found = text.read("scores", tmp_path / "a.txt")
    assert found["modelset"].tolist() == ["m1", "m2"]
    assert found["segset"].tolist() == ["s1", "s2"]
    assert found["scoremat"].tolist() == [[1.5, 0], [0, -2]]


@pytest.mark.parametrize("content", ["", "\n", " \r\n\n", "\ufeff"])
def test_empty_files(tmp_path: Path, read: Reader, content: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content.encode())
    for kind in ("ndx", "key", "scores"):
        with pytest.warns(BosarisWarning, match=r"a\.txt: there is no line .* cut off\?"):
            found = read(path, kind)
        assert found["modelset"].shape == found["segset"].shape == (0,)
        assert all(found[name].shape == (0, 0) for name in found if name in NAMES_OF_MASKS)
    with pytest.warns(BosarisWarning, match=r"a\.txt: there is no line"):
        assert text.read("id_map", path)["leftids"].shape == (0,)
    with pytest.raises(FileFormatError, match="empty; the first line must be the number"):
        text.read("segment_quality", path)


def test_numbers_of_any_form(tmp_path: Path) -> None:
    forms = [
        "1",
        "-.5",
        "5.",
        "1E3",
        "1e-400",
        "-Infinity",
        "nan",
        "NaN",
        "-inf",
        "Inf",
        "infinity",
    ]
    forms += ["0.1", "123456789012345678901234567890", "-0.0", "4.9e-324", "0" * 80 + "7.25"]
    lines = [f"m s{i:02d} {form}\n" for i, form in enumerate(forms)]
    (tmp_path / "a.txt").write_text("".join(lines))
    found = text.read("scores", tmp_path / "a.txt")["scoremat"][0].tolist()
    assert [str(value) for value in found] == [str(float(form)) for form in forms]


def test_long_names_are_not_cut(tmp_path: Path) -> None:
    names = ["a" * 5000, "a" * 5000 + "b", "c" * 255, "c" * 256, "c" * 257, "語" * 200, "d"]
    (tmp_path / "a.txt").write_text("".join(f"{name} s\n" for name in names * 2))
    found = text.read("ndx", tmp_path / "a.txt")
    assert found["modelset"].tolist() == sorted(names)
    assert found["trialmask"].all()


def test_names_are_compared_whole(tmp_path: Path) -> None:
    # A port that searched for the name inside the others gave m10 the trials of m1.
    (tmp_path / "a.txt").write_text("m1 s1 target\nm10 s2 nontarget\nm10 s10 target\n")
    found = text.read("key", tmp_path / "a.txt")
    assert found["modelset"].tolist() == ["m1", "m10"]
    assert found["segset"].tolist() == ["s1", "s10", "s2"]
    assert found["tar"].tolist() == [[True, False, False], [False, True, False]]
    assert found["non"].tolist() == [[False, False, False], [False, False, True]]


def test_identical_repetitions_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("m1 s1 nan\nm1 s2 0.5\nm1 s2 5e-1\nm1 s1 NaN\n")
    found = text.read("scores", path)["scoremat"]
    assert math.isnan(found[0, 0])
    assert found[0, 1] == 0.5
    path.write_text("m1 s1 target\nm1 s1 Target\n")
    assert text.read("key", path)["tar"].tolist() == [[True]]
    path.write_text("m1 s1\nm1 s1\n")
    assert text.read("ndx", path)["trialmask"].tolist() == [[True]]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("a x 1e-09\nb y inf\n", r"a\.txt:1: the label .* found '1e-09'; are these scores"),
        ("a x target\na y impostor\nb y no\n", r"a\.txt:2: the label .* found 'impostor'"),
    ],
)
def test_the_first_bad_label_is_named(tmp_path: Path, lines: str, message: str) -> None:
    (tmp_path / "a.txt").write_text(lines)
    with pytest.raises(FileFormatError, match=message):
        text.read("key", tmp_path / "a.txt")


def test_labels_in_any_case_of_letters(tmp_path: Path) -> None:
    # All 64 spellings of target and 512 of nontarget.
    labels = [
        "".join(letters)
        for label in ("target", "nontarget")
        for letters in itertools.product(*((c, c.upper()) for c in label))
    ]
    lines = [f"m s{number:03d} {label}\n" for number, label in enumerate(labels)]
    (tmp_path / "a.txt").write_text("".join(lines))
    found = text.read("key", tmp_path / "a.txt")
    assert found["tar"][0].tolist() == [True] * 64 + [False] * 512
    assert (found["tar"] ^ found["non"]).all()


def test_pairs_are_kept_in_order_with_repetitions(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("b 2\na 1\nb 2\nc 2\n")
    found = text.read("id_map", tmp_path / "a.txt")
    assert found["leftids"].tolist() == ["b", "a", "b", "c"]
    assert found["rightids"].tolist() == ["2", "1", "2", "2"]


def test_segment_quality_without_measures_or_segments(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for count, names in [(0, ["a", "b"]), (3, []), (0, []), (4, ["x"])]:
        arrays = {"ids": np.array(names, dtype=np.str_), "values": np.ones((count, len(names)))}
        text.write("segment_quality", path, **arrays)
        found = text.read("segment_quality", path)
        assert found["ids"].tolist() == names
        assert found["values"].shape == (count, len(names))


BAD_LINES = [
    ("ndx", "m1 s1\nm2\n", r"a\.txt:2: expected 2 columns \(model segment\), found 1 .*: 'm2'"),
    ("ndx", "m1 s1 0.5\n", r":1: expected 2 columns \(model segment\), found 3 columns"),
    ("key", "m1 s1 target\n\n\nm1 s2\n", r":4: expected 3 columns \(model segment target\|non"),
    ("scores", "m1 s1 1\nm2 s2\nm3 s3 3 3\n", r":2: .*\(model segment score\), found 2 columns"),
    # Six tokens in two lines, but not three in each.
    ("scores", "m1 s1\n1 m2 s2 2\n", r":1: expected 3 columns .*found 2"),
    ("scores", "m1 s1 1 m2\ns2 2\n", r":1: expected 3 columns .*found 4"),
    ("scores", "m1 s1 1\n" * 9 + "m " * 90 + "\n", r":10: .*found 90 columns: '(m )*m \.\.\.'"),
    ("scores", "m1 s1 1\rm2 s2 2\r", r":1: .*found 6 columns.*carriage returns alone"),
    ("id_map", "a\n", r":1: expected 2 columns \(left right\), found 1 column: 'a'"),
    ("scores", "m1 s1 1\nm2 s2 1,5\n", r":2: '1,5' is not a number; write the decimal point as"),
    ("scores", "\nm1 s1 1_000\n", r":2: '1_000' is not a number"),
    ("scores", "m1 s1 target\n", r":1: 'target' is not a number; is this a Key\?"),
    ("scores", "m1 s1 -\n", r":1: '-' is not a number"),
    ("scores", "m1 s1 inf\nm2 s1 1e400\n", r":2: '1e400' is out of the range"),
    ("scores", f"m1 s1 -1e400\nm2 s1 {'1' * 400}\n", r":1: '-1e400' is out of the range"),
    ("segment_quality", "1\na 1\nb -1e999\n", r":3: '-1e999' is out of the range"),
    ("ndx", "m1 s1\nm1 s\u00a02\n".encode(), r":2: the id 's\\xa02' holds a blank"),
    ("ndx", "m1 s1\nm\u30001 s2\n".encode(), r":2: the id 'm\\u30001' holds a blank"),
    ("id_map", "a b\n\ufeffa c\n".encode(), r":2: the id '\\ufeffa' starts with a byte order"),
    ("scores", "m1 s1 0x10\n", r":1: '0x10' is not a number"),
    ("scores", "m1 s1 1\nm2 s1 1.5-2\n", r":2: '1\.5-2' is not a number"),
    ("scores", "m s " + "1" * 100 + "x\n", r":1: '1+\.\.\.' is not a number"),
    ("key", "m1 s1 target\nm1 s2 imposter\n", r":2: the label must be target or nontarget, found"),
    ("key", "m1 s1 target\n\nm1 s2 1\n", r":3: .*found '1'; are these scores\?"),
    ("key", "m1 s1 target\nm2 s1 target\n\nm1 s1 nontarget\n", r":4: trial m1 s1 is nontarget her"),
    ("key", "m1 s1 target\nm1 s1 nontarget\n", r"is nontarget here and target in line 1"),
    ("scores", "m1 s1 1\nm2 s1 1\nm1 s1 2\n", r":3: trial m1 s1 is 2\.0 here and 1\.0 in line 1"),
    ("scores", "m1 s1 1\nm1 s1 1\nm1 s1 nan\n", r":3: trial m1 s1 is nan here and 1\.0 in line"),
    ("ndx", "m1 s1\nm1 s\xe9\n".encode("latin-1"), r":2: the id 's.' is not in UTF-8"),
    ("ndx", b"m1 s1\nm1\0 s1\n", r":2: holds the control character 0x00; this is no text file"),
    ("ndx", b"\x1b[0m m1\n", r":1: holds the control character 0x1b"),
    ("ndx", "m1 s1\n".encode("utf-16"), "the text is in UTF-16; save it in UTF-8"),
    ("ndx", b"\x1f\x8b\x08\x00", r"this is a gzip file; let its name end in \.gz"),
    ("segment_quality", "two\na 1 2\n", r":1: the first line must be the number of measures, fo"),
    ("segment_quality", "\n\na 1 2\n", r":3: the first line must be the number of measures, found"),
    ("segment_quality", "-1\n", r":1: the first line must be the number of measures"),
    ("segment_quality", "9999999999\n", r":1: the first line must be the number of measures"),
    ("segment_quality", "\n2\na 1 2\nb 1\n", r":4: expected 3 columns \(id measure1 measure2\), f"),
    ("segment_quality", "9\na 1\n", r":2: expected 10 columns \(id .*measure3 \.\.\.\), found 2"),
    ("segment_quality", "1\na 1\nb x\n", r":3: 'x' is not a number"),
    ("segment_quality", "1\na 1\nb 1\n\na 1\n", r":5: the id 'a' was already in line 2"),
]


@pytest.mark.parametrize("block", [2**21, 16])
@pytest.mark.parametrize(("kind", "content", "message"), BAD_LINES)
def test_bad_lines(
    tmp_path: Path,
    read: Reader,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    content: str | bytes,
    message: str,
    block: int,
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    monkeypatch.setattr(tokens, "_BLOCK_BYTES", block)
    with pytest.raises(FileFormatError, match=message) as caught:
        read(path, kind)
    assert str(path) in str(caught.value)


def test_a_file_without_line_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_LONGEST_LINE", 1000)
    monkeypatch.setattr(tokens, "_BLOCK_BYTES", 64)
    (tmp_path / "a.txt").write_text("m1 s1\n" + "x" * 2000)
    with pytest.raises(FileFormatError, match=r":2: a line of more than 1000 bytes"):
        text.read("ndx", tmp_path / "a.txt")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        text.read("scores", tmp_path / "none.txt")
    assert not isinstance(caught.value, FileFormatError)


def test_hopeless_matrix_is_refused(tmp_path: Path) -> None:
    # One-to-one lists: 10^5 trials of 10^5 models and segments. 9 bytes for each cell.
    count = 10**5
    (tmp_path / "a.txt").write_text("".join(f"m{i} s{i} 0.5\n" for i in range(count)))
    message = "matrix of 100000 models x 100000 segments for 100000 trials needs 90 GB of memory"
    with pytest.raises(FileFormatError, match=message):
        text.read("scores", tmp_path / "a.txt", max_bytes=10**9)
    (tmp_path / "a.txt").write_text("".join(f"m{i} s{i} 0.5\n" for i in range(10)))
    with pytest.raises(FileFormatError, match="needs 900 bytes"):
        text.read("scores", tmp_path / "a.txt", max_bytes=3500)


def test_progress_bar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("m1 s1\n")
    text.read("ndx", tmp_path / "a.txt")
    assert capsys.readouterr().err == ""
    text.read("ndx", tmp_path / "a.txt", progress=True)
    assert "a.txt: 100%" in capsys.readouterr().err


def naive_lines(content: str) -> list[list[str]]:
    """The columns of all lines that are not blank, by Python's own means."""
    return [line.split() for line in content.split("\n") if line.split()]


WORDS = st.text(st.sampled_from("ab1_-é語/."), min_size=1, max_size=12) | st.sampled_from(
    ["m" * 30, "seg" * 100, "x"]
)
BLANKS = st.text(st.sampled_from(" \t\r"), min_size=1, max_size=3)


@pytest.mark.filterwarnings("ignore:.*the last line has no end")
@pytest.mark.filterwarnings("ignore:.*there is no line")
@settings(max_examples=5 * settings.default.max_examples)
@given(data=st.data(), block=st.sampled_from([8, 50, 2**21]))
def test_any_ndx_is_read_as_by_a_naive_reader(
    data: st.DataObject, block: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    words = data.draw(st.lists(WORDS, min_size=1, max_size=5))
    lines = data.draw(
        st.lists(
            st.one_of(
                st.tuples(
                    st.one_of(st.just(""), BLANKS),
                    st.sampled_from(words),
                    BLANKS,
                    st.sampled_from(words),
                    st.one_of(st.just(""), BLANKS),
                ).map("".join),
                st.just(""),
            ),
            max_size=12,
        )
    )
    content = "\n".join(lines)
    path = tmp_path_factory.getbasetemp() / "naive.txt"
    path.write_bytes(content.encode())
    pairs = naive_lines(content)
    models = sorted({pair[0] for pair in pairs})
    segments = sorted({pair[1] for pair in pairs})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_BLOCK_BYTES", block)
        found = text.read("ndx", path)
        id_map = text.read("id_map", path)
    assert found["modelset"].tolist() == models
    assert found["segset"].tolist() == segments
    cells = {(models[i], segments[j]) for i, j in np.argwhere(found["trialmask"])}
    assert cells == {tuple(pair) for pair in pairs}
    assert [list(pair) for pair in zip(*id_map.values(), strict=True)] == pairs


FLOATS = st.floats(allow_nan=False)


@pytest.mark.filterwarnings("ignore:.*there is no line")
@given(
    values=st.lists(st.tuples(FLOATS, st.booleans()), min_size=1, max_size=12),
    dtype=st.sampled_from(["f4", "f8"]),
)
def test_scores_read_back_to_the_bit(
    values: list[tuple[float, bool]], dtype: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "scores.txt"
    with np.errstate(over="ignore"):
        scores = np.array([[value for value, _ in values]]).astype(dtype)
    mask = np.array([[valid for _, valid in values]])
    segments = [f"s{i:02d}" for i in range(len(values))]
    arrays = arrays_of(scoremat=scores, modelset=["m"], segset=segments, scoremask=mask)
    text.write("scores", path, **arrays)
    found = text.read("scores", path)
    assert found["segset"].tolist() == np.array(segments)[mask[0]].tolist()
    expected = scores[mask].astype(np.float64)
    assert found["scoremat"].ravel().view("u8").tolist() == expected.view("u8").tolist()


def test_shortest_text_and_infinities(tmp_path: Path) -> None:
    scores = [[0.1, 1 / 3, -np.inf, np.inf, 1e300, -0.0, 2.0]]
    segments = list("abcdefg")
    mask = np.ones((1, 7), dtype=bool)
    arrays = arrays_of(scoremat=scores, modelset=["m"], segset=segments, scoremask=mask)
    text.write("scores", tmp_path / "a.txt", **arrays)
    written = (tmp_path / "a.txt").read_text().split()[2::3]
    assert written == ["0.1", "0.3333333333333333", "-inf", "inf", "1e+300", "-0.0", "2.0"]


def test_nan_is_written_only_where_it_does_not_count(tmp_path: Path) -> None:
    scores = np.array([[np.nan, 1.0], [2.0, np.nan]])
    ids = arrays_of(modelset=["m1", "m2"], segset=["s1", "s2"])
    text.write("scores", tmp_path / "a.txt", scoremat=scores, **ids, scoremask=np.isfinite(scores))
    assert (tmp_path / "a.txt").read_text() == "m2 s1 2.0\nm1 s2 1.0\n"
    message = r"NaN for 2 of 4 trials: \(m1, s1\), \(m2, s2\)"
    everything = np.ones((2, 2), dtype=bool)
    with pytest.raises(InvalidInputError, match=message):
        text.write("scores", tmp_path / "b.txt", scoremat=scores, **ids, scoremask=everything)
    with pytest.raises(InvalidInputError, match="`values` must not hold NaN"):
        text.write("segment_quality", tmp_path / "b.txt", ids=np.array(["a", "b"]), values=scores)
    assert not (tmp_path / "b.txt").exists()


@pytest.mark.parametrize(
    ("number_format", "line"),
    [("%.3e", "m s 1.500e+00\n"), ("%8.4f", "m s   1.5000\n"), ("%g", "m s 1.5\n")],
)
def test_number_formats(tmp_path: Path, number_format: str, line: str) -> None:
    arrays = arrays_of(scoremat=[[1.5]], modelset=["m"], segset=["s"], scoremask=[[True]])
    text.write("scores", tmp_path / "a.txt", **arrays, number_format=number_format)
    assert (tmp_path / "a.txt").read_text() == line
    assert text.read("scores", tmp_path / "a.txt")["scoremat"].tolist() == [[1.5]]


@pytest.mark.parametrize("number_format", ["%d%%", "f", "%s %s", "%", 3, "", "%.2f %%", ".3f"])
def test_bad_number_formats(tmp_path: Path, number_format: Any) -> None:
    arrays = arrays_of(scoremat=[[1.5]], modelset=["m"], segset=["s"], scoremask=[[True]])
    with pytest.raises(InvalidInputError, match="`number_format`"):
        text.write("scores", tmp_path / "a.txt", **arrays, number_format=number_format)
    assert not list(tmp_path.iterdir())


def test_columns_come_in_many_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_LINES_AT_ONCE", 5)
    mask = np.indices((3, 7)).sum(axis=0) % 3 != 1
    models, segments = [f"m{i}" for i in range(3)], [f"s{i}" for i in range(7)]
    scores = np.arange(21.0).reshape(3, 7)
    arrays = arrays_of(scoremat=scores, modelset=models, segset=segments, scoremask=mask)
    text.write("scores", tmp_path / "a.txt", **arrays)
    expected = "".join(
        f"m{i} s{j} {scores[i, j]}\n" for j in range(7) for i in range(3) if mask[i, j]
    )
    assert (tmp_path / "a.txt").read_text() == expected


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("ndx", {"modelset": ["a b", "c", "d"]}, r"words without blanks; got 1 others \('a b'\)"),
        ("ndx", {"modelset": ["", "c", "d"]}, "`modelset` must hold words without blanks"),
        ("ndx", {"modelset": ["a\u3000b", "c", "d"]}, r"save as \.h5 instead"),
        ("key", {"modelset": ["a\x07", "c", "d"]}, "`modelset`"),
        ("scores", {"modelset": ["\ufeffa", "c", "d"]}, "`modelset`"),
        ("scores", {"modelset": ["\ud800", "c", "d"]}, "cannot be encoded as UTF-8"),
        ("ndx", {"trialmask": np.ones((4, 3), dtype=bool)}, "Did you swap models and segments"),
        ("key", {"non": np.ones((3, 4), dtype=bool)}, "disjoint"),
        ("scores", {"scoremat": np.ones((4, 3))}, "`scoremat`"),
        ("scores", {"scoremask": np.ones((3, 4))}, "must be boolean"),
        ("segment_quality", {"ids": ["a"]}, "`values`"),
        ("id_map", {"leftids": ["a"]}, r"`rightids` must have shape \(1,\) like `leftids`"),
        ("id_map", {"leftids": ["a", "b c", "d"]}, "`leftids`"),
    ],
)
def test_bad_objects_leave_no_file(
    tmp_path: Path,
    contents: dict[str, Arrays],
    write: Writer,
    kind: str,
    change: dict[str, Any],
    message: str,
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        write(tmp_path / "a.txt", kind, contents[kind] | arrays_of(**change))
    assert not list(tmp_path.iterdir())


def test_fault_while_writing_leaves_the_old_file(
    tmp_path: Path, contents: dict[str, Arrays], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old\n")
    monkeypatch.setattr(text, "_LINES_AT_ONCE", 1)
    written = []

    def fail(value: float) -> str:
        if len(written) == 5:
            raise KeyboardInterrupt
        written.append(value)
        return str(value)

    monkeypatch.setattr(text, "formatter", lambda _: fail)
    with pytest.raises(KeyboardInterrupt):
        text.write("scores", path, **contents["scores"])
    assert path.read_text() == "old\n"
    assert list(tmp_path.iterdir()) == [path]
