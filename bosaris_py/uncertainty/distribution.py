"""How a bootstrap's standard error varies from run to run, and tests between methods.

A standard error from B replicates is itself random. Wu et al. 2016 repeat each bootstrap 500
times, look at the distribution of the standard errors, and compare methods by their means and
variances.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
from scipy import special

from bosaris_py._arrays import Float64Array, mark_read_only
from bosaris_py._execution import Runner, whole_number
from bosaris_py._validation import Rng, as_vector, check_choice, describe, invalid, refuse_nan
from bosaris_py.uncertainty.bootstrap_result import (
    Alternative,
    NormalityTest,
    ZTest,
    normality_test,
    quantile,
    relative_error,
    z_test,
)
from bosaris_py.uncertainty.bootstrapping import System, blocks_of, warn_of_few_errors
from bosaris_py.uncertainty.resampling import Method, Resampling
from bosaris_py.uncertainty.samplers import Sampler
from bosaris_py.uncertainty.statistic import DCF, StatisticLike, as_statistic
from bosaris_py.uncertainty.strata import TrialStrata, as_classes

_FEWEST_RUNS = 2


@attrs.frozen(eq=False, repr=False)
class StandardErrorDistribution:
    """Standard errors of one statistic from many runs of one bootstrap.

    Parameters
    ----------
    estimate : float
        The statistic of the data themselves.
    standard_errors : (runs,) ndarray of float64
        The standard error that each run found.
    low, high : float
        Quantiles of these, an interval for the standard error of one run.
    method : str
        How trials were resampled.
    replications : int
        Number of replicates in each run.
    confidence : float
        Share of runs between `low` and `high`.
    """

    estimate: float
    standard_errors: Float64Array
    low: float
    high: float
    method: str
    replications: int
    confidence: float

    @property
    def mean(self) -> float:
        """Mean of the standard errors."""
        return float(self.standard_errors.mean())

    @property
    def standard_error(self) -> float:
        """Standard deviation of the standard errors, unbiased."""
        return float(self.standard_errors.std(ddof=1))

    @property
    def relative_error(self) -> float:
        """1.96 SE / mean of the standard errors, a fraction: table II of Wu et al."""
        return float(relative_error(self.standard_error, self.mean))

    @property
    def relative_error_of_estimate(self) -> float:
        """1.96 mean standard error / estimate, a fraction: table III of Wu et al."""
        return float(relative_error(self.mean, self.estimate))

    def normality_test(self) -> NormalityTest:
        """Test if the standard errors look normal; see `bosaris_py.uncertainty.normality_test`.

        Returns
        -------
        NormalityTest
        """
        return normality_test(self.standard_errors)

    def __repr__(self) -> str:
        """Put mean, spread and interval on one line."""
        return (
            f"StandardErrorDistribution: mean {self.mean:.4g}, standard error "
            f"{self.standard_error:.2g}, {100 * self.confidence:g} % of runs {self.low:.4g} to "
            f"{self.high:.4g}; {self.method} bootstrap, {self.standard_errors.size} runs of "
            f"{self.replications} replicates"
        )


@attrs.frozen
class _TwiceCountedDCF(DCF):
    """A DCF for integer scores that counts the threshold as an error in both classes."""

    @property
    def miss_limits(self) -> Float64Array:
        """The next number above the threshold: targets up to the threshold are missed."""
        with np.errstate(over="ignore"):
            return np.array([np.nextafter(self.threshold, np.inf)])


def standard_error_distribution(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    statistic: StatisticLike,
    *,
    method: Method = "iid",
    tar_sets: npt.ArrayLike | None = None,
    non_sets: npt.ArrayLike | None = None,
    tar_conditions: npt.ArrayLike | None = None,
    non_conditions: npt.ArrayLike | None = None,
    condition_weights: Mapping[Any, float] | None = None,
    runs: int = 500,
    replications: int = 2000,
    confidence: float = 0.95,
    count_threshold_twice: bool = False,
    rng: Rng = None,
    workers: int = 1,
    progress: bool = False,
) -> StandardErrorDistribution:
    r"""Repeat a bootstrap many times to see how its standard error varies.

    Parameters
    ----------
    tar : (n_tar,) array_like of float
        Target scores; no NaN, +-inf allowed.
    non : (n_non,) array_like of float
        Non-target scores, likewise.
    statistic : Statistic or callable
        As in `bootstrap`; its value must be a number, not an array.
    method : {"iid", "one-layer", "two-layer"}
        As in `bootstrap`.
    tar_sets, non_sets : array_like of str or int, optional
        Label of each trial's set, as in `bootstrap`.
    tar_conditions, non_conditions, condition_weights
        Conditions of the trials, as in `bootstrap`.
    runs : int, default: 500
        Number of bootstraps, at least 2.
    replications : int, default: 2000
        Number of replicates in each.
    confidence : float, default: 0.95
        Share of runs in the interval, strictly between 0 and 1.
    count_threshold_twice : bool, default: False
        Count a score equal to the threshold as a miss and as a false alarm, as
        the papers do with scores that they have rounded to integers. Only for
        a `DCF`, and only to repeat their numbers.
    rng : Generator, int or None
        Source of randomness; each run draws from its own child of it.
    workers : int, default: 1
        Number of processes; the result does not depend on it.
    progress : bool, default: False
        Show a progress bar.

    Returns
    -------
    StandardErrorDistribution

    Raises
    ------
    InvalidInputError
        As `bootstrap`; or if the statistic is an array, is not defined on
        some replicates, or is no `DCF` although `count_threshold_twice`.

    Warns
    -----
    FewErrorsWarning
        If a rate of the statistic rests on fewer than 30 errors.

    Notes
    -----
    Section VII of [1]_ finds 500 runs enough. With `count_threshold_twice`,
    :math:`\alpha(t) = \sum_{s \le t} P_T(s)` and :math:`\beta(t) = \sum_{s \ge t} P_N(s)`, its
    equation (2) and NISTIR 7722, equation (5). Elsewhere this package accepts a score equal to the
    threshold.

    References
    ----------
    .. [1] J. C. Wu, A. F. Martin, C. S. Greenberg and R. N. Kacker, "The impact
       of data dependence on speaker recognition evaluation", IEEE/ACM TASLP 25,
       2017, doi:10.1109/TASLP.2016.2614725.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> tar, non = rng.normal(3, 1, 1000), rng.normal(0, 1, 9000)
    >>> runs = standard_error_distribution(tar, non, DCF(2.0), runs=100, rng=1)
    >>> 0.02 < runs.relative_error < 0.05  # near 1.96 / sqrt(2 * 2000)
    True
    """
    chosen = as_statistic(_count_twice(statistic) if count_threshold_twice else statistic)
    scores = as_classes(tar, non)
    sizes = scores[0].size, scores[1].size
    strata = TrialStrata.from_labels(tar_conditions, non_conditions, condition_weights, sizes)
    options = Resampling(method, replications, confidence, None, rng, workers, progress)
    n_runs = whole_number(runs, _FEWEST_RUNS, "runs")
    plan = options.plan_of_lists(strata, tar_sets, non_sets)
    system = System.of(chosen, scores, strata)
    if np.ndim(system.estimate):
        raise invalid("statistic", "be a number", f"{np.size(system.estimate)} values")
    warn_of_few_errors([system], strata)
    runner = Runner("bootstraps", options.workers, progress=progress)
    shared = system.statistic.sampler(*scores, plan), options.replications
    errors = np.array(runner.map(_run, shared, options.rng.spawn(n_runs)))
    undefined = int(np.count_nonzero(~np.isfinite(errors)))
    if undefined:
        got = f"undefined replicates in {undefined} of {n_runs} runs"
        raise invalid("statistic", "be defined on all replicates", got)
    level = options.confidence
    low, high = quantile(errors, [(1.0 - level) / 2.0, (1.0 + level) / 2.0]).tolist()
    return StandardErrorDistribution(
        system.estimate, mark_read_only(errors), low, high, method, options.replications, level
    )


def _run(sampler_and_size: tuple[Sampler, int], rng: np.random.Generator) -> float:
    sampler, replications = sampler_and_size
    blocks = blocks_of(sampler, replications, rng)
    # Infinite replicates make NaN, which the caller reports.
    with np.errstate(invalid="ignore"):
        return float(np.concatenate([sampler.draw(*block) for block in blocks]).std(ddof=1))


def _count_twice(statistic: StatisticLike) -> _TwiceCountedDCF:
    if not isinstance(statistic, DCF):
        expected = "be a DCF if the threshold is counted twice"
        raise invalid("statistic", expected, describe(statistic))
    return _TwiceCountedDCF(**attrs.asdict(statistic))


def relative_deviation(standard_error: npt.ArrayLike, reference: npt.ArrayLike) -> Any:
    """Compare a bootstrap's standard error with an analytic one.

    Parameters
    ----------
    standard_error : float or array_like of float
        From a bootstrap.
    reference : float or array_like of float
        From a formula.

    Returns
    -------
    float or ndarray of float64
        Absolute difference over the reference, a fraction.

    Notes
    -----
    NISTIR 7722, equation (15), printed there in percent.

    Examples
    --------
    >>> round(100 * relative_deviation(0.000489, 0.000491), 2)
    0.41
    """
    known = np.asarray(reference, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(np.asarray(standard_error, dtype=np.float64) - known) / known
    return float(ratio) if ratio.ndim == 0 else ratio


@attrs.frozen
class FTest:
    """The outcome of an F-test of the equality of two variances.

    Parameters
    ----------
    ratio : float
        First variance over second.
    p_value : float
        Chance of a ratio at least as extreme if the variances are equal and
        the samples normal.
    """

    ratio: float
    p_value: float


def z_test_of_means(
    first: StandardErrorDistribution | npt.ArrayLike,
    second: StandardErrorDistribution | npt.ArrayLike,
    *,
    alternative: Alternative = "two-sided",
) -> ZTest:
    r"""Test if two distributions of standard errors have the same mean.

    Parameters
    ----------
    first, second : StandardErrorDistribution or (n,) array_like of float
        From two methods of resampling; independent of each other.
    alternative : {"two-sided", "less", "greater"}
        What to look for: any difference, or the first mean being less, or
        greater, than the second.

    Returns
    -------
    ZTest
        With the difference of the means, its standard error, z and p-value.

    Raises
    ------
    InvalidInputError
        If a sample is too small or holds NaN.

    Notes
    -----
    Section VIII-B of Wu et al. 2016, see `standard_error_distribution`:
    :math:`z = (\bar x_1 - \bar x_2) / \sqrt{s_1^2/n_1 + s_2^2/n_2}`. Its
    p-values "close to one" are those of the alternative that the mean of the
    one-layer bootstrap is greater than that of the two-layer bootstrap.

    It tells whether two *methods* differ, and with enough runs they always do;
    it says nothing about systems.

    Examples
    --------
    >>> z_test_of_means([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]).z
    -1.224744871391589
    """
    x, y = _as_sample(first, "first"), _as_sample(second, "second")
    variance = x.var(ddof=1) / x.size + y.var(ddof=1) / y.size
    difference = float(x.mean() - y.mean())
    return z_test(difference, float(np.sqrt(variance)), alternative, "z-test of means")


def f_test_of_variances(
    first: StandardErrorDistribution | npt.ArrayLike,
    second: StandardErrorDistribution | npt.ArrayLike,
    *,
    alternative: Alternative = "two-sided",
) -> FTest:
    r"""Test if two distributions of standard errors have the same variance.

    Parameters
    ----------
    first, second : StandardErrorDistribution or (n,) array_like of float
        From two methods of resampling; independent of each other.
    alternative : {"two-sided", "less", "greater"}
        What to look for: any difference, or the first variance being less, or
        greater, than the second.

    Returns
    -------
    FTest
        Ratio and p-value. Two-sided: twice the smaller tail.

    Raises
    ------
    InvalidInputError
        If a sample is too small, holds NaN or is constant.

    Notes
    -----
    Section VIII-B of Wu et al. 2016: :math:`s_1^2/s_2^2` has an F distribution with
    :math:`n_1 - 1` and :math:`n_2 - 1` degrees of freedom if both samples are
    normal and the variances equal. For system EL it prints 0.73 %.

    Examples
    --------
    >>> test = f_test_of_variances([1.0, 2.0, 3.0], [1.0, 3.0, 5.0])
    >>> test.ratio, round(test.p_value, 12)
    (0.25, 0.4)
    """
    x, y = _as_sample(first, "first"), _as_sample(second, "second")
    check_choice(alternative, Alternative, "alternative")
    variances = x.var(ddof=1), y.var(ddof=1)
    for variance, name in zip(variances, ("first", "second"), strict=True):
        if not variance > 0:
            raise invalid(name, "not be constant", "equal values")
    ratio = float(variances[0] / variances[1])
    lower = float(special.fdtr(x.size - 1, y.size - 1, ratio))
    upper = float(special.fdtrc(x.size - 1, y.size - 1, ratio))
    tails = {"less": lower, "greater": upper, "two-sided": min(1.0, 2.0 * min(lower, upper))}
    return FTest(ratio, tails[alternative])


def _as_sample(sample: StandardErrorDistribution | npt.ArrayLike, name: str) -> Float64Array:
    if isinstance(sample, StandardErrorDistribution):
        return sample.standard_errors
    values = as_vector(sample, name).astype(np.float64, copy=False)
    refuse_nan(values, name)
    if values.size < _FEWEST_RUNS:
        raise invalid(name, f"hold at least {_FEWEST_RUNS} values", f"{values.size}")
    return values
