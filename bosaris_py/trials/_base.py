"""What all classes of trials share: models in the rows, test segments in the columns."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from bosaris_py._validation import (
    BoolArray,
    StrArray,
    as_ids,
    describe,
    invalid,
    list_some,
)
from bosaris_py._validation import frozen as mark_read_only
from bosaris_py.trials._fields import IdList, check_models, check_segments
from bosaris_py.trials._files import FileMethods, MatFileMethods
from bosaris_py.trials._frame import Frame, blocks
from bosaris_py.trials.ids import IdIndex, IntArray, union_of

__all__ = [
    "IdUnion",
    "TrialMatrix",
    "TrialSet",
    "check_same_class",
    "kept",
    "log_reduced",
    "name_trials",
]

logger = logging.getLogger(__name__)


def check_same_class(cls: type, objects: Sequence[object]) -> None:
    """Raise unless all objects to be merged are of the same class."""
    for item in objects:
        if not isinstance(item, cls):
            name = cls.__name__
            raise invalid("objects", f"{name}.merge", f"all be {name}", describe(item))


def log_reduced(what: str, before: int, after: int) -> None:
    """Log that a filter has removed something, in the toolkit's words."""
    if after < before:
        logger.info("Number of %s reduced from %d to %d.", what, before, after)


def name_trials(mask: BoolArray, models: StrArray, segments: StrArray) -> str:
    """Return the count and the first few of the trials under a mask, for a message."""
    cols, rows = np.nonzero(mask.T)
    pairs = [f"({models[i]}, {segments[j]})" for i, j in zip(rows[:6], cols[:6], strict=True)]
    noun = "trial" if rows.size == 1 else "trials"
    return f"{rows.size} {noun}: {list_some(pairs)}"


def kept(index: IdIndex, names: StrArray, *, keep: bool) -> IntArray | None:
    """Return the positions that a filter leaves; None says all."""
    if not isinstance(keep, (bool, np.bool_)):
        raise invalid("keep", "filter", "be True or False", describe(keep))
    present = index.which_in(names)
    if not keep:
        present = ~present
    return None if present.all() else np.flatnonzero(present)


@frozen(eq=False, repr=False)
class TrialSet(FileMethods, ABC):
    """Base of the classes that say something about models and test segments.

    Parameters
    ----------
    modelset : (m,) array_like of str
        Ids of the models, each once.
    segset : (n,) array_like of str
        Ids of the test segments, each once.
    """

    modelset: StrArray = field(validator=check_models)
    segset: StrArray = field(validator=check_segments)

    @cached_property
    def _model_index(self) -> IdIndex:
        return IdIndex.of(self.modelset)

    @cached_property
    def _segment_index(self) -> IdIndex:
        return IdIndex.of(self.segset)

    @property
    def _shape(self) -> tuple[int, int]:
        return self.modelset.size, self.segset.size

    def __repr__(self) -> str:
        """Return the counts in one line."""
        n_models, n_segments = self._shape
        counts = self._counts()
        return f"{type(self).__name__}: {n_models} models x {n_segments} segments, {counts}"

    @abstractmethod
    def _counts(self) -> str:
        """Return what the cells hold, counted, for the representation."""

    def _frame_for(self, target: "TrialSet") -> Frame:
        """Tell where the models and segments of `target` lie in this object."""
        return Frame(
            self._model_index.locate(target._model_index),
            self._segment_index.locate(target._segment_index),
            target._shape,
        )

    def _filter_frame(self, models: IdList, segments: IdList, *, keep: bool) -> Frame:
        """Tell where the rows and columns lie that a filter leaves; log what goes."""
        owner = f"{type(self).__name__}.filter"
        rows = kept(self._model_index, as_ids(models, "models", owner), keep=keep)
        cols = kept(self._segment_index, as_ids(segments, "segments", owner), keep=keep)
        n_models, n_segments = self._shape
        shape = (
            n_models if rows is None else rows.size,
            n_segments if cols is None else cols.size,
        )
        log_reduced("models", n_models, shape[0])
        log_reduced("test segments", n_segments, shape[1])
        return Frame(rows, cols, shape)


@frozen(eq=False, repr=False)
class TrialMatrix(TrialSet, MatFileMethods):
    """Base of the classes with one row per model and one column per test segment."""

    # Names of the fields that have one cell per model and segment.
    _matrices: ClassVar[tuple[str, ...]] = ()

    def _fields_in(self, frame: Frame) -> dict[str, npt.NDArray[Any]]:
        """Return the fields of this object for the rows and columns of a filter."""
        fields: dict[str, npt.NDArray[Any]] = {
            "modelset": self.modelset if frame.rows is None else self.modelset[frame.rows],
            "segset": self.segset if frame.cols is None else self.segset[frame.cols],
        }
        for name in self._matrices:
            fields[name] = frame.take(getattr(self, name))
        return {name: mark_read_only(array) for name, array in fields.items()}

    def filter(self, models: IdList, segments: IdList, keep: bool) -> Self:  # noqa: FBT001
        """Keep only, or remove, the models and segments that are listed.

        Parameters
        ----------
        models : (k,) array_like of str
            Ids of models; those that the object does not have are ignored.
        segments : (l,) array_like of str
            Ids of segments; those that the object does not have are ignored.
        keep : bool
            True keeps what is in the lists, False what is not. Both lists are
            meant in the same way. May be given by position, as in the toolkit.

        Returns
        -------
        Self
            The object with fewer rows and columns, in their old order. An empty
            list with ``keep=True`` leaves nothing.

        Notes
        -----
        How many models and segments went is logged at level INFO.

        To remove models only, give an empty list of segments and ``keep=False``.
        """
        return type(self)(**self._fields_in(self._filter_frame(models, segments, keep=keep)))


@frozen(eq=False)
class IdUnion:
    """The sorted union of the models and of the segments of several objects."""

    models: IdIndex
    segments: IdIndex

    @classmethod
    def of(cls, objects: Sequence[TrialSet]) -> "IdUnion":
        """Unite the ids of `objects`."""
        return cls(
            union_of([item.modelset for item in objects]),
            union_of([item.segset for item in objects]),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of models and segments."""
        return self.models.ids.size, self.segments.ids.size

    def place(self, item: TrialMatrix) -> tuple[Frame, Iterator[tuple[slice, Any]]]:
        """Tell how the matrices of `item` are added to those of the union.

        Returns
        -------
        frame : Frame
            Takes blocks of rows of `item`, with the columns as they lie in a
            contiguous part of the union.
        parts : iterator of (slice, index)
            Blocks of rows of `item`, each with the index of its cells in the union.

        Notes
        -----
        Gathering whole rows and adding them is ten times faster in numpy than
        addressing the cells by lists of rows and columns.
        """
        rows = self.models.locate(item._model_index)
        cols = _as_slice(self.segments.locate(item._segment_index))
        if isinstance(cols, slice):
            frame = Frame(None, None, item._shape)
        else:
            sources = item._segment_index.locate(self.segments)
            frame = Frame(None, sources, (item.modelset.size, self.segments.ids.size))
            cols = slice(None)
        parts = (
            (block, (block if rows is None else _as_slice(rows[block]), cols))
            for block in blocks(*frame.shape)
        )
        return frame, parts


def _as_slice(positions: IntArray | None) -> slice | IntArray:
    """Return ascending neighbours as a slice, other positions as they are."""
    if positions is None:
        return slice(None)
    if positions.size and (np.diff(positions) == 1).all():
        return slice(int(positions[0]), int(positions[-1]) + 1)
    return positions
