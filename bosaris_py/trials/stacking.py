"""Scores and quality measures of several systems, stacked for training and applying."""

from collections.abc import Mapping, Sequence
from typing import TypeVar, overload

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import BoolArray, Float64Array, FloatArray, Positions, mark_read_only
from bosaris_py._validation import as_matrix, as_vector, describe, invalid
from bosaris_py.errors import TrialMismatchError
from bosaris_py.trials.alignment import insert
from bosaris_py.trials.base import frame_of
from bosaris_py.trials.key import AnyKey, AnyNdx, FlatKey, Key, check_key, check_trials
from bosaris_py.trials.ndx import FlatNdx, Ndx
from bosaris_py.trials.quality import QualityMeasures, SegmentQuality, measures_of_trials
from bosaris_py.trials.scores import AnyScores, FlatScores, Scores, listed_scores, scores_under


def stack_scores(systems: Sequence[AnyScores], ndx: AnyNdx) -> Float64Array:
    """Return the scores of several systems for the same trials: (n_systems, n_trials).

    Trials come column by column of `ndx`. Raises InvalidInputError if there is no system, one
    is not a Scores, or a score is NaN, and TrialMismatchError if systems lack scores.
    """
    check_trials(ndx)
    (stack,) = _stacked(systems, ndx, {"trials": ndx.n_trials})
    return stack


def stack_tar_non(systems: Sequence[AnyScores], key: AnyKey) -> tuple[Float64Array, Float64Array]:
    """Return the target and the non-target scores of several systems, as `stack_scores`."""
    check_key(key)
    tar, non = _stacked(systems, key, {"targets": key.n_tar, "non-targets": key.n_non})
    return tar, non


@overload
def assemble(vector: npt.ArrayLike, ndx: Ndx | Key) -> Scores: ...


@overload
def assemble(vector: npt.ArrayLike, ndx: FlatNdx | FlatKey) -> FlatScores: ...


def assemble(vector: npt.ArrayLike, ndx: AnyNdx) -> AnyScores:
    """Put a vector of scores, one for each trial of `ndx`, back into the form of the trials.

    The result has the models and segments of `ndx`: a list if `ndx` is one, else a matrix,
    0 under a false mask elsewhere.
    """
    check_trials(ndx)
    values = as_vector(vector, "vector")
    if values.size != ndx.n_trials:
        expected = f"have one score for each of the {ndx.n_trials} trials"
        raise invalid("vector", expected, f"{values.size}")
    if isinstance(ndx, FlatNdx | FlatKey):
        return FlatScores(values, ndx.modelset, ndx.segset, ndx.models, ndx.segments)
    mask = ndx.trial_mask
    matrix = np.zeros(mask.shape, dtype=values.dtype)
    insert(matrix, mask, values)
    return Scores(mark_read_only(matrix), ndx.modelset, ndx.segset, mask)


def _stacked(
    systems: Sequence[AnyScores] | AnyScores, ndx: AnyNdx, totals: Mapping[str, int]
) -> list[Float64Array]:
    """Return one stack for each class of trials; refuse systems that lack scores.

    `totals` names the classes, all trials or targets and non-targets, and counts their trials.
    """
    if isinstance(systems, AnyScores):
        hint = "Put the Scores of all systems into a list."
        raise invalid("systems", "be a list of Scores", f"one {type(systems).__name__}", hint)
    listed = list(systems)
    if not listed:
        raise invalid("systems", "hold at least one Scores", "none")
    for item in listed:
        if not isinstance(item, AnyScores):
            raise invalid("systems", "hold Scores only", describe(item))
    # float64, whatever the systems have: sums of products follow.
    stacks = [np.empty((len(listed), total)) for total in totals.values()]
    faults = []
    for number, item in enumerate(listed):
        vectors = _vectors(item, ndx, len(stacks))
        missing = [
            f"{total - vector.size} of {total} {noun}"
            for (noun, total), vector in zip(totals.items(), vectors, strict=True)
            if vector.size < total
        ]
        if missing:
            # All systems are looked at, so that one message names every gap.
            faults.append(f"system {number + 1} lacks {' and '.join(missing)}")
            continue
        for stack, vector in zip(stacks, vectors, strict=True):
            stack[number] = vector
    if faults:
        message = (
            f"Every system must have a score for each trial; {'; '.join(faults)}. "
            f"Fill them with set_missing_to_value, best after calibration, or take these "
            f"trials out of the key."
        )
        raise TrialMismatchError(message)
    return stacks


def _vectors(scores: AnyScores, ndx: AnyNdx, n_classes: int) -> Sequence[FloatArray]:
    """Return the scores of all trials, or those of targets and of non-targets."""
    if isinstance(scores, Scores) and isinstance(ndx, Ndx | Key):
        masks = [ndx.trial_mask]
        # Both classes in one pass over the matrix.
        if n_classes > 1 and isinstance(ndx, Key):
            masks = [ndx.tar, ndx.non]
        return scores_under(scores, masks, ndx, frame_of(ndx, scores))
    listed = listed_scores(scores, ndx)
    return listed.split(ndx) if n_classes > 1 and isinstance(ndx, AnyKey) else [listed.values]


