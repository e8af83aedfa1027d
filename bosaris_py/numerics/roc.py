"""The receiver operating characteristic (ROC): counts at and between the distinct target scores.

`ROC` keeps, for each distinct target score, how much weight of each class lies there, and how much
non-target weight lies in the gap below it. ROC, DET, convex hull, EER, minimum DCF, PAV calibration
and AUC follow from these. Memory is proportional to the number of targets, and the counts of two
blocks of trials add.

Decision rule: accept iff score >= threshold. Of two equal scores of different classes neither ranks
higher; they enter together, as one step of the curve.

References
----------
.. [1] D. A. van Leeuwen, "A note on performance metrics for Speaker Recognition using
   multiple conditions in an evaluation", 2008, appendix A.
"""

from __future__ import annotations

import bisect
import functools
import math
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

import attrs
import numpy as np
from numpy.typing import ArrayLike

from bosaris_py import _validation as check
from bosaris_py._arrays import (
    Float64Array,
    FloatArray,
    IndexArray,
    Weighting,
    Weights,
    by_constructor,
    mark_read_only,
    read_only,
)
from bosaris_py._cautions import warn_caller
from bosaris_py.errors import SuspectScoresWarning
from bosaris_py.numerics import counts
from bosaris_py.numerics.rocch import ROCCH, Threshold, hull_indices

# Of no more trials of a class nothing is said.
FEW_TRIALS = 30

# The rule of 30: with so many errors, the true error-rate lies within 30 % of the observed one
# with 90 % confidence, if errors are independent (Doddington et al., "The NIST speaker
# recognition evaluation", Speech Communication 31, 2000, doi:10.1016/S0167-6393(99)00080-1).
FEWEST_ERRORS = 30

# So many standard errors are not chance.
_STANDARD_ERRORS = 3.0

# Normal classes so far apart, one standard deviation of either, have an AUC of 0.76 or 0.24.
_FAR_BELOW = 0.9

# Of so many trials of a class the mean shows whether a sort is worth its time.
_SAMPLE = 100

# Of so many scores of a class Cllr shows whether they are worse than none.
_SAMPLE_OF_COSTS = 300

# A list whose share of finite scores is at least this has a few infinite ones.
_MOSTLY = 0.99

# Where the hull's EER is lower, at least half of the square lies below the curve.
_SURE_EER = 0.25

# Scores with more than this Cllr after calibration tell hardly anything, as inverted ones do.
_USEFUL = 0.9

# Llrs from -1 to 1 leave a Bayes error-rate of at least 1 / (1 + e) at prior 0.5, and a Cllr of
# log2(1 + 1 / e) = 0.452; llrs of one sign leave one of 0.5.
_LOWEST_ERROR, _LOWEST_BITS = 1.0 / (1.0 + math.e), 0.45


def warn_if_inverted(eer: float, auc: Callable[[], float], n_tar: int, n_non: int) -> None:
    """Warn if the AUC is below 0.5 by more than chance explains; never of 30 trials of a class.

    That is 3 standard errors of the Mann-Whitney statistic of scores that tell nothing. The area is
    asked for only if the hull's EER leaves it in doubt.
    """
    if eer <= _SURE_EER or min(n_tar, n_non) <= FEW_TRIALS:
        return
    error = math.sqrt((n_tar + n_non + 1) / (12.0 * n_tar * n_non))
    if (area := auc()) < 0.5 - _STANDARD_ERRORS * error:
        message = (
            f"The area under the ROC is {area:.3g}, so higher scores speak against targets. "
            "Are targets and non-targets swapped, or the scores distances? Then take -scores."
        )
        warn_caller(message, SuspectScoresWarning)


def warn_of_negative(scale: float) -> None:
    """Warn of a map that was trained to fall as the scores rise."""
    message = (
        f"The scale is negative ({scale:.4g}), so higher scores speak "
        "against targets. Are targets and non-targets swapped, or the scores distances?"
    )
    warn_caller(message, SuspectScoresWarning)


