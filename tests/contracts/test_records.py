"""What all classes of trials share: read-only arrays, copies, pickles, equality, filters."""

import copy
import pickle
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given

from bosaris_py._arrays import mark_read_only
from bosaris_py.errors import InvalidInputError
from bosaris_py.trials import IdMap, Key, Ndx, QualityMeasures, Scores, SegmentQuality
from tests.forms import as_list
from tests.strategies import id_maps, keys, ndxs, quality_measures, scores, segment_qualities

TRIALS = ndxs() | keys() | scores()
ANY_OBJECT = TRIALS | TRIALS.map(as_list) | segment_qualities() | quality_measures() | id_maps()
SEGMENTS = ["s", "t", "u"]
IDS = {"modelset": ["a", "b"], "segset": SEGMENTS}
MASK = np.array([[True, True, False], [False, True, True]])
# The arguments of each class, in the order of the toolkit.
ARGUMENTS: dict[type, dict[str, Any]] = {
    Ndx: {**IDS, "trialmask": MASK},
    Key: {**IDS, "tar": MASK, "non": ~MASK},
    Scores: {"scoremat": np.zeros((2, 3)), **IDS, "scoremask": MASK},
    SegmentQuality: {"ids": SEGMENTS, "values": np.zeros((1, 3))},
    QualityMeasures: {
        **{**IDS, "modelQ": np.zeros((1, 2)), "segQ": np.zeros((1, 3))},
        **{"hasmodel": MASK.any(1), "hasseg": MASK.any(0), "scoremask": MASK},
    },
    IdMap: {"leftids": SEGMENTS, "rightids": ["x", "y", "z"]},
}


def writeable(cls: type) -> dict[str, np.ndarray]:
    return {name: np.array(values) for name, values in ARGUMENTS[cls].items()}


def arrays_of(item: Any) -> list[np.ndarray]:
    values = [getattr(item, each.name) for each in attrs.fields(type(item))]
    return [value for value in values if isinstance(value, np.ndarray)]


@given(ANY_OBJECT, ANY_OBJECT)
def test_objects_are_values(item: Any, other: Any) -> None:
    """No array can be changed; pickles and copies are equal; two classes are not."""
    for again in (
        *(pickle.loads(pickle.dumps(item, n)) for n in range(2, pickle.HIGHEST_PROTOCOL + 1)),
        *(copy.deepcopy(item), copy.copy(item), item),
    ):
        assert again == item
        assert type(again) is type(item)
        for array in arrays_of(again):
            owner = array
            while isinstance(owner, np.ndarray):
                assert not owner.flags.writeable
                owner = owner.base  # type: ignore[assignment]
    assert type(item) is type(other) or item != other
    with pytest.raises(TypeError, match="unhashable"):
        hash(item)


@pytest.mark.parametrize("cls", ARGUMENTS)
def test_arrays_of_the_caller_are_copied_unless_they_are_read_only(cls: type) -> None:
    arrays = writeable(cls)
    item = cls(**arrays)
    assert item == cls(*arrays.values())
    before = copy.deepcopy(item)
    for array in arrays.values():
        array[...] = array[(0,) * array.ndim] if array.dtype.kind == "U" else ~array.astype(bool)
    assert item == before
    # Who owns an array can make it writeable again, so it is copied.
    arrays = writeable(cls)
    for array in arrays.values():
        array.setflags(write=False)
    item = cls(**arrays)
    assert not any(np.shares_memory(getattr(item, n), array) for n, array in arrays.items())
    for array in arrays_of(item):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)
    shared = {name: mark_read_only(array) for name, array in writeable(cls).items()}
    item, made_anew = cls(**shared), {"tar", "non", "scoremask", "trialmask"}
    assert all(getattr(item, name) is shared[name] for name in shared.keys() - made_anew)


def test_a_read_only_view_of_a_writeable_array_is_copied() -> None:
    owner = np.zeros((2, 2))
    view = owner[:, :]
    view.setflags(write=False)
    item = Scores(view, ["a", "b"], ["s", "t"])
    owner[0, 0] = 1.0
    assert item.scoremat[0, 0] == 0.0


@pytest.mark.parametrize("cls", ARGUMENTS)
def test_fields_cannot_be_set_and_merge_takes_one_class(cls: type) -> None:
    item = cls(**ARGUMENTS[cls])
    for each in attrs.fields(cls):
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(item, each.name, np.zeros(1))
    with pytest.raises(AttributeError):
        item.comment = "new"
    assert not hasattr(item, "__dict__")
    stranger = IdMap([], []) if cls is Ndx else Ndx([], [])
    for objects in ((item, stranger), (stranger, item)):
        with pytest.raises(InvalidInputError, match="`objects` must all be"):
            cls.merge(*objects)
