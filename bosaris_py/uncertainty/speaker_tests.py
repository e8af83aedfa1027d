r"""Tests that compare the detection costs of two systems and let only speakers be independent.

`speaker_z_test` is a formula, `speaker_permutation_test` and
`speaker_permutation_test_scores` swap the systems speaker by speaker.
"""

import math
from typing import get_args

import attrs
import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from bosaris_py._validation import as_vector, describe, invalid, refuse_nan
from bosaris_py.errors import TrialMismatchError
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.forms import AnyKey, AnyScores
from bosaris_py.trials.id_map import IdMap
from bosaris_py.uncertainty.dcf_error import FixedCost
from bosaris_py.uncertainty.decisions import ThresholdCost, as_count, check_few_errors, rejected
from bosaris_py.uncertainty.estimates import Alternative, ZTest, check_choice, z_test
from bosaris_py.uncertainty.randomness import Rng, as_generator
from bosaris_py.uncertainty.scored_trials import ScoredTrials, check_system, refuse_missing
from bosaris_py.uncertainty.speaker_errors import dyadic_covariance
from bosaris_py.uncertainty.speakers import SpeakerTrials, TrialSpeakers, Unknown
from bosaris_py.uncertainty.strata import Strata, effective_errors
from bosaris_py.uncertainty.threshold_statistics import ActDCF

__all__ = [
    "PermutationTest",
    "speaker_permutation_test",
    "speaker_permutation_test_scores",
    "speaker_z_test",
]

Float64Array = npt.NDArray[np.float64]

_SIGNS_PER_BLOCK = 2**22


@attrs.frozen(repr=False)
class PermutationTest:
    """The outcome of a test that swaps two systems speaker by speaker.

    Parameters
    ----------
    difference : float
        Cost of the first system minus that of the second.
    standard_error : float
        Standard deviation of the difference over all swaps.
    p_value : float
        Share of swaps with a difference at least as extreme, the observed one
        included.
    alternative : {"two-sided", "less", "greater"}
        What counts as extreme.
    n_speakers : int
        Number of speakers.
    n_permutations : int
        Number of swaps tried.
    exact : bool
        True if these are all the swaps there are.
    """

    difference: float
    standard_error: float
    p_value: float
    alternative: Alternative
    n_speakers: int
    n_permutations: int
    exact: bool

    def __repr__(self) -> str:
        """Put difference, p and the number of permutations on one line."""
        how = "all" if self.exact else "random"
        return (
            f"difference {self.difference:.4g}, p {self.p_value:.3g} ({self.alternative}; "
            f"{how} {self.n_permutations} permutations of {self.n_speakers} speakers)"
        )


def speaker_permutation_test(
    costs_a: npt.ArrayLike,
    costs_b: npt.ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    rng: Rng = None,
    progress: bool = False,
) -> PermutationTest:
    """Test if two systems differ, given the cost that each causes each speaker.

    If the systems are alike, their names may be swapped for any speaker without
    changing the law of the costs.

    Parameters
    ----------
    costs_a, costs_b : (k,) array_like of float
        Cost of the first and the second system for each of k speakers, in the same
        order; finite.
    alternative : {"two-sided", "less", "greater"}, default: "two-sided"
        Whether any difference counts, or only a first system that is better
        ("less") or worse ("greater").
    permutations : int, default: 10000
        Number of random swaps. If there are no more than that in all, 2 ** k, each
        is tried once, and the p-value is exact.
    rng : Generator, int or None, keyword-only
        Source of random swaps.
    progress : bool, default: False
        Show a progress bar.

    Returns
    -------
    PermutationTest
        With the difference of the mean costs.

    Raises
    ------
    InvalidInputError
        If a cost is not finite, there are fewer than two speakers, or no
        permutations.
    TrialMismatchError
        If there are not equally many costs of both systems.

    See Also
    --------
    speaker_permutation_test_scores : From scores, for trials of two speakers each.

    Notes
    -----
    The p-value of random swaps counts the observed one as one of them, so it is
    never zero and the test never too liberal. Speakers must be independent: where
    the cost of one speaker depends on the voice of another, as false alarms do, use
    `speaker_permutation_test_scores`.

    Examples
    --------
    >>> speaker_permutation_test([1.0, 2.0, 3.0], [0.5, 1.0, 1.0])
    difference 1.167, p 0.25 (two-sided; all 8 permutations of 3 speakers)
    """
    owner = "speaker_permutation_test"
    costs = []
    for values, name in ((costs_a, "costs_a"), (costs_b, "costs_b")):
        array = as_vector(values, name, owner).astype(np.float64)
        refuse_nan(array, name, owner)
        if not np.isfinite(array).all():
            raise invalid(name, owner, "be finite", "infinite costs")
        costs.append(array)
    if costs[0].size != costs[1].size:
        message = (
            f"`costs_a` and `costs_b` of {owner} must be of the same speakers; "
            f"got {costs[0].size} and {costs[1].size} costs."
        )
        raise TrialMismatchError(message)
    if costs[0].size < 2:
        raise invalid("costs_a", owner, "be of at least two speakers", f"{costs[0].size}")
    shares = (costs[0] - costs[1]) / costs[0].size
    return _permute(shares, alternative, permutations, rng, owner, progress=progress)


