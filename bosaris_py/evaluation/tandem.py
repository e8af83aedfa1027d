r"""Two detectors in tandem: a speaker verifier (asv) and a countermeasure against spoofs (cm).

A trial is accepted iff both accept it. The error-rates of the two are multiplied, as in the papers:
they are taken to err independently.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import (
    AnyArray,
    Float64Array,
    FloatArray,
    IndexArray,
    IntArray,
    mark_read_only,
)
from bosaris_py._validation import as_flag, as_number, check_choice, describe, invalid
from bosaris_py.numerics.counts import SortedScores, as_trials
from bosaris_py.numerics.priors import SpoofCosts, SpoofCostsLike
from bosaris_py.numerics.roc import ROC

Form = Literal["revised", "legacy"]

# Scores of targets, zero-effort impostors and spoofs; of a countermeasure also of two classes.
Lists: TypeAlias = Sequence[npt.ArrayLike]

# Rates that differ by less than this may be equal; fractions decide.
_ROUNDING = 1e-12


@attrs.frozen(eq=False)
class TandemScores:
    """The scores of two detectors, checked: by class, and for the countermeasure bona fide pooled.

    `bona` and `spoof` are of the countermeasure.
    """

    asv: tuple[FloatArray, FloatArray, FloatArray]
    bona: FloatArray
    spoof: FloatArray

    @classmethod
    def of(cls, asv: Lists, cm: Lists) -> "TandemScores":
        """Check the lists of both detectors."""
        names = ("target", "non-target", "spoof")
        given: tuple[Any, Any] = asv, cm
        if not isinstance(given[0], (list, tuple)) or len(asv) != len(names):
            hint = "For instance asv=(tar, non, spoof)."
            raise invalid("asv", "be lists of scores of three classes", describe(asv), hint)
        tar, non, spoof = (
            as_trials(scores, None, f"asv ({name})")[0]
            for scores, name in zip(asv, names, strict=True)
        )
        if not isinstance(given[1], (list, tuple)) or len(cm) not in (2, 3):
            hint = "Give cm=(bonafide, spoof) by utterance, or cm=(tar, non, spoof) by trial."
            raise invalid("cm", "be lists of scores of two or three classes", describe(cm), hint)
        labels = names if len(cm) == len(names) else ("bona fide", "spoof")
        lists = [
            as_trials(scores, None, f"cm ({name})")[0]
            for scores, name in zip(cm, labels, strict=True)
        ]
        return cls((tar, non, spoof), np.concatenate(lists[:-1]), lists[-1])

    @functools.cached_property
    def asv_roc(self) -> ROC:
        """The verifier's ROC, without spoofs."""
        return ROC.from_scores(*self.asv[:2])

    def asv_rates(self, threshold: float) -> tuple[float, float, float]:
        """Return miss rate, false-alarm rate and share of accepted spoofs of the verifier."""
        tar, non, spoof = self.asv
        limit = np.float64(threshold)
        return (
            int(np.count_nonzero(tar < limit)) / tar.size,
            int(np.count_nonzero(non >= limit)) / non.size,
            int(np.count_nonzero(spoof >= limit)) / spoof.size,
        )


class TandemPrices(NamedTuple):
    """The cost of a tandem as a function of the countermeasure's rates: C0 + C1 miss + C2 fa."""

    fixed: float
    miss: float
    alarm: float

    @classmethod
    def of(cls, costs: SpoofCosts, pmiss: float, pfa: float, pfa_spoof: float) -> "TandemPrices":
        """Take the rates of the verifier."""
        # Kinnunen et al. 2020, equations (9) to (11).
        fixed = costs.miss_price * pmiss + costs.fa_price * pfa
        return cls(fixed, costs.miss_price - fixed, costs.spoof_price * pfa_spoof)

    def checked(self, threshold: float) -> "TandemPrices":
        """Raise if the verifier costs more than it can save."""
        if not self.miss > 0:
            hint = "Its threshold, or the order of its classes, is wrong; or it tells nothing."
            expected = "be better than to reject every trial, so that C1 is above 0"
            raise invalid("asv", expected, f"C1 = {self.miss:.4g} at threshold {threshold:g}", hint)
        return self

    def default(self, form: Form) -> float:
        """Return the cost of the better countermeasure that does not listen."""
        return (self.fixed if form == "revised" else 0.0) + min(self.miss, self.alarm)


