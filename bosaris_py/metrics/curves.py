"""The curves behind the plots: DET, Bayes, Tippett, ECE, PAV and histogram.

Each class is made of a `Sample`, with its trial weights and conditions; `bosaris_py.plots` draws
them. Scores are natural-log likelihood-ratios (LLRs) for all but DET and histogram.

A DET plot shows both error-rates through the probit, the inverse of the standard normal
distribution function. Its points are error-rates; distances and cells are in probits.

References
----------
.. [1] N. Brummer and E. de Villiers, "The BOSARIS Toolkit: Theory, Algorithms and Code for
   Surviving the New DCF", 2011, arXiv:1304.2865, section 2.5.4.
.. [2] D. Ramos and J. Gonzalez-Rodriguez, "Reliable support: measuring calibration of likelihood
   ratios", Forensic Science International 230, 2013, doi:10.1016/j.forsciint.2013.04.014.
.. [3] P. Vergeer, Y. van Schaik and M. Sjerps, "Measuring calibration of likelihood-ratio systems:
   a comparison of four metrics, including a new metric devPAV", Forensic Science International
   321, 2021, doi:10.1016/j.forsciint.2021.110722.
"""

import functools
import math
from typing import Self

import attrs
import numpy as np
import scipy

from bosaris_py._arrays import ArrayLike, FloatArray, IntArray
from bosaris_py._validation import as_number, as_vector, describe, invalid
from bosaris_py.numerics.hull import ROCCH, pav_bins
from bosaris_py.numerics.priors import DecisionCosts, sigmoid
from bosaris_py.numerics.roc import FEWEST_ERRORS, ROC
from bosaris_py.numerics.scoring import mean_bits, softplus
from bosaris_py.trials.sample import Sample, ScoredClass

# Past this the smaller of the two priors is no longer a normal floating-point number.
LARGEST_PLO = 700.0

# Up to this many vertices are drawn as they are.
_FEW_VERTICES = 10_000

# Cells along a side of the window: on a plot of 15 cm of about 0.02 mm, a dot of a 1200 dpi
# printer. Outside the window cells are larger; they matter only after zooming out.
_CELLS, _LARGER_OUTSIDE = 8192, 8

# Largest step between neighbouring points of a curved stroke, as a share of the window.
_STEPS_IN_WINDOW = 500

# Probabilities nearer to 0 or 1 than this probit (1e-16) lie past the edge of any plot.
_FARTHEST = 8.2

# So many distinct scores are steps of a Tippett plot; more are counted on a grid of this size.
_MOST_STEPS, _GRID = 10_000, 2001

# Prior log-odds of an ECE curve: prior odds from 1 : 316 to 316 : 1.
_PLO = np.linspace(-2.5, 2.5, 101) * math.log(10.0)

Limits = tuple[float, float]
Points = tuple[FloatArray, FloatArray]


def ascending(
    values: ArrayLike, name: str, least: float = -math.inf, most: float = math.inf
) -> FloatArray:
    """Return a vector that ascends strictly within limits."""
    found = as_vector(values, name).astype(np.float64)
    if found.size == 0 or not (np.diff(found) > 0).all():
        raise invalid(name, "be strictly ascending", describe(found))
    if not (least <= found[0] and found[-1] <= most):
        raise invalid(name, f"lie in [{least:g}, {most:g}]", f"{found[0]:g} to {found[-1]:g}")
    return found


def _refuse_files(sample: Sample, what: str) -> None:
    """Raise if scores are in files, where a curve needs each of them."""
    if sample.in_files:
        hint = f"{what} needs each score: use Results.from_scores."
        raise invalid("results", "be of scores in memory", f"those of {sample!r}", hint)


# ---- Bayes error-rates


