"""Optimal calibration by the pool-adjacent-violators algorithm (PAV).

The optimal likelihood-ratios are the slopes of the ROC's convex hull, so this
module asks `ROC` for the hull and only looks up which scores belong to which
edge.
"""

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import as_vector, frozen
from bosaris_py.numerics.roc import ROC
from bosaris_py.numerics.smaller_class import hull_of
from bosaris_py.numerics.sorted_scores import SortedScores

__all__ = ["PAVBins", "optimal_llrs", "pav_bins"]

Float64Array = npt.NDArray[np.float64]


def optimal_llrs(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    *,
    tar_weights: npt.ArrayLike | None = None,
    non_weights: npt.ArrayLike | None = None,
) -> tuple[Float64Array, Float64Array]:
    """Replace each score by its optimal log-likelihood-ratio.

    Parameters
    ----------
    tar : (n_tar,) array_like of float
        Target scores; no NaN, +-inf allowed.
    non : (n_non,) array_like of float
        Non-target scores; no NaN, +-inf allowed.
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.

    Returns
    -------
    tar_llrs : (n_tar,) ndarray of float64
        Natural-log likelihood-ratios in the order of `tar`; inf above the
        highest non-target.
    non_llrs : (n_non,) ndarray of float64
        Likewise for `non`; -inf below the lowest target.

    Raises
    ------
    InvalidInputError
        If a class is empty, a score is NaN, or a weight is bad.

    Notes
    -----
    The posterior of each pool, minus the prior log-odds of the training
    trials. The toolkit's ``opt_loglr.m`` with option ``'raw'``, without the
    1e-6 per rank that it adds to keep the map invertible.

    Examples
    --------
    >>> tar_llrs, non_llrs = optimal_llrs([1.0, 3.0], [0.0, 2.0])
    >>> tar_llrs.tolist(), non_llrs.tolist()
    ([0.0, inf], [-inf, 0.0])
    """
    owner = "optimal_llrs"
    hull = hull_of(tar, non, tar_weights, non_weights, owner)
    return hull.llr_of(as_vector(tar, "tar", owner)), hull.llr_of(as_vector(non, "non", owner))


@attrs.frozen(eq=False)
class PAVBins:
    """The pools of the PAV algorithm, from the lowest scores to the highest.

    Parameters
    ----------
    lowest, highest : (m,) ndarray of float64
        Lowest and highest score in each pool.
    llr : (m,) ndarray of float64
        Log-likelihood-ratio of each pool, strictly ascending.
    """

    lowest: Float64Array
    highest: Float64Array
    llr: Float64Array


def pav_bins(tar: SortedScores, non: SortedScores) -> PAVBins:
    """Return the pools of the PAV algorithm with the scores that bound them."""
    hull = ROC.from_sorted(tar, non).convex_hull()
    edges = hull.thresholds[1:-1]
    highest = np.full(hull.llr.size, -np.inf)
    lowest = np.full(hull.llr.size, np.inf)
    for scores in (tar, non):
        splits = np.concatenate(([0], scores.count_below(edges), [scores.size]))
        held = splits[1:] > splits[:-1]
        np.minimum.at(lowest, np.flatnonzero(held), scores.values[splits[:-1][held]])
        np.maximum.at(highest, np.flatnonzero(held), scores.values[splits[1:][held] - 1])
    return PAVBins(frozen(lowest), frozen(highest), hull.llr)
