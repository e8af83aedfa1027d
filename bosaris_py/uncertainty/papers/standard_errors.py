"""The experiments of NISTIR 7722 and of Wu et al. 2016 with the bootstrap itself.

Sets of equal size, the distribution of standard errors over many runs, and tests of two of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import scipy

from bosaris_py import _validation as check
from bosaris_py._arrays import BoolArray, Float64Array, mark_read_only
from bosaris_py._parallel import Runner, whole_number
from bosaris_py._validation import Rng
from bosaris_py.trials.strata import FEWEST_SETS, SetIndex, group_labels
from bosaris_py.uncertainty import bootstrap_result, bootstrapping
from bosaris_py.uncertainty.resampling import Method, Resampling
from bosaris_py.uncertainty.speaker_curve import SpeakerSampler
from bosaris_py.uncertainty.statistics.functions import StatisticLike
from bosaris_py.uncertainty.statistics.samplers import MeansSampler, Sampler


@attrs.frozen(eq=False, repr=False)
class EqualSizeSets:
    """A choice of trials that leaves sets of equal size.

    Parameters
    ----------
    mask : (n,) ndarray of bool
        Which trials are kept.
    size : int
        Number of trials in each set that is kept.
    n_sets : int
        Number of sets that are kept.

    Examples
    --------
    >>> EqualSizeSets(mask=np.array([True, False, True, True, True]), size=2, n_sets=2)
    EqualSizeSets: 2 sets of 2, 4 of 5 trials
    """

    mask: BoolArray
    size: int
    n_sets: int

    @property
    def n_kept(self) -> int:
        """Number of trials that are kept."""
        return self.size * self.n_sets

    def __repr__(self) -> str:
        """Say what is kept."""
        total = self.mask.size
        return f"EqualSizeSets: {self.n_sets} sets of {self.size}, {self.n_kept} of {total} trials"


def equal_size_sets(sets: npt.ArrayLike, *, rng: Rng = None) -> EqualSizeSets:
    """Keep as many trials as possible such that all sets have the same size.

    Parameters
    ----------
    sets : (n,) array_like of str or int
        Label of each trial's set.
    rng : Generator, int or None, keyword-only
        Decides which trials of the larger sets are kept.

    Returns
    -------
    EqualSizeSets
        With a mask of the trials to keep. Sets smaller than the size chosen are dropped, larger
        ones are sampled without replacement.

    Notes
    -----
    Wu et al. 2017, section IX (see `bootstrap`, which takes sets of any size), choose the size by
    trial and error. It has an exact answer: with the sizes in descending order, the j largest sets
    keep at most j times the size of the j-th, and only these products compete. At least two sets
    are kept; of equally good choices the one with more sets.

    Examples
    --------
    >>> chosen = equal_size_sets(["a"] * 5 + ["b"] * 4 + ["c"], rng=0)
    >>> chosen
    EqualSizeSets: 2 sets of 4, 8 of 10 trials
    """
    generator = check.as_generator(rng)
    labels = group_labels(sets, "sets")
    index = SetIndex.from_labels(labels, labels.size, "sets")
    descending = np.sort(index.sizes)[::-1]
    kept = descending * np.arange(1, descending.size + 1)
    # The last of equal products has the most sets.
    n_sets = descending.size - int(np.argmax(kept[: FEWEST_SETS - 2 : -1]))
    size = int(descending[n_sets - 1])
    # In random order within each set, the first `size` trials are a random choice.
    order = np.lexsort((generator.random(labels.size), index.labels))
    starts = np.cumsum(index.sizes) - index.sizes
    rank = np.arange(order.size) - np.repeat(starts, index.sizes)
    chosen = (rank < size) & (np.repeat(index.sizes, index.sizes) >= size)
    mask = np.zeros(order.size, dtype=np.bool_)
    mask[order[chosen]] = True
    return EqualSizeSets(mark_read_only(mask), size, n_sets)


FEWEST_RUNS = 2


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
        return float(bootstrap_result.relative_error(self.standard_error, self.mean))

    @property
    def relative_error_of_estimate(self) -> float:
        """1.96 mean standard error / estimate, a fraction: table III of Wu et al."""
        return float(bootstrap_result.relative_error(self.mean, self.estimate))

    def normality_test(self) -> bootstrap_result.NormalityTest:
        """Test if the standard errors look normal; see `bosaris_py.uncertainty.normality_test`.

        Returns
        -------
        NormalityTest
        """
        return bootstrap_result.normality_test(self.standard_errors)

    def __repr__(self) -> str:
        """Put mean, spread and interval on one line."""
        return (
            f"StandardErrorDistribution: mean {self.mean:.4g}, standard error "
            f"{self.standard_error:.2g}, {100 * self.confidence:g} % of runs {self.low:.4g} to "
            f"{self.high:.4g}; {self.method} bootstrap, {self.standard_errors.size} runs of "
            f"{self.replications} replicates"
        )


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
    tar, non, statistic, method, tar_sets, non_sets
        As for `bootstrap`; the value of the statistic must be a number, not an array.
    tar_conditions, non_conditions, condition_weights
        As for `bootstrap`.
    runs : int, default: 500
        Number of bootstraps, at least 2.
    replications : int, default: 2000
        Number of replicates in each.
    confidence : float, default: 0.95
        Share of runs in the interval, strictly between 0 and 1.
    count_threshold_twice : bool, default: False
        Count a score equal to the threshold of a `DCF` as a miss and as a false alarm, to repeat
        the papers' numbers for scores that they have rounded to integers.
    rng, workers, progress
        As for `bootstrap`; each run draws from its own child of `rng`.

    Returns
    -------
    StandardErrorDistribution

    Warns
    -----
    FewErrorsWarning
        If a rate of the statistic rests on fewer than 30 errors.

    Notes
    -----
    Section VII of Wu et al. 2017, see `bootstrap`, finds 500 runs enough. With
    `count_threshold_twice`, :math:`\alpha(t) = \sum_{s \le t} P_T(s)` and
    :math:`\beta(t) = \sum_{s \ge t} P_N(s)`, its equation (2) and NISTIR 7722, equation (5).

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py.uncertainty import DCF
    >>> rng = np.random.default_rng(0)
    >>> tar, non = rng.normal(3, 1, 1000), rng.normal(0, 1, 9000)
    >>> runs = standard_error_distribution(tar, non, DCF(2.0, 0.01, 10, 1), runs=100, rng=1)
    >>> 0.02 < runs.relative_error < 0.05  # near 1.96 / sqrt(2 * 2000)
    True
    """
    n_runs = whole_number(runs, FEWEST_RUNS, "runs")
    how = Resampling(method, replications, confidence, None, rng, workers, progress)
    sets, labels = (tar_sets, non_sets), (tar_conditions, non_conditions)
    chosen, sample, plan = bootstrapping.drawn_lists(
        tar, non, statistic, how, sets, labels, condition_weights, twice=count_threshold_twice
    )
    system = bootstrapping.SampledSystem.of(chosen, sample)
    if np.ndim(system.estimate):
        raise check.invalid("statistic", "be a number", f"{np.size(system.estimate)} values")
    bootstrapping.warn_of_few_errors([system])
    return distribution_of(system, system.statistic.sampler(sample, plan), how, n_runs)


