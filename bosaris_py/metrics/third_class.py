r"""Metrics of three classes of trials: targets, zero-effort impostors and spoofs.

Spoofs are a group of the non-targets, whose share of the false-alarm rate comes from the costs
[1]_. So each metric is one of two classes, on a sample with such shares.

References
----------
.. [1] H. Shim et al., "a-DCF: an architecture agnostic metric with application to
   spoofing-robust speaker verification", Odyssey 2024.
"""

from __future__ import annotations

import abc
from typing import ClassVar

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike
from bosaris_py.metrics.costs import MinCost, no_llrs
from bosaris_py.metrics.metric import AnyMetric, Opening, Scale, ThresholdMetric
from bosaris_py.metrics.ranks import EER
from bosaris_py.numerics.priors import SPOOF_COSTS, SpoofCosts, SpoofCostsLike
from bosaris_py.numerics.roc import EERDefinition
from bosaris_py.trials.sample import Sample


def to_costs(costs: SpoofCostsLike) -> SpoofCosts:
    """Return costs of three classes, given them or their name."""
    return SpoofCosts.named(costs)


def sample_of_three(tar: ArrayLike, non: ArrayLike | None, spoof: ArrayLike | None) -> Sample:
    """Return the sample of lists of scores, of which a kind of non-targets may be missing."""
    lists = [
        np.empty(0) if given is None else check.as_vector(given, name)
        for name, given in (("non", non), ("spoof", spoof))
    ]
    kinds = np.repeat([0, 1], [one.size for one in lists])
    sample = Sample.from_scores(tar, np.concatenate(lists))
    return Sample(sample.tar, sample.non, kinds if lists[1].size else None)


class ThreeClassMetric(AnyMetric):
    """Base of the metrics of three classes."""

    __slots__ = ()

    def __call__(  # type: ignore[override]
        self, tar: ArrayLike, non: ArrayLike | None, spoof: ArrayLike | None = None
    ) -> float:
        """Compute the metric of lists of scores.

        Parameters
        ----------
        tar, non, spoof : array_like of float
            Scores of targets, zero-effort impostors and spoofs. A kind that does not count may be
            None.

        Returns
        -------
        float
        """
        return self.judge(sample_of_three(tar, non, spoof))


@attrs.frozen
class _CostOfThree(ThreeClassMetric):
    """A detection cost: targets against the mixture of both kinds of non-targets."""

    costs: SpoofCosts = attrs.field(default=SPOOF_COSTS["a-DCF1"], converter=to_costs)
    normalize: bool = attrs.field(default=True, converter=check.as_flag)
    scale: ClassVar[Scale] = "log"

    def view(self, sample: Sample) -> Sample:
        """Give each kind of non-targets its share of the costs."""
        zero_effort, spoof = self.costs.kind_shares
        return sample.with_shares(zero_effort, spoof)

    @property
    def points(self) -> list[tuple[float, float, float]]:
        """The Bayes threshold and the prices of a miss and of a false alarm of the mixture."""
        decision = self.costs.decision
        scale = float(decision.default_cost) if self.normalize else 1.0
        return [(self.costs.threshold, float(decision.miss) / scale, float(decision.fa) / scale)]

    @abc.abstractmethod
    def limit(self, sample: Sample) -> float:
        """Return the threshold that the cost is of."""

    def openings(self, sample: Sample) -> list[Opening]:
        """Tell what errors of each kind cost, and how many there are, at the threshold."""
        ((_, miss, fa),), limit = self.points, self.limit(sample)
        found = [Opening(miss, float(sample.rates(limit)[0]), 0)]
        for kind, share in enumerate(self.costs.kind_shares):
            if share:
                own = slice(None) if sample.kinds is None else sample.kinds == kind
                rate = float(np.mean(sample.non.listed[own] >= limit))
                found.append(Opening(fa * share, rate, 1 + kind))
        return found


@attrs.frozen
class ADCF(_CostOfThree, MinCost):
    """Minimum architecture-agnostic detection cost.

    Parameters
    ----------
    costs : SpoofCosts or str, default: "a-DCF1"
        Priors and costs of the three classes, or the name of some.
    normalize : bool, default: True
        Divide by the cost of the better decision made without a detector.

    See Also
    --------
    bosaris_py.a_dcf : The same number as a function.

    Examples
    --------
    >>> ADCF()([2.0, 3.0], [0.0, 1.0], [1.0, 2.5])
    0.5
    """

    label: ClassVar[str] = "min a-DCF"

    def limit(self, sample: Sample) -> float:
        """Return the best threshold."""
        ((_, miss, fa),), (pmiss, pfa) = self.points, sample.rates_at_all()
        return float(sample.thresholds[np.argmin(miss * pmiss[0] + fa * pfa[0])])


