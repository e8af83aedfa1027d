"""Sets of trials: which models meet which test segments, in one class for all three cases.

A full grid needs no more than its ids. A mask says which cells of a matrix are trials. A list that
is too sparse for a matrix has a number for each trial, ``segment * n_models + model``, ascending.
Wherever trials become a vector they come column by column: the model index runs fastest.
"""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Self

import attrs
import numpy as np

import bosaris_py.trials.alignment as align
from bosaris_py import _validation as check, errors
from bosaris_py._arrays import (
    AnyArray,
    BoolArray,
    IntArray,
    Positions,
    StrArray,
    mark_read_only,
    read_only,
)
from bosaris_py._html import MOST_COLUMNS, MOST_ROWS, card, mask_drawing, spread_of
from bosaris_py._tables import Records
from bosaris_py._validation import FilePath
from bosaris_py.files.columns import (
    Factor,
    as_positions,
    ascends,
    disagree,
    sort_codes,
    trial_codes,
)
from bosaris_py.files.hdf5 import half_of_memory
from bosaris_py.files.text import Table
from bosaris_py.files.writing import write_table
from bosaris_py.trials.alignment import Frame, IdIndex, IdList
from bosaris_py.trials.arguments import as_cells, both_ids, kept, log_reduced, name_trials, take_ids
from bosaris_py.trials.saving import FileMethods, TextFileMethods

# Which cells of a matrix are trials: a mask, or the numbers of a list, int64; None says all.
Cells = AnyArray | None

# Of each trial: a vector for a list, else a matrix; None where there is nothing to say.
Contents = AnyArray | None

# A table of all cells may have this many cells for each trial, or this many in any case.
_CELLS_PER_TRIAL, _SMALL_TABLE = 2, 2**20


