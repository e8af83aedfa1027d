"""Base classes of trial objects: their files, and sets of trials as matrices and as lists.

A list holds one number per trial and side, a matrix a cell for every model and segment. Ten million
trials of 100,000 models and as many segments are 80 MB instead of 10 GB. Trials are listed column
by column, each once. So vectors made from a list and from a matrix are identical.
"""

from __future__ import annotations

import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from numbers import Real
from types import ModuleType
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt
from attrs import frozen

import bosaris_py.trials.alignment as align
from bosaris_py import _validation as check, errors
from bosaris_py._arrays import (
    AnyArray,
    ArrayRecord,
    BoolArray,
    FloatArray,
    Positions,
    StrArray,
    mark_read_only,
    read_only,
)
from bosaris_py._cautions import warn_caller
from bosaris_py._html import MOST_COLUMNS, MOST_ROWS, card, mask_drawing, spread_of
from bosaris_py._tables import Records
from bosaris_py._validation import FilePath
from bosaris_py.files import hdf5, mat, toolkit
from bosaris_py.files.columns import Factor, as_positions, disagree, order_trials
from bosaris_py.files.text import Table
from bosaris_py.files.writing import write_table
from bosaris_py.trials.alignment import IdList

# Files

# The format of each extension of a file name; a class has those that it has methods for.
_FORMATS = {".h5": "hdf5", ".hdf5": "hdf5", ".mat": "mat", ".txt": "txt", ".csv": "csv"}

_NO_FORMAT = {
    ".txt": "This class has no text format.",
    ".mat": "This class has no MATLAB format; its dense form has one.",
}
_TABLES = "Tables: read_key or read_scores, and files.writing.write_table(path, to_table(x))."


class FileMethods(ArrayRecord):
    """Reading and saving in HDF5 files, and by the extension of the name of the file."""

    __slots__ = ()

    # The kind of the class in the layer of files: a key of `layout.KINDS`.
    _kind: ClassVar[str]

    @classmethod
    def _format_of(cls, path: FilePath, action: Literal["read", "save"] = "read") -> str:
        """Return the format that a file name stands for, which the class must have."""
        extension = check.as_path(path).suffix.lower()
        form = _FORMATS.get(extension, "")
        if form and hasattr(cls, f"{action}_{form}"):
            return form
        known = [known for known, form in _FORMATS.items() if hasattr(cls, f"{action}_{form}")]
        expected = f"end in {', '.join(known[:-1])} or {known[-1]}"
        raise check.invalid("path", expected, repr(str(path)), _NO_FORMAT.get(extension, _TABLES))

    @classmethod
    def _of_checked(cls, **arrays: AnyArray) -> Self:
        """Build an object of arrays that a reader of files has made."""
        return cls(**arrays)

    @classmethod
    def _from_file(cls, path: FilePath, arrays: dict[str, AnyArray]) -> Self:
        """Build the object from the content of a file, which an error then names."""
        try:
            return cls._of_checked(**arrays)
        except errors.InvalidInputError as error:
            raise errors.FileFormatError(f"{path}: {error}") from error

    @classmethod
    def read(cls, path: FilePath, *, max_bytes: int | None = None, progress: bool = False) -> Self:
        """Read an object from a file; the extension of its name names the format.

        Parameters
        ----------
        path : str or path-like
            Its name ends in ``.h5`` or ``.hdf5`` or, if the class has such a format, in ``.mat`` or
            ``.txt``, in upper or lower case.
        max_bytes : int, optional
            Refuse a file whose contents would take more memory than this.
        progress : bool, optional
            Show a progress bar while a text file is read.

        Returns
        -------
        Self
        """
        form = cls._format_of(path)
        options = {"progress": progress} if form == "txt" else {}
        found: Self = getattr(cls, f"read_{form}")(path, max_bytes=max_bytes, **options)
        return found

    def save(self, path: FilePath) -> None:
        """Save the object in a file; the extension of its name names the format.

        An existing file is replaced only when the new one is complete.

        Parameters
        ----------
        path : str or path-like
            As for `read`; trials, keys and scores also as ``.csv``, see `save_csv` there.
        """
        getattr(self, f"save_{self._format_of(path, 'save')}")(path)

    @classmethod
    def read_hdf5(cls, path: FilePath, *, max_bytes: int | None = None) -> Self:
        """Read an object from an HDF5 file, whatever its name.

        Parameters
        ----------
        path, max_bytes
            As for `read`.

        Returns
        -------
        Self
        """
        return cls._from_file(path, hdf5.read(cls._kind, path, max_bytes=max_bytes))

    def save_hdf5(self, path: FilePath) -> None:
        """Save the object as an HDF5 file, whatever its name.

        Parameters
        ----------
        path : str or path-like
            Name of the file, which is replaced if it exists.
        """
        arrays: dict[str, Any] = self._arrays()
        hdf5.write(self._kind, path, **arrays)


