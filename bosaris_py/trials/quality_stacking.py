"""Quality measures of several objects as one, for the same trials: what quality fusion works on."""

from collections.abc import Sequence
from typing import TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import BoolArray, FloatArray, as_matrix, describe, invalid
from bosaris_py._validation import frozen as mark_read_only
from bosaris_py.trials._frame import Positions
from bosaris_py.trials._missing import AnyNdx, check_trials
from bosaris_py.trials.key import Key
from bosaris_py.trials.ndx import Ndx
from bosaris_py.trials.quality_measures import QualityMeasures
from bosaris_py.trials.segment_quality import SegmentQuality

__all__ = ["TrialQuality", "mix_measures", "quality_of_trials", "stack_quality"]

Qualities = Sequence[QualityMeasures | SegmentQuality]
Measured = TypeVar("Measured", "QualityMeasures", "TrialQuality")


@attrs.frozen(eq=False)
class TrialQuality:
    """The quality measures of the trials of an Ndx or a Key, in any form.

    Parameters
    ----------
    modelQ : (q, m) array of float
        Measures of the models of the Ndx or Key; 0 for those that have none.
    segQ : (q, n) array of float
        Measures of its segments.
    models, segments : (n_trials,) array of int
        Positions of the trials, column by column.
    covered : (n_trials,) array of bool
        Which trials have measures.
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


def quality_of_trials(qualities: Qualities, ndx: AnyNdx, owner: str) -> TrialQuality:
    """Look up quality measures for the same trials and put them one below the other.

    As `stack_quality`, but without a matrix of all models and segments, so that the
    trials may be flat.

    Parameters
    ----------
    qualities : sequence of QualityMeasures or SegmentQuality
        The measures.
    ndx : Ndx, Key, FlatNdx or FlatKey
        The trials.
    owner : str
        Whom error messages speak of.

    Returns
    -------
    TrialQuality
        A trial is covered where it has the measures of every object.
    """
    check_trials(ndx, owner)
    parts = [_with_models(item, ndx, owner)._of_trials(ndx) for item in _as_list(qualities, owner)]
    return TrialQuality(
        mark_read_only(np.concatenate([part[0] for part in parts])),
        mark_read_only(np.concatenate([part[1] for part in parts])),
        *ndx.trial_positions(),
        mark_read_only(np.logical_and.reduce([part[2] for part in parts])),
    )


def stack_quality(qualities: Qualities, ndx: Ndx | Key) -> QualityMeasures:
    """Align quality measures with the same trials and put them one below the other.

    Parameters
    ----------
    qualities : sequence of QualityMeasures or SegmentQuality
        The measures. A SegmentQuality describes the test segments only; the measures
        of all models are then 0.
    ndx : Ndx or Key
        The trials.

    Returns
    -------
    QualityMeasures
        All measures, in the order of the list, with the models and segments of `ndx`.
        A trial has quality where it has that of every object.

    Raises
    ------
    InvalidInputError
        If the list is empty or holds something else, or a measure that is wanted
        is not finite.

    Warns
    -----
    MissingTrialsWarning
        For each object that lacks models, segments or trials of `ndx`, with counts.

    Notes
    -----
    BOSARIS: ``stackQ.m``.
    """
    owner = "stack_quality"
    check_trials(ndx, owner)
    aligned = [
        _with_models(item, ndx, owner).align_with_ndx(ndx) for item in _as_list(qualities, owner)
    ]
    if len(aligned) == 1:
        return aligned[0]
    return QualityMeasures(
        ndx.modelset,
        ndx.segset,
        mark_read_only(np.concatenate([item.modelQ for item in aligned])),
        mark_read_only(np.concatenate([item.segQ for item in aligned])),
        mark_read_only(np.logical_and.reduce([item.hasmodel for item in aligned])),
        mark_read_only(np.logical_and.reduce([item.hasseg for item in aligned])),
        mark_read_only(np.logical_and.reduce([item.scoremask for item in aligned])),
    )


def _as_list(qualities: Qualities, owner: str) -> list[QualityMeasures | SegmentQuality]:
    """Return the measures as a list; refuse a single object and an empty list."""
    if isinstance(qualities, QualityMeasures | SegmentQuality):
        hint = "Put the quality measures into a list."
        found = f"one {type(qualities).__name__}"
        raise invalid("qualities", owner, "be a list of quality measures", found, hint)
    listed = list(qualities)
    if not listed:
        raise invalid("qualities", owner, "hold at least one QualityMeasures", "none")
    return listed


def _with_models(item: object, ndx: AnyNdx, owner: str) -> QualityMeasures:
    """Return quality measures of models and segments, with 0 for models that have none."""
    if isinstance(item, QualityMeasures):
        return item
    if isinstance(item, SegmentQuality):
        nothing = mark_read_only(np.zeros((item.n_measures, ndx.modelset.size)))
        return QualityMeasures(ndx.modelset, item.ids, nothing, item.values)
    expected = "hold QualityMeasures or SegmentQuality only"
    raise invalid("qualities", owner, expected, describe(item))


def mix_measures(quality: Measured, qtrans: npt.ArrayLike) -> Measured:
    """Replace the measures of models and segments by linear combinations of them.

    Parameters
    ----------
    quality : QualityMeasures or TrialQuality
        The measures.
    qtrans : (p, q) array_like of float
        One row for each new measure, one column for each of the q old ones.

    Returns
    -------
    QualityMeasures or TrialQuality
        The same with p measures.

    Raises
    ------
    InvalidInputError
        If `qtrans` has another number of columns, no row, or a number that is not finite.

    Notes
    -----
    BOSARIS: ``applyQtrans.m``.
    """
    owner = "mix_measures"
    matrix = as_matrix(qtrans, "qtrans", owner)
    if matrix.shape[1] != quality.n_measures or not len(matrix):
        expected = f"have one column for each of the {quality.n_measures} measures, and a row"
        hint = "Is it transposed?" if matrix.shape[0] == quality.n_measures else ""
        raise invalid("qtrans", owner, expected, f"shape {matrix.shape}", hint)
    if not np.isfinite(matrix).all():
        raise invalid("qtrans", owner, "be finite", describe(matrix.tolist()))
    return attrs.evolve(
        quality,
        modelQ=mark_read_only(matrix @ quality.modelQ),
        segQ=mark_read_only(matrix @ quality.segQ),
    )
