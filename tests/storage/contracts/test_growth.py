"""Small files do not take time out of proportion, print no raw text, and fail as documented."""

import json
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import matlab
from bosaris_py._validation import as_ids, safe
from bosaris_py.errors import BosarisError, FileFormatError, InvalidInputError
from bosaris_py.files.text import detect_format, read_table
from bosaris_py.storage.atomic import FileStamp
from tests.storage.contracts.test_hostile_files import in_child

HEAD = '{"format": "bosaris_py.parameters", "format_version": "1.0", "kind": "LinearCalibration",'


# Looked up here, because a child with little memory cannot import what it needs.
READ_MODEL = bp.LinearCalibration.read


def parameters(text: str) -> Callable[[Path], Any]:
    """Read a JSON file of a model with these parameters."""

    def read(path: Path) -> Any:
        path.write_text(f'{HEAD} "parameters": {text}}}')
        return READ_MODEL(path)

    return read


def table(text: str) -> Callable[[Path], Any]:
    """Read a text file as a table of comma-separated values."""

    def read(path: Path) -> Any:
        path.write_text(text)
        return len(read_table(path, format="csv"))

    return read


def nested_groups(path: Path) -> Any:
    """Read a file of groups inside groups."""
    with h5py.File(path, "w", libver="latest") as file:
        group = file.id
        for _ in range(3000):
            group = h5py.h5g.create(group, b"g")
    return bp.Scores.read_hdf5(path)


def many_chunks_of_strings(path: Path) -> Any:
    """Read strings of variable length, one to a chunk."""
    with h5py.File(path, "w") as file:
        for name in ("left_ids", "right_ids"):
            ids = [f"{name}{i}" for i in range(10_000)]
            file.create_dataset(name, data=ids, dtype=h5py.string_dtype(), chunks=(1,))
    return len(bp.IdMap.read_hdf5(path).leftids)


HEADER = "model,segment,score"
SLOW: dict[str, tuple[Callable[[Path], Any], str | int]] = {
    "lists in lists": (parameters('{"scale": ' + "[" * 900 + "]" * 900 + "}"), "too deep"),
    "65 lists in lists": (parameters('{"scale": ' + "[" * 65 + "]" * 65 + "}"), "too deep"),
    "lists in lists, deeper": (parameters('{"a": ' + "[" * 10**5 + "]" * 10**5 + "}"), "too deep"),
    "repeated name": (
        parameters("{" + "".join(f'"k{i}":1,' for i in range(60_000)) + '"k59999":2}'),
        '"k59999" occurs twice',
    ),
    "9000 columns": (
        table(f"{HEADER},{','.join(f'c{i}' for i in range(9_000))},c7\na,b,1\n"),
        "c7 more than once",
    ),
    "many columns": (table("a " * 10**7 + "\n"), "1: a first line of more than 262144 bytes"),
    "many fields": (table("a," * 10**7 + "\n"), "1: a first line of more than 262144 bytes"),
    "blanks": (table(f"{HEADER}\n" + "a,b,1\n" * 20_000 + f"a,{' ' * 10**6}c,2\n"), 20_001),
    "blank field": (table(f"{HEADER},x\n" + f"a,b,1,{' ' * 10**6}\n"), 1),
    "groups in groups": (nested_groups, "more than 32 groups"),
    "chunks of strings": (many_chunks_of_strings, 10_000),
}


@pytest.mark.parametrize("name", SLOW)
def test_time_grows_with_the_size(tmp_path: Path, name: str) -> None:
    read, expected = SLOW[name]
    # The child may take five seconds; each took twenty or more, or another error came.
    found = in_child(lambda: read(tmp_path / "a.json"))
    if isinstance(expected, int):
        assert found == expected
    else:
        assert isinstance(found, FileFormatError), found
        assert expected in str(found)


def test_endless_parameters() -> None:
    found = in_child(lambda: bp.storage.parameters.read_any_parameters("/dev/zero"))
    assert isinstance(found, FileFormatError)


def test_more_references_than_strings_fit(tmp_path: Path, write_mat73: Callable[..., None]) -> None:
    path, ids = tmp_path / "a.mat", ["a", "b"]
    write_mat73(path, "idmap", {"leftids": ids, "rightids": ids})
    header = path.read_bytes()[:512]
    with h5py.File(path, "r+") as file:
        one = file["idmap/leftids"][0, 0]
        for name in ("leftids", "rightids"):
            kind = file[f"idmap/{name}"].attrs["MATLAB_class"]
            del file[f"idmap/{name}"]
            made = file.create_dataset(
                f"idmap/{name}", (1, 50_000), h5py.ref_dtype, compression="gzip"
            )
            made[...] = np.full((1, 50_000), one, dtype=object)
            made.attrs["MATLAB_class"] = kind
    with path.open("rb+") as stream:
        stream.write(header)
    with pytest.raises(FileFormatError, match="more than the file can hold"):
        bp.IdMap.read(path)


