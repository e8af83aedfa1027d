"""Training: objectives against naive formulas and complex steps, steps and minima, warnings."""

import json
import math
import tracemalloc
import warnings
from pathlib import Path

import attrs
import numpy as np
import pytest
from attrs import frozen
from hypothesis import given, strategies as st

import bosaris_py as bp
from bosaris_py.errors import (
    BosarisWarning,
    ConvergenceWarning,
    FewTrainingErrorsWarning,
    FitError,
    InvalidInputError,
    SeparableDataWarning,
)
from bosaris_py.numerics.moments import class_moments, merge_moments
from bosaris_py.numerics.newton import minimise, train_linear, train_nonnegative, trust_region_step
from bosaris_py.numerics.objective import TrainingObjective, evaluate_objective
from bosaris_py.numerics.priors import OperatingPoint, logit
from bosaris_py.numerics.scoring import OBJECTIVES, resolve_prior, scoring_rule

# The objective

PRIORS = (0.5, 0.1, 0.001, 0.999)


def naive_loss(objective, log_odds):
    """Return the loss for real or complex log-odds against the truth: the toolkit's table."""
    if objective == "cllr":
        return np.log(1 + np.exp(log_odds))
    if objective == "brier":
        return 0.5 / (1 + np.exp(-log_odds)) ** 2
    return np.exp(log_odds / 2)


def naive_entropy(objective, p):
    # The cost of the answer "prior": log-odds against targets are -logit(p).
    return p * naive_loss(objective, -logit(p)) + (1 - p) * naive_loss(objective, logit(p))


