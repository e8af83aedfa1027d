r"""The ROC, its convex hull, and every metric that depends on ranks alone.

`ROC` keeps, for each distinct target score, how much weight of each class
lies there, and how much non-target weight lies in the gap below it. That
decides the ROC and DET curves, the convex hull, the equal error rate and its
relatives, the minimum DCF at any prior, the optimal (PAV) calibration and the
area under the curve. It takes memory in proportion to the number of targets,
however many non-targets there are, and the counts of two blocks of trials add.

Decision rule: accept iff score >= threshold. Of two equal scores of different
classes neither ranks higher; they enter together, as one step of the curve.

References
----------
.. [1] N. Brummer and E. de Villiers, "The BOSARIS Toolkit: Theory, Algorithms
   and Code for Surviving the New DCF", 2011, arXiv:1304.2865.
.. [2] T. Fawcett and A. Niculescu-Mizil, "PAV and the ROC convex hull",
   Machine Learning 68, 2007, doi:10.1007/s10994-007-5011-0.
"""

import bisect
import functools
import math
from typing import Any, cast

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import (
    FloatArray,
    by_constructor,
    describe,
    frozen,
    invalid,
    read_only,
)
from bosaris_py.numerics.eer_definitions import Crossing, EERDefinition, check_eer_definition
from bosaris_py.numerics.priors import DecisionCosts, PriorLike
from bosaris_py.numerics.sorted_scores import SortedScores, Weights, sort_classes

__all__ = ["ROC", "ROCCH", "EERDefinition", "Threshold", "auc", "eer", "min_dcf", "prbep"]

Float64Array = npt.NDArray[np.float64]

# Products of two differences of counts stay below 2**63 up to this bound.
_EXACT_PRODUCT = 2**62


class Threshold(float):
    """A decision threshold that knows the error-rates that hold at it.

    It is a float, so it compares with scores as any number does.

    Parameters
    ----------
    value : float
        Accept iff score >= value; inf means that everything is rejected.
    pmiss, pfa : float
        Miss and false-alarm rate at this threshold, in [0, 1].

    Examples
    --------
    >>> threshold = Threshold(2.5, pmiss=0.1, pfa=0.02)
    >>> threshold
    Threshold(2.5, pmiss=0.1, pfa=0.02)
    >>> 3.0 >= threshold
    True
    """

    __slots__ = ("_pfa", "_pmiss")

    _pmiss: float
    _pfa: float

    def __new__(cls, value: float, pmiss: float, pfa: float) -> "Threshold":
        """Make the float and attach the two rates."""
        threshold = super().__new__(cls, value)
        threshold._pmiss = float(pmiss)
        threshold._pfa = float(pfa)
        return threshold

    @property
    def pmiss(self) -> float:
        """Miss rate at this threshold."""
        return self._pmiss

    @property
    def pfa(self) -> float:
        """False-alarm rate at this threshold."""
        return self._pfa

    def __repr__(self) -> str:
        """Show the value and both rates."""
        return f"Threshold({float(self)!r}, pmiss={self.pmiss:g}, pfa={self.pfa:g})"

    def __getnewargs__(self) -> tuple[float, float, float]:  # type: ignore[override]
        """Keep the rates when pickled or copied."""
        return float(self), self.pmiss, self.pfa


def _convex(x: Weights, y: Weights) -> npt.NDArray[np.bool_]:
    """Tell for each inner point if the chain turns strictly left there."""
    dx, dy = np.diff(x), np.diff(y)
    if dx.dtype == np.float64 or int(x[-1]) * int(y[0]) < _EXACT_PRODUCT:
        return dx[:-1] * dy[1:] > dy[:-1] * dx[1:]
    ahead = dx[:-1].astype(np.float64) * dy[1:]
    behind = dy[:-1].astype(np.float64) * dx[1:]
    turns = ahead > behind
    # Each product is right to 2 units of relative rounding (conversion
    # included); only where they are closer than that is the sign open.
    unsure = np.abs(ahead - behind) <= 2.0**-50 * (np.abs(ahead) + np.abs(behind))
    for i in np.flatnonzero(unsure).tolist():
        turns[i] = int(dx[i]) * int(dy[i + 1]) > int(dy[i]) * int(dx[i + 1])
    return turns


