r"""Objectives of linear training: value, gradient and Hessian of a proper scoring rule.

A linear map turns the scores of one or more systems into a log-likelihood-ratio
:math:`s = w^T x + b`. How good it is at a prior :math:`\pi` is the expected cost of the posterior
log-odds :math:`s + \mathrm{logit}(\pi)`,

.. math::

    F = \frac{1}{H(\pi)} \Bigl[
        \frac{\pi}{\sum u_i} \sum_{i \in tar} u_i\, C(-s_i - \mathrm{logit}\,\pi)
        + \frac{1-\pi}{\sum v_j} \sum_{j \in non} v_j\, C(s_j + \mathrm{logit}\,\pi)
    \Bigr],

where :math:`u, v` are trial weights (1 unless given) and :math:`C` is the loss of a rule of
`scoring`. The entropy :math:`H(\pi)` is the same cost for a detector with ``s = 0`` on every trial.
So F is 1 for a detector that knows only the prior and 0 for a perfect one.

All sums come block by block, so the scores may lie in memory or in files.

References
----------
.. [1] N. Brummer and E. de Villiers, "The BOSARIS Toolkit user guide: theory,
   algorithms and code for binary classifier score processing", 2011.
.. [2] N. Brummer and G. Doddington, "Likelihood-ratio calibration using
   prior-weighted proper scoring rules", Interspeech 2013.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from attrs import Factory, evolve, frozen
from numpy.typing import ArrayLike

from bosaris_py import _validation as check
from bosaris_py._arrays import BoolArray, Float64Array, FloatArray, Weighting
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.scoring import ScoringRule, resolve_prior, scoring_rule

# Trials of a block: what is made of them stays in a processor's second cache.
BLOCK = 2**14


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


def class_moments(scores: FloatArray, weights: Float64Array | None = None) -> ClassMoments:
    """Compute mean, scatter and range of each system's scores, (n_systems, n_trials), in a pass."""
    parts, sizes = [], []
    # A row of ones: one product gives sums and sums of products.
    design = np.ones((scores.shape[0] + 1, min(BLOCK, scores.shape[1])))
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, scores.shape[1], BLOCK):
            block = scores[:, start : start + BLOCK]
            # A first mean is near enough that nothing cancels, however far the scores are from 0.
            first = block.mean(axis=1, dtype=np.float64)
            away = design[:, : block.shape[1]]
            np.subtract(block, first[:, np.newaxis], out=away[:-1])
            weighed = away[:-1] * (1.0 if weights is None else weights[start : start + BLOCK])
            size = block.shape[1] if weights is None else weights[start : start + BLOCK].sum()
            products = np.dot(weighed, away.T) / size
            shift = products[:, -1]
            scatter = products[:, :-1] - np.outer(shift, shift)
            ends = [end.astype(np.float64) for end in (block.min(axis=1), block.max(axis=1))]
            parts.append(ClassMoments(first + shift, scatter, *ends))
            sizes.append(float(size))
    return merge_moments(parts, sizes)


def merge_moments(parts: Sequence[ClassMoments], sizes: Sequence[float]) -> ClassMoments:
    """Merge the moments of several sets of trials of such total weights."""
    shares = np.asarray(sizes, dtype=np.float64) / sum(sizes)
    # The mean of the first is taken off, so that a large common part does not round the rest.
    first = parts[0].mean
    with np.errstate(over="ignore", invalid="ignore"):
        away = np.stack([part.mean - first for part in parts])
        mean = shares @ away
        between = (away - mean).T @ (shares[:, np.newaxis] * (away - mean))
        within = np.tensordot(shares, np.stack([part.scatter for part in parts]), axes=1)
    lowest = np.min([part.lowest for part in parts], axis=0)
    highest = np.max([part.highest for part in parts], axis=0)
    return ClassMoments(first + mean, within + between, lowest, highest)


def pool_classes(tar: ClassMoments, non: ClassMoments) -> tuple[Float64Array, Float64Array]:
    """Return centre and covariance of the scores, both classes counting the same."""
    centre = 0.5 * (tar.mean + non.mean)
    half = 0.5 * (tar.mean - non.mean)
    return centre, 0.5 * (tar.scatter + non.scatter) + np.outer(half, half)


def moderate_weights(weights: Float64Array | None) -> Float64Array | None:
    """Scale trial weights, of which only the proportions matter, by a power of two."""
    if weights is None:
        return None
    # Sums of huge weights would overflow, and products of tiny ones underflow.
    with np.errstate(under="ignore"):
        return np.asarray(np.ldexp(weights, -int(np.frexp(weights.max())[1])))


# Trials of each class in the parts whose optimum is the start for larger ones, and how much larger
# these must be. With the last a full set takes two or three passes: `benchmarks/ratios.py`.
_PARTS, _TIMES_MORE = (2**12, 2**16, 2**20), 4

