"""The bootstrap of two systems on the same trials."""

from __future__ import annotations

import functools
from typing import Any

import attrs
import numpy as np

from bosaris_py._arrays import BoolArray, Float64Array, Weights
from bosaris_py._validation import Rng, check_choice, invalid
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.id_map import IdMap
from bosaris_py.trials.key import AnyKey
from bosaris_py.trials.scores import AnyScores
from bosaris_py.trials.speakers import Unknown
from bosaris_py.uncertainty import samplers
from bosaris_py.uncertainty.bootstrap_result import (
    Alternative,
    BootstrapResult,
    IntervalKind,
    as_plain,
    defined_replicates,
    warn_of_degenerate,
)
from bosaris_py.uncertainty.bootstrapping import System, draw_replicates, warn_of_few_errors
from bosaris_py.uncertainty.influence import (
    FEWEST_FOR_TEST,
    Studentised,
    check_few_speakers,
    pairs_of_plan,
    speaker_influence,
)
from bosaris_py.uncertainty.resampling import (
    IidPlan,
    Resampling,
    ResamplingPlan,
    ScoresMethod,
    SetPlan,
    SpeakerPlan,
    Speakers,
    SpeakerWeights,
)
from bosaris_py.uncertainty.samplers import Evaluator, Sampler
from bosaris_py.uncertainty.statistic import (
    Statistic,
    StatisticLike,
    ThresholdStatistic,
    as_statistic,
)
from bosaris_py.uncertainty.strata import ScoredTrials, check_same_trials


