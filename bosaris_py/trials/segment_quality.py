"""Quality measures of single segments."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from attrs import Attribute, field, frozen

from bosaris_py._validation import (
    FloatArray,
    StrArray,
    as_ids,
    invalid,
    list_some,
    warn_caller,
)
from bosaris_py._validation import frozen as mark_read_only
from bosaris_py.errors import MissingTrialsWarning, TrialMismatchError
from bosaris_py.storage import hdf5, mat, text
from bosaris_py.trials._base import check_same_class, kept, log_reduced
from bosaris_py.trials._fields import IdList, to_matrix
from bosaris_py.trials._files import MatFileMethods, NumberFileMethods, Storage
from bosaris_py.trials._frame import Frame
from bosaris_py.trials.ids import IdIndex

__all__ = ["SegmentQuality", "check_finite", "refuse_shared"]


@frozen(init=False, eq=False, repr=False)
class SegmentQuality(MatFileMethods, NumberFileMethods):
    """Quality measures of segments, for instance their duration or noise level.

    Parameters
    ----------
    ids : (n,) array_like of str
        Ids of the segments, each once.
    values : (q, n) array_like of float
        One row per measure, one column per segment.

    Raises
    ------
    InvalidInputError
        If an id occurs twice, or `values` has not one column per id.

    See Also
    --------
    QualityMeasures : Measures of the models and of the test segments together.

    Notes
    -----
    The object and its arrays are read-only; methods return new objects. Arrays
    that others could write to are copied on construction.

    Examples
    --------
    >>> from bosaris_py.trials import SegmentQuality
    >>> SegmentQuality(["s1", "s2"], [[3.5, 7.25]])
    SegmentQuality: 1 measures of 2 segments
    """

    ids: StrArray = field()
    values: FloatArray = field()

    _storage: ClassVar[Storage] = Storage(
        read_hdf5=hdf5.read_segment_quality,
        write_hdf5=hdf5.write_segment_quality,
        read_mat=mat.read_segment_quality,
        write_mat=mat.write_segment_quality,
        read_txt=text.read_segment_quality,
        write_txt=text.write_segment_quality,
    )

    def __init__(self, ids: IdList, values: npt.ArrayLike) -> None:
        self.__attrs_init__(
            as_ids(ids, "ids", "SegmentQuality"), to_matrix(values, "values", "SegmentQuality")
        )

    @ids.validator
    def _check_ids(self, attribute: "Attribute[Any]", ids: StrArray) -> None:
        """Raise if a segment occurs twice."""
        self._index.check_unique("ids", "SegmentQuality")

    @values.validator
    def _check_values(self, attribute: "Attribute[Any]", values: FloatArray) -> None:
        """Raise unless there is one column per segment."""
        if values.shape[1] != self.ids.size:
            expected = f"have one column for each of the {self.ids.size} ids"
            hint = "Did you swap measures and segments?" if len(values) == self.ids.size else ""
            raise invalid("values", "SegmentQuality", expected, f"shape {values.shape}", hint)

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
            With exactly the segments of the list, in its order; the values of
            segments without measures are 0.

        Raises
        ------
        InvalidInputError
            If an id occurs twice, or a value of a wanted segment is not finite.

        Warns
        -----
        MissingTrialsWarning
            If the object has more segments than the list, or lacks some of the
            list, with counts.
        """
        wanted = IdIndex.of(as_ids(ids, "ids", "SegmentQuality.align_with_ids"))
        wanted.check_unique("ids", "SegmentQuality.align_with_ids")
        frame = Frame(None, self._index.locate(wanted), (self.n_measures, wanted.ids.size))
        values = frame.take(self.values)
        check_finite(values, "values", "SegmentQuality", wanted.ids)
        if wanted.ids.size < self.ids.size:
            message = f"Number of segments reduced from {self.ids.size} to {wanted.ids.size}"
            warn_caller(message, MissingTrialsWarning)
        n_missing = wanted.ids.size - frame.n_cols_found
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
            True keeps what is in the list, False what is not. May be given by
            position, like that of the other classes.

        Returns
        -------
        SegmentQuality
            The object with fewer segments, in their old order.

        Notes
        -----
        How many segments went is logged at level INFO.
        """
        names = as_ids(ids, "ids", "SegmentQuality.filter")
        cols = kept(self._index, names, keep=keep)
        if cols is None:
            return self
        log_reduced("segments", self.ids.size, cols.size)
        frame = Frame(None, cols, (self.n_measures, cols.size))
        return type(self)(mark_read_only(self.ids[cols]), frame.take(self.values))

    def merge(self, *others: "SegmentQuality") -> "SegmentQuality":
        """Put the segments of several objects into one.

        Parameters
        ----------
        *others : SegmentQuality
            Objects to be merged with this one. ``SegmentQuality.merge(a, b)`` and
            ``a.merge(b)`` mean the same.

        Returns
        -------
        SegmentQuality
            The segments of all objects, one after the other, not sorted.

        Raises
        ------
        InvalidInputError
            If one of the objects is not a SegmentQuality.
        TrialMismatchError
            If a segment is in two of them, or they have different numbers of measures.
        """
        objects = (self, *others)
        check_same_class(SegmentQuality, objects)
        refuse_shared([item.ids for item in objects], "segments")
        check_same_measures([item.n_measures for item in objects])
        return SegmentQuality(
            mark_read_only(np.concatenate([item.ids for item in objects])),
            mark_read_only(np.concatenate([item.values for item in objects], axis=1)),
        )


def check_finite(values: FloatArray, name: str, owner: str, ids: StrArray) -> None:
    """Raise if a measure is not finite, naming the first ids that it belongs to."""
    bad = ~np.isfinite(values).all(axis=0)
    if bad.any():
        found = f"NaN or infinity for {np.count_nonzero(bad)} ids ({list_some(ids[bad])})"
        raise invalid(name, owner, "be finite for the ids that are wanted", found)


def refuse_shared(id_lists: Sequence[StrArray], what: str) -> None:
    """Raise if an id is in two of the objects that are to be merged."""
    index = IdIndex.of(np.concatenate(id_lists))
    if index.has_repeated():
        repeated = index.ordered[1:][index.ordered[1:] == index.ordered[:-1]]
        message = (
            f"The objects to be merged share {repeated.size} {what} ({list_some(repeated)}); "
            f"each must be in one only."
        )
        raise TrialMismatchError(message)


def check_same_measures(counts: Sequence[int]) -> None:
    """Raise unless all objects that are to be merged have as many measures."""
    if len(set(counts)) > 1:
        message = f"The objects to be merged have {list_some(counts)} quality measures."
        raise TrialMismatchError(message)
