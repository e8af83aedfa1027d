r"""Linear training: from raw scores to the optimal coefficients.

Shared by calibration (one system) and fusion (several), on plain arrays: the penalised problem, the
descent by way of subsets, and what users are warned of. `newton` minimises; `separability` says
whether there is an optimum.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
from attrs import evolve, frozen

from bosaris_py import _validation as check
from bosaris_py import errors
from bosaris_py._arrays import BoolArray, Float64Array, Weighting
from bosaris_py._cautions import warn_caller
from bosaris_py.numerics.linear_objective import (
    LARGEST_SCORE,
    ClassScores,
    LinearObjective,
    LocalModel,
    TrainingObjective,
    pool_classes,
)
from bosaris_py.numerics.newton import EPSILON, FIRST_RADIUS, Minimum, minimise, next_step
from bosaris_py.numerics.priors import sigmoid
from bosaris_py.numerics.roc import FEWEST_ERRORS, ROC
from bosaris_py.numerics.scoring_rules import ScoringRule, scoring_rule
from bosaris_py.numerics.separability import ROUNDING, is_separable, proves_optimum

# Trials of each class in the subsets whose optimum is the starting point for the
# next larger one, and how much larger a set must be to make the detour worthwhile. At 2**17
# the optimum is a fraction of a percent off that of the full set, so that two or three passes
# over the latter are enough (`_corrected`); at 2**20 nearly always two.
_SUBSETS = ((2**13, 3), (2**17, 3), (2**20, 32))

# If the predicted relative decrease is below `_SURE`, the corrected step reaches rounding error,
# and the verifying pass is skipped, where points stand for all trials. After a first correction
# the bound is the decrease from which the next step would promise at most `_SURE_NEXT`.
_SURE, _SURE_NEXT = 1e-11, 1e-31

# Enough where a nearly identical objective has led to the start.
_FEW_EVALUATIONS = 10

# A system whose scores differ by no more than this, relative to their size, is
# constant but for rounding; so is one whose squared spread would underflow.
_CONSTANT = 8 * EPSILON

_SMALLEST_SPREAD = 1e-140

# Directions in which standardised scores vary less than this, as a share of the
# variance in the most varied direction, are collinear. (The difference between a
# system and its single-precision copy has a share of 1e-14.)
_COLLINEAR = 1e-12

# With a prior this close to 0 or 1 brier changes in the last digits only, unless decisions
# are hard.
_SMALLEST_NON_CONVEX_PRIOR = 1e-10

# With log-likelihood-ratios of this standard deviation every decision is a hard one.
_HARD = 100.0

# With these log-odds a decision is certain but for rounding. For more trials than this no set was
# seen on which hard decisions are best.
_CERTAIN, _MOST_HARD = 40.0, 2**17

# Penalties of the "weak" ridge, times the number of trials of the smaller class: normal priors of
# standard deviation 8.5 and 0.85, for the spread of the log-likelihood-ratios and for their value
# midway between the classes.
_WEAK = 0.01, 1.0

Ridge: TypeAlias = float | Literal["weak"]


@frozen(eq=False)
class LinearSolution:
    """Coefficients of a trained linear map for raw scores, and how they came about.

    `objective_value` is without the ridge penalty. `ridge` is what was asked for or, of separable
    data, what was used instead: 1/n, on the variance of the fused scores. `lowest` and `highest`
    are the ranges of the training scores; `separation` is how far the mean of the targets lies
    above that of the non-targets, in standard deviations, both classes counting the same.
    """

    weights: Float64Array
    offset: float
    objective_value: float
    ridge: float
    lowest: Float64Array
    highest: Float64Array
    separation: Float64Array | None = None


def ridge_strengths(ridge: Ridge, n_trials: int) -> tuple[float, float]:
    """Return the strengths of the penalties on the weights and on the offset; "weak" needs n."""
    expected = 'be "weak", or finite and not negative'
    if isinstance(ridge, str):
        if ridge != "weak":
            raise check.invalid(
                "ridge", expected, check.describe(ridge), check.nearest(ridge, ["weak"])
            )
        return _WEAK[0] / n_trials, _WEAK[1] / n_trials
    return check.as_number(ridge, "ridge", expected, lambda x: 0.0 <= x < math.inf), 0.0


@frozen(eq=False)
class _Problem:
    """The penalised objective in the coordinates in which it is minimised.

    These are the coefficients of an orthonormal `basis` of the standardised weights that matter,
    then the offset. Half of each of three penalties is added: `ridge` times the squared length of
    the weights, `centring` times the squared log-likelihood-ratio midway between the classes, and
    `damping` times the variance of the fused scores, which `correlation` gives.
    """

    objective: LinearObjective
    basis: Float64Array
    correlation: Float64Array
    ridge: float
    centring: float = 0.0
    damping: float = 0.0

    @property
    def origin(self) -> Float64Array:
        return np.zeros(self.basis.shape[1] + 1)

    def coefficients(self, point: Float64Array) -> Float64Array:
        found = np.empty(self.basis.shape[0] + 1)
        np.matmul(self.basis, point[:-1], out=found[:-1])
        found[-1] = point[-1]
        return found

    @functools.cached_property
    def variance(self) -> Float64Array:
        """Quadratic form that gives the variance of the fused scores."""
        return np.asarray(self.basis.T @ self.correlation @ self.basis)

    def deviation(self, point: Float64Array) -> float:
        """Return the standard deviation of the fused scores, in log-likelihood-ratio."""
        return math.sqrt(max(0.0, float(point[:-1] @ self.variance @ point[:-1])))

    @functools.cached_property
    def stiffness(self) -> Float64Array:
        """Hessian of the penalties."""
        n_directions = self.basis.shape[1]
        stiffness = np.diag(np.append(np.full(n_directions, self.ridge), self.centring))
        stiffness[:-1, :-1] += self.damping * self.variance
        return stiffness

    def penalty(self, point: Float64Array) -> float:
        return 0.5 * float(point @ self.stiffness @ point)

    @functools.cached_property
    def chain(self) -> Float64Array:
        """Derivatives of the coefficients by the coordinates."""
        n_systems, n_directions = self.basis.shape
        chain = np.zeros((n_systems + 1, n_directions + 1))
        chain[:-1, :-1] = self.basis
        chain[-1, -1] = 1.0
        return chain

    def evaluate(self, point: Float64Array) -> LocalModel:
        plain = self.objective.evaluate(self.coefficients(point))
        # Where the objective overflows its derivatives are NaN; the value says enough.
        with np.errstate(invalid="ignore", over="ignore"):
            gradient = self.chain.T @ plain.gradient
            hessian = self.chain.T @ plain.hessian @ self.chain
        if self.ridge == self.damping == 0.0:
            return LocalModel(plain.value, gradient, hessian, plain.overlap)
        gradient += self.stiffness @ point
        value = plain.value + self.penalty(point)
        return LocalModel(value, gradient, hessian + self.stiffness, plain.overlap)

    def damped(self) -> "_Problem":
        """Return the problem with a penalty that always gives a finite optimum."""
        # With 1/n times the variance of the fused scores, the log-likelihood-ratios of n
        # perfectly separated trials grow to about log n, as far as so many trials can support
        # them. Unlike a ridge this does not depend on how the systems are correlated, or mixed.
        return evolve(self, damping=1.0 / min(self.objective.n_tar, self.objective.n_non))

    def thinned(self, n_trials: int) -> "_Problem":
        thin = evolve(self, objective=self.objective.thinned(n_trials))
        return thin.damped() if self.damping == 0.0 else thin

    def condensed(self) -> "_Problem | None":
        objective = self.objective.condensed()
        return None if objective is None else evolve(self, objective=objective)

    def is_separated(self, point: Float64Array, evaluation: LocalModel) -> bool:
        """Whether the fused scores at a point tell the classes apart without an error."""
        overlap = evaluation.overlap
        return overlap < 0.0 and overlap < -ROUNDING * max(1.0, self.deviation(point))

    def has_optimum(self, minimum: Minimum, radius: float, difference: Float64Array) -> bool:
        """Whether a convex objective without penalties has a minimum, and not only a limit.

        `minimum` is where its minimisation ended; `radius` and `difference` are those of
        `proves_optimum` and `is_separable`.
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


