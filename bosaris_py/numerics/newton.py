"""A trust-region Newton method.

The minimiser is made for objectives of few dimensions whose evaluation is a pass over millions of
trials. Each iteration takes one evaluation of value, gradient and Hessian. An eigendecomposition
solves the trust-region subproblem exactly [1]_. Once the expected decrease is lost in the rounding
of the value, the gradient decides whether a step is accepted.

References
----------
.. [1] J. J. More and D. C. Sorensen, "Computing a trust region step", SIAM J.
   Sci. Stat. Comput. 4(3), 1983, doi:10.1137/0904038.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy
from attrs import frozen

from bosaris_py._arrays import Float64Array
from bosaris_py.errors import FitError
from bosaris_py.numerics.linear_objective import LocalModel

EPSILON = float(np.finfo(np.float64).eps)

# A value or a derivative summed from many rounded terms is trusted to this share of the sum
# of magnitudes; smaller decreases are not looked for in it.
SUM_NOISE = 1e3 * EPSILON

# Eigenvalues and slopes this far below the largest are rounding noise.
_NOISE = 1e2 * EPSILON

# Slopes below this have lost digits to underflow.
_SMALLEST_SLOPE = 1e-290

# Fits standardised coordinates; soon adapted.
FIRST_RADIUS = 4.0

# Share of the promised decrease that makes a step worth taking.
_LEAST_RATIO = 1e-4


@frozen(eq=False)
class Minimum:
    """Where a minimisation ended.

    The derivatives are those at the last evaluated point, one Newton step before `point` unless the
    minimisation was cut short. `converged` says whether the gradient has vanished to rounding,
    `stopped` whether the caller's own test ended the minimisation.
    """

    point: Float64Array
    value: float
    gradient: Float64Array
    hessian: Float64Array
    evaluations: int
    converged: bool
    stopped: bool


# Where the Hessian is tiny the Newton step overflows: it is longer than any radius.
@np.errstate(over="ignore")
def trust_region_step(
    gradient: Float64Array, hessian: Float64Array, radius: float
) -> tuple[Float64Array, bool]:
    r"""Minimise the quadratic model :math:`g^T p + p^T H p / 2` for :math:`\|p\| \le` `radius`.

    The Hessian is symmetric, of any signature. Also returned is whether the step is the Newton step
    of a positive definite Hessian.
    """
    # The solution is p = -(H + mu I)^-1 g with the smallest mu >= 0 that makes the matrix
    # positive semidefinite and the step short enough [1]. In the basis of eigenvectors mu is
    # the root of a nearly linear function of one variable.
    eigenvalues, vectors = np.linalg.eigh(hessian)
    slopes = vectors.T @ gradient
    # What is left of the slope along a direction without curvature is rounding noise;
    # following it would lead far for nothing.
    flat = np.abs(eigenvalues) <= _NOISE * np.abs(eigenvalues).max()
    slopes[flat & (np.abs(slopes) <= _NOISE * np.abs(slopes).max())] = 0.0
    slopes[np.abs(slopes) < _SMALLEST_SLOPE] = 0.0
    if eigenvalues[0] > 0.0:
        step = -slopes / eigenvalues
        if math.hypot(*step) <= radius:
            return vectors @ step, True
    # Exactly zero for the lowest eigenvalue if that is negative.
    curvatures = eigenvalues - min(eigenvalues[0], 0.0)

    def step_at(shift: float) -> Float64Array:
        shifted = curvatures + shift
        moves = np.zeros_like(slopes)
        np.divide(-slopes, shifted, out=moves, where=shifted > 0.0)
        moves[(shifted == 0.0) & (slopes != 0.0)] = math.inf
        return moves

    def shortfall(shift: float) -> float:
        return 1.0 / math.hypot(*step_at(shift)) - 1.0 / radius

    step = step_at(0.0)
    length = math.hypot(*step)
    if length <= radius:
        # The "hard case", no slope along the lowest, negative curvature: a multiple of that
        # eigenvector fills the ball.
        if eigenvalues[0] < 0.0 and not flat[0]:
            step[0] = math.sqrt(radius**2 - length**2)
        return vectors @ step, False
    # Each component alone is too long below the lower end; none is above the upper end.
    low = math.hypot(*slopes[curvatures == 0.0]) / radius * (1.0 - 1e-6)
    high = math.hypot(*slopes) / radius * (1.0 + 1e-6)
    shift = scipy.optimize.brentq(shortfall, low, high, xtol=1e-300, rtol=1e-12, maxiter=1000)
    return vectors @ step_at(float(shift)), False


def next_step(here: LocalModel, radius: float) -> tuple[Float64Array, bool, float]:
    """Return the step, whether it is Newton's, and the decrease that the model promises."""
    step, interior = trust_region_step(here.gradient, here.hessian, radius)
    promised = -float(here.gradient @ step + 0.5 * (step @ here.hessian @ step))
    return step, interior, promised


def minimise(
    evaluate: Callable[[Float64Array], LocalModel],
    start: Float64Array,
    *,
    first: LocalModel | None = None,
    max_evaluations: int = 200,
    tolerance: float = EPSILON,
    stop: Callable[[Float64Array, LocalModel], bool] | None = None,
) -> Minimum:
    """Find a minimum of a smooth function, to rounding; raise FitError if it starts not finite.

    `evaluate` returns value, gradient and Hessian at a point; from a value that is not finite the
    minimiser steps back. `first` is what it returns at `start`, if known. The minimiser stops when
    the decrease that the quadratic model promises is below `tolerance` times the value, or after
    `max_evaluations`. It stops, not converged, where ``stop(point, evaluation)`` is True.
    """
    point = np.array(start, dtype=np.float64)
    here = evaluate(point) if first is None else first
    evaluations = 1
    if not math.isfinite(here.value):
        raise FitError(f"The objective is {here.value} where its minimisation starts, at {point}.")
    value, radius = here.value, FIRST_RADIUS
    converged = stopped = False
    while True:
        if stop is not None and stop(point, here):
            stopped = True
            break
        step, interior, promised = next_step(here, radius)
        if promised <= tolerance * abs(here.value):
            # Newton's method squares the error: when the promised decrease g H^-1 g / 2 is below
            # the rounding of the value, one more step brings the gradient to rounding as well.
            # That step is taken without evaluating the function again.
            converged = True
            if interior:
                point, value = point + step, value - promised
            break
        if evaluations >= max_evaluations:
            break
        there = evaluate(point + step)
        evaluations += 1
        if promised <= SUM_NOISE * abs(here.value):
            ratio = 1.0
            better = math.hypot(*there.gradient) < math.hypot(*here.gradient)
            if not better:
                converged = True
                break
        else:
            finite = math.isfinite(there.value)
            ratio = (here.value - there.value) / promised if finite else -math.inf
            better = ratio > _LEAST_RATIO
        length = math.hypot(*step)
        if ratio < 0.25:
            radius = 0.25 * length
        elif ratio > 0.75 and not interior:
            radius = 4.0 * length
        if better:
            point, here, value = point + step, there, there.value
    return Minimum(point, value, here.gradient, here.hessian, evaluations, converged, stopped)