def naive_value(coefficients, tar, non, prior, objective, tar_weights=None, non_weights=None):
    """Return the objective as one would write it down."""
    tar_llr = coefficients[:-1] @ tar + coefficients[-1]
    non_llr = coefficients[:-1] @ non + coefficients[-1]
    u = np.ones(tar.shape[1]) if tar_weights is None else tar_weights
    v = np.ones(non.shape[1]) if non_weights is None else non_weights
    tar_cost = (u @ naive_loss(objective, -tar_llr - logit(prior))) / u.sum()
    non_cost = (v @ naive_loss(objective, non_llr + logit(prior))) / v.sum()
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
    training = TrainingObjective.from_scores(
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


def test_boosting_beyond_what_exponentials_take():
    """The square root of e^800 is a number, and so is its sum with others."""
    training = TrainingObjective.from_scores([[-800.0, 1.0]], [[-1.0]], objective="boost")
    point = np.array([1.0, 0.0])
    here = training.evaluate(point)
    # The cost of ignorance at a prior of one half is 1.
    terms = np.array([np.exp(400.0) / 2, np.exp(-0.5) / 2, np.exp(-0.5)]) / 2
    slopes = np.array([[800.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]]) / 2
    assert here.value == pytest.approx(terms.sum(), rel=1e-13)
    np.testing.assert_allclose(here.gradient, terms @ slopes, rtol=1e-13)


def test_overlap_is_highest_non_target_minus_lowest_target(scores, rng):
    tar, non, *_ = scores
    point = rng.normal(size=4)
    expected = (point[:3] @ non).max() - (point[:3] @ tar).min()
    overlap = TrainingObjective.from_scores(tar, non, prior=0.01).evaluate(point).overlap
    assert overlap == pytest.approx(expected, abs=1e-13)


def test_toolkit_values(oracle: Path):
    cases = [
        case
        for case in json.loads((oracle / "edge_cases.json").read_text())
        if case["name"].startswith("evaluate_objective")
    ]
    assert len(cases) == 9
    for case in cases:
        objective, given_ = case["name"].split()[-1], case["in"]
        llrs = np.array(given_["scores"], dtype=float)
        target = np.array(given_["classf"], dtype=float) > 0
        prior = given_["prior"]
        value = evaluate_objective(llrs[target], llrs[~target], prior=prior, objective=objective)
        assert value == pytest.approx(float(case["out"]["value"][0]), rel=1e-14)
        entropy = float(case["out"]["prior_entropy"][0])
        assert scoring_rule(objective).entropy(prior) == pytest.approx(entropy, rel=1e-14)


@given(st.sampled_from(OBJECTIVES), st.floats(1e-9, 1 - 1e-9))
def test_no_information_costs_one(objective, prior):
    # For priors near 1 the losses are differences of numbers with an error of 1 / (1 - p).
    tolerance = 1e-14 / (1 - prior)
    value = evaluate_objective([0.0, 0.0], [0.0], prior=prior, objective=objective)
    assert value == pytest.approx(1.0, abs=tolerance)


def test_cllr_at_half_is_cllr_in_bits():
    """By hand: a loss of log2(1 + 1/3) for the targets, of log2(1 + 3) for the non-targets."""
    expected = (math.log2(4 / 3) + math.log2(4)) / 2
    assert evaluate_objective([math.log(3)], [math.log(3)]) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("objective", "tar", "non", "expected"),
    [
        # One of two targets is 1e6 nats wrong: (1/2) (1/2) 1e6 / ln 2.
        ("cllr", [1e6, -1e6], [-1e6], 0.25e6 / math.log(2)),
        ("cllr", [800.0, -800.0], [-800.0], 200.0 / math.log(2)),
        ("cllr", [np.inf], [-np.inf, 0.0], 0.25),
        ("cllr", [np.inf, -np.inf], [0.0], np.inf),
        # A wrong answer costs 1/2, the entropy is 1/8.
        ("brier", [1e6, -1e6], [-1e6], 0.5 * 0.5 * 0.5 / 0.125),
        ("brier", [np.inf, -np.inf], [-np.inf], 0.5 * 0.5 * 0.5 / 0.125),
        ("boost", [2000.0], [-2000.0], 0.0),
        ("boost", [-2000.0], [0.0], np.inf),
        ("boost", [-20.0], [-20.0], 0.5 * (math.exp(10) + math.exp(-10))),
        # Losses far below 1 keep their digits.
        ("cllr", [200.0], [-200.0], math.exp(-200.0) / math.log(2)),
        ("brier", [200.0], [-200.0], 0.5 * math.exp(-400.0) / 0.125),
    ],
)
def test_extreme_llrs(objective, tar, non, expected):
    value = evaluate_objective(tar, non, objective=objective)
    # 200 / ln 2 and the like are rounded once more than our sum.
    assert value == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_derivatives_far_from_the_data_are_finite(objective):
    training = TrainingObjective.from_scores([1e6, -3.0], [-1e6, 2.0, 0.0], objective=objective)
    for coefficients in ([1e-6, 0.0], [1e-3, 5.0]):
        here = training.evaluate(np.array(coefficients))
        assert np.isfinite(here.gradient).all()
        assert np.isfinite(here.hessian).all()
    # cllr is linear there: the slope of two wrong trials, per coefficient.
    if objective == "cllr":
        here = training.evaluate(np.array([-1.0, 0.0]))
        slope = -0.5 * 0.5 * 1e6 / math.log(2) - 0.5 * 1e6 / 3 / math.log(2)
        # The other three trials add a few units to a slope of half a million.
        assert here.gradient[0] == pytest.approx(slope, rel=1e-5)


def test_labels_are_refused_of_a_single_system(rng):
    labels, values = (np.arange(30) % 3 == 0).astype(float), rng.normal(size=30)
    with pytest.raises(InvalidInputError, match="Labels of all trials"):
        TrainingObjective.from_scores(labels, values)
    # The first of several inputs may be a feature that is 0 or 1.
    TrainingObjective.from_scores([labels, values], rng.normal(size=(2, 30)))


def test_standardised_coordinates(scores, rng):
    """A change of coordinates: the same value, derivatives by the chain rule."""
    tar, non, *_ = scores
    centre, spread = rng.normal(size=3), rng.uniform(0.5, 3.0, 3)
    point = rng.normal(size=4)
    raw = np.append(point[:3] / spread, point[3] - (point[:3] / spread) @ centre)
    plain = TrainingObjective.from_scores(tar, non, prior=0.1)
    chain = np.block(
        [[np.diag(1 / spread), np.zeros((3, 1))], [-(centre / spread)[np.newaxis], np.ones((1, 1))]]
    )
    here, there = (
        attrs.evolve(plain, centre=centre, spread=spread).evaluate(point),
        plain.evaluate(raw),
    )
    assert here.value == pytest.approx(there.value, rel=1e-14)
    np.testing.assert_allclose(here.gradient, chain.T @ there.gradient, atol=1e-14)
    np.testing.assert_allclose(here.hessian, chain.T @ there.hessian @ chain, atol=1e-14)


