"""The published cost of an evaluation as a statistic: bootstraps, closed form and tests of it.

A plan weights the partitions of the trials. On the sample that it divides, its cost is the mean
over its operating points of a cost of two classes, which has all ways of such a cost.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NoReturn, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray, IndexArray, IntArray, Weights, mark_read_only
from bosaris_py._cautions import cautions
from bosaris_py._validation import invalid, list_some
from bosaris_py.evaluation.figure_names import figure_of
from bosaris_py.evaluation.plans.evaluation_plan import EvaluationPlan
from bosaris_py.evaluation.plans.partitions import PlanTrials
from bosaris_py.evaluation.plans.presets import plan_of_two_classes, refuse_impostors
from bosaris_py.trials.conditions import ConditionMembers
from bosaris_py.trials.inputs import KeyLike, split_key
from bosaris_py.trials.key import AnyKey
from bosaris_py.trials.kinds import CLASS_WORDS, check_classes, class_numbers
from bosaris_py.trials.metadata import TrialMetadata
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores, scored_trials
from bosaris_py.trials.speakers import Speakers
from bosaris_py.trials.strata import TrialStrata
from bosaris_py.uncertainty.bootstrap_result import IntervalKind
from bosaris_py.uncertainty.resampling import Resampling
from bosaris_py.uncertainty.spoof_statistics import BonafideEER, SpoofStatistic
from bosaris_py.uncertainty.statistics.class_means import ActDCF, MeanActDCF
from bosaris_py.uncertainty.statistics.functions import AnyStatistic, UserFunction, as_statistic
from bosaris_py.uncertainty.statistics.roc_functions import MeanMinDCF, MinDCF
from bosaris_py.uncertainty.statistics.samplers import Evaluator
from bosaris_py.uncertainty.statistics.statistic import Bounds, Statistic


@attrs.frozen
class PrimaryCost:
    """The primary cost of an evaluation plan.

    Scores come with a pair (key, metadata), whose columns divide the trials as the plan says.
    Weights of the partitions are the plan's; the rates in each are those of the draw. A replicate
    in which a partition has no trial of a class is degenerate: not renormalised, but left out and
    counted in ``n_degenerate``.

    Parameters
    ----------
    plan : EvaluationPlan or str
        The plan, or its name. Of a plan of several data sets the cost is the mean of those of its
        parts; speakers are then drawn in each, those whom data sets share together.
    minimum : bool, default: False
        The least cost of all thresholds, one for each operating point, in place of the actual one.

    See Also
    --------
    bosaris_py.primary_cost : The same number, by partition and operating point.

    Notes
    -----
    The mean over the operating points of the costs of the equalised trials, see
    `bosaris_py.primary_cost`. The closed form is that of `speaker_interval`: the loss of a trial is
    the mean of its losses at all points.

    Examples
    --------
    >>> PrimaryCost("VoxSRC")([1.0, 4.0], [-3.0, 3.5])
    10.0
    >>> PrimaryCost("VoxSRC", minimum=True)([1.0, 4.0], [-3.0, 3.5])
    0.5
    """

    plan: EvaluationPlan = attrs.field(converter=plan_of_two_classes)
    minimum: bool = attrs.field(default=False, validator=attrs.validators.instance_of(bool))

    @property
    def words(self) -> str:
        """Its name in tables, and the plan."""
        name = figure_of("min_primary" if self.minimum else "act_primary").name
        return f"{name} of {self.plan.name}"

    @property
    def plain(self) -> Statistic:
        """The cost of two classes on the trials that the plan divides, of one data set."""
        if self.plan.parts:
            names = ", ".join(part.name for part in self.plan.parts)
            raise invalid("plan", "be of one data set", self.plan.name, f"Take one of {names}.")
        points = self.plan.operating_points
        options = {"normalize": self.plan.normalize}
        if len(points) == 1:
            return (MinDCF if self.minimum else ActDCF)(points[0], **options)
        return (MeanMinDCF if self.minimum else MeanActDCF)(tuple(points), **options)

    def __call__(self, tar: npt.ArrayLike, non: npt.ArrayLike) -> float:
        """Compute the cost of two lists of scores, under a plan that does not divide trials."""
        if self.plan.factors or self.plan.parts:
            expected = f"come with a key and metadata, which {self.plan.name} divides"
            raise invalid("scores", expected, "two lists")
        return float(self.plain(tar, non))


# What makes a view of a sample, and the statistic of two classes that is computed on it.
View: TypeAlias = tuple[Callable[[ListedSample], ListedSample], Statistic]


def _of_lists(*_: object) -> NoReturn:
    raise invalid("scores", "come with a key and metadata, which name data sets", "two lists")


@attrs.frozen(eq=False)
class MeanOfViews(UserFunction):
    """The mean of statistics, each on a view of the same sample."""

    default_interval: ClassVar[IntervalKind] = "basic"
    bounds: ClassVar[Bounds] = (0.0, math.inf)

    function: Callable[..., Callable[..., object]] = _of_lists
    shape: tuple[int, ...] | None = ()
    views: tuple[View, ...] = attrs.field(kw_only=True)

    def of_sample(self, sample: ListedSample) -> np.float64:
        """Return the mean over the views of a sample."""
        values = [float(plain.of_sample(view(sample))) for view, plain in self.views]
        return np.float64(math.fsum(values) / len(values))

    def in_order(self, sample: ListedSample) -> Evaluator:
        """Prepare for many sets of weights in the order of the trials."""
        numbered, parts = _numbered(sample), []
        for view, plain in self.views:
            seen, places = view(sample), _places(view, numbered)
            parts.append((plain.in_order(seen), seen.strata, places))
        return functools.partial(_mean_of_parts, parts)


def _numbered(sample: ListedSample) -> ListedSample:
    """Return a sample whose scores are the positions of its trials, which a view then has."""
    tar, *kinds = sample.classes
    starts = np.cumsum([0, *(kind.scores.size for kind in kinds)])
    scores = [np.arange(tar.scores.size, dtype=np.float64)]
    scores += [np.arange(a, b, dtype=np.float64) for a, b in itertools.pairwise(starts)]
    pairs = zip(sample.classes, scores, strict=True)
    classes = tuple(attrs.evolve(one, scores=listed, order=None) for one, listed in pairs)
    return attrs.evolve(sample, classes=classes)


def _places(
    view: Callable[[ListedSample], ListedSample], numbered: ListedSample
) -> tuple[IndexArray, IndexArray]:
    tar, non = (listed.astype(np.intp) for listed in view(numbered).lists)
    return tar, non


def _mean_of_parts(
    parts: Sequence[tuple[Evaluator, TrialStrata, tuple[IndexArray, IndexArray]]],
    tar: Weights,
    non: Weights,
) -> float:
    values = []
    for evaluate, strata, (tar_places, non_places) in parts:
        own = tar[tar_places], non[non_places]
        # Without trials of a class in a partition the rate of the plan is not defined.
        if not strata.complete(*own):
            return math.nan
        values.append(float(evaluate(*own)))
    return math.fsum(values) / len(values)


def drawn_apart(sample: ListedSample, views: Sequence[View], how: Resampling) -> ListedSample:
    """Return a sample whose speakers are drawn independently for each view, shared ones together.

    Speakers of the same views are a stratum.
    """
    if how.method != "speaker" or how.pigeonhole:
        return sample
    (tar_first, _), (first, second) = sample.persons
    numbered = _numbered(sample)
    n = 1 + max(int(part.max(initial=0)) for part in (tar_first, first, second))
    codes = np.zeros(n, dtype=np.int64)
    if sample.speaker_strata is not None:
        codes[:] = np.unique(sample.speaker_strata, return_inverse=True)[1][:n]
    for view, _ in views:
        tar, non = _places(view, numbered)
        others = second[non]
        member = np.zeros(n, dtype=np.int64)
        for persons in (tar_first[tar], first[non], others[others >= 0]):
            member[persons] = 1
        # A digit for each view: speakers with the same digits take part in the same data sets.
        codes = 2 * codes + member
    return attrs.evolve(sample, speaker_strata=_large_strata(codes, tar_first, first, second))


def _large_strata(codes: IntArray, *persons: AnyArray) -> IntArray | None:
    """Return numbers of strata; a speaker alone in one, who would not vary, joins the largest."""
    present = np.zeros(codes.size, dtype=np.bool_)
    for listed in persons:
        present[listed[listed >= 0]] = True
    numbers = np.unique(codes, return_inverse=True)[1]
    sizes = np.bincount(numbers[present], minlength=int(numbers.max()) + 1)
    numbers[(sizes < 2)[numbers]] = int(np.argmax(sizes))
    return mark_read_only(numbers) if np.count_nonzero(sizes > 1) > 1 else None


def viewed(
    sample: ListedSample,
    statistic: PrimaryCost,
    scores: AnyScores,
    key: AnyKey,
    metadata: TrialMetadata | None,
) -> tuple[ListedSample, AnyStatistic]:
    """Divide a sample of these scores and this key as a plan does; return its statistic, too."""
    trials, plan = PlanTrials.of(scores, key, metadata), statistic.plan
    if not plan.parts:
        return sample.weighted(_members(trials, plan)), statistic.plain
    trials.check_parts(plan)
    views = []
    for part in plan.parts:
        divide = operator.methodcaller("weighted", _members(trials, part))
        views.append((divide, attrs.evolve(statistic, plan=part).plain))
    return sample, MeanOfViews(views=tuple(views))


def _members(trials: PlanTrials, plan: EvaluationPlan) -> list[ConditionMembers]:
    return trials.partition(plan, {}).members


def views_of_sets(
    scores: AnyScores, key: KeyLike, column: str
) -> dict[str, Callable[[ListedSample], ListedSample]]:
    """Return what takes the trials of each data set from a sample of three classes."""
    plain, metadata = split_key(key)
    if metadata is None or column not in metadata.names:
        got = "no metadata" if metadata is None else list_some(metadata.names) or "no column"
        hint = "plan.evolve(sets=...) names another column; sets='' takes all trials for one set."
        raise invalid("key", f"have a column {column!r} that names data sets", got, hint)
    factor = metadata.for_trials(plain).factor(column)
    classes, scored = class_numbers(plain, metadata), scored_trials(scores, plain)
    kept = np.ones(classes.size, dtype=np.bool_) if scored is None else scored
    chosen = [(classes == number) & kept for number in range(len(CLASS_WORDS))]
    found: dict[str, Callable[[ListedSample], ListedSample]] = {}
    for code, name in enumerate(factor.levels.tolist()):
        own = [np.flatnonzero(factor.codes[trials] == code) for trials in chosen]
        if not any(part.size for part in own):
            continue
        check_classes([part.size for part in own], where=f" in the set {name!r}")
        found[name] = operator.methodcaller("part", dict(zip(CLASS_WORDS, own, strict=True)))
    return found


def _composed(
    sample: ListedSample,
    first: Callable[[ListedSample], ListedSample],
    then: Callable[[ListedSample], ListedSample],
) -> ListedSample:
    return then(first(sample))


def mean_over_sets(
    statistic: SpoofStatistic,
    plain: Statistic,
    sets: Mapping[str, Callable[[ListedSample], ListedSample]],
) -> MeanOfViews:
    """Return the mean of a statistic of three classes over data sets."""
    views = [functools.partial(_composed, first=one, then=statistic.view) for one in sets.values()]
    return MeanOfViews(views=tuple((view, plain) for view in views))


def whole_sample(
    statistic: SpoofStatistic, scores: AnyScores, key: KeyLike, who: Speakers, how: Resampling
) -> ListedSample:
    """Return the sample that a statistic has a view of: three classes, or two of utterances."""
    if not isinstance(statistic, BonafideEER):
        return how.kinds_sample(scores, key, who)
    plain, metadata = split_key(key)
    refuse_impostors(metadata)
    return how.sample(scores, plain, who, None)


def samples_of_kinds(
    statistic: SpoofStatistic,
    systems: Mapping[str, AnyScores],
    key: KeyLike,
    who: Speakers,
    how: Resampling,
    sets: str = "",
) -> tuple[dict[str, ListedSample], AnyStatistic]:
    """Return the view of each system that a statistic has, on the same draws, and its own.

    With a column of data sets, the statistic is the mean over these.
    """
    samples: dict[str, ListedSample] = {}
    plain: AnyStatistic = statistic.plain
    for name, scores in systems.items():
        with cautions(system=name):
            whole = whole_sample(statistic, scores, key, who, how)
        if sets:
            mean = mean_over_sets(statistic, statistic.plain, views_of_sets(scores, key, sets))
            view, plain = drawn_apart(whole, mean.views, how), mean
        else:
            view = statistic.view(whole)
        if samples and how.method == "speaker":
            view = view.sharing_pairs(next(iter(samples.values())))
        samples[name] = view
    return samples, plain


# Statistics that are those of two classes on a view of the sample.
ViewedStatistic = SpoofStatistic | PrimaryCost


def view_of(
    statistic: object, scores: AnyScores, key: KeyLike, who: Speakers, how: Resampling
) -> tuple[ListedSample, AnyStatistic]:
    """Return the view of the scored trials that a statistic has, and its own of two classes."""
    if isinstance(statistic, SpoofStatistic):
        return statistic.view(whole_sample(statistic, scores, key, who, how)), statistic.plain
    if isinstance(statistic, PrimaryCost):
        plain_key, metadata = split_key(key)
        sample = how.sample(scores, (plain_key, metadata), who, None)
        sample, plain = viewed(sample, statistic, scores, plain_key, metadata)
        if isinstance(plain, MeanOfViews):
            sample = drawn_apart(sample, plain.views, how)
        return sample, plain
    return how.sample(scores, key, who, None), as_statistic(statistic)