@attrs.frozen(eq=False)
class BayesCurves:
    r"""Error-rates of one system over operating points; the numbers of ``Norm_DCF_Plot.m``.

    *Actual* rates are those at the Bayes threshold ``-plo``, *minimum* rates those at the best
    threshold. Costs are normalized by :math:`\min(\pi, 1-\pi)`, the error-rate of the better
    decision made without a detector: [1]_, equations (19) to (23).

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
    """

    plo: FloatArray
    act_pmiss: FloatArray
    act_pfa: FloatArray
    min_pmiss: FloatArray
    min_pfa: FloatArray
    n_tar: int
    n_non: int

    @classmethod
    def from_sample(cls, sample: Sample, plo: ArrayLike) -> Self:
        """Read the error-rates at prior log-odds, strictly ascending, within +-700."""
        log_odds = ascending(plo, "plo", -LARGEST_PLO, LARGEST_PLO)
        costs = DecisionCosts.from_plo(log_odds)
        hull = sample.hull
        best = hull.best_vertices(costs)
        actual = sample.rates(costs.thresholds)
        sizes = sample.tar.size, sample.non.size
        return cls(log_odds, *actual, hull.pmiss[best], hull.pfa[best], *sizes)

    @functools.cached_property
    def _costs(self) -> DecisionCosts:
        return DecisionCosts.from_plo(self.plo)

    @functools.cached_property
    def act_dcf(self) -> FloatArray:
        """Normalized Bayes error-rate; 0 perfect, 1 without a detector, above 1 misleading."""
        return self._costs.cost(self.act_pmiss, self.act_pfa, normalize=True)

    @functools.cached_property
    def min_dcf(self) -> FloatArray:
        """Normalized minimum error-rate over all thresholds, in [0, 1]."""
        return self._costs.cost(self.min_pmiss, self.min_pfa, normalize=True)

    @property
    def parts(self) -> dict[str, FloatArray]:
        """The parts of misses and of false alarms in both error-rates: equation (21)."""
        costs = self._costs
        return {
            "miss_rate_act": costs.miss * self.act_pmiss / costs.default_cost,
            "miss_rate_min": costs.miss * self.min_pmiss / costs.default_cost,
            "fa_rate_act": costs.fa * self.act_pfa / costs.default_cost,
            "fa_rate_min": costs.fa * self.min_pfa / costs.default_cost,
        }

    @property
    def dr30_fa_index(self) -> int | None:
        """Index of the first operating point with 30 false alarms at the best threshold."""
        enough = np.flatnonzero(self.min_pfa >= smallest_measurable_rate(self.n_non))
        return int(enough[0]) if enough.size else None

    @property
    def dr30_miss_index(self) -> int | None:
        """Index of the last operating point with 30 misses at the best threshold."""
        enough = np.flatnonzero(self.min_pmiss >= smallest_measurable_rate(self.n_tar))
        return int(enough[-1]) if enough.size else None


# ---- Shares beyond each likelihood-ratio


@attrs.frozen(eq=False)
class TippettCurve:
    """Shares of LLRs beyond each value, for both hypotheses.

    Two conventions: ``tar_above`` with ``non_above`` (both fall), or with ``non_below`` (they
    cross).

    Parameters
    ----------
    llr : (k,) ndarray of float64
        Values, ascending, natural log.
    tar_above, non_above : (k,) ndarray of float64
        Share of targets (H1) and of non-targets (H2) whose LLR is at least that.
    non_below : (k,) ndarray of float64
        Share of non-targets whose LLR is at most that.
    misleading_tar, misleading_non : float
        Rates of misleading evidence: targets with LLR < 0, non-targets with LLR > 0.
    """

    llr: FloatArray
    tar_above: FloatArray
    non_above: FloatArray
    non_below: FloatArray
    misleading_tar: float
    misleading_non: float

    @classmethod
    def from_sample(cls, sample: Sample, llr: ArrayLike | None = None) -> Self:
        """Count the LLRs beyond each value, by default beyond each distinct finite score.

        From 10,000 distinct scores on these are 2001 values between the lowest and the highest.
        """
        values = _steps(sample) if llr is None else ascending(llr, "llr")
        places = np.append(values, 0.0)
        pmiss, pfa = sample.rates(places)
        # Strictly above a value is at or above the next number.
        _, beyond = sample.rates(np.nextafter(places, np.inf))
        shares = 1.0 - pmiss[:-1], pfa[:-1], 1.0 - beyond[:-1]
        return cls(values, *shares, float(pmiss[-1]), float(beyond[-1]))


def _steps(sample: Sample) -> FloatArray:
    """Return where the shares change, or a grid if that is often."""
    values = sample.tar.scores if sample.in_files else sample.grid("all")
    values = values[np.isfinite(values)].astype(np.float64)
    if values.size > _MOST_STEPS or (sample.in_files and values.size):
        values = np.linspace(values[0], values[-1], _GRID)
    values = values if values.size else np.zeros(1)
    # Beyond both ends, where only infinite LLRs are left.
    margin = max(0.05 * (values[-1] - values[0]), 0.1)
    return np.concatenate(([values[0] - margin], values, [values[-1] + margin]))


# ---- Empirical cross-entropy


