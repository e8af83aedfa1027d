"""The counts that a `ROC` is made of: at distinct target scores, of parts, and scaled."""

import math

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import describe, frozen, invalid, read_only
from bosaris_py.numerics.counting import as_trials, count_checked
from bosaris_py.numerics.sorted_scores import SortedScores, Weights

__all__ = ["as_factor", "count_part", "distinct_scores", "scaled"]

Float64Array = npt.NDArray[np.float64]


def distinct_scores(tar: SortedScores) -> tuple[Float64Array, Weights]:
    """Return the distinct scores in float64 and the weight at each."""
    values, below = tar.distinct()
    scores: Float64Array = values.astype(np.float64, copy=False)
    if below is not None:
        return frozen(scores), frozen(tar.weight_from(below))
    if tar.weights is not None:
        whole = tar.is_whole
        return read_only(scores), frozen(tar.weights.astype(np.int64)) if whole else tar.weights
    one = frozen(np.ones(1, dtype=np.int64))
    return read_only(scores), np.broadcast_to(one, scores.shape)


def count_part(
    target_scores: Float64Array,
    scores: npt.ArrayLike,
    weights: npt.ArrayLike | None,
    name: str,
    owner: str,
) -> tuple[Weights, Weights]:
    """Count a part of the trials at and between target scores; it may be empty."""
    if _has_trials(scores, weights):
        return count_checked(target_scores, *as_trials(scores, weights, name, owner))
    nothing = frozen(np.zeros(1, dtype=np.int64))
    between = np.broadcast_to(nothing, target_scores.size + 1)
    return np.broadcast_to(nothing, target_scores.shape), between


def _has_trials(scores: npt.ArrayLike, weights: npt.ArrayLike | None) -> bool:
    """Whether a part has trials; those without weight do not count."""
    return np.size(scores) > 0 and (weights is None or bool(np.any(weights)))


def as_factor(value: float, name: str) -> int | float:
    """Return a factor of weights, an int where it is whole; raise unless it is one."""
    try:
        factor = float(value)
    except (TypeError, ValueError):
        factor = math.nan
    if not (math.isfinite(factor) and factor >= 0.0):
        raise invalid(name, "ROC.weighted", "be finite and not negative", describe(value))
    return int(factor) if factor.is_integer() else factor


def scaled(weights: Weights, factor: int | float) -> Weights:
    """Return weights times a factor, still whole if both are."""
    if factor == 1:
        return weights
    # Sums of whole weights stay exact up to 2**53, in float64 as well as in int64.
    if isinstance(factor, int) and weights.dtype == np.int64 and weights.sum() * factor > 2**53:
        factor = float(factor)
    return frozen(weights * factor)
