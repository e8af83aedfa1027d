"""What the flat forms share: lists of trials as positions in the lists of ids.

A flat form holds one number per trial and side where a matrix holds a cell for
every model and segment: ten million trials of 100,000 models and as many
segments are 80 MB instead of 10 GB. Trials are kept in the order that every vector of
trials has, column by column, and each only once; so vectors made from a flat form and
from the matrix of the same trials are identical.
"""

from abc import ABC
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from bosaris_py._validation import (
    BoolArray,
    FilePath,
    StrArray,
    as_ids,
    check_shape,
    describe,
    invalid,
    list_some,
    read_only,
    warn_caller,
)
from bosaris_py._validation import frozen as mark_read_only
from bosaris_py.errors import DuplicateTrialWarning, TrialMismatchError
from bosaris_py.storage.trial_order import (
    TrialOrder,
    ascends,
    disagree,
    order_trials,
    trial_codes,
)
from bosaris_py.trials._base import IdUnion, TrialSet
from bosaris_py.trials._fields import IdList
from bosaris_py.trials._frame import Frame, Positions, blocks, position_type
from bosaris_py.trials._matching import Match, find_codes, match_trials
from bosaris_py.trials.ids import IdIndex, IntArray, code_ids

__all__ = [
    "MAX_CELLS",
    "FlatTrials",
    "TrialColumns",
    "check_cell_count",
    "columns_from_trials",
    "gather",
    "merge_columns",
    "name_listed",
    "order_columns",
    "scatter",
    "warn_swapped",
]

# The largest matrix that `to_dense` makes unless it is told otherwise.
MAX_CELLS = 10**8

AnyArray = npt.NDArray[Any]


def name_listed(
    models: Positions, segments: Positions, modelset: StrArray, segset: StrArray
) -> str:
    """Return the count and the first few trials of a list, for a message."""
    pairs = [f"({modelset[i]}, {segset[j]})" for i, j in zip(models[:6], segments[:6], strict=True)]
    noun = "trial" if models.size == 1 else "trials"
    return f"{models.size} {noun}: {list_some(pairs)}"


def positions_of(values: npt.ArrayLike, size: int, name: str, owner: str, ids: str) -> Positions:
    """Return positions in a list of ids as a read-only vector of the shortest type.

    Parameters
    ----------
    values : (k,) array_like of int
        The positions.
    size : int
        Length of the list of ids.
    name, owner, ids : str
        Names of the argument, of what it belongs to, and of the list of ids.
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise invalid(name, owner, "be one-dimensional", "lists of different lengths") from None
    if isinstance(values, np.ma.MaskedArray):
        raise invalid(name, owner, "be a plain array", "a masked array")
    if array.ndim != 1:
        raise invalid(name, owner, "be one-dimensional", describe(array))
    dtype = position_type(size)
    if array.size == 0:
        return mark_read_only(np.empty(0, dtype=dtype))
    if array.dtype.kind not in "iu":
        hint = "For lists of ids there is from_trials." if array.dtype.kind in "OSTU" else ""
        raise invalid(name, owner, f"be positions in `{ids}`, whole numbers", describe(array), hint)
    if array.min() < 0 or array.max() >= size:
        bad = np.flatnonzero((array < 0) | (array >= size))
        expected = f"be positions in `{ids}`, from 0 to {size - 1}" if size else f"fit `{ids}`"
        found = f"{array[bad[0]]} for trial {bad[0]} ({bad.size} of {array.size} are out of range)"
        hint = "" if size else f"`{ids}` is empty."
        raise invalid(name, owner, expected, found, hint)
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
    owner: str,
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
    content_name, owner : str
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
    modelset = as_ids(ids[0], "modelset", owner)
    segset = as_ids(ids[1], "segset", owner)
    models = positions_of(positions[0], modelset.size, "models", owner, "modelset")
    segments = positions_of(positions[1], segset.size, "segments", owner, "segset")
    if segments.size != models.size:
        expected = f"have one position for each of the {models.size} trials, like `models`"
        raise invalid("segments", owner, expected, f"{segments.size}")
    if contents is not None:
        if contents.shape != models.shape:
            expected = f"have one value for each of the {models.size} trials, like `models`"
            raise invalid(content_name, owner, expected, describe(contents))
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
                raise invalid(content_name, owner, expected, f"different values for {trials}")
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
    ids: tuple[IdList, IdList], contents: AnyArray | None, content_name: str, owner: str
) -> TrialColumns:
    """Order a list of trials that are given by their ids; as `order_columns`."""
    modelset, models = code_ids(ids[0], "models", owner)
    segset, segments = code_ids(ids[1], "segments", owner)
    check_shape(segments, models.shape, "segments", owner, "like `models`")
    if contents is not None:
        check_shape(contents, models.shape, content_name, owner, "like `models`")
    return order_columns((modelset, segset), (models, segments), contents, content_name, owner)


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


def check_cell_count(shape: tuple[int, int], max_cells: object, owner: str) -> None:
    """Raise if a matrix would have more cells than the caller wants."""
    n_cells = shape[0] * shape[1]
    if not isinstance(max_cells, Real):
        raise invalid("max_cells", owner, "be a number of cells", describe(max_cells))
    if n_cells > float(max_cells):
        expected = f"be at least {n_cells}, for {shape[0]} models x {shape[1]} segments"
        hint = "A matrix that large is better kept flat."
        raise invalid("max_cells", owner, expected, describe(max_cells), hint)


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

    def _chosen(self, frame: Frame) -> "tuple[Positions, Positions, IntArray | None]":
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


def _renumbered(kept: IntArray | None, size: int) -> AnyArray:
    """Return the new position of each of `size` items, -1 for those that are not kept."""
    new = np.full(size, -1, dtype=position_type(size))
    positions = np.arange(size) if kept is None else kept
    new[positions] = np.arange(positions.size)
    return new
