"""Trust-region Newton minimiser for functions of a few variables.

Made for objectives whose evaluation is a pass over millions of trials and whose
dimension is tiny: each iteration takes one evaluation of value, gradient and
Hessian, and the trust-region subproblem is solved exactly by an
eigendecomposition. It goes on where value comparisons end: once the decrease to
be expected is lost in the rounding of the value, steps are judged by the gradient,
and the last Newton step is taken without another evaluation.
"""

import math
from collections.abc import Callable
from typing import Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from attrs import frozen
from scipy import optimize

from bosaris_py.errors import FitError

__all__ = ["Differentiated", "Minimum", "minimise", "trust_region_step"]

Float64Array: TypeAlias = npt.NDArray[np.float64]

_EPSILON = float(np.finfo(np.float64).eps)

# A value summed from many rounded terms is trusted to this many units in the
# last place; smaller decreases are not looked for in it.
_VALUE_NOISE = 1e3 * _EPSILON

# Eigenvalues and slopes this far below the largest are rounding noise.
_NOISE = 1e2 * _EPSILON

# Slopes below this have lost digits to underflow.
_SMALLEST_SLOPE = 1e-290

# Suits standardised coordinates; soon adapted.
_FIRST_RADIUS = 4.0

# Share of the promised decrease that makes a step worth taking.
_LEAST_RATIO = 1e-4


class Differentiated(Protocol):
    """A function's value and its first and second derivatives at one point."""

    @property
    def value(self) -> float:
        """The value."""

    @property
    def gradient(self) -> Float64Array:
        """First derivatives."""

    @property
    def hessian(self) -> Float64Array:
        """Second derivatives."""


_D = TypeVar("_D", bound=Differentiated)


@frozen(eq=False)
class Minimum:
    """Where a minimisation ended.

    Parameters
    ----------
    point : (d,) ndarray of float64
        The minimiser.
    value : float
        The function there, to rounding.
    gradient : (d,) ndarray of float64
        First derivatives at the last evaluated point, one Newton step before
        `point` unless the minimisation was cut short.
    hessian : (d, d) ndarray of float64
        Second derivatives there.
    evaluations : int
        Evaluations made.
    converged : bool
        Whether the gradient has vanished to rounding.
    stopped : bool
        Whether the caller's own test ended the minimisation.
    """

    point: Float64Array
    value: float
    gradient: Float64Array
    hessian: Float64Array
    evaluations: int
    converged: bool
    stopped: bool

    @property
    def gradient_norm(self) -> float:
        """Length of the gradient."""
        return math.hypot(*self.gradient)


def trust_region_step(
    gradient: Float64Array, hessian: Float64Array, radius: float
) -> tuple[Float64Array, bool]:
    r"""Minimise a quadratic model within a ball.

    Parameters
    ----------
    gradient : (d,) ndarray of float64
        First derivatives g.
    hessian : (d, d) ndarray of float64
        Second derivatives H, symmetric, of any signature.
    radius : float
        Radius of the ball, positive.

    Returns
    -------
    step : (d,) ndarray of float64
        The global minimiser of :math:`g^T p + p^T H p / 2` for
        :math:`\|p\| \le` `radius`.
    interior : bool
        Whether it is the Newton step of a positive definite Hessian.

    Notes
    -----
    The solution is :math:`p = -(H + \mu I)^{-1} g` with the smallest
    :math:`\mu \ge 0` that makes the matrix positive semidefinite and the step
    short enough [1]_. In the basis of eigenvectors, :math:`\mu` is the root of a
    nearly linear function of one variable. In the "hard case" (no gradient along
    the lowest, negative curvature) a multiple of that eigenvector fills the ball.

    References
    ----------
    .. [1] J. J. More and D. C. Sorensen, "Computing a trust region step", SIAM J.
       Sci. Stat. Comput. 4(3), 1983, doi:10.1137/0904038.
    """
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
        if eigenvalues[0] < 0.0 and not flat[0]:
            step[0] = math.sqrt(radius**2 - length**2)
        return vectors @ step, False
    # Each component alone is too long below the lower end; none is above the upper end.
    low = math.hypot(*slopes[curvatures == 0.0]) / radius
    high = math.hypot(*slopes) / radius
    shift = optimize.brentq(
        shortfall, low * (1.0 - 1e-6), high * (1.0 + 1e-6), xtol=1e-300, rtol=1e-12, maxiter=1000
    )
    return vectors @ step_at(float(shift)), False


def minimise(
    evaluate: Callable[[Float64Array], _D],
    start: Float64Array,
    *,
    first: _D | None = None,
    max_evaluations: int = 200,
    tolerance: float = _EPSILON,
    stop: Callable[[Float64Array, _D], bool] | None = None,
) -> Minimum:
    r"""Find a minimum of a smooth function, to rounding.

    Parameters
    ----------
    evaluate : callable
        Returns value, gradient and Hessian at a point. A value that is not
        finite makes the minimiser step back.
    start : (d,) ndarray of float64
        Where to begin; the function must be finite there.
    first : evaluation, optional
        What `evaluate` returns at `start`, if that is known already.
    max_evaluations : int, default: 200
        After how many evaluations to give up.
    tolerance : float, default: 2.2e-16
        The minimiser stops when the decrease that the quadratic model still
        promises falls below this fraction of the value. At the default the
        gradient vanishes to rounding.
    stop : callable, optional
        ``stop(point, evaluation)`` is asked at every accepted point; if it
        returns True the minimisation ends there, not converged.

    Returns
    -------
    Minimum
        The end point and how it was reached.

    Raises
    ------
    FitError
        If the function is not finite at `start`.

    Notes
    -----
    Newton's method squares the error: when the promised decrease
    :math:`g^T H^{-1} g / 2` is below the rounding of the value, one more step
    brings the gradient to rounding as well. That step is taken without
    evaluating the function again.
    """
    point = np.array(start, dtype=np.float64)
    here = evaluate(point) if first is None else first
    evaluations = 1
    if not math.isfinite(here.value):
        message = f"The objective is {here.value} where its minimisation starts, at {point}."
        raise FitError(message)
    value = here.value
    radius = _FIRST_RADIUS
    converged = stopped = False
    while True:
        if stop is not None and stop(point, here):
            stopped = True
            break
        step, interior = trust_region_step(here.gradient, here.hessian, radius)
        promised = -float(here.gradient @ step + 0.5 * (step @ here.hessian @ step))
        if promised <= tolerance * abs(here.value):
            converged = True
            if interior:
                point, value = point + step, value - promised
            break
        if evaluations >= max_evaluations:
            break
        there = evaluate(point + step)
        evaluations += 1
        if promised <= _VALUE_NOISE * abs(here.value):
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
            point, here = point + step, there
            value = here.value
    return Minimum(
        point=point,
        value=value,
        gradient=here.gradient,
        hessian=here.hessian,
        evaluations=evaluations,
        converged=converged,
        stopped=stopped,
    )
