"""IdMap: mapping, filtering, merging, against a dictionary."""

import pickle
import warnings

import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import (
    BosarisWarning,
    DuplicateIdWarning,
    FileFormatError,
    MissingTrialsWarning,
)
from bosaris_py.trials import IdMap
from tests.strategies import id_maps, names

PAIRS = st.lists(st.tuples(names(), names()), max_size=8)


def pairs_of(item: IdMap) -> list[tuple[str, str]]:
    return list(zip(item.leftids.tolist(), item.rightids.tolist(), strict=True))


def quietly(pairs: list[tuple[str, str]]) -> IdMap:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DuplicateIdWarning)
        return IdMap([left for left, _ in pairs], [right for _, right in pairs])


@given(PAIRS, st.lists(names(), max_size=6))
def test_the_last_pair_counts(pairs: list[tuple[str, str]], ids: list[str]) -> None:
    item = quietly(pairs)
    forth = dict(pairs)
    back = {right: left for left, right in pairs}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert item.map_left_to_right(ids).tolist() == [forth[i] for i in ids if i in forth]
        assert item.map_right_to_left(ids).tolist() == [back[i] for i in ids if i in back]


@given(PAIRS, st.lists(names(), max_size=6), st.booleans())
def test_filters(pairs: list[tuple[str, str]], ids: list[str], keep: bool) -> None:  # noqa: FBT001
    item = quietly(pairs)
    assert pairs_of(item.filter_on_left(ids, keep)) == [p for p in pairs if (p[0] in ids) == keep]
    assert pairs_of(item.filter_on_right(ids, keep)) == [p for p in pairs if (p[1] in ids) == keep]


@given(PAIRS, PAIRS)
def test_merge_appends(a: list[tuple[str, str]], b: list[tuple[str, str]]) -> None:
    first, second = quietly(a), quietly(b)
    shared = {left for left, _ in a} & {left for left, _ in b}
    if shared:
        with pytest.warns(DuplicateIdWarning, match=r"^idmaps being merged share ids\.$"):
            merged = IdMap.merge(first, second)
    else:
        merged = first.merge(second)
    assert pairs_of(merged) == a + b


def test_many_to_one_is_normal() -> None:
    speakers = IdMap(["m1", "m2"], ["anna", "anna"])
    assert speakers.map_left_to_right(["m2", "m1"]).tolist() == ["anna", "anna"]
    with pytest.warns(DuplicateIdWarning, match=r"^The right id list contains duplicate"):
        assert speakers.map_right_to_left(["anna"]).tolist() == ["m2"]


def test_duplicates_are_said_once() -> None:
    with pytest.warns(DuplicateIdWarning, match=r"^The left id list contains duplicate") as caught:
        item = IdMap(["a", "a"], ["x", "y"])
    assert caught[0].filename == __file__
    # What comes out of it does not warn again: warnings are errors here.
    assert item.filter_on_left(["a"], keep=True) == item
    assert pickle.loads(pickle.dumps(item)) == item


def test_missing_ids_are_counted() -> None:
    item = IdMap(["a"], ["x"])
    with pytest.warns(MissingTrialsWarning, match=r"^2 ids could not be mapped because they") as w:
        assert item.map_left_to_right(["b", "a", "c"]).tolist() == ["x"]
    assert w[0].filename == __file__


@given(id_maps())
def test_there_and_back(item: IdMap) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DuplicateIdWarning)
        back = item.map_right_to_left(item.map_left_to_right(item.leftids))
    last = {right: left for left, right in pairs_of(item)}
    assert back.tolist() == [last[right] for right in item.rightids.tolist()]


def test_empty_map_is_valid() -> None:
    assert repr(IdMap([], [])) == "IdMap: 0 pairs"
    assert IdMap([], []).map_left_to_right([]).tolist() == []


def test_text_with_start_and_stop(tmp_path):
    """SIDEKIT writes four columns; the last two are no part of a map of ids."""
    path = tmp_path / "map.txt"
    path.write_text("anna anna/1 None None\nbert bert/1 0 200\n")
    with pytest.warns(BosarisWarning, match="start and stop of the segments are left out"):
        found = IdMap.read(path)
    assert found == IdMap(["anna", "bert"], ["anna/1", "bert/1"])
    path.write_text("anna anna/1 0 200\nbert bert/1\n")
    with pytest.warns(BosarisWarning), pytest.raises(FileFormatError, match="expected 4 columns"):
        IdMap.read(path)