@attrs.frozen(eq=False, repr=False)
class Trials(FileMethods):
    """Base of the classes that say something about trials of models and test segments."""

    modelset: StrArray = attrs.field(converter=read_only)
    segset: StrArray = attrs.field(converter=read_only)
    cells: Cells = attrs.field(converter=attrs.converters.optional(read_only))

    def __attrs_post_init__(self) -> None:
        """Raise if a model or a segment occurs twice."""
        self.model_index.check_unique("modelset")
        self.segment_index.check_unique("segset")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call that builds the object again, so that arrays stay read-only."""
        return functools.partial(type(self)._of_fields, **self._fields()), ()

    def _fields(self) -> dict[str, Any]:
        return {f.alias: getattr(self, f.name) for f in attrs.fields(type(self)) if f.init}

    # Ids

    @functools.cached_property
    def model_index(self) -> IdIndex:
        """The models, sorted for look-up."""
        return IdIndex.of(self.modelset)

    @functools.cached_property
    def segment_index(self) -> IdIndex:
        """The segments, sorted for look-up."""
        return IdIndex.of(self.segset)

    @property
    def ids(self) -> align.Ids:
        """The ids of the models and of the segments."""
        return self.modelset, self.segset

    @property
    def shape(self) -> tuple[int, int]:
        """Number of models and of segments."""
        return self.modelset.size, self.segset.size

    # Trials

    @property
    def is_sparse(self) -> bool:
        """Whether the trials are a list, not a matrix."""
        return self.cells is not None and self.cells.ndim == 1

    @functools.cached_property
    def n_trials(self) -> int:
        """Number of trials."""
        if self.cells is None:
            return self.modelset.size * self.segset.size
        return self.cells.size if self.is_sparse else int(np.count_nonzero(self.cells))

    @property
    def trial_mask(self) -> BoolArray:
        """Where models and segments make trials; of a list a new matrix each time."""
        if self.cells is None:
            # A cell that is repeated takes no memory.
            return np.broadcast_to(np.True_, self.shape)
        return self._matrix(np.ones(self.n_trials, np.bool_)) if self.is_sparse else self.cells

    def trial_positions(self) -> tuple[Positions, Positions]:
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
        dtype = align.position_type(*self.shape)
        if self.cells is None:
            places = (np.arange(n, dtype=dtype) for n in self.shape)
            models, segments = next(places), next(places)
            return (
                mark_read_only(np.tile(models, segments.size)),
                mark_read_only(np.repeat(segments, models.size)),
            )
        cells = self.cells
        if not self.is_sparse:
            cells = np.flatnonzero(align.transposed(cells))
        segments, models = np.divmod(cells, max(1, self.modelset.size))
        return mark_read_only(models.astype(dtype)), mark_read_only(segments.astype(dtype))

    def _matrix(self, vector: AnyArray) -> AnyArray:
        """Return a matrix with values at the trials of a list, 0 elsewhere."""
        n_cells = math.prod(self.shape)
        if n_cells * vector.itemsize > half_of_memory():
            size = f"{self.shape[0]} models x {self.shape[1]} segments"
            expected = "fit into half of the memory as a matrix"
            hint = "The trials of a list need no matrix: get_scores, trial_positions."
            raise check.invalid("modelset", expected, size, hint)
        matrix = np.zeros(n_cells, dtype=vector.dtype)
        matrix[self.cells] = vector
        return mark_read_only(matrix.reshape(self.shape[::-1])).T

    def locate(self, wanted: Trials) -> IntArray | None:
        """Find the trials of another object among these.

        Parameters
        ----------
        wanted : Ndx, Key or Scores
            The trials that are looked for, by their ids.

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
        frame = frame_of(wanted, self)
        if frame.is_identity and (self is wanted or _same_cells(self, wanted)):
            return None
        rows, cols = frame.cells(*wanted.trial_positions())
        at = trial_codes(rows, cols, self.modelset.size)
        if not frame.is_complete:
            at[(rows < 0) | (cols < 0)] = -1
        if self.cells is None:
            return at
        n_cells = math.prod(self.shape)
        if n_cells <= max(_SMALL_TABLE, _CELLS_PER_TRIAL * (self.n_trials + at.size)):
            table = np.full(n_cells + 1, -1, dtype=np.int64)
            listed = self.cells
            if not self.is_sparse:
                listed = np.flatnonzero(align.transposed(self.cells))
            table[listed] = np.arange(self.n_trials)
            # The last cell is for what is unknown.
            return table[at]
        if not self.is_sparse:
            listed = trial_codes(*self.trial_positions(), self.modelset.size)
            return _search(listed, at)
        return _search(self.cells, at)

    # Parts and unions

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
        ids = take_ids(self.modelset, rows), take_ids(self.segset, cols)
        log_reduced("models", self.modelset.size, ids[0].size)
        log_reduced("test segments", self.segset.size, ids[1].size)
        return self._filtered(Frame(rows, cols, (ids[0].size, ids[1].size)), ids)

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
                fields[name] = check.as_ids([function(i) for i in fields[name].tolist()], name)
        return self._of_fields(**fields)

    @abstractmethod
    def _filtered(self, frame: Frame, ids: align.Ids) -> Self:
        """Return the rows and columns that a filter leaves."""

    # Display and tables

    def __repr__(self) -> str:
        """Return the counts in one line."""
        n_models, n_segments = self.shape
        counts = self._counts()
        return f"{type(self).__name__}: {n_models} models x {n_segments} segments, {counts}"

    def _counts(self) -> str:
        return f"{self.n_trials} trials"

    def _repr_html_(self) -> str:
        """Show the counts, and of a matrix where the trials are."""
        if self.is_sparse:
            return card(repr(self), "")
        # Some rows and columns of a large matrix stand for all.
        at = np.ix_(spread_of(self.shape[0], MOST_ROWS), spread_of(self.shape[1], MOST_COLUMNS))
        return card(repr(self), mask_drawing(self._drawn(at)))

    def _drawn(self, at: tuple[AnyArray, ...]) -> AnyArray:
        """Return the numbers by which some cells are drawn: 0 where there is no trial."""
        return -self.trial_mask[at].astype(np.int8)