def _corrected(
    subset: _Problem, origin: Float64Array, full: LocalModel
) -> Callable[[Float64Array], LocalModel]:
    """Return the objective of a subset plus a parabola that makes it that of the full set there.

    Value, gradient and Hessian agree at the origin.
    """
    # Only the higher derivatives are the subset's, so the minimum is off by the square of the
    # way to it times the error of those: a step much better than Newton's, without another
    # pass over the full set.
    thin = subset.evaluate(origin)
    value, gradient = full.value - thin.value, full.gradient - thin.gradient
    hessian = full.hessian - thin.hessian

    def evaluate(point: Float64Array) -> LocalModel:
        there = subset.evaluate(point)
        step = point - origin
        slope = hessian @ step
        return evolve(
            there,
            value=there.value + value + float(step @ (gradient + 0.5 * slope)),
            gradient=there.gradient + gradient + slope,
            hessian=there.hessian + hessian,
        )

    return evaluate


def _start_from_few(
    problem: _Problem, start: Float64Array
) -> tuple[_Problem | None, Float64Array, float]:
    """Return what stands for a large set, None for a small one; its optimum; and `sure`."""
    few = problem.condensed()
    if few is not None:
        # First with a penalty: from there few steps are left, unless there is no optimum.
        near = minimise(few.damped().evaluate, start, tolerance=ROUNDING).point
        return few, minimise(few.evaluate, near, max_evaluations=_FEW_EVALUATIONS).point, _SURE
    largest = max(problem.objective.n_tar, problem.objective.n_non)
    for n_trials, factor in _SUBSETS:
        if largest > factor * n_trials:
            few = problem.thinned(n_trials)
            # The subset's own error is far above this tolerance.
            start = minimise(few.evaluate, start, tolerance=1e-3 / n_trials).point
    return few, start, 0.0