def _hull_indices(x: Weights, y: Weights) -> npt.NDArray[np.intp]:
    """Return the indices of the vertices of the lower left hull of a falling chain.

    `x` does not fall, `y` does not rise. Of equal points the first counts.
    With whole numbers the result is exact.

    A point on or above the chord of its two neighbours lies in the hull of the
    others, so all such points can go at once, and again, until none is left.
    Each round removes about half of what the hull does not need; where that
    stalls (long smooth arcs that collapse from one end), a single scan with a
    stack finishes the job.
    """
    moved = (np.diff(x) != 0) | (np.diff(y) != 0)
    kept = np.flatnonzero(np.concatenate(([True], moved)))
    while kept.size > 2:
        turns = _convex(x[kept], y[kept])
        n_left = int(np.count_nonzero(turns)) + 2
        if n_left == kept.size:
            return kept
        stalled = n_left > 0.9 * kept.size
        kept = kept[np.concatenate(([True], turns, [True]))]
        if stalled:
            return kept[_scan_hull(x[kept].tolist(), y[kept].tolist())]
    return kept


def _scan_hull(x: list[Any], y: list[Any]) -> list[int]:
    """Return the hull's indices by one scan with a stack (Andrew's monotone chain)."""
    stack: list[int] = []
    for i in range(len(x)):
        while len(stack) > 1:
            a, b = stack[-2], stack[-1]
            if (x[b] - x[a]) * (y[i] - y[b]) > (y[b] - y[a]) * (x[i] - x[b]):
                break
            stack.pop()
        stack.append(i)
    return stack


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
        Non-target weight strictly between them: below the first, in each gap,
        above the last.

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

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call of the constructor, so that arrays stay read-only."""
        return by_constructor(self)

    @classmethod
    def from_scores(
        cls,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        *,
        tar_weights: npt.ArrayLike | None = None,
        non_weights: npt.ArrayLike | None = None,
    ) -> "ROC":
        """Count the trials of two lists of scores.

        Parameters
        ----------
        tar : (n_tar,) array_like of float
            Target scores; no NaN, +-inf allowed.
        non : (n_non,) array_like of float
            Non-target scores; no NaN, +-inf allowed.
        tar_weights : (n_tar,) array_like of float, optional
            Weight of each target trial, finite and not negative; one each by
            default.
        non_weights : (n_non,) array_like of float, optional
            Weight of each non-target trial.

        Returns
        -------
        ROC

        Raises
        ------
        InvalidInputError
            If a class is empty, a score is NaN, or a weight is bad.

        Notes
        -----
        Each class is sorted on its own, O(T log T + N log N) time; besides the
        sorted copy of the larger class, O(T) memory.
        """
        return cls.from_sorted(*sort_classes(tar, non, tar_weights, non_weights, "ROC"))

    @classmethod
    def from_sorted(cls, tar: SortedScores, non: SortedScores) -> "ROC":
        """Count the trials of two classes that are sorted already.

        Parameters
        ----------
        tar, non : SortedScores
            Scores of the two classes.

        Returns
        -------
        ROC
        """
        values, below = tar.distinct()
        target_scores = frozen(values.astype(np.float64))
        edges = tar.weight_of_first(np.append(below, tar.size))
        non_at, non_between = _count_between(target_scores, non)
        return cls(target_scores, frozen(np.diff(edges)), non_at, non_between)

    @classmethod
    def at_target_scores(
        cls,
        target_scores: npt.ArrayLike,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        *,
        tar_weights: npt.ArrayLike | None = None,
        non_weights: npt.ArrayLike | None = None,
    ) -> "ROC":
        """Count a part of the trials at target scores that are known beforehand.

        ROCs of several parts, counted at the same scores, add up to the ROC of
        the whole.

        Parameters
        ----------
        target_scores : (k,) array_like of float
            The distinct target scores of the whole, ascending.
        tar, non : array_like of float
            Scores of this part, either may be empty. Each target score must be
            among `target_scores`.
        tar_weights, non_weights : array_like of float, optional
            Trial weights, as in `from_scores`.

        Returns
        -------
        ROC

        Raises
        ------
        InvalidInputError
            If `target_scores` is not strictly ascending or lacks a score of
            `tar`; or as in `from_scores`.
        """
        owner = "ROC.at_target_scores"
        scores = np.array(target_scores, dtype=np.float64)
        if scores.ndim != 1 or scores.size == 0 or not np.all(scores[1:] > scores[:-1]):
            expected = "be one-dimensional, not empty and strictly ascending"
            raise invalid("target_scores", owner, expected, describe(scores))
        nothing = np.zeros(scores.size, dtype=np.int64)
        tar_at, non_at, non_between = nothing, nothing, np.zeros(scores.size + 1, dtype=np.int64)
        if _has_trials(tar, tar_weights):
            part = SortedScores.from_scores(tar, tar_weights, name="tar", owner=owner)
            tar_at, elsewhere = _count_between(scores, part)
            if elsewhere.any():
                expected = "hold only scores that are among `target_scores`"
                raise invalid("tar", owner, expected, f"{int(np.count_nonzero(elsewhere))} others")
        if _has_trials(non, non_weights):
            part = SortedScores.from_scores(non, non_weights, name="non", owner=owner)
            non_at, non_between = _count_between(scores, part)
        return cls(*(frozen(array) for array in (scores, tar_at, non_at, non_between)))

    def __add__(self, other: "ROC") -> "ROC":
        """Add the counts of another part of the trials, taken at the same target scores."""
        if not isinstance(other, ROC):
            return NotImplemented
        if not np.array_equal(self.target_scores, other.target_scores):
            expected = "be counted at the same target scores"
            got = f"{other.target_scores.size} scores where {self.target_scores.size} are expected"
            if other.target_scores.size == self.target_scores.size:
                got = "other scores"
            raise invalid("other", "ROC addition", expected, got, "See ROC.at_target_scores.")
        return ROC(
            self.target_scores,
            frozen(self.tar_at + other.tar_at),
            frozen(self.non_at + other.non_at),
            frozen(self.non_between + other.non_between),
        )

    def weighted(self, tar_factor: float, non_factor: float) -> "ROC":
        r"""Multiply the weight of each class by a factor.

        What pools conditions: the sum of their ROCs, counted at the same scores,
        each weighted by its share over its own number of trials.

        Parameters
        ----------
        tar_factor, non_factor : float
            Positive and finite; 0 too, for a condition that does not take part
            in this class. Whole factors keep whole counts.

        Returns
        -------
        ROC

        Raises
        ------
        InvalidInputError
            If a factor is negative, not finite or not a number.

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
        return ROC(
            self.target_scores,
            _scale(self.tar_at, _as_factor(tar_factor, "tar_factor")),
            _scale(self.non_at, _as_factor(non_factor, "non_factor")),
            _scale(self.non_between, _as_factor(non_factor, "non_factor")),
        )

    def __repr__(self) -> str:
        """Say how much weight there is and how finely the targets divide it."""
        n_scores = self.target_scores.size
        return (
            f"ROC: {self.tar_total:g} targets, {self.non_total:g} non-targets, "
            f"{n_scores} distinct target scores"
        )

    @functools.cached_property
    def tar_total(self) -> int | float:
        """Total target weight; the number of targets if unweighted."""
        return cast("int | float", self._misses[-1].item())

    @functools.cached_property
    def non_total(self) -> int | float:
        """Total non-target weight; the number of non-targets if unweighted."""
        return cast("int | float", (self._false_alarms[0] + self.non_between[0]).item())

    @functools.cached_property
    def _misses(self) -> Weights:
        """Target weight below each target score, and the total: (k + 1,)."""
        misses = np.zeros(self.tar_at.size + 1, dtype=self.tar_at.dtype)
        np.cumsum(self.tar_at, out=misses[1:])
        return frozen(misses)

    @functools.cached_property
    def _false_alarms(self) -> Weights:
        """Non-target weight at or above each target score: (k,).

        Summed from the top, so that the rate falls to exactly zero.
        """
        return frozen(np.cumsum((self.non_at + self.non_between[1:])[::-1])[::-1])

    @functools.cached_property
    def _vertices(self) -> tuple[Float64Array, Weights, Weights]:
        """Thresholds, misses and false alarms at the corners of the steppy ROC."""
        at, gap = self.non_at > 0, self.non_between > 0
        # Most scores of many targets lie within a vertical run; only the others,
        # and those of targets without weight, are looked at closely.
        before = gap[:-1] | at
        before[1:] |= at[:-1]
        after = gap[1:]
        weightless = self.tar_at == 0
        if weightless.any():
            before |= weightless
            before[1:] |= weightless[:-1]
            after = after | weightless
        i, j = np.flatnonzero(before), np.flatnonzero(after)
        # The point before target k is number 2 k + 1 of all candidates, the one after
        # it number 2 k + 2.
        order = np.argsort(np.concatenate((2 * i, 2 * j + 1)), kind="stable")
        # The next float up rejects the target and keeps everything above it.
        with np.errstate(over="ignore"):
            just_above = np.nextafter(self.target_scores[j], np.inf)
        above = np.append(self._false_alarms, 0)

        def chain(start: Any, inner: tuple[Weights, Weights], end: Any) -> Weights:
            return np.concatenate(([start], np.concatenate(inner)[order], [end]))

        thresholds = chain(-np.inf, (self.target_scores[i], just_above), np.inf)
        misses = chain(0, (self._misses[i], self._misses[j + 1]), self.tar_total)
        false_alarms = chain(self.non_total, (above[i], self.non_between[j + 1] + above[j + 1]), 0)
        corner = _corners(misses, false_alarms)
        return frozen(thresholds[corner]), frozen(misses[corner]), frozen(false_alarms[corner])

    @property
    def thresholds(self) -> Float64Array:
        """Threshold of each vertex, ascending: accept iff score >= threshold.

        The first is -inf, the last inf, which stands for "reject everything",
        scores of inf included.
        """
        return self._vertices[0]

    @functools.cached_property
    def pmiss(self) -> Float64Array:
        """Miss rate at each vertex of the steppy ROC, rising from 0 to 1.

        Only corners are kept: no vertex lies inside a horizontal or vertical
        run. A group of equal scores from both classes makes one slanted step.
        """
        return frozen(self._vertices[1] / self.tar_total)

    @functools.cached_property
    def pfa(self) -> Float64Array:
        """False-alarm rate at each vertex of the steppy ROC, falling from 1 to 0."""
        return frozen(self._vertices[2] / self.non_total)

    @functools.cached_property
    def _hull(self) -> "ROCCH":
        # For a given number of misses the threshold at the next target score
        # has the fewest false alarms, so only those points can be vertices.
        misses = np.concatenate((self._misses[:1], self._misses))
        false_alarms = np.empty(misses.size, dtype=self._false_alarms.dtype)
        false_alarms[0], false_alarms[1:-1], false_alarms[-1] = (
            self.non_total,
            self._false_alarms,
            0,
        )
        vertices = _hull_indices(misses, false_alarms)
        thresholds = np.concatenate(([-np.inf], self.target_scores, [np.inf]))
        return ROCCH(
            frozen(thresholds[vertices]), frozen(misses[vertices]), frozen(false_alarms[vertices])
        )

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

        The Mann-Whitney statistic over all pairs of a target and a non-target.
        The toolkit's ``area_under_rocch.m`` is 1 minus the area under the hull.
        """
        below = self.non_total - self._false_alarms
        wins = np.dot(self.tar_at.astype(np.float64), below + 0.5 * self.non_at)
        return float(wins / (float(self.tar_total) * float(self.non_total)))

    def equal_error_rate(self, definition: EERDefinition = "rocch") -> float:
        """Return the equal error rate by one of its definitions; see `bosaris_py.eer`.

        Parameters
        ----------
        definition : {"rocch", "interpolated", "step"}, default: "rocch"
            On the convex hull, on the steppy ROC by linear interpolation, or the
            step of it at which the two error-rates are nearest.

        Returns
        -------
        float
            A fraction in [0, 1]; on the convex hull in [0, 0.5].

        Raises
        ------
        InvalidInputError
            If there is no such definition.

        Examples
        --------
        >>> roc = ROC.from_scores([1.0, 3.0, 4.0], [0.0, 2.0])
        >>> for name in ("rocch", "interpolated", "step"):
        ...     print(name, round(roc.equal_error_rate(name), 4))
        rocch 0.2
        interpolated 0.3333
        step 0.4167
        """
        check_eer_definition(definition, "equal_error_rate")
        if definition == "rocch":
            return self._hull.eer
        crossing = self._crossing
        return crossing.interpolated() if definition == "interpolated" else crossing.nearest_step()

    @property
    def _crossing(self) -> Crossing:
        """The edge of the steppy ROC on which pmiss - pfa changes its sign."""
        n_scores, tar_total, non_total = self.target_scores.size, self.tar_total, self.non_total

        def accepted(i: int) -> Any:
            return self._false_alarms[i].item() if i < n_scores else 0

        def missed(i: int) -> Any:
            return self._misses[i].item() if i < n_scores else tar_total

        def crossed(misses: Any, false_alarms: Any) -> bool:
            return bool(misses * non_total >= false_alarms * tar_total)

        i = bisect.bisect_left(
            range(n_scores), x=True, key=lambda i: crossed(missed(i), accepted(i))
        )
        end = (missed(i), accepted(i))
        # Just above the target score below, before its gap of non-targets begins.
        corner = (missed(i), accepted(i) + self.non_between[i].item())
        if not crossed(*corner):
            return Crossing(corner, end, tar_total, non_total)
        if i == 0:
            # Only rounding leads here: accepting everything misses nothing.
            return Crossing((0, non_total), end, tar_total, non_total)
        return Crossing((missed(i - 1), accepted(i - 1)), corner, tar_total, non_total)

    @functools.cached_property
    def eer_threshold(self) -> Threshold:
        """The threshold at which the larger of the two error-rates is smallest.

        The ROCCH-EER itself mixes two thresholds, so no single one attains it
        in general; the rates attached are those that hold at this one. Of
        several such thresholds, the one with the smaller sum of rates.
        """
        pmiss = np.append(self._misses[:-1], self.tar_total) / self.tar_total
        pfa = np.append(self._false_alarms, 0) / self.non_total
        worse = np.maximum(pmiss, pfa)
        best = np.flatnonzero(worse == worse.min())
        return self._threshold(int(best[np.argmin((pmiss + pfa)[best])]))

    def threshold_at(self, *, pmiss: float | None = None, pfa: float | None = None) -> Threshold:
        """Find the best threshold that keeps one error-rate within a limit.

        Parameters
        ----------
        pmiss : float, optional
            Largest miss rate allowed, in [0, 1]. The highest threshold that
            keeps it is returned, so false alarms are fewest.
        pfa : float, optional
            Largest false-alarm rate allowed, in [0, 1]. Among the thresholds
            that keep it, one with the fewest misses is returned. Give exactly
            one of the two.

        Returns
        -------
        Threshold
            A float with attributes ``pmiss`` and ``pfa``, the rates that hold
            at it. It is a target score, or inf where everything must be
            rejected.

        Raises
        ------
        InvalidInputError
            If none or both limits are given, or one is outside [0, 1].

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
            raise invalid("pmiss or pfa", "threshold_at", "be given, exactly one of them", got)
        if pfa is not None:
            rates = np.append(self._false_alarms, 0) / self.non_total
            allowed = rates <= _as_rate(pfa, "pfa")
            return self._threshold(int(np.argmax(allowed)))
        rates = self._misses / self.tar_total
        allowed = rates <= _as_rate(pmiss, "pmiss")
        return self._threshold(int(np.flatnonzero(allowed)[-1]))

    def _threshold(self, index: int) -> Threshold:
        """Return the threshold at the target score of this index; inf past the last."""
        if index == self.target_scores.size:
            return Threshold(np.inf, 1.0, 0.0)
        pmiss = self._misses[index] / self.tar_total
        return Threshold(
            self.target_scores[index], pmiss, self._false_alarms[index] / self.non_total
        )


