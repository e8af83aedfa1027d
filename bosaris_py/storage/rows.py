"""Read score matrices and lists of trials in blocks of rows; write scores row by row.

`describe_scores`, `describe_key` and `describe_ndx` look into an HDF5 file in any of
the layouts that `bosaris_py.storage.hdf5` reads, check its kind, shapes and types, and
return its ids and a `MatrixFile`: a small value that says how to read rows of it. It
can be sent to other processes and machines, which open the file themselves::

    file, modelset, segset = describe_scores("scores.h5")
    with RowReader(file) as reader:
        for rows in row_blocks(file.shape, [file]):
            scores, valid = reader.read_scores(rows), reader.read_valid(rows)

`describe_flat` passes over the positions of a file in the layout of
`bosaris_py.storage.hdf5` once, and returns its ids and a `FlatFile`: a small value
that says how to read stretches of it, and where in it a trial would be::

    file, modelset, segset = describe_flat("scores.h5", "flat_scores")
    with FlatReader(file) as reader:
        for trials in stretches(file):
            models, segments = reader.read_positions(trials)
            scores = reader.read_scores(trials)

The trials must be in the order in which this package writes them: then those of two
files are found in each other stretch by stretch, in memory that does not grow with them.

A file that is not the same as when it was described, when reading begins or when it
ends, is refused: what was read may be neither the old content nor the new.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

import attrs
import h5py
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import (
    IntArray,
    Positions,
    StrArray,
    by_constructor,
    mark_read_only,
    read_only,
)
from bosaris_py._validation import FilePath, as_ids, invalid
from bosaris_py.errors import BosarisError, FileFormatError
from bosaris_py.storage._guarded_hdf5 import (
    GuardedDataset,
    GuardedFile,
    check_mask_values,
    open_guarded,
)
from bosaris_py.storage.hdf5 import new_mask, new_numbers, new_vector, put_ids, write_hdf5
from bosaris_py.storage.schema import (
    CLASS_NAMES,
    USE_KEY,
    USE_NDX,
    check_ids,
    check_matrix,
    expect_kind,
    find_layout,
    key_data_sets,
    require,
    score_data_sets,
    warn_if_maskless,
    warn_if_two_masks,
)
from bosaris_py.storage.trial_table import ascends, trial_codes


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
    def of(cls, path: FilePath) -> Self:
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


Rows: TypeAlias = slice | npt.NDArray[np.intp]

# Bytes of scores in a block: enough to make little of what a read costs in itself, few
# enough that a block is still in the processor's cache when it is used.
_BLOCK_BYTES = 2**22


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


def describe_scores(path: FilePath) -> tuple[MatrixFile, StrArray, StrArray]:
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
        names = score_data_sets(source, layout)
        described = _describe(source, stamp, "scores", names)
    warn_if_maskless(path, names)
    return described


def describe_key(path: FilePath) -> tuple[MatrixFile, StrArray, StrArray]:
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
        names = key_data_sets(source, layout)
        described = _describe(source, stamp, "key", names)
    warn_if_two_masks(path, names)
    return described


def describe_ndx(path: FilePath) -> tuple[MatrixFile, StrArray, StrArray]:
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


def describe_trials(path: FilePath) -> tuple[MatrixFile, StrArray, StrArray]:
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
) -> tuple[MatrixFile, StrArray, StrArray]:
    """Check the data sets of an open file against its ids, and read the ids."""
    models, segments = check_ids(source, find_layout(source, kind))
    matrices = [open_matrix(source, kind, name) for name in names]
    shape = (0, 0)
    for matrix in matrices:
        shape = check_matrix(matrix, models, segments)
    item_size = 1
    if kind == "scores":
        item_size = score_type(matrices[0]).itemsize
    # Chunks that a part of the rows needs are unpacked whole.
    chunk_rows = max(_chunk_rows(matrix) for matrix in matrices)
    file = MatrixFile(stamp, kind, shape, names, item_size, min(chunk_rows, max(1, shape[0])))
    return file, models.read_strings(), segments.read_strings()


def open_matrix(source: GuardedFile, kind: str, name: str) -> GuardedDataset:
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
        raise source.error(name, USE_NDX)
    return checked


def score_type(matrix: GuardedDataset) -> np.dtype[np.floating[Any]]:
    """Return the type that scores have in memory: float32 if stored so or shorter."""
    is_short = matrix.type_class == "float" and matrix.item_size <= 4
    return np.dtype(np.float32 if is_short else np.float64)


def _chunk_rows(matrix: GuardedDataset) -> int:
    chunks = matrix.dataset.chunks
    return int(chunks[0]) if chunks is not None and len(chunks) == 2 else 1


def row_blocks(
    shape: tuple[int, int], files: Sequence[MatrixFile], block_rows: int | None = None
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


# Trials that are read at once: as many as the files keep together.
STRETCH = 2**17

_CONTENTS = {"flat_scores": ("scores",), "flat_key": ("is_target",), "flat_ndx": ()}


@attrs.frozen(eq=False)
class FlatFile:
    """How to read the trials listed in one file, without its ids.

    Parameters
    ----------
    stamp : FileStamp
        The file.
    kind : str
        ``"flat_scores"``, ``"flat_key"`` or ``"flat_ndx"``.
    shape : tuple of int
        Number of models and segments.
    n_trials : int
        Length of the list.
    item_size : int
        Bytes of one value in memory.
    stretch : int
        Trials that are read at once.
    first_codes : (k,) array of int64
        Code of the first trial of each stretch, ascending; see
        `bosaris_py.storage.trial_table.trial_codes`.
    """

    stamp: FileStamp
    kind: str
    shape: tuple[int, int]
    n_trials: int
    item_size: int
    stretch: int
    first_codes: IntArray = attrs.field(converter=read_only)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call of the constructor, so that arrays stay read-only."""
        return by_constructor(self)

    @property
    def path(self) -> Path:
        """The file."""
        return self.stamp.path