@attrs.frozen(eq=False, repr=False)
class PairedBootstrapResult:
    """How a metric of two systems differs, with the spread of the difference.

    Numbers are floats; for a statistic whose value is an array they are arrays of
    the same shape.

    Parameters
    ----------
    first, second : BootstrapResult
        The metric of each system. Replicate i of both is of the same resampled
        trials.
    contrast : BootstrapResult
        The difference, first minus second.
    alternative : {"two-sided", "less", "greater"}
        What counts as extreme: any difference, or one that is less or greater
        than zero.
    """

    first: BootstrapResult
    second: BootstrapResult
    contrast: BootstrapResult
    alternative: Alternative

    @property
    def difference(self) -> Any:
        """Metric of the first system minus that of the second."""
        return as_plain(self.contrast.estimate)

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
        return defined_replicates(self.contrast.replicates)

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
        return as_plain(np.where(spread > 0, ratio, np.nan))

    @property
    def z(self) -> Any:
        """Difference over its standard error; 0 if both are zero, inf if the latter is."""
        difference, spread = np.asarray(self.difference), np.asarray(self.standard_error)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = difference / spread
        return as_plain(np.where(difference == 0, 0.0, ratio))

    @property
    def p_value(self) -> Any:
        """Chance of a difference at least as extreme if the systems are alike.

        By the inversion of the interval: below 1 - confidence if and only if that does not hold 0.
        """
        return self.contrast.p_value(self.alternative)

    @property
    def replicate_p_value(self) -> Any:
        """Share of replicates whose difference lies on the other side of zero.

        Twice the smaller share if two-sided. Takes no distribution, but cannot be smaller than
        1 / (B + 1): the observed difference counts as one replicate. Near the p-value of a
        percentile interval.
        """
        replicates = self.contrast.replicates[self._defined]
        total = replicates.shape[0] + 1.0
        below = (1.0 + np.count_nonzero(replicates <= 0, axis=0)) / total
        above = (1.0 + np.count_nonzero(replicates >= 0, axis=0)) / total
        # Half of a two-sided p-value lies in either tail.
        both = np.minimum(2.0 * np.minimum(below, above), 1.0)
        return as_plain({"two-sided": both, "less": above, "greater": below}[self.alternative])

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
    key: AnyKey,
    statistic: StatisticLike,
    statistic_b: StatisticLike | None = None,
    *,
    method: ScoresMethod = "speaker",
    model_speakers: IdMap | None = None,
    segment_speakers: IdMap | None = None,
    unknown: Unknown = "refuse",
    weights: SpeakerWeights = "multinomial",
    pigeonhole: bool = False,
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

    What makes a set of speakers or trials hard is usually hard for both systems,
    so their errors vary together and the difference varies less than either.

    Parameters
    ----------
    scores_a, scores_b : Scores or FlatScores
        Scores of the two systems, on the same trials of `key`.
    key : Key or FlatKey
        Which trials are targets and which non-targets.
    statistic : Statistic or callable
        The metric, as for `bootstrap_scores`.
    statistic_b : Statistic or callable, optional
        That of the second system where it is another one, for instance a `DCF`
        at another threshold.
    method, model_speakers, segment_speakers, unknown, weights, pigeonhole
        How to resample, as for `bootstrap_scores`.
    conditions : Conditions, optional
        Weights of conditions, as for `bootstrap_scores`.
    alternative : {"two-sided", "less", "greater"}, default: "two-sided"
        Whether any difference counts, or only a first system whose metric is
        less or greater than that of the second.
    replications, confidence, interval, rng, workers, progress
        As for `bootstrap_scores`. The interval is that of the difference, and of
        the metric of each system.

    Returns
    -------
    PairedBootstrapResult
        Difference, its standard error and interval, correlation, z and p, and
        the result of each system. `ComparisonTable` takes it.

    Raises
    ------
    InvalidInputError
        As `bootstrap_scores`.
    TrialMismatchError
        If a trial of the key has a score in one of the systems only, or as
        `bootstrap_scores` with conditions.

    Warns
    -----
    FewErrorsWarning
        If a rate of a `DCF`, `ActDCF` or `ErrorRates` rests on fewer than 30 errors
        in either system.
    MissingTrialsWarning
        If trials of the key have no scores in either system; they are left out.
    FewSpeakersWarning
        If a difference by speaker rests on fewer than 30 effective speakers.
    DegenerateReplicatesWarning
        If the statistic of a system is not defined on some replicates.

    See Also
    --------
    speaker_z_test : The same by a formula, without resampling.
    holm_correction : For the comparison of many systems.

    Notes
    -----
    Wu et al. [1]_ compare two systems by

    .. math::

        z = \frac{C_A - C_B}{\sqrt{SE_A^2 + SE_B^2 - 2 \rho\, SE_A SE_B}},

    where :math:`\rho` is the correlation of replicates that were made by picking the
    same trials for both. The root is the standard deviation of the difference of
    the replicates, which is how it is computed here.

    With ``method="speaker"`` the standard deviation of the replicates of a difference is usually
    too large, by up to :math:`\sqrt 3`: two systems share the habits of speakers, which cancel, and
    what is left, the sampling error of pairs and of single trials, counts three times, see
    `bootstrap_scores`. Interval and p-value of built-in metrics therefore come from
    :math:`|\Delta^* - \Delta| / SE^*`, with the standard error of each replicate by the formula of
    `speaker_z_test`; p is not below :math:`2^{1-K}` for K speakers who contribute. Those of other
    statistics come from the replicates, as `interval` says. Always, p is below 1 - confidence if
    and only if 0 lies outside the interval.

    References
    ----------
    .. [1] J. C. Wu, A. F. Martin, C. S. Greenberg and R. N. Kacker, "The impact
       of data dependence on speaker recognition evaluation", IEEE/ACM TASLP 25,
       2017, doi:10.1109/TASLP.2016.2614725.

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
    statistics = [as_statistic(statistic)]
    statistics.append(statistics[0] if statistic_b is None else as_statistic(statistic_b))
    check_choice(alternative, Alternative, "alternative")
    who = Speakers(model_speakers, segment_speakers, unknown, weights, pigeonhole)
    options = Resampling(method, replications, confidence, interval, rng, workers, progress, who)
    check_same_trials((scores_a, scores_b), key)
    trials = ScoredTrials.of(scores_a, key, conditions)
    plan = options.plan_of_trials(key, trials, who)
    systems = [
        System.of(chosen, trials.take(scores, key), trials.strata)
        for chosen, scores in zip(statistics, (scores_a, scores_b), strict=True)
    ]
    del trials  # as large as the scores
    shapes = [np.shape(system.estimate) for system in systems]
    if shapes[0] != shapes[1]:
        expected = f"have a value of shape {shapes[0]}, like `statistic`"
        raise invalid("statistic_b", expected, f"{shapes[1]}")
    warn_of_few_errors(systems, plan.strata)
    replicates = draw_replicates(_sampler(systems, plan), options)
    # A replicate that one system cannot use is of no use for a comparison.
    replicates[~defined_replicates(replicates)] = np.nan
    students = _students(systems, plan, options)
    first, second = (
        system.result(replicates[:, i].copy(), options, statistics[0].default_interval, student)
        for i, (system, student) in enumerate(zip(systems, students[:2], strict=True))
    )
    contrast = first.minus(second, students[2])
    if not warn_of_degenerate(contrast) and students[2] is not None:
        effective = students[2].influence.effective_speakers
        check_few_speakers(effective, FEWEST_FOR_TEST, "difference")
    return PairedBootstrapResult(first, second, contrast, alternative)