def test_integer_weights_repeat_trials(rng):
    tar, non = rng.normal(1, 1, 30), rng.normal(-1, 1, 50)
    times_tar, times_non = rng.integers(0, 4, 30), rng.integers(0, 4, 50)
    point = np.array([1.5, -0.2])
    weighted = TrainingObjective.from_scores(
        tar, non, tar_weights=times_tar, non_weights=times_non
    ).evaluate(point)
    repeated = TrainingObjective.from_scores(
        np.repeat(tar, times_tar), np.repeat(non, times_non)
    ).evaluate(point)
    assert weighted.value == pytest.approx(repeated.value, rel=1e-14)
    np.testing.assert_allclose(weighted.gradient, repeated.gradient, atol=1e-15)
    assert weighted.overlap == repeated.overlap


def test_memory_does_not_grow_with_the_trials(rng):
    non = rng.normal(size=(1, 10**6)).astype(np.float32)
    training = TrainingObjective.from_scores(rng.normal(size=(1, 100)), non)
    tracemalloc.start()
    try:
        training.evaluate(np.array([1.0, 0.0]))
        class_moments(non)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Buffers of 1 MB, and the copy of some for the last product; the scores in double
    # precision would be 8 MB.
    assert peak < 2e6


def test_thinned_sets_keep_the_ends_apart(rng):
    training = TrainingObjective.from_scores(
        rng.normal(size=(2, 50)), rng.normal(size=(2, 1001)), non_weights=np.arange(1.0, 1002.0)
    )
    thin = training.thinned(100)
    assert thin.tar.shape == (2, 50)
    assert thin.non.shape == (2, 91)
    # Proportions matter only: weights are divided by a power of two, exactly.
    np.testing.assert_array_equal(thin.non_weights * 1024, np.arange(1.0, 1002.0, 11.0))


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tar": []}, "`tar` must hold at least one score"),
        ({"non": []}, "`non` must hold at least one score"),
        ({"tar": [1.0, np.nan]}, r"`tar` must not hold NaN; got NaN at 1 of 2 positions \(1\)"),
        ({"tar": [[1.0]]}, "`tar` must be one-dimensional"),
        ({"prior": 0.0}, "`prior` must lie strictly between 0 and 1; got 0"),
        ({"prior": 1.0}, "`prior` must lie strictly between 0 and 1"),
        ({"prior": -2.2}, "log-odds or a percentage"),
        ({"prior": [0.1, 0.5]}, "`prior` must be a number between 0 and 1"),
        ({"objective": "cross-entropy"}, "`objective` must be one of 'cllr', 'brier', 'boost'"),
        ({"objective": None}, "`objective` must be one of 'cllr', 'brier', 'boost'; got None"),
        ({"tar_weights": [1.0, 2.0]}, "`tar_weights` .* one weight for each of the 1 scores"),
        ({"non_weights": [-1.0, 2.0]}, "`non_weights` .* finite and not negative; got -1.0"),
        ({"non_weights": [0.0, 0.0]}, "`non_weights` .* not all be zero"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        evaluate_objective(**{"tar": [1.0], "non": [0.0, -1.0], **arguments})


def test_names_in_any_case_and_operating_points():
    point = OperatingPoint(0.01, 10, 1)
    expected = evaluate_objective([1.0, 2.0], [0.0], prior=10 / 109, objective="brier")
    # 0.01 * 10 / (0.01 * 10 + 0.99) = 10 / 109, rounded twice.
    value = evaluate_objective([1.0, 2.0], [0.0], prior=point, objective="BriER")
    assert value == pytest.approx(expected, rel=1e-14)
    assert scoring_rule("Boost").entropy(resolve_prior(point)[0]) == pytest.approx(
        2 * math.sqrt(990) / 109, rel=1e-14
    )


def test_merged_moments_keep_small_spreads_far_from_zero():
    """Integers from 2^40 on: the variance of 0 ... n - 1 is (n^2 - 1) / 12."""
    scores = 2.0**40 + np.arange(120.0)[None, :]
    parts = [class_moments(scores[:, start : start + 40], None) for start in (0, 40, 80)]
    merged = merge_moments(parts, [40, 40, 40])
    assert merged.mean[0] == 2.0**40 + 59.5
    assert merged.scatter[0, 0] == pytest.approx((120**2 - 1) / 12, rel=1e-12)
    assert (merged.lowest[0], merged.highest[0]) == (2.0**40, 2.0**40 + 119)


# The minimiser


@frozen(eq=False)
class Point:
    value: float
    gradient: np.ndarray
    hessian: np.ndarray


def model(step, gradient, hessian):
    return gradient @ step + 0.5 * step @ hessian @ step


@st.composite
def models(draw):
    """Draw quadratic models of all signatures, with eigenvalues and slopes that may be zero."""
    size = draw(st.integers(1, 4))
    number = st.one_of(st.sampled_from([0.0, 0.0, -1.0, 1.0, 2.0]), st.floats(-10, 10))
    eigenvalues = np.array(draw(st.lists(number, min_size=size, max_size=size)))
    slopes = np.array(draw(st.lists(number, min_size=size, max_size=size)))
    seed = draw(st.integers(0, 2**32 - 1))
    basis = np.linalg.qr(np.random.default_rng(seed).normal(size=(size, size)))[0]
    return basis @ slopes, basis @ np.diag(eigenvalues) @ basis.T


@given(models(), st.floats(1e-3, 1e3))
def test_step_is_the_best_in_the_ball(quadratic, radius):
    """No other point of the ball is lower: tried at random ones and at their mirror images."""
    gradient, hessian = quadratic
    hessian = 0.5 * (hessian + hessian.T)
    step, interior = trust_region_step(gradient, hessian, radius)
    # Bisection finds the multiplier to rounding; the length follows with the square root of
    # the curvature that is left.
    assert math.hypot(*step) <= radius * (1 + 1e-9)
    if interior:
        np.testing.assert_allclose(
            hessian @ step, -gradient, atol=1e-9 * (1 + np.abs(gradient).max())
        )
    others = np.random.default_rng(0).normal(size=(200, step.size))
    others *= radius / np.linalg.norm(others, axis=1)[:, np.newaxis]
    others = np.concatenate((others, 0.5 * others, -others, np.zeros((1, step.size))))
    lowest = min(model(other, gradient, hessian) for other in others)
    size = np.abs(gradient).max() * radius + np.abs(hessian).max() * radius**2
    # Slopes below 1e-290 have lost digits to underflow and are taken for zero.
    assert model(step, gradient, hessian) <= lowest + 1e-9 * size + 1e-289 * radius


def test_hard_case():
    """No slope along the negative curvature: the rest of the ball goes there.

    By hand: (H + I) p = -g leaves p = (., -1/2); then |p| = 2 needs sqrt(4 - 1/4).
    """
    step, interior = trust_region_step(np.array([0.0, 1.0]), np.diag([-1.0, 1.0]), 2.0)
    assert not interior
    assert abs(step[0]) == pytest.approx(math.sqrt(3.75), rel=1e-12)
    assert step[1] == pytest.approx(-0.5, rel=1e-12)


@pytest.mark.parametrize("curvature", [0.0, -1e-20])
def test_flat_direction_is_left_alone(curvature):
    """Also where rounding bends it down."""
    step, interior = trust_region_step(np.array([0.0, 1.0]), np.diag([curvature, 1.0]), 10.0)
    assert not interior
    np.testing.assert_array_equal(step, [0.0, -1.0])


def quadratic(point):
    hessian = np.array([[2.0, 1.0], [1.0, 3.0]])
    minimum = np.array([0.5, -1.0])
    away = point - minimum
    return Point(7.0 + 0.5 * away @ hessian @ away, hessian @ away, hessian)


def rosenbrock(point):
    x, y = point
    return Point(
        1.0 + (1 - x) ** 2 + 100 * (y - x * x) ** 2,
        np.array([-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)]),
        np.array([[2 + 1200 * x * x - 400 * y, -400 * x], [-400 * x, 200.0]]),
    )


