r"""Training of linear maps: Newton's method within a trust region, on the `objective`.

In large sets it starts from the optimum of evenly spaced trials.

References
----------
.. [1] N. Brummer and E. de Villiers, "The BOSARIS Toolkit user guide: theory,
   algorithms and code for binary classifier score processing", 2011.
.. [2] J. J. More and D. C. Sorensen, "Computing a trust region step", SIAM J.
   Sci. Stat. Comput. 4(3), 1983, doi:10.1137/0904038.
"""

import itertools
import math
from collections.abc import Callable
from typing import Literal

import numpy as np
import scipy
from attrs import evolve, frozen

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import BoolArray, FloatArray
from bosaris_py.numerics import scoring as training
from bosaris_py.numerics.roc import ROC
from bosaris_py.numerics.scoring import LocalModel, TrainingObjective, scoring_rule

Ridge = float | Literal["weak"]

# Newton's method squares the error. Of a set so large the last step need not be looked at where it
# promises this share of the value: what is left is the square of it.
_OF_MANY = 1e-12

# A system whose scores differ by no more than this, relative to their size, is constant but for
# rounding; so is one whose squared spread would underflow.
_EPSILON = float(np.finfo(np.float64).eps)
_CONSTANT, _SMALLEST_SPREAD = 8 * _EPSILON, 1e-140

# Directions in which standardised scores vary less than this, as a share of the variance in the
# most varied direction, are collinear.
_COLLINEAR = 1e-12

# Rounding of fused scores, in standard deviations.
_ROUNDING = 1e-9

# Curvatures below this share of the largest have vanished in the descent.
_VANISHED = 1e-9

# Decreases below this share of the value are not looked for in it: it is a sum of rounded terms.
_NOISE = 1e3 * _EPSILON

# A minimisation has gone wrong after so many evaluations.
_MOST_STEPS = 200

# Penalties of the "weak" ridge, times the number of trials of the smaller class: normal priors of
# standard deviation 8.5 and 0.85, for the spread of the log-likelihood-ratios and for their value
# midway between the classes.
_WEAK = 0.01, 1.0

# Log-likelihood-ratios of this standard deviation are hard decisions; with these log-odds one is
# certain but for rounding. For more trials than this no set was seen on which they are best.
_HARD, _CERTAIN, _MOST_HARD = 100.0, 40.0, 2**17


Stop = Callable[[FloatArray, LocalModel], bool]


@frozen(eq=False)
class Minimum:
    """Where a minimisation ended.

    `here` is the last evaluated point: `point`, or one Newton step before it. It has "converged" if
    the gradient has vanished to rounding, and "stopped" if the caller's own test ended it.
    """

    point: FloatArray
    value: float
    here: LocalModel
    outcome: Literal["converged", "stopped", "gave up"]


def trust_region_step(
    gradient: FloatArray, hessian: FloatArray, radius: float
) -> tuple[FloatArray, bool]:
    r"""Minimise the quadratic model :math:`g^T p + p^T H p / 2` for :math:`\|p\| \le` `radius`.

    The Hessian is symmetric, of any signature. Also returned is whether the step is the Newton step
    of a positive definite Hessian.
    """
    # The solution is p = -(H + mu I)^-1 g with the smallest mu >= 0 that makes the matrix positive
    # semidefinite and the step short enough [2].
    curvatures, basis = np.linalg.eigh(hessian)
    slopes = basis.T @ gradient
    # Along a direction without curvature what is left of the slope is rounding.
    noise = 1e2 * _EPSILON
    flat = np.abs(curvatures) <= noise * np.abs(curvatures).max()
    slopes[flat & (np.abs(slopes) <= noise * np.abs(slopes).max())] = 0.0
    lowest = min(float(curvatures[0]), 0.0)

    def step_at(shift: float) -> FloatArray:
        step = np.zeros_like(slopes)
        with np.errstate(over="ignore", divide="ignore"):
            np.divide(-slopes, curvatures - lowest + shift, out=step, where=slopes != 0.0)
        return step

    step = step_at(0.0)
    if math.hypot(*step) <= radius:
        if lowest < 0.0 and not flat[0]:
            # No slope along negative curvature: a multiple of that eigenvector fills the ball.
            step[0] = math.sqrt(radius**2 - math.hypot(*step) ** 2)
        return basis @ step, bool(curvatures[0] > 0.0)
    low, high = 0.0, math.hypot(*slopes) / radius
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if math.hypot(*step_at(middle)) > radius else (low, middle)
    return basis @ step_at(high), False


