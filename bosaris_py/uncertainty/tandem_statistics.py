"""Statistics of two detectors in tandem, resampled by trial or by speaker.

Replicates weight trials. Both detectors are read at the same weights; a threshold of the verifier
that the data decide is decided anew in each replicate.
"""

from __future__ import annotations

import abc
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import attrs
import numpy as np

from bosaris_py._arrays import (
    Float64Array,
    FloatArray,
    IndexArray,
    IntArray,
    Weights,
    mark_read_only,
)
from bosaris_py._validation import Rng, as_seed, check_choice, check_fraction, describe, invalid
from bosaris_py.evaluation.plans.evaluation_plan import EvaluationPlan
from bosaris_py.evaluation.tandem import (
    Form,
    Lists,
    TandemPrices,
    TandemRates,
    act_t_dcf,
    equal_point,
    t_dcf,
    t_eer,
)
from bosaris_py.numerics.metrics import eer
from bosaris_py.numerics.priors import SPOOF_COSTS, SpoofCosts
from bosaris_py.numerics.roc import EERDefinition
from bosaris_py.trials.inputs import KeyLike, split_key
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores, refuse_utterances
from bosaris_py.trials.speakers import Speakers, SpeakersLike, Unknown
from bosaris_py.uncertainty import resampling
from bosaris_py.uncertainty.bootstrap_result import BootstrapResult, IntervalKind
from bosaris_py.uncertainty.bootstrapping import draw_replicates
from bosaris_py.uncertainty.influence.open_ends import units_of
from bosaris_py.uncertainty.spoof_statistics import to_costs
from bosaris_py.uncertainty.statistics.roc_functions import statistic_of_eer
from bosaris_py.uncertainty.statistics.samplers import Evaluator, WeightedSampler, running_total

# Scores of the three classes.
Three = tuple[FloatArray, FloatArray, FloatArray]

# Makes values of the weights of the three classes.
OfThree = Callable[[Weights, Weights, Weights], Float64Array | float]

# A number of each class.
Shares = tuple[float, float, float]


class _Edges(NamedTuple):
    """The order of the scores of a class, and how many lie below each of some thresholds."""

    order: IndexArray
    below: IntArray

    @classmethod
    def of_each(cls, classes: Three, thresholds: Float64Array) -> "list[_Edges]":
        orders = [np.argsort(scores, kind="stable") for scores in classes]
        return [
            cls(order, np.searchsorted(scores[order], thresholds, side="left"))
            for scores, order in zip(classes, orders, strict=True)
        ]

    def accepted(self, weights: Weights) -> tuple[Float64Array, float]:
        """Return the weight at or above each threshold, and the total."""
        total = running_total(weights[self.order])
        return np.asarray(total[-1] - total[self.below], dtype=np.float64), float(total[-1])


def _divided(evaluate: OfThree, n_non: int, tar: Weights, non: Weights) -> Float64Array | float:
    # A plan draws zero-effort impostors and spoofs as one class, in this order.
    return evaluate(tar, non[:n_non], non[n_non:])


def _distinct(*lists: FloatArray) -> Float64Array:
    listed = np.unique(np.concatenate(lists)).astype(np.float64, copy=False)
    return mark_read_only(np.append(listed, np.inf) if listed[-1] < np.inf else listed)


class TandemStatistic(abc.ABC):
    """Base of the statistics of a verifier and a countermeasure."""

    __slots__ = ()

    # What thresholds chosen on few spoofs are too optimistic by is a factor rather than a distance:
    # benchmarks/third_class_study.py of commit b4de7a22 counts what the intervals cover.
    default_interval: IntervalKind = "ratio"
    bounds: tuple[float, float] = (0.0, 1.0)

    @abc.abstractmethod
    def __call__(self, *, asv: Lists, cm: Lists) -> float:
        """Compute the statistic of the scores of three classes of both detectors."""

    def evaluator(self, asv: Three, cm: Three) -> Evaluator:
        """Prepare for many sets of weights of targets and of non-targets, spoofs last.

        Parameters
        ----------
        asv, cm : tuple of ndarray of float
            Scores of the same trials, by class.

        Returns
        -------
        callable
        """
        return functools.partial(_divided, self._prepared(asv, cm), asv[1].size)

    @abc.abstractmethod
    def _prepared(self, asv: Three, cm: Three) -> OfThree:
        """Prepare for many sets of weights of the three classes."""