@attrs.frozen(eq=False)
class ECECurve:
    r"""Empirical cross-entropy over the prior, in bits [2]_; at even odds it is Cllr.

    .. math::

        \mathrm{ECE}(\pi) = \frac{\pi}{T} \sum_{tar} \log_2 \left(1 + \frac{1}{O e^s}\right)
            + \frac{1 - \pi}{N} \sum_{non} \log_2 (1 + O e^s), \qquad O = \frac{\pi}{1 - \pi}

    Parameters
    ----------
    plo : (k,) ndarray of float64
        Prior log-odds, natural log, ascending.
    ece, min_ece : (k,) ndarray of float64
        Of the LLRs as they are, and after PAV: what no calibration can remove.
    neutral : (k,) ndarray of float64
        Of LLRs that are all zero: the entropy of the prior.
    """

    plo: FloatArray
    ece: FloatArray
    min_ece: FloatArray
    neutral: FloatArray

    @classmethod
    def from_sample(cls, sample: Sample, plo: ArrayLike | None = None) -> Self:
        """Compute the cross-entropy at prior log-odds, by default log10 odds from -2.5 to 2.5."""
        _refuse_files(sample, "ECE")
        log_odds = _PLO if plo is None else ascending(plo, "plo", -LARGEST_PLO, LARGEST_PLO)
        hull = sample.hull
        edges = np.diff(hull.pmiss), -np.diff(hull.pfa)
        optimal = [ScoredClass(hull.llr[mass > 0.0], weights=mass[mass > 0.0]) for mass in edges]
        neutral = [ScoredClass(np.zeros(1))] * 2
        curves = [
            np.array([_cross_entropy(tar, non, float(x)) for x in log_odds])
            for tar, non in ((sample.tar, sample.non), optimal, neutral)
        ]
        return cls(log_odds, *curves)


def _cross_entropy(tar: ScoredClass, non: ScoredClass, plo: float) -> float:
    """Return the prior-weighted mean cost of posteriors, in bits."""
    # The costs of Cllr, of LLRs that are moved by the prior log-odds.
    prior, other = sigmoid(np.array([plo, -plo]))
    return float(prior * _mean_bits(tar, plo, -1.0) + other * _mean_bits(non, plo, 1.0))


def _mean_bits(one: ScoredClass, plo: float, sign: float) -> float:
    moved = one.scores.astype(np.float64) + plo
    if one.is_plain:
        return mean_bits(moved, sign)
    return float(one.mean(softplus(moved, sign))) / math.log(2.0)


# ---- What LLRs should have been


@attrs.frozen(eq=False)
class PAVCurve:
    """The LLRs that the scores should have had: the map of the PAV algorithm.

    Parameters
    ----------
    lowest, highest : (m,) ndarray of float64
        Lowest and highest score of each pool, ascending.
    llr : (m,) ndarray of float64
        Optimal LLR of each pool, strictly ascending; +-inf in a pool of one class.
    """

    lowest: FloatArray
    highest: FloatArray
    llr: FloatArray

    @classmethod
    def from_sample(cls, sample: Sample) -> Self:
        """Run the PAV algorithm on the scores."""
        _refuse_files(sample, "PAV")
        return cls(*pav_bins(sample.hull, sample.tar.scores, sample.non.scores))

    @functools.cached_property
    def dev_pav(self) -> float:
        """Mean distance of the map from the identity, in units of log10 LR: devPAV [3]_.

        The area between both lines over the scores whose pools have a finite LLR, over the length
        of that range; the distance where this is a single score. Infinite if an infinite LLR is on
        the wrong side, as the authors' program has it. NaN if there is no such range, as with
        separable scores.
        """
        ends = self.lowest, self.highest
        if any((np.isinf(end) & (end != self.llr)).any() for end in ends):
            return math.inf
        kept = np.isfinite(self.llr)
        x = np.stack((self.lowest[kept], self.highest[kept]), axis=1).ravel()
        if x.size == 0:
            return math.nan
        gap = np.repeat(self.llr[kept], 2) - x
        if x[-1] == x[0]:
            return float(np.abs(gap).max()) / math.log(10.0)
        left, right, width = gap[:-1], gap[1:], np.diff(x)
        # A trapezium, or two triangles where the lines cross.
        crossing = left * right < 0.0
        parts = np.abs(left + right) / 2.0
        squares = left[crossing] ** 2 + right[crossing] ** 2
        parts[crossing] = squares / (2.0 * np.abs(left[crossing] - right[crossing]))
        return float((parts * width).sum() / (x[-1] - x[0]) / math.log(10.0))


