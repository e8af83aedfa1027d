r"""The receiver operating characteristic (ROC): the errors at each threshold that matters.

Decision rule: accept iff score >= threshold. The thresholds that matter are -inf, each distinct
score of one class and the next number above it, and inf. Counting is a sort and a search. Two equal
scores of different classes rank alike: they make one slanted step of the curve.

Numbers of errors are counts, or masses where trials are weighted. Counts come first and one
division last, so that equal counts give equal rates.

References
----------
.. [1] D. A. van Leeuwen, "A note on performance metrics for Speaker Recognition using
   multiple conditions in an evaluation", 2008, appendix A.
"""

from __future__ import annotations

import functools
from typing import Literal

import attrs
import numpy as np

from bosaris_py import _arrays as arrays, _validation as check
from bosaris_py._arrays import ArrayLike, FloatArray, Weighting, Weights, mark_read_only
from bosaris_py.numerics.hull import ROCCH, Curve, Threshold, areas

EERDefinition = Literal["rocch", "interpolated", "step"]

# The rule of 30: with so many errors, the true error-rate lies within 30 % of the observed one
# with 90 % confidence, if errors are independent (Doddington et al., "The NIST speaker
# recognition evaluation", Speech Communication 31, 2000, doi:10.1016/S0167-6393(99)00080-1).
FEWEST_ERRORS = 30

# Cells of scores that are counted and not sorted.
_CELLS = 2**16


def as_class(
    scores: ArrayLike, weights: Weighting, name: str
) -> tuple[FloatArray, FloatArray | None]:
    """Return the scores of a class and their weights, checked; a trial of weight 0 is none."""
    array = check.as_vector(scores, name)
    check.check_not_empty(array, name)
    check.refuse_nan(array, name)
    checked = check.as_weights(weights, array.size, f"{name}_weights")
    check.check_weight_range(checked, f"{name}_weights")
    if checked is None or checked.all():
        return array, checked
    return array[checked > 0], checked[checked > 0]


def count_below(
    ordered: FloatArray, thresholds: ArrayLike, side: Literal["left", "right"] = "left"
) -> arrays.IntArray:
    """Return the number of ascending scores below, or up to, each threshold, as of float64."""
    limits: FloatArray = np.asarray(thresholds, dtype=np.float64)
    if ordered.dtype == np.float32:
        # numpy would first copy all scores. No float32 number lies between a threshold and the
        # float32 number next to it, so the question is the same.
        limits = arrays.round_to_float32(limits, towards=np.inf if side == "left" else -np.inf)
    return np.asarray(ordered.searchsorted(limits, side=side))


@np.errstate(over="ignore", divide="ignore")
def count_among(scores: FloatArray, thresholds: FloatArray) -> arrays.IntArray:
    """Return the number of scores, in any order, below each of ascending thresholds.

    Faster than to sort: scores are counted by cells of equal width, and only those that share a
    cell with a threshold are sorted.
    """
    limits = thresholds.astype(scores.dtype)
    low, high = limits[np.isfinite(limits)][[0, -1]] if np.isfinite(limits).any() else (0.0, 0.0)
    scale = scores.dtype.type(_CELLS - 2) / (high - low)
    if not 0.0 < scale < np.inf:
        return count_below(np.sort(scores), thresholds)

    def cells_of(values: FloatArray) -> arrays.IntArray:
        # Rounding keeps the order, so no score below a threshold lies in a higher cell than it.
        place = np.subtract(values, low)
        place *= scale
        place += 1.0
        return np.clip(place, 0.0, _CELLS - 1.0, out=place).astype(np.intp)

    cells, at = cells_of(scores), cells_of(limits)
    is_cut = np.bincount(at, minlength=_CELLS) > 0
    counts = np.bincount(cells, minlength=_CELLS)
    counts[is_cut] = 0
    near = count_below(np.sort(scores[is_cut.take(cells)]), thresholds)
    return np.asarray(np.cumsum(counts)[at] + near)