def _has_trials(scores: npt.ArrayLike, weights: npt.ArrayLike | None) -> bool:
    """Whether a part has trials; those without weight do not count."""
    return np.size(scores) > 0 and (weights is None or bool(np.any(weights)))


def _as_factor(value: float, name: str) -> int | float:
    try:
        factor = float(value)
    except (TypeError, ValueError):
        factor = math.nan
    if not (math.isfinite(factor) and factor >= 0.0):
        raise invalid(name, "ROC.weighted", "be finite and not negative", describe(value))
    return int(factor) if factor.is_integer() else factor


def _scale(weights: Weights, factor: int | float) -> Weights:
    if factor == 1:
        return weights
    # Sums of whole weights stay exact up to 2**53, in float64 as well as in int64.
    if isinstance(factor, int) and weights.dtype == np.int64 and weights.sum() * factor > 2**53:
        factor = float(factor)
    return frozen(weights * factor)


def _as_rate(value: float | None, name: str) -> float:
    try:
        rate = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise invalid(name, "threshold_at", "be a number", describe(value)) from None
    if not 0.0 <= rate <= 1.0:
        hint = "Percentages must be divided by 100." if rate > 1 else ""
        raise invalid(name, "threshold_at", "lie in [0, 1]", describe(value), hint)
    return rate


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
    return kept[np.concatenate(([True], ~straight, [True]))]


