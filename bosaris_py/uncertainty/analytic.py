"""Standard errors in closed form: of the area under the ROC, and of costs at a threshold."""

from __future__ import annotations

from typing import Literal

import attrs
import numpy as np
import scipy

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike, FloatArray, mark_read_only
from bosaris_py.metrics.metric import ThresholdMetric, as_metric
from bosaris_py.numerics.roc import count_below
from bosaris_py.trials.sample import Sample, ScoredClass
from bosaris_py.uncertainty.bootstrap import drawn_lists, few_errors
from bosaris_py.uncertainty.estimate import Estimate
from bosaris_py.uncertainty.proportions import NormalLaw

SetMethod = Literal["upper-bound", "one-layer", "two-layer"]

# Royston's approximation of the p-value holds for these sample sizes.
_FEWEST, _MOST = 3, 5000


def auc_standard_error(tar: ArrayLike, non: ArrayLike) -> float:
    r"""Compute the standard error of the area under the ROC, for independent trials.

    Parameters
    ----------
    tar, non : (n,) array_like of float
        Target and non-target scores; no NaN, +-inf allowed.

    Returns
    -------
    float
        In [0, 0.5]; 0 if one class lies above the other altogether.

    Warns
    -----
    FewErrorsWarning
        If the result is 0: all pairs compare alike, which is no measure of uncertainty.

    See Also
    --------
    delong : Nearly the same number, with the covariance of several systems.

    Notes
    -----
    For :math:`T` targets, :math:`N` non-targets and the area :math:`A`,

    .. math::

        SE^2 = \frac{A(1-A) + (T-1)(B_{TTN} - A^2) + (N-1)(B_{NNT} - A^2)}{T N}.

    :math:`B_{TTN}` is the chance that two targets, drawn with replacement, outscore a non-target.
    :math:`B_{NNT}` is the chance that a target outscores two non-targets, equations (12) to (14) of
    [1]_. Coins decide which of equal scores ranks higher.

    References
    ----------
    .. [1] J. C. Wu et al., "Measurement uncertainties in speaker recognition evaluation", NISTIR
       7722, 2010, equations (10) to (14).

    Examples
    --------
    >>> round(auc_standard_error([1.0, 3.0], [0.0, 2.0]) ** 2, 6)
    0.078125
    """
    sample = Sample.from_scores(tar, non)
    roc, n_tar, n_non = sample.roc(), sample.n_tar, sample.n_non
    # At each distinct target score: the shares of the targets and of the non-targets there, and of
    # the non-targets between it and the one before.
    at = np.flatnonzero(np.diff(roc.misses))
    from_it, above_it = roc.false_alarms[at], roc.false_alarms[at + 1]
    p_tar, p_tied = np.diff(roc.misses)[at] / n_tar, (from_it - above_it) / n_non
    p_between = (np.append(n_non, above_it[:-1]) - from_it) / n_non
    # Equations (10) and (11): targets above, and non-targets below.
    tar_from = np.cumsum(p_tar[::-1])[::-1]
    tar_above = tar_from - p_tar
    non_below = np.cumsum(p_between)
    non_below[1:] += np.cumsum(p_tied)[:-1]
    # Equation (12); between two target scores the share of targets above is constant. Of three
    # equal scores each is the lowest, or the highest, in a third of the random orders.
    b_ttn = float(np.dot(p_between, tar_from**2))
    b_ttn += float(np.dot(p_tied, tar_above**2 + tar_above * p_tar + p_tar**2 / 3.0))
    # Equation (13).
    b_nnt = float(np.dot(p_tar, non_below**2 + non_below * p_tied + p_tied**2 / 3.0))
    # Equation (14).
    area = roc.auc
    total = area - area**2
    total += (n_tar - 1.0) * (b_ttn - area**2) + (n_non - 1.0) * (b_nnt - area**2)
    # Rounding may leave a negative sum where all pairs compare alike.
    if total <= 0.0:
        errors.warn(_ALL_ALIKE)
        return 0.0
    return float(np.sqrt(total / (n_tar * n_non)))


