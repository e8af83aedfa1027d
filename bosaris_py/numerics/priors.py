"""Priors, costs and the maps between probabilities and log-odds.

A decision is governed by one number, the prior log-odds ``plo``: the logit of the probability of a
target once the costs are absorbed into it. The Bayes decision for a log-likelihood-ratio is to
accept iff it is at least ``-plo``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs
import numpy as np
import scipy

from bosaris_py import _validation as check
from bosaris_py._arrays import Answer, ArrayLike, FloatArray, mark_read_only

# scipy imports scipy.special when it is first asked for, so modules `import scipy` alone: the
# EER of some scores, which does without, takes a fifth of the time of that import.


def logit(p: ArrayLike) -> Answer:
    r"""Map probabilities to log-odds.

    Parameters
    ----------
    p : float or array_like of float
        Probabilities in [0, 1].

    Returns
    -------
    float or ndarray of float64
        :math:`\log p - \log(1-p)`; -inf at 0 and inf at 1. A scalar for a
        scalar.

    Examples
    --------
    >>> float(round(logit(0.01), 4))
    -4.5951
    """
    return scipy.special.logit(_as_probabilities(p))


def sigmoid(x: ArrayLike) -> Answer:
    r"""Map log-odds to probabilities, the inverse of `logit`.

    Parameters
    ----------
    x : float or array_like of float
        Log-odds, any real number or +-inf.

    Returns
    -------
    float or ndarray of float64
        :math:`1/(1+e^{-x})`, in [0, 1]. A scalar for a scalar.

    Examples
    --------
    >>> float(sigmoid(0.0))
    0.5
    """
    return scipy.special.expit(check.as_float_array(x, "x").astype(np.float64, copy=False))


def posterior(llr: ArrayLike, prior: "float | OperatingPoint") -> Answer:
    r"""Turn log-likelihood-ratios into posterior probabilities of a target.

    Parameters
    ----------
    llr : float or array_like of float
        Natural-log likelihood-ratios, of any shape; +-inf allowed.
    prior : float or OperatingPoint
        Prior probability of a target; of an operating point the effective prior.

    Returns
    -------
    float or ndarray of float64
        :math:`\sigma(\ell + \mathrm{logit}\,\pi)`: Bayes' rule in log-odds. A scalar for a scalar.

    Examples
    --------
    >>> round(float(posterior(0.0, 0.25)), 12)
    0.25
    """
    values = check.as_float_array(llr, "llr").astype(np.float64, copy=False)
    check.refuse_nan(np.atleast_1d(values), "llr")
    point = prior if isinstance(prior, OperatingPoint) else OperatingPoint(prior)
    return sigmoid(values + point.plo)


def probit(p: ArrayLike) -> Answer:
    r"""Map probabilities to standard normal deviates, the warp of a DET plot's axes.

    Parameters
    ----------
    p : float or array_like of float
        Probabilities in [0, 1].

    Returns
    -------
    float or ndarray of float64
        :math:`\Phi^{-1}(p) = \sqrt{2}\,\mathrm{erf}^{-1}(2p-1)`; -inf at 0
        and inf at 1. A scalar for a scalar.

    Notes
    -----
    Computed without forming ``2 p - 1``, so that tiny probabilities keep full
    precision; the toolkit's ``probit.m`` loses it below about 1e-10.

    Examples
    --------
    >>> float(probit(0.5))
    0.0
    """
    return scipy.special.ndtri(_as_probabilities(p))


def _log_odds(prior: float) -> float:
    """Return the log-odds of one prior, NaN unless it lies between 0 and 1."""
    # To the last bit that of scipy, whose import takes longer than most evaluations.
    if 0.3 <= prior <= 0.65:
        away = 2.0 * (prior - 0.5)
        return math.log1p(away) - math.log1p(-away)
    return math.log(prior / (1.0 - prior)) if 0.0 < prior < 1.0 else math.nan


def _as_probabilities(p: ArrayLike) -> FloatArray:
    try:
        probabilities = np.asarray(p, dtype=np.float64)
    except (TypeError, ValueError):
        raise check.invalid("p", "be numbers", check.describe(p)) from None
    good = (probabilities >= 0) & (probabilities <= 1)
    if not good.all():
        first = probabilities[~good].flat[0]
        hint = "Percentages must be divided by 100." if first > 1 else ""
        raise check.invalid("p", "lie in [0, 1]", f"{first}", hint)
    return probabilities


def effective_prior(p_target: float, c_miss: float, c_fa: float) -> float:
    r"""Absorb the costs of the two errors into the prior.

    Bayes decisions at prior `p_target` with costs `c_miss` and `c_fa` are those at the effective
    prior with unit costs.

    Parameters
    ----------
    p_target : float
        Prior probability of a target, strictly between 0 and 1.
    c_miss, c_fa : float
        Cost of a miss and of a false alarm, positive.

    Returns
    -------
    float
        :math:`\tilde\pi = \pi C_{miss} / (\pi C_{miss} + (1-\pi) C_{fa})`.

    Notes
    -----
    Theory paper, section 2.4.2; the toolkit's ``effective_prior.m``.

    Examples
    --------
    >>> round(effective_prior(0.01, 10, 1), 6)
    0.091743
    """
    return OperatingPoint(p_target, c_miss, c_fa).effective_prior


def _to_prior(value: float) -> float:
    return check.check_fraction(value, "p_target")


def _to_cost(value: float) -> float:
    return check.as_number(value, "a cost", "be positive and finite", lambda x: 0.0 < x < math.inf)


@attrs.frozen
class OperatingPoint:
    """A prior and two costs: all that a decision needs to know about its use.

    Parameters
    ----------
    p_target : float
        Prior probability of a target trial, strictly between 0 and 1.
    c_miss : float, default: 1.0
        Cost of rejecting a target. Positive.
    c_fa : float, default: 1.0
        Cost of accepting a non-target. Positive.

    Examples
    --------
    The operating point of NIST's evaluations up to 2008:

    >>> point = OperatingPoint(p_target=0.01, c_miss=10, c_fa=1)
    >>> round(point.effective_prior, 6)
    0.091743
    >>> round(point.threshold, 6)
    2.292535
    """

    p_target: float = attrs.field(converter=_to_prior)
    c_miss: float = attrs.field(default=1.0, converter=_to_cost)
    c_fa: float = attrs.field(default=1.0, converter=_to_cost)

    @property
    def miss_cost(self) -> float:
        """Expected cost of always rejecting, P_target C_miss."""
        return self.p_target * self.c_miss

    @property
    def fa_cost(self) -> float:
        """Expected cost of always accepting, (1 - P_target) C_fa."""
        return (1.0 - self.p_target) * self.c_fa

    @property
    def effective_prior(self) -> float:
        """The prior that leads to the same decisions with unit costs."""
        # Theory paper, equation (10).
        return self.miss_cost / (self.miss_cost + self.fa_cost)

    @property
    def plo(self) -> float:
        """Prior log-odds: the logit of the effective prior, natural log."""
        # Minus equation (11); a logit of the rounded prior would lose digits near 0 and 1.
        return _log_odds(self.p_target) + math.log(self.c_miss) - math.log(self.c_fa)

    @property
    def threshold(self) -> float:
        """Bayes threshold: accept iff the log-likelihood-ratio is at least this, -plo."""
        return -self.plo


def _fresh(values: ArrayLike) -> FloatArray:
    return mark_read_only(np.asarray(values, dtype=np.float64))


@attrs.frozen(eq=False)
class DecisionCosts:
    """Prices of a miss, P C_miss, and of a false alarm, (1 - P) C_fa, and their log-ratio `plo`.

    Every function with a `prior` argument turns it into this first.
    """

    miss: FloatArray = attrs.field(converter=_fresh)
    fa: FloatArray = attrs.field(converter=_fresh)
    plo: FloatArray = attrs.field(converter=_fresh)

    @classmethod
    def from_prior(cls, prior: "PriorLike") -> "DecisionCosts":
        """Read a `prior` argument: probabilities (unit costs) or operating points."""
        if isinstance(prior, DecisionCosts):
            return prior
        if isinstance(prior, OperatingPoint):
            return cls(prior.miss_cost, prior.fa_cost, prior.plo)
        if isinstance(prior, Sequence) and any(isinstance(p, OperatingPoint) for p in prior):
            points = [p if isinstance(p, OperatingPoint) else OperatingPoint(p) for p in prior]  # type: ignore[arg-type]
            columns = np.array([(p.miss_cost, p.fa_cost, p.plo) for p in points]).T
            return cls(*(column.copy() for column in columns))
        if isinstance(prior, float) or np.ndim(prior) == 0:  # type: ignore[arg-type]
            values = np.array(check.check_fraction(prior, "prior"))
        else:
            values = check.as_vector(np.asarray(prior), "prior").astype(np.float64)
        plo = np.array([*map(_log_odds, values.ravel().tolist())]).reshape(values.shape)
        for bad in values[~np.isfinite(plo)]:
            check.check_fraction(bad, "prior")
        return cls(values, 1.0 - values, plo)

    @classmethod
    def from_plo(cls, plo: ArrayLike) -> "DecisionCosts":
        """Take unit costs at given prior log-odds; exact where a prior would round to 1."""
        log_odds = np.array(plo, dtype=np.float64)
        return cls(sigmoid(log_odds), sigmoid(-log_odds), log_odds)

    @property
    def thresholds(self) -> FloatArray:
        """Bayes thresholds for log-likelihood-ratios, -plo."""
        return -self.plo

    @property
    def default_cost(self) -> FloatArray:
        """Cost of the better of always accepting and always rejecting."""
        return np.minimum(self.miss, self.fa)

    def cost(self, pmiss: FloatArray, pfa: FloatArray, *, normalize: bool) -> FloatArray:
        """Return miss * pmiss + fa * pfa, over `default_cost` if `normalize`."""
        # Equations (13) and, divided by (14), (20) of the theory paper, with any costs.
        divide = check.as_flag(normalize)
        cost = self.miss * pmiss + self.fa * pfa
        divided: FloatArray = (cost / self.default_cost if divide else cost)[()]
        return divided


def _to_share(value: float) -> float:
    hint = "Percentages must be divided by 100."
    return check.as_number(value, "a prior", "lie in [0, 1)", lambda x: 0.0 <= x < 1.0, hint)


@attrs.frozen
class SpoofCosts:
    r"""Priors and costs of three classes: targets, zero-effort impostors and spoofs.

    Parameters
    ----------
    p_target, p_nontarget, p_spoof : float
        Prior probabilities, of sum one; that of targets is positive.
    c_miss : float, default: 1.0
        Cost of rejecting a target. Positive.
    c_fa : float, default: 10.0
        Cost of accepting a zero-effort impostor. Positive.
    c_fa_spoof : float, default: 10.0
        Cost of accepting a spoof. Positive.

    See Also
    --------
    OperatingPoint : The same for two classes.

    Notes
    -----
    Names stand for published sets. ``"a-DCF1"``: priors 0.9, 0.05, 0.05; costs 1, 10, 20, the
    first set of [1]_. ``"ASVspoof5"``: priors 0.9405, 0.0095, 0.05; costs 1, 10, 10, as in the
    evaluation plans of ASVspoof 2019, 2021 and 5. The functions that take costs take the names.

    References
    ----------
    .. [1] H. Shim et al., "a-DCF: an architecture agnostic metric with application to
       spoofing-robust speaker verification", Odyssey 2024.

    Examples
    --------
    >>> costs = SpoofCosts(0.9, 0.05, 0.05, c_miss=1, c_fa=10, c_fa_spoof=20)
    >>> costs == SpoofCosts.named("a-DCF1")
    True
    >>> round(costs.spoof_share, 4), round(costs.threshold, 4)
    (0.6667, 0.5108)
    """

    p_target: float = attrs.field(converter=_to_prior)
    p_nontarget: float = attrs.field(converter=_to_share)
    p_spoof: float = attrs.field(converter=_to_share)
    c_miss: float = attrs.field(default=1.0, converter=_to_cost)
    c_fa: float = attrs.field(default=10.0, converter=_to_cost)
    c_fa_spoof: float = attrs.field(default=10.0, converter=_to_cost)

    def __attrs_post_init__(self) -> None:
        """Check that the priors are those of all trials."""
        total = math.fsum((self.p_target, self.p_nontarget, self.p_spoof))
        if not math.isclose(total, 1.0, abs_tol=1e-9):
            hint = "A prior of zero-effort impostors among bona fide trials must be scaled down."
            raise check.invalid("the priors", "add up to 1", f"{total:.9g}", hint)

    @classmethod
    def named(cls, costs: "SpoofCostsLike") -> "SpoofCosts":
        """Return costs by their name; costs are returned as they are.

        Parameters
        ----------
        costs : SpoofCosts or str
            ``"a-DCF1"`` or ``"ASVspoof5"``.

        Returns
        -------
        SpoofCosts
        """
        if isinstance(costs, SpoofCosts):
            return costs
        check.check_choice(costs, [*SPOOF_COSTS], "costs")
        return SPOOF_COSTS[costs]

    @property
    def miss_price(self) -> float:
        """Cost of rejecting all targets, P_target C_miss."""
        return self.p_target * self.c_miss

    @property
    def fa_price(self) -> float:
        """Cost of accepting all zero-effort impostors, P_nontarget C_fa."""
        return self.p_nontarget * self.c_fa

    @property
    def spoof_price(self) -> float:
        """Cost of accepting all spoofs, P_spoof C_fa_spoof."""
        return self.p_spoof * self.c_fa_spoof

    @property
    def kind_prices(self) -> tuple[float, ...]:
        """Cost of accepting all non-targets of each kind: zero-effort impostors, spoofs."""
        return self.fa_price, self.spoof_price

    @property
    def spoof_share(self) -> float:
        """Share of spoofs in the cost of accepting everything."""
        return self.spoof_price / sum(self.kind_prices)

    @property
    def kind_shares(self) -> tuple[float, ...]:
        """Share of each kind of non-targets in the cost of accepting everything."""
        return 1.0 - self.spoof_share, self.spoof_share

    @property
    def decision(self) -> "DecisionCosts":
        """Prices of a miss, and of a false alarm of the mixture of all kinds."""
        if not self.spoof_price:  # the digits of two classes
            return DecisionCosts.from_prior(OperatingPoint(self.p_target, self.c_miss, self.c_fa))
        alarm = sum(self.kind_prices)
        return DecisionCosts(self.miss_price, alarm, math.log(self.miss_price) - math.log(alarm))

    @property
    def threshold(self) -> float:
        """Bayes threshold of a log-likelihood-ratio against the mixture of all kinds."""
        return float(self.decision.thresholds)


SpoofCostsLike = SpoofCosts | str

SPOOF_COSTS = {
    "a-DCF1": SpoofCosts(0.9, 0.05, 0.05, 1.0, 10.0, 20.0),
    # Spoofs are one trial in twenty; of the others, targets are 99 %.
    "ASVspoof5": SpoofCosts(0.9405, 0.0095, 0.05, 1.0, 10.0, 10.0),
}

PriorLike = ArrayLike | OperatingPoint | Sequence[float | OperatingPoint] | DecisionCosts
