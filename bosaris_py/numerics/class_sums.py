"""What training needs to know of the scores of one class, in one pass over them.

Moments, sums of a loss and its derivatives, and the trials that are hardest. All come block
by block and can be merged, so the scores may lie in memory or in files.
"""

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import frozen

from bosaris_py._validation import FloatArray
from bosaris_py.numerics.scoring_rules import LARGEST_LOG_ODDS, ScoringRule

__all__ = [
    "ClassMoments",
    "ClassSums",
    "class_moments",
    "class_sums",
    "lowest",
    "merge_moments",
    "merge_sums",
]

Float64Array: TypeAlias = npt.NDArray[np.float64]

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
