"""Bootstrap of a statistic of scores, and the distribution of its standard error.

Every block of replicates draws from its own child of the random generator, and the size of a block
depends on the statistic alone. So the replicates are the same for any number of workers, and for
any order in which blocks finish.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
from scipy import special
from tqdm import tqdm

from bosaris_py._arrays import Float64Array, FloatArray, Readable, Weights, mark_read_only
from bosaris_py._execution import Runner, whole_number
from bosaris_py._validation import (
    NamedWarnings,
    Rng,
    as_vector,
    check_choice,
    describe,
    invalid,
    list_some,
    refuse_nan,
    warn_caller,
)
from bosaris_py.errors import ConditionWarning, FewErrorsWarning, MissingTrialsWarning
from bosaris_py.evaluation.condition_table import (
    ConditionRow,
    ConditionTable,
    condition_table,
    table_points,
)
from bosaris_py.evaluation.curves import FEWEST_ERRORS
from bosaris_py.numerics.priors import PriorLike
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.key import AnyKey
from bosaris_py.trials.scores import AnyScores
from bosaris_py.trials.speakers import (
    KeyLike,
    SpeakersLike,
    SpeakersOfSide,
    Unknown,
    named_speakers,
)
from bosaris_py.uncertainty.bootstrap_result import (
    Alternative,
    BootstrapResult,
    IntervalKind,
    NormalityTest,
    OpenEnds,
    ZTest,
    normality_test,
    quantile,
    relative_error,
    warn_of_degenerate,
    warn_of_no_variation,
    z_test,
)
from bosaris_py.uncertainty.influence import (
    FEWEST_FOR_INTERVAL,
    Studentised,
    check_few_speakers,
    influences_by_plan,
    open_ends,
    units_of,
)
from bosaris_py.uncertainty.resampling import (
    Method,
    Resampling,
    ResamplingPlan,
    ScoredTrials,
    ScoresMethod,
    SpeakerPlan,
    Speakers,
    SpeakerWeights,
    TrialStrata,
    as_classes,
    effective_errors,
)
from bosaris_py.uncertainty.speaker_curve import Block, SpeakerSampler
from bosaris_py.uncertainty.statistic import (
    DCF,
    EER,
    ActDCF,
    AnyStatistic,
    Cllr,
    ErrorRates,
    MinCllr,
    MinDCF,
    Statistic,
    StatisticLike,
    ThresholdStatistic,
    UserFunction,
    as_statistic,
    warn_unless_fit,
)
from bosaris_py.uncertainty.statistic_samplers import Evaluator, Sampler, WeightedSampler

# Blocks of replicates that share the cost of counting pairs of speakers.
_BLOCKS = 5


def bootstrap(
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
    replications: int = 2000,
    confidence: float = 0.95,
    interval: IntervalKind | None = None,
    rng: Rng = None,
    workers: int = 1,
    progress: bool = False,
) -> BootstrapResult:
    r"""Estimate the standard error and a confidence interval of a metric by resampling.

    Targets and non-targets are resampled independently of each other, as in the papers. If trials
    share speakers, ``"iid"`` gives much too small errors, and the other two methods too small ones,
    because a speaker occurs on both sides of trials.

    Parameters
    ----------
    tar : (n_tar,) array_like of float
        Target scores; no NaN, +-inf allowed.
    non : (n_non,) array_like of float
        Non-target scores, likewise.
    statistic : Statistic or callable
        `DCF`, `ActDCF`, `MinDCF`, `EER`, `AUC`, `Cllr`, `MinCllr` or `ErrorRates`, or any function
        ``f(tar, non, tar_weights, non_weights)`` that returns a number or an array. It gets the
        scores as given here, and weights; called once for each replicate, it is the slow way.
    method : {"iid", "one-layer", "two-layer"}
        ``"iid"``: pick trials. ``"one-layer"``: pick sets of trials. ``"two-layer"``: pick sets,
        and trials within each set picked.
    tar_sets, non_sets : array_like of str or int, optional
        Label of each trial's set, for instance the speaker of its model; required by the other two
        methods, refused by ``"iid"``. Whole numbers and texts are different labels; none may be
        missing.
    tar_conditions, non_conditions : array_like of str or int, optional
        Label of each trial's condition, for both classes or for none. The metric is then the
        condition-weighted one, see Notes.
    condition_weights : mapping from label to float, optional
        Weight of each condition; positive, and of sum one. Equal ones by default. In a class that
        lacks a condition, the weights of the others are scaled up.
    replications : int, default: 2000
        Number of replicates B, at least 2. Standard errors need a few hundred, the ends of a 95 %
        interval 2000.
    confidence : float, default: 0.95
        Nominal coverage of the interval, strictly between 0 and 1.
    interval : {"percentile", "basic", "normal", "student"}, optional
        Kind of interval, see `BootstrapResult.interval_of`. By default ``"basic"`` for `MinDCF`,
        `EER` and `MinCllr`, whose percentile intervals lie too low, see `MinDCF`; ``"percentile"``,
        as in the papers, for all others.
    rng : Generator, int or None
        Source of randomness. The same seed gives the same replicates with any number of workers. Of
        a Generator, spawned children are used, so another call gives new replicates.
    workers : int, default: 1
        Number of processes; of several, a script needs ``if __name__ == "__main__":``.
    progress : bool, default: False
        Show a progress bar.

    Returns
    -------
    BootstrapResult
        Estimate, standard error, interval and all replicates.

    Warns
    -----
    FewErrorsWarning
        If a rate of a `DCF`, `ActDCF` or `ErrorRates` rests on fewer than 30 errors, or all
        replicates are alike, so that a standard error of 0 means nothing.
    DegenerateReplicatesWarning
        If the statistic is not defined on some replicates.

    See Also
    --------
    standard_error_distribution : Repeats this 500 times, as Wu et al. do.
    equal_size_sets : The papers' sets of equal size.

    Notes
    -----
    Algorithms I, II and III of [2]_; the first is the algorithm of [1]_, section 2.4. The standard
    error is the unbiased standard deviation of the replicates, quantiles are as in `quantile`.

    Sets of unequal size are resampled as they are, each with its own number of trials. So a rate is
    that of all trials, in which large sets count more, not the mean of the sets' own rates. The
    papers first drop trials until both are the same, see `equal_size_sets`.

    *Conditions.* A condition :math:`\alpha` of weight :math:`w_\alpha` with :math:`n_\alpha` trials
    of a class gives each of them the weight :math:`w_\alpha / n_\alpha`, equation (12) of [3]_, so
    that error-rates are :math:`P = \sum_\alpha w_\alpha P_\alpha`. ``"iid"`` picks
    :math:`n_\alpha` trials within each condition. A set may be of several conditions;
    ``"two-layer"`` picks trials of a set within their condition. A replicate in which condition
    :math:`\alpha` has :math:`n_\alpha^*` trials weights each by :math:`w_\alpha / n_\alpha^*`;
    without trials of a condition it is degenerate.

    Replicates are drawn in fast ways, see :doc:`/performance`; they have exactly the distribution
    of the plain loop's.

    References
    ----------
    .. [1] J. C. Wu et al., "Measurement uncertainties in speaker recognition evaluation", NISTIR
       7722, 2010.
    .. [2] J. C. Wu et al., "The impact of data dependence on speaker recognition evaluation",
       IEEE/ACM TASLP 25, 2017, doi:10.1109/TASLP.2016.2614725.
    .. [3] D. A. van Leeuwen, "A note on performance metrics for speaker recognition using multiple
       conditions in an evaluation", 2008.

    Examples
    --------
    >>> from bosaris_py import uncertainty as unc
    >>> rng = np.random.default_rng(1)
    >>> tar, non = rng.normal(3, 1, 1000), rng.normal(0, 1, 9000)
    >>> result = unc.bootstrap(tar, non, unc.DCF(threshold=2.0), rng=2)
    >>> exact = np.sqrt(0.1**2 * 0.159 * 0.841 / 1000 + 0.99**2 * 0.023 * 0.977 / 9000)
    >>> bool(abs(result.standard_error / exact - 1) < 0.1)
    True
    """
    chosen = as_statistic(statistic)
    groups = {"tar_conditions": tar_conditions, "non_conditions": non_conditions}
    scores = as_classes(tar, non, tar_sets=tar_sets, non_sets=non_sets, **groups)
    warn_unless_fit([chosen], *scores)
    sizes = scores[0].size, scores[1].size
    strata = TrialStrata.from_labels(tar_conditions, non_conditions, condition_weights, sizes)
    options = Resampling(method, replications, confidence, interval, rng, workers, progress)
    plan = options.plan_of_lists(strata, tar_sets, non_sets)
    return _bootstrap([chosen], scores, plan, options, shared=False)[0]


def _bootstrap(
    statistics: Sequence[AnyStatistic],
    scores: tuple[FloatArray, FloatArray],
    plan: ResamplingPlan,
    options: Resampling,
    *,
    shared: bool,
) -> list[BootstrapResult]:
    """Bootstrap a statistic, or several whose replicates are `shared`."""
    systems = [System.of(statistic, scores, plan.strata) for statistic in statistics]
    few_errors = warn_of_few_errors(systems, plan.strata)
    # The sampler is gone before the next thing as large as the scores is made.
    replicates = draw_replicates(
        shared_sampler(systems, plan)
        if shared
        else systems[0].statistic.sampler(systems[0].tar, systems[0].non, plan),
        options,
    ).reshape(options.replications, -1)
    students = _students(systems, plan, options)
    results, begin = [], 0
    for system, student in zip(systems, students, strict=True):
        shape = np.shape(system.estimate)
        end = begin + math.prod(shape)
        own = np.ascontiguousarray(replicates[:, begin:end]).reshape(-1, *shape)
        kind = system.statistic.default_interval
        results.append(system.result(own, options, kind, student, plan))
        begin = end
    # What makes one statistic degenerate, a lost class, mostly makes all so. Degenerate replicates
    # say enough; few errors or speakers explain a lack of variation.
    if not warn_of_degenerate(max(results, key=lambda result: result.n_degenerate)):
        effective = [student.influence.effective_speakers for student in students if student]
        fewest = min(effective, default=math.inf)
        few_speakers = check_few_speakers(fewest, FEWEST_FOR_INTERVAL, "metric")
        if not (few_errors or few_speakers):
            warn_of_no_variation(min(results, key=lambda result: np.max(result.standard_error)))
    return results


def _students(
    systems: Sequence["System"], plan: ResamplingPlan, options: Resampling
) -> list[Studentised | None]:
    """Studentise the bootstraps of built-in metrics of one number, if speakers are drawn."""
    drawn = influences_by_plan([(s.statistic, (s.tar, s.non)) for s in systems], plan)
    if drawn is None:
        return [None] * len(systems)
    found, persons = drawn
    weights, _ = persons.draw(options.replications, options.rng.spawn(1)[0])
    return [None if one is None else Studentised.of(one, weights) for one in found]


def shared_sampler(systems: Sequence["System"], plan: ResamplingPlan) -> Sampler:
    """Draw several statistics side by side; what is drawn depends on the plan alone."""
    if isinstance(plan, SpeakerPlan):
        found = [
            s.statistic.speaker_sums(s.tar, s.non, plan)
            for s in systems
            if isinstance(s.statistic, Statistic)
        ]
        values = tuple(value for value in found if value is not None)
        if len(values) == len(systems):
            return SpeakerSampler(plan.persons, values)
    evaluators = [s.statistic.in_order(s.tar, s.non, plan.strata) for s in systems]
    shape = (sum(np.size(system.estimate) for system in systems),)
    return WeightedSampler(plan, functools.partial(_all_values, evaluators), shape)


def _all_values(evaluators: Sequence[Evaluator], *weights: Weights) -> Float64Array:
    return np.concatenate([np.ravel(evaluate(*weights)) for evaluate in evaluators])


def draw_replicates(sampler: Sampler, options: Resampling) -> Float64Array:
    """Draw replicates of a statistic, block by block."""
    runner = Runner("bootstrap", options.workers, progress=options.progress)
    blocks = blocks_of(sampler, options.replications, options.rng)
    if isinstance(sampler, SpeakerSampler):
        groups = [blocks[i : i + _BLOCKS] for i in range(0, len(blocks), _BLOCKS)]
        return np.concatenate(runner.map(SpeakerSampler.draw_blocks, sampler, groups))
    return np.concatenate(runner.map(_draw_block, sampler, blocks))


def blocks_of(sampler: Sampler, replications: int, rng: np.random.Generator) -> list[Block]:
    """Return the size of each block of replicates with the generator that it draws from."""
    n_full, rest = divmod(replications, sampler.block)
    sizes = [sampler.block] * n_full + [rest] * bool(rest)
    return list(zip(sizes, rng.spawn(len(sizes)), strict=True))


def _draw_block(sampler: Sampler, block: Block) -> Float64Array:
    return sampler.draw(*block)


@attrs.frozen(eq=False)
class System:
    """Scores of one system, the statistic that is made of them, and its value."""

    statistic: AnyStatistic
    tar: FloatArray
    non: FloatArray
    estimate: Any

    @classmethod
    def of(
        cls, statistic: AnyStatistic, scores: tuple[FloatArray, FloatArray], strata: TrialStrata
    ) -> "System":
        """Compute the statistic of the data; it must be finite to have a spread."""
        # Of scores that do not fit, users are warned once.
        compute = statistic if isinstance(statistic, UserFunction) else statistic._value
        tar_weights, non_weights = strata.trial_weights()
        found = compute(*scores, tar_weights=tar_weights, non_weights=non_weights)
        value = np.asarray(found, dtype=np.float64)
        if not np.isfinite(value).all():
            hint = "A standard error of it is not defined."
            raise invalid("statistic", "be finite on the data", f"{value}", hint)
        if isinstance(statistic, UserFunction):
            statistic = attrs.evolve(statistic, shape=value.shape)
        return cls(statistic, *scores, float(value) if value.ndim == 0 else value)

    def result(
        self,
        replicates: Float64Array,
        options: Resampling,
        default_interval: IntervalKind,
        student: Studentised | None,
        plan: ResamplingPlan,
    ) -> BootstrapResult:
        """Summarise the replicates."""

        @functools.cache
        def left_open() -> OpenEnds:
            data = (self.tar, self.non), plan.strata.trial_weights(), units_of(plan)
            return open_ends(self.statistic, *data)

        # Bands have ends of their own.
        is_open = isinstance(self.statistic, ErrorRates) or not np.ndim(self.estimate)
        result = BootstrapResult.from_replicates(
            self.estimate,
            replicates,
            method=options.method,
            interval=options.interval or (default_interval if student is None else "student"),
            confidence=options.confidence,
            bounds=self.statistic.bounds,
            student=student,
            degrees=plan.persons.n_first - 1.0 if isinstance(plan, SpeakerPlan) else math.inf,
            open_ends=(lambda level: left_open()(level)) if is_open else None,
        )
        # The result outlives the trials.
        few = None if result.open_ends is None else left_open()
        return attrs.evolve(result, open_ends=few)


def warn_of_few_errors(systems: Sequence[System], strata: TrialStrata) -> bool:
    """Warn once if rates at fixed thresholds rest on few errors; return whether they do."""
    found: dict[str, list[float]] = {"miss rate": [], "false-alarm rate": []}
    for system in systems:
        if isinstance(system.statistic, ThresholdStatistic):
            misses = system.statistic.sums(system.tar, strata.tar, 0)
            alarms = system.statistic.sums(system.non, strata.non, 1)
            found["miss rate"] += effective_errors(misses, strata.tar.factors).tolist()
            found["false-alarm rate"] += effective_errors(alarms, strata.non.factors).tolist()
    parts = []
    for rate, counts in found.items():
        few = [count for count in counts if count < FEWEST_ERRORS]
        if few and len(counts) == 1:
            parts.append(f"the {rate} rests on {few[0]:.3g} errors")
        elif few:
            least = f"from {min(few):.3g}"
            parts.append(f"{len(few)} of {len(counts)} {rate}s rest on few errors, {least}")
    if parts:
        text = " and ".join(parts)
        message = (
            f"{text[0].upper()}{text[1:]}. With fewer than {FEWEST_ERRORS} errors a standard "
            "error is itself uncertain, and one of 0 says nothing."
        )
        warn_caller(message, FewErrorsWarning)
    return bool(parts)


def bootstrap_scores(
    scores: AnyScores,
    key: KeyLike,
    statistic: StatisticLike | Sequence[StatisticLike],
    *,
    method: ScoresMethod = "speaker",
    speakers: SpeakersLike = None,
    model_speakers: SpeakersOfSide = None,
    segment_speakers: SpeakersOfSide = None,
    unknown: Unknown = "refuse",
    weights: SpeakerWeights = "multinomial",
    pigeonhole: bool = False,
    conditions: Conditions | None = None,
    replications: int = 2000,
    confidence: float = 0.95,
    interval: IntervalKind | None = None,
    rng: Rng = None,
    workers: int = 1,
    progress: bool = False,
) -> Any:
    r"""Estimate the standard error and a confidence interval of a metric of a score matrix.

    ``method="speaker"`` resamples speakers, each with all trials on either side. The other methods
    are those of the papers, for comparison.

    Parameters
    ----------
    scores : Scores or FlatScores
        Scores of the system.
    key : Key or FlatKey, or pair (key, metadata)
        Which trials are targets and which non-targets.
    statistic : Statistic, callable, or list of these
        As for `bootstrap`; a function gets the scores column by column of the key. Several
        statistics are computed on the same replicates.
    method : {"speaker", "iid", "one-layer", "two-layer"}, default: "speaker"
        ``"speaker"``: draw a weight for each speaker. ``"iid"``: pick trials. ``"one-layer"``: pick
        sets of trials. ``"two-layer"``: pick sets, and trials within each set picked. A set is all
        target trials, or all non-target trials, of the models of one speaker, as in [1]_.
    speakers, model_speakers, segment_speakers, unknown
        As for `speaker_errors`; speakers of segments are used by ``"speaker"`` only.
    weights : {"multinomial", "exponential", "double-or-nothing"}
        The law of a speaker's weight: how often one is picked when as many are picked as there are;
        exponential with mean 1; or 0 or 2. Exponential weights are never zero, so no class is ever
        lost: the choice if targets are of a few speakers only. For ``"speaker"`` only.
    pigeonhole : bool, default: False
        Whether persons on the two sides are different, drawn independently; for ``"speaker"`` only.
    conditions : Conditions, optional
        Weights of conditions: the metric is the condition-weighted one, on the data and
        in each replicate, see Notes. Trials may be in one condition only.
    replications, confidence, interval, rng, workers, progress
        As for `bootstrap`; by speaker, the interval of a built-in metric of one number is
        ``"student"`` by default.

    Returns
    -------
    BootstrapResult or list of BootstrapResult
        Estimate, standard error, interval and all replicates; a list for a list of statistics.

    Raises
    ------
    TrialMismatchError
        If a trial is in no condition, unless they allow that, or a condition has no trial with a
        score.

    Warns
    -----
    FewErrorsWarning, DegenerateReplicatesWarning
        As for `bootstrap`.
    MissingTrialsWarning
        If trials of the key have no scores, they are left out; or if models or segments were taken
        for speakers of their own.
    FewSpeakersWarning
        If a built-in metric of one number rests on fewer than 20 effective speakers.
    ConditionWarning
        If conditions have trials of one class only.

    See Also
    --------
    speaker_interval : Standard error and interval of a metric by a formula.
    paired_bootstrap, speaker_z_test : Compare two systems.

    Notes
    -----
    A target trial of speaker i gets the weight :math:`w_i` of the speaker, a non-target trial with
    a model of speaker i and a segment of speaker j gets :math:`w_i w_j`. So misses and false alarms
    vary together as they do when new speakers are recorded. A target trial has one speaker, so its
    weight is not squared. No target trials are made of two copies of a speaker.

    With ``pigeonhole=True`` [2]_ models have weights :math:`w_i`, segments independent ones
    :math:`v_j`, and every trial the product. That is right where rows and columns are different
    things, for instance languages and speakers. For speaker verification it makes the error of the
    miss rate too large. `segment_speakers` may then name persons who are in no model.

    Variance of pairs of speakers, and of single trials, enters three times [2]_. Where these
    dominate the standard deviation of the replicates is too large, by up to :math:`\sqrt 3`. The
    studentised interval compares each replicate with its own standard error, by the formula of
    `speaker_interval`, which counts pairs once. For the coverage see :doc:`/coverage`.

    *Conditions.* With weights :math:`w_\alpha` of conditions, the error-rates of a replicate are

    .. math::

        P^* = \sum_\alpha w_\alpha \frac{\sum_{i \in \alpha} v_i e_i}{\sum_{i \in \alpha} v_i},

    where :math:`v_i` is the weight that trial i got from its speakers or from picks of it, and
    :math:`e_i` is 1 for an error and else 0. Speakers and sets may be of several conditions, and
    are drawn from all. If a condition loses all its weight the replicate is degenerate: with small
    conditions ``weights="exponential"`` is safer.

    Peak memory is 32 bytes a trial at most, if trials are many more than pairs of speakers.

    References
    ----------
    .. [1] J. C. Wu et al., "The impact of data dependence on speaker recognition evaluation",
       IEEE/ACM TASLP 25, 2017, doi:10.1109/TASLP.2016.2614725.
    .. [2] A. B. Owen and D. Eckles, "Bootstrapping data arrays of arbitrary order", Annals of
       Applied Statistics 6, 2012, doi:10.1214/12-AOAS547.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import Key, Scores
    >>> from bosaris_py import uncertainty as unc
    >>> speakers, same = [f"speaker{i}" for i in range(30)], np.eye(30, dtype=bool)
    >>> habits = np.random.default_rng(1).normal(size=(30, 1))
    >>> scores = Scores(4.0 * same + habits + habits.T, speakers, speakers)
    >>> key = Key(speakers, speakers, same, ~same)
    >>> by_speaker = unc.bootstrap_scores(scores, key, unc.Cllr(), rng=2)
    >>> by_trial = unc.bootstrap_scores(scores, key, unc.Cllr(), method="iid", rng=2)
    >>> bool(by_speaker.standard_error > 1.5 * by_trial.standard_error)
    True
    """
    given = statistic if isinstance(statistic, (list, tuple)) else [statistic]
    chosen = list(map(as_statistic, given))
    if not chosen:
        raise invalid("statistic", "be at least one statistic", "none")
    key, maps = named_speakers(key, speakers, model_speakers, segment_speakers)
    who = Speakers(*maps, unknown, weights, pigeonhole)
    options = Resampling(method, replications, confidence, interval, rng, workers, progress, who)
    shared = given is statistic
    modes = {"shared": shared, "warn": True}
    results = _bootstrap_scores(scores, key, chosen, conditions, options, who, **modes)
    return results if shared else results[0]


def _bootstrap_scores(
    scores: AnyScores,
    key: AnyKey,
    statistics: Sequence[AnyStatistic],
    conditions: Conditions | None,
    options: Resampling,
    who: Speakers,
    *,
    shared: bool = False,
    warn: bool = False,
) -> list[BootstrapResult]:
    trials = ScoredTrials.of(scores, key, conditions)
    plan, taken = options.plan_of_trials(key, trials, who), trials.take(scores, key)
    del trials  # as large as the scores
    if warn:
        warn_unless_fit(statistics, *taken)
    return _bootstrap(statistics, taken, plan, options, shared=shared)


def bootstrap_condition_table(
    scores: AnyScores,
    key: KeyLike,
    conditions: Conditions,
    prior: PriorLike | None = None,
    *,
    normalize: bool = False,
    figures: Sequence[str] | None = None,
    method: ScoresMethod = "speaker",
    speakers: SpeakersLike = None,
    model_speakers: SpeakersOfSide = None,
    segment_speakers: SpeakersOfSide = None,
    unknown: Unknown = "refuse",
    weights: SpeakerWeights = "multinomial",
    replications: int = 2000,
    confidence: float = 0.95,
    interval: IntervalKind | None = None,
    rng: Rng = None,
    workers: int = 1,
    progress: bool = False,
) -> ConditionTable:
    """Judge each condition, all trials pooled, and the conditions equalised, with intervals.

    Parameters
    ----------
    scores, key, conditions, prior, normalize
        As for `evaluation.condition_table`.
    figures : sequence of str, optional
        The figures that get intervals, such as ``["eer", "act_dcf"]``; all by
        default. Each takes a bootstrap for every row.
    method, speakers, model_speakers, segment_speakers, unknown, weights
        As for `bootstrap_scores`. Speakers are those of the whole key, in each row.
    replications, confidence, interval, rng, workers, progress
        As for `bootstrap`; each bootstrap draws from a child of `rng` of its own.

    Returns
    -------
    ConditionTable
        Rows whose `intervals` hold the ends of the intervals.

    Raises
    ------
    TrialMismatchError
        If the conditions do not fit the key.

    Warns
    -----
    MissingTrialsWarning, ConditionWarning, FewErrorsWarning, DegenerateReplicatesWarning
        As for `evaluation.condition_table`, and for each row as for `bootstrap_scores`.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import Conditions, Key, Scores
    >>> speakers, same = [f"{i:02}" for i in range(60)], np.eye(60, dtype=bool)
    >>> scores = Scores(np.random.default_rng(1).normal(3.0 * same - 1), speakers, speakers)
    >>> key = Key(speakers, speakers, same, ~same)
    >>> rows = np.arange(60)[:, None] < [25] * 60
    >>> halves = Conditions({"first": rows, "others": ~rows})
    >>> table = bootstrap_condition_table(
    ...     scores, key, halves, figures=["cllr"], replications=200, rng=2
    ... )
    >>> equalised = table.rows[-1]
    >>> low, high = equalised.intervals["cllr"]
    >>> low < equalised.figures["cllr"] < high
    True
    """
    key, maps = named_speakers(key, speakers, model_speakers, segment_speakers)
    who = Speakers(*maps, unknown, weights)
    options = Resampling(method, replications, confidence, interval, rng, workers, progress, who)
    table = condition_table(scores, key, conditions, prior, normalize=normalize)
    statistics = table_statistics(prior, normalize=normalize)
    chosen = list(statistics) if figures is None else list(figures)
    unknown_names = [name for name in chosen if name not in statistics]
    if unknown_names:
        expected = f"be among the figures of the table ({list_some(statistics, 20)})"
        raise invalid("figures", expected, list_some(map(repr, unknown_names)))
    intervals: list[dict[str, tuple[float, float]]] = [{} for _ in table.rows]
    tasks = [
        (number, name)
        for number, row in enumerate(table.rows)
        for name in chosen
        if row.figures[name] is not None
    ]
    children = options.rng.spawn(len(tasks))
    subsets = [conditions_of_row(row, conditions, key) for row in table.rows]
    shown = tqdm(tasks, desc="condition table", disable=not progress)
    with NamedWarnings(""), warnings.catch_warnings():
        # The table has said so.
        for said in (ConditionWarning, MissingTrialsWarning):
            warnings.simplefilter("ignore", said)
        for (number, name), child in zip(shown, children, strict=True):
            once = attrs.evolve(options, rng=child, progress=False)
            chosen_one = [statistics[name]]
            [result] = _bootstrap_scores(scores, key, chosen_one, subsets[number], once, who)
            intervals[number][name] = float(result.low), float(result.high)
    return ConditionTable(
        attrs.evolve(row, intervals=ends) for row, ends in zip(table.rows, intervals, strict=True)
    )


def table_statistics(prior: PriorLike | None, *, normalize: bool) -> dict[str, Statistic]:
    """Return the statistic of each figure of a table."""
    statistics: dict[str, Statistic] = {"cllr": Cllr(), "min_cllr": MinCllr(), "eer": EER()}
    for suffix, point in {} if prior is None else table_points(prior).items():
        statistics[f"act_dcf{suffix}"] = ActDCF(point, normalize=normalize)
        statistics[f"min_dcf{suffix}"] = MinDCF(point, normalize=normalize)
    return statistics


def conditions_of_row(row: ConditionRow, conditions: Conditions, key: AnyKey) -> Conditions | None:
    """Return conditions that make the whole key show the figures of one row."""
    if row.kind == "equalised":
        return conditions
    if row.kind == "condition":
        return conditions.with_weights({name: float(name == row.name) for name in conditions.names})
    counted = conditions.counted_trials(key)
    return None if counted.all() else Conditions({"pooled": counted}, uncovered="ignore")


_FEWEST_RUNS = 2


@attrs.frozen(eq=False, repr=False)
class StandardErrorDistribution(metaclass=Readable):
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
    tar, non, statistic, method, tar_sets, non_sets
        As for `bootstrap`; the value of the statistic must be a number, not an array.
    tar_conditions, non_conditions, condition_weights
        Conditions of the trials, as for `bootstrap`.
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
    >>> rng = np.random.default_rng(0)
    >>> tar, non = rng.normal(3, 1, 1000), rng.normal(0, 1, 9000)
    >>> runs = standard_error_distribution(tar, non, DCF(2.0), runs=100, rng=1)
    >>> 0.02 < runs.relative_error < 0.05  # near 1.96 / sqrt(2 * 2000)
    True
    """
    chosen = as_statistic(_count_twice(statistic) if count_threshold_twice else statistic)
    groups = {"tar_conditions": tar_conditions, "non_conditions": non_conditions}
    scores = as_classes(tar, non, tar_sets=tar_sets, non_sets=non_sets, **groups)
    sizes = scores[0].size, scores[1].size
    strata = TrialStrata.from_labels(tar_conditions, non_conditions, condition_weights, sizes)
    options = Resampling(method, replications, confidence, None, rng, workers, progress)
    n_runs = whole_number(runs, _FEWEST_RUNS, "runs")
    plan = options.plan_of_lists(strata, tar_sets, non_sets)
    warn_unless_fit([chosen], *scores)
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
    standard_error, reference : float or array_like of float
        From a bootstrap, and from a formula.

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
class FTest(metaclass=Readable):
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
    alternative: Alternative = "two-sided",
) -> ZTest:
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
