"""The published cost of an evaluation as a statistic: bootstraps, closed form and tests of it.

A plan weights the partitions of the trials. On the sample that it divides, its cost is the mean
over its operating points of a cost of two classes, which has all ways of such a cost.
"""

from __future__ import annotations

import attrs
import numpy.typing as npt

from bosaris_py._arrays import Readable
from bosaris_py._validation import invalid
from bosaris_py.evaluation.partitions import PlanTrials
from bosaris_py.evaluation.plan_presets import plan_of_two_classes
from bosaris_py.evaluation.plans import EvaluationPlan
from bosaris_py.trials.key import AnyKey
from bosaris_py.trials.metadata import TrialMetadata
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores
from bosaris_py.trials.speakers import KeyLike, Speakers, split_key
from bosaris_py.uncertainty.resampling import Resampling
from bosaris_py.uncertainty.statistics.base import Statistic
from bosaris_py.uncertainty.statistics.class_means import ActDCF, MeanActDCF
from bosaris_py.uncertainty.statistics.curves import MeanMinDCF, MinDCF
from bosaris_py.uncertainty.statistics.functions import AnyStatistic, as_statistic
from bosaris_py.uncertainty.third_class import SpoofStatistic


@attrs.frozen
class PrimaryCost(metaclass=Readable):
    """The primary cost of an evaluation plan.

    Scores come with a pair (key, metadata), whose columns divide the trials as the plan says.
    Weights of the partitions are the plan's; the rates in each are those of the draw. A replicate
    in which a partition has no trial of a class is degenerate, and counted.

    Parameters
    ----------
    plan : EvaluationPlan or str
        The plan, or the name of one, of a single data set.
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

    def __attrs_post_init__(self) -> None:
        """Refuse a plan of several data sets."""
        if self.plan.parts:
            names = ", ".join(part.name for part in self.plan.parts)
            raise invalid("plan", "be of one data set", self.plan.name, f"Take one of {names}.")

    @property
    def plain(self) -> Statistic:
        """The cost of two classes on the trials that the plan divides."""
        points, options = self.plan.operating_points, {"normalize": self.plan.normalize}
        if len(points) == 1:
            return (MinDCF if self.minimum else ActDCF)(points[0], **options)
        return (MeanMinDCF if self.minimum else MeanActDCF)(tuple(points), **options)

    def __call__(self, tar: npt.ArrayLike, non: npt.ArrayLike) -> float:
        """Compute the cost of two lists of scores, under a plan that does not divide trials."""
        if self.plan.factors:
            expected = f"come with a key and metadata, which {self.plan.name} divides"
            raise invalid("scores", expected, "two lists")
        return float(self.plain(tar, non))


def divided(
    sample: ListedSample,
    statistic: PrimaryCost,
    scores: AnyScores,
    key: AnyKey,
    metadata: TrialMetadata | None,
) -> ListedSample:
    """Divide a sample, made of these scores and this key, into the partitions of a plan."""
    trials = PlanTrials.of(scores, key, metadata)
    return sample.weighted(trials.partition(statistic.plan, {}, drop_unknown=False).members)


# Statistics that are those of two classes on a view of the sample.
ViewedStatistic = SpoofStatistic | PrimaryCost


def view_of(
    statistic: object, scores: AnyScores, key: KeyLike, who: Speakers, how: Resampling
) -> tuple[ListedSample, AnyStatistic]:
    """Return the view of the scored trials that a statistic has, and its own of two classes."""
    if isinstance(statistic, SpoofStatistic):
        return statistic.view(how.kinds_sample(scores, key, who)), statistic.plain
    if isinstance(statistic, PrimaryCost):
        plain_key, metadata = split_key(key)
        sample = how.sample(scores, (plain_key, metadata), who, None)
        return divided(sample, statistic, scores, plain_key, metadata), statistic.plain
    return how.sample(scores, key, who, None), as_statistic(statistic)