# Ids


def old_hash(words: Any) -> Any:
    """The hash of earlier versions for ids of one word."""
    mixed = (words[0] ^ (words[0] >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)


def words_of(names: list[bytes]) -> Any:
    """Return the words of ids of the same length."""
    letters = np.array(names)
    width = -(-letters.itemsize // 8)
    return letters.astype(f"S{8 * width}").view(np.uint64).reshape(-1, width).T


def chosen_ids() -> dict[str, list[bytes]]:
    """Return lists of ids that share a slot by the old hash, or have a simple structure."""
    inverse = pow(0x9E3779B97F4A7C15, -1, 1 << 64)
    upper = np.uint64(7) << np.uint64(40)
    # Ids of eight bytes, found backwards from one upper part of the hash.
    lower = np.random.default_rng(1).integers(0, 1 << 40, 4_000_000, dtype=np.uint64)
    mixed = (upper | lower) * np.uint64(inverse)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(inverse)
    found = (mixed ^ (mixed >> np.uint64(32))).view("S8")
    letters = found.view(np.uint8).reshape(-1, 8)
    chosen = found[((letters > 32) & (letters < 127)).all(axis=1)].tolist()
    # Words whose halves add up to the same, and ids that differ in the upper bits of each word.
    paired = [b"%c%c%ca%c%c%ca" % (a, b, c, a, b, c) for a in range(97, 122)
              for b in range(97, 122) for c in range(97, 122)]  # fmt: skip
    nibbles = [
        b"".join(b"aaa%caaa%c" % (n, n) for n in (16 * (i // 5**k % 5) + 49 for k in range(6)))
        for i in range(5**6)
    ]
    return {"chosen for the old hash": chosen, "pairs": paired, "upper bits": nibbles}


# Messages

RAW = re.compile("[\x00-\x1f\x7f-\x9f\u202e\ud800-\udfff]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain é 語", "plain é 語"),
        ("\x1b[31mred\n", "\\x1b[31mred\\n"),
        ("m\x9b0\u202e\udcff", "m\\x9b0\\u202e\\udcff"),
        ("x" * 81, "x" * 77 + "..."),
        ("x" * 80, "x" * 80),
    ],
)
def test_safe(text: str, expected: str) -> None:
    assert safe(text) == expected


def link(path: Path, name: bytes) -> None:
    with h5py.File(path, "w") as file:
        file.id.links.create_soft(name, b"/x")


ID = "x\n2026 ERROR all lost \x1b[2J m\x9b0 \u202e"


@pytest.mark.parametrize(
    "call",
    [
        lambda path: (link(path, b"\x1b[31mred"), bp.Scores.read_hdf5(path)),
        lambda path: (link(path, b"\xff" * 60_000), bp.Scores.read_hdf5(path)),
        lambda path: (link(path, "n\u202e\n".encode()), bp.Scores.read_hdf5(path)),
        lambda path: bp.Ndx([ID, ID], ["a"], np.ones((2, 1), bool)),
        lambda path: bp.Ndx([ID + "y" * 10**6] * 2, ["a"], np.ones((2, 1), bool)),
        lambda path: bp.Key([ID], ["a"], [[True]], [[True]]),
        lambda path: (
            path.write_text(json.dumps({"format": "bosaris_py.parameters", "format_version": "1.0",
                                        "kind": ID * 10**5, "parameters": {}})),
            bp.LinearCalibration.read(path),
        ),
        lambda path: parameters(f'{{"{"y" * 10**6}": 1, "{"y" * 10**6}": 1}}')(path),
        lambda path: table("y" * 10**6 + "\x9b\n1\n")(path),
        lambda path: (path.write_bytes(b"a b\xc2\x9b 1 2 3\n"), bp.Scores.read_txt(path)),
        lambda path: as_ids(["\0" * 10**6], "modelset"),
        lambda path: bp.PLANS[ID * 1000],
    ],
)  # fmt: skip
def test_messages_are_short_and_printable(tmp_path: Path, call: Callable[[Path], Any]) -> None:
    with pytest.raises(BosarisError) as caught:
        call(tmp_path / "a.json")
    for text in (str(caught.value), str(pickle.loads(pickle.dumps(caught.value)))):
        assert len(text) <= 1000
        assert not RAW.search(text), ascii(text)


def test_reprs_are_printable() -> None:
    key = bp.Key([ID], ["a", "b"], [[True, False]], [[False, True]])
    metadata = bp.TrialMetadata(key, {ID: [ID, "b"]})
    for text in (repr(metadata), repr(bp.storage.Factor.from_values([ID, "b"]))):
        assert not RAW.search(text), ascii(text)


# Files that change


def scores_and_key(path: Path) -> tuple[Path, Path]:
    ids = [f"m{i}" for i in range(30)], [f"s{i}" for i in range(30)]
    values = np.random.default_rng(3).normal(size=(30, 30))
    bp.Scores(values, *ids).save(path / "s.h5")
    bp.Key(*ids, np.eye(30) > 0, np.eye(30) == 0).save(path / "k.h5")
    return path / "s.h5", path / "k.h5"


def overwrite(path: Path) -> None:
    """Write into a file in place, and set its time back."""
    before = path.stat()
    data = bytearray(path.read_bytes())
    data[-8:] = bytes(8)
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def test_a_change_that_sets_the_time_back_is_noticed(tmp_path: Path) -> None:
    scores, _ = scores_and_key(tmp_path)
    stamp = FileStamp.of(scores)
    stamp.check()
    overwrite(scores)
    with pytest.raises(FileFormatError, match="changed while it was being read"):
        stamp.check()


def test_a_file_put_in_the_place_of_another_is_noticed(tmp_path: Path) -> None:
    scores, _ = scores_and_key(tmp_path)
    stamp = FileStamp.of(scores)
    scores.rename(tmp_path / "old")
    (tmp_path / "new").write_bytes((tmp_path / "old").read_bytes())
    (tmp_path / "new").rename(scores)
    with pytest.raises(FileFormatError, match="changed while"):
        stamp.check()


@pytest.mark.parametrize("error", [IndexError("index 1013400256"), InvalidInputError("NaN")])
def test_whatever_a_change_makes_fail_is_the_documented_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    scores, key = scores_and_key(tmp_path)

    def count(*_: Any) -> None:
        overwrite(scores)
        raise error

    monkeypatch.setattr("bosaris_py.evaluation.streaming._count", count)
    with pytest.raises(FileFormatError, match="changed while it was being read"):
        bp.Results.from_files(scores, key)


# Arguments


@pytest.mark.parametrize("form", ["\n%f", "%f\t", "%f\u00a0", "1%f", "1_%f", "%f5e3", "%e5"])
def test_number_formats_that_cannot_be_read_back(tmp_path: Path, form: str) -> None:
    scores = bp.Scores([[2.5]], ["m"], ["s"])
    with pytest.raises(InvalidInputError, match="number_format"):
        scores.save(tmp_path / "a.txt", number_format=form)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("form", ["%f", "%.9g", "% f", "%12.4f", "%-12.4e", "%+r", "%s", "%.0f"])
def test_number_formats_that_can_be_read_back(tmp_path: Path, form: str) -> None:
    bp.Scores([[2.0]], ["m"], ["s"]).save(tmp_path / "a.txt", number_format=form)
    assert bp.Scores.read(tmp_path / "a.txt").scoremat.tolist() == [[2.0]]


@pytest.mark.parametrize("path", [None, 0, ["a.h5"], b"x.h5", "a\0.h5", 1.5])
@pytest.mark.parametrize(
    "call",
    [
        bp.Scores.read,
        bp.Scores.read_hdf5,
        bp.Scores.read_txt,
        bp.Scores.read_mat,
        bp.read_scores,
        bp.read_key,
        detect_format,
        bp.LinearCalibration.read,
        bp.Scores([[1.0]], ["m"], ["s"]).save,
        bp.Scores([[1.0]], ["m"], ["s"]).save_hdf5,
    ],
)
def test_what_is_no_path(call: Callable[[Any], Any], path: Any) -> None:
    with pytest.raises(InvalidInputError, match="`path` must"):
        call(path)


@pytest.mark.parametrize(
    "options",
    [
        {"columns": 5},
        {"columns": ["model", 5, "score"]},
        {"strip_suffix": 5},
        {"strip_suffix": b".wav"},
        {"missing": [None]},
        {"missing": "\ud800"},
    ],
)
def test_options_of_reading(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a b 1\n")
    ((name, _),) = options.items()
    with pytest.raises(InvalidInputError, match=f"`{name}` must"):
        bp.read_scores(path, **({"format": "kaldi-scores"} if name != "columns" else {}) | options)


def test_masks_of_rows_of_different_lengths() -> None:
    ragged = [[True], [True, False]]
    with pytest.raises(InvalidInputError, match="`scoremask` must be a regular array"):
        bp.Scores(np.ones((2, 2)), ["m", "n"], ["s", "t"], scoremask=ragged)
    with pytest.raises(InvalidInputError, match="`tar` must be a regular array"):
        bp.Key(["m", "n"], ["s", "t"], ragged, ragged)


def test_missing_ids_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InvalidInputError, match="is a value missing"):
        as_ids(["a", pandas.NA], "modelset")


def test_lists_of_the_toolkit(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfanna\r\nbert  carl\n")
    assert matlab.read_list(path) == ["anna", "bert", "carl"]
    path.write_bytes(b"anna\n\xff\n")
    with pytest.raises(FileFormatError, match="not in UTF-8"):
        matlab.read_list(path)