def minimise(
    evaluate: Callable[[FloatArray], LocalModel],
    start: FloatArray,
    *,
    tolerance: float = _EPSILON,
    stop: Stop | None = None,
) -> Minimum:
    """Find a minimum of a smooth function; raise FitError if it is not finite at the start.

    `evaluate` returns value, gradient and Hessian at a point. The minimiser ends when the decrease
    that the quadratic model promises is below `tolerance` times the value, or is lost in the
    rounding of the value while the gradient does not shrink; where ``stop(point, evaluation)`` is
    true; and after 200 steps.
    """
    point = np.array(start, dtype=np.float64)
    here, radius = evaluate(point), 4.0
    if not math.isfinite(here.value):
        raise errors.FitError(f"The objective is {here.value} at {point}, where training starts.")
    for _ in range(_MOST_STEPS):
        if stop is not None and stop(point, here):
            return Minimum(point, here.value, here, "stopped")
        step, is_newton = trust_region_step(here.gradient, here.hessian, radius)
        promised = -float(here.gradient @ step + 0.5 * (step @ here.hessian @ step))
        if promised <= tolerance * abs(here.value):
            if not is_newton:
                return Minimum(point, here.value, here, "converged")
            # Newton's method squares the error: one more step, without an evaluation, brings the
            # gradient to rounding as well.
            return Minimum(point + step, here.value - promised, here, "converged")
        there = evaluate(point + step)
        if promised > _NOISE * abs(here.value):
            fell = here.value - there.value
            ratio = fell / promised if math.isfinite(there.value) else -math.inf
        elif math.hypot(*there.gradient) < math.hypot(*here.gradient):
            # The decrease is lost in the rounding of the value: the gradient decides.
            ratio = 1.0
        else:
            return Minimum(point, here.value, here, "converged")
        length = math.hypot(*step)
        if ratio < 0.25:
            radius = 0.25 * length
        elif ratio > 0.75 and not is_newton:
            radius = 4.0 * length
        if ratio > 1e-4:
            point, here = point + step, there
    return Minimum(point, here.value, here, "gave up")


@frozen(eq=False)
class LinearSolution:
    """Coefficients of a trained linear map for raw scores, and how they came about.

    `objective_value` is without the ridge penalty. `ridge` is what was asked for or, of separable
    data, what was used instead: 1/n, on the variance of the fused scores. `lowest` and `highest`
    are the ranges of the training scores; `separation` is how far the mean of the targets lies
    above that of the non-targets, in standard deviations, both classes counting the same. `notes`
    say what was amiss.
    """

    weights: FloatArray
    offset: float
    objective_value: float
    ridge: float
    lowest: FloatArray
    highest: FloatArray
    separation: FloatArray
    notes: list[errors.Note]


def ridge_strengths(ridge: Ridge, n_trials: int) -> tuple[float, float]:
    """Return the strengths of the penalties on the weights and on the offset; "weak" needs n."""
    expected = 'be "weak", or finite and not negative'
    if isinstance(ridge, str):
        if ridge != "weak":
            raise check.invalid("ridge", expected, check.describe(ridge))
        return _WEAK[0] / n_trials, _WEAK[1] / n_trials
    return check.as_number(ridge, "ridge", expected, lambda x: 0.0 <= x < math.inf), 0.0


def _separates(problem: TrainingObjective) -> Stop:
    """Return what tells whether the fused scores at a point put no target below a non-target."""
    return lambda point, here: here.overlap < -_ROUNDING * max(1.0, problem.deviation(point))


def _least_curvature(problem: TrainingObjective, minimum: Minimum) -> float:
    """Return the curvature along the flattest direction of fused scores, as a share."""
    unit = problem.variance.copy()
    unit[-1, -1] = 1.0
    curvatures = scipy.linalg.eigh(minimum.here.hessian, unit, eigvals_only=True)
    return float(curvatures[0] / curvatures[-1])


def _descend(problem: TrainingObjective, start: FloatArray, stop: Stop | None = None) -> Minimum:
    """Minimise; of a large set from the optimum of a part of it."""
    tolerance = _EPSILON
    try:
        for part in problem.parts():
            # The penalty keeps the optimum finite where the part is separable.
            few = part.damped(1.0 / min(part.n_tar, part.n_non))
            rough = 0.1 / max(part.n_tar, part.n_non)
            start, tolerance = minimise(few.evaluate, start, tolerance=rough).point, _OF_MANY
        return minimise(problem.evaluate, start, tolerance=tolerance, stop=stop)
    except errors.FitError:
        # Boosting can overflow at an outlier that was not in the part.
        return minimise(problem.evaluate, problem.origin, stop=stop)


