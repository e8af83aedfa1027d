"""Statistics of two detectors in tandem, resampled by trial or by speaker.

Replicates weight trials. Both detectors are read at the same weights; a threshold of the verifier
that the data decide is decided anew in each replicate.
"""

from __future__ import annotations

import abc
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, Unpack

import attrs
import numpy as np

from bosaris_py._arrays import (
    BoolArray,
    Float64Array,
    FloatArray,
    IndexArray,
    IntArray,
    Readable,
    Weights,
    mark_read_only,
)
from bosaris_py._tables import Table, WithInterval, joined_notes, words_of_eer
from bosaris_py._validation import as_seed, check_choice, check_fraction, describe, invalid
from bosaris_py.evaluation.plans.evaluation_plan import EvaluationPlan
from bosaris_py.evaluation.tandem import (
    Count,
    Form,
    Lists,
    TandemPrices,
    TandemRates,
    act_t_dcf,
    equal_point,
    t_dcf,
    t_eer,
    tandem_counts,
)
from bosaris_py.numerics.metrics import eer
from bosaris_py.numerics.priors import SPOOF_COSTS, SpoofCosts, SpoofCostsLike
from bosaris_py.numerics.roc import EERDefinition
from bosaris_py.trials.inputs import KeyLike, split_key
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores, refuse_utterances
from bosaris_py.uncertainty import resampling
from bosaris_py.uncertainty.bootstrap_result import BootstrapResult, IntervalKind, normal_p_value
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


