"""Estimates: ends, bounds, p-values and quantiles, by closed forms."""

import math
from fractions import Fraction

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
    # Of smaller tails a confidence would be 1.
    assert [found.p_value(far) for far in (1e9, 1e-9)] == [2.0**-51] * 2
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
    assert "95 % interval" in repr(NORMAL)


def test_speakers_needed() -> None:
    # Half a length of 1.96 SE, K = 8: eight times as many for an interval of 1 / sqrt(8).
    found = Estimate.from_error(0.3, 0.1, n_units=8)
    half = stats.norm.ppf(0.975) * 0.1
    assert found.speakers_needed(half / 2) == 32
    assert found.speakers_needed(half * 1.0000001) == 8


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=40), st.integers(0, 40))
def test_quantiles_of_definition_2(values: list[int], part: int) -> None:
    """Hyndman and Fan 1996: the mean of two order statistics where n p is whole."""
    place, ordered = Fraction(len(values) * part, 40), sorted(values)
    pair = (place, place + 1) if place.denominator == 1 else (math.ceil(place),) * 2
    low, high = (ordered[min(max(int(one), 1), len(values)) - 1] for one in pair)
    assert quantile(values, part / 40) == (low + high) / 2
    matrix = np.stack((values, values), 1)
    assert quantile(matrix, [part / 40]).tolist() == [[(low + high) / 2] * 2]


def test_quantiles_of_any_form() -> None:
    # 100 times 0.29 is 28.999999999999996.
    assert quantile(range(1, 101), 0.29) == 29.5
    assert quantile([3.0, 1.0, 2.0], [0.0, 0.5, 1.0]).tolist() == [1.0, 2.0, 3.0]
    assert (quantile([3, 1, 2], 1), quantile([3, 1, 2], 0)) == (3.0, 1.0)
    assert quantile([-math.inf, -math.inf, 0.0, math.inf], [0.5, 0.25]).tolist() == [-math.inf] * 2
    for bad in (([], 0.5), ([math.nan], 0.5), ([1.0], -0.1), ([1.0], [0.5, 1.1])):
        with pytest.raises(InvalidInputError):
            quantile(*bad)


def test_ends_without_an_error_and_values_of_zero() -> None:
    without = Estimate(value=0.5, standard_error=None, ends=lambda _: (0.25, 1.0))
    assert (without.low, without.high, without.width) == (0.25, 1.0, 0.75)
    assert Estimate.from_error(0.0, 0.1).relative_error == math.inf
    assert [Estimate.from_error(x, 0.0).z for x in (-1.0, 0.0)] == [-math.inf, 0.0]
    assert Estimate(value=0.5, standard_error=None).relative_error == math.inf


@pytest.mark.parametrize(
    "call",
    [
        *(lambda: NORMAL.upper(0.5), lambda: NORMAL.lower(0.3), lambda: NORMAL.interval(95)),
        *(lambda: NORMAL.p_value(math.nan), lambda: NORMAL.p_value(alternative="more")),
        lambda: NORMAL.speakers_needed(0.1),
        lambda: STUDENT.speakers_needed(0.0),
        lambda: Estimate.from_error(0.3, 0.0, n_units=8).speakers_needed(0.1),
        lambda: Estimate.from_replicates(0.3, REPLICATES, interval="basic"),
    ],
)
def test_what_is_refused(call) -> None:
    with pytest.raises(InvalidInputError):
        call()


def test_p_values_of_replicates_are_at_least_two_of_their_number() -> None:
    for against, tails in ((-9.0, (998, 1)), (9.0, (1, 998))):
        assert DRAWN.p_value(against) == pytest.approx(2 / 999)
        found = [DRAWN.p_value(against, side) for side in ("less", "greater")]
        assert found == pytest.approx([tail / 999 for tail in tails])
    assert DRAWN.p_value(float(np.median(REPLICATES))) == 1.0
    # One replicate has no deviation, and none has no ends.
    for drawn in ([1.0, np.nan], [np.nan] * 2):
        lacking = Estimate.from_replicates(0.3, np.array(drawn), interval="percentile")
        assert math.isnan(lacking.standard_error)
        assert math.isnan(lacking.low) == np.isnan(drawn).all()
