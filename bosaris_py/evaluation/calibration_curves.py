"""Calibration of log-likelihood-ratios: the numbers behind its plots, and its validation.

Each is a frozen value made by ``from_results``, with trial weights and conditions if the results
have them; `bosaris_py.plots` draws them. Scores are natural-log likelihood-ratios (LLRs).

References
----------
.. [1] D. Ramos and J. Gonzalez-Rodriguez, "Reliable support: measuring calibration of likelihood
   ratios", Forensic Science International 230, 2013, doi:10.1016/j.forsciint.2013.04.014.
.. [2] P. Vergeer, Y. van Schaik and M. Sjerps, "Measuring calibration of likelihood-ratio systems:
   a comparison of four metrics, including a new metric devPAV", Forensic Science International
   321, 2021, doi:10.1016/j.forsciint.2021.110722.
.. [3] J. Brocker and L. A. Smith, "Increasing the reliability of reliability diagrams", Weather and
   Forecasting 22, 2007, doi:10.1175/WAF993.1.
.. [4] T. Dunstone and N. Yager, "Biometric System and Data Analysis", Springer, 2009, chapter 8.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import scipy

from bosaris_py._arrays import Float64Array, FloatArray, IntArray, mark_read_only
from bosaris_py._html import card
from bosaris_py._tables import text_table
from bosaris_py._validation import as_number, as_vector, describe, invalid, refuse_nan
from bosaris_py.evaluation.curves import LARGEST_PLO
from bosaris_py.evaluation.results import Results
from bosaris_py.metrics.costs import Brier
from bosaris_py.numerics.hull import pav_bins
from bosaris_py.numerics.priors import DecisionCosts, logit, sigmoid
from bosaris_py.numerics.scoring import mean_bits, softplus
from bosaris_py.trials.sample import Sample, ScoredClass

# So many distinct scores are steps of a Tippett plot; more are counted on a grid of this size.
_MOST_STEPS = 10_000

_GRID = 2001

# Equally spaced prior log-odds of an ECE curve: prior odds from 1 : 316 to 316 : 1.
_PLO = np.linspace(-2.5, 2.5, 101) * math.log(10.0)


def _in_memory(results: object, what: str, *, of_llrs: bool = False) -> Sample:
    """Return the sample of results, whose scores are in memory."""
    if not isinstance(results, Results):
        raise invalid("results", "be a Results object", describe(results))
    # What takes scores for llrs warns of others.
    sample = results._llrs if of_llrs else results.sample
    if sample.in_files:
        hint = f"{what} needs each score: use Results.from_scores."
        raise invalid("results", "be of scores in memory", f"those of {sample!r}", hint)
    return sample


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
    n_tar, n_non : int
        Number of trials.

    Examples
    --------
    >>> ScoreHistogram.from_results(Results([1.0, 3.0], [0.0, 0.5, 1.5, 3.0]), bins=3).tar.tolist()
    [0.0, 0.5, 0.5]
    """

    edges: Float64Array
    tar: Float64Array
    non: Float64Array
    tar_outside: Float64Array
    non_outside: Float64Array
    n_tar: int
    n_non: int

    @classmethod
    def from_results(cls, results: Results, bins: npt.ArrayLike | None = None) -> ScoreHistogram:
        """Count the scores in bins that both classes share.

        Parameters
        ----------
        results : Results
            Of scores in memory.
        bins : int or (k + 1,) array_like of float, optional
            Number of bins between the lowest and the highest finite score, or their ends. By
            default twice the cube root of the number of trials, 10 to 80 (the rule of Rice).

        Returns
        -------
        ScoreHistogram
        """
        sample = _in_memory(results, "A histogram")
        classes = sample.tar, sample.non
        if bins is None:
            bins = int(np.clip(2.0 * np.cbrt(results.n_tar + results.n_non), 10.0, 80.0))
        if np.ndim(bins) == 0:
            count = int(as_number(bins, "bins", "be a positive number", lambda n: n >= 1.0))
            finite = np.concatenate([one.listed[np.isfinite(one.listed)] for one in classes])
            edges = np.histogram_bin_edges(finite.astype(np.float64), count)
        else:
            edges = as_vector(bins, "bins").astype(np.float64)
            if edges.size < 2 or not (np.diff(edges) > 0).all():
                raise invalid("bins", "be strictly ascending", describe(edges))
        densities: Any = []
        outside: Any = []
        # The last bin has its upper end, too.
        limits = np.append(edges[:-1], np.nextafter(edges[-1], np.inf))
        for one in classes:
            below, above = one.shares_below(limits)
            densities.append(mark_read_only(np.diff(below) / np.diff(edges)))
            outside.append(mark_read_only(np.array([below[0], above[-1]])))
        sizes: Any = {"n_tar": results.n_tar, "n_non": results.n_non}
        return cls(mark_read_only(edges), *densities, *outside, **sizes)