def stretches(file: FlatFile) -> list[slice]:
    """Return the ranges of trials that are read at once."""
    return [
        slice(start, min(start + file.stretch, file.n_trials))
        for start in range(0, file.n_trials, file.stretch)
    ]


def is_flat(path: FilePath) -> bool:
    """Tell whether a file lists trials, whatever else it says of them.

    Parameters
    ----------
    path : str or path-like
        The HDF5 file.

    Raises
    ------
    FileFormatError
        If it is damaged or no HDF5 file.
    FileNotFoundError
        If there is no such file.
    """
    with open_guarded(Path(path)) as source:
        declared = source.attribute("format") or ""
        return declared.startswith("bosaris_py.flat_") or source.holds("trials/models")


def describe_flat(path: FilePath, *kinds: str) -> tuple[FlatFile, StrArray, StrArray]:
    """Describe a file of one of the flat forms for reading it by stretches.

    Parameters
    ----------
    path : str or path-like
        The HDF5 file.
    *kinds : str
        What it may be, of ``"flat_scores"``, ``"flat_key"`` and ``"flat_ndx"``.

    Returns
    -------
    file : FlatFile
        How to read it with a `FlatReader`.
    modelset, segset : array of str
        Its ids.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign or of another kind, or its trials are not in
        column-major order, each once.
    FileNotFoundError
        If there is no such file.
    """
    stamp = FileStamp.of(path)
    with open_guarded(stamp.path) as source:
        kind = kinds[0]
        if len(kinds) > 1:
            kind = "flat_key" if source.holds("trials/is_target") else "flat_ndx"
        expect_kind(source, kind)
        matrices = _open_columns(source, kind)
        models, segments = check_ids(source, find_layout(source, kind))
        for matrix in matrices:
            if matrix.shape != matrices[0].shape or len(matrix.shape) != 1:
                text = f"has shape {matrix.shape}; `/{matrices[0].name}` {matrices[0].shape}"
                raise source.error(matrix.name, f"{text}; each must have an element for each trial")
        modelset, segset = models.read_strings(), segments.read_strings()
        item_size = 1
        if kind == "flat_scores":
            item_size = _score_type(matrices[2]).itemsize
        count = matrices[0].count
    shape = (modelset.size, segset.size)
    none = np.empty(0, dtype=np.int64)
    unindexed = FlatFile(stamp, kind, shape, count, item_size, STRETCH, none)
    with FlatReader(unindexed) as reader:
        codes = _index(reader)
    return attrs.evolve(unindexed, first_codes=mark_read_only(codes)), modelset, segset


def _open_columns(source: GuardedFile, kind: str) -> list[GuardedDataset]:
    """Check the types of positions and contents; no memory is claimed for them."""
    columns = []
    for name in ("models", "segments", *_CONTENTS[kind]):
        path = f"trials/{name}"
        require(source, kind, path)
        found = source.find(path)
        if name == "scores":
            checked = source.check_dataset(found, path, {"integer", "float"}, "real numbers")
        elif name == "is_target":
            checked = source.check_dataset(found, path, {"integer", "enumeration"}, "a mask")
            if checked.type_class == "enumeration" and checked.dataset.dtype != np.bool_:
                raise source.error(path, "must hold a mask; it is of an enumeration type")
        else:
            checked = source.check_dataset(found, path, {"integer"}, "whole numbers")
        if checked.item_size > 8:
            raise source.error(path, f"holds numbers of {checked.item_size} bytes; 8 is the most")
        columns.append(checked)
    return columns


