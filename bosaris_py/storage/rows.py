"""Read score matrices and lists of trials part by part; write score files likewise.

`describe` checks kind, shapes and types of an HDF5 file in any layout that `hdf5` reads. It returns
the ids and a `MatrixFile` or, for a list of trials, a `FlatFile`, which says how to read
the file. Other processes and machines that get it open the file themselves::

    file, modelset, segset = describe("scores.h5", "scores")
    with RowReader(file) as reader:  # of a MatrixFile
        for rows in row_blocks(file.shape, [file]):
            scores, valid = reader.read_scores(rows), reader.read_valid(rows)
    with FlatReader(file) as reader:  # of a FlatFile
        for trials in file.chunks():
            models, segments = reader.read_positions(trials)
            scores = reader.read_scores(trials)

Trials of a list must be in the order in which this package writes them. Then those of two files are
found in each other chunk by chunk, in memory that does not grow with them.

A file that has changed since it was described is refused when reading begins and when it ends: what
was read may be neither the old content nor the new.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Self, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    IndexArray,
    IntArray,
    Positions,
    StrArray,
    by_constructor,
    mark_read_only,
    read_only,
)
from bosaris_py._validation import FilePath, invalid
from bosaris_py.errors import BosarisError, FileFormatError
from bosaris_py.storage.atomic import FileStamp
from bosaris_py.storage.columns import ascends, trial_codes
from bosaris_py.storage.hdf5 import guarded
from bosaris_py.storage.hdf5.chunks import ByteArray
from bosaris_py.storage.hdf5.objects import USE_KEY, find_layout, open_fields
from bosaris_py.storage.hdf5.writing import CHUNK_TRIALS, FieldWriter, put_strings, write_hdf5
from bosaris_py.storage.schema import KINDS

Rows: TypeAlias = slice | IndexArray

# Which rows these are, their scores, and where these are valid.
ScoredRows: TypeAlias = tuple[slice, FloatArray, BoolArray]

# Positions of the models and of the segments of trials, and their scores.
ScoredList: TypeAlias = tuple[Positions, Positions, FloatArray]

# Bytes of scores in a block: enough to make little of what a read costs in itself, few
# enough that a block is still in the processor's cache when it is used.
_BLOCK_BYTES = 2**22


@attrs.frozen(eq=False)
class DescribedFile:
    """How to read one file, without its ids."""

    stamp: FileStamp
    # One of `schema.KINDS`.
    kind: str
    # Number of models (rows) and segments (columns).
    shape: tuple[int, int]
    # Paths in the file and contents of what is read, in the order of the schema.
    data_sets: tuple[tuple[str, str], ...]
    # Bytes of one value in memory.
    item_size: int

    @property
    def path(self) -> Path:
        """The file."""
        return self.stamp.path


@attrs.frozen
class MatrixFile(DescribedFile):
    """How to read rows of the matrix in a file of kind ``scores``, ``key`` or ``ndx``."""

    # Rows that the file keeps together; reading them at once is cheapest.
    chunk_rows: int


@attrs.frozen(eq=False)
class FlatFile(DescribedFile):
    """How to read the trials listed in a file of kind ``flat_scores``, ``_key`` or ``_ndx``."""

    n_trials: int
    # Trials that are read at once.
    chunk: int
    # Code of the first trial of each chunk, ascending; see `trial_table.trial_codes`.
    first_codes: IntArray = attrs.field(converter=read_only)

    __reduce__ = by_constructor

    def chunks(self) -> list[slice]:
        """Return the ranges of trials that are read at once."""
        return [
            slice(start, min(start + self.chunk, self.n_trials))
            for start in range(0, self.n_trials, self.chunk)
        ]


AnyFile: TypeAlias = MatrixFile | FlatFile


def describe(path: FilePath, *kinds: str) -> tuple[AnyFile, StrArray, StrArray]:
    """Describe a file of scores, a key or trials, for reading by parts, and return its ids."""
    stamp = FileStamp.of(path)
    file: AnyFile
    with guarded.open_guarded(stamp.path) as source:
        kind = _kind_of(source, kinds)
        opened = open_fields(source, kind)
        # Memory is claimed for the ids alone, as the rest is not read at once.
        ids = [opened.data_sets.pop(name) for name in ("modelset", "segset")]
        for each in ids:
            each.claim()
        modelset, segset = (each.read_strings() for each in ids)
        shape, found = (modelset.size, segset.size), list(opened.data_sets.values())
        data_sets = tuple((matrix.name, matrix.content) for matrix in found)
        item_size = next((m.memory_type.itemsize for m in found if m.content == "numbers"), 1)
        described = stamp, kind, shape, data_sets, item_size
        if "k" in opened.sizes:
            nothing = np.empty(0, dtype=np.int64)
            chunk = max([CHUNK_TRIALS, *(each.checksums[0] for each in found if each.checksums)])
            file = FlatFile(*described, opened.sizes["k"], chunk, nothing)
        else:
            # Chunks that a part of the rows needs are unpacked whole.
            rows = min(max(map(_chunk_rows, found)), max(1, shape[0]))
            file = MatrixFile(*described, rows)
    opened.warn_of_old_layout(path)
    if isinstance(file, FlatFile):
        with FlatReader(file) as reader:
            file = attrs.evolve(file, first_codes=mark_read_only(_first_codes(reader)))
    return file, modelset, segset


def _kind_of(source: guarded.GuardedFile, kinds: Sequence[str]) -> str:
    """Tell which of some kinds, or the flat kind of one, a file is most likely of."""
    declared = source.attribute("format") or ""
    if declared.startswith("bosaris_py.flat_") or source.holds("trials/models"):
        if len(kinds) == 1:
            return f"flat_{kinds[0]}"
        return "flat_key" if source.holds("trials/is_target") else "flat_ndx"
    if len(kinds) == 1:
        return kinds[0]
    layout = find_layout(source, "ndx")
    signs = ("file_format", *layout.data_sets["tar"], *layout.data_sets["non"])
    if source.first_of(signs) is not None:
        return "key"
    # A mask that can hold -1 is taken for labels.
    mask = "trial_mask"
    is_key = source.holds(mask) and not source.data_set(mask, "mask").is_unsigned
    return "key" if is_key else "ndx"


def _chunk_rows(matrix: guarded.GuardedDataset) -> int:
    """Return the rows that a data set keeps together, 1 where there are no chunks."""
    if matrix.checksums:
        return matrix.checksums[0]
    chunks = matrix.dataset.chunks
    return int(chunks[0]) if chunks is not None and len(chunks) == 2 else 1


def _first_codes(reader: "FlatReader") -> IntArray:
    """Check that all trials are in order; return the code of the first of each chunk."""
    file, last, firsts = reader.file, -1, []
    for trials in file.chunks():
        positions = reader.read_positions(trials)
        for (path, _), found, size in zip(file.data_sets, positions, file.shape, strict=False):
            if found.min() < 0 or found.max() >= size:
                raise reader.error(path, f"must hold positions from 0 to {size - 1}")
        codes = trial_codes(*positions, file.shape[0])
        if codes[0] <= last or not ascends(codes):
            text = (
                "lists trials twice or in another order than by segment, then by model; "
                f"read the file with {KINDS[file.kind].class_name}.read and save it again"
            )
            raise reader.error(file.data_sets[0][0], text)
        firsts.append(int(codes[0]))
        last = int(codes[-1])
    return np.array(firsts, dtype=np.int64)


def row_blocks(
    shape: tuple[int, int], files: Sequence[MatrixFile], block_rows: int | None = None
) -> list[slice]:
    """Cut the rows of matrices into blocks, by the files and `block_rows` alone.

    By default a block has about four megabytes of scores, a whole number of the chunks that the
    files are stored in where these are not larger.
    """
    n_rows, n_cols = shape
    if block_rows is None:
        row_bytes = max(1, n_cols) * max(file.item_size for file in files)
        step = max(1, _BLOCK_BYTES // row_bytes)
        chunk = max(file.chunk_rows for file in files)
        # A chunk larger than a block would be unpacked for each block again.
        step = max(chunk, step // chunk * chunk)
    else:
        step = block_rows
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


class FileReader:
    """Base of readers: a context manager that opens a described file and closes it.

    On entry it refuses a file that is not the one that was described; on exit one that has changed
    meanwhile.
    """

    def __init__(self, file: DescribedFile) -> None:
        self.file = file
        self._opened: AbstractContextManager[guarded.GuardedFile] | None = None
        self._matrices: list[guarded.GuardedDataset] = []

    def __enter__(self) -> Self:
        """Open the file."""
        self.file.stamp.check()
        # The manager would take every error that it sees for a damaged file; errors of those
        # who use the rows must not pass through it. So it is entered and left by hand.
        opened = guarded.open_guarded(self.file.path)
        source = opened.__enter__()
        self._opened = opened
        with self._reading("opened"):
            self._matrices = [source.data_set(*found) for found in self.file.data_sets]
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        """Close the file, and check that it has not changed: this may be why something failed."""
        self._matrices = []
        if self._opened is not None:
            self._opened.__exit__(None, None, None)
            self._opened = None
        if error is None or isinstance(error, Exception):
            self.file.stamp.check()

    def verify(self) -> None:
        """Read whatever has checksums, block by block; raise `FileFormatError` if one is wrong."""
        for matrix in self._matrices:
            with self._reading(f"`/{matrix.name}`"):
                matrix.verify()

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
            raise FileFormatError(
                f"{self.file.path}: {what} cannot be read: damaged, truncated or changed "
                f"meanwhile; h5py says: {detail}"
            ) from error


class FlatReader(FileReader):
    """Reads ranges of a list of trials."""

    file: FlatFile

    def error(self, path: str, text: str) -> FileFormatError:
        """Return an error about a data set of the file."""
        return self._matrices[0].source.error(path, text)

    def read_positions(self, trials: slice) -> tuple[Positions, Positions]:
        """Read the models and segments of some trials, as positions in the ids of the file."""
        return self._read(self._matrices[0], trials), self._read(self._matrices[1], trials)

    def read_codes(self, trials: slice) -> IntArray:
        """Read the codes of some trials, which ascend."""
        return trial_codes(*self.read_positions(trials), self.file.shape[0])

    def read_scores(self, trials: slice) -> AnyArray:
        """Read the scores of some trials, as float32 or float64."""
        return self._read(self._matrices[2], trials)

    def read_labels(self, trials: slice) -> npt.NDArray[np.int8]:
        """Read labels: 1 for targets and, in a trial list, for all, -1 for non-targets."""
        if self.file.kind == "flat_ndx":
            return np.ones(trials.stop - trials.start, dtype=np.int8)
        matrix = self._matrices[2]
        where = f"{self.file.path}: data set `/{matrix.name}`, from trial {trials.start},"
        labels = 2 * guarded.check_mask_values(self._read(matrix, trials), where).astype(np.int8)
        labels -= 1
        return labels

    def _read(self, matrix: guarded.GuardedDataset, trials: slice) -> AnyArray:
        dtype = matrix.memory_type
        # Numpy has no integers for what uint64 and int64 add up to; HDF5 keeps what is too
        # large for int64 too large for a position.
        dtype = np.dtype(np.int64) if dtype == np.uint64 else dtype
        out = np.zeros(trials.stop - trials.start, dtype=dtype)
        if out.size == 0:
            return out
        with self._reading(f"trials {trials.start} to {trials.stop - 1} of `/{matrix.name}`"):
            matrix.read_into(out, (trials.start,))
        return out


class RowReader(FileReader):
    """Reads rows of a matrix.

    The arrays that it returns are its own buffers. Each is overwritten by the next but one read of
    the same kind, so that rows can be used while the next ones are read.
    """

    file: MatrixFile

    def __init__(self, file: MatrixFile) -> None:
        super().__init__(file)
        self._buffers: dict[str, AnyArray] = {}
        self._n_reads: dict[str, int] = {}
        # The last chunk of each mask, and what it holds.
        self._checked: dict[str, tuple[ByteArray, AnyArray]] = {}
        self._all_valid: BoolArray | None = None

    def read_scores(self, rows: Rows) -> AnyArray:
        """Read some rows of scores into a buffer; those that `read_valid` excludes are none."""
        return self._rows(self._matrices[0], rows)

    def read_valid(self, rows: Rows) -> BoolArray | None:
        """Read which cells of rows hold scores, into a buffer; None if all do."""
        if len(self._matrices) == 1:
            return None
        valid = self._mask(self._matrices[1], rows, signed=False)
        # Most masks repeat one chunk, which need not be looked at again.
        if valid is not self._all_valid and valid.all():
            self._all_valid = valid
        return None if valid is self._all_valid else valid

    def read_labels(self, rows: Rows) -> npt.NDArray[np.int8]:
        """Read some rows of labels into a buffer: 1 for targets or trials, -1 for non-targets."""
        if len(self._matrices) == 1:
            is_key, matrix = self.file.kind == "key", self._matrices[0]
            labels = self._mask(matrix, rows, signed=is_key or not matrix.is_unsigned)
            if not is_key and labels.dtype == np.int8 and labels.min(initial=0) < 0:
                raise matrix.error(f"holds -1: this is a Key. {USE_KEY}")
            return labels.view(np.int8)
        tar, non = (self._mask(matrix, rows, signed=False) for matrix in self._matrices)
        if (tar & non).any():
            raise self._matrices[1].error(f"shares trials with `/{self._matrices[0].name}`")
        both: npt.NDArray[np.int8] = tar.view(np.int8) - non.view(np.int8)
        return both

    def _mask(self, matrix: guarded.GuardedDataset, rows: Rows, *, signed: bool) -> AnyArray:
        """Read rows of a mask as bool, or as int8 if signed."""
        chunk = matrix.whole_chunk(rows) if isinstance(rows, slice) else None
        if chunk is None:
            # The check marks what it returns as read-only; the buffer is not given away.
            stored = self._rows(matrix, rows).view()
        else:
            checked = self._checked.get(matrix.name)
            if checked is not None and checked[0] is chunk:
                return checked[1]
            stored = chunk[..., 0].view(matrix.memory_type)
        where = f"{self.file.path}: data set `/{matrix.name}`, rows {_name_rows(rows)},"
        mask = guarded.check_mask_values(stored, where, signed=signed)
        if chunk is not None:
            self._checked[matrix.name] = chunk, mask
        return mask

    def _rows(self, matrix: guarded.GuardedDataset, rows: Rows) -> AnyArray:
        """Read rows of a data set into one of its two buffers, by turns."""
        count = rows.stop - rows.start if isinstance(rows, slice) else rows.size
        turn = self._n_reads[matrix.name] = 1 - self._n_reads.get(matrix.name, 0)
        shape = (count, self.file.shape[1])
        out = self._buffer(f"{matrix.name} {turn}", shape, matrix.memory_type)
        if matrix.count == 0 or count == 0:
            out[...] = 0
            return out
        with self._reading(f"{_name_rows(rows)} of `/{matrix.name}`"):
            if isinstance(rows, slice):
                _read_slab(matrix, rows, out)
            else:
                self._gather(matrix, rows, out)
        return out

    def _gather(self, matrix: guarded.GuardedDataset, rows: IndexArray, out: AnyArray) -> None:
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
            _read_slab(matrix, slice(first, last + 1), part)
            out[order[start:end]] = part[ordered[start:end] - first]
            start = end

    def _buffer(self, name: str, shape: tuple[int, int], dtype: np.dtype[np.generic]) -> AnyArray:
        """Return an array of this shape whose memory is used again and again."""
        size = shape[0] * shape[1]
        buffer = self._buffers.get(name)
        if buffer is None or buffer.size < size:
            buffer = self._buffers[name] = np.empty(size, dtype=dtype)
        return buffer[:size].reshape(shape)


def _read_slab(matrix: guarded.GuardedDataset, rows: slice, out: AnyArray) -> None:
    """Read consecutive rows of a matrix, also one that is stored as a vector."""
    if not matrix.is_whole:
        # The buffer holds what was read before.
        out[...] = 0
    if len(matrix.shape) == 2:
        matrix.read_into(out, (rows.start, 0))
    elif matrix.count == out.shape[1]:
        matrix.read_into(out.reshape(matrix.shape))
    else:
        matrix.read_into(out.reshape(-1), (rows.start,))


def _name_rows(rows: Rows) -> str:
    """Name rows, counted from 0, in an error message."""
    if isinstance(rows, slice):
        return f"{rows.start} to {rows.stop - 1}"
    if rows.size == 0:
        return "none"
    return f"{rows.size} rows from {rows.min()} to {rows.max()}"


def write_score_rows(
    path: FilePath,
    parts: Iterable[ScoredRows],
    *,
    modelset: StrArray,
    segset: StrArray,
    dtype: npt.DTypeLike = np.float64,
    from_map: bool = False,
) -> None:
    """Write a `Scores` file from blocks of rows, replacing an existing file in one step.

    `parts` are blocks of consecutive rows from the first to the last: where they belong, the
    scores, and which of these are valid. The arrays are not needed any more when the next part is
    asked for. Iteration is done in another thread; what it raises passes through.
    """
    shape = (modelset.size, segset.size)

    def fill(root: object) -> Iterator[None]:
        scores = FieldWriter(root, "scoremat", shape, dtype)
        valid = FieldWriter(root, "scoremask", shape, np.uint8)
        for rows, values, mask in parts:
            if rows.start != scores.done or rows.stop > modelset.size:
                expected = f"go on with row {scores.done} of {modelset.size}"
                raise invalid("parts", expected, f"{rows}")
            scores.append(values)
            valid.append(mask.view(np.uint8))
            yield
        if scores.done != modelset.size:
            raise invalid("parts", f"be all {modelset.size} rows", f"{scores.done}")
        scores.close()
        valid.close()
        put_strings(root, "ID/row_ids", modelset)
        put_strings(root, "ID/column_ids", segset)

    write_hdf5(path, "scores", fill, from_map=from_map)


def write_score_list(
    path: FilePath,
    parts: Iterable[ScoredList],
    *,
    most: int,
    modelset: StrArray,
    segset: StrArray,
    dtype: npt.DTypeLike = np.float64,
    from_map: bool = False,
) -> None:
    """Write a `FlatScores` file part by part, replacing an existing file in one step.

    `parts` are models, segments and scores of trials, by segment, then by model, `most` at most; as
    `write_score_rows`.
    """
    is_large = max(modelset.size, segset.size) > np.iinfo(np.int32).max
    position = np.int64 if is_large else np.int32
    types = {"models": position, "segments": position, "scores": dtype}

    def fill(root: object) -> Iterator[None]:
        put_strings(root, "ID/row_ids", modelset)
        put_strings(root, "ID/column_ids", segset)
        columns = [FieldWriter(root, name, (most,), each) for name, each in types.items()]
        for part in parts:
            for column, values in zip(columns, part, strict=True):
                column.append(values)
            yield
        for column in columns:
            column.close()

    write_hdf5(path, "flat_scores", fill, from_map=from_map)