# ---- Histograms


@attrs.frozen(eq=False)
class ScoreHistogram:
    """Histograms of target and non-target scores.

    Parameters
    ----------
    edges : (k + 1,) ndarray of float64
        Ends of the bins.
    tar, non : (k,) ndarray of float64
        Density of each class in each bin: its share of the class over the width of the bin.
    tar_outside, non_outside : (2,) ndarray of float64
        Share of each class below and above all bins, infinite scores among them.
    """

    edges: FloatArray
    tar: FloatArray
    non: FloatArray
    tar_outside: FloatArray
    non_outside: FloatArray

    @classmethod
    def from_sample(cls, sample: Sample, bins: ArrayLike | None = None) -> Self:
        """Count the scores in bins that both classes share: their number, or their ends.

        By default these are twice the cube root of the number of trials, 10 to 80 (the rule of
        Rice), between the lowest and the highest finite score.
        """
        _refuse_files(sample, "A histogram")
        classes = sample.tar, sample.non
        if bins is None:
            bins = int(np.clip(2.0 * np.cbrt(sample.tar.size + sample.non.size), 10.0, 80.0))
        if np.ndim(bins) == 0:
            count = int(as_number(bins, "bins", "be a number above 0", lambda n: 1.0 <= n < np.inf))
            finite = np.concatenate([one.listed[np.isfinite(one.listed)] for one in classes])
            low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
            edges: FloatArray = np.linspace(low, high, count + 1)
            if not (np.diff(edges) > 0.0).all():
                # Scores so nearly equal that too few numbers are left between them.
                half = max(0.5, 1e-6 * abs(low))
                edges = np.linspace(low - half, high + half, count + 1)
        else:
            edges = ascending(bins, "bins")
            if edges.size < 2:
                raise invalid("bins", "have two ends at least", describe(edges))
        # The last bin has its upper end, too.
        limits = np.append(edges[:-1], np.nextafter(edges[-1], np.inf))
        shares = [one.shares_below(limits) for one in classes]
        densities = [np.diff(below) / np.diff(edges) for below, _ in shares]
        outside = [np.array([below[0], above[-1]]) for below, above in shares]
        return cls(edges, *densities, *outside)


# ---- DET


def smallest_measurable_rate(n_trials: int) -> float:
    """Return the error-rate at which `n_trials` trials of one class show 30 errors."""
    return FEWEST_ERRORS / n_trials


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
    window; of the vertices in a cell the first and the last are kept.

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


def _ends_in_cells(pfa: FloatArray, pmiss: FloatArray, *window: Limits) -> IntArray:
    """Return the indices of the first and last vertex in each cell of the plane."""
    # A ROC falls monotonically, so what is left out between these two lies in the same cell, and
    # the two curves nowhere differ by more than the size of a cell.
    probits = _probits(np.stack((pfa, pmiss)))
    low, high = scipy.special.ndtri(window).T[:, :, np.newaxis]
    inside = np.clip(probits, low, high)
    cells = (inside - low + (probits - inside) / _LARGER_OUTSIDE) / (high - low) * _CELLS
    last = np.flatnonzero(np.diff(np.floor(cells)).any(axis=0))
    return np.unique(np.concatenate(([0], last, last + 1, [pfa.size - 1])))


def _with_curved_strokes(pfa: FloatArray, pmiss: FloatArray, *window: Limits) -> Points:
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


def _probits(rates: FloatArray) -> FloatArray:
    return np.asarray(np.clip(scipy.special.ndtri(rates), -_FARTHEST, _FARTHEST))


def _points_between(ends: FloatArray, steps: FloatArray) -> FloatArray:
    """Return points on the straight line between two vertices, without these: (2, n)."""
    # Equally spaced in either probit, so that steep parts are as smooth as flat ones.
    shares = []
    for (first, last), step in zip(ends, steps, strict=True):
        low, high = _probits(np.array([first, last]))
        n_steps = int(np.ceil(abs(high - low) / step))
        rates = scipy.special.ndtr(np.linspace(low, high, n_steps + 1)[1:-1])
        shares.append((rates - first) / (last - first))
    # Between neighbouring floating-point numbers there is nothing to sample.
    share = np.sort(np.concatenate(shares))
    share = share[(share > 0.0) & (share < 1.0)]
    return ends[:, :1] + share * np.diff(ends, axis=1)
