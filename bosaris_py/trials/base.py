"""Base classes of the dense and the flat sets of trials.

A flat form holds one number per trial and side where a matrix holds a cell for
every model and segment: ten million trials of 100,000 models and as many
segments are 80 MB instead of 10 GB. Trials are kept in the order that every vector of
trials has, column by column, and each only once; so vectors made from a flat form and
from the matrix of the same trials are identical.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from numbers import Real
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from bosaris_py._arrays import (
    AnyArray,
    BoolArray,
    IndexArray,
    Positions,
    StrArray,
    mark_read_only,
    read_only,
)
from bosaris_py._validation import (
    FilePath,
    as_ids,
    check_shape,
    describe,
    invalid,
    list_some,
    warn_caller,
)
from bosaris_py.errors import DuplicateTrialWarning, InvalidInputError, TrialMismatchError
from bosaris_py.storage.factors import Factor
from bosaris_py.storage.trial_table import TrialOrder, ascends, disagree, order_trials, trial_codes
from bosaris_py.trials.alignment import (
    Frame,
    Match,
    blocks,
    find_codes,
    match_trials,
    position_type,
)
from bosaris_py.trials.files import FileMethods, MatFileMethods
from bosaris_py.trials.ids import IdIndex, IdList, check_models, check_segments, code_ids, union_of

logger = logging.getLogger(__name__)


def check_same_class(cls: type, objects: Sequence[object]) -> None:
    """Raise unless all objects to be merged are of the same class."""
    for item in objects:
        if not isinstance(item, cls):
            name = cls.__name__
            raise invalid("objects", f"all be {name}", describe(item))


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


def kept(index: IdIndex, names: StrArray, *, keep: bool) -> IndexArray | None:
    """Return the positions that a filter leaves; None says all."""
    if not isinstance(keep, (bool, np.bool_)):
        raise invalid("keep", "be True or False", describe(keep))
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
        rows = kept(self._model_index, as_ids(models, "models"), keep=keep)
        cols = kept(self._segment_index, as_ids(segments, "segments"), keep=keep)
        n_models, n_segments = self._shape
        shape = (n_models if rows is None else rows.size, n_segments if cols is None else cols.size)
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


def _as_slice(positions: IndexArray | None) -> slice | IndexArray:
    """Return ascending neighbours as a slice, other positions as they are."""
    if positions is None:
        return slice(None)
    if positions.size and (np.diff(positions) == 1).all():
        return slice(int(positions[0]), int(positions[-1]) + 1)
    return positions


# The largest matrix that `to_dense` makes unless it is told otherwise.
MAX_CELLS = 10**8


def name_listed(
    models: Positions, segments: Positions, modelset: StrArray, segset: StrArray
) -> str:
    """Return the count and the first few trials of a list, for a message."""
    pairs = [f"({modelset[i]}, {segset[j]})" for i, j in zip(models[:6], segments[:6], strict=True)]
    noun = "trial" if models.size == 1 else "trials"
    return f"{models.size} {noun}: {list_some(pairs)}"


def positions_of(values: npt.ArrayLike, size: int, name: str, ids: str) -> Positions:
    """Return positions in a list of ids as a read-only vector of the shortest type.

    Parameters
    ----------
    values : (k,) array_like of int
        The positions.
    size : int
        Length of the list of ids.
    name, ids : str
        Names of the argument and of the list of ids.
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise invalid(name, "be one-dimensional", "lists of different lengths") from None
    if isinstance(values, np.ma.MaskedArray):
        raise invalid(name, "be a plain array", "a masked array")
    if array.ndim != 1:
        raise invalid(name, "be one-dimensional", describe(array))
    dtype = position_type(size)
    if array.size == 0:
        return mark_read_only(np.empty(0, dtype=dtype))
    if array.dtype.kind not in "iu":
        hint = "For lists of ids there is from_trials." if array.dtype.kind in "OSTU" else ""
        raise invalid(name, f"be positions in `{ids}`, whole numbers", describe(array), hint)
    if array.min() < 0 or array.max() >= size:
        bad = np.flatnonzero((array < 0) | (array >= size))
        expected = f"be positions in `{ids}`, from 0 to {size - 1}" if size else f"fit `{ids}`"
        found = f"{array[bad[0]]} for trial {bad[0]} ({bad.size} of {array.size} are out of range)"
        hint = "" if size else f"`{ids}` is empty."
        raise invalid(name, expected, found, hint)
    return read_only(array) if array.dtype == dtype else mark_read_only(array.astype(dtype))


