"""The trust-region minimiser: each step against its optimality conditions, each end point."""

import math

import numpy as np
import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from bosaris_py.errors import FitError
from bosaris_py.numerics.newton import minimise, trust_region_step


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
    # brentq finds the multiplier to 1e-12; the length follows with the square root of
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
    assert minimum.converged
    assert not minimum.stopped
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
    assert minimum.converged
    np.testing.assert_allclose(minimum.point, [1.0, 0.0], atol=1e-14)


def test_loose_tolerance_saves_evaluations():
    tight = minimise(soft_wall, np.array([3.0, 1.0]))
    loose = minimise(soft_wall, np.array([3.0, 1.0]), tolerance=1e-3)
    assert loose.converged
    assert loose.evaluations < tight.evaluations
    # A promised decrease of 1e-3 is an error of about sqrt(2e-3); the last step squares it.
    assert abs(loose.point[0] - 1.0) < 3e-3


def test_known_evaluation_is_not_repeated():
    start = np.array([3.0, 1.0])
    points = []

    def seen(point):
        points.append(point.tolist())
        return soft_wall(point)

    minimum = minimise(seen, start, first=soft_wall(start))
    assert start.tolist() not in points
    np.testing.assert_array_equal(minimum.point, minimise(soft_wall, start).point)


def test_gives_up_and_says_so():
    minimum = minimise(rosenbrock, np.array([-1.2, 1.0]), max_evaluations=5)
    assert minimum.evaluations == 5
    assert not minimum.converged
    assert math.hypot(*minimum.gradient) > 1e-3


def test_stopped_by_the_caller():
    minimum = minimise(rosenbrock, np.array([-1.2, 1.0]), stop=lambda point, here: here.value < 3)
    assert minimum.stopped
    assert not minimum.converged
    assert 1.0 < minimum.value < 3.0


def test_start_is_not_changed():
    start = np.array([-1.2, 1.0])
    minimise(rosenbrock, start)
    np.testing.assert_array_equal(start, [-1.2, 1.0])


def test_start_must_be_finite():
    with pytest.raises(FitError, match=r"objective is inf where its minimisation starts, at \[-1"):
        minimise(soft_wall, np.array([-1.0, 0.0]))


def test_derivatives_are_those_of_the_last_evaluation():
    """exp(-x) + y^2 + 1 falls for ever: gradient and curvature along x vanish alike."""

    def cliff(point):
        x, y = point
        return Point(
            1 + math.exp(-x) + y**2, np.array([-math.exp(-x), 2 * y]), np.diag([math.exp(-x), 2.0])
        )

    minimum = minimise(cliff, np.array([0.0, 1.0]))
    assert minimum.converged
    # Each Newton step along x has length 1; the last one is not evaluated.
    assert -minimum.gradient[0] == minimum.hessian[0, 0]
    assert minimum.hessian[0, 0] == pytest.approx(math.exp(1 - minimum.point[0]), rel=1e-12)


def test_newton_step_that_overflows_is_cut_to_the_radius():
    hessian = 1e-301 * np.array([[1.11982941, 3.13283910], [3.13283910, 8.76444284]])
    step, interior = trust_region_step(np.array([0.937, -0.342]), hessian, 1.0)
    assert not interior
    assert math.hypot(*step) == pytest.approx(1.0, rel=1e-9)
