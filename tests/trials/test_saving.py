"""Reading and saving: every class in every format, the choice of the format, bad files."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bosaris_py._arrays import read_only
from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.trials import IdMap, Key, Ndx, QualityMeasures, Scores, SegmentQuality
from tests.strategies import id_maps, keys, ndxs, quality_measures, scores, segment_qualities

BINARY = [".h5", ".hdf5", ".mat", ".H5", ".Mat"]
TEXT = [".txt", ".TXT"]


def save_and_read(item: Any, extension: str) -> Any:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"a.b{extension}"
        item.save(path)
        again = type(item).read(path)
    # Objects are made of what the readers return, without a further look at matrices.
    for name, array in again._fields().items():
        if isinstance(array, np.ndarray):
            assert read_only(array) is array
            # Of a matrix in which all cells are trials there is no mask.
            assert name == "cells" or array.dtype.kind == item._fields()[name].dtype.kind
    return again


@settings(max_examples=2 * settings.default.max_examples)
@given(
    ndxs() | keys() | scores() | segment_qualities() | quality_measures() | id_maps(),
    st.sampled_from(BINARY),
)
def test_binary_files_give_the_object_back(item: Any, extension: str) -> None:
    again = save_and_read(item, extension)
    assert again == item
    assert repr(again) == repr(item)
    if isinstance(item, Scores):
        assert again.scoremat.dtype == item.scoremat.dtype


@pytest.mark.filterwarnings("ignore:.*there is no line")
@settings(max_examples=2 * settings.default.max_examples)
@given(id_maps(), st.sampled_from(TEXT))
def test_text_gives_a_map_back(item: IdMap, extension: str) -> None:
    assert save_and_read(item, extension) == item


@settings(max_examples=2 * settings.default.max_examples)
@given(segment_qualities(), st.sampled_from(TEXT))
def test_text_gives_measures_back(item: SegmentQuality, extension: str) -> None:
    assert save_and_read(item, extension) == item


def sorted_and_trimmed(item: Any, mask: np.ndarray) -> Any:
    """Return what text can hold of an object: ids of trials only, in sorted order."""
    return item.merge().filter(
        item.modelset[mask.any(axis=1)], item.segset[mask.any(axis=0)], keep=True
    )


@pytest.mark.filterwarnings("ignore:.*there is no line")
@settings(max_examples=2 * settings.default.max_examples)
@given(ndxs() | keys(), st.sampled_from(TEXT))
def test_text_gives_the_trials_back(item: Ndx | Key, extension: str) -> None:
    again = save_and_read(item, extension)
    mask = item.trialmask if isinstance(item, Ndx) else item.tar | item.non
    assert again == sorted_and_trimmed(item, mask)


@pytest.mark.filterwarnings("ignore:.*there is no line")
@settings(max_examples=2 * settings.default.max_examples)
@given(scores(), st.sampled_from(TEXT))
def test_text_gives_the_scores_back(item: Scores, extension: str) -> None:
    again = save_and_read(item, extension)
    expected = sorted_and_trimmed(item, item.scoremask)
    if item.scoremat.dtype == np.float32:
        # Text says nothing of the precision; the shortest text that names a
        # float32 gives it back when it is made a float32 again.
        again = again.transform(lambda s: s.astype(np.float32))
    assert again == expected


def test_text_in_the_way_of_the_toolkit(tmp_path: Path) -> None:
    path = tmp_path / "scores.txt"
    Scores([[1 / 3]], ["m"], ["s"]).save(path, number_format="%f")
    assert path.read_text() == "m s 0.333333\n"
    Scores([[1 / 3]], ["m"], ["s"]).save(path)
    assert path.read_text() == "m s 0.3333333333333333\n"
    SegmentQuality(["s"], [[1 / 3]]).save(path, number_format="%.2f")
    assert path.read_text() == "1\ns 0.33\n"


def test_format_of_numbers_is_for_text_only(tmp_path: Path) -> None:
    path = tmp_path / "scores.h5"
    with pytest.raises(InvalidInputError, match=r"`number_format` must be given"):
        Scores([[1.0]], ["m"], ["s"]).save(path, number_format="%f")
    assert not path.exists()


OBJECTS: list[Any] = [
    Ndx(["m"], ["s"]),
    Key(["m"], ["s"], [[True]], [[False]]),
    Scores([[1.0]], ["m"], ["s"]),
    SegmentQuality(["s"], [[1.0]]),
    QualityMeasures(["m"], ["s"], [[1.0]], [[2.0]]),
    IdMap(["m"], ["s"]),
]


@pytest.mark.parametrize("item", OBJECTS, ids=lambda item: type(item).__name__)
def test_format_by_method_whatever_the_name(item: Any, tmp_path: Path) -> None:
    path = tmp_path / "no_extension"
    for form in ("hdf5", "mat", "txt"):
        if form == "txt" and isinstance(item, QualityMeasures):
            assert not hasattr(item, "save_txt")
            continue
        getattr(item, f"save_{form}")(str(path))
        assert getattr(type(item), f"read_{form}")(str(path)) == item


@pytest.mark.parametrize("item", OBJECTS, ids=lambda item: type(item).__name__)
@pytest.mark.parametrize("name", ["scores.tsv", "noextension", "dir.mat/x", ".h5", "a.h5.gz"])
def test_unknown_extensions_name_the_known_ones(item: Any, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    known = (
        r"must end in \.h5, \.hdf5(, \.mat, \.txt or \.csv|, \.mat or \.txt| or \.mat); got '.*'"
    )
    for call in (item.save, type(item).read):
        with pytest.raises(InvalidInputError, match=known):
            call(path)
    assert not list(tmp_path.iterdir())


def test_quality_measures_have_no_text(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"\.h5, \.hdf5 or \.mat; .* has no text format"):
        QualityMeasures.read(tmp_path / "quality.txt")


@pytest.mark.parametrize("item", OBJECTS, ids=lambda item: type(item).__name__)
@pytest.mark.parametrize("extension", [".h5", ".mat", ".txt"])
def test_damaged_files_are_named(item: Any, extension: str, tmp_path: Path) -> None:
    if extension == ".txt" and isinstance(item, QualityMeasures):
        return
    path = tmp_path / f"damaged{extension}"
    path.write_bytes(b"x y z \x00 u\nv w\n\n\xff")
    with pytest.raises(FileFormatError, match="damaged"):
        type(item).read(path)


def test_content_that_no_object_may_have_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "twice.txt"
    path.write_text("1\nseg 1\nseg 2\n")
    with pytest.raises(FileFormatError, match=r"twice\.txt"):
        SegmentQuality.read(path)


def test_a_file_over_the_limit_is_refused(tmp_path: Path) -> None:
    item = Scores(np.zeros((20, 30)), [f"m{i}" for i in range(20)], [f"s{j}" for j in range(30)])
    for extension in (".h5", ".mat", ".txt"):
        path = tmp_path / f"large{extension}"
        item.save(path)
        assert Scores.read(path, max_bytes=10**6).merge() == item.merge()
        with pytest.raises(FileFormatError, match="large"):
            Scores.read(path, max_bytes=1000)


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (Ndx, "ndx"),
        (Key, "key"),
        (Scores, "scores"),
        (SegmentQuality, "seg_quality"),
        (IdMap, "id_map"),
    ],
)
def test_samples_agree_in_all_formats(oracle: Path, cls: type, name: str) -> None:
    """samples/: one content in three formats, the texts written by the toolkit."""
    read: dict[str, Any] = {
        extension: cls.read(oracle / "samples" / f"{name}.{extension}")
        for extension in ("h5", "mat", "txt")
    }
    assert read["h5"] == read["mat"]
    if cls is Scores:
        # The toolkit's text has six decimals.
        rounded = read["h5"].transform(lambda s: np.round(s, 6))
        assert read["txt"] == sorted_and_trimmed(rounded, rounded.scoremask)
    elif cls is SegmentQuality:
        # See above.
        assert np.array_equal(read["txt"].values, np.round(read["h5"].values, 6))
    elif cls is IdMap:
        assert read["txt"] == read["h5"]
    else:
        mask = read["h5"].trialmask if cls is Ndx else read["h5"].to_ndx().trialmask
        assert read["txt"] == sorted_and_trimmed(read["h5"], mask)


def test_quality_sample(oracle: Path) -> None:
    """The mask in the file is all true; the third model, without measures, leaves it."""
    item = QualityMeasures.read(oracle / "samples" / "quality.h5")
    assert item.hasmodel.tolist() == [True, True, False]
    assert item.scoremask.tolist() == [[True] * 4, [True] * 4, [False] * 4]


def test_real_files(shared_data: Path, tmp_path: Path) -> None:
    """SRE'10 det 5, written by the toolkit; counts from the README beside the files."""
    folder = shared_data / "sre10_det5_h5"
    key = Key.read(folder / "core-core_det5_key.h5")
    ndx = Ndx.read(folder / "core-core_det5_ndx.h5")
    assert (key.n_tar, key.n_non) == (708, 29665)
    assert key.to_ndx() == ndx
    for item in (key, ndx):
        for extension in (".h5", ".mat"):
            item.save(tmp_path / f"again{extension}")
            assert type(item).read(tmp_path / f"again{extension}") == item