@frozen(eq=False)
class TrialColumns:
    """Lists of trials that have been checked, in column-major order, each trial once.

    Parameters
    ----------
    modelset, segset : array of str
        The ids.
    models, segments : (k,) array of int
        Positions of the trials.
    contents : (k,) array or None
        What is said of the trials.
    """

    modelset: StrArray
    segset: StrArray
    models: Positions
    segments: Positions
    contents: Any


def order_columns(
    ids: tuple[IdList, IdList],
    positions: tuple[npt.ArrayLike, npt.ArrayLike],
    contents: AnyArray | None,
    content_name: str,
) -> TrialColumns:
    """Check the columns of a list of trials and bring them into order.

    Parameters
    ----------
    ids : pair of array_like of str
        Ids of models and segments.
    positions : pair of (k,) array_like of int
        Model and segment of each trial.
    contents : (k,) array or None
        What is said of each trial: labels or scores.
    content_name : str
        Names for error messages.

    Returns
    -------
    TrialColumns

    Raises
    ------
    InvalidInputError
        If positions do not fit the ids, columns differ in length, or a trial is listed with
        different contents.

    Warns
    -----
    DuplicateTrialWarning
        If trials are listed more than once with the same contents.
    """
    modelset = as_ids(ids[0], "modelset")
    segset = as_ids(ids[1], "segset")
    models = positions_of(positions[0], modelset.size, "models", "modelset")
    segments = positions_of(positions[1], segset.size, "segments", "segset")
    if segments.size != models.size:
        expected = f"have one position for each of the {models.size} trials, like `models`"
        raise invalid("segments", expected, f"{segments.size}")
    if contents is not None:
        if contents.shape != models.shape:
            expected = f"have one value for each of the {models.size} trials, like `models`"
            raise invalid(content_name, expected, describe(contents))
        contents = read_only(contents)
    order = order_trials(models, segments, modelset.size)
    if order.order is None:
        return TrialColumns(modelset, segset, models, segments, contents)
    if order.repeated.size:
        again = models[order.repeated], segments[order.repeated]
        if contents is not None:
            bad = order.conflicts(contents)
            if bad.any():
                trials = name_listed(again[0][bad], again[1][bad], modelset, segset)
                expected = "be the same for a trial listed twice"
                raise invalid(content_name, expected, f"different values for {trials}")
        trials = name_listed(*again, modelset, segset)
        message = f"Lines that list a trial again were left out, {trials}."
        warn_caller(message, DuplicateTrialWarning)
    return TrialColumns(
        modelset,
        segset,
        mark_read_only(models[order.order]),
        mark_read_only(segments[order.order]),
        None if contents is None else mark_read_only(contents[order.order]),
    )


