"""Matrices of trials: moved into another order of models and segments, and to vectors.

Works on plain arrays and knows no ids. All loops here run over blocks that
stay in the processor's cache, never over ids or trials: the whole work is a few
passes over the matrix.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from attrs import frozen

from bosaris_py._validation import BoolArray, FloatArray
from bosaris_py._validation import frozen as mark_read_only
from bosaris_py.trials.ids import IntArray

__all__ = [
    "Frame",
    "Positions",
    "blocks",
    "extract",
    "extract_by_rows",
    "insert",
    "position_type",
    "true_positions",
]

AnyMatrix = npt.NDArray[Any]
Positions = npt.NDArray[np.signedinteger[Any]]

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


def _is_transposed(matrix: AnyMatrix) -> bool:
    """Tell whether `matrix` lies in memory column by column."""
    return matrix.flags.f_contiguous and not matrix.flags.c_contiguous


def _columns_first(matrix: AnyMatrix) -> AnyMatrix:
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

    rows: IntArray | None
    cols: IntArray | None
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

    def take(self, source: AnyMatrix, rows: slice = _ALL, cols: slice = _ALL) -> AnyMatrix:
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
    frame: Frame, values: AnyMatrix, present: BoolArray | None, masks: Sequence[BoolArray]
) -> list[AnyMatrix]:
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
    vectors: list[AnyMatrix] = [
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


def _trimmed(vectors: list[AnyMatrix], ends: list[int]) -> list[AnyMatrix]:
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