def speaker_permutation_test_scores(
    scores_a: AnyScores,
    scores_b: AnyScores,
    key: AnyKey,
    statistic: ThresholdCost | ActDCF,
    statistic_b: ThresholdCost | ActDCF | None = None,
    *,
    model_speakers: IdMap | None = None,
    segment_speakers: IdMap | None = None,
    unknown: Unknown = "refuse",
    conditions: Conditions | None = None,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    rng: Rng = None,
    progress: bool = False,
) -> PermutationTest:
    r"""Test if the detection costs of two systems differ, swapping them speaker by speaker.

    Parameters
    ----------
    scores_a, scores_b : Scores or FlatScores
        Scores of the two systems, one for each trial of `key`.
    key : Key or FlatKey
        Which trials are targets and which non-targets.
    statistic : DCF, ActDCF or OperatingPoint
        Threshold, prior and costs, as for `dcf_standard_error`.
    statistic_b : DCF, ActDCF or OperatingPoint, optional
        The same for the second system, where its threshold is another one.
    model_speakers : IdMap, optional
        From model to speaker. By default each model is a speaker of its own.
    segment_speakers : IdMap, optional
        From test segment to speaker. By default that of the models whose target it is.
    unknown : {"refuse", "own"}, default: "refuse"
        What to do where the speaker is not known: refuse, or take each model or segment
        for a speaker of its own, with a warning.
    conditions : Conditions, optional
        Weights of conditions, as for `speaker_errors`: the costs are then the
        condition-weighted ones.
    alternative : {"two-sided", "less", "greater"}, default: "two-sided"
        Whether any difference counts, or only a first system that is better
        ("less") or worse ("greater").
    permutations : int, default: 10000
        Number of random swaps; each swap there is, once, if these are fewer.
    rng : Generator, int or None, keyword-only
        Source of random swaps.
    progress : bool, default: False
        Show a progress bar.

    Returns
    -------
    PermutationTest
        With the difference of the costs.

    Raises
    ------
    InvalidInputError
        If a speaker is not known, or there are fewer than two.
    TrialMismatchError
        If a trial of the key has no score in one of the systems, or is in no condition.

    Notes
    -----
    The cost of a non-target trial belongs to two speakers at once, so swapping systems
    for one of them is not a permutation of the data. What is swapped is the sign of
    each speaker's influence on the difference :math:`\Delta = a \Delta_{miss} + b \Delta_{fa}`,

    .. math::

        \psi_k = a \frac{m_k}{T} + b \frac{e_k - \frac12 \Delta_{fa} n_k}{N},

    with :math:`m_k` the difference in misses of speaker k, :math:`e_k` the difference in
    false alarms in the :math:`n_k` non-target trials that k takes part in on either side.
    They add up to :math:`\Delta`. Each false alarm counts in full for both its speakers:
    halves would make the standard error of :math:`\Delta_{fa}` half as large as it is.
    Where false alarms do not depend on speakers, or the systems share what does, each is
    thereby counted twice: the test is conservative, with a standard error up to
    :math:`\sqrt 2` times too large, and `speaker_z_test` the more powerful one. Unlike
    `speaker_permutation_test` it is not exact for few speakers.

    With weights :math:`w_\alpha` of conditions, :math:`\psi_k` is the sum over conditions
    of :math:`w_\alpha` times the same expression with the counts of the condition.
    """
    owner = "speaker_permutation_test_scores"
    influence = _influence(
        (scores_a, scores_b),
        key,
        (statistic, statistic if statistic_b is None else statistic_b),
        (model_speakers, segment_speakers, unknown),
        conditions,
        owner,
    )
    shares = influence.shares()
    return _permute(shares, alternative, permutations, rng, owner, progress=progress)


