"""Quality measures of segments and of trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self, TypeAlias, TypeVar

import attrs
import numpy as np
import numpy.typing as npt
from attrs import frozen

import bosaris_py.trials.trials as base
from bosaris_py import _validation as check
from bosaris_py._arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    Positions,
    StrArray,
    mark_read_only,
    read_only,
)
from bosaris_py._cautions import warn_caller
from bosaris_py.errors import MissingTrialsWarning, TrialMismatchError
from bosaris_py.trials import arguments
from bosaris_py.trials.alignment import Frame, IdIndex, IdList, Ids
from bosaris_py.trials.key import Key, Ndx, as_ndx, warn_unless_found
from bosaris_py.trials.saving import TextFileMethods

# One value for each id, or one of each measure.
Numbers: TypeAlias = Mapping[str, Any]


@frozen(init=False, eq=False, repr=False)
class SegmentQuality(TextFileMethods):
    """Quality measures of segments, for instance their duration or noise level.

    Parameters
    ----------
    ids : (n,) array_like of str
        Ids of the segments, each once. Or numbers by id, a mapping or a Series, without `values`.
    values : (q, n) array_like of float, or (n,) of one measure
        One row per measure, one column per segment. A Series needs the index of `ids`.

    See Also
    --------
    QualityMeasures : Measures of the models and of the test segments together.

    Examples
    --------
    >>> from bosaris_py.trials import SegmentQuality
    >>> SegmentQuality(["s1", "s2"], [[3.5, 7.25]])
    SegmentQuality: 1 measures of 2 segments
    >>> SegmentQuality({"s1": 3.5, "s2": 7.25}).values.tolist()
    [[3.5, 7.25]]
    """

    ids: StrArray
    values: FloatArray

    _kind = "segment_quality"

    def __init__(self, ids: IdList | Numbers, values: npt.ArrayLike | None = None) -> None:
        names: Any = ids
        given: Any = values
        if given is None:
            names, given = _by_id(ids)
        index: Any = getattr(given, "index", None)
        if type(given).__name__ == "Series" and not np.array_equal(
            getattr(ids, "index", ()), index
        ):
            hint = "A mapping {id: value}, or a Series with ids as its index, stands for both."
            raise check.invalid(
                "values", "be in the order of `ids`", "a Series with another index", hint
            )
        names = check.as_ids(names, "ids")
        check.check_frame(given, "values", None, ("ids", names))
        given = check.as_list(given)
        # One measure needs no second dimension.
        if np.ndim(given) == 1 and np.size(given):
            given = np.expand_dims(np.asarray(given), 0)
        self.__attrs_init__(names, read_only(arguments.to_matrix(given, "values")))

    def __attrs_post_init__(self) -> None:
        """Raise if a segment occurs twice, or there is not one column for each."""
        hint = "Of a table with a row for each trial take one for each id: drop_duplicates(column)."
        self._index.check_unique("ids", hint)
        check_columns(self.values, self.ids, "values")

    @cached_property
    def _index(self) -> IdIndex:
        return IdIndex.of(self.ids)

    @property
    def n_measures(self) -> int:
        """Number of quality measures."""
        return int(self.values.shape[0])

    def __repr__(self) -> str:
        """Return the counts in one line."""
        return f"SegmentQuality: {self.n_measures} measures of {self.ids.size} segments"

    def align_with_ids(self, ids: IdList) -> Self:
        """Bring the measures into the order of a list of segments.

        Parameters
        ----------
        ids : (k,) array_like of str
            Ids of the segments that are wanted, each once.

        Returns
        -------
        SegmentQuality
            With exactly the segments of the list, in its order; the values of segments without
            measures are 0.

        Warns
        -----
        MissingTrialsWarning
            If the object has more segments than the list, or lacks some of the list, with counts.
        """
        wanted = IdIndex.of(check.as_ids(ids, "ids"))
        wanted.check_unique("ids")
        frame = Frame(None, self._index.locate(wanted), (self.n_measures, wanted.ids.size))
        values = frame.take(self.values)
        check_finite(values, "values", wanted.ids)
        if wanted.ids.size < self.ids.size:
            message = f"Number of segments reduced from {self.ids.size} to {wanted.ids.size}"
            warn_caller(message, MissingTrialsWarning)
        n_missing = wanted.ids.size - frame.n_found[1]
        if n_missing:
            message = f"{n_missing} of {wanted.ids.size} ids don't have quality values"
            warn_caller(message, MissingTrialsWarning)
        return type(self)(wanted.ids, values)

    def filter(self, ids: IdList, keep: bool) -> Self:  # noqa: FBT001
        """Keep only, or remove, the segments that are listed.

        Parameters
        ----------
        ids : (k,) array_like of str
            Ids of segments; those that the object does not have are ignored.
        keep : bool
            True keeps what is in the list, False what is not. May be given by position.

        Returns
        -------
        SegmentQuality
            The object with fewer segments, in their old order.

        Notes
        -----
        How many segments went is logged at level INFO.
        """
        cols = arguments.kept(self._index, ids, "ids", keep=keep)
        if cols is None:
            return self
        arguments.log_reduced("segments", self.ids.size, cols.size)
        frame = Frame(None, cols, (self.n_measures, cols.size))
        return type(self)(mark_read_only(self.ids[cols]), frame.take(self.values))

    def merge(self, *others: "SegmentQuality") -> "SegmentQuality":
        """Put the segments of several objects into one.

        Parameters
        ----------
        *others : SegmentQuality
            Further objects; ``SegmentQuality.merge(a, b)`` is ``a.merge(b)``.

        Returns
        -------
        SegmentQuality
            The segments of all objects, one after the other, not sorted.

        Raises
        ------
        TrialMismatchError
            If a segment is in two of them, or they have different numbers of measures.
        """
        objects = arguments.all_of_class(SegmentQuality, self, *others)
        refuse_shared([item.ids for item in objects], "segments")
        check_same_measures([item.n_measures for item in objects])
        return SegmentQuality(
            mark_read_only(np.concatenate([item.ids for item in objects])),
            mark_read_only(np.concatenate([item.values for item in objects], axis=1)),
        )


def check_columns(values: FloatArray, ids: StrArray, name: str) -> None:
    """Raise unless there is one column of measures for each id."""
    if values.shape[1] != ids.size:
        expected = f"have one column for each of the {ids.size} ids"
        hint = (
            "Did you swap measures and ids? A row is a measure." if len(values) == ids.size else ""
        )
        raise check.invalid(name, expected, f"shape {values.shape}", hint)


def check_finite(values: FloatArray, name: str, ids: StrArray) -> None:
    """Raise if a measure is not finite, naming the first ids that it belongs to."""
    bad = ~np.isfinite(values).all(axis=0)
    if bad.any():
        found = f"NaN or infinity for {np.count_nonzero(bad)} ids ({check.list_some(ids[bad])})"
        hint = "Leave out ids whose measure is missing (NaN); the logarithm of 0 is -inf."
        raise check.invalid(name, "be finite for the ids that are wanted", found, hint)


def refuse_shared(id_lists: Sequence[StrArray], what: str) -> None:
    """Raise if an id is in two of the objects that are to be merged."""
    index = IdIndex.of(np.concatenate(id_lists))
    if index.has_repeated():
        repeated = index.ordered[1:][index.ordered[1:] == index.ordered[:-1]]
        raise TrialMismatchError(
            f"The objects to be merged share {repeated.size} {what} ({check.list_some(repeated)}); "
            f"each must be in one only."
        )


def check_same_measures(counts: Sequence[int]) -> None:
    """Raise unless all objects that are to be merged have as many measures."""
    if len(set(counts)) > 1:
        message = f"The objects to be merged have {check.list_some(counts)} quality measures."
        raise TrialMismatchError(message)


def _flags(flags: npt.ArrayLike | None, ids: StrArray, name: str) -> BoolArray:
    """Return one flag for each id; None says that all have measures."""
    if flags is None:
        return np.ones(ids.size, dtype=np.bool_)
    mask = check.as_mask(flags, name)
    if mask.shape != ids.shape:
        expected = f"have one flag for each of the {ids.size} ids"
        raise check.invalid(name, expected, f"shape {mask.shape}")
    return mask


@frozen(init=False, eq=False, repr=False)
class QualityMeasures(base.Trials):
    """Quality measures of models and of test segments, for quality-dependent fusion.

    Parameters
    ----------
    modelset, segset : (m,), (n,) array_like of str
        Ids of the models and of the test segments, each once.
    modelQ : (q, m) array_like of float
        One row per measure, one column per model.
    segQ : (q, n) array_like of float
        The same measures of the test segments.
    hasmodel : (m,) array_like of bool, optional
        False for a model without measures; by default true for all.
    hasseg : (n,) array_like of bool, optional
        False for a segment without measures; by default true for all.
    scoremask : (m, n) array_like of bool, optional
        True where the measures of model and segment may be used; by default everywhere. Where model
        or segment has no measures, the mask of the object is false whatever is given.

    See Also
    --------
    SegmentQuality : Measures of single segments.

    Notes
    -----
    A mask that is left out takes no memory, so that an object may hold the measures of very
    many models and segments of which few are combined; it does if there are models and
    segments without measures.

    In the toolkit, a mask that is true for a model with a false `hasmodel` makes the object
    unusable: it is refused on alignment. As the toolkit does not read the mask that it writes,
    every such object that was saved is in this state. Here the mask is read, and follows `hasmodel`
    and `hasseg`.

    Examples
    --------
    >>> from bosaris_py.trials import QualityMeasures
    >>> QualityMeasures(["anna"], ["s1", "s2"], modelQ=[[0.5]], segQ=[[1.0, 2.0]],
    ...                 hasseg=[True, False])
    QualityMeasures: 1 models x 2 segments, 1 measures of 1 trials
    """

    modelQ: FloatArray = attrs.field(converter=read_only)
    segQ: FloatArray = attrs.field(converter=read_only)
    hasmodel: BoolArray = attrs.field(converter=read_only)
    hasseg: BoolArray = attrs.field(converter=read_only)

    _kind = "quality_measures"

    def __init__(
        self,
        modelset: IdList,
        segset: IdList,
        modelQ: npt.ArrayLike,
        segQ: npt.ArrayLike,
        hasmodel: npt.ArrayLike | None = None,
        hasseg: npt.ArrayLike | None = None,
        scoremask: npt.ArrayLike | None = None,
    ) -> None:
        ids = arguments.both_ids(modelset, segset)
        for side, name, values in (("model", "hasmodel", hasmodel), ("segment", "hasseg", hasseg)):
            check.refuse_series(values, name, "Of rows in that order take .to_numpy().", side)
        flags = _flags(hasmodel, ids[0], "hasmodel"), _flags(hasseg, ids[1], "hasseg")
        mask = None
        if scoremask is not None:
            # A mask gives no measures to a model that has none; the toolkit refuses such objects.
            possible = np.logical_and.outer(*flags)
            mask = arguments.to_mask(scoremask, ids, "scoremask") & possible
            mask = None if np.array_equal(mask, possible) else mark_read_only(mask)
        matrices = arguments.to_matrix(modelQ, "modelQ"), arguments.to_matrix(segQ, "segQ")
        check.check_frame(modelQ, "modelQ", None, ("modelset", ids[0]))
        check.check_frame(segQ, "segQ", None, ("segset", ids[1]))
        self.__attrs_init__(*ids, mask, *matrices, *flags)

    def __attrs_post_init__(self) -> None:
        """Raise unless there is a column and a flag for each id, with as many measures."""
        check_columns(self.modelQ, self.modelset, "modelQ")
        check_columns(self.segQ, self.segset, "segQ")
        if len(self.segQ) != len(self.modelQ):
            expected = f"have {len(self.modelQ)} rows like `modelQ`"
            raise check.invalid("segQ", expected, f"{len(self.segQ)}")
        super().__attrs_post_init__()

    @classmethod
    def from_segment_quality(cls, models: SegmentQuality, segments: SegmentQuality) -> Self:
        """Combine the measures of models with those of test segments.

        Parameters
        ----------
        models : SegmentQuality
            Measures of the models.
        segments : SegmentQuality
            The same measures of the test segments.

        Returns
        -------
        QualityMeasures
            Every combination of a model and a segment may be used.
        """
        for name, value in (("models", models), ("segments", segments)):
            if not isinstance(value, SegmentQuality):
                raise check.invalid(name, "be a SegmentQuality", check.describe(value))
        return cls(models.ids, segments.ids, models.values, segments.values)

    @property
    def n_measures(self) -> int:
        """Number of quality measures."""
        return int(self.modelQ.shape[0])

    @property
    def scoremask(self) -> BoolArray:
        """True where the measures of model and segment may be used: a new matrix each time."""
        if self.cells is not None:
            return self.cells
        # A row or column that is repeated takes no memory.
        if self.hasseg.all():
            return np.broadcast_to(self.hasmodel[:, np.newaxis], self.shape)
        return mark_read_only(np.logical_and.outer(self.hasmodel, self.hasseg))

    def _counts(self) -> str:
        n_trials = int(np.count_nonzero(self.hasmodel)) * int(np.count_nonzero(self.hasseg))
        if self.cells is not None:
            n_trials = int(np.count_nonzero(self.cells))
        return f"{self.n_measures} measures of {n_trials} trials"

    def __eq__(self, other: object) -> bool:
        """Compare ids, measures and where they may be used."""
        if not isinstance(other, QualityMeasures):
            return NotImplemented
        names = ("modelset", "segset", "modelQ", "segQ", "hasmodel", "hasseg")
        pairs = [(getattr(self, name), getattr(other, name)) for name in names]
        same = all(np.array_equal(*pair, equal_nan=pair[0].dtype.kind == "f") for pair in pairs)
        return same and np.array_equal(self.scoremask, other.scoremask)

    __hash__ = None  # type: ignore[assignment]

    def _stored(self, form: str) -> tuple[str, dict[str, AnyArray]]:
        names = ("modelQ", "segQ", "modelset", "segset", "hasmodel", "hasseg", "scoremask")
        return self._kind, {name: getattr(self, name) for name in names}

    def align_with_ndx(self, ndx: Ndx | Key) -> Self:
        """Bring the measures into the order of an Ndx or a Key and keep its trials only.

        Parameters
        ----------
        ndx : Ndx or Key
            The trials that are wanted.

        Returns
        -------
        QualityMeasures
            With exactly the models and segments of `ndx`, in its order; the values of those without
            measures are 0. The mask is true where `ndx` has a trial and this object its measures.

        Warns
        -----
        MissingTrialsWarning
            If models, segments or trials of `ndx` have no measures, with counts.

        Notes
        -----
        The toolkit refuses not finite values of models and segments without
        measures too; here they are replaced by 0.
        """
        ndx = as_ndx(ndx)
        frame = base.frame_of(ndx, self)
        (model_values, hasmodel), (seg_values, hasseg) = _wanted_sides(self, ndx, frame)
        covered = self._covered(frame, ndx, hasmodel, hasseg)
        found = None if covered.all() else covered
        warn_unless_found(ndx, (int(hasmodel.sum()), int(hasseg.sum())), found)
        mask = ndx.trial_mask & np.logical_and.outer(hasmodel, hasseg)
        if self.cells is not None:
            mask &= frame.take(self.cells)
        return type(self)(*ndx.ids, model_values, seg_values, hasmodel, hasseg, mask)

    def _covered(
        self, frame: Frame, ndx: base.Trials, hasmodel: BoolArray, hasseg: BoolArray
    ) -> BoolArray:
        """Tell for each trial of `ndx`, column by column, whether it has measures."""
        # Two look-ups for each trial, instead of a matrix of all models and segments.
        models, segments = ndx.trial_positions()
        covered = hasmodel[models] & hasseg[segments]
        if self.cells is not None:
            # Position -1 reads some cell, of a trial that is not covered anyway.
            covered &= self.cells[frame.cells(models, segments)]
        return covered

    def _filtered(self, frame: Frame, ids: Ids) -> Self:
        model_values, hasmodel = _moved(self.modelQ, self.hasmodel, frame.rows)
        seg_values, hasseg = _moved(self.segQ, self.hasseg, frame.cols)
        cells = None if self.cells is None else frame.take(self.cells)
        return self._of_fields(*ids, cells, model_values, seg_values, hasmodel, hasseg)

    def merge(self, *others: "QualityMeasures") -> "QualityMeasures":
        """Put the models and segments of several objects into one.

        Parameters
        ----------
        *others : QualityMeasures
            Further objects; ``QualityMeasures.merge(a, b)`` is ``a.merge(b)``.

        Returns
        -------
        QualityMeasures
            The models and segments of all objects, one after the other, not sorted. The mask is
            false where they come from different objects.

        Raises
        ------
        TrialMismatchError
            If a model or a segment is in two of them, or they have different numbers of measures.
        """
        objects = arguments.all_of_class(QualityMeasures, self, *others)
        refuse_shared([item.modelset for item in objects], "models")
        refuse_shared([item.segset for item in objects], "segments")
        check_same_measures([item.n_measures for item in objects])
        shapes = np.array([item.shape for item in objects])
        mask = np.zeros(shapes.sum(axis=0), dtype=np.bool_)
        ends = shapes.cumsum(axis=0)
        # Measures of different objects were not meant to be combined: these blocks stay false.
        for item, (top, left), (bottom, right) in zip(objects, ends - shapes, ends, strict=True):
            mask[top:bottom, left:right] = item.scoremask
        fields = {
            name: np.concatenate([getattr(item, name) for item in objects], axis=-1)
            for name in ("modelset", "segset", "modelQ", "segQ", "hasmodel", "hasseg")
        }
        return QualityMeasures(**fields, scoremask=mask)


Side = tuple[FloatArray, BoolArray]


def _moved(values: FloatArray, flags: BoolArray, positions: Positions | None) -> Side:
    """Return the columns and flags at some positions; position -1: 0 and False."""
    if positions is None:
        return values, flags
    moved = Frame(None, positions, (len(values), positions.size)).take(values)
    return moved, Frame(None, positions, (1, positions.size)).take(flags[np.newaxis])[0]


def _wanted_sides(quality: QualityMeasures, ndx: Ndx | Key, frame: Frame) -> tuple[Side, Side]:
    """Return measures, 0 where there are none, and flags of the models and segments wanted."""
    sides = []
    for name, values, flags, positions, ids in (
        ("modelQ", quality.modelQ, quality.hasmodel, frame.rows, ndx.modelset),
        ("segQ", quality.segQ, quality.hasseg, frame.cols, ndx.segset),
    ):
        # What lies where there are no measures may be NaN, and 0 times NaN would spoil a fusion.
        moved, has = _moved(values, flags, positions)
        if not has.all():
            moved = mark_read_only(np.where(has, moved, moved.dtype.type(0)))
        check_finite(moved, name, ids)
        sides.append((moved, has))
    return sides[0], sides[1]


def measures_of_trials(
    quality: QualityMeasures, ndx: Ndx | Key
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return the measures of the models and segments of some trials, and which are covered."""
    # No matrix of all cells is made. The flags of the trials come column by column.
    frame = base.frame_of(ndx, quality)
    (model_values, hasmodel), (seg_values, hasseg) = _wanted_sides(quality, ndx, frame)
    covered = quality._covered(frame, ndx, hasmodel, hasseg)
    found = None if covered.all() else covered
    warn_unless_found(ndx, (int(hasmodel.sum()), int(hasseg.sum())), found)
    return model_values, seg_values, mark_read_only(covered)