@attrs.frozen(eq=False, repr=False)
class ListedTrials(Trials, TextFileMethods, Records):
    """Base of the classes that may be lists, and tables with a row for each trial."""

    @property
    def _contents(self) -> Contents:
        """What is said of each trial: a vector of a list, else a matrix."""
        return None

    @abstractmethod
    def _with(self, ids: align.Ids, cells: Cells, contents: Contents) -> Self:
        """Return an object of this class with other trials."""

    @classmethod
    def _make(cls, ids: align.Ids, cells: Cells, contents: Contents) -> Self:
        """Build an object of what is checked already."""
        return cls._of_fields(*ids, cells, *([] if contents is None else [contents]))

    @classmethod
    def _listed_once(
        cls, ids: align.Ids, models: AnyArray, segments: AnyArray, contents: Contents, name: str
    ) -> Self:
        """Build an object of a list of trials in any order, each once."""
        # A trial that is listed with two contents, the argument `name`, is an error.
        cells = trial_codes(models, segments, ids[0].size)
        if not ascends(cells):
            order, cells = sort_codes(cells)
            contents = None if contents is None else contents[order]
            again = cells[1:] == cells[:-1]
            if again.any():
                if contents is not None:
                    clash = again & disagree(contents[1:], contents[:-1])
                    refuse_clash(cells[1:][clash], ids, name)
                first = np.append(True, ~again)
                cells, contents = cells[first], None if contents is None else contents[first]
        return cls._from_cells(ids, cells, contents)

    @classmethod
    def _from_cells(cls, ids: align.Ids, cells: IntArray, contents: Contents) -> Self:
        """Build an object of ascending cells, each once; of all cells a matrix."""
        if cells.size < ids[0].size * ids[1].size:
            return cls._make(ids, mark_read_only(cells), contents)
        if contents is not None:
            contents = align.from_columns(contents, None, (ids[0].size, ids[1].size))
        return cls._make(ids, None, contents)

    @classmethod
    def _from_ids(cls, models: IdList, segments: IdList, contents: Contents, name: str) -> Self:
        """Build an object of a list of trials that are given by their ids."""
        modelset, rows = align.code_ids(models, "models")
        segset, cols = align.code_ids(segments, "segments")
        check.check_shape(cols, rows.shape, "segments", "like `models`")
        if contents is not None:
            check.check_shape(contents, rows.shape, name, "like `models`")
        return cls._listed_once((modelset, segset), rows, cols, contents, name)

    @classmethod
    def _from_list(cls, arrays: dict[str, AnyArray], contents: Contents, name: str) -> Self:
        """Build an object of the list of trials in a file."""
        ids = both_ids(arrays["modelset"], arrays["segset"])
        models, segments = (
            as_positions(arrays[what], side, own.size, what, align.position_type(own.size), "")
            for side, own, what in zip(
                ("modelset", "segset"), ids, ("models", "segments"), strict=True
            )
        )
        return cls._listed_once(ids, models, segments, contents, name)

    def _in_list(self) -> dict[str, AnyArray]:
        """Return what a file says of the trials of a list."""
        return {}

    @abstractmethod
    def _in_matrices(self) -> dict[str, AnyArray]:
        """Return the matrices of a file."""

    def _stored(self, form: str) -> tuple[str, dict[str, AnyArray]]:
        ids = {"modelset": self.modelset, "segset": self.segset}
        if form == "mat" or (form == "hdf5" and not self.is_sparse):
            return self._kind, {**ids, **self._in_matrices()}
        models, segments = self.trial_positions()
        listed = {**ids, "models": models, "segments": segments, **self._in_list()}
        return f"flat_{self._kind}", listed

    def __eq__(self, other: object) -> bool:
        """Compare class, ids, trials and what is said of them; NaN equals NaN."""
        if not isinstance(other, Trials) or type(other) is not type(self):
            return NotImplemented
        same_ids = all(np.array_equal(*sides) for sides in zip(self.ids, other.ids, strict=True))
        if not same_ids or self.locate(other) is not None:
            return False
        mine, theirs = self._vector(), other._vector()
        if mine is None or theirs is None:
            return True
        return not disagree(mine, theirs).any()

    __hash__ = None  # type: ignore[assignment]

    def _vector(self) -> Contents:
        """Return what is said of the trials, column by column."""
        contents = self._contents
        if contents is None or self.is_sparse:
            return contents
        return mark_read_only(Frame(None, None, self.shape).by_columns(contents, self.cells))

    def _filtered(self, frame: Frame, ids: align.Ids) -> Self:
        """Return the rows and columns that a filter leaves."""
        cells, contents = self.cells, self._contents
        if cells is not None and self.is_sparse:
            models, segments = self.trial_positions()
            if frame.rows is not None:
                models = align.inverse(frame.rows, self.modelset.size)[models]
            if frame.cols is not None:
                segments = align.inverse(frame.cols, self.segset.size)[segments]
            left = (models >= 0) & (segments >= 0)
            cells = trial_codes(models[left], segments[left], ids[0].size)
            contents = None if contents is None else contents[left]
            return self._with(ids, mark_read_only(cells), contents)
        cells = None if cells is None else frame.take(cells)
        return self._with(ids, cells, None if contents is None else frame.take(contents))

    @classmethod
    def _merged(cls, objects: Sequence[Self], fault: str, *, may_repeat: bool = True) -> Self:
        """Put the trials of several objects together, each once, with the ids of all."""
        # It is an error if objects disagree on the contents of a trial or, unless trials
        # `may_repeat`, have the same trial; `fault` says so.
        models = IdIndex.of_union([item.modelset for item in objects])
        segments = IdIndex.of_union([item.segset for item in objects])
        ids = models.ids, segments.ids
        places = [
            (models.locate_last(item.model_index), segments.locate_last(item.segment_index))
            for item in objects
        ]
        if not any(item.is_sparse for item in objects):
            return cls._merged_matrices(objects, ids, places, fault, may_repeat=may_repeat)
        codes = []
        for item, (rows, cols) in zip(objects, places, strict=True):
            own = item.trial_positions()
            codes.append(trial_codes(rows[own[0]], cols[own[1]], ids[0].size))
        order, cells = sort_codes(np.concatenate(codes))
        again = cells[1:] == cells[:-1]
        first = np.append(True, ~again)[: cells.size]
        contents = None
        if objects[0]._contents is not None:
            vectors: Any = [item._vector() for item in objects]
            contents = np.concatenate(vectors)[order]
            clash = again & disagree(contents[1:], contents[:-1]) if may_repeat else again
            if clash.any():
                at = np.divmod(np.unique(cells[1:][clash]), max(1, ids[0].size))
                raise errors.TrialMismatchError(f"{fault} {name_trials(at[1], at[0], ids)}.")
            contents = mark_read_only(contents[first])
        return cls._from_cells(ids, cells[first], contents)

    @classmethod
    def _merged_matrices(
        cls,
        objects: Sequence[Self],
        ids: align.Ids,
        places: Sequence[tuple[Positions, Positions]],
        fault: str,
        *,
        may_repeat: bool,
    ) -> Self:
        """Return like `_merged`, of objects that are matrices; `places` are those of their ids."""
        shape = ids[0].size, ids[1].size
        contents: Any = [item._contents for item in objects]
        taken, matrix = np.zeros(shape, np.bool_), None
        for item, content, (rows, cols) in zip(objects, contents, places, strict=True):
            at: Any = align.as_slice(rows), align.as_slice(cols)
            if not any(isinstance(side, slice) for side in at):
                at = np.ix_(rows, cols)
            before, mask = taken[at], item.trial_mask
            if content is not None:
                if matrix is None:
                    matrix = np.zeros(
                        shape, np.result_type(*(c for c in contents if c is not None))
                    )
                clash = before & mask
                if clash.any() and may_repeat:
                    clash &= matrix[at] != content
                if clash.any():
                    where = np.nonzero(clash.T)
                    named = name_trials(where[1], where[0], item.ids)
                    raise errors.TrialMismatchError(f"{fault} {named}.")
                matrix[at] = content if item.cells is None else np.where(mask, content, matrix[at])
            taken[at] = before | mask
        cells = as_cells(mark_read_only(taken))
        return cls._make(ids, cells, None if matrix is None else mark_read_only(matrix))

    # Tables

    def _columns_of_trials(self) -> dict[str, AnyArray]:
        """Return what is said of each trial, by name."""
        return {}

    def columns_of_table(self) -> dict[str, Any]:
        """Return further columns of a table with a line for each trial.

        Returns
        -------
        dict of str to Factor or ndarray
        """
        return {}

    def _columns(self, **options: object) -> dict[str, AnyArray]:
        return self._columns_of_trials()

    def _index(self, pandas: ModuleType) -> Any:
        codes, names = [*self.trial_positions()], ["model", "segment"]
        return pandas.MultiIndex(levels=[*self.ids], codes=codes, names=names)

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
        places = self.trial_positions()
        for side, used, ids in zip(("model", "segment"), places, self.ids, strict=True):
            unused = np.delete(ids, used)
            if unused.size:
                found = f"{unused.size} without any ({check.list_some(unused)})"
                hint = "HDF5 keeps these; or leave them out with `filter`."
                raise check.invalid("path", f"be .h5 unless each {side} has a trial", found, hint)
        models, segments = map(Factor.of_distinct, places, self.ids)
        columns = self._columns_of_trials()
        others = self.columns_of_table()
        table = Table(models, segments, columns.get("target"), columns.get("score"), others)
        write_table(path, table, "csv", number_format=number_format)

    def records(self) -> list[dict[str, Any]]:
        """Return the trials as dicts: ``model``, ``segment``, and ``target`` or ``score``.

        Returns
        -------
        list of dict
            Column by column. For many trials `to_frame` is faster.
        """
        models, segments = self.trial_positions()
        columns = {"model": self.modelset[models], "segment": self.segset[segments]}
        columns |= self._columns_of_trials()
        rows = zip(*(values.tolist() for values in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]


def frame_of(target: Trials, source: Trials) -> Frame:
    """Tell where the models and segments of one object lie in another."""
    return Frame(
        source.model_index.locate(target.model_index),
        source.segment_index.locate(target.segment_index),
        target.shape,
    )


def refuse_clash(cells: IntArray, ids: align.Ids, name: str) -> None:
    """Raise if there are cells of trials that are listed with different contents."""
    if cells.size:
        segments, models = np.divmod(np.unique(cells), max(1, ids[0].size))
        found = f"different values for {name_trials(models, segments, ids)}"
        raise check.invalid(name, "be the same for a trial listed twice", found)


def _same_cells(first: Trials, second: Trials) -> bool:
    """Tell whether objects with the same ids have the same trials."""
    if first.cells is second.cells:
        return True
    if first.n_trials != second.n_trials:
        return False
    if first.cells is None or second.cells is None:
        return True  # as many trials as there are cells
    if first.is_sparse == second.is_sparse:
        return np.array_equal(first.cells, second.cells)
    pairs = zip(first.trial_positions(), second.trial_positions(), strict=True)
    return all(np.array_equal(mine, theirs) for mine, theirs in pairs)


def _search(listed: IntArray, wanted: IntArray) -> IntArray:
    """Return the position of each wanted cell in a list of ascending cells, -1 if it has none."""
    if listed.size == 0:
        return np.full(wanted.size, -1)
    # numpy continues each search where the last one ended, which takes sorted cells.
    if not (wanted[1:] >= wanted[:-1]).all():
        order, ascending = sort_codes(wanted + 1)
        positions = np.empty(wanted.size, dtype=np.int64)
        positions[order] = _search(listed, ascending - 1)
        return positions
    positions = np.searchsorted(listed, wanted)
    np.minimum(positions, listed.size - 1, out=positions)
    positions[listed[positions] != wanted] = -1
    return positions
