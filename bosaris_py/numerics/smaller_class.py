"""ROCs of which only the smaller class is sorted, for functions that return one number."""

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import as_vector, frozen
from bosaris_py.numerics.counting import as_trials, count_checked
from bosaris_py.numerics.roc import ROC
from bosaris_py.numerics.roc_counts import distinct_scores
from bosaris_py.numerics.rocch import ROCCH
from bosaris_py.numerics.sorted_scores import SortedScores

__all__ = ["hull_of", "roc_of"]


def roc_of(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    tar_weights: npt.ArrayLike | None,
    non_weights: npt.ArrayLike | None,
    owner: str,
) -> tuple[ROC, bool]:
    """Return the ROC, or where targets are many, that of negated scores of swapped classes.

    Only the smaller class need be sorted then. Also returned is whether classes are swapped.
    """
    targets, others = as_vector(tar, "tar", owner), as_vector(non, "non", owner)
    if targets.size <= 2 * others.size:
        ordered = SortedScores.from_scores(targets, tar_weights, name="tar", owner=owner)
        counted = as_trials(others, non_weights, "non", owner)
        return ROC.from_sorted_targets(ordered, *counted), False
    counted = as_trials(targets, tar_weights, "tar", owner)
    ordered = SortedScores.from_scores(others, non_weights, name="non", owner=owner)
    values, weight = distinct_scores(ordered)
    at, between = count_checked(values, *counted)
    return ROC(frozen(-values[::-1]), weight[::-1], at[::-1], between[::-1]), True


def hull_of(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    tar_weights: npt.ArrayLike | None,
    non_weights: npt.ArrayLike | None,
    owner: str,
) -> ROCCH:
    """Return the convex hull of two lists of scores by sorting the smaller one only.

    Its rates hold at its thresholds, but those are not always target scores.
    """
    roc, swapped = roc_of(tar, non, tar_weights, non_weights, owner)
    hull = roc.convex_hull()
    if not swapped:
        return hull
    # Scores up to a threshold were accepted there, negated; here they are rejected.
    with np.errstate(over="ignore"):
        thresholds = np.nextafter(-hull.thresholds[::-1], np.inf)
    thresholds[0], thresholds[-1] = -np.inf, np.inf
    return ROCCH(frozen(thresholds), hull.false_alarms[::-1], hull.misses[::-1])