# Measures of several objects, stacked for training and applying

Quality: TypeAlias = QualityMeasures | SegmentQuality | Numbers

Qualities: TypeAlias = Sequence[Quality] | Quality

Measured = TypeVar("Measured", "QualityMeasures", "TrialQuality")


@attrs.frozen(eq=False)
class TrialQuality:
    """The quality measures of the trials of an Ndx or a Key, in any form."""

    # `modelQ` and `segQ` have a row for each measure and a column for each model or segment, 0 for
    # those that have none. `models` and `segments` are the positions of the trials, column by
    # column; `covered` says which of them have measures.

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


def quality_of_trials(qualities: Qualities, ndx: Ndx | Key) -> TrialQuality:
    """Look up quality measures for the same trials and put them one below the other."""
    # As `stack_quality`, but without a matrix of all models and segments, so that the trials may be
    # flat. A trial is covered where it has the measures of every object.
    ndx = as_ndx(ndx)
    parts = [measures_of_trials(_with_models(item, ndx), ndx) for item in _as_list(qualities)]
    return TrialQuality(
        mark_read_only(np.concatenate([part[0] for part in parts])),
        mark_read_only(np.concatenate([part[1] for part in parts])),
        *ndx.trial_positions(),
        mark_read_only(np.logical_and.reduce([part[2] for part in parts])),
    )