@attrs.frozen(kw_only=True)
class TandemCost:
    """The tandem detection cost of a countermeasure, with a verifier at a fixed threshold.

    Parameters
    ----------
    minimum : float
        Least cost of all thresholds of the countermeasure.
    actual : float
        Cost at its Bayes threshold, if its scores are log-likelihood-ratios.
    asv_threshold : float
        The verifier accepts scores from here.
    asv_pmiss, asv_pfa, asv_pfa_spoof : float
        Its miss rate, its false-alarm rate, and the share of spoofs that it accepts.
    cm_threshold : float
        Threshold of the least cost.
    bayes_threshold : float
        That of `actual`, log(C2 / C1).
    c0, c1, c2 : float
        The cost is C0 + C1 Pmiss + C2 Pfa, given the error-rates of the countermeasure.
    """

    minimum: float
    actual: float
    asv_threshold: float
    asv_pmiss: float
    asv_pfa: float
    asv_pfa_spoof: float
    cm_threshold: float
    bayes_threshold: float
    c0: float
    c1: float
    c2: float


def tandem_cost(
    *,
    asv: Lists,
    cm: Lists,
    costs: SpoofCostsLike = "ASVspoof5",
    asv_threshold: float | Literal["eer"] = "eer",
    form: Form = "revised",
    normalize: bool = True,
) -> TandemCost:
    r"""Compute the tandem detection cost of a countermeasure behind a speaker verifier.

    Parameters
    ----------
    asv : (tar, non, spoof), each an array_like of float
        Scores of the verifier, of targets, zero-effort impostors and spoofs.
    cm : (bonafide, spoof) or (tar, non, spoof), each an array_like of float
        Scores of the countermeasure, high for bona fide speech: of utterances, or of the trials of
        `asv` in the same order. Misses count on bona fide speech of both kinds, pooled.
    costs : SpoofCosts or str, default: "ASVspoof5"
        Priors and costs, or their name, see `SpoofCosts`.
    asv_threshold : float or "eer", default: "eer"
        The verifier accepts scores from here; ``"eer"``: where the larger of its miss and
        false-alarm rates, without spoofs, is smallest.
    form : {"revised", "legacy"}, default: "revised"
        ``"legacy"`` is the cost of ASVspoof 2019, which leaves C0 out.
    normalize : bool, default: True
        Divide by the cost of the better countermeasure that accepts, or rejects, everything.

    Returns
    -------
    TandemCost
        Minimum and actual cost, with thresholds and rates.

    Raises
    ------
    InvalidInputError
        If the verifier costs more than it can save, C1 <= 0; or if a cost cannot be normalized.

    See Also
    --------
    t_dcf, act_t_dcf : Only the minimum, or the actual cost.

    Notes
    -----
    [2]_, with the verifier's rates :math:`P_m, P_f, P_s`:

    .. math::

        C_0 &= \pi_t C_{miss} P_m + \pi_n C_{fa} P_f \\
        C_1 &= \pi_t C_{miss} - C_0, \qquad C_2 = \pi_s C_{fa,s} P_s \\
        C(t) &= C_0 + C_1 P_{miss}^{cm}(t) + C_2 P_{fa}^{cm}(t),

    over :math:`C_0 + \min(C_1, C_2)` if normalized. The legacy cost [1]_ has the same :math:`C_1`
    and :math:`C_2` if both detectors' misses cost the same, and no :math:`C_0`. The share of
    accepted spoofs is :math:`P_s`, not the rate :math:`1 - P_s` of rejected ones.

    Bayes decisions accept a log-likelihood-ratio of bona fide speech against spoofs from
    :math:`\log C_2 - \log C_1`.

    References
    ----------
    .. [1] T. Kinnunen et al., "t-DCF: a detection cost function for the tandem assessment of
       spoofing countermeasures and automatic speaker verification", Odyssey 2018.
    .. [2] T. Kinnunen et al., "Tandem assessment of spoofing countermeasures and automatic speaker
       verification: fundamentals", IEEE/ACM TASLP 28, 2020.

    Examples
    --------
    >>> asv = [2.0, 3.0, 4.0, 5.0], [0.0, 0.5, 1.0, 1.5], [0.0, 3.0, 4.0, 5.0]
    >>> found = tandem_cost(asv=asv, cm=([1.0, 2.0], [0.0, 1.5]))
    >>> round(found.c1, 4), round(found.c2, 4), round(found.minimum, 12)
    (2.508, 1.0, 0.5)
    """
    check_choice(form, Form, "form")
    prices_of_all = SpoofCosts.named(costs)
    given = TandemScores.of(asv, cm)
    if isinstance(asv_threshold, str):
        check_choice(asv_threshold, ("eer",), "asv_threshold")
        threshold = float(given.asv_roc.eer_threshold)
    else:
        threshold = as_number(asv_threshold, "asv_threshold", "be a number", _is_threshold)
    rates = given.asv_rates(threshold)
    prices = TandemPrices.of(prices_of_all, *rates).checked(threshold)
    scale = prices.default(form) if as_flag(normalize) else 1.0
    if not scale > 0:
        hint = "No spoof is accepted by the verifier; normalize=False gives the cost."
        raise invalid("asv", "leave a cost that can be normalized by", f"{scale:g}", hint)
    bayes = math.log(prices.alarm) - math.log(prices.miss) if prices.alarm > 0 else -math.inf
    hull = ROC.from_scores(given.bona, given.spoof).convex_hull()
    listed = prices.miss * hull.pmiss + prices.alarm * hull.pfa
    best = int(np.argmin(listed))
    pmiss = int(np.count_nonzero(given.bona < bayes)) / given.bona.size
    pfa = int(np.count_nonzero(given.spoof >= bayes)) / given.spoof.size
    actual = prices.miss * pmiss + prices.alarm * pfa
    fixed = prices.fixed if form == "revised" else 0.0
    return TandemCost(
        minimum=(fixed + float(listed[best])) / scale,
        actual=(fixed + actual) / scale,
        asv_threshold=threshold,
        asv_pmiss=rates[0],
        asv_pfa=rates[1],
        asv_pfa_spoof=rates[2],
        cm_threshold=float(hull.thresholds[best]),
        bayes_threshold=bayes,
        c0=fixed / scale,
        c1=prices.miss / scale,
        c2=prices.alarm / scale,
    )


