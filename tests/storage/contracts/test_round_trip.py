"""What is saved is read, for any content, in the formats that keep everything."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bosaris_py._arrays import read_only

Arrays = dict[str, np.ndarray]

# All characters but NUL and lone surrogates, which no file can store.
IDS = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9),
    max_size=5,
)

# Bits of any float: subnormal, huge, NaN with a message, both zeros.
FLOATS = {np.float64: st.floats(width=64), np.float32: st.floats(width=32)}


def mask(shape: tuple[int, ...]) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(bool, shape)


@st.composite
def objects(draw: st.DrawFn) -> tuple[str, Arrays]:
    """An object of any kind as its arrays."""
    models, segments = draw(IDS), draw(IDS)
    ids = {"modelset": np.array(models, np.str_), "segset": np.array(segments, np.str_)}
    shape = (len(models), len(segments))
    kind = draw(
        st.sampled_from(["ndx", "key", "scores", "quality_measures", "segment_quality", "id_map"])
    )
    double = FLOATS[np.float64]
    count = draw(st.integers(0, 3))
    if kind == "ndx":
        return kind, {**ids, "trialmask": draw(mask(shape))}
    if kind == "key":
        labels = draw(hnp.arrays(np.int8, shape, elements=st.integers(-1, 1)))
        return kind, {**ids, "tar": labels == 1, "non": labels == -1}
    if kind == "scores":
        dtype = draw(st.sampled_from([np.float32, np.float64]))
        scores = draw(hnp.arrays(dtype, shape, elements=FLOATS[dtype]))
        return kind, {**ids, "scoremat": scores, "scoremask": draw(mask(shape))}
    if kind == "quality_measures":
        return kind, {
            **ids,
            "modelQ": draw(hnp.arrays(float, (count, shape[0]), elements=double)),
            "segQ": draw(hnp.arrays(float, (count, shape[1]), elements=double)),
            "hasmodel": draw(mask(shape[:1])),
            "hasseg": draw(mask(shape[1:])),
            "scoremask": draw(mask(shape)),
        }
    if kind == "segment_quality":
        values = draw(hnp.arrays(float, (count, shape[0]), elements=double))
        return kind, {"ids": ids["modelset"], "values": values}
    pairs = np.array(models[: shape[1]], np.str_), np.array(segments[: shape[0]], np.str_)
    return kind, {"leftids": pairs[0], "rightids": pairs[1]}


@given(drawn=objects(), extension=st.sampled_from([".h5", ".mat"]), fortran=st.booleans())
def test_everything_comes_back(
    drawn: tuple[str, Arrays],
    extension: str,
    fortran: Any,
    read: Callable[..., Arrays],
    write: Callable[..., None],
    assert_same: Callable[[Arrays, Arrays], None],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    kind, arrays = drawn
    path = tmp_path_factory.getbasetemp() / f"object{extension}"
    order = np.asfortranarray if fortran else np.ascontiguousarray
    write(path, kind, {name: order(array) for name, array in arrays.items()})
    assert_same(read(path, kind), arrays)


@pytest.mark.parametrize("extension", [".h5", ".mat", ".txt"])
def test_arrays_that_are_read_need_no_copy(
    extension: str, samples: Path, read: Callable[..., Arrays]
) -> None:
    # Constructors copy whatever somebody else could still write to.
    for array in read(samples / f"scores{extension}", "scores").values():
        assert read_only(array) is array


@given(drawn=objects())
def test_the_same_object_in_version_73(
    drawn: tuple[str, Arrays],
    read: Callable[..., Arrays],
    write_mat73: Callable[..., None],
    assert_same: Callable[[Arrays, Arrays], None],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    kind, arrays = drawn
    path = tmp_path_factory.getbasetemp() / "object73.mat"
    variables = {"scores": "scr", "quality_measures": "qual", "segment_quality": "qual"}
    write_mat73(path, {**variables, "id_map": "idmap"}.get(kind, kind), arrays)
    assert_same(read(path, kind), arrays)
