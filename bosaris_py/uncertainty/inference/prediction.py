"""What the next evaluation may show: other speakers, and other runs of the training."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Unpack

import attrs
import numpy as np

from bosaris_py._arrays import Float64Array, mark_read_only
from bosaris_py._validation import as_number, describe, invalid
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.inputs import KeyLike, split_key
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores
from bosaris_py.trials.speakers import SpeakerOptions, Speakers
from bosaris_py.uncertainty.bootstrap_result import Alternative, Interval, ZTest, z_test
from bosaris_py.uncertainty.influence.losses import LinearStatistic
from bosaris_py.uncertainty.influence.open_ends import open_ends
from bosaris_py.uncertainty.influence.speaker_influence import (
    FEWEST_FOR_INTERVAL,
    FEWEST_FOR_TEST,
    SpeakerInfluence,
    check_influences,
)
from bosaris_py.uncertainty.resampling import Resampling, check_system, refuse_missing
from bosaris_py.uncertainty.statistics.functions import warn_unless_fit
from bosaris_py.uncertainty.statistics.statistic import Statistic


def prediction_interval(
    scores: AnyScores,
    key: KeyLike,
    statistic: LinearStatistic,
    *,
    n_speakers: int | None = None,
    conditions: Conditions | None = None,
    confidence: float = 0.95,
    **speakers: Unpack[SpeakerOptions],
) -> Interval:
    r"""Return the interval in which the metric of another test set will lie.

    A confidence interval is about the metric of all speakers. Another set of speakers varies
    itself, so that its metric is outside that interval far more often than 5 %.

    Parameters
    ----------
    scores, key, statistic, conditions, speakers, model_speakers, segment_speakers, unknown, strata
        As for `speaker_interval`.
    n_speakers : int, optional
        Number of speakers of the other set, at least 2, with trials as in this one; by default as
        many as here.
    confidence : float, default: 0.95
        Strictly between 0 and 1.

    Returns
    -------
    Interval
        Its standard error is that of the prediction.

    Warns
    -----
    FewSpeakersWarning
        As from `speaker_interval`.

    See Also
    --------
    speaker_interval : The confidence interval of the metric.

    Notes
    -----
    For K speakers here and K' there the ends are
    :math:`\hat\theta \exp(\pm t\, SE \sqrt{1 + K / K'} / \hat\theta)` with standard error and
    degrees of `speaker_interval`; of the AUC those of 1 - AUC. Speakers, recordings and design of
    the other set must be like those of this one: a new channel or language is not predicted. Where
    a class of n speakers has no loss, of n' others as large a share may have the greatest as is
    above :math:`\alpha/2` in :math:`\binom{n'}{j} / \binom{n+n'}{j}`, the chance that the j
    speakers who have a loss are all among the others.

    Examples
    --------
    >>> import bosaris_py as bp
    >>> from bosaris_py import uncertainty as unc
    >>> test = bp.load_example("asvspoof2019_la").eval
    >>> known = test.scores["xvector"], test, unc.Cllr()
    >>> here = unc.speaker_interval(*known, speakers=("model", "speaker"))
    >>> there = unc.prediction_interval(*known, n_speakers=20, speakers=("model", "speaker"))
    >>> print(f"{here.low:.2f} to {here.high:.2f}; another 20 speakers {there.low:.2f} to "
    ...       f"{there.high:.2f}")
    0.20 to 0.41; another 20 speakers 0.14 to 0.60
    """
    sample = Resampling("speaker").sample(scores, key, Speakers(**speakers), conditions)
    influence = SpeakerInfluence.on(statistic, sample)
    warn_unless_fit([statistic], sample)
    check_influences({"metric": influence}, FEWEST_FOR_INTERVAL)
    here = influence.pairs.n_speakers
    there = here if n_speakers is None else n_speakers
    if as_number(there, "n_speakers", "be a number", math.isfinite) < 2 or there != int(there):
        raise invalid("n_speakers", "be a whole number, at least 2", describe(n_speakers))
    return _foretold(influence.of_others(there), statistic, sample, confidence)


def _foretold(
    influence: SpeakerInfluence, statistic: LinearStatistic, sample: ListedSample, confidence: float
) -> Interval:
    """Return the interval of the metric of other speakers, see `prediction_interval`."""
    interval = influence.interval(confidence, f"prediction for {influence.n_others:g} speakers")
    if interval.low < interval.high or not isinstance(statistic, Statistic):
        return interval
    # What data without variation leave open: of as many speakers as have the same chances.
    tail = 0.5 - 0.5 * interval.confidence
    units = math.log(tail) / np.log1p(-influence.chances(tail))
    low, high = map(float, open_ends(statistic, sample, (units[0], units[1]))(confidence))
    remade = functools.partial(_foretold, influence, statistic, sample)
    return attrs.evolve(interval, low=low, high=high, remade=remade)


@attrs.frozen(repr=False)
class RunsTest(ZTest):
    """The outcome of `compare_runs`: a t-test of two methods of which several runs were trained.

    Parameters
    ----------
    difference, standard_error, z, p_value, alternative, method, degrees, least_p, left_open
        As in `ZTest`.
    values : tuple of two (r,) ndarrays of float64
        The metric of each run of the first and of the second method.
    speaker_variance : float
        Variance of the difference of the means of the runs due to speakers and their trials.
    run_variance : float
        Variance of one run due to its training, both methods pooled: an unbiased estimate, below 0
        where runs differ by less than their speakers explain. The standard error then takes 0.
    """

    values: tuple[Float64Array, Float64Array] = attrs.field(eq=False, kw_only=True)
    speaker_variance: float = attrs.field(kw_only=True)
    run_variance: float = attrs.field(kw_only=True)


def compare_runs(
    systems: Mapping[str, Sequence[AnyScores]],
    key: KeyLike,
    statistic: LinearStatistic,
    *,
    conditions: Conditions | None = None,
    alternative: Alternative = "two-sided",
    **speakers: Unpack[SpeakerOptions],
) -> RunsTest:
    r"""Test if a metric of two methods differs, each trained several times.

    The scores of one run say nothing of how much another run of the same training would differ. A
    test of one run each takes a good run for a good method.

    Parameters
    ----------
    systems : mapping of str to sequence of Scores or FlatScores
        Two methods by name, each with the scores of its runs, ``{"a": [run1, run2, run3], ...}``;
        together at least three runs. Each has a score of every trial.
    key, statistic, conditions
        As for `speaker_z_test`.
    alternative : {"two-sided", "less", "greater"}, default: "two-sided"
        Whether any difference counts, or only a first method that is better ("less") or worse
        ("greater").
    speakers, model_speakers, segment_speakers, unknown, strata
        As for `speaker_z_test`.

    Returns
    -------
    RunsTest
        With the difference of the means of the runs, and the components of its variance.

    Raises
    ------
    InvalidInputError
        If there are not two methods, or fewer than three runs.

    Warns
    -----
    FewSpeakersWarning
        As `speaker_z_test`.

    See Also
    --------
    speaker_z_test : One run of each method.

    Notes
    -----
    .. math::

        SE^2 = V + \max(0, s^2) \Big(\frac{1}{R_a} + \frac{1}{R_b}\Big), \quad
        s^2 = \frac{\sum_{m,r} (\hat\theta_{mr} - \bar\theta_m)^2 - D}{R_a + R_b - 2}.

    V is the variance by speaker of the difference of the means of the runs. D is the sum of the
    variances by speaker of the differences of runs to their mean: what speakers make runs differ
    by. The degrees of Student's t are those of Satterthwaite, with
    :math:`R_a + R_b - 2` for :math:`s^2` and those of `speaker_z_test` for V.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import Key, Scores
    >>> from bosaris_py import uncertainty as unc
    >>> rng = np.random.default_rng(1)
    >>> speakers, same = [f"speaker{i}" for i in range(60)], np.eye(60, dtype=bool)
    >>> key = Key(speakers, speakers, same, ~same)
    >>> def run(strength):
    ...     training = rng.normal(0.0, 0.3)
    ...     noise = rng.normal(size=(60, 60))
    ...     return Scores((strength + training) * same + noise, speakers, speakers)
    >>> runs = {"a": [run(3.0) for _ in range(3)], "b": [run(3.0) for _ in range(3)]}
    >>> found = unc.compare_runs(runs, key, unc.Cllr())
    >>> bool(found.run_variance > 0), bool(found.p_value > 0.05)
    (True, True)
    """
    given: object = systems
    if not isinstance(given, Mapping) or len(systems) != 2:
        expected = "map the names of two methods to their runs"
        raise invalid("systems", expected, describe(systems))
    found: dict[str, list[SpeakerInfluence]] = {}
    for name, sample in samples_of_runs(systems, key, conditions, Speakers(**speakers)):
        warn_unless_fit([statistic], sample, name)
        found.setdefault(name, []).append(SpeakerInfluence.on(statistic, sample))
    first, second = found.values()
    return compare_influences(first, second, alternative)


def samples_of_runs(
    systems: Mapping[str, AnyScores | Sequence[AnyScores]],
    key: KeyLike,
    conditions: Conditions | None,
    who: Speakers,
) -> Iterator[tuple[str, ListedSample]]:
    """Yield the sample of each run, with the name of its method; all share pairs of speakers."""
    given: object = systems
    if not isinstance(given, Mapping) or not systems:
        raise invalid("systems", "map the names of methods to their runs", describe(systems))
    plain, metadata = split_key(key)
    first: ListedSample | None = None
    for name, runs in systems.items():
        listed = [runs] if isinstance(runs, AnyScores) else runs
        if not isinstance(listed, (list, tuple)) or not listed:
            raise invalid(f"systems[{name!r}]", "be a list of runs", describe(runs))
        for number, scores in enumerate(listed):
            check_system(scores, f"systems[{name!r}][{number}]")
            refuse_missing(scores, plain, f"systems[{name!r}][{number}]")
            if first is None:
                sample = first = ListedSample.of(
                    scores, plain, conditions, lambda: who.of_trials((plain, metadata))
                )
                _ = first.pairs
            else:
                sample = first.of_system(scores, plain, conditions)
            yield name, sample


def spread_of_runs(runs: Sequence[SpeakerInfluence]) -> tuple[float, float]:
    """Return the squares of runs about their mean, and what speakers make of these."""
    mean = SpeakerInfluence.mean_of(runs)
    gaps = [run.minus(mean) for run in runs]
    return sum(gap.estimate**2 for gap in gaps), sum(gap.standard_error**2 for gap in gaps)


def compare_influences(
    first: Sequence[SpeakerInfluence], second: Sequence[SpeakerInfluence], alternative: Alternative
) -> RunsTest:
    """Compare the runs of two methods by the influences of speakers, see `compare_runs`."""
    counts = np.array([len(first), len(second)])
    run_degrees = int(counts.sum()) - 2
    if run_degrees < 1:
        hint = "With one run of each, speaker_z_test compares the runs, not the methods."
        raise invalid("systems", "have three runs or more", f"{counts.sum()}", hint)
    means = [SpeakerInfluence.mean_of(runs) for runs in (first, second)]
    contrast = means[0].minus(means[1])
    check_influences({"difference": contrast}, FEWEST_FOR_TEST)
    (squares, explained), (more, other) = map(spread_of_runs, (first, second))
    of_runs = (squares + more - explained - other) / run_degrees
    above = max(of_runs, 0.0)
    of_speakers = contrast.standard_error**2
    added = above * float((1.0 / counts).sum())
    if above == 0:
        # Of speakers who are all alike, over flips of their signs.
        of_speakers = contrast.null_error**2
    total = of_speakers + added
    degrees = contrast.degrees
    if added > 0:
        degrees = total**2 / (of_speakers**2 / contrast.degrees + added**2 / run_degrees)
    test = z_test(
        contrast.difference,
        math.sqrt(total),
        alternative,
        "speakers and runs",
        degrees=degrees,
        least_p=contrast.least_p,
    )
    sign = -1.0 if contrast.is_area else 1.0
    values = [
        mark_read_only(np.array([contrast.is_area + sign * run.estimate for run in runs]))
        for runs in (first, second)
    ]
    return RunsTest(
        *attrs.astuple(test),
        values=(values[0], values[1]),
        speaker_variance=of_speakers,
        run_variance=of_runs,
    )