def distribution_of(
    system: bootstrapping.SampledSystem, sampler: Sampler, how: Resampling, runs: int
) -> StandardErrorDistribution:
    """Run the bootstrap of a statistic of one number many times."""
    runner = Runner("bootstraps", how.workers, progress=how.progress)
    shared = sampler, how.replications
    errors = np.array(runner.map(_run, shared, how.rng.spawn(runs)))
    undefined = int(np.count_nonzero(~np.isfinite(errors)))
    if undefined:
        got = f"undefined replicates in {undefined} of {runs} runs"
        raise check.invalid("statistic", "be defined on all replicates", got)
    level = how.confidence
    low, high = bootstrap_result.quantile(
        errors, [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    ).tolist()
    return StandardErrorDistribution(
        system.estimate, mark_read_only(errors), low, high, how.method, how.replications, level
    )


def _run(sampler_and_size: tuple[Sampler, int], rng: np.random.Generator) -> float:
    sampler, replications = sampler_and_size
    blocks = bootstrapping.blocks_of(sampler, replications, rng)
    # Infinite replicates make NaN, which the caller reports.
    if isinstance(sampler, (MeansSampler, SpeakerSampler)):
        replicates = sampler.draw_blocks(blocks)
    else:
        replicates = np.concatenate([sampler.draw(*block) for block in blocks])
    with np.errstate(invalid="ignore"):
        return float(replicates.std(ddof=1))


@attrs.frozen
class FTest:
    """The outcome of an F-test of the equality of two variances.

    Parameters
    ----------
    ratio : float
        First variance over second.
    p_value : float
        Chance of a ratio at least as extreme if the variances are equal and the samples normal.
    """

    ratio: float
    p_value: float


def z_test_of_means(
    first: StandardErrorDistribution | npt.ArrayLike,
    second: StandardErrorDistribution | npt.ArrayLike,
    *,
    alternative: bootstrap_result.Alternative = "two-sided",
) -> bootstrap_result.ZTest:
    r"""Test if two distributions of standard errors have the same mean.

    Parameters
    ----------
    first, second : StandardErrorDistribution or (n,) array_like of float
        From two methods of resampling; independent of each other.
    alternative : {"two-sided", "less", "greater"}
        What to look for: any difference, or the first mean being less, or greater, than the second.

    Returns
    -------
    ZTest
        With the difference of the means, its standard error, z and p-value.

    Notes
    -----
    Section VIII-B of Wu et al. 2017, see `bootstrap`:
    :math:`z = (\bar x_1 - \bar x_2) / \sqrt{s_1^2/n_1 + s_2^2/n_2}`. It tells whether two
    *methods* differ, and with enough runs they always do; it says nothing about systems.

    Examples
    --------
    >>> z_test_of_means([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]).z
    -1.224744871391589
    """
    x, y = _as_sample(first, "first"), _as_sample(second, "second")
    variance = x.var(ddof=1) / x.size + y.var(ddof=1) / y.size
    difference = float(x.mean() - y.mean())
    return bootstrap_result.z_test(
        difference, float(np.sqrt(variance)), alternative, "z-test of means"
    )


def f_test_of_variances(
    first: StandardErrorDistribution | npt.ArrayLike,
    second: StandardErrorDistribution | npt.ArrayLike,
    *,
    alternative: bootstrap_result.Alternative = "two-sided",
) -> FTest:
    r"""Test if two distributions of standard errors have the same variance.

    Parameters
    ----------
    first, second, alternative
        As for `z_test_of_means`, of variances.

    Returns
    -------
    FTest
        Ratio and p-value. Two-sided: twice the smaller tail.

    Notes
    -----
    Section VIII-B of Wu et al. 2017, see `bootstrap`: :math:`s_1^2/s_2^2` has an F distribution
    with :math:`n_1 - 1` and :math:`n_2 - 1` degrees of freedom if both samples are normal and the
    variances equal.

    Examples
    --------
    >>> test = f_test_of_variances([1.0, 2.0, 3.0], [1.0, 3.0, 5.0])
    >>> test.ratio, round(test.p_value, 12)
    (0.25, 0.4)
    """
    x, y = _as_sample(first, "first"), _as_sample(second, "second")
    check.check_choice(alternative, bootstrap_result.Alternative, "alternative")
    variances = x.var(ddof=1), y.var(ddof=1)
    for variance, name in zip(variances, ("first", "second"), strict=True):
        if not variance > 0:
            raise check.invalid(name, "not be constant", "equal values")
    ratio = float(variances[0] / variances[1])
    lower = float(scipy.special.fdtr(x.size - 1, y.size - 1, ratio))
    upper = float(scipy.special.fdtrc(x.size - 1, y.size - 1, ratio))
    tails = {"less": lower, "greater": upper, "two-sided": min(1.0, 2.0 * min(lower, upper))}
    return FTest(ratio, tails[alternative])


def _as_sample(sample: StandardErrorDistribution | npt.ArrayLike, name: str) -> Float64Array:
    if isinstance(sample, StandardErrorDistribution):
        return sample.standard_errors
    values = check.as_vector(sample, name).astype(np.float64, copy=False)
    check.refuse_nan(values, name)
    if values.size < FEWEST_RUNS:
        raise check.invalid(name, f"hold at least {FEWEST_RUNS} values", f"{values.size}")
    return values
