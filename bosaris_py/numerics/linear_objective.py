r"""Objectives of linear training: value, gradient, Hessian, and the sums they are made of.

A linear map turns the scores of one or more systems into a log-likelihood-ratio
:math:`s = w^T x + b`. How good it is at a prior :math:`\pi` is evaluated by a
proper scoring rule, the expected cost of the posterior log-odds
:math:`s + \mathrm{logit}(\pi)`,

.. math::

    F = \frac{1}{H(\pi)} \Bigl[
        \frac{\pi}{\sum u_i} \sum_{i \in tar} u_i\, C(-s_i - \mathrm{logit}\,\pi)
        + \frac{1-\pi}{\sum v_j} \sum_{j \in non} v_j\, C(s_j + \mathrm{logit}\,\pi)
    \Bigr],

where :math:`u, v` are trial weights (1 unless given) and :math:`C` is the loss for evidence in the
wrong direction. The entropy :math:`H(\pi)` is the same cost for a detector with ``s = 0`` on every
trial. So F is 1 for a detector that knows only the prior and 0 for a perfect detector.

All sums come block by block and can be merged, so the scores may lie in memory or in files. The
blocks stay in the processor's cache: memory beyond the input is a few buffers, and a pass costs
little more than one exponential and one logarithm per trial.

References
----------
.. [1] N. Brummer and E. de Villiers, "The BOSARIS Toolkit user guide: theory,
   algorithms and code for binary classifier score processing", 2011.
.. [2] N. Brummer and G. Doddington, "Likelihood-ratio calibration using
   prior-weighted proper scoring rules", Interspeech 2013.
.. [3] T. F. Chan, G. H. Golub and R. J. LeVeque, "Updating formulae and a pairwise algorithm
   for computing sample variances", Stanford STAN-CS-79-773, 1979.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
from attrs import Factory, evolve, frozen
from numpy.typing import ArrayLike

from bosaris_py import _validation as check
from bosaris_py._arrays import Float64Array, FloatArray, Weighting
from bosaris_py._cautions import warn_caller
from bosaris_py.errors import InvalidInputError, SuspectScoresWarning
from bosaris_py.numerics import scoring_rules
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.threshold_grid import Cells

# Numbers in the work space of one block, 1 MB: the size of a usual second-level cache. With
# smaller blocks what numpy takes for each call begins to count.
_WORK_SPACE = 2**17

# So many scores of one system are condensed to a point for each cell, which takes a third of a
# pass. There are so many cells within so many standard deviations on either side of the mean; the
# scores of a block are put into cells at once.
_MANY_SCORES, _CELLS, _FARTHEST, _BLOCK = 2**19, 2**18, 32.0, 2**16

# Training weights are scaled if the largest of a class is below this or above its inverse.
_SMALLEST_WEIGHT = 1e-100

# Largest score that can be trained on: squares of larger ones overflow.
LARGEST_SCORE = 1e150


def _sum_blocks(sums: Sequence[ArrayLike]) -> Float64Array:
    """Add the sums of all blocks pairwise, so that rounding hardly grows with their number."""
    if len(sums) == 1:
        return np.asarray(sums[0])
    # numpy sums pairwise along the contiguous axis only.
    rows = np.ascontiguousarray(np.stack([np.asarray(part) for part in sums], axis=-1))
    return np.asarray(rows.sum(axis=-1))


@frozen(eq=False)
class ClassMoments:
    """Mean, scatter and range of the scores of one class, an entry for each system.

    The scatter is the weighted mean of the products of deviations from the mean, (n_systems,
    n_systems). The range is NaN or infinite if and only if a score is; only it means anything then.
    """

    mean: Float64Array
    scatter: Float64Array
    lowest: Float64Array
    highest: Float64Array


class Design(Protocol):
    """A matrix of systems by trials that computes its blocks of trials as they are needed."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of systems and of trials."""

    def __len__(self) -> int:
        """Return the number of systems."""

    def __getitem__(self, part: tuple[slice, slice], /) -> Float64Array:
        """Return all systems, which the first slice takes, of some trials."""


# The scores of one class, (n_systems, n_trials).
ClassScores: TypeAlias = FloatArray | Design


