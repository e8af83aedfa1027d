"""Tests that two systems are equally good within a margin, or that one is not worse."""

from __future__ import annotations

import math
from typing import Literal, Unpack

import attrs
import scipy

from bosaris_py._arrays import Readable
from bosaris_py._validation import check_choice, check_fraction, describe, invalid
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.inputs import KeyLike
from bosaris_py.trials.scores import AnyScores
from bosaris_py.trials.speakers import SpeakerOptions
from bosaris_py.uncertainty.bootstrap_result import student_quantiles, unseen_part
from bosaris_py.uncertainty.comparison.speaker_z_test import SpeakerZTest, speaker_z_test
from bosaris_py.uncertainty.decisions import as_positive
from bosaris_py.uncertainty.influence.losses import LinearStatistic
from bosaris_py.uncertainty.influence.speaker_influence import SpeakerInfluence
from bosaris_py.uncertainty.influence.speakers_needed import SpeakersNeeded, speakers_for

Question = Literal["equivalent", "not worse"]


@attrs.frozen(eq=False, repr=False)
class EquivalenceTest(metaclass=Readable):
    """The outcome of `equivalence_test`.

    Parameters
    ----------
    question : {"equivalent", "not worse"}
        What was asked of the first system, beside the second.
    first, second : float
        The metric of each.
    change : float
        How much worse the first system is: the difference of the metrics (AUC: second minus first),
        or with `relative` their ratio less one (AUC: of 1 - AUC).
    low, high : float
        The interval of the change with the confidence 1 - 2 level. The question is answered if both
        ends lie within the margin; of "not worse" only the upper one counts. A `relative` margin m
        reaches from 1 / (1 + m) - 1 to m: either system may be the worse one by m.
    margin : float
        How much worse still counts as equally good; a share of the metric if `relative`.
    relative : bool
        Whether the margin is a share of the second system's metric.
    p_value : float
        The chance of so clear an answer if the change were as large as the margin.
    level : float
        Level of each one-sided test.
    degrees : float
        Degrees of freedom of Student's t.
    contrast : SpeakerInfluence
        The influence of speakers on the change; with `relative` on the logarithm of the ratio.
    """

    question: Question
    first: float
    second: float
    change: float
    low: float
    high: float
    margin: float
    relative: bool
    p_value: float
    level: float
    degrees: float
    contrast: SpeakerInfluence = attrs.field(kw_only=True)

    @property
    def shown(self) -> bool:
        """Whether the data show it. If not, they do not show the opposite either."""
        return self.p_value <= self.level

    def speakers_needed(self, *, power: float = 0.8, confidence: float = 0.9) -> SpeakersNeeded:
        r"""Return how many speakers would show it, with this power, if nothing differs in truth.

        Parameters
        ----------
        power : float, default: 0.8
            The chance of the answer, above the level and below 1.
        confidence
            As for `SpeakerZTest.speakers_needed`, like the result.

        Returns
        -------
        SpeakersNeeded

        Notes
        -----
        :math:`K (z_{1-\alpha} + z_{(1+power)/2})^2 SE^2 / m^2` for a pilot of K speakers and the
        margin m; of "not worse" with :math:`z_{power}`. A relative margin is :math:`\log(1+m)`.
        """
        chance = check_fraction(power, "power")
        if chance <= self.level:
            raise invalid("power", f"be above the level, {self.level:g}", f"{chance:g}")
        reached = 0.5 + 0.5 * chance if self.question == "equivalent" else chance
        reach = float(scipy.special.ndtri(1.0 - self.level) + scipy.special.ndtri(reached))
        size = math.log1p(self.margin) if self.relative else self.margin
        return speakers_for(
            (reach * self.contrast.null_error / size) ** 2, self.contrast, confidence
        )

    def __repr__(self) -> str:
        """Say what is shown, and the interval that shows it."""
        form = ".2%" if self.relative else ".4g"
        change, low, high, margin = (
            format(x, form) for x in (self.change, self.low, self.high, self.margin)
        )
        verdict = "shown" if self.shown else "not shown"
        what = "equivalent" if self.question == "equivalent" else "first not worse"
        within = "+-" if self.question == "equivalent" else "at most "
        if self.relative and self.question == "equivalent":
            # Either of the two may be the one that is worse by the margin.
            within = f"{-self.margin / (1.0 + self.margin):{form}} to +"
        return (
            f"{what}: {verdict}; {self.first:.4g} and {self.second:.4g}, first worse by {change} "
            f"({100 * (1 - 2 * self.level):g} % interval {low} to {high}; margin "
            f"{within}{margin}), p {self.p_value:.3g}"
        )


