"""Points of the DET curve and of the normalised Bayes error-rate curve.

A DET plot shows both error-rates through the probit, the inverse of the standard normal
distribution function. All functions here take and return error-rates; distances and cells below are
measured in probits.
"""

from __future__ import annotations

import functools
from typing import TypeAlias

import attrs
import numpy as np
import numpy.typing as npt
import scipy

from bosaris_py._arrays import Float64Array, IndexArray, mark_read_only
from bosaris_py._validation import as_vector, describe, invalid
from bosaris_py.evaluation.results import Results
from bosaris_py.numerics.hull import ROCCH
from bosaris_py.numerics.priors import DecisionCosts
from bosaris_py.numerics.roc import FEWEST_ERRORS, ROC

# Past this the smaller of the two priors is no longer a normal floating-point number.
LARGEST_PLO = 700.0

# Up to this many vertices are drawn as they are.
_FEW_VERTICES = 10_000

# Side of a cell, as a share of the window's: on a plot of 15 cm about 0.02 mm, a dot of a
# 1200 dpi printer. Outside the window cells are larger; they matter only after zooming out.
_CELLS_IN_WINDOW = 8192
_CELLS_OUTSIDE = 1024

# Largest step between neighbouring points of a curved stroke, as a share of the window.
_STEPS_IN_WINDOW = 500

# Probabilities nearer to 0 or 1 than this probit (1e-16) lie past the edge of any plot.
_FARTHEST = 8.2

Limits: TypeAlias = tuple[float, float]
Points: TypeAlias = tuple[Float64Array, Float64Array]


def smallest_measurable_rate(n_trials: int) -> float:
    """Return the error-rate at which `n_trials` trials of one class show 30 errors."""
    return FEWEST_ERRORS / n_trials


