"""Columns of categories, and lists of trials in order."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import InvalidInputError
from bosaris_py.files.columns import Factor, order_trials, sort_codes, trial_codes

texts = st.lists(st.text(alphabet="abé ", max_size=3), max_size=30)


@given(texts)
def test_values_come_back(values):
    factor = Factor.from_values(values)
    assert factor.values().tolist() == values
    assert factor.levels.tolist() == sorted(set(values))
    assert factor.counts().tolist() == [values.count(level) for level in factor.levels]
    assert Factor.from_values(np.array(values, dtype=np.str_)) == factor
    assert Factor.from_values(np.array(values, dtype=object)) == factor


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
    "make",
    [
        lambda: Factor([0, 2], ["a", "b"]),
        lambda: Factor([-1], ["a", "b"]),
        lambda: Factor([0], []),
        lambda: Factor([0], ["a", "a"]),
        lambda: Factor(["a"], ["a"]),
        lambda: Factor([0.0], ["a"]),
        lambda: Factor.from_values([0.5]),
        lambda: Factor.from_values(["a", None]),
        lambda: Factor.from_values([["a"]]),
        lambda: Factor.from_values("abc"),
        lambda: Factor.from_values({"m1": "f"}),
        lambda: Factor.from_values({"f", "m"}),
        lambda: Factor.from_values(1),
    ],
)
def test_bad_input(make):
    with pytest.raises(InvalidInputError):
        make()


# Codes that fit into a number together with their places, and codes that do not.
SMALL, LARGE = st.integers(0, 20), st.sampled_from([0, 1, 2**62, 2**63 - 1])


@given(st.lists(SMALL, max_size=60) | st.lists(LARGE, max_size=60))
def test_equal_codes_keep_their_order(values: list[int]) -> None:
    order, codes = sort_codes(np.array(values, dtype=np.int64))
    # Python's sort is stable.
    assert order.tolist() == sorted(range(len(values)), key=values.__getitem__)
    assert codes.tolist() == sorted(values)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=30))
def test_each_trial_once(trials: list[tuple[int, int]]) -> None:
    models = np.array([model for model, _ in trials], dtype=np.int32)
    segments = np.array([segment for _, segment in trials], dtype=np.int32)
    found = order_trials(models, segments, 5)
    lines = np.arange(len(trials)) if found.order is None else found.order
    distinct = sorted(set(trials), key=lambda trial: (trial[1], trial[0]))
    # The first line of each trial is kept; all others are repeated.
    assert lines.tolist() == [trials.index(trial) for trial in distinct]
    assert sorted([*lines.tolist(), *found.repeated.tolist()]) == list(range(len(trials)))
    for again, first in zip(found.repeated.tolist(), found.first.tolist(), strict=True):
        assert first == trials.index(trials[again]) < again


def test_codes_do_not_overflow() -> None:
    positions = np.array([2**31 - 2], dtype=np.int32)
    assert trial_codes(positions, positions, 2**31 - 1).tolist() == [(2**31 - 2) * 2**31]