def warn_swapped(
    ids: tuple[StrArray, StrArray],
    positions: tuple[Positions, Positions],
    contents: AnyArray | None = None,
    content_name: str = "",
) -> None:
    """Warn if the same two segments make two trials, in either order.

    Most detectors are symmetric; such trials then hold the same score twice. They are kept.

    Parameters
    ----------
    ids : pair of arrays of str
        Ids of models and segments, each once.
    positions : pair of (k,) arrays of int
        Model and segment of each trial, in any order, as positions in these lists.
    contents : (k,) array, optional
        What is said of each trial; the warning tells how many of the pairs differ in it.
    content_name : str, optional
        What that is: ``"labels"`` or ``"scores"``.

    Warns
    -----
    DuplicateTrialWarning
        With the number of such pairs, and the first few.
    """
    modelset, (models, segments) = ids[0], positions
    names = IdIndex.of(modelset)
    # Segments are given the numbers of the models of the same name.
    as_model = names.locate(IdIndex.of(ids[1]))
    first: AnyArray = models
    second: AnyArray = segments
    if as_model is not None:
        is_model = as_model >= 0
        if not is_model.any():
            return
        has_model = np.zeros(modelset.size, dtype=np.bool_)
        has_model[as_model[is_model]] = True
        both = is_model[segments] & has_model[models]
        first, second = models[both], as_model[segments[both]]
        contents = None if contents is None else contents[both]
    n_names = modelset.size
    forward, backward = first < second, first > second
    known = trial_codes(first[forward], second[forward], n_names)
    swapped = trial_codes(second[backward], first[backward], n_names)
    distinct = known if ascends(known) else np.unique(known)
    pairs = np.unique(swapped)
    pairs = pairs[find_codes(distinct, pairs, (n_names, n_names)) >= 0]
    if not pairs.size:
        return
    noun = "pair of segments is" if pairs.size == 1 else "pairs of segments are"
    message = f"{pairs.size} {noun} listed in both orders, as two trials"
    if contents is not None:
        differs = disagree(
            _content_of(pairs, known, contents[forward]),
            _content_of(pairs, swapped, contents[backward]),
        )
        if differs.any():
            message += f", {np.count_nonzero(differs)} with different {content_name}"
            # Those are named first.
            pairs = np.concatenate((pairs[differs], pairs[~differs]))
    shown = [f"({modelset[c % n_names]}, {modelset[c // n_names]})" for c in pairs[:6].tolist()]
    warn_caller(f"{message}: {list_some(shown)}.", DuplicateTrialWarning)


def _content_of(wanted: AnyArray, codes: AnyArray, contents: AnyArray) -> AnyArray:
    """Return what is said of the trials with these codes, all of which there are."""
    order = np.argsort(codes, kind="stable")
    return contents[order[np.searchsorted(codes, wanted, sorter=order)]]


def columns_from_trials(
    ids: tuple[IdList, IdList], contents: AnyArray | None, content_name: str
) -> TrialColumns:
    """Order a list of trials that are given by their ids; as `order_columns`."""
    modelset, models = code_ids(ids[0], "models")
    segset, segments = code_ids(ids[1], "segments")
    check_shape(segments, models.shape, "segments", "like `models`")
    if contents is not None:
        check_shape(contents, models.shape, content_name, "like `models`")
    return order_columns((modelset, segset), (models, segments), contents, content_name)


def merge_columns(
    objects: "Sequence[FlatTrials]",
    contents: Sequence[AnyArray] | None,
    clashes: Callable[[TrialOrder, AnyArray], BoolArray],
    fault: str,
) -> TrialColumns:
    """Put the trials of several objects together, each once, with the ids of all.

    Parameters
    ----------
    objects : sequence of FlatTrials
        Objects of one class.
    contents : sequence of arrays or None
        What each object says of its trials.
    clashes : callable
        Tells from the order of the trials of all objects and their contents which of the
        repeated ones cannot be merged.
    fault : str
        What is wrong with those, for an error message that ends with their names.

    Raises
    ------
    TrialMismatchError
        If there are some.
    """
    union = IdUnion.of(objects)
    dtype = position_type(*union.shape)
    models = np.concatenate(
        [_moved(union.models, item._model_index, item.models) for item in objects]
    ).astype(dtype, copy=False)
    segments = np.concatenate(
        [_moved(union.segments, item._segment_index, item.segments) for item in objects]
    ).astype(dtype, copy=False)
    columns = [models, segments] + ([] if contents is None else [np.concatenate(contents)])
    order = order_trials(models, segments, union.shape[0])
    if contents is not None:
        # These come column by column, as the trials of a matrix do.
        lines = order.first[clashes(order, columns[2])]
        lines = lines[np.sort(np.unique(lines, return_index=True)[1])]
        if lines.size:
            ids = union.models.ids, union.segments.ids
            message = f"{fault} {name_listed(models[lines], segments[lines], *ids)}."
            raise TrialMismatchError(message)
    if order.order is not None:
        columns = [column[order.order] for column in columns]
    columns = [mark_read_only(column) for column in columns]
    said = None if contents is None else columns[2]
    return TrialColumns(union.models.ids, union.segments.ids, columns[0], columns[1], said)


