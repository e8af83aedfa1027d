"""Score and key files read a few rows at a time, by any process that sees them.

`describe_scores`, `describe_key` and `describe_ndx` look into an HDF5 file in any of
the layouts that `bosaris_py.storage.hdf5` reads, check its kind, shapes and types, and
return its ids and a `MatrixFile`: a small value that says how to read rows of it. It
can be sent to other processes and machines, which open the file themselves::

    file, modelset, segset = describe_scores("scores.h5")
    with RowReader(file) as reader:
        for rows in row_blocks(file.shape, [file]):
            scores, valid = reader.read_scores(rows), reader.read_valid(rows)

A file that is not the same as when it was described, when reading begins or when it
ends, is refused: what was read may be neither the old content nor the new.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

import attrs
import h5py
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import warn_caller
from bosaris_py.errors import BosarisError, FileFormatError, OldFormatWarning
from bosaris_py.storage._guarded_hdf5 import (
    GuardedDataset,
    GuardedFile,
    check_mask_values,
    open_guarded,
)
from bosaris_py.storage._hdf5_layouts import (
    USE_KEY,
    check_ids,
    check_matrix,
    expect_kind,
    find_layout,
    require,
)
from bosaris_py.storage._types import PathLike

__all__ = [
    "FileReader",
    "FileStamp",
    "Ids",
    "MatrixFile",
    "RowReader",
    "describe_key",
    "describe_ndx",
    "describe_scores",
    "describe_trials",
    "row_blocks",
]

Ids: TypeAlias = npt.NDArray[np.str_]
Rows: TypeAlias = slice | npt.NDArray[np.intp]

# Bytes of scores in a block: enough to make little of what a read costs in itself, few
# enough that a block is still in the processor's cache when it is used.
_BLOCK_BYTES = 2**22


@attrs.frozen
class FileStamp:
    """A file as it was when somebody looked at it.

    Parameters
    ----------
    path : Path
        The file, as an absolute path.
    size : int
        Its size in bytes.
    modified : int
        When it was changed last, in nanoseconds.
    """

    path: Path
    size: int
    modified: int

    @classmethod
    def of(cls, path: PathLike) -> Self:
        """Look at a file.

        Parameters
        ----------
        path : str or path-like
            The file.

        Raises
        ------
        FileNotFoundError
            If there is none.
        """
        absolute = Path(path).absolute()
        status = absolute.stat()
        return cls(absolute, status.st_size, status.st_mtime_ns)

    def check(self) -> None:
        """Raise `FileFormatError` if the file is not the same any more."""
        try:
            now = type(self).of(self.path)
        except FileNotFoundError as error:
            raise FileFormatError(f"{self.path}: deleted while it was being read") from error
        if now == self:
            return
        change = "changed"
        if now.size != self.size:
            change += f" from {self.size} to {now.size} bytes"
        message = f"{self.path}: {change} while it was being read; wait until it is complete"
        raise FileFormatError(message)


@attrs.frozen
class MatrixFile:
    """How to read rows of the matrix in one file, without its ids.

    Parameters
    ----------
    stamp : FileStamp
        The file.
    kind : str
        ``"scores"``, ``"key"`` or ``"ndx"``.
    shape : tuple of int
        Number of models (rows) and segments (columns).
    data_sets : tuple of str
        Where the matrix is: scores and, if there is one, their mask; the mask of
        trials, or those of targets and of non-targets.
    item_size : int
        Bytes of one value in memory.
    chunk_rows : int
        Rows that the file keeps together; reading them at once is cheapest.
    """

    stamp: FileStamp
    kind: str
    shape: tuple[int, int]
    data_sets: tuple[str, ...]
    item_size: int
    chunk_rows: int

    @property
    def path(self) -> Path:
        """The file."""
        return self.stamp.path

    def has_whole_chunks(self, rows: Rows) -> bool:
        """Tell whether rows are all of the chunks in which they are."""
        if not isinstance(rows, slice):
            return False
        ends = (rows.start, rows.stop % self.shape[0] if self.shape[0] else 0)
        return all(end % self.chunk_rows == 0 for end in ends)


def describe_scores(path: PathLike) -> tuple[MatrixFile, Ids, Ids]:
    """Describe a `Scores` file for reading it by rows.

    Parameters
    ----------
    path : str or path-like
        The HDF5 file.

    Returns
    -------
    file : MatrixFile
        How to read its rows with `RowReader.read_scores`.
    modelset, segset : array of str
        Ids of the rows and of the columns.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign or of another kind.
    FileNotFoundError
        If there is no such file.

    Warns
    -----
    OldFormatWarning
        If the file does not say which scores are valid; all are taken as valid then.
    """
    stamp = FileStamp.of(path)
    with open_guarded(stamp.path) as source:
        expect_kind(source, "scores")
        layout = find_layout(source, "scores")
        require(source, "scores", layout.scores)
        names: tuple[str, ...] = (layout.scores, "score_mask")
        is_maskless = layout.scores == "score_mat" and not source.holds("score_mask")
        if is_maskless:
            names = names[:1]
        described = _describe(source, stamp, "scores", names)
    if is_maskless:
        message = f"{path}: the file does not say which scores are valid; taking all as valid"
        warn_caller(message, OldFormatWarning)
    return described


def describe_key(path: PathLike) -> tuple[MatrixFile, Ids, Ids]:
    """Describe a `Key` file for reading it by rows.

    Parameters
    ----------
    path : str or path-like
        The HDF5 file.

    Returns
    -------
    file : MatrixFile
        How to read its rows with `RowReader.read_labels`.
    modelset, segset : array of str
        Ids of the rows and of the columns.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign or of another kind.
    FileNotFoundError
        If there is no such file.

    Warns
    -----
    OldFormatWarning
        If targets and non-targets are in two masks, as in the toolkit's first format.
    """
    stamp = FileStamp.of(path)
    with open_guarded(stamp.path) as source:
        expect_kind(source, "key")
        layout = find_layout(source, "key")
        is_old = layout.two_masks is not None and source.holds(layout.two_masks[0])
        names = layout.two_masks if is_old and layout.two_masks else ("trial_mask",)
        if not is_old:
            require(source, "key", "trial_mask")
        described = _describe(source, stamp, "key", names)
    if is_old:
        message = f"{path}: a key in the old layout with two masks; save it again to update it"
        warn_caller(message, OldFormatWarning)
    return described


def describe_ndx(path: PathLike) -> tuple[MatrixFile, Ids, Ids]:
    """Describe an `Ndx` file for reading it by rows.

    Parameters
    ----------
    path : str or path-like
        The HDF5 file.

    Returns
    -------
    file : MatrixFile
        How to read its rows with `RowReader.read_labels`.
    modelset, segset : array of str
        Ids of the rows and of the columns.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign or of another kind.
    FileNotFoundError
        If there is no such file.
    """
    stamp = FileStamp.of(path)
    with open_guarded(stamp.path) as source:
        expect_kind(source, "ndx")
        require(source, "ndx", "trial_mask")
        return _describe(source, stamp, "ndx", ("trial_mask",))


def describe_trials(path: PathLike) -> tuple[MatrixFile, Ids, Ids]:
    """Describe a `Key` or an `Ndx` file, whichever it is, for reading it by rows.

    Parameters
    ----------
    path : str or path-like
        The HDF5 file.

    Returns
    -------
    file : MatrixFile
        How to read its rows with `RowReader.read_labels`; see its `kind`.
    modelset, segset : array of str
        Ids of the rows and of the columns.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign or of another kind.
    FileNotFoundError
        If there is no such file.

    Warns
    -----
    OldFormatWarning
        As for `describe_key`.
    """
    with open_guarded(Path(path)) as source:
        layout = find_layout(source, "ndx")
        masks = layout.two_masks or ()
        is_key = any(source.holds(name) for name in ("file_format", *masks))
        if not is_key and source.holds("trial_mask"):
            is_key = not source.mask("trial_mask", copies=0).is_unsigned
    return describe_key(path) if is_key else describe_ndx(path)


def _describe(
    source: GuardedFile, stamp: FileStamp, kind: str, names: tuple[str, ...]
) -> tuple[MatrixFile, Ids, Ids]:
    """Check the data sets of an open file against its ids, and read the ids."""
    models, segments = check_ids(source, find_layout(source, kind))
    matrices = [_open_matrix(source, kind, name) for name in names]
    shape = (0, 0)
    for matrix in matrices:
        shape = check_matrix(matrix, models, segments)
    item_size = 1
    if kind == "scores":
        item_size = _score_type(matrices[0]).itemsize
    # Chunks that a part of the rows needs are unpacked whole.
    chunk_rows = max(_chunk_rows(matrix) for matrix in matrices)
    file = MatrixFile(stamp, kind, shape, names, item_size, min(chunk_rows, max(1, shape[0])))
    return file, models.read_strings(), segments.read_strings()


def _open_matrix(source: GuardedFile, kind: str, name: str) -> GuardedDataset:
    """Check the type of one data set; no memory is claimed, as no whole matrix is read."""
    found = source.find(name)
    if found is None:
        raise source.error(name, "is missing")
    if kind == "scores" and name != "score_mask":
        checked = source.check_dataset(found, name, {"integer", "float"}, "real numbers")
        if checked.item_size > 8:
            raise source.error(name, f"holds numbers of {checked.item_size} bytes; 8 is the most")
        return checked
    checked = source.check_dataset(found, name, {"integer", "float", "enumeration"}, "a mask")
    if checked.type_class == "enumeration" and checked.dataset.dtype != np.bool_:
        raise source.error(name, "must hold a mask; it is of an enumeration type")
    if kind == "key" and name == "trial_mask" and checked.is_unsigned:
        text = "cannot hold -1 for non-targets: this is an Ndx; read it with Ndx.read"
        raise source.error(name, text)
    return checked


def _score_type(matrix: GuardedDataset) -> np.dtype[np.floating[Any]]:
    """Return the type that scores have in memory: float32 if stored so or shorter."""
    is_short = matrix.type_class == "float" and matrix.item_size <= 4
    return np.dtype(np.float32 if is_short else np.float64)


def _chunk_rows(matrix: GuardedDataset) -> int:
    chunks = matrix.dataset.chunks
    return int(chunks[0]) if chunks is not None and len(chunks) == 2 else 1


def row_blocks(
    shape: tuple[int, int],
    files: Sequence[MatrixFile],
    block_rows: int | None = None,
) -> list[slice]:
    """Cut the rows of matrices into blocks.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns of the matrices.
    files : sequence of MatrixFile
        The files that are read side by side.
    block_rows : int, optional
        Rows in a block. By default about four megabytes of scores, a whole number of
        the chunks that the files are stored in where these are not larger.

    Returns
    -------
    list of slice
        Together all rows. They depend on the files and `block_rows` alone.
    """
    n_rows, n_cols = shape
    if block_rows is None:
        row_bytes = max(1, n_cols) * max(file.item_size for file in files)
        step = max(1, _BLOCK_BYTES // row_bytes)
        chunk = max(file.chunk_rows for file in files)
        # A chunk larger than a block is unpacked for each block again.
        step = max(chunk, step // chunk * chunk)
    else:
        step = block_rows
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


class FileReader(ABC):
    """Base of readers: opens a file that was described, and closes it.

    Parameters
    ----------
    stamp : FileStamp
        The file.

    Raises
    ------
    FileFormatError
        On entry, if the file is not the one that was described; on exit, if it has
        changed meanwhile.
    """

    def __init__(self, stamp: FileStamp) -> None:
        self._stamp = stamp
        self._remembers_chunks = True
        self._opened: AbstractContextManager[GuardedFile] | None = None
        self._matrices: list[GuardedDataset] = []

    @abstractmethod
    def _find_data_sets(self, source: GuardedFile) -> list[GuardedDataset]:
        """Check the data sets that will be read."""

    def __enter__(self) -> Self:
        """Open the file."""
        self._stamp.check()
        # The manager takes every error that it sees for a damaged file; errors of
        # those who use the rows are not for it to see.
        opened = open_guarded(self._stamp.path, remember_chunks=self._remembers_chunks)
        source = opened.__enter__()
        self._opened = opened
        with self._reading("opened"):
            self._matrices = self._find_data_sets(source)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the file; after good work, see that it has not changed."""
        self._matrices = []
        if self._opened is not None:
            self._opened.__exit__(None, None, None)
            self._opened = None
        if error is None:
            self._stamp.check()

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """Turn whatever goes wrong inside HDF5 into an error about the file."""
        try:
            yield
        except BosarisError:
            raise
        # h5py maps the faults of a damaged file to a dozen built-in exceptions.
        except Exception as error:
            detail = str(error).strip() or type(error).__name__
            message = (
                f"{self._stamp.path}: {what} cannot be read: damaged, truncated or changed "
                f"meanwhile; h5py says: {detail}"
            )
            raise FileFormatError(message) from error


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
        return [_open_matrix(source, self.file.kind, name) for name in self.file.data_sets]

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
        return self._rows(self._matrices[0], _score_type(self._matrices[0]), rows)

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
