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
from bosaris_py import _arrays as arrays, _validation as check, errors
from bosaris_py._arrays import AnyArray, BoolArray, FilePath, IntArray, StrArray, mark_read_only
from bosaris_py._tables import import_pandas
from bosaris_py.files import columns as listing, hdf5, mat, writing
from bosaris_py.files.columns import Table
from bosaris_py.files.writing import write_table
from bosaris_py.trials.alignment import Frame, IdList, Ids, both_ids

# A function of an id, or changes as the command takes them; None leaves the ids.
Renaming = Callable[[str], str] | str | None

# Which cells of a matrix are trials: a mask, or the numbers of a list, int64; None says all.
Cells = AnyArray | None


class FileMethods(arrays.ArrayRecord):
    """Reading and saving in files; the extension of a name stands for a format."""

    __slots__ = ()

    # The kind of the class in the layer of files, a key of `hdf5.KINDS`, and what files end in.
    _kind: ClassVar[str]
    _formats: ClassVar[tuple[str, ...]] = (".h5", ".hdf5", ".mat", ".txt")

    def __new__(cls, *arguments: object, **_: object) -> Self:
        """Refuse the name of a file, which `read` takes."""
        if len(arguments) == 1 and isinstance(arguments[0], str | os.PathLike):
            call = f"{cls.__name__}.read({str(arguments[0])!r})"
            raise errors.InvalidInputError(f"{cls.__name__} takes no file; {call} reads one.")
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
        cls, path: FilePath, arrays: dict[str, AnyArray], notes: Sequence[errors.Note] = ()
    ) -> Self:
        try:
            found = cls._from_stored(**arrays)
        except errors.InvalidInputError as error:
            raise errors.FileFormatError(f"{path}: {error}") from error
        errors.warn(notes)
        return found

    @classmethod
    def _format_of(cls, path: FilePath, *others: str) -> str:
        """Return the extension of the name of a file, which names its format."""
        extension = check.as_path(path).suffix.lower()
        formats = *cls._formats, *others
        if extension not in formats:
            hint = "For tables there are read_key(path) and files.writing.write_table(...)."
            raise check.invalid("path", f"end in {' or '.join(formats)}", repr(str(path)), hint)
        return extension

    @classmethod
    def read(cls, path: FilePath, *, max_bytes: int | None = None, progress: bool = False) -> Self:
        """Read an object from a file; the extension of its name names the format.

        Parameters
        ----------
        path : str or path-like
            Its name ends in ``.h5``, ``.hdf5``, ``.mat`` or, if the class has such a format,
            ``.txt``, in upper or lower case.
        max_bytes : int, optional
            Refuse a file whose contents would take more memory than this.
        progress : bool, optional
            Show a progress bar while a text file is read.

        Returns
        -------
        Self
        """
        match cls._format_of(path):
            case ".txt":
                return cls.read_txt(path, max_bytes=max_bytes, progress=progress)
            case ".mat":
                return cls.read_mat(path, max_bytes=max_bytes)
        return cls.read_hdf5(path, max_bytes=max_bytes)

    def save(self, path: FilePath) -> None:
        """Save the object in a file; the extension of its name names the format.

        An existing file is replaced only when the new one is complete.

        Parameters
        ----------
        path : str or path-like
            As for `read`.
        """
        match self._format_of(path):
            case ".txt":
                self.save_txt(path)
            case ".mat":
                self.save_mat(path)
            case _:
                self.save_hdf5(path)

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
        hdf5.write(kind, path, **arrays)

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
        cls._format_of(f"{path}.txt")
        found = writing.read_toolkit(cls._kind, path, max_bytes=max_bytes, progress=progress)
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
        self._format_of(f"{path}.txt")
        writing.write_toolkit(path, self._stored("txt")[1], number_format=number_format)


