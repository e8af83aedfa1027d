r"""Objectives of linear training: value, gradient, Hessian, and the sums they are made of.

Moments, sums of a loss and its derivatives, and the trials that are hardest. All come block
by block and can be merged, so the scores may lie in memory or in files.

A linear map turns the scores of one or more systems into a log-likelihood-ratio
:math:`s = w^T x + b`. How good it is at a prior :math:`\pi` is judged by a
proper scoring rule, the expected cost of the posterior log-odds
:math:`s + \mathrm{logit}(\pi)`,

.. math::

    F = \frac{1}{H(\pi)} \Bigl[
        \frac{\pi}{\sum u_i} \sum_{i \in tar} u_i\, C(-s_i - \mathrm{logit}\,\pi)
        + \frac{1-\pi}{\sum v_j} \sum_{j \in non} v_j\, C(s_j + \mathrm{logit}\,\pi)
    \Bigr],

where :math:`u, v` are trial weights (1 unless given) and :math:`C` is the
loss for evidence in the wrong direction. The entropy :math:`H(\pi)` is the same
cost for a detector that always answers ``s = 0``, so F is 1 for whoever knows
only the prior and 0 for a perfect detector.

Everything is summed over the trials in blocks that stay in the processor's
cache, so memory beyond the input is a few buffers and a pass costs little more
than one exponential and one logarithm per trial.

References
----------
.. [1] N. Brummer and E. de Villiers, "The BOSARIS Toolkit user guide: theory,
   algorithms and code for binary classifier score processing", 2011.
.. [2] N. Brummer and G. Doddington, "Likelihood-ratio calibration using
   prior-weighted proper scoring rules", Interspeech 2013.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt
from attrs import evolve, frozen

from bosaris_py._arrays import Float64Array, FloatArray
from bosaris_py._validation import (
    as_matrix,
    as_vector,
    as_weights,
    check_not_empty,
    invalid,
    list_some,
    refuse_nan,
)
from bosaris_py.errors import InvalidInputError
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.scoring_rules import (
    LARGEST_LOG_ODDS,
    ScoringRule,
    resolve_prior,
    scoring_rule,
)

# Numbers in the work space of one block, 1 MB: the size of a usual second-level cache. With
# smaller blocks what numpy takes for each call begins to count.
_WORK_SPACE = 2**17


def _sum_blocks(sums: Sequence[npt.ArrayLike]) -> Float64Array:
    """Add the sums of all blocks pairwise, so that rounding hardly grows with their number."""
    if len(sums) == 1:
        return np.asarray(sums[0])
    # numpy sums pairwise along the contiguous axis only.
    rows = np.ascontiguousarray(np.stack([np.asarray(part) for part in sums], axis=-1))
    total: Float64Array = rows.sum(axis=-1)
    return total


@frozen(eq=False)
class ClassMoments:
    """Mean, scatter and range of the scores of one class.

    Parameters
    ----------
    mean : (n_systems,) ndarray of float64
        Weighted mean of each system.
    scatter : (n_systems, n_systems) ndarray of float64
        Weighted mean of the products of deviations from the mean.
    lowest, highest : (n_systems,) ndarray of float64
        Range; NaN or infinite if and only if a score is.
    """

    mean: Float64Array
    scatter: Float64Array
    lowest: Float64Array
    highest: Float64Array


def class_moments(
    scores: FloatArray, weights: Float64Array | None = None, *, block: int | None = None
) -> ClassMoments:
    """Compute mean, scatter and range of each system's scores in one pass.

    Parameters
    ----------
    scores : (n_systems, n_trials) ndarray of float32 or float64
        Scores of one class.
    weights : (n_trials,) ndarray of float64 or None
        Positive trial weights.
    block : int or None
        Trials in one block; None picks a size for the cache.

    Returns
    -------
    ClassMoments
        The moments. With non-finite scores only the range means anything.

    Notes
    -----
    Means and scatters of the blocks are merged as by Chan, Golub and LeVeque
    (1979). Deviations are taken from the mean of the block before, so nothing
    cancels however far the scores lie from zero: what they are off from the block's own mean is
    part of the whole scatter.
    """
    n_systems, n_trials = scores.shape
    block = min(n_trials, block or max(1, _WORK_SPACE // (2 * (n_systems + 1))))
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
            x[...] = scores[:, part]
            ranges.append((x.min(axis=1), x.max(axis=1)))
            np.subtract(x, origin[:, np.newaxis], out=x)
            size = np.float64(n)
            if weights is not None:
                size = weights[part].sum()
                np.multiply(design[:, :n], weights[part], out=y)
            products = y @ x.T
            shift = products[-1] / size
            scatters.append(products[:-1] - size * np.outer(shift, shift))
            sizes.append(size)
            means.append(origin - first + shift)
            origin = origin + shift
        total = _sum_blocks(sizes)
        mean = _sum_blocks([n * m for n, m in zip(sizes, means, strict=True)]) / total
        between = [n * np.outer(m - mean, m - mean) for n, m in zip(sizes, means, strict=True)]
        scatter = (_sum_blocks(scatters) + _sum_blocks(between)) / total
    return ClassMoments(
        mean=first + mean,
        scatter=scatter,
        lowest=np.min([low for low, _ in ranges], axis=0),
        highest=np.max([high for _, high in ranges], axis=0),
    )


def merge_moments(parts: Sequence[ClassMoments], sizes: Sequence[int]) -> ClassMoments:
    """Merge the moments of several sets of trials without weights.

    Parameters
    ----------
    parts : sequence of ClassMoments
        At least one.
    sizes : sequence of int
        Trials in each of them, at least one.

    Returns
    -------
    ClassMoments
        Those of all trials, merged as the blocks in `class_moments`.
    """
    total = float(sum(sizes))
    # A large common part of all means is taken off before they are averaged.
    first = parts[0].mean
    with np.errstate(over="ignore", invalid="ignore"):
        mean = first + _sum_blocks(
            [n / total * (part.mean - first) for n, part in zip(sizes, parts, strict=True)]
        )
        scatter = _sum_blocks(
            [
                n / total * (part.scatter + np.outer(part.mean - mean, part.mean - mean))
                for n, part in zip(sizes, parts, strict=True)
            ]
        )
    return ClassMoments(
        mean=mean,
        scatter=scatter,
        lowest=np.min([part.lowest for part in parts], axis=0),
        highest=np.max([part.highest for part in parts], axis=0),
    )


@frozen(eq=False)
class ClassSums:
    """A loss and its derivatives, summed over trials of one class.

    Parameters
    ----------
    loss : float
        Sum of the losses.
    derivatives : (d + 1, d) ndarray of float64
        Sum of the curvatures times the outer products of the inputs, with the sum of the
        slopes times the inputs as last row.
    worst : float
        Highest log-odds against the truth.
    total : float
        Sum of the trial weights: without weights the number of trials.
    """

    loss: float
    derivatives: Float64Array
    worst: float
    total: float


def class_sums(
    scores: FloatArray,
    weights: Float64Array | None,
    coefficients: Float64Array,
    *,
    rule: ScoringRule,
    centre: Float64Array,
    spread: Float64Array,
    block: int | None = None,
) -> ClassSums:
    """Sum a loss and its derivatives over trials of one class.

    Parameters
    ----------
    scores : (n_systems, n_trials) ndarray of float32 or float64
        Scores of one class, at least one trial.
    weights : (n_trials,) ndarray of float64 or None
        Positive trial weights.
    coefficients : (n_systems + 1,) ndarray of float64
        Weights and offset that give the log-odds against the truth.
    rule : ScoringRule
        The loss.
    centre, spread : (n_systems,) ndarray of float64
        Standardisation of the scores.
    block : int or None
        Trials in one block; None picks a size for the cache.

    Returns
    -------
    ClassSums
        By the coefficients of the standardised scores and the offset.
    """
    n_trials = scores.shape[1]
    size = coefficients.size
    # The design matrix, the same with factors, and four vectors.
    block = min(n_trials, block or max(1, _WORK_SPACE // (2 * size + 5)))
    origin = centre[:, np.newaxis]
    inverse_spread = 1.0 / spread[:, np.newaxis]
    # One row for each system and a row of ones for the offset.
    design = np.empty((size, block))
    design[-1] = 1.0
    # The same times the curvature, then the slope: one product with the
    # design then gives Hessian and gradient.
    factors = np.empty((size + 1, block))
    log_odds = np.empty(block)
    loss = np.empty(block)
    curvature = np.empty(block)
    losses: list[float] = []
    sums: list[Float64Array] = []
    worst = -math.inf
    x, z, c, f, g = design, log_odds, loss, curvature, factors
    inputs, slopes, weighted = x[:-1], g[-1], g[:-1]
    # Overflow means an infinite value, which every minimiser steps back from.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for start in range(0, n_trials, block):
            part = slice(start, min(start + block, n_trials))
            if (n := part.stop - part.start) < block:
                x, z, c, f, g = x[:, :n], z[:n], c[:n], f[:n], g[:, :n]
                inputs, slopes, weighted = x[:-1], g[-1], g[:-1]
            np.subtract(scores[:, part], origin, out=inputs)
            np.multiply(inputs, inverse_spread, out=inputs)
            np.dot(coefficients, x, out=z)
            highest = float(z.max())
            worst = max(worst, highest)
            if highest > LARGEST_LOG_ODDS and math.isfinite(rule.slope_at_infinity):
                beyond = np.maximum(z - LARGEST_LOG_ODDS, 0.0)
                np.minimum(z, LARGEST_LOG_ODDS, out=z)
                rule.kernel(z, c, slopes, f)
                if rule.slope_at_infinity:
                    c += rule.slope_at_infinity * beyond
            else:
                rule.kernel(z, c, slopes, f)
            if weights is not None:
                c *= weights[part]
                slopes *= weights[part]
                f *= weights[part]
            np.multiply(x, f, out=weighted)
            losses.append(float(c.sum()))
            sums.append(g @ x.T)
    return ClassSums(
        loss=float(_sum_blocks(losses)),
        derivatives=_sum_blocks(sums),
        worst=worst,
        total=float(n_trials) if weights is None else float(weights.sum()),
    )


def merge_sums(parts: Sequence[ClassSums]) -> ClassSums:
    """Add the sums over several sets of trials, at least one, pairwise and in their order."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return ClassSums(
            loss=float(_sum_blocks([part.loss for part in parts])),
            derivatives=_sum_blocks([part.derivatives for part in parts]),
            worst=max(part.worst for part in parts),
            total=float(_sum_blocks([part.total for part in parts])),
        )