def train_linear(objective: TrainingObjective, *, ridge: Ridge) -> LinearSolution:
    r"""Find the weights and the offset that minimise a training objective, to machine precision.

    The penalty is :math:`r/2 \sum_k (w_k d_k)^2` with the ridge r and the standard deviation
    :math:`d_k` of system k's training scores, both classes counting the same.

    Constant systems get the weight zero; of collinear systems the standardised weights of least
    length are taken. Without a ridge data are separable if a step of the minimisation puts all
    targets above all non-targets, or if the objective is flat at its end. Then larger weights
    always fit better, and the result is that of a penalty 1/n on the variance of the fused scores.
    Brier is not convex: it is minimised from the optimum of cllr, from zero and, of one system,
    from hard decisions; the best result is taken.
    """
    n_smaller = min(objective.n_tar, objective.n_non)
    strength, centring = ridge_strengths(ridge, n_smaller)
    tar, non = objective.tar.moments(), objective.non.moments()
    lowest, highest = np.minimum(tar.lowest, non.lowest), np.maximum(tar.highest, non.highest)
    largest = np.maximum(np.abs(lowest), np.abs(highest))
    if not (largest <= training.LARGEST_SCORE).all():
        training.refuse_non_finite(objective.tar.scores, objective.non.scores)
        raise check.invalid("scores", training.USABLE, "others in the files")

    # Weights of standardised scores, along the directions in which these vary.
    centre, covariance = training.pool_classes(tar, non)
    spread = np.sqrt(np.diag(covariance))
    varied = (highest - lowest > _CONSTANT * largest) & (spread > _SMALLEST_SPREAD)
    spread[~varied] = 1.0
    correlation = covariance / np.outer(spread, spread)
    basis = _varied_directions(correlation, varied)
    n_directions = basis.shape[1]
    chain = np.pad(basis / spread[:, np.newaxis], (0, 1))
    chain[-1, -1] = 1.0
    problem = evolve(
        objective,
        centre=centre,
        chain=chain,
        stiffness=np.diag(np.append(np.full(n_directions, strength), centring)),
        variance=np.pad(basis.T @ correlation @ basis, (0, 1)),
    )
    notes = _uninformative(varied, n_directions)
    convex = problem if problem.rule.convex else evolve(problem, rule=scoring_rule("cllr"))
    used, stop = strength, None if strength else _separates(problem)
    minimum = _descend(convex, problem.origin, stop)
    # Separable are scores of which an iterate makes no error, and those beside whose minimum the
    # objective is flat, as where only ties keep the classes from separating.
    if strength == 0.0 and (
        minimum.outcome == "stopped" or _least_curvature(convex, minimum) < _VANISHED
    ):
        used = 1.0 / n_smaller
        problem, convex = problem.damped(used), convex.damped(used)
        minimum = _descend(convex, problem.origin)
        text = (
            "The training scores are separable: with some weights no target scores below a "
            "non-target, so larger ones always fit better and no optimum exists. Returned is the "
            f"solution with ridge={used:.3g}, 1 / (number of trials of the smaller class)."
        )
        notes.append(errors.Note(errors.ConvergenceWarning, text, advice="Train on more trials."))
    if not problem.rule.convex:
        starts = [minimum.point, problem.origin]
        if n_directions == 1 and used == 0.0:
            starts += _hard_decisions(problem)
        first, *others = (_descend(problem, start) for start in starts)
        minimum = first
        for other in others:
            # Of equal minima the one with moderate weights.
            if other.value < minimum.value - _ROUNDING * abs(minimum.value):
                minimum = other
        deviation = problem.deviation(minimum.point)
        if deviation > _HARD:
            text = (
                f"The objective {problem.rule.name!r} is lowest for hard decisions; the standard "
            )
            text += f"deviation {deviation:.3g} of the log-likelihood-ratios means nothing."
            advice = "Objective 'cllr' or a ridge avoids that."
            notes.append(errors.Note(errors.ConvergenceWarning, text, advice=advice))
    if minimum.outcome == "gave up":
        text = f"Training gave up after {_MOST_STEPS} steps."
        notes.append(errors.Note(errors.ConvergenceWarning, text))
    # Proper scoring: without information the prior is the best answer.
    point = minimum.point if n_directions else problem.origin
    weights, offset = problem.weights(point)
    separation = np.where(varied, tar.mean - non.mean, 0.0) / spread
    value = minimum.value - problem.penalty(point)
    return LinearSolution(weights, offset, value, used, lowest, highest, separation, notes)


