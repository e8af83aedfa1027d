"""The convex hull of a ROC, its pools (PAV), and the equal error rate of hulls.

The vertices of the hull decide every cost at the best threshold: equal error rate, minimum DCF at
any prior, minimum Cllr, and the optimal (PAV) calibration.

References
----------
.. [1] N. Brummer and E. de Villiers, "The BOSARIS Toolkit: Theory, Algorithms
   and Code for Surviving the New DCF", 2011, arXiv:1304.2865.
.. [2] T. Fawcett and A. Niculescu-Mizil, "PAV and the ROC convex hull",
   Machine Learning 68, 2007, doi:10.1007/s10994-007-5011-0.
"""

from __future__ import annotations

import functools

import attrs
import numpy as np

from bosaris_py import _arrays as arrays, _validation as check
from bosaris_py._arrays import Answer, FloatArray, Weights, mark_read_only
from bosaris_py.numerics.priors import DecisionCosts, PriorLike

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

    pmiss: float
    pfa: float

    def __new__(cls, value: float, pmiss: float, pfa: float) -> "Threshold":
        """Make the float and attach the two rates."""
        threshold = super().__new__(cls, value)
        threshold.pmiss, threshold.pfa = float(pmiss), float(pfa)
        return threshold

    def __repr__(self) -> str:
        """Show the value and both rates."""
        return f"Threshold({float(self)!r}, pmiss={self.pmiss:g}, pfa={self.pfa:g})"

    def __getnewargs__(self) -> tuple[float, float, float]:  # type: ignore[override]
        """Keep the rates when pickled or copied."""
        return float(self), self.pmiss, self.pfa


def hull_indices(x: Weights, y: Weights) -> arrays.IntArray:
    """Return the indices of the vertices of the lower left hull of a falling chain.

    `x` does not fall, `y` does not rise. Of equal points the first counts. With whole numbers the
    result is exact.
    """
    # A point on or above the chord of its two neighbours lies in the hull of the others, so
    # all such points can go at once, and again, until none is left. That is PAV with many
    # pools merged at a time: the vertices bound the pools [2].
    moved = np.ones(x.size, dtype=np.bool_)
    moved[1:] = (x[1:] != x[:-1]) | (y[1:] != y[:-1])
    kept: arrays.IntArray = moved.nonzero()[0]
    while True:
        vertices = np.ones(kept.size, dtype=np.bool_)
        vertices[1:-1] = _convex(x[kept], y[kept])
        if vertices.all():
            return kept
        kept = kept[vertices]
        # A round usually removes about half of what the hull does not need. Long smooth arcs
        # collapse from one end only; there a single scan with a stack is quicker.
        if kept.size > 0.9 * vertices.size:
            return kept[_scan_hull(x[kept].tolist(), y[kept].tolist())]


def _convex(x: Weights, y: Weights) -> arrays.BoolArray:
    """Tell for each inner point if the chain turns strictly left there."""
    dx, dy = x[1:] - x[:-1], y[1:] - y[:-1]
    if dx.dtype != np.float64 and int(x[-1]) * int(y[0]) >= _EXACT_PRODUCT:
        # Python's integers have no end.
        dx, dy = dx.astype(object), dy.astype(object)
    return np.asarray(dx[:-1] * dy[1:] > dy[:-1] * dx[1:])


def _scan_hull(x: list[float], y: list[float]) -> list[int]:
    """Return the hull's indices by one scan with a stack (Andrew's monotone chain)."""
    stack: list[int] = []
    for i in range(len(x)):
        while len(stack) > 1:
            a, b = stack[-2:]
            if (x[b] - x[a]) * (y[i] - y[b]) > (y[b] - y[a]) * (x[i] - x[b]):
                break
            stack.pop()
        stack.append(i)
    return stack


