"""The toolkit's own text files, against what the toolkit wrote and read."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bosaris_py.errors import BosarisWarning, FileFormatError, InvalidInputError
from bosaris_py.files import writing
from bosaris_py.trials import IdMap, Key, Ndx, Scores, SegmentQuality

Arrays = dict[str, np.ndarray]

SAMPLES = {
    "ndx.txt": "ndx",
    "key.txt": "key",
    "scores.txt": "scores",
    "seg_quality.txt": "segment_quality",
    "id_map.txt": "id_map",
}
NAMES_OF_MASKS = ("trialmask", "tar", "non", "scoremask")
CLASSES = {
    "ndx": Ndx,
    "key": Key,
    "scores": Scores,
    "segment_quality": SegmentQuality,
    "id_map": IdMap,
}


def read_file(kind: str, path: Path, **options: Any) -> Arrays:
    if kind == "id_map":
        return writing.read_toolkit(kind, path, **options)[0]
    return CLASSES[kind].read_txt(path, **options)._stored("mat")[1]


def write_file(kind: str, path: Path, number_format: str | None = None, **arrays: Any) -> None:
    if kind == "id_map":
        writing.write_toolkit(path, arrays)
    else:
        CLASSES[kind](**arrays).save_txt(path, number_format=number_format)


def assert_same(found: Arrays, expected: Arrays) -> None:
    assert set(found) == set(expected)
    for name, array in expected.items():
        assert found[name].dtype.kind == array.dtype.kind, name
        np.testing.assert_array_equal(found[name], array, strict=True)


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


@pytest.mark.parametrize("kind", SAMPLES.values())
def test_written_text_is_that_of_the_toolkit(kind: str, oracle: Path, tmp_path: Path) -> None:
    cases = toolkit_case(kind, "written", oracle)
    assert cases
    for case in cases:
        options = {"number_format": "%f"} if kind in ("scores", "segment_quality") else {}
        write_file(kind, tmp_path / "a.txt", **to_arrays(case["obj"]), **options)
        assert (tmp_path / "a.txt").read_bytes() == case["text"].encode()


@pytest.mark.filterwarnings("ignore:.*the last line has no end")
@pytest.mark.parametrize("kind", SAMPLES.values())
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
        if kind == "scores":
            # Documented difference: the toolkit fills with +Inf.
            expected["scoremat"] = np.where(expected["scoremask"], expected["scoremat"], 0.0)
        if kind == "segment_quality":
            expected["values"] = expected["values"].reshape(-1, expected["ids"].size)
        assert_same(read_file(kind, path), expected)


@pytest.mark.parametrize(("name", "kind"), SAMPLES.items())
def test_samples(name: str, kind: str, oracle: Path, tmp_path: Path) -> None:
    """Reading and writing a file of the toolkit gives the same lines, sorted by its ids."""
    samples = oracle / "samples"
    path = samples / name
    found = read_file(kind, path)
    assert not any(array.flags.writeable for array in found.values())
    options = {"number_format": "%f"} if kind in ("scores", "segment_quality") else {}
    write_file(kind, tmp_path / name, **found, **options)
    written = (tmp_path / name).read_text().splitlines()
    assert sorted(written) == sorted(path.read_text().splitlines())


@pytest.mark.parametrize("content", ["", "\n", " \r\n\n", "\ufeff"])
def test_empty_files(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content.encode())
    for kind in ("ndx", "key", "scores"):
        with pytest.warns(BosarisWarning, match=r"a\.txt: there is no line .* cut off\?"):
            found = read_file(kind, path)
        assert found["modelset"].shape == found["segset"].shape == (0,)
        assert all(found[name].shape == (0, 0) for name in found if name in NAMES_OF_MASKS)
    with pytest.warns(BosarisWarning, match=r"a\.txt: there is no line"):
        assert IdMap.read(path).leftids.shape == (0,)
    with pytest.raises(FileFormatError, match="the first line must be the number"):
        read_file("segment_quality", path)


def test_numbers_of_any_form(tmp_path: Path) -> None:
    text = "1 -.5 5. 1E3 1e-400 -Infinity nan NaN -inf Inf infinity 0.1 -0.0 4.9e-324 1234567890123"
    forms = [*text.split(), "0" * 80 + "7.25"]
    lines = [f"m s{i:02d} {form}\n" for i, form in enumerate(forms)]
    (tmp_path / "a.txt").write_text("".join(lines))
    found = read_file("scores", tmp_path / "a.txt")["scoremat"][0].tolist()
    assert [str(value) for value in found] == [str(float(form)) for form in forms]


def test_identical_repetitions_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("m1 s1 nan\nm1 s2 0.5\nm1 s2 5e-1\nm1 s1 NaN\n")
    found = read_file("scores", path)["scoremat"]
    assert math.isnan(found[0, 0])
    assert found[0, 1] == 0.5
    path.write_text("m1 s1 target\nm1 s1 Target\n")
    assert read_file("key", path)["tar"].tolist() == [[True]]
    path.write_text("m1 s1\nm1 s1\n")
    assert read_file("ndx", path)["trialmask"].tolist() == [[True]]


def test_segment_quality_without_measures_or_segments(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for count, names in [(0, ["a", "b"]), (3, []), (0, []), (4, ["x"])]:
        arrays = {"ids": np.array(names, dtype=np.str_), "values": np.ones((count, len(names)))}
        write_file("segment_quality", path, **arrays)
        found = read_file("segment_quality", path)
        assert found["ids"].tolist() == names
        assert found["values"].shape == (count, len(names))


BAD_LINES = [
    ("ndx", "m1 s1\nm2\n", 2),
    ("ndx", "m1 s1 0.5\n", 1),
    ("key", "m1 s1 target\n\n\nm1 s2\n", 4),
    ("scores", "m1 s1 1\nm2 s2\nm3 s3 3 3\n", 2),
    # Six tokens in two lines, but not three in each.
    ("scores", "m1 s1\n1 m2 s2 2\n", 1),
    ("scores", "m1 s1 1 m2\ns2 2\n", 1),
    ("id_map", "a\n", 1),
    ("scores", "\nm1 s1 target\n", 2),
    ("scores", "m1 s1 1\nm2 s1 1.5-2\n", 2),
    ("key", "m1 s1 target\nm1 s2 fake\n", 2),
    ("key", "m1 s1 target\n\nm1 s2 1\n", 3),
    ("key", "m1 s1 target\nm2 s1 target\n\nm1 s1 nontarget\n", 4),
    ("scores", "m1 s1 1\nm2 s1 1\nm1 s1 2\n", 3),
    ("scores", "m1 s1 1\nm1 s1 1\nm1 s1 nan\n", 3),
    ("segment_quality", "two\na 1 2\n", 1),
    ("segment_quality", "\n\na 1 2\n", 3),
    ("segment_quality", "-1\n", 1),
    ("segment_quality", "9999999999\n", 1),
    ("segment_quality", "\n2\na 1 2\nb 1\n", 4),
    ("segment_quality", "9\na 1\n", 2),
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
    (tmp_path / "a.txt").write_text("m1 s1 0 100\nm2 s2 5 10\n")
    with pytest.warns(BosarisWarning, match="start and stop of the segments are left out"):
        found = IdMap.read(tmp_path / "a.txt")
    assert found.rightids.tolist() == ["s1", "s2"]
    (tmp_path / "a.txt").write_text("m1 s1 -1 -1\nm2 s2 -1 -1\n")
    assert IdMap.read(tmp_path / "a.txt").rightids.tolist() == ["s1", "s2"]
    # A model with several segments is written so.
    folder = Path(__file__).parents[1] / "reference" / "cases" / "matlab" / "sidekit"
    for name in ("im.h5", "im.txt"):
        with pytest.warns(BosarisWarning) as caught:
            assert IdMap.read(folder / name).leftids.tolist() == ["S1", "S1", "S2"]
        assert any("start and stop" in str(each.message) for each in caught)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("ndx", {"modelset": ["a b", "c", "d"]}),
        ("ndx", {"modelset": ["", "c", "d"]}),
        ("ndx", {"modelset": ["a\u3000b", "c", "d"]}),
        ("key", {"modelset": ["a\x07", "c", "d"]}),
        ("scores", {"modelset": ["\ufeffa", "c", "d"]}),
        ("scores", {"modelset": ["\ud800", "c", "d"]}),
        ("key", {"non": np.ones((3, 4), dtype=bool)}),
        ("id_map", {"leftids": ["a", "b c", "d"]}),
    ],
)
def test_bad_objects_leave_no_file(tmp_path: Path, kind: str, change: dict[str, Any]) -> None:
    cells = np.ones((3, 4), bool)
    ids = {"modelset": list("abc"), "segset": list("defg")}
    good = {
        "ndx": {**ids, "trialmask": cells},
        "key": {**ids, "tar": cells, "non": ~cells},
        "scores": {**ids, "scoremat": np.ones((3, 4)), "scoremask": cells},
        "id_map": {"leftids": np.array(list("abc")), "rightids": np.array(list("def"))},
    }
    write_file(kind, tmp_path / "good.txt", **good[kind])
    with pytest.raises(InvalidInputError):
        write_file(kind, tmp_path / "a.txt", **(good[kind] | change))
    assert [path.name for path in tmp_path.iterdir()] == ["good.txt"]
