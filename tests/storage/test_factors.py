import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bosaris_py.errors import InvalidInputError
from bosaris_py.storage import Factor

texts = st.lists(st.text(alphabet="abé ", max_size=3), max_size=30)


@given(texts)
def test_values_come_back(values):
    factor = Factor.from_values(values)
    assert factor.values().tolist() == values
    assert factor.levels.tolist() == sorted(set(values))
    assert factor.counts().tolist() == [values.count(level) for level in factor.levels]
    assert len(factor) == len(values)


@given(texts)
def test_arrays_and_lists_give_the_same(values):
    expected = Factor.from_values(values)
    assert Factor.from_values(np.array(values, dtype=np.str_)) == expected
    assert Factor.from_values(np.array(values, dtype=object)) == expected


def test_more_values_than_are_coded_at_once(monkeypatch):
    monkeypatch.setattr("bosaris_py.storage.factors._VALUES_AT_ONCE", 3)
    values = list("zyxzyabcdzz")
    assert Factor.from_values(np.array(values)).values().tolist() == values


@given(texts, texts)
def test_equal_iff_the_values_are(first, second):
    assert (Factor.from_values(first) == Factor.from_values(second)) == (first == second)


def test_equality_ignores_the_order_of_levels_and_those_that_do_not_occur():
    assert Factor([0, 1], ["b", "a"]) == Factor([2, 0], ["a", "unused", "b"])
    assert Factor([0, 1], ["b", "a"]) != Factor([0, 1], ["a", "b"])
    assert Factor([0], ["b"]) != "b"


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ([1, 3, 1], ["1", "3"]),
        (np.array([10, 9, 9], dtype=np.int8), ["10", "9"]),  # sorted as text
        ([True, False], ["False", "True"]),
        ([b"x", "y"], ["x", "y"]),
        ([], []),
    ],
)
def test_other_types_become_text(values, levels):
    factor = Factor.from_values(values)
    assert factor.levels.tolist() == levels
    assert factor.values().tolist() == [
        item.decode() if isinstance(item, bytes) else str(item) for item in list(values)
    ]


@pytest.mark.parametrize(("n_levels", "size"), [(1, 1), (256, 1), (257, 2), (65_537, 4)])
def test_codes_take_the_shortest_type(n_levels, size):
    levels = [f"{number:06}" for number in range(n_levels)]
    assert Factor(np.arange(n_levels), levels).codes.itemsize == size
    assert Factor.from_values(levels).codes.itemsize == size


def test_take():
    factor = Factor.from_values(list("abca"))
    assert factor.take([3, 1, 1]).values().tolist() == list("abb")
    assert factor.take(np.array([True, False, True, False])).values().tolist() == list("ac")
    assert factor.take(slice(1, None)).values().tolist() == list("bca")
    assert factor.take([0]).levels is factor.levels


def test_read_only_for_good_and_after_pickling():
    codes = np.array([0, 1], dtype=np.uint8)
    factor = Factor(codes, ["a", "b"])
    codes[0] = 1
    for item in (factor, pickle.loads(pickle.dumps(factor)), copy.deepcopy(factor)):
        assert item == factor
        assert item.values().tolist() == ["a", "b"]
        for array in (item.codes, item.levels, item.values(), item.counts()):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = array[1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Factor([0, 2], ["a", "b"]),
            "positions in `levels`, from 0 to 1; got 2 for item 1",
        ),
        (lambda: Factor([-1], ["a", "b"]), "got -1 for item 0"),
        (lambda: Factor([0], []), "`codes` must fit `levels`; .* is empty"),
        (lambda: Factor([0], ["a", "a"]), r"`levels` must hold each id once"),
        (lambda: Factor(["a"], ["a"]), "Factor.from_values makes codes of texts"),
        (lambda: Factor([0.0], ["a"]), "positions in `levels`, whole numbers"),
        (lambda: Factor.from_values([0.5]), "Cut measured quantities into classes"),
        (lambda: Factor.from_values(["a", None]), "got None for 1 of 2. Give what is unknown"),
        (lambda: Factor.from_values([["a"]]), "one-dimensional"),
        (lambda: Factor.from_values("abc"), "be a list of values; got 'abc'"),
        (lambda: Factor.from_values({"m1": "f"}), "be a list of values; got {'m1': 'f'}"),
        (lambda: Factor.from_values({"f", "m"}), "be a list of values; got {'"),
        (lambda: Factor.from_values(1), "be a list of values; got 1"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()
