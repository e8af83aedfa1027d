"""Moments of the scores of a class against numpy's, far from zero too, and by hand."""

import numpy as np
import pytest

from bosaris_py.numerics.moments import class_moments, merge_moments, moderate_weights, pool_classes


@pytest.mark.parametrize("block", [None, 1, 13])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments(block, weighted, rng, monkeypatch):
    if block is not None:
        monkeypatch.setattr("bosaris_py.numerics.moments.BLOCK", block)
    # Far from zero, where a textbook sum of squares has lost all digits.
    scores = rng.normal(1e9, 1.0, (2, 300))
    weights = rng.uniform(0.5, 2.0, 300) if weighted else None
    moments = class_moments(scores, weights)
    # An offset of 1e9 leaves 1e-7 of a standard deviation to the scores themselves.
    exact = scores - 1e9
    np.testing.assert_allclose(
        moments.scatter, np.cov(exact, ddof=0, aweights=weights), rtol=1e-6, atol=1e-7
    )
    mean = np.average(exact, axis=1, weights=weights)
    np.testing.assert_allclose(moments.mean - 1e9, mean, atol=1e-6)
    np.testing.assert_array_equal(moments.lowest, scores.min(axis=1))
    np.testing.assert_array_equal(moments.highest, scores.max(axis=1))


def test_moments_of_blocks_that_lie_far_apart(monkeypatch):
    """Each block is seen from where the one before it lies."""
    monkeypatch.setattr("bosaris_py.numerics.moments.BLOCK", 10)
    tops = np.repeat([0.0, 1e8, -1e8, 5.0], 10)
    scores = np.vstack((tops + np.tile([-1.0, 1.0], 20), np.tile([0.0, 0.5], 20)))
    moments = class_moments(scores)
    np.testing.assert_allclose(moments.mean, [1.25, 0.25], rtol=1e-7)
    # (2 * 1e16 + 25) / 4 from the tops, 1 from what alternates, less the squared mean.
    assert moments.scatter[0, 0] == pytest.approx(5e15 + 6.25 + 1.0 - 1.25**2, abs=2.0)
    assert moments.scatter[1, 1] == 0.0625
    assert moments.scatter[0, 1] == pytest.approx(0.25, rel=1e-7)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_range_shows_non_finite_scores(bad, monkeypatch):
    monkeypatch.setattr("bosaris_py.numerics.moments.BLOCK", 10)
    scores = np.ones((2, 100))
    scores[1, 57] = bad
    moments = class_moments(scores)
    assert np.isfinite([moments.lowest[0], moments.highest[0]]).all()
    assert not np.isfinite([moments.lowest[1], moments.highest[1]]).all()


def test_merged_moments_keep_small_spreads_far_from_zero():
    """Integers from 2^40 on: the variance of 0 ... n - 1 is (n^2 - 1) / 12."""
    scores = 2.0**40 + np.arange(120.0)[None, :]
    parts = [class_moments(scores[:, start : start + 40], None) for start in (0, 40, 80)]
    merged = merge_moments(parts, [40, 40, 40])
    assert merged.mean[0] == 2.0**40 + 59.5
    assert merged.scatter[0, 0] == pytest.approx((120**2 - 1) / 12, rel=1e-12)
    assert (merged.lowest[0], merged.highest[0]) == (2.0**40, 2.0**40 + 119)


def test_pooled_classes_count_the_same(rng):
    """The moments of all trials, if those of a class have a weight of one half together."""
    tar, non = rng.normal(2.0, 1.0, (2, 30)), rng.normal(0.0, 2.0, (2, 90))
    centre, covariance = pool_classes(class_moments(tar), class_moments(non))
    weights = np.repeat([1 / 60, 1 / 180], [30, 90])
    both = np.hstack((tar, non))
    np.testing.assert_allclose(centre, both @ weights, rtol=1e-13)
    np.testing.assert_allclose(covariance, np.cov(both, ddof=0, aweights=weights), rtol=1e-13)


def test_weights_are_divided_by_a_power_of_two():
    for weights in ([3.0, 0.5], [3 * 2.0**1000, 2.0**999], [3 * 2.0**-1073, 2.0**-1074]):
        assert moderate_weights(np.array(weights)).tolist()[0] == 0.75
    assert moderate_weights(np.array([3.0, 0.5, 0.0])).tolist() == [0.75, 0.125, 0.0]
