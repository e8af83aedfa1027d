"""Lists of trials in order: sorting codes and finding repeated lines."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bosaris_py.storage.trial_table import order_trials, sort_codes, trial_codes

# Codes that fit into a number together with their places, and codes that do not.
SMALL, LARGE = st.integers(0, 20), st.sampled_from([0, 1, 2**62, 2**63 - 1])


@given(st.lists(SMALL, max_size=60) | st.lists(LARGE, max_size=60))
def test_equal_codes_keep_their_order(values: list[int]) -> None:
    order, codes = sort_codes(np.array(values, dtype=np.int64))
    # Python's sort is stable.
    assert order.tolist() == sorted(range(len(values)), key=values.__getitem__)
    assert codes.tolist() == sorted(values)


@pytest.mark.parametrize("n_runs", [1, 3, 400])
def test_codes_in_runs(n_runs: int, rng: np.random.Generator) -> None:
    codes = np.sort(rng.integers(0, 2**40, (n_runs, 1200 // n_runs)), axis=1).ravel()
    order, ascending = sort_codes(codes)
    np.testing.assert_array_equal(order, np.argsort(codes, kind="stable"))
    np.testing.assert_array_equal(ascending, codes[order])


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=30))
def test_each_trial_once(trials: list[tuple[int, int]]) -> None:
    models = np.array([model for model, _ in trials], dtype=np.int32)
    segments = np.array([segment for _, segment in trials], dtype=np.int32)
    found = order_trials(models, segments, 5)
    lines = np.arange(len(trials)) if found.order is None else found.order
    distinct = sorted(set(trials), key=lambda trial: (trial[1], trial[0]))
    assert [trials[line] for line in lines.tolist()] == distinct
    # The first line of each trial is kept; all others are repeated.
    assert lines.tolist() == [trials.index(trial) for trial in distinct]
    assert sorted([*lines.tolist(), *found.repeated.tolist()]) == list(range(len(trials)))
    counts = Counter(trials)
    assert found.repeated.size == sum(counts.values()) - len(counts)
    for again, first in zip(found.repeated.tolist(), found.first.tolist(), strict=True):
        assert trials[again] == trials[first]
        assert first == trials.index(trials[again]) < again


def test_codes_do_not_overflow() -> None:
    positions = np.array([2**31 - 2], dtype=np.int32)
    assert trial_codes(positions, positions, 2**31 - 1).tolist() == [(2**31 - 2) * 2**31]
