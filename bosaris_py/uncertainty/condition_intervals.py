"""Confidence intervals for a table of conditions."""

import warnings
from collections.abc import Sequence

import attrs
from tqdm import tqdm

from bosaris_py._validation import invalid, list_some
from bosaris_py.errors import ConditionWarning, MissingTrialsWarning
from bosaris_py.evaluation.condition_table import (
    ConditionRow,
    ConditionTable,
    condition_table,
    table_points,
)
from bosaris_py.numerics.priors import PriorLike
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.forms import AnyKey, AnyScores
from bosaris_py.trials.id_map import IdMap
from bosaris_py.uncertainty.bootstrap_result import IntervalKind
from bosaris_py.uncertainty.cllr_statistic import Cllr
from bosaris_py.uncertainty.curve_statistics import EER, MinCllr, MinDCF
from bosaris_py.uncertainty.matrix_bootstrap import ScoresMethod, bootstrap_scores
from bosaris_py.uncertainty.randomness import Rng, as_generator
from bosaris_py.uncertainty.speaker_plan import SpeakerWeights
from bosaris_py.uncertainty.speakers import Unknown
from bosaris_py.uncertainty.statistic import Statistic
from bosaris_py.uncertainty.threshold_statistics import ActDCF

__all__ = ["bootstrap_condition_table"]


def bootstrap_condition_table(
    scores: AnyScores,
    key: AnyKey,
    conditions: Conditions,
    prior: PriorLike | None = None,
    *,
    normalize: bool = False,
    figures: Sequence[str] | None = None,
    method: ScoresMethod = "speaker",
    model_speakers: IdMap | None = None,
    segment_speakers: IdMap | None = None,
    unknown: Unknown = "refuse",
    weights: SpeakerWeights = "multinomial",
    replications: int = 2000,
    confidence: float = 0.95,
    interval: IntervalKind | None = None,
    rng: Rng = None,
    workers: int = 1,
    progress: bool = False,
) -> ConditionTable:
    """Judge each condition, all trials pooled, and the conditions equalised, with intervals.

    Parameters
    ----------
    scores, key, conditions, prior, normalize
        As for `evaluation.condition_table`.
    figures : sequence of str, optional
        The figures that get intervals, such as ``["eer", "act_dcf"]``; all by
        default. Each takes a bootstrap for every row.
    method, model_speakers, segment_speakers, unknown, weights
        As for `bootstrap_scores`. Speakers are those of the whole key, in
        each row.
    replications, confidence, interval
        As for `bootstrap_scores`.
    rng : Generator, int or None
        Source of randomness; each bootstrap draws from a child of its own.
    workers : int, default: 1
        Number of processes, as for `bootstrap_scores`.
    progress : bool, default: False
        Show a progress bar that counts bootstraps.

    Returns
    -------
    ConditionTable
        Rows whose `intervals` hold the ends of the intervals.

    Raises
    ------
    InvalidInputError
        If there is no such figure; or as for `evaluation.condition_table` and
        `bootstrap_scores`.
    TrialMismatchError
        If the conditions do not fit the key.

    Warns
    -----
    MissingTrialsWarning, ConditionWarning
        As for `evaluation.condition_table`.
    FewErrorsWarning, DegenerateReplicatesWarning
        As for `bootstrap_scores`, for each row where it applies.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import Conditions, Key, Scores
    >>> speakers, same = [f"{i:02}" for i in range(40)], np.eye(40, dtype=bool)
    >>> scores = Scores(np.random.default_rng(1).normal(3.0 * same - 1), speakers, speakers)
    >>> key = Key(speakers, speakers, same, ~same)
    >>> rows = np.arange(40)[:, None] < [15] * 40
    >>> halves = Conditions({"first": rows, "others": ~rows})
    >>> table = bootstrap_condition_table(
    ...     scores, key, halves, figures=["cllr"], replications=200, rng=2
    ... )
    >>> equalised = table.rows[-1]
    >>> low, high = equalised.intervals["cllr"]
    >>> low < equalised.figures["cllr"] < high
    True
    """
    owner = "bootstrap_condition_table"
    generator = as_generator(rng, owner)
    table = condition_table(scores, key, conditions, prior, normalize=normalize)
    statistics = _statistics(prior, normalize=normalize)
    chosen = list(statistics) if figures is None else list(figures)
    unknown_names = [name for name in chosen if name not in statistics]
    if unknown_names:
        expected = f"be among the figures of the table ({list_some(statistics, 20)})"
        raise invalid("figures", owner, expected, list_some(map(repr, unknown_names)))
    intervals: list[dict[str, tuple[float, float]]] = [{} for _ in table.rows]
    tasks = [
        (number, name)
        for number, row in enumerate(table.rows)
        for name in chosen
        if row.figures[name] is not None
    ]
    children = generator.spawn(len(tasks))
    subsets = [_conditions_of(row, conditions, key) for row in table.rows]
    for task, ((number, name), child) in enumerate(
        zip(tqdm(tasks, desc="condition table", disable=not progress), children, strict=True)
    ):
        with warnings.catch_warnings():
            # What is the same in each row has been said.
            if task:
                warnings.simplefilter("ignore", MissingTrialsWarning)
            warnings.simplefilter("ignore", ConditionWarning)
            result = bootstrap_scores(
                scores,
                key,
                statistics[name],
                method=method,
                model_speakers=model_speakers,
                segment_speakers=segment_speakers,
                unknown=unknown,
                weights=weights,
                conditions=subsets[number],
                replications=replications,
                confidence=confidence,
                interval=interval,
                rng=child,
                workers=workers,
            )
        intervals[number][name] = float(result.low), float(result.high)
    return ConditionTable(
        attrs.evolve(row, intervals=ends) for row, ends in zip(table.rows, intervals, strict=True)
    )


def _statistics(prior: PriorLike | None, *, normalize: bool) -> dict[str, Statistic]:
    """Return the statistic of each figure of a table."""
    statistics: dict[str, Statistic] = {"cllr": Cllr(), "min_cllr": MinCllr(), "eer": EER()}
    for suffix, point in {} if prior is None else table_points(prior).items():
        statistics[f"act_dcf{suffix}"] = ActDCF(point, normalize=normalize)
        statistics[f"min_dcf{suffix}"] = MinDCF(point, normalize=normalize)
    return statistics


def _conditions_of(row: ConditionRow, conditions: Conditions, key: AnyKey) -> Conditions | None:
    """Return conditions that make the whole key show the figures of one row."""
    if row.kind == "equalised":
        return conditions
    if row.kind == "condition":
        return conditions.with_weights({name: float(name == row.name) for name in conditions.names})
    counted = conditions.counted_trials(key)
    return None if counted.all() else Conditions({"pooled": counted}, uncovered="ignore")