def class_moments(scores: ClassScores, weights: Float64Array | None = None) -> ClassMoments:
    """Compute mean, scatter and range of each system's scores in one pass.

    `scores` are (n_systems, n_trials), `weights` positive.
    """
    n_systems, n_trials = scores.shape
    block = min(n_trials, max(1, _WORK_SPACE // (2 * (n_systems + 1))))
    # A row of ones: one product gives sums and sums of products. (It is also quicker than
    # that of a matrix with its own transpose, for which BLAS takes a slow way.)
    design = np.ones((n_systems + 1, block))
    weighted = design if weights is None else np.empty_like(design)
    sizes, means, scatters, ranges = [], [], [], []
    with np.errstate(over="ignore", invalid="ignore"):
        first = origin = scores[:, :block].mean(axis=1, dtype=np.float64)
        for start in range(0, n_trials, block):
            part = slice(start, min(start + block, n_trials))
            n = part.stop - part.start
            x, y = design[:-1, :n], weighted[:, :n]
            # Taken once: a `QualityDesign` computes them.
            values = scores[:, part]
            ranges.append((values.min(axis=1), values.max(axis=1)))
            # Deviations from the mean of the block before: nothing cancels however far the
            # scores lie from zero, and what is left to the block's own mean is small.
            np.subtract(values, origin[:, np.newaxis], out=x)
            size = np.float64(n)
            if weights is not None:
                size = weights[part].sum()
                np.multiply(design[:, :n], weights[part], out=y)
            products = np.dot(y, x.T)
            shift = products[-1] / size
            scatters.append(products[:-1] - size * np.outer(shift, shift))
            sizes.append(size)
            means.append(origin - first + shift)
            origin = origin + shift
        # Merged as in [3]: the scatter of the blocks' means adds to that inside the blocks.
        total = _sum_blocks(sizes)
        mean = _sum_blocks([n * m for n, m in zip(sizes, means, strict=True)]) / total
        between = [n * np.outer(m - mean, m - mean) for n, m in zip(sizes, means, strict=True)]
        scatter = (_sum_blocks(scatters) + _sum_blocks(between)) / total
    lows, highs = zip(*ranges, strict=True)
    ends = (np.min(lows, axis=0).astype(np.float64), np.max(highs, axis=0).astype(np.float64))
    return ClassMoments(first + mean, scatter, *ends)


def merge_moments(parts: Sequence[ClassMoments], sizes: Sequence[int]) -> ClassMoments:
    """Merge the moments of several sets of so many trials, without weights."""
    total = float(sum(sizes))
    # A large common part of all means is taken off before they are averaged.
    first = parts[0].mean
    pairs = [(n / total, part) for n, part in zip(sizes, parts, strict=True)]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = first + _sum_blocks([share * (part.mean - first) for share, part in pairs])
        scatter = _sum_blocks(
            [
                share * (part.scatter + np.outer(part.mean - mean, part.mean - mean))
                for share, part in pairs
            ]
        )
    lowest = np.min([part.lowest for part in parts], axis=0)
    return ClassMoments(mean, scatter, lowest, np.max([part.highest for part in parts], axis=0))


def pool_classes(tar: ClassMoments, non: ClassMoments) -> tuple[Float64Array, Float64Array]:
    """Return centre and covariance of the scores, both classes counting the same."""
    centre = 0.5 * (tar.mean + non.mean)
    half = 0.5 * (tar.mean - non.mean)
    return centre, 0.5 * (tar.scatter + non.scatter) + np.outer(half, half)


@frozen(eq=False)
class ClassSums:
    """A loss and its derivatives, summed over trials of one class.

    `derivatives` is the sum of the curvatures times the outer products of the inputs, with the sum
    of the slopes times the inputs as last row. `worst` is the highest log-odds against the truth,
    `total` the sum of the trial weights.
    """

    loss: float
    derivatives: Float64Array
    worst: float
    total: float


@frozen(eq=False)
class LinearLoss:
    """A loss of linear maps of standardised scores, and the coefficients of one map.

    The coefficients are weights of the scores ``(x - centre) / spread`` and an offset that give the
    log-odds against the truth.
    """

    coefficients: Float64Array
    rule: scoring_rules.ScoringRule
    centre: Float64Array
    spread: Float64Array
    work_space: int = _WORK_SPACE

    def sum(self, scores: ClassScores, weights: Float64Array | None = None) -> ClassSums:
        """Sum loss and derivatives over trials of one class, (n_systems, n_trials)."""
        n_trials = scores.shape[1]
        size = self.coefficients.size
        # The design matrix, the same with factors, and a vector.
        block = min(n_trials, max(1, self.work_space // (2 * size + 2)))
        origin, inverse_spread = self.centre[:, np.newaxis], 1.0 / self.spread[:, np.newaxis]
        # One row for each system and a row of ones for the offset.
        design = np.empty((size, block))
        design[-1] = 1.0
        # The same times the curvature, then the slope: one product with the
        # design then gives Hessian and gradient.
        factors = np.empty((size + 1, block))
        # The loss takes the place of the log-odds.
        log_odds = np.empty(block)
        x, g = design, factors
        losses: list[float] = []
        sums: list[Float64Array] = []
        worst = -math.inf
        # Overflow means an infinite value, which every minimiser steps back from.
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            for start in range(0, n_trials, block):
                part = slice(start, min(start + block, n_trials))
                if (n := part.stop - part.start) < block:
                    x, g = design[:, :n], factors[:, :n]
                    log_odds = log_odds[:n]
                inputs, curvature, slope = x[:-1], g[-2], g[-1]
                np.subtract(scores[:, part], origin, out=inputs)
                np.multiply(inputs, inverse_spread, out=inputs)
                np.dot(self.coefficients, x, out=log_odds)
                highest = float(log_odds.max())
                worst = max(worst, highest)
                beyond = None
                if highest > scoring_rules.LARGEST_LOG_ODDS and math.isfinite(
                    self.rule.slope_at_infinity
                ):
                    beyond = np.maximum(log_odds - scoring_rules.LARGEST_LOG_ODDS, 0.0)
                    np.minimum(log_odds, scoring_rules.LARGEST_LOG_ODDS, out=log_odds)
                if self.rule.summed is not None and beyond is None and weights is None:
                    losses.append(self.rule.summed(log_odds, slope, curvature))
                else:
                    self.rule.kernel(log_odds, log_odds, slope, curvature)
                    if beyond is not None and self.rule.slope_at_infinity:
                        log_odds += self.rule.slope_at_infinity * beyond
                    if weights is not None:
                        for values in (log_odds, slope, curvature):
                            values *= weights[part]
                    losses.append(float(log_odds.sum()))
                np.multiply(inputs, curvature, out=g[:-2])
                # Not matmul, which keeps other threads waiting.
                sums.append(np.dot(g, x.T))
        total = float(n_trials) if weights is None else float(weights.sum())
        return ClassSums(float(_sum_blocks(losses)), _sum_blocks(sums), worst, total)


def merge_sums(parts: Sequence[ClassSums]) -> ClassSums:
    """Add the sums over several sets of trials, at least one, pairwise and in their order."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return ClassSums(
            loss=float(_sum_blocks([part.loss for part in parts])),
            derivatives=_sum_blocks([part.derivatives for part in parts]),
            worst=max(part.worst for part in parts),
            total=float(_sum_blocks([part.total for part in parts])),
        )


def lowest(scores: ClassScores, weights: Float64Array, n_trials: int) -> Float64Array:
    """Return the scores of at most so many trials with the lowest weighted sum, in any order."""
    # No shorter than what is kept, or most of the work would be to sort that again.
    block = max(n_trials, _WORK_SPACE // (4 * weights.size), 1)
    kept = np.empty((weights.size, 0))
    for start in range(0, scores.shape[1], block):
        kept = np.hstack((kept, scores[:, start : start + block]))
        if kept.shape[1] > n_trials:
            # The first trial is taken off so that a large common part does not round the rest.
            sums = weights @ (kept - kept[:, :1])
            kept = kept[:, np.argpartition(sums, n_trials - 1)[:n_trials]]
    return kept


@frozen(eq=False)
class LocalModel:
    """A training objective at one point; its value is infinite where it overflows.

    `overlap` is the highest fused non-target score minus the lowest fused target score: zero or
    below if the point separates the classes.
    """

    value: float
    gradient: Float64Array
    hessian: Float64Array
    overlap: float


@frozen(eq=False, kw_only=True)
class LinearObjective(ABC):
    """The objective of a linear calibration or fusion.

    Coefficients are one weight for each system, then the offset; they act on the scores ``(x -
    centre) / spread``, which are standardised on the fly.
    """

    rule: scoring_rules.ScoringRule
    prior: float
    plo: float
    centre: Float64Array
    spread: Float64Array

    @property
    @abstractmethod
    def n_tar(self) -> int:
        """Number of target trials."""

    @property
    @abstractmethod
    def n_non(self) -> int:
        """Number of non-target trials."""

    @abstractmethod
    def moments(self) -> tuple[ClassMoments, ClassMoments]:
        """Return the moments of targets and of non-targets, of the scores as they are."""

    @abstractmethod
    def refuse_non_finite(self) -> None:
        """Raise if a score is NaN, infinite, or so large that its square overflows."""

    @abstractmethod
    def thinned(self, n_trials: int) -> "LinearObjective":
        """Return the objective on about `n_trials` evenly spaced trials of each class."""

    def condensed(self) -> "LinearObjective | None":
        """Return nearly the same objective on few trials with weights, if that is known."""
        return None

    @abstractmethod
    def hardest(self, weights: Float64Array, n_trials: int) -> tuple[Float64Array, Float64Array]:
        """Return the trials that fused scores with given weights get most wrong.

        The weights are those of standardised scores. Returned are the scores, as they are, of at
        most `n_trials` targets with the lowest fused scores and non-targets with the highest.
        """

    @abstractmethod
    def a_trial(self) -> Float64Array:
        """Return the scores of some training trial as they are, (n_systems, 1)."""

    @abstractmethod
    def _sums(self, coefficients: Float64Array) -> tuple[ClassSums, ClassSums]:
        """Return the sums of targets, then of non-targets, for posterior log-odds of a target."""

    def loss(self, coefficients: Float64Array) -> LinearLoss:
        """Return the loss of trials of which `coefficients` give the log-odds against the truth."""
        return LinearLoss(coefficients, self.rule, self.centre, self.spread)

    def evaluate(self, coefficients: Float64Array) -> LocalModel:
        """Return value, gradient and Hessian at `coefficients`, in one pass."""
        posterior = coefficients.copy()
        posterior[-1] += self.plo
        tar, non = self._sums(posterior)
        entropy = self.rule.entropy(self.prior)
        # Overflow means an infinite value, which every minimiser steps back from.
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            # The two factors of F at the top of this module. Log-odds against the truth of
            # targets fall with the coefficients, hence the sign of their gradient.
            tar_price = self.prior / entropy
            non_price = (1.0 - self.prior) / entropy
            tar_means, non_means = tar.derivatives / tar.total, non.derivatives / non.total
            hessian = tar_price * tar_means[:-1] + non_price * non_means[:-1]
            return LocalModel(
                value=tar_price * (tar.loss / tar.total) + non_price * (non.loss / non.total),
                gradient=non_price * non_means[-1] - tar_price * tar_means[-1],
                hessian=0.5 * (hessian + hessian.T),
                overlap=tar.worst + non.worst,
            )


@frozen(eq=False, kw_only=True)
class TrainingObjective(LinearObjective):
    """The objective of a linear calibration or fusion on a training set in memory.

    `tar` and `non` are (n_systems, n_trials), of float32 or float64, strided or read-only; they are
    never copied as a whole. Trial weights are positive, of any sum, or None.
    """

    tar: ClassScores
    non: ClassScores
    tar_weights: Float64Array | None
    non_weights: Float64Array | None
    # By default the scores are taken as they are.
    centre: Float64Array = Factory(lambda self: np.zeros(len(self.tar)), takes_self=True)
    spread: Float64Array = Factory(lambda self: np.ones(len(self.tar)), takes_self=True)
    # Of points that stand for several trials: how many targets and non-targets.
    sizes: tuple[int, int] | None = None

    @classmethod
    def from_scores(
        cls,
        tar: ArrayLike,
        non: ArrayLike,
        *,
        prior: float | OperatingPoint = 0.5,
        objective: str = "cllr",
        tar_weights: Weighting = None,
        non_weights: Weighting = None,
    ) -> "TrainingObjective":
        """Check the arguments and set up the objective on scores as they are.

        Scores are (n_trials,) or (n_systems, n_trials). Trials of weight zero are left out.
        Non-finite scores are not looked for here.
        """
        rule = scoring_rules.scoring_rule(objective)
        probability, plo = scoring_rules.resolve_prior(prior)
        tar_matrix, non_matrix = _as_systems(tar, "tar"), _as_systems(non, "non")
        n_systems = tar_matrix.shape[0]
        if non_matrix.shape[0] != n_systems:
            expected = f"hold the same {n_systems} systems as `tar`, one in each row"
            hint = "Scores of several systems are (n_systems, n_trials)."
            if tar_matrix.shape[1] == non_matrix.shape[1]:
                hint = f"{hint} Transpose both: tar.T, non.T."
            raise check.invalid("non", expected, f"{non_matrix.shape[0]} rows", hint)
        n_trials = tar_matrix.shape[1] + non_matrix.shape[1]
        if n_systems > n_trials > 0:
            message = f"{n_systems} systems are more than the {n_trials} trials of both classes."
            remedy = "Are arrays transposed? Of `tar` and `non` rows are systems, columns trials."
            warn_caller(f"{message} {remedy}", SuspectScoresWarning)
        if n_systems == 1:
            check.refuse_labels(tar_matrix[0], non_matrix[0])
        tar_matrix, tar_used = _drop_unweighted(tar_matrix, tar_weights, "tar")
        non_matrix, non_used = _drop_unweighted(non_matrix, non_weights, "non")
        return cls(
            rule=rule,
            prior=probability,
            plo=plo,
            tar=tar_matrix,
            non=non_matrix,
            tar_weights=tar_used,
            non_weights=non_used,
        )

    @property
    def n_tar(self) -> int:
        """Number of target trials."""
        return self.sizes[0] if self.sizes else int(self.tar.shape[1])

    @property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return self.sizes[1] if self.sizes else int(self.non.shape[1])

    def moments(self) -> tuple[ClassMoments, ClassMoments]:
        """Return the moments of targets and of non-targets, of the scores as they are."""
        return class_moments(self.tar, self.tar_weights), class_moments(self.non, self.non_weights)

    def refuse_non_finite(self) -> None:
        """Raise with counts and positions of what cannot be trained on."""
        refuse_non_finite(self.tar, self.non)

    def thinned(self, n_trials: int) -> "TrainingObjective":
        """Return the objective on about `n_trials` evenly spaced trials of each class."""
        tar, tar_weights = _thinned(self.tar, self.tar_weights, n_trials)
        non, non_weights = _thinned(self.non, self.non_weights, n_trials)
        return evolve(self, tar=tar, non=non, tar_weights=tar_weights, non_weights=non_weights)

    def condensed(self) -> "TrainingObjective | None":
        """Return a convex objective on points that stand for the scores of one system, or None."""
        if len(self.tar) > 1 or not self.rule.convex:
            return None
        if not (isinstance(self.tar, np.ndarray) and isinstance(self.non, np.ndarray)):
            return None
        if max(self.n_tar, self.n_non) < _MANY_SCORES or self.tar_weights is not None:
            return None
        centre, spread = self.centre[0], self.spread[0]
        tar, tar_weights = _condensed(self.tar, self.tar_weights, centre, spread)
        non, non_weights = _condensed(self.non, self.non_weights, centre, spread)
        if tar is None or non is None:
            return None
        sizes = self.n_tar, self.n_non
        return evolve(
            self, tar=tar, non=non, tar_weights=tar_weights, non_weights=non_weights, sizes=sizes
        )

    def hardest(self, weights: Float64Array, n_trials: int) -> tuple[Float64Array, Float64Array]:
        """Return the trials that fused scores with given weights get most wrong."""
        raw = weights / self.spread
        return lowest(self.tar, raw, n_trials), lowest(self.non, -raw, n_trials)

    def a_trial(self) -> Float64Array:
        """Return the scores of the first target as they are."""
        return np.asarray(self.tar[:, slice(0, 1)], dtype=np.float64)

    def _sums(self, coefficients: Float64Array) -> tuple[ClassSums, ClassSums]:
        # Posterior log-odds of a target are evidence against the truth of non-targets only.
        tar = self.loss(-coefficients).sum(self.tar, self.tar_weights)
        return tar, self.loss(coefficients).sum(self.non, self.non_weights)


def _thinned(
    scores: ClassScores, weights: Float64Array | None, n_trials: int
) -> tuple[FloatArray, Float64Array | None]:
    step = max(1, -(-scores.shape[1] // n_trials))
    # Copied: many passes over scores that lie far apart would wait for the memory.
    return scores[:, ::step].copy(), None if weights is None else weights[::step]


def _condensed(
    scores: FloatArray, weights: Float64Array | None, centre: float, spread: float
) -> tuple[FloatArray | None, Float64Array | None]:
    """Return the middle of each cell that holds many scores, and how many; None if some are far."""
    if scores.shape[1] < _MANY_SCORES:
        return scores, weights
    room = _FARTHEST * spread
    cells = Cells.between(centre - room, centre + room, _CELLS, scores.dtype)
    if weights is not None or cells is None:
        return None, None
    held = np.zeros(cells.n, dtype=np.int64)
    work = np.empty(_BLOCK, dtype=scores.dtype)
    for start in range(0, scores.shape[1], _BLOCK):
        block = scores[0, start : start + _BLOCK]
        numbers = cells.numbers(block, work[: block.size])
        np.add.at(held, numbers.astype(np.intp, copy=False), held.dtype.type(1))
    # Scores beyond the ends are in the last cells, which do not tell where these lie.
    if held[:2].any() or held[-2:].any():
        return None, None
    found = np.flatnonzero(held)
    points = float(cells.low) + found * cells.width
    return points[np.newaxis], held[found].astype(np.float64)


def _as_systems(scores: ArrayLike, name: str) -> FloatArray:
    """Return scores as a matrix with one row for each system, without a copy."""
    matrix = (
        check.as_matrix(scores, name)
        if np.ndim(scores) == 2
        else check.as_vector(scores, name)[None]
    )
    if matrix.shape[0] == 0:
        raise check.invalid(name, "hold the scores of at least one system", "no rows")
    check.check_not_empty(matrix, name)
    return matrix


def _drop_unweighted(
    scores: FloatArray, weights: Weighting, name: str
) -> tuple[FloatArray, Float64Array | None]:
    """Check trial weights and leave out the trials whose weight is zero."""
    checked = check.as_weights(weights, scores.shape[1], f"{name}_weights")
    if checked is not None:
        checked = moderate_weights(checked)
    if checked is None or checked.all():
        return scores, checked
    used = checked > 0
    return scores[:, used], checked[used]


def moderate_weights(weights: Float64Array) -> Float64Array:
    """Scale trial weights, of which only the proportions matter, if they are tiny or huge."""
    # Sums of huge weights would overflow, and products of tiny ones underflow. The factor is a
    # power of two, so the proportions stay as they are to the last bit; only weights below
    # 1e-323 of the largest become zero.
    largest = float(weights.max())
    if _SMALLEST_WEIGHT <= largest <= 1.0 / _SMALLEST_WEIGHT:
        return weights
    with np.errstate(under="ignore"):
        scaled: Float64Array = np.ldexp(weights, -int(np.frexp(largest)[1]))
    return scaled


def evaluate_objective(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    prior: float | OperatingPoint = 0.5,
    objective: str = "cllr",
    tar_weights: Weighting = None,
    non_weights: Weighting = None,
) -> float:
    r"""Return the training objective of LLRs: 0 for perfect ones, 1 for a detector without scores.

    The losses for log-odds :math:`z` against the truth are :math:`\log(1+e^z)` (cllr),
    :math:`\sigma(z)^2/2` (brier) and :math:`e^{z/2}` (boost); the sum is at the top of this module.
    At prior 0.5 cllr is Cllr in bits. Infinite if an infinite score is wrong (except brier).
    BOSARIS: ``evaluate_objective.m``.
    """
    tar_llrs, non_llrs = check.as_vector(tar, "tar"), check.as_vector(non, "non")
    check.refuse_nan(tar_llrs, "tar")
    check.refuse_nan(non_llrs, "non")
    training = TrainingObjective.from_scores(
        tar_llrs,
        non_llrs,
        prior=prior,
        objective=objective,
        tar_weights=tar_weights,
        non_weights=non_weights,
    )
    return training.evaluate(np.array([1.0, 0.0])).value


def refuse_non_finite(tar: ClassScores, non: ClassScores) -> None:
    """Raise with counts and first positions, for each system, of what cannot be trained on.

    That is a score, (n_systems, n_trials), which is NaN, infinite or beyond `LARGEST_SCORE`.
    """
    complaints = []
    for name, scores in (("tar", tar), ("non", non)):
        for system, row in enumerate(scores[:, :].astype(np.float64, copy=False), start=1):
            where = f" of system {system}" if scores.shape[0] > 1 else ""
            beyond = np.isfinite(row) & (np.abs(row) > LARGEST_SCORE)
            faults = {"NaN": np.isnan(row), "infinite": np.isinf(row)}
            for what, bad in {**faults, f"beyond {LARGEST_SCORE:g}": beyond}.items():
                positions = np.flatnonzero(bad)
                if positions.size:
                    complaints.append(
                        f"{positions.size} of {row.size} scores of `{name}`{where} are {what} "
                        f"(at positions {check.list_some(positions.tolist())})"
                    )
    raise_complaints(complaints)


def raise_complaints(complaints: Sequence[str]) -> None:
    """Raise if there are any complaints about scores that cannot be trained on."""
    if complaints:
        raise InvalidInputError(
            f"A linear map must be trained on finite scores; {'; '.join(complaints)}. "
            "It has no use for others: leave those trials out or repair the system."
        )
