"""Sets of trials: which models meet which test segments, in one class for all three cases.

A full grid needs no more than its ids. A mask says which cells of a matrix are trials. A list that
is too sparse for a matrix has a number for each trial, ``segment * n_models + model``, ascending.
Wherever trials become a vector they come column by column: the model index runs fastest.
"""

from __future__ import annotations

import math
import os
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import attrs
import numpy as np

import bosaris_py.trials.alignment as align
from bosaris_py import _validation as check, errors
from bosaris_py._arrays import AnyArray, ArrayRecord, BoolArray, StrArray, mark_read_only, read_only
from bosaris_py._notes import Note, warn
from bosaris_py._tables import import_pandas
from bosaris_py._validation import FilePath
from bosaris_py.files import columns as listing, hdf5, hdf5_writing, mat, toolkit
from bosaris_py.files.columns import Table
from bosaris_py.files.writing import write_table
from bosaris_py.trials.alignment import Frame, IdIndex, IdList, Ids, both_ids

# Which cells of a matrix are trials: a mask, or the numbers of a list, int64; None says all.
Cells = AnyArray | None

# Positions of models and of segments: of trials, or of ids in longer lists.
Sides = tuple[AnyArray, AnyArray]

# A table of all cells may have this many cells for each trial, or this many in any case.
_CELLS_PER_TRIAL, _SMALL_TABLE = 2, 2**20