def _hard_decisions(problem: TrainingObjective) -> list[FloatArray]:
    """Return a line that decides at the threshold of minimum cost; none for many trials."""
    if max(problem.n_tar, problem.n_non) > _MOST_HARD:
        return []
    weights, offset = problem.weights(np.array([1.0, 0.0]))
    tar, non = (weights @ one.scores + offset for one in (problem.tar, problem.non))
    masses = {"tar_weights": problem.tar.weights, "non_weights": problem.non.weights}
    hull = ROC.from_scores(tar, non, **masses).convex_hull()
    limit = float(hull.min_dcf_threshold(problem.prior))
    below = np.concatenate((tar[tar < limit], non[non < limit]))
    if not (math.isfinite(limit) and below.size):
        return []
    gap = limit - float(below.max())
    # So steep that the two scores beside the threshold are decided beyond doubt.
    scale = max(2.0 * _HARD, 2.0 * _CERTAIN / gap)
    return [np.array([scale, scale * (0.5 * gap - limit) - problem.plo])]


def train_nonnegative(objective: TrainingObjective, *, ridge: Ridge) -> LinearSolution:
    """Find the weights that minimise a training objective, none of them negative.

    Arguments and notes are those of `train_linear`. Systems are left out, the most negative
    weight first, and taken back by the slope of the objective. Where Kuhn and Tucker's conditions
    hold, that is the optimum of a convex objective.
    """
    first = solution = train_linear(objective, ridge=ridge)
    centre, covariance = training.pool_classes(objective.tar.moments(), objective.non.moments())
    strength, _ = ridge_strengths(ridge, min(objective.n_tar, objective.n_non))
    kept = np.ones(centre.size, dtype=np.bool_)
    for step in itertools.count():
        weights = np.zeros(centre.size)
        weights[kept] = solution.weights
        if weights.min() < 0.0:
            kept[np.argmin(weights)] = False
        else:
            gradient = objective.evaluate(np.append(weights, solution.offset)).gradient
            # With the same value midway between the classes, whose penalty then stays; that of
            # separable data is one on the variance.
            slopes = gradient[:-1] - gradient[-1] * centre
            if strength == 0.0:
                slopes += solution.ridge * (covariance @ weights)
            # What is in has no slope, but for rounding; what is out must not fall. From some step
            # on none comes back, so that this ends.
            slopes[kept] = 0.0
            if step >= 3 * centre.size or slopes.min() >= -_ROUNDING:
                break
            kept[np.argmin(slopes)] = True
        solution = train_linear(objective.with_systems(kept), ridge=ridge)
    value = objective.evaluate(np.append(weights, solution.offset)).value
    return evolve(
        first,
        weights=weights,
        offset=solution.offset,
        objective_value=value,
        ridge=solution.ridge,
        notes=solution.notes,
    )


def _varied_directions(correlation: FloatArray, varied: BoolArray) -> FloatArray:
    """Return an orthonormal basis, in columns, of the directions in which scores vary."""
    chosen = np.flatnonzero(varied)
    identity = np.eye(varied.size)[:, chosen]
    if chosen.size < 2:
        return identity
    shares, directions = np.linalg.eigh(correlation[np.ix_(chosen, chosen)])
    kept = shares > _COLLINEAR * shares[-1]
    return identity if kept.all() else identity @ directions[:, kept]


def _uninformative(varied: BoolArray, n_directions: int) -> list[errors.Note]:
    """Note systems whose scores hardly differ, and systems that are collinear."""
    texts = []
    if not varied.all():
        numbers = check.list_some((np.flatnonzero(~varied) + 1).tolist())
        which = "" if varied.size == 1 else f" of system {numbers}"
        texts.append(f"All training scores{which} are equal; the weight is set to 0.")
    n_systems = np.count_nonzero(varied)
    if n_directions < n_systems:
        texts.append(
            f"The scores of the {n_systems} systems (quality features among them) vary in only "
            f"{n_directions} directions: the shortest standardised weights are taken. Is a system "
            "given twice, or are models or segments fewer than quality measures plus one?"
        )
    return [errors.Note(errors.ConvergenceWarning, text) for text in texts]
