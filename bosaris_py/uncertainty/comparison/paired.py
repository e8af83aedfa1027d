"""The paired bootstrap: both systems see the same replicates."""

from __future__ import annotations

import functools
import math
from typing import Any

import attrs
import numpy as np

import bosaris_py.uncertainty.bootstrap_result as bootstrap_result
import bosaris_py.uncertainty.resampling as resampling
from bosaris_py._arrays import BoolArray, Float64Array
from bosaris_py._validation import Rng, check_choice, describe, invalid
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.inputs import KeyLike, split_key
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores
from bosaris_py.trials.speakers import Speakers, SpeakersLike, Unknown
from bosaris_py.uncertainty.bootstrap_result import Alternative, BootstrapResult, IntervalKind
from bosaris_py.uncertainty.bootstrapping import (
    SampledSystem,
    draw_replicates,
    shared_sampler,
    warn_of_few_errors,
)
from bosaris_py.uncertainty.comparison.speaker_z_test import warn_of_unfit_systems
from bosaris_py.uncertainty.influence.open_ends import units_of
from bosaris_py.uncertainty.influence.speaker_influence import FEWEST_FOR_TEST, check_influences
from bosaris_py.uncertainty.influence.studentised import Students, influences_of, students_of
from bosaris_py.uncertainty.plan_statistics import PrimaryCost, ViewedStatistic, view_of
from bosaris_py.uncertainty.resampling import Resampling, ResamplingPlan, ScoresMethod
from bosaris_py.uncertainty.spoof_statistics import SpoofStatistic
from bosaris_py.uncertainty.statistics import samplers
from bosaris_py.uncertainty.statistics.class_means import ThresholdStatistic
from bosaris_py.uncertainty.statistics.functions import AnyStatistic, StatisticLike, as_statistic
from bosaris_py.uncertainty.statistics.samplers import Sampler

# With more cells between thresholds than this, giving weights to trials is hardly slower.
_MOST_CELLS = 2**12


@attrs.frozen(eq=False, repr=False)
class PairedBootstrapResult:
    """How a metric of two systems differs; numbers, or arrays of the shape of the metric.

    Parameters
    ----------
    first, second : BootstrapResult
        The metric of each system. Replicate i of both is of the same resampled trials.
    contrast : BootstrapResult
        The difference, first minus second.
    alternative : {"two-sided", "less", "greater"}
        What counts as extreme: any difference, or one that is less or greater than zero.
    """

    first: BootstrapResult
    second: BootstrapResult
    contrast: BootstrapResult
    alternative: Alternative

    @property
    def difference(self) -> Any:
        """Metric of the first system minus that of the second."""
        return bootstrap_result.as_plain(self.contrast.estimate)

    @property
    def standard_error(self) -> Any:
        """Standard error of the difference."""
        return self.contrast.standard_error

    @property
    def low(self) -> Any:
        """Lower end of the confidence interval of the difference."""
        return self.contrast.low

    @property
    def high(self) -> Any:
        """Upper end of the confidence interval of the difference."""
        return self.contrast.high

    @property
    def n_degenerate(self) -> int:
        """Number of replicates on which the statistic of a system is not defined."""
        return self.contrast.n_degenerate

    @property
    def _defined(self) -> BoolArray:
        return bootstrap_result.defined_replicates(self.contrast.replicates)

    @property
    def correlation(self) -> Any:
        """Correlation of the two systems' replicates; NaN if one of them does not vary."""
        a, b = (result.replicates[self._defined] for result in (self.first, self.second))
        # The rho of Wu et al. 2016; z needs no rho, as the differences of replicates have the
        # spread sqrt(SE_A^2 + SE_B^2 - 2 rho SE_A SE_B).
        covariance = np.sum((a - a.mean(axis=0)) * (b - b.mean(axis=0)), axis=0) / (len(a) - 1)
        spread = np.multiply(self.first.standard_error, self.second.standard_error)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.clip(covariance / spread, -1.0, 1.0)
        return bootstrap_result.as_plain(np.where(spread > 0, ratio, np.nan))

    @property
    def z(self) -> Any:
        """Difference over its standard error; 0 if both are zero, inf if the latter is."""
        difference, spread = np.asarray(self.difference), np.asarray(self.standard_error)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = difference / spread
        return bootstrap_result.as_plain(np.where(difference == 0, 0.0, ratio))

    @property
    def p_value(self) -> Any:
        """Chance of a difference at least as extreme if the systems are alike.

        By the inversion of the interval: below 1 - confidence if and only if that does not hold 0.
        """
        return self.contrast.p_value(self.alternative)

    def __repr__(self) -> str:
        """Put both values, the difference and its test on a few lines."""
        if np.ndim(self.difference):
            return f"PairedBootstrapResult of differences; {self.contrast!r}"
        contrast = self.contrast
        percent = f"{100 * contrast.confidence:g} % {contrast.interval} interval"
        return (
            f"PairedBootstrapResult: {self.first.estimate:.4g} - {self.second.estimate:.4g} = "
            f"{self.difference:.4g}, standard error {self.standard_error:.2g}, {percent} "
            f"{self.low:.4g} to {self.high:.4g}, correlation {self.correlation:.2f}, "
            f"z {self.z:.3g}, p {self.p_value:.3g} ({self.alternative}; {contrast.method} "
            f"bootstrap, {contrast.replicates.shape[0]} replicates)"
        )