_ALL_ALIKE = [
    errors.Note(
        errors.FewErrorsWarning,
        "All pairs of a target and a non-target compare alike, so the standard error is 0.",
        advice="This is a property of the formula, and does not measure how certain the area is.",
    )
]


@attrs.frozen(eq=False, repr=False)
class DeLongResult:
    """Areas under the ROC of systems on the same trials, with their covariance.

    Made by `delong`. Arrays are read-only.

    Parameters
    ----------
    auc : (k,) ndarray of float64
        Area under the ROC of each system.
    covariance : (k, k) ndarray of float64
        Estimated covariance of these areas over repetitions of the experiment.
    """

    auc: FloatArray
    covariance: FloatArray

    @property
    def standard_errors(self) -> FloatArray:
        """Standard error of the area of each system: (k,)."""
        return mark_read_only(np.sqrt(np.diag(self.covariance)))

    def compare(self, first: int = 0, second: int = 1) -> Estimate:
        """Test if the areas of two of the systems differ.

        Parameters
        ----------
        first, second : int
            Which systems, by position; by default the first two.

        Returns
        -------
        Estimate
            Of the difference of areas, first - second. Larger areas are better.
        """
        # The variance of a linear function c'A of the areas is c'Sc for their covariance S.
        contrast = np.eye(self.auc.size)[first] - np.eye(self.auc.size)[second]
        variance = max(float(contrast @ self.covariance @ contrast), 0.0)
        # Areas without variance, of separated classes, say nothing about their difference.
        least_p = 0.0 if variance > 0.0 else 1.0
        difference = float(self.auc[first] - self.auc[second])
        return NormalLaw(difference, variance, least_p=least_p).estimate("DeLong")

    def __repr__(self) -> str:
        """Show each area with its standard error."""
        pairs = zip(self.auc, self.standard_errors, strict=True)
        return f"DeLongResult: AUC {', '.join(f'{a:.4f} +- {error:.2g}' for a, error in pairs)}"


def delong(tar: ArrayLike, non: ArrayLike) -> DeLongResult:
    r"""Compute areas under the ROC and their covariance by DeLong's method.

    Parameters
    ----------
    tar : (k, n_tar) or (n_tar,) array_like of float
        Target scores of k systems on the same trials, one row per system; at least two trials, no
        NaN, +-inf allowed.
    non : (k, n_non) or (n_non,) array_like of float
        Non-target scores, likewise.

    Returns
    -------
    DeLongResult

    Raises
    ------
    TrialMismatchError
        If `tar` and `non` are not of equally many systems.

    Warns
    -----
    FewErrorsWarning
        If the variance of a system is 0, as for `auc_standard_error`.

    See Also
    --------
    auc_standard_error : The plug-in formula of NISTIR 7722.

    Notes
    -----
    Each target has a placement, the share of non-targets that it outscores, ties counted half;
    each non-target likewise. The covariance of the areas is that of the targets' placements,
    divided by n_tar, plus that of the non-targets', divided by n_non; both unbiased [1]_. O(k n log
    n) time [2]_.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or
       more correlated ROC curves", Biometrics 44, 1988, doi:10.2307/2531595.
    .. [2] X. Sun and W. Xu, "Fast implementation of DeLong's algorithm", IEEE Signal
       Processing Letters 21, 2014, doi:10.1109/LSP.2014.2337313.

    Examples
    --------
    >>> result = delong([[1.0, 3.0], [1.5, 3.0]], [[0.0, 2.0], [4.0, 0.5]])
    >>> result.auc.tolist()
    [0.75, 0.5]
    >>> print(f"p {result.compare().p_value():.3f}")
    p 0.752
    """
    tar_rows, non_rows = _as_rows(tar, "tar"), _as_rows(non, "non")
    if len(tar_rows) != len(non_rows):
        raise errors.TrialMismatchError(
            f"`tar` and `non` must hold one row of scores per system; "
            f"got {len(tar_rows)} and {len(non_rows)} rows."
        )
    systems = list(zip(tar_rows, non_rows, strict=True))
    for rows in systems:
        check.refuse_labels(*rows)
    of_tar = np.array([_share_below(np.sort(others), row) for row, others in systems])
    of_non = np.array([1.0 - _share_below(np.sort(others), row) for others, row in systems])
    # The variance of a placement within each class, over the number of trials of the class.
    covariance = np.atleast_2d(np.cov(of_tar) / len(of_tar[0]) + np.cov(of_non) / len(of_non[0]))
    if not np.diag(covariance).all():
        errors.warn(_ALL_ALIKE)
    return DeLongResult(mark_read_only(of_tar.mean(axis=1)), mark_read_only(covariance))