def stack_quality(qualities: Qualities, ndx: Ndx | Key) -> QualityMeasures:
    """Align quality measures with the same trials and put them one below the other."""
    # A SegmentQuality describes the test segments only; the measures of all models are then 0. A
    # trial has quality where it has that of every object. Warns for each object that lacks models,
    # segments or trials of `ndx`. BOSARIS: `stackQ.m`.
    ndx = as_ndx(ndx)
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


def _by_id(given: Any) -> tuple[Any, AnyArray]:
    """Return the ids and the values of a mapping, or of a Series with ids as its index."""
    if not _maps_ids(given):
        expected = "be given, unless `ids` is a mapping or a Series of numbers by id"
        raise check.invalid("values", expected, "nothing")
    values = list(given.values() if isinstance(given, Mapping) else given)
    measures = SegmentQuality, QualityMeasures
    if any(isinstance(value, measures) or _maps_ids(value) for value in values):
        hint = "quality_systems takes measures by name; elsewhere they are a list."
        raise check.invalid("values", "be numbers by id", "measures by name", hint)
    return list(given.keys()), np.transpose(values)


def _maps_ids(value: object) -> bool:
    return isinstance(value, Mapping) or type(value).__name__ == "Series"


def as_quality(value: Any) -> Any:
    """Return measures of segments where a mapping, or a Series, gives numbers by id."""
    return SegmentQuality(value) if _maps_ids(value) else value