class MatFileMethods(FileMethods):
    """Reading and saving in MATLAB files too."""

    __slots__ = ()

    @classmethod
    def read_mat(cls, path: FilePath, *, max_bytes: int | None = None) -> Self:
        """Read an object from a MATLAB file, whatever its name.

        Parameters
        ----------
        path, max_bytes
            As for `read_hdf5`.

        Returns
        -------
        Self
        """
        return cls._from_file(path, mat.read(cls._kind, path, max_bytes=max_bytes))

    def save_mat(self, path: FilePath) -> None:
        """Save the object as a MATLAB file like the toolkit's, whatever its name.

        Parameters
        ----------
        path
            As for `save_hdf5`.
        """
        mat.write(self._kind, path, **self._arrays())


class TextFileMethods(FileMethods):
    """Reading and saving in text files too."""

    __slots__ = ()

    @classmethod
    def read_txt(
        cls, path: FilePath, *, max_bytes: int | None = None, progress: bool = False
    ) -> Self:
        """Read an object from a text file, whatever its name.

        Parameters
        ----------
        path, max_bytes, progress
            As for `read`.

        Returns
        -------
        Self
            The object in the file. Matrices of trials have their models and segments sorted,
            because the file lists only trials.
        """
        arrays = toolkit.read(cls._kind, path, max_bytes=max_bytes, progress=progress)
        return cls._from_file(path, arrays)

    def save_txt(self, path: FilePath) -> None:
        """Save the object as a text file, whatever its name.

        Parameters
        ----------
        path
            As for `save_hdf5`.
        """
        toolkit.write(self._kind, path, number_format=None, **self._arrays())


class NumberFileMethods(TextFileMethods):
    """Reading and saving of what holds numbers, which text can round."""

    __slots__ = ()

    def save(self, path: FilePath, *, number_format: str | None = None) -> None:
        """Save the object in a file; the extension of its name names the format.

        An existing file is replaced only when the new one is complete.

        Parameters
        ----------
        path : str or path-like
            Its name ends in ``.h5``, ``.hdf5``, ``.mat``, ``.txt`` or ``.csv``.
        number_format : str, optional
            For text files only: see `save_txt`.
        """
        form = self._format_of(path, "save")
        if form in ("txt", "csv"):
            getattr(self, f"save_{form}")(path, number_format=number_format)
        elif number_format is None:
            super().save(path)
        else:
            expected = "be given for text files only"
            raise check.invalid("number_format", expected, f"the file {str(path)!r}")

    def save_txt(self, path: FilePath, *, number_format: str | None = None) -> None:
        """Save the object as a text file, whatever its name.

        Parameters
        ----------
        path
            As for `save_hdf5`.
        number_format : str, optional
            How a number is written, for instance ``"%.4f"``. By default with as many digits as are
            needed to read the same number back.

        Notes
        -----
        The toolkit writes ``"%f"``, six decimals, which loses most of a small
        number.
        """
        toolkit.write(self._kind, path, number_format=number_format, **self._arrays())


logger = logging.getLogger(__name__)

# Models and segments as they are given: lists of ids, and positions of trials in such lists.
IdLists = tuple[IdList, IdList]
Places = tuple[npt.ArrayLike, npt.ArrayLike]