def double_well(point):
    """Return x^4 - 2 x^2 + y^2 + 2: a saddle at the origin, minima of 1 at (+-1, 0)."""
    x, y = point
    return Point(
        x**4 - 2 * x**2 + y**2 + 2,
        np.array([4 * x**3 - 4 * x, 2 * y]),
        np.diag([12 * x**2 - 4, 2.0]),
    )


def soft_wall(point):
    """Return x - log(x) + y^2, infinite for x <= 0."""
    x, y = point
    if x <= 0:
        return Point(math.inf, np.full(2, math.nan), np.full((2, 2), math.nan))
    return Point(x - math.log(x) + y**2, np.array([1 - 1 / x, 2 * y]), np.diag([1 / x**2, 2.0]))


@pytest.mark.parametrize(
    ("function", "start", "end", "value"),
    [
        (quadratic, [0.0, 0.0], [0.5, -1.0], 7.0),
        (quadratic, [1e6, -1e6], [0.5, -1.0], 7.0),
        (rosenbrock, [-1.2, 1.0], [1.0, 1.0], 1.0),
        (double_well, [0.0, 0.0], [1.0, 0.0], 1.0),
        (double_well, [-0.01, 3.0], [-1.0, 0.0], 1.0),
        (soft_wall, [4.0, 4.0], [1.0, 0.0], 1.0),
        (soft_wall, [1e-8, 1.0], [1.0, 0.0], 1.0),
    ],
)
def test_minima(function, start, end, value):
    minimum = minimise(function, np.array(start))
    assert minimum.outcome == "converged"
    # From the saddle both ways down are equal.
    found = np.abs(minimum.point) if start == [0.0, 0.0] and end[0] == 1.0 else minimum.point
    # The gradient vanishes to rounding, so the point is right to rounding over curvature.
    np.testing.assert_allclose(found, end, atol=1e-13)
    assert minimum.value == pytest.approx(value, rel=1e-15)


