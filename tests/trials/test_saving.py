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


def as_text_holds(item: Any) -> Any:
    """Return what text can hold of an object: ids of trials only, in sorted order."""
    if isinstance(item, IdMap | SegmentQuality):
        return item
    mask = item.scoremask if isinstance(item, Scores) else item.to_ndx().trialmask
    return item.merge().filter(
        item.modelset[mask.any(axis=1)], item.segset[mask.any(axis=0)], keep=True
    )


@pytest.mark.filterwarnings("ignore:.*there is no line")
@settings(max_examples=3 * settings.default.max_examples)
@given(ndxs() | keys() | scores() | segment_qualities() | id_maps(), st.sampled_from(TEXT))
def test_text_gives_the_object_back(item: Any, extension: str) -> None:
    again = save_and_read(item, extension)
    if isinstance(item, Scores) and item.scoremat.dtype == np.float32:
        # Text says nothing of the precision; the shortest text that names a
        # float32 gives it back when it is made a float32 again.
        again = again.transform(lambda s: s.astype(np.float32))
    assert again == as_text_holds(item)


def test_text_in_the_way_of_the_toolkit(tmp_path: Path) -> None:
    path = tmp_path / "scores.txt"
    Scores([[1 / 3]], ["m"], ["s"]).save(path, number_format="%f")
    assert path.read_text() == "m s 0.333333\n"
    Scores([[1 / 3]], ["m"], ["s"]).save(path)
    assert path.read_text() == "m s 0.3333333333333333\n"
    SegmentQuality(["s"], [[1 / 3]]).save(path, number_format="%.2f")
    assert path.read_text() == "1\ns 0.33\n"
    path = tmp_path / "scores.h5"
    with pytest.raises(InvalidInputError):
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
def test_any_format_by_its_method_and_by_known_names_only(item: Any, tmp_path: Path) -> None:
    for name in ("scores.tsv", "noextension", "dir.mat/x", ".h5", "a.h5.gz"):
        for call in (item.save, type(item).read):
            with pytest.raises(InvalidInputError):
                call(tmp_path / name)
    assert not list(tmp_path.iterdir())
    for form, extension in (("hdf5", "h5"), ("mat", "mat"), ("txt", "txt")):
        if form == "txt" and isinstance(item, QualityMeasures):
            assert not hasattr(item, "save_txt")
            with pytest.raises(InvalidInputError):
                item.save(tmp_path / "quality.txt")
            continue
        path = tmp_path / f"no_extension_{form}"
        getattr(item, f"save_{form}")(str(path))
        assert getattr(type(item), f"read_{form}")(str(path)) == item
        path = tmp_path / f"damaged.{extension}"
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