def _score_type(column: GuardedDataset) -> np.dtype[Any]:
    """Return the type that scores have in memory: float32 if stored so or shorter."""
    is_short = column.type_class == "float" and column.item_size <= 4
    return np.dtype(np.float32 if is_short else np.float64)


def _position_type(column: GuardedDataset) -> np.dtype[Any]:
    """Return the type that positions have in memory: that of the file, but not uint64.

    Numpy has no integers for what uint64 and int64 add up to; too large ones stay too large.
    """
    stored: np.dtype[Any] = column.dataset.dtype.newbyteorder("=")
    return np.dtype(np.int64) if stored == np.uint64 else stored


def _index(reader: "FlatReader") -> IntArray:
    """Check that all trials are in order, and return the code of the first of each stretch."""
    file, last, firsts = reader.file, -1, []
    for trials in stretches(file):
        models, segments = reader.read_positions(trials)
        for name, places, size in zip(
            ("models", "segments"), (models, segments), file.shape, strict=True
        ):
            if places.min() < 0 or places.max() >= size:
                raise reader.error(name, f"must hold positions from 0 to {size - 1}")
        codes = trial_codes(models, segments, file.shape[0])
        if codes[0] <= last or not ascends(codes):
            text = (
                "lists trials twice or in another order than by segment, then by model; "
                f"read the file with {CLASS_NAMES[file.kind]}.read and save it again"
            )
            raise reader.error("models", text)
        firsts.append(int(codes[0]))
        last = int(codes[-1])
    return np.array(firsts, dtype=np.int64)


class FlatReader(FileReader):
    """Reads stretches of a list of trials; a context manager that opens and closes its file.

    Parameters
    ----------
    file : FlatFile
        The file, as `describe_flat` described it.

    Raises
    ------
    FileFormatError
        On entry, if the file is not the one that was described; while reading, if it
        cannot be read or holds illegal values; on exit, if it has changed meanwhile.
    """

    def __init__(self, file: FlatFile) -> None:
        super().__init__(file.stamp)
        self.file = file

    def _find_data_sets(self, source: GuardedFile) -> list[GuardedDataset]:
        return _open_columns(source, self.file.kind)

    def error(self, name: str, text: str) -> Exception:
        """Return an error about a column of the list."""
        return self._matrices[0].owner.error(f"trials/{name}", text)

    def read_positions(self, trials: slice) -> tuple[Positions, Positions]:
        """Read the models and segments of some trials.

        Parameters
        ----------
        trials : slice
            Which of the list.

        Returns
        -------
        models, segments : (k,) arrays of int
            Positions in the ids of the file.
        """
        models, segments = (
            self._read(matrix, _position_type(matrix), trials) for matrix in self._matrices[:2]
        )
        return models, segments

    def read_codes(self, trials: slice) -> IntArray:
        """Read the codes of some trials, which ascend."""
        return trial_codes(*self.read_positions(trials), self.file.shape[0])

    def read_scores(self, trials: slice) -> npt.NDArray[Any]:
        """Read the scores of some trials, as float32 or float64."""
        return self._read(self._matrices[2], _score_type(self._matrices[2]), trials)

    def read_labels(self, trials: slice) -> npt.NDArray[np.int8]:
        """Read labels: 1 for targets and, in a trial list, for all, -1 for non-targets."""
        if self.file.kind == "flat_ndx":
            return np.ones(trials.stop - trials.start, dtype=np.int8)
        matrix = self._matrices[2]
        kind, dtype = None, matrix.dataset.dtype
        if matrix.item_size == 1:
            # Bytes as they are stored, also those of an enumeration, which may be rotten.
            kind = matrix.dataset.id.get_type()
            dtype = np.dtype(np.uint8 if matrix.is_unsigned else np.int8)
        stored = self._read(matrix, dtype, trials, kind)
        where = f"{self.file.path}: data set `/{matrix.name}`, from trial {trials.start},"
        is_target = check_mask_values(stored, where)
        labels = 2 * is_target.astype(np.int8)
        labels -= 1
        return labels

    def _read(
        self, matrix: GuardedDataset, dtype: Any, trials: slice, kind: Any = None
    ) -> npt.NDArray[Any]:
        out = np.empty(trials.stop - trials.start, dtype=dtype)
        if out.size == 0:
            return out
        with self._reading(f"trials {trials.start} to {trials.stop - 1} of `/{matrix.name}`"):
            space = matrix.dataset.id.get_space()
            space.select_hyperslab((trials.start,), out.shape)
            matrix.dataset.id.read(h5py.h5s.create_simple(out.shape), space, out, mtype=kind)
        return out


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
        self, matrix: GuardedDataset, dtype: np.dtype[Any], rows: Rows, *, stored_type: bool = False
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