def _as_list(qualities: Qualities) -> list[QualityMeasures | SegmentQuality]:
    """Return the measures as a list."""
    classes = (QualityMeasures, SegmentQuality)
    what = "QualityMeasures, SegmentQuality or numbers by id"
    if isinstance(qualities, (list, tuple)):
        qualities = [as_quality(item) for item in qualities]
    return arguments.as_list_of(
        classes, as_quality(qualities), "qualities", what, "quality measures"
    )


def _with_models(item: QualityMeasures | SegmentQuality, ndx: Ndx | Key) -> QualityMeasures:
    """Return quality measures of models and segments, with 0 for models that have none."""
    if isinstance(item, QualityMeasures):
        return item
    nothing = mark_read_only(np.zeros((item.n_measures, ndx.modelset.size)))
    return QualityMeasures(ndx.modelset, item.ids, nothing, item.values)


def mix_measures(quality: Measured, qtrans: npt.ArrayLike) -> Measured:
    """Replace the measures of models and segments by linear combinations of them."""
    # `qtrans` has one row for each new measure and one column for each old one. BOSARIS:
    # `applyQtrans.m`.
    matrix = check.as_matrix(qtrans, "qtrans")
    if matrix.shape[1] != quality.n_measures or not len(matrix):
        expected = f"have one column for each of the {quality.n_measures} measures, and a row"
        hint = "Is it transposed?" if matrix.shape[0] == quality.n_measures else ""
        raise check.invalid("qtrans", expected, f"shape {matrix.shape}", hint)
    if not np.isfinite(matrix).all():
        raise check.invalid("qtrans", "be finite", check.describe(matrix.tolist()))
    mixed = mark_read_only(matrix @ quality.modelQ), mark_read_only(matrix @ quality.segQ)
    if isinstance(quality, TrialQuality):
        return attrs.evolve(quality, modelQ=mixed[0], segQ=mixed[1])
    flags = quality.hasmodel, quality.hasseg
    return quality._of_fields(*quality.ids, quality.cells, *mixed, *flags)