# Largest score that can be trained on: squares of larger ones overflow.
LARGEST_SCORE = 1e150
_USABLE = f"hold finite scores of at most {LARGEST_SCORE:g}"


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
    """The loss of a linear map on the scores ``(x - centre) / spread``.

    The coefficients, weights and an offset, give the log-odds against the truth.
    """

    coefficients: Float64Array
    rule: ScoringRule
    centre: Float64Array
    spread: Float64Array

    def sum(self, scores: FloatArray, weights: Float64Array | None = None) -> ClassSums:
        """Sum loss and derivatives over trials of one class, (n_systems, n_trials)."""
        n_trials, size = scores.shape[1], self.coefficients.size
        block = min(n_trials, BLOCK)
        scale, centre = np.append(1.0 / self.spread, 1.0), self.centre[:, np.newaxis]
        coefficients = self.coefficients * scale
        # Rows of scores less their centre, and ones for the offset; the same times the curvature,
        # and the slope: their products are Hessian and gradient.
        design, factors = np.ones((size, block)), np.empty((size + 1, block))
        log_odds = np.empty(block)
        losses, worst, derivatives = [], -math.inf, np.zeros((size + 1, size))
        # Overflow means an infinite value, which the minimiser steps back from.
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            for start in range(0, n_trials, block):
                part = slice(start, min(start + block, n_trials))
                n = part.stop - start
                x, g, z = design[:, :n], factors[:, :n], log_odds[:n]
                np.subtract(scores[:, part], centre, out=x[:-1])
                np.dot(coefficients, x, out=z)
                worst = max(worst, float(z.max()))
                losses.append(
                    self.rule.sum(z, g[-1], g[-2], None if weights is None else weights[part])
                )
                np.multiply(x[:-1], g[-2], out=g[:-2])
                derivatives += [np.dot(x, row) for row in g]
            derivatives *= scale
            derivatives[:-1] *= scale[:, np.newaxis]
        total = float(n_trials) if weights is None else float(weights.sum())
        return ClassSums(math.fsum(losses), derivatives, worst, total)


