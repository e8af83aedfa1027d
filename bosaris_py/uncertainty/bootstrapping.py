"""Bootstrap of a statistic of scores, and the distribution of its standard error.

Every block of replicates draws from its own child of the random generator, and the size of a block
depends on the statistic alone. So the replicates are the same for any number of workers, and for
any order in which blocks finish.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

import attrs
import numpy as np
import numpy.typing as npt

import bosaris_py.uncertainty.resampling as resampling
import bosaris_py.uncertainty.statistics.class_means as class_means
import bosaris_py.uncertainty.statistics.roc_functions as roc_functions
from bosaris_py._arrays import Float64Array, IndexArray, Weights
from bosaris_py._cautions import warn_caller
from bosaris_py._parallel import Runner
from bosaris_py._validation import Rng, as_seed, check_choice, describe, invalid
from bosaris_py.errors import FewErrorsWarning
from bosaris_py.evaluation.condition_table import TableIntervals
from bosaris_py.evaluation.results import named_points
from bosaris_py.numerics.priors import OperatingPoint, PriorLike
from bosaris_py.numerics.roc import FEWEST_ERRORS, EERDefinition
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.inputs import KeyLike
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores
from bosaris_py.trials.speakers import Speakers, SpeakersLike, Unknown
from bosaris_py.uncertainty import bootstrap_result, speaker_curve
from bosaris_py.uncertainty.bootstrap_result import IntervalKind
from bosaris_py.uncertainty.influence.open_ends import open_ends, units_of
from bosaris_py.uncertainty.influence.speaker_influence import (
    FEWEST_FOR_INTERVAL,
    SpeakerInfluence,
    check_influences,
)
from bosaris_py.uncertainty.influence.studentised import Students, influences_of, students_of
from bosaris_py.uncertainty.plan_statistics import PrimaryCost, ViewedStatistic, view_of
from bosaris_py.uncertainty.resampling import (
    Method,
    Resampling,
    ResamplingPlan,
    ScoresMethod,
    SpeakerPlan,
)
from bosaris_py.uncertainty.spoof_statistics import SpoofStatistic
from bosaris_py.uncertainty.statistics import functions
from bosaris_py.uncertainty.statistics.samplers import Evaluator, Sampler, WeightedSampler
from bosaris_py.uncertainty.statistics.statistic import Statistic

# Blocks of replicates that share the cost of counting pairs of speakers.
_BLOCKS = 5


def drawn_lists(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    statistic: functions.StatisticLike,
    how: Resampling,
    sets: tuple[npt.ArrayLike | None, npt.ArrayLike | None],
    labels: tuple[npt.ArrayLike | None, npt.ArrayLike | None],
    weights: Mapping[Any, float] | None,
    *,
    twice: bool,
) -> tuple[functions.AnyStatistic, ListedSample, ResamplingPlan]:
    """Return what is drawn of two lists of scores."""
    chosen = functions.as_statistic(class_means.count_twice(statistic) if twice else statistic)
    check_choice(how.method, Method, "method")
    own = {"tar_sets": sets[0], "non_sets": sets[1]}
    sample = resampling.sample_of_lists(tar, non, labels, weights, **own)
    functions.warn_unless_fit([chosen], sample)
    return chosen, sample, how.plan(sample, *sets)


def bootstrap(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    statistic: functions.StatisticLike,
    *,
    method: Method = "iid",
    tar_sets: npt.ArrayLike | None = None,
    non_sets: npt.ArrayLike | None = None,
    tar_conditions: npt.ArrayLike | None = None,
    non_conditions: npt.ArrayLike | None = None,
    condition_weights: Mapping[Any, float] | None = None,
    count_threshold_twice: bool = False,
    replications: int = 2000,
    confidence: float = 0.95,
    interval: IntervalKind | None = None,
    rng: Rng = None,
    workers: int = 1,
    progress: bool = False,
) -> bootstrap_result.BootstrapResult:
    r"""Estimate the standard error and a confidence interval of a metric by resampling.

    Targets and non-targets are resampled independently of each other, as in the papers. If trials
    share speakers, ``"iid"`` gives much too small errors, and the other two methods too small ones,
    because a speaker occurs on both sides of trials.

    Parameters
    ----------
    tar, non : (n_tar,), (n_non,) array_like of float
        Scores of the two classes; no NaN, +-inf allowed.
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
    count_threshold_twice : bool, default: False
        Count a score equal to the threshold of a `DCF` as a miss and as a false alarm: equation (2)
        of [2]_ and (5) of [1]_, for scores that were rounded to integers.
    replications : int, default: 2000
        Number of replicates B, at least 2. Standard errors need a few hundred, the ends of a 95 %
        interval 2000.
    confidence : float, default: 0.95
        Nominal coverage of the interval, strictly between 0 and 1.
    interval : {"percentile", "basic", "ratio", "normal", "student"}, optional
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
    bootstrap_table : Several systems and methods side by side.
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
    >>> result = unc.bootstrap(tar, non, unc.DCF(2.0, 0.01, 10, 1), rng=2)
    >>> exact = np.sqrt(0.1**2 * 0.159 * 0.841 / 1000 + 0.99**2 * 0.023 * 0.977 / 9000)
    >>> bool(abs(result.standard_error / exact - 1) < 0.1)
    True
    """
    how = Resampling(method, replications, confidence, interval, rng, workers, progress)
    sets, labels = (tar_sets, non_sets), (tar_conditions, non_conditions)
    chosen, sample, plan = drawn_lists(
        tar, non, statistic, how, sets, labels, condition_weights, twice=count_threshold_twice
    )
    return bootstrap_sample([chosen], sample, plan, how)[0]


def bootstrap_sample(
    statistics: Sequence[functions.AnyStatistic],
    sample: ListedSample,
    plan: ResamplingPlan,
    how: Resampling,
    *,
    shared: bool = False,
    names: Sequence[str] = (),
) -> list[bootstrap_result.BootstrapResult]:
    """Bootstrap a statistic, or several whose replicates are `shared`; warnings have `names`."""
    if isinstance(plan, SpeakerPlan):
        sample.arranged()
    systems = [SampledSystem.of(statistic, sample) for statistic in statistics]
    few_errors = warn_of_few_errors(systems)
    # The sampler is gone before the next thing as large as the scores is made.
    replicates = draw_replicates(
        shared_sampler(systems, plan) if shared else systems[0].statistic.sampler(sample, plan), how
    ).reshape(how.replications, -1)
    students = _students(systems, plan, how)
    results, begin = [], 0
    for system, student in zip(systems, students, strict=True):
        shape = np.shape(system.estimate)
        end = begin + math.prod(shape)
        own = np.ascontiguousarray(replicates[:, begin:end]).reshape(-1, *shape)
        kind = system.statistic.default_interval
        results.append(system.result(own, how, kind, student, plan))
        begin = end
    # What makes one statistic degenerate, a lost class, mostly makes all so. Degenerate replicates
    # say enough; few errors or speakers explain a lack of variation.
    if not bootstrap_result.warn_of_degenerate(
        max(results, key=lambda result: result.n_degenerate)
    ):
        named = zip(names or ["metric"] * len(students), students, strict=True)
        influences = [(name, one.influence) for name, one in named if one]
        persons = plan.persons if isinstance(plan, SpeakerPlan) else None
        if persons is not None and persons.n_second is None and not persons.n_groups:
            # Their intervals are percentiles, which rest on speakers, too.
            steps = zip(names or ["metric"] * len(systems), systems, strict=True)
            influences += [
                (name, SpeakerInfluence.on(system.statistic, sample))
                for name, system in steps
                if isinstance(system.statistic, roc_functions.SteppyEER)
            ]
        if not names:
            influences = sorted(influences, key=lambda one: one[1].effective_speakers)[:1]
        few_speakers = check_influences(dict(influences), FEWEST_FOR_INTERVAL)
        if not (few_errors or few_speakers):
            bootstrap_result.warn_of_no_variation(
                min(results, key=lambda result: np.max(result.standard_error))
            )
    return results


def _students(
    systems: Sequence["SampledSystem"], plan: ResamplingPlan, how: Resampling
) -> list[Students | None]:
    """Studentise the bootstraps of built-in metrics that are no curves, if speakers are drawn."""
    found = influences_of([(system.statistic, system.sample) for system in systems], plan)
    # The formula knows speakers, and no other layer.
    if found is None or not isinstance(plan, SpeakerPlan) or plan.persons.n_groups:
        return [None] * len(systems)
    weights, _ = plan.persons.draw(how.replications, how.rng.spawn(1)[0])
    return [None if one is None else students_of(one, weights) for one in found]


def shared_sampler(systems: Sequence["SampledSystem"], plan: ResamplingPlan) -> Sampler:
    """Draw several statistics side by side; what is drawn depends on the plan alone."""
    if isinstance(plan, SpeakerPlan):
        found, columns = _values_of_speakers(systems, plan)
        if all(found):
            return speaker_curve.SpeakerSampler(plan.persons, tuple(filter(None, found)), columns)
    evaluators = [system.statistic.in_order(system.sample) for system in systems]
    shape = (sum(np.size(system.estimate) for system in systems),)
    return WeightedSampler(plan, functools.partial(_all_values, evaluators), shape)


def _values_of_speakers(
    systems: Sequence["SampledSystem"], plan: SpeakerPlan
) -> tuple[list[speaker_curve.ValuesOfSpeakers | None], IndexArray]:
    """Return what makes the values of each system, and where these stand in the results."""
    sizes = [int(np.size(system.estimate)) for system in systems]
    places = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    found: list[speaker_curve.ValuesOfSpeakers | None] = []
    columns = []
    samples = {id(system.sample): system.sample for system in systems}
    for key, sample in samples.items():
        trials = speaker_curve.SpeakerTrials(sample, plan)
        own = [i for i, system in enumerate(systems) if id(system.sample) == key]
        # Who asks for minimum Cllr has whole hulls, which tell the others, too.
        hulls = {
            i: statistic
            for i in own
            if isinstance(statistic := systems[i].statistic, roc_functions.HullStatistic)
            and not statistic.shape
        }
        if any(isinstance(statistic, roc_functions.MinCllr) for statistic in hulls.values()):
            read = functools.partial(roc_functions.read_together, [*hulls.values()])
            modes = {"narrows": False, "ties": False}
            found.append(speaker_curve.SpeakerCurve.of(trials, read, None, (len(hulls),), **modes))
            columns += [places[i] for i in hulls]
            own = [i for i in own if i not in hulls]
        for i in own:
            statistic = systems[i].statistic
            found.append(
                statistic.speaker_sums(trials) if isinstance(statistic, Statistic) else None
            )
            columns.append(places[i])
    return found, np.argsort(np.concatenate(columns))


def _all_values(evaluators: Sequence[Evaluator], *weights: Weights) -> Float64Array:
    return np.concatenate([np.ravel(evaluate(*weights)) for evaluate in evaluators])


def draw_replicates(sampler: Sampler, how: Resampling) -> Float64Array:
    """Draw replicates of a statistic, block by block."""
    runner = Runner("bootstrap", how.workers, progress=how.progress)
    blocks = blocks_of(sampler, how.replications, how.rng)
    if isinstance(sampler, speaker_curve.SpeakerSampler):
        groups = [blocks[i : i + _BLOCKS] for i in range(0, len(blocks), _BLOCKS)]
        return np.concatenate(runner.map(speaker_curve.SpeakerSampler.draw_blocks, sampler, groups))
    return np.concatenate(runner.map(_draw_block, sampler, blocks))


def blocks_of(
    sampler: Sampler, replications: int, rng: np.random.Generator
) -> list[speaker_curve.Block]:
    """Return the size of each block of replicates with the generator that it draws from."""
    n_full, rest = divmod(replications, sampler.block)
    sizes = [sampler.block] * n_full + [rest] * bool(rest)
    return list(zip(sizes, rng.spawn(len(sizes)), strict=True))


def _draw_block(sampler: Sampler, block: speaker_curve.Block) -> Float64Array:
    return sampler.draw(*block)


@attrs.frozen(eq=False)
class SampledSystem:
    """The sample of one system, the statistic that is made of it, and its value."""

    statistic: functions.AnyStatistic
    sample: ListedSample
    estimate: Any

    @classmethod
    def of(cls, statistic: functions.AnyStatistic, sample: ListedSample) -> "SampledSystem":
        """Compute the statistic of the data; it must be finite to have a spread."""
        value = np.asarray(statistic.of_sample(sample), dtype=np.float64)
        if not np.isfinite(value).all():
            hint = "A standard error of it is not defined."
            if np.isinf(value).any():
                hint += " Where LLRs are infinite, bound them first, as BoundedCalibration does."
            got = f"{value} of {type(statistic).__name__}"
            raise invalid("statistic", "be finite on the data", got, hint)
        if isinstance(statistic, functions.UserFunction):
            statistic = attrs.evolve(statistic, shape=value.shape)
        return cls(statistic, sample, float(value) if value.ndim == 0 else value)

    def result(
        self,
        replicates: Float64Array,
        how: Resampling,
        default_interval: bootstrap_result.IntervalKind,
        student: Students | None,
        plan: ResamplingPlan,
    ) -> bootstrap_result.BootstrapResult:
        """Summarise the replicates."""

        @functools.cache
        def left_open() -> bootstrap_result.OpenEnds:
            return open_ends(self.statistic, self.sample, units_of(plan))

        # Bands have ends of their own.
        numbers = self.statistic.numbers if isinstance(self.statistic, Statistic) else ()
        is_open = bool(numbers) or not np.ndim(self.estimate)
        result = bootstrap_result.BootstrapResult.from_replicates(
            self.estimate,
            replicates,
            method=how.method,
            interval=how.interval or (default_interval if student is None else "student"),
            confidence=how.confidence,
            bounds=self.statistic.bounds,
            student=student,
            degrees=plan.persons.degrees if isinstance(plan, SpeakerPlan) else math.inf,
            open_ends=(lambda level: left_open()(level)) if is_open else None,
        )
        # The result outlives the trials.
        few = None if result.open_ends is None else left_open()
        return attrs.evolve(result, open_ends=few)


def warn_of_few_errors(systems: Sequence[SampledSystem]) -> bool:
    """Warn once if rates at fixed thresholds rest on few errors; return whether they do."""
    found: dict[str, list[float]] = {"miss rate": [], "false-alarm rate": []}
    for system in systems:
        at: object = system.statistic
        if (
            isinstance(at, Statistic)
            and (chosen := at._chosen_thresholds(system.sample)) is not None
        ):
            # Both rates at a threshold decide.
            at = class_means.ErrorRates(chosen)
        if isinstance(at, class_means.ThresholdStatistic):
            for which, rate in enumerate(found):
                if which in at.judged:
                    strata = system.sample.strata[which]
                    errors = at.sums(system.sample.lists[which], strata, which)
                    found[rate] += resampling.effective_errors(errors, strata.factors).tolist()
    parts, figures = [], []
    for rate, counts in found.items():
        few = [count for count in counts if count < FEWEST_ERRORS]
        figures += [rate] * bool(few)
        if few and len(counts) == 1:
            parts.append(f"the {rate} rests on {few[0]:.3g} errors")
        elif few:
            least = f"from {min(few):.3g}"
            parts.append(f"{len(few)} of {len(counts)} {rate}s rest on few errors, {least}")
    if parts:
        text = " and ".join(parts)
        advice = (
            f"With fewer than {FEWEST_ERRORS} errors a standard error is itself uncertain, and one "
            "of 0 says nothing."
        )
        fewest = min(min(counts) for counts in found.values() if counts)
        finding = f"{text[0].upper()}{text[1:]}."
        warn_caller(finding, FewErrorsWarning, advice, figures, fewest)
    return bool(parts)


@overload
def bootstrap_scores(
    scores: AnyScores,
    key: KeyLike,
    statistic: functions.StatisticLike,
    *,
    method: ScoresMethod = "speaker",
    speakers: SpeakersLike = None,
    unknown: Unknown = "refuse",
    pigeonhole: bool = False,
    conditions: Conditions | None = None,
    layer: str | None = None,
    replications: int = 2000,
    confidence: float = 0.95,
    interval: IntervalKind | None = None,
    rng: Rng = None,
    workers: int = 1,
    progress: bool = False,
) -> bootstrap_result.BootstrapResult: ...
@overload
def bootstrap_scores(
    scores: AnyScores,
    key: KeyLike,
    statistic: Sequence[functions.StatisticLike],
    *,
    method: ScoresMethod = "speaker",
    speakers: SpeakersLike = None,
    unknown: Unknown = "refuse",
    pigeonhole: bool = False,
    conditions: Conditions | None = None,
    layer: str | None = None,
    replications: int = 2000,
    confidence: float = 0.95,
    interval: IntervalKind | None = None,
    rng: Rng = None,
    workers: int = 1,
    progress: bool = False,
) -> list[bootstrap_result.BootstrapResult]: ...
def bootstrap_scores(
    scores: AnyScores,
    key: KeyLike,
    statistic: functions.StatisticLike | Sequence[functions.StatisticLike],
    *,
    method: ScoresMethod = "speaker",
    speakers: SpeakersLike = None,
    unknown: Unknown = "refuse",
    pigeonhole: bool = False,
    conditions: Conditions | None = None,
    layer: str | None = None,
    replications: int = 2000,
    confidence: float = 0.95,
    interval: IntervalKind | None = None,
    rng: Rng = None,
    workers: int = 1,
    progress: bool = False,
) -> bootstrap_result.BootstrapResult | list[bootstrap_result.BootstrapResult]:
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
        ``"speaker"``: pick speakers, as many as there are. ``"iid"``: pick trials.
        ``"one-layer"``: pick sets of trials. ``"two-layer"``: pick sets, and trials within each set
        picked. A set is all target trials, or all non-target trials, of the models of one speaker,
        as in [1]_.
    speakers, unknown
        As for `speaker_errors`; speakers of segments are used by ``"speaker"`` only.
    pigeonhole : bool, default: False
        Whether persons on the two sides are different, drawn independently; for ``"speaker"`` only.
    conditions : Conditions, optional
        Weights of conditions: the metric is the condition-weighted one, on the data and
        in each replicate, see Notes. Trials may be in one condition only.
    layer : str, optional
        Of statistics of three classes, such as `ADCF`: a column of the metadata whose values are
        drawn, too, such as ``"attack"``. A spoof has the weight of its claimed speaker, times that
        of its value.
    replications, confidence, interval, rng, workers, progress
        As for `bootstrap`; by speaker, the interval of a built-in metric is ``"student"`` by
        default, also of up to 100 rates or costs at several thresholds or operating points, each
        as if it were alone. Curves have percentiles, see their `band`.

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
        If a built-in metric that is no curve rests on fewer than 20 effective speakers; of several
        numbers the one with the fewest.
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
    miss rate too large. `speakers` of segments may then be persons who are in no model.

    Variance of pairs of speakers, and of single trials, enters three times [2]_. Where these
    dominate the standard deviation of the replicates is too large, by up to :math:`\sqrt 3`. The
    studentised interval compares each replicate with its own standard error, by the formula of
    `speaker_interval`, which counts pairs once. For the coverage see :doc:`/coverage`.

    *Conditions.* With weights :math:`w_\alpha` of conditions, the error-rates of a replicate are

    .. math::

        P^* = \sum_\alpha w_\alpha \frac{\sum_{i \in \alpha} v_i e_i}{\sum_{i \in \alpha} v_i},

    where :math:`v_i` is the weight that trial i got from its speakers or from picks of it, and
    :math:`e_i` is 1 for an error and else 0. Speakers and sets may be of several conditions, and
    are drawn from all. If a condition loses all its weight the replicate is degenerate.

    Peak memory is 48 bytes a trial at most, if trials are many more than pairs of speakers.

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
    if not given:
        raise invalid("statistic", "be at least one statistic", "none")
    who = Speakers(speakers, unknown)
    how = Resampling(method, replications, confidence, interval, rng, workers, progress, pigeonhole)
    if any(isinstance(one, PrimaryCost) for one in given):
        if conditions is not None:
            hint = "The plan weighs its partitions."
            raise invalid("conditions", "be left out of a primary cost", "Conditions", hint)
        views = (view_of(one, scores, key, who, how) for one in given)
        several = _of_views(views, how, as_seed(rng))
        return several if given is statistic else several[0]
    if any(isinstance(one, SpoofStatistic) for one in given):
        if conditions is not None:
            hint = "Weights of conditions and of kinds are not combined."
            raise invalid("conditions", "be left out where kinds weigh", "Conditions", hint)
        whole = how.kinds_sample(scores, key, who, layer)
        several = _of_views((_view_of_kinds(one, whole) for one in given), how, as_seed(rng))
        return several if given is statistic else several[0]
    chosen = list(map(functions.as_statistic, given))
    if layer is not None:
        expected = "be left out, unless a statistic is of three classes"
        raise invalid("layer", expected, describe(layer), "For instance unc.ADCF().")
    sample = how.sample(scores, key, who, conditions)
    functions.warn_unless_fit(chosen, sample)
    shared = given is statistic
    results = bootstrap_sample(chosen, sample, how.plan(sample), how, shared=shared)
    return results if shared else results[0]


def _view_of_kinds(
    statistic: object, whole: ListedSample
) -> tuple[ListedSample, functions.AnyStatistic]:
    """Return what a statistic sees of a sample with two kinds of non-targets."""
    if isinstance(statistic, SpoofStatistic):
        return statistic.view(whole), statistic.plain
    return whole.with_kinds_pooled(), functions.as_statistic(statistic)


def _of_views(
    views: Iterable[tuple[ListedSample, functions.AnyStatistic]], how: Resampling, seed: int
) -> list[bootstrap_result.BootstrapResult]:
    """Bootstrap statistics, each on what it sees of the trials, all from the same seed."""
    results = []
    for sample, plain in views:
        how = attrs.evolve(how, rng=seed)
        functions.warn_unless_fit([plain], sample)
        results += bootstrap_sample([plain], sample, how.plan(sample), how)
    return results


def row_intervals(
    sample: ListedSample, statistics: Mapping[str, functions.AnyStatistic], how: Resampling
) -> TableIntervals:
    """Return intervals of the figures of a row of a table, from the same replicates."""
    if not statistics:
        return {}, ""
    resampling.refuse_repeated(sample)
    plan = how.plan(sample)
    names = [*statistics]
    several = bootstrap_sample([*statistics.values()], sample, plan, how, shared=True, names=names)
    found = dict(zip(names, several, strict=True))
    ends = {name: (float(result.low), float(result.high)) for name, result in found.items()}
    return ends, _words_of(found, how)


def _words_of(found: Mapping[str, bootstrap_result.BootstrapResult], how: Resampling) -> str:
    """Say what the intervals of a row are: confidence, method, replicates and kinds."""
    kinds: dict[str, dict[str, None]] = {}
    for name, result in found.items():
        kinds.setdefault(result.interval, {})[name.partition("(")[0]] = None
    shares = (
        kind if len(kinds) == 1 else f"{kind} for {', '.join(names)}"
        for kind, names in kinds.items()
    )
    return (
        f"{100 * how.confidence:g} % intervals: {how.method} bootstrap, {how.replications} "
        f"replicates, {', '.join(shares)}"
    )


def table_statistics(
    prior: PriorLike | None, *, normalize: bool, eer: EERDefinition = "rocch"
) -> dict[str, Statistic]:
    """Return the statistic of each figure of a table."""
    points = {} if prior is None else named_points(prior)
    statistics: dict[str, Statistic] = {"eer": roc_functions.statistic_of_eer(eer)}
    for suffix, point in points.items():
        statistics[f"min_dcf{suffix}"] = roc_functions.MinDCF(point, normalize=normalize)
    for suffix, point in points.items():
        statistics[f"act_dcf{suffix}"] = class_means.ActDCF(point, normalize=normalize)
    return statistics | {"min_cllr": roc_functions.MinCllr(), "cllr": class_means.Cllr()}


def metric_name(statistic: functions.StatisticLike | OperatingPoint | ViewedStatistic) -> str:
    """Name a metric below a table, with its operating point or definition."""
    if isinstance(statistic, OperatingPoint):
        statistic = class_means.ActDCF(statistic)
    words = getattr(statistic, "words", "") or getattr(statistic, "__name__", "")
    return str(words or repr(statistic))