Merged = TypeVar("Merged")

# The largest matrix that `to_dense` makes by default.
# A matrix of scores of this size takes 0.9 GB with its mask.
MAX_CELLS = 10**8

# The words of the toolkit, so that users of its scripts see what they know.
_MISSING_IDS = (
    "models reduced from {wanted} to {found}",
    "test segments reduced from {wanted} to {found}",
)

_MISSING_TRIALS = ("{missing} of {wanted} trials missing",)

_MISSING_OF_KEY = (
    "{missing} of {wanted} targets missing.",
    "{missing} of {wanted} non-targets missing.",
)


# Messages


def name_trials(models: AnyArray, segments: AnyArray, ids: align.Ids) -> str:
    """Return the count and the first few of some trials, for a message; each comes once."""
    codes = models.astype(np.int64) * ids[1].size + segments
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    pairs = [
        f"({ids[0][models[at]]}, {ids[1][segments[at]]}){f' in {n} lines' if n > 1 else ''}"
        for at, n in sorted(zip(first.tolist(), counts.tolist(), strict=True))[:6]
    ]
    return f"{first.size} {'trial' if first.size == 1 else 'trials'}: {check.list_some(pairs)}"


def name_cells(mask: BoolArray, ids: align.Ids) -> str:
    """Return the count and the first few of the trials under a mask, for a message."""
    segments, models = np.nonzero(mask.T)
    return name_trials(models, segments, ids)


def warn_missing(
    shape: Sequence[int], n_ids: Sequence[int], wanted: Sequence[int], found: Sequence[int]
) -> None:
    """Warn, in the toolkit's words, about models, segments and trials that are missing."""
    # `shape` and `n_ids` are the numbers of models and segments that are wanted and found, `wanted`
    # and `found` those of trials or, of a key, of targets and of non-targets.
    messages = _MISSING_IDS + (_MISSING_TRIALS if len(wanted) == 1 else _MISSING_OF_KEY)
    for message, n_wanted, n_found in zip(
        messages, (*shape, *wanted), (*n_ids, *found), strict=True
    ):
        if n_found < n_wanted:
            text = message.format(wanted=n_wanted, found=n_found, missing=n_wanted - n_found)
            warn_caller(text, errors.MissingTrialsWarning)


def all_of_class(cls: type[Merged], *objects: Merged) -> tuple[Merged, ...]:
    """Return objects that are to be merged, all of which must be of the same class."""
    for item in objects:
        if not isinstance(item, cls):
            hint = "Write merge(*objects)." if isinstance(item, list | tuple) else ""
            raise check.invalid("objects", f"all be {cls.__name__}", check.describe(item), hint)
    return objects


def as_list_of(
    classes: tuple[type[Merged], ...], values: Any, name: str, what: str, all_of: str
) -> list[Merged]:
    """Return objects of some classes that are to be stacked, or a single one; refuse none."""
    if isinstance(values, Mapping):
        # The order counts, in training and in application, and that of a mapping is hardly seen.
        hint = f"Put the {all_of} into a list, in the order of the training."
        raise check.invalid(name, f"be a list of {what}", f"one {type(values).__name__}", hint)
    is_one = isinstance(values, (str, os.PathLike)) or not isinstance(values, Iterable)
    listed: list[Merged] = [values] if is_one else list(values)
    if not listed:
        raise check.invalid(name, f"hold at least one {what}", "none")
    for item in listed:
        if not isinstance(item, classes):
            hint = (
                "Read the files: read_scores(path)." if isinstance(item, str | os.PathLike) else ""
            )
            raise check.invalid(name, f"hold {what} only", check.describe(item), hint)
    return listed


# Converters and validators of fields

_LIKE_IDS = "(models, segments)"

_SIDES = "modelset", "segset"


def _shape_of(ids: Sequence[StrArray]) -> tuple[int, ...]:
    return tuple(each.size for each in ids)


