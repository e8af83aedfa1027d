"""Rows of score and key files, read by any process that sees them."""

from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from bosaris_py.storage._guarded_hdf5 import GuardedDataset, GuardedFile, check_mask_values
from bosaris_py.storage._hdf5_layouts import USE_KEY
from bosaris_py.storage.blocks import MatrixFile, Rows, open_matrix, score_type
from bosaris_py.storage.file_reader import FileReader

__all__ = ["RowReader"]


class RowReader(FileReader):
    """Reads rows of one file; a context manager that opens and closes it.

    The arrays that it returns are its own buffers. Each is overwritten by the next but
    one read of the same kind, so that rows can be used while the next ones are read.

    Parameters
    ----------
    file : MatrixFile
        The file, as a ``describe_`` function described it.
    whole_chunks : bool, optional
        Whether no chunk of the file is read in several parts. Chunks go straight into
        the buffers then, which takes half the time where they are not compressed.

    Raises
    ------
    FileFormatError
        On entry, if the file is not the one that was described; while reading, if it
        cannot be read or holds illegal values; on exit, if it has changed meanwhile.
    """

    def __init__(self, file: MatrixFile, *, whole_chunks: bool = False) -> None:
        super().__init__(file.stamp)
        self._remembers_chunks = not whole_chunks
        self.file = file
        self._buffers: dict[str, npt.NDArray[Any]] = {}
        self._n_reads: dict[str, int] = {}

    def _find_data_sets(self, source: GuardedFile) -> list[GuardedDataset]:
        return [open_matrix(source, self.file.kind, name) for name in self.file.data_sets]

    def read_scores(self, rows: Rows) -> npt.NDArray[Any]:
        """Read rows of a score file.

        Parameters
        ----------
        rows : slice or (r,) array of int
            Consecutive rows, or any rows; each must be in the file.

        Returns
        -------
        (r, n) array of float32 or float64
            The scores, of the type that `Scores.read` gives them; a buffer. What lies
            where `read_valid` says False is no score.

        Raises
        ------
        FileFormatError
            If the rows cannot be read.
        """
        return self._rows(self._matrices[0], score_type(self._matrices[0]), rows)

    def read_valid(self, rows: Rows) -> npt.NDArray[np.bool_] | None:
        """Read which cells of rows of a score file hold scores.

        Parameters
        ----------
        rows : slice or (r,) array of int
            Consecutive rows, or any rows; each must be in the file.

        Returns
        -------
        (r, n) array of bool, or None
            None if all cells do. A buffer.

        Raises
        ------
        FileFormatError
            If the rows cannot be read, or hold other values than 0 and 1.
        """
        if len(self._matrices) == 1:
            return None
        valid = self._mask(self._matrices[1], rows, signed=False)
        return None if valid.all() else valid

    def read_labels(self, rows: Rows) -> npt.NDArray[np.int8]:
        """Read rows of a key or of a trial list.

        Parameters
        ----------
        rows : slice or (r,) array of int
            Consecutive rows, or any rows; each must be in the file.

        Returns
        -------
        (r, n) array of int8
            Of a key 1 for targets, -1 for non-targets, 0 for the rest; of a trial
            list 1 for trials. A buffer.

        Raises
        ------
        FileFormatError
            If the rows cannot be read, or hold other values.
        """
        if len(self._matrices) == 1:
            is_key = self.file.kind == "key"
            matrix = self._matrices[0]
            labels = self._mask(matrix, rows, signed=is_key or not matrix.is_unsigned)
            if not is_key and labels.dtype == np.int8 and labels.min(initial=0) < 0:
                text = f"holds -1: this is a Key. {USE_KEY}"
                raise matrix.owner.error(matrix.name, text)
            return labels.view(np.int8)
        tar, non = (self._mask(matrix, rows, signed=False) for matrix in self._matrices)
        if (tar & non).any():
            text = f"shares trials with `/{self._matrices[0].name}`"
            raise self._matrices[1].owner.error(self._matrices[1].name, text)
        both: npt.NDArray[np.int8] = tar.view(np.int8) - non.view(np.int8)
        return both

    def _mask(self, matrix: GuardedDataset, rows: Rows, *, signed: bool) -> npt.NDArray[Any]:
        """Read rows of a mask as bool, or as int8 if signed."""
        dtype = matrix.dataset.dtype
        if matrix.item_size == 1:
            # Bytes as they are stored, also those of an enumeration, which may be rotten.
            dtype = np.dtype(np.uint8 if matrix.is_unsigned else np.int8)
        stored = self._rows(matrix, dtype, rows, stored_type=matrix.item_size == 1)
        where = f"{self.file.path}: data set `/{matrix.name}`, rows {_say(rows)},"
        # The check marks what it returns as read-only; the buffer is not given away.
        return check_mask_values(stored.view(), where, signed=signed)

    def _rows(
        self,
        matrix: GuardedDataset,
        dtype: np.dtype[Any],
        rows: Rows,
        *,
        stored_type: bool = False,
    ) -> npt.NDArray[Any]:
        """Read rows of a data set into its buffer."""
        n_cols = self.file.shape[1]
        count = rows.stop - rows.start if isinstance(rows, slice) else rows.size
        self._n_reads[matrix.name] = self._n_reads.get(matrix.name, 0) + 1
        turn = self._n_reads[matrix.name] % 2
        out = self._buffer(f"{matrix.name} {turn}", (count, n_cols), dtype)
        if matrix.count == 0 or count == 0:
            out[...] = 0
            return out
        kind = matrix.dataset.id.get_type() if stored_type else None
        with self._reading(f"{_say(rows)} of `/{matrix.name}`"):
            if isinstance(rows, slice):
                _read_slab(matrix, rows, out, kind)
            else:
                self._gather(matrix, rows, out, kind)
        return out

    def _gather(
        self, matrix: GuardedDataset, rows: npt.NDArray[np.intp], out: npt.NDArray[Any], kind: Any
    ) -> None:
        """Read scattered rows, each chunk once."""
        step = self.file.chunk_rows
        order = np.argsort(rows, kind="stable")
        ordered = rows[order]
        ends = np.append(np.flatnonzero(np.diff(ordered // step)) + 1, rows.size)
        start = 0
        for end in ends.tolist():
            first, last = int(ordered[start]), int(ordered[end - 1])
            shape = (last + 1 - first, out.shape[1])
            part = self._buffer(f"{matrix.name} in part", shape, out.dtype)
            _read_slab(matrix, slice(first, last + 1), part, kind)
            out[order[start:end]] = part[ordered[start:end] - first]
            start = end

    def _buffer(self, name: str, shape: tuple[int, int], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """Return an array of this shape whose memory is used again and again."""
        size = shape[0] * shape[1]
        buffer = self._buffers.get(name)
        if buffer is None or buffer.size < size:
            buffer = self._buffers[name] = np.empty(size, dtype=dtype)
        return buffer[:size].reshape(shape)


def _read_slab(matrix: GuardedDataset, rows: slice, out: npt.NDArray[Any], kind: Any) -> None:
    """Read consecutive rows of a matrix, also one that is stored as a vector."""
    space = matrix.dataset.id.get_space()
    if len(matrix.shape) == 2:
        space.select_hyperslab((rows.start, 0), out.shape)
    elif matrix.count == out.shape[1]:
        space.select_all()
    else:
        space.select_hyperslab((rows.start,), (out.shape[0],))
    memory = h5py.h5s.create_simple(out.shape)
    matrix.dataset.id.read(memory, space, out, mtype=kind)


def _say(rows: Rows) -> str:
    """Name rows, counted from 0, in an error message."""
    if isinstance(rows, slice):
        return f"{rows.start} to {rows.stop - 1}"
    if rows.size == 0:
        return "none"
    return f"{rows.size} rows from {rows.min()} to {rows.max()}"