def lowest(scores: FloatArray, weights: Float64Array, n_trials: int) -> Float64Array:
    """Return the scores of the trials with the lowest weighted sum.

    Parameters
    ----------
    scores : (n_systems, n) ndarray of float
        Scores of one class.
    weights : (n_systems,) ndarray of float64
        Weights of the scores as they are.
    n_trials : int
        How many trials to return, at most.

    Returns
    -------
    (n_systems, k) ndarray of float64
        In no particular order.
    """
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
class Evaluation:
    """A training objective at one point.

    Parameters
    ----------
    value : float
        The objective; infinite where it overflows.
    gradient : (d,) ndarray of float64
        First derivatives.
    hessian : (d, d) ndarray of float64
        Second derivatives, symmetric.
    overlap : float
        Highest minus lowest: the highest fused non-target score minus the lowest
        fused target score. Zero or below if the point separates the classes.
    """

    value: float
    gradient: Float64Array
    hessian: Float64Array
    overlap: float


@frozen(eq=False, kw_only=True)
class LinearObjective(ABC):
    """The objective of a linear calibration or fusion.

    Coefficients are one weight for each system, then the offset; they act on
    the scores ``(x - centre) / spread``.

    Parameters
    ----------
    rule : ScoringRule
        The loss.
    prior, plo : float
        Prior probability of a target and its log-odds.
    centre, spread : (n_systems,) ndarray of float64
        Standardisation, done on the fly.
    """

    rule: ScoringRule
    prior: float
    plo: float
    centre: Float64Array
    spread: Float64Array

    @property
    def n_systems(self) -> int:
        """Number of systems, one less than there are coefficients."""
        return len(self.centre)

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
        """Raise with counts of what cannot be trained on.

        Raises
        ------
        InvalidInputError
            If a score is NaN, infinite, or so large that its square overflows.
        """

    @abstractmethod
    def thinned(self, n_trials: int) -> "LinearObjective":
        """Return the objective on about `n_trials` evenly spaced trials of each class."""

    @abstractmethod
    def hardest(self, weights: Float64Array, n_trials: int) -> tuple[Float64Array, Float64Array]:
        """Return the trials that fused scores with given weights get most wrong.

        Parameters
        ----------
        weights : (n_systems,) ndarray of float64
            Weights of the standardised scores.
        n_trials : int
            How many trials of each class to return, at most.

        Returns
        -------
        tar, non : (n_systems, n) ndarray of float64
            Scores, as they are, of the targets with the lowest fused scores and of the
            non-targets with the highest, in no particular order.
        """

    @abstractmethod
    def a_trial(self) -> Float64Array:
        """Return the scores of some training trial as they are, (n_systems, 1)."""

    @abstractmethod
    def _sums(self, coefficients: Float64Array) -> tuple[ClassSums, ClassSums]:
        """Return the sums of targets, then of non-targets.

        Parameters
        ----------
        coefficients : (n_systems + 1,) ndarray of float64
            Weights and offset that give the posterior log-odds for a target.
        """

    def standardised(self, centre: Float64Array, spread: Float64Array) -> Self:
        """Return the same objective with other coordinates for the coefficients."""
        return evolve(self, centre=centre, spread=spread)

    def with_rule(self, rule: ScoringRule) -> Self:
        """Return the objective with another loss on the same scores."""
        return evolve(self, rule=rule)

    def evaluate(self, coefficients: Float64Array) -> Evaluation:
        """Return value, gradient and Hessian at `coefficients`, in one pass.

        Parameters
        ----------
        coefficients : (n_systems + 1,) ndarray of float64
            Weights, then the offset.

        Returns
        -------
        Evaluation
            Value and derivatives, with the classes' overlap along the weights.
        """
        posterior = coefficients.copy()
        posterior[-1] += self.plo
        tar, non = self._sums(posterior)
        entropy = self.rule.entropy(self.prior)
        # Overflow means an infinite value, which every minimiser steps back from.
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            tar_price = self.prior / entropy
            non_price = (1.0 - self.prior) / entropy
            tar_means, non_means = tar.derivatives / tar.total, non.derivatives / non.total
            hessian = tar_price * tar_means[:-1] + non_price * non_means[:-1]
            return Evaluation(
                value=tar_price * (tar.loss / tar.total) + non_price * (non.loss / non.total),
                gradient=non_price * non_means[-1] - tar_price * tar_means[-1],
                hessian=0.5 * (hessian + hessian.T),
                overlap=tar.worst + non.worst,
            )


