"""What is written as text, and the toolkit's own text files, against what it wrote and read."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import BosarisWarning, FileFormatError, InvalidInputError
from bosaris_py.files.columns import Factor, Table
from bosaris_py.files.text import read_table
from bosaris_py.files.writing import write_table
from bosaris_py.trials import IdMap, Key, Ndx, Scores, SegmentQuality

Arrays = dict[str, np.ndarray]

CLASSES = {
    **{"ndx": Ndx, "key": Key, "scores": Scores},
    **{"segment_quality": SegmentQuality, "id_map": IdMap},
}
NAMES_OF_MASKS = ("trialmask", "tar", "non", "scoremask")
# What the toolkit writes numbers with.
FORMS = {kind: {"number_format": "%f"} for kind in ("scores", "segment_quality")}


def read_file(kind: str, path: Path) -> Any:
    return CLASSES[kind].read_txt(path)


def toolkit_case(kind: str, part: str, oracle: Path) -> list[dict[str, Any]]:
    """The cases of text_io.json for one class."""
    cases = json.loads((oracle / "text_io.json").read_text())[part]
    name = CLASSES[kind].__name__.replace("SegmentQ", "Seg_Q").replace("IdMap", "Id_Map")
    return [case for case in cases if case["class"] == name]


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


@pytest.mark.parametrize("kind", CLASSES)
def test_written_text_is_that_of_the_toolkit(kind: str, oracle: Path, tmp_path: Path) -> None:
    cases, path = toolkit_case(kind, "written", oracle), tmp_path / "a.txt"
    assert cases
    for case in cases:
        CLASSES[kind](**to_arrays(case["obj"])).save_txt(path, **FORMS.get(kind, {}))
        assert path.read_bytes() == case["text"].encode()


@pytest.mark.filterwarnings("ignore:.*the last line has no end")
@pytest.mark.parametrize("kind", CLASSES)
def test_text_is_read_like_the_toolkit_does(kind: str, oracle: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    cases = toolkit_case(kind, "read", oracle)
    assert cases
    for case in cases:
        path.write_bytes(case["text"].encode())
        if "imposter" in case["text"]:
            # Documented difference: the toolkit takes any other label as non-target.
            with pytest.raises(FileFormatError, match=r"a\.txt:4: "):
                read_file(kind, path)
            path.write_text(case["text"].replace("imposter", "nontarget"))
        elif "m1 s1 target\nm1 s1 nontarget" in case["text"] or "m1 s1 2" in case["text"]:
            # Documented difference: the toolkit takes the last of repeated trials.
            with pytest.raises(FileFormatError, match=r"a\.txt:2: trial m1 s1 is "):
                read_file(kind, path)
            continue
        expected = to_arrays(case["obj"])
        if kind == "segment_quality":
            expected["values"] = expected["values"].reshape(-1, expected["ids"].size)
        assert read_file(kind, path) == CLASSES[kind](**expected)


@pytest.mark.parametrize("kind", CLASSES)
def test_samples(kind: str, oracle: Path, tmp_path: Path) -> None:
    """Reading and writing a file of the toolkit gives the same lines, sorted by its ids."""
    samples, name = oracle / "samples", f"{kind.replace('segment', 'seg')}.txt"
    path = samples / name
    found = CLASSES[kind].read_txt(path)
    found.save_txt(tmp_path / "a.txt", **FORMS.get(kind, {}))
    written = (tmp_path / "a.txt").read_text().splitlines()
    assert sorted(written) == sorted(path.read_text().splitlines())
    assert not any(array.flags.writeable for array in found._stored("mat")[1].values())


@pytest.mark.parametrize("content", ["", "\n", " \r\n\n", "\ufeff"])
def test_empty_files(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content.encode())
    for kind in ("key", "scores"):
        with pytest.warns(BosarisWarning, match=r"a\.txt: there is no line .* cut off\?"):
            assert read_file(kind, path).to_ndx() == Ndx([], [])
    with pytest.warns(BosarisWarning, match=r"a\.txt: there is no line"):
        assert IdMap.read(path).leftids.shape == (0,)
    with pytest.raises(FileFormatError, match="the first line must be the number"):
        read_file("segment_quality", path)


def test_identical_repetitions_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("m1 s1 nan\nm1 s2 0.5\nm1 s2 5e-1\nm1 s1 NaN\n")
    np.testing.assert_array_equal(read_file("scores", path).scoremat, [[np.nan, 0.5]])
    for kind, line in (("key", "m1 s1 target\n"), ("ndx", "m1 s1\n")):
        path.write_text(2 * line)
        assert read_file(kind, path).n_trials == 1


def test_segment_quality_without_measures_or_segments(tmp_path: Path) -> None:
    for count, names in [(0, ["a", "b"]), (3, []), (0, []), (4, ["x"])]:
        item = SegmentQuality(names, np.ones((count, len(names))))
        item.save(tmp_path / "a.txt")
        assert SegmentQuality.read(tmp_path / "a.txt") == item


BAD_LINES = [
    ("ndx", "m1 s1 0.5\n", 1),
    ("key", "m1 s1 target\n\n\nm1 s2\n", 4),
    ("scores", "\nm1 s1 target\n", 2),
    ("id_map", "a\n", 1),
    ("segment_quality", "two\na 1 2\n", 1),
    ("segment_quality", "-1\n", 1),
    ("segment_quality", "9999999999\n", 1),
    ("segment_quality", "\n2\na 1 2\nb 1\n", 4),
    ("segment_quality", "1\na 1\nb x\n", 3),
]


@pytest.mark.parametrize(("kind", "content", "line"), BAD_LINES)
def test_bad_lines(tmp_path: Path, kind: str, content: str, line: int) -> None:
    path = tmp_path / "a.txt"
    path.write_text(content)
    with pytest.raises(FileFormatError) as caught:
        read_file(kind, path)
    assert str(caught.value).startswith(f"{path}:{line}: ")


def test_pairs_with_start_and_stop(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("m1 s1 None None\nm2 s2 5 10\n")
    with pytest.warns(BosarisWarning, match="start and stop of the segments are left out"):
        found = IdMap.read(tmp_path / "a.txt")
    assert found.rightids.tolist() == ["s1", "s2"]
    (tmp_path / "a.txt").write_text("m1 s1 -1 -1\nm2 s2 -1 -1\n")
    assert IdMap.read(tmp_path / "a.txt").rightids.tolist() == ["s1", "s2"]
    (tmp_path / "a.txt").write_text("m1 s1 0 200\nm2 s2\n")
    with pytest.raises(FileFormatError, match="expected 4 columns"):
        IdMap.read(tmp_path / "a.txt")
    # A model with several segments is written so.
    folder = Path(__file__).parents[1] / "reference" / "cases" / "matlab" / "sidekit"
    for name in ("im.h5", "im.txt"):
        with pytest.warns(BosarisWarning) as caught:
            assert IdMap.read(folder / name).leftids.tolist() == ["S1", "S1", "S2"]
        assert any("start and stop" in str(each.message) for each in caught)


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda ids: Ndx(ids, ["s"]), ("a b", "", "a\u3000b")),
        (lambda ids: Key.from_speakers(ids, ["p", "q"]), ["a\x07"]),
        (lambda ids: Scores(np.ones((2, 1)), ids, ["s"]), ("\ufeffa", "\ud800")),
        (lambda ids: IdMap(ids, ["s", "t"]), ["b c"]),
    ],
)
def test_bad_ids_leave_no_file(tmp_path, make, names):
    for name in names:
        with pytest.raises(InvalidInputError):
            make([name, "c"]).save_txt(tmp_path / "a.txt")
    assert not list(tmp_path.iterdir())


IDS = st.text("abc\u00e9_-/.0", min_size=1, max_size=30)


@given(
    trials=st.lists(
        st.tuples(IDS, IDS, st.booleans(), st.floats(allow_nan=False)), min_size=1, max_size=50
    ),
    format=st.sampled_from(["wespeaker-scores", "speechbrain-scores", "csv"]),
)
def test_any_ids_and_numbers_are_read_back(trials, format, tmp_path_factory):
    models, segments, is_target, scores = zip(*trials, strict=True)
    ids = Factor.from_values(list(models)), Factor.from_values(list(segments))
    table = Table(*ids, np.array(is_target), np.array(scores))
    path = tmp_path_factory.mktemp("written") / "a.txt"
    write_table(path, table, format)
    back = read_table(path, format)
    assert back.models == table.models
    assert back.segments == table.segments
    np.testing.assert_array_equal(back.is_target, table.is_target)
    np.testing.assert_array_equal(back.scores, table.scores)


def table_of(**changes: Any) -> Table:
    fields: dict[str, Any] = {"is_target": [True, False], "scores": [1.5, -2.0], **changes}
    ids = fields.pop("models", ["m1", "m1"]), ["s1", "s2"]
    fields |= {n: np.asarray(fields[n]) for n in ("is_target", "scores") if fields[n] is not None}
    return Table(*map(Factor.from_values, ids), **fields)


def words(*texts: str) -> dict[str, Factor]:
    return {texts[0]: Factor.from_values(texts[1:])}


BAD: list[tuple[str, Table, dict[str, Any]]] = [
    ("kaldi-scores", table_of(scores=None), {}),
    ("asvspoof2019-cm-scores", table_of(), {}),
    ("asvspoof5-cm-key", table_of(is_target=None), {}),
    ("voxceleb-scores", table_of(scores=[1.0, float("nan")]), {}),
    ("kaldi-scores", table_of(), {"number_format": "%d %d"}),
    ("kaldi-scores", table_of(), {"number_format": "%d"}),
    ("sre", table_of(), {}),
    ("nist", table_of(columns=words("", "u", "v")), {}),
    ("kaldi-scores", table_of(models=["m 1", "m"]), {}),
    ("hyperion", table_of(models=["m,1", "m"]), {}),
    ("bob-4", table_of(columns=words("real", "m1", "m1")), {}),
]


@pytest.mark.parametrize(("format", "table", "options"), BAD)
def test_nothing_is_written(format, table, options, tmp_path):
    with pytest.raises(InvalidInputError):
        write_table(tmp_path / "a.txt", table, format, **options)
    assert not list(tmp_path.iterdir())


def test_sides_are_written_where_a_format_does_not_know_them(tmp_path: Path) -> None:
    sides = Factor.from_values(["a", "b"])
    columns = {"cm-score": np.ones(2), "asv-score": np.ones(2), "side": sides}
    table = table_of(is_target=None, columns=columns)
    write_table(tmp_path / "a.tsv", table, "asvspoof5-sasv-scores")
    assert read_table(tmp_path / "a.tsv").columns["side"] == sides


def test_extra_columns_may_be_called_like_what_a_format_has(tmp_path: Path) -> None:
    extra = {name: Factor.from_values(["u", "v"]) for name in ("label", "model", "score", "side")}
    table = table_of(columns=extra)
    write_table(tmp_path / "a.tsv", table, "nist")
    assert (tmp_path / "a.tsv").read_text().splitlines()[0].split("\t") == [
        *("modelid", "segmentid", "side", "targettype", "LLR", "label", "model", "score")
    ]
    back = read_table(tmp_path / "a.tsv")
    assert {name: back.columns[name] for name in extra} == extra


def test_labels_of_three_classes_are_kept_where_a_format_has_two(tmp_path: Path) -> None:
    labels = Factor.from_values(["target", "spoof"])
    table = table_of(columns={"label": labels})
    write_table(tmp_path / "a.tsv", table, "nist")
    back = read_table(tmp_path / "a.tsv")
    assert back.columns == table.columns
    assert back.is_target.tolist() == [True, False]
