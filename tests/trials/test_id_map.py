"""IdMap: mapping, filtering, merging, against a dictionary."""

import pickle
import warnings

import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import MissingTrialsWarning
from bosaris_py.trials import IdMap
from tests.strategies import names

PAIRS = st.lists(st.tuples(names(), names()), max_size=8)


def pairs_of(item: IdMap) -> list[tuple[str, str]]:
    return list(zip(item.leftids.tolist(), item.rightids.tolist(), strict=True))


@given(PAIRS, PAIRS, st.lists(names(), max_size=6), st.booleans())
def test_maps_are_dictionaries(pairs, more, ids, keep) -> None:
    """The last pair of an id counts."""
    forth, back = dict(pairs), {right: left for left, right in pairs}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        item, other = (IdMap([a for a, _ in some], [b for _, b in some]) for some in (pairs, more))
        assert item.map_left_to_right(ids).tolist() == [forth[i] for i in ids if i in forth]
        assert item.map_right_to_left(ids).tolist() == [back[i] for i in ids if i in back]
    assert pairs_of(item.filter_on_left(ids, keep)) == [p for p in pairs if (p[0] in ids) == keep]
    assert pairs_of(item.filter_on_right(ids, keep)) == [p for p in pairs if (p[1] in ids) == keep]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert pairs_of(item.merge(other)) == pairs + more
    shared = {left for left, _ in pairs} & {left for left, _ in more}
    assert [one.category for one in caught] == [MissingTrialsWarning] * bool(shared)


def test_what_is_warned_of_and_where() -> None:
    with pytest.warns(MissingTrialsWarning) as caught:
        twice = IdMap(["a", "a"], ["x", "y"])
    # What comes out of it does not warn again: warnings are errors here.
    assert twice.filter_on_left(["a"], keep=True) == pickle.loads(pickle.dumps(twice)) == twice
    speakers = IdMap(["m1", "m2"], ["anna", "anna"])
    assert speakers.map_left_to_right(["m2", "m1"]).tolist() == ["anna", "anna"]
    with pytest.warns(MissingTrialsWarning) as backwards:
        assert speakers.map_right_to_left(["anna"]).tolist() == ["m2"]
    with pytest.warns(MissingTrialsWarning, match="^2 ids") as missing:
        assert speakers.map_left_to_right(["b", "m1", "c"]).tolist() == ["anna"]
    assert {one[0].filename for one in (caught, backwards, missing)} == {__file__}