def paired_bootstrap(
    scores_a: AnyScores,
    scores_b: AnyScores,
    key: KeyLike,
    statistic: StatisticLike,
    statistic_b: StatisticLike | None = None,
    *,
    method: ScoresMethod = "speaker",
    speakers: SpeakersLike = None,
    unknown: Unknown = "refuse",
    conditions: Conditions | None = None,
    alternative: Alternative = "two-sided",
    replications: int = 2000,
    confidence: float = 0.95,
    interval: IntervalKind | None = None,
    rng: Rng = None,
    workers: int = 1,
    progress: bool = False,
) -> PairedBootstrapResult:
    r"""Compare a metric of two systems by resampling both in the same way.

    Parameters
    ----------
    scores_a, scores_b : Scores or FlatScores
        Scores of the two systems, on the same trials of `key`.
    key : Key or FlatKey, or pair (key, metadata)
        Which trials are targets and which non-targets.
    statistic : Statistic or callable
        The metric, as for `bootstrap_scores`.
    statistic_b : Statistic or callable, optional
        That of the second system where it is another one, such as a `DCF` at another threshold.
    method, speakers, unknown
        How to resample, as for `bootstrap_scores`.
    conditions : Conditions, optional
        Weights of conditions, as for `bootstrap_scores`.
    alternative : {"two-sided", "less", "greater"}, default: "two-sided"
        Whether any difference counts, or only a first metric that is less or greater.
    replications, confidence, interval, rng, workers, progress
        As for `bootstrap_scores`, for the difference and for each system.

    Returns
    -------
    PairedBootstrapResult
        Difference, standard error, interval, correlation, z and p, and each system's result.

    Raises
    ------
    TrialMismatchError
        If a trial has a score in one of the systems only, or as `bootstrap_scores`.

    Warns
    -----
    FewErrorsWarning, MissingTrialsWarning, DegenerateReplicatesWarning
        As for `bootstrap_scores`, of either system.
    FewSpeakersWarning
        If a difference by speaker rests on fewer than 30 effective speakers.

    See Also
    --------
    speaker_z_test : The same by a formula, without resampling.
    compare_systems : For the comparison of many systems.

    Notes
    -----
    Wu et al. 2017, see `bootstrap`, compare two systems by

    .. math::

        z = \frac{C_A - C_B}{\sqrt{SE_A^2 + SE_B^2 - 2 \rho\, SE_A SE_B}},

    where :math:`\rho` is the correlation of replicates of the same trials. The root is the standard
    deviation of the difference of the replicates.

    With ``method="speaker"`` it is usually too large, by up to :math:`\sqrt 3`: the sampling error
    of pairs counts three times. Interval and p-value of built-in metrics therefore come from
    :math:`|\Delta^* - \Delta| / SE^*`, with standard errors as for `speaker_z_test`. A replicate
    of few speakers repeats some of them, which makes its t too long. So quantiles are limited to
    1.02 times those of Student's t with the degrees of `speaker_z_test`. Then
    p is not below :math:`2^{1-K}` for K speakers who contribute. For other statistics both come
    from the replicates. Always, p is below 1 - confidence if and only if 0 is outside the interval.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import Key, Scores
    >>> from bosaris_py import uncertainty as unc
    >>> rng = np.random.default_rng(1)
    >>> speakers, same = [f"speaker{i}" for i in range(60)], np.eye(60, dtype=bool)
    >>> key = Key(speakers, speakers, same, ~same)
    >>> good = 4.0 * same + rng.normal(size=(60, 60))
    >>> a, b = (Scores(m, speakers, speakers) for m in (good, good + rng.normal(size=(60, 60))))
    >>> result = unc.paired_bootstrap(a, b, key, unc.Cllr(), rng=2)
    >>> bool(result.difference < 0), bool(result.p_value < 0.05)
    (True, True)
    """
    check_choice(alternative, Alternative, "alternative")
    who = Speakers(speakers, unknown)
    how = Resampling(method, replications, confidence, interval, rng, workers, progress)
    plain_key, _ = split_key(key)
    resampling.check_same_trials((scores_a, scores_b), plain_key)
    if isinstance(statistic, ViewedStatistic):
        other = statistic if statistic_b is None else statistic_b
        kind = PrimaryCost if isinstance(statistic, PrimaryCost) else SpoofStatistic
        if not isinstance(other, kind) or conditions is not None:
            expected = "be of the kind of `statistic`, without conditions"
            raise invalid("statistic_b", expected, describe(statistic_b))
        one, plain = view_of(statistic, scores_a, key, who, how)
        two, other_plain = view_of(other, scores_b, key, who, how)
        viewed = one, two.sharing_pairs(one) if method == "speaker" else two
        return paired_samples((plain, other_plain), viewed, how, alternative)
    statistics = as_statistic(statistic), as_statistic(statistic_b or statistic)
    first = how.sample(scores_a, key, who, conditions)
    if method == "speaker":
        # Both systems share the pairs of speakers.
        _ = first.pairs
    samples = first, first.of_system(scores_b, plain_key, conditions)
    warn_of_unfit_systems(samples, statistics)
    return paired_samples(statistics, samples, how, alternative)


