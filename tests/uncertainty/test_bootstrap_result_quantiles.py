import math
from fractions import Fraction

import numpy as np
import pytest

from bosaris_py.errors import InvalidInputError
from bosaris_py.uncertainty import quantile
from bosaris_py.uncertainty.bootstrap_result import BootstrapResult, student_quantiles


def exact_quantile(n: int, p: Fraction) -> float:
    """Definition 2 of the sample 1, ..., n in exact arithmetic."""
    product = n * p
    if product.denominator == 1:
        ranks = [int(product), int(product) + 1]
    else:
        ranks = [math.ceil(product)] * 2
    return sum(min(max(rank, 1), n) for rank in ranks) / 2


@pytest.mark.parametrize(
    ("p", "expected"), [(0.28, 28.5), (0.29, 29.5), (0.57, 57.5), (0.58, 58.5)]
)
def test_whole_products_that_floating_point_misses(p: float, expected: float) -> None:
    sample = np.arange(1, 101)
    # What makes this necessary: numpy does not average here.
    assert np.quantile(sample, p, method="averaged_inverted_cdf") != expected
    assert quantile(sample, p) == expected


@pytest.mark.parametrize("n", [1, 2, 7, 40, 100, 500, 2000, 10_000])
def test_agrees_with_exact_arithmetic_for_all_decimal_probabilities(n: int) -> None:
    sample = np.arange(1, n + 1)[::-1]
    decimals = [Fraction(k, 1000) for k in range(1001)]
    found = quantile(sample, [float(p) for p in decimals])
    assert found.tolist() == [exact_quantile(n, p) for p in decimals]


@pytest.mark.parametrize("n", [3, 7, 11, 49, 97])
def test_agrees_with_exact_arithmetic_at_the_steps(n: int) -> None:
    steps = [Fraction(k, n) for k in range(n + 1)]
    found = quantile(np.arange(1, n + 1), [float(p) for p in steps])
    assert found.tolist() == [exact_quantile(n, p) for p in steps]


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99, 0.999, 0.9999])
def test_tails_computed_from_a_confidence_fall_on_the_steps(confidence: float) -> None:
    n = 20_000
    tail = (1 - Fraction(str(confidence))) / 2
    found = quantile(np.arange(1, n + 1), [(1 - confidence) / 2, (1 + confidence) / 2])
    assert found.tolist() == [exact_quantile(n, tail), exact_quantile(n, 1 - tail)]


def test_columns_are_samples_of_their_own(rng: np.random.Generator) -> None:
    sample = rng.normal(size=(50, 2, 3))
    found = quantile(sample, [0.1, 0.5])
    assert found.shape == (2, 2, 3)
    assert found[1, 1, 2] == quantile(sample[:, 1, 2], 0.5)


def test_infinite_neighbours_do_not_make_nan() -> None:
    assert quantile([np.inf, np.inf], 0.5) == np.inf


def test_input_is_left_alone() -> None:
    sample = np.array([3.0, 1.0, 2.0])
    sample.setflags(write=False)
    assert quantile(sample, 0.5) == 2.0


@pytest.mark.parametrize(
    ("values", "p", "message"),
    [
        ([], 0.5, "at least one"),
        (3.0, 0.5, "list of numbers"),
        ([1.0, np.nan], 0.5, "not hold NaN"),
        ([1.0], 1.5, r"lie in \[0, 1\]; got 1.5. Percentages"),
        ([1.0], np.nan, r"lie in \[0, 1\]"),
    ],
)
def test_bad_input(values: object, p: float, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        quantile(values, p)


@pytest.mark.parametrize(("tail", "rank"), [(0.05, 1), (0.1, 2), (0.45, 9), (0.025, 0)])
def test_quantiles_of_draws_of_students_t(tail: float, rank: int) -> None:
    # The r-th of B ascending draws is the quantile r / (B + 1): Davison and Hinkley 1997, 2.5.
    draws = np.arange(1.0, 20.0) ** 2
    found = student_quantiles(tail, math.inf, draws)
    if rank:
        assert found == (rank**2, (20 - rank) ** 2)
    else:
        # Too few draws for so small a tail: the normal law.
        assert found == student_quantiles(tail, math.inf)
        assert found == pytest.approx((-1.959963984540054, 1.959963984540054), rel=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e-16, 1e-200])
def test_small_numbers_vary_like_large_ones(scale: float, rng: np.random.Generator) -> None:
    replicates = scale * (1.0 + 0.1 * rng.random(50))
    result = BootstrapResult.from_replicates(
        scale, replicates, method="iid", interval="percentile", confidence=0.9, bounds=(0.0, 1.0)
    )
    assert result.standard_error == pytest.approx(replicates.std(ddof=1), rel=1e-12, abs=0)


def test_ratios_of_an_estimate_of_zero_are_the_quantiles() -> None:
    """There is no logarithm of 0; its interval ended where it began, however replicates varied."""
    replicates = np.concatenate([np.zeros(50), np.linspace(0.01, 0.5, 50)])
    options = {"method": "any", "interval": "ratio", "confidence": 0.9, "bounds": (0.0, 1.0)}
    found = BootstrapResult.from_replicates(0.0, replicates, **options)
    # The 95 % quantile of 100 replicates is the mean of the 95th and the 96th.
    assert (found.low, found.high) == (0.0, pytest.approx((0.45 + 0.46) / 2, rel=1e-12))
