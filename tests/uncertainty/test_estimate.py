"""Estimates: ends, bounds, p-values and quantiles, by closed forms."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from bosaris_py.errors import InvalidInputError
from bosaris_py.uncertainty.estimate import Estimate, quantile

NORMAL = Estimate.from_error(0.3, 0.1, method="formula")
STUDENT = Estimate.from_error(0.3, 0.1, degrees=7.0, confidence=0.9, n_units=8)
REPLICATES = np.random.default_rng(1).normal(0.3, 0.1, 999)
DRAWN = Estimate.from_replicates(0.3, REPLICATES, interval="percentile")


def test_normal_ends() -> None:
    z = stats.norm.ppf(0.975)
    assert NORMAL.low == pytest.approx(0.3 - z * 0.1, rel=1e-14)
    assert NORMAL.high == pytest.approx(0.3 + z * 0.1, rel=1e-14)
    assert NORMAL.width == pytest.approx(0.2 * z, rel=1e-14)
    assert NORMAL.z == pytest.approx(3.0)
    assert NORMAL.relative_error == pytest.approx(1.96 / 3)


def test_student_ends_and_one_sided_bounds() -> None:
    t = stats.t.ppf(0.95, 7)
    assert STUDENT.interval(0.9) == pytest.approx((0.3 - t * 0.1, 0.3 + t * 0.1), rel=1e-12)
    assert STUDENT.upper(0.95) == pytest.approx(0.3 + t * 0.1, rel=1e-12)
    assert STUDENT.lower(0.95) == pytest.approx(STUDENT.low, rel=1e-12)


def test_p_values_are_those_of_the_law() -> None:
    assert NORMAL.p_value() == pytest.approx(2 * stats.norm.sf(3.0), rel=1e-12)
    assert NORMAL.p_value(alternative="greater") == pytest.approx(stats.norm.sf(3.0), rel=1e-12)
    assert NORMAL.p_value(alternative="less") == pytest.approx(stats.norm.cdf(3.0), rel=1e-12)
    assert STUDENT.p_value(0.1) == pytest.approx(2 * stats.t.sf(2.0, 7), rel=1e-12)
    assert Estimate.from_error(0.0, 0.0).p_value() == 1.0


@given(st.floats(0.0, 0.6), st.floats(0.01, 0.99))
def test_p_value_inverts_the_interval_of_replicates(against: float, confidence: float) -> None:
    low, high = DRAWN.interval(confidence)
    outside = not low <= against <= high
    p = DRAWN.p_value(against)
    if abs(p - (1 - confidence)) > 1e-6:
        assert (p < 1 - confidence) == outside


@given(st.floats(0.05, 0.8))
def test_p_value_inverts_ends_of_any_form(against: float) -> None:
    """A value of 0.2 that is normal on the logarithm, with a standard deviation of 0.4."""

    def ends(tail: float) -> tuple[float, float]:
        half = 0.4 * stats.norm.isf(tail)
        return 0.2 * math.exp(-half), 0.2 * math.exp(half)

    found = Estimate(value=0.2, standard_error=0.1, method="jackknife", ends=ends)
    z = math.log(0.2 / against) / 0.4
    expected = {"two-sided": 2 * stats.norm.sf(abs(z)), "greater": stats.norm.sf(z)}
    for alternative, p in (expected | {"less": stats.norm.cdf(z)}).items():
        assert found.p_value(against, alternative) == pytest.approx(p, rel=1e-8)


def test_replicates_that_are_not_finite_are_left_out() -> None:
    found = Estimate.from_replicates(
        1.0, np.array([1.0, math.nan, 3.0, math.inf, 2.0]), interval="percentile", confidence=0.5
    )
    assert found.standard_error == 1.0
    assert (found.low, found.high) == (1.0, 3.0)
    assert found.replicates.size == 5


def test_normal_interval_of_replicates_is_clipped() -> None:
    found = Estimate.from_replicates(
        0.01, np.array([0.0, 0.02, 0.04]), interval="normal", bounds=(0.0, 1.0)
    )
    assert found.low == 0.0
    assert found.standard_error == pytest.approx(0.02)


def test_what_does_not_apply_is_none() -> None:
    found = Estimate(value=0.5, standard_error=None, method="jackknife")
    assert found.low is found.high is found.width is None
    with pytest.raises(InvalidInputError):
        found.interval()
    assert "no interval" in repr(found)


def test_speakers_needed() -> None:
    # Half a length of 1.96 SE, K = 8: eight times as many for an interval of 1 / sqrt(8).
    found = Estimate.from_error(0.3, 0.1, n_units=8)
    half = stats.norm.ppf(0.975) * 0.1
    assert found.speakers_needed(half / 2) == 32
    assert found.speakers_needed(half * 1.0000001) == 8


def test_estimates_can_be_pickled() -> None:
    for found in (NORMAL, STUDENT, DRAWN):
        again = pickle.loads(pickle.dumps(found))
        assert again.interval() == found.interval()


def test_quantiles_of_definition_2() -> None:
    # Hyndman and Fan 1996: the mean of two order statistics where n p is whole.
    assert quantile(range(1, 101), 0.29) == 29.5
    assert quantile([3.0, 1.0, 2.0], [0.0, 0.5, 1.0]).tolist() == [1.0, 2.0, 3.0]
    assert quantile([1.0, 2.0, 3.0, 4.0], 0.25) == 1.5
