r"""Training of linear maps from scores to log-likelihood-ratios.

Shared by calibration (one system) and fusion (several): everything between the
raw scores and the optimal coefficients, on plain arrays.
"""

import functools
import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import evolve, frozen

from bosaris_py._validation import describe, invalid, list_some, warn_caller
from bosaris_py.errors import ConvergenceWarning, FitError, SeparableDataWarning
from bosaris_py.numerics.class_sums import ClassMoments
from bosaris_py.numerics.linear_objective import Evaluation, LinearObjective
from bosaris_py.numerics.newton import Minimum, minimise
from bosaris_py.numerics.objectives import LARGEST_SCORE
from bosaris_py.numerics.scoring_rules import scoring_rule
from bosaris_py.numerics.separability import ROUNDING, is_separable, proves_optimum

__all__ = ["LinearSolution", "as_ridge", "train_linear"]

Float64Array: TypeAlias = npt.NDArray[np.float64]

# Trials of each class in the subsets whose optimum is the starting point for the
# next larger one, and how much larger a set must be to make the detour worthwhile. At 2**17
# the optimum is a fraction of a percent off that of the full set, so that two or three passes
# over the latter are enough (`_Corrected`); at 2**20 nearly always two.
_SUBSETS = ((2**13, 3), (2**17, 3), (2**20, 32))

# A system whose scores differ by no more than this, relative to their size, is
# constant but for rounding; so is one whose squared spread would underflow.
_CONSTANT = 8 * float(np.finfo(np.float64).eps)
_SMALLEST_SPREAD = 1e-140

# Directions in which standardised scores vary less than this, as a share of the
# variance in the most varied direction, are collinear. (The difference between a
# system and its single-precision copy has a share of 1e-14.)
_COLLINEAR = 1e-12

# With a prior this close to 0 or 1 brier changes in the last digits only, unless decisions
# are hard.
_SMALLEST_BUMPY_PRIOR = 1e-10

# With log-likelihood-ratios of this standard deviation every decision is a hard one.
_HARD = 100.0


@frozen(eq=False)
class LinearSolution:
    """Coefficients of a trained linear map and how they came about.

    Parameters
    ----------
    weights : (n_systems,) ndarray of float64
        Factor of each system's raw score.
    offset : float
        What is added to the weighted sum.
    objective_value : float
        The objective at the solution, without the ridge penalty.
    ridge : float
        The ridge that was asked for, or of separable data what was used instead:
        1/n, on the variance of the fused scores.
    """

    weights: Float64Array
    offset: float
    objective_value: float
    ridge: float