@attrs.frozen(eq=False, repr=False)
class BayesCurves:
    r"""Error-rates of one detector over a range of operating points.

    Scores are taken as natural-log likelihood-ratios. *Actual* rates are those at the Bayes
    threshold ``-plo``, *minimum* rates those at the best threshold. Make one with `from_results`.
    All arrays have the shape of `plo` and are read-only.

    Parameters
    ----------
    plo : (k,) ndarray of float64
        Prior log-odds, ascending: the horizontal axis.
    act_pmiss, act_pfa : (k,) ndarray of float64
        Miss and false-alarm rate of Bayes decisions.
    min_pmiss, min_pfa : (k,) ndarray of float64
        Miss and false-alarm rate at the best threshold.
    n_tar, n_non : int
        Number of trials.

    Notes
    -----
    Normalized means over :math:`\min(\pi, 1-\pi)`, the error-rate of the better
    decision made without a detector: theory paper [1]_, equations (19) to (23).
    The numbers behind the toolkit's ``Norm_DCF_Plot.m``.

    References
    ----------
    .. [1] N. Brummer and E. de Villiers, "The BOSARIS Toolkit: Theory, Algorithms
       and Code for Surviving the New DCF", 2011, arXiv:1304.2865, section 2.5.4.

    Examples
    --------
    >>> results = Results([1.0, 3.0, 4.0], [-2.0, 0.0, 2.0])
    >>> curves = BayesCurves.from_results(results, [-1.5, 0.0, 1.5])
    >>> curves.act_dcf.round(4).tolist()
    [1.8272, 0.6667, 0.6667]
    >>> curves.min_dcf.round(4).tolist()
    [0.3333, 0.3333, 0.3333]
    """

    plo: Float64Array
    act_pmiss: Float64Array
    act_pfa: Float64Array
    min_pmiss: Float64Array
    min_pfa: Float64Array
    n_tar: int
    n_non: int

    @classmethod
    def from_results(cls, results: Results, plo: npt.ArrayLike) -> "BayesCurves":
        """Read the error-rates of a detector at each operating point.

        Parameters
        ----------
        results : Results
            The detector.
        plo : (k,) array_like of float
            Prior log-odds, strictly ascending, within +-700.

        Returns
        -------
        BayesCurves

        Notes
        -----
        O(k log n) time for n trials, once the convex hull is known.
        """
        log_odds = as_vector(plo, "plo").astype(np.float64)
        if log_odds.size == 0 or not (np.diff(log_odds) > 0).all():
            raise invalid("plo", "be strictly ascending", describe(log_odds))
        if not (np.abs(log_odds) <= LARGEST_PLO).all():
            expected = f"lie within +-{LARGEST_PLO:g}"
            raise invalid("plo", expected, f"{log_odds[0]:g} to {log_odds[-1]:g}")
        costs = DecisionCosts.from_plo(log_odds)
        best = results.rocch.best_vertices(costs)
        act_pmiss, act_pfa = results._llrs.rates(costs.thresholds)
        return cls(
            plo=mark_read_only(log_odds),
            act_pmiss=mark_read_only(act_pmiss),
            act_pfa=mark_read_only(act_pfa),
            min_pmiss=mark_read_only(results.rocch.pmiss[best]),
            min_pfa=mark_read_only(results.rocch.pfa[best]),
            n_tar=results.n_tar,
            n_non=results.n_non,
        )

    def __repr__(self) -> str:
        """Say how many operating points there are, and where."""
        return (
            f"BayesCurves: {self.plo.size} operating points, "
            f"plo {self.plo[0]:g} ... {self.plo[-1]:g}"
        )

    @functools.cached_property
    def _costs(self) -> DecisionCosts:
        return DecisionCosts.from_plo(self.plo)

    def _share(self, price: Float64Array, rate: Float64Array) -> Float64Array:
        """Return the part of the normalized error-rate that one kind of error makes."""
        # One term of the numerator of equation 21.
        return mark_read_only(price * rate / self._costs.default_cost)

    def _cost(self, pmiss: Float64Array, pfa: Float64Array) -> Float64Array:
        # Theory paper, equation 20: over the error-rate of the better blind decision.
        return mark_read_only(self._costs.cost(pmiss, pfa, normalize=True))

    @functools.cached_property
    def act_dcf(self) -> Float64Array:
        """Normalized Bayes error-rate; 0 perfect, 1 without a detector, above 1 misleading."""
        return self._cost(self.act_pmiss, self.act_pfa)

    @functools.cached_property
    def min_dcf(self) -> Float64Array:
        """Normalized minimum error-rate over all thresholds, in [0, 1]."""
        return self._cost(self.min_pmiss, self.min_pfa)

    @functools.cached_property
    def act_miss_rate(self) -> Float64Array:
        """The misses' part of `act_dcf`."""
        return self._share(self._costs.miss, self.act_pmiss)

    @functools.cached_property
    def act_fa_rate(self) -> Float64Array:
        """The false alarms' part of `act_dcf`."""
        return self._share(self._costs.fa, self.act_pfa)

    @functools.cached_property
    def min_miss_rate(self) -> Float64Array:
        """The misses' part of `min_dcf`."""
        return self._share(self._costs.miss, self.min_pmiss)

    @functools.cached_property
    def min_fa_rate(self) -> Float64Array:
        """The false alarms' part of `min_dcf`."""
        return self._share(self._costs.fa, self.min_pfa)

    @property
    def dr30_fa_index(self) -> int | None:
        """Index of the first operating point with 30 false alarms or more; None if there is none.

        To the left of it there are too few false alarms for a meaningful evaluation. Counted at the
        best threshold.
        """
        enough = self.min_pfa >= smallest_measurable_rate(self.n_non)
        return int(np.argmax(enough)) if enough.any() else None

    @property
    def dr30_miss_index(self) -> int | None:
        """Index of the last operating point with 30 misses or more; None if there is none.

        To the right of it there are too few misses for a meaningful evaluation.
        """
        enough = self.min_pmiss >= smallest_measurable_rate(self.n_tar)
        return int(np.flatnonzero(enough)[-1]) if enough.any() else None


def steppy_points(roc: ROC, pfa_limits: Limits, pmiss_limits: Limits) -> Points:
    """Return points of the steppy ROC, enough for a DET plot in a window.

    Of small curves these are all vertices; of large ones an exact subset, whose picture cannot be
    told from that of all. No vertex is ever moved or averaged.

    Parameters
    ----------
    roc : ROC
        The curve.
    pfa_limits, pmiss_limits : (float, float)
        The window, within (0, 1).

    Returns
    -------
    pfa, pmiss : (m,) ndarray of float64
        From (1, 0) to (0, 1), both included.

    Notes
    -----
    Above 10,000 vertices, the plane is cut into cells, 8192 of them along each side of the
    window; of the vertices in a cell the first and the last are kept. O(cells log n) time.

    The step of a group of equal scores of both classes is straight in the error-rates, but curved
    in a DET plot: points along it are added, as in `hull_points`.
    """
    corners = roc.corners()
    pfa, pmiss = corners.pfa, corners.pmiss
    if pfa.size > _FEW_VERTICES:
        kept = _ends_in_cells(pfa, pmiss, pfa_limits, pmiss_limits)
        pfa, pmiss = pfa[kept], pmiss[kept]
    return _with_curved_strokes(pfa, pmiss, pfa_limits, pmiss_limits)