# A large set is minimised in three steps:
#
# 1. The optimum of a few: of points that stand for all trials, or of ever larger subsets.
# 2. At most two corrections: the objective of the few plus a parabola equals the full one at
#    `start` in value, gradient and Hessian; its minimum is the next point.
# 3. Newton's method on the full set from the best point so far.
#
# Invariant: `here` is the full objective at `start`, and its value only falls. A point is returned
# without an evaluation, as the last one of `minimise` is, only where Newton's step from `start`
# promises at most the share `sure` of the value: a correction from there ends where rounding does.
def _descend(
    problem: _Problem,
    start: Float64Array,
    stop: Callable[[Float64Array, LocalModel], bool] | None = None,
) -> Minimum:
    """Minimise, by way of the optima of subsets, or of what stands for it, if the set is large."""
    few, start, sure = _start_from_few(problem, start)
    try:
        if few is None:
            return minimise(problem.evaluate, start, stop=stop)
        here = problem.evaluate(start)
        for is_second in (False, True):
            size = abs(here.value)
            promised = next_step(here, FIRST_RADIUS)[2] if math.isfinite(size) else 0.0
            # A second correction pays only where it saves a pass.
            if promised <= EPSILON * size or (is_second and promised > sure * size):
                break
            corrected = _corrected(few, start, here)
            closer = minimise(corrected, start, max_evaluations=_FEW_EVALUATIONS)
            is_sure = closer.converged and promised <= sure * size
            if is_sure and not (stop is not None and stop(start, here)):
                return evolve(closer, value=here.value - promised)
            there = problem.evaluate(closer.point)
            if not there.value < here.value:
                break
            # A step promises a share of the value in proportion to the square of the last one.
            sure = (_SURE_NEXT * (promised / size) ** 2) ** (1 / 3)
            start, here = closer.point, there
        return minimise(problem.evaluate, start, first=here, stop=stop)
    except errors.FitError:
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


def _descend_non_convex(problem: _Problem, convex: Minimum) -> Minimum:
    """Minimise an objective with several minima: the best that two or three good starts lead to."""
    best = _descend(problem, convex.point)
    starts = [problem.origin]
    if problem.basis.shape[1] == 1 and problem.ridge == problem.damping == 0.0:
        starts += _hard_decisions(problem)
    for start in starts:
        found = _descend(problem, start)
        # Of equal minima the one with moderate weights.
        if found.value < best.value - ROUNDING * abs(best.value):
            best = found
    return best