def to_matrix(value: npt.ArrayLike, name: str, ids: align.Ids | None = None) -> FloatArray:
    """Return values as a read-only matrix; an empty list is a matrix without cells."""
    if isinstance(value, (list, tuple)) and len(value) == 0:
        value = np.empty((0, 0))
    matrix = check.as_matrix(value, name)
    if ids is not None:
        check.check_shape(matrix, _shape_of(ids), name, _LIKE_IDS)
        check.check_frame(value, name, *zip(_SIDES, ids, strict=True))
    return read_only(matrix)


def to_mask(value: npt.ArrayLike, ids: Sequence[StrArray], name: str) -> BoolArray:
    """Return a mask as a read-only array; an empty list fits any shape without cells."""
    mask, shape = check.as_mask(value, name), _shape_of(ids)
    if mask.ndim < len(shape) and mask.size == 0 and 0 in shape:
        mask = mask.reshape(shape)
    if len(shape) == 2:
        check.check_shape(mask, shape, name, _LIKE_IDS)
        check.check_frame(value, name, *zip(_SIDES, ids, strict=True))
    elif mask.shape != shape:
        raise check.invalid(
            name, f"have one flag for each of the {shape[0]} ids", f"shape {mask.shape}"
        )
    return read_only(mask)


def to_mask_or_all(value: npt.ArrayLike | None, ids: Sequence[StrArray], name: str) -> BoolArray:
    """Return a mask as a read-only array; None says all true."""
    if value is None:
        return mark_read_only(np.ones(_shape_of(ids), dtype=np.bool_))
    return to_mask(value, ids, name)


def both_ids(modelset: IdList, segset: IdList) -> align.Ids:
    """Return the ids of models and segments as arrays."""
    return check.as_ids(modelset, "modelset"), check.as_ids(segset, "segset")


# Filters


def log_reduced(what: str, before: int, after: int) -> None:
    """Log that a filter has removed something, in the toolkit's words."""
    if after < before:
        logger.info("Number of %s reduced from %d to %d.", what, before, after)


def kept(index: align.IdIndex, names: IdList, argument: str, *, keep: bool) -> Positions | None:
    """Return the positions that a filter leaves; None says all."""
    listed = check.as_ids(names, argument)
    if not isinstance(keep, (bool, np.bool_)):
        raise check.invalid("keep", "be True or False", check.describe(keep))
    # Unknown ids are ignored, as in the toolkit.
    present = index.which_in(listed)
    if not keep:
        present = ~present
    return None if present.all() else np.flatnonzero(present)


@frozen(eq=False, repr=False)
class TrialSet(FileMethods, ABC):
    """Base of the classes that say something about models and test segments."""

    modelset: StrArray
    segset: StrArray

    def __attrs_post_init__(self) -> None:
        """Raise if a model or a segment occurs twice."""
        self.model_index.check_unique("modelset")
        self.segment_index.check_unique("segset")

    @cached_property
    def model_index(self) -> align.IdIndex:
        """The models, sorted for look-up."""
        return align.IdIndex.of(self.modelset)

    @cached_property
    def segment_index(self) -> align.IdIndex:
        """The segments, sorted for look-up."""
        return align.IdIndex.of(self.segset)

    @property
    def ids(self) -> align.Ids:
        """The ids of the models and of the segments."""
        return self.modelset, self.segset

    @property
    def shape(self) -> tuple[int, int]:
        """Number of models and of segments."""
        return self.modelset.size, self.segset.size

    def __repr__(self) -> str:
        """Return the counts in one line."""
        n_models, n_segments = self.shape
        counts = self._counts()
        return f"{type(self).__name__}: {n_models} models x {n_segments} segments, {counts}"

    def _repr_html_(self) -> str:
        """Show the counts, and of a matrix where the trials are."""
        return card(repr(self), self._drawing())

    def _drawing(self) -> str:
        return ""

    def _counts(self: Any) -> str:
        """Return what the cells hold, counted, for the representation."""
        return f"{self.n_trials} trials"

    def filter(self, models: IdList, segments: IdList, keep: bool) -> Self:  # noqa: FBT001
        """Keep only, or remove, the models and segments that are listed.

        Parameters
        ----------
        models, segments : array_like of str
            Ids; those that the object does not have are ignored.
        keep : bool
            True keeps what is in the lists, False what is not. May be given by position, as in the
            toolkit.

        Returns
        -------
        Self
            The object with fewer models, segments and trials, in their old order. An empty list
            with ``keep=True`` leaves nothing.

        Notes
        -----
        How many models and segments went is logged at level INFO.

        To remove models only, give an empty list of segments and ``keep=False``.
        """
        rows = kept(self.model_index, models, "models", keep=keep)
        cols = kept(self.segment_index, segments, "segments", keep=keep)
        n_models, n_segments = self.shape
        shape = (n_models if rows is None else rows.size, n_segments if cols is None else cols.size)
        log_reduced("models", n_models, shape[0])
        log_reduced("test segments", n_segments, shape[1])
        modelset = self.modelset if rows is None else mark_read_only(self.modelset[rows])
        segset = self.segset if cols is None else mark_read_only(self.segset[cols])
        fields = self._fields_in(align.Frame(rows, cols, shape))
        fields |= {"modelset": modelset, "segset": segset}
        return self._rebuilt(*(fields[name] for name in self._arrays()))

    @abstractmethod
    def _fields_in(self, frame: align.Frame) -> dict[str, Any]:
        """Return all fields but the ids for the rows and columns that a filter leaves."""