class TandemStatistic(metaclass=Readable):
    """Base of the statistics of a verifier and a countermeasure."""

    __slots__ = ()

    # What thresholds chosen on few spoofs are too optimistic by is a factor rather than a distance:
    # benchmarks/third_class_study.py counts what the intervals cover.
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
    count : {"independent", "pairs"}, default: "independent"
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
    count: Count = attrs.field(default="independent", kw_only=True)
    actual: bool = attrs.field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        """Check the choices."""
        check_choice(self.form, Form, "form")
        check_choice(self.count, Count, "count")

    @property
    def default_interval(self) -> IntervalKind:  # type: ignore[override]
        """The kind of interval by default: ``"ratio"``, that of an actual cost ``"basic"``."""
        return "basic" if self.actual else "ratio"

    @property
    def bounds(self) -> tuple[float, float]:  # type: ignore[override]
        """What the cost can be: a minimum is at most that of the better decision without scores."""
        return 0.0, math.inf if self.actual or self.count == "pairs" else 1.0

    def __call__(self, *, asv: Lists, cm: Lists) -> float:
        """Compute the cost of the scores of three classes of both detectors."""
        function = act_t_dcf if self.actual else t_dcf
        return function(
            asv=asv,
            cm=cm,
            costs=self.costs,
            asv_threshold=self.asv_threshold,
            form=self.form,
            count=self.count,
        )

    def _prepared(self, asv: Three, cm: Three) -> OfThree:
        if isinstance(self.asv_threshold, str):
            limits = _distinct(asv[0])
        else:
            limits = np.array([self.asv_threshold], dtype=np.float64)
        edges = _Edges.of_each(asv, limits), _Edges.of_each(cm, _distinct(*cm[:2]))
        return functools.partial(self._of_weights, limits, edges, (asv, cm))

    def _of_weights(
        self,
        limits: Float64Array,
        edges: tuple[list[_Edges], list[_Edges]],
        scores: tuple[Three, Three],
        *weights: Weights,
    ) -> float:
        of_asv, of_cm = edges
        asv, cm = scores
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
        priced = (self.costs.miss_price, self.costs.fa_price, self.costs.spoof_price)
        pairs = self.count == "pairs"
        totals = [total for _, total in found]
        if pairs:
            weights = tuple(w * (a >= limits[at]) for w, a in zip(weights, asv, strict=True))
        if self.actual:
            passed = [float(w[c >= bayes].sum()) for w, c in zip(weights, cm, strict=True)]
        else:
            passed = [e.accepted(w)[0] for e, w in zip(of_cm, weights, strict=True)]  # type: ignore[misc]
        if pairs:
            p, q, r = (part / total for part, total in zip(passed, totals, strict=True))
            cost = priced[0] * (1.0 - p) + priced[1] * q + priced[2] * r - prices.fixed
        else:
            kept = (passed[0] + passed[1]) / (totals[0] + totals[1])
            cost = prices.miss * (1.0 - kept) + prices.alarm * (passed[2] / totals[2])
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
    of_asv, of_cm = _Tandem.of((asv, cm), key, "iid", None, {}).lists
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
        method: resampling.ScoresMethod,
        layer: str | None,
        options: resampling.ScoresOptions,
    ) -> "_Tandem":
        plain, metadata = split_key(key)
        refuse_utterances(systems[1], plain, "cm")
        resampling.check_same_trials(systems, plain)
        who, how = resampling.split_options(method, {**options, "rng": as_seed(options.get("rng"))})
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
    **options: Unpack[resampling.ScoresOptions],
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
    speakers, model_speakers, segment_speakers, unknown, strata, weights
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

    See Also
    --------
    tandem_table : All metrics of a tandem, with an example.
    """
    given: object = statistic
    if not isinstance(given, TandemStatistic):
        hint = "Make one first: unc.TDCF(), unc.TEER()."
        raise invalid("statistic", "be TDCF, TEER or CountermeasureEER", describe(given), hint)
    tandem = _Tandem.of((asv, cm), key, method, layer, options)
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


@attrs.frozen(eq=False)
class TandemDependence(metaclass=Readable):
    """How far the errors of two detectors are from independent, for each class of trials.

    Parameters
    ----------
    counted, product : (3,) ndarray of float64
        Share of targets, zero-effort impostors and spoofs that both accept: counted on each trial,
        and the product of the shares that each accepts.
    difference, standard_error : (3,) ndarray of float64
        Counted minus product, and its standard error.
    p_value : (3,) ndarray of float64
        Two-sided; NaN where nothing varies.
    """

    counted: Float64Array
    product: Float64Array
    difference: Float64Array
    standard_error: Float64Array
    p_value: Float64Array


def tandem_dependence(
    key: KeyLike,
    *,
    asv: AnyScores,
    cm: AnyScores,
    thresholds: tuple[float, float],
    method: resampling.ScoresMethod = "speaker",
    layer: str | None = None,
    **options: Unpack[resampling.ScoresOptions],
) -> TandemDependence:
    r"""Test whether two detectors err independently on the trials of each class.

    Parameters
    ----------
    key, asv, cm, method, layer
        As for `bootstrap_tandem`.
    thresholds : pair of float
        Those of the verifier and of the countermeasure, such as those of `bosaris_py.t_eer`.
    speakers, model_speakers, segment_speakers, unknown, strata, weights
        As for `bootstrap_scores`.
    replications, rng, workers, progress
        As for `bootstrap`.

    Returns
    -------
    TandemDependence
        For targets, zero-effort impostors and spoofs.

    Notes
    -----
    The difference :math:`P(both) - P(asv) P(cm)` of shares of accepted trials, over its standard
    error by bootstrap, is compared with Student's t of one degree less than speakers. Tandem
    metrics assume that it is zero.

    Examples
    --------
    >>> import numpy as np
    >>> import bosaris_py as bp
    >>> from bosaris_py import uncertainty as unc
    >>> rng, names = np.random.default_rng(1), np.arange(300).astype(str)
    >>> kinds = np.repeat(["target", "nontarget", "spoof"], 100)
    >>> key = bp.FlatKey.from_trials(names, names, kinds == "target")
    >>> metadata = bp.TrialMetadata.from_trials(names, names, {"kind": kinds}, key)
    >>> same = bp.FlatScores.from_trials(names, names, rng.normal(size=300))
    >>> options = {"method": "iid", "replications": 100, "rng": 1}
    >>> both = {"asv": same, "cm": same, "thresholds": (0.0, 0.0)}
    >>> unc.tandem_dependence((key, metadata), **both, **options).p_value.max() < 1e-3
    np.True_
    """
    tandem = _Tandem.of((asv, cm), key, method, layer, options)
    of_asv, of_cm = tandem.lists
    limits = float(thresholds[0]), float(thresholds[1])
    masks = [
        (one >= limits[0], other >= limits[1]) for one, other in zip(of_asv, of_cm, strict=True)
    ]
    of_three = functools.partial(_dependence, masks)
    evaluate = functools.partial(_divided, of_three, of_asv[1].size)
    counts = tandem_counts(asv=of_asv, cm=of_cm, asv_threshold=limits[0], cm_threshold=limits[1])
    miss, alarm, spoof = counts.pairs
    counted = np.array((1.0 - miss, alarm, spoof))
    product = np.array([float(one.mean() * other.mean()) for one, other in masks])
    replicates, degrees = tandem.draw(evaluate, (3,))
    error = np.nanstd(replicates, axis=0, ddof=1)
    difference = counted - product
    with np.errstate(invalid="ignore", divide="ignore"):
        p_value = normal_p_value(difference / error, "two-sided", degrees)
    return TandemDependence(
        *(mark_read_only(part) for part in (counted, product, difference, error, p_value))
    )


def _dependence(masks: list[tuple[BoolArray, BoolArray]], *classes: Weights) -> Float64Array:
    values = []
    for weights, (one, other) in zip(classes, masks, strict=True):
        total = float(weights.sum())
        both, first, second = (
            float(weights[mask].sum()) / total for mask in (one & other, one, other)
        )
        values.append(both - first * second)
    return np.array(values)


@attrs.frozen
class TandemFigure(metaclass=Readable):
    """A metric of a tandem, with its interval.

    Parameters
    ----------
    figure : str
        ``t_eer``, ``min_t_dcf`` or ``cm_eer``.
    count : {"independent", "pairs"} or None
        Whether the rates of both detectors are multiplied, or errors counted on each trial; None of
        the countermeasure alone.
    value : float
        The metric.
    low, high : float or None
        Its interval, where replicates were drawn.
    """

    figure: str
    count: Count | None
    value: float
    low: float | None = None
    high: float | None = None


@attrs.frozen(eq=False, repr=False)
class TandemTable(Table):
    """Metrics of a verifier and a countermeasure; made by `tandem_table`.

    Parameters
    ----------
    figures : tuple of TandemFigure
        The metrics.
    thresholds : (float, float)
        Those of the t-EER: of the verifier, of the countermeasure.
    dependence : TandemDependence or None
        How far both are from erring independently at these thresholds; without replicates None.
    costs : SpoofCosts
        Priors and costs.
    form : {"revised", "legacy"}
        Of the cost.
    how : str
        What the intervals are.
    """

    figures: tuple[TandemFigure, ...]
    thresholds: tuple[float, float]
    dependence: TandemDependence | None
    costs: SpoofCosts
    form: Form
    how: str = ""

    def records(self) -> list[dict[str, Any]]:
        """Return the figures as dicts.

        Returns
        -------
        list of dict
            ``figure``, ``count``, ``value``, ``low`` and ``high``; rates are fractions, costs
            normalized, as ``normalized`` says. ``metric`` has the costs or the thresholds, and
            ``intervals`` the method.
        """
        of_costs, at, of_cm = self._defined
        told = {"normalized": True, "intervals": self.how or None}
        metrics = {"t_eer": at, "cm_eer": of_cm}
        return [
            attrs.asdict(one) | {"metric": metrics.get(one.figure, of_costs)} | told
            for one in self.figures
        ]

    @property
    def _defined(self) -> tuple[str, str, str]:
        """What the costs are, at which thresholds the t-EER is, and which EER the other is."""
        costs = self.costs
        priors = f"P(target) {costs.p_target:g}, P(spoof) {costs.p_spoof:g}"
        prices = f"costs {costs.c_miss:g}, {costs.c_fa:g}, {costs.c_fa_spoof:g}"
        asv, cm = self.thresholds
        return (
            f"{self.form} t-DCF, normalized, {priors}, {prices}",
            f"t-EER at thresholds {asv:.4g} (asv) and {cm:.4g} (cm)",
            f"CM-EER of bona fide trials and spoofs, {words_of_eer('rocch')}",
        )

    @property
    def _left(self) -> tuple[int, ...]:
        return 0, 1

    @property
    def _note(self) -> str:
        apart = ""
        if self.dependence is not None:
            p_values = ", ".join(f"{p:.2g}" for p in self.dependence.p_value)
            apart = f"p of independence for targets, impostors, spoofs: {p_values}"
        return joined_notes(*self._defined, apart, self.how)

    def _texts(self) -> list[list[str]]:
        rows = [["figure", "count", "value"]]
        for one in self.figures:
            value = f"{one.value:.4f}"
            if one.low is not None and one.high is not None:
                value = WithInterval(value, f"[{one.low:.4f}, {one.high:.4f}]")
            rows.append([one.figure, one.count or "", value])
        return rows


def tandem_table(
    key: KeyLike,
    *,
    asv: AnyScores,
    cm: AnyScores,
    costs: SpoofCostsLike = "ASVspoof5",
    form: Form = "revised",
    method: resampling.ScoresMethod = "speaker",
    **options: Unpack[resampling.ScoresOptions],
) -> TandemTable:
    """Compute the metrics of a verifier and a countermeasure in tandem.

    Parameters
    ----------
    key, asv, cm
        As for `bootstrap_tandem`.
    costs : SpoofCosts or str, default: "ASVspoof5"
        Priors and costs, or their name.
    form : {"revised", "legacy"}, default: "revised"
        As for `bosaris_py.tandem_cost`.
    method : {"speaker", "iid", "one-layer", "two-layer"}, default: "speaker"
        As for `bootstrap_scores`.
    speakers, model_speakers, segment_speakers, unknown, strata, weights, confidence, rng, workers
        As for `bootstrap_scores`.
    replications : int, default: 0
        Replicates; without, there are no intervals and no test of independence.

    Returns
    -------
    TandemTable
        The t-EER; the minimum t-DCF with independent errors, and counted on each trial; the EER of
        the countermeasure. All are of the same draws.

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
    >>> unc.tandem_table((key, metadata), asv=asv, cm=cm)
    figure     count         value
    t_eer      independent  0.0671
    min_t_dcf  independent  0.2724
    min_t_dcf  pairs        0.2788
    cm_eer                  0.0537
    (...)
    >>> options = {"method": "iid", "replications": 50, "rng": 1}
    >>> found = unc.bootstrap_tandem((key, metadata), unc.TEER(), asv=asv, cm=cm, **options)
    >>> bool(found.low < found.estimate < found.high)
    True
    """
    chosen, replications = to_costs(costs), options.get("replications", 0)
    seed = as_seed(options.get("rng"))
    tandem = _Tandem.of((asv, cm), key, "iid", None, {})
    of_asv, of_cm = tandem.lists
    counts: tuple[Count, ...] = ("independent", "pairs")
    statistics: list[tuple[str, Count | None, TandemStatistic]] = [
        ("t_eer", "independent", TEER()),
        *(("min_t_dcf", count, TDCF(chosen, form=form, count=count)) for count in counts),
        ("cm_eer", None, CountermeasureEER()),
    ]
    rate = t_eer(asv=of_asv, cm=of_cm)
    thresholds = float(rate.asv_threshold), float(rate.cm_threshold)
    drawn: Any = {**options, "rng": seed, "method": method}
    numbers = tandem_figures(key, [one for *_, one in statistics], asv=asv, cm=cm, **drawn)
    named = zip(statistics, numbers, strict=True)
    figures = tuple(TandemFigure(figure, count, *found) for (figure, count, _), found in named)
    if not replications:
        return TandemTable(figures, thresholds, None, chosen, form)
    apart = tandem_dependence(key, asv=asv, cm=cm, thresholds=thresholds, **drawn)
    percent = f"{100 * options.get('confidence', 0.95):g} % intervals"
    kind = options.get("interval") or TandemStatistic.default_interval
    how = f"{percent}: {method} bootstrap, {replications} replicates, {kind}"
    return TandemTable(figures, thresholds, apart, chosen, form, how)
