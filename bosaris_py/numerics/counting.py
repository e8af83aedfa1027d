"""Counts at and between thresholds: of unsorted scores, of sorted ones, of blocks of them."""

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import (
    FloatArray,
    as_vector,
    as_weights,
    check_not_empty,
    check_weight_range,
    describe,
    frozen,
    invalid,
    refuse_nan,
)
from bosaris_py.numerics.sorted_scores import SortedScores, Weights, are_whole
from bosaris_py.numerics.threshold_grid import add_counts, positions

__all__ = ["as_thresholds", "as_trials", "count_between", "count_checked", "count_sorted"]

Float64Array = npt.NDArray[np.float64]


def as_trials(
    scores: npt.ArrayLike, weights: npt.ArrayLike | None, name: str, owner: str
) -> tuple[FloatArray, Float64Array | None]:
    """Return the scores of a class, and their weights if they have any, as checked arrays."""
    array = as_vector(scores, name, owner)
    check_not_empty(array, name, owner)
    # The minimum is NaN if any score is, and costs less than a search for NaN.
    if np.isnan(array.min()):
        refuse_nan(array, name, owner)
    checked = as_weights(weights, array.size, f"{name}_weights", owner)
    check_weight_range(checked, f"{name}_weights", owner)
    return array, checked


def as_thresholds(thresholds: npt.ArrayLike, owner: str) -> Float64Array:
    """Return thresholds as an array; raise unless they ascend."""
    limits: Float64Array = np.asarray(thresholds, dtype=np.float64)
    if limits.ndim != 1 or not (limits[1:] > limits[:-1]).all() or np.isnan(limits[:1]).any():
        expected = "be one-dimensional and strictly ascending"
        raise invalid("thresholds", owner, expected, describe(limits))
    return limits


def count_between(
    thresholds: npt.ArrayLike, scores: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> tuple[Weights, Weights]:
    """Count the scores equal to each threshold, and in the gaps around them.

    Parameters
    ----------
    thresholds : (k,) array_like of float
        Strictly ascending; +-inf allowed.
    scores : (n,) array_like of float
        Scores in any order, n may be 0; no NaN, +-inf allowed. float32 is
        compared in float64.
    weights : (n,) array_like of float, optional
        Weight of each score, finite and not negative; one each by default.

    Returns
    -------
    at : (k,) ndarray of int64 or float64
        Number or weight of the scores equal to each threshold.
    between : (k + 1,) ndarray of int64 or float64
        The same strictly between thresholds: below the first, in each gap, above
        the last. Both are int64 if weights are whole.

    Raises
    ------
    InvalidInputError
        If the thresholds do not ascend, a score is NaN, or a weight is bad.

    Notes
    -----
    O(n + k) time unless scores or thresholds are spread very unevenly, then that of
    a sort; O(k) memory. Fractional weights are summed gap by gap, so that the
    rounding of large sums does not reach small ones.

    Examples
    --------
    >>> at, between = count_between([1.0, 2.0], [0.0, 1.5, 2.0, 2.0, 1.25])
    >>> at.tolist(), between.tolist()
    ([0, 2], [1, 2, 0])
    """
    owner = "count_between"
    limits = as_thresholds(thresholds, owner)
    array = as_vector(scores, "scores", owner)
    if array.size and np.isnan(array.min()):
        refuse_nan(array, "scores", owner)
    return count_checked(limits, array, as_weights(weights, array.size, "weights", owner))


def count_checked(
    thresholds: Float64Array, scores: FloatArray, weights: Float64Array | None
) -> tuple[Weights, Weights]:
    """Do what `count_between` does, with arrays that have been checked, also for NaN."""
    whole = weights is None or are_whole(weights)
    if scores.size < thresholds.size // 4:
        return _count_sparsely(thresholds, scores, weights, whole=whole)
    kind = np.int64 if weights is None else np.float64
    counts: Weights = np.zeros(2 * thresholds.size + 1, dtype=kind)
    add_counts(thresholds, scores, weights, counts)
    if whole:
        counts = counts.astype(np.int64, copy=False)
    elif weights is not None:
        # The largest gap has nearly all of the rounding, trial by trial, of the sums.
        counts[np.argmax(counts)] += np.float64(weights.sum() - counts.sum(dtype=np.longdouble))
    counts = frozen(counts)
    return counts[1::2], counts[::2]


def count_sorted(thresholds: Float64Array, scores: SortedScores) -> tuple[Weights, Weights]:
    """Do what `count_between` does, with scores that are sorted already."""
    if scores.size < thresholds.size // 4:
        return _count_sparsely(thresholds, scores.values, scores.weights, whole=scores.is_whole)
    below, up_to = scores.edges(thresholds)
    edges = np.zeros(2 * thresholds.size + 1, dtype=np.int64)
    edges[1::2] = below
    edges[2::2] = up_to
    counts = frozen(scores.weight_from(edges))
    return counts[1::2], counts[::2]


def _count_sparsely(
    thresholds: Float64Array,
    scores: FloatArray,
    weights: Float64Array | None,
    *,
    whole: bool,
) -> tuple[Weights, Weights]:
    """Count few scores at many thresholds; where no score is tied, in one array."""
    order = np.argsort(scores, kind="stable")
    position, tied = positions(thresholds, scores[order])
    masses = np.ones(scores.size, dtype=np.int64) if weights is None else weights[order]
    if whole:
        masses = masses.astype(np.int64, copy=False)
    between = np.zeros(thresholds.size + 1, dtype=masses.dtype)
    np.add.at(between, position[~tied], masses[~tied])
    if not tied.any():
        nothing = frozen(np.zeros(1, dtype=masses.dtype))
        return np.broadcast_to(nothing, thresholds.shape), frozen(between)
    at = np.zeros(thresholds.size, dtype=masses.dtype)
    np.add.at(at, position[tied], masses[tied])
    return frozen(at), frozen(between)