def _as_rows(scores: ArrayLike, name: str) -> FloatArray:
    """Return the scores of one class, a row for each system."""
    rows = np.atleast_2d(check.as_float_array(scores, name))
    if rows.ndim != 2 or rows.shape[1] < 2:
        expected = "be a matrix of at least two trials of at least one system"
        raise check.invalid(name, expected, check.describe(rows))
    check.refuse_nan(rows.ravel(), name)
    return rows


def _share_below(others: FloatArray, scores: FloatArray) -> FloatArray:
    """Return the share of ascending others below each score, equal ones counted half."""
    count = count_below(others, scores) + count_below(others, scores, "right")
    return np.asarray(count / (2.0 * others.size))


def dcf_standard_error(
    tar: ArrayLike,
    non: ArrayLike,
    metric: object,
    *,
    method: SetMethod = "upper-bound",
    tar_sets: ArrayLike | None = None,
    non_sets: ArrayLike | None = None,
) -> float:
    r"""Compute the standard error of a detection cost at a fixed threshold.

    Parameters
    ----------
    tar, non : (n,) array_like of float
        Target and non-target scores; no NaN, +-inf allowed.
    metric : DCF or ActDCF
        The cost, or another metric of error-rates at thresholds of its own, such as `Pmiss`.
    method : {"upper-bound", "one-layer", "two-layer"}, default: "upper-bound"
        "upper-bound" is equation (4) of [1]_ without its covariance term, which is zero at a fixed
        threshold: the limit of the bootstrap of trials. "one-layer" and "two-layer" are the limits
        of the bootstraps of sets, and of sets and trials in them.
    tar_sets, non_sets : (n,) array_like of str or int, optional
        Label of the set of each trial, for instance its model, for "one-layer" and "two-layer".
        Sets of the two classes are resampled independently, even if labels are the same.

    Returns
    -------
    float
        In the unit of the cost.

    Warns
    -----
    FewErrorsWarning
        If one of the rates rests on fewer than 30 errors.

    See Also
    --------
    speaker_interval : For trials that share speakers on both sides.

    Notes
    -----
    :math:`SE^2 = V_{tar} + V_{non}`. For one class, let :math:`l_i` be what trial i costs (the
    price of an error, or 0), :math:`z_i = (l_i - \bar l) / n` for n trials, and :math:`Z_j, n_j`
    the sum of :math:`z_i` over set :math:`j` and its number of trials. Then

    .. math::

        V = \begin{cases}
            \sum_i z_i^2 & \text{upper bound} \\
            \sum_j Z_j^2 & \text{one-layer} \\
            \sum_j \left( Z_j^2 + \sum_{i \in j} z_i^2 - Z_j^2 / n_j \right) & \text{two-layer}
        \end{cases}

    The first is exact: of one threshold and price c, :math:`V = c^2 p (1-p) / n`. For sets of equal
    size *one-layer* is exact; of unequal ones the relative error is of order 1/m for m sets. What
    *two-layer* adds is the variance of :math:`n_j` draws from the trials of a drawn set. The
    estimand is the rate of all trials, not the mean of the sets' rates.

    References
    ----------
    .. [1] J. C. Wu et al., "The impact of data dependence on speaker recognition evaluation",
       IEEE/ACM TASLP 25, 2017, equation (4), doi:10.1109/TASLP.2016.2614725.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py.uncertainty import DCF
    >>> tar, non = np.repeat([-1.0, 1.0], [40, 360]), np.repeat([-1.0, 1.0], [950, 50])
    >>> se = dcf_standard_error(tar, non, DCF(0.0, 0.5, normalize=False))
    >>> bool(np.isclose(se**2, 0.25 * (0.1 * 0.9 / 400 + 0.05 * 0.95 / 1000)))
    True
    """
    check.check_choice(method, SetMethod, "method")
    chosen = as_metric(metric)
    if not isinstance(chosen, ThresholdMetric):
        expected = "be a cost at a threshold, such as DCF(...) or ActDCF(...)"
        raise check.invalid("metric", expected, check.describe(metric))
    drawn = "iid" if method == "upper-bound" else method
    sample = chosen.view(drawn_lists(tar, non, drawn, tar_sets, non_sets))
    classes = sample.tar, sample.non
    losses = np.zeros(sample.tar.size), np.zeros(sample.non.size)
    for limit, miss, fa in chosen.points:
        losses[0][:] += miss * (sample.tar.scores < np.float64(limit))
        losses[1][:] += fa * (sample.non.scores >= np.float64(limit))
    errors.warn(few_errors(chosen, sample))
    return float(np.sqrt(sum(map(_variance_of_mean, losses, classes, (method, method)))))