@attrs.frozen
class ActADCF(_CostOfThree, ThresholdMetric):
    """Architecture-agnostic detection cost of Bayes decisions.

    Parameters
    ----------
    costs, normalize
        As for `ADCF`.

    See Also
    --------
    bosaris_py.act_a_dcf : The same number as a function.

    Examples
    --------
    >>> ActADCF()([2.0, 3.0], [-9.0, -8.0], [-9.0, -8.0])
    0.0
    """

    label: ClassVar[str] = "act a-DCF"

    def limit(self, sample: Sample) -> float:
        """Return the Bayes threshold."""
        return self.costs.threshold

    def doubts(self, sample: Sample) -> list[errors.Note]:
        """Tell of scores that are no log-likelihood-ratios."""
        return no_llrs(sample)


@attrs.frozen
class SVEER(ThreeClassMetric, EER):
    """Equal error rate of targets and zero-effort impostors.

    Parameters
    ----------
    definition : {"rocch", "interpolated", "step"}, default: "rocch"
        As for `EER`.

    Examples
    --------
    >>> SVEER()([2.0, 3.0], [0.0, 2.5], [1.0, 2.5])
    0.25
    """

    label: ClassVar[str] = "SV-EER"


@attrs.frozen
class SPFEER(ThreeClassMetric, EER):
    """Equal error rate of targets and spoofs.

    Parameters
    ----------
    definition : {"rocch", "interpolated", "step"}, default: "rocch"
        As for `EER`.

    Examples
    --------
    >>> SPFEER()([2.0, 3.0], [0.0, 1.0], [1.0, 2.5])
    0.25
    """

    label: ClassVar[str] = "SPF-EER"

    def view(self, sample: Sample) -> Sample:
        """Leave out zero-effort impostors."""
        return sample.with_shares(0.0, 1.0)


@attrs.frozen
class SASVEER(ThreeClassMetric, EER):
    """Equal error rate of targets, and both kinds of non-targets pooled.

    Parameters
    ----------
    definition : {"rocch", "interpolated", "step"}, default: "rocch"
        As for `EER`.

    Examples
    --------
    >>> SASVEER()([2.0, 3.0], [0.0, 2.5], [1.0, 2.5])
    0.25
    """

    label: ClassVar[str] = "SASV-EER"

    def view(self, sample: Sample) -> Sample:
        """Take all non-targets for one kind."""
        return attrs.evolve(sample, kinds=None)


@attrs.frozen
class BonafideEER(SASVEER):
    """Equal error rate of bona fide speech and spoofs: that of a countermeasure alone.

    Parameters
    ----------
    definition : {"rocch", "interpolated", "step"}, default: "rocch"
        As for `EER`.
    """

    label: ClassVar[str] = "CM-EER"

    def view(self, sample: Sample) -> Sample:
        """Take all non-targets for spoofs."""
        if sample.n_spoof and sample.n_non:
            got = f"{sample.n_non} zero-effort impostors"
            raise check.invalid("key", "have bona fide speech and spoofs only", got)
        return SASVEER.view(self, sample)


# ---- The same as functions of lists of scores


def a_dcf(
    tar: ArrayLike,
    non: ArrayLike | None,
    spoof: ArrayLike | None,
    costs: SpoofCostsLike = "a-DCF1",
    *,
    normalize: bool = True,
) -> float:
    r"""Compute the minimum architecture-agnostic detection cost over all thresholds.

    Parameters
    ----------
    tar : (n_tar,) array_like of float
        Scores of targets; no NaN, +-inf allowed.
    non : (n_non,) array_like of float
        Scores of zero-effort impostors; may be None if their prior is 0.
    spoof : (n_spoof,) array_like of float
        Scores of spoofs; may be None if their prior is 0.
    costs : SpoofCosts or str, default: "a-DCF1"
        Priors and costs, or their name; see `SpoofCosts`.
    normalize : bool, default: True
        Divide by the cost of the better decision made without a detector.

    Returns
    -------
    float
        0 for perfect scores; normalized, at most 1.

    Raises
    ------
    InvalidInputError
        If a class of positive prior has no scores.

    See Also
    --------
    act_a_dcf : The cost of Bayes decisions.
    min_dcf : The same of two classes, which it equals if the prior of spoofs is 0.

    Notes
    -----
    [1]_, equations (1) to (3):

    .. math::

        \min_t \frac{\pi_t C_{miss} P_{miss}(t) + \pi_n C_{fa} P_{fa}^{non}(t)
        + \pi_s C_{fa,s} P_{fa}^{spoof}(t)}
        {\min(\pi_t C_{miss},\; \pi_n C_{fa} + \pi_s C_{fa,s})}.

    Equal scores are accepted or rejected together, so the order of lines does not matter. Least
    costs are those of a vertex of the convex hull of a ROC whose non-targets weigh
    :math:`\pi_n C_{fa} / N_{non}` and :math:`\pi_s C_{fa,s} / N_{spoof}`.

    References
    ----------
    .. [1] H. Shim et al., "a-DCF: an architecture agnostic metric with application to
       spoofing-robust speaker verification", Odyssey 2024.

    Examples
    --------
    >>> round(a_dcf([1.0, 3.0], [0.0, 0.5], [0.0, 2.0]), 12)
    0.5
    """
    return ADCF(costs, normalize)(tar, non, spoof)


