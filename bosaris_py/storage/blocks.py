"""What must be known to read score and key files a few rows at a time.

`describe_scores`, `describe_key` and `describe_ndx` look into an HDF5 file in any of
the layouts that `bosaris_py.storage.hdf5` reads, check its kind, shapes and types, and
return its ids and a `MatrixFile`: a small value that says how to read rows of it. It
can be sent to other processes and machines, which open the file themselves::

    file, modelset, segset = describe_scores("scores.h5")
    with RowReader(file) as reader:
        for rows in row_blocks(file.shape, [file]):
            scores, valid = reader.read_scores(rows), reader.read_valid(rows)
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FilePath
from bosaris_py.storage._guarded_hdf5 import GuardedDataset, GuardedFile, open_guarded
from bosaris_py.storage._hdf5_layouts import (
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
from bosaris_py.storage.file_reader import FileStamp

__all__ = [
    "Ids",
    "MatrixFile",
    "Rows",
    "describe_key",
    "describe_ndx",
    "describe_scores",
    "describe_trials",
    "open_matrix",
    "row_blocks",
    "score_type",
]

Ids: TypeAlias = npt.NDArray[np.str_]
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


def describe_scores(path: FilePath) -> tuple[MatrixFile, Ids, Ids]:
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


def describe_key(path: FilePath) -> tuple[MatrixFile, Ids, Ids]:
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


def describe_ndx(path: FilePath) -> tuple[MatrixFile, Ids, Ids]:
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


def describe_trials(path: FilePath) -> tuple[MatrixFile, Ids, Ids]:
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
