"""Positions of one set of trials in another, for matrices and for lists.

Works on plain arrays and knows no ids. All loops here run over blocks that
stay in the processor's cache, never over ids or trials: the whole work is a few
passes over the matrix.

Ids are looked up once for each list; then a trial is a whole number, and trials are
found by a table of all cells, if that is small, or by binary search of sorted numbers
in sorted numbers. numpy continues each such search where the last one ended, so
that ten million trials are found among as many in 0.2 s. Numbers that are not
sorted, because ids come in another order, need tables of one part of the cells after
the other, and twice that time.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from attrs import frozen

from bosaris_py._arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    IndexArray,
    IntArray,
    Positions,
    mark_read_only,
)
from bosaris_py.storage.trial_table import ascends, sort_codes, trial_codes

# Cells of one block: a few megabytes of values, so that a block is still in the
# cache when the next step needs it.
_BLOCK_CELLS = 2**17

# Cells gathered at once before they are read column by column: bounds the memory
# of an extraction, whatever the size of the matrix.
_STRIP_CELLS = 2**24

# Side of the squares in which a matrix is transposed.
_TILE = 128

_ALL = slice(None)


def blocks(n_rows: int, n_cols: int, cells: int = _BLOCK_CELLS) -> Iterator[slice]:
    """Yield slices of rows that hold about `cells` cells each."""
    step = max(1, cells // max(1, n_cols))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def _is_transposed(matrix: AnyArray) -> bool:
    """Tell whether `matrix` lies in memory column by column."""
    return matrix.flags.f_contiguous and not matrix.flags.c_contiguous


def _columns_first(matrix: AnyArray) -> AnyArray:
    """Return the transpose of `matrix`, contiguous in memory."""
    if matrix.T.flags.c_contiguous:
        return matrix.T
    out = np.empty(matrix.shape[::-1], dtype=matrix.dtype)
    for start in range(0, matrix.shape[0], _TILE):
        out[:, start : start + _TILE] = matrix[start : start + _TILE].T
    return out


@frozen(eq=False)
class Frame:
    """Where the rows and columns that are wanted lie in a source matrix.

    Parameters
    ----------
    rows, cols : array of int or None
        Position in the source of each wanted row and column, -1 for one that
        the source does not have. None: all of the source in its own order.
    shape : tuple of int
        Number of wanted rows and columns.
    """

    rows: IndexArray | None
    cols: IndexArray | None
    shape: tuple[int, int]

    @property
    def is_identity(self) -> bool:
        """Whether the source has the wanted order already."""
        return self.rows is None and self.cols is None

    @property
    def transposed(self) -> "Frame":
        """The same frame for the transposed source."""
        return Frame(self.cols, self.rows, self.shape[::-1])

    @property
    def n_rows_found(self) -> int:
        """Number of wanted rows that the source has."""
        return self.shape[0] if self.rows is None else int(np.count_nonzero(self.rows >= 0))

    @property
    def n_cols_found(self) -> int:
        """Number of wanted columns that the source has."""
        return self.shape[1] if self.cols is None else int(np.count_nonzero(self.cols >= 0))

    @property
    def is_complete(self) -> bool:
        """Whether the source has all that is wanted."""
        return (self.n_rows_found, self.n_cols_found) == self.shape

    def take(self, source: AnyArray, rows: slice = _ALL, cols: slice = _ALL) -> AnyArray:
        """Return a block of the source in the wanted order; what it lacks is 0 or False.

        The result is the source itself, or a view of it, if nothing has to be
        moved; else a new, read-only array in the memory order of the source.
        """
        if self.is_identity:
            return source if rows == _ALL and cols == _ALL else source[rows, cols]
        if _is_transposed(source):
            return self.transposed.take(source.T, cols, rows).T
        row_at = None if self.rows is None else self.rows[rows]
        col_at = None if self.cols is None else self.cols[cols]
        n_rows = len(range(self.shape[0])[rows])
        n_cols = len(range(self.shape[1])[cols])
        if source.size == 0 or n_rows == 0 or n_cols == 0:
            return mark_read_only(np.zeros((n_rows, n_cols), dtype=source.dtype))
        if col_at is None:
            # Position -1 copies some row, which is cleared below.
            out = source[:, cols][row_at]
        else:
            out = np.empty((n_rows, n_cols), dtype=source.dtype)
            # Rows that are views start where the caller's slice starts.
            first = rows.start or 0
            for block in blocks(n_rows, source.shape[1]):
                part = (
                    source[first + block.start : first + block.stop]
                    if row_at is None
                    else source[row_at[block]]
                )
                np.take(part, col_at, axis=1, out=out[block], mode="clip")
            if (col_at < 0).any():
                out[:, col_at < 0] = 0
        if row_at is not None and (row_at < 0).any():
            out[row_at < 0] = 0
        return mark_read_only(out)

    def take_valid(
        self, present: BoolArray | None, rows: slice = _ALL, cols: slice = _ALL
    ) -> BoolArray | None:
        """Return which cells of a block hold a value; None says all of them.

        Parameters
        ----------
        present : array of bool or None
            Which cells of the source hold a value; None says all of them.
        rows, cols : slice
            The block.
        """
        if present is not None:
            return self.take(present, rows, cols)
        if self.is_complete:
            return None
        row_found = np.ones(self.shape[0], np.bool_) if self.rows is None else self.rows >= 0
        col_found = np.ones(self.shape[1], np.bool_) if self.cols is None else self.cols >= 0
        return np.logical_and.outer(row_found[rows], col_found[cols])


def extract(
    frame: Frame, values: AnyArray, present: BoolArray | None, masks: Sequence[BoolArray]
) -> list[AnyArray]:
    """Return the values under each mask as vectors in column-major order.

    Parameters
    ----------
    frame : Frame
        Where the rows and columns of the masks lie in `values`.
    values : (m, n) array
        The source.
    present : (m, n) array of bool or None
        Which of the values are valid; None says all of them.
    masks : sequence of arrays of bool, each of shape ``frame.shape``
        Which values are wanted. One pass over the matrix serves all masks.

    Returns
    -------
    vectors : list of arrays
        For each mask the values that are wanted and valid, column by column.

    Notes
    -----
    The matrix is transposed square by square on the way: reading it column by
    column as it lies would fetch every cache line many times.
    """
    vectors: list[AnyArray] = [
        np.empty(np.count_nonzero(mask), dtype=values.dtype) for mask in masks
    ]
    ends = [0] * len(vectors)
    for wide in blocks(frame.shape[1], frame.shape[0], _STRIP_CELLS):
        strip = frame.take(values, cols=wide)
        valid = frame.take_valid(present, cols=wide)
        for start in range(0, strip.shape[1], _TILE):
            narrow = slice(start, start + _TILE)
            columns = _columns_first(strip[:, narrow])
            valid_columns = None if valid is None else _columns_first(valid[:, narrow])
            for index, mask in enumerate(masks):
                wanted = _columns_first(mask[:, wide][:, narrow])
                if valid_columns is not None:
                    wanted = wanted & valid_columns
                found = columns[wanted]
                end = ends[index] + found.size
                vectors[index][ends[index] : end] = found
                ends[index] = end
    return _trimmed(vectors, ends)


def extract_by_rows(
    frame: Frame, values: FloatArray, present: BoolArray | None, masks: Sequence[BoolArray]
) -> list[FloatArray]:
    """Return the values under each mask as vectors in the order that is fastest.

    Like `extract`, for callers who do not need the column-major order: the
    matrix is read as it lies in memory.
    """
    if _is_transposed(values):
        return extract(frame, values, present, masks)
    vectors = [np.empty(np.count_nonzero(mask), dtype=values.dtype) for mask in masks]
    ends = [0] * len(vectors)
    for block in blocks(*frame.shape):
        part = frame.take(values, block)
        valid = frame.take_valid(present, block)
        for index, mask in enumerate(masks):
            wanted = mask[block] if valid is None else mask[block] & valid
            found = part[wanted]
            end = ends[index] + found.size
            vectors[index][ends[index] : end] = found
            ends[index] = end
    return _trimmed(vectors, ends)


def _trimmed(vectors: list[AnyArray], ends: list[int]) -> list[AnyArray]:
    """Cut vectors that were allocated too long; do not hold on to the longer memory."""
    return [
        vector if end == vector.size else vector[:end].copy()
        for vector, end in zip(vectors, ends, strict=True)
    ]


def insert(matrix: FloatArray, mask: BoolArray, vector: FloatArray) -> None:
    """Write `vector` into `matrix` where `mask` is true, in column-major order.

    The inverse of `extract` for an identity frame. `matrix` is changed in place.
    """
    used = 0
    for start in range(0, matrix.shape[1], _TILE):
        strip = matrix[:, start : start + _TILE]
        wanted = _columns_first(mask[:, start : start + _TILE])
        # A transpose that is a view writes through to the matrix.
        columns = _columns_first(strip)
        count = int(np.count_nonzero(wanted))
        columns[wanted] = vector[used : used + count]
        used += count
        if not np.may_share_memory(columns, matrix):
            for top in range(0, matrix.shape[0], _TILE):
                strip[top : top + _TILE] = columns[:, top : top + _TILE].T


def position_type(*sizes: int) -> "np.dtype[Any]":
    """Return the smaller of int32 and int64 that holds the positions in lists of these sizes."""
    return np.dtype(np.int32 if max(sizes, default=0) <= np.iinfo(np.int32).max else np.int64)


def true_positions(mask: BoolArray) -> tuple[Positions, Positions]:
    """Return the row and the column of each true cell of a mask, column by column."""
    dtype = position_type(*mask.shape)
    total = int(np.count_nonzero(mask))
    rows, cols = np.empty(total, dtype), np.empty(total, dtype)
    used = 0
    for wide in blocks(mask.shape[1], mask.shape[0]):
        strip_cols, strip_rows = np.nonzero(_columns_first(mask[:, wide]))
        part = slice(used, used + strip_rows.size)
        rows[part] = strip_rows
        np.add(strip_cols, wide.start, out=cols[part], casting="same_kind")
        used = part.stop
    return mark_read_only(rows), mark_read_only(cols)


# A table of all cells may have so many for each trial, and this many in any case.
_CELLS_PER_TRIAL = 2

_SMALL_TABLE = 2**20

# Of more cells a part at a time, which fits the processor's cache; the parts are numbered with
# 16 bits, and none is worth it for a few trials.
_PART_BITS = 22

_MOST_PARTS = 2**16

_TRIALS_PER_PART = 256


@frozen(eq=False)
class Match:
    """Where wanted trials stand in a list.

    Parameters
    ----------
    places : (n_found,) array of int or None
        The place of each trial that is found. None: the list is what is wanted.
    found : (n_wanted,) array of bool or None
        Which of the wanted trials are found. None: all.
    """

    places: IndexArray | None
    found: BoolArray | None

    def take(self, values: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """Return the values of the trials that are found, in the wanted order."""
        return values if self.places is None else values[self.places]

    def reduce(self, wanted: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """Return something about the wanted trials for those that are found."""
        return wanted if self.found is None else wanted[self.found]


def match_trials(
    listed: tuple[Positions, Positions],
    wanted: tuple[Positions, Positions],
    frame: Frame,
    shape: tuple[int, int],
) -> Match:
    """Find wanted trials in a list.

    Parameters
    ----------
    listed : pair of (n,) arrays of int
        Models and segments of the list, column by column, each trial once.
    wanted : pair of (k,) arrays of int
        Models and segments that are wanted, as positions in id lists of their own.
    frame : Frame
        Where the wanted models and segments lie in the id lists of the list.
    shape : tuple of int
        Number of models and of segments in these id lists.

    Returns
    -------
    Match
    """
    models, segments = wanted
    if frame.is_identity and _same(listed, wanted):
        return Match(None, None)
    if frame.rows is not None:
        models = frame.rows[models]
    if frame.cols is not None:
        segments = frame.cols[segments]
    known = None if frame.is_complete else (models >= 0) & (segments >= 0)
    if known is not None:
        models, segments = models[known], segments[known]
    places = find_codes(
        trial_codes(*listed, shape[0]), trial_codes(models, segments, shape[0]), shape
    )
    hits = places >= 0
    if hits.all():
        return Match(places, known)
    if known is None:
        return Match(places[hits], hits)
    found = np.zeros(known.size, dtype=np.bool_)
    found[known] = hits
    return Match(places[hits], found)


def find_codes(listed: IntArray, wanted: IntArray, shape: tuple[int, int]) -> IndexArray:
    """Return the place of each wanted code in a list of codes, -1 if it is not there.

    Parameters
    ----------
    listed : (n,) array of int64
        Codes in ascending order, each once.
    wanted : (k,) array of int64
        Codes in any order; ascending ones are found fastest.
    shape : tuple of int
        Codes lie below the product of these.
    """
    n_cells = shape[0] * shape[1]
    if n_cells <= max(_SMALL_TABLE, _CELLS_PER_TRIAL * (listed.size + wanted.size)):
        table = np.full(n_cells, -1, dtype=np.intp)
        table[listed] = np.arange(listed.size)
        return table[wanted]
    if listed.size == 0:
        return np.full(wanted.size, -1, dtype=np.intp)
    if ascends(wanted):
        return _search(listed, wanted)
    n_parts = (n_cells >> _PART_BITS) + 1
    if n_parts <= min(_MOST_PARTS, wanted.size // _TRIALS_PER_PART):
        return _find_in_parts(listed, wanted, n_parts)
    order, ascending = sort_codes(wanted)
    places = np.empty(wanted.size, dtype=np.intp)
    places[order] = _search(listed, ascending)
    return places


def _find_in_parts(listed: IntArray, wanted: IntArray, n_parts: int) -> IndexArray:
    """Return like `find_codes`, with a table of some of the cells after the other.

    Only which part a code lies in is sorted for, which with 16 bits takes a tenth of the time of
    sorting the codes.
    """
    part_of = (wanted >> _PART_BITS).astype(np.uint16)
    order = np.argsort(part_of, kind="stable")
    stops = np.cumsum(np.bincount(part_of, minlength=n_parts))
    begins = np.arange(n_parts + 1) << _PART_BITS
    listed_edges = np.searchsorted(listed, begins)
    table = np.full(2**_PART_BITS, -1, dtype=position_type(listed.size))
    places = np.empty(wanted.size, dtype=np.intp)
    for part, stop in enumerate(stops.tolist()):
        here = order[stops[part - 1] if part else 0 : stop]
        lines = slice(listed_edges[part], listed_edges[part + 1])
        cells = listed[lines] - begins[part]
        table[cells] = np.arange(lines.start, lines.stop)
        places[here] = table[wanted[here] - begins[part]]
        table[cells] = -1
    return places


def _search(listed: IntArray, wanted: IntArray) -> IndexArray:
    """Return like `find_codes`, for ascending codes and a list that is not empty."""
    places = np.searchsorted(listed, wanted)
    np.minimum(places, listed.size - 1, out=places)
    places[listed[places] != wanted] = -1
    return places


def _same(first: tuple[Positions, Positions], second: tuple[Positions, Positions]) -> bool:
    """Tell whether two lists of trials are equal."""
    return all(a is b or np.array_equal(a, b) for a, b in zip(first, second, strict=True))
