"""Columns of categories, labels of users, and lists of trials in order."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import InvalidInputError
from bosaris_py.files.columns import KINDS, Factor, as_labels, factor_of_kinds, order_trials

texts = st.lists(st.text(alphabet="abé ", max_size=3), max_size=30)


@given(texts, texts)
def test_equal_iff_the_values_are(first, second):
    assert (Factor.from_values(first) == Factor.from_values(second)) == (first == second)


def test_equality_ignores_the_order_of_levels_and_those_that_do_not_occur():
    assert Factor([0, 1], ["b", "a"]) == Factor([2, 0], ["a", "unused", "b"])
    assert Factor([0, 1], ["b", "a"]) != Factor([0, 1], ["a", "b"])
    assert Factor([0], ["b"]) != "b"


@pytest.mark.parametrize(("n_levels", "size"), [(1, 1), (256, 1), (257, 2), (65_537, 4)])
def test_codes_take_the_shortest_type(n_levels, size):
    levels = [f"{number:06}" for number in range(n_levels)]
    assert Factor(np.arange(n_levels), levels).codes.itemsize == size
    assert Factor.from_values(levels).codes.itemsize == size


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
        *(
            lambda codes=codes, levels=levels: Factor(codes, list(levels))
            for codes, levels in (([0, 2], "ab"), ([-1], "ab"), ([0], ""), ([0], "aa"))
        ),
        *(lambda codes=codes: Factor(codes, ["a"]) for codes in (["a"], [0.0])),
        *(
            lambda values=values: Factor.from_values(values)
            for values in ([0.5], ["a", None], [["a"]], "abc", {"m1": "f"}, {"f", "m"}, 1)
        ),
    ],
)
def test_bad_input(make):
    with pytest.raises(InvalidInputError):
        make()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=30))
def test_each_trial_once(trials: list[tuple[int, int]]) -> None:
    models, segments = np.array(trials, dtype=np.int32).reshape(-1, 2).T
    found = order_trials(models, segments, 5)
    lines = np.arange(len(trials)) if found.order is None else found.order
    distinct = sorted(set(trials), key=lambda trial: (trial[1], trial[0]))
    # The first line of each trial is kept; all others are repeated.
    assert lines.tolist() == [trials.index(trial) for trial in distinct]
    assert sorted([*lines.tolist(), *found.repeated.tolist()]) == list(range(len(trials)))
    for again, first in zip(found.repeated.tolist(), found.first.tolist(), strict=True):
        assert first == trials.index(trials[again]) < again


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        *((two, [True, False]) for two in ([True, False], [1, 0], [1, -1], ["Same", "different"])),
        ([0.0, 1.0], [False, True]),
        (["target", "nontarget"], [True, False]),
        (["bonafide", "spoof", "spoof"], [True, False, False]),
        (["non-mated", "mated"], [False, True]),
    ],
)
def test_labels(labels: list[Any], expected: list[bool]) -> None:
    assert as_labels(labels, "labels").tolist() == expected


@pytest.mark.parametrize(
    "labels",
    [
        *([[True], [False]], [1, 0, -1], [0, 2], [1.0, np.nan], [1, 0.5], {"a": 1}),
        *(["yes", "no"], ["target", "nontarget", "spoof"]),
    ],
)
def test_labels_that_are_none(labels: Any) -> None:
    with pytest.raises(InvalidInputError):
        as_labels(labels, "labels")


def test_the_column_of_kinds_has_the_words_of_the_classes() -> None:
    factor = factor_of_kinds(np.array([2, 1, 0], np.uint8))
    assert factor.values().tolist() == ["spoof", "target", "nontarget"]
    assert factor.levels.tolist() == list(KINDS) == sorted(KINDS)
