"""What all classes share: read-only arrays, copies, pickles, equality, merging rules."""

import copy
import pickle
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py._arrays import mark_read_only
from bosaris_py.errors import InvalidInputError
from bosaris_py.trials import IdMap, Key, Ndx, QualityMeasures, Scores, SegmentQuality
from tests.forms import as_list
from tests.strategies import id_maps, keys, ndxs, quality_measures, scores, segment_qualities

FLAT_OBJECT = (ndxs() | keys() | scores()).map(as_list)
ANY_OBJECT = (
    ndxs() | keys() | scores() | FLAT_OBJECT | segment_qualities() | quality_measures() | id_maps()
)


def arrays_of(item: Any) -> dict[str, np.ndarray]:
    fields = {each.name: getattr(item, each.name) for each in attrs.fields(type(item))}
    return {name: value for name, value in fields.items() if isinstance(value, np.ndarray)}


def writeable_arguments() -> dict[type, dict[str, Any]]:
    """Return arrays that a caller could change, for each class."""
    models, segments = np.array(["a", "b"]), np.array(["s", "t", "u"])
    mask = np.ones((2, 3), dtype=bool)
    return {
        Ndx: {"modelset": models, "segset": segments, "trialmask": mask},
        Key: {"modelset": models, "segset": segments, "tar": mask, "non": ~mask},
        Scores: {
            "scoremat": np.zeros((2, 3)),
            "modelset": models,
            "segset": segments,
            "scoremask": mask,
        },
        SegmentQuality: {"ids": segments, "values": np.zeros((1, 3))},
        QualityMeasures: {
            "modelset": models,
            "segset": segments,
            "modelQ": np.zeros((1, 2)),
            "segQ": np.zeros((1, 3)),
            "hasmodel": np.ones(2, dtype=bool),
            "hasseg": np.ones(3, dtype=bool),
            "scoremask": mask,
        },
        IdMap: {"leftids": segments, "rightids": segments.copy()},
    }


CLASSES = list(writeable_arguments())


@given(ANY_OBJECT)
def test_arrays_cannot_be_changed(item: Any) -> None:
    for array in arrays_of(item).values():
        assert not array.flags.writeable
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
            assert not owner.flags.writeable


@given(ANY_OBJECT)
def test_pickles_and_copies_are_equal_and_read_only(item: Any) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(item, protocol))
        assert again == item
        assert type(again) is type(item)
        assert not any(array.flags.writeable for array in arrays_of(again).values())
    deep = copy.deepcopy(item)
    assert deep == item
    assert not any(array.flags.writeable for array in arrays_of(deep).values())
    shallow = copy.copy(item)
    assert shallow == item
    assert not any(array.flags.writeable for array in arrays_of(shallow).values())


@given(ANY_OBJECT, ANY_OBJECT)
def test_objects_of_two_classes_differ(one: Any, other: Any) -> None:
    if type(one) is not type(other):
        assert one != other


@given(ANY_OBJECT)
def test_objects_cannot_be_hashed(item: Any) -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(item)


@pytest.mark.parametrize("cls", CLASSES)
def test_the_arrays_of_the_caller_are_copied(cls: type) -> None:
    given_arrays = writeable_arguments()[cls]
    item = cls(**given_arrays)
    before = copy.deepcopy(item)
    for array in given_arrays.values():
        assert array.flags.writeable
        array[...] = array[(0,) * array.ndim] if array.dtype.kind == "U" else ~array.astype(bool)
    assert item == before


@pytest.mark.parametrize("cls", CLASSES)
def test_read_only_arrays_are_shared(cls: type) -> None:
    given_arrays = writeable_arguments()[cls]
    shared = {name: mark_read_only(array) for name, array in given_arrays.items()}
    item = cls(**shared)
    made_anew = {"tar", "non", "scoremask", "trialmask"}
    assert all(getattr(item, name) is shared[name] for name in shared.keys() - made_anew)


@pytest.mark.parametrize("cls", CLASSES)
def test_no_array_can_be_made_writeable_again(cls: type) -> None:
    given_arrays = writeable_arguments()[cls]
    for array in given_arrays.values():
        array.setflags(write=False)
    item = cls(**given_arrays)
    for array in arrays_of(item).values():
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)
    # Who owns an array can make it writeable again, so it was copied.
    for name, array in given_arrays.items():
        assert not np.shares_memory(getattr(item, name), array)


def test_a_read_only_view_of_a_writeable_array_is_copied() -> None:
    owner = np.zeros((2, 2))
    view = owner[:, :]
    view.setflags(write=False)
    item = Scores(view, ["a", "b"], ["s", "t"])
    owner[0, 0] = 1.0
    assert item.scoremat[0, 0] == 0.0


@pytest.mark.parametrize("cls", CLASSES)
def test_fields_cannot_be_set(cls: type) -> None:
    item = cls(**writeable_arguments()[cls])
    for name in arrays_of(item):
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(item, name, np.zeros(1))
    with pytest.raises(AttributeError):
        item.comment = "new"
    assert not hasattr(item, "__dict__")


@pytest.mark.parametrize("cls", CLASSES)
def test_order_of_the_fields_is_that_of_the_toolkit(cls: type) -> None:
    arguments = writeable_arguments()[cls]
    assert cls(*arguments.values()) == cls(**arguments)


@pytest.mark.parametrize("cls", CLASSES)
def test_merge_takes_objects_of_one_class(cls: type) -> None:
    item = cls(**writeable_arguments()[cls])
    stranger = IdMap([], []) if cls is Ndx else Ndx([], [])
    for call in (lambda: cls.merge(item, stranger), lambda: cls.merge(stranger, item)):
        expected = rf"`objects` must all be {cls.__name__}; got {stranger!r}"
        with pytest.raises(InvalidInputError, match=expected):
            call()


@given(ndxs() | keys() | scores() | FLAT_OBJECT | quality_measures(), st.booleans())
def test_filter_of_all_or_nothing(item: Any, keep: bool) -> None:  # noqa: FBT001
    models, segments = (item.modelset, item.segset) if keep else ([], [])
    assert item.filter(models, segments, keep) == item
    nothing = item.filter([], [], keep=True)
    assert (nothing.modelset.size, nothing.segset.size) == (0, 0)