def _moved(union: IdIndex, ids: IdIndex, positions: Positions) -> AnyArray:
    """Return positions in a list of ids as positions in the union."""
    places = union.locate(ids)
    return positions if places is None else places.astype(positions.dtype)[positions]


def check_cell_count(shape: tuple[int, int], max_cells: object) -> None:
    """Raise if a matrix would have more cells than the caller wants."""
    n_cells = shape[0] * shape[1]
    if not isinstance(max_cells, Real):
        raise invalid("max_cells", "be a number of cells", describe(max_cells))
    if n_cells > float(max_cells):
        expected = f"be at least {n_cells}, for {shape[0]} models x {shape[1]} segments"
        hint = "A matrix that large is better kept flat."
        raise invalid("max_cells", expected, describe(max_cells), hint)


def gather(matrices: Sequence[AnyArray], models: Positions, segments: Positions) -> list[AnyArray]:
    """Return the cells of some matrices at the positions of trials, as vectors."""
    vectors: list[AnyArray] = [np.empty(models.size, dtype=each.dtype) for each in matrices]
    # In blocks, because numpy converts positions to its own type of index.
    for block in blocks(models.size, 1):
        rows, cols = models[block], segments[block]
        for vector, matrix in zip(vectors, matrices, strict=True):
            vector[block] = matrix[rows, cols]
    return vectors


def scatter(trials: "FlatTrials", values: AnyArray) -> AnyArray:
    """Return a matrix with values at the cells of trials, and 0 elsewhere."""
    matrix = np.zeros(trials._shape, dtype=values.dtype)
    matrix[trials.models, trials.segments] = values
    return mark_read_only(matrix)


