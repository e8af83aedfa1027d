"""HDF5 files of lists of trials: the documented layout, nothing lost, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bosaris_py.errors import DuplicateTrialWarning, FileFormatError
from bosaris_py.storage import hdf5
from bosaris_py.trials import FlatKey, FlatNdx, FlatScores, Key, Ndx, Scores

Arrays = dict[str, np.ndarray]

IDS = {"modelset": np.array(["m1", "m2"]), "segset": np.array(["s1", "s2", "s3"])}
TRIALS = {
    "models": np.array([0, 1, 1], dtype=np.int32),
    "segments": np.array([0, 0, 2], dtype=np.int32),
}
KEY = FlatKey(**IDS, **TRIALS, is_target=[True, False, True])
SCORES = FlatScores(np.array([1.5, -2.0, np.inf], np.float32), **IDS, **TRIALS)
NDX = FlatNdx(**IDS, **TRIALS)
OBJECTS = {"flat_ndx": NDX, "flat_key": KEY, "flat_scores": SCORES}
CLASSES = {kind: type(item) for kind, item in OBJECTS.items()}


@st.composite
def lists(draw: st.DrawFn) -> tuple[str, Arrays]:
    """Any list of trials as arrays, in any order; all characters that a file can store."""
    text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9)
    ids = [np.array(draw(st.lists(text, min_size=1, max_size=5)), np.str_) for _ in range(2)]
    count = draw(st.integers(0, 8))
    columns = [
        draw(hnp.arrays(np.int32, count, elements=st.integers(0, each.size - 1))) for each in ids
    ]
    arrays = dict(zip(("modelset", "segset", "models", "segments"), (*ids, *columns), strict=True))
    kind = draw(st.sampled_from(sorted(OBJECTS)))
    if kind == "flat_key":
        arrays["is_target"] = draw(hnp.arrays(np.bool_, count))
    elif kind == "flat_scores":
        width = draw(st.sampled_from([32, 64]))
        arrays["scores"] = draw(
            hnp.arrays(f"f{width // 8}", count, elements=st.floats(width=width))
        )
    return kind, arrays


@given(drawn=lists())
def test_everything_comes_back(
    drawn: tuple[str, Arrays],
    assert_same: Callable[[Arrays, Arrays], None],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    kind, arrays = drawn
    path = tmp_path_factory.getbasetemp() / "flat.h5"
    hdf5.write(kind, path, **arrays)
    assert_same(hdf5.read(kind, path), arrays)


@pytest.mark.parametrize("item", OBJECTS.values(), ids=OBJECTS)
def test_objects_come_back(item: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    item.save(path)
    found = type(item).read(path)
    assert found == item
    first = path.read_bytes()
    found.save(path)
    assert path.read_bytes() == first
    # Arrays of a file need no copy.
    for name, array in found._arrays().items():
        assert not array.flags.writeable, name


def test_layout(tmp_path: Path) -> None:
    """The layout is that of the documentation."""
    expected = {
        "flat_ndx": {},
        "flat_key": {"trials/is_target": (np.dtype("u1"), [1, 0, 1])},
        "flat_scores": {"trials/scores": (np.dtype("f4"), [1.5, -2.0, np.inf])},
    }
    for kind, item in OBJECTS.items():
        path = tmp_path / f"{kind}.h5"
        item.save(path)
        with h5py.File(path) as file:
            names: list[str] = []
            file.visititems(
                lambda name, node, names=names: (
                    names.append(name) if isinstance(node, h5py.Dataset) else None
                )
            )
            wanted = {
                "trials/models": (np.dtype("i4"), [0, 1, 1]),
                "trials/segments": (np.dtype("i4"), [0, 0, 2]),
                **expected[kind],
            }
            assert set(names) == {"ID/row_ids", "ID/column_ids", *wanted}
            assert file["ID/row_ids"][()].tolist() == [b"m1", b"m2"]
            assert file["ID/column_ids"][()].tolist() == [b"s1", b"s2", b"s3"]
            for name, (dtype, values) in wanted.items():
                assert file[name].dtype == dtype
                assert file[name][()].tolist() == values
                is_scores = name == "trials/scores"
                assert file[name].compression == (None if is_scores else "gzip")
            attributes = {name: bytes(value).decode() for name, value in file.attrs.items()}
            assert attributes["format"] == f"bosaris_py.{kind}"
            assert attributes["format_version"] == "1.0"
            assert attributes["created_by"].startswith("bosaris_py ")


def test_chunks_of_all_columns_hold_the_same_trials(tmp_path: Path) -> None:
    count = 200_000
    path = tmp_path / "a.h5"
    positions = np.zeros(count, dtype=np.int32), np.arange(count)
    segments = [f"{j:06}" for j in range(count)]
    FlatScores(np.zeros(count), ["m"], segments, *positions).save(path)
    with h5py.File(path) as file:
        assert {node.chunks for node in file["trials"].values()} == {(131_072,)}
    assert FlatScores.read(path).n_scores == count


Change = Callable[[Any], None]


def replace(name: str, data: object, **options: Any) -> Change:
    """Put another data set in the place of one."""

    def change(file: Any) -> None:
        del file[name]
        file.create_dataset(name, data=data, **options)

    return change


def remove(name: str) -> Change:
    def change(file: Any) -> None:
        del file[name]

    return change


def say(name: str, value: str) -> Change:
    """Change an attribute of the file."""

    def change(file: Any) -> None:
        file.attrs[name] = np.bytes_(value)

    return change


def all_of(*changes: Change) -> Change:
    """Make several changes."""

    def change(file: Any) -> None:
        for each in changes:
            each(file)

    return change


def huge(file: Any) -> None:
    del file["trials/models"]
    file["trials"].create_dataset("models", (2**40,), dtype="i4", chunks=(1024,))


def nameless(file: Any) -> None:
    for name in list(file.attrs):
        del file.attrs[name]


def soft_link(file: Any) -> None:
    file.move("trials/scores", "elsewhere")
    file["trials/scores"] = h5py.SoftLink("/elsewhere")


READABLE: dict[str, tuple[str, Change]] = {
    "any order": (
        "flat_scores",
        all_of(
            replace("trials/models", [1, 1, 0]),
            replace("trials/segments", [2, 0, 0]),
            replace("trials/scores", np.array([np.inf, -2.0, 1.5], "f4")),
        ),
    ),
    "other integers": (
        "flat_key",
        all_of(
            replace("trials/models", np.array([0, 1, 1], "u8")),
            replace("trials/segments", np.array([0, 0, 2], ">i2")),
            replace("trials/is_target", np.array([1, 0, 1], "i4")),
        ),
    ),
    "no attributes": ("flat_key", nameless),
    "more than is asked for": ("flat_ndx", lambda file: file.create_dataset("notes", data=b"x")),
    "newer minor version": ("flat_ndx", say("format_version", "1.7")),
    "ids of variable length": (
        "flat_ndx",
        replace("ID/row_ids", ["m1", "m2"], dtype=h5py.string_dtype()),
    ),
}


@pytest.mark.parametrize(("kind", "change"), READABLE.values(), ids=READABLE)
def test_files_that_others_may_write(kind: str, change: Change, tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    OBJECTS[kind].save(path)
    with h5py.File(path, "r+") as file:
        change(file)
    assert CLASSES[kind].read(path) == OBJECTS[kind]


REFUSED: dict[str, tuple[str, Change, str]] = {
    "no models": ("flat_scores", remove("trials/models"), "trials/models.*is missing|holds"),
    "no segments": ("flat_scores", remove("trials/segments"), "`/trials/segments`.* is missing"),
    "no scores": ("flat_scores", remove("trials/scores"), "expected FlatScores; .* FlatNdx"),
    "no labels": ("flat_key", remove("trials/is_target"), "expected FlatKey; .* FlatNdx"),
    "no ids": ("flat_key", remove("ID/row_ids"), "`/ID/row_ids`.* is missing"),
    "no segment ids": ("flat_key", remove("ID/column_ids"), "`/ID/column_ids`.* is missing"),
    "fewer scores": (
        "flat_scores",
        replace("trials/scores", [1.0, 2.0]),
        "`/trials/scores`.* has 2 elements; `/trials/models` has 3",
    ),
    "fewer segments": (
        "flat_ndx",
        replace("trials/segments", [1]),
        "`/trials/segments`.* has 1 elements; `/trials/models` has 3",
    ),
    "a matrix": (
        "flat_scores",
        replace("trials/scores", np.ones((3, 1))),
        r"must have one dimension; its shape is \(3, 1\)",
    ),
    "position too large": (
        "flat_ndx",
        replace("trials/models", [0, 1, 2]),
        "`models` must be positions in `modelset`, from 0 to 1; got 2 for item 2",
    ),
    "negative position": ("flat_ndx", replace("trials/segments", [0, -1, 2]), "got -1 for item 1"),
    "positions from 1": ("flat_ndx", replace("trials/segments", [1, 1, 3]), "from 0 to 2; got 3"),
    "positions that are no integers": (
        "flat_ndx",
        replace("trials/models", [0.0, 1.0, 1.0]),
        "`/trials/models` must hold whole numbers; it is of float type",
    ),
    "labels that are none": (
        "flat_key",
        replace("trials/is_target", np.array([1, 0, 2], "u1")),
        r"`/trials/is_target` must hold only 0 and 1; 1 of 3 values are others \(2\)",
    ),
    "labels as in matrices": (
        "flat_key",
        replace("trials/is_target", np.array([1, -1, 1], "i1")),
        "`/trials/is_target`.*-1",
    ),
    "different scores": (
        "flat_scores",
        all_of(replace("trials/models", [0, 0, 1]), replace("trials/segments", [0, 0, 2])),
        r"`scores` must be the same for a trial listed twice",
    ),
    "an id twice": ("flat_ndx", replace("ID/row_ids", [b"m1", b"m1"]), "`modelset`.* once"),
    "another kind by name": (
        "flat_ndx",
        say("format", "bosaris_py.flat_key"),
        r"FlatNdx; the file holds FlatKey. Read it with FlatKey.read and call to_ndx\(\)",
    ),
    "newer major version": ("flat_ndx", say("format_version", "2.0"), "2.0"),
    "soft link": ("flat_scores", soft_link, "soft link"),
    "too large": ("flat_ndx", huge, "claims"),
}


@pytest.mark.parametrize(("kind", "change", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_files_are_refused(kind: str, change: Change, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.h5"
    OBJECTS[kind].save(path)
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(FileFormatError, match=message) as caught:
        CLASSES[kind].read(path)
    assert "bad.h5" in str(caught.value)


def test_lines_again_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    NDX.save(path)
    with h5py.File(path, "r+") as file:
        replace("trials/models", [0, 1, 1, 0])(file)
        replace("trials/segments", [0, 0, 2, 0])(file)
    with pytest.warns(DuplicateTrialWarning, match=r"1 trial: \(m1, s1\)"):
        assert FlatNdx.read(path) == NDX


@pytest.mark.parametrize(
    ("dense", "flat"), [(Ndx, FlatNdx), (Key, FlatKey), (Scores, FlatScores)], ids=str
)
def test_the_other_form_is_named(dense: Any, flat: Any, tmp_path: Path) -> None:
    item = next(each for each in OBJECTS.values() if type(each) is flat)
    item.save(tmp_path / "flat.h5")
    item.to_dense().save(tmp_path / "dense.h5")
    with pytest.raises(FileFormatError, match=rf"holds {flat.__name__}. .*to_dense\(\)"):
        dense.read(tmp_path / "flat.h5")
    with pytest.raises(FileFormatError, match=rf"holds {dense.__name__}. .*to_flat\(\)"):
        flat.read(tmp_path / "dense.h5")


def test_limit_of_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    SCORES.save(path)
    with pytest.raises(FileFormatError, match="max_bytes"):
        FlatScores.read(path, max_bytes=20)
    assert FlatScores.read(path, max_bytes=10_000) == SCORES


@pytest.mark.slow
@pytest.mark.parametrize("kind", OBJECTS)
def test_damage_is_an_error_or_harmless(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    OBJECTS[kind].save(path)
    data = path.read_bytes()
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(300):
        changed = bytearray(data)
        for place in rng.integers(len(data), size=4):
            changed[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed[: rng.choice([len(data), rng.integers(len(data))], p=[0.8, 0.2])])
        try:
            arrays = hdf5.read(kind, path)
        except FileFormatError:
            refused += 1
            continue
        assert len({arrays[name].size for name in arrays if name[-3:] != "set"}) == 1
    assert refused > 60


def test_truncation_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    KEY.save(path)
    data = path.read_bytes()
    for length in [*range(0, len(data), 97), len(data) - 1]:
        path.write_bytes(data[:length])
        try:
            found = FlatKey.read(path)
        except FileFormatError:
            continue
        # Only padding was missing.
        assert found == KEY
