"""Means and covariances of the scores of one class, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from attrs import frozen

from bosaris_py._arrays import Float64Array, FloatArray


class ClassScores(Protocol):
    """Scores of one class, (n_systems, n_trials): an array, or what makes blocks of it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of systems and of trials."""

    def __getitem__(self, block: tuple[slice, slice], /) -> FloatArray:
        """Return some trials of some systems."""


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


def class_moments(scores: ClassScores, weights: Float64Array | None = None) -> ClassMoments:
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


def moderate_weights(weights: Float64Array) -> Float64Array:
    """Scale trial weights, of which only the proportions matter, by a power of two."""
    # Sums of huge weights would overflow, and products of tiny ones underflow.
    with np.errstate(under="ignore"):
        return np.asarray(np.ldexp(weights, -int(np.frexp(weights.max())[1])))