@attrs.frozen(eq=False, repr=False)
class Curve:
    """The errors at ascending thresholds; base of `ROC` and of its hull."""

    thresholds: FloatArray = attrs.field(converter=arrays.read_only)
    misses: Weights = attrs.field(converter=arrays.read_only)
    false_alarms: Weights = attrs.field(converter=arrays.read_only)

    __reduce__ = arrays.by_constructor

    @property
    def tar_total(self) -> int | float:
        """Number of targets, or their mass."""
        total: int | float = self.misses[-1].item()
        return total

    @property
    def non_total(self) -> int | float:
        """Number of non-targets, or their mass."""
        total: int | float = self.false_alarms[0].item()
        return total

    @functools.cached_property
    def pmiss(self) -> FloatArray:
        """Miss rate at each threshold, rising from 0 to 1."""
        return mark_read_only(self.misses / self.tar_total)

    @functools.cached_property
    def pfa(self) -> FloatArray:
        """False-alarm rate at each threshold, falling from 1 to 0."""
        return mark_read_only(self.false_alarms / self.non_total)

    def threshold(self, at: int) -> Threshold:
        """Return a threshold of the curve with its error-rates.

        Parameters
        ----------
        at : int
            Its place.

        Returns
        -------
        Threshold
        """
        return Threshold(self.thresholds[at], self.pmiss[at], self.pfa[at])


@attrs.frozen(eq=False, repr=False)
class ROCCH(Curve):
    """The ROC's convex hull: the ROC after optimal recalibration.

    Made by `ROC.convex_hull`. m + 1 vertices bound m edges; every trial belongs to one edge, and
    the slope of that edge is its optimal likelihood-ratio. All arrays are read-only.

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
    >>> from bosaris_py import ROC
    >>> hull = ROC.from_scores([1.0, 3.0], [0.0, 2.0]).convex_hull()
    >>> hull.pfa.tolist(), hull.pmiss.tolist()
    ([1.0, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 1.0])
    >>> hull.eer
    0.25
    """

    @classmethod
    def from_points(cls, thresholds: FloatArray, misses: Weights, alarms: Weights) -> "ROCCH":
        """Take the vertices of a curve's lower left hull.

        Parameters
        ----------
        thresholds : (k,) ndarray of float64
            Thresholds of the points, ascending.
        misses, alarms : (k,) ndarray of int64 or float64
            Number, or mass, of the errors of both kinds there.

        Returns
        -------
        ROCCH
        """
        at = hull_indices(misses, alarms)
        ends = thresholds[at]
        ends[0], ends[-1] = -np.inf, np.inf
        return cls(*map(mark_read_only, (ends, misses[at], alarms[at])))

    def __repr__(self) -> str:
        """Say how many vertices there are."""
        return f"ROCCH: {self.thresholds.size} vertices, EER {self.eer:.4g}"

    @functools.cached_property
    def llr(self) -> FloatArray:
        """Optimal log-likelihood-ratio of each edge, ascending: (m,), natural log.

        The logarithm of the edge's target rate over its non-target rate; -inf or inf where an edge
        holds one class only.
        """
        targets = (self.misses[1:] - self.misses[:-1]) * float(self.non_total)
        others = (self.false_alarms[:-1] - self.false_alarms[1:]) * float(self.tar_total)
        with np.errstate(divide="ignore"):
            return mark_read_only(np.log(targets / others))

    def llr_of(self, scores: FloatArray) -> FloatArray:
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
        return self.llr[np.searchsorted(self.thresholds[1:-1], scores, side="right")]

    @functools.cached_property
    def eer(self) -> float:
        """Equal error rate: where pmiss equals pfa on the hull; a fraction in [0, 0.5].

        The maximum over the prior of the minimum error-rate: theory paper [1]_, section 2.6.2,
        equation (26).
        """
        return self._crossing(1.0 / self.tar_total, 1.0 / self.non_total)

    @functools.cached_property
    def prbep(self) -> float:
        """Precision-recall break-even point: as many misses as false alarms, on the hull.

        A weight sum rather than a count if trials are weighted. In general not a whole number,
        because the hull interpolates. Theory paper [1]_, section 2.6.4, equation (29).
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

        Notes
        -----
        Equal to :math:`\max_\pi \mathrm{minDCF}(\pi, C_{miss}=r, C_{fa}=1)`:
        a tight upper bound of the cost at any prior. Theory paper, section
        2.6.3, equation (28).
        """
        r = check.as_number(
            ratio, "ratio", "be a positive, finite number", lambda x: 0 < x < np.inf
        )
        return self._crossing(r / self.tar_total, 1.0 / self.non_total)

    def _crossing(self, miss_scale: float, fa_scale: float) -> float:
        """Return the value where scaled misses equal scaled false alarms on the hull."""
        left = miss_scale * self.misses
        right = fa_scale * self.false_alarms
        # The edge from j - 1 to j meets the diagonal; (28) with the two rates interpolated.
        j = int((left >= right).argmax())
        (m0, m1), (f0, f1) = left[j - 1 : j + 1].tolist(), right[j - 1 : j + 1].tolist()
        return float((m1 * f0 - m0 * f1) / ((m1 - m0) + (f0 - f1)))

    def min_dcf(self, prior: PriorLike, *, normalize: bool = True) -> Answer:
        """Return the minimum DCF at one or many operating points; see `bosaris_py.min_dcf`.

        Parameters
        ----------
        prior : float, (k,) array_like of float, OperatingPoint or sequence of them
            Target probabilities (unit costs) or operating points.
        normalize : bool, default: True
            Divide by the cost of the better decision made without a detector.

        Returns
        -------
        float or (k,) ndarray of float64
        """
        costs = DecisionCosts.from_prior(prior)
        best = self.best_vertices(costs)
        pmiss, pfa = self.misses[best] / self.tar_total, self.false_alarms[best] / self.non_total
        return costs.cost(pmiss, pfa, normalize=normalize)

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
        """
        costs = DecisionCosts.from_prior(prior)
        if costs.plo.ndim:
            expected = "be one probability or operating point"
            raise check.invalid("prior", expected, f"{costs.plo.size} of them")
        return self.threshold(int(self.best_vertices(costs)))

    def best_vertices(self, costs: DecisionCosts) -> arrays.IntArray:
        """Return the index of the cheapest vertex at each operating point.

        Parameters
        ----------
        costs : DecisionCosts
            The operating points.

        Returns
        -------
        ndarray of int64, shaped like the operating points
            Of two vertices that cost the same, the one with fewer misses.
        """
        # The last line of (25) without a comparison of costs: edges whose optimal
        # likelihood-ratio is below the Bayes threshold are rejected.
        return np.asarray(self.llr.searchsorted(costs.thresholds))

    @functools.cached_property
    def min_cllr(self) -> float:
        """Cllr after optimal recalibration, in bits; see `bosaris_py.min_cllr`."""
        targets = (self.misses[1:] - self.misses[:-1]) / self.tar_total
        return edge_bits(targets, (self.false_alarms[:-1] - self.false_alarms[1:]) / self.non_total)


def pav_bins(hull: ROCCH, *classes: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the lowest score, the highest score and the LLR of each pool of the PAV algorithm.

    The pools are the edges of the hull; the scores of both classes ascend.
    """
    # Two ascending runs are merged by the stable sort.
    scores = np.sort(np.concatenate(classes, dtype=np.float64), kind="stable")
    starts = scores.searchsorted(hull.thresholds[1:-1])
    return scores[np.append(0, starts)], scores[np.append(starts, scores.size) - 1], hull.llr


