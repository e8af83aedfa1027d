"""The permutation test by speaker: systems are swapped for whole speakers."""

from __future__ import annotations

import math
from typing import Unpack

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py import _validation as check
from bosaris_py._arrays import Float64Array, Readable
from bosaris_py._execution import progress_bar
from bosaris_py._validation import Rng
from bosaris_py.errors import TrialMismatchError
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.inputs import KeyLike
from bosaris_py.trials.scores import AnyScores
from bosaris_py.trials.speakers import SpeakerOptions, Speakers
from bosaris_py.uncertainty.bootstrap_result import Alternative
from bosaris_py.uncertainty.comparison.speaker_z_test import (
    complete_samples,
    influences_of_both,
    warn_of_unfit_systems,
)
from bosaris_py.uncertainty.influence.losses import LinearStatistic
from bosaris_py.uncertainty.multiplicity.max_t import signs_of

# Signs drawn at once: bounds the memory of a permutation test.
_SIGNS_PER_BLOCK = 2**22


# Costs at a fixed threshold, speaker by speaker.


@attrs.frozen(repr=False)
class PermutationTest(metaclass=Readable):
    """The outcome of a test that swaps two systems speaker by speaker.

    Parameters
    ----------
    difference : float
        Cost of the first system minus that of the second.
    standard_error : float
        Standard deviation of the difference over all swaps.
    p_value : float
        Share of swaps with a difference at least as extreme, the observed one included.
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

    Parameters
    ----------
    costs_a, costs_b : (k,) array_like of float
        Cost of the first and the second system for each of k speakers, in the same order; finite.
    alternative
        As for `speaker_z_test`.
    permutations : int, default: 10000
        Number of random swaps. If all 2 ** k are no more, each is tried once, and p is exact.
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
    TrialMismatchError
        If there are not equally many costs of both systems.

    See Also
    --------
    speaker_permutation_test_scores : From scores, for trials of two speakers each.

    Notes
    -----
    If the systems are alike, swapping them for any speaker leaves the law of the costs. Random
    swaps count the observed one, so p is never zero. Speakers must be independent.

    Examples
    --------
    >>> speaker_permutation_test([1.0, 2.0, 3.0], [0.5, 1.0, 1.0])
    difference 1.167, p 0.25 (two-sided; all 8 permutations of 3 speakers)
    """
    a, b = _as_costs(costs_a, "costs_a"), _as_costs(costs_b, "costs_b")
    if a.size != b.size:
        raise TrialMismatchError(
            f"`costs_a` and `costs_b` must be of the same speakers; "
            f"got {a.size} and {b.size} costs."
        )
    if a.size < 2:
        raise check.invalid("costs_a", "be of at least two speakers", f"{a.size}")
    return _permute((a - b) / a.size, alternative, permutations, rng, progress=progress)


def _as_costs(values: npt.ArrayLike, name: str) -> Float64Array:
    costs = check.as_vector(values, name).astype(np.float64)
    check.refuse_nan(costs, name)
    if not np.isfinite(costs).all():
        raise check.invalid(name, "be finite", "infinite costs")
    return costs


def speaker_permutation_test_scores(
    scores_a: AnyScores,
    scores_b: AnyScores,
    key: KeyLike,
    statistic: LinearStatistic,
    statistic_b: LinearStatistic | None = None,
    *,
    conditions: Conditions | None = None,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    rng: Rng = None,
    progress: bool = False,
    **speakers: Unpack[SpeakerOptions],
) -> PermutationTest:
    r"""Test if the detection costs of two systems differ, swapping them speaker by speaker.

    Parameters
    ----------
    scores_a, scores_b, key, statistic, statistic_b, conditions, alternative
        As for `speaker_z_test`, errors and warnings included.
    speakers, model_speakers, segment_speakers, unknown, strata
        As there.
    permutations, rng, progress
        As for `speaker_permutation_test`.

    Returns
    -------
    PermutationTest
        With the difference of the costs.

    Notes
    -----
    A non-target trial belongs to two speakers, so swapping systems for one of them is not a
    permutation of the data. What is swapped is the sign of each speaker's influence on
    :math:`\Delta = a \Delta_{miss} + b \Delta_{fa}`,

    .. math::

        \psi_k = a \frac{m_k}{T} + b \frac{e_k - \frac12 \Delta_{fa} n_k}{N},

    with :math:`m_k` the difference in misses of speaker k, :math:`e_k` the difference in
    false alarms in the :math:`n_k` non-target trials that k takes part in on either side.
    They add up to :math:`\Delta`. Each false alarm counts in full for both speakers. Where false
    alarms do not depend on speakers, the standard error is up to :math:`\sqrt 2` times too large,
    and `speaker_z_test` is more powerful. For few speakers the test is not exact. Of conditions,
    :math:`\psi_k` is the weighted sum.
    """
    samples = complete_samples((scores_a, scores_b), key, Speakers(**speakers), conditions)
    warn_of_unfit_systems(samples, (statistic, statistic_b))
    first, second = influences_of_both(samples, (statistic, statistic_b))
    # The losses of an area are those of 1 - AUC.
    sign = -1.0 if first.is_area else 1.0
    swaps = sign * first.minus(second).swaps
    return _permute(swaps, alternative, permutations, rng, progress=progress)


def _permute(
    shares: Float64Array, alternative: Alternative, permutations: int, rng: Rng, *, progress: bool
) -> PermutationTest:
    """Flip the signs of the shares of a difference."""
    check.check_choice(alternative, Alternative, "alternative")
    if check.as_nonnegative(permutations, "permutations") < 1 or permutations != int(permutations):
        raise check.invalid(
            "permutations", "be a whole number, at least 1", check.describe(permutations)
        )
    extremeness = {"two-sided": np.abs, "less": np.negative, "greater": np.positive}[alternative]
    n_speakers = shares.size
    if n_speakers < 2:
        raise check.invalid("key", "have at least two speakers with trials", f"{n_speakers}")
    # Differences that are equal in exact arithmetic may differ by rounding; the observed
    # one must count as extreme as itself.
    slack = 1e-12 * float(np.abs(shares).sum())
    observed = float(shares.sum())
    # Numbers of permutations are int64.
    exact = n_speakers < 60 and 2**n_speakers <= permutations
    n_rounds = 2**n_speakers if exact else int(permutations)
    given = check.as_generator(rng)
    generator = None if exact else given
    step = max(1, _SIGNS_PER_BLOCK // n_speakers)
    n_extreme = 0
    for start in progress_bar(range(0, n_rounds, step), shown=progress, unit="block"):
        rounds = range(start, min(start + step, n_rounds))
        swapped = signs_of(n_speakers, rounds, generator) @ shares
        n_extreme += int(np.count_nonzero(extremeness(swapped) >= extremeness(observed) - slack))
    # Random swaps: the observed labelling is one of the permutations, so p is never 0.
    p_value = n_extreme / n_rounds if exact else (n_extreme + 1) / (n_rounds + 1)
    # Independent signs: the variance of a sum of +-psi_k is the sum of their squares.
    spread = math.sqrt(float(np.dot(shares, shares)))
    return PermutationTest(observed, spread, p_value, alternative, n_speakers, n_rounds, exact)
