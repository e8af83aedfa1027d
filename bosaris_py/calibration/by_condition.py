"""Calibration by condition: a line for each, drawn towards the line of all trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import attrs
import numpy as np

from bosaris_py._arrays import Float64Array, FloatArray
from bosaris_py._cautions import hushed
from bosaris_py._validation import Rng, as_nonnegative, describe, invalid
from bosaris_py.calibration.cross_fitting import Folds, fold_trials
from bosaris_py.calibration.linear import LinearCalibration
from bosaris_py.calibration.trained import NOT_NEGATIVE, DrawnMap, SavedMap
from bosaris_py.errors import BosarisWarning
from bosaris_py.numerics.linear_objective import evaluate_objective
from bosaris_py.trials.conditions import ConditionMembers, Conditions, check_conditions
from bosaris_py.trials.inputs import split_key
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores, as_output_of_map, scored_ndx
from bosaris_py.trials.speakers import SpeakersLike


def to_line(value: object) -> LinearCalibration:
    """Return a line, or build it of the fields that a file holds."""
    if isinstance(value, LinearCalibration):
        return value
    if not isinstance(value, Mapping):
        raise invalid("lines", "be LinearCalibration", describe(value))
    return LinearCalibration(**value)


def _to_lines(value: object) -> dict[str, LinearCalibration]:
    if not isinstance(value, Mapping):
        raise invalid("lines", "map names to LinearCalibration", describe(value))
    return {name: to_line(line) for name, line in value.items()}


@attrs.frozen(kw_only=True, repr=False)
class ConditionCalibration(SavedMap, DrawnMap):
    r"""A line for each condition, drawn towards the line of all trials where it has few.

    Make one with `fit_scores` or `read`.

    Parameters
    ----------
    lines : mapping of str to LinearCalibration
        The map of each condition.
    pooled : LinearCalibration
        The map of all trials; for trials of no condition, or of a new one.
    strength : float
        Of how many trials of a class the pooled set takes the place.
    of_llrs : bool or None, default: None
        Whether the map was trained on scores that a map had made; None if that is not known.

    Notes
    -----
    The line of a condition minimises the objective of its own trials times :math:`1 - \rho` plus
    that of all trials times :math:`\rho = m / (n + m)`. Here m is the strength, and n is the number
    of its trials in the smaller class. A condition of one class gets the pooled line.

    Examples
    --------
    >>> from bosaris_py import Conditions, Key, Scores
    >>> ids, same = [f"speaker {i}" for i in range(40)], np.eye(40, dtype=bool)
    >>> noise = np.random.default_rng(1).normal(size=(40, 40))
    >>> noisy = np.arange(40) % 2 == 1
    >>> scores = Scores(2.5 * same + noise + 3.0 * noisy, ids, ids)
    >>> masks = [np.tile(chosen, (40, 1)) for chosen in (noisy, ~noisy)]
    >>> conditions = Conditions(dict(zip(("noisy", "clean"), masks, strict=True)))
    >>> key = Key(ids, ids, same, ~same)
    >>> ConditionCalibration.fit_scores(scores, key, conditions, rng=1)
    ConditionCalibration: strength 1; noisy: llr = 2.146 * score - 8.9;
    clean: llr = 1.75 * score - 2.085
    """

    lines: Mapping[str, LinearCalibration] = attrs.field(converter=_to_lines)
    pooled: LinearCalibration = attrs.field(converter=to_line)
    strength: float = attrs.field(**NOT_NEGATIVE)

    @classmethod
    def fit_scores(
        cls,
        scores: AnyScores,
        key: Any,
        conditions: Conditions,
        *,
        strengths: Sequence[float] = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0),
        folds: Folds = 5,
        speakers: SpeakersLike = None,
        rng: Rng = None,
        **options: Any,
    ) -> Self:
        """Train the lines, and choose the strength by cross-fitting.

        Parameters
        ----------
        scores, key
            As for `LinearCalibration.fit_scores <bosaris_py.LinearCalibration.fit_scores>`.
        conditions : Conditions
            The condition of each trial; weights do not matter.
        strengths : sequence of float
            Those to try, on the same folds; the first of the best is taken. A single one is taken
            without cross-fitting.
        folds, speakers, rng
            As for `cross_fit`.
        **options
            ``prior``, ``objective`` and ``ridge``, as for `LinearCalibration.fit`.

        Returns
        -------
        ConditionCalibration

        Raises
        ------
        TrialMismatchError
            As for `Conditions.members`.

        Warns
        -----
        MissingTrialsWarning, SeparableDataWarning, ConditionWarning
            As for `cross_fit` and `Conditions.members`.
        """
        if np.ndim(strengths) != 1 or not len(strengths):
            raise invalid("strengths", "be a list of at least one strength", describe(strengths))
        tried = [as_nonnegative(strength, "strengths") for strength in strengths]
        only_key, metadata = split_key(key)
        sample = ListedSample.of(scores, only_key, allow_empty=True)
        check_conditions(conditions)
        members = conditions.scored_members(scores, only_key)
        trainer: Any = LinearCalibration
        pooled = trainer.fit(*sample.lists, **options)
        judged = {name: options[name] for name in ("prior", "objective") if name in options}
        best = tried[0]
        if len(tried) > 1:
            how: dict[str, Any] = {"folds": folds, "speakers": speakers, "rng": rng}
            trials, _ = fold_trials(sample.lists, scores, only_key, metadata, **how)

            def cost(strength: float) -> float:
                # The mean of the objectives of the conditions on cross-fitted trials.
                found = []
                for item in members:
                    if item.tar.size and item.non.size:
                        drawn = trials.weighted(_drawn_weights(item, sample.lists, strength))
                        tar, non = drawn.llrs(LinearCalibration, options)
                        found.append(evaluate_objective(tar[item.tar], non[item.non], **judged))
                return float(np.mean(found)) if found else 0.0

            # The final maps warn of what is wrong.
            with hushed(BosarisWarning):
                best = min(tried, key=cost)
        lines = {}
        for item in members:
            tar_weights, non_weights = _drawn_weights(item, sample.lists, best)
            weights = {"tar_weights": tar_weights, "non_weights": non_weights}
            lines[item.name] = trainer.fit(*sample.lists, **weights, **options)
        return cls(lines=lines, pooled=pooled, strength=best)

    def apply(self, scores: AnyScores, conditions: Conditions) -> AnyScores:
        """Turn scores into log-likelihood-ratios by the lines of their conditions.

        Parameters
        ----------
        scores : Scores or FlatScores
            Scores of trials.
        conditions : Conditions
            Their conditions, with the names of the training.

        Returns
        -------
        Scores or FlatScores
            Of the same trials.
        """
        check_conditions(conditions)
        parts = conditions.trials_of(scored_ndx(scores))

        def mapped(values: FloatArray) -> Float64Array:
            llrs = np.asarray(self.pooled.apply(values))
            for name, places in parts.items():
                if name in self.lines and places.size:
                    llrs[places] = self.lines[name].apply(values[places])
            return llrs

        return as_output_of_map(scores.transform(mapped))

    def __repr__(self) -> str:
        """Show the strength and the lines."""
        lines = "; ".join(f"{name}: {line._line()}" for name, line in self.lines.items())
        return f"ConditionCalibration: strength {self.strength:g}; {lines}"


def _drawn_weights(
    item: ConditionMembers, classes: Sequence[FloatArray], strength: float
) -> list[Float64Array]:
    """Return weights of all trials that draw the line of a condition towards that of all."""
    own = item.tar, item.non
    n = min(side.size for side in own)
    share = strength / (n + strength) if n else 1.0
    weights = []
    for side, scores in zip(own, classes, strict=True):
        weights.append(np.full(scores.size, share / scores.size))
        weights[-1][side] += (1.0 - share) / max(side.size, 1)
    return weights