@attrs.frozen(eq=False)
class PAVCurve:
    r"""The LLRs that the scores should have had: the map of the PAV algorithm.

    Parameters
    ----------
    lowest, highest : (m,) ndarray of float64
        Lowest and highest score of each pool, ascending.
    llr : (m,) ndarray of float64
        Optimal LLR of each pool, strictly ascending; +-inf in a pool of one class.
    n_tar, n_non : int
        Number of trials.

    Examples
    --------
    >>> curve = PAVCurve.from_results(Results([1.0, 3.0, 4.0], [-2.0, 0.0, 2.0]))
    >>> curve.llr.tolist()
    [-inf, 0.0, inf]
    """

    lowest: Float64Array
    highest: Float64Array
    llr: Float64Array
    n_tar: int
    n_non: int

    @classmethod
    def from_results(cls, results: Results) -> PAVCurve:
        """Run the PAV algorithm on the scores.

        Parameters
        ----------
        results : Results
            Of scores in memory.

        Returns
        -------
        PAVCurve
        """
        sample = _in_memory(results, "PAV")
        bins = pav_bins(results.rocch, sample.tar.scores, sample.non.scores)
        sizes: Any = {"n_tar": results.n_tar, "n_non": results.n_non}
        pools: Any = [mark_read_only(part) for part in bins]
        return cls(*pools, **sizes)

    @functools.cached_property
    def dev_pav(self) -> float:
        """Mean distance of the map from the identity, in units of log10 LR: devPAV [2]_.

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
            return float(abs(gap[0])) / math.log(10.0)
        left, right, width = gap[:-1], gap[1:], np.diff(x)
        # A trapezium, or two triangles where the lines cross.
        crossing = left * right < 0.0
        parts = np.abs(left + right) / 2.0
        squares = left[crossing] ** 2 + right[crossing] ** 2
        parts[crossing] = squares / (2.0 * np.abs(left[crossing] - right[crossing]))
        return float((parts * width).sum() / (x[-1] - x[0]) / math.log(10.0))


@attrs.frozen(eq=False)
class TippettCurve:
    """Shares of LLRs beyond each value, for both hypotheses.

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
    n_tar, n_non : int
        Number of trials.

    Notes
    -----
    The two conventions: ``tar_above`` with ``non_above`` (both fall), or with ``non_below`` (they
    cross).

    Examples
    --------
    >>> curve = TippettCurve.from_results(Results([-1.0, 2.0], [-2.0, -1.0, 1.0, -3.0]))
    >>> curve.misleading_tar, curve.misleading_non
    (0.5, 0.25)
    """

    llr: Float64Array
    tar_above: Float64Array
    non_above: Float64Array
    non_below: Float64Array
    misleading_tar: float
    misleading_non: float
    n_tar: int
    n_non: int

    @classmethod
    def from_results(cls, results: Results, llr: npt.ArrayLike | None = None) -> TippettCurve:
        """Count the LLRs beyond each value.

        Parameters
        ----------
        results : Results
            The detector.
        llr : (k,) array_like of float, optional
            Where to count, strictly ascending. By default at each distinct finite score, or from
            10,000 of them on at 2001 values between the lowest and the highest.

        Returns
        -------
        TippettCurve
        """
        if not isinstance(results, Results):
            raise invalid("results", "be a Results object", describe(results))
        values = _steps(results) if llr is None else as_vector(llr, "llr").astype(np.float64)
        refuse_nan(values, "llr")
        if values.size == 0 or not (np.diff(values) > 0).all():
            raise invalid("llr", "be strictly ascending", describe(values))
        # Strictly above a value is at or above the next number.
        pmiss, pfa = results._llrs.rates(np.append(values, 0.0))
        _, beyond = results.sample.rates(np.nextafter(np.append(values, 0.0), np.inf))
        return cls(
            mark_read_only(values.copy()),
            mark_read_only(1.0 - pmiss[:-1]),
            mark_read_only(np.array(pfa[:-1])),
            mark_read_only(1.0 - beyond[:-1]),
            float(pmiss[-1]),
            float(beyond[-1]),
            results.n_tar,
            results.n_non,
        )


def _steps(results: Results) -> Float64Array:
    """Return where the shares change, or a grid if that is often."""
    of_files = results.sample.in_files
    values = results.sample.tar.scores if of_files else results.sample.grid("all")
    values = values[np.isfinite(values)].astype(np.float64)
    if values.size > _MOST_STEPS or (of_files and values.size):
        values = np.linspace(values[0], values[-1], _GRID)
    values = values if values.size else np.zeros(1)
    # Beyond both ends, where only infinite LLRs are left.
    margin = max(0.05 * (values[-1] - values[0]), 0.1)
    return np.concatenate(([values[0] - margin], values, [values[-1] + margin]))


@attrs.frozen(eq=False)
class ECECurve:
    r"""Empirical cross-entropy over the prior (Ramos and Gonzalez-Rodriguez), in bits.

    Parameters
    ----------
    plo : (k,) ndarray of float64
        Prior log-odds, natural log, ascending.
    ece : (k,) ndarray of float64
        Of the LLRs as they are.
    min_ece : (k,) ndarray of float64
        Of the LLRs after PAV: what no calibration can remove.
    neutral : (k,) ndarray of float64
        Of LLRs that are all zero: the entropy of the prior.

    Notes
    -----
    .. math::

        \mathrm{ECE}(\pi) = \frac{\pi}{T} \sum_{tar} \log_2 \left(1 + \frac{1}{O e^s}\right)
            + \frac{1 - \pi}{N} \sum_{non} \log_2 (1 + O e^s), \qquad O = \frac{\pi}{1 - \pi}

    At even odds it is Cllr.

    Examples
    --------
    >>> curve = ECECurve.from_results(Results([1.0, 3.0], [-2.0, 2.0]), [0.0])
    >>> curve.ece.round(4).tolist(), curve.min_ece.tolist(), curve.neutral.tolist()
    ([0.9434], [0.5], [1.0])
    """

    plo: Float64Array
    ece: Float64Array
    min_ece: Float64Array
    neutral: Float64Array

    @classmethod
    def from_results(cls, results: Results, plo: npt.ArrayLike | None = None) -> ECECurve:
        """Compute the cross-entropy at each prior.

        Parameters
        ----------
        results : Results
            Of scores in memory.
        plo : (k,) array_like of float, optional
            Prior log-odds, strictly ascending, within +-700. By default 101 of them, log10 odds
            from -2.5 to 2.5.

        Returns
        -------
        ECECurve
        """
        sample = _in_memory(results, "ECE", of_llrs=True)
        log_odds = _PLO if plo is None else as_vector(plo, "plo").astype(np.float64)
        if log_odds.size == 0 or not (np.diff(log_odds) > 0).all():
            raise invalid("plo", "be strictly ascending", describe(log_odds))
        if not (np.abs(log_odds) <= LARGEST_PLO).all():
            raise invalid("plo", f"lie within +-{LARGEST_PLO:g}", describe(log_odds))
        hull = results.rocch
        edges = [np.diff(hull.pmiss), -np.diff(hull.pfa)]
        optimal = [ScoredClass(hull.llr[m > 0.0], weights=m[m > 0.0]) for m in edges]
        neutral = [ScoredClass(np.zeros(1))] * 2
        curves = [
            np.array([_cross_entropy(classes[0], classes[1], float(x)) for x in log_odds])
            for classes in ((sample.tar, sample.non), optimal, neutral)
        ]
        return cls(*(mark_read_only(values) for values in (log_odds.copy(), *curves)))


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


def _weights(one: ScoredClass) -> Float64Array:
    """Return the weight of each sorted trial, of sum that of the class."""
    if one.groups is None:
        return np.ones(one.size) if one.sorted_weights is None else one.sorted_weights
    return one.masses() * one.size


@attrs.frozen(eq=False)
class ReliabilityCurve:
    """How often targets are met where a posterior says how often they should be.

    Parameters
    ----------
    prior : float
        Target prior that turns LLRs into posteriors.
    predicted : (k,) ndarray of float64
        Mean posterior in each bin that holds trials, with the classes weighted by the prior.
    observed : (k,) ndarray of float64
        Share of targets in each bin, weighted likewise.
    low, high : (k,) ndarray of float64
        Consistency bars (Brocker and Smith): where the share would lie, with the confidence
        asked for, if the posteriors were right and trials were independent.
    n_tar, n_non : (k,) ndarray of int64
        Numbers of trials in each bin.

    Examples
    --------
    >>> curve = ReliabilityCurve.from_results(Results([0.0, 0.0], [0.0]), bins=2)
    >>> curve.predicted.tolist(), curve.observed.tolist()
    ([0.5], [0.5])
    """

    prior: float
    predicted: Float64Array
    observed: Float64Array
    low: Float64Array
    high: Float64Array
    n_tar: IntArray
    n_non: IntArray

    @classmethod
    def from_results(
        cls, results: Results, prior: float = 0.5, *, bins: int = 10, confidence: float = 0.95
    ) -> ReliabilityCurve:
        """Compare posteriors with shares of targets, in bins of equal width.

        Parameters
        ----------
        results : Results
            Of scores in memory.
        prior : float, default: 0.5
            Target prior, in (0, 1).
        bins : int, default: 10
            Number of bins between 0 and 1.
        confidence : float, default: 0.95
            Of the consistency bars.

        Returns
        -------
        ReliabilityCurve

        Notes
        -----
        If posteriors are right, the number of targets among the n trials of a bin is binomial,
        nearly: its success rate is the mean posterior at the prior of the test set, T / (T + N).
        """
        sample = _in_memory(results, "Reliability", of_llrs=True)
        groups = [(one.scores, _weights(one)) for one in (sample.tar, sample.non)]
        plo = float(DecisionCosts.from_prior(prior).plo)
        count = int(as_number(bins, "bins", "be a positive number", lambda n: n >= 1.0))
        level = as_number(confidence, "confidence", "be in (0, 1)", lambda c: 0.0 < c < 1.0)
        shares = float(sigmoid(plo)), float(sigmoid(-plo))
        totals = [float(weights.sum()) for _, weights in groups]
        design = float(logit(totals[0] / sum(totals)))
        sums = np.zeros((4, 2, count))
        for which, (scores, weights) in enumerate(groups):
            llr = scores.astype(np.float64)
            posterior, at_design = sigmoid(llr + plo), sigmoid(llr + design)
            bin_of = np.minimum((posterior * count).astype(np.intp), count - 1)
            rows = (weights, weights * posterior, weights * at_design, np.ones(weights.size))
            for row, values in enumerate(rows):
                sums[row, which] = np.bincount(bin_of, values, minlength=count)
        sums = sums[:, :, sums[0].sum(axis=0) > 0.0]
        weight, predicted, expected, trials = sums
        # From sums over trials to shares of the classes, which count as the prior says.
        scale = np.array(shares)[:, None] / np.array(totals)[:, None]
        mass = (weight * scale).sum(axis=0)
        number = weight.sum(axis=0)
        likely = scipy.stats.binom.interval(
            level, np.rint(number).astype(int), expected.sum(axis=0) / number
        )
        bars = [_share(np.minimum(k, number), number, scale[:, 0]) for k in likely]
        curves = ((predicted * scale).sum(axis=0) / mass, weight[0] * scale[0] / mass, *bars)
        return cls(
            shares[0],
            *(mark_read_only(np.asarray(curve)) for curve in curves),
            *(mark_read_only(row.astype(np.int64)) for row in trials),
        )


def _share(targets: Float64Array, trials: Float64Array, scale: Float64Array) -> Float64Array:
    """Return the share of targets among trials, with the classes weighted."""
    tar = targets * scale[0]
    return np.asarray(tar / (tar + (trials - targets) * scale[1]))


_MEANING = {
    "cllr": "Cllr",
    "min_cllr": "minimum Cllr: discrimination",
    "calibration_loss": "Cllr - minimum Cllr: calibration",
    "linear_loss": "Cllr - Cllr of a cross-fitted line",
    "brier": "Brier score at even odds, over that of no detector",
    "min_brier": "minimum Brier score: discrimination",
    "dev_pav": "devPAV, log10",
    "misleading_tar": "targets with LR < 1",
    "misleading_non": "non-targets with LR > 1",
    "mean_inverse_lr_tar": "mean 1/LR of targets (calibrated: 1)",
    "mean_lr_non": "mean LR of non-targets (calibrated: 1)",
    "mean_log10_lr_tar": "mean log10 LR of targets",
    "mean_log10_lr_non": "mean log10 LR of non-targets",
}
_FEW_DECIDE = "mean 1/LR and mean LR: few misleading trials decide them, read them beside Cllr"
_DRAWN = ("n_speakers", "confidence", "seed")


@attrs.frozen(kw_only=True, repr=False)
class Validation:
    r"""How good log-likelihood-ratios are, for a validation report; made by `validate`.

    Parameters
    ----------
    n_tar, n_non : int
        Numbers of trials.
    cllr, min_cllr, calibration_loss : float
        Cllr in bits, and its parts: discrimination, and what calibration adds.
    brier, min_brier : float
        Mean of both classes' squared posterior errors at prior 0.5, over that of a detector
        that knows only the prior; and the same after optimal recalibration by PAV.
    dev_pav : float
        Mean distance of the PAV curve from the diagonal, log10 units; infinite where an infinite
        LLR is on the wrong side, NaN where the classes are apart.
    misleading_tar, misleading_non : float
        Share of the trials of the class whose likelihood-ratio favours the other.
    mean_inverse_lr_tar, mean_lr_non : float
        Both are 1 in expectation if the likelihood-ratios are calibrated. Of few trials they are
        far off, because few misleading trials decide them: read them beside Cllr.
    mean_log10_lr_tar, mean_log10_lr_non : float
        Mean decimal logarithms.
    linear_loss : float or None
        What a cross-fitted line takes off Cllr; of `validate_scores` only.
    intervals : dict of str to (float, float)
        Intervals of some of the figures, by name; of `validate_scores` only, and none below 5
        speakers.
    confidence : float or None
        Nominal coverage of the intervals.
    n_speakers, seed : int or None
        How many speakers there are, and what `validate_scores` needs as ``rng`` to divide them into
        the same folds.
    """

    n_tar: int
    n_non: int
    cllr: float
    min_cllr: float
    calibration_loss: float
    brier: float
    min_brier: float
    dev_pav: float
    misleading_tar: float
    misleading_non: float
    mean_inverse_lr_tar: float
    mean_lr_non: float
    mean_log10_lr_tar: float
    mean_log10_lr_non: float
    linear_loss: float | None = None
    intervals: Mapping[str, tuple[float, float]] = attrs.Factory(dict)
    confidence: float | None = None
    n_speakers: int | None = None
    seed: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name, and how the intervals were made, without these.

        Returns
        -------
        dict
        """
        given = {name: getattr(self, name) for name in ("n_tar", "n_non", *_MEANING, *_DRAWN)}
        return {name: value for name, value in given.items() if value is not None}

    def _repr_html_(self) -> str:
        """Return a table with a row for each figure."""
        return card(f"Validation: {self._counts}\n({_FEW_DECIDE})", rows=self._rows())

    def _rows(self) -> list[list[str]]:
        rows = []
        for name, meaning in _MEANING.items():
            if (value := getattr(self, name)) is None:
                continue
            rows.append([meaning, f"{value:.4g}"])
            if self.intervals:
                ends = self.intervals.get(name)
                rows[-1].append("no interval" if ends is None else "[{:.4g}, {:.4g}]".format(*ends))
        return rows

    @property
    def _counts(self) -> str:
        counts = f"{self.n_tar} targets, {self.n_non} non-targets"
        if self.confidence is None:
            return counts
        how = (
            f"{100 * self.confidence:g} % intervals" if self.intervals else "too few for intervals"
        )
        return f"{counts}, {self.n_speakers} speakers; {how}, seed {self.seed}"

    def __repr__(self) -> str:
        """Return a line for each figure."""
        lines = (line.rstrip() for line in text_table(self._rows()))
        return "\n".join((self._counts, *lines, f"({_FEW_DECIDE})"))