def _hard_decisions(problem: _Problem) -> list[Float64Array]:
    """Return a point that decides at the threshold of minimum cost; none for many trials."""
    objective = problem.objective
    size = max(objective.n_tar, objective.n_non)
    if size > _MOST_HARD:
        return []
    one = problem.coefficients(np.ones(2))[:-1]
    weights: dict[str, Weighting] = {}
    if isinstance(objective, TrainingObjective):
        lists = objective.tar, objective.non
        weights = {"tar_weights": objective.tar_weights, "non_weights": objective.non_weights}
    else:
        lists = objective.hardest(one, size)
    tar, non = ((one / objective.spread) @ scores[:, :] for scores in lists)
    hull = ROC.from_scores(tar, non, **weights).convex_hull()
    limit = float(hull.min_dcf_threshold(objective.prior))
    below = np.concatenate((tar[tar < limit], non[non < limit]))
    if not (math.isfinite(limit) and below.size):
        return []
    gap = limit - float(below.max())
    # So steep that the two scores beside the threshold are decided beyond doubt.
    scale = max(2.0 * _HARD, 2.0 * _CERTAIN / gap)
    shift = float(one @ (objective.centre / objective.spread))
    return [np.array([scale, scale * (shift + 0.5 * gap - limit) - objective.plo])]


def train_linear(
    objective: LinearObjective, *, ridge: Ridge, n_features: int = 0
) -> LinearSolution:
    r"""Find the weights and the offset that minimise a training objective, to machine precision.

    The penalty is :math:`r/2 \sum_k (w_k d_k)^2` with the ridge r and the standard deviation
    :math:`d_k` of system k's training scores, both classes counting the same. The last `n_features`
    inputs are quality features, for messages.

    Newton's method starts from zero, or in large sets from the optimum of an evenly spaced subset.
    From there it steps to the optimum of the subset's objective with the full set's derivatives at
    that point. Constant systems get the weight zero; of collinear systems the standardised weights
    of least length are taken.

    Separable data are recognised by a proof: a direction along which no target lies below a
    non-target. For one system the ranges of the classes show it; for more every iterate is tried.
    Where none separates, gradient and Hessian usually prove an optimum (`proves_optimum`); else a
    linear program decides. Brier is not convex: it is minimised from the optimum of cllr, from zero
    and, of one system, from hard decisions, and the best result is taken.
    """
    strength, centring = ridge_strengths(ridge, min(objective.n_tar, objective.n_non))
    tar, non = objective.moments()
    lowest, highest = np.minimum(tar.lowest, non.lowest), np.maximum(tar.highest, non.highest)
    largest = np.maximum(np.abs(lowest), np.abs(highest))
    if not (largest <= LARGEST_SCORE).all():
        objective.refuse_non_finite()

    centre, covariance = pool_classes(tar, non)
    spread = np.sqrt(np.diag(covariance))
    differ = highest - lowest > _CONSTANT * largest
    varied = differ & (spread > _SMALLEST_SPREAD)
    spread[~varied] = 1.0
    correlation = covariance / np.outer(spread, spread)
    basis = _varied_directions(correlation, varied)
    _warn_of_uninformative(differ, varied, basis.shape[1], n_features)

    standardised = evolve(objective, centre=centre, spread=spread)
    problem = _Problem(standardised, basis, correlation, strength, centring)
    if basis.shape[1] == 0:
        # Proper scoring: without information the prior is the best answer.
        value = problem.evaluate(problem.origin).value
        return LinearSolution(np.zeros(varied.size), 0.0, value, strength, lowest, highest)
    convex = problem
    if not objective.rule.convex:
        convex = evolve(problem, objective=evolve(standardised, rule=scoring_rule("cllr")))
    minimum = None
    # Whether a threshold on the scores makes no error, one way or the other.
    separable = tar.lowest[0] >= non.highest[0] or tar.highest[0] <= non.lowest[0]
    if not (strength == 0.0 and varied.size == 1 and separable):
        furthest = np.maximum(highest - centre, centre - lowest)[varied] / spread[varied]
        difference = np.where(varied, tar.mean - non.mean, 0.0) / spread
        minimum = _descend_if_bounded(convex, math.hypot(1.0, *furthest), difference)
    if minimum is None:
        problem, convex = problem.damped(), convex.damped()
        minimum = _descend(convex, convex.origin)
        message = (
            "The training scores are separable: there are weights with which no target "
            "scores below a non-target, so larger weights always fit better and no optimum "
            f"exists. Returned is the solution with ridge={problem.damping:.3g}, 1 / (number of "
            "trials of the smaller class). It orders scores well, but how large its "
            "log-likelihood-ratios are the ridge decides: train on more trials, or choose a ridge."
        )
        warn_caller(message, errors.SeparableDataWarning)
    if not objective.rule.convex:
        minimum = _descend_non_convex(problem, minimum)
        _warn_of_hard_decisions(objective, problem.deviation(minimum.point))
    if not minimum.converged:
        message = (
            f"Training gave up after {minimum.evaluations} evaluations of the objective; its "
            f"gradient still has length {math.hypot(*minimum.gradient):.3g}."
        )
        warn_caller(message, errors.ConvergenceWarning)
    coefficients = problem.coefficients(minimum.point)
    weights = coefficients[:-1] / spread
    return LinearSolution(
        weights=weights,
        offset=float(coefficients[-1] - weights @ centre),
        objective_value=minimum.value - problem.penalty(minimum.point),
        ridge=max(problem.ridge, problem.damping),
        lowest=lowest,
        highest=highest,
        separation=np.where(varied, tar.mean - non.mean, 0.0) / spread,
    )