@frozen(eq=False, repr=False)
class FlatTrials(TrialSet, ABC):
    """Base of the flat forms.

    Parameters
    ----------
    modelset, segset : array_like of str
        Ids of models and segments, each once.
    models, segments : (k,) array_like of int
        Position of the model and of the segment of each trial in these lists.
    """

    models: Positions = field()
    segments: Positions = field()

    # The field that says something of each trial, and what that is called in a warning.
    _content: ClassVar[tuple[str, str] | None] = None

    def trial_positions(self) -> tuple[Positions, Positions]:
        """Return where the model and the segment of each trial stand in the id lists.

        Returns
        -------
        models, segments : (k,) arrays of int
            The fields of these names. Trials come column by column, the order of all
            vectors of trials.
        """
        return self.models, self.segments

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return int(self.models.size)

    @classmethod
    def _read_text(cls, path: FilePath, *, max_bytes: int | None, progress: bool) -> Self:
        found = super()._read_text(path, max_bytes=max_bytes, progress=progress)
        return found._checked_for_swaps()

    def _checked_for_swaps(self) -> Self:
        """Warn if the same two segments are listed in both orders; return the object."""
        ids, positions = (self.modelset, self.segset), (self.models, self.segments)
        if self._content is None:
            warn_swapped(ids, positions)
        else:
            warn_swapped(ids, positions, getattr(self, self._content[0]), self._content[1])
        return self

    def _match(self, wanted: tuple[Positions, Positions], frame: Frame) -> Match:
        """Find trials, given as positions in other id lists, in this object."""
        return match_trials(self.trial_positions(), wanted, frame, self._shape)

    def _chosen(self, frame: Frame) -> "tuple[Positions, Positions, IndexArray | None]":
        """Return new positions of the trials that a filter leaves, and which these are."""
        if frame.is_identity:
            return self.models, self.segments, None
        n_models, n_segments = self._shape
        rows = _renumbered(frame.rows, n_models)[self.models]
        cols = _renumbered(frame.cols, n_segments)[self.segments]
        chosen = np.flatnonzero((rows >= 0) & (cols >= 0))
        return rows[chosen], cols[chosen], chosen

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
            The object with fewer models, segments and trials, in their old order. An
            empty list with ``keep=True`` leaves nothing.

        Notes
        -----
        How many models and segments went is logged at level INFO.
        """
        frame = self._filter_frame(models, segments, keep=keep)
        rows, cols, chosen = self._chosen(frame)
        fields: dict[str, AnyArray] = {}
        for name, array in self._arrays().items():
            if name in ("modelset", "segset"):
                kept = frame.rows if name == "modelset" else frame.cols
                fields[name] = array if kept is None else array[kept]
            elif name in ("models", "segments"):
                fields[name] = rows if name == "models" else cols
            else:
                fields[name] = array if chosen is None else array[chosen]
        return type(self)(**{name: mark_read_only(array) for name, array in fields.items()})


def _renumbered(kept: IndexArray | None, size: int) -> AnyArray:
    """Return the new position of each of `size` items, -1 for those that are not kept."""
    new = np.full(size, -1, dtype=position_type(size))
    positions = np.arange(size) if kept is None else kept
    new[positions] = np.arange(positions.size)
    return new


Column: TypeAlias = Factor | npt.NDArray[Any]

Columns: TypeAlias = Mapping[str, Column]

ColumnsLike: TypeAlias = Mapping[str, Factor | npt.ArrayLike]


def as_columns(columns: ColumnsLike, kind: str, size: int) -> Columns:
    """Return checked columns of one kind under a mapping that cannot be changed."""
    listed: object = columns
    if not isinstance(listed, Mapping):
        found = describe(listed)
        raise invalid(f"{kind}_columns", "map names to columns", found)
    checked = {}
    for name, values in listed.items():
        if not isinstance(name, str) or not name:
            raise invalid(f"{kind}_columns", "be named by text", describe(name))
        column = _as_column(values, f"{kind}_columns[{name!r}]")
        if len(column) != size:
            expected = f"have one value for each of the {size} {kind}s"
            raise invalid(f"{kind}_columns[{name!r}]", expected, str(len(column)))
        checked[name] = column
    return MappingProxyType(checked)


def _as_column(values: Any, name: str) -> Column:
    """Return a column: numbers as a read-only array, everything else as a factor."""
    if isinstance(values, Factor):
        return values
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
        raise invalid(name, "be a list of values", describe(values))
    values = _unmasked(values, name)
    array = values if isinstance(values, np.ndarray) else _as_array(values)
    if array.ndim != 1:
        raise invalid(name, "be one-dimensional", describe(array))
    if array.dtype.kind == "f":
        short = array.dtype.itemsize <= np.dtype(np.float32).itemsize
        return read_only(array.astype(np.float32 if short else np.float64, copy=False))
    if array.dtype.kind in "iu":
        return read_only(array.astype(array.dtype.newbyteorder("="), copy=False))
    return as_factor(values, name)


def as_factor(values: Any, name: str) -> Factor:
    """Return categories as a factor; errors tell which argument held others."""
    if isinstance(values, Factor):
        return values
    values = _unmasked(values, name)
    try:
        return Factor.from_values(values)
    except InvalidInputError as error:
        message = f"`{name}` of {error}"
        raise InvalidInputError(message) from None


def _unmasked(values: Any, name: str) -> Any:
    """Return values as they are, a numpy masked array as a plain one; raise if any is masked."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if np.ma.is_masked(values):
        hint = "Give what is unknown a name, such as 'unknown', or NaN to quantities: .filled()."
        found = f"{np.count_nonzero(np.ma.getmaskarray(values))} masked values"
        raise invalid(name, "have a value for each item", found, hint)
    return np.asarray(values)


def _as_array(values: Any) -> npt.NDArray[Any]:
    """Return numbers as an array, and anything else as an array of objects."""
    listed = list(values)
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in listed):
        return np.array(listed)
    return np.array([None, *listed], dtype=object)[1:]


def take(column: Column, positions: npt.NDArray[Any]) -> Column:
    """Return the values at some positions."""
    if isinstance(column, Factor):
        return column.take(positions)
    return mark_read_only(column[positions])


def take_all(table: Columns, positions: npt.NDArray[Any]) -> Columns:
    """Return the values of several columns at some positions."""
    return {name: take(column, positions) for name, column in table.items()}


def equal_columns(first: Column, second: Column) -> bool:
    """Compare two columns by content; NaN equals NaN."""
    if isinstance(first, Factor) or isinstance(second, Factor):
        return first is second or (
            isinstance(first, Factor) and isinstance(second, Factor) and first == second
        )
    is_float = first.dtype.kind == "f" and second.dtype.kind == "f"
    return np.array_equal(first, second, equal_nan=is_float)
