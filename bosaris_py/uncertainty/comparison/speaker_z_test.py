"""The z-test of two systems by speaker: no resampling."""

from __future__ import annotations

import math

import attrs
import numpy as np
import scipy

import bosaris_py.uncertainty.resampling as resampling
from bosaris_py._validation import as_number, check_fraction, describe, invalid
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.inputs import KeyLike, split_key
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores
from bosaris_py.trials.speakers import Speakers, SpeakersLike, Unknown
from bosaris_py.uncertainty.bootstrap_result import Alternative, LeftOpen, ZTest, z_test
from bosaris_py.uncertainty.decisions import as_positive, check_few_errors
from bosaris_py.uncertainty.influence.losses import NOT_FIXED, LinearStatistic, losses_of
from bosaris_py.uncertainty.influence.speaker_influence import (
    FEWEST_FOR_TEST,
    METHOD,
    SpeakerInfluence,
    check_influences,
)
from bosaris_py.uncertainty.influence.speakers_needed import SpeakersNeeded, speakers_for
from bosaris_py.uncertainty.plan_statistics import PrimaryCost, viewed
from bosaris_py.uncertainty.statistics.functions import warn_unless_fit
from bosaris_py.uncertainty.statistics.statistic import WhichClass


@attrs.frozen(repr=False)
class SpeakerZTest(ZTest):
    """The outcome of `speaker_z_test`: a t-test by speaker.

    Parameters
    ----------
    difference, standard_error, z, p_value, alternative, method, degrees, least_p, left_open
        As in `ZTest`.
    first, second, contrast : SpeakerInfluence
        The influence of speakers on the metric of either system, and on the difference.
    """

    first: SpeakerInfluence = attrs.field(eq=False, kw_only=True)
    second: SpeakerInfluence = attrs.field(eq=False, kw_only=True)
    contrast: SpeakerInfluence = attrs.field(eq=False, kw_only=True)

    @property
    def effective_speakers(self) -> float:
        """How many speakers who contribute alike to the difference would be as many."""
        return self.contrast.effective_speakers

    def speakers_needed(
        self,
        *,
        relative: float | None = None,
        difference: float | None = None,
        power: float = 0.8,
        level: float = 0.05,
        confidence: float = 0.9,
    ) -> SpeakersNeeded:
        r"""Return how many speakers would show a difference of this size, with this power.

        Parameters
        ----------
        relative : float, optional
            The difference as a fraction of the metric of the first system (AUC: of 1 - AUC).
        difference : float, optional
            The difference itself. Give one of the two.
        power : float, default: 0.8
            The chance of finding the difference, above `level` and below 1.
        level : float, default: 0.05
            Level of the two-sided test.
        confidence : float, default: 0.9
            Of the interval that the pilot's own uncertainty leaves.

        Returns
        -------
        SpeakersNeeded
            The upper end, with the estimate and the lower end.

        Notes
        -----
        :math:`K (z_{1-\alpha/2} + z_{power})^2 SE^2 / \Delta^2` for a pilot of K speakers; its
        variance has the interval of a chi-square distribution, see `SpeakersNeeded`.
        """
        if (relative is None) == (difference is None):
            raise invalid("relative", "be given, or `difference`", "both or none")
        if difference is None:
            share = as_positive(relative or 0.0, "relative")
            if share > 1.0:
                hint = "Is it in per cent? 10 % are 0.1."
                raise invalid("relative", "be a fraction, at most 1", f"{share:g}", hint)
            size = share * abs(self.first.estimate)
        else:
            given = as_number(difference, "difference", "be finite", math.isfinite)
            size = as_positive(abs(given), "difference")
        alpha, chance = check_fraction(level, "level"), check_fraction(power, "power")
        if chance <= alpha:
            raise invalid("power", f"be above `level`, {alpha:g}", f"{chance:g}")
        if size == 0:
            hint = "Give `difference`: a fraction of 0 is 0."
            raise invalid("relative", "be of a metric above 0", "0", hint)
        reach = float(scipy.special.ndtri(1.0 - 0.5 * alpha) + scipy.special.ndtri(chance))
        return speakers_for((reach * self.standard_error / size) ** 2, self.contrast, confidence)


def speaker_z_test(
    scores_a: AnyScores,
    scores_b: AnyScores,
    key: KeyLike,
    statistic: LinearStatistic,
    statistic_b: LinearStatistic | None = None,
    *,
    speakers: SpeakersLike = None,
    unknown: Unknown = "refuse",
    conditions: Conditions | None = None,
    alternative: Alternative = "two-sided",
) -> SpeakerZTest:
    r"""Test if a metric of two systems differs, letting only speakers be independent.

    The paired t-test with the standard error of `speaker_interval`, applied to the difference of
    the losses on each trial, and the same degrees of freedom: K - 1 for K speakers with equally
    many trials, else fewer. The p-value is not below :math:`2^{1-K}`, that of flips of signs.

    Parameters
    ----------
    scores_a, scores_b, key
        As for `paired_bootstrap`.
    statistic : Statistic or OperatingPoint
        The metric, as for `speaker_interval`.
    statistic_b : DCF, ActDCF or OperatingPoint, optional
        A cost for the second system, where its threshold is another one.
    speakers, unknown, conditions
        Speakers of the trials and weights of conditions, as for `speaker_errors`.
    alternative : {"two-sided", "less", "greater"}, default: "two-sided"
        Whether any difference counts, or only a first system that is better
        ("less") or worse ("greater").

    Returns
    -------
    SpeakerZTest
        With the difference of the metrics; plans a larger comparison. Where the systems decide all
        trials alike, p is 1 and `interval` counts :math:`1 - (\alpha/2)^{1/K}` of the greatest
        difference, for K speakers; 0 if their scores are the same.

    Raises
    ------
    TrialMismatchError
        If a trial of the key has no score in one of the systems, or is in no condition.

    Warns
    -----
    FewErrorsWarning
        If systems disagree at a fixed threshold on fewer than 30 trials of a class.
    FewSpeakersWarning
        If the difference rests on fewer than 30 effective speakers.
    """
    who = Speakers(speakers, unknown)
    samples = complete_samples((scores_a, scores_b), key, who, conditions)
    if isinstance(statistic, PrimaryCost):
        plain_key, metadata = split_key(key)
        pairs = zip(samples, (scores_a, scores_b), strict=True)
        plain = statistic.plain
        one, two = (viewed(s, statistic, scores, plain_key, metadata)[0] for s, scores in pairs)
        samples, statistic = (one, two), plain
    warn_of_unfit_systems(samples, (statistic, statistic_b))
    return z_test_of_samples(samples, (statistic, statistic_b), alternative)


