"""What a quality measure of model and segment, such as duration, says of a trial, by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np

from bosaris_py._arrays import Float64Array, Positions, StrArray
from bosaris_py._validation import check_choice, describe, invalid, list_some
from bosaris_py.errors import TrialMismatchError
from bosaris_py.trials import SegmentQuality
from bosaris_py.trials.alignment import IdIndex
from bosaris_py.trials.key import AnyNdx, check_trials
from bosaris_py.trials.quality import check_finite
from bosaris_py.trials.scores import AnyScores, assemble, stack_scores

Combine = Literal["min", "max", "sum", "difference"]
# One for both sides, or a pair for (models, segments), None for a side that does not count.
Measured: TypeAlias = SegmentQuality | tuple[SegmentQuality | None, SegmentQuality | None]

_COMBINE: dict[str, Callable[[Float64Array, Float64Array], Float64Array]] = {
    "min": np.minimum,
    "max": np.maximum,
    "sum": np.add,
    "difference": lambda models, segments: np.abs(models - segments),
}


def quality_systems(
    scores: AnyScores,
    qualities: Mapping[str, Measured],
    ndx: AnyNdx,
    *,
    offset: Collection[str] | None = None,
    scale: Collection[str] = (),
    combine: Combine = "min",
) -> list[AnyScores]:
    r"""Turn quality measures into systems that a `LinearFusion` joins with the scores.

    A calibration whose offset and scale depend on a measure q of the trial is linear,

    .. math:: (w_0 + w_1 q)\, s + w_2 q + b,

    so it is a fusion of three systems: the scores s, q itself and the product of both.

    Parameters
    ----------
    scores : Scores or FlatScores
        Scores of all trials of `ndx`.
    qualities : mapping of str to SegmentQuality or pair of these
        Measures by name, one value for each id. An object that holds models and segments; or
        a pair (models, segments), None for a side that does not count.
    ndx : Ndx, Key, FlatNdx or FlatKey
        The trials.
    offset : collection of str, optional
        The measures that shift the log-likelihood-ratio; by default all.
    scale : collection of str, default: none
        The measures that the scale depends on. Logarithms of durations serve best.
    combine : {"min", "max", "sum", "difference"}, default: "min"
        How the values of model and segment make that of the trial; all are symmetric.

    Returns
    -------
    list of Scores or FlatScores
        `scores`, the measures of `offset`, and the products with those of `scale`, for
        ``LinearFusion.fit_scores(systems, key)``, ``cross_fit`` and ``apply``.

    Raises
    ------
    InvalidInputError
        If a name is not known, an object holds more than one measure, or a value is not finite.
    TrialMismatchError
        If scores, or measures of models or segments with trials, are missing.

    Examples
    --------
    >>> from bosaris_py import Ndx, Scores, SegmentQuality
    >>> ids = ["anna"], ["short", "long"]
    >>> duration = SegmentQuality(["anna", "short", "long"], [[3.0, 1.0, 4.0]])
    >>> systems = quality_systems(Scores([[2.0, 5.0]], *ids), {"duration": duration},
    ...                           Ndx(*ids), scale=["duration"])
    >>> [system.scoremat.tolist() for system in systems]
    [[[2.0, 5.0]], [[1.0, 3.0]], [[2.0, 15.0]]]
    """
    check_trials(ndx)
    check_choice(combine, Combine, "combine")
    offset = list(qualities) if offset is None else offset
    for name, wanted in (("offset", offset), ("scale", scale)):
        unknown = [text for text in wanted if text not in qualities]
        if isinstance(wanted, str) or unknown:
            raise invalid(name, f"hold names among {', '.join(qualities)}", describe(wanted))
    (values,) = stack_scores([scores], ndx)
    positions = ndx.trial_positions()
    shifts, products = [], []
    for name, measured in qualities.items():
        pair = measured if isinstance(measured, tuple) else (measured, measured)
        sides = [
            _of_trials(side, ids, where, name)
            for side, ids, where in zip(pair, ndx.ids, positions, strict=True)
            if side is not None
        ]
        if not sides:
            raise invalid("qualities", "tell a side of each measure", f"none of {name!r}")
        measure = sides[0] if len(sides) == 1 else _COMBINE[combine](*sides)
        if name in offset:
            shifts.append(measure)
        if name in scale:
            products.append(measure * values)
    return [assemble(vector, ndx) for vector in (values, *shifts, *products)]


def _of_trials(quality: Any, ids: StrArray, positions: Positions, name: str) -> Float64Array:
    """Return the value of the model, or of the segment, of each trial."""
    if not isinstance(quality, SegmentQuality) or quality.n_measures != 1:
        hint = "Measures have names here: give one SegmentQuality for each."
        expected = "be SegmentQuality of one measure"
        raise invalid(f"qualities[{name!r}]", expected, describe(quality), hint)
    places = IdIndex.of(quality.ids).locate_last(IdIndex.of(ids))[positions]
    if (missing := places < 0).any():
        examples = np.unique(ids[positions[missing]])
        message = (
            f"{examples.size} ids with trials have no value of {name!r} ({list_some(examples)})"
        )
        raise TrialMismatchError(message)
    values = quality.values[:, places].astype(np.float64)
    check_finite(values, f"qualities[{name!r}]", ids[positions])
    return np.asarray(values[0])