def merge_sums(parts: Sequence[ClassSums]) -> ClassSums:
    """Add the sums over several sets of trials, at least one, in their order."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        derivatives = np.sum([part.derivatives for part in parts], axis=0)
    losses, worst, totals = zip(*((p.loss, p.worst, p.total) for p in parts), strict=True)
    return ClassSums(math.fsum(losses), derivatives, max(worst), math.fsum(totals))


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
class TrainingObjective:
    """The objective of a linear calibration or fusion on a training set.

    Coefficients are one weight for each system, then the offset; they act on the scores ``(x -
    centre) / spread``. `tar` and `non` are (n_systems, n_trials), of float32 or float64, strided or
    read-only; they are never copied as a whole. Trial weights are positive, of any sum, or None.

    Where not all non-targets are in memory, `non` are some of them, from whose optimum training
    starts, `n_non` counts all, `sum_non` sums a loss over all, and `in_files` are the moments of
    both classes.
    """

    rule: ScoringRule
    prior: float
    plo: float
    tar: FloatArray
    non: FloatArray
    tar_weights: Float64Array | None = None
    non_weights: Float64Array | None = None
    # By default the scores are taken as they are.
    centre: Float64Array = Factory(lambda self: np.zeros(self.tar.shape[0]), takes_self=True)
    spread: Float64Array = Factory(lambda self: np.ones(self.tar.shape[0]), takes_self=True)
    n_non: int = Factory(lambda self: int(self.non.shape[1]), takes_self=True)
    sum_non: Callable[[LinearLoss], ClassSums] | None = None
    in_files: tuple[ClassMoments, ClassMoments] | None = None

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
        rule = scoring_rule(objective)
        probability, plo = resolve_prior(prior)
        targets, others = _as_systems(tar, "tar"), _as_systems(non, "non")
        n_systems = targets.shape[0]
        if others.shape[0] != n_systems:
            expected = f"have one row for each of the {n_systems} systems in `tar`"
            hint = "Of `tar` and `non` rows are systems, columns trials."
            raise check.invalid("non", expected, f"{others.shape[0]} rows", hint)
        if n_systems == 1:
            check.refuse_labels(targets[0], others[0])
        targets, tar_masses = _weighted_trials(targets, tar_weights, "tar")
        others, non_masses = _weighted_trials(others, non_weights, "non")
        return cls(
            rule=rule,
            prior=probability,
            plo=plo,
            tar=targets,
            non=others,
            tar_weights=tar_masses,
            non_weights=non_masses,
        )

    @property
    def n_tar(self) -> int:
        """Number of target trials."""
        return int(self.tar.shape[1])

    def with_systems(self, kept: BoolArray) -> "TrainingObjective":
        """Return the objective of some of the systems, of the scores as they are."""
        n = int(np.count_nonzero(kept))
        tar, non = self.tar[kept], self.non[kept]
        return evolve(self, tar=tar, non=non, centre=np.zeros(n), spread=np.ones(n))

    def moments(self) -> tuple[ClassMoments, ClassMoments]:
        """Return the moments of targets and of non-targets, of the scores as they are."""
        if self.in_files is not None:
            return self.in_files
        return class_moments(self.tar, self.tar_weights), class_moments(self.non, self.non_weights)

    def refuse_non_finite(self) -> None:
        """Raise and say where a score is that cannot be trained on."""
        refuse_non_finite(self.tar, self.non)
        raise check.invalid("scores", _USABLE, "others in the files")

    def thinned(self, n_trials: int) -> "TrainingObjective":
        """Return the objective on about `n_trials` evenly spaced trials of each class."""
        tar, tar_weights = _thinned(self.tar, self.tar_weights, n_trials)
        non, non_weights = _thinned(self.non, self.non_weights, n_trials)
        few = evolve(self, tar=tar, non=non, tar_weights=tar_weights, non_weights=non_weights)
        return evolve(few, n_non=non.shape[1], sum_non=None, in_files=None)

    def parts(self) -> list["TrainingObjective"]:
        """Return objectives on ever more trials, whose optima are starts on the way to all."""
        size = max(self.n_tar, self.n_non)
        parts = [self.thinned(n_trials) for n_trials in _PARTS if size > _TIMES_MORE * n_trials]
        return parts if self.sum_non is None else [*parts, self.thinned(self.non.shape[1])]

    def loss(self, coefficients: Float64Array) -> LinearLoss:
        """Return the loss of trials of which `coefficients` give the log-odds against the truth."""
        return LinearLoss(coefficients, self.rule, self.centre, self.spread)

    def sums(self, coefficients: Float64Array) -> tuple[ClassSums, ClassSums]:
        """Return the sums of targets, then of non-targets, for posterior log-odds of a target."""
        # Posterior log-odds of a target are evidence against the truth of non-targets only.
        tar = self.loss(-coefficients).sum(self.tar, self.tar_weights)
        loss = self.loss(coefficients)
        if self.sum_non is not None:
            return tar, self.sum_non(loss)
        return tar, loss.sum(self.non, self.non_weights)

    def evaluate(self, coefficients: Float64Array) -> LocalModel:
        """Return value, gradient and Hessian at `coefficients`, in one pass."""
        posterior = coefficients.copy()
        posterior[-1] += self.plo
        tar, non = self.sums(posterior)
        # The two factors of F at the top of this module. Log-odds against the truth of targets
        # fall with the coefficients, hence the sign of their gradient.
        entropy = self.rule.entropy(self.prior)
        tar_price, non_price = self.prior / entropy, (1.0 - self.prior) / entropy
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            tar_means, non_means = tar.derivatives / tar.total, non.derivatives / non.total
            hessian = tar_price * tar_means[:-1] + non_price * non_means[:-1]
            return LocalModel(
                value=tar_price * (tar.loss / tar.total) + non_price * (non.loss / non.total),
                gradient=non_price * non_means[-1] - tar_price * tar_means[-1],
                hessian=0.5 * (hessian + hessian.T),
                overlap=tar.worst + non.worst,
            )


def _as_systems(scores: ArrayLike, name: str) -> FloatArray:
    """Return scores as a matrix with one row for each system, without a copy."""
    two = np.ndim(scores) == 2
    matrix = check.as_matrix(scores, name) if two else check.as_vector(scores, name)[np.newaxis]
    if matrix.shape[0] == 0:
        raise check.invalid(name, "hold the scores of at least one system", "no rows")
    check.check_not_empty(matrix, name)
    return matrix


def _weighted_trials(
    scores: FloatArray, weights: Weighting, name: str
) -> tuple[FloatArray, Float64Array | None]:
    """Check trial weights and leave out the trials whose weight is zero."""
    checked = moderate_weights(check.as_weights(weights, scores.shape[1], f"{name}_weights"))
    if checked is None:
        return scores, None
    used = checked > 0
    return (scores, checked) if used.all() else (scores[:, used], checked[used])


def _thinned(
    scores: FloatArray, weights: Float64Array | None, n_trials: int
) -> tuple[FloatArray, Float64Array | None]:
    step = max(1, -(-scores.shape[1] // n_trials))
    # Copied: many passes over scores that lie far apart would wait for the memory.
    return scores[:, ::step].copy(), None if weights is None else weights[::step]


def refuse_non_finite(tar: FloatArray, non: FloatArray) -> None:
    """Raise if a score, (n_systems, n_trials), is NaN, infinite or beyond `LARGEST_SCORE`."""
    for name, scores in (("tar", tar), ("non", non)):
        # NaN fails the tests.
        top = np.float64(LARGEST_SCORE)
        if not scores.size or (-scores.min() <= top and scores.max() <= top):
            continue
        bad = ~(np.abs(scores) <= top)
        system, trial = np.argwhere(bad)[0]
        found = f"{scores[system, trial]:g} at position {trial} of system {system + 1}"
        n_bad = f"{np.count_nonzero(bad)} of {bad.size} are others"
        hint = "Leave those trials out or repair the system."
        raise check.invalid(name, _USABLE, f"{found}; {n_bad}", hint)


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
