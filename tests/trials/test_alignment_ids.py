"""Finding ids, against a dictionary."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import InvalidInputError
from bosaris_py.trials.alignment import IdIndex, code_ids
from tests.strategies import id_lists, names


def array(ids: list[str]) -> np.ndarray:
    return np.array(ids, dtype=np.str_)


@given(own=st.lists(names(), max_size=8), wanted=st.lists(names(), max_size=8))
def test_ids_are_found_at_their_last_place(own: list[str], wanted: list[str]) -> None:
    table = {name: place for place, name in enumerate(own)}
    places = IdIndex.of(array(own)).locate_last(IdIndex.of(array(wanted)))
    assert places.tolist() == [table.get(name, -1) for name in wanted]


@given(own=id_lists(), wanted=id_lists())
def test_equal_lists_need_no_places(own: list[str], wanted: list[str]) -> None:
    places = IdIndex.of(array(own)).locate(IdIndex.of(array(wanted)))
    assert (places is None) == (own == wanted)


@given(own=st.lists(names(), max_size=8), listed=st.lists(names(), max_size=8))
def test_membership(own: list[str], listed: list[str]) -> None:
    found = IdIndex.of(array(own)).which_in(array(listed))
    assert found.tolist() == [name in listed for name in own]


@given(own=st.lists(names(), max_size=8))
def test_repetition_is_seen(own: list[str]) -> None:
    assert IdIndex.of(array(own)).has_repeated() == (len(set(own)) < len(own))


def test_ids_of_different_width_are_compared_whole() -> None:
    # numpy pads strings to a common width; a prefix must not match.
    index = IdIndex.of(array(["model_1", "model_10"]))
    assert index.locate_last(IdIndex.of(array(["model_10", "model", "model_100"]))).tolist() == [
        1,
        -1,
        -1,
    ]


def test_sorted_ids_are_not_sorted_again() -> None:
    assert IdIndex.of(array(["a", "b", "c"])).order is None


def test_repeated_ids_are_named() -> None:
    with pytest.raises(InvalidInputError, match=r"`ids` must hold each id once; .*\(b\)"):
        IdIndex.of(array(["a", "b", "c", "b"])).check_unique("ids")


@given(st.lists(id_lists(), min_size=1, max_size=4))
def test_union_is_sorted_by_character_code(lists: list[list[str]]) -> None:
    expected = sorted(set().union(*lists))
    assert IdIndex.of_union([array(ids) for ids in lists]).ids.tolist() == expected


@given(st.lists(names(), max_size=12), st.booleans())
def test_codes_give_the_names_back(listed: list[str], as_array: bool) -> None:  # noqa: FBT001
    ids, codes = code_ids(array(listed) if as_array else listed, "models")
    assert ids.tolist() == sorted(set(listed))
    assert [ids[code] for code in codes] == listed


def test_codes_of_what_is_no_text_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"`models` must hold strings"):
        code_ids([1, 2], "models")
