"""The published cost of an evaluation as a statistic: bootstraps, closed form and tests of it.

A plan weights the partitions of the trials. On the sample that it divides, its cost is the mean
over its operating points of a cost of two classes, which has all ways of such a cost.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._cautions import cautions
from bosaris_py._validation import invalid, list_some
from bosaris_py.evaluation.figure_names import figure_of
from bosaris_py.evaluation.plans.evaluation_plan import EvaluationPlan
from bosaris_py.evaluation.plans.partitions import PlanTrials
from bosaris_py.evaluation.plans.presets import plan_of_two_classes, refuse_impostors
from bosaris_py.trials.inputs import KeyLike, split_key
from bosaris_py.trials.key import AnyKey
from bosaris_py.trials.kinds import CLASS_WORDS, check_classes, class_numbers
from bosaris_py.trials.metadata import TrialMetadata
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores, scored_trials
from bosaris_py.trials.speakers import Speakers
from bosaris_py.uncertainty.resampling import Resampling
from bosaris_py.uncertainty.spoof_statistics import BonafideEER, SpoofStatistic
from bosaris_py.uncertainty.statistics.class_means import ActDCF, MeanActDCF
from bosaris_py.uncertainty.statistics.functions import AnyStatistic, as_statistic
from bosaris_py.uncertainty.statistics.roc_functions import MeanMinDCF, MinDCF
from bosaris_py.uncertainty.statistics.statistic import Statistic


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
        The plan, or its name, of one data set.
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
        if self.plan.factors:
            expected = f"come with a key and metadata, which {self.plan.name} divides"
            raise invalid("scores", expected, "two lists")
        return float(self.plain(tar, non))


def viewed(
    sample: ListedSample,
    statistic: PrimaryCost,
    scores: AnyScores,
    key: AnyKey,
    metadata: TrialMetadata | None,
) -> tuple[ListedSample, AnyStatistic]:
    """Divide a sample of these scores and this key as a plan does; return its statistic, too."""
    # Asked for first: a plan of several data sets has none.
    plain = statistic.plain
    members = PlanTrials.of(scores, key, metadata).partition(statistic.plan, {}).members
    return sample.weighted(members), plain


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
) -> tuple[dict[str, ListedSample], AnyStatistic]:
    """Return the view of each system that a statistic has, on the same draws, and its own."""
    samples: dict[str, ListedSample] = {}
    for name, scores in systems.items():
        with cautions(system=name):
            view = statistic.view(whole_sample(statistic, scores, key, who, how))
        if samples and how.method == "speaker":
            view = view.sharing_pairs(next(iter(samples.values())))
        samples[name] = view
    return samples, statistic.plain


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
        return viewed(sample, statistic, scores, plain_key, metadata)
    return how.sample(scores, key, who, None), as_statistic(statistic)