@frozen(eq=False)
class _Problem:
    """The penalised objective in the coordinates in which it is minimised.

    These are the coefficients of an orthonormal `basis` of the standardised
    weights that matter, then the offset. Half of each of two penalties is added:
    `ridge` times the squared length of the weights, and `damping` times the
    variance of the fused scores, which `correlation` gives.
    """

    objective: LinearObjective
    basis: Float64Array
    correlation: Float64Array
    ridge: float
    damping: float = 0.0

    @property
    def origin(self) -> Float64Array:
        return np.zeros(self.basis.shape[1] + 1)

    def coefficients(self, point: Float64Array) -> Float64Array:
        return np.append(self.basis @ point[:-1], point[-1])

    @functools.cached_property
    def variance(self) -> Float64Array:
        """Quadratic form that gives the variance of the fused scores."""
        form: Float64Array = self.basis.T @ self.correlation @ self.basis
        return form

    def deviation(self, point: Float64Array) -> float:
        """Return the standard deviation of the fused scores, in log-likelihood-ratio."""
        return math.sqrt(max(0.0, float(point[:-1] @ self.variance @ point[:-1])))

    def penalty(self, point: Float64Array) -> float:
        length = float(point[:-1] @ point[:-1])
        return 0.5 * (self.ridge * length + self.damping * self.deviation(point) ** 2)

    @functools.cached_property
    def chain(self) -> Float64Array:
        """Derivatives of the coefficients by the coordinates."""
        n_systems, n_directions = self.basis.shape
        chain = np.zeros((n_systems + 1, n_directions + 1))
        chain[:-1, :-1] = self.basis
        chain[-1, -1] = 1.0
        return chain

    def evaluate(self, point: Float64Array) -> Evaluation:
        plain = self.objective.evaluate(self.coefficients(point))
        # Where the objective overflows its derivatives are NaN; the value says enough.
        with np.errstate(invalid="ignore", over="ignore"):
            gradient = self.chain.T @ plain.gradient
            hessian = self.chain.T @ plain.hessian @ self.chain
        if self.ridge == self.damping == 0.0:
            return evolve(plain, gradient=gradient, hessian=hessian)
        stiffness = self.ridge * np.eye(self.basis.shape[1]) + self.damping * self.variance
        gradient[:-1] += stiffness @ point[:-1]
        hessian[:-1, :-1] += stiffness
        return Evaluation(
            value=plain.value + self.penalty(point),
            gradient=gradient,
            hessian=hessian,
            overlap=plain.overlap,
        )

    def damped(self) -> "_Problem":
        """Return the problem with a penalty that always gives a finite optimum.

        With 1/n times the variance of the fused scores, the log-likelihood-ratios
        of n perfectly separated trials grow to about log n, as far as so many
        trials can support them. Unlike a ridge this does not depend on how the
        systems are correlated, or mixed.
        """
        n_trials = min(self.objective.n_tar, self.objective.n_non)
        return evolve(self, damping=1.0 / n_trials)

    def thinned(self, n_trials: int) -> "_Problem":
        thin = evolve(self, objective=self.objective.thinned(n_trials))
        return thin.damped() if self.damping == 0.0 else thin

    def is_separated(self, point: Float64Array, evaluation: Evaluation) -> bool:
        """Whether the fused scores at a point tell the classes apart without an error."""
        return evaluation.overlap < -ROUNDING * max(1.0, self.deviation(point))

    def has_optimum(self, minimum: Minimum, radius: float, difference: Float64Array) -> bool:
        """Whether a convex objective without penalties has a minimum, and not only a limit.

        Parameters
        ----------
        minimum : Minimum
            Where its minimisation ended.
        radius : float
            Upper limit of the length of all standardised scores, each with a 1.
        difference : (n_systems,) ndarray of float64
            Mean of the targets minus mean of the non-targets, standardised.
        """
        if proves_optimum(minimum.gradient, minimum.hessian, minimum.value, radius):
            return True
        deviation = self.deviation(minimum.point)
        if deviation > 0.0:
            # Separable but for rounding: an optimum that nobody could use.
            along = np.append(minimum.point[:-1] / deviation, 0.0)
            if self.evaluate(along).overlap <= ROUNDING:
                return False
        start = self.coefficients(minimum.point)[:-1]
        return not is_separable(self.objective, self.basis, difference, start)


@frozen(eq=False)
class _Corrected:
    """The objective of a subset plus a parabola that makes it that of the full set at a point.

    Value, gradient and Hessian agree there. Only the higher derivatives are the subset's, so the
    minimum is off by the square of the way to it times the error of those: a step much
    better than Newton's, without another pass over the full set.
    """

    subset: _Problem
    origin: Float64Array
    value: float
    gradient: Float64Array
    hessian: Float64Array

    @classmethod
    def at(cls, subset: _Problem, origin: Float64Array, full: Evaluation) -> "_Corrected":
        thin = subset.evaluate(origin)
        return cls(
            subset=subset,
            origin=origin,
            value=full.value - thin.value,
            gradient=full.gradient - thin.gradient,
            hessian=full.hessian - thin.hessian,
        )

    def evaluate(self, point: Float64Array) -> Evaluation:
        thin = self.subset.evaluate(point)
        step = point - self.origin
        slope = self.hessian @ step
        return evolve(
            thin,
            value=thin.value + self.value + float(step @ (self.gradient + 0.5 * slope)),
            gradient=thin.gradient + self.gradient + slope,
            hessian=thin.hessian + self.hessian,
        )


def _descend(
    problem: _Problem,
    start: Float64Array,
    stop: Callable[[Float64Array, Evaluation], bool] | None = None,
) -> Minimum:
    """Minimise, by way of the optima of subsets if the set is large."""
    largest = max(problem.objective.n_tar, problem.objective.n_non)
    subset = None
    for n_trials, factor in _SUBSETS:
        if largest > factor * n_trials:
            subset = problem.thinned(n_trials)
            # The subset's own error is far above this tolerance.
            start = minimise(subset.evaluate, start, tolerance=1e-3 / n_trials).point
    try:
        if subset is None:
            return minimise(problem.evaluate, start, stop=stop)
        here = problem.evaluate(start)
        if math.isfinite(here.value):
            corrected = _Corrected.at(subset, start, here)
            closer = minimise(corrected.evaluate, start, max_evaluations=10).point
            there = problem.evaluate(closer)
            if there.value < here.value:
                start, here = closer, there
        return minimise(problem.evaluate, start, first=here, stop=stop)
    except FitError:
        # Boosting can overflow at an outlier that no subset contained.
        return minimise(problem.evaluate, problem.origin, stop=stop)