_LLRS_AT_A_TIME = 2**16

# A training prior that names no operating point: both classes count the same.
_ALL_POINTS = 0.5


def warn_of_few_errors(solution: LinearSolution, objective: LinearObjective) -> None:
    """Warn if training data in memory have few errors at a prior that is not the default."""
    # Theory paper, section 2.1.2: at least 30 training errors of both types, at all operating
    # points of interest. A ridge is the remedy, and of separable data there has been a warning.
    if objective.prior == _ALL_POINTS or not isinstance(objective, TrainingObjective):
        return
    if solution.ridge > 0.0 or objective.sizes is not None or not solution.weights.any():
        return
    tar, non = (_trained_llrs(solution, scores) for scores in (objective.tar, objective.non))
    misses = int(np.count_nonzero(tar < -objective.plo))
    alarms = int(np.count_nonzero(non >= -objective.plo))
    if min(misses, alarms) >= FEWEST_ERRORS:
        return
    # At thresholds above the 30th target and up to the 30th non-target there are enough of both.
    enough, low, high = min(tar.size, non.size) >= FEWEST_ERRORS, 1.0, 0.0
    if enough:
        last = FEWEST_ERRORS - 1
        high = float(sigmoid(-np.partition(tar, last)[last]))
        low = float(sigmoid(-np.partition(non, non.size - 1 - last)[non.size - 1 - last]))
    where = f"only at priors from {low:.3g} to {high:.3g}" if low < high else "at no prior"
    finding = (
        f"At prior {objective.prior:.4g} the training data have {misses} misses and {alarms} false "
        f"alarms. They have {FEWEST_ERRORS} of both kinds {where}."
    )
    advice = 'Train on more trials, or use a ridge, for instance ridge="weak".'
    counts = {"misses": misses, "false alarms": alarms}
    few = [name for name, count in counts.items() if count < FEWEST_ERRORS]
    warn_caller(finding, errors.FewTrainingErrorsWarning, advice, few, min(misses, alarms))


def _trained_llrs(solution: LinearSolution, scores: ClassScores) -> Float64Array:
    """Return the log-likelihood-ratios of scores (n_systems, n_trials) that are trained on."""
    weights, size = solution.weights, scores.shape[1]
    places = (slice(begin, begin + _LLRS_AT_A_TIME) for begin in range(0, size, _LLRS_AT_A_TIME))
    return np.concatenate([weights @ scores[:, place] for place in places]) + solution.offset


