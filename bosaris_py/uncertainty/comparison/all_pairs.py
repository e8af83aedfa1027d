"""All pairs of systems compared in one call."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

import bosaris_py.uncertainty.plan_statistics as plan_statistics
import bosaris_py.uncertainty.resampling as resampling
from bosaris_py._cautions import cautions
from bosaris_py._parallel import progress_bar
from bosaris_py._tables import annotated
from bosaris_py._validation import Rng, as_seed, check_choice, check_fraction, invalid
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.inputs import KeyLike, SystemsLike, as_systems, split_key
from bosaris_py.trials.key import AnyKey
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores
from bosaris_py.trials.speakers import Speakers, SpeakersLike, Unknown
from bosaris_py.uncertainty.bootstrap_result import Alternative, IntervalKind
from bosaris_py.uncertainty.bootstrapping import metric_name
from bosaris_py.uncertainty.comparison.paired import paired_samples
from bosaris_py.uncertainty.comparison.speaker_z_test import z_test_of_samples
from bosaris_py.uncertainty.comparison.table import Comparison, ComparisonTable, name_of_pair
from bosaris_py.uncertainty.influence.losses import has_losses
from bosaris_py.uncertainty.plan_statistics import PrimaryCost, ViewedStatistic
from bosaris_py.uncertainty.resampling import Resampling, ScoresMethod
from bosaris_py.uncertainty.spoof_statistics import SpoofStatistic
from bosaris_py.uncertainty.statistics.class_means import DCF, ActDCF
from bosaris_py.uncertainty.statistics.functions import StatisticLike, as_statistic, warn_unless_fit
from bosaris_py.uncertainty.statistics.roc_functions import MinDCF

# All pairs of several systems.


@annotated
def compare_systems(
    systems: SystemsLike,
    key: KeyLike,
    statistic: StatisticLike | ViewedStatistic,
    *,
    speakers: SpeakersLike = None,
    unknown: Unknown = "refuse",
    level: float = 0.05,
    method: ScoresMethod = "speaker",
    pigeonhole: bool = False,
    conditions: Conditions | None = None,
    alternative: Alternative = "two-sided",
    replications: int = 2000,
    confidence: float = 0.95,
    interval: IntervalKind | None = None,
    rng: Rng = None,
    workers: int = 1,
    progress: bool = False,
) -> ComparisonTable:
    """Compare each pair of several systems, and correct the p-values for their number.

    Parameters
    ----------
    systems : mapping of str to Scores or FlatScores
        At least two systems by name; a list is numbered.
    key : Key or FlatKey, or pair (key, metadata)
        Which trials are targets and which non-targets; such as `read_key` returns.
    statistic : Statistic, OperatingPoint or callable
        The metric, a number. A built-in metric is compared by `speaker_z_test`, any other as by
        `paired_bootstrap`.
    speakers : IdMap, dict, callable, str, or pair of these, optional
        The speaker of each model and segment, as for `evaluate`.
    unknown : {"refuse", "own"}, default: "refuse"
        As for `speaker_errors`.
    level : float, default: 0.05
        The chance of at least one false alarm that is accepted.
    method, pigeonhole
        As for `bootstrap_scores`; other than "speaker" every statistic is resampled.
    conditions, alternative, replications, confidence, interval, rng, workers, progress
        As for `paired_bootstrap`. All pairs see the same replicates.

    Returns
    -------
    ComparisonTable
        One row for each pair, with Holm's correction of the p-values. Where the p-value is not
        defined, it is 1.

    Raises
    ------
    TrialMismatchError
        As for `speaker_z_test` and `paired_bootstrap`.

    Warns
    -----
    FewErrorsWarning, DegenerateReplicatesWarning, MissingTrialsWarning
        As for these; each names the systems.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import Key, Scores
    >>> from bosaris_py import uncertainty as unc
    >>> rng = np.random.default_rng(1)
    >>> speakers, same = [f"speaker{i}" for i in range(60)], np.eye(60, dtype=bool)
    >>> key = Key(speakers, speakers, same, ~same)
    >>> systems, noise = {}, 4.0 * same
    >>> for name in ("A", "B", "C"):
    ...     noise = noise + rng.normal(size=(60, 60))
    ...     systems[name] = Scores(noise, speakers, speakers)
    >>> table = unc.compare_systems(systems, key, unc.Cllr(), replications=200, rng=2)
    >>> [(r["first"], r["second"], r["significant"]) for r in table.records()]
    [('A', 'B', True), ('A', 'C', True), ('B', 'C', True)]
    """
    check_fraction(level, "level")
    check_choice(alternative, Alternative, "alternative")
    named = as_systems(systems)
    if len(named) < 2:
        raise invalid("systems", "hold at least two systems", "one")
    if not isinstance(statistic, ViewedStatistic):
        as_statistic(statistic)
    elif conditions is not None:
        raise invalid("conditions", "be left out where kinds or a plan weigh", "Conditions")
    seed, who = as_seed(rng), Speakers(speakers, unknown)
    how = Resampling(
        method, replications, confidence, interval, rng, workers, pigeonhole=pigeonhole
    )
    plain_key, _ = split_key(key)
    plain: Any = statistic
    if isinstance(statistic, ViewedStatistic):
        plain = statistic.plain
    refuse_different_trials(named, plain_key, plain, how)
    options_of_tests: dict[str, Any] = {
        "alternative": alternative,
        "level": level,
        "progress": progress,
    }
    if isinstance(statistic, SpoofStatistic):
        samples, plain = plan_statistics.samples_of_kinds(statistic, named, key, who, how)
        table = compare_samples(samples, plain, how, seed, **options_of_tests)
        return named_metric(table, statistic)
    names = list(named)
    with cautions(system=names[0]):
        first = how.sample(named[names[0]], key, who, conditions)
    samples = {names[0]: first}
    for name in names[1:]:
        with cautions(system=name):
            samples[name] = first.of_system(named[name], plain_key, conditions)
    if isinstance(statistic, PrimaryCost):
        _, metadata = split_key(key)
        for name, sample in samples.items():
            samples[name], plain = plan_statistics.viewed(
                sample, statistic, named[name], plain_key, metadata
            )
    table = compare_samples(samples, plain, how, seed, **options_of_tests)
    if not isinstance(statistic, PrimaryCost):
        return table
    plan = statistic.plan
    return attrs.evolve(table, metric=metric_name(statistic), normalized=plan.normalize)


def named_metric(table: ComparisonTable, statistic: SpoofStatistic) -> ComparisonTable:
    """Return a table that names a metric of three classes."""
    normalized = getattr(statistic, "normalize", None)
    return attrs.evolve(table, metric=metric_name(statistic), normalized=normalized)


def refuse_different_trials(
    systems: Mapping[str, AnyScores], key: AnyKey, statistic: object, how: Resampling
) -> None:
    """Raise unless systems have scores of the same trials; the z-test wants all of a key."""
    names = list(systems)
    for name, scores in systems.items():
        resampling.check_system(scores, f"systems[{name!r}]")
        if _is_closed(statistic, how):
            resampling.refuse_missing(scores, key, f"systems[{name!r}]")
        elif name != names[0]:
            resampling.check_same_trials((systems[names[0]], scores), key)


@annotated
def compare_samples(
    samples: Mapping[str, ListedSample],
    statistic: StatisticLike,
    how: Resampling,
    seed: int,
    *,
    alternative: Alternative = "two-sided",
    level: float = 0.05,
    progress: bool = False,
) -> ComparisonTable:
    """Compare each pair of samples of the same trials, see `compare_systems`."""
    for name, sample in samples.items():
        warn_unless_fit([statistic], sample, name)
    chosen = as_statistic(statistic)
    tests: dict[tuple[str, str], Comparison] = {}
    pairs = list(itertools.combinations(samples, 2))
    for a, b in progress_bar(pairs, shown=progress, unit="pair"):
        both = samples[a], samples[b]
        with cautions(pair=name_of_pair(a, b)):
            if _is_closed(statistic, how):
                tests[a, b] = z_test_of_samples(both, (statistic, None), alternative)  # type: ignore[arg-type]
            else:
                # All pairs see the same replicates.
                anew = attrs.evolve(how, rng=seed)
                tests[a, b] = paired_samples((chosen, chosen), both, anew, alternative)
        if shape := np.shape(tests[a, b].difference):
            raise invalid("statistic", "be a number", f"an array of shape {shape}")
    table = ComparisonTable.from_tests(tests, level=level)
    # An OperatingPoint is a cost that is not normalized.
    cost = isinstance(statistic, OperatingPoint | DCF | ActDCF | MinDCF)
    normalized = getattr(statistic, "normalize", False) if cost else None
    return attrs.evolve(table, normalized=normalized, metric=metric_name(statistic))


def _is_closed(statistic: object, how: Resampling) -> bool:
    """Tell if systems are compared by `speaker_z_test`."""
    has_formula = isinstance(statistic, OperatingPoint) or (
        has_losses(statistic) and not statistic.shape
    )
    return has_formula and how.method == "speaker" and not how.pigeonhole