@attrs.frozen(eq=False, repr=False)
class Grid(FileMethods):
    """Models and test segments, each once."""

    modelset: StrArray = attrs.field(converter=arrays.read_only)
    segset: StrArray = attrs.field(converter=arrays.read_only)

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
        rows = align.kept(self.modelset, models, "models", "models", keep=keep)
        cols = align.kept(self.segset, segments, "segments", "test segments", keep=keep)
        if (rows.size, cols.size) == self.shape:
            return self
        return self._filtered(rows, cols, (self.modelset[rows], self.segset[cols]))

    @abstractmethod
    def _filtered(self, rows: IntArray, cols: IntArray, ids: Ids) -> Self:
        """Return some of the models and segments."""

    def rename(self, models: Renaming = None, segments: Renaming = None) -> Self:
        """Give models and segments other ids.

        Parameters
        ----------
        models, segments : callable or str, optional
            Takes an id and returns the new one; or changes as the command takes them by ``--ids``,
            such as ``"basename,strip-suffix"``. By default the ids stay.

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
        >>> scores.rename(segments="strip-suffix").segset.tolist()
        ['s1', 's2']
        """
        fields = self._fields()
        for name, function in (("modelset", models), ("segset", segments)):
            if function is not None:
                change = function if callable(function) else align.parse_changes(str(function))
                fields[name] = list(map(change, fields[name].tolist()))
        fields["modelset"], fields["segset"] = both_ids(fields["modelset"], fields["segset"])
        return self._made(**fields)

    def __repr__(self) -> str:
        """Return the counts in one line."""
        sizes = "{} models x {} segments".format(*self.shape)
        return f"{type(self).__name__}: {sizes}, {self._counts()}"

    @abstractmethod
    def _counts(self) -> str:
        """Say how many trials there are."""


