"""Quality measures of segments and of trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self, TypeVar

import attrs
import numpy as np
import scipy

import bosaris_py.trials.alignment as align
from bosaris_py import _arrays as arrays, _validation as check, errors
from bosaris_py._arrays import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray, StrArray
from bosaris_py.trials.alignment import IdList, Ids, from_columns
from bosaris_py.trials.key import Key, Ndx, as_ndx
from bosaris_py.trials.trials import FileMethods, Grid

# One value for each id, or one of each measure.
Numbers = Mapping[str, ArrayLike]


@attrs.frozen(init=False, eq=False, repr=False)
class SegmentQuality(FileMethods):
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

    ids: StrArray = attrs.field(converter=arrays.read_only)
    values: FloatArray = attrs.field(converter=arrays.read_only)

    _kind = "segment_quality"

    def __init__(self, ids: IdList | Numbers, values: ArrayLike | None = None) -> None:
        names, listed = _by_id(ids) if values is None else (ids, check.as_list(values))
        if np.ndim(listed) == 1:
            if check.row_labels(names) is None:
                hint = "A mapping {id: value}, or a Series with ids as its index, stands for both."
                check.refuse_series(listed, "values", hint, "segment")
            check.check_same_rows({"ids": names, "values": listed})
            # One measure needs no second dimension.
            listed = [listed]
        names, matrix = check.as_ids(names, "ids"), check.as_matrix(listed, "values")
        check.check_frame(listed, "values", None, ("ids", names))
        hint = "Of a table with a row for each trial take one for each id: drop_duplicates(column)."
        check.check_unique(names, "ids", hint)
        check.check_shape(matrix, (len(matrix), names.size), "values", "like `ids`")
        self.__attrs_init__(names, matrix)

    def _for_models(self, models: StrArray) -> QualityMeasures:
        """Return measures of models, which are 0, and of these segments."""
        zeros = np.zeros((self.n_measures, models.size))
        return QualityMeasures(models, self.ids, zeros, self.values)

    @property
    def n_measures(self) -> int:
        """Number of quality measures."""
        return len(self.values)

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
        wanted = check.as_ids(ids, "ids")
        places = align.places_of(wanted, self.ids)
        values, has = _at(self.values, np.ones(self.ids.size, np.bool_), places, "values", wanted)
        n, n_wanted, n_missing = self.ids.size, wanted.size, int(np.count_nonzero(~has))
        texts = [f"Number of segments reduced from {n} to {n_wanted}"] * (n_wanted < n)
        texts += [f"{n_missing} of {n_wanted} ids don't have quality values"] * (n_missing > 0)
        errors.warn([errors.Note(errors.MissingTrialsWarning, text) for text in texts])
        return type(self)(wanted, values)

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
        places = align.kept(self.ids, ids, "ids", "segments", keep=keep)
        return type(self)(self.ids[places], self.values[:, places])

    def merge(self, *others: SegmentQuality) -> SegmentQuality:
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
        objects = align.all_of_class(SegmentQuality, self, *others)
        _check_parts(objects, segments="ids")
        ids = np.concatenate([item.ids for item in objects])
        return SegmentQuality(ids, np.concatenate([item.values for item in objects], axis=1))


def _by_id(given: object) -> tuple[IdList, ArrayLike]:
    """Return the ids and the values of a mapping, or of a Series with ids as its index."""
    if isinstance(given, Mapping):
        return list(given), np.transpose(list(given.values()))
    index = check.row_labels(given)
    if index is None:
        expected = "be given, unless `ids` is a mapping or a Series of numbers by id"
        raise check.invalid("values", expected, "nothing")
    return list(index), np.asarray(given)


def _at(
    values: FloatArray, has: BoolArray, places: IntArray | None, name: str, ids: StrArray
) -> tuple[FloatArray, BoolArray]:
    """Return the measures and flags of wanted ids, 0 at place -1; None says all in their order."""
    if places is not None:
        # Place -1 is behind the last one.
        values, has = np.pad(values, [(0, 0), (0, 1)])[:, places], np.append(has, False)[places]
    # What lies where there are no measures may be NaN; 0 times NaN would spoil a fusion.
    values = np.where(has, values, values.dtype.type(0))
    check_finite(values, name, ids)
    return values, has


def check_finite(values: FloatArray, name: str, ids: StrArray) -> None:
    """Raise if a measure is not finite, naming the first ids that it belongs to."""
    bad = ~np.isfinite(values).all(axis=0)
    if bad.any():
        found = f"NaN or infinity for {np.count_nonzero(bad)} ids ({check.list_some(ids[bad])})"
        hint = "Leave out ids whose measure is missing (NaN); the logarithm of 0 is -inf."
        raise check.invalid(name, "be finite for the ids that are wanted", found, hint)


def _flags(flags: ArrayLike | None, ids: StrArray, name: str) -> BoolArray:
    """Return one flag for each id; None says that all have measures."""
    if flags is None:
        return np.ones(ids.size, dtype=np.bool_)
    side = "model" if name == "hasmodel" else "segment"
    check.refuse_series(flags, name, "Of rows in that order take .to_numpy().", side)
    mask = check.as_mask(flags, name)
    check.check_shape(mask, ids.shape, name, "(ids)")
    return mask


def _check_parts(objects: Sequence[SegmentQuality | QualityMeasures], **names: str) -> None:
    """Raise if objects to be merged share an id, or have different numbers of measures."""
    for what, name in names.items():
        shared = check.repetitions(np.concatenate([getattr(x, name) for x in objects]).tolist())
        if shared:
            found = f"{len(shared)} {what} ({check.list_some(shared)})"
            message = f"The objects to be merged share {found}; each must be in one only."
            raise errors.TrialMismatchError(message)
    counts = [item.n_measures for item in objects]
    if len(set(counts)) > 1:
        raise errors.TrialMismatchError(f"The objects to be merged have {counts} quality measures.")


@attrs.frozen(init=False, eq=False, repr=False)
class QualityMeasures(Grid):
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

    modelQ: FloatArray = attrs.field(converter=arrays.read_only)
    segQ: FloatArray = attrs.field(converter=arrays.read_only)
    hasmodel: BoolArray = attrs.field(converter=arrays.read_only)
    hasseg: BoolArray = attrs.field(converter=arrays.read_only)
    # None where the flags say all.
    _mask: BoolArray | None = attrs.field(converter=attrs.converters.optional(arrays.read_only))

    _kind, _formats = "quality_measures", (".h5", ".hdf5", ".mat")

    def __init__(
        self,
        modelset: IdList,
        segset: IdList,
        modelQ: ArrayLike,
        segQ: ArrayLike,
        hasmodel: ArrayLike | None = None,
        hasseg: ArrayLike | None = None,
        scoremask: ArrayLike | None = None,
    ) -> None:
        ids = align.both_ids(modelset, segset)
        flags = _flags(hasmodel, ids[0], "hasmodel"), _flags(hasseg, ids[1], "hasseg")
        mask = None
        if scoremask is not None:
            # A mask gives no measures to a model that has none; the toolkit refuses such objects.
            possible = np.logical_and.outer(*flags)
            mask = align.to_mask(scoremask, ids, "scoremask") & possible
            mask = None if np.array_equal(mask, possible) else arrays.mark_read_only(mask)
        values = check.as_matrix(modelQ, "modelQ"), check.as_matrix(segQ, "segQ")
        names = zip(("modelQ", "segQ"), ("modelset", "segset"), strict=True)
        for (name, side), given, value, own in zip(names, (modelQ, segQ), values, ids, strict=True):
            check.check_frame(given, name, None, (side, own))
            check.check_shape(value, (len(values[0]), own.size), name, f"(measures, `{side}`)")
        self.__attrs_init__(*ids, *values, *flags, mask)

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
        return cls(models.ids, segments.ids, models.values, segments.values)

    @property
    def n_measures(self) -> int:
        """Number of quality measures."""
        return len(self.modelQ)

    @property
    def scoremask(self) -> BoolArray:
        """True where the measures of model and segment may be used: a new matrix each time."""
        if self._mask is not None:
            return self._mask
        return arrays.mark_read_only(np.logical_and.outer(self.hasmodel, self.hasseg))

    def _counts(self) -> str:
        n_trials = np.count_nonzero(self.hasmodel) * np.count_nonzero(self.hasseg)
        n_trials = n_trials if self._mask is None else np.count_nonzero(self._mask)
        return f"{self.n_measures} measures of {n_trials} trials"

    def _stored(self, form: str) -> tuple[str, dict[str, AnyArray]]:
        arrays = {**self._fields(), "scoremask": self.scoremask}
        del arrays["mask"]
        return self._kind, arrays

    def align_with_ndx(self, ndx: Ndx | Key) -> QualityMeasures:
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
        return stack_quality(self, ndx)

    def _for_models(self, models: StrArray) -> QualityMeasures:
        return self

    def _at_trials(self, ndx: Ndx | Key) -> tuple[AnyArray, ...]:
        """Return measures and flags of models and of segments, and which trials have both."""
        frame = align.frame_of(ndx.ids, self.ids)
        models = _at(self.modelQ, self.hasmodel, frame.rows, "modelQ", ndx.modelset)
        segments = _at(self.segQ, self.hasseg, frame.cols, "segQ", ndx.segset)
        # Two look-ups for each trial, instead of a matrix of all models and segments.
        rows, cols = ndx.trial_positions()
        covered = models[1][rows] & segments[1][cols]
        if self._mask is not None:
            # Position -1 reads some cell, of a trial that is not covered anyway.
            covered &= self._mask[frame.cells(rows, cols)]
        n_ids = int(np.count_nonzero(models[1])), int(np.count_nonzero(segments[1]))
        errors.warn(align.notes_of_missing(ndx.shape, n_ids, ndx.counts(), ndx.counts(covered)))
        return models[0], segments[0], models[1], segments[1], covered

    def _filtered(self, rows: IntArray, cols: IntArray, ids: Ids) -> Self:
        values, flags = (self.modelQ[:, rows], self.segQ[:, cols]), (self.hasmodel, self.hasseg)
        mask = None if self._mask is None else self._mask[np.ix_(rows, cols)]
        return type(self)(*ids, *values, flags[0][rows], flags[1][cols], mask)

    def merge(self, *others: QualityMeasures) -> QualityMeasures:
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
        objects = align.all_of_class(QualityMeasures, self, *others)
        _check_parts(objects, models="modelset", segments="segset")
        # Measures of different objects were not meant to be combined: these blocks stay false.
        mask = scipy.linalg.block_diag(*(item.scoremask for item in objects))
        names = ("modelset", "segset", "modelQ", "segQ", "hasmodel", "hasseg")
        lists = ([getattr(item, name) for item in objects] for name in names)
        return QualityMeasures(*[*(np.concatenate(each, axis=-1) for each in lists), mask])


# Measures of several objects, stacked for training and applying

Quality = QualityMeasures | SegmentQuality | Numbers

Qualities = Sequence[Quality] | Quality

Measured = TypeVar("Measured", "QualityMeasures", "TrialQuality")


@attrs.frozen(init=False, eq=False)
class TrialQuality(arrays.ArrayRecord):
    """The quality measures of the trials of an Ndx or a Key, in any form."""

    # `modelQ` and `segQ` have a row for each measure and a column for each model or segment, 0 for
    # those that have none. `models` and `segments` are the positions of the trials, column by
    # column; `covered` says which of them have measures.

    modelQ: FloatArray
    segQ: FloatArray
    models: IntArray
    segments: IntArray
    covered: BoolArray

    @property
    def n_measures(self) -> int:
        """Number of quality measures."""
        return len(self.modelQ)

    @property
    def n_missing(self) -> int:
        """Number of trials without measures."""
        return self.covered.size - int(np.count_nonzero(self.covered))


def quality_of_trials(qualities: Qualities, ndx: Ndx | Key) -> TrialQuality:
    """Look up quality measures for the same trials and put them one below the other."""
    # As `stack_quality`, but without a matrix of all models and segments, so that the trials may be
    # a list. A trial is covered where it has the measures of every object.
    ndx = as_ndx(ndx)
    *values, _, _, covered = _stacked(qualities, ndx)
    return TrialQuality._made(*values, *ndx.trial_positions(), covered)


def stack_quality(qualities: Qualities, ndx: Ndx | Key) -> QualityMeasures:
    """Align quality measures with the same trials and put them one below the other."""
    # A SegmentQuality describes the test segments only; the measures of all models are then 0. A
    # trial has quality where it has that of every object. Warns for each object that lacks models,
    # segments or trials of `ndx`. BOSARIS: `stackQ.m`.
    ndx = as_ndx(ndx)
    *arrays, covered = _stacked(qualities, ndx)
    mask = from_columns(covered, ndx.cells, ndx.shape)
    return QualityMeasures(*[*ndx.ids, *arrays, mask])


def _stacked(qualities: Qualities, ndx: Ndx | Key) -> tuple[AnyArray, ...]:
    """Return measures one below the other, and what has those of all objects."""
    given = as_quality(qualities)
    listed = list(map(as_quality, given)) if isinstance(given, list | tuple) else given
    classes: tuple[type[QualityMeasures | SegmentQuality], ...] = QualityMeasures, SegmentQuality
    parts = [
        item._for_models(ndx.modelset)._at_trials(ndx)
        for item in align.as_list_of(classes, listed, "qualities")
    ]
    models, segments, *flags = zip(*parts, strict=True)
    stacked = np.concatenate(models), np.concatenate(segments), *map(np.logical_and.reduce, flags)
    return tuple(map(arrays.mark_read_only, stacked))


def as_quality(value: object) -> object:
    """Return measures of segments where a mapping, or a Series, gives numbers by id."""
    by_id = isinstance(value, Mapping) or check.row_labels(value) is not None
    return SegmentQuality(*_by_id(value)) if by_id else value


def mix_measures(quality: Measured, qtrans: ArrayLike) -> Measured:
    """Replace the measures of models and segments by linear combinations of them."""
    # `qtrans` has one row for each new measure and one column for each old one. BOSARIS:
    # `applyQtrans.m`.
    matrix = check.as_matrix(qtrans, "qtrans")
    if matrix.shape[1] != quality.n_measures or not len(matrix):
        expected = f"have one column for each of the {quality.n_measures} measures, and a row"
        raise check.invalid("qtrans", expected, f"shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise check.invalid("qtrans", "be finite", check.describe(matrix.tolist()))
    mixed = {n: arrays.mark_read_only(matrix @ getattr(quality, n)) for n in ("modelQ", "segQ")}
    return quality._made(**{**quality._fields(), **mixed})