def warn_of_inverted(separation: FloatArray, n_smaller: int) -> None:
    """Warn of systems whose targets have far lower scores than the non-targets."""
    # `separation` is in standard deviations, both classes counting the same; measures of quality,
    # which tell little of the class, stay below the limit.
    found = np.flatnonzero(separation < -_FAR_BELOW) + 1
    if found.size and n_smaller > FEW_TRIALS:
        message = (
            f"Higher scores of system {' and '.join(map(str, found))} speak against targets. "
            "Are targets and non-targets swapped, or the scores distances?"
        )
        warn_caller(message, SuspectScoresWarning)


def warn_unless_llrs(
    within: Callable[[float, float], bool],
    cllr: Callable[[], float],
    hull: Callable[[], ROCCH],
    n_smaller: int,
) -> None:
    """Warn if scores are not llrs: too good for their range, of one sign, or worse than none."""
    # `within` says whether all lie in a range. Margins are 3 standard errors of an error-rate of
    # `n_smaller` trials, or half of Cllr; llrs stay below.
    if n_smaller <= FEW_TRIALS or (bits := cllr()) < _LOWEST_BITS:
        return
    reason = ""
    one_sign = within(0.0, math.inf) or within(-math.inf, 0.0)
    if one_sign or within(-1.0, 1.0):
        # At prior 0.5 llrs of one sign decide always alike, which makes half of the errors.
        least = 0.5 if one_sign else _LOWEST_ERROR
        margin = _STANDARD_ERRORS * math.sqrt(least * (1.0 - least) / n_smaller)
        if float(hull().min_dcf(0.5)) < least - margin:
            where = "have one sign" if one_sign else "lie between -1 and 1"
            reason = f"all {where}, but they tell the classes apart better than such llrs can"
    # Infinite: a hard decision that is wrong, such as of a PAV map, which are llrs all the same.
    elif 1.0 < bits < math.inf and (lowest := hull().min_cllr) < min(bits / 2.0, _USEFUL):
        # That of calibrated llrs is at most 1, up to chance, and minCllr little less than it.
        reason = f"Cllr is {bits:.3g}, where 0 for each has 1, and calibration leaves {lowest:.3g}"
    if reason:
        finding = f"These scores are no log-likelihood-ratios: {reason}."
        advice = (
            "Calibrate them first, for instance with LinearCalibration.fit, or evaluate them by "
            "eer, min_dcf and min_cllr."
        )
        warn_caller(finding, SuspectScoresWarning, advice)


def all_within(low: float, high: float, *lists: FloatArray) -> bool:
    """Tell whether all scores lie in a range, but for a few that are infinite."""
    # Mostly the first few show that some do not.
    first = (score for scores in lists for score in scores[:8].tolist())
    return all(low <= score <= high or math.isinf(score) for score in first) and all(
        some.min() >= low and some.max() <= high for some in map(_mostly_finite, lists) if some.size
    )


def _mostly_finite(scores: FloatArray) -> FloatArray:
    """Return the finite scores of a list, or all where many are infinite."""
    # Given that it is finite, an llr changes by the log-ratio of the shares of finite ones: little.
    if math.isfinite(scores.min(initial=0.0)) and math.isfinite(scores.max(initial=0.0)):
        return scores
    finite = scores[np.isfinite(scores)]
    return finite if finite.size >= _MOSTLY * scores.size else scores


EERDefinition: TypeAlias = Literal["rocch", "interpolated", "step"]

# Misses and false alarms of one point of a curve: int where weights are whole.
_Point: TypeAlias = tuple[float, float]


class _Steps(NamedTuple):
    """The points of a steppy ROC at which it has come down, each with the fewest misses.

    `at` says which target score is the threshold; the first of all is always there. The counts
    have one entry more: last those where everything is rejected.
    """

    at: IndexArray
    misses: Weights
    false_alarms: Weights