def _descend_if_bounded(
    problem: _Problem, radius: float, difference: Float64Array
) -> Minimum | None:
    """Minimise a convex objective; return None if it turns out to have no minimum."""
    if problem.ridge > 0.0:
        return _descend(problem, problem.origin)
    minimum = _descend(problem, problem.origin, problem.is_separated)
    if minimum.stopped or not problem.has_optimum(minimum, radius, difference):
        return None
    return minimum


def _descend_bumpy(problem: _Problem, convex: Minimum) -> Minimum:
    """Minimise an objective with several minima: the best that two good starts lead to."""
    from_convex = _descend(problem, convex.point)
    from_origin = _descend(problem, problem.origin)
    # Of equal minima the one with moderate weights.
    if from_origin.value < from_convex.value - ROUNDING * abs(from_convex.value):
        return from_origin
    return from_convex


def _standardise(tar: ClassMoments, non: ClassMoments) -> tuple[Float64Array, Float64Array]:
    """Return centre and covariance of the scores, both classes counting the same."""
    centre = 0.5 * (tar.mean + non.mean)
    half = 0.5 * (tar.mean - non.mean)
    return centre, 0.5 * (tar.scatter + non.scatter) + np.outer(half, half)


def _of_systems(chosen: npt.NDArray[np.bool_]) -> str:
    """Name the chosen systems, counted from 1, unless there is only one anyway."""
    if chosen.size == 1:
        return ""
    return f" of system {list_some((np.flatnonzero(chosen) + 1).tolist())}"