def paired_samples(
    statistics: tuple[AnyStatistic, AnyStatistic],
    samples: tuple[ListedSample, ListedSample],
    how: Resampling,
    alternative: Alternative,
) -> PairedBootstrapResult:
    """Compare a metric of two samples of the same trials, see `paired_bootstrap`."""
    plan = how.plan(samples[0])
    if isinstance(plan, resampling.SpeakerPlan):
        for sample in samples:
            sample.arranged()
    systems = [SampledSystem.of(*each) for each in zip(statistics, samples, strict=True)]
    shapes = [np.shape(system.estimate) for system in systems]
    if shapes[0] != shapes[1]:
        expected = f"have a value of shape {shapes[0]}, like `statistic`"
        raise invalid("statistic_b", expected, f"{shapes[1]}")
    warn_of_few_errors(systems)
    replicates = draw_replicates(_sampler(systems, plan), how).reshape(-1, 2, *shapes[0])
    # A replicate that one system cannot use is of no use for a comparison.
    replicates[~bootstrap_result.defined_replicates(replicates)] = np.nan
    students = _students(systems, plan, how)
    first, second = (
        system.result(replicates[:, i].copy(), how, statistics[0].default_interval, student, plan)
        for i, (system, student) in enumerate(zip(systems, students[:2], strict=True))
    )
    contrast = _left_open(first.minus(second, students[2]), samples, units_of(plan))
    if not bootstrap_result.warn_of_degenerate(contrast) and students[2] is not None:
        check_influences({"difference": students[2].influence}, FEWEST_FOR_TEST)
    return PairedBootstrapResult(first, second, contrast, alternative)


