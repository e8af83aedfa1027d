r"""Two detectors in tandem: a speaker verifier (asv) and a countermeasure against spoofs (cm).

A trial is accepted iff both accept it. The error-rates of the two are multiplied, as in the papers:
they are taken to err independently. The tandem detection cost (t-DCF) [1]_ is that of a
countermeasure behind a verifier whose threshold is fixed. The tandem equal error rate (t-EER) [2]_
is where misses and both kinds of false alarms of the tandem are equal.

A trial of a sample has a score of each detector, see `tandem_sample`. So replicates, and what is
left without a speaker, are lists of pairs of scores.

References
----------
.. [1] T. Kinnunen et al., "Tandem assessment of spoofing countermeasures and automatic speaker
   verification: fundamentals", IEEE/ACM TASLP 28, 2020.
.. [2] T. Kinnunen et al., "t-EER: parameter-free tandem evaluation of countermeasures and
   biometric comparators", IEEE TPAMI 46, 2024.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import ClassVar, Literal, NamedTuple, TypeVar

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike, FloatArray, IntArray
from bosaris_py.metrics.metric import AnyMetric, AnySystem, OneRow, Opening, Rows, Scale
from bosaris_py.metrics.ranks import EER, inverted
from bosaris_py.metrics.third_class import to_costs
from bosaris_py.numerics.priors import SPOOF_COSTS, SpoofCosts, SpoofCostsLike
from bosaris_py.numerics.roc import EERDefinition, as_class, count_below
from bosaris_py.trials.conditions import ConditionsLike
from bosaris_py.trials.key import Key, as_key
from bosaris_py.trials.sample import Sample, ScoredClass, Times, check_same_trials
from bosaris_py.trials.scores import Scores, refuse_utterances
from bosaris_py.trials.speakers import TrialSpeakers

# Shares of trials: numbers rounded, or fractions.
Share = TypeVar("Share", FloatArray, Fraction)

# Places of thresholds, or one.
Place = IntArray | int

Triple = tuple[float, float, float]

Form = Literal["revised", "legacy"]

# Scores of targets, zero-effort impostors and spoofs; of a countermeasure also of two classes.
Lists = Sequence[ArrayLike]

# Rates that differ by less than this may be equal; fractions decide.
_ROUNDING = 1e-12


class Detectors(NamedTuple):
    """Scores of a verifier by class, and of a countermeasure of bona fide and spoofed speech."""

    tar: FloatArray
    non: FloatArray
    spoof: FloatArray
    bona_fide: FloatArray
    fake: FloatArray

    @classmethod
    def from_lists(cls, asv: Lists, cm: Lists) -> "Detectors":
        """Check the lists of both; bona fide speech of targets and of others is pooled."""
        tar, non, spoof = _classes(asv, "asv", (3,), "For instance asv=(tar, non, spoof).")
        hint = "Give cm=(bona_fide, spoof) by utterance, or cm=(tar, non, spoof) by trial."
        *bona_fide, fake = _classes(cm, "cm", (2, 3), hint)
        return cls(tar, non, spoof, np.concatenate(bona_fide), fake)

    @classmethod
    def from_pairs(cls, tar: FloatArray, non: FloatArray, spoof: FloatArray) -> "Detectors":
        """Take the two scores of each trial: (n, 2) arrays."""
        bona_fide = np.concatenate((tar[:, 1], non[:, 1]))
        return cls(tar[:, 0], non[:, 0], spoof[:, 0], bona_fide, spoof[:, 1])

    @property
    def verifier(self) -> Sample:
        """The verifier without spoofs."""
        return Sample(ScoredClass(self.tar), ScoredClass(self.non))

    @property
    def countermeasure(self) -> Sample:
        """The countermeasure."""
        return Sample(ScoredClass(self.bona_fide), ScoredClass(self.fake))

    def doubts(self) -> list[errors.Note]:
        """Tell of inverted scores of either detector."""
        both = {"asv": self.verifier, "cm": self.countermeasure}
        found = ((name, note) for name, one in both.items() for note in inverted(one))
        return [attrs.evolve(note, text=f"{name}: {note.text}") for name, note in found]


def _classes(lists: Lists, name: str, sizes: tuple[int, ...], hint: str) -> list[FloatArray]:
    if not hasattr(lists, "__len__") or len(lists) not in sizes:
        raise check.invalid(name, "be a list of scores of each class", check.describe(lists), hint)
    return [as_class(one, None, f"{name}[{place}]")[0] for place, one in enumerate(lists)]


class TandemMetric(AnyMetric):
    """Base of the metrics of a verifier and a countermeasure."""

    __slots__ = ()

    @abc.abstractmethod
    def number(self, both: Detectors) -> float:
        """Compute the metric of the scores of both detectors; NaN where it is not defined."""

    def detectors(self, system: AnySystem, name: str = "scores") -> dict[str, Scores]:
        """Return the scores of both detectors, by what messages call them."""
        if not isinstance(system, Mapping) or set(system) != {"asv", "cm"}:
            raise self._wrong_number()
        return {f"{name}[{detector!r}]": scores for detector, scores in system.items()}

    def joined(
        self, system: AnySystem, key: Key, conditions: ConditionsLike, who: TrialSpeakers | None
    ) -> Sample:
        """Join the scores of both detectors with a key: the scores of a trial are a pair."""
        asv, cm = sorted(self.detectors(system).items())
        if conditions is not None:
            raise check.invalid(
                "conditions", "be left out for two detectors", check.describe(conditions)
            )
        return tandem_sample(asv[1], cm[1], key, who)

    def view(self, sample: Sample) -> Sample:
        """Return the sample, which has all three classes and the scores of both detectors."""
        if sample.tar.listed.ndim == 1:
            hint = 'Give {"asv": verifier, "cm": countermeasure}.'
            raise check.invalid("scores", "be those of two detectors", "one", hint)
        sizes = {"targets": sample.n_tar, "non-targets": sample.n_non, "spoofs": sample.n_spoof}
        for noun, size in sizes.items():
            if not size:
                raise check.invalid("key", f"have {noun} with scores", "none")
        return sample

    def values(self, rows: Rows) -> FloatArray:
        """Compute the metric of each row."""
        whole = ((x, all(map(len, x))) for x in rows.lists())
        return np.array(
            [self.number(Detectors.from_pairs(*x)) if ok else np.nan for x, ok in whole]
        )

    def computed(self, view: Sample, times: Times = None) -> float:
        """Compute the metric of what `view` returned."""
        value = super().computed(view, times)
        return _defined(value) if times is None else value

    def doubts(self, sample: Sample) -> list[errors.Note]:
        """Tell of inverted scores of either detector."""
        return _detectors(sample).doubts()

    def __call__(self, *, asv: Lists, cm: Lists) -> float:  # type: ignore[override]
        """Compute the metric of lists of scores.

        Parameters
        ----------
        asv : (tar, non, spoof), each an array_like of float
            Scores of the verifier.
        cm : (bona_fide, spoof) or (tar, non, spoof), each an array_like of float
            Scores of the countermeasure.

        Returns
        -------
        float
        """
        both = Detectors.from_lists(asv, cm)
        errors.warn(both.doubts())
        return _defined(self.number(both))


def _defined(value: float) -> float:
    """Return a value; raise if the cost of a tandem cannot be divided by that of its verifier."""
    if math.isnan(value):
        expected = "be better than to reject every trial, and accept some spoof"
        hint = "Its threshold, or the order of its classes, is wrong; or it tells nothing."
        raise check.invalid("asv", expected, "a cost C1 <= 0, or C2 = 0", hint)
    return value


def _detectors(sample: Sample) -> Detectors:
    return Detectors.from_pairs(*next(OneRow(sample).lists()))


# ---- The tandem detection cost


@attrs.frozen
class TDCF(TandemMetric):
    """Tandem detection cost of a countermeasure behind a verifier.

    Parameters
    ----------
    costs : SpoofCosts or str, default: "ASVspoof5"
        Priors and costs of the three classes, or the name of some.
    asv_threshold : float or "eer", default: "eer"
        The verifier accepts scores from here; ``"eer"``: where the larger of its miss and
        false-alarm rates, without spoofs, is smallest, anew in each replicate.
    form : {"revised", "legacy"}, default: "revised"
        ``"legacy"`` is the cost of ASVspoof 2019, which leaves C0 out.
    threshold : float or "bayes", optional
        The countermeasure accepts scores from here; ``"bayes"``: from log(C2 / C1), for
        log-likelihood-ratios. By default the one of the least cost.

    See Also
    --------
    bosaris_py.t_dcf : The same number as a function.

    Examples
    --------
    >>> asv = [2.0, 3.0, 4.0, 5.0], [0.0, 0.5, 1.0, 1.5], [0.0, 3.0, 4.0, 5.0]
    >>> round(TDCF()(asv=asv, cm=([1.0, 2.0], [0.0, 1.5])), 12)
    0.5
    """

    costs: SpoofCosts = attrs.field(default=SPOOF_COSTS["ASVspoof5"], converter=to_costs)
    asv_threshold: float | str = attrs.field(default="eer", kw_only=True)
    form: Form = attrs.field(default="revised", kw_only=True, validator=check.one_of(Form))
    threshold: float | str | None = attrs.field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        """Raise unless thresholds are numbers, or words that stand for some."""
        words: dict[str, tuple[object, ...]] = {"asv_threshold": ("eer",)}
        for name, allowed in (words | {"threshold": ("bayes", None)}).items():
            if (value := getattr(self, name)) not in allowed:
                check.as_number(value, name, "be a number", lambda x: not math.isnan(x))

    @property
    def label(self) -> str:
        """Its name, with the threshold."""
        if self.threshold is None:
            return "min t-DCF"
        return "act t-DCF" if self.threshold == "bayes" else f"t-DCF at {self.threshold:g}"

    @property
    def scale(self) -> Scale:  # type: ignore[override]
        """The least cost is at most 1."""
        return "logit" if self.threshold is None else "log"

    @property
    def bounds(self) -> tuple[float, float]:
        """From no errors to those of the better countermeasure that does not listen."""
        return 0.0, 1.0 if self.threshold is None else math.inf

    def _verifier(self, both: Detectors) -> tuple[Triple, Triple]:
        """Return miss rate, false-alarm rate and share of accepted spoofs; C0, C1 and C2."""
        verifier, limit = both.verifier, self.asv_threshold
        if limit == "eer":
            limit = verifier.roc().eer_threshold
        pmiss, pfa = map(float, verifier.rates(limit))
        pfa_spoof = float(np.mean(both.spoof >= np.float64(limit)))
        # Kinnunen et al. 2020, equations (9) to (11).
        c0 = self.costs.miss_price * pmiss + self.costs.fa_price * pfa
        c1, c2 = self.costs.miss_price - c0, self.costs.spoof_price * pfa_spoof
        return (pmiss, pfa, pfa_spoof), (c0 if self.form == "revised" else 0.0, c1, c2)

    def _cm_rates(self, cm: Sample, c1: float, c2: float) -> tuple[float, float]:
        """Return miss rate and false-alarm rate of the countermeasure."""
        limit = self.threshold
        if limit is None:
            pmiss, pfa = (rates[0] for rates in cm.rates_at_all())
            best = np.argmin(c1 * pmiss + c2 * pfa)
            return float(pmiss[best]), float(pfa[best])
        if limit == "bayes":
            limit = math.log(c2) - math.log(c1) if c2 > 0 else -math.inf
        pmiss, pfa = cm.rates(limit)
        return float(pmiss), float(pfa)

    def number(self, both: Detectors) -> float:
        """Compute the cost; NaN if the verifier costs more than it can save."""
        _, (c0, c1, c2) = self._verifier(both)
        if not (c1 > 0 and c0 + c2 > 0):
            return math.nan
        pmiss, pfa = self._cm_rates(both.countermeasure, c1, c2)
        return (c0 + (c1 * pmiss + c2 * pfa)) / (c0 + min(c1, c2))

    def openings(self, sample: Sample) -> list[Opening]:
        """Tell what errors of the tandem cost, and how many there are, at its thresholds."""
        both = _detectors(sample)
        (pmiss, pfa, pfa_spoof), (c0, c1, c2) = self._verifier(both)
        missed, accepted = self._cm_rates(both.countermeasure, c1, c2)
        prices = self.costs.miss_price, *self.costs.kind_prices
        rates = missed + (1.0 - missed) * pmiss, (1.0 - missed) * pfa, accepted * pfa_spoof
        listed = zip(prices, rates, range(3), strict=True)
        return [Opening(price / (c0 + min(c1, c2)), rate, i) for price, rate, i in listed]


# ---- The tandem equal error rate


def _accepted(*lists: FloatArray) -> list[IntArray]:
    """Return the number of scores of each list at or above each threshold, ascending."""
    thresholds = np.unique(np.concatenate(lists)).astype(np.float64, copy=False)
    # At -inf everything is accepted, as at the least score; all is rejected above all.
    if thresholds[-1] < np.inf:
        thresholds = np.append(thresholds, np.inf)
    return [one.size - count_below(np.sort(one), thresholds) for one in lists]


class TandemCounts(NamedTuple):
    """Number of trials that are accepted at each threshold, ascending, the first of which is all.

    Of the verifier `tar`, `non` and `spoof`, of the countermeasure `bona_fide` and `fake`.
    """

    tar: IntArray
    non: IntArray
    spoof: IntArray
    bona_fide: IntArray
    fake: IntArray

    def rates(self, i: Place, j: Place, share: Callable[..., Share]) -> list[Share]:
        """Return the three rates of the tandem at pairs of thresholds, of shares of trials."""
        counts = zip(self, (i, i, i, j, j), strict=True)
        tar, non, spoof, bona_fide, fake = (share(one[k], one[0]) for one, k in counts)
        # Misses of either detector, and what both accept.
        return [1 - bona_fide * tar, bona_fide * non, fake * spoof]

    def differences(self, i: Place, j: Place) -> FloatArray:
        """Return how much the three rates differ at pairs of thresholds."""
        return np.asarray(np.ptp(self.rates(i, j, np.divide), axis=0))

    def nearest(self) -> IntArray:
        """Return pairs of thresholds, among them all whose three rates differ least: (2, k)."""
        # All rates are monotone in both thresholds. So the corners of a rectangle of pairs bound
        # them, and with them the difference inside it. What cannot hold the least is left out, the
        # rest cut into four.
        low = np.zeros((2, 1), np.int64)
        high = np.array([[self.tar.size - 1], [self.fake.size - 1]])
        best = math.inf
        while True:
            middle = (low + high) // 2
            at_low, at_high = (np.array(self.rates(x[0], x[1], np.divide)) for x in (low, high))
            for pairs in (middle, (low[0], high[1]), (high[0], low[1])):
                best = min(best, float(self.differences(*pairs).min()))
            # Misses rise with both thresholds, false alarms fall.
            least = np.maximum(at_low[0], at_high[1:].max(axis=0))
            most = np.minimum(at_high[0], at_low[1:].min(axis=0))
            kept = least - most <= best + _ROUNDING
            low, middle, high = low[:, kept], middle[:, kept], high[:, kept]
            if (low == high).all():
                break
            parts = np.array((low, middle)), np.array((middle + 1, high))
            # Low and high ends of one threshold, then those of the other: (2, 2, k).
            cut = np.concatenate([np.stack((a[:, 0], b[:, 1]), 1) for a in parts for b in parts], 2)
            low, high = cut[:, :, (cut[0] <= cut[1]).all(axis=0)]
        return low[:, self.differences(*low) <= best + _ROUNDING]


@attrs.frozen
class TEER(TandemMetric):
    """Concurrent tandem equal error rate.

    See Also
    --------
    bosaris_py.t_eer : The same number as a function.

    Examples
    --------
    >>> asv = [2.0, 3.0, 4.0, 5.0], [0.0, 1.0, 1.0, 2.0], [0.0, 3.0, 4.0, 5.0]
    >>> round(TEER()(asv=asv, cm=([1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.5, 1.5])), 12)
    0.208333333333
    """

    label: ClassVar[str] = "t-EER"
    unit: ClassVar[str] = "%"

    def number(self, both: Detectors) -> float:
        """Compute the rate."""
        counts = TandemCounts(*_accepted(*both[:3]), *_accepted(*both[3:]))
        # Equal rates need not be equal when rounded.
        pairs = zip(*counts.nearest().tolist(), strict=True)
        exact = [counts.rates(i, j, lambda x, n: Fraction(int(x), int(n))) for i, j in pairs]
        return float(sum(min(exact, key=lambda x: (max(x) - min(x), max(x), sum(x)))) / 3)

    def openings(self, sample: Sample) -> list[Opening]:
        """Tell what errors of each class cost, and how many there are: a third of each."""
        return [Opening(1.0 / 3.0, self.computed(sample), place) for place in range(3)]


@attrs.frozen
class CountermeasureEER(TandemMetric):
    """Equal error rate of the countermeasure: bona fide speech of both kinds against spoofs.

    Parameters
    ----------
    definition : {"rocch", "interpolated", "step"}, default: "rocch"
        As for `EER`.

    Examples
    --------
    >>> asv = [2.0, 3.0, 4.0, 5.0], [0.0, 0.5, 1.0, 1.5], [0.0, 3.0, 4.0, 5.0]
    >>> CountermeasureEER("step")(asv=asv, cm=([1.0, 1.0, 2.0, 2.5], [0.0, 0.0, 1.2, 1.5]))
    0.5
    """

    definition: EERDefinition = attrs.field(default="rocch", validator=check.one_of(EERDefinition))
    label: ClassVar[str] = "CM-EER"
    unit: ClassVar[str] = "%"

    def number(self, both: Detectors) -> float:
        """Compute the rate."""
        return EER(self.definition).computed(both.countermeasure)

    def openings(self, sample: Sample) -> list[Opening]:
        """Tell what errors cost, and how many there are: half of misses, and of false alarms."""
        value, targets = self.computed(sample), sample.n_tar / (sample.n_tar + sample.n_non)
        halves = 0.5 * targets, 0.5 * (1.0 - targets), 0.5
        return [Opening(price, value, place) for place, price in enumerate(halves)]


# ---- The same as functions of lists of scores


def t_dcf(
    *,
    asv: Lists,
    cm: Lists,
    costs: SpoofCostsLike = "ASVspoof5",
    asv_threshold: float | Literal["eer"] = "eer",
    form: Form = "revised",
    threshold: float | Literal["bayes"] | None = None,
) -> float:
    r"""Compute the tandem detection cost of a countermeasure behind a speaker verifier.

    Parameters
    ----------
    asv : (tar, non, spoof), each an array_like of float
        Scores of the verifier, of targets, zero-effort impostors and spoofs.
    cm : (bona_fide, spoof) or (tar, non, spoof), each an array_like of float
        Scores of the countermeasure, high for bona fide speech: of utterances, or of the trials of
        `asv`. Misses count on bona fide speech of both kinds, pooled.
    costs : SpoofCosts or str, default: "ASVspoof5"
        Priors and costs, or their name, see `SpoofCosts`.
    asv_threshold : float or "eer", default: "eer"
        The verifier accepts scores from here; ``"eer"``: where the larger of its miss and
        false-alarm rates, without spoofs, is smallest.
    form : {"revised", "legacy"}, default: "revised"
        ``"legacy"`` is the cost of ASVspoof 2019, which leaves C0 out.
    threshold : float or "bayes", optional
        The countermeasure accepts scores from here; ``"bayes"``: from log(C2 / C1), where its
        scores are natural-log likelihood-ratios. By default the minimum over all thresholds.

    Returns
    -------
    float
        0 for perfect scores; the minimum is at most 1.

    Raises
    ------
    InvalidInputError
        If the verifier costs more than it can save, C1 <= 0; or if it accepts no spoof, and the
        cost cannot be normalized.

    See Also
    --------
    t_eer : A rate without costs.

    Notes
    -----
    [2]_, equations (9) to (11), with the verifier's rates :math:`P_m, P_f, P_s`:

    .. math::

        \frac{C_0 + C_1 P_{miss}^{cm}(t) + C_2 P_{fa}^{cm}(t)}{C_0 + \min(C_1, C_2)}, \quad
        C_0 = \pi_t C_{miss} P_m + \pi_n C_{fa} P_f, \quad
        C_1 = \pi_t C_{miss} - C_0, \quad C_2 = \pi_s C_{fa,s} P_s.

    The legacy cost [1]_ has the same :math:`C_1` and :math:`C_2` if both detectors' misses cost
    the same, and no :math:`C_0`. The share of accepted spoofs is :math:`P_s`, not the rate
    :math:`1 - P_s` of rejected ones.

    References
    ----------
    .. [1] T. Kinnunen et al., "t-DCF: a detection cost function for the tandem assessment of
       spoofing countermeasures and automatic speaker verification", Odyssey 2018.
    .. [2] T. Kinnunen et al., "Tandem assessment of spoofing countermeasures and automatic speaker
       verification: fundamentals", IEEE/ACM TASLP 28, 2020.

    Examples
    --------
    >>> asv = [2.0, 3.0, 4.0, 5.0], [0.0, 0.5, 1.0, 1.5], [0.0, 3.0, 4.0, 5.0]
    >>> round(t_dcf(asv=asv, cm=([1.0, 2.0], [0.0, 1.5])), 12)
    0.5
    >>> round(t_dcf(asv=asv, cm=([1.0, 2.0], [0.0, 1.5]), threshold="bayes"), 12)
    1.0
    """
    metric = TDCF(costs, asv_threshold=asv_threshold, form=form, threshold=threshold)
    return metric(asv=asv, cm=cm)


def t_eer(*, asv: Lists, cm: Lists) -> float:
    r"""Compute the tandem equal error rate of a speaker verifier and a countermeasure.

    Parameters
    ----------
    asv : (tar, non, spoof), each an array_like of float
        Scores of the verifier.
    cm : (bona_fide, spoof) or (tar, non, spoof), each an array_like of float
        Scores of the countermeasure, as for `t_dcf`.

    Returns
    -------
    float
        A fraction.

    See Also
    --------
    t_dcf : The cost at given priors.

    Notes
    -----
    The concurrent t-EER of [1]_: where the three rates

    .. math::

        P_{miss} &= P_{miss}^{cm} + (1 - P_{miss}^{cm}) P_{miss}^{asv} \\
        P_{fa} &= (1 - P_{miss}^{cm}) P_{fa}^{asv}, \qquad
        P_{fa,s} = P_{fa}^{cm} P_{fa,s}^{asv}

    are equal. Rates of finite data are step functions, so they are nearly equal at best. Of all
    pairs of thresholds this is the one whose three rates differ least, the greatest from the
    least. Of several such pairs, it is that of the smaller maximum. The value is the mean of the
    three. Scores and +inf are thresholds. Misses of the countermeasure count on all bona fide
    speech, of targets and of zero-effort impostors.

    No grid is used. Rectangles of pairs of thresholds are cut into four until what is left can be
    compared in whole numbers.

    References
    ----------
    .. [1] T. Kinnunen et al., "t-EER: parameter-free tandem evaluation of countermeasures and
       biometric comparators", IEEE TPAMI 46, 2024.

    Examples
    --------
    >>> asv = [2.0, 3.0, 4.0, 5.0], [0.0, 1.0, 1.0, 2.0], [0.0, 3.0, 4.0, 5.0]
    >>> round(t_eer(asv=asv, cm=([1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.5, 1.5])), 12)
    0.208333333333
    """
    return TEER()(asv=asv, cm=cm)


# ---- Samples of two detectors


def tandem_sample(
    asv: Scores, cm: Scores, key: Key, speakers: TrialSpeakers | None = None
) -> Sample:
    """Join the scores of two detectors with a key: the scores of a trial are a pair.

    Parameters
    ----------
    asv, cm : Scores
        Scores of the verifier and of the countermeasure on the same trials.
    key : Key
        Trials of three classes.
    speakers : TrialSpeakers, optional
        The speakers of models and segments; a spoof has one, who is claimed.

    Returns
    -------
    Sample

    Raises
    ------
    TrialMismatchError
        If a trial has a score of one detector only.
    """
    refuse_utterances(cm, as_key(key), "cm")
    check_same_trials({"asv": asv, "cm": cm}, key)
    one, other = (Sample.from_trials(scores, key, None, speakers) for scores in (asv, cm))
    if one.kinds is None:
        raise check.invalid("key", "have spoofs with scores", "none")
    tar, non = (
        ScoredClass(np.stack((x.listed, y.listed), axis=1), speakers=x.speakers)
        for x, y in ((one.tar, other.tar), (one.non, other.non))
    )
    return Sample(tar, non, one.kinds, one.speaker_ids, notes=one.notes + other.notes)