def train_linear(
    objective: LinearObjective, *, ridge: float, owner: str, n_features: int = 0
) -> LinearSolution:
    r"""Find the weights and the offset that minimise a training objective.

    Parameters
    ----------
    objective : LinearObjective
        Training scores, prior and loss, not yet standardised.
    ridge : float
        Factor r of the penalty :math:`r/2 \sum_k (w_k d_k)^2`, where :math:`d_k` is
        the standard deviation of system k's training scores, both classes counting
        the same; dimensionless, not negative. The offset is not penalised.
    owner : str
        Whom messages speak of.
    n_features : int, default: 0
        How many of the inputs, the last ones, are quality features and not systems; for
        messages.

    Returns
    -------
    LinearSolution
        The optimum, to machine precision.

    Raises
    ------
    InvalidInputError
        If a training score is not finite, or `ridge` is negative.

    Warns
    -----
    SeparableDataWarning
        If no optimum exists because targets and non-targets can be separated. The
        solution with the penalty :math:`v / (2n)` is returned, where v is the variance
        of the fused scores and n the size of the smaller class.
    ConvergenceWarning
        If systems are constant (or their variance underflows) or collinear, if the weights
        have grown so that only hard decisions are left (brier), if the prior is within
        1e-10 of 0 or 1 (brier), or if the gradient did not vanish.

    Notes
    -----
    One pass standardises the scores and looks for non-finite ones. Newton's
    method then starts from zero, or in large sets from the optimum of an evenly
    spaced subset; from there it steps to the optimum of the subset's objective with
    the full set's value, gradient and Hessian at that point, which is nearly the full
    set's. Systems that are constant get the weight zero; of collinear
    systems the standardised weights of least length are taken.

    Separable data are recognised by a proof, not by a limit on the weights: a
    direction along which no target lies below a non-target. For one system that
    is seen from the ranges of the classes; for more it is asked of every iterate.
    Where none of them separates, gradient and Hessian usually prove that there is an
    optimum (`proves_optimum`); where they do not, a linear program decides.

    Brier is not convex. It is minimised from the optimum of cllr and from zero,
    and the better result is taken.
    """
    strength = as_ridge(ridge, owner)
    tar, non = objective.moments()
    lowest, highest = np.minimum(tar.lowest, non.lowest), np.maximum(tar.highest, non.highest)
    largest = np.maximum(np.abs(lowest), np.abs(highest))
    if not (largest <= LARGEST_SCORE).all():
        objective.refuse_non_finite(owner)

    centre, covariance = _standardise(tar, non)
    spread = np.sqrt(np.diag(covariance))
    varied = (highest - lowest > _CONSTANT * largest) & (spread > _SMALLEST_SPREAD)
    spread[~varied] = 1.0
    minute = (highest - lowest > _CONSTANT * largest) & ~varied
    for chosen, fault in (
        (~varied & ~minute, "are equal and carry no information"),
        (minute, f"differ by less than {_SMALLEST_SPREAD:g}, so that their squares underflow"),
    ):
        if chosen.any():
            which = f"all training scores{_of_systems(chosen)}"
            message = f"{owner}: {which} {fault}; the weight is set to 0."
            warn_caller(message, ConvergenceWarning)
    correlation = covariance / np.outer(spread, spread)
    basis = _varied_directions(correlation, varied)
    if basis.shape[1] < np.count_nonzero(varied):
        n_systems = np.count_nonzero(varied[: varied.size - n_features])
        inputs = f"the scores of the {n_systems} systems"
        if n_features:
            inputs += f" and {n_features} quality features"
        message = (
            f"{owner}: {inputs} vary in only {basis.shape[1]} directions, "
            "so infinitely many weights give the same fused scores; "
            "the shortest standardised weights are returned. Is a system given twice?"
        )
        warn_caller(message, ConvergenceWarning)

    standardised = objective.standardised(centre, spread)
    problem = _Problem(standardised, basis, correlation, strength)
    if basis.shape[1] == 0:
        # Proper scoring: without information the prior is the best answer.
        return LinearSolution(
            weights=np.zeros(varied.size),
            offset=0.0,
            objective_value=problem.evaluate(problem.origin).value,
            ridge=strength,
        )
    convex = problem
    if not objective.rule.convex:
        cllr = problem.objective.with_rule(scoring_rule("cllr", owner))
        convex = evolve(problem, objective=cllr)
    minimum = None
    if not (strength == 0.0 and varied.size == 1 and _is_separable(tar, non)):
        furthest = np.maximum(highest - centre, centre - lowest)[varied] / spread[varied]
        difference = np.where(varied, tar.mean - non.mean, 0.0) / spread
        minimum = _descend_if_bounded(convex, math.hypot(1.0, *furthest), difference)
    if minimum is None:
        problem, convex = problem.damped(), convex.damped()
        minimum = _descend(convex, convex.origin)
        message = (
            f"{owner}: the training scores are separable: there are weights with which no target "
            "scores below a non-target, so larger weights always fit better and no optimum "
            f"exists. Returned is the solution with ridge={problem.damping:.3g}, 1 / (number of "
            "trials of the smaller class). Train on more trials, or choose `ridge`."
        )
        warn_caller(message, SeparableDataWarning)
    if not objective.rule.convex:
        minimum = _descend_bumpy(problem, minimum)
        deviation = problem.deviation(minimum.point)
        if deviation > _HARD:
            message = (
                f"{owner}: on these scores and at this prior the objective {objective.rule.name!r} "
                "is lowest for hard decisions; the log-likelihood-ratios have a standard "
                f"deviation of {deviation:.3g} and mean little but their sign. "
                "Objective 'cllr' or a `ridge` avoids that."
            )
            warn_caller(message, ConvergenceWarning)
        elif min(objective.prior, 1.0 - objective.prior) < _SMALLEST_BUMPY_PRIOR:
            message = (
                f"{owner}: at the prior {objective.prior:.17g} the objective "
                f"{objective.rule.name!r} is flat around these weights but for rounding, and "
                "lower values elsewhere may have been missed. Objective 'cllr' can be "
                "minimised at any prior."
            )
            warn_caller(message, ConvergenceWarning)
    if not minimum.converged:
        message = (
            f"{owner}: gave up after {minimum.evaluations} evaluations of the objective; its "
            f"gradient still has length {minimum.gradient_norm:.3g}."
        )
        warn_caller(message, ConvergenceWarning)
    coefficients = problem.coefficients(minimum.point)
    weights = coefficients[:-1] / spread
    return LinearSolution(
        weights=weights,
        offset=float(coefficients[-1] - weights @ centre),
        objective_value=minimum.value - problem.penalty(minimum.point),
        ridge=max(problem.ridge, problem.damping),
    )


def as_ridge(ridge: float, owner: str) -> float:
    """Return a ridge as a float; raise unless it is finite and not negative."""
    try:
        strength = float(ridge)
    except (TypeError, ValueError):
        raise invalid("ridge", owner, "be a number", describe(ridge)) from None
    if not (math.isfinite(strength) and strength >= 0.0):
        raise invalid("ridge", owner, "be finite and not negative", describe(ridge))
    return strength


def _is_separable(tar: ClassMoments, non: ClassMoments) -> bool:
    """Whether a threshold on one system's scores makes no error, one way or the other."""
    above = tar.lowest[0] >= non.highest[0]
    below = tar.highest[0] <= non.lowest[0]
    return bool(above or below)


def _varied_directions(correlation: Float64Array, varied: npt.NDArray[np.bool_]) -> Float64Array:
    """Return an orthonormal basis, in columns, of the directions in which scores vary."""
    chosen = np.flatnonzero(varied)
    identity = np.eye(varied.size)[:, chosen]
    if chosen.size < 2:
        return identity
    shares, directions = np.linalg.eigh(correlation[np.ix_(chosen, chosen)])
    kept = shares > _COLLINEAR * shares[-1]
    return identity if kept.all() else identity @ directions[:, kept]
