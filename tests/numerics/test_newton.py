"""The minimiser against the best of many steps and known minima; training and its warnings."""

import math

import numpy as np
import pytest
from attrs import frozen
from hypothesis import given, strategies as st

from bosaris_py.errors import ConvergenceWarning, FitError
from bosaris_py.numerics.newton import minimise, train_linear, train_nonnegative, trust_region_step
from bosaris_py.numerics.scoring import OBJECTIVES, TrainingObjective

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


def test_noise_in_the_value_does_not_stop_it():
    """A value wrong in the 13th digit says nothing near the minimum; the gradient does."""
    noise = np.random.default_rng(1)

    def noisy(point):
        exact = soft_wall(point)
        return Point(exact.value * (1 + 1e-13 * noise.normal()), exact.gradient, exact.hessian)

    minimum = minimise(noisy, np.array([3.0, 1.0]))
    assert minimum.outcome == "converged"
    np.testing.assert_allclose(minimum.point, [1.0, 0.0], atol=1e-14)


def test_a_plateau_is_left_alone():
    """A step without a decrease worth the name ends where it began."""
    plateau = Point(1.0, np.array([1e-20, 0.0]), np.zeros((2, 2)))
    assert minimise(lambda _: plateau, np.array([3.0, 1.0])).point.tolist() == [3.0, 1.0]


def test_start_must_be_finite():
    with pytest.raises(FitError, match="objective is inf"):
        minimise(soft_wall, np.array([-1.0, 0.0]))


def test_newton_step_that_overflows_is_cut_to_the_radius():
    hessian = 1e-301 * np.array([[1.11982941, 3.13283910], [3.13283910, 8.76444284]])
    step, interior = trust_region_step(np.array([0.937, -0.342]), hessian, 1.0)
    assert not interior
    assert math.hypot(*step) == pytest.approx(1.0, rel=1e-9)


@pytest.fixture
def passes(monkeypatch):
    """Count passes: how many trials each evaluation has looked at."""
    seen = []
    evaluate = TrainingObjective.evaluate

    def counted(self, coefficients):
        seen.append(self.n_tar + self.n_non)
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
    assert objective.tar.thinned(2**13).scores.min() > 0
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
    solution = train(scores[:, :40_000], scores[:, 40_000:])
    assert [note.kind for note in solution.notes] == [ConvergenceWarning]
    assert solution.ridge == 1 / 40_000
    assert passes.count(90_000) <= 20


def test_constant_but_for_rounding():
    """Sums of tenths in different orders differ in the last digit, and mean the same."""
    for scores in ([0.1 + 0.2 + 0.3, 0.6, 0.3 + 0.2 + 0.1], [1e-150, 3e-150, 4e-150]):
        solution = train(scores[:2], scores[1:])
        assert [note.kind for note in solution.notes] == [ConvergenceWarning]
        assert coefficients(solution) == pytest.approx([0.0, 0.0], abs=1e-15)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("size", [1e308, 1e-300, 5e-324])
def test_only_proportions_of_weights_matter(objective, size, rng):
    tar, non = rng.normal(1, 1, 50), rng.normal(-1, 1, 70)
    plain = train(tar, non, objective=objective)
    sized = train(tar, non, objective=objective, tar_weights=[size] * 50, non_weights=[size] * 70)
    # Sums with and without equal weights are rounded differently.
    np.testing.assert_allclose(coefficients(sized), coefficients(plain), rtol=1e-11)


def test_ridge_of_useless_systems_is_that_of_the_smaller_class():
    objective = TrainingObjective.from_scores([[0.0, -1.0, 2.0]], [[1.0, 3.0, 1.5, 2.0, 2.5]])
    solution = train_nonnegative(objective, ridge="weak")
    assert (solution.weights.tolist(), solution.offset) == ([0.0], 0.0)
    # One hundredth of a trial.
    assert solution.ridge == pytest.approx(0.01 / 3, rel=1e-15)


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
    monkeypatch.setattr("bosaris_py.numerics.scoring._PARTS", ())
    direct = train(tar, non, objective=objective, prior=0.1)
    assert passes.count(620_000) - full > full
    # The last step of a large set is not looked at below a promise of 1e-12.
    np.testing.assert_allclose(coefficients(solution), coefficients(direct), rtol=1e-11)
    assert solution.objective_value == pytest.approx(direct.objective_value, rel=1e-13)


def test_separable_but_for_a_tie_is_separable():
    """A trial of each class at 0 stays there whatever the scale; the others go apart."""
    solution = train([[0.0, 1.0, 2.0], [0.0, 1.0, 3.0]], [[0.0, -1.0], [0.0, -2.0]])
    assert [note.kind for note in solution.notes] == [ConvergenceWarning]
    assert solution.ridge == 1 / 2
    objective = TrainingObjective.from_scores([[0.0, 1.0, 2.0]], [[0.0, -1.0]])
    assert train_nonnegative(objective, ridge=0.0).ridge == 1 / 2
