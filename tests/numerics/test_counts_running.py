"""Counting block by block must say what comparing each score with each threshold says."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bosaris_py.errors import InvalidInputError
from bosaris_py.numerics.counts import RunningCounts, running_sum
from tests.score_strategies import any_scores, score_lists


def naive(thresholds: np.ndarray, scores: np.ndarray) -> tuple[list[int], list[int]]:
    """Compare each score with each threshold, in float64."""
    values = scores.astype(np.float64)
    edges = [-np.inf, *thresholds.tolist(), np.inf]
    at = [int((values == limit).sum()) for limit in thresholds]
    between = [
        int(((values > low) & (values < high)).sum()) for low, high in itertools.pairwise(edges)
    ]
    # Infinite scores lie beyond all finite thresholds.
    between[0] += int((values == -np.inf).sum()) * (-np.inf not in thresholds)
    between[-1] += int((values == np.inf).sum()) * (np.inf not in thresholds)
    return at, between


@given(
    st.lists(any_scores, min_size=0, max_size=30),
    score_lists(any_scores, 60),
    st.sampled_from([np.float32, np.float64]),
    st.integers(1, 60),
)
def test_counts_are_those_of_comparisons(
    limits: list[float], scores: np.ndarray, dtype: type, step: int
) -> None:
    thresholds = np.unique(np.array(limits, dtype=np.float64))
    values = scores.astype(dtype)
    counts = RunningCounts(thresholds)
    for start in range(0, values.size, step):
        counts.add(values[start : start + step])
    at, between = counts.result()
    assert (at.tolist(), between.tolist()) == naive(thresholds, values)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "outliers", [[], [-1e30, 1e30], [-1e5, -2e5, 3e4], [-np.inf, np.inf]], ids=str
)
def test_outliers_among_thresholds(
    rng: np.random.Generator, dtype: type, outliers: list[float]
) -> None:
    """Thresholds far from the others change how scores are counted, not the counts."""
    thresholds = np.unique(np.append(rng.normal(2, 2, 3000).astype(np.float32), outliers))
    # Half of the scores are rounded, so that many are equal to each other and to thresholds.
    scores = np.append(rng.normal(-1, 2, 200_000).round(2), thresholds[::2]).astype(dtype)
    counts = RunningCounts(thresholds)
    for part in np.array_split(rng.permutation(scores), 7):
        counts.add(part)
    at, between = counts.result()
    ordered = np.sort(scores.astype(np.float64))
    below = np.searchsorted(ordered, thresholds, side="left")
    up_to = np.searchsorted(ordered, thresholds, side="right")
    np.testing.assert_array_equal(at, up_to - below)
    np.testing.assert_array_equal(between, np.append(below, scores.size) - np.append(0, up_to))


def test_result_can_be_asked_for_in_between() -> None:
    counts = RunningCounts(np.arange(10.0))
    counts.add(np.array([0.5, 3.0]))
    assert counts.result()[1].tolist() == [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    counts.add(np.array([0.5], dtype=np.float32))
    at, between = counts.result()
    assert at.tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    assert between.tolist() == [0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("bad", [[1.0, 1.0], [2.0, 1.0], [[1.0]], [np.nan]])
def test_thresholds_must_ascend(bad: list[float]) -> None:
    with pytest.raises(InvalidInputError, match="`thresholds` must be one-dim"):
        RunningCounts(bad)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_that_lie_elsewhere_than_the_first(rng: np.random.Generator, dtype: type) -> None:
    """The grid of the first block does not pay for the others, and is replaced."""
    thresholds = np.unique(np.append(rng.normal(0, 1, 2000), rng.normal(50, 1, 2000)))
    blocks = [rng.normal(mean, 1, 20_000).astype(dtype) for mean in (0.0, 50.0, 0.0, -1e6, 25.0)]
    blocks.append(np.full(20_000, thresholds[2500]).astype(dtype))
    counts = RunningCounts(thresholds)
    for block in blocks:
        counts.add(block)
    at, between = counts.result()
    ordered = np.sort(np.concatenate(blocks)).astype(np.float64)
    below = np.searchsorted(ordered, thresholds, side="left")
    up_to = np.searchsorted(ordered, thresholds, side="right")
    np.testing.assert_array_equal(at, up_to - below)
    np.testing.assert_array_equal(between, np.append(below, ordered.size) - np.append(0, up_to))


def test_running_sums_of_many_weights_are_exact() -> None:
    whole = running_sum(np.array([2**60, 1, 1]))
    assert (whole.dtype, whole.tolist()) == (np.int64, [2**60, 2**60 + 1, 2**60 + 2])
    tenths = running_sum(np.full(10**5, 0.1))
    assert tenths.dtype == np.float64
    assert tenths[-1] == pytest.approx(math.fsum([0.1] * 10**5), rel=1e-15, abs=0)