def speaker_z_test(
    scores_a: AnyScores,
    scores_b: AnyScores,
    key: AnyKey,
    statistic: ThresholdCost | ActDCF,
    statistic_b: ThresholdCost | ActDCF | None = None,
    *,
    model_speakers: IdMap | None = None,
    segment_speakers: IdMap | None = None,
    unknown: Unknown = "refuse",
    conditions: Conditions | None = None,
    alternative: Alternative = "two-sided",
) -> ZTest:
    """Test if the detection costs of two systems differ, letting only speakers be independent.

    The paired z-test with the standard error of `speaker_errors`, applied to the
    difference of the two systems' errors on each trial. The first choice for costs at
    fixed thresholds: unlike `paired_bootstrap` it counts what is peculiar to a pair of
    speakers once, and such things are most of a difference between good systems.

    Parameters
    ----------
    scores_a, scores_b : Scores or FlatScores
        Scores of the two systems, one for each trial of `key`.
    key : Key or FlatKey
        Which trials are targets and which non-targets.
    statistic : DCF, ActDCF or OperatingPoint
        Threshold, prior and costs, as for `dcf_standard_error`.
    statistic_b : DCF, ActDCF or OperatingPoint, optional
        The same for the second system, where its threshold is another one.
    model_speakers : IdMap, optional
        From model to speaker. By default each model is a speaker of its own.
    segment_speakers : IdMap, optional
        From test segment to speaker. By default that of the models whose target it is.
    unknown : {"refuse", "own"}, default: "refuse"
        What to do where the speaker is not known: refuse, or take each model or segment
        for a speaker of its own, with a warning.
    conditions : Conditions, optional
        Weights of conditions, as for `speaker_errors`: the costs are then the
        condition-weighted ones.
    alternative : {"two-sided", "less", "greater"}, default: "two-sided"
        Whether any difference counts, or only a first system that is better
        ("less") or worse ("greater").

    Returns
    -------
    ZTest
        With the difference of the costs.

    Raises
    ------
    InvalidInputError
        If a speaker is not known, or there are fewer than two.
    TrialMismatchError
        If a trial of the key has no score in one of the systems, or is in no condition.

    Warns
    -----
    FewErrorsWarning
        If systems disagree on fewer than 30 trials of a class.
    """
    owner = "speaker_z_test"
    influence = _influence(
        (scores_a, scores_b),
        key,
        (statistic, statistic if statistic_b is None else statistic_b),
        (model_speakers, segment_speakers, unknown),
        conditions,
        owner,
    )
    check_few_errors(influence.misses.n_effective, "difference of the miss rates")
    check_few_errors(influence.alarms.n_effective, "difference of the false-alarm rates")
    covariance, method = influence.covariance(owner)
    spread = math.sqrt(max(float(covariance.sum()), 0.0))
    return z_test(influence.difference, spread, alternative, method, owner)


@attrs.frozen(eq=False)
class _CostDifference:
    """How the errors of two systems differ in cost, in one class.

    Parameters
    ----------
    values : (n,) ndarray of float64
        Cost of each trial with the first system minus that with the second, in weights
        that sum to the price of a rate of one.
    expected : (n,) ndarray of float64
        What it would be if all trials of a condition had the same: their mean.
    n_effective : float
        As many disagreements of equal weight would leave the difference as uncertain.
    """

    values: Float64Array
    expected: Float64Array
    n_effective: float

    @classmethod
    def of(
        cls, disagreement: npt.NDArray[np.int8], price: float, strata: Strata
    ) -> "_CostDifference":
        """Weigh disagreements: 1 where only the first system errs, -1 where only the second."""
        means = price * strata.factors * strata.totals(disagreement) / strata.sizes
        factors = price * strata.factors
        n_effective = effective_errors(strata.totals(disagreement != 0), strata.factors)
        if strata.labels is None:
            expected = np.full(disagreement.size, means[0])
            return cls(factors[0] * disagreement, expected, float(n_effective))
        return cls(factors[strata.labels] * disagreement, means[strata.labels], float(n_effective))

    @property
    def total(self) -> float:
        """Difference of the costs."""
        return float(self.values.sum())


@attrs.frozen(eq=False)
class _Influence:
    """How two systems differ in cost, trial by trial."""

    misses: _CostDifference
    alarms: _CostDifference
    speakers: SpeakerTrials

    @property
    def difference(self) -> float:
        """Difference of the costs."""
        return self.misses.total + self.alarms.total

    def shares(self) -> Float64Array:
        """Return each speaker's part of the difference; they sum to it."""
        shares = self.speakers.of_targets(self.misses.values)
        shares += self.speakers.of_non_targets(self.alarms.values - 0.5 * self.alarms.expected)
        return np.asarray(shares[self.speakers.present])

    def covariance(self, owner: str) -> tuple[Float64Array, str]:
        """Return the covariance of the differences in misses and in false alarms."""
        return dyadic_covariance(
            self.misses.values - self.misses.expected,
            self.alarms.values - self.alarms.expected,
            self.speakers,
            owner,
        )