@attrs.frozen(eq=False, repr=False)
class Trials(Grid):
    """Base of the classes that say something about trials of models and test segments."""

    cells: Cells = attrs.field(converter=attrs.converters.optional(arrays.read_only))

    # What a file, and what an argument, call that which a list says of each trial; whether objects
    # that are merged may not have the same trial.
    _listed: ClassVar[str] = ""
    _argument: ClassVar[str] = ""
    _is_once: ClassVar[bool] = False

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
        cls, ids: Ids, rows: AnyArray, cols: AnyArray, said: AnyArray | None = None, fault: str = ""
    ) -> Self:
        """Build an object of a list of trials in any order, and of what is said of each."""
        # It is an error if lines disagree on a trial; of objects that are merged `fault` says so.
        said = np.broadcast_to(np.True_, rows.size) if said is None else said
        order = listing.order_trials(rows, cols, ids[0].size)
        is_clash = order.conflicts(said) | (cls._is_once and bool(fault))
        if (clash := order.repeated[is_clash]).size:
            named = align.name_trials(rows[clash], cols[clash], ids)
            if fault:
                raise errors.TrialMismatchError(f"{fault} {named}.")
            expected = "be the same for a trial listed twice"
            raise check.invalid(cls._argument, expected, f"different values for {named}")
        said = said if order.order is None else said[order.order]
        return cls._from_vector(ids, order.codes, said)

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

    def trial_positions(self) -> tuple[AnyArray, AnyArray]:
        """Return where the model and the segment of each trial stand in the id lists.

        Returns
        -------
        models, segments : (n_trials,) arrays of int
            Places in `modelset` and `segset`, column by column: the order of all vectors of
            trials.

        Examples
        --------
        >>> from bosaris_py.trials import Ndx
        >>> ndx = Ndx(["anna", "bert"], ["s1", "s2"], [[True, True], [False, True]])
        >>> [positions.tolist() for positions in ndx.trial_positions()]
        [[0, 0, 1], [0, 1, 1]]
        """
        if self.cells is None:
            segments, models = np.indices(self.shape[::-1], np.int32).reshape(2, -1)
        else:
            n_models, codes = max(1, self.shape[0]), self._codes
            segments = codes // n_models
            models = codes - segments * n_models
        return mark_read_only(models.astype(np.int32)), mark_read_only(segments.astype(np.int32))

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
            hint = "The trials of a list need no matrix: get_scores(ndx), trial_positions()."
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
        frame = frame or align.frame_of(wanted.ids, self.ids)
        if frame.is_identity and (
            self.cells is wanted.cells or np.array_equal(self._codes, wanted._codes)
        ):
            return None
        rows, cols = frame.cells(*wanted.trial_positions())
        at = listing.trial_codes(rows, cols, self.modelset.size)
        at[(rows < 0) | (cols < 0)] = -1
        if self.cells is None:
            return at
        # numpy continues each search where the last one ended, so that sorted cells are found soon.
        own, order = self._codes, np.argsort(at, kind="stable")
        codes = at[order]
        places = np.searchsorted(own, codes)
        # Behind the last cell is none.
        at[order] = np.where(np.append(own, -2)[places] == codes, places, -1)
        return at

    def _look_up(self, wanted: Trials, frame: Frame) -> tuple[AnyArray, BoolArray | None]:
        """Return what is said of the trials of another object, and which are here; None: all."""
        if self.is_sparse:
            at = self.locate(wanted, frame)
            found = None if at is None else at >= 0
            values = self._contents if at is None else self._contents[at[found]]
        elif wanted.is_sparse:
            rows, cols = frame.cells(*wanted.trial_positions())
            # Position -1 reads some cell, which is left out.
            found = (rows >= 0) & (cols >= 0) & (self.cells is None or self.cells[rows, cols])
            values = self._contents[rows[found], cols[found]]
        else:
            matrix, present = frame.take(self._contents), frame.take_valid(self.cells)
            cells = wanted.cells if present is None else wanted.trial_mask & present
            values = align.by_columns(matrix, cells)
            found = None if present is None else align.by_columns(present, wanted.cells)
        return values, None if found is None or found.all() else found

    # Parts and unions

    def _filtered(self, rows: IntArray, cols: IntArray, ids: Ids) -> Self:
        if not self.is_sparse:
            some = np.ix_(rows, cols)
            cells = None if self.cells is None else self.cells[some]
            return self._made(*ids, cells, mark_read_only(self._contents[some]))
        sides = zip((rows, cols), self.shape, self.trial_positions(), strict=True)
        models, segments = (align.inverse(places, size)[at] for places, size, at in sides)
        left = (models >= 0) & (segments >= 0)
        cells = listing.trial_codes(models[left], segments[left], rows.size)
        return self._from_vector(ids, cells, self._contents[left])

    @classmethod
    def _merged(cls, objects: Sequence[Self], fault: str = "") -> Self:
        """Put the trials of several objects together, each once, with the ids of all."""
        sides = [*zip(*(item.ids for item in objects), strict=True)]
        models, segments = (mark_read_only(np.unique(np.concatenate(side))) for side in sides)
        places = zip(*(item.trial_positions() for item in objects), strict=True)
        rows, cols = (
            np.concatenate([np.searchsorted(union, own)[at] for own, at in zip(*both, strict=True)])
            for union, *both in zip((models, segments), sides, places, strict=True)
        )
        said = np.concatenate([item._vector() for item in objects])
        made = cls._from_positions((models, segments), rows, cols, said, fault)
        if not made.is_sparse or any(item.is_sparse for item in objects):
            return made
        return cls._made(*made.ids, made.trial_mask, made._matrix(made._contents))

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
    def _in_matrices(self, form: str) -> dict[str, AnyArray]:
        """Return the matrices of a file of a format."""

    def _stored(self, form: str) -> tuple[str, dict[str, AnyArray]]:
        ids = {"modelset": self.modelset, "segset": self.segset}
        if form == "mat" or (form == "hdf5" and not self.is_sparse):
            return self._kind, {**ids, **self._in_matrices(form)}
        models, segments = self.trial_positions()
        contents = {self._listed: self._vector()} if self._listed else {}
        return f"flat_{self._kind}", {**ids, "models": models, "segments": segments, **contents}

    @classmethod
    def _from_stored(cls, **arrays: AnyArray) -> Self:
        if "models" not in arrays:
            return cls(**arrays)
        ids = both_ids(arrays["modelset"], arrays["segset"])
        places, sizes = listing.as_positions, (ids[0].size, ids[1].size)
        rows = places(arrays["models"], "modelset", sizes[0], "models", np.int32, "")
        cols = places(arrays["segments"], "segset", sizes[1], "segments", np.int32, "")
        return cls._from_positions(ids, rows, cols, arrays.get(cls._listed))

    def save(self, path: FilePath) -> None:
        """Save the object in a file; the extension of its name names the format.

        An existing file is replaced only when the new one is complete.

        Parameters
        ----------
        path : str or path-like
            As for `read`; or ``.csv``, a table with a header, which `read_trials`, `read_key` and
            `read_scores` read. Tables and texts do not have ids without trials.
        """
        if self._format_of(path, ".csv") == ".csv":
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