def distinct(ordered: FloatArray) -> FloatArray:
    """Return the distinct values of ascending scores, in float64."""
    new = np.ones(ordered.size, dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return np.asarray(ordered[new], dtype=np.float64)


def just_above(scores: FloatArray) -> FloatArray:
    """Return the thresholds that reject these scores and nothing above them."""
    with np.errstate(over="ignore"):
        return np.asarray(np.nextafter(scores, np.inf))


def both_sides(scores: FloatArray) -> FloatArray:
    """Return each of some ascending scores, and the next number above each."""
    found: FloatArray = np.stack((scores, just_above(scores)), axis=1).ravel()
    # Neighbouring floats would stand twice.
    return np.asarray(found[np.append(found[1:] != found[:-1], True)])


def with_ends(thresholds: FloatArray) -> FloatArray:
    """Return thresholds between the one that accepts all, -inf, and the one that rejects all."""
    return np.concatenate(([-np.inf], thresholds, [np.inf]))


@attrs.frozen(eq=False, repr=False)
class ROC(Curve):
    """The errors at each threshold that matters; made by `from_scores`. All arrays are read-only.

    Parameters
    ----------
    thresholds : (k,) ndarray of float64
        Ascending, from -inf to inf: accept iff score >= threshold. The last stands for "reject
        everything", scores of inf included.
    misses : (k,) ndarray of int64 or float64
        Number, or mass, of the targets below each, rising from 0 to all.
    false_alarms : (k,) ndarray of int64 or float64
        Number, or mass, of the non-targets at or above each, falling to 0.

    Examples
    --------
    >>> roc = ROC.from_scores([1.0, 3.0], [0.0, 2.0])
    >>> roc.pmiss.tolist(), roc.pfa.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0, 1.0], [1.0, 0.5, 0.5, 0.0, 0.0, 0.0])
    >>> roc.threshold_at(pmiss=0.0)
    Threshold(1.0, pmiss=0, pfa=0.5)
    """

    @classmethod
    def from_scores(
        cls,
        tar: ArrayLike,
        non: ArrayLike,
        *,
        tar_weights: Weighting = None,
        non_weights: Weighting = None,
    ) -> "ROC":
        """Count the trials of two lists of scores.

        Parameters
        ----------
        tar, non, tar_weights, non_weights
            As for `bosaris_py.eer`.

        Returns
        -------
        ROC
        """
        tar, non = check.as_score_lists(tar, non, tar_weights, non_weights)
        given = as_class(tar, tar_weights, "tar"), as_class(non, non_weights, "non")
        (tar, of_tar), (non, of_non) = (_sorted(*one) for one in given)
        thresholds = with_ends(both_sides(distinct(tar)))
        below = [count_below(one, thresholds) for one in (tar, non)]
        below[0][-1], below[1][-1] = tar.size, non.size
        misses, rejected = of_tar[below[0]], of_non[below[1]]
        return cls(*map(mark_read_only, (thresholds, misses, rejected[-1] - rejected)))

    def __repr__(self) -> str:
        """Say how much mass there is, and how many thresholds."""
        sizes = f"{self.tar_total:g} targets, {self.non_total:g} non-targets"
        return f"ROC: {sizes}, {self.thresholds.size} thresholds"

    def corners(self) -> "ROC":
        """Return the curve without the points inside its horizontal and vertical runs.

        Returns
        -------
        ROC
            The same line with the fewest points. Of equal points the one with the highest
            threshold is kept, but of those where all is accepted the lowest.
        """
        misses, alarms = self.misses, self.false_alarms
        moved = (np.diff(misses) != 0) | (np.diff(alarms) != 0)
        kept = np.flatnonzero(np.append(moved, True))
        kept[0] = 0
        flat, steep = np.diff(misses[kept]) == 0, np.diff(alarms[kept]) == 0
        straight = (flat[:-1] & flat[1:]) | (steep[:-1] & steep[1:])
        at = kept[np.concatenate(([True], ~straight, [True]))]
        return ROC(*map(mark_read_only, (self.thresholds[at], misses[at], alarms[at])))

    def convex_hull(self) -> ROCCH:
        """Return the lower left boundary of the ROC's convex hull.

        Returns
        -------
        ROCCH

        Notes
        -----
        The vertices are those of the pool-adjacent-violators algorithm (Fawcett
        and Niculescu-Mizil, 2007, doi:10.1007/s10994-007-5011-0). Whole-number
        weights are compared by cross-multiplied sums, exactly: there is never a
        superfluous vertex on a straight edge. (The toolkit's ``rocch.m``
        compares running means in floating point and keeps some.)
        """
        # For a given number of misses the threshold at the next target score has the fewest false
        # alarms, so only those points can be vertices.
        at = np.concatenate(([0], self._targets, [self.thresholds.size - 1]))
        return ROCCH.from_points(self.thresholds[at], self.misses[at], self.false_alarms[at])

    @functools.cached_property
    def auc(self) -> float:
        """Area under the ROC: P(tar > non) + P(tar = non) / 2; 1 perfect, 0.5 useless.

        The Mann-Whitney statistic over all pairs of a target and a non-target. The toolkit's
        ``area_under_rocch.m`` is 1 minus the area under the hull.
        """
        area = areas(self.misses[None].astype(np.float64), self.false_alarms[None])[0]
        return float(area / (float(self.tar_total) * float(self.non_total)))

    @property
    def eer_threshold(self) -> Threshold:
        """The threshold at which the larger of the two error-rates is smallest.

        The ROCCH-EER itself mixes two thresholds, so no single one attains it in general; the rates
        attached are those that hold at this one. Of several such thresholds, the one with the
        smaller sum of rates.
        """
        at = np.append(self._targets, self.thresholds.size - 1)
        pmiss, pfa = self.pmiss[at], self.pfa[at]
        worse = np.maximum(pmiss, pfa)
        best = np.flatnonzero(worse == worse.min())
        return self.threshold(int(at[best[np.argmin((pmiss + pfa)[best])]]))

    @functools.cached_property
    def _targets(self) -> arrays.IntArray:
        """Where the thresholds are target scores: the misses rise behind them."""
        return np.flatnonzero(np.diff(self.misses) > 0)

    def threshold_at(self, *, pmiss: float | None = None, pfa: float | None = None) -> Threshold:
        """Find the best threshold that keeps one error-rate within a limit.

        Parameters
        ----------
        pmiss : float, optional
            Largest miss rate allowed, in [0, 1]. The highest target score that keeps it is
            returned, so false alarms are fewest; inf if all may be missed and that saves false
            alarms.
        pfa : float, optional
            Largest false-alarm rate allowed, in [0, 1]. Among the thresholds that keep it, one with
            the fewest misses is returned. Give exactly one of the two.

        Returns
        -------
        Threshold
            A float with attributes ``pmiss`` and ``pfa``, the rates that hold at it. It is a target
            score, or inf where everything is rejected.

        Examples
        --------
        >>> roc = ROC.from_scores([1.0, 2.0, 3.0, 4.0], [0.0, 1.5, 2.5, -1.0])
        >>> roc.threshold_at(pfa=0.25)
        Threshold(2.0, pmiss=0.25, pfa=0.25)
        >>> roc.threshold_at(pmiss=0.25)
        Threshold(2.0, pmiss=0.25, pfa=0.25)
        """
        if (pmiss is None) == (pfa is None):
            got = "both" if pmiss is not None else "neither"
            raise check.invalid("pmiss or pfa", "be given, exactly one of them", got)
        at = np.append(self._targets, self.thresholds.size - 1)
        if pfa is not None:
            return self.threshold(int(at[np.argmax(self.pfa[at] <= _as_rate(pfa, "pfa"))]))
        allowed = self.pmiss[at] <= _as_rate(pmiss, "pmiss")
        if self.pfa[at[-2]] == 0.0:
            # To reject everything saves nothing.
            allowed[-1] = False
        return self.threshold(int(at[np.flatnonzero(allowed)[-1]]))


def _as_rate(value: float | None, name: str) -> float:
    hint = "Is it in per cent? Then divide it by 100."
    return check.as_number(value, name, "lie in [0, 1]", lambda rate: 0.0 <= rate <= 1.0, hint)


def _sorted(scores: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, Weights]:
    """Return ascending scores, and the mass of the first 0, 1, 2, ... of them."""
    if weights is None:
        return np.sort(scores), np.arange(scores.size + 1)
    order = np.argsort(scores, kind="stable")
    return scores[order], running_sum(weights[order])


def running_sum(weights: Weights) -> Weights:
    """Return the sums of the first 0, 1, 2, ... weights; int64 where all are whole."""
    sums = np.append(0.0, np.cumsum(weights, dtype=np.float64))
    # Sums of whole numbers are exact up to 2^53.
    if weights.dtype.kind in "iub" or (weights == np.rint(weights)).all():
        return sums.astype(np.int64) if sums[-1] < 2.0**53 else sums
    return sums
