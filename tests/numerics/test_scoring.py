"""Scoring rules, sums of Cllr of any size, and objectives of training, by definition."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import OperatingPoint
from bosaris_py.errors import InvalidInputError
from bosaris_py.numerics import scoring
from bosaris_py.numerics.priors import logit
from bosaris_py.numerics.scoring import OBJECTIVES, mean_bits, scoring_rule, softplus
from tests.score_strategies import finite_scores, score_lists

# Losses of real or complex log-odds against the truth: the toolkit's table.
LOSSES = {
    "cllr": lambda z: np.log(1 + np.exp(z)),
    "brier": lambda z: 0.5 / (1 + np.exp(-z)) ** 2,
    "boost": lambda z: np.exp(z / 2),
}


def naive_entropy(name: str, prior: float) -> float:
    """Return the loss of the prior alone."""
    loss, plo = LOSSES[name], math.log(prior / (1 - prior))
    return prior * loss(-plo) + (1 - prior) * loss(plo)


def test_unknown_rules_and_priors() -> None:
    with pytest.raises(InvalidInputError):
        scoring_rule("hinge")
    with pytest.raises(InvalidInputError):
        scoring.resolve_prior(1.0)
    assert scoring_rule("CLLR") is pickle.loads(pickle.dumps(scoring_rule("cllr")))
    prior, plo = scoring.resolve_prior(OperatingPoint(0.01, 10, 1))
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


@pytest.mark.parametrize("block", [None, 1, 13])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments(block, weighted, rng, monkeypatch):
    if block is not None:
        monkeypatch.setattr("bosaris_py.numerics.scoring.BLOCK", block)
    # Far from zero, where a textbook sum of squares has lost all digits.
    scores = rng.normal(1e9, 1.0, (2, 300))
    weights = rng.uniform(0.5, 2.0, 300) if weighted else None
    moments = scoring.class_moments(scores, weights)
    # An offset of 1e9 leaves 1e-7 of a standard deviation to the scores themselves.
    exact = scores - 1e9
    np.testing.assert_allclose(
        moments.scatter, np.cov(exact, ddof=0, aweights=weights), rtol=1e-6, atol=1e-7
    )
    mean = np.average(exact, axis=1, weights=weights)
    np.testing.assert_allclose(moments.mean - 1e9, mean, atol=1e-6)
    np.testing.assert_array_equal(moments.lowest, scores.min(axis=1))
    np.testing.assert_array_equal(moments.highest, scores.max(axis=1))


PRIORS = (0.5, 0.1, 0.001, 0.999)


def naive_value(coefficients, tar, non, prior, objective, tar_weights=None, non_weights=None):
    """Return the objective as one would write it down."""
    tar_llr = coefficients[:-1] @ tar + coefficients[-1]
    non_llr = coefficients[:-1] @ non + coefficients[-1]
    u = np.ones(tar.shape[1]) if tar_weights is None else tar_weights
    v = np.ones(non.shape[1]) if non_weights is None else non_weights
    tar_cost = (u @ LOSSES[objective](-tar_llr - logit(prior))) / u.sum()
    non_cost = (v @ LOSSES[objective](non_llr + logit(prior))) / v.sum()
    return (prior * tar_cost + (1 - prior) * non_cost) / naive_entropy(objective, prior)


def complex_step_gradient(function, point):
    """First derivatives to rounding: no difference is taken."""
    steps = 1e-30j * np.eye(point.size)
    return np.array([function(point + step).imag for step in steps]) / 1e-30


@pytest.fixture
def scores(rng):
    tar = rng.normal(1.0, 1.0, (3, 40))
    non = rng.normal(-1.0, 1.5, (3, 70))
    return tar, non, rng.uniform(0.5, 2.0, 40), rng.uniform(0.5, 2.0, 70)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("weighted", [False, True])
def test_value_gradient_and_hessian(objective, prior, weighted, scores, rng):
    tar, non, *weights = scores
    if not weighted:
        weights = [None, None]
    training = scoring.TrainingObjective.from_scores(
        tar, non, prior=prior, objective=objective, tar_weights=weights[0], non_weights=weights[1]
    )
    point = rng.normal(size=4)

    def naive(coefficients):
        return naive_value(coefficients, tar, non, prior, objective, *weights)

    here = training.evaluate(point)
    # A sum of 110 positive terms: a few units of rounding. The prior 0.999 makes the naive
    # formula, not ours, lose two digits in log(1 + e^z).
    assert here.value == pytest.approx(naive(point), rel=1e-13)
    gradient = complex_step_gradient(naive, point)
    scale = np.abs(gradient).max()
    np.testing.assert_allclose(here.gradient, gradient, atol=1e-12 * scale)
    # Central differences of the gradient: error h^2 of the fourth derivative, plus
    # rounding / h; both near 1e-10.
    h = 1e-5
    hessian = [
        (training.evaluate(point + e).gradient - training.evaluate(point - e).gradient) / (2 * h)
        for e in h * np.eye(4)
    ]
    np.testing.assert_allclose(here.hessian, hessian, atol=1e-8 * np.abs(hessian).max())
    np.testing.assert_array_equal(here.hessian, here.hessian.T)
    assert scoring_rule(objective).convex == (objective != "brier")
    overlap = (point[:3] @ non).max() - (point[:3] @ tar).min()
    assert here.overlap == pytest.approx(overlap, abs=1e-13)


@given(st.sampled_from(OBJECTIVES), st.floats(1e-9, 1 - 1e-9))
def test_no_information_costs_one(objective, prior):
    # For priors near 1 the losses are differences of numbers with an error of 1 / (1 - p).
    tolerance = 1e-14 / (1 - prior)
    value = scoring.evaluate_objective([0.0, 0.0], [0.0], prior=prior, objective=objective)
    assert value == pytest.approx(1.0, abs=tolerance)


@pytest.mark.parametrize(
    ("objective", "tar", "non", "expected"),
    [
        # One of two targets is 1e6 nats wrong: (1/2) (1/2) 1e6 / ln 2.
        ("cllr", [1e6, -1e6], [-1e6], 0.25e6 / math.log(2)),
        ("cllr", [np.inf], [-np.inf, 0.0], 0.25),
        ("cllr", [np.inf, -np.inf], [0.0], np.inf),
        # A wrong answer costs 1/2, the entropy is 1/8.
        ("brier", [1e6, -1e6], [-1e6], 0.5 * 0.5 * 0.5 / 0.125),
        ("boost", [2000.0], [-2000.0], 0.0),
        ("boost", [-2000.0], [0.0], np.inf),
        ("boost", [-20.0], [-20.0], 0.5 * (math.exp(10) + math.exp(-10))),
        # Losses far below 1 keep their digits.
        ("cllr", [200.0], [-200.0], math.exp(-200.0) / math.log(2)),
        ("brier", [200.0], [-200.0], 0.5 * math.exp(-400.0) / 0.125),
    ],
)
def test_extreme_llrs(objective, tar, non, expected):
    value = scoring.evaluate_objective(tar, non, objective=objective)
    # 200 / ln 2 and the like are rounded once more than our sum.
    assert value == pytest.approx(expected, rel=1e-13)