def train_nonnegative(objective: TrainingObjective, *, ridge: Ridge) -> LinearSolution:
    """Find the weights that minimise a training objective, none of them negative.

    Arguments and warnings are those of `train_linear`. Systems are left out, the most negative
    weight first, and taken back by the slope of the objective. Where Kuhn and Tucker's conditions
    hold, that is the optimum of a convex objective.
    """
    n_systems = len(objective.tar)
    strength, _ = ridge_strengths(ridge, min(objective.n_tar, objective.n_non))
    centre, covariance = pool_classes(*objective.moments())
    kept = np.ones(n_systems, dtype=np.bool_)
    for step in itertools.count():
        weights, offset, solution = np.zeros(n_systems), 0.0, None
        if kept.any():
            solution = train_linear(_with_systems(objective, kept), ridge=ridge)
            weights[kept], offset = solution.weights, solution.offset
        if weights.min() < 0.0:
            kept[np.argmin(weights)] = False
            continue
        here = objective.evaluate(np.append(weights, offset))
        used = strength if solution is None else solution.ridge
        # With the same value midway between the classes, whose penalty then stays; that of
        # separable data is one on the variance.
        slopes = here.gradient[:-1] - here.gradient[-1] * centre
        if strength == 0.0:
            slopes += used * (covariance @ weights)
        # What is in has no slope, but for rounding; what is out must not fall.
        slopes[kept] = 0.0
        # From some step on none comes back, so that this ends.
        noise = ROUNDING * abs(here.gradient).max(initial=1.0)
        if step >= 3 * n_systems or slopes.min() >= -noise:
            break
        kept[np.argmin(slopes)] = True
    return _with_range(objective, np.maximum(weights, 0.0), offset, here.value, used)


def _with_range(
    objective: TrainingObjective, weights: Float64Array, offset: float, value: float, ridge: float
) -> LinearSolution:
    """Return a solution with the range of all systems' scores."""
    tar, non = objective.moments()
    low, high = np.minimum(tar.lowest, non.lowest), np.maximum(tar.highest, non.highest)
    spread = np.sqrt(np.diag(pool_classes(tar, non)[1]))
    separation = (tar.mean - non.mean) / np.where(spread > _SMALLEST_SPREAD, spread, np.inf)
    return LinearSolution(weights, offset, value, ridge, low, high, separation)


def _with_systems(objective: TrainingObjective, kept: BoolArray) -> TrainingObjective:
    """Return the objective of some of the systems."""
    n = int(np.count_nonzero(kept))
    tar, non = objective.tar[:, :][kept], objective.non[:, :][kept]
    return evolve(objective, tar=tar, non=non, centre=np.zeros(n), spread=np.ones(n))


def train_scale(objective: LinearObjective, *, offset: float, ridge: Ridge) -> LinearSolution:
    """Find the weight of one system that minimises a training objective beside a given offset.

    Arguments and warnings are those of `train_linear`. Data are separable if no target's score is
    on the other side of zero than a target's should be, and no non-target's.
    """
    strength, _ = ridge_strengths(ridge, min(objective.n_tar, objective.n_non))
    tar, non = objective.moments()
    # NaN, where a score is: these pass it on.
    lowest = np.minimum(tar.lowest, non.lowest)[0]
    highest = np.maximum(tar.highest, non.highest)[0]
    if not np.maximum(-lowest, highest) <= LARGEST_SCORE:
        objective.refuse_non_finite()
    spread = np.sqrt(np.diag(pool_classes(tar, non)[1]))
    # Scores that are all equal and not zero still have a best scale.
    unit = np.array([max(-lowest, highest, 0.0) or 1.0])
    scaled = evolve(objective, centre=np.zeros(1), spread=unit)
    up, down = (tar.lowest[0], -non.highest[0]), (-tar.highest[0], non.lowest[0])
    if lowest == highest == 0.0:
        message = "All training scores are 0 and carry no information; the scale is set to 0."
        warn_caller(message, errors.ConvergenceWarning)
    elif strength == 0.0 and max(min(up), min(down)) >= 0.0:
        strength = 1.0 / min(objective.n_tar, objective.n_non)
        message = (
            "The training scores are separable: zero lies between targets and non-targets, so "
            f"that no best scale exists. Returned is the solution with a ridge of {strength:.3g}, "
            "1 / (number of trials of the smaller class)."
        )
        warn_caller(message, errors.SeparableDataWarning)
    # The unit of the penalty is the spread; scores that do not vary are penalised by their size.
    stiffness = strength * float((spread / unit)[0] or 1.0) ** 2

    def evaluate(rule: ScoringRule, point: Float64Array) -> LocalModel:
        here = evolve(scaled, rule=rule).evaluate(np.append(point, offset))
        return LocalModel(
            here.value + 0.5 * stiffness * point[0] ** 2,
            here.gradient[:1] + stiffness * point,
            here.hessian[:1, :1] + stiffness,
            here.overlap,
        )

    convex = objective.rule if objective.rule.convex else scoring_rule("cllr")
    minima = [minimise(functools.partial(evaluate, convex), np.zeros(1))]
    if convex is not objective.rule:
        # From the optimum of cllr and from zero; of equal minima the first, as `train_linear` does.
        of_rule = functools.partial(evaluate, objective.rule)
        minima = [minimise(of_rule, start) for start in (minima[0].point, np.zeros(1))]
    minimum = min(minima, key=lambda found: found.value)
    value = minimum.value - 0.5 * stiffness * minimum.point[0] ** 2
    ends = np.array([lowest]), np.array([highest])
    return LinearSolution(minimum.point / unit, offset, value, strength, *ends)