class FileMethods(ArrayRecord):
    """Reading and saving in files; the extension of a name stands for a format."""

    __slots__ = ()

    # The kind of the class in the layer of files, a key of `layout.KINDS`, and what files end in.
    _kind: ClassVar[str]
    _formats: ClassVar[tuple[str, ...]] = (".h5", ".hdf5", ".mat")

    def __new__(cls, *arguments: object, **_: object) -> Self:
        """Refuse the name of a file, which `read` takes."""
        if len(arguments) == 1 and isinstance(arguments[0], str | os.PathLike):
            told = f"{cls.__name__}.read({str(arguments[0])!r})"
            raise errors.InvalidInputError(f"{cls.__name__} takes no file; {told} reads one.")
        return super().__new__(cls)

    def _stored(self, form: str) -> tuple[str, dict[str, AnyArray]]:
        """Return the kind and the arrays that a file of a format holds."""
        return self._kind, self._fields()

    @classmethod
    def _from_stored(cls, **arrays: AnyArray) -> Self:
        """Build an object of the arrays in a file."""
        return cls(**arrays)

    @classmethod
    def _from_file(
        cls, path: FilePath, arrays: dict[str, AnyArray], notes: Sequence[Note] = ()
    ) -> Self:
        try:
            found = cls._from_stored(**arrays)
        except errors.InvalidInputError as error:
            raise errors.FileFormatError(f"{path}: {error}") from error
        warn(notes)
        return found

    @classmethod
    def _extension(cls, path: FilePath, *others: str) -> str:
        """Return the extension of the name of a file, which names its format."""
        extension = check.as_path(path).suffix.lower()
        if extension not in (*cls._formats, *others):
            hint = "read_key and read_scores read tables, files.writing.write_table writes them."
            expected = f"end in {' or '.join((*cls._formats, *others))}"
            raise check.invalid("path", expected, repr(str(path)), hint)
        return extension

    @classmethod
    def read(cls, path: FilePath, *, max_bytes: int | None = None) -> Self:
        """Read an object from a file; the extension of its name names the format.

        Parameters
        ----------
        path : str or path-like
            Its name ends in ``.h5``, ``.hdf5``, ``.mat`` or, if the class has such a format,
            ``.txt``, in upper or lower case.
        max_bytes : int, optional
            Refuse a file whose contents would take more memory than this.

        Returns
        -------
        Self
        """
        method = cls.read_mat if cls._extension(path) == ".mat" else cls.read_hdf5
        return method(path, max_bytes=max_bytes)

    def save(self, path: FilePath) -> None:
        """Save the object in a file; the extension of its name names the format.

        An existing file is replaced only when the new one is complete.

        Parameters
        ----------
        path : str or path-like
            As for `read`.
        """
        method = self.save_mat if self._extension(path) == ".mat" else self.save_hdf5
        method(path)

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
        return cls._from_file(path, *hdf5.read(cls._kind, path, max_bytes=max_bytes))

    def save_hdf5(self, path: FilePath) -> None:
        """Save the object as an HDF5 file, whatever its name.

        Parameters
        ----------
        path : str or path-like
            Name of the file, which is replaced if it exists.
        """
        kind, arrays = self._stored("hdf5")
        hdf5_writing.write(kind, path, **arrays)

    @classmethod
    def read_mat(cls, path: FilePath, *, max_bytes: int | None = None) -> Self:
        """Read an object from a MATLAB file, whatever its name.

        Parameters
        ----------
        path, max_bytes
            As for `read`.

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
        kind, arrays = self._stored("mat")
        mat.write(kind, path, **arrays)


class TextFileMethods(FileMethods):
    """Reading and saving in text files too."""

    __slots__ = ()

    _formats = (".h5", ".hdf5", ".mat", ".txt")

    @classmethod
    def read(cls, path: FilePath, *, max_bytes: int | None = None, progress: bool = False) -> Self:
        """Read an object from a file; the extension of its name names the format.

        Parameters
        ----------
        path : str or path-like
            Its name ends in ``.h5``, ``.hdf5``, ``.mat`` or ``.txt``, in upper or lower case.
        max_bytes : int, optional
            Refuse a file whose contents would take more memory than this.
        progress : bool, optional
            Show a progress bar while a text file is read.

        Returns
        -------
        Self
        """
        if cls._extension(path) == ".txt":
            return cls.read_txt(path, max_bytes=max_bytes, progress=progress)
        return super().read(path, max_bytes=max_bytes)

    def save(self, path: FilePath) -> None:
        """Save the object in a file; the extension of its name names the format.

        An existing file is replaced only when the new one is complete.

        Parameters
        ----------
        path : str or path-like
            As for `read`.
        """
        if self._extension(path) == ".txt":
            self.save_txt(path)
        else:
            super().save(path)

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
            The object in the file. Models and segments of trials are sorted, because the file
            lists only trials.
        """
        found = toolkit.read(cls._kind, path, max_bytes=max_bytes, progress=progress)
        return cls._from_file(path, *found)

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
        The toolkit writes ``"%f"``, six decimals, which loses most of a small number.
        """
        toolkit.write(path, self._stored("txt")[1], number_format=number_format)


@attrs.frozen(eq=False, repr=False)
class Grid(FileMethods):
    """Models and test segments, each once."""

    modelset: StrArray = attrs.field(converter=read_only)
    segset: StrArray = attrs.field(converter=read_only)

    @cached_property
    def model_index(self) -> IdIndex:
        """The models, sorted for look-up."""
        return IdIndex(self.modelset)

    @cached_property
    def segment_index(self) -> IdIndex:
        """The segments, sorted for look-up."""
        return IdIndex(self.segset)

    @property
    def ids(self) -> Ids:
        """The ids of the models and of the segments."""
        return self.modelset, self.segset

    @property
    def shape(self) -> tuple[int, int]:
        """Number of models and of segments."""
        return self.modelset.size, self.segset.size

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
        rows = align.kept(self.model_index, models, "models", "models", keep=keep)
        cols = align.kept(self.segment_index, segments, "segments", "test segments", keep=keep)
        ids = align.take_ids(self.modelset, rows), align.take_ids(self.segset, cols)
        return self._filtered(Frame(rows, cols, (ids[0].size, ids[1].size)), ids)

    @abstractmethod
    def _filtered(self, frame: Frame, ids: Ids) -> Self:
        """Return the rows and columns that a filter leaves."""

    def rename(
        self,
        models: Callable[[str], str] | None = None,
        segments: Callable[[str], str] | None = None,
    ) -> Self:
        """Give models and segments other ids.

        Parameters
        ----------
        models, segments : callable, optional
            Takes an id and returns the new one; by default the ids stay.

        Returns
        -------
        Self
            The same trials, with all that is known of them.

        Raises
        ------
        InvalidInputError
            If two models or two segments get the same id.

        Examples
        --------
        >>> from bosaris_py.trials import Scores
        >>> scores = Scores([[2.5, -1.0]], ["anna"], ["s1.wav", "s2.wav"])
        >>> scores.rename(segments=lambda name: name.removesuffix(".wav")).segset.tolist()
        ['s1', 's2']
        """
        fields = self._fields()
        for name, function in (("modelset", models), ("segset", segments)):
            if function is not None:
                fields[name] = list(map(function, fields[name].tolist()))
        fields["modelset"], fields["segset"] = both_ids(fields["modelset"], fields["segset"])
        return self._made(**fields)

    def __repr__(self) -> str:
        """Return the counts in one line."""
        n_models, n_segments = self.shape
        counts = self._counts()
        return f"{type(self).__name__}: {n_models} models x {n_segments} segments, {counts}"

    @abstractmethod
    def _counts(self) -> str:
        """Say how many trials there are."""


@attrs.frozen(eq=False, repr=False)
class Trials(Grid, TextFileMethods):
    """Base of the classes that say something about trials of models and test segments."""

    cells: Cells = attrs.field(converter=attrs.converters.optional(read_only))

    # What a file calls that which a list says of each trial.
    _listed: ClassVar[str] = ""

    @property
    @abstractmethod
    def _contents(self) -> AnyArray:
        """What is said of each trial: a vector of a list, else a matrix."""

    # Making objects of what is checked already

    @classmethod
    def _from_vector(cls, ids: Ids, cells: Cells, vector: AnyArray) -> Self:
        """Build an object of what is said of each trial, column by column."""
        shape = ids[0].size, ids[1].size
        if cells is not None and cells.ndim == 1:
            if cells.size < math.prod(shape):
                return cls._made(*ids, mark_read_only(cells), mark_read_only(vector))
            # A list of all cells is a full grid.
            cells = None
        return cls._made(*ids, cells, align.from_columns(vector, cells, shape))

    @classmethod
    def _from_positions(
        cls, ids: Ids, rows: AnyArray, cols: AnyArray, said: AnyArray | None = None, name: str = ""
    ) -> Self:
        """Build an object of a list of trials in any order; `said` is the argument `name`."""
        said = np.broadcast_to(np.True_, rows.size) if said is None else said
        order = listing.order_trials(rows, cols, ids[0].size)
        if (clash := order.repeated[order.conflicts(said)]).size:
            expected = "be the same for a trial listed twice"
            got = f"different values for {align.name_trials(rows[clash], cols[clash], ids)}"
            raise check.invalid(name, expected, got)
        return cls._from_vector(
            ids, order.codes, said if order.order is None else said[order.order]
        )

    # Trials

    @property
    def is_sparse(self) -> bool:
        """Whether the trials are a list, not a matrix."""
        return self.cells is not None and self.cells.ndim == 1

    @cached_property
    def n_trials(self) -> int:
        """Number of trials."""
        if self.cells is None:
            return math.prod(self.shape)
        return self.cells.size if self.is_sparse else int(np.count_nonzero(self.cells))

    @property
    def trial_mask(self) -> BoolArray:
        """Where models and segments make trials; of a list a new matrix each time."""
        if self.cells is None:
            # A cell that is repeated takes no memory.
            return np.broadcast_to(np.True_, self.shape)
        return self._matrix(np.ones(self.n_trials, np.bool_)) if self.is_sparse else self.cells

    @property
    def _codes(self) -> AnyArray:
        """The numbers of the cells that are trials, ascending."""
        if self.cells is None:
            return np.arange(self.n_trials)
        return align.cell_numbers(self.cells)

    def trial_positions(self) -> Sides:
        """Return where the model and the segment of each trial stand in the id lists.

        Returns
        -------
        models, segments : (n_trials,) arrays of int
            Positions in `modelset` and `segset`, column by column: the order of all vectors of
            trials. int32 unless the id lists are too long for it.

        Examples
        --------
        >>> from bosaris_py.trials import Ndx
        >>> ndx = Ndx(["anna", "bert"], ["s1", "s2"], [[True, True], [False, True]])
        >>> [positions.tolist() for positions in ndx.trial_positions()]
        [[0, 0, 1], [0, 1, 1]]
        """
        dtype = align.position_type(max(self.shape))
        if self.cells is None:
            segments, models = np.indices(self.shape[::-1], dtype).reshape(2, -1)
        else:
            n_models, shortest = max(1, self.shape[0]), align.position_type(math.prod(self.shape))
            # numpy divides short numbers three times faster.
            codes = self._codes.astype(shortest, copy=False)
            segments = codes // n_models
            models = (codes - segments * n_models).astype(dtype, copy=False)
            segments = segments.astype(dtype, copy=False)
        return mark_read_only(models), mark_read_only(segments)

    def _vector(self) -> AnyArray:
        """Return what is said of each trial, column by column."""
        if self.is_sparse:
            return self._contents
        return mark_read_only(align.by_columns(self._contents, self.cells))

    def _matrix(self, vector: AnyArray) -> AnyArray:
        """Return a matrix with values at the trials of a list, 0 elsewhere."""
        if math.prod(self.shape) * vector.itemsize > hdf5.half_of_memory():
            size = f"{self.shape[0]} models x {self.shape[1]} segments"
            expected = "fit into half of the memory as a matrix"
            hint = "The trials of a list need no matrix: get_scores, trial_positions."
            raise check.invalid("modelset", expected, size, hint)
        return align.from_columns(vector, self.cells, self.shape)

    # Trials of others

    def locate(self, wanted: Trials, frame: Frame | None = None) -> AnyArray | None:
        """Find the trials of another object among these.

        Parameters
        ----------
        wanted : Ndx, Key or Scores
            The trials that are looked for, by their ids.
        frame : Frame, optional
            Where its ids are among these, if that is known.

        Returns
        -------
        (k,) array of int, or None
            For each of these trials, column by column, its position in vectors of the trials of
            this object, -1 where it is none of them. None if both list the same trials in the same
            order.

        Examples
        --------
        >>> from bosaris_py.trials import Ndx
        >>> Ndx(["anna"], ["s1", "s2"]).locate(Ndx(["anna"], ["s2", "s3"])).tolist()
        [1, -1]
        """
        frame = frame or frame_of(wanted, self)
        if frame.is_identity and (
            self.cells is wanted.cells or np.array_equal(self._codes, wanted._codes)
        ):
            return None
        rows, cols = frame.cells(*wanted.trial_positions())
        at = listing.trial_codes(rows, cols, self.modelset.size)
        if not frame.is_complete:
            at[(rows < 0) | (cols < 0)] = -1
        if self.cells is None:
            return at
        own, n_cells = self._codes, math.prod(self.shape)
        if n_cells <= max(_SMALL_TABLE, _CELLS_PER_TRIAL * (own.size + at.size)):
            # The last cell is for what is unknown.
            table = np.full(n_cells + 1, -1)
            table[own] = np.arange(own.size)
            return table[at]
        return _search(own, at)

    def _look_up(self, wanted: Trials, frame: Frame) -> tuple[AnyArray, BoolArray | None]:
        """Return what is said of the trials of another object, and which are here; None: all."""
        if self.is_sparse:
            at = self.locate(wanted, frame)
            if at is None:
                return self._contents, None
            found = at >= 0
            values = self._contents[at if found.all() else at[np.flatnonzero(found)]]
        elif wanted.is_sparse:
            rows, cols = frame.cells(*wanted.trial_positions())
            # Position -1 reads some cell, which is left out.
            found = (rows >= 0) & (cols >= 0) & (self.cells is None or self.cells[rows, cols])
            chosen = slice(None) if found.all() else np.flatnonzero(found)
            values = self._contents[rows[chosen], cols[chosen]]
        else:
            matrix, present = frame.take(self._contents), frame.take_valid(self.cells)
            values = align.by_columns(matrix, align.in_both(wanted.cells, present))
            if present is None or values.size == wanted.n_trials:
                return values, None
            return values, align.by_columns(present, wanted.cells)
        return values, None if values.size == found.size else found

    # Parts and unions

    def _filtered(self, frame: Frame, ids: Ids) -> Self:
        """Return the rows and columns that a filter leaves."""
        cells, contents = self.cells, self._contents
        if not self.is_sparse:
            cells = None if cells is None else frame.take(cells)
            return self._made(*ids, cells, frame.take(contents))
        places = zip((frame.rows, frame.cols), self.trial_positions(), self.shape, strict=True)
        models, segments = (
            side if at is None else align.inverse(at, size)[side] for at, side, size in places
        )
        # By numbers, which numpy reads faster than a mask.
        left = np.flatnonzero((models >= 0) & (segments >= 0))
        cells = listing.trial_codes(models[left], segments[left], ids[0].size)
        return self._from_vector(ids, cells, contents[left])

    @classmethod
    def _merged(cls, objects: Sequence[Self], fault: str, *, may_repeat: bool = True) -> Self:
        """Put the trials of several objects together, each once, with the ids of all."""
        # It is an error if objects disagree on the contents of a trial or, unless trials
        # `may_repeat`, have the same trial; `fault` says so.
        lists = zip(*(item.ids for item in objects), strict=True)
        models, segments = (IdIndex(np.unique(np.concatenate(each))) for each in lists)
        places = [item.trial_positions() for item in objects]
        pairs = [*zip(objects, places, strict=True)]
        rows = np.concatenate([models.locate_last(x.model_index)[at] for x, (at, _) in pairs])
        cols = np.concatenate([segments.locate_last(x.segment_index)[at] for x, (_, at) in pairs])
        said = np.concatenate([item._vector() for item in objects])
        ids, order = (models.ids, segments.ids), listing.order_trials(rows, cols, models.ids.size)
        clash = order.repeated[order.conflicts(said)] if may_repeat else order.repeated
        if clash.size:
            named = align.name_trials(rows[clash], cols[clash], ids)
            raise errors.TrialMismatchError(f"{fault} {named}.")
        said = said if order.order is None else said[order.order]
        cells: Cells = order.codes
        if not any(item.is_sparse for item in objects):
            shape = models.ids.size, segments.ids.size
            is_full = order.codes.size == math.prod(shape)
            taken = np.ones(order.codes.size, np.bool_)
            cells = None if is_full else align.from_columns(taken, order.codes, shape)
        return cls._from_vector(ids, cells, said)

    def __eq__(self, other: object) -> bool:
        """Compare class, ids, trials and what is said of them; NaN equals NaN."""
        if not isinstance(other, type(self)) or type(other) is not type(self):
            return NotImplemented
        return all(map(np.array_equal, self.ids, other.ids)) and self._agrees(other)

    def _agrees(self, other: Self) -> bool:
        """Tell whether an object with the same ids says the same."""
        if self.locate(other) is not None:
            return False
        return not listing.disagree(self._vector(), other._vector()).any()

    __hash__ = None  # type: ignore[assignment]

    # Files

    @abstractmethod
    def _in_matrices(self) -> dict[str, AnyArray]:
        """Return the matrices of a file."""

    def _in_list(self) -> AnyArray:
        """Return what the file of a list says of each trial."""
        return self._vector()

    @classmethod
    def _as_contents(cls, values: AnyArray, name: str) -> AnyArray:
        """Return what the file of a list says of each trial as it is here."""
        return values

    def _stored(self, form: str) -> tuple[str, dict[str, AnyArray]]:
        ids = {"modelset": self.modelset, "segset": self.segset}
        if form == "mat" or (form == "hdf5" and not self.is_sparse):
            return self._kind, {**ids, **self._in_matrices()}
        models, segments = self.trial_positions()
        contents = {self._listed: self._in_list()} if self._listed else {}
        return f"flat_{self._kind}", {**ids, "models": models, "segments": segments, **contents}

    @classmethod
    def _from_stored(cls, **arrays: AnyArray) -> Self:
        if "models" not in arrays:
            return cls(**arrays)
        ids = both_ids(arrays["modelset"], arrays["segset"])
        names = zip(("models", "segments"), ("modelset", "segset"), ids, strict=True)
        rows, cols = (
            listing.as_positions(
                arrays[name], side, own.size, name, align.position_type(own.size), ""
            )
            for name, side, own in names
        )
        vector = cls._as_contents(arrays[cls._listed], cls._listed) if cls._listed else None
        return cls._from_positions(ids, rows, cols, vector, cls._listed)

    def save(self, path: FilePath) -> None:
        """Save the object in a file; the extension of its name names the format.

        An existing file is replaced only when the new one is complete.

        Parameters
        ----------
        path : str or path-like
            As for `read`; or ``.csv``, a table with a header, which `read_trials`, `read_key` and
            `read_scores` read. Tables and texts do not have ids without trials.
        """
        if self._extension(path, ".csv") == ".csv":
            write_table(path, self._table(), "csv")
        else:
            super().save(path)

    # Tables

    def _table(self, scores: AnyArray | None = None) -> Table:
        """Return the trials as the lines of a text file, with a score for each."""
        said = self._columns()
        models, segments = map(listing.Factor.unchecked, self.trial_positions(), self.ids)
        scores = said.get("score", scores)
        return Table(models, segments, said.get("target"), scores, self._further_columns())

    def _further_columns(self) -> Mapping[str, listing.Factor | AnyArray]:
        """Return the columns of a table beside label and score."""
        return {}

    def _columns(self) -> dict[str, AnyArray]:
        """Return what is said of each trial, by name."""
        return {}

    def to_frame(self) -> Any:
        """Return the trials as a pandas DataFrame; pandas is imported by this call.

        Rows come column by column, in the order of the lists of ids, which `from_frame` sorts. This
        is not the order of the data frame or file that the trials come from, so model and segment
        are the index, by which pandas joins.

        Returns
        -------
        pandas.DataFrame
            ``target`` or ``score``; the index is ``model`` and ``segment``.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = import_pandas("to_frame")
        codes, names = [*self.trial_positions()], ["model", "segment"]
        index = pandas.MultiIndex(levels=[*self.ids], codes=codes, names=names)
        return pandas.DataFrame(self._columns(), index=index)

    # Display

    def _counts(self) -> str:
        return f"{self.n_trials} trials"


def frame_of(target: Grid, source: Grid) -> Frame:
    """Tell where the models and segments of one object lie in another."""
    return Frame(
        source.model_index.locate(target.model_index),
        source.segment_index.locate(target.segment_index),
        target.shape,
    )


def _search(listed: AnyArray, wanted: AnyArray) -> AnyArray:
    """Return the position of each wanted cell in a list of ascending cells, -1 if it has none."""
    found, known = np.full(wanted.size, -1), np.flatnonzero(wanted >= 0)
    codes = wanted[known]
    # numpy continues each search where the last one ended, which takes sorted cells.
    if not (codes[1:] >= codes[:-1]).all():
        order, codes = listing.sort_codes(codes)
        known = known[order]
    at = np.searchsorted(listed, codes)
    # Behind the last cell is none.
    found[known] = np.where(np.append(listed, -1)[at] == codes, at, -1)
    return found