@attrs.frozen
class TDCF(TandemStatistic):
    """Tandem detection cost of a countermeasure behind a verifier.

    Parameters
    ----------
    costs : SpoofCosts or str, default: "ASVspoof5"
        Priors and costs, or their name.
    asv_threshold : float or "eer", default: "eer"
        The verifier's threshold; ``"eer"`` is decided anew in each replicate.
    form : {"revised", "legacy"}, default: "revised"
        As for `bosaris_py.tandem_cost`.
    actual : bool, default: False
        The cost of Bayes decisions of the countermeasure, not the least one.

    See Also
    --------
    bosaris_py.t_dcf, bosaris_py.act_t_dcf : The same numbers as functions.

    Examples
    --------
    >>> asv = [2.0, 3.0, 4.0, 5.0], [0.0, 0.5, 1.0, 1.5], [0.0, 3.0, 4.0, 5.0]
    >>> cm = [1.0, 1.5, 2.0, 2.5], [1.0, 2.0, 2.0, 3.0], [0.0, 0.0, 1.2, 1.5]
    >>> round(TDCF()(asv=asv, cm=cm), 4)
    0.5
    """

    costs: SpoofCosts = attrs.field(default=SPOOF_COSTS["ASVspoof5"], converter=to_costs)
    asv_threshold: float | Literal["eer"] = attrs.field(default="eer", kw_only=True)
    form: Form = attrs.field(default="revised", kw_only=True)
    actual: bool = attrs.field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        """Check the choices."""
        check_choice(self.form, Form, "form")

    @property
    def default_interval(self) -> IntervalKind:  # type: ignore[override]
        """The kind of interval by default: ``"ratio"``, that of an actual cost ``"basic"``."""
        return "basic" if self.actual else "ratio"

    @property
    def bounds(self) -> tuple[float, float]:  # type: ignore[override]
        """What the cost can be: a minimum is at most that of the better decision without scores."""
        return 0.0, math.inf if self.actual else 1.0

    def __call__(self, *, asv: Lists, cm: Lists) -> float:
        """Compute the cost of the scores of three classes of both detectors."""
        function = act_t_dcf if self.actual else t_dcf
        return function(
            asv=asv, cm=cm, costs=self.costs, asv_threshold=self.asv_threshold, form=self.form
        )

    def _prepared(self, asv: Three, cm: Three) -> OfThree:
        if isinstance(self.asv_threshold, str):
            limits = _distinct(asv[0])
        else:
            limits = np.array([self.asv_threshold], dtype=np.float64)
        edges = _Edges.of_each(asv, limits), _Edges.of_each(cm, _distinct(*cm[:2]))
        return functools.partial(self._of_weights, limits, edges, cm)

    def _of_weights(
        self,
        limits: Float64Array,
        edges: tuple[list[_Edges], list[_Edges]],
        cm: Three,
        *weights: Weights,
    ) -> float:
        of_asv, of_cm = edges
        found = [one.accepted(w) for one, w in zip(of_asv, weights, strict=True)]
        (hits, n_tar), (alarms, n_non), (passing, n_spoof) = found
        # Misses are counted, not one minus a rate: equal rates of whole weights are equal numbers.
        pmiss, pfa, pfa_spoof = (n_tar - hits) / n_tar, alarms / n_non, passing / n_spoof
        # The verifier is where the greater of both rates is least, of equal ones their sum.
        worse = np.maximum(pmiss, pfa)
        at = 0
        if limits.size > 1:
            # Thresholds are the scores of targets with weight, and inf.
            worse[:-1][hits[:-1] == hits[1:]] = np.inf
            best = np.flatnonzero(worse == worse.min())
            at = int(best[np.argmin((pmiss + pfa)[best])])
        rates = float(pmiss[at]), float(pfa[at]), float(pfa_spoof[at])
        prices = TandemPrices.of(self.costs, *rates)
        scale = prices.default(self.form)
        if prices.miss <= 0 or scale <= 0:
            return math.nan
        fixed = prices.fixed if self.form == "revised" else 0.0
        bayes = math.log(prices.alarm) - math.log(prices.miss) if prices.alarm > 0 else -math.inf
        # Kinnunen et al. 2020, equations (9) to (11): C0 + C1 P_miss + C2 P_fa, with rates of the
        # countermeasure, over the cost of one that does not listen. Bayes' threshold is
        # log(C2 / C1).
        if self.actual:
            passed = [float(w[c >= bayes].sum()) for w, c in zip(weights, cm, strict=True)]
        else:
            passed = [e.accepted(w)[0] for e, w in zip(of_cm, weights, strict=True)]  # type: ignore[misc]
        kept = (passed[0] + passed[1]) / (n_tar + n_non)
        cost = prices.miss * (1.0 - kept) + prices.alarm * (passed[2] / n_spoof)
        return (fixed + float(np.min(cost))) / scale