@attrs.frozen(eq=False, repr=False)
class ROC:
    """How much weight of each class lies at and between the distinct target scores.

    Make one with `from_scores`. All arrays are read-only.

    Parameters
    ----------
    target_scores : (k,) ndarray of float64
        The distinct target scores, ascending.
    tar_at : (k,) ndarray of int64 or float64
        Target weight at each of them.
    non_at : (k,) ndarray of int64 or float64
        Non-target weight tied with each of them.
    non_between : (k + 1,) ndarray of int64 or float64
        Non-target weight strictly between them: below the first, in each gap, above the last.

    Notes
    -----
    Counts of two parts of a data set add if both were taken at the same target
    scores: ``roc_a + roc_b``, see `at_target_scores`. Weights are int64 where
    all trials weigh whole numbers, so sums and the hull are then exact.

    Examples
    --------
    >>> roc = ROC.from_scores([1.0, 3.0], [0.0, 2.0])
    >>> roc.pmiss.tolist(), roc.pfa.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [1.0, 0.5, 0.5, 0.0, 0.0])
    >>> roc.threshold_at(pmiss=0.0)
    Threshold(1.0, pmiss=0, pfa=0.5)
    """

    target_scores: Float64Array = attrs.field(converter=read_only)
    tar_at: Weights = attrs.field(converter=read_only)
    non_at: Weights = attrs.field(converter=read_only)
    non_between: Weights = attrs.field(converter=read_only)

    __reduce__ = by_constructor

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

        Notes
        -----
        Both classes are sorted. The curve takes O(T) memory, however many the non-targets are.
        """
        return cls.from_sorted(*counts.sort_classes(tar, non, tar_weights, non_weights))

    @classmethod
    def from_sorted(cls, tar: counts.SortedScores, non: counts.SortedScores) -> "ROC":
        """Count the trials of two classes that are sorted already.

        Parameters
        ----------
        tar, non : SortedScores
            Scores of the two classes.

        Returns
        -------
        ROC
        """
        target_scores, tar_at = counts.distinct_scores(tar)
        return cls(target_scores, tar_at, *counts.count_sorted(target_scores, non))

    @classmethod
    def at_target_scores(
        cls,
        target_scores: ArrayLike,
        tar: ArrayLike,
        non: ArrayLike,
        *,
        tar_weights: Weighting = None,
        non_weights: Weighting = None,
    ) -> "ROC":
        """Count a part of the trials at target scores that are known beforehand.

        ROCs of several parts, counted at the same scores, add up to the ROC of the whole.

        Parameters
        ----------
        target_scores : (k,) array_like of float
            The distinct target scores of the whole, ascending.
        tar, non : array_like of float
            Scores of this part, either may be empty. Each target score must be among
            `target_scores`.
        tar_weights, non_weights : array_like of float, optional
            Trial weights, as in `from_scores`.

        Returns
        -------
        ROC
        """
        scores = np.array(target_scores, dtype=np.float64)
        ascends = scores.ndim == 1 and scores.size and np.all(scores[1:] > scores[:-1])
        if not ascends or np.isnan(scores[0]):
            expected = "be one-dimensional, not empty and strictly ascending"
            raise check.invalid("target_scores", expected, check.describe(scores))
        tar_at, elsewhere = _count_part(scores, tar, tar_weights, "tar")
        if elsewhere.any():
            expected = "hold only scores that are among `target_scores`"
            raise check.invalid("tar", expected, f"{int(np.count_nonzero(elsewhere))} others")
        return cls(mark_read_only(scores), tar_at, *_count_part(scores, non, non_weights, "non"))

    def __add__(self, other: "ROC") -> "ROC":
        """Add the counts of another part of the trials, taken at the same target scores."""
        if not isinstance(other, ROC):
            return NotImplemented
        if not np.array_equal(self.target_scores, other.target_scores):
            expected = "be counted at the same target scores"
            got = f"{other.target_scores.size} scores where {self.target_scores.size} are expected"
            if other.target_scores.size == self.target_scores.size:
                got = "other scores"
            raise check.invalid("other", expected, got, "See ROC.at_target_scores.")
        return ROC(
            self.target_scores,
            mark_read_only(self.tar_at + other.tar_at),
            mark_read_only(self.non_at + other.non_at),
            mark_read_only(self.non_between + other.non_between),
        )

    def weighted(self, tar_factor: float, non_factor: float) -> "ROC":
        r"""Multiply the weight of each class by a factor.

        What pools conditions: the sum of their ROCs, counted at the same scores, each weighted by
        its share over its own number of trials.

        Parameters
        ----------
        tar_factor, non_factor : float
            Positive and finite; 0 too, for a condition that does not take part in this class. Whole
            factors keep whole counts.

        Returns
        -------
        ROC

        Notes
        -----
        Van Leeuwen (2008), equation (12): factors :math:`w_\alpha / N_\alpha`
        make the average of the conditions' error-rates at every threshold,
        equations (3) and (4).

        Examples
        --------
        >>> scores = [1.0, 2.0, 3.0]
        >>> men = ROC.at_target_scores(scores, [1.0, 3.0], [0.0])
        >>> women = ROC.at_target_scores(scores, [2.0], [0.0, 2.5, 1.5, -1.0])
        >>> pooled = men.weighted(0.5 / 2, 0.5 / 1) + women.weighted(0.5 / 1, 0.5 / 4)
        >>> pooled.threshold_at(pmiss=0.3)
        Threshold(2.0, pmiss=0.25, pfa=0.125)
        """
        of_tar = check.as_nonnegative(tar_factor, "tar_factor")
        of_non = check.as_nonnegative(non_factor, "non_factor")
        return ROC(
            self.target_scores,
            _scaled(self.tar_at, of_tar),
            _scaled(self.non_at, of_non),
            _scaled(self.non_between, of_non),
        )

    def __repr__(self) -> str:
        """Say how much weight there is and how finely the targets divide it."""
        return (
            f"ROC: {self.tar_total:g} targets, {self.non_total:g} non-targets, "
            f"{self.target_scores.size} distinct target scores"
        )

    @property
    def tar_total(self) -> int | float:
        """Total target weight; the number of targets if unweighted."""
        total: int | float = self._steps.misses[-1].item()
        return total

    @functools.cached_property
    def non_total(self) -> int | float:
        """Total non-target weight; the number of non-targets if unweighted."""
        total: int | float = (self._steps.false_alarms[0] + self.non_between[0]).item()
        return total

    @functools.cached_property
    def _steps(self) -> _Steps:
        """The points at which the curve has come down since the target score before."""
        # All others have as many false alarms as one of these and no fewer misses.
        # Of many targets among few non-targets, these are few.
        rejected = self.non_at + self.non_between[1:]
        fell = (rejected[:-1] > 0).nonzero()[0]
        index = np.zeros(fell.size + 1, dtype=np.intp)
        np.add(fell, 1, out=index[1:])
        # Only the last target score before a step can be tied with non-targets.
        drops = np.empty(index.size, dtype=rejected.dtype)
        drops[:-1], drops[-1] = rejected.take(fell), rejected[-1]
        # Summed from the top, so that small rates are sums of few weights.
        false_alarms = np.zeros(index.size + 1, dtype=drops.dtype)
        false_alarms[-2::-1] = counts.running_sum(drops[::-1])
        misses = np.zeros(index.size + 1, dtype=self.tar_at.dtype)
        if self.tar_at.strides == (0,) and misses.dtype == np.int64:
            # One number serves all target scores.
            misses[:-1], misses[-1] = index, self.tar_at.size
            misses *= self.tar_at[0]
        else:
            misses[1:] = counts.running_sum(np.add.reduceat(self.tar_at, index))
        return _Steps(index, mark_read_only(misses), mark_read_only(false_alarms))

    @property
    def _counted(self) -> "ROC":
        """The same curve without target scores that have no weight."""
        present = self.tar_at > 0
        if present.all() or not present.any():
            return self
        kept = np.flatnonzero(present)
        # Entries as in `counts`; what was tied with such a score falls into the gap around it.
        others = np.zeros(2 * self.non_at.size + 1, dtype=self.non_between.dtype)
        others[::2], others[1::2] = self.non_between, self.non_at
        others[2 * kept + 1] = 0
        merged = np.add.reduceat(others, np.append(0, 2 * kept + 1))
        arrays = (self.target_scores[kept], self.tar_at[kept], self.non_at[kept], merged)
        return ROC(*map(mark_read_only, arrays))

    @functools.cached_property
    def _vertices(self) -> tuple[Float64Array, Weights, Weights]:
        """Thresholds, misses and false alarms at the corners of the steppy ROC."""
        counted = self._counted
        if counted is not self:
            return counted._vertices
        # Corners can be at steps, before ties, and after target scores with a gap
        # of non-targets above them; all others lie within a vertical run.
        index, misses, false_alarms = self._steps
        last = np.append(index[1:], self.tar_at.size) - 1
        tied = np.flatnonzero((self.non_at[last] > 0) & (last != index))
        lower = np.flatnonzero(self.non_between[last + 1] > 0)
        positions = (3 * np.arange(index.size), 3 * tied + 1, 3 * lower + 2)
        order = np.argsort(np.concatenate(positions), kind="stable")

        def chain(start: float, inner: tuple[Weights, ...], end: float) -> Weights:
            return np.concatenate(([start], np.concatenate(inner)[order], [end]))

        scores, at_tie, at_gap = self.target_scores, last[tied], last[lower]
        # The next float up rejects the target and keeps everything above it.
        with np.errstate(over="ignore"):
            just_above = np.nextafter(scores[at_gap], np.inf)
        thresholds = chain(-np.inf, (scores[index], scores[at_tie], just_above), np.inf)
        before_tie = np.maximum(misses[tied + 1] - self.tar_at[at_tie], misses[tied])
        missed = chain(0, (misses[:-1], before_tie, misses[lower + 1]), misses[-1])
        # Rounding must neither lift the curve nor lower it where nothing is tied.
        before_gap = np.where(
            self.non_at[at_gap] > 0,
            np.minimum(self.non_between[at_gap + 1] + false_alarms[lower + 1], false_alarms[lower]),
            false_alarms[lower],
        )
        inner = (false_alarms[:-1], false_alarms[tied], before_gap)
        accepted = chain(false_alarms[0] + self.non_between[0], inner, 0)
        corner = _corners(missed, accepted)
        return (
            mark_read_only(thresholds[corner]),
            mark_read_only(missed[corner]),
            mark_read_only(accepted[corner]),
        )

    @property
    def thresholds(self) -> Float64Array:
        """Threshold of each vertex, ascending: accept iff score >= threshold.

        The first is -inf, the last inf, which stands for "reject everything", scores of inf
        included.
        """
        return self._vertices[0]

    @functools.cached_property
    def pmiss(self) -> Float64Array:
        """Miss rate at each vertex of the steppy ROC, rising from 0 to 1.

        Only corners are kept: no vertex lies inside a horizontal or vertical run. A group of equal
        scores from both classes makes one slanted step.
        """
        return mark_read_only(self._vertices[1] / self.tar_total)

    @functools.cached_property
    def pfa(self) -> Float64Array:
        """False-alarm rate at each vertex of the steppy ROC, falling from 1 to 0."""
        return mark_read_only(self._vertices[2] / self.non_total)

    @functools.cached_property
    def _hull(self) -> "ROCCH":
        # For a given number of misses the threshold at the next target score
        # has the fewest false alarms, so only those points can be vertices.
        index, misses, false_alarms = self._steps
        misses = np.concatenate((misses[:1], misses))
        rising = np.empty(misses.size, dtype=false_alarms.dtype)
        rising[0], rising[1:] = false_alarms[0] + self.non_between[0], false_alarms
        false_alarms = rising
        vertices = hull_indices(misses, false_alarms)
        thresholds = np.empty(vertices.size)
        thresholds[0], thresholds[-1] = -np.inf, np.inf
        thresholds[1:-1] = self.target_scores[index[vertices[1:-1] - 1]]
        return ROCCH(*map(mark_read_only, (thresholds, misses[vertices], false_alarms[vertices])))

    def convex_hull(self) -> "ROCCH":
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
        return self._hull

    @functools.cached_property
    def auc(self) -> float:
        """Area under the ROC: P(tar > non) + P(tar = non) / 2; 1 perfect, 0.5 useless.

        The Mann-Whitney statistic over all pairs of a target and a non-target. The toolkit's
        ``area_under_rocch.m`` is 1 minus the area under the hull.
        """
        _, misses, false_alarms = self._steps
        below = self.non_total - false_alarms[:-1]
        wins = np.dot((misses[1:] - misses[:-1]).astype(np.float64), below.astype(np.float64))
        tied = self.non_at.nonzero()[0]
        ties = np.dot(self.tar_at[tied].astype(np.float64), self.non_at[tied].astype(np.float64))
        return float((wins + 0.5 * ties) / (float(self.tar_total) * float(self.non_total)))

    def equal_error_rate(self, definition: EERDefinition = "rocch") -> float:
        """Return the equal error rate by one of its definitions; see `bosaris_py.eer`.

        Parameters
        ----------
        definition : {"rocch", "interpolated", "step"}, default: "rocch"
            On the convex hull, on the steppy ROC by linear interpolation, or the step of it at
            which the two error-rates are nearest.

        Returns
        -------
        float
            A fraction in [0, 1]; on the convex hull in [0, 0.5].

        Examples
        --------
        >>> roc = ROC.from_scores([1.0, 3.0, 4.0], [0.0, 2.0])
        >>> for name in ("rocch", "interpolated", "step"):
        ...     print(name, round(roc.equal_error_rate(name), 4))
        rocch 0.2
        interpolated 0.3333
        step 0.4167
        """
        check.check_choice(definition, EERDefinition, "definition")
        if definition == "rocch":
            return self._hull.eer
        # Along the steppy ROC pmiss - pfa rises from -1 to 1, strictly on every edge, so one
        # edge crosses zero. Tools differ in the number that they make of it: footnote 5 of [1].
        edge = self._crossing_edge()
        return self._interpolated(*edge) if definition == "interpolated" else self._nearest(*edge)

    def _crossing_edge(self) -> tuple[_Point, _Point]:
        """Return the ends of the edge of the steppy ROC on which pmiss - pfa changes its sign.

        At the start the false-alarm rate is higher, at the end the miss rate is at least as high.
        """
        index, misses, false_alarms = self._steps

        def point(step: int) -> _Point:
            return misses[step].item(), false_alarms[step].item()

        def crossed(point: _Point) -> bool:
            return bool(point[0] * self.non_total >= point[1] * self.tar_total)

        step = bisect.bisect_left(range(index.size), x=True, key=lambda step: crossed(point(step)))
        if step == 0:
            return (0, self.non_total), point(0)
        last = (index[step] if step < index.size else self.tar_at.size) - 1
        at, tied = self.tar_at[last].item(), self.non_at[last].item()
        # Targets alone, then those of the last score with their ties, then the gap above.
        start, end = point(step - 1), point(step)
        corners = [(end[0], start[1])]
        if tied:
            gap = self.non_between[last + 1].item()
            corners = [(end[0] - at, start[1]), (end[0], min(end[1] + gap, start[1]))]
        for corner in corners:
            if crossed(corner):
                return start, corner
            start = corner
        return start, end

    def _interpolated(self, start: _Point, end: _Point) -> float:
        """Return the rate where the straight edge meets pmiss = pfa."""
        (m0, f0), (m1, f1) = start, end
        # On a run of one class the other's rate is the answer, without rounding.
        if m0 == m1:
            return float(m0 / self.tar_total)
        if f0 == f1:
            return float(f0 / self.non_total)
        # Without rounding where counts are whole, up to the division.
        value = m0 * (f0 - f1) + f0 * (m1 - m0)
        return float(value / ((m1 - m0) * self.non_total + (f0 - f1) * self.tar_total))

    def _nearest(self, start: _Point, end: _Point) -> float:
        """Return the mean of both rates at the step of an edge with the smallest difference.

        Of two steps as near, the one with lower rates.
        """
        tar_total, non_total = self.tar_total, self.non_total
        (m0, f0), (m1, f1) = start, end
        points = [start, end]
        if m0 == m1:
            points += [(m0, f) for f in _steps_of_run(m0, tar_total, non_total, f1, f0)]
        elif f0 == f1:
            points += [(m, f0) for m in _steps_of_run(f0, non_total, tar_total, m0, m1)]

        def distance(point: _Point) -> _Point:
            # Whole numbers are compared without rounding.
            missed, accepted = point[0] * non_total, point[1] * tar_total
            return abs(missed - accepted), missed + accepted

        m, f = min(points, key=distance)
        return float(m / tar_total + f / non_total) / 2.0

    @functools.cached_property
    def eer_threshold(self) -> Threshold:
        """The threshold at which the larger of the two error-rates is smallest.

        The ROCCH-EER itself mixes two thresholds, so no single one attains it in general; the rates
        attached are those that hold at this one. Of several such thresholds, the one with the
        smaller sum of rates.
        """
        counted = self._counted
        if counted is not self:
            return counted.eer_threshold
        pmiss = self._steps.misses / self.tar_total
        pfa = self._steps.false_alarms / self.non_total
        worse = np.maximum(pmiss, pfa)
        best = np.flatnonzero(worse == worse.min())
        return self._threshold_of(int(best[np.argmin((pmiss + pfa)[best])]))

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
        index, misses, false_alarms = self._steps
        if pfa is not None:
            allowed = false_alarms / self.non_total <= _as_rate(pfa, "pfa")
            return self._threshold_of(int(np.argmax(allowed)))
        limit = _as_rate(pmiss, "pmiss")
        if limit == 1.0 and false_alarms[-2] > 0:
            return self._threshold_of(index.size)
        step = int(np.flatnonzero(misses[:-1] / self.tar_total <= limit)[-1])
        # Up to the next step misses rise and false alarms stay.
        until = index[step + 1] if step + 1 < index.size else self.target_scores.size
        rising = misses[step] + np.cumsum(self.tar_at[index[step] : until - 1])
        rates = np.append(misses[step], rising) / self.tar_total
        furthest = int(np.flatnonzero(rates <= limit)[-1])
        score = self.target_scores[index[step] + furthest]
        return Threshold(score, rates[furthest], false_alarms[step] / self.non_total)

    def _threshold_of(self, step: int) -> Threshold:
        """Return the threshold of a step; inf past the last."""
        index, misses, false_alarms = self._steps
        if step == index.size:
            return Threshold(np.inf, 1.0, 0.0)
        rates = misses[step] / self.tar_total, false_alarms[step] / self.non_total
        return Threshold(self.target_scores[index[step]], *rates)


def _as_rate(value: float | None, name: str) -> float:
    hint = "Percentages must be divided by 100."
    return check.as_number(value, name, "lie in [0, 1]", lambda rate: 0.0 <= rate <= 1.0, hint)


def _count_part(
    target_scores: Float64Array, scores: ArrayLike, weights: Weighting, name: str
) -> tuple[Weights, Weights]:
    """Count a part of the trials at and between target scores; it may be empty."""
    # Trials without weight do not count.
    if np.size(scores) > 0 and (weights is None or bool(np.any(weights))):
        return counts.count_between(target_scores, *counts.as_trials(scores, weights, name))
    nothing = mark_read_only(np.zeros(1, dtype=np.int64))
    between = np.broadcast_to(nothing, target_scores.size + 1)
    return np.broadcast_to(nothing, target_scores.shape), between


def _scaled(weights: Weights, factor: float) -> Weights:
    """Return weights times a factor, still whole if both are."""
    if factor == 1:
        return weights
    # Sums of whole weights stay exact up to 2**53, in float64 as well as in int64.
    whole = weights.dtype == np.int64 and factor.is_integer()
    exact = whole and max(weights.sum().item(), 1) * int(factor) <= 2**53
    return mark_read_only(weights * (int(factor) if exact else factor))


def _corners(misses: Weights, false_alarms: Weights) -> IndexArray:
    """Return the indices of the corners of a staircase, both ends included.

    Of equal points the last is kept (its threshold is a score, not a neighbouring float), but the
    first point of all stays the first.
    """
    moved = (np.diff(misses) != 0) | (np.diff(false_alarms) != 0)
    kept = np.flatnonzero(np.concatenate((moved, [True])))
    kept[0] = 0
    flat = np.diff(misses[kept]) == 0
    steep = np.diff(false_alarms[kept]) == 0
    straight = (flat[:-1] & flat[1:]) | (steep[:-1] & steep[1:])
    return kept.compress(np.concatenate(([True], ~straight, [True])))


def _steps_of_run(
    fixed: float, fixed_total: float, total: float, low: float, high: float
) -> list[float]:
    """Return the steps of a run of one class on both sides of the other's fixed rate."""
    # Each trial is a step where counts are whole. Where trials have fractional weights, how
    # a run divides into steps is not known, and they are taken to be as small as one likes.
    if isinstance(low, int) and isinstance(high, int):
        # Exact where all is whole; one step more on each side where `fixed` is not.
        nearest = int(fixed * total // fixed_total)
        steps: list[float] = [nearest, nearest + 1]
    else:
        steps = [fixed / fixed_total * total]
    return [min(max(step, low), high) for step in steps]


def hull_of(
    tar: ArrayLike,
    non: ArrayLike,
    tar_weights: Weighting = None,
    non_weights: Weighting = None,
    *,
    warn: bool = True,
) -> ROCCH:
    """Return the convex hull of two lists of scores; inverted ones are warned of if `warn`.

    Its rates hold at its thresholds. Where targets are many these lie beside non-target scores.
    """
    tar, non = check.as_score_lists(tar, non, tar_weights, non_weights)
    # A ROC has an entry for each target score. With classes swapped and scores negated the hull
    # is the same, mirrored.
    is_mirrored = tar.size > 2 * non.size > 0
    if is_mirrored:
        roc = ROC.from_scores(-non, -tar, tar_weights=non_weights, non_weights=tar_weights)
    else:
        roc = ROC.from_scores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    hull = roc.convex_hull()
    # A point with low rates tells as much as the EER, in less time.
    low = hull.misses.searchsorted(_SURE_EER * hull.tar_total, side="right") - 1
    if warn and hull.false_alarms[low] > _SURE_EER * hull.non_total:
        warn_if_inverted(hull.eer, lambda: roc.auc, tar.size, non.size)
    if not is_mirrored:
        return hull
    # Scores up to a threshold were accepted there, negated; here they are rejected.
    with np.errstate(over="ignore"):
        thresholds = np.nextafter(-hull.thresholds[::-1], np.inf)
    thresholds[0], thresholds[-1] = -np.inf, np.inf
    return ROCCH(mark_read_only(thresholds), hull.false_alarms[::-1], hull.misses[::-1])


def _look_inverted(tar: FloatArray, non: FloatArray) -> bool:
    """Tell whether the mean of some targets lies far below that of some non-targets."""
    if min(tar.size, non.size) <= FEW_TRIALS:
        return False
    some = tar[:: tar.size // _SAMPLE + 1], non[:: non.size // _SAMPLE + 1]
    with np.errstate(invalid="ignore", over="ignore"):
        # That of means, which numpy takes three times as long for.
        gap = float(np.add.reduce(some[1]) / some[1].size - np.add.reduce(some[0]) / some[0].size)
        # Infinite scores make it NaN, and leave the question open.
        # A power would raise if it overflows.
        return gap > 0.0 and gap * gap > _STANDARD_ERRORS**2 * sum(
            float(scores.var()) / scores.size for scores in some
        )


def _sampled_cllr(tar: FloatArray, non: FloatArray, most: float) -> float:
    """Return Cllr of a sample, but no more than `most`; a few infinite scores do not count."""
    costs = (
        np.logaddexp(0.0, sign * _mostly_finite(scores[:: scores.size // _SAMPLE_OF_COSTS + 1]))
        for sign, scores in ((-1.0, tar), (1.0, non))
    )
    return min(most, float(sum(cost.mean() for cost in costs)) / math.log(4.0))


def check_llrs(
    tar: FloatArray,
    non: FloatArray,
    tar_weights: Weighting = None,
    non_weights: Weighting = None,
    bits: float | None = None,
) -> None:
    """Warn if two lists of scores, whose Cllr may be known, are inverted or can be no llrs."""
    if _look_inverted(tar, non):
        # Sorted only now, and warned of once.
        hull_of(tar, non, tar_weights, non_weights)
        return
    # What is known of a sample without its weights is whether it has any cost to speak of.
    most = math.inf if tar_weights is None and non_weights is None else 1.0
    warn_unless_llrs(
        lambda low, high: all_within(low, high, tar, non),
        lambda: (
            _sampled_cllr(tar, non, most) if bits is None or math.isinf(bits) else min(bits, most)
        ),
        lambda: hull_of(tar, non, tar_weights, non_weights),
        min(tar.size, non.size),
    )