def _left_open(
    contrast: bootstrap_result.BootstrapResult,
    samples: tuple[ListedSample, ListedSample],
    units: tuple[float, float],
) -> bootstrap_result.BootstrapResult:
    """Open the interval of a difference that is 0 in all replicates, unless scores are the same."""
    most = np.asarray(contrast.bounds[1])
    none = np.ndim(contrast.estimate) == 0 and contrast.estimate == contrast.standard_error == 0
    if not none or not np.isfinite(most).all():
        return contrast
    both = zip(*(sample.lists for sample in samples), strict=True)
    if all(np.array_equal(a, b) for a, b in both):
        return contrast
    ends = functools.partial(_equal_decisions, float(most), min(units))
    found = attrs.evolve(contrast, open_ends=ends)
    low, high = found.interval_of(found.interval)
    return attrs.evolve(found, low=low, high=high)


def _equal_decisions(most: float, units: float, confidence: float) -> tuple[float, float]:
    """Return the ends of a difference of at most so much that none of n units shows."""
    half = -most * math.expm1(math.log(0.5 - 0.5 * confidence) / units)
    return -half, half


def _students(
    systems: list[SampledSystem], plan: ResamplingPlan, how: Resampling
) -> tuple[Students | None, Students | None, Students | None]:
    """Studentise the bootstraps of both systems and of their difference."""
    found = influences_of([(system.statistic, system.sample) for system in systems], plan)
    if found is None or not isinstance(plan, resampling.SpeakerPlan):
        return None, None, None
    a, b = found
    if a is None or b is None or a.is_area != b.is_area:
        return None, None, None
    contrast = a.minus(b)  # type: ignore[arg-type]  # both are of one shape
    weights, _ = plan.persons.draw(how.replications, how.rng.spawn(1)[0])
    of_both = students_of(a, weights), students_of(b, weights)
    return *of_both, students_of(contrast, weights, is_difference=True)


def _sampler(systems: list[SampledSystem], plan: ResamplingPlan) -> Sampler:
    """Choose the fastest way to draw replicates of two systems at once, side by side."""
    statistics = [s.statistic for s in systems if isinstance(s.statistic, ThresholdStatistic)]
    sampler = _rate_sampler(statistics, systems, plan) if len(statistics) == len(systems) else None
    return sampler or shared_sampler(systems, plan)


def _rate_sampler(
    statistics: list[ThresholdStatistic], systems: list[SampledSystem], plan: ResamplingPlan
) -> Sampler | None:
    """Draw the numbers of errors of both systems, which takes no longer for more trials."""
    # None if sets are picked and trials in them, or speakers, or if there are many thresholds.
    combine = functools.partial(_both_costs, statistics)
    both = [(rates, system.sample.lists) for rates, system in zip(statistics, systems, strict=True)]
    if isinstance(plan, resampling.SetPlan) and not plan.two_layer:
        tar_cells, non_cells = plan.cells
        misses = np.hstack([rates.sums(tar, tar_cells, 0) for rates, (tar, _) in both])
        alarms = np.hstack([rates.sums(non, non_cells, 1) for rates, (_, non) in both])
        return samplers.set_sampler(plan, misses, alarms, combine)
    n_cells = np.prod([rates.fa_limits.size + 1 for rates in statistics])
    if not isinstance(plan, resampling.IidPlan) or n_cells > _MOST_CELLS:
        return None
    tar_limits = [(tar, rates.miss_limits) for rates, (tar, _) in both]
    non_limits = [(non, rates.fa_limits) for rates, (_, non) in both]
    return samplers.cell_sampler(plan, tar_limits, non_limits, combine)


def _both_costs(
    statistics: list[ThresholdStatistic], pmiss: Float64Array, pfa: Float64Array
) -> Float64Array:
    """Make the values of both systems from their error-rates side by side."""
    a, b = statistics
    n_miss, n_fa = a.miss_limits.size, a.fa_limits.size
    first = a.combine(pmiss[:, :n_miss], pfa[:, :n_fa])
    return np.stack((first, b.combine(pmiss[:, n_miss:], pfa[:, n_fa:])), axis=1)