@attrs.frozen
class TEER(TandemStatistic):
    """Concurrent tandem equal error rate.

    See Also
    --------
    bosaris_py.t_eer : The same number as a function.

    Examples
    --------
    >>> asv = [2.0, 3.0, 4.0, 5.0], [0.0, 0.5, 1.0, 1.5], [0.0, 3.0, 4.0, 5.0]
    >>> cm = [1.0, 1.5, 2.0, 2.5], [1.0, 2.0, 2.0, 3.0], [0.0, 0.0, 1.2, 1.5]
    >>> round(TEER()(asv=asv, cm=cm), 4)
    0.2083
    """

    def __call__(self, *, asv: Lists, cm: Lists) -> float:
        """Compute the rate of the scores of three classes of both detectors."""
        return float(t_eer(asv=asv, cm=cm))

    def _prepared(self, asv: Three, cm: Three) -> OfThree:
        of_asv, of_cm = (_Edges.of_each(scores, _distinct(*scores)) for scores in (asv, cm))
        return functools.partial(self._of_weights, of_asv, of_cm)

    @staticmethod
    def _of_weights(of_asv: list[_Edges], of_cm: list[_Edges], *weights: Weights) -> float:
        (t, t_all), (n, n_all), (s, s_all) = (
            edges.accepted(w) for edges, w in zip(of_asv, weights, strict=True)
        )
        (bt, bt_all), (bn, bn_all), (d, d_all) = (
            edges.accepted(w) for edges, w in zip(of_cm, weights, strict=True)
        )
        rates = TandemRates(t, n, s, bt + bn, d, (t_all, n_all, s_all, bt_all + bn_all, d_all))
        # Where all three are equal: a miss of either detector, and false alarms of both kinds.
        i, j = equal_point(rates)
        a, b, c, e, f = (part[k] for part, k in zip(rates.shares(), (i, i, i, j, j), strict=True))
        return float((1.0 - e * a) + e * b + f * c) / 3.0


@attrs.frozen
class CountermeasureEER(TandemStatistic):
    """Equal error rate of the countermeasure: bona fide speech of both kinds against spoofs.

    Parameters
    ----------
    definition : {"rocch", "interpolated", "step"}, default: "rocch"
        Which number is meant, see `bosaris_py.eer`.

    Examples
    --------
    >>> asv = [2.0, 3.0, 4.0, 5.0], [0.0, 0.5, 1.0, 1.5], [0.0, 3.0, 4.0, 5.0]
    >>> cm = [1.0, 1.5, 2.0, 2.5], [1.0, 2.0, 2.0, 3.0], [0.0, 0.0, 1.2, 1.5]
    >>> CountermeasureEER(definition="step")(asv=asv, cm=cm)
    0.25
    """

    definition: EERDefinition = attrs.field(default="rocch", kw_only=True)

    def __call__(self, *, asv: Lists, cm: Lists) -> float:
        """Compute the rate of the scores of three classes of both detectors."""
        tar, non, spoof = (np.asarray(scores) for scores in cm)
        return eer(np.concatenate([tar, non]), spoof, definition=self.definition)

    def _prepared(self, asv: Three, cm: Three) -> OfThree:
        sample = ListedSample.from_scores(np.concatenate(cm[:2]), cm[2])
        of_weights = statistic_of_eer(self.definition).in_order(sample)
        return functools.partial(self._of_weights, of_weights)

    @staticmethod
    def _of_weights(of_weights: Evaluator, tar: Weights, non: Weights, spoof: Weights) -> float:
        return float(of_weights(np.concatenate([tar, non]), spoof))