def _is_threshold(value: float) -> bool:
    return not math.isnan(value)


def t_dcf(
    *,
    asv: Lists,
    cm: Lists,
    costs: SpoofCostsLike = "ASVspoof5",
    asv_threshold: float | Literal["eer"] = "eer",
    form: Form = "revised",
    normalize: bool = True,
) -> float:
    """Compute the minimum tandem detection cost over all thresholds of the countermeasure.

    Parameters
    ----------
    asv, cm, costs, asv_threshold, form, normalize
        As for `tandem_cost`.

    Returns
    -------
    float
        Its ``minimum``.

    Examples
    --------
    >>> asv = [2.0, 3.0, 4.0, 5.0], [0.0, 0.5, 1.0, 1.5], [0.0, 3.0, 4.0, 5.0]
    >>> round(t_dcf(asv=asv, cm=([1.0, 2.0], [0.0, 1.5])), 12)
    0.5
    """
    options: Any = {"asv_threshold": asv_threshold, "form": form, "normalize": normalize}
    return tandem_cost(asv=asv, cm=cm, costs=costs, **options).minimum


def act_t_dcf(
    *,
    asv: Lists,
    cm: Lists,
    costs: SpoofCostsLike = "ASVspoof5",
    asv_threshold: float | Literal["eer"] = "eer",
    form: Form = "revised",
    normalize: bool = True,
) -> float:
    """Compute the tandem detection cost of Bayes decisions of the countermeasure.

    Parameters
    ----------
    asv, cm, costs, asv_threshold, form, normalize
        As for `tandem_cost`; `cm` holds natural-log likelihood-ratios.

    Returns
    -------
    float
        The ``actual`` cost, not below `t_dcf`.

    Examples
    --------
    >>> asv = [2.0, 3.0, 4.0, 5.0], [0.0, 0.5, 1.0, 1.5], [0.0, 3.0, 4.0, 5.0]
    >>> round(act_t_dcf(asv=asv, cm=([1.0, 2.0], [0.0, 1.5])), 12)
    1.0
    """
    options: Any = {"asv_threshold": asv_threshold, "form": form, "normalize": normalize}
    return tandem_cost(asv=asv, cm=cm, costs=costs, **options).actual


# ---- The tandem equal error rate