def z_test_of_samples(
    samples: tuple[ListedSample, ListedSample],
    statistics: tuple[LinearStatistic, LinearStatistic | None],
    alternative: Alternative,
) -> SpeakerZTest:
    """Test if a metric of two samples of the same trials differs, see `speaker_z_test`."""
    first, second = influences_of_both(samples, statistics)
    contrast = first.minus(second)
    check_influences({"difference": contrast}, FEWEST_FOR_TEST)
    test = z_test(
        contrast.difference,
        contrast.null_error,
        alternative,
        METHOD,
        degrees=contrast.degrees,
        least_p=contrast.least_p,
        left_open=_left_open(contrast, samples),
    )
    fields = attrs.astuple(test, recurse=False)
    return SpeakerZTest(*fields, first=first, second=second, contrast=contrast)


def _left_open(
    contrast: SpeakerInfluence, samples: tuple[ListedSample, ListedSample]
) -> tuple[LeftOpen, LeftOpen]:
    """Return what decisions that are all alike leave open; of the same scores nothing."""
    most = contrast.bounds[1]
    if contrast.null_error > 0 or math.isinf(most):
        return (), ()
    both = zip(*(sample.lists for sample in samples), strict=True)
    if all(np.array_equal(a, b) for a, b in both):
        return (), ()
    rates: LeftOpen = ((most, float(min(contrast.pairs.n_by_class))),)
    return rates, rates


def complete_samples(
    systems: tuple[AnyScores, AnyScores], key: KeyLike, who: Speakers, conditions: Conditions | None
) -> tuple[ListedSample, ListedSample]:
    """Join two systems with a key of which each has scored all trials."""
    key, metadata = split_key(key)
    resampling.refuse_mixture(metadata)
    for n_trials, what in ((key.n_tar, "targets"), (key.n_non, "non-targets")):
        if n_trials == 0:
            raise invalid("key", f"have {what}", "none")
    for scores, name in zip(systems, ("scores_a", "scores_b"), strict=True):
        resampling.check_system(scores, name)
        resampling.refuse_missing(scores, key, name)
    both = key, metadata
    first = ListedSample.of(systems[0], key, conditions, lambda: who.of_trials(both))
    resampling.refuse_repeated(first)
    # Both systems share the pairs of speakers.
    _ = first.pairs
    return first, first.of_system(systems[1], key, conditions)


def warn_of_unfit_systems(
    samples: tuple[ListedSample, ListedSample], statistics: tuple[object, object]
) -> None:
    """Warn once of each system whose scores cannot be log-likelihood-ratios."""
    both = zip(samples, ("scores_a", "scores_b"), statistics, strict=True)
    for sample, name, statistic in both:
        warn_unless_fit([statistics[0] if statistic is None else statistic], sample, name)


def influences_of_both(
    samples: tuple[ListedSample, ListedSample],
    statistics: tuple[LinearStatistic, LinearStatistic | None],
) -> tuple[SpeakerInfluence, SpeakerInfluence]:
    """Find the influence of speakers on the metrics of two systems on the same trials."""
    chosen = statistics[0], statistics[0] if statistics[1] is None else statistics[1]
    losses = [
        losses_of(statistic, sample, name)
        for statistic, sample, name in zip(
            chosen, samples, ("statistic", "statistic_b"), strict=True
        )
    ]
    # Costs at fixed thresholds have prices; all others must be the same metric.
    fixed = not any(isinstance(statistic, NOT_FIXED) for statistic in chosen)
    if chosen[0] != chosen[1] if not fixed else losses[0].most != losses[1].most:
        expected = "have the same prior and costs as `statistic`"
        raise invalid("statistic_b", expected, describe(statistics[1]))
    if fixed:
        classes: tuple[WhichClass, WhichClass] = (0, 1)
        strata = samples[0].strata
        for which, what in zip(classes, ("miss", "false-alarm"), strict=True):
            if losses[0].most[which] == 0:
                continue
            a, b = (each.of(which, sample) for each, sample in zip(losses, samples, strict=True))
            differing = resampling.effective_errors(
                strata[which].totals(a != b), strata[which].factors
            )
            check_few_errors(float(differing), f"difference of the {what} rates")
    first, second = (SpeakerInfluence.on(*each) for each in zip(chosen, samples, strict=True))
    return first, second