def equivalence_test(
    scores_a: AnyScores,
    scores_b: AnyScores,
    key: KeyLike,
    statistic: LinearStatistic,
    *,
    margin: float | None = None,
    relative: float | None = None,
    question: Question = "equivalent",
    level: float = 0.05,
    conditions: Conditions | None = None,
    **speakers: Unpack[SpeakerOptions],
) -> EquivalenceTest:
    r"""Test if two systems are equally good within a margin, or if the first is not worse.

    A difference that is not significant does not show that systems are equal. This test does: it
    assumes that they differ by the margin, and asks if the data contradict that.

    Parameters
    ----------
    scores_a, scores_b, key, statistic
        As for `speaker_z_test`.
    conditions, speakers, model_speakers, segment_speakers, unknown, strata
        As there.
    margin : float, optional
        The largest difference of the metric that does not matter, fixed before the data are seen.
    relative : float, optional
        The same as a share of the metric (AUC: of 1 - AUC), such as .05. Give one of the two.
    question : {"equivalent", "not worse"}, default: "equivalent"
        Whether the first system may be neither much worse nor much better, or only not much worse.
    level : float, default: 0.05
        Level of each one-sided test, below 1/2.

    Returns
    -------
    EquivalenceTest
        It says if the answer is shown, and plans a larger test.

    Raises
    ------
    InvalidInputError
        If both margins are given or none, or a metric is 0 where the margin is a share of it; or as
        `speaker_z_test`.

    Warns
    -----
    FewErrorsWarning, FewSpeakersWarning
        As `speaker_z_test`.

    Notes
    -----
    Two one-sided t-tests (D. J. Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15,
    1987) with the standard error and the degrees of `speaker_z_test`,

    .. math::

        p = \max\Big( P\big(t_\nu \le \tfrac{\Delta - m}{SE}\big),
                      P\big(t_\nu \ge \tfrac{\Delta + m}{SE}\big) \Big),

    of which "not worse" takes the first. With a relative margin r, :math:`\Delta` is the logarithm
    of the ratio of both metrics, and m is :math:`\log(1 + r)`. The influences of speakers are
    :math:`\psi_A / \theta_A - \psi_B / \theta_B`, because the metric that the margin is a share
    of is an estimate, too. No p-value is below :math:`2^{-K}` for K speakers who contribute. Where
    the systems decide all trials alike, p is :math:`(1 - m/M)^K` for the greatest difference M: so
    often do K speakers not show a difference of m.

    Examples
    --------
    >>> import warnings
    >>> import bosaris_py as bp
    >>> from bosaris_py import uncertainty as unc
    >>> warnings.simplefilter("ignore", bp.errors.FewSpeakersWarning)
    >>> test = bp.load_example("asvspoof2019_la").eval
    >>> xvector, ecapa = test.scores.values()
    >>> found = unc.equivalence_test(ecapa, xvector, test, unc.EER(), margin=0.005,
    ...                              question="not worse", speakers=("model", "speaker"))
    >>> found.shown, round(found.p_value, 4), round(found.high, 4)
    (True, 0.0068, 0.0005)
    """
    check_choice(question, Question, "question")
    alpha = check_fraction(level, "level")
    if alpha >= 0.5:
        raise invalid("level", "be below 1/2", f"{alpha:g}")
    if (margin is None) == (relative is None):
        raise invalid("margin", "be given, or `relative`", "both or none")
    if margin is not None:
        size = as_positive(margin, "margin")
    else:
        assert relative is not None, "one of the two is given"
        size = as_positive(relative, "relative")
        if size > 1.0:
            hint = "Is it in per cent? 5 % are 0.05."
            raise invalid("relative", "be a fraction, at most 1", f"{size:g}", hint)
    test = speaker_z_test(scores_a, scores_b, key, statistic, conditions=conditions, **speakers)
    return equivalence_of(test, size, question, alpha, relative=relative is not None)


def equivalence_of(
    test: SpeakerZTest, margin: float, question: Question, level: float, *, relative: bool
) -> EquivalenceTest:
    """Compare a difference, or a ratio, with a margin; see `equivalence_test`."""
    contrast, first = test.contrast, test.first
    # Losses: of an area 1 less the area, so that more is always worse.
    loss_b = first.estimate - contrast.estimate
    value, limit = contrast.estimate, margin
    if relative:
        if not (first.estimate > 0 and loss_b > 0):
            hint = "Give `margin`: a share of 0 is 0."
            raise invalid("relative", "be of metrics above 0", describe(loss_b), hint)
        value, limit = math.log(first.estimate / loss_b), math.log1p(margin)
        # To first order the influence on a logarithm is that on the metric, over the metric.
        one, two = first.multiplied(1.0 / first.estimate), test.second.multiplied(1.0 / loss_b)
        contrast = attrs.evolve(one.minus(two), estimate=value, scale=1.0)
    error, degrees = contrast.null_error, contrast.degrees
    tails = [_below(value - limit, error, degrees)]
    if question == "equivalent":
        tails.append(_below(-value - limit, error, degrees))
    p_value = max(*tails, 0.5 * contrast.least_p) if error > 0 else max(tails)
    half = student_quantiles(level, degrees)[1] * error
    change, low, high = value, value - half, value + half
    if relative:
        change, low, high = math.expm1(change), math.expm1(low), math.expm1(high)
    if error == 0 and test.left_open[1]:
        p_value, low, high = _of_equal_decisions(test, margin, question, level, relative=relative)
    return EquivalenceTest(
        question=question,
        first=1.0 - first.estimate if first.is_area else first.estimate,
        second=1.0 - loss_b if first.is_area else loss_b,
        change=change,
        low=low,
        high=high,
        margin=margin,
        relative=relative,
        p_value=p_value,
        level=level,
        degrees=degrees,
        contrast=contrast,
    )


def _of_equal_decisions(
    test: SpeakerZTest, margin: float, question: Question, level: float, *, relative: bool
) -> tuple[float, float, float]:
    """Return the p-value and the ends of what equal decisions of all trials leave open."""
    ((most, n_speakers),) = test.left_open[1]
    scale = test.first.estimate if relative else 1.0
    # Of "equivalent" the ratio may be 1 / (1 + margin).
    least = margin / (1.0 + margin) if relative and question == "equivalent" else margin
    # The level at which 1 - level^(1/K) of the greatest difference is the margin.
    p_value = max(1.0 - scale * least / most, 0.0) ** n_speakers
    half = unseen_part(test.left_open[1], level) / scale
    return p_value, max(-half, -1.0) if relative else -half, half


def _below(distance: float, error: float, degrees: float) -> float:
    """Return the p-value of a distance below zero."""
    if error == 0:
        return 0.0 if distance < 0 else 1.0
    return float(scipy.special.stdtr(degrees, distance / error))