def _students(
    systems: list[System], plan: ResamplingPlan, options: Resampling
) -> tuple[Studentised | None, Studentised | None, Studentised | None]:
    """Studentise the bootstraps of both systems and of their difference."""
    drawn = pairs_of_plan(plan)
    if drawn is None:
        return None, None, None
    a, b = (speaker_influence(s.statistic, s.tar, s.non, drawn[0], plan.strata) for s in systems)
    if a is None or b is None or a.is_area != b.is_area:
        return None, None, None
    contrast = a.minus(b)
    weights, _ = drawn[1].draw(options.replications, options.rng.spawn(1)[0])
    of_both = Studentised.of(a, weights), Studentised.of(b, weights)
    return *of_both, Studentised.of(contrast, weights, is_difference=True)


# With more cells between thresholds than this, giving weights to trials is hardly slower.
_MOST_CELLS = 2**12


def _sampler(systems: list[System], plan: ResamplingPlan) -> Sampler:
    """Choose the fastest way to draw replicates of two systems at once, along the second axis."""
    if isinstance(plan, SpeakerPlan):
        values = [
            system.statistic.speaker_sums(system.tar, system.non, plan)
            for system in systems
            if isinstance(system.statistic, Statistic)
        ]
        found = tuple(v for v in values if v is not None)
        if len(found) == len(systems):
            return samplers.SpeakerSampler(plan.persons, found)
    statistics = [s.statistic for s in systems if isinstance(s.statistic, ThresholdStatistic)]
    if len(statistics) == len(systems):
        sampler = _rate_sampler(statistics, systems, plan)
        if sampler is not None:
            return sampler
    first, second = (s.statistic.in_order(s.tar, s.non, plan.strata) for s in systems)
    shape = len(systems), *np.shape(systems[0].estimate)
    return samplers.WeightedSampler(plan, functools.partial(_both_values, first, second), shape)


def _both_values(first: Evaluator, second: Evaluator, *weights: Weights) -> Any:
    return np.stack([evaluate(*weights) for evaluate in (first, second)])


def _rate_sampler(
    statistics: list[ThresholdStatistic], systems: list[System], plan: ResamplingPlan
) -> Sampler | None:
    """Draw the numbers of errors of both systems, which takes no longer for more trials.

    None if sets are picked and trials in them, or speakers, or if there are many thresholds.
    """
    combine = functools.partial(_both_costs, statistics)
    both = list(zip(statistics, systems, strict=True))
    if isinstance(plan, SetPlan) and not plan.two_layer:
        tar_cells, non_cells = plan.cells
        misses = np.hstack([rates.sums(system.tar, tar_cells, 0) for rates, system in both])
        alarms = np.hstack([rates.sums(system.non, non_cells, 1) for rates, system in both])
        return samplers.set_sampler(plan, misses, alarms, combine)
    n_cells = np.prod([rates.fa_limits.size + 1 for rates in statistics])
    if not isinstance(plan, IidPlan) or n_cells > _MOST_CELLS:
        return None
    tar = [(system.tar, rates.miss_limits) for rates, system in both]
    non = [(system.non, rates.fa_limits) for rates, system in both]
    return samplers.cell_sampler(plan, tar, non, combine)


def _both_costs(
    statistics: list[ThresholdStatistic], pmiss: Float64Array, pfa: Float64Array
) -> Any:
    """Make the values of both systems from their error-rates side by side."""
    a, b = statistics
    n_miss, n_fa = a.miss_limits.size, a.fa_limits.size
    first = a.combine(pmiss[:, :n_miss], pfa[:, :n_fa])
    return np.stack((first, b.combine(pmiss[:, n_miss:], pfa[:, n_fa:])), axis=1)