def _varied_directions(correlation: Float64Array, varied: BoolArray) -> Float64Array:
    """Return an orthonormal basis, in columns, of the directions in which scores vary."""
    chosen = np.flatnonzero(varied)
    identity = np.eye(varied.size)[:, chosen]
    if chosen.size < 2:
        return identity
    shares, directions = np.linalg.eigh(correlation[np.ix_(chosen, chosen)])
    kept = shares > _COLLINEAR * shares[-1]
    return identity if kept.all() else identity @ directions[:, kept]


def _warn_of_uninformative(
    differ: BoolArray, varied: BoolArray, n_directions: int, n_features: int
) -> None:
    """Warn of systems whose scores hardly differ, and of systems that are collinear."""
    for chosen, fault in (
        (~differ, "are equal and carry no information"),
        (
            differ & ~varied,
            f"differ by less than {_SMALLEST_SPREAD:g}, so that their squares underflow",
        ),
    ):
        if chosen.any():
            numbers = check.list_some((np.flatnonzero(chosen) + 1).tolist())
            which = "" if chosen.size == 1 else f" of system {numbers}"
            message = f"All training scores{which} {fault}; the weight is set to 0."
            warn_caller(message, errors.ConvergenceWarning)
    if n_directions < np.count_nonzero(varied):
        n_systems = np.count_nonzero(varied[: varied.size - n_features])
        features = f" and {n_features} quality features" if n_features else ""
        few = ", or are models or segments fewer than measures plus one" if n_features else ""
        message = (
            f"The scores of the {n_systems} systems{features} vary in only {n_directions} "
            "directions, so infinitely many weights give the same fused scores; "
            f"the shortest standardised weights are returned. Is a system given twice{few}?"
        )
        warn_caller(message, errors.ConvergenceWarning)


def _warn_of_hard_decisions(objective: LinearObjective, deviation: float) -> None:
    """Warn of weights that leave only hard decisions, or that rounding has chosen."""
    name = objective.rule.name
    if deviation > _HARD:
        message = (
            f"On these scores and at this prior the objective {name!r} "
            "is lowest for hard decisions; the log-likelihood-ratios have a standard "
            f"deviation of {deviation:.3g} and mean little but their sign. "
            "Objective 'cllr' or a ridge avoids that."
        )
        warn_caller(message, errors.ConvergenceWarning)
    elif min(objective.prior, 1.0 - objective.prior) < _SMALLEST_NON_CONVEX_PRIOR:
        message = (
            f"At the prior {objective.prior:.17g} the objective {name!r} is flat around these "
            "weights but for rounding, and lower values elsewhere may have been missed. "
            "Objective 'cllr' can be minimised at any prior."
        )
        warn_caller(message, errors.ConvergenceWarning)
