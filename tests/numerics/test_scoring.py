"""Scoring rules: losses and derivatives by definition; sums of Cllr of any size."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given

from bosaris_py import OperatingPoint
from bosaris_py.errors import InvalidInputError
from bosaris_py.numerics.scoring import OBJECTIVES, mean_bits, resolve_prior, scoring_rule, softplus
from tests.score_strategies import finite_scores, score_lists

# Losses of log-odds against the truth.
LOSSES = {
    "cllr": lambda z: math.log1p(math.exp(z)),
    "brier": lambda z: 0.5 / (1 + math.exp(-z)) ** 2,
    "boost": lambda z: math.exp(z / 2),
}


@pytest.mark.parametrize("name", OBJECTIVES)
def test_losses_and_derivatives(name: str) -> None:
    z = np.linspace(-6.0, 6.0, 25)
    rule, loss = scoring_rule(name), LOSSES[name]
    slope, curvature = np.empty(z.size), np.empty(z.size)
    values = np.array([rule.sum(z[i : i + 1].copy(), *np.empty((2, 1))) for i in range(z.size)])
    np.testing.assert_allclose(values, [loss(x) for x in z], rtol=1e-14)
    rule.sum(z.copy(), slope, curvature)
    step = 1e-4
    ahead, behind = (np.array([loss(x + sign * step) for x in z]) for sign in (1, -1))
    np.testing.assert_allclose(slope, (ahead - behind) / (2 * step), rtol=1e-6)
    np.testing.assert_allclose(
        curvature, (ahead - 2 * values + behind) / step**2, rtol=1e-3, atol=1e-6
    )
    assert rule.convex == bool((curvature >= 0).all())
    weights = np.arange(z.size) % 3.0
    total = rule.sum(z.copy(), slope, curvature, weights)
    assert total == pytest.approx(float(values @ weights), rel=1e-14)
    assert pickle.loads(pickle.dumps(rule)) is rule


@pytest.mark.parametrize("name", OBJECTIVES)
def test_entropy_is_the_loss_of_the_prior_alone(name: str) -> None:
    for prior in (0.01, 0.3, 0.5):
        plo = math.log(prior / (1 - prior))
        loss = prior * LOSSES[name](-plo) + (1 - prior) * LOSSES[name](plo)
        assert scoring_rule(name).entropy(prior) == pytest.approx(loss, rel=1e-14)


@pytest.mark.parametrize(("name", "growth"), [("cllr", 1.0), ("brier", 0.0)])
def test_losses_are_straight_beyond_700(name: str, growth: float) -> None:
    slope, curvature = np.empty(1), np.empty(1)
    near, far = (
        scoring_rule(name).sum(np.array([z]), slope, curvature, np.ones(1)) for z in (700.0, 1e6)
    )
    assert far - near == pytest.approx(growth * (1e6 - 700.0), rel=1e-12)


def test_unknown_rules_and_priors() -> None:
    with pytest.raises(InvalidInputError):
        scoring_rule("hinge")
    with pytest.raises(InvalidInputError):
        resolve_prior(1.0)
    assert scoring_rule("CLLR") is scoring_rule("cllr")
    prior, plo = resolve_prior(OperatingPoint(0.01, 10, 1))
    assert prior == pytest.approx(10 / 109, rel=1e-15)
    assert plo == pytest.approx(math.log(10 / 99), rel=1e-15)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("size", [1, 15, 16, 1000, 1007])
@pytest.mark.parametrize("mean", [-20.0, -5.0, 0.0, 300.0])
def test_sum_of_losses_is_that_of_each(objective, size, mean, rng):
    log_odds = rng.normal(mean, 1.0, size)
    rule, weights = scoring_rule(objective), rng.uniform(0.5, 2.0, size)
    slope, curvature, *others = (np.empty(size) for _ in range(4))
    # A product of a few factors may overflow; then each has a logarithm of its own.
    total = rule.sum(log_odds.copy(), slope, curvature)
    assert total == pytest.approx(rule.sum(log_odds.copy(), *others, np.ones(size)), rel=1e-14)
    assert np.array_equal(others, (slope, curvature))
    rule.sum(log_odds.copy(), *others, weights)
    assert np.array_equal(others, (weights * slope, weights * curvature))


# ---- Cllr


def naive(scores: np.ndarray, sign: float) -> float:
    return math.fsum(np.logaddexp(0, sign * scores)) / math.log(2) / scores.size


@given(score_lists(finite_scores))
def test_mean_bits_is_the_definition(scores: np.ndarray) -> None:
    for sign in (-1.0, 1.0):
        assert mean_bits(scores, sign) == pytest.approx(naive(scores, sign), rel=1e-14)
        np.testing.assert_allclose(
            softplus(scores, sign), np.logaddexp(0, sign * scores), rtol=1e-14
        )


@pytest.mark.parametrize("size", [16, 1029, 2**15 + 17])
@pytest.mark.parametrize("height", [0.0, 4.0, 9.0, 36.0, 45.0, 700.0, 5000.0])
def test_sums_of_any_size_are_exact(rng: np.random.Generator, size: int, height: float) -> None:
    """Above 4 a mean is below 0.01, above 36 a float cannot hold 1 plus it; products overflow."""
    for scores in (rng.normal(height, 1, size), rng.uniform(-height, height, size)):
        for sign in (-1.0, 1.0):
            assert mean_bits(scores, sign) == pytest.approx(naive(scores, sign), rel=2e-13, abs=0)
    single = rng.normal(height, 1, size).astype(np.float32)
    assert mean_bits(single, -1.0) == pytest.approx(naive(single.astype(float), -1.0), rel=2e-13)


@pytest.mark.parametrize("size", [2, 2**16])
def test_infinite_where_a_sum_exceeds_all_numbers(size: int) -> None:
    """Within a block of scores and, in the second case, of sums of blocks only."""
    assert mean_bits(np.full(size, 1.7e308 / (size / 2)), 1.0) == math.inf
    assert mean_bits(np.array([-math.inf, 0.0]), -1.0) == math.inf
    assert mean_bits(np.array([math.inf]), -1.0) == 0.0
