r"""Metrics of three classes of trials: targets, zero-effort impostors and spoofs.

One threshold decides about all of them. A detection cost of three classes is one of two, whose
non-targets are of two kinds with fixed shares of the false-alarm rate. So every number here is that
of one `ROC`, which a sample with kinds has.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import as_vector, invalid
from bosaris_py.numerics.counts import as_trials
from bosaris_py.numerics.metrics import eer
from bosaris_py.numerics.priors import SpoofCosts, SpoofCostsLike
from bosaris_py.numerics.roc import EERDefinition
from bosaris_py.trials.sample import ListedSample, ScoredClass
from bosaris_py.trials.strata import Strata

# The arguments that hold the scores of each kind of non-targets.
KIND_ARGUMENTS = ("non", "spoof")


def _class_of(scores: npt.ArrayLike, name: str) -> ScoredClass:
    array, _ = as_trials(scores, None, name)
    return ScoredClass(array, Strata.single(array.size))


def sample_at(
    tar: npt.ArrayLike, non: Mapping[str, npt.ArrayLike | None], costs: SpoofCosts
) -> ListedSample:
    """Return the sample whose false-alarm rate has the shares of some costs.

    `non` has the scores of kinds of non-targets by the names of arguments; where the prior is not 0
    there must be some.
    """
    kinds, shares = [], []
    for name, share, prior in zip(
        KIND_ARGUMENTS, costs.kind_shares, costs.kind_priors, strict=True
    ):
        if prior == 0:
            continue
        given = non.get(name)
        scores = None if given is None else as_vector(given, name)
        if scores is None or not scores.size:
            hint = "Give costs with a prior of 0 for what is not there, or read spoofs: keep."
            raise invalid(name, f"hold scores, of prior {prior:g} in the costs", "none", hint)
        kinds.append(_class_of(scores, name))
        shares.append(share)
    return ListedSample((_class_of(tar, "tar"), *kinds), tuple(shares))


def a_dcf(
    tar: npt.ArrayLike,
    non: npt.ArrayLike | None,
    spoof: npt.ArrayLike | None,
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
    given = SpoofCosts.named(costs)
    hull = sample_at(tar, {"non": non, "spoof": spoof}, given).hull
    return float(hull.min_dcf(given.decision, normalize=normalize))


def act_a_dcf(
    tar: npt.ArrayLike,
    non: npt.ArrayLike | None,
    spoof: npt.ArrayLike | None,
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
    given = SpoofCosts.named(costs)
    sample, prices = sample_at(tar, {"non": non, "spoof": spoof}, given), given.decision
    rates = sample.error_rates(prices.thresholds)
    sample.warn_unless_llrs()
    return float(prices.cost(*rates, normalize=normalize))


def sv_eer(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    spoof: npt.ArrayLike | None = None,
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
    return _equal(tar, {"non": non}, definition)


def spf_eer(
    tar: npt.ArrayLike,
    non: npt.ArrayLike | None,
    spoof: npt.ArrayLike,
    *,
    definition: EERDefinition = "rocch",
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
    return _equal(tar, {"spoof": spoof}, definition)


def sasv_eer(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    spoof: npt.ArrayLike,
    *,
    definition: EERDefinition = "rocch",
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
    return _equal(tar, {"non": non, "spoof": spoof}, definition)


def _equal(
    tar: npt.ArrayLike, kinds: dict[str, npt.ArrayLike | None], definition: EERDefinition
) -> float:
    lists = []
    for name, given in kinds.items():
        scores = None if given is None else as_vector(given, name)
        if scores is None or not scores.size:
            raise invalid(name, "hold scores", "none")
        lists.append(scores)
    return eer(tar, np.concatenate(lists), definition=definition)