def statistics_of_tandem(plan: EvaluationPlan, eer: EERDefinition) -> dict[str, TandemStatistic]:
    """Return the statistic of each figure of a plan of two detectors.

    Parameters
    ----------
    plan : EvaluationPlan
        With figures of two detectors.
    eer : {"rocch", "interpolated", "step"}
        The definition of that of the countermeasure.

    Returns
    -------
    dict
    """
    known: dict[str, TandemStatistic] = {"t_eer": TEER()}
    known["cm_eer"] = CountermeasureEER(definition=eer)
    if plan.spoof_costs is not None:
        cost = TDCF(plan.spoof_costs, form=plan.tandem_form)
        known |= {"min_t_dcf": cost, "act_t_dcf": attrs.evolve(cost, actual=True)}
    return {name: known[name] for name in plan.figures}


def tandem_figures(
    key: KeyLike,
    statistics: Sequence[TandemStatistic],
    *,
    asv: AnyScores,
    cm: AnyScores,
    **options: Any,
) -> Iterator[tuple[float, float | None, float | None]]:
    """Yield each statistic of a tandem, and its interval if there are replications.

    Parameters
    ----------
    key
        As for `bootstrap_tandem`.
    statistics : sequence of TandemStatistic
        What to compute.
    asv, cm
        As for `bootstrap_tandem`.
    **options
        As for `bootstrap_tandem`; ``replications=0`` for none.

    Yields
    ------
    tuple
    """
    if options.get("replications", 0):
        for one in statistics:
            found = bootstrap_tandem(key, one, asv=asv, cm=cm, **options)
            yield float(found.estimate), float(found.low), float(found.high)
        return
    of_asv, of_cm = _Tandem.of((asv, cm), key, Speakers(), resampling.Resampling("iid")).lists
    for one in statistics:
        yield float(one(asv=of_asv, cm=of_cm)), None, None


@attrs.frozen(eq=False)
class _Tandem:
    """Both detectors on the same trials, with the speakers that a method draws."""

    asv: ListedSample
    cm: ListedSample
    how: resampling.Resampling

    @classmethod
    def of(
        cls,
        systems: tuple[AnyScores, AnyScores],
        key: KeyLike,
        who: Speakers,
        how: resampling.Resampling,
        layer: str | None = None,
    ) -> "_Tandem":
        plain, metadata = split_key(key)
        refuse_utterances(systems[1], plain, "cm")
        resampling.check_same_trials(systems, plain)
        both = (plain, metadata) if metadata is not None else plain
        samples = [how.kinds_sample(system, both, who, layer) for system in systems]
        return cls(samples[0], samples[1], how)

    @property
    def lists(self) -> tuple[Three, Three]:
        asv, cm = ([one.scores for one in side.classes] for side in (self.asv, self.cm))
        return (asv[0], asv[1], asv[2]), (cm[0], cm[1], cm[2])

    @property
    def units(self) -> Shares:
        """How many speakers, sets or trials of each class are drawn."""
        plan, (_, others, spoofs) = self.how.plan(self.asv), self.asv.classes
        tar, non = units_of(plan)
        if isinstance(plan, resampling.SpeakerPlan) and spoofs.persons is not None:
            return tar, non, float(np.unique(spoofs.persons[0]).size)
        share = spoofs.scores.size / (others.scores.size + spoofs.scores.size)
        return tar, (1.0 - share) * non, share * non

    def draw(self, evaluate: Evaluator, shape: tuple[int, ...]) -> tuple[Float64Array, float]:
        """Draw replicates; return degrees of freedom, too."""
        plan = self.how.plan(self.asv)
        degrees = plan.persons.degrees if isinstance(plan, resampling.SpeakerPlan) else math.inf
        return draw_replicates(WeightedSampler(plan, evaluate, shape), self.how), degrees


