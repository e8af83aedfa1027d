"""The ROC: counts by definition, corners of the staircase, thresholds within limits."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import ROC
from bosaris_py.errors import InvalidInputError
from bosaris_py.numerics.roc import count_among, count_below, running_sum
from tests.score_strategies import naive_points, score_lists, weighted_scores

HARD = [-np.inf, -1.7e308, -1e-300, -0.0, 0.0, 5e-324, 1e-45, 0.1, 1.0, 3.5e38, np.inf]
numbers = st.one_of(
    st.sampled_from(HARD), st.floats(allow_nan=False), st.integers(-4, 4).map(float)
)


@given(
    st.lists(numbers, max_size=30),
    st.lists(numbers, max_size=10),
    st.sampled_from([np.float64, np.float32]),
)
def test_counts_are_comparisons_in_float64(values, limits, dtype: type) -> None:
    with np.errstate(over="ignore", under="ignore"):
        scores = np.sort(np.array(values, dtype=dtype))
    exact, thresholds = scores.astype(np.float64), np.sort(np.array(limits, dtype=np.float64))
    below, up_to = (
        np.sum(x, 1).tolist() for x in (exact < thresholds[:, None], exact <= thresholds[:, None])
    )
    assert count_below(scores, thresholds).tolist() == below
    assert count_among(scores[::-1], thresholds).tolist() == below
    assert count_below(scores, thresholds, "right").tolist() == up_to


def test_sums_of_whole_weights_are_whole() -> None:
    assert running_sum(np.array([2.0, 0.0, 3.0])).tolist() == [0, 2, 2, 5]
    assert running_sum(np.array([2.0, 0.0, 3.0])).dtype == np.int64
    assert running_sum(np.array([0.5, 2.0])).tolist() == [0.0, 0.5, 2.5]
    # Beyond 2^53 sums are rounded.
    kinds = [running_sum(np.array([2.0**53 - 2, last])).dtype.kind for last in (1.0, 4.0)]
    assert kinds == ["i", "f"]


def test_fractions_by_hand() -> None:
    """Both sides of each target score; 2 is a tie."""
    roc = ROC.from_scores([1.0, 2.0, 3.0], [0.0, 2.0])
    assert roc.thresholds[1:-1:2].tolist() == [1.0, 2.0, 3.0]
    assert roc.misses.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert roc.false_alarms.tolist() == [2, 1, 1, 1, 0, 0, 0, 0]
    corners = roc.corners()
    assert list(zip(corners.misses.tolist(), corners.false_alarms.tolist(), strict=True)) == [
        *((0, 2), (0, 1), (1, 1), (2, 0), (3, 0))
    ]
    assert roc.auc == pytest.approx((1 + 1.5 + 2) / 6, rel=1e-15)
    assert repr(roc).startswith("ROC: 3 targets, 2 non-targets, 8 ")


@given(score_lists(), score_lists())
def test_every_naive_point_lies_on_the_corners_line(tar: np.ndarray, non: np.ndarray) -> None:
    roc = ROC.from_scores(tar, non).corners()
    d_miss, d_fa = np.diff(roc.misses), np.diff(roc.false_alarms)
    assert not np.any((d_miss == 0) & (d_fa == 0))
    assert not np.any((d_miss[1:] == 0) & (d_miss[:-1] == 0))
    assert not np.any((d_fa[1:] == 0) & (d_fa[:-1] == 0))
    points = list(zip(roc.misses.tolist(), roc.false_alarms.tolist(), strict=True))
    for pmiss, pfa in naive_points(tar, non):
        x, y = pmiss * tar.size, pfa * non.size
        assert any(
            m0 <= x <= m1 and f1 <= y <= f0 and (m1 - m0) * (y - f0) == (f1 - f0) * (x - m0)
            for (m0, f0), (m1, f1) in itertools.pairwise(points)
        )


@given(weighted_scores(), weighted_scores())
def test_weights_are_repetitions(tar, non) -> None:
    weighted = ROC.from_scores(tar[0], non[0], tar_weights=tar[1], non_weights=non[1])
    repeated = ROC.from_scores(np.repeat(*tar), np.repeat(*non))
    assert weighted.misses.dtype == np.int64
    for name in ("thresholds", "misses", "false_alarms"):
        np.testing.assert_array_equal(getattr(weighted, name), getattr(repeated, name))
    assert weighted.auc == repeated.auc
    assert weighted.eer_threshold == repeated.eer_threshold


@given(score_lists(), score_lists(), st.floats(0, 1))
def test_thresholds_within_limits(tar: np.ndarray, non: np.ndarray, limit: float) -> None:
    roc = ROC.from_scores(tar, non)
    points = [(0.0, 1.0), *((float(m), float(f)) for m, f in naive_points(tar, non))]
    for own, (name, other) in enumerate((("pmiss", "pfa"), ("pfa", "pmiss"))):
        threshold = roc.threshold_at(**{name: limit})
        best = min(point[1 - own] for point in points if point[own] <= limit)
        assert getattr(threshold, name) <= limit
        assert getattr(threshold, other) == pytest.approx(best, abs=1e-15)
        if threshold < np.inf:
            rates = np.mean(tar < threshold), np.mean(non >= threshold)
            assert (threshold.pmiss, threshold.pfa) == rates
    least = min(map(max, points))
    assert max(roc.eer_threshold.pmiss, roc.eer_threshold.pfa) == pytest.approx(least, abs=1e-15)


def test_all_may_be_missed() -> None:
    """The highest target score, unless only to reject all saves false alarms."""
    roc = ROC.from_scores([1.0, 4.0], [0.0, 2.0])
    assert (roc.threshold_at(pmiss=1.0), roc.threshold_at(pmiss=1.0).pmiss) == (4.0, 0.5)
    assert ROC.from_scores([1.0, 4.0], [0.0, 4.0]).threshold_at(pmiss=1.0) == np.inf
    assert ROC.from_scores([1.0], [0.0]).threshold_at(pmiss=1.0) == 1.0


@pytest.mark.parametrize(
    "limits", [{}, {"pmiss": 0.1, "pfa": 0.1}, {"pfa": 1.5}, {"pfa": "x"}, {"pmiss": -0.1}]
)
def test_bad_limits(limits: dict) -> None:
    with pytest.raises(InvalidInputError):
        ROC.from_scores([1.0, 2.0], [0.0, 1.5]).threshold_at(**limits)


def test_arrays_and_those_of_copies_are_read_only() -> None:
    roc = ROC.from_scores([1.0, 2.0], [0.0, 1.5], tar_weights=[1.0, 0.5])
    for curve in (roc, copy.deepcopy(roc), pickle.loads(pickle.dumps(roc)), roc.convex_hull()):
        for name in ("thresholds", "misses", "false_alarms", "pmiss", "pfa"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(curve, name)[0] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            curve.thresholds.setflags(write=True)