def test_few_evaluations_near_the_minimum():
    """Newton squares the error: 1e-2, 1e-4, 1e-8, and the last step is not evaluated."""
    minimum = minimise(soft_wall, np.array([1.01, 0.0]))
    assert minimum.evaluations == 3
    assert abs(minimum.point[0] - 1.0) < 1e-15
    assert minimise(quadratic, np.array([0.0, 0.0])).evaluations == 2


def test_noise_in_the_value_does_not_stop_it():
    """A value wrong in the 13th digit says nothing near the minimum; the gradient does."""
    noise = np.random.default_rng(1)

    def noisy(point):
        exact = soft_wall(point)
        return Point(exact.value * (1 + 1e-13 * noise.normal()), exact.gradient, exact.hessian)

    minimum = minimise(noisy, np.array([3.0, 1.0]))
    assert minimum.outcome == "converged"
    np.testing.assert_allclose(minimum.point, [1.0, 0.0], atol=1e-14)


def test_loose_tolerance_saves_evaluations():
    tight = minimise(soft_wall, np.array([3.0, 1.0]))
    loose = minimise(soft_wall, np.array([3.0, 1.0]), tolerance=1e-3)
    assert loose.outcome == "converged"
    assert loose.evaluations < tight.evaluations
    # A promised decrease of 1e-3 is an error of about sqrt(2e-3); the last step squares it.
    assert abs(loose.point[0] - 1.0) < 3e-3


def test_gives_up_and_says_so():
    minimum = minimise(rosenbrock, np.array([-1.2, 1.0]), max_evaluations=5)
    assert minimum.evaluations == 5
    assert minimum.outcome == "gave up"
    assert math.hypot(*minimum.gradient) > 1e-3


def test_stopped_by_the_caller():
    minimum = minimise(rosenbrock, np.array([-1.2, 1.0]), stop=lambda point, here: here.value < 3)
    assert minimum.outcome == "stopped"
    assert 1.0 < minimum.value < 3.0


def test_start_is_not_changed():
    start = np.array([-1.2, 1.0])
    minimise(rosenbrock, start)
    np.testing.assert_array_equal(start, [-1.2, 1.0])


def test_start_must_be_finite():
    with pytest.raises(FitError, match="objective is inf"):
        minimise(soft_wall, np.array([-1.0, 0.0]))


def test_derivatives_are_those_of_the_last_evaluation():
    """exp(-x) + y^2 + 1 falls for ever: gradient and curvature along x vanish alike."""

    def cliff(point):
        x, y = point
        return Point(
            1 + math.exp(-x) + y**2, np.array([-math.exp(-x), 2 * y]), np.diag([math.exp(-x), 2.0])
        )

    minimum = minimise(cliff, np.array([0.0, 1.0]))
    assert minimum.outcome == "converged"
    # Each Newton step along x has length 1; the last one is not evaluated.
    assert -minimum.gradient[0] == minimum.hessian[0, 0]
    assert minimum.hessian[0, 0] == pytest.approx(math.exp(1 - minimum.point[0]), rel=1e-12)