Qualities = Sequence[QualityMeasures | SegmentQuality]

Measured = TypeVar("Measured", "QualityMeasures", "TrialQuality")


@attrs.frozen(eq=False)
class TrialQuality:
    """The quality measures of the trials of an Ndx or a Key, in any form.

    `modelQ` and `segQ` have a row for each measure and a column for each model or segment, 0
    for those that have none. `models` and `segments` are the positions of the trials, column
    by column; `covered` says which of them have measures.
    """

    modelQ: FloatArray
    segQ: FloatArray
    models: Positions
    segments: Positions
    covered: BoolArray

    @property
    def n_measures(self) -> int:
        """Number of quality measures."""
        return int(self.modelQ.shape[0])

    @property
    def n_missing(self) -> int:
        """Number of trials without measures."""
        return self.covered.size - int(np.count_nonzero(self.covered))


def quality_of_trials(qualities: Qualities, ndx: AnyNdx) -> TrialQuality:
    """Look up quality measures for the same trials and put them one below the other.

    As `stack_quality`, but without a matrix of all models and segments, so that the
    trials may be flat. A trial is covered where it has the measures of every object.
    """
    check_trials(ndx)
    parts = [measures_of_trials(_with_models(item, ndx), ndx) for item in _as_list(qualities)]
    return TrialQuality(
        mark_read_only(np.concatenate([part[0] for part in parts])),
        mark_read_only(np.concatenate([part[1] for part in parts])),
        *ndx.trial_positions(),
        mark_read_only(np.logical_and.reduce([part[2] for part in parts])),
    )


def stack_quality(qualities: Qualities, ndx: Ndx | Key) -> QualityMeasures:
    """Align quality measures with the same trials and put them one below the other.

    A SegmentQuality describes the test segments only; the measures of all models are then 0.
    A trial has quality where it has that of every object. Warns for each object that lacks
    models, segments or trials of `ndx`. BOSARIS: ``stackQ.m``.
    """
    check_trials(ndx)
    aligned = [_with_models(item, ndx).align_with_ndx(ndx) for item in _as_list(qualities)]
    if len(aligned) == 1:
        return aligned[0]
    values = (
        np.concatenate([getattr(item, name) for item in aligned]) for name in ("modelQ", "segQ")
    )
    flags = (
        np.logical_and.reduce([getattr(item, name) for item in aligned])
        for name in ("hasmodel", "hasseg", "scoremask")
    )
    return QualityMeasures(*ndx.ids, *map(mark_read_only, (*values, *flags)))


def _as_list(qualities: Qualities) -> list[QualityMeasures | SegmentQuality]:
    """Return the measures as a list; refuse a single object and an empty list."""
    if isinstance(qualities, QualityMeasures | SegmentQuality):
        hint = "Put the quality measures into a list."
        found = f"one {type(qualities).__name__}"
        raise invalid("qualities", "be a list of quality measures", found, hint)
    listed = list(qualities)
    if not listed:
        raise invalid("qualities", "hold at least one QualityMeasures", "none")
    return listed


def _with_models(item: object, ndx: AnyNdx) -> QualityMeasures:
    """Return quality measures of models and segments, with 0 for models that have none."""
    if isinstance(item, QualityMeasures):
        return item
    if isinstance(item, SegmentQuality):
        nothing = mark_read_only(np.zeros((item.n_measures, ndx.modelset.size)))
        return QualityMeasures(ndx.modelset, item.ids, nothing, item.values)
    expected = "hold QualityMeasures or SegmentQuality only"
    raise invalid("qualities", expected, describe(item))


def mix_measures(quality: Measured, qtrans: npt.ArrayLike) -> Measured:
    """Replace the measures of models and segments by linear combinations of them.

    `qtrans` has one row for each new measure and one column for each old one.
    BOSARIS: ``applyQtrans.m``.
    """
    matrix = as_matrix(qtrans, "qtrans")
    if matrix.shape[1] != quality.n_measures or not len(matrix):
        expected = f"have one column for each of the {quality.n_measures} measures, and a row"
        hint = "Is it transposed?" if matrix.shape[0] == quality.n_measures else ""
        raise invalid("qtrans", expected, f"shape {matrix.shape}", hint)
    if not np.isfinite(matrix).all():
        raise invalid("qtrans", "be finite", describe(matrix.tolist()))
    return attrs.evolve(
        quality,
        modelQ=mark_read_only(matrix @ quality.modelQ),
        segQ=mark_read_only(matrix @ quality.segQ),
    )
