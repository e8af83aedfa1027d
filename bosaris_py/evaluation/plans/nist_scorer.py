"""The quirks of NIST's scorer, for results that agree with published ones to the last digit.

Where the quirks change a number, the default of `primary_cost` is the better one. The behaviour is
that of the scoring software of SRE18, version 4.3; the cores of later kits are the same.

Two things cannot be imitated. The official scorer sorts with an algorithm that is not stable, so
its results for tied scores depend on the order of the rows and on the processor. Here ties keep the
order of partitions and, in each, of the key's trials. And it pairs scores and key by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import attrs
import numpy as np

from bosaris_py._arrays import BoolArray, Float64Array, FloatArray, IndexArray
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.trials import ConditionMembers

QUIRKS = (
    "The minimum does not consider accepting every trial, so it can exceed 1 where beta < 1.",
    "Tied scores are not one step of the curve, so the minimum depends on their order; here "
    "that of the partitions and of the key (the official one is that of an unstable sort).",
    "Trial weights of the minimum are rounded to single precision.",
    "The EER is interpolated on the steps of the curve, not on its convex hull.",
    "A class without trials counts as error-rate 0 in the actual cost.",
    "Trials with a value that the plan does not name are left out.",
)

DIFFERENCES = (
    "Accepting every trial is among the decisions that the minimum considers.",
    "Tied scores are one step of the curve: the minimum does not depend on the order of trials.",
    "Weights of partitions are in double precision.",
    "The EER is that of the ROC's convex hull.",
    "A class without any trial is an error, not a rate of 0.",
    "Trials with a value that the plan does not name are an error, not left out.",
    "Scores and answers are matched by the ids of the trials, not by row.",
)


@attrs.frozen(eq=False)
class Cell:
    """The scores of one partition, in the order of the key's trials."""

    scores: FloatArray
    is_tar: BoolArray
    n_tar: int
    n_non: int

    @classmethod
    def of(
        cls,
        lists: tuple[FloatArray, FloatArray],
        places: tuple[IndexArray, IndexArray],
        members: ConditionMembers,
    ) -> "Cell":
        """Merge the two classes of a partition, given where their trials stand in the key."""
        chosen = (members.tar, members.non)
        scores = np.concatenate([each[part] for each, part in zip(lists, chosen, strict=True)])
        at = np.concatenate([each[part] for each, part in zip(places, chosen, strict=True)])
        # The order of the key's trials, which decides ties later.
        order = np.argsort(at, kind="stable")
        n_tar, n_non = members.tar.size, members.non.size
        return cls(scores[order], order < n_tar, n_tar, n_non)


class Curve(NamedTuple):
    """Rates when the trials up to each score are rejected, in ascending order of scores."""

    scores: FloatArray
    pmiss: Float64Array
    pfa: Float64Array


def actual_rates(cells: Sequence[Cell], point: OperatingPoint) -> tuple[float, float]:
    """Return the means over partitions of the miss and of the false-alarm rate."""
    accepted = [cell.scores >= np.log(point.fa_cost / point.miss_cost) for cell in cells]
    pairs = list(zip(cells, accepted, strict=True))
    pmiss = [np.mean(~yes[cell.is_tar]) for cell, yes in pairs if cell.n_tar]
    pfa = [np.mean(yes[~cell.is_tar]) for cell, yes in pairs if cell.n_non]
    # Quirk: a class that no partition has gets rate 0.
    return float(np.mean(pmiss or [0.0])), float(np.mean(pfa or [0.0]))


def curve(cells: Sequence[Cell]) -> Curve:
    """Return the weighted error-rates after each trial."""
    n_tar, n_non = max(cell.n_tar for cell in cells), max(cell.n_non for cell in cells)
    scores = np.concatenate([cell.scores for cell in cells])
    is_tar = np.concatenate([cell.is_tar for cell in cells])
    # Quirk: weights in single precision, the largest count of any partition over the own one.
    counts = [(cell.is_tar, max(cell.n_tar, 1), max(cell.n_non, 1)) for cell in cells]
    weights = np.concatenate([np.where(is_, n_tar / t, n_non / n) for is_, t, n in counts])
    weights = weights.astype(np.float32).astype(np.float64)
    # Quirk: a point for each trial, also within ties; none before the first trial.
    order = np.argsort(scores, kind="stable")
    is_tar, weights = is_tar[order], weights[order]
    tar_weights, non_weights = weights * is_tar, weights * ~is_tar
    with np.errstate(invalid="ignore"):
        pmiss = np.cumsum(tar_weights) / np.sum(tar_weights)
        pfa = 1.0 - np.cumsum(non_weights) / np.sum(non_weights)
    return Curve(scores[order], pmiss, pfa)


def eer(rates: Curve) -> float:
    """Interpolate the equal error rate where the difference of the rates changes sign."""
    _, pmiss, pfa = rates
    difference = pmiss - pfa
    above, below = np.flatnonzero(difference >= 0), np.flatnonzero(difference < 0)
    # The official scorer fails here: at the first point misses are at least as frequent
    # as false alarms already, or a class has no trials.
    if not (above.size and below.size):
        return float("nan")
    i, j = above[0], below[-1]
    # Straight lines between the last point with fewer misses and the first with more.
    share = difference[i] / (pfa[j] - pfa[i] - (pmiss[j] - pmiss[i]))
    return float(pmiss[i] + share * (pmiss[j] - pmiss[i]))