def bootstrap_tandem(
    key: KeyLike,
    statistic: TandemStatistic,
    *,
    asv: AnyScores,
    cm: AnyScores,
    method: resampling.ScoresMethod = "speaker",
    layer: str | None = None,
    speakers: SpeakersLike = None,
    unknown: Unknown = "refuse",
    replications: int = 2000,
    confidence: float = 0.95,
    interval: IntervalKind | None = None,
    rng: Rng = None,
    workers: int = 1,
    progress: bool = False,
) -> BootstrapResult:
    """Estimate the standard error and a confidence interval of a metric of a tandem.

    Parameters
    ----------
    key : pair (key, metadata)
        Trials, and a column ``kind``, as ``read_key(path, spoof="keep")`` gives them.
    statistic : TDCF, TEER or CountermeasureEER
        What to compute.
    asv, cm : Scores or FlatScores
        Scores of the verifier and of the countermeasure on the same trials.
    method : {"speaker", "iid", "one-layer", "two-layer"}, default: "speaker"
        As for `bootstrap_scores`.
    layer : str, optional
        A column of the metadata whose values are drawn, too, such as ``"attack"``.
    speakers, unknown
        As for `bootstrap_scores`.
    replications, confidence, interval, rng, workers, progress
        As for `bootstrap`; the interval of an actual cost is ``"basic"`` by default,
        that of minima and equal error rates ``"ratio"``.

    Returns
    -------
    BootstrapResult
        Two tandems with the same seed have paired replicates. Where no replicate differs, the
        interval is what the numbers of speakers leave open, see `BootstrapResult.interval_of`.

    Raises
    ------
    TrialMismatchError
        If a trial has a score in one of the detectors only.

    Examples
    --------
    >>> import numpy as np
    >>> import bosaris_py as bp
    >>> from bosaris_py import uncertainty as unc
    >>> rng, names = np.random.default_rng(1), np.arange(300).astype(str)
    >>> kinds = np.repeat(["target", "nontarget", "spoof"], 100)
    >>> key = bp.FlatKey.from_trials(names, names, kinds == "target")
    >>> metadata = bp.TrialMetadata.from_trials(names, names, {"kind": kinds}, key)
    >>> asv = np.repeat([3.0, 0.0, 2.0], 100) + rng.normal(size=300)
    >>> cm = np.repeat([3.0, 3.0, 0.0], 100) + rng.normal(size=300)
    >>> asv, cm = (bp.FlatScores.from_trials(names, names, x) for x in (asv, cm))
    >>> options = {"method": "iid", "replications": 50, "rng": 1}
    >>> found = unc.bootstrap_tandem((key, metadata), unc.TEER(), asv=asv, cm=cm, **options)
    >>> round(found.estimate, 4), bool(found.low < found.estimate < found.high)
    (0.0671, True)
    """
    given: object = statistic
    if not isinstance(given, TandemStatistic):
        hint = "Make one first: unc.TDCF(), unc.TEER()."
        raise invalid("statistic", "be TDCF, TEER or CountermeasureEER", describe(given), hint)
    seed = as_seed(rng)
    how = resampling.Resampling(method, replications, confidence, interval, seed, workers, progress)
    tandem = _Tandem.of((asv, cm), key, Speakers(speakers, unknown), how, layer)
    of_asv, of_cm = tandem.lists
    estimate = statistic(asv=of_asv, cm=of_cm)
    replicates, degrees = tandem.draw(statistic.evaluator(of_asv, of_cm), ())
    return BootstrapResult.from_replicates(
        estimate,
        replicates,
        method=method,
        interval=tandem.how.interval or statistic.default_interval,
        confidence=tandem.how.confidence,
        bounds=statistic.bounds,
        degrees=degrees,
        open_ends=functools.partial(_open_ends, statistic, (of_asv, of_cm), tandem.units),
    )


def _open_ends(
    statistic: TandemStatistic, lists: tuple[Three, Three], units: Shares, confidence: float
) -> tuple[float, float]:
    """Return the ends that replicates without variation leave open, see `BootstrapResult`."""
    # So large a share of each class may have any scores: the best ones, or the worst, of both.
    tail = 0.5 - 0.5 * check_fraction(confidence, "confidence")
    shares = [-math.expm1(math.log(tail) / count) for count in units]
    weights = [
        np.append(np.full(one.size, (1.0 - share) / one.size), share)
        for one, share in zip(lists[0], shares, strict=True)
    ]
    ends = []
    for far in (math.inf, -math.inf):
        # Impostors speak themselves: the countermeasure should accept them.
        right = (far, -far, -far), (far, far, -far)
        (t, n, s), (u, v, w) = (
            [np.append(one, x) for one, x in zip(side, scores, strict=True)]
            for side, scores in zip(lists, right, strict=True)
        )
        ends.append(float(statistic._prepared((t, n, s), (u, v, w))(*weights)))
    least, most = statistic.bounds
    return (ends[0], ends[1]) if all(map(math.isfinite, ends)) else (least, most)