ScoredRows: TypeAlias = tuple[slice, npt.NDArray[np.floating[Any]], npt.NDArray[np.bool_]]

"""Which rows these are, their scores, and where these are valid."""

ScoredList: TypeAlias = tuple[
    npt.NDArray[np.signedinteger[Any]],
    npt.NDArray[np.signedinteger[Any]],
    npt.NDArray[np.floating[Any]],
]

"""Positions of the models and of the segments of trials, and their scores."""


def write_score_rows(
    path: FilePath,
    parts: Iterable[ScoredRows],
    *,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    dtype: npt.DTypeLike = np.float64,
) -> None:
    """Write a `Scores` file from blocks of rows, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file. It appears when all parts have been written; whatever goes wrong before
        leaves what was there.
    parts : iterable of (slice, (r, n) array of float, (r, n) array of bool)
        Blocks of consecutive rows from the first to the last: where they belong, the
        scores, and which of these are valid. The arrays are not needed any more when the next
        part is asked for. Iteration is done in another thread.
    modelset : (m,) array_like of str
        Ids of the models (rows).
    segset : (n,) array_like of str
        Ids of the segments (columns).
    dtype : float32 or float64, default: float64
        Type of the scores in the file.

    Raises
    ------
    InvalidInputError
        If the parts are not all rows in their order, or an id holds a NUL character.
    OSError
        If the file cannot be written.

    Notes
    -----
    What the iteration raises passes through.
    """
    models, segments = as_ids(modelset, "modelset"), as_ids(segset, "segset")
    shape = (models.size, segments.size)

    def fill(root: Any) -> None:
        scores = new_numbers(root, "scores", shape, dtype)
        valid = new_mask(root, "score_mask", shape, np.uint8)
        done = 0
        for rows, values, mask in parts:
            if rows.start != done or rows.stop > models.size:
                expected = f"go on with row {done} of {models.size}"
                raise invalid("parts", expected, f"{rows}")
            scores[rows] = values
            valid[rows] = mask.view(np.uint8)
            done = rows.stop
        if done != models.size:
            expected = f"be all {models.size} rows"
            raise invalid("parts", expected, f"{done}")
        put_ids(root, models, segments)

    write_hdf5(path, "scores", fill)


def write_score_list(
    path: FilePath,
    parts: Iterable[ScoredList],
    *,
    most: int,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    dtype: npt.DTypeLike = np.float64,
) -> None:
    """Write a `FlatScores` file from stretches of it, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file. It appears when all parts have been written; whatever goes wrong before
        leaves what was there.
    parts : iterable of ((k,) array of int, (k,) array of int, (k,) array of float)
        Models, segments and scores of trials, by segment, then by model. Iteration is done
        in another thread.
    most : int
        How many trials there are, at most.
    modelset : (m,) array_like of str
        Ids of the models.
    segset : (n,) array_like of str
        Ids of the segments.
    dtype : float32 or float64, default: float64
        Type of the scores in the file.

    Raises
    ------
    InvalidInputError
        If an id holds a NUL character.
    OSError
        If the file cannot be written.

    Notes
    -----
    What the iteration raises passes through.
    """
    models, segments = as_ids(modelset, "modelset"), as_ids(segset, "segset")
    is_large = max(models.size, segments.size) > np.iinfo(np.int32).max
    position = np.int64 if is_large else np.int32

    def fill(root: Any) -> None:
        put_ids(root, models, segments)
        columns = [
            new_vector(root, "trials/models", most, position, chunk=STRETCH, compressed=True),
            new_vector(root, "trials/segments", most, position, chunk=STRETCH, compressed=True),
            new_vector(root, "trials/scores", most, dtype, chunk=STRETCH, compressed=False),
        ]
        done = 0
        for part in parts:
            stop = done + part[-1].size
            for column, values in zip(columns, part, strict=True):
                column[done:stop] = values
            done = stop
        for column in columns:
            if done < most:
                column.resize((done,))

    write_hdf5(path, "flat_scores", fill)