def _variance_of_mean(losses: FloatArray, one: ScoredClass, method: SetMethod) -> float:
    """Return the variance of the mean loss of the sorted trials of a class."""
    residuals = (losses - losses.mean()) / one.size
    single = float(np.dot(residuals, residuals))
    if method == "upper-bound" or one.sorted_speakers is None:
        return single
    sets = one.sorted_speakers[0]
    sums, sizes = np.bincount(sets, residuals), np.bincount(sets)
    between = float(np.dot(sums, sums))
    if method == "one-layer":
        return between
    return between + single - float(np.dot(sums, sums / sizes))


@attrs.frozen
class NormalityTest:
    """The outcome of Shapiro and Wilk's test; made by `normality_test`.

    Parameters
    ----------
    w : float
        The statistic W, at most 1; smaller means less normal.
    p_value : float
        Chance of a W at most as large if the sample is normal.
    """

    w: float
    p_value: float


def normality_test(sample: ArrayLike) -> NormalityTest:
    """Test if a sample looks normal, by Shapiro and Wilk's test.

    Parameters
    ----------
    sample : (n,) array_like of float
        3 to 5000 values, not all equal, such as the replicates of a bootstrap; no NaN.

    Returns
    -------
    NormalityTest
        With W and the p-value; a small one speaks against normality.

    Notes
    -----
    NISTIR 7722, section 3; Wu et al. 2017, sections VIII-A and VIII-B. A fixed-threshold DCF takes
    few distinct values where there are few errors, and the test then finds steps, not skewness.

    Examples
    --------
    >>> import numpy as np
    >>> sample = np.random.default_rng(0).normal(size=2000)
    >>> normality_test(sample).p_value > 0.05
    True
    """
    values = check.as_vector(sample, "sample")
    check.refuse_nan(values, "sample")
    if not (_FEWEST <= values.size <= _MOST and values.min() < values.max()):
        expected = f"hold {_FEWEST} to {_MOST} values, not all equal"
        raise check.invalid("sample", expected, check.describe(values))
    # scipy loads its statistics when asked: that takes longer than most bootstraps.
    return NormalityTest(*map(float, scipy.stats.shapiro(values)))
