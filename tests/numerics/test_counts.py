"""Counts at and between thresholds: the definition, exactly."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.numerics.counts import (
    RunningCounts,
    SortedScores,
    are_whole,
    count_between,
    count_sorted,
)

HARD_NUMBERS = [
    -np.inf,
    -1.7976931348623157e308,
    -1e30,
    -3.5e38,
    -1.0,
    -1e-300,
    -5e-324,
    -0.0,
    0.0,
    5e-324,
    1e-300,
    1e-45,
    0.1,
    np.float64(np.float32(0.1)),
    1.0,
    np.nextafter(1.0, 2.0),
    np.float64(np.nextafter(np.float32(1.0), np.float32(2.0))),
    1e30,
    3.5e38,
    1.7976931348623157e308,
    np.inf,
]
numbers = st.one_of(
    st.sampled_from(HARD_NUMBERS),
    st.floats(-5.0, 5.0),
    st.floats(allow_nan=False),
    st.integers(-4, 4).map(float),
)


def naive(thresholds: np.ndarray, scores: np.ndarray, weights: list) -> tuple[list, list]:
    """Compare every score with every threshold, as Python floats; add exact fractions."""
    at = [Fraction(0)] * thresholds.size
    between = [Fraction(0)] * (thresholds.size + 1)
    limits = thresholds.tolist()
    for score, weight in zip(scores.tolist(), weights, strict=True):
        if score in limits:
            at[limits.index(score)] += Fraction(weight)
        else:
            between[sum(limit < score for limit in limits)] += Fraction(weight)
    return at, between


@given(
    st.lists(numbers, max_size=30),
    st.lists(numbers, max_size=60),
    st.sampled_from([np.float64, np.float32]),
    st.sampled_from(["none", "whole", "fractions"]),
)
def test_counts_are_the_definition(limits, values, dtype, kind: str) -> None:
    thresholds = np.unique(np.array(limits, dtype=np.float64))
    with np.errstate(over="ignore", under="ignore"):
        scores = np.array(values, dtype=np.float64).astype(dtype)
    # Eighths add without rounding, so equality is exact.
    weights = {
        "none": None,
        "whole": (np.arange(scores.size) % 3).astype(float),
        "fractions": (np.arange(scores.size) % 5) / 8,
    }[kind]
    if weights is not None and not weights.any():
        weights = None
    ones = [1] * scores.size if weights is None else weights.tolist()
    expected = naive(thresholds, scores, ones)
    at, between = count_between(thresholds, scores, weights)
    assert (at.tolist(), between.tolist()) == expected
    whole = weights is None or kind == "whole"
    assert at.dtype == between.dtype == (np.int64 if whole else np.float64)
    if scores.size:
        ordered = SortedScores.from_scores(scores, weights, name="scores")
        at, between = count_sorted(thresholds, ordered)
        assert (at.tolist(), between.tolist()) == expected


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "kind", ["normal", "tied", "outliers", "dense", "crowded", "far", "infinite", "steps"]
)
def test_many_scores_are_counted_as_by_a_sort(kind: str, dtype: type) -> None:
    """Against numpy.searchsorted in float64."""
    rng = np.random.default_rng(7)
    scores = rng.normal(size=300_000)
    thresholds = rng.normal(1.0, 1.0, 3000)
    if kind == "tied":
        scores, thresholds = np.round(scores, 2), np.round(thresholds, 2)
    elif kind == "outliers":
        thresholds[:5], scores[:7] = [-1e30, 1e30, -1e9, 1e300, 1e9], 1e30
    elif kind == "dense":
        thresholds = rng.normal(size=250_000)
    elif kind == "crowded":
        thresholds[:2500] = rng.normal(0.0, 1e-7, 2500)
    elif kind == "far":
        scores, thresholds = scores * 1e-3 + 1e8, thresholds * 1e-3 + 1e8
    elif kind == "infinite":
        thresholds[:2], scores[:9] = [-np.inf, np.inf], np.repeat([np.inf, -np.inf, 9.0], 3)
    elif kind == "steps":
        thresholds = np.arange(-4.0, 4.0, 0.001)
        scores = np.round(scores, 3)
    scores = scores.astype(dtype)
    thresholds[0] = scores[11]
    thresholds = np.unique(thresholds)
    ordered = np.sort(scores).astype(np.float64)
    below = np.searchsorted(ordered, thresholds, side="left")
    up_to = np.searchsorted(ordered, thresholds, side="right")
    at, between = count_between(thresholds, scores)
    np.testing.assert_array_equal(at, up_to - below)
    np.testing.assert_array_equal(between, np.append(below, scores.size) - np.append(0, up_to))
    weights = rng.integers(0, 5, scores.size).astype(float)
    at, between = count_between(thresholds, scores, weights)
    order = np.argsort(scores, kind="stable")
    running = np.append(0, np.cumsum(weights[order]))
    np.testing.assert_array_equal(at, running[up_to] - running[below])
    expected = np.append(running[below], running[-1]) - np.append(0, running[up_to])
    np.testing.assert_array_equal(between, expected)


def test_input_is_left_alone_and_results_are_read_only() -> None:
    thresholds, scores = np.array([0.0, 1.0]), np.array([0.5, 1.0])
    at, between = count_between(thresholds, scores, np.array([2.0, 3.0]))
    assert (at.tolist(), between.tolist()) == ([0, 3], [0, 2, 0])
    assert not at.flags.writeable
    assert not between.flags.writeable
    assert (thresholds.tolist(), scores.tolist()) == ([0.0, 1.0], [0.5, 1.0])


def test_large_sums_do_not_round_small_ones() -> None:
    """A gap of weight 1e-30 above gaps of weight 1e5: a running total would lose it."""
    rng = np.random.default_rng(0)
    scores = np.append(rng.normal(size=100_000), [50.0, 60.0])
    weights = np.append(np.full(100_000, 1 / 3), [1e-30, 3e-30])
    thresholds = np.append(np.sort(rng.normal(size=1000)), [40.0, 60.0])
    at, between = count_between(thresholds, scores, weights)
    assert at[-1] == 3e-30
    assert between[-2:].tolist() == [1e-30, 0.0]


@given(
    st.lists(numbers, max_size=30),
    st.lists(st.tuples(st.lists(numbers, max_size=20), st.booleans()), max_size=5),
)
def test_blocks_add_up(limits, blocks: list) -> None:
    """Blocks of either type, in any number; asking in between changes nothing."""
    thresholds = np.unique(np.array(limits, dtype=np.float64))
    with np.errstate(over="ignore", under="ignore"):
        counts = RunningCounts(thresholds)
        scores = [np.array(v).astype(np.float32 if single else float) for v, single in blocks]
        for block in scores:
            counts.add(block)
            counts.result()
        at, between = counts.result()
    together = np.concatenate([np.empty(0), *(block.astype(np.float64) for block in scores)])
    expected = naive(thresholds, together, [1] * together.size)
    assert (at.tolist(), between.tolist()) == expected


@pytest.mark.parametrize("place", [0, 2**16 - 1, 2**16, 2**17 - 1, 2**17 + 4])
def test_one_fractional_weight_of_many_is_seen(place: int) -> None:
    weights = np.ones(2**17 + 5)
    assert are_whole(weights)
    weights[place] = 0.5
    assert not are_whole(weights)