def test_newton_step_that_overflows_is_cut_to_the_radius():
    hessian = 1e-301 * np.array([[1.11982941, 3.13283910], [3.13283910, 8.76444284]])
    step, interior = trust_region_step(np.array([0.937, -0.342]), hessian, 1.0)
    assert not interior
    assert math.hypot(*step) == pytest.approx(1.0, rel=1e-9)


# Training


@pytest.fixture
def passes(monkeypatch):
    """Count passes: how many trials each evaluation has looked at."""
    seen = []
    evaluate = TrainingObjective.evaluate

    def counted(self, coefficients):
        seen.append(self.tar.shape[1] + self.non.shape[1])
        return evaluate(self, coefficients)

    monkeypatch.setattr(TrainingObjective, "evaluate", counted)
    return seen


def train(tar, non, ridge=0.0, **settings):
    objective = TrainingObjective.from_scores(tar, non, **settings)
    return train_linear(objective, ridge=ridge)


def coefficients(solution):
    return np.append(solution.weights, solution.offset)


def test_separable_subset_of_inseparable_scores(rng):
    """Only a trial that no subset contains makes the difference."""
    tar, non = rng.uniform(1.0, 3.0, 30_000), rng.uniform(-3.0, -1.0, 30_000)
    tar[12_345] = -2.0
    objective = TrainingObjective.from_scores(tar, non)
    assert objective.thinned(2**13).tar.min() > 0
    solution = train_linear(objective, ridge=0.0)
    gradient = objective.evaluate(coefficients(solution)).gradient
    assert np.abs(gradient).max() < 1e-14


def test_boosting_an_outlier_that_no_subset_contains(rng):
    """The subset's scale would give the outlier a loss beyond the largest double."""
    tar, non = rng.normal(2.0, 1.0, 30_000), rng.normal(0.0, 1.0, 30_000)
    weights = np.ones(30_000)
    tar[12_345], weights[12_345] = -5000.0, 1e-9
    objective = TrainingObjective.from_scores(tar, non, objective="boost", tar_weights=weights)
    solution = train_linear(objective, ridge=0.0)
    assert solution.weights[0] > 0
    assert np.abs(objective.evaluate(coefficients(solution)).gradient).max() < 1e-12


def test_separable_large_set(rng, passes):
    common = rng.normal(0.0, 3.0, 90_000)
    scores = np.vstack((common, common))
    scores[0, :40_000] += 0.2
    with pytest.warns(SeparableDataWarning):
        solution = train(scores[:, :40_000], scores[:, 40_000:])
    assert solution.ridge == 1 / 40_000
    assert passes.count(90_000) <= 20


def test_constant_but_for_rounding():
    """Sums of tenths in different orders differ in the last digit, and mean the same."""
    with pytest.warns(ConvergenceWarning, match="All training scores are equal"):
        solution = train([0.1 + 0.2 + 0.3, 0.6], [0.3 + 0.2 + 0.1, 0.6])
    assert coefficients(solution).tolist() == [0.0, 0.0]


def test_variance_that_underflows_is_not_called_constant():
    with pytest.warns(ConvergenceWarning, match="differ by less than 1e-140, so that .* underflow"):
        solution = train([1e-150, 3e-150, 5e-150], [0.0, 4e-150, 2e-150])
    assert coefficients(solution).tolist() == [0.0, 0.0]
    # What is as small as that allows is trained on as anything else.
    small = train([1e-139, 3e-139, 5e-139], [0.0, 4e-139, 2e-139])
    plain = train([1.0, 3.0, 5.0], [0.0, 4.0, 2.0])
    np.testing.assert_allclose(small.weights * 1e-139, plain.weights, rtol=1e-12)


@pytest.mark.parametrize("prior", [1e-300, 1e-11, 1.0 - 1e-16])
def test_brier_cannot_be_judged_at_extreme_priors(prior, rng):
    tar, non = rng.normal(1, 1, 50), rng.normal(-1, 1, 70)
    # With such trials no threshold accepts or rejects anybody for certain.
    tar[0], non[0] = -10.0, 10.0
    with pytest.warns(ConvergenceWarning, match="'brier' is flat around these weights"):
        train(tar, non, objective="brier", prior=prior)
    train(tar, non, prior=prior)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("size", [1e308, 1e-300, 5e-324])