# Numbers of many curves: rates (n_rows, n_points), misses rising and false alarms falling along a
# row. A row is a whole sample, a replicate, or what is left without a speaker. The first point of a
# row accepts everything, the last one rejects everything.


def diagonal_crossing(low: Answer, high: Answer) -> tuple[Answer, Answer]:
    """Return where lines between points meet pmiss = pfa, and the prior of equal cost.

    `low` and `high` are pairs (pmiss, pfa) of floats or arrays, on both sides of the diagonal.
    """
    slope = low[0] - low[1]
    prior = (low[1] - high[1]) / (high[0] - high[1] - slope)
    return low[1] + prior * slope, prior


def hull_eers(pmiss: FloatArray, pfa: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where the lower left hulls of curves meet pmiss = pfa, and the priors of these points.

    The rates are NaN where a row has a class without trials.
    """
    # Equation (26) of [1]: the EER is the maximum over the prior pi of the least cost of all
    # points, pi pmiss + (1 - pi) pfa, a concave function of pi. Two points either side of the
    # diagonal, at first the two useless decisions, define a prior at which they cost the same.
    # The point that is cheapest there replaces one of them, until none is cheaper: a handful
    # of passes over the points.
    rows = np.arange(len(pmiss))
    low, high = (np.repeat(end, rows.size, axis=1) for end in ([[0.0], [1.0]], [[1.0], [0.0]]))
    low_at, high_at = np.zeros_like(rows), np.full_like(rows, pmiss.shape[1] - 1)
    active, before = rows, np.full(rows.size, np.inf)
    while active.size:
        values, priors = diagonal_crossing(low[:, active], high[:, active])
        # A cheaper point lies between the two.
        window = slice(int(low_at[active].min()), int(high_at[active].max()) + 1)
        chosen = slice(None) if active.size == rows.size else active
        alarms = pfa[chosen, window]
        cost = pmiss[chosen, window] - alarms
        cost *= priors[:, np.newaxis]
        cost += alarms
        best = cost.argmin(axis=1)
        least = np.take_along_axis(cost, best[:, np.newaxis], axis=1)[:, 0]
        # A value that does not fall is rounding, which would go on for ever.
        better = (least < values) & (values < before[active])
        before[active] = values
        active, best = active[better], best[better] + window.start
        points = np.stack((pmiss[active, best], pfa[active, best]))
        below = points[0] < points[1]
        low[:, active[below]], low_at[active[below]] = points[:, below], best[below]
        high[:, active[~below]], high_at[active[~below]] = points[:, ~below], best[~below]
    values, priors = diagonal_crossing(low, high)
    return values, priors


def steppy_eers(pmiss: FloatArray, pfa: FloatArray, definition: str) -> FloatArray:
    """Return the EERs of curves at both sides of each score, "interpolated" or of a "step"."""
    row, gap = np.arange(len(pmiss)), pmiss - pfa
    # Along a curve pmiss - pfa rises from -1 to 1. Tools differ in the number that they make of
    # the edge that crosses zero: van Leeuwen 2008, footnote 5.
    end = np.argmax(gap >= 0, axis=1)
    start = np.maximum(end - 1, 0)
    if definition == "interpolated":
        rise = np.where(end > 0, gap[row, end] - gap[row, start], 1.0)
        step = pmiss[row, end] - pmiss[row, start]
        return np.asarray(pmiss[row, start] - gap[row, start] / rise * step)
    # Of two steps as near, the one with lower rates.
    mean = np.stack([(pmiss[row, at] + pfa[row, at]) / 2.0 for at in (start, end)])
    distance = np.stack([np.abs(gap[row, at]) for at in (start, end)])
    near = distance <= distance.min(axis=0) + 4 * np.finfo(float).eps
    return np.asarray(np.where(near, mean, np.inf).min(axis=0))


def min_costs(pmiss: FloatArray, pfa: FloatArray, miss: float, fa: float) -> FloatArray:
    """Return the least cost of each curve, given the prices of both rates."""
    # Theory paper, equation (25).
    return np.asarray((miss * pmiss + fa * pfa).min(axis=1))


def min_cllrs(pmiss: FloatArray, pfa: FloatArray) -> FloatArray:
    """Return the Cllr in bits that is left after optimal recalibration, of each curve."""
    found = np.full(len(pmiss), np.nan)
    for row in np.flatnonzero(np.isfinite(pmiss[:, -1] + pfa[:, -1])).tolist():
        at = hull_indices(pmiss[row], pfa[row])
        found[row] = edge_bits(np.diff(pmiss[row, at]), -np.diff(pfa[row, at]))
    return found


def edge_bits(tar: FloatArray, non: FloatArray) -> float:
    """Return the Cllr of the edges of a hull, from the rates of both classes along each."""
    # Equation (18) of [1]; an edge without trials of a class costs nothing.
    both = (tar > 0) & (non > 0)
    tar, non = tar[both], non[both]
    bits = np.dot(tar, np.log1p(non / tar)) + np.dot(non, np.log1p(tar / non))
    return float(bits / (2.0 * np.log(2.0)))


def areas(pmiss: FloatArray, pfa: FloatArray) -> FloatArray:
    """Return the area under each ROC, from the points at both sides of each score."""
    # Between two points: the targets that rank there, times the non-targets below, ties by half.
    below = pfa[:, :1] - (pfa[:, 1:] + pfa[:, :-1]) / 2.0
    return np.asarray(np.einsum("ij,ij->i", np.diff(pmiss, axis=1), below))