def _count_between(target_scores: Float64Array, part: SortedScores) -> tuple[Weights, Weights]:
    """Return the weight of `part` at each target score, and in the gaps around them."""
    if part.size < target_scores.size // 4:
        lower, upper = _ranks_by_bins(target_scores, part)
    else:
        lower = part.count_below(target_scores)
        upper = lower.copy()
        inside = np.flatnonzero(lower < part.size)
        tied = inside[part.values[lower[inside]] == target_scores[inside]]
        upper[tied] = part.count_up_to(target_scores[tied])
    below, up_to = part.weight_of_first(lower), part.weight_of_first(upper)
    between = np.append(below, part.total)
    between[1:] -= up_to
    return frozen(up_to - below), frozen(between)


def _ranks_by_bins(
    target_scores: Float64Array, part: SortedScores
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Count the scores below, and up to, each target score by searching the shorter list."""
    values = part.values.astype(np.float64, copy=False)
    n_bins = target_scores.size + 1
    # A score lies below target k iff at most k targets lie at or below it.
    at_or_below = np.searchsorted(target_scores, values, side="right")
    strictly_below = np.searchsorted(target_scores, values, side="left")
    lower = np.bincount(at_or_below, minlength=n_bins)[:-1].cumsum()
    upper = np.bincount(strictly_below, minlength=n_bins)[:-1].cumsum()
    return lower, upper


@attrs.frozen(eq=False, repr=False)
class ROCCH:
    """The ROC's convex hull: the ROC after optimal recalibration.

    Made by `ROC.convex_hull`. m + 1 vertices bound m edges; every trial
    belongs to one edge, and the slope of that edge is its optimal
    likelihood-ratio. All arrays are read-only.

    Parameters
    ----------
    thresholds : (m + 1,) ndarray of float64
        Threshold of each vertex, ascending: -inf, target scores, inf.
    misses : (m + 1,) ndarray of int64 or float64
        Target weight below each threshold, rising from 0 to the total.
    false_alarms : (m + 1,) ndarray of int64 or float64
        Non-target weight at or above each threshold, falling to 0.

    Examples
    --------
    >>> hull = ROC.from_scores([1.0, 3.0], [0.0, 2.0]).convex_hull()
    >>> hull.pfa.tolist(), hull.pmiss.tolist()
    ([1.0, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 1.0])
    >>> hull.eer
    0.25
    """

    thresholds: Float64Array = attrs.field(converter=read_only)
    misses: Weights = attrs.field(converter=read_only)
    false_alarms: Weights = attrs.field(converter=read_only)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call of the constructor, so that arrays stay read-only."""
        return by_constructor(self)

    def __repr__(self) -> str:
        """Say how many vertices there are."""
        return f"ROCCH: {self.thresholds.size} vertices, EER {self.eer:.4g}"

    @property
    def tar_total(self) -> int | float:
        """Total target weight."""
        return cast("int | float", self.misses[-1].item())

    @property
    def non_total(self) -> int | float:
        """Total non-target weight."""
        return cast("int | float", self.false_alarms[0].item())

    @functools.cached_property
    def pmiss(self) -> Float64Array:
        """Miss rate at each vertex, rising from 0 to 1."""
        return frozen(self.misses / self.tar_total)

    @functools.cached_property
    def pfa(self) -> Float64Array:
        """False-alarm rate at each vertex, falling from 1 to 0."""
        return frozen(self.false_alarms / self.non_total)

    @functools.cached_property
    def llr(self) -> Float64Array:
        """Optimal log-likelihood-ratio of each edge, ascending: (m,), natural log.

        The logarithm of the edge's target rate over its non-target rate; -inf
        or inf where an edge holds one class only.
        """
        targets = np.diff(self.misses) * float(self.non_total)
        others = (self.false_alarms[:-1] - self.false_alarms[1:]) * float(self.tar_total)
        with np.errstate(divide="ignore"):
            return frozen(np.log(targets / others))

    def llr_of(self, scores: FloatArray) -> Float64Array:
        """Return the optimal log-likelihood-ratio of each score, by its edge.

        Parameters
        ----------
        scores : ndarray of float
            Scores of trials.

        Returns
        -------
        ndarray of float64, like `scores`
            Natural-log likelihood-ratios.
        """
        edges = np.searchsorted(self.thresholds[1:-1], scores, side="right")
        return self.llr[edges]

    @functools.cached_property
    def eer(self) -> float:
        """Equal error rate: where pmiss equals pfa on the hull; a fraction in [0, 0.5].

        Theory paper, section 2.6.2, equation (26): the maximum over the prior
        of the minimum error-rate.
        """
        return self.unequal_error_rate(1.0)

    @functools.cached_property
    def prbep(self) -> float:
        """Precision-recall break-even point: as many misses as false alarms, on the hull.

        A weight sum rather than a count if trials are weighted. In general not
        a whole number, because the hull interpolates. Theory paper, section
        2.6.4, equation (29).
        """
        return self._crossing(1.0, 1.0)

    def unequal_error_rate(self, ratio: float) -> float:
        r"""Return the false-alarm rate where it is `ratio` times the miss rate.

        Parameters
        ----------
        ratio : float
            Quotient r = pfa / pmiss, positive and finite; 1 gives the EER.

        Returns
        -------
        float
            UER(r) = pfa = r pmiss, in [0, 1].

        Raises
        ------
        InvalidInputError
            If `ratio` is not positive and finite.

        Notes
        -----
        Equal to :math:`\max_\pi \mathrm{minDCF}(\pi, C_{miss}=r, C_{fa}=1)`:
        a tight upper bound of the cost at any prior. Theory paper, section
        2.6.3, equation (28).
        """
        try:
            r = float(ratio)
        except (TypeError, ValueError):
            r = np.nan
        if not (np.isfinite(r) and r > 0):
            expected = "be a positive, finite number"
            raise invalid("ratio", "unequal_error_rate", expected, describe(ratio))
        return self._crossing(r / self.tar_total, 1.0 / self.non_total)

    def _crossing(self, miss_scale: float, fa_scale: float) -> float:
        """Return the value where scaled misses equal scaled false alarms on the hull."""
        left = miss_scale * self.misses
        right = fa_scale * self.false_alarms
        j = int(np.argmax(left >= right))
        rise, fall = left[j] - left[j - 1], right[j - 1] - right[j]
        return float((left[j] * right[j - 1] - left[j - 1] * right[j]) / (rise + fall))

    def min_dcf(self, prior: PriorLike, *, normalize: bool = False) -> Any:
        """Return the minimum DCF at one or many operating points; see `bosaris_py.min_dcf`.

        Parameters
        ----------
        prior : float, (k,) array_like of float, OperatingPoint or sequence of them
            Target probabilities (unit costs) or operating points.
        normalize : bool, default: False
            Divide by the cost of the better decision made without a detector.

        Returns
        -------
        float or (k,) ndarray of float64
            Minimum DCF.
        """
        costs = DecisionCosts.from_prior(prior, "min_dcf")
        best = self.best_vertices(costs)
        return costs.cost(self.pmiss[best], self.pfa[best], normalize=normalize)

    def min_dcf_threshold(self, prior: PriorLike) -> Threshold:
        """Return the threshold of minimum DCF at one operating point, with its error-rates.

        Parameters
        ----------
        prior : float or OperatingPoint
            One target probability (unit costs) or operating point.

        Returns
        -------
        Threshold
            A target score, or -inf (accept all) or inf (reject all).

        Raises
        ------
        InvalidInputError
            If `prior` is not in (0, 1) or is more than one.
        """
        costs = DecisionCosts.from_prior(prior, "min_dcf_threshold")
        if costs.plo.ndim:
            expected = "be one probability or operating point"
            raise invalid("prior", "min_dcf_threshold", expected, f"{costs.plo.size} of them")
        best = int(self.best_vertices(costs))
        return Threshold(self.thresholds[best], self.pmiss[best], self.pfa[best])

    def best_vertices(self, costs: DecisionCosts) -> npt.NDArray[np.int64]:
        """Return the index of the cheapest vertex at each operating point.

        Parameters
        ----------
        costs : DecisionCosts
            The operating points.

        Returns
        -------
        ndarray of int64, shaped like the operating points
            Edges whose optimal likelihood-ratio is below the Bayes threshold
            are rejected; where two vertices cost the same, the one with fewer
            misses.
        """
        return np.asarray(np.searchsorted(self.llr, costs.thresholds, side="left"))

    @functools.cached_property
    def min_cllr(self) -> float:
        """Cllr after optimal recalibration, in bits; see `bosaris_py.min_cllr`."""
        targets = np.diff(self.misses) / self.tar_total
        others = (self.false_alarms[:-1] - self.false_alarms[1:]) / self.non_total
        has_tar, has_non = targets > 0, others > 0
        miss_bits = np.dot(targets[has_tar], np.logaddexp(0.0, -self.llr[has_tar]))
        fa_bits = np.dot(others[has_non], np.logaddexp(0.0, self.llr[has_non]))
        return float((miss_bits + fa_bits) / (2.0 * np.log(2.0)))


def _hull_of(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    tar_weights: npt.ArrayLike | None,
    non_weights: npt.ArrayLike | None,
    owner: str,
) -> ROCCH:
    return ROC.from_sorted(*sort_classes(tar, non, tar_weights, non_weights, owner)).convex_hull()


def eer(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    *,
    tar_weights: npt.ArrayLike | None = None,
    non_weights: npt.ArrayLike | None = None,
    definition: EERDefinition = "rocch",
) -> float:
    r"""Compute the equal error rate, by default on the ROC's convex hull.

    The largest Bayes error-rate that any prior can bring about with optimal
    thresholds; it does not depend on calibration.

    Parameters
    ----------
    tar : (n_tar,) array_like of float
        Target scores; no NaN, +-inf allowed.
    non : (n_non,) array_like of float
        Non-target scores; no NaN, +-inf allowed.
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.
    definition : {"rocch", "interpolated", "step"}, default: "rocch"
        Which number is meant; see the notes.

    Returns
    -------
    float
        A fraction: 0 for perfect, 0.5 for useless scores; for inverted scores
        0.5 on the convex hull, and up to 1 by the other definitions.

    Raises
    ------
    InvalidInputError
        If a class is empty, a score is NaN, a weight is bad, or there is no such
        definition.

    See Also
    --------
    bosaris_py.Results : Computes many metrics from one sort.

    Notes
    -----
    Where two tools disagree on the EER, they often mean different things (van
    Leeuwen 2008, footnote 5); for large sets the three are close.

    ``"rocch"``
        :math:`\max_\pi \min_\gamma \pi P_{miss}(\gamma) + (1-\pi) P_{fa}(\gamma)`,
        the point of the convex hull where the two rates are equal: theory paper,
        equation (26); the toolkit's ``eer.m``, PYLLR, ROCAnalysis.jl's ``eerch``.
        Never above the next.
    ``"interpolated"``
        Where straight lines between the points of the steppy ROC meet pmiss =
        pfa: NIST's scorer of SRE18 and later, and those who solve ``1 - x =
        tpr(x)`` with scikit-learn's ``roc_curve`` and scipy's ``brentq``.
    ``"step"``
        The mean of the two rates at the step of the ROC where they are nearest:
        the ASVspoof challenges. Equal scores of the two
        classes are one step here, whatever their order in the file; within a run
        of one class every trial is a step, every unit of weight if weights are
        whole. Fractional weights divide a run as finely as one likes. Of two
        steps as near, the one with the lower rates.

    All three are the same if the classes are swapped and the scores negated.

    Examples
    --------
    >>> eer([1.0, 3.0], [0.0, 2.0])
    0.25
    >>> eer([1.0, 3.0], [0.0, 2.0], definition="interpolated")
    0.5
    """
    check_eer_definition(definition, "eer")
    ordered = sort_classes(tar, non, tar_weights, non_weights, "eer")
    return ROC.from_sorted(*ordered).equal_error_rate(definition)


def prbep(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    *,
    tar_weights: npt.ArrayLike | None = None,
    non_weights: npt.ArrayLike | None = None,
) -> float:
    """Compute the precision-recall break-even point, as a number of errors.

    The point on the ROC's convex hull with as many misses as false alarms. If
    it is below about 30, error-rates near this point rest on few errors.

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
    float
        Number of misses (= number of false alarms), from 0 upwards; in general
        not whole. With weights, a sum of weights.

    Raises
    ------
    InvalidInputError
        If a class is empty, a score is NaN, or a weight is bad.

    Notes
    -----
    Theory paper, section 2.6.4, equation (29); the toolkit's ``prbep.m``. Not
    comparable between data sets of different size.

    Examples
    --------
    >>> prbep([1.0, 3.0], [0.0, 2.0])
    0.5
    """
    return _hull_of(tar, non, tar_weights, non_weights, "prbep").prbep


def auc(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    *,
    tar_weights: npt.ArrayLike | None = None,
    non_weights: npt.ArrayLike | None = None,
) -> float:
    """Compute the area under the ROC, the chance that a target outscores a non-target.

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
    float
        1 for perfect, 0.5 for useless, 0 for perfectly inverted scores.

    Raises
    ------
    InvalidInputError
        If a class is empty, a score is NaN, or a weight is bad.

    Notes
    -----
    The Mann-Whitney statistic, pairs of equal scores counted half: the
    trapezoidal area of NISTIR 7722. The toolkit's ``area_under_rocch.m`` is
    the area below pfa over pmiss of the *convex hull*, 0 for perfect scores.

    Examples
    --------
    >>> auc([1.0, 3.0], [0.0, 2.0])
    0.75
    """
    return ROC.from_sorted(*sort_classes(tar, non, tar_weights, non_weights, "auc")).auc


def min_dcf(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    prior: PriorLike,
    normalize: bool = False,  # noqa: FBT001, FBT002 -- positional as in the toolkit
    *,
    tar_weights: npt.ArrayLike | None = None,
    non_weights: npt.ArrayLike | None = None,
) -> Any:
    r"""Compute the minimum detection cost over all thresholds.

    What the cost would be if the scores were perfectly calibrated at these
    operating points. One sort serves any number of priors.

    Parameters
    ----------
    tar : (n_tar,) array_like of float
        Target scores; no NaN, +-inf allowed.
    non : (n_non,) array_like of float
        Non-target scores; no NaN, +-inf allowed.
    prior : float, (k,) array_like of float, OperatingPoint or sequence of them
        Target probabilities (unit costs), or operating points with their own
        costs.
    normalize : bool, default: False
        Divide by the cost of the better decision made without a detector,
        min(p C_miss, (1 - p) C_fa).
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.

    Returns
    -------
    float or (k,) ndarray of float64
        :math:`\min_\gamma \pi C_{miss} P_{miss}(\gamma) + (1-\pi) C_{fa} P_{fa}(\gamma)`.
        0 for perfect scores; for useless scores the cost without a detector,
        1 if normalized, which is never exceeded.

    Raises
    ------
    InvalidInputError
        If a class is empty, a score is NaN, a weight is bad, or a prior is not
        in (0, 1).

    See Also
    --------
    bosaris_py.Results.min_dcf_threshold : The threshold that goes with it.

    Notes
    -----
    Minimised over the vertices of the ROC's convex hull, theory paper,
    equation (25); the toolkit's ``fast_minDCF.m``, which takes prior log-odds.

    Examples
    --------
    >>> float(min_dcf([1.0, 3.0], [0.0, 2.0], 0.5))
    0.25
    """
    hull = _hull_of(tar, non, tar_weights, non_weights, "min_dcf")
    return hull.min_dcf(prior, normalize=normalize)