def act_a_dcf(
    tar: ArrayLike,
    non: ArrayLike | None,
    spoof: ArrayLike | None,
    costs: SpoofCostsLike = "a-DCF1",
    *,
    normalize: bool = True,
) -> float:
    r"""Compute the architecture-agnostic detection cost of Bayes decisions.

    Parameters
    ----------
    tar, non, spoof : array_like of float
        Natural-log likelihood-ratios of targets against the mixture of both kinds of non-targets;
        otherwise as for `a_dcf`.
    costs, normalize
        As for `a_dcf`.

    Returns
    -------
    float
        Not below `a_dcf`; the difference is what bad calibration costs.

    Warns
    -----
    SuspectScoresWarning
        As for `act_dcf`.

    Notes
    -----
    A trial is accepted iff its score is at least
    :math:`\log(\pi_n C_{fa} + \pi_s C_{fa,s}) - \log(\pi_t C_{miss})`. In the mixture, a spoof has
    the share :math:`\rho` of `SpoofCosts.spoof_share`.

    Examples
    --------
    >>> round(act_a_dcf([1.0, 3.0], [0.0, 0.5], [0.0, 2.0]), 12)
    0.555555555556
    """
    return ActADCF(costs, normalize)(tar, non, spoof)


def sv_eer(
    tar: ArrayLike,
    non: ArrayLike,
    spoof: ArrayLike | None = None,
    *,
    definition: EERDefinition = "rocch",
) -> float:
    """Compute the equal error rate of targets and zero-effort impostors.

    Parameters
    ----------
    tar, non : array_like of float
        Scores of the two classes; no NaN, +-inf allowed.
    spoof : array_like of float, optional
        Ignored, so that the three functions are called alike.
    definition : {"rocch", "interpolated", "step"}, default: "rocch"
        Which number is meant, see `eer`; ASVspoof publishes ``"step"``, SASV 2022
        ``"interpolated"``.

    Returns
    -------
    float
        A fraction.

    See Also
    --------
    spf_eer, sasv_eer : The other two.

    Notes
    -----
    SV-EER of the SASV 2022 challenge.

    Examples
    --------
    >>> sv_eer([1.0, 3.0], [0.0, 2.0])
    0.25
    """
    return SVEER(definition)(tar, non, None)


def spf_eer(
    tar: ArrayLike, non: ArrayLike | None, spoof: ArrayLike, *, definition: EERDefinition = "rocch"
) -> float:
    """Compute the equal error rate of targets and spoofs.

    Parameters
    ----------
    tar : array_like of float
        Scores of targets; no NaN, +-inf allowed.
    non : array_like of float or None
        Ignored, so that the three functions are called alike.
    spoof : array_like of float
        Scores of spoofs.
    definition
        As for `sv_eer`.

    Returns
    -------
    float
        A fraction.

    Notes
    -----
    SPF-EER of the SASV 2022 challenge.

    Examples
    --------
    >>> spf_eer([1.0, 3.0], None, [0.0, 2.0])
    0.25
    """
    return SPFEER(definition)(tar, None, spoof)


def sasv_eer(
    tar: ArrayLike, non: ArrayLike, spoof: ArrayLike, *, definition: EERDefinition = "rocch"
) -> float:
    """Compute the equal error rate of targets, and both kinds of non-targets pooled.

    Parameters
    ----------
    tar, non, spoof : array_like of float
        Scores of the three classes; no NaN, +-inf allowed.
    definition
        As for `sv_eer`.

    Returns
    -------
    float
        A fraction.

    Notes
    -----
    SASV-EER of the SASV 2022 challenge. Its non-targets are mixed as the protocol happens to mix
    them: 63 882 spoofs for 33 327 zero-effort impostors in ASVspoof 2019 LA. `a_dcf` says what mix
    it assumes.

    Examples
    --------
    >>> round(sasv_eer([1.0, 3.0], [0.0, 2.0], [0.0, 0.0]), 12)
    0.166666666667
    """
    return SASVEER(definition)(tar, non, spoof)