def frame_of(target: TrialSet, source: TrialSet) -> align.Frame:
    """Tell where the models and segments of one object lie in another."""
    return align.Frame(
        source.model_index.locate(target.model_index),
        source.segment_index.locate(target.segment_index),
        target.shape,
    )


# Matrices


class TrialRecords(Records):
    """Trials as rows of a table, column by column."""

    __slots__ = ()

    def _listed(self: Any) -> dict[str, Any]:
        """Return one column for each name; ids as positions and what they stand for."""
        models, segments = self.trial_positions()
        return {"model": (models, self.modelset), "segment": (segments, self.segset)}

    def _columns(self, **options: object) -> dict[str, Any]:
        return dict([*self._listed(**options).items()][2:])

    def _index(self, pandas: ModuleType) -> Any:
        (models, modelset), (segments, segset) = [*self._listed().values()][:2]
        ids, codes = [modelset, segset], [models, segments]
        return pandas.MultiIndex(levels=ids, codes=codes, names=["model", "segment"])

    def to_frame(self, **options: object) -> Any:
        """Return the trials as a pandas DataFrame; pandas is imported by this call.

        Rows come column by column, in the order of the lists of ids, which `from_frame` sorts. This
        is not the order of the data frame or file that the trials come from, so model and segment
        are the index, by which pandas joins. `TrialFrame.column` has the order of that frame.

        Parameters
        ----------
        **options
            Of trials there are none.

        Returns
        -------
        pandas.DataFrame
            ``target`` or ``score``; the index is ``model`` and ``segment``.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return super().to_frame(**options)

    def save_csv(self, path: FilePath, *, number_format: str | None = None) -> None:
        """Save the trials as a table with a header and commas, whatever the name of the file.

        `read_scores`, `read_key` and `read_trials` read it.

        Parameters
        ----------
        path : str or path-like
            Name of the file, which is replaced if it exists; compressed if it ends in ``.gz``.
        number_format : str, optional
            How a score is written, for instance ``"%.4f"``. By default with as many digits as are
            needed to read the same number back.

        Raises
        ------
        InvalidInputError
            If there are models or segments without any trial, which a table would lose; says how
            many.
        """
        columns = self._listed()
        (models, modelset), (segments, segset) = columns.pop("model"), columns.pop("segment")
        for side, used, ids in (("model", models, modelset), ("segment", segments, segset)):
            unused = np.delete(ids, used)
            if unused.size:
                found = f"{unused.size} without any ({check.list_some(unused)})"
                hint = "HDF5 keeps these; or leave them out with `filter`."
                raise check.invalid("path", f"be .h5 unless each {side} has a trial", found, hint)
        sides = Factor.of_distinct(models, modelset), Factor.of_distinct(segments, segset)
        table = Table(*sides, columns.get("target"), columns.get("score"))
        write_table(path, table, "csv", number_format=number_format)

    def records(self) -> list[dict[str, Any]]:
        """Return the trials as dicts: ``model``, ``segment``, and ``target`` or ``score``.

        Returns
        -------
        list of dict
            Column by column. For many trials `to_frame` is faster.
        """
        columns = {
            name: (values[1][values[0]] if isinstance(values, tuple) else values).tolist()
            for name, values in self._listed().items()
        }
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@frozen(eq=False, repr=False)
class TrialMatrix(TrialSet, MatFileMethods):
    """Base of the classes with one row per model and one column per test segment."""

    # Names of the fields that have one cell per model and segment.
    _matrices: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def _of_checked(cls, **arrays: AnyArray) -> Self:
        # Readers of files have refused other types and shapes already.
        return cls._of_fields(**arrays)

    def _fields_in(self, frame: align.Frame) -> dict[str, Any]:
        return {name: mark_read_only(frame.take(getattr(self, name))) for name in self._matrices}

    def _drawing(self) -> str:
        # Some rows and columns of a large matrix stand for all.
        at = np.ix_(spread_of(self.shape[0], MOST_ROWS), spread_of(self.shape[1], MOST_COLUMNS))
        masks = [getattr(self, name)[at] for name in self._matrices if name != "scoremat"]
        cells = masks[0].astype(np.int8)
        return mask_drawing(cells - masks[1] if len(masks) > 1 else -cells)


def scatter(
    ids: IdLists, contents: AnyArray | None = None, name: str = ""
) -> tuple[StrArray, StrArray, BoolArray, AnyArray]:
    """Return sorted ids, a mask and a matrix of the contents of trials that are given by ids."""
    # `name` is the argument that an error names if a trial has two different contents.
    trials = TrialList.coded(ids, contents, name)
    values = np.ones(trials.models.shape, np.bool_) if contents is None else contents
    matrix = np.zeros((trials.modelset.size, trials.segset.size), dtype=values.dtype)
    mask = np.zeros(matrix.shape, dtype=np.bool_)
    # Each trial is written to its cell, which is faster than sorting the list, and found by
    # one number, which is faster than by two.
    cells = trials.models * trials.segset.size + trials.segments
    matrix.reshape(-1)[cells] = values
    mask.reshape(-1)[cells] = True
    # Of several contents the last one is in the matrix now; others differ from it.
    differs = disagree(matrix.reshape(-1)[cells], values)
    if differs.any():
        clash = np.zeros_like(mask)
        clash.reshape(-1)[cells[differs]] = True
        found = f"different values for {name_cells(clash, (trials.modelset, trials.segset))}"
        raise check.invalid(name, "be the same for a trial listed twice", found)
    return trials.modelset, trials.segset, mark_read_only(mask), mark_read_only(matrix)


@frozen(eq=False)
class IdUnion:
    """The sorted union of the models and of the segments of several objects."""

    models: align.IdIndex
    segments: align.IdIndex

    @classmethod
    def of(cls, objects: Sequence[TrialSet]) -> "IdUnion":
        """Unite the ids of `objects`."""
        return cls(
            align.IdIndex.of_union([item.modelset for item in objects]),
            align.IdIndex.of_union([item.segset for item in objects]),
        )

    @property
    def ids(self) -> align.Ids:
        """The ids of the models and of the segments."""
        return self.models.ids, self.segments.ids

    @property
    def shape(self) -> tuple[int, int]:
        """Number of models and segments."""
        return self.models.ids.size, self.segments.ids.size

    def place(
        self, item: TrialMatrix
    ) -> tuple[align.Frame, Iterator[tuple[slice, tuple[slice | Positions, slice]]]]:
        """Tell how the matrices of `item` are added to those of the union."""
        # Returns a frame that takes blocks of rows of `item`, its columns as in a contiguous part
        # of the union. Then an iterator over these blocks, each with its index in the union.
        # Gathering whole rows and adding them is ten times faster in numpy than
        # addressing the cells by lists of rows and columns.
        rows = self.models.locate(item.model_index)
        at = self.segments.locate(item.segment_index)
        cols = slice(None) if at is None else align.as_slice(at)
        if isinstance(cols, slice):
            frame = align.Frame(None, None, item.shape)
        else:
            sources = item.segment_index.locate(self.segments)
            frame = align.Frame(None, sources, (item.modelset.size, self.segments.ids.size))
            cols = slice(None)
        parts = (
            (block, (block if rows is None else align.as_slice(rows[block]), cols))
            for block in align.blocks(*frame.shape)
        )
        return frame, parts

    def merge_masks(self, objects: Sequence[TrialMatrix], name: str) -> BoolArray:
        """Return the union of the masks that the objects have under a name."""
        mask = np.zeros(self.shape, dtype=np.bool_)
        for item in objects:
            frame, parts = self.place(item)
            for block, cells in parts:
                mask[cells] |= frame.take(getattr(item, name), block)
        return mark_read_only(mask)


# Lists


class TrialList(NamedTuple):
    """Trials as positions in the lists of models and segments, with one column of contents."""

    modelset: StrArray
    segset: StrArray
    models: Positions
    segments: Positions
    contents: Any = None

    @classmethod
    def coded(cls, ids: IdLists, contents: AnyArray | None = None, name: str = "") -> "TrialList":
        """Make a list of trials that are given by ids, which it sorts."""
        modelset, models = align.code_ids(ids[0], "models")
        segset, segments = align.code_ids(ids[1], "segments")
        check.check_shape(segments, models.shape, "segments", "like `models`")
        if contents is not None:
            check.check_shape(contents, models.shape, name, "like `models`")
        return cls(modelset, segset, models, segments, contents)

    @classmethod
    def checked(
        cls, ids: IdLists, positions: Places, contents: AnyArray | None = None, name: str = ""
    ) -> "TrialList":
        """Check the columns of a list and put its trials into column-major order, each once."""
        # `name` is that of the contents, for error messages. Repeated trials are left out with a
        # warning; it is an error if their contents differ.
        modelset, segset = check.as_ids(ids[0], "modelset"), check.as_ids(ids[1], "segset")
        n = (modelset.size, segset.size)
        hint = "For lists of ids there is from_trials."
        models = as_positions(
            positions[0], "modelset", n[0], "models", align.position_type(n[0]), hint
        )
        segments = as_positions(
            positions[1], "segset", n[1], "segments", align.position_type(n[1]), hint
        )
        if segments.size != models.size:
            expected = f"have one position for each of the {models.size} trials, like `models`"
            raise check.invalid("segments", expected, f"{segments.size}")
        if contents is not None:
            if contents.shape != models.shape:
                expected = f"have one value for each of the {models.size} trials, like `models`"
                raise check.invalid(name, expected, check.describe(contents))
            contents = read_only(contents)
        checked = cls(modelset, segset, models, segments, contents)
        order = order_trials(models, segments, modelset.size)
        if order.repeated.size:
            if contents is not None and (bad := order.conflicts(contents)).any():
                found = f"different values for {checked.name_lines(order.repeated[bad])}"
                raise check.invalid(name, "be the same for a trial listed twice", found)
            trials = checked.name_lines(order.repeated)
            message = f"Lines that list a trial again were left out, {trials}."
            warn_caller(message, errors.DuplicateTrialWarning)
        return checked.take(order.order)

    def take(self, lines: Positions | None) -> "TrialList":
        """Return some of the trials; None: all."""
        if lines is None:
            return self
        models, segments = mark_read_only(self.models[lines]), mark_read_only(self.segments[lines])
        # The arrays are new, so that marking them saves the constructor a copy.
        contents = None if self.contents is None else mark_read_only(self.contents[lines])
        return TrialList(*self[:2], models, segments, contents)

    def name_lines(self, lines: Positions) -> str:
        """Return the number of some lines and the first few of their trials, for a message."""
        return name_trials(self.models[lines], self.segments[lines], self[:2])

    @classmethod
    def merged(
        cls, objects: "Sequence[FlatTrials]", fault: str = "", *, may_repeat: bool = True
    ) -> "TrialList":
        """Put the trials of objects of one class together, each once, with the ids of all."""
        # It is an error if objects disagree on the contents of a trial or, unless trials
        # `may_repeat`, have the same trial; `fault` says so.
        # The ids of all objects are united, so that codes of trials can be compared.
        union = IdUnion.of(objects)
        dtype = align.position_type(*union.shape)
        parts = [
            (
                _moved(union.models, item.model_index, item.models),
                _moved(union.segments, item.segment_index, item.segments),
            )
            for item in objects
        ]
        models, segments = (
            np.concatenate(side).astype(dtype, copy=False) for side in zip(*parts, strict=True)
        )
        contents = None
        if objects[0].contents is not None:
            contents = np.concatenate([item.contents for item in objects])
        trials = cls(*union.ids, models, segments, contents)
        order = order_trials(models, segments, union.shape[0])
        if contents is not None:
            # These come column by column, as the trials of a matrix do.
            lines = order.first[order.conflicts(contents)] if may_repeat else order.first
            lines = lines[np.sort(np.unique(lines, return_index=True)[1])]
            if lines.size:
                raise errors.TrialMismatchError(f"{fault} {trials.name_lines(lines)}.")
        return trials.take(order.order)


def _moved(union: align.IdIndex, ids: align.IdIndex, positions: Positions) -> AnyArray:
    """Return positions in a list of ids as positions in the union."""
    moved = union.locate(ids)
    return positions if moved is None else moved.astype(positions.dtype)[positions]


@frozen(eq=False, repr=False)
class FlatTrials(TrialSet, ABC):
    """Base of the flat forms: positions of the model and of the segment of each trial."""

    models: Positions
    segments: Positions

    # The field that says something of each trial.
    _content: ClassVar[str | None] = None

    @property
    def contents(self) -> Any:
        """What is said of each trial, or None."""
        return None if self._content is None else getattr(self, self._content)

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return int(self.models.size)

    def trial_positions(self) -> tuple[Positions, Positions]:
        """Return where the model and the segment of each trial stand in the id lists.

        Returns
        -------
        models, segments : (k,) arrays of int
            The fields of these names. Trials come column by column, the order of all vectors of
            trials.
        """
        return self.models, self.segments

    def _fields_in(self, frame: align.Frame) -> dict[str, Any]:
        trials = TrialList(*self.ids, self.models, self.segments, self.contents)
        if not frame.is_identity:
            # Looking up new positions in a table takes one step for each trial.
            models, segments = (
                column if kept is None else align.inverse(kept, ids.size)[column]
                for column, kept, ids in zip(
                    (self.models, self.segments), (frame.rows, frame.cols), self.ids, strict=True
                )
            )
            lines = np.flatnonzero((models >= 0) & (segments >= 0))
            trials = TrialList(*self.ids, models, segments, self.contents).take(lines)
        fields = {"models": trials.models, "segments": trials.segments}
        return fields if self._content is None else {**fields, self._content: trials.contents}

    def _in_matrices(self, max_cells: object, *columns: AnyArray) -> list[AnyArray]:
        """Return matrices with values at the cells of the trials, 0 elsewhere, if small enough."""
        n_models, n_segments = self.shape
        if not isinstance(max_cells, Real):
            raise check.invalid("max_cells", "be a number of cells", check.describe(max_cells))
        if n_models * n_segments > float(max_cells):
            size = f"{n_models} models x {n_segments} segments"
            expected = f"be at least {n_models * n_segments}, for {size}"
            hint = "A matrix that large is better kept flat."
            raise check.invalid("max_cells", expected, check.describe(max_cells), hint)
        matrices = [np.zeros(self.shape, dtype=column.dtype) for column in columns]
        for matrix, column in zip(matrices, columns, strict=True):
            matrix[self.models, self.segments] = column
        return list(map(mark_read_only, matrices))