def _influence(
    systems: tuple[AnyScores, AnyScores],
    key: AnyKey,
    statistics: tuple[ThresholdCost | ActDCF, ThresholdCost | ActDCF],
    maps: tuple[IdMap | None, IdMap | None, Unknown],
    conditions: Conditions | None,
    owner: str,
) -> _Influence:
    """Compare the errors of two systems on all trials of a key."""
    model_speakers, segment_speakers, unknown = maps
    speakers = TrialSpeakers.of_key(
        key, model_speakers, segment_speakers, unknown=unknown, owner=owner
    )
    costs = [
        FixedCost.of(s, owner, n)
        for s, n in zip(statistics, ("statistic", "statistic_b"), strict=True)
    ]
    if (costs[0].miss, costs[0].alarm) != (costs[1].miss, costs[1].alarm):
        expected = "have the same prior and costs as `statistic`"
        raise invalid("statistic_b", owner, expected, describe(statistics[1]))
    for n_trials, what in ((key.n_tar, "targets"), (key.n_non, "non-targets")):
        if n_trials == 0:
            raise invalid("key", owner, f"have {what}", "none")
    for scores, name in zip(systems, ("scores_a", "scores_b"), strict=True):
        check_system(scores, name, owner)
        refuse_missing(scores, key, name, owner)
    trials = ScoredTrials.of(systems[0], key, conditions, owner)
    below = []
    for scores, cost in zip(systems, costs, strict=True):
        tar, non = trials.take(scores, key, owner)
        below.append((rejected(tar, cost.threshold), rejected(non, cost.threshold)))
    # +1 where only the first system rejects, -1 where only the second does.
    tar_disagreement, non_disagreement = (
        first.astype(np.int8) - second.astype(np.int8) for first, second in zip(*below, strict=True)
    )
    return _Influence(
        _CostDifference.of(tar_disagreement, costs[0].miss, trials.strata.tar),
        _CostDifference.of(-non_disagreement, costs[0].alarm, trials.strata.non),
        SpeakerTrials.of(speakers, trials, owner),
    )


def _permute(
    shares: Float64Array,
    alternative: Alternative,
    permutations: int,
    rng: Rng,
    owner: str,
    *,
    progress: bool,
) -> PermutationTest:
    """Flip the signs of the shares of a difference."""
    check_choice(alternative, get_args(Alternative), "alternative", owner)
    if as_count(permutations, "permutations", owner) < 1 or permutations != int(permutations):
        expected = "be a whole number, at least 1"
        raise invalid("permutations", owner, expected, describe(permutations))
    n_speakers = shares.size
    if n_speakers < 2:
        raise invalid("key", owner, "have at least two speakers with trials", f"{n_speakers}")
    # Differences that are equal in exact arithmetic may differ by rounding.
    slack = 1e-12 * float(np.abs(shares).sum())
    observed = float(shares.sum())
    exact = n_speakers < 60 and 2**n_speakers <= permutations
    n_rounds = 2**n_speakers if exact else int(permutations)
    generator = as_generator(rng, owner)
    step = max(1, _SIGNS_PER_BLOCK // n_speakers)
    n_extreme = 0
    for start in tqdm(range(0, n_rounds, step), disable=not progress, unit="block"):
        size = min(step, n_rounds - start)
        if exact:
            numbers = np.arange(start, start + size, dtype=np.int64)[:, np.newaxis]
            flips = (numbers >> np.arange(n_speakers)) & 1
        else:
            flips = generator.integers(0, 2, size=(size, n_speakers), dtype=np.int8)
        swapped = (1.0 - 2.0 * flips) @ shares
        if alternative == "two-sided":
            extreme = np.abs(swapped) >= abs(observed) - slack
        elif alternative == "less":
            extreme = swapped <= observed + slack
        else:
            extreme = swapped >= observed - slack
        n_extreme += int(np.count_nonzero(extreme))
    p_value = n_extreme / n_rounds if exact else (n_extreme + 1) / (n_rounds + 1)
    spread = math.sqrt(float(np.dot(shares, shares)))
    return PermutationTest(observed, spread, p_value, alternative, n_speakers, n_rounds, exact)
