r"""What a threshold of one set of trials costs on another, with the uncertainty of both sets.

An interval of the test set alone takes the development set as given. Had its speakers been others,
the threshold would have been another, and so would the errors on the test set. Here the speakers of
both sets are drawn: of each replicate, the weighted development set chooses its threshold, and the
weighted test set is evaluated at it. Speakers of both sets have one weight.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, TypeGuard

import attrs
import numpy as np

from bosaris_py import _validation as check
from bosaris_py._cautions import cautions, warn_caller
from bosaris_py._parallel import whole_number
from bosaris_py._validation import Rng
from bosaris_py.errors import DegenerateReplicatesWarning
from bosaris_py.evaluation.results import Results
from bosaris_py.evaluation.transfer import ThresholdRule, choose_threshold, rates_at
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.roc import warn_if_inverted
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.inputs import are_large, read_scores, split_key
from bosaris_py.trials.key import Key
from bosaris_py.trials.metadata import TrialMetadata
from bosaris_py.trials.sample import ListedSample, Sample
from bosaris_py.trials.scores import Scores
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers, as_conditions, speaker_maps
from bosaris_py.uncertainty.decisions import Decisions, ErrorCounts, check_few_errors, rejected
from bosaris_py.uncertainty.influence.speaker_influence import (
    FEWEST_FOR_INTERVAL,
    check_few_speakers,
)
from bosaris_py.uncertainty.threshold_transfer import result
from bosaris_py.uncertainty.threshold_transfer.draws import DrawnSet


class _Given(NamedTuple):
    """A set whose trials have ids."""

    scores: Scores
    key: Key
    metadata: TrialMetadata | None


def transfer(
    dev: Results | Sequence[object],
    test: Results | Sequence[object],
    *,
    rule: str = "eer",
    point: OperatingPoint | float = 0.5,
    speakers: SpeakersLike = None,
    conditions: object = None,
    replications: int = 0,
    confidence: float = 0.95,
    interval: result.ReplicateInterval = "corrected",
    rng: Rng = None,
) -> result.Transfer:
    r"""Evaluate a test set at the threshold that a development set chooses.

    Parameters
    ----------
    dev, test : pair (scores, key), or Results
        Scores of both sets, each with its key; the key may be a pair (key, metadata), and both may
        be files. HDF5 files that are large are read in blocks if nothing is drawn. `Results` have
        no speakers.
    rule : str, default: "eer"
        How dev chooses. ``"eer"``: miss rate and false-alarm rate are nearest. ``"min-cost"``: the
        cost at `point` is least. ``"fmr=0.001"``, ``"fnmr=0.01"``: the other rate is least while
        this one is at most so high. ``"bayes"``: the Bayes threshold of `point`, for
        log-likelihood-ratios; dev chooses nothing.
    point : OperatingPoint or float, default: 0.5
        Prior and costs of `Transfer.cost`; at 0.5 it is the HTER.
    speakers : IdMap, dict, callable, str, or pair of these, optional
        The speaker of each model and segment of both sets, as for `evaluate`. A key with one model,
        whose segments have speakers, is that of a countermeasure: a trial has one person. By
        default each model is a speaker of its own.
    conditions : Conditions, name or names of columns, or pair of Conditions, optional
        Rates are then condition-weighted, in both sets.
    replications : int, default: 0
        Number of replicates, in which the speakers of both sets are drawn.
    confidence : float, default: 0.95
        Nominal coverage of intervals, strictly between 0 and 1.
    interval : {"corrected", "percentile"}, default: "corrected"
        How replicates make intervals, see `Transfer.interval`.
    rng : Generator, int or None
        Source of randomness. Two systems with the same seed have the same draws.

    Returns
    -------
    Transfer
        Threshold, rates, cost, regret, and their intervals.

    Raises
    ------
    InvalidInputError
        If dev has too few trials to show the rate of the rule, or if both sets have ids in common
        and `speakers` does not say who these are.

    Warns
    -----
    FewErrorsWarning
        If a rate of the test set rests on fewer than 30 errors, or the threshold of ``"fmr=..."``
        or ``"fnmr=..."`` on as few of dev.
    FewSpeakersWarning
        If fewer than 20 speakers of a set are drawn.
    DegenerateReplicatesWarning
        If replicates lost a class.
    SuspectScoresWarning
        With ``"bayes"``, if the scores cannot be log-likelihood-ratios.

    Notes
    -----
    All thresholds in the gap between two neighbouring scores of dev decide dev alike. The threshold
    is the midpoint of the gap; `Transfer.gap` has its ends.

    In a replicate each speaker has a weight, a multinomial count. Those of dev and of test are
    drawn independently. A speaker of both sets has one weight: these are drawn among themselves. A
    trial counts with the product of the weights of its persons. Dev then chooses anew.

    The interval is of the cost at the threshold that the rule would choose among all speakers like
    those of dev, on all speakers like those of test.

    Examples
    --------
    >>> import bosaris_py as bp
    >>> dev, test = bp.load_example("asvspoof2019_la")
    >>> who = ("model", "speaker")
    >>> found = bp.transfer(dev=(dev.scores["ecapa"], dev), test=(test.scores["ecapa"], test),
    ...                     rule="min-cost", speakers=who, replications=200, rng=1)
    >>> print(f"{found.hter:.2%} at {found.threshold:.4f}, {found.regret:.2%} above the least")
    1.47% at 0.4563, 0.06% above the least
    >>> found.low < found.hter < found.high
    True
    """
    chosen_rule, cost = ThresholdRule.parse(rule), result.as_point(point)
    level, seed = check.check_fraction(confidence, "confidence"), check.as_seed(rng)
    check.check_choice(interval, result.ReplicateInterval, "interval")
    count = whole_number(replications, 0, "replications")
    by_speaker = bool(count) or speakers is not None
    if count:
        whole_number(count, result.FEWEST_REPLICATES, "replications")
    whole = by_speaker or conditions is not None
    names = ("dev", "test")
    pair = [_read(given, name, whole=whole) for given, name in zip((dev, test), names, strict=True)]
    if by_speaker and speakers is None:
        _refuse_common(*(one.key for one in pair if isinstance(one, _Given)))
    weights = conditions if _are_two(conditions) else (conditions, conditions)
    found_sets: list[DrawnSet] = []
    samples: list[Sample] = []
    for name, given, some in zip(names, pair, weights, strict=True):
        with cautions(part=name):
            if by_speaker:
                found_sets.append(_drawn_set(given, some, speakers))
                samples.append(found_sets[-1].sample)
            else:
                samples.append(_sample(given, some))
    of_dev, of_test = samples
    for name, sample in zip(names, samples, strict=True):
        with cautions(part=name):
            area = partial(getattr, sample.roc, "auc")
            warn_if_inverted(sample.hull.eer, area, sample.n_tar, sample.n_non)
    if chosen_rule.kind == "bayes":
        Results.from_sample(of_test).act_dcf(cost)
    chosen = choose_threshold(of_dev, chosen_rule, cost)
    frr, far = rates_at(of_test, chosen.value)
    errors = _errors(of_test, chosen.value, (frr, far))
    found = result.Transfer(
        chosen=chosen,
        rule=str(chosen_rule),
        point=cost,
        errors=errors,
        frr=frr,
        far=far,
        own_minimum=float(of_test.hull.min_dcf(cost)),
        confidence=level,
        samples=(of_dev, of_test),
        interval=interval,
        seed=seed,
    )
    on_dev = {"fmr": chosen.far * of_dev.n_non, "fnmr": chosen.frr * of_dev.n_tar}
    if chosen_rule.kind in on_dev:
        check_few_errors(round(on_dev[chosen_rule.kind]), "threshold of dev")
    check_few_errors(errors.misses, "miss rate")
    check_few_errors(errors.false_alarms, "false-alarm rate")
    if not by_speaker:
        return found
    drawn_sets = found_sets[0], found_sets[1]
    counts = {"threshold": drawn_sets[0].n_speakers, "cost": drawn_sets[1].n_speakers}
    numbers = counts["threshold"], counts["cost"]
    found = attrs.evolve(found, sets=drawn_sets, n_speakers=numbers)
    check_few_speakers(counts, FEWEST_FOR_INTERVAL)
    if not count:
        return found
    found = found._drawn(count, seed)
    assert found._replicates is not None
    lost = int(np.count_nonzero(np.isnan(found._replicates.both["cost"])))
    if lost:
        finding = f"{lost} of {count} replicates lost a class of trials."
        advice = "Intervals leave them out, and may be too short."
        warn_caller(finding, DegenerateReplicatesWarning, advice, count=lost)
    return found


def _are_two(conditions: object) -> TypeGuard[tuple[Conditions, Conditions]]:
    if not (isinstance(conditions, tuple) and len(conditions) == 2):
        return False
    return all(isinstance(part, Conditions) for part in conditions)


def _read(given: object, name: str, *, whole: bool) -> _Given | Sample:
    """Read a set; large files in blocks unless they are needed `whole`."""
    if isinstance(given, Results):
        if whole:
            hint = "Give the pair (scores, key), whose trials have ids."
            raise check.invalid(name, "have speakers or conditions", check.describe(given), hint)
        return given.sample
    if not (isinstance(given, tuple | list) and len(given) == 2):
        hint = f"{name}=(scores, key); lists of scores make Results(tar, non)."
        raise check.invalid(
            name, "be a pair (scores, key), or Results", check.describe(given), hint
        )
    scores, key = given
    files = [isinstance(part, str | os.PathLike) for part in (scores, key)]
    if all(files) and not whole and are_large([scores, key]):
        return Results.from_files(scores, key).sample
    if files[0]:
        scores = read_scores(scores)
    if not isinstance(scores, Scores):
        hint = f"{name}=(scores, key), in this order; lists of scores make Results(tar, non)."
        raise check.invalid(name, "begin with Scores or a file", check.describe(scores), hint)
    return _Given(scores, *split_key(key))


def _sample(given: _Given | Sample, conditions: object) -> Sample:
    """Join scores and key, without speakers."""
    if not isinstance(given, _Given):
        return given
    weights = as_conditions(conditions, given.key, given.metadata)
    return ListedSample.of(given.scores, given.key, weights)


def _drawn_set(given: _Given | Sample, conditions: object, speakers: SpeakersLike) -> DrawnSet:
    """Join scores and key with the speakers who are drawn."""
    assert isinstance(given, _Given), "a set that is read whole has ids"
    weights = as_conditions(conditions, given.key, given.metadata)
    maps = speaker_maps(speakers, given.key, given.metadata)
    rows, _ = given.key.trial_positions()
    # Of a detector that is the only model, a trial has one person.
    of_segments = maps[0] is None and maps[1] is not None and bool(np.all(rows == rows[:1]))
    if of_segments:
        who = TrialSpeakers.of_segments_only(given.key, maps[1])
    else:
        who = TrialSpeakers.of_key(given.key, maps)
    sample = ListedSample.of(given.scores, given.key, weights, lambda: who)
    return DrawnSet.of(sample, who, of_segments=of_segments)


def _refuse_common(dev: Key, test: Key) -> None:
    """Raise if ids are in both sets and their persons are not named."""
    for side, one, other in zip(("models", "segments"), dev.ids, test.ids, strict=True):
        common = np.intersect1d(one, other)
        if common.size:
            expected = f"tell the speakers of {common.size} {side} that are in dev and in test"
            hint = "Are they the same persons? Give a column, a function of the id, or a dict."
            raise check.invalid(
                "speakers", expected, f"None ({check.list_some(common.tolist())})", hint
            )


def _errors(sample: Sample, threshold: float, rates: tuple[float, float]) -> ErrorCounts:
    """Return the number of errors of all trials, whatever their conditions weigh."""
    if isinstance(sample, ListedSample) and not sample.tar.weights is not None:
        return Decisions(*(~rejected(part, threshold) for part in sample.lists)).counts
    return ErrorCounts.from_rates(rates[0], sample.n_tar, rates[1], sample.n_non)