# Training weights are scaled if the largest of a class is below this or above its inverse.
_SMALLEST_WEIGHT = 1e-100

LARGEST_SCORE = 1e150

"""Largest score that can be trained on; squares of larger ones overflow."""


@frozen(eq=False, kw_only=True)
class TrainingObjective(LinearObjective):
    r"""The objective of a linear calibration or fusion on a given training set.

    Coefficients are one weight for each system, then the offset; they act on
    the scores ``(x - centre) / spread``.

    Parameters
    ----------
    tar, non : (n_systems, n_trials) ndarray of float32 or float64
        Training scores. May be strided or read-only; they are never copied as a
        whole.
    rule : ScoringRule
        The loss.
    prior, plo : float
        Prior probability of a target and its log-odds.
    tar_weights, non_weights : (n_trials,) ndarray of float64 or None
        Positive trial weights, of any sum.
    centre, spread : (n_systems,) ndarray of float64
        Standardisation, done on the fly.
    block : int or None
        Trials in one block. The result does not depend on it but for rounding.
    """

    tar: FloatArray
    non: FloatArray
    tar_weights: Float64Array | None
    non_weights: Float64Array | None
    block: int | None = None

    @classmethod
    def from_scores(
        cls,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        *,
        prior: float | OperatingPoint = 0.5,
        objective: str = "cllr",
        tar_weights: npt.ArrayLike | None = None,
        non_weights: npt.ArrayLike | None = None,
        block: int | None = None,
    ) -> "TrainingObjective":
        """Check the arguments and set up the objective on scores as they are.

        Parameters
        ----------
        tar, non : (n_trials,) or (n_systems, n_trials) array_like of float
            Training scores of the two classes.
        prior : float or OperatingPoint, default: 0.5
            Prior probability of a target.
        objective : {"cllr", "brier", "boost"}, default: "cllr"
            The proper scoring rule, in any case.
        tar_weights, non_weights : (n_trials,) array_like of float or None
            Trial weights; trials of weight zero are left out.
        block : int or None
            Trials in one block; None picks a size for the cache.

        Returns
        -------
        TrainingObjective
            With centre 0 and spread 1.

        Raises
        ------
        InvalidInputError
            If a class is empty, the numbers of systems differ, or an argument is
            out of range. Non-finite scores are not looked for here.
        """
        rule = scoring_rule(objective)
        probability, plo = resolve_prior(prior)
        tar_matrix = _as_systems(tar, "tar")
        non_matrix = _as_systems(non, "non")
        n_systems = tar_matrix.shape[0]
        if non_matrix.shape[0] != n_systems:
            expected = f"hold the same {n_systems} systems as `tar`, one in each row"
            hint = "Scores of several systems are (n_systems, n_trials)."
            raise invalid("non", expected, f"{non_matrix.shape[0]} rows", hint)
        tar_matrix, tar_used = _drop_unweighted(tar_matrix, tar_weights, "tar")
        non_matrix, non_used = _drop_unweighted(non_matrix, non_weights, "non")
        return cls(
            tar=tar_matrix,
            non=non_matrix,
            rule=rule,
            prior=probability,
            plo=plo,
            tar_weights=tar_used,
            non_weights=non_used,
            centre=np.zeros(n_systems),
            spread=np.ones(n_systems),
            block=block,
        )

    @property
    def n_tar(self) -> int:
        """Number of target trials."""
        return int(self.tar.shape[1])

    @property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return int(self.non.shape[1])

    def moments(self) -> tuple[ClassMoments, ClassMoments]:
        """Return the moments of targets and of non-targets, of the scores as they are."""
        tar = class_moments(self.tar, self.tar_weights)
        return tar, class_moments(self.non, self.non_weights)

    def refuse_non_finite(self) -> None:
        """Raise with counts and positions of what cannot be trained on."""
        refuse_non_finite(self.tar, self.non)

    def thinned(self, n_trials: int) -> "TrainingObjective":
        """Return the objective on about `n_trials` evenly spaced trials of each class."""
        tar_step = max(1, -(-self.tar.shape[1] // n_trials))
        non_step = max(1, -(-self.non.shape[1] // n_trials))
        return evolve(
            self,
            # Copied: many passes over scores that lie far apart would wait for the memory.
            tar=self.tar[:, ::tar_step].copy(),
            non=self.non[:, ::non_step].copy(),
            tar_weights=None if self.tar_weights is None else self.tar_weights[::tar_step],
            non_weights=None if self.non_weights is None else self.non_weights[::non_step],
        )

    def hardest(self, weights: Float64Array, n_trials: int) -> tuple[Float64Array, Float64Array]:
        """Return the trials that fused scores with given weights get most wrong."""
        raw = weights / self.spread
        return lowest(self.tar, raw, n_trials), lowest(self.non, -raw, n_trials)

    def a_trial(self) -> Float64Array:
        """Return the scores of the first target as they are."""
        return np.asarray(self.tar[:, slice(0, 1)], dtype=np.float64)

    def _sums(self, coefficients: Float64Array) -> tuple[ClassSums, ClassSums]:
        return (
            self._class_sums(self.tar, self.tar_weights, -coefficients),
            self._class_sums(self.non, self.non_weights, coefficients),
        )

    def _class_sums(
        self, scores: FloatArray, weights: Float64Array | None, coefficients: Float64Array
    ) -> ClassSums:
        return class_sums(
            scores,
            weights,
            coefficients,
            rule=self.rule,
            centre=self.centre,
            spread=self.spread,
            block=self.block,
        )


def _as_systems(scores: npt.ArrayLike, name: str) -> FloatArray:
    """Return scores as a matrix with one row for each system, without a copy."""
    if np.ndim(scores) == 2:
        matrix = as_matrix(scores, name)
    else:
        matrix = as_vector(scores, name)[np.newaxis]
    if matrix.shape[0] == 0:
        raise invalid(name, "hold the scores of at least one system", "no rows")
    check_not_empty(matrix, name)
    return matrix


def _drop_unweighted(
    scores: FloatArray, weights: npt.ArrayLike | None, name: str
) -> tuple[FloatArray, Float64Array | None]:
    """Check trial weights and leave out the trials whose weight is zero."""
    checked = as_weights(weights, scores.shape[1], f"{name}_weights")
    if checked is not None:
        checked = moderate_weights(checked)
    if checked is None or checked.all():
        return scores, checked
    used = checked > 0
    return scores[:, used], checked[used]


def moderate_weights(weights: Float64Array) -> Float64Array:
    """Scale trial weights, of which only the proportions matter, if they are tiny or huge.

    Sums of huge weights would overflow, and products of tiny ones underflow. The factor
    is a power of two, so the proportions stay as they are to the last bit; only weights
    below 1e-323 of the largest become zero.

    Parameters
    ----------
    weights : (n_trials,) ndarray of float64
        Finite and not negative, not all zero.

    Returns
    -------
    (n_trials,) ndarray of float64
        As they were if the largest is of an ordinary size, else with a largest one near 1.
    """
    largest = float(weights.max())
    if _SMALLEST_WEIGHT <= largest <= 1.0 / _SMALLEST_WEIGHT:
        return weights
    with np.errstate(under="ignore"):
        scaled: Float64Array = np.ldexp(weights, -int(np.frexp(largest)[1]))
    return scaled


def evaluate_objective(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    *,
    prior: float | OperatingPoint = 0.5,
    objective: str = "cllr",
    tar_weights: npt.ArrayLike | None = None,
    non_weights: npt.ArrayLike | None = None,
) -> float:
    r"""Judge log-likelihood-ratios by the training objective of calibration and fusion.

    Parameters
    ----------
    tar : (n_tar,) array_like of float
        Target scores, natural-log likelihood-ratios; no NaN, +-inf allowed.
    non : (n_non,) array_like of float
        Non-target scores, likewise.
    prior : float or OperatingPoint, default: 0.5
        Prior probability of a target; of an operating point the effective prior.
    objective : {"cllr", "brier", "boost"}, default: "cllr"
        The proper scoring rule, in any case.
    tar_weights, non_weights : (n_tar,), (n_non,) array_like of float or None
        Trial weights; only their proportions within a class matter.

    Returns
    -------
    float
        Normalised cost, dimensionless: 0 for a perfect detector, 1 for one that
        knows only the prior, above 1 for one that does harm. Infinite if an
        infinite score is wrong (except brier, which is bounded).

    Raises
    ------
    InvalidInputError
        If a class is empty or contains NaN, or another argument is out of range.

    Notes
    -----
    The losses for log-odds :math:`z` against the truth are
    :math:`\log(1+e^z)` (cllr), :math:`\sigma(z)^2/2` (brier) and
    :math:`e^{z/2}` (boost); the sum is at the top of this module. At prior 0.5
    cllr is the familiar Cllr in bits. BOSARIS: ``evaluate_objective.m``.

    Examples
    --------
    >>> evaluate_objective([0.0], [0.0], prior=0.01)
    1.0
    >>> round(evaluate_objective([2.0, 4.0], [-3.0, 0.5], objective="brier"), 6)
    0.404238
    """
    tar_llrs, non_llrs = as_vector(tar, "tar"), as_vector(non, "non")
    refuse_nan(tar_llrs, "tar")
    refuse_nan(non_llrs, "non")
    training = TrainingObjective.from_scores(
        tar_llrs,
        non_llrs,
        prior=prior,
        objective=objective,
        tar_weights=tar_weights,
        non_weights=non_weights,
    )
    return training.evaluate(np.array([1.0, 0.0])).value


def refuse_non_finite(tar: FloatArray, non: FloatArray) -> None:
    """Raise with counts and first positions, for each system, of what cannot be trained on.

    Parameters
    ----------
    tar, non : (n_systems, n_trials) ndarray of float
        Training scores.

    Raises
    ------
    InvalidInputError
        If a score is NaN, infinite, or so large that its square overflows.
    """
    complaints = []
    for name, scores in (("tar", tar), ("non", non)):
        for system, row in enumerate(scores.astype(np.float64, copy=False), start=1):
            for what, bad in (
                ("NaN", np.isnan(row)),
                ("infinite", np.isinf(row)),
                (f"beyond {LARGEST_SCORE:g}", np.isfinite(row) & (np.abs(row) > LARGEST_SCORE)),
            ):
                positions = np.flatnonzero(bad)
                if positions.size:
                    where = f" of system {system}" if scores.shape[0] > 1 else ""
                    complaints.append(
                        f"{positions.size} of {row.size} scores of `{name}`{where} are {what} "
                        f"(at positions {list_some(positions.tolist())})"
                    )
    if complaints:
        message = (
            f"A linear map must be trained on finite scores; {'; '.join(complaints)}. "
            "It has no use for others: leave those trials out or repair the system."
        )
        raise InvalidInputError(message)
