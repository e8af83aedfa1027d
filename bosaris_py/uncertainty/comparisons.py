"""Comparisons of systems: McNemar, tests by speaker, the paired bootstrap, tables of pairs."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, Unpack

import attrs
import numpy as np
import numpy.typing as npt
from scipy import special

from bosaris_py._arrays import BoolArray, Float64Array, Readable, mark_read_only
from bosaris_py._execution import progress_bar
from bosaris_py._tables import (
    Table,
    WithInterval,
    joined_notes,
    or_none,
    scale_of_costs,
    text_table,
)
from bosaris_py._validation import (
    Rng,
    as_generator,
    as_nonnegative,
    as_number,
    as_seed,
    as_vector,
    cautions,
    check_choice,
    check_fraction,
    describe,
    invalid,
    refuse_nan,
)
from bosaris_py.errors import TrialMismatchError
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.key import AnyKey
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores
from bosaris_py.trials.speakers import (
    KeyLike,
    SpeakerOptions,
    Speakers,
    SystemsLike,
    as_systems,
    split_key,
)
from bosaris_py.uncertainty import statistic_samplers
from bosaris_py.uncertainty.bootstrap_result import (
    Alternative,
    BootstrapResult,
    ZTest,
    as_plain,
    defined_replicates,
    warn_of_degenerate,
    z_test,
)
from bosaris_py.uncertainty.bootstrapping import (
    SampledSystem,
    draw_replicates,
    metric_name,
    shared_sampler,
    warn_of_few_errors,
)
from bosaris_py.uncertainty.decisions import (
    Decisions,
    Disagreements,
    as_positive,
    check_few_errors,
    disagreements_of,
)
from bosaris_py.uncertainty.influence import (
    FEWEST_FOR_TEST,
    LINEAR,
    METHOD,
    NOT_FIXED,
    LinearStatistic,
    SpeakerInfluence,
    SpeakersNeeded,
    Studentised,
    check_influences,
    influences_of,
    losses_of,
    speakers_for,
)
from bosaris_py.uncertainty.multiplicity.corrections import (
    HEADS,
    WORDS,
    CorrectedPValues,
    Correction,
    by_correction,
    compared,
    holm_correction,
)
from bosaris_py.uncertainty.multiplicity.max_t import CommonDraws, signs_of
from bosaris_py.uncertainty.multiplicity.ranks import RankIntervals, count_ranks, surely_better
from bosaris_py.uncertainty.primary_cost import PrimaryCost, ViewedStatistic, divided, view_of
from bosaris_py.uncertainty.resampling import (
    IidPlan,
    Resampling,
    ResamplingPlan,
    ScoresMethod,
    ScoresOptions,
    SetPlan,
    SpeakerPlan,
    check_same_trials,
    check_system,
    effective_errors,
    refuse_missing,
    refuse_repeated,
    split_options,
)
from bosaris_py.uncertainty.statistic import (
    AUC,
    DCF,
    ActDCF,
    AnyStatistic,
    MinDCF,
    StatisticLike,
    SteppyEER,
    ThresholdStatistic,
    WhichClass,
    as_statistic,
    warn_unless_fit,
)
from bosaris_py.uncertainty.statistic_samplers import Sampler
from bosaris_py.uncertainty.third_class import SpoofStatistic

# With more cells between thresholds than this, giving weights to trials is hardly slower.
_MOST_CELLS = 2**12

# Signs drawn at once: bounds the memory of a permutation test.
_SIGNS_PER_BLOCK = 2**22


@attrs.frozen(eq=False, repr=False)
class PairedBootstrapResult(metaclass=Readable):
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
        """Share of replicates whose difference lies on the other side of zero; twice, if two-sided.

        At least 1 / (B + 1): the observed difference counts as one replicate; and 2^(1-K).
        """
        replicates = self.contrast.replicates[self._defined]
        total = replicates.shape[0] + 1.0
        # Half of a two-sided p-value lies in either tail, half of the least one, too.
        below, above = (
            np.maximum((1.0 + np.count_nonzero(side, axis=0)) / total, 0.5 * self.contrast.least_p)
            for side in (replicates <= 0, replicates >= 0)
        )
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
    key: KeyLike,
    statistic: StatisticLike,
    statistic_b: StatisticLike | None = None,
    *,
    method: ScoresMethod = "speaker",
    conditions: Conditions | None = None,
    alternative: Alternative = "two-sided",
    **options: Unpack[ScoresOptions],
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
    method, speakers, model_speakers, segment_speakers, unknown, strata, weights, pigeonhole
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
    holm_correction : For the comparison of many systems.

    Notes
    -----
    Wu et al. 2017, see `bootstrap`, compare two systems by

    .. math::

        z = \frac{C_A - C_B}{\sqrt{SE_A^2 + SE_B^2 - 2 \rho\, SE_A SE_B}},

    where :math:`\rho` is the correlation of replicates of the same trials. The root is the standard
    deviation of the difference of the replicates.

    With ``method="speaker"`` it is usually too large, by up to :math:`\sqrt 3`: the sampling error
    of pairs counts three times. Interval and p-value of built-in metrics therefore come from
    :math:`|\Delta^* - \Delta| / SE^*`, with standard errors as for `speaker_z_test`. Then
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
    who, how = split_options(method, options)
    plain_key, _ = split_key(key)
    check_same_trials((scores_a, scores_b), plain_key)
    if isinstance(statistic, ViewedStatistic):
        other = statistic if statistic_b is None else statistic_b
        kind = PrimaryCost if isinstance(statistic, PrimaryCost) else SpoofStatistic
        if not isinstance(other, kind) or conditions is not None:
            expected = "be of the kind of `statistic`, without conditions"
            raise invalid("statistic_b", expected, describe(statistic_b))
        one, plain = view_of(statistic, scores_a, key, who, how)
        two, other_plain = view_of(other, scores_b, key, who, how)
        viewed = one, two.sharing_pairs(one)
        return _paired((plain, other_plain), viewed, how, alternative)
    statistics = as_statistic(statistic), as_statistic(statistic_b or statistic)
    first = how.sample(scores_a, key, who, conditions)
    if method == "speaker" and not how.pigeonhole:
        # Both systems share the pairs of speakers.
        _ = first.pairs
    samples = first, first.of_system(scores_b, plain_key, conditions)
    _warn_unless_fit(samples, statistics)
    return _paired(statistics, samples, how, alternative)


def _paired(
    statistics: tuple[AnyStatistic, AnyStatistic],
    samples: tuple[ListedSample, ListedSample],
    how: Resampling,
    alternative: Alternative,
) -> PairedBootstrapResult:
    """Compare a metric of two samples of the same trials, see `paired_bootstrap`."""
    plan = how.plan(samples[0])
    if isinstance(plan, SpeakerPlan):
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
    replicates[~defined_replicates(replicates)] = np.nan
    students = _students(systems, plan, how)
    first, second = (
        system.result(replicates[:, i].copy(), how, statistics[0].default_interval, student, plan)
        for i, (system, student) in enumerate(zip(systems, students[:2], strict=True))
    )
    contrast = first.minus(second, students[2])
    if not warn_of_degenerate(contrast) and students[2] is not None:
        check_influences({"difference": students[2].influence}, FEWEST_FOR_TEST)
    return PairedBootstrapResult(first, second, contrast, alternative)


def _students(
    systems: list[SampledSystem], plan: ResamplingPlan, how: Resampling
) -> tuple[Studentised | None, Studentised | None, Studentised | None]:
    """Studentise the bootstraps of both systems and of their difference."""
    found = influences_of([(system.statistic, system.sample) for system in systems], plan)
    if found is None or not isinstance(plan, SpeakerPlan):
        return None, None, None
    a, b = found
    if a is None or b is None or a.is_area != b.is_area:
        return None, None, None
    contrast = a.minus(b)
    weights, _ = plan.persons.draw(how.replications, how.rng.spawn(1)[0])
    of_both = Studentised.of(a, weights), Studentised.of(b, weights)
    return *of_both, Studentised.of(contrast, weights, is_difference=True)


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
    if isinstance(plan, SetPlan) and not plan.two_layer:
        tar_cells, non_cells = plan.cells
        misses = np.hstack([rates.sums(tar, tar_cells, 0) for rates, (tar, _) in both])
        alarms = np.hstack([rates.sums(non, non_cells, 1) for rates, (_, non) in both])
        return statistic_samplers.set_sampler(plan, misses, alarms, combine)
    n_cells = np.prod([rates.fa_limits.size + 1 for rates in statistics])
    if not isinstance(plan, IidPlan) or n_cells > _MOST_CELLS:
        return None
    tar_limits = [(tar, rates.miss_limits) for rates, (tar, _) in both]
    non_limits = [(non, rates.fa_limits) for rates, (_, non) in both]
    return statistic_samplers.cell_sampler(plan, tar_limits, non_limits, combine)


def _both_costs(
    statistics: list[ThresholdStatistic], pmiss: Float64Array, pfa: Float64Array
) -> Any:
    """Make the values of both systems from their error-rates side by side."""
    a, b = statistics
    n_miss, n_fa = a.miss_limits.size, a.fa_limits.size
    first = a.combine(pmiss[:, :n_miss], pfa[:, :n_fa])
    return np.stack((first, b.combine(pmiss[:, n_miss:], pfa[:, n_fa:])), axis=1)


# Disagreements on trials, McNemar.

McNemarMethod = Literal["exact", "mid-p", "chi2", "corrected"]

Classes = Literal["both", "tar", "non"]


@attrs.frozen(repr=False)
class McNemarTest(metaclass=Readable):
    """The outcome of McNemar's test.

    Parameters
    ----------
    only_a_errs, only_b_errs : float
        Number of trials on which only the first, or only the second system errs.
    p_value : float
        Chance of so uneven a division, or a more uneven one, if systems are alike.
    method : str
        Which variant of the test it was.
    """

    only_a_errs: float
    only_b_errs: float
    p_value: float
    method: str

    def __repr__(self) -> str:
        """Put the counts and p on one line."""
        return (
            f"McNemar: only the first errs on {self.only_a_errs:g} trials, only the second on "
            f"{self.only_b_errs:g}, p {self.p_value:.3g} ({self.method})"
        )


def mcnemar_test(
    a: Decisions | Disagreements,
    b: Decisions | None = None,
    *,
    classes: Classes = "both",
    method: McNemarMethod = "exact",
) -> McNemarTest:
    r"""Test if two systems err equally often on the trials where they disagree.

    Parameters
    ----------
    a, b : Decisions
        Decisions of the two systems on the same trials; or `Disagreements` as `a` alone.
    classes : {"both", "tar", "non"}, default: "both"
        Which trials to use. "both" compares the error-rates of all trials, which the larger class
        dominates; for a detection cost see `dcf_z_test`.
    method : {"exact", "mid-p", "chi2", "corrected"}, default: "exact"
        "exact" is the two-sided binomial test, which is conservative; "mid-p" counts half of the
        observed division's probability [2]_; "chi2" and "corrected" are McNemar's
        approximation [1]_ without and with continuity correction.

    Returns
    -------
    McNemarTest

    Raises
    ------
    TrialMismatchError
        If decisions are not on equally many trials.

    Notes
    -----
    If the systems are alike, the number of trials on which only the first errs is binomial with
    probability 1/2, given the number on which one of them errs. The test takes trials for
    independent; if they share speakers it reports differences that do not exist.

    References
    ----------
    .. [1] Q. McNemar, "Note on the sampling error of the difference between correlated
       proportions or percentages", Psychometrika 12, 1947, doi:10.1007/BF02295996.
    .. [2] M. W. Fagerland, S. Lydersen and P. Laake, "The McNemar test for binary matched-pairs
       data", BMC Medical Research Methodology 13, 2013, doi:10.1186/1471-2288-13-91.

    Examples
    --------
    >>> pair = Disagreements(
    ...     missed_by_a=1, missed_by_b=5, n_tar=400, accepted_by_a=0, accepted_by_b=0, n_non=10
    ... )
    >>> mcnemar_test(pair)
    McNemar: only the first errs on 1 trials, only the second on 5, p 0.219 (exact)
    """
    check_choice(classes, Classes, "classes")
    check_choice(method, McNemarMethod, "method")
    pair = disagreements_of(a, b)
    only_a = only_b = 0.0
    if classes != "non":
        only_a, only_b = only_a + pair.missed_by_a, only_b + pair.missed_by_b
    if classes != "tar":
        only_a, only_b = only_a + pair.accepted_by_a, only_b + pair.accepted_by_b
    return McNemarTest(only_a, only_b, _mcnemar_p(only_a, only_b, method), method)


def _mcnemar_p(only_a: float, only_b: float, method: McNemarMethod) -> float:
    n, fewer = only_a + only_b, min(only_a, only_b)
    if n == 0:
        return 1.0
    if method in ("chi2", "corrected"):
        gap = abs(only_a - only_b) - (1.0 if method == "corrected" else 0.0)
        # The upper tail of chi-square with one degree of freedom.
        return float(special.erfc(math.sqrt(0.5 * max(gap, 0.0) ** 2 / n)))
    if n != int(n) or fewer != int(fewer):
        hint = 'method="chi2" takes any numbers.'
        raise invalid(
            "a", f'be whole numbers with method="{method}"', f"{only_a:g}, {only_b:g}", hint
        )
    # Given n disagreements, those of one system are binomial with probability 1/2; the
    # distribution is symmetric, so the two-sided p-value is twice the lower tail.
    up_to = float(special.bdtr(fewer, int(n), 0.5))
    p_value = 2.0 * up_to
    if method == "mid-p":
        # Fagerland et al.: minus the probability of the observed division.
        below = float(special.bdtr(fewer - 1.0, int(n), 0.5)) if fewer else 0.0
        p_value -= up_to - below
    return min(p_value, 1.0)


# Several tests at once.

# Anything with the attributes difference, standard_error and p_value.
Comparison: TypeAlias = Any


@attrs.frozen(eq=False, repr=False)
class ComparisonTable(Table):
    """Comparisons of several systems, with p-values corrected for their number.

    Made by `compare_systems` and `from_tests`. A p-value that is not defined counts as 1.

    Parameters
    ----------
    pairs : tuple of (str, str)
        Names of the two systems of each comparison.
    tests : tuple
        Result of each comparison.
    corrected : CorrectedPValues
        The corrected p-values.
    normalized : bool, optional
        Whether differences are of normalized costs; None if they are not of costs.
    metric : str
        What was compared, such as ``"minDCF(0.05)"``; empty where the tests do not say.
    larger_is_better : bool, optional
        Whether the better system has the larger metric; None where the tests do not say.
    directions : (2 m,) ndarray of float64, optional
        Of max-t: corrected p-values of each difference above zero, then of each below.

    Examples
    --------
    >>> from bosaris_py.uncertainty import ErrorCounts, hter_z_test
    >>> a, b = ErrorCounts(40, 400, 600, 6000), ErrorCounts(80, 400, 1200, 6000)
    >>> c = ErrorCounts(44, 400, 620, 6000)
    >>> ComparisonTable.from_tests({
    ...     ("A", "B"): hter_z_test(a, b), ("A", "C"): hter_z_test(a, c)})
    first  second                  difference      SE         p   p Holm  significant
    A      B       -0.1000 [-0.1253, -0.0747]  0.0129  9.49e-15  1.9e-14  yes
    A      C        -0.0067 [-0.0286, 0.0153]  0.0112     0.551    0.551  no
    (first minus second; 95 % intervals: z-test, independent; Holm's correction, level 0.05)
    """

    pairs: tuple[tuple[str, str], ...]
    tests: tuple[Comparison, ...]
    corrected: CorrectedPValues
    normalized: bool | None = None
    metric: str = ""
    larger_is_better: bool | None = None
    directions: Float64Array | None = None

    @classmethod
    def from_tests(
        cls,
        tests: Mapping[tuple[str, str], Comparison],
        *,
        level: float = 0.05,
        correction: Literal["holm", "by"] = "holm",
    ) -> "ComparisonTable":
        """Collect the comparisons of several pairs of systems, or of one pair in conditions.

        Parameters
        ----------
        tests : mapping from (str, str) to a test result
            For the names of two systems, the result of their comparison: anything with
            attributes difference, standard_error and p_value.
        level : float, default: 0.05
            The chance of at least one false alarm that is accepted; with "by" the mean share of
            false alarms among the significant tests.
        correction : {"holm", "by"}, default: "holm"
            See `holm_correction` and `by_correction`, which is for many tests.

        Returns
        -------
        ComparisonTable
        """
        check_choice(correction, ("holm", "by"), "correction")
        if not tests:
            raise invalid("tests", "hold at least one comparison", "none")
        results = tuple(tests.values())
        correct = holm_correction if correction == "holm" else by_correction
        return cls(tuple(tests), results, correct(_p_values(results), level=level))

    @property
    def holm(self) -> CorrectedPValues:
        """The p-values with Holm's correction, whichever the table has."""
        if self.corrected.correction == "holm":
            return self.corrected
        return holm_correction(_p_values(self.tests), level=self.corrected.level)

    def records(self) -> list[dict[str, Any]]:
        """Return the comparisons as dicts.

        Returns
        -------
        list of dict
            ``first``, ``second``, ``difference``, ``low`` and ``high``, which are the ends of its
            interval, ``standard_error``, ``p_value``, ``p_corrected``, ``p_holm``, ``significant``,
            ``normalized``, ``metric``, ``intervals``, which says how they were made, and
            ``correction``; p is 1 where the test is not defined.
        """
        p_holm, significant = self.holm.adjusted.tolist(), self.corrected.significant.tolist()
        p_corrected = self.corrected.adjusted.tolist()
        return [
            {
                "first": first,
                "second": second,
                "difference": or_none(test.difference),
                "low": None if ends is None else or_none(ends[0]),
                "high": None if ends is None else or_none(ends[1]),
                "standard_error": or_none(test.standard_error),
                "p_value": 1.0 if math.isnan(test.p_value) else test.p_value,
                "p_corrected": p_corrected[i],
                "p_holm": p_holm[i],
                "significant": significant[i],
                "normalized": self.normalized,
                "metric": self.metric or None,
                "intervals": self._intervals or None,
                "correction": self._correction,
            }
            for i, ((first, second), test, ends) in enumerate(
                zip(self.pairs, self.tests, map(self._ends, self.tests), strict=True)
            )
        ]

    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Return the groups of systems within which no difference was found.

        Returns
        -------
        tuple of tuple of str
            The largest such groups, systems in the order of the table. A system may be in several
            groups. Two systems that share none differ significantly.

        Raises
        ------
        InvalidInputError
            If a pair of systems was not compared.

        Notes
        -----
        These are the letters of a compact letter display: H.-P. Piepho, Journal of Computational
        and Graphical Statistics 13, 2004. That no difference was found does not show that
        systems are equal.

        Examples
        --------
        >>> from types import SimpleNamespace as Test
        >>> p_values = {("A", "B"): 0.4, ("B", "C"): 0.3, ("A", "C"): 0.001}
        >>> ComparisonTable.from_tests({
        ...     pair: Test(difference=0.1, standard_error=0.1, p_value=p)
        ...     for pair, p in p_values.items()}).groups()
        (('A', 'B'), ('B', 'C'))
        """
        names = self._names()
        found = zip(map(frozenset, self.pairs), self.corrected.significant.tolist(), strict=True)
        alike: dict[str, set[str]] = {name: set() for name in names}
        for pair, significant in found:
            for name in () if significant else pair:
                alike[name] |= pair - {name}
        # Each system joins all groups that it does not differ from; what is left whole is largest.
        largest: list[set[str]] = []
        for name in names:
            joined = [(group & alike[name]) | {name} for group in [*largest, set()]]
            whole = [*(group for group in largest if not group <= alike[name]), *joined]
            largest = []
            for group in sorted(whole, key=len, reverse=True):
                if not any(group <= other for other in largest):
                    largest.append(group)
        order = {name: i for i, name in enumerate(names)}
        ranked = sorted(sorted(order[name] for name in group) for group in largest)
        return tuple(tuple(names[i] for i in group) for group in ranked)

    def rank_intervals(self, *, larger_is_better: bool | None = None) -> RankIntervals:
        r"""Return which ranks each system may have, all of them at once.

        Parameters
        ----------
        larger_is_better : bool, optional
            Whether the better system has the larger metric. Needed only where the table does not
            know: of functions, and of tests that were collected.

        Returns
        -------
        uncertainty.RankIntervals
            With the set of systems that may be the best one, ``best``.

        Raises
        ------
        InvalidInputError
            If a pair of systems was not compared, or nothing says which end is better.

        Notes
        -----
        The rank of system j lies between 1 plus the number of systems surely better and n minus the
        number surely worse: M. Mogstad, J. P. Romano, A. M. Shaikh and D. Wilhelm, Review of
        Economic Studies 91, 2024. A system is surely better if a one-sided test says so, which is
        corrected for the tests of all pairs in both directions: by the largest t with "max-t", else
        by Holm's correction. With the confidence 1 - level all intervals hold the true ranks. No
        two systems are ranked whose difference is not significant without a correction.

        Examples
        --------
        >>> from types import SimpleNamespace as Test
        >>> p_values = {("A", "B"): 0.4, ("B", "C"): 0.001, ("A", "C"): 0.001}
        >>> ComparisonTable.from_tests({
        ...     pair: Test(difference=-0.1, standard_error=0.1, p_value=p)
        ...     for pair, p in p_values.items()}).rank_intervals(larger_is_better=False)
        system    rank  may be the best
        A       1 to 2  yes
        B       1 to 2  yes
        C            3  no
        (ranks of all systems, 95 % confidence; Holm's correction)
        """
        names = self._names()
        known = self.larger_is_better if larger_is_better is None else larger_is_better
        if known is None:
            expected = "be given where the metric does not say which end is better"
            raise invalid("larger_is_better", expected, "None")
        level, directions = self.corrected.level, self.directions
        correction: Correction = "max-t"
        if directions is None:
            # One-sided: half of a two-sided p-value on the side of the difference.
            one_sided = [_one_sided(test) for test in self.tests]
            both = np.concatenate([one_sided, 1.0 - np.asarray(one_sided)])
            directions, correction = holm_correction(both, level=level).adjusted, "holm"
        better = surely_better(self.pairs, directions, level, larger_is_better=known)
        return count_ranks(names, better, level, correction, self.metric)

    def _names(self) -> list[str]:
        """Return the systems, all pairs of which must have been compared."""
        names = list(dict.fromkeys(itertools.chain.from_iterable(self.pairs)))
        tested = set(map(frozenset, self.pairs))
        for a, b in itertools.combinations(names, 2):
            if frozenset((a, b)) not in tested:
                raise invalid("pairs", "hold each pair of systems", f"not {a} and {b}")
        return names

    def _ends(self, test: Comparison) -> tuple[float, float] | None:
        """Return the interval of a difference; tests of others may have none."""
        if isinstance(test, ZTest):
            interval = test.interval(1.0 - self.corrected.level)
            return interval.low, interval.high
        return (test.low, test.high) if isinstance(test, PairedBootstrapResult) else None

    @property
    def _intervals(self) -> str:
        test = self.tests[0]
        if isinstance(test, ZTest):
            law = "z" if math.isinf(test.degrees) else "t"
            return f"{100 * (1 - self.corrected.level):g} % intervals: {law}-test, {test.method}"
        if not isinstance(test, PairedBootstrapResult):
            return ""
        found = test.contrast
        return (
            f"{100 * found.confidence:g} % intervals: {found.method} bootstrap, "
            f"{found.replicates.shape[0]} replicates, {found.interval}"
        )

    @property
    def _correction(self) -> str:
        return f"{WORDS[self.corrected.correction]}, level {self.corrected.level:g}"

    @property
    def _note(self) -> str:
        of = f"{self.metric}, first minus second" if self.metric else "first minus second"
        return joined_notes(of, scale_of_costs(self.normalized), self._intervals, self._correction)

    @property
    def _left(self) -> tuple[int, ...]:
        return 0, 1, 6

    def _texts(self) -> list[list[str]]:
        head = f"p {HEADS[self.corrected.correction]}"
        rows = [["first", "second", "difference", "SE", "p", head, "significant"]]
        records, verdicts = self.records(), {True: "yes", False: "no"}
        spreads = [record["standard_error"] for record in records if record["standard_error"]]
        # As many decimals in both columns as show three digits of the smallest standard error.
        decimals = max(0, 2 - math.floor(math.log10(min(spreads)))) if spreads else 4
        forms = (f".{decimals}f", f".{decimals}f", ".3g", ".3g")
        names = ("difference", "standard_error", "p_value", "p_corrected")
        for record in records:
            cells = zip((record[name] for name in names), forms, strict=True)
            texts = ["-" if number is None else format(number, form) for number, form in cells]
            if record["low"] is not None:
                low, high = (format(record[end], forms[0]) for end in ("low", "high"))
                texts[0] = WithInterval(texts[0], f"[{low}, {high}]")
            significant = verdicts[record["significant"]]
            rows.append([record["first"], record["second"], *texts, significant])
        return rows

    def __repr__(self) -> str:
        """Lay the comparisons out as a table."""
        lines = [line.rstrip() for line in text_table(self._texts(), left=self._left)]
        return "\n".join([*lines, f"({self._note})"])


def _p_values(tests: Sequence[Comparison]) -> list[float]:
    """Return the p-values of tests; what a test cannot tell counts as no difference."""
    return [1.0 if math.isnan(test.p_value) else test.p_value for test in tests]


def _one_sided(test: Comparison) -> float:
    """Return the p-value of a difference above zero."""
    (p_value,), asked = _p_values([test]), getattr(test, "alternative", "two-sided")
    if asked != "two-sided":
        return p_value if asked == "greater" else 1.0 - p_value
    return 0.5 * p_value if test.difference > 0 else 1.0 - 0.5 * p_value


# Costs at a fixed threshold, speaker by speaker.


@attrs.frozen(repr=False)
class PermutationTest(metaclass=Readable):
    """The outcome of a test that swaps two systems speaker by speaker.

    Parameters
    ----------
    difference : float
        Cost of the first system minus that of the second.
    standard_error : float
        Standard deviation of the difference over all swaps.
    p_value : float
        Share of swaps with a difference at least as extreme, the observed one included.
    alternative : {"two-sided", "less", "greater"}
        What counts as extreme.
    n_speakers : int
        Number of speakers.
    n_permutations : int
        Number of swaps tried.
    exact : bool
        True if these are all the swaps there are.
    """

    difference: float
    standard_error: float
    p_value: float
    alternative: Alternative
    n_speakers: int
    n_permutations: int
    exact: bool

    def __repr__(self) -> str:
        """Put difference, p and the number of permutations on one line."""
        how = "all" if self.exact else "random"
        return (
            f"difference {self.difference:.4g}, p {self.p_value:.3g} ({self.alternative}; "
            f"{how} {self.n_permutations} permutations of {self.n_speakers} speakers)"
        )


def speaker_permutation_test(
    costs_a: npt.ArrayLike,
    costs_b: npt.ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    rng: Rng = None,
    progress: bool = False,
) -> PermutationTest:
    """Test if two systems differ, given the cost that each causes each speaker.

    Parameters
    ----------
    costs_a, costs_b : (k,) array_like of float
        Cost of the first and the second system for each of k speakers, in the same order; finite.
    alternative : {"two-sided", "less", "greater"}, default: "two-sided"
        Whether any difference counts, or only a first system that is better
        ("less") or worse ("greater").
    permutations : int, default: 10000
        Number of random swaps. If all 2 ** k are no more, each is tried once, and p is exact.
    rng : Generator, int or None, keyword-only
        Source of random swaps.
    progress : bool, default: False
        Show a progress bar.

    Returns
    -------
    PermutationTest
        With the difference of the mean costs.

    Raises
    ------
    TrialMismatchError
        If there are not equally many costs of both systems.

    See Also
    --------
    speaker_permutation_test_scores : From scores, for trials of two speakers each.

    Notes
    -----
    If the systems are alike, swapping them for any speaker leaves the law of the costs. Random
    swaps count the observed one, so p is never zero. Speakers must be independent.

    Examples
    --------
    >>> speaker_permutation_test([1.0, 2.0, 3.0], [0.5, 1.0, 1.0])
    difference 1.167, p 0.25 (two-sided; all 8 permutations of 3 speakers)
    """
    a, b = _as_costs(costs_a, "costs_a"), _as_costs(costs_b, "costs_b")
    if a.size != b.size:
        raise TrialMismatchError(
            f"`costs_a` and `costs_b` must be of the same speakers; "
            f"got {a.size} and {b.size} costs."
        )
    if a.size < 2:
        raise invalid("costs_a", "be of at least two speakers", f"{a.size}")
    return _permute((a - b) / a.size, alternative, permutations, rng, progress=progress)


def _as_costs(values: npt.ArrayLike, name: str) -> Float64Array:
    costs = as_vector(values, name).astype(np.float64)
    refuse_nan(costs, name)
    if not np.isfinite(costs).all():
        raise invalid(name, "be finite", "infinite costs")
    return costs


def speaker_permutation_test_scores(
    scores_a: AnyScores,
    scores_b: AnyScores,
    key: KeyLike,
    statistic: LinearStatistic,
    statistic_b: LinearStatistic | None = None,
    *,
    conditions: Conditions | None = None,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    rng: Rng = None,
    progress: bool = False,
    **speakers: Unpack[SpeakerOptions],
) -> PermutationTest:
    r"""Test if the detection costs of two systems differ, swapping them speaker by speaker.

    Parameters
    ----------
    scores_a, scores_b, key, statistic, statistic_b
        As for `speaker_z_test`, errors and warnings included.
    speakers, model_speakers, segment_speakers, unknown, strata, conditions, alternative
        As for `speaker_z_test`.
    permutations, rng, progress
        As for `speaker_permutation_test`.

    Returns
    -------
    PermutationTest
        With the difference of the costs.

    Notes
    -----
    A non-target trial belongs to two speakers, so swapping systems for one of them is not a
    permutation of the data. What is swapped is the sign of each speaker's influence on
    :math:`\Delta = a \Delta_{miss} + b \Delta_{fa}`,

    .. math::

        \psi_k = a \frac{m_k}{T} + b \frac{e_k - \frac12 \Delta_{fa} n_k}{N},

    with :math:`m_k` the difference in misses of speaker k, :math:`e_k` the difference in
    false alarms in the :math:`n_k` non-target trials that k takes part in on either side.
    They add up to :math:`\Delta`. Each false alarm counts in full for both speakers. Where false
    alarms do not depend on speakers, the standard error is up to :math:`\sqrt 2` times too large,
    and `speaker_z_test` is more powerful. For few speakers the test is not exact. Of conditions,
    :math:`\psi_k` is the weighted sum.
    """
    samples = _complete_samples((scores_a, scores_b), key, Speakers(**speakers), conditions)
    _warn_unless_fit(samples, (statistic, statistic_b))
    first, second = _influence(samples, (statistic, statistic_b))
    # The losses of an area are those of 1 - AUC.
    sign = -1.0 if first.is_area else 1.0
    swaps = sign * first.minus(second).swaps
    return _permute(swaps, alternative, permutations, rng, progress=progress)


@attrs.frozen(repr=False)
class SpeakerZTest(ZTest):
    """The outcome of `speaker_z_test`: a t-test by speaker.

    Parameters
    ----------
    difference, standard_error, z, p_value, alternative, method, degrees, least_p, left_open
        As in `ZTest`.
    first, second, contrast : SpeakerInfluence
        The influence of speakers on the metric of either system, and on the difference.
    """

    first: SpeakerInfluence = attrs.field(eq=False, kw_only=True)
    second: SpeakerInfluence = attrs.field(eq=False, kw_only=True)
    contrast: SpeakerInfluence = attrs.field(eq=False, kw_only=True)

    @property
    def effective_speakers(self) -> float:
        """How many speakers who contribute alike to the difference would be as many."""
        return self.contrast.effective_speakers

    def speakers_needed(
        self,
        *,
        relative: float | None = None,
        difference: float | None = None,
        power: float = 0.8,
        level: float = 0.05,
        confidence: float = 0.9,
    ) -> SpeakersNeeded:
        r"""Return how many speakers would show a difference of this size, with this power.

        Parameters
        ----------
        relative : float, optional
            The difference as a fraction of the metric of the first system (AUC: of 1 - AUC).
        difference : float, optional
            The difference itself. Give one of the two.
        power : float, default: 0.8
            The chance of finding the difference, above `level` and below 1.
        level : float, default: 0.05
            Level of the two-sided test.
        confidence : float, default: 0.9
            Of the interval that the pilot's own uncertainty leaves.

        Returns
        -------
        SpeakersNeeded
            The upper end, with the estimate and the lower end.

        Notes
        -----
        :math:`K (z_{1-\alpha/2} + z_{power})^2 SE^2 / \Delta^2` for a pilot of K speakers; its
        variance has the interval of a chi-square distribution, see `SpeakersNeeded`.
        """
        if (relative is None) == (difference is None):
            raise invalid("relative", "be given, or `difference`", "both or none")
        if difference is None:
            share = as_positive(relative or 0.0, "relative")
            if share > 1.0:
                hint = "Is it in per cent? 10 % are 0.1."
                raise invalid("relative", "be a fraction, at most 1", f"{share:g}", hint)
            size = share * abs(self.first.estimate)
        else:
            given = as_number(difference, "difference", "be finite", math.isfinite)
            size = as_positive(abs(given), "difference")
        alpha, chance = check_fraction(level, "level"), check_fraction(power, "power")
        if chance <= alpha:
            raise invalid("power", f"be above `level`, {alpha:g}", f"{chance:g}")
        if size == 0:
            hint = "Give `difference`: a fraction of 0 is 0."
            raise invalid("relative", "be of a metric above 0", "0", hint)
        reach = float(special.ndtri(1.0 - 0.5 * alpha) + special.ndtri(chance))
        return speakers_for((reach * self.standard_error / size) ** 2, self.contrast, confidence)


def speaker_z_test(
    scores_a: AnyScores,
    scores_b: AnyScores,
    key: KeyLike,
    statistic: LinearStatistic,
    statistic_b: LinearStatistic | None = None,
    *,
    conditions: Conditions | None = None,
    alternative: Alternative = "two-sided",
    **speakers: Unpack[SpeakerOptions],
) -> SpeakerZTest:
    """Test if a metric of two systems differs, letting only speakers be independent.

    The paired t-test with the standard error of `speaker_interval`, applied to the difference of
    the losses on each trial, and the same degrees of freedom: K - 1 for K speakers with equally
    many trials, else fewer. The p-value is not below :math:`2^{1-K}`, that of flips of signs.

    Parameters
    ----------
    scores_a, scores_b : Scores or FlatScores
        Scores of the two systems, one for each trial of `key`.
    key : Key or FlatKey, or pair (key, metadata)
        Which trials are targets and which non-targets.
    statistic : Statistic or OperatingPoint
        The metric, as for `speaker_interval`.
    statistic_b : DCF, ActDCF or OperatingPoint, optional
        A cost for the second system, where its threshold is another one.
    speakers, model_speakers, segment_speakers, unknown, strata, conditions
        Speakers of the trials and weights of conditions, as for `speaker_errors`.
    alternative : {"two-sided", "less", "greater"}, default: "two-sided"
        Whether any difference counts, or only a first system that is better
        ("less") or worse ("greater").

    Returns
    -------
    SpeakerZTest
        With the difference of the metrics; plans a larger comparison.

    Raises
    ------
    TrialMismatchError
        If a trial of the key has no score in one of the systems, or is in no condition.

    Warns
    -----
    FewErrorsWarning
        If systems disagree at a fixed threshold on fewer than 30 trials of a class.
    FewSpeakersWarning
        If the difference rests on fewer than 30 effective speakers.
    """
    who = Speakers(**speakers)
    samples = _complete_samples((scores_a, scores_b), key, who, conditions)
    if isinstance(statistic, PrimaryCost):
        plain_key, metadata = split_key(key)
        pairs = zip(samples, (scores_a, scores_b), strict=True)
        one, two = (divided(s, statistic, scores, plain_key, metadata) for s, scores in pairs)
        samples, statistic = (one, two), statistic.plain
    _warn_unless_fit(samples, (statistic, statistic_b))
    return _z_test(samples, (statistic, statistic_b), alternative)


def _z_test(
    samples: tuple[ListedSample, ListedSample],
    statistics: tuple[LinearStatistic, LinearStatistic | None],
    alternative: Alternative,
) -> SpeakerZTest:
    """Test if a metric of two samples of the same trials differs, see `speaker_z_test`."""
    first, second = _influence(samples, statistics)
    contrast = first.minus(second)
    check_influences({"difference": contrast}, FEWEST_FOR_TEST)
    numbers = contrast.degrees, contrast.least_p
    test = z_test(contrast.difference, contrast.null_error, alternative, METHOD, *numbers)
    return SpeakerZTest(*attrs.astuple(test), first=first, second=second, contrast=contrast)


def _complete_samples(
    systems: tuple[AnyScores, AnyScores], key: KeyLike, who: Speakers, conditions: Conditions | None
) -> tuple[ListedSample, ListedSample]:
    """Join two systems with a key of which each has scored all trials."""
    key, metadata = split_key(key)
    for n_trials, what in ((key.n_tar, "targets"), (key.n_non, "non-targets")):
        if n_trials == 0:
            raise invalid("key", f"have {what}", "none")
    for scores, name in zip(systems, ("scores_a", "scores_b"), strict=True):
        check_system(scores, name)
        refuse_missing(scores, key, name)
    both = key, metadata
    first = ListedSample.of(systems[0], key, conditions, lambda: who.of_trials(both))
    refuse_repeated(first)
    # Both systems share the pairs of speakers.
    _ = first.pairs
    return first, first.of_system(systems[1], key, conditions)


def _warn_unless_fit(
    samples: tuple[ListedSample, ListedSample], statistics: tuple[object, object]
) -> None:
    """Warn once of each system whose scores cannot be log-likelihood-ratios."""
    both = zip(samples, ("scores_a", "scores_b"), statistics, strict=True)
    for sample, name, statistic in both:
        warn_unless_fit([statistics[0] if statistic is None else statistic], sample, name)


def _influence(
    samples: tuple[ListedSample, ListedSample],
    statistics: tuple[LinearStatistic, LinearStatistic | None],
) -> tuple[SpeakerInfluence, SpeakerInfluence]:
    """Find the influence of speakers on the metrics of two systems on the same trials."""
    chosen = statistics[0], statistics[0] if statistics[1] is None else statistics[1]
    losses = [
        losses_of(statistic, sample, name)
        for statistic, sample, name in zip(
            chosen, samples, ("statistic", "statistic_b"), strict=True
        )
    ]
    # Costs at fixed thresholds have prices; all others must be the same metric.
    fixed = not any(isinstance(statistic, NOT_FIXED) for statistic in chosen)
    if chosen[0] != chosen[1] if not fixed else losses[0].most != losses[1].most:
        expected = "have the same prior and costs as `statistic`"
        raise invalid("statistic_b", expected, describe(statistics[1]))
    if fixed:
        classes: tuple[WhichClass, WhichClass] = (0, 1)
        strata = samples[0].strata
        for which, what in zip(classes, ("miss", "false-alarm"), strict=True):
            if losses[0].most[which] == 0:
                continue
            a, b = (each.of(which, sample) for each, sample in zip(losses, samples, strict=True))
            differing = effective_errors(strata[which].totals(a != b), strata[which].factors)
            check_few_errors(float(differing), f"difference of the {what} rates")
    first, second = (SpeakerInfluence.on(*each) for each in zip(chosen, samples, strict=True))
    return first, second


def _permute(
    shares: Float64Array, alternative: Alternative, permutations: int, rng: Rng, *, progress: bool
) -> PermutationTest:
    """Flip the signs of the shares of a difference."""
    check_choice(alternative, Alternative, "alternative")
    if as_nonnegative(permutations, "permutations") < 1 or permutations != int(permutations):
        raise invalid("permutations", "be a whole number, at least 1", describe(permutations))
    extremeness = {"two-sided": np.abs, "less": np.negative, "greater": np.positive}[alternative]
    n_speakers = shares.size
    if n_speakers < 2:
        raise invalid("key", "have at least two speakers with trials", f"{n_speakers}")
    # Differences that are equal in exact arithmetic may differ by rounding; the observed
    # one must count as extreme as itself.
    slack = 1e-12 * float(np.abs(shares).sum())
    observed = float(shares.sum())
    # Numbers of permutations are int64.
    exact = n_speakers < 60 and 2**n_speakers <= permutations
    n_rounds = 2**n_speakers if exact else int(permutations)
    given = as_generator(rng)
    generator = None if exact else given
    step = max(1, _SIGNS_PER_BLOCK // n_speakers)
    n_extreme = 0
    for start in progress_bar(range(0, n_rounds, step), shown=progress, unit="block"):
        rounds = range(start, min(start + step, n_rounds))
        swapped = signs_of(n_speakers, rounds, generator) @ shares
        n_extreme += int(np.count_nonzero(extremeness(swapped) >= extremeness(observed) - slack))
    # Random swaps: the observed labelling is one of the permutations, so p is never 0.
    p_value = n_extreme / n_rounds if exact else (n_extreme + 1) / (n_rounds + 1)
    # Independent signs: the variance of a sum of +-psi_k is the sum of their squares.
    spread = math.sqrt(float(np.dot(shares, shares)))
    return PermutationTest(observed, spread, p_value, alternative, n_speakers, n_rounds, exact)


# All pairs of several systems.


@cautions()
def compare_systems(
    systems: SystemsLike,
    key: Any,
    statistic: StatisticLike,
    *,
    correction: Correction | None = None,
    level: float = 0.05,
    method: ScoresMethod = "speaker",
    conditions: Conditions | None = None,
    alternative: Alternative = "two-sided",
    **options: Unpack[ScoresOptions],
) -> ComparisonTable:
    r"""Compare each pair of several systems, and correct the p-values for their number.

    Parameters
    ----------
    systems : mapping of str to Scores or FlatScores
        At least two systems by name; a list is numbered.
    key : Key or FlatKey, or pair (key, metadata)
        Which trials are targets and which non-targets; such as `read_key` returns.
    statistic : Statistic, OperatingPoint or callable
        The metric, a number. A built-in metric is compared by `speaker_z_test`, any other as by
        `paired_bootstrap`.
    speakers : IdMap, dict, callable, str, or pair of these, optional
        The speaker of each model and segment, as for `evaluate`.
    correction : {"max-t", "holm", "by"}, optional
        By the largest t of all pairs, see below; see `holm_correction` and `by_correction`. By
        default "max-t" for three systems and more that are compared by speaker, else "holm".
    level : float, default: 0.05
        The chance of at least one false alarm that is accepted; with "by" the mean share of false
        alarms among the significant tests.
    method
        As for `bootstrap_scores`; other than "speaker" every statistic is resampled.
    conditions, alternative, replications, rng, workers, progress
        As for `paired_bootstrap`. All pairs see the same replicates.

    Returns
    -------
    ComparisonTable
        One row for each pair. Where the p-value is not defined, it is 1.

    Raises
    ------
    TrialMismatchError
        As for `speaker_z_test` and `paired_bootstrap`.

    Warns
    -----
    FewErrorsWarning, DegenerateReplicatesWarning, MissingTrialsWarning
        As for these; each names the systems.

    Notes
    -----
    With ``correction="max-t"`` the corrected p-value of the largest :math:`|t|` is the chance that
    the largest of all pairs is as large if systems are alike; that of the next one leaves the
    first pair out, and so on: J. P. Romano and M. Wolf, Econometrica 73, 2005. By speaker,

    .. math::

        t = \sum_k \psi_k \Big/ \sqrt{\textstyle\sum_k \psi_k^2}

    with the influences of `speaker_permutation_test_scores`, and signs that are flipped for all
    pairs at once: 9,999 random ones, the same in each call, or all up to 13 speakers. So a
    corrected p-value is not below .0001. Of replicates t is the difference to the estimate over
    their standard deviation. No corrected p-value is below that of its test.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import Key, Scores
    >>> from bosaris_py import uncertainty as unc
    >>> rng = np.random.default_rng(1)
    >>> speakers, same = [f"speaker{i}" for i in range(60)], np.eye(60, dtype=bool)
    >>> key = Key(speakers, speakers, same, ~same)
    >>> systems, noise = {}, 4.0 * same
    >>> for name in ("A", "B", "C"):
    ...     noise = noise + rng.normal(size=(60, 60))
    ...     systems[name] = Scores(noise, speakers, speakers)
    >>> table = unc.compare_systems(systems, key, unc.Cllr(), replications=200, rng=2)
    >>> [(r["first"], r["second"], r["significant"]) for r in table.records()]
    [('A', 'B', True), ('A', 'C', True), ('B', 'C', True)]
    """
    if correction is not None:
        check_choice(correction, Correction, "correction")
    check_fraction(level, "level")
    check_choice(alternative, Alternative, "alternative")
    named = as_systems(systems)
    if len(named) < 2:
        raise invalid("systems", "hold at least two systems", "one")
    if not isinstance(statistic, PrimaryCost):
        as_statistic(statistic)
    elif conditions is not None:
        raise invalid("conditions", "be left out of a primary cost", "Conditions")
    seed, progress = as_seed(options.get("rng")), options.get("progress", False)
    who, how = split_options(method, {**options, "progress": False})
    plain_key, _ = split_key(key)
    plain = statistic.plain if isinstance(statistic, PrimaryCost) else statistic
    refuse_different_trials(named, plain_key, plain, how)
    names = list(named)
    with cautions(system=names[0]):
        first = how.sample(named[names[0]], key, who, conditions)
    samples = {names[0]: first}
    for name in names[1:]:
        with cautions(system=name):
            samples[name] = first.of_system(named[name], plain_key, conditions)
    if isinstance(statistic, PrimaryCost):
        _, metadata = split_key(key)
        samples = {
            name: divided(sample, statistic, named[name], plain_key, metadata)
            for name, sample in samples.items()
        }
    table = compare_samples(
        samples,
        plain,
        how,
        seed,
        alternative=alternative,
        level=level,
        correction=correction,
        progress=progress,
    )
    if not isinstance(statistic, PrimaryCost):
        return table
    cost, plan = "minCprimary" if statistic.minimum else "actCprimary", statistic.plan
    return attrs.evolve(table, metric=f"{cost} of {plan.name}", normalized=plan.normalize)


def refuse_different_trials(
    systems: Mapping[str, AnyScores], key: AnyKey, statistic: object, how: Resampling
) -> None:
    """Raise unless systems have scores of the same trials; the z-test wants all of a key."""
    names = list(systems)
    for name, scores in systems.items():
        check_system(scores, f"systems[{name!r}]")
        if _is_closed(statistic, how):
            refuse_missing(scores, key, f"systems[{name!r}]")
        elif name != names[0]:
            check_same_trials((systems[names[0]], scores), key)


@cautions()
def compare_samples(
    samples: Mapping[str, ListedSample],
    statistic: StatisticLike,
    how: Resampling,
    seed: int,
    *,
    alternative: Alternative = "two-sided",
    level: float = 0.05,
    correction: Correction | None = None,
    progress: bool = False,
) -> ComparisonTable:
    """Compare each pair of samples of the same trials, see `compare_systems`."""
    for name, sample in samples.items():
        warn_unless_fit([statistic], sample, name)
    chosen = as_statistic(statistic)
    tests: dict[tuple[str, str], Comparison] = {}
    pairs = list(itertools.combinations(samples, 2))
    for a, b in progress_bar(pairs, shown=progress, unit="pair"):
        both = samples[a], samples[b]
        with cautions(pair=f"{a} and {b}"):
            if _is_closed(statistic, how):
                tests[a, b] = _z_test(both, (statistic, None), alternative)  # type: ignore[arg-type]
            else:
                # All pairs see the same replicates.
                anew = attrs.evolve(how, rng=seed)
                tests[a, b] = _paired((chosen, chosen), both, anew, alternative)
        if shape := np.shape(tests[a, b].difference):
            raise invalid("statistic", "be a number", f"an array of shape {shape}")
    if correction is None:
        correction = "max-t" if len(samples) > 2 and how.method == "speaker" else "holm"
    if correction == "max-t":
        table = _max_t_table(tests, alternative, level)
    else:
        table = ComparisonTable.from_tests(tests, level=level, correction=correction)
    # An OperatingPoint is a cost that is not normalized.
    cost = isinstance(statistic, OperatingPoint | DCF | ActDCF | MinDCF)
    normalized = getattr(statistic, "normalize", False) if cost else None
    larger = isinstance(statistic, AUC)
    known = isinstance(statistic, (*LINEAR, SteppyEER, OperatingPoint))
    return attrs.evolve(
        table,
        normalized=normalized,
        metric=metric_name(statistic),
        larger_is_better=larger if known else None,
    )


def _max_t_table(
    tests: Mapping[tuple[str, str], Comparison], alternative: Alternative, level: float
) -> ComparisonTable:
    """Correct the tests of all pairs by the largest t of common signs, or replicates."""
    results = tuple(tests.values())
    given = np.array(_p_values(results))
    if isinstance(results[0], SpeakerZTest):
        # The losses of an area are those of 1 - AUC.
        signs = (-1.0 if test.contrast.is_area else 1.0 for test in results)
        draws = CommonDraws.of_signs(
            [sign * test.contrast.swaps for sign, test in zip(signs, results, strict=True)]
        )
    else:
        estimates = np.array([test.contrast.estimate for test in results])
        replicates = np.stack([test.contrast.replicates for test in results], axis=1)
        draws = CommonDraws.of_replicates(estimates, replicates)
    corrected = compared(given, draws.corrected(alternative, given), level, "max-t")
    # What is not significant by itself ranks nobody.
    sides = np.array([_one_sided(test) for test in results])
    own = np.minimum(2.0 * np.concatenate([sides, 1.0 - sides]), 1.0)
    directions = mark_read_only(np.maximum(draws.of_directions(), own))
    return ComparisonTable(tuple(tests), results, corrected, directions=directions)


def _is_closed(statistic: object, how: Resampling) -> bool:
    """Tell if systems are compared by `speaker_z_test`."""
    has_formula = isinstance(statistic, OperatingPoint) or (
        isinstance(statistic, LINEAR) and not statistic.shape
    )
    return has_formula and how.method == "speaker" and not how.pigeonhole