def validate(results: Results) -> Validation:
    r"""Compute the figures of a validation report from log-likelihood-ratios.

    Parameters
    ----------
    results : Results
        Of two lists of scores without weights: ``Results(tar, non)`` or ``Results.from_scores``;
        best those of `cross_fit`.

    Returns
    -------
    Validation

    Notes
    -----
    devPAV is that of `PAVCurve`. It and the loss of calibration are fitted to the trials that they
    judge: of few trials they show noise. The loss by cross-fitting does not, see the page on
    calibration.

    Examples
    --------
    >>> from bosaris_py import Results
    >>> validate(Results([1.0, 3.0, 4.0], [-2.0, 0.5, 2.0])).misleading_non
    0.6666666666666666
    """
    sample = getattr(results, "sample", None)
    listed = isinstance(sample, Sample) and not sample.in_files
    if sample is None or not (listed and sample.tar.is_plain and sample.non.is_plain):
        hint = "Give Results(tar, non)."
        raise invalid("results", "hold two lists without weights", describe(results), hint)
    tar, non = sample.tar.scores, sample.non.scores.astype(np.float64)
    curve = PAVCurve.from_results(results)
    # Both classes after optimal recalibration: the pool of each trial.
    best = [
        curve.llr[np.searchsorted(curve.lowest, scores, side="right") - 1] for scores in (tar, non)
    ]
    log10 = float(np.log(10.0))
    return Validation(
        n_tar=results.n_tar,
        n_non=results.n_non,
        cllr=results.cllr,
        min_cllr=results.min_cllr,
        calibration_loss=results.calibration_loss,
        brier=Brier()(tar, non),
        min_brier=Brier()(*best),
        dev_pav=curve.dev_pav,
        misleading_tar=float(np.mean(tar < 0)),
        misleading_non=float(np.mean(non > 0)),
        mean_inverse_lr_tar=_mean_exp(-tar),
        mean_lr_non=_mean_exp(non),
        mean_log10_lr_tar=float(tar.mean()) / log10,
        mean_log10_lr_non=float(non.mean()) / log10,
    )


def _mean_exp(llrs: FloatArray) -> float:
    with np.errstate(over="ignore"):
        return float(np.mean(np.exp(llrs)))