def test_only_proportions_of_weights_matter(objective, size, rng):
    tar, non = rng.normal(1, 1, 50), rng.normal(-1, 1, 70)
    plain = train(tar, non, objective=objective)
    sized = train(tar, non, objective=objective, tar_weights=[size] * 50, non_weights=[size] * 70)
    # Sums with and without equal weights are rounded differently.
    np.testing.assert_allclose(coefficients(sized), coefficients(plain), rtol=1e-11)


def test_weights_of_any_proportion(rng):
    """What is lost among the huge ones is left out."""
    tar, non = rng.normal(1, 1, 50), rng.normal(-1, 1, 70)
    solution = train(tar, non, tar_weights=[1e308] * 49 + [1e-300])
    # Sums with and without equal weights are rounded differently.
    np.testing.assert_allclose(coefficients(solution), coefficients(train(tar[:49], non)), 1e-13)


def test_single_precision_copy_is_collinear(rng):
    tar, non = rng.normal(1, 1, 500), rng.normal(-1, 1, 700)
    copies = [np.vstack((x, x.astype(np.float32))) for x in (tar, non)]
    with pytest.warns(ConvergenceWarning, match="vary in only 1 directions"):
        solution = train(*copies)
    plain = train(tar, non)
    # Half each, but for the rounding of single precision.
    np.testing.assert_allclose(solution.weights, plain.weights[0] / 2, rtol=1e-5)


def test_nearly_collinear_systems_are_solved(rng):
    """A difference of a thousandth of a deviation is small but real."""
    tar, non = rng.normal(1, 1, 500), rng.normal(-1, 1, 700)
    tar = np.vstack((tar, tar + 1e-3 * rng.normal(size=500)))
    non = np.vstack((non, non + 1e-3 * rng.normal(size=700)))
    objective = TrainingObjective.from_scores(tar, non)
    solution = train_linear(objective, ridge=0.0)
    assert np.abs(objective.evaluate(coefficients(solution)).gradient).max() < 1e-13


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.array([1.0, np.nan], dtype=np.float32), "1 of 2 scores of `tar` are NaN"),
        (np.array([1.0, np.inf], dtype=np.float32), "1 of 2 scores of `tar` are infinite"),
        (np.array([1.0, -1e151]), r"1 of 2 scores of `tar` are beyond 1e\+150"),
    ],
)
def test_unusable_scores(scores, message):
    with pytest.raises(InvalidInputError, match=message):
        train(scores, [0.0, 3.0])


def test_ridge_of_useless_systems_is_that_of_the_smaller_class():
    objective = TrainingObjective.from_scores([[0.0, -1.0, 2.0]], [[1.0, 3.0, 1.5, 2.0, 2.5]])
    solution = train_nonnegative(objective, ridge="weak")
    assert (solution.weights.tolist(), solution.offset) == ([0.0], 0.0)
    # One hundredth of a trial.
    assert solution.ridge == pytest.approx(0.01 / 3, rel=1e-15)


# Few errors: theory paper, section 2.1.2

OF_FEW_ERRORS = pytest.mark.filterwarnings("error::bosaris_py.errors.FewTrainingErrorsWarning")

RNG = np.random.default_rng(1)
FEW = RNG.normal(2, 1, 40), RNG.normal(0, 1, 4000)
MIXED = RNG.normal(1, 1, 200), RNG.normal(0, 1, 400)
MANY = RNG.normal(2, 1, 3000), RNG.normal(0, 1, 30_000)


@OF_FEW_ERRORS
def test_large_sets_and_the_default_prior_are_silent() -> None:
    for prior in (0.5, bp.OperatingPoint(0.5), 0.2):
        bp.LinearCalibration.fit(*MANY, prior=prior)
    # The default names no operating point; a ridge is the remedy.
    bp.LinearCalibration.fit(*FEW)
    bp.LinearCalibration.fit(*FEW, prior=0.001, ridge="weak")


