r"""Whether training has an optimum: the test for separable scores.

There is no optimum if and only if the data are *weakly separable*: some weights, with which not all
fused scores are equal, put no target below a non-target. Going on along such weights never hurts
any trial, so the objective falls for ever (Albert and Anderson [1]_). Two ways decide that: a bound
that proves from gradient and Hessian that an optimum exists, at no cost and nearly always; and a
linear program, which decides every case.

References
----------
.. [1] A. Albert and J. A. Anderson, "On the existence of maximum likelihood estimates in
   logistic regression models", Biometrika 71(1), 1984, doi:10.1093/biomet/71.1.1.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import Float64Array
from bosaris_py.numerics.linear_objective import LinearObjective
from bosaris_py.numerics.newton import SUM_NOISE

# Where curvatures are as small as this, underflow may have swallowed those of trials.
_SMALLEST_CURVATURE = 1e-280

# Rounding of fused scores, in standard deviations.
ROUNDING = 1e-9

# Trials of each class with which the linear program starts, and which it first adds. The
# number doubles every time, so that in the end all are in.
_FIRST_TRIALS = 200

# Pivots, for each dimension, in which the simplex method may take the steepest way.
_HASTY_PIVOTS = 50


def proves_optimum(
    gradient: Float64Array, hessian: Float64Array, value: float, radius: float
) -> bool:
    r"""Tell whether derivatives at some point prove that a convex objective has an optimum.

    The objective is that of cllr or boost, without penalty; `radius` is an upper limit R of the
    lengths of all trials' inputs, the 1 of the offset included. True only if the data are not
    separable; False means nothing.

    Notes
    -----
    Let a step v lower no trial's margin :math:`m_i \ge 0`. With the trials' slopes
    :math:`a_i` and curvatures :math:`h_i \le a_i`

    .. math:: -g^T v = \sum a_i m_i \ge \sum h_i m_i^2 / \max m_i = v^T H v / \max m_i .

    The left side is at most :math:`\lambda \sqrt{v^T H v}` with the Newton decrement
    :math:`\lambda = \sqrt{g^T H^{-1} g}`, and :math:`m_i \le l \sqrt{v^T H v}` with the largest
    leverage :math:`l = R / \sqrt{\min \mathrm{eig} H}`. So :math:`\lambda l \ge 1`; if
    that is not so there is no such step.
    """
    if not (math.isfinite(value) and np.isfinite(hessian).all() and np.isfinite(gradient).all()):
        return False
    eigenvalues, vectors = np.linalg.eigh(hessian)
    # What rounding can do to g and H is allowed for; slopes are never larger than losses, which
    # limits it.
    eigenvalues = eigenvalues - SUM_NOISE * radius**2 * value
    lowest = float(eigenvalues[0])
    if not lowest > _SMALLEST_CURVATURE:
        return False
    decrement = math.hypot(*((vectors.T @ gradient) / np.sqrt(eigenvalues)))
    decrement += SUM_NOISE * radius * value / math.sqrt(lowest)
    return decrement * radius / math.sqrt(lowest) < 0.5


def is_separable(
    objective: LinearObjective, basis: Float64Array, difference: Float64Array, start: Float64Array
) -> bool:
    r"""Decide by linear programming whether some weights put no target below a non-target.

    The weights, of standardised scores, lie in the span of the columns of `basis`. `difference` is
    the mean of the targets minus that of the non-targets, standardised. The weights `start`, which
    separate about as well as possible, choose the first trials.

    Notes
    -----
    With weights u and threshold c the margins of targets, :math:`u^T x_i - c`, and of
    non-targets, :math:`c - u^T x_i`, must not be negative. Each is the product of (u, c) and a
    row. If not all margins are 0, neither is the product of (u, c) and a sum of all rows,
    each with a positive factor. By Farkas' lemma there is no such (u, c) if and only if minus
    that sum is also a sum of rows with factors that are not negative, which the
    simplex method decides in n_directions + 1 dimensions.

    Only some trials are in the program. If they cannot be separated, that decides. If the solution
    separates all trials (to 1e-9 of the largest standardised weight), that decides too. If neither,
    those that it gets most wrong are added, twice as many every time.
    """
    # Arithmetic is exact, because the answer often hangs on ties between classes, which the
    # tolerances of usual solvers blur where scores differ much in size. Scores are only
    # shifted by a trial and scaled by powers of two for it, unless systems are collinear.
    n_total = max(objective.n_tar, objective.n_non)
    n_added = _FIRST_TRIALS
    origin = objective.a_trial()
    scale = np.ldexp(1.0, np.frexp(objective.spread)[1])
    # Without collinear or constant systems the coordinates are the scores themselves.
    to_rows = (basis.T * (scale / objective.spread)).T
    if basis.shape[0] == basis.shape[1]:
        to_rows = np.eye(len(basis))
    rows = np.empty((0, basis.shape[1] + 1))
    goal = np.append((difference * objective.spread / scale) @ to_rows, 0.0)
    weights = start
    while True:
        tar, non = (
            ((x - origin) / scale[:, np.newaxis]).T @ to_rows
            for x in objective.hardest(weights, n_added)
        )
        of_tar = np.column_stack((tar, np.full(len(tar), -1.0)))
        of_non = np.column_stack((-non, np.full(len(non), 1.0)))
        complete = n_added >= n_total
        rows = np.vstack((of_tar, of_non) if complete else (rows, of_tar, of_non))
        direction = _separating_direction(rows, None if complete else goal)
        if direction is None or complete:
            return direction is not None
        # Raw weights times spread are standardised weights.
        weights = (to_rows @ direction[:-1]) * objective.spread / scale
        weights /= np.abs(weights).max()
        tar, non = (
            weights @ ((x - origin) / objective.spread[:, np.newaxis])
            for x in objective.hardest(weights, 1)
        )
        if float(non.max() - tar.min()) <= ROUNDING:
            return True
        n_added *= 2


def _separating_direction(rows: Float64Array, goal: Float64Array | None) -> Float64Array | None:
    """Find v for which no product with a row is negative but that with `goal` is positive.

    Without a goal it is the sum of the rows. None if there is no such v.
    """
    # First phase of the revised simplex method, which looks for factors of the rows that add
    # up to minus the goal.
    exact = _as_integers(rows if goal is None else np.vstack((rows, goal)))
    if goal is None:
        wanted = -exact.sum(axis=0)
    else:
        wanted, exact = -exact[-1], exact[:-1]
    signs = np.array([-1 if value < 0 else 1 for value in wanted], dtype=object)
    columns = exact * signs
    size = len(wanted)
    # Variables from the first are factors of rows; those below 0 are artificial.
    basic = list(range(-size, 0))
    factors = np.array([Fraction(int(value)) for value in wanted * signs], dtype=object)
    inverse = np.array([[Fraction(int(i == j)) for j in range(size)] for i in range(size)])
    pivots = 0
    while True:
        artificial = [k for k in range(size) if basic[k] < 0]
        if not any(factors[k] for k in artificial):
            return None
        duals = inverse[artificial].sum(axis=0)
        common = math.lcm(*(value.denominator for value in duals))
        prices = columns @ np.array([int(value * common) for value in duals], dtype=object)
        # The best price first; after many pivots the first good one, which cannot go in circles.
        chosen = int(np.argmax(prices if pivots < _HASTY_PIVOTS * size else prices > 0))
        if prices[chosen] <= 0:
            largest = max(abs(value) for value in duals)
            return -np.array([float(v / largest) for v in duals * signs])
        moves = inverse @ columns[chosen]
        leaving = min(
            (k for k in range(size) if moves[k] > 0),
            key=lambda k: (factors[k] / moves[k], basic[k]),
        )
        pivots += 1
        basic[leaving] = chosen
        factors[leaving] /= moves[leaving]
        inverse[leaving] /= moves[leaving]
        for k in range(size):
            if k != leaving and moves[k]:
                factors[k] -= moves[k] * factors[leaving]
                inverse[k] -= moves[k] * inverse[leaving]


def _as_integers(rows: Float64Array) -> npt.NDArray[np.object_]:
    """Multiply doubles by a power of two that makes them integers, of any size."""
    mantissas, exponents = np.frexp(rows)
    shifts = exponents - 53
    shifts = np.maximum(shifts - int(shifts[rows != 0.0].min(initial=0)), 0)
    pairs = zip(np.ldexp(mantissas, 53).ravel().tolist(), shifts.ravel().tolist(), strict=True)
    integers = np.array([int(mantissa) << shift for mantissa, shift in pairs], dtype=object)
    return integers.reshape(rows.shape)
