"""The curve that a `ROC`'s counts draw: its steps, its corners, and where it is crossed."""

import bisect
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import frozen
from bosaris_py.numerics.eer_definitions import Crossing
from bosaris_py.numerics.sorted_scores import Weights, running_sum

__all__ = ["Steps", "crossing_of", "steps_of", "vertices_of"]

Float64Array = npt.NDArray[np.float64]


class Steps(NamedTuple):
    """The points of a steppy ROC at which it has come down, each with the fewest misses.

    Parameters
    ----------
    places : (m,) ndarray of intp
        Which target score is the threshold; the first of all is always there.
    misses, false_alarms : (m + 1,) ndarray
        Counts at each of them, and last those where everything is rejected.
    """

    places: npt.NDArray[np.intp]
    misses: Weights
    false_alarms: Weights


def steps_of(tar_at: Weights, non_at: Weights, non_between: Weights) -> Steps:
    """Return the points at which the curve has come down since the target score before.

    All others have as many false alarms as one of these and no fewer misses.
    Of many targets among few non-targets, these are few.
    """
    fell = non_between[:-1] > 0
    fell[:1] = True
    fell[1:] |= non_at[:-1] > 0
    index = np.flatnonzero(fell)
    # Only the last target score before a step can be tied with non-targets.
    last = np.append(index[1:], tar_at.size) - 1
    drops = non_at[last] + non_between[last + 1]
    # Summed from the top, so that small rates are sums of few weights.
    false_alarms = np.zeros(index.size + 1, dtype=drops.dtype)
    false_alarms[-2::-1] = running_sum(drops[::-1])
    misses = np.zeros(index.size + 1, dtype=tar_at.dtype)
    misses[1:] = running_sum(np.add.reduceat(tar_at, index))
    return Steps(index, frozen(misses), frozen(false_alarms))


def vertices_of(
    steps: Steps,
    target_scores: Float64Array,
    tar_at: Weights,
    non_at: Weights,
    non_between: Weights,
) -> tuple[Float64Array, Weights, Weights]:
    """Return thresholds, misses and false alarms at the corners of a steppy ROC.

    Each target score must have weight.
    """
    # Corners can be at steps, before ties, and after target scores with a gap
    # of non-targets above them; all others lie within a vertical run.
    index, misses, false_alarms = steps
    last = np.append(index[1:], tar_at.size) - 1
    tied = np.flatnonzero((non_at[last] > 0) & (last != index))
    lower = np.flatnonzero(non_between[last + 1] > 0)
    places = (3 * np.arange(index.size), 3 * tied + 1, 3 * lower + 2)
    order = np.argsort(np.concatenate(places), kind="stable")

    def chain(start: Any, inner: tuple[Weights, ...], end: Any) -> Weights:
        return np.concatenate(([start], np.concatenate(inner)[order], [end]))

    # The next float up rejects the target and keeps everything above it.
    with np.errstate(over="ignore"):
        just_above = np.nextafter(target_scores[last[lower]], np.inf)
    at_step, at_tie = target_scores[index], target_scores[last[tied]]
    thresholds = chain(-np.inf, (at_step, at_tie, just_above), np.inf)
    before_tie = np.maximum(misses[tied + 1] - tar_at[last[tied]], misses[tied])
    missed = chain(0, (misses[:-1], before_tie, misses[lower + 1]), misses[-1])
    # Rounding must neither lift the curve nor lower it where nothing is tied.
    before_gap = np.where(
        non_at[last[lower]] > 0,
        np.minimum(non_between[last[lower] + 1] + false_alarms[lower + 1], false_alarms[lower]),
        false_alarms[lower],
    )
    accepted = chain(
        false_alarms[0] + non_between[0], (false_alarms[:-1], false_alarms[tied], before_gap), 0
    )
    corner = _corners(missed, accepted)
    return frozen(thresholds[corner]), frozen(missed[corner]), frozen(accepted[corner])


def crossing_of(steps: Steps, tar_at: Weights, non_at: Weights, non_between: Weights) -> Crossing:
    """Return the edge of the steppy ROC on which pmiss - pfa changes its sign."""
    index, misses, false_alarms = steps
    tar_total = misses[-1].item()
    non_total = (false_alarms[0] + non_between[0]).item()

    def point(step: int) -> tuple[Any, Any]:
        return misses[step].item(), false_alarms[step].item()

    def crossed(point: tuple[Any, Any]) -> bool:
        return bool(point[0] * non_total >= point[1] * tar_total)

    step = bisect.bisect_left(range(index.size), x=True, key=lambda step: crossed(point(step)))
    if step == 0:
        return Crossing((0, non_total), point(0), tar_total, non_total)
    last = (index[step] if step < index.size else tar_at.size) - 1
    at, tied = tar_at[last].item(), non_at[last].item()
    # Targets alone, then those of the last score with their ties, then the gap above.
    start, end = point(step - 1), point(step)
    if tied:
        below_gap = (end[0], min(end[1] + non_between[last + 1].item(), start[1]))
        corners = [(end[0] - at, start[1]), below_gap, end]
    else:
        corners = [(end[0], start[1]), end]
    for corner in corners[:-1]:
        if crossed(corner):
            return Crossing(start, corner, tar_total, non_total)
        start = corner
    return Crossing(start, end, tar_total, non_total)


def _corners(misses: Weights, false_alarms: Weights) -> npt.NDArray[np.intp]:
    """Return the indices of the corners of a staircase, both ends included.

    Of equal points the last is kept (its threshold is a score, not a
    neighbouring float), but the first point of all stays the first.
    """
    moved = (np.diff(misses) != 0) | (np.diff(false_alarms) != 0)
    kept = np.flatnonzero(np.concatenate((moved, [True])))
    kept[0] = 0
    flat = np.diff(misses[kept]) == 0
    steep = np.diff(false_alarms[kept]) == 0
    straight = (flat[:-1] & flat[1:]) | (steep[:-1] & steep[1:])
    return kept.compress(np.concatenate(([True], ~straight, [True])))