def test_separable_data_are_warned_of_as_such() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BosarisWarning)
        bp.LinearCalibration.fit([2.0, 3.0], [0.0, 1.0], prior=0.1)
    assert [one.category.__name__ for one in caught] == ["SeparableDataWarning"]


@OF_FEW_ERRORS
@pytest.mark.parametrize(
    "make", [lambda x: x, lambda x: np.stack((x, x + RNG.normal(size=x.size)))]
)
def test_few_errors_are_counted(make) -> None:
    """0.01 at costs 10 and 1 is an effective prior of 10 / 109."""
    tar, non = map(make, FEW)
    fit = bp.LinearFusion.fit if tar.ndim == 2 else bp.LinearCalibration.fit
    with pytest.warns(FewTrainingErrorsWarning) as caught:
        fitted = fit(tar, non, prior=OperatingPoint(0.01, 10, 1))
    threshold = -np.log(10 / 99)
    misses = sum(x < threshold for x in fitted.apply(tar))
    alarms = sum(x >= threshold for x in fitted.apply(non))
    assert min(misses, alarms) < 30
    assert f"{misses} misses and {alarms} false alarms" in str(caught[0].message)


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("order", ["random", "sorted"])
def test_large_sets_start_from_parts(objective, order, rng, passes, monkeypatch):
    tar, non = rng.normal(2.0, 1.0, (2, 20_000)), rng.normal(0.0, 1.5, (2, 600_000))
    if order == "sorted":
        tar, non = tar[:, np.argsort(tar[0])], non[:, np.argsort(non[0])]
    solution = train(tar, non, objective=objective, prior=0.1)
    full = passes.count(620_000)
    # Brier is minimised three times: cllr's optimum, then from two starts.
    assert full <= (12 if objective == "brier" else 4)
    monkeypatch.setattr("bosaris_py.numerics.objective._PARTS", ())
    direct = train(tar, non, objective=objective, prior=0.1)
    assert passes.count(620_000) - full > full
    # The last step of a large set is not looked at below a promise of 1e-12.
    np.testing.assert_allclose(coefficients(solution), coefficients(direct), rtol=1e-11)
    assert solution.objective_value == pytest.approx(direct.objective_value, rel=1e-13)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("size", [1, 15, 16, 1000, 1007])
@pytest.mark.parametrize("mean", [-20.0, -5.0, 0.0, 300.0])
def test_sum_of_losses_is_that_of_each(objective, size, mean, rng):
    log_odds = rng.normal(mean, 1.0, size)
    rule, weights = scoring_rule(objective), rng.uniform(0.5, 2.0, size)
    loss, slope, curvature, *others = (np.empty(size) for _ in range(5))
    rule.kernel(log_odds, loss, slope, curvature)
    # A product of a few factors may overflow; then each has a logarithm of its own.
    with np.errstate(over="ignore"):
        total = rule.sum(log_odds.copy(), *others)
    assert total == pytest.approx(loss.sum(), rel=1e-14)
    assert np.array_equal(others, (slope, curvature))
    assert rule.sum(log_odds.copy(), *others, weights) == pytest.approx(weights @ loss, rel=1e-14)
    assert np.array_equal(others, (weights * slope, weights * curvature))


@pytest.mark.parametrize(
    "layout", ["strided", "reversed", "fortran", "read-only", "float32", "int"]
)
def test_any_layout_gives_the_same(layout, rng):
    tar, non = (
        rng.integers(-3, 9, (2, 30)).astype(float),
        rng.integers(-9, 3, (2, 50)).astype(float),
    )
    change = {
        "strided": lambda x: np.repeat(x, 3, axis=1)[:, ::3],
        "reversed": lambda x: x[:, ::-1].copy()[:, ::-1],
        "fortran": np.asfortranarray,
        "read-only": np.copy,
        "float32": lambda x: x.astype(np.float32),
        "int": lambda x: x.astype(np.int16),
    }[layout]
    changed = [change(tar), change(non)]
    if layout == "read-only":
        for array in changed:
            array.setflags(write=False)
    point = np.array([0.3, 0.7, -0.1])
    expected = TrainingObjective.from_scores(tar, non).evaluate(point)
    here = TrainingObjective.from_scores(*changed).evaluate(point)
    assert here.value == pytest.approx(expected.value, rel=1e-15)
    np.testing.assert_allclose(here.gradient, expected.gradient, rtol=1e-13)