class TandemRates(NamedTuple):
    """Weight of what is accepted at each threshold, ascending, the last of which is inf.

    Of the verifier `tar`, `non` and `spoofs`, of the countermeasure `bona` and `fakes`; and the
    five totals.
    """

    tar: AnyArray
    non: AnyArray
    spoofs: AnyArray
    bona: AnyArray
    fakes: AnyArray
    totals: tuple[float, float, float, float, float]

    def shares(self) -> list[Float64Array]:
        """Return the rates of acceptance."""
        return [part / total for part, total in zip(self[:5], self.totals, strict=True)]

    def exact(self, i: int, j: int) -> tuple[Fraction, Fraction, Fraction]:
        """Return the three rates of the tandem at a pair of thresholds of whole counts."""
        places = (i, i, i, j, j)
        tar, non, spoofs, bona, fakes = (
            Fraction(part[place].item()) / Fraction(total)
            for part, place, total in zip(self[:5], places, self.totals, strict=True)
        )
        return 1 - bona * tar, bona * non, fakes * spoofs


def equal_point(rates: TandemRates) -> tuple[int, int]:
    """Return the positions of the two thresholds at which the three rates of a tandem differ least.

    The first is the verifier's, the second the countermeasure's.
    """
    # All rates are monotone in both thresholds. So the corners of a rectangle of pairs bound them,
    # and with them the difference inside it. What cannot hold the least is left out, the rest cut
    # into four.
    t, n, s, b, d = rates.shares()
    low_i, low_j = np.zeros(1, np.int64), np.zeros(1, np.int64)
    high_i, high_j = np.array([t.size - 1]), np.array([b.size - 1])
    best = math.inf
    while True:
        middle_i, middle_j = (low_i + high_i) // 2, (low_j + high_j) // 2
        for i, j in ((middle_i, middle_j), (low_i, high_j), (high_i, low_j)):
            best = min(best, float(_spread(t[i], n[i], s[i], b[j], d[j])[0].min()))
        # Misses rise with both thresholds, false alarms fall.
        least = np.maximum.reduce(
            (1.0 - b[low_j] * t[low_i], b[high_j] * n[high_i], d[high_j] * s[high_i])
        )
        most = np.minimum.reduce(
            (1.0 - b[high_j] * t[high_i], b[low_j] * n[low_i], d[low_j] * s[low_i])
        )
        kept = least - most <= best + _ROUNDING
        low_i, high_i, middle_i = low_i[kept], high_i[kept], middle_i[kept]
        low_j, high_j, middle_j = low_j[kept], high_j[kept], middle_j[kept]
        if not (low_i < high_i).any() and not (low_j < high_j).any():
            break
        corners = []
        for i0, i1 in ((low_i, middle_i), (middle_i + 1, high_i)):
            for j0, j1 in ((low_j, middle_j), (middle_j + 1, high_j)):
                real = (i0 <= i1) & (j0 <= j1)
                corners.append((i0[real], i1[real], j0[real], j1[real]))
        low_i, high_i, low_j, high_j = map(np.concatenate, zip(*corners, strict=True))
    spread, worst, total = _spread(t[low_i], n[low_i], s[low_i], b[low_j], d[low_j])
    near = np.flatnonzero(spread <= best + _ROUNDING)
    if rates.tar.dtype.kind != "f":
        # Equal rates need not be equal when rounded.
        listed = [
            (max(found) - min(found), max(found), sum(found), k)
            for k in _distinct(rates, low_i[near], low_j[near]).tolist()
            for found in (rates.exact(int(low_i[near[k]]), int(low_j[near[k]])),)
        ]
        chosen = near[min(listed)[-1]]
    else:
        chosen = near[np.lexsort((total[near], worst[near], spread[near]))[0]]
    return int(low_i[chosen]), int(low_j[chosen])


def _distinct(rates: TandemRates, i: IntArray, j: IntArray) -> IndexArray:
    """Return the first of the pairs of thresholds with the same counts, in order of thresholds."""
    order = np.lexsort((j, i))
    columns = [part[place[order]] for part, place in zip(rates[:5], (i, i, i, j, j), strict=True)]
    products = [columns[3] * columns[0], columns[3] * columns[1], columns[4] * columns[2]]
    _, first = np.unique(np.column_stack(products), axis=0, return_index=True)
    return order[first]


