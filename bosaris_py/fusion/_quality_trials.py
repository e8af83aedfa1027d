"""The trials that quality fusion is trained on or applied to, with their measures."""

from collections.abc import Sequence

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import BoolArray, FloatArray, invalid, list_some
from bosaris_py.errors import TrialMismatchError
from bosaris_py.numerics.objectives import LARGEST_SCORE, refuse_non_finite
from bosaris_py.numerics.quality_form import QualityDesign, form_entries
from bosaris_py.trials import QualityMeasures, SegmentQuality
from bosaris_py.trials.forms import AnyNdx
from bosaris_py.trials.quality_stacking import TrialQuality, mix_measures, quality_of_trials

__all__ = [
    "Qualities",
    "TrainedClass",
    "look_up_measures",
    "refuse_untrainable",
    "standardise",
]

Qualities = Sequence[QualityMeasures | SegmentQuality]
Float64Array = npt.NDArray[np.float64]


@attrs.frozen(eq=False)
class TrainedClass:
    """The training trials of one class that have quality measures and a weight."""

    scores: Float64Array
    models: npt.NDArray[np.int32]
    segments: npt.NDArray[np.int32]
    weights: Float64Array | None

    @classmethod
    def of(
        cls,
        scores: Float64Array,
        chosen: BoolArray,
        weights: Float64Array | None,
        measures: TrialQuality,
        noun: str,
    ) -> "TrainedClass":
        """Take the trials that are chosen, whose scores are given column by column."""
        models, segments = measures.models[chosen], measures.segments[chosen]
        used = measures.covered[chosen]
        if not used.any():
            message = (
                f"No {noun} trial has quality measures, so quality fusion cannot be trained; "
                f"{used.size} of {used.size} lack them. Do the ids of scores and measures agree?"
            )
            raise TrialMismatchError(message)
        if weights is not None:
            used &= weights > 0.0
            if not used.any():
                message = f"No {noun} trial with quality measures has a weight above zero."
                raise TrialMismatchError(message)
        if not used.all():
            scores, models, segments = scores[:, used], models[used], segments[used]
            weights = None if weights is None else weights[used]
        return cls(scores, models.astype(np.int32), segments.astype(np.int32), weights)

    def design(self, model_measures: Float64Array, segment_measures: Float64Array) -> QualityDesign:
        """Return the design of the standardised measures with all their features."""
        ones = [np.ones((1, side.shape[1])) for side in (model_measures, segment_measures)]
        return QualityDesign(
            scores=self.scores,
            models=self.models,
            segments=self.segments,
            model_measures=np.vstack((model_measures, ones[0])),
            segment_measures=np.vstack((segment_measures, ones[1])),
            entries=form_entries(len(model_measures)),
        )


def look_up_measures(
    qualities: Qualities,
    ndx: AnyNdx,
    qtrans: npt.ArrayLike | None,
    owner: str,
    n_measures: int | None = None,
) -> TrialQuality:
    """Look up and mix quality measures; refuse another number of them than `n_measures`."""
    measures = quality_of_trials(qualities, ndx, owner)
    if not measures.n_measures:
        raise invalid("qualities", owner, "hold at least one quality measure", "none")
    if n_measures is not None and measures.n_measures != n_measures:
        expected = f"hold {n_measures} quality measures in all, as in training"
        raise invalid("qualities", owner, expected, f"{measures.n_measures}")
    for name in ("modelQ", "segQ"):
        values = getattr(measures, name)
        too_large = (np.abs(values, dtype=np.float64) > LARGEST_SCORE).any(axis=1)
        if too_large.any():
            numbers = list_some((np.flatnonzero(too_large) + 1).tolist())
            found = f"larger ones in measure {numbers}"
            raise invalid(name, owner, f"not exceed {LARGEST_SCORE:g}", found)
    return measures if qtrans is None else mix_measures(measures, qtrans)


def standardise(values: FloatArray, centre: Float64Array, spread: Float64Array) -> Float64Array:
    """Move each row by its centre and divide it by its spread."""
    standardised: Float64Array = (values - centre[:, np.newaxis]) / spread[:, np.newaxis]
    return standardised


def refuse_untrainable(tar: Float64Array, non: Float64Array, owner: str) -> None:
    """Raise if a score is NaN, infinite or too large, which a given `linear` has not seen."""
    for stack in (tar, non):
        if stack.size and not (stack.min() >= -LARGEST_SCORE and stack.max() <= LARGEST_SCORE):
            refuse_non_finite(tar, non, owner)