def hull_points(hull: ROCCH, pfa_limits: Limits, pmiss_limits: Limits) -> Points:
    """Return points along the ROC's convex hull, dense enough for a DET plot in a window.

    The edges of the hull are straight in the error-rates but curved in their probits.

    Parameters
    ----------
    hull : ROCCH
        The hull.
    pfa_limits, pmiss_limits : (float, float)
        The window, within (0, 1), which sets the density.

    Returns
    -------
    pfa, pmiss : (m,) ndarray of float64
        From (1, 0) to (0, 1), all vertices of the hull among them.

    Notes
    -----
    Neither axis makes a step of more than 1/500 of the window. (The toolkit's
    ``rocchdet.m`` takes 100 steps of equal pfa for each edge.)
    """
    return _with_curved_strokes(hull.pfa, hull.pmiss, pfa_limits, pmiss_limits)


def _ends_in_cells(
    pfa: Float64Array, pmiss: Float64Array, pfa_limits: Limits, pmiss_limits: Limits
) -> IndexArray:
    """Return the indices of the first and last vertex in each cell of the plane."""
    # A ROC falls monotonically, so what is left out between these two lies in the same cell, and
    # the two curves nowhere differ by more than the size of a cell. At most 2 x (8192 + 8192)
    # vertices remain in the window. Borders are searched in the error-rates, which are sorted.
    entries = np.concatenate(
        (
            [0],
            # First vertex below each border, for rates that fall from 1 to 0.
            pfa.size - np.searchsorted(pfa[::-1], _cell_borders(pfa_limits)),
            np.searchsorted(pmiss, _cell_borders(pmiss_limits)),
        )
    )
    entries = entries[entries < pfa.size]
    return np.unique(np.concatenate((entries, entries[entries > 0] - 1, [pfa.size - 1])))


def _cell_borders(limits: Limits) -> Float64Array:
    """Return the borders of the cells along one axis, as ascending rates."""
    low, high = scipy.special.ndtri(limits)
    coarse = (high - low) / _CELLS_OUTSIDE
    # Of equal size in probits, hence of equal size on paper.
    below = np.arange(low, -_FARTHEST, -coarse)[:0:-1]
    above = np.arange(high, _FARTHEST, coarse)[1:]
    inside = np.linspace(low, high, _CELLS_IN_WINDOW + 1)
    return np.asarray(scipy.special.ndtr(np.concatenate((below, inside, above))))


def _with_curved_strokes(pfa: Float64Array, pmiss: Float64Array, *window: Limits) -> Points:
    """Add points along strokes that are visibly curved on probit scales."""
    # What is straight in the error-rates is curved in their probits. A straight stroke on paper
    # would run below the convex hull, where no detector can be.
    ends = scipy.special.ndtri(window)
    steps = (ends[:, 1] - ends[:, 0]) / _STEPS_IN_WINDOW
    points = np.stack((pfa, pmiss))
    moves = np.abs(np.diff(_probits(points)))
    # Upright and level strokes stay straight in a DET plot.
    is_curved = (moves != 0).all(axis=0) & (moves > steps[:, np.newaxis]).any(axis=0)
    pieces, done = [], 0
    for i in np.flatnonzero(is_curved).tolist():
        pieces += [points[:, done : i + 1], _points_between(points[:, i : i + 2], steps)]
        done = i + 1
    points = np.concatenate([*pieces, points[:, done:]], axis=1)
    return points[0], points[1]


def _probits(rates: Float64Array) -> Float64Array:
    return np.asarray(np.clip(scipy.special.ndtri(rates), -_FARTHEST, _FARTHEST))


def _points_between(ends: Float64Array, steps: Float64Array) -> Float64Array:
    """Return points on the straight line between two vertices, without these: (2, n)."""
    pfa, pmiss = ends
    # Equally spaced in either probit, so that steep parts are as smooth as flat ones.
    by_pfa, by_pmiss = _between(pfa, steps[0]), _between(pmiss, steps[1])
    points = np.concatenate(
        ([by_pfa, _along(by_pfa, pfa, pmiss)], [_along(by_pmiss, pmiss, pfa), by_pmiss]), axis=1
    )
    # Each rate by itself, so that rounding cannot make the curve go back.
    return np.stack((np.sort(points[0])[::-1], np.sort(points[1])))


def _between(ends: Float64Array, step: float) -> Float64Array:
    """Return rates strictly between two, equally spaced in probits."""
    first, last = _probits(ends)
    n_steps = int(np.ceil(abs(last - first) / step))
    rates = scipy.special.ndtr(np.linspace(first, last, n_steps + 1)[1:-1])
    # Between neighbouring floating-point numbers there is nothing to sample.
    return np.asarray(rates[(rates > ends.min()) & (rates < ends.max())])


def _along(rates: Float64Array, ends: Float64Array, other_ends: Float64Array) -> Float64Array:
    """Return the other error-rate on the straight line through both ends."""
    share = (rates - ends[0]) / (ends[1] - ends[0])
    return np.asarray((1.0 - share) * other_ends[0] + share * other_ends[1])