def _spread(
    t: Float64Array, n: Float64Array, s: Float64Array, b: Float64Array, d: Float64Array
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Return the difference of the three rates, their maximum and their sum."""
    three = 1.0 - b * t, b * n, d * s
    most = np.maximum.reduce(three)
    return most - np.minimum.reduce(three), most, three[0] + three[1] + three[2]


class TandemEER(float):
    """A tandem equal error rate: a number, with what holds where it is.

    Parameters
    ----------
    value : float
        Mean of the three rates.
    asv_threshold, cm_threshold : float
        Both detectors accept scores from here.
    pmiss, pfa, pfa_spoof : float
        Rates of the tandem: of missed targets, accepted zero-effort impostors, accepted spoofs.
    """

    _held: dict[str, float]

    def __new__(
        cls,
        value: float,
        *,
        asv_threshold: float,
        cm_threshold: float,
        pmiss: float,
        pfa: float,
        pfa_spoof: float,
    ) -> "TandemEER":
        """Make the number and attach the others."""
        number = super().__new__(cls, value)
        number._held = {
            "asv_threshold": asv_threshold,
            "cm_threshold": cm_threshold,
            "pmiss": pmiss,
            "pfa": pfa,
            "pfa_spoof": pfa_spoof,
        }
        return number

    @property
    def asv_threshold(self) -> float:
        """The verifier accepts scores from here."""
        return self._held["asv_threshold"]

    @property
    def cm_threshold(self) -> float:
        """The countermeasure accepts scores from here."""
        return self._held["cm_threshold"]

    @property
    def pmiss(self) -> float:
        """Rate of missed targets."""
        return self._held["pmiss"]

    @property
    def pfa(self) -> float:
        """Rate of accepted zero-effort impostors."""
        return self._held["pfa"]

    @property
    def pfa_spoof(self) -> float:
        """Rate of accepted spoofs."""
        return self._held["pfa_spoof"]

    def __getnewargs_ex__(self) -> tuple[tuple[float], dict[str, float]]:
        """Keep the others when pickled or copied."""
        return (float(self),), self._held

    def __repr__(self) -> str:
        """Show the number, its thresholds and rates."""
        return (
            f"TandemEER({float(self):.6g}, asv_threshold={self.asv_threshold:.6g}, "
            f"cm_threshold={self.cm_threshold:.6g}, pmiss={self.pmiss:.6g}, "
            f"pfa={self.pfa:.6g}, pfa_spoof={self.pfa_spoof:.6g})"
        )


def _thresholds(*lists: FloatArray) -> Float64Array:
    listed = np.unique(np.concatenate(lists)).astype(np.float64, copy=False)
    # At -inf everything is accepted, as at the least score; all is rejected above all.
    return np.append(listed, np.inf) if not np.isposinf(listed[-1]) else listed


def _accepted(scores: FloatArray, thresholds: Float64Array) -> IntArray:
    ordered = SortedScores(mark_read_only(np.sort(scores)))
    return scores.size - ordered.count_below(thresholds)


def _rates_of(given: TandemScores) -> tuple[TandemRates, Float64Array, Float64Array]:
    of_asv = _thresholds(*given.asv)
    of_cm = _thresholds(given.bona, given.spoof)
    tar, non, spoofs = (_accepted(scores, of_asv) for scores in given.asv)
    bona, fakes = (_accepted(scores, of_cm) for scores in (given.bona, given.spoof))
    sizes = [*(scores.size for scores in given.asv), given.bona.size, given.spoof.size]
    totals = (sizes[0], sizes[1], sizes[2], sizes[3], sizes[4])
    return TandemRates(tar, non, spoofs, bona, fakes, totals), of_asv, of_cm


def t_eer(*, asv: Lists, cm: Lists) -> TandemEER:
    r"""Compute the tandem equal error rate of a speaker verifier and a countermeasure.

    Parameters
    ----------
    asv : (tar, non, spoof), each an array_like of float
        Scores of the verifier.
    cm : (bonafide, spoof) or (tar, non, spoof), each an array_like of float
        Scores of the countermeasure, as for `tandem_cost`.

    Returns
    -------
    TandemEER
        A float with thresholds and rates.

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
    given = TandemScores.of(asv, cm)
    rates, of_asv, of_cm = _rates_of(given)
    i, j = equal_point(rates)
    three = rates.exact(i, j)
    miss, alarm, spoof = map(float, three)
    return TandemEER(
        float(sum(three) / 3),
        asv_threshold=float(of_asv[i]),
        cm_threshold=float(of_cm[j]),
        pmiss=miss,
        pfa=alarm,
        pfa_spoof=spoof,
    )
